//! One worker's I/O to one target: what comes next, and whether anything comes at all.
//!
//! Never hands anything to the kernel.

use assay_model::storage_outcome::Operation;
use assay_model::workload::storage::{StorageStream, StorageTarget};

use super::crew::{self, LanePlan};
use super::mix::Mix;
use super::phase::Phase;
use super::places::{Area, Places};
use super::random::Draws;

/// Draws of a place before a lane gives way to those who hold the blocks it wants.
const ATTEMPTS: u32 = 64;

/// A stream of I/O to one target.
#[derive(Debug)]
pub(super) struct Lane {
    /// Index of the target.
    pub(super) target: usize,
    /// Slots without work, in an open loop.
    pub(super) free: Vec<u32>,
    /// When the arrival is due that no slot was free for.
    pub(super) blocked_ns: Option<u64>,
    /// Writes since the last `fsync`.
    pub(super) writes_since_sync: u64,
    stream: usize,
    align: Option<u64>,
    pending: Option<Planned>,
    mix: Mix,
    places: Places,
    draws: Draws,
}

/// What a lane does next.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next {
    /// This.
    Io(Planned),
    /// Nothing for the moment: others hold the blocks.
    Busy,
    /// Nothing ever again.
    Done,
}

/// An I/O whose place is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planned {
    /// Read or write.
    pub(super) operation: Operation,
    /// Where, in bytes.
    pub(super) offset: u64,
    /// How much, in bytes.
    pub(super) bytes: u64,
}

impl Lane {
    /// A lane at its beginning.
    pub(super) fn new(
        plan: &LanePlan,
        (index, stream): (usize, &StorageStream),
        target: &StorageTarget,
        seed: u64,
    ) -> Self {
        let mix = Mix::new(stream, plan.area);
        let area: Area = mix.rest(plan.area);
        let greatest = crew::greatest_bytes(stream);
        let position = plan.position.clone();
        // A position at the start of a range with a hot area would begin inside it.
        position.fetch_max(
            Places::first(area, stream.pattern),
            std::sync::atomic::Ordering::Relaxed,
        );
        Self {
            target: plan.target,
            free: Vec::with_capacity(plan.slots as usize),
            blocked_ns: None,
            writes_since_sync: 0,
            stream: index,
            align: target.align_bytes,
            pending: None,
            places: Places::new(
                (area, stream.pattern),
                position,
                target.align_bytes,
                greatest,
                seed,
            ),
            mix,
            draws: Draws::new(seed, plan.id),
        }
    }

    /// Decides the next I/O and claims its place. It is charged to the budgets where it `counts`.
    #[inline]
    pub(super) fn next(&mut self, phase: &Phase<'_>, counts: bool) -> Next {
        let Some(balance) = &phase.balance else { return self.planned(phase, counts) };
        if !balance.may_begin(self.stream) {
            return Next::Busy;
        }
        let next = self.planned(phase, counts);
        match next {
            Next::Io(_) => balance.begins(self.stream),
            Next::Done => balance.ends(self.stream),
            Next::Busy => {}
        }
        next
    }

    #[inline]
    fn planned(&mut self, phase: &Phase<'_>, counts: bool) -> Next {
        let target = &phase.targets[self.target];
        if target.is_given_up() {
            return Next::Done;
        }
        for _ in 0..ATTEMPTS {
            let Some(planned) = self.pending.take().or_else(|| self.draw()) else {
                return Next::Done;
            };
            let Planned { offset, bytes, .. } = planned;
            if !target.claim(offset, bytes) {
                if self.places.ends() {
                    // This place does not come again.
                    self.pending = Some(planned);
                    return Next::Busy;
                }
                continue;
            }
            if counts && !phase.charge(self.stream, bytes) {
                target.release(offset, bytes);
                return Next::Done;
            }
            return Next::Io(planned);
        }
        Next::Busy
    }

    #[inline]
    fn draw(&mut self) -> Option<Planned> {
        let operation = self.mix.operation(&mut self.draws);
        let bytes = self.mix.bytes(&mut self.draws);
        let offset = match self.mix.hit(operation, &mut self.draws) {
            Some(hot) => hot.random(bytes, self.align.unwrap_or(bytes), &mut self.draws)?,
            None => self.places.next(bytes, &mut self.draws)?,
        };
        Some(Planned { operation, offset, bytes })
    }
}
