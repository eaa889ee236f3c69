//! Errors of clap in readable words, each with a remedy.

use std::ffi::OsString;
use std::net::AddrParseError;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use assay_model::spelling::nearest_word;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Formats an error. `help` is the command that prints the help of the command concerned, in
/// backquotes.
pub fn describe(error: &clap::Error, help: &str) -> String {
    let mut text = error.render().to_string();
    if let Some(reason) = readable_reason(error) {
        let rust =
            std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
        text = text.replace(&rust, &reason);
    }
    with_remedy(&text, error.kind(), help)
}

/// Line at the end of clap's errors, which names no action.
const CLAP_HINT: &str = "For more information, try '--help'.";

/// Replaces clap's last line by a remedy.
fn with_remedy(text: &str, kind: ErrorKind, help: &str) -> String {
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

/// Returns the command that the words begin with, with its subcommands.
pub fn typed_commands(mut command: Command, words: &[OsString]) -> String {
    let mut names = Vec::new();
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        let Some(below) = command.find_subcommand(word) else { break };
        names.push(below.get_name().to_owned());
        command = below.clone();
    }
    names.join(" ")
}

/// Attaches negative numbers to the option before them: clap takes the number in `--budget -5s` for
/// an option.
pub fn join_negative_values(words: &[OsString]) -> Vec<OsString> {
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
    joined
}

/// Finds the commands below one that have an option, except those with the options of others.
pub fn find_commands_with(
    command: &Command,
    before: &str,
    (long, excluded): (&str, &[&str]),
    found: &mut Vec<String>,
) {
    for command in command.get_subcommands() {
        let name = command.get_name();
        let path = format!("{before} {name}");
        let has = |it: &clap::Arg| it.get_long() == Some(long) && !it.is_hide_set();
        if !excluded.contains(&name) && command.get_arguments().any(has) {
            found.push(format!("`{path}`"));
        }
        find_commands_with(command, &path, (long, excluded), found);
    }
}

/// Removes clap's far-fetched suggestions: it considers words similar that share a letter or two.
pub fn without_unlikely_suggestions(mut error: clap::Error) -> clap::Error {
    let Some(given) = unknown_argument(&error) else { return error };
    let is_far = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(offered)) => {
            nearest_word(given, std::iter::once(offered.as_str())).is_none()
        }
        _ => false,
    };
    // The hint that a run may be named like an option is useless.
    error.remove(ContextKind::Suggested);
    if is_far {
        error.remove(ContextKind::SuggestedArg);
        // The usage contains the suggestion.
        error.remove(ContextKind::Usage);
    }
    error
}

/// Returns the option that the command does not have.
pub fn unknown_argument(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(option) if error.kind() == ErrorKind::UnknownArgument => {
            Some(option.split('=').next().unwrap_or(option))
        }
        _ => None,
    }
}
