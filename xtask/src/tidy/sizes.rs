//! Limits the length of functions and files. Exceptions are in a list that may only shrink.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, Item, ItemFn, ItemMod, Signature, TraitItemFn};

use crate::finding::TidyFinding;
use crate::sources::Sources;
use crate::sources::modules::{is_for_tests, is_test_file};

const MAX_FUNCTION_LINES: usize = 70;
const MAX_FILE_LINES: usize = 600;

/// List of exceptions and its maximum number of entries. Lower the number, never raise it.
const ALLOWANCES: &str = "xtask/size_allowances.toml";
const MAX_ALLOWANCES: usize = 0;

/// Reports lengths above the limits without an allowance, and allowances that no longer apply.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let allowances = Allowances::read(sources)?;
    let mut findings = Vec::new();
    let (mut files, mut functions) = (BTreeMap::new(), BTreeMap::new());
    for (path, file) in sources.rust.iter().filter(|(path, _)| !is_test_file(path)) {
        let lines = sources.files[path].lines().count();
        files.insert(path.clone(), (1, lines - count_test_lines(&file.items)));
        let mut lengths = LengthVisitor { path, found: &mut functions };
        lengths.visit_file(file);
    }
    findings.extend(compare("file", &files, &allowances.files, MAX_FILE_LINES));
    findings.extend(compare("function", &functions, &allowances.functions, MAX_FUNCTION_LINES));
    if allowances.files.len() + allowances.functions.len() > MAX_ALLOWANCES {
        let what = format!("more than {MAX_ALLOWANCES} entries");
        findings.push(TidyFinding::new(ALLOWANCES, 1, what, "the list may only shrink"));
    }
    Ok(findings)
}

/// Allowed lengths by `path` or `path::function`.
#[derive(Default)]
struct Allowances {
    files: BTreeMap<String, usize>,
    functions: BTreeMap<String, usize>,
}

impl Allowances {
    fn read(sources: &Sources) -> Result<Self> {
        let Some(text) = sources.files.get(ALLOWANCES) else { return Ok(Self::default()) };
        let mut table: BTreeMap<String, BTreeMap<String, usize>> =
            toml::from_str(text).with_context(|| format!("cannot read {ALLOWANCES}"))?;
        let mut take = |name| table.remove(name).unwrap_or_default();
        Ok(Self { files: take("files"), functions: take("functions") })
    }
}

/// Compares lengths, given with their line, with the limit and the allowances above it.
fn compare(
    kind: &str,
    actual: &BTreeMap<String, (usize, usize)>,
    allowed: &BTreeMap<String, usize>,
    most: usize,
) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (name, (line, length)) in actual {
        let limit = allowed.get(name).copied().unwrap_or(most);
        if *length > limit {
            let path = name.split("::").next().unwrap_or(name);
            let what = format!("{kind} of {length} lines, {limit} allowed");
            findings.push(TidyFinding::new(path, *line, what, "split it by subject"));
        }
    }
    for (name, limit) in allowed {
        let length = actual.get(name).map_or(0, |(_, length)| *length);
        if length < *limit || length <= most {
            let what = format!("{name} is allowed {limit} lines and has {length}");
            findings.push(TidyFinding::new(ALLOWANCES, 1, what, "the list may only shrink"));
        }
    }
    findings
}

/// Counts the lines of inline modules that are compiled only for tests.
fn count_test_lines(items: &[Item]) -> usize {
    items
        .iter()
        .filter_map(|item| match item {
            Item::Mod(ItemMod { attrs, content: Some((braces, inside)), .. }) => {
                Some(match attrs.first() {
                    Some(first) if is_for_tests(attrs) => {
                        line_count(first.pound_token.span, braces.span.close())
                    }
                    _ => count_test_lines(inside),
                })
            }
            _ => None,
        })
        .sum()
}

fn line_count(first: Span, last: Span) -> usize {
    last.end().line - first.start().line + 1
}

/// Collects the length of every function, from its signature to its closing brace.
struct LengthVisitor<'a> {
    path: &'a str,
    found: &'a mut BTreeMap<String, (usize, usize)>,
}

impl LengthVisitor<'_> {
    fn add(&mut self, signature: &Signature, block: &Block) {
        let start = signature.fn_token.span;
        let length = line_count(start, block.brace_token.span.close());
        let this = (start.start().line, length);
        let entry = self.found.entry(format!("{}::{}", self.path, signature.ident));
        // Several methods of a file can share a name: keeps the longest.
        let longest = entry.or_insert(this);
        if length > longest.1 {
            *longest = this;
        }
    }
}

impl<'ast> Visit<'ast> for LengthVisitor<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_for_tests(&function.attrs) {
            self.add(&function.sig, &function.block);
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(block) = &function.default {
            self.add(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests;
