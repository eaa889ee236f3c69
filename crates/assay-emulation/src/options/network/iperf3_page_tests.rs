//! The page of iperf3's options, from the fields that parse them and the rows that refuse them.

use std::fmt::Write as _;

use assay_dialects::option::OptionSupport;
use clap::{Arg, Args, Command};
use expect_test::expect_file;

use super::Iperf3Arguments;
use crate::unsupported_options::IPERF3;

/// Options that iperf3 does not have.
const OWN: [&str; 5] = ["clients", "pinned", "folder", "no_store", "label"];

fn spellings(argument: &Arg) -> String {
    let short = argument.get_short_and_visible_aliases().unwrap_or_default();
    let long = argument.get_long_and_visible_aliases().unwrap_or_default();
    let short = short.iter().map(|letter| format!("`-{letter}`"));
    let long = long.iter().map(|name| format!("`--{name}`"));
    short.chain(long).collect::<Vec<_>>().join(" ")
}

#[test]
fn reference_of_iperf3_options() {
    let command = Iperf3Arguments::augment_args(Command::new("iperf3"));
    let mut tables = [String::new(), String::new(), String::new()];
    for argument in command.get_arguments() {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.replace('|', "\\|");
        let ignored = help.strip_prefix("Accepted for compatibility: ");
        let table = match ignored {
            _ if OWN.contains(&argument.get_id().as_str()) => 2,
            Some(_) => 1,
            None => 0,
        };
        let names = spellings(argument);
        writeln!(tables[table], "| {names} | {} |", ignored.unwrap_or(&help)).unwrap();
    }
    let mut refused = String::new();
    for row in IPERF3 {
        let OptionSupport::Rejected { why, instead, .. } = row.support else { continue };
        let names: Vec<_> = row.spellings().map(|name| format!("`{name}`")).collect();
        writeln!(refused, "| {} | {why} | {instead} |", names.join(" ")).unwrap();
    }
    let [supported, ignored, own] = tables;
    let page = format!(
        "# Options of iperf3\n\nEvery option of iperf3 3.12 to 3.22, and whether [`assay iperf3`](network.md) supports \
         it, accepts it without effect, or\nrejects it. Written by a test from the fields that parse them; a version is \
         the first of iperf3 with the option.\n\n\
         ## Supported\n\n| option | effect |\n|---|---|\n{supported}\n\
         ## Accepted without effect\n\n| option | reason |\n|---|---|\n{ignored}\n\
         ## Rejected\n\n| options | reason | instead |\n|---|---|---|\n{refused}\n\
         ## Of assay only\n\n| option | effect |\n|---|---|\n{own}"
    );
    expect_file!["../../../../../docs/iperf3-options.md"].assert_eq(&page);
}
