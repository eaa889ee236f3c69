//! Which loops of STREAM were the fastest, for all cases of a run that walk arrays of one size on the same CPUs.
//!
//! Never chooses; who does, hands in what won and under which case.

use assay_kernels::memory::stream::{Operation, StreamConfig};
use assay_model::attribute::Attribute;

use crate::recorder::Recorder;

/// The loop that won, for each operation that was asked.
pub(super) type Winners = Vec<(Operation, &'static str)>;

/// What won so far, and where.
#[derive(Debug, Default)]
pub(crate) struct ChosenLoops {
    all: Vec<Choice>,
    /// The longest choice that was announced.
    foretold_s: f64,
}

/// What one case has found out.
#[derive(Debug)]
struct Choice {
    arrays: StreamConfig,
    case: String,
    winners: Winners,
}

impl ChosenLoops {
    /// What won on these arrays for all these operations, and in which case.
    fn find(&self, arrays: &StreamConfig, operations: &[Operation]) -> Option<(Winners, &str)> {
        let arrays = sorted(arrays);
        self.all.iter().filter(|choice| choice.arrays == arrays).find_map(|choice| {
            let winner = |wanted: &Operation| {
                choice.winners.iter().find(|(operation, _)| operation == wanted).copied()
            };
            let winners = operations.iter().map(winner).collect::<Option<Winners>>()?;
            Some((winners, choice.case.as_str()))
        })
    }

    /// The same for a case that takes it over and says where from.
    pub(super) fn take_over(
        &self,
        arrays: &StreamConfig,
        operations: &[Operation],
        recorder: &mut Recorder<'_, '_>,
    ) -> Option<Winners> {
        let (winners, case) = self.find(arrays, operations)?;
        recorder.learn(Attribute::KernelChosenIn, case);
        Some(winners)
    }

    /// A case has chosen.
    pub(super) fn add(&mut self, arrays: &StreamConfig, case: &str, winners: &Winners) {
        let (arrays, winners) = (sorted(arrays), winners.clone());
        self.all.push(Choice { arrays, case: case.to_owned(), winners });
    }

    /// Whether it is worth a word that choosing takes so long: not again where it was said of a choice like that.
    pub(super) fn is_news(&mut self, choosing_s: f64) -> bool {
        let is_news = choosing_s > 2.0 * self.foretold_s;
        if is_news {
            self.foretold_s = choosing_s;
        }
        is_news
    }
}

/// Which thread comes first makes no difference to what is fastest.
fn sorted(arrays: &StreamConfig) -> StreamConfig {
    let mut arrays = arrays.clone();
    arrays.cpus.sort_unstable();
    arrays.source_cpus.sort_unstable();
    arrays
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_question_has_the_same_answer() {
        let arrays = |cpus: &[usize], bytes_per_array, source_cpus: &[usize]| StreamConfig {
            cpus: cpus.to_vec(),
            bytes_per_array,
            source_cpus: source_cpus.to_vec(),
            huge_pages: true,
        };
        let mut chosen = ChosenLoops::default();
        let winners = vec![(Operation::Copy, "avx2-nt"), (Operation::Triad, "avx512")];
        chosen.add(&arrays(&[0, 4], 1 << 20, &[]), "stream-node", &winners);
        for (asked, operations, expected) in [
            (arrays(&[4, 0], 1 << 20, &[]), vec![Operation::Copy], Some("avx2-nt")),
            (arrays(&[0, 4], 1 << 20, &[]), vec![Operation::Copy, Operation::Add], None),
            (arrays(&[0, 4], 1 << 21, &[]), vec![Operation::Copy], None),
            (arrays(&[0, 5], 1 << 20, &[]), vec![Operation::Copy], None),
            (arrays(&[0, 4], 1 << 20, &[1]), vec![Operation::Copy], None),
        ] {
            let found = chosen.find(&asked, &operations);
            assert_eq!(found.as_ref().map(|(winners, _)| winners[0].1), expected, "{asked:?}");
            assert!(found.is_none_or(|(_, case)| case == "stream-node"));
        }
    }

    #[test]
    fn what_takes_long_is_said_once() {
        let mut chosen = ChosenLoops::default();
        let said = [4.0, 5.0, 8.0, 9.0, 18.0].map(|choosing_s| chosen.is_news(choosing_s));
        assert_eq!(said, [true, false, false, true, false]);
    }
}
