//! Recognition of cumulative outputs: with `--status-interval` and on a signal fio prints the whole
//! run so far, again and again.

/// State of one group of jobs at the time of an output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RunState {
    /// Time of the output in seconds.
    pub(super) time_s: Option<f64>,
    /// Whether that time has fractions of a second.
    pub(super) has_fraction: bool,
    /// Time that the group has run.
    pub(super) runtime_s: f64,
    /// I/O or bytes so far.
    pub(super) ios: f64,
}

/// Whether the second output is of the same run as the first: nothing became less, and the time
/// between them is the time that a group ran on. Another run would take its whole time again.
pub(super) fn is_continued(first: &[RunState], second: &[RunState]) -> bool {
    let mut has_run_on = false;
    for (one, other) in first.iter().zip(second) {
        if other.ios < one.ios || other.runtime_s < one.runtime_s {
            return false;
        }
        let (Some(from), Some(to)) = (one.time_s, other.time_s) else { return false };
        let unexplained = (to - from) - (other.runtime_s - one.runtime_s);
        // A time in whole seconds may be off by one; the first state is after at least a second.
        let slack = if one.has_fraction || one.runtime_s < 0.8 { 0.0 } else { 1.0 };
        let is_short = unexplained.abs() < (0.5 * one.runtime_s).max(slack);
        has_run_on |= one.ios > 0.0 && is_short && to >= from;
    }
    has_run_on
}

#[cfg(test)]
mod tests {
    use super::{RunState, is_continued};

    #[test]
    fn a_run_goes_on_and_another_takes_its_time_again() {
        let state = |time_s: f64, runtime_s: f64, ios: f64| {
            [RunState { time_s: Some(time_s), has_fraction: true, runtime_s, ios }]
        };
        let table = [
            ((1.0, 0.9, 900.0), (2.0, 1.9, 1900.0), true),
            ((3.0, 2.9, 2900.0), (3.1, 3.0, 3000.0), true),
            ((10.0, 10.0, 100.0), (20.5, 10.0, 100.0), false),
            ((10.0, 10.0, 100.0), (31.0, 20.0, 200.0), false),
            ((0.1, 0.001, 10.0), (0.5, 0.001, 10.0), false),
            ((3.0, 2.9, 2900.0), (4.0, 3.9, 1000.0), false),
        ];
        for (first, second, expected) in table {
            let first = state(first.0, first.1, first.2);
            let second = state(second.0, second.1, second.2);
            assert_eq!(is_continued(&first, &second), expected, "{first:?} {second:?}");
        }
    }
}
