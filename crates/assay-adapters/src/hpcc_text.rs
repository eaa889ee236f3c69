//! Reader of hpcc's output file: named sections, and `key=value` lines at the end.

use crate::outputs::{ToolError, parse_positive_scaled, parse_whole};

/// Returns the text between `Begin of NAME section.` and `End of NAME section.`.
///
/// # Errors
/// If either line is missing, or the section occurs twice.
pub fn find_section<'a>(text: &'a str, name: &str) -> Result<&'a str, ToolError> {
    let begin = format!("Begin of {name} section.");
    let end = format!("End of {name} section.");
    let missing = |line: &str| ToolError::Truncated { missing: format!("no line {line:?}") };
    let (_, rest) = text.split_once(&begin).ok_or_else(|| missing(&begin))?;
    let (inside, after) = rest.split_once(&end).ok_or_else(|| missing(&end))?;
    if after.contains(&begin) {
        let what = format!("more than one {name} section: the output of several runs");
        return Err(ToolError::Contradiction { what });
    }
    Ok(inside)
}

/// Summary section at the end: `key=value` lines.
pub(crate) struct HpccSummary<'a> {
    lines: &'a str,
}

impl<'a> HpccSummary<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Self, ToolError> {
        Ok(Self { lines: find_section(text, "Summary")? })
    }

    pub(crate) fn version(&self) -> Result<String, ToolError> {
        let keys = ["VersionMajor", "VersionMinor", "VersionMicro"];
        let numbers: Result<Vec<&str>, _> =
            keys.into_iter().map(|key| self.text(key)).collect();
        Ok(numbers?.join("."))
    }

    pub(crate) fn text(&self, key: &str) -> Result<&'a str, ToolError> {
        let mut pairs = self.lines.lines().filter_map(|line| line.split_once('='));
        let value = pairs.find(|(name, _)| *name == key).map(|(_, value)| value.trim());
        value
            .ok_or_else(|| ToolError::Missing { what: key.to_owned(), place: "hpcc's summary" })
    }

    pub(crate) fn whole_number(&self, key: &str) -> Result<u64, ToolError> {
        parse_whole(key, self.text(key)?)
    }

    /// Parses a rate that has a decimal prefix, given as a power of ten.
    pub(crate) fn rate(&self, key: &str, power: i32) -> Result<f64, ToolError> {
        parse_positive_scaled(key, self.text(key)?, power)
    }
}
