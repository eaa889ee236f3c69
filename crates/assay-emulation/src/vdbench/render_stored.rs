//! Renders a stored run as Vdbench's console output and folder.
//!
//! The stored parameter files are compiled again, with the stored sizes of files and devices.

use assay_dialects::vdbench;
use assay_model::event::RunStatus;
use assay_model::run::Run;
use assay_run::failure::CommandFailure;
use assay_run::storage::vdbench::{self as driver, VdbenchEvent};
use assay_store::Store;

use super::execute::{write_closing, write_opening};
use super::output_folder::OutputFolder;
use super::report::VdbenchReport;
use super::report_diagnostics;
use super::stored_input::StoredInput;
use crate::terminal::Terminal;

/// Prints the console output of a stored run and writes its folder to `output`.
pub fn render_stored(
    run: &Run,
    store: &Store,
    output: Option<&str>,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let (input, compile_inputs) = StoredInput::read(run, store)?;
    let execution = compile_inputs
        .with_env(|env| vdbench::compile_files(&input, env))
        .map_err(|diagnostics| report_diagnostics(&diagnostics, terminal))?;
    let folder = output.map_or_else(OutputFolder::discard, OutputFolder::create)?;
    let mut report = VdbenchReport::new(folder, terminal, &execution);
    if let Ok(start_time) = run.started.started.parse() {
        report.handle_event(&VdbenchEvent::Time(start_time));
    }
    write_opening(&mut report, (&input, &execution), &compile_inputs);
    let raw = |hash: &str| store.read_raw(hash).ok();
    driver::replay(run, &execution, &raw, &mut |notice| report.handle_event(&notice))?;
    write_closing(report, run.status == RunStatus::Complete)
}
