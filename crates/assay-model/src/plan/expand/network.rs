//! Expands network measures: their targets, and whether they are possible.

use super::{Named, PlanError};
use crate::quantity::Bytes;
use crate::suite::{NetworkRequest, Protocol};
use crate::workload::{NetworkQuestion, NetworkWorkload, Workload};

/// iperf3's servers refuse more.
const STREAMS_LIMIT: u32 = 128;
/// What fits into one datagram.
const DATAGRAM_LIMIT_BYTES: u64 = 65_507;
/// What the servers of ping-pongs accept.
const MESSAGE_LIMIT_BYTES: u64 = 64 << 20;

/// Every question as a case; those that name no host go to `to`.
pub(super) fn resolve(
    asked: &NetworkRequest,
    to: Option<&str>,
) -> Result<Vec<Named>, PlanError> {
    asked.questions.iter().map(|question| resolve_one(asked.protocol, question, to)).collect()
}

fn resolve_one(
    protocol: Protocol,
    question: &NetworkWorkload,
    to: Option<&str>,
) -> Result<Named, PlanError> {
    check(protocol, &question.question)?;
    let mut work = question.clone();
    work.to = work.to.or_else(|| to.map(str::to_owned));
    let name = work.name();
    let workload = match protocol {
        Protocol::Tcp => Workload::NetworkTcp(work),
        Protocol::Udp => Workload::NetworkUdp(work),
        Protocol::Icmp => Workload::NetworkIcmp(work),
    };
    Ok((name, workload))
}

fn check(protocol: Protocol, question: &NetworkQuestion) -> Result<(), PlanError> {
    let most_bytes =
        if protocol == Protocol::Tcp { MESSAGE_LIMIT_BYTES } else { DATAGRAM_LIMIT_BYTES };
    let beyond = |what: &str, given: u64, most: u64| {
        let what = what.to_owned();
        (given > most).then_some(PlanError::Beyond { what, given, most })
    };
    let fault = match question {
        NetworkQuestion::Throughput(it) if it.streams == 0 => {
            Some(PlanError::Zero { what: "the number of streams" })
        }
        NetworkQuestion::Throughput(it) => {
            beyond("the number of streams", u64::from(it.streams), u64::from(STREAMS_LIMIT))
        }
        NetworkQuestion::Latency(it) if it.bytes == 0 && protocol != Protocol::Icmp => {
            Some(PlanError::Zero { what: "the size of a message" })
        }
        NetworkQuestion::Latency(it) if it.bytes > most_bytes => {
            let (given, most) = (Bytes(it.bytes), Bytes(most_bytes));
            Some(PlanError::SizeBeyond { what: "a message", given, most })
        }
        NetworkQuestion::Latency(it) => {
            let streams = u64::from(it.load_streams);
            beyond("the number of loading streams", streams, u64::from(STREAMS_LIMIT))
        }
    };
    fault.map_or(Ok(()), Err)
}
