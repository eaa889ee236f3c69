//! Text of a file without its encoding, colours and line prefixes.
//!
//! Launchers and log collectors put the rank, the time or the container before every line. A prefix
//! is removed where every line that is not empty has one.

use std::borrow::Cow;

use super::file_time::FileTime;
use prefix::find_kind;

mod prefix;

/// Text that readers can parse, with the place of each line in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PreparedText {
    /// Lines that end with a line feed alone.
    pub text: String,
    /// Names of the removed prefixes, the outermost first.
    pub prefixes: Vec<&'static str>,
    /// Time of the first line, if a prefix was a time.
    pub first_time: Option<FileTime>,
    /// Number of each line in the file, from 1; empty = unchanged.
    line_numbers: Vec<usize>,
}

impl PreparedText {
    /// Returns the line of the file for a line of the text.
    pub(crate) fn file_line(&self, line: usize) -> usize {
        let number = line.checked_sub(1).and_then(|at| self.line_numbers.get(at));
        number.copied().unwrap_or(line)
    }
}

/// Whether the beginning of a file is text in a supported encoding.
pub fn is_text_beginning(head: &[u8]) -> bool {
    decode_utf16(head).is_some() || !head.contains(&0)
}

/// Decodes UTF-8, UTF-16 and, for bytes that are neither, Latin-1.
pub fn decode_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Some(text) = decode_utf16(bytes) {
        return Cow::Owned(text);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) if is_latin1(bytes) => {
            Cow::Owned(bytes.iter().copied().map(char::from).collect())
        }
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Whether single bytes above ASCII are characters, as in a text of Latin-1.
fn is_latin1(bytes: &[u8]) -> bool {
    bytes.utf8_chunks().all(|chunk| chunk.valid().is_ascii())
}

fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let (is_little, rest) = match bytes {
        [0xff, 0xfe, rest @ ..] => (true, rest),
        [0xfe, 0xff, rest @ ..] => (false, rest),
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => (true, bytes),
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => (false, bytes),
        _ => return None,
    };
    let units = rest.chunks_exact(2).map(|pair| match is_little {
        true => u16::from_le_bytes([pair[0], pair[1]]),
        false => u16::from_be_bytes([pair[0], pair[1]]),
    });
    let text: String = char::decode_utf16(units)
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    (!text.contains('\0')).then_some(text)
}

/// Removes line ends of Windows, colours and line prefixes.
pub(crate) fn prepare_text(text: &str) -> PreparedText {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = remove_escapes(text);
    let text = if text.contains('\r') { text.replace("\r\n", "\n") } else { text };
    let mut prepared =
        PreparedText { text, prefixes: Vec::new(), first_time: None, line_numbers: Vec::new() };
    remove_indentation(&mut prepared);
    /// Number of prefixes that one line can have: the container, two times and the process.
    const MAX_PREFIXES: usize = 4;
    let mut removed = 0;
    while removed < MAX_PREFIXES && remove_prefix(&mut prepared) {
        removed += 1;
        remove_indentation(&mut prepared);
    }
    prepared
}

/// Removes one prefix from every line; `false` if there is none. Lines of several ranks are put in
/// the order of the ranks, since each rank may have printed a whole result.
fn remove_prefix(prepared: &mut PreparedText) -> bool {
    let Some(kind) = find_kind(&prepared.text) else { return false };
    let ends_with_newline = prepared.text.ends_with('\n');
    let mut lines: Vec<(Option<&str>, usize, &str)> = Vec::new();
    for (at, line) in prepared.text.lines().enumerate() {
        let number = prepared.file_line(at + 1);
        let prefix = (kind.parse)(line);
        if let Some(time) = prefix.as_ref().and_then(|it| it.time) {
            prepared.first_time.get_or_insert(time);
        }
        let (rank, rest) = prefix.map_or((None, line), |it| (it.rank, it.rest));
        lines.push((rank, number, rest));
    }
    let mut order: Vec<&str> = Vec::new();
    for rank in lines.iter().filter_map(|(rank, ..)| *rank) {
        if !order.contains(&rank) && order.len() < MAX_RANKS {
            order.push(rank);
        }
    }
    let position = |rank: &Option<&str>| order.iter().position(|it| Some(*it) == *rank);
    if order.len() > 1 {
        lines.sort_by_cached_key(|(rank, ..)| position(rank));
    }
    let line_numbers = lines.iter().map(|(_, number, _)| *number).collect();
    let mut text = lines.iter().map(|(.., rest)| *rest).collect::<Vec<_>>().join("\n");
    if ends_with_newline {
        text.push('\n');
    }
    (prepared.text, prepared.line_numbers) = (text, line_numbers);
    prepared.prefixes.push(kind.name);
    true
}

const INDENTATION: &str = "indentation";

/// Removes the blanks that every line begins with, as in a listing of a page or of a YAML file.
fn remove_indentation(prepared: &mut PreparedText) {
    let mut lines = prepared.text.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next() else { return };
    let blanks = &first[..first.len() - first.trim_start_matches([' ', '\t']).len()];
    let count_shared = |line: &str| {
        blanks.bytes().zip(line.bytes()).take_while(|(ours, theirs)| ours == theirs).count()
    };
    let width = lines.map(count_shared).min().unwrap_or(blanks.len()).min(blanks.len());
    if width == 0 {
        return;
    }
    let indented = std::mem::take(&mut prepared.text);
    for line in indented.split_inclusive('\n') {
        // A blank line may be shorter.
        let rest = line.get(width..).filter(|_| !line.trim().is_empty());
        prepared.text.push_str(rest.unwrap_or_else(|| line.trim_start_matches([' ', '\t'])));
    }
    if !prepared.prefixes.contains(&INDENTATION) {
        prepared.prefixes.push(INDENTATION);
    }
}

/// Maximum number of ranks that are told apart.
const MAX_RANKS: usize = 1000;

/// Removes the escape sequences of a terminal: `ESC [ … letter`, and the title `ESC ] … BEL`.
fn remove_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = match behind.strip_prefix('[') {
            Some(sequence) => {
                let end = sequence.find(|it: char| it.is_ascii_alphabetic() || it == '\n');
                let rest = end.map_or("", |end| &sequence[end..]);
                rest.strip_prefix(|it: char| it.is_ascii_alphabetic()).unwrap_or(rest)
            }
            None => match behind.strip_prefix(']') {
                Some(title) => title.split_once('\u{7}').map_or("", |(_, rest)| rest),
                None => behind,
            },
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests;
