//! `assay help`, `assay completions` and `assay man`, generated from the definition of the options
//! and from the tables of benchmarks and tools.

mod completion;
mod guides;
mod layout;
mod suggestions;
mod tool_version;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use assay_adapters::import;
use assay_adapters::tool::TOOLS;
use assay_fleet::fleet_file;
use assay_help::man_page::{self, ManSections};
use assay_help::{errors, examples};
use assay_model::suite::suggest;
use assay_report::build;
use assay_report::document::{Document, Tone};
use assay_report::render::text::{format_definition, wrap_line};
use clap::error::ErrorKind;
use clap::{Command, CommandFactory};

use crate::arguments::{
    Arguments, CompletionsArguments, HelpArguments, ManArguments, file_extension,
};
use crate::failure::{EXIT_CODES, exit_code};
use crate::suites;
use crate::terminal::{Terminal, closed_stdout_error, stdout_failure};
use assay_run::failure::{CommandFailure, FailureKind};

pub(crate) use completion::answer_shell;
use layout::LAYOUT;
pub(crate) use tool_version::requested_version;

type ExplainTopic = fn(&Terminal) -> String;

/// Maximum width of help texts; the same as in the definition of the options.
const MAX_HELP_WIDTH: usize = 100;

/// Files of the program, with their meaning.
const FILES: &[(&str, &str)] = &[
    ("$XDG_DATA_HOME/assay, ~/.local/share/assay", "stored runs; another folder by --store"),
    (
        "*.toml",
        "suites, fleet files and files of expectations: `assay help suites`, `assay help fleet-file`, `assay help docs/references.md`",
    ),
];

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

/// Parses again with negative numbers attached to the option before them. The option then reports a
/// better error.
pub(crate) fn parse_negative_values(
    error: clap::Error,
    words: &[OsString],
) -> Result<Result<Arguments, CommandFailure>, clap::Error> {
    if error.kind() != ErrorKind::UnknownArgument {
        return Err(error);
    }
    match file_extension::parse_arguments(&errors::join_negative_values(words)) {
        Err(again) if again.kind() == ErrorKind::UnknownArgument => Err(error),
        again => again,
    }
}

/// Prints clap's message about rejected arguments, or the output of `--help` and `--version`. For
/// an option of the emulated tool that is not supported, it prints the reason.
pub(crate) fn report_parse_error(error: clap::Error, words: Vec<OsString>) -> ExitCode {
    let error = errors::without_unlikely_suggestions(error);
    let command = words.get(1).and_then(|word| word.to_str()).unwrap_or_default().to_owned();
    let command_path = errors::typed_commands(Arguments::command(), &words);
    // Help is rendered again for the width of the terminal.
    let error = &match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let is_short = !words.iter().any(|word| word == "--help");
            arranged_command(is_short).try_get_matches_from(words).err().unwrap_or(error)
        }
        _ => error,
    };
    let known = suggestions::unknown_option(error, (&command, &command_path))
        .or_else(|| suggestions::target_for_operation(error, &command))
        .or_else(|| suggestions::unknown_command(error, &command));
    if let Some(failure) = known {
        Terminal::for_process().print_failure(&failure);
        return ExitCode::from(exit_code(failure.kind));
    }
    if error.use_stderr() {
        let help = match command_path.as_str() {
            "" => "`assay help`".to_owned(),
            path => format!("`assay help {path}`"),
        };
        Terminal::for_process().note(errors::describe(error, &help).trim_end());
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

/// Returns the definition of the options, arranged for the short or the long help.
fn arranged_command(is_short: bool) -> Command {
    let width = Terminal::for_process().width.min(MAX_HELP_WIDTH);
    examples::align(assay_help::arrange(Arguments::command(), &LAYOUT, is_short), width)
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
    let script =
        assay_help::completion::registration_script(&shell, completion::VARIABLE, "assay");
    let script = script.map_err(|error| {
        CommandFailure::new(FailureKind::Internal, "cannot write the script").with_cause(&error)
    })?;
    let script = script.ok_or_else(|| {
        CommandFailure::usage(format!("completions for {shell} are not supported"))
    })?;
    terminal.print(&script);
    Ok(0)
}

pub(crate) fn man(typed: &ManArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    let command = find_command(&typed.command)?;
    let sections = ManSections { files: FILES, exit_codes: &EXIT_CODES };
    let page = man_page::render(command, sections).map_err(|error| {
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
                _ if depth == 0
                    && let Some(advice) = suggestions::topic_advice(name) =>
                {
                    failure.advise(advice)
                }
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
    fn command_definition_is_valid() {
        Arguments::command().debug_assert();
    }
}
