//! Files of expectations: what is accepted, and the place of each error.

use super::*;

/// Describes the file's first entry of each kind, or its error.
fn describe(text: &str, judged: JudgedResults) -> String {
    match Expectations::parse(text, judged) {
        Err(error) => error.to_string(),
        Ok(parsed) => {
            let figures = parsed.claims.iter().chain(&parsed.limits);
            let figures: Vec<String> = figures.map(|it| it.quantity.to_string()).collect();
            format!("{} {:?}", figures.join(" "), parsed.gates)
        }
    }
}

fn check(text: &str, expected: &str) {
    let described = describe(text, JudgedResults::TwoConditions);
    assert!(described.contains(expected), "{text}: {described}");
}

#[test]
fn file_may_have_all_three_tables() {
    check(
        "system = \"lab\"\n\
         [[claim]]\nmetric = \"memory.stream/triad\"\nvalue = \"260 GB/s\"\n\
         [[limit]]\nmetric = \"storage/bandwidth\"\nvalue = \"6.9 GB/s\"\n\
         [[gate]]\nmetric = \"storage/rate\"\nat_least = \"300k IOPS\"\n",
        "260.0 GB/s 6.900 GB/s [MetricGate { metric: \"storage/rate\"",
    );
    check("", "the file has no [[claim]], [[limit]] or [[gate]]");
    check("nonsense = 1", "line 1: unknown key `nonsense`");
}

#[test]
fn claim_needs_metric_dimension_and_unit() {
    let claim_file =
        |rest: &str| format!("[[claim]]\nmetric = \"memory.stream/triad\"\n{rest}");
    check(&claim_file("value = \"260 GB/s\"\nwhere = { placement = \"node\" }"), "260.0 GB/s");
    check(&claim_file("value = \"260\""), "line 3: claim 1: `260` has no unit");
    check(&claim_file("value = \"260 Gbit/s\""), "is not a unit of a byte rate");
    check(
        &claim_file("value = \"1 GB/s\"\nwhere = { colour = \"red\" }"),
        "line 4: claim 1: there is no dimension `colour`",
    );
    check(
        "[[claim]]\nmetric = \"x/y\"\nvalue = \"1 s\"",
        "line 2: claim 1: there is no metric `x/y`",
    );
    check(&claim_file("value = \"1 GB/s\"\ntolerance = \"1\"\n"), "line 4: claim 1: ");
    check("[[claim]]\nmetric = \"storage/rate\"\nvalue = \"300k IOPS\"", "300.0 kIO/s");
}

#[test]
fn limit_bounds_a_rate() {
    let limit = |metric: &str, value: &str| {
        format!("[[limit]]\nmetric = \"storage/{metric}\"\nvalue = \"{value}\"\n")
    };
    check(&limit("bandwidth", "6.9 GB/s"), "6.900 GB/s");
    check(&limit("bandwidth", "6.9"), "line 3: limit 1: `6.9` has no");
    check(&limit("latency", "80 us"), "line 2: limit 1: `storage/latency` cannot have a limit");
}

#[test]
fn gate_needs_metric_and_threshold() {
    let gate = |rest: &str| format!("[[gate]]\nmetric = \"storage/latency\"\n{rest}");
    check("[[gate]]\nmetric = \"memory.stream/triad\"", "line 2: gate 1: it has no threshold");
    check("[[gate]]\nmetric = \"a/b\"\nworse_by = \"5%\"", "no metric `a/b`");
    check(&gate("at_most = \"2s\"\nworse_by = \"x\""), "line 4: gate 1: ");
    check(&gate("at_most = \"2\""), "line 3: gate 1: `2` has no unit");
    check(&gate("worse_by = \"10\""), "worse_by: Some(0.1)");
    check(&gate("worse_by = \"150%\""), "worse_by: Some(1.5)");
    check(&gate("worse_by = \"1\""), "line 3: gate 1: ");
    check("[[gate]]\nmetric = 3", "line 2: ");
    check(&gate("at_most = \"2ms\"\n[[gate]]\nworst = 1"), "line 5: unknown key `worst`");
    check(&gate("at_most = \"2ms\""), "at_most: Some(0.002)");
    let single = describe(&gate("worse_by = \"2%\""), JudgedResults::SingleRuns);
    assert_eq!(single, "line 3: gate 1: `worse_by` needs two conditions");
}
