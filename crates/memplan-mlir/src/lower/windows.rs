//! Whether the loops of a vector function read every element before they write in its place.
//!
//! A vector function reads a *window* of an input, computes, and writes the same window of an output. If the output
//! takes the place of the input, an iteration must not read what an earlier one has written:
//!
//! ```text
//!   for %i = 0 to 128 step 64     windows 0..64, 64..128          each element comes once
//!   for %i = 0 to 64 step 1       windows 0..64, 1..65, 2..66     the second reads what the first has written
//!   for %k = 0 to 2 (around it)   windows 0..64, …, 0..64, …      so does the second round
//! ```
//!
//! So the index of every loop must be an offset of the window, and the loop's step must be no less than the length of
//! the window in that dimension. Loops that run once at most do not count.
//!
//! A window may be a slice of a slice. Each of the slices, and the access itself, is a *level*, with an offset and a
//! length in each dimension. An index may be an offset on any level: if two iterations differ in it, their windows are
//! apart on the first level that has it as an offset, and everything further inside is apart, too.
//!
//! If elements of the output are narrower ([`Fit::Closer`]), the windows must also come in the order of the memory,
//! because an element then lies on others that come before it, and these must have been read.

use super::vector_function::{Fit, Touch};
use super::*;
use crate::bounds::{Bound, Slice};
use crate::document::Definition;

/// A loop that may run more than once: its index, and the distance from one index to the next.
struct Repetition {
    index: ValueId,
    step: i64,
}

/// Where a window begins in what it is a part of, and how many elements it covers from its first to its last, in each
/// dimension. A length that is not known is `None`.
struct Level {
    offsets: Vec<Bound>,
    lengths: Vec<Option<i64>>,
}

impl Lowering<'_> {
    /// Whether no iteration of the loops around a read and a write, which have the same slices and indices, reads an
    /// element that an earlier iteration has written, if the output takes the place of the input.
    pub(super) fn reads_before_writes(&self, function: OpId, read: &Touch, write: OpId, fit: Fit) -> bool {
        let Some(loops) = self.repetitions(function, read.op) else { return false };
        if loops.is_empty() {
            return true;
        }
        let Some(levels) = self.levels(read, write) else { return false };
        let mut offsets = levels.iter().flat_map(|level| &level.offsets);
        let is_index = |bound: &Bound| loops.iter().any(|one| *bound == Bound::Dynamic(one.index));
        if !offsets.all(|offset| is_index(offset) || self.is_fixed(function, *offset)) {
            return false;
        }
        match fit {
            // The place must be on the first level that has the index. Further inside, the window of a later iteration
            // may be another part of a part that lies elsewhere, and meet the window of an earlier iteration there.
            Fit::Same => loops.iter().all(|one| {
                let first = places(&levels, one).next().map(|place| place.0);
                let mut places = places(&levels, one).filter(|place| Some(place.0) == first);
                places.any(|place| is_apart(&levels, place, one))
            }),
            Fit::Closer => in_order(&levels, &loops),
        }
    }

    /// The loops around an op that may run more than once, outermost first. `None` if the op is inside of another op
    /// than a loop or a condition, or if a loop's step is not known.
    fn repetitions(&self, function: OpId, op: OpId) -> Option<Vec<Repetition>> {
        let document = self.document;
        let mut loops = Vec::new();
        let mut around = document.parent_op(op)?;
        while around != function {
            match document.name(around) {
                "scf.if" | "vector.mask" => {}
                "scf.for" | "affine.for" if matches!(document.trip_counts(around).as_deref(), Some([Some(0 | 1)])) => {}
                "scf.for" | "affine.for" => {
                    let step = document.known(document.loop_bounds(around)?.first()?.step)?;
                    let body = *document.blocks(*document.regions(around).first()?).first()?;
                    loops.push(Repetition { index: *document.arguments(body).first()?, step });
                }
                _ => return None,
            }
            around = document.parent_op(around)?;
        }
        loops.reverse();
        Some(loops)
    }

    /// The levels of an access, the slice of the argument first and the access itself last. `None` if a stride is not
    /// a positive constant, or if the access has a form that is not understood.
    fn levels(&self, read: &Touch, write: OpId) -> Option<Vec<Level>> {
        let document = self.document;
        let offsets = self.indices(read.op, 1);
        let of_read = self.accessed(read.op, *document.results(read.op).first()?, offsets.len())?;
        let of_write = self.accessed(write, *document.operands(write).first()?, offsets.len())?;
        // The longer of the two; if one is not known, neither is the longer.
        let lengths = of_read.into_iter().zip(of_write).map(|(one, other)| Some(one?.max(other?))).collect();
        let mut levels = vec![Level { offsets, lengths }];
        for slice in &read.slices {
            let level = self.level(slice, levels.last()?)?;
            levels.push(level);
        }
        levels.reverse();
        Some(levels)
    }

    /// How many elements an access moves in each of the `rank` dimensions of the memory.
    fn accessed(&self, op: OpId, vector: ValueId, rank: usize) -> Option<Vec<Option<i64>>> {
        let Type::Vector { shape, .. } = self.document.ty(vector) else { return None };
        let shape: Vec<Option<i64>> = shape.iter().map(|length| i64::try_from((*length)?).ok()).collect();
        // With a map any dimension of the vector may be any of the memory.
        if self.document.attribute(op, "permutation_map").is_some() {
            let longest = shape.into_iter().try_fold(1, |longest: i64, length| Some(longest.max(length?)));
            return Some(vec![longest; rank]);
        }
        // Without one the dimensions of the vector are the last ones of the memory.
        let outer = rank.checked_sub(shape.len())?;
        Some(std::iter::repeat_n(Some(1), outer).chain(shape).collect())
    }

    /// The level of a slice, of which `inside` is a part.
    fn level(&self, slice: &Slice, inside: &Level) -> Option<Level> {
        let rank = slice.offsets.len();
        if slice.sizes.len() != rank || slice.strides.len() != rank {
            return None;
        }
        let mut lengths = Vec::new();
        for dimension in 0..rank {
            let stride = self.document.known(slice.strides[dimension]).filter(|&stride| stride > 0)?;
            // A negative size is a fault of the text.
            let size = self.document.known(slice.sizes[dimension]).filter(|&size| size >= 0);
            // The end of what is used of the slice. A slice may leave out dimensions; then it is not known which of
            // those inside is this one.
            let same_rank = inside.offsets.len() == rank;
            let used = same_rank.then(|| {
                let start = self.document.known(inside.offsets[dimension])?;
                start.checked_add(inside.lengths[dimension]?)
            });
            let count = [size, used.flatten()].into_iter().flatten().min();
            // From the first to the last element, `count - 1` strides apart.
            lengths.push(count.and_then(|count| count.checked_sub(1)?.checked_mul(stride)?.checked_add(1)));
        }
        Some(Level { offsets: slice.offsets.clone(), lengths })
    }

    /// Whether a bound is the same number all the time that the function runs: a constant, or a value that is defined
    /// outside of all loops.
    fn is_fixed(&self, function: OpId, bound: Bound) -> bool {
        let document = self.document;
        let Bound::Dynamic(value) = bound else { return true };
        let around = match document.value(value).definition {
            Definition::Argument { block, .. } => document.block_parent(block),
            Definition::Result { op, .. } => document.parent_op(op),
            Definition::Unresolved => None,
        };
        around == Some(function) || document.known(bound).is_some()
    }
}

/// The places where the index of a loop is an offset: level and dimension, in the order of the memory.
fn places<'a>(levels: &'a [Level], one: &'a Repetition) -> impl Iterator<Item = (usize, usize)> + 'a {
    let all = levels.iter().enumerate();
    let all = all.flat_map(|(at, level)| (0..level.offsets.len()).map(move |dimension| (at, dimension)));
    all.filter(|&(at, dimension)| levels[at].offsets[dimension] == Bound::Dynamic(one.index))
}

/// Whether the windows of different iterations are apart at a place of the loop's index.
fn is_apart(levels: &[Level], (at, dimension): (usize, usize), one: &Repetition) -> bool {
    levels[at].lengths[dimension].is_some_and(|length| length.max(1) <= one.step)
}

/// Whether the windows come in the order of the memory: everything in a window lies before everything in the windows
/// that come later. For that the indices of the loops, outermost first, are offsets of one level in the order of its
/// dimensions, and the window has the length 1 in all dimensions before the last of these.
fn in_order(levels: &[Level], loops: &[Repetition]) -> bool {
    let mut last: Option<(usize, usize)> = None;
    for one in loops {
        let Some(place) = places(levels, one).next().filter(|&place| is_apart(levels, place, one)) else {
            return false;
        };
        if last.is_some_and(|(level, dimension)| level != place.0 || dimension >= place.1) {
            return false;
        }
        last = Some(place);
    }
    last.is_none_or(|(level, dimension)| levels[level].lengths[..dimension].iter().all(|&length| length == Some(1)))
}
