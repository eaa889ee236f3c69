//! Checks of the rules with their measured precision, which decides whether their findings are
//! reported without `--all`.
//!
//! Differences from a source have no check: they are facts. docs/lint.md describes the sample and
//! has the table below, and a test compares both.

use serde::Serialize;

use super::Confidence::{self, Certain, Likely};
use super::Rule;

/// Check of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    BitsOfStorage,
    FabricRate,
    LinkRate,
    DiskRate,
    OperationsInBytes,
    SizePerOperation,
    SizeBesideRate,
    SizeOfThroughput,
    EightfoldColumns,
    PrefixOfColumns,
    LostPrefix,
    OtherPrefix,
    Spelling,
    LetterCase,
    Microseconds,
    Genitive,
    Hyphens,
    RepeatedValue,
    TrailingZeros,
    MarkOfLanguage,
    MarkOfMajority,
    MarkWithoutUnit,
    GroupedColumn,
    LineBreak,
    Counter,
    TwoTildes,
    BlankAfterTilde,
    OneDirection,
    DirectionsBehind,
    Transliteration,
    ProductName,
    HeadingSeries,
    MixedWord,
    MixedUnit,
    StatisticOrder,
    PercentileOrder,
    PercentileWords,
    PeakRate,
    LittlesLaw,
    BitsAndBytes,
    Conversion,
    ConversionInBrackets,
    BandwidthFall,
    PercentageOfColumns,
    PercentageOfSentence,
    ProductOfSentence,
    BinaryColumns,
    HeaderRule,
    RuleOfOneColumn,
}

/// Check with the findings that it had on public pages with which it was not corrected. Several
/// findings of one check on one page count once, and are right if all of them are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MeasuredCheck {
    /// Stable name.
    #[serde(rename = "check")]
    pub name: &'static str,
    /// Number of right findings.
    pub right: u32,
    /// Number of all findings.
    pub judged: u32,
    /// Number of pages.
    pub pages: u32,
    /// Rule that the check belongs to.
    #[serde(skip)]
    pub rule: Rule,
    /// Description of its findings.
    #[serde(skip)]
    pub about: &'static str,
    #[serde(skip)]
    check: Check,
    /// Confidence if the precision suffices.
    #[serde(skip)]
    evidence: Confidence,
}

/// Minimum number of findings that show a precision.
const MIN_JUDGED: u32 = 10;
/// Minimum number of pages without a false finding: on fewer than 1 in 200 pages is one false, at 95 %
/// (rule of three, 3 / n: Hanley and Lippman-Hand, JAMA 249, 1983).
const MIN_PAGES: u32 = 600;

impl MeasuredCheck {
    /// Returns whether the check reports without `--all`: if 9 of 10 findings were right, or of
    /// fewer than ten all, on enough pages.
    pub const fn is_precise(&self) -> bool {
        match self.judged {
            MIN_JUDGED.. => 10 * self.right >= 9 * self.judged,
            _ => self.right == self.judged && self.pages >= MIN_PAGES,
        }
    }

    /// Returns the confidence of a finding.
    pub(super) const fn confidence(&self) -> Confidence {
        if self.is_precise() { self.evidence } else { Confidence::Possible }
    }
}

impl Check {
    /// Returns the check with its measurements.
    pub(super) fn measured(self) -> &'static MeasuredCheck {
        &MEASURED_CHECKS[self as usize]
    }
}

/// Returns a check with its measurements: right findings, all findings, pages.
const fn row(
    check: Check,
    rule: Rule,
    evidence: Confidence,
    (name, about): (&'static str, &'static str),
    [right, judged, pages]: [u32; 3],
) -> MeasuredCheck {
    MeasuredCheck { name, right, judged, pages, rule, about, check, evidence }
}

/// All checks, in the order of [`Check`].
pub static MEASURED_CHECKS: [MeasuredCheck; 49] = [
    row(
        Check::BitsOfStorage,
        Rule::WrongUnit,
        Likely,
        ("bits-of-storage", "bits for a benchmark of memory or storage"),
        [0, 0, 4360],
    ),
    row(
        Check::FabricRate,
        Rule::WrongUnit,
        Likely,
        ("fabric-rate", "bytes with the digits of a link in bits, in the row of a fabric"),
        [0, 0, 4360],
    ),
    row(
        Check::LinkRate,
        Rule::WrongUnit,
        Likely,
        ("link-rate", "a rate above the link that its sentence names"),
        [0, 0, 4360],
    ),
    row(
        Check::DiskRate,
        Rule::Impossible,
        Likely,
        ("disk-rate", "a measured rate above that of the disk that its sentence names"),
        [0, 0, 1898],
    ),
    row(
        Check::OperationsInBytes,
        Rule::WrongUnit,
        Likely,
        ("operations-in-bytes", "a number of operations in kilobytes"),
        [0, 0, 4360],
    ),
    row(
        Check::SizePerOperation,
        Rule::WrongUnit,
        Likely,
        ("size-per-operation", "`MB/writes` for a rate"),
        [0, 0, 4360],
    ),
    row(
        Check::SizeBesideRate,
        Rule::WrongUnit,
        Likely,
        ("size-beside-rate", "a size beside a rate of the same prefix"),
        [0, 0, 4360],
    ),
    row(
        Check::SizeOfThroughput,
        Rule::WrongUnit,
        Likely,
        ("size-of-throughput", "a size for a throughput"),
        [0, 0, 4360],
    ),
    row(
        Check::EightfoldColumns,
        Rule::WrongUnit,
        Certain,
        ("eightfold-columns", "two columns in one unit, one of which is 8 times the other"),
        [0, 0, 4360],
    ),
    row(
        Check::PrefixOfColumns,
        Rule::WrongUnit,
        Likely,
        ("prefix-of-columns", "equal columns in decimal and binary units"),
        [0, 0, 4360],
    ),
    row(
        Check::LostPrefix,
        Rule::WrongUnit,
        Likely,
        ("lost-prefix", "a number without the prefix of its column"),
        [0, 0, 4360],
    ),
    row(
        Check::OtherPrefix,
        Rule::WrongUnit,
        Likely,
        ("other-prefix", "a prefix that no other figure of the column has"),
        [0, 0, 4360],
    ),
    row(
        Check::Spelling,
        Rule::UnitSpelling,
        Likely,
        ("spelling", "`GiB / s`, `Gbits/s`"),
        [40, 40, 4360],
    ),
    row(
        Check::LetterCase,
        Rule::UnitSpelling,
        Likely,
        ("letter-case", "`Gb/s` beside `GB/s` in one cell"),
        [0, 0, 4360],
    ),
    row(
        Check::Microseconds,
        Rule::UnitSpelling,
        Likely,
        ("microseconds", "`usec` beside another spelling"),
        [0, 0, 4360],
    ),
    row(
        Check::Genitive,
        Rule::UnitSpelling,
        Likely,
        ("genitive", "a Russian plural behind a fraction"),
        [0, 0, 4360],
    ),
    row(
        Check::Hyphens,
        Rule::UnitSpelling,
        Likely,
        ("hyphens", "`8-KiB` beside `8 KiB`"),
        [3, 3, 1575],
    ),
    row(
        Check::RepeatedValue,
        Rule::Digits,
        Likely,
        ("repeated-value", "a sentence with another value than its row of a table"),
        [0, 0, 4360],
    ),
    row(
        Check::TrailingZeros,
        Rule::Precision,
        Likely,
        ("trailing-zeros", "one number among decimals"),
        [0, 0, 4360],
    ),
    row(
        Check::MarkOfLanguage,
        Rule::DecimalMark,
        Certain,
        ("mark-of-language", "the decimal mark of another language than the page declares"),
        [12, 13, 883],
    ),
    row(
        Check::MarkOfMajority,
        Rule::DecimalMark,
        Likely,
        ("mark-of-majority", "another decimal mark than most figures have"),
        [1, 1, 2462],
    ),
    row(
        Check::MarkWithoutUnit,
        Rule::DecimalMark,
        Likely,
        ("mark-without-unit", "the same for numbers without a unit"),
        [0, 1, 633],
    ),
    row(
        Check::GroupedColumn,
        Rule::Grouping,
        Likely,
        ("grouped-column", "digits grouped in one cell of a column, and not in another"),
        [10, 10, 4360],
    ),
    row(
        Check::LineBreak,
        Rule::Grouping,
        Likely,
        ("line-break", "digits grouped by a blank where a line may break"),
        [9, 9, 4360],
    ),
    row(
        Check::Counter,
        Rule::Qualifier,
        Likely,
        ("counter", "a Korean counter between a number and its unit"),
        [0, 0, 4360],
    ),
    row(
        Check::TwoTildes,
        Rule::Qualifier,
        Likely,
        ("two-tildes", "two figures with `~` and nothing between them"),
        [0, 0, 883],
    ),
    row(
        Check::BlankAfterTilde,
        Rule::Qualifier,
        Likely,
        ("blank-after-tilde", "a blank between `~` and its number"),
        [6, 6, 883],
    ),
    row(
        Check::OneDirection,
        Rule::Direction,
        Likely,
        ("one-direction", "two rates, one of which has a direction"),
        [0, 0, 1575],
    ),
    row(
        Check::DirectionsBehind,
        Rule::Direction,
        Likely,
        ("directions-behind", "both directions behind the second rate"),
        [0, 0, 4360],
    ),
    row(
        Check::Transliteration,
        Rule::Name,
        Likely,
        ("transliteration", "a name in Cyrillic letters"),
        [1, 1, 4360],
    ),
    row(
        Check::ProductName,
        Rule::Name,
        Likely,
        ("product-name", "words of a product apart"),
        [0, 0, 4360],
    ),
    row(
        Check::HeadingSeries,
        Rule::Name,
        Likely,
        ("heading-series", "a heading of another series than the title"),
        [0, 0, 4360],
    ),
    row(
        Check::MixedWord,
        Rule::MixedScripts,
        Likely,
        ("mixed-word", "Latin and Cyrillic letters in one word"),
        [14, 14, 4360],
    ),
    row(
        Check::MixedUnit,
        Rule::MixedScripts,
        Likely,
        ("mixed-unit", "`ГБ/c` with a Latin letter"),
        [0, 0, 4360],
    ),
    row(
        Check::StatisticOrder,
        Rule::Impossible,
        Certain,
        ("statistic-order", "min > mean, mean > max, p99 below the median, in a table"),
        [0, 0, 2462],
    ),
    row(
        Check::PercentileOrder,
        Rule::Impossible,
        Likely,
        ("percentile-order", "percentiles of a sentence out of order"),
        [0, 0, 4360],
    ),
    row(
        Check::PercentileWords,
        Rule::Impossible,
        Likely,
        ("percentile-words", "the same with a verb: `the p50 is 3 ms, the p99 is 2 ms`"),
        [0, 0, 803],
    ),
    row(
        Check::PeakRate,
        Rule::Impossible,
        Certain,
        ("peak-rate", "Rmax above Rpeak"),
        [0, 0, 4360],
    ),
    row(
        Check::LittlesLaw,
        Rule::Impossible,
        Likely,
        ("littles-law", "a rate and a latency that need more in flight than there are"),
        [0, 0, 4360],
    ),
    row(
        Check::BitsAndBytes,
        Rule::Impossible,
        Certain,
        ("bits-and-bytes", "a column in bits that is not 8 times the one in bytes"),
        [0, 0, 4360],
    ),
    row(
        Check::Conversion,
        Rule::Impossible,
        Certain,
        ("conversion", "`757,820.9 MB/s = ~740 GB/s`"),
        [0, 0, 2462],
    ),
    row(
        Check::ConversionInBrackets,
        Rule::Impossible,
        Likely,
        ("conversion-in-brackets", "the same in brackets"),
        [1, 5, 1547],
    ),
    row(
        Check::BandwidthFall,
        Rule::Impossible,
        Likely,
        ("bandwidth-fall", "one fall of bandwidth with the size of a message"),
        [0, 0, 4360],
    ),
    row(
        Check::PercentageOfColumns,
        Rule::Impossible,
        Likely,
        ("percentage-of-columns", "a percentage that does not follow from its row"),
        [0, 0, 2462],
    ),
    row(
        Check::PercentageOfSentence,
        Rule::Impossible,
        Likely,
        ("percentage-of-sentence", "a percentage that does not follow from its sentence"),
        [0, 0, 1898],
    ),
    row(
        Check::ProductOfSentence,
        Rule::Impossible,
        Likely,
        (
            "product-of-sentence",
            "a rate that does not follow from the size and the count, or the time, of its sentence",
        ),
        [0, 0, 803],
    ),
    row(
        Check::BinaryColumns,
        Rule::Impossible,
        Certain,
        ("binary-columns", "a row of equal columns in decimal and binary units that differ"),
        [0, 0, 4360],
    ),
    row(
        Check::HeaderRule,
        Rule::Table,
        Certain,
        ("header-rule", "a heading with another number of columns than its rule"),
        [36, 36, 2462],
    ),
    row(
        Check::RuleOfOneColumn,
        Rule::Table,
        Likely,
        ("rule-of-one-column", "the same for a rule of one column"),
        [2, 3, 633],
    ),
];

const _: () = assert!(Check::RuleOfOneColumn as usize + 1 == MEASURED_CHECKS.len());

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_check_has_its_row_and_name() {
        for (at, row) in MEASURED_CHECKS.iter().enumerate() {
            assert_eq!(row.check as usize, at, "{}", row.name);
        }
        let names: BTreeSet<&str> = MEASURED_CHECKS.iter().map(|it| it.name).collect();
        assert_eq!(names.len(), MEASURED_CHECKS.len());
    }

    #[test]
    fn few_findings_need_many_pages_without_a_false_one() {
        for (measured, expected) in [
            ([9, 10, 100], true),
            ([89, 100, 9000], false),
            ([0, 0, 600], true),
            ([0, 0, 599], false),
            ([5, 5, 600], true),
            ([8, 9, 9000], false),
        ] {
            let check = Check::StatisticOrder;
            let it = row(check, Rule::Impossible, Certain, ("a", "b"), measured);
            assert_eq!(it.is_precise(), expected, "{measured:?}");
            let confidence = if expected { Certain } else { Confidence::Possible };
            assert_eq!(it.confidence(), confidence, "{measured:?}");
        }
    }
}
