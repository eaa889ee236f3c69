//! Renders documents as text for a terminal of a given width.

mod table;
mod wrap;

use crate::document::{Block, Cell, Document, Facts, HeatMap, Note, Plot, Table, Tone};
use crate::plot::{bars, heat_table, shades};
use assay_model::plain::in_columns;
use wrap::{columns, one_line, padded, plain, wrap};

/// Options of text output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal; at least 20 are used.
    pub width: usize,
    /// Whether to use colours and bold letters.
    pub colour: bool,
    /// Whether to include details that most readers skip.
    pub details: bool,
}

impl Default for Options {
    /// Returns 80 columns, no colour, no details.
    fn default() -> Self {
        Self { width: 80, colour: false, details: false }
    }
}

/// Indent of everything except headings.
const INDENT: usize = 2;
const NARROWEST: usize = 20;

/// Renders the whole document. No line ends in a space. Only a line with a single word may be wider
/// than requested.
#[must_use]
pub fn document(document: &Document, options: &Options) -> String {
    let options = Options { width: options.width.max(NARROWEST), ..*options };
    let writer = Writer { options };
    let mut lines = wrap(&document.title, options.width);
    let rule = lines.iter().map(|line| columns(line)).max().unwrap_or(0).min(options.width);
    lines = lines.iter().map(|line| writer.bold(line)).collect();
    if !document.is_dense {
        lines.push("═".repeat(rule));
    }
    for block in &document.blocks {
        let is_close = document.is_dense && matches!(block, Block::Paragraph(_));
        let block = writer.block(block);
        if !block.is_empty() {
            lines.extend((!is_close).then(String::new));
            lines.extend(block);
        }
    }
    lines.iter().map(|line| format!("{}\n", plain(line).trim_end())).collect()
}

/// Wraps a line to at most `width` columns between words, with a hanging indent.
#[must_use]
pub fn folded(line: &str, width: usize) -> String {
    if columns(line) <= width {
        return line.to_owned();
    }
    let text = line.trim_start();
    let indent = columns(line) - columns(text);
    let room = width.max(NARROWEST).saturating_sub(indent + INDENT).max(1);
    let lines = wrap(text, room);
    let (first, rest) = lines.split_at(1.min(lines.len()));
    let first = first.iter().map(|line| format!("{}{line}", " ".repeat(indent)));
    let rest = rest.iter().map(|line| format!("{}{line}", " ".repeat(indent + INDENT)));
    first.chain(rest).collect::<Vec<_>>().join("\n")
}

/// Formats a name and its explanation in lines of at most `width` columns; the explanation begins
/// at `column`.
#[must_use]
pub fn beside(name: &str, column: usize, explanation: &str, width: usize) -> String {
    let lines = wrap(explanation, width.max(NARROWEST).saturating_sub(column).max(NARROWEST));
    let name = match columns(name) < column {
        true => padded(name, column),
        false => format!("{name}\n{}", " ".repeat(column)),
    };
    name + &lines.join(&format!("\n{}", " ".repeat(column)))
}

struct Writer {
    options: Options,
}

impl Writer {
    fn block(&self, block: &Block) -> Vec<String> {
        match block {
            Block::Heading(text) => self.heading(text),
            Block::Paragraph(paragraph) => {
                self.toned_lines(paragraph.tone, wrap(&paragraph.text, self.inner()))
            }
            Block::Facts(facts) => self.facts(facts),
            Block::Table(table) => self.table(table),
            Block::Plot(plot) => self.plot(plot),
            // The table with the same content follows.
            Block::Forest(_) => vec![],
            Block::HeatMap(map) => self.heat_map(map),
            Block::Notes(notes) => notes.iter().flat_map(|note| self.note(note)).collect(),
            Block::Preformatted(text) => {
                indented(text.lines().map(|line| in_columns(line).into_owned()).collect())
            }
            Block::Details(details) if self.options.details => {
                let mut lines = self.heading(&details.title);
                for block in &details.blocks {
                    lines.push(String::new());
                    lines.extend(self.block(block));
                }
                lines
            }
            Block::Details(_) => vec![],
        }
    }

    /// Columns to the right of the indent.
    const fn inner(&self) -> usize {
        self.options.width - INDENT
    }

    fn heading(&self, text: &str) -> Vec<String> {
        wrap(text, self.options.width).iter().map(|line| self.bold(line)).collect()
    }

    fn table(&self, table: &Table) -> Vec<String> {
        let caption = Some(&table.caption).filter(|caption| !caption.is_empty());
        let mut lines = caption.map(|it| wrap(it, self.inner())).unwrap_or_default();
        lines.extend(table::lines(table, self.inner(), &|cell, text| self.cell(cell, text)));
        indented(lines)
    }

    fn plot(&self, plot: &Plot) -> Vec<String> {
        let mut lines = bars(plot, self.inner());
        let rest = lines.split_off(lines.len().min(1));
        let caption = lines.iter().flat_map(|caption| wrap(caption, self.inner())).collect();
        [indented(caption), indented(rest)].concat()
    }

    /// Renders numbers if they fit, otherwise shades.
    fn heat_map(&self, map: &HeatMap) -> Vec<String> {
        let table = heat_table(map);
        let lines = table::lines(&table, self.inner(), &|cell, text| self.cell(cell, text));
        // A table that does not fit has several lines for each row.
        let fits = lines.len() <= map.names.len() + 2
            && lines.iter().all(|line| columns(line) <= self.inner());
        let shaded = shades(map, self.inner()).filter(|_| !fits);
        let caption = wrap(&map.title, self.inner());
        indented([caption, shaded.unwrap_or(lines)].concat())
    }

    fn facts(&self, facts: &Facts) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(title) = &facts.title {
            lines.extend(self.toned_lines(facts.tone, wrap(title, self.inner())));
        }
        let names: Vec<String> = facts.facts.iter().map(|(name, _)| one_line(name)).collect();
        let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
        let column = widest.min(self.inner() / 3);
        let indent = if facts.title.is_some() { 2 } else { 0 };
        let room = self.inner().saturating_sub(column + 2 + indent).max(1);
        for (name, (_, value)) in names.iter().zip(&facts.facts) {
            let mut values = wrap(value, room).into_iter();
            // A name too long for its column has its own line.
            if columns(name) > column {
                lines.extend(indented_by(INDENT + indent, wrap(name, self.inner() - indent)));
            } else {
                let first = values.next().unwrap_or_default();
                lines.extend(indented_by(
                    INDENT + indent,
                    vec![format!("{}  {first}", padded(name, column))],
                ));
            }
            lines.extend(indented_by(INDENT + indent + column + 2, values.collect()));
        }
        lines
    }

    fn note(&self, note: &Note) -> Vec<String> {
        let mark = note.mark.map_or_else(|| "• ".to_owned(), |mark| format!("[{mark}] "));
        let hanging = INDENT + columns(&mark);
        let room = self.options.width.saturating_sub(hanging).max(1);
        let mut lines = vec![];
        for (index, line) in note.lines.iter().enumerate() {
            let named =
                if index == 0 { format!("{}: {line}", note.name) } else { line.clone() };
            lines.extend(wrap(&named, room));
        }
        let mut toned: Vec<String> = indented_by(hanging, lines);
        if let Some(first) = toned.first_mut() {
            let rest = first.trim_start().to_owned();
            *first = format!("{}{}{rest}", " ".repeat(INDENT), padded(&mark, hanging - INDENT));
        }
        let mut toned: Vec<String> =
            toned.iter().map(|line| self.toned(note.tone, line)).collect();
        if !note.advice.is_empty() {
            let advice = wrap(&format!("→\u{a0}{}", note.advice), room);
            toned.extend(indented_by(hanging, advice));
        }
        toned
    }

    fn toned_lines(&self, tone: Tone, lines: Vec<String>) -> Vec<String> {
        indented(lines).iter().map(|line| self.toned(tone, line)).collect()
    }

    /// Colours the padded text of a cell.
    fn cell(&self, cell: &Cell, text: &str) -> String {
        let tone = if cell.marks.is_empty() { cell.tone } else { Tone::Doubt };
        self.toned(tone, text)
    }

    fn toned(&self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Quiet => self.styled("2", text),
            Tone::Doubt => self.styled("33", text),
            Tone::Bad => self.styled("31", text),
        }
    }

    fn bold(&self, text: &str) -> String {
        self.styled("1", text)
    }

    /// Applies ANSI select graphic rendition, except to the spaces around the text.
    fn styled(&self, code: &str, text: &str) -> String {
        let inside = text.trim();
        if !self.options.colour || inside.is_empty() {
            return text.to_owned();
        }
        text.replacen(inside, &format!("\u{1b}[{code}m{inside}\u{1b}[0m"), 1)
    }
}

fn indented(lines: Vec<String>) -> Vec<String> {
    indented_by(INDENT, lines)
}

fn indented_by(columns: usize, lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| format!("{}{line}", " ".repeat(columns))).collect()
}
