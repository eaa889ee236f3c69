//! Number of passes of a job whose passes end before its bytes are reached.

use assay_model::workload::storage::{JobOrder, StorageStream};

use super::JobOffsets;

/// Maximum number of I/O that are drawn: a second's work, and 100 MB of places.
const MAX_DRAWN: u64 = 1 << 21;

/// Returns the number of passes of a stream in the order of a job, by drawing its I/O; a larger number
/// than `most` if there are more. If a job has more than [`MAX_DRAWN`] I/O, it follows from the bytes of
/// the passes that were drawn. Rates have no effect on it.
pub fn count_passes(stream: &StorageStream, most: u64) -> u64 {
    let Some(order) = stream.conduct.order.as_deref() else { return 1 };
    count(order, stream, most, MAX_DRAWN)
}

fn count(order: &JobOrder, stream: &StorageStream, most: u64, max_drawn: u64) -> u64 {
    let order = JobOrder { paces_per_s: [None; 2], ..order.clone() };
    let mut job = JobOffsets::new(&order, stream);
    let mut drawn = 0;
    while job.pass.count <= most && job.next_io().is_some() {
        job.note_completion();
        drawn += 1;
        if drawn == max_drawn {
            return estimate(&order, &job).max(job.pass.count);
        }
    }
    job.pass.count
}

/// Returns the passes of all bytes of a job, from those that were drawn.
fn estimate(order: &JobOrder, job: &JobOffsets) -> u64 {
    let ended = job.pass.count.saturating_sub(1);
    let by_total = match (ended, order.has_own_total) {
        (0, false) => 1,
        // The first pass goes on; reading back counts as I/O.
        (0, true) => order.total_bytes.div_ceil(order.pass_bytes.saturating_mul(2).max(1)),
        (1.., _) => order.total_bytes.saturating_mul(ended).div_ceil(job.pass.all_bytes.max(1)),
    };
    by_total.max(order.loops)
}

#[cfg(test)]
mod tests {
    use assay_model::workload::storage::AccessPattern;

    use super::super::tests::order;
    use super::*;

    /// Each pass writes four blocks of 4 KiB and reads them back.
    #[test]
    fn passes_of_large_jobs_are_estimated() {
        let writes = JobOrder {
            reads: false,
            writes: true,
            is_random: false,
            reopens_files: true,
            verifies: true,
            overlaps: true,
            gap_bytes: 8192,
            total_bytes: 32 * (40 << 10),
            ..order(40 << 10, 4 << 10)
        };
        let stream = StorageStream::new(AccessPattern::Random, 4 << 10, 0.0);
        let passes = |order: &JobOrder, max_drawn| count(order, &stream, 256, max_drawn);
        assert_eq!(passes(&writes, 1 << 20), 40);
        assert!(passes(&writes, 40).abs_diff(40) <= 2, "{}", passes(&writes, 40));
        let whole = JobOrder { total_bytes: 1 << 40, pass_bytes: 1 << 40, loops: 3, ..writes };
        assert_eq!(passes(&whole, 2), 3);
        let own_total =
            JobOrder { has_own_total: true, total_bytes: 5 << 41, loops: 1, ..whole };
        assert_eq!(passes(&own_total, 2), 5);
    }
}
