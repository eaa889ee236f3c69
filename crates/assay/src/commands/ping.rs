//! `assay ping`: ICMP echo in ping's own shape, and the distribution that ping leaves out.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_kernels::network::icmp::{Access, PAYLOAD_LIMIT_BYTES, Pinger, Reply};
use assay_model::benchmark::Benchmark;
use assay_model::event::{Parameter, Parameters};
use assay_model::summary::Summary;
use assay_stats::analysis::analyse;
use assay_stats::summarize::estimate::{About, of_analysis};
use jiff::Timestamp;

use super::iperf3::failed;
use crate::arguments::network::PingArguments;
use crate::pipeline;
use crate::terminal::Terminal;
use assay_run::failure::Failure;
use assay_run::network::target::{Family, Target};
use assay_run::round_trips::Distribution;
use assay_run::unstored::{Unstored, this_program};

/// What came out of all requests.
struct Tally {
    started: Timestamp,
    sent: u64,
    times_ns: Vec<u64>,
    elapsed: Duration,
}

impl Tally {
    /// Share of the requests that nothing answered.
    fn loss(&self) -> f64 {
        (self.sent - self.times_ns.len() as u64) as f64 / self.sent.max(1) as f64
    }
}

/// How long things may take.
struct Times {
    interval: Duration,
    timeout: Duration,
    deadline: Option<Duration>,
}

pub(crate) fn ping(
    typed: &PingArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let wait = |what: &str, seconds: f64, least: f64| match Duration::try_from_secs_f64(seconds)
    {
        Ok(wait) if (least..=3600.0).contains(&seconds) => Ok(wait),
        _ => Err(Failure::usage(format!("{what} must lie between {least} and 3600 seconds"))),
    };
    let interval = wait("the interval", typed.interval, 0.0)?;
    let timeout = wait("the timeout", typed.timeout, 0.001)?;
    if typed.size as usize > PAYLOAD_LIMIT_BYTES {
        return Err(Failure::usage(format!("a size must be at most {PAYLOAD_LIMIT_BYTES}")));
    }
    let remote = address(typed)?;
    let pinger = Pinger::open(remote).map_err(|error| {
        Failure::measurement(format!("cannot ping {remote}")).because(&error).advise(
            "`sysctl net.ipv4.ping_group_range=\"0 2147483647\"` allows everybody to ping; or run as root",
        )
    })?;
    let prepared = || -> std::io::Result<()> {
        if typed.cutting == "do" {
            pinger.never_fragment()?;
        }
        typed.hops.map_or(Ok(()), |hops| pinger.limit_hops(hops))
    };
    prepared().map_err(|error| {
        Failure::measurement(format!("cannot ping {remote}")).because(&error)
    })?;
    let deadline =
        typed.deadline.map(|seconds| wait("the deadline", seconds, 0.001)).transpose()?;
    if !typed.json {
        let bytes = typed.size;
        let host = &typed.host;
        terminal
            .print(&format!("PING {host} ({remote}) {bytes}({}) bytes of data.\n", bytes + 28));
    }
    let tally =
        exchange(typed, &pinger, &Times { interval, timeout, deadline }, cancel, terminal)?;
    conclude(typed, remote, &pinger, &tally, terminal)
}

fn address(typed: &PingArguments) -> Result<IpAddr, Failure> {
    let family = match (typed.ipv4, typed.ipv6) {
        (true, _) => Family::V4,
        (_, true) => Family::V6,
        _ => Family::Any,
    };
    let target = Target { family, ..Target::new(&typed.host, 0) };
    let addresses = target.addresses().map_err(|error| failed(&error))?;
    Ok(addresses[0].ip())
}

fn exchange(
    typed: &PingArguments,
    pinger: &Pinger,
    times: &Times,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<Tally, Failure> {
    let start = Instant::now();
    let (started, times_ns) = (Timestamp::now(), Vec::new());
    let mut tally = Tally { started, sent: 0, times_ns, elapsed: Duration::ZERO };
    let end = times.deadline.map(|deadline| start + deadline);
    while tally.sent < u64::from(typed.count) && !cancel.load(Ordering::Relaxed) {
        let due = start + times.interval.mul_f64(tally.sent as f64);
        sleep_until(end.map_or(due, |end| due.min(end)), cancel);
        if end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        tally.sent += 1;
        // The number has 16 bits on the wire.
        let sequence = tally.sent as u16;
        let reply = match pinger.ping(sequence, typed.size as usize, times.timeout) {
            Err(error) if is_too_long(&error) => {
                too_long(typed, pinger, terminal);
                None
            }
            reply => reply.map_err(|error| {
                Failure::measurement(format!("cannot send to {}", typed.host)).because(&error)
            })?,
        };
        if let Some(reply) = reply {
            tally.times_ns.push(reply.round_trip_ns);
            if !typed.quiet && !typed.json {
                terminal.print(&line(typed, sequence, &reply));
            }
        }
    }
    tally.elapsed = start.elapsed();
    Ok(tally)
}

/// The system's word for a request that may not be cut and does not fit the path.
fn is_too_long(error: &std::io::Error) -> bool {
    const EMSGSIZE: i32 = 90;
    error.raw_os_error() == Some(EMSGSIZE)
}

/// In the words of ping, which scripts that look for the path MTU wait for.
fn too_long(typed: &PingArguments, pinger: &Pinger, terminal: &mut Terminal) {
    if let Ok(bytes) = pinger.believed_mtu_bytes()
        && !typed.quiet
        && !typed.json
    {
        terminal.print(&format!("ping: local error: message too long, mtu={bytes}\n"));
    }
}

fn sleep_until(due: Instant, cancel: &AtomicBool) {
    while !cancel.load(Ordering::Relaxed) {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
}

/// `64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.042 ms`
fn line(typed: &PingArguments, sequence: u16, reply: &Reply) -> String {
    let time_to_live = reply.time_to_live.map_or(String::new(), |hops| format!(" ttl={hops}"));
    let millis = reply.round_trip_ns as f64 / 1e6;
    format!(
        "{} bytes from {}: icmp_seq={sequence}{time_to_live} time={} ms\n",
        reply.bytes,
        typed.host,
        three_digits(millis)
    )
}

/// ping prints 0.042, 1.23, 12.3 and 123.
fn three_digits(millis: f64) -> String {
    let digits = match millis {
        millis if millis < 1.0 => 3,
        millis if millis < 10.0 => 2,
        millis if millis < 100.0 => 1,
        _ => 0,
    };
    format!("{millis:.digits$}")
}

fn conclude(
    typed: &PingArguments,
    remote: IpAddr,
    pinger: &Pinger,
    tally: &Tally,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let received = tally.times_ns.len();
    if typed.json {
        let document = document(typed, remote, pinger, tally);
        terminal.print(&pipeline::json(&document)?);
    } else {
        terminal.print(&summary(typed, tally));
    }
    if received == 0 {
        let what = format!("{} answered none of {} requests", typed.host, tally.sent);
        return Err(Failure::measurement(what)
            .advise("the host may be down, or it or a firewall may ignore ICMP: try `assay net latency`"));
    }
    Ok(0)
}

/// The document that every measuring command prints: all round trips, and the share that was lost.
fn document(typed: &PingArguments, remote: IpAddr, pinger: &Pinger, tally: &Tally) -> Summary {
    let socket = match pinger.access() {
        Access::Datagram => "datagram",
        Access::Raw => "raw",
    };
    let text = |text: &str| Parameter::Text(text.to_owned());
    let asked = Parameters::from([
        ("to".to_owned(), text(&typed.host)),
        ("address".to_owned(), text(&remote.to_string())),
        ("socket".to_owned(), text(socket)),
        ("bytes".to_owned(), Parameter::Integer(u64::from(typed.size))),
        ("sent".to_owned(), Parameter::Integer(tally.sent)),
        ("received".to_owned(), Parameter::Integer(tally.times_ns.len() as u64)),
    ]);
    let mut all = asked.clone();
    all.extend(Distribution::of(&tally.times_ns).parameters());
    let seconds = tally.times_ns.iter().map(|ns| *ns as f64 * 1e-9).collect();
    let series = [("round_trip", all, seconds), ("loss", asked, vec![tally.loss()])];
    let estimate = |host: &str, name: &str, parameters, samples: Vec<f64>| {
        let benchmark = Benchmark::NetworkIcmp;
        let metric = benchmark.metric(name)?;
        let about = About { benchmark, metric, parameters, warnings: Vec::new() };
        of_analysis(&analyse(&[samples])?, about, host, this_program())
    };
    let job = Unstored {
        suite: "ping".to_owned(),
        started: tally.started,
        complete: !tally.times_ns.is_empty(),
        warnings: Vec::new(),
    };
    job.summary(|host| {
        let each = series.into_iter();
        each.filter_map(|(name, told, samples)| estimate(host, name, told, samples)).collect()
    })
}

fn summary(typed: &PingArguments, tally: &Tally) -> String {
    let (all, loss) = (Distribution::of(&tally.times_ns), tally.loss());
    let received = tally.times_ns.len();
    let mut text = format!(
        "\n--- {} ping statistics ---\n{} packets transmitted, {received} received, {}% packet loss, time {}ms\n",
        typed.host,
        tally.sent,
        loss * 100.0,
        tally.elapsed.as_millis()
    );
    if received > 0 {
        let millis = |ns: f64| format!("{:.3}", ns / 1e6);
        let mean_ns = all.mean_ns();
        // ping's mdev is the population's standard deviation, √(Σ(x − mean)²/n).
        let squares: f64 = tally.times_ns.iter().map(|ns| (*ns as f64 - mean_ns).powi(2)).sum();
        let deviation_ns = (squares / received as f64).sqrt();
        let _ = writeln!(
            text,
            "rtt min/avg/max/mdev = {}/{}/{}/{} ms",
            millis(all.least_ns() as f64),
            millis(mean_ns),
            millis(all.greatest_ns() as f64),
            millis(deviation_ns)
        );
        let percentiles: Vec<String> = all
            .percentiles_ns()
            .into_iter()
            .map(|(name, ns)| format!("{name} {}", millis(ns as f64)))
            .collect();
        let _ = writeln!(text, "rtt {} ms, full round trip", percentiles.join(", "));
    }
    text
}
