//! Tests with long and short functions and files, with and without an allowance.

use super::{ALLOWANCES, MAX_FILE_LINES, MAX_FUNCTION_LINES};
use crate::sources::example;

fn check(files: &[(&str, &str)], expected: &[&str]) {
    let found = super::check(&example::tree(files)).unwrap();
    let found: Vec<_> =
        found.iter().map(|f| format!("{}:{}: {}", f.path, f.line, f.what)).collect();
    assert_eq!(found, expected);
}

/// Returns a function of exactly this many lines, after a comment that does not count.
fn function_text(lines: usize) -> String {
    format!("/// Documented.\nfn f() {{{}\n}}", "\nlet x = 1;".repeat(lines - 2))
}

#[test]
fn limits_function_lines() {
    check(&[("a.rs", &function_text(MAX_FUNCTION_LINES))], &[]);
    let long = function_text(MAX_FUNCTION_LINES + 1);
    check(&[("a.rs", &long)], &["a.rs:2: function of 71 lines, 70 allowed"]);
    let method = format!("impl X {{\n{long}\n}}");
    check(&[("a.rs", &method)], &["a.rs:3: function of 71 lines, 70 allowed"]);
    let provided = format!("trait X {{\n{long}\n}}");
    check(&[("a.rs", &provided)], &["a.rs:3: function of 71 lines, 70 allowed"]);
}

#[test]
fn limits_file_lines() {
    let short = "// x\n".repeat(MAX_FILE_LINES);
    check(&[("a.rs", &short)], &[]);
    let long = "// x\n".repeat(MAX_FILE_LINES + 1);
    check(&[("a.rs", &long)], &["a.rs:1: file of 601 lines, 600 allowed"]);
}

#[test]
fn tests_have_no_limit() {
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}\n}}\n", function_text(800));
    check(&[("a.rs", &tests)], &[]);
    check(
        &[("a/tests.rs", &function_text(800)), ("a/tests/it/b.rs", &function_text(800))],
        &[],
    );
}

#[test]
fn allowances_can_only_shrink() {
    let long = function_text(MAX_FUNCTION_LINES + 1);
    let full = format!("{ALLOWANCES}:1: more than 0 entries");
    let allowed = (ALLOWANCES, "[functions]\n\"a.rs::f\" = 71");
    check(&[("a.rs", &long), allowed], &[&full]);
    let short = function_text(MAX_FUNCTION_LINES);
    let stale = format!("{ALLOWANCES}:1: a.rs::f is allowed 71 lines and has 70");
    check(&[("a.rs", &short), allowed], &[&stale, &full]);
    let gone = format!("{ALLOWANCES}:1: a.rs::f is allowed 71 lines and has 0");
    check(&[allowed], &[&gone, &full]);
}
