//! `rdma.*` as cases of a plan: connected anew for every repetition.

use assay_model::workload::RdmaWorkload;

use crate::measuring::{self, Turns};
use crate::rdma::{self, Observed};
use crate::recorder::{CaseError, Recorder};

pub(super) fn turns(work: &RdmaWorkload) -> Turns<'_> {
    Box::new(|recorder| measuring::once(&mut |recorder| repetition(work, recorder), recorder))
}

fn repetition(work: &RdmaWorkload, recorder: &mut Recorder<'_, '_>) -> Result<(), CaseError> {
    let mut entries = Vec::new();
    let tested = rdma::run(work, recorder.cancel(), &mut |observed| {
        entries.extend(match observed {
            Observed::Joined(joined) => joined.entries(),
            Observed::Size(size) => size.entries(work.test),
        });
        Ok(())
    });
    tested.map_err(|failure| CaseError::Failed(rdma::of_case(&failure)))?;
    recorder.record_all(entries);
    Ok(())
}
