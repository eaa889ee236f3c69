//! `assay ping`: ICMP echo with ping's options and output, plus percentiles.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_kernels::network::icmp::{EchoReply, PAYLOAD_LIMIT_BYTES, Pinger};
use assay_model::event::RequestedCommand;
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::run::Run;
use assay_report::render;
use assay_stats::summarize::summarize;

use super::iperf3::network_failure;
use crate::options::network::PingArguments;
use crate::store_access;
use crate::terminal::Terminal;
use assay_console::progress_listener::EmulationListener;
use assay_run::failure::CommandFailure;
use assay_run::network::echoes::{self, EchoEvent, EchoTally, EchoTest};
use assay_run::network::target::{AddressFamily, NetworkTarget};
use assay_run::recording::Recording;
use assay_run::round_trips::RoundTripTimes as RoundTrips;

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
    let (tally, send_error) = exchange_echoes(typed, &test, &pinger, cancel, terminal);
    let send_error = send_error.map(|error| {
        CommandFailure::measurement(format!("cannot send to {}", typed.host)).with_cause(&error)
    });
    let failure = match &send_error {
        Some(failure) => Some(failure.to_case_failure(ErrorArea::Icmp)),
        None => tally.times_ns.is_empty().then_some(FailureReason::NoEcho),
    };
    recording.record_case(0, tally.entries(pinger.access()), &[], failure)?;
    let run = recording.finish(cancel.load(Ordering::Relaxed))?;
    let result = print_summary(typed, &tally, &run, terminal);
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

/// Sends all requests and prints each reply as ping does. Returns the error that ended the sending.
fn exchange_echoes(
    typed: &PingArguments,
    test: &EchoTest,
    pinger: &Pinger,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> (EchoTally, Option<std::io::Error>) {
    if !typed.json {
        let (host, remote, bytes) = (&typed.host, pinger.remote(), typed.size);
        let packet_bytes = bytes as usize + pinger.header_bytes();
        terminal
            .print(&format!("PING {host} ({remote}) {bytes}({packet_bytes}) bytes of data.\n"));
    }
    let is_quiet = typed.quiet || typed.json;
    echoes::send_echoes(test, pinger, cancel, &mut |event| match event {
        _ if is_quiet => {}
        EchoEvent::Reply(sequence, reply) => {
            terminal.print(&format_reply(typed, sequence, reply));
        }
        EchoEvent::TooLong => terminal.print(&format_too_long(pinger)),
    })
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

/// Formats ping's message about a request above the path MTU, which scripts search for; empty if the
/// MTU is unknown.
fn format_too_long(pinger: &Pinger) -> String {
    let mtu_bytes = pinger.kernel_mtu_bytes();
    mtu_bytes.map_or(String::new(), |mtu| {
        format!("ping: local error: message too long, mtu={mtu}\n")
    })
}

/// Formats a reply, such as `64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.042 ms`.
fn format_reply(typed: &PingArguments, sequence: u16, reply: &EchoReply) -> String {
    let time_to_live = reply.time_to_live.map_or(String::new(), |hops| format!(" ttl={hops}"));
    let millis = reply.round_trip_ns as f64 / 1e6;
    format!(
        "{} bytes from {}: icmp_seq={sequence}{time_to_live} time={} ms\n",
        reply.bytes,
        typed.host,
        format_millis(millis)
    )
}

/// Formats milliseconds as ping does: 0.042, 1.23, 12.3 and 123.
fn format_millis(millis: f64) -> String {
    let digits = match millis {
        millis if millis < 1.0 => 3,
        millis if millis < 10.0 => 2,
        millis if millis < 100.0 => 1,
        _ => 0,
    };
    format!("{millis:.digits$}")
}

fn print_summary(
    typed: &PingArguments,
    tally: &EchoTally,
    run: &Run,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.json {
        terminal.print(&render::json::summary(&summarize(run)));
    } else {
        terminal.print(&format_statistics(&typed.host, tally));
    }
    if tally.times_ns.is_empty() {
        let what = format!("{} answered none of {} requests", typed.host, tally.sent);
        return Err(CommandFailure::measurement(what)
            .advise("try `assay net latency`: the host may be down, or it or a firewall may ignore ICMP"));
    }
    Ok(0)
}

/// Renders the statistics of a stored run.
pub fn render_stored(run: &Run, command: &RequestedCommand) -> Result<String, CommandFailure> {
    let no_echoes =
        || CommandFailure::measurement(format!("{} contains no echoes", run.started.run));
    let record = run.cases.first().ok_or_else(no_echoes)?;
    let tally = EchoTally::from_record(record).ok_or_else(no_echoes)?;
    let host = record.case.workload.as_network().and_then(|it| it.to.clone());
    Ok(format_statistics(&host.unwrap_or_else(|| command.words.join(" ")), &tally))
}

fn format_statistics(host: &str, tally: &EchoTally) -> String {
    let (times, loss) = (RoundTrips::new(&tally.times_ns), tally.loss());
    let received = tally.times_ns.len();
    let mut text = format!(
        "\n--- {} ping statistics ---\n{} packets transmitted, {received} received, {}% packet loss, time {}ms\n",
        host,
        tally.sent,
        loss * 100.0,
        tally.elapsed.as_millis()
    );
    if received > 0 {
        let millis = |ns: f64| format!("{:.3}", ns / 1e6);
        let mean_ns = times.mean_ns();
        // ping's mdev is the population's standard deviation, √(Σ(x − mean)²/n).
        let squares: f64 = tally.times_ns.iter().map(|ns| (*ns as f64 - mean_ns).powi(2)).sum();
        let deviation_ns = (squares / received as f64).sqrt();
        let _ = writeln!(
            text,
            "rtt min/avg/max/mdev = {}/{}/{}/{} ms",
            millis(times.minimum_ns() as f64),
            millis(mean_ns),
            millis(times.maximum_ns() as f64),
            millis(deviation_ns)
        );
        let percentiles: Vec<String> = times
            .percentiles_ns()
            .into_iter()
            .map(|(name, ns)| format!("{name} {}", millis(ns as f64)))
            .collect();
        let _ = writeln!(text, "rtt {} ms, full round trip", percentiles.join(", "));
    }
    text
}
