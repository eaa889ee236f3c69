//! Child process with input files, limits and captured output; its descendants end with it.
//!
//! Never leaves a process behind, never waits beyond the deadline (plus two seconds for the child's
//! cleanup), never keeps more output than the cap, and never overwrites a file.

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
mod working_directory;

pub use family::{adopt_orphans, kill_descendants};
pub use search::{find_executable, resolve as find_program};

use capture::{ChildLimits, ChildStop, FollowedChild};
use family::FamilyMark;
use working_directory::WorkingDirectory;

/// Default limit of captured output of one stream: 64 MiB.
const DEFAULT_CAP_BYTES: u64 = 64 << 20;

/// Program to start with its inputs and limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildCommand {
    /// Path, or a name to look up on `PATH`.
    pub program: PathBuf,
    /// Arguments without the program's name.
    pub arguments: Vec<OsString>,
    /// Changes to the inherited environment: `Some` sets a variable, `None` removes it.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// Working directory; `None` is a temporary one that is removed afterwards.
    pub directory: Option<PathBuf>,
    /// Files to write into the working directory before the start: relative path and content.
    /// Creates their directories; an existing file is an error.
    pub input_files: Vec<(PathBuf, Vec<u8>)>,
    /// Relative paths of files to read from the working directory after the end. Missing files are
    /// left out of [`CompletedChild::files`].
    pub output_files: Vec<PathBuf>,
    /// CPUs that the child may use, numbered below 1024; empty leaves the inherited ones.
    pub cpus: Vec<u32>,
    /// Maximum run time, after which the child is killed.
    pub deadline: Option<Duration>,
    /// Maximum bytes of each of the two streams and of each output file.
    pub cap_bytes: u64,
    /// Treatment of a stream beyond that maximum.
    pub overflow: StreamOverflow,
}

/// Treatment of a stream that is longer than the cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamOverflow {
    /// The child is killed: half an output is not its result.
    Kill,
    /// The first and the last half of the cap are kept.
    KeepEnds,
}

/// Captured output of a child.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChildOutput {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

/// End of a child that was not killed by assay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildStatus {
    /// Exit code; 0 is success.
    Exited(i32),
    /// Signal that assay did not send.
    Killed(i32),
}

/// Child that ended by itself, successfully or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedChild {
    /// Exit code or signal.
    pub status: ChildStatus,
    /// Complete output of both streams.
    pub output: ChildOutput,
    /// Requested files that exist, by the requested path.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// Time from just before the start to the end.
    pub elapsed: Duration,
    /// Number of descendants that outlived the child and were killed.
    pub killed_descendants: usize,
}

/// Reason why a child has no complete result.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// No such file and no such name on `PATH`.
    #[error("cannot find the program {}", program.display())]
    NotFound {
        /// Requested program.
        program: PathBuf,
    },
    /// File that exists but is not executable, is no program, or names a missing interpreter.
    #[error("cannot execute {}", program.display())]
    NotExecutable {
        /// Path found.
        program: PathBuf,
    },
    /// Start that failed for another reason.
    #[error("cannot start {}", program.display())]
    Start {
        /// Path found.
        program: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// CPUs that do not exist, are offline, or are outside the cpuset.
    #[error("cannot restrict {} to the CPUs {cpus:?}", program.display())]
    Restrict {
        /// Path found.
        program: PathBuf,
        /// Requested CPUs.
        cpus: Vec<u32>,
        /// System error.
        source: io::Error,
    },
    /// Working directory that could not be created or entered.
    #[error("cannot use the working directory {}", path.display())]
    Directory {
        /// Directory.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// File path that is absolute or leads out of the working directory.
    #[error("cannot use {} inside a working directory", path.display())]
    OutsidePath {
        /// Requested path.
        path: PathBuf,
    },
    /// Input file that exists already or could not be written.
    #[error("cannot write the input file {}", path.display())]
    WriteFile {
        /// File.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// Output file that exists but could not be read.
    #[error("cannot read the output file {}", path.display())]
    ReadFile {
        /// File.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// Failure to poll the child's output.
    #[error("cannot follow {}", program.display())]
    Watch {
        /// Path found.
        program: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// Child that exceeded its deadline; it and its descendants were killed.
    #[error("{} did not end within {} s", program.display(), limit.as_secs_f64())]
    Deadline {
        /// Path found.
        program: PathBuf,
        /// Allowed time.
        limit: Duration,
        /// Output until then.
        output: ChildOutput,
    },
    /// Cancellation by the flag; the child and its descendants were killed.
    #[error("{} was cancelled", program.display())]
    Cancelled {
        /// Path found.
        program: PathBuf,
    },
    /// Stream or file above the cap; a running child was killed.
    #[error("{} of {} is longer than {cap_bytes} bytes", what, program.display())]
    TooLarge {
        /// Path found.
        program: PathBuf,
        /// `standard output`, `standard error`, or the file's path.
        what: String,
        /// Cap.
        cap_bytes: u64,
    },
}

impl ChildCommand {
    /// Creates a command without arguments, with the inherited environment, a temporary working
    /// directory, all CPUs, no deadline, and a cap of 64 MiB.
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
            cap_bytes: DEFAULT_CAP_BYTES,
            overflow: StreamOverflow::Kill,
        }
    }
}

impl CompletedChild {
    /// Returns whether the exit code is 0.
    pub const fn is_success(&self) -> bool {
        matches!(self.status, ChildStatus::Exited(0))
    }
}

/// Runs a child to its end and returns its results. Standard input is empty. Descendants that
/// outlive the child are killed, so that they do not disturb the next measurement. They are found
/// by the variable `ASSAY_CHILD` in their environment.
///
/// `cancel` is checked about twenty times a second. On cancellation, a passed deadline, or a stream
/// above the cap, the child and all its descendants get SIGTERM. SIGKILL follows two seconds later
/// (less than one if cancelled).
///
/// # Errors
/// [`ProcessError`]. A child that ends by itself with a failure is not an error here: see
/// [`CompletedChild::status`].
pub fn run(
    command: &ChildCommand,
    cancel: &AtomicBool,
) -> Result<CompletedChild, ProcessError> {
    let program = search::resolve(&command.program)?;
    let workplace = WorkingDirectory::prepare(command)?;
    let began = Instant::now();
    let (child, mark) = start(command, &program, workplace.path())?;
    let watch = ChildLimits {
        cancel,
        deadline: command.deadline,
        cap_bytes: command.cap_bytes,
        overflow: command.overflow,
    };
    let followed = watch.follow(child, mark, began);
    family::park_if_ending();
    let FollowedChild { status, output, killed_descendants } =
        followed.map_err(|stop| stop_error(stop, &program, command))?;
    let elapsed = began.elapsed();
    let files = workplace.collect(&program, &command.output_files, command.cap_bytes)?;
    let status = ChildStatus::from(status);
    Ok(CompletedChild { status, output, files, elapsed, killed_descendants })
}

impl From<ExitStatus> for ChildStatus {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exited(code),
            (None, signal) => Self::Killed(signal.unwrap_or(0)),
        }
    }
}

fn start(
    command: &ChildCommand,
    program: &Path,
    directory: &Path,
) -> Result<(Child, FamilyMark), ProcessError> {
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
    let mark = FamilyMark::add_to(&mut prepared);
    let spawned = if command.cpus.is_empty() {
        prepared.spawn()
    } else {
        spawn_pinned(&mut prepared, command, program)?
    };
    let child = spawned.map_err(|source| start_error(program, source))?;
    Ok((child, mark))
}

/// Starts a child with an affinity. A child inherits the affinity of its starting thread, so a
/// temporary thread starts it and no affinity needs to be restored.
fn spawn_pinned(
    prepared: &mut std::process::Command,
    command: &ChildCommand,
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
        let start = || {
            rustix::thread::sched_setaffinity(None, &set)
                .map_err(|error| refused(error.into()))?;
            Ok(prepared.spawn())
        };
        match std::thread::Builder::new().spawn_scoped(scope, start) {
            Ok(pinned) => pinned.join().expect("starting a process does not panic"),
            Err(error) => Ok(Err(error)),
        }
    })
}

fn start_error(program: &Path, source: io::Error) -> ProcessError {
    let program = program.to_owned();
    match (source.kind(), source.raw_os_error().map(rustix::io::Errno::from_raw_os_error)) {
        // The program itself was found before, so its interpreter is missing.
        (io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied, _)
        | (_, Some(rustix::io::Errno::NOEXEC)) => ProcessError::NotExecutable { program },
        _ => ProcessError::Start { program, source },
    }
}

fn stop_error(stop: ChildStop, program: &Path, command: &ChildCommand) -> ProcessError {
    let program = program.to_owned();
    match stop {
        ChildStop::Cancelled => ProcessError::Cancelled { program },
        ChildStop::Deadline(limit, output) => ProcessError::Deadline { program, limit, output },
        ChildStop::TooLarge(what) => {
            ProcessError::TooLarge { program, what: what.into(), cap_bytes: command.cap_bytes }
        }
        ChildStop::Failed(source) => ProcessError::Watch { program, source },
    }
}
