//! Examples in the help of commands, fitted to the width of the terminal.

use clap::Command;

/// Formats the examples of all commands: each explanation follows its example, or goes below it if
/// the terminal is too narrow.
pub fn align(command: Command, width: usize) -> Command {
    let examples = command.get_after_help().map(|it| break_examples(&it.to_string(), width));
    let command = match examples {
        Some(examples) => command.after_help(examples),
        None => command,
    };
    command.mut_subcommands(|below| align(below, width))
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
}
