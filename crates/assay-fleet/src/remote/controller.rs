//! The near end: many hosts asked at once, each over a process of its own, none waiting for another.

use std::io::{BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::failure::HostFailure;
use super::frame::{self, FrameError};
use super::{Examined, Program, Reply, Request, Via, bootstrap};

/// Hosts that are talked to at the same time: each takes a process, three pipes and two small threads here.
const AT_ONCE: usize = 256;

/// How hosts are reached, and how long they may take.
#[derive(Debug)]
pub struct Course<'a> {
    /// The command that gives a pipe.
    pub via: &'a Via,
    /// What is to run there.
    pub program: &'a Program,
    /// From the start of the command to the answer.
    pub deadline: Duration,
    /// Ends everything.
    pub cancel: &'a AtomicBool,
}

/// What a host answered, and how its clock stands.
#[derive(Debug)]
pub struct Answer {
    /// What was asked for.
    pub examined: Examined,
    /// What its clock shows beyond this host's, and within which bound that is known, in seconds.
    pub clock_offset_s: (f64, f64),
}

/// A process that leads to a host. Killed when this is dropped, with all that it started.
struct Line {
    child: Mutex<Child>,
    /// When it is cut off.
    end: Instant,
    is_late: AtomicBool,
}

impl Line {
    fn cut(&self) {
        let mut child = lock(&self.child);
        // While it has not been waited for, its number is nobody else's.
        if matches!(child.try_wait(), Ok(None)) {
            let group = rustix::process::Pid::from_child(&child);
            let _is_there =
                rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.cut();
        drop(lock(&self.child).wait());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pipes of a line.
struct Ends {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The end of what it wrote on its standard error.
    said: Arc<Mutex<Vec<u8>>>,
}

/// Asks all hosts what `assay doctor` finds there; `observe` hears of each as it answers. The answers come in
/// the order of the hosts.
pub fn ask(
    hosts: &[String],
    course: &Course<'_>,
    observe: &mut dyn FnMut(&str, &Result<Answer, HostFailure>),
) -> Vec<Result<Answer, HostFailure>> {
    let next = AtomicUsize::new(0);
    let lines = Mutex::new(Vec::new());
    let (answers, answered) = mpsc::channel();
    let mut found: Vec<_> = hosts.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..hosts.len().min(AT_ONCE) {
            let (answers, next, lines) = (answers.clone(), &next, &lines);
            let work = move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(host) = hosts.get(number) else { return };
                    if answers.send((number, ask_one(host, course, lines))).is_err() {
                        return;
                    }
                }
            };
            // Those that run take over the hosts of one that cannot be started.
            drop(thread::Builder::new().stack_size(512 << 10).spawn_scoped(scope, work));
        }
        drop(answers);
        loop {
            match answered.recv_timeout(Duration::from_millis(50)) {
                Ok((number, answer)) => {
                    observe(&hosts[number], &answer);
                    found[number] = Some(answer);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => cut_late(&lines, course.cancel),
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
        }
    });
    found.into_iter().map(|answer| answer.unwrap_or(Err(HostFailure::NoThread))).collect()
}

/// Ends the lines whose time is over, or all of them. Whoever waits for one sees its pipes close.
fn cut_late(lines: &Mutex<Vec<std::sync::Weak<Line>>>, cancel: &AtomicBool) {
    let is_over = cancel.load(Ordering::Relaxed);
    lock(lines).retain(|line| {
        let Some(line) = line.upgrade() else { return false };
        if is_over || Instant::now() >= line.end {
            line.is_late.store(true, Ordering::Relaxed);
            line.cut();
            return false;
        }
        true
    });
}

fn ask_one(
    host: &str,
    course: &Course<'_>,
    lines: &Mutex<Vec<std::sync::Weak<Line>>>,
) -> Result<Answer, HostFailure> {
    let end = Instant::now() + course.deadline;
    let attempt = |is_copied| {
        if course.cancel.load(Ordering::Relaxed) {
            return Err(HostFailure::Interrupted);
        }
        let (line, mut ends) = open(host, course.via, end)?;
        let line = Arc::new(line);
        lock(lines).push(Arc::downgrade(&line));
        let outcome = converse(&mut ends, course.program, is_copied);
        outcome.map_err(|failure| {
            // What a process says when it ends comes a moment after its pipe has closed.
            thread::sleep(Duration::from_millis(50));
            let said = last_line(&lock(&ends.said));
            match failure {
                _ if course.cancel.load(Ordering::Relaxed) => HostFailure::Interrupted,
                _ if line.is_late.load(Ordering::Relaxed) => {
                    HostFailure::Silent { seconds: course.deadline.as_secs(), said }
                }
                failure => failure.explained(said),
            }
        })
    };
    // A program of the same size in the same place may still be another build.
    match attempt(false) {
        Err(HostFailure::Changed) => attempt(true),
        outcome => outcome,
    }
}

/// Starts the transport with a shell at its end.
fn open(host: &str, via: &Via, end: Instant) -> Result<(Line, Ends), HostFailure> {
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
    let line = Line { child: Mutex::new(child), end, is_late: AtomicBool::new(false) };
    let (Some(input), Some(output), Some(mut errors)) = pipes else {
        return Err(HostFailure::Closed);
    };
    let said = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&said);
    // Not waited for: what a transport leaves running in the background may keep this pipe open.
    let listen = move || {
        let mut chunk = [0; 1024];
        while let Ok(read @ 1..) = errors.read(&mut chunk) {
            let mut kept = lock(&kept);
            kept.extend_from_slice(&chunk[..read]);
            let surplus = kept.len().saturating_sub(4096);
            kept.drain(..surplus);
        }
    };
    thread::Builder::new().stack_size(128 << 10).spawn(listen).map_err(not_started)?;
    Ok((line, Ends { input, output: BufReader::new(output), said }))
}

fn converse(
    ends: &mut Ends,
    program: &Program,
    is_copied: bool,
) -> Result<Answer, HostFailure> {
    bootstrap::start((&mut ends.input, &mut ends.output), program, is_copied)?;
    match frame::read(&mut ends.output).map_err(of_pipe)? {
        Reply::Hello(hash) if hash == program.hash => {}
        _ => return Err(HostFailure::Changed),
    }
    let clock_offset_s = clock_offset(ends)?;
    match request(ends, Request::Examine)? {
        Reply::Examined(examined) => Ok(Answer { examined: *examined, clock_offset_s }),
        Reply::Failed { reason, advice } => Err(HostFailure::Refused { reason, advice }),
        Reply::Hello(_) | Reply::Clock(_) => Err(HostFailure::Closed),
    }
}

fn request(ends: &mut Ends, request: Request) -> Result<Reply, HostFailure> {
    frame::write(&mut ends.input, &request).map_err(of_pipe)?;
    frame::read(&mut ends.output).map_err(of_pipe)
}

fn of_pipe(error: FrameError) -> HostFailure {
    match error {
        FrameError::Closed => HostFailure::Closed,
        error => HostFailure::Foreign(error),
    }
}

/// What the far clock shows beyond ours and half the round trip, which bounds it (Cristian: Probabilistic clock
/// synchronization, Distributed Computing 3, 1989), of the quickest of some tries.
fn clock_offset(ends: &mut Ends) -> Result<(f64, f64), HostFailure> {
    const TRIES: usize = 8;
    let mut best = (0.0, f64::INFINITY);
    for _ in 0..TRIES {
        let (asked, before_s) = (Instant::now(), now_s());
        let Reply::Clock(theirs_ns) = request(ends, Request::Clock)? else {
            return Err(HostFailure::Closed);
        };
        let bound_s = asked.elapsed().as_secs_f64() / 2.0;
        if bound_s < best.1 {
            best = (theirs_ns as f64 / 1e9 - (before_s + bound_s), bound_s);
        }
    }
    Ok(best)
}

fn now_s() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |it| it.as_secs_f64())
}

/// The last line that says something, without what a terminal would take for a command.
fn last_line(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    assay_model::plain::visible(last.trim()).into_owned()
}
