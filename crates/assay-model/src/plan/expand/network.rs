//! Expansion of network measures: targets, repetition length, and validation.

use super::{NamedWorkload, PlanError};
use crate::plan::time_estimate::MIN_REPETITIONS;
use crate::quantity::Bytes;
use crate::suite::{NetworkProtocol, NetworkRequest};
use crate::workload::{NetworkTest, NetworkWorkload, Workload};

/// Maximum number of streams that iperf3 servers accept.
const MAX_STREAMS: u32 = 128;
/// Maximum number of streams of connections: half of the control connections that a server accepts
/// from one host, because those of the repetition before may not have ended.
const MAX_CONNECTION_STREAMS: u32 = 16;
/// Maximum payload of one datagram.
const MAX_DATAGRAM_PAYLOAD_BYTES: u64 = 65_507;
/// Maximum message size that ping-pong servers accept.
const MAX_MESSAGE_BYTES: u64 = 64 << 20;

/// Maximum size of a request: the streams of one host share 64 MiB of the server's memory.
const MAX_CONNECTION_BYTES: u64 = 4 << 20;

/// Factor from the measured time to the duration of a repetition, which includes connecting and
/// exchanging results.
const OVERHEAD_FACTOR: f64 = 1.1;

/// Returns a case for each test; tests without a host use `to`.
pub(super) fn resolve(
    request: &NetworkRequest,
    to: Option<&str>,
    budget_s: f64,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let each_s = budget_s / request.tests.len().max(1) as f64;
    let resolved = request.tests.iter().map(|work| {
        let mut work = work.clone();
        if let NetworkTest::Throughput(it) = &mut work.test
            && !request.has_explicit_length
        {
            let fitting_s = each_s / (f64::from(MIN_REPETITIONS) * OVERHEAD_FACTOR);
            it.seconds = it.seconds.min(fitting_s as u32).max(1);
        }
        resolve_one(request.protocol, work, to)
    });
    resolved.collect()
}

fn resolve_one(
    protocol: NetworkProtocol,
    mut work: NetworkWorkload,
    to: Option<&str>,
) -> Result<NamedWorkload, PlanError> {
    check(protocol, &work.test)?;
    work.to = work.to.or_else(|| to.map(str::to_owned));
    let name = work.name();
    let workload = match protocol {
        NetworkProtocol::Tcp => Workload::NetworkTcp(work),
        NetworkProtocol::Udp => Workload::NetworkUdp(work),
        NetworkProtocol::Icmp => Workload::NetworkIcmp(work),
    };
    Ok((name, workload))
}

fn check(protocol: NetworkProtocol, test: &NetworkTest) -> Result<(), PlanError> {
    let most_bytes = if protocol == NetworkProtocol::Tcp {
        MAX_MESSAGE_BYTES
    } else {
        MAX_DATAGRAM_PAYLOAD_BYTES
    };
    let beyond = |what: &str, given: u64, most: u64| {
        let what = what.to_owned();
        (given > most).then_some(PlanError::NumberTooLarge { what, given, most })
    };
    let fault = match test {
        NetworkTest::Throughput(it) if it.streams == 0 => {
            Some(PlanError::Zero { what: "the number of streams" })
        }
        NetworkTest::Throughput(it) => {
            beyond("the number of streams", u64::from(it.streams), u64::from(MAX_STREAMS))
        }
        NetworkTest::Latency(it) if it.bytes == 0 && protocol != NetworkProtocol::Icmp => {
            Some(PlanError::ZeroSize { what: "the size of a message" })
        }
        NetworkTest::Latency(it) if it.bytes > most_bytes => {
            let (given, most) = (Bytes(it.bytes), Bytes(most_bytes));
            Some(PlanError::SizeTooLarge { what: "a message", given, most })
        }
        NetworkTest::Latency(it) => {
            let streams = u64::from(it.load_streams);
            beyond("the number of loading streams", streams, u64::from(MAX_STREAMS))
        }
        NetworkTest::Connections(it) if it.streams == 0 => {
            Some(PlanError::Zero { what: "the number of streams" })
        }
        NetworkTest::Connections(it) if it.bytes == 0 => {
            Some(PlanError::ZeroSize { what: "the size of a message" })
        }
        NetworkTest::Connections(it) if it.bytes > MAX_CONNECTION_BYTES => {
            let (given, most) = (Bytes(it.bytes), Bytes(MAX_CONNECTION_BYTES));
            Some(PlanError::SizeTooLarge { what: "a message", given, most })
        }
        NetworkTest::Connections(it) => {
            let most = u64::from(MAX_CONNECTION_STREAMS);
            beyond("the number of streams", u64::from(it.streams), most)
        }
    };
    fault.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::NetworkThroughput;

    #[test]
    fn shortens_default_repetitions_to_fit_three() {
        let test = NetworkTest::Throughput(NetworkThroughput::sending(2));
        let work = NetworkWorkload { to: None, port: None, test };
        for (budget_s, is_length_told, expected) in
            [(60.0, false, 2), (7.3, false, 1), (0.5, false, 1), (7.3, true, 2)]
        {
            let questions = vec![work.clone(), work.clone()];
            let request = NetworkRequest {
                protocol: NetworkProtocol::Tcp,
                tests: questions,
                has_explicit_length: is_length_told,
            };
            let resolved = resolve(&request, None, budget_s).unwrap();
            let Some(NetworkWorkload { test: NetworkTest::Throughput(it), .. }) =
                resolved[0].1.as_tcp()
            else {
                panic!("{resolved:?}")
            };
            assert_eq!(it.seconds, expected, "{budget_s} s, told: {is_length_told}");
        }
    }
}
