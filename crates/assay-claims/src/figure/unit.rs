//! Units as pages print them: symbols of every language with their prefixes, and words.
//!
//! A page may print `GB/s`, `Go/s`, `ГБ/с`, `GB/秒` or `GB/sn`. Symbols are combined from prefixes
//! and bases, so that none is missing; anything else is not a unit.

use std::collections::HashMap;
use std::sync::LazyLock;

use assay_model::quantity::Unit;

use crate::steps;

/// Unit as printed.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedUnit {
    /// Byte span in the text.
    pub span: (usize, usize),
    /// Text of the unit.
    pub text: String,
    /// Base unit; a size if the time of a rate is missing.
    pub unit: Unit,
    /// Factor to the base unit.
    pub factor: f64,
}

impl PrintedUnit {
    /// Returns whether both are the same unit with the same prefix.
    pub fn is_same(&self, other: &Self) -> bool {
        self.unit == other.unit && (self.factor / other.factor - 1.0).abs() <= 1e-9
    }
}

/// Kind of a spelling, which determines the characters that may follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpellingKind {
    /// Symbol: no letter or digit follows.
    Symbol,
    /// Word: an inflection may follow.
    Word,
    /// Symbol that is also a word: `o` is "or", `с` is "with". No word may follow.
    Letter,
}

#[derive(Debug)]
struct Spelling {
    text: String,
    unit: Unit,
    factor: f64,
    kind: SpellingKind,
}

/// Decimal prefixes in Latin and in Cyrillic letters.
const DECIMAL: [(f64, &[&str], &[&str]); 6] = [
    (1.0, &[""], &[""]),
    (1e3, &["k", "K"], &["к", "К"]),
    (1e6, &["M"], &["М"]),
    (1e9, &["G"], &["Г"]),
    (1e12, &["T"], &["Т"]),
    (1e15, &["P"], &["П"]),
];
const BINARY: [(f64, &[&str], &[&str]); 5] = [
    (1024.0, &["Ki"], &["Ки"]),
    (1_048_576.0, &["Mi"], &["Ми"]),
    (1_073_741_824.0, &["Gi"], &["Ги"]),
    (1_099_511_627_776.0, &["Ti"], &["Ти"]),
    (1_125_899_906_842_624.0, &["Pi"], &["Пи"]),
];
/// Submultiples of the second.
const TIME: [(f64, &[&str], &[&str]); 5] = [
    (1e-12, &["p"], &["п"]),
    (1e-9, &["n"], &["н"]),
    // Micro sign, Greek letter and ASCII substitute.
    (1e-6, &["µ", "μ", "u"], &["мк"]),
    (1e-3, &["m"], &["м"]),
    (1.0, &[""], &[""]),
];
/// "Per second" after a symbol, in each script. The second Cyrillic one ends with a Latin letter.
const PER_SECOND: [&str; 7] = ["/s", "/sec", " / s", "/с", " / с", "/秒", "/초"];
const PER_SECOND_MORE: [&str; 10] = [
    "/sn",
    "/saniye",
    "/Sek",
    "/second",
    " per second",
    " pro Sekunde",
    " par seconde",
    " por segundo",
    " za sekundu",
    " al secondo",
];
const PER_SECOND_CYRILLIC: [&str; 5] = ["/с", "/c", "/сек", " / с", " в секунду"];
/// Stems of words for a second, by prefix.
const TIME_WORDS: [(f64, &[&str]); 4] = [
    (
        1e-9,
        &[
            "nanosecond",
            "nanosekund",
            "nanosegundo",
            "nanossegundo",
            "nanosaniye",
            "наносекунд",
        ],
    ),
    (
        1e-6,
        &[
            "microsecond",
            "mikrosekund",
            "mikrosekundach",
            "mikrosekundách",
            "microsegundo",
            "microssegundo",
            "mikrosaniye",
            "mikroszekundum",
            "mikromásodperc",
            "микросекунд",
        ],
    ),
    (
        1e-3,
        &[
            "millisecond",
            "millisekund",
            "milisekundach",
            "milisekundách",
            "milisekund",
            "milisegundo",
            "milissegundo",
            "milisaniye",
            "ezredmásodperc",
            "миллисекунд",
        ],
    ),
    (1.0, &["second", "sekund", "sekundach", "segundo", "saniye", "másodperc", "секунд"]),
];
/// Spellings without prefixes: words without inflection or blanks, and irregular symbols.
const OTHER_SPELLINGS: [(Unit, f64, &[&str]); 16] = [
    (Unit::Second, 1e-9, &["ナノ秒", "纳秒", "納秒", "奈秒", "나노초", "nsec"]),
    (Unit::Second, 1e-6, &["マイクロ秒", "微秒", "마이크로초", "usec", "µsec"]),
    (Unit::Second, 1e-3, &["ミリ秒", "毫秒", "밀리초", "msec"]),
    (Unit::Second, 1.0, &["秒", "초", "sec"]),
    (Unit::SecondPerByte, 1e-9, &["s/GB", "s/Go", "с/ГБ", "ns/B", "нс/Б", "ns/o"]),
    (
        Unit::Ratio,
        0.01,
        &[
            "%",
            "％",
            "٪",
            "퍼센트",
            "パーセント",
            "pour cent",
            "por ciento",
            "por cento",
            "per cento",
        ],
    ),
    (
        Unit::IoPerSecond,
        1.0,
        &[
            "ıOPS",
            "I/O per second",
            "I/Os per second",
            "E/S par seconde",
            "E/S por segundo",
            "E/A pro Sekunde",
            "операций ввода-вывода в секунду",
            "операции ввода-вывода в секунду",
        ],
    ),
    (
        Unit::IoPerSecond,
        1e3,
        &["k IOPS", "K IOPS", "k-IOPS", "K-IOPS", "kıOPS", "k ıOPS", "тыс. IOPS"],
    ),
    (Unit::IoPerSecond, 1e6, &["M IOPS"]),
    // Chinese, Japanese and Korean count in ten thousands.
    (Unit::IoPerSecond, 1e4, &["万 IOPS", "萬 IOPS", "만 IOPS", "万IOPS", "萬IOPS", "만IOPS"]),
    (
        Unit::BitPerSecond,
        1e9,
        &[
            "gigabits per second",
            "gigabit per second",
            "Gigabit pro Sekunde",
            "gigabits par seconde",
            "gigabits por segundo",
            "гигабит в секунду",
            "гигабита в секунду",
        ],
    ),
    (
        Unit::BitPerSecond,
        1e6,
        &[
            "megabits per second",
            "Megabit pro Sekunde",
            "mégabits par seconde",
            "megabits por segundo",
            "мегабит в секунду",
            "мегабита в секунду",
        ],
    ),
    (Unit::Byte, 1.0, &["字节", "位元組", "バイト", "바이트"]),
    (Unit::Byte, 1e3, &["千字节", "キロバイト", "킬로바이트"]),
    (Unit::Byte, 1e6, &["兆字节", "メガバイト", "메가바이트"]),
    (Unit::Byte, 1e9, &["吉字节", "ギガバイト", "기가바이트"]),
];
/// Stems of other words.
const WORD_STEMS: [(Unit, f64, &[&str]); 13] = [
    (Unit::Ratio, 0.01, &["percent", "per cent", "prozent", "procent", "процент"]),
    (Unit::FlopPerSecond, 1e15, &["PetaFLOP", "петафлоп", "Петафлоп"]),
    (Unit::FlopPerSecond, 1e12, &["TeraFLOP", "терафлоп", "Терафлоп"]),
    (Unit::FlopPerSecond, 1e9, &["GigaFLOP", "гигафлоп", "Гигафлоп"]),
    (Unit::FlopPerSecond, 1e6, &["MegaFLOP", "мегафлоп"]),
    (Unit::Byte, 1_048_576.0, &["mebibyt", "мебибайт"]),
    (Unit::Byte, 1024.0, &["kibibyt", "кибибайт", "кибибит"]),
    (Unit::Byte, 1_099_511_627_776.0, &["tebibyt", "тебибайт"]),
    (Unit::Byte, 1e12, &["terabyt", "tera-octet", "téra-octet", "терабайт"]),
    (Unit::Byte, 1e9, &["gigabyt", "giga-octet", "гигабайт"]),
    (Unit::Byte, 1e6, &["megabyt", "méga-octet", "мегабайт"]),
    (Unit::Byte, 1e3, &["kilobyt", "kilo-octet", "килобайт"]),
    (Unit::Byte, 1.0, &["byte", "octet", "байт", "байтны", "байтно"]),
];

/// Spellings by their first two characters, which exclude most words of a page at once.
type SpellingTable = HashMap<(char, Option<char>), Vec<Spelling>>;

static SPELLINGS: LazyLock<SpellingTable> = LazyLock::new(|| {
    let mut table = SpellingTable::new();
    add_rates(&mut table);
    add_times(&mut table);
    let listed = |unit, factor, words: &[&str], end, table: &mut SpellingTable| {
        for word in words {
            add_spelling(table, (*word).to_owned(), (unit, factor), end);
        }
    };
    for (unit, factor, words) in OTHER_SPELLINGS {
        listed(unit, factor, words, SpellingKind::Symbol, &mut table);
    }
    for (unit, factor, words) in WORD_STEMS {
        listed(unit, factor, words, SpellingKind::Word, &mut table);
    }
    for (factor, words) in TIME_WORDS {
        listed(Unit::Second, factor, words, SpellingKind::Word, &mut table);
    }
    table
});

/// Returns the first two characters of a text.
fn first_two(text: &str) -> Option<(char, Option<char>)> {
    let mut chars = text.chars();
    Some((chars.next()?, chars.next()))
}

fn to_lower(first: char, second: Option<char>) -> (char, Option<char>) {
    (first.to_ascii_lowercase(), second.map(|it| it.to_ascii_lowercase()))
}

fn add_spelling(
    table: &mut SpellingTable,
    text: String,
    (unit, factor): (Unit, f64),
    end: SpellingKind,
) {
    let (first, second) = first_two(&text).expect("every spelling has a letter");
    // Words may have capital letters.
    let key = if end == SpellingKind::Word { to_lower(first, second) } else { (first, second) };
    table.entry(key).or_default().push(Spelling { text, unit, factor, kind: end });
}

/// Adds sizes and rates.
fn add_rates(table: &mut SpellingTable) {
    for (factor, prefixes, cyrillic) in DECIMAL.into_iter().chain(BINARY) {
        let is_decimal =
            DECIMAL.iter().any(|(decimal, ..)| decimal.to_bits() == factor.to_bits());
        for prefix in prefixes {
            add_latin_rates(table, prefix, factor, is_decimal);
        }
        for prefix in cyrillic {
            add_cyrillic_rates(table, prefix, factor, is_decimal);
        }
    }
}

fn add_latin_rates(table: &mut SpellingTable, prefix: &str, factor: f64, is_decimal: bool) {
    let per_second = || PER_SECOND.iter().chain(&PER_SECOND_MORE);
    for base in ["B", "o"] {
        let is_word = prefix.is_empty() && base == "o";
        let kind = if is_word { SpellingKind::Letter } else { SpellingKind::Symbol };
        add_spelling(table, format!("{prefix}{base}"), (Unit::Byte, factor), kind);
        for per in per_second().chain(&["ps"]).filter(|per| base == "B" || **per != "ps") {
            add_symbol(table, format!("{prefix}{base}{per}"), (Unit::BytePerSecond, factor));
        }
    }
    for base in ["bit", "bits", "Bit", "b"] {
        let short: &[&str] = if base == "b" { &["ps"] } else { &[] };
        for per in per_second().chain(short) {
            add_symbol(table, format!("{prefix}{base}{per}"), (Unit::BitPerSecond, factor));
        }
    }
    let others = [
        (Unit::FlopPerSecond, "FLOP/s FLOPS FLOPs Flop/s Flops flops"),
        (Unit::IoPerSecond, "IO/s IO/с IOPS"),
        (Unit::Hertz, "Hz"),
    ];
    for (unit, bases) in others.into_iter().filter(|_| is_decimal) {
        for base in bases.split(' ') {
            add_symbol(table, format!("{prefix}{base}"), (unit, factor));
        }
    }
}

fn add_cyrillic_rates(table: &mut SpellingTable, prefix: &str, factor: f64, is_decimal: bool) {
    let bytes =
        || ["Б", "байт", "Байт"].into_iter().filter(|it| *it == "Б" || !prefix.is_empty());
    for base in bytes() {
        add_symbol(table, format!("{prefix}{base}"), (Unit::Byte, factor));
    }
    for per in PER_SECOND_CYRILLIC {
        for base in bytes() {
            add_symbol(table, format!("{prefix}{base}{per}"), (Unit::BytePerSecond, factor));
        }
        for base in ["бит", "Бит", "б"] {
            add_symbol(table, format!("{prefix}{base}{per}"), (Unit::BitPerSecond, factor));
        }
    }
    if is_decimal {
        add_symbol(table, format!("{prefix}Гц"), (Unit::Hertz, factor));
    }
}

fn add_symbol(table: &mut SpellingTable, text: String, value: (Unit, f64)) {
    add_spelling(table, text, value, SpellingKind::Symbol);
}

fn add_times(table: &mut SpellingTable) {
    for (factor, prefixes, cyrillic) in TIME {
        let all =
            prefixes.iter().map(|it| (it, "s")).chain(cyrillic.iter().map(|it| (it, "с")));
        for (prefix, base) in all {
            let end =
                if prefix.is_empty() { SpellingKind::Letter } else { SpellingKind::Symbol };
            add_spelling(table, format!("{prefix}{base}"), (Unit::Second, factor), end);
        }
    }
}

/// Returns whether the script of a character has no blanks between words: Hangul, Han and kana.
pub(crate) const fn is_unspaced_script(c: char) -> bool {
    c as u32 >= 0x1100
}

/// Returns the bytes of the spelling at the beginning of a text.
fn spelling_length(spelling: &Spelling, rest: &str) -> Option<usize> {
    /// Accepts `Mikrosekunden` and `микросекунды`, but not "secondary".
    const LONGEST_ENDING: usize = 2;
    let length = spelling.text.len();
    match spelling.kind {
        SpellingKind::Word => {
            let is_prefix = rest.get(..length)?.eq_ignore_ascii_case(&spelling.text);
            let ending = rest[length..].chars().take_while(|c| is_letter(*c));
            let (mut letters, mut bytes) = (0, 0);
            for letter in ending.take(LONGEST_ENDING + 1) {
                letters += 1;
                bytes += letter.len_utf8();
            }
            (is_prefix && letters <= LONGEST_ENDING).then_some(length + bytes)
        }
        SpellingKind::Symbol => {
            let after = rest.strip_prefix(&spelling.text)?;
            let next = after.chars().next();
            let continues = next.is_some_and(is_letter_or_digit);
            // 초과 is "more than", 초기 "at first".
            let is_other = spelling.text == "초" && after.starts_with(['과', '기']);
            (!continues && !is_other).then_some(length)
        }
        SpellingKind::Letter => {
            let after = rest.strip_prefix(&spelling.text)?;
            let is_word =
                after.trim_start_matches(BLANKS).chars().next().is_some_and(is_letter_or_digit);
            // French `s’exécute` is an elision.
            (!is_word && !after.starts_with(['\'', '’'])).then_some(length)
        }
    }
}

pub(crate) const BLANKS: [char; 5] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\u{2007}'];

fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !is_unspaced_script(c)
}

fn is_letter_or_digit(c: char) -> bool {
    c.is_alphanumeric() && !is_unspaced_script(c)
}

/// Returns the longest unit at exactly this position. Backslashes before its slash are no part of
/// it: an escape, or an entity's place.
pub(crate) fn parse_unit(text: &str, from: usize) -> Option<PrintedUnit> {
    /// Maximum number of characters before the slash.
    const LONGEST_SIZE: usize = 8;
    let rest = &text[from..];
    let slash = rest.chars().take(LONGEST_SIZE).position(|c| c == '\\');
    let Some(at) = slash.and_then(|count| rest.char_indices().nth(count)) else {
        return parse_plain_unit(text, from);
    };
    let (size, after) = rest.split_at(at.0);
    let unescaped = after.trim_start_matches('\\');
    let fill = after.len() - unescaped.len();
    if !unescaped.starts_with('/') {
        return parse_plain_unit(text, from);
    }
    let time: String = unescaped.chars().take(2 * LONGEST_SIZE).collect();
    let mut unit = parse_plain_unit(&format!("{size}{time}"), 0)?;
    let length = unit.span.1 + if unit.span.1 > size.len() { fill } else { 0 };
    unit.span = (from, from + length);
    Some(unit)
}

fn parse_plain_unit(text: &str, from: usize) -> Option<PrintedUnit> {
    let rest = &text[from..];
    let (first, second) = first_two(rest)?;
    let with = |key: &(char, Option<char>)| SPELLINGS.get(key).into_iter().flatten();
    let (exact, lower) = ((first, second), to_lower(first, second));
    let single = with(&(first, None)).filter(|_| second.is_some());
    let words = with(&lower).filter(|it| exact != lower && it.kind == SpellingKind::Word);
    let candidates = with(&exact).chain(single).chain(words);
    let matches = candidates.filter_map(|it| Some((spelling_length(it, rest)?, it)));
    let (length, best) = matches.max_by_key(|(length, _)| *length)?;
    let span = (from, from + length);
    Some(PrintedUnit {
        span,
        text: text[span.0..span.1].to_owned(),
        unit: best.unit,
        factor: best.factor,
    })
}

/// Blanks, brackets and marks of the direction of text between a number and its unit.
const BEFORE_UNIT: [char; 12] = [
    ' ', '\u{a0}', '\u{202f}', '\u{2009}', '\u{2007}', '-', '[', '(', '\u{200e}', '\u{200f}',
    '\u{2066}', '\u{2069}',
];
/// Maximum number of bytes between a number and its unit, which an entity may have.
const MAX_SKIPPED: usize = 16;

/// Returns the unit after a number, optionally after blanks, a hyphen or a bracket.
pub(crate) fn unit_after_number(text: &str, from: usize) -> Option<PrintedUnit> {
    let rest = &text[from..];
    let skipped = rest.len() - rest.trim_start_matches(BEFORE_UNIT).len();
    let skipped = if skipped > MAX_SKIPPED { return None } else { skipped };
    parse_unit(text, from + skipped)
        .or_else(|| operations_after_words(text, from + skipped, MAX_KINDS))
}

/// Maximum number of words for the kind of I/O, after the first one.
const MAX_KINDS: usize = 1;

/// Returns the unit of I/O operations behind words for their kind: `200,000 random read IOPS`.
fn operations_after_words(text: &str, from: usize, most: usize) -> Option<PrintedUnit> {
    const KINDS: [&str; 4] = ["read", "write", "random", "sequential"];
    let rest = &text[from..];
    let kind = KINDS
        .iter()
        .find(|kind| rest.get(..kind.len()).is_some_and(|it| it.eq_ignore_ascii_case(kind)))?;
    let blanks = rest[kind.len()..].chars().take_while(|c| BLANKS.contains(c));
    let blanks: usize = blanks.map(char::len_utf8).sum();
    if blanks == 0 {
        return None;
    }
    let next = from + kind.len() + blanks;
    let unit = parse_unit(text, next).filter(|it| it.unit == Unit::IoPerSecond);
    unit.or_else(|| operations_after_words(text, next, most.checked_sub(1)?))
}

/// Returns the unit in the heading of a column: in brackets, or as its last word.
pub fn heading_unit(text: &str) -> Option<PrintedUnit> {
    steps::count(text.len());
    let word_starts = text.char_indices().filter(|(start, _)| {
        *start == 0 || text[..*start].ends_with([' ', '(', '[', '\u{a0}', ')'])
    });
    let is_named = |it: &PrintedUnit| {
        let (before, after) = (text[..it.span.0].trim_end(), text[it.span.1..].trim_start());
        let is_enclosed = before.ends_with(['(', '[']) && after.starts_with([')', ']']);
        let is_alone = before.is_empty() && after.is_empty();
        // `B` may be a letter in an enumeration, and "second" an ordinal.
        let is_word =
            it.text.chars().count() == 1 || it.unit == Unit::Second && it.factor >= 1.0;
        // `at 4 KiB` is a parameter, not the unit of the column.
        let is_value = before.ends_with(|c: char| c.is_ascii_digit());
        // `Value(s)` is a plural.
        let is_plural =
            text[..it.span.0].strip_suffix('(').is_some_and(|it| it.ends_with(is_letter));
        !(is_value || is_plural && it.text == "s") && (is_enclosed || is_alone || !is_word)
    };
    let mut units =
        word_starts.filter_map(|(start, _)| parse_unit(text, start)).filter(is_named);
    units.next_back()
}

/// Returns whether a text contains this unit with this prefix anywhere.
pub(crate) fn contains_unit(text: &str, unit: &PrintedUnit) -> bool {
    steps::count(text.len());
    let is_start = |position: &usize| !text[..*position].ends_with(is_letter_or_digit);
    let starts = text.char_indices().map(|(position, _)| position).filter(is_start);
    starts.filter_map(|position| parse_unit(text, position)).any(|it| it.is_same(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every unit of the model is parsed, with each prefix that its formatter may choose.
    #[test]
    fn parses_every_formatted_unit() {
        for unit in Unit::ALL {
            for exponent in -11..17 {
                let value = 4.0 * 10f64.powi(exponent);
                let formatted = assay_model::quantity::Quantity::new(value, unit).to_string();
                let Some((_, symbol)) = formatted.split_once(' ') else { continue };
                let parsed = parse_unit(symbol, 0).map(|it| (it.text, it.unit));
                assert_eq!(parsed, Some((symbol.to_owned(), unit)), "{formatted}");
            }
        }
    }

    #[test]
    fn parses_localised_units() {
        for (text, expected) in [
            ("нс", Some((Unit::Second, 1e-9))),
            ("с", Some((Unit::Second, 1.0))),
            ("с чтением", None),
            ("o más", None),
            ("o", Some((Unit::Byte, 1.0))),
            ("ГГц", Some((Unit::Hertz, 1e9))),
            ("GB/sn okuma", Some((Unit::BytePerSecond, 1e9))),
            ("кбит/с", Some((Unit::BitPerSecond, 1e3))),
            ("IO/с", Some((Unit::IoPerSecond, 1.0))),
            ("kIO/с", Some((Unit::IoPerSecond, 1e3))),
            ("k IOPS", Some((Unit::IoPerSecond, 1e3))),
            ("Mikrosekunden", Some((Unit::Second, 1e-6))),
            ("микросекунды", Some((Unit::Second, 1e-6))),
            ("microsecondi", Some((Unit::Second, 1e-6))),
            ("Kio/s", Some((Unit::BytePerSecond, 1024.0))),
            ("초과", None),
            ("secondary", None),
            ("s/Go", Some((Unit::SecondPerByte, 1e-9))),
            ("prozent", Some((Unit::Ratio, 0.01))),
        ] {
            let parsed = parse_unit(text, 0).map(|it| (it.unit, it.factor));
            assert_eq!(parsed, expected, "{text}");
        }
    }

    #[test]
    fn finds_unit_of_heading() {
        for (heading, expected) in [
            ("Latency [microseconds] (MPICH 3.3 + CH4)", Some("microseconds")),
            ("Rate at 4 KiB", None),
            ("Bandwidth (MB/s) at 4 KiB", Some("MB/s")),
            ("B", Some("B")),
            ("Second run", None),
            ("Lectura o escritura", None),
            ("Time [s]", Some("s")),
        ] {
            let unit = heading_unit(heading).map(|it| it.text);
            assert_eq!(unit.as_deref(), expected, "{heading}");
        }
    }
}
