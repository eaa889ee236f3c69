//! Options of OSU's programs that `assay mpi` does not have: each is known by name and refused with the
//! reason and with what does the same, so that a command line of OSU's never means something else.

use clap::Args;

/// Hidden from the help: they only wait to be refused.
#[derive(Debug, Args)]
pub(crate) struct RefusedArguments {
    #[arg(short = 'v', long = "version", hide = true)]
    version: bool,
    #[arg(short = 's', long = "sync-option", hide = true)]
    synchronisation: Option<String>,
    #[arg(short = 'w', long = "win-options", hide = true)]
    window_creation: Option<String>,
    #[arg(short = 'k', long = "root-rank", hide = true)]
    root: Option<String>,
    #[arg(short = 'R', long = "print-rate", hide = true)]
    print_rate: Option<String>,
    #[arg(short = 'p', long = "num-pairs", hide = true)]
    pairs: Option<String>,
    #[arg(short = 'V', long = "vary-window", hide = true)]
    vary_window: bool,
    #[arg(short = 'M', long = "mem-limit", hide = true)]
    memory_limit: Option<String>,
    #[arg(short = 'a', long = "array-size", hide = true)]
    array_size: Option<String>,
    #[arg(short = 'd', long = "accelerator", hide = true)]
    accelerator: Option<String>,
    #[arg(short = 'r', long = "cuda-target", hide = true)]
    cuda_target: Option<String>,
    #[arg(short = 'G', long = "graph", hide = true)]
    graph: Option<String>,
    #[arg(short = 'P', long = "papi", hide = true)]
    papi: Option<String>,
    #[arg(short = 'D', long = "ddt", hide = true)]
    derived_type: Option<String>,
    #[arg(short = 'N', long = "nhbr", hide = true)]
    neighbourhood: Option<String>,
    #[arg(short = 'l', long = "in-place", hide = true)]
    in_place: bool,
}

/// An option with the reason why it is refused, and what to do instead.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal {
    is_given: fn(&RefusedArguments) -> bool,
    pub(crate) option: &'static str,
    pub(crate) reason: &'static str,
    pub(crate) instead: &'static str,
}

const NO_ACCELERATOR: &str = "all messages lie in the memory of the host";
const ACCELERATOR_INSTEAD: &str = "leave it out, or use OSU's own programs for accelerators";

/// What asks for what assay does anyway (`-w allocate`, `-s flush`, `-k fixed:0`, `-R 1`) is not refused.
const TABLE: &[Refusal] = &[
    refusal(|it| it.version, "-v", "it is an option of assay itself", "assay --version"),
    refusal(
        |it| is_other(&it.synchronisation, "flush"),
        "-s",
        "put and get are completed by MPI_Win_flush under one lock, OSU's default",
        "leave it out or write -s flush",
    ),
    refusal(
        |it| is_other(&it.window_creation, "allocate"),
        "-w",
        "windows are made by MPI_Win_allocate, OSU's default",
        "leave it out or write -w allocate",
    ),
    refusal(
        |it| is_other(&it.root, "fixed:0"),
        "-k",
        "rank 0 is the root, OSU's default",
        "leave it out or write -k fixed:0; to measure another root, bind rank 0 elsewhere",
    ),
    refusal(
        |it| is_other(&it.print_rate, "1"),
        "-R",
        "the message rate is always printed",
        "leave it out and cut the column off",
    ),
    refusal(
        |it| it.pairs.is_some(),
        "-p",
        "every rank takes part",
        "start twice as many ranks as pairs: mpirun -n 8 for 4 pairs",
    ),
    refusal(
        |it| it.vary_window,
        "-V",
        "one run has one window",
        "run it once per window: for w in 1 2 4 8 16 32 64; do mpirun … -W $w; done",
    ),
    refusal(
        |it| it.memory_limit.is_some(),
        "-M",
        "what a size needs is held against what is free before it is measured",
        "set the largest message: -m :1MiB",
    ),
    refusal(|it| it.array_size.is_some(), "-a", NO_ACCELERATOR, ACCELERATOR_INSTEAD),
    refusal(|it| it.accelerator.is_some(), "-d", NO_ACCELERATOR, ACCELERATOR_INSTEAD),
    refusal(|it| it.cuda_target.is_some(), "-r", NO_ACCELERATOR, ACCELERATOR_INSTEAD),
    refusal(
        |it| it.graph.is_some(),
        "-G",
        "curves belong to the report",
        "assay run mpi, then assay report latest --format html --output mpi.html",
    ),
    refusal(
        |it| it.papi.is_some(),
        "-P",
        "no hardware counter is read",
        "perf stat around the ranks counts for the whole run",
    ),
    refusal(
        |it| it.derived_type.is_some(),
        "-D",
        "messages are contiguous bytes",
        "leave it out, or use OSU's own programs for derived types",
    ),
    refusal(
        |it| it.neighbourhood.is_some(),
        "-N",
        "there are no neighbourhood collectives here",
        "use OSU's own programs for them",
    ),
    refusal(
        |it| it.in_place,
        "-l",
        "send and receive buffers are two, OSU's default",
        "leave it out, or use OSU's own programs for MPI_IN_PLACE",
    ),
];

const fn refusal(
    is_given: fn(&RefusedArguments) -> bool,
    option: &'static str,
    reason: &'static str,
    instead: &'static str,
) -> Refusal {
    Refusal { is_given, option, reason, instead }
}

fn is_other(given: &Option<String>, usual: &str) -> bool {
    given.as_ref().is_some_and(|value| !value.eq_ignore_ascii_case(usual))
}

impl RefusedArguments {
    /// The first that was given.
    pub(crate) fn first(&self) -> Option<Refusal> {
        TABLE.iter().find(|refusal| (refusal.is_given)(self)).copied()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    #[command(disable_version_flag = true)]
    struct Only {
        #[command(flatten)]
        refused: RefusedArguments,
    }

    #[test]
    fn every_option_is_refused_unless_it_asks_for_what_is_done_anyway() {
        let options =
            ["-v", "-V", "-l", "-p 2", "-M 1", "-a 32", "-d cuda", "-r gpu", "-G png"];
        let valued =
            ["-P x:y", "-D vect:2:1", "-N cart:1:1", "-s lock", "-w create", "-k rotate"];
        for words in options.into_iter().chain(valued).chain(["-R 0", "--in-place"]) {
            let only = Only::try_parse_from(["x"].into_iter().chain(words.split(' '))).unwrap();
            let refusal = only.refused.first().unwrap();
            assert!(
                words.starts_with(refusal.option) || words == "--in-place",
                "{words} {refusal:?}"
            );
        }
        let usual = ["x", "-s", "flush", "-w", "ALLOCATE", "-k", "fixed:0", "-R", "1"];
        assert!(Only::try_parse_from(usual).unwrap().refused.first().is_none());
    }
}
