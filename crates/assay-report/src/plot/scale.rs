//! Axis layout: range, position and label of ticks.

use assay_model::quantity::{Quantity, Unit};

use crate::document::{Axis, Plot, Scale};
use crate::locale::group_digits;
use crate::precision::round_to_digits;
use crate::units;
use crate::words::without_no_break_spaces;

/// Axis layout; positions are between 0 and 1.
#[derive(Debug, Clone)]
pub(super) struct AxisLayout {
    scale: Scale,
    low: f64,
    high: f64,
    /// Position and label of each tick, ascending.
    pub(super) ticks: Vec<(f64, String)>,
}

impl AxisLayout {
    /// Lays out the horizontal axis of a plot, including its marks.
    pub(super) fn horizontal(plot: &Plot) -> Self {
        let values = plot.series.iter().flat_map(|series| series.points.iter().map(|p| p.x));
        let marks = plot.marks.iter().map(|mark| mark.value);
        Self::with_limits(&plot.x, values.collect(), marks, MAX_HORIZONTAL_TICKS)
    }

    /// Lays out the vertical axis of a plot, including intervals and the limit.
    pub(super) fn vertical(plot: &Plot) -> Self {
        let points = plot.series.iter().flat_map(|series| &series.points);
        let values = points
            .flat_map(|p| [Some(p.y), p.interval.map(|i| i[0]), p.interval.map(|i| i[1])]);
        let limit = plot.limit.as_ref().map(|limit| limit.value);
        Self::with_limits(&plot.y, values.flatten().collect(), limit, MAX_VERTICAL_TICKS)
    }

    /// Lays out an axis. Ignores ceilings far above the values, which would be squeezed into a
    /// corner.
    fn with_limits(
        axis: &Axis,
        values: Vec<f64>,
        ceilings: impl IntoIterator<Item = f64>,
        most: usize,
    ) -> Self {
        let far = if axis.scale.is_proportional() {
            MAX_CEILING_RATIO
        } else {
            MAX_CEILING_RATIO_LOG
        };
        let highest = values.iter().copied().filter(|it| it.is_finite()).fold(0.0, f64::max);
        let is_near = |it: &f64| highest <= 0.0 || *it <= highest * far;
        let near: Vec<f64> = ceilings.into_iter().filter(is_near).collect();
        Self::new(axis, values.into_iter().chain(near), most)
    }

    /// Whether a value is not above the axis.
    pub(super) fn reaches(&self, value: f64) -> bool {
        value <= self.high * (1.0 + 1e-9)
    }

    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>, most: usize) -> Self {
        let drawable =
            |value: &f64| value.is_finite() && (axis.scale.is_proportional() || *value > 0.0);
        let (low, high) = values
            .filter(drawable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (1.0, 1.0) };
        let (low, high, values) = match axis.scale {
            Scale::Linear => linear_ticks(low.min(0.0), high, most),
            Scale::LinearFitted => linear_ticks(low, high, most),
            Scale::Log2 => log2_ticks(low, high, most),
            Scale::Log10 => log10_ticks(low, high),
        };
        let mut layout = Self { scale: axis.scale, low, high, ticks: vec![] };
        // Counts have whole ticks only, unless fewer than two ticks are whole.
        let is_whole = |value: &f64| value.fract() == 0.0;
        let counts =
            axis.unit == Unit::Count && values.iter().copied().filter(is_whole).count() > 1;
        layout.ticks = values
            .into_iter()
            .filter(|value| !counts || is_whole(value))
            .map(|value| {
                (layout.position(value), without_no_break_spaces(&tick_label(value, axis.unit)))
            })
            .collect();
        layout
    }

    /// Returns the position of a value between the ends of the axis, clamped to them.
    pub(super) fn position(&self, value: f64) -> f64 {
        let at = |value: f64| match self.scale {
            Scale::Linear | Scale::LinearFitted => value,
            Scale::Log2 | Scale::Log10 => value.max(f64::MIN_POSITIVE).log2(),
        };
        let (low, high) = (at(self.low), at(self.high));
        let position = if high > low { (at(value) - low) / (high - low) } else { 0.5 };
        if position.is_nan() { 0.0 } else { position.clamp(0.0, 1.0) }
    }

    /// Returns the labels of the lower and the upper end.
    pub(super) fn ends(&self, unit: Unit) -> [String; 2] {
        [self.low, self.high].map(|end| without_no_break_spaces(&tick_label(end, unit)))
    }
}

/// Maximum ratio of a drawn ceiling to the highest value: the curve then has two thirds of the
/// picture.
const MAX_CEILING_RATIO: f64 = 1.5;
/// The same for logarithmic axes.
const MAX_CEILING_RATIO_LOG: f64 = 30.0;
const MAX_HORIZONTAL_TICKS: usize = 9;
const MAX_VERTICAL_TICKS: usize = 6;
const MAX_DECADES: i32 = 12;

/// Steps of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, most: usize) -> (f64, f64, Vec<f64>) {
    let span = if high > low { high - low } else { low.abs().max(1.0) };
    let rough = span / most as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    let first = (low / step).floor();
    let last = ((low + span) / step).ceil();
    let count = (last - first).min(100.0) as usize;
    let ticks: Vec<f64> = (0..=count).map(|i| (first + i as f64) * step).collect();
    (first * step, last * step, ticks)
}

/// Steps of every power of two, or every second, fourth …; the axis begins and ends at the values.
fn log2_ticks(low: f64, high: f64, most: usize) -> (f64, f64, Vec<f64>) {
    let first = low.log2().floor() as i32;
    let last = high.log2().ceil() as i32;
    let step = [1, 2, 3, 4, 5, 10, 20, 50, 100, 500, 1000]
        .into_iter()
        .find(|step| ((last - first) / step) as usize <= most)
        .unwrap_or(2000);
    let ticks =
        (first..=last).filter(|e| e.rem_euclid(step) == 0).map(f64::from).map(f64::exp2);
    let inside = |tick: &f64| *tick >= low * 0.999 && *tick <= high * 1.001;
    (low, if high > low { high } else { low * 2.0 }, ticks.filter(inside).collect())
}

/// Steps of 1, 2 and 5 times powers of ten over few decades, of powers of ten over many.
fn log10_ticks(low: f64, high: f64) -> (f64, f64, Vec<f64>) {
    const FEW_DECADES: i32 = 4;
    let first = low.log10().floor() as i32;
    let last = high.log10().ceil() as i32;
    let factors: &[f64] = if last - first <= FEW_DECADES { &[1.0, 2.0, 5.0] } else { &[1.0] };
    // A range of hundreds of decades is a fault elsewhere; the number of ticks stays bounded.
    let stride = ((last - first) / MAX_DECADES).max(1) as usize;
    let all: Vec<f64> = (first..=last)
        .step_by(stride)
        .flat_map(|e| factors.iter().map(move |factor| factor * 10f64.powi(e)))
        .collect();
    let below = all.iter().copied().filter(|tick| *tick <= low * 1.001).fold(all[0], f64::max);
    let top = all[all.len() - 1];
    let above = all.iter().copied().filter(|tick| *tick >= high * 0.999).fold(top, f64::min);
    let above = if above > below { above } else { below * 10.0 };
    (below, above, all.into_iter().filter(|tick| *tick >= below && *tick <= above).collect())
}

/// Formats a value exactly with as few digits as possible, with a no-break space before its unit.
pub(crate) fn tick_label(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Byte if value >= 0.0 && value < 2f64.powi(63) => units::size(value as u64),
        // Shares are percentages, as in tables.
        Unit::Ratio => units::in_percent(&tick_label(100.0 * value, Unit::Count)),
        Unit::Count => {
            /// From this value on, whole numbers keep all their digits.
            const EXACT_FROM: f64 = 1000.0;
            let digits = if value.abs() < EXACT_FROM { 4 } else { 12 };
            group_digits(&round_to_digits(value, digits).to_string())
        }
        _ => {
            let exact = |digits: &usize| {
                let text = format!("{:.digits$}", Quantity::new(value, unit));
                let read = Quantity::parse(&text, unit);
                read.is_ok_and(|q| (q.value - value).abs() <= value.abs() * 1e-9)
            };
            units::quantity(value, unit, (1..5).find(exact).unwrap_or(3))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(scale: Scale, unit: Unit, values: &[f64], expected: &str) {
        let axis = Axis { label: String::new(), unit, scale };
        let layout = AxisLayout::new(&axis, values.iter().copied(), 6);
        let ticks: Vec<_> =
            layout.ticks.iter().map(|(at, label)| format!("{label}@{at:.2}")).collect();
        assert_eq!(ticks.join(" "), expected);
    }

    #[test]
    fn ticks_are_round_and_labels_exact() {
        check(
            Scale::Linear,
            Unit::BytePerSecond,
            &[10e9, 42e9],
            "0 B/s@0.00 10 GB/s@0.20 20 GB/s@0.40 30 GB/s@0.60 40 GB/s@0.80 50 GB/s@1.00",
        );
        check(
            Scale::Log2,
            Unit::Byte,
            &[4096.0, 134_217_728.0],
            "4 KiB@0.00 32 KiB@0.20 256 KiB@0.40 2 MiB@0.60 16 MiB@0.80 128 MiB@1.00",
        );
        check(
            Scale::Log10,
            Unit::Second,
            &[1.1e-9, 98e-9],
            "1 ns@0.00 2 ns@0.15 5 ns@0.35 10 ns@0.50 20 ns@0.65 50 ns@0.85 100 ns@1.00",
        );
        check(Scale::Linear, Unit::Count, &[1.0, 2.0], "0@0.00 1@0.50 2@1.00");
        check(
            Scale::Linear,
            Unit::Ratio,
            &[0.07, 0.3],
            "0 %@0.00 5 %@0.17 10 %@0.33 15 %@0.50 20 %@0.67 25 %@0.83 30 %@1.00",
        );
    }

    #[test]
    fn tick_labels_have_few_digits() {
        for (value, expected) in [(1.0 / 24.0, "0.04167"), (1.5, "1.5"), (123_456.0, "123456")]
        {
            assert_eq!(tick_label(value, Unit::Count), expected);
        }
    }

    #[test]
    fn lays_out_degenerate_values() {
        for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
            for values in [
                &[][..],
                &[0.0],
                &[f64::NAN],
                &[5.0],
                &[-1.0, 1.0],
                &[1e-300, 1e300],
                &[f64::MAX],
            ] {
                let axis = Axis { label: String::new(), unit: Unit::Second, scale };
                let layout = AxisLayout::new(&axis, values.iter().copied(), 6);
                for value in values {
                    assert!((0.0..=1.0).contains(&layout.position(*value)), "{values:?}");
                }
                assert!(layout.ticks.len() < 200);
            }
        }
    }
}
