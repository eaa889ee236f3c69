//! perftest's `BW peak`: the window of a pass with the highest rate. A matter of chance and no
//! measurement, so only the table in perftest's format has it. Computed after a pass, from the
//! marks recorded during it.

use super::pass_result::ProgressMark;

/// Returns the fastest of all windows that begin when requests are posted and end when some
/// complete, with its number of messages and its length in ns. `posted` has the number of requests
/// posted by each mark: a window contains the messages after them.
///
/// perftest tries every pair of a request and a completion (`print_report_bw`). Here new requests
/// are posted when some have completed, so that the fastest window can only begin at a mark. W.
/// Dinkelbach's method (Management Science 13, 1967) finds the highest ratio of two differences.
/// For a given rate, it finds the window with the largest surplus over that rate. The window's own
/// rate is the next one, until no window has a surplus.
pub(super) fn fastest_window(marks: &[ProgressMark], posted: &[u64]) -> Option<ProgressMark> {
    let (mut rate, mut fastest) = (0.0, None);
    while let Some(better) = largest_surplus(marks, posted, rate) {
        let reached = better.done as f64 / better.at_ns as f64;
        // The improvement must exceed rounding errors.
        if reached <= rate * (1.0 + 1e-12) {
            break;
        }
        (rate, fastest) = (reached, Some(better));
    }
    fastest
}

/// Returns the window whose messages exceed by most those of `rate` (in messages per ns) in its
/// time.
fn largest_surplus(marks: &[ProgressMark], posted: &[u64], rate: f64) -> Option<ProgressMark> {
    // The first window begins with the first request.
    let (mut least, mut from) = (0.0, ProgressMark { done: 0, at_ns: 0 });
    let (mut most, mut found) = (0.0, None);
    for (mark, posted) in marks.iter().zip(posted) {
        let due = rate * mark.at_ns as f64;
        let surplus = mark.done as f64 - due - least;
        if surplus > most && mark.done > from.done && mark.at_ns > from.at_ns {
            most = surplus;
            found = Some(ProgressMark {
                done: mark.done - from.done,
                at_ns: mark.at_ns - from.at_ns,
            });
        }
        if *posted as f64 - due < least {
            least = *posted as f64 - due;
            from = ProgressMark { done: *posted, at_ns: mark.at_ns };
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the highest rate by trying every pair, as perftest does.
    fn by_trying(marks: &[ProgressMark], posted: &[u64]) -> f64 {
        let begins = marks.iter().zip(posted).map(|(mark, posted)| (*posted, mark.at_ns));
        let begins: Vec<_> = std::iter::once((0, 0)).chain(begins).collect();
        let mut highest = 0.0_f64;
        for (at, mark) in marks.iter().enumerate() {
            for (posted, at_ns) in &begins[..=at] {
                if mark.done > *posted && mark.at_ns > *at_ns {
                    let messages = (mark.done - posted) as f64;
                    highest = highest.max(messages / (mark.at_ns - at_ns) as f64);
                }
            }
        }
        highest
    }

    /// Returns marks and posted requests for completions of 10 messages, `steps_ns` apart, with
    /// `ahead` messages in flight.
    fn pass(steps_ns: impl Iterator<Item = u64>, ahead: u64) -> (Vec<ProgressMark>, Vec<u64>) {
        let mut at_ns = 0;
        let mark = |(at, step_ns): (usize, u64)| {
            at_ns += step_ns;
            ProgressMark { done: 10 * (at as u64 + 1), at_ns }
        };
        let marks: Vec<ProgressMark> = steps_ns.enumerate().map(mark).collect();
        let all = marks.last().map_or(0, |mark| mark.done);
        let posted = marks.iter().map(|mark| (mark.done + ahead).min(all)).collect();
        (marks, posted)
    }

    #[test]
    fn finds_the_fastest_window_of_all_pairs() {
        for (name, ahead, steps_ns) in [
            ("steady", 20, vec![100; 50]),
            ("one fast stretch", 20, [[100; 20], [50; 20], [100; 20]].concat()),
            ("nothing in flight", 0, vec![100, 10, 100]),
            ("at the same time", 0, vec![100, 0, 0, 100]),
            ("a stall", 20, [vec![100; 10], vec![100_000], vec![100; 10]].concat()),
            ("anything", 30, (0..200_u64).map(|at| 1 + at * at * 7919 % 257).collect()),
        ] {
            let (marks, posted) = pass(steps_ns.into_iter(), ahead);
            let found = fastest_window(&marks, &posted).unwrap();
            let (reached, expected) =
                (found.done as f64 / found.at_ns as f64, by_trying(&marks, &posted));
            assert!((reached / expected - 1.0).abs() < 1e-9, "{name}: {reached} {expected}");
            let whole = marks.last().unwrap();
            let average = whole.done as f64 / whole.at_ns as f64;
            assert!(reached >= average * (1.0 - 1e-12), "{name}: {reached} {average}");
        }
        assert_eq!(fastest_window(&[], &[]), None);
        // Nothing in flight, one fast step: 10 messages in 10 ns.
        let (marks, posted) = pass([100, 10, 100].into_iter(), 0);
        assert_eq!(fastest_window(&marks, &posted), Some(ProgressMark { done: 10, at_ns: 10 }));
    }
}
