//! Plan of a run on several hosts, and its forecast; nothing is measured for it.

use assay_fleet::remote::HostFailure;
use assay_model::facts::HostFacts;
use assay_model::phrase;
use assay_model::plan::Plan;

use crate::run_request::PlanForecast;

/// Host that no longer takes part.
#[derive(Debug)]
pub struct LostHost {
    pub host: String,
    pub failure: HostFailure,
}

/// Merged plan of all hosts.
#[derive(Debug)]
pub struct FleetPlan {
    /// Plan with the cases of all hosts.
    pub plan: Plan,
    /// Hosts that measure each case of the plan.
    pub hosts: Vec<Vec<String>>,
    /// Hosts that sent no plan.
    pub lost: Vec<LostHost>,
}

impl FleetPlan {
    /// Forecasts the duration of the plan for typical hosts, as no host reported its facts; a note
    /// states this assumption. `keeps_budget` as in [`crate::run_request::RunRequest`].
    pub fn forecast(&self, keeps_budget: bool) -> PlanForecast {
        let mut outlook =
            PlanForecast::from_fleet_plan(&self.plan, &HostFacts::default(), keeps_budget);
        // The note is not needed if the forecast follows from the budget alone.
        let is_of_hosts =
            outlook.notes.len() > usize::from(self.plan.budget_warning().is_some());
        if is_of_hosts {
            outlook.notes.push(phrase!(
                "hosts-presumed",
                "this assumes typical servers: the speed of the hosts is unknown",
            ));
        }
        outlook
    }
}
