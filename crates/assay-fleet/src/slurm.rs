//! Slurm allocations: nodes held during a measurement and returned however it ends.
//!
//! `salloc` runs a shell that prints its nodes and then waits on a pipe. When this process ends,
//! even by a signal, the pipe closes, the shell ends, and with it the allocation (salloc(1)).

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Script of the shell within the allocation.
const HOLD_SCRIPT: &str =
    "printf 'assay %s %s\\n' \"$SLURM_JOB_ID\" \"$SLURM_JOB_NODELIST\"; exec cat >/dev/null";
/// Time for Slurm to release an allocation; it completes by itself later.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Reason why no nodes were allocated.
#[derive(Debug, thiserror::Error)]
pub enum SlurmError {
    #[error("{word:?} is not an option of salloc, like partition=hpc or nodes=24")]
    InvalidOption { word: String },
    #[error("cannot start salloc")]
    Start(#[source] io::Error),
    #[error("cannot start a thread that reads from salloc")]
    NoThread(#[source] io::Error),
    #[error("salloc allocated no nodes{}", if said.is_empty() { String::new() } else { format!(": {said}") })]
    Refused { said: String },
    #[error("interrupted while waiting for nodes of Slurm")]
    Interrupted,
}

impl SlurmError {
    /// Returns the recommended action.
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::InvalidOption { .. } => {
                "write salloc's long options without dashes: 'partition=hpc,nodes=24'"
            }
            Self::Start(_) => "run this where Slurm's commands are, such as its login node",
            Self::NoThread(_) => {
                "end other programs, or raise the limit of processes (ulimit -u)"
            }
            Self::Refused { .. } => "list partitions and their idle nodes with sinfo",
            Self::Interrupted => "",
        }
    }
}

/// Allocated nodes; dropping it releases them.
#[derive(Debug)]
pub struct Allocation {
    salloc: Child,
    /// Standard error, open while salloc runs: a write to a closed pipe would kill salloc without a
    /// release.
    stderr_pipe: Option<ChildStderr>,
    /// Nodes in Slurm's list format.
    pub nodes: String,
    /// Job number.
    pub number: String,
}

impl Allocation {
    /// Waits until Slurm allocates nodes: `wish` is a comma-separated list of salloc options.
    pub fn request(wish: &str, cancel: &AtomicBool) -> Result<Self, SlurmError> {
        let mut salloc = Command::new("salloc")
            .arg("--quiet")
            .args(parse_options(wish)?)
            .args(["sh", "-c", HOLD_SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C ends this process, which then ends salloc.
            .process_group(0)
            .spawn()
            .map_err(SlurmError::Start)?;
        let (stdout, stderr) = (salloc.stdout.take(), salloc.stderr.take());
        let mut held =
            Self { salloc, stderr_pipe: stderr, nodes: String::new(), number: String::new() };
        let (say, said) = mpsc::channel();
        let read_line = move || {
            let mut line = String::new();
            let _ends = stdout.map(|it| BufReader::new(it).take(1 << 20).read_line(&mut line));
            drop(say.send(line));
        };
        thread::Builder::new().spawn(read_line).map_err(SlurmError::NoThread)?;
        let line = loop {
            match said.recv_timeout(POLL_INTERVAL) {
                Ok(line) => break line,
                Err(_) if cancel.load(Ordering::Relaxed) => {
                    return Err(SlurmError::Interrupted);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break String::new(),
            }
        };
        let Some((number, nodes)) =
            line.trim().strip_prefix("assay ").and_then(|it| it.split_once(' '))
        else {
            let mut said = String::new();
            let _ends =
                held.stderr_pipe.take().map(|it| it.take(1 << 16).read_to_string(&mut said));
            let last = said.lines().rfind(|it| !it.trim().is_empty()).unwrap_or_default();
            let said = assay_model::sanitize::escape_hidden(last.trim()).into_owned();
            return Err(SlurmError::Refused { said });
        };
        (held.number, held.nodes) = (number.to_owned(), nodes.to_owned());
        Ok(held)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        drop(self.salloc.stdin.take());
        let waits = |salloc: &mut Child, until: Instant| {
            while matches!(salloc.try_wait(), Ok(None)) && Instant::now() < until {
                thread::sleep(Duration::from_millis(10));
            }
            matches!(salloc.try_wait(), Ok(None))
        };
        // While it waits for nodes, salloc reads no pipe. SIGKILL would prevent the release.
        if self.number.is_empty() || waits(&mut self.salloc, Instant::now() + RELEASE_TIMEOUT) {
            let _is_there = kill_process(Pid::from_child(&self.salloc), Signal::TERM);
            waits(&mut self.salloc, Instant::now() + RELEASE_TIMEOUT);
        }
    }
}

/// Converts `partition=hpc,nodes=24` into salloc options. Commas within brackets belong to a list
/// of nodes.
fn parse_options(wish: &str) -> Result<Vec<String>, SlurmError> {
    let mut depth = 0_u32;
    let words = wish.split(|letter| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    let option = |word: &str| {
        let name = word.split('=').next().unwrap_or_default();
        let is_name = name.starts_with(|it: char| it.is_ascii_lowercase())
            && name.bytes().all(|it| it.is_ascii_lowercase() || it == b'-');
        let wrong = || SlurmError::InvalidOption { word: word.to_owned() };
        if is_name { Ok(format!("--{word}")) } else { Err(wrong()) }
    };
    words.map(str::trim).map(option).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_parse_hold_script() {
        assert_eq!(crate::shells::check_syntax(HOLD_SCRIPT), Ok(()));
    }

    #[test]
    fn parses_salloc_options() {
        let read = |wish| parse_options(wish).map_err(|error| error.to_string());
        let expected = ["--partition=hpc", "--nodelist=n[1-2,4]", "--exclusive"];
        assert_eq!(
            read("partition=hpc, nodelist=n[1-2,4],exclusive").unwrap(),
            expected.map(str::to_owned)
        );
        for wrong in ["", "nodes=1,", "-N1", "--nodes=1", "nodes 1", "Nodes=1", "=1"] {
            assert!(read(wrong).unwrap_err().contains("not an option of salloc"), "{wrong}");
        }
    }
}
