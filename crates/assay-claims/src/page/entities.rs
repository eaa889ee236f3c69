//! Entities of HTML and Markdown, replaced by their characters without a change of length.

use super::near_text;
use crate::steps;

/// Longest entity without its ampersand.
const LONGEST: usize = 10;
/// Named entities of marks that occur in figures.
const NAMED: [(&str, char); 22] = [
    ("nbsp;", '\u{a0}'),
    ("thinsp;", '\u{2009}'),
    ("ensp;", ' '),
    ("micro;", 'µ'),
    ("mu;", 'μ'),
    ("lt;", '<'),
    ("gt;", '>'),
    ("le;", '≤'),
    ("ge;", '≥'),
    ("asymp;", '≈'),
    ("times;", '×'),
    ("plusmn;", '±'),
    ("minus;", '−'),
    ("ndash;", '–'),
    ("mdash;", '—'),
    ("percnt;", '%'),
    ("tilde;", '~'),
    ("amp;", '&'),
    ("period;", '.'),
    ("comma;", ','),
    ("sol;", '/'),
    ("middot;", '·'),
];

/// Replaces entities by their characters with as many bytes: `&micro;` becomes five blanks and `µ`.
/// Within a number or a unit, backslashes fill the place, as Markdown's escapes do: `1&#46;5`.
pub(super) fn with_entities(text: &str) -> String {
    let mut out = text.to_owned();
    for (at, _) in text.match_indices('&') {
        let rest = near_text(text, at + 1, LONGEST);
        steps::count(rest.len());
        let Some((length, character)) = parse_entity(rest) else { continue };
        let length = length + 1;
        let follows = text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let is_followed = text[at + length..].starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_part = |c: char| c.is_ascii_digit() || is_followed && ".,/'".contains(c);
        let replaced = match character {
            c if is_space(c) => fill_with_blanks(length),
            c if follows && is_part(c) => "\\".repeat(length - c.len_utf8()) + &c.to_string(),
            c => " ".repeat(length.saturating_sub(c.len_utf8())) + &c.to_string(),
        };
        if replaced.len() == length {
            out.replace_range(at..at + length, &replaced);
        }
    }
    out
}

/// Returns the length of the entity behind an ampersand, and its character.
fn parse_entity(rest: &str) -> Option<(usize, char)> {
    if let Some((name, character)) = NAMED.iter().find(|(name, _)| rest.starts_with(name)) {
        return Some((name.len(), *character));
    }
    let number = rest.strip_prefix('#')?;
    let end = number.find(';')?;
    let code = match number[..end].strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
        None => number[..end].parse().ok()?,
    };
    let character = char::from_u32(code).filter(|c| !c.is_control())?;
    Some((end + 2, character))
}

/// Whether a character is a blank, with or without a line break.
const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{2007}' | '\u{202f}')
}

/// Returns no-break blanks of this many bytes: of two each, with one of three for an odd number.
fn fill_with_blanks(bytes: usize) -> String {
    let odd = bytes % 2;
    "\u{202f}".repeat(odd) + &"\u{a0}".repeat((bytes - 3 * odd) / 2)
}
