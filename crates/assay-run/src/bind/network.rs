//! `network.tcp`, `network.udp` and `network.icmp` by assay's own kernels, against any far end that
//! supports iperf3's or qperf's protocol.

mod connections;
mod far_end;
mod latency;
mod sockperf_far_end;
mod throughput;
mod virtual_function;

use std::cell::RefCell;
use std::net::IpAddr;

use assay_adapters::outputs::ToolError;
use assay_dialects::wire::iperf3::TransportProtocol;
use assay_model::attribute::Attribute;
use assay_model::failure::MissingHostFeature;
use assay_model::workload::{NetworkTest, NetworkWorkload, Workload};

use crate::fleet::pair_end::PairEnd;
use crate::measurement_loop::Turns;
use crate::network::path;
use crate::network::setup::local_address_for;
use crate::network::target::NetworkTarget;
use crate::recorder::{CaseError, Recorder};

use far_end::NetworkFarEnd;
use sockperf_far_end::SockperfFarEnd;

use super::run_cache::{self, RunCache};

/// Protocol of the echoes, streams or messages.
#[derive(Debug, Clone, Copy)]
pub(super) enum TrafficKind {
    Icmp,
    Protocol(TransportProtocol),
}

/// Returns turns that repeat one network test. The first turn checks the far end and the missing
/// features of hosts: turns of other cases may have detected some by then.
pub(super) fn turns<'c>(
    work: &'c NetworkWorkload,
    kind: TrafficKind,
    cache: &'c RefCell<RunCache>,
) -> Turns<'c> {
    let mut started: Option<Turns<'c>> = None;
    Box::new(move |recorder| match &mut started {
        Some(turns) => turns(recorder),
        None => started.insert(begin(work, kind, &cache.borrow(), recorder)?)(recorder),
    })
}

fn begin<'c>(
    work: &'c NetworkWorkload,
    kind: TrafficKind,
    cache: &RunCache,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Turns<'c>, CaseError> {
    cache.require(work, MissingHostFeature::Address)?;
    cache.require(work, MissingHostFeature::Connection)?;
    let protocol = match kind {
        TrafficKind::Icmp => {
            // The other host of a pair provides its address; echoes need no port.
            let peer = PairEnd::open(recorder)?;
            return latency::icmp_turns(work, peer.map(|peer| peer.address.ip().to_string()));
        }
        TrafficKind::Protocol(protocol) => protocol,
    };
    let far_end = NetworkFarEnd::resolve(work, recorder)?;
    match &work.test {
        NetworkTest::Throughput(test) => {
            cache.require(work, run_cache::streams_port(work))?;
            Ok(throughput::turns(test, far_end, protocol))
        }
        NetworkTest::Latency(test) => {
            cache.require(work, MissingHostFeature::Echo)?;
            if test.load_streams > 0 {
                cache.require(work, run_cache::streams_port(work))?;
            }
            let targets = reachable_targets(work, &far_end, cache)?;
            Ok(latency::turns(test, far_end, targets, protocol))
        }
        NetworkTest::Connections(test) => {
            let targets = reachable_targets(work, &far_end, cache)?;
            Ok(connections::turns(test, far_end, targets))
        }
    }
}

/// Returns the targets of ping-pongs and connections without the ports that have refused before.
fn reachable_targets(
    work: &NetworkWorkload,
    far_end: &NetworkFarEnd,
    cache: &RunCache,
) -> Result<Vec<NetworkTarget>, CaseError> {
    let all = far_end.ping_pong_targets();
    let lacks = |port| cache.lacks(&far_end.host, MissingHostFeature::Port(port));
    let (missing, targets): (Vec<NetworkTarget>, Vec<NetworkTarget>) =
        all.into_iter().partition(|target| lacks(target.port));
    if let (Some(last), []) = (missing.last(), &*targets) {
        cache.require(work, MissingHostFeature::Port(last.port))?;
    }
    Ok(targets)
}

/// Workload as an external tool receives it. A loopback workload is directed to a server in this
/// process, which ends when this is dropped.
pub(super) struct ReachableWorkload {
    pub(super) workload: Workload,
    _far_end: ToolFarEnd,
}

/// Far end of a tool, alive until it is dropped.
enum ToolFarEnd {
    Streams { _server: NetworkFarEnd },
    Sockperf { _server: SockperfFarEnd },
}

/// Tool whose protocol only a server of its own has.
const SOCKPERF: &str = "sockperf";

/// Resolves the far end for a tool and records the path of its traffic; returns `None` for a
/// workload without a far end.
pub(super) fn resolve_far_end(
    tool: &'static str,
    workload: &Workload,
    cache: &RunCache,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<ReachableWorkload>, CaseError> {
    let mut workload = workload.clone();
    let is_tcp = workload.as_tcp().is_some();
    let Some(work) = workload.as_network_mut() else { return Ok(None) };
    cache.require(work, MissingHostFeature::Address)?;
    cache.require(work, MissingHostFeature::Connection)?;
    let far_end = match tool {
        SOCKPERF if recorder.pair().is_some() => {
            let why = "a pair of hosts: the far end has no server of its protocol".to_owned();
            return Err(ToolError::UnsupportedWorkload { tool, why }.into());
        }
        SOCKPERF if work.to.is_none() => {
            let server = SockperfFarEnd::start(is_tcp)?;
            recorder.add_fact(Attribute::FarEnd, "assay");
            work.to = Some(server.address.ip().to_string());
            work.port = Some(server.address.port());
            ToolFarEnd::Sockperf { _server: server }
        }
        _ => {
            let server = NetworkFarEnd::resolve(work, recorder)?;
            if work.to.is_none() || recorder.pair().is_some() {
                recorder.add_fact(Attribute::FarEnd, "assay");
                server.fill_workload(work);
            }
            ToolFarEnd::Streams { _server: server }
        }
    };
    let host = work.to.clone().unwrap_or_default();
    // The port does not affect the choice of a route.
    if let Some(address) = NetworkTarget::new(&host, 9).addresses()?.first() {
        record_path(local_address_for(*address), address.ip(), recorder);
    }
    Ok(Some(ReachableWorkload { workload, _far_end: far_end }))
}

/// Records the path of the traffic, as far as this end can see it.
fn record_path(local: IpAddr, remote: IpAddr, recorder: &mut Recorder<'_, '_>) {
    recorder.record_all(path::path_facts(local, remote));
}
