//! Parser of job files: sections and settings with their locations. `section_options` interprets
//! the settings.
//!
//! Opens nothing: included files are read through [`FioParseContext`].

use super::job_error::{FioJobError, FioJobErrorKind, FioLocation};
use super::option::{self, FioOption};
use crate::option::nearest_option;

/// Files, variables and machine facts that a job file may refer to.
pub struct FioParseContext<'a> {
    /// Reads a file: its text, or the reason of the failure.
    pub read_file: &'a dyn Fn(&str) -> Result<String, String>,
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// `$pagesize`: bytes of a memory page.
    pub page_bytes: u64,
    /// `$mb_memory`: memory in MiB.
    pub memory_mib: u64,
    /// `$ncpus`: number of online CPUs.
    pub cpus: u64,
}

/// Option as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioSetting {
    /// Row of the option.
    pub option: &'static FioOption,
    /// Main name of the option.
    pub name: &'static str,
    /// Text after the `=`, if any.
    pub value: Option<String>,
    /// Location.
    pub origin: FioLocation,
}

/// Job as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioSection {
    /// Its name.
    pub name: String,
    /// Location of its name.
    pub origin: FioLocation,
    /// Global settings that apply to it, in order.
    pub globals: Vec<FioSetting>,
    /// Its own settings, in order; they override the global ones.
    pub own: Vec<FioSetting>,
}

impl std::fmt::Debug for FioParseContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FioParseContext").field("cpus", &self.cpus).finish_non_exhaustive()
    }
}

/// Maximum depth of nested includes, as in fio.
const MAX_INCLUDE_DEPTH: u32 = 16;
/// Maximum number of settings: far above any real job file; stops an include that doubles itself.
const MAX_SETTINGS: usize = 100_000;

/// Maximum number of global settings that all sections repeat: each takes about 100 bytes.
const MAX_REPEATED_SETTINGS: usize = 1_000_000;

/// Reader of a sequence of job files.
#[derive(Debug)]
pub(super) struct JobfileReader<'a> {
    context: &'a FioParseContext<'a>,
    globals: Vec<FioSetting>,
    sections: Vec<FioSection>,
    in_global: bool,
    settings: usize,
    repeated: usize,
    /// Source texts by name, for error messages with locations.
    pub(super) texts: Vec<(String, String)>,
}

impl<'a> JobfileReader<'a> {
    /// Creates a reader; `globals` apply to every section of every file.
    pub(super) fn new(context: &'a FioParseContext<'a>, globals: Vec<FioSetting>) -> Self {
        Self {
            context,
            globals,
            sections: vec![],
            in_global: false,
            settings: 0,
            repeated: 0,
            texts: vec![],
        }
    }

    /// Reads the file at `path`, which was named at `origin`.
    pub(super) fn read_file(
        &mut self,
        path: &str,
        origin: &FioLocation,
    ) -> Result<(), FioJobError> {
        self.in_global = false;
        self.read_text(path, origin, 0, &mut false)
    }

    /// Returns the sections, the final global settings and the source texts.
    pub(super) fn finish(self) -> (Vec<FioSection>, Vec<FioSetting>, Vec<(String, String)>) {
        (self.sections, self.globals, self.texts)
    }

    fn read_text(
        &mut self,
        path: &str,
        origin: &FioLocation,
        depth: u32,
        begun: &mut bool,
    ) -> Result<(), FioJobError> {
        let failed = |why: String| {
            FioJobError::new(
                origin.clone(),
                FioJobErrorKind::UnreadableFile { path: path.to_owned(), why },
            )
        };
        if depth > MAX_INCLUDE_DEPTH {
            return Err(failed("includes are nested more than 16 deep".to_owned()));
        }
        let text = (self.context.read_file)(path).map_err(failed)?;
        self.texts.push((path.to_owned(), text.clone()));
        let mut start = 0;
        for (number, line) in (1..).zip(text.split('\n')) {
            self.read_line(path, (number, start, line), depth, begun)?;
            start += line.len() + 1;
        }
        Ok(())
    }

    fn read_line(
        &mut self,
        file: &str,
        (number, start, line): (usize, usize, &str),
        depth: u32,
        begun: &mut bool,
    ) -> Result<(), FioJobError> {
        let end = line.find([';', '#']).unwrap_or(line.len());
        let written = &line[..end];
        let trimmed = written.trim();
        if trimmed.is_empty() {
            return Ok(());
        }
        let from = start + (written.len() - written.trim_start().len());
        let origin =
            FioLocation::in_line(file, (number, start, line), (from, from + trimmed.len()));
        let refuse =
            |why| Err(FioJobError::new(origin.clone(), FioJobErrorKind::MalformedLine { why }));
        if let Some(rest) = trimmed.strip_prefix('[') {
            let Some((name, _)) = rest.split_once(']') else {
                return refuse("the section name has no closing bracket");
            };
            *begun = true;
            return self.begin_section(name.trim(), origin);
        }
        if let Some(path) =
            trimmed.strip_prefix("include").filter(|r| r.starts_with([' ', '\t']))
        {
            return self.read_include(file, path.trim(), &origin, depth, begun);
        }
        if !*begun {
            return refuse("the option precedes the first section; fio would ignore it");
        }
        let setting = parse_setting(trimmed, origin, self.context)?;
        self.settings += 1;
        if self.settings > MAX_SETTINGS {
            return too_many_settings(setting.origin);
        }
        match self.sections.last_mut().filter(|_| !self.in_global) {
            Some(section) => section.own.push(setting),
            None => self.globals.push(setting),
        }
        Ok(())
    }

    fn begin_section(&mut self, name: &str, origin: FioLocation) -> Result<(), FioJobError> {
        self.in_global = name.eq_ignore_ascii_case("global");
        if !self.in_global {
            self.repeated += self.globals.len();
            if self.repeated > MAX_REPEATED_SETTINGS {
                let why = "its sections repeat more than 1,000,000 global settings";
                return Err(FioJobError::new(origin, FioJobErrorKind::MalformedLine { why }));
            }
            let globals = self.globals.clone();
            self.sections.push(FioSection {
                name: name.to_owned(),
                origin,
                globals,
                own: vec![],
            });
        }
        Ok(())
    }

    fn read_include(
        &mut self,
        file: &str,
        path: &str,
        origin: &FioLocation,
        depth: u32,
        begun: &mut bool,
    ) -> Result<(), FioJobError> {
        let path = expand_variables(path, self.context);
        let folder = file.rsplit_once('/').map(|(folder, _)| folder);
        let beside = folder.filter(|_| !path.starts_with('/')).map(|f| format!("{f}/{path}"));
        let found = beside.filter(|beside| (self.context.read_file)(beside).is_ok());
        self.read_text(&found.unwrap_or(path), origin, depth + 1, begun)
    }
}

fn too_many_settings(origin: FioLocation) -> Result<(), FioJobError> {
    Err(FioJobError::new(
        origin,
        FioJobErrorKind::MalformedLine { why: "there are more than 100,000 settings" },
    ))
}

/// Parses `name=value` or `name`; returns an error for unsupported options.
pub(super) fn parse_setting(
    written: &str,
    origin: FioLocation,
    context: &FioParseContext<'_>,
) -> Result<FioSetting, FioJobError> {
    let (name, value) = match written.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (written, None),
    };
    let Some((row, main_name)) = option::find(name) else {
        let near = nearest_option(option::all_options(), name);
        let kind = FioJobErrorKind::UnknownOption { name: name.to_owned(), near };
        return Err(FioJobError::new(origin, kind));
    };
    let value = value.map(|value| expand_keywords(&expand_variables(value, context), context));
    let written = value.as_ref().map_or(name.to_owned(), |value| format!("{name}={value}"));
    match row.find_refusal(&option::FIO, &written, Some(value.as_deref().unwrap_or("1"))) {
        Some(refusal) => Err(FioJobError::new(origin, FioJobErrorKind::Unsupported(refusal))),
        None => Ok(FioSetting { option: row, name: main_name, value, origin }),
    }
}

/// Expands `${NAME}`; unset variables are empty, as in fio.
fn expand_variables(text: &str, context: &FioParseContext<'_>) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        result.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            result.push_str("${");
            rest = after;
            continue;
        };
        result.push_str(&(context.variable)(name).unwrap_or_default());
        rest = after;
    }
    result + rest
}

fn expand_keywords(text: &str, context: &FioParseContext<'_>) -> String {
    let table = [
        ("$pagesize", context.page_bytes),
        ("$mb_memory", context.memory_mib),
        ("$ncpus", context.cpus),
    ];
    let replace = |text: String, (word, value): (&str, u64)| {
        if text.contains(word) { text.replace(word, &value.to_string()) } else { text }
    };
    table.into_iter().fold(text.to_owned(), replace)
}
