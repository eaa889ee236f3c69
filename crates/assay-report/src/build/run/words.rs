//! Sentences of the report of a run that contain values. Arguments are already formatted.

use std::collections::BTreeSet;

use assay_model::summary::CaseFailure;

use crate::locale::{comma, format_fixed, join_details, join_sentences, with_detail, word};
use crate::{units, words as catalogue};

/// Fewest samples with an interval: 2⁻⁵ for five samples exceeds 5 %.
const SAMPLES_FOR_INTERVAL: u32 = 6;

pub(super) fn byte_counting() -> String {
    message!("byte-counting", copy = 16_u32, add = 24_u32, read = 8_u32)
}

pub(super) fn kernels_within_noise(operations: &str) -> String {
    message!("kernels-within-noise", operations = operations)
}

pub(in crate::build) fn statistics(version: u32) -> String {
    let values = message!("statistics", least = SAMPLES_FOR_INTERVAL);
    join_sentences(&[values, message!("statistics-version", version = version)])
}

pub(super) fn title(suite: &str, hosts: &str) -> String {
    if hosts.is_empty() {
        message!("suite", suite = suite)
    } else {
        message!("suite-on-hosts", suite = suite, hosts = hosts)
    }
}

pub(super) fn run_times(
    run: &str,
    started: &str,
    finished: Option<String>,
    seed: Option<u64>,
) -> String {
    let times = match finished {
        Some(finished) => {
            message!("run-from-to", run = run, started = started, finished = finished)
        }
        None => message!("run-from", run = run, started = started),
    };
    let seed = seed.map(|seed| message!("seed", seed = seed.to_string()));
    join_details(&[Some(times), seed].into_iter().flatten().collect::<Vec<_>>())
}

pub(in crate::build) fn interval(level: Option<f64>) -> String {
    match level {
        Some(level) => {
            let percent = (level * 1000.0).round() / 10.0;
            let decimals = usize::from(percent.fract() > 0.0);
            message!(
                "interval-of-level",
                level = units::in_percent(&format_fixed(percent, decimals))
            )
        }
        None => word("interval").to_owned(),
    }
}

pub(in crate::build) fn threads(n: usize) -> String {
    message!("threads", n = n)
}

pub(super) fn cores(n: usize) -> String {
    message!("cores", n = n)
}

/// Returns the display name of a stored end: `local end`.
pub(in crate::build) fn end(end: &str) -> String {
    match end {
        "local" => word("end-local").to_owned(),
        "remote" => word("end-remote").to_owned(),
        other => message!("end-other", end = other),
    }
}

/// Returns the display name of a stored direction of streams.
pub(in crate::build) fn direction(direction: &str) -> String {
    match direction {
        "send" => word("direction-send").to_owned(),
        "receive" => word("direction-receive").to_owned(),
        "both" => word("direction-both").to_owned(),
        other => other.to_owned(),
    }
}

/// Returns the display name of a stored access pattern.
pub(in crate::build) fn pattern(pattern: &str) -> String {
    match pattern {
        "random" => word("pattern-random").to_owned(),
        "sequential" => word("pattern-sequential").to_owned(),
        other => other.to_owned(),
    }
}

/// Returns the display name of a stored operation.
pub(in crate::build) fn operation(operation: &str) -> String {
    match operation {
        "read" => word("operation-read").to_owned(),
        "write" => word("operation-write").to_owned(),
        other => other.to_owned(),
    }
}

/// Returns `p99 from due`.
pub(super) fn from_due(percentile: &str) -> String {
    message!("from-due", what = percentile)
}

pub(super) fn arrays(size: &str) -> String {
    message!("arrays-of", size = size)
}

pub(super) fn limit(value: &str, basis: &str) -> String {
    message!("limit-is", limit = value, basis = basis)
}

pub(super) fn no_memory_limit(modules_listed: bool, guest: Option<&str>) -> String {
    let why = match (modules_listed, guest) {
        (true, _) => word("smbios-without-speed").to_owned(),
        (false, Some(guest)) => message!("smbios-hidden", hypervisor = guest),
        (false, None) => word("smbios-unreadable").to_owned(),
    };
    message!("no-memory-limit", why = why)
}

pub(super) fn domains(count: usize, class: &str, mode: &str) -> String {
    with_detail(&format!("{count} × {class}"), mode)
}

pub(super) fn scaling_title(metric: &str) -> String {
    message!("scaling-title", metric = metric)
}

pub(super) fn scaling_description(first: &str, one: &str, last: &str, all: &str) -> String {
    let reported =
        message!("scaling-description", few = first, one = one, many = last, all = all);
    join_sentences(&[reported, word("intervals-shaded").to_owned()])
}

pub(super) fn ladder_description(low: &str, small: &str, high: &str, large: &str) -> String {
    let reported =
        message!("ladder-description", low = low, small = small, high = high, large = large);
    join_sentences(&[reported, word("intervals-shaded").to_owned()])
}

pub(super) fn huge_pages(granted: &[String], all: usize) -> String {
    match granted.len() {
        0 => word("huge-pages-refused").to_owned(),
        n if n == all => word("huge-pages-granted").to_owned(),
        _ => message!("huge-pages-some", sizes = granted.join(comma())),
    }
}

pub(super) fn linpack(n: &str, threads: &str, blas: &str, residual: &str) -> String {
    /// HPL's own bound of the scaled residual.
    const BOUND: u32 = 16;
    let filled = |text: &str| !text.is_empty();
    let parts = [
        Some(n.to_owned()),
        Some(threads.to_owned()).filter(|it| filled(it)),
        filled(blas).then(|| message!("products-by", blas = blas)),
        filled(residual)
            .then(|| message!("scaled-residual", residual = residual, bound = BOUND)),
    ];
    join_details(&parts.into_iter().flatten().collect::<Vec<_>>()) + word("full-stop")
}

pub(super) fn ratio(first: &str, second: &str) -> String {
    format!("{first} ÷ {second}")
}

pub(super) fn status_failed(failed: usize, skipped: usize) -> String {
    let skipped = match skipped {
        0 => None,
        n => Some(message!("cases-skipped", n = n)),
    };
    let failed = message!("cases-failed", n = failed);
    let reported =
        [Some(failed), skipped].into_iter().flatten().collect::<Vec<_>>().join(comma());
    message!("status-failed", reported = reported, heading = word("heading-failures"))
}

/// Lists further cases with the same failure.
pub(super) fn more_failures(n: usize, cases: &str) -> String {
    message!("failed-likewise", n = n, cases = cases)
}

pub(super) fn skipped_cases(n: usize, cases: &str) -> String {
    message!("skipped-because", n = n, cases = cases)
}

/// Reports that hosts are missing from all or some of the cases.
pub(super) fn status_partial(failures: &[CaseFailure]) -> String {
    let hosts: BTreeSet<&str> = failures.iter().map(|it| it.host.as_str()).collect();
    let hosts: Vec<&str> = hosts.into_iter().collect();
    // Without names, there may be several.
    let n = if hosts.len() == 1 { 1_usize } else { 2 };
    let hosts = match hosts.len() {
        0 => String::new(),
        _ => format!(" ({})", catalogue::hosts(&hosts)),
    };
    message!("status-partial", n = n, hosts = hosts)
}

/// Reports the progress of a run that is not complete: `interrupted` or `unfinished`.
pub(super) fn incomplete_status(end: &str, reached: Option<[usize; 2]>) -> String {
    match (end, reached) {
        ("interrupted", Some([0, _])) => return word("status-interrupted-at-once").to_owned(),
        ("interrupted", Some([finished, planned])) if finished == planned => {
            return word("status-interrupted-late").to_owned();
        }
        _ => {}
    }
    let reached = match reached {
        Some([finished, planned]) => {
            message!("reached", finished = finished, planned = planned)
        }
        None => String::new(),
    };
    match end {
        "interrupted" => message!("status-interrupted", reached = reached),
        _ => message!("status-unfinished", reached = reached),
    }
}

pub(super) fn clock(name: &str, resolution: &str, cost: &str, null: &str) -> String {
    message!("clock", name = name, resolution = resolution, cost = cost, null = null)
}

pub(super) fn imported_from(files: &str) -> String {
    message!("imported", files = files)
}

pub(super) fn steal(share: &str) -> String {
    message!("stolen", share = share)
}

pub(super) fn throttled_times(times: u64) -> String {
    message!("throttled-times", n = times)
}

pub(super) fn and_more(left: usize) -> String {
    message!("and-more", n = left)
}
