//! Bar chart for a terminal: one bar per point of the first series, on the same scale as the plot.

use crate::document::{Plot, PlotPoint, PlotSeries, Scale};
use crate::locale::word;
use crate::plot::scale::{AxisLayout, tick_label};
use crate::precision::format_value;
use crate::words::without_no_break_spaces;

/// Maximum number of bars; beyond it only points at powers of two are drawn.
const MAX_BARS: usize = 24;
/// Minimum width at which a bar still shows the shape, in columns.
const MIN_BAR_COLUMNS: usize = 8;
const MAX_BAR_COLUMNS: usize = 44;
/// Blocks with a width of one eighth to seven eighths of a column.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Renders a caption and the lines of the chart; lines fit `width` columns if the labels leave
/// room.
pub(crate) fn render_bars(plot: &Plot, width: usize) -> Vec<String> {
    let Some(series) = plot.series.first() else { return vec![] };
    if plot.is_comparison {
        return vec![];
    }
    let y = AxisLayout::vertical(plot);
    let points = thin_points(series);
    let rows: Vec<[String; 3]> = points.iter().map(|point| bar_labels(plot, point)).collect();
    let widest = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let (band, at, value) = (widest(0), widest(1), widest(2));
    let left = if band == 0 { 0 } else { band + 2 } + at + 2 + value + 2;
    let room = width.saturating_sub(left).clamp(MIN_BAR_COLUMNS, MAX_BAR_COLUMNS);
    let mut lines = vec![legend(plot, series, &y)];
    let mut before = "";
    for (row, point) in rows.iter().zip(&points) {
        // The name of a range is printed at its first bar only.
        let name = if row[0] == before { "" } else { &row[0] };
        before = &row[0];
        let band = if band == 0 { String::new() } else { format!("{name:<band$}  ") };
        let bar = draw_bar(y.position(point.y), room);
        lines.push(
            format!("{band}{:>at$}  {:>value$}  {bar}", row[1], row[2]).trim_end().to_owned(),
        );
    }
    lines
}

fn thin_points(series: &PlotSeries) -> Vec<PlotPoint> {
    if series.points.len() <= MAX_BARS {
        return series.points.clone();
    }
    let is_power = |point: &&PlotPoint| point.x.log2().fract() == 0.0;
    let powers: Vec<PlotPoint> = series.points.iter().filter(is_power).copied().collect();
    if powers.len() < 2 { series.points.clone() } else { powers }
}

/// Returns range, position and value of one bar.
fn bar_labels(plot: &Plot, point: &PlotPoint) -> [String; 3] {
    let inside = plot.bands.iter().find(|band| point.x > band.from && point.x <= band.to);
    [
        inside.map(|band| band.label.replace('\u{a0}', " ")).unwrap_or_default(),
        without_no_break_spaces(&tick_label(point.x, plot.x.unit)),
        format_value(point.y, plot.y.unit, 3).replace('\u{a0}', " "),
    ]
}

/// Draws at least one eighth, so that every value is visible.
fn draw_bar(share: f64, room: usize) -> String {
    let eighths = ((share * room as f64 * 8.0).round() as usize).max(1);
    let mut bar = "█".repeat(eighths / 8);
    bar.extend(eighths.checked_rem(8).filter(|rest| *rest > 0).map(|rest| EIGHTHS[rest - 1]));
    bar
}

fn legend(plot: &Plot, series: &PlotSeries, y: &AxisLayout) -> String {
    let [low, high] = y.ends(plot.y.unit);
    let kind = match plot.y.scale {
        Scale::Linear | Scale::LinearFitted => word("bars-linear"),
        Scale::Log2 | Scale::Log10 => word("bars-logarithmic"),
    };
    let [name, axis] = [&series.name, &plot.x.label];
    message!("bars-legend", name = name, axis = axis, bars = kind, low = low, high = high)
}
