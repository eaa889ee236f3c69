//! Load of other processes and guests on this machine, by case. Measures nothing and ends no case.

use std::collections::BTreeMap;

use assay_fleet::cpu_demand::{
    self, DemandAccount, DemandReading, RelatedDemand, RelatedReading,
};
use assay_fleet::root::Root;
use assay_model::doubt::Doubt;
use assay_model::plan::Plan;

/// Variable of a Slurm job, which starts ranks that are no descendants of assay.
const SLURM_JOB: &str = "SLURM_JOB_ID";

/// Account of the load since the run was opened.
#[derive(Debug)]
pub(crate) struct LoadWatch {
    root: Root,
    /// `None` if the host hides its CPU times.
    last: Option<DemandReading>,
    related: RelatedReading,
    /// Whether processes that are no descendants may work for this run.
    has_foreign_ranks: bool,
    whole: DemandAccount,
    by_case: BTreeMap<String, DemandAccount>,
}

impl LoadWatch {
    pub(crate) fn start(plan: &Plan) -> Self {
        let root = Root::machine();
        let is_mpi = plan.cases.iter().any(|case| case.workload.as_mpi().is_some());
        Self {
            last: cpu_demand::read(&root),
            related: cpu_demand::read_related(&root),
            has_foreign_ranks: is_mpi && std::env::var_os(SLURM_JOB).is_some(),
            whole: DemandAccount::default(),
            by_case: BTreeMap::new(),
            root,
        }
    }

    /// Whether the demand of other processes is known.
    pub(crate) const fn is_known(&self) -> bool {
        self.last.is_some()
    }

    /// Attributes the time since the last call to a case.
    pub(crate) fn account(&mut self, case: Option<&str>) {
        let Some(before) = &self.last else { return };
        let Some(after) = cpu_demand::read(&self.root) else { return };
        self.whole.add(before, &after);
        if let Some(case) = case {
            self.by_case.entry(case.to_owned()).or_default().add(before, &after);
        }
        self.last = Some(after);
    }

    /// Returns the doubts about each case, or about the run if it has no accounts by case.
    pub(crate) fn finish(&mut self, elapsed_s: f64) -> Vec<(Option<String>, Doubt)> {
        self.account(None);
        let after = cpu_demand::read_related(&self.root);
        let related = match self.has_foreign_ranks {
            true => RelatedDemand::Unknown,
            false => RelatedDemand::from_readings(self.related, after, elapsed_s),
        };
        if self.by_case.is_empty() {
            let doubts = self.whole.doubts(related).into_iter();
            return doubts.map(|doubt| (None, doubt)).collect();
        }
        let of_case = |(case, account): (&String, &DemandAccount)| {
            let case = case.clone();
            let doubts = account.doubts(related).into_iter();
            doubts.map(|doubt| (Some(case.clone()), doubt)).collect::<Vec<_>>()
        };
        self.by_case.iter().flat_map(of_case).collect()
    }
}
