//! Import of HPCG's results, as key and value in text (3.x) or YAML (2.x), of the reference and of
//! vendors' programs. GFLOP/s are 10⁹ FLOP/s.

use assay_model::attribute::Attribute;

use super::super::foreign::foreign_measurement;
use super::super::{FileContents, TextPart, split_parts};
use crate::outputs::{ToolError, parse_positive_scaled};

pub(super) fn is_hpcg(text: &str) -> bool {
    text.contains("HPCG result is")
        || text.lines().any(|line| line.trim().starts_with("HPCG-Benchmark"))
}

/// Returns the value of a line whose key ends with `name`: `Summary::Distributed Processes=4`,
/// `Distributed Processes: 4`.
fn find_value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let value = |line: &'t str| {
        let (key, value) = line.rsplit_once(['=', ':'])?;
        let key = key.rsplit("::").next().unwrap_or(key);
        (key.trim() == name).then(|| value.trim())
    };
    text.lines().find_map(value)
}

pub(super) fn read_hpcg(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let parts = split_parts(text, |line| {
        line.starts_with("HPCG-Benchmark") || line.starts_with("HPCG Benchmark")
    })?;
    if parts.is_empty() {
        let lines = 1..=text.lines().count().max(1);
        read_result(&TextPart { text: text.to_owned(), lines }, &mut contents);
    }
    parts.iter().for_each(|part| read_result(part, &mut contents));
    Ok(contents)
}

fn read_result(part: &TextPart, contents: &mut FileContents) {
    let lines = Some(part.lines.clone());
    let text = part.text.as_str();
    let is_verdict = |line: &&str| line.contains("HPCG result is");
    let Some(verdict) = text.lines().map(str::trim).find(is_verdict) else {
        let missing = "HPCG's result, \"HPCG result is VALID\", is missing".to_owned();
        contents.add_part(lines, "HPCG", Err(ToolError::Truncated { missing }));
        return;
    };
    if !verdict.contains("is VALID") {
        let error = ToolError::CheckFailed { verdict: verdict.to_owned() };
        contents.add_part(lines, "HPCG", Err(error));
        return;
    }
    let number = verdict.rsplit_once("rating of").map_or("", |(_, rest)| rest);
    let number = number.trim_start_matches([' ', '=', ':']);
    let number = number.split_whitespace().next().unwrap_or_default();
    let measurement = parse_positive_scaled("the GFLOP/s rating", number, 9).map(|rating| {
        let mut found = foreign_measurement("HPCG", "flop_rate", vec![rating]);
        let version =
            find_value(text, "version").or_else(|| find_value(text, "HPCG-Benchmark version"));
        found.parsed.version = version.map(str::to_owned);
        let names = [
            (Attribute::Ranks, "Distributed Processes"),
            (Attribute::Threads, "Threads per processes"),
        ];
        for (attribute, name) in names {
            let value = find_value(text, name).and_then(|it| it.parse::<u64>().ok());
            found.dimensions.extend(value.map(|it| (attribute, it.into())));
        }
        let sizes = ["nx", "ny", "nz"].map(|axis| find_value(text, &format!("Global {axis}")));
        if let [Some(x), Some(y), Some(z)] = sizes {
            let grid = format!("{x}x{y}x{z}");
            found.dimensions.insert(Attribute::Loops, grid.into());
        }
        found
    });
    contents.add_part(lines, "HPCG", measurement);
    leave_out_verdicts(part, contents);
    let others = ["GFLOP/s Summary", "GB/s Summary", "Benchmark Time Summary"];
    for name in others.into_iter().filter(|name| text.contains(name)) {
        contents.leave_out(None, name, "parts of the run that the rating sums up");
    }
}

/// Names HPCG's remarks on a valid result: a run below its official length, reference code.
fn leave_out_verdicts(part: &TextPart, contents: &mut FileContents) {
    let remarks = ["Results are valid but execution time", "Reference version of"];
    for (at, line) in part.own_lines() {
        if let Some(remark) = remarks.iter().find_map(|it| line.find(it).map(|at| &line[at..]))
        {
            contents.leave_out(Some(at..=at), remark, "a remark of HPCG on its result");
        } else if let Some(at_text) = line.find("HPCG 2.4 ") {
            let why = "the rating by older rules; the valid one is imported";
            contents.leave_out(Some(at..=at), &line[at_text..], why);
        }
    }
}
