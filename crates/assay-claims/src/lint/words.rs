//! Words in a text: whole, with or without the ending of a case.

use crate::steps;

/// Maximum length of a case ending of a name: Czech `STREAMu`, Hungarian `SSDkon`, Polish
/// `STREAMem`.
pub(super) const MAX_ENDING: usize = 3;
/// For words without endings.
pub(super) const NO_ENDING: usize = 0;

/// Returns whether a text has a word, with an ending of at most this many letters.
pub(super) fn has_word(text: &str, word: &str, max_ending: usize) -> bool {
    text.match_indices(word).any(|(position, _)| {
        let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
        let after = &text[position + word.len()..];
        let letters = after.chars().take(max_ending + 1).take_while(|c| c.is_alphabetic());
        let ending = letters.count();
        steps::count(ending + 1);
        let rest = after.chars().nth(if ending <= max_ending { ending } else { 0 });
        is_edge(text[..position].chars().next_back()) && is_edge(rest)
    })
}
