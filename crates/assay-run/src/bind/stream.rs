//! `memory.stream` by assay's own kernels.

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use assay_kernels::memory::stream::{self, Stream, StreamConfig, StreamOperation};
use assay_model::attribute::Attribute;
use assay_model::entry::SeriesKey;
use assay_model::event::StopReason;
use assay_model::kernel_counters::CountedWork;
use assay_model::workload::{Domain, StreamWorkload};

use super::chosen_loops::Winners;
use super::{RunCache, chosen_loops};
use crate::forecast::choosing_time_each_s;
use crate::measurement_loop::{self, Measurement, Turns};
use crate::recorder::{CaseError, Recorder};

/// Returns turns that repeat all six operations; every domain has its own clock. The chosen loops
/// are kept for all preparations of the case, and for other cases with equal arrays.
pub(super) fn turns<'c>(work: &'c StreamWorkload, known: &'c RefCell<RunCache>) -> Turns<'c> {
    let mut winners: Winners = Vec::new();
    Box::new(move |recorder| turn(work, &mut winners, known, recorder))
}

fn turn(
    work: &StreamWorkload,
    winners: &mut Winners,
    known: &RefCell<RunCache>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Option<StopReason>, CaseError> {
    let mut measurement = Measurement {
        prepare: &mut |recorder: &mut Recorder<'_, '_>| {
            let mut stream =
                chosen_loops::prepare_arrays(&stream_config(work), known, recorder)?;
            if winners.is_empty() {
                *winners = choose_kernels(work, &mut stream, known, recorder)?;
                record_facts(&stream, recorder);
            }
            Ok((stream, winners.clone()))
        },
        repetition: &mut |(stream, winners), recorder| {
            repetition(work, stream, winners, recorder)
        },
        check: &mut |(stream, _), recorder| {
            stream.verify(recorder.cancel()).map_err(CaseError::from)
        },
    };
    measurement_loop::run_preparation(&mut measurement, recorder)
}

fn stream_config(work: &StreamWorkload) -> StreamConfig {
    let cpus: Vec<u32> = work.domains.iter().flat_map(|domain| domain.cpus.clone()).collect();
    StreamConfig {
        cpus: super::cpu_numbers(&cpus),
        bytes_per_array: work.bytes_per_array as usize * work.domains.len(),
        source_cpus: Vec::new(),
        source_node: None,
        huge_pages: true,
    }
}

/// Key of the series of one operation on one domain; a single domain adds no dimensions.
fn series_key(work: &StreamWorkload, operation: StreamOperation, domain: &Domain) -> SeriesKey {
    match work.domains.len() {
        1 => SeriesKey::only_series(operation.name()),
        _ => SeriesKey {
            metric: operation.name(),
            dimensions: work.domain_dimensions(&domain.placement),
        },
    }
}

fn choose_kernels(
    work: &StreamWorkload,
    stream: &mut Stream,
    known: &RefCell<RunCache>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Winners, CaseError> {
    let arrays = stream_config(work);
    let asked = (&arrays, &StreamOperation::ALL[..]);
    let winners = chosen_loops::find_or_choose(asked, known, recorder, |recorder| {
        pick_loops(stream, recorder)
    })?;
    for (operation, kernel) in &winners {
        for domain in &work.domains {
            let key = series_key(work, *operation, domain);
            recorder.add_series_fact(key.clone(), Attribute::Kernel, kernel.name);
            if kernel.is_within_noise {
                recorder.add_series_fact(key, Attribute::KernelWithinNoise, true);
            }
        }
    }
    Ok(winners)
}

fn pick_loops(
    stream: &mut Stream,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Winners, CaseError> {
    let each_s = choosing_time_each_s(recorder.budget_s(), StreamOperation::ALL.len());
    let pick = |operation| {
        let kernel = stream.pick_best(operation, each_s, recorder.cancel());
        kernel.map(|it| (operation, it)).map_err(CaseError::from)
    };
    let winners = StreamOperation::ALL.into_iter().map(pick).collect::<Result<Winners, _>>()?;
    // Here, and not in the first repetition, it can be interrupted.
    stream.restore(recorder.cancel())?;
    Ok(winners)
}

fn record_facts(stream: &Stream, recorder: &mut Recorder<'_, '_>) {
    let total = stream.bytes_per_array() * 3;
    if let Ok(huge) = stream.huge_bytes() {
        let share = (huge as f64 / total as f64).min(1.0);
        recorder.add_fact(Attribute::HugePages, share);
    }
    recorder.add_fact(Attribute::ByteCounting, "STREAM");
}

fn repetition(
    work: &StreamWorkload,
    stream: &mut Stream,
    winners: &Winners,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    for (operation, kernel) in winners {
        // A pass over large arrays is slow on contended CPUs.
        if recorder.cancel().load(Ordering::Relaxed) {
            return Err(CaseError::Interrupted);
        }
        stream.repetition(*operation, kernel.name)?;
        let bytes = stream::bytes_moved(*operation, stream.bytes_per_array()) as f64;
        recorder.add_work(CountedWork { bytes, flop: 0.0 });
        let mut first = 0;
        for domain in &work.domains {
            let members = first..first + domain.cpus.len();
            first = members.end;
            let rate = stream.rate(*operation, members);
            recorder.add_series_sample(series_key(work, *operation, domain), rate);
        }
    }
    Ok(())
}
