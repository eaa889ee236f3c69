//! IOR's command line: letters, long options and the script.

use super::option::{IOR, IorOption, OPTIONS, takes_word};
use super::options::{IorOptions, IorOptionsError};
use super::{directives, script};
use crate::option::OptionSupport;
use assay_model::spelling::nearest_word;

/// Letter whose value is directives.
const DIRECTIVES: &str = "-O";

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
    let mut options = IorOptions::default();
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
        let read = if word.starts_with("--") {
            parse_long_option(&mut options, word, &mut words)
        } else if let Some(cluster) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            parse_short_options(&mut options, cluster, &mut words)
        } else {
            Err(IorOptionsError::UnknownOption { name: word.clone(), near: None })
        };
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

type Words<'a> = std::slice::Iter<'a, String>;

/// Parses `-wrk`, `-t 1m`, `-t1m`, `-t=1m`.
fn parse_short_options(
    options: &mut IorOptions,
    cluster: &str,
    words: &mut Words<'_>,
) -> Result<(), IorOptionsError> {
    for (at, letter) in cluster.char_indices() {
        let name = format!("-{letter}");
        let rest = &cluster[at + letter.len_utf8()..];
        let glued = rest.strip_prefix('=').unwrap_or(rest);
        let mut value = || match glued {
            "" => words.next().cloned().unwrap_or_default(),
            glued => glued.to_owned(),
        };
        if name == DIRECTIVES {
            return value().split(',').try_for_each(|part| directives::apply(options, part));
        }
        let Some(row) = OPTIONS.iter().find(|row| row.spellings().any(|known| known == name))
        else {
            return Err(unknown_option(name, &format!("--{cluster}")));
        };
        if takes_word(row) {
            return apply(options, row, &name, Some(value()));
        }
        apply(options, row, &name, None)?;
    }
    Ok(())
}

fn parse_long_option(
    options: &mut IorOptions,
    word: &str,
    words: &mut Words<'_>,
) -> Result<(), IorOptionsError> {
    let (name, glued) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    };
    // A name that ends in a dot stands for all options of an engine.
    let is_named =
        |known: &str| known == name || (known.ends_with('.') && name.starts_with(known));
    let Some(row) = OPTIONS.iter().find(|row| row.spellings().any(is_named)) else {
        return Err(unknown_option(name.to_owned(), name));
    };
    let value = match takes_word(row) {
        true => Some(glued.or_else(|| words.next().cloned()).unwrap_or_default()),
        false => None,
    };
    apply(options, row, name, value)
}

/// Applies an option as written on the command line.
fn apply(
    options: &mut IorOptions,
    row: &IorOption,
    name: &str,
    value: Option<String>,
) -> Result<(), IorOptionsError> {
    if let Some(refusal) = row.find_refusal(&IOR, name, None) {
        return Err(IorOptionsError::Unsupported(refusal));
    }
    match row.support {
        OptionSupport::Implemented(apply) => {
            apply(options, value.as_deref()).map_err(|why| IorOptionsError::InvalidValue {
                name: name.to_owned(),
                value: value.unwrap_or_default(),
                why,
            })
        }
        OptionSupport::Ignored(why) => {
            options.add_note(format!("{name} has no effect: {why}"));
            Ok(())
        }
        OptionSupport::Rejected { .. } => Ok(()),
    }
}

/// Returns the error for an unknown option, with the long name nearest to `long`.
fn unknown_option(name: String, long: &str) -> IorOptionsError {
    let known =
        OPTIONS.iter().flat_map(|row| row.spellings()).filter(|it| it.starts_with("--"));
    IorOptionsError::UnknownOption { name, near: nearest_word(long, known) }
}
