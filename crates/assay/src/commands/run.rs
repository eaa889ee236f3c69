//! `assay run`, `assay stream` and `assay linpack`: choose a suite and measure it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use assay_fleet::mpi::network_numa;
use assay_fleet::root::Root;
use assay_model::benchmark::{Benchmark, MpiPattern, MpiTest};
use assay_model::path_text;
use assay_model::plan::expand::{self, MpiChoices};
use assay_model::suite::{
    InstructionSets, LinpackSize, Measure, MeasureRequest, Placement, Suite,
};
use assay_model::workload::MpiHosts;

use super::{run_factors, run_hosts, run_switch};
use crate::arguments::mpi_run::MpiRunArguments;
use crate::arguments::values::Bandwidth;
use crate::arguments::{Arguments, LinpackArguments, RunArguments, StreamArguments};
use crate::delivery::{ReportExtent, RunDelivery};
use crate::pipeline;
use crate::progress_listener::{ProgressListener, SEARCH_MESSAGE};
use crate::terminal::Terminal;
use assay_emulation::options::osu::PresetArgument;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::job_file;
use assay_run::mpi_installations::{self, AbiSelection};
use assay_run::run_request::RunRequest;
use assay_run::storage::target_overrides::StorageOverrides;
use assay_run::suites::{self, OpenedFactors};
use assay_run::switching;
use clap::CommandFactory as _;

use super::storage;

/// Default time of `assay stream` and `assay linpack`, per placement or solve.
const DEFAULT_BUDGET_S: f64 = 30.0;
/// Relative half-width of the interval that ends a measurement.
const TARGET_HALF_WIDTH: f64 = 0.01;

pub(crate) fn run(typed: &RunArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    let suites = suites::split_names(&typed.suites, &BTreeMap::new())?;
    suites.iter().try_for_each(|name| reject_command(name))?;
    if typed.fleet.hosts.has_hosts() {
        return run_hosts::run(typed, terminal);
    }
    if let Some(opened) = suites::open_factorial(&suites, &typed.factors, &BTreeMap::new())? {
        return run_with_factors(opened, typed, terminal);
    }
    reject_turn_options(typed)?;
    let extent = if typed.full { ReportExtent::Full } else { ReportExtent::OneScreen };
    let delivery =
        RunDelivery::from_options(&typed.measuring, extent)?.with_hosts(&typed.fleet)?;
    let suite = with_targets(typed, suites::open_joined(&suites)?)?;
    // Finding MPI takes time: every launcher is asked for its version.
    let measuring = &typed.measuring;
    ProgressListener::show_search(
        terminal,
        SEARCH_MESSAGE,
        measuring.page.screen.quiet || measuring.dry_run,
    );
    let request = run_request(typed, &suite)?;
    match (&typed.switch, typed.measuring.label.as_slice()) {
        (Some(commands), names) => {
            let conditions = switching::pair_conditions(commands, names)?;
            let suite = fit_to_margin(&suite, typed.turns.margin);
            let request = RunRequest { suite: &suite, ..request };
            run_switch::run(&request, typed, &conditions, terminal)
        }
        (None, _) => pipeline::deliver_suite(&request, &typed.measuring, &delivery, terminal),
    }
}

/// Rejects a name that is no suite, but a command.
fn reject_command(file: &OsStr) -> Result<(), CommandFailure> {
    let name = file.to_string_lossy();
    if suites::is_built_in(&name) || Path::new(file).exists() {
        return Ok(());
    }
    match Arguments::command().find_subcommand(&*name).filter(|it| !it.is_hide_set()) {
        Some(command) => Err(suites::no_suite(&name)
            .advise(format!("it is a command: `assay {}`", command.get_name()))),
        None => Ok(()),
    }
}

/// Measures every combination of levels, with the storage targets of the command line.
fn run_with_factors(
    mut opened: OpenedFactors,
    typed: &RunArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    for case in &mut opened.suite.combinations {
        case.suite = with_targets(typed, case.suite.clone())?;
    }
    let first = opened.suite.combinations.first().map(|case| case.suite.clone());
    let first =
        first.ok_or_else(|| CommandFailure::usage("the factors have no combination"))?;
    let request = run_request(typed, &first)?;
    run_factors::run(&request, &opened, typed, terminal)
}

/// Rejects options of turns in a run without any.
fn reject_turn_options(typed: &RunArguments) -> Result<(), CommandFailure> {
    let option = match (typed.turns.blocks, typed.turns.settle, &typed.switch) {
        (Some(_), ..) => "--blocks",
        (None, Some(_), None) => "--settle",
        (None, None, _) | (None, Some(_), Some(_)) => return Ok(()),
    };
    Err(CommandFailure::usage(format!("{option} has no effect: nothing takes turns"))
        .advise("vary a factor, like --factor streams=1,2,4, or use --switch"))
}

/// Rejects options that the suite cannot use: they were meant for another one.
fn reject_unused_options(suite: &Suite, typed: &RunArguments) -> Result<(), CommandFailure> {
    let asks =
        |has: fn(&MeasureRequest) -> bool| suite.measures.iter().any(|it| has(&it.request));
    let storage = asks(|it| {
        use MeasureRequest::{Files, Io500, Storage};
        matches!(it, Storage(_) | Files(_) | Io500(_))
    });
    let network = asks(expand::is_between_hosts);
    let (option, what) = match (typed.storage.first_given(), typed.to.is_some()) {
        (Some(option), _) if !storage => (option, "storage"),
        (_, true) if !network => ("--to", "the network"),
        _ => return Ok(()),
    };
    let text =
        format!("suite {} does not measure {what}, so {option} has no effect", suite.name);
    Err(CommandFailure::usage(text)
        .advise("use `assay run all` for every topic; `assay help suites` lists the suites"))
}

/// Returns the suite with the storage targets of the command line.
pub(super) fn with_targets(
    typed: &RunArguments,
    mut suite: Suite,
) -> Result<Suite, CommandFailure> {
    reject_unused_options(&suite, typed)?;
    let aim = StorageOverrides {
        targets: typed.storage.targets.clone(),
        size_bytes: typed.storage.size.map(|size| size.0),
        provisioned_bytes_per_s: typed.storage.provisioned.map(Bandwidth::bytes_per_s),
    };
    aim.apply(&mut suite);
    Ok(suite)
}

/// Returns the request to measure the suite on this machine.
pub(super) fn run_request<'a>(
    typed: &'a RunArguments,
    suite: &'a Suite,
) -> Result<RunRequest<'a>, CommandFailure> {
    Ok(RunRequest {
        failure_kind: if suites::are_built_in(&typed.suites) {
            FailureKind::Usage
        } else {
            FailureKind::Suite
        },
        to: typed.to.as_deref(),
        mpi: mpi_choices(suite, &typed.mpi)?,
        storage: storage::run_options(&typed.storage.permissions, &typed.measuring.store),
        ..pipeline::request_from_options(suite, &typed.measuring)
    })
}

/// Returns the suite with every metric measured to at least half the margin; wider intervals could
/// not show a difference of that size.
fn fit_to_margin(suite: &Suite, margin: f64) -> Suite {
    let mut suite = suite.clone();
    suite.measures.iter_mut().for_each(|it| it.target = it.target.min(margin / 2.0));
    suite
}

/// Searches for MPI only if the suite has MPI benchmarks, because every launcher is asked for its
/// version.
fn mpi_choices(suite: &Suite, typed: &MpiRunArguments) -> Result<MpiChoices, CommandFailure> {
    let asks = |measure: &Measure| matches!(measure.request, MeasureRequest::Mpi(_));
    if !suite.measures.iter().any(asks) {
        return match typed.first_given() {
            Some(option) => Err(CommandFailure::usage(format!(
                "suite {} does not measure MPI, so {option} has no effect",
                suite.name
            ))
            .advise("use `assay run mpi`, or a suite file with mpi.latency or another MPI benchmark")),
            None => Ok(MpiChoices::default()),
        };
    }
    reject_unused_mpi_options(suite, typed)?;
    let file = typed.hostfile.as_deref().map(absolute_path).transpose()?;
    let installations = mpi_installations::find(
        &typed.prefixes,
        typed.launcher.as_deref(),
        typed.abi.unwrap_or(AbiSelection::Own),
    );
    let is_needed = |measure: &Measure| asks(measure) && !measure.optional;
    let installations = match installations {
        Err(_) if typed.prefixes.is_empty() && !suite.measures.iter().any(is_needed) => {
            Vec::new()
        }
        installations => installations?,
    };
    Ok(MpiChoices {
        installations,
        hosts: MpiHosts { list: typed.mpi_hosts.clone(), file },
        near_network: network_numa(&Root::machine()),
        ranks: typed.ranks,
        sizes: typed.sizes,
        placements: (!typed.placements.is_empty()).then(|| typed.placements.clone()),
        preset: typed.preset.map(PresetArgument::to_preset).unwrap_or_default(),
    })
}

/// Rejects a number of ranks if all tests use pairs, and message sizes if no message has one.
fn reject_unused_mpi_options(
    suite: &Suite,
    typed: &MpiRunArguments,
) -> Result<(), CommandFailure> {
    let any = |uses: fn(MpiTest) -> bool| {
        let mut requests = suite.measures.iter().map(|it| &it.request);
        requests.any(|it| matches!(it, MeasureRequest::Mpi(asked) if uses(asked.test)))
    };
    let refused = |option: &str, why: &str| {
        let text = format!("{option} has no effect: {why} in suite {}", suite.name);
        Err(CommandFailure::usage(text).advise("leave it out, or name a suite that uses it"))
    };
    if typed.ranks.is_some() && !any(|test| test.pattern() != MpiPattern::Pair) {
        return refused("--ranks", "every test uses two ranks");
    }
    if typed.sizes.is_some() && !any(MpiTest::has_size_range) {
        return refused("--sizes", "no message has a size");
    }
    Ok(())
}

/// Returns an absolute path: the launcher runs in its own folder.
fn absolute_path(file: &Path) -> Result<String, CommandFailure> {
    let path = std::fs::canonicalize(file)
        .map_err(|error| job_file::unreadable_error(file, &error))?;
    Ok(path_text::encode(path.as_os_str()))
}

pub(crate) fn stream(
    typed: &StreamArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let request = MeasureRequest::Stream {
        placements: typed.placement.clone(),
        threads: typed.threads,
        bytes: typed.array_size,
    };
    let suite = single_suite("stream", Benchmark::MemoryStream, vec![measure(1.0, request)]);
    pipeline::run_options(&suite, &typed.measuring, terminal)
}

pub(crate) fn linpack(
    typed: &LinpackArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let size = match (typed.n, typed.memory) {
        (Some(n), _) => LinpackSize::Equations(n),
        (None, Some(share)) => LinpackSize::Memory(share),
        (None, None) => LinpackSize::Budget,
    };
    let linpack =
        MeasureRequest::Linpack { size, threads: typed.threads, blas: typed.blas.clone() };
    // Rmax is compared with the multiply-add peak.
    let peak = MeasureRequest::PeakFlops {
        placements: vec![Placement::Node],
        threads: typed.threads,
        instruction_sets: InstructionSets::Widest,
    };
    let measures = vec![measure(0.1, peak), measure(0.9, linpack)];
    let suite = single_suite("linpack", Benchmark::Linpack, measures);
    pipeline::run_options(&suite, &typed.measuring, terminal)
}

fn measure(share: f64, request: MeasureRequest) -> Measure {
    Measure { share, ..Measure::new(request, TARGET_HALF_WIDTH) }
}

fn single_suite(name: &str, benchmark: Benchmark, measures: Vec<Measure>) -> Suite {
    let title = benchmark.definition().title.to_owned();
    Suite { name: name.to_owned(), title, budget_s: DEFAULT_BUDGET_S, measures }
}

#[cfg(test)]
mod tests {
    use assay_stats::compare::DEFAULT_MARGIN;

    use super::*;

    /// A command that is typed as a suite leads to the command.
    #[test]
    fn commands_are_no_suites() {
        let failure = reject_command("stream".as_ref()).unwrap_err();
        assert!(failure.advice().contains("it is a command: `assay stream`"));
        for name in ["quick", "quik", "missing.toml"] {
            assert!(reject_command(name.as_ref()).is_ok(), "{name}");
        }
    }

    /// `compare` can show equivalence at its default margin only if the target precision of each
    /// measure is at most half of the margin.
    #[test]
    fn built_in_targets_fit_default_margin() {
        for (name, _) in suites::BUILT_IN {
            for measure in suites::find_suite(name.as_ref()).unwrap().measures {
                let benchmark = measure.request.benchmark().id();
                assert!(2.0 * measure.target <= DEFAULT_MARGIN, "{name}: {benchmark}");
            }
        }
    }
}
