//! Factorisation of the whole matrix by all members, with look-ahead.
//!
//! In each step a few members, the panel workers, first bring the columns of the next panel up to
//! date and factor it. Meanwhile the others take strips of the remaining columns from a queue; then
//! the panel workers join them. So the panel, which parallelises badly, is hidden behind the
//! trailing update. The number of panel workers follows the panel's part of the work; near the end
//! it is the whole team. L is dropped after its last use, because the right-hand side is updated
//! along as a column, as in HPL.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::compute::linpack::crew::{Crew, Crews};
use crate::compute::linpack::kernels::Kernels;
use crate::compute::linpack::matrix::SLIVER;
use crate::compute::linpack::panel::{Board, PanelFactorisation};
use crate::compute::linpack::step::Step;
use crate::compute::linpack::strip::{Engine, Strip, UNIT};

/// Scratch memory of the members: one part for the strip of the panel ahead, then one per member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scratch {
    pub(super) start: *mut f64,
    /// Doubles per part.
    pub(super) part: usize,
}

// SAFETY: only an address; every access states why no other thread writes.
unsafe impl Send for Scratch {}
// SAFETY: as above.
unsafe impl Sync for Scratch {}

impl Scratch {
    fn ahead(self) -> *mut f64 {
        self.start
    }

    fn of(self, member: usize) -> *mut f64 {
        self.start.wrapping_add((member + 1) * self.part)
    }
}

/// Slivers of a strip between two checks of the cancel flag: 2048 rows, which are a gigaflop of the
/// widest strip. A library packs U, of 240 rows, once per check: a tenth of a per cent of the work.
const SLIVERS_PER_LOOK: usize = 256;

/// Data that all members share during one factorisation.
pub(super) struct Factorisation<'a> {
    pub(super) steps: &'a [Step],
    pub(super) engine: Engine<'a>,
    pub(super) kernels: &'a Kernels,
    pub(super) crews: &'a Crews,
    pub(super) board: &'a Board,
    pub(super) members: usize,
    /// Widest strip, in columns.
    pub(super) strip_columns: usize,
    pub(super) scratch: Scratch,
    pub(super) halt: Halt<'a>,
    pub(super) progress: &'a (dyn Fn(f64) + Sync),
}

/// Early end of a factorisation: all members leave after the same step.
#[derive(Debug)]
pub(super) struct Halt<'a> {
    pub(super) cancel: &'a AtomicBool,
    /// Whether any member has seen `cancel` set; never reset.
    pub(super) cancelled: AtomicBool,
    /// Step after which all members leave.
    pub(super) last_step: AtomicUsize,
    /// Whether the panel workers agreed to leave the panel ahead unfactored.
    pub(super) skips_panel: AtomicBool,
}

impl<'a> Halt<'a> {
    pub(super) fn new(cancel: &'a AtomicBool) -> Self {
        let last_step = AtomicUsize::new(usize::MAX);
        Self {
            cancel,
            cancelled: AtomicBool::new(false),
            last_step,
            skips_panel: AtomicBool::new(false),
        }
    }

    /// Waits for all workers; returns whether they then leave the panel as it is. A panel has
    /// barriers for each of its columns, which take seconds if other threads use the CPUs, so
    /// either all workers go on or none does. The leader decides before the barrier. It cannot
    /// decide again before the next barrier, when all have read this decision.
    pub(super) fn skips_after(&self, workers: Crew<'_>) -> bool {
        if workers.leads() && self.is_cancelled() {
            self.skips_panel.store(true, Ordering::Relaxed);
        }
        workers.meet();
        self.skips_panel.load(Ordering::Relaxed)
    }

    fn is_cancelled(&self) -> bool {
        if self.cancel.load(Ordering::Relaxed) {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl Factorisation<'_> {
    /// Runs one member's part. Returns true when the factorisation is complete.
    ///
    /// # Safety
    /// All members must call this. No other thread may use matrix or scratch during the call.
    pub(super) unsafe fn run(&self, member: usize) -> bool {
        let team = self.crews.everyone(member);
        // SAFETY: all members are workers of the first panel.
        unsafe { self.factor_panel(&self.steps[0], team, |_| ()) };
        for (index, step) in self.steps.iter().enumerate() {
            if member < step.crew
                && let Some(next) = self.steps.get(index + 1)
            {
                let workers = self.crews.first(step.crew, member);
                // SAFETY: the columns of the panel workers are not in the queue.
                unsafe { self.look_ahead(step, next, workers) };
            }
            while !self.halt.is_cancelled()
                && let Some(columns) = step.take(self.members, self.strip_columns)
            {
                let strip = self.strip(step, columns, self.scratch.of(member));
                // SAFETY: columns are taken from the queue once; the panel is complete.
                unsafe {
                    strip.solve();
                    self.subtract(&strip, step.panel.width / SLIVER..step.panel.slivers());
                }
            }
            if team.leads() {
                self.end_step(index, step);
            }
            team.meet();
            if self.halt.last_step.load(Ordering::Relaxed) <= index {
                return false;
            }
        }
        // SAFETY: the panels are no longer in use, and each sliver is one member's.
        unsafe { self.restore_diagonal(team) };
        team.meet();
        true
    }

    fn end_step(&self, index: usize, step: &Step) {
        if self.halt.is_cancelled() || self.board.singular_column().is_some() {
            self.halt.last_step.store(index, Ordering::Relaxed);
        }
        let order = step.panel.grid.shape.padded as f64;
        let left = order - (step.panel.first + step.panel.width) as f64;
        // Out of 2/3 N³ operations, 2/3 m³ remain when m rows remain.
        (self.progress)(1.0 - (left / order).powi(3));
    }

    fn strip<'s>(
        &'s self,
        step: &'s Step,
        columns: Range<usize>,
        packed: *mut f64,
    ) -> Strip<'s> {
        Strip { engine: self.engine, panel: &step.panel, pivots: &step.pivots, columns, packed }
    }

    /// Subtracts L·U in some slivers of a strip, or in fewer if cancelled: a library call cannot be
    /// interrupted.
    ///
    /// # Safety
    /// The same as for [`Strip::subtract_product`].
    unsafe fn subtract(&self, strip: &Strip<'_>, slivers: Range<usize>) {
        for start in slivers.clone().step_by(SLIVERS_PER_LOOK) {
            if self.halt.is_cancelled() {
                return;
            }
            let end = slivers.end.min(start + SLIVERS_PER_LOOK);
            // SAFETY: some of the caller's slivers.
            unsafe { strip.subtract_product(start..end) };
        }
    }

    /// Brings the next panel's columns up to date and factors it.
    unsafe fn look_ahead(&self, step: &Step, next: &Step, workers: Crew) {
        let strip = self.strip(step, next.panel.first..step.ahead, self.scratch.ahead());
        let mine = strip.units(workers.share(strip.columns.len() / UNIT));
        // SAFETY: the units are divided among the workers.
        unsafe { mine.solve() };
        if self.halt.skips_after(workers) {
            return;
        }
        let above = step.panel.width / SLIVER;
        let update = |slivers: Range<usize>| {
            // SAFETY: the slivers are divided among the workers.
            unsafe { self.subtract(&strip, above + slivers.start..above + slivers.end) };
        };
        // SAFETY: only these workers use the next panel.
        unsafe { self.factor_panel(next, workers, update) };
    }

    /// Interleaves and factors a panel; `update` is called first, for each group of own slivers.
    unsafe fn factor_panel(&self, step: &Step, workers: Crew, update: impl Fn(Range<usize>)) {
        let panel = &step.panel;
        let mine = workers.share(panel.slivers());
        let mut scratch = vec![0.0; SLIVER * panel.width];
        if matches!(self.engine, Engine::Blas(_)) {
            update(mine.clone());
        }
        for sliver in mine.clone() {
            if matches!(self.engine, Engine::Builtin(_)) {
                update(sliver..sliver + 1);
            }
            // SAFETY: this member's sliver, not interleaved until now.
            unsafe { panel.interleave(sliver, &mut scratch) };
        }
        workers.meet();
        let factorisation = PanelFactorisation {
            panel,
            pivots: &step.pivots,
            crew: workers,
            board: self.board,
            kernels: self.kernels,
            halt: &self.halt,
            upper: self.scratch.ahead(),
        };
        // SAFETY: all workers call this; the scratch of the strip ahead is no longer in use.
        unsafe { factorisation.run() };
        if matches!(self.engine, Engine::Blas(_)) {
            for sliver in mine {
                // SAFETY: this member's sliver, interleaved above; all workers have passed a
                // barrier since.
                unsafe { panel.restore(sliver, &mut scratch) };
            }
            workers.meet();
        }
    }

    /// Undoes the interleaving of the diagonal blocks, which back substitution reads.
    unsafe fn restore_diagonal(&self, team: Crew) {
        if matches!(self.engine, Engine::Blas(_)) {
            return;
        }
        for step in &self.steps[team.share(self.steps.len())] {
            let mut scratch = vec![0.0; SLIVER * step.panel.width];
            for sliver in 0..step.panel.width / SLIVER {
                // SAFETY: the steps are divided among the members.
                unsafe { step.panel.restore(sliver, &mut scratch) };
            }
        }
    }
}
