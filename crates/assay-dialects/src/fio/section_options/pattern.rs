//! Patterns of bytes: strings in quotes, hexadecimal digits and decimal numbers, one after another.

/// Contents of writes that are not unique numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContentOptions {
    /// `verify=pattern`: blocks contain `verify_pattern`, and reads are compared with it.
    pub verifies_pattern: bool,
    /// `verify_only`: the writes of another run are read back.
    pub only_verifies: bool,
    /// `verify_state_save`: the number of writes is written to a file at the end.
    pub saves_state: bool,
    /// `verify_state_load`: as many writes are read back as that file tells.
    pub loads_state: bool,
    /// `--aux-path` of the program: folder of those files.
    pub aux_path: Option<String>,
    /// `verify_pattern`.
    pub verify_pattern: Vec<u8>,
    /// Positions of the offset in it (`%o`).
    pub offset_places: Vec<usize>,
    /// `buffer_pattern`: contents of writes that are not verified.
    pub buffer_pattern: Vec<u8>,
    /// `dedupe_percentage`: percent of writes that repeat the one before.
    pub duplicate_percent: f64,
    /// `dedupe_mode=working_set`: they repeat writes of a set instead.
    pub uses_working_set: bool,
    /// `dedupe_working_set_percentage`: percent of the data that the set is.
    pub working_set_percent: Option<u64>,
    /// `dedupe_global`: jobs that run together share it.
    pub shares_working_set: bool,
}

/// Maximum length of a pattern.
const MAX_BYTES: usize = 512;

/// Format of the offset of an I/O in a pattern.
const OFFSET_FORMAT: &str = "%o";

/// Parses a pattern like `0xdeadbeef"text"-5`.
pub(in crate::fio) fn parse_pattern(text: &str) -> Result<Vec<u8>, String> {
    match parse_pattern_with_offsets(text)? {
        (bytes, places) if places.is_empty() => Ok(bytes),
        _ => Err("only verify_pattern may contain the offset of a block".to_owned()),
    }
}

/// Parses a pattern that may contain the offset (`%o`); returns its bytes and the positions of the
/// offset in them.
pub(in crate::fio) fn parse_pattern_with_offsets(
    text: &str,
) -> Result<(Vec<u8>, Vec<usize>), String> {
    let mut rest = text.trim();
    let (mut bytes, mut places) = (vec![], vec![]);
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(OFFSET_FORMAT) {
            places.push(bytes.len());
            bytes.extend([0; size_of::<u64>()]);
            rest = after;
            continue;
        }
        let (part, after) = parse_part(rest)?;
        bytes.extend(part);
        rest = after;
    }
    match bytes.len() {
        1..=MAX_BYTES => Ok((bytes, places)),
        _ => Err(format!("a pattern has 1 to {MAX_BYTES} bytes")),
    }
}

/// Parses the first part; returns its bytes and the text after it.
fn parse_part(text: &str) -> Result<(Vec<u8>, &str), String> {
    if let Some(quoted) = text.strip_prefix('"') {
        let (inside, after) = quoted.split_once('"').ok_or("a quotation mark is missing")?;
        return Ok((inside.as_bytes().to_vec(), after));
    }
    if text.starts_with('\'') {
        return Err("a pattern from a file is not supported".to_owned());
    }
    if text.starts_with('%') {
        return Err(format!("the only format is {OFFSET_FORMAT}, the offset of the I/O"));
    }
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => {
            let (digits, after) = split_digits(digits, |c| c.is_ascii_hexdigit());
            Ok((parse_hexadecimal(digits)?, after))
        }
        None => parse_decimal(text),
    }
}

/// Splits after the leading digits. A zero before an `x` belongs to the next number.
fn split_digits(text: &str, is_digit: fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !is_digit(c)).unwrap_or(text.len());
    let begins_next = text[..end].ends_with('0') && text[end..].starts_with(['x', 'X']);
    text.split_at(if begins_next { end - 1 } else { end })
}

/// Parses pairs of digits; of an odd number, the first one is a byte.
fn parse_hexadecimal(digits: &str) -> Result<Vec<u8>, String> {
    let odd = if digits.len() % 2 == 1 { "0" } else { "" };
    let padded = format!("{odd}{digits}");
    let pair = |at: usize| u8::from_str_radix(&padded[at..at + 2], 16).ok();
    let bytes = (0..padded.len()).step_by(2).map(pair).collect::<Option<Vec<_>>>();
    bytes
        .filter(|bytes| !bytes.is_empty())
        .ok_or_else(|| "digits are missing after 0x".to_owned())
}

/// Parses a decimal number of 32 bits: its bytes from the lowest to the highest that is not 0.
fn parse_decimal(text: &str) -> Result<(Vec<u8>, &str), String> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign_bytes = text.len() - unsigned.len();
    let (digits, after) = split_digits(unsigned, |c| c.is_ascii_digit());
    let number: i32 = text[..sign_bytes + digits.len()].parse().map_err(|_| {
        "it must be strings in quotes, numbers like 0xdeadbeef, or numbers of 32 bits"
            .to_owned()
    })?;
    let bytes = number.to_le_bytes();
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
    Ok((bytes[..used].to_vec(), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_the_bytes_that_fio_writes() {
        for (text, expected) in [
            ("\"abcd\"", &b"abcd"[..]),
            ("-1024", &[0x00, 0xfc, 0xff, 0xff]),
            ("66", &[0x42]),
            ("0", &[0]),
            ("0xFF0X1", &[0xff, 0x01]),
            ("\"123\"0xFFeeCC", &[0x31, 0x32, 0x33, 0xff, 0xee, 0xcc]),
            ("-100xab\"1\"", &[0xf6, 0xff, 0xff, 0xff, 0xab, 0x31]),
            ("0xdeadbeef\"abc\"-5", b"\xde\xad\xbe\xefabc\xfb\xff\xff\xff"),
        ] {
            assert_eq!(parse_pattern(text).as_deref(), Ok(expected), "{text}");
        }
        for (text, bytes, places) in [
            ("%o", &[0; 8][..], &[0][..]),
            ("1%o", &[1, 0, 0, 0, 0, 0, 0, 0, 0], &[1]),
            ("%o\"a\"%o", b"\0\0\0\0\0\0\0\0a\0\0\0\0\0\0\0\0", &[0, 9]),
        ] {
            let expected = Ok((bytes.to_vec(), places.to_vec()));
            assert_eq!(parse_pattern_with_offsets(text), expected, "{text}");
            assert!(parse_pattern(text).is_err(), "{text}");
        }
        for text in ["", "%x", "'file'", "\"open", "0x", "x", "5000000000", "-", "0xé", "é"] {
            assert!(parse_pattern(text).is_err(), "{text}");
        }
    }
}
