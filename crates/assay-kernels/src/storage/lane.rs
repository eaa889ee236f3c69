//! I/O of one worker to one target: the next I/O, or the end of the lane.
//!
//! Never submits anything to the kernel.

use assay_model::storage_outcome::Operation;
use assay_model::workload::storage::{AccessPattern, StorageStream, StorageTarget};

use super::crew::{self, LanePlan};
use super::mix::Mix;
use super::phase::Phase;
use super::places::{Area, Places};
use super::random::Draws;
use super::rotation::{Rotation, Seat};
use super::skew::Law;

/// Draws of an offset before a lane yields to the lanes that have claimed its blocks.
const ATTEMPTS: u32 = 64;

/// Stream of I/O to one target, or to several that alternate.
#[derive(Debug)]
pub(super) struct Lane {
    /// Index of the last I/O's target.
    pub(super) target: usize,
    /// Free slots, in an open loop.
    pub(super) free: Vec<u32>,
    /// Intended start of the arrival for which no slot was free.
    pub(super) blocked_ns: Option<u64>,
    /// Writes since the last `fsync`.
    pub(super) writes_since_sync: u64,
    stream: usize,
    align: Option<u64>,
    pending: Option<Planned>,
    mix: Mix,
    places: Places,
    /// Skewed or rotating offsets, which few lanes have.
    elsewhere: Option<Box<Elsewhere>>,
    draws: Draws,
    /// Bytes until the end of a pass over all targets' ranges, when the page cache is dropped; the
    /// maximum if it is kept.
    pass_left: u64,
    pass_bytes: u64,
}

#[derive(Debug)]
enum Elsewhere {
    Skewed(Law),
    InTurn(Rotation),
}

/// Next action of a lane.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next {
    /// Submit this I/O.
    Io(Planned),
    /// Retry later: other lanes have claimed the blocks.
    Busy,
    /// The lane has ended.
    Done,
}

/// I/O whose blocks are claimed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planned {
    /// Read or write.
    pub(super) operation: Operation,
    /// Offset in bytes.
    pub(super) offset: u64,
    /// Length in bytes.
    pub(super) bytes: u64,
}

impl Lane {
    /// Creates a lane at its beginning.
    pub(super) fn new(
        plan: &LanePlan,
        (index, stream): (usize, &StorageStream),
        targets: &[StorageTarget],
        seed: u64,
    ) -> Self {
        let target = &targets[plan.target];
        let mix = Mix::new(stream, plan.area);
        let area: Area = mix.rest(plan.area);
        let maximum = crew::maximum_bytes(stream);
        let places = |target: &StorageTarget, area, position| {
            let align = target.align_bytes;
            Places::new((area, stream.pattern), position, align, maximum, seed)
        };
        let rotation = stream.conduct.turns.map(|turns| {
            let own = std::iter::once((plan.target, plan.area, plan.position.clone()));
            let seat = |(at, area, position): (usize, Area, _)| Seat {
                target: at,
                places: places(&targets[at], area, position),
                bytes: area.end - area.start,
                given: 0,
            };
            let seats = own.chain(plan.others.iter().cloned()).map(seat).collect();
            Elsewhere::InTurn(Rotation::new(turns, seats))
        });
        let skew = stream.conduct.skew.as_ref();
        let skewed = skew.map(|skew| Elsewhere::Skewed(Law::new(skew, area, seed)));
        // Only patterns that cover their whole range have passes.
        let passes =
            !matches!(stream.pattern, AccessPattern::Random | AccessPattern::Mixed { .. });
        let drops = target.opening.drops_cache && !target.direct && passes;
        let others = plan.others.iter().map(|(_, other, _)| other.end - other.start);
        let all_bytes = others.fold(area.end - area.start, u64::saturating_add);
        let pass_bytes = if drops { all_bytes } else { u64::MAX };
        let position = plan.position.clone();
        // Moves a position at the start of a range past the hot area.
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
            places: places(target, area, position),
            elsewhere: rotation.or(skewed).map(Box::new),
            mix,
            draws: Draws::new(seed, plan.id),
            pass_left: pass_bytes,
            pass_bytes,
        }
    }

    /// Plans the next I/O and claims its blocks. It is charged to the byte limits if it `counts`.
    #[inline]
    pub(super) fn next(&mut self, phase: &Phase<'_>, counts: bool) -> Next {
        if phase.balance.is_some() {
            return self.balanced(phase, counts);
        }
        self.planned(phase, counts)
    }

    /// Plans the next I/O, unless the stream is ahead of its share.
    #[inline(never)]
    fn balanced(&mut self, phase: &Phase<'_>, counts: bool) -> Next {
        let Some(balance) = &phase.balance else { return Next::Done };
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
        for _ in 0..ATTEMPTS {
            let Some(planned) = self.pending.take().or_else(|| self.draw()) else {
                return Next::Done;
            };
            let Planned { offset, bytes, .. } = planned;
            let target = &phase.targets[self.target];
            if target.is_given_up() {
                if self.has_others() {
                    continue;
                }
                return Next::Done;
            }
            if !target.claim(offset, bytes) {
                if self.places.ends() {
                    // This pattern does not return to the offset.
                    self.pending = Some(planned);
                    return Next::Busy;
                }
                continue;
            }
            if counts && !phase.charge(self.stream, bytes) {
                target.release(offset, bytes);
                return Next::Done;
            }
            if self.pass_left == 0 {
                self.begin_anew(phase);
            }
            self.pass_left = self.pass_left.saturating_sub(bytes);
            return Next::Io(planned);
        }
        Next::Busy
    }

    /// Drops the page cache before another pass, as fio, which reopens all files of a job
    /// (`io_reopen` of backend.c).
    #[cold]
    fn begin_anew(&mut self, phase: &Phase<'_>) {
        match self.elsewhere.as_deref() {
            Some(Elsewhere::InTurn(rotation)) => {
                rotation.targets().for_each(|at| phase.targets[at].opened.drop_cache());
            }
            Some(Elsewhere::Skewed(_)) | None => phase.targets[self.target].opened.drop_cache(),
        }
        self.pass_left = self.pass_bytes;
    }

    /// Leaves a target that was given up. Returns whether another is left.
    fn has_others(&mut self) -> bool {
        let target = self.target;
        match self.elsewhere.as_deref_mut() {
            Some(Elsewhere::InTurn(rotation)) => rotation.leave(target),
            Some(Elsewhere::Skewed(_)) | None => false,
        }
    }

    /// Draws the operation of an I/O that never started.
    pub(super) fn operation(&mut self) -> Operation {
        self.mix.operation(&mut self.draws)
    }

    #[inline]
    fn draw(&mut self) -> Option<Planned> {
        let operation = self.mix.operation(&mut self.draws);
        let bytes = self.mix.bytes(operation, &mut self.draws);
        if self.elsewhere.is_some() {
            return self.draw_elsewhere(operation, bytes);
        }
        let offset = match self.mix.hit(operation, &mut self.draws) {
            Some(hot) => hot.random(bytes, self.align.unwrap_or(bytes), &mut self.draws)?,
            None => self.places.next(bytes, &mut self.draws)?,
        };
        Some(Planned { operation, offset, bytes })
    }

    #[inline(never)]
    fn draw_elsewhere(&mut self, operation: Operation, bytes: u64) -> Option<Planned> {
        let offset = match self.elsewhere.as_deref_mut()? {
            Elsewhere::InTurn(rotation) => {
                let (target, offset) = rotation.next(bytes, &mut self.draws)?;
                self.target = target;
                offset
            }
            Elsewhere::Skewed(law) => {
                let align = self.align.unwrap_or(bytes);
                law.place(operation, (bytes, align), &mut self.draws)?
            }
        };
        Some(Planned { operation, offset, bytes })
    }
}
