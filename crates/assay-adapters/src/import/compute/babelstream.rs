//! Import of BabelStream's table, text and CSV. `MBytes/sec` are 10⁶ B/s, `MiBytes/sec` 2²⁰ B/s.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;

use super::super::{
    FileContents, ImportedMeasurement, TextPart, missing, reject_cut_number, split_parts,
    word_after,
};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative, parse_positive};

pub(super) fn is_babelstream(text: &str) -> bool {
    text.lines().any(is_heading)
}

fn is_heading(line: &str) -> bool {
    let line = line.trim();
    let is_text = line.starts_with("Function") && line.contains("Bytes/sec");
    is_text || line.starts_with("function,num_times,")
}

pub(super) fn read_babelstream(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut runs = split_parts(text, |line| line == "BabelStream")?;
    if runs.is_empty() {
        runs = split_parts(text, is_heading)?;
    }
    let runs = if runs.is_empty() {
        let lines = 1..=text.lines().count().max(1);
        vec![TextPart { text: text.to_owned(), lines }]
    } else {
        runs
    };
    let last = runs.len() - 1;
    for (at, run) in runs.iter().enumerate() {
        let whole = if at == last { reject_cut_number(text) } else { Ok(()) };
        let part = whole.and_then(|()| read_run(&run.text));
        contents.add_part(Some(run.lines.clone()), "BabelStream", part);
    }
    Ok(contents)
}

fn read_run(text: &str) -> Result<ImportedMeasurement, ToolError> {
    if let Some(line) = text.lines().find(|line| line.contains("Validation failed")) {
        return Err(ToolError::CheckFailed { verdict: line.trim().to_owned() });
    }
    let mut lines = text.lines().map(str::trim).skip_while(|line| !is_heading(line));
    let heading = lines.next().ok_or_else(|| missing("table of BabelStream"))?;
    let is_csv = heading.contains(',');
    let columns = split_fields(heading, is_csv);
    let version = word_after(text, "Version:").map(str::to_owned);
    let mut parsed = ParsedOutput { version, ..ParsedOutput::default() };
    let mut dimensions = Attributes::from([(Attribute::Test, "BabelStream".into())]);
    let implementation =
        text.lines().find_map(|line| line.trim().strip_prefix("Implementation:"));
    dimensions.extend(implementation.map(|it| (Attribute::Loops, it.trim().into())));
    for line in lines.take_while(|line| !line.is_empty()) {
        let fields = split_fields(line, is_csv);
        if fields.len() != columns.len() {
            let missing = format!("the row {line:?} is incomplete");
            return Err(ToolError::Truncated { missing });
        }
        read_row(&columns, &fields, &mut parsed, &mut dimensions)?;
    }
    if parsed.values.is_empty() {
        return Err(missing("row of BabelStream's table"));
    }
    Ok(ImportedMeasurement::new("BabelStream", Benchmark::Foreign, dimensions, parsed))
}

/// Splits a line. The labels of a text's heading have blanks before their units: `Min (sec)`.
fn split_fields(line: &str, is_csv: bool) -> Vec<String> {
    if is_csv {
        return line.split(',').map(|field| field.trim().to_owned()).collect();
    }
    line.replace(" (sec)", "").split_whitespace().map(str::to_owned).collect()
}

fn read_row(
    columns: &[String],
    fields: &[String],
    parsed: &mut ParsedOutput,
    dimensions: &mut Attributes,
) -> Result<(), ToolError> {
    let field = |names: &[&str]| {
        let at = columns.iter().position(|column| names.contains(&column.as_str()))?;
        fields.get(at).map(|field| (columns[at].as_str(), field.as_str()))
    };
    let function = field(&["Function", "function"]).map_or("", |(_, it)| it);
    let own = Attributes::from([(Attribute::Operation, function.to_lowercase().into())]);
    let rates = [
        "MBytes/sec",
        "MiBytes/sec",
        "GBytes/sec",
        "max_mbytes_per_sec",
        "max_mibytes_per_sec",
    ];
    let (label, rate) = field(&rates).ok_or_else(|| missing("column of rates"))?;
    let factor = match label {
        "MiBytes/sec" | "max_mibytes_per_sec" => 1_048_576.0,
        "GBytes/sec" => 1e9,
        _ => 1e6,
    };
    let rate = parse_positive("the rate", rate)? * factor;
    parsed.add_series("bandwidth", own.clone(), vec![rate]);
    let times = [
        ("time_min", &["Min", "min_runtime"][..]),
        ("time_max", &["Max", "max_runtime"]),
        ("time_mean", &["Average", "avg_runtime"]),
    ];
    for (metric, names) in times {
        if let Some((label, time)) = field(names) {
            let time_s = parse_non_negative(label, time)?;
            parsed.add_series(metric, own.clone(), vec![time_s]);
        }
    }
    let whole = |name: &str| field(&[name]).and_then(|(_, it)| it.parse::<u64>().ok());
    if let (Some(elements), Some(size)) = (whole("n_elements"), whole("sizeof")) {
        let bytes = elements.saturating_mul(size);
        dimensions.insert(Attribute::BytesPerArray, bytes.into());
    }
    Ok(())
}
