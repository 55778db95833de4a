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
//! `%dst` may lie on `%src` if each is accessed at one place of the text, both through the same
//! slices with the same indices, the read before the write in the same block,
//! what is written is no wider than what is read, and no iteration of a loop reads an element that an earlier one has
//! written ([`windows`](super::windows)).
//!
//! A *slice* is a `memref.subview` with its offsets, sizes and strides; each of these is a *bound*, a number or a value
//! that holds it at run time. The *donor* is the input whose memory the output takes.

use std::collections::HashMap;

use super::*;
use crate::bounds::{Bound, Slice};
use crate::ty::Layout;

/// How many slices may lie between an argument and an access to it. A longer chain is not understood.
const LONGEST_CHAIN: usize = 100;

/// One access of a vector function to one of its arguments: the op, whether it writes, and the slices through which
/// it sees the argument, innermost first.
pub(super) struct Touch {
    pub(super) op: OpId,
    writes: bool,
    pub(super) slices: Vec<Slice>,
}

/// How an output lies that takes the place of an input, if no element of it lies further up in memory than the element
/// of the input at the same indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Every element lies exactly on the element at the same indices.
    Same,
    /// Elements are narrower or rows shorter, so that an element may lie on others that come before it.
    Closer,
}

impl Lowering<'_> {
    /// The pairs (output, donor) of a call's operands that may share bytes. There are none if the op is no call of a
    /// function with a body (`callee`), if the call does not bear the attribute of vector functions, or if two operands
    /// may be the same buffer.
    pub(super) fn vector_function_pairs(&mut self, call: OpId) -> Vec<(ValueId, ValueId)> {
        let document = self.document;
        let is_marked = |_: &OpId| document.attribute(call, "hivm.vector_function").is_some();
        let Some(callee) = self.summaries.callee(call).filter(is_marked) else { return Vec::new() };
        let operands = document.operands(call);
        // `reusable_arguments` counts the accesses to each argument. If two operands are the same buffer, that buffer
        // is also accessed as the other argument, so the count of one argument says nothing about the buffer. An
        // operand whose memory is not known (the result of a select, of a condition) may be that of any other.
        let mut roots = HashSet::new();
        let mut memory = operands.iter().filter(|&&value| self.is_memory(value));
        if !memory.all(|&value| self.root(value).is_some_and(|root| roots.insert(root))) {
            return Vec::new();
        }
        if !self.reusable.contains_key(&callee) {
            let pairs = self.reusable_arguments(callee);
            self.reusable.insert(callee, pairs);
        }
        let pairs = self.reusable[&callee].iter();
        pairs.filter_map(|&(dst, src)| Some((*operands.get(dst)?, *operands.get(src)?))).collect()
    }

    /// Pairs (written, read) of argument positions: each of the two is accessed at one place of the function's text,
    /// in the same pattern ([`Self::same_pattern`]), the read first. The function may write the one over the other,
    /// because it has read an element before it writes in its place, and does not read the argument anywhere else. An
    /// argument may be in several pairs.
    fn reusable_arguments(&self, function: OpId) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        // Blocks may branch back to each other, so an access may run again although no loop is around it. And they need
        // not stand in the order in which they run.
        let inside = index_of(function)..index_of(self.last_inside[function]) + 1;
        let mut regions = inside.flat_map(|at| self.document.regions(OpId::from_index(at)));
        if regions.any(|&region| self.document.blocks(region).len() > 1) {
            return pairs;
        }
        let touches = self.touches(function);
        let mut arguments: Vec<&usize> = touches.keys().collect();
        // A map has no order of its own, and the result must be the same in every run.
        arguments.sort_unstable();
        for &&dst in &arguments {
            for &&src in arguments.iter().filter(|&&&src| src != dst) {
                // Both lists have exactly one entry, and both entries are understood.
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

    /// The accesses to each argument, by the argument's position. Only slices, `transfer_read` and `transfer_write` are
    /// understood. Any other use of an argument or of a slice of it is `None` in the list, so that the argument takes
    /// part in no pair: it may be an access, or hand the memory on under another name (the operand of a loop or of an
    /// `scf.yield`, a cast), and accesses by that name are not found.
    fn touches(&self, function: OpId) -> HashMap<usize, Vec<Option<Touch>>> {
        let document = self.document;
        let mut touches: HashMap<usize, Vec<Option<Touch>>> = HashMap::new();
        // The arguments and their slices: the position of the argument, and the slices on the way to it, innermost
        // first. Every region has one block, so a slice stands before its uses.
        let mut parts: HashMap<ValueId, (usize, Vec<Slice>)> = HashMap::new();
        let arguments = self.entry(function).map_or(&[][..], |entry| document.arguments(entry));
        let memory = arguments.iter().enumerate().filter(|(_, value)| document.ty(**value).as_memref().is_some());
        parts.extend(memory.map(|(at, &value)| (value, (at, Vec::new()))));
        for at in index_of(function) + 1..index_of(self.last_inside[function]) + 1 {
            let op = OpId::from_index(at);
            for (position, value) in document.operands(op).iter().enumerate() {
                let Some((argument, slices)) = parts.get(value) else { continue };
                let (argument, slices) = (*argument, slices.clone());
                let touch = match (document.name(op), position) {
                    // The length of a dimension is no element.
                    ("memref.dim", 0) => continue,
                    ("vector.transfer_read", 0) => Some(Touch { op, writes: false, slices }),
                    ("vector.transfer_write", 1) => Some(Touch { op, writes: true, slices }),
                    _ => match (document.slice(op), document.results(op)) {
                        (Some(slice), &[result]) if slices.len() < LONGEST_CHAIN => {
                            let chain = std::iter::once(slice).chain(slices).collect();
                            parts.insert(result, (argument, chain));
                            continue;
                        }
                        _ => None,
                    },
                };
                touches.entry(argument).or_default().push(touch);
            }
        }
        touches
    }

    /// Whether a write to the argument `dst` and a read of the argument `src` touch the same elements in the same
    /// order: the read before the write in the same block, with equal slices, indices and permutation, no element
    /// written at a higher address than the element that is read at the same indices, and none written before another
    /// iteration reads it.
    fn same_pattern(&self, function: OpId, (dst, write): (usize, &Touch), (src, read): (usize, &Touch)) -> bool {
        let document = self.document;
        let (read_at, write_at) = (self.indices(read.op, 1), self.indices(write.op, 2));
        let same_indices = read_at.len() == write_at.len()
            && read_at.iter().zip(&write_at).all(|(&left, &right)| self.same_bound(left, right));
        let same_slices = write.slices.len() == read.slices.len()
            && write.slices.iter().zip(&read.slices).all(|(left, right)| self.equal_slices(left, right));
        // The permutation of dimensions between the vector and the memory, as it is written.
        let map = |op: OpId| document.attribute(op, "permutation_map");
        let in_order = read.op < write.op && self.home(read.op) == self.home(write.op);
        in_order
            && same_indices
            && same_slices
            && map(read.op) == map(write.op)
            && self
                .fit(function, dst, src, read.op, write.op)
                .is_some_and(|fit| self.reads_before_writes(function, read, write.op, fit))
    }

    /// The indices of an access: `vector.transfer_read %src[%i, %j], %padding` has them from operand 1 on,
    /// `vector.transfer_write %vector, %dst[%i, %j]` from operand 2 on. They are the operands of type `index` there.
    pub(super) fn indices(&self, op: OpId, from: usize) -> Vec<Bound> {
        let operands = self.document.operands(op).iter().skip(from);
        let indices = operands.take_while(|&&value| *self.document.ty(value) == Type::Index);
        indices.map(|&value| Bound::Dynamic(value)).collect()
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

    /// Whether two slices certainly have the same offsets, sizes and strides.
    fn equal_slices(&self, left: &Slice, right: &Slice) -> bool {
        let lists = [(&left.offsets, &right.offsets), (&left.sizes, &right.sizes), (&left.strides, &right.strides)];
        lists.into_iter().all(|(left, right)| {
            left.len() == right.len() && left.iter().zip(right).all(|(&l, &r)| self.same_bound(l, r))
        })
    }

    /// How the output lies on the input. `None` if an element that is written may lie further up in memory than the
    /// element that is read at the same indices. Both arguments must be without gaps and have known row lengths, no
    /// row of the output may be longer than the row of the input, and no written element wider than the one read.
    fn fit(&self, function: OpId, dst: usize, src: usize, read: OpId, write: OpId) -> Option<Fit> {
        let document = self.document;
        // The bits of an element of a vector, or of a single number.
        let vector_bits = |value: Option<&ValueId>| match document.ty(*value?) {
            Type::Vector { element, .. } => element.bits(),
            other => other.bits(),
        };
        // The bits of an element of the vector that is read, and of the vector that is written.
        let read_bits = vector_bits(document.results(read).first())?;
        let written_bits = vector_bits(document.operands(write).first())?;
        // The shapes of the two arguments of the function. An argument with gaps (another layout than the identity) has
        // no shape here, and the answer is no. So it is if the elements are vectors: the dimensions of these are
        // dimensions of the vector that is read, too.
        let arguments = document.arguments(self.entry(function)?);
        let shape = |at: usize| {
            let memref = document.ty(*arguments.get(at)?).as_memref()?;
            let plain = memref.layout == Layout::Identity && !matches!(*memref.element, Type::Vector { .. });
            plain.then(|| memref.shape.clone())?
        };
        let (dst, src) = (shape(dst)?, shape(src)?);
        if dst.len() != src.len() || written_bits > read_bits {
            return None;
        }
        let mut fit = if written_bits == read_bits { Fit::Same } else { Fit::Closer };
        // The lengths of the inner dimensions decide how far apart two rows lie (the pitch). A row of the output that
        // is longer than a row of the input would be written over a row that is still to be read. The length of the
        // outermost dimension has no influence on where an element lies.
        for (dst, src) in dst.into_iter().zip(src).skip(1) {
            let (dst, src) = (dst?, src?);
            if dst > src {
                return None;
            }
            if dst < src {
                fit = Fit::Closer;
            }
        }
        Some(fit)
    }

    /// The first block of a function.
    fn entry(&self, function: OpId) -> Option<BlockId> {
        let body = *self.document.regions(function).first()?;
        self.document.blocks(body).first().copied()
    }
}
