//! Commands that MPI launchers start several times: their processes are the tasks of one job.

use std::convert::Infallible;
use std::rc::Rc;
use std::thread;

use assay_console::failure::exit_code;
use assay_report::words;
use assay_run::failure::CommandFailure;
use assay_run::mpi::launcher_env::LauncherEnv;
use assay_run::mpi::options::RequestedLibrary;
use assay_run::mpi::ranks::{self, LibraryStart, MpiJob, NOTE_DELAY};
use assay_run::storage::job_tasks::{self, JobTasks, TaskRanks};

use crate::signals;
use crate::terminal::Terminal;

/// Runs a command on the tasks of its job: threads, or the ranks of a launcher. Rank 0 runs the
/// command, and the others follow it.
///
/// # Errors
/// The MPI library cannot be used, or the command fails.
pub(crate) fn run_on_tasks(
    requested: &RequestedLibrary,
    terminal: &mut Terminal,
    command: impl FnOnce(&JobTasks, &mut Terminal) -> Result<u8, CommandFailure>,
) -> Result<u8, CommandFailure> {
    let launched = LauncherEnv::from_process_env();
    if !launched.has_several_ranks() {
        refuse_library(requested)?;
        return command(&JobTasks::Threads, terminal);
    }
    let job = match connect(requested, &launched, terminal) {
        // All ranks fail for the same reason before they are connected. One of them reports it; the
        // others wait, because a launcher kills all ranks after the first error.
        Err(failure) if !launched.is_reporting_rank() => {
            thread::sleep(NOTE_DELAY);
            return Ok(exit_code(failure.kind));
        }
        job => job?,
    };
    if job.world.rank() == 0 {
        return lead(job, terminal, command);
    }
    let stop = signals::cancel_on_signals()?;
    if let Err(failure) = job_tasks::follow(&job, &stop) {
        abort(&failure, terminal, |code| job.world.abort(code));
    }
    Ok(0)
}

fn connect(
    requested: &RequestedLibrary,
    launched: &LauncherEnv,
    terminal: &mut Terminal,
) -> Result<MpiJob, CommandFailure> {
    let library = ranks::open_library(requested, launched)?;
    ranks::warn_of_mismatch(&library, launched, &mut |note| {
        terminal.note(&words::phrase(note));
        Ok(())
    })?;
    MpiJob::connect(&library, launched, LibraryStart::OneThread)
}

/// Runs the command on rank 0, and ends the job in good order, or aborts it if a rank does not
/// answer.
fn lead(
    job: MpiJob,
    terminal: &mut Terminal,
    command: impl FnOnce(&JobTasks, &mut Terminal) -> Result<u8, CommandFailure>,
) -> Result<u8, CommandFailure> {
    let ranks = Rc::new(TaskRanks::new(job));
    let result = command(&JobTasks::Ranks(Rc::clone(&ranks)), terminal);
    if ranks.end() {
        return result;
    }
    let failure = result.err().unwrap_or_else(|| {
        CommandFailure::measurement("the ranks cannot be ended")
            .with_reason("the MPI library failed after the last measurement")
            .advise("the results are complete; check the hosts for processes that are left")
    });
    abort(&failure, terminal, |code| ranks.abort(code))
}

/// Reports the failure of a single rank, and ends all processes of the job.
fn abort(
    failure: &CommandFailure,
    terminal: &mut Terminal,
    end: impl FnOnce(u8) -> Infallible,
) -> ! {
    terminal.print_failure(failure);
    thread::sleep(NOTE_DELAY);
    match end(exit_code(failure.kind)) {}
}

/// Refuses a named library where tasks are threads.
pub(crate) fn refuse_library(requested: &RequestedLibrary) -> Result<(), CommandFailure> {
    if *requested == RequestedLibrary::default() {
        return Ok(());
    }
    Err(CommandFailure::usage("there are no ranks that could use an MPI library")
        .with_reason("no launcher has started several processes: tasks are threads")
        .advise("start the command with mpirun, or leave out --mpi and --mpi-library"))
}
