//! Renders perftest's tables for a run of a suite, one for each test and leading host, from the
//! figures stored with every size.

use std::collections::BTreeMap;

use assay_dialects::perftest::{BandwidthRow, RateUnit};
use assay_model::attribute::{Attribute, AttributeValue, Attributes, LOOPBACK};
use assay_model::run::{CaseRecord, Run, SeriesRecord};
use assay_model::workload::RdmaWorkload;
use assay_run::rdma::{self, RdmaConnectionInfo};

use super::table_head;

/// Returns the tables in the order of their cases. Empty if assay measured no RDMA test, or the run
/// is older than the stored figures.
pub(super) fn render_tables(run: &Run) -> Vec<String> {
    let of_case = |record| assay_test(record).map(|work| host_tables(run, record, work));
    run.finished_cases().filter_map(of_case).flatten().collect()
}

/// Returns the RDMA test of a case that assay measured; perftest's own tables are raw outputs.
fn assay_test(record: &CaseRecord) -> Option<&RdmaWorkload> {
    let work = record.case.workload.as_rdma()?;
    (record.case.by == "assay").then_some(work)
}

/// Whether a run of a suite contains tests that perftest has a table for.
pub fn has_tests(run: &Run) -> bool {
    run.finished_cases().any(|record| assay_test(record).is_some())
}

/// Renders one table for each leading host.
fn host_tables(run: &Run, record: &CaseRecord, work: &RdmaWorkload) -> Vec<String> {
    let metric = match work.test.is_bandwidth() {
        true => "bandwidth",
        false => work.test.latency_metric(),
    };
    let mut hosts: BTreeMap<&str, Vec<&SeriesRecord>> = BTreeMap::new();
    let first = run.first_host().map(|it| it.host.as_str()).unwrap_or_default();
    for series in record.series.iter().filter(|it| it.metric == metric) {
        let host = series.dimensions.get(&Attribute::Host).and_then(AttributeValue::as_text);
        hosts.entry(host.unwrap_or(first)).or_default().push(series);
    }
    let table = |(host, mut found): (&str, Vec<&SeriesRecord>)| {
        let mut facts = record.facts.clone();
        facts.extend(record.facts_by_host.get(host).cloned().unwrap_or_default());
        found.sort_by_key(|it| message_bytes(it));
        let rows: String = found.iter().filter_map(|it| table_row(it, work, &facts)).collect();
        let mut head = table_head(RateUnit::Mebibytes, work, &stored_connection(&facts, work));
        if run.hosts.len() > 1 {
            let peer = record.case.pair.as_ref().map(|pair| format!(" -> {}", pair.peer));
            head.facts
                .insert(0, ("Host".to_owned(), host.to_owned() + &peer.unwrap_or_default()));
        }
        (!rows.is_empty()).then(|| format!("{head}{rows}"))
    };
    hosts.into_iter().filter_map(table).collect()
}

fn message_bytes(series: &SeriesRecord) -> u64 {
    match series.dimensions.get(&Attribute::Bytes) {
        Some(AttributeValue::Integer(bytes)) => *bytes,
        _ => 0,
    }
}

/// Formats a size as perftest does; `None` if it was stored without perftest's figures.
fn table_row(series: &SeriesRecord, work: &RdmaWorkload, facts: &Attributes) -> Option<String> {
    let iterations = match facts.get(&Attribute::Iterations) {
        Some(AttributeValue::Integer(iterations)) => *iterations,
        _ => work.iterations,
    };
    let bytes = message_bytes(series);
    if !work.test.is_bandwidth() {
        return Some(rdma::perftest_row((bytes, iterations), &series.facts)?.to_string());
    }
    // Each sample is the rate of a part, weighted with its seconds.
    let seconds: f64 = series.samples.iter().map(|it| it.weight).sum();
    let moved: f64 = series.samples.iter().map(|it| it.value * it.weight).sum();
    let bytes_per_s = Some(moved / seconds).filter(|it| it.is_finite());
    let peak_bytes_per_s =
        series.facts.get(&Attribute::PerftestPeak).and_then(AttributeValue::as_number);
    let unit = RateUnit::Mebibytes;
    let row = BandwidthRow { bytes, iterations, peak_bytes_per_s, bytes_per_s, unit };
    bytes_per_s.map(|_| row.to_string())
}

/// Restores the properties of the connection from the stored facts.
fn stored_connection(facts: &Attributes, work: &RdmaWorkload) -> RdmaConnectionInfo {
    let words = |name| {
        facts.get(&name).and_then(AttributeValue::as_text).unwrap_or_default().to_owned()
    };
    let number = |name| match facts.get(&name) {
        Some(AttributeValue::Integer(number)) => u32::try_from(*number).ok(),
        _ => None,
    };
    RdmaConnectionInfo {
        device: words(Attribute::Device),
        firmware: words(Attribute::Firmware),
        is_ethernet: words(Attribute::LinkLayer) == "Ethernet",
        gid_index: number(Attribute::GidIndex),
        mtu_bytes: number(Attribute::PathMtuBytes).unwrap_or_default(),
        inline_bytes: number(Attribute::InlineBytes).unwrap_or_default(),
        is_loopback: words(Attribute::Path) == LOOPBACK,
        far_device: (words(Attribute::FarDevice), number(Attribute::FarGidIndex)),
        options: None,
        iterations: Some(work.iterations),
        node: number(Attribute::DeviceNode),
        huge_pages: facts.get(&Attribute::HugePages).and_then(AttributeValue::as_number),
    }
}

#[cfg(test)]
mod tests {
    use assay_dialects::perftest::LatencyRow;
    use assay_kernels::rdma::ProgressMark;
    use assay_model::benchmark::RdmaTest;
    use assay_model::event::{RequestedCommand, StopReason};
    use assay_model::workload::Workload;
    use assay_run::listener::SilentListener;
    use assay_run::rdma::{RdmaProgress, RdmaSizeResult, RdmaValues};
    use assay_run::recording::{self, Recording, RecordingRequest};

    use super::*;

    fn example_connection() -> RdmaConnectionInfo {
        RdmaConnectionInfo {
            device: "rxe0".to_owned(),
            firmware: String::new(),
            is_ethernet: true,
            gid_index: Some(1),
            mtu_bytes: 1024,
            inline_bytes: 236,
            is_loopback: false,
            far_device: ("rxe1:1".to_owned(), Some(1)),
            options: None,
            iterations: Some(1000),
            node: None,
            huge_pages: None,
        }
    }

    /// Returns a run as a suite stores it.
    fn suite_run(phases: &[(RdmaTest, &[RdmaSizeResult])]) -> Run {
        let work =
            |test| Workload::Rdma(RdmaWorkload::perftest_default(test, Some("far".to_owned())));
        let named = phases.iter().map(|(test, _)| (test.name().to_owned(), work(*test)));
        let opening = RecordingRequest {
            plan: recording::phase_plan("perftest", named.collect()),
            asked: RequestedCommand { language: "perftest".to_owned(), words: Vec::new() },
            label: None,
            files: Vec::new(),
            store: None,
        };
        let mut listener = SilentListener;
        let mut recording = Recording::begin(opening, &mut listener).unwrap();
        for (case, (test, sizes)) in phases.iter().enumerate() {
            recording.start_case(case).unwrap();
            recording.record_partial(case, example_connection().entries(), &[]).unwrap();
            for size in *sizes {
                recording.record_partial(case, size.entries(*test), &[]).unwrap();
            }
            recording.end_case(case, Ok(StopReason::Tool)).unwrap();
        }
        let mut run = recording.finish(false).unwrap();
        run.started.asked = None;
        run
    }

    fn example_times_ns() -> Vec<u64> {
        (1..=1000).map(|us| us * 2000).collect()
    }

    fn example_size(bytes: u64) -> RdmaSizeResult {
        let values = RdmaValues::Times(example_times_ns());
        RdmaSizeResult { bytes, iterations: 1000, is_timed: false, span_s: (0.0, 1.0), values }
    }

    /// Returns 1000 messages, the second half twice as fast.
    fn example_rate() -> RdmaSizeResult {
        let marks = [(500, 1_000_000), (1000, 1_500_000)];
        let own = marks.map(|(done, at_ns)| ProgressMark { done, at_ns }).to_vec();
        let peaks = vec![ProgressMark { done: 500, at_ns: 500_000 }];
        let values = RdmaValues::Marks(RdmaProgress { peaks, own, ..RdmaProgress::default() });
        let (bytes, span_s) = (65_536, (1.0, 1.0));
        RdmaSizeResult { bytes, iterations: 1000, is_timed: false, span_s, values }
    }

    /// Runs printed as perftest's text and JSON are imported with their own conditions and figures.
    #[test]
    fn tables_import_as_themselves() {
        let rates = [example_rate()];
        let mut run = suite_run(&[
            (RdmaTest::SendLatency, &[example_size(2), example_size(16)]),
            (RdmaTest::SendBandwidth, &rates),
            (RdmaTest::WriteBandwidth, &rates),
        ]);
        let work = RdmaWorkload {
            queue_pairs: 4,
            both: true,
            ..run.cases[2].case.workload.as_rdma().unwrap().clone()
        };
        run.cases[2].case.workload = Workload::Rdma(work);
        let tables = render_tables(&run);
        assert_eq!(tables.len(), run.cases.len());
        for (record, table) in run.cases.iter().zip(&tables) {
            let rule = assay_dialects::perftest::rule();
            for text in [format!("{table}{rule}"), super::super::perftest_json(table).unwrap()]
            {
                check_import(record, &text);
            }
        }
    }

    /// Checks that a text has the conditions and figures of a case.
    fn check_import(record: &CaseRecord, text: &str) {
        let read = assay_adapters::import::read(text).unwrap();
        let mut own = record.case.workload.dimensions("assay");
        own.remove(&Attribute::To);
        let mut figures = 0;
        for it in &read.contents.measurements {
            assert_eq!(it.benchmark, record.case.workload.benchmark(), "{text}");
            let mut conditions = it.dimensions.clone();
            let bytes = conditions.remove(&Attribute::Bytes);
            assert_eq!(conditions, own, "{text}");
            for found in &it.parsed.values {
                let is_same = |series: &&SeriesRecord| {
                    series.metric == found.metric
                        && series.dimensions.get(&Attribute::Bytes) == bytes.as_ref()
                };
                let series = record.series.iter().find(is_same).unwrap();
                let weights: f64 = series.samples.iter().map(|it| it.weight).sum();
                let sum: f64 = series.samples.iter().map(|it| it.value * it.weight).sum();
                let expected = sum / weights;
                let difference = (found.samples[0] / expected - 1.0).abs();
                assert!(difference < 0.005, "{expected}: {:?}\n{text}", found.samples);
                figures += 1;
            }
        }
        let has_series = record.series.len() == figures;
        assert!(has_series, "{} series, {figures} figures: {text}", record.series.len());
    }

    #[test]
    fn renders_tables_of_suite_runs() {
        let (times_ns, size, rate) = (example_times_ns(), example_size, example_rate());
        let mut run = suite_run(&[
            (RdmaTest::SendLatency, &[size(16), size(2)]),
            (RdmaTest::SendBandwidth, std::slice::from_ref(&rate)),
        ]);
        let [latency, bandwidth] = render_tables(&run).try_into().unwrap();
        let row = |bytes| LatencyRow::from_times_ns(bytes, &times_ns, 2).unwrap().to_string();
        assert!(latency.ends_with(&(row(2) + &row(16))), "{latency}");
        assert!(latency.contains("Send Latency Test\n Device          : rxe0\n"), "{latency}");
        assert!(latency.contains(" GID index       : 1\n"), "{latency}");
        let row = BandwidthRow {
            bytes: 65_536,
            iterations: 1000,
            // 500 messages in half a millisecond.
            peak_bytes_per_s: Some(500.0 * 65_536.0 / 0.5e-3),
            bytes_per_s: rate.bytes_per_s(),
            unit: RateUnit::Mebibytes,
        };
        assert!(bandwidth.ends_with(&row.to_string()), "{bandwidth}");
        // A run of an older assay without these figures has no such table, but can be read.
        for series in run.cases.iter_mut().flat_map(|it| &mut it.series) {
            series.facts.clear();
        }
        assert!(has_tests(&run));
        let none = BandwidthRow { peak_bytes_per_s: None, ..row }.to_string();
        let [bandwidth] = render_tables(&run).try_into().unwrap();
        assert!(bandwidth.ends_with(&none), "{bandwidth}");
    }
}
