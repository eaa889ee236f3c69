//! Search for the maximum rate that meets a latency goal: selects the next rate and judges each
//! try.
//!
//! Never measures anything. The live run and the summary use the same function,
//! [`RateSearch::record_try`].

use assay_model::attribute::{Attribute, Attributes};
use assay_model::doubt::Doubt;
use assay_model::workload::measurement_mode::LatencyGoal;

/// Late I/O and all I/O of one stretch of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateCount {
    /// I/O that took longer than the goal.
    pub late: u64,
    /// All I/O that was due, completed or not.
    pub all: u64,
}

/// Result of a try at 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoalVerdict {
    /// The goal is met.
    Met,
    /// The goal is missed.
    Missed,
    /// The try decides neither.
    Unclear,
}

impl GoalVerdict {
    /// Returns the stored name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Met => "keeps",
            Self::Missed => "misses",
            Self::Unclear => "unclear",
        }
    }
}

/// Try of one rate.
#[derive(Debug, Clone, PartialEq)]
pub struct RateTry {
    /// Requested rate.
    pub requested_per_s: f64,
    /// Measured time, without the warm-up.
    pub elapsed_s: f64,
    /// I/O completed in that time.
    pub done: u64,
    /// Counts of each stretch; I/O that was due and not completed at the end is late in the last
    /// stretch.
    pub stretches: Vec<LateCount>,
}

impl RateTry {
    /// Returns the completed I/O per second of measured time.
    pub fn reached_per_s(&self) -> f64 {
        self.done as f64 / self.elapsed_s
    }

    fn goal_verdict(&self, goal: &LatencyGoal) -> GoalVerdict {
        // At a missed rate the queue grows without end, so the goal will be missed.
        if is_rate_missed(self.done, self.requested_per_s * self.elapsed_s) {
            return GoalVerdict::Missed;
        }
        judge_lateness(&self.stretches, 1.0 - goal.percent / 100.0)
    }
}

/// Minimum ratio of reached to requested rate; Vdbench has no such check.
const MIN_REACHED_SHARE: f64 = 0.97;
/// Standard deviations by which the number of arrivals may deviate by chance.
const ARRIVAL_DEVIATIONS: f64 = 3.0;

/// Returns whether the count is below the requested one by more than chance. Random arrivals are
/// Poisson, so the standard deviation of their number is its square root; even gaps vary less.
pub fn is_rate_missed(count: u64, requested: f64) -> bool {
    let count = count as f64;
    count < MIN_REACHED_SHARE * requested
        && count < requested - ARRIVAL_DEVIATIONS * requested.sqrt()
}

/// Minimum number of stretches for an estimate of the variance between them.
const MIN_STRETCHES: usize = 4;
/// Minimum number of stretches to meet a goal; fewer may all miss stalls that take 5 % of the time:
/// 0.95⁵⁹ < 5 %.
pub const MIN_MET_STRETCHES: usize = 59;
/// One-sided 95 % quantile of the normal distribution.
const Z: f64 = 1.644_854;
/// Significance level: 1 − confidence level.
const ALPHA: f64 = 0.05;

/// Judges whether at most `allowed` (0 … 1) of the I/O are late.
///
/// Neighbouring I/O are late together, so stretches are the samples and not I/O: the share of late
/// I/O is p = Σ late / Σ all with the standard error √(k/(k − 1) Σ (lateᵢ − p allᵢ)²) / Σ all of a
/// ratio of sums (Cochran, Sampling Techniques, 6.8), and Student's t with k − 1 degrees of freedom
/// gives a one-sided bound. The upper bound is at least 1 − 0.05^(1/Σ all), that of independent I/O
/// of which none is late. Below [`MIN_MET_STRETCHES`] stretches no goal counts as met.
pub fn judge_lateness(stretches: &[LateCount], allowed: f64) -> GoalVerdict {
    let k = stretches.len() as f64;
    let all: f64 = stretches.iter().map(|it| it.all as f64).sum();
    if stretches.len() < MIN_STRETCHES || all <= 0.0 {
        return GoalVerdict::Unclear;
    }
    let share = stretches.iter().map(|it| it.late as f64).sum::<f64>() / all;
    let squares: f64 =
        stretches.iter().map(|it| (it.late as f64 - share * it.all as f64).powi(2)).sum();
    let standard_error = (k / (k - 1.0) * squares).sqrt() / all;
    let half_width = student_quantile(k - 1.0) * standard_error;
    let min_upper_bound = 1.0 - ALPHA.powf(1.0 / all);
    if stretches.len() >= MIN_MET_STRETCHES
        && (share + half_width).max(min_upper_bound) <= allowed
    {
        GoalVerdict::Met
    } else if share - half_width > allowed {
        GoalVerdict::Missed
    } else {
        GoalVerdict::Unclear
    }
}

/// Returns the 95 % quantile of Student's t by the Cornish-Fisher expansion, accurate to 1 % from 3
/// degrees of freedom on.
pub(crate) fn student_quantile(degrees: f64) -> f64 {
    let z2 = Z * Z;
    let first = Z * (z2 + 1.0) / 4.0;
    let second = Z * (5.0 * z2 * z2 + 16.0 * z2 + 3.0) / 96.0;
    let third = Z * (3.0 * z2.powi(3) + 19.0 * z2 * z2 + 17.0 * z2 - 15.0) / 384.0;
    Z + first / degrees + second / degrees.powi(2) + third / degrees.powi(3)
}

/// Bisection between a rate that meets the goal and one that misses it, with a confirmation at the
/// end.
#[derive(Debug, Clone, PartialEq)]
pub struct RateSearch {
    maximum: f64,
    /// Maximum rate that met the goal; 0 = none.
    pub met_rate: f64,
    /// Lowest rate that did not meet it; initially the maximum rate of the search.
    pub missed_rate: f64,
    /// Rates that met the goal, ascending; the last is `met_rate`.
    met_rates: Vec<f64>,
    /// Whether another try, after the range was narrow, has confirmed `met_rate`.
    is_confirmed: bool,
    /// Last try, if it was unclear and has to be repeated.
    unclear: Option<RateTry>,
    steps: u32,
}

/// Ratio of the missed rate to the met rate at which the search ends.
const END_RATIO: f64 = 1.04;
/// Factor by which the rate falls after a miss while no rate has met the goal.
const DESCENT_FACTOR: f64 = 4.0;
/// Share of the maximum rate below which the search gives up.
const MIN_RATE_SHARE: f64 = 1e-3;

impl RateSearch {
    /// Creates a search below `maximum`, the rate of a closed loop. In an open loop the queue would
    /// grow at that rate.
    pub const fn new(maximum: f64) -> Self {
        Self {
            maximum,
            met_rate: 0.0,
            missed_rate: maximum,
            met_rates: Vec::new(),
            is_confirmed: false,
            unclear: None,
            steps: 0,
        }
    }

    /// Returns the rate to try next, or `None` after `max_tries` tries or at the end of the search.
    ///
    /// The range is bisected on a logarithmic scale, so that the relative resolution is the same
    /// for low and high rates. The final rate is tried once more, because the best of many tries
    /// may have met the goal by chance.
    pub fn next_rate(&self, max_tries: u32) -> Option<f64> {
        let rate = match (&self.unclear, self.met_rate > 0.0) {
            (Some(unclear), _) => unclear.requested_per_s,
            (None, true) if self.missed_rate > END_RATIO * self.met_rate => {
                (self.met_rate * self.missed_rate).sqrt()
            }
            (None, true) if self.is_confirmed => return None,
            (None, true) => self.met_rate,
            (None, false) if self.missed_rate < self.maximum => {
                self.missed_rate / DESCENT_FACTOR
            }
            (None, false) => self.maximum / 2.0,
        };
        (self.steps < max_tries && rate > MIN_RATE_SHARE * self.maximum).then_some(rate)
    }

    /// Returns whether the rate of [`RateSearch::next_rate`] is tried for the second time.
    pub const fn is_second_try(&self) -> bool {
        self.unclear.is_some()
    }

    /// Records a try and returns its verdict. If the same rate was unclear before, both tries are
    /// pooled; a rate that stays unclear counts as missed.
    pub fn record_try(&mut self, rate_try: RateTry, goal: &LatencyGoal) -> GoalVerdict {
        let unclear_try = self.unclear.take();
        let is_second = unclear_try.is_some();
        let rate_try = match unclear_try {
            Some(unclear_try) => RateTry {
                requested_per_s: rate_try.requested_per_s,
                elapsed_s: unclear_try.elapsed_s + rate_try.elapsed_s,
                done: unclear_try.done + rate_try.done,
                stretches: [unclear_try.stretches, rate_try.stretches].concat(),
            },
            None => rate_try,
        };
        let verdict = rate_try.goal_verdict(goal);
        self.update_range(rate_try, verdict, is_second);
        verdict
    }

    fn update_range(&mut self, rate_try: RateTry, verdict: GoalVerdict, is_second: bool) {
        self.steps += 1;
        let rate = rate_try.requested_per_s;
        let is_retry = rate <= self.met_rate;
        match verdict {
            GoalVerdict::Unclear if !is_second => self.unclear = Some(rate_try),
            GoalVerdict::Met if is_retry => self.is_confirmed = true,
            GoalVerdict::Met => {
                self.met_rates.push(rate);
                self.met_rate = rate;
            }
            GoalVerdict::Missed | GoalVerdict::Unclear => {
                self.missed_rate = rate;
                if is_retry {
                    self.met_rates.pop();
                    self.met_rate = self.met_rates.last().copied().unwrap_or(0.0);
                }
            }
        }
    }

    /// Returns the doubt `search-not-finished` if another rate remains to be tried.
    pub fn doubt(&self) -> Option<Doubt> {
        self.next_rate(LatencyGoal::MAX_STEPS).map(|_| Doubt::SearchNotFinished {
            tries: self.steps as usize,
            keeps_per_s: self.met_rate,
            misses_per_s: self.missed_rate,
        })
    }

    /// Returns the facts that are added to every result of the case.
    pub fn facts(&self) -> Attributes {
        Attributes::from([
            (Attribute::GoalRate, self.met_rate.into()),
            (Attribute::GoalMissedAt, self.missed_rate.into()),
            (Attribute::MaximumRate, self.maximum.into()),
            (Attribute::GoalConfirmed, self.is_confirmed.into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const MOST: u32 = LatencyGoal::MAX_STEPS;

    fn check(stretches: &[(u64, u64)], expected: GoalVerdict) {
        let late_count = |(late, all): &(u64, u64)| LateCount { late: *late, all: *all };
        let stretches: Vec<LateCount> = stretches.iter().map(late_count).collect();
        assert_eq!(judge_lateness(&stretches, 0.01), expected, "{stretches:?}");
    }

    #[test]
    fn stretches_determine_verdict() {
        check(&[(0, 1000); 60], GoalVerdict::Met);
        check(&[(5, 1000); 60], GoalVerdict::Met);
        check(&[(20, 1000); 12], GoalVerdict::Missed);
        // 0.4 % on average, but all in one stretch: another such stretch is possible.
        let burst = [&[(0, 1000); 59][..], &[(240, 1000)]].concat();
        check(&burst, GoalVerdict::Unclear);
        check(&[&[(9, 1000); 30][..], &[(11, 1000); 30]].concat(), GoalVerdict::Unclear);
        // At least 299 I/O without a late one are needed for p99.
        check(&[(0, 4); 60], GoalVerdict::Unclear);
        check(&[(0, 5); 60], GoalVerdict::Met);
        check(&[(0, 1_000_000); 58], GoalVerdict::Unclear);
        check(&[(0, 0); 60], GoalVerdict::Unclear);
        check(&[], GoalVerdict::Unclear);
    }

    #[test]
    fn rare_stalls_do_not_meet_goal() {
        let mut random = Random::new(11);
        let mut met_count = 0;
        for _ in 0..1000 {
            // In 5 % of the stretches all I/O is late: 5 % of all I/O, where 1 % is allowed.
            let stretch =
                |_| LateCount { late: if random.uniform() < 0.05 { 100 } else { 0 }, all: 100 };
            let stretches: Vec<LateCount> = (0..64).map(stretch).collect();
            met_count += u32::from(judge_lateness(&stretches, 0.01) == GoalVerdict::Met);
        }
        assert!(met_count <= 60, "{met_count} of 1000");
    }

    #[test]
    fn student_quantile_is_close_to_tables() {
        for (degrees, tabled) in [(3.0, 2.353), (11.0, 1.796), (23.0, 1.714), (1e9, 1.645)] {
            let quantile = student_quantile(degrees);
            assert!((quantile / tabled - 1.0).abs() < 0.01, "{degrees}: {quantile}");
        }
    }

    fn rate_try(requested_per_s: f64, elapsed_s: f64, stretches: &[(u64, u64)]) -> RateTry {
        let late_count = |(late, all): &(u64, u64)| LateCount { late: *late, all: *all };
        let done = stretches.iter().map(|(_, all)| all).sum();
        RateTry {
            requested_per_s,
            elapsed_s,
            done,
            stretches: stretches.iter().map(late_count).collect(),
        }
    }

    #[test]
    fn rate_is_missed_beyond_chance() {
        for (count, asked, expected) in [
            (969, 1000.0, false),
            (880, 1000.0, true),
            (96_999, 100_000.0, true),
            (97_001, 100_000.0, false),
            (0, 5.0, false),
            (0, 10.0, true),
            (1001, 1000.0, false),
        ] {
            assert_eq!(is_rate_missed(count, asked), expected, "{count} of {asked}");
        }
    }

    /// Simulates a target that takes 100 µs, with four random I/O per second, and that hangs for
    /// the last tenth of 75 s. Returns the try with all due I/O and the one with completed I/O
    /// only, with one stretch per second.
    fn hangs_at_the_end(seed: u64) -> (RateTry, RateTry) {
        let (asked_per_s, elapsed_s, hangs_s) = (4.0, 75.0, 67.9);
        let mut source = Random::new(seed);
        let (mut due_s, mut done) = (0.0, 0);
        let mut all = vec![LateCount { late: 0, all: 0 }; 75];
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
                // Counted at the end; it has waited since it was due.
                all[74].all += 1;
                all[74].late += u64::from(elapsed_s - due_s > 1e-3);
            }
        }
        let of =
            |stretches| RateTry { requested_per_s: asked_per_s, elapsed_s, done, stretches };
        (of(all), of(alone))
    }

    #[test]
    fn unfinished_io_misses_goal() {
        let goal = LatencyGoal { percent: 95.0, most_s: 1e-3 };
        let keeps = |tried: RateTry| u32::from(tried.goal_verdict(&goal) == GoalVerdict::Met);
        let found = (0..200)
            .map(hangs_at_the_end)
            .fold((0, 0), |(all, alone), (a, b)| (all + keeps(a), alone + keeps(b)));
        assert_eq!(found.0, 0, "9.5 % were never done");
        assert!(found.1 > 150, "chance explains the rate: {} of 200", found.1);
    }

    #[test]
    fn two_tries_of_one_rate_are_pooled() {
        let goal = LatencyGoal { percent: 99.0, most_s: 1e-3 };
        let mut search = RateSearch::new(2000.0);
        let asked = search.next_rate(12).unwrap();
        let quiet = [(0, 1000); 60];
        let burst = [&quiet[..59], &[(240, 1000)]].concat();
        assert_eq!(
            search.record_try(rate_try(asked, 12.0, &burst), &goal),
            GoalVerdict::Unclear
        );
        assert!(search.is_second_try() && search.next_rate(12) == Some(asked));
        assert_eq!(search.record_try(rate_try(asked, 12.0, &quiet), &goal), GoalVerdict::Met);
        assert!(!search.is_second_try() && search.met_rate >= asked, "{search:?}");
        // None is late, but half of the requested I/O was not completed.
        let asked = search.next_rate(12).unwrap();
        assert_eq!(
            search.record_try(rate_try(asked, 60.0, &quiet), &goal),
            GoalVerdict::Missed
        );
        assert_eq!(search.facts()[&Attribute::GoalMissedAt], asked.into());
    }

    /// Searches on a target that meets the goal up to `truth`, and is unclear within `blur` of it.
    fn search_rate(truth: f64, blur: f64) -> (RateSearch, u32) {
        let mut search = RateSearch::new(1000.0);
        let mut tries = 0;
        while let Some(rate) = search.next_rate(MOST) {
            tries += 1;
            let shown = match rate - truth {
                off if off.abs() <= blur => GoalVerdict::Unclear,
                off if off < 0.0 => GoalVerdict::Met,
                _ => GoalVerdict::Missed,
            };
            let is_second = search.unclear.take().is_some();
            search.update_range(rate_try(rate, 1.0, &[]), shown, is_second);
        }
        (search, tries)
    }

    #[test]
    fn finds_maximum_rate_within_four_percent() {
        for truth in [5.0, 137.0, 500.5, 812.0, 960.0] {
            let (search, tries) = search_rate(truth, 0.0);
            assert!(search.met_rate <= truth && truth <= search.missed_rate, "{search:?}");
            assert!(
                search.missed_rate <= 1.04 * search.met_rate && tries <= 12,
                "{search:?} {tries}"
            );
            assert!(search.is_confirmed, "{search:?}");
        }
        assert!(search_rate(-1.0, 0.0).0.met_rate <= 0.0, "nothing keeps it");
        // An unclear rate is tried twice and then counts as missed.
        let (search, tries) = search_rate(500.0, 30.0);
        assert!(search.met_rate < 470.0 && search.met_rate > 430.0, "{search:?}");
        assert!(tries <= MOST, "{tries}");
    }

    #[test]
    fn lucky_rate_is_not_confirmed() {
        let mut search = RateSearch::new(1000.0);
        let mut seen = 0;
        while let Some(rate) = search.next_rate(MOST) {
            // By luck: 700 meets the goal once, only 300 always.
            let again = rate <= search.met_rate;
            let keeps = rate <= 300.0 || (rate <= 700.0 && !again && seen == 0);
            seen += u32::from(again);
            let shown = if keeps { GoalVerdict::Met } else { GoalVerdict::Missed };
            search.update_range(rate_try(rate, 1.0, &[]), shown, false);
        }
        assert!(search.met_rate <= 300.0 || !search.is_confirmed, "{search:?}");
        assert_eq!(search.facts()[&Attribute::GoalConfirmed], search.is_confirmed.into());
    }
}
