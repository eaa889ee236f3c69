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
use crate::arguments::option_meanings::{LETTERS, MEANINGS, OPTION_WORDS, RELATED};
use crate::suites;

/// Commands with another tool's options, which have other meanings.
pub(super) const TOOL_COMMANDS: [&str; 11] = [
    "vdbench", "fio", "ior", "mdtest", "iperf3", "qperf", "sockperf", "ntttcp", "ping", "mpi",
    "rdma",
];

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
        &["label", "labels", "note", "tag"],
        "give `--label NAME` or `--note TEXT` to the command that measures or imports",
    ),
    (
        &["publish", "page"],
        "`assay report RUN --format learn` writes a page, `assay site FOLDER` a site of all runs",
    ),
    (&["version"], "`assay --version` prints the version"),
    (
        &["gate", "gates", "check", "limits", "claims", "expectations"],
        "`assay compare RUN FILE` compares a stored run with a file of expectations, `--expect FILE` a new one",
    ),
    (
        &["trust", "sound", "noisy", "suspect", "verdict", "percentile", "percentiles"],
        "`assay help results` explains the words and numbers of a report",
    ),
    (
        &["exit", "exit-code", "exit-status", "codes"],
        "`assay help exit-codes` lists the exit codes",
    ),
];

/// Words that are no operation of a command, with the advice that names the right one.
const OPERATION_WORDS: &[(&str, &[&str], &str)] = &[
    ("net", &["ping", "rtt", "round-trip"], "`assay net latency HOST` measures round trips"),
    (
        "net",
        &["bandwidth", "bw", "goodput", "speed", "tcp", "udp", "iperf", "iperf3"],
        "`assay net throughput HOST` measures goodput",
    ),
    (
        "storage",
        &["randread", "rand-read", "random-read"],
        "`assay storage read TARGET --random` measures it",
    ),
    (
        "storage",
        &["randwrite", "rand-write", "random-write"],
        "`assay storage write TARGET --random` measures it",
    ),
    (
        "storage",
        &["readwrite", "randrw", "rw", "mixed"],
        "`assay storage mix TARGET` reads and writes",
    ),
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
    if let Some(advice) = topic_advice(command) {
        return Some(failure.advise(advice));
    }
    if suites::is_built_in(command) {
        return Some(failure.advise(format!("it is a suite: `assay run {command}`")));
    }
    Some(match nearest_word(command, known) {
        Some(near) => failure.advise(format!("did you mean `assay {near}`?")),
        None => failure.advise("`assay help` lists the commands"),
    })
}

/// Returns advice for a word that is no command or topic of the help: it may be another word for a
/// command, or an option of commands.
pub(super) fn topic_advice(topic: &str) -> Option<String> {
    if let Some((_, advice)) = COMMAND_WORDS.iter().find(|(words, _)| words.contains(&topic)) {
        return Some((*advice).to_owned());
    }
    let option = topic.trim_start_matches('-');
    let mut takers = Vec::new();
    let wanted = (option, &TOOL_COMMANDS[..]);
    errors::find_commands_with(&Arguments::command(), "assay help", wanted, &mut takers);
    takers.truncate(MAX_SUGGESTED_COMMANDS);
    (!takers.is_empty()).then(|| format!("--{option} is an option: {}", takers.join(", ")))
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
    let known = OPERATION_WORDS
        .iter()
        .find(|(of, words, _)| *of == command && words.contains(&word.as_str()));
    if let Some((_, _, advice)) = known {
        let what = format!("there is no command `{command} {word}`");
        return Some(CommandFailure::usage(what).advise(*advice));
    }
    let operation = match command {
        "storage" if is_path => "read",
        "net" if !is_typing_error => "throughput",
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
    if let Some(advice) = stray_word(path, option) {
        let what = format!("`assay {path}` does not take {option}");
        return Some(CommandFailure::usage(what).advise(advice));
    }
    let failure = CommandFailure::usage(format!("`assay {command}` does not support {option}"));
    if command == "run" && ["--suite", "--suites", "-s"].contains(&option) {
        return Some(failure.advise("name suites without an option: `assay run quick`"));
    }
    if LANGUAGE_OPTIONS.contains(&option) && !TOOL_COMMANDS.contains(&command) {
        return Some(failure.advise(language_advice(command)));
    }
    if TOOL_COMMANDS.contains(&command) {
        return None;
    }
    if let Some(advice) = right_form(path, option) {
        let what = format!("`assay {path}` does not support {option}");
        return Some(CommandFailure::usage(what).advise(advice));
    }
    let long = option.strip_prefix("--")?;
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

/// Returns advice about a word that no command takes: a unit apart from its number, or a run after
/// `list`.
fn stray_word(path: &str, word: &str) -> Option<String> {
    /// Units that users write apart from their number.
    const UNITS: [&str; 19] = [
        "B", "kB", "KB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB", "s", "sec", "seconds",
        "ms", "min", "minutes", "h", "MB/s", "GB/s",
    ];
    if UNITS.contains(&word) {
        return Some(format!("write a value without a blank before its unit: `4{word}`"));
    }
    let is_run = path == "list" && !word.starts_with('-');
    is_run.then(|| {
        format!("`assay show {word}` shows a run; `assay list --label {word}` lists those of a label")
    })
}

/// Returns advice that names a command's form of an unknown option.
fn right_form(path: &str, option: &str) -> Option<String> {
    let word = option.trim_start_matches('-');
    let known = OPTION_WORDS.iter().find(|it| it.0 == path && it.1.contains(&word));
    if let Some((_, _, advice)) = known {
        return Some((*advice).to_owned());
    }
    let Some(long) = option.strip_prefix("--") else {
        let own = spellings_of_letter(path, option)?;
        return Some(format!("use {own}; `assay help {path}` lists the options"));
    };
    if let Some(own) = own_spelling(path, long) {
        return Some(format!("use --{own}; `assay help {path}` describes it"));
    }
    has_value(path, "format", long).then(|| format!("use --format {long}"))
}

/// Returns a command by its words: `storage read`.
fn find_path<'c>(of_assay: &'c Command, path: &str) -> Option<&'c Command> {
    path.split(' ').try_fold(of_assay, |command, name| command.find_subcommand(name))
}

/// Returns the options of a command that an option of one letter may mean: `--for or --budget`.
fn spellings_of_letter(path: &str, letter: &str) -> Option<String> {
    let of_assay = Arguments::command();
    let taker = find_path(&of_assay, path)?;
    let (_, meanings) = LETTERS.iter().find(|(option, _)| *option == letter)?;
    let has = |name: &&&str| taker.get_arguments().any(|it| it.get_long() == Some(**name));
    let own: Vec<String> = meanings.iter().filter(has).map(|it| format!("--{it}")).collect();
    (!own.is_empty()).then(|| own.join(" or "))
}

/// Whether an option of a command has a value of that name.
fn has_value(path: &str, option: &str, value: &str) -> bool {
    let of_assay = Arguments::command();
    let taker = find_path(&of_assay, path);
    let argument =
        taker.and_then(|it| it.get_arguments().find(|it| it.get_long() == Some(option)));
    argument.is_some_and(|it| it.get_possible_values().iter().any(|it| it.get_name() == value))
}

/// Returns the option of a command with the meaning of an unknown one. A command that has no length
/// of a single measurement has a time of the whole run.
fn own_spelling(path: &str, unknown: &str) -> Option<&'static str> {
    let of_assay = Arguments::command();
    let taker = find_path(&of_assay, path)?;
    let is_time = MEANINGS.iter().any(|(name, others)| {
        *name == "for" && (unknown == *name || others.contains(&unknown))
    });
    let meaning = MEANINGS.iter().find(|(_, others)| others.contains(&unknown));
    let related = RELATED.iter().filter(|(name, _)| *name == unknown).map(|(_, own)| *own);
    let names = meaning.map(|(name, _)| *name).into_iter().chain(is_time.then_some("budget"));
    let names = names.chain(related);
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
