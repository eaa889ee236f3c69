//! Test of common options: which commands have options that mean the same everywhere. Each present
//! or missing option is intentional.

use clap::{Command, CommandFactory};

use super::Arguments;

/// Common options, each with its mark in the table, in the order of the marks.
const OPTIONS: [(char, &str); 8] = [
    ('l', "label"),
    ('j', "json"),
    ('o', "output"),
    ('q', "quiet"),
    ('f', "format"),
    ('t', "locale"),
    ('s', "store"),
    ('e', "expect"),
];

/// Commands that measure have all of them.
const MEASURING: &str = "ljoqftse";
/// Commands that print a page have no label.
const PAGES: &str = "·joqft··";
/// Pages of stored runs.
const STORED: &str = "·joqfts·";
/// Emulated tools keep their own options. assay adds the label and the store of the run, and JSON
/// unless the tool has its own option for it.
const EMULATED: &str = "lj····s·";

/// All commands with the marks of the options that they have.
const OPTIONS_OF_COMMANDS: &[(&str, &str)] = &[
    ("run", MEASURING),
    ("stream", MEASURING),
    ("linpack", MEASURING),
    ("exec", MEASURING),
    ("net throughput", MEASURING),
    ("net latency", MEASURING),
    ("net request-response", MEASURING),
    ("net connections", MEASURING),
    ("storage read", MEASURING),
    ("storage write", MEASURING),
    ("storage mix", MEASURING),
    ("storage files", MEASURING),
    ("storage clean", STORED),
    ("vdbench", EMULATED),
    // A single argument takes all options of fio, IOR and mdtest, including `--label`.
    ("fio", "········"),
    ("ior", "········"),
    ("mdtest", "········"),
    // `-f` is iperf3's `--format`, the unit of rates.
    ("iperf3", "lj··f·s·"),
    ("qperf", EMULATED),
    ("sockperf", EMULATED),
    // `-j` is ntttcp's own option for JSON.
    ("ntttcp", "l·····s·"),
    ("ping", "lj·q··s·"),
    ("mpi", EMULATED),
    ("rdma", EMULATED),
    ("plan littles-law", PAGES),
    ("plan anf", PAGES),
    ("plan runs", STORED),
    ("doctor", PAGES),
    ("import", MEASURING),
    // Filter by label.
    ("list", "ljoqfts·"),
    ("show", "·joqftse"),
    ("rm", STORED),
    ("prune", STORED),
    ("verify", STORED),
    ("compare", "·joqftse"),
    ("references", PAGES),
    ("lint", STORED),
    // Filter by label.
    ("history", "ljoqfts·"),
    ("report", "ljoqftse"),
    // The format is an argument; one JSON document for all runs would be too large.
    ("export", "l·oq··s·"),
    // Filter by label; the pages go to a folder.
    ("site", "l··q·ts·"),
    ("serve", "l··q·ts·"),
    // Print only text for people or shells.
    ("help", "········"),
    ("completions", "········"),
    ("man", "········"),
];

fn collect_options(command: &Command, before: &str, found: &mut Vec<(String, String)>) {
    for command in command.get_subcommands() {
        let name = format!("{before}{}", command.get_name());
        if command.has_subcommands() {
            collect_options(command, &format!("{name} "), found);
            continue;
        }
        let has = |option: &&str| {
            command.get_arguments().any(|it| it.get_long() == Some(option) && !it.is_hide_set())
        };
        let mark = |(mark, option)| if has(&option) { mark } else { '·' };
        found.push((name, OPTIONS.map(mark).iter().collect()));
    }
}

#[test]
fn common_options_match_table() {
    let mut found = Vec::new();
    collect_options(&Arguments::command(), "", &mut found);
    let table: Vec<(String, String)> = OPTIONS_OF_COMMANDS
        .iter()
        .map(|(name, has)| ((*name).to_owned(), (*has).to_owned()))
        .collect();
    assert_eq!(found, table);
}
