//! A report before it is rendered: headings, tables, plots. Values only, no format.
//!
//! Text may hold no-break spaces (U+00A0), between a number and its unit for example; renderers
//! that wrap lines keep such words together.

use assay_model::benchmark::Better;
use assay_model::quantity::Unit;

/// A whole report.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The title.
    pub title: String,
    /// What it consists of, in order.
    pub blocks: Vec<Block>,
    /// Whether it is to fit a screen: a terminal gets it without a rule below its title, and paragraphs without
    /// empty lines between them.
    pub is_dense: bool,
}

/// One part of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// The heading of a section, one level below the title.
    Heading(String),
    /// A paragraph.
    Paragraph(Paragraph),
    /// Names and values.
    Facts(Facts),
    /// A table.
    Table(Table),
    /// A curve.
    Plot(Plot),
    /// Ratios with their intervals.
    Forest(Forest),
    /// Values between any two of several things.
    HeatMap(HeatMap),
    /// Doubts or failures, numbered where a value refers to them.
    Notes(Vec<Note>),
    /// Text whose line breaks count.
    Preformatted(String),
    /// Blocks that most readers skip.
    Details(Details),
}

/// Running text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paragraph {
    /// The text.
    pub text: String,
    /// How it is meant.
    pub tone: Tone,
}

/// How a text is meant; colour alone never carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Nothing special.
    #[default]
    Plain,
    /// Explanation that may step back.
    Quiet,
    /// Something may be wrong.
    Doubt,
    /// Something is wrong.
    Bad,
}

/// Names and values, one per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What they are about.
    pub title: Option<String>,
    /// How the title is meant.
    pub tone: Tone,
    /// Name and value.
    pub facts: Vec<(String, String)>,
}

/// A table. Every row has as many cells as there are columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows; empty where the heading above says it.
    pub caption: String,
    /// From left to right.
    pub columns: Vec<Column>,
    /// From top to bottom.
    pub rows: Vec<Vec<Cell>>,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub title: String,
    /// Which side its cells touch.
    pub align: Align,
}

/// Which side the cells of a column touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text: may be wrapped.
    Left,
    /// Numbers: wrapped at plain spaces only, where they would not fit otherwise.
    Right,
}

/// One cell of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// The same in fewer letters, for a terminal too narrow for the whole table.
    pub short: Option<String>,
    /// How it is meant.
    pub tone: Tone,
    /// Numbers of the [`Note`]s it refers to.
    pub marks: Vec<usize>,
}

/// A doubt or a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The number that cells refer to it by.
    pub mark: Option<usize>,
    /// What it is called: the stable name of a warning, or the case that failed.
    pub name: String,
    /// How it is meant.
    pub tone: Tone,
    /// What is doubtful or failed, one sentence each.
    pub lines: Vec<String>,
    /// What to do about it.
    pub advice: String,
}

/// Blocks that most readers skip.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    /// What is inside.
    pub title: String,
    /// The blocks.
    pub blocks: Vec<Block>,
}

/// Curves over one common axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// The same for someone who cannot see it: what the curve does.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves.
    pub series: Vec<Series>,
    /// Whether the curves are rivals: bars of the first one alone would say that it is the one that
    /// matters, so text leaves the plot to the table.
    pub rivals: bool,
    /// Named ranges of the horizontal axis, ascending and without overlap.
    pub bands: Vec<Band>,
    /// A value that no curve can exceed.
    pub limit: Option<Line>,
    /// Places on the horizontal axis, drawn as upright lines.
    pub marks: Vec<Line>,
}

impl Plot {
    /// Curves with nothing beside them.
    #[must_use]
    pub fn new(
        title: impl Into<String>,
        description: impl Into<String>,
        [x, y]: [Axis; 2],
        series: Vec<Series>,
    ) -> Self {
        let (title, description) = (title.into(), description.into());
        let (bands, marks) = (Vec::new(), Vec::new());
        Self { title, description, x, y, series, rivals: false, bands, limit: None, marks }
    }
}

/// Ratios below each other, each with its interval: what a table says already, as a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    /// What it shows.
    pub title: String,
    /// The same for someone who cannot see it.
    pub description: String,
    /// What is drawn along the horizontal axis.
    pub axis: String,
    /// From top to bottom.
    pub rows: Vec<Ratio>,
    /// Between these a difference makes none in practice.
    pub margin: [f64; 2],
}

/// One row of a forest plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// What was compared.
    pub name: String,
    /// The ratio.
    pub value: f64,
    /// Its interval.
    pub interval: Option<[f64; 2]>,
    /// Both as the table writes them.
    pub shown: String,
    /// How it is meant.
    pub tone: Tone,
}

/// One value for each of several things with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// What it shows, and what rows and columns are.
    pub title: String,
    /// The same for someone who cannot see it.
    pub description: String,
    /// What stands at the rows, and in the same order at the columns.
    pub names: Vec<String>,
    /// Row by row, in base units; `None` = it was not measured.
    pub cells: Vec<Vec<Option<f64>>>,
    /// Row and column of those that are worth a look.
    pub marked: Vec<(usize, usize)>,
    /// Base unit of all cells.
    pub unit: Unit,
    /// Which way is good.
    pub better: Better,
}

/// One axis of a plot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// What is drawn along it.
    pub label: String,
    /// Base unit of its values.
    pub unit: Unit,
    /// How values become lengths.
    pub scale: Scale,
}

impl Axis {
    /// An axis by its three parts.
    #[must_use]
    pub fn new(label: impl Into<String>, unit: Unit, scale: Scale) -> Self {
        Self { label: label.into(), unit, scale }
    }
}

/// How values become lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Proportional, beginning at zero.
    Linear,
    /// Proportional, beginning near the values, where small differences matter.
    Near,
    /// Powers of two at equal distances.
    Log2,
    /// Powers of ten at equal distances.
    Log10,
}

impl Scale {
    /// Whether equal distances are equal differences.
    #[must_use]
    pub const fn is_proportional(self) -> bool {
        matches!(self, Self::Linear | Self::Near)
    }
}

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Ascending in `x`.
    pub points: Vec<Point>,
}

/// One point of a curve, in base units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// How much.
    pub y: f64,
    /// The interval of `y`.
    pub interval: Option<[f64; 2]>,
}

/// A named range of the horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Its name.
    pub label: String,
    /// Where it begins.
    pub from: f64,
    /// Where it ends; infinite when it does not.
    pub to: f64,
}

/// A line at one value of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its name.
    pub label: String,
    /// Where it crosses the axis.
    pub value: f64,
}

impl Document {
    /// A document without blocks.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new(), is_dense: false }
    }

    /// Appends the heading of a section.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    /// Appends a paragraph; nothing if it has no text.
    pub fn paragraph(&mut self, tone: Tone, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.blocks.push(Block::Paragraph(Paragraph { text, tone }));
        }
    }
}

impl Table {
    /// A table without rows. Columns are given as heading and alignment.
    #[must_use]
    pub fn new(caption: impl Into<String>, columns: &[(&str, Align)]) -> Self {
        let column =
            |&(title, align): &(&str, Align)| Column { title: title.to_owned(), align };
        Self {
            caption: caption.into(),
            columns: columns.iter().map(column).collect(),
            rows: vec![],
        }
    }

    /// The same table without the columns in which every cell is empty.
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

    /// The same table with these of its columns, in this order.
    ///
    /// # Panics
    /// When there is no such column.
    #[must_use]
    pub fn with_columns(&self, columns: &[usize]) -> Self {
        let cells = |row: &Vec<Cell>| columns.iter().map(|i| row[*i].clone()).collect();
        Self {
            caption: self.caption.clone(),
            columns: columns.iter().map(|i| self.columns[*i].clone()).collect(),
            rows: self.rows.iter().map(cells).collect(),
        }
    }
}

impl Cell {
    /// A cell that refers to notes and says nothing else.
    #[must_use]
    pub fn marks(marks: Vec<usize>) -> Self {
        Self { marks, ..Self::default() }
    }

    /// A cell with a shorter form.
    #[must_use]
    pub fn with_short(text: impl Into<String>, short: Option<String>) -> Self {
        Self { text: text.into(), short, ..Self::default() }
    }

    /// Whether there is nothing to see.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.marks.is_empty()
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}
