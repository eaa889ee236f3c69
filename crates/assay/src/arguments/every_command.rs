//! Test of common options: which commands have options that mean the same everywhere. Each present
//! or missing option is intentional.

use clap::{Command, CommandFactory};

use super::Arguments;

/// Common options, in the order of the marks in the table.
const OPTIONS: [&str; 5] = ["label", "json", "output", "quiet", "format"];

/// Commands that measure have all five.
const MEASURES: &str = "ljoqf";
/// Commands that print a page have no label, and no progress to suppress.
const PAGES: &str = "·jo·f";
/// Emulated tools keep their own options. assay adds the label of the stored run, and JSON unless
/// the tool has its own option for it.
const TOOLS: &str = "lj···";

/// All commands with the first letters of the options that they have.
const TABLE: &[(&str, &str)] = &[
    ("run", MEASURES),
    ("stream", MEASURES),
    ("linpack", MEASURES),
    ("net throughput", MEASURES),
    ("net latency", MEASURES),
    ("net request-response", MEASURES),
    ("storage read", MEASURES),
    ("storage write", MEASURES),
    ("storage mix", MEASURES),
    ("storage files", MEASURES),
    ("storage clean", PAGES),
    ("vdbench", TOOLS),
    // A single argument takes all options of fio and IOR, including `--label`.
    ("fio", "·····"),
    ("ior", "·····"),
    // `-f` is iperf3's `--format`, the unit of rates.
    ("iperf3", "lj··f"),
    ("qperf", TOOLS),
    ("ping", "lj·q·"),
    ("mpi", TOOLS),
    ("rdma", TOOLS),
    ("plan littles-law", PAGES),
    ("plan anf", PAGES),
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
    // Print only text for people or shells.
    ("help", "·····"),
    ("completions", "·····"),
    ("man", "·····"),
];

fn leaves(command: &Command, before: &str, found: &mut Vec<(String, String)>) {
    for command in command.get_subcommands() {
        let name = format!("{before}{}", command.get_name());
        if command.has_subcommands() {
            leaves(command, &format!("{name} "), found);
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
fn options_that_mean_the_same_are_where_the_table_says() {
    let mut found = Vec::new();
    leaves(&Arguments::command(), "", &mut found);
    let table: Vec<(String, String)> =
        TABLE.iter().map(|(name, has)| ((*name).to_owned(), (*has).to_owned())).collect();
    assert_eq!(found, table);
}
