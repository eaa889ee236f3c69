//! Recall of single errors in clean pages of nine languages, and the property of their corrections.
//!
//! Each page of `tests/errors` marks the places of its errors: `{{right|wrong|kind#number}}`, or
//! several wrong texts with their kinds. Places with one name are changed together.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use assay_claims::lint::{Confidence, LintFinding, apply_fixes, lint};
use expect_test::expect_file;

const LANGUAGES: [&str; 9] = ["en", "de", "fr", "es", "cs", "ru", "ja", "ko", "zh"];

fn template(language: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    std::fs::read_to_string(folder.join(format!("{language}.md"))).unwrap()
}

/// Returns the page with the errors of one name, or without any.
fn expand(template: &str, error: Option<&str>) -> String {
    let mut page = String::new();
    for part in template.split("{{") {
        let Some((place, rest)) = part.split_once("}}") else {
            page.push_str(part);
            continue;
        };
        let texts: Vec<&str> = place.split('|').collect();
        let mut errors = texts[1..].chunks(2);
        let wrong = errors.find(|it| error == Some(it[1])).map(|it| it[0]);
        page.push_str(wrong.unwrap_or(texts[0]));
        page.push_str(rest);
    }
    page
}

/// Returns the names of all errors of a page.
fn error_names(template: &str) -> BTreeSet<&str> {
    let places = template.split("{{").skip(1).filter_map(|it| it.split_once("}}"));
    places.flat_map(|(place, _)| place.split('|').skip(2).step_by(2)).collect()
}

/// Returns the findings that are reported without `--all`.
fn likely_errors(page: &str, source: Option<&str>) -> Vec<LintFinding> {
    let all = lint(page, source).into_iter();
    all.filter(|it| it.confidence > Confidence::Possible).collect()
}

/// Errors of one kind that were found, of all.
#[derive(Default)]
struct Recall {
    alone: usize,
    against_source: usize,
    all: usize,
    missed: Vec<&'static str>,
}

#[test]
fn single_errors_are_found_and_never_made_worse() {
    let source = expand(&template("en"), None);
    let mut recalls: BTreeMap<String, Recall> = BTreeMap::new();
    let mut failures = String::new();
    for language in LANGUAGES {
        let template = template(language);
        let clean = expand(&template, None);
        for other in [None, Some(source.as_str())] {
            let findings = likely_errors(&clean, other);
            if !findings.is_empty() {
                writeln!(failures, "{language}, {}: {findings:#?}", other.is_some()).unwrap();
            }
        }
        for name in error_names(&template) {
            let page = expand(&template, Some(name));
            let kind = name.split('#').next().unwrap_or_default();
            let recall = recalls.entry(kind.to_owned()).or_default();
            let found = [None, Some(source.as_str())].map(|other| {
                let findings = likely_errors(&page, other);
                let fixed = apply_fixes(&page, &findings).0;
                if fixed != page && fixed != clean {
                    writeln!(failures, "{language}, {name}: corrected to {fixed}").unwrap();
                }
                !findings.is_empty()
            });
            recall.alone += usize::from(found[0]);
            recall.against_source += usize::from(found[1]);
            recall.all += 1;
            recall.missed.extend((!found[1]).then_some(language));
        }
    }
    assert!(failures.is_empty(), "{failures}");
    let mut table = "error\talone\tagainst the source\tof\tmissed in\n".to_owned();
    for (kind, Recall { alone, against_source, all, missed }) in recalls {
        let missed = missed.join(" ");
        writeln!(table, "{kind}\t{alone}\t{against_source}\t{all}\t{missed}").unwrap();
    }
    expect_file!["../errors/recall.tsv"].assert_eq(&table);
}

/// An entity in a number is read as its character, and every error in it is found.
#[test]
fn entities_in_figures_are_read() {
    let row = |figure: &str| format!("| a | b |\n|-|-|\n| x | {figure} |\n");
    for (figure, source, expected) in [
        ("1&#46;5 ms", "1.5 ms", 0),
        ("1&#x2e;5 ms", "1.5 ms", 0),
        ("1&period;5 ms", "1.5 ms", 0),
        ("1&#44;500 ms", "1,500 ms", 0),
        ("1\\.5 ms", "1.5 ms", 0),
        ("&#49;5 ms", "15 ms", 0),
        ("1&#53; ms", "15 ms", 0),
        ("5 MB&#47;s", "5 MB/s", 0),
        ("5 MB\\/s", "5 MB/s", 0),
        ("5&nbsp;MB&sol;s", "5 MB/s", 0),
        ("1&#46;6 ms", "1.5 ms", 1),
        ("1&#53;0 ms", "15 ms", 1),
        ("5 GB&#47;s", "5 MB/s", 1),
    ] {
        let findings = lint(&row(figure), Some(&row(source)));
        assert_eq!(findings.len(), expected, "{figure}: {findings:?}");
    }
}

/// Examples of docs/lint.md, each of which it says is reported.
#[test]
fn documented_examples_are_reported() {
    let columns = |head: &str, rows: &str| format!("{head}\n|-|-|\n{rows}\n");
    for text in [
        "The rate grew from 104 to 156 MB/s, 62 %.".to_owned(),
        "757,820.9 MB/s = ~740 GB/s".to_owned(),
        "4,500 MiB of throughput".to_owned(),
        "940 GiB / s".to_owned(),
        columns("| t | IOPS |", "| a | 102k |\n| b | 98k |\n| c | 110k |\n| d | 115 |"),
        columns(
            "| t | latency |",
            "| a | 1.2 ms |\n| b | 1.4 ms |\n| c | 1.3 µs |\n| d | 1.5 ms |",
        ),
    ] {
        assert!(!likely_errors(&text, None).is_empty(), "{text}");
    }
}

/// The page that documents the rules passes them.
#[test]
fn own_documentation_has_no_likely_errors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lint.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert_eq!(likely_errors(&page, None), []);
}
