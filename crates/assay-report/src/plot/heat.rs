//! Heat maps: one cell for each pair, as SVG for pages and as a grid for a terminal. Every cell
//! contains its number, and shades only guide the eye from the best value to the worst. Maps of more
//! than 64 columns have shades alone.

use assay_model::benchmark::Better;

use super::labels::{LINE_HEIGHT, text_width, truncate_to_width};
use super::svg::CURVE_COLOURS;
use super::svg_writer::{GRID_COLOUR, INK_COLOUR, LIMIT_COLOUR, SvgWriter};
use crate::document::{HeatMap, ReportTable, left, right};
use crate::locale::word;
use crate::precision::format_value;

/// Height of a row, and maximum width of a column and of row names.
const ROW_HEIGHT: f64 = 32.0;
const MAX_COLUMN_WIDTH: f64 = 200.0;
const GAP: f64 = 6.0;
/// Maximum number of columns with a number in each cell.
const MAX_NUMBERED_COLUMNS: usize = 64;
/// Edge of a cell without a number, and number of rows and columns for each name.
const SMALL_CELL: f64 = 8.0;
const CELLS_PER_NAME: usize = 8;
/// Number of shades of these cells.
const SMALL_SHADES: f64 = 20.0;
/// Opacity of the worst cell; letters on it keep their contrast.
const MAX_OPACITY: f64 = 0.5;
/// Significant digits of a cell.
const DIGITS: usize = 3;
/// Lower bounds of the shares of the best value, each with its shade on a terminal.
const SHADES: [(f64, char); 5] = [(0.9, '·'), (0.75, '░'), (0.5, '▒'), (0.25, '▓'), (0.0, '█')];

impl HeatMap {
    /// Returns the best value of the map.
    fn best_value(&self) -> f64 {
        let values = self.cells.iter().flatten().flatten().copied();
        let values = values.filter(|value| *value > 0.0);
        match self.better {
            Better::Higher => values.fold(0.0, f64::max),
            Better::Lower => values.fold(f64::INFINITY, f64::min),
        }
    }

    /// Returns the closeness of a value to the best, 0 … 1.
    fn share_of_best(&self, value: f64, best: f64) -> f64 {
        let share = match self.better {
            Better::Higher => value / best,
            Better::Lower => best / value,
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    fn cell_text(&self, row: usize, column: usize) -> String {
        let shown = |value| format_value(value, self.unit, DIGITS);
        self.cells[row][column].map_or_else(|| "–".to_owned(), shown)
    }

    /// Whether each cell contains its number.
    pub(crate) fn has_numbers(&self) -> bool {
        self.columns.len() <= MAX_NUMBERED_COLUMNS
    }

    fn is_marked(&self, row: usize, column: usize) -> bool {
        self.marked.contains(&(row, column))
    }
}

/// Returns the left edge of the first column, and the width of each column.
fn column_layout(map: &HeatMap) -> [f64; 2] {
    let widest =
        |names: &[String]| names.iter().map(|name| text_width(name)).fold(0.0, f64::max);
    let places =
        (0..map.rows.len()).flat_map(|row| (0..map.columns.len()).map(move |it| (row, it)));
    let texts = places.map(|(row, column)| text_width(&map.cell_text(row, column)));
    [widest(&map.rows), texts.fold(widest(&map.columns), f64::max)]
        .map(|it| it.min(MAX_COLUMN_WIDTH) + 2.0 * GAP)
}

/// Width and height of the picture.
pub(crate) fn size(map: &HeatMap) -> (f64, f64) {
    if !map.has_numbers() {
        let [left, top] = small_map_origin(map);
        let (rows, columns) = (map.rows.len() as f64, map.columns.len() as f64);
        return (left + columns * SMALL_CELL + left, top + rows * SMALL_CELL + GAP);
    }
    let [left, column] = column_layout(map);
    let (rows, columns) = (map.rows.len() as f64, map.columns.len() as f64);
    (left + columns * column + GAP, (rows + 1.0) * ROW_HEIGHT + GAP)
}

/// Renders the map as one `<svg>` element. `id` distinguishes it from other pictures of the same
/// page.
pub(crate) fn svg(map: &HeatMap, id: usize) -> String {
    if !map.has_numbers() {
        return small_map_svg(map, id);
    }
    let ([left, column], best) = (column_layout(map), map.best_value());
    let mut sheet = SvgWriter::default();
    let corner = |row: usize, at: usize| (left + at as f64 * column, row as f64 * ROW_HEIGHT);
    let middle = |text: &str, (x, y): (f64, f64)| {
        (x + (column - text_width(text)) / 2.0, y + (ROW_HEIGHT - LINE_HEIGHT) / 2.0)
    };
    for (at, name) in map.columns.iter().enumerate() {
        let name = truncate_to_width(name, MAX_COLUMN_WIDTH);
        sheet.text(&name, middle(&name, corner(0, at)), INK_COLOUR);
    }
    for (at, name) in map.rows.iter().enumerate() {
        let name = truncate_to_width(name, MAX_COLUMN_WIDTH);
        let (_, y) = middle(&name, corner(at + 1, 0));
        sheet.text(&name, (left - GAP - text_width(&name), y), INK_COLOUR);
        for other in 0..map.columns.len() {
            let place = corner(at + 1, other);
            let area = [
                place.0 + 2.0,
                place.1 + 2.0,
                place.0 + column - 2.0,
                place.1 + ROW_HEIGHT - 2.0,
            ];
            let away = map.cells[at][other].map_or(0.0, |it| 1.0 - map.share_of_best(it, best));
            let edge =
                if map.is_marked(at, other) { (LIMIT_COLOUR, 3.0) } else { (GRID_COLOUR, 1.0) };
            sheet.shaded_rectangle(area, (CURVE_COLOURS[1], MAX_OPACITY * away), edge);
            let text = truncate_to_width(&map.cell_text(at, other), MAX_COLUMN_WIDTH);
            sheet.text(&text, middle(&text, place), INK_COLOUR);
        }
    }
    sheet.finish(size(map), id, (&map.title, &map.description))
}

/// Returns the corner of the first cell of a map without numbers.
fn small_map_origin(map: &HeatMap) -> [f64; 2] {
    let widest = map.rows.iter().map(|name| text_width(name)).fold(0.0, f64::max);
    [widest.min(MAX_COLUMN_WIDTH) + 2.0 * GAP, LINE_HEIGHT + 2.0 * GAP]
}

/// Renders a map whose cells have shades alone, with the name of every eighth row and column.
fn small_map_svg(map: &HeatMap, id: usize) -> String {
    let ([left, top], best) = (small_map_origin(map), map.best_value());
    let mut sheet = SvgWriter::default();
    let named = |names: &[String]| {
        let names = names.iter().enumerate().step_by(CELLS_PER_NAME);
        names
            .map(|(at, name)| (at as f64, truncate_to_width(name, MAX_COLUMN_WIDTH)))
            .collect::<Vec<_>>()
    };
    for (at, name) in named(&map.columns) {
        sheet.text(&name, (left + at * SMALL_CELL, GAP), INK_COLOUR);
    }
    for (at, name) in named(&map.rows) {
        let y = top + at * SMALL_CELL - LINE_HEIGHT / 4.0;
        sheet.text(&name, (left - GAP - text_width(&name), y), INK_COLOUR);
    }
    // Cells of the same shade are one rectangle: a map of 192 cores has 37,000 cells.
    let shade = |value: &Option<f64>| {
        value.map(|it| ((1.0 - map.share_of_best(it, best)) * SMALL_SHADES).round())
    };
    for (row, cells) in map.cells.iter().enumerate() {
        let y = top + row as f64 * SMALL_CELL;
        let mut x = left;
        for run in cells.chunk_by(|a, b| shade(a) == shade(b)) {
            let end = x + run.len() as f64 * SMALL_CELL;
            if let Some(shade) = shade(&run[0]) {
                let fill = (CURVE_COLOURS[1], shade / SMALL_SHADES);
                sheet.shaded_rectangle([x, y, end, y + SMALL_CELL], fill, ("none", 0.0));
            }
            x = end;
        }
    }
    sheet.finish(size(map), id, (&map.title, &map.description))
}

/// Converts the map to a table, for output without pictures.
pub(crate) fn table(map: &HeatMap) -> ReportTable {
    let mut table = ReportTable::with_caption(&map.title);
    for (row, name) in map.rows.iter().enumerate() {
        let cells = map.columns.iter().enumerate().map(|(column, title)| {
            let marked = if map.is_marked(row, column) { "*" } else { "" };
            right(title, map.cell_text(row, column) + marked)
        });
        table.push(std::iter::once(left("", &**name)).chain(cells));
    }
    table
}

/// Renders one character per cell, for a terminal too narrow for the table; `None` if even that
/// does not fit.
pub(crate) fn shades(map: &HeatMap, width: usize) -> Option<Vec<String>> {
    let longest = map.rows.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    if longest + 2 * map.columns.len() + 1 > width {
        return None;
    }
    let best = map.best_value();
    let shade = |value: f64| {
        let share = map.share_of_best(value, best);
        SHADES.iter().find(|(from, _)| share >= *from).map_or('█', |(_, shade)| *shade)
    };
    let mut lines: Vec<String> = Vec::new();
    for (row, name) in map.rows.iter().enumerate() {
        let mut line = format!("{name:<longest$} ");
        for column in 0..map.columns.len() {
            line.push(if map.is_marked(row, column) { '*' } else { ' ' });
            line.push(map.cells[row][column].map_or(' ', shade));
        }
        lines.push(line);
    }
    lines.push(word("heat-legend").to_owned());
    Some(lines)
}
