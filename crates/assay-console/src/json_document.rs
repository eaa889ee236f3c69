//! JSON documents of the commands, each with its version as the first member.

use assay_run::failure::{CommandFailure, FailureKind};
use serde::Serialize;

/// Version of the documents that have no version of their own.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct VersionedDocument<'a, T> {
    schema: u32,
    #[serde(flatten)]
    members: &'a T,
}

/// Formats the members of a document as indented JSON, with its version and a final newline.
///
/// # Errors
/// If a value has no form in JSON.
pub fn to_json(members: &impl Serialize) -> Result<String, CommandFailure> {
    let document = VersionedDocument { schema: SCHEMA, members };
    serde_json::to_string_pretty(&document).map(|text| text + "\n").map_err(|error| {
        CommandFailure::new(FailureKind::Internal, "cannot write the result as JSON")
            .with_cause(&error)
    })
}
