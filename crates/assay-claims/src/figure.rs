//! Figures in prose of any language: number, unit and qualifier, each as it is printed and as it is meant.

use assay_model::quantity::Unit;

/// One number with what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Bytes of the number within its text.
    pub number: (usize, usize),
    /// The number, where its digits can only mean one.
    pub value: f64,
    /// Digits behind the decimal mark.
    pub decimals: usize,
    /// The decimal mark, if there is one.
    pub mark: Option<char>,
    /// What separates groups of digits, if anything does.
    pub group: Option<char>,
    /// Its unit, if one follows.
    pub unit: Option<Printed>,
    /// Whether "about" or its like stands before it.
    pub is_about: bool,
}

/// A unit as it is printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// Bytes within the text.
    pub at: (usize, usize),
    /// As it stands there.
    pub text: String,
    /// The base unit; a size where the time of a rate is missing.
    pub unit: Unit,
    /// What it is worth in the base unit.
    pub factor: f64,
}

impl Figure {
    /// In the base unit of its unit.
    #[must_use]
    pub fn base(&self) -> Option<(f64, Unit)> {
        self.unit.as_ref().map(|unit| (self.value * unit.factor, unit.unit))
    }
}

/// Words for "about" of the languages that reports have, in small letters.
const ABOUT: [&str; 19] = [
    "~",
    "≈",
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
];

/// Every figure of a text, from left to right.
#[must_use]
pub fn figures(text: &str) -> Vec<Figure> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if !chars[at].1.is_ascii_digit() {
            at += 1;
            continue;
        }
        let is_inside = at > 0
            && (chars[at - 1].1.is_alphanumeric()
                || matches!(chars[at - 1].1, '_' | '.' | ',' | '/'));
        let end = number_end(&chars, at);
        // A digit of a name, a version or a date is no figure.
        let figure = (!is_inside).then(|| figure(text, &chars, at, end)).flatten();
        found.extend(figure);
        at = end.max(at + 1);
    }
    found
}

const fn is_group(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{202f}' | ',' | '.' | '\'')
}

fn number_end(chars: &[(usize, char)], start: usize) -> usize {
    let digits =
        |from: usize| chars[from..].iter().take_while(|(_, c)| c.is_ascii_digit()).count();
    let mut at = start + digits(start);
    let first = at - start;
    let mut grouped = 0;
    while at + 1 < chars.len() && is_group(chars[at].1) {
        let count = digits(at + 1);
        let is_blank = matches!(chars[at].1, ' ' | '\u{a0}' | '\u{202f}');
        let is_of_three = count == 3 && first <= 3;
        if count == 0 || (is_blank && !is_of_three) {
            break;
        }
        grouped += 1;
        at += 1 + count;
        if !is_of_three
            && grouped > 0
            && !is_blank
            && at < chars.len()
            && matches!(chars[at].1, '.' | ',')
        {
            // `5.4.3` goes on and is a version.
            continue;
        }
    }
    at
}

fn figure(text: &str, chars: &[(usize, char)], at: usize, end: usize) -> Option<Figure> {
    let from = chars[at].0;
    let to = chars.get(end).map_or(text.len(), |(byte, _)| *byte);
    let printed = &text[from..to];
    let marks: Vec<char> = printed.chars().filter(|c| !c.is_ascii_digit()).collect();
    let last_digits = printed.chars().rev().take_while(char::is_ascii_digit).count();
    let (mark, group) = match marks.as_slice() {
        [] => (None, None),
        [only @ (' ' | '\u{a0}' | '\u{202f}' | '\'')] => (None, Some(*only)),
        [only] => (Some(*only), None),
        [rest @ .., last] if rest.iter().all(|it| it == &rest[0]) && *last != rest[0] => {
            (Some(*last), Some(rest[0]))
        }
        [first, rest @ ..]
            if rest.iter().all(|it| it == first) && last_digits == 3 && *first != '.' =>
        {
            (None, Some(*first))
        }
        // A version, an address or a date.
        _ => return None,
    };
    // `4,500` groups where a comma cannot be a decimal mark; the page's language decides later.
    let digits: String = printed
        .chars()
        .filter_map(|c| match c {
            c if c.is_ascii_digit() => Some(c),
            c if Some(c) == mark => Some('.'),
            _ => None,
        })
        .collect();
    let decimals = mark.map_or(0, |_| last_digits);
    // The longest word for "about" is shorter; a page may be one line.
    let near = (from.saturating_sub(64)..=from).find(|at| text.is_char_boundary(*at));
    let before = text[near.unwrap_or(from)..from].trim_end();
    let before = before.strip_suffix('[').unwrap_or(before).to_lowercase();
    let is_about = ABOUT.iter().any(|word| before.ends_with(word));
    let unit = unit_at(text, to);
    // A name like `4.0.0` or `HB120` was left out above; what a letter follows at once is a name, too.
    let next = text[to..].chars().next();
    if unit.is_none() && next.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let value = digits.parse().ok()?;
    Some(Figure { number: (from, to), value, decimals, mark, group, unit, is_about })
}

/// Base unit, factor and the ways to write it, longest first where one begins another.
type Spelt = (Unit, f64, &'static [&'static str]);

const UNITS: [Spelt; 19] = [
    (
        Unit::BitPerSecond,
        1e9,
        &[
            "Gbits/s",
            "Gbit/s",
            "Гбит/с",
            "Гб/с",
            "GBit/s",
            "Gb/sec",
            "Gb/s",
            "Gbps",
            "gigabits per second",
        ],
    ),
    (Unit::BitPerSecond, 1e6, &["Mbits/s", "Mbit/s", "Мбит/с", "Мб/с", "Mb/s", "Mbps"]),
    (Unit::BytePerSecond, 1_099_511_627_776.0, &["TiB/s", "Tio/s", "ТиБ/с"]),
    (Unit::BytePerSecond, 1e12, &["TB/s", "To/s", "ТБ/с"]),
    (Unit::BytePerSecond, 1_073_741_824.0, &["GiB / s", "GiB / с", "GiB/s", "Gio/s", "ГиБ/с"]),
    (Unit::BytePerSecond, 1_048_576.0, &["MiB / s", "MiB / с", "MiB/s", "Mio/s", "МиБ/с"]),
    (
        Unit::BytePerSecond,
        1e9,
        &["GB/sec", "GB/s", "GB/초", "GB/秒", "GBps", "Go/s", "ГБ/с", "ГБ/c"],
    ),
    (
        Unit::BytePerSecond,
        1e6,
        &["MB/sec", "MB/s", "MB/초", "MB/秒", "MBps", "Mo/s", "МБ/с", "МБ/c"],
    ),
    (Unit::Byte, 1_099_511_627_776.0, &["TiB", "Tio", "ТиБ"]),
    (Unit::Byte, 1_073_741_824.0, &["GiB", "Gio", "ГиБ"]),
    (Unit::Byte, 1_048_576.0, &["MiB", "Mio", "МиБ"]),
    (Unit::Byte, 1024.0, &["KiB", "Kio", "КиБ"]),
    (Unit::Byte, 1e9, &["GB", "Go", "ГБ"]),
    (Unit::Byte, 1e6, &["MB", "Mo", "МБ"]),
    (Unit::Byte, 1e3, &["kB", "KB", "ko", "кБ"]),
    (Unit::FlopPerSecond, 1e12, &["TeraFLOPS", "TeraFLOPs", "TFLOP/s", "TFLOPS", "терафлопс"]),
    (Unit::FlopPerSecond, 1e9, &["GigaFLOPS", "GigaFLOPs", "GFLOP/s", "GFLOPS", "гигафлопс"]),
    (
        Unit::Second,
        1e-6,
        &[
            "microseconds",
            "microsecond",
            "microsecondes",
            "microseconde",
            "микросекунды",
            "микросекунд",
            "mikrosekund",
            "Mikrosekunden",
            "마이크로초",
            "マイクロ秒",
            "微秒",
            "usec",
            "мкс",
            "us",
            "µs",
            "μs",
        ],
    ),
    (
        Unit::Second,
        1e-3,
        &["milliseconds", "millisecondes", "миллисекунды", "milisekund", "毫秒", "ms", "мс"],
    ),
];

/// The unit that follows a number, behind blanks, a hyphen or a bracket.
fn unit_at(text: &str, at: usize) -> Option<Printed> {
    let rest = &text[at..];
    let skipped =
        rest.len() - rest.trim_start_matches([' ', '\u{a0}', '\u{202f}', '-', '[', '(']).len();
    let skipped = if skipped > 8 { return None } else { skipped };
    let from = at + skipped;
    unit_in(text, from)
}

/// The unit that stands exactly here.
fn unit_in(text: &str, from: usize) -> Option<Printed> {
    let rest = &text[from..];
    let mut best: Option<(&str, Unit, f64)> = None;
    for (unit, factor, words) in UNITS {
        for word in words.iter().filter(|word| rest.starts_with(**word)) {
            let next = rest[word.len()..].chars().next();
            // Hangul and Han go on without a blank.
            let goes_on = next.is_some_and(|c| c.is_alphanumeric() && (c as u32) < 0x1100);
            if !goes_on && best.is_none_or(|(known, _, _)| known.len() < word.len()) {
                best = Some((word, unit, factor));
            }
        }
    }
    let (word, unit, factor) = best?;
    Some(Printed { at: (from, from + word.len()), text: word.to_owned(), unit, factor })
}

/// The unit that a heading of a column names: in brackets, or as its last word.
#[must_use]
pub fn of_heading(text: &str) -> Option<Printed> {
    let places = text
        .char_indices()
        .filter(|(at, _)| *at == 0 || text[..*at].ends_with([' ', '(', '[', '\u{a0}', ')']));
    let found: Vec<Printed> = places.filter_map(|(at, _)| unit_in(text, at)).collect();
    found.into_iter().next_back()
}
