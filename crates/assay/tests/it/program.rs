//! Runs the program in its own world: its own store, no configuration of the user.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A folder for one test, with a store in it.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

/// What came out.
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

    /// In memory, if the system has such a folder: what is measured for a moment there does not wait for a disk
    /// that others keep busy.
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

    /// A copy of the program. Another process writes it: while a file is written here, whatever another thread starts
    /// inherits it for a moment, and nothing can be executed that anybody writes (`ETXTBSY`, execve(2)).
    pub(crate) fn copy_of_program(&self) -> PathBuf {
        let copy = self.path("other-assay");
        let status =
            Command::new("cp").arg(env!("CARGO_BIN_EXE_assay")).arg(&copy).status().unwrap();
        assert!(status.success());
        copy
    }

    /// The program, not yet started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_DATA_HOME", self.folder.path())
            .env_remove("ASSAY_STORE")
            .stdin(Stdio::null());
        command
    }

    /// Both extremes of a machine, as its `PATH`: no tool is installed, and a stand-in for each of them is.
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

    /// Runs the program to its end on a machine with this `PATH`; what the user's variables name is not there.
    pub(crate) fn assay_with(&self, path: &Path, arguments: &[&str]) -> Outcome {
        let mut command = self.command(arguments);
        for tool in assay_adapters::tool::TOOLS {
            command.env_remove(tool.detect.variable);
        }
        Outcome::of(&command.env("PATH", path).output().unwrap())
    }

    /// Runs the program to its end.
    pub(crate) fn assay(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&self.command(arguments).output().unwrap())
    }

    /// Runs the program and reads the JSON it prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let outcome = self.assay(arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {outcome:?}");
        serde_json::from_str(&outcome.out)
            .unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
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

    #[track_caller]
    pub(crate) fn failed_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// The results of one benchmark and metric.
pub(crate) fn results<'a>(
    document: &'a Value,
    benchmark: &str,
    metric: &str,
) -> Vec<&'a Value> {
    let all = document["results"].as_array().unwrap();
    all.iter().filter(|r| r["benchmark"] == benchmark && r["metric"] == metric).collect()
}

/// The files below a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found
}
