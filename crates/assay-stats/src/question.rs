//! What a case asked, by which runs are matched.

use assay_model::run::CaseRecord;
use assay_model::workload::NetworkWorkload;

/// Which host is at the other end of a network is not part of the question.
pub(crate) fn of(record: &CaseRecord) -> String {
    let case = &record.case;
    match case.workload.network() {
        Some(work) => {
            let question = NetworkWorkload { to: None, ..work.clone() };
            format!("{}/{}", question.name(), case.by)
        }
        None => case.id.clone(),
    }
}
