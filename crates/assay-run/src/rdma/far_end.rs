//! Far end of an RDMA test, the one that does not lead: serves one test and ends.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_fleet::remote::calls::Call;
use assay_kernels::rdma::{Endpoint, RdmaError, RdmaPass, has_devices};
use assay_model::failure::FailureReason as CaseFailure;
use assay_model::workload::RdmaDevice;

use super::wire::{Chosen, Hello, Line, Message, Seen};
use super::{
    A_SIZE, Beside, Load, MOST_BYTES, PATIENCE, TestError, chosen, connect, open, outcome,
    perftest,
};
use crate::network::control::{self, ControlConnection};
use crate::network::error::NetworkError;

/// Interval between checks for a peer and for an interruption.
const LOOK: Duration = Duration::from_millis(20);
/// Limits for requests in flight and for queue pairs, above any practical value.
const MOST_DEPTH: u64 = 1 << 16;
const MOST_QUEUE_PAIRS: u32 = 1 << 14;
/// Limit for iterations: requests are numbered with 40 bits.
const MOST_ITERATIONS: u64 = 1 << 40;

/// Report on a served test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// Address of the leading end.
    pub peer: String,
    /// Device of this end.
    pub device: String,
    /// Number of sizes that were measured.
    pub sizes: usize,
}

/// Waits for one leading end and serves its test.
///
/// # Errors
/// When listening fails, there is no RDMA here, or the test fails.
pub fn serve(
    address: SocketAddr,
    device: &RdmaDevice,
    cancel: &AtomicBool,
) -> Result<Served, TestError> {
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
                std::thread::sleep(LOOK);
            }
            Err(source) => return Err(NetworkError::Accept { source }.into()),
        }
    };
    take_part(&mut Line::over_tcp(control), (device, None), cancel)
}

/// Serves as the other host of a pair, until the leading end has gone.
pub(crate) fn attend(call: Call) {
    let over = Arc::clone(call.over());
    let mut line = Line::between_agents(call);
    // Failures are sent to the leading end, which reports them.
    let _ = take_part(&mut line, (&RdmaDevice::default(), None), &over);
}

fn take_part(
    line: &mut Line,
    (device, program): (&RdmaDevice, Option<&Path>),
    cancel: &AtomicBool,
) -> Result<Served, TestError> {
    let served = converse(line, (device, program), cancel);
    if let Err(error) = &served {
        let reason = match error {
            TestError::Verbs(RdmaError::NoDevice) => "it has no RDMA device".to_owned(),
            other => CaseFailure::error_chain(other).join(": "),
        };
        // The leading end may have gone already.
        let _ = line.say(&Message::Failed { reason, advice: error.failure().advice() });
    }
    served
}

fn converse(
    line: &mut Line,
    (device, program): (&RdmaDevice, Option<&Path>),
    cancel: &AtomicBool,
) -> Result<Served, TestError> {
    let hello = match line.hear("a request", PATIENCE, cancel)? {
        Message::Hello(hello) => *hello,
        Message::Perftest(asked) => {
            return perftest::serve(line, &asked, (device, program), cancel);
        }
        other => return Err(line.unexpected(other)),
    };
    check(line, &hello)?;
    let load = Load {
        test: hello.test,
        connection: hello.connection,
        depth: hello.depth,
        queue_pairs: hello.queue_pairs,
        both: hello.both,
        moderation: hello.moderation,
        // The warm-up of a size concerns the leading end alone.
        warms_up: false,
    };
    let device = taken(line, device, &hello.device);
    let _beside = Beside::device(&device);
    let mut end = open(&device, &load, hello.most_bytes)?;
    connect(line, &mut end, hello.card)?;
    line.say(&Message::Welcome { card: (&end.info).into(), chosen: Chosen::of(&end) })?;
    let mut sizes = BTreeSet::new();
    loop {
        match line.hear("the next size", PATIENCE, cancel)? {
            Message::Next { bytes, iterations }
                if (1..=hello.most_bytes).contains(&bytes)
                    && (1..MOST_ITERATIONS).contains(&iterations) =>
            {
                sizes.insert(bytes);
                one(line, &mut end, &load.pass(bytes, iterations), cancel)?;
            }
            Message::Over => break,
            other => return Err(line.unexpected(other)),
        }
    }
    let (peer, device) = (line.peer().to_owned(), end.device.clone());
    Ok(Served { peer, device, sizes: sizes.len() })
}

/// Resolves the device of this end. A leading end that connected over the network cannot choose it.
pub(super) fn taken(line: &Line, own: &RdmaDevice, asked: &RdmaDevice) -> RdmaDevice {
    if line.is_between_agents() { chosen(&own.with_defaults(asked)) } else { chosen(own) }
}

fn one(
    line: &mut Line,
    end: &mut Endpoint,
    pass: &RdmaPass,
    cancel: &AtomicBool,
) -> Result<(), TestError> {
    end.prepare(pass, false)?;
    line.say(&Message::Ready)?;
    if pass.both {
        match line.hear("the leading end to be prepared", PATIENCE, cancel)? {
            Message::Ready => {}
            other => return Err(line.unexpected(other)),
        }
    }
    let seen = end.follow(pass, cancel)?.map(|carried| Seen {
        sent: outcome::thinned(&carried.sent),
        received: outcome::thinned(&carried.received),
        arrived: carried.arrived,
        peak: carried.peak.map(|window| (window.done, window.at_ns)),
    });
    match line.hear("the end of a size", A_SIZE, cancel)? {
        Message::Done => {}
        other => return Err(line.unexpected(other)),
    }
    line.say(&Message::Checked { is_right: end.has_expected_contents(pass, false), seen })?;
    Ok(())
}

/// Rejects versions and counts that an unknown peer may not request.
fn check(line: &Line, hello: &Hello) -> Result<(), TestError> {
    same_version(line, &hello.assay)?;
    let are_counts = (1..=MOST_BYTES).contains(&hello.most_bytes)
        && (1..=MOST_DEPTH).contains(&hello.depth)
        && (1..=MOST_QUEUE_PAIRS).contains(&hello.queue_pairs)
        && hello.moderation.is_none_or(|count| (1..=MOST_DEPTH).contains(&count));
    if are_counts {
        return Ok(());
    }
    let said = "it asks for what no version asks for".to_owned();
    Err(TestError::Stranger { peer: line.peer().to_owned(), said })
}

/// Checks the version, because the protocol differs by version.
pub(super) fn same_version(line: &Line, far: &str) -> Result<(), TestError> {
    let own = env!("CARGO_PKG_VERSION");
    if far == own {
        return Ok(());
    }
    let said = format!("it is version {far}, and this is {own}");
    Err(TestError::Stranger { peer: line.peer().to_owned(), said })
}

/// Far end in this process, for tests of this machine with itself; ends when dropped.
#[derive(Debug)]
pub(super) struct Loopback {
    enough: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

impl Loopback {
    /// Starts the far end and returns it with the leading end's channel. `program` is perftest's,
    /// if it is not on `PATH`.
    pub(super) fn start(device: &RdmaDevice, program: Option<PathBuf>) -> (Self, Line) {
        let [line, mut far] = Line::within();
        let enough = Arc::new(AtomicBool::new(false));
        let (device, stop) = (device.clone(), Arc::clone(&enough));
        let serving = std::thread::spawn(move || {
            // Failures are sent to the leading end, which is in this process.
            let _ = take_part(&mut far, (&device, program.as_deref()), &stop);
        });
        (Self { enough, serving: Some(serving) }, line)
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        if let Some(serving) = self.serving.take() {
            // A panic of that thread affects nothing here.
            let _ = serving.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_kernels::rdma::PeerInfo;
    use assay_model::benchmark::RdmaTest;
    use assay_model::workload::RdmaConnection;

    use super::*;

    fn hello(assay: &str, bytes: u64) -> Message {
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
        Message::Hello(Box::new(Hello {
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
    fn what_a_far_end_cannot_do_it_says_with_a_reason() {
        let own = env!("CARGO_PKG_VERSION");
        let mut cases = vec![
            (hello("0.0.0", 2), "it is version 0.0.0, and this is"),
            (hello(own, MOST_BYTES + 1), "it asks for what no version asks for"),
            (Message::Ready, "does not speak this protocol: Ready"),
        ];
        if !has_devices() {
            cases.push((hello(own, 2), "it has no RDMA device"));
        }
        for (message, expected) in cases {
            let (_own, mut line) = Loopback::start(&RdmaDevice::default(), None);
            line.say(&message).unwrap();
            let go_on = AtomicBool::new(false);
            let answer = line.hear("an answer", Duration::from_secs(10), &go_on).unwrap();
            let said = line.unexpected(answer).to_string();
            assert!(said.contains("failed: ") && said.contains(expected), "{said}");
        }
    }
}
