//! Explanations and advice of doubts, from the rows of the model's table.

use assay_model::doubt::{
    Doubt, DoubtAdvice, DoubtArgument, DoubtText, FigureOrder, SteadyWindow,
};
use assay_model::failure::os_error;
use assay_model::quantity::Unit;

use super::{Explanation, basis, change_in_percent, in_percent, percent, resource};
use crate::locale as units;
use crate::locale::{
    Argument, comma, format_fixed, format_message, group_digits, join_details, word,
};
use crate::precision;

/// Explains a doubt, with advice.
pub fn doubt(doubt: &Doubt) -> Explanation {
    if let Doubt::OnHost { host, doubt } = doubt {
        let explanation = self::doubt(doubt);
        return Explanation::new(format!("{host}: {}", explanation.text), explanation.advice);
    }
    let row = doubt.row();
    let arguments: Vec<(&str, Argument)> =
        row.arguments.iter().map(|(name, it)| (*name, format_argument(it))).collect();
    let (text, message) = match row.text {
        DoubtText::Message(id) => (format_message(id, &arguments), id),
        DoubtText::Verbatim(text) => (text.into_owned(), ""),
    };
    let advice = match row.advice {
        DoubtAdvice::OfMessage => format_message(&format!("{message}.advice"), &arguments),
        DoubtAdvice::Message(id) => word(id).to_owned(),
        DoubtAdvice::ForSystemError(cause) => {
            os_error::advice(cause).unwrap_or_else(|| word("advice-kernel-log")).to_owned()
        }
        DoubtAdvice::Verbatim(advice) => advice.to_owned(),
    };
    Explanation::new(text, advice)
}

/// Formats an argument in the current language.
fn format_argument(argument: &DoubtArgument<'_>) -> Argument {
    let text = match argument {
        DoubtArgument::Count(count) => return Argument::from(*count),
        DoubtArgument::Text(text) => text.clone().into_owned(),
        DoubtArgument::Word(id) => word(id).to_owned(),
        DoubtArgument::Numbers(numbers) => {
            numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(comma())
        }
        DoubtArgument::Size(bytes) => units::size(*bytes),
        DoubtArgument::Figure(value, unit, digits) => units::quantity(*value, *unit, *digits),
        DoubtArgument::Value(value, unit) => precision::value_without_interval(*value, *unit),
        DoubtArgument::Seconds(seconds, decimals) => {
            with_unit(&format_fixed(*seconds, *decimals), Unit::Second)
        }
        DoubtArgument::ClockStep(seconds) => {
            with_unit(&group_digits(&format!("{seconds:+.1}")), Unit::Second)
        }
        DoubtArgument::Number(number, decimals) => format_fixed(*number, *decimals),
        DoubtArgument::ExactNumber(number) => group_digits(&number.to_string()),
        DoubtArgument::Share(share, decimals) => in_percent(*share, *decimals),
        DoubtArgument::RoughShare(share) => percent(*share),
        DoubtArgument::RequestedShare(share) => {
            precision::format_percent_setting(100.0 * share)
        }
        DoubtArgument::RoundingShare(share) => {
            units::in_percent(&units::quantity(100.0 * share, Unit::Ratio, 2))
        }
        DoubtArgument::RoundedAt("") => String::new(),
        DoubtArgument::RoundedAt(size) => message!("rounded-at", at = *size),
        DoubtArgument::Order(order) => format_order(*order).to_owned(),
        DoubtArgument::Resource(it) => word(resource(*it)).to_owned(),
        DoubtArgument::Basis(it) => basis(it),
        DoubtArgument::Window(window) => format_window(*window),
    };
    Argument::from(text)
}

fn with_unit(number: &str, unit: Unit) -> String {
    units::with_symbol(number, unit.symbol())
}

/// Returns the violated order. Names of statistics are the same in every language; ends of an
/// interval are translated.
fn format_order(law: FigureOrder) -> &'static str {
    match law {
        FigureOrder::MinMedian => "min ≤ median",
        FigureOrder::MedianP99 => "median ≤ p99",
        FigureOrder::MedianMax => "median ≤ max",
        FigureOrder::P99Max => "p99 ≤ max",
        FigureOrder::Percentiles => "p50 ≤ p90 ≤ p99 ≤ p99.9 ≤ max",
        FigureOrder::MinMean => "min ≤ mean",
        FigureOrder::MeanMax => "mean ≤ max",
        FigureOrder::LowMedian => word("order-low-median"),
        FigureOrder::MedianHigh => word("order-median-high"),
    }
}

/// Describes the last rounds of a steady-state test.
fn format_window(window: Option<SteadyWindow>) -> String {
    let Some(it) = window else { return word("unsteady-too-few").to_owned() };
    let range = in_percent(it.range, 1);
    let slope = change_in_percent(it.slope);
    let found = message!("unsteady-window", n = it.rounds, range = range, slope = slope);
    let drift = it.drift.map(change_in_percent);
    let drift = drift.map(|drift| message!("unsteady-drift", drift = drift));
    join_details(&[Some(found), drift].into_iter().flatten().collect::<Vec<_>>())
}
