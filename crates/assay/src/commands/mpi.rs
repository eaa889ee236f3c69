//! `assay mpi`: one rank of a job started by an MPI launcher. Rank 0 prints OSU's table or JSON,
//! and stores the run at the end.

use std::thread;

use assay_dialects::osu::OsuTable;
use assay_model::doubt::Doubt;
use assay_model::event::RequestedCommand;
use assay_model::failure::ErrorArea;
use assay_model::mpi_outcome::{MpiOutcome, MpiSizeResult};
use assay_model::quantity::Bytes;
use assay_model::run::Run;
use assay_model::workload::Workload;
use assay_report::{render, words};
use assay_stats::summarize::summarize;

use crate::arguments::mpi::{MpiArguments, PresetArgument};
use crate::failure::exit_code;
use crate::progress_listener::EmulationListener;
use crate::store_access;
use crate::terminal::Terminal;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::mpi::job::{self, NOTE_DELAY, RankEvent, RankTask};
use assay_run::mpi::launcher_env::LauncherEnv;
use assay_run::mpi::options::MpiOptions;
use assay_run::mpi::table;
use assay_run::recording::Recording;

mod options;

pub(crate) fn mpi(typed: &MpiArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    let launched = LauncherEnv::from_process_env();
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
    let failed_code = exit_code(FailureKind::Measurement);
    let task = RankTask {
        options: &mpi_options,
        env: launched,
        outcome_file: typed.raw.as_deref(),
        failure_exit_code: failed_code,
    };
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
                    terminal.print(&table_head(&mpi_options, outcome));
                }
            }
            RankEvent::SizeMeasured(outcome, size) if prints => {
                let table = table::empty_table(&mpi_options, outcome);
                terminal.print(&table_row(&table, outcome, size));
            }
            RankEvent::AllMeasured(outcome)
                if prints && typed.preset == PresetArgument::Assay =>
            {
                let binding = outcome.binding_doubt();
                terminal.print(&format_doubts(&mpi_options, outcome, binding.as_ref()));
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
        return Ok(if result.is_damaged { failed_code } else { 0 });
    }
    if let Some(mut recording) = recording {
        recording.record_partial(0, job::entries(&result.outcome), &[])?;
        recording.end_case(0, job::stop_reason(&result.outcome))?;
        let run = recording.finish(false)?;
        if typed.json {
            terminal.print(&render::json::summary(&summarize(&run)));
        }
    }
    result.verdict.map(|()| 0)
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

/// Renders a stored job as the table that it printed.
pub(crate) fn render_stored(
    run: &Run,
    command: &RequestedCommand,
) -> Result<String, CommandFailure> {
    let no_job =
        || CommandFailure::measurement(format!("{} contains no MPI job", run.started.run));
    let typed: MpiArguments = assay_emulation::options::parse_stored("mpi", command)?;
    let mpi_options = options::to_mpi_options(&typed);
    let host = run.first_host().map(|joined| joined.host.as_str()).unwrap_or_default();
    let record = run.cases.first().ok_or_else(no_job)?;
    let outcome = MpiOutcome::from_record(record, host).ok_or_else(no_job)?;
    let columns = table::empty_table(&mpi_options, &outcome);
    let mut text = table_head(&mpi_options, &outcome);
    text.extend(outcome.sizes.iter().map(|size| table_row(&columns, &outcome, size)));
    if typed.preset == PresetArgument::Assay {
        // The placement of the ranks is not stored, but the doubt about it is.
        let is_unbound = |doubt: &&Doubt| matches!(doubt, Doubt::UnboundRanks { .. });
        text.push_str(&format_doubts(
            &mpi_options,
            &outcome,
            record.doubts.iter().find(is_unbound),
        ));
    }
    Ok(text)
}

fn table_head(options: &MpiOptions, outcome: &MpiOutcome) -> String {
    format_setup(outcome) + &table::empty_table(options, outcome).render_head()
}

fn table_row(columns: &OsuTable, outcome: &MpiOutcome, size: &MpiSizeResult) -> String {
    columns.render_row(&table::build_row(columns, outcome, size))
}

/// Formats doubts as comments below the table.
fn format_doubts(
    options: &MpiOptions,
    outcome: &MpiOutcome,
    unbound: Option<&Doubt>,
) -> String {
    let format_size = |size: &MpiSizeResult| {
        let doubts = table::size_doubts(options, size).into_iter();
        let bytes = Bytes(size.bytes);
        doubts.map(move |doubt| format!("at {bytes}: {}", words::doubt(&doubt).text))
    };
    let sizes = outcome.sizes.iter().flat_map(format_size);
    let ranks = unbound.map(|doubt| {
        let message = words::doubt(doubt);
        format!("{}: {}", message.text, message.advice)
    });
    sizes.chain(ranks).map(|remark| format!("# {remark}\n")).collect()
}

/// Formats library, ranks and launcher as comments above the table.
fn format_setup(outcome: &MpiOutcome) -> String {
    let library = outcome.library.as_ref().map_or_else(String::new, |it| {
        let (name, version, abi, path) = (&it.name, &it.version, it.abi.name(), &it.path);
        format!("# {name} {version}, {abi} ABI, MPI {}: {path}\n", it.standard)
    });
    let ranks: Vec<String> =
        outcome.ranks.iter().map(|it| format_placement(&it.host, &it.cpus)).collect();
    format!("{library}# {} ranks by {}: {}\n", ranks.len(), outcome.launcher, ranks.join(", "))
}

/// Formats a rank's placement: `node3 on CPU 4`, or the number of CPUs if it is not bound to one.
fn format_placement(host: &str, cpus: &[u32]) -> String {
    match cpus {
        [cpu] => format!("{host} on CPU {cpu}"),
        cpus => format!("{host} on any of {} CPUs", cpus.len()),
    }
}
