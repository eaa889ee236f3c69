//! Unsupported options of iperf3, qperf and ping, each with the reason and an alternative: more
//! help than "unknown option".

/// Command, spellings of one or several options, reason, alternative.
type UnsupportedOption = (&'static str, &'static [&'static str], &'static str, &'static str);

const RDMA_REASON: &str = "the option is about RDMA; only socket tests are supported";
const UNSUPPORTED_OPTIONS: &[UnsupportedOption] = &[
    (
        "iperf3",
        &["-A", "--affinity"],
        "CPUs are chosen by --pinned",
        "--pinned takes one CPU per stream; `taskset -c N assay iperf3 …` names them",
    ),
    (
        "iperf3",
        &["-D", "--daemon"],
        "a server stays in the foreground",
        "start it as a service, or with `setsid … &`",
    ),
    (
        "iperf3",
        &["-F", "--file"],
        "payload never comes from a file, whose storage would be measured too",
        "measure the storage with `assay storage read FILE`",
    ),
    (
        "iperf3",
        &["-I", "--pidfile"],
        "PID files are not written",
        "use `echo $!` after starting it in the background",
    ),
    (
        "iperf3",
        &["-L", "--flowlabel"],
        "flow labels are left to the kernel",
        "set net.ipv6.auto_flowlabels",
    ),
    (
        "iperf3",
        &["-X", "--xbind", "--sctp", "--nstreams"],
        "SCTP is not supported",
        "use TCP, or -u for UDP",
    ),
    (
        "iperf3",
        &["-d", "--debug"],
        "messages are not traced",
        "leave it out: errors name the expected message",
    ),
    (
        "iperf3",
        &["-m", "--mptcp"],
        "multipath TCP is not supported",
        "leave it out: the server also accepts plain TCP",
    ),
    (
        "iperf3",
        &["--bind-dev"],
        "sockets are bound to addresses, not to devices",
        "use -B with an address of the device",
    ),
    (
        "iperf3",
        &["--cntl-ka"],
        "the control connection uses timeouts instead",
        "--rcv-timeout says how long nothing may move",
    ),
    (
        "iperf3",
        &["--dont-fragment"],
        "datagrams fill one segment of the path and are not cut, unless -l is larger",
        "leave out -l; `assay doctor --to HOST` prints the path MTU",
    ),
    (
        "iperf3",
        &["--gsro"],
        "datagrams are sent one by one, as by most programs",
        "leave it out",
    ),
    (
        "iperf3",
        &["--json-stream-full-output"],
        "a document and a stream are two outputs",
        "use -J or --json-stream",
    ),
    ("iperf3", &["--logfile"], "output goes to standard output", "`… > FILE`"),
    (
        "iperf3",
        &["--repeating-payload"],
        "payload is the same in every block already",
        "leave it out",
    ),
    (
        "iperf3",
        &["--server-bitrate-limit", "--server-max-duration"],
        "the server does not limit clients",
        "use -1 or --idle-timeout to stop the server; limit the link with `tc`",
    ),
    (
        "iperf3",
        &["--snd-timeout"],
        "the system's timeout applies to unacknowledged data",
        "--rcv-timeout says how long nothing may move",
    ),
    (
        "iperf3",
        &["--timestamps"],
        "lines contain the time since the start",
        "use `… | ts`, or --json-stream, whose start event has the time",
    ),
    (
        "qperf",
        &["--access_recv", "--ar", "--ar1"],
        "received data is always copied to the program",
        "leave it out",
    ),
    (
        "qperf",
        &[
            "--cpu_affinity",
            "--ca",
            "--loc_cpu_affinity",
            "--lca",
            "--rem_cpu_affinity",
            "--rca",
        ],
        "CPUs cannot be selected",
        "use `taskset -c N assay qperf …` at either end",
    ),
    (
        "qperf",
        &["--ip_port", "--ip"],
        "the server chooses the port of the data, as qperf's does by default",
        "open the server's ephemeral ports (net.ipv4.ip_local_port_range)",
    ),
    ("qperf", &["--no_msgs", "-n"], "a test ends by time", "use -t SECONDS"),
    (
        "qperf",
        &["--flip", "-f", "--f1"],
        "both ends measure the same ping-pong",
        "start the test at the other end",
    ),
    (
        "qperf",
        &["--precision", "-e", "--unify_nodes", "--unify_units", "--un", "--uu"],
        "figures have three digits and the unit that fits",
        "use --json for all digits in base units",
    ),
    (
        "qperf",
        &[
            "--cm1",
            "--use_cm",
            "--cm",
            "--cq_poll",
            "--cp",
            "--cp1",
            "--mtu_size",
            "--mt",
            "--rd_atomic",
            "--nr",
            "--service_level",
            "--sl",
            "--id",
            "-i",
            "--alt_port",
            "--ap",
            "--static_rate",
            "--sr",
        ],
        RDMA_REASON,
        "leave it out, or use `qperf` itself for RDMA",
    ),
    (
        "ping",
        &["-A"],
        "requests are sent at times fixed in advance",
        "-i 0 sends the next when the answer is there",
    ),
    (
        "ping",
        &["-f"],
        "requests are sent one at a time: queued requests would distort the round trips",
        "-i 0 sends the next when the answer is there; `assay net latency --load-streams` fills the link",
    ),
    (
        "ping",
        &["-D", "-O", "-v", "-U"],
        "a line is printed for each reply, and losses are counted at the end",
        "use --json for all results",
    ),
    (
        "ping",
        &["-I", "-B"],
        "the route selects the interface",
        "show it with `ip route get HOST`, change it with `ip route add`",
    ),
    (
        "ping",
        &[
            "-Q", "-p", "-l", "-m", "-S", "-F", "-N", "-R", "-T", "-b", "-L", "-a", "-d", "-e",
            "-C",
        ],
        "requests are plain echoes, one at a time",
        "`ping` itself",
    ),
    ("ping", &["-V"], "the version is that of assay", "use `assay --version`"),
];

/// Returns why `command` does not support this option of the tool, and an alternative.
pub fn find_unsupported_reason(
    command: &str,
    option: &str,
) -> Option<(&'static str, &'static str)> {
    let name = option.split('=').next().unwrap_or(option);
    let row =
        UNSUPPORTED_OPTIONS.iter().find(|row| row.0 == command && row.1.contains(&name))?;
    Some((row.2, row.3))
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command};

    use super::*;
    use crate::options::network::{Iperf3Arguments, PingArguments, QperfArguments};

    #[test]
    fn unsupported_options_are_not_accepted() {
        for (name, options, ..) in UNSUPPORTED_OPTIONS {
            let command = Command::new(*name);
            let command = match *name {
                "iperf3" => Iperf3Arguments::augment_args(command),
                "qperf" => QperfArguments::augment_args(command),
                "ping" => PingArguments::augment_args(command),
                other => panic!("{other} has no options here"),
            };
            for option in *options {
                let is_accepted = command.get_arguments().any(|argument| {
                    let long = argument.get_long_and_visible_aliases().unwrap_or_default();
                    let short = argument.get_short_and_visible_aliases().unwrap_or_default();
                    long.iter().any(|name| *option == format!("--{name}"))
                        || short.iter().any(|name| *option == format!("-{name}"))
                });
                assert!(!is_accepted, "{option}");
            }
        }
        assert_eq!(
            find_unsupported_reason("iperf3", "--logfile=x"),
            find_unsupported_reason("iperf3", "--logfile")
        );
        assert!(find_unsupported_reason("ping", "--logfile").is_none());
    }
}
