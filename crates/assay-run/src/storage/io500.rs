//! Runs the phases of IO500 in a folder of its own, by the engines of IOR and mdtest.
//!
//! The folder is created and removed again; in the user's folder nothing else is changed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use assay_dialects::io500::{self as lines, FOLDERS, Io500Line, Io500Progress};
use assay_dialects::ior::text::IorRunInfo;
use assay_dialects::{ior as ior_language, mdtest as mdtest_language};
use assay_fleet::mounts;
use assay_fleet::root::Root;
use assay_kernels::storage::find::{self, FindPattern};
use assay_model::event::RequestedCommand;
use assay_model::path_text;
use assay_model::plan::Plan;
use assay_model::workload::io500::{Io500Phase, Io500Workload};

use super::job_tasks::JobTasks;
use super::options::RunOptions;
use super::plan_check::RequiredPhases;
use super::{file_trees, ior, mdtest, runner};
use crate::failure::CommandFailure;
use crate::listener::SilentListener;
use crate::recording::RecordingRequest;

/// Name of the folder of a run, in the user's folder.
pub const FOLDER: &str = "assay-io500";
/// File that marks the time before the hard phases, only as long as it takes.
const TIMESTAMP: &str = "timestampfile";

/// Result of a phase, in base units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseMeasurement {
    /// B/s or operations per second.
    pub value: f64,
    /// Seconds of the phase.
    pub seconds: f64,
    /// Number of files of a phase of mdtest and find.
    pub files: Option<u64>,
    /// Number of files that the find phase found.
    pub found: Option<u64>,
}

/// Running IO500.
#[derive(Debug)]
pub struct Io500Run<'r> {
    work: &'r Io500Workload,
    options: &'r RunOptions,
    stop: &'r AtomicBool,
    folder: PathBuf,
    done: Io500Progress,
    /// Time that the find phase compares with.
    timestamp: SystemTime,
}

/// Refuses a folder in which a run is impossible. Changes nothing.
///
/// # Errors
/// The refusal.
pub fn check(work: &Io500Workload, options: &RunOptions) -> Result<(), CommandFailure> {
    let folder = &work.folder;
    let refused = |why: String| {
        CommandFailure::usage(format!("the folder {} cannot be used", folder.display()))
            .with_reason(why)
            .with_target(folder)
    };
    if !folder.is_dir() {
        return Err(refused("it is not an existing folder".to_owned())
            .advise("create it, or mount the file system, first"));
    }
    file_trees::refuse_kernel_folder(folder, &mounts::read(&Root::machine()))?;
    if folder.join(FOLDER).symlink_metadata().is_ok() {
        let failure = refused(format!("it contains {FOLDER} of another run"));
        return Err(failure
            .advise("wait for that run; after a crash, `assay storage clean` removes its files")
            .advise(format!("remove the folder {FOLDER} then, or name another folder")));
    }
    let line = lines::line(Io500Phase::IorEasyWrite, work, (folder, Io500Progress::default()));
    let Io500Line::Ior(words) = line else { return Ok(()) };
    let mut tests = parse_ior(&words, options)?;
    // The folders of the phases do not exist yet.
    let file = folder.join(FOLDER);
    tests.iter_mut().for_each(|test| test.test_file = path_text::encode(file.as_os_str()));
    let store = options.store.as_deref();
    ior::check(&tests, store, RequiredPhases::Any).map_err(|(refusal, _)| refusal.failure)
}

impl<'r> Io500Run<'r> {
    /// Creates the folders of a run.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub fn create(
        work: &'r Io500Workload,
        options: &'r RunOptions,
        stop: &'r AtomicBool,
    ) -> Result<Self, CommandFailure> {
        check(work, options)?;
        let folder = work.folder.join(FOLDER);
        std::fs::create_dir(&folder).map_err(|error| cannot("create", &folder, &error))?;
        let run = Self {
            work,
            options,
            stop,
            folder,
            done: Io500Progress::default(),
            timestamp: SystemTime::UNIX_EPOCH,
        };
        for name in FOLDERS {
            let folder = run.folder.join(name);
            if let Err(error) = std::fs::create_dir(&folder) {
                run.remove_folders();
                return Err(cannot("create", &folder, &error));
            }
        }
        Ok(run)
    }

    /// Runs a phase.
    ///
    /// # Errors
    /// The phase failed or was interrupted.
    pub fn run_phase(&mut self, phase: Io500Phase) -> Result<PhaseMeasurement, CommandFailure> {
        if phase == Io500Phase::IorHardWrite {
            self.timestamp = self.read_timestamp()?;
        }
        let line = lines::line(phase, self.work, (&self.folder, self.done));
        let measured = match line {
            Io500Line::Ior(words) => self.run_ior(phase, words),
            Io500Line::Mdtest(words) => self.run_mdtest(phase, words),
            Io500Line::Find => self.run_find(),
        }?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(CommandFailure::interrupted());
        }
        Ok(measured)
    }

    /// Removes the files and folders of the run, unless they are to be kept.
    ///
    /// # Errors
    /// Names the files that stay.
    pub fn remove(self) -> Result<(), CommandFailure> {
        if self.options.keep {
            return Ok(());
        }
        let removed = runner::remove_created(self.options);
        self.remove_folders();
        removed.map(drop)
    }

    /// A folder that is not empty contains files that are not assay's, and stays.
    fn remove_folders(&self) {
        for name in FOLDERS {
            drop(std::fs::remove_dir(self.folder.join(name)));
        }
        drop(std::fs::remove_dir(&self.folder));
    }

    /// Returns the time of the file system.
    fn read_timestamp(&self) -> Result<SystemTime, CommandFailure> {
        let path = self.folder.join(TIMESTAMP);
        let file = File::create_new(&path);
        let time = file.and_then(|file| file.metadata()?.modified());
        drop(std::fs::remove_file(&path));
        time.map_err(|error| cannot("create", &path, &error))
    }

    fn run_ior(
        &mut self,
        phase: Io500Phase,
        words: Vec<String>,
    ) -> Result<PhaseMeasurement, CommandFailure> {
        let tests = parse_ior(&words, self.options)?;
        let info = IorRunInfo {
            version: String::new(),
            began: ior::format_now(),
            command: String::new(),
            machine: (String::new(), String::new()),
        };
        let opening = unstored(ior::plan(&tests), ior::LANGUAGE, words);
        let store = self.options.store.as_deref();
        let mut silent = SilentListener;
        let recording = (opening, store, &mut silent as _);
        let completed = ior::run_tests(
            (&info, &tests, &JobTasks::Threads),
            recording,
            self.stop,
            &mut |_| {},
        )?;
        if let Some(failure) = completed.io_failure {
            return Err(failure);
        }
        let result = completed.outcome.tests.iter().find_map(|test| test.results.first());
        let result = result.ok_or_else(|| nothing_measured(phase))?;
        if let Some(stonewall) = result.stonewall {
            match phase {
                Io500Phase::IorEasyWrite => self.done.ior_easy = stonewall.maximum,
                _ => self.done.ior_hard = stonewall.maximum,
            }
        }
        Ok(PhaseMeasurement {
            value: result.bytes_per_s(),
            seconds: result.total_s(),
            files: None,
            found: None,
        })
    }

    fn run_mdtest(
        &mut self,
        phase: Io500Phase,
        words: Vec<String>,
    ) -> Result<PhaseMeasurement, CommandFailure> {
        let parsed = mdtest_language::command_line::parse(&words);
        let mut options =
            parsed.map_err(|error| CommandFailure::measurement(error.to_string()))?;
        options.target_on_root = self.options.target_on_root;
        let report =
            mdtest::begin_report(options.clone(), &JobTasks::Threads, ("", String::new()));
        let opening = unstored(mdtest::plan(&options), mdtest::LANGUAGE, words);
        let mut silent = SilentListener;
        let recording = (opening, self.options.store.as_deref(), &mut silent as _);
        let report =
            mdtest::run((report, &JobTasks::Threads), recording, self.stop, &mut |_| {})?;
        let mut results = report.tests.iter().flat_map(|test| &test.results);
        let result = results.rfind(|it| it.phase.is_of_files());
        let result = result.ok_or_else(|| nothing_measured(phase))?;
        match phase {
            Io500Phase::MdtestEasyWrite => self.done.mdtest_easy = result.items,
            Io500Phase::MdtestHardWrite => self.done.mdtest_hard = result.items,
            _ => {}
        }
        Ok(PhaseMeasurement {
            value: result.rate_per_s(),
            seconds: result.elapsed_s,
            files: Some(result.items * u64::from(self.work.tasks)),
            found: None,
        })
    }

    fn run_find(&self) -> Result<PhaseMeasurement, CommandFailure> {
        let pattern = FindPattern {
            name_part: lines::FOUND_NAME.as_bytes(),
            bytes: lines::MDTEST_HARD_BYTES,
            newer_than: self.timestamp,
        };
        let outcome = find::find(&self.folder, pattern, self.work.tasks, self.stop)
            .map_err(|error| cannot("search", &self.folder, &error))?;
        Ok(PhaseMeasurement {
            value: outcome.files as f64 / outcome.elapsed_s.max(f64::MIN_POSITIVE),
            seconds: outcome.elapsed_s,
            files: Some(outcome.files),
            found: Some(outcome.found),
        })
    }
}

fn parse_ior(
    words: &[String],
    options: &RunOptions,
) -> Result<Vec<ior_language::options::IorOptions>, CommandFailure> {
    let no_script = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let mut tests = ior_language::command_line::parse(words, &mut { no_script })
        .map_err(|error| CommandFailure::measurement(error.to_string()))?;
    tests.iter_mut().for_each(|test| test.target_on_root = options.target_on_root);
    Ok(tests)
}

/// A recording of a phase by its engine, of which only the results are kept.
fn unstored(plan: Plan, language: &str, words: Vec<String>) -> RecordingRequest<'static> {
    let asked = RequestedCommand { language: language.to_owned(), words };
    RecordingRequest { plan, asked, label: None, files: vec![], store: None }
}

fn nothing_measured(phase: Io500Phase) -> CommandFailure {
    CommandFailure::measurement(format!("{} measured nothing", phase.name()))
}

fn cannot(verb: &str, path: &Path, error: &std::io::Error) -> CommandFailure {
    CommandFailure::measurement(format!("cannot {verb} {}", path.display()))
        .with_cause(error)
        .with_known_advice()
}
