//! `assay ior`: IOR's options in, IOR's output out; its ranks are threads of this process.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use assay_adapters::dialect::ior::compile::compile;
use assay_adapters::dialect::ior::options::{self, Format, Options};
use assay_adapters::dialect::ior::result::AccessResult;
use assay_adapters::dialect::ior::text::{Circumstances, csv, first_file};
use assay_adapters::dialect::ior::{json, text};
use assay_fleet::capacity;
use assay_fleet::root::Root;

use crate::arguments::ior::IorArguments;
use crate::failure::Failure;
use crate::output_file;
use crate::signals;
use crate::storage::explain::explain;
use crate::storage::runner::{self, RunOptions, StorageEvent};
use crate::terminal::Terminal;

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
    let options = options::read(&typed.words)
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
    for note in &options.notes {
        terminal.note(&format!("note: {note}"));
    }
    if options.dry_run {
        explain(&compile(&options, true).0, false, terminal)?;
        return Ok(0);
    }
    let circumstances = circumstances(&options, typed);
    let stop = signals::cancel_on_signals()?;
    let mut test = Test {
        options: &options,
        stop: &stop,
        results: vec![],
        failed: None,
        on_screen: false,
    };
    test.on_screen = options.format == Format::Text && options.summary_file.is_none();
    if test.on_screen {
        terminal.print(&text::start(&options, &circumstances));
    }
    let carried_out = test.repetitions(terminal);
    let permissions = test.permissions();
    let Test { results, failed, on_screen, .. } = test;
    if !options.keep {
        runner::remove_made(&permissions)?;
    }
    carried_out?;
    if results.is_empty() {
        return Err(failed.unwrap_or_else(|| Failure::measurement("nothing was measured")));
    }
    let finished = now();
    let written = match (options.format, on_screen) {
        (Format::Text, true) => text::end(&options, &results, &finished),
        (Format::Text, false) => {
            let lines = results.iter().map(|it| text::result(&options, it));
            let start = text::start(&options, &circumstances);
            start + &lines.collect::<String>() + &text::end(&options, &results, &finished)
        }
        (Format::Json, _) => json::document(&options, &circumstances, &results, &finished),
        (Format::Csv, _) => csv(&options, &results),
    };
    match &options.summary_file {
        None => terminal.print(&written),
        Some(path) => output_file::write(Path::new(path), &written)?,
    }
    failed.map_or(Ok(0), Err)
}

/// A test while it runs.
struct Test<'a> {
    options: &'a Options,
    stop: &'a AtomicBool,
    results: Vec<AccessResult>,
    /// The first I/O that failed; the others go on.
    failed: Option<Failure>,
    on_screen: bool,
}

impl Test<'_> {
    fn permissions(&self) -> RunOptions {
        RunOptions {
            destroy_data: self.options.destroy_data.iter().map(Into::into).collect(),
            allow_unmounted: self.options.allow_unmounted,
            keep: true,
            // A deadline would leave parts of a file unwritten that are read afterwards.
            writers_make_files: self.options.deadline_s == 0,
            ..RunOptions::default()
        }
    }

    fn repetitions(&mut self, terminal: &mut Terminal) -> Result<(), Failure> {
        let began = Instant::now();
        let most_s = u64::from(self.options.most_minutes) * 60;
        for repetition in 0..self.options.repetitions {
            if most_s > 0 && began.elapsed().as_secs() >= most_s {
                terminal.note(&format!("-T: {repetition} repetitions in the time"));
                break;
            }
            self.repetition(repetition, terminal)?;
            let last = repetition + 1 == self.options.repetitions;
            // IOR writes a new file in every repetition, unless it is told to use the old one.
            if !last && !self.options.keep && !self.options.use_existing && self.options.write {
                runner::remove_made(&self.permissions())?;
            }
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(())
    }

    fn repetition(&mut self, repetition: u32, terminal: &mut Terminal) -> Result<(), Failure> {
        let (plan, accesses) = compile(self.options, repetition == 0);
        let (options, on_screen) = (self.options, self.on_screen);
        let mut index = 0;
        let mut see = |event: StorageEvent<'_>| match event {
            StorageEvent::PhaseDone { outcome, .. } => {
                let result = AccessResult::of(accesses[index], repetition, outcome);
                if let Some(result) = result.filter(|_| on_screen) {
                    terminal.print(&text::result(options, &result));
                }
                index += 1;
            }
            StorageEvent::PhaseFailed { .. } => index += 1,
            StorageEvent::LayingOut { .. }
            | StorageEvent::PhaseStarts { .. }
            | StorageEvent::Interval { .. } => {}
        };
        let permissions = self.permissions();
        let outcomes = runner::carry_out(&plan, &permissions, self.stop, &mut see)?;
        let failed = runner::io_failure(&plan, &outcomes);
        self.failed = self.failed.take().or(failed);
        let done = accesses.iter().zip(&outcomes);
        self.results.extend(
            done.filter_map(|(access, outcome)| AccessResult::of(*access, repetition, outcome)),
        );
        Ok(())
    }
}

fn circumstances(options: &Options, typed: &IorArguments) -> Circumstances {
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
        capacity: capacity::of(Path::new(&first_file(options))),
    }
}

fn now() -> String {
    jiff::Zoned::now().strftime("%a %b %e %H:%M:%S %Y").to_string()
}
