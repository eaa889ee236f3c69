//! One phase of a question in a tool's language, when it is over: what a driver hands to whoever stores it.

use assay_model::entry::Entry;
use assay_model::failure::Failure;
use assay_model::workload::Workload;

/// A phase that is over.
#[derive(Debug)]
pub struct Phase {
    /// Tells it from the others of its run.
    pub name: String,
    /// What it did.
    pub workload: Workload,
    /// What was found.
    pub entries: Vec<Entry>,
    /// Outputs by name.
    pub raw: Vec<(String, Vec<u8>)>,
    /// Why its figures do not count.
    pub failure: Option<Failure>,
}
