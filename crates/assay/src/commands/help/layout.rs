//! Tables of the arrangement of help: which options come first, groups, and examples.

use assay_help::HelpLayout;

use super::suggestions::TOOL_COMMANDS;

/// Arrangement of the help of all commands.
pub(super) const LAYOUT: HelpLayout = HelpLayout {
    first: FIRST,
    short: SHORT,
    short_of_commands: SHORT_OF_COMMANDS,
    groups: GROUPS,
    examples: EXAMPLES,
    // The options of a tool keep the order of the tool.
    unarranged: &TOOL_COMMANDS,
    rare_commands: RARE_COMMANDS,
    short_notes: SHORT_NOTES,
};

/// Commands that `assay -h` names below its list, with the words before each group.
const RARE_COMMANDS: &[(&str, &[&str])] = &[
    (
        "More under `assay --help`:",
        &[
            "linpack",
            "rdma",
            "plan",
            "rm",
            "prune",
            "verify",
            "references",
            "export",
            "site",
            "serve",
            "completions",
            "man",
        ],
    ),
    (
        "With a tool's options and output:",
        &["vdbench", "fio", "ior", "mdtest", "iperf3", "qperf", "sockperf", "ntttcp", "ping"],
    ),
];

const SHORT_NOTES: &str = "Start with `assay run`. `assay help docs` lists the guides.";

/// Options that come first, in this order.
const FIRST: &[&str] = &[
    "target",
    "to",
    "hosts",
    "for",
    "budget",
    "bs",
    "depth",
    "random",
    "size",
    "rate",
    "threads",
    "streams",
    "direction",
    "message-size",
    "placement",
    "by",
    "expect",
    "label",
    "dry-run",
    "output",
    "format",
    "json",
    "quiet",
];

/// Options that `-h` shows, beside those of one command. All others are under `--help`.
const SHORT: &[&str] = &["for", "budget", "dry-run", "output", "help"];

/// Options of one command that `-h` shows.
const SHORT_OF_COMMANDS: &[(&str, &[&str])] = &[
    ("run", &["target", "to", "hosts", "by", "expect", "label", "full"]),
    ("stream", &["by", "expect", "placement", "threads", "array-size", "label"]),
    ("linpack", &["by", "expect", "n", "memory", "threads", "blas", "label"]),
    ("exec", &["name", "metric", "runs", "prepare"]),
    ("net throughput", &["by", "port", "udp", "streams", "direction", "rate"]),
    ("net latency", &["by", "port", "udp", "message-size", "load-streams"]),
    ("net request-response", &["port", "udp", "message-size", "rate"]),
    ("net connections", &["port", "streams", "message-size"]),
    ("storage read", &["bs", "depth", "random", "rate", "size", "find-rate"]),
    ("storage write", &["bs", "depth", "random", "rate", "size", "destroy-data"]),
    ("storage mix", &["bs", "depth", "random", "rate", "size", "read-share"]),
    ("storage files", &["operations", "threads", "files", "size", "rate"]),
    ("import", &["label", "host", "set", "metric", "partial", "explain", "no-store"]),
    ("doctor", &["all", "strict", "to", "hosts", "format"]),
    ("vdbench", &["f", "o", "e", "i", "w", "dry-run", "v", "t", "destroy-data"]),
    (
        "iperf3",
        &[
            "client", "server", "port", "bind", "interval", "format", "json", "time",
            "parallel", "reverse", "bidir", "udp", "bitrate", "length", "window", "omit",
            "one-off", "version",
        ],
    ),
    (
        "qperf",
        &[
            "listen-port",
            "time",
            "msg_size",
            "verbose",
            "use_bits_per_sec",
            "bind",
            "one-off",
            "version",
        ],
    ),
    (
        "sockperf",
        &[
            "ip",
            "port",
            "tcp",
            "msg-size",
            "time",
            "mps",
            "burst",
            "reply-every",
            "full-rtt",
            "version",
        ],
    ),
    ("ntttcp", &["s", "r", "m", "P", "n", "p", "t", "W", "C", "N", "u", "V", "j", "version"]),
    (
        "mpi",
        &[
            "preset",
            "message-size",
            "iterations",
            "warmup",
            "validation",
            "full",
            "budget",
            "mpi",
            "json",
        ],
    ),
    (
        "rdma",
        &[
            "all",
            "size",
            "iters",
            "duration",
            "ib-dev",
            "gid-index",
            "qp",
            "bidirectional",
            "connection",
            "bind",
            "loopback",
            "report_gbits",
            "json",
        ],
    ),
];

/// Groups of options in the long help, by heading.
const GROUPS: &[(&str, &[&str])] = &[
    ("Output", &["output", "format", "json", "events", "full", "quiet", "locale", "units"]),
    (
        "Conditions",
        &[
            "label", "note", "switch", "turns", "control", "blocks", "settle", "margin",
            "factor", "seed", "expect", "strict",
        ],
    ),
    ("Storage", &["target", "size", "provisioned", "destroy-data", "target-on-root", "keep"]),
];

/// Examples of commands, three at most.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "run",
        "Examples:
  assay run                                 the suite quick on this machine
  assay run storage-volume --target /data   a volume, by a file that is removed
  assay run memory --hosts 'vm[1-8]'        eight hosts at once",
    ),
    (
        "stream",
        "Examples:
  assay stream                          all cores
  assay stream --placement numa,core    each NUMA node, and a single core",
    ),
    (
        "linpack",
        "Examples:
  assay linpack --memory 80%                    as HPL is usually run
  assay linpack --n 20000 --blas openblas       with a BLAS library",
    ),
    (
        "net throughput",
        "Examples:
  assay net throughput                     over loopback
  assay net throughput vm2 --streams 1,4   vm2 runs `assay iperf3 -s`",
    ),
    (
        "net latency",
        "Examples:
  assay net latency vm2                        vm2 runs qperf, or iperf3 -s
  assay net latency vm2 --message-size 1B,8k   two sizes",
    ),
    (
        "net request-response",
        "Examples:
  assay net request-response vm2 --rate 5000   from when a message was due",
    ),
    (
        "net connections",
        "Examples:
  assay net connections                     over loopback
  assay net connections vm2 --streams 1,8   vm2 runs `assay iperf3 -s`",
    ),
    (
        "storage read",
        "Examples:
  assay storage read /data --random --bs 4k --depth 1,8,64
  assay storage read /data --rate 400MiB/s --for 1m",
    ),
    (
        "storage write",
        "Examples:
  assay storage write /data --bs 1MiB --size 10GiB
  assay storage write /dev/nvme1n1 --destroy-data /dev/nvme1n1",
    ),
    (
        "storage mix",
        "Examples:
  assay storage mix /data --read-share 70% --rate 5000",
    ),
    (
        "storage files",
        "Examples:
  assay storage files /data --threads 4
  assay storage files /data --operations create,read,delete",
    ),
    (
        "doctor",
        "Examples:
  assay doctor                    this machine
  assay doctor network --to vm2   with the path to a host
  assay doctor --hosts 'vm[1-8]'",
    ),
    (
        "import",
        "Examples:
  assay import --label before *.json   one run for each file
  assay import --no-store stream.txt   print the results only",
    ),
    (
        "list",
        "Examples:
  assay list --since 1w
  assay list --results --metric triad          a row for each value
  assay list --format csv -o results.csv",
    ),
    (
        "show",
        "Examples:
  assay show                    the newest run
  assay show on off             runs of two labels, side by side
  assay show latest --expect azure/hbv4",
    ),
    (
        "compare",
        "Examples:
  assay compare off on                         runs of two labels
  assay compare latest hbv4                    a run with published figures
  assay compare off on --expect gates.toml     thresholds decide the exit code",
    ),
    (
        "report",
        "Examples:
  assay report -o page.html                    the newest run
  assay report --label hbv4 -o page.html       all runs of a label in one table
  assay report latest --locale de",
    ),
    (
        "history",
        "Examples:
  assay history triad
  assay history storage/rate --where bytes=4096 --label nightly",
    ),
    (
        "export",
        "Examples:
  assay export csv --label hbv4 -o results.csv
  assay export parquet -o folder",
    ),
    (
        "net",
        "Examples:
  assay net throughput vm2 --streams 1,4   vm2 runs `assay iperf3 -s`
  assay net latency vm2                    vm2 runs qperf, or iperf3 -s",
    ),
    (
        "iperf3",
        "Examples:
  assay iperf3 -s -B ADDRESS        the server, on one host
  assay iperf3 -c HOST -P 4 -t 10   the client, on the other",
    ),
    (
        "qperf",
        "Examples:
  assay qperf                       the server, on one host
  assay qperf HOST tcp_bw tcp_lat   the client, on the other",
    ),
    (
        "sockperf",
        "Examples:
  assay sockperf server -i ADDRESS             the server, on one host
  assay sockperf ping-pong -i HOST -m 64 -t 5  the client, on the other
  assay sockperf under-load -i HOST --mps 50000 --reply-every 50",
    ),
    (
        "ntttcp",
        "Examples:
  assay ntttcp -r ADDRESS               the receiver, on one host
  assay ntttcp -s HOST -t 30 -W 5 -C 5  the sender, on the other
  assay ntttcp -s HOST -P 8 -n 4 -N     without synchronisation, as for Windows' ntttcp",
    ),
    (
        "ping",
        "Examples:
  assay ping vm2 -c 100",
    ),
    (
        "mpi",
        "Examples:
  mpirun -n 2 assay mpi latency    between two ranks
  mpirun -n 2 assay mpi bw -c      with validation",
    ),
    (
        "rdma",
        "Examples:
  assay rdma send-lat -B ADDRESS    on one host: waits for the other
  assay rdma send-lat HOST -a       on the other: all sizes",
    ),
    (
        "fio",
        "Examples:
  assay fio jobs.fio --dry-run
  assay fio --name=read --rw=randread --bs=4k --size=1g --directory=/data",
    ),
    (
        "vdbench",
        "Examples:
  assay vdbench -f parameters --dry-run
  assay vdbench -f parameters -o output",
    ),
    (
        "ior",
        "Examples:
  assay ior -N 4 -b 1g -t 1m -o /data/file -w -r",
    ),
    (
        "mdtest",
        "Examples:
  assay mdtest --ranks 4 -n 1000 -d /data/md -F -u -i 3
  assay mdtest --ranks 4 -n 1000 -z 2 -b 4 -d /data/md --dryRun",
    ),
    (
        "plan",
        "Examples:
  assay plan littles-law --rate 3500 --latency 1.14ms
  assay plan anf --throughput 4500MiB/s --level premium
  assay plan runs nightly                  runs of a label",
    ),
    (
        "rm",
        "Examples:
  assay rm latest
  assay rm nightly --dry-run   all runs of a label",
    ),
    (
        "prune",
        "Examples:
  assay prune --failed --dry-run",
    ),
    (
        "verify",
        "Examples:
  assay verify            all stored runs
  assay verify latest",
    ),
    (
        "references",
        "Examples:
  assay references               all systems
  assay references azure/hbv4",
    ),
    (
        "lint",
        "Examples:
  assay lint page.fr.md                      against physical laws and itself
  assay lint page.fr.md --against page.md    cell by cell against its original
  assay lint page.md --against latest        against a stored run",
    ),
    (
        "help",
        "Examples:
  assay help run
  assay help docs          the guides, printed by `assay help docs/NAME.md`",
    ),
    (
        "completions",
        "Examples:
  source <(assay completions bash)",
    ),
    (
        "man",
        "Examples:
  assay man run | man -l -",
    ),
];
