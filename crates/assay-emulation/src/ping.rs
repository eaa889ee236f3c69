//! `assay ping`: ICMP echo with ping's options and output, plus percentiles.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_kernels::network::icmp::{PAYLOAD_LIMIT_BYTES, Pinger};
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::run::Run;
use assay_report::render;
use assay_stats::summarize::summarize;
use assay_store::Store;

use self::outcome::{PingEvent, PingOutcome, PingStart, PingStyle};
use super::iperf3::network_failure;
use crate::options::network::PingArguments;
use crate::store_access;
use crate::terminal::Terminal;
use assay_console::progress_listener::EmulationListener;
use assay_run::failure::CommandFailure;
use assay_run::network::echoes::{self, EchoEvent, EchoTally, EchoTest};
use assay_run::network::target::{AddressFamily, NetworkTarget};
use assay_run::recording::Recording;
use assay_run::stored_outcome;

mod outcome;

/// Line about the version; the output resembles that of no version of ping in particular.
const VERSION: &str = concat!("ping from assay ", env!("CARGO_PKG_VERSION"), "\n");

/// Sends echo requests, prints a line for each reply and stores the run. Returns the exit code.
///
/// # Errors
/// Invalid values, an unknown host, a socket that the kernel does not permit, or no reply.
pub fn ping(
    typed: &PingArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.tell_version {
        terminal.print(VERSION);
        return Ok(0);
    }
    let check_wait =
        |what: &str, seconds: f64, minimum: f64| match Duration::try_from_secs_f64(seconds) {
            Ok(wait) if (minimum..=3600.0).contains(&seconds) => Ok(wait),
            _ => Err(CommandFailure::usage(format!(
                "{what} is out of range; expected {minimum} to 3600 seconds"
            ))),
        };
    let interval = check_wait("the interval", typed.interval, 0.0)?;
    let timeout = check_wait("the timeout", typed.timeout, 0.001)?;
    if typed.size as usize > PAYLOAD_LIMIT_BYTES {
        return Err(CommandFailure::usage(format!(
            "expected a size of at most {PAYLOAD_LIMIT_BYTES}"
        )));
    }
    let deadline =
        typed.deadline.map(|seconds| check_wait("the deadline", seconds, 0.001)).transpose()?;
    let test = EchoTest {
        host: typed.host.clone(),
        count: typed.count,
        bytes: typed.size,
        interval,
        timeout,
        deadline,
    };
    let store = store_access::open_for_recording(&typed.keep)?;
    let opening = store_access::recording_request(
        (&typed.keep, store.as_ref()),
        "ping",
        vec![test.phase()],
    );
    let mut quiet = EmulationListener::new(&typed.keep);
    let mut recording = Recording::begin(opening, &mut quiet)?;
    recording.start_case(0)?;
    let pinger = match open_pinger(typed) {
        Ok(pinger) => pinger,
        Err(failure) => {
            recording.record_case(
                0,
                [],
                &[],
                Some(failure.to_case_failure(ErrorArea::Icmp)),
            )?;
            recording.finish(false)?;
            return Err(failure);
        }
    };
    let (tally, outcome, send_error) = exchange_echoes(typed, &test, &pinger, cancel, terminal);
    let send_error = send_error.map(|error| {
        CommandFailure::measurement(format!("cannot send to {}", typed.host)).with_cause(&error)
    });
    let failure = match &send_error {
        Some(failure) => Some(failure.to_case_failure(ErrorArea::Icmp)),
        None => tally.times_ns.is_empty().then_some(FailureReason::NoEcho),
    };
    recording.record_case(0, tally.entries(pinger.access()), &[], failure)?;
    recording.store_outcome(&outcome)?;
    let run = recording.finish(cancel.load(Ordering::Relaxed))?;
    let result = print_summary(&outcome, &run, terminal);
    send_error.map_or(result, Err)
}

/// Opens the socket with the requested options.
fn open_pinger(typed: &PingArguments) -> Result<Pinger, CommandFailure> {
    let remote = resolve_address(typed)?;
    let ping_error = |error: std::io::Error| {
        CommandFailure::measurement(format!("cannot ping {}", typed.host)).with_cause(&error)
    };
    let pinger = Pinger::open(remote).map_err(|error| {
        let advice = match error.kind() {
            std::io::ErrorKind::PermissionDenied => {
                "`sysctl net.ipv4.ping_group_range=\"0 2147483647\"` permits all users to ping; or run as root"
            }
            _ => "check the addresses and routes of this host: `ip address`, `ip route`",
        };
        ping_error(error).advise(advice)
    })?;
    if typed.cutting == "do" {
        pinger.never_fragment().map_err(ping_error)?;
    }
    typed.hops.map_or(Ok(()), |hops| pinger.limit_hops(hops)).map_err(ping_error)?;
    Ok(pinger)
}

/// Sends all requests and prints each reply as ping does. Returns also the error that ended the
/// sending.
fn exchange_echoes(
    typed: &PingArguments,
    test: &EchoTest,
    pinger: &Pinger,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> (EchoTally, PingOutcome, Option<std::io::Error>) {
    let style = match (typed.json, typed.quiet) {
        (true, _) => PingStyle::Json,
        (false, true) => PingStyle::Quiet,
        (false, false) => PingStyle::Text,
    };
    let packet_bytes = u64::from(typed.size) + pinger.header_bytes() as u64;
    let (host, address) = (typed.host.clone(), pinger.remote());
    let start = PingStart { host, address, bytes: typed.size, packet_bytes };
    if style != PingStyle::Json {
        terminal.print(&start.format());
    }
    let mut events = Vec::new();
    let (tally, refused) = echoes::send_echoes(test, pinger, cancel, &mut |event| {
        let event = describe_event(&event, pinger);
        if style == PingStyle::Text {
            terminal.print(&event.format(&typed.host));
        }
        events.push(event);
    });
    let elapsed_ms = tally.elapsed.as_millis() as u64;
    let outcome = PingOutcome { style, start, events, sent: tally.sent, elapsed_ms };
    (tally, outcome, refused)
}

fn describe_event(event: &EchoEvent<'_>, pinger: &Pinger) -> PingEvent {
    match event {
        EchoEvent::Reply(sequence, reply) => PingEvent::Reply {
            sequence: *sequence,
            bytes: reply.bytes as u64,
            time_to_live: reply.time_to_live,
            round_trip_ns: reply.round_trip_ns,
        },
        EchoEvent::TooLong => PingEvent::TooLong { mtu_bytes: pinger.kernel_mtu_bytes().ok() },
    }
}

fn resolve_address(typed: &PingArguments) -> Result<SocketAddr, CommandFailure> {
    let family = match (typed.ipv4, typed.ipv6) {
        (true, _) => AddressFamily::V4,
        (_, true) => AddressFamily::V6,
        _ => AddressFamily::Any,
    };
    let target = NetworkTarget { family, ..NetworkTarget::new(&typed.host, 0) };
    let addresses = target.addresses().map_err(|error| network_failure(&error))?;
    Ok(addresses[0])
}

fn print_summary(
    outcome: &PingOutcome,
    run: &Run,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    match outcome.style {
        PingStyle::Json => terminal.print(&render::json::summary(&summarize(run))),
        PingStyle::Text | PingStyle::Quiet => terminal.print(&outcome.format_statistics()),
    }
    if outcome.round_trips_ns().is_empty() {
        let what = format!("{} answered none of {} requests", outcome.start.host, outcome.sent);
        return Err(CommandFailure::measurement(what)
            .advise("try `assay net latency`: the host may be down, or it or a firewall may ignore ICMP"));
    }
    Ok(0)
}

/// Renders a stored run as ping's output.
///
/// # Errors
/// The outcome cannot be read.
pub fn render_stored(run: &Run, store: &Store) -> Result<String, CommandFailure> {
    let outcome: PingOutcome = stored_outcome::read(run, store)?;
    Ok(match outcome.style {
        PingStyle::Json => render::json::summary(&summarize(run)),
        PingStyle::Text | PingStyle::Quiet => outcome.format(),
    })
}
