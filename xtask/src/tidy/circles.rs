//! Forbids circles of imports between files of a crate: none of them can be read alone. A module and
//! its own submodules may name each other; with any other file between them, that is a circle.

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

/// Reports the circles of every target.
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
            let Some(target) = target.filter(|it| *it != module.path) else {
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

/// Reports each circle once: the shortest one of each import that leaves a module's own family.
fn find_circles(graph: &ImportGraph) -> Vec<TidyFinding> {
    let mut findings = BTreeMap::new();
    for (from, imports) in graph {
        for (to, site) in imports.iter().filter(|(to, _)| !is_related(from, to)) {
            let Some(circle) = find_circle(graph, from, to) else { continue };
            let mut members = circle.clone();
            members.sort();
            let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
            let what =
                format!("these files import each other: {} → {}", names.join(" → "), names[0]);
            let why = "move what both need into a file of its own";
            let finding = TidyFinding::new(&site.file, site.line, what, why);
            findings.entry(members).or_insert(finding);
        }
    }
    findings.into_values().collect()
}

/// Returns the shortest circle that begins with the import of `to` by `from` and visits no module
/// that contains both: with such a module, it is a module and its own submodules.
fn find_circle<'g>(
    graph: &'g ImportGraph,
    from: &'g ModulePath,
    to: &'g ModulePath,
) -> Option<Vec<&'g ModulePath>> {
    let contains_both =
        |module: &ModulePath| from.starts_with(module) && to.starts_with(module);
    let mut importers = BTreeMap::from([(to, from)]);
    let mut queue = VecDeque::from([to]);
    while let Some(module) = queue.pop_front() {
        if module == from {
            let mut circle = vec![from];
            let mut member = importers[from];
            while member != from {
                circle.push(member);
                member = importers[member];
            }
            circle[1..].reverse();
            return Some(circle);
        }
        for next in graph.get(module).into_iter().flat_map(BTreeMap::keys) {
            if !contains_both(next) && !importers.contains_key(next) {
                importers.insert(next, module);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::example;

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

    #[test]
    fn finds_circle_through_a_submodule() {
        let found = find_circles(&graph(&[
            ("a", "a::options"),
            ("a::options", "b"),
            ("b", "b::parts"),
            ("b::parts", "b"),
            ("b", "a"),
        ]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].what.contains("a::options → b → a → a::options"), "{found:?}");
    }

    #[test]
    fn allows_module_and_its_submodules() {
        let family = [("a", "a::x"), ("a::x", "a::y"), ("a::y", "a"), ("a::y", "a::y::z")];
        assert!(find_circles(&graph(&family)).is_empty());
    }

    #[test]
    fn names_files_and_lines_of_imports() {
        let files = [
            ("x/Cargo.toml", "[package]\nname = \"x\""),
            ("x/src/lib.rs", "mod a;\nmod b;"),
            ("x/src/a.rs", "mod options;\nuse self::options::PORT;"),
            ("x/src/a/options.rs", "\nuse crate::b::Address;"),
            ("x/src/b.rs", "use crate::a::Request;"),
        ];
        example::check_lines(check, &files, &[2]);
    }
}
