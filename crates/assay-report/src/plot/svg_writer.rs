//! Writes SVG elements.
//!
//! Colours are attributes, because a picture in its own file has no style sheet. Pages override
//! them with attribute selectors for dark screens.

use std::fmt::Write as _;

use assay_model::sanitize::escape_xml;

use super::labels::FONT_SIZE;

pub(super) const INK_COLOUR: &str = "#24292F";
pub(super) const GRID_COLOUR: &str = "#D0D7DE";
pub(super) const BAND_COLOUR: &str = "#EAEEF2";
pub(super) const LIMIT_COLOUR: &str = "#B52B0C";

/// SVG picture under construction.
#[derive(Default)]
pub(super) struct SvgWriter {
    elements: String,
}

impl SvgWriter {
    pub(super) fn rectangle(&mut self, area: [f64; 4], fill: &str) {
        self.add_rectangle(area, &format!("fill=\"{fill}\""));
    }

    /// Draws a translucent rectangle with an edge of the given colour and width.
    pub(super) fn shaded_rectangle(
        &mut self,
        area: [f64; 4],
        (fill, opacity): (&str, f64),
        (stroke, edge): (&str, f64),
    ) {
        let style = format!(
            "fill=\"{fill}\" fill-opacity=\"{opacity:.2}\" stroke=\"{stroke}\" stroke-width=\"{edge}\""
        );
        self.add_rectangle(area, &style);
    }

    fn add_rectangle(&mut self, [x0, y0, x1, y1]: [f64; 4], style: &str) {
        let [x, y, width, height] = [x0, y0, x1 - x0, y1 - y0].map(round_to_tenth);
        let _ = writeln!(
            self.elements,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {style}/>"
        );
    }

    pub(super) fn line(&mut self, points: &[(f64, f64)], stroke: &str, width: f64) {
        self.dashed_line(points, (stroke, ""), width);
    }

    /// Draws a line with the given dashes; without any, it is solid.
    pub(super) fn dashed_line(
        &mut self,
        points: &[(f64, f64)],
        (stroke, dashes): (&str, &str),
        width: f64,
    ) {
        let (points, width) = (format_points(points), round_to_tenth(width));
        let dashes = match dashes {
            "" => String::new(),
            some => format!(" stroke-dasharray=\"{some}\""),
        };
        let _ = writeln!(
            self.elements,
            "<polyline fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\"{dashes} points=\"{points}\"/>"
        );
    }

    /// Draws a translucent polygon.
    pub(super) fn polygon(&mut self, points: &[(f64, f64)], fill: &str) {
        let points = format_points(points);
        let _ = writeln!(
            self.elements,
            "<polygon opacity=\"0.25\" fill=\"{fill}\" points=\"{points}\"/>"
        );
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), radius: f64, fill: &str) {
        let (x, y, r) = (round_to_tenth(x), round_to_tenth(y), round_to_tenth(radius));
        let _ = writeln!(
            self.elements,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\"/>"
        );
    }

    /// Draws text at its upper left corner.
    pub(super) fn text(&mut self, text: &str, (left, top): (f64, f64), fill: &str) {
        /// Distance from the upper edge to the baseline, in font sizes.
        const BASELINE: f64 = 0.95;
        let (x, y, text) = (
            round_to_tenth(left),
            round_to_tenth(top + BASELINE * FONT_SIZE),
            escape_xml(text),
        );
        let _ =
            writeln!(self.elements, "<text x=\"{x}\" y=\"{y}\" fill=\"{fill}\">{text}</text>");
    }

    /// Adds invisible text, for a label that does not fit.
    pub(super) fn hidden_text(&mut self, text: &str) {
        let _ = writeln!(self.elements, "<text display=\"none\">{}</text>", escape_xml(text));
    }

    /// Adds an invisible tooltip at a point.
    pub(super) fn tooltip(&mut self, (x, y): (f64, f64), text: &str) {
        /// Radius that a finger can hit.
        const RADIUS: f64 = 8.0;
        let (x, y, text) = (round_to_tenth(x), round_to_tenth(y), escape_xml(text));
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
        let (title, description) = (escape_xml(title), escape_xml(description));
        let (width, height) = (round_to_tenth(width), round_to_tenth(height));
        format!(
            "<svg class=\"plot\"{} role=\"img\" aria-labelledby=\"plot{id}-title plot{id}-text\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"{FONT_SIZE}\" xmlns=\"http://www.w3.org/2000/svg\">\n\
             <title id=\"plot{id}-title\">{title}</title>\n\
             <desc id=\"plot{id}-text\">{description}</desc>\n{}</svg>\n",
            width_style(width),
            self.elements
        )
    }
}

/// Returns the style that limits the displayed width, unless the picture has the default width. The
/// picture shrinks until letters have their minimum size.
fn width_style(width: f64) -> String {
    /// Minimum letter size for comfortable reading, in pixels; WCAG 2.2 gives none.
    const MIN_LETTER_PIXELS: f64 = 11.0;
    if (width - f64::from(PLOT_SIZE.0)).abs() < 0.1 {
        return String::new();
    }
    let least = (width * MIN_LETTER_PIXELS / FONT_SIZE).ceil();
    format!(" style=\"min-width: {least}px; max-width: {width}px\"")
}

/// Rounds to a tenth of a pixel, which is finer than visible.
fn round_to_tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn format_points(points: &[(f64, f64)]) -> String {
    let pair = |(x, y): &(f64, f64)| format!("{},{}", round_to_tenth(*x), round_to_tenth(*y));
    points.iter().map(pair).collect::<Vec<_>>().join(" ")
}

/// Width and height of a displayed plot.
pub(crate) const PLOT_SIZE: (u32, u32) = (760, 400);
