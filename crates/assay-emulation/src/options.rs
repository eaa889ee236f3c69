//! Command-line options of emulated tools, and parsing of a stored run's words.

#![expect(clippy::doc_markdown, reason = "the comments are help texts, printed as they are")]

use std::ffi::OsString;

use assay_model::event::RequestedCommand;
use assay_model::path_text;
use assay_run::failure::CommandFailure;
use clap::{Args, Parser};

pub mod fio;
pub mod ior;
pub mod network;
pub mod vdbench;

/// Parser of a single command.
#[derive(Debug, Parser)]
struct SingleCommand<T: Args> {
    #[command(flatten)]
    typed: T,
}

/// Parses the words of a stored run.
///
/// # Errors
/// Words that this version of the command does not support.
pub fn parse_stored<T: Args>(
    command: &str,
    stored: &RequestedCommand,
) -> Result<T, CommandFailure> {
    let words = ["assay", command].into_iter().chain(stored.words.iter().map(String::as_str));
    let words = network::normalize_qperf_words(words.map(path_text::decode_word).collect());
    let words = words.into_iter().skip(1).collect::<Vec<OsString>>();
    SingleCommand::try_parse_from(words).map(|alone: SingleCommand<T>| alone.typed).map_err(|error| {
        CommandFailure::measurement(format!("cannot parse the stored command of assay {command}"))
            .with_cause(&error)
            .advise("leave out --as for assay's own report, or use the version of assay that stored it")
    })
}
