//! Executes the runs of a parameter file with Vdbench's console output and folder, and stores them.

use std::sync::atomic::AtomicBool;

use assay_dialects::vdbench::output::{self, flat_file};
use assay_dialects::vdbench::{self, VdbenchExecution, VdbenchInput};
use assay_model::event::RequestedCommand;
use assay_run::failure::Failure;
use assay_run::recording::Opening;
use assay_run::storage::options::RunOptions;
use assay_run::storage::runner;
use assay_run::storage::shares::sharers::Sharers;
use assay_run::storage::vdbench::repeat::Repeat;
use assay_run::storage::vdbench::{self as driver, Question};
use assay_run::storage::volume;

use super::Found;
use super::again::Kept;
use super::folder::Folder;
use super::report::Report;
use crate::options::vdbench::VdbenchArguments;
use crate::stored;
use crate::terminal::Terminal;
use assay_console::listening::Silently;
use assay_console::options::given_words;

/// Differences that users of Vdbench need to know to interpret the results.
const DIFFERENCES: [&str; 11] = [
    "response times are from submission to completion, as Vdbench's; with a rate, times from the intended \
     start are told beside them",
    "o_sync and o_rsync mean O_SYNC; Vdbench makes O_DSYNC of them",
    "files that the first run writes from start to end (seekpct=eof) are not written once before",
    "random offsets have 64 bits; Vdbench's 32768 values leave blocks of large files untouched",
    "one process does all I/O; jvms= has no effect",
    "hosts are reached by ssh whatever shell= says, or by --via; nothing listens there",
    "an SD that several hosts use has its threads= on each of them",
    "a full queue at one SD does not hold up the others",
    "the histogram leaves the warm-up out; Vdbench counts it",
    "a rate that is not reached is said so",
    "pages of single SDs and WDs hold averages over all time that counts",
];

/// Returns the options of the run that the user set.
pub(super) fn allowed(typed: &VdbenchArguments, execution: &VdbenchExecution) -> RunOptions {
    RunOptions {
        destroy_data: typed.destroy_data.clone(),
        target_on_root: typed.target_on_root,
        keep: true,
        writers_make_files: driver::first_run_fills_all(&execution.plan),
        store: typed.keep.store.folder.clone(),
        ..RunOptions::default()
    }
}

/// Executes the runs.
pub(super) fn execute(
    typed: &VdbenchArguments,
    (input, execution): (&VdbenchInput, &VdbenchExecution),
    (found, hosts): (&Found, Option<&mut Sharers<'_>>),
    stop: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let store = stored::kept(&typed.keep)?;
    let folder = Folder::make(&typed.output)?;
    let output = folder.path.clone();
    let options = allowed(typed, execution);
    if hosts.is_none() {
        for said in volume::reported(&execution.plan, &execution.files) {
            terminal.note(&said.to_string());
        }
    }
    let mut report = Report::new(folder, terminal, execution);
    open(&mut report, (input, execution), found);
    let question = Question {
        execution,
        repeat: Repeat::read(typed.again.as_ref())?.or(execution.repetition),
        options: options.clone(),
        output: &output,
        opening: Opening {
            plan: driver::plan(execution),
            asked: RequestedCommand {
                language: driver::LANGUAGE.to_owned(),
                words: given_words(),
            },
            label: typed.keep.label.clone(),
            files: Kept::files(input, found)?,
            store: store.as_ref(),
        },
    };
    let mut quiet = Silently::beside(&typed.keep);
    let mut on = |notice: driver::Notice<'_>| report.notice(&notice);
    let verdict = driver::carry_out((&question, &mut quiet), hosts, stop, &mut on);
    if typed.test.is_some() {
        // Vdbench's installation test leaves no files behind.
        runner::remove_made(&options)?;
    }
    runner::finish(&options)?;
    close(report, verdict.is_ok())?;
    verdict.map(|()| 0)
}

/// Writes the final lines.
pub(super) fn close(mut report: Report<'_>, is_well: bool) -> Result<(), Failure> {
    report.folder.failure()?;
    let words = match is_well {
        true => "Vdbench execution completed successfully.",
        false => "Vdbench execution abnormally terminated.",
    };
    let output = report.folder.path.display().to_string();
    report.status("Shutting down slaves", None);
    report.status("Vdbench complete", None);
    report.say_now(&format!("{words} Output directory: {output}"));
    Ok(())
}

/// Writes the pages up to the first run.
pub(super) fn open(
    report: &mut Report<'_>,
    (input, execution): (&VdbenchInput, &VdbenchExecution),
    found: &Found,
) {
    let heading = match execution.files.phases.is_empty() {
        true => flat_file::heading(),
        false => output::files::flat_heading(),
    };
    report.heads();
    report.folder.flat_file.line(&heading);
    for (path, bytes) in &found.files {
        report.folder.parameters.line(&format!("* {}", path.display()));
        report.folder.parameters.line(&String::from_utf8_lossy(bytes));
    }
    // Parameter files once more, line by line.
    let scan = found.surround(|around| vdbench::scan(input, around));
    report.folder.scan.line(&scan);
    report.folder.log.line("Differences from Vdbench:");
    for difference in DIFFERENCES {
        report.folder.log.line(&format!("- {difference}"));
    }
    for note in &execution.notes {
        report.folder.log.line(&note.to_string());
    }
    report.status("Starting slaves", None);
    report.status("Slaves connected", None);
}
