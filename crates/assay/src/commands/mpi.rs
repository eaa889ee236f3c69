//! `assay mpi`: one rank of a job that an MPI launcher started; rank 0 prints OSU's table or JSON.

use std::path::Path;
use std::thread;
use std::time::Duration;

use assay_dialects::osu::{Row, Shape, Table};
use assay_kernels::mpi::{Element, World};
use assay_model::benchmark::MpiPattern;
use assay_model::mpi_outcome::{FORMAT, MpiFailure, MpiOutcome, MpiSize};
use assay_model::workload::MpiPreset;
use jiff::Timestamp;

use crate::arguments::mpi::{MpiArguments, Preset};
use crate::failure::exit_code;
use crate::pipeline;
use crate::terminal::Terminal;
use assay_run::failure::{Failure, Kind};
use assay_run::mpi::estimates;
use assay_run::mpi::ladder::{self, Step};
use assay_run::mpi::launched::Launched;
use assay_run::mpi::method;
use assay_run::mpi::options::Options;
use assay_run::mpi::ranks::{self, Ranks};

mod options;

/// A library that does not fit ends its process at once, and a launcher then ends all ranks and drops what it has
/// not yet read of the one that spoke.
const NOTE_TRAVELS: Duration = Duration::from_millis(300);
/// What `assay mpi` prints by default beside the interval.
const USUAL_TAIL: f64 = 99.0;

pub(crate) fn mpi(typed: &MpiArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let launched = Launched::here();
    match rank(typed, &launched, terminal) {
        // All ranks fail for the same reason before they know of each other: one of them says so, and the others
        // give it the time, because a launcher ends all ranks when the first ends with an error.
        Err(failure) if !launched.speaks() => {
            thread::sleep(NOTE_TRAVELS);
            Ok(exit_code(failure.kind))
        }
        Err(failure) => {
            if let Some(file) = &typed.raw {
                write_raw(file, &failed_outcome(typed, &launched, &failure))?;
            }
            Err(failure)
        }
        done => done,
    }
}

/// The whole life of a rank.
fn rank(
    typed: &MpiArguments,
    launched: &Launched,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    options::check_options(typed)?;
    let asked = options::options(typed);
    let sizes = method::sizes(&asked);
    check_ranks(&asked, launched.ranks.unwrap_or(if launched.rank.is_some() { 2 } else { 1 }))?;
    let library = ranks::open(&asked, launched)?;
    ranks::check_served(&library, launched)?;
    if let Some(note) = ranks::misfit(&library, launched) {
        if launched.speaks() {
            terminal.note(&note);
        }
        thread::sleep(NOTE_TRAVELS);
    }
    let mut ranks = ranks::start(&library, launched, &asked)?;
    if let Err(failure) = check(&asked, &ranks, &sizes) {
        drop(ranks.world.finish());
        return Err(failure);
    }
    let started = Timestamp::now();
    let is_root = ranks.world.rank() == 0;
    let table = table(&asked, &ranks.outcome);
    let prints = is_root && !typed.json && typed.raw.is_none();
    if prints {
        terminal.print(&(about(&ranks.outcome) + &table.head()));
    }
    for bytes in &sizes {
        let step =
            Step { typed: &asked, bytes: *bytes, budget_s: typed.budget / sizes.len() as f64 };
        let size = ladder::measure(&ranks.world, &step)
            .unwrap_or_else(|error| give_up(&ranks.world, &ranks::failed(&error), terminal));
        if prints {
            terminal.print(&table.row(&row(&table, &ranks.outcome, &size)));
        }
        ranks.outcome.sizes.push(size);
        if let (true, Some(file)) = (is_root, &typed.raw) {
            write_raw(file, &ranks.outcome)
                .unwrap_or_else(|failure| give_up(&ranks.world, &failure, terminal));
        }
    }
    ranks.look_again()?;
    if prints && typed.preset == Preset::Assay {
        terminal.print(&remarks(typed, &ranks.outcome));
    }
    conclude(typed, ranks, started, terminal)
}

/// Ends all ranks: this one alone knows of the failure, and the others wait for it.
fn give_up<T>(world: &World, failure: &Failure, terminal: &mut Terminal) -> T {
    terminal.complain(failure);
    world.abort(exit_code(Kind::Measurement))
}

fn check(typed: &Options, ranks: &Ranks, sizes: &[u64]) -> Result<(), Failure> {
    check_ranks(typed, ranks.world.size())?;
    let Some(most) = sizes.last() else {
        return Err(Failure::usage("there is no size between the smallest and the largest")
            .advise("write the smallest before the largest, like -m 1:4MiB"));
    };
    let kind = method::kind(typed.test);
    let size = ranks.world.size() as usize;
    let each = usize::try_from(*most)
        .ok()
        .and_then(|bytes| kind.memory_bytes(bytes, size, method::window(typed), typed.buffers));
    ranks.check_memory(*most, each)
}

/// Some benchmarks are between two ranks, some between pairs; none is of one rank.
fn check_ranks(typed: &Options, ranks: u32) -> Result<(), Failure> {
    let name = typed.test.name();
    let wrong = match typed.test.pattern() {
        _ if ranks < 2 => Some("two ranks or more"),
        MpiPattern::Pair if ranks != 2 => Some("exactly two ranks"),
        MpiPattern::Pairs if !ranks.is_multiple_of(2) => Some("an even number of ranks"),
        _ => None,
    };
    let Some(wanted) = wrong else { return Ok(()) };
    let there = match ranks {
        1 => "there is one rank only".to_owned(),
        ranks => format!("there are {ranks}"),
    };
    Err(Failure::usage(format!("{name} needs {wanted}, and {there}"))
        .advise(format!("start it with an MPI launcher: mpirun -n 2 assay mpi {name}")))
}

fn table(typed: &Options, outcome: &MpiOutcome) -> Table {
    let shape = match typed.preset {
        MpiPreset::Assay => Shape::Assay,
        MpiPreset::Osu5 => Shape::Osu5,
        MpiPreset::Osu7 => Shape::Osu7,
    };
    let is_usual = typed.preset == MpiPreset::Assay && method::has_single_turns(typed.test);
    let percentiles = match typed.percentiles.is_empty() {
        true if is_usual => vec![USUAL_TAIL],
        _ => typed.percentiles.clone(),
    };
    Table {
        test: typed.test,
        shape,
        full: typed.full,
        percentiles,
        validation: typed.validate,
        ranks: outcome.ranks.len() as u32,
        window: method::window(typed),
        element: match method::element(typed) {
            Element::Integer => "MPI_INT",
            Element::Float => "MPI_FLOAT",
        },
    }
}

fn row(table: &Table, outcome: &MpiOutcome, size: &MpiSize) -> Row {
    let metrics = size.samples.keys();
    let values = metrics
        .filter_map(|name| Some((name.clone(), estimates::analysis(size, name)?.median)))
        .collect();
    let first = if size.samples.contains_key("bandwidth") { "bandwidth" } else { "latency" };
    let analysis = estimates::analysis(size, first);
    Row {
        bytes: size.bytes,
        values,
        iterations: size.iterations,
        interval: analysis.as_ref().and_then(|it| it.interval),
        batches: size.samples.get(first).map_or(0, Vec::len),
        percentiles: estimates::tails(
            &estimates::singles(table.test, outcome, size).1,
            &table.percentiles,
        ),
        is_right: size.validation.map(|it| it.wrong == 0),
    }
}

/// Doubts about the table, as comments below it.
fn remarks(typed: &MpiArguments, outcome: &MpiOutcome) -> String {
    let sizes = outcome.sizes.iter().flat_map(|size| estimates::shape(typed.test, size));
    let ranks = estimates::unbound(outcome)
        .map(|warning| format!("{}: {}", warning.text, warning.advice));
    sizes.chain(ranks).map(|remark| format!("# {remark}\n")).collect()
}

/// Who was measured, as comments above the table.
fn about(outcome: &MpiOutcome) -> String {
    let library = outcome.library.as_ref().map_or_else(String::new, |it| {
        let (name, version, abi, path) = (&it.name, &it.version, it.abi.name(), &it.path);
        format!("# {name} {version}, {abi} ABI, MPI {}: {path}\n", it.standard)
    });
    let ranks: Vec<String> = outcome.ranks.iter().map(|it| place(&it.host, &it.cpus)).collect();
    format!("{library}# {} ranks by {}: {}\n", ranks.len(), outcome.launcher, ranks.join(", "))
}

/// `node3 on CPU 4`, or on how many where the rank may wander.
fn place(host: &str, cpus: &[u32]) -> String {
    match cpus {
        [cpu] => format!("{host} on CPU {cpu}"),
        cpus => format!("{host} on any of {} CPUs", cpus.len()),
    }
}

/// Contents are right, or nothing of it counts.
fn conclude(
    typed: &MpiArguments,
    ranks: Ranks,
    started: Timestamp,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let Ranks { world, mut outcome, .. } = ranks;
    let is_root = world.rank() == 0;
    let damaged =
        outcome.sizes.iter().find(|size| size.validation.is_some_and(|it| it.wrong > 0));
    let verdict = match damaged {
        // The ranks agree on the number, so that all of them end alike.
        Some(size) => {
            let wrong = size.validation.map_or(0, |it| it.wrong);
            Err(Failure::measurement(format!("{wrong} messages of {} B arrived damaged", size.bytes))
                .advise("this MPI or a transport of it loses or mixes data: choose another transport, and report it to its makers"))
        }
        None => Ok(0),
    };
    outcome.complete = verdict.is_ok();
    outcome.failure = verdict.as_ref().err().map(failure_of);
    let failed =
        world.agree(u64::from(verdict.is_err())).map_err(|error| ranks::failed(&error))?;
    world.finish().map_err(|error| ranks::failed(&error))?;
    if !is_root {
        return Ok(if failed == 0 { 0 } else { exit_code(Kind::Measurement) });
    }
    if let Some(file) = &typed.raw {
        write_raw(file, &outcome)?;
    }
    if typed.json {
        let summary = estimates::summary(typed.test, &outcome, started);
        terminal.print(&pipeline::json(&summary)?);
    }
    verdict
}

fn failure_of(failure: &Failure) -> MpiFailure {
    MpiFailure { reason: failure.reason(), advice: failure.advice() }
}

fn failed_outcome(typed: &MpiArguments, launched: &Launched, failure: &Failure) -> MpiOutcome {
    MpiOutcome {
        format: FORMAT,
        assay: env!("CARGO_PKG_VERSION").to_owned(),
        benchmark: typed.test.name().to_owned(),
        preset: typed.preset.stored().name().to_owned(),
        library: None,
        launcher: launched.launcher.to_owned(),
        ranks: Vec::new(),
        environment: std::collections::BTreeMap::new(),
        window: method::window(&options::options(typed)),
        sizes: Vec::new(),
        complete: false,
        failure: Some(failure_of(failure)),
    }
}

/// Written beside and moved into place, so that whoever reads it never sees half of it.
fn write_raw(file: &Path, outcome: &MpiOutcome) -> Result<(), Failure> {
    let text = pipeline::json(outcome)?;
    let mut beside = file.as_os_str().to_owned();
    beside.push(".part");
    fs_err::write(&beside, text)
        .and_then(|()| fs_err::rename(&beside, file))
        .map_err(|error| Failure::measurement("the samples cannot be written").because(&error))
}
