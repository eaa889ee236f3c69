//! Figures in prose of any language: number, unit and qualifier, each as printed and as
//! interpreted.

use assay_model::quantity::Unit;

use crate::steps;

mod unit;

pub(crate) use unit::{BLANKS, contains_unit, is_unspaced_script};
pub use unit::{PrintedUnit, heading_unit};

/// Number with its unit and qualifier.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedFigure {
    /// Byte span of the number in its text.
    pub number_span: (usize, usize),
    /// Value, with the decimal mark as printed.
    pub value: f64,
    /// Digits after the decimal mark.
    pub decimals: usize,
    /// Decimal mark, if any.
    pub mark: Option<char>,
    /// Separator of digit groups, if any.
    pub group: Option<char>,
    /// Unit, if one follows.
    pub unit: Option<PrintedUnit>,
    /// Whether "about" or an equivalent precedes it.
    pub is_approximate: bool,
}

impl PrintedFigure {
    /// Returns the value in its base unit.
    pub fn base_value(&self) -> Option<(f64, Unit)> {
        self.unit.as_ref().map(|unit| (self.value * unit.factor, unit.unit))
    }

    /// Returns half of the last significant digit, as a share of the value. Trailing zeros of a
    /// whole number are not significant, except that two digits are always kept.
    pub fn relative_rounding(&self) -> f64 {
        let mut step = 10f64.powi(-i32::try_from(self.decimals.min(300)).unwrap_or(300));
        while self.decimals == 0
            && step * 100.0 <= self.value
            && self.value % (step * 10.0) == 0.0
        {
            step *= 10.0;
        }
        // A value of 0 has no relative precision.
        if self.value > 0.0 { 0.5 * step / self.value } else { 1.0 }
    }
}

/// Returns the language of a tag without its region: `fr` of `fr-FR`.
pub(crate) fn base_language(tag: &str) -> String {
    tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase()
}

/// Returns about `length` bytes of a text that end at `to`.
pub(crate) fn text_before(text: &str, to: usize, length: usize) -> &str {
    let from = (to.saturating_sub(length)..=to).find(|at| text.is_char_boundary(*at));
    &text[from.unwrap_or(to)..to]
}

/// Number format of a page, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageNumberFormat {
    /// Decimal mark of its language.
    pub decimal: Option<char>,
    /// Whether its language groups digits by points. French does not: there `1.234` has a decimal
    /// mark left from English.
    pub has_groups_of_points: bool,
    /// Whether its language groups digits by blanks.
    pub has_groups_of_blanks: bool,
    /// Whether its language groups numbers of five digits and more, but not of four.
    pub has_ungrouped_thousands: bool,
    /// Whether its compounds have hyphens: `8-KiB-Block`.
    pub has_compounds: bool,
    /// Whether `~` between two figures is a range, as in Chinese, Japanese and Korean.
    pub has_tilde_ranges: bool,
    /// Whether the page declares a language with a known format.
    pub is_declared: bool,
}

impl PageNumberFormat {
    /// Returns the format of a language (CLDR 48); unknown for others.
    pub fn for_language(language: &str) -> Self {
        let base = base_language(language);
        if has_points(language) {
            return Self { decimal: Some('.'), is_declared: true, ..Self::default() };
        }
        let (decimal, has_groups_of_points) = match base.as_str() {
            "en" | "ja" | "ko" | "zh" => ('.', false),
            "de" | "es" | "it" | "pt" | "nl" | "tr" | "id" | "da" => (',', true),
            "fr" | "ru" | "cs" | "pl" | "sv" | "hu" | "uk" => (',', false),
            _ => return Self::default(),
        };
        let has_groups_of_blanks = decimal == ',' && !has_groups_of_points;
        let has_compounds = matches!(base.as_str(), "en" | "de" | "nl" | "sv" | "da");
        Self {
            decimal: Some(decimal),
            has_groups_of_points,
            has_groups_of_blanks,
            has_ungrouped_thousands: matches!(base.as_str(), "es" | "pl" | "pt"),
            has_compounds,
            has_tilde_ranges: matches!(base.as_str(), "ja" | "ko" | "zh"),
            is_declared: true,
        }
    }

    /// Returns the possible values of a number: a comma or a point before three digits may be a
    /// group separator.
    pub fn possible_values(&self, figure: &PrintedFigure) -> [f64; 2] {
        let (value, thousands) = (figure.value, figure.value * 1000.0);
        // `0.250` is not grouped in any language, nor is the fraction of `1,234.567`.
        if figure.decimals != 3 || value < 1.0 || figure.group.is_some() {
            return [value; 2];
        }
        match (self.decimal, figure.mark) {
            (Some(right), Some(found)) if right == found => [value; 2],
            (Some('.'), Some(',')) => [thousands; 2],
            (Some(','), Some('.')) if self.has_groups_of_points => [thousands; 2],
            _ => [value, thousands],
        }
    }
}

/// Returns whether a region has a decimal point where its language has a comma elsewhere (CLDR 48).
fn has_points(language: &str) -> bool {
    const REGIONS: [&str; 16] = [
        "es-419", "es-mx", "es-us", "es-pr", "es-gt", "es-hn", "es-ni", "es-pa", "es-pe",
        "es-sv", "es-do", "es-cu", "es-bz", "de-ch", "de-li", "it-ch",
    ];
    let tag = language.trim().replace('_', "-").to_ascii_lowercase();
    REGIONS.contains(&tag.as_str())
}

/// Words for "about" in the supported languages, in lower case.
const ABOUT_WORDS: [&str; 51] = [
    "~",
    "～",
    "∼",
    "≈",
    "circa",
    "około",
    "ok.",
    "yaklaşık",
    "ungefär",
    "ungeveer",
    "cerca de",
    "大约",
    "大約",
    "约为",
    "約為",
    "about",
    "approximately",
    "approx.",
    "around",
    "environ",
    "env.",
    "около",
    "примерно",
    "прибл.",
    "asi",
    "přibližně",
    "etwa",
    "ca.",
    "aproximadamente",
    "约",
    "約",
    "약",
    "대략",
    "roughly",
    "some",
    "ungefähr",
    "rund",
    "zirka",
    "près de",
    "autour de",
    "quelque",
    "alrededor de",
    "unos",
    "unas",
    "zhruba",
    "okolo",
    "cca",
    "порядка",
    "приблизительно",
    "およそ",
    "おおよそ",
];

/// Returns whether a phrase has a word for "about": `примерно с 2 до 3`.
pub(crate) fn names_about(phrase: &str) -> bool {
    let lower = phrase.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphabetic()).filter(|it| !it.is_empty());
    words.any(|word| ABOUT_WORDS.contains(&word))
}

/// Words for "about" that follow the figure in Chinese, Japanese and Korean.
const ABOUT_SUFFIXES: [&str; 6] = ["左右", "程度", "前後", "前后", "정도", "내외"];

/// Returns every figure of a text, from left to right.
pub fn find_figures(text: &str) -> Vec<PrintedFigure> {
    figures(text).collect()
}

/// Returns whether a text has any figure; reads no further than the first one.
pub fn has_figures(text: &str) -> bool {
    figures(text).next().is_some()
}

fn figures(text: &str) -> impl Iterator<Item = PrintedFigure> {
    steps::count(text.len());
    let has_digit = text.contains(|c: char| to_ascii_digit(c).is_ascii_digit());
    let read = if has_digit { text } else { "" };
    let chars: Vec<(usize, char)> =
        read.char_indices().map(|(at, c)| (at, to_ascii_digit(c))).collect();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < chars.len() {
            if !chars[at].1.is_ascii_digit() {
                at += 1;
                continue;
            }
            let is_inside = at > 0
                && (is_name_letter(chars[at - 1].1)
                    || matches!(chars[at - 1].1, '_' | '.' | ',' | '/'));
            let (start, end) = (at, number_end(&chars, at));
            at = end.max(start + 1);
            // In `20:18:32.98`, the last number is a time of day.
            if is_time_of_day(&chars, start) {
                continue;
            }
            // Digits in names, versions and dates are not figures.
            if is_inside {
                continue;
            }
            if let Some(end) = date_end(&chars, start) {
                at = end;
                continue;
            }
            let figure = parse_figure(text, &chars, start, end);
            if figure.is_some() {
                return figure;
            }
        }
        None
    })
}

/// Returns whether a number is the end of a time such as `20:18:32`.
fn is_time_of_day(chars: &[(usize, char)], at: usize) -> bool {
    const PATTERN: &str = ":00:";
    let before = &chars[at.saturating_sub(PATTERN.len())..at];
    before.len() == PATTERN.len()
        && before.iter().zip(PATTERN.chars()).all(|((_, c), pattern)| match pattern {
            '0' => c.is_ascii_digit(),
            mark => *c == mark,
        })
}

/// Returns the end of a date such as `2025-05-07`.
fn date_end(chars: &[(usize, char)], at: usize) -> Option<usize> {
    const PATTERN: &str = "0000-00-00";
    let is_same = |((_, c), pattern): (&(usize, char), char)| match pattern {
        '0' => c.is_ascii_digit(),
        mark => *c == mark,
    };
    let date = chars.get(at..at + PATTERN.len())?;
    let next = chars.get(at + PATTERN.len());
    let is_date = date.iter().zip(PATTERN.chars()).all(is_same)
        && next.is_none_or(|(_, c)| !c.is_ascii_digit());
    is_date.then_some(at + PATTERN.len())
}

/// Words that multiply a count.
const MULTIPLIERS: [(&str, f64); 21] = [
    ("万", 1e4),
    ("萬", 1e4),
    ("만", 1e4),
    ("亿", 1e8),
    ("億", 1e8),
    ("억", 1e8),
    ("million", 1e6),
    ("Million", 1e6),
    ("millones", 1e6),
    ("millón", 1e6),
    ("milión", 1e6),
    ("milliard", 1e9),
    ("Milliard", 1e9),
    ("миллиард", 1e9),
    ("млн", 1e6),
    ("млрд", 1e9),
    ("тысяч", 1e3),
    ("тыс.", 1e3),
    ("milion", 1e6),
    ("миллион", 1e6),
    ("billion", 1e9),
];

/// Returns the factor of a word directly behind a number.
fn multiplier_after(text: &str, to: usize) -> f64 {
    let rest = text[to..].trim_start_matches(BLANKS);
    // A network of 万兆 has 10 Gbit/s, as a name.
    let is_link = |word: &str| rest[word.len()..].starts_with('兆');
    let found = MULTIPLIERS.iter().find(|(word, _)| rest.starts_with(word) && !is_link(word));
    found.map_or(1.0, |(_, factor)| *factor)
}

/// Returns the ASCII character of a full-width or Arabic digit, of its mark, or of a blank that
/// groups digits.
const fn to_ascii_digit(c: char) -> char {
    let digit = match c {
        '０'..='９' => c as u32 - '０' as u32,
        '٠'..='٩' => c as u32 - '٠' as u32,
        '۰'..='۹' => c as u32 - '۰' as u32,
        '٫' | '．' => return '.',
        '٬' => return ',',
        '’' => return '\'',
        // Narrow, thin and figure space.
        '\u{202f}' | '\u{2009}' | '\u{2007}' => return '\u{a0}',
        _ => return c,
    };
    (b'0' + digit as u8) as char
}

/// Letters that make a digit part of a name; Hangul, Han and kana adjoin numbers without a blank.
fn is_name_letter(c: char) -> bool {
    c.is_alphanumeric() && !is_unspaced_script(c)
}

/// Returns the percent sign before a number, as in Turkish: `%50`.
fn percent_before(text: &str, from: usize, to: usize) -> Option<PrintedUnit> {
    let before = text[..from].strip_suffix('%')?;
    // In `100%8 KiB`, the sign belongs to the number before.
    let is_alone = !before.trim_end_matches(BLANKS).ends_with(|c: char| c.is_ascii_digit());
    is_alone.then(|| PrintedUnit {
        span: (to, to),
        text: "%".to_owned(),
        unit: Unit::Ratio,
        factor: 0.01,
    })
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{202f}')
}

const fn is_group(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{202f}' | ',' | '.' | '\'')
}

/// Maximum number of no-break blanks that an entity is read as.
const MAX_BLANKS: usize = 4;

fn number_end(chars: &[(usize, char)], start: usize) -> usize {
    let is_digit = |(_, c): &&(usize, char)| c.is_ascii_digit();
    let digits = |from: usize| {
        // An entity may be filled within a number: `1\\\\\2`.
        let mut at = from;
        loop {
            at += chars[at..].iter().take_while(is_digit).count();
            let fill = fill_length(chars, at);
            if at == from || fill == 0 || !chars.get(at + fill).is_some_and(|it| is_digit(&it))
            {
                return at - from;
            }
            at += fill;
        }
    };
    let mut at = start + digits(start);
    let count_digits = |from: usize, to: usize| chars[from..to].iter().filter(is_digit).count();
    let first = count_digits(start, at);
    let mut grouped = 0;
    loop {
        // Markdown escapes a mark: `1\.500`.
        at += escape_length(chars, at);
        if at + 1 >= chars.len() || !is_group(chars[at].1) {
            break;
        }
        // An entity is read as several no-break blanks.
        let blanks = chars[at..].iter().take(MAX_BLANKS).take_while(|(_, c)| *c == '\u{a0}');
        let separator = blanks.count().max(1);
        if at + separator >= chars.len() {
            break;
        }
        let length = digits(at + separator);
        let count = count_digits(at + separator, at + separator + length);
        let is_blank = is_blank(chars[at].1);
        let is_of_three = count == 3 && first <= 3;
        if count == 0 || (is_blank && !is_of_three) {
            break;
        }
        grouped += 1;
        at += separator + length;
        if !is_of_three
            && grouped > 0
            && !is_blank
            && at < chars.len()
            && matches!(chars[at].1, '.' | ',')
        {
            // `5.4.3` continues and is a version.
            continue;
        }
    }
    at
}

/// Returns the number of backslashes at a position, which escape a mark or fill an entity.
fn fill_length(chars: &[(usize, char)], at: usize) -> usize {
    chars[at..].iter().take(LONGEST_FILL).take_while(|(_, c)| *c == '\\').count()
}

/// Maximum number of backslashes that an entity is read as.
const LONGEST_FILL: usize = 10;

/// Returns the number of backslashes before a mark and a digit.
fn escape_length(chars: &[(usize, char)], at: usize) -> usize {
    let length = fill_length(chars, at);
    let next = |offset: usize| chars.get(at + length + offset).map(|(_, c)| *c);
    let is_one = matches!(next(0), Some('.' | ',' | '\''))
        && next(1).is_some_and(|c| c.is_ascii_digit());
    if is_one { length } else { 0 }
}

/// Returns whether points group a number: `2.147.483.647`. Four groups may also be an address.
fn is_grouped_by_points(printed: &str) -> bool {
    let is_small = |group: &str| group.parse::<u16>().is_ok_and(|it| it < 256);
    let mut groups = printed.split('.');
    let first = groups.next().is_some_and(|it| (1..=3).contains(&it.len()) && it != "0");
    let is_address = printed.matches('.').count() == 3 && printed.split('.').all(is_small);
    first && groups.all(|it| it.len() == 3) && !is_address
}

/// Returns whether no two blanks are adjacent, as in `1 000 000`.
fn has_single_blanks(chars: &[(usize, char)]) -> bool {
    chars.windows(2).all(|pair| pair[0].1 != '\u{a0}' || pair[1].1 != '\u{a0}')
}

/// Returns whether the groups before the decimal mark have three digits, or two as in India: not those
/// of `0.5,4`, a list. Blanks group by three anyway, and other digits have marks of their own.
fn has_groups_of_three(printed: &str, group: char, mark: char) -> bool {
    let whole = printed.rsplit_once(mark).map_or(printed, |(whole, _)| whole);
    let mut lengths = whole.split(group).skip(1).map(str::len);
    let is_known = printed.is_ascii() && !is_blank(group) && !printed.contains('\\');
    !is_known
        || whole.ends_with(|c: char| c.is_ascii_digit())
            && lengths.clone().last() == Some(3)
            && lengths.all(|it| it == 2 || it == 3)
}

/// Returns the decimal mark and the group separator among the marks of a number.
fn tell_marks(
    marks: &[char],
    last_digits: usize,
    printed: &str,
) -> Option<(Option<char>, Option<char>)> {
    Some(match marks {
        [] => (None, None),
        [only @ (' ' | '\u{a0}' | '\u{202f}' | '\'')] => (None, Some(*only)),
        [only] => (Some(*only), None),
        [rest @ .., last]
            if rest.iter().all(|it| it == &rest[0])
                && *last != rest[0]
                && has_groups_of_three(printed, rest[0], *last) =>
        {
            (Some(*last), Some(rest[0]))
        }
        [first, rest @ ..]
            if rest.iter().all(|it| it == first)
                && last_digits == 3
                && (*first != '.' || is_grouped_by_points(printed)) =>
        {
            (None, Some(*first))
        }
        // Version, address or date.
        _ => return None,
    })
}

fn parse_figure(
    text: &str,
    chars: &[(usize, char)],
    at: usize,
    end: usize,
) -> Option<PrintedFigure> {
    let from = chars[at].0;
    let to = chars.get(end).map_or(text.len(), |(byte, _)| *byte);
    let printed = || chars[at..end].iter().map(|(_, c)| *c);
    let mut marks: Vec<char> =
        printed().filter(|c| !c.is_ascii_digit() && *c != '\\').collect();
    marks.dedup_by(|b, a| {
        *a == '\u{a0}' && *b == '\u{a0}' && !has_single_blanks(&chars[at..end])
    });
    let unfilled = printed().filter(|c| *c != '\\');
    let last_digits = unfilled.rev().take_while(char::is_ascii_digit).count();
    let (mark, group) = tell_marks(&marks, last_digits, &text[from..to])?;
    // `4,500` has a group separator in some languages; the page's language decides later.
    let digits: String = printed()
        .filter_map(|c| match c {
            c if c.is_ascii_digit() => Some(c),
            c if Some(c) == mark => Some('.'),
            _ => None,
        })
        .collect();
    let decimals = mark.map_or(0, |_| last_digits);
    // Limits the search: the longest word for "about" is shorter, and a page may be one line.
    let before = text_before(text, from, 64).trim_end();
    let before = before.strip_suffix('[').unwrap_or(before).to_lowercase();
    let unit = unit::unit_after_number(text, to).or_else(|| percent_before(text, from, to));
    let behind =
        text[unit.as_ref().map_or(to, |unit| unit.span.1)..].trim_start_matches(BLANKS);
    let is_about = ABOUT_WORDS.iter().any(|word| before.ends_with(word))
        || ABOUT_SUFFIXES.iter().any(|word| behind.starts_with(word));
    // Names such as `4.0.0` or `HB120` are already excluded; a number directly before a letter is a
    // name, too, except `3X`.
    let mut rest = text[to..].chars();
    let is_name = |c: char| is_name_letter(c) || c == '_';
    let next = rest.next();
    let is_times = matches!(next, Some('x' | 'X')) && !rest.next().is_some_and(is_name);
    if unit.is_none() && next.is_some_and(is_name) && !is_times {
        return None;
    }
    let mut value: f64 = digits.parse().ok()?;
    if unit.is_none() {
        value *= multiplier_after(text, to);
    }
    Some(PrintedFigure {
        number_span: (from, to),
        value,
        decimals,
        mark,
        group,
        unit,
        is_approximate: is_about,
    })
}
