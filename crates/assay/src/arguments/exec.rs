//! Options of `assay exec`.

use std::ffi::OsString;

use assay_adapters::import::{self, FigureRule};
use assay_console::options::{HostsArguments, parse_label, parse_seconds, word_parser};
use assay_fleet::cpu_list;
use assay_model::factor::FactorLevels;
use assay_model::suite::suggest;
use clap::Args;

use super::values::parse_margin;
use super::{MeasuringArguments, parse_factor};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  assay exec -- ./app -n 100                      a single program
  assay exec './a -n 100' './b -n 100'            several, each in one argument
  assay exec --factor x=1,2,4 -- ./app -n {x}     levels of a factor in turns")]
pub(crate) struct ExecArguments {
    /// Programs, each with its arguments in one text, split into words as a shell would; they take
    /// turns in random blocks, and each is compared with the first
    #[arg(value_name = "PROGRAM", value_parser = word_parser(), required_unless_present = "words")]
    pub(crate) programs: Vec<String>,
    /// A single program and its arguments
    #[arg(value_name = "PROGRAM ARG", last = true, conflicts_with = "programs")]
    pub(crate) words: Vec<OsString>,
    /// Name of a program in tables and for `assay compare`, in the order of the programs [default:
    /// its words]
    #[arg(short, long = "name", value_name = "NAME", value_parser = parse_label)]
    pub(crate) names: Vec<String>,
    /// Factor to vary, with its levels, which replace {NAME} in the programs and in --prepare;
    /// levels like 1,2,4 or 1..64*2. May be repeated; all combinations take turns
    #[arg(long = "factor", value_name = "NAME=LEVELS", value_parser = parse_factor)]
    pub(crate) factors: Vec<FactorLevels>,
    /// Take a figure from the output: a name, a regular expression whose first group is the number,
    /// and its unit; without a unit, add lower if lower is better. May be repeated
    #[arg(long = "metric", value_name = "NAME: REGEX [UNIT]", value_parser = FigureRule::parse)]
    pub(crate) metrics: Vec<FigureRule>,
    /// Read the figures of the standard output by the importer of this format, like hpl or fio
    /// (`assay help formats`)
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub(crate) read_as: Option<String>,
    /// Sign of a correct run: exit=CODE, or find=REGEX for a line of the output [default: exit=0].
    /// May be repeated
    #[arg(long, value_name = "exit=CODE|find=REGEX", value_parser = parse_check)]
    pub(crate) correct: Vec<RunCheck>,
    /// Accept any exit code
    #[arg(short, long)]
    pub(crate) ignore_failure: bool,
    /// Command to run before each repetition; its time does not count
    #[arg(short, long, value_name = "COMMAND", value_parser = word_parser())]
    pub(crate) prepare: Option<String>,
    /// Number of runs of each program before the first one that counts
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) warmup: u32,
    /// Exact number of repetitions of each program [default: until the intervals are narrow, or the
    /// budget is spent]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) runs: Option<u32>,
    /// Maximum time of a single run, after which the measurement fails
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_seconds)]
    pub(crate) timeout: f64,
    /// Run each PROGRAM by `sh -c`, with pipes, variables and patterns
    #[arg(long, conflicts_with = "words")]
    pub(crate) shell: bool,
    /// CPUs that the programs may use, like 0-3,8 [default: all]
    #[arg(long, value_name = "LIST", value_parser = parse_cpus)]
    pub(crate) cpus: Option<CpuNumbers>,
    /// Print the output of the programs
    #[arg(long)]
    pub(crate) show_output: bool,
    /// Largest relative difference between programs that counts as equivalent
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = parse_margin)]
    pub(crate) margin: f64,
    /// Do not store the run
    #[arg(long, conflicts_with = "folder")]
    pub(crate) no_store: bool,
    #[command(flatten)]
    pub(crate) hosts: HostsArguments,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArguments,
}

/// Sign of a correct run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunCheck {
    Exit(i32),
    Find(String),
}

/// Numbers of CPUs, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CpuNumbers(pub(crate) Vec<u32>);

fn parse_format(name: &str) -> Result<String, String> {
    match import::find_format(name) {
        Some(_) => Ok(name.to_owned()),
        None => {
            let known: Vec<&str> = import::formats().map(|it| it.name).collect();
            Err(format!("no such format; {}", suggest(name, &known)))
        }
    }
}

fn parse_check(text: &str) -> Result<RunCheck, String> {
    match text.split_once('=') {
        Some(("exit", code)) => match code.parse::<u8>() {
            Ok(code) => Ok(RunCheck::Exit(i32::from(code))),
            Err(_) => Err("expected an exit code from 0 to 255, like exit=0".to_owned()),
        },
        Some(("find", pattern)) if !pattern.is_empty() => {
            assay_adapters::import::LinePattern::parse(pattern)?;
            Ok(RunCheck::Find(pattern.to_owned()))
        }
        _ => Err("expected exit=CODE or find=REGEX, like 'find=^Final energy'".to_owned()),
    }
}

fn parse_cpus(text: &str) -> Result<CpuNumbers, String> {
    let cpus = cpu_list::parse(text).filter(|cpus| !cpus.is_empty());
    cpus.map(|cpus| CpuNumbers(cpus.into_iter().collect()))
        .ok_or_else(|| "expected CPU numbers, like 0-3,8".to_owned())
}
