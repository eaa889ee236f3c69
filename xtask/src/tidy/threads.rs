//! Forbids calls that panic when the system refuses a thread: `thread::spawn` and `Scope::spawn`.
//!
//! `thread::Builder` returns the error instead. Tests may panic, and so may `xtask`.

use anyhow::Result;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall, ImplItemFn, ItemFn, ItemMod};

use crate::finding::TidyFinding;
use crate::sources::Sources;
use crate::sources::modules::{is_for_tests, is_test_file};

const WHY: &str = "use thread::Builder and handle its error: a system may refuse a thread (pids.max, seccomp)";

/// Reports every such call in the crates, outside tests.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut findings = Vec::new();
    let is_program = |path: &str| {
        path.starts_with("crates/") && path.contains("/src/") && !is_test_file(path)
    };
    for (path, file) in sources.rust.iter().filter(|(path, _)| is_program(path)) {
        let mut calls = SpawnVisitor { path, findings: &mut findings };
        calls.visit_file(file);
    }
    Ok(findings)
}

struct SpawnVisitor<'a> {
    path: &'a str,
    findings: &'a mut Vec<TidyFinding>,
}

impl SpawnVisitor<'_> {
    fn report(&mut self, name: &syn::Ident, what: &str) {
        let line = name.span().start().line;
        self.findings.push(TidyFinding::new(self.path, line, what, WHY));
    }
}

impl<'ast> Visit<'ast> for SpawnVisitor<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    /// `thread::spawn(…)`, also by its full path.
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(callee) = &*call.func {
            let mut names = callee.path.segments.iter().rev().map(|it| &it.ident);
            let (last, before) = (names.next(), names.next());
            if let Some(name) = last.filter(|it| *it == "spawn")
                && before.is_none_or(|it| it == "thread")
            {
                self.report(name, "`thread::spawn`");
            }
        }
        visit::visit_expr_call(self, call);
    }

    /// `scope.spawn(…)`: the receiver of a scope is named so.
    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let is_scope =
            matches!(&*call.receiver, Expr::Path(name) if name.path.is_ident("scope"));
        if call.method == "spawn" && is_scope {
            self.report(&call.method, "`Scope::spawn`");
        }
        visit::visit_expr_method_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use crate::sources::example;

    fn check(path: &str, text: &str, expected_lines: &[usize]) {
        example::check_lines(super::check, &[(path, text)], expected_lines);
    }

    #[test]
    fn finds_threads_that_panic_when_refused() {
        let path = "crates/a/src/a.rs";
        check(path, "fn f() {\n  std::thread::spawn(g);\n}", &[2]);
        check(path, "fn f() { spawn(g); }", &[1]);
        check(path, "fn f() { thread::scope(|scope| {\n scope.spawn(g); }); }", &[2]);
        check(path, "impl A { fn f() {\n thread::spawn(g); } }", &[2]);
        check(path, "fn f() { thread::Builder::new().spawn(g)?; command.spawn()?; }", &[]);
        check(path, "fn f() { Builder::new().spawn_scoped(scope, g)?; }", &[]);
        check(path, "#[cfg(test)] mod tests { fn f() { thread::spawn(g); } }", &[]);
        check(path, "#[test] fn f() { thread::spawn(g); }", &[]);
        check("crates/a/tests/it/a.rs", "fn f() { thread::spawn(g); }", &[]);
        check("crates/a/src/a/tests.rs", "fn f() { thread::spawn(g); }", &[]);
    }
}
