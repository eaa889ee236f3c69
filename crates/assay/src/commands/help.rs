//! `assay help`, `assay completions` and `assay man`, generated from the definition of the options
//! and from the tables of benchmarks and tools.

mod completion;
mod guides;
mod layout;
mod man_page;
mod suggestions;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::net::AddrParseError;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::process::ExitCode;

use assay_adapters::import;
use assay_adapters::tool::TOOLS;
use assay_fleet::fleet_file;
use assay_model::suite::suggest;
use assay_report::build;
use assay_report::document::{Document, Tone};
use assay_report::render::text::{format_definition, wrap_line};
use clap::error::ErrorKind;
use clap::{Command, CommandFactory};
use clap_complete::env::Shells;

use crate::arguments::{
    Arguments, CompletionsArguments, HelpArguments, ManArguments, file_extension,
};
use crate::failure::{EXIT_CODES, exit_code};
use crate::suites;
use crate::terminal::{Terminal, closed_stdout_error, stdout_failure};
use assay_run::failure::{CommandFailure, FailureKind};

pub(crate) use completion::answer_shell;

type ExplainTopic = fn(&Terminal) -> String;

/// Maximum width of help texts; the same as in the definition of the options.
const MAX_HELP_WIDTH: usize = 100;

/// Topics that are not commands, with the functions that print them.
const TOPICS: [(&str, ExplainTopic); 7] = [
    ("methods", methods),
    ("tools", tools),
    ("formats", formats),
    ("suites", suite_help),
    ("fleet-file", fleet_file),
    ("exit-codes", exit_codes),
    ("docs", list_guides),
];

/// Parses again with negative numbers attached to the option before them: clap takes the number in
/// `--budget -5s` for an option. The option then reports a better error.
pub(crate) fn parse_negative_values(
    error: clap::Error,
    words: &[OsString],
) -> Result<Result<Arguments, CommandFailure>, clap::Error> {
    if error.kind() != ErrorKind::UnknownArgument {
        return Err(error);
    }
    let mut joined: Vec<OsString> = Vec::new();
    for word in words {
        let text = word.to_str().unwrap_or_default();
        let is_negative =
            text.starts_with('-') && text[1..].starts_with(|it: char| it.is_ascii_digit());
        let before = joined.last().and_then(|it| it.to_str()).unwrap_or_default();
        match before.strip_prefix('-') {
            Some(option) if is_negative && !option.contains('=') => {
                let between = if option.starts_with('-') { "=" } else { "" };
                let both = format!("{before}{between}{text}");
                joined.pop();
                joined.push(both.into());
            }
            _ => joined.push(word.clone()),
        }
    }
    match file_extension::parse_arguments(&joined) {
        Err(again) if again.kind() == ErrorKind::UnknownArgument => Err(error),
        again => again,
    }
}

/// Prints clap's message about rejected arguments, or the output of `--help` and `--version`. For
/// an option of the emulated tool that is not supported, it prints the reason.
pub(crate) fn report_parse_error(error: clap::Error, words: Vec<OsString>) -> ExitCode {
    let error = suggestions::without_unlikely_suggestions(error);
    let command = words.get(1).and_then(|word| word.to_str()).unwrap_or_default().to_owned();
    let command_path = typed_commands(&words);
    // Help is rendered again for the width of the terminal.
    let error = &match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let is_short = !words.iter().any(|word| word == "--help");
            arranged_command(is_short).try_get_matches_from(words).err().unwrap_or(error)
        }
        _ => error,
    };
    let known = suggestions::unknown_option(error, &command);
    if let Some(failure) = known.or_else(|| suggestions::unknown_command(error, &command)) {
        Terminal::for_process().print_failure(&failure);
        return ExitCode::from(exit_code(failure.kind));
    }
    if let Some(reason) = readable_reason(error) {
        let text = error.render().to_string();
        let rust =
            std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
        let text = with_remedy(&text.replace(&rust, &reason), error.kind(), &command_path);
        Terminal::for_process().note(text.trim_end());
        return ExitCode::from(exit_code(FailureKind::Usage));
    }
    if error.use_stderr() {
        let text = with_remedy(&error.render().to_string(), error.kind(), &command_path);
        Terminal::for_process().note(text.trim_end());
        return ExitCode::from(exit_code(FailureKind::Usage));
    }
    // clap does not write through the terminal.
    match error.print().and_then(|()| closed_stdout_error().map_or(Ok(()), Err)) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
            let failure = stdout_failure(&cause);
            Terminal::for_process().print_failure(&failure);
            ExitCode::from(exit_code(failure.kind))
        }
        // A closed pipe is no failure: the reader has read enough.
        _ => ExitCode::SUCCESS,
    }
}

/// Line at the end of clap's errors, which names no action.
const CLAP_HINT: &str = "For more information, try '--help'.";

/// Replaces clap's last line by a remedy.
fn with_remedy(text: &str, kind: ErrorKind, command: &str) -> String {
    let help = match command {
        "" => "`assay help`".to_owned(),
        command => format!("`assay help {command}`"),
    };
    let remedy = match kind {
        ErrorKind::InvalidSubcommand => format!("{help} lists the commands"),
        ErrorKind::UnknownArgument => format!("{help} lists the options"),
        ErrorKind::ArgumentConflict => format!("leave out one of them; {help} describes both"),
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::NoEquals
        | ErrorKind::TooFewValues
        | ErrorKind::WrongNumberOfValues => format!("add what is missing; {help} has examples"),
        ErrorKind::TooManyValues => format!("leave out what is too much; {help} has examples"),
        _ => format!("{help} describes the values"),
    };
    match text.trim_end().strip_suffix(CLAP_HINT) {
        Some(before) => format!("{}\n  help: {remedy}\n", before.trim_end()),
        None => text.to_owned(),
    }
}

/// Returns the command that the words begin with, with its subcommands.
fn typed_commands(words: &[OsString]) -> String {
    let mut command = Arguments::command();
    let mut names = Vec::new();
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        let Some(below) = command.find_subcommand(word) else { break };
        names.push(below.get_name().to_owned());
        command = below.clone();
    }
    names.join(" ")
}

/// Returns the definition of the options, arranged for the short or the long help.
fn arranged_command(is_short: bool) -> Command {
    with_aligned_examples(layout::arrange(Arguments::command(), is_short))
}

/// Formats the examples of all commands: each explanation follows its example, or goes below it if
/// the terminal is too narrow.
fn with_aligned_examples(command: Command) -> Command {
    let width = Terminal::for_process().width.min(MAX_HELP_WIDTH);
    let examples = command.get_after_help().map(|it| break_examples(&it.to_string(), width));
    let command = match examples {
        Some(examples) => command.after_help(examples),
        None => command,
    };
    command.mut_subcommands(with_aligned_examples)
}

/// Puts the explanations of ` example explanation` lines below the examples if a line is too long;
/// other lines stay.
fn break_examples(text: &str, width: usize) -> String {
    const GAP: &str = "   ";
    let fits = |line: &str| line.chars().count() <= width;
    if text.lines().filter(|line| line.starts_with("  ")).all(fits) {
        return text.to_owned();
    }
    let line = |line: &str| {
        let example = line.strip_prefix("  ").and_then(|it| it.split_once(GAP));
        match example {
            Some((example, why)) => {
                format!("  {}\n      {}", example.trim_end(), why.trim_start())
            }
            None => line.to_owned(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a readable reason for a parse error of the standard library, such as `invalid digit
/// found in string`.
fn readable_reason(error: &clap::Error) -> Option<String> {
    let source = std::error::Error::source(error)?;
    let reason = if let Some(error) = source.downcast_ref::<ParseIntError>() {
        match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                "the number is out of range"
            }
            _ => "expected an integer, like 8",
        }
    } else if source.is::<ParseFloatError>() {
        "expected a number, like 1.5"
    } else if source.is::<AddrParseError>() {
        "expected an address, like 192.0.2.1 or ::1"
    } else {
        // clap's wording: `-1 is not in 0..=4294967295`.
        let words = source.to_string();
        let (value, range) = words.split_once(" is not in ")?;
        let (least, most) = range.split_once("..")?;
        let most = match most.strip_prefix('=') {
            Some(most) => most.to_owned(),
            None => (most.parse::<i64>().ok()? - 1).to_string(),
        };
        return Some(format!("expected an integer from {least} to {most}, found {value}"));
    };
    Some(reason.to_owned())
}

/// Prints the help if the words of an emulated tool contain `-h` or `--help`. Returns whether they
/// do.
pub(crate) fn print_requested_help(
    command: &str,
    words: &[String],
    terminal: &mut Terminal,
) -> bool {
    if !words.iter().any(|word| word == "-h" || word == "--help") {
        return false;
    }
    let mut all = arranged_command(false);
    all.build();
    let of_command = all.find_subcommand_mut(command).expect("a command asks for its own help");
    terminal.print(&of_command.render_long_help().to_string());
    true
}

pub(crate) fn help(
    typed: &HelpArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let explained = match typed.topic.as_slice() {
        [topic] => TOPICS.iter().find(|(name, _)| name == topic),
        _ => None,
    };
    let guide = match typed.topic.as_slice() {
        [topic] => guides::find_guide(topic, |name| {
            Arguments::command().find_subcommand(name).is_some()
        }),
        _ => None,
    };
    let text = match (explained, guide) {
        (Some((_, explain)), _) => explain(terminal),
        (None, Some(text)) => text.to_owned(),
        (None, None) => find_command(&typed.topic)?.render_long_help().to_string(),
    };
    terminal.print(&text);
    Ok(0)
}

pub(crate) fn completions(
    typed: &CompletionsArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let shell = typed.shell.to_string();
    let shells = Shells::builtins();
    let completer = shells.completer(&shell).ok_or_else(|| {
        CommandFailure::usage(format!("completions for {shell} are not supported"))
    })?;
    let mut script = Vec::new();
    completer
        .write_registration(completion::VARIABLE, "assay", "assay", "assay", &mut script)
        .map_err(|error| {
            CommandFailure::new(FailureKind::Internal, "cannot write the script")
                .with_cause(&error)
        })?;
    terminal.print(&String::from_utf8_lossy(&script));
    Ok(0)
}

pub(crate) fn man(typed: &ManArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    let command = find_command(&typed.command)?;
    let page = man_page::render(command).map_err(|error| {
        CommandFailure::new(FailureKind::Internal, "cannot write the man page")
            .with_cause(&error)
    })?;
    terminal.print(&page);
    Ok(0)
}

/// Returns the definition of assay or of one of its commands, with the full name for its page and
/// usage.
fn find_command(names: &[String]) -> Result<Command, CommandFailure> {
    let mut found = arranged_command(false);
    found.build();
    for (depth, name) in names.iter().enumerate() {
        let Some(inner) = found.find_subcommand(name) else {
            let topics = if depth == 0 { &TOPICS[..] } else { &[] };
            let topics = topics.iter().map(|(topic, _)| *topic);
            let known: Vec<&str> =
                found.get_subcommands().map(Command::get_name).chain(topics).collect();
            let words = names[..=depth].join(" ");
            if known.contains(&name.as_str()) {
                return Err(CommandFailure::usage(format!(
                    "`{words}` is a topic, not a command"
                ))
                .advise(format!("print it with `assay help {words}`")));
            }
            let failure =
                CommandFailure::usage(format!("there is no command or topic `{words}`"));
            return Err(match known.as_slice() {
                _ if depth == 0 && suites::is_built_in(name) => failure.advise(format!(
                    "it is a suite: `assay run {name} --dry-run` shows what it measures"
                )),
                [] => failure.advise(format!("`assay help {}`", names[..depth].join(" "))),
                known => failure.advise(suggest(name, known)),
            });
        };
        found = inner.clone();
    }
    if names.is_empty() {
        return Ok(found);
    }
    let full = format!("assay-{}", names.join("-"));
    Ok(found.name(full).bin_name(format!("assay {}", names.join(" "))))
}

/// Rewrites `assay net help throughput`, a form common in other programs, as `assay help net
/// throughput`.
pub(crate) fn move_help_first(mut words: Vec<OsString>) -> Vec<OsString> {
    let asks = words.get(2).is_some_and(|word| word == "help");
    let has_commands = |name: &OsString| {
        let name = name.to_str()?;
        Some(Arguments::command().find_subcommand(name)?.has_subcommands())
    };
    if asks && words.get(1).and_then(has_commands) == Some(true) {
        words.swap(1, 2);
    }
    words
}

fn methods(terminal: &Terminal) -> String {
    terminal.render_document(&build::methods())
}

fn tools(terminal: &Terminal) -> String {
    let mut document = Document::new("Supported tools");
    document.paragraph(
        Tone::Plain,
        "`--by TOOL` measures with an installed tool, `--by all` with assay and every tool found. Tools \
         are searched in PATH, or given by `--tool NAME=PATH`.",
    );
    for tool in TOOLS {
        document.heading(tool.name);
        document.paragraph(Tone::Plain, tool.about);
        document.paragraph(Tone::Plain, tool.detect.hint);
    }
    terminal.render_document(&document)
}

fn formats(terminal: &Terminal) -> String {
    let heading = "Files that `assay import` reads, recognised by their content:";
    let mut text = wrap_line(heading, terminal.width) + "\n\n";
    for format in import::formats() {
        let name = format!("  {}", format.name);
        let _ =
            writeln!(text, "{}", format_definition(&name, 20, format.about, terminal.width));
    }
    text
}

fn suite_help(terminal: &Terminal) -> String {
    let listed = |name: &str, about: &str| {
        format_definition(&format!("  {name}"), 26, about, terminal.width) + "\n"
    };
    let mut text = String::from("Built-in suites:\n\n");
    for (name, _) in suites::BUILT_IN {
        if let Ok(suite) = suites::find_suite(name.as_ref()) {
            text.push_str(&listed(name, &format!("{}, {} s", suite.title, suite.budget_s)));
        }
    }
    for (page, suite) in suites::PAGE_SUITES {
        let about = format!("{suite}, with the rows of that page");
        text.push_str(&listed(page, &about));
    }
    text.push_str("\nYour own suite is a file like this one:\n\n");
    for line in suites::EXAMPLE_SUITE.lines() {
        let _ = writeln!(text, "{}", format!("  {line}").trim_end());
    }
    text
}

fn fleet_file(_: &Terminal) -> String {
    fleet_file::EXAMPLE.to_owned()
}

fn list_guides(terminal: &Terminal) -> String {
    let heading = "Guides, printed by `assay help docs/NAME.md`:";
    let mut text = wrap_line(heading, terminal.width) + "\n\n";
    for (name, title) in guides::guide_titles() {
        let name = format!("  {name}");
        let _ = writeln!(text, "{}", format_definition(&name, 26, title, terminal.width));
    }
    text
}

fn exit_codes(terminal: &Terminal) -> String {
    let mut text = String::new();
    for (code, meaning) in EXIT_CODES {
        let _ = writeln!(
            text,
            "{}",
            format_definition(&code.to_string(), 3, meaning, terminal.width)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_examples_put_explanations_below() {
        let text = "Examples:\n  assay a --b      does this\n  assay c          does that\n\nAnd more.";
        assert_eq!(break_examples(text, 80), text);
        assert_eq!(
            break_examples(text, 24),
            "Examples:\n  assay a --b\n      does this\n  assay c\n      does that\n\nAnd more."
        );
    }

    #[test]
    fn command_definition_is_valid() {
        Arguments::command().debug_assert();
    }
}
