//! Arrangement of help: common options first, rare ones only under `--help`, in groups, and
//! examples for every command.

use clap::Command;

/// Commands with more options than this have a short and a long help.
const MANY: usize = 18;

/// Tables of a command line; commands are named with their parents, like `net latency`.
#[derive(Debug, Clone, Copy)]
pub struct HelpLayout {
    /// Options that come first, in this order.
    pub first: &'static [&'static str],
    /// Options that `-h` shows, beside those of one command. All others are under `--help`.
    pub short: &'static [&'static str],
    /// Options of one command that `-h` shows.
    pub short_of_commands: &'static [(&'static str, &'static [&'static str])],
    /// Groups of options in the long help, by heading.
    pub groups: &'static [(&'static str, &'static [&'static str])],
    /// Examples of commands.
    pub examples: &'static [(&'static str, &'static str)],
    /// Commands whose help stays as it is defined.
    pub unarranged: &'static [&'static str],
    /// Groups of commands that the program's own `-h` names below its list, with the words before
    /// each.
    pub rare_commands: &'static [(&'static str, &'static [&'static str])],
    /// Text below those.
    pub short_notes: &'static str,
}

/// Arranges the help of all commands. `is_short` is that of `-h`.
pub fn arrange(command: Command, layout: &HelpLayout, is_short: bool) -> Command {
    let command = if is_short { name_rare_commands(command, layout) } else { command };
    arrange_below(command, "", layout, is_short)
}

/// Names the rare commands below the list instead of in it.
///
/// # Panics
/// If one of them does not exist.
fn name_rare_commands(command: Command, layout: &HelpLayout) -> Command {
    let groups = layout.rare_commands.iter();
    let lines = groups.map(|(words, names)| format!("{words} {}.\n", names.join(", ")));
    let command = command.after_help(lines.collect::<String>() + layout.short_notes);
    let rare = layout.rare_commands.iter().flat_map(|(_, names)| *names);
    rare.fold(command, |command, name| {
        assert!(command.find_subcommand(name).is_some(), "there is no command {name}");
        command.mut_subcommand(name, |rare| rare.hide(true))
    })
}

fn arrange_below(
    command: Command,
    before: &str,
    layout: &HelpLayout,
    is_short: bool,
) -> Command {
    command.mut_subcommands(|below| {
        let name = format!("{before}{}", below.get_name());
        let below = arrange_command(below, &name, layout, is_short);
        arrange_below(below, &format!("{name} "), layout, is_short)
    })
}

fn arrange_command(
    command: Command,
    name: &str,
    layout: &HelpLayout,
    is_short: bool,
) -> Command {
    let examples = layout.examples.iter().find(|(known, _)| *known == name);
    let command = match examples {
        Some((_, text)) => {
            let notes = command.get_after_help().map(|notes| format!("\n\n{notes}"));
            command.after_help(format!("{text}{}", notes.unwrap_or_default()))
        }
        None => command,
    };
    let of_command = layout.short_of_commands.iter().find(|(known, _)| *known == name);
    let of_command = of_command.map(|(_, options)| *options);
    if layout.unarranged.contains(&name) {
        return match of_command {
            Some(common) if is_short => hide_rare_options(command, common),
            Some(_) | None => command,
        };
    }
    let visible = command.get_arguments().filter(|it| !it.is_hide_set()).count();
    if visible <= MANY && of_command.is_none() {
        return command;
    }
    let of_command = of_command.unwrap_or_default();
    let mut position = layout.first.len();
    command.mut_args(|argument| {
        let Some(long) = argument.get_long().map(str::to_owned) else { return argument };
        position += 1;
        let rank = layout.first.iter().position(|it| *it == long).unwrap_or(position);
        let argument = argument.display_order(rank);
        if is_short {
            let is_common = layout.short.iter().chain(of_command).any(|it| *it == long);
            let is_rare = !is_common;
            return argument.help_heading(None::<&str>).hide_short_help(is_rare);
        }
        match layout.groups.iter().find(|(_, options)| options.contains(&long.as_str())) {
            Some((heading, _)) if argument.get_help_heading().is_none() => {
                argument.help_heading(*heading)
            }
            Some(_) | None => argument,
        }
    })
}

/// Hides all options but the common ones in the short help, without a change of their order. An option is
/// named by its long name, or by its letter.
fn hide_rare_options(command: Command, common: &[&str]) -> Command {
    command.mut_args(|argument| {
        let name = argument.get_long().map(str::to_owned);
        let name = name.or_else(|| argument.get_short().map(String::from));
        match name {
            Some(name) if name != "help" && !common.contains(&name.as_str()) => {
                argument.hide_short_help(true)
            }
            Some(_) => argument,
            // The values of a positional argument are in the long help.
            None => argument.hide_possible_values(true),
        }
    })
}
