//! Tests with a small glossary and names that follow or violate it.

use crate::sources::example;

const GLOSSARY: &str = "# Words\n\n| word | meaning | not |\n|---|---|---|\n\
    | sample | one value | `datapoint`, `data_point`, stat |\n| run | one execution | `job` |\n";

fn check(rust: &str, expected: &[(usize, &str)]) {
    let sources = example::tree(&[("GLOSSARY.md", GLOSSARY), ("a.rs", rust)]);
    let found = super::check(&sources).unwrap();
    let found: Vec<_> = found.iter().map(|f| (f.line, f.what.as_str())).collect();
    assert_eq!(found, expected, "{rust}");
}

#[test]
fn finds_forbidden_words_in_all_kinds_of_names() {
    for (rust, name) in [
        ("struct JobQueue;", "JobQueue"),
        ("enum Job {}", "Job"),
        ("enum A { ManyJobs }", "ManyJobs"),
        ("trait Job {}", "Job"),
        ("type Job = u8;", "Job"),
        ("fn run_job() {}", "run_job"),
        ("impl A { fn jobs(&self) {} }", "jobs"),
        ("trait T { fn job(&self); }", "job"),
        ("struct A { job_id: u8 }", "job_id"),
    ] {
        check(rust, &[(1, &format!("`{name}` uses `job` for `run`"))]);
    }
    check("\nfn data_points() {}", &[(2, "`data_points` uses `data_point` for `sample`")]);
    check("struct DataPoint;", &[(1, "`DataPoint` uses `data_point` for `sample`")]);
}

#[test]
fn accepts_other_words() {
    check("struct Sample { run: u8 } fn jobless() {} fn data() {}", &[]);
    check("fn stat() {} // advice only, not enforced", &[]);
    check("fn f() { let job = 1; }", &[]);
    check("#[cfg(test)] mod tests { fn job() {} }", &[]);
    check("#[test] fn a_job_is_done() {}", &[]);
}

#[test]
fn rejects_missing_or_contradictory_glossary() {
    let other = "| a | b | c |\n|---|---|---|\n| x | y | `z` |\n";
    for files in [&[][..], &[("GLOSSARY.md", "# Words\n")], &[("GLOSSARY.md", other)]] {
        let found = super::check(&example::tree(files)).unwrap();
        assert_eq!(found.len(), 1, "{files:?}");
        assert!(found[0].what.starts_with("no table"), "{files:?}");
    }
    let torn = format!("{GLOSSARY}| job | a file | |\n");
    let found = super::check(&example::tree(&[("GLOSSARY.md", &torn)])).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].line, 6);
}
