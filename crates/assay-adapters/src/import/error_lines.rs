//! Lines of errors: the place of a refusal in its file.

use super::contents::{FailedPart, FileContents, FilePart, LineSpan};
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

/// Place of an error in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ErrorPlace {
    /// Line, from 1.
    pub line: usize,
    /// Whether nothing sound follows the error.
    pub is_at_end: bool,
}

/// Locates the error of a refused text: the line that its message quotes, or whose figures or
/// label it names. Without such a line it is the last line of a part that is cut off, and the first
/// one of any other part. Without a part it is the last line of the text.
///
/// Such a part is at the end unless a part of `failed` with another error begins behind it. A line
/// that the message names is at the end if all lines behind it are blank.
pub(super) fn locate_error(
    text: &str,
    lines: Option<&LineSpan>,
    error: &ToolError,
    failed: &[FailedPart],
) -> ErrorPlace {
    let last_line = count_lines(text);
    let skipped = lines.map_or(0, |it| it.start().saturating_sub(1));
    let count = lines.map_or(usize::MAX, span_length);
    let rest = || text.lines().skip(skipped);
    let clues = Clues::from_error(error);
    let named = clues.find_most(|| rest().take(count)).or_else(|| clues.find_whole(rest()));
    if let Some(at) = named {
        let line = skipped + at + 1;
        let is_at_end = text.lines().skip(line).all(|it| it.trim().is_empty());
        return ErrorPlace { line, is_at_end };
    }
    let line = match (error, lines) {
        (ToolError::Truncated { .. }, Some(lines)) => *lines.end(),
        (_, Some(lines)) => *lines.start(),
        (_, None) => last_line,
    };
    let is_behind = |part: &FailedPart| {
        let starts = part.lines.as_ref().map(|it| *it.start());
        starts.zip(lines).is_some_and(|(start, lines)| start > *lines.end())
    };
    let is_followed = failed.iter().any(|part| is_behind(part) && part.error != *error);
    ErrorPlace { line: line.min(last_line), is_at_end: !is_followed }
}

/// Locates the error of each failed part, and narrows the lines of parts that are left out to those
/// of their items. Places beyond the budget stay the lines of the part.
pub(super) fn locate_parts(text: &str, contents: &mut FileContents) {
    let mut budget = SearchBudget::new(text);
    locate_failures(text, &mut contents.failed, &mut budget);
    narrow_omissions(text, &mut contents.left_out, &mut budget);
}

/// Comparisons of lines with clues that are left for a text.
struct SearchBudget {
    comparisons: usize,
}

impl SearchBudget {
    /// Maximum number of comparisons of each line: 20 reads of the text with 10 clues.
    const COMPARISONS_PER_LINE: usize = 200;

    fn new(text: &str) -> Self {
        Self { comparisons: Self::COMPARISONS_PER_LINE.saturating_mul(count_lines(text)) }
    }

    /// Spends the comparisons of lines with clues; returns whether as many were left.
    fn spend(&mut self, lines: &LineSpan, clues: usize) -> bool {
        let left = self.comparisons.checked_sub(span_length(lines).saturating_mul(clues));
        self.comparisons = left.unwrap_or(self.comparisons);
        left.is_some()
    }
}

/// Position in a text that moves forward by lines.
struct LineCursor<'t> {
    text: &'t str,
    offset: usize,
    number: usize,
}

impl<'t> LineCursor<'t> {
    const fn new(text: &'t str) -> Self {
        Self { text, offset: 0, number: 1 }
    }

    /// Returns the text of some lines, with the number of the first one. No span may begin before
    /// the previous one.
    fn take(&mut self, lines: &LineSpan) -> (usize, &'t str) {
        while self.number < *lines.start()
            && let Some(length) = self.text[self.offset..].find('\n')
        {
            (self.offset, self.number) = (self.offset + length + 1, self.number + 1);
        }
        let rest = &self.text[self.offset..];
        let end = rest.match_indices('\n').nth(lines.end().saturating_sub(self.number));
        (self.number, end.map_or(rest, |(at, _)| &rest[..=at]))
    }
}

fn count_lines(text: &str) -> usize {
    text.lines().count().max(1)
}

fn span_length(lines: &LineSpan) -> usize {
    (lines.end() + 1).saturating_sub(*lines.start())
}

/// Locates the error of each failed part, in one pass over the text. The error of a part without
/// lines is looked for in the whole text.
fn locate_failures(text: &str, failed: &mut [FailedPart], budget: &mut SearchBudget) {
    let last_line = count_lines(text);
    let mut order: Vec<(LineSpan, &mut FailedPart)> = failed
        .iter_mut()
        .map(|part| (part.lines.clone().unwrap_or(1..=last_line), part))
        .collect();
    order.sort_by_key(|(lines, _)| *lines.start());
    let mut cursor = LineCursor::new(text);
    for (lines, part) in order {
        let clues = Clues::from_error(&part.error);
        let is_cut = matches!(part.error, ToolError::Truncated { .. });
        let end = is_cut.then(|| last_line.min(*lines.end()));
        part.error_line = match clues.count_comparisons() {
            _ if lines.start() == lines.end() => Some(*lines.start()),
            0 => end,
            count if budget.spend(&lines, count) => {
                let (first, within) = cursor.take(&lines);
                clues.find_line(within).map(|at| first + at).or(end)
            }
            _ => None,
        };
    }
}

/// Narrows the lines of parts that are left out to those of their items, in one pass over the text.
fn narrow_omissions(text: &str, parts: &mut [FilePart], budget: &mut SearchBudget) {
    let mut order: Vec<(LineSpan, &mut FilePart)> = parts
        .iter_mut()
        .filter_map(|part| Some((part.lines.clone()?, part)))
        .filter(|(lines, _)| lines.start() < lines.end())
        .collect();
    order.sort_by_key(|(lines, _)| *lines.start());
    let mut cursor = LineCursor::new(text);
    for (lines, part) in order {
        let items = omitted_items(&part.what);
        if items.is_empty() || !budget.spend(&lines, items.len()) {
            continue;
        }
        let (first, within) = cursor.take(&lines);
        if let Some((from, to)) = find_items(within, &items) {
            part.lines = Some(first + from..=first + to);
        }
    }
}

/// Returns the indices of the first and the last line with one of the items.
fn find_items(within: &str, items: &[&str]) -> Option<(usize, usize)> {
    let has_item = |line: &str| items.iter().any(|item| contains_word(line, item));
    let mut found =
        within.lines().enumerate().filter(|(_, line)| has_item(line)).map(|(at, _)| at);
    let first = found.next()?;
    Some((first, found.last().unwrap_or(first)))
}

/// Returns the names that the file has: `loc_cpus_used` of
/// `columns loc_cpus_used of test "tcp_lat"`. A description of the part has none.
fn omitted_items(what: &str) -> Vec<&str> {
    let kinds = ["columns ", "column ", "row of ", "row ", "members "];
    let kind = kinds.iter().find_map(|kind| what.strip_prefix(kind));
    let is_list = kind.is_some() || what.contains(", ");
    let items = kind.unwrap_or(what).split(", ").take(MAX_CLUES);
    items.filter_map(|item| parse_item(item, is_list)).collect()
}

/// Returns the name of an item: in a list, in quotes, or with a mark that prose lacks.
fn parse_item(item: &str, is_list: bool) -> Option<&str> {
    let item = item.split_once(" of ").map_or(item, |(item, _)| item);
    let quoted = item.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    let is_listed = is_list && !item.starts_with("of ");
    let is_name = is_listed || item.contains(['_', '=', '%']);
    let plain = (is_name && !item.contains('"')).then_some(item);
    quoted.or(plain).filter(|it| !it.is_empty())
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
        let quoting = |whole: &'e str| Self {
            whole: Some(whole).filter(|it| !it.is_empty()),
            ..Self::default()
        };
        match error {
            ToolError::InvalidNumber { text, what } => {
                let text = text.trim_matches('"');
                let labels = find_labels(what);
                let whole = Some(text).filter(|it| !it.is_empty());
                Self { whole, words: vec![(text, 2.0)], labels }
            }
            ToolError::UnknownColumn { name } => quoting(name),
            ToolError::CheckFailed { verdict: line }
            | ToolError::Unchecked { verdict: line }
            | ToolError::SystemError { what: line, .. }
            | ToolError::ProcessFailed { last_words: line, .. }
            | ToolError::InconsistentLine { line, .. } => quoting(line),
            // The file lacks what such a message quotes.
            ToolError::Truncated { missing: what } if is_absence(what) => Self::default(),
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

    /// Returns the number of comparisons of a line: clues are counted, and then weighed.
    fn count_comparisons(&self) -> usize {
        2 * (self.words.len() + self.labels.len()) + usize::from(self.whole.is_some())
    }

    /// Returns the index of the line with most clues, or else with the quoted text.
    fn find_line(&self, text: &str) -> Option<usize> {
        self.find_most(|| text.lines()).or_else(|| self.find_whole(text.lines()))
    }

    /// Returns the index of the first line that contains the quoted text.
    fn find_whole<'t>(&self, mut lines: impl Iterator<Item = &'t str>) -> Option<usize> {
        let whole = self.whole?;
        lines.position(|line| line.contains(whole))
    }

    /// Returns the index of the line with most clues; a clue of many lines counts little.
    fn find_most<'t, L: Iterator<Item = &'t str>>(
        &self,
        lines: impl Fn() -> L,
    ) -> Option<usize> {
        if self.words.is_empty() && self.labels.is_empty() {
            return None;
        }
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

/// Whether a message reports an absence: `the averages of run "r" are missing`.
fn is_absence(message: &str) -> bool {
    message.contains(" is missing") || message.contains(" are missing")
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
            let place = locate_error(STREAM, Some(&(1..=5)), &error, &[]);
            assert_eq!(place.line, expected, "{error}");
        }
    }

    #[test]
    fn cut_text_ends_with_its_last_part() {
        const TEXT: &str = "run \"a\"\n1 2\n3\n\nrun \"b\"\n4 5\n";
        let truncated = |missing: &str| ToolError::Truncated { missing: missing.to_owned() };
        let absent = truncated("the mean of run \"a\" is missing");
        let failed = |error: &ToolError| FailedPart::new(Some(5..=6), "run", error.clone());
        let other = contradiction("4 5");
        for (lines, error, follower, expected) in [
            (1..=3, &absent, None, (3, true)),
            (1..=3, &absent, Some(&absent), (3, true)),
            (1..=3, &absent, Some(&other), (3, false)),
            (1..=3, &truncated("the row \"1 2\" has 2 of 3 cells"), None, (2, false)),
            (5..=6, &truncated("the row \"4 5\" has 2 of 3 cells"), None, (6, true)),
        ] {
            let parts: Vec<FailedPart> = follower.into_iter().map(failed).collect();
            let place = locate_error(TEXT, Some(&lines), error, &parts);
            assert_eq!((place.line, place.is_at_end), expected, "{error}");
        }
    }

    /// Failures of parts that overlap are located as long as the budget lasts.
    #[test]
    fn work_for_places_is_bounded() {
        let text = "heading\n".repeat(99) + "Copy: 1.5\n";
        let part = |lines| FailedPart::new(lines, "job", contradiction("1.5 B/s in copy"));
        let last = part(Some(100..=100));
        let failed = (0..2500).map(|_| part(Some(1..=100))).chain([last]).collect();
        let mut contents = FileContents { failed, ..FileContents::default() };
        locate_parts(&text, &mut contents);
        let lines: Vec<Option<usize>> = contents.failed.iter().map(FailedPart::line).collect();
        assert_eq!((lines[0], lines[2499], lines[2500]), (Some(100), Some(1), Some(100)));
        let is_located = |part: &&FailedPart| part.error_line.is_some();
        let located = contents.failed.iter().filter(is_located).count();
        assert!(located < SearchBudget::COMPARISONS_PER_LINE, "{located}");
    }

    /// Each part costs its own lines, not those before it.
    #[test]
    fn omissions_of_many_parts_are_narrowed() {
        let text = "test\n x = 1\n y = 2\n".repeat(1000);
        let mut contents = FileContents::default();
        for at in 0..1000 {
            contents.leave_out(Some(3 * at + 1..=3 * at + 3), "columns y", "no figure");
        }
        locate_parts(&text, &mut contents);
        for (at, part) in contents.left_out.iter().enumerate() {
            assert_eq!(part.lines, Some(3 * at + 3..=3 * at + 3));
        }
    }

    #[test]
    fn omissions_have_the_lines_of_their_items() {
        let text = "a row of a document:\n x = 1\n std-dev=6.7\n y = 2\n z = 3\n HPL 5\n\
                    an earlier state of the run\n";
        for (what, expected) in [
            ("std-dev=6.7", Some(3..=3)),
            ("y, z of test \"a\"", Some(4..=5)),
            ("columns x, z", Some(2..=5)),
            ("std-dev=6", None),
            ("2 rows of messages", None),
            ("row of HPL", Some(6..=6)),
            ("row \"HPL\"", Some(6..=6)),
            ("\"y\"", Some(4..=4)),
            ("column of x", None),
            ("document", None),
            ("an earlier state of the run", None),
        ] {
            let found = find_items(text, &omitted_items(what));
            let lines = found.map(|(first, last)| first + 1..=last + 1);
            assert_eq!(lines, expected, "{what}");
        }
    }
}
