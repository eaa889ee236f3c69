//! Chosen loops of STREAM, shared by all cases of a run with equal array sizes and CPUs.
//!
//! Stores each request with its winners; the caller selects them.

use std::cell::RefCell;

use assay_kernels::memory::stream::{
    KernelChoice, Stream, StreamConfig, StreamError, StreamOperation,
};
use assay_model::attribute::Attribute;

use super::RunCache;
use crate::recorder::{CaseError, Recorder};

/// Chosen loop of each requested operation.
pub(super) type Winners = Vec<(StreamOperation, KernelChoice)>;

/// Winners of all cases so far, with their arrays.
#[derive(Debug, Default)]
pub(crate) struct ChosenLoops(Vec<CaseChoice>);

/// Winners that one case determined.
#[derive(Debug)]
struct CaseChoice {
    arrays: StreamConfig,
    case: String,
    winners: Winners,
}

impl ChosenLoops {
    /// Returns the winners for all these operations on these arrays, and the case that determined
    /// them.
    fn find(
        &self,
        arrays: &StreamConfig,
        operations: &[StreamOperation],
    ) -> Option<(Winners, &str)> {
        let arrays = sort_cpus(arrays);
        self.0.iter().filter(|choice| choice.arrays == arrays).find_map(|choice| {
            let winner = |wanted: &StreamOperation| {
                choice.winners.iter().find(|(operation, _)| operation == wanted).copied()
            };
            let winners = operations.iter().map(winner).collect::<Option<Winners>>()?;
            Some((winners, choice.case.as_str()))
        })
    }

    /// Stores the winners of a case.
    fn add(&mut self, arrays: &StreamConfig, case: &str, winners: &Winners) {
        let (arrays, winners) = (sort_cpus(arrays), winners.clone());
        self.0.push(CaseChoice { arrays, case: case.to_owned(), winners });
    }
}

/// Returns the winners of an earlier case, which the record names; otherwise calls `choose`.
pub(super) fn find_or_choose<'a, 't>(
    (arrays, operations): (&StreamConfig, &[StreamOperation]),
    known: &RefCell<RunCache>,
    recorder: &mut Recorder<'a, 't>,
    choose: impl FnOnce(&mut Recorder<'a, 't>) -> Result<Winners, CaseError>,
) -> Result<Winners, CaseError> {
    if let Some((winners, case)) = known.borrow().chosen_loops.find(arrays, operations) {
        recorder.add_fact(Attribute::KernelChosenIn, case);
        return Ok(winners);
    }
    let began_s = recorder.elapsed_s();
    let winners = choose(recorder)?;
    recorder.exclude_choosing_since(began_s);
    known.borrow_mut().chosen_loops.add(arrays, recorder.case_id(), &winners);
    Ok(winners)
}

/// Allocates and touches the arrays. Reports progress meanwhile, because the touch time is the
/// first evidence of the duration of the run.
pub(super) fn prepare_arrays(
    config: &StreamConfig,
    known: &RefCell<RunCache>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Stream, StreamError> {
    let bytes = 3.0 * config.bytes_per_array as f64;
    let began_s = recorder.elapsed_s();
    Stream::prepare(config, recorder.cancel(), &mut |share| {
        let outlook = &mut known.borrow_mut().forecast;
        outlook.record_touch(share * bytes, recorder.elapsed_s() - began_s);
        recorder.update_forecast(outlook);
    })
}

/// Sorts the CPUs: the order of the threads does not affect which loop is fastest.
fn sort_cpus(arrays: &StreamConfig) -> StreamConfig {
    let mut arrays = arrays.clone();
    arrays.cpus.sort_unstable();
    arrays.source_cpus.sort_unstable();
    arrays
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_winners_of_equal_arrays() {
        let arrays = |cpus: &[usize], bytes_per_array, source_cpus: &[usize]| StreamConfig {
            cpus: cpus.to_vec(),
            bytes_per_array,
            source_cpus: source_cpus.to_vec(),
            source_node: None,
            huge_pages: true,
        };
        let mut chosen = ChosenLoops::default();
        let choice = |name| KernelChoice { name, is_within_noise: false };
        let winners = vec![
            (StreamOperation::Copy, choice("avx2-nt")),
            (StreamOperation::Triad, choice("avx512")),
        ];
        chosen.add(&arrays(&[0, 4], 1 << 20, &[]), "stream-node", &winners);
        for (asked, operations, expected) in [
            (arrays(&[4, 0], 1 << 20, &[]), vec![StreamOperation::Copy], Some("avx2-nt")),
            (
                arrays(&[0, 4], 1 << 20, &[]),
                vec![StreamOperation::Copy, StreamOperation::Add],
                None,
            ),
            (arrays(&[0, 4], 1 << 21, &[]), vec![StreamOperation::Copy], None),
            (arrays(&[0, 5], 1 << 20, &[]), vec![StreamOperation::Copy], None),
            (arrays(&[0, 4], 1 << 20, &[1]), vec![StreamOperation::Copy], None),
        ] {
            let found = chosen.find(&asked, &operations);
            assert_eq!(
                found.as_ref().map(|(winners, _)| winners[0].1.name),
                expected,
                "{asked:?}"
            );
            assert!(found.is_none_or(|(_, case)| case == "stream-node"));
        }
    }
}
