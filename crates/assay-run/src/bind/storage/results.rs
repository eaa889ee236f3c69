//! What the I/O of one case amounts to: samples, distributions, and whether they can be believed.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use assay_kernels::storage::{self as kernel, Control};
use assay_model::event::Parameter;
use assay_model::quantity::{Bytes, Quantity, Unit};
use assay_model::storage_outcome::{Operation, StorageOutcome};
use assay_model::warning::Warning;
use assay_model::workload::storage::{EngineChoice, Load, StorageWorkload};

use crate::recorder::{CaseError, Recorder};
use crate::storage::series::{self, Distribution, Stretch};

/// Seconds that the generator runs alone.
const ALONE_S: f64 = 0.25;
/// A generator that could not do twice as much may be what was measured.
const HEADROOM: f64 = 2.0;
/// A rate below this share of what was asked for is missed; Vdbench is silent about it.
const REACHED: f64 = 0.97;
/// Standard deviations that the number of arrivals may be off by chance.
const BY_CHANCE: f64 = 3.0;
/// How far the number in flight may differ from rate × latency.
const LITTLE: f64 = 0.02;
/// A file with less than this share of its size on the storage has holes.
const WHOLE: f64 = 0.95;
/// The range of addresses where a device is not opened: any large one does.
const ADDRESSES_BYTES: u64 = 1 << 40;

/// What the outcome amounts to: its stretches as samples, all of its I/O, and what is doubtful about it.
pub(super) fn record(
    outcome: &StorageOutcome,
    workload: &StorageWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let count = series::count(outcome);
    if count == 0 {
        return Err(CaseError::failed(
            "no I/O completed in the time that counts",
            "give it more time with --for or --budget",
        ));
    }
    let stretch_s = series::stretch_s(outcome.elapsed_s);
    let stretches = series::stretches(&outcome.intervals, stretch_s);
    for stretch in &stretches {
        recorder.sample("rate", None, stretch.rate_per_s());
        recorder.sample("bandwidth", None, stretch.bytes_per_s());
        recorder.sample("latency", None, stretch.service_median_s());
        if let Some(median_s) = stretch.median_from_intended_s() {
            recorder.sample("latency_from_intended", None, median_s);
        }
    }
    recorder.sample(
        "cpu_per_io",
        None,
        (outcome.cpu_user_s + outcome.cpu_system_s) / count as f64,
    );
    let [service, intended] = series::totals(outcome);
    learn_distribution("latency", &service, recorder);
    learn_distribution("latency_from_intended", &intended, recorder);
    learn_sides(outcome, recorder);
    recorder.learn(None, "engine", Parameter::Text(outcome.engine.clone()));
    recorder.learn(None, "engine_reason", Parameter::Text(outcome.engine_reason.clone()));
    recorder.raw("series.csv", series::table(&outcome.intervals).as_bytes())?;
    recorder.raw("latency.csv", service.table().as_bytes())?;
    check_little(outcome, &stretches, recorder);
    if let Load::Open { rate_per_s, .. } = workload.load {
        recorder.learn(None, "requested_rate", Parameter::Number(rate_per_s));
        if is_missed(count, rate_per_s * outcome.elapsed_s) {
            recorder.doubt(rate_missed(rate_per_s, count as f64 / outcome.elapsed_s));
        }
    }
    Ok(())
}

/// What every single I/O amounts to: the summary takes it for the samples' own.
fn learn_distribution(
    metric: &str,
    distribution: &Distribution,
    recorder: &mut Recorder<'_, '_>,
) {
    if distribution.count() == 0 {
        return;
    }
    let mut learn = |name: &str, seconds: f64| {
        recorder.learn(Some(metric), &format!("all_{name}_s"), Parameter::Number(seconds));
    };
    learn("min", distribution.least_s());
    learn("mean", distribution.mean_s());
    learn("max", distribution.greatest_s());
    for (name, seconds) in distribution.percentiles_s() {
        learn(name, seconds);
    }
    recorder.learn(Some(metric), "io", Parameter::Integer(distribution.count()));
}

/// Reads and writes apart, where there are both: their rates and their latencies.
fn learn_sides(outcome: &StorageOutcome, recorder: &mut Recorder<'_, '_>) {
    let [reads, writes] =
        [Operation::Read, Operation::Write].map(|side| series::side(outcome, side));
    if reads.count() == 0 || writes.count() == 0 {
        return;
    }
    for (name, side) in [("read", reads), ("write", writes)] {
        let rate = side.count() as f64 / outcome.elapsed_s;
        recorder.learn(None, &format!("{name}_rate"), Parameter::Number(rate));
        let wanted = ["p50", "p99", "p99.9"];
        for (percentile, seconds) in side.percentiles_s() {
            if wanted.contains(&percentile) {
                let name = format!("{name}_{percentile}_s");
                recorder.learn(None, &name, Parameter::Number(seconds));
            }
        }
    }
}

/// A file that was there already may have holes, and reading them never reaches the storage.
pub(super) fn doubt_holes(workload: &StorageWorkload, recorder: &mut Recorder<'_, '_>) {
    if workload.engine == EngineChoice::Null {
        return;
    }
    for target in &workload.targets {
        let Ok(found) = std::fs::metadata(&target.path) else { continue };
        // Blocks are counted in 512 bytes, whatever the file system uses.
        let stored_bytes = found.blocks() * 512;
        if found.is_file() && (stored_bytes as f64) < WHOLE * found.len() as f64 {
            recorder.doubt(Warning::new(
                "file-with-holes",
                format!(
                    "{} has {} and only {:.3} of them are stored",
                    target.path.display(),
                    Bytes(found.len()),
                    Bytes(stored_bytes).quantity()
                ),
                "reading a hole takes no I/O: name a path where assay makes a file, or write all of \
                 this one first; or its file system compresses",
            ));
        }
    }
}

/// In flight = rate × latency, over all the time that counts.
fn check_little(
    outcome: &StorageOutcome,
    stretches: &[Stretch],
    recorder: &mut Recorder<'_, '_>,
) {
    let counting = outcome.intervals.iter().filter(|interval| !interval.warmup);
    let time_s: f64 = counting.clone().map(|interval| interval.length_s).sum();
    let weighted: f64 = counting.map(|interval| interval.in_flight * interval.length_s).sum();
    let service_s: f64 = stretches.iter().map(Stretch::service_sum_s).sum();
    if time_s <= 0.0 || weighted <= 0.0 {
        return;
    }
    let (in_flight, product) = (weighted / time_s, service_s / time_s);
    let error = (in_flight - product).abs() / in_flight;
    recorder.learn(None, "in_flight", Parameter::Number(in_flight));
    recorder.learn(None, "little_error", Parameter::Number(error));
    // A few I/O more or less at the ends are no fault of the accounting.
    let ends = 2.0 * in_flight * product / service_s.max(f64::MIN_POSITIVE) / time_s.max(1.0);
    if error > LITTLE + ends {
        recorder.doubt(Warning::new(
            "littles-law",
            format!(
                "{in_flight:.2} I/O were in flight, but rate × latency is {product:.2}: they \
                 differ by {:.1} %",
                100.0 * error
            ),
            "latency or rate is wrong; look at the series kept with the run",
        ));
    }
}

/// Whether so few of the I/O that were asked for is no accident. Arrivals at random are Poisson's, so
/// their number in a given time has its root for standard deviation; even gaps vary less.
pub(super) fn is_missed(count: u64, asked: f64) -> bool {
    let count = count as f64;
    count < REACHED * asked && count < asked - BY_CHANCE * asked.sqrt()
}

fn rate_missed(asked_per_s: f64, reached_per_s: f64) -> Warning {
    let rate = |value| Quantity::new(value, Unit::IoPerSecond);
    Warning::new(
        "rate-missed",
        format!(
            "{:.4} were asked for and {:.4} were reached",
            rate(asked_per_s),
            rate(reached_per_s)
        ),
        "the storage or the depth is the limit: latency from the intended start grows as long as \
         it runs; ask for less, or for more depth",
    )
}

/// The same workload without any I/O.
pub(super) fn learn_headroom(
    outcome: &StorageOutcome,
    workload: &StorageWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    if workload.engine == EngineChoice::Null {
        return Ok(());
    }
    let mut alone = workload.clone();
    alone.engine = EngineChoice::Null;
    alone.load = Load::Closed;
    alone.timing.warmup_s = 0.0;
    alone.timing.duration_s = Some(ALONE_S);
    alone.timing.interval_s = ALONE_S;
    for target in &mut alone.targets {
        target.size_bytes = target.size_bytes.or(Some(ADDRESSES_BYTES));
        target.path = PathBuf::from("null");
    }
    let mut control = Control { stop: recorder.cancel(), on_interval: &mut |_| {} };
    let alone = kernel::run(&alone, &mut control).map_err(|error| {
        CaseError::because(&error, "the generator alone must run anywhere: tell us")
    })?;
    let (most, reached) = (series::rate_per_s(&alone), series::rate_per_s(outcome));
    if !most.is_finite() || most <= 0.0 {
        return Ok(());
    }
    recorder.learn(None, "generator_rate", Parameter::Number(most));
    recorder.learn(None, "generator_headroom", Parameter::Number(most / reached));
    if most < HEADROOM * reached {
        recorder.doubt(Warning::new(
            "generator-near",
            format!(
                "the generator alone does {:.3}, only {:.1} times what was reached",
                Quantity::new(most, Unit::IoPerSecond),
                most / reached
            ),
            "give it more threads: part of the latency may be the generator's",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_missed_when_chance_does_not_explain_it() {
        for (count, asked, expected) in [
            (969, 1000.0, false),
            (880, 1000.0, true),
            (96_999, 100_000.0, true),
            (97_001, 100_000.0, false),
            (0, 5.0, false),
            (0, 10.0, true),
            (1001, 1000.0, false),
        ] {
            assert_eq!(is_missed(count, asked), expected, "{count} of {asked}");
        }
    }
}
