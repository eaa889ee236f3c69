//! Forbids mutual imports of two top-level modules: both need a third module for their common
//! concept.

use std::collections::BTreeMap;

use anyhow::Result;
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, ItemFn, ItemMod, ItemUse, Macro, Path, UseTree, VisRestricted, Visibility};

use crate::finding::TidyFinding;
use crate::sources::modules::{self, SourceModule, is_for_tests};
use crate::sources::{Sources, crates};

/// Reports every pair of top-level modules that import each other, except in tests.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut findings = Vec::new();
    for package in crates::packages(sources)? {
        for root in package.target_roots(sources) {
            findings.extend(mutual_imports(sources, &modules::target_modules(sources, root)));
        }
    }
    Ok(findings)
}

/// First location at which a module names another.
#[derive(Debug, Clone)]
pub(super) struct ImportSite {
    pub(super) file: String,
    pub(super) line: usize,
}

fn mutual_imports(sources: &Sources, modules: &[SourceModule]) -> Vec<TidyFinding> {
    let roads = collect_imports(sources, modules);
    let mut findings = Vec::new();
    for ((from, to), there) in &roads {
        if from < to
            && let Some(back) = roads.get(&(to.clone(), from.clone()))
        {
            let ImportSite { file, line } = there;
            let what = format!(
                "`{from}` imports `{to}`, and `{to}` imports `{from}` at {}:{}",
                back.file, back.line
            );
            let why = "move the concept that both need into its own module";
            findings.push(TidyFinding::new(file, *line, what, why));
        }
    }
    findings
}

/// Returns the imports between top-level modules, each with its first location.
fn collect_imports(
    sources: &Sources,
    modules: &[SourceModule],
) -> BTreeMap<(String, String), ImportSite> {
    let reexported = root_reexports(sources, modules);
    let mut roads = BTreeMap::new();
    for module in modules.iter().filter(|module| !module.for_tests) {
        let Some(from) = module.path.first() else { continue };
        for (path, line) in named_paths(sources, module) {
            let Some(first) = path.first() else { continue };
            let to = reexported.get(first).unwrap_or(first);
            let is_module = modules.iter().any(|module| module.path.first() == Some(to));
            if is_module && to != from {
                let place = ImportSite { file: module.file.clone(), line };
                roads.entry((from.clone(), to.clone())).or_insert(place);
            }
        }
    }
    roads
}

/// Returns every path of the crate that a module names, with its line.
pub(super) fn named_paths(
    sources: &Sources,
    module: &SourceModule,
) -> Vec<(Vec<String>, usize)> {
    let mut names = PathVisitor { module: module.path.clone(), found: Vec::new() };
    names.visit_file(&sources.rust[&module.file]);
    names.found
}

/// Returns the names that the root re-exports, with their top-level modules.
fn root_reexports(sources: &Sources, modules: &[SourceModule]) -> BTreeMap<String, String> {
    let Some(root) = modules.first() else { return BTreeMap::new() };
    let mut reexported = BTreeMap::new();
    for item in &sources.rust[&root.file].items {
        let Item::Use(item) = item else { continue };
        if matches!(item.vis, Visibility::Inherited) {
            continue;
        }
        visit_use_tree(&item.tree, &mut Vec::new(), &mut |path, name| {
            let path: Vec<String> = path.iter().map(Ident::to_string).collect();
            let path = absolute_path(&path, &[]).unwrap_or(path);
            if let [module, _, ..] = path.as_slice() {
                reexported.insert(name.to_string(), module.clone());
            }
        });
    }
    reexported
}

/// Collects every path that begins with `crate`, `self` or `super`, as an absolute path.
struct PathVisitor {
    module: Vec<String>,
    found: Vec<(Vec<String>, usize)>,
}

impl PathVisitor {
    fn add(&mut self, path: &[Ident]) {
        let Some(first) = path.first() else { return };
        let words: Vec<String> = path.iter().map(Ident::to_string).collect();
        if let Some(absolute) = absolute_path(&words, &self.module) {
            self.found.push((absolute, first.span().start().line));
        }
    }

    /// Finds paths in the tokens of macros, which are not parsed, by their first word.
    fn add_from_tokens(&mut self, tokens: &TokenStream) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let mut path: Vec<Ident> = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(ident) => {
                    let continues = index >= 2 && tokens[index - 2..index].iter().all(is_colon);
                    if !continues {
                        self.add(&path);
                        path.clear();
                    }
                    path.push(ident.clone());
                }
                TokenTree::Group(group) => self.add_from_tokens(&group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
        self.add(&path);
    }
}

impl<'ast> Visit<'ast> for PathVisitor {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        visit_use_tree(&item.tree, &mut Vec::new(), &mut |path, _| self.add(path));
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let idents: Vec<Ident> = path.segments.iter().map(|s| s.ident.clone()).collect();
        self.add(&idents);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast Macro) {
        self.add_from_tokens(&invocation.tokens);
        visit::visit_macro(self, invocation);
    }

    /// Visibility, as in `pub(in crate::plan)`, imports nothing.
    fn visit_vis_restricted(&mut self, _: &'ast VisRestricted) {}

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_for_tests(&module.attrs) {
            self.module.push(module.ident.to_string());
            visit::visit_item_mod(self, module);
            self.module.pop();
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_item_fn(self, function);
        }
    }
}

/// Calls `visit` with every full path of a use tree and its local name.
fn visit_use_tree(
    tree: &UseTree,
    prefix: &mut Vec<Ident>,
    visit: &mut dyn FnMut(&[Ident], &Ident),
) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.clone());
            visit_use_tree(&path.tree, prefix, visit);
            prefix.pop();
        }
        UseTree::Name(name) => visit_use_path(prefix, &name.ident, &name.ident, visit),
        UseTree::Rename(name) => visit_use_path(prefix, &name.ident, &name.rename, visit),
        UseTree::Glob(glob) => {
            let star = Ident::new("_", glob.star_token.span);
            visit_use_path(prefix, &star, &star, visit);
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| visit_use_tree(tree, prefix, visit));
        }
    }
}

fn visit_use_path(
    prefix: &[Ident],
    last: &Ident,
    name: &Ident,
    visit: &mut dyn FnMut(&[Ident], &Ident),
) {
    let path: Vec<Ident> = prefix.iter().chain([last]).cloned().collect();
    visit(&path, name);
}

/// Returns the path from the root of the crate, if it begins with `crate`, `self` or `super`.
fn absolute_path(path: &[String], module: &[String]) -> Option<Vec<String>> {
    let mut absolute = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => module.to_vec(),
        _ => return None,
    };
    let words = path.iter().skip_while(|word| match word.as_str() {
        "super" => {
            absolute.pop();
            true
        }
        "crate" | "self" => true,
        _ => false,
    });
    let rest: Vec<String> = words.cloned().collect();
    absolute.extend(rest);
    Some(absolute)
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':')
}

#[cfg(test)]
mod tests;
