//! Streams for a while, again and again: what arrives, and what it costs both ends.

use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_dialects::iperf3::{End, Interval, Start, Stretch, json};
use assay_dialects::wire::iperf3::parameters::{Direction as Way, Length};
use assay_dialects::wire::iperf3::{Parameters, Protocol};
use assay_kernels::network::stream::GATHERED_BYTES;
use assay_model::cpu_account::CpuAccount;
use assay_model::event::{Parameter, Stopped};
use assay_model::warning::Warning;
use assay_model::workload::{Direction, Throughput};

use super::far_end::FarEnd;
use super::{failed, learn_path, virtual_function};
use crate::measuring::{self, Measurement};
use crate::network::error::NetworkError;
use crate::network::iperf3_client::{
    self, DATAGRAM_OF_ONE_SEGMENT, Iperf3Test, Observed, Outcome,
};
use crate::network::setup::is_within;
use crate::recorder::{CaseError, Recorder};

/// Bytes per write over TCP by a stream that has a CPU to itself. A write that fills the send buffer wakes
/// the sender less often and starts the kernel's pacing timer for fewer segments: over loopback one
/// stream with bbr carried 30, 37 and 43 Gbit/s with 256 KiB, 512 KiB and this much (Zen 4, Linux 6.18).
/// iperf3 refuses more.
const BLOCK_BYTES: u32 = 1024 * 1024;
/// The same by streams that share CPUs: their blocks stay in the second-level cache together, and one
/// waits while others run. Six streams on two CPUs carried 62, 53 and 51 Gbit/s with these three sizes.
const SHARED_BLOCK_BYTES: u32 = 256 * 1024;
/// The same at a given rate, as iperf3: what is sent is then within 1 % after a second of 100 Mbit/s.
const PACED_BLOCK_BYTES: u32 = 128 * 1024;
/// Seconds between two looks at the connections, kept with the run.
const INTERVAL_S: f64 = 0.5;
/// How long nothing may move.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// What is known before the first repetition and after each.
#[derive(Default)]
struct Progress {
    repetition: u32,
    learned: bool,
}

/// Everything one repetition gave.
struct Repetition {
    outcome: Outcome,
    start: Option<Start>,
    intervals: Vec<Interval>,
}

pub(super) fn measure(
    asked: &Throughput,
    far_end: &FarEnd,
    protocol: Protocol,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Stopped, CaseError> {
    let test = test(asked, far_end, protocol);
    let mut progress = Progress::default();
    let mut measurement = Measurement {
        // Every repetition makes its connections anew; there is nothing to prepare.
        prepare: &mut |_: &mut Recorder<'_, '_>| Ok(()),
        repetition: &mut |(), recorder: &mut Recorder<'_, '_>| {
            repetition(&test, asked, &mut progress, recorder)
        },
        check: &mut |(), _| Ok(()),
    };
    measuring::repeat(&mut measurement, recorder)
}

/// The test that loads the link, for as long as `seconds` unless it is cancelled.
pub(super) fn loading(streams: u32, seconds: u32, far_end: &FarEnd) -> Iperf3Test {
    let asked = Throughput {
        streams,
        direction: Direction::Send,
        seconds,
        copy: true,
        rate_bit_per_s: None,
        congestion: None,
    };
    Iperf3Test { interval_s: None, ..test(&asked, far_end, Protocol::Tcp) }
}

fn test(asked: &Throughput, far_end: &FarEnd, protocol: Protocol) -> Iperf3Test {
    let parameters = Parameters {
        protocol,
        direction: match asked.direction {
            Direction::Send => Way::Forward,
            Direction::Receive => Way::Reverse,
            Direction::Both => Way::Both,
        },
        length: Length::Seconds(asked.seconds),
        streams: asked.streams,
        block_bytes: match protocol {
            Protocol::Tcp => block_bytes(asked),
            Protocol::Udp => DATAGRAM_OF_ONE_SEGMENT,
        },
        rate_bit_per_s: asked.rate_bit_per_s,
        congestion: asked.congestion.clone(),
        zero_copy: !asked.copy,
        skip_receive_copy: !asked.copy,
        wide_counters: true,
        assay: Some(env!("CARGO_PKG_VERSION").to_owned()),
        ..Parameters::default()
    };
    Iperf3Test {
        target: far_end.for_streams(),
        parameters,
        interval_s: Some(INTERVAL_S),
        pinned: false,
        idle_timeout: IDLE_TIMEOUT,
    }
}

/// A rate is kept to the block, so small ones keep it better.
fn block_bytes(asked: &Throughput) -> u32 {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    match asked.rate_bit_per_s {
        Some(_) => PACED_BLOCK_BYTES,
        None if asked.streams as usize > cpus => SHARED_BLOCK_BYTES,
        None => BLOCK_BYTES,
    }
}

fn repetition(
    test: &Iperf3Test,
    asked: &Throughput,
    progress: &mut Progress,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let before = virtual_function::Carried::by_all();
    let mut told = Told::default();
    let outcome = run(test, recorder.cancel(), &mut told);
    keep(&told, &outcome, progress, recorder)?;
    let outcome = outcome.map_err(failed)?;
    let done = Repetition { outcome, start: told.start, intervals: told.intervals };
    let end = &done.outcome.end;
    let (sent, received) = (total(end, End::sent), total(end, End::received));
    recorder.sample("goodput", None, received.bit_per_s());
    recorder.sample("send_rate", None, sent.bit_per_s());
    match test.parameters.protocol {
        Protocol::Tcp => {
            if let Some(tcp) = sent.tcp {
                recorder.sample("retransmits", None, tcp.retransmits as f64);
            }
        }
        Protocol::Udp => {
            datagrams(&received, recorder);
            pacing(&sent, asked, recorder);
        }
    }
    let local = local_address(&done).unwrap_or(done.outcome.address.ip());
    costs(&done.outcome, &received, local, recorder);
    if !std::mem::replace(&mut progress.learned, true) {
        learn(&done, asked, local, recorder);
        before.learn(local, recorder);
    }
    Ok(())
}

/// What was told until the test ended, or failed.
#[derive(Default)]
struct Told {
    start: Option<Start>,
    intervals: Vec<Interval>,
}

fn run(
    test: &Iperf3Test,
    cancel: &AtomicBool,
    told: &mut Told,
) -> Result<Outcome, NetworkError> {
    iperf3_client::run(test, cancel, &mut |observed| match observed {
        Observed::Start(it) => told.start = Some(it.clone()),
        Observed::Interval(it) => told.intervals.push(it.clone()),
    })
}

/// Keeps everything with the run; what a failed test brought until then stays, with the reason.
fn keep(
    told: &Told,
    outcome: &Result<Outcome, NetworkError>,
    progress: &mut Progress,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let (end, error) = match outcome {
        Ok(outcome) => (Some(&outcome.end), None),
        Err(error) => (None, Some(error.to_string())),
    };
    if end.is_none() && told.intervals.is_empty() {
        return Ok(());
    }
    let document = json::document(told.start.as_ref(), &told.intervals, end, error.as_deref());
    let kind = if error.is_some() { "partial." } else { "" };
    let name = format!("iperf3.{}.{kind}json", progress.repetition);
    progress.repetition += 1;
    recorder.raw(&name, document.to_string().as_bytes())
}

/// Both directions together.
fn total(end: &End, of: fn(&End, bool) -> Option<Stretch>) -> Stretch {
    let directions: Vec<Stretch> = [true, false].iter().filter_map(|it| of(end, *it)).collect();
    Stretch::sum(directions.iter()).unwrap_or_default()
}

fn datagrams(received: &Stretch, recorder: &mut Recorder<'_, '_>) {
    let udp = received.udp.unwrap_or_default();
    if udp.packets > 0 {
        recorder.sample("loss", None, udp.lost as f64 / udp.packets as f64);
        recorder.sample("reordered", None, udp.out_of_order as f64 / udp.packets as f64);
    }
    recorder.sample("jitter", None, udp.jitter_s);
}

/// How near the senders came to the rate they were asked for.
fn pacing(sent: &Stretch, asked: &Throughput, recorder: &mut Recorder<'_, '_>) {
    let Some(rate) = asked.rate_bit_per_s else { return };
    let senders =
        u64::from(asked.streams) * if asked.direction == Direction::Both { 2 } else { 1 };
    let wanted = (rate * senders) as f64;
    recorder.sample("pacing_error", None, (sent.bit_per_s() / wanted - 1.0).abs());
}

/// CPU of both ends, as far as they tell it.
fn costs(
    outcome: &Outcome,
    received: &Stretch,
    local: IpAddr,
    recorder: &mut Recorder<'_, '_>,
) {
    let bytes = received.bytes.max(1) as f64;
    let (here, there) = (&outcome.account_here, outcome.account_there.as_ref());
    recorder.sample("cpu_per_byte", Some("local"), here.charged_s() / bytes);
    recorder.sample("cpu_load", Some("local"), here.load());
    // On one machine the interrupts of both ends are the same ones, and are charged once.
    let within = is_within(local, outcome.address.ip());
    let charged: fn(&CpuAccount) -> f64 =
        if within { |it| it.threads_s } else { CpuAccount::charged_s };
    if let Some(there) = there {
        recorder.sample("cpu_per_byte", Some("remote"), charged(there) / bytes);
        recorder.sample("cpu_load", Some("remote"), there.load());
    } else if outcome.end.cpu_there.0 > 0.0 {
        let process_s = outcome.end.cpu_there.0 / 100.0 * received.seconds();
        recorder.sample("cpu_per_byte", Some("remote"), process_s / bytes);
    }
}

fn local_address(done: &Repetition) -> Option<IpAddr> {
    Some(done.start.as_ref()?.connected.first()?.local.ip())
}

fn learn(
    done: &Repetition,
    asked: &Throughput,
    local: IpAddr,
    recorder: &mut Recorder<'_, '_>,
) {
    learn_path(local, done.outcome.address.ip(), recorder);
    let text = |text: &str| Parameter::Text(text.to_owned());
    let is_assay = done.outcome.account_there.is_some();
    recorder.learn(None, "far_end", text(if is_assay { "assay" } else { "iperf3" }));
    if let (Some(sender), _) = &done.outcome.end.congestion {
        recorder.learn(None, "congestion", text(sender));
    }
    let tcp = done.intervals.iter().flat_map(|it| &it.streams).find_map(|stream| stream.tcp);
    if let Some(path_mtu) = tcp.map(|tcp| tcp.path_mtu_bytes).filter(|bytes| *bytes > 0) {
        recorder.learn(None, "path_mtu_bytes", Parameter::Integer(path_mtu.into()));
    }
    if let Some(start) = &done.start {
        let bytes = |bytes: u32| Parameter::Integer(bytes.into());
        recorder.learn(None, "block_bytes", bytes(start.block_bytes));
        // As the system made them; what nobody sets it lets grow with the connection.
        recorder.learn(None, "first_send_buffer_bytes", bytes(start.buffers_bytes.0));
        recorder.learn(None, "first_receive_buffer_bytes", bytes(start.buffers_bytes.1));
        let receives_here = asked.direction != Direction::Send;
        if !start.udp && (is_assay || receives_here) {
            recorder.learn(None, "gathered_bytes", bytes(GATHERED_BYTES));
        }
    }
    if !is_assay {
        recorder.doubt(Warning::new(
            "process-cpu-only",
            "the far end is iperf3, which tells the CPU time of its process alone: the softirqs \
             that receive are not in it",
            "run `assay iperf3 -s` at the far end to get the whole account",
        ));
    }
    if !asked.copy && !is_assay {
        recorder.doubt(Warning::new(
            "copy-unknown",
            "a far end that is iperf3 below 3.19 copies what it receives, whatever it is asked",
            "run `assay iperf3 -s` at the far end",
        ));
    }
}
