//! `--data-sheet FILE`: compares results with the limits of a device's data sheet.

use std::path::{Path, PathBuf};

use assay_claims::reference::{self, Claim};
use assay_model::run::Run;
use assay_model::summary::RunSummary;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_stats::summarize::{apply_data_sheet, summarize};
use clap::Args;

use crate::job_file;

/// Option for the limits of a data sheet.
#[derive(Debug, Args)]
pub(crate) struct DataSheetArguments {
    /// Compare rates with the limits of a device's data sheet: the limit entries of a file of
    /// references
    #[arg(long, value_name = "FILE")]
    data_sheet: Option<PathBuf>,
}

impl DataSheetArguments {
    /// Whether a file was given.
    pub(crate) const fn is_given(&self) -> bool {
        self.data_sheet.is_some()
    }

    /// Reads the limits of the file; none without a file.
    ///
    /// # Errors
    /// A file that cannot be read or has no limits.
    pub(crate) fn read(&self) -> Result<DataSheet, CommandFailure> {
        let limits = self.data_sheet.as_deref().map(read_limits).transpose()?;
        Ok(DataSheet(limits.unwrap_or_default()))
    }
}

/// Limits of a data sheet, given by the user.
pub(crate) struct DataSheet(Vec<Claim>);

impl DataSheet {
    /// Summarizes a run with these limits.
    pub(crate) fn summarize(&self, run: &Run) -> RunSummary {
        let mut summary = summarize(run);
        for estimate in &mut summary.results {
            if let Some(limit) = reference::data_sheet_limit(estimate, &self.0) {
                apply_data_sheet(estimate, limit);
            }
        }
        summary
    }
}

fn read_limits(file: &Path) -> Result<Vec<Claim>, CommandFailure> {
    let text =
        job_file::read_text(file).map_err(|error| job_file::unreadable_error(file, &error))?;
    reference::parse_limits(&text).map_err(|error| {
        let name = file.display().to_string();
        let failure = CommandFailure::new(
            FailureKind::Suite,
            format!("{name} is not a valid data sheet"),
        )
        .with_cause(&error)
        .advise("see docs/references.md: [[limit]] with metric and value = \"6.9 GB/s\"");
        match error.place() {
            Some(place) => failure.at_span(&name, &text, place.span.clone()),
            None => failure,
        }
    })
}
