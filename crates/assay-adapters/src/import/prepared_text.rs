//! Text of a file without its encoding, colours and line prefixes.
//!
//! Launchers and log collectors put the rank, the time or the container before every line. A prefix
//! is removed where every line that is not empty has one.

use std::borrow::Cow;

use super::file_time::FileTime;

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

/// Prefix of one line.
struct Prefix<'t> {
    /// Rank that printed the line, if the prefix names it.
    rank: Option<&'t str>,
    /// Time of the line.
    time: Option<FileTime>,
    /// Rest of the line.
    rest: &'t str,
}

/// Kind of prefix: its name, and its parser for one line.
struct PrefixKind {
    name: &'static str,
    parse: for<'t> fn(&'t str) -> Option<Prefix<'t>>,
}

const KINDS: [PrefixKind; 6] = [
    PrefixKind { name: "time of kubectl or docker", parse: parse_rfc3339 },
    PrefixKind { name: "container name", parse: parse_container },
    PrefixKind { name: "rank of mpirun --tag-output", parse: parse_tag },
    PrefixKind { name: "rank of srun --label", parse: parse_srun_label },
    PrefixKind { name: "time in brackets", parse: parse_bracketed_time },
    PrefixKind { name: "time of ctime", parse: parse_ctime_prefix },
];

impl PreparedText {
    /// Returns the line of the file for a line of the text.
    pub(crate) fn file_line(&self, line: usize) -> usize {
        let number = line.checked_sub(1).and_then(|at| self.line_numbers.get(at));
        number.copied().unwrap_or(line)
    }
}

/// Whether the beginning of a file is text in a supported encoding.
#[must_use]
pub fn is_text_beginning(head: &[u8]) -> bool {
    decode_utf16(head).is_some() || !head.contains(&0)
}

/// Decodes UTF-8, UTF-16 and, for bytes that are neither, Latin-1.
#[must_use]
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

/// Whether single bytes above ASCII stand alone, as in a text of Latin-1.
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
    /// Number of prefixes that one line can have: the container, its time and the rank.
    const MAX_PREFIXES: usize = 3;
    while prepared.prefixes.len() < MAX_PREFIXES && remove_prefix(&mut prepared) {}
    prepared
}

/// Removes one prefix from every line; `false` if there is none. Lines of several ranks are put in
/// the order of the ranks, since each rank may have printed a whole result.
fn remove_prefix(prepared: &mut PreparedText) -> bool {
    let Some(kind) = KINDS.iter().find(|kind| has_prefix(&prepared.text, kind)) else {
        return false;
    };
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

/// Maximum number of ranks that are told apart.
const MAX_RANKS: usize = 1000;

fn has_prefix(text: &str, kind: &PrefixKind) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| (kind.parse)(line).is_some())
}

/// Removes the blank behind a prefix, which editors also strip from empty lines.
fn without_blank(rest: &str) -> Option<&str> {
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}

/// Parses `2023-01-04T10:00:00.123456789Z rest`.
fn parse_rfc3339(line: &str) -> Option<Prefix<'_>> {
    let end = line.find(' ').unwrap_or(line.len());
    let (time, rest) = line.split_at(end);
    if time.len() < 19 || time.as_bytes().get(10) != Some(&b'T') {
        return None;
    }
    let time = Some(FileTime::parse_iso(time)?);
    Some(Prefix { rank: None, time, rest: without_blank(rest)? })
}

/// Parses `[pod/name/container] rest` of kubectl and `name  | rest` of docker compose.
fn parse_container(line: &str) -> Option<Prefix<'_>> {
    if let Some(inner) = line.strip_prefix("[pod/") {
        let (name, rest) = inner.split_once(']')?;
        return Some(Prefix { rank: Some(name), time: None, rest: without_blank(rest)? });
    }
    let (name, rest) = line.split_once('|')?;
    let name = name.strip_suffix(' ')?.trim_end();
    let is_name = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let has_number = name.rsplit(['-', '_']).next()?.parse::<u32>().is_ok();
    let is_container = !name.is_empty() && name.chars().all(is_name) && has_number;
    let rest = without_blank(rest)?;
    is_container.then_some(Prefix { rank: Some(name), time: None, rest })
}

/// Parses `[1,0]<stdout>:rest` of Open MPI 4 and `[job@1,0]<stdout>: rest` of Open MPI 5.
fn parse_tag(line: &str) -> Option<Prefix<'_>> {
    let inner = line.strip_prefix('[')?;
    let (name, rest) = inner.split_once("]<std")?;
    let rank = name.rsplit_once(',')?.1;
    rank.parse::<u32>().ok()?;
    let rest = rest.split_once('>')?.1;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    Some(Prefix { rank: Some(rank), time: None, rest: rest.strip_prefix(' ').unwrap_or(rest) })
}

/// Parses ` 3: rest`; srun aligns the numbers.
fn parse_srun_label(line: &str) -> Option<Prefix<'_>> {
    let (rank, rest) = line.split_once(':')?;
    let rank = rank.trim_start();
    let is_rank = (1..=6).contains(&rank.len()) && rank.bytes().all(|it| it.is_ascii_digit());
    let rest = without_blank(rest)?;
    is_rank.then_some(Prefix { rank: Some(rank), time: None, rest })
}

/// Parses `[2023-01-04 10:00:00] rest`.
fn parse_bracketed_time(line: &str) -> Option<Prefix<'_>> {
    let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
    let time = FileTime::parse_iso(time).or_else(|| FileTime::parse_ctime(time))?;
    Some(Prefix { rank: None, time: Some(time), rest: without_blank(rest)? })
}

/// Parses `Wed Jan  4 10:00:00 2023 rest`, the default of `iperf3 --timestamps`.
fn parse_ctime_prefix(line: &str) -> Option<Prefix<'_>> {
    const LENGTH: usize = 24;
    let (time, rest) = line.split_at_checked(LENGTH)?;
    let time = FileTime::parse_ctime(time)?;
    Some(Prefix { rank: None, time: Some(time), rest: without_blank(rest)? })
}

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
