//! Comparison of results with claims: the claims that apply to each result, and a verdict.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Better;
use assay_model::doubt::TrustLevel;
use assay_model::summary::MetricEstimate;
use serde::Serialize;

use super::{Claim, applies_to, names_dimension};

/// Result with the claims that apply to it.
#[derive(Debug)]
pub struct ClaimCheck<'a> {
    /// Measured result.
    pub estimate: &'a MetricEstimate,
    /// Every claim about it, the oldest first.
    pub claims: Vec<&'a Claim>,
    /// Trust in the result.
    pub trust: TrustLevel,
    /// Verdict over all claims.
    pub verdict: ClaimVerdict,
}

impl ClaimCheck<'_> {
    /// Returns the verdict on one of its claims, by the more favourable end of the interval of the
    /// result. A result of assay without an interval, or a suspect one, shows no miss.
    pub fn claim_verdict(&self, claim: &Claim) -> ClaimVerdict {
        let MetricEstimate { ci, better, median, .. } = *self.estimate;
        let value = match (ci, better) {
            (Some([_, high]), Better::Higher) => high,
            (Some([low, _]), Better::Lower) => low,
            (None, _) => median,
        };
        // The figure of another tool is the whole of its answer.
        let is_answer = ci.is_some() || self.estimate.tool.name != "assay";
        let can_miss = is_answer && self.trust < TrustLevel::Suspect;
        match claim.is_met_by(value, better) {
            None => ClaimVerdict::Shown,
            Some(true) => ClaimVerdict::Reached,
            Some(false) if can_miss => ClaimVerdict::Missed,
            Some(false) => ClaimVerdict::CannotTell,
        }
    }

    fn overall_verdict(&self) -> ClaimVerdict {
        let has = |verdict| self.claims.iter().any(|it| self.claim_verdict(it) == verdict);
        if has(ClaimVerdict::CannotTell) {
            return ClaimVerdict::CannotTell;
        }
        match (has(ClaimVerdict::Reached), has(ClaimVerdict::Missed)) {
            (false, false) => ClaimVerdict::Shown,
            (true, false) => ClaimVerdict::Reached,
            (false, true) => ClaimVerdict::Missed,
            (true, true) => ClaimVerdict::Conflict,
        }
    }
}

/// Verdict from the claims about a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    /// The result meets every claim that can decide.
    Reached,
    /// The whole interval of the result misses every claim that can decide.
    Missed,
    /// The claims contradict each other, and the result meets some of them.
    Conflict,
    /// The result is worse than a claim, but is suspect or has no interval.
    CannotTell,
    /// No claim can decide; the claims are only shown.
    Shown,
}

impl ClaimVerdict {
    /// All verdicts.
    pub const ALL: [Self; 5] =
        [Self::Reached, Self::Missed, Self::Conflict, Self::CannotTell, Self::Shown];

    /// Returns the word of machine-readable formats.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Missed => "missed",
            Self::Conflict => "conflict",
            Self::CannotTell => "cannot-tell",
            Self::Shown => "shown",
        }
    }
}

/// Compares results with claims, each with its trust; results without a claim are left out.
pub fn check_claims<'a>(
    results: &'a [MetricEstimate],
    claims: &'a [Claim],
    trust: impl Fn(&MetricEstimate) -> TrustLevel,
) -> Vec<ClaimCheck<'a>> {
    let mut checks: Vec<ClaimCheck<'a>> = Vec::new();
    for estimate in results {
        let applies = |claim: &&Claim| {
            let names_instruction_set = claim
                .of
                .as_ref()
                .is_some_and(|target| names_dimension(target, INSTRUCTION_SET));
            applies_to(claim, estimate)
                && (names_instruction_set || is_fastest(estimate, results))
        };
        let mut applicable: Vec<&Claim> = claims.iter().filter(applies).collect();
        if applicable.is_empty() {
            continue;
        }
        applicable.sort_by(|a, b| a.date.cmp(&b.date));
        let (trust, verdict) = (trust(estimate), ClaimVerdict::Shown);
        let undecided = ClaimCheck { estimate, claims: applicable, trust, verdict };
        checks.push(ClaimCheck { verdict: undecided.overall_verdict(), ..undecided });
    }
    checks
}

const INSTRUCTION_SET: Attribute = Attribute::InstructionSet;

/// Returns whether no other instruction set was faster in the same placement. A published peak
/// describes the machine, so slower kernels do not count.
fn is_fastest(estimate: &MetricEstimate, results: &[MetricEstimate]) -> bool {
    if !estimate.parameters.contains_key(&INSTRUCTION_SET) {
        return true;
    }
    let placement = |it: &MetricEstimate| {
        [Attribute::Host, Attribute::Placement, Attribute::Threads]
            .map(|name| it.parameters.get(&name).cloned())
    };
    let mut comparable = results.iter().filter(|it| {
        (&it.benchmark, &it.metric) == (&estimate.benchmark, &estimate.metric)
            && placement(it) == placement(estimate)
    });
    comparable.all(|it| it.median <= estimate.median)
}
