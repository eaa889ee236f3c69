//! `compute.linpack` by assay's own algorithm, with its own kernels or those of a BLAS library.

use assay_kernels::compute::blas::Blas;
use assay_kernels::compute::linpack::{Linpack, LinpackConfig, LinpackError, flops};
use assay_model::attribute::Attribute;
use assay_model::event::StopReason;
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::quantity::Unit;
use assay_model::workload::LinpackWorkload;

use crate::measurement_loop::{self, Measurement, Turns};
use crate::recorder::{CaseError, Recorder};

/// Returns turns that solve the system; every solution is checked before its time counts.
pub(super) fn turns(work: &LinpackWorkload) -> Turns<'_> {
    let (mut blas, mut is_first) = (None, true);
    Box::new(move |recorder| {
        if std::mem::take(&mut is_first) {
            warn_if_over_budget(work, recorder);
        }
        turn(work, &mut blas, recorder)
    })
}

/// Solves within one preparation; opens `blas` once.
fn turn(
    work: &LinpackWorkload,
    blas: &mut Option<Blas>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<StopReason>, CaseError> {
    if let (Some(name), None) = (&work.blas, &blas) {
        *blas = Some(open_blas(name, recorder)?);
    }
    let config = LinpackConfig {
        n: work.n as usize,
        cpus: super::cpu_numbers(&work.cpus),
        seed: work.seed,
        blas: blas.as_ref(),
    };
    let mut measurement = Measurement {
        prepare: &mut |recorder: &mut Recorder<'_, '_>| {
            let linpack = Linpack::prepare(&config).map_err(case_error)?;
            recorder.add_fact(Attribute::Kernel, linpack.isa().name());
            Ok(linpack)
        },
        repetition: &mut solve,
        // Each solution is verified against its system right after it was timed.
        check: &mut |linpack: &mut Linpack<'_>, recorder: &mut Recorder<'_, '_>| {
            let bytes = work.n as f64 * work.n as f64 * 8.0;
            if let Some(huge) = linpack.huge_bytes() {
                recorder.add_fact(Attribute::HugePages, (huge as f64 / bytes).min(1.0));
            }
            Ok(())
        },
    };
    measurement_loop::run_preparation(&mut measurement, recorder)
}

/// Warns before the first solve if one solve cannot end within the budget of the case; it runs
/// nevertheless.
fn warn_if_over_budget(work: &LinpackWorkload, recorder: &mut Recorder<'_, '_>) {
    let peaks = recorder.run_so_far().started.plan.cases.iter().filter_map(|case| {
        let peak = recorder.median_of(&case.id, "fp64")?;
        Some((peak, case.workload.cpus().len()))
    });
    let Some(least_s) = shortest_solve_s(work, peaks) else { return };
    recorder.note_if_over_budget(least_s - recorder.budget_s(), |budget| {
        phrase!(
            "solve-over-budget",
            "one solve of N = {n} takes at least {least}, but the budget is {budget}",
            n = work.n.to_string(),
            least = Phrase::approximate(least_s, Unit::Second),
            budget = budget,
        )
    });
}

/// Lower bound of the seconds of a solve, from measured peaks in FLOP/s and the number of CPUs of
/// each.
fn shortest_solve_s(
    work: &LinpackWorkload,
    peaks: impl Iterator<Item = (f64, usize)>,
) -> Option<f64> {
    let of_one = peaks.map(|(peak, cpus)| peak / cpus as f64).reduce(f64::max)?;
    Some(flops(work.n as usize) / (of_one * work.cpus.len() as f64))
}

fn open_blas(name: &str, recorder: &mut Recorder<'_, '_>) -> Result<Blas, CaseError> {
    let blas =
        Blas::open(name).map_err(|error| CaseError::from_error(ErrorArea::Blas, &error))?;
    recorder.add_fact(Attribute::Blas, describe(&blas));
    Ok(blas)
}

/// Describes the library that was loaded, by its own version string if it has one: the user's name
/// for it may match several files.
fn describe(blas: &Blas) -> String {
    let words = if blas.version().is_empty() { blas.vendor().name() } else { blas.version() };
    format!("{words} ({})", blas.path())
}

fn solve(linpack: &mut Linpack<'_>, recorder: &mut Recorder<'_, '_>) -> Result<(), CaseError> {
    let solved = linpack.solve(recorder.cancel(), &|_| {}).map_err(case_error)?;
    if !solved.passed {
        let (residual, bound) = (solved.residual, solved.threshold);
        return Err(FailureReason::ResidualTooLarge { residual, bound }.into());
    }
    recorder.add_fact(Attribute::Residual, solved.residual);
    recorder.add_sample("rmax", solved.flops / solved.seconds);
    Ok(())
}

fn case_error(error: LinpackError) -> CaseError {
    match error {
        LinpackError::Cancelled => CaseError::Interrupted,
        LinpackError::Team(_) => CaseError::from_error(ErrorArea::Threads, &error),
        other => CaseError::from_error(ErrorArea::Linpack, &other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_solve_follows_peak_of_own_cpus() {
        let work = LinpackWorkload { n: 3000, cpus: vec![0, 1, 2, 3], seed: 1, blas: None };
        // 2/3 N³ + 3/2 N² = 18.0135 GFLOP.
        let least = |peaks: &[(f64, usize)]| shortest_solve_s(&work, peaks.iter().copied());
        assert_eq!(least(&[]), None);
        assert_eq!(least(&[(4e9, 4)]), Some(18.0135e9 / 4e9));
        assert_eq!(least(&[(1e9, 1)]), Some(18.0135e9 / 4e9), "one core is a quarter of it");
        assert_eq!(least(&[(2e9, 1), (4e9, 4)]), Some(18.0135e9 / 8e9));
    }
}
