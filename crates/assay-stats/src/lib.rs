//! Statistics: from samples to estimates, intervals and verdicts.
//!
//! Two entry points: [`stopping::next`] decides during a case what to do after a repetition, and
//! [`summarize::summarize`] condenses a finished run. Both analyse a series with the same function,
//! [`analysis::analyse`], so that a case that stopped as precise is also reported as precise; and the
//! rounds and tries of storage through [`rounds::Steady`] and [`rate_search::Search`].
//!
//! This crate never prints, reads a clock or touches a file. Where it permutes, the seed is given: the
//! same samples always give the same conclusions. What its intervals are worth is simulated by [`proof`],
//! and what its verdicts and change points are worth by [`simulated`].

pub mod analysis;
pub mod autocorrelation;
pub mod change_points;
pub mod compare;
pub mod curve;
pub mod doubts;
pub mod effective;
pub mod environment;
pub mod false_discovery;
pub mod history;
pub mod laws;
pub mod mean;
pub mod modality;
pub mod outliers;
pub mod proof;
pub mod quantile;
mod question;
pub mod random;
pub mod rank;
pub mod rank_statistic;
pub mod rate_search;
pub mod ratio;
pub mod rounds;
pub mod shift;
pub mod simulated;
pub mod steady_state;
pub mod stopping;
pub mod student;
pub mod summarize;
pub mod synthetic;
pub mod tails;

/// The version of the statistics. It grows whenever the same events would give other numbers: another
/// estimator, another rank, another threshold of a test. Every summary names it; a stored one made by
/// another version should be derived again.
///
/// 2: shares are pooled over all stretches, means are weighted, and tails come from distributions.
/// 3: dependence is estimated over the whole series in order of time; short independent series keep their
/// interval; a series looks independent before it is precise; groups take ten effective samples.
/// 4: percentiles of single values take as many effective ones as they need, by their bursts; warm-up that
/// matters is told; tries of a search tell what was done from what was due.
/// 5: what is worth fewer than six effective samples, of six samples and more, has an interval by Student's t.
/// 6: transfers of several hosts add up where they were going on at the same time, and totals name their hosts in the
/// order of the fleet; a host is worse than its peers by more than its own samples vary.
pub const METHOD: u32 = 6;
