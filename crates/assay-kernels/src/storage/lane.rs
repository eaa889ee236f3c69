//! I/O of one worker to one target: the next I/O, or the end of the lane.
//!
//! Never submits anything to the kernel.

use assay_model::storage_outcome::IoOperation;
use assay_model::workload::storage::{AccessPattern, StorageStream, StorageTarget};

use crate::clock;

use super::io_mix::IoMix;
use super::job_offsets::{JobIo, JobOffsets};
use super::offset_pattern::{ByteRange, OffsetPattern};
use super::phase::PhaseState;
use super::random::RandomStream;
use super::replay::ReplayCursor;
use super::rotation::{RotationState, TargetCursor};
use super::skew::SkewedOffsets;
use super::worker_plans::{self, LanePlan};

/// Draws of an offset before a lane yields to the lanes that have claimed its blocks.
const CLAIM_ATTEMPTS: u32 = 64;

/// Stream of I/O to one target, or to several that alternate.
#[derive(Debug)]
pub(super) struct StorageLane {
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
    pending: Option<PlannedIo>,
    mix: IoMix,
    places: OffsetPattern,
    /// Skewed or rotating offsets, or the order of a job, which few lanes have.
    offset_source: Option<Box<OffsetSource>>,
    draws: RandomStream,
    /// Bytes until the end of a pass over all targets' ranges, when the page cache is dropped; the
    /// maximum if it is kept.
    pass_left: u64,
    pass_bytes: u64,
    drops_cache: bool,
}

#[derive(Debug)]
enum OffsetSource {
    Skewed(SkewedOffsets),
    Rotating(RotationState),
    Job(Box<JobOffsets>),
    Replay(ReplayCursor),
}

/// Next action of a lane.
#[derive(Debug, Clone, Copy)]
pub(super) enum NextIo {
    /// Submit this I/O.
    Io(PlannedIo),
    /// Retry later: other lanes have claimed the blocks.
    Busy,
    /// Complete all I/O in flight first.
    Collect,
    /// The lane has ended.
    Done,
}

/// I/O whose blocks are claimed.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlannedIo {
    /// Target that is synced before; without bytes, no I/O follows.
    pub(super) sync_target: Option<usize>,
    /// Read or write.
    pub(super) operation: IoOperation,
    /// Offset in bytes.
    pub(super) offset: u64,
    /// Length in bytes.
    pub(super) bytes: u64,
    /// Its own priority; 0 = that of the thread.
    pub(super) priority: u16,
    /// Whether it is the first of its file since a job opened the file.
    pub(super) opens_file: bool,
}

impl PlannedIo {
    /// Creates an I/O of no job.
    const fn new(operation: IoOperation, offset: u64, bytes: u64) -> Self {
        let (sync_target, priority, opens_file) = (None, 0, false);
        Self { sync_target, operation, offset, bytes, priority, opens_file }
    }
}

impl From<JobIo> for PlannedIo {
    fn from(io: JobIo) -> Self {
        let JobIo { sync_target, operation, offset, bytes, priority, opens_file, .. } = io;
        Self { sync_target, operation, offset, bytes, priority, opens_file }
    }
}

impl StorageLane {
    /// Creates a lane at its beginning.
    pub(super) fn new(
        plan: &LanePlan,
        (index, stream): (usize, &StorageStream),
        targets: &[StorageTarget],
        seed: u64,
    ) -> Self {
        let target = &targets[plan.target];
        let mix = IoMix::new(stream, plan.area);
        let area: ByteRange = mix.cold_area(plan.area);
        let maximum = worker_plans::maximum_bytes(stream);
        let places = |target: &StorageTarget, area, position| {
            let align = target.align_bytes;
            OffsetPattern::new((area, stream.pattern), position, align, maximum, seed)
        };
        let rotation = stream.conduct.turns.map(|turns| {
            let own = std::iter::once((plan.target, plan.area, plan.position.clone()));
            let seat = |(at, area, position): (usize, ByteRange, _)| TargetCursor {
                target: at,
                pattern: places(&targets[at], area, position),
                bytes: area.end - area.start,
                issued_bytes: 0,
            };
            let seats = own.chain(plan.others.iter().cloned()).map(seat).collect();
            OffsetSource::Rotating(RotationState::new(turns, seats))
        });
        let skew = stream.conduct.skew.as_ref();
        let skewed =
            skew.map(|skew| OffsetSource::Skewed(SkewedOffsets::new(skew.clone(), area)));
        let order = stream.conduct.order.as_deref();
        let job =
            order.map(|order| OffsetSource::Job(Box::new(JobOffsets::new(order, stream))));
        let replay = ReplayCursor::new(stream).map(OffsetSource::Replay);
        // Only patterns that cover their whole range have passes.
        let passes =
            !matches!(stream.pattern, AccessPattern::Random | AccessPattern::Mixed { .. });
        let drops = target.opening.drops_cache
            && !target.direct
            && passes
            && order.is_none()
            && replay.is_none();
        let others = plan.others.iter().map(|(_, other, _)| other.end - other.start);
        let all_bytes = others.fold(area.end - area.start, u64::saturating_add);
        let pass_bytes = if drops { all_bytes } else { u64::MAX };
        let position = plan.position.clone();
        // Moves a position at the start of a range past the hot area.
        position.fetch_max(
            OffsetPattern::initial_position(area, stream.pattern),
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
            offset_source: replay.or(job).or(rotation).or(skewed).map(Box::new),
            drops_cache: target.opening.drops_cache && !target.direct,
            mix,
            draws: RandomStream::new(seed, plan.id),
            pass_left: pass_bytes,
            pass_bytes,
        }
    }

    /// Plans the next I/O and claims its blocks. It is charged to the byte limits if it `counts`.
    #[inline]
    pub(super) fn plan_next(&mut self, phase: &PhaseState<'_>, counts: bool) -> NextIo {
        if phase.balance.is_some() {
            return self.plan_balanced(phase, counts);
        }
        self.plan_io(phase, counts)
    }

    /// Plans the next I/O, unless the stream is ahead of its share.
    #[inline(never)]
    fn plan_balanced(&mut self, phase: &PhaseState<'_>, counts: bool) -> NextIo {
        let Some(balance) = &phase.balance else { return NextIo::Done };
        if !balance.may_start(self.stream) {
            return NextIo::Busy;
        }
        let next = self.plan_io(phase, counts);
        match next {
            NextIo::Io(_) => balance.note_start(self.stream),
            NextIo::Done => balance.note_end(self.stream),
            NextIo::Busy | NextIo::Collect => {}
        }
        next
    }

    #[inline]
    fn plan_io(&mut self, phase: &PhaseState<'_>, counts: bool) -> NextIo {
        if let Some(OffsetSource::Job(job)) = self.offset_source.as_deref_mut() {
            job.note_measured(counts);
        }
        if let Some(OffsetSource::Replay(replay)) = self.offset_source.as_deref_mut()
            && !replay.is_due(clock::now_ns())
        {
            return NextIo::Busy;
        }
        // I/O of the warm-up is not charged, and must not begin either.
        if !counts && phase.workload.streams[self.stream].stop_after_bytes == Some(0) {
            return NextIo::Done;
        }
        for _ in 0..CLAIM_ATTEMPTS {
            let Some(planned) = self.pending.take().or_else(|| self.draw()) else {
                return if self.awaits_completions() { NextIo::Collect } else { NextIo::Done };
            };
            let PlannedIo { offset, bytes, .. } = planned;
            let target = &phase.targets[self.target];
            if target.is_given_up() {
                self.note_completion();
                if self.leave_target() {
                    continue;
                }
                return NextIo::Done;
            }
            if !target.claim(offset, bytes) {
                if self.is_in_fixed_order() {
                    // This pattern does not return to the offset.
                    self.pending = Some(planned);
                    return NextIo::Busy;
                }
                continue;
            }
            if counts && !phase.charge(self.stream, bytes) {
                target.release(offset, bytes);
                self.note_completion();
                return NextIo::Done;
            }
            if self.pass_left == 0 || self.has_job_restarted() {
                self.drop_caches(phase);
            }
            self.pass_left = self.pass_left.saturating_sub(bytes);
            return NextIo::Io(planned);
        }
        NextIo::Busy
    }

    /// Whether the I/O in flight is to be completed before the next.
    #[cold]
    fn awaits_completions(&self) -> bool {
        match self.offset_source.as_deref() {
            Some(OffsetSource::Job(job)) => job.awaits_completions(),
            Some(
                OffsetSource::Skewed(_) | OffsetSource::Rotating(_) | OffsetSource::Replay(_),
            )
            | None => false,
        }
    }

    /// Notes that an I/O is complete or does not begin, in a lane with the order of a job.
    #[inline(never)]
    pub(super) fn note_completion(&mut self) {
        if let Some(OffsetSource::Job(job)) = self.offset_source.as_deref_mut() {
            job.note_completion();
        }
    }

    /// Whether no other draw can replace an offset.
    fn is_in_fixed_order(&self) -> bool {
        match self.offset_source.as_deref() {
            Some(OffsetSource::Job(_) | OffsetSource::Replay(_)) => true,
            Some(OffsetSource::Skewed(_) | OffsetSource::Rotating(_)) | None => {
                self.places.visits_each_once()
            }
        }
    }

    /// Whether a job whose files are cached begins another pass.
    fn has_job_restarted(&mut self) -> bool {
        match self.offset_source.as_deref_mut() {
            Some(OffsetSource::Job(job)) => job.take_cache_drop() && self.drops_cache,
            Some(
                OffsetSource::Skewed(_) | OffsetSource::Rotating(_) | OffsetSource::Replay(_),
            )
            | None => false,
        }
    }

    /// Drops the page cache before another pass, as fio, which reopens all files of a job
    /// (`io_reopen` of backend.c).
    #[cold]
    fn drop_caches(&mut self, phase: &PhaseState<'_>) {
        match self.offset_source.as_deref() {
            Some(OffsetSource::Rotating(rotation)) => {
                rotation.targets().for_each(|at| phase.targets[at].opened.drop_cache());
            }
            Some(OffsetSource::Job(job)) => {
                job.targets().for_each(|at| phase.targets[at].opened.drop_cache());
            }
            Some(OffsetSource::Skewed(_) | OffsetSource::Replay(_)) | None => {
                phase.targets[self.target].opened.drop_cache();
            }
        }
        self.pass_left = self.pass_bytes;
    }

    /// Leaves a target that was given up. Returns whether another is left.
    fn leave_target(&mut self) -> bool {
        let target = self.target;
        match self.offset_source.as_deref_mut() {
            Some(OffsetSource::Rotating(rotation)) => rotation.remove_target(target),
            Some(OffsetSource::Skewed(_) | OffsetSource::Job(_) | OffsetSource::Replay(_))
            | None => false,
        }
    }

    /// Draws the operation of an I/O that never started.
    pub(super) fn draw_operation(&mut self) -> IoOperation {
        self.mix.draw_operation(&mut self.draws)
    }

    #[inline]
    fn draw(&mut self) -> Option<PlannedIo> {
        if let Some(OffsetSource::Job(job)) = self.offset_source.as_deref_mut() {
            let io = job.next_io()?;
            self.target = io.target;
            return Some(io.into());
        }
        if let Some(OffsetSource::Replay(replay)) = self.offset_source.as_deref_mut() {
            let io = replay.next_io(clock::now_ns())?;
            self.target = io.target;
            return Some(io.into());
        }
        let operation = self.mix.draw_operation(&mut self.draws);
        let bytes = self.mix.draw_bytes(operation, &mut self.draws);
        if self.offset_source.is_some() {
            return self.draw_from_source(operation, bytes);
        }
        let offset = match self.mix.draw_hit(operation, &mut self.draws) {
            Some(hot) => {
                hot.random_offset(bytes, self.align.unwrap_or(bytes), &mut self.draws)?
            }
            None => self.places.next_offset(bytes, &mut self.draws)?,
        };
        Some(PlannedIo::new(operation, offset, bytes))
    }

    #[inline(never)]
    fn draw_from_source(&mut self, operation: IoOperation, bytes: u64) -> Option<PlannedIo> {
        let offset = match self.offset_source.as_deref_mut()? {
            OffsetSource::Rotating(rotation) => {
                let (target, offset) = rotation.next_io(bytes, &mut self.draws)?;
                self.target = target;
                offset
            }
            OffsetSource::Skewed(law) => {
                let align = self.align.unwrap_or(bytes);
                law.draw_offset((bytes, align), &mut self.draws)?
            }
            // Its next I/O was drawn by the caller.
            OffsetSource::Job(_) | OffsetSource::Replay(_) => return None,
        };
        Some(PlannedIo::new(operation, offset, bytes))
    }
}
