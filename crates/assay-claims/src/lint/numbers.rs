//! Number formats: decimal marks, digit groups, trailing zeros, and marks for "about".

use std::collections::{BTreeMap, BTreeSet};

use assay_model::quantity::Unit;

use super::checks::Check;
use super::{FigureColumn, Linter, figure_columns, is_english, page_span};
use crate::figure::{PrintedFigure, PrintedUnit, is_unspaced_script, text_before};
use crate::page::{LintPage, PageTable, PageText};
use crate::steps;

pub(super) fn check(lint: &mut Linter<'_>, page: &LintPage) {
    for table in &page.tables {
        let figures = figure_columns(table);
        check_grouping(lint, &figures);
        check_trailing_zeros(lint, &figures);
        let columns = quantity_columns(lint, table);
        let has_amounts = has_amounts(table);
        let is_fixable = !keeps_other_marks(lint, table, &columns);
        for (row, column, cell) in table.numbered_cells() {
            let is_bare = super::bare_figure(cell).is_some();
            for figure in &cell.figures {
                // Cells with words may contain versions; a bare figure, or one with a unit, is a
                // number. A percentile in a heading is the name of a tool's column.
                let is_percentile = row == 0
                    && figure.unit.as_ref().is_some_and(|unit| unit.unit == Unit::Ratio);
                // A bare number may be a name or a version: `802.11`, 3.0.
                let has_unit = match columns.get(&column) {
                    Some(has_unit) if is_bare => Some(*has_unit),
                    _ => (figure.unit.is_some() && !is_percentile).then_some(true),
                };
                if let Some(has_unit) = has_unit.filter(|_| !has_amounts) {
                    check_decimal_mark(lint, cell, figure, (has_unit, is_fixable));
                }
                check_line_break(lint, cell, figure);
            }
        }
    }
    for text in &page.prose {
        for figure in text.figures.iter().filter(|it| it.unit.is_some()) {
            check_decimal_mark(lint, text, figure, (true, true));
        }
    }
    for text in page.texts() {
        check_qualifiers(lint, text);
        check_genitive(lint, text);
    }
    check_hyphens(lint, page);
}

/// Returns whether a table has amounts in dollars with cents, as a program prints them: its other
/// figures have that format, too.
fn has_amounts(table: &PageTable) -> bool {
    let is_amount = |cell: &PageText| {
        cell.text.split_once('$').is_some_and(|(_, amount)| {
            let end = amount.find(|c: char| !c.is_ascii_digit() && !".,".contains(c));
            let amount = &amount[..end.unwrap_or(amount.len())];
            amount.rsplit_once('.').is_some_and(|(whole, cents)| {
                whole.starts_with(|c: char| c.is_ascii_digit()) && cents.len() == 2
            })
        })
    };
    table.rows.iter().flatten().any(is_amount)
}

/// Returns the columns whose bare numbers are quantities, not names or versions: those with a unit in
/// the heading, and those of numbers only, of which some have the decimal mark of the language.
/// Each has whether it has a unit.
fn quantity_columns(lint: &Linter<'_>, table: &PageTable) -> BTreeMap<usize, bool> {
    let expected = lint.number_format.decimal;
    let columns = table.rows.first().map_or(0, Vec::len);
    let quantity = |number: usize| {
        let cells = || super::full_rows(table).filter_map(|row| row.get(number));
        let is_empty = |cell: &PageText| cell.text.trim().is_empty();
        let figures = || cells().filter_map(super::bare_figure);
        let count = figures().count() + cells().filter(|cell| is_empty(cell)).count();
        let marked = || figures().filter(|it| it.mark.is_some());
        let usual = marked().filter(|it| it.mark == expected).count();
        let is_usual = usual > 0 && MIN_SHARE * usual >= marked().count();
        let heading = table.rows.first().and_then(|row| row.get(number));
        let has_unit = super::column_unit(table, number).is_some();
        let is_one = has_unit || number > 0 && count == cells().count() && is_usual;
        (is_one && !heading.is_some_and(|it| names_version(&it.text)))
            .then_some((number, has_unit))
    };
    (0..columns).filter_map(quantity).collect()
}

/// Inverse of the minimum share of figures with the language's mark in a column of quantities.
const MIN_SHARE: usize = 4;

/// Returns whether a table would keep numbers with the decimal mark of another language if those with
/// a unit were corrected: a program printed it, and one half would no longer match the other.
fn keeps_other_marks(
    lint: &Linter<'_>,
    table: &PageTable,
    columns: &BTreeMap<usize, bool>,
) -> bool {
    let expected = lint.number_format.decimal;
    let is_kept = |(row, column, cell): (usize, usize, &PageText)| {
        row > 0
            && columns.get(&column) != Some(&true)
            && super::bare_figure(cell)
                .is_some_and(|it| it.decimals != 3 && it.mark.is_some() && it.mark != expected)
    };
    table.numbered_cells().any(is_kept)
}

/// Returns whether a heading is that of versions, such as 3.0.
fn names_version(heading: &str) -> bool {
    const WORDS: [&str; 10] = [
        "version",
        "versión",
        "versão",
        "verze",
        "верси",
        "wersj",
        "sürüm",
        "版本",
        "バージョン",
        "버전",
    ];
    let lower = heading.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

/// Reports the decimal mark of another language. Three digits after it may be a group and are
/// skipped. Without a unit, the error is possible.
fn check_decimal_mark(
    lint: &mut Linter<'_>,
    text: &PageText,
    figure: &PrintedFigure,
    (has_unit, is_fixable): (bool, bool),
) {
    let (Some(mark), Some(expected)) = (figure.mark, lint.number_format.decimal) else {
        return;
    };
    let is_foreign = matches!((mark, expected), ('.', ',') | (',', '.'));
    if !is_foreign || figure.decimals == 3 {
        return;
    }
    // A quoted value is input of a program.
    let before = &text.text[..figure.number_span.0];
    // `[0,4 MB)` is an interval.
    if mark == ',' && before.ends_with('[') {
        return;
    }
    let is_quoted = before.ends_with('"')
        && figure.unit.as_ref().is_some_and(|it| text.text[it.span.1..].starts_with('"'));
    // Without a declared language, a bare number may be a list: `1,2`.
    let is_list = !lint.number_format.is_declared
        && mark == ','
        && (figure.unit.is_none() || figure.value >= 1000.0 || is_doubled(figure));
    let is_exempt = is_of_program(text, figure)
        || is_quoted
        || is_list
        || is_part_of_byte(figure)
        || mark == '.' && is_in_english(text, figure);
    if !is_exempt {
        let printed = &text.text[figure.number_span.0..figure.number_span.1];
        // Other digits have their own marks.
        let Some((head, tail)) = printed.rsplit_once(mark) else { return };
        let corrected = format!("{head}{expected}{tail}");
        let message = format!(
            "`{}` has the decimal mark of another language: {}",
            printed.replace('\\', ""),
            corrected.replace('\\', "")
        );
        // Without a declared language, the majority of the figures decides, and a list may be
        // written as `1,2`.
        let (check, fix) = match lint.number_format.is_declared {
            _ if !has_unit => (Check::MarkWithoutUnit, None),
            // An entity fills its place with several backslashes or blanks.
            true => {
                let has_entity = ["\\\\", "\u{a0}\u{a0}"].iter().any(|it| printed.contains(it));
                // A program prints so many decimals.
                let is_clear = !has_entity && is_fixable && figure.decimals < MANY_DECIMALS;
                (Check::MarkOfLanguage, is_clear.then_some(corrected))
            }
            false => (Check::MarkOfMajority, None),
        };
        let span = page_span(text, figure.number_span);
        lint.add_if(true, check, span, message, fix);
    }
}

/// Returns whether the words around a figure are English, as in a quoted message on a page in another
/// language.
fn is_in_english(text: &PageText, figure: &PrintedFigure) -> bool {
    /// Bytes before a figure, and characters behind it: a page may be one line.
    const NEAR: usize = 160;
    let (from, to) = figure.number_span;
    let behind: String = text.text[to..].chars().take(NEAR).collect();
    is_english(&format!("{}{behind}", text_before(&text.text, from, NEAR)))
}

/// Number of decimals that only programs print.
const MANY_DECIMALS: usize = 10;

/// Returns whether a program prints a number so: `+00.0012s`, `0.0000000s`.
fn is_of_program(text: &PageText, figure: &PrintedFigure) -> bool {
    /// Decimals of a clock that counts in microseconds or less.
    const CLOCK_DECIMALS: usize = 6;
    let (from, to) = figure.number_span;
    let is_attached = |unit: &PrintedUnit| unit.unit == Unit::Second && unit.span.0 == to;
    text.text[from..].starts_with("00")
        || figure.decimals >= CLOCK_DECIMALS && figure.unit.as_ref().is_some_and(is_attached)
}

/// Returns whether a figure would be a fraction of a byte: `2.7B` is the name of a model.
fn is_part_of_byte(figure: &PrintedFigure) -> bool {
    let is_byte = |(value, unit): (f64, Unit)| unit == Unit::Byte && value.fract() != 0.0;
    figure.base_value().is_some_and(is_byte)
        && figure.unit.as_ref().is_some_and(|unit| unit.factor.to_bits() == 1_f64.to_bits())
}

/// Returns whether both sides of a mark may be two sizes: `16,32 GB`.
fn is_doubled(figure: &PrintedFigure) -> bool {
    const SMALLEST: f64 = 4.0;
    let scale = 10f64.powi(i32::try_from(figure.decimals).unwrap_or(0));
    let (first, second) = (figure.value.trunc(), (figure.value.fract() * scale).round());
    first >= SMALLEST && second.to_bits() == (2.0 * first).to_bits()
}

/// Reports columns in which some numbers are grouped and others of the same length are not.
fn check_grouping(lint: &mut Linter<'_>, columns: &[FigureColumn<'_>]) {
    // Spanish writes `1234` and `12 345`.
    let smallest = if lint.number_format.has_ungrouped_thousands { 10_000.0 } else { 1000.0 };
    let needs_groups = |figure: &PrintedFigure| figure.value >= smallest && !is_year(figure);
    for column in columns {
        let grouped = column.cells.iter().find(|(_, it)| it.group.is_some());
        let ungrouped =
            column.cells.iter().find(|(_, it)| needs_groups(it) && it.group.is_none());
        if let (Some((cell, grouped_figure)), Some((other, figure))) = (grouped, ungrouped) {
            let printed = |cell: &PageText, it: &PrintedFigure| {
                cell.text[it.number_span.0..it.number_span.1].to_owned()
            };
            let message = format!(
                "`{}` and `{}` in one column: group all or none",
                printed(other, figure),
                printed(cell, grouped_figure)
            );
            lint.add(Check::GroupedColumn, page_span(other, figure.number_span), message);
        }
    }
}

/// Returns whether a whole number may be a year, which no language groups.
fn is_year(figure: &PrintedFigure) -> bool {
    const YEARS: std::ops::RangeInclusive<f64> = 1950.0..=2040.0;
    figure.decimals == 0 && figure.unit.is_none() && YEARS.contains(&figure.value)
}

/// Reports a group separator at which a line may break.
fn check_line_break(lint: &mut Linter<'_>, cell: &PageText, figure: &PrintedFigure) {
    let has_unit = figure.unit.is_some();
    if figure.group == Some(' ') && has_unit {
        let printed = &cell.text[figure.number_span.0..figure.number_span.1];
        let corrected = printed.replace(' ', "\u{a0}");
        let message = format!("`{printed}` may break over two lines: use a no-break space");
        // In other languages, a blank may separate a count from a size: `1 500 GB`.
        lint.add_if(
            lint.number_format.has_groups_of_blanks,
            Check::LineBreak,
            page_span(cell, figure.number_span),
            message,
            Some(corrected),
        );
    }
}

/// Reports a whole number among fractions, which has lost its trailing zeros.
fn check_trailing_zeros(lint: &mut Linter<'_>, columns: &[FigureColumn<'_>]) {
    /// Maximum ratio of figures of one quantity; rows of unlike units differ by more.
    const MAX_RATIO: f64 = 100.0;
    for column in columns {
        // Three digits after the other mark are a group.
        let is_group = |it: &PrintedFigure| {
            lint.number_format.decimal.is_some() && it.mark != lint.number_format.decimal
        };
        let has_fraction = |it: &&PrintedFigure| it.decimals >= 2 && !is_group(it);
        let figures = || column.cells.iter().map(|(_, figure)| *figure);
        let fractions: Vec<&PrintedFigure> = figures().filter(has_fraction).collect();
        let whole = column.cells.iter().find(|(_, it)| it.decimals == 0 && it.value > 0.0);
        let (true, Some((cell, figure))) = (2 * fractions.len() > column.cells.len(), whole)
        else {
            continue;
        };
        let printed = &cell.text[figure.number_span.0..figure.number_span.1];
        let message = format!(
            "`{printed}` among figures with decimals: trailing zeros show the precision"
        );
        let is_near = |it: &&PrintedFigure| {
            it.value < figure.value * MAX_RATIO && figure.value < it.value * MAX_RATIO
        };
        // A column whose numbers of decimals vary anyway was not printed with one precision.
        let is_even = fractions.len() >= MIN_FRACTIONS
            && figures().all(|it| it.decimals == 0 || it.decimals == fractions[0].decimals)
            && fractions.iter().all(is_near);
        lint.add_if(
            is_even && lint.is_translated,
            Check::TrailingZeros,
            page_span(cell, figure.number_span),
            message,
            None,
        );
    }
}

/// Minimum number of figures that show the precision of a column.
const MIN_FRACTIONS: usize = 4;

/// Reports words between a number and its unit that turn "about" into a count, and marks that look
/// like a range.
fn check_qualifiers(lint: &mut Linter<'_>, text: &PageText) {
    let figures = &text.figures;
    // Korean counter between number and unit: 900 개의 MB/s.
    if let Some(position) = text.text.find("개의 ") {
        let rest = text.text[position + "개의 ".len()..].trim_start();
        if ["MB", "GB", "Gb", "KB"].iter().any(|unit| rest.starts_with(unit)) {
            let start = text.text[..position].rfind("최대").unwrap_or(position);
            let message = "a counter between number and unit: \"about\" has become \"at most\"";
            lint.add(
                Check::Counter,
                page_span(text, (start, position + "개의".len())),
                message.to_owned(),
            );
        }
    }
    let tildes: Vec<usize> =
        text.text.match_indices('~').map(|(position, _)| position).collect();
    for pair in tildes.windows(2) {
        let next = figures.partition_point(|it| it.number_span.0 < pair[0]);
        // In `1~99, 1 ~ 69`, each mark is a range.
        let is_range = text.text[..pair[0]].trim_end().ends_with(|c: char| c.is_ascii_digit());
        let figure = figures.get(next).filter(|it| !is_range && it.number_span.0 < pair[1]);
        let end = |it: &PrintedFigure| {
            it.unit.as_ref().map_or(0, |unit| unit.span.1).max(it.number_span.1)
        };
        let between = figure.and_then(|it| text.text.get(end(it)..pair[1]));
        if let Some(between) = between.filter(|between| !is_list(between)) {
            let message =
                "two figures with ~ and nothing between them: the second mark reads as a range";
            lint.add_if(
                lint.number_format.has_tilde_ranges && is_wordless(between),
                Check::TwoTildes,
                page_span(text, (pair[1], pair[1] + 1)),
                message.to_owned(),
                None,
            );
        }
    }
    for figure in figures {
        let before = &text.text[..figure.number_span.0];
        if let Some(head) = before.strip_suffix("~ ").or_else(|| before.strip_suffix("~\u{a0}"))
        {
            let span = page_span(text, (head.len(), figure.number_span.0));
            let message = "a blank between ~ and its number, where a line may break".to_owned();
            // In `2 MB ~ 64 MB`, the mark separates the ends of a range.
            let next = figures.partition_point(|it| it.number_span.0 < head.len());
            let is_range = head.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == '%')
                && figures[..next]
                    .last()
                    .is_some_and(|it| !has_tilde(text, it) && is_directly_before(it, head))
                || ends_with_unknown_unit(head);
            let is_clear = lint.is_translated && figure.unit.is_some();
            if !is_range {
                let fix = Some("~".to_owned());
                lint.add_if(is_clear, Check::BlankAfterTilde, span, message, fix);
            }
        }
    }
}

/// Returns whether `~` precedes a figure. A word for "about" may precede a range: `about 35 ~ 40 %`.
fn has_tilde(text: &PageText, figure: &PrintedFigure) -> bool {
    text.text[..figure.number_span.0].trim_end_matches([' ', '\u{a0}']).ends_with('~')
}

/// Returns whether a text ends with a number and letters that are no unit: `1mbps ~ 100 Mbps`.
fn ends_with_unknown_unit(text: &str) -> bool {
    const LONGEST: usize = 16;
    let near = text_before(text, text.len(), LONGEST);
    let word = near.split_whitespace().next_back().unwrap_or_default();
    steps::count(near.len());
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.ends_with(|c: char| c.is_ascii_alphabetic())
}

/// Returns whether a text ends with this figure and its unit.
fn is_directly_before(figure: &PrintedFigure, text: &str) -> bool {
    steps::count(1);
    let end = figure.unit.as_ref().map_or(0, |unit| unit.span.1).max(figure.number_span.1);
    text.get(end..).is_some_and(|between| between.trim().is_empty())
}

/// Returns whether two figures with this text between them are joined by no word, as in
/// `~725 MB/s 읽기 ~780 MB`: scripts without blanks may have a noun there.
fn is_wordless(between: &str) -> bool {
    let is_word = |c: char| c.is_alphabetic() && !is_unspaced_script(c);
    !between.contains('|') && outside_brackets(between).all(|part| !part.contains(is_word))
}

/// Returns the parts of a text outside of brackets, which describe the figure before.
fn outside_brackets(text: &str) -> impl Iterator<Item = &str> {
    text.split('(').enumerate().map(|(index, part)| {
        let after_bracket = if index == 0 { None } else { part.split_once(')') };
        after_bracket.map_or(part, |(_, after)| after)
    })
}

/// Returns whether the text between two figures separates them: a comma, or several words.
fn is_list(between: &str) -> bool {
    steps::count(between.len());
    const CONJUNCTIONS: [&str; 13] = [
        "或",
        "和",
        "与",
        "與",
        "及",
        "または",
        "또는",
        "및",
        "到",
        "至",
        "から",
        "에서",
        "부터",
    ];
    if between.contains([',', ';', '/', '·', '、', '，', '；'])
        || CONJUNCTIONS.iter().any(|word| between.contains(word))
    {
        return true;
    }
    let outside = outside_brackets(between);
    let letters = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count();
    let words = |word: &str| match word.chars().next() {
        // Two letters count as a word in scripts without blanks.
        Some(first) if is_unspaced_script(first) => letters(word) / 2,
        _ => usize::from(letters(word) > 1),
    };
    outside.flat_map(str::split_whitespace).map(words).sum::<usize>() >= 2
}

/// Checks the genitive singular after a fraction in Russian.
fn check_genitive(lint: &mut Linter<'_>, text: &PageText) {
    for figure in text.figures.iter().filter(|it| it.decimals > 0) {
        let Some(unit) = figure.unit.as_ref().filter(|it| it.text == "микросекунд")
        else {
            continue;
        };
        let genitive = "микросекунды".to_owned();
        let message = format!("`{}` after a fraction must be {genitive}", unit.text);
        let span = page_span(text, unit.span);
        lint.add_if(true, Check::Genitive, span, message, Some(genitive));
    }
}

/// Reports `8-KiB` and `8 KiB` on one page.
fn check_hyphens(lint: &mut Linter<'_>, page: &LintPage) {
    let mut figures: Vec<(&PageText, &PrintedFigure, bool)> = Vec::new();
    for text in &page.prose {
        for figure in &text.figures {
            let Some(unit) = &figure.unit else { continue };
            // The Turkish percent sign precedes its number.
            let Some(between) = text.text.get(figure.number_span.1..unit.span.0) else {
                continue;
            };
            // `512-байтные` is an adjective.
            let is_word =
                unit.text.chars().count() >= 4 && unit.text.chars().all(char::is_alphabetic);
            if !is_word && (between == "-" || between.trim().is_empty()) {
                let is_hyphen = between == "-";
                figures.push((text, figure, is_hyphen));
            }
        }
    }
    // A word and a symbol differ anyway: `100 나노초` and `100-ns`.
    let value_and_unit = |figure: &PrintedFigure| {
        figure.unit.as_ref().map(|unit| (figure.value.to_bits(), unit.text.clone()))
    };
    let with_blanks: BTreeSet<_> = figures
        .iter()
        .filter(|(_, _, hyphen)| !hyphen)
        .map(|(_, figure, _)| value_and_unit(figure))
        .collect();
    let hyphenated = figures
        .iter()
        .find(|(_, figure, hyphen)| *hyphen && with_blanks.contains(&value_and_unit(figure)));
    if let Some((text, figure, _)) = hyphenated {
        let end = figure.unit.as_ref().map_or(figure.number_span.1, |unit| unit.span.1);
        let printed = &text.text[figure.number_span.0..end];
        let message =
            format!("`{printed}` is also written with a blank on this page: use one form");
        // English and German compounds have hyphens.
        let has_compounds = !lint.is_translated || lint.number_format.has_compounds;
        lint.add_if(
            !has_compounds,
            Check::Hyphens,
            page_span(text, (figure.number_span.0, end)),
            message,
            None,
        );
    }
}
