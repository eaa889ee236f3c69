//! `cargo xtask faults`: injects faults and checks the effect on assay and on other data of the
//! host.
//!
//! Each fault has an expected result; the table of all results is `docs/reliability.md`. A fault
//! that this machine does not allow is listed as not tried, with the reason.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{command, packages};
use workbench::page::MarkdownPage;

mod attacks;
mod during_measurement;
mod failing_calls;
mod foreign;
mod in_guest;
mod kills;
mod limits;
mod storage_changes;
mod target_changes;

/// Path of the page with the results.
const PAGE: &str = "docs/reliability.md";

/// Result of one fault.
#[derive(Debug)]
pub(crate) enum FaultResult {
    /// Expected result, with a description.
    Passed(String),
    /// Any other result, with a description.
    Failed(String),
    /// The fault cannot be injected here, with the reason.
    NotTried(String),
}

/// Fault with its expected and its actual result.
pub(crate) struct FaultCheck {
    pub(crate) fault: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) result: FaultResult,
}

/// Injects all faults and writes the page, or injects the given kinds without writing it. Fails if
/// any result is unexpected.
pub(crate) fn run(root: &Path, kinds: &[&str]) -> Result<()> {
    if let Some(kind) =
        kinds.iter().find(|kind| KINDS.iter().all(|existing| existing.name != **kind))
    {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        bail!("unknown kind of fault: {kind}; expected one of {}", names.join(", "));
    }
    let sections = try_kinds(root, kinds, false)?;
    if kinds.is_empty() {
        write_page(root, &sections)?;
    }
    check_results(&sections)
}

/// Injects some faults of each kind; writes no page.
pub(crate) fn run_briefly(root: &Path) -> Result<()> {
    check_results(&try_kinds(root, &[], true)?)
}

/// Kind of fault: a section of the page.
struct FaultKind {
    name: &'static str,
    title: &'static str,
    /// Injects the faults; arguments: root of the repository, program, whether to be brief.
    inject: fn(&Path, &Path, bool) -> Result<Vec<FaultCheck>>,
}

const KINDS: [FaultKind; 7] = [
    FaultKind {
        name: "kills",
        title: "Kills at random moments",
        inject: |_, program, is_brief| kills::try_all(program, is_brief),
    },
    FaultKind {
        name: "calls",
        title: "Full disk, failing system calls and limits",
        inject: |_, program, is_brief| {
            let mut all = failing_calls::try_all(program, is_brief)?;
            all.extend(limits::try_all(program)?);
            Ok(all)
        },
    },
    FaultKind {
        name: "storage",
        title: "Storage changed during a run",
        inject: |_, program, _| {
            let mut all = storage_changes::try_all(program)?;
            all.extend(target_changes::try_all(program)?);
            all.extend(foreign::try_all(program)?);
            Ok(all)
        },
    },
    FaultKind {
        name: "measuring",
        title: "Faults during a measurement",
        inject: |_, program, is_brief| during_measurement::try_all(program, is_brief),
    },
    FaultKind {
        name: "guest",
        title: "CPUs, clocks and devices of a virtual machine",
        inject: |root, _, is_brief| in_guest::try_all(root, is_brief),
    },
    FaultKind {
        name: "servers",
        title: "Attacks on servers",
        inject: |root, _, is_brief| attacks::try_peer_attacks(root, is_brief),
    },
    FaultKind {
        name: "hosts",
        title: "Programs planted on other hosts, and floods from them",
        inject: |root, _, is_brief| attacks::try_host_attacks(root, is_brief),
    },
];

/// Titles of the sections with their faults.
type Sections = Vec<(&'static str, Vec<FaultCheck>)>;

fn try_kinds(root: &Path, kinds: &[&str], is_brief: bool) -> Result<Sections> {
    packages::install(root, packages::FOR_FAULTS)?;
    command::run(command::cargo(root).args(["build", "--quiet", "--package", "assay"]))?;
    let program = root.join("target/debug/assay");
    let inject_kind = |kind: &FaultKind| {
        let trials = (kind.inject)(root, &program, is_brief)
            .with_context(|| format!("cannot inject faults of kind {}", kind.title))?;
        println!("-- {}: {}", kind.name, kind.title);
        for trial in &trials {
            println!("{:>9}  {}", trial.result.word(), trial.fault);
            if let FaultResult::Failed(description) = &trial.result {
                println!("           {description}");
            }
        }
        Ok((kind.title, trials))
    };
    let selected: Vec<&FaultKind> =
        KINDS.iter().filter(|kind| kinds.is_empty() || kinds.contains(&kind.name)).collect();
    if !is_brief {
        return selected.into_iter().map(inject_kind).collect();
    }
    // Run all kinds in parallel: the trials mostly wait, so the longest kind determines the time.
    thread::scope(|scope| {
        let handles: Vec<_> =
            selected.into_iter().map(|kind| scope.spawn(move || inject_kind(kind))).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().expect("no kind of fault panics"))
            .collect()
    })
}

fn check_results(sections: &Sections) -> Result<()> {
    let trials = sections.iter().flat_map(|(_, trials)| trials);
    match trials.filter(|trial| matches!(trial.result, FaultResult::Failed(_))).count() {
        0 => Ok(()),
        count => bail!("{count} faults had an unexpected result, see above"),
    }
}

fn write_page(root: &Path, sections: &[(&str, Vec<FaultCheck>)]) -> Result<()> {
    let mut page = MarkdownPage::new("Reliability", "cargo xtask faults");
    page.paragraph(
        "Injected faults, with their effect on assay and on other data of the host. \"Held\" means the expected result.",
    );
    for (section, trials) in sections {
        page.heading(section);
        let row = |trial: &FaultCheck| {
            let description = match &trial.result {
                FaultResult::Passed(description)
                | FaultResult::Failed(description)
                | FaultResult::NotTried(description) => description,
            };
            [trial.fault, trial.expected, trial.result.word(), description]
                .map(str::to_owned)
                .to_vec()
        };
        let rows: Vec<Vec<String>> = trials.iter().map(row).collect();
        page.table(&["fault", "expected", "", "what happened"], &rows);
    }
    page.write(root, PAGE)
}

impl FaultResult {
    const fn word(&self) -> &'static str {
        match self {
            Self::Passed(_) => "held",
            Self::Failed(_) => "BROKE",
            Self::NotTried(_) => "not tried",
        }
    }

    /// Returns `Held` if `is_expected`, otherwise `Broke`.
    pub(crate) fn passed_if(is_expected: bool, description: impl Into<String>) -> Self {
        if is_expected {
            Self::Passed(description.into())
        } else {
            Self::Failed(description.into())
        }
    }
}

/// Temporary folder with its own store.
pub(crate) struct FaultSandbox {
    pub(crate) folder: tempfile::TempDir,
    program: PathBuf,
}

/// Exit code and output of a command. Paths of the temporary folder are replaced by `FOLDER`.
pub(crate) struct AssayOutput {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl FaultSandbox {
    pub(crate) fn new(program: &Path) -> Result<Self> {
        Ok(Self { folder: tempfile::tempdir()?, program: program.to_path_buf() })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a command that runs assay, optionally through a wrapper, in this folder.
    pub(crate) fn command(&self, wrapper: &[&str], arguments: &[&str]) -> Command {
        let mut words = wrapper.iter().map(PathBuf::from).collect::<Vec<_>>();
        words.push(self.program.clone());
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_DATA_HOME", self.folder.path())
            .env_remove("ASSAY_STORE");
        command
    }

    pub(crate) fn run_assay(&self, arguments: &[&str]) -> Result<AssayOutput> {
        self.run_wrapped(&[], arguments)
    }

    pub(crate) fn run_wrapped(
        &self,
        wrapper: &[&str],
        arguments: &[&str],
    ) -> Result<AssayOutput> {
        let output = command::capture(&mut self.command(wrapper, arguments))?;
        let folder = self.folder.path().to_string_lossy().into_owned();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&folder, "FOLDER");
        Ok(AssayOutput {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        })
    }

    /// Starts assay in the background without output.
    pub(crate) fn spawn_assay(&self, arguments: &[&str]) -> Result<Child> {
        let mut command = self.command(&[], arguments);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.spawn().context("cannot start assay")
    }
}

/// Waits until a condition is true, for at most a minute; returns whether it became true.
pub(crate) fn wait_until(condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        if condition() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Runs a program of the system; returns its output or the error.
pub(crate) fn run_system(command: &[&str]) -> std::result::Result<String, String> {
    let output = Command::new(command[0]).args(&command[1..]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", command[0]))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("{}: {message}", command[0]));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Describes how a program ended, for the table.
pub(crate) fn describe_exit(code: Option<i32>) -> String {
    code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit code {code}"))
}

/// Returns the first line with an error, for the table.
pub(crate) fn error_line(text: &str) -> String {
    text.lines().find(|line| line.contains("error:")).unwrap_or_default().trim().to_owned()
}

/// Returns all files below a folder with their contents.
pub(crate) fn read_tree(folder: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => files.extend(read_tree(&path)?),
            false => files.push((path.clone(), fs::read(&path)?)),
        }
    }
    Ok(files)
}
