//! Renders a stored run as Vdbench's console output and folder.

use assay_model::run::Run;
use assay_run::failure::CommandFailure;
use assay_run::storage::vdbench::outcome::VdbenchOutcome;
use assay_run::stored_outcome;
use assay_store::Store;

use super::execute::{write_closing, write_opening};
use super::output_folder::OutputFolder;
use super::report::VdbenchReport;
use crate::terminal::Terminal;

/// Prints the console output of a stored run and writes its folder to `output`.
///
/// # Errors
/// The outcome of the run cannot be read, or the folder cannot be written.
pub fn render_stored(
    run: &Run,
    store: &Store,
    output: Option<&str>,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let VdbenchOutcome { opening, events, is_complete } = stored_outcome::read(run, store)?;
    let folder = match output {
        Some(path) => OutputFolder::create(path)?,
        None => OutputFolder::discard(&opening.output)?,
    };
    let mut report = VdbenchReport::new(folder, terminal, &opening);
    write_opening(&mut report, &opening);
    events.iter().for_each(|event| report.handle_event(event));
    write_closing(report, is_complete)
}
