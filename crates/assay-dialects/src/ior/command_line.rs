//! IOR's command line: letters, long options and the script.

use super::option::{IOR, IorOption, OPTIONS};
use super::options::{IorOptions, IorOptionsError};
use super::rank_placement::RankPlacement;
use super::{directives, script};
use crate::option::EmulatedTool;
use crate::option::words::{WordOptions, parse_option};

/// Reads the text of a script.
pub type ScriptLoader<'l> = dyn FnMut(&str) -> std::io::Result<String> + 'l;

/// Parses the arguments after `ior`, and the script of `-f` with `load`; returns one or more tests.
///
/// # Errors
/// The first argument that is not supported, or conflicting options.
pub fn parse(
    words: &[String],
    load: &mut ScriptLoader<'_>,
) -> Result<Vec<IorOptions>, IorOptionsError> {
    parse_for_job(words, load, None)
}

/// Like [`parse`], for the ranks of an MPI job, all of which take part unless there is a `-N`.
///
/// # Errors
/// Those of [`parse`].
pub fn parse_for_job(
    words: &[String],
    load: &mut ScriptLoader<'_>,
    placement: Option<RankPlacement>,
) -> Result<Vec<IorOptions>, IorOptionsError> {
    let ranks = placement.map_or(1, |job| job.ranks);
    let mut options = IorOptions { ranks, placement, ..IorOptions::default() };
    let mut script = None;
    let (count, mut words) = (words.len(), words.iter());
    let placed = |from: usize, to: usize| {
        move |what: IorOptionsError| IorOptionsError::Words {
            at: from..to,
            what: Box::new(what),
        }
    };
    while let Some(word) = words.next() {
        let at = count - words.len() - 1;
        if let Some(glued) = word.strip_prefix("-f") {
            let glued = glued.strip_prefix('=').unwrap_or(glued);
            let file =
                if glued.is_empty() { words.next().cloned() } else { Some(glued.to_owned()) };
            script = Some((file.unwrap_or_default(), placed(at, count - words.len())));
            continue;
        }
        let read = parse_option(&mut options, word, &mut words);
        read.map_err(placed(at, count - words.len()))?;
    }
    match script {
        None => Ok(vec![options.complete().map_err(placed(0, count))?]),
        Some((file, placed)) => {
            let text = load(&file).map_err(|error| {
                placed(IorOptionsError::UnreadableScript {
                    file: file.clone(),
                    why: error.to_string(),
                })
            })?;
            script::parse_tests(&options, &text, &file)
        }
    }
}

impl WordOptions for IorOptions {
    const TOOL: EmulatedTool = IOR;
    const NAME: &'static str = "IOR";
    const ROWS: &'static [IorOption] = OPTIONS;
    const DIRECTIVES: Option<&'static str> = Some("-O");
    type Error = IorOptionsError;

    fn add_note(&mut self, note: String) {
        self.note_once(note);
    }

    fn apply_directive(&mut self, text: &str) -> Result<(), IorOptionsError> {
        directives::apply(self, text)
    }
}
