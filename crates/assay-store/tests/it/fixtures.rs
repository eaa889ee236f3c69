//! Tests that stores written in earlier formats are still read completely.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assay_model::attribute::{Attribute, AttributeValue, Attributes, Role};
use assay_model::engine_reason::EngineReason;
use assay_model::event::RunStatus;
use assay_model::run::{CaseRecord, SeriesRecord};
use assay_store::Store;
use serde_json::Value as Json;

/// Opens a copy of the fixture, because listing runs writes an index into the store.
fn open(version: &str) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(version);
    copy(&fixture, folder.path());
    let store = Store::open_existing(folder.path()).unwrap();
    (folder, store)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn version_1_opens() {
    let (_folder, store) = open("v1");
    let whole = store.read("20261121-104455-7f3a").unwrap();
    assert_eq!(whole.problems, []);
    assert_eq!(whole.run.status, RunStatus::Failed);
    assert_eq!(whole.run.finished_cases().count(), 2);
    assert_eq!(whole.run.cases[0].series[0].samples.len(), 3);
    assert_eq!(whole.run.first_host().unwrap().facts.name, "node-7");
    assert_eq!(whole.run.cases[0].facts[&Attribute::HugePages], true.into());
    let hash = &whole.run.cases[0].raw["stdout"];
    assert_eq!(store.read_raw(hash).unwrap(), b"Triad: 41234.5\n");

    let killed = store.read("20261121-104455-7f3b").unwrap();
    assert_eq!(killed.problems.len(), 1);
    assert_eq!(killed.run.finished_cases().count(), 1);
    assert_eq!(store.list().unwrap().runs.len(), 2);
}

/// Returns the folder with the runs and reports of the last assay that wrote format 1.
fn format1_fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay/tests/fixtures/format-1")
}

fn lines(run: &str) -> Vec<Json> {
    let path = format1_fixtures().join("store/runs").join(run).join("events.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Everything in a run of format 1 is in the converted run: nothing is lost or duplicated.
#[test]
fn format_1_runs_convert_completely() {
    let store = Store::open_existing(format1_fixtures().join("store")).unwrap();
    let mut runs = 0;
    for entry in std::fs::read_dir(format1_fixtures().join("store/runs")).unwrap() {
        let run = entry.unwrap().file_name().into_string().unwrap();
        let read = store.read(&run).unwrap();
        assert!(read.is_whole(), "{run}: {:?}", read.problems);
        let lines = lines(&run);
        let events_named = |event: &str| {
            lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>()
        };
        let series_key = |line: &&Json| {
            [&line["case"], &line["metric"], &line["placement"]].map(ToString::to_string)
        };
        let expected: BTreeSet<_> = events_named("sample").iter().map(series_key).collect();
        let series = read.run.cases.iter().flat_map(|record| &record.series);
        let results: Vec<_> =
            series.filter(|series| !series.dimensions.contains_key(&Attribute::Step)).collect();
        assert_eq!(results.len(), expected.len(), "{run}");
        let samples = results.iter().map(|series| series.samples.len()).sum::<usize>();
        assert_eq!(samples, events_named("sample").len(), "{run}");
        let raw: usize = read.run.cases.iter().map(|record| record.raw.len()).sum();
        let output_key = |line: &&Json| [line["case"].to_string(), line["name"].to_string()];
        assert_eq!(
            raw,
            events_named("raw-output").iter().map(output_key).collect::<BTreeSet<_>>().len()
        );
        let doubts: usize = read.run.cases.iter().map(|record| record.doubts.len()).sum();
        assert_eq!(doubts + read.run.doubts.len(), events_named("doubt").len(), "{run}");
        for line in events_named("learned") {
            let case = read.run.case(line["case"].as_str().unwrap()).unwrap();
            assert!(contains_detail(case, line), "{run}: {line}");
        }
        runs += 1;
    }
    assert_eq!(runs, 22);
}

/// Whether the record of a case contains a `learned` event of format 1. The event's name determines
/// where: a fact, a dimension, a figure, a pair of a list, or the number of steps.
fn contains_detail(case: &CaseRecord, line: &Json) -> bool {
    let (name, value) = (line["name"].as_str().unwrap(), &line["value"]);
    let matching_series = case.series.iter().filter(|series| {
        !series.dimensions.contains_key(&Attribute::Step)
            && (line["metric"].is_null() || line["metric"] == *series.metric)
    });
    let matching_series: Vec<_> = matching_series.collect();
    let has_value = |it: &String| {
        *it == value.as_str().map_or_else(|| value.to_string(), str::to_owned)
            || it.parse() == value.to_string().parse::<f64>()
    };
    let has_pair =
        |facts: &Attributes, attribute: Attribute, key: &str| match facts.get(&attribute) {
            Some(AttributeValue::Pairs(pairs)) => pairs.get(key).is_some_and(has_value),
            _ => false,
        };
    let is_reported = |attribute: &Attribute, key: &str| {
        has_pair(&case.facts, *attribute, key)
            || matching_series.iter().any(|it| has_pair(&it.facts, *attribute, key))
    };
    if let Some(key) = name.strip_prefix("variable.") {
        return is_reported(&Attribute::Variables, key);
    }
    if name.starts_with("command") {
        return is_reported(
            &Attribute::Commands,
            name.strip_prefix("command.").unwrap_or("run"),
        );
    }
    let count_steps = |metric: &str, name: Attribute| {
        let has_step =
            |it: &&SeriesRecord| it.metric == metric && it.dimensions.contains_key(&name);
        case.series.iter().filter(has_step).count()
    };
    let parts = value.as_str().map(|text| text.split_whitespace().count());
    match name {
        "round_rates" => return Some(count_steps("rate", Attribute::Step)) == parts,
        "goal_steps" => return Some(count_steps("late", Attribute::Step)) == parts,
        "steady_state" => return case.facts.contains_key(&Attribute::Rounds),
        _ => {}
    }
    if let Some(figure) =
        name.strip_prefix("all_").or(Some(name)).and_then(|it| it.strip_suffix("_s"))
    {
        let is = |it: &&SeriesRecord| {
            let Some(figures) = &it.figures else { return false };
            let figure = match figure {
                "min" => figures.min,
                "mean" => figures.mean,
                "max" => figures.max,
                percentile => figures.percentiles.get(percentile).copied(),
            };
            figure == value.as_f64()
        };
        if matching_series.iter().any(is) {
            return true;
        }
    }
    let name = if name == "round_trips" { "io" } else { name };
    let Some(attribute) = Attribute::from_name(name) else {
        return is_reported(&Attribute::Reported, name);
    };
    let is = |found: Option<&AttributeValue>| match found {
        Some(AttributeValue::Reason(reason)) => {
            *reason == EngineReason::Reported { text: value.as_str().unwrap().to_owned() }
        }
        Some(found) if name == "statistic" => {
            value.as_str().unwrap().starts_with(found.as_text().unwrap())
        }
        Some(found) => serde_json::to_value(found).unwrap() == *value,
        None => false,
    };
    is(case.facts.get(&attribute))
        || !matching_series.is_empty()
            && matching_series.iter().all(|it| {
                is(it.dimensions.get(&attribute).or_else(|| it.facts.get(&attribute)))
            })
}

/// Each result in a report of the earlier assay corresponds to one series with the same parameters
/// and number of samples.
#[test]
fn format_1_results_become_series() {
    let store = Store::open_existing(format1_fixtures().join("store")).unwrap();
    let mut results = 0;
    for entry in std::fs::read_dir(format1_fixtures().join("store/runs")).unwrap() {
        let run = entry.unwrap().file_name().into_string().unwrap();
        let read = store.read(&run).unwrap().run;
        let path = format1_fixtures().join("expected").join(format!("{run}.json"));
        let reported: Json =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for result in reported["results"].as_array().unwrap() {
            let parameters: Attributes = result["parameters"]
                .as_object()
                .unwrap()
                .iter()
                .filter_map(|(name, value)| {
                    let attribute = Attribute::from_name(name)?;
                    let value = serde_json::from_value(value.clone()).unwrap();
                    matches!(attribute.row().role, Role::Identity | Role::Dimension)
                        .then_some((attribute, value))
                })
                .collect();
            let sample_count = result["n"].as_u64().unwrap()
                + result["parameters"]["discarded"].as_u64().unwrap_or(0);
            let matches_result = |series: &&SeriesRecord| {
                let mut dimensions = series.dimensions.clone();
                let host = dimensions.remove(&Attribute::Host);
                dimensions.retain(|name, _| name.row().role != Role::Fact);
                host.as_ref().and_then(AttributeValue::as_text) == result["host"].as_str()
                    && result["metric"] == *series.metric
                    && dimensions == parameters
                    && series.samples.len() as u64 == sample_count
            };
            let is_by_tool = |case: &&CaseRecord| result["tool"]["name"] == *case.case.by;
            let matches = read
                .finished_cases()
                .filter(is_by_tool)
                .flat_map(|case| &case.series)
                .filter(matches_result);
            assert_eq!(matches.count(), 1, "{run}: {result}");
            results += 1;
        }
        let finished = read.finished_cases().flat_map(|case| &case.series);
        let series =
            finished.filter(|it| !it.dimensions.contains_key(&Attribute::Step)).count();
        assert_eq!(series, reported["results"].as_array().unwrap().len(), "{run}");
    }
    assert_eq!(results, 226);
}
