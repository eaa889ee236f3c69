//! Texts of a page in every language, so that readers can switch the language offline. Each text
//! node, and each element with marked-up text, has its distinct forms, and none if all languages agree. The table is packed (DEFLATE,
//! base64), because the languages of a page repeat the same words.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate;

use crate::locale::{Language, Locale, word};

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
    let mut variants: Vec<(&str, &str, Vec<PageText>)> = Vec::new();
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
            let text = page[i].written_like(&own[i]);
            let known = forms[1..].iter().position(|form| *form == text);
            let at = known.unwrap_or_else(|| {
                forms.push(text);
                forms.len() - 2
            });
            forms[0].push(char::from(DIGITS[at]));
        }
        if forms.len() < 3 { UNCHANGED } else { texts.intern(forms) + 1 }
    });
    let slots: Vec<usize> = slots.collect();
    let named: Vec<_> = variants.iter().map(|(tag, kind, _)| [tag, kind]).collect();
    let texts = texts.all;
    let labels: serde_json::Map<String, serde_json::Value> = Locale::ALL
        .into_iter()
        .map(|locale| (locale.tag().to_owned(), labels(locale)))
        .collect();
    let table = serde_json::json!({
        "variants": named, "slots": slots, "texts": texts, "labels": labels,
    });
    table.to_string()
}

/// Returns the labels of both selectors and of the contents, which are no text of the page.
fn labels(locale: Locale) -> serde_json::Value {
    let language = Language { locale, has_invariant_units: false };
    language.scope(|| ["page-language", "page-units", "page-contents"].map(word).into())
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

/// Text of a page that changes with the language.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PageText {
    /// Text node, unescaped.
    Plain(String),
    /// Contents of an element, as HTML.
    Whole(String),
}

impl PageText {
    /// Returns the text in the form that the script needs in the place of `own`.
    fn written_like(&self, own: &Self) -> String {
        match (self, own) {
            (Self::Plain(text), Self::Plain(_)) | (Self::Whole(text), Self::Whole(_)) => {
                text.clone()
            }
            (Self::Plain(text), Self::Whole(_)) => super::escape_html(text),
            (Self::Whole(html), Self::Plain(_)) => {
                let pieces = html.split('<').map(|it| it.split_once('>').map_or(it, |it| it.1));
                unescape_html(&pieces.collect::<String>())
            }
        }
    }
}

/// Attribute of an element whose contents change as a whole.
const WHOLE: &str = " data-m";

/// Returns the texts of the body, without blank ones: text nodes as a browser creates them, and
/// the contents of elements that change as a whole.
fn text_nodes(page: &str) -> Vec<PageText> {
    let body = page.split_once("<body>").map_or("", |(_, body)| body);
    let mut rest = body.split("<script").next().unwrap_or_default();
    let mut texts = Vec::new();
    while let Some((_, piece)) = rest.split_once('<') {
        let Some((tag, after)) = piece.split_once('>') else { break };
        let whole = tag.strip_suffix(WHOLE).map(|it| it.split(' ').next().unwrap_or_default());
        let text;
        (text, rest) = match whole.and_then(|name| after.find(&format!("</{name}>"))) {
            Some(end) => (PageText::Whole(after[..end].to_owned()), &after[end..]),
            None => {
                let end = after.find('<').unwrap_or(after.len());
                // Browsers drop a line break at the start of preformatted text.
                let text = &after[..end];
                let text =
                    if tag == "pre" { text.strip_prefix('\n').unwrap_or(text) } else { text };
                (PageText::Plain(unescape_html(text)), &after[end..])
            }
        };
        // The script also ignores cells with blanks only.
        let (PageText::Plain(letters) | PageText::Whole(letters)) = &text;
        if !unescape_html(letters).trim().is_empty() {
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
                assert_eq!(
                    PageText::Plain(forms[form + 1].as_str().unwrap().to_owned()),
                    *text
                );
            }
        }
    }

    #[test]
    fn ignores_blank_cells() {
        let page =
            "<body><main><td>1&nbsp;ms</td><td>&nbsp;</td><td> </td><td>a &lt; b</td></main>";
        assert_eq!(
            text_nodes(page),
            ["1\u{a0}ms", "a < b"].map(|it| PageText::Plain(it.to_owned()))
        );
    }

    #[test]
    fn marked_up_text_is_one_text() {
        let page =
            "<body><p class=\"x\" data-m>run <code>a &lt; b</code></p><li>one<b>two</b></li>";
        let plain = |text: &str| PageText::Plain(text.to_owned());
        let whole = PageText::Whole("run <code>a &lt; b</code>".to_owned());
        assert_eq!(text_nodes(page), [whole.clone(), plain("one"), plain("two")]);
        assert_eq!(whole.written_like(&plain("")), "run a < b");
        assert_eq!(plain("a < b").written_like(&whole), "a &#60; b");
    }
}
