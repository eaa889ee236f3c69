//! `assay run`, `assay stream`, `assay linpack`: three ways to say which suite to measure.

use assay_model::benchmark::Benchmark;
use assay_model::suite::{InstructionSets, LinpackSize, Measure, Placement, Request, Suite};

use crate::arguments::{LinpackArguments, RunArguments, StreamArguments};
use crate::failure::{Failure, Kind};
use crate::pipeline::{self, Aims};
use crate::storage::aim::Aim;
use crate::suites;
use crate::terminal::Terminal;

use super::storage;

/// Time for `assay stream` and `assay linpack`, per placement or solve, unless told otherwise.
const ONE_NUMBER_S: f64 = 30.0;
/// Relative half-width of the interval that ends a measurement.
const TARGET: f64 = 0.01;

pub(crate) fn run(typed: &RunArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let built_in = suites::BUILT_IN.iter().any(|(name, _)| *name == typed.suite);
    let blame = if built_in { Kind::Usage } else { Kind::Suite };
    let mut suite = suites::open(&typed.suite)?;
    let aim = Aim {
        targets: typed.storage.targets.clone(),
        size_bytes: typed.storage.size.map(|size| size.0),
        provisioned_bytes_per_s: typed.storage.provisioned,
    };
    aim.apply(&mut suite);
    let storage = storage::options(&typed.storage.permissions);
    let aims = Aims { to: typed.to.as_deref(), storage };
    pipeline::run(&suite, blame, aims, &typed.measuring, terminal)
}

pub(crate) fn stream(typed: &StreamArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let request = Request::Stream {
        placements: typed.placement.clone(),
        threads: typed.threads,
        bytes: typed.bytes,
    };
    let suite = one("stream", Benchmark::MemoryStream, vec![measure(1.0, request)]);
    pipeline::run(&suite, Kind::Usage, Aims::default(), &typed.measuring, terminal)
}

pub(crate) fn linpack(
    typed: &LinpackArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let size = match (typed.n, typed.memory) {
        (Some(n), _) => LinpackSize::Equations(n),
        (None, Some(share)) => LinpackSize::Memory(share),
        (None, None) => LinpackSize::Budget,
    };
    let linpack = Request::Linpack { size, threads: typed.threads, blas: typed.blas.clone() };
    // The multiply-add peak is what Rmax is held against.
    let peak = Request::PeakFlops {
        placements: vec![Placement::Node],
        threads: typed.threads,
        instruction_sets: InstructionSets::Widest,
    };
    let measures = vec![measure(0.1, peak), measure(0.9, linpack)];
    let suite = one("linpack", Benchmark::Linpack, measures);
    pipeline::run(&suite, Kind::Usage, Aims::default(), &typed.measuring, terminal)
}

fn measure(share: f64, request: Request) -> Measure {
    Measure { by: Vec::new(), share, target: TARGET, request }
}

fn one(name: &str, benchmark: Benchmark, measures: Vec<Measure>) -> Suite {
    let title = benchmark.definition().title.to_owned();
    Suite { name: name.to_owned(), title, budget_s: ONE_NUMBER_S, measures }
}
