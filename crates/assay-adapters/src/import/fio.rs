//! Import of fio's results.

use super::{FileContents, ImportFormat, format};

mod json;
pub(super) mod options;
mod text;

/// Formats of this family.
pub(super) const FORMATS: &[ImportFormat] = &[
    format("fio-json", "fio", "fio --output-format=json or json+", json::is_fio_json, |text| {
        json::read_fio_json(text).map(FileContents::from)
    }),
    format("fio-text", "fio", "fio's text output", text::is_fio_text, |text| {
        text::read(text).map(FileContents::from)
    }),
];
