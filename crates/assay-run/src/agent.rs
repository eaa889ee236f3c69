//! Agent on a host: carries out the requests that a coordinator on another host sends through a pipe.
//! Ends when the pipe closes or the coordinator goes silent.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_fleet::process;
use assay_fleet::remote::agent;
use assay_fleet::remote::coordinator_link::CoordinatorLink;
use assay_fleet::remote::{
    AgentReply, AgentRequest, ConditionRequest, DoctorResults, RemoteRunRequest, relay,
};
use assay_kernels::clock;
use assay_model::poisoned_lock::PoisonedLock as _;
use assay_store::Store;

use crate::factor_turns::AppliedLevels;
use crate::failure::{CommandFailure, FailureKind};
use crate::fleet::pairs;
use crate::listener::SilentListener;
use crate::storage::options::RunOptions;
use crate::storage::runner;
use crate::storage::shares::far_end::{self, StorageFarEnd};

/// Commands that a coordinator may request of an agent.
#[derive(Debug, Clone, Copy)]
pub struct AgentCommands {
    /// Runs every check of this machine.
    pub examine: fn() -> Result<DoctorResults, CommandFailure>,
    /// Measures the command line of the coordinator.
    pub measure: fn(&RemoteRunRequest, &Arc<CoordinatorLink>) -> Result<(), CommandFailure>,
    /// Opens the store of this host, for the record of applied levels.
    pub open_store: fn() -> Result<Store, CommandFailure>,
}

/// State of an agent between requests.
struct AgentState {
    commands: AgentCommands,
    /// Locked only while the share is prepared or executed; the end relies on this.
    share: Mutex<Option<StorageFarEnd>>,
    levels: Mutex<Option<AppliedLevels>>,
    takes_ranks: AtomicBool,
}

/// Serves requests on the standard streams until none arrives for `patience`.
///
/// # Errors
/// If a thread cannot be started, or a stream fails.
pub fn serve(commands: AgentCommands, patience: Duration) -> Result<(), CommandFailure> {
    process::adopt_orphans();
    let state = Arc::new(AgentState {
        commands,
        share: Mutex::new(None),
        levels: Mutex::new(None),
        takes_ranks: AtomicBool::new(false),
    });
    let (handling, calling) = (Arc::clone(&state), Arc::clone(&state));
    let handle =
        move |request, line: &Arc<CoordinatorLink>| handling.handle_request(request, line);
    let serve_call =
        move |call| pairs::serve_call(call, calling.takes_ranks.load(Ordering::Relaxed));
    let result =
        agent::serve(io::stdin(), io::stdout(), (clock::now_ns, patience), handle, serve_call);
    state.clean_up();
    result.map_err(|error| {
        CommandFailure::new(FailureKind::Measurement, "the agent failed").with_cause(&error)
    })
}

impl AgentState {
    fn clean_up(&self) {
        // A worker that is killed within a command keeps its locks. A cancelled `apply` ends within a
        // second, and a `restore` is not interrupted.
        let mut applied = self.levels.lock().even_if_poisoned();
        // Some may still be running when the pipe closes.
        process::kill_descendants();
        // The levels of a coordinator that is gone are restored, and stay locked until the end.
        if let Some(levels) = applied.as_mut() {
            drop(levels.restore(false, &mut SilentListener));
        }
        match self.share.try_lock().ok().as_deref() {
            // The files of a shared job stay, like those of a job on a single host.
            Some(Some(share)) => drop(StorageFarEnd::finish(share)),
            // A locked share is still in progress.
            None => {}
            Some(None) => drop(runner::remove_created(&RunOptions::default())),
        }
    }

    /// Notes whether the pairs of a run are ranks of MPI, whose calls are served here.
    fn note_ranks(&self, request: &AgentRequest) {
        if let AgentRequest::Run(run_request) = request {
            let has_mpi_pairs = run_request.pairs.as_ref().is_some_and(|pairs| pairs.of_mpi);
            self.takes_ranks.store(has_mpi_pairs, Ordering::Relaxed);
        }
    }

    fn handle_request(&self, request: AgentRequest, line: &Arc<CoordinatorLink>) {
        self.note_ranks(&request);
        let is_long = matches!(
            request,
            AgentRequest::Share(_)
                | AgentRequest::Trees(_)
                | AgentRequest::Condition(_)
                | AgentRequest::Run(_)
                | AgentRequest::Relay(_)
        );
        if is_long && let Err(error) = line.start_heartbeat() {
            let failure = CommandFailure::from_thread_error(&error);
            let (reason, advice) = (failure.reason(), failure.advice());
            line.send(&AgentReply::Failed { reason, advice });
            return;
        }
        let lock_share = || self.share.lock().even_if_poisoned();
        let outcome = match request {
            AgentRequest::Look(paths) => Ok(AgentReply::Looked(far_end::inspect_paths(&paths))),
            AgentRequest::Share(request) => {
                let mut guard = lock_share();
                StorageFarEnd::prepare(*request, line).map(|prepared| {
                    *guard = Some(prepared);
                    AgentReply::Done
                })
            }
            AgentRequest::Phase(phase) => match lock_share().as_mut() {
                Some(share) => {
                    share.run_phase(*phase, line).map(|it| AgentReply::Outcome(Box::new(it)))
                }
                None => {
                    Err(CommandFailure::new(FailureKind::Internal, "the host has no share"))
                }
            },
            AgentRequest::Trees(request) => {
                far_end::prepare_trees(*request, &mut lock_share()).map(AgentReply::Marks)
            }
            AgentRequest::TreesPhase(request) => far_end::run_trees_phase(&request, line)
                .map(|outcome| AgentReply::TreesOutcome(Box::new(outcome))),
            AgentRequest::Examine => (self.commands.examine)()
                .map(|examined| AgentReply::Examined(Box::new(examined))),
            AgentRequest::Condition(request) => {
                self.apply_levels(*request, line).map(|()| AgentReply::Done)
            }
            AgentRequest::Run(request) => {
                (self.commands.measure)(&request, line).map(|()| AgentReply::Done)
            }
            AgentRequest::Relay(request) => relay::serve(&request, line, clock::now_ns)
                .map(|()| AgentReply::Done)
                .map_err(|error| {
                    CommandFailure::new(FailureKind::Internal, "cannot read this executable")
                        .with_cause(&error)
                }),
            // The link to the coordinator handles these itself.
            AgentRequest::Clock
            | AgentRequest::Alive
            | AgentRequest::Enough
            | AgentRequest::Grant(_)
            | AgentRequest::Start(_)
            | AgentRequest::Stop
            | AgentRequest::Letter(_)
            | AgentRequest::Gone(_)
            | AgentRequest::To(..)
            | AgentRequest::Leave(_) => return,
        };
        line.send(&outcome.unwrap_or_else(|failure| AgentReply::Failed {
            reason: failure.reason(),
            advice: failure.advice(),
        }));
    }

    /// Applies levels on this host, or restores the earlier state.
    fn apply_levels(
        &self,
        request: ConditionRequest,
        line: &Arc<CoordinatorLink>,
    ) -> Result<(), CommandFailure> {
        let mut applied = self.levels.lock().even_if_poisoned();
        let ConditionRequest { record, factors, levels, settle_s } = request;
        let Some(levels) = levels else {
            let restored = applied.as_mut().map(|it| it.restore(false, &mut SilentListener));
            return restored.unwrap_or(Ok(()));
        };
        let applied = match applied.as_mut() {
            Some(known) => known,
            None => {
                let store = (self.commands.open_store)()?;
                let settle = Duration::try_from_secs_f64(settle_s).unwrap_or_default();
                applied.insert(AppliedLevels::new(factors, settle, (store, &record)))
            }
        };
        applied.apply(&levels, line.cancel(), &mut SilentListener)
    }
}
