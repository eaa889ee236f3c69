//! Server output on request of a client: the lines that iperf3's server would print.

use assay_dialects::iperf3::text::{self, Iperf3TextStyle};
use assay_dialects::iperf3::{Iperf3End, Iperf3Interval, Iperf3Start};

/// Lines so far.
pub(super) struct ServerOutput {
    style: Iperf3TextStyle,
    text: String,
}

/// Maximum length: an hour of intervals of 128 streams would exceed the results that clients
/// accept. The rest is omitted.
const LIMIT_BYTES: usize = 1 << 20;

impl ServerOutput {
    pub(super) fn new(start: &Iperf3Start) -> Self {
        let style = Iperf3TextStyle {
            udp: start.udp,
            bidirectional: start.bidirectional,
            ..Iperf3TextStyle::default()
        };
        Self { style, text: text::format_start(start, style) }
    }

    pub(super) fn add_interval(&mut self, interval: &Iperf3Interval) {
        self.add(&text::format_interval(interval, self.style));
    }

    /// Adds the end report and returns all lines.
    pub(super) fn finish(mut self, end: &Iperf3End) -> String {
        self.add(&text::format_end(end, self.style));
        self.text
    }

    fn add(&mut self, lines: &str) {
        if self.text.len() + lines.len() <= LIMIT_BYTES {
            self.text.push_str(lines);
        }
    }
}
