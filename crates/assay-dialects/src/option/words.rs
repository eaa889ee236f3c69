//! Command lines of IOR and mdtest: letters that may be grouped, and long options.

use std::slice::Iter;

use assay_model::spelling::nearest_word;
use thiserror::Error;

use super::{EmulatedTool, OptionSpec, OptionSupport, UnsupportedOption};

/// Function that applies a value; a switch has none. An error describes the expected value.
pub(crate) type Apply<O> = fn(&mut O, Option<&str>) -> Result<(), &'static str>;

/// Options of a tool with such a command line.
pub(crate) trait WordOptions: Sized + 'static {
    /// The tool.
    const TOOL: EmulatedTool;
    /// Its name in messages.
    const NAME: &'static str;
    /// A row for each option.
    const ROWS: &'static [OptionSpec<Apply<Self>>];
    /// Letter whose value is directives, if the tool has one.
    const DIRECTIVES: Option<&'static str> = None;
    /// Errors of the tool's options.
    type Error: From<WordError>;

    /// Adds a note on an option that has no effect.
    fn add_note(&mut self, note: String);

    /// Applies one directive.
    ///
    /// # Errors
    /// The directive is not supported.
    fn apply_directive(&mut self, _: &str) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Error of one option.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WordError {
    /// Not an option of the tool.
    #[error("{tool} has no option `{name}`")]
    Unknown {
        /// Name of the tool.
        tool: &'static str,
        /// Name as written.
        name: String,
        /// Nearest existing option.
        near: Option<&'static str>,
    },
    /// Option that would change the result and is not supported.
    #[error(transparent)]
    Unsupported(UnsupportedOption),
    /// Invalid value.
    #[error("{}: {why}", describe_value_error(name, value))]
    InvalidValue {
        /// Option name.
        name: String,
        /// Value as written; empty if missing.
        value: String,
        /// Expected value.
        why: &'static str,
    },
}

impl WordError {
    /// Returns advice on how to fix the error; `usage` shows the supported options.
    pub(crate) fn hint(&self, usage: &str) -> String {
        match self {
            Self::Unknown { near: Some(near), .. } => format!("did you mean `{near}`?"),
            Self::Unknown { near: None, .. } | Self::InvalidValue { .. } => usage.to_owned(),
            Self::Unsupported(refusal) => refusal.instead.to_owned(),
        }
    }
}

/// Describes an invalid or missing value.
fn describe_value_error(name: &str, value: &str) -> String {
    match value {
        "" => format!("`{name}` has no value"),
        value => format!("invalid value `{value}` for `{name}`"),
    }
}

/// Parses an option with its value, which may be the next word: `-wrk`, `-t 1m`, `-t1m`, `--name=1`.
///
/// # Errors
/// The option is unknown or not supported, or its value is invalid.
pub(crate) fn parse_option<O: WordOptions>(
    options: &mut O,
    word: &str,
    words: &mut Iter<'_, String>,
) -> Result<(), O::Error> {
    if word.starts_with("--") {
        return parse_long_option(options, word, words);
    }
    match word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
        Some(cluster) => parse_letters(options, cluster, words),
        None => {
            let (tool, name) = (O::NAME, word.to_owned());
            Err(WordError::Unknown { tool, name, near: None }.into())
        }
    }
}

fn parse_letters<O: WordOptions>(
    options: &mut O,
    cluster: &str,
    words: &mut Iter<'_, String>,
) -> Result<(), O::Error> {
    for (at, letter) in cluster.char_indices() {
        let name = format!("-{letter}");
        let rest = &cluster[at + letter.len_utf8()..];
        let glued = rest.strip_prefix('=').unwrap_or(rest);
        let mut value = || match glued {
            "" => words.next().cloned().unwrap_or_default(),
            glued => glued.to_owned(),
        };
        if O::DIRECTIVES == Some(name.as_str()) {
            return value().split(',').try_for_each(|part| options.apply_directive(part));
        }
        let is_named = |row: &&OptionSpec<Apply<O>>| row.spellings().any(|known| known == name);
        let Some(row) = O::ROWS.iter().find(is_named) else {
            return Err(unknown_option::<O>(name, &format!("--{cluster}")).into());
        };
        if row.value.takes_word() {
            return apply(options, row, &name, Some(value()));
        }
        apply(options, row, &name, None)?;
    }
    Ok(())
}

fn parse_long_option<O: WordOptions>(
    options: &mut O,
    word: &str,
    words: &mut Iter<'_, String>,
) -> Result<(), O::Error> {
    let (name, glued) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    };
    // A name that ends in a dot stands for all options of an engine.
    let is_named =
        |known: &str| known == name || (known.ends_with('.') && name.starts_with(known));
    let Some(row) = O::ROWS.iter().find(|row| row.spellings().any(is_named)) else {
        return Err(unknown_option::<O>(name.to_owned(), name).into());
    };
    let value = match row.value.takes_word() {
        true => Some(glued.or_else(|| words.next().cloned()).unwrap_or_default()),
        false => None,
    };
    apply(options, row, name, value)
}

fn apply<O: WordOptions>(
    options: &mut O,
    row: &OptionSpec<Apply<O>>,
    name: &str,
    value: Option<String>,
) -> Result<(), O::Error> {
    if let Some(refusal) = row.find_refusal(&O::TOOL, name, value.as_deref()) {
        return Err(WordError::Unsupported(refusal).into());
    }
    match row.support {
        OptionSupport::Implemented(apply) => apply(options, value.as_deref()).map_err(|why| {
            let value = value.unwrap_or_default();
            WordError::InvalidValue { name: name.to_owned(), value, why }.into()
        }),
        OptionSupport::Ignored(why) => {
            options.add_note(format!("{name} has no effect: {why}"));
            Ok(())
        }
        OptionSupport::Rejected { .. } => Ok(()),
    }
}

/// Returns the error for an unknown option, with the long name nearest to `long`.
fn unknown_option<O: WordOptions>(name: String, long: &str) -> WordError {
    let known = O::ROWS.iter().flat_map(OptionSpec::spellings);
    WordError::Unknown {
        tool: O::NAME,
        name,
        near: nearest_word(long, known.filter(|it| it.starts_with("--"))),
    }
}
