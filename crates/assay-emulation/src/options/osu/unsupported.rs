//! Options of OSU's programs that `assay mpi` does not support. Each is rejected by name with a
//! reason and an alternative, so that an OSU command line never means something else.

use crate::unsupported_options::{RefusedOption, describe_tool};
use assay_dialects::option::ValueKind::{Flag, OptionalText, Switch, Text};
use assay_dialects::option::{OptionSpec, UnsupportedOption};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

const USE_OSU: &str = "leave it out, or use OSU's own programs for accelerators";

/// Letter, long name, value; the values of `unless` are assay's behaviour.
pub(in crate::options) const UNSUPPORTED_OPTIONS: &[RefusedOption] = &[
    OptionSpec::reject(
        "-k --root-rank",
        Text,
        "rank 0 is the root, OSU's default",
        "leave it out or write -k fixed:0; to measure another root, bind rank 0 elsewhere",
    )
    .unless(&["fixed:0"]),
    OptionSpec::reject(
        "-R --print-rate",
        Text,
        "the message rate is always printed",
        "leave it out and cut the column off",
    )
    .unless(&["1"]),
    OptionSpec::reject(
        "-p --num-pairs",
        Text,
        "every rank takes part",
        "start twice as many ranks as pairs: mpirun -n 8 for 4 pairs",
    ),
    OptionSpec::reject(
        "-V --vary-window",
        Switch,
        "one run has one window",
        "run it once per window: for w in 1 2 4 8 16 32 64; do mpirun … -W $w; done",
    ),
    OptionSpec::reject(
        "-M --mem-limit",
        Text,
        "the memory for a size is compared with the free memory before it is measured",
        "set the largest message: -m :1MiB",
    ),
    OptionSpec::reject("-a --array-size", Text, "all messages are in host memory", USE_OSU),
    OptionSpec::reject("-d --accelerator", Text, "all messages are in host memory", USE_OSU),
    OptionSpec::reject("-r --cuda-target", Text, "all messages are in host memory", USE_OSU),
    OptionSpec::reject(
        "-G --graph",
        Text,
        "graphs are part of the report",
        "use assay run mpi, then assay report latest --format html --output mpi.html",
    ),
    OptionSpec::reject(
        "-P --papi",
        Text,
        "hardware counters are not read",
        "use perf stat around the ranks to count over the whole run",
    ),
    OptionSpec::reject(
        "-D --ddt",
        Text,
        "messages are contiguous bytes",
        "leave it out, or use OSU's own programs for derived types",
    ),
    OptionSpec::reject(
        "-l --in-place",
        Switch,
        "send and receive buffers are separate, OSU's default",
        "leave it out, or use OSU's own programs for MPI_IN_PLACE",
    ),
];

/// Returns the option for clap, hidden from the help.
fn to_argument(row: &RefusedOption) -> Arg {
    let action = if row.value == Switch { ArgAction::SetTrue } else { ArgAction::Set };
    let letter = row.names.chars().nth(1);
    Arg::new(identifier(row)).short(letter).long(identifier(row)).hide(true).action(action)
}

fn identifier(row: &RefusedOption) -> &'static str {
    row.names.split_once(" --").map_or(row.names, |(_, name)| name)
}

/// Returns the refusal if the option is given with a value that is not supported.
fn find_given(row: &RefusedOption, typed: &ArgMatches) -> Option<UnsupportedOption> {
    let value = match row.value {
        Switch if !typed.get_flag(identifier(row)) => return None,
        Switch => None,
        Flag | Text | OptionalText => Some(typed.get_one::<String>(identifier(row))?.as_str()),
    };
    let letter = row.spellings().next().unwrap_or_default();
    row.find_refusal(&describe_tool("mpi"), letter, value)
}

/// First unsupported option on the command line.
#[derive(Debug)]
pub struct UnsupportedMpiArguments {
    pub first: Option<UnsupportedOption>,
}

impl FromArgMatches for UnsupportedMpiArguments {
    fn from_arg_matches(typed: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { first: UNSUPPORTED_OPTIONS.iter().find_map(|row| find_given(row, typed)) })
    }

    fn update_from_arg_matches(&mut self, typed: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(typed)?;
        Ok(())
    }
}

impl Args for UnsupportedMpiArguments {
    fn augment_args(command: Command) -> Command {
        command.args(UNSUPPORTED_OPTIONS.iter().map(to_argument))
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
        let options = ["-V", "-l", "-p 2", "-M 1", "-a 32", "-d cuda", "-r gpu", "-G png"];
        let valued = ["-P x:y", "-D vect:2:1", "-k rotate"];
        for words in options.into_iter().chain(valued).chain(["-R 0", "--in-place"]) {
            let only =
                UnsupportedOnly::try_parse_from(["x"].into_iter().chain(words.split(' ')))
                    .unwrap();
            let refusal = only.refused.first.unwrap();
            let is_named = words.starts_with(&refusal.option) || words == "--in-place";
            assert!(is_named, "{words} {refusal:?}");
        }
        let usual = ["x", "-k", "fixed:0", "-R", "1"];
        assert!(UnsupportedOnly::try_parse_from(usual).unwrap().refused.first.is_none());
    }
}
