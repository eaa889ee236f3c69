//! `rdma.*` as cases of a plan: connected anew for every repetition, by assay or by perftest.

use std::path::Path;

use assay_adapters::invocation::{Found, Request};
use assay_adapters::tool::Tool;
use assay_model::attribute::Attribute;
use assay_model::entry::Span;
use assay_model::event::Stopped;
use assay_model::plan::Case;
use assay_model::workload::{RdmaWorkload, Workload};

use super::tool;
use crate::measuring::{self, Turns};
use crate::rdma::{self, Observed, Peer};
use crate::recorder::{CaseError, Recorder};

pub(super) fn turns(work: &RdmaWorkload) -> Turns<'_> {
    Box::new(|recorder| measuring::once(&mut |recorder| repetition(work, recorder), recorder))
}

fn repetition(work: &RdmaWorkload, recorder: &mut Recorder<'_, '_>) -> Result<(), CaseError> {
    let mut entries = Vec::new();
    let tested = rdma::run(work, recorder.cancel(), &mut |observed| {
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
            let began_s = recorder.elapsed_s();
            let peer = Peer::start(work, *bytes, Path::new(&found.path), recorder.cancel());
            let peer = peer.map_err(|failure| CaseError::Failed(rdma::of_case(&failure)))?;
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
