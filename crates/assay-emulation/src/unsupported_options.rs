//! Unsupported options of iperf3, qperf, sockperf, ntttcp and ping, and the failure for an unsupported
//! option of any tool.
//!
//! The parsers of these five derive from their structs, whose fields are the rows of supported options.

use std::convert::Infallible;

use assay_dialects::option::{EmulatedTool, OptionSpec, UnsupportedOption, ValueKind};
use assay_run::failure::{CommandFailure, FailureKind};

/// Option that a tool has and assay does not.
pub type RefusedOption = OptionSpec<Infallible>;

/// Unsupported options of each command.
const COMMANDS: &[(EmulatedTool, &[RefusedOption])] = &[
    (describe_tool("iperf3"), IPERF3),
    (describe_tool("qperf"), QPERF),
    (describe_tool("sockperf"), SOCKPERF),
    (describe_tool("ntttcp"), NTTTCP),
    (describe_tool("ping"), PING),
];

/// Unsupported options of iperf3.
pub(crate) const IPERF3: &[RefusedOption] = &[reject(
    "-X --xbind --sctp --nstreams",
    "SCTP is not supported: few kernels have it, and firewalls drop it",
    "use TCP, or -u for UDP",
)];

pub(crate) const QPERF: &[RefusedOption] = &[
    reject("--access_recv --ar --ar1", "received data is always copied to the program", ""),
    reject(
        "--no_msgs -n",
        "qperf itself uses it in RDMA tests only, and warns in socket tests",
        "use -t SECONDS",
    ),
    reject(
        "--flip -f --f1",
        "qperf itself uses it in RDMA tests only, and warns in socket tests",
        "start the test at the other end",
    ),
    reject(
        "--cm1 --use_cm --cm --cq_poll --cp --cp1 --mtu_size --mt --rd_atomic --nr \
         --service_level --sl --id -i --alt_port --ap --static_rate --sr",
        "the option is about RDMA; only socket tests are supported",
        "leave it out, or use `qperf` itself for RDMA",
    ),
];

pub(crate) const SOCKPERF: &[RefusedOption] = &[
    reject(
        "-f --file -F --iomux-type",
        "a client and a server have one address",
        "-i and -p; start one process for each connection",
    ),
    reject(
        "--mc-rx-if --mc-tx-if --mc-loopback-enable --mc-ttl --mc-source-filter --srv-num",
        "multicast is not supported",
        "the address of one host with -i",
    ),
    reject(
        "--threads-num --cpu-affinity --sender-affinity --receiver-affinity",
        "CPUs and threads cannot be selected",
        "use `taskset -c N assay sockperf …` at either end",
    ),
    reject(
        "-a --activity -A --Activity -d --debug",
        "nothing is printed during a test, because it would delay messages",
        "use --full-log for the time of every message",
    ),
    reject(
        "--vmazcopyread --load-vma --vmarxfiltercb --dummy-send --set-sock-accl",
        "the option needs the VMA library of NVIDIA's network cards",
        "leave it out, or use `sockperf` itself with VMA",
    ),
    reject("--rate-limit", "the kernel does not pace the messages", "use --mps N"),
    reject(
        "--tcp-skip-blocking-send",
        "a message waits until the socket has room",
        "use --mps N below the rate of the path",
    ),
    reject("--daemonize", "a server stays in the foreground", "start it with `nohup … &`"),
    reject("--data-file", "playback is not supported", "use under-load with --mps N"),
];

pub(crate) const NTTTCP: &[RefusedOption] = &[reject(
    "-D",
    "a receiver stays in the foreground",
    "start it with `nohup … &`; -H holds it after a test",
)];

pub(crate) const PING: &[RefusedOption] = &[
    reject(
        "-A",
        "requests are sent at times fixed in advance",
        "-i 0 sends the next when the answer is there",
    ),
    reject(
        "-f",
        "requests are sent one at a time: queued requests would distort the round trips",
        "-i 0 sends the next when the answer is there; `assay net latency --load-streams` fills the link",
    ),
    reject(
        "-D -O -v -U",
        "a line is printed for each reply, and losses are counted at the end",
        "use --json for all results",
    ),
    reject(
        "-I -B",
        "the route selects the interface",
        "show it with `ip route get HOST`, change it with `ip route add`",
    ),
    reject(
        "-Q -p -l -m -S -F -N -R -T -b -L -a -d -e -C",
        "requests are plain echoes, one at a time",
        "`ping` itself",
    ),
];

/// Returns a tool whose options are left out where there is no alternative.
pub const fn describe_tool(command: &'static str) -> EmulatedTool {
    EmulatedTool { command, otherwise: "leave it out" }
}

/// Creates a row: spellings of one or several options, reason, alternative.
pub const fn reject(
    names: &'static str,
    why: &'static str,
    instead: &'static str,
) -> RefusedOption {
    OptionSpec::reject(names, ValueKind::Flag, why, instead)
}

/// Finds the refusal of an option of iperf3, qperf, sockperf, ntttcp or ping.
pub fn find_refusal(command: &str, option: &str) -> Option<UnsupportedOption> {
    let (tool, rows) = COMMANDS.iter().find(|(tool, _)| tool.command == command)?;
    find_refused(rows, tool, option)
}

/// Finds the refusal of an option among these rows.
pub fn find_refused(
    rows: &[RefusedOption],
    tool: &EmulatedTool,
    option: &str,
) -> Option<UnsupportedOption> {
    let name = option.split('=').next().unwrap_or(option);
    let row = rows.iter().find(|row| row.spellings().any(|known| known == name))?;
    row.find_refusal(tool, name, None)
}

/// Converts a refusal to a failure: what is not supported, why, and what to do instead.
pub fn to_failure(refusal: &UnsupportedOption, kind: FailureKind) -> CommandFailure {
    CommandFailure::new(kind, refusal.failure())
        .with_reason(refusal.why)
        .advise(refusal.instead)
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command};

    use super::*;
    use crate::options::network::{
        Iperf3Arguments, NtttcpArguments, PingArguments, QperfArguments, SockperfArguments,
    };

    #[test]
    fn unsupported_options_are_not_accepted() {
        for (tool, rows) in COMMANDS {
            let command = Command::new(tool.command);
            let command = match tool.command {
                "iperf3" => Iperf3Arguments::augment_args(command),
                "qperf" => QperfArguments::augment_args(command),
                "sockperf" => SockperfArguments::augment_args(command),
                "ntttcp" => NtttcpArguments::augment_args(command),
                "ping" => PingArguments::augment_args(command),
                other => panic!("{other} has no options here"),
            };
            for option in rows.iter().flat_map(|row| row.spellings()) {
                let is_accepted = command.get_arguments().any(|argument| {
                    let long = argument.get_long_and_visible_aliases().unwrap_or_default();
                    let short = argument.get_short_and_visible_aliases().unwrap_or_default();
                    long.iter().any(|name| option == format!("--{name}"))
                        || short.iter().any(|name| option == format!("-{name}"))
                });
                assert!(!is_accepted, "{option}");
            }
        }
        let refusal = find_refusal("iperf3", "--nstreams=2");
        assert!(refusal.is_some() && refusal == find_refusal("iperf3", "--nstreams"));
        assert!(find_refusal("ping", "--nstreams").is_none());
    }
}
