//! Lines of errors: the place of a refusal in its file.

use super::contents::{FailedPart, FilePart, LineSpan};
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

/// Narrows the lines of parts that are left out to those of their items, as long as the work stays
/// proportional to the file.
pub(super) fn narrow_omissions(text: &str, parts: &mut [FilePart]) {
    /// Maximum number of times that the text is read.
    const MAX_READS: usize = 20;
    let mut budget = MAX_READS.saturating_mul(text.lines().count());
    for part in parts {
        let Some(lines) = part.lines.as_ref().filter(|it| it.start() < it.end()) else {
            continue;
        };
        budget = match budget.checked_sub(*lines.end()) {
            None => return,
            Some(left) => left,
        };
        if let Some(narrow) = narrow_omission(text, lines, &part.what) {
            part.lines = Some(narrow);
        }
    }
}

/// Locates an error in the lines of a part: by the text that it quotes, or else by its clues.
fn locate_text(text: &str, lines: Option<&LineSpan>, error: &ToolError) -> Option<usize> {
    let skipped = lines.map_or(0, |it| it.start().saturating_sub(1));
    let count = lines.map_or(usize::MAX, |it| it.clone().count());
    let within = || text.lines().skip(skipped).take(count);
    let clues = Clues::from_error(error);
    let quoted = clues.whole.filter(|whole| !whole.is_empty());
    let contains =
        |whole: &str| text.lines().skip(skipped).position(|line| line.contains(whole));
    let found = match error {
        ToolError::InvalidNumber { .. } => {
            clues.find_line(within).or_else(|| quoted.and_then(contains))
        }
        _ => quoted.and_then(contains).or_else(|| clues.find_line(within)),
    };
    let end = || match error {
        ToolError::Truncated { .. } => {
            lines.map(|it| *it.end()).or_else(|| Some(text.lines().count().max(1)))
        }
        _ => lines.map(|it| *it.start()),
    };
    found.map(|at| skipped + at + 1).or_else(end)
}

/// Returns the lines of a part that is left out: those that have its listed items, if there are any.
fn narrow_omission(text: &str, lines: &LineSpan, what: &str) -> Option<LineSpan> {
    let start = lines.start().saturating_sub(1);
    let items: Vec<&str> = what.split(", ").take(MAX_CLUES).map(omitted_item).collect();
    let has_item = |line: &str| items.iter().any(|item| contains_word(line, item));
    let within = text.lines().skip(start).take(lines.clone().count());
    let mut found = within.enumerate().filter(|(_, line)| has_item(line)).map(|(at, _)| at);
    let first = found.next()?;
    let last = found.last().unwrap_or(first);
    Some(start + first + 1..=start + last + 1)
}

/// Returns the name that the file has: `loc_cpus_used` of `columns loc_cpus_used of test "tcp_lat"`.
fn omitted_item(item: &str) -> &str {
    let item = item.split_once(" of ").map_or(item, |(item, _)| item);
    let kinds = ["columns ", "column ", "row of ", "row ", "members "];
    let item = kinds.iter().find_map(|kind| item.strip_prefix(kind)).unwrap_or(item);
    item.trim_matches('"')
}

/// Maximum number of clues of a message.
const MAX_CLUES: usize = 20;
/// Words that begin lines of prose.
const COMMON_WORDS: [&str; 8] = ["the", "and", "are", "for", "not", "test", "this", "all"];

/// Words by which a message names its place in the file.
#[derive(Default)]
struct Clues<'e> {
    /// Text of a line.
    whole: Option<&'e str>,
    /// Quoted texts and figures, with their weights.
    words: Vec<(&'e str, f64)>,
    /// Words that may be the label of a row.
    labels: Vec<&'e str>,
}

impl<'e> Clues<'e> {
    fn from_error(error: &'e ToolError) -> Self {
        let quoting = |whole: &'e str| Self { whole: Some(whole), ..Self::default() };
        match error {
            ToolError::InvalidNumber { text, what } => {
                let text = text.trim_matches('"');
                let labels = find_labels(what);
                Self { whole: Some(text), words: vec![(text, 2.0)], labels }
            }
            ToolError::UnknownColumn { name } => quoting(name),
            ToolError::CheckFailed { verdict: line }
            | ToolError::Unchecked { verdict: line }
            | ToolError::SystemError { what: line, .. }
            | ToolError::ProcessFailed { last_words: line, .. }
            | ToolError::InconsistentLine { line, .. } => quoting(line),
            ToolError::Truncated { missing: what } | ToolError::Missing { what, .. } => {
                Self { words: find_quoted(what), ..Self::default() }
            }
            ToolError::Contradiction { what } => {
                let mut words = find_quoted(what);
                words.extend(find_figures(what).map(|figure| (figure, 1.0)));
                words.truncate(MAX_CLUES);
                Self { whole: None, words, labels: find_labels(what) }
            }
            _ => Self::default(),
        }
    }

    /// Returns the index of the line with most clues; a clue of many lines counts little.
    fn find_line<'t, L: Iterator<Item = &'t str>>(
        &self,
        lines: impl Fn() -> L,
    ) -> Option<usize> {
        let mut counts = vec![0.0; self.words.len() + self.labels.len()];
        for line in lines() {
            for (count, found) in counts.iter_mut().zip(self.find_in(line)) {
                *count += f64::from(u8::from(found));
            }
        }
        let weights = self.words.iter().map(|(_, weight)| *weight);
        let weights = weights.chain(self.labels.iter().map(|_| 1.0));
        let values: Vec<f64> = weights
            .zip(&counts)
            .map(|(weight, count)| weight / f64::max(*count, 1.0))
            .collect();
        let score = |line: &str| -> f64 {
            self.find_in(line).zip(&values).filter(|(found, _)| *found).map(|(_, it)| it).sum()
        };
        let mut best = (0.0, None);
        for (at, line) in lines().enumerate() {
            let value = score(line);
            if value > best.0 {
                best = (value, Some(at));
            }
        }
        best.1
    }

    /// Returns for each clue whether a line has it.
    fn find_in(&self, line: &str) -> impl Iterator<Item = bool> {
        let label = line.split_whitespace().next().unwrap_or_default();
        let label = label.trim_matches(|it: char| !it.is_alphanumeric());
        let words = self.words.iter().map(move |(word, _)| contains_word(line, word));
        words.chain(self.labels.iter().map(move |it| it.eq_ignore_ascii_case(label)))
    }
}

/// Returns the quoted texts of a message, which count twice.
fn find_quoted(message: &str) -> Vec<(&str, f64)> {
    message.split('"').skip(1).step_by(2).take(MAX_CLUES).map(|text| (text, 2.0)).collect()
}

/// Returns the words of a message, without their punctuation.
fn find_words(message: &str) -> impl Iterator<Item = &str> {
    let is_edge = |it: char| !it.is_alphanumeric();
    message.split_whitespace().map(move |word| word.trim_matches(is_edge))
}

fn find_figures(message: &str) -> impl Iterator<Item = &str> {
    let is_figure =
        |word: &&str| word.len() > 1 && word.contains(|it: char| it.is_ascii_digit());
    find_words(message).filter(is_figure)
}

fn find_labels(message: &str) -> Vec<&str> {
    let is_label = |word: &&str| {
        word.len() > 2 && word.chars().all(char::is_alphabetic) && !COMMON_WORDS.contains(word)
    };
    find_words(message).filter(is_label).take(MAX_CLUES).collect()
}

/// Whether a line contains a text that does not continue a word or number of the line.
fn contains_word(line: &str, word: &str) -> bool {
    let is_part = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    !word.is_empty()
        && line.match_indices(word).any(|(at, _)| {
            let (before, behind) = (&line[..at], &line[at + word.len()..]);
            let continues = behind.strip_prefix('.').unwrap_or(behind).chars().next();
            !is_part(before.chars().next_back())
                && !before.ends_with('.')
                && !is_part(continues)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contradiction(what: &str) -> ToolError {
        ToolError::Contradiction { what: what.to_owned() }
    }

    #[test]
    fn errors_are_located_by_their_clues() {
        const STREAM: &str = "STREAM version 5.10\nFunction rate avg min max\n\
                              Copy: 19000.5 0.0130 0.0120 0.0140\n\
                              Triad: 19200.0 0.0120 0.0125 0.0140\nend";
        let truncated = |missing: &str| ToolError::Truncated { missing: missing.to_owned() };
        let number = |what: &str, text: &str| ToolError::InvalidNumber {
            what: what.to_owned(),
            text: text.to_owned(),
        };
        let failed = ToolError::ProcessFailed {
            how: "stream reported".to_owned(),
            last_words: "end".to_owned(),
        };
        for (error, expected) in [
            (contradiction("of triad, the mean and longest time are out of order"), 4),
            (contradiction("8 B in 0.0120 s are not 19000.5 B/s"), 3),
            (contradiction("2 rows \"Copy:\" instead of one"), 3),
            (contradiction("two tests begin"), 1),
            (truncated("the row \"Triad:\" has 2 of 4 numbers"), 4),
            (truncated("\"Solution Validates\" is missing"), 5),
            (number("the rate of triad", "0.0140"), 4),
            (number("the rate of copy", "0.0140"), 3),
            (number("a time", "0.0125"), 4),
            (failed, 5),
        ] {
            assert_eq!(locate_error(STREAM, Some(&(1..=5)), &error), expected, "{error}");
        }
    }

    #[test]
    fn omissions_have_the_lines_of_their_items() {
        let text = "a:\n x = 1\n std-dev=6.7\n y = 2\n z = 3\n";
        for (what, expected) in [
            ("std-dev=6.7", Some(3..=3)),
            ("y, z of test \"a\"", Some(4..=5)),
            ("columns x, z", Some(2..=5)),
            ("std-dev=6", None),
            ("2 rows of messages", None),
        ] {
            assert_eq!(narrow_omission(text, &(1..=5), what), expected, "{what}");
        }
    }
}
