//! Import of the NAS Parallel Benchmarks' results. `Mop/s` are 10⁶ operations a second; their kind
//! is printed as `Operation type`.

use assay_model::attribute::Attribute;

use super::super::foreign::foreign_measurement;
use super::super::{FileContents, ImportedMeasurement, TextPart, missing, split_parts};
use crate::outputs::{ToolError, parse_non_negative, parse_positive_scaled};

pub(super) fn is_npb(text: &str) -> bool {
    text.contains("Mop/s total") || text.contains("NAS Parallel Benchmarks")
}

pub(super) fn read_npb(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let completed = |line: &str| {
        line.ends_with("Benchmark Completed.") || line.ends_with("Benchmark Completed")
    };
    let parts = split_parts(text, completed)?;
    if parts.is_empty() {
        let missing = "NPB's line \"Benchmark Completed\" is missing".to_owned();
        return Err(ToolError::Truncated { missing });
    }
    for part in &parts {
        contents.add_part(Some(part.lines.clone()), "NPB", read_result(part));
    }
    Ok(contents)
}

fn read_result(part: &TextPart) -> Result<ImportedMeasurement, ToolError> {
    let is_title = |line: &&str| line.contains("Benchmark Completed");
    let mut lines = part.text.lines().map(str::trim).skip_while(|line| !is_title(line));
    let title = lines.next().and_then(|line| line.split_whitespace().next());
    let kernel = title.ok_or_else(|| missing("name of the kernel"))?;
    let values: Vec<(&str, &str)> = lines
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect();
    let find = |name: &str| values.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
    let need = |name: &str| find(name).ok_or_else(|| missing(&format!("line {name:?} of NPB")));
    match need("Verification")? {
        "SUCCESSFUL" => {}
        "NOT PERFORMED" => {
            let verdict = "Verification = NOT PERFORMED".to_owned();
            return Err(ToolError::Unchecked { verdict });
        }
        other => {
            return Err(ToolError::CheckFailed { verdict: format!("Verification = {other}") });
        }
    }
    let class = need("Class")?;
    let rate = parse_positive_scaled("Mop/s total", need("Mop/s total")?, 6)?;
    let is_flop = find("Operation type").is_some_and(|kind| kind.contains("floating point"));
    let metric = if is_flop { "flop_rate" } else { "event_rate" };
    // DT's title contains its class: `DT_BH.S Benchmark Completed`.
    let kernel =
        kernel.strip_suffix(class).and_then(|it| it.strip_suffix('.')).unwrap_or(kernel);
    let mut found = foreign_measurement(&format!("NPB {kernel} {class}"), metric, vec![rate]);
    // Two decimals are printed: small classes take 0.00 s.
    let time_s = parse_non_negative("Time in seconds", need("Time in seconds")?)?;
    if time_s > 0.0 {
        found.parsed.add_samples("time", vec![time_s]);
    }
    found.parsed.version = find("Version").map(str::to_owned);
    let counts = [(Attribute::Ranks, "Total processes"), (Attribute::Threads, "Total threads")];
    for (attribute, name) in counts {
        let count = find(name).and_then(|it| it.parse::<u64>().ok());
        found.dimensions.extend(count.map(|it| (attribute, it.into())));
    }
    let iterations = find("Iterations").and_then(|it| it.parse::<u64>().ok());
    if let Some(iterations) = iterations.filter(|count| *count > 0) {
        found.parsed.set_attribute(Attribute::Iterations, iterations);
    }
    Ok(found)
}
