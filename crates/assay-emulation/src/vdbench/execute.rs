//! Executes the runs of a parameter file with Vdbench's console output and folder, and stores them.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_dialects::vdbench::output::{self, flat_file};
use assay_dialects::vdbench::{self, VdbenchExecution, VdbenchInput};
use assay_model::event::RequestedCommand;
use assay_model::path_text;
use assay_run::failure::CommandFailure;
use assay_run::recording::RecordingRequest;
use assay_run::storage::options::RunOptions;
use assay_run::storage::runner;
use assay_run::storage::shares::storage_hosts::StorageHosts;
use assay_run::storage::vdbench::outcome::{TimedVdbenchEvent, VdbenchOpening, now_us};
use assay_run::storage::vdbench::repeat::RunRepetition;
use assay_run::storage::vdbench::{self as driver, VdbenchRequest};
use assay_run::storage::volume;

use super::CompiledSources;
use super::output_folder::OutputFolder;
use super::report::VdbenchReport;
use crate::options::vdbench::VdbenchArguments;
use crate::store_access;
use crate::terminal::Terminal;
use assay_console::options::command_arguments;
use assay_console::progress_listener::EmulationListener;

/// Differences that users of Vdbench need to know to interpret the results.
const DIFFERENCES: [&str; 11] = [
    "response times are from submission to completion, as Vdbench's; with a rate, times from the intended \
     start are also printed",
    "o_sync and o_rsync mean O_SYNC; Vdbench uses O_DSYNC",
    "files that the first run writes from start to end (seekpct=eof) are not written once before",
    "random offsets have 64 bits; Vdbench's 32768 values leave blocks of large files untouched",
    "one process does all I/O; jvms= has no effect",
    "hosts are reached by ssh regardless of shell=, or by --via; no port is opened on them",
    "an SD that several hosts use has its threads= on each of them",
    "a full queue at one SD does not hold up the others",
    "the histogram leaves the warm-up out; Vdbench counts it",
    "a rate that is not reached is reported",
    "pages of single SDs and WDs contain averages over the measured time",
];

/// Returns the options of the run that the user set.
pub(super) fn run_options(
    typed: &VdbenchArguments,
    execution: &VdbenchExecution,
) -> RunOptions {
    RunOptions {
        destroy_data: typed.destroy_data.clone(),
        target_on_root: typed.target_on_root,
        keep: true,
        writers_make_files: driver::first_run_fills_all(&execution.plan),
        store: typed.keep.store.folder.clone(),
        ..RunOptions::default()
    }
}

/// Executes the runs, on `hosts` if they are remote. Returns the exit code.
pub(super) fn execute(
    typed: &VdbenchArguments,
    (input, execution): (&VdbenchInput, &VdbenchExecution),
    (inputs, hosts): (&CompiledSources, Option<&mut StorageHosts<'_>>),
    stop: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let store = store_access::open_for_recording(&typed.keep)?;
    let folder = OutputFolder::create(&typed.output)?;
    let output = folder.path.clone();
    let options = run_options(typed, execution);
    if hosts.is_none() {
        for message in volume::describe_volumes(&execution.plan, &execution.files) {
            terminal.note(&message.to_string());
        }
    }
    let opening_pages = opening_pages((input, execution), inputs, &output);
    let mut report = VdbenchReport::new(folder, terminal, &opening_pages);
    write_opening(&mut report, &opening_pages);
    let files = inputs.files.iter();
    let files = files.map(|(path, bytes)| (path_text::encode(path.as_os_str()), bytes.clone()));
    let request = VdbenchRequest {
        execution,
        repeat: RunRepetition::parse(typed.again.as_ref())?.or_from_files(execution.repetition),
        options: options.clone(),
        output: &output,
        opening_pages,
        opening: RecordingRequest {
            plan: driver::plan(execution),
            asked: RequestedCommand {
                language: driver::LANGUAGE.to_owned(),
                words: command_arguments(),
            },
            label: typed.keep.label.clone(),
            files: files.collect(),
            store: store.as_ref(),
        },
    };
    let mut quiet = EmulationListener::new(&typed.keep);
    let mut handle_event = |event: &TimedVdbenchEvent| report.handle_event(event);
    let verdict = driver::run_all((&request, &mut quiet), hosts, stop, &mut handle_event);
    if typed.test.is_some() {
        // Vdbench's installation test leaves no files behind.
        runner::remove_created(&options)?;
    }
    let verdict = verdict.and(runner::finish(&options));
    write_closing(report, verdict.is_ok())?;
    for directory in verdict? {
        terminal.note(&format!("{} kept: {}", directory.display(), runner::OTHERS_FILES));
    }
    Ok(0)
}

/// Writes the final lines of all pages and the console, and checks for write errors.
pub(super) fn write_closing(
    mut report: VdbenchReport<'_>,
    is_complete: bool,
) -> Result<(), CommandFailure> {
    report.folder.check_errors()?;
    let verdict = match is_complete {
        true => "Vdbench execution completed successfully.",
        false => "Vdbench execution abnormally terminated.",
    };
    let output = report.folder.path.display().to_string();
    report.write_status("Shutting down slaves", None);
    report.write_status("Vdbench complete", None);
    report.print_timed(&format!("{verdict} Output directory: {output}"));
    Ok(())
}

/// Writes all pages up to the first run.
pub(super) fn write_opening(report: &mut VdbenchReport<'_>, opening: &VdbenchOpening) {
    let heading = match opening.is_on_trees {
        true => output::files::flat_heading(),
        false => flat_file::heading(),
    };
    report.write_heads();
    report.folder.flat_file.write_text(&heading);
    for (path, text) in &opening.files {
        report.folder.parameters.write_text(&format!("* {path}"));
        report.folder.parameters.write_text(text);
    }
    // Parameter files once more, line by line.
    report.folder.scan.write_text(&opening.scan);
    report.folder.log.write_text("Differences from Vdbench:");
    for difference in DIFFERENCES {
        report.folder.log.write_text(&format!("- {difference}"));
    }
    for note in &opening.notes {
        report.folder.log.write_text(note);
    }
    report.write_status("Starting slaves", None);
    report.write_status("Slaves connected", None);
}

/// Returns the part of the output that is known before the first run.
fn opening_pages(
    (input, execution): (&VdbenchInput, &VdbenchExecution),
    inputs: &CompiledSources,
    folder: &Path,
) -> VdbenchOpening {
    let is_distributed = !execution.host_indices.is_empty();
    let hosts = execution.hosts.iter().filter(|_| is_distributed);
    let files = inputs.files.iter();
    VdbenchOpening {
        began_us: now_us(),
        output: folder.display().to_string(),
        runs: execution.runs.clone(),
        hosts: hosts.map(|host| host.label.clone()).collect(),
        is_on_trees: !execution.files.phases.is_empty(),
        operation_columns: output::files::table_operations(&execution.files),
        files: files
            .map(|(path, bytes)| {
                (path.display().to_string(), String::from_utf8_lossy(bytes).into_owned())
            })
            .collect(),
        scan: inputs.with_env(|env| vdbench::scan(input, env)),
        notes: execution.notes.iter().map(ToString::to_string).collect(),
    }
}
