//! `assay lint`: checks a page against the laws, for consistency, and against its source page.
//!
//! Reports impossible or inconsistent figures, but never unusual ones. A replacement is offered
//! only where it is unambiguous.

use serde::Serialize;

use crate::figure::{
    PageNumberFormat, PrintedFigure, PrintedUnit, base_language, heading_unit,
};
use crate::page::{LineIndex, LintPage, PageTable, PageText};
use crate::steps;

use checks::{Check, MeasuredCheck};

mod bounds;
pub mod checks;
mod columns;
mod contradictions;
mod conversions;
mod direction;
mod laws;
mod names;
mod numbers;
mod products;
mod relations;
pub mod sarif;
mod source_comparison;
mod statistic_order;
mod units;
mod words;

/// Maximum size of a page in bytes.
pub const MAX_PAGE_BYTES: u64 = 4 << 20;
/// Maximum number of findings reported for one page.
const MAX_FINDINGS: usize = 2000;

/// Error at one position of a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LintFinding {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// First byte of the position in the page.
    pub start: usize,
    /// Byte after the position.
    pub end: usize,
    /// Violated rule.
    pub rule: Rule,
    /// Probability class that it is an error of the page.
    pub confidence: Confidence,
    /// Description of the error, with the printed text.
    pub message: String,
    /// Replacement text, if it is unambiguous.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
    /// Check with its precision; none for a difference from the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<&'static MeasuredCheck>,
}

/// Confidence in a finding: its evidence, unless the measured precision of its check is too low.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Style, or a check without a measured precision of at least 0.9: reported on request only.
    Possible,
    /// Depends on the words around a figure.
    Likely,
    /// Arithmetic, or a difference from the source.
    Certain,
}

impl Confidence {
    /// Returns the stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

/// Rules; their names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Unit of the wrong kind: bits for bytes, a size for a rate.
    WrongUnit,
    /// Several spellings of one unit, or a non-standard one.
    UnitSpelling,
    /// Changed digit, or a value that differs from the source.
    Digits,
    /// Lost trailing zeros, which show the precision.
    Precision,
    /// Decimal mark of another language.
    DecimalMark,
    /// Digits grouped in several ways, or broken over a line.
    Grouping,
    /// "About" is missing or misplaced.
    Qualifier,
    /// Lost distinction between figures of reads and of writes.
    Direction,
    /// Translated name of a product, a tool or a metric.
    Name,
    /// Letters of two scripts in one word.
    MixedScripts,
    /// Figures that cannot come from one measurement.
    Impossible,
    /// Table that strict readers drop, or whose rows differ from its source.
    Table,
}

impl Rule {
    /// Every rule, with its name and description.
    pub const ALL: [(Self, &'static str, &'static str); 12] = [
        (Self::WrongUnit, "wrong-unit", "A unit of the wrong kind"),
        (Self::UnitSpelling, "unit-spelling", "A non-standard spelling of a unit"),
        (Self::Digits, "digits", "A value that differs from the source"),
        (Self::Precision, "precision", "Missing trailing zeros"),
        (Self::DecimalMark, "decimal-mark", "The decimal mark of another language"),
        (Self::Grouping, "grouping", "Digits grouped in several ways"),
        (Self::Qualifier, "qualifier", "\"About\" is missing or misplaced"),
        (Self::Direction, "direction", "Ambiguous reads and writes"),
        (Self::Name, "name", "A translated name"),
        (Self::MixedScripts, "mixed-scripts", "Letters of two scripts in one word"),
        (Self::Impossible, "impossible", "Figures that contradict each other"),
        (Self::Table, "table", "An incomplete table"),
    ];

    /// Returns the stable name.
    pub fn name(self) -> &'static str {
        let row = Self::ALL.iter().find(|(rule, _, _)| *rule == self);
        row.map(|(_, name, _)| *name).expect("every rule has its row")
    }
}

/// Linter of one page.
struct Linter<'t> {
    line_index: LineIndex<'t>,
    /// Number format of the page.
    number_format: PageNumberFormat,
    /// Whether the words for bounds of its language are known.
    knows_bounds: bool,
    /// Whether the page names a language other than English.
    is_translated: bool,
    findings: Vec<LintFinding>,
}

/// Returns all findings on a page, in the order of the page. `source` is the page from which it was
/// translated.
pub fn lint(text: &str, source: Option<&str>) -> Vec<LintFinding> {
    check_page(text, source).findings
}

#[derive(Debug)]
pub struct PageFindings {
    /// All findings, in the order of the page.
    pub findings: Vec<LintFinding>,
    /// Reason why parts of the page cannot be compared with its source, if any.
    pub gap: Option<String>,
}

/// Checks a page as [`lint`] does.
pub fn check_page(text: &str, source: Option<&str>) -> PageFindings {
    let page = LintPage::read(text);
    let language = PageLanguage::of_page(&page);
    let number_format = language.number_format(&page);
    let knows_bounds = bounds::is_known_language(language.declared.or(language.guess));
    let line_index = LineIndex::new(text);
    let is_translated = language.declared.is_some_and(|it| base_language(it) != "en");
    let findings = Vec::new();
    let mut lint = Linter { line_index, number_format, knows_bounds, is_translated, findings };
    units::check(&mut lint, &page);
    numbers::check(&mut lint, &page);
    names::check(&mut lint, &page);
    laws::check(&mut lint, &page);
    relations::check(&mut lint, &page);
    contradictions::check(&mut lint, &page);
    let gap =
        source.and_then(|it| source_comparison::check(&mut lint, &page, &LintPage::read(it)));
    let mut findings = lint.findings;
    // Front matter has a syntax of its own.
    let in_front = findings.iter_mut().filter(|it| it.start < page.front_matter_end);
    in_front.for_each(|it| it.replacement = None);
    let is_possible = |it: &LintFinding| it.confidence == Confidence::Possible;
    findings.sort_by_key(|it| (it.start, it.rule, it.end, is_possible(it)));
    // The laws and the comparison with the source may report the same error.
    findings.dedup_by(|b, a| a.rule == b.rule && (a.start, a.end) == (b.start, b.end));
    findings.truncate(MAX_FINDINGS);
    PageFindings { findings, gap }
}

/// Applies every replacement; returns the page and their number.
pub fn apply_fixes(text: &str, findings: &[LintFinding]) -> (String, usize) {
    let mut fixed = text.to_owned();
    let mut count = 0;
    let mut next_start = text.len();
    for finding in findings.iter().rev() {
        let Some(replacement) = &finding.replacement else { continue };
        if finding.end <= next_start
            && fixed.is_char_boundary(finding.start)
            && fixed.is_char_boundary(finding.end)
        {
            fixed.replace_range(finding.start..finding.end, replacement);
            next_start = finding.start;
            count += 1;
        }
    }
    (fixed, count)
}

struct PageLanguage<'p> {
    /// Language that it declares, unless its sentences are English: templates of sites declare their
    /// own.
    declared: Option<&'p str>,
    /// Language of its sentences, if they show it.
    guess: Option<&'static str>,
}

impl<'p> PageLanguage<'p> {
    fn of_page(page: &'p LintPage) -> Self {
        let guess = guess_language(page);
        let is_its_own = |it: &&str| base_language(it) == "en" || guess != Some("en");
        Self { declared: page.language.as_deref().filter(is_its_own), guess }
    }

    /// Returns the number format: that of the language, or that of most figures of the page.
    fn number_format(&self, page: &LintPage) -> PageNumberFormat {
        let by_language = self.declared.map(PageNumberFormat::for_language).unwrap_or_default();
        let guess = || match self.guess {
            Some("en") => Some('.'),
            // Several commas are the marks of a page that quotes English.
            None if is_short_english(page) && count_marks(page).1 <= 1 => Some('.'),
            Some(_) | None => usual_mark(page),
        };
        let decimal = by_language.decimal.or_else(guess);
        PageNumberFormat { decimal, ..by_language }
    }
}

fn page_number_format(page: &LintPage) -> PageNumberFormat {
    PageLanguage::of_page(page).number_format(page)
}

/// Languages with words that others lack, by which a page without a declaration is recognised.
const FUNCTION_WORDS: [(&str, [&str; 4]); 9] = [
    ("en", [" the ", " of ", " and ", " with "]),
    ("de", [" und ", " der ", " mit ", " werden "]),
    ("fr", [" les ", " des ", " est ", " avec "]),
    ("es", [" los ", " las ", " para ", " con "]),
    ("cs", [" je ", " pro ", " se ", " při "]),
    ("ru", [" и ", " на ", " для ", " не "]),
    ("zh", ["的", "是", "为", "在"]),
    ("ja", ["の", "は", "を", "です"]),
    ("ko", ["는 ", "을 ", "의 ", "니다"]),
];

/// Returns whether a text is English by its function words, as a quotation on a translated page is.
fn is_english(text: &str) -> bool {
    /// Minimum number of different words that show a language.
    const ENOUGH: usize = 2;
    let count = |words: &[&str; 4]| words.iter().filter(|word| text.contains(**word)).count();
    let english = count(&FUNCTION_WORDS[0].1);
    english >= ENOUGH && FUNCTION_WORDS[1..].iter().all(|(_, words)| count(words) < english)
}

/// Returns the language of a page, if its sentences show it.
fn guess_language(page: &LintPage) -> Option<&'static str> {
    /// Minimum number of words that show a language.
    const ENOUGH: usize = 6;
    /// Maximum number of paragraphs that are read.
    const MOST: usize = 200;
    let count = |words: &[&str; 4]| {
        let paragraphs = page.prose.iter().take(MOST);
        paragraphs.map(|it| words.iter().filter(|word| it.text.contains(**word)).count()).sum()
    };
    let counts = FUNCTION_WORDS.iter().map(|(language, words)| (*language, count(words)));
    let (language, most): (&str, usize) = counts.max_by_key(|(_, count)| *count)?;
    (most >= ENOUGH).then_some(language)
}

/// Returns whether the few sentences of a page have words of English and of no other language.
fn is_short_english(page: &LintPage) -> bool {
    /// Maximum number of paragraphs of a short page.
    const MOST: usize = 40;
    let text: Vec<&str> = page.prose.iter().take(MOST + 1).map(|it| it.text.as_str()).collect();
    text.len() <= MOST && {
        let text = text.join("\n");
        steps::count(text.len());
        let has = |(_, words): &(&str, [&str; 4])| words.iter().any(|word| text.contains(word));
        is_english(&text) && !FUNCTION_WORDS[1..].iter().any(has)
    }
}

impl Linter<'_> {
    /// Adds a finding of a check.
    fn add(&mut self, check: Check, span: (usize, usize), message: String) {
        self.add_if(true, check, span, message, None);
    }

    /// Adds a finding with its replacement, if any. Unless the page meets the conditions of the check,
    /// it is possible only.
    fn add_if(
        &mut self,
        is_clear: bool,
        check: Check,
        span: (usize, usize),
        message: String,
        replacement: Option<String>,
    ) {
        let measured = check.measured();
        let confidence = if is_clear { measured.confidence() } else { Confidence::Possible };
        self.push((measured.rule, confidence, Some(measured)), span, message, replacement);
    }

    /// Adds a difference from the source.
    fn add_difference(&mut self, rule: Rule, span: (usize, usize), message: String) {
        self.push((rule, Confidence::Certain, None), span, message, None);
    }

    /// Adds a difference that depends on the words around a figure.
    fn add_likely_difference(&mut self, rule: Rule, span: (usize, usize), message: String) {
        self.push((rule, Confidence::Likely, None), span, message, None);
    }

    fn push(
        &mut self,
        (rule, confidence, measured): (Rule, Confidence, Option<&'static MeasuredCheck>),
        (start, end): (usize, usize),
        message: String,
        replacement: Option<String>,
    ) {
        // Bounds the memory for a hostile page.
        if self.findings.len() > 2 * MAX_FINDINGS {
            return;
        }
        let (line, column) = self.line_index.line_column(start);
        self.findings.push(LintFinding {
            line,
            column,
            start,
            end,
            rule,
            confidence,
            message,
            replacement,
            measured,
        });
    }
}

/// Counts decimal points and commas of the figures of a page. A comma counts with a unit or alone in a
/// cell: others may separate lists.
fn count_marks(page: &LintPage) -> (usize, usize) {
    let (mut points, mut commas) = (0_usize, 0_usize);
    for text in page.texts() {
        let is_bare = bare_figure(text).is_some();
        for figure in text.figures.iter().filter(|it| it.decimals != 3) {
            match figure.mark {
                Some('.') => points += 1,
                Some(',') if figure.unit.is_some() || is_bare => commas += 1,
                _ => {}
            }
        }
    }
    (points, commas)
}

/// Returns the most frequent decimal mark of the figures of a page.
fn usual_mark(page: &LintPage) -> Option<char> {
    /// Minimum ratio of a majority.
    const MAJORITY: usize = 4;
    let (points, commas) = count_marks(page);
    match (points, commas) {
        (1.., _) if points >= MAJORITY * commas => Some('.'),
        (_, 1..) if commas >= MAJORITY * points => Some(','),
        _ => None,
    }
}

/// Converts a span of a text to a span of the page.
const fn page_span(text: &PageText, (start, end): (usize, usize)) -> (usize, usize) {
    (text.start + start, text.start + end)
}

/// Returns the page span of a text without surrounding blanks.
fn trimmed_span(text: &PageText) -> (usize, usize) {
    let start = text.text.len() - text.text.trim_start().len();
    page_span(text, (start, text.text.trim_end().len().max(start)))
}

/// Characters around a figure that only emphasise it in Markdown, or direct its text.
const EMPHASIS: [char; 18] = [
    ' ', '\u{a0}', '\u{202f}', '\u{2009}', '\t', '*', '_', '\u{200e}', '\u{200f}', '\u{202a}',
    '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}',
    '\u{2069}',
];

/// Returns whether a character only emphasises a figure or directs its text.
fn is_emphasis(c: char) -> bool {
    // Most are blanks, and most others belong to a figure.
    c == ' ' || !c.is_ascii_alphanumeric() && EMPHASIS.contains(&c)
}

/// Returns the only figure of a cell that contains nothing else.
fn bare_figure(cell: &PageText) -> Option<&PrintedFigure> {
    let [figure] = cell.figures.as_slice() else { return None };
    let cell_length = cell.text.trim_matches(is_emphasis).len();
    (figure.number_span.1 - figure.number_span.0 == cell_length).then_some(figure)
}

/// Returns the only figure of a cell that contains nothing but its unit and "about".
fn figure_with_unit(cell: &PageText) -> Option<&PrintedFigure> {
    let [figure] = cell.figures.as_slice() else { return None };
    let before = cell.text[..figure.number_span.0].trim_matches(is_emphasis);
    let end = figure.unit.as_ref().map_or(0, |unit| unit.span.1).max(figure.number_span.1);
    let is_mark = before.is_empty() || figure.is_approximate && before.chars().count() == 1;
    (is_mark && cell.text[end..].trim_matches(is_emphasis).is_empty()).then_some(figure)
}

/// Column of a table whose cells below the heading are bare figures.
struct FigureColumn<'p> {
    heading: &'p PageText,
    /// Cell of the heading with the unit.
    unit_cell: &'p PageText,
    unit: Option<PrintedUnit>,
    cells: Vec<(&'p PageText, &'p PrintedFigure)>,
}

/// Returns the rows below the heading that have as many cells: in shorter rows, a cell belongs to
/// no single column.
fn full_rows(table: &PageTable) -> impl Iterator<Item = &Vec<PageText>> + Clone {
    let cells = table.rows.first().map_or(0, Vec::len);
    table.rows.iter().skip(1).filter(move |row| row.len() == cells)
}

/// Returns the unit of a column with its cell in one of the rows of the heading.
fn column_unit(table: &PageTable, number: usize) -> Option<(&PageText, PrintedUnit)> {
    let first = table.rows.first().and_then(|row| row.get(number));
    let cells = first.into_iter().chain(table.units.get(number));
    cells.filter_map(|cell| Some((cell, heading_unit(&cell.text)?))).next_back()
}

/// Returns the columns of a table that contain only bare figures, in at least three rows.
fn figure_columns(table: &PageTable) -> Vec<FigureColumn<'_>> {
    let Some(heading) = table.rows.first() else { return Vec::new() };
    let column = |(index, heading)| {
        let cells: Option<Vec<(&PageText, &PrintedFigure)>> = full_rows(table)
            .map(|row| {
                let cell = row.get(index)?;
                Some((cell, bare_figure(cell)?))
            })
            .collect();
        let cells = cells.filter(|cells| cells.len() >= 3)?;
        let (unit_cell, unit) = column_unit(table, index).unzip();
        let unit_cell = unit_cell.unwrap_or(heading);
        Some(FigureColumn { heading, unit_cell, unit, cells })
    };
    heading.iter().enumerate().filter_map(column).collect()
}

#[cfg(test)]
mod tests;
