//! Parsers of job option values with their own grammar: lists, splits, ranges, rates.
//!
//! An error describes the expected value; the caller adds the option and its location.

use assay_model::workload::storage::{SizeShare, WriteSync};

use super::super::value::{self, NumberBase, SizeOrPercent};
use super::{DirectionReport, PerDirection, RwMode, VerifyMode};

/// Parses any text.
pub(in crate::fio) fn parse_text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// Splits at colons that are not escaped by a backslash, as fio does.
pub(in crate::fio) fn parse_names(text: &str) -> Result<Vec<String>, String> {
    let mut parts = vec![];
    let mut part = String::new();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' if characters.peek().is_some_and(|next| ":\\".contains(*next)) => {
                part.extend(characters.next());
            }
            ':' => parts.push(std::mem::take(&mut part)),
            c => part.push(c),
        }
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    Ok(parts)
}

/// Parses values for reads, writes and trims, separated by commas. A direction without a value has
/// that of the one before; an empty one keeps its value, as do those after a comma at the end.
pub(in crate::fio) fn parse_directions<T: Clone>(
    text: &str,
    before: &PerDirection<T>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<PerDirection<T>, String> {
    let mut values = before.clone();
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err("it must be up to three values, for reads,writes,trims".to_owned());
    }
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        let value = parse(part)?;
        let is_last = at + 1 == parts.len();
        for (nth, slot) in
            [&mut values.read, &mut values.write, &mut values.trim].into_iter().enumerate()
        {
            if nth == at || (is_last && nth > at) {
                slot.clone_from(&value);
            }
        }
    }
    Ok(values)
}

/// Parses `4k`: one size.
pub(in crate::fio) fn parse_fixed_size(
    text: &str,
    base: NumberBase,
) -> Result<Vec<SizeShare>, String> {
    let bytes = base.parse_bytes(text).filter(|bytes| *bytes > 0);
    bytes
        .map(|it| vec![SizeShare::single(it)])
        .ok_or_else(|| "it must be a size like 4k".to_owned())
}

/// Parses `1k-4k`: uniformly distributed multiples of the minimum.
pub(in crate::fio) fn parse_size_range(
    text: &str,
    base: NumberBase,
) -> Result<Vec<SizeShare>, String> {
    let halves = text.split_once('-').or_else(|| text.split_once(':'));
    let (minimum, most) = halves.ok_or("it must be a range like 1k-4k")?;
    // fio ignores what follows a number.
    let number = |text: &str| base.parse_bytes(text.split(['/', ':']).next().unwrap_or(text));
    match (number(minimum), number(most)) {
        (Some(min_bytes), Some(max_bytes)) if 0 < min_bytes && min_bytes <= max_bytes => {
            Ok(vec![SizeShare { min_bytes, max_bytes, step_bytes: min_bytes, share: 1.0 }])
        }
        _ => Err("it must be a range like 1k-4k".to_owned()),
    }
}

/// Parses `4k/10:64k/50:32k/`: sizes with percentages; sizes without one share the rest.
pub(in crate::fio) fn parse_size_split(
    text: &str,
    base: NumberBase,
) -> Result<Vec<SizeShare>, String> {
    let entry = |part: &str| {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let bytes = base.parse_bytes(size).filter(|bytes| *bytes > 0);
        let bytes = bytes.ok_or("it must be sizes with percentages like 4k/10:64k/90")?;
        let share =
            if percent.is_empty() { None } else { Some(parse_percentage(percent)? / 100.0) };
        Ok::<_, String>((bytes, share))
    };
    let entries = text.split(':').map(entry).collect::<Result<Vec<_>, _>>()?;
    let given: f64 = entries.iter().filter_map(|(_, share)| *share).sum();
    let open = entries.iter().filter(|(_, share)| share.is_none()).count();
    if given > 1.0 + 1e-6 || (open == 0 && given < 1.0 - 1e-6) {
        return Err("the percentages must add up to 100".to_owned());
    }
    let rest = (1.0 - given).max(0.0) / open.max(1) as f64;
    let sized = |(bytes, share): (u64, Option<f64>)| SizeShare {
        share: share.unwrap_or(rest),
        ..SizeShare::single(bytes)
    };
    let mut sizes: Vec<SizeShare> =
        entries.into_iter().map(sized).filter(|size| size.share > 0.0).collect();
    // fio draws from the rarest size to the most frequent one.
    sizes.sort_by(|one, other| one.share.total_cmp(&other.share));
    Ok(sizes)
}

/// Parses `continue_on_error`: errors of reads, of writes, and wrong data.
pub(in crate::fio) fn parse_continued_errors(text: &str) -> Result<[bool; 3], String> {
    match text {
        "none" | "0" => Ok([false; 3]),
        "read" => Ok([true, false, false]),
        "write" => Ok([false, true, false]),
        "io" => Ok([true, true, false]),
        "verify" => Ok([false, false, true]),
        "" | "all" | "1" => Ok([true; 3]),
        _ => Err("it must be none, read, write, io, verify or all".to_owned()),
    }
}

/// Parses `ignore_error`: lists of errors of reads, writes and verification, like `EIO:ENOSPC,28`.
pub(in crate::fio) fn parse_error_lists(text: &str) -> Result<[Vec<i32>; 3], String> {
    let mut lists = text.split(',').map(parse_errors);
    let mut next = || lists.next().unwrap_or_else(|| Ok(vec![]));
    let [reads, writes, damage] = [next()?, next()?, next()?];
    match lists.next() {
        None => Ok([reads, writes, damage]),
        Some(_) => {
            Err("it must be up to three lists, for reads,writes,verification".to_owned())
        }
    }
}

/// Parses errors between colons, by their names or numbers.
fn parse_errors(list: &str) -> Result<Vec<i32>, String> {
    /// Names of the errors from 1 on, the same on every Linux (`errno(3)`).
    const NAMES: [&str; 34] = [
        "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF",
        "ECHILD", "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST",
        "EXDEV", "ENODEV", "ENOTDIR", "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY",
        "ETXTBSY", "EFBIG", "ENOSPC", "ESPIPE", "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE",
    ];
    let one = |word: &str| {
        let by_name = NAMES.iter().position(|name| *name == word).map(|at| at as i32 + 1);
        let number = by_name.or_else(|| word.trim_start_matches('-').parse().ok());
        let number = number.filter(|number| *number > 0);
        number.ok_or_else(|| format!("it must be errors like EIO:ENOSPC, found `{word}`"))
    };
    list.split(':').map(str::trim).filter(|word| !word.is_empty()).map(one).collect()
}

/// Parses one rate; 0 is none.
pub(in crate::fio) fn parse_rate(text: &str, base: NumberBase) -> Result<Option<f64>, String> {
    match base.parse_bytes(text) {
        Some(rate) => Ok(Some(rate as f64).filter(|rate| *rate > 0.0)),
        None => Err("it must be a rate like 500 or 1m, for reads,writes".to_owned()),
    }
}

/// Parses numbers separated by colons, at most 20; returns them in ascending order.
pub(in crate::fio) fn parse_percentiles(text: &str) -> Result<Vec<f64>, String> {
    let inside = |value: &f64| *value > 0.0 && *value <= 100.0;
    let list = text.split(':').map(|part| value::parse_decimal(part.trim()).filter(inside));
    let list = list.collect::<Option<Vec<_>>>();
    let mut list = list.ok_or("it must be numbers above 0 to 100 between colons")?;
    if list.len() > 20 {
        return Err("fio takes 20 at most".to_owned());
    }
    list.sort_by(f64::total_cmp);
    Ok(list)
}

/// Parses `1` or `0`.
pub(in crate::fio) fn parse_flag(text: &str) -> Result<bool, String> {
    value::parse_flag(text).ok_or_else(|| "it must be 0 or 1".to_owned())
}

/// Parses bytes or a percentage.
pub(in crate::fio) fn parse_size(
    text: &str,
    base: NumberBase,
) -> Result<SizeOrPercent, String> {
    let size = base.parse_size(text);
    size.ok_or_else(|| "it must be a size like 4k or 1g, or a percentage".to_owned())
}

/// Parses bytes, or a number with their prefixes.
pub(in crate::fio) fn parse_bytes(text: &str, base: NumberBase) -> Result<u64, String> {
    base.parse_bytes(text).ok_or_else(|| "it must be a size like 4k or 1g".to_owned())
}

/// Parses a time into seconds.
pub(in crate::fio) fn parse_time(text: &str) -> Result<f64, String> {
    value::parse_seconds(text).ok_or_else(|| "it must be a time like 30s or 5m".to_owned())
}

/// Parses `kb_base`.
pub(in crate::fio) fn parse_kb_base(text: &str) -> Result<u32, String> {
    match text {
        "1000" => Ok(1000),
        "1024" => Ok(1024),
        _ => Err("it must be 1000 or 1024".to_owned()),
    }
}

pub(in crate::fio) fn parse_sync(text: &str) -> Result<WriteSync, String> {
    match text {
        "none" | "0" => Ok(WriteSync::None),
        "sync" | "1" => Ok(WriteSync::All),
        "dsync" => Ok(WriteSync::Data),
        _ => Err("it must be none, sync or dsync".to_owned()),
    }
}

pub(in crate::fio) fn parse_direction_report(text: &str) -> Result<DirectionReport, String> {
    match text {
        "none" | "0" => Ok(DirectionReport::Separate),
        "mixed" | "1" => Ok(DirectionReport::Mixed),
        "both" | "2" => Ok(DirectionReport::Both),
        _ => Err("it must be none, mixed or both".to_owned()),
    }
}

pub(in crate::fio) fn parse_choice(text: &str, words: &[&str]) -> Result<usize, String> {
    let index = words.iter().position(|word| *word == text);
    index.ok_or_else(|| format!("it must be {}", words.join(" or ")))
}

pub(in crate::fio) fn parse_percentage(text: &str) -> Result<f64, String> {
    let number = value::parse_decimal(text.trim().trim_end_matches('%'));
    let inside = number.filter(|percent| (0.0..=100.0).contains(percent));
    inside.ok_or_else(|| "it must be a percentage from 0 to 100".to_owned())
}

pub(in crate::fio) fn parse_integer(
    text: &str,
    minimum: u64,
    most: u64,
) -> Result<u64, String> {
    let value = value::parse_whole(text).filter(|value| (minimum..=most).contains(value));
    value.ok_or_else(|| match most {
        u64::MAX => format!("it must be a whole number from {minimum}"),
        most => format!("it must be a whole number from {minimum} to {most}"),
    })
}

/// Parses one size; of a list for reads, writes and trims, takes the first.
pub(in crate::fio) fn parse_single_size(text: &str, base: NumberBase) -> Result<u64, String> {
    base.parse_bytes(first_of_list(text))
        .ok_or_else(|| "it must be one size like 4k or 1g".to_owned())
}

/// Parses milliseconds into seconds; at least 10 ms, because shorter samples hold too few I/O.
pub(in crate::fio) fn parse_milliseconds(text: &str) -> Result<f64, String> {
    parse_integer(text, 10, 3_600_000).map(|value| value as f64 / 1e3)
}

pub(in crate::fio) fn first_of_list(text: &str) -> &str {
    text.split(',').next().unwrap_or_default()
}

/// Parses `rw`, and returns it also as text for the report.
pub(in crate::fio) fn parse_rw(
    text: &str,
    base: NumberBase,
) -> Result<(RwMode, String), String> {
    let (word, gap) = text.split_once(':').unwrap_or((text, ""));
    let known = [
        ("read", true, false, false),
        ("write", false, true, false),
        ("trim", false, true, false),
        ("rw", true, true, false),
        ("readwrite", true, true, false),
        ("randread", true, false, true),
        ("randwrite", false, true, true),
        ("randtrim", false, true, true),
        ("randrw", true, true, true),
        ("trimwrite", true, true, false),
        ("randtrimwrite", true, true, true),
    ];
    let Some((_, reads, writes, random)) = known.iter().find(|row| row.0 == word) else {
        return Err(
            "it must be read, write, rw, trim, trimwrite, randread, randwrite, randrw, \
                    randtrim or randtrimwrite"
                .to_owned(),
        );
    };
    let (gap_bytes, run_length) = match (gap, random) {
        ("", _) => (0, 1),
        (count, true) => (0, parse_integer(count, 1, u32::MAX.into())?),
        (gap, false) => (parse_gap(gap, base)?, 1),
    };
    let trims = word.ends_with("trim");
    let mode = RwMode {
        reads: *reads,
        writes: *writes,
        trims,
        trims_first: word.ends_with("trimwrite"),
        random: *random,
        gap_bytes,
        run_length,
    };
    let word = if word == "readwrite" { "rw" } else { word };
    Ok((mode, word.to_owned()))
}

/// Parses the gap of `rw=read:8k` or `rw=read:-8k`.
fn parse_gap(text: &str, base: NumberBase) -> Result<i64, String> {
    let (sign, size) = match text.strip_prefix('-') {
        Some(size) => (-1, size),
        None => (1, text),
    };
    let bytes = base.parse_bytes(size).and_then(|bytes| i64::try_from(bytes).ok());
    let bytes = bytes.ok_or("expected a size after the colon, like read:8k or read:-8k")?;
    Ok(sign * bytes)
}

/// `verify=pattern`: blocks without a header.
pub(in crate::fio) const PATTERN: &str = "pattern";

pub(in crate::fio) fn parse_verify(text: &str) -> Result<VerifyMode, String> {
    const METHODS: [&str; 18] = [
        "md5",
        "crc64",
        "crc32c",
        "crc32c-intel",
        "crc32",
        "crc16",
        "crc7",
        "xxhash",
        "sha512",
        "sha256",
        "sha1",
        "sha3-224",
        "sha3-256",
        "sha3-384",
        "sha3-512",
        "meta",
        "pattern_hdr",
        PATTERN,
    ];
    match text {
        "0" | "none" => Ok(VerifyMode::Off),
        "null" => Err("it checks nothing".to_owned()),
        method if METHODS.contains(&method) => Ok(VerifyMode::On),
        _ => Err(format!("it must be 0 or one of {}", METHODS.join(", "))),
    }
}
