//! `assay mpi`: one rank of a job started by an MPI launcher. Rank 0 prints OSU's table or JSON,
//! and stores the run at the end.

use std::thread;

use assay_dialects::osu::{OsuRow, OsuTable};
use assay_model::doubt::Doubt;
use assay_model::failure::ErrorArea;
use assay_model::mpi_outcome::{MpiLibrary, MpiOutcome, MpiRank, MpiSizeResult};
use assay_model::quantity::Bytes;
use assay_model::run::Run;
use assay_model::workload::{MpiPreset, Workload};
use assay_report::{render, words};
use assay_stats::summarize::summarize;
use assay_store::Store;
use serde::{Deserialize, Serialize};

use crate::options::osu::{MpiArguments, MpiProgram};
use crate::store_access;
use crate::terminal::Terminal;
use assay_console::failure::exit_code;
use assay_console::progress_listener::EmulationListener;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::mpi::job::{self, RankEvent, RankTask};
use assay_run::mpi::launcher_env::LauncherEnv;
use assay_run::mpi::options::MpiOptions;
use assay_run::mpi::ranks::NOTE_DELAY;
use assay_run::mpi::table;
use assay_run::recording::Recording;
use assay_run::stored_outcome::{self, ToolOutcome};

mod options;

/// Runs `assay mpi`: one rank of an MPI job.
///
/// # Errors
/// This rank fails, or the run cannot be stored.
pub fn mpi(typed: &MpiArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    let launched = LauncherEnv::from_process_env();
    if typed.tell_version {
        if launched.is_reporting_rank() {
            let layout = table::table_layout(typed.preset.to_preset());
            terminal.print(
                &layout.render_version(typed.program.title(), env!("CARGO_PKG_VERSION")),
            );
        }
        return Ok(0);
    }
    match run_rank(typed, &launched, terminal) {
        // All ranks fail for the same reason before they are connected. One of them reports it; the
        // others wait, because a launcher kills all ranks after the first error.
        Err(failure) if !launched.is_reporting_rank() => {
            thread::sleep(NOTE_DELAY);
            Ok(exit_code(failure.kind))
        }
        Err(failure) => {
            if let Some(file) = &typed.raw {
                job::write_failed_outcome(
                    file,
                    &options::to_mpi_options(typed),
                    &launched,
                    &failure,
                )?;
            }
            Err(failure)
        }
        done => done,
    }
}

/// Runs a rank from start to end.
fn run_rank(
    typed: &MpiArguments,
    launched: &LauncherEnv,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    options::check_options(typed)?;
    let mpi_options = options::to_mpi_options(typed);
    let task = RankTask {
        options: &mpi_options,
        env: launched,
        outcome_file: typed.raw.as_deref(),
        failure_exit_code: exit_code(FailureKind::Measurement),
    };
    if typed.program == MpiProgram::Hello {
        return greet(&task, terminal);
    }
    let prints = !typed.json && typed.raw.is_none();
    let mut quiet = EmulationListener::new(&typed.keep);
    let mut quiet = Some(&mut quiet);
    let mut recording: Option<Recording<'_>> = None;
    let result = job::run(&task, &mut |event| {
        match event {
            RankEvent::Note(phrase) => terminal.note(&words::phrase(phrase)),
            RankEvent::Aborting(failure) => {
                terminal.print_failure(failure);
                record_failure(recording.take(), failure)?;
            }
            RankEvent::Started(outcome) => {
                // If results go to a file, the program that started the launcher stores them.
                if let (None, Some(quiet)) = (&typed.raw, quiet.take()) {
                    let workload = job::named_workload(&mpi_options, outcome);
                    recording = begin_recording(typed, workload, quiet)?;
                }
                if prints {
                    terminal.print(&OsuOutcome::new(&mpi_options, outcome).render_head());
                }
            }
            RankEvent::SizeMeasured(outcome, size) if prints => {
                let columns = table::empty_table(&mpi_options, outcome);
                let row = table::build_row(&columns, outcome, size);
                terminal.print(&columns.render_row(&row));
            }
            RankEvent::AllMeasured(outcome) if prints => {
                terminal.print(&OsuOutcome::new(&mpi_options, outcome).render_doubts());
            }
            RankEvent::SizeMeasured(..) | RankEvent::AllMeasured(_) => {}
        }
        Ok(())
    });
    let result = match result {
        Ok(result) => result,
        Err(failure) => {
            record_failure(recording, &failure)?;
            return Err(failure);
        }
    };
    if !result.is_root {
        return Ok(if result.is_damaged { task.failure_exit_code } else { 0 });
    }
    if let Some(mut recording) = recording {
        recording.record_partial(0, job::entries(&result.outcome), &[])?;
        recording.end_case(0, job::stop_reason(&result.outcome))?;
        recording.store_outcome(&OsuOutcome::new(&mpi_options, &result.outcome))?;
        let run = recording.finish(false)?;
        if typed.json {
            terminal.print(&render::json::summary(&summarize(&run)));
        }
    }
    result.verdict.map(|()| 0)
}

/// Runs `assay mpi hello`: prints the number of ranks, as `osu_hello` does, and stores nothing.
fn greet(task: &RankTask<'_>, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    let ranks = job::greet(task, &mut |event| {
        if let RankEvent::Note(phrase) = event {
            terminal.note(&words::phrase(phrase));
        }
        Ok(())
    })?;
    if let Some(outcome) = ranks {
        let started = OsuOutcome::new(task.options, &outcome);
        terminal.print(&(started.render_ranks() + &started.table.render_hello()));
    }
    Ok(0)
}

/// Starts the record of the job, before its first message; `None` if the library is unknown.
fn begin_recording<'q>(
    typed: &MpiArguments,
    phase: Option<(String, Workload)>,
    quiet: &'q mut EmulationListener,
) -> Result<Option<Recording<'q>>, CommandFailure> {
    let Some(phase) = phase else { return Ok(None) };
    let store = store_access::open_for_recording(&typed.keep)?;
    let opening =
        store_access::recording_request((&typed.keep, store.as_ref()), "osu", vec![phase]);
    let mut recording = Recording::begin(opening, quiet)?;
    recording.start_case(0)?;
    Ok(Some(recording))
}

/// Ends the record of a job that failed early, with the reason.
fn record_failure(
    recording: Option<Recording<'_>>,
    failure: &CommandFailure,
) -> Result<(), CommandFailure> {
    let Some(mut recording) = recording else { return Ok(()) };
    recording.record_case(0, [], &[], Some(failure.to_case_failure(ErrorArea::Rank)))?;
    recording.finish(false).map(drop)
}

/// Outcome of a job, as its table prints it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct OsuOutcome {
    library: Option<MpiLibrary>,
    launcher: String,
    ranks: Vec<MpiRank>,
    table: OsuTable,
    rows: Vec<OsuRow>,
    /// Doubts printed below the table, each with its message size unless it is about all.
    doubts: Vec<(Option<u64>, Doubt)>,
}

impl ToolOutcome for OsuOutcome {
    const TOOL: &'static str = "osu";
    const VERSION: u32 = 1;
}

impl OsuOutcome {
    fn new(options: &MpiOptions, outcome: &MpiOutcome) -> Self {
        let columns = table::empty_table(options, outcome);
        let sizes = outcome.sizes.iter();
        let rows = sizes.map(|size| table::build_row(&columns, outcome, size)).collect();
        let doubts = match options.preset {
            MpiPreset::Assay => table_doubts(options, outcome),
            MpiPreset::Osu5 | MpiPreset::Osu7 => Vec::new(),
        };
        Self {
            library: outcome.library.clone(),
            launcher: outcome.launcher.clone(),
            ranks: outcome.ranks.clone(),
            table: columns,
            rows,
            doubts,
        }
    }

    /// Renders library, ranks and launcher as comments, then the head of the table.
    fn render_head(&self) -> String {
        self.render_ranks() + &self.table.render_head()
    }

    fn render_ranks(&self) -> String {
        let library = self.library.as_ref().map_or_else(String::new, |it| {
            let (name, version, abi, path) = (&it.name, &it.version, it.abi.name(), &it.path);
            format!("# {name} {version}, {abi} ABI, MPI {}: {path}\n", it.standard)
        });
        let ranks: Vec<String> =
            self.ranks.iter().map(|it| format_placement(&it.host, &it.cpus)).collect();
        let (count, ranks) = (ranks.len(), ranks.join(", "));
        format!("{library}# {count} ranks by {}: {ranks}\n", self.launcher)
    }

    /// Renders the doubts as comments below the table.
    fn render_doubts(&self) -> String {
        let remark = |(bytes, doubt): &(Option<u64>, Doubt)| {
            let message = words::doubt(doubt);
            match bytes {
                Some(bytes) => format!("# at {}: {}\n", Bytes(*bytes), message.text),
                None => format!("# {}: {}\n", message.text, message.advice),
            }
        };
        self.doubts.iter().map(remark).collect()
    }

    fn render(&self) -> String {
        let rows: String = self.rows.iter().map(|row| self.table.render_row(row)).collect();
        self.render_head() + &rows + &self.render_doubts()
    }
}

/// Renders a stored job as the table that it printed.
///
/// # Errors
/// The run has no stored outcome of OSU, or it cannot be read.
pub fn render_stored(run: &Run, store: &Store) -> Result<String, CommandFailure> {
    stored_outcome::read::<OsuOutcome>(run, store).map(|outcome| outcome.render())
}

/// Returns the doubts about the sizes, each with its size, then the one about the job.
fn table_doubts(options: &MpiOptions, outcome: &MpiOutcome) -> Vec<(Option<u64>, Doubt)> {
    let of_size = |size: &MpiSizeResult| {
        let bytes = Some(size.bytes);
        table::size_doubts(options, size).into_iter().map(move |doubt| (bytes, doubt))
    };
    let binding = outcome.binding_doubt().map(|doubt| (None, doubt));
    outcome.sizes.iter().flat_map(of_size).chain(binding).collect()
}

/// Formats a rank's placement: `node3 on CPU 4`, or the number of CPUs if it is not bound to one.
fn format_placement(host: &str, cpus: &[u32]) -> String {
    match cpus {
        [cpu] => format!("{host} on CPU {cpu}"),
        cpus => format!("{host} on any of {} CPUs", cpus.len()),
    }
}
