//! Rank of an MPI job that follows rank 0: runs its share of each phase, and creates and removes
//! nothing.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use assay_kernels::mpi::MpiWorld;
use assay_kernels::storage::{self as kernel, OpenTargets, PhaseControl, PhaseStart};
use assay_model::storage_outcome::{EndReason, IntervalTally, StorageOutcome};
use assay_model::workload::storage::{StorageTarget, StorageWorkload};
use rustix::fs::OFlags;

use super::messages::{TaskPhase, TaskReply, TaskRequest};
use super::target_identity::TargetIdentity;
use crate::failure::CommandFailure;
use crate::mpi::ranks::{MpiJob, mpi_failure};
use crate::storage::phase_failures::phase_failed;
use crate::storage::safe_open;

/// Time after which a rank that was stopped by a signal waits for rank 0 no longer.
const STOP_GRACE: Duration = Duration::from_secs(5);
/// Time within which a network file system shows a new file on other hosts: Linux's NFS keeps
/// attributes for three seconds (`acregmin`).
const VISIBLE_WITHIN: Duration = Duration::from_secs(4);
const VISIBLE_POLL: Duration = Duration::from_millis(100);

/// Follows rank 0 until the end of the job.
///
/// # Errors
/// The library fails, rank 0 sends a malformed message, or a signal ends this rank while rank 0 does
/// not answer.
pub fn follow(job: &MpiJob, stop: &AtomicBool) -> Result<(), CommandFailure> {
    let ranks = &job.ranks;
    let own = ranks.get(job.world.rank() as usize).map(|rank| &rank.host);
    let is_same_host = ranks.first().map(|rank| &rank.host) == own;
    let follower = Follower { world: &job.world, is_same_host, stop };
    loop {
        match follower.receive()? {
            TaskRequest::Phase(phase) => follower.run_phase(&phase)?,
            TaskRequest::Start(_) => {}
            TaskRequest::End => break,
        }
    }
    job.world.finish().map_err(|error| mpi_failure(&error))
}

struct Follower<'j> {
    world: &'j MpiWorld,
    /// Whether this rank runs on the host of rank 0.
    is_same_host: bool,
    stop: &'j AtomicBool,
}

impl Follower<'_> {
    /// Opens the targets, starts with the others, and reports the outcome. An error ends this rank;
    /// a failure of the phase is an answer.
    fn run_phase(&self, phase: &TaskPhase) -> Result<(), CommandFailure> {
        let mut start = None;
        let outcome = self.run_share(phase, &mut start);
        match start.transpose()? {
            Some(true) => self.send(&self.to_reply(outcome)),
            Some(false) => Ok(()),
            None => {
                let failure = outcome.err().unwrap_or_else(CommandFailure::interrupted);
                self.send(&TaskReply::from_failure(&failure))?;
                self.receive().map(drop)
            }
        }
    }

    fn to_reply(&self, outcome: Result<Option<StorageOutcome>, CommandFailure>) -> TaskReply {
        match outcome {
            Ok(Some(it)) if it.ended == EndReason::Interrupted => TaskReply::Interrupted,
            Ok(outcome) => TaskReply::Done(outcome.map(Box::new)),
            Err(failure) => TaskReply::from_failure(&failure),
        }
    }

    /// Runs the share; `start` is whether all ranks start, once that is known.
    fn run_share(
        &self,
        phase: &TaskPhase,
        start: &mut Option<Result<bool, CommandFailure>>,
    ) -> Result<Option<StorageOutcome>, CommandFailure> {
        let held = OpenTargets::default();
        let mut on_ready = || match start.insert(self.start_with_others()) {
            Ok(true) => PhaseStart::Now,
            Ok(false) | Err(_) => PhaseStart::Never,
        };
        let Some(workload) = &phase.workload else {
            on_ready();
            return Ok(None);
        };
        let workload = self.open_targets(workload, &phase.targets, &held)?;
        let mut control = PhaseControl {
            stop: self.stop,
            held: &held,
            on_ready: Some(&mut on_ready),
            on_interval: &mut |_: &IntervalTally| {},
        };
        let outcome = kernel::run(&workload, &mut control);
        outcome.map(Some).map_err(|error| phase_failed(&phase.name, &error))
    }

    /// Reports that this rank is ready, and waits for the start of all; false if there is none.
    fn start_with_others(&self) -> Result<bool, CommandFailure> {
        self.send(&TaskReply::Ready)?;
        match self.receive()? {
            TaskRequest::Start(true) => {
                self.world.barrier().map_err(|error| mpi_failure(&error))?;
                Ok(true)
            }
            TaskRequest::Start(false) | TaskRequest::Phase(_) | TaskRequest::End => Ok(false),
        }
    }

    /// Opens the targets and checks that they are those that rank 0 has opened. Returns the
    /// workload with the paths that lead to them here.
    fn open_targets(
        &self,
        workload: &StorageWorkload,
        expected: &[TargetIdentity],
        held: &OpenTargets,
    ) -> Result<StorageWorkload, CommandFailure> {
        let mut workload = workload.clone();
        for (target, expected) in workload.targets.iter_mut().zip(expected) {
            let file = self.open_target(target, expected)?;
            held.insert(&target.path, Arc::new(file));
        }
        Ok(workload)
    }

    fn open_target(
        &self,
        target: &mut StorageTarget,
        expected: &TargetIdentity,
    ) -> Result<File, CommandFailure> {
        let began = Instant::now();
        loop {
            let opened = open_resolved(&target.path).and_then(|(file, path)| {
                Ok((
                    TargetIdentity::read(&file)?.is_same(expected, self.is_same_host),
                    file,
                    path,
                ))
            });
            let is_late = self.is_same_host
                || began.elapsed() >= VISIBLE_WITHIN
                || self.stop.load(Ordering::Relaxed);
            match opened {
                Ok((true, file, path)) => {
                    target.path = path;
                    return Ok(file);
                }
                Ok((false, ..)) if is_late => return Err(different_target(&target.path, None)),
                Err(error) if is_late => {
                    return Err(different_target(&target.path, Some(&error)));
                }
                Ok(_) | Err(_) => thread::sleep(VISIBLE_POLL),
            }
        }
    }

    fn send(&self, reply: &TaskReply) -> Result<(), CommandFailure> {
        let bytes = serde_json::to_vec(reply).expect("a reply has only text keys");
        self.world.send_message(&bytes, 0).map_err(|error| mpi_failure(&error))
    }

    fn receive(&self) -> Result<TaskRequest, CommandFailure> {
        let mut stopped_at = None;
        let mut gives_up = || {
            self.stop.load(Ordering::Relaxed)
                && stopped_at.get_or_insert_with(Instant::now).elapsed() >= STOP_GRACE
        };
        let message = self.world.receive_message(0, &mut gives_up);
        let message = message.map_err(|error| mpi_failure(&error))?;
        let message = message.ok_or_else(CommandFailure::interrupted)?;
        serde_json::from_slice(&message).map_err(|error| {
            CommandFailure::measurement("rank 0 sent a malformed message").with_cause(&error)
        })
    }
}

/// Opens a path that may contain links, and returns the one without.
fn open_resolved(path: &Path) -> io::Result<(File, PathBuf)> {
    let path = path.canonicalize()?;
    // A file that is only looked up may be one that a network file system remembers.
    let read = safe_open::open(&path, OFlags::RDONLY | OFlags::NONBLOCK);
    let file = match read {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            safe_open::open(&path, OFlags::PATH)?
        }
        other => other?,
    };
    Ok((file, path))
}

fn different_target(path: &Path, error: Option<&io::Error>) -> CommandFailure {
    let what = format!("{} is not the file that rank 0 uses", path.display());
    let failure = CommandFailure::measurement(what);
    let failure = match error {
        Some(error) => failure.with_cause(error),
        None => failure.with_reason("another file has this path here"),
    };
    failure.advise("use a file system that all hosts mount in the same place")
}
