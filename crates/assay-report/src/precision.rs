//! Number of printed digits: derived from the interval of an estimate, or from the value of a
//! setting.

use std::borrow::Cow;
use std::collections::HashMap;

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::quantity::Unit;
use assay_model::summary::{MetricEstimate, RunSummary};

use crate::locale::{group_digits, word};
use crate::units::{self, quantity, with_no_break_spaces};

/// Significant digits of the ends of a range of samples.
const RANGE_DIGITS: usize = 3;
/// Digits without an interval: as many as the half-width of an interval would have.
const DIGITS_WITHOUT_INTERVAL: usize = 2;
/// Digits if the interval has zero width, for example because of a coarse clock.
const DIGITS_AT_ZERO_WIDTH: usize = 4;
/// Maximum half-width of a printed interval, relative to the value; wider ones only have a doubt.
const MAX_RELATIVE_HALF_WIDTH: f64 = 1.0;
/// Maximum number of digits of another tool's value, whose last ones its unit may have brought.
const MAX_WRITTEN_DIGITS: usize = 4;
/// Digits that a double represents exactly.
const MAX_PRINTED_DIGITS: usize = 15;
/// Maximum number of digits, however narrow the interval.
const MAX_DIGITS: usize = 6;

/// Significant digits of `value` that reach down to the second digit of the interval's half-width:
/// ⌊log₁₀ value⌋ − ⌊log₁₀ half-width⌋ + 2, at least 2.
pub fn digits(value: f64, half_width: f64) -> usize {
    let magnitude = |v: f64| v.abs().log10().floor();
    let digits = magnitude(value) - magnitude(half_width) + 2.0;
    if digits.is_finite() {
        (digits.max(2.0) as usize).min(MAX_DIGITS)
    } else {
        DIGITS_AT_ZERO_WIDTH
    }
}

/// Formats a value without interval: a percentile, or a value measured once.
pub fn value_without_interval(value: f64, unit: Unit) -> String {
    format_value(value, unit, DIGITS_WITHOUT_INTERVAL)
}

/// Formats the median with its unit: `38.12 GB/s`.
pub fn value(estimate: &MetricEstimate) -> String {
    if !estimate.median.is_finite() {
        return word("no-value").to_owned();
    }
    format_value(estimate.median, estimate.unit, estimate_digits(estimate))
}

/// Returns the significant digits of the median. Without an interval, a value of another tool keeps
/// the digits that the tool wrote.
pub fn estimate_digits(estimate: &MetricEstimate) -> usize {
    if estimate.ci.is_none() && estimate.tool.name != "assay" {
        return written_digits(estimate);
    }
    interval_digits(estimate.median, estimate.ci)
}

/// Returns the stored number of printed digits, otherwise the fewest that represent the value.
pub(crate) fn written_digits(estimate: &MetricEstimate) -> usize {
    let printed = estimate.parameters.get(&Attribute::PrintedDigits);
    match printed.and_then(AttributeValue::as_number) {
        Some(printed) => (printed as usize).clamp(1, MAX_PRINTED_DIGITS),
        None => fewest_digits(estimate.median),
    }
}

/// Returns the fewest digits that represent the value, within limits.
fn fewest_digits(value: f64) -> usize {
    let is_exact =
        |digits: &usize| (round_to_digits(value, *digits) - value).abs() <= value.abs() * 1e-9;
    let fewer = DIGITS_WITHOUT_INTERVAL..MAX_WRITTEN_DIGITS;
    fewer.into_iter().find(is_exact).unwrap_or(MAX_WRITTEN_DIGITS)
}

/// Adds the digits that a tool wrote to its values: `54.00` beside `29.41` has four. They are those of
/// the smallest step among the values of one metric.
pub(crate) fn with_written_digits(summary: &RunSummary) -> Cow<'_, RunSummary> {
    let mut steps: HashMap<(&str, &str, Unit), i32> = HashMap::new();
    let series = |it: &'_ MetricEstimate| has_written_digits(it).then(|| last_digit(it.median));
    for it in &summary.results {
        if let Some(step) = series(it) {
            let key = (it.tool.name.as_str(), it.metric.as_str(), it.unit);
            steps.entry(key).and_modify(|known| *known = step.min(*known)).or_insert(step);
        }
    }
    let digits = |it: &MetricEstimate| {
        let step = steps.get(&(it.tool.name.as_str(), it.metric.as_str(), it.unit))?;
        let own = series(it)?;
        let digits = fewest_digits(it.median) + usize::try_from(own - step).ok()?;
        (own > *step).then_some(digits.min(MAX_WRITTEN_DIGITS))
    };
    let found: Vec<Option<usize>> = summary.results.iter().map(digits).collect();
    if found.iter().all(Option::is_none) {
        return Cow::Borrowed(summary);
    }
    let mut summary = summary.clone();
    for (it, digits) in summary.results.iter_mut().zip(found) {
        if let Some(digits) = digits {
            it.parameters.insert(Attribute::PrintedDigits, (digits as u64).into());
        }
    }
    Cow::Owned(summary)
}

/// Tools that print all values of a column with the same number of decimals. qperf, for example, prints
/// `9.8` and `10`.
const FIXED_DECIMALS: [&str; 6] = ["osu", "imb", "ior", "mdtest", "stream", "vdbench"];

/// Whether a value has the digits of such a tool, and no stored number of them.
fn has_written_digits(it: &MetricEstimate) -> bool {
    it.ci.is_none()
        && FIXED_DECIMALS.contains(&it.tool.name.as_str())
        && !it.parameters.contains_key(&Attribute::PrintedDigits)
        && it.median.is_finite()
        && it.median != 0.0
}

/// Returns the power of ten of the last digit that a value needs.
fn last_digit(value: f64) -> i32 {
    value.abs().log10().floor() as i32 + 1 - fewest_digits(value) as i32
}

/// Returns the significant digits of a value with an interval.
pub fn interval_digits(value: f64, interval: Option<[f64; 2]>) -> usize {
    half_width(value, interval).map_or(DIGITS_WITHOUT_INTERVAL, |half| digits(value, half))
}

/// Formats a value with its unit; ratios become percentages.
pub(crate) fn format_value(value: f64, unit: Unit, digits: usize) -> String {
    format_value_like(value, unit, digits, None)
}

/// Formats a value with the unit prefix of another value.
fn format_value_like(value: f64, unit: Unit, digits: usize, like: Option<f64>) -> String {
    let digits = units::shown_digits(value, unit, digits);
    let value = round_to_digits(value, digits);
    match (unit, like) {
        (Unit::Ratio, _) => units::in_percent(&quantity(value * 100.0, unit, digits)),
        (_, Some(like)) => units::quantity_with_prefix(value, unit, digits, like),
        (_, None) => quantity(value, unit, digits),
    }
}

/// Common prefix for each unit of a column, so that its values are comparable by their digits
/// alone.
#[derive(Debug, Clone, Default)]
pub struct ColumnPrefixes(Vec<(Unit, f64)>);

impl ColumnPrefixes {
    /// Selects for each unit the smallest prefix with which the largest value has at most five
    /// digits before the decimal point.
    pub fn for_values(values: impl IntoIterator<Item = (Unit, f64)>) -> Self {
        /// `12345 MB/s` is still easy to read, and smaller values in the column have no leading
        /// zeros.
        const DIGIT_LIMIT: f64 = 1e5;
        let mut all: Vec<(Unit, f64)> =
            values.into_iter().filter(|it| is_positive(it.1)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        // Prefixes are powers of a thousand, or nearly so.
        let factor = |value: f64| 1000_f64.powf((value.log10() / 3.0).floor());
        let one = |unit: &[(Unit, f64)]| {
            let (_, largest) = unit[unit.len() - 1];
            let fits = unit.iter().find(|(_, like)| largest / factor(*like) < DIGIT_LIMIT);
            fits.copied().unwrap_or(unit[0])
        };
        Self(all.chunk_by(|a, b| a.0 == b.0).map(one).collect())
    }

    /// Selects prefixes for the medians of estimates.
    pub fn for_medians<'e>(estimates: impl IntoIterator<Item = &'e MetricEstimate>) -> Self {
        Self::for_values(estimates.into_iter().map(|it| (it.unit, it.median)))
    }

    fn prefix_source(&self, unit: Unit) -> Option<f64> {
        self.0.iter().find(|(known, _)| *known == unit).map(|(_, like)| *like)
    }

    /// Like the free function [`value`].
    pub fn value(&self, estimate: &MetricEstimate) -> String {
        if !estimate.median.is_finite() {
            return word("no-value").to_owned();
        }
        let like = self.prefix_source(estimate.unit);
        format_value_like(estimate.median, estimate.unit, estimate_digits(estimate), like)
    }

    /// Like the free function [`value_without_interval`].
    pub fn value_without_interval(&self, value: f64, unit: Unit) -> String {
        format_value_like(value, unit, DIGITS_WITHOUT_INTERVAL, self.prefix_source(unit))
    }

    /// Like the free function [`interval`].
    pub fn interval(&self, estimate: &MetricEstimate) -> Option<String> {
        let [low, high] = estimate.ci?;
        let half = half_width(estimate.median, estimate.ci)
            .filter(|half| is_usable(*half, estimate.median))?;
        Some(range(low, high, half, (estimate.unit, self.prefix_source(estimate.unit))))
    }
}

/// Rounds to significant digits: 198.2 to two digits is 200, not 198.
pub fn round_to_digits(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value)
}

/// Formats a setting, `5 kIO/s`, without trailing zeros: those would imply a measured precision.
pub fn format_setting(value: f64, unit: Unit, most_digits: usize) -> String {
    let full = round_to_digits(value, most_digits);
    let is_exact = |digits: &usize| round_to_digits(value, *digits).total_cmp(&full).is_eq();
    let digits = (1..most_digits).find(is_exact).unwrap_or(most_digits);
    quantity(value, unit, digits)
}

/// Formats a planned time: `90 s`, from one hour on `7 d 16 h 48 min`.
pub(crate) fn planned_time(seconds: f64, most_digits: usize) -> String {
    const HOUR_S: f64 = 3600.0;
    if seconds < HOUR_S || !seconds.is_finite() {
        return format_setting(seconds, Unit::Second, most_digits);
    }
    let minutes = (seconds / 60.0).round() as u64;
    let [days, hours, minutes] =
        [minutes / (24 * 60), minutes / 60 % 24, minutes % 60].map(|n| (n, n.to_string()));
    let parts = [
        (days.0, message!("days", n = group_digits(&days.1))),
        (hours.0, message!("hours", n = hours.1)),
        (minutes.0, message!("minutes", n = minutes.1)),
    ];
    let shown = parts.into_iter().filter(|(n, _)| *n > 0).map(|(_, text)| text);
    with_no_break_spaces(&shown.collect::<Vec<_>>().join(" "))
}

/// Formats a setting that is a percentage: `2 %`.
pub fn format_percent_setting(value: f64) -> String {
    units::in_percent(&format_setting(value, Unit::Ratio, 3))
}

/// Formats the interval with its unit, `38.07–38.20 GB/s`; `None` without an interval or with one
/// too wide to be useful.
pub fn interval(estimate: &MetricEstimate) -> Option<String> {
    ColumnPrefixes::default().interval(estimate)
}

/// Formats the interval in the unit of a column heading, `2.35–2.37`; `write` formats each number.
pub(crate) fn interval_in_unit(
    estimate: &MetricEstimate,
    unit: f64,
    write: impl Fn(&str) -> String,
) -> Option<String> {
    let [low, high] = estimate.ci?;
    let half = half_width(estimate.median, estimate.ci)
        .filter(|half| is_usable(*half, estimate.median))?;
    let one = |value: f64| {
        let digits = digits(value, half);
        let value = round_to_digits(value / unit, digits);
        let magnitude = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
        let decimals = (digits as f64 - 1.0 - magnitude).clamp(0.0, 300.0) as usize;
        write(&format!("{value:.decimals$}"))
    };
    Some(format!("{}–{}", one(low), one(high)))
}

/// Formats the wider side of the interval relative to the value: `±0.27 %`.
pub fn relative_interval(estimate: &MetricEstimate) -> Option<String> {
    relative_range(estimate.median, estimate.ci)
}

/// Formats the wider side of the interval of a value relative to it.
pub(crate) fn relative_range(value: f64, interval: Option<[f64; 2]>) -> Option<String> {
    let half = half_width(value, interval)? / value.abs();
    (half <= MAX_RELATIVE_HALF_WIDTH)
        .then(|| format!("±{}", units::in_percent(&quantity(half * 100.0, Unit::Ratio, 2))))
}

/// Whether a value can be on a logarithmic axis.
pub fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// Formats the ratio of two values with the digits of its interval, or else of the less precise
/// value.
pub fn ratio(value: f64, interval: Option<[f64; 2]>, sides: [usize; 2]) -> String {
    let digits = interval.map_or(sides[0].min(sides[1]), |it| interval_digits(value, Some(it)));
    quantity(value, Unit::Ratio, digits)
}

/// Formats the interval of a ratio: `0.981–1.017`.
pub fn ratio_range([low, high]: [f64; 2]) -> String {
    range(low, high, (high - low) / 2.0, (Unit::Count, None))
}

/// Formats a range with one unit, or with two if the prefixes differ.
fn range(low: f64, high: f64, half: f64, (unit, like): (Unit, Option<f64>)) -> String {
    let write = |value: f64| format_value_like(value, unit, digits(value, half), like);
    join_range(&write(low), &write(high))
}

/// Formats the range of samples without a meaningful median, each end to three digits.
pub(crate) fn sample_range([low, high]: [f64; 2], unit: Unit) -> String {
    let write = |value| format_value(value, unit, RANGE_DIGITS);
    join_range(&write(low), &write(high))
}

fn join_range(low: &str, high: &str) -> String {
    let ((number, unit), (_, same)) = (units::split_unit(low), units::split_unit(high));
    match unit == same && !unit.is_empty() {
        true => format!("{number}–{high}"),
        false => format!("{low}–{high}"),
    }
}

/// Returns an interval that is narrow enough to be useful, in pictures as in tables.
pub(crate) fn usable_interval(median: f64, interval: Option<[f64; 2]>) -> Option<[f64; 2]> {
    let half = half_width(median, interval)?;
    interval.filter(|_| is_usable(half, median))
}

fn is_usable(half: f64, median: f64) -> bool {
    median == 0.0 || half <= MAX_RELATIVE_HALF_WIDTH * median.abs()
}

/// Returns the wider side, because intervals from order statistics may be asymmetric.
fn half_width(value: f64, interval: Option<[f64; 2]>) -> Option<f64> {
    let [low, high] = interval?;
    let half = (value - low).max(high - value);
    half.is_finite().then_some(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_times_from_one_hour_on_have_days_hours_and_minutes() {
        for (seconds, expected) in [
            (3599.0, "3599 s"),
            (3600.0, "1 h"),
            (5400.0, "1 h 30 min"),
            (9030.0, "2 h 31 min"),
            (604_800.0, "7 d"),
            (665_280.0, "7 d 16 h 48 min"),
            (f64::INFINITY, "inf s"),
        ] {
            assert_eq!(planned_time(seconds, 3).replace('\u{a0}', " "), expected, "{seconds}");
        }
    }

    #[test]
    fn settings_have_no_trailing_zeros() {
        for (value, unit, most, expected) in [
            (5000.0, Unit::IoPerSecond, 4, "5 kIO/s"),
            (12_345.6, Unit::IoPerSecond, 4, "12.35 kIO/s"),
            (60.0, Unit::Second, 3, "60 s"),
            (6.666, Unit::Second, 3, "6.67 s"),
            (0.0, Unit::Second, 3, "0 s"),
            (1e-3, Unit::Second, 3, "1 ms"),
        ] {
            assert_eq!(format_setting(value, unit, most).replace('\u{a0}', " "), expected);
        }
        for (value, expected) in
            [(2.0, "2 %"), (0.5, "0.5 %"), (100.0, "100 %"), (33.333, "33.3 %")]
        {
            assert_eq!(format_percent_setting(value).replace('\u{a0}', " "), expected);
        }
    }

    #[test]
    fn digits_follow_the_interval() {
        for (value, half, expected) in [
            (41.23e9, 0.11e9, 4),
            (41.23e9, 1.1e9, 3),
            (41.23e9, 30e9, 2),
            (41.23e9, 99e9, 2),
            (41.23e9, 1.0, 6),
            (41.23e9, 0.0, 4),
            (0.0, 1.0, 4),
            (f64::NAN, 1.0, 4),
            (1.07e-9, 0.02e-9, 4),
            (9.99, 0.099, 4),
        ] {
            assert_eq!(digits(value, half), expected, "{value} ± {half}");
        }
    }

    #[test]
    fn omits_intervals_wider_than_their_value() {
        for (half, median, expected) in [
            (6.6e12, 20e9, false),
            (1.8e11, 20e9, false),
            (1.8e10, 20e9, true),
            (3.0, 0.0, true),
            (1e-3, -1e-6, false),
        ] {
            assert_eq!(is_usable(half, median), expected, "{median} ± {half}");
        }
    }

    #[test]
    fn values_without_interval_have_two_digits() {
        for (value, unit, expected) in [
            (198.2e9, Unit::FlopPerSecond, "200 GFLOP/s"),
            (31.4e9, Unit::BytePerSecond, "31 GB/s"),
            (0.001_89, Unit::Second, "1.9 ms"),
            (0.873, Unit::Ratio, "87 %"),
            (0.0, Unit::Count, "0"),
            (f64::INFINITY, Unit::Second, "inf s"),
        ] {
            assert_eq!(value_without_interval(value, unit).replace('\u{a0}', " "), expected);
        }
    }

    /// Four tools' values of 258 to 262 GB/s all became 260 GB/s.
    #[test]
    fn values_of_a_tool_keep_its_digits() {
        for (value, expected) in
            [(262.3e9, 4), (258.156_25e9, 4), (261e9, 3), (7e9, 2), (0.0, 2), (f64::NAN, 4)]
        {
            assert_eq!(fewest_digits(value), expected, "{value}");
        }
    }

    #[test]
    fn columns_have_one_prefix_per_unit() {
        let times = [90e-6, 1.8e-3, 200e-6].map(|it| (Unit::Second, it));
        let rates = [3.2e6, 950e6, 12.1e9].map(|it| (Unit::BytePerSecond, it));
        let prefixes = ColumnPrefixes::for_values(times.into_iter().chain(rates));
        for (value, unit, expected) in [
            (90e-6, Unit::Second, "90 µs"),
            (1.84e-3, Unit::Second, "1800 µs"),
            (12.1e9, Unit::BytePerSecond, "12000 MB/s"),
            (450.0, Unit::BytePerSecond, "0.00045 MB/s"),
            (0.0, Unit::Second, "0 µs"),
            (0.5, Unit::Ratio, "50 %"),
            (2.0, Unit::Count, "2.0"),
        ] {
            assert_eq!(
                prefixes.value_without_interval(value, unit).replace('\u{a0}', " "),
                expected
            );
        }
        let like = (Unit::BytePerSecond, Some(950e6));
        assert_eq!(range(990e6, 1.1e9, 80e6, like).replace('\u{a0}', " "), "990–1100 MB/s");
    }

    #[test]
    fn ratios_have_the_digits_of_their_interval() {
        for (value, interval, sides, expected) in [
            (1.1192, Some([0.9, 1.4]), [5, 5], "1.12"),
            (1.1192, Some([1.1180, 1.1201]), [2, 2], "1.1192"),
            (1.1192, None, [4, 5], "1.119"),
            (1.1192, None, [4, 2], "1.1"),
            (0.9886, None, [2, 2], "0.99"),
            (31.4, Some([4.0, 90.0]), [4, 4], "31"),
        ] {
            assert_eq!(ratio(value, interval, sides), expected, "{value} {interval:?}");
        }
        for (interval, expected) in [
            ([0.9, 1.4], "0.90–1.40"),
            ([1.1180, 1.1201], "1.1180–1.1201"),
            ([4.0, 90.0], "4.0–90"),
        ] {
            assert_eq!(ratio_range(interval), expected);
        }
    }

    #[test]
    fn ranges_name_their_unit_once() {
        let check = |low, high, half, unit, expected: &str| {
            assert_eq!(range(low, high, half, (unit, None)).replace('\u{a0}', " "), expected);
        };
        check(38.07e9, 38.20e9, 0.08e9, Unit::BytePerSecond, "38.070–38.200 GB/s");
        check(38.07e9, 38.30e9, 0.2e9, Unit::BytePerSecond, "38.07–38.30 GB/s");
        check(990e6, 1.1e9, 80e6, Unit::BytePerSecond, "990 MB/s–1.100 GB/s");
        check(0.1, 0.15, 0.03, Unit::Ratio, "10.0–15.0 %");
        check(1.0, 1.5, 0.3, Unit::Count, "1.00–1.50");
    }
}
