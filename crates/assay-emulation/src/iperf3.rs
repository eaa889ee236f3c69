//! `assay iperf3`: client and server with iperf3's options and output.

use std::env::VarError;
use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_dialects::iperf3::text::Iperf3TextStyle;
use assay_dialects::iperf3::{
    Iperf3End, Iperf3Interval, Iperf3Report, Iperf3Start, json, text,
};
use assay_dialects::wire::iperf3::parameters::{
    DataDirection, OMIT_LIMIT_S, PACING_TIMER_US, STREAMS_LIMIT, TCP_BLOCK_BYTES,
    TCP_BLOCK_LIMIT, TIME_LIMIT_S, TestLimit, UDP_BLOCK_LIMIT, UDP_BLOCK_MINIMUM,
};
use assay_dialects::wire::iperf3::{Iperf3Parameters, TransportProtocol};

use assay_model::entry::MeasurementEntry;
use assay_model::run::Run;
use assay_report::words;
use assay_store::Store;
use serde::{Deserialize, Serialize};

use crate::options::network::{Iperf3Arguments, Iperf3TestArguments as Typed};
use crate::store_access;
use crate::terminal::Terminal;
use assay_console::failure::render;
use assay_console::progress_listener::EmulationListener;
use assay_kernels::clock;
use assay_kernels::openssl::{OpenSslError, RsaPadding};
use assay_run::failure::CommandFailure;
use assay_run::network::error::NetworkError;
use assay_run::network::iperf3_client::{
    self, DATAGRAM_OF_ONE_SEGMENT, Iperf3ClientTest, Iperf3Event,
};
use assay_run::network::iperf3_login::{Credentials, LoginError, LoginGate};
use assay_run::network::iperf3_server::{self, Iperf3ServerReport, Iperf3Service};
use assay_run::network::target::{AddressFamily, NetworkTarget};
use assay_run::network::{iperf3_flows, iperf3_record};
use assay_run::recording::Recording;
use assay_run::stored_outcome::{self, ToolOutcome};

/// Error of an interrupted test in the JSON document.
pub(super) const INTERRUPTED: &str = "interrupted";
/// Optional features in iperf3's wording, which scripts search for.
const FEATURES: &str = "Optional features available: TCP congestion algorithm setting, sendfile / zerocopy, socket pacing, authentication";
/// Environment variable with the password, as in iperf3.
const PASSWORD_VARIABLE: &str = "IPERF3_PASSWORD";
/// Rate of iperf3's clients over UDP without `-b`, in bit/s.
const DEFAULT_UDP_RATE_BIT_PER_S: u64 = 1_048_576;

/// Runs a test or, with `-s`, a server as iperf3 does. Returns the exit code.
///
/// # Errors
/// Invalid values, an unreachable or disconnecting peer, or a rejected login.
pub fn iperf3(
    typed: &Iperf3Arguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.tell_version {
        let (version, system) = (iperf3_flows::version(), iperf3_flows::system());
        terminal.print(&format!("{version}\n{system}\n{FEATURES}\n"));
        return Ok(0);
    }
    if !typed.interval.is_finite() || !(0.0..=3600.0).contains(&typed.interval) {
        return Err(CommandFailure::usage("expected an interval of 0 to 3600 seconds"));
    }
    let _pid_file = typed.pidfile.as_deref().map(PidFile::create).transpose()?;
    match &typed.client {
        Some(host) => client(host, typed, cancel, terminal),
        None => server(typed, cancel, terminal),
    }
}

/// File with the ID of this process, which is removed at the end.
#[derive(Debug)]
struct PidFile(PathBuf);

impl PidFile {
    /// Writes the file; replaces one whose process has ended, and nothing else.
    fn create(path: &Path) -> Result<Self, CommandFailure> {
        let refuse = |why: String| {
            CommandFailure::usage(format!("cannot write the PID file {}", path.display()))
                .with_reason(why)
                .advise("choose another file with -I")
        };
        match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(refuse(error.to_string())),
            Ok(text) => match text.trim().parse::<u32>() {
                Err(_) if !text.is_empty() => {
                    return Err(refuse("it holds something else than a PID".to_owned()));
                }
                Ok(pid) if Path::new(&format!("/proc/{pid}")).exists() => {
                    return Err(refuse(format!("process {pid} is still running")));
                }
                Ok(_) | Err(_) => {}
            },
        }
        fs::write(path, std::process::id().to_string())
            .map_err(|error| refuse(error.to_string()))?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // A file that someone else has removed needs no removal.
        drop(fs::remove_file(&self.0));
    }
}

/// Returns the failure for a network error, with its advice.
pub fn network_failure(error: &NetworkError) -> CommandFailure {
    let message = words::failure(&error.to_case_failure());
    CommandFailure::measurement(message.text).advise(message.advice)
}

/// Stores the results of a test, and its error if it failed. An interrupted test has partial
/// results.
pub(super) fn record_end(
    recording: &mut Recording<'_>,
    number: usize,
    entries: Vec<MeasurementEntry>,
    error: Option<&NetworkError>,
) -> Result<(), CommandFailure> {
    match error {
        Some(NetworkError::Interrupted) => recording.record_partial(number, entries, &[]),
        error => recording.record_case(
            number,
            entries,
            &[],
            error.map(NetworkError::to_case_failure),
        ),
    }
}

fn interval_s(typed: &Iperf3Arguments) -> Option<f64> {
    (typed.interval > 0.0).then_some(typed.interval)
}

fn idle_timeout(typed: &Iperf3Arguments) -> Duration {
    Duration::from_millis(typed.rcv_timeout.max(100))
}

fn client(
    host: &str,
    typed: &Iperf3Arguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let family = match (typed.version4, typed.version6) {
        (true, _) => AddressFamily::V4,
        (_, true) => AddressFamily::V6,
        _ => AddressFamily::Any,
    };
    let local = typed.bind.map(|ip| SocketAddr::new(ip, typed.test.cport));
    let unspecified = if typed.version6 { "::" } else { "0.0.0.0" };
    let unspecified =
        || unspecified.parse().ok().map(|ip| SocketAddr::new(ip, typed.test.cport));
    let target = NetworkTarget {
        family,
        local: local.or_else(|| if typed.test.cport == 0 { None } else { unspecified() }),
        connect_timeout: Duration::from_millis(typed.test.connect_timeout.max(1)),
        ..NetworkTarget::new(host, typed.port)
    };
    let credentials = read_credentials(typed, terminal)?;
    let test = Iperf3ClientTest {
        target,
        parameters: titled_parameters(typed)?,
        interval_s: interval_s(typed),
        pinned: typed.pinned,
        idle_timeout: idle_timeout(typed),
        credentials,
    };
    let store = store_access::open_for_recording(&typed.keep)?;
    let phases = vec![iperf3_record::phase(&test)];
    let opening =
        store_access::recording_request((&typed.keep, store.as_ref()), "iperf3", phases);
    let mut quiet = EmulationListener::new(&typed.keep);
    let mut recording = Recording::begin(opening, &mut quiet)?;
    recording.start_case(0)?;
    let mut output = Iperf3Output::new(typed, true);
    let mut report = Iperf3Report::default();
    let outcome = iperf3_client::run(&test, cancel, &mut |observed| match observed {
        Iperf3Event::Agreed => {}
        Iperf3Event::Start(start) => {
            report.start = Some(start.clone());
            terminal.print(&output.format_start(start.clone()));
        }
        Iperf3Event::Interval(interval) => {
            report.intervals.push(interval.clone());
            terminal.print(&output.format_interval(interval.clone()));
        }
    });
    match &outcome {
        Ok(outcome) => report.end = Some(outcome.end.clone()),
        Err(NetworkError::Interrupted) => report.error = Some(INTERRUPTED.to_owned()),
        Err(error) => {
            report.error =
                Some(words::failure(&error.to_case_failure()).without_no_break_spaces().text);
        }
    }
    terminal.print(&output.format_outcome(&report));
    let entries = iperf3_record::entries(&test, &report, &outcome);
    record_end(&mut recording, 0, entries, outcome.as_ref().err())?;
    recording.store_outcome(&Iperf3TestOutcome { style: output.style, report })?;
    recording.finish(matches!(outcome, Err(NetworkError::Interrupted)))?;
    outcome.map(|_| 0).map_err(|error| network_failure(&error))
}

/// Outcome of a client's test.
#[derive(Debug, Serialize, Deserialize)]
struct Iperf3TestOutcome {
    style: Iperf3TextStyle,
    report: Iperf3Report,
}

impl ToolOutcome for Iperf3TestOutcome {
    const TOOL: &'static str = "iperf3";
    const VERSION: u32 = 1;
}

const fn padding(typed: &Iperf3Arguments) -> RsaPadding {
    if typed.use_pkcs1_padding { RsaPadding::Pkcs1 } else { RsaPadding::Oaep }
}

/// Returns the credentials for `--username`.
fn read_credentials(
    typed: &Iperf3Arguments,
    terminal: &mut Terminal,
) -> Result<Option<Credentials>, CommandFailure> {
    let test = &typed.test;
    let (Some(user), Some(key)) = (&test.username, &test.rsa_public_key_path) else {
        return Ok(None);
    };
    let password_error = |error: std::io::Error| {
        CommandFailure::usage("cannot read the password").with_cause(&error)
    };
    let password = match std::env::var(PASSWORD_VARIABLE) {
        Ok(password) => password,
        Err(VarError::NotPresent) => terminal
            .read_secret(&format!("Password of {user}: "))
            .map_err(password_error)?
            .ok_or_else(|| {
                CommandFailure::usage(format!("no password for {user}"))
                    .advise(format!("set {PASSWORD_VARIABLE}, or start assay on a terminal"))
            })?,
        Err(error) => return Err(CommandFailure::usage(PASSWORD_VARIABLE).with_cause(&error)),
    };
    let credentials = Credentials::new((user, &password), key, padding(typed));
    credentials.map(Some).map_err(|error| login_failure(&error))
}

/// Returns the gate that checks logins, for a server with `--rsa-private-key-path`.
fn open_login_gate(typed: &Iperf3Arguments) -> Result<Option<LoginGate>, CommandFailure> {
    let serving = &typed.serving;
    let (Some(key), Some(users)) =
        (&serving.rsa_private_key_path, &serving.authorized_users_path)
    else {
        return Ok(None);
    };
    let gate = LoginGate::open(key, users, serving.time_skew_threshold, padding(typed));
    gate.map(Some).map_err(|error| login_failure(&error))
}

fn login_failure(error: &LoginError) -> CommandFailure {
    let advice = match error {
        LoginError::Read { .. } => "name a readable file",
        LoginError::NoHash { source: OpenSslError::NoLibrary(_) }
        | LoginError::Key { source: OpenSslError::NoLibrary(_), .. } => {
            "logins need OpenSSL 1.1 or 3 (Debian: libssl3), as iperf3 itself does"
        }
        LoginError::Key { .. } | LoginError::NoHash { .. } => {
            "`openssl genrsa -out private.pem 2048` makes a private key, and `openssl rsa -in private.pem -pubout -out public.pem` its public one"
        }
        LoginError::TooLong => "use a longer key, or a shorter password",
        LoginError::NoWord { .. } => "iperf3 reads both up to the first white space",
    };
    CommandFailure::usage("cannot set up logins").with_cause(error).advise(advice)
}

/// Renders a stored test as text or, with `as_document`, as JSON.
///
/// # Errors
/// The outcome of the test cannot be read.
pub fn render_stored(
    run: &Run,
    store: &Store,
    as_document: bool,
) -> Result<String, CommandFailure> {
    let Iperf3TestOutcome { style, report } = stored_outcome::read(run, store)?;
    let shape = if as_document { Iperf3OutputShape::Document } else { Iperf3OutputShape::Text };
    let title = report.start.as_ref().and_then(|start| start.title.clone());
    let mut output = Iperf3Output { shape, style, title, start: None, intervals: Vec::new() };
    let mut text =
        report.start.clone().map_or(String::new(), |start| output.format_start(start));
    text.extend(report.intervals.iter().map(|it| output.format_interval(it.clone())));
    Ok(text + &output.format_outcome(&report))
}

fn titled_parameters(typed: &Iperf3Arguments) -> Result<Iperf3Parameters, CommandFailure> {
    Ok(Iperf3Parameters { title: typed.title.clone(), ..parameters(&typed.test)? })
}

fn parameters(typed: &Typed) -> Result<Iperf3Parameters, CommandFailure> {
    let protocol = if typed.udp { TransportProtocol::Udp } else { TransportProtocol::Tcp };
    let (default_length, minimum, maximum) = match protocol {
        TransportProtocol::Tcp => (TCP_BLOCK_BYTES, 1, TCP_BLOCK_LIMIT),
        TransportProtocol::Udp => (DATAGRAM_OF_ONE_SEGMENT, UDP_BLOCK_MINIMUM, UDP_BLOCK_LIMIT),
    };
    let within = |what: &str, value: u64, minimum: u32, maximum: u32| match u32::try_from(value)
    {
        Ok(value) if (minimum..=maximum).contains(&value) => Ok(value),
        _ => Err(CommandFailure::usage(format!(
            "{what} of {value} is out of range; expected {minimum} to {maximum}"
        ))),
    };
    let bounded = |what: &str, value: Option<u64>, minimum: u32, maximum: u32| {
        value.map(|value| within(what, value, minimum, maximum)).transpose()
    };
    let (rate, burst) =
        typed.bitrate.unwrap_or((if typed.udp { DEFAULT_UDP_RATE_BIT_PER_S } else { 0 }, 0));
    let limit = match (typed.bytes, typed.blockcount) {
        (Some(0), _) | (None, Some(0)) => {
            return Err(CommandFailure::usage("a test needs at least one byte"));
        }
        (Some(bytes), _) => TestLimit::Bytes(bytes),
        (None, Some(blocks)) => TestLimit::Blocks(blocks),
        (None, None) => {
            let seconds = u64::from(typed.time.unwrap_or(10));
            TestLimit::Seconds(within("a time", seconds, 1, TIME_LIMIT_S)?)
        }
    };
    Ok(Iperf3Parameters {
        protocol,
        direction: match (typed.bidir, typed.reverse) {
            (true, _) => DataDirection::Both,
            (_, true) => DataDirection::Reverse,
            _ => DataDirection::Forward,
        },
        limit,
        omit_s: within("an omitted time", u64::from(typed.omit), 0, OMIT_LIMIT_S)?,
        streams: within("a number of streams", u64::from(typed.parallel), 1, STREAMS_LIMIT)?,
        block_bytes: bounded("a length", typed.length, minimum, maximum)?
            .unwrap_or(default_length),
        rate_bit_per_s: Some(rate).filter(|rate| *rate > 0),
        burst,
        kernel_rate_bit_per_s: typed.fq_rate.filter(|rate| *rate > 0),
        no_delay: typed.no_delay,
        window_bytes: bounded("a window", typed.window, 1, 512 << 20)?,
        segment_bytes: bounded("a segment size", typed.set_mss.map(u64::from), 88, 32767)?,
        congestion: typed.congestion.clone(),
        type_of_service: typed.dscp.unwrap_or(typed.tos),
        pacing_timer_us: typed.pacing_timer.unwrap_or(PACING_TIMER_US),
        zero_copy: typed.zerocopy,
        skip_receive_copy: typed.skip_rx_copy,
        segmentation: typed.gsro,
        wide_counters: true,
        get_server_output: typed.get_server_output,
        extra_data: typed.extra_data.clone(),
        assay: Some(env!("CARGO_PKG_VERSION").to_owned()),
        ..Iperf3Parameters::default()
    })
}

fn server(
    typed: &Iperf3Arguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let service = Iperf3Service {
        listen: typed.listen_address(),
        once: typed.serving.one_off,
        idle_limit: typed.serving.idle_timeout.map(Duration::from_secs),
        idle_timeout: idle_timeout(typed),
        interval_s: interval_s(typed),
        pinned: typed.pinned,
        gate: open_login_gate(typed)?.map(Arc::new),
        clock: clock::now_ns,
    };
    if service.listen.ip().is_loopback() && typed.bind.is_none() {
        terminal.note("listening on loopback only; use -B 0.0.0.0 to admit other hosts");
    }
    let mut output = Iperf3Output::new(typed, false);
    let mut failures = 0;
    let outcome = iperf3_server::serve(&service, cancel, &mut |report| match report {
        Iperf3ServerReport::Listening(port, test) => {
            terminal.print(&output.format_banner(port, test));
        }
        Iperf3ServerReport::Start(start) => terminal.print(&output.format_start(*start)),
        Iperf3ServerReport::Interval(interval) => {
            terminal.print(&output.format_interval(interval));
        }
        Iperf3ServerReport::End(end) => terminal.print(&output.format_end(&end)),
        Iperf3ServerReport::Failed(error) => {
            failures += 1;
            terminal.print(&output.format_failure(
                &words::failure(&error.to_case_failure()).without_no_break_spaces().text,
            ));
            terminal.note(&render(&network_failure(&error), false));
        }
    });
    outcome.map_err(|error| network_failure(&error))?;
    // Failed tests do not fail the server, except with `-1`, where it serves a single test.
    if service.once && failures > 0 {
        return Err(CommandFailure::measurement("the test failed"));
    }
    Ok(0)
}

/// Formatter of the output, in text, as one JSON document or as a stream of JSON events. Each method
/// returns what is to be printed; a document is returned as a whole at the end.
struct Iperf3Output {
    shape: Iperf3OutputShape,
    style: Iperf3TextStyle,
    title: Option<String>,
    start: Option<Iperf3Start>,
    intervals: Vec<Iperf3Interval>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Iperf3OutputShape {
    Text,
    Document,
    Stream,
}

impl Iperf3Output {
    fn new(typed: &Iperf3Arguments, is_client: bool) -> Self {
        let shape = match (typed.json, typed.json_stream) {
            (true, _) => Iperf3OutputShape::Document,
            (_, true) => Iperf3OutputShape::Stream,
            _ => Iperf3OutputShape::Text,
        };
        let style = Iperf3TextStyle {
            format: typed.format,
            is_client,
            verbose: typed.verbose,
            ..Iperf3TextStyle::default()
        };
        let title = typed.title.clone();
        Self { shape, style, title, start: None, intervals: Vec::new() }
    }

    fn with_title(&self, text: String) -> String {
        match &self.title {
            None => text,
            Some(title) => text.lines().map(|line| format!("{title}:  {line}\n")).collect(),
        }
    }

    fn format_event(name: &str, data: &serde_json::Value) -> String {
        json::event_line(name, data) + "\n"
    }

    fn format_banner(&self, port: u16, test: u64) -> String {
        match self.shape {
            Iperf3OutputShape::Text => self.with_title(text::listening_banner(port, test)),
            Iperf3OutputShape::Stream | Iperf3OutputShape::Document => String::new(),
        }
    }

    fn format_start(&mut self, start: Iperf3Start) -> String {
        self.style.udp = start.udp;
        self.style.bidirectional = start.bidirectional;
        let text = match self.shape {
            Iperf3OutputShape::Text => self.with_title(text::format_start(&start, self.style)),
            Iperf3OutputShape::Stream => {
                Self::format_event("start", &json::start_object(&start))
            }
            Iperf3OutputShape::Document => String::new(),
        };
        self.intervals.clear();
        self.start = Some(start);
        text
    }

    fn format_interval(&mut self, interval: Iperf3Interval) -> String {
        match self.shape {
            Iperf3OutputShape::Text => {
                self.with_title(text::format_interval(&interval, self.style))
            }
            Iperf3OutputShape::Stream => Self::format_event(
                "interval",
                &json::interval_object(&interval, self.style.bidirectional),
            ),
            Iperf3OutputShape::Document => {
                self.intervals.push(interval);
                String::new()
            }
        }
    }

    /// Formats the end or the failure of a client's test.
    fn format_outcome(&mut self, report: &Iperf3Report) -> String {
        match (&report.end, &report.error) {
            (Some(end), _) => self.format_end(end),
            (None, error) => self.format_failure(error.as_deref().unwrap_or_default()),
        }
    }

    fn format_end(&mut self, end: &Iperf3End) -> String {
        let Iperf3TextStyle { udp, bidirectional, .. } = self.style;
        let text = match self.shape {
            Iperf3OutputShape::Text => self.with_title(text::format_end(end, self.style)),
            Iperf3OutputShape::Stream => {
                Self::format_event("end", &json::end_object(end, udp, bidirectional))
            }
            Iperf3OutputShape::Document => self.build_document(Some(end), None),
        };
        self.reset();
        text
    }

    /// Resets the state for the next test.
    fn reset(&mut self) {
        self.start = None;
        self.intervals.clear();
    }

    /// Formats a failure. As text, only marks a started test as incomplete; the message goes to
    /// standard error.
    fn format_failure(&mut self, error: &str) -> String {
        let text = match self.shape {
            Iperf3OutputShape::Text if self.start.is_some() => {
                self.with_title(text::INCOMPLETE.to_owned())
            }
            Iperf3OutputShape::Text => String::new(),
            Iperf3OutputShape::Stream => {
                Self::format_event("error", &serde_json::Value::String(error.to_owned()))
            }
            Iperf3OutputShape::Document => self.build_document(None, Some(error)),
        };
        self.reset();
        text
    }

    fn build_document(&self, end: Option<&Iperf3End>, error: Option<&str>) -> String {
        let value = json::build_document(self.start.as_ref(), &self.intervals, end, error);
        format!("{value:#}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pid_file_replaces_only_that_of_an_ended_process() {
        let path = std::env::temp_dir().join(format!("assay-{}.pid", std::process::id()));
        let own = std::process::id().to_string();
        let above_all_pids = u32::MAX.to_string();
        let table =
            [("", true), (above_all_pids.as_str(), true), ("notes\n", false), (&own, false)];
        for (before, is_written) in table {
            fs::write(&path, before).unwrap();
            let file = PidFile::create(&path);
            assert_eq!(file.is_ok(), is_written, "{before:?}");
            let after = fs::read_to_string(&path).unwrap();
            assert_eq!(after, if is_written { &own } else { before });
            drop(file);
            assert_eq!(path.exists(), !is_written);
        }
        fs::remove_file(&path).unwrap();
    }
}
