//! Server output on request of a client: the lines that iperf3's server would print.

use assay_dialects::iperf3::text::{self, Style};
use assay_dialects::iperf3::{End, Interval, Start};

/// Lines so far.
pub(super) struct Reported {
    style: Style,
    text: String,
}

/// Maximum length: an hour of intervals of 128 streams would exceed the results that clients
/// accept. The rest is omitted.
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

    /// Adds the end report and returns all lines.
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
