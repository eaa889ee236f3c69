//! Portability of the tree: no paths of one machine and no hosts of package registries.

use anyhow::Result;

use crate::finding::TidyFinding;
use crate::sources::Sources;

/// Folders of one machine. All strings are split so that this file does not contain them.
const MACHINE_FOLDERS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Registry hosts, which package managers know or read from their configuration.
const REGISTRY_HOSTS: [&str; 9] = [
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("pypi", ".org"),
    concat!("files.pythonhosted", ".org"),
    concat!("registry.npmjs", ".org"),
    concat!("deb.debian", ".org"),
    concat!("repo1.maven", ".org"),
    concat!("proxy.golang", ".org"),
    concat!("/artifac", "tory/"),
];

/// Reports machine-specific paths, registry hosts and addresses with a mirror's port, in any text
/// file.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut findings = Vec::new();
    for (path, text) in &sources.files {
        for (line, text) in (1..).zip(text.lines()) {
            let found = find_unportable_text(text);
            findings.extend(found.map(|(what, why)| TidyFinding::new(path, line, what, why)));
        }
    }
    Ok(findings)
}

fn find_unportable_text(text: &str) -> Option<(String, &'static str)> {
    if let Some(folder) = MACHINE_FOLDERS.iter().find(|folder| names_folder(text, folder)) {
        return Some((format!("`{folder}`"), "a path of one machine does not exist on others"));
    }
    if let Some(host) = REGISTRY_HOSTS.iter().find(|host| text.contains(**host)) {
        return Some((format!("`{host}`"), "the package manager knows its registry"));
    }
    let mut addresses =
        text.match_indices("https://").map(|(start, _)| first_word(&text[start..]));
    let address = addresses.find(|address| address.contains(":443/"))?;
    Some((
        format!("`{address}`"),
        "an address with a port belongs to a mirror and works only here",
    ))
}

/// Whether the text contains an absolute path that begins with `folder`; excludes `some/folder/`
/// and parts of addresses.
fn names_folder(text: &str, folder: &str) -> bool {
    text.match_indices(folder).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"._-~}".contains(c))
    })
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| c.is_whitespace() || "\"'`<>".contains(c));
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use crate::sources::example;

    fn check(text: &str, expected: bool) {
        let found = super::check(&example::tree(&[("a.txt", text)])).unwrap();
        assert_eq!(!found.is_empty(), expected, "{text}");
    }

    #[test]
    fn finds_paths_of_one_machine() {
        check(concat!("see /wo", "rk/main"), true);
        check(concat!("\"/ro", "ot/.cargo\""), true);
        check("frame/work/of.rs", false);
        check("https://example.com/work/", false);
        check("\"work/here\"", false);
    }

    #[test]
    fn finds_registries_and_mirrors() {
        check(concat!("url = https://static.crates", ".io/x"), true);
        check(concat!("https://mirror.example:44", "3/x"), true);
        check("registry+https://github.com/rust-lang/crates.io-index", false);
        check("https://example.com/ and port :443/", false);
    }
}
