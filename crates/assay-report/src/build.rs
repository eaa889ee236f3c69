//! Document builders: one per kind of report. Each keeps its sentences in one place.

mod answer;
mod comparison;
mod findings;
mod headlines;
mod history;
mod hosts;
mod learn;
mod listing;
mod methods;
mod perftest;
mod plan;
mod published_results;
mod run;
mod run_table;
mod storage;

pub use answer::{
    AnswerRow, MAX_ROWS, answer, answer_rows, distrust_reasons, judged_estimates, suspect_run,
    trust_level, trust_notice,
};
pub use comparison::levels::{FactorPlanTimes, add_levels, factor_plan, level_comparison};
pub use comparison::programs::add_programs;
pub(crate) use comparison::{case_label_of, sort_related, verdict_texts};
pub use comparison::{comparison, result_names};
pub use findings::findings;
pub(crate) use headlines::size_weight;
pub use headlines::{headlines, representative};
pub use history::history;
pub(crate) use history::{newest_value, title as history_title};
pub use hosts::{ExaminedHost, UnreachableHost, hosts};
pub(crate) use learn::command_line;
pub use learn::{PublishedPage, default_subject, learn};
pub use listing::{HiddenRuns, ListedRun, listing};
pub(crate) use listing::{format_values, host_label, state_label};
pub use methods::methods;
pub use plan::{PlannedTurns, describe_turns, fleet_plan, plan};
pub use run::{run, run_page};
pub use run_table::{result_list, run_table};
pub use storage::storage_plan;
