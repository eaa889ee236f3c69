//! Rows of iperf3's text, and the totals of several of them.

use super::super::printed_rate::{parse_datagrams, parse_rate};
use super::super::transfer::{DatagramCounts, MeanRate};
use crate::outputs::{ToolError, parse_non_negative};

/// Row of an interval or of a total.
#[derive(Debug, Clone)]
pub(super) struct Iperf3Row<'t> {
    pub id: &'t str,
    /// Its beginning and end: `0.00-1.00`.
    pub interval: &'t str,
    /// Whether this end sends the stream, in a test of both directions.
    pub sends: Option<bool>,
    /// Whether the receiver counted; `None` = the row does not tell.
    pub end: Option<bool>,
    rate: Option<MeanRate>,
    retransmits: Option<f64>,
    datagrams: Option<DatagramCounts>,
}

/// Parses `[SUM][TX-C] 0.00-10.00 sec 10.9 GBytes 9.41 Gbits/sec 123 sender`; the heading names the
/// columns behind the rate. `None` for a line that is no row.
pub(super) fn parse_row<'t>(
    line: &'t str,
    heading: &str,
) -> Result<Option<Iperf3Row<'t>>, ToolError> {
    let Some((id, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return Ok(None);
    };
    let (role, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((role, rest)) => (Some(role), rest),
        None => (None, rest),
    };
    let mut words: Vec<&str> = rest.split_whitespace().take(MAX_WORDS).collect();
    let end = match words.last() {
        Some(&"sender") => Some(false),
        Some(&"receiver") => Some(true),
        _ => None,
    };
    if end.is_some() {
        words.pop();
    }
    let [interval, "sec", amount, amount_unit, rate, rate_unit, rest @ ..] = &words[..] else {
        return Ok(None);
    };
    let Some((from, to)) = interval.split_once('-') else { return Ok(None) };
    let seconds =
        parse_non_negative("the interval", to)? - parse_non_negative("the interval", from)?;
    let sends = role.map(|role| role.starts_with("TX"));
    let has = |name: &str| heading.contains(name);
    let datagrams = if has("Lost/Total") { parse_datagrams(rest)? } else { None };
    let retransmits = match rest.first() {
        Some(count) if has("Retr") && end != Some(true) => {
            Some(parse_non_negative("Retr", count)?)
        }
        Some(_) | None => None,
    };
    let rate = parse_rate((amount, amount_unit), (rate, rate_unit), seconds)?;
    Ok(Some(Iperf3Row { id: id.trim(), interval, sends, end, rate, retransmits, datagrams }))
}

/// Maximum number of words of a row that are read.
const MAX_WORDS: usize = 16;

/// Lists the roles that occur: one without roles, two in a test of both directions.
pub(super) fn list_roles(totals: &[Iperf3Row<'_>]) -> Vec<bool> {
    let mut roles: Vec<bool> = totals.iter().map(|it| it.sends.unwrap_or(true)).collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}

/// Counts the streams of one direction.
pub(super) fn count_streams(totals: &[Iperf3Row<'_>]) -> u64 {
    let count = |receiver: Option<bool>, sends: Option<bool>| {
        let of =
            |it: &&Iperf3Row<'_>| it.id != "SUM" && it.end == receiver && it.sends == sends;
        totals.iter().filter(of).count()
    };
    let ends = [None, Some(false), Some(true)];
    let counts = ends.iter().flat_map(|end| ends.iter().map(|sends| count(*end, *sends)));
    counts.max().unwrap_or(1).max(1) as u64
}

/// Returns the rows of one role and end that make its total: `[SUM]`, or every stream.
fn total_rows<'r, 't>(
    totals: &'r [Iperf3Row<'t>],
    role: bool,
    is_receiver: bool,
) -> Vec<&'r Iperf3Row<'t>> {
    let of = |it: &&Iperf3Row<'_>| {
        it.sends.unwrap_or(true) == role && it.end.unwrap_or(is_receiver) == is_receiver
    };
    let rows: Vec<&Iperf3Row<'_>> = totals.iter().filter(of).collect();
    match rows.iter().find(|it| it.id == "SUM") {
        Some(sum) => vec![*sum],
        None => rows,
    }
}

/// Returns the rate of one role at one end.
pub(super) fn total_rate(
    totals: &[Iperf3Row<'_>],
    role: bool,
    is_receiver: bool,
) -> Option<MeanRate> {
    let rows = total_rows(totals, role, is_receiver);
    let rates: Vec<Option<MeanRate>> =
        rows.iter().map(|row| received_rate(row, is_receiver)).collect();
    MeanRate::sum(&rates)
}

/// Returns the rate of a row. Without an end it is the sender's (UDP before 3.2), less the
/// lost datagrams.
fn received_rate(row: &Iperf3Row<'_>, is_receiver: bool) -> Option<MeanRate> {
    let rate = row.rate?;
    match (row.end, row.datagrams) {
        (None, Some(counts)) if is_receiver && counts.all > 0 => {
            let arrived = 1.0 - counts.lost.min(counts.all) as f64 / counts.all as f64;
            let bit_per_s = rate.bit_per_s * arrived;
            Some(MeanRate { bit_per_s, ..rate }).filter(|it| it.bit_per_s > 0.0)
        }
        _ => Some(rate),
    }
}

/// Adds the retransmits of all directions.
pub(super) fn sum_retransmits(totals: &[Iperf3Row<'_>]) -> Option<f64> {
    let roles = list_roles(totals);
    let rows = roles.iter().flat_map(|role| total_rows(totals, *role, false));
    let counts: Vec<f64> = rows.filter_map(|row| row.retransmits).collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

/// Adds the datagrams of all directions as the receivers counted them; the jitter is the largest.
pub(super) fn sum_datagrams(totals: &[Iperf3Row<'_>]) -> Option<DatagramCounts> {
    let roles = list_roles(totals);
    let rows = roles.iter().flat_map(|role| total_rows(totals, *role, true));
    let counts = rows.filter_map(|row| row.datagrams);
    counts.reduce(DatagramCounts::with)
}
