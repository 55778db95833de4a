//! Patches: some steps of a network, executed tile by tile.
//!
//! The steps of a *segment* compute one image, and nobody else reads what they compute on the way. The image is split
//! into a grid of tiles. For each tile, from the last step to the first, the rows and columns follow that a step must
//! compute (`Writer::needs`); then, from the first to the last, ops are written that compute just these:
//!
//! ```text
//!            input          conv 3x3        conv 3x3 = the image, two tiles
//!          ┌───────┐       ┌───────┐       ┌───────┐
//!          │▓▓▓▓▓▓▓│       │▓▓▓▓▓▓▓│       │▓▓▓▓▓▓▓│     slice 0..4, pad the top, conv, pad the top, conv
//!          │▓▓▓▓▓▓▓│   ┌──►│▓▓▓▓▓▓▓│   ┌──►│▓▓▓▓▓▓▓│
//!          │▒▒▒▒▒▒▒│   │   │▒▒▒▒▒▒▒│   │   ├───────┤
//!          │▒▒▒▒▒▒▒├───┘   │       ├───┘   │       │     slice 0..4 and so on; rows 1 and 2 are computed twice
//!          └───────┘       └───────┘       └───────┘     concatenation
//! ```
//!
//! Rows marked ▒ are the *halo*: both tiles need them. What is read outside of the image becomes an explicit border
//! with the value that the op itself would assume, so that every element is the same sum of the same products.
//!
//! A `Span` is a range of positions along one axis, a `Region` a span of rows and one of columns. A `Read` says
//! what an op reads along one axis for a span of its output: which span of the image, and how many positions outside of
//! it. Both axes are numbered 0 (height) and 1 (width); `net.dialect.axes` says which dimensions of a shape they are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use memplan_core::Id;
use memplan_models::graph::TensorId;
use memplan_models::graph::rewrite::{Copied, Fill, NewOp, NewTensor, Padding};

use crate::layer::{Border, SizeForm, Spatial};
use crate::net::{Net, Schedule, Step};
use crate::region::{Read, Region, Span, hull};

/// Ops that take the place of some steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// Tensors that the ops need beside those of the schedule. Their ids count from the `first` of [`patch()`] on.
    pub tensors: Vec<NewTensor>,
    /// The ops.
    pub ops: Vec<NewOp>,
    /// Multiply-adds of all of them.
    pub macs: u64,
    /// Bytes that are copied only: by slices, borders and concatenations.
    pub copied: u64,
}

/// Executes the steps of a segment tile by tile; `grid` is the number of rows and columns of tiles. New tensors get
/// ids from `first` on. The error says why that cannot be done.
pub fn patch(
    net: &Net,
    schedule: &Schedule,
    segment: Range<usize>,
    grid: [u64; 2],
    first: usize,
) -> Result<Patch, String> {
    let steps = &schedule.steps[segment];
    let Some(image) = steps.last().and_then(|step| step.outputs.first()).copied() else {
        return Err("there is nothing to split".to_owned());
    };
    let shape = net.shape(schedule, image);
    let lengths = net.dialect.axes.map(|axis| shape.get(axis).copied().unwrap_or(0));
    if lengths.iter().zip(grid).any(|(&length, count)| count == 0 || count > length) {
        return Err(format!("{} rows and {} columns are too few for so many tiles", lengths[0], lengths[1]));
    }
    // The outermost concatenation of the tiles writes the image itself, under its old id.
    let mut writer = Writer { net, schedule, steps, first, patch: Patch::default() };
    let tiles = Tiles { image, lengths, grid };
    writer.assemble(&tiles, 0, [0..grid[0], 0..grid[1]], Some(image))?;
    Ok(writer.patch)
}

/// A lower bound on the bytes alive while a segment runs tile by tile, without tensors that are alive all the time. It
/// looks at a tile near the end: the tiles before it are alive, and so is what each step of this tile reads and
/// writes. The caller drops grids whose bound is too large, since the bound costs far less than writing the patch.
/// `None` if the segment cannot be split in this way.
pub(crate) fn least(net: &Net, schedule: &Schedule, segment: Range<usize>, grid: [u64; 2]) -> Option<u64> {
    let steps = &schedule.steps[segment];
    let image = *steps.last()?.outputs.first()?;
    let writer = Writer { net, schedule, steps, first: 0, patch: Patch::default() };
    let lengths = writer.lengths(image);
    // The tile before the last one, in both directions, has neighbours on all sides if the grid has at least three rows
    // and three columns. Such a tile has the widest halo.
    let index = grid.map(|count| count.saturating_sub(2));
    let region = [0, 1].map(|axis| Span::part(lengths[axis], index[axis], grid[axis]));
    // All rows of tiles above this one are finished and waiting to be joined.
    let done =
        writer.bytes(image, &writer.shape_of(image, [Span { start: 0, end: region[0].start }, Span::all(lengths[1])]));
    let needs = writer.needs(image, region).ok()?;
    let mut most = 0;
    for (step, need) in steps.iter().zip(&needs) {
        let Some((computed, reads)) = need else { continue };
        let part = reads.map(|read| read.image);
        let spatial = writer.spatial(step).ok()?;
        // A tile that does not reach the edge has no border, and the step is left out for it.
        if matches!(spatial.border, Border::Added(_)) {
            continue;
        }
        // An op may read the same image twice, which is there once.
        let images: BTreeSet<TensorId> = spatial.images.iter().map(|&index| step.inputs[index]).collect();
        // A tensor from outside that is read whole is not cut, and is counted by the caller.
        let inputs = images.into_iter().filter(|&image| writer.is_inside(image) || writer.whole(image).region != part);
        let read: u64 = inputs.map(|input| writer.bytes(input, &writer.shape_of(input, part))).sum();
        let output = step.outputs[0];
        most = most.max(read + writer.bytes(output, &writer.shape_of(output, *computed)));
    }
    Some(done + most)
}

/// A lower bound on the multiply-adds of all tiles, without writing the patch. All tiles of one row of the grid
/// compute the same rows of every step, and all tiles of one column the same columns. So it is enough to look at one
/// tile of each row and of each column, and to multiply the sums: the positions that all tiles compute are (sum over
/// the rows of the grid) x (sum over its columns). The patch rounds the multiply-adds of each tile down, by less than
/// one; that one is taken off for each tile, so that the number is never above that of the patch.
pub(crate) fn least_macs(net: &Net, schedule: &Schedule, segment: Range<usize>, grid: [u64; 2]) -> Option<u64> {
    let steps = &schedule.steps[segment];
    let image = *steps.last()?.outputs.first()?;
    let writer = Writer { net, schedule, steps, first: 0, patch: Patch::default() };
    let lengths = writer.lengths(image);
    // For each step, the rows that all rows of tiles compute together, and the same for columns.
    let mut computed = vec![[0u64; 2]; steps.len()];
    for axis in [0, 1] {
        for index in 0..grid[axis] {
            let mut region = [Span::part(lengths[0], 0, grid[0]), Span::part(lengths[1], 0, grid[1])];
            region[axis] = Span::part(lengths[axis], index, grid[axis]);
            for (sum, need) in computed.iter_mut().zip(writer.needs(image, region).ok()?) {
                sum[axis] = sum[axis].saturating_add(need.map_or(0, |(computed, _)| computed[axis].length()));
            }
        }
    }
    let macs = steps.iter().zip(computed).map(|(step, [rows, columns])| {
        let positions = u128::from(rows) * u128::from(columns);
        let all = writer.lengths(step.outputs[0]).iter().product::<u64>().max(1);
        let macs = u128::from(net.layers[step.op.index()].macs).saturating_mul(positions) / u128::from(all);
        u64::try_from(macs).unwrap_or(u64::MAX).saturating_sub(grid[0] * grid[1])
    });
    Some(macs.fold(0, u64::saturating_add))
}

/// An image that is split.
struct Tiles {
    /// The image.
    image: TensorId,
    /// Height and width of the image.
    lengths: [u64; 2],
    /// Rows and columns of tiles.
    grid: [u64; 2],
}

impl Tiles {
    /// The region that a range of tiles covers.
    fn region(&self, ranges: &[Range<u64>; 2]) -> Region {
        [0, 1].map(|axis| {
            let part = |index: u64| Span::part(self.lengths[axis], index, self.grid[axis]);
            part(ranges[axis].start).hull(part(ranges[axis].end - 1))
        })
    }
}

/// A part of a tensor that is there: the tensor that holds it.
#[derive(Clone, Copy)]
struct Part {
    /// The tensor.
    tensor: TensorId,
    /// The part of the image that it holds.
    region: Region,
}

/// Why a step cannot be computed for a tile, if all that the step would read lies outside of its image.
const OUTSIDE: &str = "a tile would lie outside of the image";

/// What one step computes for a tile, and what it reads along each axis.
type Need = (Region, [Read; 2]);

/// Writes the ops of a patch.
struct Writer<'n, 's> {
    /// The network.
    net: &'n Net<'n>,
    /// The schedule that the segment is part of.
    schedule: &'s Schedule,
    /// The steps of the segment.
    steps: &'s [Step],
    /// The id of the first new tensor.
    first: usize,
    /// The patch as far as it is written.
    patch: Patch,
}

impl Writer<'_, '_> {
    /// Writes the ops that compute a range of tiles (rows and columns of the grid) into one tensor, and returns that
    /// tensor: row after row of tiles (axis 0), in each row column after column (axis 1). The tensor is `into`, or a
    /// new one.
    fn assemble(
        &mut self,
        tiles: &Tiles,
        axis: usize,
        ranges: [Range<u64>; 2],
        into: Option<TensorId>,
    ) -> Result<TensorId, String> {
        let range = ranges[axis].clone();
        let count = range.end - range.start;
        // A single row of tiles is assembled by its columns at once, without a concatenation of one.
        if count == 1 && axis == 0 {
            return self.assemble(tiles, 1, ranges, into);
        }
        // A single tile is computed.
        if count == 1 {
            return self.tile(tiles.image, tiles.region(&ranges));
        }
        // A concatenation takes a limited number of operands. More tiles are joined in groups, and the groups again.
        let parts = count.min(self.net.dialect.most_joined as u64);
        let mut inputs = Vec::new();
        for index in 0..parts {
            let part = Span::part(count, index, parts);
            let mut ranges = ranges.clone();
            ranges[axis] = range.start + part.start..range.start + part.end;
            inputs.push(self.assemble(tiles, axis, ranges, None)?);
        }
        // Only the outermost concatenation writes the image itself. Inner ones write tensors of their own.
        let output = match into {
            Some(image) => image,
            None => self.part_of(tiles.image, tiles.region(&ranges)),
        };
        self.count_copy(tiles.image, tiles.region(&ranges));
        self.patch.ops.push(NewOp::Concat { inputs, output, axis: self.net.dialect.axes[axis] });
        Ok(output)
    }

    /// Writes the ops that compute one tile; returns the tensor that holds it.
    fn tile(&mut self, image: TensorId, region: Region) -> Result<TensorId, String> {
        let needs = self.needs(image, region)?;
        let mut parts = BTreeMap::<TensorId, Part>::new();
        for (step, need) in self.steps.iter().zip(needs) {
            let Some((computed, reads)) = need else { continue };
            let output = step.outputs[0];
            let tensor = self.step(step, computed, reads, &parts)?;
            parts.insert(output, Part { tensor, region: computed });
        }
        // The last step may have computed somewhat more than the tile, as an op that repeats rows does.
        let Some(&part) = parts.get(&image) else { return Err("no step computes the image".to_owned()) };
        Ok(self.cut(image, part, region))
    }

    /// What each step of the segment has to compute for a region of the image, and what it reads for that; `None` for
    /// steps that the region does not need.
    fn needs(&self, image: TensorId, region: Region) -> Result<Vec<Option<Need>>, String> {
        // From the last step to the first: what a step reads is wanted of the steps before it. If several steps read
        // one image, all that any of them reads is wanted.
        let mut wanted = BTreeMap::from([(image, region)]);
        let mut needs = vec![None; self.steps.len()];
        for (step, need) in self.steps.iter().zip(&mut needs).rev() {
            let Some(&region) = step.outputs.first().and_then(|output| wanted.get(output)) else { continue };
            let spatial = self.spatial(step)?;
            let mut reads: Option<[Read; 2]> = None;
            for &index in &spatial.images {
                let input = step.inputs[index];
                let lengths = self.lengths(input);
                let rows = spatial.reach[0].read(region[0], lengths[0]).ok_or(OUTSIDE)?;
                let columns = spatial.reach[1].read(region[1], lengths[1]).ok_or(OUTSIDE)?;
                let read = [rows.image, columns.image];
                wanted.entry(input).and_modify(|known| *known = hull(*known, read)).or_insert(read);
                reads = Some([rows, columns]);
            }
            // All images of an op have the same height and width, so what is read of the last one holds for each.
            let reads = reads.ok_or("it reads no image")?;
            *need = Some((reads.map(|read| read.computed), reads));
        }
        Ok(needs)
    }

    /// How the op of a step computes positions from positions; an error for an op that cannot be split.
    fn spatial(&self, step: &Step) -> Result<&Spatial, String> {
        let layer = &self.net.layers[step.op.index()];
        layer.spatial.as_ref().map_err(|why| format!("{}: {why}", self.net.graph.ops[step.op].label()))
    }

    /// Height and width of a tensor.
    fn lengths(&self, tensor: TensorId) -> [u64; 2] {
        let shape = self.net.shape(self.schedule, tensor);
        self.net.dialect.axes.map(|axis| shape.get(axis).copied().unwrap_or(0))
    }

    /// Writes the op that computes one step for a tile, and returns its output tensor. `computed` is the region of the
    /// step's image that the tile needs, `reads` what the step reads for it along each axis, and `parts` where regions
    /// of earlier images are. Each input image is cut to the region that is read, and gets a border where that region
    /// reaches over the edge of the image and the op cannot state its padding itself.
    fn step(
        &mut self,
        step: &Step,
        computed: Region,
        reads: [Read; 2],
        parts: &BTreeMap<TensorId, Part>,
    ) -> Result<TensorId, String> {
        let spatial = self.spatial(step)?.clone();
        let output = step.outputs[0];
        let region = reads.map(|read| read.image);
        let padding = self.padding(&spatial, reads).ok_or_else(|| {
            let label = self.net.graph.ops[step.op].label();
            format!("{label}: positions outside of the image do not count, and a tile cannot say so")
        })?;
        // `substitutes` pairs each input that the copy of the op reads elsewhere: the tensor that the op of the graph
        // reads, and the tensor that takes its place.
        let mut substitutes = Vec::new();
        let originals = &self.net.graph.ops[step.op].inputs;
        for (index, (&original, &input)) in originals.iter().zip(&step.inputs).enumerate() {
            let mut tensor = input;
            if spatial.images.contains(&index) {
                let part = parts.get(&input).copied().unwrap_or_else(|| self.whole(input));
                tensor = self.cut(input, part, region);
                if let Edge::Around(fill) = padding {
                    tensor = self.bordered(input, tensor, reads, fill);
                }
            }
            // The copy of the op reads this tensor where the op of the graph reads the original one.
            if tensor != original && !substitutes.contains(&(original, tensor)) {
                substitutes.push((original, tensor));
            }
            if matches!(spatial.border, Border::Added(_)) {
                // The op only adds a border, and the input has just got it. Nothing is left to compute.
                return Ok(tensor);
            }
        }
        let tensor = self.part_of(output, computed);
        // The tile has its share of the op's multiply-adds, by positions.
        let positions = computed[0].length().saturating_mul(computed[1].length());
        let all = self.lengths(output).iter().product::<u64>().max(1);
        let macs = u128::from(self.net.layers[step.op.index()].macs) * u128::from(positions) / u128::from(all);
        self.patch.macs = self.patch.macs.saturating_add(u64::try_from(macs).unwrap_or(u64::MAX));
        // A tile is smaller than the image, so an input that says how large the output is gets another content.
        let size = spatial.size_input.map(|(input, form)| (input, self.size(form, output, computed)));
        let padding = match padding {
            Edge::Unchanged => Padding::Unchanged,
            Edge::Around(_) => Padding::NONE,
            Edge::Stated => {
                Padding::Explicit { before: reads.map(|read| read.before), after: reads.map(|read| read.after) }
            }
        };
        let copied = Copied { op: step.op, reads: substitutes, outputs: vec![tensor], padding, size };
        self.patch.ops.push(NewOp::Copy(copied));
        Ok(tensor)
    }

    /// A tensor that is there as a whole, as a part of itself.
    fn whole(&self, tensor: TensorId) -> Part {
        Part { tensor, region: self.lengths(tensor).map(Span::all) }
    }

    /// Whether a step of the segment writes a tensor.
    fn is_inside(&self, tensor: TensorId) -> bool {
        self.steps.iter().any(|step| step.outputs.contains(&tensor))
    }

    /// How the edges of a tile are made; `None` if they cannot be, because positions outside of the image do not count
    /// and the format has no way to say so.
    fn padding(&self, spatial: &Spatial, reads: [Read; 2]) -> Option<Edge> {
        if spatial.reach.iter().all(|reach| !matches!(reach, crate::layer::Reach::Window { size: 2.., .. })) {
            // Ops with windows of one position never look outside of the image, except for those that only add a
            // border.
            return Some(match spatial.border {
                Border::Added(fill) => Edge::Around(fill),
                _ => Edge::Unchanged,
            });
        }
        let has_border = reads.iter().any(|read| read.before > 0 || read.after > 0);
        match spatial.border {
            _ if self.net.dialect.states_padding => Some(Edge::Stated),
            Border::Value(fill) | Border::Added(fill) if has_border => Some(Edge::Around(fill)),
            Border::LeftOut if has_border => None,
            // Inside of the image there is no border to add; the tile is computed without padding.
            _ => Some(Edge::Around(Fill::Zero)),
        }
    }

    /// The content of the input that says how large the output of a tile is.
    fn size(&self, form: SizeForm, output: TensorId, computed: Region) -> Vec<i32> {
        let shape = self.shape_of(output, computed);
        let number = |&dimension: &u64| i32::try_from(dimension).unwrap_or(i32::MAX);
        match form {
            SizeForm::Shape => shape.iter().map(number).collect(),
            SizeForm::HeightWidth => self.net.dialect.axes.iter().map(|&axis| number(&shape[axis])).collect(),
        }
    }

    /// The tensor that holds a region of `of`, cut out of a part that may be larger; the part's own tensor if it is
    /// not.
    fn cut(&mut self, of: TensorId, part: Part, region: Region) -> TensorId {
        if part.region == region {
            return part.tensor;
        }
        let output = self.part_of(of, region);
        self.count_copy(of, region);
        let mut begin = vec![0; self.net.shape(self.schedule, of).len()];
        for (axis, &dimension) in self.net.dialect.axes.iter().enumerate() {
            begin[dimension] = region[axis].start - part.region[axis].start;
        }
        self.patch.ops.push(NewOp::Slice { input: part.tensor, output, begin });
        output
    }

    /// A tile of the tensor `of` with the border that an op looks at; the tile itself if the op does not look outside
    /// of the image there. `reads` says how many rows and how many columns of border there are on each side.
    fn bordered(&mut self, of: TensorId, tile: TensorId, reads: [Read; 2], fill: Fill) -> TensorId {
        if reads.iter().all(|read| read.before == 0 && read.after == 0) {
            return tile;
        }
        let mut shape = self.shape_of(of, reads.map(|read| read.image));
        let mut before = vec![0; shape.len()];
        // `axes` are the positions of rows and columns in a shape, which differ between file formats.
        for (read, &axis) in reads.iter().zip(&self.net.dialect.axes) {
            shape[axis] += read.before + read.after;
            before[axis] = read.before;
        }
        let suffix = format!("{}+border", suffix(reads.map(|read| read.image)));
        self.patch.copied = self.patch.copied.saturating_add(self.bytes(of, &shape));
        let output = self.new_tensor(of, shape, &suffix);
        self.patch.ops.push(NewOp::Pad { input: tile, output, before, fill });
        output
    }

    /// A new tensor for a region of a tensor.
    fn part_of(&mut self, of: TensorId, region: Region) -> TensorId {
        let shape = self.shape_of(of, region);
        self.new_tensor(of, shape, &suffix(region))
    }

    /// A new tensor with the element type of `of`, and a name that is that of `of` with a suffix.
    fn new_tensor(&mut self, of: TensorId, shape: Vec<u64>, suffix: &str) -> TensorId {
        let like = self.net.original(self.schedule, of);
        let name = format!("{}{suffix}", self.net.graph.tensors[like].name);
        self.patch.tensors.push(NewTensor { like, shape, name });
        TensorId::from_index(self.first + self.patch.tensors.len() - 1)
    }

    /// The shape of a region of a tensor.
    fn shape_of(&self, tensor: TensorId, region: Region) -> Vec<u64> {
        let mut shape = self.net.shape(self.schedule, tensor).to_vec();
        for (span, &axis) in region.iter().zip(&self.net.dialect.axes) {
            shape[axis] = span.length();
        }
        shape
    }

    /// Counts the bytes of a region as copied.
    fn count_copy(&mut self, of: TensorId, region: Region) {
        let bytes = self.bytes(of, &self.shape_of(of, region));
        self.patch.copied = self.patch.copied.saturating_add(bytes);
    }

    /// The bytes of a tensor of this shape with elements like those of `of`.
    fn bytes(&self, of: TensorId, shape: &[u64]) -> u64 {
        self.net.bytes_like(self.net.original(self.schedule, of), shape)
    }
}

/// How the edges of a tile are made.
#[derive(Clone, Copy)]
enum Edge {
    /// The op does not look outside of the image, and its padding stays as it is.
    Unchanged,
    /// A border with this value is put around the tile where the op looks outside of the image, and the op has no
    /// padding.
    Around(Fill),
    /// The op itself states its padding at each edge of the tile.
    Stated,
}

/// `[0:24,0:48]`: rows and columns of a tile, for its name.
fn suffix(region: Region) -> String {
    let [rows, columns] = region;
    format!("[{}:{},{}:{}]", rows.start, rows.end, columns.start, columns.end)
}
