//! Arrangement of help: common options first, rare ones only under `--help`, in groups, and
//! examples for every command.

use clap::Command;

/// Commands with more options than this have a short and a long help.
const MANY: usize = 18;

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
    ("storage read", &["bs", "depth", "random", "rate", "size", "find-rate"]),
    ("storage write", &["bs", "depth", "random", "rate", "size", "destroy-data"]),
    ("storage mix", &["bs", "depth", "random", "rate", "size", "read-share"]),
    ("storage files", &["operations", "threads", "files", "size", "rate"]),
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
];

/// Arranges the help of all commands. `is_short` is that of `-h`.
pub(super) fn arrange(command: Command, is_short: bool) -> Command {
    arrange_below(command, "", is_short)
}

fn arrange_below(command: Command, before: &str, is_short: bool) -> Command {
    command.mut_subcommands(|below| {
        let name = format!("{before}{}", below.get_name());
        let below = arrange_command(below, &name, is_short);
        arrange_below(below, &format!("{name} "), is_short)
    })
}

fn arrange_command(command: Command, name: &str, is_short: bool) -> Command {
    let examples = EXAMPLES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    let command = match examples {
        Some(text) => command.after_help(text),
        None => command,
    };
    let is_long = command.get_arguments().filter(|it| !it.is_hide_set()).count() > MANY;
    if !is_long || crate::commands::help::suggestions::TOOL_COMMANDS.contains(&name) {
        return command;
    }
    let of_command = SHORT_OF_COMMANDS.iter().find(|(known, _)| *known == name);
    let of_command = of_command.map_or(&[][..], |(_, options)| options);
    let mut position = FIRST.len();
    command.mut_args(|argument| {
        let Some(long) = argument.get_long().map(str::to_owned) else { return argument };
        position += 1;
        let rank = FIRST.iter().position(|it| *it == long).unwrap_or(position);
        let argument = argument.display_order(rank);
        if is_short {
            let is_common = SHORT.iter().chain(of_command).any(|it| *it == long);
            let is_rare = !is_common;
            return argument.help_heading(None::<&str>).hide_short_help(is_rare);
        }
        match GROUPS.iter().find(|(_, options)| options.contains(&long.as_str())) {
            Some((heading, _)) if argument.get_help_heading().is_none() => {
                argument.help_heading(*heading)
            }
            Some(_) | None => argument,
        }
    })
}
