//! Early ends of a run: a limit of bytes read or written, and a monitor file.
//!
//! Both are checked at the end of each interval, as in Vdbench.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use assay_dialects::vdbench::commands::DataLimits;

use super::run_notes::RunNote;
use crate::failure::CommandFailure;

/// Conditions for an early end of one run.
#[derive(Debug)]
pub(super) struct EarlyEnd<'a> {
    limits: DataLimits,
    monitor: Option<&'a Path>,
    read_bytes: u64,
    written_bytes: u64,
    /// Reason for the end, once a condition holds.
    pub(super) reason: Option<RunNote>,
}

impl<'a> EarlyEnd<'a> {
    pub(super) fn new(limits: DataLimits, monitor: Option<&'a PathBuf>) -> Self {
        Self {
            limits,
            monitor: monitor.map(PathBuf::as_path),
            read_bytes: 0,
            written_bytes: 0,
            reason: None,
        }
    }

    /// Adds an interval's bytes, except during the warm-up; returns whether the run is over.
    pub(super) fn add_interval(&mut self, is_warmup: bool, read: u64, written: u64) -> bool {
        if !is_warmup {
            self.read_bytes += read;
            self.written_bytes += written;
        }
        let limits = [
            ("maxdataread", self.limits.read_bytes, self.read_bytes),
            ("maxdatawritten", self.limits.written_bytes, self.written_bytes),
        ];
        let reached =
            limits.iter().find(|(_, limit, has)| limit.is_some_and(|most| *has >= most));
        if let Some((name, ..)) = reached {
            self.reason = Some(RunNote::LimitReached { limit: (*name).to_owned() });
        }
        let word = self.monitor.and_then(|path| std::fs::read_to_string(path).ok());
        match word.as_deref().map(str::trim) {
            Some("end_rd" | "shutdown") => self.reason = Some(RunNote::MonitorEndsRun),
            Some("end_vdbench" | "terminate") => self.reason = Some(RunNote::MonitorEndsAll),
            _ => {}
        }
        self.reason.is_some()
    }
}

/// Calls `run` while a thread copies the user's `stop` to `ends`, twenty times a second.
///
/// # Errors
/// If the system refuses the thread; `run` is not called then.
pub(super) fn run_stoppable<T>(
    stop: &AtomicBool,
    ends: &AtomicBool,
    run: impl FnOnce() -> T,
) -> Result<T, CommandFailure> {
    const LOOK: Duration = Duration::from_millis(50);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let copy = || {
            while !is_over.load(Ordering::Relaxed) {
                if stop.load(Ordering::Relaxed) {
                    ends.store(true, Ordering::Relaxed);
                }
                thread::park_timeout(LOOK);
            }
        };
        thread::Builder::new()
            .spawn_scoped(scope, copy)
            .map_err(|error| CommandFailure::from_thread_error(&error))?;
        let done = run();
        is_over.store(true, Ordering::Relaxed);
        Ok(done)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_limit_ends_run_after_warm_up() {
        let limits = DataLimits { read_bytes: Some(100), written_bytes: None };
        let mut ending = EarlyEnd::new(limits, None);
        assert!(!ending.add_interval(true, 1000, 1000), "a warm-up does not count");
        assert!(!ending.add_interval(false, 99, 1000));
        assert!(ending.add_interval(false, 1, 0));
        assert_eq!(
            ending.reason,
            Some(RunNote::LimitReached { limit: "maxdataread".to_owned() })
        );
    }

    #[test]
    fn monitor_file_ends_run_or_execution() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("monitor");
        for (word, reason) in [
            ("go on", None),
            ("end_rd\n", Some(RunNote::MonitorEndsRun)),
            ("end_vdbench", Some(RunNote::MonitorEndsAll)),
        ] {
            std::fs::write(&path, word).unwrap();
            let mut ending = EarlyEnd::new(DataLimits::default(), Some(&path));
            assert_eq!(ending.add_interval(false, 1, 1), reason.is_some(), "{word}");
            assert_eq!(ending.reason, reason, "{word}");
        }
        let missing = folder.path().join("none");
        let mut ending = EarlyEnd::new(DataLimits::default(), Some(&missing));
        assert!(!ending.add_interval(false, 1, 1));
    }

    #[test]
    fn forwards_stop_to_run() {
        let (stop, ends) = (AtomicBool::new(true), AtomicBool::new(false));
        run_stoppable(&stop, &ends, || {
            while !ends.load(Ordering::Relaxed) {
                thread::yield_now();
            }
        })
        .unwrap();
    }
}
