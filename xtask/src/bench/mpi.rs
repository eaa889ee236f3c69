//! Messages between two ranks compared with the same loops in C, compiled by the `mpicc` of each
//! MPI.
//!
//! The comparison measures the cost of a library that is loaded at run time and called through a
//! table. On a host whose speed changes by half within seconds, a difference of one percent is
//! invisible between two programs that run one after the other. So both loops run in the same
//! ranks, in turns of a third of a millisecond.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{command, packages, wheels};

use super::cpus::Cpus;
use super::machine;
use super::options::BenchOptions;
use super::order::turn_order;
use super::ratio::{self, PeerRatio};
use super::workplace::BenchWorkplace;
use contender::MpiContender;
use workbench::page::MarkdownPage;

mod contender;

/// Benchmark, its sizes in bytes, and the format of its figure.
struct Ladder {
    benchmark: &'static str,
    minimum: u64,
    maximum: u64,
    /// Sizes with their own row; all sizes are measured and count in the mean.
    listed_sizes: &'static [u64],
    /// Formats the figure for the seconds of a turn and the bytes of a message.
    format_figure: fn(f64, u64) -> String,
}

const LADDERS: [Ladder; 2] = [
    Ladder {
        benchmark: "latency",
        minimum: 1,
        maximum: 8192,
        listed_sizes: &[1, 8, 64, 512, 4096, 8192],
        format_figure: |turn_s, _| format!("{:.3} µs", turn_s / 2.0 * 1e6),
    },
    Ladder {
        benchmark: "bw",
        minimum: 1,
        maximum: 4 << 20,
        listed_sizes: &[1, 64, 4096, 64 << 10, 1 << 20, 4 << 20],
        format_figure: |turn_s, bytes| {
            format!("{:.1} MB/s", bytes as f64 * WINDOW / turn_s / 1e6)
        },
    },
];

/// Messages of a window, as in `mpi_loop.c`.
const WINDOW: f64 = 64.0;
/// Minimum ratio: at most one percent worse.
const TARGET: f64 = 0.99;
/// Seconds for one size in one launch.
const SIZE_S: f64 = 0.04;

/// Script that pins rank i to the i-th CPU, under any launcher.
const PINNING_SCRIPT: &str = "#!/bin/sh
rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}}
shift \"$((rank + 0))\"
cpu=$1
while [ \"$1\" != -- ]; do shift; done
shift
exec taskset -c \"$cpu\" \"$@\"
";

/// Seconds of one turn in neighbouring batches: C, assay, and C again.
type Block = [f64; 3];

/// Blocks of each launch, by MPI, ladder and bytes.
type Blocks = BTreeMap<(usize, usize, u64), Vec<Vec<Block>>>;

/// Runs the comparison and writes the page.
pub(crate) fn run(root: &Path, options: &BenchOptions) -> Result<()> {
    packages::install(root, packages::FOR_BENCH_MPI)?;
    wheels::install(root, &wheels::MPI, true);
    let workplace =
        BenchWorkplace::open(root, Cpus::choose(Some(options.threads.unwrap_or(2)))?)?;
    let ranks = build_ranks(&workplace)?;
    let mut facts = machine::facts(&workplace);
    facts.push(machine::commit(&workplace));
    let debian = ["mpich", "openmpi-bin"];
    facts.push(("packages", machine::package_versions(&workplace, &debian)?));
    let mpis = contender::find_installed(root);
    let objects = mpis.iter().map(|mpi| mpi.compile(&workplace)).collect::<Result<Vec<_>>>()?;
    let place = workplace.folder.join("place.sh");
    std::fs::write(&place, PINNING_SCRIPT).context("cannot write place.sh")?;
    let contest = MpiContest {
        workplace: &workplace,
        mpis: &mpis,
        objects,
        ranks,
        pinning_script: place,
    };
    let blocks = contest.measure(options)?;
    facts.push(("load after", workbench::load_average()));
    let mut page = MarkdownPage::new("MPI compared with compiled C", "cargo xtask bench mpi");
    page.facts(&facts);
    for (at, ladder) in LADDERS.iter().enumerate() {
        page.heading(&format!("mpi.{}", ladder.benchmark));
        let head = [
            "MPI", "size", "C", "assay", "ratio", "95 %", "≥ 0.99", "C again", "95 %", "blocks",
        ];
        page.table(&head, &rows(&mpis, &blocks, at)?);
    }
    page.paragraph(ABOUT);
    page.publish(root, "mpi")
}

const ABOUT: &str = "\
`xtask/peers/mpi_loop.c` is compiled with `-O3` by each MPI's own `mpicc` into a shared object, which calls the
library through its procedure linkage table as any C program does. The ranks, one on each of two CPUs by
`taskset`, are `crates/assay-kernels/examples/mpi_in_turns.rs`: it opens the library as assay does and runs assay's
loop and the compiled one alternately, a third of a millisecond each, over the same connections and memory.
A block is three batches: C, assay, and C once more; all six orders of them occur, each followed by its reverse.
Within a block the speed of the host is constant, even if it changes between blocks.

Ratio is the median over all blocks of C's time over assay's: more than 1 is in assay's favour; the interval is from
order statistics. \"C again\" is the same ratio of C to itself: its difference from 1 is chance. Differences of one
or two percent in either direction are also caused by code placement. C and assay are separate medians over all
speeds of the host. The row \"all sizes\" is the geometric mean of the ratios of
all sizes of the ladder, shown or not; its interval is over the launches. Few windows of large messages fit
into the time, so their intervals are wider.";

/// Builds the program that the ranks run.
fn build_ranks(workplace: &BenchWorkplace) -> Result<PathBuf> {
    let mut cargo = command::cargo(&workplace.root);
    cargo.args(["build", "--release", "--locked", "--package=assay-kernels"]);
    command::run(cargo.arg("--example=mpi_in_turns"))?;
    Ok(workplace.target.join("release/examples/mpi_in_turns"))
}

/// Contenders and their programs.
struct MpiContest<'a> {
    workplace: &'a BenchWorkplace,
    mpis: &'a [MpiContender],
    objects: Vec<PathBuf>,
    ranks: PathBuf,
    pinning_script: PathBuf,
}

impl MpiContest<'_> {
    fn measure(&self, options: &BenchOptions) -> Result<Blocks> {
        let mut blocks = Blocks::new();
        for turn in 0..options.turns {
            println!("turn {} of {}", turn + 1, options.turns);
            for at in turn_order(options.seed, turn, self.mpis.len() * LADDERS.len()) {
                let (mpi, ladder) = (at / LADDERS.len(), at % LADDERS.len());
                for (bytes, launch) in self.run_launch(mpi, &LADDERS[ladder])? {
                    blocks.entry((mpi, ladder, bytes)).or_default().push(launch);
                }
            }
        }
        Ok(blocks)
    }

    /// Starts one launch and returns the blocks of every size.
    fn run_launch(&self, at: usize, ladder: &Ladder) -> Result<BTreeMap<u64, Vec<Block>>> {
        let mpi = &self.mpis[at];
        let mut command = self.launcher_command(mpi);
        command.arg(&self.ranks).arg(&mpi.library).arg(&self.objects[at]);
        command
            .arg(ladder.benchmark)
            .args([ladder.minimum, ladder.maximum].map(|b| b.to_string()));
        let output = command::output(command.arg(SIZE_S.to_string()))?;
        parse_output(&output)
            .with_context(|| format!("{} under {}", ladder.benchmark, mpi.name))
    }

    /// Returns the launcher's command line up to the program, with one rank on each of two CPUs.
    fn launcher_command(&self, mpi: &MpiContender) -> Command {
        let mut command = self.workplace.command(&mpi.launcher);
        command.args(mpi.no_binding).args(["-n", "2", "sh"]).arg(&self.pinning_script);
        command.args(self.workplace.cpus.0.iter().map(usize::to_string)).arg("--");
        if let Some(prefix) = &mpi.prefix {
            command.env("LD_LIBRARY_PATH", prefix.join("lib"));
        }
        for make in ["OMPI", "PRTE"] {
            command.env(format!("{make}_ALLOW_RUN_AS_ROOT"), "1");
            command.env(format!("{make}_ALLOW_RUN_AS_ROOT_CONFIRM"), "1");
        }
        // Intel MPI pins the ranks again in its initialization.
        command.env("I_MPI_PIN", "0");
        command
    }
}

/// Parses lines of `8 3.4e-07 3.3e-07 3.4e-07`: bytes, and seconds of a turn in C, in assay and in
/// C again.
fn parse_output(output: &str) -> Result<BTreeMap<u64, Vec<Block>>> {
    let mut blocks: BTreeMap<u64, Vec<Block>> = BTreeMap::new();
    for line in output.lines().filter(|line| !line.is_empty()) {
        let mut words = line.split(' ');
        let mut next =
            || words.next().with_context(|| format!("expected four columns, found: {line}"));
        let bytes =
            next()?.parse().with_context(|| format!("expected bytes, found: {line}"))?;
        let block = [next()?.parse()?, next()?.parse()?, next()?.parse()?];
        blocks.entry(bytes).or_default().push(block);
    }
    Ok(blocks)
}

fn rows(mpis: &[MpiContender], blocks: &Blocks, at: usize) -> Result<Vec<Vec<String>>> {
    let ladder = &LADDERS[at];
    let mut rows = Vec::new();
    for (mpi, it) in mpis.iter().enumerate() {
        let sizes: Vec<_> =
            blocks.iter().filter(|((m, l, _), _)| *m == mpi && *l == at).collect();
        for ((.., bytes), launches) in &sizes {
            if ladder.listed_sizes.contains(bytes) {
                rows.push(size_row(&it.name, *bytes, &launches.concat(), ladder)?);
            }
        }
        let launches: Vec<&Vec<Vec<Block>>> = sizes.iter().map(|(_, it)| *it).collect();
        rows.push(mean_row(&it.name, &launches)?);
    }
    Ok(rows)
}

fn size_row(mpi: &str, bytes: u64, blocks: &[Block], ladder: &Ladder) -> Result<Vec<String>> {
    let column = |at: usize| -> Vec<f64> { blocks.iter().map(|block| block[at]).collect() };
    let [c, own, again] = [0, 1, 2].map(column);
    let format_median = |values: &[f64]| {
        (ladder.format_figure)(ratio::median(values).unwrap_or(f64::NAN), bytes)
    };
    let nothing = "nothing was measured";
    let ratio = PeerRatio::from_neighbours(&c, &own).context(nothing)?;
    let control = PeerRatio::from_neighbours(&c, &again).context(nothing)?;
    let name = assay_model::quantity::Bytes(bytes).to_string();
    let head = vec![mpi.to_owned(), name, format_median(&c), format_median(&own)];
    Ok([head, ratio_cells(&ratio, &control), vec![blocks.len().to_string()]].concat())
}

/// Returns the row of the geometric mean over all sizes, with its interval over the launches.
fn mean_row(mpi: &str, sizes: &[&Vec<Vec<Block>>]) -> Result<Vec<String>> {
    let launches = sizes.iter().map(|launches| launches.len()).min().unwrap_or(0);
    let ratio_to = |other: usize| -> Option<PeerRatio> {
        let pooled = sizes.iter().map(|launches| log_ratio(&launches.concat(), other));
        let each: Option<Vec<f64>> = (0..launches)
            .map(|launch| geometric_mean(sizes.iter().map(|it| log_ratio(&it[launch], other))))
            .collect();
        Some(PeerRatio {
            estimate: geometric_mean(pooled)?,
            interval: ratio::median_interval(&each?),
        })
    };
    let nothing = "nothing was measured";
    let (ratio, control) = (ratio_to(1).context(nothing)?, ratio_to(2).context(nothing)?);
    let head = ["all sizes", "", ""].map(str::to_owned);
    let blocks: usize = sizes.iter().flat_map(|launches| launches.iter().map(Vec::len)).sum();
    let ends = vec![blocks.to_string()];
    Ok([vec![mpi.to_owned()], head.to_vec(), ratio_cells(&ratio, &control), ends].concat())
}

fn ratio_cells(ratio: &PeerRatio, control: &PeerRatio) -> Vec<String> {
    vec![
        format!("{:.3}", ratio.estimate),
        ratio.format_interval(),
        ratio.verdict(TARGET).to_owned(),
        format!("{:.3}", control.estimate),
        control.format_interval(),
    ]
}

/// Returns the logarithm of the median ratio of C's time to that of another contender.
fn log_ratio(blocks: &[Block], other: usize) -> Option<f64> {
    let quotients: Vec<f64> = blocks.iter().map(|block| block[0] / block[other]).collect();
    ratio::median(&quotients).map(f64::ln)
}

/// Returns the geometric mean from logarithms; `None` if there is no value or one is missing.
fn geometric_mean(logs: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let logs: Vec<f64> = logs.collect::<Option<_>>()?;
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_output_of_ranks() {
        let read_ = parse_output("8 3e-07 3.5e-7 3e-7\n8 1 2 3\n16 4e-07 3e-07 1\n").unwrap();
        let expected =
            [(8, vec![[3e-7, 3.5e-7, 3e-7], [1.0, 2.0, 3.0]]), (16, vec![[4e-7, 3e-7, 1.0]])];
        assert_eq!(read_, BTreeMap::from(expected));
        for bad in ["abort\n", "8 1 2\n", "8 1 2 x\n"] {
            assert!(parse_output(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn row_compares_c_with_assay_and_with_itself() {
        let blocks = [[2.0e-6, 1.0e-6, 2.0e-6]; 10];
        let row = size_row("X", 8, &blocks, &LADDERS[0]).unwrap();
        let expected = [
            "X",
            "8 B",
            "1.000 µs",
            "0.500 µs",
            "2.000",
            "2.000…2.000",
            "reached",
            "1.000",
            "1.000…1.000",
            "10",
        ];
        assert_eq!(row, expected);
        assert!(size_row("X", 8, &[], &LADDERS[0]).is_err());
    }

    #[test]
    fn mean_is_over_sizes_and_interval_over_launches() {
        let launches = |own: f64| vec![vec![[1.0, own, 1.0]; 3]; 6];
        let (half, double) = (launches(0.5), launches(2.0));
        let row = mean_row("X", &[&half, &double]).unwrap();
        assert_eq!(row[4..7], ["1.000", "1.000…1.000", "reached"], "{row:?}");
        assert!(mean_row("X", &[]).is_err());
    }
}
