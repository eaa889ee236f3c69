//! Parser of the storage measures of a suite.

use std::path::PathBuf;

use super::super::MeasureRequest;
use super::super::storage::{AccessOrder, StorageRequest, TargetRequest};
use super::{
    ParseResult, Table, Value, count, error_at, list_of, number, positive, seconds, size,
    suggest, text_value,
};
use crate::quantity::{self, Bytes, Quantity, Unit};
use crate::workload::measurement_mode::{LatencyGoal, MeasurementMode, SteadyRule};
use crate::workload::storage::{ArrivalProcess, EngineChoice};

pub(super) const KEYS: &[&str] = &[
    "name",
    "path",
    "size",
    "operation",
    "read-share",
    "pattern",
    "bs",
    "depth",
    "threads",
    "rate",
    "arrivals",
    "engine",
    "buffered",
    "sync-at-end",
    "length",
    "warmup",
    "curve",
    "bend-points",
    "precondition",
    "steady-state",
    "find-rate",
    "provisioned",
];

const OPERATIONS: &[(&str, f64)] = &[("read", 1.0), ("write", 0.0), ("mix", 0.5)];
const ORDERS: &[(&str, AccessOrder)] = &[
    ("random", AccessOrder::Random),
    ("sequential", AccessOrder::Sequential),
    ("parts", AccessOrder::Parts),
];
const ARRIVALS: &[(&str, ArrivalProcess)] = &[
    ("exponential", ArrivalProcess::Exponential),
    ("uniform", ArrivalProcess::Uniform),
    ("constant", ArrivalProcess::Constant),
];
const ENGINES: &[(&str, EngineChoice)] = &[
    ("auto", EngineChoice::Auto),
    ("io_uring", EngineChoice::IoUring),
    ("io_uring-polled", EngineChoice::IoUringPolled),
    ("libaio", EngineChoice::Libaio),
    ("threads", EngineChoice::Threads),
    ("null", EngineChoice::Null),
];
/// Default block size: the small block of Azure's NetApp page and of common databases.
const DEFAULT_BLOCK: Bytes = Bytes::kib(8);
const DEFAULT_DEPTH: u32 = 32;

pub(super) fn request(table: &Table<'_>) -> ParseResult<MeasureRequest> {
    let file_size = table.optional("size", size)?;
    let bytes = file_size.map(|size| size.0);
    let paths = table.optional("path", list_of(text_value))?.unwrap_or_default();
    let target = |path: String| TargetRequest { path: PathBuf::from(path), bytes };
    let arrivals = table.optional("arrivals", |it| one_of(it, ARRIVALS))?;
    let rate = table.optional("rate", positive)?;
    let arrivals = arrivals.unwrap_or(ArrivalProcess::Exponential);
    Ok(MeasureRequest::Storage(Box::new(StorageRequest {
        name: table.optional("name", text_value)?,
        targets: paths.into_iter().map(target).collect(),
        size: file_size,
        read_share: read_share(table)?,
        order: table
            .optional("pattern", |it| one_of(it, ORDERS))?
            .unwrap_or(AccessOrder::Random),
        bytes: table.optional("bs", list_of(size))?.unwrap_or_else(|| vec![DEFAULT_BLOCK]),
        depths: table.optional("depth", list_of(count))?.unwrap_or_else(|| vec![DEFAULT_DEPTH]),
        threads: table.optional("threads", count)?.unwrap_or(1),
        rate: rate.map(|rate| (rate, arrivals)),
        engine: table
            .optional("engine", |it| one_of(it, ENGINES))?
            .unwrap_or(EngineChoice::Auto),
        buffered: table.optional("buffered", flag)?.unwrap_or(false),
        sync_at_end: table.optional("sync-at-end", flag)?.unwrap_or(false),
        length_s: table.optional("length", seconds)?,
        warmup_s: table.optional("warmup", seconds)?,
        curve: curve(table)?,
        bend_points: bend_points(table)?,
        precondition_passes: table.optional("precondition", passes)?.unwrap_or(0),
        mode: mode(table)?,
        provisioned_bytes_per_s: table.optional("provisioned", bandwidth)?,
    })))
}

/// Parses the share of reads: that of the operation, or of a mix from 0 % to 100 %.
fn read_share(table: &Table<'_>) -> ParseResult<f64> {
    let operation = table.required("operation", |it| one_of(it, OPERATIONS))?;
    let Some(share) = table.optional("read-share", share_of_mix)? else {
        return Ok(operation);
    };
    let is_mix = operation > 0.0 && operation < 1.0;
    let help = Some("like `operation = \"mix\"` and `read-share = \"70%\"`".to_owned());
    let place = table.require("read-share")?;
    is_mix
        .then_some(share)
        .ok_or_else(|| error_at(place, "only a mix has a share of reads", help))
}

fn share_of_mix(value: &Value<'_>) -> ParseResult<f64> {
    let text = number(value).map_or_else(|| text_value(value), |it| Ok(it.to_string()))?;
    let share = quantity::parse_share(&text)
        .map_err(|error| error_at(value, error.to_string(), None))?;
    let is_within = (0.0..=1.0).contains(&share);
    let wrong = || error_at(value, "`read-share` must be from 0 % to 100 %", None);
    is_within.then_some(share).ok_or_else(wrong)
}

/// Parses the points in ascending order without duplicates: a later point may not be colder than an
/// earlier one.
fn curve(table: &Table<'_>) -> ParseResult<Vec<f64>> {
    let mut points = table.optional("curve", list_of(point))?.unwrap_or_default();
    if !points.is_empty() && table.get("rate").is_some() {
        let place = table.require("curve")?;
        return Err(error_at(place, "`curve` and `rate` exclude each other", None));
    }
    points.sort_by(f64::total_cmp);
    points.dedup_by(|next, before| next.total_cmp(before).is_eq());
    Ok(points)
}

fn point(value: &Value<'_>) -> ParseResult<f64> {
    number(value)
        .filter(|percent| *percent > 0.0 && *percent <= 200.0)
        .ok_or_else(|| error_at(value, "expected a percentage above 0, like 50", None))
}

fn bend_points(table: &Table<'_>) -> ParseResult<u32> {
    /// Maximum number of points: a hundred draw a curve as smoothly as a thousand.
    const MOST: u32 = 100;
    let points = table.optional("bend-points", count)?.unwrap_or(0);
    if points > 0 && table.get("curve").is_none() {
        let help = Some("like `curve = [10, 50, 90]`".to_owned());
        return Err(error_at(
            table.require("bend-points")?,
            "`bend-points` needs a `curve`",
            help,
        ));
    }
    if points > MOST {
        let place = table.require("bend-points")?;
        return Err(error_at(place, format!("must be at most {MOST}"), None));
    }
    Ok(points)
}

/// Parses passes over the whole target: a number, or text like `2x`.
fn passes(value: &Value<'_>) -> ParseResult<u32> {
    match value.get_ref().as_str() {
        Some(text) => crate::workload::measurement_mode::parse_passes(text)
            .map_err(|error| error_at(value, error, None)),
        None => count(value),
    }
}

fn mode(table: &Table<'_>) -> ParseResult<MeasurementMode> {
    let rounds = table.optional("steady-state", flag)?.unwrap_or(false);
    let goal = |value: &Value<'_>| {
        LatencyGoal::parse(&text_value(value)?).map_err(|error| error_at(value, error, None))
    };
    let Some(goal) = table.optional("find-rate", goal)? else {
        return Ok(if rounds {
            MeasurementMode::Rounds(SteadyRule::SNIA)
        } else {
            MeasurementMode::Once
        });
    };
    for other in ["curve", "rate", "steady-state"] {
        if table.get(other).is_some() {
            let place = table.require("find-rate")?;
            let what = format!("`find-rate` and `{other}` exclude each other");
            return Err(error_at(place, what, None));
        }
    }
    Ok(MeasurementMode::Search(goal))
}

fn bandwidth(value: &Value<'_>) -> ParseResult<f64> {
    let help = || Some("like `\"4500MiB/s\"`".to_owned());
    if number(value).is_some() {
        return Err(error_at(value, "a bandwidth needs its unit", help()));
    }
    let read = Quantity::parse(&text_value(value)?, Unit::BytePerSecond);
    let read = read.map_err(|error| error_at(value, error.to_string(), None))?.value;
    if read > 0.0 { Ok(read) } else { Err(error_at(value, "must be more than zero", help())) }
}

pub(super) fn one_of<T: Copy>(value: &Value<'_>, choices: &[(&str, T)]) -> ParseResult<T> {
    let name = text_value(value)?;
    let found = choices.iter().find(|(known, _)| *known == name);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let known: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        error_at(value, format!("unknown choice `{name}`"), Some(suggest(&name, &known)))
    })
}

pub(super) fn flag(value: &Value<'_>) -> ParseResult<bool> {
    let read = value.get_ref().as_bool();
    read.ok_or_else(|| error_at(value, "expected `true` or `false`", None))
}
