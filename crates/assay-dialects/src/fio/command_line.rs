//! Parses fio's command line: job options, job files, and options of the program.
//!
//! Accepts both `--name=value` and `-name=value`. The value may also be the next argument, as in
//! fio.

use super::job_error::{FioJobError, FioJobErrorKind, FioLocation};
use super::jobfile::{FioParseContext, FioSection, FioSetting, JobfileReader, parse_setting};
use super::option::{self, OptionSupport, ValueKind};
use super::request::FioRequest;
use crate::option::nearest_option;
use assay_model::spelling::nearest_word;

mod program_options;

pub(crate) use self::program_options::PROGRAM_OPTIONS;
use self::program_options::ProgramOption;

/// Name of the command line in error locations.
pub const COMMAND_LINE: &str = "command line";

/// Parses the arguments after `fio` and all job files that they name.
///
/// # Errors
/// The first argument, line or value that is not supported.
pub fn parse(
    words: &[String],
    context: &FioParseContext<'_>,
) -> Result<FioRequest, FioJobError> {
    let text = words.join(" ");
    let mut reading = CommandLineParser {
        words,
        text: &text,
        next: 0,
        offset: 0,
        request: FioRequest::default(),
        files: vec![],
        context,
    };
    while reading.next < words.len() {
        reading.parse_word()?;
    }
    let CommandLineParser { mut request, files, .. } = reading;
    request.texts.push((COMMAND_LINE.to_owned(), text.clone()));
    let mut reader = JobfileReader::new(context, request.globals.clone());
    for (path, origin) in &files {
        reader.read_file(path, origin)?;
    }
    let (sections, globals, texts) = reader.finish();
    request.sections.extend(sections);
    request.globals = globals;
    request.texts.extend(texts);
    read_traces(&mut request, context)?;
    let is_missing = |name: &&String| request.sections.iter().all(|it| it.name != **name);
    if let Some(name) = request.selected.iter().find(is_missing) {
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
    if !request.selected.is_empty() {
        request.sections.retain(|section| request.selected.contains(&section.name));
    }
    let needs_jobs = !request.version && !request.parse_only && request.printed_log.is_none();
    if request.sections.is_empty() && needs_jobs {
        let origin = FioLocation::locate(COMMAND_LINE, &text, 0, text.len());
        return Err(FioJobError::new(origin, FioJobErrorKind::Empty));
    }
    Ok(request)
}

/// Reads the traces that the jobs repeat, each once.
fn read_traces(
    request: &mut FioRequest,
    context: &FioParseContext<'_>,
) -> Result<(), FioJobError> {
    let FioRequest { sections, texts, .. } = request;
    let settings = sections.iter().flat_map(|it| it.globals.iter().chain(&it.own));
    for setting in settings.filter(|setting| setting.name == option::TRACE) {
        let path = setting.value.clone().unwrap_or_default();
        if texts.iter().any(|(known, _)| *known == path) {
            continue;
        }
        let text = (context.read_file)(&path).map_err(|why| {
            let kind = FioJobErrorKind::UnreadableFile { path: path.clone(), why };
            FioJobError::new(setting.origin.clone(), kind)
        })?;
        texts.push((path, text));
    }
    Ok(())
}

struct CommandLineParser<'a> {
    words: &'a [String],
    text: &'a str,
    next: usize,
    /// Offset of the next word in the text.
    offset: usize,
    request: FioRequest,
    files: Vec<(String, FioLocation)>,
    context: &'a FioParseContext<'a>,
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
        match option::find_option(PROGRAM_OPTIONS.iter(), name) {
            Some((row, main_name)) => {
                self.parse_program_option(row, format!("--{main_name}"), value, origin)
            }
            None => self.parse_section_option(name, value, origin),
        }
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
        let Some((row, main_name)) = option::find(name) else {
            let near = nearest_option(option::all_options(), name);
            let near = near.or_else(|| {
                let is_usable = |row: &&ProgramOption| {
                    !matches!(row.support, OptionSupport::Rejected { .. })
                };
                nearest_option(PROGRAM_OPTIONS.iter().filter(is_usable), name)
            });
            let kind = FioJobErrorKind::UnknownOption { name: name.to_owned(), near };
            return Err(FioJobError::new(origin, kind));
        };
        let value = match row.value {
            ValueKind::Switch => value,
            ValueKind::Flag | ValueKind::Text | ValueKind::OptionalText => {
                value.or_else(|| self.take_value())
            }
        };
        if main_name == option::NAME {
            let name = value.unwrap_or_default();
            let globals = self.request.globals.clone();
            let own = vec![FioSetting {
                option: row,
                name: main_name,
                value: Some(name.clone()),
                origin: origin.clone(),
            }];
            self.request.sections.push(FioSection { name, origin, globals, own });
            return Ok(());
        }
        let written = value.map_or(name.to_owned(), |value| format!("{name}={value}"));
        let setting = parse_setting(&written, origin, self.context)?;
        match self.request.sections.last_mut() {
            Some(section) => section.own.push(setting),
            None => self.request.globals.push(setting),
        }
        Ok(())
    }

    fn parse_program_option(
        &mut self,
        row: &ProgramOption,
        name: String,
        value: Option<String>,
        origin: FioLocation,
    ) -> Result<(), FioJobError> {
        if let Some(refusal) = row.find_refusal(&option::FIO, &name, value.as_deref()) {
            return Err(FioJobError::new(origin, FioJobErrorKind::Unsupported(refusal)));
        }
        let (value, expects_value) = match row.value {
            ValueKind::Switch => (value, false),
            ValueKind::Flag | ValueKind::Text | ValueKind::OptionalText => {
                (value.or_else(|| self.take_value()), true)
            }
        };
        let applied = match (row.support, &value) {
            (OptionSupport::Implemented(_), None) if expects_value => {
                Err("a value is missing".to_owned())
            }
            (OptionSupport::Implemented(apply), _) => {
                apply(&mut self.request, value.as_deref().unwrap_or_default())
            }
            (OptionSupport::Ignored(why), _) => {
                if !why.is_empty() {
                    self.request.notes.push(format!("{name} has no effect: {why}"));
                }
                Ok(())
            }
            (OptionSupport::Rejected { .. }, _) => Ok(()),
        };
        applied.map_err(|why| {
            let value = value.unwrap_or_default();
            FioJobError::new(origin, FioJobErrorKind::InvalidValue { name, value, why })
        })
    }
}
