//! Tables for the terminal: columns are as wide as their widest cell, and numbers end at the right.

use unicode_width::UnicodeWidthStr;

use crate::paint::{Style, push_painted, stdout_is_coloured, visible_owned};

/// Where a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// At the left edge of the column.
    Left,
    /// At its right edge, as numbers do.
    Right,
}

use Align::{Left, Right};

/// A text without control characters, how many columns of the screen it takes, and how it looks.
struct Cell {
    /// The text.
    text: String,
    /// How many columns of the screen it takes.
    width: usize,
    /// How it looks.
    style: Style,
}

impl Cell {
    /// A cell with this text. Control characters in it are made visible, so that a name cannot
    /// drive the terminal.
    fn new(text: String, style: Style) -> Cell {
        let text = visible_owned(text);
        // Without control characters, every ASCII character takes one column. A plan of many memories has a row for
        // each, and looking up the width of every character takes half of the time of its table.
        let width = if text.is_ascii() { text.len() } else { text.width() };
        Cell { text, width, style }
    }
}

/// Rows of cells in aligned columns, two blanks apart.
pub(crate) struct Table {
    /// The alignment of each column.
    columns: Vec<Align>,
    /// The rows, the heading among them.
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with a heading for each column; `>` before a heading aligns it right.
    pub(crate) fn with_heading(headings: &[&str]) -> Table {
        let align = |heading: &&str| if heading.starts_with('>') { Right } else { Left };
        let mut table = Table { columns: headings.iter().map(align).collect(), rows: Vec::new() };
        table.row(headings.iter().map(|heading| (heading.trim_start_matches('>').to_owned(), Style::Faint)));
        table
    }

    /// A table without headings.
    pub(crate) fn plain(columns: &[Align]) -> Table {
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; missing cells stay empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = (String, Style)>) {
        self.rows.push(cells.into_iter().map(|(text, style)| Cell::new(text, style)).collect());
    }

    /// Adds a row without styles.
    pub(crate) fn plain_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.row(cells.into_iter().map(|text| (text, Style::Plain)));
    }

    /// The table as text, indented by some blanks.
    pub(crate) fn render(&self, indent: usize) -> String {
        // A column is as wide as its widest cell.
        let width_of = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width_of).collect();
        let is_coloured = stdout_is_coloured();
        let mut text = String::new();
        for row in &self.rows {
            let start = text.len();
            push_blanks(&mut text, indent);
            for ((cell, &align), &width) in row.iter().zip(&self.columns).zip(&widths) {
                // The width is that of the text without colour codes, which take no room on the screen.
                let padding = width - cell.width;
                if align == Right {
                    push_blanks(&mut text, padding);
                }
                push_painted(&mut text, &cell.text, cell.style, is_coloured);
                push_blanks(&mut text, if align == Left { padding + 2 } else { 2 });
            }
            // No line ends with blanks.
            text.truncate(start + text[start..].trim_end().len());
            text.push('\n');
        }
        text
    }
}

/// Adds so many blanks to a text.
fn push_blanks(text: &mut String, count: usize) {
    text.extend(std::iter::repeat_n(' ', count));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_width_on_screen() {
        let mut table = Table::with_heading(&["name", ">bytes"]);
        table.plain_row(["变量".into(), "1".into()]);
        table.plain_row(["x".into(), "1000".into()]);
        assert_eq!(table.render(2), "  name  bytes\n  变量      1\n  x      1000\n");
    }
}
