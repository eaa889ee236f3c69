//! Ranks of an MPI job as tasks, from the view of rank 0, which is one of them.
//!
//! The ranks take a phase in three steps: all open their targets, all start together if all are
//! ready, and all report their outcomes. Each step is completed even after a failure, so that rank 0
//! can remove its files and end the job in good order.

use std::cell::Cell;
use std::path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_kernels::storage::{self as kernel, OpenTargets, PhaseControl, PhaseStart};
use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::mpi_outcome::{MpiRank, job_facts};
use assay_model::storage_outcome::{IntervalTally, StorageOutcome};
use assay_model::workload::storage::StorageWorkload;

use super::item_pass::{PassOutcome, RankPass};
use super::messages::{TaskPhase, TaskReply, TaskRequest};
use super::target_identity::TargetIdentity;
use crate::failure::CommandFailure;
use crate::mpi::ranks::{MpiJob, mpi_failure};
use crate::storage::mdtest::task_pass::{TaskPass, TaskShare};
use crate::storage::phase_failures::phase_failed;
use crate::storage::shares::{self, HostShare};

/// Time that the other ranks have for their answers after a signal has stopped the run: launchers
/// kill all ranks a second after it.
const STOP_GRACE: Duration = Duration::from_millis(500);

/// Ranks of a job.
#[derive(Debug)]
pub struct TaskRanks {
    job: MpiJob,
    /// Names of the ranks for messages.
    names: Vec<String>,
    /// Whether a rank did not answer or could not be reached, so that the job can only be aborted.
    is_broken: Cell<bool>,
    /// Time at which a stop was noticed.
    stopped_at: Cell<Option<Instant>>,
}

/// Outcome of a share; `None` if there was none.
type ShareOutcome = Result<Option<StorageOutcome>, CommandFailure>;

impl TaskRanks {
    /// Creates the tasks on rank 0; the other ranks call [`super::follow`].
    pub fn new(job: MpiJob) -> Self {
        let name = |it: &MpiRank| format!("rank {} on {}", it.rank, it.host);
        let names = job.ranks.iter().map(name).collect();
        Self { job, names, is_broken: Cell::new(false), stopped_at: Cell::new(None) }
    }

    /// Returns the number of ranks.
    pub fn count(&self) -> u32 {
        self.job.world.size()
    }

    /// Returns the host of each rank, in the order of ranks.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.job.ranks.iter().map(|rank| rank.host.as_str())
    }

    /// Returns library, launcher and placement of the ranks.
    pub(super) fn facts(&self) -> Vec<(Attribute, AttributeValue)> {
        job_facts(Some(&self.job.library), self.job.launcher, &self.job.ranks)
    }

    /// Ends the other ranks, and the library. Returns whether that was possible: otherwise the job
    /// must be aborted.
    pub fn end(&self) -> bool {
        let is_sent = |rank| self.send(rank, &TaskRequest::End).is_ok();
        !self.is_broken.get() && self.others().all(is_sent) && self.job.world.finish().is_ok()
    }

    /// Ends all processes of the job.
    pub fn abort(&self, exit_code: u8) -> ! {
        self.job.world.abort(exit_code)
    }

    fn others(&self) -> std::ops::Range<u32> {
        1..self.count()
    }

    fn name(&self, rank: u32) -> &str {
        self.names.get(rank as usize).map_or("a rank", String::as_str)
    }

    /// Runs one phase, whose streams are named after the ranks that run them.
    pub(super) fn run_phase(
        &self,
        phase_name: &str,
        workload: &StorageWorkload,
        control: &mut PhaseControl<'_>,
    ) -> Result<StorageOutcome, CommandFailure> {
        let shares = divide(workload, self.count());
        let done = self.run_shares(phase_name, &shares, control)?;
        let parts = done.into_iter().zip(&shares).zip(&self.names);
        let parts = parts.filter_map(|((outcome, share), name)| {
            Some((name.as_str(), share.as_ref()?, outcome?))
        });
        shares::merge_whole_outcomes(parts.collect(), workload.streams.len())
            .ok_or_else(|| CommandFailure::measurement("no rank has anything to do"))
    }

    /// Runs the shares of all ranks; returns their outcomes in the order of ranks.
    fn run_shares(
        &self,
        phase_name: &str,
        shares: &[Option<HostShare>],
        control: &mut PhaseControl<'_>,
    ) -> Result<Vec<Option<StorageOutcome>>, CommandFailure> {
        // All requests are complete before the first is sent: a rank that has one expects a start.
        let requests: Result<Vec<_>, CommandFailure> = shares[1..]
            .iter()
            .map(|share| to_request(phase_name, share.as_ref(), control.held))
            .collect();
        let (stop, held) = (control.stop, control.held);
        let listener = &mut control.on_ready;
        let own = |start: &mut dyn FnMut() -> PhaseStart| -> ShareOutcome {
            let mut on_ready = || {
                if let Some(on_ready) = listener.as_mut() {
                    on_ready();
                }
                start()
            };
            let Some(share) = &shares[0] else {
                on_ready();
                return Ok(None);
            };
            let mut own_control = PhaseControl {
                stop,
                held,
                on_ready: Some(&mut on_ready),
                // The figures of one rank are not those of the phase.
                on_interval: &mut |_: &IntervalTally| {},
            };
            let outcome = kernel::run(&share.workload, &mut own_control);
            outcome.map(Some).map_err(|error| phase_failed(phase_name, &error))
        };
        self.run_together(&requests?, stop, own, |reply| match reply {
            TaskReply::Done(outcome) => Ok(outcome.map(|it| *it)),
            other => Err(other),
        })
    }

    /// Runs one pass over the items of all tasks; each share is that of the rank with its number.
    pub(super) fn run_items(
        &self,
        pass: &TaskPass<'_, '_>,
        shares: &[TaskShare<'_>],
        stop: &AtomicBool,
    ) -> Result<PassOutcome, CommandFailure> {
        let request = |rank: u32| match shares.get(rank as usize) {
            Some(share) => RankPass::new(pass, *share).map(|it| Some(Box::new(it))),
            None => Ok(None),
        };
        let requests: Result<Vec<_>, _> =
            self.others().map(|rank| request(rank).map(TaskRequest::Items)).collect();
        let requests = requests.map_err(|error| {
            CommandFailure::measurement("a test folder cannot be used")
                .with_cause(&error)
                .with_known_advice()
        })?;
        let own = |start: &mut dyn FnMut() -> PhaseStart| {
            pass.run(shares.get(..1).unwrap_or_default(), stop, start).map(Some)
        };
        let parts = self.run_together(&requests, stop, own, |reply| match reply {
            TaskReply::ItemsDone(items) => {
                Ok(items.map(|it| it.into_outcome(pass.operation())))
            }
            other => Err(other),
        })?;
        Ok(PassOutcome::merge(parts, |rank| self.names[rank].clone()))
    }

    /// Calls `sync` on all ranks, because each host has its own cache.
    pub(super) fn sync(&self, stop: &AtomicBool) -> Result<(), CommandFailure> {
        for rank in self.others() {
            self.send(rank, &TaskRequest::Sync)?;
        }
        rustix::fs::sync();
        self.others().try_for_each(|rank| match self.receive(rank, stop)? {
            TaskReply::Synced => Ok(()),
            other => Err(self.to_failure(rank, other)),
        })
    }

    /// Runs the share of this rank together with those of the others, whose requests are given: all
    /// are ready, all start, and all report. Returns the outcomes in the order of ranks.
    fn run_together<O>(
        &self,
        requests: &[TaskRequest],
        stop: &AtomicBool,
        run_own: impl FnOnce(&mut dyn FnMut() -> PhaseStart) -> Result<O, CommandFailure>,
        read_reply: impl Fn(TaskReply) -> Result<O, TaskReply>,
    ) -> Result<Vec<O>, CommandFailure> {
        for (rank, request) in self.others().zip(requests) {
            self.send(rank, request)?;
        }
        let mut start = None;
        let own = run_own(&mut || {
            let started = start.insert(self.start_together(true, stop));
            if started.is_ok() { PhaseStart::Now } else { PhaseStart::Never }
        });
        match start {
            Some(Ok(())) => {}
            Some(Err(failure)) => return Err(failure),
            None => {
                let others = self.start_together(false, stop);
                let failure = own.err().or(others.err());
                return Err(failure.unwrap_or_else(CommandFailure::interrupted));
            }
        }
        let receive = |rank| {
            read_reply(self.receive(rank, stop)?).map_err(|other| self.to_failure(rank, other))
        };
        // Every rank is asked, even after a failure.
        let all: Vec<_> = std::iter::once(own).chain(self.others().map(receive)).collect();
        all.into_iter().collect()
    }

    /// Starts all ranks together, if all are ready and this one is; returns why not.
    fn start_together(&self, is_ready: bool, stop: &AtomicBool) -> Result<(), CommandFailure> {
        let replies: Vec<Result<TaskReply, CommandFailure>> =
            self.others().map(|rank| self.receive(rank, stop)).collect();
        let failures = self.others().zip(replies).filter_map(|(rank, reply)| match reply {
            Ok(TaskReply::Ready) => None,
            Ok(other) => Some(self.to_failure(rank, other)),
            Err(failure) => Some(failure),
        });
        let failures: Vec<CommandFailure> = failures.collect();
        let starts = is_ready && failures.is_empty();
        for rank in self.others() {
            self.send(rank, &TaskRequest::Start(starts))?;
        }
        if let Some(failure) = failures.into_iter().next() {
            return Err(failure);
        }
        if starts {
            self.job.world.barrier().map_err(|error| self.broken(mpi_failure(&error)))?;
        }
        Ok(())
    }

    /// Converts an answer that is not the expected one to the failure of its rank.
    fn to_failure(&self, rank: u32, reply: TaskReply) -> CommandFailure {
        let name = self.name(rank);
        match reply {
            TaskReply::Failed { reason, advice } => {
                let failure =
                    CommandFailure::measurement(format!("{name} failed")).with_reason(reason);
                if advice.is_empty() { failure } else { failure.advise(advice) }
            }
            TaskReply::Interrupted => {
                CommandFailure::measurement(format!("{name} was interrupted"))
                    .with_reason("it got a signal that the other ranks did not get")
                    .advise("find out what ends processes on that host")
            }
            TaskReply::Ready
            | TaskReply::Done(_)
            | TaskReply::ItemsDone(_)
            | TaskReply::Synced => {
                self.broken(CommandFailure::measurement(format!("{name} answered out of turn")))
            }
        }
    }

    fn send(&self, rank: u32, request: &TaskRequest) -> Result<(), CommandFailure> {
        let bytes = serde_json::to_vec(request).expect("a request has only text keys");
        let sent = self.job.world.send_message(&bytes, rank);
        sent.map_err(|error| self.broken(mpi_failure(&error)))
    }

    fn receive(&self, rank: u32, stop: &AtomicBool) -> Result<TaskReply, CommandFailure> {
        let mut gives_up = || {
            if !stop.load(Ordering::Relaxed) {
                return false;
            }
            let since = self.stopped_at.get().unwrap_or_else(Instant::now);
            self.stopped_at.set(Some(since));
            since.elapsed() >= STOP_GRACE
        };
        let message = self
            .job
            .world
            .receive_message(rank, &mut gives_up)
            .map_err(|error| self.broken(mpi_failure(&error)))?;
        let name = self.name(rank);
        let message = message.ok_or_else(|| {
            self.broken(CommandFailure::measurement(format!("{name} does not answer")))
        })?;
        serde_json::from_slice(&message).map_err(|error| {
            let what = format!("{name} sent a malformed message");
            self.broken(CommandFailure::measurement(what).with_cause(&error))
        })
    }

    fn broken(&self, failure: CommandFailure) -> CommandFailure {
        self.is_broken.set(true);
        failure
    }
}

/// Divides a phase among ranks: the stream `rank 3` runs on rank 3.
fn divide(workload: &StorageWorkload, ranks: u32) -> Vec<Option<HostShare>> {
    let mut shares: Vec<Option<HostShare>> = (0..ranks).map(|_| None).collect();
    for (index, stream) in workload.streams.iter().enumerate() {
        let rank =
            stream.name.strip_prefix("rank ").and_then(|rank| rank.parse::<usize>().ok());
        if let Some(share) = rank.and_then(|rank| shares.get_mut(rank)) {
            *share = Some(HostShare::for_stream(workload, index));
        }
    }
    shares
}

/// Builds the request for a share, with absolute paths and the identities of the open targets.
fn to_request(
    phase_name: &str,
    share: Option<&HostShare>,
    held: &OpenTargets,
) -> Result<TaskRequest, CommandFailure> {
    let mut workload = share.map(|share| share.workload.clone());
    let mut targets = Vec::new();
    for target in workload.iter_mut().flat_map(|workload| &mut workload.targets) {
        let unusable = |error: &std::io::Error| {
            CommandFailure::measurement(format!(
                "the target {} cannot be used",
                target.path.display()
            ))
            .with_cause(error)
            .with_known_advice()
        };
        let file = held.file(&target.path).ok_or_else(CommandFailure::interrupted)?;
        targets.push(TargetIdentity::read(&file).map_err(|error| unusable(&error))?);
        let absolute = path::absolute(&target.path).map_err(|error| unusable(&error))?;
        target.path = absolute;
    }
    Ok(TaskRequest::Phase(Box::new(TaskPhase {
        name: phase_name.to_owned(),
        workload,
        targets,
    })))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use assay_model::workload::storage::{AccessPattern, StorageStream, StorageTarget};

    use super::*;

    /// Wear-out leaves out the ranks that have done as much as the fastest.
    #[test]
    fn ranks_run_the_streams_of_their_names() {
        let names = ["rank 0", "rank 2"];
        let target = |name: &&str| StorageTarget::new(*name, PathBuf::from(name), None);
        let stream = |(index, name): (usize, &&str)| StorageStream {
            name: (*name).into(),
            targets: vec![index],
            ..StorageStream::new(AccessPattern::Random, 4096, 1.0)
        };
        let whole = StorageWorkload::new(
            names.iter().map(target).collect(),
            names.iter().enumerate().map(stream).collect(),
            None,
        );
        let own = |share: &Option<HostShare>| {
            let workload = &share.as_ref()?.workload;
            let [target] = &workload.targets[..] else { return None };
            Some((target.name.clone(), workload.streams[0].targets.clone(), workload.seed))
        };
        let shares: Vec<_> = divide(&whole, 4).iter().map(own).collect();
        let [Some(first), None, Some(third), None] = &shares[..] else { panic!("{shares:?}") };
        assert_eq!((first.0.as_str(), &first.1[..]), ("rank 0", &[0][..]));
        assert_eq!((third.0.as_str(), &third.1[..]), ("rank 2", &[0][..]));
        assert_ne!(first.2, third.2, "random offsets differ");
    }
}
