//! Files of the tree for the rules of `tidy`: every file that git tracks or would track, with Rust
//! files parsed.
//!
//! Only reads; the rules are elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind::{IsADirectory, NotFound};
use std::path::Path;

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};

use crate::command;

pub(crate) mod crates;
pub(crate) mod modules;

/// All files of the tree, by path from its root.
#[derive(Default)]
pub(crate) struct Sources {
    /// Texts of all files; empty for those that are not UTF-8.
    pub files: BTreeMap<String, String>,
    /// Parsed Rust files.
    pub rust: BTreeMap<String, syn::File>,
}

impl Sources {
    /// Reads all files below `root` that git tracks or that `git add` would add.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        // Accepts a clone that another user owns: nothing in it is executed here.
        let listed = command::output(command::at_root(root, "git").args([
            "-c",
            "safe.directory=*",
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]))?;
        let mut files = BTreeMap::new();
        for path in listed.split('\0').filter(|path| !path.is_empty()) {
            match fs::read(root.join(path)) {
                Ok(bytes) => {
                    files.insert(path.to_owned(), String::from_utf8(bytes).unwrap_or_default());
                }
                // Deleted in the work tree but not yet in the index, or a nested repository.
                Err(error) if matches!(error.kind(), NotFound | IsADirectory) => {}
                Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
            }
        }
        Self::parse(files)
    }

    /// Parses given texts, also for the tests of the rules.
    pub(crate) fn parse(files: BTreeMap<String, String>) -> Result<Self> {
        let mut rust = BTreeMap::new();
        for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
            let parsed =
                syn::parse_file(text).with_context(|| format!("{path} is not Rust"))?;
            rust.insert(path.clone(), parsed);
        }
        Ok(Self { files, rust })
    }

    /// Returns paths and texts of the files whose path ends in one of `endings`.
    pub(crate) fn files_ending_in<'a>(
        &'a self,
        endings: &'a [&str],
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .filter(|(path, _)| endings.iter().any(|ending| path.ends_with(ending)))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }
}

/// Calls `visit` with every token in order, including those inside groups.
pub(crate) fn visit_tokens(tokens: &TokenStream, visit: &mut dyn FnMut(&TokenTree)) {
    for token in tokens.clone() {
        visit(&token);
        if let TokenTree::Group(group) = &token {
            visit_tokens(&group.stream(), visit);
        }
    }
}

#[cfg(test)]
pub(crate) mod example {
    //! Small trees for the tests of the rules.

    use anyhow::Result;

    use super::Sources;
    use crate::finding::TidyFinding;

    /// Creates a tree of these paths and texts.
    pub(crate) fn tree(files: &[(&str, &str)]) -> Sources {
        let files = files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        Sources::parse(files).expect("the example is valid Rust")
    }

    /// Checks the lines in which a rule finds something in these files.
    pub(crate) fn check_lines(
        rule: fn(&Sources) -> Result<Vec<TidyFinding>>,
        files: &[(&str, &str)],
        expected: &[usize],
    ) {
        let found = rule(&tree(files)).unwrap();
        let lines: Vec<_> = found.iter().map(|it| it.line).collect();
        assert_eq!(lines, expected, "{files:?}");
    }
}
