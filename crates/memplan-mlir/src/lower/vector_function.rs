//! Calls of vector functions: which input's memory the callee may overwrite
//! with which output. Both are arguments of the call.
//!
//! A vector function of an NPU kernel reads slices of its arguments into registers and writes
//! slices back:
//!
//! ```text
//!   scf.for %i … {
//!     %a = memref.subview %src[%i] …     %d = memref.subview %dst[%i] …
//!     %v = vector.transfer_read %a       vector.transfer_write f(%v), %d
//!   }
//! ```
//!
//! `%dst` may lie on `%src` if each is accessed once, both through the same
//! slices with the same indices, the read before the write in the same block,
//! and what is written is no wider than what is read.
//!
//! A *slice* is a `memref.subview` with its offsets, sizes and strides; each of these is a *bound*, a number or a value
//! that holds it at run time. The *donor* is the input whose memory the output takes.

use std::collections::HashMap;

use super::*;
use crate::bounds::{Bound, Slice};
use crate::document::Definition;
use crate::ty::Layout;

/// How many slices and loops a chain from an access back to the argument may have.
const LONGEST_CHAIN: usize = 1_000;

/// One access of a vector function to one of its arguments: the op, whether it writes, and the slices through which
/// it sees the argument, innermost first.
struct Touch {
    op: OpId,
    writes: bool,
    slices: Vec<Slice>,
}

/// The operand with which a loop begins the value that it carries as the argument `index` of its body; `None` for the
/// number of the iteration, and for ops that are no `scf.for`.
fn initial_value(document: &Document, around: OpId, body: BlockId, index: usize) -> Option<ValueId> {
    if document.name(around) != "scf.for" {
        return None;
    }
    let carried = document.results(around).len();
    let first = document.arguments(body).len().checked_sub(carried)?;
    let operands = document.operands(around);
    let initial = operands.len().checked_sub(carried)? + index.checked_sub(first)?;
    operands.get(initial).copied()
}

impl Lowering<'_> {
    /// The pairs (output, donor) of a call's operands that may share bytes; none if the op is no call of a vector
    /// function with a body.
    pub(super) fn vector_function_pairs(&self, call: OpId) -> Vec<(ValueId, ValueId)> {
        let document = self.document;
        let is_marked = |_: &OpId| document.attribute(call, "hivm.vector_function").is_some();
        let Some(callee) = self.summaries.callee(call).filter(is_marked) else { return Vec::new() };
        let operands = document.operands(call);
        let roots: Vec<ValueId> = operands
            .iter()
            .filter(|&&value| self.is_memory(value))
            .filter_map(|&value| document.marked_allocation(value))
            .collect();
        // If two operands are the same buffer, what is known about each of them alone does not hold for the buffer.
        let distinct: HashSet<ValueId> = roots.iter().copied().collect();
        if distinct.len() < roots.len() {
            return Vec::new();
        }
        let pairs = self.reusable_arguments(callee).into_iter();
        pairs.filter_map(|(dst, src)| Some((*operands.get(dst)?, *operands.get(src)?))).collect()
    }

    /// Pairs (written, read) of argument positions: each of the two is accessed once, in the same pattern, the read
    /// first. Then the call may write the one over the other.
    fn reusable_arguments(&self, function: OpId) -> Vec<(usize, usize)> {
        let touches = self.touches(function);
        let mut pairs = Vec::new();
        let mut arguments: Vec<&usize> = touches.keys().collect();
        // A map has no order of its own, and the result must be the same in every run.
        arguments.sort_unstable();
        for &&dst in &arguments {
            for &&src in arguments.iter().filter(|&&&src| src != dst) {
                if let ([Some(write)], [Some(read)]) = (&touches[&dst][..], &touches[&src][..])
                    && write.writes
                    && !read.writes
                    && self.same_pattern(function, (dst, write), (src, read))
                {
                    pairs.push((dst, src));
                }
            }
        }
        pairs
    }

    /// The accesses to each argument, by the argument's position. An access by any op other than `transfer_read` and
    /// `transfer_write` is not understood; it is `None` in the list, so that the argument takes part in no pair.
    fn touches(&self, function: OpId) -> HashMap<usize, Vec<Option<Touch>>> {
        let document = self.document;
        let mut touches: HashMap<usize, Vec<Option<Touch>>> = HashMap::new();
        for at in index_of(function) + 1..index_of(self.last_inside[function]) + 1 {
            let op = OpId::from_index(at);
            // These ops use a slice without accessing its elements.
            let passes = matches!(
                document.name(op),
                "memref.subview" | "tensor.extract_slice" | "scf.for" | "scf.yield" | "memref.dim" | "vector.mask"
            );
            for (position, &value) in document.operands(op).iter().enumerate() {
                let Some((argument, slices)) = self.argument_behind(function, value) else { continue };
                let touch = match (document.name(op), position) {
                    _ if passes => continue,
                    ("vector.transfer_read", 0) => Some(Touch { op, writes: false, slices }),
                    ("vector.transfer_write", 1) => Some(Touch { op, writes: true, slices }),
                    _ => None,
                };
                touches.entry(argument).or_default().push(touch);
            }
        }
        touches
    }

    /// The argument of the function that a value is a slice of, by its position, with the slices on the way,
    /// innermost first. `None` if the value is no memory, or comes to be in another way.
    fn argument_behind(&self, function: OpId, value: ValueId) -> Option<(usize, Vec<Slice>)> {
        let document = self.document;
        let mut value = value;
        let mut slices = Vec::new();
        for _ in 0..LONGEST_CHAIN {
            if !matches!(document.ty(value), Type::MemRef(_) | Type::Tensor { .. }) {
                return None;
            }
            // The walk goes from the accessed value to the argument. It passes through slices, which are remembered,
            // and through values that a loop carries.
            match document.value(value).definition {
                Definition::Argument { block, index } => {
                    let parent = document.block_parent(block)?;
                    if parent == function {
                        return Some((index as usize, slices));
                    }
                    // A carried value is taken for the initial one: the loop hands on what it has written into the same
                    // memory.
                    value = initial_value(document, parent, block, index as usize)?;
                }
                Definition::Result { op, .. } => {
                    slices.push(document.slice(op)?);
                    value = *document.operands(op).first()?;
                }
                Definition::Unresolved => return None,
            }
        }
        None
    }

    /// Whether a write to the argument `dst` and a read of the argument `src` touch the same elements in the same
    /// order: the read before the write in the same block, with equal slices, indices and permutation, and no element
    /// written at a higher address than the element that is read at the same indices.
    fn same_pattern(&self, function: OpId, (dst, write): (usize, &Touch), (src, read): (usize, &Touch)) -> bool {
        let document = self.document;
        // `vector.transfer_read %src[%i, %j], %padding` and `vector.transfer_write %vector, %dst[%i, %j]`: the
        // indices are the operands of type `index` from position `from` on.
        let indices = |op: OpId, from: usize| {
            let operands = document.operands(op).iter().skip(from);
            operands.take_while(|&&value| *document.ty(value) == Type::Index).copied().collect::<Vec<_>>()
        };
        let (read_at, write_at) = (indices(read.op, 1), indices(write.op, 2));
        let same_indices = read_at.len() == write_at.len()
            && read_at.iter().zip(&write_at).all(|(&l, &r)| self.same_bound(Bound::Dynamic(l), Bound::Dynamic(r)));
        let same_slices = write.slices.len() == read.slices.len()
            && write.slices.iter().zip(&read.slices).all(|(left, right)| self.equal_slices(left, right));
        let map = |op: OpId| document.attribute(op, "permutation_map");
        let in_order = read.op < write.op && self.home(read.op) == self.home(write.op);
        in_order
            && same_indices
            && same_slices
            && map(read.op) == map(write.op)
            && self.no_wider(function, dst, src, read.op, write.op)
    }

    /// The block an op is in. An op `vector.mask { … }` around it does not count as a block of its own.
    fn home(&self, op: OpId) -> BlockId {
        let mut op = op;
        while let Some(parent) = self.document.parent_op(op)
            && self.document.name(parent) == "vector.mask"
        {
            op = parent;
        }
        self.document.op(op).parent
    }

    /// Whether two bounds are certainly the same number: the same value, or equal constants.
    pub(super) fn same_bound(&self, left: Bound, right: Bound) -> bool {
        left == right || self.document.known(left).is_some_and(|number| self.document.known(right) == Some(number))
    }

    fn equal_slices(&self, left: &Slice, right: &Slice) -> bool {
        let lists = [(&left.offsets, &right.offsets), (&left.sizes, &right.sizes), (&left.strides, &right.strides)];
        lists.into_iter().all(|(left, right)| {
            left.len() == right.len() && left.iter().zip(right).all(|(&l, &r)| self.same_bound(l, r))
        })
    }

    /// Whether every element written lies no further up in memory than the element that is read at the same indices.
    /// For that both arguments must be without gaps, no row of the output may be longer than the row of the input,
    /// and no written element wider than the one read.
    fn no_wider(&self, function: OpId, dst: usize, src: usize, read: OpId, write: OpId) -> bool {
        let document = self.document;
        let vector_bits = |value: Option<&ValueId>| match document.ty(*value?) {
            Type::Vector { element, .. } => element.bits(),
            other => other.bits(),
        };
        // The bits of an element of the vector that is read, and of the vector that is written.
        let read_bits = vector_bits(document.results(read).first());
        let written_bits = vector_bits(document.operands(write).first());
        // The shapes of the two arguments of the function. An argument with gaps (another layout than the identity) has
        // no shape here, and the answer is no.
        let entry = document.regions(function).first().and_then(|&body| document.blocks(body).first());
        let arguments = entry.map_or(&[][..], |&entry| document.arguments(entry));
        let shape = |at: usize| {
            let memref = document.ty(*arguments.get(at)?).as_memref()?;
            (memref.layout == Layout::Identity).then(|| memref.shape.clone())?
        };
        let (Some(dst), Some(src)) = (shape(dst), shape(src)) else { return false };
        // The length of the outermost dimension has no influence on where an element lies.
        let inner = |shape: &[crate::ty::Dimension]| shape.get(1..).map(<[_]>::to_vec).unwrap_or_default();
        let pitch = dst.len() == src.len()
            && inner(&dst)
                .iter()
                .zip(inner(&src))
                .all(|(dst, src)| *dst == src || matches!((dst, src), (Some(d), Some(s)) if *d <= s));
        pitch && written_bits.zip(read_bits).is_some_and(|(written, read)| written <= read)
    }
}
