//! `cargo xtask truth witness`: how often each doubt from kernel counters is named where its cause
//! exists, how often where it does not, and the CPU time of reading counters.
//!
//! Repeats the end-to-end tests of the module `kernel_counters`, whose causes are real: control
//! groups, loop devices, the page cache, a second transfer, a CPU full of softirqs. Then compares the CPU
//! time of a process with the watch and without it. Needs root and a quiet machine.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::command;

/// Number of runs with the cause, and as many without it.
const REPEATS: u32 = 100;
/// Smallest share of runs in which a doubt is named where its cause exists.
const MIN_NAMED: f64 = 0.99;
/// Smallest share of runs in which none is named without a cause.
const MIN_SILENT: f64 = 0.95;
/// Largest share of a core that reading counters takes.
const MAX_WATCH_SHARE: f64 = 0.005;

/// Test of the CPU time with the watch and without it.
const COST_TEST: &str = "counter_watch::tests::cost::watch_costs_little";

const TESTS: [&str; 5] = [
    "bytes_that_miss_the_device_are_named",
    "reached_limit_of_a_control_group_is_named",
    "cpu_quota_is_named_for_the_case_that_it_held_back",
    "other_traffic_of_the_network_device_is_named",
    "interrupts::cpu_that_only_serves_softirqs_is_named",
];

/// Counts of one doubt, as its test prints them.
#[derive(Debug, Clone, PartialEq)]
struct WitnessCount {
    doubt: String,
    named: u32,
    guilty: u32,
    silent: u32,
    innocent: u32,
    /// Share of a core of the thread that reads counters.
    watch_share: f64,
}

/// Difference of the CPU time in shares of a core, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
struct WatchCost {
    median: f64,
    low: f64,
    high: f64,
    pairs: u32,
}

/// Measures, prints a table, and fails if a share is not reached. Truths that cannot run here are named.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let mut is_reached = true;
    for test in TESTS {
        let name = format!("kernel_counters::{test}");
        let text = capture_test(root, &["--package=assay", "--test=it"], &name)?;
        let found: Vec<WitnessCount> = text.lines().filter_map(WitnessCount::parse).collect();
        for count in &found {
            println!("{}", count.format());
        }
        for line in text.lines().filter(|it| it.contains("SKIPPED ")) {
            println!("{line}");
        }
        is_reached &= !found.is_empty() && found.iter().all(WitnessCount::is_reached);
    }
    let text = capture_test(root, &["--package=assay-run", "--lib"], COST_TEST)?;
    let cost = text.lines().find_map(WatchCost::parse);
    let Some(cost) = cost else { bail!("{COST_TEST} printed no cost:\n{text}") };
    println!("{}", cost.format());
    is_reached &= cost.high < MAX_WATCH_SHARE;
    Ok(ExitCode::from(u8::from(!is_reached)))
}

/// Runs one test and returns its error stream.
fn capture_test(root: &Path, target: &[&str], test: &str) -> Result<String> {
    let mut cargo = command::cargo(root);
    cargo.args(["test", "--locked"]).args(target);
    cargo.args(["--", "--nocapture", "--exact", test]);
    cargo.env("ASSAY_WITNESS", REPEATS.to_string());
    let output = command::capture(&mut cargo)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        bail!("{test} failed, {}:\n{text}", output.status);
    }
    Ok(text)
}

impl WatchCost {
    fn parse(line: &str) -> Option<Self> {
        let (_, line) = line.split_once("COST ")?;
        let mut words = line.split_whitespace();
        let mut number = || words.next()?.parse().ok();
        let (median, low, high) = (number()?, number()?, number()?);
        Some(Self { median, low, high, pairs: words.next()?.parse().ok()? })
    }

    fn format(self) -> String {
        let [median, low, high] = [self.median, self.low, self.high].map(|it| 100.0 * it);
        let pairs = self.pairs;
        format!(
            "CPU time with the watch less that without: {median:.2} % of a core ({low:.2} to {high:.2}, {pairs} pairs)"
        )
    }
}

impl WitnessCount {
    fn parse(line: &str) -> Option<Self> {
        let (_, line) = line.split_once("WITNESS ")?;
        let mut words = line.split_whitespace();
        let doubt = words.next()?.to_owned();
        let mut count = || words.next()?.parse::<u32>().ok();
        let (named, guilty, silent, innocent) = (count()?, count()?, count()?, count()?);
        let watch_share = words.next()?.parse().ok()?;
        Some(Self { doubt, named, guilty, silent, innocent, watch_share })
    }

    /// Row of the table in docs/witness.md.
    fn format(&self) -> String {
        let Self { doubt, named, guilty, silent, innocent, .. } = self;
        let percent = 100.0 * self.watch_share;
        format!("| `{doubt}` | {named} of {guilty} | {silent} of {innocent} | {percent:.2} % |")
    }

    fn is_reached(&self) -> bool {
        let reaches =
            |part: u32, all: u32, share: f64| f64::from(part) >= share * f64::from(all);
        reaches(self.named, self.guilty, MIN_NAMED)
            && reaches(self.silent, self.innocent, MIN_SILENT)
            && self.guilty.min(self.innocent) > 0
            && self.watch_share < MAX_WATCH_SHARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_below_their_shares_fail() {
        for (line, expected) in [
            ("test x ... WITNESS throttled 99 100 95 100 0.0049", true),
            ("WITNESS throttled 98 100 100 100 0.001", false),
            ("WITNESS throttled 100 100 94 100 0.001", false),
            ("WITNESS throttled 100 100 100 100 0.005", false),
            ("WITNESS throttled 0 0 100 100 0.001", false),
            ("WITNESS throttled 100 100 100 100 NaN", false),
        ] {
            let count = WitnessCount::parse(line).unwrap();
            assert_eq!(count.is_reached(), expected, "{line}");
        }
        let count = WitnessCount::parse("WITNESS throttled 99 100 95 100 0.0012").unwrap();
        assert_eq!(count.format(), "| `throttled` | 99 of 100 | 95 of 100 | 0.12 % |");
        assert_eq!(WitnessCount::parse("WITNESS throttled 99"), None);
    }

    #[test]
    fn cost_is_read_from_its_line() {
        let cost = WatchCost::parse("COST 0.0012 0.0009 0.0015 40").unwrap();
        assert_eq!(cost, WatchCost { median: 0.0012, low: 0.0009, high: 0.0015, pairs: 40 });
        assert!(cost.format().contains("0.12 % of a core (0.09 to 0.15, 40 pairs)"));
        assert_eq!(WatchCost::parse("COST 0.0012 0.0009"), None);
    }
}
