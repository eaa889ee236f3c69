//! `assay fio`: fio's job files and options in, fio's output out.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use assay_dialects::fio::command_line::{self, COMMAND_LINE, Format, Request};
use assay_dialects::fio::compile::{self, FioPlan, Places};
use assay_dialects::fio::fault::Fault;
use assay_dialects::fio::jobfile::Surroundings;
use assay_dialects::fio::statistics::{Circumstances, ProcessUse, results};
use assay_dialects::fio::steady::Window;
use assay_dialects::fio::{json, log, terse, text};
use assay_fleet::capacity;
use assay_fleet::facts;
use assay_fleet::root::Root;
use assay_kernels::process_use::process_use;
use assay_model::storage_outcome::{Ended, StorageOutcome};
use fs_err as fs;

use self::disks::Disks;
use super::help;
use crate::arguments::fio::FioArguments;
use crate::job_file;
use crate::output_file;
use crate::signals;
use crate::storage_plan::explain;
use crate::terminal::Terminal;
use assay_run::failure::{Failure, Kind};
use assay_run::storage::options::RunOptions;
use assay_run::storage::runner::{self, StorageEvent};

mod disks;

/// The version whose output this is, and who wrote it.
const VERSION: &str = concat!("fio-3.33 (assay ", env!("CARGO_PKG_VERSION"), ")");

pub(crate) fn fio(typed: &FioArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    if help::on_the_way("fio", &typed.words, terminal) {
        return Ok(0);
    }
    let read_file = |path: &str| {
        let bytes = job_file::read(path.as_ref()).map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let facts = facts::read(&Root::machine());
    let memory = facts.memory;
    let surroundings = Surroundings {
        read_file: &read_file,
        variable: &|name| std::env::var(name).ok(),
        page_bytes: memory.page_bytes,
        memory_mib: memory.total_bytes >> 20,
        cpus: std::thread::available_parallelism().map_or(1, |count| count.get() as u64),
    };
    let request = command_line::read(&typed.words, &surroundings)
        .map_err(|fault| refused(&fault, &typed.words, &read_file))?;
    if request.version {
        terminal.print(&format!("{VERSION}\n"));
        return Ok(0);
    }
    if request.show_command {
        terminal.print(&format!("{}\n", request.as_command()));
        return Ok(0);
    }
    let nodes = &facts.topology.numa;
    let cpus_of_node = |node: usize| {
        let node = nodes.iter().find(|it| it.id as usize == node)?;
        Some(node.cpus.iter().map(|cpu| *cpu as usize).collect())
    };
    let places = Places {
        size_of: &|path| capacity::size(path).ok().flatten(),
        cpus_of_node: &cpus_of_node,
        fresh_seed: fresh_seed(),
    };
    let plan = compile::compile(&request, &places)
        .map_err(|fault| refused(&fault, &typed.words, &read_file))?;
    for note in &plan.notes {
        tell(&request, terminal, &format!("note: {note}"));
    }
    if request.dry_run {
        explain(&plan.plan, false, terminal)?;
        return Ok(0);
    }
    if request.parse_only {
        return Ok(0);
    }
    carry_out(&request, &plan, terminal)
}

/// Says something about the run: on standard error, or on standard output where results go to a file,
/// because scripts take a word on standard error for a failure.
fn tell(request: &Request, terminal: &mut Terminal, text: &str) {
    match request.output.file {
        Some(_) => terminal.print(&format!("{text}\n")),
        None => terminal.note(text),
    }
}

/// Shows the place of a fault: wrong usage on the command line, an invalid file elsewhere.
fn refused(
    fault: &Fault,
    words: &[String],
    read_file: &dyn Fn(&str) -> Result<String, String>,
) -> Failure {
    let origin = &fault.origin;
    let (kind, text) = match origin.file.as_str() {
        COMMAND_LINE => (Kind::Usage, words.join(" ")),
        file => (Kind::Suite, read_file(file).unwrap_or_default()),
    };
    let failure = Failure::new(kind, fault.kind.to_string()).advise(fault.hint());
    let (start, end) = origin.span;
    if end > text.len() || start == end {
        return failure;
    }
    failure.at(&origin.file, &text, start..end)
}

/// Another one in every run.
fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(32)
}

fn carry_out(
    request: &Request,
    plan: &FioPlan,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let options = RunOptions {
        destroy_data: request.destroy_data.iter().map(Into::into).collect(),
        allow_unmounted: request.allow_unmounted,
        // fio leaves its files behind, unless it is told to unlink them.
        keep: !plan.workers.iter().any(|job| job.unlink),
        keeps_partial: true,
        enough: asks_for_steady_state(plan).then(Arc::default),
        ..RunOptions::default()
    };
    let on_screen = request.output.file.is_none() && request.output.formats == [Format::Normal];
    if on_screen {
        terminal.print(&text::start(plan, VERSION));
    }
    let mut watch = Watch { enough: options.enough.clone(), ..Watch::default() };
    let outcomes = runner::run_plan(
        &plan.plan,
        &options,
        &*signals::cancel_on_signals()?,
        &mut |event| {
            watch.see(plan, &event, &mut |text| tell(request, terminal, text));
        },
    )?;
    let interrupted = outcomes.len() < plan.plan.phases.len()
        || outcomes.iter().any(|outcome| outcome.ended == Ended::Interrupted);
    write_logs(plan, &outcomes, &watch.counted_from_ms)?;
    let circumstances = watch.circumstances();
    let mut written = String::new();
    if !on_screen && request.output.formats.contains(&Format::Normal) {
        written.push_str(&text::start(plan, VERSION));
    }
    written.push_str(&output(request, plan, &outcomes, &circumstances));
    match &request.output.file {
        None => terminal.print(&written),
        Some(path) => output_file::write(Path::new(path), &written)?,
    }
    match runner::io_failure(&plan.plan, &outcomes) {
        Some(failure) => Err(failure),
        None if interrupted => Err(runner::interrupted()),
        None => Ok(0),
    }
}

fn asks_for_steady_state(plan: &FioPlan) -> bool {
    (0..plan.plan.phases.len()).any(|phase| compile::steady_window(plan, phase).is_some())
}

/// Writes the logs that jobs ask for; what lies there is replaced, as by fio.
fn write_logs(
    plan: &FioPlan,
    outcomes: &[StorageOutcome],
    counted_from_ms: &[u64],
) -> Result<(), Failure> {
    for file in log::files(plan) {
        let write = || {
            let mut to = BufWriter::new(fs::File::create(&file.path)?);
            file.write(plan, outcomes, counted_from_ms, &mut to)?;
            to.flush()
        };
        write().map_err(|error| {
            Failure::measurement(format!("the log {} cannot be written", file.path))
                .because(&error)
                .advise("make its folder, or give another name to write_bw_log and its like")
        })?;
    }
    Ok(())
}

fn output(
    request: &Request,
    plan: &FioPlan,
    outcomes: &[StorageOutcome],
    circumstances: &Circumstances,
) -> String {
    let results = results(plan, outcomes, circumstances);
    let mut written = String::new();
    for format in &request.output.formats {
        let part = match format {
            Format::Normal => text::end(&results, circumstances),
            Format::Json => json::document(request, plan, &results, circumstances, false),
            Format::JsonPlus => json::document(request, plan, &results, circumstances, true),
            Format::Terse => {
                terse::lines(&results, circumstances, request.output.terse_version)
            }
        };
        let _ = write!(written, "{part}");
    }
    written
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_millis().try_into().unwrap_or(u64::MAX)
}

/// What is seen of a run besides its outcomes.
#[derive(Debug, Default)]
struct Watch {
    disks: Disks,
    began: Option<Instant>,
    before: assay_kernels::process_use::ProcessUse,
    uses: Vec<ProcessUse>,
    laid_out: Vec<String>,
    /// Of each phase that began, when it began to count, since 1970.
    counted_from_ms: Vec<u64>,
    /// Ends a phase.
    enough: Option<Arc<AtomicBool>>,
    steady: Option<(Window, Vec<usize>)>,
}

impl Watch {
    fn see(&mut self, plan: &FioPlan, event: &StorageEvent<'_>, tell: &mut dyn FnMut(&str)) {
        match event {
            StorageEvent::LayingOut { target, total_bytes, .. } => {
                if !self.laid_out.contains(&target.name) {
                    self.laid_out.push(target.name.clone());
                    let mib = total_bytes >> 20;
                    tell(&format!("{}: laying out the file ({mib} MiB)", target.name));
                }
            }
            StorageEvent::PhaseStarts { .. } => {
                if self.began.is_none() {
                    self.disks = Disks::below(&plan.plan);
                    self.began = Some(Instant::now());
                }
                let phase = self.counted_from_ms.len();
                let warmup_s = plan.plan.phases[phase].workload.timing.warmup_s;
                self.counted_from_ms.push(now_ms().saturating_add((warmup_s * 1e3) as u64));
                self.steady = compile::steady_window(plan, phase);
                self.before = process_use();
            }
            StorageEvent::PhaseDone { outcome, .. } => {
                let used = process_use().since(self.before);
                self.uses.push(ProcessUse {
                    switches: used.switches,
                    major_faults: used.major_faults,
                    minor_faults: used.minor_faults,
                });
                let reason = assay_report::words::engine_reason(&outcome.engine_reason);
                tell(&format!("engine: {} ({reason})", outcome.engine));
            }
            StorageEvent::Interval { tally } => {
                if let (Some((window, streams)), Some(enough)) =
                    (&mut self.steady, &self.enough)
                    && window.add(tally, streams)
                {
                    enough.store(true, Ordering::Relaxed);
                }
            }
            StorageEvent::PhaseFailed { .. } => {}
        }
    }

    fn circumstances(self) -> Circumstances {
        let now = jiff::Zoned::now();
        let elapsed_ms =
            self.began.map_or(0, |began| began.elapsed().as_millis().min(u128::from(u64::MAX)));
        Circumstances {
            ended_ms: u64::try_from(now.timestamp().as_millisecond()).unwrap_or(0),
            ended: now.strftime("%a %b %e %H:%M:%S %Y").to_string(),
            process: std::process::id(),
            version: VERSION.to_owned(),
            uses: self.uses,
            disks: self.disks.used(elapsed_ms as u64),
            elapsed_ms: elapsed_ms as u64,
        }
    }
}
