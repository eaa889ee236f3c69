//! Format-independent report before rendering: headings, tables, plots.
//!
//! Text may contain no-break spaces (U+00A0), for example between a number and its unit; renderers
//! that wrap lines keep such words together.

use assay_model::benchmark::Better;
use assay_model::quantity::Unit;

use crate::first_seen::group_pairs;

/// A whole report.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub title: String,
    /// Contents, in order.
    pub blocks: Vec<Block>,
    /// Whether the document should fit a screen: a terminal prints no rule below the title and no
    /// empty lines between paragraphs.
    pub is_dense: bool,
}

/// One part of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Heading of a section, one level below the title.
    Heading(String),
    Paragraph(Paragraph),
    /// Names and values.
    Facts(FactTable),
    Table(ReportTable),
    /// One or more curves.
    Plot(Plot),
    /// Ratios with their intervals.
    Forest(Forest),
    /// Values for each row and column.
    HeatMap(HeatMap),
    /// Doubts or failures, numbered if cells refer to them.
    Notes(Vec<Note>),
    /// Text whose line breaks are kept.
    Preformatted(String),
    /// Blocks that most readers skip.
    Details(Details),
}

/// Running text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paragraph {
    pub text: String,
    /// Meaning of the text.
    pub tone: Tone,
}

/// Meaning of a text. Colour is never its only mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// No special meaning.
    #[default]
    Plain,
    /// Explanation, less prominent than other text.
    Quiet,
    /// Possible problem.
    Doubt,
    /// Definite problem.
    Bad,
}

/// Names and values, one per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactTable {
    /// Subject of the facts.
    pub title: Option<String>,
    /// Meaning of the title.
    pub tone: Tone,
    /// Pairs of name and value.
    pub facts: Vec<(String, String)>,
}

/// Table. Every row has one cell for each column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportTable {
    /// Caption; empty if the heading above is enough.
    pub caption: String,
    /// Columns, from left to right.
    pub columns: Vec<TableColumn>,
    /// Rows, from top to bottom.
    pub rows: Vec<Vec<TableCell>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableColumn {
    /// Heading of the column.
    pub title: String,
    /// Alignment of the cells.
    pub align: ColumnAlignment,
    /// Whether a page keeps the column in view where a narrow screen scrolls the table.
    pub is_pinned: bool,
}

/// Alignment of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnAlignment {
    /// For text, which may be wrapped.
    Left,
    /// For numbers; wrapped only at plain spaces, and only if they do not fit otherwise.
    Right,
}

/// Cell of a row, with the column that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnCell {
    column: TableColumn,
    cell: TableCell,
}

impl ColumnCell {
    fn new(title: &str, align: ColumnAlignment, cell: impl Into<TableCell>) -> Self {
        let column = TableColumn { title: title.to_owned(), align, is_pinned: false };
        Self { column, cell: cell.into() }
    }
}

/// Returns a cell of a left-aligned column.
pub fn left<C: Into<TableCell>>(title: &str, cell: C) -> ColumnCell {
    ColumnCell::new(title, ColumnAlignment::Left, cell)
}

/// Returns a cell of a right-aligned column.
pub fn right<C: Into<TableCell>>(title: &str, cell: C) -> ColumnCell {
    ColumnCell::new(title, ColumnAlignment::Right, cell)
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableCell {
    /// Text of the cell.
    pub text: String,
    /// Abbreviated text for a terminal too narrow for the whole table.
    pub short: Option<String>,
    /// Meaning of the text.
    pub tone: Tone,
    /// Numbers of the [`Note`]s that the cell refers to.
    pub marks: Vec<usize>,
}

/// A doubt or a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Number by which cells refer to the note.
    pub mark: Option<usize>,
    /// Subject of the lines, such as the case that failed; a warning names its results in them.
    pub name: Option<String>,
    /// Meaning of the note.
    pub tone: Tone,
    /// Doubts or failures, one sentence each.
    pub lines: Vec<String>,
    /// Recommended action.
    pub advice: String,
}

/// Blocks that most readers skip.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    /// Title of the section.
    pub title: String,
    /// Contents, in order.
    pub blocks: Vec<Block>,
}

/// Curves over a common axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    pub title: String,
    /// Description of the curves for readers who cannot see them.
    pub description: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Curves.
    pub series: Vec<PlotSeries>,
    /// Whether the curves compete with each other. Text output then leaves the plot to the table,
    /// because bars of the first curve only would single it out.
    pub is_comparison: bool,
    /// Named ranges of the horizontal axis, ascending and without overlap.
    pub bands: Vec<Band>,
    /// Limit that no curve can exceed.
    pub limit: Option<ReferenceLine>,
    /// Vertical lines at values of the horizontal axis.
    pub marks: Vec<ReferenceLine>,
}

impl Plot {
    /// Creates a plot of curves without bands, limit or marks.
    pub fn new(
        title: impl Into<String>,
        description: impl Into<String>,
        [x, y]: [Axis; 2],
        series: Vec<PlotSeries>,
    ) -> Self {
        let (title, description) = (title.into(), description.into());
        let (bands, marks) = (Vec::new(), Vec::new());
        Self {
            title,
            description,
            x,
            y,
            series,
            is_comparison: false,
            bands,
            limit: None,
            marks,
        }
    }
}

/// Forest plot: ratios below each other with their intervals, as a picture of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    pub title: String,
    /// Description for readers who cannot see the plot.
    pub description: String,
    /// Label of the horizontal axis.
    pub axis: String,
    /// Rows, from top to bottom.
    pub rows: Vec<ForestRow>,
    /// Range of ratios that are equivalent in practice.
    pub margin: [f64; 2],
}

/// Row of a forest plot.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestRow {
    /// Name of the metric or case that was compared.
    pub name: String,
    /// Ratio between the conditions.
    pub value: f64,
    /// Confidence interval of the ratio.
    pub interval: Option<[f64; 2]>,
    /// Ratio and interval as the table prints them.
    pub formatted: String,
    /// Meaning of the row.
    pub tone: Tone,
}

/// Heat map: one value for each row and column, such as pairs of hosts or levels of two factors.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// Title, including the meaning of rows and columns.
    pub title: String,
    /// Description for readers who cannot see the map.
    pub description: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Cells row by row, in base units; `None` if not measured.
    pub cells: Vec<Vec<Option<f64>>>,
    /// Row and column of the conspicuous cells.
    pub marked: Vec<(usize, usize)>,
    /// Base unit of all cells.
    pub unit: Unit,
    /// Whether higher or lower values are better.
    pub better: Better,
}

/// Axis of a plot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Label of the axis.
    pub label: String,
    /// Base unit of the values.
    pub unit: Unit,
    /// Mapping of values to lengths.
    pub scale: Scale,
}

impl Axis {
    /// Creates an axis.
    pub fn new(label: impl Into<String>, unit: Unit, scale: Scale) -> Self {
        Self { label: label.into(), unit, scale }
    }
}

/// Mapping of values to lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Linear from zero.
    Linear,
    /// Linear from near the lowest value, where small differences matter.
    LinearFitted,
    /// Logarithmic; ticks at powers of two.
    Log2,
    /// Logarithmic; ticks at powers of ten.
    Log10,
}

impl Scale {
    /// Whether equal distances are equal differences.
    pub const fn is_proportional(self) -> bool {
        matches!(self, Self::Linear | Self::LinearFitted)
    }
}

/// Curve of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotSeries {
    pub name: String,
    /// Points, ascending in `x`.
    pub points: Vec<PlotPoint>,
}

impl PlotSeries {
    /// Collects the points of every curve, by the curves' names.
    pub fn group_points(points: impl IntoIterator<Item = (String, PlotPoint)>) -> Vec<Self> {
        let curves = group_pairs(points).into_iter();
        curves.map(|(name, points)| Self { name, points }).collect()
    }
}

/// Point of a curve, in base units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotPoint {
    /// Position on the horizontal axis.
    pub x: f64,
    /// Value on the vertical axis.
    pub y: f64,
    /// Confidence interval of `y`.
    pub interval: Option<[f64; 2]>,
}

/// Named range of the horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    pub label: String,
    /// Start of the range.
    pub from: f64,
    /// End of the range; infinite if it has none.
    pub to: f64,
}

/// Line at one value of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceLine {
    pub label: String,
    /// Value at which the line crosses the axis.
    pub value: f64,
}

impl Document {
    /// Creates a document without blocks.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new(), is_dense: false }
    }

    /// Inserts blocks before the first section.
    pub fn insert_before_sections(&mut self, blocks: impl IntoIterator<Item = Block>) {
        let place = self.blocks.iter().position(|it| matches!(it, Block::Heading(_)));
        let place = place.unwrap_or(self.blocks.len());
        self.blocks.splice(place..place, blocks);
    }

    /// Moves the blocks of a section below the earlier section with the same heading.
    pub fn merge_equal_sections(&mut self) {
        let mut sections: Vec<Vec<Block>> = vec![vec![]];
        let mut current = 0;
        for block in std::mem::take(&mut self.blocks) {
            let is_heading = matches!(block, Block::Heading(_));
            let known = sections.iter().position(|it| is_heading && it.first() == Some(&block));
            match known {
                Some(known) => current = known,
                None if is_heading => {
                    current = sections.len();
                    sections.push(vec![block]);
                }
                None => sections[current].push(block),
            }
        }
        self.blocks = sections.concat();
    }

    /// Appends the heading of a section.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    /// Appends a paragraph unless its text is empty.
    pub fn paragraph(&mut self, tone: Tone, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.blocks.push(Block::Paragraph(Paragraph { text, tone }));
        }
    }
}

impl ReportTable {
    /// Creates a table without rows, whose columns are those of the first one.
    pub fn with_caption(caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), columns: vec![], rows: vec![] }
    }

    /// Appends a row. All rows have the same columns.
    pub fn push(&mut self, row: impl IntoIterator<Item = ColumnCell>) {
        let (columns, cells): (Vec<_>, Vec<_>) =
            row.into_iter().map(|it| (it.column, it.cell)).unzip();
        if self.columns.is_empty() {
            self.columns = columns;
        } else {
            debug_assert_eq!(self.columns, columns, "all rows have the same columns");
        }
        self.rows.push(cells);
    }

    /// Returns the table without columns in which every cell is empty.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        fn keep<T>(all: &mut Vec<T>, is_used: &[bool]) {
            let mut places = is_used.iter();
            all.retain(|_| *places.next().unwrap_or(&true));
        }
        let is_used = |i: usize| self.rows.iter().any(|row| !row[i].is_empty());
        let is_used: Vec<bool> = (0..self.columns.len()).map(is_used).collect();
        keep(&mut self.columns, &is_used);
        self.rows.iter_mut().for_each(|row| keep(row, &is_used));
        self
    }

    /// Returns the table with the column of this title pinned, for verdicts behind their figures.
    #[must_use]
    pub fn with_pinned(mut self, title: &str) -> Self {
        self.columns.iter_mut().for_each(|it| it.is_pinned |= it.title == title);
        self
    }

    /// Returns the table with only the given columns, in the given order.
    ///
    /// # Panics
    /// If a column does not exist.
    pub fn with_columns(&self, columns: &[usize]) -> Self {
        let cells = |row: &Vec<TableCell>| columns.iter().map(|i| row[*i].clone()).collect();
        Self {
            caption: self.caption.clone(),
            columns: columns.iter().map(|i| self.columns[*i].clone()).collect(),
            rows: self.rows.iter().map(cells).collect(),
        }
    }
}

impl TableCell {
    /// Creates a cell without text that refers to notes.
    pub fn with_marks(marks: Vec<usize>) -> Self {
        Self { marks, ..Self::default() }
    }

    /// Creates a cell with an abbreviated form.
    pub fn with_short(text: impl Into<String>, short: Option<String>) -> Self {
        Self { text: text.into(), short, ..Self::default() }
    }

    /// Whether the cell has neither text nor marks.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.marks.is_empty()
    }
}

impl TableCell {
    /// Creates a cell whose text has a meaning.
    pub fn with_tone(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone, ..Self::default() }
    }
}

impl<T: Into<String>> From<T> for TableCell {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}
