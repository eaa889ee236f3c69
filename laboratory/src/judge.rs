//! Judge of all scenarios: decides from a measured value, its limits and the disturbance of the
//! guest whether a figure is right. Scenarios supply rows and never decide themselves.

use std::ops::RangeInclusive;

/// Decision about a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    Wrong,
    /// Neither shown nor refuted.
    Undecided,
}

/// Measurement with its expected value.
#[derive(Debug, Clone)]
pub(crate) enum Evidence {
    /// Comparison of texts or counts, without a tolerance.
    Condition(bool),
    /// Value, and the limits that it must lie within.
    Number(f64, RangeInclusive<f64>),
    /// Confidence interval that must lie within limits; undecided if it contains one of them.
    Inside(RangeInclusive<f64>, RangeInclusive<f64>),
    /// Confidence interval that must overlap with limits, and its maximum width; a wider one that
    /// overlaps is undecided.
    Overlap { interval: RangeInclusive<f64>, limits: RangeInclusive<f64>, max_width: f64 },
    /// Value without a known truth.
    NoTruth,
}

/// Results that the disturbance of a guest explains, and that decide nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excused {
    Nothing,
    /// Values below the limits: rates of a stalling guest.
    TooLow,
    /// Values on either side of the limits.
    OutOfLimits,
    /// Values within or above the limits: no disturbance shortens a time.
    NotTooLow,
    Everything,
}

/// Position of a value with respect to its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Below,
    Within,
    Above,
}

impl Evidence {
    /// Returns evidence for a value within a relative tolerance of its true value.
    pub(crate) fn relative(measured: f64, truth: f64, tolerance: f64) -> Self {
        Self::Number(measured / truth - 1.0, -tolerance..=tolerance)
    }

    /// Judges a figure of an undisturbed guest.
    pub(crate) fn judge(&self) -> Verdict {
        self.judge_despite(Excused::Nothing)
    }

    /// Judges a figure of a guest whose disturbance excuses some results.
    pub(crate) fn judge_despite(&self, excused: Excused) -> Verdict {
        let Some(position) = self.position() else { return Verdict::Undecided };
        let is_excused = match excused {
            Excused::Nothing => false,
            Excused::TooLow => position == Position::Below,
            Excused::OutOfLimits => position != Position::Within,
            Excused::NotTooLow => position != Position::Below,
            Excused::Everything => true,
        };
        match position {
            _ if is_excused => Verdict::Undecided,
            Position::Within => Verdict::Holds,
            Position::Below | Position::Above => Verdict::Wrong,
        }
    }

    /// Returns the position with respect to the limits; `None` if the evidence is insufficient.
    fn position(&self) -> Option<Position> {
        match self {
            Self::Condition(true) => Some(Position::Within),
            Self::Condition(false) => Some(Position::Above),
            Self::Number(value, limits) => Some(position_of(*value, limits)),
            Self::Inside(interval, limits) => {
                let [low, high] =
                    [interval.start(), interval.end()].map(|end| position_of(*end, limits));
                (low == high).then_some(low)
            }
            Self::Overlap { interval, limits, max_width } => {
                if interval.start() > limits.end() {
                    Some(Position::Above)
                } else if interval.end() < limits.start() {
                    Some(Position::Below)
                } else {
                    (interval.end() - interval.start() < *max_width).then_some(Position::Within)
                }
            }
            Self::NoTruth => None,
        }
    }
}

/// Returns the position of a value. A value that is not a number lies above all limits.
fn position_of(value: f64, limits: &RangeInclusive<f64>) -> Position {
    if limits.contains(&value) {
        Position::Within
    } else if value < *limits.start() {
        Position::Below
    } else {
        Position::Above
    }
}

impl Excused {
    /// Returns these excuses if the guest was disturbed, otherwise none.
    pub(crate) fn when(self, is_disturbed: bool) -> Self {
        if is_disturbed { self } else { Self::Nothing }
    }
}

impl Verdict {
    /// Returns the verdict, or that of further evidence if it is undecided.
    pub(crate) fn or_else(self, further: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Undecided => further(),
            Self::Holds | Self::Wrong => self,
        }
    }

    /// Returns the word in the tables.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Wrong => "WRONG",
            Self::Undecided => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Excused::{Everything, NotTooLow, Nothing, OutOfLimits, TooLow};
    use super::Verdict::{Holds, Undecided, Wrong};
    use super::*;

    #[test]
    fn excuses_decide_nothing() {
        // Verdicts of a value below, within and above its limits.
        for (excused, expected) in [
            (Nothing, [Wrong, Holds, Wrong]),
            (TooLow, [Undecided, Holds, Wrong]),
            (OutOfLimits, [Undecided, Holds, Undecided]),
            (NotTooLow, [Wrong, Undecided, Undecided]),
            (Everything, [Undecided; 3]),
            (Everything.when(false), [Wrong, Holds, Wrong]),
        ] {
            let judged = [0.9, 1.0, 2.1]
                .map(|value| Evidence::Number(value, 1.0..=2.0).judge_despite(excused));
            assert_eq!(judged, expected, "{excused:?}");
        }
        assert_eq!(Evidence::Number(f64::NAN, 1.0..=2.0).judge(), Wrong);
    }

    #[test]
    fn intervals_across_limits_are_undecided() {
        for (interval, inside, overlap) in [
            (1.2..=1.8, Holds, Holds),
            (0.8..=1.2, Undecided, Holds),
            (1.8..=2.2, Undecided, Holds),
            (0.5..=2.5, Undecided, Undecided),
            (0.1..=0.5, Wrong, Wrong),
            (2.5..=9.0, Wrong, Wrong),
        ] {
            let limits = 1.0..=2.0;
            let evidence = Evidence::Inside(interval.clone(), limits.clone());
            assert_eq!(evidence.judge(), inside, "{interval:?}");
            let evidence = Evidence::Overlap { interval, limits, max_width: 1.0 };
            assert_eq!(evidence.judge(), overlap, "{evidence:?}");
        }
        assert_eq!(Evidence::NoTruth.judge(), Undecided);
        assert_eq!(Evidence::Condition(false).judge().or_else(|| Holds), Wrong);
        assert_eq!(Undecided.or_else(|| Holds), Holds);
        assert_eq!(Evidence::relative(101.0, 100.0, 0.02).judge(), Holds);
        assert_eq!(Evidence::relative(97.0, 100.0, 0.02).judge(), Wrong);
    }
}
