//! Checks of the rows of all languages, and the reference pages that are made from them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use expect_test::{ExpectFile, expect_file};

use super::{OptionSpec, OptionSupport};
use crate::{fio, ior, mdtest};

/// Checks that no name has two rows, and that no reason ends like a sentence.
fn check_rows<A: 'static>(rows: &[&OptionSpec<A>]) {
    let mut seen = BTreeSet::new();
    for row in rows {
        for name in row.spellings() {
            assert!(seen.insert(name), "{name} has two rows");
        }
        match row.support {
            OptionSupport::Implemented(_) => {}
            OptionSupport::Ignored(why) | OptionSupport::Rejected { why, .. } => {
                assert!(!why.ends_with('.'), "{:?}", row.names);
            }
        }
    }
}

/// Formats names as code, with the first version that has them.
fn format_names<A: 'static>(row: &OptionSpec<A>) -> String {
    let names: Vec<_> = row.spellings().map(|name| format!("`{name}`")).collect();
    let since = row.since.map(|version| format!(" ({version})")).unwrap_or_default();
    names.join(" ") + &since
}

/// Checks the rows, and writes their tables.
fn tabulate<A: 'static>(title: &str, rows: &[&OptionSpec<A>]) -> String {
    check_rows(rows);
    let (mut implemented, mut ignored, mut rejected) = (vec![], String::new(), String::new());
    for row in rows {
        let names = format_names(row);
        match row.support {
            OptionSupport::Implemented(_) => implemented.push(names),
            OptionSupport::Ignored(why) => writeln!(ignored, "| {names} | {why} |").unwrap(),
            OptionSupport::Rejected { why, instead, unless } => {
                let unless = unless.join(", ");
                writeln!(rejected, "| {names} | {why} | {instead} | {unless} |").unwrap();
            }
        }
    }
    let implemented = implemented.join("\n- ");
    format!(
        "## {title}\n\nSupported, with their other names:\n\n- {implemented}\n\nAccepted without effect:\n\n\
         | option | reason |\n|---|---|\n{ignored}\nRejected:\n\n\
         | options | reason | instead | accepted values |\n|---|---|---|---|\n{rejected}"
    )
}

fn check_page(tool: &str, guide: &str, tables: &[String], expected: &ExpectFile) {
    let note = format!(
        "Every option of {tool}, and whether [`assay {guide}`]({guide}.md) supports it, accepts it without effect, or \
         rejects it,\nwith the reason and what to use instead. Written by the tests of `assay-dialects` from the rows of the options."
    );
    expected.assert_eq(&format!("# Options of {tool}\n\n{note}\n\n{}", tables.join("\n")));
}

#[test]
fn reference_of_fio_options() {
    let jobs: Vec<_> = fio::option::all_options().collect();
    let program: Vec<_> = fio::command_line::PROGRAM_OPTIONS.iter().collect();
    check_page(
        "fio",
        "fio",
        &[tabulate("Jobs", &jobs), tabulate("Program", &program)],
        &expect_file!["../../../../docs/fio-options.md"],
    );
    for row in jobs {
        for name in row.spellings() {
            assert_eq!(fio::option::find(name), Some((row, row.main_name(name))));
        }
    }
}

#[test]
fn reference_of_ior_options() {
    let rows: Vec<_> = ior::OPTIONS.iter().collect();
    check_page(
        "IOR",
        "ior",
        &[tabulate("All spellings", &rows)],
        &expect_file!["../../../../docs/ior-options.md"],
    );
}

#[test]
fn reference_of_mdtest_options() {
    let rows: Vec<_> = mdtest::OPTIONS.iter().collect();
    check_page(
        "mdtest",
        "mdtest",
        &[tabulate("All spellings", &rows)],
        &expect_file!["../../../../docs/mdtest-options.md"],
    );
}
