//! Search for the maximum rate that meets a latency goal: which rate to try next, and what a try has shown.
//!
//! Never measures anything. The live run and the summary ask the same function, [`Search::judge`].

use assay_model::attribute::{Attribute, Attributes};
use assay_model::doubt::Doubt;
use assay_model::workload::course::LatencyGoal;

/// What one stretch of a try counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lateness {
    /// I/O that took longer than the goal.
    pub late: u64,
    /// All I/O that was due, done or not.
    pub all: u64,
}

/// What a try has shown at 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The goal is kept.
    Keeps,
    /// The goal is missed.
    Misses,
    /// It may be either.
    Unclear,
}

impl Verdict {
    /// The stored name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keeps => "keeps",
            Self::Misses => "misses",
            Self::Unclear => "unclear",
        }
    }
}

/// One rate that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Try {
    /// The rate that was requested.
    pub asked_per_s: f64,
    /// The time that counts.
    pub elapsed_s: f64,
    /// I/O done in it.
    pub done: u64,
    /// What was counted in it; what was due and not done at the end is late in the last stretch.
    pub stretches: Vec<Lateness>,
}

impl Try {
    /// All I/O done over the time that counts.
    #[must_use]
    pub fn reached_per_s(&self) -> f64 {
        self.done as f64 / self.elapsed_s
    }

    fn shows(&self, goal: &LatencyGoal) -> Verdict {
        // A queue that only grows keeps no goal, however short it still is.
        if is_missed(self.done, self.asked_per_s * self.elapsed_s) {
            return Verdict::Misses;
        }
        verdict(&self.stretches, 1.0 - goal.percent / 100.0)
    }
}

/// A rate below this share of what was asked for is missed; Vdbench is silent about it.
const REACHED: f64 = 0.97;
/// Standard deviations that the number of arrivals may be off by chance.
const BY_CHANCE: f64 = 3.0;

/// Whether so few of the I/O that were asked for is no accident. Arrivals at random are Poisson's, so
/// their number in a given time has its root for standard deviation; even gaps vary less.
#[must_use]
pub fn is_missed(count: u64, asked: f64) -> bool {
    let count = count as f64;
    count < REACHED * asked && count < asked - BY_CHANCE * asked.sqrt()
}

/// Fewer stretches have no spread to speak of.
const FEWEST: usize = 4;
/// Fewer stretches may all lie beside stalls that take 5 % of the time: 0.95⁵⁹ < 5 %.
pub const ENOUGH: usize = 59;
/// One side of 95 % of the normal law.
const Z: f64 = 1.644_854;
/// One minus the confidence.
const ALPHA: f64 = 0.05;

/// Whether at most `allowed` (0 … 1) of the I/O are late.
///
/// Neighbouring I/O are late together, so stretches are the samples and not I/O: the share of late I/O
/// is p = Σ late / Σ all with the standard error √(k/(k − 1) Σ (lateᵢ − p allᵢ)²) / Σ all of a ratio of
/// sums (Cochran, Sampling Techniques, 6.8), and Student's t with k − 1 degrees of freedom bounds it on
/// one side. The upper bound is never below 1 − 0.05^(1/Σ all), which even independent I/O of which none
/// is late leave open. Below [`ENOUGH`] stretches nothing is shown to keep a goal.
#[must_use]
pub fn verdict(stretches: &[Lateness], allowed: f64) -> Verdict {
    let k = stretches.len() as f64;
    let all: f64 = stretches.iter().map(|it| it.all as f64).sum();
    if stretches.len() < FEWEST || all <= 0.0 {
        return Verdict::Unclear;
    }
    let share = stretches.iter().map(|it| it.late as f64).sum::<f64>() / all;
    let squares: f64 =
        stretches.iter().map(|it| (it.late as f64 - share * it.all as f64).powi(2)).sum();
    let error = (k / (k - 1.0) * squares).sqrt() / all;
    let reach = student(k - 1.0) * error;
    let unseen = 1.0 - ALPHA.powf(1.0 / all);
    if stretches.len() >= ENOUGH && (share + reach).max(unseen) <= allowed {
        Verdict::Keeps
    } else if share - reach > allowed {
        Verdict::Misses
    } else {
        Verdict::Unclear
    }
}

/// The 95 % quantile of Student's t: Cornish and Fisher's expansion, right to 1 % from 3 degrees on.
pub(crate) fn student(freedom: f64) -> f64 {
    let z2 = Z * Z;
    let first = Z * (z2 + 1.0) / 4.0;
    let second = Z * (5.0 * z2 * z2 + 16.0 * z2 + 3.0) / 96.0;
    let third = Z * (3.0 * z2.powi(3) + 19.0 * z2 * z2 + 17.0 * z2 - 15.0) / 384.0;
    Z + first / freedom + second / freedom.powi(2) + third / freedom.powi(3)
}

/// Narrows the range between a rate that keeps the goal and one that does not, and confirms the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    maximum: f64,
    /// The maximum rate that was shown to keep the goal; 0 = none.
    pub keeps: f64,
    /// The lowest rate that was not shown to keep it; the maximum rate of all at the start.
    pub misses: f64,
    /// Rates that were shown to keep it, ascending, the last of which is `keeps`.
    kept: Vec<f64>,
    /// Whether a try of its own, after the range was narrow, has shown again that `keeps` does.
    is_confirmed: bool,
    /// The last try, where it was unclear and is made once more.
    unclear: Option<Try>,
    steps: u32,
}

/// The rate that misses over the one that keeps at which a search ends.
const NARROW: f64 = 1.04;
/// Of two rates between which nothing is known the lower is so much lower, once one has missed.
const DOWN: f64 = 4.0;
/// Share of the maximum rate below which nothing is looked for.
const MINIMUM: f64 = 1e-3;

impl Search {
    /// Below `maximum`, which a closed loop reached: as an open loop it has a queue that grows.
    #[must_use]
    pub const fn below(maximum: f64) -> Self {
        Self {
            maximum,
            keeps: 0.0,
            misses: maximum,
            kept: Vec::new(),
            is_confirmed: false,
            unclear: None,
            steps: 0,
        }
    }

    /// The rate to try next, unless `most` were tried or enough is known.
    ///
    /// The range is halved on a scale of ratios, so that its end is as fine for a low rate as for a high
    /// one. The rate at the end is tried once more: of many tries the one that was lucky would be taken.
    #[must_use]
    pub fn next(&self, most: u32) -> Option<f64> {
        let rate = match (&self.unclear, self.keeps > 0.0) {
            (Some(unclear), _) => unclear.asked_per_s,
            (None, true) if self.misses > NARROW * self.keeps => {
                (self.keeps * self.misses).sqrt()
            }
            (None, true) if self.is_confirmed => return None,
            (None, true) => self.keeps,
            (None, false) if self.misses < self.maximum => self.misses / DOWN,
            (None, false) => self.maximum / 2.0,
        };
        (self.steps < most && rate > MINIMUM * self.maximum).then_some(rate)
    }

    /// Whether the rate of [`Search::next`] is tried for the second time.
    #[must_use]
    pub const fn is_second_try(&self) -> bool {
        self.unclear.is_some()
    }

    /// Notes what a try has shown, and says it. Where the same rate was unclear before, both tries count
    /// together; what stays unclear then was not shown to keep the goal.
    pub fn judge(&mut self, tried: Try, goal: &LatencyGoal) -> Verdict {
        let before = self.unclear.take();
        let is_second = before.is_some();
        let tried = match before {
            Some(before) => Try {
                asked_per_s: tried.asked_per_s,
                elapsed_s: before.elapsed_s + tried.elapsed_s,
                done: before.done + tried.done,
                stretches: [before.stretches, tried.stretches].concat(),
            },
            None => tried,
        };
        let shown = tried.shows(goal);
        self.note(tried, shown, is_second);
        shown
    }

    fn note(&mut self, tried: Try, shown: Verdict, is_second: bool) {
        self.steps += 1;
        let rate = tried.asked_per_s;
        let is_again = rate <= self.keeps;
        match shown {
            Verdict::Unclear if !is_second => self.unclear = Some(tried),
            Verdict::Keeps if is_again => self.is_confirmed = true,
            Verdict::Keeps => {
                self.kept.push(rate);
                self.keeps = rate;
            }
            Verdict::Misses | Verdict::Unclear => {
                self.misses = rate;
                if is_again {
                    self.kept.pop();
                    self.keeps = self.kept.last().copied().unwrap_or(0.0);
                }
            }
        }
    }

    /// `search-not-finished`, where a rate is left to be tried.
    #[must_use]
    pub fn doubt(&self) -> Option<Doubt> {
        self.next(LatencyGoal::MOST_STEPS).map(|_| Doubt::SearchNotFinished {
            tries: self.steps as usize,
            keeps_per_s: self.keeps,
            misses_per_s: self.misses,
        })
    }

    /// What is reported with every result of the case.
    #[must_use]
    pub fn facts(&self) -> Attributes {
        Attributes::from([
            (Attribute::GoalRate, self.keeps.into()),
            (Attribute::GoalMissedAt, self.misses.into()),
            (Attribute::MaximumRate, self.maximum.into()),
            (Attribute::GoalConfirmed, self.is_confirmed.into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const MOST: u32 = LatencyGoal::MOST_STEPS;

    fn check(stretches: &[(u64, u64)], expected: Verdict) {
        let of = |(late, all): &(u64, u64)| Lateness { late: *late, all: *all };
        let stretches: Vec<Lateness> = stretches.iter().map(of).collect();
        assert_eq!(verdict(&stretches, 0.01), expected, "{stretches:?}");
    }

    #[test]
    fn a_try_shows_what_its_stretches_carry() {
        check(&[(0, 1000); 60], Verdict::Keeps);
        check(&[(5, 1000); 60], Verdict::Keeps);
        check(&[(20, 1000); 12], Verdict::Misses);
        // 0.4 % on average, but all in one stretch: the next may be as bad.
        let burst = [&[(0, 1000); 59][..], &[(240, 1000)]].concat();
        check(&burst, Verdict::Unclear);
        check(&[&[(9, 1000); 30][..], &[(11, 1000); 30]].concat(), Verdict::Unclear);
        // 299 I/O are needed before none of them says anything about p99.
        check(&[(0, 4); 60], Verdict::Unclear);
        check(&[(0, 5); 60], Verdict::Keeps);
        check(&[(0, 1_000_000); 58], Verdict::Unclear);
        check(&[(0, 0); 60], Verdict::Unclear);
        check(&[], Verdict::Unclear);
    }

    #[test]
    fn stalls_in_some_stretches_do_not_pass() {
        let mut source = Random::new(11);
        let mut passes = 0;
        for _ in 0..1000 {
            // In 5 % of the stretches everything is late: 5 % of all I/O where 1 % may be.
            let stretch =
                |_| Lateness { late: if source.uniform() < 0.05 { 100 } else { 0 }, all: 100 };
            let stretches: Vec<Lateness> = (0..64).map(stretch).collect();
            passes += u32::from(verdict(&stretches, 0.01) == Verdict::Keeps);
        }
        assert!(passes <= 60, "{passes} of 1000");
    }

    #[test]
    fn the_quantile_of_student_is_close_to_the_tables() {
        for (freedom, tabled) in [(3.0, 2.353), (11.0, 1.796), (23.0, 1.714), (1e9, 1.645)] {
            let found = student(freedom);
            assert!((found / tabled - 1.0).abs() < 0.01, "{freedom}: {found}");
        }
    }

    fn tried(asked_per_s: f64, elapsed_s: f64, stretches: &[(u64, u64)]) -> Try {
        let of = |(late, all): &(u64, u64)| Lateness { late: *late, all: *all };
        let done = stretches.iter().map(|(_, all)| all).sum();
        Try { asked_per_s, elapsed_s, done, stretches: stretches.iter().map(of).collect() }
    }

    #[test]
    fn a_rate_is_missed_when_chance_does_not_explain_it() {
        for (count, asked, expected) in [
            (969, 1000.0, false),
            (880, 1000.0, true),
            (96_999, 100_000.0, true),
            (97_001, 100_000.0, false),
            (0, 5.0, false),
            (0, 10.0, true),
            (1001, 1000.0, false),
        ] {
            assert_eq!(is_missed(count, asked), expected, "{count} of {asked}");
        }
    }

    /// A target that takes 100 µs, asked for four I/O a second at random, and that hangs for the last tenth
    /// of 75 s. Gives all that was due and what was done alone, both at one stretch a second.
    fn hangs_at_the_end(seed: u64) -> (Try, Try) {
        let (asked_per_s, elapsed_s, hangs_s) = (4.0, 75.0, 67.9);
        let mut source = Random::new(seed);
        let (mut due_s, mut done) = (0.0, 0);
        let mut all = vec![Lateness { late: 0, all: 0 }; 75];
        let mut alone = all.clone();
        loop {
            due_s -= (1.0 - source.uniform()).ln() / asked_per_s;
            if due_s >= elapsed_s {
                break;
            }
            if due_s < hangs_s {
                done += 1;
                all[due_s as usize].all += 1;
                alone[due_s as usize].all += 1;
            } else {
                // It is found at the end, and has waited since it was due.
                all[74].all += 1;
                all[74].late += u64::from(elapsed_s - due_s > 1e-3);
            }
        }
        let of = |stretches| Try { asked_per_s, elapsed_s, done, stretches };
        (of(all), of(alone))
    }

    #[test]
    fn what_is_left_undone_at_the_end_keeps_no_goal() {
        let goal = LatencyGoal { percent: 95.0, most_s: 1e-3 };
        let keeps = |tried: Try| u32::from(tried.shows(&goal) == Verdict::Keeps);
        let found = (0..200)
            .map(hangs_at_the_end)
            .fold((0, 0), |(all, alone), (a, b)| (all + keeps(a), alone + keeps(b)));
        assert_eq!(found.0, 0, "9.5 % were never done");
        assert!(found.1 > 150, "chance explains the rate: {} of 200", found.1);
    }

    #[test]
    fn two_tries_at_one_rate_count_together() {
        let goal = LatencyGoal { percent: 99.0, most_s: 1e-3 };
        let mut search = Search::below(2000.0);
        let asked = search.next(12).unwrap();
        let quiet = [(0, 1000); 60];
        let burst = [&quiet[..59], &[(240, 1000)]].concat();
        assert_eq!(search.judge(tried(asked, 12.0, &burst), &goal), Verdict::Unclear);
        assert!(search.is_second_try() && search.next(12) == Some(asked));
        assert_eq!(search.judge(tried(asked, 12.0, &quiet), &goal), Verdict::Keeps);
        assert!(!search.is_second_try() && search.keeps >= asked, "{search:?}");
        // None is late, but half of what was asked for was never done.
        let asked = search.next(12).unwrap();
        assert_eq!(search.judge(tried(asked, 60.0, &quiet), &goal), Verdict::Misses);
        assert_eq!(search.facts()[&Attribute::GoalMissedAt], asked.into());
    }

    /// A target that keeps the goal up to `truth`, and is unclear within `blur` of it.
    fn find(truth: f64, blur: f64) -> (Search, u32) {
        let mut search = Search::below(1000.0);
        let mut tries = 0;
        while let Some(rate) = search.next(MOST) {
            tries += 1;
            let shown = match rate - truth {
                off if off.abs() <= blur => Verdict::Unclear,
                off if off < 0.0 => Verdict::Keeps,
                _ => Verdict::Misses,
            };
            let is_second = search.unclear.take().is_some();
            search.note(tried(rate, 1.0, &[]), shown, is_second);
        }
        (search, tries)
    }

    #[test]
    fn the_maximum_rate_is_found_to_four_percent_of_itself() {
        for truth in [5.0, 137.0, 500.5, 812.0, 960.0] {
            let (search, tries) = find(truth, 0.0);
            assert!(search.keeps <= truth && truth <= search.misses, "{search:?}");
            assert!(search.misses <= 1.04 * search.keeps && tries <= 12, "{search:?} {tries}");
            assert!(search.is_confirmed, "{search:?}");
        }
        assert!(find(-1.0, 0.0).0.keeps <= 0.0, "nothing keeps it");
        // What is unclear is tried twice and then counts as missed.
        let (search, tries) = find(500.0, 30.0);
        assert!(search.keeps < 470.0 && search.keeps > 430.0, "{search:?}");
        assert!(tries <= MOST, "{tries}");
    }

    #[test]
    fn a_rate_that_was_lucky_is_not_confirmed() {
        let mut search = Search::below(1000.0);
        let mut seen = 0;
        while let Some(rate) = search.next(MOST) {
            // Luck: 700 are kept once, and only 300 always.
            let again = rate <= search.keeps;
            let keeps = rate <= 300.0 || (rate <= 700.0 && !again && seen == 0);
            seen += u32::from(again);
            let shown = if keeps { Verdict::Keeps } else { Verdict::Misses };
            search.note(tried(rate, 1.0, &[]), shown, false);
        }
        assert!(search.keeps <= 300.0 || !search.is_confirmed, "{search:?}");
        assert_eq!(search.facts()[&Attribute::GoalConfirmed], search.is_confirmed.into());
    }
}
