//! What happens around the runs besides I/O, as it is stored beside their figures.

use std::path::PathBuf;

use assay_dialects::vdbench::commands::OutputOf;
use assay_model::doubt::Doubt;
use assay_model::path_text;
use assay_model::phrase::Phrase;
use serde::{Deserialize, Serialize};

/// Name of the raw output that holds a [`Course`].
pub(super) const COURSE: &str = "course.json";

/// One thing that happened; the words for people belong to whoever prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "told", rename_all = "kebab-case")]
pub enum Reported {
    /// A file is being written fully, before the first run.
    LayingOut {
        /// The file.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// That file is whole.
    LaidOut,
    /// One of several hosts said something.
    Noted {
        /// The host.
        host: String,
        /// What it said.
        text: String,
    },
    /// Something about a host is doubtful.
    Doubted {
        /// The host, and what.
        doubt: Doubt,
    },
    /// A command of the parameter file is started.
    Command {
        /// The line for the shell.
        line: String,
    },
    /// It printed a line.
    Printed {
        /// Where the line goes.
        to: OutputOf,
        /// The line.
        line: String,
    },
    /// So many bytes end the run.
    LimitReached {
        /// The keyword that says so.
        limit: String,
    },
    /// The monitor file ends the run.
    MonitorEndsRun,
    /// The monitor file ends the execution.
    MonitorEndsAll,
    /// A run is left out, for its rate would be 0.
    LeftOut {
        /// Its name.
        run: String,
    },
    /// Response times are greater than `stopcurve` allows: the execution ends.
    CurveEnds,
}

impl Reported {
    /// In English, as it is stored.
    pub(super) fn noted(host: &str, said: &Phrase) -> Self {
        Self::Noted { host: host.to_owned(), text: said.to_string() }
    }

    /// What is said at once of a doubt about a host.
    pub(super) fn doubted(doubt: &Doubt) -> Option<Self> {
        let Doubt::OnHost { doubt: on_host, .. } = doubt else { return None };
        let is_said = matches!(**on_host, Doubt::ClockStepped { .. });
        is_said.then(|| Self::Doubted { doubt: doubt.clone() })
    }
}

/// What happened around one run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Course {
    /// Since the run before it.
    pub before: Vec<Reported>,
    /// Why it ended before its time.
    pub end: Option<Reported>,
    /// Whether the user stopped it.
    pub is_stopped: bool,
}

impl Course {
    /// As a raw output.
    pub(super) fn file(&self) -> (String, Vec<u8>) {
        let text = serde_json::to_vec(self).expect("names and numbers are JSON");
        (COURSE.to_owned(), text)
    }

    /// From a raw output; nothing where there is none.
    pub(super) fn read(bytes: Option<Vec<u8>>) -> Self {
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }
}
