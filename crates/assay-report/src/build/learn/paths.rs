//! Paths on pages for publication: their distinguishing parts, without the folders of the machine.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::summary::RunSummary;

use crate::anonymous::is_common_path;

/// File that a run creates in a folder that is its target.
const OWN_FILE: &str = "/assay-storage.data";
/// Attributes whose text is a list of paths.
const PATH_ATTRIBUTES: [Attribute; 2] = [Attribute::Target, Attribute::SourceFile];

/// Short names of the paths of a page.
#[derive(Debug, Default)]
pub(super) struct ShortPaths(BTreeMap<String, String>);

impl ShortPaths {
    /// Gives every path of the results as many of its last components as all need to differ.
    pub(super) fn new(summaries: &[&RunSummary]) -> Self {
        let attributes = summaries.iter().flat_map(|it| &it.results).flat_map(|it| {
            PATH_ATTRIBUTES.into_iter().filter_map(|name| it.parameters.get(&name)?.as_text())
        });
        let all: BTreeSet<&str> = attributes
            .flat_map(|it| it.split(", "))
            .filter(|it| is_local(it))
            .map(folder)
            .collect();
        let deepest = all.iter().map(|it| it.split('/').count()).max().unwrap_or(1);
        let shortened = |components: usize| -> BTreeMap<String, String> {
            all.iter().map(|it| ((*it).to_owned(), last_components(it, components))).collect()
        };
        let differ = |it: &BTreeMap<String, String>| {
            it.values().collect::<BTreeSet<_>>().len() == all.len()
        };
        let found = (1..deepest).map(shortened).find(differ);
        Self(found.unwrap_or_default())
    }

    /// Shortens the paths of all results.
    pub(super) fn shorten_results(&self, summary: &mut RunSummary) {
        for estimate in &mut summary.results {
            for name in PATH_ATTRIBUTES {
                if let Some(AttributeValue::Text(text)) = estimate.parameters.get_mut(&name) {
                    let parts = text.split(", ").map(|it| self.shorten(it));
                    *text = parts.collect::<Vec<_>>().join(", ");
                }
            }
        }
    }

    /// Shortens the paths in a command line or a sentence.
    pub(super) fn shorten_words(&self, text: &str) -> String {
        // fio separates paths by colons.
        let is_separator = |it: char| it.is_whitespace() || "\"'`,;=():".contains(it);
        let words = text.split_inclusive(is_separator).map(|piece| {
            let word = piece.trim_end_matches(is_separator);
            self.shorten(word) + &piece[word.len()..]
        });
        words.collect()
    }

    fn shorten(&self, path: &str) -> String {
        match self.0.get(folder(path)) {
            Some(short) => short.clone(),
            None if is_local(path) => last_components(path, 1),
            None => path.to_owned(),
        }
    }
}

/// Whether a text is a path that other machines do not have.
fn is_local(path: &str) -> bool {
    (path.starts_with('/') || path.starts_with("~/")) && !is_common_path(path)
}

/// Returns a path without the file that a run creates there.
fn folder(path: &str) -> &str {
    path.strip_suffix(OWN_FILE).unwrap_or(path)
}

/// Returns the last components of a path, without the file that a run creates there.
fn last_components(path: &str, count: usize) -> String {
    let path = folder(path).trim_end_matches('/');
    let start = path.rmatch_indices('/').nth(count - 1).map_or(0, |(at, _)| at + 1);
    if path.is_empty() { "/".to_owned() } else { path[start..].to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_in_commands_have_the_names_of_their_tables() {
        let paths = ["/mnt/a/data", "/mnt/b/data"]
            .map(|path| (path.to_owned(), last_components(path, 2)));
        let paths = ShortPaths(paths.into());
        for (text, expected) in [
            ("--target /mnt/a/data --target /mnt/b/data", "--target a/data --target b/data"),
            ("--filename=/mnt/a/data:/mnt/b/data", "--filename=a/data:b/data"),
            ("/mnt/a/data/assay-storage.data", "a/data"),
            ("/srv/other", "other"),
        ] {
            assert_eq!(paths.shorten_words(text), expected);
        }
    }
}
