//! Parser of the IO500 measure of a suite.

use std::path::PathBuf;

use super::super::MeasureRequest;
use super::super::io500::Io500Request;
use super::{ParseResult, Table, Value, count, error_at, seconds, size, text_value};
use crate::quantity::Bytes;
use crate::workload::io500::{IOR_EASY_TRANSFER, VALID_STONEWALL_S};

pub(super) const KEYS: &[&str] = &[
    "path",
    "threads",
    "stonewall",
    "ior-easy-size",
    "ior-hard-segments",
    "mdtest-easy-files",
    "mdtest-hard-files",
];

/// Limits of IO500, which no system reaches within the stonewall.
const IOR_EASY_SIZE: Bytes = Bytes(9_920_000 << 20);
const IOR_HARD_SEGMENTS: u32 = 10_000_000;
const MDTEST_FILES: u32 = 1_000_000;

pub(super) fn request(table: &Table<'_>) -> ParseResult<MeasureRequest> {
    let files = |key| Ok(table.optional(key, count)?.unwrap_or(MDTEST_FILES));
    Ok(MeasureRequest::Io500(Io500Request {
        folder: table.optional("path", text_value)?.map(PathBuf::from),
        tasks: table.optional("threads", count)?,
        stonewall_s: table.optional("stonewall", whole_seconds)?.unwrap_or(VALID_STONEWALL_S),
        ior_easy_size: table.optional("ior-easy-size", easy_size)?.unwrap_or(IOR_EASY_SIZE),
        ior_hard_segments: table
            .optional("ior-hard-segments", count)?
            .unwrap_or(IOR_HARD_SEGMENTS),
        mdtest_files: (files("mdtest-easy-files")?, files("mdtest-hard-files")?),
    }))
}

/// Parses the size of a task of ior-easy, which has whole transfers.
fn easy_size(value: &Value<'_>) -> ParseResult<Bytes> {
    let given = size(value)?;
    if given.0 >= IOR_EASY_TRANSFER {
        return Ok(given);
    }
    let minimum = Bytes(IOR_EASY_TRANSFER);
    let what =
        format!("a task of ior-easy writes at least one transfer of {minimum}, not {given}");
    Err(error_at(value, what, Some(format!("give {minimum} or more, or omit the value"))))
}

/// Parses a number of whole seconds, which is the unit of IOR's and mdtest's deadlines.
fn whole_seconds(value: &Value<'_>) -> ParseResult<u32> {
    let given = seconds(value)?;
    let is_whole = given.fract() == 0.0 && (1.0..=86_400.0).contains(&given);
    if is_whole {
        return Ok(given as u32);
    }
    let help = Some("give whole seconds up to a day, like \"300s\"".to_owned());
    Err(error_at(value, "a stonewall has whole seconds".to_owned(), help))
}
