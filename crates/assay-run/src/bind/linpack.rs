//! `compute.linpack` by assay's own algorithm, with its own kernels or those of a BLAS library.

use assay_kernels::compute::blas::Blas;
use assay_kernels::compute::linpack::{Linpack, LinpackConfig, SolverCpu};
use assay_model::attribute::Attribute;
use assay_model::event::StopReason;
use assay_model::facts::{Cache, Topology};
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::kernel_counters::CountedWork;
use assay_model::workload::LinpackWorkload;

use crate::measurement_loop::{self, Measurement, Turns};
use crate::recorder::{CaseError, Recorder};

/// Returns turns that solve the system; every solution is checked before its time counts.
pub(super) fn turns<'c>(work: &'c LinpackWorkload, topology: &'c Topology) -> Turns<'c> {
    let mut blas = None;
    Box::new(move |recorder| turn(work, topology, &mut blas, recorder))
}

/// Solves within one preparation; opens `blas` once.
fn turn(
    work: &LinpackWorkload,
    topology: &Topology,
    blas: &mut Option<Blas>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<StopReason>, CaseError> {
    if let (Some(name), None) = (&work.blas, &blas) {
        *blas = Some(open_blas(name, recorder)?);
    }
    let config = LinpackConfig {
        n: work.n as usize,
        cpus: solver_cpus(&work.cpus, topology),
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

/// Returns the CPUs with the numbers of their last-level caches. CPUs whose caches the system hides
/// count as sharing one.
fn solver_cpus(cpus: &[u32], topology: &Topology) -> Vec<SolverCpu> {
    let caches: Vec<&Cache> = topology.last_level().collect();
    let cache_of = |cpu: &u32| caches.iter().position(|cache| cache.cpus.contains(cpu));
    let solver_cpu = |cpu: &u32| SolverCpu {
        number: *cpu as usize,
        last_level_cache: cache_of(cpu).unwrap_or(caches.len()),
    };
    cpus.iter().map(solver_cpu).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_the_numbers_of_their_last_level_caches() {
        let cache = |level, cpus: &[u32]| Cache {
            level,
            bytes: 32 << 20,
            line_bytes: 64,
            cpus: cpus.to_vec(),
        };
        let caches = vec![cache(2, &[0]), cache(3, &[0, 1]), cache(3, &[4, 5])];
        let topology = Topology { caches, ..Topology::default() };
        for (topology, expected) in
            [(&topology, [0, 1, 0, 2]), (&Topology::default(), [0, 0, 0, 0])]
        {
            let found = solver_cpus(&[1, 4, 0, 9], topology);
            let numbers: Vec<usize> = found.iter().map(|it| it.number).collect();
            let caches: Vec<usize> = found.iter().map(|it| it.last_level_cache).collect();
            assert_eq!((&numbers[..], &caches[..]), (&[1, 4, 0, 9][..], &expected[..]));
        }
    }
}
