//! I/O priorities: of jobs, and of single I/O with `cmdprio` and its like.

use super::super::value::NumberBase;
use super::PerDirection;
use super::parse_values::parse_integer;

/// Class of real time, fio's default of `cmdprio_class`.
const REAL_TIME: u16 = 1;
/// Class of best effort, which fio uses where a class is missing or 0.
const BEST_EFFORT: u16 = 2;
/// Highest class, level within a class, and hint (`linux/ioprio.h`).
const MAX_CLASS: u64 = 3;
const MAX_LEVEL: u64 = 7;
const MAX_HINT: u64 = 1023;

/// Options on the priorities of single I/O.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandPriorityOptions {
    /// `cmdprio_percentage`.
    pub percent: PerDirection<u64>,
    /// `cmdprio_class`.
    pub class: PerDirection<u16>,
    /// `cmdprio`: level within the class.
    pub level: PerDirection<u16>,
    /// `cmdprio_hint`.
    pub hint: PerDirection<u16>,
    /// `cmdprio_bssplit`.
    pub split: PerDirection<Vec<SplitPriority>>,
    /// First of these options that was given.
    pub given: Option<&'static str>,
}

/// Entry of `cmdprio_bssplit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitPriority {
    /// Length of the I/O in bytes.
    pub bytes: u64,
    /// Percent of such I/O.
    pub percent: u64,
    /// Its priority; `None` = that of `cmdprio_class` and `cmdprio`.
    pub priority: Option<u16>,
}

impl Default for CommandPriorityOptions {
    fn default() -> Self {
        Self {
            percent: PerDirection::uniform(0),
            class: PerDirection::uniform(REAL_TIME),
            level: PerDirection::uniform(0),
            hint: PerDirection::uniform(0),
            split: PerDirection::uniform(vec![]),
            given: None,
        }
    }
}

/// Returns a priority as `ioprio_set(2)` takes it.
pub(in crate::fio) const fn priority(class: u16, level: u16, hint: u16) -> u16 {
    class << 13 | hint << 3 | level
}

/// Returns the class of a priority: 0 is none, and best effort in fio.
pub(in crate::fio) const fn class_or_best_effort(class: u16) -> u16 {
    if class == 0 { BEST_EFFORT } else { class }
}

/// Parses `64k/20:4k/30/3/0`: percent of the I/O of a size, with or without class and level, and of
/// fio 3.36 also with a hint.
pub(in crate::fio) fn parse_split_priorities(
    text: &str,
    base: NumberBase,
) -> Result<Vec<SplitPriority>, String> {
    let failed = || "it must be sizes with percentages, like 64k/20:4k/10/3/0".to_owned();
    let number = |text: &str| text.parse::<u64>().map_err(|_| failed());
    let entry = |text: &str| {
        let fields: Vec<&str> = text.split('/').map(str::trim).collect();
        let bytes = base.parse_bytes(fields[0]).ok_or_else(failed)?;
        let percent = match fields.get(1) {
            None | Some(&"") => 0,
            Some(percent) => number(percent)?.min(100),
        };
        let priority = match fields.len() {
            1 | 2 => None,
            4 | 5 => {
                // The limits are those of fio, which cuts larger numbers.
                let class = number(fields[2])?.min(MAX_CLASS) as u16;
                let level = number(fields[3])?.min(MAX_LEVEL) as u16;
                let hint =
                    fields.get(4).map_or(Ok(0), |hint| number(hint))?.min(MAX_HINT) as u16;
                Some(priority(class_or_best_effort(class), level, hint))
            }
            _ => return Err(failed()),
        };
        Ok(SplitPriority { bytes, percent, priority })
    };
    text.split(':').filter(|entry| !entry.is_empty()).map(entry).collect()
}

/// Parses a class.
pub(in crate::fio) fn parse_class(text: &str) -> Result<u16, String> {
    parse_integer(text, 1, MAX_CLASS).map(|class| class as u16)
}

/// Parses a class; 0 is none.
pub(in crate::fio) fn parse_class_or_none(text: &str) -> Result<u16, String> {
    parse_integer(text, 0, MAX_CLASS).map(|class| class as u16)
}

/// Parses a level within a class.
pub(in crate::fio) fn parse_level(text: &str) -> Result<u16, String> {
    parse_integer(text, 0, MAX_LEVEL).map(|level| level as u16)
}

/// Parses a hint.
pub(in crate::fio) fn parse_io_hint(text: &str) -> Result<u16, String> {
    parse_integer(text, 0, MAX_HINT).map(|hint| hint as u16)
}
