//! `assay net`: single network measurements.

use assay_model::benchmark::Benchmark;
use assay_model::quantity::Bytes;
use assay_model::suite::{Measure, MeasureRequest, NetworkProtocol, NetworkRequest, Suite};
use assay_model::workload::{
    NetworkConnections, NetworkLatency, NetworkTest, NetworkThroughput, NetworkWorkload,
};

use crate::arguments::MeasuringArguments;
use crate::arguments::network::{
    ConnectionsArguments, FarEndArguments, NetArguments, NetCommand, StreamRate,
    ThroughputArguments,
};
use crate::pipeline;
use crate::terminal::Terminal;
use assay_run::failure::CommandFailure;

/// Repetitions that fit into the measured time; an interval of the median needs six.
const REPETITIONS: f64 = 8.0;
/// Ratio of total to measured time, for connecting and exchanging results. Without it, the last
/// second of `--for 3s` would not fit.
const OVERHEAD_FACTOR: f64 = 1.15;
/// Longest repetition in seconds.
const MAX_REPETITION_S: f64 = 10.0;
/// Default rate of a UDP stream in bit/s.
const DEFAULT_UDP_RATE_BIT_PER_S: u64 = 100_000_000;

pub(crate) fn net(typed: &NetArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    match &typed.what {
        NetCommand::Throughput(typed) => {
            let tests = throughput_tests(typed);
            let udp = typed.protocol.udp;
            measure_tests(tests, (&typed.place, udp), &typed.measuring, terminal)
        }
        NetCommand::Latency(typed) => {
            let test = |size: &Bytes| {
                NetworkTest::Latency(NetworkLatency {
                    bytes: size.0,
                    seconds: connection_s(&typed.place, typed.load_streams),
                    spin: typed.spin,
                    rate_per_s: None,
                    load_streams: typed.load_streams,
                    busy_poll_us: typed.busy_poll,
                })
            };
            let tests = typed.message_size.iter().map(test).collect();
            let udp = typed.protocol.udp;
            measure_tests(tests, (&typed.place, udp), &typed.measuring, terminal)
        }
        NetCommand::RequestResponse(typed) => {
            let test = |size: &Bytes| {
                NetworkTest::Latency(NetworkLatency {
                    rate_per_s: Some(typed.rate),
                    load_streams: typed.load_streams,
                    ..NetworkLatency::new(
                        size.0,
                        connection_s(&typed.place, typed.load_streams),
                    )
                })
            };
            let tests = typed.message_size.iter().map(test).collect();
            let udp = typed.protocol.udp;
            measure_tests(tests, (&typed.place, udp), &typed.measuring, terminal)
        }
        NetCommand::Connections(typed) => {
            let tests = connection_tests(typed);
            measure_tests(tests, (&typed.place, false), &typed.measuring, terminal)
        }
    }
}

/// Returns a test for every number of streams and size of a message.
fn connection_tests(typed: &ConnectionsArguments) -> Vec<NetworkTest> {
    let seconds = connection_s(&typed.place, 0);
    let sizes = &typed.message_size;
    let pairs =
        typed.streams.iter().flat_map(|streams| sizes.iter().map(|size| (*streams, size.0)));
    let test = |(streams, bytes): (u32, u64)| {
        NetworkTest::Connections(NetworkConnections { streams, bytes, seconds })
    };
    pairs.map(test).collect()
}

/// Returns a test for every direction and number of streams.
fn throughput_tests(typed: &ThroughputArguments) -> Vec<NetworkTest> {
    let is_limited = typed.protocol.udp && !typed.segmentation;
    let rate_bit_per_s = match typed.rate {
        Some(StreamRate::Limited(rate)) => Some(rate.bit_per_s as u64),
        Some(StreamRate::Unlimited) => None,
        None => is_limited.then_some(DEFAULT_UDP_RATE_BIT_PER_S),
    };
    let mut tests = Vec::new();
    for direction in &typed.direction {
        for streams in &typed.streams {
            tests.push(NetworkTest::Throughput(NetworkThroughput {
                streams: *streams,
                direction: *direction,
                seconds: repetition_s(&typed.place),
                copy: !typed.no_copy,
                segmentation: typed.segmentation,
                rate_bit_per_s,
                congestion: typed.congestion.clone(),
            }));
        }
    }
    tests
}

/// Returns the length of one repetition in whole seconds, as both protocols require.
fn repetition_s(far_end: &FarEndArguments) -> u32 {
    (far_end.length / REPETITIONS).clamp(1.0, MAX_REPETITION_S) as u32
}

/// Returns the length of a connection for round trips. Without load it is a second, which gives
/// many connections and a sample per second; a loaded link needs time to fill.
fn connection_s(far_end: &FarEndArguments, load_streams: u32) -> u32 {
    if load_streams == 0 { 1 } else { repetition_s(far_end) }
}

fn measure_tests(
    tests: Vec<NetworkTest>,
    (far_end, is_udp): (&FarEndArguments, bool),
    measuring: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let (protocol, benchmark) = match is_udp {
        true => (NetworkProtocol::Udp, Benchmark::NetworkUdp),
        false => (NetworkProtocol::Tcp, Benchmark::NetworkTcp),
    };
    let (to, port, count) = (&far_end.host, far_end.port, tests.len());
    let workload = |test| NetworkWorkload { to: to.clone(), port, test };
    let request = MeasureRequest::Network(NetworkRequest {
        protocol,
        tests: tests.into_iter().map(workload).collect(),
        has_explicit_length: true,
    });
    let suite = Suite {
        name: "net".to_owned(),
        title: benchmark.definition().title.to_owned(),
        budget_s: OVERHEAD_FACTOR * far_end.length * count as f64,
        measures: vec![Measure::new(request, benchmark.definition().target)],
    };
    pipeline::run_options(&suite, measuring, terminal)
}
