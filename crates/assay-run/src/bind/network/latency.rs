//! Round trips: idle, under load, and as ICMP echoes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use assay_dialects::wire::iperf3::TransportProtocol;
use assay_dialects::wire::qperf::{QperfRequest, QperfTestKind};
use assay_kernels::network::icmp::{IcmpAccess, Pinger};
use assay_kernels::network::pingpong::WaitMode;
use assay_model::attribute::Attribute;
use assay_model::entry::MeasuredSpan;
use assay_model::event::EventCount;
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::workload::{NetworkLatency, NetworkTest, NetworkWorkload};

use super::far_end::NetworkFarEnd;
use super::{local_address_for, record_path, throughput};
use crate::cancellable_wait;
use crate::measurement_loop::{self, Measurement, Turns};
use crate::network::error::NetworkError;
use crate::network::iperf3_client::{self, Iperf3Event};
use crate::network::qperf_client::{self, QperfOutcome, QperfTest};
use crate::network::qperf_record;
use crate::network::target::NetworkTarget;
use crate::recorder::{CaseError, Recorder};

/// Time that streams need to fill the link before the first message is sent.
const FILL_TIME: Duration = Duration::from_millis(500);
/// Echoes per repetition, and the pause between two: ping's limit for a flood by unprivileged
/// users.
const ECHOES: u16 = 100;
const ECHO_PAUSE: Duration = Duration::from_millis(2);
const ECHO_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) fn turns(
    asked: &NetworkLatency,
    far_end: NetworkFarEnd,
    targets: Vec<NetworkTarget>,
    protocol: TransportProtocol,
) -> Turns<'_> {
    let mut conversation = PingPongCase { asked, far_end, targets, protocol, repetition: 0 };
    // Every repetition opens a new connection: path and queue assignment are shared within one
    // connection.
    Box::new(move |recorder| {
        measurement_loop::run_once(&mut |recorder| conversation.repetition(recorder), recorder)
    })
}

struct PingPongCase<'a> {
    asked: &'a NetworkLatency,
    far_end: NetworkFarEnd,
    protocol: TransportProtocol,
    /// Candidate servers in order of preference; only the one that has answered, once one has.
    targets: Vec<NetworkTarget>,
    repetition: u32,
}

impl PingPongCase<'_> {
    fn repetition(&mut self, recorder: &mut Recorder<'_, '_>) -> Result<(), CaseError> {
        let began_s = recorder.elapsed_s();
        let measured = match self.asked.load_streams {
            0 => self.exchange(recorder.cancel()),
            streams => self.exchange_under_load(streams, recorder.cancel()),
        };
        let latency = measured.map_err(|error| self.far_end.find_cause(error))?;
        let span = MeasuredSpan::from_seconds(began_s, recorder.elapsed_s() - began_s, false);
        recorder.record_all(qperf_record::round_trip_entries(
            &latency,
            self.asked.rate_per_s,
            span,
        ));
        let length_s = f64::from(self.asked.seconds);
        recorder.report_second(length_s, &[], Some(2.0 * latency.mean_half_s), None);
        if self.repetition == 0 {
            record_path(local_address_for(latency.address), latency.address.ip(), recorder);
        }
        self.repetition += 1;
        Ok(())
    }

    /// Runs one ping-pong with the first server that supports it.
    fn exchange(
        &mut self,
        cancel: &AtomicBool,
    ) -> Result<qperf_client::QperfLatency, NetworkError> {
        let mut last = NetworkError::Known(FailureReason::NoData);
        for target in self.targets.clone() {
            match qperf_client::run(&self.qperf_test(&target), cancel) {
                Ok(QperfOutcome::Latency(latency)) => {
                    self.targets = vec![target];
                    return Ok(*latency);
                }
                Ok(_) => return Err(NetworkError::Known(FailureReason::NoData)),
                // Only a port without a server is a reason to try the next target.
                Err(error @ NetworkError::Known(FailureReason::NotConnected { .. })) => {
                    last = error;
                }
                // iperf3 closes connections that do not begin with its cookie.
                Err(NetworkError::Broken { .. } | NetworkError::Closed { .. })
                    if self.far_end.may_be_iperf3(&target) && self.repetition == 0 =>
                {
                    return Err(NetworkError::Known(FailureReason::NoPingPong {
                        host: target.host,
                    }));
                }
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    fn qperf_test(&self, target: &NetworkTarget) -> QperfTest {
        let test = match self.protocol {
            TransportProtocol::Tcp => QperfTestKind::TcpLatency,
            TransportProtocol::Udp => QperfTestKind::UdpLatency,
        };
        let message_bytes = u32::try_from(self.asked.bytes).unwrap_or(u32::MAX);
        let request = QperfRequest {
            message_bytes,
            time_s: self.asked.seconds,
            ..QperfRequest::new(test)
        };
        QperfTest {
            target: target.clone(),
            timeout: Duration::from_secs(u64::from(request.timeout_s)),
            request,
            waiting: if self.asked.spin { WaitMode::Spin } else { WaitMode::Sleep },
            rate_per_s: self.asked.rate_per_s,
            busy_poll_us: self.asked.busy_poll_us,
            local_buffer_bytes: None,
            wait_for_server: Duration::ZERO,
        }
    }

    /// Runs the ping-pong while streams fill the link; stops the streams afterwards.
    fn exchange_under_load(
        &mut self,
        streams: u32,
        cancel: &AtomicBool,
    ) -> Result<qperf_client::QperfLatency, NetworkError> {
        /// Seconds that the streams may outlast the ping-pong: the sum of its timeouts.
        const MARGIN_S: u32 = 30;
        let test = throughput::load_test(streams, self.asked.seconds + MARGIN_S, &self.far_end);
        let enough = AtomicBool::new(false);
        let (started, is_started) = mpsc::channel();
        std::thread::scope(|scope| {
            let load = || {
                iperf3_client::run(&test, &enough, &mut |observed| {
                    if matches!(observed, Iperf3Event::Start(_)) {
                        // The receiver is gone if the ping-pong has failed.
                        let _ = started.send(());
                    }
                })
            };
            let loading = std::thread::Builder::new()
                .spawn_scoped(scope, load)
                .map_err(|source| NetworkError::NoThread { source })?;
            // A load that cannot start is reported below as a failure of its own.
            wait_for_load(&is_started, cancel);
            let is_running = !loading.is_finished();
            let measured = self.exchange(cancel);
            let was_running = !loading.is_finished();
            enough.store(true, Ordering::Relaxed);
            match loading.join() {
                Ok(Err(NetworkError::Interrupted)) if is_running && was_running => measured,
                Ok(Err(error)) => Err(error),
                Ok(Ok(_)) | Err(_) => Err(NetworkError::Known(FailureReason::NoData)),
            }
        })
    }
}

/// Waits until streams have started and filled the link, have failed to start, or the run is
/// cancelled.
fn wait_for_load(started: &mpsc::Receiver<()>, cancel: &AtomicBool) {
    const LONGEST: Duration = Duration::from_secs(10);
    const GLANCE: Duration = Duration::from_millis(50);
    let began = Instant::now();
    while !cancel.load(Ordering::Relaxed) && began.elapsed() < LONGEST {
        match started.recv_timeout(GLANCE) {
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    cancellable_wait::wait(FILL_TIME, cancel);
}

/// Returns turns of ICMP echoes to the other host of a pair, the workload's host, or loopback.
pub(super) fn icmp_turns(
    work: &NetworkWorkload,
    peer: Option<String>,
) -> Result<Turns<'_>, CaseError> {
    let NetworkTest::Latency(asked) = &work.test else {
        return Err(FailureReason::IcmpHasNoStreams.into());
    };
    let host = peer.or_else(|| work.to.clone()).unwrap_or_else(|| "127.0.0.1".to_owned());
    let address = NetworkTarget::new(&host, 0).addresses()?[0];
    let pinger = Pinger::open(address)
        .map_err(|error| CaseError::from_error(ErrorArea::Icmp, &error))?;
    let socket = match pinger.access() {
        IcmpAccess::Datagram => "datagram",
        IcmpAccess::Raw => "raw",
    };
    let bytes = asked.bytes as usize;
    let mut is_first = true;
    Ok(Box::new(move |recorder| {
        if std::mem::take(&mut is_first) {
            let mut towards = address;
            towards.set_port(9);
            record_path(local_address_for(towards), address.ip(), recorder);
            recorder.add_fact(Attribute::Socket, socket);
        }
        let mut measurement = Measurement {
            prepare: &mut |_: &mut Recorder<'_, '_>| Ok(()),
            repetition: &mut |(), recorder: &mut Recorder<'_, '_>| {
                measure_echoes(&pinger, bytes, recorder)
            },
            check: &mut |(), _| Ok(()),
        };
        measurement_loop::run_preparation(&mut measurement, recorder)
    }))
}

fn measure_echoes(
    pinger: &Pinger,
    bytes: usize,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let began_s = recorder.elapsed_s();
    let mut lost = 0_u32;
    for sequence in 1..=ECHOES {
        if recorder.cancel().load(Ordering::Relaxed) {
            return Err(CaseError::Interrupted);
        }
        let reply = pinger.ping(sequence, bytes, ECHO_TIMEOUT).map_err(|error| {
            CaseError::with_advice(ErrorArea::Icmp, &error, "check the route to the host")
        })?;
        match reply {
            Some(reply) => {
                recorder.add_sample("round_trip", reply.round_trip_ns as f64 * 1e-9);
            }
            None => lost += 1,
        }
        // Gives up early on a host that ignores echoes.
        if lost >= 5 && u32::from(sequence) == lost {
            return Err(FailureReason::NoEcho.into());
        }
        std::thread::sleep(ECHO_PAUSE);
    }
    let span = MeasuredSpan::from_seconds(began_s, recorder.elapsed_s() - began_s, false);
    recorder.add_count("loss", span, EventCount { part: lost.into(), whole: ECHOES.into() });
    Ok(())
}
