//! Parser of job files: sections and settings with their locations. `section_options` interprets
//! the settings.
//!
//! Opens nothing: included files are read through [`FioParseContext`].

use super::fault::{Fault, FaultKind, Origin};
use super::option::{self, Row, Standing};

/// Files, variables and machine facts that a job file may refer to.
pub struct Surroundings<'a> {
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
pub struct Setting {
    /// Entry in the option table.
    pub row: &'static Row,
    /// Text after the `=`, if any.
    pub value: Option<String>,
    /// Location.
    pub origin: Origin,
}

/// Job as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Location of its name.
    pub origin: Origin,
    /// Global settings that apply to it, in order.
    pub globals: Vec<Setting>,
    /// Its own settings, in order; they override the global ones.
    pub own: Vec<Setting>,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings").field("cpus", &self.cpus).finish_non_exhaustive()
    }
}

/// Maximum depth of nested includes, as in fio.
const DEEPEST_INCLUDE: u32 = 16;
/// Maximum number of settings: far above any real job file; stops an include that doubles itself.
const MOST_SETTINGS: usize = 100_000;

/// Reader of a sequence of job files.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    surroundings: &'a Surroundings<'a>,
    globals: Vec<Setting>,
    sections: Vec<Section>,
    in_global: bool,
    settings: usize,
    /// Source texts by name, for error messages with locations.
    pub(super) texts: Vec<(String, String)>,
}

impl<'a> Reader<'a> {
    /// Creates a reader; `globals` apply to every section of every file.
    pub(super) fn new(surroundings: &'a Surroundings<'a>, globals: Vec<Setting>) -> Self {
        Self {
            surroundings,
            globals,
            sections: vec![],
            in_global: false,
            settings: 0,
            texts: vec![],
        }
    }

    /// Reads the file at `path`, which was named at `origin`.
    pub(super) fn file(&mut self, path: &str, origin: &Origin) -> Result<(), Fault> {
        self.in_global = false;
        self.text_of(path, origin, 0, &mut false)
    }

    /// Returns the sections, the final global settings and the source texts.
    pub(super) fn finish(self) -> (Vec<Section>, Vec<Setting>, Vec<(String, String)>) {
        (self.sections, self.globals, self.texts)
    }

    fn text_of(
        &mut self,
        path: &str,
        origin: &Origin,
        depth: u32,
        begun: &mut bool,
    ) -> Result<(), Fault> {
        let failed = |why: String| {
            Fault::new(origin.clone(), FaultKind::Read { path: path.to_owned(), why })
        };
        if depth > DEEPEST_INCLUDE {
            return Err(failed("files include each other more than 16 deep".to_owned()));
        }
        let text = (self.surroundings.read_file)(path).map_err(failed)?;
        self.texts.push((path.to_owned(), text.clone()));
        let mut start = 0;
        for line in text.split('\n') {
            self.line(path, &text, start, line, depth, begun)?;
            start += line.len() + 1;
        }
        Ok(())
    }

    fn line(
        &mut self,
        file: &str,
        text: &str,
        start: usize,
        line: &str,
        depth: u32,
        begun: &mut bool,
    ) -> Result<(), Fault> {
        let end = line.find([';', '#']).unwrap_or(line.len());
        let written = &line[..end];
        let trimmed = written.trim();
        if trimmed.is_empty() {
            return Ok(());
        }
        let from = start + (written.len() - written.trim_start().len());
        let origin = Origin::of(file, text, from, from + trimmed.len());
        let refuse = |why| Err(Fault::new(origin.clone(), FaultKind::Line { why }));
        if let Some(rest) = trimmed.strip_prefix('[') {
            let Some((name, _)) = rest.split_once(']') else {
                return refuse("a section has no closing bracket");
            };
            *begun = true;
            self.section(name.trim(), origin);
            return Ok(());
        }
        if let Some(path) =
            trimmed.strip_prefix("include").filter(|r| r.starts_with([' ', '\t']))
        {
            return self.include(file, path.trim(), &origin, depth, begun);
        }
        if !*begun {
            return refuse("it stands before the first section; fio would ignore it");
        }
        let setting = setting(trimmed, origin, self.surroundings)?;
        self.settings += 1;
        if self.settings > MOST_SETTINGS {
            return refuse_many(setting.origin);
        }
        match self.sections.last_mut().filter(|_| !self.in_global) {
            Some(section) => section.own.push(setting),
            None => self.globals.push(setting),
        }
        Ok(())
    }

    fn section(&mut self, name: &str, origin: Origin) {
        self.in_global = name.eq_ignore_ascii_case("global");
        if !self.in_global {
            let globals = self.globals.clone();
            self.sections.push(Section { name: name.to_owned(), origin, globals, own: vec![] });
        }
    }

    fn include(
        &mut self,
        file: &str,
        path: &str,
        origin: &Origin,
        depth: u32,
        begun: &mut bool,
    ) -> Result<(), Fault> {
        let path = environment(path, self.surroundings);
        let folder = file.rsplit_once('/').map(|(folder, _)| folder);
        let beside = folder.filter(|_| !path.starts_with('/')).map(|f| format!("{f}/{path}"));
        let found = beside.filter(|beside| (self.surroundings.read_file)(beside).is_ok());
        self.text_of(&found.unwrap_or(path), origin, depth + 1, begun)
    }
}

fn refuse_many(origin: Origin) -> Result<(), Fault> {
    Err(Fault::new(origin, FaultKind::Line { why: "there are more than 100,000 settings" }))
}

/// Parses `name=value` or `name`; returns an error for unsupported options.
pub(super) fn setting(
    written: &str,
    origin: Origin,
    surroundings: &Surroundings<'_>,
) -> Result<Setting, Fault> {
    let (name, value) = match written.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (written, None),
    };
    let Some(row) = option::find(name) else {
        let kind = FaultKind::Unknown { name: name.to_owned(), near: option::near(name) };
        return Err(Fault::new(origin, kind));
    };
    let value = value.map(|value| keywords(&environment(value, surroundings), surroundings));
    if let Standing::Refused { why, unless } = row.standing
        && !unless.contains(&value.as_deref().unwrap_or("1"))
    {
        let name = value.map_or(name.to_owned(), |value| format!("{name}={value}"));
        return Err(Fault::new(origin, FaultKind::Refuse { name, why }));
    }
    Ok(Setting { row, value, origin })
}

/// Expands `${NAME}`; unset variables are empty, as in fio.
fn environment(text: &str, surroundings: &Surroundings<'_>) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        result.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            result.push_str("${");
            rest = after;
            continue;
        };
        result.push_str(&(surroundings.variable)(name).unwrap_or_default());
        rest = after;
    }
    result + rest
}

fn keywords(text: &str, surroundings: &Surroundings<'_>) -> String {
    let table = [
        ("$pagesize", surroundings.page_bytes),
        ("$mb_memory", surroundings.memory_mib),
        ("$ncpus", surroundings.cpus),
    ];
    let replace = |text: String, (word, value): (&str, u64)| {
        if text.contains(word) { text.replace(word, &value.to_string()) } else { text }
    };
    table.into_iter().fold(text.to_owned(), replace)
}
