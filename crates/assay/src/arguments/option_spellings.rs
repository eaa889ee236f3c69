//! Test of the options of assay's own commands: one spelling for a meaning, and one parser for a
//! spelling. Emulated tools keep the options of their originals.

use std::collections::BTreeMap;

use clap::error::ErrorKind;
use clap::{Command, CommandFactory};

use super::Arguments;
use super::option_meanings::MEANINGS;

/// Commands with another tool's options.
const EMULATED: [&str; 11] = [
    "vdbench", "fio", "ior", "mdtest", "iperf3", "qperf", "sockperf", "ntttcp", "ping", "mpi",
    "rdma",
];

/// Options that accept different values in different commands, with the reason.
const OWN_VALUES: &[(&str, &str)] = &[
    ("rate", "messages have a range, a stream has a bandwidth, I/O has either"),
    ("for", "the protocols of network tests need whole seconds"),
    ("label", "commands that measure name a condition, the others filter by any text"),
    ("metric", "exec and import define a metric, the others filter by its name"),
    ("format", "a short answer is text or JSON, findings have SARIF"),
    ("bs", "a file tree has one size"),
    ("port", "a server may take a free port, which is 0"),
    ("depth", "a calculation has one depth, which may be fractional"),
];

/// Values with which parsers are told apart.
const PROBES: &[&str] = &[
    "",
    "0",
    "1",
    "8",
    "4k",
    "0s",
    "90s",
    "1h30m",
    "1w",
    "0.5ms",
    "5%",
    "150%",
    "10Gbit/s",
    "400MiB/s",
    "100M",
    "latest",
    "a,b",
    "1,2",
    "a=b",
    "placement=node",
    "fr",
    "text",
    "csv",
    "2026-11-22",
    "x.toml",
    "-",
];

/// Calls `visit` with every command of assay's own that has no subcommands.
fn visit_commands(command: &Command, before: &str, visit: &mut impl FnMut(&str, &Command)) {
    for command in command.get_subcommands() {
        let name = format!("{before}{}", command.get_name());
        if EMULATED.contains(&name.as_str()) {
            continue;
        }
        if command.has_subcommands() {
            visit_commands(command, &format!("{name} "), visit);
        } else {
            visit(&name, command);
        }
    }
}

#[test]
fn each_meaning_has_one_spelling() {
    visit_commands(&Arguments::command(), "", &mut |name, command| {
        for long in command.get_arguments().filter_map(|it| it.get_long()) {
            let row = MEANINGS.iter().find(|(_, others)| others.contains(&long));
            assert!(row.is_none(), "`assay {name} --{long}` is --{} elsewhere", row.unwrap().0);
        }
    });
}

/// Returns a mark for each probe: whether the option accepts the value.
fn accepted_probes(command: &mut Command, long: &str) -> String {
    let is_accepted = |probe: &&str| {
        let words = [command.get_name().to_owned(), format!("--{long}={probe}")];
        let outcome = command.clone().try_get_matches_from(words);
        !matches!(
            outcome.map_err(|error| error.kind()),
            Err(ErrorKind::ValueValidation | ErrorKind::InvalidValue)
        )
    };
    PROBES.iter().map(|probe| if is_accepted(probe) { '+' } else { '-' }).collect()
}

#[test]
fn each_spelling_has_one_parser() {
    let mut found: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    visit_commands(&Arguments::command(), "", &mut |name, command| {
        let takes_one = |it: &&clap::Arg| {
            it.get_action().takes_values()
                && it.get_num_args().is_none_or(|n| n.max_values() == 1)
        };
        let options = command.get_arguments().filter(takes_one);
        let options: Vec<String> =
            options.filter_map(|it| it.get_long()).map(str::to_owned).collect();
        for long in options {
            let accepted = accepted_probes(&mut command.clone(), &long);
            let commands = found.entry(long).or_default().entry(accepted).or_default();
            commands.push(name.to_owned());
        }
    });
    let differing: Vec<&str> = found
        .iter()
        .filter(|(_, parsers)| parsers.len() > 1)
        .map(|(long, _)| long.as_str())
        .collect();
    let mut known: Vec<&str> = OWN_VALUES.iter().map(|(long, _)| *long).collect();
    known.sort_unstable();
    assert_eq!(differing, known, "{found:#?}");
}
