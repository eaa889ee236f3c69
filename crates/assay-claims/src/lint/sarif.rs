//! Findings as SARIF 2.1.0, which code hosts show next to the lines of a change.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Confidence, LintFinding, Rule};

/// Returns the SARIF document for these pages.
pub fn document(pages: &[(String, Vec<LintFinding>)], version: &str) -> String {
    let rules: Vec<Value> = Rule::ALL
        .iter()
        .map(|(_, name, about)| json!({"id": name, "shortDescription": {"text": about}}))
        .collect();
    let result = |file: &str, it: &LintFinding| {
        json!({
            "ruleId": it.rule.name(),
            "level": if it.confidence == Confidence::Possible { "note" } else { "warning" },
            "properties": {"confidence": it.confidence.name()},
            "message": {"text": it.message},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": uri(file)},
                "region": {
                    "startLine": it.line,
                    "startColumn": it.column,
                    "byteOffset": it.start,
                    "byteLength": it.end - it.start,
                },
            }}],
        })
    };
    let results: Vec<Value> = pages
        .iter()
        .flat_map(|(file, findings)| findings.iter().map(move |it| result(file, it)))
        .collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "assay lint", "version": version, "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{document:#}\n")
}

/// Returns a path as a URI reference, percent-encoded.
fn uri(file: &str) -> String {
    let mut uri = String::new();
    for byte in file.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}
