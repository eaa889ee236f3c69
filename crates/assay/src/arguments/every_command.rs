//! Which commands have which of the options that mean the same everywhere: none has one by accident, and none lacks
//! one by accident.

use clap::{Command, CommandFactory};

use super::Arguments;

/// The options in the order of the table's marks.
const OPTIONS: [&str; 5] = ["label", "json", "output", "quiet", "format"];

/// What measures: all five.
const MEASURES: &str = "ljoqf";
/// What prints a page: no label, and no progress that could be in the way.
const PAGES: &str = "·jo·f";
/// What others wrote decides: the options of a tool are its own, and assay adds the label of the stored run, and
/// JSON, where the tool has none or calls it otherwise.
const TOOLS: &str = "lj···";

/// Every command with the first letters of the options that it has.
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
    // One word takes all that fio and IOR take, `--label` among it.
    ("fio", "·····"),
    ("ior", "·····"),
    // `-f` is iperf3's, whose long name is `--format`: a unit of rates.
    ("iperf3", "lj··f"),
    ("qperf", TOOLS),
    ("ping", "lj·q·"),
    ("mpi", TOOLS),
    ("rdma", TOOLS),
    ("plan littles-law", PAGES),
    ("plan anf", PAGES),
    ("doctor", "·joqf"),
    ("import", "ljo·f"),
    // Those with the label.
    ("list", "ljo·f"),
    ("show", PAGES),
    ("rm", PAGES),
    ("prune", PAGES),
    ("verify", PAGES),
    ("compare", PAGES),
    ("references", PAGES),
    ("lint", PAGES),
    // Those with the label.
    ("history", "ljo·f"),
    ("report", PAGES),
    // Texts for people and shells alone.
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
