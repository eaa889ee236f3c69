//! Classic tables of netperf. The line of units above the figures names the columns.

use super::{
    ImportedMeasurement, NetperfFigures, NetperfTest, ToolError, bits_per_unit, is_numeric,
    measure, parse_known,
};

/// Meaning of one column.
#[derive(Debug, Clone, PartialEq)]
enum Column {
    /// Size in bytes; their order is that of the heading.
    Size,
    Seconds,
    /// Rate in a unit of bits or bytes.
    Throughput(String),
    /// Transactions per second.
    Rate,
    /// Count of messages.
    Count,
    /// Utilisation of CPUs in percent.
    Cpu,
    /// CPU time per KiB or per transaction, in µs.
    Demand {
        per_kib: bool,
    },
}

/// Reads the table of a test; `None` if it has none.
pub(super) fn read_test(
    test: &NetperfTest<'_>,
) -> Option<Result<ImportedMeasurement, ToolError>> {
    let units = test.lines.iter().position(|line| parse_columns(line).is_some())?;
    let columns = parse_columns(test.lines[units])?;
    let row = test.lines.iter().skip(units + 1).position(|line| is_numeric(line))?;
    let rows = &test.lines[units + 1 + row..];
    let warnings = test.lines.iter().filter(|line| line.starts_with("!!!"));
    let warnings =
        warnings.map(|line| line.trim_start_matches('!').trim().to_owned()).collect();
    Some(read_row(test, &columns, rows, warnings))
}

/// Parses a line of units: `bytes  bytes  bytes  secs.  10^6bits/sec`.
fn parse_columns(line: &str) -> Option<Vec<Column>> {
    let mut columns = Vec::new();
    let mut words = line.split_whitespace().take(20).peekable();
    while let Some(word) = words.next() {
        let column = match (word, words.peek().copied()) {
            ("bytes" | "Bytes", _) => Column::Size,
            ("secs." | "secs", _) => Column::Seconds,
            ("per", Some("sec")) => Column::Rate,
            ("%", Some(_)) => Column::Cpu,
            ("#", _) => Column::Count,
            ("us/KB", _) => Column::Demand { per_kib: true },
            ("us/Tr", _) => Column::Demand { per_kib: false },
            (unit, _) if bits_per_unit(unit).is_some() => Column::Throughput(unit.to_owned()),
            (_, _) => return None,
        };
        if matches!(column, Column::Rate | Column::Cpu) {
            words.next();
        }
        columns.push(column);
    }
    let has_figure =
        columns.iter().any(|it| matches!(it, Column::Throughput(_) | Column::Rate));
    has_figure.then_some(columns)
}

fn read_row(
    test: &NetperfTest<'_>,
    columns: &[Column],
    rows: &[&str],
    warnings: Vec<String>,
) -> Result<ImportedMeasurement, ToolError> {
    let words: Vec<&str> = rows.first().map_or("", |row| row).split_whitespace().collect();
    if words.len() != columns.len() {
        let missing = format!("{} columns have {} figures", columns.len(), words.len());
        return Err(ToolError::Truncated { missing });
    }
    let mut figures = NetperfFigures { warnings, ..NetperfFigures::default() };
    let mut sizes = Vec::new();
    let mut ends = ["local", "remote"].into_iter();
    for (column, word) in columns.iter().zip(&words) {
        let value = parse_known("a column of netperf", word)?;
        match (column, value) {
            (Column::Size, Some(size)) => sizes.push(size as u64),
            (Column::Seconds, value) => figures.seconds = value,
            (Column::Throughput(unit), Some(value)) => {
                figures.throughput = Some((value, unit.clone()));
            }
            (Column::Rate, Some(value)) => {
                figures.throughput = Some((value, "Trans/s".to_owned()));
            }
            (Column::Demand { per_kib: true }, Some(us)) => {
                let end = ends.next().unwrap_or("remote");
                figures.cpu_per_byte.push((end, us * 1e-6 / 1024.0));
            }
            (Column::Demand { per_kib: false }, Some(us)) => {
                figures.warnings.push(format!("CPU time of {us} µs per transaction"));
            }
            (Column::Cpu, Some(percent)) => {
                figures.warnings.push(format!("CPU utilisation of {percent} %"));
            }
            (Column::Count, Some(_))
            | (
                Column::Size
                | Column::Throughput(_)
                | Column::Rate
                | Column::Count
                | Column::Cpu
                | Column::Demand { .. },
                None,
            ) => {}
        }
    }
    if test.kind.ends_with("RR") {
        // Both socket buffers come first.
        (figures.request_bytes, figures.response_bytes) =
            (sizes.get(2).copied(), sizes.get(3).copied());
    } else {
        figures.message_bytes = sizes.last().copied();
    }
    figures.received = read_second_row(test, rows)?;
    measure(&test.kind, test.to, figures)
}

/// Reads the receiver's throughput, which UDP has in a second row without size and errors.
fn read_second_row(test: &NetperfTest<'_>, rows: &[&str]) -> Result<Option<f64>, ToolError> {
    if !test.kind.starts_with("UDP") {
        return Ok(None);
    }
    let words: Vec<&str> = rows.get(1).map_or("", |row| row).split_whitespace().collect();
    match words[..] {
        [_, _, _, throughput, ..] => parse_known("the received throughput", throughput),
        _ => Ok(None),
    }
}
