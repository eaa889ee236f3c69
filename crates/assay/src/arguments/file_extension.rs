//! Output format by the file extension of `-o FILE`, the same for every command.
//!
//! Never opens the file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use assay_model::path_text;
use assay_run::failure::CommandFailure;
use clap::{ArgMatches, Command, CommandFactory as _, FromArgMatches as _, ValueEnum};

use super::Arguments;

/// Extensions with the format that each names. The first of several is the recommended one.
const EXTENSIONS: [(&str, &str); 11] = [
    ("txt", "text"),
    ("text", "text"),
    ("log", "text"),
    ("out", "text"),
    ("md", "markdown"),
    ("html", "html"),
    ("htm", "html"),
    ("svg", "svg"),
    ("csv", "csv"),
    ("json", "json"),
    ("sarif", "sarif"),
];

/// Extensions of files that only exports have, each with its format.
const EXPORT_EXTENSIONS: [(&str, &str); 7] = [
    ("jsonl", "jsonl"),
    ("ndjson", "jsonl"),
    ("json", "bencher"),
    ("parquet", "parquet"),
    ("prom", "openmetrics"),
    ("om", "openmetrics"),
    ("lp", "influx"),
];

/// Rejects a file for an export whose extension names another format. A text file, or one with an
/// unknown extension, may hold any format.
///
/// # Errors
/// Such a file.
pub(crate) fn check_export_file(format: &str, file: &Path) -> Result<(), CommandFailure> {
    let Some(ending) = extension(file) else { return Ok(()) };
    let of_ending = |(known, _): &(&str, &str)| *known == ending;
    let of_export = EXPORT_EXTENSIONS.into_iter().find(of_ending);
    let Some((_, other)) = of_export.or_else(|| find_extension(&ending)) else { return Ok(()) };
    if other == format || other == "text" {
        return Ok(());
    }
    let what = format!(
        "the file extension `.{ending}` of {} does not fit the format {format}",
        path_text::encode(file.as_os_str())
    );
    let is_exported = EXPORT_EXTENSIONS.iter().any(|(_, it)| *it == other) || other == "csv";
    Err(CommandFailure::usage(what).advise(match is_exported {
        true => format!("rename the file, or use `assay export {other}`"),
        false => "rename the file; `assay report` writes pages".to_owned(),
    }))
}

/// Returns the format of the file's extension, if the command supports it.
pub(super) fn format_from_extension<F: ValueEnum>(file: &Path) -> Option<F> {
    let (_, format) = find_extension(&extension(file)?)?;
    F::from_str(format, false).ok()
}

/// Parses the command line. The inner result is a failure if the output file's extension is
/// rejected.
///
/// # Errors
/// Words that are not a valid command line.
pub(crate) fn parse_arguments(
    words: &[OsString],
) -> Result<Result<Arguments, CommandFailure>, clap::Error> {
    let mut command = Arguments::command();
    let mut matches = command.try_get_matches_from_mut(words)?;
    let checked = check_extension(&command, &matches);
    let typed = Arguments::from_arg_matches_mut(&mut matches);
    let typed = typed.map_err(|error| error.format(&mut command))?;
    Ok(checked.map(|()| typed))
}

/// Rejects a file whose extension matches no format of the command, unless an option sets the
/// format. A file without an extension may hold any format.
///
/// # Errors
/// Such a file.
fn check_extension(command: &Command, typed: &ArgMatches) -> Result<(), CommandFailure> {
    if let Some((name, typed)) = typed.subcommand() {
        let below = command.find_subcommand(name);
        return below.map_or(Ok(()), |command| check_extension(command, typed));
    }
    let Some(formats) = command.get_arguments().find(|it| it.get_id() == "format") else {
        return Ok(());
    };
    let formats: Vec<String> =
        formats.get_possible_values().iter().map(|it| it.get_name().to_owned()).collect();
    let is_named = |id| matches!(typed.try_get_raw(id), Ok(Some(_)));
    let is_json = matches!(typed.try_get_one::<bool>("json"), Ok(Some(true)));
    let Ok(Some(file)) = typed.try_get_one::<PathBuf>("output") else { return Ok(()) };
    // The output format of a tool has no extension of its own.
    if is_json || is_named("format") || is_named("shape") {
        return Ok(());
    }
    let Some(ending) = extension(file) else { return Ok(()) };
    let is_format = |format: &str| formats.iter().any(|it| it == format);
    if find_extension(&ending).is_some_and(|(_, format)| is_format(format)) {
        return Ok(());
    }
    let what = format!(
        "no format has the file extension `.{ending}` of {}",
        path_text::encode(file.as_os_str())
    );
    Err(CommandFailure::usage(what).advise(format!(
        "use {}, or set the format of any file with --format",
        list_extensions(&formats)
    )))
}

fn find_extension(ending: &str) -> Option<(&'static str, &'static str)> {
    EXTENSIONS.into_iter().find(|(known, _)| *known == ending)
}

fn extension(file: &Path) -> Option<String> {
    file.extension()?.to_str().map(str::to_ascii_lowercase)
}

/// Lists extensions, such as `.txt, .md or .json`, in the order of the formats.
fn list_extensions(formats: &[String]) -> String {
    let first = |format: &String| EXTENSIONS.into_iter().find(|(_, its)| its == format);
    let endings: Vec<String> =
        formats.iter().filter_map(first).map(|(ending, _)| format!(".{ending}")).collect();
    match endings.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("{} or {last}", others.join(", "))
        }
        _ => endings.concat(),
    }
}
