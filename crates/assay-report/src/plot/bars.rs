//! A curve for a terminal: one bar per point of the first series, on the same scale as the plot.

use crate::document::{Plot, Point, Scale, Series};
use crate::plot::scale::{Layout, label};
use crate::precision::written;
use crate::words::plainly;

/// More points than this are thinned to those at powers of two.
const MOST_BARS: usize = 24;
/// The shortest bar that still shows a shape.
const SHORTEST: usize = 8;
const LONGEST: usize = 44;
/// A block that is an eighth, two eighths … of a column wide.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A caption and the lines of the chart, none wider than `width` columns where the labels leave room.
pub(crate) fn bars(plot: &Plot, width: usize) -> Vec<String> {
    let Some(series) = plot.series.first() else { return vec![] };
    if plot.rivals {
        return vec![];
    }
    let y = Layout::vertical(plot);
    let points = thinned(series);
    let rows: Vec<[String; 3]> = points.iter().map(|point| labels(plot, point)).collect();
    let widest = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let (band, at, value) = (widest(0), widest(1), widest(2));
    let left = if band == 0 { 0 } else { band + 2 } + at + 2 + value + 2;
    let room = width.saturating_sub(left).clamp(SHORTEST, LONGEST);
    let mut lines = vec![legend(plot, series, &y)];
    let mut before = "";
    for (row, point) in rows.iter().zip(&points) {
        // The name of a range is at its first bar only.
        let name = if row[0] == before { "" } else { &row[0] };
        before = &row[0];
        let band = if band == 0 { String::new() } else { format!("{name:<band$}  ") };
        let bar = bar(y.position(point.y), room);
        lines.push(
            format!("{band}{:>at$}  {:>value$}  {bar}", row[1], row[2]).trim_end().to_owned(),
        );
    }
    lines
}

fn thinned(series: &Series) -> Vec<Point> {
    if series.points.len() <= MOST_BARS {
        return series.points.clone();
    }
    let is_power = |point: &&Point| point.x.log2().fract() == 0.0;
    let powers: Vec<Point> = series.points.iter().filter(is_power).copied().collect();
    if powers.len() < 2 { series.points.clone() } else { powers }
}

/// Range, place and value of one bar.
fn labels(plot: &Plot, point: &Point) -> [String; 3] {
    let inside = plot.bands.iter().find(|band| point.x > band.from && point.x <= band.to);
    [
        inside.map(|band| band.label.replace('\u{a0}', " ")).unwrap_or_default(),
        plainly(&label(point.x, plot.x.unit)),
        written(point.y, plot.y.unit, 3).replace('\u{a0}', " "),
    ]
}

/// At least a sliver, so that a value is never invisible.
fn bar(share: f64, room: usize) -> String {
    let eighths = ((share * room as f64 * 8.0).round() as usize).max(1);
    let mut bar = "█".repeat(eighths / 8);
    bar.extend(eighths.checked_rem(8).filter(|rest| *rest > 0).map(|rest| EIGHTHS[rest - 1]));
    bar
}

fn legend(plot: &Plot, series: &Series, y: &Layout) -> String {
    let [low, high] = y.ends(plot.y.unit);
    let kind = match plot.y.scale {
        Scale::Linear | Scale::Near => "bars",
        Scale::Log2 | Scale::Log10 => "logarithmic bars",
    };
    format!("{} over {}; {kind} from {low} to {high}", series.name, plot.x.label)
}
