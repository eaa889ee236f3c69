//! `compute.linpack` by assay's own algorithm, with its own kernels or a BLAS library in it.

use assay_kernels::compute::blas::Blas;
use assay_kernels::compute::linpack::{Linpack, LinpackConfig, LinpackError};
use assay_model::event::{Parameter, Stopped};
use assay_model::workload::LinpackWorkload;

use crate::measuring::{self, Measurement};
use crate::recorder::{CaseError, Recorder};

/// Solves again and again; every solution is checked before its time counts.
pub(super) fn measure(
    work: &LinpackWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Stopped, CaseError> {
    let blas = work.blas.as_deref().map(|name| open(name, recorder)).transpose()?;
    let config = LinpackConfig {
        n: work.n as usize,
        cpus: super::cpu_numbers(&work.cpus),
        seed: work.seed,
        blas: blas.as_ref(),
    };
    let mut measurement = Measurement {
        prepare: &mut |recorder: &mut Recorder<'_, '_>| {
            let linpack = Linpack::prepare(&config).map_err(failed)?;
            let kernel = linpack.kernel().name().to_owned();
            recorder.learn(None, "kernel", Parameter::Text(kernel));
            Ok(linpack)
        },
        repetition: &mut solve,
        // Every solution is put back into its system right after it was timed.
        check: &mut |linpack: &mut Linpack<'_>, recorder: &mut Recorder<'_, '_>| {
            let bytes = work.n as f64 * work.n as f64 * 8.0;
            if let Some(huge) = linpack.huge_bytes() {
                recorder.learn(
                    None,
                    "huge_pages",
                    Parameter::Number((huge as f64 / bytes).min(1.0)),
                );
            }
            Ok(())
        },
    };
    measuring::repeat(&mut measurement, recorder)
}

fn open(name: &str, recorder: &mut Recorder<'_, '_>) -> Result<Blas, CaseError> {
    let blas = Blas::open(name).map_err(|error| {
        CaseError::because(
            &error,
            "install the library (Debian: libopenblas0-pthread, libblis4-pthread) or give its full path",
        )
    })?;
    recorder.learn(None, "blas", Parameter::Text(describe(&blas)));
    Ok(blas)
}

/// Which library it really is, in its own words where it has any: the name the user gave may have
/// meant one of several files.
fn describe(blas: &Blas) -> String {
    let words = if blas.version().is_empty() { blas.vendor().name() } else { blas.version() };
    format!("{words} ({})", blas.path())
}

fn solve(linpack: &mut Linpack<'_>, recorder: &mut Recorder<'_, '_>) -> Result<(), CaseError> {
    let solved = linpack.solve(recorder.cancel(), &|_| {}).map_err(failed)?;
    if !solved.passed {
        let reason = format!(
            "the solution is wrong: its scaled residual is {:.3e} and must be below {}",
            solved.residual, solved.threshold
        );
        return Err(CaseError::failed(
            reason,
            "repeat once; if it fails again, test the memory and the clock settings of this machine",
        ));
    }
    recorder.learn(None, "residual", Parameter::Number(solved.residual));
    recorder.sample("rmax", None, solved.flops / solved.seconds);
    Ok(())
}

fn failed(error: LinpackError) -> CaseError {
    match error {
        LinpackError::Cancelled => CaseError::Interrupted,
        other => CaseError::because(&other, "choose a smaller system with --n or --memory"),
    }
}
