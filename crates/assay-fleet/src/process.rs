//! One child process: started with everything it needs, watched, and ended with all its descendants.
//!
//! Never leaves a process behind, never waits beyond the deadline (plus the two seconds in which the
//! child may clean up), never holds more output than the cap, and never overwrites a file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};

mod capture;
mod family;
mod search;
mod workplace;

pub use family::{adopt_orphans, end_descendants};
pub use search::find_executable;

use capture::{Stop, Watch};
use family::Mark;
use workplace::Workplace;

/// Output of one stream that is kept unless the caller says otherwise: 64 MiB.
const CAP_BYTES: u64 = 64 << 20;

/// What to start, and where its limits are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// A path, or a name that is looked up on `PATH`.
    pub program: PathBuf,
    /// The arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// Changes to the inherited environment: `Some` sets a variable, `None` removes it.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// The working directory; `None` is a fresh one that is removed afterwards.
    pub directory: Option<PathBuf>,
    /// Files to write into the working directory before the start: relative path and content. Their
    /// directories are made; a file that exists is an error.
    pub input_files: Vec<(PathBuf, Vec<u8>)>,
    /// Files to read from the working directory after the end, by relative path. One that is not there
    /// is left out of [`Completed::files`].
    pub output_files: Vec<PathBuf>,
    /// The CPUs the child may use, by Linux's numbers below 1024; empty leaves the inherited ones.
    pub cpus: Vec<u32>,
    /// The child is ended when it takes longer.
    pub deadline: Option<Duration>,
    /// Most bytes accepted from each of the two streams and from each output file.
    pub cap_bytes: u64,
}

/// What a child wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

/// How a child ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// With this exit code; 0 is success.
    Exited(i32),
    /// By this signal, which assay did not send.
    Killed(i32),
}

/// A child that ended by itself, successfully or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// How it ended.
    pub status: Status,
    /// Both streams, whole.
    pub output: Captured,
    /// The requested files that exist, by the path they were requested with.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// From just before the start to the end.
    pub elapsed: Duration,
}

/// Why there is no complete result of a child.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// Neither a path to a file nor a name on `PATH`.
    #[error("cannot find the program {}", program.display())]
    NotFound {
        /// As requested.
        program: PathBuf,
    },
    /// The file is there, but may not be executed, is not a program, or names an interpreter that is not
    /// there.
    #[error("cannot execute {}", program.display())]
    NotExecutable {
        /// The path found.
        program: PathBuf,
    },
    /// The system refused the start for another reason.
    #[error("cannot start {}", program.display())]
    Start {
        /// The path found.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The CPUs do not exist, are offline, or are outside the cpuset.
    #[error("cannot restrict {} to the CPUs {cpus:?}", program.display())]
    Restrict {
        /// The path found.
        program: PathBuf,
        /// As requested.
        cpus: Vec<u32>,
        /// The system's reason.
        source: io::Error,
    },
    /// The working directory could not be made or entered.
    #[error("cannot use the working directory {}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file path is absolute or leads out of the working directory.
    #[error("cannot use {} inside a working directory", path.display())]
    OutsidePath {
        /// As requested.
        path: PathBuf,
    },
    /// An input file exists already or could not be written.
    #[error("cannot write the input file {}", path.display())]
    WriteFile {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// An output file is there, but could not be read.
    #[error("cannot read the output file {}", path.display())]
    ReadFile {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The child could not be watched.
    #[error("cannot follow {}", program.display())]
    Watch {
        /// The path found.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It took longer than it was allowed; it and its descendants have been ended.
    #[error("{} did not end within {} s", program.display(), limit.as_secs_f64())]
    Deadline {
        /// The path found.
        program: PathBuf,
        /// The time allowed.
        limit: Duration,
        /// What it had written until then.
        output: Captured,
    },
    /// The cancel flag was raised; the child and its descendants have been ended.
    #[error("{} was cancelled", program.display())]
    Cancelled {
        /// The path found.
        program: PathBuf,
    },
    /// A stream or file is longer than the cap; a child that still ran has been ended.
    #[error("{} of {} is longer than {cap_bytes} bytes", what, program.display())]
    TooLarge {
        /// The path found.
        program: PathBuf,
        /// `standard output`, `standard error`, or the file's path.
        what: String,
        /// The cap.
        cap_bytes: u64,
    },
}

impl Command {
    /// A program with no arguments, the inherited environment, a fresh working directory, all CPUs, no
    /// deadline, and a cap of 64 MiB.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            directory: None,
            input_files: Vec::new(),
            output_files: Vec::new(),
            cpus: Vec::new(),
            deadline: None,
            cap_bytes: CAP_BYTES,
        }
    }
}

impl Completed {
    /// Whether the child said that all went well: exit code 0.
    #[must_use]
    pub const fn success(&self) -> bool {
        matches!(self.status, Status::Exited(0))
    }
}

/// Runs a child to its end and returns what it left. Standard input is empty. Descendants that still
/// run when the child has ended are ended, too, so that nothing disturbs the next measurement. To be
/// found, they carry the variable `ASSAY_CHILD` in their environment.
///
/// `cancel` is looked at about twenty times a second; when it is raised (or the deadline passes, or a
/// stream exceeds the cap), the child and all its descendants get SIGTERM and, two seconds later
/// (less than one where it was cancelled), SIGKILL.
///
/// # Errors
/// [`ProcessError`]. A child that ends by itself with a failure is not an error here: see
/// [`Completed::status`].
pub fn run(command: &Command, cancel: &AtomicBool) -> Result<Completed, ProcessError> {
    let program = search::resolve(&command.program)?;
    let workplace = Workplace::prepare(command)?;
    let began = Instant::now();
    let (child, mark) = start(command, &program, workplace.path())?;
    let watch = Watch { cancel, deadline: command.deadline, cap_bytes: command.cap_bytes };
    let followed = watch.follow(child, mark, began);
    family::wait_for_the_end();
    let (status, output) = followed.map_err(|stop| stopped(stop, &program, command))?;
    let elapsed = began.elapsed();
    let files = workplace.collect(&program, &command.output_files, command.cap_bytes)?;
    Ok(Completed { status: Status::from(status), output, files, elapsed })
}

impl From<ExitStatus> for Status {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exited(code),
            (None, signal) => Self::Killed(signal.unwrap_or(0)),
        }
    }
}

fn start(
    command: &Command,
    program: &Path,
    directory: &Path,
) -> Result<(Child, Mark), ProcessError> {
    let mut prepared = std::process::Command::new(program);
    prepared
        .args(&command.arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    for (name, value) in &command.environment {
        match value {
            Some(value) => prepared.env(name, value),
            None => prepared.env_remove(name),
        };
    }
    let mark = Mark::put_on(&mut prepared);
    let spawned = if command.cpus.is_empty() {
        prepared.spawn()
    } else {
        spawn_pinned(&mut prepared, command, program)?
    };
    let child = spawned.map_err(|source| not_started(program, source))?;
    Ok((child, mark))
}

/// A child inherits the affinity of the thread that starts it. That thread is one of its own, which
/// ends right after, so that no affinity has to be put back.
fn spawn_pinned(
    prepared: &mut std::process::Command,
    command: &Command,
    program: &Path,
) -> Result<io::Result<Child>, ProcessError> {
    let refused = |source: io::Error| ProcessError::Restrict {
        program: program.to_owned(),
        cpus: command.cpus.clone(),
        source,
    };
    let mut set = rustix::thread::CpuSet::new();
    for cpu in &command.cpus {
        let cpu = *cpu as usize;
        if cpu >= rustix::thread::CpuSet::MAX_CPU {
            return Err(refused(io::Error::from(io::ErrorKind::InvalidInput)));
        }
        set.set(cpu);
    }
    std::thread::scope(|scope| {
        let pinned = scope.spawn(|| {
            rustix::thread::sched_setaffinity(None, &set)
                .map_err(|error| refused(error.into()))?;
            Ok(prepared.spawn())
        });
        pinned.join().expect("starting a process does not panic")
    })
}

fn not_started(program: &Path, source: io::Error) -> ProcessError {
    let program = program.to_owned();
    match (source.kind(), source.raw_os_error().map(rustix::io::Errno::from_raw_os_error)) {
        // The file itself has been found before: what is not found here is its interpreter.
        (io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied, _)
        | (_, Some(rustix::io::Errno::NOEXEC)) => ProcessError::NotExecutable { program },
        _ => ProcessError::Start { program, source },
    }
}

fn stopped(stop: Stop, program: &Path, command: &Command) -> ProcessError {
    let program = program.to_owned();
    match stop {
        Stop::Cancelled => ProcessError::Cancelled { program },
        Stop::Deadline(limit, output) => ProcessError::Deadline { program, limit, output },
        Stop::TooLarge(what) => {
            ProcessError::TooLarge { program, what: what.into(), cap_bytes: command.cap_bytes }
        }
        Stop::Failed(source) => ProcessError::Watch { program, source },
    }
}
