//! Encoding of a line of events: the event as JSON, preceded by its number and a checksum.
//!
//! ```json
//! {"crc":"5d41402a","n":17,"event":"sample","series":3,"value":1.1e-9,"preparation":0,"at_ns":17}
//! ```
//!
//! `n` counts the events of a run from 1. `crc` is the CRC-32 (of IEEE 802.3, as in gzip) of the
//! text after it, from `"n"` to the last brace. It detects changed bytes, duplicated and missing
//! lines, and the line is still JSON that any tool reads.

use assay_model::event::RunEvent;

use crate::error::StoreError;

const CRC_PREFIX: &[u8] = b"{\"crc\":\"";
const CRC_DIGITS: usize = 8;
const CRC_SUFFIX: &[u8] = b"\",";
const NUMBER_KEY: &[u8] = b"\"n\":";

/// Encodes an event as a line with its line feed, and checks that it decodes to the same event.
/// JSON cannot represent NaN and infinity; such a value would be lost or make the line unreadable.
pub(crate) fn encode(number: u64, event: &RunEvent) -> Result<String, StoreError> {
    let encode_error =
        |error: serde_json::Error| StoreError::Encode { reason: error.to_string() };
    let json = event.to_json().map_err(encode_error)?;
    if RunEvent::from_json(json.as_bytes()).map_err(encode_error)? != *event {
        let reason = format!("it is read back as another one: {json}");
        return Err(StoreError::Encode { reason });
    }
    let body = format!("\"n\":{number},{}", json.strip_prefix('{').unwrap_or(&json));
    Ok(format!("{{\"crc\":\"{:08x}\",{body}\n", crc32fast::hash(body.as_bytes())))
}

/// Returns the number of a line with a valid checksum; `None` for any other.
pub(crate) fn verified_number(line: &[u8]) -> Option<u64> {
    let (digits, rest) = line.strip_prefix(CRC_PREFIX)?.split_at_checked(CRC_DIGITS)?;
    let body = rest.strip_prefix(CRC_SUFFIX)?;
    if !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let crc = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    if crc32fast::hash(body) != crc {
        return None;
    }
    let number = body.strip_prefix(NUMBER_KEY)?.split(|byte| *byte == b',').next()?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// Whether a line starts as [`encode`] writes a sample. The checksum is not verified.
pub(crate) fn is_sample(line: &[u8]) -> bool {
    let body = line.get(CRC_PREFIX.len() + CRC_DIGITS + CRC_SUFFIX.len()..).unwrap_or_default();
    let number = body.strip_prefix(NUMBER_KEY).unwrap_or_default();
    let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    has_checksum(line) && digits > 0 && number[digits..].starts_with(b",\"event\":\"sample\",")
}

/// Whether a line starts with a checksum, valid or not.
pub(crate) fn has_checksum(line: &[u8]) -> bool {
    line.starts_with(CRC_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_detects_every_changed_bit() {
        let event = RunEvent::CaseStarted { case: "memory.latency".to_owned() };
        let line = encode(17, &event).unwrap();
        let line = line.strip_suffix('\n').unwrap().as_bytes();
        assert_eq!(verified_number(line), Some(17));
        assert_eq!(serde_json::from_slice::<RunEvent>(line).unwrap(), event);
        let value: serde_json::Value = serde_json::from_slice(line).unwrap();
        assert_eq!((&value["n"], &value["event"]), (&17.into(), &"case-started".into()));
        for position in 0..line.len() {
            for bit in 0..8 {
                let mut damaged = line.to_vec();
                damaged[position] ^= 1 << bit;
                assert_eq!(verified_number(&damaged), None, "byte {position} bit {bit}");
            }
            assert_eq!(verified_number(&line[..position]), None, "cut at {position}");
        }
    }
}
