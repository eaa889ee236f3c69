//! Tests that the pages of all runs, in all languages and formats, pass assay's own lint.
//!
//! The runs are those of the tests of `assay-report`. Their values are scaled at random, so that
//! unit prefixes, digits and digit groups vary.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "../../../assay-report/tests/it/guest.rs"]
mod guest;
#[path = "../../../assay-report/tests/it/maker.rs"]
mod maker;
#[path = "../../../assay-report/tests/it/mpi.rs"]
mod mpi;
#[path = "../../../assay-report/tests/it/network.rs"]
mod network;
#[path = "../../../assay-report/tests/it/node.rs"]
mod node;
#[path = "../../../assay-report/tests/it/storage.rs"]
mod storage;
#[path = "../../../assay-report/tests/it/troubled.rs"]
mod troubled;

use assay_claims::lint::{LintFinding, lint};
use assay_model::quantity::Unit;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_report::build;
use assay_report::locale::{Language, Locale};
use assay_report::render::{html, learn, markdown};

fn runs() -> Vec<RunSummary> {
    let mut all = vec![
        guest::quick(),
        guest::quick_with_hpcc(),
        node::memory(),
        node::copies(4),
        node::nodes(),
        storage::volume(),
        storage::steady_state_and_search(),
        storage::files(),
        mpi::mpi(),
        network::network(),
        troubled::run(),
        troubled::refused_for_one_reason(),
    ];
    // A run without results has a shorter page.
    all.push(RunSummary { results: vec![], ..guest::quick() });
    all
}

/// Scales all measured values consistently: rates by `factor`, times by its inverse. Counts stay the
/// same, and so do FLOP/s, because the peak in the report is not scaled.
fn scale(summary: &mut RunSummary, factor: f64) {
    let scaled = |it: &mut MetricEstimate| {
        let factor = match it.unit {
            Unit::Second => factor.recip(),
            Unit::Count | Unit::FlopPerSecond => 1.0,
            _ => factor,
        };
        for value in [&mut it.median, &mut it.min, &mut it.max, &mut it.mean] {
            *value *= factor;
        }
        it.ci = it.ci.map(|ci| ci.map(|end| end * factor));
        if let Some(limit) = &mut it.limit {
            limit.value *= factor;
        }
        it.percentiles.iter_mut().flatten().for_each(|(_, value)| *value *= factor);
    };
    summary.results.iter_mut().chain(&mut summary.steps).for_each(scaled);
}

/// Lints a page; returns its first two findings as text.
fn lint_page(page: &str, page_name: &str) -> Vec<String> {
    let findings: Vec<LintFinding> = lint(page, None);
    let format_finding = |it: &LintFinding| {
        let line: String = page.lines().nth(it.line - 1).unwrap().chars().take(200).collect();
        format!("{page_name}: {}: {}\n   {line}", it.rule.name(), it.message)
    };
    findings.iter().take(2).map(format_finding).collect()
}

#[test]
fn own_pages_pass_lint() {
    let mut messages = Vec::new();
    let mut random = fastrand::Rng::with_seed(7);
    for (number, mut summary) in runs().into_iter().enumerate() {
        for locale in Locale::ALL {
            scale(&mut summary, 0.2 + 3.0 * random.f64());
            Language::for_locale(locale).scope(|| {
                let page_name = format!("run {number} in {}", locale.tag());
                let document = build::run(&summary, None);
                let text = format!(
                    "---\nlang: {}\n---\n{}",
                    locale.tag(),
                    markdown::document(&document)
                );
                messages.extend(lint_page(&text, &format!("{page_name}, Markdown")));
                messages.extend(lint_page(
                    &html::document(&document),
                    &format!("{page_name}, HTML"),
                ));
                let page =
                    learn::document(&build::learn("HB120rs_v3", &[&summary], &[]), None).0;
                messages.extend(lint_page(&page, &format!("{page_name}, learn")));
            });
        }
    }
    assert!(messages.is_empty(), "{}", messages.join("\n"));
}
