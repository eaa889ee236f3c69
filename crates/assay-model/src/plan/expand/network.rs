//! Expansion of network measures: targets, repetition length, and validation.

use super::{Named, PlanError};
use crate::plan::outlook::FEWEST_REPETITIONS;
use crate::quantity::Bytes;
use crate::suite::{NetworkRequest, Protocol};
use crate::workload::{NetworkQuestion, NetworkWorkload, Workload};

/// Maximum number of streams that iperf3 servers accept.
const STREAMS_LIMIT: u32 = 128;
/// Maximum payload of one datagram.
const DATAGRAM_LIMIT_BYTES: u64 = 65_507;
/// Maximum message size that ping-pong servers accept.
const MESSAGE_LIMIT_BYTES: u64 = 64 << 20;

/// Factor from the measured time to the duration of a repetition, which includes connecting and
/// exchanging results.
const AROUND: f64 = 1.1;

/// Returns a case for each test; tests without a host use `to`.
pub(super) fn resolve(
    request: &NetworkRequest,
    to: Option<&str>,
    budget_s: f64,
) -> Result<Vec<Named>, PlanError> {
    let each_s = budget_s / request.questions.len().max(1) as f64;
    let resolved = request.questions.iter().map(|question| {
        let mut question = question.clone();
        if let NetworkQuestion::Throughput(it) = &mut question.question
            && !request.is_length_told
        {
            let fitting_s = each_s / (f64::from(FEWEST_REPETITIONS) * AROUND);
            it.seconds = it.seconds.min(fitting_s as u32).max(1);
        }
        resolve_one(request.protocol, question, to)
    });
    resolved.collect()
}

fn resolve_one(
    protocol: Protocol,
    mut work: NetworkWorkload,
    to: Option<&str>,
) -> Result<Named, PlanError> {
    check(protocol, &work.question)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Direction, Throughput};

    #[test]
    fn three_repetitions_fit_where_nobody_says_how_long_they_are() {
        let question = NetworkQuestion::Throughput(Throughput {
            streams: 1,
            direction: Direction::Send,
            seconds: 2,
            copy: true,
            rate_bit_per_s: None,
            congestion: None,
        });
        let work = NetworkWorkload { to: None, port: None, question };
        for (budget_s, is_length_told, expected) in
            [(60.0, false, 2), (7.3, false, 1), (0.5, false, 1), (7.3, true, 2)]
        {
            let questions = vec![work.clone(), work.clone()];
            let request = NetworkRequest { protocol: Protocol::Tcp, questions, is_length_told };
            let resolved = resolve(&request, None, budget_s).unwrap();
            let Workload::NetworkTcp(NetworkWorkload {
                question: NetworkQuestion::Throughput(it),
                ..
            }) = &resolved[0].1
            else {
                panic!("{resolved:?}")
            };
            assert_eq!(it.seconds, expected, "{budget_s} s, told: {is_length_told}");
        }
    }
}
