//! Completion of words in a shell, which asks the program for candidates.

use std::ffi::OsStr;
use std::io;

use clap::Command;
use clap_complete::CompleteEnv;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::Shells;

/// Lists the names that complete an argument.
pub type ListNames = fn() -> Vec<String>;

/// Arguments with the names that complete them.
#[derive(Debug, Clone, Copy)]
pub struct CompletedNames {
    /// Commands, or none for all; identifier of the argument; names.
    pub rows: &'static [(&'static [&'static str], &'static str, ListNames)],
    /// Arguments that are files as well.
    pub files: &'static [&'static str],
    /// Commands without completed names.
    pub excluded: &'static [&'static str],
}

/// Answers a shell that asks for candidates or for its script, and ends the process. Returns if no
/// shell asks. A shell sets `variable` to its name.
pub fn answer_shell(variable: &'static str, define: impl Fn() -> Command) {
    CompleteEnv::with_factory(define).var(variable).complete();
}

/// Returns the script for a shell; `None` if the shell is not supported.
pub fn registration_script(
    shell: &str,
    variable: &str,
    program: &str,
) -> io::Result<Option<String>> {
    let shells = Shells::builtins();
    let Some(completer) = shells.completer(shell) else { return Ok(None) };
    let mut script = Vec::new();
    completer.write_registration(variable, program, program, program, &mut script)?;
    Ok(Some(String::from_utf8_lossy(&script).into_owned()))
}

/// Adds the names to the arguments of all commands below.
pub fn add_names(command: Command, names: CompletedNames) -> Command {
    command.mut_subcommands(|below| add_names_to(below, names))
}

fn add_names_to(command: Command, names: CompletedNames) -> Command {
    let name = command.get_name().to_owned();
    if names.excluded.contains(&name.as_str()) {
        return command;
    }
    let command = command.mut_args(|argument| {
        let row = names.rows.iter().find(|(commands, id, _)| {
            argument.get_id() == id
                && (commands.is_empty() || commands.contains(&name.as_str()))
        });
        match row {
            Some((_, id, list)) => {
                let with_files = names.files.contains(id);
                let completer = NameCompleter { list: *list, with_files };
                argument.add(ArgValueCompleter::new(completer))
            }
            None => argument,
        }
    });
    add_names(command, names)
}

/// Completer of one kind of names.
struct NameCompleter {
    list: ListNames,
    with_files: bool,
}

impl ValueCompleter for NameCompleter {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let typed = current.to_string_lossy();
        let all = (self.list)();
        // Of a list, the last name is completed; a label may contain commas.
        let is_one = all.iter().any(|name| name.starts_with(&*typed));
        let comma = typed.rfind(',').filter(|_| !is_one);
        let (before, last) = typed.split_at(comma.map_or(0, |comma| comma + 1));
        let names = complete_name(&all, last).into_iter();
        let mut found: Vec<CompletionCandidate> =
            names.map(|name| CompletionCandidate::new(format!("{before}{name}"))).collect();
        if self.with_files {
            found.extend(PathCompleter::any().complete(current));
        }
        found
    }
}

/// Returns the names that begin with the typed text; if none does, the last parts that do: `hbv4` of
/// `azure/hbv4`.
fn complete_name(names: &[String], typed: &str) -> Vec<String> {
    let begins = |name: &&str| name.starts_with(typed);
    let mut found: Vec<&str> = names.iter().map(String::as_str).filter(begins).collect();
    if found.is_empty() {
        let parts = names.iter().filter_map(|name| name.rsplit_once('/'));
        found = parts.map(|(_, part)| part).filter(begins).collect();
        found.sort_unstable();
        found.dedup();
    }
    found.into_iter().map(str::to_owned).collect()
}
