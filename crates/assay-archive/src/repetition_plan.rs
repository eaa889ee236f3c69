//! Which repetition of stored runs narrows the interval most for its time, and how many runs a
//! difference needs: the text and the JSON document of `assay plan runs`.

use std::fmt::Write as _;

use assay_model::quantity::{Quantity, Unit};
use assay_model::run::Run;
use assay_report::build::result_names;
use assay_report::locale::Language;
use assay_run::failure::CommandFailure;
use assay_stats::quantile::LEVEL;
use assay_stats::repetition_plan::{
    POWER, RepetitionEffect, RepetitionLevel, ResultRepetitions, plan_repetitions,
};
use serde_json::{Value, json};

/// Widths of the columns between the first and the last.
const COLUMNS: [usize; 4] = [14, 8, 14, 14];

/// Returns the plan as text, whose explanation `wrap` wraps, and as JSON: of the metric, or else of the
/// main ones, or else of all.
///
/// # Errors
/// If the runs have no repeated samples of the metric.
pub fn describe_repetitions(
    runs: &[Run],
    difference: f64,
    metric: Option<&str>,
    wrap: &dyn Fn(&str) -> String,
) -> Result<(String, Value), CommandFailure> {
    let results = select_results(plan_repetitions(runs, difference), metric)?;
    let ids: Vec<&str> = runs.iter().map(|run| run.started.run.as_str()).collect();
    let document = json!({
        "schema": 1,
        "runs": ids,
        "difference": difference,
        "level": LEVEL,
        "power": POWER,
        "results": results.iter().map(result_json).collect::<Vec<_>>(),
    });
    let text = Language::INVARIANT.scope(|| {
        let parts = results.iter().map(|it| describe_result(it, difference));
        let explanation = wrap(&explanation()) + "\n";
        parts.chain([explanation]).collect::<Vec<_>>().join("\n")
    });
    Ok((text, document))
}

/// Returns the results of the requested metric, or else the main ones, or else all.
fn select_results(
    all: Vec<ResultRepetitions>,
    metric: Option<&str>,
) -> Result<Vec<ResultRepetitions>, CommandFailure> {
    if all.is_empty() {
        return Err(CommandFailure::usage("these runs have no repeated samples above 0")
            .advise("name runs that assay measured; `assay list` shows them"));
    }
    let has_headline = all.iter().any(|it| it.is_headline);
    let is_asked = |it: &ResultRepetitions| match metric {
        Some(metric) => {
            let full = format!("{}/{}", it.estimate.benchmark, it.estimate.metric);
            metric == it.estimate.metric || metric == full
        }
        None => it.is_headline || !has_headline,
    };
    let known: Vec<String> = all.iter().map(|it| it.estimate.metric.clone()).collect();
    let asked: Vec<ResultRepetitions> = all.into_iter().filter(is_asked).collect();
    match (asked.is_empty(), metric) {
        (true, Some(metric)) => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            Err(CommandFailure::usage(format!("these runs have no samples of `{metric}`"))
                .advise(assay_model::suite::suggest(metric, &known)))
        }
        _ => Ok(asked),
    }
}

fn describe_result(result: &ResultRepetitions, difference: f64) -> String {
    let names = result_names(&result.estimate);
    let name = names.iter().filter(|it| !it.is_empty()).cloned().collect::<Vec<_>>().join(", ");
    let counts: Vec<String> = result
        .effects
        .iter()
        .filter(|it| it.level != RepetitionLevel::Host || it.count > 1.0)
        .map(|it| count_words(it.count, it.level))
        .collect();
    let mut text = format!("{name}: {}", counts.join(" × "));
    let _ = match result.half_width {
        Some(width) => writeln!(text, "; the interval is ±{}", percent(width)),
        None => writeln!(text, "; no interval"),
    };
    let heads = ["between", "spread", "95 % interval", "one more takes"];
    let _ = writeln!(text, "{}  narrows by", row(&heads.map(str::to_owned)));
    for effect in &result.effects {
        if effect.level != RepetitionLevel::Host || effect.component.is_some() {
            let _ = writeln!(text, "{}", describe_effect(effect, result.best));
        }
    }
    text + &describe_need(result, difference)
}

fn describe_effect(effect: &RepetitionEffect, best: Option<RepetitionLevel>) -> String {
    let [spread, interval] = match &effect.component {
        Some(component) => {
            let [low, high] = component.interval.map(|it| percent(it.sqrt()));
            [percent(component.variance.sqrt()), format!("{low}–{high}").replace(" %–", "–")]
        }
        // A single one within each group is part of the coarser level.
        None if effect.count <= 1.0 && effect.level != RepetitionLevel::Run => {
            ["-".to_owned(), String::new()]
        }
        None => ["unknown".to_owned(), String::new()],
    };
    let cost = effect.cost_s.map_or_else(|| "-".to_owned(), time);
    let cells = row(&[plural(effect.level).to_owned(), spread, interval, cost]);
    let narrowing = match effect.narrowing_per_minute {
        Some(share) if Some(effect.level) == best => {
            format!("{} in a minute, the most", percent(share))
        }
        Some(share) => format!("{} in a minute", percent(share)),
        None => "-".to_owned(),
    };
    format!("{cells}  {narrowing}")
}

/// Describes the runs that the difference needs, or the missing repetitions.
fn describe_need(result: &ResultRepetitions, difference: f64) -> String {
    let difference = percent(difference);
    if let Some(missing) = missing(result) {
        return format!("  missing: {missing}\n");
    }
    let Some(runs) = result.needed_runs else {
        return format!(
            "  a difference of {difference} needs more than 1000 runs of each condition\n"
        );
    };
    let time_s = result.run_s.map(|each_s| 2.0 * f64::from(runs) * each_s);
    let time_s = time_s.map(|all_s| format!(", about {} together", time(all_s)));
    format!(
        "  a difference of {difference} needs {runs} runs of each condition{}\n",
        time_s.unwrap_or_default()
    )
}

/// Returns the missing repetition: without a second run, the variance between runs is unknown.
fn missing(result: &ResultRepetitions) -> Option<&'static str> {
    let is_known = |level: RepetitionLevel| {
        result.effects.iter().any(|it| it.level == level && it.component.is_some())
    };
    (!is_known(RepetitionLevel::Run))
        .then_some("a second run of the same suite: one does not show how much runs differ")
}

fn explanation() -> String {
    format!(
        "Spreads are relative standard deviations, with intervals at 95 %. A minute of further samples is \
         spread over all preparations, one of further preparations over all runs. A difference of that \
         size is found with a probability of {:.0} % at a level of {:.0} %.\n",
        100.0 * POWER,
        100.0 * LEVEL
    )
}

fn count_words(count: f64, level: RepetitionLevel) -> String {
    let number =
        if count.fract() < 0.05 { format!("{count:.0}") } else { format!("{count:.1}") };
    let name = plural(level);
    let name = if number == "1" { name.trim_end_matches('s') } else { name };
    format!("{number} {name}")
}

const fn plural(level: RepetitionLevel) -> &'static str {
    match level {
        RepetitionLevel::Host => "hosts",
        RepetitionLevel::Run => "runs",
        RepetitionLevel::Preparation => "preparations",
        RepetitionLevel::Sample => "samples",
    }
}

fn row(cells: &[String; 4]) -> String {
    let mut line = String::from(" ");
    for (index, (cell, width)) in cells.iter().zip(COLUMNS).enumerate() {
        let _ = match index {
            0 => write!(line, " {cell:<width$}"),
            _ => write!(line, " {cell:>width$}"),
        };
    }
    line
}

/// Formats a share in percent with two digits.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = match percent {
        it if it >= 9.95 => 0,
        it if it >= 0.995 => 1,
        it if it >= 0.0995 => 2,
        it if it <= 0.0 => 0,
        _ => 3,
    };
    format!("{percent:.digits$} %")
}

fn time(seconds: f64) -> String {
    Quantity::new(seconds, Unit::Second).to_string()
}

fn result_json(result: &ResultRepetitions) -> Value {
    let effect = |it: &RepetitionEffect| {
        json!({
            "level": plural(it.level),
            "count": it.count,
            "variance": it.component.map(|component| component.variance),
            "variance_ci": it.component.map(|component| component.interval),
            "freedom": it.component.map(|component| component.freedom),
            "cost_s": it.cost_s,
            "narrowing_per_minute": it.narrowing_per_minute,
        })
    };
    let parameters = result.estimate.parameters.iter();
    let parameters: serde_json::Map<String, Value> = parameters
        .filter_map(|(name, value)| {
            let value = match (value.as_text(), value.as_number()) {
                (Some(text), _) => json!(text),
                (None, Some(number)) => json!(number),
                (None, None) => return None,
            };
            Some((name.name().to_owned(), value))
        })
        .collect();
    json!({
        "benchmark": result.estimate.benchmark,
        "metric": result.estimate.metric,
        "parameters": parameters,
        "levels": result.effects.iter().map(effect).collect::<Vec<_>>(),
        "half_width": result.half_width,
        "best": result.best.map(plural),
        "needed_runs": result.needed_runs,
        "run_s": result.run_s,
        "missing": missing(result),
    })
}
