//! Draws a plot as SVG: bands, grid, limit and marks, then curves, then labels.
//!
//! Colours are few and fixed (the blue, vermillion and bluish green of Okabe and Ito, which people
//! with any kind of colour vision distinguish).

use super::labels::{LINE_HEIGHT, LabelPlacer, text_width, truncate_to_width};
use super::scale::{AxisLayout, tick_label};
use super::svg_writer::{
    BAND_COLOUR, GRID_COLOUR, INK_COLOUR, LIMIT_COLOUR, PLOT_SIZE, SvgWriter,
};
use crate::document::{Plot, PlotPoint, PlotSeries};
use crate::precision::format_value;
use crate::words::without_no_break_spaces;

const WIDTH: f64 = PLOT_SIZE.0 as f64;
const HEIGHT: f64 = PLOT_SIZE.1 as f64;
const TOP_EDGE: f64 = 48.0;
const BOTTOM_EDGE: f64 = HEIGHT - 56.0;
/// Top of the tick labels of the horizontal axis, below the lowest tick label of the vertical axis;
/// higher up the first of them would collide with it.
const TICK_LABELS_TOP: f64 = BOTTOM_EDGE + LINE_HEIGHT / 2.0;
const RIGHT_MARGIN: f64 = 24.0;
/// Minimum right margin for series names.
const MIN_NAMES_MARGIN: f64 = 90.0;
/// Minimum left margin for tick labels.
const MIN_LEFT_MARGIN: f64 = 60.0;
/// Distance between a label and its object.
const GAP: f64 = 6.0;

pub(super) const CURVE_COLOURS: [&str; 7] = [
    "#0072B2", "#D55E00", "#009E73", "#995D81",
    // Grey, sky blue and ochre of medium lightness, so that dark screens need no other colours.
    "#7D8590", "#3A8FC7", "#B07D00",
];

/// Dashes of curves, as in the pictures of a site; the first is a solid line.
const CURVE_DASHES: [&str; 7] = ["", "8 4", "2 3", "10 3 2 3", "14 4", "5 2", "1 4"];

/// Returns colour and dashes of a curve. The first 49 differ in one of them, neighbours in both.
fn curve_style(index: usize) -> (&'static str, &'static str) {
    let (row, column) = (index / CURVE_COLOURS.len(), index % CURVE_COLOURS.len());
    (CURVE_COLOURS[column], CURVE_DASHES[(column + row) % CURVE_DASHES.len()])
}

/// Renders the plot as one `<svg>` element. `id` distinguishes it from other plots of the same
/// page.
pub(crate) fn svg(plot: &Plot, id: usize) -> String {
    let mut canvas = PlotCanvas::new(plot);
    canvas.draw();
    canvas.writer.finish((WIDTH, HEIGHT), id, (&plot.title, &plot.description))
}

struct PlotCanvas<'a> {
    plot: &'a Plot,
    writer: SvgWriter,
    labels: LabelPlacer,
    x: AxisLayout,
    y: AxisLayout,
    left: f64,
    right: f64,
}

impl<'a> PlotCanvas<'a> {
    fn new(plot: &'a Plot) -> Self {
        let (x, y) = (AxisLayout::horizontal(plot), AxisLayout::vertical(plot));
        let ticks_width =
            y.ticks.iter().map(|(_, label)| text_width(label)).fold(0.0, f64::max);
        let names =
            plot.series.iter().map(|series| text_width(&series.name)).fold(0.0, f64::max);
        // Adds a little, otherwise rounding of the sum would truncate the longest name.
        let with_names = (names + 3.0 * GAP + 0.1).clamp(MIN_NAMES_MARGIN, WIDTH / 3.0);
        let right = if plot.series.len() > 1 { with_names } else { RIGHT_MARGIN };
        Self {
            plot,
            writer: SvgWriter::default(),
            labels: LabelPlacer::new(WIDTH, HEIGHT),
            x,
            y,
            left: (ticks_width + 2.0 * GAP).clamp(MIN_LEFT_MARGIN, WIDTH / 4.0),
            right: WIDTH - right,
        }
    }

    fn draw(&mut self) {
        self.draw_bands();
        self.draw_grid();
        self.draw_lines();
        for (index, series) in self.plot.series.iter().enumerate() {
            self.draw_curve(series, curve_style(index));
        }
        self.label_axes();
        self.label_series();
        self.label_limit();
        self.label_marks();
        for series in &self.plot.series {
            for point in &series.points {
                let (x, y) = (tick_label(point.x, self.plot.x.unit), point.y);
                let value = format_value(y, self.plot.y.unit, 4);
                let tooltip =
                    without_no_break_spaces(&format!("{}, {x}: {value}", series.name));
                self.writer.tooltip(self.point_position(point), &tooltip);
            }
        }
    }

    fn point_position(&self, point: &PlotPoint) -> (f64, f64) {
        (
            self.x_coordinate(self.x.position(point.x)),
            self.y_coordinate(self.y.position(point.y)),
        )
    }

    fn x_coordinate(&self, position: f64) -> f64 {
        self.left + position * (self.right - self.left)
    }

    fn y_coordinate(&self, position: f64) -> f64 {
        BOTTOM_EDGE - position * (BOTTOM_EDGE - TOP_EDGE)
    }

    /// Shades every second range, and labels each at the top if its name fits.
    fn draw_bands(&mut self) {
        for (index, band) in self.plot.bands.iter().enumerate() {
            let [from, to] =
                [band.from, band.to].map(|it| self.x_coordinate(self.x.position(it)));
            if to <= from {
                continue;
            }
            if index % 2 == 0 {
                self.writer.rectangle([from, TOP_EDGE, to, BOTTOM_EDGE], BAND_COLOUR);
            }
            let short = band.label.split('\u{a0}').next().unwrap_or_default();
            let fitting =
                [band.label.as_str(), short].into_iter().find(|it| text_width(it) <= to - from);
            let text = fitting.unwrap_or(short);
            let left = f64::midpoint(from, to) - text_width(text) / 2.0;
            let place = fitting.map(|_| (left, TOP_EDGE - LINE_HEIGHT - 4.0));
            self.place_label(text, place, INK_COLOUR);
        }
    }

    fn draw_grid(&mut self) {
        for (position, _) in &self.y.ticks {
            let y = self.y_coordinate(*position);
            self.writer.line(&[(self.left, y), (self.right, y)], GRID_COLOUR, 1.0);
        }
        for (position, _) in &self.x.ticks {
            let x = self.x_coordinate(*position);
            self.writer.line(&[(x, TOP_EDGE), (x, BOTTOM_EDGE)], GRID_COLOUR, 1.0);
        }
        let axes = [(self.left, TOP_EDGE), (self.left, BOTTOM_EDGE), (self.right, BOTTOM_EDGE)];
        self.writer.line(&axes, INK_COLOUR, 1.0);
    }

    /// Draws the limit and the marks that are within the axes.
    fn draw_lines(&mut self) {
        let limit = self.plot.limit.as_ref().filter(|it| self.y.reaches(it.value));
        if let Some(limit) = limit {
            let y = self.y_coordinate(self.y.position(limit.value));
            self.writer.line(&[(self.left, y), (self.right, y)], LIMIT_COLOUR, 2.0);
            self.labels.avoid((self.left, y), (self.right, y));
        }
        for mark in self.plot.marks.iter().filter(|it| self.x.reaches(it.value)) {
            let x = self.x_coordinate(self.x.position(mark.value));
            self.writer.line(&[(x, TOP_EDGE), (x, BOTTOM_EDGE)], LIMIT_COLOUR, 1.0);
            self.labels.avoid((x, TOP_EDGE), (x, BOTTOM_EDGE));
        }
    }

    fn draw_curve(&mut self, series: &PlotSeries, (colour, dashes): (&str, &str)) {
        let points: Vec<(f64, f64)> =
            series.points.iter().map(|it| self.point_position(it)).collect();
        let band = self.interval_band(&series.points);
        if band.len() > 2 {
            self.writer.polygon(&band, colour);
        }
        self.writer.dashed_line(&points, (colour, dashes), 2.0);
        for pair in points.windows(2) {
            self.labels.avoid(pair[0], pair[1]);
        }
        for point in points {
            self.labels.avoid(point, point);
            self.writer.dot(point, 3.0, colour);
        }
    }

    /// Returns the polygon around the intervals: along the lower ends and back along the upper
    /// ones.
    fn interval_band(&self, points: &[PlotPoint]) -> Vec<(f64, f64)> {
        let end = |index: usize| {
            let known = points.iter().filter_map(move |p| Some((p, p.interval?[index])));
            known.map(|(p, y)| self.point_position(&PlotPoint { y, ..*p })).collect::<Vec<_>>()
        };
        end(0).into_iter().chain(end(1).into_iter().rev()).collect()
    }

    /// Labels the axes and their ticks; hides tick labels that would overlap their neighbour.
    fn label_axes(&mut self) {
        let y = truncate_to_width(&self.plot.y.label, WIDTH - 2.0 * GAP);
        self.place_label(&y, [(GAP, GAP)], INK_COLOUR);
        let x = truncate_to_width(&self.plot.x.label, WIDTH - 2.0 * GAP);
        let middle = f64::midpoint(self.left, self.right) - text_width(&x) / 2.0;
        let middle = middle.clamp(GAP, (WIDTH - text_width(&x) - GAP).max(GAP));
        self.place_label(&x, [(middle, HEIGHT - LINE_HEIGHT - 4.0)], INK_COLOUR);
        for (position, text) in self.y.ticks.clone() {
            let text = truncate_to_width(&text, self.left - GAP);
            let place = (
                self.left - GAP - text_width(&text),
                self.y_coordinate(position) - LINE_HEIGHT / 2.0,
            );
            self.place_label(&text, [place], INK_COLOUR);
        }
        for (position, text) in self.x.ticks.clone() {
            let left = self.x_coordinate(position) - text_width(&text) / 2.0;
            let left = left.clamp(0.0, (WIDTH - text_width(&text)).max(0.0));
            self.place_label(&text, [(left, TICK_LABELS_TOP)], INK_COLOUR);
        }
    }

    /// Labels the series if there are several. Names are in the margin, spread so that they do not
    /// overlap, with a line to the end of their curve; the name of a single point is next to it.
    fn label_series(&mut self) {
        if self.plot.series.len() < 2 {
            return;
        }
        let (mut beside, mut ends) = (Vec::new(), Vec::new());
        for (index, series) in self.plot.series.iter().enumerate() {
            let Some(last) = series.points.last() else { continue };
            let room = WIDTH - self.right - 3.0 * GAP;
            let name =
                (self.point_position(last), truncate_to_width(&series.name, room), index);
            if series.points.len() == 1 { beside.push(name) } else { ends.push(name) }
        }
        ends.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
        let heights = spread_heights(&ends.iter().map(|(at, _, _)| at.1).collect::<Vec<_>>());
        for ((point, name, index), y) in ends.iter().zip(heights) {
            let dot = (self.right + GAP, y);
            if !self.place_label(name, [(dot.0 + GAP, y - LINE_HEIGHT / 2.0)], INK_COLOUR) {
                continue;
            }
            // Text needs more contrast than a line: only the dot is coloured.
            let (colour, dashes) = curve_style(*index);
            self.writer.dot(dot, 3.0, colour);
            self.writer.dashed_line(&[*point, dot], (colour, dashes), 0.7);
        }
        for (point, name, _) in beside {
            let (x, y) = point;
            let middle = y - LINE_HEIGHT / 2.0;
            let places = [
                (x + GAP, middle),
                (x - GAP - text_width(&name), middle),
                (x + GAP, y - LINE_HEIGHT - 2.0),
                (x - GAP - text_width(&name), y - LINE_HEIGHT - 2.0),
                (x + GAP, y + 2.0),
                (x - GAP - text_width(&name), y + 2.0),
            ];
            self.place_label(&name, places, INK_COLOUR);
        }
    }

    /// Labels the limit next to its line, or at the top if it is above the axis.
    fn label_limit(&mut self) {
        let Some(limit) = &self.plot.limit else { return };
        let (text, y) = match self.y.reaches(limit.value) {
            true => (limit.label.clone(), self.y_coordinate(self.y.position(limit.value))),
            false => (format!("↑ {}", limit.label), TOP_EDGE),
        };
        let (near, far) = (self.left + GAP, self.right - GAP - text_width(&text));
        let rows = [y + 3.0, y - LINE_HEIGHT - 2.0];
        let places = [near, far].into_iter().flat_map(|x| rows.map(|row| (x, row)));
        let below = (1..10).map(|row| (near, y + 3.0 + f64::from(row) * LINE_HEIGHT));
        self.place_label(&text, places.chain(below), LIMIT_COLOUR);
    }

    /// Labels each mark next to its vertical line, in different rows so that all stay visible.
    fn label_marks(&mut self) {
        for mark in &self.plot.marks {
            let is_near = self.x.reaches(mark.value);
            let text = if is_near { mark.label.clone() } else { format!("{} →", mark.label) };
            let x = if is_near {
                self.x_coordinate(self.x.position(mark.value))
            } else {
                self.right
            };
            let (right, left) = (x + GAP, x - GAP - text_width(&text));
            let sides = match is_near && x < f64::midpoint(self.left, self.right) {
                true => [right, left],
                false => [left, right],
            };
            let rows = (0..15).map(|row| TOP_EDGE + 3.0 + f64::from(row) * LINE_HEIGHT);
            let places = rows.flat_map(move |y| sides.map(|x| (x, y)));
            let inside = (self.left, self.right);
            let within = places.filter(move |(x, _)| *x > inside.0 && *x < inside.1);
            self.place_label(&text, within, LIMIT_COLOUR);
        }
    }

    /// Draws a label at the first free position; returns whether there was one.
    fn place_label(
        &mut self,
        text: &str,
        places: impl IntoIterator<Item = (f64, f64)>,
        colour: &str,
    ) -> bool {
        let places: Vec<(f64, f64)> = places.into_iter().collect();
        let place = self.labels.place(text, &places);
        match place {
            Some(place) => self.writer.text(text, place, colour),
            // Hidden text keeps the set of texts equal in all languages, whatever their lengths.
            None => self.writer.hidden_text(text),
        }
        place.is_some()
    }
}

/// Spreads ascending heights so that labels do not overlap, close to the desired heights and above
/// the tick labels of the horizontal axis.
fn spread_heights(desired: &[f64]) -> Vec<f64> {
    let mut heights = desired.to_vec();
    for i in 1..heights.len() {
        heights[i] = heights[i].max(heights[i - 1] + LINE_HEIGHT);
    }
    let mut lowest = TICK_LABELS_TOP - LINE_HEIGHT / 2.0;
    for height in heights.iter_mut().rev() {
        *height = height.min(lowest);
        lowest = *height - LINE_HEIGHT;
    }
    heights
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn curves_differ_without_their_colours() {
        let dashes = |first: usize| (first..first + 7).map(|it| curve_style(it).1);
        assert_eq!(dashes(0).collect::<BTreeSet<_>>().len(), 7);
        assert_eq!(dashes(7).collect::<BTreeSet<_>>().len(), 7);
        assert_eq!((0..49).map(curve_style).collect::<BTreeSet<_>>().len(), 49);
        assert_eq!(curve_style(0).1, "", "a single curve is solid");
    }
}
