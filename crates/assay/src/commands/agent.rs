//! `assay agent`: the process on a remote host that assay on another host controls through a pipe.
//! Ends when the pipe closes or the coordinator goes silent.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_fleet::process;
use assay_fleet::remote::agent;
use assay_fleet::remote::coordinator_link::CoordinatorLink;
use assay_fleet::remote::{
    AgentReply, AgentRequest, ConditionRequest, RemoteRunRequest, relay,
};
use assay_kernels::clock;
use assay_model::factor::{FactorLevel, format_levels};
use assay_model::path_text;
use assay_model::suite::Suite;
use clap::Parser as _;

use super::{doctor, exec, run};
use crate::arguments::exec::ExecArguments;
use crate::arguments::{Arguments, AssayCommand, RunArguments};
use crate::{pipeline, store_access, suites};
use assay_console::options::StoreArguments;
use assay_run::factor_turns::AppliedLevels;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::fleet::{member, pairs};
use assay_run::listener::SilentListener;
use assay_run::network::setup::PathRequest;
use assay_run::run_request::RunRequest;
use assay_run::storage::options::RunOptions;
use assay_run::storage::runner;
use assay_run::storage::shares::far_end::{self, StorageFarEnd};

/// Returns the words after `agent`. The command is internal: it appears neither in help nor in
/// completions.
pub(crate) fn agent_words(words: &[OsString]) -> Option<&[OsString]> {
    match words {
        [_, command, rest @ ..] if command == "agent" => Some(rest),
        _ => None,
    }
}

/// Serves requests until none arrives for `--patience` seconds. With `--remove DIR` this program is
/// a copy in a folder of its own, started there and deleted at once. `--from DIR` changes to the
/// folder in which the shell began.
pub(crate) fn agent(words: &[OsString]) -> Result<u8, CommandFailure> {
    if io::stdin().is_terminal() {
        return Err(CommandFailure::usage("`assay agent` is internal and needs a pipe")
            .advise("name the hosts in a command: assay doctor --hosts vm1,vm2"));
    }
    let mut patience = Duration::MAX;
    for option in words.chunks(2) {
        match option {
            [name, folder] if name == "--remove" => remove_copy(Path::new(folder)),
            // An error is ignored: paths in a folder that cannot be entered fail later.
            [name, folder] if name == "--from" => drop(std::env::set_current_dir(folder)),
            [name, seconds] if name == "--patience" => {
                let seconds = seconds.to_str().and_then(|it| it.parse().ok());
                patience = seconds.map_or(patience, Duration::from_secs);
            }
            _ => {}
        }
    }
    process::adopt_orphans();
    let share = Arc::new(Mutex::new(None));
    let agent_share = Arc::clone(&share);
    let levels = Arc::new(Mutex::new(None));
    let agent_levels = Arc::clone(&levels);
    let takes_ranks = Arc::new(AtomicBool::new(false));
    let ranks_flag = Arc::clone(&takes_ranks);
    let handle = move |request, line: &Arc<CoordinatorLink>| {
        if let AgentRequest::Run(run_request) = &request {
            let has_mpi_pairs = run_request.pairs.as_ref().is_some_and(|pairs| pairs.of_mpi);
            ranks_flag.store(has_mpi_pairs, Ordering::Relaxed);
        }
        handle_request(request, (&agent_share, &agent_levels), line);
    };
    let serve_call = move |call| pairs::serve_call(call, takes_ranks.load(Ordering::Relaxed));
    let result =
        agent::serve(io::stdin(), io::stdout(), (clock::now_ns, patience), handle, serve_call);
    // A worker that is killed within a command keeps its locks. A cancelled `apply` ends within a
    // second, and a `restore` is not interrupted.
    let mut applied = lock(&levels);
    // Some may still be running when the pipe closes.
    process::kill_descendants();
    // The levels of a coordinator that is gone are restored, and stay locked until the end.
    if let Some(levels) = applied.as_mut() {
        drop(levels.restore(false, &mut SilentListener));
    }
    match share.try_lock().ok().as_deref() {
        // The files of a shared job stay, like those of a job on a single host.
        Some(Some(share)) => drop(StorageFarEnd::finish(share)),
        // A locked share is still in progress.
        None => {}
        Some(None) => drop(runner::remove_created(&RunOptions::default())),
    }
    result.map_err(|error| {
        CommandFailure::new(FailureKind::Measurement, "the agent failed").with_cause(&error)
    })?;
    Ok(0)
}

/// Deletes the copy of this program and its folder; the kernel keeps the running executable. The
/// folder stays if it contains anything else. The copy is deleted relative to the working folder,
/// because its path could be replaced meanwhile.
fn remove_copy(folder: &Path) {
    let is_running = std::env::current_exe().is_ok_and(|it| it == folder.join("assay"));
    let is_here = std::env::current_dir().is_ok_and(|here| here == folder);
    if is_running && is_here && std::fs::remove_file("assay").is_ok() {
        // If this fails, the shell that started this process tries again.
        drop(std::fs::remove_dir(folder));
    }
}

fn handle_request(
    request: AgentRequest,
    (share, levels): (&Mutex<Option<StorageFarEnd>>, &Mutex<Option<AppliedLevels>>),
    line: &Arc<CoordinatorLink>,
) {
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
    // Locked only while the share is prepared or executed; `agent` relies on this at the end.
    let lock_share = || lock(share);
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
            None => Err(CommandFailure::new(FailureKind::Internal, "the host has no share")),
        },
        AgentRequest::Trees(request) => {
            far_end::prepare_trees(*request, &mut lock_share()).map(AgentReply::Marks)
        }
        AgentRequest::TreesPhase(request) => far_end::run_trees_phase(&request, line)
            .map(|outcome| AgentReply::TreesOutcome(Box::new(outcome))),
        AgentRequest::Examine => doctor::examine(&PathRequest::default())
            .map(|examined| AgentReply::Examined(Box::new(examined))),
        AgentRequest::Condition(request) => {
            apply_levels(*request, &mut lock(levels), line).map(|()| AgentReply::Done)
        }
        AgentRequest::Run(request) => measure(&request, line).map(|()| AgentReply::Done),
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Applies levels on this host, or restores the earlier state.
fn apply_levels(
    request: ConditionRequest,
    applied: &mut Option<AppliedLevels>,
    line: &Arc<CoordinatorLink>,
) -> Result<(), CommandFailure> {
    let ConditionRequest { record, factors, levels, settle_s } = request;
    let Some(levels) = levels else {
        let restored = applied.as_mut().map(|it| it.restore(false, &mut SilentListener));
        return restored.unwrap_or(Ok(()));
    };
    let applied = match applied {
        Some(known) => known,
        None => {
            let store = store_access::open(&StoreArguments { folder: None })?;
            let settle = Duration::try_from_secs_f64(settle_s).unwrap_or_default();
            applied.insert(AppliedLevels::new(factors, settle, (store, &record)))
        }
    };
    applied.apply(&levels, line.cancel(), &mut SilentListener)
}

/// Executes `assay run` or `assay exec` as typed on the coordinator, except `--store`, which is a
/// folder there.
fn measure(
    request: &RemoteRunRequest,
    line: &Arc<CoordinatorLink>,
) -> Result<(), CommandFailure> {
    let words = std::iter::once("assay").chain(request.words.iter().map(String::as_str));
    let words = words.map(path_text::decode_word);
    let typed = Arguments::try_parse_from(words).map_err(|error| {
        CommandFailure::new(FailureKind::Internal, "cannot parse the run's command line")
            .with_cause(&error)
    })?;
    let mut typed = match typed.command {
        AssayCommand::Run(typed) => typed,
        AssayCommand::Exec(typed) => return measure_programs(*typed, request.seed, line),
        _ => {
            return Err(CommandFailure::new(FailureKind::Internal, "the command is not a run"));
        }
    };
    typed.measuring.store.folder = None;
    typed.measuring.seed = Some(request.seed);
    for target in &mut typed.storage.targets {
        let encoded = path_text::encode(target.as_os_str()).replace("{host}", &request.host);
        *target = path_text::decode_path(&encoded);
    }
    // A host without a store has no record either.
    let store = store_access::open(&typed.measuring.store).ok();
    let (suite, budget_s) = match &request.turn {
        Some(turn) => (turn_suite(&typed, request, &turn.levels)?, Some(turn.budget_s)),
        None => (suites::read_joined(&typed.suites, &request.suites)?, None),
    };
    let suite = run::with_targets(&typed, suite)?;
    let run_request = run::run_request(&typed, &suite)?;
    let budget_s = budget_s.or(run_request.budget_s);
    let pairs = request.pairs.clone();
    member::measure(&RunRequest { pairs, budget_s, ..run_request }, store.as_ref(), line)
}

/// Returns the suite for a combination of levels.
fn turn_suite(
    typed: &RunArguments,
    request: &RemoteRunRequest,
    levels: &[FactorLevel],
) -> Result<Suite, CommandFailure> {
    let opened = suites::open_factorial(&typed.suites, &typed.factors, &request.suites)?;
    let combinations = opened.map(|it| it.suite.combinations).unwrap_or_default();
    let case = combinations.into_iter().find(|it| it.levels == levels);
    case.map(|it| it.suite).ok_or_else(|| {
        let what = format!("the suite has no combination {}", format_levels(levels));
        CommandFailure::new(FailureKind::Internal, what)
    })
}

/// Executes `assay exec`.
fn measure_programs(
    mut typed: ExecArguments,
    seed: u64,
    line: &Arc<CoordinatorLink>,
) -> Result<(), CommandFailure> {
    typed.measuring.store.folder = None;
    typed.measuring.seed = Some(seed);
    let suite = exec::suite_from_options(&typed)?;
    let request = pipeline::request_from_options(&suite, &typed.measuring);
    // Programs have no factors on hosts, so that nothing is recorded.
    member::measure(&request, None, line)
}
