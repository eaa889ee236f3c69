//! Artificial network results of one host: streams with the CPU cost of both ends, datagrams, round
//! trips.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark::{self, NetworkTcp, NetworkUdp};
use assay_model::benchmark::RdmaTest;
use assay_model::event::RunStatus;
use assay_model::facts::HostFacts;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_report::locale::{Language, Locale};
use assay_report::{build, render};

use crate::maker::{self, EstimateBuilder, estimate};

fn tcp(streams: u64, metric: &str, median: f64) -> MetricEstimate {
    estimate(NetworkTcp, metric, median, 0.01)
        .with(Attribute::To, "10.0.0.5")
        .with(Attribute::Path, "network")
        .with(Attribute::Streams, streams)
        .with(Attribute::Direction, "send")
        .with(Attribute::Copy, true)
}

fn udp(metric: &str, median: f64) -> MetricEstimate {
    estimate(NetworkUdp, metric, median, 0.01)
        .with(Attribute::To, "loopback")
        .with(Attribute::Path, "loopback")
        .with(Attribute::Streams, 1_u64)
        .with(Attribute::Direction, "send")
}

/// Six streams with the CPU of the far end, one stream without it, and datagrams over loopback.
pub(crate) fn network() -> RunSummary {
    let mut summary = maker::summary("network", RunStatus::Complete, HostFacts::default());
    summary.results = vec![
        tcp(6, "goodput", 5.56e9),
        tcp(6, "retransmits", 12.0),
        tcp(6, "cpu_per_byte", 0.412e-9).with(Attribute::End, "local"),
        tcp(6, "cpu_per_byte", 1.3e-9).with(Attribute::End, "remote"),
        tcp(6, "cpu_load", 0.25).with(Attribute::End, "local"),
        tcp(6, "cpu_load", 0.392).with(Attribute::End, "remote"),
        tcp(1, "goodput", 3.1e9),
        tcp(1, "cpu_load", 0.11).with(Attribute::End, "local"),
        udp("goodput", 99.9e6),
        udp("loss", 0.001),
        udp("jitter", 12e-6),
        udp("pacing_error", 0.0002),
        estimate(NetworkTcp, "half_round_trip", 35e-6, 0.01)
            .with(Attribute::To, "10.0.0.5")
            .with(Attribute::Bytes, 1_u64),
        estimate(NetworkTcp, "round_trip", 68e-6, 0.01)
            .with(Attribute::To, "10.0.0.5")
            .with(Attribute::Bytes, 1_u64)
            .with(Attribute::LoadStreams, 6_u64),
    ];
    summary
}

/// Latency of RDMA by assay or by perftest, with the figures that perftest prints.
fn rdma(tool: &str, bytes: u64, median: f64) -> MetricEstimate {
    let figures = [
        (Attribute::PerftestMin, 0.9),
        (Attribute::PerftestMax, 3.0),
        (Attribute::PerftestTypical, 1.0),
        (Attribute::PerftestAverage, 1.05),
        (Attribute::PerftestP99, 2.0),
        (Attribute::PerftestP999, 3.0),
    ];
    let mut it =
        estimate(Benchmark::Rdma(RdmaTest::SendLatency), "half_round_trip", median, 0.01)
            .by_tool(tool, "1")
            .with(Attribute::Bytes, bytes)
            .with(Attribute::Iterations, 1000_u64)
            .with(Attribute::Connection, "rc")
            .with(Attribute::Depth, 1_u64);
    for (name, share) in figures {
        it = it.with(name, median * share);
    }
    if tool == "assay" {
        it = it.with(Attribute::PerftestDeviation, median * 0.2);
    }
    it.max = median * 50.0;
    it
}

fn lines_with(text: &str, word: &str) -> Vec<String> {
    let is_row = |it: &&str| it.starts_with('|') && it.contains(word);
    let cells = |it: &str| it.replace('\u{a0}', " ").replace('\\', "");
    text.lines().filter(is_row).map(cells).collect()
}

/// The report has perftest's figures in addition to assay's own and explains them. The page for
/// publication has them under perftest's labels. Older runs without them must not print the overall
/// maximum as `t_max`.
#[test]
fn perftest_figures_have_perftest_labels() {
    let mut summary = maker::summary("rdma", RunStatus::Complete, HostFacts::default());
    summary.results =
        vec![rdma("assay", 2, 2e-6), rdma("assay", 4, 2.5e-6), rdma("ib_send_lat", 2, 2.2e-6)];
    let text = render::markdown::document(&build::run(&summary, None));
    assert!(text.contains("By perftest's rules") && text.contains("second slowest"), "{text}");
    let rows = lines_with(&text, "| 1000 |");
    assert_eq!(rows.len(), 3, "{text}");
    for (row, expected) in rows.iter().zip(["assay", "assay", "ib_send_lat"]) {
        assert!(row.contains(expected), "{row}");
    }
    assert!(rows[0].contains("| 1.80 | 6.00 | 2.00 | 2.10 | 0.40 | 4.00 | 6.00 |"), "{rows:?}");
    let page = |summary: &RunSummary| {
        let (text, _) = render::learn::document(&build::learn("x", &[summary], &[]), None);
        lines_with(&text, "| 1000 |")
    };
    let rows = page(&summary);
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(
        rows[0].contains("assay | 2 | 1000 | 1.80 | 6.00 | 2.00 | 2.10 | 0.40 |"),
        "{rows:?}"
    );
    assert!(rows[1].contains("ib_send_lat | 2 |"), "in the same table: {rows:?}");
    for it in &mut summary.results {
        it.parameters.retain(|name, _| !name.name().starts_with("perftest_"));
    }
    let rows = page(&summary);
    assert!(!rows[0].contains("100.00"), "the maximum of all is no t_max: {rows:?}");
    assert!(rows[0].contains("| 2.00 |"), "{rows:?}");
    let text = render::markdown::document(&build::run(&summary, None));
    assert!(!text.contains("perftest's rules"), "{text}");
}

/// Both measure the same workload, so that their ratio is shown.
#[test]
fn compares_perftest_with_assay() {
    let mut summary = maker::summary("rdma", RunStatus::Complete, HostFacts::default());
    summary.results = vec![rdma("assay", 2, 2e-6), rdma("ib_send_lat", 2, 2.5e-6)];
    let text = render::markdown::document(&build::run(&summary, None));
    let rows = lines_with(&text, "0.800");
    assert_eq!(rows.len(), 1, "{text}");
}

/// Untrusted results are described in the language of the page, with its brackets.
#[test]
fn untrusted_results_are_localised() {
    let mut summary = network();
    summary.results.push(tcp(6, "goodput", 4e9).with(Attribute::Direction, "receive"));
    for it in &mut summary.results {
        (it.n, it.n_effective, it.ci) = (1, 1.0, None);
    }
    let mut one = summary.clone();
    one.results.retain(|it| it.metric == "goodput" && it.benchmark == NetworkUdp.id());
    for (locale, of_all, of_one) in [
        (Locale::En, ", send (one sample)", " (one sample)"),
        (Locale::Ru, ", отправка (всего один замер)", " (всего один замер)"),
        (Locale::ZhHans, "、发送（", "（"),
        (Locale::Ja, "、送信：", "（"),
        (Locale::Ko, ", 송신(", "("),
    ] {
        let reasons = |summary: &RunSummary| {
            Language::for_locale(locale).scope(|| build::distrust_reasons(summary).concat())
        };
        for (text, expected) in [(reasons(&summary), of_all), (reasons(&one), of_one)] {
            assert!(text.contains(expected), "{expected} of {locale:?}: {text}");
            assert!(locale == Locale::En || !text.contains("send"), "{locale:?}: {text}");
            assert_eq!(text.contains(" ("), expected.contains(" ("), "{locale:?}: {text}");
        }
    }
}
