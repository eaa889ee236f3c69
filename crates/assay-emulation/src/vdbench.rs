//! `assay vdbench`: Vdbench's parameter files in, Vdbench's console and output folder out.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use assay_dialects::vdbench::diagnostic::{Diagnostic, Severity};
use assay_dialects::vdbench::explain::explain;
use assay_dialects::vdbench::{self, Execution, FormatOption, Input, Present, Surroundings};
use assay_fleet::capacity;
use assay_model::workload::storage::Verify;
use fs_err as fs;

use crate::job_file;
use crate::options::vdbench::VdbenchArguments;
use crate::storage_plan;
use crate::terminal::Terminal;
use assay_run::failure::{Failure, Kind};
use assay_run::question::fresh_seed;
use assay_run::storage::options::RunOptions;
use assay_run::storage::vdbench::repeat::Repeat;
use assay_run::storage::volume;

pub mod again;
mod execute;
mod folder;
mod report;

/// Findings that are shown; a file for another tool would fill screens.
const MOST_SHOWN: usize = 20;
/// The name that `-t` runs under.
const SELF_TEST: &str = "self-test";
/// The name that `-tf` runs under.
const SELF_TEST_OF_FILES: &str = "self-test of files";

/// What was found when the files were compiled: all that the result depends on besides the input.
#[derive(Debug, Default)]
struct Found {
    /// The parameter files, as they were read.
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// What was at the paths that they name.
    present: BTreeMap<PathBuf, Option<Present>>,
}

pub fn vdbench(typed: &VdbenchArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let input = input(typed)?;
    let (execution, found) = read(&input, terminal)?;
    for note in &execution.notes {
        terminal.note(note.to_string().trim_end());
    }
    if typed.simulate {
        if let Some((far, _)) = hosts_elsewhere(&execution) {
            let warning = Diagnostic { severity: Severity::Warning, ..far };
            terminal.note(warning.to_string().trim_end());
        }
        let allowed =
            RunOptions { target_on_root: typed.target_on_root, ..RunOptions::default() };
        volume::check(&execution.plan, &execution.files, &allowed)?;
        if typed.json {
            storage_plan::explain(&execution.plan, true, terminal)?;
        } else {
            terminal.print(&explain(&execution));
        }
        return Ok(0);
    }
    all_hosts_are_here(&execution, terminal)?;
    execute::execute(typed, (&input, &execution), &found, terminal)
}

fn input(typed: &VdbenchArguments) -> Result<Input, Failure> {
    for (option, seconds) in
        [("-e", typed.elapsed), ("-i", typed.interval), ("-w", typed.warmup)]
    {
        if seconds.is_some_and(|seconds| !seconds.is_finite() || seconds < 0.0) {
            return Err(Failure::usage(format!("{option} takes seconds, like {option} 60")));
        }
    }
    if typed.journal.is_some() {
        return Err(Failure::usage("-j is known to Vdbench but not supported here").advise(
            "-v stamps blocks and checks them; run the files again with -v and rdpct=100 to check what an \
             earlier execution wrote",
        ));
    }
    Repeat::read(typed.again.as_ref())?;
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
            Some((name, value)) if !Path::new(word).exists() => {
                variables.push((name.to_owned(), value.to_owned()));
            }
            _ => files.push(PathBuf::from(word)),
        }
    }
    match &typed.test {
        None => {}
        Some(None) => files.push(PathBuf::from(SELF_TEST)),
        Some(Some(_)) => files.push(PathBuf::from(SELF_TEST_OF_FILES)),
    }
    if files.is_empty() {
        return Err(Failure::usage("no parameter file is given")
            .advise("name it: assay vdbench -f FILE name=value"));
    }
    Ok(Input {
        files,
        variables,
        elapsed_s: typed.elapsed,
        interval_s: typed.interval,
        warmup_s: typed.warmup,
        format,
        verify: match typed.verify.as_ref().map(Option::as_deref) {
            None => Verify::Off,
            Some(Some("r")) => Verify::AfterWrite,
            // Stamps always hold which write it was (`-vt`), and nothing is read before it is written
            // (`-vw`).
            Some(_) => Verify::OnRead,
        },
        submitters: available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1)),
        seed: typed.seed.unwrap_or_else(fresh_seed),
    })
}

/// What `-t` runs: Vdbench's own proof that it is installed, on a file of 10 MiB.
fn self_test() -> String {
    let file = std::env::temp_dir().join("assay-vdbench-self-test");
    format!(
        "sd=sd1,lun=\"{}\",size=10m\nwd=wd1,sd=sd1,rdpct=50,xfersize=4k,seekpct=random\n\
         rd=rd1,wd=wd1,iorate=100,elapsed=5,interval=1\n",
        file.display()
    )
}

/// What `-tf` runs: the same on a small file tree, which is removed at its end.
fn self_test_of_files() -> String {
    let folder = std::env::temp_dir().join("assay-vdbench-self-test-of-files");
    format!(
        "fsd=fsd1,anchor=\"{}\",depth=1,width=1,files=20,size=64k\n\
         fwd=fwd1,fsd=fsd1,operation=read,rdpct=50,xfersize=4k,fileselect=random\n\
         rd=rd1,fwd=fwd1,fwdrate=100,format=yes,elapsed=5,interval=1\n",
        folder.display()
    )
}

/// Reads and compiles the files; every finding is shown.
fn read(input: &Input, terminal: &mut Terminal) -> Result<(Execution, Found), Failure> {
    let found = RefCell::new(Found::default());
    let mut load = |path: &Path| {
        let bytes = match path.to_str() {
            Some(SELF_TEST) => self_test().into_bytes(),
            Some(SELF_TEST_OF_FILES) => self_test_of_files().into_bytes(),
            _ => job_file::read(path)?,
        };
        found.borrow_mut().files.insert(path.to_path_buf(), bytes.clone());
        Ok(bytes)
    };
    let mut look = |path: &Path| {
        let there = present(path).ok().flatten();
        found.borrow_mut().present.insert(path.to_path_buf(), there);
        there
    };
    let compiled = vdbench::read(input, &mut Surroundings { load: &mut load, look: &mut look });
    match compiled {
        Ok(execution) => Ok((execution, found.into_inner())),
        Err(wrong) => Err(refused(&wrong, terminal)),
    }
}

impl Found {
    /// Does `read` with what was found then, and nothing of today.
    fn surround<T>(&self, read: impl FnOnce(&mut Surroundings<'_>) -> T) -> T {
        let mut load = |path: &Path| {
            let bytes = self.files.get(path).cloned();
            bytes.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
        };
        let mut look = |path: &Path| self.present.get(path).copied().flatten();
        read(&mut Surroundings { load: &mut load, look: &mut look })
    }
}

fn refused(found: &[Diagnostic], terminal: &mut Terminal) -> Failure {
    let errors = found.iter().filter(|one| one.severity == Severity::Error).count();
    for one in found.iter().take(MOST_SHOWN) {
        terminal.note(one.to_string().trim_end());
    }
    let more = found.len().saturating_sub(MOST_SHOWN);
    let failure = Failure::new(
        Kind::Suite,
        match errors {
            1 => "there is an error in the parameter files".to_owned(),
            errors => format!("there are {errors} errors in the parameter files"),
        },
    );
    if more > 0 {
        failure.explain(format!("{more} findings more are not shown"))
    } else {
        failure
    }
}

/// A regular file or a block device with its size.
fn present(path: &Path) -> io::Result<Option<Present>> {
    use std::os::unix::fs::FileTypeExt;
    let device = fs::metadata(path)?.file_type().is_block_device();
    Ok(capacity::size(path)?.map(|bytes| Present { bytes, device }))
}

/// Several hosts are several agents; one machine plays them all only if they are all this one. What is to
/// be said of the first that is another machine, and how many are.
fn hosts_elsewhere(execution: &Execution) -> Option<(Diagnostic, usize)> {
    let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let own = own.trim().to_ascii_lowercase();
    let short = own.split('.').next().unwrap_or_default();
    let is_here = |system: &str| {
        let system = system.to_ascii_lowercase();
        let is_loopback = matches!(system.as_str(), "localhost" | "127.0.0.1" | "::1");
        is_loopback || (!own.is_empty() && (system == own || system == short))
    };
    let elsewhere: Vec<_> =
        execution.hosts.iter().filter(|host| !is_here(&host.system)).collect();
    let first = elsewhere.first()?;
    let away = Diagnostic {
        code: "V170",
        severity: Severity::Error,
        place: first.place.clone(),
        message: format!("the host `{}` ({}) is not this machine", first.label, first.system),
        help: Some(
            "several hosts come with the fleet; until then run each host's part on that host, or \
             say system=localhost where one machine is to play them all"
                .into(),
        ),
        vdbench: Some("starts a slave on every host".into()),
    };
    Some((away, elsewhere.len()))
}

fn all_hosts_are_here(execution: &Execution, terminal: &mut Terminal) -> Result<(), Failure> {
    let Some((away, count)) = hosts_elsewhere(execution) else { return Ok(()) };
    terminal.note(away.to_string().trim_end());
    Err(Failure::measurement(format!("{count} of the hosts cannot be reached from here"))
        .explain("assay runs parameter files on this machine alone so far")
        .advise("-s explains the files without any host"))
}
