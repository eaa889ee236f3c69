//! Scripts that assign JSON.

use assay_model::sanitize;
use serde_json::Value;

use super::MARK;

/// Renders a script that assigns data to a place, such as `self.assayLabels`.
pub(super) fn assign(place: &str, data: &Value) -> String {
    format!(
        "// Written by {MARK}.\n{place} = {};\n",
        sanitize::escape_hidden(&data.to_string())
    )
}
