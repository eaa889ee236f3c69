//! Sanitising of untrusted text for output: names of hosts, labels, output of tools and peers.
//!
//! Every renderer and every writer of pages uses this module. Terminals execute control characters,
//! bidirectional characters reverse the text, spreadsheets evaluate formulas, and browsers
//! interpret `<` as markup.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::path_text;

/// Whether a character has an effect instead of a glyph: controls except tab and line feed,
/// bidirectional controls (UAX #9), zero-width characters, invisible fillers, tags, line and
/// paragraph separators, and encoded bytes of non-UTF-8 names. Selectors of glyph variants are not
/// among them: emoji need them.
pub const fn is_hidden(c: char) -> bool {
    path_text::is_encoded_byte(c)
        || matches!(c,
            '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' // C0 and C1
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{200b}'..='\u{200d}' | '\u{feff}' | '\u{2028}' | '\u{2029}'
            | '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{fff9}'..='\u{fffb}'
            // Fillers of Hangul.
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
            | '\u{e0000}'..='\u{e007f}' // Tags
        )
}

/// Replaces hidden characters by escapes as in JSON: `\u202e`. JSON stays equivalent, because it
/// contains such characters only within strings.
pub fn escape_hidden(text: &str) -> Cow<'_, str> {
    escape(text, false)
}

/// Spells out every hidden character for readers: `\u{202e}`.
pub fn spell_hidden(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let spelled = text.chars().fold(String::with_capacity(text.len()), |mut all, c| {
        if is_hidden(c) {
            all.extend(c.escape_unicode());
        } else {
            all.push(c);
        }
        all
    });
    Cow::Owned(spelled)
}

/// Replaces hidden characters, tabs and line breaks by escapes as in JSON, for formats with one
/// value a line: `\\u000a`.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    let escaped = escape_hidden(text);
    if !escaped.contains(['\t', '\n']) {
        return escaped;
    }
    Cow::Owned(escaped.replace('\t', "\\u0009").replace('\n', "\\u000a"))
}

/// Like [`escape_hidden`], but keeps the colour sequences `ESC [ … m`, for text that this program
/// has coloured itself.
pub fn escape_hidden_except_colours(text: &str) -> Cow<'_, str> {
    escape(text, true)
}

fn escape(text: &str, with_colours: bool) -> Cow<'_, str> {
    // Most lines are plain ASCII, and comparing bytes is vectorised.
    let may_be_hidden = |byte: u8| !matches!(byte, b' '..=b'~' | b'\t' | b'\n');
    let has_hidden = |line: &str| line.bytes().any(may_be_hidden) && line.contains(is_hidden);
    if !text.split_inclusive('\n').any(has_hidden) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for (index, c) in text.char_indices() {
        if !is_hidden(c)
            || (with_colours && c == '\u{1b}' && is_colour_sequence(&text[index + 1..]))
        {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to memory cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(escaped)
}

/// Whether the text after an `ESC` is the sequence "select graphic rendition" (ECMA-48, 8.3.117).
fn is_colour_sequence(rest: &str) -> bool {
    let end = rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, '[' | ';'));
    rest.starts_with('[') && end.is_some_and(|end| rest[end..].starts_with('m'))
}

/// Escapes a cell for spreadsheets: text that starts like a formula is prefixed with an apostrophe
/// (OWASP, "CSV Injection"); numbers stay unchanged.
pub fn escape_spreadsheet_cell(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let is_number = text.parse::<f64>().is_ok();
    match escape_hidden(text) {
        escaped if is_formula && !is_number => Cow::Owned(format!("'{escaped}")),
        escaped => escaped,
    }
}

/// Escapes text for XML, within elements and within attributes in double quotes.
pub fn escape_xml(text: &str) -> String {
    escape_hidden(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Escapes markup for an HTML page that users' scripts also read as plain text: replaces `<` only
/// where it would start a tag.
pub fn escape_tags(text: &str) -> Cow<'_, str> {
    let starts_tag = |rest: &str| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
    };
    let escaped = escape_hidden(text);
    if !escaped.match_indices('<').any(|(position, _)| starts_tag(&escaped[position + 1..])) {
        return escaped;
    }
    let pieces = escaped.split('<').enumerate().map(|(index, piece)| match (index, piece) {
        (0, first) => first.to_owned(),
        (_, rest) if starts_tag(rest) => format!("&lt;{rest}"),
        (_, rest) => format!("<{rest}"),
    });
    Cow::Owned(pieces.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_hidden_characters() {
        for (text, expected) in [
            ("plain é 日本 \t\n", "plain é 日本 \t\n"),
            ("\u{1b}[2J\u{1b}]0;title\u{7}", "\\u001b[2J\\u001b]0;title\\u0007"),
            ("\u{9b}31m", "\\u009b31m"),
            ("safe\u{202e}txt.exe", "safe\\u202etxt.exe"),
            ("a\rb", "a\\u000db"),
            ("x\u{efff}", "x\\uefff"),
            ("a\u{200d}b\u{ad}\u{3164}", "a\\u200db\\u00ad\\u3164"),
            ("tag\u{e0041}", "tag\\udb40\\udc41"),
        ] {
            assert_eq!(escape_hidden(text), expected);
        }
        assert_eq!(spell_hidden("a\u{1b}b\u{202e}"), "a\\u{1b}b\\u{202e}");
        assert_eq!(spell_hidden("tag\u{e0041} ❤\u{fe0f}"), "tag\\u{e0041} ❤\u{fe0f}");
        let (red, clear) = ("\u{1b}[1;31mred\u{1b}[0m", "\u{1b}[2J\u{1b}[31");
        assert_eq!(escape_hidden_except_colours(red), red);
        assert_eq!(escape_hidden_except_colours(clear), "\\u001b[2J\\u001b[31");
    }

    #[test]
    fn line_has_no_breaks() {
        for (text, expected) in [
            ("plain é", "plain é"),
            ("a\nb\tc\rd", "a\\u000ab\\u0009c\\u000dd"),
            ("\u{202e}\u{2028}", "\\u202e\\u2028"),
        ] {
            assert_eq!(escape_line(text), expected);
        }
    }

    #[test]
    fn cell_escapes_formulas_but_not_numbers() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+x", "'+x"),
            ("-x", "'-x"),
            ("\t=1", "'\t=1"),
            ("-1.5e3", "-1.5e3"),
            ("+7", "+7"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(escape_spreadsheet_cell(text), expected);
        }
    }

    #[test]
    fn escapes_only_tag_openings() {
        for (text, expected) in [
            ("<script>", "&lt;script>"),
            ("a </pre> < b <5 <!-- <", "a &lt;/pre> < b <5 &lt;!-- <"),
            ("& stays", "& stays"),
        ] {
            assert_eq!(escape_tags(text), expected);
        }
    }
}
