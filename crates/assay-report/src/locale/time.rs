//! Times for people: in the zone of the machine, with its abbreviation. Stored times are in UTC.

use std::sync::RwLock;

use assay_model::poisoned_lock::PoisonedLock as _;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Source of the zone of all formatted times.
static READ_ZONE: RwLock<fn() -> TimeZone> = RwLock::new(utc);

const fn utc() -> TimeZone {
    TimeZone::UTC
}

/// Sets the source of the zone of all formatted times in this process. Without it they are in UTC.
pub fn set_time_zone(read: fn() -> TimeZone) {
    *READ_ZONE.write().even_if_poisoned() = read;
}

/// Returns the name of the zone of all formatted times: `Europe/Prague`, or its offset from UTC.
pub fn time_zone_name() -> String {
    let zone = zone();
    let offset = || zone.to_offset(jiff::Timestamp::now()).to_string();
    zone.iana_name().map_or_else(offset, str::to_owned)
}

fn zone() -> TimeZone {
    let read = *READ_ZONE.read().even_if_poisoned();
    read()
}

/// Formats an RFC 3339 time to the minute: `2026-11-22 07:01 UTC`. Returns other texts unchanged.
pub(crate) fn format_minute(rfc3339: &str) -> String {
    minute_in(rfc3339, zone())
}

fn minute_in(rfc3339: &str, zone: TimeZone) -> String {
    match zoned(rfc3339, zone) {
        Some(time) => format!("{} {}", time.strftime("%Y-%m-%d %H:%M"), abbreviation(&time)),
        None => rfc3339.to_owned(),
    }
}

/// Returns the time to the minute where it differs from UTC, which the identifier of a run contains.
pub(crate) fn local_minute(rfc3339: &str) -> Option<String> {
    let time = zoned(rfc3339, zone())?;
    (time.offset().seconds() != 0).then(|| format_minute(rfc3339))
}

/// Formats the start and the end of a run to the second: `2026-11-21 10:44:55` and `10:45:10 UTC`. The
/// end has a date only if it differs. The zone follows the last time, or both if they differ in it.
pub(crate) fn format_period(start: &str, end: Option<&str>) -> (String, Option<String>) {
    period_in(start, end, &zone())
}

fn period_in(start: &str, end: Option<&str>, zone: &TimeZone) -> (String, Option<String>) {
    let start_time = zoned(start, zone.clone());
    let end_time = end.map(|end| (zoned(end, zone.clone()), end));
    let has_zone = match (&start_time, &end_time) {
        (Some(start), Some((Some(end), _))) => abbreviation(start) != abbreviation(end),
        (Some(_) | None, _) => true,
    };
    let day = |time: &Zoned| time.strftime("%Y-%m-%d").to_string();
    let with_zone = |time: &Zoned, has_day: bool, has_zone: bool| {
        let parts = [
            has_day.then(|| day(time)),
            Some(time.strftime("%H:%M:%S").to_string()),
            has_zone.then(|| abbreviation(time)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\u{a0}")
    };
    let end = end_time.map(|(time, written)| {
        let is_other_day =
            |it: &Zoned| start_time.as_ref().is_none_or(|start| start.date() != it.date());
        time.map_or_else(|| written.to_owned(), |it| with_zone(&it, is_other_day(&it), true))
    });
    let start = start_time
        .as_ref()
        .map_or_else(|| start.to_owned(), |it| with_zone(it, true, has_zone));
    (start, end)
}

fn zoned(rfc3339: &str, zone: TimeZone) -> Option<Zoned> {
    rfc3339.parse::<Timestamp>().ok().map(|it| it.to_zoned(zone))
}

/// Returns the abbreviation of a zone, or its difference from UTC if it has none: `CET`, `UTC-03`.
fn abbreviation(time: &Zoned) -> String {
    let name = time.strftime("%Z").to_string();
    if name.starts_with(['+', '-']) { format!("UTC{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rules as in the zone database, which a machine may lack.
    const PRAGUE: &str = "CET-1CEST,M3.5.0,M10.5.0/3";
    const TOKYO: &str = "JST-9";
    const ST_JOHNS: &str = "NST3:30NDT,M3.2.0,M11.1.0";
    const SAO_PAULO: &str = "<-03>3";

    fn posix(rule: &str) -> TimeZone {
        TimeZone::posix(rule).unwrap()
    }

    #[test]
    fn minutes_have_the_zone_of_their_season() {
        for (rule, time, expected) in [
            (PRAGUE, "2026-11-27T19:03:59Z", "2026-11-27 20:03 CET"),
            (PRAGUE, "2026-10-25T00:59:59Z", "2026-10-25 02:59 CEST"),
            (PRAGUE, "2026-10-25T01:00:00Z", "2026-10-25 02:00 CET"),
            (PRAGUE, "2026-03-29T00:59:59.9Z", "2026-03-29 01:59 CET"),
            (PRAGUE, "2026-03-29T01:00:00Z", "2026-03-29 03:00 CEST"),
            (TOKYO, "2026-12-31T15:00:00Z", "2027-01-01 00:00 JST"),
            (ST_JOHNS, "2026-11-27T02:00:00Z", "2026-11-26 22:30 NST"),
            (ST_JOHNS, "2026-07-01T12:00:00Z", "2026-07-01 09:30 NDT"),
            (SAO_PAULO, "2026-07-01T12:00:00Z", "2026-07-01 09:00 UTC-03"),
            (PRAGUE, "yesterday", "yesterday"),
        ] {
            assert_eq!(minute_in(time, posix(rule)), expected);
        }
        assert_eq!(format_minute("2026-11-27T19:03:59Z"), "2026-11-27 19:03 UTC");
        assert_eq!(local_minute("2026-11-27T19:03:59Z"), None);
    }

    #[test]
    fn ends_repeat_neither_day_nor_zone() {
        for (start, end, expected) in [
            (
                "2026-11-27T19:03:00Z",
                "2026-11-27T19:04:05Z",
                "2026-11-27 20:03:00 – 20:04:05 CET",
            ),
            (
                "2026-11-27T22:59:00Z",
                "2026-11-27T23:00:00Z",
                "2026-11-27 23:59:00 – 2026-11-28 00:00:00 CET",
            ),
            (
                "2026-10-25T00:59:00Z",
                "2026-10-25T01:00:00Z",
                "2026-10-25 02:59:00 CEST – 02:00:00 CET",
            ),
            ("2026-11-27T19:03:00Z", "?", "2026-11-27 20:03:00 CET – ?"),
        ] {
            let (start, end) = period_in(start, Some(end), &posix(PRAGUE));
            let written = format!("{start} – {}", end.unwrap());
            assert_eq!(written.replace('\u{a0}', " "), expected);
        }
        let (start, end) = period_in("2026-11-27T19:03:00Z", None, &posix(TOKYO));
        assert_eq!((&*start.replace('\u{a0}', " "), end), ("2026-11-28 04:03:00 JST", None));
    }
}
