//! Outcome of a command in another tool's language, stored once as a raw output of its run.
//!
//! The tool's output is rendered from the outcome, live and by `assay show RUN --as TOOL`. Events are
//! derived from it, never the reverse.

use assay_model::run::Run;
use assay_store::Store;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::{CommandFailure, FailureKind};

/// Name of the raw output.
pub const OUTCOME_FILE: &str = "outcome.json";

/// Everything that the output of a tool depends on.
pub trait ToolOutcome: Serialize + DeserializeOwned {
    /// Name of the tool: `iperf3`.
    const TOOL: &'static str;
    /// Version of the type, which grows with every change of its stored form.
    const VERSION: u32;
}

/// Stored form of an outcome.
#[derive(Serialize)]
struct OutcomeEnvelope<'o, T> {
    tool: &'static str,
    version: u32,
    outcome: &'o T,
}

/// Part of the stored form that all versions share.
#[derive(Deserialize)]
struct OutcomeHead {
    tool: String,
    version: u32,
}

/// Part of the stored form that depends on the version.
#[derive(Deserialize)]
struct OutcomeBody<T> {
    outcome: T,
}

/// Reason why an outcome cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OutcomeError {
    /// The run ended without an outcome.
    #[error(
        "the run has no {OUTCOME_FILE}: it ended before one was stored, or an older assay measured it"
    )]
    Missing,
    /// Another version of assay stored it.
    #[error("{OUTCOME_FILE} has version {found} of the outcome of {tool}, expected {expected}")]
    OtherVersion {
        /// Tool of the outcome.
        tool: &'static str,
        /// Stored version.
        found: u32,
        /// Supported version.
        expected: u32,
    },
    /// The outcome belongs to another tool.
    #[error("{OUTCOME_FILE} is an outcome of {found}, expected {expected}")]
    OtherTool {
        /// Tool that is stored.
        found: String,
        /// Requested tool.
        expected: &'static str,
    },
    /// The text is not that of an outcome.
    #[error("{OUTCOME_FILE} is malformed")]
    Malformed {
        /// Position and cause.
        source: serde_json::Error,
    },
}

impl OutcomeError {
    const fn advice(&self) -> &'static str {
        match self {
            Self::Missing => "repeat the measurement",
            Self::OtherVersion { .. } => "use the version of assay that stored the run",
            Self::OtherTool { .. } | Self::Malformed { .. } => {
                "check the store with `assay doctor`, or repeat the measurement"
            }
        }
    }
}

/// Encodes an outcome as a raw output.
///
/// # Errors
/// If the outcome contains a value that JSON has no form for.
pub fn encode<T: ToolOutcome>(outcome: &T) -> Result<Vec<u8>, CommandFailure> {
    let stored = OutcomeEnvelope { tool: T::TOOL, version: T::VERSION, outcome };
    serde_json::to_vec(&stored).map_err(|error| {
        CommandFailure::new(FailureKind::Internal, "cannot encode the outcome")
            .with_cause(&error)
    })
}

/// Decodes an outcome.
///
/// # Errors
/// If it has another version or tool, or is malformed.
pub fn decode<T: ToolOutcome>(bytes: &[u8]) -> Result<T, OutcomeError> {
    let malformed = |source| OutcomeError::Malformed { source };
    let head: OutcomeHead = serde_json::from_slice(bytes).map_err(malformed)?;
    if head.tool != T::TOOL {
        return Err(OutcomeError::OtherTool { found: head.tool, expected: T::TOOL });
    }
    if head.version != T::VERSION {
        let (found, expected) = (head.version, T::VERSION);
        return Err(OutcomeError::OtherVersion { tool: T::TOOL, found, expected });
    }
    let body: OutcomeBody<T> = serde_json::from_slice(bytes).map_err(malformed)?;
    Ok(body.outcome)
}

/// Reads the outcome of a stored run.
///
/// # Errors
/// If it is missing, unreadable or damaged, or has another version.
pub fn read<T: ToolOutcome>(run: &Run, store: &Store) -> Result<T, CommandFailure> {
    let what = || {
        CommandFailure::measurement(format!("cannot print {} as {}", run.started.run, T::TOOL))
    };
    let refuse = |error: OutcomeError| what().with_cause(&error).advise(error.advice());
    let hash = run.raw.get(OUTCOME_FILE).ok_or(OutcomeError::Missing).map_err(refuse)?;
    let bytes = store
        .read_raw(hash)
        .map_err(|error| what().with_cause(&error).advise(error.advice()))?;
    decode(&bytes).map_err(refuse)
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Figures {
        rate: f64,
    }

    impl ToolOutcome for Figures {
        const TOOL: &'static str = "iperf3";
        const VERSION: u32 = 2;
    }

    #[test]
    fn outcomes_round_trip() {
        for rate in [0.1 + 0.2, 1.0 / 3.0, f64::MIN_POSITIVE, 9.4e15] {
            let outcome = Figures { rate };
            assert_eq!(decode::<Figures>(&encode(&outcome).unwrap()).unwrap(), outcome);
        }
    }

    #[test]
    fn refuses_other_outcomes() {
        for (text, expected) in [
            (
                r#"{"tool":"iperf3","version":3,"outcome":{"speed":1}}"#,
                "outcome.json has version 3 of the outcome of iperf3, expected 2",
            ),
            (
                r#"{"tool":"qperf","version":2,"outcome":{"rate":1}}"#,
                "outcome.json is an outcome of qperf, expected iperf3",
            ),
            (
                r#"{"tool":"iperf3","version":2,"outcome":{"speed":1}}"#,
                "outcome.json is malformed: missing field `rate` at line 1 column 50",
            ),
            (
                r#"{"tool":"iperf3","version":2,"outcome":{"rate":1"#,
                "outcome.json is malformed: EOF while parsing an object at line 1 column 48",
            ),
            ("", "outcome.json is malformed: EOF while parsing a value at line 1 column 0"),
        ] {
            let error = decode::<Figures>(text.as_bytes()).unwrap_err();
            let source = error.source().map_or(String::new(), |it| format!(": {it}"));
            assert_eq!(format!("{error}{source}"), expected);
        }
    }
}
