//! Test hosts, described in text files: each line has a path, a tab and the content of that file.
//!
//! In the content, `\n`, `\t` and `\\` are escapes. `{2..5}` in a path creates one file for each
//! number. In the content, `{}` is the number in the first braces of the path, `{+40}` and `{-40}`
//! are 40 more and less. A later line replaces the file of an earlier one; `#` begins a comment.

use std::fs;
use std::path::Path;

use assay_fleet::root::Root;
use assay_fleet::{doctor, facts, state};
use assay_model::finding::{CheckOutcome, DoctorFinding};
use assay_model::network_setup::NetworkSetup;
use tempfile::TempDir;

/// Host whose files are in a temporary directory.
pub(crate) struct TestHost {
    directory: TempDir,
}

impl TestHost {
    /// Creates the host described in `tests/hosts/NAME.tree`.
    pub(crate) fn load(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts");
        let text = fs::read_to_string(directory.join(format!("{name}.tree"))).unwrap();
        // Thousands of small files take seconds on a disk.
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let host = Self { directory: directory.unwrap() };
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let (path, content) = line.split_once('\t').unwrap();
            for (path, content) in expand(path, &unescape(content), true) {
                host.write(&path, content.as_bytes());
            }
        }
        host
    }

    /// Returns the findings of the doctor, without what drivers report.
    pub(crate) fn findings(&self) -> Vec<DoctorFinding> {
        let root = self.root();
        let network = NetworkSetup::default();
        doctor::examine(&root, &facts::read(&root), &state::read(&root), &network)
    }

    /// Returns the outcome of a check and what it observed.
    pub(crate) fn finding(&self, id: &str) -> Option<(CheckOutcome, String)> {
        let found = self.findings().into_iter().find(|finding| finding.id == id)?;
        Some((found.outcome, found.observed))
    }

    pub(crate) fn root(&self) -> Root {
        Root::from_directory(self.directory.path())
    }

    pub(crate) fn path(&self, path: &str) -> std::path::PathBuf {
        self.directory.path().join(path)
    }

    /// Creates or replaces a file.
    pub(crate) fn write(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        let path = self.path(path);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }

    /// Returns the paths of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut pending = vec![self.directory.path().to_owned()];
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    pending.push(path);
                } else {
                    let path = path.strip_prefix(self.directory.path()).unwrap();
                    files.push(path.to_str().unwrap().to_owned());
                }
            }
        }
        files.sort_unstable();
        files
    }
}

fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(match (c, c == '\\') {
            (_, true) => match chars.next().unwrap() {
                'n' => '\n',
                't' => '\t',
                other => other,
            },
            (c, false) => c,
        });
    }
    plain
}

/// Formats findings as lines; those in a row that found the same share one.
pub(crate) fn format_findings<'f>(
    findings: impl IntoIterator<Item = &'f DoctorFinding>,
) -> String {
    let mut lines: Vec<(Vec<&str>, String)> = Vec::new();
    for DoctorFinding { id, outcome, observed, .. } in findings {
        let found = format!("{outcome:?}: {observed}");
        match lines.last_mut().filter(|(_, last)| *last == found) {
            Some((ids, _)) => ids.push(id),
            None => lines.push((vec![id], found)),
        }
    }
    lines.iter().map(|(ids, found)| format!("{} {found}\n", ids.join(", "))).collect()
}

/// Expands the ranges in a path. Only the first range of the path fills in the content.
fn expand(path: &str, content: &str, is_first_range: bool) -> Vec<(String, String)> {
    let Some((head, rest)) = path.split_once('{') else {
        return vec![(path.to_owned(), content.to_owned())];
    };
    let (range, tail) = rest.split_once('}').unwrap();
    let (start, end) = range.split_once("..").unwrap();
    let (start, end): (i64, i64) = (start.parse().unwrap(), end.parse().unwrap());
    let file = |number: i64| {
        let content =
            if is_first_range { fill_in_number(content, number) } else { content.to_owned() };
        expand(&format!("{head}{number}{tail}"), &content, false)
    };
    (start..=end).flat_map(file).collect()
}

fn fill_in_number(content: &str, number: i64) -> String {
    let mut text = String::new();
    let mut rest = content;
    while let Some((head, tail)) = rest.split_once('{') {
        let (offset, tail) = tail.split_once('}').unwrap();
        let offset: i64 = if offset.is_empty() { 0 } else { offset.parse().unwrap() };
        text = format!("{text}{head}{}", number + offset);
        rest = tail;
    }
    text + rest
}
