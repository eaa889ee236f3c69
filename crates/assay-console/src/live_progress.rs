//! Live progress of commands that emulate another tool, on terminals that can be redrawn.
//!
//! Prints nothing elsewhere, because scripts read everything that such commands print.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::poisoned_lock::PoisonedLock as _;
use assay_model::quantity::{Quantity, Unit};
use assay_model::storage_outcome::IntervalTally;
use assay_model::workload::storage::StoragePhase;
use assay_report::progress::RunProgress;
use assay_run::storage::runner::StorageEvent;

use crate::terminal::Terminal;

/// Progress line of a command that emulates another tool.
#[derive(Debug, Default)]
pub struct LiveProgress {
    progress: Arc<Mutex<RunProgress>>,
    /// Elapsed time of the current phase.
    elapsed_s: f64,
}

impl LiveProgress {
    /// Updates the line for an event of this phase. Printing removes the line; the next phase shows
    /// it again.
    pub fn update(
        &mut self,
        phase: &StoragePhase,
        event: &StorageEvent<'_>,
        terminal: &mut Terminal,
    ) {
        match event {
            StorageEvent::LayingOut { target, done_bytes, total_bytes } => {
                if *done_bytes == 0 {
                    self.show(terminal);
                }
                let share = format_percent(*done_bytes as f64 / (*total_bytes).max(1) as f64);
                let path = target.path.display().to_string();
                let share = Phrase::exact_value(share);
                let message =
                    phrase!("writing", "writing {path} {share}", path = path, share = share);
                self.set_text(&message.to_string());
            }
            StorageEvent::PhaseStarts { .. } => {
                self.elapsed_s = 0.0;
                self.show(terminal);
                self.set_text(&phase.name);
            }
            StorageEvent::Interval { tally } => {
                self.elapsed_s += tally.length_s;
                let line = format_progress(phase, self.elapsed_s, tally);
                self.set_text(&line);
            }
            StorageEvent::PhaseDone { .. } | StorageEvent::PhaseFailed => {
                terminal.end_progress();
            }
            StorageEvent::PhaseReady { .. } => {}
        }
    }

    /// Shows a message until the next output.
    pub fn show_message(&self, text: &str, terminal: &mut Terminal) {
        self.show(terminal);
        self.set_text(text);
    }

    fn show(&self, terminal: &mut Terminal) {
        if terminal.is_live() {
            terminal.begin_progress(&self.progress, Instant::now());
        }
    }

    fn set_text(&self, text: &str) {
        self.progress.lock().even_if_poisoned().set_message(text);
    }
}

fn format_percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share.clamp(0.0, 1.0))
}

/// Formats a progress line, such as `job 30 % 51.2 kIO/s 210 MB/s`: the elapsed share of the phase,
/// if its duration is known, and the rates of the last interval.
fn format_progress(phase: &StoragePhase, elapsed_s: f64, tally: &IntervalTally) -> String {
    let timing = &phase.workload.timing;
    let share = timing
        .duration_s
        .map(|duration_s| format_percent(elapsed_s / (timing.warmup_s + duration_s)));
    let per_s = |amount: u64, unit| {
        let value = amount as f64 / tally.length_s.max(f64::MIN_POSITIVE);
        format!("{:.3}", Quantity::new(value, unit))
    };
    let (reads, writes) = (&tally.reads, &tally.writes);
    let rates = [
        per_s(reads.count + writes.count, Unit::IoPerSecond),
        per_s(reads.bytes + writes.bytes, Unit::BytePerSecond),
    ];
    let parts = [Some(phase.name.clone()), share].into_iter().flatten().chain(rates);
    parts.collect::<Vec<_>>().join("  ")
}

#[cfg(test)]
mod tests {
    use assay_model::distribution::new_histogram;
    use assay_model::storage_outcome::IoTally;
    use assay_model::workload::storage::{
        AccessPattern, EngineChoice, StorageStream, StorageTiming, StorageWorkload,
    };

    use super::*;

    fn phase(duration_s: Option<f64>) -> StoragePhase {
        let stream = StorageStream::new(AccessPattern::Random, 4096, 1.0);
        let timing = StorageTiming {
            warmup_s: 1.0,
            duration_s,
            interval_s: 0.5,
            stop_after_bytes: None,
        };
        let workload = StorageWorkload {
            timing,
            engine: EngineChoice::Null,
            ..StorageWorkload::new(vec![], vec![stream], None)
        };
        StoragePhase::new("job", workload)
    }

    fn tally(count: u64) -> IoTally {
        IoTally {
            count,
            bytes: 4096 * count,
            service_ns: new_histogram(),
            from_intended_ns: new_histogram(),
            service_square_sum: 0.0,
            service_sum_ns: 0,
        }
    }

    #[test]
    fn formats_elapsed_share_and_rates() {
        let tally = IntervalTally {
            start_s: 0.0,
            length_s: 0.5,
            warmup: false,
            reads: tally(4000),
            writes: tally(1000),
            streams: vec![],
            in_flight: 1.0,
            cpu_user: 0.0,
            cpu_system: 0.0,
        };
        for (duration_s, elapsed_s, expected) in [
            (Some(9.0), 3.0, "job  30 %  10.0 kIO/s  41.0 MB/s"),
            (Some(9.0), 30.0, "job  100 %  10.0 kIO/s  41.0 MB/s"),
            (None, 3.0, "job  10.0 kIO/s  41.0 MB/s"),
        ] {
            assert_eq!(format_progress(&phase(duration_s), elapsed_s, &tally), expected);
        }
    }
}
