//! Forbids unfinished work: notes to do something later, and ignored tests.

use anyhow::Result;
use syn::visit::{self, Visit};
use syn::{Attribute, Meta};

use crate::finding::TidyFinding;
use crate::sources::{Sources, visit_tokens};

/// Marks of unfinished work, split so that this file does not contain them.
const MARKS: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!"),
    concat!("unimplem", "ented!"),
];

/// Reports marks of unfinished work in code and scripts, and ignored tests.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut findings = Vec::new();
    for (path, text) in sources.files_ending_in(&[".rs", ".c", ".h", ".sh", ".toml", ".ci/run"])
    {
        for (line, text) in (1..).zip(text.lines()) {
            if let Some(mark) = MARKS.iter().find(|mark| text.contains(**mark)) {
                let why = "do it now, or open an issue and remove the note";
                findings.push(TidyFinding::new(path, line, format!("`{mark}`"), why));
            }
        }
    }
    for (path, file) in &sources.rust {
        let mut ignored = IgnoreVisitor { path, findings: &mut findings };
        ignored.visit_file(file);
    }
    Ok(findings)
}

struct IgnoreVisitor<'a> {
    path: &'a str,
    findings: &'a mut Vec<TidyFinding>,
}

impl<'ast> Visit<'ast> for IgnoreVisitor<'_> {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if is_ignore_attribute(attribute) {
            let line = attribute.pound_token.span.start().line;
            let why = "an ignored test checks nothing: let it skip itself by name";
            self.findings.push(TidyFinding::new(self.path, line, "an ignored test", why));
        }
        visit::visit_attribute(self, attribute);
    }
}

/// Whether the attribute is `ignore`, directly or inside `cfg_attr`.
fn is_ignore_attribute(attribute: &Attribute) -> bool {
    let mut found = attribute.path().is_ident("ignore");
    if let Meta::List(list) = &attribute.meta
        && list.path.is_ident("cfg_attr")
    {
        visit_tokens(&list.tokens, &mut |token| found |= token.to_string() == "ignore");
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::sources::example;

    fn check(path: &str, text: &str, expected_lines: &[usize]) {
        example::check_lines(super::check, &[(path, text)], expected_lines);
    }

    #[test]
    fn finds_marks_of_unfinished_work() {
        check("a.rs", concat!("fn f() {}\n// TO", "DO: more"), &[2]);
        check("a.rs", concat!("fn f() { to", "do!() }"), &[1]);
        check("a.toml", concat!("# FIX", "ME"), &[1]);
        check("a.rs", "// to do this, call that\nfn f() {}", &[]);
        check("a.md", concat!("TO", "DO"), &[]);
    }

    #[test]
    fn finds_ignored_tests() {
        check("a.rs", concat!("#[test]\n#[", "ignore]\nfn f() {}"), &[2]);
        check("a.rs", concat!("#[", "ignore = \"slow\"]\nfn f() {}"), &[1]);
        check("a.rs", "mod m {\n#[cfg_attr(miri, ignore)] fn f() {} }", &[2]);
        check("a.rs", "fn ignore() { ignore(); }", &[]);
    }
}
