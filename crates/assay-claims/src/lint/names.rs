//! Rules for names that must not be translated, and for words that mix two scripts.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::checks::Check;
use super::words::{NO_ENDING, ends_word, find_words, has_word};
use super::{Linter, page_span};
use crate::figure::is_unspaced_script;
use crate::page::{LintPage, PageText};
use crate::steps;

/// Names that are recognised in Cyrillic transliteration. `FIO` is left out: "ФИО" is a Russian
/// word.
const TRANSLITERATED_NAMES: [&str; 11] =
    ["Rpeak", "Rmax", "HPL", "IOR", "OSU", "CCX", "HB", "HC", "Triad", "Linpack", "RDMA"];
/// Names that a cell must contain if the same cell of the source does.
const PROTECTED_NAMES: [&str; 25] = [
    "STREAM",
    "Triad",
    "HPL",
    "Rpeak",
    "Rmax",
    "IOR",
    "FIO",
    "OSU",
    "CCX",
    "CH4",
    "RDMA",
    "NVMe",
    "SSD",
    "RAID0",
    "MPICH",
    "OpenMPI",
    "MVAPICH2",
    "Intel MPI",
    "Linpack",
    "MLC",
    "AVX-512",
    "P30",
    "Azure NetApp Files",
    "Vdbench",
    "InfiniBand",
];

/// The protected names in lower case.
static LOWER_NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| PROTECTED_NAMES.iter().map(|it| it.to_lowercase()).collect());

/// Protected name in any letters, and in lower case.
pub(super) type ProtectedName = (&'static str, &'static str);

/// Returns the protected names of a text, in the order of their list. STREAM is an ordinary word in
/// small letters.
pub(super) fn find_protected_names(
    text: &str,
    lower: &str,
) -> impl Iterator<Item = ProtectedName> {
    let ends = |(at, number): &(usize, usize)| {
        ends_word(&lower[at + LOWER_NAMES[*number].len()..], NO_ENDING)
    };
    let found: BTreeSet<usize> =
        find_words(lower, &LOWER_NAMES).filter(ends).map(|(_, number)| number).collect();
    let names = found.into_iter().map(|it| (PROTECTED_NAMES[it], LOWER_NAMES[it].as_str()));
    names.filter(move |(name, _)| *name != "STREAM" || has_word(text, name, NO_ENDING))
}

pub(super) fn check(lint: &mut Linter<'_>, page: &LintPage) {
    for text in page.texts() {
        check_transliteration(lint, text);
        check_mixed_scripts(lint, text);
        check_product_names(lint, text);
    }
}

/// Transliterates a name to Cyrillic, as translation programs do.
pub(super) fn to_cyrillic(name: &str) -> String {
    let letter = |c: char| match c.to_ascii_lowercase() {
        'a' => "а",
        'b' => "б",
        'c' | 'k' => "к",
        'd' => "д",
        'e' => "е",
        'h' => "х",
        'i' => "и",
        'l' => "л",
        'm' => "м",
        'n' => "н",
        'o' => "о",
        'p' => "п",
        'r' => "р",
        's' => "с",
        't' => "т",
        'u' => "у",
        'x' => "кс",
        _ => "",
    };
    name.chars().map(letter).collect()
}

/// Returns the words of a text with their byte offsets. A Korean particle after a Latin name is a
/// word of its own.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let script_class = |c: char| c.is_alphanumeric().then(|| is_unspaced_script(c));
    let mut offset = 0;
    std::iter::from_fn(move || {
        loop {
            let character = text[offset..].chars().next()?;
            let length = match script_class(character) {
                None => character.len_utf8(),
                class => {
                    let end = text[offset..].find(|c| script_class(c) != class);
                    let length = end.unwrap_or(text.len() - offset);
                    steps::count(length);
                    length
                }
            };
            let start = offset;
            offset += length;
            if script_class(character).is_some() {
                return Some((start, &text[start..offset]));
            }
        }
    })
}

const fn is_cyrillic(c: char) -> bool {
    matches!(c, 'А'..='я')
}

fn check_transliteration(lint: &mut Linter<'_>, text: &PageText) {
    for (start, word) in words(&text.text) {
        if !word.starts_with(is_cyrillic) {
            continue;
        }
        let lower = word.to_lowercase();
        let is_name = |name: &&&str| {
            let transliterated = to_cyrillic(name);
            let rest = lower.strip_prefix(&transliterated);
            // Names of several letters may have a case ending.
            rest.is_some_and(|rest| {
                rest.is_empty() || (name.len() >= 5 && rest.chars().count() <= 2)
            })
        };
        if let Some(name) = TRANSLITERATED_NAMES.iter().find(is_name) {
            let message =
                format!("`{word}` is a transliteration of {name}: names are not translated");
            let fix = (lower == to_cyrillic(name)).then(|| (*name).to_owned());
            lint.add_if(
                lint.is_translated,
                Check::Transliteration,
                page_span(text, (start, start + word.len())),
                message,
                fix,
            );
        }
    }
}

/// Returns whether a word consists of a part in each script: a Latin name with a Cyrillic ending
/// (`Redisом`, `IDы`), or an abbreviation behind a Cyrillic word (`микроSD`). The ends of ranges
/// of letters have one letter of each: `[a-zA-Zа-я]`.
fn is_compound_of_scripts(word: &str) -> bool {
    const MIN_NAME: usize = 3;
    const MIN_ABBREVIATION: usize = 2;
    let is_latin = |c: char| c.is_ascii_alphanumeric();
    let is_name = |part: &str| {
        part.len() >= MIN_NAME
            || part.len() >= MIN_ABBREVIATION && part.chars().all(|c| c.is_ascii_uppercase())
    };
    let has_latin = |part: &str| part.contains(|c: char| c.is_ascii_alphabetic());
    let ending = word.trim_start_matches(is_latin);
    let head = word.trim_end_matches(is_latin);
    let (name, abbreviation) = (&word[..word.len() - ending.len()], &word[head.len()..]);
    word.chars().count() == 2
        || is_name(name) && !has_latin(ending)
        || head.chars().count() >= MIN_NAME && is_name(abbreviation) && !has_latin(head)
}

/// Reports words with Latin and Cyrillic letters.
fn check_mixed_scripts(lint: &mut Linter<'_>, text: &PageText) {
    for (start, word) in words(&text.text) {
        let latin = word.chars().any(|c| c.is_ascii_alphabetic());
        if latin && word.contains(is_cyrillic) {
            let message =
                format!("`{word}` mixes Latin and Cyrillic letters: searches do not find it");
            lint.add_if(
                !is_compound_of_scripts(word),
                Check::MixedWord,
                page_span(text, (start, start + word.len())),
                message,
                None,
            );
        }
    }
}

/// Reports "Azure NetApp Files" in another order, or with its last word translated.
fn check_product_names(lint: &mut Linter<'_>, text: &PageText) {
    if !text.text.contains("NetApp") {
        return;
    }
    let all: Vec<(usize, &str)> = words(&text.text).collect();
    for (index, (start, word)) in
        all.iter().enumerate().filter(|(_, (_, word))| *word == "NetApp")
    {
        let word_at = |offset: isize| {
            let position = index.checked_add_signed(offset)?;
            all.get(position).map(|(_, word)| *word)
        };
        if word_at(-1) == Some("Azure") && word_at(1) == Some("Files") {
            continue;
        }
        let azure = [-2, -1, 1, 2].into_iter().find(|it| word_at(*it) == Some("Azure"));
        let other = azure.and_then(|offset| all.get(index.checked_add_signed(offset)?));
        // In `Azure Files, NetApp`, a comma separates two products.
        let is_one = other.is_some_and(|(position, _)| {
            let (from, to) = (*position.min(start), *position.max(start));
            !text.text[from..to].contains([',', ';', '(', ':', '/'])
        });
        if is_one && lint.is_translated {
            let message =
                "the product is Azure NetApp Files; Azure Files is a different one".to_owned();
            lint.add(
                Check::ProductName,
                page_span(text, (*start, start + word.len())),
                message,
            );
        }
    }
}
