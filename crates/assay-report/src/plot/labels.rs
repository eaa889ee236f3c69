//! Placement of labels in a picture: without overlap, inside the picture, and clear of lines if
//! there is room.

/// Font size of all labels, in units of the picture.
pub(super) const FONT_SIZE: f64 = 13.7;
/// Height of a line of text.
pub(super) const LINE_HEIGHT: f64 = 17.0;
/// Width of an alphabetic letter and of an ideograph, in font sizes: the mean of a word in the
/// widest font that browsers use for `sans-serif`.
const LETTER_WIDTH: f64 = 0.62;
const IDEOGRAPH_WIDTH: f64 = 1.02;

#[derive(Debug, Clone, Copy)]
pub(super) struct LabelBox {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl LabelBox {
    fn for_text(text: &str, (left, top): (f64, f64)) -> Self {
        Self { left, top, right: left + text_width(text), bottom: top + LINE_HEIGHT }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn contains(&self, other: &Self) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }
}

/// Returns the maximum width of a text.
pub(super) fn text_width(text: &str) -> f64 {
    let letter =
        |it: char| if it >= '\u{1100}' && it != '…' { IDEOGRAPH_WIDTH } else { LETTER_WIDTH };
    text.chars().map(letter).sum::<f64>() * FONT_SIZE
}

/// Truncates a text to the available width, with an ellipsis.
pub(super) fn truncate_to_width(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.to_owned();
    }
    let mut short = text.to_owned();
    while !short.is_empty() && text_width(&short) + text_width("…") > room {
        short.pop();
    }
    short.trim_end().to_owned() + "…"
}

/// Places labels in one picture.
pub(super) struct LabelPlacer {
    bounds: LabelBox,
    placed: Vec<LabelBox>,
    avoided: Vec<LabelBox>,
}

impl LabelPlacer {
    pub(super) const fn new(width: f64, height: f64) -> Self {
        let bounds = LabelBox { left: 0.0, top: 0.0, right: width, bottom: height };
        Self { bounds, placed: Vec::new(), avoided: Vec::new() }
    }

    /// Makes labels avoid this line if they have a choice.
    pub(super) fn avoid(&mut self, from: (f64, f64), to: (f64, f64)) {
        /// Distance between samples of the line, short enough that no label fits between them.
        const SAMPLE_DISTANCE: f64 = 8.0;
        let (across, down) = (to.0 - from.0, to.1 - from.1);
        let steps = (across.hypot(down) / SAMPLE_DISTANCE).ceil().clamp(1.0, 200.0);
        let mut at = 0.0;
        while at <= steps {
            let (x, y) = (from.0 + across * at / steps, from.1 + down * at / steps);
            let dot = LabelBox { left: x - 2.0, top: y - 2.0, right: x + 2.0, bottom: y + 2.0 };
            self.avoided.push(dot);
            at += 1.0;
        }
    }

    /// Takes the first of these positions of the upper left corner that is free of labels and
    /// lines. Falls back to the first that is free of labels; returns `None` if there is none.
    pub(super) fn place(&mut self, text: &str, places: &[(f64, f64)]) -> Option<(f64, f64)> {
        let is_free = |place: &(f64, f64), avoids_lines: bool| {
            let area = LabelBox::for_text(text, *place);
            self.bounds.contains(&area)
                && !self.placed.iter().any(|it| it.overlaps(&area))
                && !(avoids_lines && self.avoided.iter().any(|it| it.overlaps(&area)))
        };
        let free = |avoids_lines| places.iter().copied().find(|it| is_free(it, avoids_lines));
        let place = free(true).or_else(|| free(false))?;
        self.placed.push(LabelBox::for_text(text, place));
        Some(place)
    }
}
