//! Texts of a page in every language, so that readers can switch the language offline. Each text
//! node has its distinct forms, and none if all languages agree. The table is packed (DEFLATE,
//! base64), because the languages of a page repeat the same words.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate;

use crate::locale::{Language, Locale};

/// Maximum size of a page with all languages; a larger page has only its own language.
const MAX_PAGE_BYTES: usize = 300_000;
/// Digits of form numbers.
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
/// Best compression level of miniz; it takes milliseconds per page.
const COMPRESSION_LEVEL: u8 = 9;

/// Returns the packed table for the page's script, or nothing if the page would become too large.
pub(super) fn pack_texts(make: &dyn Fn() -> String, own: &str) -> String {
    let room = MAX_PAGE_BYTES.saturating_sub(own.len());
    // Base64 cannot contain the end tag of the element around it.
    let packed = STANDARD
        .encode(deflate::compress_to_vec(build_table(make, own).as_bytes(), COMPRESSION_LEVEL));
    if packed.len() <= room { packed } else { String::new() }
}

/// Builds the table as JSON. `variants`: language and kind of units. `slots`: for each text of the
/// page its index in `texts`, from 1. `texts`: form number of each variant, one digit each,
/// followed by the forms.
fn build_table(make: &dyn Fn() -> String, own: &str) -> String {
    let own = text_nodes(own);
    let mut variants: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for locale in Locale::ALL {
        for (kind, has_invariant_units) in [("local", false), ("invariant", true)] {
            let page = Language { locale, has_invariant_units }.scope(|| text_nodes(&make()));
            if page.len() == own.len() {
                variants.push((locale.tag(), kind, page));
            }
        }
    }
    let mut texts = Interner::default();
    let slots = (0..own.len()).map(|i| {
        let mut forms = vec![String::new()];
        for (_, _, page) in &variants {
            let known = forms[1..].iter().position(|form| *form == page[i]);
            let at = known.unwrap_or_else(|| {
                forms.push(page[i].clone());
                forms.len() - 2
            });
            forms[0].push(char::from(DIGITS[at]));
        }
        if forms.len() < 3 { UNCHANGED } else { texts.intern(forms) + 1 }
    });
    let slots: Vec<usize> = slots.collect();
    let named: Vec<_> = variants.iter().map(|(tag, kind, _)| [tag, kind]).collect();
    let texts = texts.all;
    serde_json::json!({ "variants": named, "slots": slots, "texts": texts }).to_string()
}

/// Slot of a text that is the same in every language; other slots count from 1.
const UNCHANGED: usize = 0;

/// Distinct values, each stored once and referred to by number.
#[derive(Debug)]
struct Interner<T> {
    all: Vec<T>,
    known: HashMap<T, usize>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { all: Vec::new(), known: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interner<T> {
    fn intern(&mut self, one: T) -> usize {
        let next = self.all.len();
        let number = *self.known.entry(one.clone()).or_insert(next);
        if number == next {
            self.all.push(one);
        }
        number
    }
}

/// Returns the text nodes of the body as a browser creates them, without blank ones.
fn text_nodes(page: &str) -> Vec<String> {
    let body = page.split_once("<body>").map_or("", |(_, body)| body);
    let body = body.split("<script").next().unwrap_or_default();
    let mut texts = Vec::new();
    for piece in body.split('<') {
        let Some((tag, text)) = piece.split_once('>') else { continue };
        // Browsers drop a line break at the start of preformatted text.
        let text = if tag == "pre" { text.strip_prefix('\n').unwrap_or(text) } else { text };
        let text = unescape_html(text);
        // The script also ignores cells with blanks only.
        if !text.trim().is_empty() {
            texts.push(text);
        }
    }
    texts
}

fn unescape_html(text: &str) -> String {
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&nbsp;", "\u{a0}"),
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#8288;", "\u{2060}"),
        ("&#38;", "&"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The script can restore the page in every language from the table.
    #[test]
    fn table_restores_every_language() {
        let make = || {
            let language = Language::current();
            let (word, tag) = (crate::locale::word("page-units"), language.locale.tag());
            format!("<body><h1>{word}</h1><p>one</p><p>{tag} &lt;</p></body>")
        };
        let own = Language::INVARIANT.scope(make);
        let packed = STANDARD.decode(pack_texts(&make, &own)).unwrap();
        let unpacked = miniz_oxide::inflate::decompress_to_vec(&packed).unwrap();
        let table: serde_json::Value = serde_json::from_slice(&unpacked).unwrap();
        assert_eq!(table["slots"], serde_json::json!([1, UNCHANGED, 2]));
        for (at, locale) in Locale::ALL.iter().enumerate() {
            let language = Language { locale: *locale, has_invariant_units: false };
            assert_eq!(table["variants"][2 * at], serde_json::json!([locale.tag(), "local"]));
            let texts = language.scope(|| text_nodes(&make()));
            for (slot, text) in [(0, &texts[0]), (1, &texts[2])] {
                let forms = &table["texts"][slot];
                let form = &forms[0].as_str().unwrap()[2 * at..=2 * at];
                let form = usize::from_str_radix(form, 36).unwrap();
                assert_eq!(forms[form + 1], **text, "{}", locale.tag());
            }
        }
    }

    #[test]
    fn ignores_blank_cells() {
        let page =
            "<body><main><td>1&nbsp;ms</td><td>&nbsp;</td><td> </td><td>a &lt; b</td></main>";
        assert_eq!(text_nodes(page), ["1\u{a0}ms", "a < b"]);
    }
}
