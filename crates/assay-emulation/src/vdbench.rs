//! `assay vdbench`: runs Vdbench's parameter files and writes Vdbench's console output and folder.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use assay_dialects::vdbench::diagnostic::{Diagnostic, DiagnosticSeverity};
use assay_dialects::vdbench::explain::explain;
use assay_dialects::vdbench::{
    self, FormatOption, PathInfo, VdbenchEnv, VdbenchExecution, VdbenchInput,
};
use assay_fleet::capacity;
use assay_model::path_text;
use assay_model::workload::storage::Verify;
use fs_err as fs;

use crate::options::vdbench::VdbenchArguments;
use crate::signals;
use crate::storage_plan;
use crate::terminal::Terminal;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::job_file;
use assay_run::run_request::random_seed;
use assay_run::storage::plan_check::{self, PlanRefusal, RequiredPhases};
use assay_run::storage::vdbench::repeat::RunRepetition;
use assay_run::storage::volume;

mod execute;
mod hosts;
mod output_folder;
pub mod render_stored;
mod report;

/// Maximum number of diagnostics printed: a file for another tool would fill screens.
const MAX_PRINTED: usize = 20;
/// Name of the parameter file of `-t`.
const SELF_TEST: &str = "self-test";
/// Name of the parameter file of `-tf`.
const FILE_SELF_TEST: &str = "self-test of files";

/// Inputs of a compilation besides the command line, as found on the machine.
#[derive(Debug, Default)]
struct CompiledSources {
    /// Parameter files as read.
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Size and kind of the file or device at each named path; `None` if there is none.
    path_infos: BTreeMap<PathBuf, Option<PathInfo>>,
}

/// Runs parameter files, prints Vdbench's console output and writes its folder. Returns the exit
/// code.
///
/// # Errors
/// Malformed files, targets that must not be overwritten, or lost hosts.
pub fn vdbench(
    typed: &VdbenchArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let mut input = parse_input(typed)?;
    let remote_hosts = hosts::find_remote_hosts(&mut input, typed, terminal)?;
    if let Some(remote_hosts) = remote_hosts.as_ref().filter(|_| !typed.simulate) {
        return remote_hosts.execute(typed, &input, terminal);
    }
    let (execution, inputs) =
        read_and_compile(&input, &|path| inspect_path(path).ok().flatten(), terminal)?;
    if typed.simulate {
        return simulate(&execution, typed.json, terminal);
    }
    {
        // Their devices are released at the end, so that the run can claim them.
        let options = execute::run_options(typed, &execution);
        plan_check::check(&execution.plan, &options, RequiredPhases::Any)
            .map_err(|refusal| locate_refusal(*refusal, &execution, &inputs))?;
        // Trees are checked later, after the initial commands.
        volume::check(&execution.plan, &execution.files, &options)
            .map_err(|failure| locate_failure(failure, &execution, &inputs))?;
    }
    let stop = signals::cancel_on_signals()?;
    execute::execute(typed, (&input, &execution), (&inputs, None), &stop, terminal)
        .map_err(|failure| locate_failure(failure, &execution, &inputs))
}

/// Prints what would run. A plan can be simulated on any machine, so no target is checked.
fn simulate(
    execution: &VdbenchExecution,
    is_json: bool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    plan_check::check_parameters(&execution.plan)?;
    if is_json {
        storage_plan::print_storage_plan(&execution.plan, true, terminal)?;
    } else {
        terminal.print(&explain(execution));
    }
    Ok(0)
}

fn parse_input(typed: &VdbenchArguments) -> Result<VdbenchInput, CommandFailure> {
    for (option, seconds) in
        [("-e", typed.elapsed), ("-i", typed.interval), ("-w", typed.warmup)]
    {
        if seconds.is_some_and(|seconds| !seconds.is_finite() || seconds < 0.0) {
            return Err(CommandFailure::usage(format!(
                "{option} expects seconds, like {option} 60"
            )));
        }
    }
    if typed.journal.is_some() {
        return Err(CommandFailure::usage("`assay vdbench` does not support -j").advise(
            "use -v to stamp and check blocks; run the files again with -v and rdpct=100 to check what an \
             earlier execution wrote",
        ));
    }
    RunRepetition::parse(typed.again.as_ref())?;
    let format = match &typed.clean {
        None => None,
        Some(None) => Some(FormatOption::Yes),
        Some(Some(letter)) => Some(match letter.as_str() {
            "o" => FormatOption::CleanOnly,
            "n" => FormatOption::No,
            _ => FormatOption::Yes,
        }),
    };
    let mut files = Vec::new();
    let mut variables = Vec::new();
    for word in typed.files.iter().chain(&typed.variables) {
        match word.split_once('=') {
            Some((name, value)) if !path_text::decode_path(word).exists() => {
                variables.push((name.to_owned(), value.to_owned()));
            }
            _ => files.push(path_text::decode_path(word)),
        }
    }
    match &typed.test {
        None => {}
        Some(None) => files.push(PathBuf::from(SELF_TEST)),
        Some(Some(_)) => files.push(PathBuf::from(FILE_SELF_TEST)),
    }
    if files.is_empty() {
        return Err(CommandFailure::usage("no parameter file given")
            .advise("name one: assay vdbench -f FILE name=value"));
    }
    Ok(VdbenchInput {
        files,
        variables,
        elapsed_s: typed.elapsed,
        interval_s: typed.interval,
        warmup_s: typed.warmup,
        format,
        verify: match typed.verify.as_ref().map(Option::as_deref) {
            None => Verify::Off,
            Some(Some("r")) => Verify::AfterWrite,
            // Stamps always contain the number of the write (`-vt`), and nothing is read before it
            // is written (`-vw`).
            Some(_) => Verify::OnRead,
        },
        submitters: available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1)),
        seed: typed.seed.unwrap_or_else(random_seed),
        is_apart: false,
        simulates: typed.simulate,
    })
}

/// Returns the parameters of `-t`, Vdbench's installation test, on a file of 10 MiB.
fn self_test() -> String {
    let file = std::env::temp_dir().join("assay-vdbench-self-test");
    format!(
        "sd=sd1,lun=\"{}\",size=10m\nwd=wd1,sd=sd1,rdpct=50,xfersize=4k,seekpct=random\n\
         rd=rd1,wd=wd1,iorate=100,elapsed=5,interval=1\n",
        file.display()
    )
}

/// Returns the parameters of `-tf`: the same test on a small file tree, which is deleted at the
/// end.
fn file_self_test() -> String {
    let folder = std::env::temp_dir().join("assay-vdbench-self-test-of-files");
    format!(
        "fsd=fsd1,anchor=\"{}\",depth=1,width=1,files=20,size=64k\n\
         fwd=fwd1,fsd=fsd1,operation=read,rdpct=50,xfersize=4k,fileselect=random\n\
         rd=rd1,fwd=fwd1,fwdrate=100,format=yes,elapsed=5,interval=1\n",
        folder.display()
    )
}

fn load_file(path: &Path) -> io::Result<Vec<u8>> {
    match path.to_str() {
        Some(SELF_TEST) => Ok(self_test().into_bytes()),
        Some(FILE_SELF_TEST) => Ok(file_self_test().into_bytes()),
        _ => job_file::read(path),
    }
}

/// Reads and compiles the parameter files, and prints their diagnostics. `find_info` returns the
/// size and kind of the file or device at a path.
fn read_and_compile(
    input: &VdbenchInput,
    find_info: &dyn Fn(&Path) -> Option<PathInfo>,
    terminal: &mut Terminal,
) -> Result<(VdbenchExecution, CompiledSources), CommandFailure> {
    let inputs = RefCell::new(CompiledSources::default());
    let mut read_file = |path: &Path| {
        let bytes = load_file(path)?;
        inputs.borrow_mut().files.insert(path.to_path_buf(), bytes.clone());
        Ok(bytes)
    };
    let mut inspect = |path: &Path| {
        let info = find_info(path);
        inputs.borrow_mut().path_infos.insert(path.to_path_buf(), info);
        info
    };
    let compiled = vdbench::compile_files(
        input,
        &mut VdbenchEnv { read_file: &mut read_file, inspect: &mut inspect },
    );
    match compiled {
        Ok(execution) => {
            for note in &execution.notes {
                terminal.note(note.to_string().trim_end());
            }
            Ok((execution, inputs.into_inner()))
        }
        Err(diagnostics) => Err(report_diagnostics(&diagnostics, terminal)),
    }
}

/// Adds the location of the target with the rejected setting.
fn locate_refusal(
    refusal: PlanRefusal,
    execution: &VdbenchExecution,
    inputs: &CompiledSources,
) -> CommandFailure {
    let PlanRefusal { failure, origin } = refusal;
    let target = origin
        .and_then(|it| execution.plan.phases.get(it.phase)?.workload.targets.get(it.target));
    match target {
        Some(target) => locate_failure(failure.with_target(&target.path), execution, inputs),
        None => failure,
    }
}

/// Adds the location of the rejected path, if its line was not changed by substitution.
fn locate_failure(
    failure: CommandFailure,
    execution: &VdbenchExecution,
    inputs: &CompiledSources,
) -> CommandFailure {
    let target = failure.target();
    let path = target.and_then(|path| execution.paths.iter().find(|(it, _)| it == path));
    let Some((_, location)) = path else { return failure };
    let Some(bytes) = inputs.files.get(Path::new(&location.file)) else { return failure };
    let text = String::from_utf8_lossy(bytes);
    let Some(line) = text.split_inclusive('\n').nth(location.line as usize - 1) else {
        return failure;
    };
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    let byte_offset = |from: u32| {
        line.char_indices().nth(from as usize).map_or(line.len(), |(offset, _)| offset)
    };
    let column = location.column - 1;
    let span = match line.trim_end() == location.text.trim_end() {
        true => start + byte_offset(column)..start + byte_offset(column + location.length),
        false => start..start + line.trim_end().len(),
    };
    failure.at_span(&location.file, &text, span)
}

impl CompiledSources {
    /// Calls `action` with an environment that has only these inputs, not the current machine's.
    fn with_env<T>(&self, action: impl FnOnce(&mut VdbenchEnv<'_>) -> T) -> T {
        let mut read_file = |path: &Path| {
            let bytes = self.files.get(path).cloned();
            bytes.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
        };
        let mut inspect = |path: &Path| self.path_infos.get(path).copied().flatten();
        action(&mut VdbenchEnv { read_file: &mut read_file, inspect: &mut inspect })
    }
}

fn report_diagnostics(diagnostics: &[Diagnostic], terminal: &mut Terminal) -> CommandFailure {
    let errors = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error)
        .count();
    for diagnostic in diagnostics.iter().take(MAX_PRINTED) {
        terminal.note(diagnostic.to_string().trim_end());
    }
    let omitted = diagnostics.len().saturating_sub(MAX_PRINTED);
    // A missing file named by `-f` is wrong usage; a missing include is an error of the including
    // file.
    let is_missing = |it: &Diagnostic| it.code == "V101" && it.location.is_none();
    let kind = if diagnostics.iter().any(is_missing) {
        FailureKind::Usage
    } else {
        FailureKind::Suite
    };
    let failure = CommandFailure::new(
        kind,
        match errors {
            1 => "1 error in the parameter files".to_owned(),
            errors => format!("{errors} errors in the parameter files"),
        },
    );
    if omitted > 0 {
        failure.with_reason(format!("{omitted} more findings are not printed"))
    } else {
        failure
    }
}

/// Returns the size and kind of a regular file or block device; `None` for other files.
fn inspect_path(path: &Path) -> io::Result<Option<PathInfo>> {
    use std::os::unix::fs::FileTypeExt;
    let device = fs::metadata(path)?.file_type().is_block_device();
    Ok(capacity::size(path)?.map(|bytes| PathInfo { bytes, device }))
}
