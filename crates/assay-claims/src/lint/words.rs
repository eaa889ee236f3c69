//! Words in a text: whole, with or without the ending of a case.

use crate::steps;

/// Maximum length of a case ending of a name: Czech `STREAMu`, Hungarian `SSDkon`, Polish
/// `STREAMem`.
pub(super) const MAX_ENDING: usize = 3;
/// For words without endings.
pub(super) const NO_ENDING: usize = 0;

/// Returns whether a text has a word, with an ending of at most this many letters.
pub(super) fn has_word(text: &str, word: &str, max_ending: usize) -> bool {
    has_any_word(text, &[word], max_ending)
}

/// Returns whether a text has one of several words, with an ending of at most this many letters.
pub(super) fn has_any_word(text: &str, words: &[&str], max_ending: usize) -> bool {
    find_words(text, words)
        .any(|(at, number)| ends_word(&text[at + words[number].len()..], max_ending))
}

/// Returns the positions of words, each with its number in the list, whatever follows. One pass for
/// all words: most texts of a page are short, and a search for each word would cost more than its
/// text.
pub(super) fn find_words<W: AsRef<str>>(
    text: &str,
    words: &[W],
) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let is_start = |at: &usize| {
        let before = at.checked_sub(1).map(|it| bytes[it]);
        text.is_char_boundary(*at) && !before.is_some_and(|it| it.is_ascii_alphanumeric())
    };
    (0..bytes.len()).filter(is_start).flat_map(move |at| {
        let begins = move |word: &[u8]| {
            word.first() == Some(&bytes[at]) && bytes[at..].starts_with(word)
        };
        let numbered = words.iter().enumerate();
        let found = numbered.filter(move |(_, word)| begins(word.as_ref().as_bytes()));
        found.map(move |(number, _)| (at, number))
    })
}

/// Returns whether a word ends before this text, after an ending of at most this many letters.
pub(super) fn ends_word(after: &str, max_ending: usize) -> bool {
    let letters = after.chars().take(max_ending + 1).take_while(|c| c.is_alphabetic());
    let ending = letters.count();
    steps::count(ending + 1);
    let rest = after.chars().nth(if ending <= max_ending { ending } else { 0 });
    rest.is_none_or(|c| !c.is_ascii_alphanumeric())
}
