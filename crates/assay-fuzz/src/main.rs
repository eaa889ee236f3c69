//! `assay-fuzz [READER] [--for SECONDS] [--seed N]`: a campaign against one or all readers on all
//! CPUs. `cargo xtask fuzz` starts it. With `--seeds-to FOLDER` it writes the seeds of each reader
//! to a folder of its own instead, for another fuzzer.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the terminal is its output")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use assay_fuzz::campaign::{self, FuzzOutcome};
use assay_fuzz::corpus;
use assay_fuzz::readers::{FuzzedReader, READERS};
use fs_err as fs;

struct FuzzArguments {
    readers: Vec<&'static FuzzedReader>,
    /// Total time of all campaigns.
    total_s: f64,
    seed: u64,
    /// Folder to write the seeds to, instead of a campaign.
    seeds_to: Option<PathBuf>,
}

fn main() -> ExitCode {
    let outcome = parse_arguments().and_then(|arguments| match &arguments.seeds_to {
        Some(folder) => write_seeds(&arguments.readers, folder).map(|()| true),
        None => run(&arguments),
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("assay-fuzz: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn parse_arguments() -> Result<FuzzArguments> {
    let mut arguments = FuzzArguments {
        readers: Vec::new(),
        total_s: 60.0,
        seed: fastrand::u64(..),
        seeds_to: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--for" => arguments.total_s = value()?.parse().context("--for takes seconds")?,
            "--seed" => arguments.seed = value()?.parse().context("--seed takes a number")?,
            "--seeds-to" => arguments.seeds_to = Some(value()?.into()),
            name => match READERS.iter().find(|reader| reader.name == name) {
                Some(reader) => arguments.readers.push(reader),
                None => {
                    let names: Vec<&str> = READERS.iter().map(|reader| reader.name).collect();
                    bail!("unknown reader {name}; expected one of {}", names.join(", "));
                }
            },
        }
    }
    if arguments.readers.is_empty() {
        arguments.readers.extend(READERS);
    }
    Ok(arguments)
}

/// Writes the seeds of each reader to a folder of its name.
fn write_seeds(readers: &[&FuzzedReader], folder: &Path) -> Result<()> {
    for reader in readers {
        let folder = folder.join(reader.name);
        fs::create_dir_all(&folder)?;
        for (number, seed) in corpus::read_seeds(reader)?.iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}

/// Runs the campaigns and returns whether there are no findings.
fn run(arguments: &FuzzArguments) -> Result<bool> {
    std::panic::set_hook(Box::new(|_| {}));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let each = arguments.total_s * workers.min(arguments.readers.len()) as f64
        / arguments.readers.len() as f64;
    println!(
        "seed {}, {each:.1} s for each of {} readers",
        arguments.seed,
        arguments.readers.len()
    );
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Vec<(usize, Result<FuzzOutcome>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(reader) = arguments.readers.get(index) else { return };
                let outcome =
                    campaign::run(reader, Duration::from_secs_f64(each), arguments.seed);
                if let Ok(mut outcomes) = outcomes.lock() {
                    outcomes.push((index, outcome));
                }
            }
        };
        for _ in 1..workers {
            // This thread takes over the readers of a thread that cannot be started.
            drop(std::thread::Builder::new().spawn_scoped(scope, work));
        }
        work();
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by_key(|(index, _)| *index);
    let (mut executions, mut is_clean) = (0, true);
    for (index, outcome) in outcomes {
        let name = arguments.readers[index].name;
        let outcome = outcome.with_context(|| format!("{name} cannot be tried"))?;
        println!(
            "{name:>20} {:>10} executions {:>6} inputs",
            outcome.executions, outcome.inputs
        );
        executions += outcome.executions;
        for (path, message) in outcome.findings {
            is_clean = false;
            println!("  {message}: {}", path.display());
        }
    }
    println!("{executions} executions in all");
    Ok(is_clean)
}
