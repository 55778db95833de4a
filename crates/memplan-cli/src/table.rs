//! Tables for the terminal: columns are as wide as their widest cell, and numbers end at the right.

use unicode_width::UnicodeWidthStr;

use crate::paint::{Style, painted, visible};

/// Where a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

use Align::{Left, Right};

/// A text without control characters, and how it looks.
struct Cell {
    text: String,
    style: Style,
}

/// Rows of cells in aligned columns, two blanks apart.
pub(crate) struct Table {
    columns: Vec<Align>,
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
        let cell = |(text, style): (String, Style)| Cell { text: visible(&text), style };
        self.rows.push(cells.into_iter().map(cell).collect());
    }

    /// Adds a row without styles.
    pub(crate) fn plain_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.row(cells.into_iter().map(|text| (text, Style::Plain)));
    }

    /// The table as text, indented by some blanks.
    pub(crate) fn render(&self, indent: usize) -> String {
        let width_of = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.width()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width_of).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = " ".repeat(indent);
            for ((cell, &align), &width) in row.iter().zip(&self.columns).zip(&widths) {
                // The width is that of the text without colour codes, which take no room on the screen.
                let padding = " ".repeat(width - cell.text.width());
                let shown = painted(&cell.text, cell.style);
                match align {
                    Left => line.extend([&shown, &padding, "  "]),
                    Right => line.extend([&padding, &shown, "  "]),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
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
