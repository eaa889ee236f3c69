//! Throughput: goodput of parallel streams, and the CPU cost at both ends.

use std::time::Duration;

use assay_dialects::iperf3::{Iperf3Interval, Iperf3Report, StreamInterval};
use assay_dialects::wire::iperf3::parameters::{DataDirection as Way, TestLimit};
use assay_dialects::wire::iperf3::{Iperf3Parameters, TransportProtocol};
use assay_fleet::root::Root;
use assay_fleet::state;
use assay_model::cpu_account::CpuAccount;
use assay_model::entry::MeasuredSpan;
use assay_model::quantity::{Quantity, Unit};
use assay_model::workload::{NetworkThroughput, TransferDirection};

use super::far_end::NetworkFarEnd;
use super::{case_error, virtual_function};
use crate::measurement_loop::{self, Measurement, Turns};
use crate::network::error::NetworkError;
use crate::network::iperf3_client::{
    self, DATAGRAM_OF_ONE_SEGMENT, Iperf3ClientTest, Iperf3Event, Iperf3Outcome,
};
use crate::network::iperf3_record::CompletedIperf3Test;
use crate::recorder::{CaseError, Recorder};

/// Bytes per write over TCP by a stream that has a CPU to itself. A write that fills the send
/// buffer wakes the sender less often and starts the kernel's pacing timer for fewer segments: over
/// loopback one stream with bbr carried 30, 37 and 43 Gbit/s with 256 KiB, 512 KiB and 1 MiB (Zen
/// 4, Linux 6.18). iperf3 rejects larger values.
const BLOCK_BYTES: u32 = 1024 * 1024;
/// Bytes per write by streams that share CPUs: their blocks fit into the second-level cache
/// together, and one stream waits while others run. Six streams on two CPUs carried 62, 53 and 51
/// Gbit/s with the same three sizes.
const SHARED_BLOCK_BYTES: u32 = 256 * 1024;
/// Bytes per write at a given rate, as in iperf3: at 100 Mbit/s the rate is then within 1 % after
/// one second.
const PACED_BLOCK_BYTES: u32 = 128 * 1024;
/// Seconds between two interval reports of the connections, which are stored with the run.
const INTERVAL_S: f64 = 0.5;
/// Longest time without any progress.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// State across the repetitions of a case.
#[derive(Default)]
struct ThroughputProgress {
    repetition: u32,
    learned: bool,
}

pub(super) fn turns(
    asked: &NetworkThroughput,
    far_end: NetworkFarEnd,
    protocol: TransportProtocol,
) -> Turns<'_> {
    let test = iperf3_test(asked, &far_end, protocol);
    let mut progress = ThroughputProgress::default();
    Box::new(move |recorder| {
        // Keeps the far end alive until the last turn is over.
        let _: &NetworkFarEnd = &far_end;
        let mut measurement = Measurement {
            // Every repetition opens new connections; there is nothing to prepare.
            prepare: &mut |_: &mut Recorder<'_, '_>| Ok(()),
            repetition: &mut |(), recorder: &mut Recorder<'_, '_>| {
                repetition(&test, &mut progress, recorder)
            },
            check: &mut |(), _| Ok(()),
        };
        measurement_loop::run_preparation(&mut measurement, recorder)
    })
}

/// Test that loads the link for at most `seconds`, until it is cancelled.
pub(super) fn load_test(
    streams: u32,
    seconds: u32,
    far_end: &NetworkFarEnd,
) -> Iperf3ClientTest {
    let asked = NetworkThroughput {
        streams,
        direction: TransferDirection::Send,
        seconds,
        copy: true,
        rate_bit_per_s: None,
        congestion: None,
    };
    Iperf3ClientTest {
        interval_s: None,
        ..iperf3_test(&asked, far_end, TransportProtocol::Tcp)
    }
}

fn iperf3_test(
    asked: &NetworkThroughput,
    far_end: &NetworkFarEnd,
    protocol: TransportProtocol,
) -> Iperf3ClientTest {
    let parameters = Iperf3Parameters {
        protocol,
        direction: match asked.direction {
            TransferDirection::Send => Way::Forward,
            TransferDirection::Receive => Way::Reverse,
            TransferDirection::Both => Way::Both,
        },
        limit: TestLimit::Seconds(asked.seconds),
        streams: asked.streams,
        block_bytes: match protocol {
            TransportProtocol::Tcp => block_bytes(asked),
            TransportProtocol::Udp => DATAGRAM_OF_ONE_SEGMENT,
        },
        rate_bit_per_s: asked.rate_bit_per_s,
        congestion: asked.congestion.clone(),
        zero_copy: !asked.copy,
        skip_receive_copy: !asked.copy,
        wide_counters: true,
        assay: Some(env!("CARGO_PKG_VERSION").to_owned()),
        ..Iperf3Parameters::default()
    };
    Iperf3ClientTest {
        target: far_end.streams_target(),
        parameters,
        interval_s: Some(INTERVAL_S),
        pinned: false,
        idle_timeout: IDLE_TIMEOUT,
        credentials: None,
    }
}

/// Selects the block size; the rate is paced per block, so that small blocks keep it more exactly.
fn block_bytes(asked: &NetworkThroughput) -> u32 {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    match asked.rate_bit_per_s {
        Some(_) => PACED_BLOCK_BYTES,
        None if asked.streams as usize > cpus => SHARED_BLOCK_BYTES,
        None => BLOCK_BYTES,
    }
}

fn repetition(
    test: &Iperf3ClientTest,
    progress: &mut ThroughputProgress,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    // Aligns hosts that are in the same repetition. A server waits only a few seconds for its
    // streams, and another host may be in another case for longer.
    recorder.wait_for_start()?;
    let before = virtual_function::FunctionCounters::read();
    let mut reported = Iperf3Report::default();
    let began_s = recorder.elapsed_s();
    let outcome = run(test, &mut reported, recorder);
    let span = MeasuredSpan::from_seconds(began_s, recorder.elapsed_s() - began_s, false);
    store_document(&reported, progress, recorder)?;
    let outcome = outcome.map_err(case_error)?;
    let test = CompletedIperf3Test {
        parameters: &test.parameters,
        outcome: &outcome,
        reported: &reported,
    };
    recorder.record_all(test.total_entries(span));
    if !std::mem::replace(&mut progress.learned, true) {
        recorder.record_all(test.facts());
        before.record_change(test.local(), recorder);
    }
    Ok(())
}

/// Runs the test and collects all its reports until it ended or failed.
fn run(
    test: &Iperf3ClientTest,
    reported: &mut Iperf3Report,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Iperf3Outcome, NetworkError> {
    let mut busy = state::cpu_times(&Root::machine());
    let outcome = iperf3_client::run(test, recorder.cancel(), &mut |observed| match observed {
        // Aligns the starts: while one pair still connects, the others would get more of a shared
        // link. Any other end of the wait also ends the test.
        Iperf3Event::Agreed => drop(recorder.wait_for_start()),
        Iperf3Event::Start(it) => reported.start = Some(it.clone()),
        Iperf3Event::Interval(it) => {
            reported.intervals.push(it.clone());
            // Reports once per second; a second is a whole number of intervals.
            if reported.intervals.len().is_multiple_of((1.0 / INTERVAL_S) as usize) {
                let now = state::cpu_times(&Root::machine());
                report_second(it, &busy.account(&now, 1.0, 0.0), recorder);
                busy = now;
            }
        }
    });
    match &outcome {
        Ok(outcome) => reported.end = Some(outcome.end.clone()),
        Err(error) => reported.error = Some(error.to_string()),
    }
    outcome
}

/// Reports the rate, round-trip time and CPU load of the last second as progress.
fn report_second(interval: &Iperf3Interval, cpu: &CpuAccount, recorder: &mut Recorder<'_, '_>) {
    let per_s = interval.streams.iter().map(StreamInterval::bit_per_s).sum();
    let rate = Quantity::new(per_s, Unit::BitPerSecond);
    let trips = interval.streams.iter().filter_map(|it| Some(it.tcp?.rtt_us));
    let latency_s = trips.max().map(|us| f64::from(us) / 1e6);
    recorder.report_second(1.0, &[rate], latency_s, Some(cpu.load()));
}

/// Stores the document of a test; a failed test keeps its partial document, with the reason.
fn store_document(
    reported: &Iperf3Report,
    progress: &mut ThroughputProgress,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    if reported.end.is_none() && reported.intervals.is_empty() {
        return Ok(());
    }
    let kind = if reported.error.is_some() { "partial." } else { "" };
    let name = format!("iperf3.{}.{kind}json", progress.repetition);
    progress.repetition += 1;
    recorder.store_raw(&name, reported.to_json().to_string().as_bytes())
}
