//! Tests of suites with factors: combinations, and errors with their places.

use crate::factor::{FactorLevels, format_levels};
use crate::suite::{MeasureRequest, parse_factorial_suite, parse_suite};

const HEAD: &str = "name = \"x\"\nblocks = 6\n";

/// Returns the levels of each combination with the words of its first program or its depth.
fn check(text: &str, given: &[&str]) -> Result<Vec<String>, String> {
    let given: Vec<_> = given.iter().map(|it| FactorLevels::parse(it).unwrap()).collect();
    let whole = format!("{HEAD}{text}");
    let suite = parse_factorial_suite(&whole, &given).map_err(|error| {
        let place = whole.get(error.span.clone()).unwrap_or("?");
        let place = place.lines().next().unwrap_or_default();
        format!("{} | at `{place}` | {}", error.message, error.help.unwrap_or_default())
    })?;
    let suite = suite.ok_or("no factors")?;
    let describe = |request: &MeasureRequest| match request {
        MeasureRequest::Command(it) => {
            format!("{} as {}", it.workload.run.words.join(" "), it.workload.name)
        }
        MeasureRequest::Stream { threads, .. } => format!("{threads:?}"),
        other => format!("{other:?}"),
    };
    let describe = |it: &crate::suite::factorial::FactorialCase| {
        let measures = it.suite.measures.iter().map(|it| describe(&it.request));
        format!("{}: {}", format_levels(&it.levels), measures.collect::<Vec<_>>().join(", "))
    };
    Ok(suite.combinations.iter().map(describe).collect())
}

#[test]
fn levels_fill_words_and_options() {
    let text = "[[factor]]\nname = \"size\"\nlevels = [1, 2]\n[[factor]]\nname = \"mode\"\n\
                levels = [\"a\", \"b\"]\napply = \"set {mode} {size}\"\nrestore = \"reset\"\n\
                [[measure]]\nbenchmark = \"command\"\nrun = [\"app\", \"-s\", \"{size}\", \"{{x}}\"]\n\
                [[measure]]\nbenchmark = \"memory.stream\"\nthreads = \"{size}\"\n";
    let expected = [
        "size=1 mode=a: app -s 1 {x} as app -s {size} {{x}}, Some(1)",
        "size=1 mode=b: app -s 1 {x} as app -s {size} {{x}}, Some(1)",
        "size=2 mode=a: app -s 2 {x} as app -s {size} {{x}}, Some(2)",
        "size=2 mode=b: app -s 2 {x} as app -s {size} {{x}}, Some(2)",
    ];
    assert_eq!(check(text, &[]).unwrap(), expected);
    let given = check(text, &["size=4", "mode=c"]).unwrap();
    assert_eq!(given, ["size=4 mode=c: app -s 4 {x} as app -s {size} {{x}}, Some(4)"]);
}

#[test]
fn factors_of_command_line_vary_options_of_benchmarks() {
    let text = "[[measure]]\nbenchmark = \"memory.stream\"\nthreads = 1\n";
    assert_eq!(
        check(text, &["threads=1..4*2"]).unwrap(),
        ["threads=1: Some(1)", "threads=2: Some(2)", "threads=4: Some(4)"]
    );
    assert_eq!(check(text, &[]).unwrap_err(), "no factors");
    let unknown = check(text, &["depth=1,2"]).unwrap_err();
    assert!(unknown.starts_with("factor `depth` has no effect"), "{unknown}");
}

#[test]
fn errors_name_their_places() {
    let program = "[[measure]]\nbenchmark = \"command\"\nrun = \"app {size}\"\n";
    let factor = |keys: &str| format!("[[factor]]\nname = \"size\"\n{keys}\n{program}");
    for (text, message, place) in [
        (factor("levels = []"), "factor `size` has no levels", "[]"),
        (factor("levels = [1, 1]"), "factor `size` has the level `1` twice", "[1, 1]"),
        (factor("levels = [[1]]"), "a level is a number, a text, true or false", "[1]"),
        (factor("levels = 3"), "expected a list of levels", "3"),
        (
            factor("levels = \"{b}\""),
            "the level `{b}` of factor `size` names a factor",
            "\"{b}\"",
        ),
        (
            factor("levels = [1]\nrestore = \"x\""),
            "factor `size` has `restore` without",
            "\"x\"",
        ),
        (
            factor("levels = [1]\napply = \"\""),
            "expected a command, found an empty text",
            "\"\"",
        ),
        (factor("levels = [1]\napply = \"{b}\""), "`{b}` names no factor", "\"{b}\""),
        (
            factor("levels = [1]\napply = \"a {size}\"\nrestore = \"a {size}\""),
            "`restore` of factor `size` names a level",
            "\"a {size}\"",
        ),
        (factor("level = [1]"), "unknown key `level`", "level"),
        (
            factor(
                "levels = \"1..100\"\n[[factor]]\nname = \"b\"\nlevels = \"1..100\"\napply = \"{b}\"",
            ),
            "the factors have 10000 combinations",
            "[[factor]]",
        ),
        (
            "[[factor]]\nname = \"b\"\nlevels = [1]\napply = \"x\"\n".to_owned() + program,
            "`apply` does not name `{b}`: all levels are the same",
            "\"x\"",
        ),
        (
            "[[factor]]\nname = \"b\"\nlevels = [1]\napply = \"x {b}\"\n".to_owned() + program,
            "`{size}` names no factor: the factors are b",
            "\"app {size}\"",
        ),
        (
            "[[factor]]\nname = \"t\"\nlevels = [1, \"x\"]\n[[measure]]\nbenchmark = \
             \"memory.stream\"\nthreads = \"{t}\"\n"
                .to_owned(),
            "expected a whole number of at least 1 (t=x)",
            "\"{t}\"",
        ),
        (factor("levels = [1]").replace("[[factor]]", "[factor]"), "`factor` must be", ""),
    ] {
        let found = check(&text, &[]).unwrap_err();
        assert!(found.starts_with(message), "{text}\n{found}");
        assert!(found.contains(&format!("at `{place}")), "{text}\n{found}");
    }
}

#[test]
fn plain_suites_have_no_factors() {
    let text = format!(
        "{HEAD}[[factor]]\nname = \"a\"\nlevels = [1]\n[[measure]]\nbenchmark = \
                        \"memory.copy\"\n"
    );
    let refused = parse_suite(&text).unwrap_err();
    assert_eq!(refused.message, "a suite with factors is several suites");
}
