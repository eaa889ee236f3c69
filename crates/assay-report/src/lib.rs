//! From values to documents, and from documents to text, Markdown, HTML, CSV and JSON.
//!
//! [`build`] turns a summary, a plan, a list of runs or findings into a neutral
//! [`document::Document`]; [`render`] writes a document in one format. CSV and JSON are written
//! from the summary itself, because they are for programs. [`words`] holds what identifiers mean to
//! people: this crate alone owns them. [`anonymous`] takes out of a run what tells whose it is.
//!
//! This crate never runs, measures or opens anything, and never decides what a number means.

/// The text of a message of the catalogue, with its variables by name.
macro_rules! say {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        crate::locale::said(
            $id,
            &[$((stringify!($name), crate::locale::Argument::from($value))),*],
        )
    };
}

pub mod anonymous;
pub mod build;
pub mod document;
pub mod locale;
mod plot;
pub mod precision;
pub mod progress;
pub mod render;
pub mod units;
pub mod words;
