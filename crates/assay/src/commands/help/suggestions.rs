//! Suggestions for unknown commands and options. Only suggests; never substitutes a word.

use std::path::Path;

use assay_emulation::options::perftest;
use assay_emulation::unsupported_options::{find_refusal, to_failure};
use assay_help::errors;
use assay_model::spelling::nearest_word;
use assay_run::failure::{CommandFailure, FailureKind};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _};

use crate::arguments::Arguments;
use crate::arguments::option_meanings::MEANINGS;
use crate::suites;

/// Commands with another tool's options, which have other meanings.
pub(super) const TOOL_COMMANDS: [&str; 8] =
    ["vdbench", "fio", "ior", "iperf3", "qperf", "ping", "mpi", "rdma"];

/// Words that are no command, with the advice that names the right one.
const COMMAND_WORDS: &[(&[&str], &str)] = &[
    (
        &["suites", "suite"],
        "`assay help suites` lists the suites, `assay run SUITE` measures one",
    ),
    (&["ls", "runs", "results"], "`assay list` lists the stored runs"),
    (&["bench", "benchmark", "measure", "test"], "`assay run` measures this machine"),
    (
        &["benchmarks", "methods", "metrics"],
        "`assay help methods` describes all benchmarks and their metrics",
    ),
    (
        &["latency"],
        "`assay run memory` measures the latency of memory, `assay net latency HOST` that of a network",
    ),
    (
        &["bandwidth"],
        "`assay stream` measures the bandwidth of memory, `assay net throughput HOST` that of a network",
    ),
    (&["cpu", "flops"], "`assay run compute` measures the CPUs"),
    (
        &["disk", "io", "ssd", "nvme", "iops"],
        "`assay storage read DIR` measures one operation, `assay run storage-local --target DIR` a suite",
    ),
    (&["delete", "remove"], "`assay rm RUN` removes runs"),
    (&["diff"], "`assay compare A B` compares runs"),
    (
        &["label", "note", "tag"],
        "give `--label NAME` or `--note TEXT` to the command that measures or imports",
    ),
    (
        &["publish", "page"],
        "`assay report RUN --format learn` writes a page, `assay site FOLDER` a site of all runs",
    ),
    (&["version"], "`assay --version` prints the version"),
];

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
    if let Some((_, advice)) = COMMAND_WORDS.iter().find(|(words, _)| words.contains(&command))
    {
        return Some(failure.advise(*advice));
    }
    if suites::is_built_in(command) {
        return Some(failure.advise(format!("it is a suite: `assay run {command}`")));
    }
    Some(match nearest_word(command, known) {
        Some(near) => failure.advise(format!("did you mean `assay {near}`?")),
        None => failure.advise("`assay help` lists the commands"),
    })
}

/// Returns the failure for `assay storage DIR` or `assay net HOST`, which lack the operation.
pub(super) fn target_for_operation(
    error: &clap::Error,
    command: &str,
) -> Option<CommandFailure> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let is_path = word.contains(['/', '.']) || Path::new(word).exists();
    let is_typing_error = error.get(ContextKind::SuggestedSubcommand).is_some();
    let operation = match (command, word.as_str()) {
        ("net", "ping" | "rtt" | "round-trip") => {
            return Some(
                CommandFailure::usage(format!("there is no command `net {word}`"))
                    .advise("`assay net latency HOST` measures round trips"),
            );
        }
        (
            "net",
            "bandwidth" | "bw" | "goodput" | "speed" | "tcp" | "udp" | "iperf" | "iperf3",
        ) => {
            return Some(
                CommandFailure::usage(format!("there is no command `net {word}`"))
                    .advise("`assay net throughput HOST` measures goodput"),
            );
        }
        ("storage", _) if is_path => "read",
        ("net", _) if !is_typing_error => "throughput",
        _ => return None,
    };
    let what = format!("`assay {command}` measures an operation, and {word} is none");
    Some(
        CommandFailure::usage(what)
            .advise(format!("put the operation first: `assay {command} {operation} {word}`")),
    )
}

/// Returns the failure for an option that only the emulated tool or another command has. `path` is the
/// whole command: `storage read`.
pub(super) fn unknown_option(
    error: &clap::Error,
    (command, path): (&str, &str),
) -> Option<CommandFailure> {
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
    if let Some(own) = own_spelling(path, long) {
        return Some(
            CommandFailure::usage(format!("`assay {path}` does not support {option}"))
                .advise(format!("use --{own}; `assay help {path}` describes it")),
        );
    }
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

/// Returns the option of a command with the meaning of an unknown one. A command that has no length
/// of a single measurement has a time of the whole run.
fn own_spelling(path: &str, unknown: &str) -> Option<&'static str> {
    let of_assay = Arguments::command();
    let mut names = path.split(' ');
    let taker = names.try_fold(&of_assay, |command, name| command.find_subcommand(name))?;
    let is_time = MEANINGS.iter().any(|(name, others)| {
        *name == "for" && (unknown == *name || others.contains(&unknown))
    });
    let meaning = MEANINGS.iter().find(|(_, others)| others.contains(&unknown));
    let names = meaning.map(|(name, _)| *name).into_iter().chain(is_time.then_some("budget"));
    let has = |name: &&str| taker.get_arguments().any(|it| it.get_long() == Some(*name));
    names.into_iter().find(has)
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
