//! Findings of earlier cases of a run: services that a host lacks, the launch time of MPI ranks,
//! and the chosen loops.
//!
//! Later cases skip a missing service instead of waiting for it again, and a launch above its
//! budget is reported before it begins. Transient failures are not remembered: a server that has
//! answered once is tried again.

use std::collections::{BTreeMap, BTreeSet};

use assay_dialects::wire::iperf3;
use assay_model::failure::{FailureReason, MissingHostFeature};
use assay_model::plan::Case;
use assay_model::workload::{MpiWorkload, NetworkTest, NetworkWorkload};

use crate::bind::chosen_loops::ChosenLoops;
use crate::forecast::RunForecast;
use crate::recorder::CaseError;

/// Findings about all hosts of a run.
#[derive(Debug, Default)]
pub(crate) struct RunCache {
    /// Host and missing feature → the case that detected it.
    lacking: BTreeMap<(String, MissingHostFeature), String>,
    /// Hosts and ports with a successful throughput measurement.
    served: BTreeSet<(String, MissingHostFeature)>,
    /// Launcher, library and number of ranks → shortest overhead of a launch in seconds, without
    /// the measurement.
    launches: BTreeMap<(String, String, u32), f64>,
    /// Chosen loops of STREAM.
    pub(in crate::bind) chosen_loops: ChosenLoops,
    /// Forecast of the duration of the run.
    pub(crate) forecast: RunForecast,
}

impl RunCache {
    /// Creates the state at the start of a run, with only the forecast.
    pub(crate) fn from_forecast(forecast: RunForecast) -> Self {
        Self { forecast, ..Self::default() }
    }

    /// Remembers the outcome of a case, or of one of its turns, as far as it concerns the host.
    pub(crate) fn record_outcome<T>(&mut self, case: &Case, outcome: &Result<T, CaseError>) {
        let Some((work, to)) =
            case.workload.as_network().and_then(|it| Some((it, it.to.as_ref()?)))
        else {
            return;
        };
        match outcome {
            Ok(_) if matches!(work.test, NetworkTest::Throughput(_)) => {
                self.served.insert((to.clone(), normalize_for_pair(case, streams_port(work))));
            }
            Err(CaseError::Lacking(feature, _)) => {
                let key = (to.clone(), normalize_for_pair(case, *feature));
                if !self.served.contains(&key) {
                    self.lacking.entry(key).or_insert_with(|| case.id.clone());
                }
            }
            _ => {}
        }
    }

    /// Records the overhead of a launch, without its measurement.
    pub(in crate::bind) fn record_launch(&mut self, work: &MpiWorkload, overhead_s: f64) {
        let least_s = self.launches.entry(launch_key(work)).or_insert(overhead_s);
        *least_s = least_s.min(overhead_s).max(0.0);
        self.forecast.record_launch(overhead_s.max(0.0));
    }

    /// Returns the shortest overhead of a launch of these ranks in seconds.
    pub(in crate::bind) fn launch_overhead_s(&self, work: &MpiWorkload) -> Option<f64> {
        self.launches.get(&launch_key(work)).copied()
    }

    /// Whether an earlier case found that the host lacks this feature.
    pub(in crate::bind) fn lacks(&self, host: &str, feature: MissingHostFeature) -> bool {
        self.lacking.contains_key(&(host.to_owned(), feature))
    }

    /// Returns an error if an earlier case found that the host lacks a required feature.
    pub(in crate::bind) fn require(
        &self,
        work: &NetworkWorkload,
        feature: MissingHostFeature,
    ) -> Result<(), CaseError> {
        let Some(host) = &work.to else { return Ok(()) };
        let Some(because) = self.lacking.get(&(host.clone(), feature)) else { return Ok(()) };
        let failure = FailureReason::Skipped { host: host.clone(), lack: feature };
        Err(CaseError::Skipped { failure, because: because.clone() })
    }
}

fn launch_key(work: &MpiWorkload) -> (String, String, u32) {
    (work.mpi.launcher.clone(), work.mpi.library.clone(), work.ranks)
}

/// Replaces a missing port of a pair by a missing connection. The other end opens a new port for
/// each case: only a missing connection applies to later cases.
const fn normalize_for_pair(case: &Case, feature: MissingHostFeature) -> MissingHostFeature {
    match feature {
        MissingHostFeature::Port(_) if case.pair.is_some() => MissingHostFeature::Connection,
        feature => feature,
    }
}

/// Returns the port of the streams of a case, as the feature to check.
pub(in crate::bind) fn streams_port(work: &NetworkWorkload) -> MissingHostFeature {
    MissingHostFeature::Port(work.port.unwrap_or(iperf3::DEFAULT_PORT))
}

#[cfg(test)]
mod tests;
