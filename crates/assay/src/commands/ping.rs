//! `assay ping`: ICMP echo in ping's own shape, and the distribution that ping leaves out.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_kernels::network::icmp::{Access, PAYLOAD_LIMIT_BYTES, Pinger, Reply};
use assay_model::attribute::Attribute;
use assay_model::distribution::Distribution;
use assay_model::entry::{Entry, Key, Seen, Span};
use assay_model::event::{Asked, Count};
use assay_model::failure::Failure as CaseFailure;
use assay_model::plan::Plan;
use assay_model::run::{CaseRecord, Run};
use assay_model::workload::{Latency, NetworkQuestion, NetworkWorkload, Workload};
use assay_report::render;
use assay_stats::summarize::summarize;

use super::iperf3::failed;
use crate::arguments::given_words;
use crate::arguments::network::PingArguments;
use crate::listening::Silently;
use crate::stored;
use crate::terminal::Terminal;
use assay_run::failure::Failure;
use assay_run::network::target::{Family, Target};
use assay_run::round_trips::Distribution as RoundTrips;
use assay_run::session::{self, Opening, Session};

/// What came out of all requests.
struct Tally {
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
    conclude(typed, &pinger, &tally, terminal)
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
    let mut tally = Tally { sent: 0, times_ns: Vec::new(), elapsed: Duration::ZERO };
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
    pinger: &Pinger,
    tally: &Tally,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let received = tally.times_ns.len();
    let run = store(typed, pinger, tally, terminal)?;
    if typed.json {
        terminal.print(&render::json::summary(&summarize(&run)));
    } else {
        terminal.print(&summary(&typed.host, tally));
    }
    if received == 0 {
        let what = format!("{} answered none of {} requests", typed.host, tally.sent);
        return Err(Failure::measurement(what)
            .advise("the host may be down, or it or a firewall may ignore ICMP: try `assay net latency`"));
    }
    Ok(0)
}

/// The statistics of a stored run.
pub(crate) fn stored(run: &Run, asked: &Asked) -> Result<String, Failure> {
    let nothing = || Failure::measurement(format!("{} holds no echoes", run.started.run));
    let series = &run.cases.first().ok_or_else(nothing)?.series;
    let of = |metric: &str| series.iter().find(|it| it.metric == metric);
    let sent = of("loss").and_then(|it| it.counts.first()).ok_or_else(nothing)?;
    let times = of("round_trip").map_or(&[][..], |it| &it.samples);
    let tally = Tally {
        sent: sent.seen.whole,
        times_ns: times.iter().map(|it| (it.value * 1e9).round() as u64).collect(),
        elapsed: Duration::from_nanos(sent.to_ns - sent.from_ns),
    };
    let to = |case: &CaseRecord| case.case.workload.network().and_then(|it| it.to.clone());
    let host = run.cases.first().and_then(to);
    Ok(summary(&host.unwrap_or_else(|| asked.words.join(" ")), &tally))
}

/// Stores what was measured; the run comes back for whoever wants its document.
fn store(
    typed: &PingArguments,
    pinger: &Pinger,
    tally: &Tally,
    terminal: &mut Terminal,
) -> Result<Run, Failure> {
    let store = stored::kept(&typed.keep)?;
    let opening = Opening {
        plan: plan(typed),
        asked: Asked { language: "ping".to_owned(), words: given_words() },
        label: typed.keep.label.clone(),
        files: Vec::new(),
        store: store.as_ref(),
    };
    let mut quiet = Silently { terminal };
    let mut session = Session::begin(opening, &mut quiet)?;
    let failure = tally.times_ns.is_empty().then_some(CaseFailure::NoEcho);
    session.case(0, entries(pinger, tally), &[], failure)?;
    session.finish(false)
}

fn plan(typed: &PingArguments) -> Plan {
    let question = NetworkQuestion::Latency(Latency {
        bytes: typed.size.into(),
        seconds: (f64::from(typed.count) * typed.interval).ceil() as u32,
        spin: false,
        rate_per_s: (typed.interval > 0.0).then(|| 1.0 / typed.interval),
        load_streams: 0,
        busy_poll_us: None,
    });
    let workload = NetworkWorkload { to: Some(typed.host.clone()), port: None, question };
    session::plan("ping", vec![("ping".to_owned(), Workload::NetworkIcmp(workload))])
}

/// All round trips, the values that its interval comes from, and how many were lost of all.
fn entries(pinger: &Pinger, tally: &Tally) -> Vec<Entry> {
    let socket = match pinger.access() {
        Access::Datagram => "datagram",
        Access::Raw => "raw",
    };
    let span = Span::of_seconds(0.0, tally.elapsed.as_secs_f64(), false);
    let (all, received) = (&tally.times_ns, tally.times_ns.len() as u64);
    let lost = Count { part: tally.sent - received, whole: tally.sent };
    let samples = all.iter().map(|ns| Entry::sample("round_trip", *ns as f64 * 1e-9));
    let mut entries: Vec<Entry> = samples.collect();
    entries.push(Entry::Fact(Attribute::Socket, socket.into()));
    entries.push(Entry::Measured(Key::of("loss"), Seen::Count(span, lost)));
    if received > 0 {
        let distribution = Distribution::of_values(all);
        entries.push(Entry::Measured(
            Key::of("round_trip"),
            Seen::Distribution(span, distribution),
        ));
    }
    entries
}

fn summary(host: &str, tally: &Tally) -> String {
    let (all, loss) = (RoundTrips::of(&tally.times_ns), tally.loss());
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
