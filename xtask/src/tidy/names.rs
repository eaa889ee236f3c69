//! Forbids a second public type of the same name: one name has one meaning in the whole workspace.

use std::collections::BTreeMap;

use anyhow::Result;
use syn::visit::{self, Visit};
use syn::{Ident, Item, ItemMod, Visibility};

use crate::finding::TidyFinding;
use crate::sources::Sources;
use crate::sources::modules::{is_for_tests, is_test_file};

/// Reports each public type that has the name of an earlier one, tests aside.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut types = TypeVisitor { path: "", first: BTreeMap::new(), findings: Vec::new() };
    for (path, file) in sources.rust.iter().filter(|(path, _)| !is_test_file(path)) {
        types.path = path;
        types.visit_file(file);
    }
    Ok(types.findings)
}

/// Types so far, with the place of the first of each name.
struct TypeVisitor<'a> {
    path: &'a str,
    first: BTreeMap<String, String>,
    findings: Vec<TidyFinding>,
}

impl TypeVisitor<'_> {
    fn add(&mut self, name: &Ident, visibility: &Visibility) {
        if matches!(visibility, Visibility::Inherited) {
            return;
        }
        let line = name.span().start().line;
        if let Some(place) = self.first.get(&name.to_string()) {
            let what = format!("`{name}` is also a type of {place}");
            let why = "name each for what it is, or use one for both";
            self.findings.push(TidyFinding::new(self.path, line, what, why));
        } else {
            self.first.insert(name.to_string(), self.path.to_owned());
        }
    }
}

impl<'ast> Visit<'ast> for TypeVisitor<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Struct(it) => self.add(&it.ident, &it.vis),
            Item::Enum(it) => self.add(&it.ident, &it.vis),
            Item::Trait(it) => self.add(&it.ident, &it.vis),
            Item::Type(it) => self.add(&it.ident, &it.vis),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sources::example;

    fn check(second: (&str, &str), expected: usize) {
        let first = ("crates/a/src/a.rs", "pub struct Host;\nstruct Own;");
        let found = super::check(&example::tree(&[first, second])).unwrap();
        assert_eq!(found.len(), expected, "{second:?}");
    }

    #[test]
    fn finds_second_public_type_of_a_name() {
        let path = "crates/b/src/b.rs";
        check((path, "pub struct Host;"), 1);
        check((path, "mod m { pub(super) trait Host {} }"), 1);
        check((path, "pub(crate) type Host = u8; pub enum Host {}"), 2);
        check((path, "struct Host; pub fn host() {} pub struct Own;"), 0);
        check((path, "#[cfg(test)] mod tests { pub struct Host; }"), 0);
        check(("crates/b/tests/it/b.rs", "pub struct Host;"), 0);
        check(("crates/b/src/b/tests.rs", "pub struct Host;"), 0);
    }
}
