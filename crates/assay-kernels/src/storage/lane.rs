//! One worker's I/O to one target: what comes next, and whether anything comes at all.
//!
//! Never hands anything to the kernel.

use assay_model::storage_outcome::Operation;
use assay_model::workload::storage::{AccessPattern, StorageStream, StorageTarget};

use super::crew::{self, LanePlan};
use super::mix::Mix;
use super::phase::Phase;
use super::places::{Area, Places};
use super::random::Draws;
use super::rotation::{Rotation, Seat};
use super::skew::Law;

/// Draws of a place before a lane gives way to those who hold the blocks it wants.
const ATTEMPTS: u32 = 64;

/// A stream of I/O to one target, or to several that take turns.
#[derive(Debug)]
pub(super) struct Lane {
    /// Index of the target of the I/O that was decided last.
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
    /// Places that are found in another way, which most lanes do not do.
    elsewhere: Option<Box<Elsewhere>>,
    draws: Draws,
    /// Bytes until the ranges of all targets begin anew and the page cache drops them; beyond all where it keeps it.
    pass_left: u64,
    pass_bytes: u64,
}

#[derive(Debug)]
enum Elsewhere {
    Skewed(Law),
    InTurn(Rotation),
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
        // Only what goes over all of its range comes to an end of it.
        let passes =
            !matches!(stream.pattern, AccessPattern::Random | AccessPattern::Mixed { .. });
        let drops = target.opening.drops_cache && !target.direct && passes;
        let others = plan.others.iter().map(|(_, other, _)| other.end - other.start);
        let all_bytes = others.fold(area.end - area.start, u64::saturating_add);
        let pass_bytes = if drops { all_bytes } else { u64::MAX };
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
            places: places(target, area, position),
            elsewhere: rotation.or(skewed).map(Box::new),
            mix,
            draws: Draws::new(seed, plan.id),
            pass_left: pass_bytes,
            pass_bytes,
        }
    }

    /// Decides the next I/O and claims its place. It is charged to the budgets where it `counts`.
    #[inline]
    pub(super) fn next(&mut self, phase: &Phase<'_>, counts: bool) -> Next {
        if phase.balance.is_some() {
            return self.balanced(phase, counts);
        }
        self.planned(phase, counts)
    }

    /// The same, unless the stream is ahead of its share.
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
            if self.pass_left == 0 {
                self.begin_anew(phase);
            }
            self.pass_left = self.pass_left.saturating_sub(bytes);
            return Next::Io(planned);
        }
        Next::Busy
    }

    /// As fio, which opens all files of a job anew for another pass (`io_reopen` of backend.c).
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

    /// Leaves a target that was given up; whether another takes its turn.
    fn has_others(&mut self) -> bool {
        let target = self.target;
        match self.elsewhere.as_deref_mut() {
            Some(Elsewhere::InTurn(rotation)) => rotation.leave(target),
            Some(Elsewhere::Skewed(_)) | None => false,
        }
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
