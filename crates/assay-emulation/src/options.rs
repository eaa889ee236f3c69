//! Command-line options of emulated tools, and parsing of a stored run's words.

#![expect(clippy::doc_markdown, reason = "the comments are help texts, printed as they are")]

use std::ffi::OsString;

use assay_model::event::RequestedCommand;
use assay_model::path_text;
use assay_run::failure::Failure;
use clap::{Args, Parser};

pub mod fio;
pub mod ior;
pub mod network;
pub mod vdbench;

/// Parser of a single command.
#[derive(Debug, Parser)]
struct Alone<T: Args> {
    #[command(flatten)]
    typed: T,
}

/// Parses the words of a stored run.
///
/// # Errors
/// Words that this version of the command does not support.
pub fn asked<T: Args>(command: &str, asked: &RequestedCommand) -> Result<T, Failure> {
    let words = ["assay", command].into_iter().chain(asked.words.iter().map(String::as_str));
    let words = network::spelled_out(words.map(path_text::decode_word).collect());
    let words = words.into_iter().skip(1).collect::<Vec<OsString>>();
    Alone::try_parse_from(words).map(|alone: Alone<T>| alone.typed).map_err(|error| {
        Failure::measurement(format!("what was asked of assay {command} is not understood"))
            .because(&error)
            .advise("leave out --as for assay's own report; the assay that stored it understands it")
    })
}
