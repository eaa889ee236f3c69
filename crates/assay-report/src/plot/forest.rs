//! Draws forest plots: ratios with their intervals below each other.

use assay_model::quantity::Unit;

use super::labels::{LINE, Labels, shortened, width};
use super::scale::Layout;
use super::sheet::{BAND, GRID, INK, LIMIT, Sheet};
use super::svg::{CURVES, SIZE};
use crate::document::{Axis, Forest, Ratio, Scale, Tone};
use crate::words::plainly;

const WIDTH: f64 = SIZE.0 as f64;
const TOP: f64 = 30.0;
const ROW: f64 = 22.0;
const BELOW: f64 = 30.0;
const GAP: f64 = 6.0;
/// Ratio of the ends above which the axis is logarithmic.
const WIDE: f64 = 3.0;
const MOST_TICKS: usize = 7;

/// Height of the picture.
pub(crate) const fn height(forest: &Forest) -> f64 {
    TOP + forest.rows.len() as f64 * ROW + BELOW
}

/// Renders the plot as one `<svg>` element. `id` distinguishes it from other plots of the same
/// page.
pub(crate) fn forest(forest: &Forest, id: usize) -> String {
    let height = height(forest);
    let floor = height - BELOW;
    let longest = |of: fn(&Ratio) -> &str| {
        forest.rows.iter().map(|row| width(of(row))).fold(0.0, f64::max)
    };
    let left = (longest(|row| &row.name) + 2.0 * GAP).clamp(0.0, 0.45 * WIDTH);
    let right = WIDTH - (longest(|row| &row.shown) + 2.0 * GAP).clamp(0.0, 0.3 * WIDTH);
    let layout = layout(forest);
    let across = |value: f64| left + layout.position(value) * (right - left);
    let mut sheet = Sheet::default();
    let mut labels = Labels::new(WIDTH, height);
    let [low, high] = forest.margin.map(across);
    sheet.rectangle([low, TOP, high, floor], BAND);
    for (position, text) in &layout.ticks {
        let x = left + position * (right - left);
        sheet.line(&[(x, TOP), (x, floor)], GRID, 1.0);
        let place = (x - width(text) / 2.0).clamp(0.0, WIDTH - width(text));
        match labels.place(text, &[(place, floor + GAP)]) {
            Some(place) => sheet.text(text, place, INK),
            None => sheet.hidden(text),
        }
    }
    sheet.line(&[(across(1.0), TOP), (across(1.0), floor)], INK, 1.0);
    let axis = shortened(&forest.axis, WIDTH - 2.0 * GAP);
    sheet.text(&axis, (GAP, GAP), INK);
    for (row, number) in forest.rows.iter().zip(0_u16..) {
        let y = TOP + (f64::from(number) + 0.5) * ROW;
        let colour = if row.tone == Tone::Bad { LIMIT } else { CURVES[0] };
        if let Some([low, high]) = row.interval {
            sheet.line(&[(across(low), y), (across(high), y)], colour, 2.0);
        }
        sheet.dot((across(row.value), y), 4.0, colour);
        let top = y - LINE / 2.0;
        sheet.text(&shortened(&row.name, left - 2.0 * GAP), (GAP, top), INK);
        sheet.text(&shortened(&row.shown, WIDTH - right - GAP), (right + GAP, top), INK);
        sheet.hover((across(row.value), y), &plainly(&format!("{}: {}", row.name, row.shown)));
    }
    sheet.finish((WIDTH, height), id, (&forest.title, &forest.description))
}

/// Lays out the axis; it includes all intervals, the margin and the ratio 1.
fn layout(forest: &Forest) -> Layout {
    let ends = forest.rows.iter().flat_map(|row| {
        let [low, high] = row.interval.unwrap_or([row.value, row.value]);
        [row.value, low, high]
    });
    let values: Vec<f64> = ends
        .chain(forest.margin)
        .chain([1.0])
        .filter(|value| value.is_finite() && *value > 0.0)
        .collect();
    let low = values.iter().copied().fold(1.0, f64::min);
    let high = values.iter().copied().fold(1.0, f64::max);
    let scale = if high / low > WIDE { Scale::Log10 } else { Scale::Near };
    // A ratio of two is a factor, not a percentage.
    let axis = Axis::new("", Unit::Count, scale);
    Layout::new(&axis, values.into_iter(), MOST_TICKS)
}
