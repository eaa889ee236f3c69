//! Collects information about a fio run beyond the outcomes of its jobs: live status, process and
//! disk statistics, and the end time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use assay_dialects::fio::compile::{self, FioPlan};
use assay_dialects::fio::statistics::{FioProcessUsage, FioRunInfo};
use assay_dialects::fio::steady::FioSteadyWindow;
use assay_kernels::process_counters::read_process_counters;
use assay_run::storage::runner::StorageEvent;

use super::VERSION;
use super::disks::Disks;

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_millis().try_into().unwrap_or(u64::MAX)
}

/// Monitor of a run that collects this information from events.
#[derive(Debug, Default)]
pub(super) struct FioRunMonitor {
    disks: Disks,
    began: Option<Instant>,
    usage_before: assay_kernels::process_counters::ProcessCounters,
    uses: Vec<FioProcessUsage>,
    laid_out: Vec<String>,
    /// Start of the measured time of each started phase, in ms since 1970.
    pub(super) measured_from_ms: Vec<u64>,
    /// Number of phases that ended, or failed before they started.
    ended: usize,
    /// Flag that ends the current phase.
    enough: Option<Arc<AtomicBool>>,
    steady: Option<(FioSteadyWindow, Vec<usize>)>,
    /// Last reported engine.
    engine: String,
}

impl FioRunMonitor {
    /// Creates a monitor; `enough` ends a phase that may end at steady state.
    pub(super) fn new(enough: Option<Arc<AtomicBool>>) -> Self {
        Self { enough, ..Self::default() }
    }

    pub(super) fn update(
        &mut self,
        plan: &FioPlan,
        event: &StorageEvent<'_>,
        report: &mut dyn FnMut(&str),
    ) {
        match event {
            StorageEvent::LayingOut { target, total_bytes, .. } => {
                if !self.laid_out.contains(&target.name) {
                    self.laid_out.push(target.name.clone());
                    let mib = total_bytes >> 20;
                    report(&format!("{}: laying out the file ({mib} MiB)", target.name));
                }
            }
            StorageEvent::PhaseStarts { .. } => {
                if self.began.is_none() {
                    self.disks = Disks::from_plan(plan);
                    self.began = Some(Instant::now());
                }
                let phase = self.measured_from_ms.len();
                let warmup_s = plan.plan.phases[phase].workload.timing.warmup_s;
                self.measured_from_ms.push(now_ms().saturating_add((warmup_s * 1e3) as u64));
                self.steady = compile::steady_window(plan, phase);
                self.usage_before = read_process_counters();
            }
            StorageEvent::PhaseDone { outcome, .. } => {
                self.ended += 1;
                let used = read_process_counters().since(self.usage_before);
                self.uses.push(FioProcessUsage {
                    switches: used.context_switches,
                    major_faults: used.major_faults,
                    minor_faults: used.minor_faults,
                });
                let reason = assay_report::words::engine_reason(&outcome.engine_reason);
                let engine = format!("engine: {} ({reason})", outcome.engine);
                // Passes of a job are phases of their own.
                if self.engine != engine {
                    report(&engine);
                    self.engine = engine;
                }
            }
            StorageEvent::Interval { tally } => {
                if let (Some((window, streams)), Some(enough)) =
                    (&mut self.steady, &self.enough)
                    && window.add(tally, streams)
                {
                    enough.store(true, Ordering::Relaxed);
                }
            }
            StorageEvent::PhaseFailed => {
                self.ended += 1;
                // A phase may fail before it starts; the next one keeps its number.
                self.measured_from_ms.resize(self.ended, now_ms());
            }
            StorageEvent::PhaseReady { .. } => {}
        }
    }

    pub(super) fn run_info(&self) -> FioRunInfo {
        let now = jiff::Zoned::now();
        let elapsed_ms =
            self.began.map_or(0, |began| began.elapsed().as_millis().min(u128::from(u64::MAX)));
        FioRunInfo {
            ended_ms: u64::try_from(now.timestamp().as_millisecond()).unwrap_or(0),
            ended: now.strftime("%a %b %e %H:%M:%S %Y").to_string(),
            process: std::process::id(),
            version: VERSION.to_owned(),
            uses: self.uses.clone(),
            disks: self.disks.usage(elapsed_ms as u64),
            elapsed_ms: elapsed_ms as u64,
        }
    }
}
