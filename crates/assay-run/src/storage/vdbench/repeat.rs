//! `-l` and `loop=`: repeats all runs a number of times, for a time, or until the user stops them.

use std::time::{Duration, Instant};

use assay_dialects::vdbench::commands::Repetition;

use crate::failure::Failure;

/// How long the runs are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Not at all.
    Once,
    /// Until the user stops them.
    Forever,
    /// So many times.
    Times(u64),
    /// They begin again until this time has passed.
    For(Duration),
}

impl Repeat {
    /// What was typed: nothing, `-l`, `-l30`, `-l30s`, `-l5m`, `-l2h`.
    ///
    /// # Errors
    /// When it is no time.
    pub fn read(typed: Option<&Option<String>>) -> Result<Self, Failure> {
        let Some(typed) = typed else { return Ok(Self::Once) };
        let Some(text) = typed else { return Ok(Self::Forever) };
        let lower = text.to_ascii_lowercase();
        let units = [("s", 1), ("m", 60), ("h", 3600)];
        let (number, factor) = units
            .into_iter()
            .find_map(|(unit, factor)| Some((lower.strip_suffix(unit)?, factor)))
            .unwrap_or((lower.as_str(), 1));
        let seconds = number.parse::<u64>().ok().and_then(|n| n.checked_mul(factor));
        match seconds {
            Some(seconds) if seconds > 0 => Ok(Self::For(Duration::from_secs(seconds))),
            _ => Err(Failure::usage(format!("-l takes no `{text}`")).advise(
                "-l repeats until you stop it, -l30s, -l30m and -l2h until that time has passed",
            )),
        }
    }

    /// As the files say, where nothing was typed.
    #[must_use]
    pub const fn or(self, in_files: Option<Repetition>) -> Self {
        match (self, in_files) {
            (Self::Once, Some(Repetition::Times(number))) => Self::Times(number),
            (Self::Once, Some(Repetition::Seconds(s))) => Self::For(Duration::from_secs(s)),
            (typed, _) => typed,
        }
    }

    /// Whether the runs begin once more, having been done `done` times since `began`.
    pub(super) fn again(self, began: Instant, done: u64) -> bool {
        match self {
            Self::Once => false,
            Self::Forever => true,
            Self::Times(number) => done < number,
            Self::For(length) => began.elapsed() < length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let seconds = |n| Some(Repeat::For(Duration::from_secs(n)));
        for (text, expected) in [
            ("30", seconds(30)),
            ("2M", seconds(120)),
            ("1h", seconds(3600)),
            ("x", None),
            ("0", None),
        ] {
            assert_eq!(Repeat::read(Some(&Some(text.to_owned()))).ok(), expected, "{text}");
        }
        assert_eq!(Repeat::read(None).ok(), Some(Repeat::Once));
        assert_eq!(Repeat::read(Some(&None)).ok(), Some(Repeat::Forever));
    }

    #[test]
    fn what_was_typed_comes_before_what_the_files_say() {
        let twice = Some(Repetition::Times(2));
        assert_eq!(Repeat::Once.or(twice), Repeat::Times(2));
        assert_eq!(Repeat::Forever.or(twice), Repeat::Forever);
        let half = Repetition::Seconds(30);
        assert_eq!(Repeat::Once.or(Some(half)), Repeat::For(Duration::from_secs(30)));
        assert_eq!(Repeat::Once.or(None), Repeat::Once);
        let now = Instant::now();
        assert!(Repeat::Times(2).again(now, 1) && !Repeat::Times(2).again(now, 2));
    }
}
