//! Breaks text into lines by the columns it takes on a terminal.

use crate::locale::SPACES;
use std::borrow::Cow;

use assay_model::plain::in_columns;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::UnicodeWidthStr;

/// Columns that a text takes, with everything that it hides shown.
pub(super) fn columns(text: &str) -> usize {
    of_plain(text).unwrap_or_else(|| in_columns(text).width())
}

/// Columns of a text that needs no table of Unicode: most cells of large tables.
fn of_plain(text: &str) -> Option<usize> {
    let is_plain = |c: char| matches!(c, ' '..='~' | '\u{a0}');
    text.chars().try_fold(0, |count, c| is_plain(c).then_some(count + 1))
}

/// No-break spaces have done their work once lines are broken.
pub(super) fn plain(text: &str) -> String {
    text.replace(SPACES, " ")
}

/// `text` with spaces up to `width` columns.
pub(super) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Lines of at most `width` columns, broken at spaces. A word that is wider than a line has one to itself, and
/// what others wrote cannot begin one. There is always a line.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let is_one_line = !text.starts_with(' ') && !text.ends_with(' ') && !text.contains("  ");
    if is_one_line && of_plain(text).is_some_and(|it| it <= width) {
        return vec![text.to_owned()];
    }
    let options = Options::new(width)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let text = one_line(text);
    textwrap::wrap(&text, &options).into_iter().map(Cow::into_owned).collect()
}

/// All words on one line, however long.
pub(super) fn one_line(text: &str) -> String {
    let is_break = |c: char| c == '\n';
    text.split(is_break).flat_map(words).collect::<Vec<_>>().join(" ")
}

/// The widest word of a text.
pub(super) fn widest_word(text: &str) -> usize {
    if of_plain(text).is_some() {
        return text.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
    }
    text.split('\n').flat_map(words).map(|word| columns(&word)).max().unwrap_or(0)
}

/// A no-break space belongs to its word.
fn words(text: &str) -> impl Iterator<Item = String> {
    let is_break = |c: char| c.is_whitespace() && c != '\u{a0}';
    text.split(is_break)
        .filter(|word| !word.is_empty())
        .map(|word| in_columns(word).into_owned())
}
