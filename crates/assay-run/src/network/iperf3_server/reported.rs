//! What a server tells a client that asks for its output: the lines that it would print itself.

use assay_dialects::iperf3::text::{self, Style};
use assay_dialects::iperf3::{End, Interval, Start};

/// The lines so far.
pub(super) struct Reported {
    style: Style,
    text: String,
}

/// An hour of intervals of 128 streams is longer than what a client accepts as results; the rest is
/// left out.
const LIMIT_BYTES: usize = 1 << 20;

impl Reported {
    pub(super) fn new(start: &Start) -> Self {
        let style =
            Style { udp: start.udp, bidirectional: start.bidirectional, ..Style::default() };
        Self { style, text: text::start(start, style) }
    }

    pub(super) fn interval(&mut self, interval: &Interval) {
        self.add(&text::interval(interval, self.style));
    }

    /// All of it, with the end.
    pub(super) fn end(mut self, end: &End) -> String {
        self.add(&text::end(end, self.style));
        self.text
    }

    fn add(&mut self, lines: &str) {
        if self.text.len() + lines.len() <= LIMIT_BYTES {
            self.text.push_str(lines);
        }
    }
}
