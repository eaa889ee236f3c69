//! Repetition of all runs (`-l` and `loop=`): a number of times, for a duration, or until the user
//! stops them.

use std::time::{Duration, Instant};

use assay_dialects::vdbench::commands::LoopLimit;

use crate::failure::CommandFailure;

/// How often the runs are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunRepetition {
    /// No repetition.
    Once,
    /// Passes until the user stops them.
    Forever,
    /// A fixed number of passes.
    Times(u64),
    /// Passes that begin before this time is over.
    For(Duration),
}

impl RunRepetition {
    /// Parses the option: none, `-l`, `-l30`, `-l30s`, `-l5m`, `-l2h`.
    ///
    /// # Errors
    /// When the value is not a duration.
    pub fn parse(typed: Option<&Option<String>>) -> Result<Self, CommandFailure> {
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
            _ => Err(CommandFailure::usage(format!("-l does not accept `{text}`")).advise(
                "-l repeats until you stop it, -l30s, -l30m and -l2h until that time has passed",
            )),
        }
    }

    /// Returns the setting of the parameter files if there is no `-l`.
    #[must_use]
    pub const fn or_from_files(self, in_files: Option<LoopLimit>) -> Self {
        match (self, in_files) {
            (Self::Once, Some(LoopLimit::Times(number))) => Self::Times(number),
            (Self::Once, Some(LoopLimit::Seconds(s))) => Self::For(Duration::from_secs(s)),
            (typed, _) => typed,
        }
    }

    /// Whether another pass follows `done` passes since `began`.
    pub(super) fn has_next_pass(self, began: Instant, done: u64) -> bool {
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
    fn parses_durations() {
        let seconds = |n| Some(RunRepetition::For(Duration::from_secs(n)));
        for (text, expected) in [
            ("30", seconds(30)),
            ("2M", seconds(120)),
            ("1h", seconds(3600)),
            ("x", None),
            ("0", None),
        ] {
            assert_eq!(
                RunRepetition::parse(Some(&Some(text.to_owned()))).ok(),
                expected,
                "{text}"
            );
        }
        assert_eq!(RunRepetition::parse(None).ok(), Some(RunRepetition::Once));
        assert_eq!(RunRepetition::parse(Some(&None)).ok(), Some(RunRepetition::Forever));
    }

    #[test]
    fn option_overrides_files() {
        let twice = Some(LoopLimit::Times(2));
        assert_eq!(RunRepetition::Once.or_from_files(twice), RunRepetition::Times(2));
        assert_eq!(RunRepetition::Forever.or_from_files(twice), RunRepetition::Forever);
        let half_minute = LoopLimit::Seconds(30);
        assert_eq!(
            RunRepetition::Once.or_from_files(Some(half_minute)),
            RunRepetition::For(Duration::from_secs(30))
        );
        assert_eq!(RunRepetition::Once.or_from_files(None), RunRepetition::Once);
        let now = Instant::now();
        assert!(
            RunRepetition::Times(2).has_next_pass(now, 1)
                && !RunRepetition::Times(2).has_next_pass(now, 2)
        );
    }
}
