//! Writes SVG elements.
//!
//! Colours are attributes, because a picture in its own file has no style sheet. Pages override
//! them with attribute selectors for dark screens.

use std::fmt::Write as _;

use assay_model::plain;

use super::labels::FONT;
use super::svg::SIZE;

pub(super) const INK: &str = "#24292F";
pub(super) const GRID: &str = "#D0D7DE";
pub(super) const BAND: &str = "#EAEEF2";
pub(super) const LIMIT: &str = "#B52B0C";

/// SVG picture under construction.
#[derive(Default)]
pub(super) struct Sheet {
    elements: String,
}

impl Sheet {
    pub(super) fn rectangle(&mut self, [x0, y0, x1, y1]: [f64; 4], fill: &str) {
        let (x, y, width, height) = (short(x0), short(y0), short(x1 - x0), short(y1 - y0));
        let _ = writeln!(
            self.elements,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>"
        );
    }

    /// Draws a translucent rectangle with an edge of the given colour and width.
    pub(super) fn shade(
        &mut self,
        [x0, y0, x1, y1]: [f64; 4],
        (fill, opacity): (&str, f64),
        (stroke, edge): (&str, f64),
    ) {
        let (x, y, width, height) = (short(x0), short(y0), short(x1 - x0), short(y1 - y0));
        let _ = writeln!(
            self.elements,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" fill-opacity=\"{opacity:.2}\" stroke=\"{stroke}\" stroke-width=\"{edge}\"/>"
        );
    }

    pub(super) fn line(&mut self, points: &[(f64, f64)], stroke: &str, width: f64) {
        let (points, width) = (pairs(points), short(width));
        let _ = writeln!(
            self.elements,
            "<polyline fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\" points=\"{points}\"/>"
        );
    }

    /// Draws a translucent polygon.
    pub(super) fn area(&mut self, points: &[(f64, f64)], fill: &str) {
        let points = pairs(points);
        let _ = writeln!(
            self.elements,
            "<polygon opacity=\"0.25\" fill=\"{fill}\" points=\"{points}\"/>"
        );
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), radius: f64, fill: &str) {
        let (x, y, r) = (short(x), short(y), short(radius));
        let _ = writeln!(
            self.elements,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\"/>"
        );
    }

    /// Draws text at its upper left corner.
    pub(super) fn text(&mut self, text: &str, (left, top): (f64, f64), fill: &str) {
        /// Distance from the upper edge to the baseline, in font sizes.
        const BASE: f64 = 0.95;
        let (x, y, text) = (short(left), short(top + BASE * FONT), escaped(text));
        let _ =
            writeln!(self.elements, "<text x=\"{x}\" y=\"{y}\" fill=\"{fill}\">{text}</text>");
    }

    /// Adds invisible text, for a label that does not fit.
    pub(super) fn hidden(&mut self, text: &str) {
        let _ = writeln!(self.elements, "<text display=\"none\">{}</text>", escaped(text));
    }

    /// Adds an invisible tooltip at a point.
    pub(super) fn hover(&mut self, (x, y): (f64, f64), text: &str) {
        /// Radius that a finger can hit.
        const RADIUS: f64 = 8.0;
        let (x, y, text) = (short(x), short(y), escaped(text));
        let _ = writeln!(
            self.elements,
            "<circle class=\"point\" cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\" fill-opacity=\"0\"><title>{text}</title></circle>"
        );
    }

    /// Returns the picture as one `<svg>` element with title and description. `id` distinguishes it
    /// from other plots of the same page.
    pub(super) fn finish(
        self,
        (width, height): (f64, f64),
        id: usize,
        (title, description): (&str, &str),
    ) -> String {
        let (title, description) = (escaped(title), escaped(description));
        let (width, height) = (short(width), short(height));
        format!(
            "<svg class=\"plot\"{} role=\"img\" aria-labelledby=\"plot{id}-title plot{id}-text\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"{FONT}\" xmlns=\"http://www.w3.org/2000/svg\">\n\
             <title id=\"plot{id}-title\">{title}</title>\n\
             <desc id=\"plot{id}-text\">{description}</desc>\n{}</svg>\n",
            shown(width),
            self.elements
        )
    }
}

/// Returns the style that limits the displayed width, unless the picture has the default width. The
/// picture shrinks until letters have their minimum size.
fn shown(width: f64) -> String {
    /// Minimum letter size for comfortable reading, in pixels; WCAG 2.2 gives none.
    const SMALLEST: f64 = 11.0;
    if (width - f64::from(SIZE.0)).abs() < 0.1 {
        return String::new();
    }
    let least = (width * SMALLEST / FONT).ceil();
    format!(" style=\"min-width: {least}px; max-width: {width}px\"")
}

/// Escapes text for XML.
pub(crate) fn escaped(text: &str) -> String {
    plain::visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Rounds to a tenth of a pixel, which is finer than visible.
fn short(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn pairs(points: &[(f64, f64)]) -> String {
    let pair = |(x, y): &(f64, f64)| format!("{},{}", short(*x), short(*y));
    points.iter().map(pair).collect::<Vec<_>>().join(" ")
}
