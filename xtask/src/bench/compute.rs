//! LINPACK compared with OpenBLAS, MKL and HPL: rates, share of the measured peak, and memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use assay_model::quantity::{Quantity, Unit};

use crate::{command, packages};

use super::cpus::Cpus;
use super::lapack::LapackLibrary;
use super::options::BenchOptions;
use super::order::turn_order;
use super::ratio::{self, PeerRatio};
use super::workplace::BenchWorkplace;
use super::{assay, hpcc, lapack, machine};
use workbench::page::MarkdownPage;

/// Minimum ratio to each peer.
const TARGET: f64 = 1.0;
/// Minimum share of the measured peak, and the order that it applies to.
const PEAK_TARGET: (f64, usize) = (0.9, 16_000);
/// Maximum memory, as a multiple of the matrix.
const MAX_MEMORY_RATIO: f64 = 1.05;
/// Block sizes of HPL that are tried at the first order; the best one is used at the others.
const BLOCKS: [usize; 4] = [96, 128, 192, 256];
/// Budget of one turn: one repetition is a whole solution, and the turns repeat it.
const BUDGET: &str = "1s";

/// Runs the comparison and writes the page.
pub(crate) fn run(root: &Path, options: &BenchOptions) -> Result<()> {
    packages::install(root, packages::FOR_BENCH_COMPUTE)?;
    let workplace = BenchWorkplace::open(root, Cpus::choose(options.threads)?)?;
    let contest = LinpackContest::prepare(root, &workplace)?;
    let mut facts = machine::facts(&workplace);
    facts.push(machine::assay_version(&workplace, &contest.assay));
    let names = ["libopenblas0-pthread", "hpcc", "openmpi-bin", "gcc"];
    facts.push(("packages", machine::package_versions(&workplace, &names)?));
    let mut solved: Vec<LinpackResults> = Vec::new();
    for &n in &options.orders {
        let best = solved.iter().find_map(|one| Some(vec![one.hpl.as_ref()?.0]));
        let blocks = best.unwrap_or_else(|| BLOCKS.to_vec());
        solved.push(contest.solve(n, &blocks, options)?);
    }
    facts.push(("load after", workbench::load_average()));
    facts.push(("turns", options.turns.to_string()));

    let mut page =
        MarkdownPage::new("LINPACK compared with other tools", "cargo xtask bench compute");
    page.facts(&facts);
    page.heading("Figures");
    let rows: Result<Vec<_>> = solved.iter().flat_map(LinpackResults::rows).collect();
    page.table(&["N", "assay", "peer", "peer's figure", "ratio", "95 %", "target", ""], &rows?);
    page.paragraph(ABOUT_FIGURES);
    page.heading("Share of the measured peak");
    let rows: Result<Vec<_>> = solved.iter().map(LinpackResults::peak_row).collect();
    page.table(&["N", "LINPACK", "FP64 peak", "share", "95 %", "target", ""], &rows?);
    page.heading("Memory");
    let rows: Vec<_> = solved.iter().map(LinpackResults::memory_row).collect();
    page.table(&["N", "8 N²", "assay", "ratio", "target", "", "largest of LAPACK"], &rows);
    page.paragraph("The peak resident memory of the whole process, by GNU time (getrusage).");
    page.heading("Commands");
    page.commands(&contest.commands(options));
    page.publish(root, "compute")
}

const ABOUT_FIGURES: &str = "\
All figures are medians of FLOP/s by HPL's count, 2/3 N³ + 3/2 N², of factorisation and solution. assay,
the libraries (dgetrf + dgetrs) and the peak alternate, in a seeded random order that is reversed every other
turn; the interval is that of the median ratio within a turn, from order statistics. hpcc cannot take turns, since
it runs a dozen other tests before HPL: it solves the same system as often in one run halfway through the
turns, and its interval is made of the two medians' own intervals. Beyond the order that `--hpcc-up-to`
names it is not run, because those other tests grow with the order.";

/// Contenders and their programs.
struct LinpackContest<'a> {
    workplace: &'a BenchWorkplace,
    assay: PathBuf,
    lapack: PathBuf,
    libraries: Vec<LapackLibrary>,
    /// Suite that measures only the peak.
    suite: PathBuf,
}

/// Results at one order.
struct LinpackResults {
    n: usize,
    assay: Vec<f64>,
    /// Name and figures of each library.
    lapack: Vec<(String, Vec<f64>)>,
    peak: Vec<f64>,
    /// HPL's best block size and its figures, if hpcc was run.
    hpl: Option<(usize, Vec<f64>)>,
    assay_bytes: u64,
    lapack_bytes: u64,
}

impl<'a> LinpackContest<'a> {
    fn prepare(root: &Path, workplace: &'a BenchWorkplace) -> Result<Self> {
        let suite = workplace.folder.join("peak.toml");
        let threads = workplace.cpus.count();
        let text = format!(
            "name = \"peak\"\ntitle = \"the multiply-add peak\"\nbudget = \"5s\"\n\n\
             [[measure]]\nbenchmark = \"compute.peak_flops\"\nplacement = [\"node\"]\n\
             threads = {threads}\n"
        );
        fs::write(&suite, text).context("cannot write the suite")?;
        let (assay, lapack) = (workplace.build_assay()?, lapack::build(workplace)?);
        let libraries = lapack::find_libraries(root)?;
        Ok(Self { workplace, assay, lapack, libraries, suite })
    }

    /// Measures all turns at one order, with HPL halfway.
    fn solve(
        &self,
        n: usize,
        blocks: &[usize],
        options: &BenchOptions,
    ) -> Result<LinpackResults> {
        let mut solved = LinpackResults::new(n, &self.libraries);
        for turn in 0..options.turns {
            println!("N = {n}: turn {} of {}", turn + 1, options.turns);
            if turn == options.turns / 2 && n <= options.hpcc_up_to {
                let by_block = hpcc::run(self.workplace, n, blocks, options.turns)?;
                let median = |values: &[f64]| ratio::median(values).unwrap_or(0.0);
                let best = by_block
                    .into_iter()
                    .max_by(|(_, a), (_, b)| median(a).total_cmp(&median(b)));
                solved.hpl = Some(best.context("HPL solved nothing")?);
            }
            for contender in turn_order(options.seed, turn, 2 + self.libraries.len()) {
                match contender {
                    0 => self.solve_by_assay(&mut solved)?,
                    1 => solved.peak.push(self.measure_peak()?),
                    other => self.solve_by_lapack(&mut solved, other - 2, turn as u64)?,
                }
            }
        }
        Ok(solved)
    }

    fn solve_by_assay(&self, solved: &mut LinpackResults) -> Result<()> {
        let (output, bytes) = self.run_with_peak_memory(&self.assay_command(solved.n))?;
        let summary = assay::parse_output(&output)?;
        solved.assay.push(assay::find_estimate(&summary, "compute.linpack", "rmax")?.median);
        solved.assay_bytes = solved.assay_bytes.max(bytes);
        Ok(())
    }

    fn solve_by_lapack(
        &self,
        solved: &mut LinpackResults,
        which: usize,
        seed: u64,
    ) -> Result<()> {
        let library = &self.libraries[which];
        let command = lapack::command(self.workplace, &self.lapack, library, solved.n, seed);
        let (output, bytes) = self.run_with_peak_memory(&command)?;
        solved.lapack[which].1.push(lapack::parse_flops(&output)?);
        solved.lapack_bytes = solved.lapack_bytes.max(bytes);
        Ok(())
    }

    fn measure_peak(&self) -> Result<f64> {
        let summary = assay::parse_output(&command::output(&mut self.peak_command())?)?;
        Ok(assay::find_estimate(&summary, "compute.peak_flops", "fp64")?.median)
    }

    /// Runs a command; returns its output and the peak resident memory of it or of a process it
    /// waited for.
    fn run_with_peak_memory(&self, command: &Command) -> Result<(String, u64)> {
        let note = self.workplace.folder.join("peak-memory");
        let mut timed = self.workplace.command("/usr/bin/time");
        timed.args(["-f", "%M", "-o"]).arg(&note);
        timed.arg(command.get_program()).args(command.get_args());
        timed.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command::output(&mut timed)?;
        let kibibytes = fs::read_to_string(&note).context("/usr/bin/time wrote no file")?;
        let kibibytes: u64 =
            kibibytes.trim().parse().context("/usr/bin/time wrote no number")?;
        Ok((output, kibibytes * 1024))
    }

    fn assay_command(&self, n: usize) -> Command {
        let (n, threads) = (n.to_string(), self.workplace.cpus.count().to_string());
        let arguments = ["linpack", "--n", &n, "--threads", &threads, "--budget", BUDGET];
        assay::command(self.workplace, &self.assay, &arguments)
    }

    fn peak_command(&self) -> Command {
        let suite = self.suite.to_string_lossy();
        assay::command(self.workplace, &self.assay, &["run", &suite])
    }

    fn commands(&self, options: &BenchOptions) -> Vec<String> {
        let n = options.orders.first().copied().unwrap_or_default();
        let by_library = self
            .libraries
            .iter()
            .map(|library| lapack::command(self.workplace, &self.lapack, library, n, 0));
        [self.assay_command(n), self.peak_command()]
            .into_iter()
            .chain(by_library)
            .chain([hpcc::command(self.workplace)])
            .map(|command| self.workplace.format_command(&command))
            .collect()
    }
}

impl LinpackResults {
    fn new(n: usize, libraries: &[LapackLibrary]) -> Self {
        Self {
            n,
            assay: Vec::new(),
            lapack: libraries.iter().map(|it| (it.name.clone(), Vec::new())).collect(),
            peak: Vec::new(),
            hpl: None,
            assay_bytes: 0,
            lapack_bytes: 0,
        }
    }

    fn rows(&self) -> Vec<Result<Vec<String>>> {
        let by_library = |(name, theirs): &(String, Vec<f64>)| {
            self.row(name.clone(), theirs, PeerRatio::from_turns(&self.assay, theirs))
        };
        let mut rows: Vec<_> = self.lapack.iter().map(by_library).collect();
        rows.extend(self.hpl.iter().map(|(block, hpl)| {
            let peer = format!("HPL of hpcc, blocks of {block}");
            self.row(peer, hpl, PeerRatio::from_independent(&self.assay, hpl))
        }));
        rows
    }

    fn row(
        &self,
        peer: String,
        theirs: &[f64],
        ratio: Option<PeerRatio>,
    ) -> Result<Vec<String>> {
        let ratio = ratio.context("nothing was measured")?;
        Ok(vec![
            self.n.to_string(),
            format_rate(&self.assay),
            peer,
            format_rate(theirs),
            format!("{:.3}", ratio.estimate),
            ratio.format_interval(),
            format!("≥ {TARGET:.1}"),
            ratio.verdict(TARGET).into(),
        ])
    }

    fn peak_row(&self) -> Result<Vec<String>> {
        let share =
            PeerRatio::from_turns(&self.assay, &self.peak).context("no peak was measured")?;
        let target = Some(PEAK_TARGET.0).filter(|_| self.n == PEAK_TARGET.1);
        Ok(vec![
            self.n.to_string(),
            format_rate(&self.assay),
            format_rate(&self.peak),
            format!("{:.3}", share.estimate),
            share.format_interval(),
            target.map_or("–".into(), |target| format!("≥ {target}")),
            target.map_or("–", |target| share.verdict(target)).into(),
        ])
    }

    fn memory_row(&self) -> Vec<String> {
        let matrix = 8.0 * (self.n * self.n) as f64;
        let ratio = self.assay_bytes as f64 / matrix;
        let verdict = if ratio <= MAX_MEMORY_RATIO { "reached" } else { "missed" };
        let size = |bytes: f64| Quantity::new(bytes, Unit::Byte).to_string();
        vec![
            self.n.to_string(),
            size(matrix),
            size(self.assay_bytes as f64),
            format!("{ratio:.3}"),
            format!("≤ {MAX_MEMORY_RATIO}"),
            verdict.into(),
            size(self.lapack_bytes as f64),
        ]
    }
}

fn format_rate(flops: &[f64]) -> String {
    let median = ratio::median(flops).unwrap_or_default();
    Quantity::new(median, Unit::FlopPerSecond).to_string()
}
