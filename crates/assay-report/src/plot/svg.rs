//! Draws a plot as SVG with plotters, which maps coordinates and writes the elements. What stands
//! where is decided here: plotters' own axes know no `4 KiB` and no bands.
//!
//! Colours are few and fixed (the blue, vermillion and bluish green of Okabe and Ito, which people
//! with any kind of colour vision distinguish); pages override them by attribute for dark screens.

use assay_model::plain;
use std::fmt::Write as _;

use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::scale::{Layout, label};
use crate::document::{Plot, Point, Series};
use crate::units::quantity;
use crate::words::plainly;

/// Drawn at a multiple of the size at which it is shown, because plotters rounds to whole pixels.
const FINE: i32 = 4;
/// Width and height at which a plot is shown.
pub(crate) const SIZE: (u32, u32) = (760, 400);
const WIDTH: i32 = SIZE.0 as i32 * FINE;
const HEIGHT: i32 = SIZE.1 as i32 * FINE;
const LEFT: i32 = 80 * FINE;
const TOP: i32 = 48 * FINE;
const BOTTOM: i32 = 56 * FINE;
const RIGHT: i32 = 24 * FINE;
/// Room for the names of several curves beside their ends.
const RIGHT_WITH_NAMES: i32 = 90 * FINE;
/// plotters writes this divided by 1.24.
const FONT: i32 = 17 * FINE;
/// A rough mean width of a letter, for text that must not run into its neighbour.
const LETTER: i32 = 8 * FINE;

const INK: RGBColor = RGBColor(0x24, 0x29, 0x2f);
const GRID: RGBColor = RGBColor(0xd0, 0xd7, 0xde);
const BAND: RGBColor = RGBColor(0xea, 0xee, 0xf2);
const LIMIT: RGBColor = RGBColor(0xcc, 0x33, 0x11);
const CURVES: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0x99, 0x5d, 0x81),
    // Grey, sky blue and ochre, between light and dark, so that dark screens need no others.
    RGBColor(0x7d, 0x85, 0x90),
    RGBColor(0x3a, 0x8f, 0xc7),
    RGBColor(0xb0, 0x7d, 0x00),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// The plot as one `<svg>` element with title and description. `id` distinguishes it from other plots of
/// the same page.
pub(crate) fn svg(plot: &Plot, id: usize) -> String {
    let mut text = String::new();
    let area =
        SVGBackend::with_string(&mut text, (WIDTH as u32, HEIGHT as u32)).into_drawing_area();
    let canvas = Canvas::new(plot, &area);
    let (drawn, points) = (canvas.draw(), canvas.points());
    drop(canvas);
    drop(area);
    // Writing to a string cannot fail; if it did, a page without a plot is better than no page.
    if drawn.is_err() {
        return String::new();
    }
    let elements = text.split_once('\n').map_or("", |(_, elements)| elements);
    let mut svg = format!(
        "<svg class=\"plot\" role=\"img\" aria-labelledby=\"plot{id}-title plot{id}-text\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" xmlns=\"http://www.w3.org/2000/svg\">\n"
    );
    let _ = writeln!(svg, "<title id=\"plot{id}-title\">{}</title>", escaped(&plot.title));
    let _ = writeln!(svg, "<desc id=\"plot{id}-text\">{}</desc>", escaped(&plot.description));
    let drawn = elements.trim_end().strip_suffix("</svg>").unwrap_or(elements);
    svg.push_str(drawn);
    svg.push_str(&points);
    svg.push_str("</svg>\n");
    svg
}

/// Text as XML holds it.
pub(crate) fn escaped(text: &str) -> String {
    plain::visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

struct Canvas<'a, 'b> {
    plot: &'a Plot,
    area: &'a Area<'b>,
    x: Layout,
    y: Layout,
    right: i32,
}

impl<'a, 'b> Canvas<'a, 'b> {
    fn new(plot: &'a Plot, area: &'a Area<'b>) -> Self {
        let longest = plot.series.iter().map(|series| series.name.chars().count()).max();
        let names = longest.unwrap_or(0) as i32 * LETTER + 16 * FINE;
        let with_names = names.clamp(RIGHT_WITH_NAMES, WIDTH / 3);
        let right = if plot.series.len() > 1 { with_names } else { RIGHT };
        let (x, y) = (Layout::horizontal(plot), Layout::vertical(plot));
        Self { plot, area, x, y, right: WIDTH - right }
    }

    fn draw(&self) -> Drawn {
        self.bands()?;
        self.grid()?;
        self.limit()?;
        self.marks()?;
        for (series, colour) in self.plot.series.iter().zip(CURVES.iter().cycle()) {
            self.curve(series, *colour)?;
        }
        self.names()?;
        self.axis_labels()?;
        self.area.present()
    }

    fn at(&self, x: f64, y: f64) -> (i32, i32) {
        (self.across(self.x.position(x)), self.up(self.y.position(y)))
    }

    fn across(&self, position: f64) -> i32 {
        LEFT + (position * f64::from(self.right - LEFT)).round() as i32
    }

    fn up(&self, position: f64) -> i32 {
        (HEIGHT - BOTTOM) - (position * f64::from(HEIGHT - BOTTOM - TOP)).round() as i32
    }

    fn text(
        &self,
        text: &str,
        at: (i32, i32),
        anchor: (HPos, VPos),
        colour: RGBColor,
    ) -> Drawn {
        let font = ("sans-serif", FONT).into_font();
        let style = TextStyle::from(font).color(&colour).pos(Pos::new(anchor.0, anchor.1));
        self.area.draw(&Text::new(text.to_owned(), at, style))
    }

    /// Every second range is shaded, and each is named at the top if the name fits.
    fn bands(&self) -> Drawn {
        for (index, band) in self.plot.bands.iter().enumerate() {
            let (from, to) = (
                self.across(self.x.position(band.from)),
                self.across(self.x.position(band.to)),
            );
            if to <= from {
                continue;
            }
            if index % 2 == 0 {
                let corners = [(from, TOP), (to, HEIGHT - BOTTOM)];
                self.area.draw(&Rectangle::new(corners, BAND.filled()))?;
            }
            let short = band.label.split('\u{a0}').next().unwrap_or_default();
            let fitting = [band.label.as_str(), short]
                .into_iter()
                .find(|label| label.chars().count() as i32 * LETTER <= to - from);
            if let Some(label) = fitting {
                let at = (i32::midpoint(from, to), TOP - 6 * FINE);
                self.text(label, at, (HPos::Center, VPos::Bottom), INK)?;
            }
        }
        Ok(())
    }

    fn grid(&self) -> Drawn {
        let line = thin(GRID);
        for (position, label) in &self.y.ticks {
            let y = self.up(*position);
            self.area.draw(&PathElement::new(vec![(LEFT, y), (self.right, y)], line))?;
            self.text(label, (LEFT - 8 * FINE, y), (HPos::Right, VPos::Center), INK)?;
        }
        let floor = HEIGHT - BOTTOM;
        for (position, label) in &self.x.ticks {
            let x = self.across(*position);
            self.area.draw(&PathElement::new(vec![(x, TOP), (x, floor)], line))?;
            self.text(label, (x, floor + 8 * FINE), (HPos::Center, VPos::Top), INK)?;
        }
        let axes = vec![(LEFT, TOP), (LEFT, floor), (self.right, floor)];
        self.area.draw(&PathElement::new(axes, thin(INK)))
    }

    fn limit(&self) -> Drawn {
        let Some(limit) = &self.plot.limit else { return Ok(()) };
        let y = self.up(self.y.position(limit.value));
        let path = vec![(LEFT, y), (self.right, y)];
        self.area.draw(&PathElement::new(path, LIMIT.stroke_width(2 * FINE as u32)))?;
        let at = (LEFT + 8 * FINE, y + 6 * FINE);
        self.text(&limit.label, at, (HPos::Left, VPos::Top), LIMIT)
    }

    /// Upright lines, each named beside its upper end, one below the other so that none is hidden.
    fn marks(&self) -> Drawn {
        for (index, mark) in (1..).zip(&self.plot.marks) {
            let x = self.across(self.x.position(mark.value));
            let path = vec![(x, TOP), (x, HEIGHT - BOTTOM)];
            self.area.draw(&PathElement::new(path, LIMIT.stroke_width(FINE as u32)))?;
            let y = TOP + index * (FONT + 3 * FINE) - FONT;
            let is_right = x > i32::midpoint(LEFT, self.right);
            let (at, side) = match is_right {
                true => ((x - 6 * FINE, y), HPos::Right),
                false => ((x + 6 * FINE, y), HPos::Left),
            };
            self.text(&mark.label, at, (side, VPos::Top), LIMIT)?;
        }
        Ok(())
    }

    fn curve(&self, series: &Series, colour: RGBColor) -> Drawn {
        let points: Vec<(i32, i32)> =
            series.points.iter().map(|point| self.at(point.x, point.y)).collect();
        let band = self.interval_band(&series.points);
        if band.len() > 2 {
            self.area.draw(&Polygon::new(band, colour.mix(0.25)))?;
        }
        let style = colour.stroke_width(2 * FINE as u32);
        self.area.draw(&PathElement::new(points.clone(), style))?;
        for point in points {
            self.area.draw(&Circle::new(point, 3 * FINE, colour.filled()))?;
        }
        Ok(())
    }

    /// Around the points with an interval: along the lower ends and back along the upper ones.
    fn interval_band(&self, points: &[Point]) -> Vec<(i32, i32)> {
        let end = |which: usize| {
            let known = points.iter().filter_map(move |p| Some((p.x, p.interval?[which])));
            known.map(|(x, y)| self.at(x, y)).collect::<Vec<_>>()
        };
        end(0).into_iter().chain(end(1).into_iter().rev()).collect()
    }

    /// Several curves are named at their right ends, pushed apart where they would overlap.
    fn names(&self) -> Drawn {
        if self.plot.series.len() < 2 {
            return Ok(());
        }
        let mut names: Vec<(i32, &str, RGBColor)> = self
            .plot
            .series
            .iter()
            .zip(CURVES.iter().cycle())
            .filter_map(|(series, colour)| {
                let last = series.points.last()?;
                Some((self.at(last.x, last.y).1, series.name.as_str(), *colour))
            })
            .collect();
        names.sort_by_key(|(y, _, _)| *y);
        let mut lowest = i32::MIN;
        for (y, name, colour) in names {
            let y = y.max(lowest);
            lowest = y.saturating_add(FONT + 3 * FINE);
            let at = (self.right + 12 * FINE, y);
            // Letters need more contrast than a line: only the dot has its colour.
            self.area.draw(&Circle::new((at.0 - 6 * FINE, y), 3 * FINE, colour.filled()))?;
            self.text(name, at, (HPos::Left, VPos::Center), INK)?;
        }
        Ok(())
    }

    /// What a pointer over a point says: its curve, its place and its value. Nothing of them is drawn.
    fn points(&self) -> String {
        let mut all = String::new();
        for series in &self.plot.series {
            for point in &series.points {
                let (x, y) = self.at(point.x, point.y);
                let place = label(point.x, self.plot.x.unit);
                let value = quantity(point.y, self.plot.y.unit, 4);
                let reported = escaped(&plainly(&format!("{}, {place}: {value}", series.name)));
                let r = 8 * FINE;
                let _ = writeln!(
                    all,
                    "<circle class=\"point\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill-opacity=\"0\"><title>{reported}</title></circle>"
                );
            }
        }
        all
    }

    fn axis_labels(&self) -> Drawn {
        let middle = i32::midpoint(LEFT, self.right);
        let at = (middle, HEIGHT - 6 * FINE);
        self.text(&self.plot.x.label, at, (HPos::Center, VPos::Bottom), INK)?;
        let at = (8 * FINE, 6 * FINE);
        self.text(&self.plot.y.label, at, (HPos::Left, VPos::Top), INK)
    }
}

fn thin(colour: RGBColor) -> ShapeStyle {
    colour.stroke_width(FINE as u32)
}
