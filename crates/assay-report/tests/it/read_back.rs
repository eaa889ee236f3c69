//! Guarantee of pages: every number in a cell, parsed in its language, equals the measured value to
//! the printed digits. This applies to values, intervals and shares.

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, MpiTest};
use assay_model::event::RunStatus;
use assay_model::facts::HostFacts;
use assay_model::limit::LimitBasis;
use assay_model::quantity::Unit;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_report::locale::{self, Language, Locale};
use assay_report::{build, precision, render};
use proptest::prelude::*;

use crate::maker::{self, EstimateBuilder, estimate};

/// Returns the cells of every table of a page, row by row, without escapes.
fn rows(markdown: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim_start_matches("| ").trim_end_matches(" |");
        line.split(" | ").map(|it| it.trim_matches([' ', '|']).replace('\\', "")).collect()
    };
    markdown.lines().filter(|it| it.starts_with("| ")).map(cells).collect()
}

/// Returns the row that begins with these cells.
fn row<'r>(rows: &'r [Vec<String>], begins: &[&str]) -> &'r [String] {
    let found = rows.iter().find(|row| row.iter().zip(begins).all(|(a, b)| a == b));
    found.unwrap_or_else(|| panic!("no row {begins:?}: {rows:?}"))
}

/// Parses a localised number, ignoring its unit.
fn parse_plain(text: &str, language: Language) -> f64 {
    let has_points = language.has_invariant_units
        || matches!(language.locale, Locale::En | Locale::ZhHans | Locale::Ko | Locale::Ja);
    let mark = if has_points { '.' } else { ',' };
    let digits: String = text
        .chars()
        .filter(|it| it.is_ascii_digit() || *it == mark)
        .map(|it| if it == mark { '.' } else { it })
        .collect();
    digits.parse().unwrap_or_else(|_| panic!("{text} is not a number of {language:?}"))
}

/// Asserts that a number is the value rounded to significant digits.
fn assert_rounded(shown: f64, value: f64, digits: usize, text: &str) {
    let last = 10f64.powi(value.abs().log10().floor() as i32 - digits as i32 + 1);
    assert!(
        (shown - value).abs() <= 0.5001 * last,
        "{value} to {digits} digits is {text:?}, read as {shown}"
    );
}

fn parse_quantity(text: &str, unit: Unit, language: Language) -> f64 {
    let read = locale::parse_quantity(text, unit, language);
    read.unwrap_or_else(|| panic!("{text} is no {unit:?} of {language:?}")).value
}

/// Checks a value with its unit, its interval and its share of the limit, in the cells of one row.
fn check(it: &MetricEstimate, [value, interval, share]: [&str; 3], language: Language) {
    let digits = precision::estimate_digits(it);
    assert_rounded(parse_quantity(value, it.unit, language), it.median, digits, value);
    check_interval(it, interval, |text| parse_quantity(text, it.unit, language));
    check_limit_share(it, share, language);
}

fn check_limit_share(it: &MetricEstimate, share: &str, language: Language) {
    let number = share.trim_end_matches('%').trim();
    assert_rounded(parse_plain(number, language), it.percent_of_limit.unwrap(), 3, share);
}

/// Checks both ends of an interval; the first may share the unit of the second.
fn check_interval(it: &MetricEstimate, interval: &str, read: impl Fn(&str) -> f64) {
    let [low, high] = it.ci.unwrap();
    let half = (it.median - low).max(high - it.median);
    // In Markdown, no-break spaces become plain spaces.
    let interval = &interval.replace(' ', "\u{a0}");
    let (first, second) = interval.split_once('–').unwrap_or_else(|| panic!("{interval}?"));
    let (number, unit) = locale::split_unit(second);
    let space = &second[number.len()..second.len() - unit.len()];
    let first = match locale::split_unit(first).1.is_empty() && !unit.is_empty() {
        true => format!("{first}{space}{unit}"),
        false => first.to_owned(),
    };
    assert_rounded(read(&first), low, precision::digits(low, half), interval);
    assert_rounded(read(second), high, precision::digits(high, half), interval);
}

fn summary(results: Vec<MetricEstimate>) -> RunSummary {
    let mut summary = maker::summary("mine", RunStatus::Complete, HostFacts::default());
    summary.results = results;
    summary
}

fn languages() -> impl Strategy<Value = Language> {
    (proptest::sample::select(&Locale::ALL[..]), any::<bool>())
        .prop_map(|(locale, has_invariant_units)| Language { locale, has_invariant_units })
}

/// Generates a median, the relative width of its interval, and the share of the limit.
fn figures() -> impl Strategy<Value = (f64, f64, f64)> {
    let log = |low: f64, high: f64| (low.log10()..high.log10()).prop_map(|it| 10f64.powf(it));
    (log(1e-1, 1e5), log(1e-4, 0.3), log(1e-3, 0.99))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Report in Markdown: bandwidth by placement.
    #[test]
    fn report_cells_parse_back(
        all in proptest::collection::vec(figures(), 1..4),
        language in languages(),
    ) {
        let place = |nth: usize| format!("numa:{nth}");
        let results = all.iter().enumerate().map(|(nth, (median, width, share))| {
            let median = median * 1e9;
            estimate(Benchmark::MemoryStream, "triad", median, *width)
                .with(Attribute::Placement, place(nth))
                .with_limit(median / share, LimitBasis::DataSheet { source: "x".to_owned() })
        });
        let summary = summary(results.collect());
        let page = language.scope(|| render::markdown::document(&build::run(&summary, None)));
        let rows = rows(&page);
        for (nth, it) in summary.results.iter().enumerate() {
            let row = row(&rows, &["Triad", &place(nth)]);
            check(it, [&row[2], &row[3], &row[4]], language);
        }
    }

    /// Page for publication: the first table, MPI and storage.
    #[test]
    fn publication_cells_parse_back(
        (triad, latency, rate) in (figures(), figures(), figures()),
        language in languages(),
    ) {
        let limited = |it: MetricEstimate, share: f64| {
            let limit = it.median / share;
            it.with_limit(limit, LimitBasis::DataSheet { source: "x".to_owned() })
        };
        let node = estimate(Benchmark::MemoryStream, "triad", triad.0 * 1e9, triad.1);
        let node = limited(node.with(Attribute::Placement, "node"), triad.2);
        let mpi = Benchmark::Mpi(MpiTest::Latency);
        let message = estimate(mpi, "latency", latency.0.clamp(1.0, 900.0) * 1e-6, latency.1);
        let message = limited(message, latency.2)
            .with(Attribute::Mpi, "MPICH 4.0.2")
            .with(Attribute::Bytes, 8_u64);
        let test_result = |metric: &str, value: f64| {
            estimate(Benchmark::Storage, metric, value, rate.1)
                .with(Attribute::Operation, "read")
                .with(Attribute::Pattern, "random")
                .with(Attribute::Bytes, 4096_u64)
                .with(Attribute::Target, "/dev/x")
        };
        let ios = limited(test_result("rate", rate.0.max(10.0)), rate.2);
        let wait = test_result("latency", 1.0 / rate.0);
        let summary = summary(vec![node.clone(), message.clone(), ios.clone(), wait.clone()]);
        let write = || render::learn::document(&build::learn("HB", &[&summary], &[]), None).0;
        let rows = rows(&language.scope(write));
        let first = row(&rows, &["STREAM Triad"]);
        check(&node, [&first[1], &first[2], &first[3]], language);
        // In the unit of the heading, with the decimals of the tool.
        let size_row = row(&rows, &["8"]);
        let shown = parse_plain(&size_row[1], language);
        prop_assert!((shown - message.median * 1e6).abs() <= 0.0051, "{:?}", size_row);
        check_interval(&message, &size_row[2], |text| parse_plain(text, language) * 1e-6);
        check_limit_share(&message, &size_row[3], language);
        let storage = rows.iter().find(|row| row.get(1).is_some_and(|it| it == "/dev/x")).unwrap();
        let digits = precision::estimate_digits(&ios);
        assert_rounded(parse_plain(&storage[2], language), ios.median, digits, &storage[2]);
        let read = |text: &str| parse_plain(text, language);
        assert_rounded(parse_quantity(&storage[3], Unit::Second, language), wait.median, precision::estimate_digits(&wait), &storage[3]);
        check_interval(&ios, &storage[4], read);
        check_limit_share(&ios, &storage[5], language);
    }
}
