//! Commands in the fenced `sh` blocks of Markdown pages, with the treatment that the info string of their block asks
//! for. Never starts a command.
//!
//! An info string such as `sh not run (HOST): another machine; plan only: minutes` has a clause for the lines that
//! contain the text in parentheses, and one for all others. The reason is required.

use anyhow::{Context as _, Result, bail, ensure};

/// Treatment of a command by the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandTreatment {
    /// The command is executed as it is.
    Run,
    /// The command is executed with `--dry-run`.
    PlanOnly,
    /// The command needs another machine, a device, a tool or a signal; its words are parsed only.
    NotRun,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageCommand {
    /// Line of the page, counted from 1.
    pub line: usize,
    /// Text of the command, with continuation lines joined.
    pub text: String,
    /// Treatment of the command by the tests.
    pub treatment: CommandTreatment,
}

/// Treatment of the lines of a block that contain a text.
struct TreatmentClause {
    treatment: CommandTreatment,
    /// Text that the lines contain; empty for all lines.
    text: String,
}

/// Reads the commands of all `sh` blocks of a page.
///
/// # Errors
/// A malformed info string, a clause without a line, and a command of assay in an indented block.
pub fn read_page_commands(page: &str) -> Result<Vec<PageCommand>> {
    let mut commands = Vec::new();
    let mut lines = page.lines().enumerate();
    let mut before = "";
    while let Some((number, line)) = lines.next() {
        let is_indented_command = before.is_empty() && line.starts_with("    assay ");
        ensure!(!is_indented_command, "line {}: write commands in a block of `sh`", number + 1);
        before = line;
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<_> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
        let mut words = info.splitn(2, ' ');
        if words.next() == Some("sh") {
            let found = read_block(&block, words.next().unwrap_or_default());
            commands.extend(found.with_context(|| format!("line {}", number + 1))?);
        }
    }
    Ok(commands)
}

/// Reads the code spans of a page's text that are commands of assay without omissions, such as `assay list --json`.
pub fn read_inline_commands(page: &str) -> Vec<PageCommand> {
    let mut commands = Vec::new();
    let mut blocks = page.split("\n```");
    let mut line = 1;
    while let Some(text) = blocks.next() {
        for (number, span) in text.split('`').enumerate() {
            let text = span.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_command = number % 2 == 1 && text.starts_with("assay ");
            if is_command && !text.contains(['…', '|', '[', '<']) {
                commands.push(PageCommand { line, text, treatment: CommandTreatment::NotRun });
            }
            line += span.matches('\n').count();
        }
        // The next part is the inside of a fenced block, and the last line of that one is its fence.
        line += blocks.next().map_or(0, |block| block.matches('\n').count()) + 2;
    }
    commands
}

/// Reads the commands of a block, whose info string after `sh` is given.
fn read_block(block: &[(usize, &str)], info: &str) -> Result<Vec<PageCommand>> {
    let clauses = info.split("; ").filter(|it| !it.is_empty()).map(parse_clause);
    let clauses = clauses.collect::<Result<Vec<_>>>()?;
    for TreatmentClause { text, .. } in &clauses {
        let is_used = block.iter().any(|(_, line)| line.contains(text));
        ensure!(is_used, "no line contains `{text}`");
    }
    let mut commands: Vec<PageCommand> = Vec::new();
    let mut continues = false;
    for (number, line) in block.iter().filter(|(_, line)| !line.is_empty()) {
        let (part, continues_next) = match line.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (*line, false),
        };
        if let Some(command) = commands.last_mut().filter(|_| continues) {
            command.text.push_str(part.trim_start());
        } else {
            let treatment = CommandTreatment::Run;
            commands.push(PageCommand { line: number + 1, text: part.to_owned(), treatment });
        }
        continues = continues_next;
    }
    for command in &mut commands {
        let clause = clauses.iter().find(|clause| command.text.contains(&clause.text));
        command.treatment = clause.map_or(CommandTreatment::Run, |clause| clause.treatment);
    }
    Ok(commands)
}

/// Parses a clause such as `not run (HOST): another machine`.
fn parse_clause(clause: &str) -> Result<TreatmentClause> {
    let (head, reason) = clause.split_once(": ").context("a clause lacks its reason")?;
    ensure!(!reason.trim().is_empty(), "a clause lacks its reason");
    let (words, text) = match head.split_once(" (") {
        Some((words, text)) => (words, text.strip_suffix(')').context("a `)` is missing")?),
        None => (head, ""),
    };
    let treatment = match words {
        "not run" => CommandTreatment::NotRun,
        "plan only" => CommandTreatment::PlanOnly,
        other => bail!("`{other}` is neither `not run` nor `plan only`"),
    };
    Ok(TreatmentClause { treatment, text: text.to_owned() })
}

impl PageCommand {
    /// Returns the words of each call of assay in the command, as a shell splits them.
    pub fn assay_calls(&self) -> Vec<Vec<String>> {
        let mut calls: Vec<Vec<String>> = Vec::new();
        let mut is_in_call = false;
        for token in split_words(&self.text) {
            match token {
                ShellToken::Operator => is_in_call = false,
                ShellToken::Word(word) if is_in_call => {
                    calls.last_mut().into_iter().for_each(|call| call.push(word.clone()));
                }
                ShellToken::Word(word) if word == "assay" => {
                    is_in_call = true;
                    calls.push(vec![word]);
                }
                ShellToken::Word(_) => {}
            }
        }
        // A lone word is a name, such as that of a folder.
        calls.retain(|call| call.len() > 1);
        calls
    }

    /// Returns the command with `--dry-run`, before the words of a program, redirections and comments.
    pub fn as_plan(&self) -> String {
        let option = "--dry-run";
        if self.text.contains(option) {
            return self.text.clone();
        }
        let (head, tail) = self.text.split_at(self.options_end());
        format!("{head} {option}{tail}")
    }

    /// Returns the offset at which the options of the first call end.
    fn options_end(&self) -> usize {
        let mut quote = None;
        for (offset, character) in self.text.char_indices() {
            match quote {
                Some(open) if open == character => quote = None,
                None if matches!(character, '\'' | '"') => quote = Some(character),
                Some(_) | None => {}
            }
            let rest = &self.text[offset..];
            let ends = [" -- ", " | ", " > ", " && ", "  #"];
            if quote.is_none() && ends.iter().any(|end| rest.starts_with(end)) {
                return offset;
            }
        }
        self.text.len()
    }
}

/// Part of a command line.
enum ShellToken {
    Word(String),
    /// Operator that ends a call: a pipe, a redirection, a list.
    Operator,
}

/// Splits a line into words and operators; quotes are removed, and a comment ends the line.
fn split_words(line: &str) -> Vec<ShellToken> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '|' | '>' | '<' | '&' | ';' | '(' | ')') => {
                tokens.extend(word.take().map(ShellToken::Word));
                if character != ' ' {
                    tokens.push(ShellToken::Operator);
                }
            }
            (_, _) => word.get_or_insert_default().push(character),
        }
    }
    tokens.extend(word.map(ShellToken::Word));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn treatments(page: &str) -> Vec<(usize, CommandTreatment)> {
        let commands = read_page_commands(page).unwrap();
        commands.iter().map(|it| (it.line, it.treatment)).collect()
    }

    #[test]
    fn info_string_selects_the_treatment() {
        use CommandTreatment::{NotRun, PlanOnly, Run};
        let page = "text\n```sh not run (HOST): far; plan only: long\na HOST \\\n  b\nc\n```\n\
            ```sh\nd\n```\n```text\n$ e\n```\n";
        assert_eq!(treatments(page), [(3, NotRun), (5, PlanOnly), (8, Run)]);
        assert_eq!(read_page_commands(page).unwrap()[0].text, "a HOST b");
    }

    #[test]
    fn rejects_clauses_without_reason_or_line() {
        for page in [
            "```sh not run\na\n```\n",
            "```sh not run: \na\n```\n",
            "```sh skipped: far\na\n```\n",
            "```sh not run (b): far\na\n```\n",
            "text\n\n    assay run\n",
        ] {
            assert!(read_page_commands(page).is_err(), "{page}");
        }
    }

    #[test]
    fn finds_code_spans_with_their_lines() {
        let page = "# a\nb `assay\nlist` c\n\n```sh\nassay `x`\n```\nd `assay run SUITE…` `assay show`\n";
        let found = read_inline_commands(page);
        let found: Vec<_> = found.iter().map(|it| (it.line, it.text.as_str())).collect();
        assert_eq!(found, [(2, "assay list"), (8, "assay show")]);
    }

    #[test]
    fn finds_the_calls_of_assay() {
        let calls = |text: &str| {
            let text = text.to_owned();
            let command = PageCommand { line: 1, text, treatment: CommandTreatment::Run };
            (command.assay_calls(), command.as_plan())
        };
        let (found, plan) = calls("assay exec 'a | b' --to \"c\"d -- e > f  # assay g");
        assert_eq!(found, [["assay", "exec", "a | b", "--to", "cd", "--", "e"]]);
        assert_eq!(plan, "assay exec 'a | b' --to \"c\"d --dry-run -- e > f  # assay g");
        let (found, plan) = calls("cd assay && assay list && A=b assay run --dry-run");
        assert_eq!(found, [&["assay", "list"][..], &["assay", "run", "--dry-run"]]);
        assert_eq!(plan, "cd assay && assay list && A=b assay run --dry-run");
    }
}
