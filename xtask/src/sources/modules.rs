//! Module tree of a target: follows `mod` declarations from its root file.

use syn::{Attribute, Item, ItemMod, Meta};

use super::{Sources, visit_tokens};

/// File as a module of a target.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SourceModule {
    /// Path of the file.
    pub file: String,
    /// Module names from the root of the target; empty for the root.
    pub path: Vec<String>,
    /// Whether the module is compiled only for tests.
    pub for_tests: bool,
}

/// Returns all modules of the target with the root file `root`, the root first.
pub(crate) fn target_modules(sources: &Sources, root: &str) -> Vec<SourceModule> {
    let mut modules = Vec::new();
    let folder = parent_folder(root);
    let module = SourceModule {
        file: root.to_owned(),
        path: Vec::new(),
        for_tests: root.starts_with("tests/") || root.contains("/tests/"),
    };
    collect_modules(sources, module, &folder, &mut modules);
    modules
}

/// Whether a file contains only tests.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// Whether these attributes restrict an item to tests.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Meta::List(list) = &attribute.meta else {
            return attribute.path().is_ident("test");
        };
        let mut words = Vec::new();
        visit_tokens(&list.tokens, &mut |token| words.push(token.to_string()));
        list.path.is_ident("cfg") && words.iter().any(|w| w == "test") && words[0] != "not"
    })
}

/// Adds `module` and all modules below it; `folder` contains the files of its children.
fn collect_modules(
    sources: &Sources,
    module: SourceModule,
    folder: &str,
    modules: &mut Vec<SourceModule>,
) {
    let Some(file) = sources.rust.get(&module.file) else { return };
    let SourceModule { path, for_tests, .. } = &module;
    let mut children = Vec::new();
    collect_declarations(&file.items, path, *for_tests, folder, &mut children);
    modules.push(module);
    for child in children {
        let found = [format!("{}.rs", child.file_stem), format!("{}/mod.rs", child.file_stem)]
            .into_iter()
            .find(|file| sources.rust.contains_key(file));
        if let Some(file) = found {
            let module = SourceModule { file, path: child.path, for_tests: child.for_tests };
            collect_modules(sources, module, &format!("{}/", child.file_stem), modules);
        }
    }
}

/// Declaration `mod name;` with the path of its file, without the extension.
struct ModDeclaration {
    file_stem: String,
    path: Vec<String>,
    for_tests: bool,
}

/// Collects the `mod name;` declarations in `items`, including those inside inline modules.
fn collect_declarations(
    items: &[Item],
    path: &[String],
    for_tests: bool,
    folder: &str,
    found: &mut Vec<ModDeclaration>,
) {
    for item in items {
        let Item::Mod(ItemMod { attrs, ident, content, .. }) = item else { continue };
        let name = ident.to_string();
        let place = format!("{folder}{name}");
        let for_tests = for_tests || is_for_tests(attrs);
        let path: Vec<String> = path.iter().cloned().chain([name]).collect();
        match content {
            Some((_, inside)) => {
                collect_declarations(inside, &path, for_tests, &format!("{place}/"), found);
            }
            None => found.push(ModDeclaration { file_stem: place, path, for_tests }),
        }
    }
}

/// Returns the folder of a target's root file, which also contains its child modules.
fn parent_folder(root: &str) -> String {
    root.rfind('/').map_or(String::new(), |slash| root[..=slash].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::example;

    #[test]
    fn follows_mod_declarations() {
        let sources = example::tree(&[
            ("a/src/lib.rs", "mod one; mod inline { mod deep; } #[cfg(test)] mod checks;"),
            ("a/src/one.rs", "mod child;"),
            ("a/src/one/child.rs", ""),
            ("a/src/inline/deep.rs", ""),
            ("a/src/checks.rs", ""),
            ("a/src/forgotten.rs", ""),
        ]);
        let modules = target_modules(&sources, "a/src/lib.rs");
        let names: Vec<_> = modules.iter().map(|m| (m.path.join("::"), m.for_tests)).collect();
        let expected = [
            ("", false),
            ("one", false),
            ("one::child", false),
            ("inline::deep", false),
            ("checks", true),
        ];
        assert_eq!(names, expected.map(|(path, for_tests)| (path.to_owned(), for_tests)));
    }

    #[test]
    fn detects_test_attributes() {
        for (item, expected) in [
            ("#[cfg(test)] mod a {}", true),
            ("#[cfg(all(test, unix))] mod a {}", true),
            ("#[cfg(not(test))] mod a {}", false),
            ("#[cfg(unix)] mod a {}", false),
            ("#[test] fn a() {}", true),
            ("/// About a test.\nfn a() {}", false),
        ] {
            let attributes = match syn::parse_str::<Item>(item).unwrap() {
                Item::Mod(module) => module.attrs,
                Item::Fn(function) => function.attrs,
                _ => unreachable!(),
            };
            assert_eq!(is_for_tests(&attributes), expected, "{item}");
        }
    }
}
