//! `compute.peak_flops` by assay's own kernels.

use assay_kernels::compute::core_clock::{BURST_PRECISIONS, CoreClock, CoreClockConfig};
use assay_kernels::compute::isa::Isa;
use assay_kernels::compute::peak_flops::{Peak, PeakConfig, Precision};
use assay_model::attribute::Attribute;
use assay_model::entry::SeriesKey;
use assay_model::event::StopReason;
use assay_model::failure::FailureReason;
use assay_model::workload::PeakFlopsWorkload;

use crate::measurement_loop::{self, Measurement, Turns};
use crate::recorder::{CaseError, Recorder};

/// Chains of one preparation in both precisions, and the clock measurement under the same load.
struct PeakPreparation {
    peaks: [(Precision, Peak); 2],
    clock: Option<CoreClock>,
}

/// Returns turns that alternate both precisions and the clock, so that all three see the same
/// conditions.
pub(super) fn turns(work: &PeakFlopsWorkload) -> Turns<'_> {
    let mut best_flop_per_cycle = [0.0; 2];
    Box::new(move |recorder| {
        let reason = turn(work, recorder, &mut best_flop_per_cycle)?;
        for (precision, best) in BURST_PRECISIONS.into_iter().zip(best_flop_per_cycle) {
            if best > 0.0 {
                let key = SeriesKey::only_series(precision.name());
                recorder.add_series_fact(
                    key,
                    Attribute::BurstFlopPerCycle,
                    (best * 10.0).round() / 10.0,
                );
            }
        }
        Ok(reason)
    })
}

fn turn(
    work: &PeakFlopsWorkload,
    recorder: &mut Recorder<'_, '_>,
    best_flop_per_cycle: &mut [f64; 2],
) -> Result<Option<StopReason>, CaseError> {
    let isa = Isa::ALL.into_iter().find(|isa| isa.name() == work.instruction_set);
    let unknown =
        || FailureReason::UnknownInstructionSet { name: work.instruction_set.clone() };
    let isa = isa.ok_or_else(unknown)?;
    let mut measurement = Measurement {
        prepare: &mut |_: &mut Recorder<'_, '_>| prepare(work, isa),
        repetition: &mut |prepared, recorder| {
            repetition(prepared, recorder, best_flop_per_cycle)
        },
        // Every repetition verifies its sums itself.
        check: &mut |_, _| Ok(()),
    };
    measurement_loop::run_preparation(&mut measurement, recorder)
}

fn prepare(work: &PeakFlopsWorkload, isa: Isa) -> Result<PeakPreparation, CaseError> {
    let cpus = super::cpu_numbers(&work.domain.cpus);
    let peak = |precision| {
        let config = PeakConfig { cpus: cpus.clone(), precision, isa };
        Ok::<_, CaseError>((precision, Peak::prepare(&config)?))
    };
    let peaks = [peak(Precision::Fp64)?, peak(Precision::Fp32)?];
    // Without a chain for this architecture the clock is unknown, and Rpeak with it.
    let clock =
        CoreClock::prepare(&CoreClockConfig { cpus: cpus.clone(), load: Some(isa) }).ok();
    Ok(PeakPreparation { peaks, clock })
}

fn repetition(
    prepared: &mut PeakPreparation,
    recorder: &mut Recorder<'_, '_>,
    best_flop_per_cycle: &mut [f64; 2],
) -> Result<(), CaseError> {
    for (precision, peak) in &mut prepared.peaks {
        let sample = peak.repetition()?;
        recorder.add_sample(precision.name(), sample.flops / sample.seconds);
    }
    if let Some(clock) = &mut prepared.clock {
        let sample = clock.repetition();
        let clocks_hz = sample.clocks_hz;
        let mean_hz = clocks_hz.iter().sum::<f64>() / clocks_hz.len() as f64;
        recorder.add_sample("core_clock", mean_hz);
        for (best, found) in
            best_flop_per_cycle.iter_mut().zip(sample.flop_per_cycle.into_iter().flatten())
        {
            *best = best.max(found);
        }
    }
    Ok(())
}
