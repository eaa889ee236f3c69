//! Tables of the OSU micro-benchmarks with their exact columns, because scripts cut them by header
//! and column; and assay's own tables, whose first two columns are the same.
//!
//! Input values are in base units, output in OSU's: microseconds, 10⁶ B/s, percent.

use std::fmt::Write as _;

use assay_model::benchmark::{
    Benchmark, MpiBenchmarkKind, MpiPattern, MpiTest, RemoteOperation, RmaSynchronization,
    WindowCreation,
};
use assay_model::mpi_outcome::MpiTopology;
use serde::{Deserialize, Serialize};

mod graph;

pub use graph::parse_graph;

/// Width of the first column and of most others.
const SIZE_WIDTH: usize = 10;
const WIDTH: usize = 18;
const COUNT_WIDTH: usize = 12;
/// Minimum gap between columns, where a heading is as wide as its column.
const GAP: usize = 2;

/// Layout of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OsuLayout {
    /// OSU 5.4.3.
    Osu5,
    /// OSU 7.5.
    Osu7,
    /// Columns of OSU 5, then the interval of the median and the number of batches.
    Assay,
}

/// Description of a table without its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OsuTable {
    /// Measured test.
    pub test: MpiTest,
    /// Layout.
    pub layout: OsuLayout,
    /// Whether collectives also have minimum, maximum and iterations, and non-blocking ones the
    /// time per step.
    pub full: bool,
    /// Requested percentiles of single messages, calls or windows, in percent.
    pub percentiles: Vec<f64>,
    /// Whether message contents are validated.
    pub validation: bool,
    /// Number of ranks.
    pub ranks: u32,
    /// Number of messages in flight.
    pub window: u32,
    /// C name of the data type that reductions sum: `MPI_FLOAT`.
    pub element: String,
    /// Creation of the window of one-sided operations.
    #[serde(default)]
    pub window_creation: WindowCreation,
    /// Synchronisation of one-sided operations.
    #[serde(default)]
    pub synchronization: RmaSynchronization,
    /// Threads, or forked processes, of rank 0 and of rank 1.
    #[serde(default)]
    pub workers: Option<(u32, u32)>,
    /// Topology of a neighbourhood collective.
    #[serde(default)]
    pub topology: Option<MpiTopology>,
}

/// Row of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OsuRow {
    /// Message size.
    pub bytes: u64,
    /// Metric name and value in its base unit.
    pub values: Vec<(String, f64)>,
    /// Iterations timed together (a batch).
    pub iterations: u64,
    /// Confidence interval of the median of the first column; `None` with too few batches.
    pub interval: Option<(f64, f64)>,
    /// Number of batches.
    pub batches: usize,
    /// Percentiles in the table's order: seconds, or bytes per second for bandwidths. `None` if
    /// there are too few samples.
    pub percentiles: Vec<Option<f64>>,
    /// Whether all contents were right; `None` without validation.
    pub is_valid: Option<bool>,
}

/// Column of values: metric, heading, and factor to its unit.
struct Column {
    metric: &'static str,
    head: &'static str,
    factor: f64,
}

const fn column(metric: &'static str, head: &'static str, factor: f64) -> Column {
    Column { metric, head, factor }
}

const MICRO: f64 = 1e6;
const PLAIN_LATENCY: &[Column] = &[column("latency", "Latency (us)", MICRO)];
const MEAN_LATENCY: &[Column] = &[column("latency", "Avg Latency(us)", MICRO)];
const FULL_LATENCY: &[Column] = &[
    column("latency", "Avg Latency(us)", MICRO),
    column("latency_min", "Min Latency(us)", MICRO),
    column("latency_max", "Max Latency(us)", MICRO),
];
const BANDWIDTH: &[Column] = &[column("bandwidth", "Bandwidth (MB/s)", 1e-6)];
const RATE: &[Column] =
    &[column("bandwidth", "MB/s", 1e-6), column("message_rate", "Messages/s", 1.0)];
const OVERLAP: &[Column] = &[
    column("latency", "Overall(us)", MICRO),
    column("compute", "Compute(us)", MICRO),
    column("communication", "Pure Comm.(us)", MICRO),
    column("overlap", "Overlap(%)", 100.0),
];
const FULL_OVERLAP_5: &[Column] = &[
    column("latency", "Overall(us)", MICRO),
    column("compute", "Compute(us)", MICRO),
    column("start", "Coll. Init(us)", MICRO),
    column("test", "MPI_Test(us)", MICRO),
    column("wait", "MPI_Wait(us)", MICRO),
    column("communication", "Pure Comm.(us)", MICRO),
    column("overlap", "Overlap(%)", 100.0),
];
const FULL_OVERLAP: &[Column] = &[
    column("latency", "Overall(us)", MICRO),
    column("compute", "Compute(us)", MICRO),
    column("start", "Coll. Init(us)", MICRO),
    column("test", "MPI_Test(us)", MICRO),
    column("wait", "MPI_Wait(us)", MICRO),
    column("communication", "Pure Comm.(us)", MICRO),
    column("communication_min", "Min Comm.(us)", MICRO),
    column("communication_max", "Max Comm.(us)", MICRO),
    column("overlap", "Overlap(%)", 100.0),
];

/// Title that `osu_hello` prints.
pub const HELLO_TITLE: &str = "OSU MPI Hello World Test";

impl OsuLayout {
    /// Returns the version of OSU with this layout; `None` for assay's own.
    const fn version(self) -> Option<&'static str> {
        match self {
            Self::Osu5 => Some("5.4.3"),
            Self::Osu7 => Some("7.5"),
            Self::Assay => None,
        }
    }

    /// Renders the line about the version of an OSU program, with the version of assay for its own
    /// layout.
    pub fn render_version(self, title: &str, assay: &str) -> String {
        match self.version() {
            Some(version) => format!("# {title} v{version}\n"),
            None => format!("# {title} v7.5 (assay {assay})\n"),
        }
    }
}

impl OsuTable {
    /// Renders the lines above the first row.
    pub fn render_head(&self) -> String {
        let mut text = self.render_topology() + &self.render_workers();
        if self.begins_with_an_empty_line() {
            text.push('\n');
        }
        let benchmark = Benchmark::Mpi(self.test);
        match self.layout.version() {
            Some(version) => writeln!(text, "# {} v{version}", self.test.osu_title()),
            None => writeln!(text, "# {}: {}", benchmark.id(), benchmark.definition().title),
        }
        .expect("writing to a string cannot fail");
        if self.is_startup_line() {
            return text;
        }
        let heads = self.notes() + &self.column_heads();
        text.push_str(&heads.repeat(self.head_count()));
        text
    }

    /// Returns how often OSU's program prints type and columns: each sending thread does.
    fn head_count(&self) -> usize {
        match (self.layout, self.test, self.workers) {
            (OsuLayout::Osu7, MpiTest::ThreadsLatency, Some((first, _))) => first as usize,
            _ => 1,
        }
    }

    /// Renders the output of `osu_hello`, which has no table.
    pub fn render_hello(&self) -> String {
        let version = self.layout.version();
        let title =
            version.map_or(String::new(), |version| format!("# {HELLO_TITLE} v{version}\n"));
        format!("{title}This is a test with {} processes\n", self.ranks)
    }

    /// Renders the lines about the topology, which OSU's programs print before all others.
    fn render_topology(&self) -> String {
        let Some(MpiTopology { lengths, creation_s }) = &self.topology else {
            return String::new();
        };
        let mark = if self.layout == OsuLayout::Assay { "# " } else { "" };
        let mut text = String::new();
        if !lengths.is_empty() {
            let lengths: String = lengths.iter().map(|length| format!("{length} ")).collect();
            let _ = writeln!(text, "{mark}Dimensions size = {lengths}");
        }
        let time_us = creation_s * MICRO;
        let _ = writeln!(text, "{mark}Time took to create topology graph:{time_us:.2} us.");
        text
    }

    /// Renders the lines about threads or forked processes, which OSU's programs print before all
    /// others.
    fn render_workers(&self) -> String {
        let Some((first, second)) = self.workers else { return String::new() };
        match self.test.kind() {
            MpiBenchmarkKind::ThreadsLatency => format!(
                "# Number of Sender threads: {first} \n# Number of Receiver threads: {second}\n"
            ),
            _ => format!(
                "# Number of forked processes in sender: {first}\n\
                 # Number of forked processes in receiver: {second}\n"
            ),
        }
    }

    /// Returns whether OSU's program prints an empty line first; it differs between programs.
    fn begins_with_an_empty_line(&self) -> bool {
        match self.layout {
            _ if self.is_startup_line() => false,
            OsuLayout::Osu5 => !self.is_pairwise(),
            OsuLayout::Osu7 => {
                self.test != MpiTest::MessageRate && !self.test.kind().is_one_sided()
            }
            OsuLayout::Assay => false,
        }
    }

    /// Returns the notes that some OSU programs print between title and columns.
    fn notes(&self) -> String {
        let mut text = String::new();
        match self.test.kind() {
            MpiBenchmarkKind::PairsBandwidth => {
                let (pairs, window) = (self.ranks / 2, self.window);
                let _ = writeln!(text, "# [ pairs: {pairs} ] [ window size: {window} ]");
            }
            kind if kind.is_one_sided() => {
                let creation = self.window_creation.osu_name();
                let synchronization = self.synchronization.osu_name();
                let _ = writeln!(text, "# Window creation: {creation}");
                let _ = writeln!(text, "# Synchronization: {synchronization}");
            }
            _ if self.is_overlap() => {
                text.push_str("# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n");
            }
            _ => {}
        }
        if self.layout == OsuLayout::Osu7 && self.test.has_sizes() && !self.omits_type() {
            let reduces = self.test.kind().is_reduction();
            let element = if reduces { &self.element } else { "MPI_CHAR" };
            let _ = writeln!(text, "# Datatype: {element}.");
        }
        text
    }

    /// Returns whether OSU's program does not print the data type.
    fn omits_type(&self) -> bool {
        self.test.kind() == MpiBenchmarkKind::RemoteLatency(RemoteOperation::GetAccumulate)
    }

    fn column_heads(&self) -> String {
        let mut text = self.first_head();
        let sized = usize::from(!self.test.has_sizes());
        for column in &self.columns()[sized..] {
            let _ = write!(text, "{:>WIDTH$}", column.head);
        }
        if self.full && !self.is_pairwise() && !self.is_overlap() {
            let _ = write!(text, "{:>COUNT_WIDTH$}", "Iterations");
        }
        if self.layout == OsuLayout::Assay {
            let (low, high) = ("95% from", "95% to");
            let _ = write!(text, "{low:>COUNT_WIDTH$}{high:>COUNT_WIDTH$}{:>9}", "Batches");
        }
        if self.validation {
            let _ = write!(text, "{:>WIDTH$}", "Validation");
        }
        for percent in &self.percentiles {
            let head = self.tail_head(*percent);
            let _ = write!(text, "{head:>width$}", width = tail_width(&head));
        }
        text.push('\n');
        text
    }

    /// Returns the heading of the size column; without sizes, that of the first values, which also
    /// sets their width.
    fn first_head(&self) -> String {
        match self.columns() {
            _ if self.test.has_sizes() => format!("{:<SIZE_WIDTH$}", "# Size"),
            // OSU's only heading that is not commented out.
            columns if self.is_overlap() && self.layout == OsuLayout::Osu5 => {
                format!("{:>WIDTH$}", columns[0].head)
            }
            columns => format!("# {}", columns[0].head),
        }
    }

    /// Renders a row. A metric that is missing in the row shows as `-`.
    pub fn render_row(&self, row: &OsuRow) -> String {
        if self.is_startup_line() {
            return self.render_startup_line(row);
        }
        let mut text = String::new();
        let mut widths = vec![WIDTH; self.columns().len()];
        if self.test.has_sizes() {
            let _ = write!(text, "{:<SIZE_WIDTH$}", row.bytes);
        } else {
            widths[0] = self.first_head().len();
        }
        if self.has_narrow_values() {
            widths[0] = SIZE_WIDTH;
        }
        let value_of = |metric: &str| {
            let found = row.values.iter().find(|(name, _)| name == metric);
            found.map(|(_, value)| *value)
        };
        for (column, width) in self.columns().iter().zip(widths) {
            let _ = write!(
                text,
                "{:>width$}",
                format_decimals(value_of(column.metric), column.factor)
            );
        }
        if self.full && !self.is_pairwise() && !self.is_overlap() {
            let _ = write!(text, "{:>COUNT_WIDTH$}", row.iterations);
        }
        if self.layout == OsuLayout::Assay {
            let factor = self.columns()[0].factor;
            for end in [row.interval.map(|it| it.0), row.interval.map(|it| it.1)] {
                let _ = write!(text, "{:>COUNT_WIDTH$}", format_decimals(end, factor));
            }
            let _ = write!(text, "{:>9}", row.batches);
        }
        if self.validation {
            let verdict = match (row.is_valid, self.has_atomic_verdict()) {
                (Some(true), false) => "Pass",
                (Some(true), true) => "passed",
                (Some(false), false) => "Fail",
                (Some(false), true) => "failed",
                (None, _) => "-",
            };
            let _ = write!(text, "{verdict:>WIDTH$}");
        }
        for (percent, percentile) in self.percentiles.iter().zip(&row.percentiles) {
            let width = tail_width(&self.tail_head(*percent));
            let factor = if self.is_windowed() { 1e-6 } else { MICRO };
            let _ = write!(text, "{:>width$}", format_decimals(*percentile, factor));
        }
        text.push('\n');
        text
    }

    /// Returns whether OSU's program prints the verdict about contents in words of its own.
    fn has_atomic_verdict(&self) -> bool {
        let operation = self.test.kind().remote_operation();
        self.layout != OsuLayout::Assay && operation.is_some_and(RemoteOperation::has_elements)
    }

    /// Returns whether OSU's program prints values narrower than their heading.
    fn has_narrow_values(&self) -> bool {
        let is_forked = self.test == MpiTest::ForkedLatency;
        is_forked && self.layout == OsuLayout::Osu7 && !self.validation
    }

    /// Returns whether OSU's program prints one line instead of a table.
    fn is_startup_line(&self) -> bool {
        self.test.kind().is_startup() && self.layout != OsuLayout::Assay
    }

    /// Renders the line of `osu_init`, in whole milliseconds.
    fn render_startup_line(&self, row: &OsuRow) -> String {
        let time = |metric: &str| {
            let found = row.values.iter().find(|(name, _)| name == metric);
            found.map_or_else(
                || "-".to_owned(),
                |(_, time_s)| (time_s * 1e3).floor().to_string(),
            )
        };
        let [minimum, maximum, mean] = ["latency_min", "latency_max", "latency"].map(time);
        let ranks = self.ranks;
        format!("nprocs: {ranks}, min: {minimum} ms, max: {maximum} ms, avg: {mean} ms\n")
    }

    fn columns(&self) -> &'static [Column] {
        match self.test {
            MpiTest::MessageRate => RATE,
            _ if self.is_windowed() => BANDWIDTH,
            MpiTest::Latency
            | MpiTest::MultiLatency
            | MpiTest::PersistentLatency
            | MpiTest::ThreadsLatency
            | MpiTest::ForkedLatency
                if self.layout == OsuLayout::Osu7 =>
            {
                MEAN_LATENCY
            }
            _ if self.is_pairwise() => PLAIN_LATENCY,
            _ if self.is_overlap() => match (self.full, self.layout) {
                (false, _) => OVERLAP,
                (true, OsuLayout::Osu5) => FULL_OVERLAP_5,
                (true, OsuLayout::Osu7 | OsuLayout::Assay) => FULL_OVERLAP,
            },
            _ if self.full => FULL_LATENCY,
            _ => MEAN_LATENCY,
        }
    }

    fn is_pairwise(&self) -> bool {
        self.test.pattern() != MpiPattern::All
    }

    fn is_windowed(&self) -> bool {
        Benchmark::Mpi(self.test).metric("bandwidth").is_some()
    }

    fn tail_head(&self, percent: f64) -> String {
        let what = if self.is_windowed() { "BW(MB/s)" } else { "Lat(us)" };
        format!("P{percent} Tail {what}")
    }

    fn is_overlap(&self) -> bool {
        Benchmark::Mpi(self.test).metric("overlap").is_some()
    }
}

/// Width of a percentile column: as the others, or wider if the heading would touch the previous
/// column.
fn tail_width(head: &str) -> usize {
    if head.len() < WIDTH { WIDTH } else { head.len() + GAP }
}

/// Formats with two decimals, as OSU does.
fn format_decimals(value: Option<f64>, factor: f64) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.2}", value * factor))
}

#[cfg(test)]
mod tests;
