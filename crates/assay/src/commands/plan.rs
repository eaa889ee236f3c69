//! `assay plan`: calculates required I/O in flight and volume sizes before a measurement.

use std::fmt::Write as _;

use assay_archive::repetition_plan::describe_repetitions;
use assay_model::quantity::{Quantity, Unit};
use assay_model::sizing::{self, LittlesLaw, VolumeKind};
use serde_json::{Value, json};

use crate::arguments::plan::{AnfArguments, LittlesLawArguments, PlanArguments, PlanCommand};
use crate::terminal::Terminal;
use crate::{page, store_access};
use assay_run::failure::CommandFailure;

const MIB: f64 = 1_048_576.0;
/// Plausibility limits for rates and sizes: thousands of today's fastest machines together.
const MAX_RATE: f64 = 1e12;
const MAX_BYTES: f64 = 1e21;

pub(crate) fn plan(
    typed: &PlanArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let ((text, json), answer) = match &typed.what {
        PlanCommand::LittlesLaw(typed) => (littles_law(typed)?, &typed.answer),
        PlanCommand::Anf(typed) => (plan_anf(typed)?, &typed.answer),
        PlanCommand::Runs(typed) => {
            let names = typed.runs.join(",");
            let read = store_access::read_condition(&typed.store, (&names, None), terminal)?;
            let (text, json) = describe_repetitions(
                &read.runs,
                typed.difference,
                typed.metric.as_deref(),
                &|text| terminal.wrap(text),
            )?;
            return page::publish_lines(&text, &json, &typed.answer, terminal).map(|()| 0);
        }
    };
    page::publish_brief(&text, &json, answer, terminal)?;
    Ok(0)
}

/// Returns the result as text, and as JSON in base units.
fn littles_law(typed: &LittlesLawArguments) -> Result<(String, Value), CommandFailure> {
    let law =
        LittlesLaw::from_two(typed.rate, typed.latency, typed.depth).ok_or_else(|| {
            CommandFailure::usage("expected exactly two of --rate, --latency and --depth")
                .advise("for example: assay plan littles-law --rate 3500 --latency 1.14ms")
        })?;
    reject_above("I/O per second", law.rate_per_s, MAX_RATE)?;
    reject_above("I/O in flight", law.in_flight, MAX_RATE)?;
    let json = json!({
        "rate": json_value(law.rate_per_s, Unit::IoPerSecond),
        "latency": json_value(law.latency_s, Unit::Second),
        "in_flight": json_value(law.in_flight, Unit::Count),
        "threads": json_value(law.threads() as f64, Unit::Count),
    });
    let rate = Quantity::new(law.rate_per_s, Unit::IoPerSecond);
    let latency = Quantity::new(law.latency_s, Unit::Second);
    let in_flight = Quantity::new(law.in_flight, Unit::Count);
    let threads = law.threads();
    let plural = if threads == 1 { "" } else { "s" };
    let (answer, reason) = match (typed.rate, typed.latency) {
        (Some(_), Some(_)) => (
            format!("{threads} thread{plural} with one I/O each, or a depth of {threads}"),
            format!("{rate} × {latency} = {in_flight} in flight"),
        ),
        (Some(_), None) => (
            format!("at most {latency} per I/O on average"),
            format!("{in_flight} in flight ÷ {rate} = {latency}"),
        ),
        _ => (format!("at most {rate}"), format!("{in_flight} in flight ÷ {latency} = {rate}")),
    };
    let text = format!(
        "{answer}\n  why: in flight = rate × latency (Little's law): {reason}\n  \
         note: with less in flight, no storage can reach the rate; with \
         more, I/O waits in a queue and latency grows\n"
    );
    Ok((text, json))
}

/// Rejects an implausible number: its unit is wrong, or it has extra digits.
fn reject_above(what: &str, number: f64, most: f64) -> Result<(), CommandFailure> {
    if number <= most {
        return Ok(());
    }
    Err(CommandFailure::usage(format!("{number:.0e} {what} is implausible")).advise(
        "check the units: 3500 or 300k per second, 1.14ms, 4 threads, 4500MiB/s, 10TiB",
    ))
}

fn plan_anf(typed: &AnfArguments) -> Result<(String, Value), CommandFailure> {
    let (level, kind) = (typed.level, typed.volume);
    let cap = kind.cap_bytes_per_s(level);
    reject_above("bytes", typed.quota.unwrap_or(0.0), MAX_BYTES)?;
    let (quota, rate, capped) = match (typed.throughput, typed.quota) {
        (Some(throughput), _) => {
            let rate = throughput.bytes_per_s();
            match sizing::quota_bytes(level, kind, rate) {
                Some(quota) => (quota, rate, false),
                None => return Err(cap_failure(typed, rate, cap)),
            }
        }
        (None, quota) => {
            let quota = quota.unwrap_or(0.0);
            let (rate, capped) = sizing::throughput_bytes_per_s(level, kind, quota);
            (quota, rate, capped)
        }
    };
    let window = typed.round_trip.map(|round_trip_s| {
        (round_trip_s, sizing::window_bytes(rate, round_trip_s, typed.connections))
    });
    let json = json!({
        "quota": json_value(quota, Unit::Byte),
        "throughput": json_value(rate, Unit::BytePerSecond),
        "cap": json_value(cap, Unit::BytePerSecond),
        "capped": capped,
        "window_per_connection": window.map(|(_, bytes)| json_value(bytes, Unit::Byte)),
        "connections": typed.connections,
    });
    Ok((anf_text(typed, (quota, rate, cap), capped, window), json))
}

fn anf_text(
    typed: &AnfArguments,
    (quota, rate, cap): (f64, f64, f64),
    capped: bool,
    window: Option<(f64, f64)>,
) -> String {
    let per_tib = typed.level.mib_per_s_per_tib();
    let size = Quantity::new(quota, Unit::Byte);
    let volume = match typed.volume {
        VolumeKind::Regular => "a regular volume",
        VolumeKind::Large => "a large volume of this level",
    };
    let mut text = String::new();
    let _ = match (typed.throughput.is_some(), capped) {
        (true, _) => writeln!(
            text,
            "{size} of quota\n  why: {} ÷ {per_tib} MiB/s per TiB = {size}",
            format_mib_per_s(rate)
        ),
        (false, false) => writeln!(
            text,
            "{}\n  why: {size} × {per_tib} MiB/s per TiB = {}",
            format_mib_per_s(rate),
            format_mib_per_s(rate)
        ),
        (false, true) => writeln!(
            text,
            "{}\n  why: {volume} gives no more, although {size} × {per_tib} MiB/s per TiB = {}",
            format_mib_per_s(rate),
            format_mib_per_s(quota * typed.level.rate_per_byte())
        ),
    };
    let _ = writeln!(text, "  cap: {volume} gives {} at most", format_mib_per_s(cap));
    if let Some((round_trip_s, bytes)) = window {
        let _ = writeln!(
            text,
            "  window: {} per connection: {} × {} over {} connection{}; net.ipv4.tcp_rmem (reads) \
             and tcp_wmem (writes) must allow twice as much, because the kernel counts its own \
             overhead in it",
            Quantity::new(bytes, Unit::Byte),
            format_mib_per_s(rate),
            Quantity::new(round_trip_s, Unit::Second),
            typed.connections,
            if typed.connections == 1 { "" } else { "s" }
        );
    }
    text
}

fn cap_failure(typed: &AnfArguments, rate: f64, cap: f64) -> CommandFailure {
    let failure = CommandFailure::usage(format!("no quota gives {}", format_mib_per_s(rate)))
        .with_reason(format!(
            "one volume of this kind and level gives {} at most",
            format_mib_per_s(cap)
        ));
    match typed.volume {
        VolumeKind::Regular => failure.advise("use --volume large, or several volumes"),
        VolumeKind::Large => failure.advise("use several volumes, or a higher --level"),
    }
}

/// Formats a rate in the unit in which the service is sold.
fn format_mib_per_s(bytes_per_s: f64) -> String {
    let text = format!("{:.2}", bytes_per_s / MIB);
    format!("{} MiB/s", text.trim_end_matches('0').trim_end_matches('.'))
}

fn json_value(value: f64, unit: Unit) -> Value {
    json!({ "value": value, "unit": unit.symbol() })
}
