//! Figures of a file with their conditions, and their comparison with those of the whole file.

use std::collections::BTreeSet;

use assay_model::attribute::{Attribute, AttributeValue};

use super::super::{ReadFile, decode_text, read};

/// Figure with the numbers among its conditions.
#[derive(Debug, Clone, PartialEq)]
struct Figure {
    benchmark: &'static str,
    metric: &'static str,
    conditions: Vec<(Attribute, f64)>,
    samples: Vec<f64>,
    /// Mean that the tool printed with its samples.
    mean: Option<f64>,
    has_doubt: bool,
}

/// Account of a file, as far as damage can change it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Account {
    figures: Vec<Figure>,
    measurements: usize,
    /// Damaged and left out parts, without their lines.
    named: BTreeSet<String>,
    failed: usize,
    refusal: Option<String>,
    /// Whether a refusal names its line.
    has_place: bool,
}

impl Account {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let text = decode_text(bytes);
        match read(&text) {
            Ok(file) => Self::from_file(&file),
            Err(error) => Self {
                figures: Vec::new(),
                measurements: 0,
                named: BTreeSet::new(),
                failed: 0,
                has_place: error.line().is_some_and(|line| line <= text.lines().count().max(1)),
                refusal: Some(error.to_string()),
            },
        }
    }

    fn from_file(file: &ReadFile) -> Self {
        let contents = &file.contents;
        let mut figures = Vec::new();
        for it in &contents.measurements {
            for one in &it.parsed.values {
                let mut conditions = it.dimensions.clone();
                conditions.extend(it.parsed.dimensions(one));
                let numbers = conditions.iter().filter_map(|(name, value)| match value {
                    AttributeValue::Text(_) => None,
                    value => value.as_number().map(|number| (*name, number)),
                });
                figures.push(Figure {
                    benchmark: it.benchmark.id(),
                    metric: one.metric,
                    conditions: numbers.collect(),
                    samples: one.samples.clone(),
                    mean: one.figures.as_ref().and_then(|it| it.mean),
                    has_doubt: !it.parsed.doubts.is_empty(),
                });
            }
        }
        let left_out = contents.left_out.iter().map(|it| format!("{}: {}", it.what, it.why));
        Self {
            figures,
            measurements: contents.measurements.len(),
            named: left_out.collect(),
            failed: contents.failed.len(),
            refusal: None,
            has_place: true,
        }
    }

    /// Describes the difference from the account of a file with the same contents.
    pub(super) fn describe_difference(&self, other: &Self) -> Option<String> {
        (self != other).then(|| format!("{other:?} differs from {self:?}"))
    }

    /// Describes lost measurements of a file with the same contents twice.
    pub(super) fn describe_loss(&self, twice: &Self) -> Option<String> {
        let is_lost = twice.measurements < self.measurements && twice.failed == 0;
        is_lost.then(|| {
            let Self { measurements, refusal, .. } = twice;
            format!("{measurements} measurements of {}: {refusal:?}", self.measurements)
        })
    }
}

/// Describes a figure that no whole file has, unless a doubt or a part names the damage, or a refusal
/// without a place.
pub(super) fn describe_surplus(whole: &[&Account], damaged: &Account) -> Option<String> {
    if !damaged.has_place {
        return damaged.refusal.as_ref().map(|refusal| format!("no line: {refusal}"));
    }
    // Rows before a failed one are results of their own.
    if whole.iter().any(|it| it.failed > 0 || it.refusal.is_some()) {
        return None;
    }
    let is_named = |it: &String| whole.iter().all(|whole| !whole.named.contains(it));
    if damaged.failed > 0 || damaged.named.iter().any(is_named) {
        return None;
    }
    let is_new = |figure: &&Figure| {
        let mut known = whole.iter().flat_map(|it| &it.figures);
        !figure.has_doubt && !known.any(|known| is_part(figure, known))
    };
    damaged.figures.iter().find(is_new).map(|figure| format!("{figure:?}"))
}

/// Whether a figure of a damaged file belongs to a known one: no condition and no sample differs.
fn is_part(figure: &Figure, known: &Figure) -> bool {
    let is_known = |it: &f64| known.samples.contains(it) || known.mean == Some(*it);
    // A damaged name makes a foreign test, which nothing is compared with.
    let is_test = figure.benchmark == "foreign"
        || (figure.benchmark, figure.metric) == (known.benchmark, known.metric);
    is_test
        && figure.conditions.iter().all(|it| known.conditions.contains(it))
        && figure.samples.iter().all(is_known)
}
