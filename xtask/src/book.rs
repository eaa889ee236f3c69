//! `cargo xtask book`: the documentation as a searchable book of HTML pages, with every link checked.
//!
//! `docs/SUMMARY.md` names the pages in their order. They keep the folders of the repository, so that links between
//! them need no change. Writes below `target/book` only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::tidy::links::{find_links, resolve};
use crate::tidy::summary::SUMMARY;
use crate::{command, wheels};

/// Settings of mdBook. The pages need no network and can be opened from a disk.
const SETTINGS: &str = "\
[book]
title = \"assay\"
language = \"en\"

[build]
build-dir = \"html\"
create-missing = false

[output.html]
no-section-label = true
smart-punctuation = false
input-404 = \"\"
additional-css = [\"wide.css\"]

[output.html.print]
enable = false

[output.html.fold]
enable = true
level = 0
";

/// Style of the pages: tables of options need more width than a text.
const STYLE: &str = ":root { --content-max-width: 1000px; }\n";

/// Builds the book into `target/book/html`, checks its links, and returns its folder.
pub(crate) fn build(root: &Path) -> Result<PathBuf> {
    wheels::install(root, [&wheels::MDBOOK], false);
    let program = wheels::find_installed_file(root, &wheels::MDBOOK)
        .context("mdBook cannot be installed; see above")?;
    build_with(root, &program)
}

/// Builds the book with an installed mdBook.
pub(crate) fn build_with(root: &Path, program: &Path) -> Result<PathBuf> {
    let book = root.join("target/book");
    if book.exists() {
        fs::remove_dir_all(&book)?;
    }
    let pages = collect_pages(root, &book.join("src"))?;
    fs::write(book.join("book.toml"), SETTINGS)?;
    fs::write(book.join("wide.css"), STYLE)?;
    let outcome = command::capture(command::at_root(&book, program).arg("build"))?;
    let report = String::from_utf8_lossy(&outcome.stderr);
    let is_clean = outcome.status.success() && !report.contains("WARN");
    ensure!(is_clean, "mdBook reports\n{report}");
    let html = book.join("html");
    let links = check_links(&html)?;
    println!("book: {pages} pages, {links} links, in {}", html.display());
    Ok(html)
}

/// Copies the pages of the summary, and the files that they refer to; returns the number of pages.
fn collect_pages(root: &Path, source: &Path) -> Result<usize> {
    let summary = fs::read_to_string(root.join(SUMMARY))?;
    let mut pages = BTreeSet::new();
    let mut rewritten = summary.clone();
    for (target, _) in find_links(&summary) {
        let page =
            resolve(SUMMARY, &target).context("a page lies outside of the repository")?;
        rewritten = rewritten.replace(&format!("]({target})"), &format!("]({page})"));
        pages.insert(page);
    }
    let mut files = pages.clone();
    for page in &pages {
        let text = fs::read_to_string(root.join(page)).with_context(|| page.clone())?;
        let targets = find_links(&text).into_iter().filter(|(target, _)| is_local(target));
        let named = targets.filter_map(|(target, _)| resolve(page, target.split('#').next()?));
        files.extend(named.filter(|file| root.join(file).is_file() && file != page));
    }
    for file in &files {
        let copy = source.join(file);
        fs::create_dir_all(copy.parent().context("a file lies in a folder")?)?;
        fs::copy(root.join(file), copy)?;
    }
    fs::write(source.join("SUMMARY.md"), rewritten)?;
    Ok(pages.len())
}

/// Whether a link refers to this site.
fn is_local(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("mailto:") && !target.starts_with("data:")
}

/// Checks that file and place of every link of the HTML pages exist; returns the number of links.
fn check_links(folder: &Path) -> Result<usize> {
    let mut pages = BTreeMap::new();
    read_pages(folder, "", &mut pages)?;
    let places: BTreeMap<&str, BTreeSet<&str>> = pages
        .iter()
        .map(|(name, text)| (name.as_str(), attribute_values(text, "id").collect()))
        .collect();
    let mut broken = Vec::new();
    let mut count = 0;
    for (name, text) in &pages {
        let targets = ["href", "src"].into_iter().flat_map(|it| attribute_values(text, it));
        for target in targets.filter(|target| is_local(target)) {
            count += 1;
            let (file, place) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { Some(name.clone()) } else { resolve(name, file) };
            let exists = path.as_ref().is_some_and(|path| folder.join(path).exists());
            let ids = path.as_deref().and_then(|path| places.get(path));
            let has_place = place.is_empty() || ids.is_none_or(|ids| ids.contains(place));
            if !exists || !has_place {
                broken.push(format!("{name}: {target}"));
            }
        }
    }
    if !broken.is_empty() {
        bail!("links of the book are broken:\n{}", broken.join("\n"));
    }
    Ok(count)
}

/// Reads all HTML pages below the folder, by path.
fn read_pages(folder: &Path, below: &str, pages: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.file_type()?.is_dir() {
            read_pages(folder, &path, pages)?;
        } else if path.ends_with(".html") {
            pages.insert(path, fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// Returns the values of an attribute in double quotes.
fn attribute_values<'a>(html: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let start = format!(" {name}=\"");
    html.match_indices(&start)
        .map(|(at, _)| at + start.len())
        .collect::<Vec<_>>()
        .into_iter()
        .map(|begin| html[begin..].split('"').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_links_of_the_book_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "a.html",
            "<h1 id=\"top\">a</h1><a href=\"b.html#part\">b</a><img src=\"p.png\">",
        );
        write(
            "b.html",
            "<h2 id=\"part\"><a href=\"#part\">b</a><a href=\"https://a.b/c\">c</a>",
        );
        write("p.png", "");
        assert_eq!(check_links(folder.path()).unwrap(), 3);
        write("b.html", "<a href=\"a.html#nowhere\">b</a><a href=\"../c.html\">c</a>");
        let report = check_links(folder.path()).unwrap_err().to_string();
        for line in ["a.html: b.html#part", "b.html: a.html#nowhere", "b.html: ../c.html"] {
            assert!(report.contains(line), "{report}");
        }
    }
}
