//! Turns values into documents, and renders documents as text, Markdown, HTML, CSV and JSON.
//!
//! [`build`] turns a summary, a plan, a list of runs or findings into a neutral
//! [`document::Document`]; [`render`] writes a document in one format. CSV and JSON are written
//! from the summary itself, because programs read them. [`export`] writes many runs for databases
//! and notebooks, [`site`] renders the pages of a site of all runs. [`words`] is the only place with
//! the texts of identifiers. [`anonymous`] removes from a run everything that identifies its owner.
//!
//! This crate never runs, measures or opens anything, and never judges results.

/// Formats a message of the catalogue in the current language, with named variables.
macro_rules! message {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        crate::locale::format_message(
            $id,
            &[$((stringify!($name), crate::locale::Argument::from($value))),*],
        )
    };
}

pub mod anonymous;
pub mod build;
pub mod document;
pub mod export;
mod first_seen;
pub mod io500;
pub mod locale;
mod plot;
pub mod precision;
pub mod progress;
pub mod render;
pub mod site;
pub mod units;
pub mod words;
