//! Step of the factorisation: its panel, and the queue from which members take the columns right of
//! it.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::compute::linpack::layout::Panel;
use crate::compute::linpack::matrix::SharedMatrix;
use crate::compute::linpack::strip::{UNIT_COLUMNS, end_of_columns};

/// Time of an operation inside a panel relative to one of the trailing update, measured on Zen 4
/// (25 against 57 GFLOP/s). Only the number of panel workers depends on it.
const PANEL_COST: f64 = 2.5;

/// Step of the factorisation: a panel and the columns right of it.
#[derive(Debug)]
pub(super) struct FactorisationStep {
    pub(super) panel: Panel,
    pub(super) pivots: Vec<AtomicUsize>,
    /// Number of members that factor the next panel ahead.
    pub(super) panel_workers: usize,
    /// End of the columns that the panel workers update for the next panel, in whole units.
    pub(super) look_ahead_end: usize,
    /// Columns of a strip.
    strip_columns: usize,
    /// First column that is not taken yet.
    next_column: AtomicUsize,
    /// Number of strips that were solved and published.
    published: AtomicUsize,
}

impl FactorisationStep {
    /// Creates the steps for panels of these widths, which must add up to the padded order. Strips
    /// have at most `limit` columns.
    pub(super) fn plan(
        matrix: SharedMatrix,
        widths: &[usize],
        members: usize,
        limit: usize,
    ) -> Vec<Self> {
        let mut first = 0;
        let next_widths = widths.iter().skip(1).chain([&0]);
        let mut steps = Vec::with_capacity(widths.len());
        for (&width, &next_width) in widths.iter().zip(next_widths) {
            let ahead = first + width + next_width.next_multiple_of(UNIT_COLUMNS);
            steps.push(Self {
                panel: Panel::new(matrix, first, width),
                pivots: (0..width).map(|_| AtomicUsize::new(0)).collect(),
                panel_workers: panel_worker_count(
                    members,
                    matrix.shape.padded - first,
                    width,
                    next_width,
                ),
                look_ahead_end: ahead,
                strip_columns: strip_columns(
                    end_of_queue(matrix, ahead).saturating_sub(ahead),
                    members,
                    limit,
                ),
                next_column: AtomicUsize::new(ahead),
                published: AtomicUsize::new(0),
            });
            first += width;
        }
        steps
    }

    /// Resets the queue for the next solution.
    pub(super) fn reset(&self) {
        self.next_column.store(self.look_ahead_end, Ordering::Relaxed);
        self.published.store(0, Ordering::Relaxed);
    }

    /// Takes a strip of columns from the queue. Once it is empty, it stays empty until it is reset.
    pub(super) fn take_columns(&self) -> Option<Range<usize>> {
        let end = end_of_queue(self.panel.matrix, self.look_ahead_end);
        let first = self.next_column.fetch_add(self.strip_columns, Ordering::Relaxed);
        (first < end).then(|| first..end.min(first + self.strip_columns))
    }

    /// Counts a strip of the queue as published.
    pub(super) fn count_published(&self) {
        self.published.fetch_add(1, Ordering::Release);
    }

    /// Whether all strips of the queue are published. What was published before is visible.
    pub(super) fn has_published_all(&self) -> bool {
        let end = end_of_queue(self.panel.matrix, self.look_ahead_end);
        let columns = end.saturating_sub(self.look_ahead_end);
        self.published.load(Ordering::Acquire) >= columns.div_ceil(self.strip_columns)
    }
}

/// Returns the end of the columns in the queue of a step whose panel workers update those before
/// `look_ahead_end`.
fn end_of_queue(matrix: SharedMatrix, look_ahead_end: usize) -> usize {
    end_of_columns(matrix, look_ahead_end.min(matrix.shape.padded + 1))
}

/// Returns the columns of each strip: an equal share for each member, or the limit. Wide strips
/// read L less often; members that get none at the end share the rows of the others.
fn strip_columns(columns: usize, members: usize, limit: usize) -> usize {
    (columns / UNIT_COLUMNS).div_ceil(members).clamp(1, limit / UNIT_COLUMNS) * UNIT_COLUMNS
}

/// Returns the number of members for the next panel, so that they finish it no later than the
/// others finish the update.
fn panel_worker_count(members: usize, rows: usize, width: usize, next_width: usize) -> usize {
    let (rows, width, next) = (rows as f64, width as f64, next_width as f64);
    let panel_cost = rows * next * (2.0 * width + PANEL_COST * next);
    let update_cost = 2.0 * rows * width * (rows - width - next).max(0.0);
    let share = panel_cost / (panel_cost + update_cost).max(1.0);
    ((share * members as f64) as usize + 1).min(members)
}
