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
mod run;
mod storage;

pub use answer::{MOST_ROWS, Row, answer, distrusted, rows};
pub use comparison::comparison;
pub use findings::findings;
pub(crate) use headlines::weight_of_size;
pub use headlines::{headlines, representative};
pub use history::history;
pub use hosts::{Host, Unreached, hosts};
pub use learn::{Published, learn, subject};
pub use listing::{Hidden, ListedRun, listing};
pub use methods::methods;
pub use plan::{fleet_plan, plan};
pub use run::{page, run};
pub use storage::storage_plan;
