//! Properties of every summary, however odd: rendering never panics, no result is missing, no line
//! is too wide.

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::{Benchmark, Better};
use assay_model::doubt::Doubt;
use assay_model::event::RunStatus;
use assay_model::facts::HostFacts;
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::limit::{LimitBasis, PhysicalLimit};
use assay_model::quantity::Unit;
use assay_model::sanitize;
use assay_model::summary::{CaseFailure, MeasuringTool, MetricEstimate, RunSummary};
use assay_report::build;
use assay_report::document::{Block, Document};
use assay_report::render::{csv, html, json, markdown, text};
use proptest::prelude::*;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::{guest, maker, node, storage};

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z<>&\"'|*_`#, ]{0,40}",
        "\\PC{0,12}",
        "[\u{1b}\u{7}\r\n\t\u{0}a-z ]{0,12}",
        "[=+@|\u{202e}\u{2066}\u{9b}\u{feff}-][a-z0-9(]{0,5}[\n|]{0,2}",
        Just("</script><script>".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => (-12i32..15, 1.0f64..10.0).prop_map(|(e, m)| m * 10f64.powi(e)),
        1 => (-280i32..300, -10.0f64..10.0).prop_map(|(e, m)| m * 10f64.powi(e)),
        1 => Just(0.0),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
    ]
}

fn parameter() -> impl Strategy<Value = (Attribute, AttributeValue)> {
    let names = proptest::sample::select(Attribute::ALL);
    let values = prop_oneof![
        any::<bool>().prop_map(AttributeValue::Flag),
        any::<u64>().prop_map(AttributeValue::Integer),
        (0u64..1 << 36).prop_map(AttributeValue::Integer),
        value().prop_map(AttributeValue::Number),
        words().prop_map(AttributeValue::Text),
        proptest::sample::select(vec!["node", "l3:0", "cores:4", "cores:8", "core:1"])
            .prop_map(|place| AttributeValue::Text(place.to_owned())),
    ];
    (names, values)
}

prop_compose! {
    fn doubt()(name in words(), text in words(), advice in words()) -> Doubt {
        let why = "no-answer".to_owned();
        Doubt::HostLost { host: name, why, reason: text, advice }
    }
}

prop_compose! {
    fn estimate()(
        benchmark in proptest::sample::select(&Benchmark::ALL[..]),
        foreign in proptest::option::weighted(0.1, words()),
        metric in proptest::sample::select(vec!["copy", "triad", "read", "latency", "fp64", "core_clock", "rmax", "odd"]),
        parameters in proptest::collection::vec(parameter(), 0..8),
        unit in proptest::sample::select(&Unit::ALL[..]),
        numbers in proptest::array::uniform8(value()),
        ci in proptest::option::of((value(), value())),
        limit in proptest::option::of((value(), words())),
        n in 0usize..1000,
        names in (words(), words(), proptest::option::of(words())),
        warnings in proptest::collection::vec(doubt(), 0..3),
    ) -> MetricEstimate {
        let [n_effective, median, ci_level, min, max, mean, percent, percentile] = numbers;
        MetricEstimate {
            benchmark: foreign.unwrap_or_else(|| benchmark.id().to_owned()),
            case: names.0.clone(),
            metric: metric.to_owned(),
            parameters: parameters.into_iter().collect(),
            unit,
            better: Better::Lower,
            n,
            n_effective,
            median,
            ci: ci.map(|(low, high)| [low, high]),
            ci_level,
            min,
            max,
            mean,
            percentiles: Some([("p50".to_owned(), percentile)].into()),
            percent_of_limit: limit.as_ref().map(|_| percent),
            limit: limit.map(|(value, basis)| PhysicalLimit { value, basis: LimitBasis::DataSheet { source: basis } }),
            host: names.0,
            tool: MeasuringTool { name: names.1, version: names.2 },
            warnings,
        }
    }
}

prop_compose! {
    fn summary()(
        suite in words(),
        times in (words(), proptest::option::of(words())),
        status in proptest::sample::select(vec![RunStatus::Complete, RunStatus::Failed, RunStatus::Interrupted, RunStatus::Unfinished]),
        host in proptest::option::of(proptest::sample::select(vec![guest::host(), node::host()])),
        results in proptest::collection::vec(estimate(), 0..12),
        failure in proptest::option::of((words(), words(), words())),
        warnings in proptest::collection::vec(doubt(), 0..3),
    ) -> RunSummary {
        let mut summary = maker::summary(&suite, status, host.clone().unwrap_or_default());
        if host.is_none() {
            summary.hosts.clear();
        }
        (summary.run.started, summary.run.finished) = times;
        summary.results = results;
        summary.warnings = warnings;
        summary.failures.extend(failure.map(|(case, reason, advice)| CaseFailure {
            benchmark: "compute.linpack".to_owned(),
            case,
            host: "node-7".to_owned(),
            failure: FailureReason::Error { area: ErrorArea::Storage, causes: vec![reason], advice },
            because: None,
        }));
        summary
    }
}

/// Returns the width of the widest unbreakable text, including table headings.
fn widest_word(blocks: &[Block]) -> usize {
    // The debug form contains every text of every block; its escapes only lengthen words.
    let debug = format!("{blocks:?}");
    let words = debug.split(|c: char| c == '"' || (c.is_whitespace() && c != '\u{a0}'));
    words.map(UnicodeWidthStr::width).max().unwrap_or(0)
}

fn check_text(document: &Document, width: usize) {
    let plain = text::TextOptions { width, colour: false, details: true };
    let written = text::document(document, &plain);
    let narrow_words = widest_word(&document.blocks) * 2 <= width
        && document.title.split_whitespace().all(|word| word.width() <= width);
    for line in written.lines() {
        assert!(!line.ends_with(' '), "{line:?}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert!(!narrow_words || line.width() <= width, "{width}: {line:?}\n{written}");
    }
    let coloured = text::document(document, &text::TextOptions { colour: true, ..plain });
    let mut uncoloured = coloured;
    for code in ["\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[33m", "\u{1b}[0m"] {
        uncoloured = uncoloured.replace(code, "");
    }
    assert_eq!(uncoloured, written);
}

fn check_csv(summary: &RunSummary) {
    let written = csv::summary(summary);
    let mut reader = ::csv::Reader::from_reader(written.as_bytes());
    let head = reader.headers().unwrap().clone();
    let column = |name: &str| head.iter().position(|title| title == name).unwrap();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), summary.results.len());
    for (row, estimate) in rows.iter().zip(&summary.results) {
        assert_eq!(&row[column("host")], &*sanitize::escape_spreadsheet_cell(&estimate.host));
        assert_eq!(&row[column("unit")], estimate.unit.symbol());
        let value = row[column("value")].parse::<f64>().ok();
        assert_eq!(value, Some(estimate.median).filter(|median| median.is_finite()));
        for (name, value) in &estimate.parameters {
            if let AttributeValue::Text(text) = value {
                let field = &row[column(&format!("parameters.{}", name.name()))];
                assert_eq!(field, &*sanitize::escape_spreadsheet_cell(text));
            }
        }
    }
}

/// Checks that foreign text has no effect on terminals, browsers or spreadsheets.
fn check_harmless(summary: &RunSummary, document: &Document) {
    let options = text::TextOptions { width: 80, colour: false, details: true };
    let tables = csv::summary(summary);
    let page = html::document(document);
    let written = [text::document(document, &options), markdown::document(document), page];
    for text in written.iter().chain([&tables]) {
        assert!(!text.contains(sanitize::is_hidden), "{text:?}");
    }
    for record in ::csv::Reader::from_reader(tables.as_bytes()).records() {
        for field in &record.unwrap() {
            let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
            assert!(!is_formula || field.parse::<f64>().is_ok(), "{field:?}");
        }
    }
    for row in written[1].lines().filter(|line| line.starts_with("| ")) {
        assert!(row.ends_with(" |"), "a table is cut: {row}");
    }
}

fn check_html(document: &Document) {
    let page = html::document(document);
    assert_eq!(page.matches("<script").count(), 1, "nothing from outside becomes markup");
    assert_eq!(page.matches("</script").count(), 1);
    let outside = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    assert!(!outside.contains("http://") && !outside.contains("src="), "nothing is loaded");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_summary_renders(summary in summary(), width in 0usize..200) {
        let document = build::run(&summary, None);
        check_text(&document, width.max(60));
        let narrow = text::TextOptions { width, colour: true, details: false };
        prop_assert!(!text::document(&document, &narrow).is_empty());
        prop_assert!(markdown::document(&document).starts_with("# "));
        check_csv(&summary);
        check_harmless(&summary, &document);
        check_html(&document);
        let named = |it: &&MetricEstimate| it.parameters.contains_key(&Attribute::Test);
        let figures = summary.results.iter().filter(named).count().min(3);
        prop_assert!(build::headlines(&summary).len() <= 5 + figures);
    }
}

#[test]
fn ordinary_summaries_fit_every_width() {
    for summary in [
        guest::quick(),
        guest::quick_with_hpcc(),
        node::memory(),
        node::copies(16),
        storage::files(),
        crate::troubled::run(),
    ] {
        let document = build::run(&summary, None);
        for width in 60..140 {
            let options = text::TextOptions { width, colour: false, details: false };
            for line in text::document(&document, &options).lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
    }
}

fn parse_json_summary(summary: &RunSummary) -> serde_json::Value {
    serde_json::from_str(&json::summary(summary)).unwrap()
}

/// JSON contains every result with its figures and all of its parameters.
#[test]
fn json_contains_the_whole_summary() {
    for summary in [guest::quick(), node::memory(), crate::storage::volume()] {
        let value = parse_json_summary(&summary);
        assert_eq!([&value["schema"], &value["statistics"]], [2, 2]);
        let results = value["results"].as_array().unwrap();
        assert_eq!(results.len(), summary.results.len());
        for (written, estimate) in results.iter().zip(&summary.results) {
            assert_eq!(written["median"], estimate.median);
            assert_eq!(written["case"], estimate.case);
            let parameters = written["parameters"].as_object().unwrap();
            assert_eq!(parameters.len(), estimate.parameters.len());
            for (name, stored) in &estimate.parameters {
                let plain = &parameters[name.name()];
                match stored {
                    AttributeValue::Reason(_) => assert_eq!(plain["id"], "best"),
                    other => assert_eq!(*plain, serde_json::to_value(other).unwrap()),
                }
            }
        }
    }
    let node = parse_json_summary(&node::memory());
    let limit = &node["results"][0]["limit"];
    assert_eq!(limit["basis_id"], "memory-channels");
    assert_eq!(limit["basis"], "24 memory channels × 4800 MT/s × 64 bit (SMBIOS)");
    assert_eq!(limit["basis_arguments"]["channels"], 24);
}

#[test]
fn json_contains_doubts_and_failures() {
    let summary = crate::troubled::run();
    let odd = json::summary(&summary);
    assert!(odd.contains("\"median\": null") && !odd.contains("NaN"));
    let value = parse_json_summary(&summary);
    let doubt = &value["warnings"][0];
    assert_eq!(
        [&doubt["id"], &doubt["arguments"]["load"]],
        [&json!("other-load"), &json!(1.8)]
    );
    assert!(doubt["text"].as_str().unwrap().contains("1.80") && doubt["advice"].is_string());
    let failure = &value["failures"][0];
    assert_eq!(failure["id"], "residual-too-large");
    assert_eq!(failure["arguments"]["bound"], 16.0);
    assert!(failure["reason"].as_str().unwrap().contains("residual"));
}

#[test]
fn json_of_a_comparison_has_both_estimates() {
    let text = json::comparison(&crate::conditions::accelerated_networking());
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let pair = &value["pairs"][0];
    assert_eq!(pair["a"]["parameters"]["streams"], 6);
    assert_eq!(
        [&pair["verdict"], &pair["b"]["median"]],
        [&json!("equivalent"), &json!(5.58e9)]
    );
}

/// Report with one result of every metric of every benchmark, and one of an unknown benchmark.
#[test]
fn every_metric_is_reported() {
    let mut summary = maker::summary("all", RunStatus::Complete, HostFacts::default());
    let metrics = Benchmark::ALL
        .into_iter()
        .flat_map(|it| it.definition().metrics.iter().map(move |metric| (it, metric)));
    let mut expected = Vec::new();
    for (number, (benchmark, metric)) in (101_u32..).zip(metrics) {
        let number_as_float = f64::from(number);
        let (scale, printed) = match metric.unit {
            // Printed in percent, and in s/GB.
            Unit::Ratio => (1e-3, number_as_float / 10.0),
            Unit::SecondPerByte => (1e-9, number_as_float),
            _ => (1.0, number_as_float),
        };
        expected.push((benchmark.id(), metric.name, printed));
        let median = f64::from(number) * scale;
        summary.results.push(maker::estimate(benchmark, metric.name, median, 0.01));
    }
    let mut foreign = maker::estimate(Benchmark::Storage, "rate", 999.0, 0.01);
    foreign.benchmark = "network.rdma".to_owned();
    summary.results.push(foreign);
    expected.push(("network.rdma", "rate", 999.0));
    let options = text::TextOptions { width: 200, colour: false, details: true };
    let written = text::document(&build::run(&summary, None), &options);
    let numbers: Vec<f64> = written
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .filter_map(|word| word.parse().ok())
        .collect();
    for (benchmark, metric, value) in expected {
        // A column has one prefix: micro for MPI times, mega for MPI bandwidths.
        let prefixes = [1.0, 1e-6, 1e6];
        let same = |found: &f64| {
            prefixes.iter().any(|prefix| (found * prefix / value - 1.0).abs() < 1e-6)
        };
        let is_there = numbers.iter().any(same);
        assert!(is_there, "{benchmark} {metric}: {value}\n{written}");
    }
}
