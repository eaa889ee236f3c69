//! Percentiles that users expect and that a file does not contain.

use super::super::{FileContents, LineSpan};
use crate::fio_json::FioLatency;

/// Reason why there is no latency.
pub(super) const NO_LATENCY: &str = "fio did not record it (gtod_reduce, disable_clat)";

/// Names the percentiles that a latency lacks, of those that fio prints by default and reports show.
pub(super) fn list_missing(
    latency: &FioLatency,
    job: &str,
    lines: &LineSpan,
    contents: &mut FileContents,
) {
    let of = latency.operation.map_or(String::new(), |name| format!(" of {name}"));
    let has_median = latency.median_s.is_some() || latency.percentiles.contains_key("p50");
    let has_p99 = latency.percentiles.contains_key("p99");
    for (name, is_there) in [("p50", has_median), ("p99", has_p99)] {
        if !is_there {
            let what = format!("job {job:?}: {name} of latency{of}");
            contents.leave_out(Some(lines.clone()), what, "the file does not contain it");
        }
    }
}
