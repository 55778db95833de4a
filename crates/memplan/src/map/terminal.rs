//! The picture in characters, made to fit a window.
//!
//! A cell of the terminal stands for a few steps and a range of bytes, and shows
//! the buffer that has its middle. Each row of a rectangle is a run of cells of
//! one fill; the name goes into the first run that has room.
//!
//! ```text
//!      96 B ┤░░░b░░░▒▒c▒▒
//!           │▓▓▓▓▓▓▓▒▒▒▒▒
//!       0 B ┤▓▓▓a▓▓▓     
//!           ▄▄▄▄▄▄▄█████▁▁   bytes in use, peak 96 B at step 2
//!           0            9
//! ```

use memplan_core::{Bytes, Id, Problem};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Caption;
use super::scale::byte_label;
use super::scene::{Kind, Panel, Scene, Shape};
use crate::wording::Unit;

/// The window to fill.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Characters in a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
    /// Whether colours can be used; patterns otherwise.
    pub coloured: bool,
}

/// The fewest columns for the byte axis, which holds the longest label, a blank and the vertical line.
const AXIS: usize = 12;
/// Lines of a panel besides its plot: heading, bytes in use, steps.
const AROUND: usize = 3;
/// A plot has at least this many lines, even in a smaller window: fewer show nothing.
const LEAST_ROWS: usize = 3;
/// A plot has at least this many columns, even in a narrower window.
const LEAST_COLUMNS: usize = 10;

/// The whole picture: a heading and one plot for each space. It fits into the window unless the window is so small that
/// [`LEAST_ROWS`] or [`LEAST_COLUMNS`] do not.
pub(super) fn draw(problem: &Problem, scene: &Scene, caption: &Caption, window: Window) -> String {
    let axis = scene.panels.iter().map(|panel| longest_label(panel, scene.unit) + 2).fold(AXIS, usize::max);
    // One column stays free at the right edge.
    let width = window.columns.saturating_sub(axis + 1).max(LEAST_COLUMNS);
    let panels = scene.panels.len().max(1);
    // One line is the heading of the picture; the plots share the others.
    let height = (window.rows.saturating_sub(1) / panels).saturating_sub(AROUND).max(LEAST_ROWS);
    let mut lines = vec![cut(&format!("{}: {}", caption.title, caption.subtitle()), window.columns)];
    for panel in &scene.panels {
        let plot = Plot { problem, scene, panel, axis, width, height, coloured: window.coloured };
        lines.push(cut(&plot.heading(scene.panels.len() > 1), window.columns));
        lines.extend(plot.rows());
        lines.push(plot.in_use());
        lines.push(plot.steps());
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// One space and the room for its plot.
struct Plot<'a> {
    /// The buffers, for their names.
    problem: &'a Problem,
    /// The whole picture.
    scene: &'a Scene,
    /// The space.
    panel: &'a Panel,
    /// Columns of the byte axis.
    axis: usize,
    /// Columns of the plot.
    width: usize,
    /// Lines of the plot.
    height: usize,
    /// Whether colours can be used.
    coloured: bool,
}

impl Plot<'_> {
    /// The line above a space: its extent, bounds and peak; also its name if there are `several` spaces.
    fn heading(&self, several: bool) -> String {
        let panel = self.panel;
        let amount = |bytes: Bytes| self.scene.unit.amount(bytes);
        let mut facts = vec![format!("extent {}", amount(panel.extent))];
        if several {
            facts.insert(0, format!("space {}", panel.name));
        }
        if panel.lower_bound > Bytes::ZERO {
            facts.push(format!("lower bound {}", amount(panel.lower_bound)));
        }
        facts.extend(panel.capacity.map(|capacity| format!("capacity {}", amount(capacity))));
        facts.extend(panel.peak.step.map(|step| format!("peak {} at step {step}", amount(panel.peak.bytes))));
        facts.join(", ")
    }

    /// The byte at the top of the plot.
    fn highest(&self) -> u64 {
        highest(self.panel)
    }

    /// The step in the middle of a column.
    fn step(&self, column: usize) -> u64 {
        let span = u128::from(self.scene.last - self.scene.first);
        self.scene.first + middle(span, column, self.width)
    }

    /// Which shape each cell shows: the one alive at the step and the byte in the cell's middle, the last one if
    /// several are. `None` if the cell is free. The lines come from the top down, so byte 0 is in the last one.
    fn cells(&self) -> Vec<Vec<Option<&Shape>>> {
        let mut cells = vec![vec![None; self.width]; self.height];
        let steps: Vec<u64> = (0..self.width).map(|column| self.step(column)).collect();
        let bytes: Vec<u64> = (0..self.height).map(|row| middle(self.highest().into(), row, self.height)).collect();
        for shape in self.panel.shapes.iter().filter(|shape| shape.kind == Kind::Alive) {
            let columns = range(&steps, shape.start, shape.end);
            for row in range(&bytes, shape.low, shape.high) {
                cells[self.height - 1 - row][columns.clone()].fill(Some(shape));
            }
        }
        cells
    }

    /// The lines of the picture from the highest bytes down to byte 0. The first and the middle one are labelled with
    /// the byte at their upper edge, the last one with the byte at its lower edge, 0.
    fn rows(&self) -> Vec<String> {
        let cells = self.cells();
        let mut is_named = vec![false; self.problem.buffers().len()];
        let line = |(row, cells): (usize, &Vec<Option<&Shape>>)| {
            let is_tick = row == 0 || row + 1 == self.height || row == self.height / 2;
            let upper_edge = u128::from(self.highest()) * (self.height - row) as u128 / self.height as u128;
            let byte = if row + 1 == self.height { 0 } else { upper_edge as u64 };
            let label = if is_tick { byte_label(byte, self.scene.unit) } else { String::new() };
            // The label, a blank and the line of the axis, then the cells in runs of one buffer.
            let mut text = format!("{label:>width$} {}", if is_tick { '┤' } else { '│' }, width = self.axis - 2);
            for run in cells.chunk_by(|a, b| a.map(|shape| shape.buffer) == b.map(|shape| shape.buffer)) {
                text.push_str(&self.run(run, &mut is_named));
            }
            text
        };
        cells.iter().enumerate().map(line).collect()
    }

    /// Neighbouring cells of one buffer, with its name in their middle if there is room and the name has not been
    /// written yet (`is_named`, one entry for each buffer).
    fn run(&self, cells: &[Option<&Shape>], is_named: &mut [bool]) -> String {
        let Some(shape) = cells[0] else { return " ".repeat(cells.len()) };
        let index = shape.buffer.index();
        let name = printable(&self.problem.buffers()[shape.buffer].name);
        let length = name.width();
        // A name has a blank on each side.
        let fits = !is_named[index] && length + 2 <= cells.len();
        if fits {
            is_named[index] = true;
        }
        let name = if fits { format!(" {name} ") } else { String::new() };
        let around = cells.len() - if fits { length + 2 } else { 0 };
        self.filled(index, around / 2, &name, around - around / 2)
    }

    /// A run of cells of one buffer: `before` cells, its name (which may be empty), `after` cells. Neighbouring buffers
    /// differ by colour, or by pattern where there are no colours.
    fn filled(&self, index: usize, before: usize, name: &str, after: usize) -> String {
        const PATTERNS: [&str; 3] = ["░", "▒", "▓"];
        /// Light colours of the terminal's palette of 256, about those of the SVG picture and in the same order.
        const COLOURS: [u8; 8] = [110, 209, 222, 79, 218, 117, 149, 252];
        if self.coloured {
            let (before, after) = (" ".repeat(before), " ".repeat(after));
            let colour = COLOURS[index % COLOURS.len()];
            return format!("\x1b[48;5;{colour}m\x1b[38;5;16m{before}{name}{after}\x1b[0m");
        }
        let pattern = PATTERNS[index % PATTERNS.len()];
        format!("{}{name}{}", pattern.repeat(before), pattern.repeat(after))
    }

    /// Bytes in use over time as a line of bars. A column stands for several steps and shows the most bytes in use at
    /// any of them; the full height is the peak.
    fn in_use(&self) -> String {
        const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let span = u128::from(self.scene.last - self.scene.first).max(1);
        // How many columns the time before a step fills: the last of them perhaps in part.
        let width = self.width as u128;
        let columns = |step: u64| u128::from(step.saturating_sub(self.scene.first)) * width;
        let full = |step: u64| ((columns(step) / span) as usize).min(self.width);
        let touched = |step: u64| (columns(step).div_ceil(span) as usize).min(self.width);
        let mut most = vec![0u64; self.width];
        // An entry of `live` holds until the next one begins, the last until the end of time. It marks each column that
        // it touches, at least one, so that a short peak is not lost.
        let ends = self.panel.live.iter().skip(1).map(|entry| entry.0.0).chain([self.scene.last]);
        for (&(start, bytes), end) in self.panel.live.iter().zip(ends) {
            let from = full(start.0).min(self.width - 1);
            let to = touched(end).max(from + 1);
            most[from..to].iter_mut().for_each(|high| *high = (*high).max(bytes.0));
        }
        let peak = u128::from(self.panel.peak.bytes.0.max(1));
        // Eighths of the peak, rounded up: a column that is in use at all shows something.
        let bar = |&bytes: &u64| BARS[(u128::from(bytes) * 8).div_ceil(peak).min(8) as usize];
        format!("{:>width$}  {}", "in use", most.iter().map(bar).collect::<String>(), width = self.axis - 2)
    }

    /// The line under a plot: the first step at its left end, the last at its right end.
    fn steps(&self) -> String {
        let (first, last) = (self.scene.first.to_string(), self.scene.last.to_string());
        let room = self.width.saturating_sub(first.len());
        format!("{:>width$}  {first}{last:>room$}", "step", width = self.axis - 2)
    }
}

/// The byte at the top of a panel.
fn highest(panel: &Panel) -> u64 {
    panel.extent.max(panel.lower_bound).0.max(1)
}

/// About how many characters the longest label of a panel's byte axis has. How high the plot is, and so where its ticks
/// lie, is not known yet; labels at each eighth of the top stand for them.
fn longest_label(panel: &Panel, unit: Unit) -> usize {
    let top = highest(panel);
    (1..=8).map(|part| byte_label((u128::from(top) * part / 8) as u64, unit).width()).max().unwrap_or(0)
}

/// The middle of the `index`-th of `count` equal parts of `0..span`.
fn middle(span: u128, index: usize, count: usize) -> u64 {
    (span * (2 * index as u128 + 1) / (2 * count as u128)) as u64
}

/// Positions of the sorted values inside `low..high`.
fn range(sorted: &[u64], low: u64, high: u64) -> std::ops::Range<usize> {
    sorted.partition_point(|&value| value < low)..sorted.partition_point(|&value| value < high)
}

/// A text without characters that could drive a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Shortens a text to a number of columns and marks that with an ellipsis. Characters may be two columns wide.
fn cut(text: &str, columns: usize) -> String {
    let text = printable(text);
    if text.width() <= columns {
        return text;
    }
    // One column is for the ellipsis.
    let mut room = columns.saturating_sub(1);
    // Takes characters as long as they have room. A character that is two columns wide ends the text early.
    let fits = |c: &char| {
        let width = c.width().unwrap_or_default();
        let is_room = width <= room;
        room = room.saturating_sub(width);
        is_room
    };
    text.chars().take_while(fits).collect::<String>() + "…"
}
