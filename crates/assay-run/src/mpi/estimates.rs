//! What the samples of an MPI job amount to: rows for people, one JSON document for programs.

use assay_model::benchmark::{Benchmark, Metric, MpiTest};
use assay_model::event::{Parameter, Parameters, Stopped};
use assay_model::mpi_outcome::{MpiOutcome, MpiSize};
use assay_model::plan::Stopping;
use assay_model::quantity::Bytes;
use assay_model::summary::{Estimate, Summary};
use assay_model::warning::Warning;
use assay_stats::analysis::{Analysis, analyse};
use assay_stats::doubts::{Luck, doubts};
use assay_stats::quantile::carries;
use assay_stats::summarize::estimate::{About, of_analysis};
use jiff::Timestamp;

use super::ladder::TARGET;
use crate::unstored::{Unstored, this_program};

/// The machine-readable result, as every command of assay prints it.
pub fn summary(test: MpiTest, outcome: &MpiOutcome, started: Timestamp) -> Summary {
    let job = Unstored {
        suite: format!("mpi {}", test.name()),
        started,
        complete: outcome.complete,
        warnings: unbound(outcome).into_iter().collect(),
    };
    job.summary(|host| {
        outcome.sizes.iter().flat_map(|size| of_size(test, outcome, size, host)).collect()
    })
}

/// Ranks that may wander from CPU to CPU take their caches' contents nowhere.
pub fn unbound(outcome: &MpiOutcome) -> Option<Warning> {
    let wandering = outcome.ranks.iter().filter(|rank| rank.cpus.len() > 1).count();
    let moved = outcome.ranks.iter().filter(|rank| rank.seen_on.len() > 1).count();
    (wandering > 0).then(|| {
        Warning::new(
            "unbound-ranks",
            format!(
                "{wandering} of {} ranks are not bound to one CPU, and {moved} of them moved",
                outcome.ranks.len()
            ),
            "bind them by the launcher: `-bind-to core` (MPICH), `--bind-to core` (Open MPI), \
             `I_MPI_PIN=1` (Intel MPI), `--cpu-bind=cores` (srun)",
        )
    })
}

/// What the batches of a size say against their own median, but for its width, which stands beside it.
pub fn shape(test: MpiTest, size: &MpiSize) -> Vec<String> {
    let first = if size.samples.contains_key("bandwidth") { "bandwidth" } else { "latency" };
    let (Some(analysis), Some(metric)) =
        (analysis(size, first), Benchmark::Mpi(test).metric(first))
    else {
        return Vec::new();
    };
    let told = |warning: &Warning| ["several-modes", "autocorrelated"].contains(&&*warning.id);
    let doubts = doubts(&analysis, &stopping(), Stopped::Budget, metric.unit, Luck::Launch);
    let of_size = |warning: Warning| format!("at {}: {}", Bytes(size.bytes), warning.text);
    doubts.into_iter().filter(told).map(of_size).collect()
}

/// One estimate per metric, and one of single messages where they were timed.
fn of_size(test: MpiTest, outcome: &MpiOutcome, size: &MpiSize, host: &str) -> Vec<Estimate> {
    let benchmark = Benchmark::Mpi(test);
    let of = |name: &str, samples: &[f64], timed: &str| {
        let metric = benchmark.metric(name)?;
        let mut parameters = parameters(outcome, size);
        parameters.insert("timed".to_owned(), Parameter::Text(timed.to_owned()));
        estimate(benchmark, metric, samples, parameters, size, host)
    };
    let batches = size.samples.iter().map(|(name, samples)| of(name, samples, "batch"));
    let (metric, values) = singles(test, outcome, size);
    let singles = (!values.is_empty()).then(|| of(metric, &values, "single"));
    batches.chain(singles).flatten().collect()
}

fn parameters(outcome: &MpiOutcome, size: &MpiSize) -> Parameters {
    let text = |text: &str| Parameter::Text(text.to_owned());
    let mut parameters = Parameters::from([
        ("bytes".to_owned(), Parameter::Integer(size.bytes)),
        ("ranks".to_owned(), Parameter::Integer(outcome.ranks.len() as u64)),
        ("iterations".to_owned(), Parameter::Integer(size.iterations)),
        ("preset".to_owned(), text(&outcome.preset)),
        ("launcher".to_owned(), text(&outcome.launcher)),
    ]);
    if let Some(library) = &outcome.library {
        let name = format!("{} {}", library.name, library.version);
        parameters.insert("mpi".to_owned(), text(name.trim()));
        parameters.insert("abi".to_owned(), text(library.abi.name()));
    }
    parameters
}

fn estimate(
    benchmark: Benchmark,
    metric: &Metric,
    samples: &[f64],
    parameters: Parameters,
    size: &MpiSize,
    host: &str,
) -> Option<Estimate> {
    let analysis = analyse(&[samples.to_vec()])?;
    let warnings = match size.precise {
        None => Vec::new(),
        Some(precise) => {
            let stopped = if precise { Stopped::Precise } else { Stopped::Budget };
            doubts(&analysis, &stopping(), stopped, metric.unit, Luck::Launch)
        }
    };
    let about = About { benchmark, metric, parameters, warnings };
    of_analysis(&analysis, about, host, this_program())
}

fn stopping() -> Stopping {
    Stopping { target: TARGET, repetitions: 1, preparations: 1, budget_s: 0.0 }
}

/// The series of one metric with its interval; `None` without a finite sample.
pub fn analysis(size: &MpiSize, metric: &str) -> Option<Analysis> {
    analyse(&[size.samples.get(metric)?.clone()])
}

/// The values of single turns and their metric: seconds, or of a window what its messages make in bytes per second.
pub fn singles(
    test: MpiTest,
    outcome: &MpiOutcome,
    size: &MpiSize,
) -> (&'static str, Vec<f64>) {
    if Benchmark::Mpi(test).metric("bandwidth").is_none() {
        return ("latency", size.messages_s.clone());
    }
    let directions = if test == MpiTest::BothWays { 2 } else { 1 };
    let pairs = outcome.ranks.len() as u64 / 2;
    let messages = u64::from(outcome.window) * directions * pairs;
    let bytes = size.bytes as f64 * messages as f64;
    ("bandwidth", size.messages_s.iter().map(|seconds| bytes / seconds).collect())
}

/// Percentiles in percent of the values of single turns, by nearest rank; `None` where the sample cannot carry one.
pub fn tails(values: &[f64], percents: &[f64]) -> Vec<Option<f64>> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let tail = |percent: &f64| {
        let share = percent / 100.0;
        let rank = (share * n as f64).ceil().max(1.0) as usize;
        carries(n as f64, share).then(|| sorted.get(rank - 1).copied()).flatten()
    };
    percents.iter().map(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_need_data() {
        let messages: Vec<f64> = (1..=300).rev().map(f64::from).collect();
        assert_eq!(
            tails(&messages, &[50.0, 99.0, 99.9]),
            [Some(150.0), Some(297.0), None],
            "p99.9 takes 2995 values"
        );
        assert_eq!(tails(&[], &[50.0]), [None]);
    }
}
