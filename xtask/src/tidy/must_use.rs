//! Allows `#[must_use]` only on functions that return a changed copy of `self`.

use anyhow::Result;
use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, Signature};

use crate::finding::TidyFinding;
use crate::sources::Sources;

/// Reports functions with the attribute that return no `Self` made of `self`.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut findings = Vec::new();
    for (path, file) in &sources.rust {
        FunctionVisitor { path, findings: &mut findings }.visit_file(file);
    }
    Ok(findings)
}

struct FunctionVisitor<'a> {
    path: &'a str,
    findings: &'a mut Vec<TidyFinding>,
}

impl FunctionVisitor<'_> {
    fn check(&mut self, attributes: &[Attribute], signature: &Signature) {
        let Some(attribute) = attributes.iter().find(|it| it.path().is_ident("must_use"))
        else {
            return;
        };
        if !changes_copy(signature) {
            let line = attribute.pound_token.span.start().line;
            let why = "a dropped result is visible where `self` is not changed: remove it";
            self.findings.push(TidyFinding::new(self.path, line, "`#[must_use]`", why));
        }
    }
}

impl<'ast> Visit<'ast> for FunctionVisitor<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.check(&item.attrs, &item.sig);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.check(&item.attrs, &item.sig);
        visit::visit_impl_item_fn(self, item);
    }
}

/// Whether a function has `self` and returns a `Self`.
fn changes_copy(signature: &Signature) -> bool {
    let mut output = SelfVisitor { is_found: false };
    output.visit_return_type(&signature.output);
    output.is_found && matches!(signature.inputs.first(), Some(FnArg::Receiver(_)))
}

struct SelfVisitor {
    is_found: bool,
}

impl<'ast> Visit<'ast> for SelfVisitor {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.is_found |= path.is_ident("Self");
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use crate::sources::example;

    #[test]
    fn finds_attributes_without_changed_copy() {
        let check = |text: &str, expected: &[usize]| {
            example::check_lines(super::check, &[("a.rs", text)], expected);
        };
        check("#[must_use]\nfn f() -> u8 { 1 }", &[1]);
        check("impl A {\n#[must_use]\nfn size(&self) -> u8 { 1 }\n}", &[2]);
        check("impl A {\n#[must_use]\nfn new() -> Self { A }\n}", &[2]);
        check("impl A {\n#[must_use]\nfn with_size(self, size: u8) -> Self { self }\n}", &[]);
        check("#[must_use = \"it ends the thread\"]\nstruct A;", &[]);
    }
}
