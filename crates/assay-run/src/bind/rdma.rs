//! `rdma.*` as cases of a plan, by assay or by perftest, with a new connection for every
//! repetition. The hosts of a pair exchange the parameters of their queue pairs over their agents.

use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::Ordering;

use assay_adapters::invocation::{InstalledTool, ToolRequest};
use assay_adapters::tool::ToolAdapter;
use assay_fleet::remote::calls::CallError;
use assay_model::attribute::Attribute;
use assay_model::entry::MeasuredSpan;
use assay_model::event::StopReason;
use assay_model::plan::Case;
use assay_model::workload::{RdmaWorkload, Workload};

use super::tool;
use crate::fleet::pair_end::{self, PairEnd};
use crate::measurement_loop::{self, Turns};
use crate::network::error::NetworkError;
use crate::rdma::{self, PerftestPeer, RdmaEvent, RdmaPartner, RdmaTestError};
use crate::recorder::{CaseError, Recorder};

pub(super) fn turns(work: &RdmaWorkload) -> Turns<'_> {
    Box::new(|recorder| {
        measurement_loop::run_once(&mut |recorder| repetition(work, recorder), recorder)
    })
}

fn repetition(work: &RdmaWorkload, recorder: &mut Recorder<'_, '_>) -> Result<(), CaseError> {
    // Synchronises pairs that share the network.
    recorder.wait_for_start()?;
    let mut entries = Vec::new();
    let (work, pair) = (&on_device(work, recorder), partner(work, recorder)?);
    let tested = rdma::run_with_partner(work, pair, recorder.cancel(), &mut |observed| {
        entries.extend(match observed {
            RdmaEvent::Joined(joined) => joined.entries(),
            RdmaEvent::SizeMeasured(size) => size.entries(work.test),
        });
        Ok(())
    });
    tested.map_err(|failure| {
        unless_ended(recorder, CaseError::Failed(rdma::to_case_failure(&failure)))
    })?;
    recorder.record_all(entries);
    Ok(())
}

/// Returns the error of a test, unless it is that the run or the time of the case has ended.
fn unless_ended(recorder: &Recorder<'_, '_>, error: CaseError) -> CaseError {
    match recorder.cancel().load(Ordering::SeqCst) {
        true => CaseError::Interrupted,
        false => error,
    }
}

/// Returns the workload with the device that the fleet file names for this end of a pair.
fn on_device(work: &RdmaWorkload, recorder: &Recorder<'_, '_>) -> RdmaWorkload {
    let own = recorder.pair().map(|pair| pair.own.with_defaults(&work.device));
    RdmaWorkload { device: own.unwrap_or_else(|| work.device.clone()), ..work.clone() }
}

/// Returns the other host of the case's pair, if the case has one.
fn partner(
    work: &RdmaWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<RdmaPartner>, CaseError> {
    let Some(pair) = recorder.pair() else { return Ok(None) };
    let (device, peer) = (pair.far.with_defaults(&work.device), pair.peer.clone());
    let gone = || RdmaTestError::from(NetworkError::Call(CallError::Over { peer }));
    let call = recorder.call_peer(pair_end::RDMA).ok_or_else(gone)?;
    Ok(Some(RdmaPartner { call, device }))
}

/// Returns the partner for perftest, whose two ends communicate over TCP, with an address of that
/// host that was reached.
fn partner_for_perftest(
    work: &RdmaWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<(RdmaPartner, IpAddr)>, CaseError> {
    let proven = PairEnd::open(recorder).map_err(RdmaTestError::from)?;
    Ok(partner(work, recorder)?.zip(proven.map(|it| it.address.ip())))
}

/// Returns turns of perftest: one round over all sizes each, with the client here and the server at
/// the far end, until the budget is used up.
pub(super) fn perftest_turns<'c>(
    (case, work): (&'c Case, &'c RdmaWorkload),
    (tool, found): (&'static ToolAdapter, &'c InstalledTool),
) -> Turns<'c> {
    let mut rounds = 0;
    Box::new(move |recorder| {
        let began_s = recorder.elapsed_s();
        perftest_round((work, rounds), (tool, found), recorder)
            .map_err(|error| unless_ended(recorder, error))?;
        rounds += 1;
        let now_s = recorder.elapsed_s();
        let is_late = now_s + (now_s - began_s) > case.stopping.budget_s;
        let is_over = is_late || rounds >= case.stopping.repetitions.max(1);
        Ok(is_over.then_some(StopReason::Tool))
    })
}

fn perftest_round(
    (work, round): (&RdmaWorkload, u32),
    (tool, found): (&'static ToolAdapter, &InstalledTool),
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    if let Some(version) = &found.version {
        recorder.add_fact(Attribute::ToolVersion, version.as_str());
    }
    recorder.add_fact(Attribute::FarEnd, "perftest");
    let path = if work.to.is_none() { "loopback" } else { "network" };
    recorder.add_fact(Attribute::Path, path);
    let work = on_device(work, recorder);
    for bytes in &work.sizes {
        recorder.wait_for_start()?;
        let began_s = recorder.elapsed_s();
        let pair = partner_for_perftest(&work, recorder)?;
        let program = Path::new(&found.path);
        let peer = PerftestPeer::start((&work, *bytes), pair, program, recorder.cancel())?;
        let workload = Workload::Rdma(peer.work.clone());
        let request =
            ToolRequest { workload: &workload, tool: found, repetitions: 1, cpu_flags: &[] };
        let invocations = (tool.command)(&request)?;
        for invocation in &invocations {
            let parsed = tool::run(tool, invocation, round, recorder)?;
            let took_s = recorder.elapsed_s() - began_s;
            let span = MeasuredSpan::from_seconds(began_s, took_s, false);
            tool::record(&parsed, span, round == 0, recorder);
        }
        peer.finish();
        recorder.flush()?;
    }
    Ok(())
}
