//! `compute.linpack` by assay's own algorithm, with its own kernels or those of a BLAS library.

use assay_kernels::compute::blas::Blas;
use assay_kernels::compute::linpack::{Linpack, LinpackConfig};
use assay_model::attribute::Attribute;
use assay_model::event::StopReason;
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::kernel_counters::CountedWork;
use assay_model::workload::LinpackWorkload;

use crate::measurement_loop::{self, Measurement, Turns};
use crate::recorder::{CaseError, Recorder};

/// Returns turns that solve the system; every solution is checked before its time counts.
pub(super) fn turns(work: &LinpackWorkload) -> Turns<'_> {
    let mut blas = None;
    Box::new(move |recorder| turn(work, &mut blas, recorder))
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
            let linpack = Linpack::prepare(&config)?;
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
    let solved = linpack.solve(recorder.cancel(), &|_| {})?;
    if !solved.passed {
        let (residual, bound) = (solved.residual, solved.threshold);
        return Err(FailureReason::ResidualTooLarge { residual, bound }.into());
    }
    recorder.add_fact(Attribute::Residual, solved.residual);
    recorder.add_work(CountedWork { bytes: 0.0, flop: solved.flops });
    recorder.add_sample("rmax", solved.flops / solved.seconds);
    Ok(())
}
