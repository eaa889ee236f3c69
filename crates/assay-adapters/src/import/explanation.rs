//! Account of a file that was read: every line with its outcome.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Serialize;

use super::ReadFile;
use super::contents::{FailedPart, FilePart, ImportedMeasurement, LineSpan};

#[derive(Debug, Serialize)]
pub struct FileAccount {
    file: String,
    format: &'static str,
    /// Line prefixes that were removed.
    prefixes: Vec<&'static str>,
    /// Number of measurements.
    pub measurements: usize,
    parts: Vec<ExplainedPart>,
    /// Lines without any part.
    unused_lines: usize,
}

/// Part of a file, with the result of reading its lines.
#[derive(Debug, Serialize)]
struct ExplainedPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    first_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_line: Option<usize>,
    kind: PartKind,
    what: String,
    why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum PartKind {
    Measurement,
    Recognised,
    LeftOut,
    Failed,
}

impl PartKind {
    const fn label(self) -> &'static str {
        match self {
            Self::Measurement => "measurement",
            Self::Recognised => "recognised",
            Self::LeftOut => "left out",
            Self::Failed => "failed",
        }
    }
}

/// Collects the account of a file that was read. `describe` formats the values of a measurement.
pub fn explain(
    file: &str,
    text: &str,
    read: &ReadFile,
    describe: &dyn Fn(&ImportedMeasurement) -> String,
) -> FileAccount {
    let contents = &read.contents;
    let mut parts: Vec<ExplainedPart> = Vec::new();
    parts.extend(contents.measurements.iter().map(|it| {
        let what = format!("{} {}", it.benchmark.id(), it.name);
        let (kind, what) = (PartKind::Measurement, what.trim_end());
        ExplainedPart::new(kind, it.lines.as_ref(), what, describe(it))
    }));
    let explain_parts = |kind: PartKind, listed: &[FilePart]| -> Vec<ExplainedPart> {
        let explain = |it: &FilePart| {
            ExplainedPart::new(kind, it.lines.as_ref(), &it.what, it.why.clone())
        };
        listed.iter().map(explain).collect()
    };
    parts.extend(explain_parts(PartKind::Recognised, &contents.recognised));
    parts.extend(explain_parts(PartKind::LeftOut, &contents.left_out));
    parts.extend(contents.failed.iter().map(|it: &FailedPart| {
        ExplainedPart::new(PartKind::Failed, it.lines.as_ref(), &it.what, it.error.to_string())
    }));
    // Inner parts follow the parts that contain them.
    parts.sort_by_key(|it| (it.first_line, it.last_line.map(std::cmp::Reverse)));
    let owners = assign_lines(&parts, text.lines().count());
    let unused = text.lines().zip(&owners);
    let unused = unused.filter(|(line, owner)| owner.is_none() && has_words(line));
    FileAccount {
        file: file.to_owned(),
        format: read.format.name,
        prefixes: read.prefixes.clone(),
        measurements: contents.measurements.len(),
        unused_lines: unused.count(),
        parts,
    }
}

impl FileAccount {
    /// Formats the account: each part, followed by its lines. `count` is the number of measurements in
    /// words, and `text` the file.
    pub fn format(&self, count: &str, text: &str) -> String {
        let Self { file, format, prefixes, parts, unused_lines, .. } = self;
        let mut out = format!("{file}: {format}, {count}\n");
        for prefix in prefixes {
            let _ = writeln!(out, "removed from each line: {prefix}");
        }
        for part in parts.iter().filter(|it| it.first_line.is_none()) {
            let _ = writeln!(out, "{}", format_part(part));
        }
        let lines: Vec<&str> = text.lines().collect();
        let owners = assign_lines(parts, lines.len());
        let mut hidden = list_hidden_parts(parts, &owners).into_iter().peekable();
        let digits = lines.len().to_string().len();
        let mut shown = None;
        for (at, (line, owner)) in lines.iter().zip(&owners).enumerate() {
            // Lines without words, as between paragraphs, open no block.
            let opens_block = shown != Some(*owner) && (owner.is_some() || has_words(line));
            if opens_block || shown.is_none() {
                let heading = owner.and_then(|owner| parts.get(owner));
                let heading = heading.map_or_else(|| "not used".to_owned(), format_part);
                let _ = writeln!(out, "\n{heading}");
                shown = Some(*owner);
            }
            while let Some(part) = hidden.next_if(|part| part.first_line <= Some(at + 1)) {
                let (first, last) = (part.first_line.unwrap_or(1), part.last_line.unwrap_or(1));
                let _ = writeln!(out, "  of lines {first} to {last}: {}", format_part(part));
            }
            let _ = writeln!(out, "  {:>digits$} | {line}", at + 1);
        }
        let _ = writeln!(out, "\nLines not used: {unused_lines}. Nothing was stored.");
        out
    }
}

/// Whether a line has more than blanks, rules and brackets.
fn has_words(line: &str) -> bool {
    line.contains(char::is_alphanumeric)
}

/// Lists the parts all of whose lines belong to smaller parts, in the order of their beginnings.
fn list_hidden_parts<'p>(
    parts: &'p [ExplainedPart],
    owners: &[Option<usize>],
) -> Vec<&'p ExplainedPart> {
    let shown: BTreeSet<usize> = owners.iter().flatten().copied().collect();
    let hidden = parts.iter().enumerate().filter(|(at, _)| !shown.contains(at));
    hidden.map(|(_, part)| part).filter(|part| part.first_line.is_some()).collect()
}

fn format_part(part: &ExplainedPart) -> String {
    let ExplainedPart { kind, what, why, .. } = part;
    let separator = if why.is_empty() { "" } else { ": " };
    format!("{} {what}{separator}{why}", kind.label())
}

impl ExplainedPart {
    fn new(kind: PartKind, lines: Option<&LineSpan>, what: &str, why: String) -> Self {
        let first_line = lines.map(|it| *it.start());
        let last_line = lines.map(|it| *it.end());
        Self { first_line, last_line, kind, what: what.to_owned(), why }
    }
}

/// Assigns each line to the smallest part that contains it, by index.
fn assign_lines(parts: &[ExplainedPart], count: usize) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    let length = |part: &ExplainedPart| Some(part.last_line? - part.first_line?);
    // Small parts come last, so that they overwrite the large ones; of equal ones, measurements do.
    order.sort_by_key(|at| {
        let part = parts.get(*at);
        let is_result =
            part.is_some_and(|it| matches!(it.kind, PartKind::Measurement | PartKind::Failed));
        (std::cmp::Reverse(part.and_then(length)), is_result)
    });
    let mut owners = vec![None; count];
    for at in order {
        let span = parts.get(at).and_then(|it| Some((it.first_line?, it.last_line?)));
        let Some((first, last)) = span else { continue };
        let lines = first.saturating_sub(1)..last.min(count);
        owners.get_mut(lines).into_iter().flatten().for_each(|owner| *owner = Some(at));
    }
    owners
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::import;

    /// Lists the result files among the inputs of the readers.
    fn list_inputs(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_other = |it: &std::ffi::OsStr| it == "expected" || it == "md";
            match path.is_dir() {
                true => list_inputs(&path, files),
                false if path.extension().is_some_and(is_other) => {}
                false => files.push(path),
            }
        }
    }

    /// Every line of a file is printed once, in the order of the file, and so is every part.
    #[test]
    fn explanations_print_every_line_and_part_once() {
        let adapters = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let mut files = Vec::new();
        list_inputs(&adapters.join("import"), &mut files);
        list_inputs(&adapters.join("golden"), &mut files);
        let mut explained = 0;
        for path in files {
            let bytes = std::fs::read(&path).unwrap();
            let text = import::decode_text(&bytes);
            let Ok(read) = import::read(&text) else { continue };
            let explanation = explain("file", &text, &read, &|it| {
                format!("{} values", it.parsed.values.len())
            });
            check(&explanation, &text, &path);
            explained += 1;
        }
        assert!(explained > 300, "{explained} explained files");
    }

    fn check(explanation: &FileAccount, text: &str, path: &Path) {
        let formatted = explanation.format("some", text);
        let lines: Vec<&str> = text.lines().collect();
        let digits = lines.len().to_string().len();
        let expected: Vec<String> = (1..)
            .zip(&lines)
            .map(|(number, line)| format!("  {number:>digits$} | {line}"))
            .collect();
        let is_of_file = |line: &&str| {
            let number = line.strip_prefix("  ").and_then(|it| it.split_once(" | "));
            number.is_some_and(|(number, _)| number.trim_start().parse::<usize>().is_ok())
        };
        let printed: Vec<&str> = formatted.lines().filter(is_of_file).collect();
        assert_eq!(printed, expected, "{}", path.display());
        let shown = formatted.lines().filter(|line| !is_of_file(line));
        let mut shown: Vec<&str> = shown.collect();
        for part in &explanation.parts {
            let heading = format_part(part);
            let heading = heading.lines().next().unwrap_or_default();
            let at = shown.iter().position(|line| line.ends_with(heading));
            assert!(at.is_some(), "{}: {heading}\n{formatted}", path.display());
            shown.remove(at.unwrap_or_default());
        }
    }
}
