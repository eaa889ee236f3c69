//! `assay qperf`: client and server with qperf's tests and output.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use assay_dialects::wire::iperf3;
use assay_dialects::wire::qperf::{self, QperfTestKind};
use assay_kernels::clock;
use assay_kernels::network::pingpong::WaitMode;
use assay_kernels::pin;
use assay_model::failure::FailureReason;
use assay_model::run::Run;
use assay_store::Store;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::rows::QperfUnits;
use super::iperf3::{error_text, network_failure, record_end};
use crate::options::network::QperfArguments;
use crate::options::network::qperf_parameters::{self, QperfParameters, QperfStep};
use crate::store_access;
use crate::terminal::Terminal;
use assay_console::failure::render;
use assay_console::progress_listener::EmulationListener;
use assay_run::failure::CommandFailure;
use assay_run::network::error::NetworkError;
use assay_run::network::qperf_client::{self, QperfOutcome, QperfTest};
use assay_run::network::qperf_record::{self, QperfFigures};
use assay_run::network::qperf_server::{self, QperfService};
use assay_run::network::target::NetworkTarget;
use assay_run::recording::Recording;
use assay_run::stored_outcome::{self, ToolOutcome};

mod rows;

/// Emulated version of qperf.
const VERSION: &str = "qperf 0.4.11\n";
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
    if typed.tell_version {
        terminal.print(VERSION);
        return Ok(0);
    }
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
    let steps = qperf_parameters::expand_steps(typed)?;
    check_cpus(&steps)?;
    let tests = build_tests(typed, &steps)?;
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
    for (test, step) in tests.iter().zip(&steps) {
        let mut case_recording =
            recording.as_mut().filter(|_| qperf_record::phase(test).is_some());
        if let Some(recording) = &mut case_recording {
            recording.start_case(number)?;
        }
        let (outcome, error) = run_on_cpu(test, step.parameters.cpu.local, cancel);
        let entries = outcome.as_ref().map(|it| qperf_record::entries(test, it));
        if let Some(recording) = case_recording {
            record_end(recording, number, entries.unwrap_or_default(), error.as_ref())?;
            number += 1;
        }
        let result = QperfTestResult {
            test: test.request.test.name().to_owned(),
            parameters: step.parameters,
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

/// Refuses CPUs of this end, from 1, that the process may not use.
fn check_cpus(steps: &[QperfStep]) -> Result<(), CommandFailure> {
    let allowed = pin::allowed_cpus().map_err(|error| {
        CommandFailure::measurement("cannot list the CPUs of this process").with_cause(&error)
    })?;
    let is_missing =
        |cpu: &u32| cpu.checked_sub(1).is_some_and(|cpu| !allowed.contains(&(cpu as usize)));
    match steps.iter().map(|step| step.parameters.cpu.local).find(is_missing) {
        Some(cpu) => Err(CommandFailure::usage(format!("there is no CPU {cpu} for the test"))
            .with_reason("CPUs of qperf are numbered from 1, and this process may not use each")
            .advise("`nproc` prints their number; -rca sets the CPU of the far end alone")),
        None => Ok(()),
    }
}

/// Runs a test in a thread of its own on a CPU, from 1; 0 = any.
fn run_on_cpu(
    test: &QperfTest,
    cpu: u32,
    cancel: &AtomicBool,
) -> (Option<QperfOutcome>, Option<NetworkError>) {
    let Some(index) = cpu.checked_sub(1) else { return run_test(test, cancel) };
    let run = || match pin::pin_current_thread(index as usize) {
        Ok(()) => run_test(test, cancel),
        Err(source) => {
            let peer = test.target.host.clone();
            (None, Some(NetworkError::Cpu { peer, cpu, source }))
        }
    };
    thread::scope(|scope| match thread::Builder::new().spawn_scoped(scope, run) {
        Ok(pinned) => pinned.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(source) => (None, Some(NetworkError::NoThread { source })),
    })
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
    const VERSION: u32 = 2;
}

/// Options that change the output.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct QperfStyle {
    units: QperfUnits,
    json: bool,
    /// Whether each test was repeated over the values of an option.
    loops: bool,
}

impl QperfStyle {
    const fn from_options(typed: &QperfArguments) -> Self {
        let units = QperfUnits {
            bits: typed.use_bits_per_sec,
            unify_units: typed.unify_units,
            unify_nodes: typed.unify_nodes,
        };
        Self { units, json: typed.json, loops: !typed.loops.is_empty() }
    }
}

/// Result of one test.
#[derive(Debug, Serialize, Deserialize)]
struct QperfTestResult {
    /// Name of the test: `tcp_lat`.
    test: String,
    parameters: QperfParameters,
    /// Figures, possibly of an incomplete test.
    figures: Option<QperfFigures>,
    /// Reason why the test is incomplete.
    error: Option<String>,
}

impl QperfTestResult {
    fn format_text(&self, style: QperfStyle) -> String {
        let Some(figures) = &self.figures else { return String::new() };
        let incomplete = if self.error.is_some() { INCOMPLETE } else { "" };
        let is_udp = QperfTestKind::from_name(&self.test).is_some_and(QperfTestKind::is_udp);
        let rows = rows::format_rows(figures, &self.parameters, style.units, is_udp);
        format!("{}:\n{rows}{incomplete}", self.test)
    }

    fn to_json(&self) -> Value {
        let mut value = self.figures.as_ref().map_or(json!({}), figures_json);
        if let Some(error) = &self.error {
            value["error"] = json!(error);
        }
        value
    }
}

/// Builds the tests of all steps.
fn build_tests(
    typed: &QperfArguments,
    steps: &[QperfStep],
) -> Result<Vec<QperfTest>, CommandFailure> {
    let host = typed.host.as_deref().unwrap_or_default();
    if steps.iter().any(|step| step.test == QperfTestKind::Quit) {
        return Err(CommandFailure::usage(
            "`quit` is not supported; stop the server on its host",
        ));
    }
    let test = |step: &QperfStep| QperfTest {
        target: NetworkTarget::new(host, typed.listen_port),
        request: step.request(),
        timeout: Duration::from_secs(step.parameters.timeout_s.local.into()),
        waiting: WaitMode::Sleep,
        rate_per_s: None,
        busy_poll_us: None,
        local_buffer_bytes: Some(step.parameters.socket_buffer_bytes.local),
        wait_for_server: Duration::from_secs(typed.wait_server),
    };
    Ok(steps.iter().map(test).collect())
}

/// Renders each test with its figures as JSON; a test that is repeated becomes a list.
fn render_json(results: &[QperfTestResult], style: QperfStyle) -> String {
    let mut tests = serde_json::Map::from_iter([("schema".to_owned(), json!(1))]);
    for result in results {
        let (mut value, name) = (result.to_json(), &result.test);
        let is_repeated = results.iter().filter(|it| it.test == *name).count() > 1;
        if !style.loops && !is_repeated {
            tests.insert(name.clone(), value);
            continue;
        }
        value["msg_size_bytes"] = json!(result.parameters.message_bytes.local);
        let list = tests.entry(name.clone()).or_insert_with(|| json!([]));
        list.as_array_mut().expect("it was made as a list").push(value);
    }
    format!("{:#}\n", Value::Object(tests))
}

/// Returns the failure for a client's error. The server may be assay's own on iperf3's port, where
/// qperf clients do not connect by default.
fn client_failure(error: &NetworkError, typed: &QperfArguments) -> CommandFailure {
    let is_refused = matches!(error, NetworkError::Known(FailureReason::NotConnected { .. }));
    match is_refused && typed.listen_port == qperf::DEFAULT_PORT {
        true => network_failure(error).advise(format!(
            "if the server is `assay iperf3 -s`, use its port: -lp {}",
            iperf3::DEFAULT_PORT
        )),
        false => network_failure(error),
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
