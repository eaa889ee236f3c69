//! Factors: conditions that are varied between measurements, their levels, and the texts that name them.
//!
//! A factor is named in a text by its name in braces, like `{depth}`; `{{depth}}` denotes the
//! braces themselves.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Maximum number of combinations of levels: each is measured in every block.
pub const MAX_COMBINATIONS: usize = 256;
/// Name of the factor whose levels are numbers of hosts: the first ones of the list take part.
pub const HOSTS_FACTOR: &str = "hosts";
/// Name of the factor whose levels are labels of stored runs.
pub const LABEL_FACTOR: &str = "label";
/// Maximum number of levels of one factor.
const MAX_LEVELS: usize = MAX_COMBINATIONS;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FactorLevel {
    /// Name of the factor.
    pub factor: String,
    /// The level, as written by the user.
    pub level: String,
}

impl fmt::Display for FactorLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.factor, self.level)
    }
}

/// Factor with its levels; the first one is the reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactorLevels {
    /// Name of the factor.
    pub name: String,
    /// Its levels, at least one.
    pub levels: Vec<String>,
}

/// Error in a factor, in its levels, or in a text that names it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FactorError {
    /// A name that braces cannot contain.
    #[error(
        "`{0}` is not a name of a factor: expected letters, digits, `-` and `_`, a letter first"
    )]
    Name(String),
    /// No level at all.
    #[error("factor `{0}` has no levels")]
    NoLevels(String),
    /// A level twice.
    #[error("factor `{factor}` has the level `{level}` twice")]
    RepeatedLevel {
        /// Name of the factor.
        factor: String,
        /// The level.
        level: String,
    },
    /// A level that names a factor.
    #[error("the level `{level}` of factor `{factor}` names a factor: levels are plain values")]
    NestedLevel {
        /// Name of the factor.
        factor: String,
        level: String,
    },
    /// A level of the factor `hosts` that is no number of hosts.
    #[error("`{0}` is not a number of hosts")]
    HostCount(String),
    /// A range that is none.
    #[error(
        "`{0}` is not a range: expected FROM..TO, FROM..TO+STEP or FROM..TO*FACTOR of whole numbers"
    )]
    Range(String),
    /// A range or list that is too long.
    #[error("`{0}` has more than {MAX_LEVELS} levels")]
    TooManyLevels(String),
    /// Two factors of one name.
    #[error("two factors have the name `{0}`")]
    RepeatedName(String),
    /// Too many combinations of levels.
    #[error(
        "the factors have {count} combinations, and at most {MAX_COMBINATIONS} are measured: {of}"
    )]
    TooManyCombinations {
        /// Number of combinations.
        count: usize,
        /// Number of levels of each factor.
        of: String,
    },
    /// A placeholder that names no factor.
    #[error("`{{{name}}}` names no factor: the factors are {known}")]
    UnknownPlaceholder {
        /// The name in braces.
        name: String,
        /// Names of the factors.
        known: String,
    },
}

impl FactorError {
    /// Returns the remedy.
    pub fn advice(&self) -> String {
        match self {
            Self::Name(_) => "use a name like `depth`, which stands as `{depth}`".to_owned(),
            Self::NoLevels(_) => "name at least one, like 1,2,4 or 1..64*2".to_owned(),
            Self::RepeatedLevel { .. } => "name each level once".to_owned(),
            Self::NestedLevel { .. } => {
                "name both factors in the measure or in `apply`, like `{a}{b}`".to_owned()
            }
            Self::HostCount(_) => {
                "the factor `hosts` has levels like 1,2,4: the first hosts of --hosts take part"
                    .to_owned()
            }
            Self::Range(_) => "use 1..8, 0..100+10 or 1..64*2".to_owned(),
            Self::TooManyLevels(_) => "use a larger step, or a factor: 1..1024*2".to_owned(),
            Self::RepeatedName(_) => "rename one of them".to_owned(),
            Self::TooManyCombinations { .. } => {
                "use fewer levels, or measure one factor at a time".to_owned()
            }
            Self::UnknownPlaceholder { name, .. } => {
                format!(
                    "declare the factor, or write `{{{{{name}}}}}` for the braces themselves"
                )
            }
        }
    }
}

impl FactorLevels {
    /// Checks a factor with its levels.
    ///
    /// # Errors
    /// If braces cannot contain the name, there is no level, or a level is there twice or names a
    /// factor.
    pub fn new(name: &str, levels: Vec<String>) -> Result<Self, FactorError> {
        if !is_factor_name(name) {
            return Err(FactorError::Name(name.to_owned()));
        }
        if levels.is_empty() || levels.iter().any(|it| it.trim().is_empty()) {
            return Err(FactorError::NoLevels(name.to_owned()));
        }
        let fault = |level: &String| (name.to_owned(), level.clone());
        for (index, level) in levels.iter().enumerate() {
            if levels[..index].contains(level) {
                let (factor, level) = fault(level);
                return Err(FactorError::RepeatedLevel { factor, level });
            }
            if placeholders(level).next().is_some() {
                let (factor, level) = fault(level);
                return Err(FactorError::NestedLevel { factor, level });
            }
        }
        if levels.len() > MAX_LEVELS {
            return Err(FactorError::TooManyLevels(name.to_owned()));
        }
        let is_count = |level: &&String| level.parse::<usize>().is_ok_and(|it| it > 0);
        let wrong = levels.iter().find(|level| !is_count(level));
        if let Some(level) = wrong.filter(|_| name == HOSTS_FACTOR) {
            return Err(FactorError::HostCount(level.clone()));
        }
        Ok(Self { name: name.to_owned(), levels })
    }

    /// Parses `NAME=LEVELS`: levels separated by commas, of which each may be a range.
    ///
    /// # Errors
    /// As [`FactorLevels::new`], and for a malformed range.
    pub fn parse(text: &str) -> Result<Self, FactorError> {
        let (name, levels) = text.split_once('=').unwrap_or((text, ""));
        if levels.trim().is_empty() {
            return Self::new(name.trim(), Vec::new());
        }
        Self::new(name.trim(), parse_levels(levels)?)
    }
}

/// Parses levels separated by commas. `1..8`, `0..100+10` and `1..64*2` are ranges of whole numbers,
/// including the end if a step meets it.
///
/// # Errors
/// If a range is malformed or too long.
pub fn parse_levels(text: &str) -> Result<Vec<String>, FactorError> {
    let mut levels = Vec::new();
    for part in text.split(',').map(str::trim) {
        match part.split_once("..") {
            Some((from, rest)) if starts_like_number(from) => {
                levels.extend(parse_range(part, from, rest)?);
            }
            Some(_) | None => levels.push(part.to_owned()),
        }
    }
    Ok(levels)
}

/// Whether the text before `..` begins a range: `../data` is a path.
fn starts_like_number(text: &str) -> bool {
    text.trim_start_matches('-').starts_with(|it: char| it.is_ascii_digit())
}

fn parse_range(whole: &str, from: &str, rest: &str) -> Result<Vec<String>, FactorError> {
    let malformed = || FactorError::Range(whole.to_owned());
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| malformed());
    let (to, step, factor) = match (rest.split_once('*'), rest.split_once('+')) {
        (Some((to, factor)), _) => (to, 0, number(factor)?),
        (None, Some((to, step))) => (to, number(step)?, 1),
        (None, None) => (rest, 1, 1),
    };
    let (mut level, to) = (number(from)?, number(to)?);
    let grows = if step == 0 { factor > 1 && level > 0 } else { step > 0 };
    if !grows || level > to {
        return Err(malformed());
    }
    let mut levels = Vec::new();
    while level <= to {
        levels.push(level.to_string());
        if levels.len() > MAX_LEVELS {
            return Err(FactorError::TooManyLevels(whole.to_owned()));
        }
        let next = level.checked_mul(factor).and_then(|it| it.checked_add(step));
        let Some(next) = next else { break };
        level = next;
    }
    Ok(levels)
}

/// Returns all combinations of levels, the last factor varying fastest; without factors, one empty
/// combination.
///
/// # Errors
/// If two factors have one name, or there are more than [`MAX_COMBINATIONS`].
pub fn combine_levels(factors: &[FactorLevels]) -> Result<Vec<Vec<FactorLevel>>, FactorError> {
    for (index, factor) in factors.iter().enumerate() {
        if factors[..index].iter().any(|it| it.name == factor.name) {
            return Err(FactorError::RepeatedName(factor.name.clone()));
        }
    }
    let count = factors.iter().fold(1_usize, |all, it| all.saturating_mul(it.levels.len()));
    if count > MAX_COMBINATIONS {
        let of = factors.iter().map(|it| format!("{} of {}", it.levels.len(), it.name));
        let of = of.collect::<Vec<_>>().join(", ");
        return Err(FactorError::TooManyCombinations { count, of });
    }
    let mut combinations = vec![Vec::new()];
    for factor in factors {
        let extend = |before: &Vec<FactorLevel>| {
            let with = |level: &String| {
                let next = FactorLevel { factor: factor.name.clone(), level: level.clone() };
                before.iter().cloned().chain([next]).collect::<Vec<_>>()
            };
            factor.levels.iter().map(with).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(extend).collect();
    }
    Ok(combinations)
}

/// Formats levels as the label of a condition: `size=1 depth=2`.
pub fn format_levels(levels: &[FactorLevel]) -> String {
    levels.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Replaces each placeholder by the level of its factor, and doubled braces by single ones.
///
/// # Errors
/// If a placeholder names no factor.
pub fn fill_placeholders(text: &str, levels: &[FactorLevel]) -> Result<String, FactorError> {
    let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(found) = find_placeholder(rest) {
        filled.push_str(&rest[..found.start]);
        match levels.iter().find(|it| it.factor == found.name) {
            _ if found.is_escaped => {
                filled.push('{');
                filled.push_str(found.name);
                filled.push('}');
            }
            Some(level) => filled.push_str(&level.level),
            None => {
                let known = levels.iter().map(|it| it.factor.as_str()).collect::<Vec<_>>();
                return Err(FactorError::UnknownPlaceholder {
                    name: found.name.to_owned(),
                    known: known.join(", "),
                });
            }
        }
        rest = &rest[found.end..];
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Returns the names in the placeholders of a text, without doubled braces.
pub fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let all = std::iter::from_fn(move || {
        let found = find_placeholder(rest)?;
        rest = &rest[found.end..];
        Some(found)
    });
    all.filter(|it| !it.is_escaped).map(|it| it.name)
}

/// Place of a placeholder in a text.
struct Placeholder<'t> {
    name: &'t str,
    start: usize,
    end: usize,
    is_escaped: bool,
}

fn find_placeholder(text: &str) -> Option<Placeholder<'_>> {
    for (start, _) in text.match_indices('{') {
        let inside = &text[start + 1..];
        let is_escaped = inside.starts_with('{');
        let inside = inside.strip_prefix('{').unwrap_or(inside);
        let closing = if is_escaped { "}}" } else { "}" };
        let Some((name, _)) = inside.split_once(closing) else { continue };
        if is_factor_name(name) {
            let end = start + 2 * closing.len() + name.len();
            return Some(Placeholder { name, start, end, is_escaped });
        }
    }
    None
}

fn is_factor_name(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_alphabetic())
        && name.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '_'))
}

#[cfg(test)]
mod tests;
