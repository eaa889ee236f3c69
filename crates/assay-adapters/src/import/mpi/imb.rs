//! Import of tables of the Intel MPI Benchmarks (IMB): MPI-1, P2P, NBC, RMA, EXT, IO and MT.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::MpiTest;

use super::super::{
    FileContents, FileTime, MAX_NAME_BYTES, check_limit, missing, reject_cut_number, word_after,
};
use super::table::{
    Column, TableRow, TableTest, add_row, convert_rows, leave_out_unknown, parse_row,
};
use crate::limits::MAX_MEASUREMENTS;
use crate::outputs::ToolError;
use crate::tool::find_imb_test;

pub(super) fn is_imb(text: &str) -> bool {
    text.contains("Intel(R) MPI Benchmark") && text.contains("# Benchmarking ")
}

const LABELS: [(&str, &str, i32); 13] = [
    ("t_min[usec]", "latency_min", -6),
    ("t_max[usec]", "latency_max", -6),
    ("t_avg[usec]", "latency", -6),
    ("t[usec]", "latency", -6),
    ("t_ovrl[usec]", "latency", -6),
    ("t_pure[usec]", "communication", -6),
    ("t_CPU[usec]", "compute", -6),
    ("overlap[%]", "overlap", -2),
    ("Mbytes/sec", "bandwidth", 6),
    ("BW(MB/s)", "bandwidth", 6),
    ("Msg/sec", "message_rate", 0),
    ("MsgRate(msg/s)", "message_rate", 0),
    ("Time(us)", "latency", -6),
];

fn parse_heading(line: &str) -> Option<Vec<Column>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let first = words.first()?;
    if !["#bytes", "#repetitions", "bytes", "Group"].contains(first) {
        return None;
    }
    let column = |word: &&str| match *word {
        "#bytes" | "bytes" => Column::Size,
        "#repetitions" | "repetitions" => Column::Iterations,
        "defects" => Column::Defects,
        word => LABELS.iter().find(|(label, ..)| *label == word).map_or_else(
            || Column::Other(word.to_owned()),
            |(_, metric, power)| Column::Metric(metric, *power),
        ),
    };
    Some(words.iter().map(column).collect())
}

/// Table of a file while its lines are read.
#[derive(Debug, Clone, Default)]
struct ImbTable {
    name: String,
    ranks: Option<u64>,
    threads: Option<u64>,
    settings: Vec<String>,
    first_line: usize,
    last_line: usize,
    columns: Option<Vec<Column>>,
    rows: Vec<TableRow>,
    error: Option<ToolError>,
}

/// Facts of the head, which all tables share until the next head.
#[derive(Debug, Clone, Default)]
struct ImbHead {
    version: Option<String>,
    began: Option<FileTime>,
    /// Types and operations other than the default ones.
    settings: Vec<String>,
}

/// Lines of the head with conditions, and IMB's defaults.
const HEAD_SETTINGS: [(&str, &str); 3] = [
    ("MPI_Datatype", "MPI_BYTE"),
    ("MPI_Datatype for reductions", "MPI_FLOAT"),
    ("MPI_Op", "MPI_SUM"),
];

/// Returns the setting of a line of the head, `# MPI_Datatype : MPI_FLOAT`, if it is not the default.
fn parse_head_setting(line: &str) -> Option<String> {
    let (name, value) = line.strip_prefix('#')?.split_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    let (_, default) = HEAD_SETTINGS.iter().find(|(known, _)| *known == name)?;
    (value != *default).then(|| format!("{name} {value}"))
}

pub(super) fn read_imb(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut head = ImbHead::default();
    let mut table: Option<ImbTable> = None;
    let (mut count, mut is_ended) = (0, false);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        is_ended |= line.contains("All processes entering MPI_Finalize");
        if let Some(name) = line.strip_prefix("# Benchmarking ") {
            count += 1;
            check_limit(count, ("tests", MAX_MEASUREMENTS))?;
            contents.check_size()?;
            finish_table(table.take(), &head, &mut contents);
            is_ended = false;
            let name = name.trim().to_owned();
            table = Some(ImbTable { name, first_line: number, ..ImbTable::default() });
        } else if line.contains("Intel(R) MPI Benchmark") {
            finish_table(table.take(), &head, &mut contents);
            head = ImbHead { version: parse_version(line), ..ImbHead::default() };
            contents.recognise(number..=number, line, "version");
        } else if let Some(date) = line.strip_prefix("# Date ") {
            head.began = FileTime::parse_ctime(date.trim_start_matches([' ', ':']));
            contents.recognise(number..=number, line, "time");
        } else if let Some(setting) = parse_head_setting(line) {
            contents.recognise(number..=number, line, "condition");
            let bytes = head.settings.iter().map(String::len).sum::<usize>() + setting.len();
            check_limit(bytes, ("bytes of settings", MAX_NAME_BYTES))?;
            head.settings.push(setting);
        } else if let Some(current) = &mut table {
            let next = read_line(current, line, number, &mut contents);
            if let Some(next) = next {
                finish_table(table.replace(next), &head, &mut contents);
            }
        }
    }
    if let Some(last) = table.as_mut().filter(|_| !is_ended) {
        let cut = reject_cut_number(text).err();
        let missing = "\"All processes entering MPI_Finalize\" is missing".to_owned();
        last.error = last.error.take().or(cut).or(Some(ToolError::Truncated { missing }));
    }
    finish_table(table, &head, &mut contents);
    if contents.measurements.is_empty() && contents.failed.is_empty() {
        return Err(missing("row of a table of IMB"));
    }
    Ok(contents)
}

/// Parses the version: `Intel(R) MPI Benchmarks 2021.11, MPI-1 part`,
/// `Intel (R) MPI Benchmark Suite V3.2.4, MPI-1 part`.
fn parse_version(line: &str) -> Option<String> {
    let mut words = line.split([',', ' ']).map(|word| word.trim_start_matches('V'));
    let is_version = |word: &&str| word.starts_with(|it: char| it.is_ascii_digit());
    words.find(is_version).map(str::to_owned)
}

/// Reads a line of a test. A mode or a heading below rows begins another table of the same test.
fn read_line(
    table: &mut ImbTable,
    line: &str,
    number: usize,
    contents: &mut FileContents,
) -> Option<ImbTable> {
    let restart = |table: &ImbTable| ImbTable {
        first_line: number,
        rows: Vec::new(),
        columns: None,
        error: None,
        ..table.clone()
    };
    if let Some(columns) = parse_heading(line) {
        leave_out_unknown(&columns, number, contents);
        let mut next = (!table.rows.is_empty()).then(|| restart(table));
        next.as_mut().unwrap_or(table).columns = Some(columns);
        return next;
    }
    let setting = line.trim_start_matches(['#', ' ']);
    if let Some(mode) = setting.strip_prefix("MODE:").filter(|_| line.starts_with('#')) {
        let mut next = (!table.rows.is_empty()).then(|| restart(table));
        next.as_mut().unwrap_or(table).settings = vec![mode.trim().to_lowercase()];
        return next;
    }
    if line.starts_with('#') && setting.starts_with("processes =") {
        table.ranks = word_after(line, "processes").and_then(|it| it.parse().ok());
        let threads = word_after(line, "threads").map(|it| it.trim_end_matches([')', ',']));
        table.threads = threads.and_then(|it| it.parse().ok());
    } else if line.starts_with('#') && line.contains("groups of") {
        let words: Vec<u64> = setting
            .split_whitespace()
            .filter_map(|word| word.trim_matches(['(', ')']).parse().ok())
            .collect();
        if let [groups, ranks] = words[..] {
            table.ranks = groups.checked_mul(ranks);
        }
        table.settings = vec![setting.trim_matches(['(', ')', ' ']).to_owned()];
    } else if line.contains("time-out") {
        contents.leave_out(Some(number..=number), line, "IMB ended the size by its time limit");
    } else if line.starts_with(|it: char| it.is_ascii_digit())
        && let Some(columns) = &table.columns
    {
        table.last_line = number;
        let row = parse_row(line, number, columns);
        if let Err(error) = row.and_then(|row| add_row(&mut table.rows, row)) {
            table.error.get_or_insert(error);
        }
    }
    None
}

fn finish_table(table: Option<ImbTable>, head: &ImbHead, contents: &mut FileContents) {
    let Some(mut table) = table else { return };
    let lines = table.first_line..=table.last_line.max(table.first_line);
    if table.rows.is_empty() && table.error.is_none() {
        let missing = "there is no row of values".to_owned();
        let error = Err(ToolError::Truncated { missing });
        contents.add_part(Some(lines), table.name, error);
        return;
    }
    let known = find_imb_test(&table.name);
    scale_bandwidth(&mut table.rows, head.version.as_deref());
    for row in &mut table.rows {
        drop_derived(row, known, &table.name);
    }
    let mut dimensions = Attributes::new();
    dimensions.extend(table.ranks.map(|ranks| (Attribute::Ranks, ranks.into())));
    dimensions.extend(table.threads.map(|it| (Attribute::Threads, it.into())));
    let settings: Vec<&str> =
        head.settings.iter().chain(&table.settings).map(String::as_str).collect();
    if !settings.is_empty() {
        dimensions.insert(Attribute::Loops, settings.join(", ").into());
    }
    let name = table.name.clone();
    let test = TableTest {
        known,
        name: format!("IMB {name}"),
        dimensions,
        version: head.version.clone(),
    };
    let part = match table.error {
        Some(error) => Err(error),
        None => convert_rows(test, &table.rows, contents),
    };
    let part = part.map(|mut measurement| {
        measurement.began = head.began;
        measurement
    });
    contents.recognise(table.first_line..=table.first_line, &name, "title of a test");
    contents.add_part(Some(lines), name, part);
}

/// Drops figures that repeat another one: the bandwidth of a ping-pong is the size over its time.
/// Empty messages have no bandwidth, and empty collectives are none.
fn drop_derived(row: &mut TableRow, known: Option<MpiTest>, name: &str) {
    let is_pingpong = known == Some(MpiTest::Latency);
    let is_barrier = name.ends_with("arrier");
    if row.bytes == Some(0) && !is_pingpong && !is_barrier && known.is_some() {
        row.figures.clear();
    }
    row.figures.retain(|(column, ..)| {
        let is_bandwidth = matches!(column, Column::Metric("bandwidth", _));
        !(is_bandwidth && (is_pingpong || row.bytes == Some(0)))
    });
}

/// Multiplies the bandwidth where `Mbytes/sec` is 2²⁰ bytes, as before IMB 2018. Sizes and times
/// decide: bandwidth = m × size / time with m = 1, 2 or 4 messages a repetition.
fn scale_bandwidth(rows: &mut [TableRow], version: Option<&str>) {
    /// Bytes of the older unit over those of the later one.
    const MEBI_SHARE: f64 = 1_048_576.0 / 1e6;
    const TOLERANCE: f64 = 0.01;
    let find = |row: &TableRow, name: &str| {
        let is_it =
            |column: &Column| matches!(column, Column::Metric(metric, _) if *metric == name);
        row.figures.iter().find(|(column, ..)| is_it(column)).map(|(_, value, _)| *value)
    };
    let measured = rows.iter().rev().find_map(|row| {
        let rate = find(row, "bandwidth").filter(|rate| *rate > 0.0)?;
        let by_count = find(row, "message_rate").map(|rate| 1.0 / rate);
        let time_s =
            by_count.or_else(|| find(row, "latency_max")).or_else(|| find(row, "latency"))?;
        Some(rate * time_s / row.bytes? as f64)
    });
    let is_near = |ratio: f64, factor: f64| {
        [1.0, 2.0, 4.0].iter().any(|count| (ratio * factor / count - 1.0).abs() < TOLERANCE)
    };
    let is_binary = match measured {
        Some(ratio) if is_near(ratio, 1.0) => false,
        Some(ratio) if is_near(ratio, MEBI_SHARE) => true,
        Some(_) | None => version.is_some_and(|version| !version.starts_with("20")),
    };
    let is_bandwidth =
        |column: &Column| matches!(column, Column::Metric("bandwidth", _)) && is_binary;
    for (_, value, half) in
        rows.iter_mut().flat_map(|row| &mut row.figures).filter(|it| is_bandwidth(&it.0))
    {
        (*value, *half) = (*value * MEBI_SHARE, *half * MEBI_SHARE);
    }
}
