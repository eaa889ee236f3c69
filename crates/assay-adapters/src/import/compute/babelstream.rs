//! Import of BabelStream's table, text and CSV, of versions 3 to 5, and of its single kernels. The
//! headings name the unit: `MBytes/sec` and `MB/s` are 10⁶ B/s, `MiBytes/sec` and `MiB/s` 2²⁰ B/s.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;

use super::super::{
    FileContents, ImportedMeasurement, TextPart, missing, reject_cut_number, split_parts,
    word_after,
};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative, parse_positive};

/// Units of bandwidths in headings, without `/s`, `/sec` and `_per_sec`.
const UNITS: [(&str, f64); 12] = [
    ("mbytes", 1e6),
    ("mibytes", 1_048_576.0),
    ("gbytes", 1e9),
    ("gibytes", 1_073_741_824.0),
    ("mb", 1e6),
    ("mib", 1_048_576.0),
    ("gb", 1e9),
    ("gib", 1_073_741_824.0),
    ("tb", 1e12),
    ("tib", 1_099_511_627_776.0),
    ("tbytes", 1e12),
    ("tibytes", 1_099_511_627_776.0),
];

/// Returns the bytes per second of a column of bandwidths: `MBytes/sec`, `max_MiB_per_sec`.
fn parse_rate_column(label: &str) -> Option<f64> {
    let label = label.to_ascii_lowercase();
    let label = label.strip_prefix("max_").unwrap_or(&label);
    let unit = ["/sec", "/s", "_per_sec"].iter().find_map(|it| label.strip_suffix(it))?;
    UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)
}

pub(super) fn is_babelstream(text: &str) -> bool {
    let is_program = text.lines().any(|line| line.trim() == "BabelStream");
    text.lines().any(is_heading)
        || is_program && text.lines().any(|line| parse_single_bandwidth(line).is_some())
}

fn is_heading(line: &str) -> bool {
    let line = line.trim();
    let is_text = line.strip_prefix("Function").is_some_and(|rest| {
        rest.split_whitespace().next().is_some_and(|it| parse_rate_column(it).is_some())
    });
    is_text || line.starts_with("function,num_times,")
}

/// Parses the line of a single kernel: `Bandwidth (GB/s):  2.273`.
fn parse_single_bandwidth(line: &str) -> Option<(f64, &str)> {
    let (unit, value) = line.trim().strip_prefix("Bandwidth (")?.split_once("):")?;
    Some((parse_rate_column(unit)?, value.trim()))
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
    let is_failure =
        |line: &&str| line.contains("Validation failed") || line.contains("FAILED validation");
    if let Some(line) = text.lines().find(is_failure) {
        return Err(ToolError::CheckFailed { verdict: line.trim().to_owned() });
    }
    let version = word_after(text, "Version:").map(str::to_owned);
    let mut parsed = ParsedOutput { version, ..ParsedOutput::default() };
    let mut dimensions = read_conditions(text);
    let mut lines = text.lines().map(str::trim).skip_while(|line| !is_heading(line));
    let Some(heading) = lines.next() else {
        read_single_kernel(text, &mut parsed, &mut dimensions)?;
        let name = "BabelStream";
        return Ok(ImportedMeasurement::new(name, Benchmark::Foreign, dimensions, parsed));
    };
    let is_csv = heading.contains(',');
    let columns = split_fields(heading, is_csv);
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

/// Reads the lines above the table: model, precision, order, and the size of an array where it is
/// exact.
fn read_conditions(text: &str) -> Attributes {
    let value = |name: &str| {
        text.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim)
    };
    let mut dimensions = Attributes::from([(Attribute::Test, "BabelStream".into())]);
    let precision = value("Precision:");
    let is_isolated = value("Running").is_some_and(|it| it.contains("Isolated order"));
    let settings: Vec<&str> = [
        value("Implementation:"),
        precision.filter(|precision| *precision != "double"),
        is_isolated.then_some("isolated order"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !settings.is_empty() {
        dimensions.insert(Attribute::Loops, settings.join(", ").into());
    }
    let elements = value("Number of elements:").and_then(|it| it.parse::<u64>().ok());
    let element_bytes = match precision {
        Some("double") => Some(8),
        Some("float") => Some(4),
        _ => None,
    };
    let bytes = elements.zip(element_bytes).and_then(|(count, size)| count.checked_mul(size));
    dimensions.extend(bytes.map(|bytes| (Attribute::BytesPerArray, bytes.into())));
    dimensions
}

/// Reads the result of `--triad-only` or `--nstream-only` in version 3: `Running triad 10 times`.
fn read_single_kernel(
    text: &str,
    parsed: &mut ParsedOutput,
    dimensions: &mut Attributes,
) -> Result<(), ToolError> {
    let lines = || text.lines().map(str::trim);
    let (factor, rate) = lines()
        .find_map(parse_single_bandwidth)
        .ok_or_else(|| missing("table of BabelStream"))?;
    let kernel = lines().find_map(|line| line.strip_prefix("Running ")).unwrap_or_default();
    let kernel =
        kernel.split_whitespace().next().ok_or_else(|| missing("name of the kernel"))?;
    let own = Attributes::from([(Attribute::Operation, kernel.to_lowercase().into())]);
    parsed.add_series("bandwidth", own, vec![parse_positive("Bandwidth", rate)? * factor]);
    add_setting(dimensions, MEAN_SETTING);
    Ok(())
}

/// Setting of results that are bytes over the time of all passes; a table has the fastest pass.
const MEAN_SETTING: &str = "mean of all passes";

fn add_setting(dimensions: &mut Attributes, setting: &str) {
    let known = dimensions.get(&Attribute::Loops).and_then(|it| it.as_text());
    let settings = known.map_or(setting.to_owned(), |known| format!("{known}, {setting}"));
    dimensions.insert(Attribute::Loops, settings.into());
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
    let rate = columns
        .iter()
        .zip(fields)
        .find_map(|(column, field)| Some((parse_rate_column(column)?, field.as_str())));
    let (factor, rate) = rate.ok_or_else(|| missing("column of rates"))?;
    let rate = parse_positive("the rate", rate)? * factor;
    parsed.add_series("bandwidth", own.clone(), vec![rate]);
    if columns.iter().any(|column| column == "runtime") {
        add_setting(dimensions, MEAN_SETTING);
    }
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
