//! Table layout: columns side by side if they fit, otherwise parts below each other, otherwise
//! records.

use std::borrow::Cow;

use super::wrap::{columns, pad_to, widest_word, wrap};
use crate::document::{ColumnAlignment, ReportTable, TableCell};

const GAP: usize = 2;
/// Maximum average number of lines per row at which rows remain readable.
const MAX_LINES_PER_ROW: usize = 2;

/// Applies the tone of a cell to its padded text.
type CellStyle<'a> = &'a dyn Fn(&TableCell, &str) -> String;

/// Form of the cells of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CellForm {
    Full,
    /// Numbers of several parts, such as a value with its interval, on several lines.
    Wrapped,
    Short,
}

pub(super) fn lines(table: &ReportTable, width: usize, tint: CellStyle<'_>) -> Vec<String> {
    let brief = without_spare_columns(table);
    let mut tall = None;
    let forms = [
        (table, CellForm::Full),
        (&*brief, CellForm::Full),
        (table, CellForm::Wrapped),
        (&*brief, CellForm::Short),
    ];
    for (table, form) in forms {
        if let Some(widths) = column_widths(table, form, width) {
            let lines = side_by_side(table, form, &widths, tint);
            // The short form is easier to read than columns of one word each.
            let is_tall = lines.len() > MAX_LINES_PER_ROW * table.rows.len() + 2;
            if !(is_tall && matches!(brief, Cow::Owned(_))) {
                return lines;
            }
            tall = tall.or(Some(lines));
        }
    }
    if let Some(tall) = tall {
        return tall;
    }
    match split_columns(table, width) {
        Some(parts) => {
            let part = |(part, widths): &(ReportTable, Vec<usize>)| {
                side_by_side(part, CellForm::Full, widths, tint)
            };
            parts.iter().map(part).collect::<Vec<_>>().join(&String::new())
        }
        None => records(table, width, tint),
    }
}

/// Returns the table without columns whose short form is empty in every row.
fn without_spare_columns(table: &ReportTable) -> Cow<'_, ReportTable> {
    let is_spare = |i: &usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(*i)).peekable();
        cells.peek().is_some() && cells.all(|cell| cell.short.as_deref() == Some(""))
    };
    let all = 0..table.columns.len();
    match all.clone().any(|i| is_spare(&i)) {
        true => {
            let kept: Vec<usize> = all.filter(|i| !is_spare(i)).collect();
            Cow::Owned(table.with_columns(&kept))
        }
        false => Cow::Borrowed(table),
    }
}

/// Splits a table into parts that fit, each with the columns that name a row and some others.
/// Returns `None` if a single other column does not fit next to the names, or if there is none.
fn split_columns(table: &ReportTable, width: usize) -> Option<Vec<(ReportTable, Vec<usize>)>> {
    let names =
        table.columns.iter().take_while(|it| it.align == ColumnAlignment::Left).count().max(1);
    let mut parts: Vec<(ReportTable, Vec<usize>)> = Vec::new();
    let mut chosen: Vec<usize> = Vec::new();
    for column in names..table.columns.len() {
        chosen.push(column);
        let mut columns: Vec<usize> = (0..names).chain(chosen.iter().copied()).collect();
        let mut part = table.with_columns(&columns);
        let mut fitting = column_widths(&part, CellForm::Full, width);
        let is_next = fitting.is_none() && chosen.len() > 1;
        if is_next {
            chosen = vec![column];
            columns = (0..names).chain([column]).collect();
            part = table.with_columns(&columns);
            fitting = column_widths(&part, CellForm::Full, width);
        }
        let part = (part, fitting?);
        match parts.last_mut().filter(|_| chosen.len() > 1) {
            Some(last) => *last = part,
            None => parts.push(part),
        }
    }
    (!parts.is_empty()).then_some(parts)
}

/// Formats three or more neighbouring marks as a range, `[5–8]`: in a narrow table each would have
/// its own line.
fn mark_ranges(neighbours: &[usize]) -> Vec<String> {
    match neighbours {
        [first, _, .., last] => vec![format!("[{first}–{last}]")],
        few => few.iter().map(|mark| format!("[{mark}]")).collect(),
    }
}

/// Returns the text of a cell with the marks of its notes.
fn cell_text(cell: &TableCell, form: CellForm) -> Cow<'_, str> {
    let short = cell.short.as_ref().filter(|_| form == CellForm::Short);
    let text = short.unwrap_or(&cell.text);
    if cell.marks.is_empty() {
        return Cow::Borrowed(text);
    }
    let marks = cell.marks.chunk_by(|a, b| a + 1 == *b).flat_map(mark_ranges);
    let text = Some(text.clone()).filter(|text| !text.is_empty());
    Cow::Owned(text.into_iter().chain(marks).collect::<Vec<_>>().join(" "))
}

/// Returns the width of each column, or `None` if even the narrowest do not fit. Titles wrap first,
/// then text columns, the widest first. Only the form [`CellForm::Wrapped`] wraps numbers, between
/// their parts.
fn column_widths(table: &ReportTable, form: CellForm, width: usize) -> Option<Vec<usize>> {
    let gaps = GAP * table.columns.len().saturating_sub(1);
    let cells = |i: usize| {
        table
            .rows
            .iter()
            .filter_map(move |row| row.get(i))
            .map(move |cell| cell_text(cell, form))
    };
    let mut widths = Vec::new();
    let mut with_wrapped_titles = Vec::new();
    let mut minimum = Vec::new();
    for (i, column) in table.columns.iter().enumerate() {
        let full = cells(i).map(|text| columns(&text)).max().unwrap_or(0);
        let word = cells(i).map(|text| widest_word(&text)).max().unwrap_or(0);
        let is_whole = column.align == ColumnAlignment::Right && form != CellForm::Wrapped;
        let narrow = if is_whole { full } else { word };
        let title_word = widest_word(&column.title);
        widths.push(full.max(columns(&column.title)));
        with_wrapped_titles.push(full.max(title_word));
        minimum.push(narrow.max(title_word));
    }
    for floor in [with_wrapped_titles, minimum] {
        while widths.iter().sum::<usize>() + gaps > width {
            let shrinkable = (0..widths.len()).filter(|i| widths[*i] > floor[*i]);
            let Some(widest) = shrinkable.max_by_key(|i| widths[*i]) else { break };
            widths[widest] -= 1;
        }
    }
    (widths.iter().sum::<usize>() + gaps <= width).then_some(widths)
}

fn side_by_side(
    table: &ReportTable,
    form: CellForm,
    widths: &[usize],
    tint: CellStyle<'_>,
) -> Vec<String> {
    let titles: Vec<TableCell> =
        table.columns.iter().map(|column| column.title.as_str().into()).collect();
    let mut lines = row(table, form, &titles, widths, &|_, text| text.to_owned());
    lines.push(
        widths
            .iter()
            .map(|width| "─".repeat(*width))
            .collect::<Vec<_>>()
            .join(&" ".repeat(GAP)),
    );
    for cells in &table.rows {
        lines.extend(row(table, form, cells, widths, tint));
    }
    lines
}

/// Renders a row, as many lines high as its highest cell.
fn row(
    table: &ReportTable,
    form: CellForm,
    cells: &[TableCell],
    widths: &[usize],
    tint: CellStyle<'_>,
) -> Vec<String> {
    let wrapped: Vec<Vec<String>> = cells
        .iter()
        .zip(widths)
        .map(|(cell, width)| wrap(&cell_text(cell, form), *width))
        .collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let line = |i: usize| {
        let mut line = String::new();
        let pieces = wrapped.iter().zip(cells).zip(widths).zip(&table.columns);
        for (at, (((lines, cell), width), column)) in pieces.enumerate() {
            let text = lines.get(i).map_or("", String::as_str);
            line.extend(std::iter::repeat_n(' ', if at > 0 { GAP } else { 0 }));
            line += &tint(cell, &align_text(text, *width, column.align));
        }
        line
    };
    (0..height).map(line).collect()
}

fn align_text(text: &str, width: usize, align: ColumnAlignment) -> String {
    match align {
        ColumnAlignment::Left => pad_to(text, width),
        ColumnAlignment::Right => {
            format!("{}{text}", " ".repeat(width.saturating_sub(columns(text))))
        }
    }
}

/// Renders one line per cell, with the column's title before it, and an empty line between rows.
fn records(table: &ReportTable, width: usize, tint: CellStyle<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, cells) in table.rows.iter().enumerate() {
        if index > 0 {
            lines.push(String::new());
        }
        for (cell, column) in cells.iter().zip(&table.columns).filter(|(c, _)| !c.is_empty()) {
            let mut pieces =
                wrap(&format!("{}: {}", column.title, cell_text(cell, CellForm::Full)), width);
            let rest = pieces.split_off(1);
            lines.extend(pieces.iter().map(|line| tint(cell, line)));
            let indented = wrap(&rest.join(" "), width.saturating_sub(GAP));
            let indented = indented.into_iter().filter(|line| !line.is_empty());
            lines
                .extend(indented.map(|line| tint(cell, &format!("{}{line}", " ".repeat(GAP)))));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_notes_are_a_range() {
        for (marks, expected) in [
            (&[5][..], "[5]"),
            (&[5, 6], "[5] [6]"),
            (&[5, 6, 7, 8], "[5–8]"),
            (&[1, 3, 4, 5, 9], "[1] [3–5] [9]"),
        ] {
            assert_eq!(
                cell_text(&TableCell::with_marks(marks.to_vec()), CellForm::Full),
                expected
            );
        }
    }
}
