//! Draws a plot as SVG: bands, grid, limit and marks, then curves, then labels.
//!
//! Colours are few and fixed (the blue, vermillion and bluish green of Okabe and Ito, which people
//! with any kind of colour vision distinguish).

use super::labels::{LINE, Labels, shortened, width};
use super::scale::{Layout, label};
use super::sheet::{BAND, GRID, INK, LIMIT, Sheet};
use crate::document::{Plot, Point, Series};
use crate::precision::written;
use crate::words::plainly;

/// Width and height of a displayed plot.
pub(crate) const SIZE: (u32, u32) = (760, 400);
const WIDTH: f64 = SIZE.0 as f64;
const HEIGHT: f64 = SIZE.1 as f64;
const TOP: f64 = 48.0;
const FLOOR: f64 = HEIGHT - 56.0;
/// Top of the tick labels of the horizontal axis, below the lowest tick label of the vertical axis;
/// higher up the first of them would collide with it.
const BELOW_FLOOR: f64 = FLOOR + LINE / 2.0;
const RIGHT: f64 = 24.0;
/// Minimum right margin for series names.
const RIGHT_WITH_NAMES: f64 = 90.0;
/// Minimum left margin for tick labels.
const LEFT: f64 = 60.0;
/// Distance between a label and its object.
const GAP: f64 = 6.0;

pub(super) const CURVES: [&str; 7] = [
    "#0072B2", "#D55E00", "#009E73", "#995D81",
    // Grey, sky blue and ochre of medium lightness, so that dark screens need no other colours.
    "#7D8590", "#3A8FC7", "#B07D00",
];

/// Renders the plot as one `<svg>` element. `id` distinguishes it from other plots of the same
/// page.
pub(crate) fn svg(plot: &Plot, id: usize) -> String {
    let mut canvas = Canvas::new(plot);
    canvas.draw();
    canvas.sheet.finish((WIDTH, HEIGHT), id, (&plot.title, &plot.description))
}

struct Canvas<'a> {
    plot: &'a Plot,
    sheet: Sheet,
    labels: Labels,
    x: Layout,
    y: Layout,
    left: f64,
    right: f64,
}

impl<'a> Canvas<'a> {
    fn new(plot: &'a Plot) -> Self {
        let (x, y) = (Layout::horizontal(plot), Layout::vertical(plot));
        let ticks_width = y.ticks.iter().map(|(_, label)| width(label)).fold(0.0, f64::max);
        let names = plot.series.iter().map(|series| width(&series.name)).fold(0.0, f64::max);
        // Adds a little, otherwise rounding of the sum would truncate the longest name.
        let with_names = (names + 3.0 * GAP + 0.1).clamp(RIGHT_WITH_NAMES, WIDTH / 3.0);
        let right = if plot.series.len() > 1 { with_names } else { RIGHT };
        Self {
            plot,
            sheet: Sheet::default(),
            labels: Labels::new(WIDTH, HEIGHT),
            x,
            y,
            left: (ticks_width + 2.0 * GAP).clamp(LEFT, WIDTH / 4.0),
            right: WIDTH - right,
        }
    }

    fn draw(&mut self) {
        self.bands();
        self.grid();
        self.lines();
        for (series, colour) in self.plot.series.iter().zip(CURVES.iter().cycle()) {
            self.curve(series, colour);
        }
        self.axes();
        self.names();
        self.limit();
        self.marks();
        for series in &self.plot.series {
            for point in &series.points {
                let (x, y) = (label(point.x, self.plot.x.unit), point.y);
                let value = written(y, self.plot.y.unit, 4);
                let tooltip = plainly(&format!("{}, {x}: {value}", series.name));
                self.sheet.hover(self.at(point), &tooltip);
            }
        }
    }

    fn at(&self, point: &Point) -> (f64, f64) {
        (self.across(self.x.position(point.x)), self.up(self.y.position(point.y)))
    }

    fn across(&self, position: f64) -> f64 {
        self.left + position * (self.right - self.left)
    }

    fn up(&self, position: f64) -> f64 {
        FLOOR - position * (FLOOR - TOP)
    }

    /// Shades every second range, and labels each at the top if its name fits.
    fn bands(&mut self) {
        for (index, band) in self.plot.bands.iter().enumerate() {
            let [from, to] = [band.from, band.to].map(|it| self.across(self.x.position(it)));
            if to <= from {
                continue;
            }
            if index % 2 == 0 {
                self.sheet.rectangle([from, TOP, to, FLOOR], BAND);
            }
            let short = band.label.split('\u{a0}').next().unwrap_or_default();
            let fitting =
                [band.label.as_str(), short].into_iter().find(|it| width(it) <= to - from);
            let text = fitting.unwrap_or(short);
            let left = f64::midpoint(from, to) - width(text) / 2.0;
            let place = fitting.map(|_| (left, TOP - LINE - 4.0));
            self.word(text, place, INK);
        }
    }

    fn grid(&mut self) {
        for (position, _) in &self.y.ticks {
            let y = self.up(*position);
            self.sheet.line(&[(self.left, y), (self.right, y)], GRID, 1.0);
        }
        for (position, _) in &self.x.ticks {
            let x = self.across(*position);
            self.sheet.line(&[(x, TOP), (x, FLOOR)], GRID, 1.0);
        }
        let axes = [(self.left, TOP), (self.left, FLOOR), (self.right, FLOOR)];
        self.sheet.line(&axes, INK, 1.0);
    }

    /// Draws the limit and the marks that are within the axes.
    fn lines(&mut self) {
        let limit = self.plot.limit.as_ref().filter(|it| self.y.reaches(it.value));
        if let Some(limit) = limit {
            let y = self.up(self.y.position(limit.value));
            self.sheet.line(&[(self.left, y), (self.right, y)], LIMIT, 2.0);
            self.labels.avoid((self.left, y), (self.right, y));
        }
        for mark in self.plot.marks.iter().filter(|it| self.x.reaches(it.value)) {
            let x = self.across(self.x.position(mark.value));
            self.sheet.line(&[(x, TOP), (x, FLOOR)], LIMIT, 1.0);
            self.labels.avoid((x, TOP), (x, FLOOR));
        }
    }

    fn curve(&mut self, series: &Series, colour: &str) {
        let points: Vec<(f64, f64)> = series.points.iter().map(|it| self.at(it)).collect();
        let band = self.interval_band(&series.points);
        if band.len() > 2 {
            self.sheet.area(&band, colour);
        }
        self.sheet.line(&points, colour, 2.0);
        for pair in points.windows(2) {
            self.labels.avoid(pair[0], pair[1]);
        }
        for point in points {
            self.labels.avoid(point, point);
            self.sheet.dot(point, 3.0, colour);
        }
    }

    /// Returns the polygon around the intervals: along the lower ends and back along the upper
    /// ones.
    fn interval_band(&self, points: &[Point]) -> Vec<(f64, f64)> {
        let end = |index: usize| {
            let known = points.iter().filter_map(move |p| Some((p, p.interval?[index])));
            known.map(|(p, y)| self.at(&Point { y, ..*p })).collect::<Vec<_>>()
        };
        end(0).into_iter().chain(end(1).into_iter().rev()).collect()
    }

    /// Labels the axes and their ticks; hides tick labels that would overlap their neighbour.
    fn axes(&mut self) {
        let y = shortened(&self.plot.y.label, WIDTH - 2.0 * GAP);
        self.word(&y, [(GAP, GAP)], INK);
        let x = shortened(&self.plot.x.label, WIDTH - 2.0 * GAP);
        let middle = f64::midpoint(self.left, self.right) - width(&x) / 2.0;
        let middle = middle.clamp(GAP, (WIDTH - width(&x) - GAP).max(GAP));
        self.word(&x, [(middle, HEIGHT - LINE - 4.0)], INK);
        for (position, text) in self.y.ticks.clone() {
            let text = shortened(&text, self.left - GAP);
            let place = (self.left - GAP - width(&text), self.up(position) - LINE / 2.0);
            self.word(&text, [place], INK);
        }
        for (position, text) in self.x.ticks.clone() {
            let left = self.across(position) - width(&text) / 2.0;
            let left = left.clamp(0.0, (WIDTH - width(&text)).max(0.0));
            self.word(&text, [(left, BELOW_FLOOR)], INK);
        }
    }

    /// Labels the series if there are several. Names are in the margin, spread so that they do not
    /// overlap, with a line to the end of their curve; the name of a single point is next to it.
    fn names(&mut self) {
        if self.plot.series.len() < 2 {
            return;
        }
        let all = self.plot.series.iter().zip(CURVES.iter().cycle());
        let (mut beside, mut ends) = (Vec::new(), Vec::new());
        for (series, colour) in all {
            let Some(last) = series.points.last() else { continue };
            let room = WIDTH - self.right - 3.0 * GAP;
            let name = (self.at(last), shortened(&series.name, room), *colour);
            if series.points.len() == 1 { beside.push(name) } else { ends.push(name) }
        }
        ends.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
        let heights = apart(&ends.iter().map(|(at, _, _)| at.1).collect::<Vec<_>>());
        for ((point, name, colour), y) in ends.iter().zip(heights) {
            let dot = (self.right + GAP, y);
            if !self.word(name, [(dot.0 + GAP, y - LINE / 2.0)], INK) {
                continue;
            }
            // Text needs more contrast than a line: only the dot is coloured.
            self.sheet.dot(dot, 3.0, colour);
            self.sheet.line(&[*point, dot], colour, 0.7);
        }
        for (point, name, _) in beside {
            let (x, y) = point;
            let middle = y - LINE / 2.0;
            let places = [
                (x + GAP, middle),
                (x - GAP - width(&name), middle),
                (x + GAP, y - LINE - 2.0),
                (x - GAP - width(&name), y - LINE - 2.0),
                (x + GAP, y + 2.0),
                (x - GAP - width(&name), y + 2.0),
            ];
            self.word(&name, places, INK);
        }
    }

    /// Labels the limit next to its line, or at the top if it is above the axis.
    fn limit(&mut self) {
        let Some(limit) = &self.plot.limit else { return };
        let (text, y) = match self.y.reaches(limit.value) {
            true => (limit.label.clone(), self.up(self.y.position(limit.value))),
            false => (format!("↑ {}", limit.label), TOP),
        };
        let (near, far) = (self.left + GAP, self.right - GAP - width(&text));
        let rows = [y + 3.0, y - LINE - 2.0];
        let places = [near, far].into_iter().flat_map(|x| rows.map(|row| (x, row)));
        let below = (1..10).map(|row| (near, y + 3.0 + f64::from(row) * LINE));
        self.word(&text, places.chain(below), LIMIT);
    }

    /// Labels each mark next to its vertical line, in different rows so that all stay visible.
    fn marks(&mut self) {
        for mark in &self.plot.marks {
            let is_near = self.x.reaches(mark.value);
            let text = if is_near { mark.label.clone() } else { format!("{} →", mark.label) };
            let x = if is_near { self.across(self.x.position(mark.value)) } else { self.right };
            let (right, left) = (x + GAP, x - GAP - width(&text));
            let sides = match is_near && x < f64::midpoint(self.left, self.right) {
                true => [right, left],
                false => [left, right],
            };
            let rows = (0..15).map(|row| TOP + 3.0 + f64::from(row) * LINE);
            let places = rows.flat_map(move |y| sides.map(|x| (x, y)));
            let inside = (self.left, self.right);
            let within = places.filter(move |(x, _)| *x > inside.0 && *x < inside.1);
            self.word(&text, within, LIMIT);
        }
    }

    /// Draws a label at the first free position; returns whether there was one.
    fn word(
        &mut self,
        text: &str,
        places: impl IntoIterator<Item = (f64, f64)>,
        colour: &str,
    ) -> bool {
        let places: Vec<(f64, f64)> = places.into_iter().collect();
        let place = self.labels.place(text, &places);
        match place {
            Some(place) => self.sheet.text(text, place, colour),
            // Hidden text keeps the set of texts equal in all languages, whatever their lengths.
            None => self.sheet.hidden(text),
        }
        place.is_some()
    }
}

/// Spreads ascending heights so that labels do not overlap, close to the desired heights and above
/// the tick labels of the horizontal axis.
fn apart(desired: &[f64]) -> Vec<f64> {
    let mut heights = desired.to_vec();
    for i in 1..heights.len() {
        heights[i] = heights[i].max(heights[i - 1] + LINE);
    }
    let mut lowest = BELOW_FLOOR - LINE / 2.0;
    for height in heights.iter_mut().rev() {
        *height = height.min(lowest);
        lowest = *height - LINE;
    }
    heights
}
