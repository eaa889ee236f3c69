//! LINPACK: rate at which this machine solves a dense system of linear equations, A·x = b, in
//! double precision.
//!
//! HPL's problem, operation count and acceptance test, on the CPUs of one system. LU factorisation
//! with partial pivoting and back substitution are timed together; generating the system and
//! checking the solution are not timed. The kernels are built in; a BLAS library can do the
//! trailing update instead. Memory is that of the matrix and little more: the check generates the
//! system again from its seed. The caller decides on repetitions and on N.
//!
//! In the order of the work:
//!
//! - `problem` generates the system in a `matrix`.
//! - `factor` factorises it in steps of a `panel` (in the interleaved `layout` that the kernels need)
//!   and `strip`s to its right, `tile` by tile; `row_blocks` divides strips by rows.
//! - `solve` substitutes back, `residual` checks the solution.
//! - `kernels` picks the instruction set's `vector`; `workers` has the barriers of the threads.

use std::fmt;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::poisoned_lock::PoisonedLock as _;

use crate::compute::blas::Blas;
use crate::compute::isa::Isa;
use crate::mapping::{MapError, Mapping, PageAdvice};
use crate::timed::TimedTeam;

mod dot;
mod early_exit;
mod factor;
mod kernels;
mod layout;
mod matrix;
mod panel;
mod problem;
mod residual;
mod row_blocks;
mod solve;
mod step;
mod strip;
mod tile;
mod vector;
mod workers;

use early_exit::EarlyExit;
use factor::{Factorisation, Scratch};
use kernels::Kernels;
use matrix::{LinpackMatrix, MatrixShape};
use panel::PanelShared;
use problem::LinpackProblem;
use residual::Norms;
use row_blocks::RowBlocks;
use solve::Unknowns;
use step::FactorisationStep;
use strip::TrailingUpdate;
use workers::WorkerBarriers;

/// Threshold of HPL for the scaled residual.
pub const THRESHOLD: f64 = 16.0;

/// Problem to solve, and its resources.
#[derive(Debug, Clone)]
pub struct LinpackConfig<'a> {
    /// Number of unknowns, at least 1.
    pub n: usize,
    /// CPUs of the threads.
    pub cpus: Vec<SolverCpu>,
    /// Seed of the system; the same seed gives the same system.
    pub seed: u64,
    /// Library for the trailing update; `None` uses the built-in kernels.
    pub blas: Option<&'a Blas>,
}

/// CPU to which one thread is pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SolverCpu {
    /// Linux's number.
    pub number: usize,
    /// Number of its last-level cache. Threads with the same one read L together.
    pub last_level_cache: usize,
}

/// Timed solution and the result of its check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinpackSolution {
    /// Seconds from the start of the factorisation to the end of the back substitution.
    pub seconds: f64,
    /// HPL's operation count, see [`flops`].
    pub flops: f64,
    /// HPL's scaled residual, without unit; NaN if the solution contains NaN.
    pub residual: f64,
    /// [`THRESHOLD`].
    pub threshold: f64,
    /// Whether the residual is less than the threshold. If not, this is not a measurement.
    pub passed: bool,
}

/// Reason there is no solution.
#[derive(Debug, thiserror::Error)]
pub enum LinpackError {
    /// N is 0.
    #[error("cannot solve a system of 0 equations")]
    NoEquations,
    /// The number of bytes overflows.
    #[error("a system of {n} equations exceeds the address space")]
    TooLarge {
        /// Number of unknowns.
        n: usize,
    },
    /// The memory could not be allocated.
    #[error("cannot allocate the {bytes} bytes that {n} equations need")]
    Allocate {
        /// Number of unknowns.
        n: usize,
        /// Bytes of the whole problem.
        bytes: usize,
        /// Error of the operating system.
        #[source]
        source: MapError,
    },
    /// The threads could not be started or pinned.
    #[error("cannot start the solver threads")]
    Team(#[source] io::Error),
    /// A column had no pivot: its remaining entries were all zero, or not finite.
    #[error("the matrix is singular: column {column} has no pivot")]
    Singular {
        /// Column, counted from 0.
        column: usize,
    },
    /// The caller's flag was set before the end.
    #[error("the solution was cancelled")]
    Cancelled,
}

/// Returns HPL's operation count for N unknowns, 2/3 N³ + 3/2 N² (`HPL_pdtest.c`), independent of
/// the operations really executed.
pub fn flops(n: usize) -> f64 {
    let n = n as f64;
    n * n * (2.0 / 3.0 * n + 1.5)
}

/// Returns the bytes that N unknowns take with this many threads: 8 N², a few per cent for padding
/// if N is small, and about half a megabyte per thread. `None` on overflow.
pub fn memory_bytes(n: usize, threads: usize) -> Option<usize> {
    let shape = MatrixShape::new(n)?;
    let scratch = scratch_doubles(shape, threads)?.checked_mul(size_of::<f64>())?;
    shape.bytes().checked_add(scratch)
}

/// System of equations with the memory and the threads to solve it.
pub struct Linpack<'a> {
    shape: MatrixShape,
    seed: u64,
    blas: Option<&'a Blas>,
    kernels: &'static Kernels,
    matrix: LinpackMatrix,
    /// Scratch memory for strips, followed by the unknowns.
    scratch: Mapping,
    steps: Vec<FactorisationStep>,
    team: TimedTeam,
    /// Last-level cache of each member.
    caches: Vec<usize>,
    barriers: WorkerBarriers,
    panel_shared: PanelShared,
}

impl fmt::Debug for Linpack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linpack")
            .field("n", &self.shape.order)
            .field("seed", &self.seed)
            .field("blas", &self.blas)
            .field("kernel", &self.isa().name())
            .finish_non_exhaustive()
    }
}

impl<'a> Linpack<'a> {
    /// Reserves memory and starts the threads. The memory is touched by [`Linpack::solve`].
    ///
    /// # Errors
    /// [`LinpackError`]: N is 0, or memory or CPUs are unavailable.
    pub fn prepare(config: &LinpackConfig<'a>) -> Result<Self, LinpackError> {
        Self::with_isa(config, Isa::best())
    }

    fn with_isa(config: &LinpackConfig<'a>, isa: Isa) -> Result<Self, LinpackError> {
        let n = config.n;
        if n == 0 {
            return Err(LinpackError::NoEquations);
        }
        let members = config.cpus.len();
        let bytes = memory_bytes(n, members).ok_or(LinpackError::TooLarge { n })?;
        let shape = MatrixShape::new(n).ok_or(LinpackError::TooLarge { n })?;
        let doubles = scratch_doubles(shape, members).ok_or(LinpackError::TooLarge { n })?;
        let allocate = |source| LinpackError::Allocate { n, bytes, source };
        let mut matrix = LinpackMatrix::new(shape).map_err(allocate)?;
        let scratch =
            Mapping::new(doubles * size_of::<f64>(), PageAdvice::Huge).map_err(allocate)?;
        let numbers: Vec<usize> = config.cpus.iter().map(|cpu| cpu.number).collect();
        let team = TimedTeam::new(&numbers).map_err(LinpackError::Team)?;
        let kernels =
            Kernels::for_isa(isa).expect("only available instruction sets are passed");
        Ok(Self {
            shape,
            seed: config.seed,
            blas: config.blas,
            kernels,
            steps: FactorisationStep::plan(
                matrix.shared_view(),
                &panel_widths(shape.padded),
                members,
                strip_columns_limit(config.blas, isa),
            ),
            matrix,
            scratch,
            team,
            caches: config.cpus.iter().map(|cpu| cpu.last_level_cache).collect(),
            barriers: WorkerBarriers::new(members),
            panel_shared: PanelShared::new(members),
        })
    }

    /// Returns the instruction set of the kernels; with a library, they only factor panels.
    pub fn isa(&self) -> Isa {
        self.kernels.isa
    }

    /// Returns the bytes of the matrix that are in huge pages now, or `None` if the system does not
    /// report them. A solution must have touched the memory before.
    pub fn huge_bytes(&self) -> Option<usize> {
        self.matrix.huge_bytes()
    }

    /// Generates the system, solves it and checks the solution. Can be repeated; each call
    /// generates the same system again. A worker thread calls `progress` after each step with the
    /// completed fraction of the operations, from 0 to 1. `cancel` is checked within each strip of
    /// the update and between rows before and after, several times a second.
    ///
    /// A residual above the threshold gives a [`LinpackSolution`] that has not passed.
    ///
    /// # Errors
    /// [`LinpackError::Singular`], [`LinpackError::Cancelled`].
    pub fn solve(
        &mut self,
        cancel: &AtomicBool,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<LinpackSolution, LinpackError> {
        let problem = LinpackProblem::new(self.shape.order, self.seed);
        let (matrix, members) = (self.matrix.shared_view(), self.team.members());
        self.team.team().run(|member| {
            // SAFETY: members write disjoint rows, and no other thread uses the matrix.
            unsafe { problem.write(matrix, member, members, cancel) };
        });
        // A cancelled generation leaves pages untouched. Factoring the first panel would fault them
        // all in: seconds for gigabytes.
        if cancel.load(Ordering::Relaxed) {
            return Err(LinpackError::Cancelled);
        }
        let seconds = self.factor_and_solve(cancel, progress)?;
        let solution = self.check_solution(problem, seconds, cancel);
        if cancel.load(Ordering::Relaxed) { Err(LinpackError::Cancelled) } else { Ok(solution) }
    }

    /// Solves the system that is in the matrix. Returns seconds.
    fn factor_and_solve(
        &mut self,
        cancel: &AtomicBool,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<f64, LinpackError> {
        self.steps.iter().for_each(FactorisationStep::reset);
        self.panel_shared.clear();
        let (matrix, x) = (self.matrix.shared_view(), self.unknowns());
        let (kernels, barriers, steps) = (self.kernels, &self.barriers, &self.steps);
        let factorisation = Factorisation {
            steps,
            update: self.blas.map_or(TrailingUpdate::Builtin(kernels), TrailingUpdate::Blas),
            kernels,
            barriers,
            panel_shared: &self.panel_shared,
            row_blocks: RowBlocks::new(&self.caches),
            scratch: Scratch {
                start: self.scratch.as_ptr().cast(),
                doubles_per_strip: strip_scratch_doubles(self.shape),
            },
            early_exit: EarlyExit::new(cancel),
            progress,
        };
        let seconds = self.team.pass(|member| {
            let _guard = barriers.panic_guard();
            // SAFETY: all members call both, and no other thread uses matrix, scratch and unknowns.
            unsafe {
                if factorisation.run(member) {
                    let workers = barriers.whole_team(member);
                    solve::back_substitute(
                        (matrix, x),
                        steps,
                        kernels,
                        workers,
                        &factorisation.early_exit,
                    );
                }
            }
        });
        // A cancelled factorisation may look singular.
        if factorisation.early_exit.cancelled.load(Ordering::Relaxed) {
            return Err(LinpackError::Cancelled);
        }
        if let Some(column) = self.panel_shared.singular_column() {
            return Err(LinpackError::Singular { column });
        }
        Ok(seconds)
    }

    /// Checks the unknowns against the regenerated system. The result is meaningless once
    /// cancelled.
    fn check_solution(
        &mut self,
        problem: LinpackProblem,
        seconds: f64,
        cancel: &AtomicBool,
    ) -> LinpackSolution {
        let x = &self.solution().to_vec();
        let (order, members) = (self.shape.order, self.team.members());
        let norms = Mutex::new(Norms::default());
        self.team.team().run(|member| {
            let rows = (member..order).step_by(members);
            let own_norms = Norms::for_rows(
                problem,
                x,
                rows.take_while(|_| !cancel.load(Ordering::Relaxed)),
            );
            let mut merged = norms.lock().even_if_poisoned();
            *merged = merged.merge(own_norms);
        });
        let residual = norms.into_inner().even_if_poisoned().scaled_residual(x);
        LinpackSolution {
            seconds,
            flops: flops(order),
            residual,
            threshold: THRESHOLD,
            passed: residual < THRESHOLD,
        }
    }

    fn unknowns(&self) -> Unknowns {
        let len = self.shape.padded;
        let offset = self.scratch.len_bytes() / size_of::<f64>() - len;
        Unknowns { start: self.scratch.as_ptr().cast::<f64>().wrapping_add(offset), len }
    }

    /// Returns the unknowns of the last solution.
    fn solution(&self) -> &[f64] {
        let doubles = self.scratch.as_slice::<f64>();
        &doubles[doubles.len() - self.shape.padded..][..self.shape.order]
    }
}

/// Columns of a panel, and maximum number of columns of a strip with AVX-512. The packed strip,
/// 240² × 8 = 461 kB, fits into half a second-level cache of 1 MiB (Zen 4; Intel servers since
/// Skylake have at least as much). Without AVX-512, strips have half as many columns, for caches
/// of 512 KiB (Zen to Zen 3).
const PANEL_WIDTH: usize = 240;

/// Maximum number of columns of a strip with a BLAS library. It packs L again in every call: with
/// 960 columns that costs about a thousandth of the product.
const BLAS_STRIP_COLUMNS: usize = 960;

/// Returns the maximum number of columns of a strip.
fn strip_columns_limit(blas: Option<&Blas>, isa: Isa) -> usize {
    match (blas, isa) {
        (Some(_), _) => BLAS_STRIP_COLUMNS,
        (None, Isa::Avx512) => PANEL_WIDTH,
        (None, _) => PANEL_WIDTH / 2,
    }
}

/// Returns the widths of the panels, which add up to the padded order.
fn panel_widths(padded: usize) -> Vec<usize> {
    let mut widths = Vec::new();
    let mut remaining = padded;
    while remaining > 0 {
        let width = PANEL_WIDTH.min(remaining);
        widths.push(width);
        remaining -= width;
    }
    widths
}

/// Returns the doubles of one member's scratch for a packed strip.
fn strip_scratch_doubles(shape: MatrixShape) -> usize {
    PANEL_WIDTH.min(shape.padded)
        * PANEL_WIDTH.min(shape.padded.next_multiple_of(strip::UNIT_COLUMNS))
}

/// Returns the doubles of all scratch: for the strip ahead, for each member's strips, and for the
/// unknowns.
fn scratch_doubles(shape: MatrixShape, members: usize) -> Option<usize> {
    strip_scratch_doubles(shape).checked_mul(members.checked_add(1)?)?.checked_add(shape.padded)
}

#[cfg(test)]
mod tests;
