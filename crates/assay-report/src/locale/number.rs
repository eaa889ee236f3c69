//! How numbers and dates are written in each language: decimal mark, digit groups, percent sign.
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

/// The same without groups, for tables that are a tool's.
pub(crate) fn decimal(value: f64, decimals: usize) -> String {
    let mark = marks(Language::current()).decimal.to_string();
    format!("{value:.decimals$}").replace('.', &mark)
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

/// A date of RFC 3339 as running text writes it; tables keep the form that sorts.
pub(crate) fn date(rfc3339: &str) -> String {
    let mut parts = rfc3339.get(..10).unwrap_or_default().split('-').map(str::parse::<usize>);
    let (Some(Ok(year)), Some(Ok(month @ 1..=12)), Some(Ok(day))) =
        (parts.next(), parts.next(), parts.next())
    else {
        return rfc3339.to_owned();
    };
    let language = Language::current();
    let Some(months) = months(language.locale).filter(|_| language != Language::INVARIANT)
    else {
        return match language.locale {
            Locale::ZhHans | Locale::Ja => format!("{year}年{month}月{day}日"),
            Locale::Ko => format!("{year}년{NO_BREAK}{month}월{NO_BREAK}{day}일"),
            _ => rfc3339.get(..10).unwrap_or_default().to_owned(),
        };
    };
    let month = months[month - 1];
    let text = match language.locale {
        Locale::En => format!("{month} {day}, {year}"),
        Locale::Fr if day == 1 => format!("1er {month} {year}"),
        Locale::De | Locale::Cs => format!("{day}. {month} {year}"),
        Locale::Es => format!("{day} de {month} de {year}"),
        Locale::Ru => format!("{day} {month} {year} г."),
        _ => format!("{day} {month} {year}"),
    };
    text.replace(' ', "\u{a0}")
}

/// The months as they stand in a date: in the genitive where the language has one. Chinese, Japanese and
/// Korean number them.
fn months(locale: Locale) -> Option<[&'static str; 12]> {
    let names = match locale {
        Locale::En => {
            "January February March April May June July August September October November December"
        }
        Locale::Ru => {
            "января февраля марта апреля мая июня июля августа сентября октября ноября декабря"
        }
        Locale::Fr => {
            "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
        }
        Locale::Cs => {
            "ledna února března dubna května června července srpna září října listopadu prosince"
        }
        Locale::De => {
            "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
        }
        Locale::Es => {
            "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
        }
        Locale::ZhHans | Locale::Ko | Locale::Ja => return None,
    };
    let mut names = names.split(' ');
    Some(std::array::from_fn(|_| names.next().unwrap_or_default()))
}
