//! `memory.loaded_latency`: the idle chain, then every mix of traffic at every pause.

use std::sync::atomic::Ordering;

use assay_kernels::memory::latency::LatencyConfig;
use assay_kernels::memory::latency::loaded::{
    LoadedLatency, LoadedLatencyConfig, LoadedSample, Traffic,
};
use assay_model::attribute::{Attribute, Attributes};
use assay_model::entry::SeriesKey;
use assay_model::event::StopReason;
use assay_model::workload::LoadedLatencyWorkload;

use crate::measurement_loop::{self, Measurement, Turns};
use crate::recorder::{CaseError, Recorder};

/// Returns turns with one pass over all points as a repetition.
pub(super) fn turns(work: &LoadedLatencyWorkload) -> Turns<'_> {
    Box::new(move |recorder| turn(work, recorder))
}

fn turn(
    work: &LoadedLatencyWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<StopReason>, CaseError> {
    let config = LoadedLatencyConfig {
        chain: LatencyConfig {
            cpu: work.cpu as usize,
            bytes: work.bytes as usize,
            line_bytes: work.line_bytes as usize,
            huge_pages: true,
            memory: None,
        },
        traffic_cpus: super::cpu_numbers(&work.traffic.cpus),
        bytes_per_generator: work.bytes_per_generator as usize,
    };
    let mut measurement = Measurement {
        prepare: &mut |recorder: &mut Recorder<'_, '_>| {
            let loaded = LoadedLatency::prepare(&config, recorder.cancel())?;
            if let Ok(huge) = loaded.huge_bytes() {
                let share = (huge as f64 / work.bytes as f64).min(1.0);
                recorder.add_fact(Attribute::HugePages, share);
            }
            Ok(loaded)
        },
        repetition: &mut |loaded: &mut LoadedLatency, recorder| {
            measure_points(work, loaded, recorder)
        },
        check: &mut |loaded, recorder| {
            loaded.verify(recorder.cancel()).map_err(CaseError::from)
        },
    };
    measurement_loop::run_preparation(&mut measurement, recorder)
}

/// Measures every point once, from idle to the maximum traffic of each mix.
fn measure_points(
    work: &LoadedLatencyWorkload,
    loaded: &mut LoadedLatency,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let idle = loaded.idle_repetition(recorder.cancel())?;
    record_point(&LoadedLatencyWorkload::idle_dimensions(), idle, recorder);
    for mix in &work.mixes {
        loaded.recover();
        for pause_ns in work.pauses_ns.iter().rev().copied() {
            if recorder.cancel().load(Ordering::Relaxed) {
                return Err(CaseError::Interrupted);
            }
            let traffic = Traffic { reads_per_write: mix.reads_per_write, pause_ns };
            let dimensions = LoadedLatencyWorkload::point_dimensions(*mix, pause_ns);
            record_point(&dimensions, loaded.repetition(traffic), recorder);
        }
    }
    Ok(())
}

fn record_point(
    dimensions: &Attributes,
    sample: LoadedSample,
    recorder: &mut Recorder<'_, '_>,
) {
    for (metric, value) in [("latency", sample.latency_s), ("bandwidth", sample.bytes_per_s)] {
        let key = SeriesKey { metric, dimensions: dimensions.clone() };
        recorder.add_series_sample(key, value);
    }
}
