//! Contenders of the comparison of memory bandwidth, and their turns.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bench::likwid::{self, COPY, LOAD, LikwidFamily, STORE, STREAM};
use crate::bench::options::BenchOptions;
use crate::bench::order::turn_order;
use crate::bench::workplace::BenchWorkplace;
use crate::bench::{assay, machine, stream_loop};
use crate::command;

use super::OPERATIONS;

/// Passes over the arrays in one run of a peer, enough to make the start of the threads negligible.
const PASSES: u64 = 20;
/// Maximum passes of each of the sweep's eight variants in one run; slow variants stop earlier,
/// after a fixed time.
const SWEEP_PASSES: u64 = 7;
/// Kernels of each family that take part, after a trial of all.
const FINALISTS: usize = 2;
/// Tries of each kernel in the trial.
const TRIES: usize = 3;
/// Minimum passes of a try with large arrays, as for a last-level cache of hundreds of MiB.
const MIN_PASSES: u64 = 4;
/// Budget of assay's run in one turn, for all operations together.
const BUDGET: &str = "10s";
/// Minimum size of one array, if caches are small or unknown.
const MIN_ARRAY_BYTES: u64 = 256 << 20;

/// likwid kernel.
#[derive(Debug, Clone)]
pub(crate) struct LikwidKernel {
    pub name: String,
    /// Arrays that it reads and writes.
    pub family: &'static LikwidFamily,
}

/// Programs, kernels and sizes.
#[derive(Debug)]
pub(crate) struct BandwidthContest<'a> {
    workplace: &'a BenchWorkplace,
    /// assay.
    pub assay: PathBuf,
    plain: PathBuf,
    /// Sweep in C, on architectures that have one.
    sweep: Option<PathBuf>,
    /// Size of one array.
    pub array_bytes: u64,
    /// Kernels that take turns.
    pub kernels: Vec<LikwidKernel>,
    /// Best bandwidth of every kernel of the trial, in bytes per second.
    pub tried: Vec<(LikwidKernel, f64)>,
}

/// Bytes per second, one value per turn.
#[derive(Debug, Default)]
pub(crate) struct BandwidthFigures {
    /// assay's, by operation.
    pub ours: BTreeMap<String, Vec<f64>>,
    /// The plain loop's, by operation.
    pub plain: BTreeMap<String, Vec<f64>>,
    /// The best variant's of the sweep, by operation; empty without a sweep.
    pub sweep: BTreeMap<String, Vec<f64>>,
    /// That variant in the last turn, by operation.
    pub sweep_variants: BTreeMap<String, String>,
    /// likwid's, by kernel.
    pub likwid: BTreeMap<String, Vec<f64>>,
    /// Kernel that assay chose last, by operation.
    pub our_kernels: BTreeMap<String, String>,
    /// Number of samples of each of assay's values.
    pub our_samples: Vec<usize>,
}

impl<'a> BandwidthContest<'a> {
    /// Builds the programs and tries all kernels.
    pub(crate) fn prepare(
        workplace: &'a BenchWorkplace,
        options: &BenchOptions,
    ) -> Result<Self> {
        let caches = machine::last_level_cache_bytes(workplace).unwrap_or(0);
        let array_bytes =
            options.bytes.map_or((4 * caches).max(MIN_ARRAY_BYTES), |bytes| bytes.0);
        let mut contest = Self {
            workplace,
            assay: workplace.build_assay()?,
            plain: stream_loop::build(workplace, stream_loop::PLAIN)?,
            sweep: cfg!(target_arch = "x86_64")
                .then(|| stream_loop::build(workplace, stream_loop::SWEEP))
                .transpose()?,
            array_bytes,
            kernels: Vec::new(),
            tried: Vec::new(),
        };
        let listing = likwid::list_kernels(workplace)?;
        for family in [&COPY, &STREAM, &LOAD, &STORE] {
            let mut tried = contest.try_all(&listing, family);
            tried.sort_by(|(_, a), (_, b)| b.total_cmp(a));
            ensure!(!tried.is_empty(), "no likwid kernel runs on this CPU");
            let finalists = tried.iter().take(FINALISTS).map(|(kernel, _)| kernel.clone());
            contest.kernels.extend(finalists);
            contest.tried.extend(tried);
        }
        Ok(contest)
    }

    /// Returns every kernel of a family with its best bandwidth of a few tries.
    fn try_all(
        &self,
        listing: &str,
        family: &'static LikwidFamily,
    ) -> Vec<(LikwidKernel, f64)> {
        let fewer = PASSES * MIN_ARRAY_BYTES / self.array_bytes;
        let passes = fewer.clamp(MIN_PASSES, PASSES);
        let mut tried = Vec::new();
        for name in likwid::matching_kernels(listing, family) {
            let kernel = LikwidKernel { name, family };
            let tries: Result<Vec<f64>> =
                (0..TRIES).map(|_| self.run_kernel(&kernel, passes)).collect();
            match tries {
                Ok(figures) => tried.push((kernel, figures.into_iter().fold(0.0, f64::max))),
                // A kernel with instructions that this CPU lacks crashes.
                Err(error) => println!("{} is left out: {error:#}", kernel.name),
            }
        }
        tried
    }

    fn run_kernel(&self, kernel: &LikwidKernel, passes: u64) -> Result<f64> {
        let LikwidKernel { name, family } = kernel;
        likwid::run(self.workplace, name, family, self.array_bytes, passes)
    }

    /// Measures all turns.
    pub(crate) fn measure(&self, options: &BenchOptions) -> Result<BandwidthFigures> {
        let mut figures = BandwidthFigures::default();
        for turn in 0..options.turns {
            println!("turn {} of {}", turn + 1, options.turns);
            for contender in turn_order(options.seed, turn, 3 + self.kernels.len()) {
                match contender {
                    0 => self.measure_assay(&mut figures)?,
                    1 => self.measure_plain(&mut figures)?,
                    2 => self.measure_sweep(&mut figures)?,
                    other => {
                        let kernel = &self.kernels[other - 3];
                        let figure = self.run_kernel(kernel, PASSES)?;
                        figures.likwid.entry(kernel.name.clone()).or_default().push(figure);
                    }
                }
            }
        }
        Ok(figures)
    }

    fn measure_assay(&self, figures: &mut BandwidthFigures) -> Result<()> {
        let summary = assay::parse_output(&command::output(&mut self.assay_command())?)?;
        for operation in OPERATIONS.map(|operation| operation.name) {
            let estimate = assay::find_estimate(&summary, "memory.stream", operation)?;
            figures.ours.entry(operation.into()).or_default().push(estimate.median);
            figures.our_samples.push(estimate.n);
            let kernel = assay::format_parameter(&estimate, "kernel");
            figures.our_kernels.insert(operation.into(), kernel);
        }
        Ok(())
    }

    fn measure_plain(&self, figures: &mut BandwidthFigures) -> Result<()> {
        let output = command::output(&mut self.plain_command())?;
        for operation in OPERATIONS.map(|operation| operation.name) {
            let figure = stream_loop::median(&output, operation)?;
            figures.plain.entry(operation.into()).or_default().push(figure);
        }
        Ok(())
    }

    fn measure_sweep(&self, figures: &mut BandwidthFigures) -> Result<()> {
        let Some(mut command) = self.sweep_command() else { return Ok(()) };
        let output = command::output(&mut command)?;
        for operation in OPERATIONS.map(|operation| operation.name) {
            let figure = stream_loop::median(&output, operation)?;
            figures.sweep.entry(operation.into()).or_default().push(figure);
            let variant = stream_loop::best_variant(&output, operation)?;
            figures.sweep_variants.insert(operation.into(), variant);
        }
        Ok(())
    }

    fn assay_command(&self) -> Command {
        let threads = self.workplace.cpus.count().to_string();
        let bytes = self.array_bytes.to_string();
        let what = ["stream", "--placement=node", "--threads", &threads, "--bytes", &bytes];
        let arguments = [&what[..], &["--budget", BUDGET]].concat();
        assay::command(self.workplace, &self.assay, &arguments)
    }

    fn plain_command(&self) -> Command {
        stream_loop::command(self.workplace, &self.plain, self.array_bytes, PASSES)
    }

    fn sweep_command(&self) -> Option<Command> {
        let program = self.sweep.as_ref()?;
        Some(stream_loop::command(self.workplace, program, self.array_bytes, SWEEP_PASSES))
    }

    /// Returns the commands of all contenders.
    pub(crate) fn commands(&self) -> Vec<String> {
        let flags = stream_loop::FLAGS.join(" ");
        let mut commands = vec![
            self.workplace.format_command(&self.assay_command()),
            format!("gcc xtask/peers/stream_loop.c -o target/bench/stream_loop {flags}"),
            self.workplace.format_command(&self.plain_command()),
        ];
        if let Some(sweep) = self.sweep_command() {
            commands.push(format!(
                "gcc xtask/peers/stream_sweep.c -o target/bench/stream_sweep {flags}"
            ));
            commands.push(self.workplace.format_command(&sweep));
        }
        commands.extend(self.kernels.iter().map(|LikwidKernel { name, family }| {
            let size = self.array_bytes;
            let command = likwid::command(self.workplace, name, family, size, PASSES);
            self.workplace.format_command(&command)
        }));
        commands
    }
}

impl BandwidthFigures {
    /// Returns the finalist of this family with the largest median, and its values.
    pub(crate) fn best_likwid_kernel(
        &self,
        kernels: &[LikwidKernel],
        family: &LikwidFamily,
    ) -> Result<(&str, &[f64])> {
        let finalists = kernels.iter().filter(|kernel| std::ptr::eq(kernel.family, family));
        finalists
            .filter_map(|kernel| self.likwid.get_key_value(&kernel.name))
            .max_by(|(_, a), (_, b)| median_or_zero(a).total_cmp(&median_or_zero(b)))
            .map(|(name, values)| (name.as_str(), values.as_slice()))
            .context("likwid has no kernel of this family")
    }
}

fn median_or_zero(values: &[f64]) -> f64 {
    crate::bench::ratio::median(values).unwrap_or(0.0)
}
