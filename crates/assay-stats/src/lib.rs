//! Statistics: from samples to estimates, intervals and verdicts.
//!
//! Two entry points: [`stopping::next`] decides during a case what to do after a repetition, and
//! [`summarize::summarize`] condenses a finished run. Both analyse a series with the same function,
//! [`analysis::analyse`], so that a case that stopped as precise is also reported as precise; and the
//! rounds and tries of storage through [`rounds::Steady`] and [`rate_search::Search`].
//!
//! This crate never prints, reads a clock or touches a file, and it needs no random numbers: the
//! same samples always give the same summary. What its intervals are worth is simulated by [`proof`].

pub mod analysis;
pub mod autocorrelation;
pub mod compare;
pub mod curve;
pub mod doubts;
pub mod effective;
pub mod laws;
pub mod mean;
pub mod modality;
pub mod proof;
pub mod quantile;
pub mod rank;
pub mod rate_search;
pub mod ratio;
pub mod rounds;
pub mod steady_state;
pub mod stopping;
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
pub const METHOD: u32 = 3;
