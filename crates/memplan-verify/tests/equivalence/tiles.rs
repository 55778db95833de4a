//! A transformer of our own, as simple as can be: every output is computed tile by tile, all the way from the inputs.
//!
//! It knows nothing of the one that `memplan fit` uses. Nothing is shared between tiles but ops with an effect and what
//! cannot be split, so that everything is recomputed again and again.

use std::collections::HashMap;

use memplan_testkit::Random;
use memplan_verify::equivalence::{Axis, Meaning, Network, Op, Slide, Window};

use crate::networks::{Maker, window_op};

/// Rows and columns of an original tensor, each from the first to the one behind the last.
type Part = [(i64, i64); 2];

struct Tiler<'a> {
    old: &'a Network,
    new: Maker,
    /// Which op writes each original tensor.
    writer: HashMap<usize, usize>,
    /// Original tensors that are there as a whole.
    whole: HashMap<usize, usize>,
}

/// The network with its outputs split into tiles.
pub(crate) fn tiled(old: &Network, random: &mut Random) -> Network {
    let writer = old.ops.iter().enumerate().filter_map(|(index, op)| Some((op.results[0]?, index))).collect();
    let mut tiler = Tiler { old, new: Maker::default(), writer, whole: HashMap::new() };
    for &input in &old.inputs {
        let shape = tiler.shape(input);
        let made = tiler.new.input(&shape);
        tiler.whole.insert(input, made);
    }
    for op in old.ops.iter().filter(|op| op.has_effect) {
        tiler.whole(op.results[0].expect("every op has a result"));
    }
    for &output in &old.outputs {
        let made = tiler.output(output, random);
        tiler.new.network.outputs.push(made);
    }
    tiler.new.network
}

impl Tiler<'_> {
    fn shape(&self, tensor: usize) -> Vec<i64> {
        self.old.tensors[tensor].shape.clone().expect("all shapes are known")
    }

    /// An output from a grid of tiles, columns first.
    fn output(&mut self, tensor: usize, random: &mut Random) -> usize {
        let shape = self.shape(tensor);
        let mut cuts = |extent: i64| {
            let mut cuts = vec![0, extent, random.below(extent as u64) as i64, random.below(extent as u64) as i64];
            cuts.sort_unstable();
            cuts.dedup();
            cuts
        };
        let (rows, columns) = (cuts(shape[0]), cuts(shape[1]));
        let mut bands = Vec::new();
        for band in rows.windows(2) {
            let tiles: Vec<usize> =
                columns.windows(2).map(|tile| self.part(tensor, [(band[0], band[1]), (tile[0], tile[1])])).collect();
            bands.push(if tiles.len() == 1 { tiles[0] } else { self.new.concat(&tiles, 1) });
        }
        if bands.len() == 1 { bands[0] } else { self.new.concat(&bands, 0) }
    }

    /// The whole of an original tensor, computed as the original does.
    fn whole(&mut self, tensor: usize) -> usize {
        if let Some(&made) = self.whole.get(&tensor) {
            return made;
        }
        let made = match self.writer.get(&tensor) {
            Some(&writer) => {
                let op = self.old.ops[writer].clone();
                let operands = op.operands.iter().flatten().map(|&operand| Some(self.whole(operand))).collect();
                let shape = self.shape(tensor);
                self.new.op(Op { operands, ..op }, &shape)
            }
            None => {
                let made = self.new.tensor("weights", &self.shape(tensor));
                self.new.network.tensors[made].content = self.old.tensors[tensor].content;
                made
            }
        };
        self.whole.insert(tensor, made);
        made
    }

    /// A part of an original tensor.
    fn part(&mut self, tensor: usize, part: Part) -> usize {
        let op = self.writer.get(&tensor).map(|&writer| self.old.ops[writer].clone());
        let operand = |place: usize| op.as_ref().and_then(|op| op.operands.get(place).copied().flatten());
        match (&op, op.as_ref().map(|op| &op.meaning)) {
            (Some(op), Some(Meaning::Pointwise)) => {
                let operands: Vec<usize> =
                    op.operands.iter().flatten().map(|&operand| self.part(operand, part)).collect();
                self.new.pointwise(&op.kind, &operands)
            }
            (Some(op), Some(Meaning::Concat { axis: 2 })) => {
                let operands: Vec<usize> =
                    op.operands.iter().flatten().map(|&operand| self.part(operand, part)).collect();
                self.new.concat(&operands, 2)
            }
            (Some(op), Some(Meaning::Window(window))) => {
                let over = operand(0).expect("a window slides over something");
                self.window(op, window, over, part).unwrap_or_else(|| self.cut(tensor, part))
            }
            _ => self.cut(tensor, part),
        }
    }

    /// A part of an original tensor that is there as a whole.
    fn cut(&mut self, tensor: usize, part: Part) -> usize {
        let whole = self.whole(tensor);
        let channels = self.shape(tensor)[2];
        let shape = [part[0].1 - part[0].0, part[1].1 - part[1].0, channels];
        self.new.slice(whole, &[part[0].0, part[1].0, 0], &shape)
    }

    /// An op with a window on a part; `None` if its border cannot be made of elements.
    fn window(&mut self, op: &Op, window: &Window, over: usize, part: Part) -> Option<usize> {
        let shape = self.shape(over);
        let channels = self.shape(op.results[0]?)[2];
        let (mut inside, mut before, mut after) = ([(0, 0); 2], [0; 2], [0; 2]);
        let mut slides = Vec::new();
        for axis in 0..2 {
            match window.axes[axis] {
                Axis::Along => inside[axis] = part[axis],
                Axis::Slide(slide) => {
                    let low = part[axis].0 * slide.stride - slide.before;
                    let high = (part[axis].1 - 1) * slide.stride - slide.before + (slide.size - 1) * slide.dilation + 1;
                    inside[axis] = (low.clamp(0, shape[axis] - 1), high.clamp(1, shape[axis]));
                    before[axis] = inside[axis].0 - low;
                    after[axis] = high - inside[axis].1;
                    slides.push(Slide { before: 0, ..slide });
                }
                Axis::Repeat { .. } | Axis::Across => return None,
            }
        }
        let has_border = before != [0; 2] || after != [0; 2];
        // A window between two places of the input, or wholly outside of it, is left to the original op.
        let fill = window.neutral.as_ref().map(|neutral| i8::from_le_bytes([neutral[0]]));
        if before.iter().chain(&after).any(|border| *border < 0) || (has_border && fill.is_none()) {
            return None;
        }
        let mut tile = self.part(over, inside);
        if has_border {
            tile = self.new.pad(tile, before, after, fill?);
        }
        if slides.is_empty() {
            return Some(self.new.softmax(tile));
        }
        let mut operands = vec![tile];
        operands.extend(op.operands.iter().skip(1).flatten().map(|&operand| self.whole(operand)));
        let shape = [part[0].1 - part[0].0, part[1].1 - part[1].0, channels];
        Some(self.new.op(window_op(&op.kind, &operands, [slides[0], slides[1]]), &shape))
    }
}
