//! Counters as stored, by any version: names that this version lacks are listed as omitted.
//!
//! Never fails because of a newer counter or reason.

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as ValueError, StrDeserializer};

use super::{
    CountedSeries, CountedWork, Counter, CounterLimit, CounterRecord, OmissionReason,
    OmittedCounter, PayloadBytes,
};

/// A record whose counters and reasons are plain texts.
#[derive(Deserialize)]
pub(super) struct StoredRecord {
    case: String,
    #[serde(default)]
    host: Option<String>,
    seconds: f64,
    #[serde(default)]
    payload: Option<PayloadBytes>,
    #[serde(default)]
    work: Option<CountedWork>,
    points_s: Vec<[f64; 2]>,
    counted: Vec<StoredSeries>,
    #[serde(default)]
    limits: Vec<StoredLimit>,
    #[serde(default)]
    omitted: Vec<StoredOmission>,
}

#[derive(Deserialize)]
struct StoredSeries {
    counter: String,
    #[serde(default)]
    of: String,
    total: f64,
    #[serde(default)]
    points: Vec<f64>,
}

#[derive(Deserialize)]
struct StoredLimit {
    counter: String,
    of: String,
    per_s: f64,
}

#[derive(Deserialize)]
struct StoredOmission {
    name: String,
    reason: String,
}

impl From<StoredRecord> for CounterRecord {
    fn from(stored: StoredRecord) -> Self {
        let omitted = stored.omitted.into_iter().map(|it| OmittedCounter {
            reason: parse(&it.reason).unwrap_or(OmissionReason::NewerVersion),
            name: it.name,
        });
        let mut record = Self {
            case: stored.case,
            host: stored.host,
            seconds: stored.seconds,
            payload: stored.payload,
            work: stored.work,
            points_s: stored.points_s,
            omitted: omitted.collect(),
            ..Self::default()
        };
        for it in stored.counted {
            match parse::<Counter>(&it.counter) {
                Some(counter) => record.counted.push(CountedSeries {
                    counter,
                    of: it.of,
                    total: it.total,
                    points: it.points,
                }),
                None => record.omit_newer(&it.of, &it.counter),
            }
        }
        for it in stored.limits {
            match parse::<Counter>(&it.counter) {
                Some(counter) => {
                    record.limits.push(CounterLimit { counter, of: it.of, per_s: it.per_s });
                }
                None => record.omit_newer(&it.of, &it.counter),
            }
        }
        record
    }
}

impl CounterRecord {
    fn omit_newer(&mut self, of: &str, counter: &str) {
        let name = format!("{of} {counter}").trim_start().to_owned();
        let newer = OmittedCounter { name, reason: OmissionReason::NewerVersion };
        if !self.omitted.contains(&newer) {
            self.omitted.push(newer);
        }
    }
}

fn parse<'t, T: Deserialize<'t>>(id: &'t str) -> Option<T> {
    let text: StrDeserializer<'t, ValueError> = id.into_deserializer();
    T::deserialize(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_a_newer_version_are_named() {
        let text = r#"{"case":"x","seconds":1.0,"points_s":[],"counted":[
            {"counter":"user-cycles","total":5.0},{"counter":"warp-core","of":"w1","total":6.0}],
            "limits":[{"counter":"warp-core","of":"w1","per_s":9.0}],
            "omitted":[{"name":"package-energy","reason":"lost-in-space"}]}"#;
        let record: CounterRecord = serde_json::from_str(text).unwrap();
        assert_eq!(record.total(Counter::UserCycles), Some(5.0));
        assert!(record.limits.is_empty());
        let names: Vec<(&str, OmissionReason)> =
            record.omitted.iter().map(|it| (it.name.as_str(), it.reason)).collect();
        let newer = OmissionReason::NewerVersion;
        assert_eq!(names, [("package-energy", newer), ("w1 warp-core", newer)]);
    }

    #[test]
    fn records_round_trip() {
        let record = CounterRecord {
            case: "x".to_owned(),
            work: Some(CountedWork { bytes: 3.0, flop: 0.0 }),
            counted: vec![CountedSeries {
                counter: Counter::PackageEnergy,
                of: "package-0".to_owned(),
                total: 2.5,
                points: vec![],
            }],
            omitted: vec![OmittedCounter {
                name: "user-cycles".to_owned(),
                reason: OmissionReason::NoSuchEvent,
            }],
            ..CounterRecord::default()
        };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<CounterRecord>(&text).unwrap(), record);
        assert!(text.contains(r#""work":{"bytes":3.0}"#), "{text}");
    }
}
