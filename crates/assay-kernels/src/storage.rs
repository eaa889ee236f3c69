//! Storage: one load generator over four engines, with three timestamps for every I/O.
//!
//! The input is a [`StorageWorkload`] with only the engine left to choose, the output a
//! [`StorageOutcome`]. The caller decides whether a target may be written: this module writes where
//! the workload requires it. It never reports an I/O that was not completed in full.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use crate::clock;
use assay_model::storage_outcome::{IntervalTally, StorageOutcome};
use assay_model::workload::storage::{
    EngineChoice, FileCall, StorageStream, StorageTarget, StorageWorkload, Verify,
};

pub use self::error::StorageError;
pub use self::hard_links::several as several_hard_links;
pub use self::job_offsets::count_passes;
pub use self::layout::{create_unwritten, lay_out};
pub use self::open_targets::OpenTargets;
pub use self::precheck::PhasePrecheck;

use self::engine::FileIdentity;
use self::engine_selection::EngineSelection;
use self::target::{OpenedTarget, TargetAccess};

mod address_content;
mod anchor;
mod arrivals;
mod balance;
mod block_map;
mod buffers;
mod content;
mod cpu_usage;
mod depth_control;
mod descriptor_table;
mod engine;
mod engine_comparison;
mod engine_selection;
mod error;
pub mod files;
pub mod find;
mod generations;
mod hard_links;
mod io_mix;
pub mod items;
mod job_draws;
mod job_file;
mod job_offsets;
mod lane;
mod layout;
mod modelled_queue;
mod offset_pattern;
mod open_targets;
mod phase;
mod phase_runner;
mod polling;
mod positioned_io;
mod precheck;
mod priority_tallies;
mod random;
mod rate_floor;
mod replay;
mod rotation;
mod series;
mod shift_register;
mod size_watch;
mod skew;
mod skewed_blocks;
mod slot_scheduler;
mod submission_chunk;
mod tally;
mod target;
mod tausworthe;
mod thread_setup;
mod throttle;
mod timeline;
mod validate;
mod verify_backlog;
mod worker;
mod worker_plans;
mod worker_recorder;
mod write_history;

/// Beginning of a phase that is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseStart {
    /// At once.
    Now,
    /// At this time, which several hosts have in common.
    At(u64),
    /// Never: the phase ends without a valid outcome.
    Never,
}

/// Callbacks and controls of a running phase.
#[expect(missing_debug_implementations, reason = "functions do not implement Debug")]
pub struct PhaseControl<'a> {
    /// Ends the phase when set, by any thread; I/O in flight is completed first.
    pub stop: &'a AtomicBool,
    /// Targets that are already open.
    pub held: &'a OpenTargets,
    /// Called when everything is ready, where several hosts or processes begin at the same time.
    /// Returns when the phase may begin; with a common start, the series of all hosts have the same
    /// boundaries.
    pub on_ready: Option<&'a mut dyn FnMut() -> PhaseStart>,
    /// Called after each interval, in order, by the thread that called [`run`].
    pub on_interval: &'a mut dyn FnMut(&IntervalTally),
}

/// Runs one phase. Its load is closed, open or capped; the caller has resolved a share of another
/// phase's rate. Failed I/O is collected in the outcome; a target is given up after a hundred
/// failures, and the others go on.
///
/// # Errors
/// [`StorageError`] when the phase cannot take place.
pub fn run(
    workload: &StorageWorkload,
    control: &mut PhaseControl<'_>,
) -> Result<StorageOutcome, StorageError> {
    validate::check_workload(workload)?;
    polling::check(workload)?;
    let opening_ns = clock::now_ns();
    let opened = open(workload, control.held)?;
    let opened_ns = clock::now_ns();
    validate::check_targets(workload, &opened)?;
    let chosen = match engine_selection::select_engine(workload, &opened) {
        EngineSelection::Decided(chosen) => chosen,
        EngineSelection::Compare { engines } => {
            engine_comparison::choose_faster(workload, &opened, engines, control)?
        }
    };
    let outcome = phase_runner::run_phase(workload, &opened, chosen, control);
    for (target, opened) in workload.targets.iter().zip(&opened) {
        if let Some(identity) = opened.caller().and_then(|caller| caller.created()) {
            control.held.note_created(&target.path, identity);
        }
    }
    let outcome = outcome?;
    let closing_ns = clock::now_ns();
    drop(opened);
    Ok(StorageOutcome {
        open_s: clock::seconds_between(opening_ns, opened_ns),
        close_s: clock::seconds_between(closing_ns, clock::now_ns()),
        ..outcome
    })
}

fn open(
    workload: &StorageWorkload,
    held: &OpenTargets,
) -> Result<Vec<OpenedTarget>, StorageError> {
    let calls = file_calls(workload);
    let mut deleted = BTreeSet::new();
    let mut open =
        |(index, target): (usize, &StorageTarget)| match (workload.engine, calls[index]) {
            (EngineChoice::Null, _) => OpenedTarget::without_file(target),
            (_, Some(call)) => {
                let known = held.metadata(&target.path).ok().flatten();
                let known = known.as_ref().map(FileIdentity::of);
                deleted.extend(known.filter(|_| call == FileCall::Delete));
                OpenedTarget::for_call(target, call, known)
            }
            (_, None) => OpenedTarget::open(
                target,
                &held.open_path(&target.path),
                required_access(workload, index),
            ),
        };
    let opened = workload.targets.iter().enumerate().map(&mut open).collect();
    if !deleted.is_empty() {
        // A file that is open keeps its blocks when it is deleted, which is faster.
        held.close(&deleted);
    }
    opened
}

/// Returns the call that the streams make on each target instead of I/O.
fn file_calls(workload: &StorageWorkload) -> Vec<Option<FileCall>> {
    let mut calls = vec![None; workload.targets.len()];
    for stream in &workload.streams {
        for target in &stream.targets {
            calls[*target] = calls[*target].or(stream.conduct.file_call);
        }
    }
    calls
}

/// Returns the access that the streams need to one target.
fn required_access(workload: &StorageWorkload, target: usize) -> TargetAccess {
    let on_it = || workload.streams.iter().filter(|stream| stream.targets.contains(&target));
    let reads = |stream: &StorageStream| stream.read_share > 0.0;
    let writes = |stream: &StorageStream| stream.writes_to(target);
    // Verification reads the target before and after.
    let verifies = workload.data.verify != Verify::Off;
    let write = on_it().any(writes);
    // A mapping is readable.
    let maps = on_it().any(|stream| stream.conduct.maps_files);
    TargetAccess { read: !write || verifies || maps || on_it().any(reads), write, map: maps }
}
