//! Exports of an artificial run with hostile names, compared with the files in `tests/golden`.

use std::path::Path;

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark::{Linpack, MemoryStream};
use assay_model::event::RunStatus;
use assay_report::export::{
    ExportFormat, ExportedFiles, ExportedRun, Exporter, SampleTimes, describe_columns,
};
use serde_json::Value;

use crate::maker::{EstimateBuilder, estimate, summary};
use crate::{events, guest};

/// 2026-11-21T10:44:55.5Z.
const STARTED_NS: i64 = 1_795_257_895_500_000_000;
const HOSTILE: &str = "=1+1,\"x\"\n\t a=b \\n\u{202e}<b>\\";

/// Run with names that other formats could take for structure, and a value that is no number.
fn hostile_run(id: &str, started_ns: i64) -> ExportedRun {
    let mut summary = summary("odd suite", RunStatus::Complete, guest::host());
    id.clone_into(&mut summary.run.id);
    summary.run.label = Some(HOSTILE.to_owned());
    summary.run.note = Some("@SUM(A1)".to_owned());
    let mut triad = estimate(MemoryStream, "triad", 64.0e9, 0.01)
        .with_case("memory.stream/node")
        .with(Attribute::Placement, HOSTILE)
        .with(Attribute::Threads, 2_u64)
        .with(Attribute::Kernel, "avx2");
    HOSTILE.clone_into(&mut triad.host);
    triad.percentiles = Some([("p50".to_owned(), 64.0e9)].into());
    summary.results.push(triad);
    let mut broken = estimate(Linpack, "rmax", f64::NAN, 0.01);
    (broken.min, broken.max, broken.ci) = (f64::NEG_INFINITY, f64::INFINITY, None);
    summary.results.push(broken);
    ExportedRun::new(events::run(), summary, (Some(started_ns), true))
}

fn export(format: ExportFormat, runs: &[ExportedRun]) -> (String, usize) {
    let mut exporter = Exporter::new(format);
    runs.iter().for_each(|run| exporter.add(run));
    let finished = exporter.finish();
    match finished.files {
        ExportedFiles::Text(text) => (text, finished.left_out),
        ExportedFiles::Files(_) => panic!("{format:?} is text"),
    }
}

#[test]
fn hostile_names_are_text_in_every_format() {
    let runs = [hostile_run("20261121-104455-7f3a", STARTED_NS)];
    for (name, format, left_out) in [
        ("csv", ExportFormat::Csv, 0),
        ("jsonl", ExportFormat::Jsonl, 0),
        ("openmetrics", ExportFormat::OpenMetrics(SampleTimes::RunStart), 1),
        ("prom", ExportFormat::OpenMetrics(SampleTimes::Omitted), 1),
        ("influx", ExportFormat::Influx, 1),
        ("bencher.json", ExportFormat::Bencher, 1),
    ] {
        let (text, count) = export(format, &runs);
        assert_eq!(count, left_out, "{name}");
        let path = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = path.join(format!("tests/golden/export.{name}"));
        expect_test::expect_file![path].assert_eq(&text);
    }
}

/// A database would replace the first of two values with equal labels and time.
#[test]
fn second_value_at_the_same_time_is_left_out() {
    let second = STARTED_NS + 1_000_000_000;
    let runs = [("a", STARTED_NS), ("b", STARTED_NS), ("c", second)];
    let runs = runs.map(|(id, started_ns)| hostile_run(id, started_ns));
    let times = SampleTimes::RunStart;
    for (format, lines) in [(ExportFormat::OpenMetrics(times), 2), (ExportFormat::Influx, 2)] {
        let (text, left_out) = export(format, &runs);
        // Each run also has a result without a value.
        assert_eq!(left_out, 1 + 3, "{text}");
        let is_value = |line: &&str| {
            line.starts_with("assay_memory_stream_triad_bytes_per_second{")
                || line.starts_with("assay,")
        };
        assert_eq!(text.lines().filter(is_value).count(), lines, "{text}");
    }
    assert_eq!(export(ExportFormat::Csv, &runs).0.matches("memory.stream/node").count(), 3);
}

#[test]
fn lines_of_json_restore_every_text() {
    let (text, _) = export(ExportFormat::Jsonl, &[hostile_run("a", STARTED_NS)]);
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    for key in ["label", "host", "placement"] {
        assert_eq!(first[key], HOSTILE, "{key}");
    }
    assert_eq!(first["conditions"]["placement"], HOSTILE);
    let second: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert!(second["value"].is_null() && second["low"].is_null(), "{second}");
}

#[test]
fn metric_selects_results_and_samples() {
    let mut run = hostile_run("a", STARTED_NS);
    run.retain_metric("memory.stream/triad");
    assert_eq!(run.summary.results.len(), 1);
    run.retain_metric("stream/triad");
    assert_eq!(run.summary.results.len(), 0);
}

#[test]
fn columns_are_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/export-columns.md");
    expect_test::expect_file![path].assert_eq(&describe_columns());
}
