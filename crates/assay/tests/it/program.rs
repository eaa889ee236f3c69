//! Runs the program in an isolated environment: its own store, without the user's configuration.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Temporary folder of one test: working directory and store of the program.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

/// Exit code and output of the program.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Creates the folder in memory, if the system has such a file system: short measurements there
    /// do not wait for a busy disk.
    pub(crate) fn in_memory() -> Self {
        match tempfile::tempdir_in("/dev/shm") {
            Ok(folder) => Self { folder },
            Err(_) => Self::new(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Copies the program by another process. While this process writes a file, children of other
    /// threads inherit it for a moment. A file that is open for writing cannot be executed
    /// (`ETXTBSY`, execve(2)).
    pub(crate) fn copy_of_program(&self) -> PathBuf {
        let copy = self.path("other-assay");
        let status =
            Command::new("cp").arg(env!("CARGO_BIN_EXE_assay")).arg(&copy).status().unwrap();
        assert!(status.success());
        copy
    }

    /// Returns the program's command, not yet started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_DATA_HOME", self.folder.path())
            .env("TZ", "UTC")
            .env_remove("ASSAY_STORE")
            .stdin(Stdio::null());
        command
    }

    /// Returns two folders for `PATH`: one without tools, one with a stand-in for every tool.
    pub(crate) fn with_and_without_tools(&self) -> [PathBuf; 2] {
        let folders = ["no-tools", "all-tools"].map(|name| self.path(name));
        for folder in &folders {
            std::fs::create_dir_all(folder).unwrap();
        }
        let shell = std::fs::canonicalize("/bin/sh").unwrap();
        for tool in assay_adapters::tool::TOOLS {
            for program in tool.detect.programs {
                drop(std::os::unix::fs::symlink(&shell, folders[1].join(program)));
            }
        }
        folders
    }

    /// Runs the program with this `PATH` and without variables that name tools.
    pub(crate) fn assay_with(&self, path: &Path, arguments: &[&str]) -> Outcome {
        let mut command = self.command(arguments);
        for tool in assay_adapters::tool::TOOLS {
            command.env_remove(tool.detect.path_variable);
        }
        Outcome::of(&command.env("PATH", path).output().unwrap())
    }

    pub(crate) fn assay(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&self.command(arguments).output().unwrap())
    }

    /// Runs the program and parses the JSON it prints.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.assay(arguments).json()
    }
}

impl Outcome {
    fn of(output: &std::process::Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let code = output.status.code().unwrap_or(-1);
        Self { code, out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// Parses the JSON that the program printed before it succeeded.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let outcome = self.succeeded();
        serde_json::from_str(&outcome.out)
            .unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
    }

    #[track_caller]
    pub(crate) fn failed_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// Returns the results of one benchmark and metric.
pub(crate) fn results<'a>(
    document: &'a Value,
    benchmark: &str,
    metric: &str,
) -> Vec<&'a Value> {
    let all = document["results"].as_array().unwrap();
    all.iter().filter(|r| r["benchmark"] == benchmark && r["metric"] == metric).collect()
}

/// Returns the files below a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found
}
