//! Forbids circles of imports between files of a crate: none of them can be read alone. A module and
//! its own submodules may name each other.

use std::collections::{BTreeMap, VecDeque};

use anyhow::Result;

use super::imports::{ImportSite, named_paths};
use crate::finding::TidyFinding;
use crate::sources::modules::{self, SourceModule};
use crate::sources::{Sources, crates};

/// Path of a module within its crate.
type ModulePath = Vec<String>;
/// Imports of every module, each with its first location.
type ImportGraph = BTreeMap<ModulePath, BTreeMap<ModulePath, ImportSite>>;

/// Reports the shortest circle through each module that is the first of one.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut findings = Vec::new();
    for package in crates::packages(sources)? {
        for root in package.target_roots(sources) {
            let modules = modules::target_modules(sources, root);
            findings.extend(find_circles(&collect_graph(sources, &modules)));
        }
    }
    Ok(findings)
}

fn collect_graph(sources: &Sources, modules: &[SourceModule]) -> ImportGraph {
    let mut graph = ImportGraph::new();
    for module in modules.iter().filter(|module| !module.for_tests) {
        for (path, line) in named_paths(sources, module) {
            // The longest prefix that is a file; the rest is an item in it.
            let target = (1..=path.len()).rev().map(|length| &path[..length]);
            let target = target.into_iter().find(|path| {
                modules.iter().any(|other| !other.for_tests && other.path == *path)
            });
            let Some(target) = target.filter(|it| !is_related(it, &module.path)) else {
                continue;
            };
            let site = ImportSite { file: module.file.clone(), line };
            let imports = graph.entry(module.path.clone()).or_default();
            imports.entry(target.to_vec()).or_insert(site);
        }
    }
    graph
}

/// Whether one module contains the other, or both are the same.
fn is_related(one: &[String], other: &[String]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn find_circles(graph: &ImportGraph) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (start, imports) in graph {
        let Some(circle) = find_circle(graph, start) else { continue };
        // Each circle is reported once, at its first module.
        if circle.iter().any(|module| *module < start) {
            continue;
        }
        let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
        let site = &imports[circle.get(1).copied().unwrap_or(start)];
        let what = format!("these files import each other: {}", names.join(" → "));
        let why = "move what both need into a file of its own";
        findings.push(TidyFinding::new(&site.file, site.line, what, why));
    }
    findings
}

/// Returns the shortest circle from a module back to itself.
fn find_circle<'g>(
    graph: &'g ImportGraph,
    start: &'g ModulePath,
) -> Option<Vec<&'g ModulePath>> {
    let mut previous: BTreeMap<&ModulePath, &ModulePath> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(module) = queue.pop_front() {
        for next in graph.get(module).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                let mut circle = vec![start, module];
                while let Some(before) = previous.get(circle[circle.len() - 1]) {
                    circle.push(before);
                }
                circle.reverse();
                circle.push(start);
                circle.dedup();
                return Some(circle);
            }
            if !previous.contains_key(next) {
                previous.insert(next, module);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(imports: &[(&str, &str)]) -> ImportGraph {
        let path = |text: &str| text.split("::").map(str::to_owned).collect::<ModulePath>();
        let mut graph = ImportGraph::new();
        for (from, to) in imports {
            let site = ImportSite { file: format!("{from}.rs"), line: 1 };
            graph.entry(path(from)).or_default().insert(path(to), site);
        }
        graph
    }

    #[test]
    fn reports_each_circle_once() {
        let circles = |imports: &[(&str, &str)]| {
            find_circles(&graph(imports)).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert!(circles(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
        let found = circles(&[("a", "b"), ("b", "x::c"), ("x::c", "a"), ("d", "a")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("a → b → x::c → a"), "{found:?}");
        assert_eq!(circles(&[("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")]).len(), 2);
    }
}
