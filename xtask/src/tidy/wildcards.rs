//! Forbids catch-all arms in a `match` over benchmarks, workloads or measurers, and tests of a
//! single variant of a workload.
//!
//! After a variant is added, the compiler then lists every place that does not handle it. Tests of
//! a single variant are `matches!`, `if let` and `let … else`.

use anyhow::Result;
use syn::parse::{ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{Expr, ExprLet, ExprMatch, ItemImpl, Local, Macro, Pat, Path, Token, Type};

use crate::finding::TidyFinding;
use crate::sources::Sources;

/// Enumerations that grow.
const GROWING_ENUMS: [&str; 3] = ["Workload", "Benchmark", "Measurer"];

/// Enumeration whose variants are tested by its accessors only, `assay-model/src/workload/parts.rs`.
const ONLY_BY_ACCESSOR: &str = "Workload";

/// Reports every catch-all arm of a `match` with another arm that names a variant of those, and
/// every test of a single variant that has an accessor.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut findings = Vec::new();
    for (path, file) in &sources.rust {
        let mut matches = MatchVisitor { path, self_enum: None, findings: &mut findings };
        matches.visit_file(file);
    }
    Ok(findings)
}

struct MatchVisitor<'a> {
    path: &'a str,
    /// Enumeration that `Self` refers to, if it is one of those.
    self_enum: Option<&'static str>,
    findings: &'a mut Vec<TidyFinding>,
}

impl MatchVisitor<'_> {
    /// Reports a pattern that is compared alone, if it names a variant that has an accessor.
    fn check_partial_test(&mut self, pattern: &Pat) {
        let mut named = VariantFinder { self_enum: self.self_enum, found: None };
        named.visit_pat(pattern);
        if let Some((ONLY_BY_ACCESSOR, line)) = named.found {
            let what = format!("a test of a single variant of `{ONLY_BY_ACCESSOR}`");
            let why = "use an accessor of assay-model/src/workload/parts.rs, which lists every \
                       variant";
            self.findings.push(TidyFinding::new(self.path, line, what, why));
        }
    }
}

impl<'ast> Visit<'ast> for MatchVisitor<'_> {
    fn visit_expr_let(&mut self, found: &'ast ExprLet) {
        self.check_partial_test(&found.pat);
        visit::visit_expr_let(self, found);
    }

    fn visit_local(&mut self, found: &'ast Local) {
        if found.init.as_ref().is_some_and(|init| init.diverge.is_some()) {
            self.check_partial_test(&found.pat);
        }
        visit::visit_local(self, found);
    }

    fn visit_macro(&mut self, found: &'ast Macro) {
        if let (true, Ok(pattern)) =
            (found.path.is_ident("matches"), parse_matches.parse2(found.tokens.clone()))
        {
            self.check_partial_test(&pattern);
        }
        visit::visit_macro(self, found);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let outside = self.self_enum;
        self.self_enum = match &*item.self_ty {
            Type::Path(name) => {
                name.path.segments.last().and_then(|it| growing_enum(&it.ident))
            }
            _ => None,
        };
        visit::visit_item_impl(self, item);
        self.self_enum = outside;
    }

    fn visit_expr_match(&mut self, found: &'ast ExprMatch) {
        let mut named = VariantFinder { self_enum: self.self_enum, found: None };
        for arm in &found.arms {
            named.visit_pat(&arm.pat);
        }
        let rest = found.arms.iter().find(|arm| is_catch_all(&arm.pat));
        if let (Some((name, _)), Some(rest)) = (named.found, rest) {
            let line = rest.fat_arrow_token.spans[0].start().line;
            let what = format!("a catch-all arm for `{name}`");
            let why =
                "list the variants, so that the compiler reports this place when one is added";
            self.findings.push(TidyFinding::new(self.path, line, what, why));
        }
        visit::visit_expr_match(self, found);
    }
}

/// Searches patterns for a variant of the growing enumerations.
struct VariantFinder {
    self_enum: Option<&'static str>,
    /// Enumeration and line of the first variant.
    found: Option<(&'static str, usize)>,
}

impl<'ast> Visit<'ast> for VariantFinder {
    fn visit_path(&mut self, path: &'ast Path) {
        let before_last = path.segments.iter().rev().nth(1).map(|it| &it.ident);
        let variant = before_last.and_then(|it| {
            let name = if it == "Self" { self.self_enum } else { growing_enum(it) };
            Some((name?, it.span().start().line))
        });
        self.found = self.found.or(variant);
        visit::visit_path(self, path);
    }
}

/// Parses the pattern of `matches!(value, pattern if guard)`.
fn parse_matches(tokens: ParseStream<'_>) -> syn::Result<Pat> {
    tokens.parse::<Expr>()?;
    tokens.parse::<Token![,]>()?;
    let pattern = Pat::parse_multi_with_leading_vert(tokens)?;
    tokens.parse::<proc_macro2::TokenStream>()?;
    Ok(pattern)
}

fn growing_enum(name: &syn::Ident) -> Option<&'static str> {
    GROWING_ENUMS.into_iter().find(|growing| name == growing)
}

/// Whether a pattern matches any value: `_`, a binding, or a combination of them.
fn is_catch_all(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(name) => {
            // Constants are written in capitals.
            name.subpat.is_none() && name.ident.to_string().starts_with(char::is_lowercase)
        }
        Pat::Paren(inner) => is_catch_all(&inner.pat),
        Pat::Reference(inner) => is_catch_all(&inner.pat),
        Pat::Tuple(tuple) => tuple.elems.iter().all(is_catch_all),
        Pat::Or(either) => either.cases.iter().any(is_catch_all),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::sources::example;

    fn check(text: &str, expected_lines: &[usize]) {
        example::check_lines(super::check, &[("a.rs", text)], expected_lines);
    }

    /// Checks a function that contains a `match` with these arms.
    fn check_arms(arms: &str, expected_lines: &[usize]) {
        check(&format!("fn f() {{ match x {{\n{arms}\n}} }}"), expected_lines);
    }

    #[test]
    fn finds_catch_all_arms() {
        check_arms("Workload::A(a) => a,\n_ => 0,", &[3]);
        check_arms("model::Benchmark::A | Benchmark::B => 1,\nother => g(other),", &[3]);
        check_arms("Some(Measurer::Tool { .. }) => 1,\n_ => 0,", &[3]);
        check_arms("(Workload::A, Workload::B) => 1,\n(_, _) => 0,", &[3]);
        check_arms("Workload::A if c => 1,\nWorkload::B | _ => 0,", &[3]);
        check_arms("0 => 1,\n_ => match y { Workload::A => 1,\n_ => 2 }", &[4]);
        check("impl Workload { fn f(&self) { match self { Self::A => 1,\n_ => 0 }; } }", &[2]);
    }

    #[test]
    fn finds_tests_of_a_single_workload() {
        check("fn f() {\nlet Workload::A(work) = x else { return };\n}", &[2]);
        check("fn f() {\nlet (Workload::A | Workload::B, true) = x else { return };\n}", &[2]);
        check("fn f() {\nif let Some(Workload::A(work)) = x { g() }\n}", &[2]);
        check("fn f() {\nif c && let Workload::A = x { g() }\n}", &[2]);
        check("fn f() {\nwhile let Workload::A = x { g() }\n}", &[2]);
        check("fn f() {\ng(matches!(x, Workload::A(work) if work.n > 1))\n}", &[2]);
        check("impl Workload {\nfn f(&self) -> bool { matches!(self, Self::A) }\n}", &[2]);
    }

    #[test]
    fn accepts_accessors_and_new_workloads() {
        check("fn f() { let Some(work) = x.as_a() else { return }; }", &[]);
        check(
            "fn f() { let work = Workload::A(1); if let Some(a) = g(Workload::A(1)) {} }",
            &[],
        );
        check("fn f() { matches!(Workload::A.kind(), Kind::B); }", &[]);
    }

    #[test]
    fn accepts_exhaustive_or_unrelated_matches() {
        check_arms("Workload::A => 1,\nWorkload::B(_) => 0,", &[]);
        check_arms("Workload::A => 1,\n_ if c => 2,\nWorkload::B { .. } => 0,", &[]);
        check_arms("1 => Workload::A,\n_ => Workload::B,", &[]);
        check_arms("Unit::Byte => 1,\n_ => 0,", &[]);
        check(
            "fn f() { matches!(x, Benchmark::A); let Measurer::A = x else { return }; }",
            &[],
        );
        check("impl Other { fn f(&self) { match self { Self::A => 1,\n_ => 0 }; } }", &[]);
    }
}
