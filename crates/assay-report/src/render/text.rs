//! Renders documents as text for a terminal of a given width.

mod table;
mod wrap;

use crate::document::{
    Block, Document, FactTable, HeatMap, Note, Plot, ReportTable, TableCell, Tone,
};
use crate::locale::format_fact;
use crate::plot::{heat_table, render_bars, shades};
use crate::words::without_no_break_spaces;
use assay_model::sanitize::spell_hidden;
use wrap::{columns, one_line, pad_to, wrap};

/// Options of text output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns of the terminal; at least 20 are used.
    pub width: usize,
    /// Whether to use colours and bold letters.
    pub colour: bool,
    /// Whether to include details that most readers skip.
    pub details: bool,
}

impl Default for TextOptions {
    /// Returns 80 columns, no colour, no details.
    fn default() -> Self {
        Self { width: 80, colour: false, details: false }
    }
}

/// Indent of everything except headings.
const INDENT: usize = 2;
const MIN_WIDTH: usize = 20;

/// Renders the whole document. No line ends in a space. Only a line with a single word may be wider
/// than requested.
pub fn document(document: &Document, options: &TextOptions) -> String {
    let options = TextOptions { width: options.width.max(MIN_WIDTH), ..*options };
    let writer = TextRenderer { options };
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
    lines.iter().map(|line| format!("{}\n", without_no_break_spaces(line).trim_end())).collect()
}

/// Wraps a line to at most `width` columns between words, with a hanging indent.
pub fn wrap_line(line: &str, width: usize) -> String {
    if columns(line) <= width {
        return line.to_owned();
    }
    let text = line.trim_start();
    let indent = columns(line) - columns(text);
    let room = width.max(MIN_WIDTH).saturating_sub(indent + INDENT).max(1);
    let lines = wrap(text, room);
    let (first, rest) = lines.split_at(1.min(lines.len()));
    let first = first.iter().map(|line| format!("{}{line}", " ".repeat(indent)));
    let rest = rest.iter().map(|line| format!("{}{line}", " ".repeat(indent + INDENT)));
    first.chain(rest).collect::<Vec<_>>().join("\n")
}

/// Formats a name and its explanation in lines of at most `width` columns; the explanation begins
/// at `column`.
pub fn format_definition(name: &str, column: usize, explanation: &str, width: usize) -> String {
    let lines = wrap(explanation, width.max(MIN_WIDTH).saturating_sub(column).max(MIN_WIDTH));
    let name = match columns(name) < column {
        true => pad_to(name, column),
        false => format!("{name}\n{}", " ".repeat(column)),
    };
    name + &lines.join(&format!("\n{}", " ".repeat(column)))
}

struct TextRenderer {
    options: TextOptions,
}

impl TextRenderer {
    fn block(&self, block: &Block) -> Vec<String> {
        match block {
            Block::Heading(text) => self.heading(text),
            Block::Paragraph(paragraph) => {
                self.toned_lines(paragraph.tone, wrap(&paragraph.text, self.inner_width()))
            }
            Block::Facts(facts) => self.facts(facts),
            Block::Table(table) => self.table(table),
            Block::Plot(plot) => self.plot(plot),
            // The table with the same content follows.
            Block::Forest(_) => vec![],
            Block::HeatMap(map) => self.heat_map(map),
            Block::Notes(notes) => notes.iter().flat_map(|note| self.note(note)).collect(),
            Block::Preformatted(text) => {
                indent_lines(text.lines().map(|line| spell_hidden(line).into_owned()).collect())
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
    const fn inner_width(&self) -> usize {
        self.options.width - INDENT
    }

    fn heading(&self, text: &str) -> Vec<String> {
        wrap(text, self.options.width).iter().map(|line| self.bold(line)).collect()
    }

    fn table(&self, table: &ReportTable) -> Vec<String> {
        let caption = Some(&table.caption).filter(|caption| !caption.is_empty());
        let mut lines = caption.map(|it| wrap(it, self.inner_width())).unwrap_or_default();
        lines.extend(table::lines(table, self.inner_width(), &|cell, text| {
            self.cell(cell, text)
        }));
        indent_lines(lines)
    }

    fn plot(&self, plot: &Plot) -> Vec<String> {
        let mut lines = render_bars(plot, self.inner_width());
        let rest = lines.split_off(lines.len().min(1));
        let caption =
            lines.iter().flat_map(|caption| wrap(caption, self.inner_width())).collect();
        [indent_lines(caption), indent_lines(rest)].concat()
    }

    /// Renders numbers if they fit, otherwise shades.
    fn heat_map(&self, map: &HeatMap) -> Vec<String> {
        if !map.has_numbers() {
            let text = format_fact(&map.title, &map.description);
            return indent_lines(wrap(&text, self.inner_width()));
        }
        let table = heat_table(map);
        let lines =
            table::lines(&table, self.inner_width(), &|cell, text| self.cell(cell, text));
        // A table that does not fit has several lines for each row.
        let fits = lines.len() <= map.rows.len() + 2
            && lines.iter().all(|line| columns(line) <= self.inner_width());
        let shaded = shades(map, self.inner_width()).filter(|_| !fits);
        let caption = wrap(&map.title, self.inner_width());
        indent_lines([caption, shaded.unwrap_or(lines)].concat())
    }

    fn facts(&self, facts: &FactTable) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(title) = &facts.title {
            lines.extend(self.toned_lines(facts.tone, wrap(title, self.inner_width())));
        }
        let names: Vec<String> = facts.facts.iter().map(|(name, _)| one_line(name)).collect();
        let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
        let column = widest.min(self.inner_width() / 3);
        let indent = if facts.title.is_some() { 2 } else { 0 };
        let room = self.inner_width().saturating_sub(column + 2 + indent).max(1);
        for (name, (_, value)) in names.iter().zip(&facts.facts) {
            let mut values = wrap(value, room).into_iter();
            // A name too long for its column has its own line.
            if columns(name) > column {
                lines.extend(indent_lines_by(
                    INDENT + indent,
                    wrap(name, self.inner_width() - indent),
                ));
            } else {
                let first = values.next().unwrap_or_default();
                lines.extend(indent_lines_by(
                    INDENT + indent,
                    vec![format!("{}  {first}", pad_to(name, column))],
                ));
            }
            lines.extend(indent_lines_by(INDENT + indent + column + 2, values.collect()));
        }
        lines
    }

    fn note(&self, note: &Note) -> Vec<String> {
        let mark = note.mark.map_or_else(|| "• ".to_owned(), |mark| format!("[{mark}] "));
        let hanging = INDENT + columns(&mark);
        let room = self.options.width.saturating_sub(hanging).max(1);
        let mut lines = vec![];
        for (index, line) in note.lines.iter().enumerate() {
            let named = match note.name.as_ref().filter(|_| index == 0) {
                Some(name) => format_fact(name, line),
                None => line.clone(),
            };
            lines.extend(wrap(&named, room));
        }
        let mut toned: Vec<String> = indent_lines_by(hanging, lines);
        if let Some(first) = toned.first_mut() {
            let rest = first.trim_start().to_owned();
            *first = format!("{}{}{rest}", " ".repeat(INDENT), pad_to(&mark, hanging - INDENT));
        }
        let mut toned: Vec<String> =
            toned.iter().map(|line| self.with_tone(note.tone, line)).collect();
        if !note.advice.is_empty() {
            let advice = wrap(&format!("→\u{a0}{}", note.advice), room);
            toned.extend(indent_lines_by(hanging, advice));
        }
        toned
    }

    fn toned_lines(&self, tone: Tone, lines: Vec<String>) -> Vec<String> {
        indent_lines(lines).iter().map(|line| self.with_tone(tone, line)).collect()
    }

    /// Colours the padded text of a cell.
    fn cell(&self, cell: &TableCell, text: &str) -> String {
        let tone = if cell.marks.is_empty() { cell.tone } else { Tone::Doubt };
        self.with_tone(tone, text)
    }

    fn with_tone(&self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Quiet => self.with_style("2", text),
            Tone::Doubt => self.with_style("33", text),
            Tone::Bad => self.with_style("31", text),
        }
    }

    fn bold(&self, text: &str) -> String {
        self.with_style("1", text)
    }

    /// Applies ANSI select graphic rendition, except to the spaces around the text.
    fn with_style(&self, code: &str, text: &str) -> String {
        let inside = text.trim();
        if !self.options.colour || inside.is_empty() {
            return text.to_owned();
        }
        text.replacen(inside, &format!("\u{1b}[{code}m{inside}\u{1b}[0m"), 1)
    }
}

fn indent_lines(lines: Vec<String>) -> Vec<String> {
    indent_lines_by(INDENT, lines)
}

fn indent_lines_by(columns: usize, lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| format!("{}{line}", " ".repeat(columns))).collect()
}
