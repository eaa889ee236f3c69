//! Run definitions: rates, times and loops.
//!
//! Loops keep the order in which they are written; the first is the outermost.

use assay_model::workload::storage::ArrivalProcess;

use super::FormatOption;
use super::attributes::{self, OpenFlags};
use super::commands::{Commands, DataLimits};
use super::keywords::KeywordValue;
use super::lines::Lines;
use super::statements::Parameter;
use super::tokens::ParameterElement;
use super::values::{self, ParameterValue, Scalar};

/// Percentages of `iorate=curve` unless the file defines others.
pub(super) const DEFAULT_CURVE: [f64; 6] = [10.0, 50.0, 70.0, 80.0, 90.0, 100.0];

/// Run definition (rd).
#[derive(Debug, Clone)]
pub(super) struct RunDefinition {
    pub(super) name: ParameterElement,
    pub(super) workloads: Vec<ParameterElement>,
    pub(super) storages: Vec<ParameterElement>,
    /// `fwd=` of a file-system run.
    pub(super) file_workloads: Vec<ParameterElement>,
    pub(super) rates: Vec<Rate>,
    /// `fwdrate=` of a file-system run.
    pub(super) file_rates: Vec<Rate>,
    pub(super) format: TreeFormat,
    pub(super) curve: Vec<f64>,
    pub(super) stop_curve_ms: Option<f64>,
    pub(super) arrivals: ArrivalProcess,
    pub(super) elapsed_s: f64,
    pub(super) interval_s: f64,
    pub(super) warmup_s: f64,
    pub(super) pause_s: f64,
    pub(super) max_data: Option<f64>,
    pub(super) max_data_read: Option<f64>,
    pub(super) max_data_written: Option<f64>,
    pub(super) commands: Commands,
    pub(super) flags: Option<OpenFlags>,
    pub(super) loops: Vec<ParameterLoop>,
}

/// Value of `iorate=` or `fwdrate=`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rate {
    /// Maximum rate.
    Max,
    /// IO/s.
    PerSecond(f64),
    /// Percent of the rate of the previous run.
    Percent(f64),
    /// Maximum rate, then percentages of it.
    Curve,
}

impl TreeFormat {
    /// Converts the option `-c`, which overrides the file.
    pub(super) fn from_option(option: FormatOption) -> Self {
        let complete = Self {
            removes: true,
            creates_directories: true,
            creates_files: true,
            only: false,
            once: false,
        };
        match option {
            FormatOption::Yes => complete,
            FormatOption::No => Self::default(),
            FormatOption::CleanOnly => Self { removes: true, only: true, ..Self::default() },
        }
    }
}

/// Format of the trees before a file-system run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TreeFormat {
    /// Whether existing files and directories are removed.
    pub(super) removes: bool,
    /// Whether missing directories are created.
    pub(super) creates_directories: bool,
    /// Whether missing files are created.
    pub(super) creates_files: bool,
    /// Whether the run itself is skipped.
    pub(super) only: bool,
    /// Whether the format precedes only the first combination of loops.
    pub(super) once: bool,
}

/// Loop over the values of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParameterLoop {
    /// Name in reports: `threads`, `xfersize` …
    pub(super) key: &'static str,
    pub(super) values: Vec<ParameterValue>,
}

impl Default for RunDefinition {
    fn default() -> Self {
        let spot = super::lines::SourceSpan { line: 0, start: 0, end: 0 };
        Self {
            name: ParameterElement { text: String::new(), is_quoted: false, spot },
            workloads: Vec::new(),
            storages: Vec::new(),
            file_workloads: Vec::new(),
            rates: Vec::new(),
            file_rates: Vec::new(),
            format: TreeFormat::default(),
            curve: DEFAULT_CURVE.to_vec(),
            stop_curve_ms: None,
            arrivals: ArrivalProcess::Exponential,
            elapsed_s: 30.0,
            interval_s: 1.0,
            warmup_s: 0.0,
            pause_s: 0.0,
            max_data: None,
            max_data_read: None,
            max_data_written: None,
            commands: Commands::default(),
            flags: None,
            loops: Vec::new(),
        }
    }
}

impl RunDefinition {
    pub(super) fn apply(&mut self, lines: &mut Lines, parameter: &Parameter) {
        let seconds = |lines: &mut Lines, old: f64| {
            let value = values::parse_one_number(lines, parameter).unwrap_or(old);
            check_seconds(lines, parameter, value)
        };
        match parameter.keyword.name {
            "wd" => self.workloads = values::parse_names(lines, parameter),
            "sd" => self.storages = values::parse_names(lines, parameter),
            "fwd" => self.file_workloads = values::parse_names(lines, parameter),
            "iorate" => self.rates = parse_rates(lines, parameter),
            "fwdrate" => self.file_rates = parse_rates(lines, parameter),
            "format" => self.format = parse_format(lines, parameter),
            "curve" => self.curve = parse_curve(lines, parameter),
            "stopcurve" => self.stop_curve_ms = attributes::parse_positive(lines, parameter),
            "distribution" => self.apply_distribution(lines, parameter),
            "elapsed" => self.elapsed_s = seconds(lines, self.elapsed_s),
            "interval" => self.interval_s = seconds(lines, self.interval_s),
            "warmup" => self.warmup_s = seconds(lines, self.warmup_s),
            "pause" => self.pause_s = seconds(lines, self.pause_s),
            "maxdata" => self.max_data = attributes::parse_positive(lines, parameter),
            "maxdataread" => self.max_data_read = attributes::parse_positive(lines, parameter),
            "maxdatawritten" => {
                self.max_data_written = attributes::parse_positive(lines, parameter);
            }
            "startcmd" => self.commands.start = attributes::parse_commands(parameter),
            "endcmd" => self.commands.end = attributes::parse_commands(parameter),
            "openflags" => self.flags = attributes::parse_open_flags(lines, parameter),
            "threads" | "xfersize" | "rdpct" | "rhpct" | "whpct" | "seekpct" | "hitarea"
            | "compratio" | "depth" | "width" | "files" | "sizes" | "totalsize"
            | "operations" => {
                self.add_loop(lines, parameter);
            }
            _ => attributes::report_unapplied(lines, parameter),
        }
    }

    /// Returns the bytes that end the run, for storage of `total_bytes` in total.
    pub(super) fn limits(&self, total_bytes: u64) -> DataLimits {
        let bytes =
            |limit: Option<f64>| limit.map(|limit| data_limit_bytes(limit, total_bytes));
        DataLimits {
            read_bytes: bytes(self.max_data_read),
            written_bytes: bytes(self.max_data_written),
        }
    }

    /// Adds a loop as the innermost one; it replaces an earlier loop with the same key.
    fn add_loop(&mut self, lines: &mut Lines, parameter: &Parameter) {
        let key = parameter.keyword.name;
        let Some(values) = values::parse_values(lines, parameter) else { return };
        if !check_loop_values(lines, parameter, &values) {
            return;
        }
        self.loops.retain(|earlier| earlier.key != key);
        self.loops.push(ParameterLoop { key, values });
    }

    fn apply_distribution(&mut self, lines: &mut Lines, parameter: &Parameter) {
        for element in &parameter.elements {
            let word = element.text.to_ascii_lowercase();
            // Vdbench compares only the first letter.
            self.arrivals = match word.chars().next() {
                Some('e') => ArrivalProcess::Exponential,
                Some('u') => ArrivalProcess::Uniform,
                Some('d') => ArrivalProcess::Constant,
                _ => {
                    let message = format!("`distribution={word}` is not supported here");
                    lines
                        .report_error("V114", element.spot, message)
                        .add_help("use exponential, uniform or deterministic");
                    return;
                }
            };
        }
    }
}

/// Converts `maxdata=` to bytes: up to 100 it is a multiple of all storage, above that bytes.
pub(super) fn data_limit_bytes(limit: f64, total_bytes: u64) -> u64 {
    if limit <= 100.0 { (limit * total_bytes as f64) as u64 } else { limit as u64 }
}

/// Returns whether every value of a loop is valid; reports the first invalid one.
fn check_loop_values(
    lines: &mut Lines,
    parameter: &Parameter,
    values: &[ParameterValue],
) -> bool {
    let is_invalid = |parsed: &&ParameterValue| {
        let Scalar::Number(number) = parsed.value else {
            return !matches!(parameter.keyword.name, "seekpct" | "operations");
        };
        match parameter.keyword.name {
            "threads" => {
                number.value.fract() != 0.0
                    || !(1.0..=f64::from(attributes::MAX_THREADS)).contains(&number.value)
            }
            "xfersize" | "hitarea" => number.value < 512.0 || number.value % 512.0 != 0.0,
            "compratio" => number.value < 1.0,
            "depth" | "width" | "files" | "sizes" | "totalsize" => number.value < 1.0,
            "seekpct" => !(-1.0..=100.0).contains(&number.value),
            _ => !(0.0..=100.0).contains(&number.value),
        }
    };
    let Some(invalid) = values.iter().find(is_invalid) else {
        if parameter.keyword.name == "operations" {
            let parse_operation = |parsed: &ParameterValue| {
                attributes::parse_operation(lines, parameter, &parsed.text)
            };
            return values.iter().map(parse_operation).all(|operation| operation.is_some());
        }
        return parameter.keyword.name != "seekpct"
            || values
                .iter()
                .all(|parsed| attributes::parse_seek(lines, parameter, parsed).is_some());
    };
    let (code, help) = match parameter.keyword.name {
        "xfersize" | "hitarea" => ("V154", "use multiples of 512"),
        "threads" => ("V123", "use whole numbers from 1"),
        _ => ("V123", "use percentages from 0 to 100, or ratios of at least 1"),
    };
    let message =
        format!("`{}` is not a valid value of `{}`", invalid.text, parameter.keyword.spelled);
    lines.report_error(code, parameter.spot, message).advise(help, "stops");
    false
}

fn parse_rates(lines: &mut Lines, parameter: &Parameter) -> Vec<Rate> {
    let mut rates = Vec::new();
    for parsed in values::parse_values(lines, parameter).unwrap_or_default() {
        let rate = match &parsed.value {
            Scalar::Number(number) if number.is_percent && number.value > 0.0 => {
                Rate::Percent(number.value)
            }
            Scalar::Number(number) if number.value > 0.0 => Rate::PerSecond(number.value),
            Scalar::Word(word) if word == "max" => Rate::Max,
            Scalar::Word(word) if word == "curve" => Rate::Curve,
            _ => {
                let message = format!("`{}` is not an I/O rate", parsed.text);
                let is_below = matches!(&parsed.value, Scalar::Number(n) if n.value < 0.0);
                let vdbench_action = match is_below {
                    true => "takes it for percent of the rate of the run before",
                    false => "stops",
                };
                lines
                    .report_error("V123", parameter.spot, message)
                    .advise("give IO/s, several in parentheses, max, or curve", vdbench_action);
                continue;
            }
        };
        rates.push(rate);
    }
    if rates.len() > 1 && rates.contains(&Rate::Curve) {
        let message = format!("`{}` mixes a curve with other rates", parameter.keyword.spelled);
        lines
            .report_error("V120", parameter.spot, message)
            .advise("split it into two runs", "stops");
    }
    rates
}

/// Returns Vdbench's name of a loop in its reports.
pub(super) fn loop_label(key: &str) -> String {
    match key {
        "operations" => "operation",
        "compratio" => "comp",
        other => other,
    }
    .to_owned()
}

/// Returns the loops of a run at one of its rates; several rates form the innermost loop.
pub(super) fn with_rate(
    loops: &[(String, String)],
    (key, rates): (&str, &[Rate]),
    rate: Rate,
) -> Vec<(String, String)> {
    let mut loops = loops.to_vec();
    let text = match rate {
        Rate::Max => "max".to_owned(),
        Rate::PerSecond(per_s) => per_s.to_string(),
        Rate::Percent(percent) => format!("{percent}%"),
        Rate::Curve => "curve".to_owned(),
    };
    if rates.len() > 1 {
        loops.push((key.to_owned(), text));
    }
    loops
}

fn parse_format(lines: &mut Lines, parameter: &Parameter) -> TreeFormat {
    let mut format = TreeFormat::default();
    let create_all = |format: &mut TreeFormat| {
        (format.creates_directories, format.creates_files) = (true, true);
    };
    for element in &parameter.elements {
        match element.text.to_ascii_lowercase().as_str() {
            "no" | "n" => format = TreeFormat::default(),
            "yes" | "y" => {
                create_all(&mut format);
                format.removes = true;
            }
            "restart" => {
                create_all(&mut format);
                format.removes = false;
            }
            "only" => {
                if format == TreeFormat::default() {
                    create_all(&mut format);
                    format.removes = true;
                }
                format.only = true;
            }
            "clean" => (format.removes, format.only) = (true, true),
            "directories" | "dir" | "dirs" => {
                (format.creates_directories, format.creates_files) = (true, false);
            }
            "once" => format.once = true,
            // assay always completes a format.
            "complete" => {}
            other => {
                let message = format!("`format={other}` is not supported here");
                let supported = "yes, no, restart, only, clean, directories, once and complete";
                lines
                    .report_error("V114", element.spot, message)
                    .add_help(format!("use one of {supported}"));
            }
        }
    }
    format
}

fn parse_curve(lines: &mut Lines, parameter: &Parameter) -> Vec<f64> {
    let mut points = Vec::new();
    for parsed in values::parse_values(lines, parameter).unwrap_or_default() {
        match values::parse_number(&parsed.text, KeywordValue::Numbers).or(match parsed.value {
            Scalar::Number(number) => Some(number),
            Scalar::Word(_) => None,
        }) {
            Some(number) if number.value > 0.0 => points.push(number.value),
            _ => {
                let message = format!("`{}` is not a percentage of a curve", parsed.text);
                lines.report_error("V123", parameter.spot, message).advise(
                    "use percentages of the maximum rate, like curve=(10,50,70,80,90,100)",
                    "stops",
                );
            }
        }
    }
    points
}

fn check_seconds(lines: &mut Lines, parameter: &Parameter, value: f64) -> f64 {
    /// Maximum time, a year; a longer one is probably in the wrong unit.
    const MAX_S: f64 = 366.0 * 24.0 * 3600.0;
    if (0.0..=MAX_S).contains(&value) {
        return value;
    }
    let message = format!("`{}` of {value} s is out of range", parameter.keyword.spelled);
    lines.report_error("V123", parameter.spot, message).add_help("give the time in seconds");
    1.0
}
