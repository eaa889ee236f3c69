//! `assay agent`: the process on a remote host that assay on another host controls through a pipe.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay_fleet::remote::RemoteRunRequest;
use assay_fleet::remote::coordinator_link::CoordinatorLink;
use assay_model::factor::{FactorLevel, format_levels};
use assay_model::path_text;
use assay_model::suite::Suite;
use clap::Parser as _;

use super::{doctor, exec, run};
use crate::arguments::exec::ExecArguments;
use crate::arguments::{Arguments, AssayCommand, RunArguments};
use crate::{pipeline, store_access, suites};
use assay_console::options::StoreArguments;
use assay_run::agent::{self, AgentCommands};
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::fleet::member;
use assay_run::network::setup::PathRequest;
use assay_run::run_request::RunRequest;

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
    let commands = AgentCommands {
        examine: || doctor::examine(&PathRequest::default()),
        measure,
        open_store: || store_access::open(&StoreArguments { folder: None }),
    };
    agent::serve(commands, patience).map(|()| 0)
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
    let suites = suites::split_names(&typed.suites, &request.suites)?;
    let (suite, budget_s) = match &request.turn {
        Some(turn) => {
            (turn_suite((&typed, &suites), request, &turn.levels)?, Some(turn.budget_s))
        }
        None => (suites::read_joined(&suites, &request.suites)?, None),
    };
    let suite = run::with_targets(&typed, suite)?;
    let run_request = run::run_request(&typed, &suite)?;
    let budget_s = budget_s.or(run_request.budget_s);
    let pairs = request.pairs.clone();
    member::measure(&RunRequest { pairs, budget_s, ..run_request }, store.as_ref(), line)
}

/// Returns the suite for a combination of levels.
fn turn_suite(
    (typed, suites): (&RunArguments, &[OsString]),
    request: &RemoteRunRequest,
    levels: &[FactorLevel],
) -> Result<Suite, CommandFailure> {
    let opened = suites::open_factorial(suites, &typed.factors, &request.suites)?;
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
