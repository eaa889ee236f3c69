//! fio's command line: job options, job files, and the output format of the results.
//!
//! Accepts both `--name=value` and `-name=value`. The value may also be the next argument, as in
//! fio.

use std::fmt::Write as _;

use super::job_error::{FioJobError, FioJobErrorKind, FioLocation};
use super::jobfile::{FioParseContext, FioSection, FioSetting, JobfileReader, parse_setting};
use super::option;
use assay_model::spelling::nearest_word;

/// Parsed command line with all job files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FioRequest {
    /// Jobs in order.
    pub sections: Vec<FioSection>,
    /// Global settings, for the report.
    pub globals: Vec<FioSetting>,
    /// Output formats and destination of the results.
    pub output: FioOutput,
    /// Devices and files that may be overwritten.
    pub destroy_data: Vec<String>,
    /// Whether targets may be on the root file system where a volume was expected.
    pub target_on_root: bool,
    /// Storage of the run.
    pub store_options: StoreOptions,
    /// Whether to print the plan and stop.
    pub dry_run: bool,
    /// Whether to parse everything and stop.
    pub parse_only: bool,
    /// Whether writing is forbidden.
    pub read_only: bool,
    /// Whether to print the jobs as one command line and stop.
    pub show_command: bool,
    /// Notes for the user about options of the program.
    pub notes: Vec<String>,
    /// Whether to print the version and stop.
    pub version: bool,
    /// Source texts by name, for error messages with locations.
    pub texts: Vec<(String, String)>,
}

/// Whether and where the run is stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreOptions {
    /// Whether the run is not stored.
    pub no_store: bool,
    /// Folder of stored runs; `None` = the user's default.
    pub store: Option<String>,
    /// Label of the condition.
    pub label: Option<String>,
}

/// Output formats and destination of the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioOutput {
    /// Formats in the order in which they are printed.
    pub formats: Vec<FioFormat>,
    /// Output file; `None` = standard output.
    pub file: Option<String>,
    /// Version of the terse format: 3, 4 or 5.
    pub terse_version: u32,
}

/// Output format of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FioFormat {
    /// Human-readable text.
    Normal,
    /// Single JSON document.
    Json,
    /// JSON with every latency that occurred.
    JsonPlus,
    /// Line per job, fields separated by semicolons.
    Terse,
}

impl Default for FioOutput {
    fn default() -> Self {
        Self { formats: vec![FioFormat::Normal], file: None, terse_version: 3 }
    }
}

/// Name of the command line in error locations.
pub const COMMAND_LINE: &str = "command line";

/// Ignored options of the program itself: name, whether a value follows, and a reason where the
/// user would miss an effect.
const IGNORED: &[(&str, bool, &str)] = &[
    ("eta", true, ""),
    ("eta-interval", true, ""),
    ("eta-newline", true, ""),
    ("status-interval", true, "results are printed at the end, or at Ctrl-C"),
    ("warnings-fatal", false, "notes never end a run"),
    ("max-jobs", true, ""),
    ("alloc-size", true, ""),
    ("aux-path", true, "no state is kept between runs"),
];

/// Rejected options of the program itself, because they would change what is done.
const REJECTED: &[(&str, &str)] = &[
    ("server", "hosts are driven by assay's own agents"),
    ("client", "hosts are driven by assay's own agents"),
    ("remote-config", "hosts are driven by assay's own agents"),
    ("daemonize", "assay does not leave the terminal"),
    ("profile", "profiles are not supported"),
    ("latency-log", "the option of a job is write_lat_log"),
    ("bandwidth-log", "the option of a job is write_bw_log"),
    ("inflate-log", "logs are not compressed, so there is nothing to inflate"),
    ("cpuclock-test", "it tests fio itself"),
    ("crctest", "it tests fio itself"),
    ("memcpytest", "it tests fio itself"),
    ("idle-prof", "idle time is not profiled"),
    ("trigger-file", "triggers are not supported"),
    ("trigger-timeout", "triggers are not supported"),
    ("trigger", "triggers are not supported"),
    ("trigger-remote", "triggers are not supported"),
    ("merge-blktrace-only", "recorded I/O is not replayed"),
    ("debug", "fio's debugging output is not supported"),
    ("cmdhelp", "`man fio` describes the options, docs/fio.md lists the supported ones"),
    ("enghelp", "`man fio` describes the options, docs/fio.md lists the supported ones"),
];

/// Implemented options of the program itself: name, and whether a value follows.
const IMPLEMENTED: &[(&str, bool)] = &[
    ("output", true),
    ("output-format", true),
    ("append-terse", false),
    ("minimal", false),
    ("terse-version", true),
    ("section", true),
    ("parse-only", false),
    ("showcmd", false),
    ("readonly", false),
    ("version", false),
    ("dry-run", false),
    ("destroy-data", true),
    ("target-on-root", false),
    ("no-store", false),
    ("store", true),
    ("label", true),
];

/// Job options without a value.
const WITHOUT_VALUE: &[&str] = &[
    "norandommap",
    "time_based",
    "group_reporting",
    "thread",
    "stonewall",
    "new_group",
    "zero_buffers",
    "refill_buffers",
    "exitall",
    "bs_unaligned",
    "fixedbufs",
    "registerfiles",
    "nonvectored",
    "hipri",
    "sqthread_poll",
    "userspace_reap",
];

impl FioRequest {
    /// Returns the jobs as one command line; every option is repeated for each job.
    #[must_use]
    pub fn to_command_line(&self) -> String {
        let mut line = String::from("fio");
        for section in &self.sections {
            let _ = write!(line, " --name={}", quote_for_shell(&section.name));
            let settings = section.globals.iter().chain(&section.own);
            for setting in settings.filter(|setting| setting.option.name != "name") {
                let _ = write!(line, " --{}", setting.option.name);
                if let Some(value) = &setting.value {
                    let _ = write!(line, "={}", quote_for_shell(value));
                }
            }
        }
        line
    }
}

/// Quotes a word for the shell.
fn quote_for_shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,%+=@".contains(c);
    match word.chars().all(plain) && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Parses the arguments after `fio` and all job files that they name.
///
/// # Errors
/// The first argument, line or value that is not supported.
pub fn parse(
    words: &[String],
    surroundings: &FioParseContext<'_>,
) -> Result<FioRequest, FioJobError> {
    let text = words.join(" ");
    let mut reading = CommandLineParser {
        words,
        text: &text,
        next: 0,
        offset: 0,
        request: FioRequest::default(),
        files: vec![],
        names: vec![],
        surroundings,
    };
    while reading.next < words.len() {
        reading.parse_word()?;
    }
    let CommandLineParser { mut request, files, names, .. } = reading;
    request.texts.push((COMMAND_LINE.to_owned(), text.clone()));
    let mut reader = JobfileReader::new(surroundings, request.globals.clone());
    for (path, origin) in &files {
        reader.read_file(path, origin)?;
    }
    let (sections, globals, texts) = reader.finish();
    request.sections.extend(sections);
    request.globals = globals;
    request.texts.extend(texts);
    if let Some(name) =
        names.iter().find(|name| request.sections.iter().all(|it| it.name != **name))
    {
        let near = nearest_word(name, request.sections.iter().map(|it| it.name.as_str()));
        let kind = FioJobErrorKind::UnknownSection {
            name: name.clone(),
            near: near.map(str::to_owned),
        };
        return Err(FioJobError::new(
            FioLocation::locate(COMMAND_LINE, &text, 0, text.len()),
            kind,
        ));
    }
    if !names.is_empty() {
        request.sections.retain(|section| names.contains(&section.name));
    }
    if request.sections.is_empty() && !request.version {
        let origin = FioLocation::locate(COMMAND_LINE, &text, 0, text.len());
        return Err(FioJobError::new(origin, FioJobErrorKind::Empty));
    }
    Ok(request)
}

struct CommandLineParser<'a> {
    words: &'a [String],
    text: &'a str,
    next: usize,
    /// Offset of the next word in the text.
    offset: usize,
    request: FioRequest,
    files: Vec<(String, FioLocation)>,
    names: Vec<String>,
    surroundings: &'a FioParseContext<'a>,
}

impl CommandLineParser<'_> {
    fn next_word(&mut self) -> (String, FioLocation) {
        let word = self.words[self.next].clone();
        let origin =
            FioLocation::locate(COMMAND_LINE, self.text, self.offset, self.offset + word.len());
        self.next += 1;
        self.offset += word.len() + 1;
        (word, origin)
    }

    fn parse_word(&mut self) -> Result<(), FioJobError> {
        let (word, origin) = self.next_word();
        let stripped = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
        let Some(option) = stripped.filter(|rest| !rest.is_empty()) else {
            self.files.push((word, origin));
            return Ok(());
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let dashed = name.replace('_', "-");
        let idle = IGNORED.iter().find(|(known, ..)| *known == dashed);
        if let Some((known, takes_value, why)) = idle {
            if *takes_value && value.is_none() {
                self.take_value();
            }
            if !why.is_empty() {
                self.request.notes.push(format!("--{known} has no effect: {why}"));
            }
            return Ok(());
        }
        let implemented = IMPLEMENTED.iter().find(|(known, _)| *known == dashed);
        if let Some((known, takes_value)) = implemented {
            let value = if *takes_value { value.or_else(|| self.take_value()) } else { value };
            return self.parse_program_option(known, value.as_deref(), &origin);
        }
        if let Some((known, why)) = REJECTED.iter().find(|(known, _)| *known == dashed) {
            let name = format!("--{known}");
            return Err(FioJobError::new(origin, FioJobErrorKind::Unsupported { name, why }));
        }
        self.parse_section_option(name, value, origin)
    }

    /// Takes the next word if it can be a value.
    fn take_value(&mut self) -> Option<String> {
        let next = self.words.get(self.next)?;
        let is_value = !next.starts_with('-') || next == "-";
        is_value.then(|| self.next_word().0)
    }

    fn parse_section_option(
        &mut self,
        name: &str,
        value: Option<String>,
        origin: FioLocation,
    ) -> Result<(), FioJobError> {
        let Some(row) = option::find(name) else {
            let idle = IGNORED.iter().map(|(known, ..)| *known);
            let program = IMPLEMENTED.iter().map(|(known, _)| *known).chain(idle);
            let near = option::nearest_option(name).or_else(|| nearest_word(name, program));
            let kind = FioJobErrorKind::UnknownOption { name: name.to_owned(), near };
            return Err(FioJobError::new(origin, kind));
        };
        let bare = WITHOUT_VALUE.contains(&row.name);
        let value = if bare { value } else { value.or_else(|| self.take_value()) };
        if row.name == "name" {
            let name = value.unwrap_or_default();
            let globals = self.request.globals.clone();
            let own = vec![FioSetting {
                option: row,
                value: Some(name.clone()),
                origin: origin.clone(),
            }];
            self.request.sections.push(FioSection { name, origin, globals, own });
            return Ok(());
        }
        let written = value.map_or(name.to_owned(), |value| format!("{name}={value}"));
        let setting = parse_setting(&written, origin, self.surroundings)?;
        match self.request.sections.last_mut() {
            Some(section) => section.own.push(setting),
            None => self.request.globals.push(setting),
        }
        Ok(())
    }

    fn parse_program_option(
        &mut self,
        name: &'static str,
        value: Option<&str>,
        origin: &FioLocation,
    ) -> Result<(), FioJobError> {
        let refuse = |why: &str| {
            let value = value.unwrap_or_default().to_owned();
            let kind = FioJobErrorKind::InvalidValue {
                name: format!("--{name}"),
                value,
                why: why.to_owned(),
            };
            Err(FioJobError::new(origin.clone(), kind))
        };
        let request = &mut self.request;
        match (name, value) {
            ("output", Some(path)) => request.output.file = Some(path.to_owned()),
            ("output-format", Some(list)) => match parse_formats(list) {
                Some(formats) => request.output.formats = formats,
                None => return refuse("it must be normal, json, json+ or terse"),
            },
            ("append-terse", _) => request.output.formats.push(FioFormat::Terse),
            ("minimal", _) => request.output.formats = vec![FioFormat::Terse],
            ("terse-version", Some(number)) => match number.parse() {
                Ok(version @ 3..=5) => request.output.terse_version = version,
                _ => return refuse("it must be 3, 4 or 5"),
            },
            ("section", Some(section)) => self.names.push(section.to_owned()),
            ("destroy-data", Some(path)) => request.destroy_data.push(path.to_owned()),
            ("parse-only", _) => request.parse_only = true,
            ("showcmd", _) => request.show_command = true,
            ("readonly", _) => request.read_only = true,
            ("version", _) => request.version = true,
            ("dry-run", _) => request.dry_run = true,
            ("target-on-root", _) => request.target_on_root = true,
            ("no-store", _) if request.store_options.store.is_some() => {
                return refuse("--store is given");
            }
            ("no-store", _) => request.store_options.no_store = true,
            ("store", Some(_)) if request.store_options.no_store => {
                return refuse("--no-store is given");
            }
            ("store", Some(folder)) => request.store_options.store = Some(folder.to_owned()),
            ("label", Some(name)) => request.store_options.label = Some(name.to_owned()),
            (_, None) if IMPLEMENTED.contains(&(name, true)) => {
                return refuse("a value is missing");
            }
            _ => {}
        }
        Ok(())
    }
}

fn parse_formats(list: &str) -> Option<Vec<FioFormat>> {
    let one = |name: &str| match name.trim() {
        "normal" => Some(FioFormat::Normal),
        "json" => Some(FioFormat::Json),
        "json+" => Some(FioFormat::JsonPlus),
        "terse" | "minimal" => Some(FioFormat::Terse),
        _ => None,
    };
    list.split(',').map(one).collect()
}
