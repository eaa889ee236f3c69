//! Options of OSU's programs that `assay mpi` does not support. Each is rejected by name with a
//! reason and an alternative, so that an OSU command line never means something else.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// Unsupported option, with the reason and an alternative.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnsupportedMpiOption {
    pub(crate) option: char,
    long: &'static str,
    value: OptionValue,
    pub(crate) reason: &'static str,
    pub(crate) instead: &'static str,
}

/// Value of an option.
#[derive(Debug, Clone, Copy)]
enum OptionValue {
    /// No value.
    None,
    /// Any value; all are rejected.
    Any,
    /// Any value; all are rejected except this one, which is assay's behaviour.
    AnyBut(&'static str),
}

const ACCELERATOR_REASON: &str = "all messages are in host memory";
const ACCELERATOR_INSTEAD: &str = "leave it out, or use OSU's own programs for accelerators";

const UNSUPPORTED_OPTIONS: [UnsupportedMpiOption; 16] = [
    unsupported(
        ('v', "version", OptionValue::None),
        "the version is that of assay",
        "use assay --version",
    ),
    unsupported(
        ('s', "sync-option", OptionValue::AnyBut("flush")),
        "put and get are completed by MPI_Win_flush under one lock, OSU's default",
        "leave it out or write -s flush",
    ),
    unsupported(
        ('w', "win-options", OptionValue::AnyBut("allocate")),
        "windows are created by MPI_Win_allocate, OSU's default",
        "leave it out or write -w allocate",
    ),
    unsupported(
        ('k', "root-rank", OptionValue::AnyBut("fixed:0")),
        "rank 0 is the root, OSU's default",
        "leave it out or write -k fixed:0; to measure another root, bind rank 0 elsewhere",
    ),
    unsupported(
        ('R', "print-rate", OptionValue::AnyBut("1")),
        "the message rate is always printed",
        "leave it out and cut the column off",
    ),
    unsupported(
        ('p', "num-pairs", OptionValue::Any),
        "every rank takes part",
        "start twice as many ranks as pairs: mpirun -n 8 for 4 pairs",
    ),
    unsupported(
        ('V', "vary-window", OptionValue::None),
        "one run has one window",
        "run it once per window: for w in 1 2 4 8 16 32 64; do mpirun … -W $w; done",
    ),
    unsupported(
        ('M', "mem-limit", OptionValue::Any),
        "the memory for a size is compared with the free memory before it is measured",
        "set the largest message: -m :1MiB",
    ),
    unsupported(('a', "array-size", OptionValue::Any), ACCELERATOR_REASON, ACCELERATOR_INSTEAD),
    unsupported(
        ('d', "accelerator", OptionValue::Any),
        ACCELERATOR_REASON,
        ACCELERATOR_INSTEAD,
    ),
    unsupported(
        ('r', "cuda-target", OptionValue::Any),
        ACCELERATOR_REASON,
        ACCELERATOR_INSTEAD,
    ),
    unsupported(
        ('G', "graph", OptionValue::Any),
        "graphs are part of the report",
        "use assay run mpi, then assay report latest --format html --output mpi.html",
    ),
    unsupported(
        ('P', "papi", OptionValue::Any),
        "hardware counters are not read",
        "use perf stat around the ranks to count over the whole run",
    ),
    unsupported(
        ('D', "ddt", OptionValue::Any),
        "messages are contiguous bytes",
        "leave it out, or use OSU's own programs for derived types",
    ),
    unsupported(
        ('N', "nhbr", OptionValue::Any),
        "neighbourhood collectives are not supported",
        "use OSU's own programs for them",
    ),
    unsupported(
        ('l', "in-place", OptionValue::None),
        "send and receive buffers are separate, OSU's default",
        "leave it out, or use OSU's own programs for MPI_IN_PLACE",
    ),
];

const fn unsupported(
    (option, long, value): (char, &'static str, OptionValue),
    reason: &'static str,
    instead: &'static str,
) -> UnsupportedMpiOption {
    UnsupportedMpiOption { option, long, value, reason, instead }
}

impl UnsupportedMpiOption {
    /// Returns the option for clap, hidden from the help.
    fn argument(&self) -> Arg {
        let action = match self.value {
            OptionValue::None => ArgAction::SetTrue,
            OptionValue::Any | OptionValue::AnyBut(_) => ArgAction::Set,
        };
        Arg::new(self.long).short(self.option).long(self.long).hide(true).action(action)
    }

    fn is_given(&self, typed: &ArgMatches) -> bool {
        let value = || typed.get_one::<String>(self.long);
        match self.value {
            OptionValue::None => typed.get_flag(self.long),
            OptionValue::Any => value().is_some(),
            OptionValue::AnyBut(usual) => {
                value().is_some_and(|it| !it.eq_ignore_ascii_case(usual))
            }
        }
    }
}

/// First unsupported option on the command line.
#[derive(Debug)]
pub(crate) struct UnsupportedMpiArguments {
    pub(crate) first: Option<UnsupportedMpiOption>,
}

impl FromArgMatches for UnsupportedMpiArguments {
    fn from_arg_matches(typed: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            first: UNSUPPORTED_OPTIONS.into_iter().find(|refusal| refusal.is_given(typed)),
        })
    }

    fn update_from_arg_matches(&mut self, typed: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(typed)?;
        Ok(())
    }
}

impl Args for UnsupportedMpiArguments {
    fn augment_args(command: Command) -> Command {
        command.args(UNSUPPORTED_OPTIONS.iter().map(UnsupportedMpiOption::argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    #[command(disable_version_flag = true)]
    struct UnsupportedOnly {
        #[command(flatten)]
        refused: UnsupportedMpiArguments,
    }

    #[test]
    fn rejects_unsupported_options_except_defaults() {
        let options =
            ["-v", "-V", "-l", "-p 2", "-M 1", "-a 32", "-d cuda", "-r gpu", "-G png"];
        let valued =
            ["-P x:y", "-D vect:2:1", "-N cart:1:1", "-s lock", "-w create", "-k rotate"];
        for words in options.into_iter().chain(valued).chain(["-R 0", "--in-place"]) {
            let only =
                UnsupportedOnly::try_parse_from(["x"].into_iter().chain(words.split(' ')))
                    .unwrap();
            let refusal = only.refused.first.unwrap();
            let is_named = words[1..].starts_with(refusal.option) || words == "--in-place";
            assert!(is_named, "{words} {refusal:?}");
        }
        let usual = ["x", "-s", "flush", "-w", "ALLOCATE", "-k", "fixed:0", "-R", "1"];
        assert!(UnsupportedOnly::try_parse_from(usual).unwrap().refused.first.is_none());
    }
}
