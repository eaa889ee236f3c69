//! RDMA between two hosts: joins the far end, exchanges the parameters of both queue pairs, and
//! measures size by size. Prints nothing.
//!
//! The protocol between both ends is assay's own (`wire`): perftest's exchange differs by version
//! and options.

mod far_end;
mod outcome;
mod perftest;
mod perftest_figures;
mod perftest_server;
mod served_test;
mod timed_size;
mod wire;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_fleet::rdma_device;
use assay_fleet::remote::calls::Call;
use assay_fleet::root::Root;
use assay_kernels::rdma::{
    Connection, Endpoint, EndpointConfig, PeerInfo, RdmaError, RdmaOperation, RdmaPass, Tuning,
    has_devices,
};
use assay_kernels::{clock, pin};
use assay_model::benchmark::RdmaTest;
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::workload::{RdmaConnection, RdmaDevice, RdmaTuning, RdmaWorkload};

use crate::background_thread::BackgroundThread;
use crate::failure::CommandFailure;
use crate::network::control::ControlConnection;
use crate::network::error::NetworkError;
use crate::network::target::NetworkTarget;

pub use far_end::serve;
pub(crate) use far_end::serve_agent;
pub use outcome::{RdmaConnectionInfo, RdmaProgress, RdmaSizeResult, RdmaValues};
pub(crate) use perftest::PerftestPeer;
pub use perftest_figures::stored_row as perftest_row;
pub use served_test::RdmaServerReport;

use far_end::start_loopback;
use wire::{ChosenDevice, MessageChannel, RdmaHello, RdmaMessage, WirePeerInfo};

/// Default port, the same as perftest's programs: only one of them can listen.
pub const PORT: u16 = 18_515;
/// Largest message: perftest's `-a` ends at 8 MiB, and the far end pins the memory of larger ones.
pub const MAX_BYTES: u64 = 1 << 30;
/// Time limit for the other end to prepare or to check a size.
const STEP_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit of the far end for one size; a leading end that stops earlier closes the connection.
const SIZE_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// Other host of a pair: the connection to its agent, and its device as far as it was named.
pub(crate) struct RdmaPartner {
    pub(crate) call: Call,
    pub(crate) device: RdmaDevice,
}

/// Progress of a running test.
#[derive(Debug)]
pub enum RdmaEvent<'a> {
    /// Both ends are connected.
    Joined(&'a RdmaConnectionInfo),
    /// A size is measured, and its contents were right.
    SizeMeasured(&'a RdmaSizeResult),
}

/// Reason why a test ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum RdmaTestError {
    #[error(transparent)]
    Verbs(#[from] RdmaError),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error("the far end, {peer}, failed: {reason}")]
    FarEnd { peer: String, reason: String, advice: String },
    #[error("{peer} does not support this protocol: {said}")]
    ProtocolMismatch { peer: String, said: String },
    #[error("messages of {bytes} B arrived with wrong contents")]
    WrongContents { bytes: u64 },
    #[error("none of the datagrams of {bytes} B arrived")]
    NothingArrived { bytes: u64 },
    #[error("the far end, {peer}, has disconnected")]
    Disconnected { peer: String, source: RdmaError },
    #[error("perftest at the far end: {reason}")]
    Perftest { reason: String, advice: &'static str },
}

/// Measures all sizes of a workload.
///
/// # Errors
/// When there is no RDMA here, the far end cannot be reached or refuses, a request fails, or
/// contents were wrong.
pub fn run(
    work: &RdmaWorkload,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(RdmaEvent<'_>) -> Result<(), CommandFailure>,
) -> Result<(), CommandFailure> {
    run_with_partner(work, None, cancel, observe)
}

/// Like [`run`], with the other host of a pair if there is one.
pub(crate) fn run_with_partner(
    work: &RdmaWorkload,
    pair: Option<RdmaPartner>,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(RdmaEvent<'_>) -> Result<(), CommandFailure>,
) -> Result<(), CommandFailure> {
    let far = pair.as_ref().map(|it| it.device.clone()).unwrap_or_default();
    let most_bytes = work.sizes.iter().copied().max().unwrap_or(1);
    let load = RdmaLoad::from_workload(work);
    let device = resolve_device(&work.device);
    // Memory is placed by the thread that touches it first: this one.
    let beside = NodePinning::near_device(&device);
    let mut end = open_endpoint(&device, &load, most_bytes)
        .map_err(|error| RdmaTestError::from(error).failure())?;
    let (mut line, _loopback) =
        open_channel(work, pair, cancel).map_err(|error| error.failure())?;
    let far = join_far_end((work, far), &mut end, &mut line, cancel)
        .map_err(|error| error.failure())?;
    let node = beside.as_ref().map(|it| it.node);
    observe(RdmaEvent::Joined(&RdmaConnectionInfo::from_endpoint(&end, (work, far), node)))?;
    let began_ns = clock::now_ns();
    for bytes in &work.sizes {
        let from_ns = clock::now_ns();
        let measured = match work.duration {
            Some(duration) => timed_size::measure_timed_size(
                &mut end,
                &mut line,
                (&load, *bytes, duration),
                cancel,
            ),
            None => {
                let pass = load.pass(*bytes, work.iterations);
                measure_size(&mut end, &mut line, (&load, &pass), cancel)
                    .map(|values| (work.iterations, values))
            }
        };
        let (iterations, values) = measured.map_err(|error| error.failure())?;
        let since = |ns: u64| clock::seconds_between(began_ns, ns);
        let (from_s, to_s) = (since(from_ns), since(clock::now_ns()));
        let seconds = (from_s, to_s - from_s);
        let lasted = work.duration.is_some();
        let measured = RdmaSizeResult {
            bytes: *bytes,
            iterations,
            is_timed: lasted,
            span_s: seconds,
            values,
        };
        observe(RdmaEvent::SizeMeasured(&measured))?;
    }
    // Everything is measured and checked; the results stay valid even if the far end has gone by
    // now.
    let _ = line.send(&RdmaMessage::Over);
    Ok(())
}

/// Parameters that both ends share, except for sizes and devices.
#[derive(Debug, Clone, Copy)]
struct RdmaLoad {
    test: RdmaTest,
    connection: RdmaConnection,
    depth: u64,
    queue_pairs: u32,
    bidirectional: bool,
    moderation: Option<u64>,
    warms_up: bool,
}

impl RdmaLoad {
    const fn from_workload(work: &RdmaWorkload) -> Self {
        let RdmaWorkload { test, connection, depth, queue_pairs, .. } = *work;
        let RdmaWorkload { both: bidirectional, moderation, warms_up, .. } = *work;
        Self { test, connection, depth, queue_pairs, bidirectional, moderation, warms_up }
    }

    const fn connection(&self) -> Connection {
        match self.connection {
            RdmaConnection::Rc => Connection::Rc,
            RdmaConnection::Ud => Connection::Ud,
        }
    }

    const fn pass(&self, bytes: u64, iterations: u64) -> RdmaPass {
        let operation = match self.test {
            RdmaTest::SendLatency | RdmaTest::SendBandwidth => RdmaOperation::Send,
            RdmaTest::WriteLatency | RdmaTest::WriteBandwidth => RdmaOperation::Write,
            RdmaTest::ReadLatency | RdmaTest::ReadBandwidth => RdmaOperation::Read,
            RdmaTest::AtomicLatency | RdmaTest::AtomicBandwidth => RdmaOperation::FetchAdd,
        };
        let depth = if self.test.is_bandwidth() { self.depth } else { 1 };
        let (both, moderation) = (self.bidirectional, self.moderation);
        RdmaPass { operation, depth, both, bytes, iterations, moderation }
    }

    /// Returns the memory of the numbers that atomic operations add to.
    fn counter_bytes(&self) -> u64 {
        let is_atomic = self.test == RdmaTest::AtomicBandwidth;
        if is_atomic { Endpoint::counter_bytes(self.queue_pairs) } else { 8 }
    }

    /// Returns the minimum number of messages of a pass: as many as are in flight, or one.
    const fn min_iterations(&self) -> u64 {
        if self.test.is_bandwidth() { self.depth } else { 1 }
    }

    /// Returns the uncounted pass before a size: as many messages as are in flight, from this end
    /// alone (perftest: `perform_warm_up`). Only operations that the far end's device completes by
    /// itself need no cooperation, and only those leave no trace in what is compared afterwards.
    fn warm_up_pass(&self, pass: &RdmaPass) -> Option<RdmaPass> {
        let is_alone = matches!(pass.operation, RdmaOperation::Write | RdmaOperation::Read);
        (self.warms_up && is_alone && pass.depth > 1).then_some(RdmaPass {
            both: false,
            iterations: pass.depth,
            ..*pass
        })
    }
}

/// Fills in the device and port that were left open. A missing device keeps its name, and the
/// library reports it.
fn resolve_device(device: &RdmaDevice) -> RdmaDevice {
    let found =
        rdma_device::choose_port(&Root::machine(), device.name.as_deref(), device.device_port);
    let Some((name, port)) = found else { return device.clone() };
    RdmaDevice { name: Some(name), device_port: Some(port), ..device.clone() }
}

fn open_endpoint(
    device: &RdmaDevice,
    load: &RdmaLoad,
    most_bytes: u64,
) -> Result<Endpoint, RdmaError> {
    // Without any device, not even the library has to be installed.
    if !has_devices() {
        return Err(RdmaError::NoDevice);
    }
    Endpoint::open(&EndpointConfig {
        device: device.name.as_deref(),
        port: device.device_port.unwrap_or(1),
        gid_index: device.gid_index,
        mtu: device.mtu_bytes,
        connection: load.connection(),
        queue_pairs: load.queue_pairs,
        max_message_bytes: most_bytes.max(load.counter_bytes()),
        depth: Endpoint::queue_depth(load.depth),
        posted_receives: device.tuning.receives.unwrap_or(Endpoint::DEFAULT_RECEIVES),
        inline_bytes: device
            .inline_bytes
            .unwrap_or_else(|| load.connection.default_inline_bytes(load.test)),
        tuning: resolve_tuning(&device.tuning),
    })
}

fn resolve_tuning(asked: &RdmaTuning) -> Tuning {
    let usual = Tuning::default();
    Tuning {
        service_level: asked.service_level.unwrap_or(usual.service_level),
        traffic_class: asked.traffic_class.unwrap_or(usual.traffic_class),
        timeout: asked.timeout.unwrap_or(usual.timeout),
        reads: asked.reads.or(usual.reads),
    }
}

/// Pins the calling thread to the CPUs of the device's NUMA node; restores the previous CPUs when
/// dropped.
#[derive(Debug)]
struct NodePinning {
    node: u32,
    before: Vec<usize>,
}

impl NodePinning {
    /// Pins the thread; `None` if the device is on no node, or the system allows none of its CPUs.
    fn near_device(device: &RdmaDevice) -> Option<Self> {
        let (node, cpus) =
            rdma_device::numa_location(&Root::machine(), device.name.as_deref())?;
        let before = pin::allowed_cpus().ok()?;
        let near = before
            .iter()
            .copied()
            .filter(|cpu| u32::try_from(*cpu).is_ok_and(|cpu| cpus.contains(&cpu)));
        let near: Vec<usize> = near.collect();
        pin::restrict_current_thread(&near).ok()?;
        Some(Self { node, before })
    }
}

impl Drop for NodePinning {
    fn drop(&mut self) {
        // Restores the CPUs that were allowed before.
        let _ = pin::restrict_current_thread(&self.before);
    }
}

/// Connects the queue pairs; the far end must have the same number.
fn connect_queue_pairs(
    line: &MessageChannel,
    end: &mut Endpoint,
    names: WirePeerInfo,
) -> Result<(), RdmaTestError> {
    let far: PeerInfo = names.into();
    let (own, others) = (end.info.numbers.len(), far.numbers.len());
    if own != others {
        let said = format!("it has {others} queue pairs, and this end {own}");
        return Err(RdmaTestError::ProtocolMismatch { peer: line.peer().to_owned(), said });
    }
    Ok(end.connect(&far)?)
}

/// Opens the channel to the far end, and the far end itself if it is in this process.
fn open_channel(
    work: &RdmaWorkload,
    pair: Option<RdmaPartner>,
    cancel: &AtomicBool,
) -> Result<(MessageChannel, Option<BackgroundThread>), RdmaTestError> {
    match (pair, &work.to) {
        (Some(partner), _) => Ok((MessageChannel::between_agents(partner.call), None)),
        (None, Some(host)) => Ok((connect_tcp(host, work.port.unwrap_or(PORT), cancel)?, None)),
        (None, None) => {
            let (own, line) = start_loopback(&work.device, None)?;
            Ok((line, Some(own)))
        }
    }
}

/// Connects to a listening far end over TCP.
fn connect_tcp(
    host: &str,
    port: u16,
    cancel: &AtomicBool,
) -> Result<MessageChannel, RdmaTestError> {
    let (stream, address) = NetworkTarget::new(host, port).connect(cancel)?;
    Ok(MessageChannel::over_tcp(ControlConnection::new(stream, address.to_string())?))
}

/// Sends the request, connects the queue pairs of both ends, and returns the device that the far
/// end chose.
fn join_far_end(
    (work, far): (&RdmaWorkload, RdmaDevice),
    end: &mut Endpoint,
    line: &mut MessageChannel,
    cancel: &AtomicBool,
) -> Result<ChosenDevice, RdmaTestError> {
    line.send(&RdmaMessage::Hello(Box::new(RdmaHello {
        assay: env!("CARGO_PKG_VERSION").to_owned(),
        test: work.test,
        connection: work.connection,
        most_bytes: work.sizes.iter().copied().max().unwrap_or(1),
        depth: work.depth,
        queue_pairs: work.queue_pairs,
        both: work.both,
        moderation: work.moderation,
        device: far,
        card: (&end.info).into(),
    })))?;
    match line.receive("its answer", STEP_TIMEOUT, cancel)? {
        RdmaMessage::Welcome { card, chosen } => {
            connect_queue_pairs(line, end, card).map(|()| chosen)
        }
        other => Err(line.unexpected_message(other)),
    }
}

/// Runs this end's part of a size, including the warm-up.
fn lead_pass(
    end: &mut Endpoint,
    (load, pass): (&RdmaLoad, &RdmaPass),
    cancel: &AtomicBool,
) -> Result<RdmaValues, RdmaError> {
    if let Some(before) = load.warm_up_pass(pass) {
        end.run_pass(&before, true, cancel)?;
    }
    if pass.depth == 1 {
        return end.lead_one_by_one(pass, cancel).map(RdmaValues::Times);
    }
    let carried = end.run_pass(pass, true, cancel)?;
    let peaks = carried.peak.into_iter().collect();
    Ok(RdmaValues::Marks(RdmaProgress { own: carried.sent, peaks, ..RdmaProgress::default() }))
}

/// Measures one size: both ends prepare, this end leads, both check.
fn measure_size(
    end: &mut Endpoint,
    line: &mut MessageChannel,
    (load, pass): (&RdmaLoad, &RdmaPass),
    cancel: &AtomicBool,
) -> Result<RdmaValues, RdmaTestError> {
    line.send(&RdmaMessage::Next { bytes: pass.bytes, iterations: pass.iterations })?;
    end.prepare(pass, true)?;
    match line.receive("the beginning of a size", STEP_TIMEOUT, cancel)? {
        RdmaMessage::Ready => {}
        other => return Err(line.unexpected_message(other)),
    }
    if pass.both {
        // The far end writes into memory that is prepared by now.
        line.send(&RdmaMessage::Ready)?;
    }
    let mut values = match lead_pass(end, (load, pass), cancel) {
        Ok(values) => values,
        Err(error) => {
            // A reason from the far end, if any, explains more than the local error.
            return Err(match line.receive("a reason", Duration::from_secs(1), cancel) {
                Ok(other @ RdmaMessage::Failed { .. }) => line.unexpected_message(other),
                Err(RdmaTestError::Network(NetworkError::Closed { peer, .. })) => {
                    RdmaTestError::Disconnected { peer, source: error }
                }
                _ => error.into(),
            });
        }
    };
    line.send(&RdmaMessage::Done)?;
    let (is_right, seen) = match line.receive("the check of a size", STEP_TIMEOUT, cancel)? {
        RdmaMessage::Checked { is_right, seen } => (is_right, seen),
        other => return Err(line.unexpected_message(other)),
    };
    if let (RdmaValues::Marks(rates), Some(seen)) = (&mut values, seen) {
        let sent = pass.iterations * u64::from(load.queue_pairs);
        rates.add_far_end(&seen, pass, (load.connection(), sent));
    }
    if matches!(&values, RdmaValues::Marks(rates) if rates.lost.is_some_and(|it| it.part == it.whole))
    {
        return Err(RdmaTestError::NothingArrived { bytes: pass.bytes });
    }
    if !is_right || !end.has_expected_contents(pass, true) {
        return Err(RdmaTestError::WrongContents { bytes: pass.bytes });
    }
    Ok(values)
}

const START_FAR_END_ADVICE: &str =
    "start the far end first: the same command without a host (`assay rdma send-lat`)";

impl RdmaTestError {
    /// Converts the error into a failure with advice.
    pub fn failure(&self) -> CommandFailure {
        let failure = CommandFailure::measurement("no RDMA measurement");
        if let Self::Network(NetworkError::Known(known)) = self {
            return connect_failure(self, failure, known);
        }
        let failure = failure.with_cause(self);
        match self {
            Self::Verbs(error) => failure.advise(error.advice()),
            Self::Network(NetworkError::Closed { .. } | NetworkError::Call(_)) => {
                failure.advise("check the far end's output for the reason")
            }
            Self::Network(NetworkError::NoThread { source }) => {
                CommandFailure::from_thread_error(source)
            }
            Self::Network(_) => failure.advise(START_FAR_END_ADVICE),
            Self::FarEnd { advice, .. } => failure.advise(advice.clone()),
            Self::ProtocolMismatch { .. } => failure.advise(
                "use `assay rdma` of the same version at both ends; perftest's programs only work with each other",
            ),
            Self::NothingArrived { .. } => failure.advise(
                "the far end's GID or path MTU may be another (-x, -m), or the network drops RoCE (UDP port 4791)",
            ),
            Self::Disconnected { .. } => failure.advise("check the far end's output for the reason, and start it again"),
            Self::Perftest { advice, .. } => failure.advise(*advice),
            Self::WrongContents { .. } => failure.advise(
                "repeat once; if it fails again, suspect the network cards, their firmware or the memory of both hosts",
            ),
        }
    }
}

/// Explains why the far end was not reached. Reports have their own texts for known failures; these
/// are the command's.
fn connect_failure(
    error: &RdmaTestError,
    failure: CommandFailure,
    known: &FailureReason,
) -> CommandFailure {
    match known {
        FailureReason::UnknownHost { host, causes } => failure
            .with_reason(format!("the host {host} is not known: {}", causes.join(": ")))
            .advise("check the name, or write the address"),
        FailureReason::NoAddress { host } => failure
            .with_reason(format!("{host} has no address of this family"))
            .advise("write the address"),
        FailureReason::NoInterface { host, .. } => failure
            .with_reason(format!(
                "the link-local address {host} names no interface of this host"
            ))
            .advise("write the interface after the address: `fe80::1%eth0`"),
        FailureReason::NotConnected { address, causes, .. } => failure
            .with_reason(format!("no connection to {address}: {}", causes.join(": ")))
            .advise(START_FAR_END_ADVICE),
        _ => failure.with_cause(error).advise(START_FAR_END_ADVICE),
    }
}

/// Converts the failure of a case for the record.
pub fn to_case_failure(failure: &CommandFailure) -> FailureReason {
    failure.to_case_failure(ErrorArea::Rdma)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn reports_reason_of_failed_connection() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let address = "192.0.2.7:18515".parse().unwrap();
        let unknown = FailureReason::UnknownHost {
            host: "h7".into(),
            causes: vec!["no such name".into()],
        };
        for (error, why, help) in [
            (
                NetworkError::not_connected(address, &refused),
                "no connection to 192.0.2.7:18515: connection refused",
                START_FAR_END_ADVICE,
            ),
            (
                NetworkError::Known(unknown),
                "the host h7 is not known: no such name",
                "check the name, or write the address",
            ),
        ] {
            let said = RdmaTestError::from(error).failure().to_string();
            assert!(said.contains(why) && said.contains(help), "{said}");
        }
    }
}
