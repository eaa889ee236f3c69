//! Rank of an MPI job that follows rank 0: runs its share of each phase, and creates and removes
//! nothing.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use assay_fleet::resource_limits;
use assay_kernels::mpi::MpiWorld;
use assay_kernels::storage::items::ItemRoot;
use assay_kernels::storage::{self as kernel, OpenTargets, PhaseControl, PhaseStart};
use assay_model::storage_outcome::{EndReason, IntervalTally, StorageOutcome};
use assay_model::workload::storage::{StorageTarget, StorageWorkload};
use rustix::fs::OFlags;

use super::item_pass::{RankItems, RankPass};
use super::messages::{TaskPhase, TaskReply, TaskRequest};
use super::target_identity::TargetIdentity;
use crate::failure::CommandFailure;
use crate::mpi::ranks::{MpiJob, mpi_failure};
use crate::storage::phase_failures::phase_failed;
use crate::storage::{created_files, safe_open};

/// Time after which a rank that was stopped by a signal waits for rank 0 no longer.
const STOP_GRACE: Duration = Duration::from_secs(5);
/// Time within which a network file system shows a new file on other hosts: Linux's NFS keeps
/// attributes for three seconds (`acregmin`).
const VISIBLE_WITHIN: Duration = Duration::from_secs(4);
const VISIBLE_POLL: Duration = Duration::from_millis(100);
const FILE: &str = "file";
const FOLDER: &str = "folder";

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
            TaskRequest::Phase(phase) => follower
                .take_part(|on_ready| follower.run_share(&phase, on_ready).map(to_reply))?,
            TaskRequest::Items(pass) => {
                follower.take_part(|on_ready| follower.run_items(pass.as_deref(), on_ready))?;
            }
            TaskRequest::Sync => {
                rustix::fs::sync();
                follower.send(&TaskReply::Synced)?;
            }
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
    /// Runs a share, which starts with the others, and reports its outcome. An error ends this rank;
    /// a failure of the phase is an answer.
    fn take_part(
        &self,
        run: impl FnOnce(&mut dyn FnMut() -> PhaseStart) -> Result<TaskReply, CommandFailure>,
    ) -> Result<(), CommandFailure> {
        // Whether all ranks start, once that is known.
        let mut start = None;
        let reply = run(&mut || match start.insert(self.start_with_others()) {
            Ok(true) => PhaseStart::Now,
            Ok(false) | Err(_) => PhaseStart::Never,
        });
        match start.transpose()? {
            Some(true) => {
                self.send(&reply.unwrap_or_else(|failure| TaskReply::from_failure(&failure)))
            }
            Some(false) => Ok(()),
            None => {
                let failure = reply.err().unwrap_or_else(CommandFailure::interrupted);
                self.send(&TaskReply::from_failure(&failure))?;
                self.receive().map(drop)
            }
        }
    }

    fn run_items(
        &self,
        pass: Option<&RankPass>,
        on_ready: &mut dyn FnMut() -> PhaseStart,
    ) -> Result<TaskReply, CommandFailure> {
        let Some(pass) = pass else {
            on_ready();
            return Ok(TaskReply::ItemsDone(None));
        };
        resource_limits::raise_open_files();
        let open = |path: &Path, expected: &TargetIdentity| self.open_root(path, expected);
        let outcome = pass.run(open, self.stop, on_ready)?;
        if outcome.files.ended == EndReason::Interrupted {
            return Ok(TaskReply::Interrupted);
        }
        Ok(TaskReply::ItemsDone(Some(Box::new(RankItems::from_outcome(outcome)))))
    }

    /// Opens a test folder, which must be the one that rank 0 has opened.
    fn open_root(
        &self,
        path: &Path,
        expected: &TargetIdentity,
    ) -> Result<ItemRoot, CommandFailure> {
        let (folder, real) = self.open_same((path, FOLDER), expected, |path| {
            let real = path.canonicalize()?;
            Ok((created_files::open_folder(&real)?, real))
        })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        ItemRoot::new(name, folder)
            .map_err(|error| different_target((&real, FOLDER), Some(&error)))
    }

    /// Runs the share.
    fn run_share(
        &self,
        phase: &TaskPhase,
        mut on_ready: &mut dyn FnMut() -> PhaseStart,
    ) -> Result<Option<StorageOutcome>, CommandFailure> {
        let held = OpenTargets::default();
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
            TaskRequest::Start(false)
            | TaskRequest::Phase(_)
            | TaskRequest::Items(_)
            | TaskRequest::Sync
            | TaskRequest::End => Ok(false),
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
        let (file, path) = self.open_same((&target.path, FILE), expected, open_resolved)?;
        target.path = path;
        Ok(file)
    }

    /// Opens a file or folder once it is the expected one, which a network file system may show
    /// late. Returns it with its path without links.
    fn open_same(
        &self,
        (path, kind): (&Path, &str),
        expected: &TargetIdentity,
        open: impl Fn(&Path) -> io::Result<(File, PathBuf)>,
    ) -> Result<(File, PathBuf), CommandFailure> {
        let began = Instant::now();
        loop {
            let opened = open(path).and_then(|(file, real)| {
                let found = TargetIdentity::read(&file)?;
                Ok((found.is_same(expected, self.is_same_host), file, real))
            });
            let is_late = self.is_same_host
                || began.elapsed() >= VISIBLE_WITHIN
                || self.stop.load(Ordering::Relaxed);
            match opened {
                Ok((true, file, real)) => return Ok((file, real)),
                Ok((false, ..)) if is_late => return Err(different_target((path, kind), None)),
                Err(error) if is_late => {
                    return Err(different_target((path, kind), Some(&error)));
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

fn to_reply(outcome: Option<StorageOutcome>) -> TaskReply {
    match outcome {
        Some(it) if it.ended == EndReason::Interrupted => TaskReply::Interrupted,
        outcome => TaskReply::Done(outcome.map(Box::new)),
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

fn different_target((path, kind): (&Path, &str), error: Option<&io::Error>) -> CommandFailure {
    let what = format!("{} is not the {kind} that rank 0 uses", path.display());
    let failure = CommandFailure::measurement(what);
    let failure = match error {
        Some(error) => failure.with_cause(error),
        None => failure.with_reason(format!("another {kind} has this path here")),
    };
    failure.advise("use a file system that all hosts mount in the same place")
}
