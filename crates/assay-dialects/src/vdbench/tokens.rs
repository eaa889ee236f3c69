//! Splits a line into `keyword=value` tokens: commas, parentheses, quotes and the trailing comment.
//!
//! This module does not interpret keywords.

use super::lines::{Lines, SourceSpan};

/// Token `keyword=value`.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// Keyword in lower case.
    pub(super) keyword: String,
    pub(super) keyword_spot: SourceSpan,
    pub(super) elements: Vec<ParameterElement>,
    /// Whether the value was in parentheses.
    pub(super) is_list: bool,
    /// Whole token.
    pub(super) spot: SourceSpan,
}

/// Single value, or element of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParameterElement {
    /// Text without its quotes.
    pub(super) text: String,
    pub(super) is_quoted: bool,
    pub(super) spot: SourceSpan,
}

/// Splits a line into tokens; errors are added to `lines.diagnostics`.
pub(super) fn tokenize(lines: &mut Lines, line: usize) -> Vec<Token> {
    let text = lines.text(line).to_owned();
    let start = text.len() - text.trim_start().len();
    let Some(end) = content_end(lines, line, &text, start) else { return Vec::new() };
    let mut tokens = Vec::new();
    let pieces = split_at_commas(&text, start, end);
    let last = pieces.len().saturating_sub(1);
    for (index, (from, to)) in pieces.into_iter().enumerate() {
        let spot = SourceSpan { line, start: from, end: to };
        // A trailing comma means that the definition continues, which it does anyway.
        if from == to && index == last && index > 0 {
            continue;
        }
        match parse_token(&text, spot) {
            Some(token) => tokens.push(token),
            None => {
                let piece = &text[from..to];
                let message = format!("`{piece}` is not `keyword=value`");
                lines.report_error("V111", spot, message).advise(
                    "write `keyword=value`, lists in parentheses, comments after a blank",
                    "stops",
                );
            }
        }
    }
    tokens
}

/// Returns the start of the comment; `None` if quotes or parentheses do not match.
fn content_end(lines: &mut Lines, line: usize, text: &str, start: usize) -> Option<usize> {
    let (mut quote, mut open) = (None, Vec::new());
    for (at, c) in text[start..].char_indices().map(|(at, c)| (at + start, c)) {
        match c {
            '"' => quote = if quote.is_some() { None } else { Some(at) },
            _ if quote.is_some() => {}
            '(' => open.push(at),
            ')' if open.pop().is_none() => {
                return report_unmatched(lines, line, at, "unmatched `)`");
            }
            c if c.is_whitespace() => {
                let Some(&paren) = open.last() else {
                    warn_of_commented_parameter(lines, line, text, at);
                    return Some(at);
                };
                if text[at..].contains(')') {
                    let spot = SourceSpan { line, start: at, end: at + c.len_utf8() };
                    lines
                        .report_error("V110", spot, "a blank inside parentheses ends the line")
                        .advise("remove the blank", "reads the rest as a comment and stops");
                    return None;
                }
                return report_unmatched(lines, line, paren, "`(` is never closed");
            }
            _ => {}
        }
    }
    match (quote, open.last()) {
        (Some(at), _) => report_unmatched(lines, line, at, "unmatched quotation mark"),
        (None, Some(&at)) => report_unmatched(lines, line, at, "`(` is never closed"),
        (None, None) => Some(text.len()),
    }
}

fn report_unmatched(lines: &mut Lines, line: usize, at: usize, what: &str) -> Option<usize> {
    lines.report_error("V112", SourceSpan { line, start: at, end: at + 1 }, what).advise(
        "write parentheses and quotation marks in pairs, on one line",
        "does not notice, and uses the rest of the line unchanged",
    );
    None
}

/// Warns about a parameter after a blank, which is part of the comment, presumably by mistake.
fn warn_of_commented_parameter(lines: &mut Lines, line: usize, text: &str, blank: usize) {
    let rest = text[blank..].trim_start();
    let word = rest.split(char::is_whitespace).next().unwrap_or_default();
    let keyword = word.split('=').next().unwrap_or_default();
    let is_keyword = !keyword.is_empty() && keyword.chars().all(|c| c.is_ascii_alphabetic());
    // Only directly after a comma does the definition continue; elsewhere a comment may contain an
    // `=`.
    if is_keyword && word.contains('=') && text[..blank].ends_with(',') {
        let start = text.len() - rest.len();
        let spot = SourceSpan { line, start, end: start + word.len() };
        let message = format!("`{word}` follows a blank and is read as a comment");
        lines
            .report_warning("V110", spot, message)
            .advise("remove the blank", "ignores it silently");
    }
}

/// Splits at the commas outside quotes and parentheses.
fn split_at_commas(text: &str, start: usize, end: usize) -> Vec<(usize, usize)> {
    let (mut pieces, mut from, mut quoted, mut depth) = (Vec::new(), start, false, 0);
    for (at, c) in text[start..end].char_indices().map(|(at, c)| (at + start, c)) {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                pieces.push((from, at));
                from = at + 1;
            }
            _ => {}
        }
    }
    pieces.push((from, end));
    pieces
}

fn parse_token(text: &str, spot: SourceSpan) -> Option<Token> {
    let piece = &text[spot.start..spot.end];
    let equals = piece.find('=')?;
    let keyword = &piece[..equals];
    if keyword.is_empty() || keyword.contains(['"', '(', ')']) {
        return None;
    }
    let (from, to) = (spot.start + equals + 1, spot.end);
    let value = &text[from..to];
    let list = value.len() > 1 && value.starts_with('(') && value.ends_with(')');
    let ranges = if list { split_at_commas(text, from + 1, to - 1) } else { vec![(from, to)] };
    let elements = ranges
        .into_iter()
        .map(|(start, end)| parse_element(text, spot.line, start, end))
        .collect();
    let keyword_spot = SourceSpan { end: spot.start + equals, ..spot };
    Some(Token {
        keyword: keyword.to_ascii_lowercase(),
        keyword_spot,
        elements,
        is_list: list,
        spot,
    })
}

fn parse_element(text: &str, line: usize, start: usize, end: usize) -> ParameterElement {
    let written = &text[start..end];
    let quoted = written.contains('"');
    let text = if quoted { written.replace('"', "") } else { written.to_owned() };
    ParameterElement { text, is_quoted: quoted, spot: SourceSpan { line, start, end } }
}
