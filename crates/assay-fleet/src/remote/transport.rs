//! Transport processes: started, monitored, and killed with their descendants.

use std::io::BufReader;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use assay_model::poisoned_lock::PoisonedLock as _;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::connection_options::ConnectionOptions;
use super::failure::HostFailure;
use super::stderr::{self, StderrTail};
use super::{AgentReply, Program, VERSION, Via, agent, bootstrap, frame};

/// Time for an agent to end after its pipe has closed.
pub(super) const EXIT_GRACE: Duration = Duration::from_secs(1);

/// Serialises reaping. The kernel removes the process's entries of `/proc` then, and spins until
/// other readers of them have finished (`shrink_dcache_parent`). A thousand threads at once kept
/// those readers from running.
static REAPING: Mutex<()> = Mutex::new(());

/// Transport process to a host. Dropping it kills the process group.
pub(super) struct TransportProcess {
    child: Mutex<Child>,
    /// Time at which it is killed.
    deadline: Mutex<Instant>,
    is_late: AtomicBool,
}

impl TransportProcess {
    /// Extends the time until which it may run.
    pub(super) fn set_deadline(&self, end: Instant) {
        *self.deadline.lock().even_if_poisoned() = end;
    }

    /// Returns the failure with the last line of the transport's error output.
    pub(super) fn explain(
        &self,
        failure: HostFailure,
        said: &StderrTail,
        course: &ConnectionOptions<'_>,
    ) -> HostFailure {
        let said = last_error_line(&said.lock().even_if_poisoned());
        match failure {
            _ if course.cancel.load(Ordering::Relaxed) => HostFailure::Interrupted,
            _ if self.is_late.load(Ordering::Relaxed) => {
                let said = failure.append_unexpected_output(said);
                HostFailure::Silent { seconds: course.deadline.as_secs(), said }
            }
            failure => failure.with_error_output(said),
        }
    }

    /// Returns the process id, which cannot be reused before the process is reaped.
    fn id(&self) -> Pid {
        Pid::from_child(&self.child.lock().even_if_poisoned())
    }

    pub(super) fn is_running(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        matches!(waitid(WaitId::Pid(self.id()), options), Ok(None))
    }

    fn kill(&self) {
        if self.is_running() {
            let _is_there = kill_process_group(self.id(), Signal::KILL);
        }
    }
}

impl Drop for TransportProcess {
    fn drop(&mut self) {
        self.kill();
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.id()), ended), Err(Errno::INTR)) {}
        let _turn = REAPING.lock().even_if_poisoned();
        drop(self.child.lock().even_if_poisoned().wait());
    }
}

/// Pipes of a transport process.
pub(super) struct TransportPipes {
    pub(super) input: ChildStdin,
    pub(super) output: BufReader<ChildStdout>,
    /// End of its standard error.
    pub(super) stderr_tail: StderrTail,
}

/// All transport processes of a coordinator.
pub(super) type TransportList = Mutex<Vec<Weak<TransportProcess>>>;

/// Kills overdue processes, or all of them on cancellation. Their readers see the pipes close.
pub(super) fn kill_overdue(lines: &TransportList, cancel: &AtomicBool) {
    let is_over = cancel.load(Ordering::Relaxed);
    lines.lock().even_if_poisoned().retain(|line| {
        let Some(line) = line.upgrade() else { return false };
        if is_over || Instant::now() >= *line.deadline.lock().even_if_poisoned() {
            line.is_late.store(true, Ordering::Relaxed);
            line.kill();
            return false;
        }
        true
    });
}

/// Task to run with a connected agent.
type AgentTask<'t, T> =
    dyn Fn(TransportPipes, &Arc<TransportProcess>) -> Result<T, HostFailure> + 't;

/// Starts an agent on a host and runs `talk` with its pipes after its first message.
pub(super) fn run_agent<T>(
    host: &str,
    course: &ConnectionOptions<'_>,
    lines: &TransportList,
    talk: &AgentTask<'_, T>,
) -> Result<T, HostFailure> {
    let end = Instant::now() + course.deadline;
    let attempt = |program: &Program, is_copied| {
        if course.cancel.load(Ordering::Relaxed) {
            return Err(HostFailure::Interrupted);
        }
        let (line, mut ends) = start_transport(host, course.via, end)?;
        let line = Arc::new(line);
        lines.lock().even_if_poisoned().push(Arc::downgrade(&line));
        let said = Arc::clone(&ends.stderr_tail);
        let outcome =
            start_agent(&mut ends, program, (is_copied, agent::patience(course.deadline)))
                .and_then(|()| talk(ends, &line));
        outcome.map_err(|failure| {
            // Error output arrives shortly after the pipe closes. Its reader ends with the process,
            // unless a background process still holds that pipe.
            let over = Instant::now() + EXIT_GRACE;
            let is_waited = || !course.cancel.load(Ordering::Relaxed) && Instant::now() < over;
            while stderr::is_open(&said) && is_waited() {
                thread::sleep(Duration::from_millis(5));
            }
            line.explain(failure, &said, course)
        })
    };
    // An installed program of the same size may be another build.
    let either = |program: &Program| match attempt(program, false) {
        Err(HostFailure::ProgramChanged) => attempt(program, true),
        outcome => outcome,
    };
    let mut outcome = either(course.program);
    let mut tried = course.program;
    for other in course.program.others() {
        let is_suitable = match &outcome {
            Err(HostFailure::WrongMachine { theirs, .. }) => other.machine == *theirs,
            // Another build may need an older C library.
            Err(HostFailure::ProgramFailed { .. }) => other.machine == tried.machine,
            _ => break,
        };
        if is_suitable {
            outcome = either(other);
            tried = other;
        }
    }
    outcome
}

/// Starts an agent and checks that it is this very build, or this version for another machine.
fn start_agent(
    ends: &mut TransportPipes,
    program: &Program,
    (is_copied, patience): (bool, Duration),
) -> Result<(), HostFailure> {
    bootstrap::start((&mut ends.input, &mut ends.output), program, is_copied, patience)?;
    let AgentReply::Hello(said) =
        frame::read(&mut ends.output).map_err(HostFailure::from_frame_error)?
    else {
        return Err(HostFailure::ProgramChanged);
    };
    let (hash, version) = said.split_once(' ').unwrap_or((&said, "older"));
    match hash == program.hash {
        true if version == VERSION => Ok(()),
        true => Err(HostFailure::WrongVersion { theirs: version.chars().take(40).collect() }),
        false => Err(HostFailure::ProgramChanged),
    }
}

/// Starts the transport with a shell at its end.
pub(super) fn start_transport(
    host: &str,
    via: &Via,
    end: Instant,
) -> Result<(TransportProcess, TransportPipes), HostFailure> {
    let words = via.words(host);
    let not_started = |source| HostFailure::Start { program: words[0].clone(), source };
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .arg("sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(not_started)?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let line = TransportProcess {
        child: Mutex::new(child),
        deadline: Mutex::new(end),
        is_late: AtomicBool::new(false),
    };
    let (Some(input), Some(output), Some(errors)) = pipes else {
        return Err(HostFailure::Closed);
    };
    let said = stderr::capture_tail(errors).map_err(not_started)?;
    Ok((line, TransportPipes { input, output: BufReader::new(output), stderr_tail: said }))
}

/// Additional messages of kubectl: the chosen one of several containers, and the exit code of a
/// command, after the command's own error message.
const DEFAULT_CONTAINER_PREFIX: &str = "Defaulted container ";
const EXIT_CODE_PREFIX: &str = "command terminated with exit code ";

/// Returns the last meaningful line, with terminal control characters made visible.
fn last_error_line(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let says_something =
        |line: &&str| !line.is_empty() && !line.starts_with(DEFAULT_CONTAINER_PREFIX);
    let mut lines = text.lines().rev().map(str::trim).filter(says_something);
    let last = lines.next().unwrap_or_default();
    let before = lines.next().filter(|_| last.starts_with(EXIT_CODE_PREFIX));
    let said = before.map_or_else(|| last.to_owned(), |before| format!("{before} ({last})"));
    assay_model::sanitize::escape_hidden(&said).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_last_meaningful_line() {
        for (said, kept) in [
            ("", ""),
            ("Welcome\nssh: no\n \n", "ssh: no"),
            ("Defaulted container \"main\" out of: main, side\n", ""),
            (
                "Defaulted container \"main\" out of: main, side\n\
                 command terminated with exit code 137\n",
                "command terminated with exit code 137",
            ),
            (
                "sh: mktemp: not found\ncommand terminated with exit code 127\n",
                "sh: mktemp: not found (command terminated with exit code 127)",
            ),
        ] {
            assert_eq!(last_error_line(said.as_bytes()), kept);
        }
    }
}
