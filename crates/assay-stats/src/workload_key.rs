//! Key of a case's workload, which matches cases across runs.

use assay_model::run::CaseRecord;
use assay_model::workload::NetworkWorkload;

/// Returns the key of a case's workload, without the host at the far end of a network.
pub(crate) fn workload_key(record: &CaseRecord) -> String {
    let case = &record.case;
    match case.workload.as_network() {
        Some(work) => {
            let shared = NetworkWorkload { to: None, ..work.clone() };
            format!("{}/{}", shared.name(), case.by)
        }
        None => case.id.clone(),
    }
}
