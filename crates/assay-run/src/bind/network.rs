//! `network.tcp`, `network.udp` and `network.icmp` by assay's own kernels, against any far end that
//! supports iperf3's or qperf's protocol.

mod far_end;
mod latency;
mod throughput;
mod virtual_function;

use std::cell::RefCell;
use std::net::IpAddr;

use assay_dialects::wire::iperf3::TransportProtocol;
use assay_fleet::remote::calls::CallError;
use assay_model::attribute::Attribute;
use assay_model::failure::MissingHostFeature;
use assay_model::workload::{NetworkTest, NetworkWorkload, Workload};

use crate::fleet::pairs::PairEnd;
use crate::measuring::Turns;
use crate::network::error::NetworkError;
use crate::network::path;
use crate::network::setup::local_towards;
use crate::network::target::Target;
use crate::recorder::{CaseError, Recorder};

use far_end::FarEnd;

use super::known::{self, Known};

/// Protocol of the echoes, streams or messages.
#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    Icmp,
    Protocol(TransportProtocol),
}

/// Returns turns that repeat one network test. The missing services of hosts and the far end are
/// checked when the first turn begins, because other cases may have had turns by then.
pub(super) fn turns<'c>(
    work: &'c NetworkWorkload,
    by: By,
    known: &'c RefCell<Known>,
) -> Turns<'c> {
    let mut begun: Option<Turns<'c>> = None;
    Box::new(move |recorder| match &mut begun {
        Some(turns) => turns(recorder),
        None => begun.insert(begin(work, by, &known.borrow(), recorder)?)(recorder),
    })
}

fn begin<'c>(
    work: &'c NetworkWorkload,
    by: By,
    known: &Known,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Turns<'c>, CaseError> {
    known.need(work, MissingHostFeature::Address)?;
    known.need(work, MissingHostFeature::Connection)?;
    let protocol = match by {
        By::Icmp => {
            // The other host of a pair provides its address; echoes need no port.
            let peer = PairEnd::of(recorder).map_err(failed)?;
            return latency::icmp(work, peer.map(|peer| peer.address.ip().to_string()));
        }
        By::Protocol(protocol) => protocol,
    };
    let far_end = FarEnd::of(work, recorder).map_err(failed)?;
    match &work.question {
        NetworkTest::Throughput(asked) => {
            known.need(work, known::streams_port(work))?;
            Ok(throughput::turns(asked, far_end, protocol))
        }
        NetworkTest::Latency(asked) => {
            known.need(work, MissingHostFeature::Echo)?;
            if asked.load_streams > 0 {
                known.need(work, known::streams_port(work))?;
            }
            let all = far_end.for_ping_pong();
            let lacks = |port| known.lacks(&far_end.host, MissingHostFeature::Port(port));
            let (without, targets): (Vec<Target>, Vec<Target>) =
                all.into_iter().partition(|target| lacks(target.port));
            if let (Some(last), []) = (without.last(), &*targets) {
                known.need(work, MissingHostFeature::Port(last.port))?;
            }
            Ok(latency::turns(asked, far_end, targets, protocol))
        }
    }
}

/// Workload as a tool receives it. A loopback workload is directed to an own server, which ends
/// when this is dropped.
pub(super) struct Reached {
    pub(super) workload: Workload,
    _far_end: FarEnd,
}

/// Resolves the far end for a tool and records the path of its traffic; returns `None` for a
/// workload without a far end.
pub(super) fn reach(
    workload: &Workload,
    known: &Known,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<Reached>, CaseError> {
    let mut workload = workload.clone();
    let (Workload::NetworkTcp(work) | Workload::NetworkUdp(work) | Workload::NetworkIcmp(work)) =
        &mut workload
    else {
        return Ok(None);
    };
    known.need(work, MissingHostFeature::Address)?;
    known.need(work, MissingHostFeature::Connection)?;
    let far_end = FarEnd::of(work, recorder).map_err(failed)?;
    if work.to.is_none() || recorder.pair().is_some() {
        recorder.learn(Attribute::FarEnd, "assay");
        far_end.report(work);
    }
    let host = work.to.clone().unwrap_or_default();
    // The port does not affect the choice of a route.
    if let Some(address) = Target::new(&host, 9).addresses().map_err(failed)?.first() {
        learn_path(local_towards(*address), address.ip(), recorder);
    }
    Ok(Some(Reached { workload, _far_end: far_end }))
}

pub(super) fn failed(error: NetworkError) -> CaseError {
    match error {
        NetworkError::Interrupted | NetworkError::Call(CallError::Interrupted) => {
            CaseError::Interrupted
        }
        error => {
            let failed = CaseError::Failed(error.of_case());
            match error.lack() {
                Some(what) => failed.for_lack_of(what),
                None => failed,
            }
        }
    }
}

/// Records the path of the traffic, as far as this end can see it.
fn learn_path(local: IpAddr, remote: IpAddr, recorder: &mut Recorder<'_, '_>) {
    recorder.record_all(path::taken(local, remote));
}
