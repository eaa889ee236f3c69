//! Parameters of deduplication: `dedupratio`, `dedupunit`, `dedupsets`.

use super::super::lines::{Lines, SourceSpan};
use super::super::statements::Parameter;
use super::super::values::{self, Number, Scalar};

/// Parameters of deduplication, for all storage or that of one definition.
#[derive(Debug, Clone, Copy)]
pub(in crate::vdbench) struct DuplicateParameters {
    /// Blocks for each different one.
    pub(in crate::vdbench) ratio: Option<f64>,
    /// Number of different blocks that repeat, or their share in percent.
    sets: Option<Number>,
    /// The first parameter.
    pub(in crate::vdbench) spot: SourceSpan,
}

impl DuplicateParameters {
    /// Vdbench's default.
    const SETS: Number = Number { value: 5.0, is_percent: true };

    fn new(spot: SourceSpan) -> Self {
        Self { ratio: None, sets: None, spot }
    }

    /// Returns these parameters, completed by the general ones.
    pub(in crate::vdbench) fn inherit(self, general: Option<Self>) -> Self {
        Self {
            ratio: self.ratio.or_else(|| general?.ratio),
            sets: self.sets.or_else(|| general?.sets),
            spot: self.spot,
        }
    }

    /// Returns the number of different blocks that repeat, or their share in percent.
    pub(in crate::vdbench) fn sets(&self) -> Number {
        self.sets.unwrap_or(Self::SETS)
    }
}

/// Applies `dedupratio` or `dedupsets`; returns false for another keyword.
pub(in crate::vdbench) fn apply(
    all: &mut Option<DuplicateParameters>,
    lines: &mut Lines,
    parameter: &Parameter,
) -> bool {
    let spot = parameter.spot;
    match parameter.keyword.name {
        "dedupratio" => {
            let ratio = values::parse_one_number(lines, parameter);
            if ratio.is_some_and(|ratio| ratio < 1.0) {
                lines.report_error("V123", spot, "a dedupratio is 1 or more");
            }
            all.get_or_insert(DuplicateParameters::new(spot)).ratio = ratio;
        }
        "dedupsets" => {
            let values = values::parse_values(lines, parameter).unwrap_or_default();
            match values.first().map(|it| &it.value) {
                Some(Scalar::Number(sets)) if sets.value > 0.0 => {
                    all.get_or_insert(DuplicateParameters::new(spot)).sets = Some(*sets);
                }
                _ => {
                    lines
                        .report_error("V123", spot, "expected a number of sets above 0")
                        .add_help("write a number, or a percentage like dedupsets=5%");
                }
            }
        }
        _ => return false,
    }
    true
}

/// Parses `dedupunit`, a multiple of 512.
pub(in crate::vdbench) fn parse_unit(lines: &mut Lines, parameter: &Parameter) -> Option<u64> {
    let bytes = values::parse_one_number(lines, parameter)?;
    if bytes < 512.0 || bytes % 512.0 != 0.0 || bytes > MAX_UNIT_BYTES {
        lines
            .report_error("V154", parameter.spot, "a dedupunit is a multiple of 512")
            .add_help(
                "give the size of the blocks that the storage compares, like dedupunit=4k",
            );
        return None;
    }
    Some(bytes as u64)
}

/// Largest unit, as protection against typing errors.
const MAX_UNIT_BYTES: f64 = (1_u64 << 30) as f64;
