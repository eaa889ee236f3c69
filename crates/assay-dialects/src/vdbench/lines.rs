//! Reads parameter files into lines: includes, variables, comments. Every line keeps its location.
//!
//! The caller's callback reads the files; this module opens none.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use assay_model::failure::os_error;
use assay_model::path_text;

use super::diagnostic::{Diagnostic, DiagnosticSeverity, SourceLocation};
use super::{VdbenchEnv, VdbenchInput};

/// Lines with content, in the order of execution.
#[derive(Debug, Default)]
pub(super) struct Lines {
    files: Vec<String>,
    lines: Vec<Line>,
    /// Latest location and its column, so that many diagnostics in one long line cost one pass over
    /// it.
    last_counted: Cell<Option<(SourceSpan, u32)>>,
    /// Diagnostics so far.
    pub(super) diagnostics: Vec<Diagnostic>,
}

#[derive(Debug)]
struct Line {
    file: usize,
    number: u32,
    text: Arc<str>,
    /// Whether the line is an include, which was expanded when it was read.
    is_include: bool,
}

/// Part of a line, in bytes of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SourceSpan {
    pub(super) line: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Lines {
    /// Reads the files in order, as if they were one.
    pub(super) fn read(input: &VdbenchInput, around: &mut VdbenchEnv<'_>) -> Self {
        let mut variables: Vec<Variable> = input
            .variables
            .iter()
            .map(|(name, value)| Variable { name, value, used: false })
            .collect();
        // Longest names first: `$host1` must not match `$host`.
        variables.sort_by_key(|variable| std::cmp::Reverse(variable.name.len()));
        let mut reader = Reader { lines: Self::default(), env: around, variables };
        for path in &input.files {
            reader.read_file(path, path, None);
        }
        let Reader { mut lines, variables, .. } = reader;
        for variable in variables.iter().filter(|variable| !variable.used) {
            let message = format!("no line uses the variable `{}`", variable.name);
            lines
                .report(DiagnosticSeverity::Warning, "V104", None, message)
                .advise(format!("write `${}` where its value belongs", variable.name), "stops");
        }
        lines
    }

    pub(super) fn count(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn text(&self, line: usize) -> &str {
        &self.lines[line].text
    }

    /// Whether the line is an include; the included lines follow it.
    pub(super) fn is_include(&self, line: usize) -> bool {
        self.lines[line].is_include
    }

    /// Adds a variant of a line, with the same location in the file.
    pub(super) fn add_variant(&mut self, original: usize, text: String) -> usize {
        let Line { file, number, .. } = self.lines[original];
        self.lines.push(Line { file, number, text: text.into(), is_include: false });
        self.lines.len() - 1
    }

    /// Converts a byte span to a location for diagnostics.
    pub(super) fn location(&self, spot: SourceSpan) -> SourceLocation {
        let line = &self.lines[spot.line];
        let meant = line.text[spot.start..spot.end].chars().count();
        SourceLocation {
            file: self.files[line.file].clone(),
            line: line.number,
            column: self.chars_before(spot) + 1,
            length: u32::try_from(meant).unwrap_or(u32::MAX).max(1),
            text: line.text.clone(),
        }
    }

    /// Counts the characters of the line before a span.
    fn chars_before(&self, spot: SourceSpan) -> u32 {
        let text = &self.lines[spot.line].text;
        let (from, before) = match self.last_counted.get() {
            Some((last, before)) if last.line == spot.line && last.start <= spot.start => {
                (last.start, before)
            }
            _ => (0, 0),
        };
        let more = text[from..spot.start].chars().count();
        let before = before.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        self.last_counted.set(Some((spot, before)));
        before
    }

    /// Reports an error; help can be added to it.
    pub(super) fn report_error(
        &mut self,
        code: &'static str,
        spot: SourceSpan,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let location = Some(self.location(spot));
        self.report(DiagnosticSeverity::Error, code, location, message)
    }

    /// Reports a warning.
    pub(super) fn report_warning(
        &mut self,
        code: &'static str,
        spot: SourceSpan,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let location = Some(self.location(spot));
        self.report(DiagnosticSeverity::Warning, code, location, message)
    }

    /// Reports a diagnostic, with a location unless it concerns all files.
    pub(super) fn report(
        &mut self,
        severity: DiagnosticSeverity,
        code: &'static str,
        location: Option<SourceLocation>,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let place = self.diagnostics.len();
        self.diagnostics.push(Diagnostic::new(severity, code, location, message));
        &mut self.diagnostics[place]
    }
}

/// Maximum length of a line after variables are replaced.
const MAX_LINE_BYTES: usize = 1 << 20;

struct Variable<'a> {
    name: &'a str,
    value: &'a str,
    used: bool,
}

struct Reader<'a, 'b> {
    lines: Lines,
    env: &'a mut VdbenchEnv<'b>,
    variables: Vec<Variable<'a>>,
}

impl Reader<'_, '_> {
    /// Adds the lines of the file at `path`, which the include at `by` names `written`.
    fn read_file(&mut self, path: &Path, written: &Path, by: Option<(SourceSpan, &Path)>) {
        let mut tried = path.to_path_buf();
        let mut read = (self.env.read_file)(&tried);
        if read.is_err() && path != written {
            tried = written.to_path_buf();
            read = (self.env.read_file)(&tried);
        }
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) => return self.report_missing(path, written, by.map(|by| by.0), &error),
        };
        let file = self.lines.files.len();
        self.lines.files.push(tried.display().to_string());
        let text = decode(&bytes);
        for (index, raw) in unwrap_page(&text).lines().enumerate() {
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let line = raw.trim();
            if line.is_empty() || line.starts_with(['/', '#', '*']) {
                continue;
            }
            if line
                .split_whitespace()
                .next()
                .is_some_and(|word| word.eq_ignore_ascii_case("eof"))
            {
                break;
            }
            let text = self.substitute(raw.trim_end());
            let text = text.into();
            self.lines.lines.push(Line { file, number, text, is_include: false });
            self.expand_include(by.is_some(), &tried);
        }
    }

    /// Replaces the newest line by the lines of its file, if it is an include.
    fn expand_include(&mut self, nested: bool, file: &Path) {
        let line = self.lines.count() - 1;
        let text = self.lines.text(line).to_owned();
        let start = text.len() - text.trim_start().len();
        let Some((keyword, value)) = text[start..].split_once('=') else { return };
        if !keyword.eq_ignore_ascii_case("include") {
            return;
        }
        let value = value.split_whitespace().next().unwrap_or_default();
        let from = start + keyword.len() + 1;
        let spot = SourceSpan { line, start: from, end: from + value.len() };
        let path = path_text::decode_path(value.trim_matches('"').trim_end_matches(','));
        self.lines.lines[line].is_include = true;
        if nested {
            self.lines
                .report_error("V102", spot, "an included file may not include another one")
                .advise("include both from the file that is given with -f", "stops");
        } else {
            let folder = file.parent().unwrap_or(Path::new(""));
            let beside = if path.to_string_lossy().contains('/') {
                path.clone()
            } else {
                folder.join(&path)
            };
            self.read_file(&beside, &path, Some((spot, file)));
        }
    }

    fn report_missing(
        &mut self,
        path: &Path,
        written: &Path,
        by: Option<SourceSpan>,
        error: &std::io::Error,
    ) {
        let why = os_error::simplify_message(&error.to_string());
        let message = format!("cannot read the file `{}`: {why}", written.display());
        let place = by.map(|spot| self.lines.location(spot));
        let others = match path == written {
            true => String::new(),
            false => format!(" and `{}`", written.display()),
        };
        let tried = format!("tried `{}`{others}", path.display());
        self.lines
            .report(DiagnosticSeverity::Error, "V101", place, message)
            .advise(tried, "stops");
    }

    /// Replaces `$name` and `!name` in a line.
    fn substitute(&mut self, raw: &str) -> String {
        let mut text = Cow::Borrowed(raw);
        for variable in &mut self.variables {
            for sign in ['$', '!'] {
                let name = format!("{sign}{}", variable.name);
                let places = text.matches(&name).count();
                // Values may name other variables. A replacement that makes the line too long is
                // skipped; the variable is then reported.
                if places > 0 && text.len() + places * variable.value.len() < MAX_LINE_BYTES {
                    text = Cow::Owned(text.replace(&name, variable.value));
                    variable.used = true;
                }
            }
        }
        text.into_owned()
    }
}

/// Decodes bytes as text; invalid UTF-8 keeps its meaning in file names.
pub(super) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(path_text::encode(OsStr::from_bytes(bytes))),
    }
}

/// Returns the content of a `<title>…</title><pre>` page, or the whole text if it is not a page.
/// Line numbers stay the same.
fn unwrap_page(text: &str) -> &str {
    let lower = text.get(..text.len().min(512)).unwrap_or_default().to_ascii_lowercase();
    match lower.find("<pre>") {
        Some(at) if lower.trim_start().starts_with("<title>") => &text[at + "<pre>".len()..],
        _ => text,
    }
}
