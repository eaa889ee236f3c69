//! Test of common options: which commands have options that mean the same everywhere. Each present
//! or missing option is intentional.

use clap::{Command, CommandFactory};

use super::Arguments;

/// Common options, in the order of the marks in the table.
const OPTIONS: [&str; 5] = ["label", "json", "output", "quiet", "format"];

/// Commands that measure have all five.
const MEASURING: &str = "ljoqf";
/// Commands that print a page have no label, and no progress to suppress.
const PAGES: &str = "·jo·f";
/// Emulated tools keep their own options. assay adds the label of the stored run, and JSON unless
/// the tool has its own option for it.
const EMULATED: &str = "lj···";

/// All commands with the first letters of the options that they have.
const OPTIONS_OF_COMMANDS: &[(&str, &str)] = &[
    ("run", MEASURING),
    ("stream", MEASURING),
    ("linpack", MEASURING),
    ("exec", MEASURING),
    ("net throughput", MEASURING),
    ("net latency", MEASURING),
    ("net request-response", MEASURING),
    ("storage read", MEASURING),
    ("storage write", MEASURING),
    ("storage mix", MEASURING),
    ("storage files", MEASURING),
    ("storage clean", PAGES),
    ("vdbench", EMULATED),
    // A single argument takes all options of fio and IOR, including `--label`.
    ("fio", "·····"),
    ("ior", "·····"),
    // `-f` is iperf3's `--format`, the unit of rates.
    ("iperf3", "lj··f"),
    ("qperf", EMULATED),
    ("ping", "lj·q·"),
    ("mpi", EMULATED),
    ("rdma", EMULATED),
    ("plan littles-law", PAGES),
    ("plan anf", PAGES),
    ("plan runs", PAGES),
    ("doctor", "·joqf"),
    ("import", "ljo·f"),
    // Filter by label.
    ("list", "ljo·f"),
    ("show", PAGES),
    ("rm", PAGES),
    ("prune", PAGES),
    ("verify", PAGES),
    ("compare", PAGES),
    ("references", PAGES),
    ("lint", PAGES),
    // Filter by label.
    ("history", "ljo·f"),
    ("report", PAGES),
    // The format is an argument; one JSON document for all runs would be too large.
    ("export", "l·o··"),
    // Filter by label; the pages go to a folder.
    ("site", "l····"),
    // Print only text for people or shells.
    ("help", "·····"),
    ("completions", "·····"),
    ("man", "·····"),
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
        let mark =
            |option| if has(&option) { option.chars().next().unwrap_or('·') } else { '·' };
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
