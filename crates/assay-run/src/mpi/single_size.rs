//! Measures one message size in the same way on all ranks. Rank 0 takes the decisions that depend
//! on the clock.

use std::time::Instant;

use assay_kernels::mpi::{
    MpiBenchmark, MpiBenchmarkRequest, MpiError, MpiFigures, MpiPass, MpiWorld, OverlapParts,
    StuckHandler, Timing,
};
use assay_model::benchmark::MpiTest;
use assay_model::mpi_outcome::{MpiSizeResult, MpiValidation};
use assay_model::plan::StoppingRule;
use assay_model::workload::MpiPreset;
use assay_stats::stopping::{self, CaseTime, NextStep};

use super::method;
use super::options::MpiOptions;

/// Length of one batch in seconds: long against a clock reading, and short enough for hundreds of
/// batches in a second.
const BATCH_S: f64 = 1e-3;
/// Turns of the first, rough measurement, of each thread; a turn is one iteration of OSU's loop.
const ROUGH_TURNS: u64 = 20;
/// The same for turns that take milliseconds: windows of large messages, large messages of several
/// threads, and messages beyond [`HEAVY_BYTES`].
const ROUGH_HEAVY_TURNS: u64 = 2;
/// OSU's default for the largest message between two ranks.
const HEAVY_BYTES: u64 = 4 << 20;
/// Half-width of the interval relative to the median at which a size is precise enough.
pub(super) const TARGET_PRECISION: f64 = 0.01;
/// Minimum number of batches per size, unless it is out of time.
const MIN_BATCHES: u32 = 20;
/// Maximum number of single messages that are timed: enough for p99.9, which takes 2995.
const MAX_SINGLES: f64 = 3000.0;
/// Share of a size's time that single messages may take.
const SINGLES_SHARE: f64 = 0.25;
/// Minimum number of single messages that are timed, however long they take.
const MIN_SINGLES: f64 = 20.0;
/// Turns whose contents are compared.
const VALIDATED_TURNS: u64 = 10;

/// Size to measure.
#[derive(Debug, Clone, Copy)]
pub struct SizeStep<'a> {
    pub options: &'a MpiOptions,
    pub bytes: u64,
    /// Time budget of this size in seconds.
    pub budget_s: f64,
    /// End of the job if threads wait in vain.
    pub on_stuck: StuckHandler<'a>,
}

/// Measures one size. Only the result of rank 0 counts.
pub fn measure_size<'a>(
    world: &'a MpiWorld,
    step: &SizeStep<'a>,
) -> Result<MpiSizeResult, MpiError> {
    let options = step.options;
    let request = MpiBenchmarkRequest {
        kind: options.test.kind(),
        bytes: step.bytes as usize,
        window: method::messages_at_once(options),
        threads: method::workers(options).unwrap_or((1, 1)),
        element: method::reduction_element(options),
        buffers: options.buffers,
        window_creation: method::window_creation(options),
        synchronization: method::synchronization(options),
        test_calls: options.test_calls,
        times_parts: options.overlap_parts,
    };
    let mut exchange = world.prepare(&request, step.on_stuck)?;
    let mut result = match options.preset {
        // The library starts once, in every preset.
        _ if options.test.kind().is_startup() => measure_osu(&mut exchange, step)?,
        MpiPreset::Assay => measure_batches(world, &mut exchange, step)?,
        MpiPreset::Osu5 | MpiPreset::Osu7 => measure_osu(&mut exchange, step)?,
    };
    let has_default_percentile =
        options.preset == MpiPreset::Assay && method::has_single_turns(options.test);
    if has_default_percentile || !options.percentiles.is_empty() {
        let singles = world.broadcast_number(single_message_count(&result, step))?;
        let minimum = method::message_threads(options).map_or(0, |_| most_threads(options));
        let warm_up = result.warm_up.min(ROUGH_TURNS).max(minimum);
        result.messages_s = exchange.time_turns(warm_up, singles as usize)?;
    }
    if options.validate {
        let warm_up = MpiPass {
            warm_up: options.validation_warm_up,
            iterations: 1,
            timing: Timing::Batch,
        };
        exchange.time_batch(&warm_up)?;
        let (messages, wrong) = exchange.validate(VALIDATED_TURNS)?;
        result.validation = Some(MpiValidation { messages, wrong });
    }
    exchange.release()?;
    Ok(result)
}

/// Measures one size by OSU's method: a fixed number of turns gives one figure.
fn measure_osu(
    exchange: &mut MpiBenchmark<'_>,
    step: &SizeStep<'_>,
) -> Result<MpiSizeResult, MpiError> {
    let pass = method::osu_pass(step.options, step.bytes);
    let mut size = MpiSizeResult {
        bytes: step.bytes,
        iterations: pass.iterations,
        warm_up: pass.warm_up,
        ..MpiSizeResult::default()
    };
    let figures = exchange.time_batch(&pass)?;
    add_samples(&mut size, step, figures);
    Ok(size)
}

/// Measures one size by assay's method: batches of about a millisecond until the median is precise
/// enough.
fn measure_batches(
    world: &MpiWorld,
    exchange: &mut MpiBenchmark<'_>,
    step: &SizeStep<'_>,
) -> Result<MpiSizeResult, MpiError> {
    let threads = method::message_threads(step.options);
    let most_threads = most_threads(step.options);
    let has_many_messages = step.options.test.kind().is_windowed() || threads.is_some();
    let is_heavy =
        step.bytes > HEAVY_BYTES || has_many_messages && method::is_large(step.bytes);
    let rough_turns = most_threads * if is_heavy { ROUGH_HEAVY_TURNS } else { ROUGH_TURNS };
    let warm_up = step.options.warm_up.unwrap_or(rough_turns);
    let start = Instant::now();
    let rough = MpiPass { warm_up, iterations: rough_turns, timing: Timing::Batch };
    let figures = exchange.time_batch(&rough)?;
    let (turn_s, minimum_turns) = match (figures, threads) {
        // The starts of the threads do not count. All threads of rank 0 send at once.
        (MpiFigures::Latency { seconds }, Some((senders, _))) => {
            (2.0 * seconds / f64::from(senders.max(1)), rough_turns)
        }
        _ => (start.elapsed().as_secs_f64() / (rough_turns + warm_up) as f64, 1),
    };
    let turns = batch_turns(turn_s, minimum_turns, most_threads);
    let iterations = step.options.iterations.unwrap_or(world.broadcast_number(turns)?);
    // The first turn after a barrier, of each thread, differs from the following ones.
    let pass = MpiPass { warm_up: most_threads, iterations, timing: Timing::Batch };
    let mut size =
        MpiSizeResult { bytes: step.bytes, iterations, warm_up, ..MpiSizeResult::default() };
    let stopping = StoppingRule {
        target: TARGET_PRECISION,
        repetitions: MIN_BATCHES,
        preparations: 1,
        budget_s: step.budget_s * (1.0 - SINGLES_SHARE),
    };
    loop {
        let figures = exchange.time_batch(&pass)?;
        add_samples(&mut size, step, figures);
        let elapsed = CaseTime::from(start.elapsed().as_secs_f64());
        let series = size.samples.values().take(1).map(|samples| [samples.clone()]);
        let next = stopping::next_step(series, &stopping, elapsed);
        let continues = matches!(next, NextStep::Repeat | NextStep::PrepareAfresh);
        if world.broadcast_number(u64::from(continues))? == 0 {
            let precise = NextStep::Stop(assay_model::event::StopReason::Precise);
            size.precise = Some(next == precise);
            return Ok(size);
        }
    }
}

/// Returns the larger number of threads of the two ranks that exchange messages.
fn most_threads(options: &MpiOptions) -> u64 {
    let (first, second) = method::message_threads(options).unwrap_or((1, 1));
    u64::from(first.max(second).max(1))
}

/// Returns the number of turns of a batch, at least `minimum`, as many for each thread.
fn batch_turns(turn_s: f64, minimum: u64, threads: u64) -> u64 {
    let turns = (BATCH_S / turn_s).clamp(1.0, 1e6) as u64;
    turns.max(minimum).next_multiple_of(threads)
}

/// Returns the number of single messages that fit into their share of the time.
fn single_message_count(size: &MpiSizeResult, step: &SizeStep<'_>) -> u64 {
    let last = |metric: &str| size.samples.get(metric).and_then(|it| it.last()).copied();
    let window_bytes = (size.bytes * u64::from(method::window(step.options))) as f64;
    let window_s = || last("bandwidth").map(|bytes_per_s| window_bytes / bytes_per_s);
    let turn_s = last("latency").or_else(window_s).unwrap_or(1.0);
    let turns = step.budget_s * SINGLES_SHARE / (2.0 * turn_s).max(1e-9);
    turns.clamp(MIN_SINGLES, MAX_SINGLES) as u64
}

fn add_samples(size: &mut MpiSizeResult, step: &SizeStep<'_>, figures: MpiFigures) {
    for (metric, value) in name_figures(step.options.test, step.bytes, figures) {
        size.samples.entry(metric.to_owned()).or_default().push(value);
    }
}

/// Pairs the figures with the names of their metrics in the table of benchmarks.
fn name_figures(test: MpiTest, bytes: u64, figures: MpiFigures) -> Vec<(&'static str, f64)> {
    match figures {
        MpiFigures::Latency { seconds } => vec![("latency", seconds)],
        MpiFigures::Bandwidth { bytes_per_s } if test == MpiTest::MessageRate => {
            let messages_per_s = bytes_per_s / bytes.max(1) as f64;
            vec![("bandwidth", bytes_per_s), ("message_rate", messages_per_s)]
        }
        MpiFigures::Bandwidth { bytes_per_s } => vec![("bandwidth", bytes_per_s)],
        MpiFigures::Call { mean_s, minimum_s, maximum_s } => {
            vec![("latency", mean_s), ("latency_min", minimum_s), ("latency_max", maximum_s)]
        }
        MpiFigures::Overlap { overall_s, compute_s, pure_s, share, parts } => {
            let always = [
                ("latency", overall_s),
                ("compute", compute_s),
                ("communication", pure_s),
                ("overlap", share),
            ];
            let name_parts = |it: OverlapParts| {
                [
                    ("start", it.start_s),
                    ("test", it.tests_s),
                    ("wait", it.wait_s),
                    ("communication_min", it.minimum_s),
                    ("communication_max", it.maximum_s),
                ]
            };
            always.into_iter().chain(parts.map(name_parts).into_iter().flatten()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_model::benchmark::MpiBenchmarkKind;

    use super::*;

    #[test]
    fn each_thread_has_as_many_turns_of_a_batch() {
        assert_eq!(batch_turns(2e-6, 1, 1), 500);
        assert_eq!(batch_turns(1.0, 1, 1), 1);
        assert_eq!(batch_turns(2e-6, 60, 3), 501);
        assert_eq!(batch_turns(1e-4, 20 * 127, 127), 20 * 127);
    }

    #[test]
    fn figures_match_benchmark_metrics() {
        let figures = |test: MpiTest| match test.kind() {
            kind if kind.is_windowed() => MpiFigures::Bandwidth { bytes_per_s: 1.0 },
            MpiBenchmarkKind::Collective(_)
            | MpiBenchmarkKind::PersistentCollective(_)
            | MpiBenchmarkKind::Startup => {
                MpiFigures::Call { mean_s: 1.0, minimum_s: 1.0, maximum_s: 1.0 }
            }
            MpiBenchmarkKind::Overlap(_) => {
                let parts = OverlapParts {
                    start_s: 1.0,
                    tests_s: 1.0,
                    wait_s: 1.0,
                    minimum_s: 1.0,
                    maximum_s: 1.0,
                };
                MpiFigures::Overlap {
                    overall_s: 1.0,
                    compute_s: 1.0,
                    pure_s: 1.0,
                    share: 0.5,
                    parts: Some(parts),
                }
            }
            _ => MpiFigures::Latency { seconds: 1.0 },
        };
        for test in MpiTest::ALL {
            let benchmark = assay_model::benchmark::Benchmark::Mpi(test);
            let mut names: Vec<_> = name_figures(test, 8, figures(test))
                .into_iter()
                .map(|(name, _)| name)
                .collect();
            let mut metrics: Vec<_> =
                benchmark.definition().metrics.iter().map(|metric| metric.name).collect();
            names.sort_unstable();
            metrics.sort_unstable();
            assert_eq!(names, metrics, "{}", test.name());
        }
    }
}
