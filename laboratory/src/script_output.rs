//! Output of a scenario's script: sections, exit codes and JSON documents.

use anyhow::{Context, Result};
use serde_json::Value;

/// Splits the output into sections, each from a line `== NAME` to the next.
pub fn split_sections(output: &str) -> Vec<(&str, &str)> {
    let parts = output.split("\n== ").skip(1);
    parts
        .filter_map(|part| part.split_once('\n'))
        .map(|(name, rest)| (name.trim(), rest))
        .collect()
}

/// Returns the exit code that a script printed, or `none`.
pub(crate) fn exit_code(text: &str) -> String {
    let code = text.lines().find_map(|line| line.trim().strip_prefix("exit "));
    code.unwrap_or("none").to_owned()
}

/// Returns the section of this name.
pub(crate) fn output_section<'s>(output: &'s str, title: &str) -> Result<&'s str> {
    let matching = split_sections(output).into_iter().find(|(name, _)| *name == title);
    matching.map(|(_, text)| text).with_context(|| format!("section {title} is missing"))
}

/// Parses the first JSON document in a text.
pub(crate) fn parse_document(text: &str) -> Result<Value> {
    let start = text.find('{').context("no JSON in the output")?;
    let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter();
    Ok(documents.next().context("incomplete JSON")??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_document_before_other_text() {
        let output = "x\n{\"a\":{}}\ntook {1}\n";
        assert_eq!(parse_document(output).unwrap()["a"], serde_json::json!({}));
        for damaged in ["no device", "} {", ""] {
            assert!(parse_document(damaged).is_err(), "{damaged}");
        }
    }
}
