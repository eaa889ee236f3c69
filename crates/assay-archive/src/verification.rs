//! Integrity of stored runs, with the problems in words.

use assay_model::failure::FailureReason;
use assay_store::RunVerification;
use serde::Serialize;

/// Result of the check of one run.
#[derive(Debug, Serialize)]
pub struct VerifiedRun {
    /// Identifier.
    pub id: String,
    /// Whether everything can be read and agrees.
    pub is_sound: bool,
    /// Number of lost events.
    pub losses: u64,
    /// Number of intact raw outputs.
    pub outputs: usize,
    /// Problems, each in one line.
    pub problems: Vec<String>,
}

impl VerifiedRun {
    /// Describes the check of a run.
    pub fn new(verified: RunVerification) -> Self {
        let is_sound = verified.is_sound();
        let mut problems = Vec::new();
        let losses = match &verified.read {
            Ok(read) => {
                let path = read.path.display();
                problems
                    .extend(read.problems.iter().map(|problem| format!("{path} {problem}")));
                read.lost_events()
            }
            Err(error) => {
                problems.push(FailureReason::error_line(error));
                0
            }
        };
        let outputs = verified.damaged_outputs.iter();
        problems.extend(
            outputs
                .map(|(name, error)| format!("{name}: {}", FailureReason::error_line(error))),
        );
        if !verified.index_agrees {
            let reported =
                "the index does not match the events; remove index.jsonl, it is recreated";
            problems.push(reported.to_owned());
        }
        if verified.is_running && !is_sound {
            problems.push("the run is still being written; verify it again later".to_owned());
        }
        Self { id: verified.id, is_sound, losses, outputs: verified.outputs, problems }
    }
}
