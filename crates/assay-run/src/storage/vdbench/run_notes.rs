//! Notes on events other than I/O.

use std::path::PathBuf;

use assay_dialects::vdbench::commands::CommandOutput;
use assay_model::doubt::Doubt;
use assay_model::path_text;
use assay_model::phrase::Phrase;
use serde::{Deserialize, Serialize};

/// Note on one event; the code that prints it provides the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "told", rename_all = "kebab-case")]
pub enum RunNote {
    /// A file is being laid out before the first run.
    LayingOut {
        /// Path of the file.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// Size of the file.
        bytes: u64,
    },
    /// The file is laid out.
    LaidOut,
    /// Note of one of several hosts.
    Noted {
        /// Name of the host.
        host: String,
        /// Text of the note.
        text: String,
    },
    /// Doubt about a host.
    Doubted {
        /// Doubt with its host.
        doubt: Doubt,
    },
    /// Start of a command of the parameter file.
    Command {
        /// Shell command line.
        line: String,
    },
    /// Line of a command's output.
    Printed {
        /// Destination of the line.
        to: CommandOutput,
        /// Text of the line.
        line: String,
    },
    /// The run has reached its limit of bytes.
    LimitReached {
        /// Keyword of the limit.
        limit: String,
    },
    /// The monitor file ends the run.
    MonitorEndsRun,
    /// The monitor file ends the execution.
    MonitorEndsAll,
    /// A run is skipped, because its rate would be 0.
    LeftOut {
        /// Name of the run.
        run: String,
    },
    /// Response times exceed the limit of `stopcurve`: the execution ends.
    CurveEnds,
}

impl RunNote {
    /// Creates a note from a host's phrase, stored in English.
    pub(super) fn from_host_note(host: &str, said: &Phrase) -> Self {
        Self::Noted { host: host.to_owned(), text: said.to_string() }
    }

    /// Returns the note for a doubt about a host that is reported at once.
    pub(super) fn from_doubt(doubt: &Doubt) -> Option<Self> {
        let Doubt::OnHost { doubt: on_host, .. } = doubt else { return None };
        let is_said = matches!(**on_host, Doubt::ClockStepped { .. });
        is_said.then(|| Self::Doubted { doubt: doubt.clone() })
    }
}
