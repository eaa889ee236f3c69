//! Statistics: from samples to estimates, intervals and verdicts.
//!
//! Two entry points: [`stopping::next_step`] decides during a case how to continue after a
//! repetition, and [`summarize::summarize`] condenses a finished run. Both analyse a series with
//! the same function, [`analysis::analyse`], so that a case that stopped as precise is also
//! reported as precise. Rounds and rate searches of storage likewise share [`rounds::SteadyState`]
//! and [`rate_search::RateSearch`].
//!
//! **Shapes and units.** Input are samples in order of time, grouped by preparation, in one base unit; results have the
//! same unit, and ratios and shares have none. Intervals are two-sided at 95 % unless a level is given.
//!
//! | subject | module | source |
//! |---|---|---|
//! | interval of the median | [`quantile`] | order statistics, ranks from the binomial distribution |
//! | percentiles | [`quantile`] | type 7 of Hyndman and Fan, 1996 |
//! | correlated samples | [`effective`], [`autocorrelation`] | ranks |
//! | few values | [`student`] | Student's t |
//! | difference of two conditions | [`shift`], [`rank_statistic`] | Hodges and Lehmann; Wilcoxon's exact distributions |
//! | several conditions | [`friedman`], [`family_wise`] | Friedman's test; Holm, 1979 |
//! | many metrics | [`false_discovery`] | adjusted p values |
//! | early end of a comparison | [`looks`] | alpha spending; Jennison and Turnbull, 1989 |
//! | change points | [`change_points`] | E-Divisive means; Matteson and James, 2014 |
//! | spread by level of repetition | [`variance_components`], [`repetition_plan`] | Searle and others, 1992; Kalibera and Jones, 2013 |
//! | rare events | [`ratio`] | Wilson's interval |
//! | physical plausibility | [`laws`] | Little's law, order of minimum, mean and maximum |
//!
//! **Errors.** Functions return `None`, or a variant that names the reason, where samples are too few: never a zero.
//!
//! This crate never prints, reads a clock or touches a file. Permutations are drawn from a given
//! seed, so the same samples always give the same conclusions. [`interval_coverage`] simulates the
//! coverage of its intervals, and [`simulation`] the error rates of its verdicts and change points.

pub mod analysis;
pub mod autocorrelation;
pub mod change_points;
pub mod compare;
pub mod counter_doubts;
pub mod curve;
pub mod doubts;
pub mod effective;
pub mod environment;
pub mod false_discovery;
pub mod family_wise;
pub mod friedman;
pub mod history;
pub mod interval_coverage;
pub mod laws;
pub mod letters;
pub mod looks;
pub mod mean;
pub mod modality;
pub mod outliers;
pub mod quantile;
pub mod random;
pub mod rank;
pub mod rank_statistic;
pub mod rate_search;
pub mod ratio;
pub mod repetition_plan;
pub mod rounds;
pub mod run_table;
pub mod shift;
pub mod simulation;
pub mod stopping;
pub mod student;
pub mod summarize;
pub mod synthetic;
pub mod tails;
pub mod variance_components;
pub mod warm_up;
mod workload_key;

/// Version of the statistics. It grows whenever the same events would give other numbers: another
/// estimator, another rank, another threshold of a test. Every summary names it; a stored one made
/// by another version should be derived again.
///
/// - 2: shares are pooled over all stretches, means are weighted, and tails come from
///   distributions.
/// - 3: dependence is estimated over the whole series in order of time; short independent series
///   keep their interval; a series must look independent before it is precise; groups need ten
///   effective samples.
/// - 4: percentiles of single values need as many effective ones as their bursts require;
///   considerable warm-up is reported; tries of a search distinguish completed from due I/O.
/// - 5: series of at least six samples with fewer than six effective ones have an interval by
///   Student's t.
/// - 6: transfers of several hosts are added over the time in which all were running, and totals
///   list their hosts in the order of the fleet; the latency of all hosts comes from their common
///   medians; a host is worse than its peers by more than its
///   own samples vary.
pub const STATISTICS_VERSION: u32 = 6;
