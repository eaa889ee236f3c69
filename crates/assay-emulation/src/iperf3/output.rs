//! Output of one test: text, one JSON document, or a stream of JSON events.
//!
//! Formats only; the caller prints.

use assay_dialects::iperf3::text::{self, Iperf3TextStyle};
use assay_dialects::iperf3::{Iperf3End, Iperf3Interval, Iperf3Report, Iperf3Start, json};
use assay_run::network::iperf3_flows;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::options::network::Iperf3Arguments;

/// Formatter of the output, in text, as one JSON document or as a stream of JSON events. Each method
/// returns the text to print; a document is returned as a whole at the end.
pub(super) struct Iperf3Output {
    shape: Iperf3OutputShape,
    pub(super) style: Iperf3TextStyle,
    title: Option<String>,
    /// Number of the test, if the server runs several at once.
    test: Option<u64>,
    /// Description of this end, for a test that fails before its start.
    pub(super) program: Option<Iperf3Program>,
    start: Option<Iperf3Start>,
    intervals: Vec<Iperf3Interval>,
}

/// Program and system of this end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Iperf3Program {
    version: String,
    system: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Iperf3OutputShape {
    Text,
    Document,
    Stream,
    /// Events, and the document at the end (`--json-stream-full-output`).
    StreamAndDocument,
}

impl Iperf3OutputShape {
    /// Returns the shape that the options choose.
    pub(super) const fn from_options(typed: &Iperf3Arguments) -> Self {
        match (typed.json_stream, typed.json_stream_full_output, typed.json) {
            (true, true, _) => Self::StreamAndDocument,
            (true, false, _) => Self::Stream,
            (false, _, true) => Self::Document,
            (false, _, false) => Self::Text,
        }
    }

    const fn has_events(self) -> bool {
        matches!(self, Self::Stream | Self::StreamAndDocument)
    }

    const fn has_document(self) -> bool {
        matches!(self, Self::Document | Self::StreamAndDocument)
    }
}

impl Iperf3Output {
    pub(super) fn new(typed: &Iperf3Arguments, is_client: bool) -> Self {
        let style = Iperf3TextStyle {
            format: typed.format,
            is_client,
            verbose: typed.verbose,
            ..Iperf3TextStyle::default()
        };
        let program =
            Iperf3Program { version: iperf3_flows::version(), system: iperf3_flows::system() };
        let shape = Iperf3OutputShape::from_options(typed);
        Self::from_parts(shape, style, typed.title.clone(), Some(program))
    }

    pub(super) const fn from_parts(
        shape: Iperf3OutputShape,
        style: Iperf3TextStyle,
        title: Option<String>,
        program: Option<Iperf3Program>,
    ) -> Self {
        Self { shape, style, title, test: None, program, start: None, intervals: Vec::new() }
    }

    /// Marks all output with the number of the test.
    pub(super) fn with_test(self, number: u64) -> Self {
        Self { test: Some(number), ..self }
    }

    /// Returns the lines of a text output, each with the title and the test before it; nothing for
    /// the other shapes.
    fn format_lines(&self, text: &str) -> String {
        if self.shape != Iperf3OutputShape::Text {
            return String::new();
        }
        let title = self.title.iter().map(|title| format!("{title}:  "));
        let test = self.test.iter().map(|number| format!("test {number}:  "));
        let label: String = title.chain(test).collect();
        text.lines().map(|line| format!("{label}{line}\n")).collect()
    }

    /// Returns the line of an event; nothing for the other shapes.
    fn format_event(&self, name: &str, data: impl FnOnce() -> Value) -> String {
        match self.shape.has_events() {
            true => json::event_line(name, data(), self.test) + "\n",
            false => String::new(),
        }
    }

    /// Formats the banner of a server that waits for a test, or for several at once.
    pub(super) fn format_banner(&self, port: u16, test: u64, clients: usize) -> String {
        self.format_lines(&match clients {
            1 => text::listening_banner(port, test),
            _ => text::concurrent_banner(port, clients),
        })
    }

    pub(super) fn format_start(&mut self, start: Iperf3Start) -> String {
        self.style.udp = start.udp;
        self.style.bidirectional = start.bidirectional;
        let text = self.format_lines(&text::format_start(&start, self.style))
            + &self.format_event("start", || json::start_object(&start));
        self.intervals.clear();
        self.start = Some(start);
        text
    }

    pub(super) fn format_interval(&mut self, interval: Iperf3Interval) -> String {
        let bidirectional = self.style.bidirectional;
        let text = self.format_lines(&text::format_interval(&interval, self.style))
            + &self
                .format_event("interval", || json::interval_object(&interval, bidirectional));
        if self.shape.has_document() {
            self.intervals.push(interval);
        }
        text
    }

    /// Formats the end or the failure of a client's test.
    pub(super) fn format_outcome(&mut self, report: &Iperf3Report) -> String {
        match (&report.end, &report.error) {
            (Some(end), _) => self.format_end(end),
            (None, error) => self.format_failure(error.as_deref().unwrap_or_default()),
        }
    }

    pub(super) fn format_end(&mut self, end: &Iperf3End) -> String {
        let Iperf3TextStyle { udp, bidirectional, .. } = self.style;
        let text = self.format_lines(&text::format_end(end, self.style))
            + &self.format_event("end", || json::end_object(end, udp, bidirectional))
            + &self.format_document(Some(end), None);
        self.reset();
        text
    }

    /// Resets the state for the next test.
    fn reset(&mut self) {
        self.start = None;
        self.intervals.clear();
    }

    /// Formats a failure. As text, only marks a started test as incomplete; the message goes to
    /// standard error.
    pub(super) fn format_failure(&mut self, error: &str) -> String {
        let lines = if self.start.is_some() { text::INCOMPLETE } else { "" };
        let text = self.format_lines(lines)
            + &self.format_event("error", || Value::String(error.to_owned()))
            + &self.format_document(None, Some(error));
        self.reset();
        text
    }

    /// Returns the whole test as a document; nothing for the other shapes.
    fn format_document(&self, end: Option<&Iperf3End>, error: Option<&str>) -> String {
        if !self.shape.has_document() {
            return String::new();
        }
        let mut value = json::build_document(self.start.as_ref(), &self.intervals, end, error);
        if let Some(number) = self.test {
            value["test"] = number.into();
        }
        if let (None, Some(program)) = (&self.start, &self.program) {
            value["start"]["version"] = program.version.as_str().into();
            value["start"]["system_info"] = program.system.as_str().into();
        }
        format!("{value:#}\n")
    }
}
