//! Lines of errors: the place of a refusal in its file.

use super::contents::{FailedPart, LineSpan};
use super::formats;
use crate::outputs::ToolError;

/// Programs that start tools.
const STARTERS: [&str; 8] =
    ["bash", "sh", "sudo", "mpirun", "mpiexec", "srun", "slurmstepd", "prterun"];
/// Maximum number of lines among which a message is looked for.
const MAX_MESSAGE_LINES: usize = 1000;

/// Finds the first line `PROGRAM: message` of a tool, or of a program that starts tools.
pub(super) fn find_program_message(text: &str) -> Option<(usize, &'static str, &str)> {
    let programs = || formats().map(|format| format.tool).chain(STARTERS);
    let parse = |line: &'_ str| {
        let (name, _) = line.split_once(": ")?;
        let name = name.rsplit('/').next().unwrap_or(name);
        programs().find(|program| *program == name)
    };
    (1..).zip(text.lines().take(MAX_MESSAGE_LINES)).find_map(|(number, line)| {
        let message = line.split_once(": ")?.1.trim();
        Some((number, parse(line)?, message)).filter(|_| !message.is_empty())
    })
}

/// Locates an error: the line that contains its text, or the last line of a truncated part. Without
/// either it is the first line of the part, and without a part the last line of the file.
pub(super) fn locate_error(text: &str, lines: Option<&LineSpan>, error: &ToolError) -> usize {
    let last_line = text.lines().count().max(1);
    locate_text(text, lines, error).unwrap_or(last_line).min(last_line)
}

/// Maximum number of parts without lines that are looked for, each in the whole text.
const MAX_UNPLACED: usize = 10;

/// Locates the error of each failed part, in one pass over the text. The error of a part without
/// lines is looked for in the whole text.
pub(super) fn locate_failures(text: &str, failed: &mut [FailedPart]) {
    for part in failed.iter_mut().filter(|part| part.lines.is_none()).take(MAX_UNPLACED) {
        part.error_line = locate_text(text, None, &part.error);
    }
    let mut order: Vec<(usize, &mut FailedPart)> = failed
        .iter_mut()
        .filter_map(|part| Some((*part.lines.as_ref()?.start(), part)))
        .collect();
    order.sort_by_key(|(start, _)| *start);
    let (mut offset, mut number) = (0, 1);
    for (start, part) in order {
        while number < start
            && let Some(length) = text[offset..].find('\n')
        {
            (offset, number) = (offset + length + 1, number + 1);
        }
        let Some(lines) = part.lines.clone() else { continue };
        let count = lines.end().saturating_sub(number) + 1;
        let within = take_lines(&text[offset..], count);
        let span = 1..=within.lines().count().max(1);
        if let Some(line) = locate_text(within, Some(&span), &part.error) {
            part.error_line = Some(number + line - 1);
        }
    }
}

/// Returns the first lines of a text.
fn take_lines(text: &str, count: usize) -> &str {
    let end = text.match_indices('\n').nth(count.saturating_sub(1));
    end.map_or(text, |(at, _)| &text[..=at])
}

/// Locates the text of an error in the lines of a part.
fn locate_text(text: &str, lines: Option<&LineSpan>, error: &ToolError) -> Option<usize> {
    let token = match error {
        ToolError::InvalidNumber { text, .. } => text.trim_matches('"'),
        ToolError::UnknownColumn { name } => name,
        ToolError::CheckFailed { verdict } | ToolError::SystemError { what: verdict, .. } => {
            verdict
        }
        ToolError::InconsistentLine { line, .. } => line,
        ToolError::Truncated { .. } => {
            return lines.map(|it| *it.end()).or_else(|| Some(text.lines().count().max(1)));
        }
        _ => return lines.map(|it| *it.start()),
    };
    let skipped = lines.map_or(0, |it| it.start().saturating_sub(1));
    let mut behind = text.lines().skip(skipped);
    let found = behind.position(|line| !token.is_empty() && line.contains(token));
    found.map(|at| skipped + at + 1).or_else(|| lines.map(|it| *it.start()))
}
