//! The published precision of the checks is the one that decides.

use std::fmt::Write as _;
use std::path::Path;

use assay_claims::lint::checks::{MEASURED_CHECKS, MeasuredCheck};
use assay_claims::lint::{Confidence, Rule, lint};
use expect_test::expect_file;

/// Heading of the table in docs/lint.md.
const HEADING: &str =
    "| check | finds | right | pages | without `--all` |\n|---|---|---|---|---|\n";

/// Returns the row of a check.
fn row(it: &MeasuredCheck) -> String {
    let MeasuredCheck { name, about, right, judged, pages, .. } = it;
    let pages = match pages {
        1000.. => format!("{},{:03}", pages / 1000, pages % 1000),
        _ => pages.to_string(),
    };
    let is_reported = if it.is_precise() { "yes" } else { "no" };
    let rule = it.rule.name();
    format!(
        "| `{rule}`: `{name}` | {about} | {right} of {judged} | {pages} | {is_reported} |\n"
    )
}

#[test]
fn documented_precision_decides() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lint.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, table) = page.split_once(HEADING).unwrap();
    let (_, after) = table.split_once("\n\n").unwrap();
    let mut updated = format!("{before}{HEADING}");
    for check in &MEASURED_CHECKS {
        updated.push_str(&row(check));
    }
    write!(updated, "\n{after}").unwrap();
    expect_file![path].assert_eq(&updated);
}

#[test]
fn every_rule_has_a_check() {
    for (rule, name, _) in Rule::ALL {
        assert!(MEASURED_CHECKS.iter().any(|it| it.rule == rule), "{name}");
    }
}

/// A check without a measured precision reports on request only, and each finding names its check.
#[test]
fn imprecise_checks_report_on_request_only() {
    for (page, name) in [
        ("It reaches 4.5 GiB/s (5,000 MiB/s).", "conversion-in-brackets"),
        ("| n | min | mean |\n|-|-|-|\n| 1 | 2.0 | 1.5 |\n", "statistic-order"),
        ("It reaches 4 GiB / s.", "spelling"),
    ] {
        let findings = lint(page, None);
        let [finding] = findings.as_slice() else { panic!("{page}: {findings:?}") };
        let check = finding.measured.unwrap();
        assert_eq!((check.name, check.rule), (name, finding.rule), "{page}");
        let is_reported = finding.confidence > Confidence::Possible;
        assert_eq!(is_reported, check.is_precise(), "{page}");
    }
}
