//! `assay qperf`: client and server with qperf's tests and output.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_dialects::wire::iperf3;
use assay_dialects::wire::qperf::{self, QperfRequest, QperfTestKind};
use assay_kernels::clock;
use assay_kernels::network::pingpong::WaitMode;
use assay_model::failure::FailureReason as CaseFailure;
use assay_model::run::Run;
use assay_report::words;
use assay_store::Store;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::iperf3::{INTERRUPTED, network_failure, record_end};
use crate::options::network::QperfArguments;
use crate::store_access;
use crate::terminal::Terminal;
use assay_console::failure::render;
use assay_console::progress_listener::EmulationListener;
use assay_run::failure::CommandFailure;
use assay_run::network::error::NetworkError;
use assay_run::network::qperf_client::{self, QperfOutcome, QperfTest};
use assay_run::network::qperf_record::{self, QperfCpuTime, QperfFigures};
use assay_run::network::qperf_server::{self, QperfService};
use assay_run::network::target::NetworkTarget;
use assay_run::recording::Recording;
use assay_run::stored_outcome::{self, ToolOutcome};

/// Last line of a test that was interrupted after its first results.
const INCOMPLETE: &str =
    "The test is not complete: the figures above are all that was measured.\n";

/// Runs tests against a server or, without a host, a server, as qperf does. Returns the exit code.
///
/// # Errors
/// Invalid values, or an unreachable or disconnecting peer.
pub fn qperf(
    typed: &QperfArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    match &typed.host {
        Some(_) => client(typed, cancel, terminal),
        None => server(typed, cancel, terminal),
    }
}

fn server(
    typed: &QperfArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let ip = typed.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    if typed.bind.is_none() {
        terminal.note("listening on loopback only; use -B 0.0.0.0 to admit other hosts");
    }
    let service = QperfService {
        listen: SocketAddr::new(ip, typed.listen_port),
        once: typed.one_off,
        idle_limit: typed.idle_timeout.map(Duration::from_secs),
        allow_quit: typed.allow_quit,
        clock: clock::now_ns,
    };
    let terminal = Mutex::new(terminal);
    qperf_server::serve(&service, cancel, &|outcome| {
        let text = match outcome {
            Ok(request) => format!("served {}", request.test.name()),
            Err(error) => render(&network_failure(error), false).trim_end().to_owned(),
        };
        if let Ok(mut terminal) = terminal.lock() {
            terminal.note(&text);
        }
    })
    .map_err(|error| network_failure(&error))?;
    Ok(0)
}

fn client(
    typed: &QperfArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.tests.is_empty() {
        let failure = CommandFailure::usage("no test given");
        return Err(
            failure.advise("name one or more of tcp_lat, tcp_bw, udp_lat, udp_bw, conf")
        );
    }
    let tests = expand_tests(typed)?;
    let store = store_access::open_for_recording(&typed.keep)?;
    let phases: Vec<_> = tests.iter().filter_map(qperf_record::phase).collect();
    let mut quiet = EmulationListener::new(&typed.keep);
    // `conf` only exchanges configurations, which is no measurement.
    let mut recording = match phases.is_empty() {
        true => None,
        false => {
            let opening =
                store_access::recording_request((&typed.keep, store.as_ref()), "qperf", phases);
            Some(Recording::begin(opening, &mut quiet)?)
        }
    };
    let style = QperfStyle::from_options(typed);
    let (mut results, mut number) = (Vec::new(), 0);
    let mut failure = None;
    for test in &tests {
        let mut case_recording =
            recording.as_mut().filter(|_| qperf_record::phase(test).is_some());
        if let Some(recording) = &mut case_recording {
            recording.start_case(number)?;
        }
        let (outcome, error) = run_test(test, cancel);
        let entries = outcome.as_ref().map(|it| qperf_record::entries(test, it));
        if let Some(recording) = case_recording {
            record_end(recording, number, entries.unwrap_or_default(), error.as_ref())?;
            number += 1;
        }
        let result = QperfTestResult {
            test: test.request.test.name().to_owned(),
            message_bytes: test.request.message_bytes,
            figures: outcome.as_ref().map(QperfFigures::from_outcome),
            error: error.as_ref().map(error_text),
        };
        if let (Some(recording), Some(figures)) = (&mut recording, &result.figures) {
            for (name, value) in figures.configuration_facts() {
                recording.add_host_fact(name, value)?;
            }
        }
        if !style.json {
            terminal.print(&result.format_text(style));
        }
        results.push(result);
        failure = error;
        if failure.is_some() {
            break;
        }
    }
    if style.json {
        terminal.print(&render_json(&results, style));
    }
    if let Some(mut recording) = recording {
        recording.store_outcome(&QperfRunOutcome { style, tests: results })?;
        recording.finish(matches!(failure, Some(NetworkError::Interrupted)))?;
    }
    failure.map_or(Ok(0), |error| Err(client_failure(&error, typed)))
}

/// Runs a test. Returns its results and the error that made them incomplete.
fn run_test(
    test: &QperfTest,
    cancel: &AtomicBool,
) -> (Option<QperfOutcome>, Option<NetworkError>) {
    match qperf_client::run(test, cancel) {
        Ok(outcome) if cancel.load(Ordering::Relaxed) => {
            (Some(outcome), Some(NetworkError::Interrupted))
        }
        Ok(mut outcome) => {
            let error = outcome.take_error();
            (Some(outcome), error)
        }
        Err(error) => (None, Some(error)),
    }
}

/// Renders a stored run as qperf's output.
///
/// # Errors
/// The outcome of the tests cannot be read.
pub fn render_stored(run: &Run, store: &Store) -> Result<String, CommandFailure> {
    let QperfRunOutcome { style, tests } = stored_outcome::read(run, store)?;
    Ok(match style.json {
        true => render_json(&tests, style),
        false => tests.iter().map(|result| result.format_text(style)).collect(),
    })
}

/// Outcome of all tests.
#[derive(Debug, Serialize, Deserialize)]
struct QperfRunOutcome {
    style: QperfStyle,
    /// Results, up to the first failed test.
    tests: Vec<QperfTestResult>,
}

impl ToolOutcome for QperfRunOutcome {
    const TOOL: &'static str = "qperf";
    const VERSION: u32 = 1;
}

/// Options that change the output.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct QperfStyle {
    verbose: bool,
    json: bool,
    /// Whether each test was repeated over message sizes.
    sweeps: bool,
}

impl QperfStyle {
    const fn from_options(typed: &QperfArguments) -> Self {
        Self { verbose: typed.verbose, json: typed.json, sweeps: typed.sweep.is_some() }
    }
}

/// Result of one test.
#[derive(Debug, Serialize, Deserialize)]
struct QperfTestResult {
    /// Name of the test: `tcp_lat`.
    test: String,
    message_bytes: u32,
    /// Figures, possibly of an incomplete test.
    figures: Option<QperfFigures>,
    /// Reason why the test is incomplete.
    error: Option<String>,
}

impl QperfTestResult {
    fn format_text(&self, style: QperfStyle) -> String {
        let Some(figures) = &self.figures else { return String::new() };
        let incomplete = if self.error.is_some() { INCOMPLETE } else { "" };
        self.format_lines(figures, style) + incomplete
    }

    fn to_json(&self) -> Value {
        let mut value = self.figures.as_ref().map_or(json!({}), figures_json);
        if let Some(error) = &self.error {
            value["error"] = json!(error);
        }
        value
    }

    /// Formats qperf's lines: name, `=`, value and unit. Values that qperf does not print come
    /// last.
    fn format_lines(&self, figures: &QperfFigures, style: QperfStyle) -> String {
        let mut rows: Vec<(String, String)> = match figures {
            QperfFigures::Configuration { here, there } => {
                let names = ["node", "cpu", "os", "qperf"];
                let ends = [("loc", here), ("rem", there)];
                let rows_of_end =
                    |(end, values): (&str, &[String; 4])| -> Vec<(String, String)> {
                        let values = names.iter().zip(values.clone());
                        values.map(|(name, value)| (format!("{end}_{name}"), value)).collect()
                    };
                ends.into_iter().flat_map(rows_of_end).collect()
            }
            QperfFigures::Latency { .. } => {
                with_owned_names(latency_rows(figures, style.verbose))
            }
            QperfFigures::Bandwidth { .. } => {
                with_owned_names(self.bandwidth_rows(figures, style.verbose))
            }
        };
        if style.sweeps && rows.iter().all(|(name, _)| name != "msg_size") {
            rows.push(("msg_size".to_owned(), format_message_size(self.message_bytes)));
        }
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let rows: String = rows
            .iter()
            .map(|(name, value)| format!("    {name:width$}  =  {value}\n"))
            .collect();
        format!("{}:\n{rows}", self.test)
    }

    fn bandwidth_rows(&self, figures: &QperfFigures, verbose: bool) -> Rows {
        let QperfFigures::Bandwidth {
            sent_bytes,
            received_bytes,
            received_messages,
            elapsed_s,
            here,
            there,
        } = figures
        else {
            return Rows::new();
        };
        let rate = |bytes: u64| format_three_digits(bytes as f64 / elapsed_s, "B/sec");
        let is_udp = self.test == QperfTestKind::UdpBandwidth.name();
        let mut rows = Rows::new();
        // Sent data may not have arrived; it is printed for UDP, and if the received amount is unknown.
        rows.extend(
            (is_udp || received_bytes.is_none()).then(|| ("send_bw", rate(*sent_bytes))),
        );
        let arrived = if is_udp { "recv_bw" } else { "bw" };
        rows.extend(received_bytes.map(|bytes| (arrived, rate(bytes))));
        if verbose {
            let messages = received_messages.map(|it| it as f64 / elapsed_s);
            rows.extend(messages.map(|rate| ("msg_rate", format_three_digits(rate, "/sec"))));
            rows.push(("msg_size", format_message_size(self.message_bytes)));
            rows.push(("send_cost", format_cost(here, *sent_bytes)));
            let received = there.as_ref().zip(*received_bytes);
            rows.extend(
                received.map(|(there, bytes)| ("recv_cost", format_cost(there, bytes))),
            );
            rows.push(("send_cpus_used", format_cpus_used(here)));
            rows.extend(
                there.as_ref().map(|there| ("recv_cpus_used", format_cpus_used(there))),
            );
            rows.push(("send_bytes", sent_bytes.to_string()));
            rows.extend(received_bytes.map(|bytes| ("recv_bytes", bytes.to_string())));
        }
        rows
    }
}

/// Formats an error with the wording of `assay iperf3`.
fn error_text(error: &NetworkError) -> String {
    match error {
        NetworkError::Interrupted => INTERRUPTED.to_owned(),
        error => words::failure(&error.to_case_failure()).without_no_break_spaces().text,
    }
}

/// Expands the requested tests, in order.
fn expand_tests(typed: &QperfArguments) -> Result<Vec<QperfTest>, CommandFailure> {
    let host = typed.host.as_deref().unwrap_or_default();
    let mut tests = Vec::new();
    for test in &typed.tests {
        for size in message_sizes(typed) {
            tests.push(build_test(host, build_request(*test, typed, size)?, typed)?);
        }
    }
    Ok(tests)
}

/// Renders each test with its figures as JSON; several sizes become a list.
fn render_json(results: &[QperfTestResult], style: QperfStyle) -> String {
    let mut tests = serde_json::Map::from_iter([("schema".to_owned(), json!(1))]);
    for result in results {
        let (mut value, name) = (result.to_json(), &result.test);
        if !style.sweeps {
            tests.insert(name.clone(), value);
            continue;
        }
        value["msg_size_bytes"] = json!(result.message_bytes);
        let list = tests.entry(name.clone()).or_insert_with(|| json!([]));
        list.as_array_mut().expect("it was made as a list").push(value);
    }
    format!("{:#}\n", Value::Object(tests))
}

/// Returns the requested message sizes in order; `None` selects the test's default.
fn message_sizes(typed: &QperfArguments) -> Vec<Option<u64>> {
    match &typed.sweep {
        Some(sweep) => sweep.0.iter().copied().map(Some).collect(),
        None => vec![typed.msg_size],
    }
}

/// Returns the failure for a client's error. The server may be assay's own on iperf3's port, where
/// qperf clients do not connect by default.
fn client_failure(error: &NetworkError, typed: &QperfArguments) -> CommandFailure {
    let is_refused = matches!(error, NetworkError::Known(CaseFailure::NotConnected { .. }));
    match is_refused && typed.listen_port == qperf::DEFAULT_PORT {
        true => network_failure(error).advise(format!(
            "if the server is `assay iperf3 -s`, use its port: -lp {}",
            iperf3::DEFAULT_PORT
        )),
        false => network_failure(error),
    }
}

fn build_test(
    host: &str,
    request: QperfRequest,
    typed: &QperfArguments,
) -> Result<QperfTest, CommandFailure> {
    if request.test == QperfTestKind::Quit {
        return Err(CommandFailure::usage(
            "`quit` is not supported; stop the server on its host",
        ));
    }
    Ok(QperfTest {
        target: NetworkTarget::new(host, typed.listen_port),
        request,
        waiting: WaitMode::Sleep,
        rate_per_s: None,
        busy_poll_us: None,
    })
}

fn build_request(
    test: QperfTestKind,
    typed: &QperfArguments,
    message_bytes: Option<u64>,
) -> Result<QperfRequest, CommandFailure> {
    let mut request = QperfRequest { time_s: typed.time, ..QperfRequest::new(test) };
    let fits = |what: &str, size: u64, maximum: u32| match u32::try_from(size) {
        Ok(size) if (1..=maximum).contains(&size) => Ok(size),
        _ => Err(CommandFailure::usage(format!(
            "{what} of {size} is out of range; expected 1 to {maximum}"
        ))),
    };
    if typed.time == 0 || typed.time > 86_400 {
        return Err(CommandFailure::usage("expected a time of 1 to 86400 seconds"));
    }
    if let Some(size) = message_bytes {
        let maximum = if test.is_udp() { 65507 } else { 1 << 26 };
        request.message_bytes = fits("a message size", size, maximum)?;
    }
    if let Some(size) = typed.sock_buf_size {
        request.socket_buffer_bytes = fits("a socket buffer", size, 1 << 26)?;
    }
    Ok(request)
}

type Rows = Vec<(&'static str, String)>;

fn with_owned_names(rows: Rows) -> Vec<(String, String)> {
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn latency_rows(figures: &QperfFigures, verbose: bool) -> Rows {
    let QperfFigures::Latency { half_s, round_trips, lost, total_s } = figures else {
        return Rows::new();
    };
    let mut rows = vec![
        ("latency", format_three_digits(*half_s, "sec")),
        ("round_trip", round_trips.format_text()),
    ];
    if verbose {
        let rate = round_trips.n as f64 / total_s.max(1e-9);
        rows.push(("msg_rate", format_three_digits(2.0 * rate, "/sec")));
        rows.push(("lost_msgs", lost.to_string()));
    }
    rows
}

fn format_cost(spent: &QperfCpuTime, bytes: u64) -> String {
    if bytes == 0 {
        return "unknown".to_owned();
    }
    format_three_digits(spent.work_s * 1e9 / bytes as f64, "sec/GB")
}

fn format_cpus_used(spent: &QperfCpuTime) -> String {
    format!("{} % cpus", format_number(spent.work_s * 100.0 / spent.wall_s))
}

/// Formats three significant digits with a decimal prefix: `29.3 us`, `960 MB/sec`.
fn format_three_digits(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 7] =
        [(1e9, "G"), (1e6, "M"), (1e3, "K"), (1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")];
    // qperf writes `us` and `ms/GB`, and `sec` only for whole seconds.
    let short = match unit {
        "sec" => "s",
        "sec/GB" => "s/GB",
        unit => unit,
    };
    let (factor, prefix) =
        PREFIXES.into_iter().find(|(factor, _)| value >= *factor).unwrap_or((1.0, ""));
    let unit = if factor >= 1.0 { unit } else { short };
    format!("{} {prefix}{unit}", format_number(value / factor))
}

/// Formats a size as qperf does: whole binary multiples with all digits, others in decimal units.
fn format_message_size(bytes: u32) -> String {
    const MULTIPLES: [(u32, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let digits = group_digits(bytes);
    let whole = |(factor, _): &&(u32, &str)| bytes >= *factor && bytes.is_multiple_of(*factor);
    match MULTIPLES.iter().find(whole) {
        Some((factor, unit)) => format!("{} {unit} ({digits})", bytes / factor),
        None if bytes < 1000 => format!("{bytes} bytes"),
        None => format_three_digits(f64::from(bytes), "B"),
    }
}

/// Separates groups of three digits by commas.
fn group_digits(number: u32) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats three significant digits without zeros at the end.
fn format_number(number: f64) -> String {
    let decimals = match number {
        number if number < 10.0 => 2,
        number if number < 100.0 => 1,
        _ => 0,
    };
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn figures_json(figures: &QperfFigures) -> Value {
    match figures {
        QperfFigures::Configuration { there: [node, cpu, os, qperf], .. } => {
            json!({ "node": node, "cpu": cpu, "os": os, "qperf": qperf })
        }
        QperfFigures::Latency { half_s, round_trips, lost, .. } => json!({
            "latency_s": half_s,
            "latency_is": "half round trip, mean",
            "round_trip_s": round_trips.to_json(),
            "lost": lost,
        }),
        QperfFigures::Bandwidth { sent_bytes, received_bytes, elapsed_s, .. } => json!({
            "send_bw_bytes_per_s": *sent_bytes as f64 / elapsed_s,
            "recv_bw_bytes_per_s": received_bytes.map(|bytes| bytes as f64 / elapsed_s),
            "send_bytes": sent_bytes,
            "recv_bytes": received_bytes,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_three_significant_digits() {
        for (value, unit, expected) in [
            (29.31e-6, "sec", "29.3 us"),
            (960.4e6, "B/sec", "960 MB/sec"),
            (14_648.0, "/sec", "14.6 K/sec"),
            (1.5, "sec", "1.5 sec"),
            (9.8e-6, "sec", "9.8 us"),
            (0.0, "sec/GB", "0 sec/GB"),
            (0.861, "sec/GB", "861 ms/GB"),
            (1.15, "sec/GB", "1.15 sec/GB"),
        ] {
            assert_eq!(format_three_digits(value, unit), expected);
        }
    }

    #[test]
    fn formats_sizes_of_messages_as_qperf() {
        // Printed by qperf 0.4.11 with -vvu and -m.
        for (bytes, expected) in [
            (1, "1 bytes"),
            (1000, "1 KB"),
            (1500, "1.5 KB"),
            (10_240, "10 KiB (10,240)"),
            (100_000, "100 KB"),
            (1024, "1 KiB (1,024)"),
            (65_536, "64 KiB (65,536)"),
        ] {
            assert_eq!(format_message_size(bytes), expected);
        }
    }
}
