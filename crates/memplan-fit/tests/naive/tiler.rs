//! A tiler of the test's own: what a grid of tiles needs and computes, counted op by op.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use memplan_core::Id;
use memplan_fit::Net;
use memplan_fit::layer::{Border, Reach};
use memplan_models::graph::{Home, OpId, TensorId};

/// What a network needs whose first ops run tile by tile.
pub(crate) struct Tiled {
    /// Bytes alive at the worst moment, and what the runtime keeps on top.
    pub(crate) memory: u64,
    pub(crate) macs: u64,
}

/// An op that a runtime runs: what it reads and writes, by numbers of tensors.
struct Run {
    reads: Vec<usize>,
    writes: Vec<usize>,
    scratch: u64,
}

/// Rows and columns, each `start..end`.
type Part = [Range<u64>; 2];

/// Ends of all prefixes that compute one image and nothing else that anybody reads later.
pub(crate) fn prefixes(net: &Net) -> Vec<usize> {
    let graph = net.graph;
    let ops: Vec<_> = graph.ops.iter().collect();
    let spatial = net.layers.iter().take_while(|layer| layer.spatial.is_ok()).count();
    let is_read_later = |tensor: &TensorId, end: usize| {
        graph.outputs.contains(tensor) || ops[end..].iter().any(|op| op.inputs.contains(tensor))
    };
    let is_closed = |end: &usize| {
        let inner = ops[..end - 1].iter().flat_map(|op| &op.outputs);
        !{ inner }.any(|tensor| is_read_later(tensor, *end))
    };
    (1..=spatial).filter(is_closed).collect()
}

/// The first `end` ops in a grid of tiles, and all others as they are; `None` if that cannot be done.
pub(crate) fn tiled(net: &Net, end: usize, grid: [u64; 2]) -> Option<Tiled> {
    let mut tiler = Tiler::new(net);
    let ops: Vec<_> = net.graph.ops.ids().collect();
    let image = *net.graph.ops[ops[end - 1]].outputs.first()?;
    let [height, width] = lengths(net, image);
    if grid == [1, 1] || grid[0] > height || grid[1] > width {
        return None;
    }
    let cut = |length: u64, index: u64, count: u64| index * length / count..(index + 1) * length / count;
    let mut rows = Vec::new();
    for row in 0..grid[0] {
        let mut tiles = Vec::new();
        for column in 0..grid[1] {
            tiles.push(tiler.tile(end, image, [cut(height, row, grid[0]), cut(width, column, grid[1])])?);
        }
        let shape = [cut(height, row, grid[0]), 0..width];
        let is_all = grid[0] == 1;
        rows.push(if tiles.len() == 1 { tiles[0] } else { tiler.join(image, tiles, shape, is_all) });
    }
    if rows.len() > 1 {
        tiler.join(image, rows, [0..height, 0..width], true);
    }
    let overhead = tiler.kept.saturating_sub(ops[..end].iter().map(|&op| tiler.of_op(op)).sum());
    tiler.run_as_it_is(&ops[end..]);
    Some(Tiled { memory: tiler.peak() + overhead, macs: tiler.macs })
}

/// The network as it is.
pub(crate) fn as_it_is(net: &Net) -> Tiled {
    let mut tiler = Tiler::new(net);
    tiler.run_as_it_is(&net.graph.ops.ids().collect::<Vec<_>>());
    Tiled { memory: tiler.peak(), macs: tiler.macs }
}

fn lengths(net: &Net, tensor: TensorId) -> [u64; 2] {
    net.dialect.axes.map(|axis| net.graph.tensors[tensor].shape[axis])
}

struct Tiler<'n> {
    net: &'n Net<'n>,
    /// What each tensor takes, new ones behind those of the graph.
    sizes: Vec<u64>,
    runs: Vec<Run>,
    macs: u64,
    /// What the runtime keeps for all runs of tiles.
    kept: u64,
}

impl<'n> Tiler<'n> {
    fn new(net: &'n Net<'n>) -> Tiler<'n> {
        let mut tiler = Tiler { net, sizes: Vec::new(), runs: Vec::new(), macs: 0, kept: 0 };
        tiler.sizes = net.graph.tensors.ids().map(|tensor| tiler.size(tensor)).collect();
        tiler
    }

    fn run_as_it_is(&mut self, ops: &[OpId]) {
        for &op in ops {
            let draft = &self.net.graph.ops[op];
            let numbers = |tensors: &[TensorId]| tensors.iter().map(|tensor| tensor.index()).collect();
            let (reads, writes) = (numbers(&draft.inputs), numbers(&draft.outputs));
            self.runs.push(Run { reads, writes, scratch: draft.scratch.iter().map(|bytes| bytes.0).sum() });
            self.macs += self.net.layers[op.index()].macs;
        }
    }

    fn aligned(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(self.net.alignment.0)
    }

    fn size(&self, tensor: TensorId) -> u64 {
        let tensor = &self.net.graph.tensors[tensor];
        if tensor.home == Home::Arena { self.aligned(tensor.bytes.0) } else { 0 }
    }

    /// What the runtime keeps for an op with one output.
    fn of_op(&self, op: OpId) -> u64 {
        let costs = self.net.dialect.overhead;
        costs.op + costs.tensor + if costs.counts_kernels { self.net.graph.ops[op].kept.0 } else { 0 }
    }

    /// A new tensor for so many rows and columns of another one.
    fn part(&mut self, of: TensorId, rows: u64, columns: u64) -> usize {
        let tensor = &self.net.graph.tensors[of];
        let [height, width] = lengths(self.net, of);
        let bytes = tensor.bytes.0 / (height * width) * rows * columns;
        self.sizes.push(self.aligned(bytes));
        self.sizes.len() - 1
    }

    fn run(&mut self, reads: Vec<usize>, output: usize, scratch: u64, kept: u64) -> usize {
        self.kept += kept;
        self.runs.push(Run { reads, writes: vec![output], scratch });
        output
    }

    fn join(&mut self, image: TensorId, tiles: Vec<usize>, [rows, columns]: Part, is_all: bool) -> usize {
        let costs = self.net.dialect.overhead;
        let size = [rows.end - rows.start, columns.end - columns.start];
        let output = if is_all { image.index() } else { self.part(image, size[0], size[1]) };
        self.run(tiles, output, 0, costs.op + costs.concat + if is_all { 0 } else { costs.tensor })
    }

    /// Computes a part of an image with the first `end` ops; the tensor that holds it.
    fn tile(&mut self, end: usize, image: TensorId, part: Part) -> Option<usize> {
        let ops: Vec<_> = self.net.graph.ops.ids().take(end).collect();
        // From the last op to the first: which positions of which tensor somebody needs.
        let mut wanted = BTreeMap::from([(image, part.clone())]);
        for &op in ops.iter().rev() {
            let draft = &self.net.graph.ops[op];
            let spatial = self.net.layers[op.index()].spatial.as_ref().unwrap();
            let asked = wanted[&draft.outputs[0]].clone();
            for &index in &spatial.images {
                let input = draft.inputs[index];
                let size = lengths(self.net, input);
                let positions = [0, 1].map(|axis| needed(spatial.reach[axis], &asked[axis], size[axis]));
                let [rows, columns] = positions;
                let part = [hull(&rows?), hull(&columns?)];
                let entry = wanted.entry(input).or_insert_with(|| part.clone());
                *entry =
                    [0, 1].map(|axis| entry[axis].start.min(part[axis].start)..entry[axis].end.max(part[axis].end));
            }
        }
        // From the first op to the last: ops that compute them.
        let mut held = BTreeMap::<TensorId, (usize, Part)>::new();
        for &op in &ops {
            let output = self.net.graph.ops[op].outputs[0];
            let computed = self.step(op, &wanted[&output], &held)?;
            held.insert(output, computed);
        }
        let (tensor, computed) = held[&image].clone();
        Some(self.cut(image, tensor, &computed, &part))
    }

    /// A part of what a tensor holds.
    fn cut(&mut self, of: TensorId, tensor: usize, held: &Part, part: &Part) -> usize {
        if held == part {
            return tensor;
        }
        let output = self.part(of, part[0].end - part[0].start, part[1].end - part[1].start);
        let costs = self.net.dialect.overhead;
        self.run(vec![tensor], output, 0, costs.op + 3 * costs.tensor)
    }

    /// One op of a tile; the tensor that holds what it computes, and which part that is.
    fn step(&mut self, op: OpId, asked: &Part, held: &BTreeMap<TensorId, (usize, Part)>) -> Option<(usize, Part)> {
        let net = self.net;
        let draft = &net.graph.ops[op];
        let spatial = net.layers[op.index()].spatial.as_ref().unwrap();
        let mut reads = Vec::new();
        let mut made = BTreeMap::new();
        for &index in &spatial.images {
            let input = draft.inputs[index];
            let size = lengths(net, input);
            let part = [0, 1].map(|axis| hull(&needed(spatial.reach[axis], &asked[axis], size[axis]).unwrap()));
            // Positions outside of the image that the windows look at.
            let border = [0, 1].map(|axis| outside(spatial.reach[axis], &asked[axis], size[axis]));
            if border != [0, 0] && spatial.border == Border::LeftOut {
                return None;
            }
            let tensor = *made.entry(input).or_insert_with(|| {
                let (tensor, whole) = held.get(&input).cloned().unwrap_or((input.index(), size.map(|size| 0..size)));
                let tensor = self.cut(input, tensor, &whole, &part);
                if border == [0, 0] {
                    return tensor;
                }
                let [rows, columns] = [0, 1].map(|axis| part[axis].end - part[axis].start + border[axis]);
                let output = self.part(input, rows, columns);
                let costs = net.dialect.overhead;
                self.run(vec![tensor], output, 0, costs.op + costs.pad + 2 * costs.tensor)
            });
            reads.push(tensor);
        }
        if matches!(spatial.border, Border::Added(_)) {
            return Some((reads[0], asked.clone()));
        }
        let output = draft.outputs[0];
        let computed = [0, 1].map(|axis| computed(spatial.reach[axis], &asked[axis]));
        let [rows, columns] = computed.clone().map(|span| span.end - span.start);
        let tensor = self.part(output, rows, columns);
        let others = draft.inputs.iter().enumerate().filter(|(index, _)| !spatial.images.contains(index));
        reads.extend(others.map(|(_, input)| input.index()));
        let (whole, positions) = (lengths(net, output).iter().product::<u64>(), rows * columns);
        let scratch: u64 = draft.scratch.iter().map(|bytes| bytes.0).sum();
        self.macs += net.layers[op.index()].macs * positions / whole;
        let kept = self.of_op(op);
        Some((self.run(reads, tensor, scratch * positions / whole, kept), computed))
    }

    /// Most bytes alive while the ops run.
    fn peak(&self) -> u64 {
        let graph = self.net.graph;
        let mut born: Vec<Option<usize>> = vec![None; self.sizes.len()];
        let mut dies: Vec<usize> = vec![0; self.sizes.len()];
        graph.inputs.iter().for_each(|input| born[input.index()] = Some(0));
        for (at, run) in self.runs.iter().enumerate() {
            run.writes.iter().for_each(|&tensor| _ = born[tensor].get_or_insert(at));
            run.reads.iter().chain(&run.writes).for_each(|&tensor| dies[tensor] = at);
        }
        graph.outputs.iter().for_each(|output| dies[output.index()] = self.runs.len());
        let mut change = vec![0i64; self.runs.len() + 2];
        for (tensor, born) in born.iter().enumerate().filter_map(|(tensor, born)| Some((tensor, (*born)?))) {
            change[born] += self.sizes[tensor] as i64;
            change[dies[tensor] + 1] -= self.sizes[tensor] as i64;
        }
        let mut alive = 0;
        let mut most = 0;
        for (run, change) in self.runs.iter().zip(&change) {
            alive += change;
            most = most.max(alive as u64 + run.scratch);
        }
        most
    }
}

/// The positions of an image that some positions of the output need, one by one; `None` if there are none.
fn needed(reach: Reach, asked: &Range<u64>, length: u64) -> Option<BTreeSet<u64>> {
    let mut found = BTreeSet::new();
    for position in asked.clone() {
        match reach {
            Reach::Window { size, stride, before } => {
                let looked = (0..size).filter_map(|tap| (position * stride + tap).checked_sub(before));
                found.extend(looked.filter(|&place| place < length));
            }
            Reach::Scale { factor } => _ = found.insert(position / factor),
        }
    }
    (!found.is_empty()).then_some(found)
}

/// How many different positions outside of the image some positions of the output look at.
fn outside(reach: Reach, asked: &Range<u64>, length: u64) -> u64 {
    let Reach::Window { size, stride, before } = reach else { return 0 };
    let looked = asked.clone().flat_map(|position| (0..size).map(move |tap| position * stride + tap));
    let looked: BTreeSet<u64> = looked.filter(|&place| place < before || place - before >= length).collect();
    // Windows that skip positions still have all positions between the first and the last one in their tile.
    let in_front = looked.iter().filter(|&&place| place < before).min().map_or(0, |first| before - first);
    let behind = looked.iter().filter(|&&place| place >= before).max().map_or(0, |last| last + 1 - before - length);
    in_front + behind
}

/// What is computed if some positions are asked for: a scale writes whole steps.
fn computed(reach: Reach, asked: &Range<u64>) -> Range<u64> {
    match reach {
        Reach::Window { .. } => asked.clone(),
        Reach::Scale { factor } => asked.start / factor * factor..asked.end.next_multiple_of(factor),
    }
}

fn hull(positions: &BTreeSet<u64>) -> Range<u64> {
    positions.first().copied().unwrap_or(0)..positions.last().map_or(0, |last| last + 1)
}
