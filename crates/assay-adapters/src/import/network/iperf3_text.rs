//! Import of iperf3's text output: the totals at its end.
//!
//! Its bits are decimal (`Gbits/sec` are 10⁹ bit/s), its bytes are binary (units.c).

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::EventCount;

use super::super::{ImportedMeasurement, missing, word_after};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{
    ParsedOutput, ToolError, parse_non_negative, parse_positive, parse_whole,
};

pub(super) fn is_iperf3_text(text: &str) -> bool {
    text.contains("[ ID] Interval") && text.contains("bits/sec")
}

/// Maximum number of words after a rate that are read: jitter, its unit and lost datagrams.
const MAX_REST: usize = 8;

/// Line of totals.
struct Iperf3Total<'t> {
    id: &'t str,
    seconds: f64,
    bit_per_s: f64,
    rest: Vec<&'t str>,
    is_receiver: bool,
}

pub(super) fn read(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let mut totals = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if line.ends_with("sender") || line.ends_with("receiver") {
            totals.extend(parse_total(line)?);
            check_limit(totals.len(), ("lines of totals", MAX_MEASUREMENTS))?;
        }
    }
    let of = |receiver: bool| {
        let mut all = totals.iter().filter(move |it| it.is_receiver == receiver);
        all.clone().find(|it| it.id == "SUM").or_else(|| all.next())
    };
    let received = of(true).ok_or_else(|| ToolError::Truncated {
        missing: "the receiver's total is missing".to_owned(),
    })?;
    let ids = totals.iter().filter(|it| it.is_receiver && it.id != "SUM");
    let streams = ids.count().max(1);
    if streams > 1 && received.id != "SUM" {
        return Err(missing("line [SUM] of several streams"));
    }
    let is_udp = text.contains("Lost/Total Datagrams");
    let mut parsed = ParsedOutput::default();
    parsed.add_samples("goodput", vec![received.bit_per_s]);
    parsed.set_weights(vec![received.seconds]);
    if let Some(sent) = of(false) {
        parsed.add_samples("send_rate", vec![sent.bit_per_s]);
        parsed.set_weights(vec![sent.seconds]);
        if let (false, Some(again)) = (is_udp, sent.rest.first()) {
            parsed.add_samples("retransmits", vec![parse_non_negative("Retr", again)?]);
        }
    }
    if is_udp {
        add_datagrams(received, &mut parsed)?;
    }
    let benchmark = if is_udp { Benchmark::NetworkUdp } else { Benchmark::NetworkTcp };
    let mut dimensions = Attributes::from([
        (Attribute::Streams, streams.into()),
        (Attribute::Copy, true.into()),
        (Attribute::Direction, direction(text).into()),
        (Attribute::Seconds, (received.seconds.round() as u64).into()),
    ]);
    let to = word_after(text, "Connecting to host").map(|host| host.trim_end_matches(','));
    dimensions.extend(to.map(|to| (Attribute::To, to.into())));
    let name = format!("streams={streams}");
    Ok(vec![ImportedMeasurement {
        name,
        benchmark,
        dimensions,
        system: None,
        began: None,
        lines: None,
        parsed,
    }])
}

fn direction(text: &str) -> &'static str {
    match text.contains("Reverse mode") {
        true => "receive",
        false => "send",
    }
}

/// Parses `[SUM] 0.00-10.00 sec 10.9 GBytes 9.41 Gbits/sec 123 sender`.
fn parse_total(line: &str) -> Result<Option<Iperf3Total<'_>>, ToolError> {
    let Some((id, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return Ok(None);
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let Some(at) = words.iter().position(|word| word.ends_with("bits/sec")) else {
        return Ok(None);
    };
    let (Some(value), Some((from, to))) = (
        at.checked_sub(1).and_then(|at| words.get(at)),
        words.first().and_then(|it| it.split_once('-')),
    ) else {
        return Ok(None);
    };
    let factor = match words[at] {
        "bits/sec" => 1.0,
        "Kbits/sec" => 1e3,
        "Mbits/sec" => 1e6,
        "Gbits/sec" => 1e9,
        "Tbits/sec" => 1e12,
        other => {
            return Err(ToolError::InvalidNumber {
                what: "the rate".to_owned(),
                text: other.to_owned(),
            });
        }
    };
    Ok(Some(Iperf3Total {
        id: id.trim(),
        seconds: parse_positive("the interval", to)?
            - parse_non_negative("the interval", from)?,
        bit_per_s: parse_positive("the rate", value)? * factor,
        rest: words[at + 1..words.len() - 1].iter().copied().take(MAX_REST).collect(),
        is_receiver: line.ends_with("receiver"),
    }))
}

/// Adds jitter and loss of a receiver's line: `0.012 ms 0/8327 (0%)`.
fn add_datagrams(total: &Iperf3Total<'_>, parsed: &mut ParsedOutput) -> Result<(), ToolError> {
    let [jitter, "ms", counts, ..] = total.rest[..] else {
        return Err(missing("jitter and lost datagrams of the receiver"));
    };
    let (lost, all) = counts.split_once('/').ok_or_else(|| missing("lost of all datagrams"))?;
    let all = parse_whole("datagrams", all)?;
    if all > 0 {
        parsed.add_ratio(
            "loss",
            EventCount { part: parse_whole("lost datagrams", lost)?, whole: all },
        );
    }
    parsed.add_samples("jitter", vec![parse_non_negative("the jitter", jitter)? / 1e3]);
    Ok(())
}
