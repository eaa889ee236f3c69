//! The pages of the options of tools whose parsers derive from fields: from these fields, and from the rows of
//! the rejected options.

use std::fmt::Write as _;

use assay_dialects::option::OptionSupport;
use clap::{Arg, Args, Command};
use expect_test::{ExpectFile, expect_file};

use super::network::{
    Iperf3Arguments, NtttcpArguments, PingArguments, QperfArguments, SockperfArguments,
};
use super::osu::{self, MpiArguments};
use super::perftest::{self, RdmaArguments};
use crate::unsupported_options::{IPERF3, NTTTCP, PING, QPERF, RefusedOption, SOCKPERF};

/// Prefix of the help of an option that has no effect.
const NO_EFFECT: &str = "Accepted for compatibility: ";

/// Page of a tool's options.
struct OptionPage<'a> {
    /// Tool with its versions.
    tool: &'a str,
    /// The command of assay, and its guide.
    command: &'a str,
    guide: &'a str,
    /// What the reader has to know about spellings or versions.
    note: &'a str,
    rejected: &'a [RefusedOption],
    /// Identifiers of the options that the tool does not have.
    own: &'a [&'a str],
}

impl OptionPage<'_> {
    fn check<A: Args>(&self, expected: &ExpectFile) {
        let command = A::augment_args(Command::new("tool"));
        let (mut supported, mut ignored) = (String::new(), String::new());
        let mut own = String::new();
        let mut own_left = self.own.to_vec();
        let options = command.get_arguments().filter(|it| !it.is_positional());
        for argument in options.filter(|it| !it.is_hide_set()) {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let help = help.replace('|', "\\|").replace('<', "&lt;");
            let without_effect = help.strip_prefix(NO_EFFECT);
            let is_own = take(&mut own_left, argument.get_id().as_str())
                || ["folder", "no_store", "label"].contains(&argument.get_id().as_str());
            let table = match without_effect {
                _ if is_own => &mut own,
                Some(_) => &mut ignored,
                None => &mut supported,
            };
            let names = format_spellings(argument);
            writeln!(table, "| {names} | {} |", without_effect.unwrap_or(&help)).unwrap();
        }
        assert!(own_left.is_empty(), "{}: {own_left:?}", self.tool);
        let rejected = tabulate_rejected(self.rejected);
        let &Self { tool, command, guide, note, .. } = self;
        let name = tool.split(' ').next().unwrap_or(tool);
        let tables = [
            ("Supported", "option | effect", supported),
            ("Accepted without effect", "option | reason", ignored),
            ("Rejected", "options | reason | instead", rejected),
            ("Of assay only", "option | effect", own),
        ];
        let mut page = format!(
            "# Options of {name}\n\nEvery option of {tool}, and whether [`assay {command}`]({guide}.md) supports it, \
             accepts it without effect, or\nrejects it. {note}Written by a test from the fields that parse them.\n"
        );
        for (title, columns, rows) in tables.iter().filter(|(_, _, rows)| !rows.is_empty()) {
            let line = "|---".repeat(columns.split('|').count());
            write!(page, "\n## {title}\n\n| {columns} |\n{line}|\n{rows}").unwrap();
        }
        expected.assert_eq(&page);
    }
}

/// Removes an identifier from a list, if it is there.
fn take(list: &mut Vec<&str>, id: &str) -> bool {
    let before = list.len();
    list.retain(|it| *it != id);
    list.len() < before
}

/// Formats the spellings of an option and the name of its value.
fn format_spellings(argument: &Arg) -> String {
    let short = argument.get_short_and_visible_aliases().unwrap_or_default();
    let long = argument.get_long_and_visible_aliases().unwrap_or_default();
    let short = short.iter().map(|letter| format!("`-{letter}`"));
    let long = long.iter().map(|name| format!("`--{name}`"));
    short.chain(long).collect::<Vec<_>>().join(" ")
}

fn tabulate_rejected(rows: &[RefusedOption]) -> String {
    let mut table = String::new();
    for row in rows {
        let OptionSupport::Rejected { why, instead, unless } = row.support else { continue };
        let names: Vec<_> = row.spellings().map(|name| format!("`{name}`")).collect();
        let unless = match unless {
            [] => String::new(),
            values => format!(" (but `{}`)", values.join("`, `")),
        };
        writeln!(table, "| {}{unless} | {why} | {instead} |", names.join(" ")).unwrap();
    }
    table
}

#[test]
fn reference_of_iperf3_options() {
    OptionPage {
        tool: "iperf3 3.12 to 3.22",
        command: "iperf3",
        guide: "network",
        note: "A version is the first of iperf3 with the option. ",
        rejected: IPERF3,
        own: &["clients", "pinned"],
    }
    .check::<Iperf3Arguments>(&expect_file!["../../../../docs/iperf3-options.md"]);
}

#[test]
fn reference_of_qperf_options() {
    OptionPage {
        tool: "qperf 0.4.11",
        command: "qperf",
        guide: "network",
        note: "Names with `-` instead of `_`, and qperf's short\nnames, are the same options. ",
        rejected: QPERF,
        own: &["json", "bind", "one_off", "idle_timeout", "allow_quit"],
    }
    .check::<QperfArguments>(&expect_file!["../../../../docs/qperf-options.md"]);
}

#[test]
fn reference_of_sockperf_options() {
    OptionPage {
        tool: "sockperf 3.7",
        command: "sockperf",
        guide: "network",
        note: "",
        rejected: SOCKPERF,
        own: &["json"],
    }
    .check::<SockperfArguments>(&expect_file!["../../../../docs/sockperf-options.md"]);
}

#[test]
fn reference_of_ntttcp_options() {
    OptionPage {
        tool: "ntttcp for Linux 1.4.3",
        command: "ntttcp",
        guide: "network",
        note: "",
        rejected: NTTTCP,
        own: &[],
    }
    .check::<NtttcpArguments>(&expect_file!["../../../../docs/ntttcp-options.md"]);
}

#[test]
fn reference_of_ping_options() {
    OptionPage {
        tool: "ping of iputils",
        command: "ping",
        guide: "network",
        note: "",
        rejected: PING,
        own: &["json"],
    }
    .check::<PingArguments>(&expect_file!["../../../../docs/ping-options.md"]);
}

#[test]
fn reference_of_perftest_options() {
    OptionPage {
        tool: "perftest 26",
        command: "rdma",
        guide: "rdma",
        note: "",
        rejected: perftest::unsupported::UNSUPPORTED_OPTIONS,
        own: &["forever", "loopback", "bind", "json"],
    }
    .check::<RdmaArguments>(&expect_file!["../../../../docs/perftest-options.md"]);
}

#[test]
fn reference_of_osu_options() {
    OptionPage {
        tool: "OSU micro-benchmarks 7.4",
        command: "mpi",
        guide: "mpi",
        note: "",
        rejected: osu::unsupported::UNSUPPORTED_OPTIONS,
        own: &["preset", "budget", "prefix", "library", "json"],
    }
    .check::<MpiArguments>(&expect_file!["../../../../docs/osu-options.md"]);
}
