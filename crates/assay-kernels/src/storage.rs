//! Storage: one load generator over four engines, with three clocks for every I/O.
//!
//! A [`StorageWorkload`] comes in with nothing left to decide but the engine, a [`StorageOutcome`] goes
//! out. Whether a target may be written is decided by the caller: this module writes what it is told to,
//! and it never reports an I/O that was not done in full.

use std::sync::atomic::AtomicBool;

use crate::clock;
use assay_model::storage_outcome::{IntervalTally, StorageOutcome};
use assay_model::workload::storage::{
    EngineChoice, StorageStream, StorageTarget, StorageWorkload, Verify,
};

pub use self::error::StorageError;
pub use self::foresight::Foresight;
pub use self::hard_links::several as several_hard_links;
pub use self::held::Held;
pub use self::layout::{lay_out, make_unwritten};

use self::choice::Choice;
use self::target::{Access, Opened};

mod accept;
mod agenda;
mod arrivals;
mod balance;
mod beneath;
mod buffers;
mod busy;
mod choice;
mod content;
mod contest;
mod crew;
mod descriptor_table;
mod engine;
mod error;
pub mod files;
mod foresight;
mod generations;
mod hard_links;
mod held;
mod lane;
mod layout;
mod ledger;
mod mix;
mod pace;
mod phase;
mod pieces;
mod places;
mod polling;
mod random;
mod rotation;
mod series;
mod session;
mod skew;
mod tally;
mod target;
mod timeline;
mod worker;

/// How a running phase is watched and ended.
#[expect(missing_debug_implementations, reason = "a function has no text")]
pub struct Control<'a> {
    /// Set by anyone to end the phase; what is in flight is waited for.
    pub stop: &'a AtomicBool,
    /// Targets that are held open already.
    pub held: &'a Held,
    /// Called where others begin at the same time, when everything is ready to: returns when it may, with their
    /// moment. The series of all of them then have the same borders.
    pub on_ready: Option<&'a mut dyn FnMut() -> Option<u64>>,
    /// Called after each interval, in order, by the thread that called [`run`].
    pub on_interval: &'a mut dyn FnMut(&IntervalTally),
}

/// Carries out one phase. Its load is closed, open or capped; a share of another phase's rate has been
/// worked out by the caller. I/O that fails is collected in the outcome; a target that fails a hundred
/// times is given up, and the others go on.
///
/// # Errors
/// [`StorageError`] when the phase cannot take place.
pub fn run(
    workload: &StorageWorkload,
    control: &mut Control<'_>,
) -> Result<StorageOutcome, StorageError> {
    accept::workload(workload)?;
    polling::check(workload)?;
    let opening_ns = clock::now_ns();
    let opened = open(workload, control.held)?;
    let opened_ns = clock::now_ns();
    accept::targets(workload, &opened)?;
    let chosen = match choice::choose(workload, &opened) {
        Choice::Of(chosen) => chosen,
        Choice::Contest { engines } => contest::decide(workload, &opened, engines, control)?,
    };
    let outcome = session::carry_out(workload, &opened, chosen, control)?;
    let closing_ns = clock::now_ns();
    drop(opened);
    Ok(StorageOutcome {
        open_s: clock::seconds_between(opening_ns, opened_ns),
        close_s: clock::seconds_between(closing_ns, clock::now_ns()),
        ..outcome
    })
}

fn open(workload: &StorageWorkload, held: &Held) -> Result<Vec<Opened>, StorageError> {
    let open = |(index, target): (usize, &StorageTarget)| match workload.engine {
        EngineChoice::Null => Opened::without_file(target),
        _ => Opened::open(target, &held.place(&target.path), access(workload, index)),
    };
    workload.targets.iter().enumerate().map(open).collect()
}

/// What the streams do to one target.
fn access(workload: &StorageWorkload, target: usize) -> Access {
    let on_it = || workload.streams.iter().filter(|stream| stream.targets.contains(&target));
    let reads = |stream: &StorageStream| stream.read_share > 0.0;
    let writes = |stream: &StorageStream| stream.read_share < 1.0;
    // Verification looks at the target before and after.
    let verifies = workload.data.verify != Verify::Off;
    let write = on_it().any(writes);
    Access { read: !write || verifies || on_it().any(reads), write }
}
