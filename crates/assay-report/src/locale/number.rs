//! How numbers are written in each language: decimal mark, digit groups, percent sign.
//!
//! After Unicode CLDR 48, reviewed; see `docs/decisions`. Numbers come in as the invariant writer made them.

use super::{Language, Locale};

/// No line may break at these; both occur inside numbers.
pub(crate) const SPACES: [char; 2] = [NO_BREAK, NARROW];
const NO_BREAK: char = '\u{a0}';
const NARROW: char = '\u{202f}';

/// How one language writes numbers.
struct Marks {
    decimal: char,
    group: char,
    /// Whole numbers of fewer digits are not grouped.
    grouped_from: usize,
    /// Between a number and its unit.
    before_unit: char,
    /// Between a number and a percent sign; none = they touch.
    before_percent: Option<char>,
}

const fn marks(language: Language) -> Marks {
    let (decimal, group, grouped_from, before_unit, before_percent) =
        match (language.has_invariant_units, language.locale) {
            (true, _) => ('.', NO_BREAK, usize::MAX, NO_BREAK, Some(NO_BREAK)),
            (false, Locale::En | Locale::ZhHans | Locale::Ko | Locale::Ja) => {
                ('.', ',', 4, NO_BREAK, None)
            }
            (false, Locale::De) => (',', '.', 4, NO_BREAK, Some(NO_BREAK)),
            (false, Locale::Es) => (',', '.', 5, NO_BREAK, Some(NO_BREAK)),
            (false, Locale::Fr) => (',', NARROW, 4, NARROW, Some(NARROW)),
            (false, Locale::Ru | Locale::Cs) => (',', NO_BREAK, 4, NO_BREAK, Some(NO_BREAK)),
        };
    Marks { decimal, group, grouped_from, before_unit, before_percent }
}

/// An invariant number, `-1234.50`, as the current language writes it. What is none stays as it is.
pub(crate) fn grouped(number: &str) -> String {
    let marks = marks(Language::current());
    let (sign, digits) = number.split_at(usize::from(number.starts_with(['-', '+'])));
    let (whole, fraction) =
        digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !fraction.is_none_or(is_number) {
        return number.to_owned();
    }
    let mut text = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) && whole.len() >= marks.grouped_from {
            text.push(marks.group);
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push(marks.decimal);
        text.push_str(fraction);
    }
    text
}

/// The invariant form of what [`grouped`] wrote in this language; `None` of anything else.
pub(super) fn ungrouped(text: &str, language: Language) -> Option<String> {
    let marks = marks(language);
    let (sign, digits) = text.split_at(usize::from(text.starts_with(['-', '+'])));
    let (whole, fraction) =
        digits.split_once(marks.decimal).map_or((digits, None), |(w, f)| (w, Some(f)));
    let plain: String = whole.chars().filter(|it| *it != marks.group).collect();
    let number = match fraction {
        Some(fraction) => format!("{sign}{plain}.{fraction}"),
        None => format!("{sign}{plain}"),
    };
    // Groups in other places, or none where there must be some, are another language's.
    (language.write(|| grouped(&number)) == text).then_some(number)
}

/// A number with this many decimals.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    grouped(&format!("{value:.decimals$}"))
}

/// A written number with a percent sign.
pub(crate) fn percent(number: &str) -> String {
    match marks(Language::current()).before_percent {
        Some(space) => format!("{number}{space}%"),
        None => format!("{number}%"),
    }
}

/// Between a number and its unit.
pub(super) fn before_unit() -> char {
    marks(Language::current()).before_unit
}
