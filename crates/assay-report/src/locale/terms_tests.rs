//! Checks the catalogues against the terms of the field in `locales/terms.tsv`.

use super::Locale;
use super::tests::messages;

const TERMS: &str = include_str!("../../locales/terms.tsv");

/// English words that have a translation in every language.
const ENGLISH: [&str; 6] =
    ["storage rate", "rdma latency", "bandwidth", "latency", "goodput", "throughput"];

/// Returns the texts outside backticks in lower case, by identifier.
fn texts(locale: Locale) -> Vec<(String, String)> {
    let all = messages(locale).into_iter();
    all.map(|(id, message)| (id, message.words().replace('\u{a0}', " ").to_lowercase()))
        .collect()
}

#[test]
fn catalogues_use_the_terms_of_their_field() {
    let mut wrong = Vec::new();
    let mut rows = 0;
    for row in TERMS.lines().filter(|line| !line.starts_with('#')) {
        let [concept, tag, term, avoided, source] = row.split('\t').collect::<Vec<_>>()[..]
        else {
            panic!("{row:?} has not five columns");
        };
        assert!(!source.is_empty(), "{row}");
        rows += 1;
        let locale = Locale::ALL.into_iter().find(|it| it.tag() == tag).unwrap();
        let texts = texts(locale);
        if !texts.iter().any(|(_, text)| text.contains(&term.to_lowercase())) {
            wrong.push(format!("{tag}: no message contains {term} ({concept})"));
        }
        for avoided in avoided.split(';').filter(|it| !it.is_empty()) {
            let has = |text: &str| text.contains(&avoided.to_lowercase());
            let found = texts.iter().filter(|(_, text)| has(text));
            wrong.extend(
                found.map(|(id, _)| format!("{tag} {id}: {avoided} instead of {term}")),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows > 70, "{rows}");
}

#[test]
fn no_english_term_is_left() {
    for locale in Locale::ALL.into_iter().filter(|it| *it != Locale::En) {
        for (id, text) in texts(locale) {
            let words: Vec<&str> = text
                .split(|it: char| !it.is_alphanumeric() && it != '-')
                .filter(|it| !it.is_empty())
                .collect();
            let line = format!(" {} ", words.join(" "));
            let found = ENGLISH.iter().find(|term| line.contains(&format!(" {term} ")));
            assert_eq!(found, None, "{locale:?}: {id}: {text}");
        }
    }
}
