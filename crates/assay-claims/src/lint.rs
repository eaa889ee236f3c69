//! `assay lint`: checks a page against the laws, for consistency, and against its source page.
//!
//! Reports impossible or inconsistent figures, but never unusual ones. A replacement is offered
//! only where it is unambiguous.

use serde::Serialize;

use crate::figure::{Figure, Marks, figures, of_heading};
use crate::page::{Page, Places, Table, Text};

mod against;
mod direction;
mod laws;
mod names;
mod numbers;
mod order;
mod relations;
pub mod sarif;
mod units;

/// Maximum size of a page.
pub const MOST_BYTES: u64 = 4 << 20;
/// Maximum number of findings reported for one page.
const MOST_FINDINGS: usize = 2000;

/// Error at one position of a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// First byte of the position in the page.
    pub start: usize,
    /// Byte after its last one.
    pub end: usize,
    /// Violated rule.
    pub rule: Rule,
    /// Error with the printed text.
    pub message: String,
    /// Replacement text, if it is unambiguous.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
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
        (Self::UnitSpelling, "unit-spelling", "A unit that no standard writes so"),
        (Self::Digits, "digits", "A value that is not that of the source"),
        (Self::Precision, "precision", "Trailing zeros are gone"),
        (Self::DecimalMark, "decimal-mark", "The decimal mark of another language"),
        (Self::Grouping, "grouping", "Digits grouped in several ways"),
        (Self::Qualifier, "qualifier", "\"About\" is gone or displaced"),
        (Self::Direction, "direction", "Reads and writes cannot be told apart"),
        (Self::Name, "name", "A translated name"),
        (Self::MixedScripts, "mixed-scripts", "Letters of two scripts in one word"),
        (Self::Impossible, "impossible", "Figures that contradict each other"),
        (Self::Table, "table", "A table that is not whole"),
    ];

    /// Returns the stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let row = Self::ALL.iter().find(|(rule, _, _)| *rule == self);
        row.map(|(_, name, _)| *name).expect("every rule has its row")
    }
}

/// Linter of one page.
struct Lint<'t> {
    places: Places<'t>,
    /// Number format of the page.
    marks: Marks,
    found: Vec<Finding>,
}

/// Returns all findings on a page, in the order of the page. `source` is the page from which it was
/// translated.
#[must_use]
pub fn lint(text: &str, source: Option<&str>) -> Vec<Finding> {
    let page = Page::read(text);
    let marks = marks(&page);
    let mut lint = Lint { places: Places::of(text), marks, found: Vec::new() };
    units::check(&mut lint, &page);
    numbers::check(&mut lint, &page);
    names::check(&mut lint, &page);
    laws::check(&mut lint, &page);
    relations::check(&mut lint, &page);
    if let Some(source) = source {
        against::check(&mut lint, &page, &Page::read(source));
    }
    let mut found = lint.found;
    found.sort_by_key(|it| (it.start, it.rule, it.end));
    // The laws and the comparison with the source may report the same error.
    found.dedup_by(|b, a| a.rule == b.rule && (a.start, a.end) == (b.start, b.end));
    found.truncate(MOST_FINDINGS);
    found
}

/// Applies every replacement; returns the page and their number.
#[must_use]
pub fn fixed(text: &str, findings: &[Finding]) -> (String, usize) {
    let mut fixed = text.to_owned();
    let mut count = 0;
    let mut behind = text.len();
    for it in findings.iter().rev() {
        let Some(replacement) = &it.replacement else { continue };
        if it.end <= behind
            && fixed.is_char_boundary(it.start)
            && fixed.is_char_boundary(it.end)
        {
            fixed.replace_range(it.start..it.end, replacement);
            behind = it.start;
            count += 1;
        }
    }
    (fixed, count)
}

/// Returns the reason why parts of a page cannot be compared with its source, if any.
#[must_use]
pub fn left_out(text: &str, source: &str) -> Option<String> {
    against::left_out(&Page::read(text), &Page::read(source))
}

/// Returns the number format of a page: that of its language, or that of most of its figures.
fn marks(page: &Page) -> Marks {
    let known = page.language.as_deref().map(Marks::of).unwrap_or_default();
    let decimal = known.decimal.or_else(|| usual_mark(page));
    Marks { decimal, ..known }
}

impl Lint<'_> {
    fn add(&mut self, rule: Rule, (start, end): (usize, usize), message: String) {
        self.add_fix(rule, (start, end), message, None);
    }

    fn add_fix(
        &mut self,
        rule: Rule,
        (start, end): (usize, usize),
        message: String,
        replacement: Option<String>,
    ) {
        // Bounds the memory for a hostile page.
        if self.found.len() > 2 * MOST_FINDINGS {
            return;
        }
        let (line, column) = self.places.of_byte(start);
        self.found.push(Finding { line, column, start, end, rule, message, replacement });
    }
}

/// Returns the most frequent decimal mark of figures in tables.
fn usual_mark(page: &Page) -> Option<char> {
    let all = || page.tables.iter().flat_map(|table| table.rows.iter().flatten());
    let count = |mark: char| {
        all()
            .flat_map(|cell| figures(&cell.text))
            .filter(|it| it.mark == Some(mark) && it.decimals != 3)
            .count()
    };
    match (count('.'), count(',')) {
        (0, 0) => None,
        (points, commas) => Some(if points >= commas { '.' } else { ',' }),
    }
}

/// Converts a span of a text to a span of the page.
const fn at(text: &Text, (start, end): (usize, usize)) -> (usize, usize) {
    (text.start + start, text.start + end)
}

/// Returns the only figure of a cell that contains nothing else.
fn only_figure(cell: &Text) -> Option<Figure> {
    let mut found = figures(&cell.text);
    let figure = found.pop()?;
    let rest = cell.text.trim().len();
    (found.is_empty() && figure.number.1 - figure.number.0 == rest).then_some(figure)
}

/// Returns the only figure of a cell that contains nothing but its unit and "about".
fn alone(cell: &Text) -> Option<Figure> {
    let mut found = figures(&cell.text);
    let figure = found.pop().filter(|_| found.is_empty())?;
    let before = cell.text[..figure.number.0].trim();
    let end = figure.unit.as_ref().map_or(0, |unit| unit.at.1).max(figure.number.1);
    let is_mark = before.is_empty() || figure.is_about && before.chars().count() == 1;
    (is_mark && cell.text[end..].trim().is_empty()).then_some(figure)
}

/// Column of a table whose cells below the heading are bare figures.
struct Column<'p> {
    heading: &'p Text,
    unit: Option<crate::figure::Printed>,
    cells: Vec<(&'p Text, Figure)>,
}

/// Returns the columns of a table that contain only bare figures, in at least three rows.
fn columns(table: &Table) -> Vec<Column<'_>> {
    let Some((heading, rows)) = table.rows.split_first() else { return Vec::new() };
    let column = |(number, heading)| {
        let cells: Option<Vec<(&Text, Figure)>> = rows
            .iter()
            .map(|row| {
                let cell = row.get(number)?;
                Some((cell, only_figure(cell)?))
            })
            .collect();
        let cells = cells.filter(|cells| cells.len() >= 3)?;
        let heading: &Text = heading;
        Some(Column { heading, unit: of_heading(&heading.text), cells })
    };
    heading.iter().enumerate().filter_map(column).collect()
}
