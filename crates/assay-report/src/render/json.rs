//! The machine-readable result: the summary as it is.

use assay_model::summary::Summary;

/// One JSON document and a final line break. Numbers are in base units; what is not finite, and so
/// is no JSON number, is `null`.
///
/// # Panics
/// Never: a summary has no map whose keys are not text, which is all that could fail.
#[must_use]
pub fn summary(summary: &Summary) -> String {
    let json = serde_json::to_string_pretty(summary);
    json.expect("a summary has only keys that are text") + "\n"
}
