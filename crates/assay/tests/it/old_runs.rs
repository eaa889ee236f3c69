//! Runs stored by an older assay: the current version must report the same results as the recorded
//! output.
//!
//! Values are compared, not bytes: fields and parameters may be added. The effective samples may be
//! estimated differently by another version of the statistics, whose estimates are pinned. The
//! fixtures are never rewritten.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use serde_json::Value;

use crate::program::World;

/// Largest relative difference by rounding between two ways of adding the same samples.
const ROUNDING: f64 = 1e-12;
/// Comparisons of one run or two per condition: name and arguments of `compare`.
const COMPARISONS: &[(&str, &[&str])] = &[
    ("on-off", &["20261122-032844-4831", "20261122-032847-5966"]),
    (
        "pooled",
        &[
            "20261122-032839-b200,20261122-032844-4831",
            "20261122-032841-9da3,20261122-032847-5966",
        ],
    ),
    ("margin", &["20261122-032844-4831", "20261122-032847-5966", "--margin", "99%"]),
];
/// Exit code of `compare` where some pair of results is undecided.
const CANNOT_TELL: i32 = 6;
/// Exit code of `compare` where there is nothing to compare.
const WRONG_USAGE: i32 = 2;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1")
}

fn expected(name: &str) -> String {
    fs::read_to_string(fixtures().join("expected").join(name)).unwrap()
}

fn expected_json(name: &str) -> Value {
    serde_json::from_str(&expected(name)).unwrap()
}

/// Returns a world with a copy of the fixtures as its store, because listing writes an index into
/// it.
fn world_with_old_runs() -> World {
    let world = World::new();
    copy_folder(&fixtures().join("store"), &world.path("assay"));
    world
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Run whose clock was measured under contention: its Rpeak of 8 FLOP/cycle, which the measured
/// peak exceeded, was wrong. The current rules give 16 for FP64 and none for FP32.
const CONTENDED: &str = "20261122-032746-cb1e";
/// Printed figures of that run that depended on the wrong Rpeak.
const WRONG_RPEAK_FIGURES: [&str; 4] = ["102.4", "25.61", "76.0", "95.9"];

/// Returns an old result without the parameters that depend on a wrong Rpeak.
fn without_rpeak(mut old: Value) -> Value {
    let rests_on_it = |name: &str| {
        name.starts_with("rpeak") || ["flop_per_cycle", "percent_of_rpeak"].contains(&name)
    };
    old["parameters"].as_object_mut().unwrap().retain(|name, _| !rests_on_it(name));
    old
}

#[test]
fn wrong_rpeak_of_old_run_is_corrected() {
    let new = world_with_old_runs().json(&["show", CONTENDED, "--json"]);
    let of = |metric: &str| {
        let found = array(&new["results"]).iter().find(|it| it["metric"] == metric);
        found.unwrap().clone()
    };
    assert_eq!(of("fp64")["parameters"]["flop_per_cycle"], 16);
    assert!(of("fp64")["percent_of_limit"].as_f64().unwrap() < 100.0);
    assert!(stable_ids(&of("fp32")["warnings"]).contains(&"no-rpeak"));
    assert!(of("fp32")["limit"].is_null());
}

fn runs() -> Vec<String> {
    let folders = fs::read_dir(fixtures().join("store/runs")).unwrap();
    let mut runs: Vec<String> =
        folders.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    runs.sort();
    assert_eq!(runs.len(), 22);
    runs
}

/// Returns whether the values are equal: numbers up to rounding, objects in all fields of `old`.
fn is_same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Number(old), Value::Number(new)) => {
            let (old, new) = (old.as_f64().unwrap(), new.as_f64().unwrap());
            (old - new).abs() <= ROUNDING * old.abs()
        }
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| is_same(old, new))
        }
        (Value::Object(old), Value::Object(_)) => {
            old.iter().all(|(name, old)| is_same(old, &new[name]))
        }
        _ => old == new,
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn stable_ids(warnings: &Value) -> Vec<&str> {
    let mut ids: Vec<_> =
        array(warnings).iter().map(|warning| warning["id"].as_str().unwrap()).collect();
    ids.retain(|id| !ESTIMATED.contains(id));
    ids.sort_unstable();
    ids
}

/// Fields that identify corresponding results.
const IDENTITY: [&str; 4] = ["benchmark", "metric", "parameters", "tool"];
const FIGURES: [&str; 9] =
    ["unit", "better", "n", "median", "ci_level", "min", "max", "mean", "host"];
/// Doubts that depend on the effective samples, which another version of the statistics may
/// estimate differently.
const ESTIMATED: [&str; 8] = [
    "warm-up-discarded",
    "no-interval",
    "wide-interval",
    "one-preparation",
    "few-preparations",
    "preparations-differ",
    "autocorrelated",
    "several-modes",
];

#[track_caller]
fn check_result(old: &Value, new: &Value, place: &str) {
    for field in FIGURES.iter().chain(&["limit", "percent_of_limit"]) {
        assert!(
            is_same(&old[field], &new[field]),
            "{place}: {field} of {} {} {} was {} and is {}",
            old["benchmark"],
            old["metric"],
            old["parameters"],
            old[field],
            new[field]
        );
    }
    assert_eq!(stable_ids(&old["warnings"]), stable_ids(&new["warnings"]), "{place}: {old}");
    check_estimated(old, new, place);
}

/// Checks that the estimates, which may differ, are plausible.
#[track_caller]
fn check_estimated(old: &Value, new: &Value, place: &str) {
    let number = |value: &Value| value.as_f64().unwrap();
    let (n, worth) = (number(&new["n"]), number(&new["n_effective"]));
    assert!((1.0..=n).contains(&worth), "{place}: {new}");
    if let [low, high] = new["ci"].as_array().map_or(&[][..], Vec::as_slice) {
        let median = number(&new["median"]);
        assert!(number(low) <= median && median <= number(high), "{place}: {new}");
    }
    for (name, was) in old["percentiles"].as_object().into_iter().flatten() {
        let is = &new["percentiles"][name];
        assert!(is.is_null() || is_same(was, is), "{place}: {name} was {was} and is {is}");
    }
}

/// Formats the version-dependent estimates of a result as one line.
fn format_estimates(run: &str, result: &Value) -> String {
    let [case, metric] = ["case", "metric"].map(|name| result[name].as_str().unwrap_or("-"));
    let digits =
        |value: &Value| value.as_f64().map_or("-".to_owned(), |it| format!("{it:.5e}"));
    let [low, high] = [0, 1].map(|end| digits(&result["ci"][end]));
    let [n, worth] = ["n", "n_effective"].map(|name| result[name].as_f64().unwrap());
    let percentiles = result["percentiles"].as_object().into_iter().flatten();
    let percentiles: Vec<&str> = percentiles.map(|(name, _)| name.as_str()).collect();
    let doubts = array(&result["warnings"]).iter().filter_map(|it| it["id"].as_str());
    let doubts: Vec<&str> = doubts.filter(|id| ESTIMATED.contains(id)).collect();
    let [percentiles, doubts] = [percentiles, doubts].map(|names| names.join(","));
    format!(
        "{run} {case} {metric} n={n} worth={worth:.4} [{low} {high}] {percentiles} {doubts}\n"
    )
}

/// Names of format 1 whose values have another form now, with their new names.
const REFORMED: [(&str, &str); 16] = [
    ("rpeak_factors", "rpeak"),
    ("engine_reason", "engine_reason"),
    ("round_trips", "io"),
    ("knee", "knee"),
    ("statistic", "statistic"),
    ("steady_state", "steady"),
    ("round_rates", "rounds"),
    ("goal_steps", "goal_rate"),
    ("command", "commands"),
    ("variable", "variables"),
    ("all_", "told"),
    ("p99_s", "told"),
    ("mean_s", "told"),
    ("read_p", "told"),
    ("write_p", "told"),
    ("io", "io"),
];

/// Returns whether a parameter of an old result still exists, possibly under another name.
fn has_parameter(name: &str, old: &Value, new: &Value) -> bool {
    let reformed = REFORMED.iter().find(|(beginning, _)| name.starts_with(beginning));
    is_same(old, &new[name]) || reformed.is_some_and(|(_, now)| !new[now].is_null())
}

/// Returns the results that correspond to `old`; there may be several, over the steps of one case.
fn corresponding_results<'a>(old: &Value, new: &'a [Value]) -> Vec<&'a Value> {
    let said = |new: &Value| {
        let mut all = old["parameters"].as_object().unwrap().iter();
        all.all(|(name, value)| has_parameter(name, value, &new["parameters"]))
    };
    let asked = |new: &&Value| {
        let equal = |part: &&str| *part == "parameters" || is_same(&old[part], &new[part]);
        IDENTITY.iter().all(equal) && said(new)
    };
    new.iter().filter(asked).collect()
}

#[test]
fn old_runs_show_the_same_results() {
    let world = world_with_old_runs();
    let mut pinned = String::new();
    for run in runs() {
        let old = expected_json(&format!("{run}.json"));
        let new = world.json(&["show", &run, "--json"]);
        assert!(is_same(&old["run"], &new["run"]), "{run}: {} {}", old["run"], new["run"]);
        let (was, is) = (array(&old["results"]), array(&new["results"]));
        assert_eq!(was.len(), is.len(), "{run}");
        pinned.extend([format!("{run}: statistics {}\n", new["statistics"])]);
        pinned.extend(is.iter().map(|result| format_estimates(&run, result)));
        for old in was {
            if run == CONTENDED && old["benchmark"].as_str().unwrap().starts_with("compute") {
                assert_eq!(
                    corresponding_results(&without_rpeak(old.clone()), is).len(),
                    1,
                    "{run}: {old}"
                );
                continue;
            }
            let found = corresponding_results(old, is);
            assert_eq!(found.len(), 1, "{run}: {old}");
            check_result(old, found[0], &run);
        }
        assert_eq!(stable_ids(&old["warnings"]), stable_ids(&new["warnings"]), "{run}");
        let (was, is) = (array(&old["failures"]), array(&new["failures"]));
        assert_eq!(was.len(), is.len(), "{run}");
        for (old, new) in was.iter().zip(is) {
            for field in ["benchmark", "case", "host"] {
                assert_eq!(old[field], new[field], "{run}");
            }
        }
        assert_eq!(array(&old["hosts"]).len(), array(&new["hosts"]).len(), "{run}");
    }
    expect_file!["../fixtures/format-1/estimated.txt"].assert_eq(&pinned);
}

/// Returns the printed numbers of a page above its warnings, without the intervals.
fn numbers(page: &str) -> BTreeSet<&str> {
    let results = page.split("\nWarnings\n").next().unwrap();
    let is_number = |word: &&str| {
        word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    results.split([' ', '\n', ',']).filter(is_number).collect()
}

/// Returns a page without the column of Little's law: that check could not fail and was removed.
fn without_littles_law(page: &str) -> String {
    // A heading that is too wide has its last word on another line.
    const HEADINGS: [&str; 2] = ["Little's law within", "Little's law"];
    let mut column = None;
    let mut kept = String::new();
    for line in page.lines() {
        let heading = HEADINGS.iter().find_map(|it| line.find(it).map(|at| (at, it.len())));
        let begins = heading.map(|(at, width)| (line[..at].chars().count(), width));
        column = begins.or(column.filter(|_| !line.is_empty()));
        let (from, width) = column.unwrap_or_default();
        let outside =
            line.chars().enumerate().filter(|(at, _)| !(from..from + width).contains(at));
        kept.extend(outside.map(|(_, character)| character));
        kept.push('\n');
    }
    kept
}

/// Returns whether both are the same value with different digits. Without an interval the new one
/// has two, which may be those of a whole number: 200 for 198.2.
fn is_rounded(old: &str, new: &str) -> bool {
    let decimals = |number: &str| number.split('.').nth(1).map_or(0, str::len);
    let unit = 0.1_f64.powi(decimals(old).min(decimals(new)) as i32);
    let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
    let has_two = !new.contains('.') && new.trim_end_matches('0').len() <= 2;
    let second_digit = 10_f64.powf(number(old).abs().log10().floor() - 1.0);
    let unit = if has_two { unit.max(second_digit) } else { unit };
    old == new || (number(old) - number(new)).abs() <= unit * 0.500_001
}

/// Returns whether the new number is the old one with the prefix of its column: 11.01 ms is 11010
/// µs in a column with 8 µs. It has the digits of the old one or, without an interval, the first
/// two of a value that was rounded to it.
fn is_in_another_prefix(old: &str, new: &str) -> bool {
    let value: f64 = old.parse().unwrap_or(f64::NAN);
    let digits = old.trim_start_matches(['0', '.']).replace('.', "").len();
    let half = 0.499 * 0.1_f64.powi(old.split('.').nth(1).map_or(0, str::len) as i32);
    let printed = |value: f64, digits: usize| {
        let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap();
        let decimals = digits as i32 - 1 - rounded.abs().log10().floor() as i32;
        format!("{rounded:.*}", decimals.max(0) as usize)
    };
    let is_it = |factor: &f64| {
        let may_be = [(value, digits), (value - half, 2), (value + half, 2)];
        may_be.iter().any(|(value, digits)| printed(value * factor, *digits) == new)
    };
    digits > 0 && [1e-6, 1e-3, 1e3, 1e6].iter().any(is_it)
}

#[test]
fn other_prefix_keeps_value() {
    for (old, new, expected) in [
        ("11.01", "11010", true),
        ("11.01", "0.01101", true),
        ("11.01", "11000", true),
        ("345.0", "0.34", true),
        ("345.0", "0.35", true),
        ("345.0", "0.36", false),
        ("11.01", "11014", false),
        ("11.01", "11", false),
        ("10.00", "10400", false),
        ("10.00", "9600", false),
        ("0.0", "0", false),
    ] {
        assert_eq!(is_in_another_prefix(old, new), expected, "{old} {new}");
    }
}

#[test]
fn old_runs_print_the_same_numbers() {
    let world = world_with_old_runs();
    for run in runs() {
        let old = without_littles_law(&expected(&format!("{run}.txt")));
        let new = world.assay(&["show", &run]).succeeded().out;
        let is_number = |word: &&str| word.chars().all(|c| c.is_ascii_digit() || c == '.');
        let printed: BTreeSet<&str> =
            new.split([' ', '\u{a0}', '\n', ',', '–']).filter(is_number).collect();
        let is_lost = |old: &&str| {
            let is_it = |new: &&str| is_rounded(old, new) || is_in_another_prefix(old, new);
            !printed.iter().any(is_it)
        };
        let mut lost: Vec<_> = numbers(&old).into_iter().filter(is_lost).collect();
        lost.retain(|number| run != CONTENDED || !WRONG_RPEAK_FIGURES.contains(number));
        assert!(lost.is_empty(), "{run}: {lost:?} are missing in\n{new}");
        assert!(new.contains(&run), "{run}: {new}");
    }
}

/// Returns the rows of a table, each as pairs of column name and field.
fn table(csv: &str) -> Vec<Vec<(String, String)>> {
    let mut lines = csv.lines().map(fields);
    let header = lines.next().unwrap();
    lines
        .map(|row| {
            assert_eq!(row.len(), header.len(), "{row:?}");
            header.iter().cloned().zip(row).collect()
        })
        .collect()
}

/// Splits a line into its fields; a quoted field may contain commas.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

fn cell<'a>(row: &'a [(String, String)], column: &str) -> &'a str {
    let found = row.iter().find(|(name, _)| name == column);
    &found.unwrap_or_else(|| panic!("no column {column}")).1
}

/// Returns a cell as a number where it is one.
fn value(cell: &str) -> Value {
    cell.parse::<f64>().map_or_else(|_| Value::from(cell), Value::from)
}

#[test]
fn old_runs_export_the_same_tables() {
    const COLUMNS: [&str; 9] =
        ["benchmark", "metric", "tool", "value", "unit", "n", "min", "max", "mean"];
    let world = world_with_old_runs();
    for run in runs() {
        let report = world.assay(&["report", &run, "--format", "csv"]).succeeded().out;
        let (old, mut new) = (table(&expected(&format!("{run}.csv"))), table(&report));
        assert_eq!(old.len(), new.len(), "{run}");
        for old in old {
            let equal = |new: &Vec<(String, String)>| {
                COLUMNS.iter().all(|column| {
                    is_same(&value(cell(&old, column)), &value(cell(new, column)))
                })
            };
            let found = new.iter().position(equal);
            new.remove(found.unwrap_or_else(|| panic!("{run}: {old:?} is missing")));
        }
        for format in ["text", "markdown", "html"] {
            world.assay(&["report", &run, "--format", format]).succeeded();
        }
    }
}

#[test]
fn old_runs_are_listed_unchanged() {
    let (old, mut new) =
        (expected_json("list.json"), world_with_old_runs().json(&["list", "--all", "--json"]));
    // Newer versions also list a value for ping.
    for run in new["runs"].as_array_mut().unwrap() {
        run["headlines"].as_array_mut().unwrap().retain(|it| it["label"] != "ping");
    }
    assert!(is_same(&old["runs"], &new["runs"]), "{old}\n{new}");
}

/// The same results are paired, with the same ratio between single runs. Verdicts differ: the old
/// version used samples as units, the current one uses runs, and two of each cannot tell.
#[test]
fn old_runs_keep_their_ratios() {
    let world = world_with_old_runs();
    for (name, words) in COMPARISONS {
        let old = expected_json(&format!("compare-{name}.json"));
        let words = [&["compare", "--json"], *words].concat();
        let outcome = world.assay(&words).failed_with(CANNOT_TELL);
        let new: Value = serde_json::from_str(&outcome.out).unwrap();
        let (was, is) = (array(&old["pairs"]), array(&new["pairs"]));
        assert_eq!(was.len(), is.len(), "{name}");
        for (old, new) in was.iter().zip(is) {
            let runs = if *name == "pooled" { 2 } else { 1 };
            for side in ["a", "b"] {
                for field in ["benchmark", "metric", "unit"] {
                    assert_eq!(old[side][field], new[side][field], "{name}: {new}");
                }
                assert_eq!(new[side]["n"], runs, "{name}: {new}");
            }
            if runs == 1 {
                assert!(is_same(&old["ratio"], &new["ratio"]), "{name}: {old} {new}");
            }
            let verdict =
                if new["ratio"].is_null() { &old["verdict"] } else { &"cannot-tell".into() };
            assert_eq!(&new["verdict"], verdict, "{name}: {new}");
        }
        assert!(is_same(&old["unmatched"], &new["unmatched"]), "{name}");
    }
}

#[test]
fn rejects_label_of_two_machines() {
    let world = world_with_old_runs();
    let run = world.path("assay").join("runs/20261122-032839-b200/events.jsonl");
    let text = fs::read_to_string(&run).unwrap();
    fs::write(&run, text.replace("\"vm\"", "\"another\"")).unwrap();
    let refused = world.assay(&["compare", "on", "off"]).failed_with(WRONG_USAGE);
    for part in ["different machines", "1 run of another", "1 run of vm", "--host"] {
        assert!(refused.err.contains(part), "{refused:?}");
    }
    let chosen = world.assay(&["compare", "on", "off", "--host", "vm", "--json"]);
    let chosen: Value = serde_json::from_str(&chosen.out).unwrap();
    let runs = ["a", "b"].map(|side| array(&chosen[side]["runs"]).len());
    assert_eq!(runs, [1, 2], "{chosen}");
}

#[test]
fn every_old_result_pairs_with_its_copy() {
    let world = world_with_old_runs();
    for run in runs() {
        let results = array(&expected_json(&format!("{run}.json"))["results"]).len();
        // A run cannot be compared with itself, but with a copy under another name.
        let like = format!("{}ffff", &run[..run.len() - 4]);
        let folder = |name: &str| world.path("assay").join("runs").join(name);
        fs::create_dir(folder(&like)).unwrap();
        let events = fs::read_to_string(folder(&run).join("events.jsonl")).unwrap();
        fs::write(folder(&like).join("events.jsonl"), events.replace(run.as_str(), &like))
            .unwrap();
        let outcome = world.assay(&["compare", &run, &like, "--json"]);
        if results == 0 {
            outcome.failed_with(WRONG_USAGE);
            continue;
        }
        let outcome = outcome.failed_with(CANNOT_TELL);
        let document: Value = serde_json::from_str(&outcome.out).unwrap();
        let pairs = array(&document["pairs"]);
        assert_eq!(pairs.len(), results, "{run}");
        for pair in pairs {
            // A ratio to a measured zero, such as no loss at all, does not exist.
            assert!(pair["ratio"].is_null() || pair["ratio"] == 1.0, "{run}: {pair}");
            assert_eq!(pair["a"]["median"], pair["b"]["median"], "{run}: {pair}");
        }
    }
}
