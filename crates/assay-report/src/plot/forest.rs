//! Draws forest plots: ratios with their intervals below each other.

use assay_model::quantity::Unit;

use super::labels::{LINE_HEIGHT, LabelPlacer, text_width, truncate_to_width};
use super::scale::AxisLayout;
use super::svg::CURVE_COLOURS;
use super::svg_writer::PLOT_SIZE;
use super::svg_writer::{BAND_COLOUR, GRID_COLOUR, INK_COLOUR, LIMIT_COLOUR, SvgWriter};
use crate::document::{Axis, Forest, ForestRow, Scale, Tone};
use crate::words::without_no_break_spaces;

const WIDTH: f64 = PLOT_SIZE.0 as f64;
const TOP: f64 = 30.0;
const ROW_HEIGHT: f64 = 22.0;
const BOTTOM_MARGIN: f64 = 30.0;
const GAP: f64 = 6.0;
/// Ratio of the ends above which the axis is logarithmic.
const MAX_LINEAR_RANGE: f64 = 3.0;
const MAX_TICKS: usize = 7;

/// Height of the picture.
pub(crate) const fn height(forest: &Forest) -> f64 {
    TOP + forest.rows.len() as f64 * ROW_HEIGHT + BOTTOM_MARGIN
}

/// Renders the plot as one `<svg>` element. `id` distinguishes it from other plots of the same
/// page.
pub(crate) fn forest(forest: &Forest, id: usize) -> String {
    let height = height(forest);
    let floor = height - BOTTOM_MARGIN;
    let longest = |of: fn(&ForestRow) -> &str| {
        forest.rows.iter().map(|row| text_width(of(row))).fold(0.0, f64::max)
    };
    let left = (longest(|row| &row.name) + 2.0 * GAP).clamp(0.0, 0.45 * WIDTH);
    let right = WIDTH - (longest(|row| &row.formatted) + 2.0 * GAP).clamp(0.0, 0.3 * WIDTH);
    let layout = layout(forest);
    let across = |value: f64| left + layout.position(value) * (right - left);
    let mut sheet = SvgWriter::default();
    let mut labels = LabelPlacer::new(WIDTH, height);
    let [low, high] = forest.margin.map(across);
    sheet.rectangle([low, TOP, high, floor], BAND_COLOUR);
    for (position, text) in &layout.ticks {
        let x = left + position * (right - left);
        sheet.line(&[(x, TOP), (x, floor)], GRID_COLOUR, 1.0);
        let most = (WIDTH - text_width(text)).max(0.0);
        let place = (x - text_width(text) / 2.0).clamp(0.0, most);
        match labels.place(text, &[(place, floor + GAP)]) {
            Some(place) => sheet.text(text, place, INK_COLOUR),
            None => sheet.hidden_text(text),
        }
    }
    sheet.line(&[(across(1.0), TOP), (across(1.0), floor)], INK_COLOUR, 1.0);
    let axis = truncate_to_width(&forest.axis, WIDTH - 2.0 * GAP);
    sheet.text(&axis, (GAP, GAP), INK_COLOUR);
    for (row, number) in forest.rows.iter().zip(0_u16..) {
        let y = TOP + (f64::from(number) + 0.5) * ROW_HEIGHT;
        let colour = if row.tone == Tone::Bad { LIMIT_COLOUR } else { CURVE_COLOURS[0] };
        if let Some([low, high]) = row.interval {
            sheet.line(&[(across(low), y), (across(high), y)], colour, 2.0);
        }
        sheet.dot((across(row.value), y), 4.0, colour);
        let top = y - LINE_HEIGHT / 2.0;
        sheet.text(&truncate_to_width(&row.name, left - 2.0 * GAP), (GAP, top), INK_COLOUR);
        sheet.text(
            &truncate_to_width(&row.formatted, WIDTH - right - GAP),
            (right + GAP, top),
            INK_COLOUR,
        );
        sheet.tooltip(
            (across(row.value), y),
            &without_no_break_spaces(&format!("{}: {}", row.name, row.formatted)),
        );
    }
    sheet.finish((WIDTH, height), id, (&forest.title, &forest.description))
}

/// Lays out the axis; it includes all intervals, the margin and the ratio 1.
fn layout(forest: &Forest) -> AxisLayout {
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
    let scale = if high / low > MAX_LINEAR_RANGE { Scale::Log10 } else { Scale::LinearFitted };
    // A ratio of two is a factor, not a percentage.
    let axis = Axis::new("", Unit::Count, scale);
    AxisLayout::new(&axis, values.into_iter(), MAX_TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tick with hundreds of digits is wider than the picture.
    #[test]
    fn draws_extreme_ratios() {
        for value in [1e302, 1e-302, f64::MIN_POSITIVE, 1.0] {
            let row = ForestRow {
                name: "x".to_owned(),
                value,
                interval: None,
                formatted: value.to_string(),
                tone: Tone::Plain,
            };
            let [title, description, axis] = ["", "", "ratio"].map(str::to_owned);
            let plot =
                Forest { title, description, axis, rows: vec![row], margin: [0.98, 1.02] };
            assert!(forest(&plot, 0).starts_with("<svg"), "{value}");
        }
    }
}
