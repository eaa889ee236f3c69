//! The machine-readable result of a command that measures by itself and stores no run.

use assay_fleet::facts;
use assay_fleet::root::Root;
use assay_model::event::Status;
use assay_model::summary::{Estimate, RunHead, SCHEMA, Summary, Tool};
use assay_model::warning::Warning;
use jiff::Timestamp;

/// What is known besides the results.
#[derive(Debug)]
pub struct Unstored {
    /// Stands where a run has its suite: `mpi latency`, `ping`.
    pub suite: String,
    pub started: Timestamp,
    /// Whether all that was asked for was measured.
    pub complete: bool,
    pub warnings: Vec<Warning>,
}

impl Unstored {
    /// The document, with results that are told the name of this host. It ends now.
    pub fn summary(self, results: impl FnOnce(&str) -> Vec<Estimate>) -> Summary {
        let host = facts::read(&Root::machine());
        Summary {
            schema: SCHEMA,
            run: RunHead {
                id: assay_store::new_run_id(self.started, std::process::id() as u16),
                label: None,
                suite: self.suite,
                started: self.started.to_string(),
                finished: Some(Timestamp::now().to_string()),
                status: if self.complete { Status::Complete } else { Status::Failed },
            },
            results: results(&host.name),
            hosts: vec![host],
            failures: Vec::new(),
            warnings: self.warnings,
        }
    }
}

/// Who measured.
pub fn this_program() -> Tool {
    Tool { name: "assay".to_owned(), version: Some(env!("CARGO_PKG_VERSION").to_owned()) }
}
