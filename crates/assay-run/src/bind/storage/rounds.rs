//! One workload round after round, until its rate is steady or it is given up.

use std::fmt::Write as _;

use assay_model::event::Parameter;
use assay_model::quantity::{Quantity, Unit};
use assay_model::storage_outcome::StorageOutcome;
use assay_model::warning::Warning;
use assay_model::workload::course::SteadyRule;
use assay_model::workload::storage::StorageWorkload;
use assay_stats::rounds::Window;

use super::Measurer;
use crate::recorder::{CaseError, Recorder};
use crate::storage::series;

/// The last rounds of the window together. What is known of all rounds is kept with the result.
pub(super) fn measure(
    measurer: &mut Measurer<'_, '_, '_>,
    workload: &StorageWorkload,
    rule: &SteadyRule,
) -> Result<StorageOutcome, CaseError> {
    let mut workload = workload.clone();
    let mut rounds: Vec<StorageOutcome> = Vec::new();
    let mut rates: Vec<f64> = Vec::new();
    loop {
        let outcome = measurer.once(&workload)?;
        // A round goes on where the one before it ended.
        workload.timing.warmup_s = 0.0;
        rates.push(series::rate_per_s(&outcome));
        rounds.push(outcome);
        let too_many = rounds.len().saturating_sub(rule.window as usize);
        rounds.drain(..too_many);
        let window = Window::last(&rates, rule);
        measurer.recorder.note(&line(&rates, window));
        let is_steady = window.is_some_and(|window| window.is_steady(rule));
        if is_steady || rates.len() >= rule.most_rounds as usize {
            learn(&rates, window, rule, measurer.recorder)?;
            break;
        }
    }
    series::joined(&rounds)
        .ok_or_else(|| CaseError::failed("nothing was measured", "give it more time"))
}

/// `  round 6: 412.3 kIO/s; the last 5 differ by 3.2 % and change by -1.0 %`.
fn line(rates: &[f64], window: Option<Window>) -> String {
    let rate = Quantity::new(rates.last().copied().unwrap_or(0.0), Unit::IoPerSecond);
    let mut line = format!("  round {}: {rate:.4}", rates.len());
    if let Some(window) = window {
        let _ = write!(
            line,
            "; the last differ by {:.1} % and change by {:+.1} %",
            100.0 * window.range,
            100.0 * window.slope
        );
    }
    line
}

fn learn(
    rates: &[f64],
    window: Option<Window>,
    rule: &SteadyRule,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let is_steady = window.is_some_and(|window| window.is_steady(rule));
    let state = match is_steady {
        true => format!("reached in round {}", rates.len()),
        false => format!("not reached in {} rounds", rates.len()),
    };
    let mut table = String::from("round,rate\n");
    for (round, rate) in (1..).zip(rates) {
        let _ = writeln!(table, "{round},{rate:.3}");
    }
    recorder.raw("rounds.csv", table.as_bytes())?;
    let all = rates.iter().map(|rate| format!("{rate:.1}")).collect::<Vec<_>>().join(" ");
    recorder.learn(None, "round_rates", Parameter::Text(all));
    recorder.learn(None, "steady_state", Parameter::Text(state.clone()));
    if let Some(window) = window {
        recorder.learn(None, "steady_range", Parameter::Number(window.range));
        recorder.learn(None, "steady_slope", Parameter::Number(window.slope));
    }
    if !is_steady {
        let found = window.map_or_else(
            || "there were too few rounds, or rounds without any I/O".to_owned(),
            |it| {
                format!(
                    "the last {} still differ by {:.1} % and change by {:+.1} %",
                    rule.window,
                    100.0 * it.range,
                    100.0 * it.slope
                )
            },
        );
        recorder.doubt(Warning::new(
            "steady-state-not-reached",
            format!("steady state {state}: {found}"),
            format!(
                "at most {:.0} % and {:.0} % are allowed: write more before it (`--precondition`), \
                 give longer rounds (`--for`), or look for what else uses this storage",
                100.0 * rule.range,
                100.0 * rule.slope
            ),
        ));
    }
    Ok(())
}
