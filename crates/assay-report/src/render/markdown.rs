//! GitHub-flavoured Markdown.

use assay_model::plain;

use crate::document::{Align, Block, Cell, Document, Facts, Note, Plot, Table};
use crate::locale::{Language, colon, fact};
use crate::plot;
use crate::precision::written;

/// Renders the whole document.
#[must_use]
pub fn document(document: &Document) -> String {
    let mut parts = vec![format!("# {}", inline(&document.title))];
    // Omits a plot if the table that follows has the same content.
    let next = document.blocks.iter().skip(1).map(Some).chain([None]);
    let texts = document.blocks.iter().zip(next).filter(|(it, next)| match (it, next) {
        (Block::Forest(_), _) => false,
        (Block::Plot(plot), Some(Block::Table(table))) => plot.title != table.caption,
        _ => true,
    });
    parts.extend(texts.map(|(it, _)| block(it)));
    let mut text = parts.join("\n\n");
    text.push('\n');
    plain::visible(&text).into_owned()
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("## {}", inline(text)),
        Block::Paragraph(paragraph) => inline(&paragraph.text),
        Block::Facts(facts) => list(facts),
        Block::Table(table) => captioned(table),
        Block::Plot(plot) => curve(plot),
        Block::Forest(forest) => inline(&forest.description),
        Block::HeatMap(map) => captioned(&plot::heat_table(map)),
        Block::Notes(notes) => notes.iter().map(note).collect::<Vec<_>>().join("\n"),
        Block::Preformatted(text) => fenced(text),
        Block::Details(details) => {
            let inside: Vec<String> = details.blocks.iter().map(self::block).collect();
            let title = inline(&details.title);
            format!(
                "<details>\n<summary>{title}</summary>\n\n{}\n\n</details>",
                inside.join("\n\n")
            )
        }
    }
}

/// Escapes Markdown markup; line breaks become spaces.
fn inline(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let second = text.chars().nth(1);
    for (at, c) in text.char_indices() {
        match c {
            // At the beginning of a line it would start a list, an underline or a mention; before a
            // digit it is a sign.
            '=' | '+' | '-' | '@'
                if at == 0 && second.is_none_or(|it| !it.is_ascii_digit()) =>
            {
                escaped.push('\\');
                escaped.push(c);
            }
            '\n' | '\r' => escaped.push(' '),
            // Localised pages keep numbers and units together; invariant ones are searched and cut.
            '\u{a0}' if Language::current() == Language::INVARIANT => escaped.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '|' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '&' => escaped.push_str("&amp;"),
            c => escaped.push(c),
        }
    }
    escaped.trim().to_owned()
}

/// Links a picture file next to the page.
pub(super) fn picture(title: &str, file: &str) -> String {
    format!("![{}](<{}>)", inline(title), file.replace(['<', '>', '\n'], "_"))
}

fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

fn list(facts: &Facts) -> String {
    let title = facts.title.iter().map(|title| format!("**{}**\n", inline(title)));
    let fact = |(name, value): &(String, String)| format!("- {}", inline(&fact(name, value)));
    title.chain(facts.facts.iter().map(fact)).collect::<Vec<_>>().join("\n")
}

fn note(note: &Note) -> String {
    let mark = note.mark.map(|mark| format!("\\[{mark}\\] ")).unwrap_or_default();
    let lines: Vec<String> = note.lines.iter().map(|line| inline(line)).collect();
    let advice = if note.advice.is_empty() {
        String::new()
    } else {
        format!("  \n  → {}", inline(&note.advice))
    };
    format!("- {mark}**{}**{}{}{advice}", inline(&note.name), colon(), lines.join("  \n  "))
}

fn captioned(table: &Table) -> String {
    let caption = Some(inline(&table.caption)).filter(|caption| !caption.is_empty());
    let caption = caption.map(|caption| format!("**{caption}**\n\n")).unwrap_or_default();
    caption + &grid(table)
}

fn grid(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let head = line(table.columns.iter().map(|column| inline(&column.title)).collect());
    let rule = table.columns.iter().map(|column| match column.align {
        Align::Left => "---".to_owned(),
        Align::Right => "---:".to_owned(),
    });
    let rows = table.rows.iter().map(|row| line(row.iter().map(cell).collect()));
    [head, line(rule.collect())].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

fn cell(cell: &Cell) -> String {
    let marks = cell.marks.iter().map(|mark| format!("\\[{mark}\\]"));
    let text = Some(inline(&cell.text)).filter(|text| !text.is_empty());
    text.into_iter().chain(marks).collect::<Vec<_>>().join(" ")
}

/// Tabulates every point of every curve, because Markdown cannot draw.
fn curve(plot: &Plot) -> String {
    let mut columns = vec![(plot.x.label.as_str(), Align::Right)];
    columns.extend(plot.series.iter().map(|series| (series.name.as_str(), Align::Right)));
    let mut table = Table::new("", &columns);
    let mut places: Vec<f64> =
        plot.series.iter().flat_map(|series| series.points.iter().map(|p| p.x)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup_by(|a, b| a.to_bits() == b.to_bits());
    for x in places {
        let mut row: Vec<Cell> = vec![crate::plot::label(x, plot.x.unit).into()];
        row.extend(plot.series.iter().map(|series| {
            let point = series.points.iter().find(|point| point.x.to_bits() == x.to_bits());
            let value = point.map(|point| written(point.y, plot.y.unit, 4));
            Cell::from(value.unwrap_or_default())
        }));
        table.rows.push(row);
    }
    format!("{}\n\n{}", inline(&plot.description), grid(&table))
}
