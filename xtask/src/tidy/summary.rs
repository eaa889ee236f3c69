//! Checks that the contents of the book name every page once.

use std::collections::BTreeMap;

use anyhow::Result;

use super::links::{find_links, resolve};
use crate::finding::TidyFinding;
use crate::sources::Sources;

/// Contents of the book.
pub(crate) const SUMMARY: &str = "docs/SUMMARY.md";

/// Reports pages of the root and of `docs` that the summary lacks or repeats.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let Some(summary) = sources.files.get(SUMMARY) else { return Ok(Vec::new()) };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (target, _) in find_links(summary) {
        *counts.entry(resolve(SUMMARY, &target).unwrap_or_default()).or_default() += 1;
    }
    let pages = sources.files_ending_in(&[".md"]).map(|(path, _)| path);
    let is_page =
        |path: &&str| *path != SUMMARY && (path.starts_with("docs/") || !path.contains('/'));
    let finding = |path: &str| {
        let times = counts.get(path).copied().unwrap_or_default();
        let what = format!("{path} is {times} times in the contents of the book");
        (times != 1)
            .then(|| TidyFinding::new(SUMMARY, 1, what, "a page is found by its place there"))
    };
    Ok(pages.filter(is_page).filter_map(finding).collect())
}

#[cfg(test)]
mod tests {
    use crate::sources::example;

    #[test]
    fn reports_missing_and_repeated_pages() {
        let check = |summary: &str| {
            let files = [
                ("docs/SUMMARY.md", summary),
                ("docs/a.md", "# A"),
                ("README.md", "# Top"),
                ("crates/x/README.md", "# X"),
            ];
            super::check(&example::tree(&files)).unwrap().len()
        };
        assert_eq!(check("[top](../README.md)\n- [a](a.md)"), 0);
        assert_eq!(check("[top](../README.md)"), 1);
        assert_eq!(check("[top](../README.md)\n- [a](a.md)\n- [again](a.md)"), 1);
    }
}
