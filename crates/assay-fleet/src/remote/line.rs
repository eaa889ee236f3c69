//! The processes that lead to hosts: started, listened to, and ended with all that they started.

use std::io::BufReader;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::controller::Course;
use super::failure::HostFailure;
use super::stderr::{self, Tail};
use super::{Program, Reply, VERSION, Via, agent, bootstrap, frame};

/// Time in which an agent ends when its pipe is closed.
pub(super) const LAST_SECOND: Duration = Duration::from_secs(1);

/// One process is collected at a time. The kernel takes its entries of `/proc` away then, and spins until whoever else is at
/// them has finished (`shrink_dcache_parent`): a thousand threads that did so together kept those others from running.
static REAPING: Mutex<()> = Mutex::new(());

/// A process that leads to a host. Killed when this is dropped, with all that it started.
pub(super) struct Line {
    child: Mutex<Child>,
    /// When it is cut off.
    end: Mutex<Instant>,
    is_late: AtomicBool,
}

impl Line {
    /// It is not cut off before that.
    pub(super) fn lives_until(&self, end: Instant) {
        *lock(&self.end) = end;
    }

    /// Why it failed, with what it said last.
    pub(super) fn explain(
        &self,
        failure: HostFailure,
        said: &Tail,
        course: &Course<'_>,
    ) -> HostFailure {
        let said = last_line(&lock(said));
        match failure {
            _ if course.cancel.load(Ordering::Relaxed) => HostFailure::Interrupted,
            _ if self.is_late.load(Ordering::Relaxed) => {
                let said = failure.and_printed(said);
                HostFailure::Silent { seconds: course.deadline.as_secs(), said }
            }
            failure => failure.explained(said),
        }
    }

    /// While its end has not been waited for, its number is nobody else's.
    fn id(&self) -> Pid {
        Pid::from_child(&lock(&self.child))
    }

    pub(super) fn runs(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        matches!(waitid(WaitId::Pid(self.id()), options), Ok(None))
    }

    fn cut(&self) {
        if self.runs() {
            let _is_there = kill_process_group(self.id(), Signal::KILL);
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.cut();
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.id()), ended), Err(Errno::INTR)) {}
        let _turn = lock(&REAPING);
        drop(lock(&self.child).wait());
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pipes of a line.
pub(super) struct Ends {
    pub(super) input: ChildStdin,
    pub(super) output: BufReader<ChildStdout>,
    /// The end of what it wrote on its standard error.
    pub(super) said: Tail,
}

/// All lines of a controller.
pub(super) type Lines = Mutex<Vec<Weak<Line>>>;

/// Ends the lines whose time is over, or all of them. Whoever waits for one sees its pipes close.
pub(super) fn cut_late(lines: &Lines, cancel: &AtomicBool) {
    let is_over = cancel.load(Ordering::Relaxed);
    lock(lines).retain(|line| {
        let Some(line) = line.upgrade() else { return false };
        if is_over || Instant::now() >= *lock(&line.end) {
            line.is_late.store(true, Ordering::Relaxed);
            line.cut();
            return false;
        }
        true
    });
}

/// What is done with an agent that runs.
type Talk<'t, T> = dyn Fn(Ends, &Arc<Line>) -> Result<T, HostFailure> + 't;

/// Starts an agent on a host and talks to it; `talk` is given its pipes after its first word.
pub(super) fn talk_to<T>(
    host: &str,
    course: &Course<'_>,
    lines: &Lines,
    talk: &Talk<'_, T>,
) -> Result<T, HostFailure> {
    let end = Instant::now() + course.deadline;
    let attempt = |program: &Program, is_copied| {
        if course.cancel.load(Ordering::Relaxed) {
            return Err(HostFailure::Interrupted);
        }
        let (line, mut ends) = open(host, course.via, end)?;
        let line = Arc::new(line);
        lock(lines).push(Arc::downgrade(&line));
        let said = Arc::clone(&ends.said);
        let outcome = greet(&mut ends, program, (is_copied, agent::patience(course.deadline)))
            .and_then(|()| talk(ends, &line));
        outcome.map_err(|failure| {
            // What a process says when it ends comes a moment after its pipe has closed. Its listener ends with
            // it, unless something in the background still holds that pipe.
            let over = Instant::now() + LAST_SECOND;
            let is_waited = || !course.cancel.load(Ordering::Relaxed) && Instant::now() < over;
            while stderr::is_open(&said) && is_waited() {
                thread::sleep(Duration::from_millis(5));
            }
            line.explain(failure, &said, course)
        })
    };
    // A program of the same size in the same place may still be another build.
    let either = |program: &Program| match attempt(program, false) {
        Err(HostFailure::Changed) => attempt(program, true),
        outcome => outcome,
    };
    match either(course.program) {
        Err(HostFailure::Machine { theirs, ours }) => match course.program.for_machine(&theirs)
        {
            Some(program) => either(program),
            None => Err(HostFailure::Machine { theirs, ours }),
        },
        outcome => outcome,
    }
}

/// Has an agent started there, which must be of this very build, or of this version for another machine.
fn greet(
    ends: &mut Ends,
    program: &Program,
    (is_copied, patience): (bool, Duration),
) -> Result<(), HostFailure> {
    bootstrap::start((&mut ends.input, &mut ends.output), program, is_copied, patience)?;
    let Reply::Hello(said) = frame::read(&mut ends.output).map_err(HostFailure::of_pipe)?
    else {
        return Err(HostFailure::Changed);
    };
    let (hash, version) = said.split_once(' ').unwrap_or((&said, "older"));
    match hash == program.hash {
        true if version == VERSION => Ok(()),
        true => Err(HostFailure::Version { theirs: version.chars().take(40).collect() }),
        false => Err(HostFailure::Changed),
    }
}

/// Starts the transport with a shell at its end.
pub(super) fn open(host: &str, via: &Via, end: Instant) -> Result<(Line, Ends), HostFailure> {
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
    let line = Line {
        child: Mutex::new(child),
        end: Mutex::new(end),
        is_late: AtomicBool::new(false),
    };
    let (Some(input), Some(output), Some(errors)) = pipes else {
        return Err(HostFailure::Closed);
    };
    let said = stderr::listen_to(errors).map_err(not_started)?;
    Ok((line, Ends { input, output: BufReader::new(output), said }))
}

/// What kubectl says beside what it is asked: which of several containers it took, and the exit code of what it ran, after
/// that has said why.
const TOOK_ONE: &str = "Defaulted container ";
const RAN: &str = "command terminated with exit code ";

/// The last line that says something, without what a terminal would take for a command.
fn last_line(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let says_something = |line: &&str| !line.is_empty() && !line.starts_with(TOOK_ONE);
    let mut lines = text.lines().rev().map(str::trim).filter(says_something);
    let last = lines.next().unwrap_or_default();
    let before = lines.next().filter(|_| last.starts_with(RAN));
    let said = before.map_or_else(|| last.to_owned(), |before| format!("{before} ({last})"));
    assay_model::sanitize::escape_hidden(&said).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_that_tells_why_is_kept() {
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
            assert_eq!(last_line(said.as_bytes()), kept);
        }
    }
}
