//! Plausibility laws for the figures that a far end reports: a server may be wrong, or lie.
//!
//! Each law compares a reported figure with one that this end measured itself. It never corrects a
//! figure: a broken law fails the test.

use assay_dialects::wire::iperf3::{CpuPercent, StreamResult};
use assay_dialects::wire::qperf::QperfStatistics;
use assay_model::cpu_account::CpuAccount;
use assay_model::quantity::{Quantity, Unit};
use thiserror::Error;

/// Broken law, with both figures.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum BrokenLaw {
    #[error("it reports {received} received, and at most {sent} were sent")]
    MoreReceived { received: Quantity, sent: Quantity },
    #[error("it reports {sent} sent, and {received} arrived")]
    OtherSent { sent: Quantity, received: Quantity },
    #[error("it reports a duration of {reported}, and {measured} were measured here")]
    OtherDuration { reported: Quantity, measured: Quantity },
    #[error("it reports {used} of CPU time in {wall}, and at most {possible} are possible")]
    MoreCpu { used: Quantity, possible: Quantity, wall: Quantity },
    #[error("it reports {reported} {what}, and at most {possible} are possible")]
    MoreCounted { what: &'static str, reported: i64, possible: i64 },
    #[error("it reports {reported} messages received, and {answered} were answered")]
    FewerReceived { reported: i64, answered: i64 },
    #[error("it reports {reported} connections answered, and {measured} were measured here")]
    OtherConnections { reported: u64, measured: u64 },
    #[error("it reports a jitter of {jitter} in a test of {measured}")]
    Jitter { jitter: Quantity, measured: Quantity },
}

impl BrokenLaw {
    /// Advice for the user: a busy host may be the reason of another duration.
    pub(super) const fn advice(&self) -> &'static str {
        match self {
            Self::OtherDuration { .. } => {
                "repeat the test while both hosts are idle; if it fails again, measure with another server, or update it"
            }
            _ => "do not trust this server: measure with another one, or update it",
        }
    }
}

/// Figures of one stream that this end measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OwnStream {
    pub(super) sends: bool,
    pub(super) udp: bool,
    /// Bytes of the counted time.
    pub(super) bytes: u64,
    /// Bytes of a call of a TCP sender, which counts them at its end: a receiver may have counted them
    /// before.
    pub(super) call_bytes: u64,
    /// Maximum number of bytes that can have left or reached this program, in the omitted time and
    /// after the end too.
    pub(super) moved_bytes: u64,
    /// Maximum number of datagrams, likewise.
    pub(super) moved_packets: u64,
    pub(super) seconds: f64,
    /// Whether a part of the test was omitted, which each end does by its own clock.
    pub(super) omits: bool,
    /// Whether this process serves the test: its threads are delayed like those of this end.
    pub(super) serves_itself: bool,
}

/// Relative difference between two durations of one test: clocks, and delays of the last message.
const DURATION_TOLERANCE: f64 = 0.1;
/// Delay of a thread on a loaded host: several time slices of the scheduler.
const DELAY_S: f64 = 0.1;
/// Least share of a short test, of which a receiver's late thread may miss a part.
const SHORT_SHARE: f64 = 0.1;
/// Resolution of CPU times: one tick.
const TICK_S: f64 = 0.01;
/// Highest number of copies of a datagram: bonds in broadcast mode send two.
const COPIES: u64 = 2;
/// Bytes in flight that a stream's sender has counted and its receiver has not. The kernel limits
/// both sockets' buffers to 2³¹ (`tcp(7)`, `SO_SNDBUF`).
const IN_FLIGHT_BYTES: u64 = 2 << 31;

/// Checks the result of one iperf3 stream.
pub(super) fn check_stream(own: &OwnStream, theirs: &StreamResult) -> Result<(), BrokenLaw> {
    let reported_s = theirs.end_s - theirs.start_s;
    // A server that reports no time is not used for one.
    if reported_s > 0.0 && !own.serves_itself {
        // Each end omits by its own clock, and a sender ends with its last block.
        let share = if own.sends && !own.omits { SHORT_SHARE } else { 0.0 };
        check_duration(reported_s, own.seconds, share)?;
    }
    check_bytes(own, theirs.bytes)?;
    if own.udp { check_datagrams(own, theirs) } else { Ok(()) }
}

/// Checks that both ends have counted the same connections.
pub(super) fn check_connections(reported: u64, measured: u64) -> Result<(), BrokenLaw> {
    match reported == measured {
        true => Ok(()),
        false => Err(BrokenLaw::OtherConnections { reported, measured }),
    }
}

/// Checks that a test took about as long at the other end. `share` is the least share of a test
/// that is short against the delays of threads.
fn check_duration(reported_s: f64, measured_s: f64, share: f64) -> Result<(), BrokenLaw> {
    let less_s = measured_s * (1.0 - DURATION_TOLERANCE) - DELAY_S;
    let more_s = measured_s * (1.0 + DURATION_TOLERANCE) + END_DELAY_S;
    let least_s = less_s.max(measured_s * share);
    match reported_s >= least_s && reported_s <= more_s {
        true => Ok(()),
        false => Err(BrokenLaw::OtherDuration {
            reported: seconds(reported_s),
            measured: seconds(measured_s),
        }),
    }
}

/// Longest delay of the message that ends a test: this end gives up on an answer after 10 s.
const END_DELAY_S: f64 = 10.0;

fn check_bytes(own: &OwnStream, reported: u64) -> Result<(), BrokenLaw> {
    if own.sends {
        let copies = if own.udp { COPIES } else { 1 };
        let possible = own.moved_bytes.saturating_mul(copies);
        return match reported <= possible {
            true => Ok(()),
            false => Err(BrokenLaw::MoreReceived {
                received: bytes(reported),
                sent: bytes(possible),
            }),
        };
    }
    // Datagrams may be lost, and each end omits by its own clock.
    let is_few = !own.udp && !own.omits && reported.saturating_add(own.call_bytes) < own.bytes;
    let is_many = !own.udp && reported > own.moved_bytes.saturating_add(IN_FLIGHT_BYTES);
    match is_few || is_many {
        true => Err(BrokenLaw::OtherSent { sent: bytes(reported), received: bytes(own.bytes) }),
        false => Ok(()),
    }
}

fn check_datagrams(own: &OwnStream, theirs: &StreamResult) -> Result<(), BrokenLaw> {
    if !own.sends {
        return Ok(());
    }
    let possible = i64::try_from(own.moved_packets).unwrap_or(i64::MAX);
    let late = theirs.out_of_order.map_or(0, |it| i64::try_from(it).unwrap_or(i64::MAX));
    for (what, reported, possible) in [
        ("datagrams", theirs.packets, possible),
        ("lost datagrams", theirs.errors, possible),
        ("reordered datagrams", late, possible.saturating_mul(COPIES as i64)),
    ] {
        if reported > possible {
            return Err(BrokenLaw::MoreCounted { what, reported, possible });
        }
    }
    // A jitter is a mean difference of transit times, each within the test and its last delay.
    match (0.0..=own.seconds + END_DELAY_S).contains(&theirs.jitter_s) {
        true => Ok(()),
        false => Err(BrokenLaw::Jitter {
            jitter: seconds(theirs.jitter_s),
            measured: seconds(own.seconds),
        }),
    }
}

/// Checks the CPU time of an iperf3 process: each stream has a thread, and one thread has the
/// control connection.
pub(super) fn check_process(
    percent: CpuPercent,
    streams: usize,
    measured_s: f64,
) -> Result<(), BrokenLaw> {
    let threads = streams as f64 + 1.0;
    let wall_s = measured_s.max(TICK_S);
    let parts = [percent.total, percent.user, percent.system];
    parts.into_iter().try_for_each(|it| check_cpu(it / 100.0 * wall_s, threads, wall_s))
}

/// Checks the account of CPU time of another assay; without a duration if this process serves the
/// test.
pub(super) fn check_account(
    account: &CpuAccount,
    streams: usize,
    measured_s: Option<f64>,
) -> Result<(), BrokenLaw> {
    if let Some(measured_s) = measured_s {
        check_duration(account.wall_s, measured_s, 0.0)?;
    }
    let CpuAccount { wall_s, threads_s, user_s, system_s, irq_s, softirq_s, .. } = *account;
    check_cpu(threads_s, streams as f64 + 1.0, wall_s)?;
    let parts = [user_s, system_s, irq_s, softirq_s];
    parts.into_iter().try_for_each(|it| check_cpu(it, f64::from(account.cpus), wall_s))?;
    check_cpu(account.work_s(), f64::from(account.cpus), wall_s)
}

/// Checks that a number of CPUs can have worked as long.
fn check_cpu(used_s: f64, cpus: f64, wall_s: f64) -> Result<(), BrokenLaw> {
    let possible_s = cpus * (wall_s * (1.0 + DURATION_TOLERANCE) + 2.0 * TICK_S);
    match (0.0..=possible_s).contains(&used_s) {
        true => Ok(()),
        false => Err(BrokenLaw::MoreCpu {
            used: seconds(used_s),
            possible: seconds(possible_s),
            wall: seconds(wall_s),
        }),
    }
}

/// Checks the statistics of a qperf server that received from this end.
pub(super) fn check_received(
    theirs: &QperfStatistics,
    sent: &OwnStream,
) -> Result<(), BrokenLaw> {
    check_bytes(sent, theirs.received.bytes)?;
    let possible = i64::try_from(sent.moved_packets).unwrap_or(i64::MAX);
    let messages = i64::try_from(theirs.received.messages).unwrap_or(i64::MAX);
    // A stream's messages may arrive in parts; each part has at least a byte.
    let possible = match sent.udp {
        true => possible.saturating_mul(COPIES as i64),
        false => i64::try_from(sent.moved_bytes).unwrap_or(i64::MAX),
    };
    match messages <= possible {
        true => check_machine(theirs, sent.seconds),
        false => Err(BrokenLaw::MoreCounted { what: "messages", reported: messages, possible }),
    }
}

/// Checks the number of messages that a qperf server received: those that it has answered, and at
/// most those that this end sent, or as many as the network copies of a datagram.
pub(super) fn check_echoes(
    theirs: &QperfStatistics,
    answered: u64,
    sent: u64,
    udp: bool,
) -> Result<(), BrokenLaw> {
    let possible = sent.saturating_mul(if udp { COPIES } else { 1 });
    let reported = theirs.received.messages;
    let signed = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
    // Its test may end between the receipt and the count of the last message.
    if reported.saturating_add(1) < answered {
        let (reported, answered) = (signed(reported), signed(answered));
        return Err(BrokenLaw::FewerReceived { reported, answered });
    }
    match reported <= possible {
        true => Ok(()),
        false => Err(BrokenLaw::MoreCounted {
            what: "messages",
            reported: signed(reported),
            possible: signed(possible),
        }),
    }
}

/// Checks clock and CPU times of a machine.
fn check_machine(theirs: &QperfStatistics, measured_s: f64) -> Result<(), BrokenLaw> {
    let per_s = f64::from(theirs.ticks_per_s.max(1));
    let wall_s = theirs.end.real.saturating_sub(theirs.start.real) as f64 / per_s;
    check_duration(wall_s, measured_s, 0.0)?;
    let passed = |column: usize| {
        theirs.end.cpu[column].saturating_sub(theirs.start.cpu[column]) as f64 / per_s
    };
    // Idle, waiting and stolen time are no work, and some hypervisors count them twice.
    let worked_s = [0, 1, 2, 5, 6].into_iter().map(passed).sum();
    check_cpu(worked_s, f64::from(theirs.cpus), wall_s)
}

fn bytes(count: u64) -> Quantity {
    Quantity::new(count as f64, Unit::Byte)
}

fn seconds(value: f64) -> Quantity {
    Quantity::new(value, Unit::Second)
}

#[cfg(test)]
mod tests;
