//! Sentences that equate a rate with the product of their other figures: a size of I/O and a rate of I/O,
//! or an amount of data and a time.

use assay_model::quantity::Unit;

use super::checks::Check;
use super::words::{NO_ENDING, has_any_word};
use super::{Linter, page_span};
use crate::figure::PrintedFigure;
use crate::page::PageText;
use crate::steps;

/// Words that equate the figures around them, in lower case.
const EQUATIONS: [&str; 37] = [
    "=",
    "≈",
    "that is",
    "that's",
    "which is",
    "this is",
    "i.e.",
    "i.e.,",
    "equals",
    "equal to",
    "equivalent to",
    "corresponds to",
    "das ist",
    "das sind",
    "d. h.",
    "d.h.",
    "entspricht",
    "soit",
    "c’est-à-dire",
    "c'est-à-dire",
    "ce qui correspond à",
    "es decir",
    "equivale a",
    "lo que equivale a",
    "tedy",
    "což je",
    "tj.",
    "то есть",
    "т. е.",
    "что составляет",
    "即",
    "相当于",
    "つまり",
    "すなわち",
    "즉",
    "cioè",
    "ou seja",
];
/// Words that begin a relative clause, too, unless they are behind a mark of [`CLAUSE_MARKS`].
const RELATIVE: [&str; 4] = ["that is", "that's", "which is", "this is"];
const CLAUSE_MARKS: [char; 6] = [',', '–', '—', '-', ':', '('];
/// Whole words with which a rate is that of a part, or of several.
const OTHER_SHARES: [&str; 44] = [
    "each",
    "per",
    "every",
    "total",
    "totals",
    "totally",
    "aggregate",
    "aggregated",
    "together",
    "combined",
    "overall",
    "both",
    "x",
    "copies",
    "raid",
    "amplification",
    "two",
    "three",
    "four",
    "five",
    "six",
    "eight",
    "ten",
    "several",
    "many",
    "multiple",
    "twice",
    "double",
    "doubled",
    "half",
    "times",
    "jeweils",
    "pro",
    "zwei",
    "drei",
    "vier",
    "mehrere",
    "chaque",
    "par",
    "deux",
    "trois",
    "cada",
    "dos",
    "tres",
];
/// Parts of such words.
const SHARE_PARTS: [&str; 8] =
    ["×", "replica", "replik", "répli", "mirror", "gesamt", "каждо", "每"];
/// Marks that end a sentence or a clause of its own.
const ENDS: [&str; 7] = [". ", "; ", "? ", "! ", "。", "；", "\n\n"];
/// Maximum ratio of a rate to the product that roundings and powers of 1000 and 1024 explain.
const MAX_RATIO: f64 = 1.15;
/// Marks of "about" and of emphasis before a figure.
const BEFORE_FIGURE: [char; 6] = [' ', '\u{a0}', '~', '≈', '*', ':'];

/// Quantity that follows from the two others of a sentence.
struct Product<'f> {
    rate: &'f PrintedFigure,
    /// Expected rates in B/s, of all readings of the figures.
    expected: Vec<f64>,
}

/// Reports `4 KiB reads at 100,000 IOPS, that is 2 GB/s`, and `100 GB in 10 s, that is 5 GB/s`.
pub(super) fn check_sentence(lint: &mut Linter<'_>, text: &PageText) {
    for (at, figures) in text.figures.windows(3).enumerate() {
        let [first, second, third] = figures else { continue };
        let others = text.figures[..at].iter().chain(&text.figures[at + 3..]);
        let Some(product) = product(lint, figures) else { continue };
        let (start, end) = sentence(&text.text, first.number_span.0, third.number_span.1);
        let is_alone = !others.into_iter().any(|it| (start..end).contains(&it.number_span.0));
        let sentence = text.text[start..end].to_lowercase();
        let between = text.text.get(figure_end(second)..third.number_span.0);
        let crosses_end =
            |it: &&str| text.text[first.number_span.1..third.number_span.0].contains(*it);
        if !is_alone
            || ENDS.iter().any(crosses_end)
            || !between.is_some_and(is_equation)
            || has_any_word(&sentence, &OTHER_SHARES, NO_ENDING)
            || SHARE_PARTS.iter().any(|part| sentence.contains(part))
        {
            continue;
        }
        report(lint, text, &product);
    }
}

fn figure_end(figure: &PrintedFigure) -> usize {
    figure.unit.as_ref().map_or(0, |unit| unit.span.1).max(figure.number_span.1)
}

/// Whether words between two figures end with those that equate them.
fn is_equation(between: &str) -> bool {
    /// Maximum length of words between two figures of one statement.
    const LONGEST: usize = 80;
    let words = between.trim_end_matches(BEFORE_FIGURE);
    let words = ["about", "approximately", "roughly", "etwa", "environ", "около", "约"]
        .iter()
        .find_map(|about| words.strip_suffix(about))
        .unwrap_or(words);
    let words = words.trim_end_matches(BEFORE_FIGURE).to_lowercase();
    let is_word = |word: &&&str| {
        let before = words.strip_suffix(**word);
        before.is_some_and(|it| match RELATIVE.contains(*word) {
            true => it.trim_end_matches(char::is_whitespace).ends_with(CLAUSE_MARKS),
            false => {
                !word.starts_with(char::is_alphabetic) || !it.ends_with(char::is_alphabetic)
            }
        })
    };
    between.len() <= LONGEST && EQUATIONS.iter().find(is_word).is_some()
}

/// Returns the span of the sentence around some of its figures.
fn sentence(text: &str, first: usize, last: usize) -> (usize, usize) {
    steps::count(text.len());
    let before = &text[..first];
    let start = ENDS.iter().filter_map(|end| Some(before.rfind(end)? + end.len())).max();
    let behind = &text[last..];
    let end = ENDS.iter().filter_map(|end| behind.find(end)).min();
    (start.unwrap_or(0), end.map_or(text.len(), |it| last + it))
}

/// Returns the rate of three figures and the product of the two others; `None` if they are no size, rate
/// of I/O and rate of bytes, or no amount, time and rate.
fn product<'f>(lint: &Linter<'_>, figures: &'f [PrintedFigure]) -> Option<Product<'f>> {
    let find = |wanted: &[Unit]| {
        let is_one = |it: &&PrintedFigure| {
            it.unit.as_ref().is_some_and(|unit| wanted.contains(&unit.unit))
        };
        figures.iter().find(is_one)
    };
    let values = |it: &PrintedFigure| {
        let factor = it.unit.as_ref().map_or(1.0, |unit| unit.factor);
        lint.number_format.possible_values(it).map(|value| value * factor)
    };
    let rate = find(&[Unit::BytePerSecond, Unit::BitPerSecond])?;
    let bytes = values(find(&[Unit::Byte])?);
    let expected = match (find(&[Unit::IoPerSecond]), find(&[Unit::Second])) {
        (Some(operations), _) => {
            let per_second = values(operations);
            bytes.iter().flat_map(|size| per_second.map(|it| size * it)).collect()
        }
        (None, Some(time)) => {
            let seconds = values(time);
            bytes.iter().flat_map(|amount| seconds.map(|it| amount / it)).collect()
        }
        (None, None) => return None,
    };
    Some(Product { rate, expected })
}

fn report(lint: &mut Linter<'_>, text: &PageText, Product { rate, expected }: &Product<'_>) {
    let Some(unit) = &rate.unit else { return };
    let per_byte = if unit.unit == Unit::BitPerSecond { 8.0 } else { 1.0 };
    let found = lint.number_format.possible_values(rate).map(|it| it * unit.factor / per_byte);
    let is_near = |expected: &f64| {
        let rounding = 1.0 + 2.0 * rate.relative_rounding();
        found.iter().any(|it| {
            let ratio = it / expected;
            ratio.is_finite() && ratio.max(1.0 / ratio) <= MAX_RATIO * rounding
        })
    };
    if expected.iter().any(is_near) {
        return;
    }
    // The reading of the figures that is nearest to the rate.
    let distance = |it: &f64| (found[0] / it).ln().abs();
    let readings = expected.iter().filter(|it| it.is_finite() && **it > 0.0);
    let Some(nearest) = readings.min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
        return;
    };
    let message = format!(
        "`{}` {} does not follow from the other figures of its sentence: {:.3}",
        &text.text[rate.number_span.0..rate.number_span.1],
        unit.text,
        nearest * per_byte / unit.factor
    );
    lint.add(Check::ProductOfSentence, page_span(text, rate.number_span), message);
}
