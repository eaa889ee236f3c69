//! Every sentence of the report of a run. Numbers come in as finished text.

use std::collections::BTreeSet;

use assay_model::summary::CaseFailure;

pub(super) const STREAM: &str = "Memory bandwidth";
pub(super) const LATENCY: &str = "Memory latency";
pub(super) const COMPUTE: &str = "Compute";
pub(super) const OTHER: &str = "Other results";
pub(super) const MEASURERS: &str = "Measurers side by side";
pub(super) const DOUBTS: &str = "Warnings";
pub(super) const FAILURES: &str = "Failures";
pub(super) const METHOD: &str = "Method";
pub(super) const MACHINE: &str = "Machine";

pub(super) const STREAM_TABLE: &str = "Bandwidth by placement";
pub(super) const EXTREMES_TABLE: &str = "Medians over the domains of one kind";
pub(super) const STREAM_DETAILS: &str = "All domains and numbers of cores";
pub(super) const LADDER: &str = "Latency over the working set";
pub(super) const LEVELS_TABLE: &str = "Latency of each cache level and memory";
pub(super) const COMPUTE_TABLE: &str = "Multiply-add peak and LINPACK";
pub(super) const OTHER_TABLE: &str = "Results of all other benchmarks";
pub(super) const MEASURERS_TABLE: &str = "Medians and their ratio";

pub(in crate::build) const NO_INTERVAL: &str = "none";
pub(in crate::build) const ALL_AT_ONCE: &str = "all at once";
pub(super) const ALONE: &str = "each alone";
pub(super) const WORKING_SET: &str = "working set";
pub(super) const TIME_PER_LOAD: &str = "time per dependent load";
pub(super) const BANDWIDTH: &str = "bandwidth";
pub(super) const CORES: &str = "cores";
pub(super) const BEYOND_CACHES: &str = "memory";

pub(super) const BYTE_COUNTING: &str = "Bytes are counted as STREAM counts them: per element 16 for Copy and Scale, 24 for Add and Triad, 8 for read and write. The extra read of each line that an ordinary store causes is not counted.";

const STATISTICS: &str = "Values are medians. Confidence intervals come from order statistics and assume no distribution; fewer than 6 samples give none. n is the number of samples after the warm-up, in brackets the number of effective samples if they are correlated.";

pub(super) fn statistics(version: u32) -> String {
    format!("{STATISTICS} This is statistics version {version}.")
}

pub(super) fn title(suite: &str, hosts: &str) -> String {
    if hosts.is_empty() {
        format!("Suite {suite}")
    } else {
        format!("Suite {suite} on {hosts}")
    }
}

pub(super) fn times(
    run: &str,
    started: &str,
    finished: Option<String>,
    seed: Option<u64>,
) -> String {
    let seed = seed.map_or_else(String::new, |seed| format!(", seed\u{a0}{seed}"));
    match finished {
        Some(finished) => format!("Run {run}, {started} to {finished} UTC{seed}"),
        None => format!("Run {run}, started {started} UTC{seed}"),
    }
}

pub(in crate::build) fn interval(level: Option<f64>) -> String {
    match level {
        Some(level) => format!("{} % interval", (level * 1000.0).round() / 10.0),
        None => "interval".to_owned(),
    }
}

pub(in crate::build) fn count(n: usize, singular: &str, plural: &str) -> String {
    format!("{n}\u{a0}{}", if n == 1 { singular } else { plural })
}

pub(super) fn arrays(size: &str) -> String {
    format!("arrays of {size}")
}

pub(super) fn limit(value: &str, basis: &str) -> String {
    format!("The limit is {value}: {basis}.")
}

pub(super) fn no_memory_limit(modules_listed: bool, guest: Option<&str>) -> String {
    let why = match (modules_listed, guest) {
        (true, _) => "SMBIOS lists no module with a speed".to_owned(),
        (false, Some(guest)) => format!("SMBIOS is hidden in this guest of {guest}"),
        (false, None) => "SMBIOS could not be read, which usually requires root".to_owned(),
    };
    format!("No limit is known: {why}, so the transfer rate of the memory modules is unknown.")
}

pub(super) fn domains(count: usize, class: &str, mode: &str) -> String {
    format!("{count} × {class}, {mode}")
}

pub(super) fn scaling_title(metric: &str) -> String {
    format!("{metric} over the number of cores")
}

const INTERVALS_SHADED: &str = "Intervals are shaded where they are wide enough to be seen.";

pub(super) fn scaling_description(first: &str, one: &str, last: &str, all: &str) -> String {
    format!("Bandwidth is {one} on {first} and {all} on {last}. {INTERVALS_SHADED}")
}

pub(super) fn ladder_description(low: &str, small: &str, high: &str, large: &str) -> String {
    format!("Latency is {low} in {small} and {high} in {large}. {INTERVALS_SHADED}")
}

pub(super) fn huge_pages(granted: &[String], all: usize) -> String {
    match granted.len() {
        0 => "Huge pages were requested but not granted: beyond the caches, latency includes TLB misses.".to_owned(),
        n if n == all => "Huge pages were granted for every working set.".to_owned(),
        _ => format!("Huge pages were granted for these working sets only: {}.", granted.join(", ")),
    }
}

pub(super) fn linpack(n: &str, threads: &str, blas: &str, residual: &str) -> String {
    let mut text = n.to_owned();
    if !threads.is_empty() {
        text.push_str(&format_args!(", {threads}").to_string());
    }
    if !blas.is_empty() {
        text.push_str(&format_args!(", matrix products by {blas}").to_string());
    }
    if !residual.is_empty() {
        text.push_str(
            &format_args!(", scaled residual {residual} (must stay below 16)").to_string(),
        );
    }
    text.push('.');
    text
}

pub(super) fn ratio(first: &str, second: &str) -> String {
    format!("{first} ÷ {second}")
}

pub(super) const RATIOS: &str = "Ratios are of the medians.";

pub(super) fn status_failed(failed: usize, skipped: usize) -> String {
    let skipped = match skipped {
        0 => String::new(),
        _ => format!(", {} skipped because of that", are(skipped)),
    };
    format!("{} failed{skipped}; see {FAILURES}.", count(failed, "case", "cases"))
}

fn are(n: usize) -> String {
    format!("{n}\u{a0}{}", if n == 1 { "was" } else { "were" })
}

/// The cases that were skipped because of a failure.
pub(super) fn skipped(n: usize, cases: &str) -> String {
    format!("{} skipped because of it: {cases}", count(n, "case was", "cases were"))
}

/// Hosts are missing altogether, or from some of the cases.
pub(super) fn status_partial(failures: &[CaseFailure]) -> String {
    let hosts: BTreeSet<&str> = failures.iter().map(|it| it.host.as_str()).collect();
    let which = match hosts.len() {
        0 => String::new(),
        _ => format!(" ({})", hosts.into_iter().collect::<Vec<_>>().join(", ")),
    };
    format!("The run is partial: hosts are missing{which}. What the others measured counts.")
}

pub(super) fn status_interrupted(reached: &str) -> String {
    format!("The run was interrupted{reached}; the finished cases are valid.")
}

pub(super) fn status_unfinished(reached: &str) -> String {
    format!(
        "The run has no end{reached}: assay was killed or is still running. The finished cases are valid."
    )
}

pub(super) fn reached(finished: usize, planned: usize) -> String {
    format!(" after {finished} of {planned} cases")
}

pub(super) const NOTHING: &str = "Nothing was measured.";

pub(super) fn clock(name: &str, resolution: &str, cost: &str, null: &str) -> String {
    format!(
        "The clock is {name}: its resolution is {resolution}, and reading it takes {cost}. A repetition of the empty null kernel takes {null}: the overhead of each timed pass."
    )
}

pub(super) fn steal(share: &str) -> String {
    format!("The hypervisor took {share} of the CPU time during the run.")
}

pub(super) fn throttled(times: u64) -> String {
    format!(
        "The control group was throttled {} during the run.",
        count(usize::try_from(times).unwrap_or(usize::MAX), "time", "times")
    )
}

pub(super) fn and_more(left: usize) -> String {
    format!("and {left} more")
}
