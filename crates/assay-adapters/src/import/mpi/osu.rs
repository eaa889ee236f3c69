//! Import of tables of the OSU micro-benchmarks, versions 3 to 7.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::{
    MpiBenchmarkKind, MpiPattern, MpiTest, NeighborTopology, RmaSynchronization, WindowCreation,
};

use super::super::{FileContents, check_limit, missing, reject_cut_number};
use super::table::{
    Column, TableRow, TableTest, add_row, convert_rows, leave_out_unknown, parse_row,
};
use crate::limits::MAX_MEASUREMENTS;
use crate::outputs::{ParsedOutput, ToolError, parse_positive};

pub(super) fn is_osu(text: &str) -> bool {
    text.lines().any(is_title)
}

fn is_title(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("# OSU ") || line.starts_with("# OMB ")
}

/// Labels of the columns; a longer label precedes those that it begins with.
const LABELS: [(&str, &str, i32); 22] = [
    ("Avg Latency(us)", "latency", -6),
    ("Avg Latency (us)", "latency", -6),
    ("Min Latency(us)", "latency_min", -6),
    ("Max Latency(us)", "latency_max", -6),
    ("Avg Lat(us)", "latency", -6),
    ("Min Lat(us)", "latency_min", -6),
    ("Max Lat(us)", "latency_max", -6),
    ("Latency (us)", "latency", -6),
    ("Latency(us)", "latency", -6),
    ("Bandwidth (MB/s)", "bandwidth", 6),
    ("Bi-Bandwidth (MB/s)", "bandwidth", 6),
    ("Bandwidth(MB/s)", "bandwidth", 6),
    ("MB/s", "bandwidth", 6),
    ("Messages/s", "message_rate", 0),
    ("Overall(us)", "latency", -6),
    ("Compute(us)", "compute", -6),
    ("Pure Comm.(us)", "communication", -6),
    ("Coll. Init(us)", "start", -6),
    ("MPI_Test(us)", "test", -6),
    ("MPI_Wait(us)", "wait", -6),
    ("Min Comm.(us)", "communication_min", -6),
    ("Max Comm.(us)", "communication_max", -6),
];

/// Parses a heading of columns; `None` for any other line. `# Overall = …` explains a column.
fn parse_heading(line: &str) -> Option<Vec<Column>> {
    let mut rest = line.strip_prefix('#').unwrap_or(line).trim();
    let mut columns = Vec::new();
    while !rest.is_empty() {
        let (column, length) = parse_label(rest);
        let begins = columns.is_empty() && matches!(column, Column::Other(_));
        if begins {
            return None;
        }
        columns.push(column);
        rest = rest[length..].trim_start();
    }
    columns.iter().any(|it| matches!(it, Column::Metric(..))).then_some(columns)
}

/// Parses the first label of a text, and returns its length.
fn parse_label(text: &str) -> (Column, usize) {
    let known = LABELS.iter().find(|(label, ..)| text.starts_with(label));
    if let Some((label, metric, power)) = known {
        return (Column::Metric(metric, *power), label.len());
    }
    let others = [
        ("Size", Column::Size),
        ("Iterations", Column::Iterations),
        ("Validation", Column::Verdict),
        ("Overlap(%)", Column::Metric("overlap", -2)),
    ];
    if let Some((label, column)) = others.into_iter().find(|(label, _)| text.starts_with(label))
    {
        return (column, label.len());
    }
    let end = text.find("  ").unwrap_or(text.len());
    let end = text.find('\t').map_or(end, |tab| tab.min(end));
    let label = &text[..end];
    let column = parse_tail(label).unwrap_or_else(|| Column::Other(label.to_owned()));
    (column, end)
}

/// Parses `P99 Tail Lat(us)` and `P50 Tail BW(MB/s)`.
fn parse_tail(label: &str) -> Option<Column> {
    let (percentile, rest) = label.strip_prefix('P')?.split_once(' ')?;
    let is_number = percentile.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    let (metric, power) = match rest.trim() {
        "Tail Lat(us)" => ("latency", -6),
        "Tail BW(MB/s)" => ("bandwidth", 6),
        _ => return None,
    };
    is_number.then(|| Column::Percentile(metric, power, format!("p{percentile}")))
}

/// Test of a file while its lines are read.
#[derive(Debug, Default)]
struct OsuTest {
    title: String,
    version: Option<String>,
    first_line: usize,
    last_line: usize,
    buffers: Option<String>,
    pairs: Option<u64>,
    window: Option<u64>,
    settings: Vec<String>,
    /// Whether the program created a topology.
    is_neighborhood: bool,
    columns: Option<Vec<Column>>,
    rows: Vec<TableRow>,
    error: Option<ToolError>,
}

/// Reads every test of the file. `osu_mbw_mr` 7.0 prints its title twice for one test.
pub(super) fn read_osu(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut test: Option<OsuTest> = None;
    let mut topology = LinesBeforeTitle::default();
    let mut count = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if is_title(line) {
            count += 1;
            check_limit(count, ("tests", MAX_MEASUREMENTS))?;
            contents.check_size()?;
            let mut next = start_test(line, number);
            std::mem::take(&mut topology).describe(&mut next);
            if let Some(previous) = test.replace(next) {
                finish_test(previous, test.as_ref(), &mut contents);
            }
        } else if topology.read_line(line, number, &mut contents) {
            // It precedes the title of its test.
        } else if let Some(test) = &mut test {
            read_line(test, line, number, &mut contents);
        }
    }
    if let Some(mut last) = test {
        if last.error.is_none() && !last.rows.is_empty() {
            last.error = reject_cut_number(text).err();
        }
        finish_test(last, None, &mut contents);
    }
    Ok(contents)
}

/// Lines before the title: about the topology of a neighbourhood collective, threads or forked
/// processes.
#[derive(Debug, Default)]
struct LinesBeforeTitle {
    /// Number of each end, with the counted noun and OSU's default.
    workers: Vec<(&'static str, &'static str, String)>,
    lengths: Vec<u32>,
    is_created: bool,
}

impl LinesBeforeTitle {
    /// Reads `Dimensions size = 3 3` or `Time took to create topology graph:12.34 us.`; returns
    /// whether the line is one of them.
    fn read_line(&mut self, line: &str, number: usize, contents: &mut FileContents) -> bool {
        let line = line.trim_start_matches(['#', ' ']);
        if let Some(lengths) = line.strip_prefix("Dimensions size = ") {
            self.lengths =
                lengths.split_whitespace().filter_map(|it| it.parse().ok()).collect();
            contents.recognise(number..=number, line, "condition");
        } else if let Some(time) = line.strip_prefix("Time took to create topology graph:") {
            self.is_created = true;
            let what = format!("creation of the topology: {}", time.trim_end_matches('.'));
            contents.leave_out(Some(number..=number), what, "it is no figure of the test");
        } else if let Some((counted, default, count)) = parse_workers(line) {
            self.workers.push((counted, default, count.to_owned()));
            contents.recognise(number..=number, line, "condition");
        } else {
            return false;
        }
        true
    }

    /// Adds the conditions of the topology to its test.
    fn describe(self, test: &mut OsuTest) {
        test.is_neighborhood = self.is_created;
        if self.is_created && self.lengths.is_empty() {
            test.settings.push(NeighborTopology::GRAPH.to_owned());
        }
        test.settings.extend(NeighborTopology::unusual_lengths(&self.lengths));
        if let [(counted, default, first), (_, _, second)] = &self.workers[..]
            && format!("{first}:{second}") != *default
        {
            test.settings.push(format!("{counted}: {first}:{second}"));
        }
    }
}

/// Parses `Number of Sender threads: 1` or `Number of forked processes in sender: 2`: the counted noun,
/// OSU's numbers for both ranks, and the number.
fn parse_workers(line: &str) -> Option<(&'static str, &'static str, &str)> {
    let (name, count) = line.trim_start_matches("Number of ").split_once(':')?;
    let (counted, default) = match name {
        "Sender threads" | "Receiver threads" => ("Threads", "1:2"),
        "forked processes in sender" | "forked processes in receiver" => ("Processes", "2:2"),
        _ => return None,
    };
    Some((counted, default, count.trim()))
}

/// Parses a title: `# OSU MPI-CUDA Bandwidth Test v7.2`.
fn start_test(line: &str, number: usize) -> OsuTest {
    let title = line.trim_start_matches(['#', ' ']);
    let (title, version) = title.rsplit_once(" v").unwrap_or((title, ""));
    let version = Some(version.trim().to_owned()).filter(|it| !it.is_empty());
    let (mut name, mut buffers) = (title.trim().to_owned(), None);
    for device in ["CUDA", "ROCM", "OPENACC", "SYCL"] {
        let mark = format!(" MPI-{device}");
        if name.contains(&mark) {
            name = name.replace(&mark, " MPI");
            buffers = Some(device.to_lowercase());
        }
    }
    OsuTest {
        title: name,
        version,
        first_line: number,
        last_line: number,
        buffers,
        ..OsuTest::default()
    }
}

fn read_line(test: &mut OsuTest, line: &str, number: usize, contents: &mut FileContents) {
    if let Some(columns) = parse_heading(line) {
        if !test.rows.is_empty() {
            let what = format!("line {number}: a second heading in the table of one test");
            test.error.get_or_insert(ToolError::Contradiction { what });
        }
        leave_out_unknown(&columns, number, contents);
        test.columns = Some(columns);
    } else if let Some(setting) = line.strip_prefix('#') {
        read_setting(test, setting.trim(), number, contents);
    } else if line.starts_with("nprocs:") {
        read_init(test, line, number, contents);
    } else if line.starts_with(|it: char| it.is_ascii_digit() || it == '-')
        && let Some(columns) = &test.columns
    {
        test.last_line = number;
        let row = parse_row(line, number, columns);
        if let Err(error) = row.and_then(|row| add_row(&mut test.rows, row)) {
            test.error.get_or_insert(error);
        }
    }
}

/// Reads a line of conditions: `[ pairs: 4 ] [ window size: 64 ]`, `Datatype: MPI_CHAR.`,
/// `Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)`.
fn read_setting(test: &mut OsuTest, line: &str, number: usize, contents: &mut FileContents) {
    let number_after = |name: &str| {
        super::super::word_after(line, name).and_then(|word| word.parse::<u64>().ok())
    };
    if line.starts_with('[') {
        test.pairs = number_after("pairs:").or(test.pairs);
        test.window = number_after("window size:").or(test.window);
    } else if line.starts_with("Send Buffer on") {
        let letters = line.split('(').skip(1).filter_map(|it| it.split(')').next());
        let letters = letters.collect::<Vec<_>>().join(" ");
        let device = test.buffers.take().map(|device| format!("{device} "));
        test.buffers = Some(format!("{}{letters}", device.unwrap_or_default()));
    } else if let Some((name, value)) = line.split_once(": ") {
        let value = value.trim().trim_end_matches('.');
        let kind = find_test(test).map(MpiTest::kind);
        let is_default = match name.trim() {
            "Datatype" => value == default_datatype(kind),
            "Window creation" => {
                value
                    == kind
                        .map_or(
                            WindowCreation::Allocate,
                            MpiBenchmarkKind::default_window_creation,
                        )
                        .osu_name()
            }
            "Synchronization" => {
                value
                    == kind
                        .map_or(
                            RmaSynchronization::Flush,
                            MpiBenchmarkKind::default_synchronization,
                        )
                        .osu_name()
            }
            _ => false,
        };
        if !is_default {
            test.settings.push(format!("{}: {value}", name.trim()));
        }
    } else {
        return;
    }
    contents.recognise(number..=number, line, "condition");
}

/// Returns assay's test with the title. Two programs of OSU print the same one; the one about
/// neighbours prints a topology, too.
fn find_test(test: &OsuTest) -> Option<MpiTest> {
    let named = |known: &MpiTest| known.osu_title().eq_ignore_ascii_case(&test.title);
    let is_alike = |known: &MpiTest| known.kind().is_neighborhood() == test.is_neighborhood;
    let mut all = MpiTest::ALL.into_iter().filter(named);
    all.clone().find(is_alike).or_else(|| all.next())
}

/// Returns the default datatype of a test, which assay's tests share: sums need numbers.
fn default_datatype(kind: Option<MpiBenchmarkKind>) -> &'static str {
    if kind.is_some_and(MpiBenchmarkKind::is_reduction) { "MPI_INT" } else { "MPI_CHAR" }
}

/// Messages in flight of assay's tests of bandwidth, OSU's default.
const DEFAULT_WINDOW: u64 = 64;

/// Reads the line of `osu_init`: `nprocs: 2, min: 123 ms, max: 124 ms, avg: 123 ms`.
fn read_init(test: &mut OsuTest, line: &str, number: usize, contents: &mut FileContents) {
    let mut parsed = ParsedOutput { version: test.version.clone(), ..ParsedOutput::default() };
    let mut dimensions = Attributes::new();
    for (name, value) in line.split(',').filter_map(|part| part.split_once(':')) {
        let value = value.trim().trim_end_matches("ms").trim();
        let metric = match name.trim() {
            "nprocs" => {
                let ranks = value.parse::<u64>().ok();
                dimensions.extend(ranks.map(|it| (Attribute::Ranks, it.into())));
                continue;
            }
            "min" => "latency_min",
            "max" => "latency_max",
            "avg" => "latency",
            _ => continue,
        };
        match parse_positive(metric, value) {
            Ok(time_ms) => parsed.add_samples(metric, vec![time_ms / 1e3]),
            Err(error) => test.error = Some(error),
        }
    }
    if !parsed.values.is_empty() {
        let mut found = super::super::ImportedMeasurement::new(
            test.title.clone(),
            assay_model::benchmark::Benchmark::Mpi(MpiTest::Init),
            dimensions,
            parsed,
        );
        found.lines = Some(number..=number);
        contents.measurements.push(found);
        // The test is complete: its one line was all.
        test.settings.push(DONE.to_owned());
    }
}

/// Mark of a test whose figures are recorded.
const DONE: &str = "done";

/// Adds the measurement of a test, its error, or the reason for leaving it out.
fn finish_test(test: OsuTest, next: Option<&OsuTest>, contents: &mut FileContents) {
    let is_done = test.settings.iter().any(|it| it == DONE);
    let lines = test.first_line..=test.last_line.max(test.first_line);
    let is_title_of_next = next.is_some_and(|next| next.title == test.title);
    if test.error.is_none() && test.rows.is_empty() {
        if is_done || is_title_of_next {
            return;
        }
        let title = test.title.clone();
        if test.columns.is_some() {
            let missing = "there is no row of values".to_owned();
            contents.add_part(Some(lines), title, Err(ToolError::Truncated { missing }));
        } else if is_table_test(&title) {
            let error = missing("heading of columns below the title of OSU's test");
            contents.add_part(Some(lines), title, Err(error));
        } else {
            contents.leave_out(Some(lines), format!("test {title:?}"), "it has no figures");
        }
        return;
    }
    let known = find_test(&test);
    let dimensions = collect_dimensions(&test, known);
    let title = test.title.clone();
    let described =
        TableTest { known, name: test.title, dimensions, version: test.version.clone() };
    let part = match test.error {
        Some(error) => Err(error),
        None => convert_rows(described, &test.rows, contents),
    };
    contents.recognise(test.first_line..=test.first_line, &title, "title of a test");
    contents.add_part(Some(lines), title, part);
}

/// Whether a test prints a table; `osu_hello` and the like do not.
fn is_table_test(title: &str) -> bool {
    ["Latency", "Bandwidth", "Rate"].iter().any(|word| title.contains(word))
}

fn collect_dimensions(test: &OsuTest, known: Option<MpiTest>) -> Attributes {
    let mut dimensions = Attributes::new();
    let is_pair = known.is_some_and(|known| known.pattern() == MpiPattern::Pair);
    let ranks = test.pairs.and_then(|pairs| pairs.checked_mul(2)).or(is_pair.then_some(2));
    dimensions.extend(ranks.map(|ranks| (Attribute::Ranks, ranks.into())));
    let buffers = test.buffers.as_deref();
    dimensions.extend(buffers.map(|it| (Attribute::Buffers, it.into())));
    let window = test.window.filter(|window| *window != DEFAULT_WINDOW);
    dimensions.extend(window.map(|window| (Attribute::Depth, window.into())));
    if !test.settings.is_empty() {
        dimensions.insert(Attribute::Loops, test.settings.join(", ").into());
    }
    dimensions
}
