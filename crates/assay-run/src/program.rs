//! Timed starts of programs: a small process of assay's own starts the program and reports its times.
//!
//! The kernel counts the memory of the starting process as the program's until the program runs.
//! A large process could therefore not measure a small program. Standard input is empty.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_fleet::meminfo;
use assay_fleet::process::{self, ChildCommand, ChildOutput, ProcessError, StreamOverflow};
use assay_kernels::program;
use assay_model::benchmark::MEASURED_OF_PROGRAMS;
use assay_model::path_text;
use assay_model::workload::command::ProgramCall;
use serde::{Deserialize, Serialize};

use std::os::unix::process::ExitStatusExt as _;

/// Name of the suite of a run that compares programs.
pub const SUITE: &str = "exec";
/// First word of the internal command that starts a program.
const START_WORD: &str = "start-program";
/// Maximum bytes that are kept of each of the two streams: 64 MiB together.
const CAP_BYTES: u64 = 32 << 20;

/// Whether a figure's name is that of a result that assay measures of every program: `wall time`.
pub(crate) fn is_own_result(name: &str) -> bool {
    let words = |text: &str| text.trim().replace(['_', '-'], " ").to_lowercase();
    MEASURED_OF_PROGRAMS.iter().any(|metric| words(metric) == words(name))
}

/// Report of the starting process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ProgramReport {
    Ended(EndedProgram),
    NotStarted(String),
}

/// Times, memory and status of a program that ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct EndedProgram {
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) peak_bytes: u64,
    /// Memory of the starting process: the peak of a smaller program is unknown.
    pub(crate) floor_bytes: u64,
    /// Exit code; `None` = ended by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

/// Program that ended, with its output.
#[derive(Debug)]
pub(crate) struct StartedProgram {
    pub(crate) ended: EndedProgram,
    pub(crate) output: ChildOutput,
    pub(crate) killed_descendants: usize,
}

/// Reason why a program has no end of its own.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramStartError {
    /// Program that is missing or not executable, or a failure of the system.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// Own program file that cannot be found.
    #[error("cannot find the file of assay itself")]
    OwnProgram(#[source] io::Error),
    /// Folder for the report that cannot be created.
    #[error("cannot create a temporary folder")]
    Folder(#[source] io::Error),
    /// Program that did not end in time.
    #[error("`{program}` did not end within {limit_s} s; it was ended with its children")]
    Hangs {
        /// The program.
        program: String,
        /// Its time limit.
        limit_s: f64,
    },
    /// Program that the system refuses to start.
    #[error("cannot start `{program}`: {reason}")]
    NotStarted {
        /// The program.
        program: String,
        /// Error of the system.
        reason: String,
    },
    /// Starting process without a report.
    #[error("the process that starts `{program}` ended without a report")]
    NoReport {
        /// The program.
        program: String,
    },
}

/// Serves the internal command that starts a program, if the words of this process are that. Returns
/// the exit code.
pub fn serve_start(words: &[OsString]) -> Option<u8> {
    match words {
        [_, command, rest @ ..] if command == START_WORD => Some(start_and_report(rest)),
        _ => None,
    }
}

fn start_and_report(words: &[OsString]) -> u8 {
    // Without words, this process is the empty program.
    let [file, program, arguments @ ..] = words else { return 0 };
    // Without a second process, only the memory of small programs is unknown.
    if let Ok(Some(status)) = program::fork_and_wait() {
        return status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    }
    let report = match program::run_to_end(Command::new(program).args(arguments)) {
        Ok(usage) => ProgramReport::Ended(EndedProgram {
            wall_s: usage.wall_s,
            cpu_s: usage.cpu_s,
            peak_bytes: usage.peak_bytes,
            floor_bytes: own_peak_bytes().unwrap_or(u64::MAX),
            code: usage.status.code(),
            signal: usage.status.signal(),
        }),
        Err(error) => ProgramReport::NotStarted(error.to_string()),
    };
    let written = serde_json::to_vec(&report).map_err(io::Error::other);
    u8::from(written.and_then(|text| std::fs::write(file, text)).is_err())
}

/// Returns the largest resident set of this process so far (proc(5), `VmHWM`).
fn own_peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    meminfo::parse_bytes(&status, "VmHWM")
}

/// Returns a path that starts this program, also for other processes. An agent has removed its copy,
/// which the kernel still starts.
pub(crate) fn own_program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    Ok(if path.exists() { path } else { format!("/proc/{}/exe", std::process::id()).into() })
}

/// Program to start, with its limits.
#[derive(Debug)]
pub(crate) struct ProgramStart {
    /// Words of the program, as the user gave them.
    line: String,
    words: Vec<OsString>,
    cpus: Vec<u32>,
    timeout: Duration,
    own_program: PathBuf,
    /// Folder of the report; removed at the end.
    folder: tempfile::TempDir,
}

impl ProgramStart {
    /// Finds the program.
    pub(crate) fn new(
        call: &ProgramCall,
        cpus: &[u32],
        timeout: Duration,
    ) -> Result<Self, ProgramStartError> {
        Self::from_words(call.line(), resolve(call)?, cpus, timeout)
    }

    /// Returns the start of an empty program in the same way: `true`, or an empty line of the shell.
    pub(crate) fn empty_program(&self, call: &ProgramCall) -> Result<Self, ProgramStartError> {
        let words = match (call.shell, process::find_executable("true")) {
            (true, _) => resolve(&ProgramCall { words: vec![":".to_owned()], shell: true })?,
            (false, Some(path)) => vec![path.into_os_string()],
            (false, None) => vec![self.own_program.clone().into_os_string(), START_WORD.into()],
        };
        Self::from_words("true".to_owned(), words, &self.cpus, self.timeout)
    }

    fn from_words(
        line: String,
        words: Vec<OsString>,
        cpus: &[u32],
        timeout: Duration,
    ) -> Result<Self, ProgramStartError> {
        let own_program = own_program().map_err(ProgramStartError::OwnProgram)?;
        let folder = tempfile::tempdir().map_err(ProgramStartError::Folder)?;
        Ok(Self { line, words, cpus: cpus.to_vec(), timeout, own_program, folder })
    }

    /// Words of the program as one line.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// Runs the program to its end; its descendants end with it.
    pub(crate) fn run(&self, cancel: &AtomicBool) -> Result<StartedProgram, ProgramStartError> {
        let report = self.folder.path().join("report");
        let mut command = ChildCommand::new(&self.own_program);
        command.arguments = [OsStr::new(START_WORD), report.as_os_str()]
            .into_iter()
            .map(OsStr::to_owned)
            .chain(self.words.iter().cloned())
            .collect();
        command.directory = Some(PathBuf::from("."));
        command.cpus.clone_from(&self.cpus);
        command.deadline = Some(self.timeout);
        command.cap_bytes = CAP_BYTES;
        command.overflow = StreamOverflow::KeepEnds;
        let completed = process::run(&command, cancel).map_err(|error| match error {
            ProcessError::Deadline { limit, .. } => ProgramStartError::Hangs {
                program: self.line.clone(),
                limit_s: limit.as_secs_f64(),
            },
            other => ProgramStartError::Process(other),
        })?;
        let ended = self.take_report(&report)?;
        let killed_descendants = completed.killed_descendants;
        Ok(StartedProgram { ended, output: completed.output, killed_descendants })
    }

    /// Reads the report and removes it, so that no later start finds it.
    fn take_report(&self, report: &Path) -> Result<EndedProgram, ProgramStartError> {
        let program = || self.line.clone();
        let text = std::fs::read(report).ok();
        drop(std::fs::remove_file(report));
        match text.and_then(|text| serde_json::from_slice(&text).ok()) {
            Some(ProgramReport::Ended(ended)) => Ok(ended),
            Some(ProgramReport::NotStarted(reason)) => {
                Err(ProgramStartError::NotStarted { program: program(), reason })
            }
            None => Err(ProgramStartError::NoReport { program: program() }),
        }
    }
}

impl ProgramStartError {
    /// Returns the advice for the user.
    pub(crate) const fn advice(&self) -> &'static str {
        match self {
            Self::Process(ProcessError::NotFound { .. }) => {
                "give its path, or add its folder to PATH; a program with arguments goes after `--`, or into quotes"
            }
            Self::Process(ProcessError::NotExecutable { .. }) => {
                "make it executable: `chmod +x`; a script needs a first line like #!/bin/sh"
            }
            Self::Process(ProcessError::Restrict { .. }) => {
                "name CPUs of this machine: `nproc --all` prints their number"
            }
            Self::Hangs { .. } => {
                "allow more time with --timeout; a program that waits for input gets none"
            }
            Self::NotStarted { .. } => {
                "run it by hand; a script needs a first line like #!/bin/sh, or --shell"
            }
            Self::Process(_)
            | Self::OwnProgram(_)
            | Self::Folder(_)
            | Self::NoReport { .. } => "",
        }
    }
}

/// Returns the words to start, the program as an absolute path.
pub(crate) fn resolve(call: &ProgramCall) -> Result<Vec<OsString>, ProcessError> {
    if call.shell {
        let shell = process::find_program(Path::new("sh"))?;
        return Ok(vec![shell.into(), "-c".into(), path_text::decode_word(&call.line())]);
    }
    let (program, arguments) = call.words.split_first().unzip();
    let program = path_text::decode_path(program.map_or("", String::as_str));
    let path = process::find_program(&program)?;
    let arguments = arguments.into_iter().flatten().map(|it| path_text::decode_word(it));
    Ok(std::iter::once(path.into_os_string()).chain(arguments).collect())
}
