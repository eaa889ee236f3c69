//! Breaks text into lines by its width in terminal columns.

use crate::locale::NO_BREAK_SPACES;
use std::borrow::Cow;

use assay_model::sanitize::spell_hidden;
use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::UnicodeWidthStr;

/// Returns the width of a text in columns, with hidden characters made visible.
pub(super) fn columns(text: &str) -> usize {
    plain_columns(text).unwrap_or_else(|| spell_hidden(text).width())
}

/// Returns the width of a text of visible Latin-1 characters, or `None` for other text. It needs no
/// Unicode table, and applies to most cells of large tables.
fn plain_columns(text: &str) -> Option<usize> {
    // Fast path for ASCII, where a byte is a column.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Some(text.len());
    }
    let is_plain = |c: char| matches!(c, ' '..='~' | '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{ff}');
    text.chars().try_fold(0, |count, c| is_plain(c).then_some(count + 1))
}

/// Pads `text` with spaces to `width` columns.
pub(super) fn pad_to(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Wraps text at spaces into lines of at most `width` columns. A wider word has its own line, and
/// foreign line breaks cannot begin one. Returns at least one line.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let is_one_line = !text.starts_with(' ') && !text.ends_with(' ') && !text.contains("  ");
    if is_one_line && plain_columns(text).is_some_and(|it| it <= width) {
        return vec![text.to_owned()];
    }
    let options = Options::new(width)
        .break_words(false)
        .word_separator(WordSeparator::Custom(breakable_pieces))
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let text = one_line(text);
    textwrap::wrap(&text, &options).into_iter().map(Cow::into_owned).collect()
}

/// Splits a line into breakable pieces: words, and characters in Chinese and Japanese, which have
/// no spaces. Closing characters never begin a line and opening characters never end one (JIS X
/// 4051).
fn breakable_pieces(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let mut from = 0;
    let pairs = line.char_indices().zip(line.char_indices().skip(1));
    let ends = pairs.filter(|((_, a), (_, b))| may_break(*a, *b)).map(|(_, (at, _))| at);
    let piece = move |end: usize| Word::from(&line[std::mem::replace(&mut from, end)..end]);
    Box::new(ends.chain([line.len()]).filter(|end| *end > 0).map(piece))
}

fn may_break(a: char, b: char) -> bool {
    /// Whether a character is an ideograph, kana or full-width mark; Korean uses spaces.
    const fn is_spaceless(c: char) -> bool {
        matches!(c, '\u{2e80}'..='\u{312f}' | '\u{3190}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}')
    }
    const CLOSING_MARKS: &str =
        "、。，．：；！？）］｝」』】〉》ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ…,.:;!?)]}%";
    const OPENING_MARKS: &str = "（［｛「『【〈《([{±";
    let is_space = |c: char| c == ' ' || NO_BREAK_SPACES.contains(&c);
    if a == ' ' || is_space(b) || NO_BREAK_SPACES.contains(&a) {
        return a == ' ' && b != ' ';
    }
    // Katakana write foreign words, whose parts would be misread as other words.
    let is_katakana = |c: char| ('\u{30a0}'..='\u{30ff}').contains(&c);
    let is_word = is_katakana(a) && is_katakana(b);
    (is_spaceless(a) || is_spaceless(b))
        && !is_word
        && !CLOSING_MARKS.contains(b)
        && !OPENING_MARKS.contains(a)
}

/// Joins all words on one line, however long.
pub(super) fn one_line(text: &str) -> String {
    let is_break = |c: char| c == '\n';
    text.split(is_break).flat_map(words).collect::<Vec<_>>().join(" ")
}

/// Returns the width of the widest word.
pub(super) fn widest_word(text: &str) -> usize {
    if plain_columns(text).is_some() {
        return text.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
    }
    let words = text.split('\n').flat_map(words);
    let widest = |word: String| breakable_pieces(&word).map(|piece| columns(&piece)).max();
    words.filter_map(widest).max().unwrap_or(0)
}

/// Splits text into words; no-break spaces are part of a word.
fn words(text: &str) -> impl Iterator<Item = String> {
    let is_break = |c: char| c.is_whitespace() && !NO_BREAK_SPACES.contains(&c);
    text.split(is_break)
        .filter(|word| !word.is_empty())
        .map(|word| spell_hidden(word).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_without_spaces_are_broken_between_characters() {
        for (text, width, expected) in [
            ("plain words stay whole", 11, "plain words|stay whole"),
            ("延迟始终低于空闲目标的两倍。", 12, "延迟始终低于|空闲目标的两|倍。"),
            ("延迟始终低于空闲目标。", 20, "延迟始终低于空闲目|标。"),
            ("約 7\u{a0}µs（中央値）です", 8, "約 7\u{a0}µs|（中央|値）です"),
            ("測定ツールの", 6, "測定|ツール|の"),
            ("대기 시간이 유휴", 8, "대기|시간이|유휴"),
            ("l3:1 (CPU 4)\u{202f}; vus", 13, "l3:1 (CPU|4)\u{202f}; vus"),
            ("", 8, ""),
        ] {
            assert_eq!(wrap(text, width).join("|"), expected, "{text}");
        }
        for (text, expected) in [("延迟低于两倍。", 4), ("of words", 5)] {
            assert_eq!(widest_word(text), expected, "{text}");
        }
    }
}
