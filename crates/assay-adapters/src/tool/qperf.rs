//! Adapter of `qperf` as client: one figure per test.
//!
//! Its latency is the elapsed time over the messages received at both ends: the mean of half a
//! round trip, not a round trip.

use assay_model::attribute::Attribute;
use assay_model::workload::{NetworkTest, NetworkWorkload, TransferDirection, Workload};

use super::{ToolDetection, VersionSource, client_invocation, server_address, unsupported};
use crate::invocation::{Invocation, ToolRequest};
use crate::outputs::{Outputs, ParsedOutput, ToolError, parse_positive_scaled};

const NAME: &str = "qperf";

pub(super) const DETECTION: ToolDetection = ToolDetection {
    programs: &["qperf"],
    path_variable: "ASSAY_QPERF",
    version: VersionSource::FromOption { arguments: &["--version"], read: parse_version },
    hint: "Debian and Ubuntu: apt install qperf",
    ..ToolDetection::DEFAULT
};

/// Parses the version: `qperf 0.4.11` → `0.4.11`.
fn parse_version(printed: &str) -> Option<String> {
    printed.split_whitespace().skip_while(|word| *word != NAME).nth(1).map(str::to_owned)
}

/// Test of qperf and its figure.
struct QperfFigure {
    name: &'static str,
    /// Name of the figure in the output.
    figure: &'static str,
    metric: &'static str,
    /// Factor to the base unit: 8 bits per byte of a rate; 1 for a time.
    factor: f64,
}

const TCP_LATENCY: QperfFigure =
    QperfFigure { name: "tcp_lat", figure: "latency", metric: "half_round_trip", factor: 1.0 };
const UDP_LATENCY: QperfFigure =
    QperfFigure { name: "udp_lat", figure: "latency", metric: "half_round_trip", factor: 1.0 };
const TCP_BANDWIDTH: QperfFigure =
    QperfFigure { name: "tcp_bw", figure: "bw", metric: "goodput", factor: 8.0 };

/// Returns the equivalent test: idle ping-pongs with a sleeping thread, or one unlimited stream
/// from this host.
fn find_test(workload: &Workload) -> Option<(&NetworkWorkload, &'static QperfFigure)> {
    let work = workload.as_tcp().or_else(|| workload.as_udp())?;
    let is_tcp = workload.as_tcp().is_some();
    let latency = if is_tcp { &TCP_LATENCY } else { &UDP_LATENCY };
    match &work.test {
        NetworkTest::Latency(it) => {
            let is_plain = !it.spin && it.rate_per_s.is_none() && it.busy_poll_us.is_none();
            (is_plain && it.load_streams == 0).then_some((work, latency))
        }
        NetworkTest::Throughput(it) => {
            let is_plain = it.streams == 1
                && it.direction == TransferDirection::Send
                && it.copy
                && it.rate_bit_per_s.is_none()
                && it.congestion.is_none();
            (is_plain && is_tcp).then_some((work, &TCP_BANDWIDTH))
        }
        NetworkTest::Connections(_) => None,
    }
}

pub(super) fn supports(workload: &Workload) -> bool {
    find_test(workload).is_some()
}

pub(super) fn command(request: &ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError> {
    let refused = || unsupported(NAME, request.workload);
    let (work, test) = find_test(request.workload).ok_or_else(refused)?;
    let mut words = vec![server_address(work).to_owned()];
    if let Some(port) = work.port {
        words.extend(["-lp".to_owned(), port.to_string()]);
    }
    let seconds = match &work.test {
        NetworkTest::Latency(it) => {
            words.extend(["-m".to_owned(), it.bytes.to_string()]);
            it.seconds
        }
        NetworkTest::Throughput(it) => it.seconds,
        NetworkTest::Connections(_) => return Err(refused()),
    };
    // Six digits instead of the default of about three.
    let rest = ["-t", &seconds.to_string(), "-e", "6", test.name].map(str::to_owned);
    words.extend(rest);
    Ok(vec![client_invocation(request, test.name, words)])
}

pub(super) fn parse(
    invocation: &Invocation,
    outputs: &Outputs,
) -> Result<ParsedOutput, ToolError> {
    let workload = &invocation.workload;
    let (work, test) = find_test(workload).ok_or_else(|| unsupported(NAME, workload))?;
    outputs.check_exit()?;
    let mut lines = outputs.stdout.lines();
    let head = format!("{}:", test.name);
    if !lines.any(|line| line.trim_end() == head) {
        return Err(ToolError::Missing { what: head, place: "standard output" });
    }
    // Figures are indented; the next test is not.
    let figures = lines.take_while(|line| line.starts_with(' '));
    let figure = figures
        .filter_map(|line| line.split_once('='))
        .find_map(|(name, value)| (name.trim() == test.figure).then_some(value));
    let find = || ToolError::Missing { what: test.figure.to_owned(), place: "standard output" };
    let value = figure.ok_or_else(find)?;
    let mut parsed = ParsedOutput::default();
    parsed.add_samples(test.metric, vec![parse_figure(test, value)? * test.factor]);
    if let NetworkTest::Throughput(it) = &work.test {
        parsed.set_weights(vec![f64::from(it.seconds)]);
    }
    parsed.set_metric_attribute(test.metric, Attribute::Statistic, "mean");
    Ok(parsed)
}

/// Parses a figure. Its units are decimal: seconds, and bytes per second.
fn parse_figure(test: &QperfFigure, value: &str) -> Result<f64, ToolError> {
    const TIMES: [(&str, i32); 4] = [("ns", -9), ("us", -6), ("ms", -3), ("sec", 0)];
    const RATES: [(&str, i32); 5] =
        [("bytes/sec", 0), ("KB/sec", 3), ("MB/sec", 6), ("GB/sec", 9), ("TB/sec", 12)];
    let units: &[(&str, i32)] = if test.metric == "goodput" { &RATES } else { &TIMES };
    let (number, unit) = value.trim().rsplit_once(' ').unwrap_or((value, ""));
    let power = units.iter().find(|(known, _)| *known == unit).map(|(_, power)| *power);
    let what = format!("the {} of {}", test.figure, test.name);
    match power {
        // Thousands may be separated by commas.
        Some(power) => parse_positive_scaled(&what, &number.replace(',', ""), power),
        None => Err(ToolError::InvalidNumber { what, text: value.trim().to_owned() }),
    }
}
