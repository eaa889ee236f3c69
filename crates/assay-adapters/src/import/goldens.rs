//! Imports every file of `tests/import` and compares the account with the file `.expected` beside it.
//! `UPDATE_EXPECT=1` writes the expected files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use expect_test::expect_file;

use super::contents::{FilePart, LineSpan};
use super::{ImportedMeasurement, ReadFile, decode_text, read};

#[test]
fn files_become_their_expected_measurements() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import");
    let mut files = Vec::new();
    collect_inputs(&root, &mut files);
    files.sort();
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let mut expected = file.clone().into_os_string();
        expected.push(".expected");
        expect_file![PathBuf::from(expected)].assert_eq(&format_account(&bytes));
    }
}

/// Every row of `CASES.md` names an input and at least three neighbours, which exist.
#[test]
fn every_kind_has_three_neighbours() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import");
    let page = std::fs::read_to_string(root.join("CASES.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert!(rows.len() > 30, "{} kinds", rows.len());
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let [_, input, neighbours] = cells[..] else { panic!("{row}") };
        let files: Vec<&str> =
            input.split_whitespace().chain(neighbours.split_whitespace()).collect();
        assert!(files.len() > 3, "{row}");
        let missing: Vec<&&str> = files
            .iter()
            .filter(|file| !root.join(format!("{file}.expected")).is_file())
            .collect();
        assert!(missing.is_empty(), "{missing:?}: {row}");
    }
}

pub(super) fn collect_inputs(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let is_input = path.extension().is_none_or(|it| it != "expected" && it != "md");
        if path.is_dir() {
            collect_inputs(&path, files);
        } else if is_input {
            files.push(path);
        }
    }
}

/// Formats everything that a file became, one line per figure and per part.
fn format_account(bytes: &[u8]) -> String {
    let mut out = String::new();
    match read(&decode_text(bytes)) {
        Err(error) => {
            let _ = writeln!(out, "refused, line {:?}: {error}", error.line());
        }
        Ok(ReadFile { format, prefixes, contents }) => {
            let _ = writeln!(out, "format {}", format.name);
            for prefix in prefixes {
                let _ = writeln!(out, "prefix {prefix}");
            }
            contents.measurements.iter().for_each(|it| format_measurement(it, &mut out));
            format_parts("recognised", &contents.recognised, &mut out);
            format_parts("left out", &contents.left_out, &mut out);
            for part in &contents.failed {
                let line = part.line().map(|line| line..=line);
                let lines = format_lines(line.as_ref());
                let _ = writeln!(out, "failed {lines}{}: {}", part.what, part.error);
            }
        }
    }
    out
}

fn format_measurement(it: &ImportedMeasurement, out: &mut String) {
    let lines = format_lines(it.lines.as_ref());
    let _ = write!(out, "{lines}{} {:?}", it.benchmark.id(), it.name);
    for (name, value) in &it.dimensions {
        let _ = write!(out, " {}={value:?}", name.name());
    }
    if let Some(system) = &it.system {
        let _ = write!(out, " on {system:?}");
    }
    if let Some(began) = it.began {
        let _ = write!(out, " at {}{}", began.unix_s, if began.has_zone { "" } else { "?" });
    }
    if let Some(version) = &it.parsed.version {
        let _ = write!(out, " version {version}");
    }
    out.push('\n');
    for one in &it.parsed.values {
        let _ = write!(out, "    {}", one.metric);
        for (name, value) in &one.own_dimensions {
            let _ = write!(out, " {}={value:?}", name.name());
        }
        let _ = write!(out, " {:?}", one.samples);
        if let Some(count) = one.count {
            let _ = write!(out, " {count:?}");
        }
        if let Some(figures) = &one.figures {
            let _ = write!(out, " {figures:?}");
        }
        out.push('\n');
    }
    for one in &it.parsed.attributes {
        let of = one.metric.map(|metric| format!(" of {metric}")).unwrap_or_default();
        let _ = writeln!(out, "    {}={:?}{of}", one.name.name(), one.value);
    }
    for doubt in &it.parsed.doubts {
        let _ = writeln!(out, "    doubt {doubt:?}");
    }
    for problem in &it.parsed.problems {
        let _ = writeln!(out, "    problem {problem}");
    }
}

fn format_parts(kind: &str, parts: &[FilePart], out: &mut String) {
    for part in parts {
        let lines = format_lines(part.lines.as_ref());
        let _ = writeln!(out, "{kind} {lines}{}: {}", part.what, part.why);
    }
}

fn format_lines(lines: Option<&LineSpan>) -> String {
    match lines {
        None => String::new(),
        Some(lines) if lines.start() == lines.end() => format!("{}: ", lines.start()),
        Some(lines) => format!("{}-{}: ", lines.start(), lines.end()),
    }
}
