//! Throughput test: goodput of parallel streams, and CPU cost at both ends.

use std::time::Duration;

use assay_dialects::iperf3::{Iperf3Interval, Iperf3Report, StreamInterval};
use assay_dialects::wire::iperf3::parameters::{DataDirection, TestLimit};
use assay_dialects::wire::iperf3::{Iperf3Parameters, TransportProtocol};
use assay_fleet::root::Root;
use assay_fleet::state;
use assay_model::cpu_account::CpuAccount;
use assay_model::entry::MeasuredSpan;
use assay_model::quantity::{Quantity, Unit};
use assay_model::workload::{NetworkThroughput, TransferDirection};

use super::far_end::NetworkFarEnd;
use super::virtual_function;
use crate::measurement_loop::{self, Measurement, Turns};
use crate::network::error::NetworkError;
use crate::network::iperf3_client::{
    self, DATAGRAM_OF_ONE_SEGMENT, Iperf3ClientTest, Iperf3Event, Iperf3Outcome,
};
use crate::network::iperf3_record::CompletedIperf3Test;
use crate::network::transfer_route::TransferRoute;
use crate::recorder::{CaseError, Recorder};

/// Bytes per write over TCP by a stream that has a CPU to itself. A write that fills the send
/// buffer wakes the sender less often and starts the kernel's pacing timer for fewer segments: over
/// loopback one stream with bbr carried 30, 37 and 43 Gbit/s with 256 KiB, 512 KiB and 1 MiB (Zen
/// 4, Linux 6.18). iperf3 rejects larger values.
const BLOCK_BYTES: u32 = 1024 * 1024;
/// Bytes per write by streams that share CPUs: their blocks fit together into the second-level
/// cache, and a stream waits while others run. Six streams on two CPUs carried 62, 53 and 51
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
    stored_documents: u32,
    has_facts: bool,
}

/// Returns the turns of a throughput case; each turn is a preparation with all its repetitions.
pub(super) fn turns(
    workload: &NetworkThroughput,
    mut far_end: NetworkFarEnd,
    protocol: TransportProtocol,
) -> Turns<'_> {
    let test = iperf3_test(workload, &far_end, protocol);
    let mut progress = ThroughputProgress::default();
    Box::new(move |recorder| {
        let mut measurement = Measurement {
            // Every repetition opens new connections; there is nothing to prepare.
            prepare: &mut |_: &mut Recorder<'_, '_>| Ok(()),
            repetition: &mut |(), recorder: &mut Recorder<'_, '_>| {
                measure_repetition((&test, &mut far_end), &mut progress, recorder)
            },
            check: &mut |(), _| Ok(()),
        };
        measurement_loop::run_preparation(&mut measurement, recorder)
    })
}

/// Returns a test that loads the link until it is cancelled, for at most `seconds`.
pub(super) fn load_test(
    streams: u32,
    seconds: u32,
    far_end: &NetworkFarEnd,
) -> Iperf3ClientTest {
    let workload = NetworkThroughput { streams, ..NetworkThroughput::sending(seconds) };
    Iperf3ClientTest {
        interval_s: None,
        ..iperf3_test(&workload, far_end, TransportProtocol::Tcp)
    }
}

fn iperf3_test(
    workload: &NetworkThroughput,
    far_end: &NetworkFarEnd,
    protocol: TransportProtocol,
) -> Iperf3ClientTest {
    let parameters = Iperf3Parameters {
        protocol,
        direction: match workload.direction {
            TransferDirection::Send => DataDirection::Forward,
            TransferDirection::Receive => DataDirection::Reverse,
            TransferDirection::Both => DataDirection::Both,
        },
        limit: TestLimit::Seconds(workload.seconds),
        streams: workload.streams,
        block_bytes: match protocol {
            TransportProtocol::Tcp => block_bytes(workload),
            TransportProtocol::Udp => DATAGRAM_OF_ONE_SEGMENT,
        },
        rate_bit_per_s: workload.rate_bit_per_s,
        congestion: workload.congestion.clone(),
        zero_copy: !workload.copy,
        skip_receive_copy: !workload.copy,
        segmentation: workload.segmentation,
        wide_counters: true,
        assay: Some(env!("CARGO_PKG_VERSION").to_owned()),
        ..Iperf3Parameters::default()
    };
    Iperf3ClientTest {
        target: far_end.throughput_target(),
        parameters,
        interval_s: Some(INTERVAL_S),
        pinned: false,
        idle_timeout: IDLE_TIMEOUT,
        credentials: None,
        file: None,
        serves_itself: far_end.is_own(),
    }
}

/// Selects the block size. Pacing works block by block: small blocks keep a rate more exactly.
fn block_bytes(workload: &NetworkThroughput) -> u32 {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    match workload.rate_bit_per_s {
        Some(_) => PACED_BLOCK_BYTES,
        None if workload.streams as usize > cpus => SHARED_BLOCK_BYTES,
        None => BLOCK_BYTES,
    }
}

fn measure_repetition(
    (test, far_end): (&Iperf3ClientTest, &mut NetworkFarEnd),
    progress: &mut ThroughputProgress,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    // Waits before connecting: a server waits only a few seconds for its streams, and the other
    // hosts may still measure another case.
    recorder.wait_for_start()?;
    let counters = virtual_function::FunctionCounters::read();
    let route = TransferRoute::towards(&test.target);
    recorder.begin_counting(&route.places());
    let mut report = Iperf3Report::default();
    let start_s = recorder.elapsed_s();
    let outcome = run_test(test, &mut report, recorder);
    let span = MeasuredSpan::from_seconds(start_s, recorder.elapsed_s() - start_s, false);
    store_document(&report, progress, recorder)?;
    let outcome = outcome.map_err(|error| far_end.find_cause(error))?;
    let test = CompletedIperf3Test {
        parameters: &test.parameters,
        outcome: &outcome,
        reported: &report,
    };
    match route.payload(&test) {
        Some(payload) => recorder.end_counting(payload),
        None => recorder.discard_counting(),
    }
    recorder.record_all(test.total_entries(span));
    if !std::mem::replace(&mut progress.has_facts, true) {
        recorder.record_all(test.facts());
        counters.record_change(test.local(), recorder);
    }
    Ok(())
}

/// Runs the test and collects all its reports until it ended or failed.
fn run_test(
    test: &Iperf3ClientTest,
    report: &mut Iperf3Report,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Iperf3Outcome, NetworkError> {
    let mut cpu_before = state::cpu_times(&Root::machine());
    let outcome = iperf3_client::run(test, recorder.cancel(), &mut |event| match event {
        // Aligns the starts: pairs that start early would get more of a shared link. The cause of a
        // failed wait also ends the test, so that the result can be ignored.
        Iperf3Event::Agreed => drop(recorder.wait_for_start()),
        Iperf3Event::Message(..) => {}
        Iperf3Event::Start(it) => report.start = Some(it.clone()),
        Iperf3Event::Interval(it) => {
            report.intervals.push(it.clone());
            // Reports each second; a second is a whole number of intervals.
            if report.intervals.len().is_multiple_of((1.0 / INTERVAL_S) as usize) {
                let now = state::cpu_times(&Root::machine());
                report_second(it, &cpu_before.account(&now, 1.0, 0.0), recorder);
                cpu_before = now;
            }
        }
    });
    match &outcome {
        Ok(outcome) => report.end = Some(outcome.end.clone()),
        Err(error) => report.error = Some(error.to_string()),
    }
    outcome
}

/// Reports the rate, round-trip time and CPU load of the last second as progress.
fn report_second(interval: &Iperf3Interval, cpu: &CpuAccount, recorder: &mut Recorder<'_, '_>) {
    let bit_per_s = interval.streams.iter().map(StreamInterval::bit_per_s).sum();
    let rate = Quantity::new(bit_per_s, Unit::BitPerSecond);
    let rtts_us = interval.streams.iter().filter_map(|it| Some(it.tcp?.rtt_us));
    let latency_s = rtts_us.max().map(|us| f64::from(us) / 1e6);
    recorder.report_second(1.0, &[rate], latency_s, Some(cpu.load()));
}

/// Stores the document of a test; a failed test keeps its partial document, with the reason.
fn store_document(
    report: &Iperf3Report,
    progress: &mut ThroughputProgress,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    if report.end.is_none() && report.intervals.is_empty() {
        return Ok(());
    }
    let kind = if report.error.is_some() { "partial." } else { "" };
    let name = format!("iperf3.{}.{kind}json", progress.stored_documents);
    progress.stored_documents += 1;
    recorder.store_raw(&name, report.to_json().to_string().as_bytes())
}
