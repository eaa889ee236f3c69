//! Far end of an RDMA test, the one that does not lead: serves one test and ends.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_fleet::remote::calls::Call;
use assay_kernels::rdma::{Endpoint, RdmaError, RdmaPass, has_devices};
use assay_model::failure::FailureReason;
use assay_model::workload::RdmaDevice;

use super::served_test::{RdmaServerReport, check_version, resolve_own_device};
use super::wire::{ChosenDevice, FarEndCounts, MessageChannel, RdmaHello, RdmaMessage};
use super::{
    MAX_BYTES, NodePinning, RdmaLoad, RdmaTestError, SIZE_TIMEOUT, STEP_TIMEOUT,
    connect_queue_pairs, open_endpoint, outcome, perftest_server,
};
use crate::background_thread::BackgroundThread;
use crate::network::control::{self, ControlConnection};
use crate::network::error::NetworkError;

/// Interval between checks for a peer and for an interruption.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Limits for requests in flight and for queue pairs, above any practical value.
const MAX_DEPTH: u64 = 1 << 16;
const MAX_QUEUE_PAIRS: u32 = 1 << 14;
/// Limit for iterations: requests are numbered with 40 bits.
const MAX_ITERATIONS: u64 = 1 << 40;

/// Waits for one leading end and serves its test.
///
/// # Errors
/// When listening fails, there is no RDMA here, or the test fails.
pub fn serve(
    address: SocketAddr,
    device: &RdmaDevice,
    cancel: &AtomicBool,
) -> Result<RdmaServerReport, RdmaTestError> {
    // Fails before a wait of hours that would be of no use.
    if !has_devices() {
        return Err(RdmaError::NoDevice.into());
    }
    let listener = control::listen(address)?;
    let control = loop {
        if cancel.load(Ordering::Relaxed) {
            return Err(NetworkError::Interrupted.into());
        }
        match listener.accept() {
            Ok((stream, peer)) => {
                let plain = stream.set_nonblocking(false);
                plain.map_err(|source| NetworkError::Accept { source })?;
                break ControlConnection::new(stream, peer.to_string())?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                std::thread::sleep(POLL_INTERVAL);
            }
            Err(source) => return Err(NetworkError::Accept { source }.into()),
        }
    };
    serve_channel(&mut MessageChannel::over_tcp(control), (device, None), cancel)
}

/// Serves as the other host of a pair, until the leading end has gone.
pub(crate) fn serve_agent(call: Call) {
    let over = Arc::clone(call.peer_gone());
    let mut line = MessageChannel::between_agents(call);
    // Failures are sent to the leading end, which reports them.
    let _ = serve_channel(&mut line, (&RdmaDevice::default(), None), &over);
}

fn serve_channel(
    line: &mut MessageChannel,
    (device, program): (&RdmaDevice, Option<&Path>),
    cancel: &AtomicBool,
) -> Result<RdmaServerReport, RdmaTestError> {
    let served = serve_requests(line, (device, program), cancel);
    if let Err(error) = &served {
        let reason = match error {
            RdmaTestError::Verbs(RdmaError::NoDevice) => "it has no RDMA device".to_owned(),
            other => FailureReason::error_line(other),
        };
        // The leading end may have gone already.
        let _ = line.send(&RdmaMessage::Failed { reason, advice: error.failure().advice() });
    }
    served
}

fn serve_requests(
    line: &mut MessageChannel,
    (device, program): (&RdmaDevice, Option<&Path>),
    cancel: &AtomicBool,
) -> Result<RdmaServerReport, RdmaTestError> {
    let hello = match line.receive("a request", STEP_TIMEOUT, cancel)? {
        RdmaMessage::Hello(hello) => *hello,
        RdmaMessage::Perftest(asked) => {
            return perftest_server::serve(line, &asked, (device, program), cancel);
        }
        other => return Err(line.unexpected_message(other)),
    };
    check_hello(line, &hello)?;
    let load = RdmaLoad {
        test: hello.test,
        connection: hello.connection,
        depth: hello.depth,
        queue_pairs: hello.queue_pairs,
        bidirectional: hello.both,
        moderation: hello.moderation,
        // The warm-up of a size concerns the leading end alone.
        warms_up: false,
    };
    let device = resolve_own_device(line, device, &hello.device);
    let _beside = NodePinning::near_device(&device);
    let mut end = open_endpoint(&device, &load, hello.most_bytes)?;
    connect_queue_pairs(line, &mut end, hello.card)?;
    line.send(&RdmaMessage::Welcome {
        card: (&end.info).into(),
        chosen: ChosenDevice::from_endpoint(&end),
    })?;
    let mut sizes = BTreeSet::new();
    loop {
        match line.receive("the next size", STEP_TIMEOUT, cancel)? {
            RdmaMessage::Next { bytes, iterations }
                if (1..=hello.most_bytes).contains(&bytes)
                    && (1..MAX_ITERATIONS).contains(&iterations) =>
            {
                sizes.insert(bytes);
                serve_size(line, &mut end, &load.pass(bytes, iterations), cancel)?;
            }
            RdmaMessage::Over => break,
            other => return Err(line.unexpected_message(other)),
        }
    }
    let (peer, device) = (line.peer().to_owned(), end.device.clone());
    Ok(RdmaServerReport { peer, device, sizes: sizes.len() })
}

fn serve_size(
    line: &mut MessageChannel,
    end: &mut Endpoint,
    pass: &RdmaPass,
    cancel: &AtomicBool,
) -> Result<(), RdmaTestError> {
    end.prepare(pass, false)?;
    line.send(&RdmaMessage::Ready)?;
    if pass.both {
        match line.receive("the leading end to be prepared", STEP_TIMEOUT, cancel)? {
            RdmaMessage::Ready => {}
            other => return Err(line.unexpected_message(other)),
        }
    }
    let seen = end.follow(pass, cancel)?.map(|carried| FarEndCounts {
        sent: outcome::thin_marks(&carried.sent),
        received: outcome::thin_marks(&carried.received),
        arrived: carried.arrived,
        peak: carried.peak.map(|window| (window.done, window.at_ns)),
    });
    match line.receive("the end of a size", SIZE_TIMEOUT, cancel)? {
        RdmaMessage::Done => {}
        other => return Err(line.unexpected_message(other)),
    }
    line.send(&RdmaMessage::Checked {
        is_right: end.has_expected_contents(pass, false),
        seen,
    })?;
    Ok(())
}

/// Rejects versions and counts that an unknown peer may not request.
fn check_hello(line: &MessageChannel, hello: &RdmaHello) -> Result<(), RdmaTestError> {
    check_version(line, &hello.assay)?;
    let are_counts = (1..=MAX_BYTES).contains(&hello.most_bytes)
        && (1..=MAX_DEPTH).contains(&hello.depth)
        && (1..=MAX_QUEUE_PAIRS).contains(&hello.queue_pairs)
        && hello.moderation.is_none_or(|count| (1..=MAX_DEPTH).contains(&count));
    if are_counts {
        return Ok(());
    }
    let said = "it requests values outside the limits".to_owned();
    Err(RdmaTestError::ProtocolMismatch { peer: line.peer().to_owned(), said })
}

/// Starts a far end in this process, for tests of this machine with itself, and returns it with the
/// leading end's channel. `program` is perftest's, if it is not on `PATH`.
pub(super) fn start_loopback(
    device: &RdmaDevice,
    program: Option<PathBuf>,
) -> Result<(BackgroundThread, MessageChannel), RdmaTestError> {
    let [line, mut far] = MessageChannel::in_process_pair();
    let device = device.clone();
    let serve = move |stop: &AtomicBool| {
        // Failures are sent to the leading end, which is in this process.
        let _ = serve_channel(&mut far, (&device, program.as_deref()), stop);
    };
    let thread = BackgroundThread::start("rdma-far-end", serve)
        .map_err(|source| NetworkError::NoThread { source })?;
    Ok((thread, line))
}

#[cfg(test)]
mod tests {
    use assay_kernels::rdma::PeerInfo;
    use assay_model::benchmark::RdmaTest;
    use assay_model::workload::RdmaConnection;

    use super::*;

    fn hello(assay: &str, bytes: u64) -> RdmaMessage {
        let card = PeerInfo {
            lid: 0,
            numbers: vec![1],
            sequence: 0,
            gid: [0; 16],
            mtu: 1024,
            address: 0,
            source: 0,
            key: 0,
            reads: 0,
        };
        RdmaMessage::Hello(Box::new(RdmaHello {
            assay: assay.to_owned(),
            test: RdmaTest::SendLatency,
            connection: RdmaConnection::Rc,
            most_bytes: bytes,
            depth: 1,
            queue_pairs: 1,
            both: false,
            moderation: None,
            device: RdmaDevice::default(),
            card: (&card).into(),
        }))
    }

    #[test]
    fn far_end_reports_reason_of_refusal() {
        let own = env!("CARGO_PKG_VERSION");
        let mut cases = vec![
            (hello("0.0.0", 2), "it is version 0.0.0, and this is"),
            (hello(own, MAX_BYTES + 1), "it requests values outside the limits"),
            (RdmaMessage::Ready, "does not support this protocol: Ready"),
        ];
        if !has_devices() {
            cases.push((hello(own, 2), "it has no RDMA device"));
        }
        for (message, expected) in cases {
            let (_own, mut line) = start_loopback(&RdmaDevice::default(), None).unwrap();
            line.send(&message).unwrap();
            let go_on = AtomicBool::new(false);
            let answer = line.receive("an answer", Duration::from_secs(10), &go_on).unwrap();
            let said = line.unexpected_message(answer).to_string();
            assert!(said.contains("failed: ") && said.contains(expected), "{said}");
        }
    }
}
