//! GitHub-flavoured Markdown.

use assay_model::sanitize;

use crate::document::{
    Block, ColumnAlignment, Document, FactTable, Note, Plot, ReportTable, TableCell, right,
};
use crate::locale::{Language, colon, format_fact};
use crate::plot;
use crate::precision::format_value;

/// Renders the whole document.
pub fn document(document: &Document) -> String {
    document_with_links(document, &mut |_| None)
}

/// Renders the whole document with a link before each plot.
pub(super) fn document_with_links(
    document: &Document,
    link: &mut dyn FnMut(&Plot) -> Option<String>,
) -> String {
    let mut parts = vec![format!("# {}", escape_inline(&document.title))];
    // Omits a plot if the table that follows has the same content.
    let next = document.blocks.iter().skip(1).map(Some).chain([None]);
    for (it, next) in document.blocks.iter().zip(next) {
        let is_shown = match (it, next) {
            (Block::Forest(_), _) => false,
            (Block::Plot(plot), Some(Block::Table(table))) => plot.title != table.caption,
            _ => true,
        };
        if let Block::Plot(plot) = it {
            parts.extend(link(plot));
        }
        parts.extend(is_shown.then(|| block(it)));
    }
    let mut text = parts.join("\n\n");
    text.push('\n');
    sanitize::escape_hidden(&text).into_owned()
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("## {}", escape_inline(text)),
        Block::Paragraph(paragraph) => escape_inline(&paragraph.text),
        Block::Facts(facts) => list(facts),
        Block::Table(table) => captioned_table(table),
        Block::Plot(plot) => curve_table(plot),
        Block::Forest(forest) => escape_inline(&forest.description),
        Block::HeatMap(map) if !map.has_numbers() => {
            escape_inline(&format_fact(&map.title, &map.description))
        }
        Block::HeatMap(map) => captioned_table(&plot::heat_table(map)),
        Block::Notes(notes) => notes.iter().map(note).collect::<Vec<_>>().join("\n"),
        Block::Preformatted(text) => fenced_block(text),
        Block::Details(details) => {
            let inside: Vec<String> = details.blocks.iter().map(self::block).collect();
            let title = escape_inline(&details.title);
            format!(
                "<details>\n<summary>{title}</summary>\n\n{}\n\n</details>",
                inside.join("\n\n")
            )
        }
    }
}

/// Escapes Markdown markup and what GitHub turns into links, pictures and formulas: addresses,
/// mentions, `:names:` and `$`. Line breaks become spaces.
fn escape_inline(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let second = text.chars().nth(1);
    for (at, c) in text.char_indices() {
        match c {
            // At the beginning of a line it would start a list or an underline; before a digit it
            // is a sign.
            '=' | '+' | '-' if at == 0 && second.is_none_or(|it| !it.is_ascii_digit()) => {
                escaped.push('\\');
                escaped.push(c);
            }
            '\n' | '\r' => escaped.push(' '),
            // Localised pages keep numbers and units together; invariant ones are searched and cut.
            '\u{a0}' if Language::current() == Language::INVARIANT => escaped.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '|' | '#' | '~' | '@' | '$' => {
                escaped.push('\\');
                escaped.push(c);
            }
            ':' if text[at + 1..].starts_with("//") || begins_emoji(&text[at + 1..]) => {
                escaped.push_str("\\:");
            }
            '.' if ends_with_www(&text[..at]) => escaped.push_str("\\."),
            '&' => escaped.push_str("&amp;"),
            c => escaped.push(c),
        }
    }
    escaped.trim().to_owned()
}

/// Returns whether a text after `:` continues with the name of an emoji and another `:`. Times
/// such as `12:30:45` are none; the only names of digits are `100` and `1234`.
fn begins_emoji(rest: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-');
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let name = &rest[..end];
    let is_number = name.chars().all(|c| c.is_ascii_digit()) && !matches!(name, "100" | "1234");
    !name.is_empty() && !is_number && rest[end..].starts_with(':')
}

/// Returns whether a text before `.` ends with `www`, which GitHub turns into a link.
fn ends_with_www(text: &str) -> bool {
    text.len()
        .checked_sub(3)
        .and_then(|at| text.get(at..))
        .is_some_and(|it| it.eq_ignore_ascii_case("www"))
}

/// Links a picture file next to the page.
pub(super) fn picture_link(title: &str, file: &str) -> String {
    format!("![{}](<{}>)", escape_inline(title), file.replace(['<', '>', '\n'], "_"))
}

fn fenced_block(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

fn list(facts: &FactTable) -> String {
    let title = facts.title.iter().map(|title| format!("**{}**\n", escape_inline(title)));
    let fact = |(name, value): &(String, String)| {
        format!("- {}", escape_inline(&format_fact(name, value)))
    };
    title.chain(facts.facts.iter().map(fact)).collect::<Vec<_>>().join("\n")
}

fn note(note: &Note) -> String {
    let mark = note.mark.map(|mark| format!("\\[{mark}\\] ")).unwrap_or_default();
    let lines: Vec<String> = note.lines.iter().map(|line| escape_inline(line)).collect();
    let advice = if note.advice.is_empty() {
        String::new()
    } else {
        format!("  \n  → {}", escape_inline(&note.advice))
    };
    let name = note.name.as_ref().map(|name| format!("**{}**{}", escape_inline(name), colon()));
    format!("- {mark}{}{}{advice}", name.unwrap_or_default(), lines.join("  \n  "))
}

fn captioned_table(table: &ReportTable) -> String {
    let caption = Some(escape_inline(&table.caption)).filter(|caption| !caption.is_empty());
    let caption = caption.map(|caption| format!("**{caption}**\n\n")).unwrap_or_default();
    caption + &grid(table)
}

fn grid(table: &ReportTable) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let head = line(table.columns.iter().map(|column| escape_inline(&column.title)).collect());
    let rule = table.columns.iter().map(|column| match column.align {
        ColumnAlignment::Left => "---".to_owned(),
        ColumnAlignment::Right => "---:".to_owned(),
    });
    let rows = table.rows.iter().map(|row| line(row.iter().map(cell).collect()));
    [head, line(rule.collect())].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

fn cell(cell: &TableCell) -> String {
    let marks = cell.marks.iter().map(|mark| format!("\\[{mark}\\]"));
    let text = Some(escape_inline(&cell.text)).filter(|text| !text.is_empty());
    text.into_iter().chain(marks).collect::<Vec<_>>().join(" ")
}

/// Tabulates every point of every curve, because Markdown cannot draw.
fn curve_table(plot: &Plot) -> String {
    let mut table = ReportTable::with_caption("");
    let mut places: Vec<f64> =
        plot.series.iter().flat_map(|series| series.points.iter().map(|p| p.x)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup_by(|a, b| a.to_bits() == b.to_bits());
    for x in places {
        let place = right(&plot.x.label, crate::plot::tick_label(x, plot.x.unit));
        let values = plot.series.iter().map(|series| {
            let point = series.points.iter().find(|point| point.x.to_bits() == x.to_bits());
            let value = point.map(|point| format_value(point.y, plot.y.unit, 4));
            right(&series.name, value.unwrap_or_default())
        });
        table.push(std::iter::once(place).chain(values));
    }
    format!("{}\n\n{}", escape_inline(&plot.description), grid(&table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_links_mentions_emoji_and_formulas() {
        for (text, expected) in [
            ("~~host~~", "\\~\\~host\\~\\~"),
            ("a @team", "a \\@team"),
            ("u@h.example", "u\\@h.example"),
            ("https://h.example/x", "https\\://h.example/x"),
            ("WWW.h.example", "WWW\\.h.example"),
            ("$$x^2$$", "\\$\\$x^2\\$\\$"),
            ("label :x: :100:", "label \\:x: \\:100:"),
            ("2026-01-02 12:30:45", "2026-01-02 12:30:45"),
            ("Host: a:", "Host: a:"),
        ] {
            assert_eq!(escape_inline(text), expected);
        }
    }
}
