//! Formats numbers and dates in each language: decimal mark, digit groups, percent sign.
//!
//! Based on Unicode CLDR 48 and reviewed; see `docs/decisions`. Input numbers are in invariant
//! form.

use super::{Language, Locale};

/// No-break spaces that occur inside numbers and before units.
pub(crate) const NO_BREAK_SPACES: [char; 2] = [NO_BREAK, NARROW_NO_BREAK];
const NO_BREAK: char = '\u{a0}';
const NARROW_NO_BREAK: char = '\u{202f}';

/// Number format of a language.
struct NumberFormat {
    decimal_mark: char,
    group_mark: char,
    /// Minimum number of digits for which whole numbers are grouped.
    min_grouped_digits: usize,
    /// Space between a number and its unit.
    unit_space: char,
    /// Space between a number and a percent sign; `None` = no space.
    percent_space: Option<char>,
}

const fn number_format(language: Language) -> NumberFormat {
    let (decimal, group, grouped_from, before_unit, before_percent) =
        match (language.has_invariant_units, language.locale) {
            (true, _) => ('.', NO_BREAK, usize::MAX, NO_BREAK, Some(NO_BREAK)),
            (false, Locale::En | Locale::ZhHans | Locale::Ko | Locale::Ja) => {
                ('.', ',', 4, NO_BREAK, None)
            }
            (false, Locale::De) => (',', '.', 4, NO_BREAK, Some(NO_BREAK)),
            (false, Locale::Es) => (',', '.', 5, NO_BREAK, Some(NO_BREAK)),
            (false, Locale::Fr) => {
                (',', NARROW_NO_BREAK, 4, NARROW_NO_BREAK, Some(NARROW_NO_BREAK))
            }
            (false, Locale::Ru | Locale::Cs) => (',', NO_BREAK, 4, NO_BREAK, Some(NO_BREAK)),
        };
    NumberFormat {
        decimal_mark: decimal,
        group_mark: group,
        min_grouped_digits: grouped_from,
        unit_space: before_unit,
        percent_space: before_percent,
    }
}

/// Localises an invariant number such as `-1234.50`. Returns other text unchanged.
pub(crate) fn group_digits(number: &str) -> String {
    let marks = number_format(Language::current());
    let (sign, digits) = number.split_at(usize::from(number.starts_with(['-', '+'])));
    let (whole, fraction) =
        digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !fraction.is_none_or(is_number) {
        return number.to_owned();
    }
    let mut text = sign.to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0
            && (whole.len() - index).is_multiple_of(3)
            && whole.len() >= marks.min_grouped_digits
        {
            text.push(marks.group_mark);
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push(marks.decimal_mark);
        text.push_str(fraction);
    }
    text
}

/// Parses the output of [`group_digits`] in a language back to invariant form; `None` for other
/// text.
pub(super) fn ungroup_digits(text: &str, language: Language) -> Option<String> {
    if let Some((mantissa, power)) = text.split_once('e') {
        return Some(format!("{}e{power}", ungroup_digits(mantissa, language)?));
    }
    let marks = number_format(language);
    let (sign, digits) = text.split_at(usize::from(text.starts_with(['-', '+'])));
    let (whole, fraction) =
        digits.split_once(marks.decimal_mark).map_or((digits, None), |(w, f)| (w, Some(f)));
    let ungrouped: String = whole.chars().filter(|it| *it != marks.group_mark).collect();
    let number = match fraction {
        Some(fraction) => format!("{sign}{ungrouped}.{fraction}"),
        None => format!("{sign}{ungrouped}"),
    };
    // Rejects misplaced or missing group marks: such numbers are in another language.
    (language.scope(|| group_digits(&number)) == text).then_some(number)
}

/// Formats a number with a fixed number of decimals.
pub(crate) fn format_fixed(value: f64, decimals: usize) -> String {
    group_digits(&format!("{value:.decimals$}"))
}

/// Formats a number without digit groups, for tables in another tool's layout.
pub(crate) fn format_ungrouped(value: f64, decimals: usize) -> String {
    let mark = number_format(Language::current()).decimal_mark.to_string();
    format!("{value:.decimals$}").replace('.', &mark)
}

/// Appends a percent sign to a formatted number.
pub fn in_percent(number: &str) -> String {
    match number_format(Language::current()).percent_space {
        Some(space) => format!("{number}{space}%"),
        None => format!("{number}%"),
    }
}

/// Space between a number and its unit.
pub(super) fn unit_space() -> char {
    number_format(Language::current()).unit_space
}

/// Formats the date of an RFC 3339 time for running text; tables keep the sortable form.
pub(crate) fn format_date(rfc3339: &str) -> String {
    let mut parts = rfc3339.get(..10).unwrap_or_default().split('-').map(str::parse::<usize>);
    let (Some(Ok(year)), Some(Ok(month @ 1..=12)), Some(Ok(day))) =
        (parts.next(), parts.next(), parts.next())
    else {
        return rfc3339.to_owned();
    };
    let language = Language::current();
    let Some(months) = month_names(language.locale).filter(|_| language != Language::INVARIANT)
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

/// Names of the months in dates: in the genitive if the language has one. Chinese, Japanese and
/// Korean use numbers instead.
fn month_names(locale: Locale) -> Option<[&'static str; 12]> {
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
