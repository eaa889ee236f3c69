//! Contenders of the comparison: their commands, and the parsers of their output.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::test_link::TestLink;

/// Ports of the servers of this comparison, away from those of servers that may already run.
pub(super) const IPERF3_PORT: &str = "45201";
pub(super) const ASSAY_PORT: &str = "45202";
pub(super) const QPERF_PORT: &str = "45203";
pub(super) const BARE_PORT: &str = "45204";
pub(super) const COPY_PORT: &str = "45205";
pub(super) const ASSAY_ECHO_PORT: &str = "45206";

/// Programs of the comparison that are built here.
pub(super) struct Programs {
    pub(super) assay: String,
    /// Ping-pong in plain C.
    pub(super) ping_pong: String,
    /// Bulk transfer in plain C.
    pub(super) copy_loop: String,
    /// `taskset` command that keeps both ends of a ping-pong on one CPU.
    pub(super) on_one_cpu: String,
}

/// Client of one tool with one set of options.
pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) command: Vec<String>,
    /// Parses the output of one turn.
    pub(super) read: fn(&str) -> Result<Vec<NetworkFigure>>,
}

/// Value of one metric in one turn.
pub(super) struct NetworkFigure {
    pub(super) metric: NetworkMetric,
    /// bit/s, seconds per GB, or seconds.
    pub(super) value: f64,
}

/// Metric of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NetworkMetric {
    /// Rate at the receiver in bit/s.
    Goodput,
    /// CPU-seconds of both processes per GB.
    CpuPerGb,
    /// Median round trip in seconds.
    RoundTrip,
    /// Half the mean round trip in seconds, as qperf counts it.
    HalfMean,
}

impl NetworkMetric {
    pub(super) const fn is_cost(self) -> bool {
        !matches!(self, Self::Goodput)
    }

    pub(super) fn format_value(self, value: f64) -> String {
        match self {
            Self::Goodput => format!("{:.1} Gbit/s", value / 1e9),
            Self::CpuPerGb => format!("{value:.3} s/GB"),
            Self::RoundTrip | Self::HalfMean => format!("{:.2} µs", value * 1e6),
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::CpuPerGb => "CPU time of both processes",
            Self::RoundTrip => "median round trip",
            Self::HalfMean => "mean half round trip",
        }
    }
}

pub(super) fn build_contenders(programs: &Programs, place: &TestLink) -> Vec<Contender> {
    let (assay, at) = (programs.assay.as_str(), place.address);
    let words = |program: &[&str], rest: &str| {
        program.iter().copied().chain(rest.split(' ')).map(str::to_owned).collect()
    };
    let theirs = |streams: u32| format!("-c {at} -p {IPERF3_PORT} -t 2 -J -P {streams}");
    // assay's defaults: larger writes for a stream with a CPU of its own.
    let ours = |streams: u32| {
        let length = if streams == 1 { "1M" } else { "256K" };
        format!("-c {at} -p {ASSAY_PORT} -t 2 -J --no-store -l {length} -P {streams}")
    };
    let tcp = |name, program: &[&str], rest: String| Contender {
        name,
        command: words(program, &rest),
        read: parse_goodput,
    };
    let bare = |name, streams: u32| Contender {
        name,
        command: words(
            &[&programs.copy_loop],
            &format!(
                "send {at} {COPY_PORT} 2 {streams} {}",
                if streams == 1 { 1024 } else { 256 }
            ),
        ),
        read: parse_bare_goodput,
    };
    let own = [assay, "iperf3"];
    // Both splice their pages into the kernel and copy at the receiver.
    let no_copy = " -Z";
    let on_one_cpu = |name, program: &str, rest: String, read| Contender {
        name,
        command: words(&[], &format!("{} {program} {rest}", programs.on_one_cpu)),
        read,
    };
    vec![
        tcp("iperf3, 1 stream", &["iperf3"], theirs(1)),
        tcp("iperf3, 6 streams", &["iperf3"], theirs(6)),
        tcp("iperf3, 1 stream, -Z", &["iperf3"], theirs(1) + no_copy),
        tcp("iperf3, 6 streams, -Z", &["iperf3"], theirs(6) + no_copy),
        bare("bare loop, 1 stream", 1),
        bare("bare loop, 6 streams", 6),
        tcp("assay, 1 stream", &own, ours(1)),
        tcp("assay, 6 streams", &own, ours(6)),
        tcp("assay, 1 stream, -Z", &own, ours(1) + no_copy),
        tcp("assay, 6 streams, -Z", &own, ours(6) + no_copy),
        on_one_cpu(
            "qperf, 1 byte",
            "qperf",
            format!("{at} -lp {QPERF_PORT} -t 2 -e 6 tcp_lat"),
            parse_qperf_latency,
        ),
        on_one_cpu(
            "bare loop, 1 byte",
            &programs.ping_pong,
            format!("ask {at} {BARE_PORT} 2"),
            parse_bare_latency,
        ),
        on_one_cpu(
            "assay, 1 byte",
            assay,
            format!(
                "qperf {at} --listen-port {ASSAY_ECHO_PORT} -t 2 --json --no-store tcp_lat"
            ),
            parse_assay_latency,
        ),
    ]
}

fn parse_goodput(output: &str) -> Result<Vec<NetworkFigure>> {
    let value: Value = serde_json::from_str(output).context("no JSON")?;
    let end = &value["end"];
    let number = |pointer: &str| {
        end.pointer(pointer).and_then(Value::as_f64).with_context(|| format!("no {pointer}"))
    };
    let bit_per_s = number("/sum_received/bits_per_second")?;
    let cpu = |end: &str| number(&format!("/cpu_utilization_percent/{end}_total"));
    let cpus = (cpu("host")? + cpu("remote")?) / 100.0;
    Ok(vec![
        NetworkFigure { metric: NetworkMetric::Goodput, value: bit_per_s },
        NetworkFigure { metric: NetworkMetric::CpuPerGb, value: cpus / (bit_per_s / 8e9) },
    ])
}

fn parse_bare_goodput(output: &str) -> Result<Vec<NetworkFigure>> {
    let value: Value = serde_json::from_str(output).context("no JSON")?;
    let number = |name: &str| value[name].as_f64().with_context(|| format!("no {name}"));
    Ok(vec![
        NetworkFigure { metric: NetworkMetric::Goodput, value: number("bit_per_s")? },
        NetworkFigure { metric: NetworkMetric::CpuPerGb, value: number("cpu_s_per_gb")? },
    ])
}

/// Parses qperf's `latency = 29.3 us`, whose unit varies.
fn parse_qperf_latency(output: &str) -> Result<Vec<NetworkFigure>> {
    let line = output.lines().find(|line| line.contains("latency")).context("no latency")?;
    let (_, value) = line.split_once('=').context("no value")?;
    let mut words = value.split_whitespace();
    let number: f64 = words.next().context("no number")?.parse()?;
    let factor = match words.next() {
        Some("ns") => 1e-9,
        Some("us") => 1e-6,
        Some("ms") => 1e-3,
        unit => bail!("unit {unit:?}"),
    };
    Ok(vec![NetworkFigure { metric: NetworkMetric::HalfMean, value: number * factor }])
}

fn parse_bare_latency(output: &str) -> Result<Vec<NetworkFigure>> {
    let value: Value = serde_json::from_str(output).context("no JSON")?;
    let value = value["p50"].as_f64().context("no p50")?;
    Ok(vec![NetworkFigure { metric: NetworkMetric::RoundTrip, value }])
}

fn parse_assay_latency(output: &str) -> Result<Vec<NetworkFigure>> {
    let value: Value = serde_json::from_str(output).context("no JSON")?;
    let test = &value["tcp_lat"];
    let median = test["round_trip_s"]["p50"].as_f64().context("no median")?;
    let mean = test["latency_s"].as_f64().context("no latency")?;
    Ok(vec![
        NetworkFigure { metric: NetworkMetric::RoundTrip, value: median },
        NetworkFigure { metric: NetworkMetric::HalfMean, value: mean },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        read: fn(&str) -> Result<Vec<NetworkFigure>>,
        output: &str,
        expected: &[(NetworkMetric, f64)],
    ) {
        let figures = read(output).unwrap();
        assert_eq!(figures.len(), expected.len(), "{output}");
        for (figure, (kind, value)) in figures.iter().zip(expected) {
            assert_eq!(figure.metric, *kind, "{output}");
            assert!((figure.value / value - 1.0).abs() < 1e-9, "{output}: {}", figure.value);
        }
    }

    #[test]
    fn parses_output_of_all_contenders() {
        let qperf = "tcp_lat:\n    latency  =  56.9 us\n";
        check(parse_qperf_latency, qperf, &[(NetworkMetric::HalfMean, 56.9e-6)]);
        assert!(parse_qperf_latency("tcp_lat:\n    latency = 1 parsec\n").is_err());
        let document = r#"{"end":{"sum_received":{"bits_per_second":8e9},
            "cpu_utilization_percent":{"host_total":20,"remote_total":10}}}"#;
        check(
            parse_goodput,
            document,
            &[(NetworkMetric::Goodput, 8e9), (NetworkMetric::CpuPerGb, 0.3)],
        );
        assert!(parse_goodput("{}").is_err());
        let bare = r#"{"bit_per_s": 2e+10, "cpu_s_per_gb": 3e-01}"#;
        check(
            parse_bare_goodput,
            bare,
            &[(NetworkMetric::Goodput, 2e10), (NetworkMetric::CpuPerGb, 0.3)],
        );
        let bare = r#"{"p50": 1e-05, "mean": 2e-05, "n": 7}"#;
        check(parse_bare_latency, bare, &[(NetworkMetric::RoundTrip, 1e-5)]);
        let ours = r#"{"tcp_lat":{"latency_s":6e-6,"round_trip_s":{"p50":1.1e-5}}}"#;
        check(
            parse_assay_latency,
            ours,
            &[(NetworkMetric::RoundTrip, 1.1e-5), (NetworkMetric::HalfMean, 6e-6)],
        );
    }
}
