//! RDMA between two hosts: joins the far end over TCP, exchanges what both queue pairs need, and measures
//! size by size. Prints nothing.
//!
//! The connection over TCP is assay's own (`wire`): perftest's exchange differs by version and options.

mod far_end;
mod outcome;
mod wire;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_kernels::clock;
use assay_kernels::rdma::{
    Connection, Endpoint, Operation, Pass, RdmaError, Wanted, has_devices,
};
use assay_model::benchmark::RdmaTest;
use assay_model::failure::{Area, Failure as CaseFailure};
use assay_model::workload::{RdmaConnection, RdmaDevice, RdmaWorkload};

use crate::failure::Failure;
use crate::network::control::Control;
use crate::network::error::NetworkError;
use crate::network::target::Target;

pub use far_end::{Served, serve};
pub use outcome::{Joined, Size, Values};

use far_end::Loopback;
use wire::{Hello, Line, Message};

/// The port that perftest's programs use, too: a far end is one or the other.
pub const PORT: u16 = 18_515;
/// Messages larger than this are refused: perftest's `-a` ends at 8 MiB, and the far end pins them.
pub const MOST_BYTES: u64 = 1 << 30;
/// How long the other end may take to prepare a size, or to check it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What happens while a test goes on.
#[derive(Debug)]
pub enum Observed<'a> {
    /// Both ends are connected.
    Joined(&'a Joined),
    /// One size is measured, and its contents were right.
    Size(&'a Size),
}

/// Why a test ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    #[error(transparent)]
    Verbs(#[from] RdmaError),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error("the far end of {peer} failed: {reason}")]
    FarEnd { peer: String, reason: String, advice: String },
    #[error("{peer} does not speak this protocol: {said}")]
    Stranger { peer: String, said: String },
    #[error("messages of {bytes} B arrived with wrong contents")]
    WrongContents { bytes: u64 },
}

/// Measures all sizes of a workload.
///
/// # Errors
/// When there is no RDMA here, the far end cannot be reached or refuses, a request ends badly, or contents
/// were wrong.
pub fn run(
    work: &RdmaWorkload,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Observed<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let most_bytes = work.sizes.iter().copied().max().unwrap_or(1);
    let mut end = open(&work.device, work.connection, (most_bytes, work.depth))
        .map_err(|error| TestError::from(error).failure())?;
    let loopback = match &work.to {
        None => Some(Loopback::start(&work.device).map_err(|error| error.failure())?),
        Some(_) => None,
    };
    let port = loopback.as_ref().map_or(work.port.unwrap_or(PORT), Loopback::port);
    let host = work.to.as_deref().unwrap_or("127.0.0.1");
    let mut line =
        join(work, &mut end, (host, port), cancel).map_err(|error| error.failure())?;
    observe(Observed::Joined(&Joined::of(&end, work)))?;
    let began_ns = clock::now_ns();
    for bytes in &work.sizes {
        let pass = pass(work.test, *bytes, work.iterations, work.depth);
        let from_ns = clock::now_ns();
        let values =
            size(&mut end, &mut line, &pass, cancel).map_err(|error| error.failure())?;
        let since = |ns: u64| clock::seconds_between(began_ns, ns);
        let (from_s, to_s) = (since(from_ns), since(clock::now_ns()));
        let seconds = (from_s, to_s - from_s);
        observe(Observed::Size(&Size { bytes: *bytes, seconds, values }))?;
    }
    line.say(&Message::Over).map_err(|error| TestError::from(error).failure())?;
    Ok(())
}

fn open(
    device: &RdmaDevice,
    connection: RdmaConnection,
    (most_bytes, depth): (u64, u64),
) -> Result<Endpoint, RdmaError> {
    // Without any, not even the library has to be there.
    if !has_devices() {
        return Err(RdmaError::NoDevice);
    }
    Endpoint::open(&Wanted {
        device: device.name.as_deref(),
        port: device.device_port.unwrap_or(1),
        gid_index: device.gid_index,
        mtu: device.mtu_bytes,
        connection: match connection {
            RdmaConnection::Rc => Connection::Rc,
            RdmaConnection::Ud => Connection::Ud,
        },
        most_bytes: most_bytes.max(8),
        depth: Endpoint::room(depth),
        inline_bytes: device.inline_bytes,
    })
}

const fn pass(test: RdmaTest, bytes: u64, iterations: u64, depth: u64) -> Pass {
    let operation = match test {
        RdmaTest::SendLatency | RdmaTest::SendBandwidth => Operation::Send,
        RdmaTest::WriteLatency | RdmaTest::WriteBandwidth => Operation::Write,
        RdmaTest::ReadLatency | RdmaTest::ReadBandwidth => Operation::Read,
        RdmaTest::AtomicLatency => Operation::FetchAdd,
    };
    Pass { operation, depth: if test.is_bandwidth() { depth } else { 1 }, bytes, iterations }
}

/// Finds the far end and connects both queue pairs.
fn join(
    work: &RdmaWorkload,
    end: &mut Endpoint,
    (host, port): (&str, u16),
    cancel: &AtomicBool,
) -> Result<Line, TestError> {
    let (stream, address) = Target::new(host, port).connect()?;
    let mut line = Line::new(Control::new(stream, address.to_string())?);
    line.say(&Message::Hello(Box::new(Hello {
        assay: env!("CARGO_PKG_VERSION").to_owned(),
        test: work.test,
        connection: work.connection,
        sizes: work.sizes.clone(),
        iterations: work.iterations,
        depth: work.depth,
        card: (&end.card).into(),
    })))?;
    match line.hear("its answer", PATIENCE, cancel)? {
        Message::Welcome { card } => end.connect(&card.into())?,
        other => return Err(line.unexpected(other)),
    }
    Ok(line)
}

/// One size: both prepare, this end leads, both check.
fn size(
    end: &mut Endpoint,
    line: &mut Line,
    pass: &Pass,
    cancel: &AtomicBool,
) -> Result<Values, TestError> {
    end.prepare(pass, true)?;
    match line.hear("the beginning of a size", PATIENCE, cancel)? {
        Message::Ready => {}
        other => return Err(line.unexpected(other)),
    }
    let measured = if pass.depth > 1 {
        end.lead_many(pass, cancel).map(Values::Marks)
    } else {
        end.lead_one_by_one(pass, cancel).map(Values::Times)
    };
    let values = match measured {
        Ok(values) => values,
        Err(error) => {
            // What the far end has to say about it, if it has, tells more.
            return Err(match line.hear("a reason", Duration::from_secs(1), cancel) {
                Ok(other @ Message::Failed { .. }) => line.unexpected(other),
                _ => error.into(),
            });
        }
    };
    line.say(&Message::Done)?;
    let is_right = match line.hear("the check of a size", PATIENCE, cancel)? {
        Message::Checked { is_right } => is_right,
        other => return Err(line.unexpected(other)),
    };
    if !is_right || !end.is_right(pass, true) {
        return Err(TestError::WrongContents { bytes: pass.bytes });
    }
    Ok(values)
}

impl TestError {
    /// With what to do about it.
    pub fn failure(&self) -> Failure {
        let failure = Failure::measurement("no RDMA measurement").because(self);
        match self {
            Self::Verbs(error) => failure.advise(error.advice()),
            Self::Network(_) => failure.advise(
                "start the far end first: the same command without a host (`assay rdma send-lat`)",
            ),
            Self::FarEnd { advice, .. } => failure.advise(advice.clone()),
            Self::Stranger { .. } => failure.advise(
                "both ends must be `assay rdma` of the same version; programs of perftest only understand each other",
            ),
            Self::WrongContents { .. } => failure.advise(
                "repeat once; if it fails again, suspect the network cards, their firmware or the memory of both hosts",
            ),
        }
    }
}

/// What ended a case.
#[must_use]
pub fn of_case(failure: &Failure) -> CaseFailure {
    failure.of_case(Area::Rdma)
}
