//! Findings of earlier cases of a run: services that a host lacks, the launch time of MPI ranks,
//! and the fastest loops.
//!
//! Later cases skip a missing service instead of waiting for it again, and a launch above its
//! budget is reported before it begins. Transient failures are not remembered: a server that has
//! answered once is tried again.

use std::collections::{BTreeMap, BTreeSet};

use assay_dialects::wire::iperf3;
use assay_model::facts::HostFacts;
use assay_model::failure::{FailureReason, MissingHostFeature};
use assay_model::plan::{Case, Plan};
use assay_model::workload::{MpiWorkload, NetworkTest, NetworkWorkload};

use crate::bind::chosen_loops::ChosenLoops;
use crate::forecast::RunForecast;
use crate::recorder::CaseError;

/// Findings about all hosts of a run.
#[derive(Debug, Default)]
pub(crate) struct RunCache {
    /// Host and lack → the case that detected it.
    lacking: BTreeMap<(String, MissingHostFeature), String>,
    /// Hosts and ports with a successful throughput measurement.
    served: BTreeSet<(String, MissingHostFeature)>,
    /// Launcher, library and number of ranks → shortest overhead of a launch in seconds, without
    /// the measurement.
    launches: BTreeMap<(String, String, u32), f64>,
    /// Fastest loops of STREAM.
    pub(in crate::bind) chosen_loops: ChosenLoops,
    /// Forecast of the duration of the run.
    pub(crate) forecast: RunForecast,
}

impl RunCache {
    /// Creates the state at the start of a run, with only the plan's estimates.
    pub(crate) fn from_plan(plan: &Plan, host: &HostFacts) -> Self {
        Self { forecast: RunForecast::from_plan(plan, host), ..Self::default() }
    }

    /// Remembers the outcome of a case, or of one of its turns, as far as it concerns the host.
    pub(crate) fn record_outcome<T>(&mut self, case: &Case, outcome: &Result<T, CaseError>) {
        let Some((work, to)) =
            case.workload.as_network().and_then(|it| Some((it, it.to.as_ref()?)))
        else {
            return;
        };
        match outcome {
            Ok(_) if matches!(work.question, NetworkTest::Throughput(_)) => {
                self.served.insert((to.clone(), normalize_for_pair(case, streams_port(work))));
            }
            Err(CaseError::Lacking(what, _)) => {
                let key = (to.clone(), normalize_for_pair(case, *what));
                if !self.served.contains(&key) {
                    self.lacking.entry(key).or_insert_with(|| case.id.clone());
                }
            }
            _ => {}
        }
    }

    /// Records the overhead of a launch, without its measurement.
    pub(in crate::bind) fn record_launch(&mut self, work: &MpiWorkload, beside_s: f64) {
        let least_s = self.launches.entry(launch_key(work)).or_insert(beside_s);
        *least_s = least_s.min(beside_s).max(0.0);
        self.forecast.record_launch(beside_s.max(0.0));
    }

    /// Shortest overhead of a launch of these ranks in seconds, without its measurement.
    pub(in crate::bind) fn launch_overhead_s(&self, work: &MpiWorkload) -> Option<f64> {
        self.launches.get(&launch_key(work)).copied()
    }

    /// Whether the host is known to lack this.
    pub(in crate::bind) fn lacks(&self, host: &str, what: MissingHostFeature) -> bool {
        self.lacking.contains_key(&(host.to_owned(), what))
    }

    /// Ends the case if its host is known to lack a required service.
    pub(in crate::bind) fn require(
        &self,
        work: &NetworkWorkload,
        what: MissingHostFeature,
    ) -> Result<(), CaseError> {
        let Some(host) = &work.to else { return Ok(()) };
        let Some(because) = self.lacking.get(&(host.clone(), what)) else { return Ok(()) };
        let failure = FailureReason::Skipped { host: host.clone(), lack: what };
        Err(CaseError::Skipped { failure, because: because.clone() })
    }
}

fn launch_key(work: &MpiWorkload) -> (String, String, u32) {
    (work.mpi.launcher.clone(), work.mpi.library.clone(), work.ranks)
}

/// Replaces a port by the connection for pairs: their other end opens a new port for each case, so
/// that only a lack of the connection applies to later cases.
const fn normalize_for_pair(case: &Case, what: MissingHostFeature) -> MissingHostFeature {
    match what {
        MissingHostFeature::Port(_) if case.pair.is_some() => MissingHostFeature::Connection,
        what => what,
    }
}

/// Port of the streams of a case, as the lack to check.
pub(in crate::bind) fn streams_port(work: &NetworkWorkload) -> MissingHostFeature {
    MissingHostFeature::Port(work.port.unwrap_or(iperf3::DEFAULT_PORT))
}

#[cfg(test)]
mod tests;
