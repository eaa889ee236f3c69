//! Where words stand in a picture: none on another, none outside of it, and beside lines where there is room.

/// Size of all letters, in units of a picture.
pub(super) const FONT: f64 = 13.7;
/// From one line of words to the next.
pub(super) const LINE: f64 = 17.0;
/// Width of a letter of an alphabet and of an ideograph, in sizes of the font: the mean of a word in the widest font
/// that browsers take for `sans-serif`.
const LETTER: f64 = 0.62;
const IDEOGRAPH: f64 = 1.02;

/// A rectangle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    fn of(text: &str, (left, top): (f64, f64)) -> Self {
        Self { left, top, right: left + width(text), bottom: top + LINE }
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn holds(&self, other: &Self) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }
}

/// How wide a text is at most.
pub(super) fn width(text: &str) -> f64 {
    let letter = |it: char| if it >= '\u{1100}' && it != '…' { IDEOGRAPH } else { LETTER };
    text.chars().map(letter).sum::<f64>() * FONT
}

/// As much of a text as fits.
pub(super) fn shortened(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut short = text.to_owned();
    while !short.is_empty() && width(&short) + width("…") > room {
        short.pop();
    }
    short.trim_end().to_owned() + "…"
}

/// The words of one picture.
pub(super) struct Labels {
    sheet: Area,
    words: Vec<Area>,
    lines: Vec<Area>,
}

impl Labels {
    pub(super) const fn new(width: f64, height: f64) -> Self {
        let sheet = Area { left: 0.0, top: 0.0, right: width, bottom: height };
        Self { sheet, words: Vec::new(), lines: Vec::new() }
    }

    /// Words keep off this line where they have a choice.
    pub(super) fn avoid(&mut self, from: (f64, f64), to: (f64, f64)) {
        /// As far apart as that no word slips through.
        const STEP: f64 = 8.0;
        let (across, down) = (to.0 - from.0, to.1 - from.1);
        let steps = (across.hypot(down) / STEP).ceil().clamp(1.0, 200.0);
        let mut at = 0.0;
        while at <= steps {
            let (x, y) = (from.0 + across * at / steps, from.1 + down * at / steps);
            let dot = Area { left: x - 2.0, top: y - 2.0, right: x + 2.0, bottom: y + 2.0 };
            self.lines.push(dot);
            at += 1.0;
        }
    }

    /// Takes the first of these places for the upper left corner that is free of words and lines, or else of words;
    /// `None` where there is none.
    pub(super) fn place(&mut self, text: &str, places: &[(f64, f64)]) -> Option<(f64, f64)> {
        let is_free = |place: &(f64, f64), of_lines: bool| {
            let area = Area::of(text, *place);
            self.sheet.holds(&area)
                && !self.words.iter().any(|it| it.meets(&area))
                && !(of_lines && self.lines.iter().any(|it| it.meets(&area)))
        };
        let free = |of_lines| places.iter().copied().find(|place| is_free(place, of_lines));
        let place = free(true).or_else(|| free(false))?;
        self.words.push(Area::of(text, place));
        Some(place)
    }
}
