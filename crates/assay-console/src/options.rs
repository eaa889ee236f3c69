//! Options that commands of every kind take: where runs are stored, and whether.

#![expect(clippy::doc_markdown, reason = "the comments are help texts, printed as they are")]

use std::path::PathBuf;

use assay_model::path_text;
use assay_model::quantity::{self, Quantity, Unit};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

/// Where runs are stored.
#[derive(Debug, Args)]
pub struct StoreArguments {
    /// Folder of the stored runs [default: $XDG_DATA_HOME/assay or ~/.local/share/assay]
    #[arg(long = "store", value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// Whether and where a command that speaks a tool's language keeps what it measured.
#[derive(Debug, Args)]
pub struct KeepArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    /// Do not store the run
    #[arg(long, conflicts_with = "folder")]
    pub no_store: bool,
    /// Label of the condition, for `assay compare`
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
}

/// A length of time with its unit.
///
/// # Errors
/// A sentence for whoever typed it.
pub fn seconds(text: &str) -> Result<f64, String> {
    let quantity = Quantity::parse(text, Unit::Second).map_err(|error| error.to_string())?;
    // A bare number would be ambiguous between seconds and minutes for a reader of a script.
    if text.trim().ends_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("`{text}` has no unit; write it like `{text}s`"));
    }
    if quantity.value > 0.0 && quantity.value <= quantity::LONGEST_S {
        Ok(quantity.value)
    } else {
        Err("it must be more than zero and at most a year".into())
    }
}

/// A time of which nobody means seconds: of one I/O, of a round trip.
///
/// # Errors
/// A sentence for whoever typed it.
pub fn milliseconds(text: &str) -> Result<f64, String> {
    let unit = |reason: String| reason.replace(&format!("`{text}s`"), &format!("`{text}ms`"));
    seconds(text).map_err(unit)
}

/// A word that may name a file, or have a name in it, whose bytes may be no text: as [`path_text`] makes one.
pub fn word() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|word| path_text::text(&word))
}

/// Everything behind the name of the program, as it was typed: what repeats a run.
pub fn typed_words() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| path_text::text(&word)).collect()
}

/// The words after the command, as they were given, for a run that can be rendered again.
pub fn given_words() -> Vec<String> {
    std::env::args_os().skip(2).map(|word| path_text::text(&word)).collect()
}
