//! Lines of fio's `--debug`: thresholds as they are parsed (`parse`), and the seeds of the jobs
//! (`random`), which fio prints since 3.35.

use std::fmt::Write as _;

use assay_model::workload::storage::JobOrder;

use super::compile::FioPlan;
use super::jobfile::FioSetting;
use super::request::FioRequest;
use super::section_options::SteadyCriterion;
use super::section_options::behaviour::parse_steady;
use super::value::NumberBase;

/// Kinds of lines that fio can print.
const KINDS: &[&str] = &[
    "process",
    "file",
    "io",
    "mem",
    "blktrace",
    "verify",
    "random",
    "parse",
    "diskutil",
    "job",
    "mutex",
    "profile",
    "time",
    "net",
    "rate",
    "compress",
    "steadystate",
    "helperthread",
    "zbd",
];
const PARSE: &str = "parse";
const RANDOM: &str = "random";

/// Parses `--debug`: kinds between commas, or `all`. A job may follow a colon.
pub(super) fn parse_kinds(list: &str) -> Result<Vec<String>, String> {
    let (list, _) = list.split_once(':').unwrap_or((list, ""));
    if list == "all" {
        return Ok(KINDS.iter().map(|kind| (*kind).to_owned()).collect());
    }
    let kinds = list.split(',').map(str::trim);
    kinds
        .map(|kind| match KINDS.contains(&kind) {
            true => Ok(kind.to_owned()),
            false => Err(format!("it must be all, or some of {}", KINDS.join(", "))),
        })
        .collect()
}

/// Returns the kinds of which no line is printed.
pub(super) fn silent_kinds(kinds: &[String]) -> Vec<&str> {
    kinds.iter().map(String::as_str).filter(|kind| ![PARSE, RANDOM].contains(kind)).collect()
}

/// Returns the lines of this process that the request asks for.
pub fn lines(request: &FioRequest, plan: &FioPlan, process: u32) -> String {
    let has = |kind: &str| request.debug.iter().any(|it| it == kind);
    let mut text = String::new();
    let mut add = |kind: &str, line: &str| {
        let _ = writeln!(text, "{kind:<8} {process:<5} {line}");
    };
    if has(PARSE) {
        let own = request.sections.iter().flat_map(|section| &section.own);
        for setting in request.globals.iter().chain(own) {
            if let Some(line) = steady_line(setting) {
                add(PARSE, &line);
            }
        }
    }
    if has(RANDOM) {
        for clone in &plan.clones {
            let workload = &plan.plan.phases[clone.part.phase].workload;
            let order = workload.streams[clone.part.stream].conduct.order.as_ref();
            let Some(order) = order else { continue };
            // As derived from `randseed`: later versions of fio have no others. With `randrepeat`,
            // offsets have a seed of their own.
            let derived =
                JobOrder { repeats_all: false, repeats_draws: false, ..(**order).clone() };
            let seeds = derived.seeds();
            add(RANDOM, &format!("FIO_RAND_NR_OFFS={}", seeds.len()));
            for (index, seed) in seeds.iter().enumerate() {
                add(RANDOM, &format!("rand_seeds[{index}]={seed}"));
            }
        }
    }
    text
}

/// Returns the line on a threshold of steady state.
fn steady_line(setting: &FioSetting) -> Option<String> {
    if setting.name != "steadystate" {
        return None;
    }
    let value = setting.value.as_deref()?;
    let SteadyCriterion { uses_iops, limit, in_percent, .. } =
        parse_steady(value, NumberBase { kb: 1024 }).ok()?;
    Some(match (in_percent, uses_iops) {
        (true, _) => format!("set steady state threshold to {limit:.6}%"),
        (false, true) => format!("set steady state IOPS threshold to {limit:.6}"),
        (false, false) => format!("set steady state BW threshold to {limit:.0}"),
    })
}
