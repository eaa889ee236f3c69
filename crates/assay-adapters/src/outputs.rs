//! The outputs of a tool, what is parsed from them, and why they may be refused.
//!
//! A number is taken only if it is a plain, finite number; nothing is ever guessed or set to zero.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Attributes, Role, Value};
use assay_model::doubt::Doubt;
use assay_model::event::{Count, Figures};
use thiserror::Error;

/// Everything one process left behind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outputs {
    /// Standard output; bytes that are no UTF-8 replaced.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// Name → content of the files that were requested and exist.
    pub files: BTreeMap<String, String>,
    /// Exit code; `None` = ended by a signal.
    pub exit_code: Option<i32>,
}

/// What an output says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// The version the tool printed.
    pub version: Option<String>,
    /// What was measured, in base units; at least one sample or count of each metric that is listed.
    pub values: Vec<Measured>,
    /// What the tool said about how it measured.
    pub learned: Vec<Learned>,
    /// Doubts to hand on with the result.
    pub doubts: Vec<Doubt>,
    /// Lines or rows that were not used, and why.
    pub problems: Vec<String>,
}

/// What was measured of one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Name of the metric in the benchmark's row.
    pub metric: &'static str,
    /// What distinguishes it from others of the metric that one workload measures: the size of a message,
    /// the end of a connection.
    pub apart: Attributes,
    /// In the metric's base unit, in the order in which they were measured.
    pub samples: Vec<f64>,
    /// The seconds, bytes or operations that each is a mean over; empty = each is one repetition of the same
    /// work.
    pub weights: Vec<f64>,
    /// Rare events among all, where the tool counts them.
    pub count: Option<Count>,
    /// What the tool said of values that only it has seen.
    pub figures: Option<Figures>,
}

/// Something the tool said about how it measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// The metric it concerns; `None` = all of this output.
    pub metric: Option<&'static str>,
    /// What it is.
    pub name: Attribute,
    /// Its value.
    pub value: Value,
}

/// Why a tool could not be asked, or its output is not a measurement.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ToolError {
    /// The tool has no words for this workload.
    #[error("{tool} cannot be asked for this: {why}")]
    Ask {
        /// Name of the tool.
        tool: &'static str,
        /// What it cannot do.
        why: String,
    },
    /// More CPUs than one process can use, and nothing to start several with.
    #[error(
        "{tool} uses {cpus} CPUs only under an MPI launcher, and no usable mpirun was found"
    )]
    Launch {
        /// Name of the tool.
        tool: &'static str,
        /// CPUs requested.
        cpus: usize,
    },
    /// The process did not end well.
    #[error("{how}{}", said(.last_words))]
    Run {
        /// `the tool ended with code 1`, `the tool was killed by a signal`.
        how: String,
        /// The last line of its standard error, or empty.
        last_words: String,
    },
    /// Something every complete output has is not there.
    #[error("no {what} in {place}")]
    Find {
        /// What is missing.
        what: String,
        /// Where it should be.
        place: &'static str,
    },
    /// Not a plain, finite number.
    #[error("{what} is {text:?}, which is no plain number")]
    ReadNumber {
        /// What the number means.
        what: String,
        /// What is there.
        text: String,
    },
    /// A column whose meaning or unit is not known stands before one that is.
    #[error("{name:?} is no column that assay knows")]
    ReadColumn {
        /// What the head calls it.
        name: String,
    },
    /// The output breaks off.
    #[error("the output breaks off: {missing}")]
    ReachEnd {
        /// What did not come.
        missing: String,
    },
    /// The tool's own check says that the result is wrong.
    #[error("the tool's own check failed: {verdict}")]
    PassCheck {
        /// What the tool said.
        verdict: String,
    },
    /// What the system answered the tool: nothing that it computed is wrong.
    #[error("the tool met an error: {what}")]
    Meet {
        /// What the tool said of it.
        what: String,
        /// The number of the error (`errno`), where it said so.
        number: Option<u64>,
    },
    /// The tool was not told to check its result, or did not.
    #[error("the tool did not check its result: {verdict}")]
    Check {
        /// What the tool said, or did not say.
        verdict: String,
    },
    /// Two statements of one output contradict each other, or the request.
    #[error("the output contradicts itself or the request: {what}")]
    Reconcile {
        /// The statements.
        what: String,
    },
    /// The figures of one line contradict each other.
    #[error("the output contradicts itself: {what}")]
    Agree {
        /// The figures.
        what: String,
        /// The line.
        line: String,
    },
}

impl Outputs {
    /// The file `name`.
    pub(crate) fn file(&self, name: &'static str) -> Result<&str, ToolError> {
        let file = self.files.get(name).map(String::as_str);
        file.ok_or(ToolError::Find { what: "output file".to_owned(), place: name })
    }

    /// Refuses what a process left behind that did not end well.
    pub(crate) fn ended_well(&self) -> Result<(), ToolError> {
        let how = match self.exit_code {
            Some(0) => return Ok(()),
            Some(code) => format!("the tool ended with code {code}"),
            None => "the tool was killed by a signal".to_owned(),
        };
        Err(ToolError::Run { how, last_words: self.last_words() })
    }

    /// What the tool itself said, as close to the cause as possible: HPL quotes its errors in
    /// `>>> … <<<`, wherever it writes them; else an `ERROR` or a Java exception on standard error, or
    /// its last line. After the error of a rank, launchers print paragraphs of their own, and after an
    /// exception Java prints where it was.
    fn last_words(&self) -> String {
        let texts = [&self.stderr, &self.stdout].into_iter().chain(self.files.values());
        let quoted = texts.flat_map(|text| text.lines()).find(|line| line.starts_with(">>>"));
        // Launchers draw lines around what they say.
        let says = |line: &&str| line.contains(char::is_alphanumeric);
        let mut errors = self.stderr.lines().filter(says);
        let is_error = |line: &&str| line.contains("ERROR") || line.contains("Exception: ");
        let error = errors.clone().find(is_error);
        quoted.or(error).or_else(|| errors.next_back()).unwrap_or_default().trim().to_owned()
    }
}

impl Parsed {
    /// The dimensions that the tool itself reported for a series; they win over what was requested, as it
    /// may not do exactly that.
    #[must_use]
    pub fn dimensions(&self, measured: &Measured) -> Attributes {
        let mut dimensions = Attributes::new();
        for metric in [None, Some(measured.metric)] {
            let of = self.learned.iter().filter(|it| it.metric == metric && !is_fact(it));
            dimensions.extend(of.map(|it| (it.name, it.value.clone())));
        }
        dimensions.extend(measured.apart.clone());
        dimensions
    }

    /// The facts about a metric, or about all of this output.
    #[must_use]
    pub fn facts(&self, metric: Option<&str>) -> Attributes {
        let of = self.learned.iter().filter(|it| it.metric == metric && is_fact(it));
        of.map(|it| (it.name, it.value.clone())).collect()
    }

    pub(crate) fn measure(&mut self, metric: &'static str, samples: Vec<f64>) {
        self.measure_apart(metric, Attributes::new(), samples);
    }

    pub(crate) fn measure_apart(
        &mut self,
        metric: &'static str,
        apart: Attributes,
        samples: Vec<f64>,
    ) {
        let (weights, count, figures) = (Vec::new(), None, None);
        self.values.push(Measured { metric, apart, samples, weights, count, figures });
    }

    /// A share of all as one sample, with what was counted.
    pub(crate) fn measure_share(&mut self, metric: &'static str, count: Count) {
        let share = count.part as f64 / count.whole as f64;
        let apart = Attributes::new();
        let (count, figures) = (Some(count), None);
        let (samples, weights) = (vec![share], vec![count.map_or(1.0, |it| it.whole as f64)]);
        self.values.push(Measured { metric, apart, samples, weights, count, figures });
    }

    /// Says what the samples of the metric that was measured last are means over.
    pub(crate) fn over(&mut self, weights: Vec<f64>) {
        if let Some(measured) = self.values.last_mut() {
            measured.weights = weights;
        }
    }

    /// Adds what the tool said of all values of a metric to what was measured of it.
    pub(crate) fn figures(&mut self, metric: &'static str, figures: Figures) {
        if let Some(measured) = self.values.iter_mut().rfind(|it| it.metric == metric) {
            measured.figures = Some(figures);
        }
    }

    pub(crate) fn learn(&mut self, name: Attribute, value: impl Into<Value>) {
        self.learned.push(Learned { metric: None, name, value: value.into() });
    }

    pub(crate) fn learn_of(
        &mut self,
        metric: &'static str,
        name: Attribute,
        value: impl Into<Value>,
    ) {
        self.learned.push(Learned { metric: Some(metric), name, value: value.into() });
    }
}

fn is_fact(learned: &Learned) -> bool {
    learned.name.row().role == Role::Fact
}

impl ToolError {
    /// What to do about it.
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::Ask { .. } => "choose another measurer, or another size or placement",
            Self::Launch { .. } => "install an MPI launcher, e.g. Debian's package openmpi-bin",
            Self::Run { .. } => "run the recorded command by hand and read its standard error",
            Self::Find { .. } | Self::ReadNumber { .. } | Self::ReadColumn { .. } => {
                "look at the stored raw output; if it is a version of the tool that assay does \
                 not know, report it with that output"
            }
            Self::ReachEnd { .. } => {
                "the tool was stopped or the disk was full; give it more time, then repeat"
            }
            Self::PassCheck { .. } => {
                "the machine or the build of the tool computes wrongly: repeat once, then test \
                 memory and rebuild the tool"
            }
            // Numbers of Linux (asm-generic/errno-base.h).
            Self::Meet { number, .. } => match number {
                Some(2) => "name a file that is there, then repeat",
                Some(5) => "the device fails: look into the kernel's log, `dmesg`",
                Some(13) => "let the tool read and write its files, then repeat",
                Some(28) => "free some space where the tool writes, then repeat",
                _ => "mend what the tool names, then repeat",
            },
            Self::Check { .. } => "use a build and an input that check the result",
            Self::Reconcile { .. } | Self::Agree { .. } => {
                "look at the stored raw output: another program of that name, a launcher of \
                 another MPI than the tool was built with, or a modified tool"
            }
        }
    }
}

/// Whether anything can have been measured so, in any unit: what lies beyond would become infinite where it
/// is multiplied.
pub(crate) fn is_measurable(value: f64) -> bool {
    const MOST: f64 = 1e30;
    value.abs() <= MOST
}

/// A plain, finite number: digits, sign, point and exponent of the C locale and nothing else.
pub(crate) fn number(what: &str, text: &str) -> Result<f64, ToolError> {
    let text = text.trim();
    let plain = text.bytes().all(|byte| b"0123456789+-.eE".contains(&byte));
    let value = text.parse::<f64>().ok().filter(|value| plain && is_measurable(*value));
    value.ok_or_else(|| ToolError::ReadNumber { what: what.to_owned(), text: text.to_owned() })
}

/// A plain number above zero: no rate and no time that a tool measured can be anything else.
pub(crate) fn positive(what: &str, text: &str) -> Result<f64, ToolError> {
    positive_scaled(what, text, 0)
}

/// A plain number above zero, times a power of ten: a rate with a decimal prefix. The power goes
/// into the text's exponent, so that `8.133e+00` with 9 is 8,133,000,000 and not a bit less.
pub(crate) fn positive_scaled(what: &str, text: &str, power: i32) -> Result<f64, ToolError> {
    let refused =
        || ToolError::ReadNumber { what: what.to_owned(), text: text.trim().to_owned() };
    number(what, text)?;
    let (digits, exponent) = text.trim().split_once(['e', 'E']).unwrap_or((text.trim(), "0"));
    let exponent =
        exponent.parse::<i32>().ok().and_then(|exponent| exponent.checked_add(power));
    let value =
        exponent.and_then(|exponent| format!("{digits}e{exponent}").parse::<f64>().ok());
    value.filter(|value| value.is_finite() && *value > 0.0).ok_or_else(refused)
}

/// A plain number of at least zero: a time that was rounded when it was printed may well be 0.
pub(crate) fn not_negative(what: &str, text: &str) -> Result<f64, ToolError> {
    let value = number(what, text)?;
    if value >= 0.0 {
        return Ok(value);
    }
    Err(ToolError::ReadNumber { what: what.to_owned(), text: text.trim().to_owned() })
}

/// A plain whole number.
pub(crate) fn whole(what: &str, text: &str) -> Result<u64, ToolError> {
    let text = text.trim();
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse().ok().filter(|_| plain);
    value.ok_or_else(|| ToolError::ReadNumber { what: what.to_owned(), text: text.to_owned() })
}

/// What the system calls an error of this number, with the number.
pub(crate) fn system_error(number: u64) -> String {
    match i32::try_from(number) {
        Ok(number) => std::io::Error::from_raw_os_error(number).to_string(),
        Err(_) => format!("error {number}"),
    }
}

fn said(last_words: &str) -> String {
    if last_words.is_empty() { String::new() } else { format!("; it said: {last_words}") }
}

#[cfg(test)]
mod tests;
