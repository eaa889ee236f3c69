//! Parts of a page and of its source that belong together: tables of one shape, paragraphs with the
//! same figures.

use super::MAX_MATCHED;
use crate::figure::PageNumberFormat;
use crate::page::{LintPage, PageTable, PageText};

/// Pairs the paragraphs of a page and its source: in order, if they have the same figures, otherwise by
/// their figures.
pub(super) fn pair_prose<'p>(
    (page, format): (&'p LintPage, PageNumberFormat),
    (source, source_format): (&'p LintPage, PageNumberFormat),
) -> Vec<(&'p PageText, &'p PageText)> {
    let formats = (format, source_format);
    let pairs = pair_paragraphs(page, source).filter(|pairs| are_parallel(pairs, formats));
    pairs.unwrap_or_else(|| align_paragraphs((page, format), (source, source_format)))
}

/// Pairs the tables of a page and its source: in order, if both have equally many, otherwise those of
/// one shape with the same figures.
pub(super) fn pair_tables<'p>(
    page: &'p LintPage,
    source: &'p LintPage,
    (format, source_format): (PageNumberFormat, PageNumberFormat),
) -> Vec<(&'p PageTable, &'p PageTable)> {
    /// Maximum number of tables that one page may have in excess in one place.
    const LOOK_AHEAD: usize = 8;
    let in_order = page.tables.iter().zip(&source.tables);
    let has_other_rows =
        |(table, other): &(&PageTable, &PageTable)| table.rows.len() != other.rows.len();
    // Two tables of other lengths may be shifted.
    let others = in_order.clone().filter(has_other_rows).count();
    if page.tables.len() == source.tables.len() && others < 2 {
        return in_order.filter(|it| !has_other_rows(it)).collect();
    }
    let shape = |it: &PageTable| -> Vec<usize> { it.rows.iter().map(Vec::len).collect() };
    let values = |table: &PageTable, format: PageNumberFormat| -> UnitValues {
        let figures = table.rows.iter().flatten().flat_map(|cell| &cell.figures);
        figures
            .map(|it| format.possible_values(it).map(f64::to_bits))
            .take(MAX_MATCHED)
            .collect()
    };
    let (mut next, mut pairs) = (0, Vec::new());
    for table in &page.tables {
        let ours = values(table, format);
        let is_pair = |it: &PageTable| {
            shape(it) == shape(table) && share_figures(&ours, &values(it, source_format))
        };
        let candidates = source.tables.iter().skip(next).take(LOOK_AHEAD);
        if let Some((at, other)) = candidates.enumerate().find(|(_, it)| is_pair(it)) {
            pairs.push((table, other));
            next += at + 1;
        }
    }
    pairs
}

/// Pairs the paragraphs of a page and its source in order: all, if both have equally many,
/// otherwise those with figures. `None` if these are not equally many either.
fn pair_paragraphs<'p>(
    page: &'p LintPage,
    source: &'p LintPage,
) -> Option<Vec<(&'p PageText, &'p PageText)>> {
    if page.prose.len() == source.prose.len() {
        return Some(page.prose.iter().zip(&source.prose).collect());
    }
    let (paragraphs, source_paragraphs) =
        (paragraphs_with_figures(page), paragraphs_with_figures(source));
    (paragraphs.len() == source_paragraphs.len())
        .then(|| paragraphs.into_iter().zip(source_paragraphs).collect())
}

/// Returns whether paragraphs that were paired in order have the same figures, except for a few.
fn are_parallel(
    pairs: &[(&PageText, &PageText)],
    (format, source_format): (PageNumberFormat, PageNumberFormat),
) -> bool {
    let (mut different, mut all) = (0, 0);
    for (text, source) in pairs {
        let (ours, theirs) = (unit_values(text, format), unit_values(source, source_format));
        all += usize::from(!theirs.is_empty());
        let are_empty = ours.is_empty() && theirs.is_empty();
        different += usize::from(!are_empty && !share_figures(&ours, &theirs));
    }
    different <= (all * 3 / 10).max(2)
}

/// Possible values of the figures with a unit, as bits.
type UnitValues = Vec<[u64; 2]>;

fn unit_values(text: &PageText, format: PageNumberFormat) -> UnitValues {
    let figures = text.figures.iter().filter(|it| it.unit.is_some());
    figures.map(|it| format.possible_values(it).map(f64::to_bits)).take(MAX_MATCHED).collect()
}

/// Returns whether at least half of the figures are equal, and at least one.
fn share_figures(ours: &UnitValues, theirs: &UnitValues) -> bool {
    let is_equal =
        |it: &&[u64; 2]| theirs.iter().any(|other| it.iter().any(|it| other.contains(it)));
    let equal = ours.iter().filter(is_equal).count();
    equal > 0 && 2 * equal >= ours.len().max(theirs.len())
}

/// Pairs paragraphs with the same figures where their numbers differ. A pair has equally many
/// figures with units, and at least half of them are equal.
fn align_paragraphs<'p>(
    (page, format): (&'p LintPage, PageNumberFormat),
    (source, source_format): (&'p LintPage, PageNumberFormat),
) -> Vec<(&'p PageText, &'p PageText)> {
    /// Maximum number of paragraphs that one page may have in excess in one place.
    const LOOK_AHEAD: usize = 8;
    let values = |page: &'p LintPage, format: PageNumberFormat| -> Vec<NumberedValues> {
        let all = page.prose.iter().enumerate();
        all.map(|(number, text)| (number, unit_values(text, format)))
            .filter(|(_, values)| !values.is_empty())
            .collect()
    };
    let sources = values(source, source_format);
    let (mut next, mut pairs) = (0, Vec::new());
    // Position behind the last pair.
    let (mut here, mut there) = (0, 0);
    for (number, ours) in values(page, format) {
        let is_pair = |(_, theirs): &NumberedValues| {
            ours.len() == theirs.len() && share_figures(&ours, theirs)
        };
        let found = sources.iter().skip(next).take(LOOK_AHEAD).position(is_pair);
        if let Some(at) = found {
            let (partner, _) = sources[next + at];
            let skipped = (&page.prose[here..number], &source.prose[there..partner]);
            pairs.extend(pair_between(skipped, (format, source_format)));
            pairs.push((&page.prose[number], &source.prose[partner]));
            (here, there) = (number + 1, partner + 1);
            next += at + 1;
        }
    }
    pairs.extend(pair_between(
        (&page.prose[here..], &source.prose[there..]),
        (format, source_format),
    ));
    pairs
}

/// Number of a paragraph and its values.
type NumberedValues = (usize, UnitValues);

/// Pairs paragraphs between two known pairs in order, if they are equally many. A pair has almost
/// as many figures.
fn pair_between<'p>(
    (ours, theirs): (&'p [PageText], &'p [PageText]),
    (format, source_format): (PageNumberFormat, PageNumberFormat),
) -> Vec<(&'p PageText, &'p PageText)> {
    if ours.len() != theirs.len() {
        return Vec::new();
    }
    let is_alike = |(text, source): &(&PageText, &PageText)| {
        let (ours, theirs) = (unit_values(text, format), unit_values(source, source_format));
        ours.len().abs_diff(theirs.len()) <= 1
    };
    ours.iter().zip(theirs).filter(is_alike).collect()
}

fn paragraphs_with_figures(page: &LintPage) -> Vec<&PageText> {
    let has_unit = |text: &&PageText| text.figures.iter().any(|it| it.unit.is_some());
    page.prose.iter().filter(has_unit).collect()
}

/// Returns the reason why parts of a page cannot be compared, if any.
pub(super) fn comparison_gap(page: &LintPage, source: &LintPage) -> Option<String> {
    if pair_paragraphs(page, source).is_some() {
        return None;
    }
    let (count, others) =
        (paragraphs_with_figures(page).len(), paragraphs_with_figures(source).len());
    Some(format!(
        "its sentences are not compared: paragraphs with figures are {count} here and {others} in the source"
    ))
}
