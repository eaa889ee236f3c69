//! Rates and datagrams as iperf and iperf3 print them: bits with decimal prefixes, bytes with binary
//! ones.

use super::transfer::{DatagramCounts, MeanRate};
use crate::outputs::{ToolError, parse_non_negative, parse_number};

/// Parses the rate. Where rounding leaves it fewer digits than the transferred amount has, it is
/// derived from the amount and the time.
pub(super) fn parse_rate(
    (amount, amount_unit): (&str, &str),
    (rate, rate_unit): (&str, &str),
    seconds: f64,
) -> Result<Option<MeanRate>, ToolError> {
    let bits = rate_unit.strip_suffix("/sec").and_then(bits_per_unit);
    let bits = bits.ok_or_else(|| ToolError::InvalidNumber {
        what: "the unit of the rate".to_owned(),
        text: rate_unit.to_owned(),
    })?;
    let bit_per_s = parse_non_negative("the rate", rate)? * bits;
    let transferred = bits_per_unit(amount_unit).ok_or_else(|| ToolError::InvalidNumber {
        what: "the unit of the transfer".to_owned(),
        text: amount_unit.to_owned(),
    })?;
    let transferred = parse_non_negative("the transfer", amount)? * transferred;
    let ratio = bit_per_s * seconds / transferred;
    // Short times and few digits are rounded much.
    if seconds >= 1.0 && transferred > 0.0 && bit_per_s > 0.0 && !(0.5..=2.0).contains(&ratio) {
        let what =
            format!("{amount} {amount_unit} in {seconds:.2} s are not {rate} {rate_unit}");
        return Err(ToolError::Contradiction { what });
    }
    if transferred > 0.0 && seconds > 0.0 && count_digits(rate) < 3.min(count_digits(amount)) {
        return Ok(MeanRate::from_bytes(transferred / 8.0, seconds));
    }
    let rate = MeanRate { bit_per_s, seconds: seconds.max(0.0) };
    Ok(Some(rate).filter(|it| it.bit_per_s > 0.0))
}

/// Counts the significant digits of a printed number.
fn count_digits(number: &str) -> usize {
    number.trim_start_matches(['0', '.']).bytes().filter(u8::is_ascii_digit).count()
}

/// Returns the bits of a unit: bits have decimal prefixes, bytes binary ones.
fn bits_per_unit(unit: &str) -> Option<f64> {
    let (prefix, is_bytes) = match (unit.strip_suffix("bits"), unit.strip_suffix("Bytes")) {
        (Some(prefix), _) => (prefix, false),
        (None, Some(prefix)) => (prefix, true),
        (None, None) => return None,
    };
    let power = ["", "K", "M", "G", "T"].iter().position(|it| *it == prefix)?;
    let power = i32::try_from(power).ok()?;
    Some(if is_bytes { 8.0 * 1024_f64.powi(power) } else { 1000_f64.powi(power) })
}

/// Parses `0.012 ms 0/8327 (0%)`, or `20` of a sender.
pub(super) fn parse_datagrams(rest: &[&str]) -> Result<Option<DatagramCounts>, ToolError> {
    let [jitter, "ms", counts, ..] = rest else { return Ok(None) };
    let Some((lost, all)) = counts.split_once('/') else { return Ok(None) };
    Ok(Some(DatagramCounts {
        // Duplicated datagrams can make the loss negative.
        lost: parse_number("lost datagrams", lost)?.max(0.0) as u64,
        all: parse_non_negative("datagrams", all)? as u64,
        reordered: None,
        jitter_s: Some(parse_non_negative("the jitter", jitter)? / 1e3),
    }))
}
