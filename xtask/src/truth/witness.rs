//! `cargo xtask truth witness`: how often each doubt from kernel counters is named where its cause
//! exists, how often where it does not, and the CPU time of reading counters.
//!
//! Repeats the end-to-end tests of the module `kernel_counters`, whose causes are real: control
//! groups, loop devices, the page cache, a second transfer. Needs root and a quiet machine.

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

const TESTS: [&str; 4] = [
    "bytes_that_miss_the_device_are_named",
    "reached_limit_of_a_control_group_is_named",
    "cpu_quota_is_named_for_the_case_that_it_held_back",
    "other_traffic_of_the_network_device_is_named",
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

/// Measures, prints a table, and fails if a share is not reached.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let mut counts = Vec::new();
    for test in TESTS {
        let mut cargo = command::cargo(root);
        cargo.args(["test", "--locked", "--package=assay", "--test=it", "--", "--nocapture"]);
        cargo.args(["--exact", &format!("kernel_counters::{test}")]);
        cargo.env("ASSAY_WITNESS", REPEATS.to_string());
        let output = command::capture(&mut cargo)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let found: Vec<WitnessCount> = text.lines().filter_map(WitnessCount::parse).collect();
        if found.is_empty() || !output.status.success() {
            bail!("{test} printed no counts, {}:\n{text}", output.status);
        }
        for count in found {
            println!("{}", count.format());
            counts.push(count);
        }
    }
    let is_reached = counts.iter().all(WitnessCount::is_reached);
    Ok(ExitCode::from(u8::from(!is_reached)))
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
}
