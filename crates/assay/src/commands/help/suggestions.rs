//! Suggestions for unknown commands and options. Only suggests; never substitutes a word.

use assay_emulation::options::perftest;
use assay_emulation::unsupported_options::{find_refusal, to_failure};
use assay_help::errors;
use assay_model::spelling::nearest_word;
use assay_run::failure::{CommandFailure, FailureKind};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _};

use crate::arguments::Arguments;
use crate::suites;

/// Commands with another tool's options, which have other meanings.
pub(super) const TOOL_COMMANDS: [&str; 8] =
    ["vdbench", "fio", "ior", "iperf3", "qperf", "ping", "mpi", "rdma"];

/// Names of a language option that users may try.
const LANGUAGE_OPTIONS: [&str; 3] = ["--lang", "--language", "--locale"];

/// Maximum number of commands to suggest: an option of many commands differs in meaning between
/// them.
const MAX_SUGGESTED_COMMANDS: usize = 2;

/// Returns the failure for an unknown command, which may be the name of a suite or a typing error.
/// clap alone would suggest `vdbench` for `bench`.
pub(super) fn unknown_command(error: &clap::Error, command: &str) -> Option<CommandFailure> {
    let of_assay = Arguments::command();
    let known =
        of_assay.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name);
    let is_unknown = error.kind() == ErrorKind::InvalidSubcommand
        && error.get(ContextKind::InvalidSubcommand)
            == Some(&ContextValue::String(command.to_owned()));
    if !is_unknown {
        return None;
    }
    let failure = CommandFailure::usage(format!("there is no command `{command}`"));
    if ["suites", "suite"].contains(&command) {
        return Some(
            failure
                .advise("`assay help suites` lists the suites, `assay run SUITE` measures one"),
        );
    }
    if suites::is_built_in(command) {
        return Some(failure.advise(format!("it is a suite: `assay run {command}`")));
    }
    Some(match nearest_word(command, known) {
        Some(near) => failure.advise(format!("did you mean `assay {near}`?")),
        None => failure.advise("`assay help` lists the commands"),
    })
}

/// Returns the failure for an option that only the emulated tool or another command has.
pub(super) fn unknown_option(error: &clap::Error, command: &str) -> Option<CommandFailure> {
    let option = errors::unknown_argument(error)?;
    if command.starts_with('-') {
        let advice = format!("options come after the command: `assay COMMAND {option}`");
        return Some(
            CommandFailure::usage(format!("`assay` does not support {option}")).advise(advice),
        );
    }
    let of_rdma =
        || (command == "rdma").then(|| perftest::unsupported::find_refusal(option))?;
    if let Some(refusal) = find_refusal(command, option).or_else(of_rdma) {
        return Some(to_failure(&refusal, FailureKind::Usage));
    }
    let failure = CommandFailure::usage(format!("`assay {command}` does not support {option}"));
    if command == "run" && ["--suite", "--suites", "-s"].contains(&option) {
        return Some(failure.advise("name suites without an option: `assay run quick`"));
    }
    if LANGUAGE_OPTIONS.contains(&option) && !TOOL_COMMANDS.contains(&command) {
        return Some(failure.advise(language_advice(command)));
    }
    let long = option.strip_prefix("--").filter(|_| !TOOL_COMMANDS.contains(&command))?;
    let mut takers = Vec::new();
    errors::find_commands_with(
        &Arguments::command(),
        "assay",
        (long, &TOOL_COMMANDS),
        &mut takers,
    );
    let is_telling = (1..=MAX_SUGGESTED_COMMANDS).contains(&takers.len());
    is_telling.then(|| failure.advise(format!("it is an option of {}", takers.join(" and "))))
}

/// Returns advice on how to choose another language.
fn language_advice(command: &str) -> String {
    let of_assay = Arguments::command();
    let has = |it: &clap::Arg| it.get_long() == Some("locale");
    match of_assay.find_subcommand(command) {
        Some(taker) if taker.get_arguments().any(has) => {
            "set the language with `--locale fr`".to_owned()
        }
        _ => {
            format!("set the language of the terminal: `LANG=fr_FR.UTF-8 assay {command}`")
        }
    }
}
