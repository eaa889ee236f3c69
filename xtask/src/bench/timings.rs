//! Parser of the report of `cargo build --timings`: the slowest packages.

use anyhow::{Context, Result};
use serde_json::Value;

/// Returns name and seconds of the `most` slowest units of the build.
pub(crate) fn slowest_units(report: &str, most: usize) -> Result<Vec<(String, f64)>> {
    // The page contains its data as one JSON array in a script.
    let (_, data) =
        report.split_once("const UNIT_DATA = ").context("the report has no units")?;
    let units = serde_json::Deserializer::from_str(data).into_iter::<Vec<Value>>().next();
    let units = units.context("the report has no units")??;
    let mut taken: Vec<(String, f64)> = units
        .iter()
        .filter_map(|unit| {
            let target = unit["target"].as_str().unwrap_or_default();
            let name =
                format!("{} {}{target}", unit["name"].as_str()?, unit["version"].as_str()?);
            Some((name, unit["duration"].as_f64()?))
        })
        .collect();
    taken.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    taken.truncate(most);
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_units_of_the_report() {
        let report = r#"<script>
const UNIT_DATA = [
  {"name": "a", "version": "1.0.0", "target": "", "duration": 1.5},
  {"name": "b", "version": "2.0.0", "target": " build script", "duration": 2.5},
  {"name": "c", "version": "3.0.0", "target": "", "duration": 0.5}
];
const CONCURRENCY_DATA = [];
"#;
        let expected = [("b 2.0.0 build script".to_owned(), 2.5), ("a 1.0.0".to_owned(), 1.5)];
        assert_eq!(slowest_units(report, 2).unwrap(), expected);
        assert!(slowest_units("<html>", 2).is_err());
    }
}
