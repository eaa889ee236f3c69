//! The texts of a page in every language, so that a reader can change it without a network: each text between two
//! tags once for each form that it takes, and none that has one form.

use std::collections::HashMap;

use crate::locale::{Language, Locale};

/// More than this would make the page a burden for one language's readers: it then has no choice.
const MOST_BYTES_OF_PAGE: usize = 300_000;
/// Digits that a form is counted by.
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// The table that the page's script reads, or nothing where the pages differ in more than their texts.
pub(super) fn of_all(make: &dyn Fn() -> String, own: &str) -> String {
    let room = MOST_BYTES_OF_PAGE.saturating_sub(own.len());
    let own = of_page(own);
    let mut variants: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for locale in Locale::ALL {
        for (kind, has_invariant_units) in [("local", false), ("invariant", true)] {
            let page = Language { locale, has_invariant_units }.write(|| of_page(&make()));
            if page.len() == own.len() {
                variants.push((locale.tag(), kind, page));
            }
        }
    }
    let mut patterns = Numbered::default();
    let mut all_forms = Numbered::default();
    let mut texts = Numbered::default();
    let slots = (0..own.len()).map(|i| {
        let mut forms: Vec<&str> = Vec::new();
        let which = variants.iter().map(|(_, _, page)| {
            let known = forms.iter().position(|form| *form == page[i]);
            let at = known.unwrap_or_else(|| {
                forms.push(&page[i]);
                forms.len() - 1
            });
            char::from(DIGITS[at])
        });
        let which: String = which.collect();
        if forms.len() < 2 {
            return UNCHANGED;
        }
        let pattern = patterns.number(which);
        let (forms, digits) = without_digits(&forms);
        let form = all_forms.number((pattern, forms));
        texts.number((form, digits)) + 1
    });
    let slots: Vec<usize> = slots.collect();
    let named: Vec<_> = variants.iter().map(|(tag, kind, _)| [tag, kind]).collect();
    let (patterns, forms, texts) = (patterns.all, all_forms.all, texts.all);
    let table = serde_json::json!({
        "variants": named, "patterns": patterns, "forms": forms, "texts": texts, "slots": slots
    });
    // Text cannot end the element that holds it.
    let json = table.to_string().replace('<', "\\u003c");
    if json.len() <= room { json } else { String::new() }
}

/// Stands for digits that are the same in all forms of a text.
const DIGITS_HERE: char = '#';

/// What many values have in common, such as marks and units, and the digits of this one; where languages group digits
/// otherwise the forms as they are.
fn without_digits(forms: &[&str]) -> (Vec<String>, Vec<String>) {
    let runs = |text: &str| -> Vec<String> {
        let runs = text.split(|c: char| !c.is_ascii_digit());
        runs.filter(|run| !run.is_empty()).map(str::to_owned).collect()
    };
    let whole = || forms.iter().map(|form| (*form).to_owned()).collect();
    let digits = forms.first().map_or_else(Vec::new, |form| runs(form));
    let is_common =
        forms.iter().all(|form| runs(form) == digits && !form.contains(DIGITS_HERE));
    if !is_common {
        return (whole(), Vec::new());
    }
    let bare = |form: &&str| {
        let mut bare = String::new();
        for c in form.chars() {
            match c.is_ascii_digit() {
                false => bare.push(c),
                true if bare.ends_with(DIGITS_HERE) => {}
                true => bare.push(DIGITS_HERE),
            }
        }
        bare
    };
    (forms.iter().map(bare).collect(), digits)
}

/// The number of a text that is the same in every language; of others it is that of its forms, from 1.
const UNCHANGED: usize = 0;

/// Things that occur often, each once.
#[derive(Debug)]
struct Numbered<T> {
    all: Vec<T>,
    known: HashMap<T, usize>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { all: Vec::new(), known: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    fn number(&mut self, one: T) -> usize {
        let next = self.all.len();
        let number = *self.known.entry(one.clone()).or_insert(next);
        if number == next {
            self.all.push(one);
        }
        number
    }
}

/// What stands between the tags of the body, as a browser's text nodes: without those that are blank.
fn of_page(page: &str) -> Vec<String> {
    let body = page.split_once("<body>").map_or("", |(_, body)| body);
    let body = body.split("<script").next().unwrap_or_default();
    let mut texts = Vec::new();
    for piece in body.split('<') {
        let Some((tag, text)) = piece.split_once('>') else { continue };
        // A browser drops the line break that a preformatted text begins with.
        let text = if tag == "pre" { text.strip_prefix('\n').unwrap_or(text) } else { text };
        let text = unescaped(text);
        // A cell that holds a blank alone is no text for the script either.
        if !text.trim().is_empty() {
            texts.push(text);
        }
    }
    texts
}

fn unescaped(text: &str) -> String {
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&nbsp;", "\u{a0}"),
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#38;", "&"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_share_what_is_around_their_digits() {
        let shared = without_digits(&["1.25 ms", "1,25 ms"]);
        let bare = ["#.# ms", "#,# ms"].map(str::to_owned).to_vec();
        assert_eq!(shared, (bare.clone(), ["1", "25"].map(str::to_owned).to_vec()));
        assert_eq!(without_digits(&["31.5 ms", "31,5 ms"]).0, bare);
        for whole in [["12345 B", "12 345 B"], ["#bytes 2", "# 2"]] {
            assert_eq!(without_digits(&whole), (whole.map(str::to_owned).into(), vec![]));
        }
    }

    #[test]
    fn blank_cells_are_no_texts() {
        let page =
            "<body><main><td>1&nbsp;ms</td><td>&nbsp;</td><td> </td><td>a &lt; b</td></main>";
        assert_eq!(of_page(page), ["1\u{a0}ms", "a < b"]);
    }
}
