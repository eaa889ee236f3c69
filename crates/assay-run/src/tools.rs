//! Finds installed tools and runs them; the adapters build their command lines and parse their
//! output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_adapters::invocation::{InstalledTool, Invocation};
use assay_adapters::launcher::{self, Launcher};
use assay_adapters::outputs::Outputs;
use assay_adapters::tool::{self, TOOLS, ToolAdapter, VersionSource};
use assay_fleet::process::{self, ChildCommand, ChildStatus, ProcessError};
use assay_model::path_text;
use assay_model::plan::expand::Measurer;
use assay_model::plan::{Case, Plan};
use assay_model::suite::suggest;

use crate::failure::CommandFailure;

/// Time limit of a tool that prints its version.
const VERSION_DEADLINE: Duration = Duration::from_secs(10);

/// External tools that can measure on this machine.
#[derive(Debug)]
pub struct Tools {
    found: Vec<(&'static ToolAdapter, InstalledTool)>,
}

impl Tools {
    /// Searches `PATH`, each tool's environment variable, and the paths given by the user. Runs
    /// only tools that may measure to query their versions, since that is costly on a thousand
    /// hosts at once.
    pub fn find(
        given: &[(String, PathBuf)],
        may_measure: &dyn Fn(&str) -> bool,
    ) -> Result<Self, CommandFailure> {
        check_tool_paths(given)?;
        let located: Vec<(&'static ToolAdapter, String)> =
            TOOLS.iter().filter_map(|tool| Some((tool, locate(tool, given)?))).collect();
        let launches = |(tool, _): &(&ToolAdapter, String)| {
            tool.detect.uses_launcher && may_measure(tool.name)
        };
        let launcher = if located.iter().any(launches) { find_launcher() } else { None };
        let found = located.into_iter().map(|(tool, path)| {
            let launcher = launcher.clone().filter(|_| tool.detect.uses_launcher);
            let version = may_measure(tool.name).then(|| tool_version(tool, &path)).flatten();
            (tool, InstalledTool { version, path, launcher })
        });
        Ok(Self { found: found.collect() })
    }

    /// All measurers: assay first, then every tool found.
    pub fn measurers(&self) -> Vec<Measurer> {
        let tools = self
            .found
            .iter()
            .map(|(tool, _)| Measurer { name: tool.name, supports: tool.supports });
        std::iter::once(Measurer { name: "assay", supports: |_| true }).chain(tools).collect()
    }

    /// Omits cases in which a program built for one MPI would be started by another's launcher:
    /// each rank would run as a job of its own.
    pub fn omit_other_mpis(&self, plan: &mut Plan) -> Result<(), CommandFailure> {
        for (tool, found) in &self.found {
            let is_of_tool = |case: &Case| case.by == tool.name && mpi_library(case).is_some();
            if !plan.cases.iter().any(is_of_tool) {
                continue;
            }
            let linked = linked_mpis(&found.path);
            plan.cases.retain(|case| match mpi_library(case) {
                Some(name) if case.by == tool.name => {
                    linked.is_empty() || linked.iter().any(|linked| linked == name)
                }
                _ => true,
            });
            if !plan.cases.iter().any(is_of_tool) {
                return Err(CommandFailure::measurement(format!(
                    "{} was built for an MPI that is not measured",
                    tool.name
                ))
                .with_reason(format!("{} needs {}", found.path, linked.join(" or ")))
                .advise("add its MPI with --mpi PREFIX, or rebuild it with the mpicc of a measured MPI"));
            }
        }
        Ok(())
    }

    /// The tool with this name, if it was found.
    pub fn get(&self, name: &str) -> Option<(&'static ToolAdapter, &InstalledTool)> {
        self.found
            .iter()
            .find(|(tool, _)| tool.name == name)
            .map(|(tool, found)| (*tool, found))
    }
}

/// File name of the MPI library of a case, if it measures one.
fn mpi_library(case: &Case) -> Option<&str> {
    Path::new(&case.workload.as_mpi()?.mpi.library).file_name()?.to_str()
}

/// Names of the MPI libraries that an executable requests from the loader, as far as its text
/// contains them; none for a script.
fn linked_mpis(path: &str) -> Vec<String> {
    let Ok(content) = fs_err::read(path_text::decode_path(path)) else { return Vec::new() };
    if !content.starts_with(b"\x7fELF") {
        return Vec::new();
    }
    let names =
        content.split(|byte| *byte == 0).filter_map(|text| std::str::from_utf8(text).ok());
    let is_library = |name: &&str| {
        // Excludes the accompanying libraries of Fortran and C++.
        ["libmpi.so.", "libmpich.so.", "libmpi_abi.so."].iter().any(|it| name.starts_with(it))
    };
    let mut names: Vec<String> = names.filter(is_library).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether there is a tool with this name, installed or not.
pub(crate) fn is_known_tool(name: &str) -> bool {
    tool::find(name).is_some()
}

/// Whether a tool has this name and can measure no case of a plan.
pub(crate) fn measures_none_of(name: &str, plan: &Plan) -> bool {
    let takes =
        |tool: &ToolAdapter| plan.cases.iter().any(|case| (tool.supports)(&case.workload));
    tool::find(name).is_some_and(|tool| !takes(tool))
}

/// Adds to `failure` how to install the requested tool, or the name that may be meant.
pub fn advise_on_tool(name: &str, failure: CommandFailure) -> CommandFailure {
    match tool::find(name) {
        Some(tool) => failure
            .advise(tool.detect.hint)
            .advise(format!("if it is not on PATH, give its path: --tool {name}=PATH")),
        None => {
            let known: Vec<&str> =
                TOOLS.iter().map(|tool| tool.name).chain(["assay", "all"]).collect();
            failure.advise(suggest(name, &known))
        }
    }
}

fn check_tool_paths(given: &[(String, PathBuf)]) -> Result<(), CommandFailure> {
    for (name, path) in given {
        if tool::find(name).is_none() {
            let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            return Err(CommandFailure::usage(format!("unknown tool `{name}`"))
                .advise(suggest(name, &known)));
        }
        if find_executable(path).is_none() {
            return Err(CommandFailure::measurement(format!(
                "cannot execute {name}: {} is not an executable file",
                path.display()
            ))
            .advise("give the path of the program itself with --tool NAME=PATH"));
        }
    }
    Ok(())
}

/// Locates a tool: by the user's path, the tool's variable, then `PATH`. Returns the path as text,
/// as in invocations.
fn locate(tool: &ToolAdapter, given: &[(String, PathBuf)]) -> Option<String> {
    let said =
        given.iter().rev().find(|(name, _)| name == tool.name).map(|(_, path)| path.clone());
    let said = said.or_else(|| std::env::var_os(tool.detect.path_variable).map(PathBuf::from));
    if let Some(path) = said {
        return find_executable(&path);
    }
    tool.detect.programs.iter().find_map(|name| {
        let path = find_executable(Path::new(name))?;
        has_mark(tool, &path).then_some(path)
    })
}

fn find_executable(path: &Path) -> Option<String> {
    Some(path_text::encode(process::find_executable(path)?.as_os_str()))
}

/// Whether the program contains the tool's own text: other programs are also called `stream`.
fn has_mark(tool: &ToolAdapter, path: &str) -> bool {
    let Some(mark) = tool.detect.required_text else { return true };
    fs_err::read(path_text::decode_path(path))
        .is_ok_and(|content| memchr::memmem::find(&content, mark.as_bytes()).is_some())
}

fn tool_version(tool: &ToolAdapter, path: &str) -> Option<String> {
    match tool.detect.version {
        VersionSource::FromOption { arguments, read } => {
            read(&program_output(&path_text::decode_path(path), arguments)?)
        }
        VersionSource::FromMeasurement => None,
    }
}

fn find_launcher() -> Option<Launcher> {
    launcher::PROGRAMS.iter().find_map(|name| {
        let path = find_executable(Path::new(name))?;
        let found = path_text::decode_path(&path);
        Launcher::recognise(&path, &program_output(&found, launcher::VERSION_ARGUMENTS)?)
    })
}

/// Returns the standard output of a program that prints its version.
pub(crate) fn program_output(path: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = ChildCommand::new(path);
    command.arguments = arguments.iter().map(Into::into).collect();
    command.deadline = Some(VERSION_DEADLINE);
    let completed = process::run(&command, &AtomicBool::new(false)).ok()?;
    Some(String::from_utf8_lossy(&completed.output.stdout).into_owned())
}

/// Runs one invocation in its own folder, and returns its outputs.
pub fn run(
    invocation: &Invocation,
    deadline: Duration,
    cancel: &AtomicBool,
) -> Result<Outputs, ProcessError> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut command = ChildCommand::new(path_text::decode_path(&invocation.program));
    command.arguments =
        invocation.arguments.iter().map(|it| path_text::decode_word(it)).collect();
    command.environment = invocation
        .environment
        .iter()
        .map(|(name, value)| (name.into(), Some(path_text::decode_word(value))))
        .collect();
    command.input_files = invocation
        .files_to_write
        .iter()
        .map(|file| (PathBuf::from(&file.name), file.content.clone().into_bytes()))
        .collect();
    command.output_files = invocation.files_to_read.iter().map(PathBuf::from).collect();
    command.cpus.clone_from(&invocation.cpus);
    command.deadline = Some(deadline);
    let completed = process::run(&command, cancel)?;
    let named =
        |(path, bytes): (PathBuf, Vec<u8>)| (path.to_string_lossy().into_owned(), text(&bytes));
    let files: BTreeMap<String, String> = completed.files.into_iter().map(named).collect();
    Ok(Outputs {
        stdout: text(&completed.output.stdout),
        stderr: text(&completed.output.stderr),
        files,
        exit_code: match completed.status {
            ChildStatus::Exited(code) => Some(code),
            ChildStatus::Killed(_) => None,
        },
    })
}
