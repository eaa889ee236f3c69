//! Restricts `unsafe` to one crate, so that every use can be reviewed.

use anyhow::Result;

use crate::finding::TidyFinding;
use crate::sources::{Sources, visit_tokens};

/// Only folder that may contain the keyword.
const ALLOWED_FOLDER: &str = "crates/assay-kernels/";

/// Reports every `unsafe` outside that folder, including tests and macros.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut findings = Vec::new();
    for (path, file) in
        sources.rust.iter().filter(|(path, _)| !path.starts_with(ALLOWED_FOLDER))
    {
        visit_tokens(&file.tokens, &mut |token| {
            if token.to_string() == "unsafe" {
                let line = token.span().start().line;
                let why =
                    "only crates/assay-kernels may contain it, so that every use is reviewed";
                findings.push(TidyFinding::new(path, line, "`unsafe`", why));
            }
        });
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use crate::sources::example;

    fn check(path: &str, text: &str, expected_lines: &[usize]) {
        let found = super::check(&example::tree(&[(path, text)])).unwrap();
        assert_eq!(found.iter().map(|f| f.line).collect::<Vec<_>>(), expected_lines, "{text}");
    }

    #[test]
    fn finds_unsafe_keyword() {
        check("a.rs", "fn f() {\n  unsafe { g() }\n}", &[2]);
        check("a.rs", "unsafe fn f() {}\nunsafe impl T for X {}", &[1, 2]);
        check("a.rs", "m! {\n\n unsafe { g() } }", &[3]);
        check("a.rs", "#[unsafe(no_mangle)] fn f() {}", &[1]);
        check("a.rs", "// unsafe\nconst A: &str = \"unsafe\";", &[]);
        check("crates/assay-kernels/src/a.rs", "unsafe fn f() {}", &[]);
    }
}
