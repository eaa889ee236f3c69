//! Bounds and percentiles of a sentence against those of its source: "up to" that is lost, "at most"
//! that became "at least", p99 that became p95.

use super::words::{MAX_ENDING, has_any_word};
use super::{Linter, Rule, page_span};
use crate::figure::{
    PageNumberFormat, PrintedFigure, base_language, is_unspaced_script, text_before,
};
use crate::page::PageText;
use crate::steps;

/// Side from which a figure is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    AtMost,
    AtLeast,
}

/// Words and marks before a figure, in lower case.
const BEFORE: [(Bound, &[&str]); 2] = [
    (
        Bound::AtMost,
        &[
            "up to",
            "at most",
            "no more than",
            "not more than",
            "not exceed",
            "less than",
            "fewer than",
            "<",
            "maximum of",
            "≤",
            "bis zu",
            "höchstens",
            "nicht mehr als",
            "weniger als",
            "maximal",
            "jusqu’à",
            "jusqu'à",
            "au plus",
            "pas plus de",
            "moins de",
            "au maximum",
            "hasta",
            "como máximo",
            "no más de",
            "menos de",
            "máximo de",
            "až",
            "nejvýše",
            "maximálně",
            "méně než",
            "до",
            "не более",
            "не более чем",
            "не больше",
            "менее",
            "менее чем",
            "максимум",
            "最大",
            "最高",
            "至多",
            "最多",
            "below",
            "smaller than",
            "lower than",
            "unter",
            "kleiner als",
            "kleiner",
            "niedriger als",
            "geringer als",
            "inférieur à",
            "inférieure à",
            "inférieurs à",
            "inférieures à",
            "ne dépasse pas",
            "inferior a",
            "inferiores a",
            "menor que",
            "menos que",
            "menší než",
            "nižší než",
            "pod",
            "меньше",
            "ниже",
            "小于",
            "少于",
            "不足",
            "不大于",
            "不高于",
            "不超过",
            "不超過",
            "不能超过",
            "不得超过",
            "不会超过",
            "不应超过",
            "不可超过",
            "没有超过",
            "未超过",
            "не превышает",
            "не превышают",
            "n’excède pas",
            "no supera",
            "no superan",
            "高达",
            "高達",
            "低于",
            "最大で",
            "최대",
        ],
    ),
    (
        Bound::AtLeast,
        &[
            "at least",
            "more than",
            "exceeds",
            "exceeding",
            "no less than",
            ">",
            "minimum of",
            "≥",
            "mindestens",
            "mehr als",
            "wenigstens",
            "au moins",
            "plus de",
            "au minimum",
            "como mínimo",
            "al menos",
            "por lo menos",
            "más de",
            "mínimo de",
            "alespoň",
            "nejméně",
            "minimálně",
            "více než",
            "не менее",
            "не меньше",
            "более",
            "более чем",
            "не менее чем",
            "минимум",
            "above",
            "greater than",
            "larger than",
            "higher than",
            "größer als",
            "größer",
            "höher als",
            "supérieur à",
            "supérieure à",
            "supérieurs à",
            "supérieures à",
            "superior a",
            "superiores a",
            "mayor que",
            "más que",
            "větší než",
            "vyšší než",
            "nad",
            "přes",
            "больше",
            "свыше",
            "выше",
            "大于",
            "高于",
            "多于",
            "不少于",
            "不小于",
            "至少",
            "不低于",
            "最少",
            "超过",
            "超過",
            "少なくとも",
            "최소",
        ],
    ),
];
/// Verbs of Chinese between a bound and its figure.
const BEFORE_VERB: [&str; 4] = ["为", "為", "可达", "可達"];
/// Words behind a figure.
const BEHIND: [(Bound, &[&str]); 2] = [
    (
        Bound::AtMost,
        &[
            "以下",
            "以内",
            "未満",
            "이하",
            "미만",
            "까지",
            "or less",
            "or fewer",
            "oder weniger",
            "oder niedriger",
            "or lower",
            "ou moins",
            "o menos",
            "или меньше",
            "nebo méně",
            "或更少",
        ],
    ),
    (
        Bound::AtLeast,
        &[
            "以上",
            "を超え",
            "을 초과",
            "를 초과",
            "이상",
            "or more",
            "or higher",
            "or greater",
            "oder mehr",
            "oder höher",
            "ou plus",
            "o más",
            "или больше",
            "или более",
            "nebo více",
            "或更多",
        ],
    ),
];
/// Words that may express a bound, or a place, or something else. With one of them in a text, no
/// bound counts as lost.
const OTHER_BOUNDS: [&str; 33] = [
    "under",
    "than",
    "als",
    "než",
    "чем",
    "kleinste",
    "größte",
    "over",
    "within",
    "limit",
    "maximum",
    "minimum",
    "max",
    "min",
    "peak",
    "über",
    "bis",
    "jusque",
    "inférieur",
    "supérieur",
    "dépass",
    "superior",
    "inferior",
    "debajo",
    "encima",
    "máximo",
    "mínimo",
    "まで",
    "超え",
    "上限",
    "下限",
    "초과",
    "넘",
];
/// Languages whose words for bounds are known.
const LANGUAGES: [&str; 9] = ["en", "de", "fr", "es", "cs", "ru", "zh", "ja", "ko"];

/// Compares the bounds and the percentiles of a text with those of its source.
pub(super) fn compare(
    lint: &mut Linter<'_>,
    text: &PageText,
    (source, source_format): (&PageText, PageNumberFormat),
) {
    /// Maximum number of figures; real sentences have fewer.
    const MOST: usize = 32;
    compare_percentiles(lint, text, source);
    let (figures, source_figures) = (&text.figures, &source.figures);
    if figures.len() > MOST || source_figures.len() > MOST {
        return;
    }
    let are_single = figures.len() == 1 && source_figures.len() == 1;
    let format = lint.number_format;
    let has_same_digits = |a: &PrintedFigure, b: &PrintedFigure| {
        let (ours, theirs) = (format.possible_values(a), source_format.possible_values(b));
        ours.iter().any(|a| theirs.iter().any(|b| a.to_bits() == b.to_bits()))
    };
    for (at, source_figure) in source_figures.iter().enumerate() {
        let Some(expected) = find_bound(&source.text, source_figure) else { continue };
        let is_equal = |it: &&PrintedFigure| are_single || has_same_digits(it, source_figure);
        // Equal digits are compared in order, if they occur equally often.
        let is_other =
            |it: &&PrintedFigure| it.value.to_bits() == source_figure.value.to_bits();
        let others = source_figures.iter().filter(is_other).count();
        let number = source_figures[..at].iter().filter(is_other).count();
        let same: Vec<&PrintedFigure> = figures.iter().filter(is_equal).collect();
        let Some(figure) = same.get(number).filter(|_| same.len() == others) else { continue };
        let message = match find_bound(&text.text, figure) {
            Some(found) if found != expected => {
                format!("{}, and the source has {}", found.phrase(), expected.phrase())
            }
            None if lint.knows_bounds
                && !is_version(source_figure)
                && !names_bound(&text.text, figure) =>
            {
                format!("the source has {}, and here is no bound", expected.phrase())
            }
            Some(_) | None => continue,
        };
        lint.add_difference(Rule::Qualifier, page_span(text, figure.number_span), message);
    }
}

/// Whether a figure may be the version of a program: `1.0`.
const fn is_version(figure: &PrintedFigure) -> bool {
    figure.decimals > 0 && figure.unit.is_none()
}

/// Returns whether the words for bounds of a language are known.
pub(super) fn is_known_language(language: Option<&str>) -> bool {
    language.is_some_and(|it| LANGUAGES.contains(&base_language(it).as_str()))
}

impl Bound {
    const fn phrase(self) -> &'static str {
        match self {
            Self::AtMost => "\"at most\"",
            Self::AtLeast => "\"at least\"",
        }
    }
}

/// Returns the bound directly before or behind a figure.
pub(super) fn find_bound(text: &str, figure: &PrintedFigure) -> Option<Bound> {
    const NEAR: usize = 48;
    let (from, to) = figure.number_span;
    steps::count(NEAR);
    let before = text_before(text, from, NEAR).to_lowercase();
    let before = before.trim_end_matches([' ', '\u{a0}', '~', '*', '_']);
    // `至少为 3 ms`: the verb is between the bound and the figure.
    let before = BEFORE_VERB.iter().find_map(|it| before.strip_suffix(it)).unwrap_or(before);
    let end = figure.unit.as_ref().map_or(to, |unit| unit.span.1.max(to));
    let behind = text[end..].trim_start();
    let ends = |word: &&str| {
        before.strip_suffix(*word).is_some_and(|rest| {
            // `->` is an arrow, and a line of a quotation begins with `>`; a cell may be a bound.
            if ["<", ">"].contains(word) {
                let is_alone = *word == "<" || behind.is_empty();
                return !rest.ends_with(['-', '=', '<', '>'])
                    && (is_alone || !rest.trim().is_empty());
            }
            let is_edge = rest.chars().next_back().is_none_or(|c| !c.is_alphabetic());
            is_edge || word.starts_with(is_unspaced_script)
        })
    };
    let of_before = BEFORE.iter().flat_map(|(bound, words)| {
        words.iter().filter(|word| ends(word)).map(move |word| (word.len(), *bound))
    });
    // `no more than` ends with `more than`.
    let longest = of_before.max_by_key(|(length, _)| *length);
    // A negation before it turns a bound round, or is of something else.
    if let Some((length, bound)) = longest {
        let rest = &before[..before.len() - length];
        return (!is_negated(rest)).then_some(bound);
    }
    None.or_else(|| {
        let starts = |words: &[&str]| words.iter().any(|word| behind.starts_with(word));
        BEHIND.iter().find(|(_, words)| starts(words)).map(|(bound, _)| *bound)
    })
}

/// Negations, which may belong to the bound that follows.
const NEGATIONS: [&str; 11] =
    ["not", "don't", "doesn't", "nicht", "kein", "keine", "pas", "no", "nunca", "не", "není"];

/// Returns whether a negation is among the last two words.
fn is_negated(before: &str) -> bool {
    const UNSPACED: [char; 4] = ['不', '没', '未', '無'];
    before.ends_with(UNSPACED)
        || before.split_whitespace().rev().take(2).any(|word| NEGATIONS.contains(&word))
}

/// Returns whether a word for a bound is near a figure.
fn names_bound(text: &str, figure: &PrintedFigure) -> bool {
    const BEFORE_FIGURE: usize = 80;
    const BEHIND_FIGURE: usize = 40;
    let (from, to) = figure.number_span;
    let behind: String = text[to..].chars().take(BEHIND_FIGURE).collect();
    let lower = format!("{} {behind}", text_before(text, from, BEFORE_FIGURE)).to_lowercase();
    steps::count(lower.len());
    let is_spaced =
        |word: &&&str| word.starts_with(|c: char| c.is_alphabetic() && !is_unspaced_script(c));
    let has_any = |words: &[&str]| {
        let mut unspaced = words.iter().filter(|word| !is_spaced(word));
        has_any_word(&lower, words, MAX_ENDING) || unspaced.any(|word| lower.contains(*word))
    };
    has_any(&OTHER_BOUNDS) || BEFORE.iter().chain(&BEHIND).any(|(_, words)| has_any(words))
}

/// Reports percentiles that differ from those of the source, if there are equally many.
fn compare_percentiles(lint: &mut Linter<'_>, text: &PageText, source: &PageText) {
    let (here, there) = (find_percentiles(&text.text), find_percentiles(&source.text));
    if here.len() != there.len() {
        return;
    }
    let sorted = |all: &[NamedPercentile<'_>]| {
        let mut names: Vec<String> =
            all.iter().map(|(_, name)| name.replace(',', ".")).collect();
        names.sort_unstable();
        names
    };
    let (names, source_names) = (sorted(&here), sorted(&there));
    let is_other =
        |(_, name): &&NamedPercentile<'_>| !source_names.contains(&name.replace(',', "."));
    if let Some((at, name)) = here.iter().find(is_other).filter(|_| names != source_names) {
        let message = format!("p{name}, and the source has p{}", source_names.join(", p"));
        let length = usize::from(text.text[*at..].starts_with(['p', 'P'])) + name.len();
        lint.add_difference(Rule::Name, page_span(text, (*at, at + length)), message);
    }
}

/// Percentile of a text: its position and its number.
pub(super) type NamedPercentile<'t> = (usize, &'t str);

/// Returns the percentiles of a text, like `p99.9` and `99th percentile`.
pub(super) fn find_percentiles(text: &str) -> Vec<NamedPercentile<'_>> {
    steps::count(text.len());
    let marks = text.match_indices(['p', 'P']).map(|(at, _)| at);
    let is_start = |at: &usize| !text[..*at].ends_with(|c: char| c.is_ascii_alphanumeric());
    let number = |at: usize| {
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches('.');
        (number.len() >= 2 && is_share(number)).then_some((at, number))
    };
    let mut found: Vec<NamedPercentile<'_>> =
        marks.filter(is_start).filter_map(number).collect();
    found.extend(find_ordinal_percentiles(text));
    found.sort_unstable_by_key(|(at, _)| *at);
    found.dedup_by_key(|(at, _)| *at);
    found
}

fn is_share(number: &str) -> bool {
    number.parse::<f64>().is_ok_and(|it| (1.0..100.0).contains(&it))
}

/// Stems of the word "percentile".
const PERCENTILE_WORDS: [&str; 8] = [
    "percentil",
    "perzentil",
    "centile",
    "percentyl",
    "перцентил",
    "パーセンタイル",
    "百分位",
    "백분위",
];

/// Returns the numbers directly before "percentile", with the ending of an ordinal (`99-й
/// перцентиль`), or directly behind it (`percentil 99`).
fn find_ordinal_percentiles(text: &str) -> Vec<NamedPercentile<'_>> {
    /// Longest ending with its marks, in bytes.
    const LONGEST_ENDING: usize = 8;
    const ENDINGS: [&str; 16] = [
        "", "th", "st", "nd", "rd", ".", "e", "º", "º.", ".º", "-й", "-го", "-м", "-му", "第",
        "번째",
    ];
    if !text.contains(|c: char| c.is_ascii_digit()) {
        return Vec::new();
    }
    let lower = text.to_lowercase();
    // A change of length in lower case would shift the positions.
    if lower.len() != text.len() {
        return Vec::new();
    }
    steps::count(lower.len());
    let named = PERCENTILE_WORDS.iter().filter(|word| lower.contains(**word));
    let words = named.flat_map(|word| lower.match_indices(word));
    let before = |at: usize| {
        let before = text.get(..at)?.trim_end_matches([' ', '\u{a0}', '-', '*']);
        let end = before.rfind(|c: char| c.is_ascii_digit())? + 1;
        let ending = before.get(end..).filter(|it| it.len() <= LONGEST_ENDING)?;
        let head =
            before[..end].trim_end_matches(|c: char| c.is_ascii_digit() || ".,".contains(c));
        let number = &before[head.len()..end];
        let is_one = ENDINGS.contains(&ending.trim())
            && is_share(&number.replace(',', "."))
            && !head.ends_with(['p', 'P']);
        is_one.then_some((head.len(), number))
    };
    let behind = |at: usize| {
        let rest = text.get(at..)?;
        let head = rest.trim_start_matches(|c: char| c.is_alphabetic());
        let number = head.strip_prefix([' ', '\u{a0}'])?;
        let is_part = |c: char| c.is_ascii_digit() || ".,".contains(c);
        let length = number.find(|c: char| !is_part(c)).unwrap_or(number.len());
        let start = at + rest.len() - number.len();
        let number = number[..length].trim_end_matches(['.', ',']);
        let is_one = number.len() >= 2 && is_share(&number.replace(',', "."));
        is_one.then_some((start, number))
    };
    words.filter_map(|(at, _)| before(at).or_else(|| behind(at))).collect()
}
