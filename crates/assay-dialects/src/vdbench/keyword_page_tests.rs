//! The page of Vdbench's keywords, from the rows that find them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use expect_test::expect_file;

use super::keywords::{DefinitionKind, Keyword, KeywordSupport};

const KINDS: [DefinitionKind; 7] = [
    DefinitionKind::General,
    DefinitionKind::Host,
    DefinitionKind::Storage,
    DefinitionKind::Workload,
    DefinitionKind::FileSystem,
    DefinitionKind::FileWorkload,
    DefinitionKind::Run,
];

/// Formats a keyword with its synonyms as code.
fn format_spellings(row: &Keyword, rows: &[Keyword]) -> String {
    let same = rows.iter().filter(|other| other.name == row.name);
    same.map(|row| format!("`{}`", row.spelled)).collect::<Vec<_>>().join(" ")
}

fn tabulate(kind: DefinitionKind) -> String {
    let rows = kind.keywords();
    let mut seen = BTreeSet::new();
    let mut supported = Vec::new();
    let (mut ignored, mut rejected) = (String::new(), String::new());
    for row in rows.iter().filter(|row| seen.insert(row.name)) {
        let names = format_spellings(row, rows);
        match row.support {
            KeywordSupport::Full => supported.push(names),
            KeywordSupport::Ignored(why) => writeln!(ignored, "| {names} | {why} |").unwrap(),
            KeywordSupport::Unsupported(why) => {
                writeln!(rejected, "| {names} | {why} |").unwrap();
            }
        }
    }
    let mut description = kind.description().replace("parameter of a", "Parameters of a");
    if kind == DefinitionKind::General {
        "General parameters".clone_into(&mut description);
    }
    let mut text = format!(
        "## {description}\n\nSupported, with their other names:\n\n- {}\n",
        supported.join("\n- ")
    );
    for (title, rows) in [("Accepted without effect", ignored), ("Rejected", rejected)] {
        if !rows.is_empty() {
            write!(text, "\n{title}:\n\n| keyword | reason |\n|---|---|\n{rows}").unwrap();
        }
    }
    text
}

#[test]
fn reference_of_keywords() {
    let page = format!(
        "# Keywords of Vdbench\n\nEvery keyword of Vdbench 5.04.06, and whether [`assay vdbench`](vdbench.md) supports it, \
         accepts it without effect, or\nrejects it, with the reason. Written by a test from the rows that find them; \
         replay groups (rg) are rejected\nas a whole.\n\n{}",
        KINDS.map(tabulate).join("\n")
    );
    expect_file!["../../../../docs/vdbench-options.md"].assert_eq(&page);
}
