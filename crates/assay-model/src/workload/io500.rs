//! IO500: its phases with their parameters, its score and its rules.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Bytes of a transfer of ior-easy, of which the size of a task is a multiple.
pub const IOR_EASY_TRANSFER: u64 = 2 << 20;
/// Seconds that each write phase of a valid run takes at least.
pub const VALID_STONEWALL_S: u32 = 300;

/// All phases of a run, in the folder that assay creates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Io500Workload {
    /// Existing folder that contains the created one.
    #[serde(with = "crate::path_text")]
    pub folder: PathBuf,
    /// Number of tasks, which are threads.
    pub tasks: u32,
    /// Seconds after which a write phase ends.
    pub stonewall_s: u32,
    /// Maximum bytes that a task writes in ior-easy.
    pub ior_easy_bytes: u64,
    /// Maximum transfers of a task in ior-hard.
    pub ior_hard_segments: u64,
    /// Maximum files of a task in mdtest-easy.
    pub mdtest_easy_files: u64,
    /// Maximum files of a task in mdtest-hard.
    pub mdtest_hard_files: u64,
    /// Seed of the data.
    pub seed: u64,
}

impl Io500Workload {
    /// Minimum seconds of a run: the write phases.
    pub fn min_duration_s(&self) -> f64 {
        let writes = Io500Phase::ALL.into_iter().filter(|phase| phase.is_write()).count();
        writes as f64 * f64::from(self.stonewall_s)
    }
}

/// Scored phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Io500Phase {
    IorEasyWrite,
    MdtestEasyWrite,
    IorHardWrite,
    MdtestHardWrite,
    Find,
    IorEasyRead,
    MdtestEasyQuery,
    IorHardRead,
    MdtestHardQuery,
    MdtestEasyDelete,
    MdtestHardRead,
    MdtestHardDelete,
}

impl Io500Phase {
    /// The scored phases of the standard set, in order.
    pub const ALL: [Self; 12] = [
        Self::IorEasyWrite,
        Self::MdtestEasyWrite,
        Self::IorHardWrite,
        Self::MdtestHardWrite,
        Self::Find,
        Self::IorEasyRead,
        Self::MdtestEasyQuery,
        Self::IorHardRead,
        Self::MdtestHardQuery,
        Self::MdtestEasyDelete,
        Self::MdtestHardRead,
        Self::MdtestHardDelete,
    ];

    /// Returns the name in IO500's output, which is the dimension `phase` of its results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IorEasyWrite => "ior-easy-write",
            Self::MdtestEasyWrite => "mdtest-easy-write",
            Self::IorHardWrite => "ior-hard-write",
            Self::MdtestHardWrite => "mdtest-hard-write",
            Self::Find => "find",
            Self::IorEasyRead => "ior-easy-read",
            Self::MdtestEasyQuery => "mdtest-easy-stat",
            Self::IorHardRead => "ior-hard-read",
            Self::MdtestHardQuery => "mdtest-hard-stat",
            Self::MdtestEasyDelete => "mdtest-easy-delete",
            Self::MdtestHardRead => "mdtest-hard-read",
            Self::MdtestHardDelete => "mdtest-hard-delete",
        }
    }

    /// Finds a phase by its name.
    pub fn find_by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }

    /// Whether its result is a bandwidth; otherwise it is a rate of operations.
    pub const fn is_bandwidth(self) -> bool {
        match self {
            Self::IorEasyWrite | Self::IorHardWrite | Self::IorEasyRead | Self::IorHardRead => {
                true
            }
            Self::MdtestEasyWrite
            | Self::MdtestHardWrite
            | Self::Find
            | Self::MdtestEasyQuery
            | Self::MdtestHardQuery
            | Self::MdtestEasyDelete
            | Self::MdtestHardRead
            | Self::MdtestHardDelete => false,
        }
    }

    /// Whether it writes until the stonewall.
    pub const fn is_write(self) -> bool {
        match self {
            Self::IorEasyWrite
            | Self::MdtestEasyWrite
            | Self::IorHardWrite
            | Self::MdtestHardWrite => true,
            Self::Find
            | Self::IorEasyRead
            | Self::MdtestEasyQuery
            | Self::IorHardRead
            | Self::MdtestHardQuery
            | Self::MdtestEasyDelete
            | Self::MdtestHardRead
            | Self::MdtestHardDelete => false,
        }
    }
}

/// Result of a phase, in base units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Io500Result {
    /// Its phase.
    pub phase: Io500Phase,
    /// B/s, or operations per second.
    pub value: f64,
    /// Seconds of the phase, if known.
    pub seconds: Option<f64>,
}

/// Score of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Io500Score {
    /// Geometric mean of the bandwidths, in GiB/s.
    pub gib_per_s: f64,
    /// Geometric mean of the rates, in thousands of operations per second.
    pub kilo_ops_per_s: f64,
}

impl Io500Score {
    /// Relative difference of a score that rounding of the phases explains.
    pub const TOLERANCE: f64 = 2e-3;

    /// Calculates the score; `None` if a phase has no result.
    pub fn from_results(results: &[Io500Result]) -> Option<Self> {
        let has =
            |phase: Io500Phase| results.iter().any(|it| it.phase == phase && it.value > 0.0);
        if !Io500Phase::ALL.into_iter().all(has) {
            return None;
        }
        let values = |is_bandwidth: bool, unit: f64| {
            let of_group = results.iter().filter(|it| it.phase.is_bandwidth() == is_bandwidth);
            geometric_mean(of_group.map(|it| it.value / unit))
        };
        Some(Self { gib_per_s: values(true, GIBI), kilo_ops_per_s: values(false, 1e3) })
    }

    /// Returns the total: the geometric mean of both.
    pub fn total(&self) -> f64 {
        (self.gib_per_s * self.kilo_ops_per_s).sqrt()
    }
}

/// Bytes of a GiB.
pub const GIBI: f64 = 1_073_741_824.0;

/// Returns the geometric mean of at least one value.
fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, logarithms) =
        values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value.ln()));
    (logarithms / f64::from(count)).exp()
}

/// Broken rule of IO500, which makes a run invalid.
#[derive(Debug, Clone, PartialEq)]
pub enum BrokenIo500Rule {
    /// The stonewall is below 300 s.
    Stonewall { seconds: f64 },
    /// A write phase took less than 300 s.
    ShortWrite { phase: Io500Phase, seconds: f64 },
    /// Phases have no result.
    NoResult { phases: Vec<Io500Phase> },
    /// The find phase found no file.
    NothingFound,
}

impl BrokenIo500Rule {
    /// Checks the results of a run; the stonewall and the number of found files are checked if
    /// they are known.
    pub fn check(
        results: &[Io500Result],
        stonewall_s: Option<f64>,
        found_files: Option<f64>,
    ) -> Vec<Self> {
        let least_s = f64::from(VALID_STONEWALL_S);
        let stonewall = stonewall_s.filter(|seconds| *seconds < least_s);
        let mut broken: Vec<Self> =
            stonewall.into_iter().map(|seconds| Self::Stonewall { seconds }).collect();
        let mut phases = Vec::new();
        for phase in Io500Phase::ALL {
            let result = results.iter().find(|it| it.phase == phase && it.value > 0.0);
            let Some(result) = result else {
                phases.push(phase);
                continue;
            };
            let short = result.seconds.filter(|it| phase.is_write() && *it < least_s);
            broken.extend(short.map(|seconds| Self::ShortWrite { phase, seconds }));
        }
        if !phases.is_empty() {
            broken.push(Self::NoResult { phases });
        }
        if found_files.is_some_and(|files| files < 1.0) {
            broken.push(Self::NothingFound);
        }
        broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &str, value: f64, seconds: f64) -> Io500Result {
        let phase = Io500Phase::find_by_name(name).unwrap();
        let unit = if phase.is_bandwidth() { GIBI } else { 1e3 };
        Io500Result { phase, value: value * unit, seconds: Some(seconds) }
    }

    /// The example in the README of IO500, whose writes took less than 2 s.
    fn published() -> Vec<Io500Result> {
        [
            ("ior-easy-write", 0.186620, 0.027),
            ("mdtest-easy-write", 103.300821, 1.121),
            ("ior-hard-write", 0.001313, 0.067),
            ("mdtest-hard-write", 58.939081, 1.021),
            ("find", 1486.435084, 0.118),
            ("ior-easy-read", 1.575557, 0.005),
            ("mdtest-easy-stat", 839.392805, 0.138),
            ("ior-hard-read", 2.272671, 0.000),
            ("mdtest-hard-stat", 1212.558124, 0.050),
            ("mdtest-easy-delete", 160.765642, 0.753),
            ("mdtest-hard-read", 275.011939, 0.219),
            ("mdtest-hard-delete", 132.015851, 0.474),
        ]
        .map(|(name, value, seconds)| result(name, value, seconds))
        .to_vec()
    }

    #[test]
    fn score_is_the_published_one() {
        let score = Io500Score::from_results(&published()).unwrap();
        // Printed: 0.172092 GB/s, 292.625029 kiops, 7.096374; the inputs have six decimals.
        for (value, printed) in [
            (score.gib_per_s, 0.172092),
            (score.kilo_ops_per_s, 292.625029),
            (score.total(), 7.096374),
        ] {
            assert!((value / printed - 1.0).abs() < 2e-4, "{value} {printed}");
        }
    }

    #[test]
    fn score_of_simple_numbers() {
        // ⁴√(4 × 4) GiB/s, and ⁸√(10⁸) kiops; the other phases have 1.
        let mut results: Vec<Io500Result> =
            Io500Phase::ALL.map(|phase| result(phase.name(), 1.0, 300.0)).to_vec();
        for (name, value) in [("ior-hard-write", 4.0), ("ior-hard-read", 4.0), ("find", 1e8)] {
            let phase = Io500Phase::find_by_name(name).unwrap();
            let at = results.iter().position(|it| it.phase == phase).unwrap();
            results[at] = result(name, value, 300.0);
        }
        let score = Io500Score::from_results(&results).unwrap();
        for (value, expected) in [
            (score.gib_per_s, 2.0),
            (score.kilo_ops_per_s, 10.0),
            (score.total(), 20_f64.sqrt()),
        ] {
            assert!((value / expected - 1.0).abs() < 1e-12, "{value} {expected}");
        }
    }

    #[test]
    fn run_without_a_phase_has_no_score() {
        let whole: Vec<Io500Result> =
            Io500Phase::ALL.map(|phase| result(phase.name(), 1.0, 300.0)).to_vec();
        for at in 0..whole.len() {
            let mut missing = whole.clone();
            missing[at].value = 0.0;
            assert_eq!(Io500Score::from_results(&missing), None);
            missing.remove(at);
            assert_eq!(Io500Score::from_results(&missing), None);
        }
    }

    #[test]
    fn rules_name_what_they_miss() {
        use Io500Phase::{IorEasyWrite, MdtestHardRead};
        let mut results: Vec<Io500Result> =
            Io500Phase::ALL.map(|phase| result(phase.name(), 1.0, 300.5)).to_vec();
        let check = BrokenIo500Rule::check;
        assert_eq!(check(&results, Some(300.0), Some(1.0)), []);
        assert_eq!(check(&results, None, None), []);
        assert_eq!(
            check(&results, Some(5.0), Some(0.0)),
            [BrokenIo500Rule::Stonewall { seconds: 5.0 }, BrokenIo500Rule::NothingFound]
        );
        results[0].seconds = Some(299.9);
        results.retain(|it| it.phase != MdtestHardRead);
        assert_eq!(
            check(&results, Some(300.0), Some(1.0)),
            [
                BrokenIo500Rule::ShortWrite { phase: IorEasyWrite, seconds: 299.9 },
                BrokenIo500Rule::NoResult { phases: vec![MdtestHardRead] },
            ]
        );
        let published = check(&published(), None, None);
        assert_eq!(published.len(), 4, "all write phases: {published:?}");
    }
}
