//! Prefixes that launchers, log collectors and people put before every line.

use std::collections::HashMap;

use super::super::file_time::FileTime;
use super::super::formats;

/// Prefix of one line.
pub(super) struct Prefix<'t> {
    /// Rank or host that printed the line, if the prefix names it.
    pub(super) rank: Option<&'t str>,
    /// Time of the line.
    pub(super) time: Option<FileTime>,
    /// Rest of the line.
    pub(super) rest: &'t str,
}

/// Kind of prefix: its name, and its parser for one line.
pub(super) struct PrefixKind {
    pub(super) name: &'static str,
    pub(super) parse: for<'t> fn(&'t str) -> Option<Prefix<'t>>,
    /// Whether every rank has to occur twice: a list of names and values is none.
    needs_repetition: bool,
    /// Marks of texts whose own lines look like that.
    exceptions: &'static [&'static str],
}

const fn kind(
    name: &'static str,
    parse: for<'t> fn(&'t str) -> Option<Prefix<'t>>,
) -> PrefixKind {
    PrefixKind { name, parse, needs_repetition: false, exceptions: &[] }
}

/// Kinds in the order of detection: the marks of earlier ones are more specific.
const KINDS: [PrefixKind; 15] = [
    kind("time of kubectl or docker", parse_rfc3339),
    kind("container name", parse_numbered_container),
    kind("rank of mpirun --tag-output", parse_tag),
    kind("rank of srun --label", parse_srun_label),
    kind("time in brackets", parse_bracketed_time),
    kind("time of ctime", parse_ctime_prefix),
    kind("date and time", parse_date_and_time),
    kind("time of syslog", parse_syslog_time),
    kind("process of syslog", parse_syslog_process),
    kind("seconds since 1970", parse_unix_time),
    PrefixKind { exceptions: &["Starting RD="], ..kind("time of day", parse_time_of_day) },
    kind("rank of mpiexec -l", parse_bracketed_rank),
    PrefixKind { needs_repetition: true, ..kind("host name", parse_host) },
    PrefixKind { needs_repetition: true, ..kind("container name", parse_container) },
    kind("quotation mark", parse_quotation_mark),
];

/// Returns the first kind of prefix that every line of a text has.
pub(super) fn find_kind(text: &str) -> Option<&'static PrefixKind> {
    KINDS.iter().find(|kind| kind.has_prefixes(text))
}

impl PrefixKind {
    fn has_prefixes(&self, text: &str) -> bool {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
        if lines.peek().is_none() || self.exceptions.iter().any(|mark| text.contains(mark)) {
            return false;
        }
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for line in lines {
            let Some(prefix) = (self.parse)(line) else { return false };
            if self.needs_repetition {
                *counts.entry(prefix.rank.unwrap_or_default()).or_default() += 1;
            }
        }
        counts.values().all(|count| *count > 1)
    }
}

fn timed(time: Option<FileTime>, rest: &str) -> Prefix<'_> {
    Prefix { rank: None, time, rest }
}

fn ranked<'t>(rank: &'t str, rest: &'t str) -> Prefix<'t> {
    Prefix { rank: Some(rank), time: None, rest }
}

/// Removes the blank behind a prefix, which editors also strip from empty lines.
fn without_blank(rest: &str) -> Option<&str> {
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}

/// Splits the first word off.
fn split_word(line: &str) -> (&str, &str) {
    line.split_at(line.find(' ').unwrap_or(line.len()))
}

/// Parses `2023-01-04T10:00:00.123456789Z rest`.
fn parse_rfc3339(line: &str) -> Option<Prefix<'_>> {
    let (time, rest) = split_word(line);
    if time.len() < 19 || time.as_bytes().get(10) != Some(&b'T') {
        return None;
    }
    let time = Some(FileTime::parse_iso(time)?);
    Some(timed(time, without_blank(rest)?))
}

/// Parses `[pod/name/container] rest` of kubectl and `name-1  | rest` of docker compose.
fn parse_numbered_container(line: &str) -> Option<Prefix<'_>> {
    if let Some(inner) = line.strip_prefix("[pod/") {
        let (name, rest) = inner.split_once(']')?;
        return Some(ranked(name, without_blank(rest)?));
    }
    let prefix = parse_container(line)?;
    let number = prefix.rank?.rsplit(['-', '_']).next()?;
    number.parse::<u32>().is_ok().then_some(prefix)
}

/// Parses `name  | rest` of docker compose.
fn parse_container(line: &str) -> Option<Prefix<'_>> {
    let (name, rest) = line.split_once('|')?;
    let name = name.strip_suffix(' ')?.trim_end();
    let is_name = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let is_container = !name.is_empty() && name.chars().all(is_name);
    let rest = without_blank(rest)?;
    is_container.then_some(ranked(name, rest))
}

/// Parses `[1,0]<stdout>:rest` of Open MPI 4, also behind the time of `--timestamp-output`, and
/// `[job@1,0]<stdout>: rest` of Open MPI 5.
fn parse_tag(line: &str) -> Option<Prefix<'_>> {
    let (time, line) =
        split_ctime(line).map_or((None, line), |(time, rest)| (Some(time), rest));
    if time.is_some()
        && let Some(rest) = line.strip_prefix("<std")
    {
        let rest = rest.split_once(">:")?.1;
        return Some(timed(time, rest));
    }
    let inner = line.strip_prefix('[')?;
    let (name, rest) = inner.split_once("]<std")?;
    let rank = name.rsplit_once(',')?.1;
    rank.parse::<u32>().ok()?;
    let rest = rest.split_once('>')?.1;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    // Version 5 names the job and puts a blank behind the colon.
    let rest = if name.contains('@') { without_blank(rest)? } else { rest };
    Some(Prefix { rank: Some(rank), time, rest })
}

/// Parses ` 3: rest`; srun aligns the numbers.
fn parse_srun_label(line: &str) -> Option<Prefix<'_>> {
    let (rank, rest) = line.split_once(':')?;
    let rank = rank.trim_start();
    let is_rank = (1..=6).contains(&rank.len()) && rank.bytes().all(|it| it.is_ascii_digit());
    let rest = without_blank(rest)?;
    is_rank.then_some(ranked(rank, rest))
}

/// Parses `[3] rest` of MPICH and Intel MPI. Rows of iperf have blanks in their brackets.
fn parse_bracketed_rank(line: &str) -> Option<Prefix<'_>> {
    let (rank, rest) = line.strip_prefix('[')?.split_once(']')?;
    let is_rank = (1..=6).contains(&rank.len()) && rank.bytes().all(|it| it.is_ascii_digit());
    is_rank.then_some(ranked(rank, without_blank(rest)?))
}

/// Parses `[2023-01-04 10:00:00] rest` and `[10:00:00] rest`.
fn parse_bracketed_time(line: &str) -> Option<Prefix<'_>> {
    let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
    let parsed = FileTime::parse_iso(time).or_else(|| FileTime::parse_ctime(time));
    (parsed.is_some() || is_clock(time)).then_some(timed(parsed, without_blank(rest)?))
}

/// Parses `Wed Jan  4 10:00:00 2023 rest`, the default of `iperf3 --timestamps`.
fn parse_ctime_prefix(line: &str) -> Option<Prefix<'_>> {
    let (time, rest) = split_ctime(line)?;
    Some(timed(Some(time), without_blank(rest)?))
}

/// Splits the time of `ctime` off.
fn split_ctime(line: &str) -> Option<(FileTime, &str)> {
    const LENGTH: usize = 24;
    let (time, rest) = line.split_at_checked(LENGTH)?;
    let is_year = time.ends_with(|last: char| last.is_ascii_digit());
    Some((FileTime::parse_ctime(time).filter(|_| is_year)?, rest))
}

/// Parses `2023-01-04 10:00:00.5 rest`.
fn parse_date_and_time(line: &str) -> Option<Prefix<'_>> {
    let (date, rest) = split_word(line);
    let (clock, rest) = split_word(rest.strip_prefix(' ')?);
    let is_date = date.len() == 10 && date.starts_with(|first: char| first.is_ascii_digit());
    if !is_date || !is_clock(clock) {
        return None;
    }
    let time = FileTime::parse_iso(&line[..date.len() + 1 + clock.len()])?;
    Some(timed(Some(time), without_blank(rest)?))
}

/// Parses `Jan  4 10:00:00 rest`, which has no year.
fn parse_syslog_time(line: &str) -> Option<Prefix<'_>> {
    const LENGTH: usize = 15;
    let (time, rest) = line.split_at_checked(LENGTH)?;
    let (date, clock) = time.split_at_checked(7)?;
    let is_day = FileTime::parse_ctime(&format!("{time} 2000")).is_some();
    let is_time = is_day && date.ends_with(' ') && is_clock(clock);
    is_time.then_some(timed(None, without_blank(rest)?))
}

/// Parses `node7 fio[4711]: rest`.
fn parse_syslog_process(line: &str) -> Option<Prefix<'_>> {
    let (host, rest) = split_word(line);
    let (process, rest) = split_word(rest.strip_prefix(' ')?);
    let number = process.strip_suffix("]:")?.rsplit_once('[')?.1;
    let is_process = !host.is_empty() && number.parse::<u32>().is_ok();
    is_process.then_some(ranked(host, without_blank(rest)?))
}

/// Parses `10:00:00.5 rest`.
fn parse_time_of_day(line: &str) -> Option<Prefix<'_>> {
    let (time, rest) = split_word(line);
    is_clock(time).then_some(timed(None, without_blank(rest)?))
}

/// Whether a word is `10:00:00`, with an optional fraction.
fn is_clock(word: &str) -> bool {
    let (clock, fraction) = word.split_once(['.', ',']).unwrap_or((word, ""));
    let is_digits = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
    let fields: Vec<&str> = clock.split(':').collect();
    fields.len() == 3
        && fields.iter().all(|field| field.len() == 2 && is_digits(field))
        && is_digits(fraction)
}

/// Parses `1672826400.123456 rest`, of this century.
fn parse_unix_time(line: &str) -> Option<Prefix<'_>> {
    let (word, rest) = split_word(line);
    let (seconds, fraction) = word.split_once('.')?;
    let is_time = seconds.len() == 10 && fraction.bytes().all(|it| it.is_ascii_digit());
    let time = FileTime::from_unix(seconds.parse().ok().filter(|_| is_time)?);
    Some(timed(Some(time), without_blank(rest)?))
}

/// Parses `node7: rest` of pdsh and clush. Programs put their own names before messages.
fn parse_host(line: &str) -> Option<Prefix<'_>> {
    let (name, rest) = line.split_once(':')?;
    let is_name = |it: char| it.is_ascii_alphanumeric() || "-.".contains(it);
    let has_digit = name.bytes().any(|it| it.is_ascii_digit());
    let is_tool = formats().any(|format| format.tool == name || format.name == name);
    let is_host = has_digit && name.chars().all(is_name) && !is_tool;
    is_host.then_some(ranked(name, without_blank(rest)?))
}

/// Parses `> rest` of a quoted mail or page.
fn parse_quotation_mark(line: &str) -> Option<Prefix<'_>> {
    Some(timed(None, without_blank(line.strip_prefix('>')?)?))
}
