//! `assay ior`: IOR's options in, IOR's output out; its ranks are threads of this process.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use assay_dialects::ior::compile::{self, Access, compile};
use assay_dialects::ior::options::{Format, Options};
use assay_dialects::ior::result::{AccessResult, Test};
use assay_dialects::ior::text::{Circumstances, csv};
use assay_dialects::ior::{command_line, json, text};
use assay_fleet::capacity;
use assay_fleet::root::Root;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::storage::{StoragePhase, StoragePlan};

use super::help;
use crate::arguments::ior::IorArguments;
use crate::job_file;
use crate::output_file;
use crate::signals;
use crate::storage_plan::explain;
use crate::terminal::Terminal;
use assay_run::failure::Failure;
use assay_run::storage::runner::{self, RunOptions, StorageEvent};

/// The version whose output this is, and who wrote it.
const VERSION: &str = concat!("4.1.0+dev (assay ", env!("CARGO_PKG_VERSION"), ")");
/// Variables with the number of processes that a launcher of MPI started.
const LAUNCHERS: [&str; 5] = [
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "MPI_LOCALNRANKS",
    "SLURM_STEP_NUM_TASKS",
    "PMIX_SIZE",
];

pub(crate) fn ior(typed: &IorArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    if help::on_the_way("ior", &typed.words, terminal) {
        return Ok(0);
    }
    let mut load = |path: &str| job_file::read_text(path.as_ref());
    let tests = command_line::read(&typed.words, &mut load)
        .map_err(|error| Failure::usage(error.to_string()).advise(error.hint()))?;
    let launched = |name: &&str| {
        std::env::var(name).ok().and_then(|count| count.parse::<u64>().ok()).unwrap_or(1) > 1
    };
    if let Some(name) = LAUNCHERS.iter().find(|name| launched(name)) {
        return Err(Failure::usage("assay ior does not run under an MPI launcher")
            .explain(format!(
                "{name} says that several processes were started, and each would run the whole \
                 test: ranks are threads of one process here"
            ))
            .advise("start it once, with the number of ranks: assay ior -N 64 …"));
    }
    for note in tests.iter().flat_map(|options| &options.notes) {
        terminal.note(&format!("note: {note}"));
    }
    if tests.iter().any(|options| options.dry_run) {
        for options in &tests {
            explain(&compile(options, 0).0, false, terminal)?;
        }
        return Ok(0);
    }
    carry_out(tests, &circumstances(typed), terminal)
}

/// Carries out the tests and writes what they came to; where and how says the first.
fn carry_out(
    tests: Vec<Options>,
    circumstances: &Circumstances,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let stop = signals::cancel_on_signals()?;
    let (format, file) = (tests[0].format, tests[0].summary_file.clone());
    let on_screen = format == Format::Text && file.is_none();
    let mut text = Text { on_screen, all: String::new() };
    let (mut done, mut failed) = (Vec::new(), None);
    for (number, options) in tests.into_iter().enumerate() {
        let mut run = Run::new(options, &stop);
        let carried_out = run.prepare().and_then(|()| {
            if number == 0 {
                text.add(&text::head(circumstances), terminal);
            }
            text.add(&text::start(&run.test, number), terminal);
            run.repetitions(&mut text, terminal)
        });
        run.clean(carried_out.is_err())?;
        carried_out?;
        text.add(&text::greatest(&run.test), terminal);
        failed = failed.or(run.failed);
        done.push(run.test);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if done.iter().all(|test| test.results.is_empty()) {
        return Err(failed.unwrap_or_else(|| Failure::measurement("nothing was measured")));
    }
    let finished = now();
    text.add(&text::end(&done, &finished), terminal);
    let written = match format {
        Format::Text => text.all,
        Format::Json => json::document(circumstances, &done, &finished),
        Format::Csv => csv(&done),
    };
    match file {
        _ if on_screen => {}
        None => terminal.print(&written),
        Some(path) => output_file::write(Path::new(&path), &written)?,
    }
    failed.map_or(Ok(0), Err)
}

/// The lines for people: shown as they come, or kept for a file.
struct Text {
    on_screen: bool,
    all: String,
}

impl Text {
    fn add(&mut self, lines: &str, terminal: &mut Terminal) {
        if self.on_screen {
            terminal.print(lines);
        } else {
            self.all.push_str(lines);
        }
    }
}

/// A test while it runs.
struct Run<'a> {
    test: Test,
    stop: &'a AtomicBool,
    /// The first I/O that failed; the others go on.
    failed: Option<Failure>,
    /// Folders that were made for the files of ranks.
    folders: Vec<PathBuf>,
}

impl<'a> Run<'a> {
    fn new(options: Options, stop: &'a AtomicBool) -> Self {
        let first = compile::file_name(&options, 0, 0);
        let capacity = capacity::of(Path::new(&first));
        let test = Test { options, began: now(), capacity, results: vec![] };
        Self { test, stop, failed: None, folders: vec![] }
    }

    fn permissions(&self) -> RunOptions {
        let options = &self.test.options;
        RunOptions {
            destroy_data: options.destroy_data.iter().map(Into::into).collect(),
            allow_unmounted: options.allow_unmounted,
            keep: true,
            // A deadline would leave parts of a file unwritten that are read afterwards.
            writers_make_files: options.deadline_s == 0 && options.prefill_bytes == 0,
            ..RunOptions::default()
        }
    }

    /// Removes what was made, unless it is to be kept.
    fn clean(&self, is_broken: bool) -> Result<(), Failure> {
        let options = &self.test.options;
        let has_errors = is_broken || self.failed.is_some();
        if options.keep || (options.keep_with_error && has_errors) {
            return Ok(());
        }
        runner::remove_made(&self.permissions())?;
        for folder in self.folders.iter().rev() {
            // One that is not empty holds what was there before, or what somebody else put there.
            drop(std::fs::remove_dir(folder));
        }
        Ok(())
    }

    fn repetitions(&mut self, text: &mut Text, terminal: &mut Terminal) -> Result<(), Failure> {
        let began = Instant::now();
        let most_s = u64::from(self.test.options.most_minutes) * 60;
        self.take_status();
        for repetition in 0..self.test.options.repetitions {
            if most_s > 0 && began.elapsed().as_secs() >= most_s {
                terminal.note(&format!("-T: {repetition} repetitions in the time"));
                break;
            }
            if self.test.options.wear_out {
                self.worn_out(repetition, text, terminal)?;
            } else {
                self.repetition(repetition, text, terminal)?;
            }
            let options = &self.test.options;
            let last = repetition + 1 == options.repetitions;
            // IOR writes a new file in every repetition, unless it is told to use the old one.
            if !last && !options.keep && !options.use_existing && options.write {
                runner::remove_made(&self.permissions())?;
            }
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        self.write_status()
    }

    /// Refuses what cannot be done before anything is shown.
    fn prepare(&mut self) -> Result<(), Failure> {
        self.make_folders()?;
        let options = &self.test.options;
        let first = compile::file_name(options, 0, 0);
        if !options.write && !Path::new(&first).exists() {
            return Err(Failure::measurement(format!("there is no file {first} to read"))
                .explain("without -w nothing is written")
                .advise("write it first, with the same options and -w -k: -k lets it stay"));
        }
        runner::check(&compile(options, 0).0, &self.permissions())
    }

    fn make_folders(&mut self) -> Result<(), Failure> {
        for folder in compile::folders(&self.test.options) {
            if folder.is_dir() {
                continue;
            }
            std::fs::create_dir(&folder).map_err(|error| {
                Failure::measurement(format!("the folder {} cannot be made", folder.display()))
                    .because(&error)
                    .advise("-u makes a folder for each rank beside the test file: its folder must be there")
            })?;
            self.folders.push(folder);
        }
        Ok(())
    }

    /// How far an earlier run came before its deadline, so that no more is read.
    fn take_status(&mut self) {
        let options = &mut self.test.options;
        let Some(file) = options.status_file.as_ref().filter(|_| !options.write) else {
            return;
        };
        let told = std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
        options.wear_out_transfers = told.unwrap_or(options.wear_out_transfers);
    }

    fn write_status(&self) -> Result<(), Failure> {
        let Test { options, results, .. } = &self.test;
        let walls = results.iter().filter(|it| it.access == Access::Write);
        let most = walls.filter_map(|it| it.stonewall).map(|wall| wall.most).next_back();
        match (&options.status_file, most) {
            (Some(file), Some(most)) => output_file::write(Path::new(file), &most.to_string()),
            _ => Ok(()),
        }
    }

    fn repetition(
        &mut self,
        repetition: u32,
        text: &mut Text,
        terminal: &mut Terminal,
    ) -> Result<(), Failure> {
        let (plan, accesses) = compile(&self.test.options, repetition);
        let permissions = self.permissions();
        let options = &self.test.options;
        let mut results = vec![];
        let mut accesses = accesses.into_iter();
        let mut see = |event: StorageEvent<'_>| match event {
            StorageEvent::PhaseDone { outcome, .. } => {
                let access = accesses.next().unwrap_or(Access::CheckWrite);
                if let Some(result) = AccessResult::of(access, repetition, outcome) {
                    text.add(&text::result(options, &result), terminal);
                    results.push(result);
                }
            }
            StorageEvent::PhaseFailed { .. } => {
                let _ = accesses.next();
            }
            StorageEvent::LayingOut { .. }
            | StorageEvent::PhaseStarts { .. }
            | StorageEvent::Interval { .. } => {}
        };
        let outcomes = runner::carry_out(&plan, &permissions, self.stop, &mut see)?;
        let failed = runner::io_failure(&plan, &outcomes);
        self.failed = self.failed.take().or(failed);
        self.test.results.extend(results);
        Ok(())
    }

    /// A repetition in which, after the deadline, all ranks go on until each has done as much as the one
    /// that did most.
    fn worn_out(
        &mut self,
        repetition: u32,
        text: &mut Text,
        terminal: &mut Terminal,
    ) -> Result<(), Failure> {
        let asked = self.test.options.wear_out_transfers;
        for access in compile(&self.test.options, repetition).1 {
            let phase = compile::phase(&self.test.options, access, repetition);
            let Some(first) = self.phases(vec![phase])?.pop() else { continue };
            let mut done = vec![0; self.test.options.ranks as usize];
            for tally in &first.tallies {
                done[tally.stream] += tally.tally.count;
            }
            let rest = compile::rest(&self.test.options, access, repetition, &done);
            let rest = self.phases(rest)?;
            if access == Access::Write {
                // What is read is what was written.
                self.test.options.wear_out_transfers = done.iter().copied().max().unwrap_or(0);
            }
            let Some(result) = AccessResult::of(access, repetition, &first) else { continue };
            let result = result.worn_out(&self.test.options, &done, &rest);
            text.add(&text::result(&self.test.options, &result), terminal);
            self.test.results.push(result);
        }
        self.test.options.wear_out_transfers = asked;
        Ok(())
    }

    fn phases(&mut self, phases: Vec<StoragePhase>) -> Result<Vec<StorageOutcome>, Failure> {
        if phases.is_empty() {
            return Ok(vec![]);
        }
        let plan = StoragePlan { phases };
        let outcomes = runner::carry_out(&plan, &self.permissions(), self.stop, &mut |_| {})?;
        let failed = runner::io_failure(&plan, &outcomes);
        self.failed = self.failed.take().or(failed);
        Ok(outcomes)
    }
}

fn circumstances(typed: &IorArguments) -> Circumstances {
    let root = Root::machine();
    let kernel = |name: &str| {
        let told = root.text(&format!("proc/sys/kernel/{name}"));
        told.map_or_else(|| "unknown".to_owned(), |text| text.trim().to_owned())
    };
    Circumstances {
        version: VERSION.to_owned(),
        began: now(),
        command: format!("ior {}", typed.words.join(" ")),
        machine: (kernel("ostype"), kernel("hostname")),
    }
}

fn now() -> String {
    jiff::Zoned::now().strftime("%a %b %e %H:%M:%S %Y").to_string()
}
