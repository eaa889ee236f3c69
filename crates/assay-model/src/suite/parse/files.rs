//! Parser of the file-tree measures of a suite.

use std::path::PathBuf;

use super::super::MeasureRequest;
use super::super::files::{FileStep, FilesRequest};
use super::storage::{flag, one_of};
use super::{
    ParseResult, Table, Value, count, error_at, list_of, positive, seconds, size, suggest,
    text_value,
};
use crate::quantity::Bytes;

pub(super) const KEYS: &[&str] = &[
    "path",
    "levels",
    "width",
    "files",
    "size",
    "operations",
    "threads",
    "bs",
    "pattern",
    "rate",
    "length",
    "sync",
];

const ORDERS: &[(&str, bool)] = &[("sequential", false), ("random", true)];

pub(super) fn request(table: &Table<'_>) -> ParseResult<MeasureRequest> {
    let number = |value: &Value<'_>| count(value).map(u64::from);
    let usual = || FileStep::ALL.into_iter().filter(|step| step.is_default).collect();
    Ok(MeasureRequest::Files(FilesRequest {
        folder: table.optional("path", text_value)?.map(PathBuf::from),
        levels: table.optional("levels", count)?.unwrap_or(1),
        width: table.optional("width", number)?.unwrap_or(10),
        files: table.optional("files", number)?.unwrap_or(100),
        size: table.optional("size", size)?.unwrap_or(Bytes::kib(4)),
        steps: table.optional("operations", steps)?.unwrap_or_else(usual),
        threads: table.optional("threads", count)?.unwrap_or(1),
        bytes: table.optional("bs", size)?,
        random: table.optional("pattern", |it| one_of(it, ORDERS))?.unwrap_or(false),
        rate_per_s: table.optional("rate", positive)?,
        length_s: table.optional("length", seconds)?,
        sync: table.optional("sync", flag)?.unwrap_or(false),
    }))
}

/// Parses a list of operations and returns them in the order of execution.
fn steps(value: &Value<'_>) -> ParseResult<Vec<FileStep>> {
    let known = FileStep::ALL.map(|step| step.name);
    let asked = list_of(|value: &Value<'_>| {
        let name = text_value(value)?;
        known.into_iter().find(|known| *known == name).ok_or_else(|| {
            let help = Some(suggest(&name, &known));
            error_at(value, format!("unknown operation `{name}`"), help)
        })
    })(value)?;
    Ok(FileStep::ALL.into_iter().filter(|step| asked.contains(&step.name)).collect())
}
