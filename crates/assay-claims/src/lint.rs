//! `assay lint`: a page held against the laws, against itself, and against the page it was made from.
//!
//! It reports what cannot be or is not the same; it never judges what is merely unusual. A replacement is
//! offered only where one answer is possible.

use serde::Serialize;

use crate::figure::{Figure, Marks, figures, of_heading};
use crate::page::{Page, Places, Table, Text};

mod against;
mod direction;
mod laws;
mod names;
mod numbers;
pub mod sarif;
mod units;

/// The largest page that is read.
pub const MOST_BYTES: u64 = 4 << 20;
/// The most findings that are reported of one page.
const MOST_FINDINGS: usize = 2000;

/// What is wrong at one place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Bytes of the place in the page.
    pub start: usize,
    /// The first byte behind it.
    pub end: usize,
    /// Which rule.
    pub rule: Rule,
    /// What is wrong, with what is printed there.
    pub message: String,
    /// What must stand there instead, where only one answer is possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
}

/// The rules; names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A unit of the wrong kind: bits for bytes, a size for a rate.
    WrongUnit,
    /// One unit written in several ways, or as no standard writes it.
    UnitSpelling,
    /// A digit changed, or a value is not that of the source.
    Digits,
    /// Trailing zeros that said how exact a figure is are gone.
    Precision,
    /// The decimal mark is not that of the page's language.
    DecimalMark,
    /// Digits are grouped in several ways, or break over a line.
    Grouping,
    /// "About" is gone, or has become something else.
    Qualifier,
    /// Which of two figures is of reads and which of writes is gone.
    Direction,
    /// A name of a product, a tool or a metric was translated.
    Name,
    /// Letters of two scripts in one word.
    MixedScripts,
    /// Figures that cannot come from one measurement.
    Impossible,
    /// A table that strict readers drop, or that has other rows than its source.
    Table,
}

impl Rule {
    /// Every rule, with its name and what it is about.
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

    /// The stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let row = Self::ALL.iter().find(|(rule, _, _)| *rule == self);
        row.map(|(_, name, _)| *name).expect("every rule has its row")
    }
}

/// A page that is being looked at.
struct Lint<'t> {
    places: Places<'t>,
    /// How it writes numbers.
    marks: Marks,
    found: Vec<Finding>,
}

/// Everything that is wrong on a page, in the order of the page. `source` is the page it was made from.
#[must_use]
pub fn lint(text: &str, source: Option<&str>) -> Vec<Finding> {
    let page = Page::read(text);
    let marks = marks(&page);
    let mut lint = Lint { places: Places::of(text), marks, found: Vec::new() };
    units::check(&mut lint, &page);
    numbers::check(&mut lint, &page);
    names::check(&mut lint, &page);
    laws::check(&mut lint, &page);
    if let Some(source) = source {
        against::check(&mut lint, &page, &Page::read(source));
    }
    let mut found = lint.found;
    found.sort_by_key(|it| (it.start, it.rule, it.end));
    // The laws and the source may find the same.
    found.dedup_by(|b, a| a.rule == b.rule && (a.start, a.end) == (b.start, b.end));
    found.truncate(MOST_FINDINGS);
    found
}

/// The page with every replacement made, and how many there were.
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

/// What of a page cannot be compared with its source, and why.
#[must_use]
pub fn left_out(text: &str, source: &str) -> Option<String> {
    against::left_out(&Page::read(text), &Page::read(source))
}

/// How a page writes numbers: as its language does, or as most of its figures are.
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
        // A hostile page may be wrong everywhere.
        if self.found.len() > 2 * MOST_FINDINGS {
            return;
        }
        let (line, column) = self.places.of_byte(start);
        self.found.push(Finding { line, column, start, end, rule, message, replacement });
    }
}

/// The mark that most figures with fractions in tables have.
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

/// Where a figure of a text stands in the page.
const fn at(text: &Text, (start, end): (usize, usize)) -> (usize, usize) {
    (text.start + start, text.start + end)
}

/// The only figure of a cell that holds nothing else.
fn only_figure(cell: &Text) -> Option<Figure> {
    let mut found = figures(&cell.text);
    let figure = found.pop()?;
    let rest = cell.text.trim().len();
    (found.is_empty() && figure.number.1 - figure.number.0 == rest).then_some(figure)
}

/// A column of a table whose cells below the heading are figures alone.
struct Column<'p> {
    heading: &'p Text,
    unit: Option<crate::figure::Printed>,
    cells: Vec<(&'p Text, Figure)>,
}

/// The columns of a table that hold nothing but figures, in at least three rows; by their places.
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
