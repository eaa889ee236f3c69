//! Checks that every file that names the version of assay names that of the workspace.

use anyhow::{Context, Result};

use crate::finding::TidyFinding;
use crate::sources::Sources;

/// Files with the line that contains the version, written `@`.
const PLACES: [(&str, &str); 5] = [
    ("CHANGELOG.md", "## @"),
    ("CITATION.cff", "version: @"),
    ("packaging/conda/recipe.yaml", "  version: \"@\""),
    ("packaging/easybuild/assay-@.eb", "version = '@'"),
    ("packaging/spack/package.py", "    version(\"@\""),
];

/// Reports recipes and documents with another version than the workspace.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let Some(manifest) = sources.files.get("Cargo.toml") else { return Ok(Vec::new()) };
    let manifest: toml::Table = manifest.parse().context("Cargo.toml is malformed")?;
    let version = manifest.get("workspace").and_then(|it| it.get("package"));
    let Some(version) = version.and_then(|it| it.get("version")?.as_str()) else {
        return Ok(Vec::new());
    };
    let finding = |(path, line): &(&str, &str)| {
        let (path, line) = (path.replace('@', version), line.replace('@', version));
        let text = sources.files.get(&path);
        let is_current = text.is_some_and(|text| text.lines().any(|it| it.contains(&line)));
        let what = format!("no line `{}`", line.trim());
        let why = "the version is that of Cargo.toml";
        (!is_current).then(|| TidyFinding::new(path, 1, what, why))
    };
    Ok(PLACES.iter().filter_map(finding).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::example;

    #[test]
    fn reports_files_with_another_version() {
        let manifest = "[workspace.package]\nversion = \"1.2.3\"";
        let mut files = vec![("Cargo.toml".to_owned(), manifest.to_owned())];
        files.extend(PLACES.iter().map(|(path, line)| {
            (path.replace('@', "1.2.3"), format!("head\n{}\n", line.replace('@', "1.2.3")))
        }));
        let count = |files: &[(String, String)]| {
            let files: Vec<(&str, &str)> =
                files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            check(&example::tree(&files)).unwrap().len()
        };
        assert_eq!(count(&files), 0);
        files[0].1 = manifest.replace("1.2.3", "1.2.4");
        assert_eq!(count(&files), PLACES.len());
    }
}
