//! Outputs of a tool, the figures parsed from them, and the reasons to reject them.
//!
//! Only plain, finite numbers are accepted; nothing is guessed or set to zero.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, AttributeValue, Attributes, Role};
use assay_model::doubt::Doubt;
use assay_model::event::{EventCount, ToolFigures};
use thiserror::Error;

/// Output of one process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outputs {
    /// Standard output; invalid UTF-8 is replaced.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// Contents of the requested files that exist, by name.
    pub files: BTreeMap<String, String>,
    /// Exit code; `None` = ended by a signal.
    pub exit_code: Option<i32>,
}

/// Figures and attributes parsed from an output.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParsedOutput {
    /// Version that the tool printed.
    pub version: Option<String>,
    /// Figures in base units; at least one sample or count of each metric.
    pub values: Vec<MeasuredMetric>,
    /// Attributes of the measurement that the tool reported.
    pub attributes: Vec<ReportedAttribute>,
    /// Doubts about the result.
    pub doubts: Vec<Doubt>,
    /// Lines or rows that were not used, and the reason.
    pub problems: Vec<String>,
}

/// Figures of one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredMetric {
    /// Name of the metric in the benchmark's row.
    pub metric: &'static str,
    /// Dimensions that distinguish it from other series of the metric in the same workload: the
    /// size of a message, the end of a connection.
    pub own_dimensions: Attributes,
    /// Samples in the metric's base unit, in the order of measurement.
    pub samples: Vec<f64>,
    /// Seconds, bytes or operations that each sample is a mean over; empty = each is one repetition
    /// of the same work.
    pub weights: Vec<f64>,
    /// Rare events among their occasions, if the tool counts them.
    pub count: Option<EventCount>,
    /// Statistics that the tool printed of values it did not print.
    pub figures: Option<ToolFigures>,
}

/// Attribute that the tool reported about its measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportedAttribute {
    /// Metric that it belongs to; `None` = the whole output.
    pub metric: Option<&'static str>,
    /// Kind of attribute.
    pub name: Attribute,
    /// Value.
    pub value: AttributeValue,
}

/// Reasons why a tool cannot be used, or its output is not a measurement.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ToolError {
    /// The tool does not support this workload.
    #[error("{tool} does not support this workload: {why}")]
    UnsupportedWorkload {
        /// Name of the tool.
        tool: &'static str,
        /// Unsupported property.
        why: String,
    },
    /// More CPUs than one process can use, and no launcher to start several.
    #[error(
        "{tool} uses {cpus} CPUs only under an MPI launcher, and no usable mpirun was found"
    )]
    NoLauncher {
        /// Name of the tool.
        tool: &'static str,
        /// CPUs requested.
        cpus: usize,
    },
    /// Nothing answers the client of a tool.
    #[error("{tool} reported: {message}")]
    NoServer {
        /// Name of the tool.
        tool: &'static str,
        /// Message of the client.
        message: String,
        /// Advice on the server.
        advice: &'static str,
    },
    #[error("{how}{}", quote_error_message(.last_words))]
    ProcessFailed {
        /// `the tool ended with code 1`, `the tool was killed by a signal`.
        how: String,
        /// Last line of its standard error, or empty.
        last_words: String,
    },
    /// An element of every complete output is missing.
    #[error("no {what} in {place}")]
    Missing {
        /// Missing element.
        what: String,
        /// Place where it was expected.
        place: &'static str,
    },
    /// Not a plain, finite number.
    #[error("expected a plain number for {what}, found {text:?}{}", note_maximum(.text))]
    InvalidNumber {
        /// Meaning of the number.
        what: String,
        /// Text found.
        text: String,
    },
    /// A column of unknown meaning or unit precedes a known one.
    #[error("unknown column {name:?}")]
    UnknownColumn {
        /// Its label in the head.
        name: String,
    },
    /// The output is truncated.
    #[error("the output is truncated: {missing}")]
    Truncated {
        /// Missing part.
        missing: String,
    },
    /// The tool's own check failed: the result is wrong.
    #[error("the tool's own check failed: {verdict}")]
    CheckFailed {
        /// The tool's message.
        verdict: String,
    },
    /// The operating system returned an error to the tool; its results may still be right.
    #[error("the tool reported an error: {what}")]
    SystemError {
        /// The tool's message.
        what: String,
        /// Error number (`errno`), if the tool printed it.
        number: Option<u64>,
    },
    /// The tool was not configured to check its result, or did not.
    #[error("the tool did not check its result: {verdict}")]
    Unchecked {
        /// The tool's message, or the missing one.
        verdict: String,
    },
    /// The output is larger than any that is read: its contents would not fit into memory.
    #[error("it has more than {limit} {what}")]
    LimitExceeded {
        /// Counted things, in the plural.
        what: &'static str,
        /// Maximum number.
        limit: usize,
    },
    /// Two statements of one output contradict each other, or the request.
    #[error("the output contradicts itself or the request: {what}")]
    Contradiction {
        /// Statements that contradict each other.
        what: String,
    },
    /// The figures of one line contradict each other.
    #[error("the output contradicts itself: {what}")]
    InconsistentLine {
        /// Figures that contradict each other.
        what: String,
        /// Text of the line.
        line: String,
    },
}

impl Outputs {
    /// Returns the file `name`.
    pub(crate) fn file(&self, name: &'static str) -> Result<&str, ToolError> {
        let file = self.files.get(name).map(String::as_str);
        file.ok_or(ToolError::Missing { what: "output file".to_owned(), place: name })
    }

    /// Rejects the output of a process that failed.
    pub(crate) fn check_exit(&self) -> Result<(), ToolError> {
        let how = match self.exit_code {
            Some(0) => return Ok(()),
            Some(code) => format!("the tool exited with code {code}"),
            None => "the tool was killed by a signal".to_owned(),
        };
        Err(ToolError::ProcessFailed { how, last_words: self.find_error_message() })
    }

    /// Finds the tool's own error message: HPL's `>>> … <<<` in any output; else an `ERROR` or a
    /// Java exception on standard error, or its last line. After the error of a rank launchers
    /// print paragraphs of their own, and after an exception Java prints a stack trace.
    fn find_error_message(&self) -> String {
        let texts = [&self.stderr, &self.stdout].into_iter().chain(self.files.values());
        let quoted = texts.flat_map(|text| text.lines()).find(|line| line.starts_with(">>>"));
        // Launchers draw lines around their messages.
        let says = |line: &&str| line.contains(char::is_alphanumeric);
        let mut errors = self.stderr.lines().filter(says);
        let is_error = |line: &&str| line.contains("ERROR") || line.contains("Exception: ");
        let error = errors.clone().find(is_error);
        quoted.or(error).or_else(|| errors.next_back()).unwrap_or_default().trim().to_owned()
    }
}

impl ParsedOutput {
    /// Returns the dimensions that the tool itself reported for a series. They override the
    /// requested ones, because the tool may have measured something else.
    pub fn dimensions(&self, measured: &MeasuredMetric) -> Attributes {
        let mut dimensions = Attributes::new();
        for metric in [None, Some(measured.metric)] {
            let of = self.attributes.iter().filter(|it| it.metric == metric && !is_fact(it));
            dimensions.extend(of.map(|it| (it.name, it.value.clone())));
        }
        dimensions.extend(measured.own_dimensions.clone());
        dimensions
    }

    /// Returns the facts of a metric, or of the whole output.
    pub fn facts(&self, metric: Option<&str>) -> Attributes {
        let of = self.attributes.iter().filter(|it| it.metric == metric && is_fact(it));
        of.map(|it| (it.name, it.value.clone())).collect()
    }

    pub(crate) fn add_samples(&mut self, metric: &'static str, samples: Vec<f64>) {
        self.add_series(metric, Attributes::new(), samples);
    }

    pub(crate) fn add_series(
        &mut self,
        metric: &'static str,
        apart: Attributes,
        samples: Vec<f64>,
    ) {
        let (weights, count, figures) = (Vec::new(), None, None);
        self.values.push(MeasuredMetric {
            metric,
            own_dimensions: apart,
            samples,
            weights,
            count,
            figures,
        });
    }

    /// Adds a ratio as one sample, with its counts.
    pub(crate) fn add_ratio(&mut self, metric: &'static str, count: EventCount) {
        let share = count.part as f64 / count.whole as f64;
        let apart = Attributes::new();
        let (count, figures) = (Some(count), None);
        let (samples, weights) = (vec![share], vec![count.map_or(1.0, |it| it.whole as f64)]);
        self.values.push(MeasuredMetric {
            metric,
            own_dimensions: apart,
            samples,
            weights,
            count,
            figures,
        });
    }

    /// Sets the weights of the samples that were added last.
    pub(crate) fn set_weights(&mut self, weights: Vec<f64>) {
        if let Some(measured) = self.values.last_mut() {
            measured.weights = weights;
        }
    }

    /// Sets the statistics that the tool printed of a metric.
    pub(crate) fn set_figures(&mut self, metric: &'static str, figures: ToolFigures) {
        if let Some(measured) = self.values.iter_mut().rfind(|it| it.metric == metric) {
            measured.figures = Some(figures);
        }
    }

    pub(crate) fn set_attribute(&mut self, name: Attribute, value: impl Into<AttributeValue>) {
        self.attributes.push(ReportedAttribute { metric: None, name, value: value.into() });
    }

    pub(crate) fn set_metric_attribute(
        &mut self,
        metric: &'static str,
        name: Attribute,
        value: impl Into<AttributeValue>,
    ) {
        self.attributes.push(ReportedAttribute {
            metric: Some(metric),
            name,
            value: value.into(),
        });
    }
}

fn is_fact(learned: &ReportedAttribute) -> bool {
    learned.name.row().role == Role::Fact
}

impl ToolError {
    /// Returns the advice for the user.
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::UnsupportedWorkload { .. } => {
                "choose another measurer, or another size or placement"
            }
            Self::NoLauncher { .. } => {
                "install an MPI launcher, e.g. Debian's package openmpi-bin"
            }
            Self::NoServer { advice, .. } => advice,
            Self::ProcessFailed { .. } => {
                "run the recorded command by hand and read its standard error"
            }
            Self::Missing { .. } | Self::InvalidNumber { .. } | Self::UnknownColumn { .. } => {
                "check the stored raw output; if it is from a version of the tool that assay does \
                 not support, report it with that output"
            }
            Self::Truncated { .. } => {
                "the tool was stopped or the disk was full; give it more time, then repeat"
            }
            Self::CheckFailed { .. } => {
                "the machine or the build of the tool computes wrongly: repeat once, then test \
                 memory and rebuild the tool"
            }
            // Error numbers of Linux (asm-generic/errno-base.h).
            Self::SystemError { number, .. } => match number {
                Some(2) => "name an existing file, then repeat",
                Some(5) => "the device fails: check the kernel's log with `dmesg`",
                Some(13) => "let the tool read and write its files, then repeat",
                Some(28) => "free some space where the tool writes, then repeat",
                _ => "fix the reported problem, then repeat",
            },
            Self::LimitExceeded { .. } => {
                "split the file into several, or take the tool's summary instead of its log"
            }
            Self::Unchecked { .. } => "use a build and an input that check the result",
            Self::Contradiction { .. } | Self::InconsistentLine { .. } => {
                "check the stored raw output for another program of that name, a launcher of \
                 another MPI than the tool was built with, or a modified tool"
            }
        }
    }
}

/// Maximum of any figure; a larger one could overflow when it is multiplied.
const MAX_VALUE: f64 = 1e30;

/// Whether a value is plausible in any unit.
pub(crate) fn is_plausible(value: f64) -> bool {
    value.abs() <= MAX_VALUE
}

/// Names the maximum if a number is above it.
fn note_maximum(text: &str) -> String {
    let is_above = text.parse::<f64>().is_ok_and(|it| it.is_finite() && it.abs() > MAX_VALUE);
    if is_above { format!(": the maximum is {MAX_VALUE:e}") } else { String::new() }
}

/// Parses a plain, finite number: digits, sign, point and exponent of the C locale and nothing
/// else.
pub(crate) fn parse_number(what: &str, text: &str) -> Result<f64, ToolError> {
    let text = text.trim();
    let plain = text.bytes().all(|byte| b"0123456789+-.eE".contains(&byte));
    let value = text.parse::<f64>().ok().filter(|value| plain && is_plausible(*value));
    value.ok_or_else(|| ToolError::InvalidNumber {
        what: what.to_owned(),
        text: text.to_owned(),
    })
}

/// Parses a plain number above zero: no measured rate or time is zero or negative.
pub(crate) fn parse_positive(what: &str, text: &str) -> Result<f64, ToolError> {
    parse_positive_scaled(what, text, 0)
}

/// Parses a plain number above zero, times a power of ten: a rate with a decimal prefix. The power
/// is added to the text's exponent, so that `8.133e+00` with 9 is exactly 8,133,000,000.
pub(crate) fn parse_positive_scaled(
    what: &str,
    text: &str,
    power: i32,
) -> Result<f64, ToolError> {
    let refused =
        || ToolError::InvalidNumber { what: what.to_owned(), text: text.trim().to_owned() };
    parse_number(what, text)?;
    let (digits, exponent) = text.trim().split_once(['e', 'E']).unwrap_or((text.trim(), "0"));
    let exponent =
        exponent.parse::<i32>().ok().and_then(|exponent| exponent.checked_add(power));
    let value =
        exponent.and_then(|exponent| format!("{digits}e{exponent}").parse::<f64>().ok());
    value.filter(|value| value.is_finite() && *value > 0.0).ok_or_else(refused)
}

/// Parses a plain number of at least zero: a time may have been rounded to 0 when it was printed.
pub(crate) fn parse_non_negative(what: &str, text: &str) -> Result<f64, ToolError> {
    let value = parse_number(what, text)?;
    if value >= 0.0 {
        return Ok(value);
    }
    Err(ToolError::InvalidNumber { what: what.to_owned(), text: text.trim().to_owned() })
}

/// Returns half a unit of the last printed digit: 0.005 for `1.23`.
pub(crate) fn half_digit(text: &str) -> f64 {
    let decimals = text.rsplit_once('.').map_or(0, |(_, decimals)| decimals.len());
    0.5 / 10f64.powi(decimals.min(18) as i32)
}

/// Parses a plain whole number.
pub(crate) fn parse_whole(what: &str, text: &str) -> Result<u64, ToolError> {
    let text = text.trim();
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse().ok().filter(|_| plain);
    value.ok_or_else(|| ToolError::InvalidNumber {
        what: what.to_owned(),
        text: text.to_owned(),
    })
}

/// Returns the system's message for an error number, with the number.
pub(crate) fn system_error_text(number: u64) -> String {
    match i32::try_from(number) {
        Ok(number) => std::io::Error::from_raw_os_error(number).to_string(),
        Err(_) => format!("error {number}"),
    }
}

fn quote_error_message(last_words: &str) -> String {
    if last_words.is_empty() { String::new() } else { format!(": {last_words}") }
}

#[cfg(test)]
mod tests;
