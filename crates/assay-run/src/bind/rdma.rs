//! `rdma.*` as cases of a plan: connected anew for every repetition, by assay or by perftest. The hosts of a pair
//! tell each other over their agents what their queue pairs need.

use std::net::IpAddr;
use std::path::Path;

use assay_adapters::invocation::{Found, Request};
use assay_adapters::tool::Tool;
use assay_fleet::remote::calls::{Call, CallError};
use assay_model::attribute::Attribute;
use assay_model::entry::Span;
use assay_model::event::Stopped;
use assay_model::plan::Case;
use assay_model::workload::{RdmaWorkload, Workload};

use super::tool;
use crate::fleet::pairs::{self, PairEnd};
use crate::measuring::{self, Turns};
use crate::network::error::NetworkError;
use crate::rdma::{self, Observed, Peer, TestError};
use crate::recorder::{CaseError, Recorder};

pub(super) fn turns(work: &RdmaWorkload) -> Turns<'_> {
    Box::new(|recorder| measuring::once(&mut |recorder| repetition(work, recorder), recorder))
}

fn repetition(work: &RdmaWorkload, recorder: &mut Recorder<'_, '_>) -> Result<(), CaseError> {
    // Pairs that share the network measure at the same time.
    recorder.gate()?;
    let mut entries = Vec::new();
    let pair = call(recorder)?;
    let tested = rdma::run_with(work, pair, recorder.cancel(), &mut |observed| {
        entries.extend(match observed {
            Observed::Joined(joined) => joined.entries(),
            Observed::Size(size) => size.entries(work.test),
        });
        Ok(())
    });
    tested.map_err(|failure| CaseError::Failed(rdma::of_case(&failure)))?;
    recorder.record_all(entries);
    Ok(())
}

/// The conversation with the other host of the case's pair; `None` where the case has none.
fn call(recorder: &mut Recorder<'_, '_>) -> Result<Option<Call>, CaseError> {
    let Some(peer) = recorder.pair().map(|pair| pair.peer.clone()) else { return Ok(None) };
    let gone = || failed(&NetworkError::Call(CallError::Over { peer }).into());
    recorder.call_peer(pairs::RDMA).ok_or_else(gone).map(Some)
}

/// The same for perftest, whose own ends talk over TCP: with an address of that host that was reached.
fn call_for_perftest(
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<(Call, IpAddr)>, CaseError> {
    let proven = PairEnd::of(recorder).map_err(|error| failed(&error.into()))?;
    Ok(call(recorder)?.zip(proven.map(|it| it.address.ip())))
}

fn failed(error: &TestError) -> CaseError {
    CaseError::Failed(rdma::of_case(&error.failure()))
}

/// perftest's client here and its server at the far end, size by size, as often as there is time.
pub(super) fn by_perftest(
    (case, work): (&Case, &RdmaWorkload),
    (tool, found): (&'static Tool, &Found),
    recorder: &mut Recorder<'_, '_>,
) -> Result<Stopped, CaseError> {
    if let Some(version) = &found.version {
        recorder.learn(Attribute::ToolVersion, version.as_str());
    }
    recorder.learn(Attribute::FarEnd, "perftest");
    let path = if work.to.is_none() { "loopback" } else { "network" };
    recorder.learn(Attribute::Path, path);
    for repetition in 0..case.stopping.repetitions.max(1) {
        let round_s = recorder.elapsed_s();
        for bytes in &work.sizes {
            recorder.gate()?;
            let began_s = recorder.elapsed_s();
            let pair = call_for_perftest(recorder)?;
            let program = Path::new(&found.path);
            let peer = Peer::start((work, *bytes), pair, program, recorder.cancel())
                .map_err(|error| failed(&error))?;
            let workload = Workload::Rdma(peer.work.clone());
            let request =
                Request { workload: &workload, found, repetitions: 1, cpu_flags: &[] };
            let invocations = (tool.command)(&request).map_err(|error| tool::failed(&error))?;
            for invocation in &invocations {
                let parsed = tool::run(tool, invocation, repetition, recorder)?;
                let took_s = recorder.elapsed_s() - began_s;
                let span = Span::of_seconds(began_s, took_s, false);
                tool::record(&parsed, span, repetition == 0, recorder);
            }
            peer.finish();
            recorder.flush()?;
        }
        let took_s = recorder.elapsed_s() - round_s;
        if recorder.elapsed_s() + took_s > case.stopping.budget_s {
            break;
        }
    }
    Ok(Stopped::Tool)
}
