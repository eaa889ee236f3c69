//! `assay export`: writes the results of stored runs for other programs.

use std::path::Path;

use assay_archive::export::{ExportRequest, RunExport};
use assay_report::export::{ExportFormat, ExportedFiles};

use crate::arguments::export::ExportArguments;
use crate::arguments::file_extension;
use crate::failure::exit_code;
use crate::terminal::Terminal;
use crate::{output_file, run_names, signals, store_access};
use assay_run::failure::{CommandFailure, FailureKind};

pub(crate) fn export(
    typed: &ExportArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    check_output(typed)?;
    let request = ExportRequest {
        store: store_access::location(&typed.store),
        filter: typed.filter.selection(),
        names: typed.runs.clone(),
        only_latest: typed.latest,
        format: typed.export_format(),
    };
    if !typed.follow {
        let exported = request.export().map_err(|failure| {
            typed.runs.iter().fold(failure, |it, name| run_names::advise_about_name(it, name))
        })?;
        return write_export(exported, typed, terminal);
    }
    let cancel = signals::cancel_on_signals()?;
    request.follow(&cancel, &mut |exported| match exported {
        Ok(exported) => write_export(exported, typed, terminal).map(drop),
        Err(failure) => {
            terminal.note(&failure.to_string());
            Ok(())
        }
    });
    Ok(0)
}

/// Writes an export and prints its warnings; returns the exit code.
fn write_export(
    exported: RunExport,
    typed: &ExportArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    exported.warnings.iter().for_each(|warning| terminal.note(warning));
    write_files(exported.files, typed, terminal)?;
    if exported.left_out > 0 {
        terminal.note(&format!(
            "warning: {} results are left out: without a value or a time, or a second one of a series at the same time",
            exported.left_out
        ));
    }
    Ok(if exported.is_whole { 0 } else { exit_code(FailureKind::Measurement) })
}

/// Checks before reading that the output can be written.
fn check_output(typed: &ExportArguments) -> Result<(), CommandFailure> {
    if let Some(file) = &typed.output {
        file_extension::check_export_file(&typed.format_name(), file)?;
    }
    match (typed.export_format(), typed.output.as_deref()) {
        (ExportFormat::Parquet, None) => {
            Err(CommandFailure::usage("parquet needs a folder for its three files")
                .advise("name it: `assay export parquet -o DIR`"))
        }
        (ExportFormat::Parquet, Some(folder)) => {
            std::fs::create_dir_all(folder).map_err(|error| {
                CommandFailure::usage(format!("cannot create the folder {}", folder.display()))
                    .with_cause(&error)
                    .advise("parquet writes three files; name a folder for them")
            })
        }
        (_, Some(file)) => output_file::check_writable(file),
        (_, None) => Ok(()),
    }
}

fn write_files(
    files: ExportedFiles,
    typed: &ExportArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    match (files, typed.output.as_deref()) {
        (ExportedFiles::Text(text), Some(file)) => output_file::write(file, text),
        (ExportedFiles::Text(text), None) => {
            terminal.print(&text);
            Ok(())
        }
        (ExportedFiles::Files(files), folder) => {
            let folder = folder.unwrap_or(Path::new("."));
            files
                .iter()
                .try_for_each(|(name, bytes)| output_file::write(&folder.join(name), bytes))
        }
    }
}
