//! Checks relative links in the documentation: the file and the heading must exist.

use std::collections::BTreeSet;

use anyhow::Result;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::finding::TidyFinding;
use crate::sources::Sources;

/// Reports relative links of Markdown files whose file or heading does not exist.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut findings = Vec::new();
    for (path, text) in sources.files_ending_in(&[".md"]) {
        for (target, offset) in find_links(text) {
            let line = text[..offset].lines().count().max(1);
            if let Some(what) = link_problem(sources, path, &target) {
                let why = "the link is broken";
                findings.push(TidyFinding::new(path, line, what, why));
            }
        }
    }
    Ok(findings)
}

/// Returns the targets of links and images with their offsets in the text.
pub(crate) fn find_links(text: &str) -> Vec<(String, usize)> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
        .into_offset_iter()
        .filter_map(|(event, range)| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some((dest_url.into_string(), range.start + 1))
            }
            _ => None,
        })
        .collect()
}

/// Returns the problem of a link in the file `from`, if any. Addresses of other sites are not
/// checked.
fn link_problem(sources: &Sources, from: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { Some(from.to_owned()) } else { resolve(from, file) };
    let found = path.as_ref().is_some_and(|path| {
        let folder = format!("{path}/");
        sources.files.contains_key(path)
            || path.is_empty()
            || sources.files.keys().any(|file| file.starts_with(&folder))
    });
    if !found {
        return Some(format!("link to `{file}`, which does not exist"));
    }
    let text = sources.files.get(path.as_deref().unwrap_or_default())?;
    let is_checked = path.is_some_and(|path| path.ends_with(".md")) && !heading.is_empty();
    (is_checked && !heading_anchors(text).contains(heading))
        .then(|| format!("link to `{target}`: no heading has that name"))
}

/// Resolves `target` relative to the file `from`; `None` if it leaves the repository.
pub(crate) fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Returns the anchors of all headings, generated as common forges do.
fn heading_anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match (event, &mut heading) {
            (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
            (Event::End(TagEnd::Heading(_)), Some(title)) => {
                let anchor = title_anchor(title);
                let repeated = (1..).map(|n| format!("{anchor}-{n}"));
                let mut names = std::iter::once(anchor.clone()).chain(repeated);
                anchors.extend(names.find(|name| !anchors.contains(name)));
                heading = None;
            }
            (Event::Text(text) | Event::Code(text), Some(title)) => title.push_str(&text),
            _ => {}
        }
    }
    anchors
}

/// Converts a title to an anchor: lower case, spaces to hyphens, without punctuation.
fn title_anchor(title: &str) -> String {
    title
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            c => c.is_alphanumeric().then_some(c),
        })
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::sources::example;

    fn check(text: &str, expected: &[usize]) {
        let files = [
            ("docs/a.md", text),
            ("docs/guide/b.md", "# What *it* is\n## Of `code`, and more\n## What it is"),
            ("README.md", "# Top"),
        ];
        example::check_lines(super::check, &files, expected);
    }

    #[test]
    fn reports_missing_files() {
        check("[x](guide/b.md) [y](../README.md) [z](guide/) [w](./guide)", &[]);
        check("first\n\nthen [x](guide/c.md)", &[3]);
        check("![x](../../outside.png)", &[1]);
        check("[x][ref]\n\n[ref]: nowhere.md", &[1]);
        check("| a |\n|---|\n| [x](nowhere.md) |", &[3]);
    }

    #[test]
    fn reports_missing_headings() {
        check("# Here\n[x](#here) [y](guide/b.md#of-code-and-more)", &[]);
        check("[x](guide/b.md#what-it-is) [y](guide/b.md#what-it-is-1)", &[]);
        check("[x](#there)", &[1]);
        check("[x](guide/b.md#what-it-is-2)", &[1]);
    }

    #[test]
    fn ignores_code_and_other_sites() {
        check("`[x](nowhere.md)`\n\n```\n[x](nowhere.md)\n```\n", &[]);
        check("<https://example.com/x> [x](https://example.com#y) [m](mailto:a@b.c)", &[]);
    }
}
