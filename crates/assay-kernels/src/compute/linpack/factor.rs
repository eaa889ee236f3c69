//! The factorisation of the whole matrix by all members, with look-ahead.
//!
//! In each step a few members, the crew, first bring the columns of the next panel up to date and factor
//! it, while the others already take strips of the remaining columns from a queue; then the crew joins
//! them. So the panel, which parallelises badly, hides behind the trailing update. The crew is as large
//! as the panel's part of the work demands; near the end that is everyone. L is dropped once it has been
//! used, because the right-hand side is carried along as a column, as HPL does.

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

// SAFETY: an address; every access says why nobody else writes.
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

/// Slivers of a strip between two looks at the flag: 2048 rows, which are a gigaflop of the widest strip. A library packs
/// U, of 240 rows, once for each: a tenth of a per cent of the work.
const SLIVERS_PER_LOOK: usize = 256;

/// What all members share during one factorisation.
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

/// How a factorisation ends early: everyone leaves after the same step.
#[derive(Debug)]
pub(super) struct Halt<'a> {
    pub(super) cancel: &'a AtomicBool,
    /// Someone has seen `cancel` set; it stays seen.
    pub(super) cancelled: AtomicBool,
    /// The step after which everyone leaves.
    pub(super) last_step: AtomicUsize,
    /// The panel ahead is not wanted any more, as its crew agreed.
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

    /// The crew meets; whether it then leaves the panel as it is. A panel has barriers for each of its columns,
    /// which take seconds where others use the CPUs: all of the crew go on, or none does. Its leader decides
    /// before the meeting, and cannot decide again before all have met once more, and so have read this.
    pub(super) fn skips_after(&self, crew: Crew<'_>) -> bool {
        if crew.leads() && self.is_cancelled() {
            self.skips_panel.store(true, Ordering::Relaxed);
        }
        crew.meet();
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
    /// One member's part. True when the factorisation is complete.
    ///
    /// # Safety
    /// All members must call this, and nobody else may use matrix or scratch meanwhile.
    pub(super) unsafe fn run(&self, member: usize) -> bool {
        let everyone = self.crews.everyone(member);
        // SAFETY: all members form the crew of the first panel.
        unsafe { self.factor_panel(&self.steps[0], everyone, |_| ()) };
        for (index, step) in self.steps.iter().enumerate() {
            if member < step.crew
                && let Some(next) = self.steps.get(index + 1)
            {
                let crew = self.crews.first(step.crew, member);
                // SAFETY: the crew's columns are not in the queue.
                unsafe { self.look_ahead(step, next, crew) };
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
            if everyone.leads() {
                self.end_step(index, step);
            }
            everyone.meet();
            if self.halt.last_step.load(Ordering::Relaxed) <= index {
                return false;
            }
        }
        // SAFETY: nobody uses the panels any more, and each sliver is one member's.
        unsafe { self.restore_diagonal(everyone) };
        everyone.meet();
        true
    }

    fn end_step(&self, index: usize, step: &Step) {
        if self.halt.is_cancelled() || self.board.singular_column().is_some() {
            self.halt.last_step.store(index, Ordering::Relaxed);
        }
        let order = step.panel.grid.shape.padded as f64;
        let left = order - (step.panel.first + step.panel.width) as f64;
        // Of 2/3 N³ operations, 2/3 m³ are left when m rows are.
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

    /// Subtracts L·U in some slivers of a strip, or in fewer if cancelled: no call of a library ends before its time.
    ///
    /// # Safety
    /// As for [`Strip::subtract_product`].
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
    unsafe fn look_ahead(&self, step: &Step, next: &Step, crew: Crew) {
        let strip = self.strip(step, next.panel.first..step.ahead, self.scratch.ahead());
        let mine = strip.units(crew.share(strip.columns.len() / UNIT));
        // SAFETY: the units are divided among the crew.
        unsafe { mine.solve() };
        if self.halt.skips_after(crew) {
            return;
        }
        let above = step.panel.width / SLIVER;
        let update = |slivers: Range<usize>| {
            // SAFETY: the slivers are divided among the crew.
            unsafe { self.subtract(&strip, above + slivers.start..above + slivers.end) };
        };
        // SAFETY: the crew is alone with the next panel.
        unsafe { self.factor_panel(next, crew, update) };
    }

    /// Interleaves and factors a panel; `update` is called first, for each group of own slivers.
    unsafe fn factor_panel(&self, step: &Step, crew: Crew, update: impl Fn(Range<usize>)) {
        let panel = &step.panel;
        let mine = crew.share(panel.slivers());
        let mut scratch = vec![0.0; SLIVER * panel.width];
        if matches!(self.engine, Engine::Blas(_)) {
            update(mine.clone());
        }
        for sliver in mine.clone() {
            if matches!(self.engine, Engine::Builtin(_)) {
                update(sliver..sliver + 1);
            }
            // SAFETY: this member's sliver, plain until now.
            unsafe { panel.interleave(sliver, &mut scratch) };
        }
        crew.meet();
        let factorisation = PanelFactorisation {
            panel,
            pivots: &step.pivots,
            crew,
            board: self.board,
            kernels: self.kernels,
            halt: &self.halt,
            upper: self.scratch.ahead(),
        };
        // SAFETY: the whole crew calls this; the scratch of the strip ahead is no longer in use.
        unsafe { factorisation.run() };
        if matches!(self.engine, Engine::Blas(_)) {
            for sliver in mine {
                // SAFETY: this member's sliver, interleaved above; the crew has met since.
                unsafe { panel.restore(sliver, &mut scratch) };
            }
            crew.meet();
        }
    }

    /// Lays the diagonal blocks plain again, which back substitution reads.
    unsafe fn restore_diagonal(&self, everyone: Crew) {
        if matches!(self.engine, Engine::Blas(_)) {
            return;
        }
        for step in &self.steps[everyone.share(self.steps.len())] {
            let mut scratch = vec![0.0; SLIVER * step.panel.width];
            for sliver in 0..step.panel.width / SLIVER {
                // SAFETY: the steps are divided among the members.
                unsafe { step.panel.restore(sliver, &mut scratch) };
            }
        }
    }
}
