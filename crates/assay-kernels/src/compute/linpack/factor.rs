//! Factorisation of the whole matrix by all members, with look-ahead.
//!
//! In each step a few members, the panel workers, first bring the columns of the next panel up to
//! date and factor it. Meanwhile the others take strips of the remaining columns from a queue; then
//! the panel workers join them. Members that find the queue empty share the rows of the strips that
//! are left. So the panel, which parallelises badly, is hidden behind the trailing update. The
//! number of panel workers follows the panel's part of the work; near the end it is the whole team.
//! L is dropped after its last use, because the right-hand side is updated along as a column, as in
//! HPL.

use std::ops::Range;
use std::sync::atomic::Ordering;

use crate::compute::linpack::early_exit::EarlyExit;
use crate::compute::linpack::kernels::Kernels;
use crate::compute::linpack::matrix::SLIVER;
use crate::compute::linpack::panel::{PanelFactorisation, PanelShared};
use crate::compute::linpack::row_blocks::RowBlocks;
use crate::compute::linpack::step::FactorisationStep;
use crate::compute::linpack::strip::{Strip, TrailingUpdate, UNIT_COLUMNS};
use crate::compute::linpack::workers::{WorkerBarriers, Workers};

/// Scratch memory of the members: one part for the strip of the panel ahead, then one per member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scratch {
    pub(super) start: *mut f64,
    /// Number of doubles per part.
    pub(super) doubles_per_strip: usize,
}

// SAFETY: only an address; every access states why no other thread writes.
unsafe impl Send for Scratch {}
// SAFETY: as above.
unsafe impl Sync for Scratch {}

impl Scratch {
    fn for_look_ahead(self) -> *mut f64 {
        self.start
    }

    fn for_member(self, member: usize) -> *mut f64 {
        self.start.wrapping_add((member + 1) * self.doubles_per_strip)
    }
}

/// Slivers of a strip between two checks of the cancel flag: 2048 rows, which are a gigaflop of the
/// widest strip. A library packs U, of 240 rows, once per check: a tenth of a per cent of the work.
const SLIVERS_PER_CANCEL_CHECK: usize = 256;

/// Slivers of a block of rows with the built-in kernels. 128 rows of L are 240 KiB, and a member
/// reads as much of the matrix meanwhile: L stays in any last-level cache from member to member. A
/// block of 240 columns takes 0.26 ms at the 57 GFLOP/s of a Zen 4 core, so that the last ones end
/// together. Those of a library have [`SLIVERS_PER_CANCEL_CHECK`] and take about 17 ms.
const SLIVERS_PER_BLOCK: usize = 16;

/// Data that all members share during one factorisation.
pub(super) struct Factorisation<'a> {
    pub(super) steps: &'a [FactorisationStep],
    pub(super) update: TrailingUpdate<'a>,
    pub(super) kernels: &'a Kernels,
    pub(super) barriers: &'a WorkerBarriers,
    pub(super) panel_shared: &'a PanelShared,
    pub(super) row_blocks: RowBlocks,
    pub(super) scratch: Scratch,
    pub(super) early_exit: EarlyExit<'a>,
    pub(super) progress: &'a (dyn Fn(f64) + Sync),
}

impl Factorisation<'_> {
    /// Runs one member's part. Returns true when the factorisation is complete.
    ///
    /// # Safety
    /// All members must call this. No other thread may use matrix or scratch during the call.
    pub(super) unsafe fn run(&self, member: usize) -> bool {
        let team = self.barriers.whole_team(member);
        // SAFETY: all members are workers of the first panel.
        unsafe { self.factor_panel(&self.steps[0], team, |_| ()) };
        for (index, step) in self.steps.iter().enumerate() {
            if member < step.panel_workers
                && let Some(next) = self.steps.get(index + 1)
            {
                let workers = self.barriers.first_workers(step.panel_workers, member);
                // SAFETY: the columns of the panel workers are not in the queue.
                unsafe { self.look_ahead(step, next, workers) };
            }
            // SAFETY: the panel is complete, and all members call this between two barriers.
            unsafe { self.update_trailing(step, member) };
            if team.is_leader() {
                self.end_step(index, step);
            }
            team.wait();
            if self.early_exit.last_step.load(Ordering::Relaxed) <= index {
                return false;
            }
        }
        // SAFETY: the panels are no longer in use, and each sliver is one member's.
        unsafe { self.restore_diagonal(team) };
        team.wait();
        true
    }

    /// Updates strips until no columns are left, then blocks of the strips of others.
    unsafe fn update_trailing(&self, step: &FactorisationStep, member: usize) {
        let blocks = self.blocks(step).len();
        while !self.early_exit.is_cancelled()
            && let Some(columns) = step.take_columns()
        {
            let strip = self.strip(step, columns, self.scratch.for_member(member));
            // SAFETY: columns are taken from the queue once. No other member uses this scratch: one
            // that took a block of the strip before had found the queue empty, and then this member
            // would have found it empty, too (`RowBlocks::take`).
            unsafe { strip.solve() };
            self.row_blocks.publish(member, &strip.columns, blocks);
            step.count_published();
            // SAFETY: the strip was solved and published.
            unsafe { self.subtract_blocks(step, member, member) };
        }
        // SAFETY: the queue is empty.
        unsafe { self.help_others(step, member) };
    }

    /// Takes blocks of the strips of others until all strips are published and have none left.
    ///
    /// # Safety
    /// No columns may be left in the queue.
    unsafe fn help_others(&self, step: &FactorisationStep, member: usize) {
        loop {
            // Strips that are published later are looked for again.
            let is_last_look = step.has_published_all() || self.early_exit.is_cancelled();
            for owner in self.row_blocks.helped_members(member) {
                // SAFETY: the queue is empty, so the owner takes no other strip.
                unsafe { self.subtract_blocks(step, owner, member) };
            }
            if is_last_look {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Returns the blocks of rows below a panel, in slivers.
    fn blocks(&self, step: &FactorisationStep) -> impl ExactSizeIterator<Item = Range<usize>> {
        let size = match self.update {
            TrailingUpdate::Builtin(_) => SLIVERS_PER_BLOCK,
            TrailingUpdate::Blas(_) => SLIVERS_PER_CANCEL_CHECK,
        };
        let (first, end) = (step.panel.width / SLIVER, step.panel.slivers());
        (first..end).step_by(size).map(move |start| start..end.min(start + size))
    }

    /// Subtracts L·U in blocks of the owner's strip until all are taken.
    ///
    /// # Safety
    /// The owner may take no other strip meanwhile, unless it is this member.
    unsafe fn subtract_blocks(&self, step: &FactorisationStep, owner: usize, member: usize) {
        let count = self.blocks(step).len();
        while !self.early_exit.is_cancelled()
            && let Some((columns, block)) = self.row_blocks.take(owner, member, count)
            && let Some(slivers) = self.blocks(step).nth(block)
        {
            let strip = self.strip(step, columns, self.scratch.for_member(owner));
            // SAFETY: blocks are taken once, and their strip was solved before it was published.
            unsafe { strip.subtract_product(slivers) };
        }
    }

    fn end_step(&self, index: usize, step: &FactorisationStep) {
        if self.early_exit.is_cancelled() || self.panel_shared.singular_column().is_some() {
            self.early_exit.last_step.store(index, Ordering::Relaxed);
        }
        let order = step.panel.matrix.shape.padded as f64;
        let remaining = order - (step.panel.first + step.panel.width) as f64;
        // Out of 2/3 N³ operations, 2/3 m³ remain when m rows remain.
        (self.progress)(1.0 - (remaining / order).powi(3));
    }

    fn strip<'s>(
        &'s self,
        step: &'s FactorisationStep,
        columns: Range<usize>,
        packed: *mut f64,
    ) -> Strip<'s> {
        Strip { update: self.update, panel: &step.panel, pivots: &step.pivots, columns, packed }
    }

    /// Subtracts L·U in some slivers of a strip, or in fewer if cancelled: a library call cannot be
    /// interrupted.
    ///
    /// # Safety
    /// The same as for [`Strip::subtract_product`].
    unsafe fn subtract(&self, strip: &Strip<'_>, slivers: Range<usize>) {
        for start in slivers.clone().step_by(SLIVERS_PER_CANCEL_CHECK) {
            if self.early_exit.is_cancelled() {
                return;
            }
            let end = slivers.end.min(start + SLIVERS_PER_CANCEL_CHECK);
            // SAFETY: some of the caller's slivers.
            unsafe { strip.subtract_product(start..end) };
        }
    }

    /// Brings the next panel's columns up to date and factors it.
    unsafe fn look_ahead(
        &self,
        step: &FactorisationStep,
        next: &FactorisationStep,
        workers: Workers,
    ) {
        let strip = self.strip(
            step,
            next.panel.first..step.look_ahead_end,
            self.scratch.for_look_ahead(),
        );
        let own_units =
            strip.narrow_to_units(workers.share(strip.columns.len() / UNIT_COLUMNS));
        // SAFETY: the units are divided among the workers.
        unsafe { own_units.solve() };
        if self.early_exit.wait_and_check_skip(workers) {
            return;
        }
        let panel_slivers = step.panel.width / SLIVER;
        let update = |slivers: Range<usize>| {
            // SAFETY: the slivers are divided among the workers.
            unsafe {
                self.subtract(
                    &strip,
                    panel_slivers + slivers.start..panel_slivers + slivers.end,
                );
            };
        };
        // SAFETY: only these workers use the next panel.
        unsafe { self.factor_panel(next, workers, update) };
    }

    /// Interleaves and factors a panel; `update` is called first, for each group of own slivers.
    unsafe fn factor_panel(
        &self,
        step: &FactorisationStep,
        workers: Workers,
        update: impl Fn(Range<usize>),
    ) {
        let panel = &step.panel;
        let own_slivers = workers.share(panel.slivers());
        let mut scratch = vec![0.0; SLIVER * panel.width];
        if matches!(self.update, TrailingUpdate::Blas(_)) {
            update(own_slivers.clone());
        }
        for sliver in own_slivers.clone() {
            if matches!(self.update, TrailingUpdate::Builtin(_)) {
                update(sliver..sliver + 1);
            }
            // SAFETY: this member's sliver, not interleaved until now.
            unsafe { panel.interleave(sliver, &mut scratch) };
        }
        workers.wait();
        let factorisation = PanelFactorisation {
            panel,
            pivots: &step.pivots,
            workers,
            shared: self.panel_shared,
            kernels: self.kernels,
            early_exit: &self.early_exit,
            upper: self.scratch.for_look_ahead(),
        };
        // SAFETY: all workers call this; the scratch of the strip ahead is no longer in use.
        unsafe { factorisation.run() };
        if matches!(self.update, TrailingUpdate::Blas(_)) {
            for sliver in own_slivers {
                // SAFETY: this member's sliver, interleaved above; all workers have passed a
                // barrier since.
                unsafe { panel.restore(sliver, &mut scratch) };
            }
            workers.wait();
        }
    }

    /// Undoes the interleaving of the diagonal blocks, which back substitution reads.
    unsafe fn restore_diagonal(&self, team: Workers) {
        if matches!(self.update, TrailingUpdate::Blas(_)) {
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
