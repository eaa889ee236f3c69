//! Steady state: rounds of one workload until its rate is steady, or the maximum number of rounds.

use assay_model::attribute::Attribute;
use assay_model::entry::SeriesKey;
use assay_model::failure::FailureReason;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::quantity::{Quantity, Unit};
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::measurement_mode::SteadyRule;
use assay_model::workload::storage::StorageWorkload;
use assay_stats::rounds::{RoundWindow, SteadyState};

use super::StorageCaseRun;
use crate::recorder::{CaseError, Recorder};
use crate::storage::series;

/// Measures rounds and joins the last ones of the window. The rates of all rounds are stored with
/// the result.
pub(super) fn measure(
    measurer: &mut StorageCaseRun<'_, '_, '_>,
    workload: &StorageWorkload,
    rule: &SteadyRule,
) -> Result<StorageOutcome, CaseError> {
    let mut rounds: Vec<StorageOutcome> = Vec::new();
    let mut rates: Vec<f64> = Vec::new();
    loop {
        let mut round = workload.with_step_seed(rates.len() as u64);
        if !rates.is_empty() {
            // A round continues the previous one without a warm-up.
            round.timing.warmup_s = 0.0;
        }
        let outcome = match measurer.run_once(&round) {
            // The completed rounds are a result, though not of a proven steady state.
            Err(CaseError::Interrupted) if !rounds.is_empty() => break,
            outcome => outcome?,
        };
        rates.push(series::rate_per_s(&outcome));
        record_round(rates.len(), series::rate_per_s(&outcome), measurer.recorder);
        rounds.push(outcome);
        let too_many = rounds.len().saturating_sub(rule.window as usize);
        rounds.drain(..too_many);
        let steady = SteadyState::from_rates(&rates, rule);
        measurer.recorder.note(&format_round(&rates, steady.window));
        if steady.is_finished() {
            break;
        }
    }
    series::concatenate(&rounds).ok_or_else(|| FailureReason::NoIo.into())
}

/// Formats the progress: `round 6: 412.3 kIO/s; the last differ by 3.2 % and change by -1.0 %`.
fn format_round(rates: &[f64], window: Option<RoundWindow>) -> Phrase {
    let rate = Quantity::new(rates.last().copied().unwrap_or(0.0), Unit::IoPerSecond);
    let round = phrase!(
        "round",
        "round {n}: {rate}",
        n = rates.len().to_string(),
        rate = Phrase::Measured(rate, 4),
    );
    let steady = window.map(|it| {
        phrase!(
            "rounds-differ",
            "the last differ by {range} and change by {slope}",
            range = Phrase::exact_value(format!("{:.1} %", 100.0 * it.range)),
            slope = Phrase::exact_value(format!("{:+.1} %", 100.0 * it.slope)),
        )
    });
    Phrase::list("; ", std::iter::once(round).chain(steady))
}

/// Records a round as a step; the steady state is derived from the steps.
fn record_round(round: usize, rate_per_s: f64, recorder: &mut Recorder<'_, '_>) {
    recorder.add_series_sample(
        SeriesKey::with_dimensions("rate", [(Attribute::Step, round.into())]),
        rate_per_s,
    );
}
