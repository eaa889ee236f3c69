//! `assay iperf3`: client and server with iperf3's options and output.

use std::env::VarError;
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_dialects::iperf3::Iperf3Report;
use assay_dialects::iperf3::text::Iperf3TextStyle;
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
use assay_console::progress_listener::EmulationListener;
use assay_kernels::openssl::{OpenSslError, RsaPadding};
use assay_kernels::pin;
use assay_run::failure::CommandFailure;
use assay_run::network::error::NetworkError;
use assay_run::network::iperf3_client::{
    self, DATAGRAM_OF_ONE_SEGMENT, Iperf3ClientTest, Iperf3Event,
};
use assay_run::network::iperf3_login::{Credentials, LoginError, LoginGate};
use assay_run::network::iperf3_record::CompletedIperf3Test;
use assay_run::network::target::{AddressFamily, EndpointOptions, NetworkTarget};
use assay_run::network::transfer_route::{self, TransferRoute};
use assay_run::network::{iperf3_flows, iperf3_record};
use assay_run::recording::Recording;
use assay_run::stored_outcome::{self, ToolOutcome};

use output::{Iperf3Output, Iperf3OutputShape, Iperf3Program};
use pid_file::PidFile;
use sink::Iperf3Sink;

mod output;
mod pid_file;
mod server;
mod sink;

/// Error of an interrupted test in the JSON document.
const INTERRUPTED: &str = "interrupted";
/// Optional features in iperf3's wording, which scripts search for.
const FEATURES: &str = "Optional features available: TCP congestion algorithm setting, sendfile / zerocopy, socket pacing, authentication, CPU affinity setting, IPv6 flow label, bind to device, support IPv4 don't fragment";
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
    if let Some((cpu, _)) = typed.affinity {
        pin::restrict_current_thread(&[cpu as usize]).map_err(|error| {
            CommandFailure::usage(format!("cannot run on CPU {cpu}"))
                .with_cause(&error)
                .advise("name a CPU of `assay facts` with -A")
        })?;
    }
    check_file_streams(typed)?;
    let pid_file = typed.pidfile.as_deref().map(PidFile::create).transpose()?;
    let mut sink = Iperf3Sink::open(typed)?;
    let outcome = match &typed.client {
        Some(host) => client(host, typed, cancel, (terminal, &mut sink)),
        None => server::serve(typed, cancel, (terminal, &mut sink), pid_file.as_ref()),
    };
    outcome.and_then(|code| sink.finish().map(|()| code))
}

/// Refuses a file for several streams: their data would be mixed.
fn check_file_streams(typed: &Iperf3Arguments) -> Result<(), CommandFailure> {
    let option = match typed {
        _ if typed.file.is_none() => return Ok(()),
        _ if typed.test.bidir => "--bidir",
        _ if typed.test.parallel > 1 => "-P",
        _ if typed.serving.clients > 1 => "--clients",
        _ => return Ok(()),
    };
    Err(CommandFailure::usage(format!(
        "-F with {option} would mix the data of several streams"
    ))
    .advise(format!("leave out -F or {option}")))
}

/// Returns the failure for a network error, with its advice.
pub fn network_failure(error: &NetworkError) -> CommandFailure {
    let message = words::failure(&error.to_case_failure());
    CommandFailure::measurement(message.text).advise(message.advice)
}

/// Returns the message of an error in the tools' outputs.
pub(super) fn error_text(error: &NetworkError) -> String {
    match error {
        NetworkError::Interrupted => INTERRUPTED.to_owned(),
        error => words::failure(&error.to_case_failure()).without_no_break_spaces().text,
    }
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
    (terminal, sink): (&mut Terminal, &mut Iperf3Sink),
) -> Result<u8, CommandFailure> {
    let credentials = read_credentials(typed, terminal)?;
    let test = Iperf3ClientTest {
        target: network_target(host, typed),
        parameters: titled_parameters(typed)?,
        interval_s: interval_s(typed),
        pinned: typed.pinned,
        idle_timeout: idle_timeout(typed),
        credentials,
        file: typed.file.clone(),
        serves_itself: false,
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
    let route = TransferRoute::towards(&test.target);
    if transfer_route::is_comparable(&test.parameters) {
        recording.begin_counting(route.places());
    }
    let outcome = iperf3_client::run(&test, cancel, &mut |observed| match observed {
        Iperf3Event::Agreed => {}
        Iperf3Event::Message(name, message) if typed.debug.is_some() => {
            sink.print_message(terminal, ("", name), message);
        }
        Iperf3Event::Message(..) => {}
        Iperf3Event::Start(start) => {
            report.start = Some(start.clone());
            sink.print(terminal, &output.format_start(start.clone()));
        }
        Iperf3Event::Interval(interval) => {
            report.intervals.push(interval.clone());
            sink.print(terminal, &output.format_interval(interval.clone()));
        }
    });
    if let Ok(outcome) = &outcome {
        let (parameters, reported) = (&test.parameters, &report);
        let completed = CompletedIperf3Test { parameters, outcome, reported };
        route.payload(&completed).into_iter().for_each(|it| recording.end_counting(0, it));
    }
    match &outcome {
        Ok(outcome) => report.end = Some(outcome.end.clone()),
        Err(error) => report.error = Some(error_text(error)),
    }
    sink.print(terminal, &output.format_outcome(&report));
    let entries = iperf3_record::entries(&test, &report, &outcome);
    record_end(&mut recording, 0, entries, outcome.as_ref().err())?;
    let Iperf3Output { style, program, .. } = output;
    recording.store_outcome(&Iperf3TestOutcome { style, report, program })?;
    recording.finish(matches!(outcome, Err(NetworkError::Interrupted)))?;
    outcome.map(|_| 0).map_err(|error| network_failure(&error))
}

/// Returns the server to connect to, and the addresses and settings of this end.
fn network_target(host: &str, typed: &Iperf3Arguments) -> NetworkTarget {
    let (host, host_device) = split_device(host);
    let family = match (typed.version4, typed.version6) {
        (true, _) => AddressFamily::V4,
        (_, true) => AddressFamily::V6,
        _ => AddressFamily::Any,
    };
    let bound = typed.bind.as_ref().map(|bound| bound.address);
    let local = bound.map(|ip| SocketAddr::new(ip, typed.test.cport));
    let unspecified = if typed.version6 { "::" } else { "0.0.0.0" };
    let unspecified =
        || unspecified.parse().ok().map(|ip| SocketAddr::new(ip, typed.test.cport));
    NetworkTarget {
        family,
        local: local.or_else(|| if typed.test.cport == 0 { None } else { unspecified() }),
        connect_timeout: Duration::from_millis(typed.test.connect_timeout.max(1)),
        endpoint: endpoint_options(typed, host_device),
        ..NetworkTarget::new(host, typed.port)
    }
}

/// Splits a host from the device after `%`. A link-local address keeps it, as its interface.
fn split_device(host: &str) -> (&str, Option<&str>) {
    match host.split_once('%') {
        Some((name, device)) if name.trim_start_matches('[').parse::<Ipv6Addr>().is_err() => {
            (name, Some(device))
        }
        _ => (host, None),
    }
}

/// Returns the socket settings of this end.
fn endpoint_options(typed: &Iperf3Arguments, host_device: Option<&str>) -> EndpointOptions {
    let bound_device = typed.bind.as_ref().and_then(|bound| bound.device.clone());
    EndpointOptions {
        device: typed
            .bind_dev
            .clone()
            .or(bound_device)
            .or_else(|| host_device.map(str::to_owned)),
        user_timeout_ms: typed.snd_timeout.filter(|timeout_ms| *timeout_ms > 0),
        keepalive: typed.cntl_ka,
    }
}

/// Outcome of a client's test.
#[derive(Debug, Serialize, Deserialize)]
struct Iperf3TestOutcome {
    style: Iperf3TextStyle,
    report: Iperf3Report,
    #[serde(default)]
    program: Option<Iperf3Program>,
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
    let Iperf3TestOutcome { style, report, program } = stored_outcome::read(run, store)?;
    let shape = if as_document { Iperf3OutputShape::Document } else { Iperf3OutputShape::Text };
    let title = report.start.as_ref().and_then(|start| start.title.clone());
    let mut output = Iperf3Output::from_parts(shape, style, title, program);
    let mut text =
        report.start.clone().map_or(String::new(), |start| output.format_start(start));
    text.extend(report.intervals.iter().map(|it| output.format_interval(it.clone())));
    Ok(text + &output.format_outcome(&report))
}

fn titled_parameters(typed: &Iperf3Arguments) -> Result<Iperf3Parameters, CommandFailure> {
    let parameters = parameters(&typed.test)?;
    Ok(Iperf3Parameters {
        limit: file_limit(typed)?.unwrap_or(parameters.limit),
        title: typed.title.clone(),
        multipath: typed.mptcp,
        server_cpu: typed.affinity.and_then(|(_, there)| there),
        ..parameters
    })
}

/// Returns the size of the file that is sent, as the limit of a test that has no other.
fn file_limit(typed: &Iperf3Arguments) -> Result<Option<TestLimit>, CommandFailure> {
    let test = &typed.test;
    let Some(path) = typed.file.as_ref().filter(|_| !test.reverse) else { return Ok(None) };
    let metadata = std::fs::metadata(path).map_err(|error| {
        CommandFailure::usage(format!("cannot read {}", path.display()))
            .with_cause(&error)
            .advise("name the file to send with -F")
    })?;
    let has_limit = test.time.is_some() || test.bytes.is_some() || test.blockcount.is_some();
    Ok(Some(metadata.len()).filter(|bytes| *bytes > 0 && !has_limit).map(TestLimit::Bytes))
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
            TestLimit::Seconds(within("a time", seconds, 0, TIME_LIMIT_S)?)
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
        dont_fragment: typed.dont_fragment,
        flow_label: typed.flow_label,
        repeating_payload: typed.repeating_payload,
        wide_counters: true,
        get_server_output: typed.get_server_output,
        extra_data: typed.extra_data.clone(),
        assay: Some(env!("CARGO_PKG_VERSION").to_owned()),
        ..Iperf3Parameters::default()
    })
}
