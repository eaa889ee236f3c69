//! The tree as the rules of `tidy` see it: every file that git tracks or would track, its text, the
//! Rust ones parsed. Never writes, and never judges.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind::{IsADirectory, NotFound};
use std::path::Path;

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};

use crate::command;

pub(crate) mod crates;
pub(crate) mod modules;

/// All files of the tree by their path from its root.
#[derive(Default)]
pub(crate) struct Sources {
    /// Text of every file that is UTF-8; the others are here with an empty text.
    pub files: BTreeMap<String, String>,
    /// The Rust files among them.
    pub rust: BTreeMap<String, RustFile>,
}

/// A Rust file, twice: as syntax, and as tokens for what may stand anywhere (also inside macros).
pub(crate) struct RustFile {
    /// The whole file as a syntax tree.
    pub syntax: syn::File,
    /// The whole file as tokens.
    pub tokens: TokenStream,
}

impl Sources {
    /// Reads all files below `root` that git tracks, and those it would if they were added.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        // A clone made by another user is read all the same: nothing of it is executed here.
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
                // Deleted in the work tree but not yet in the index, or another repository inside.
                Err(error) if matches!(error.kind(), NotFound | IsADirectory) => {}
                Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
            }
        }
        Self::parse(files)
    }

    /// The same from texts, which is how the rules are tested.
    pub(crate) fn parse(files: BTreeMap<String, String>) -> Result<Self> {
        let mut rust = BTreeMap::new();
        for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
            let parsed =
                RustFile::parse(text).with_context(|| format!("{path} is not Rust"))?;
            rust.insert(path.clone(), parsed);
        }
        Ok(Self { files, rust })
    }

    /// Texts of the files whose name ends in one of `endings`.
    pub(crate) fn ending_in<'a>(
        &'a self,
        endings: &'a [&str],
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .filter(|(path, _)| endings.iter().any(|ending| path.ends_with(ending)))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }
}

impl RustFile {
    fn parse(text: &str) -> syn::Result<Self> {
        Ok(Self { syntax: syn::parse_str(text)?, tokens: text.parse()? })
    }
}

/// Calls `visit` with every token, those inside groups included, in the order of the text.
pub(crate) fn each_token(tokens: &TokenStream, visit: &mut dyn FnMut(&TokenTree)) {
    for token in tokens.clone() {
        visit(&token);
        if let TokenTree::Group(group) = &token {
            each_token(&group.stream(), visit);
        }
    }
}

#[cfg(test)]
pub(crate) mod example {
    //! Small trees for the tests of the rules.

    use super::Sources;

    /// A tree of these paths and texts.
    pub(crate) fn tree(files: &[(&str, &str)]) -> Sources {
        let files = files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        Sources::parse(files).expect("the example is valid Rust")
    }
}
