//! Destination-style ops of NPU kernels: what they do to memory, and where an
//! output may lie on an input. `hivm` is the MLIR dialect of kernels for Ascend NPUs; destination-style means that an
//! op is given the memory for its results as operands.
//!
//! An op `hivm.hir.x ins(…) outs(…) temp_buffer(…)` reads its inputs, uses its
//! temporary memory and writes its outputs. It *writes* an output only if it is
//! known to cover all of it; everything else is an update. An op for which the NPU has no vector instruction becomes a
//! loop over single numbers, and such a loop does not touch the temporary memory.
//!
//! The output may take the place of an input (its *donor*) if the hardware can work in place: when it writes an
//! element, it has read everything that lies there. So
//!
//! - both operands need the same access function: equal offset and strides, or the same values for those only known at
//!   run time; then element i of both lies at the same distance from the start, counted in elements;
//! - an element of the output is no wider than an element of the donor, so that element i is written no further up in
//!   memory than where it was read. An output of a single step of the vector unit may be wider: the unit reads the
//!   whole step before it writes.
//!
//! DIVERGENCE: the original takes two offsets that are only known at run time to
//! be equal, and decides by the first input with a fitting width, whichever
//! input is the donor. Here both questions are about the donor. It also lets
//! selects of any length write over their condition.

use memplan_program::AccessKind;

use super::*;
use crate::bounds::{Bound, Slice};
use crate::dialect::Selector;
use crate::document::{Definition, NameKind};
use crate::ty::{Layout, MemRef, Type};

/// Ops whose output may lie on an input whatever temporary buffers and other operands the op has.
const PLAIN: &[&str] = &["vadd", "vsub", "vmul", "vmax", "vmin", "vor", "vand"];
/// Elementwise ops whose inputs and output have elements of one type.
const SAME_TYPE: &[&str] = &[
    "vadd", "vsub", "vmul", "vdiv", "vmax", "vmin", "vor", "vand", "vxor", "vshl", "vshr", "vpow", "vmod", "vabs",
    "vln", "vrelu", "vexp", "vrsqrt", "vsqrt", "vrec", "vnot", "vsin", "vcos", "vtanh", "verf",
];
/// Elementwise ops whose inputs and output may have elements of different types.
const MIXED_TYPE: &[&str] = &["vcast", "vcmp", "vsel", "visinf", "visnan"];
/// Ops that use one temporary buffer only to spread an input over all elements, if they broadcast an input or have one
/// that is a single number. Filling the buffer does not disturb inputs that are still to be read.
const HARMLESS_TEMPORARY: &[&str] = &[
    "vadd", "vmul", "vmax", "vmin", "vsub", "vdiv", "vand", "vor", "vshl", "vshr", "vnot", "vabs", "vln", "vrelu",
    "vexp", "vrsqrt", "vsqrt", "vrec",
];
/// Bytes that the vector unit handles in one step. In each step it reads all bytes of its inputs before it writes any.
const VECTOR_STEP: u64 = 256;
/// Ops that move a block of memory as it is.
const MOVES: &[&str] = &["load", "store", "copy"];

/// The name of an NPU op behind `hivm.hir.`: `vadd` of `hivm.hir.vadd`; `None` for all other ops.
pub(crate) fn hivm_name(document: &Document, op: OpId) -> Option<&str> {
    document.kind(op).is(NameKind::HIVM).then(|| document.name(op).strip_prefix("hivm.hir.")).flatten()
}

impl Document {
    /// Whether an NPU op has no vector instruction for the integers it is given, so that it becomes a loop over
    /// single numbers. Which widths have an instruction differs from op to op. Ops on other elements than integers
    /// are never such loops.
    pub(crate) fn runs_as_scalar_loop(&self, op: OpId) -> bool {
        let Some(name) = hivm_name(self, op) else { return false };
        let ins = self.group_memrefs(op, "ins");
        let Some(width) = self.integer_width(&ins) else { return false };
        match name {
            "vadd" | "vsub" | "vmul" | "vmin" | "vmax" | "vabs" | "vshl" | "vdiv" | "vinterleave" | "vdeinterleave" => {
                width == 64
            }
            // A second memref gives a distance to shift by for each element; such a shift becomes a loop, too.
            "vshr" => width == 64 || ins.len() > 1,
            "vmod" | "vmulext" | "vmulextended" | "vmulextui" => width >= 32,
            "vcmp" => {
                let text = self.text(self.op(op).span);
                // The text says `compare_mode = <eq>`. Without the word the op compares for equality. Of all
                // comparisons of integers, only `eq` and `ne` of 32-bit integers have an instruction.
                let mode = text.split_once("compare_mode").map_or("eq", |(_, rest)| rest);
                let equality =
                    ["eq", "ne"].iter().any(|word| mode.trim_start_matches([' ', '=', '<']).starts_with(word));
                !(width == 32 && (equality || mode.contains("<eq>") || mode.contains("<ne>")))
            }
            _ => name.starts_with("vcum") && width == 64,
        }
    }

    /// Whether the temporary buffer of an op is never touched. This is said only of integers of 64 bits, for which no
    /// target has vector instructions. For narrower ones there is doubt.
    pub(crate) fn leaves_temporaries_alone(&self, op: OpId) -> bool {
        self.runs_as_scalar_loop(op) && self.integer_width(&self.group_memrefs(op, "ins")) == Some(64)
    }

    /// Bits of the elements of the first of these memrefs, if they are integers.
    fn integer_width(&self, values: &[ValueId]) -> Option<u32> {
        match &*self.ty(*values.first()?).as_memref()?.element {
            Type::Integer { width } => Some(*width),
            _ => None,
        }
    }

    /// The memrefs among the operands in one of the groups `ins`, `outs` and `temp_buffer` of an NPU op.
    pub(crate) fn group_memrefs(&self, op: OpId, group: &'static str) -> Vec<ValueId> {
        let operands = &self.operands(op)[self.select(op, &Selector::Group(group.into()))];
        operands.iter().copied().filter(|&value| self.ty(value).as_memref().is_some()).collect()
    }

    /// Whether an NPU op has a non-empty list behind a word of its form: `broadcast = [0]`.
    pub(crate) fn has_list(&self, op: OpId, word: &str) -> bool {
        !self.list(op, word).is_empty()
    }

    /// The items of a list behind a word of an NPU op's form: `broadcast = [0, 1]`.
    fn list(&self, op: OpId, word: &str) -> Vec<&str> {
        let text = match self.attribute(op, word) {
            // `array<i64: 0, 1>` in the generic form, `array<i64>` without items.
            Some(text) => text.split_once(':').map_or(text.trim_start_matches("array<i64"), |(_, items)| items),
            None => self.list_behind(op, word).unwrap_or_default(),
        };
        let items = text.split(',').map(|item| item.trim_matches(|c: char| c.is_whitespace() || "[]<>".contains(c)));
        items.filter(|item| !item.is_empty()).collect()
    }

    /// The text between the brackets of `word = [0, 1]` in the text of an op. The word must not be the end of a
    /// longer one.
    fn list_behind(&self, op: OpId, word: &str) -> Option<&str> {
        let text = self.text(self.op(op).span);
        text.match_indices(word).find_map(|(at, _)| {
            let before = text[..at].chars().next_back();
            let whole = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
            let rest = text[at + word.len()..].trim_start().strip_prefix('=').filter(|_| whole)?;
            rest.trim_start().strip_prefix('[')?.split(']').next()
        })
    }
}

impl Lowering<'_> {
    /// What a destination-style NPU op does to each of its memory operands; `None` for all other ops.
    pub(super) fn destination_style(&self, op: OpId) -> Option<Vec<(ValueId, AccessKind)>> {
        let document = self.document;
        let name = hivm_name(document, op)?;
        // The positions of the operands in one of the op's groups.
        let range = |group: &'static str| document.select(op, &Selector::Group(group.into()));
        let (ins, outs) = (range("ins"), range("outs"));
        // Without outputs the op is described by its row in the dialect tables.
        if outs.is_empty() {
            return None;
        }
        let mut list = Vec::new();
        // Positions of operands that the op does not touch.
        let idle = if document.leaves_temporaries_alone(op) { range("temp_buffer") } else { 0..0 };
        for (at, &value) in document.operands(op).iter().enumerate() {
            if !self.is_memory(value) || idle.contains(&at) {
                continue;
            }
            let kind = match (ins.contains(&at), outs.contains(&at)) {
                (true, _) => AccessKind::Read,
                (_, true) if self.covers_output(op, name, value) => AccessKind::Write,
                _ => AccessKind::Update,
            };
            list.push((self.seen_through(op, value), kind));
        }
        Some(list)
    }

    /// Whether the op writes every byte of its output, so that nothing of the old content remains. Elementwise ops
    /// and broadcasts (`vbrc`) do; a move does if what it moves has the same static shape
    /// and replaces what was there.
    fn covers_output(&self, op: OpId, name: &str, output: ValueId) -> bool {
        let document = self.document;
        // Of a memref with gaps between its elements, the bytes in the gaps are not written.
        if !self.covers_all(output) {
            return false;
        }
        if SAME_TYPE.contains(&name) || MIXED_TYPE.contains(&name) || name == "vbrc" {
            return true;
        }
        let shape = |value: ValueId| document.ty(value).as_memref().and_then(|memref| memref.shape.clone());
        let inputs = document.group_memrefs(op, "ins");
        // Whether an input has the same static shape as the output.
        let same = |input: &ValueId| {
            let shape = shape(*input);
            shape.is_some() && shape == self::shape_of(document, output) && document.has_static_shape(output)
        };
        // A move with `atomic` in its text combines what it moves with what is in the output.
        let is_atomic = document.text(document.op(op).span).contains("atomic");
        MOVES.contains(&name) && !is_atomic && inputs.len() == 1 && inputs.iter().all(same)
    }

    /// The value that stands for an operand in the accesses of an op. In an elementwise op, a view whose bytes are
    /// only known at run time stands for its whole allocation (`root`). Otherwise it would not be known at which byte
    /// of its buffer the view begins, and no output could lie on such an input. Every other operand stands for itself.
    fn seen_through(&self, op: OpId, value: ValueId) -> ValueId {
        let elementwise = hivm_name(self.document, op).is_some_and(is_elementwise);
        let exact = self.document.ty(value).as_memref().is_some_and(|memref| memref.bytes().is_some());
        match self.root(value) {
            Some(root) if elementwise && !exact && self.is_settled(root) => root,
            _ => value,
        }
    }

    /// The pairs (output, input) of an elementwise op whose output may lie on that input. Both are named by the same
    /// values that the op's accesses name ([`Self::seen_through`]).
    pub(super) fn in_place_pairs(&self, op: OpId) -> Vec<(ValueId, ValueId)> {
        let document = self.document;
        let Some(name) = hivm_name(document, op).filter(|name| is_elementwise(name)) else {
            return Vec::new();
        };
        let (inputs, outputs) = (document.group_memrefs(op, "ins"), document.group_memrefs(op, "outs"));
        // For an op with several outputs it is not known which output is computed from which input.
        let [output] = outputs[..] else { return Vec::new() };
        let mut pairs = Vec::new();
        for &input in &inputs {
            if self.works_in_place(op, name, output, input) {
                let pair = (self.seen_through(op, output), self.seen_through(op, input));
                // An output that is the input already needs no permission.
                if pair.0 != pair.1 && !pairs.contains(&pair) {
                    pairs.push(pair);
                }
            }
        }
        // One buffer may be several inputs of the op. It can be overwritten only if the op works in place for each of
        // them.
        pairs.retain(|&(_, overwritten)| {
            let mut same = inputs.iter().filter(|&&input| self.seen_through(op, input) == overwritten);
            same.all(|&input| self.works_in_place(op, name, output, input))
        });
        pairs
    }

    /// Whether the hardware may write an output over an input (the donor), by the rules of the module documentation.
    fn works_in_place(&self, op: OpId, name: &str, output: ValueId, input: ValueId) -> bool {
        let document = self.document;
        let (Some(out), Some(donor)) = (document.ty(output).as_memref(), document.ty(input).as_memref()) else {
            return false;
        };
        let (Some(out_bits), Some(donor_bits)) = (out.element.bits(), donor.element.bits()) else { return false };
        let broadcast = document.has_list(op, "broadcast");
        // A transposition writes elements to other places than those it reads them from.
        if document.has_list(op, "transpose") || !self.same_access(output, input) {
            return false;
        }
        if PLAIN.contains(&name) && !broadcast {
            return out_bits == donor_bits;
        }
        // An input that is broadcast is smaller than the output; only an input of the output's own shape is read and
        // written element by element.
        if !self.temporaries_allow(op, name, broadcast) || (broadcast && !self.same_dimensions(op, output, input)) {
            return false;
        }
        if SAME_TYPE.contains(&name) {
            return out_bits == donor_bits;
        }
        match name {
            _ if out_bits == donor_bits => true,
            // A select may write over its condition, whose elements are narrow, if one step does it all. A select of
            // 64-bit elements takes two passes over the condition, so the first pass must not overwrite it.
            "vsel" if donor_bits < out_bits => out_bits < 64 && is_one_step(out),
            "vsel" => true,
            // The wide element of the donor is a whole number of elements of the output, so no written element
            // straddles two that are read. Casts are trusted only with one dimension without gaps.
            "vcast" => donor_bits % out_bits == 0 && is_flat(out) && is_flat(donor),
            _ => donor_bits % out_bits == 0,
        }
    }

    /// Whether the temporary buffers of an op leave its output free to take the place of an input. `broadcast` says
    /// whether the op broadcasts one of its inputs.
    fn temporaries_allow(&self, op: OpId, name: &str, broadcast: bool) -> bool {
        let document = self.document;
        let temporaries = document.select(op, &Selector::Group("temp_buffer".into()));
        let ins = &document.operands(op)[document.select(op, &Selector::Group("ins".into()))];
        let has_scalar_input = ins.iter().any(|&value| document.ty(value).as_memref().is_none());
        // An op with a temporary buffer may work in several passes over the elements: a pass may write the output
        // before a later one has read all of the input. It does not where the buffer only holds a number or a row that
        // is spread over all elements before the op itself begins. What an op does with two temporary buffers is not
        // known, so the answer is no.
        match temporaries.len() {
            0 => true,
            1 => HARMLESS_TEMPORARY.contains(&name) && (broadcast || has_scalar_input),
            _ => false,
        }
    }

    /// Whether both operands find element i at the same distance from their
    /// allocation's first element.
    fn same_access(&self, left: ValueId, right: ValueId) -> bool {
        // The layout of an operand, written in one way only (`normal`).
        let layout = |value: ValueId| self.document.ty(value).as_memref().map(normal);
        match (layout(left), layout(right)) {
            (Some(Layout::Identity), Some(Layout::Identity)) => true,
            (
                Some(Layout::Strided { strides: left_strides, offset: left_offset }),
                Some(Layout::Strided { strides: right_strides, offset: right_offset }),
            ) => {
                // Two `?` in the types may be different numbers, so then both must be slices made with the same
                // values.
                let known = left_strides.iter().all(Option::is_some) && left_offset.is_some();
                let equal = left_strides == right_strides && left_offset == right_offset;
                equal && (known || self.same_slice(left, right, &|slice| (&slice.offsets, &slice.strides)))
            }
            _ => false,
        }
    }

    /// Whether both operands have the same size in every dimension. The op itself demands that, except in the
    /// dimensions along which it broadcasts. In such a dimension a size that is only known at run time must be given
    /// by the same value for both operands.
    fn same_dimensions(&self, op: OpId, left: ValueId, right: ValueId) -> bool {
        let (left_shape, right_shape) = (shape_of(self.document, left), shape_of(self.document, right));
        let Some(shape) = left_shape.filter(|shape| Some(shape) == right_shape.as_ref()) else { return false };
        // Two lengths `?` are equal here, but may be different numbers when the program runs. That is asked next.
        // The dimensions along which the op broadcasts; if the list cannot be read, all of them are in doubt.
        let stretched: Option<Vec<usize>> =
            self.document.list(op, "broadcast").iter().map(|dimension| dimension.parse().ok()).collect();
        let in_doubt = |at: usize| {
            let stretched = stretched.as_ref().is_none_or(|dimensions| dimensions.contains(&at));
            shape[at].is_none() && stretched
        };
        (0..shape.len()).filter(|&at| in_doubt(at)).all(|at| {
            // The sizes of a slice that drops dimensions do not match the dimensions of its type, and are not used.
            let size = |sizes: &[Bound]| sizes.get(at).copied().filter(|_| sizes.len() == shape.len());
            let sizes = |value: ValueId| self.slice_of(value).and_then(|slice| size(&slice.sizes));
            sizes(left).zip(sizes(right)).is_some_and(|(left, right)| self.same_bound(left, right))
        })
    }

    /// Whether both values are slices, and the two lists that `lists` picks of a slice (offsets and strides, for
    /// example) hold the same numbers in both.
    fn same_slice(&self, left: ValueId, right: ValueId, lists: Lists) -> bool {
        let (Some(left), Some(right)) = (self.slice_of(left), self.slice_of(right)) else { return false };
        let equal = |left: &[Bound], right: &[Bound]| {
            left.len() == right.len() && left.iter().zip(right).all(|(&l, &r)| self.same_bound(l, r))
        };
        // `a` and `b` are the two lists of the left slice, `c` and `d` those of the right one.
        let ((a, b), (c, d)) = (lists(&left), lists(&right));
        equal(a, c) && equal(b, d)
    }

    /// The slice that makes a value; `None` if the value is no slice.
    fn slice_of(&self, value: ValueId) -> Option<Slice> {
        match self.document.value(value).definition {
            Definition::Result { op, .. } => self.document.slice(op),
            _ => None,
        }
    }
}

/// Picks two of the three lists of a slice.
type Lists<'a> = &'a dyn Fn(&Slice) -> (&[Bound], &[Bound]);

fn is_elementwise(name: &str) -> bool {
    SAME_TYPE.contains(&name) || MIXED_TYPE.contains(&name)
}

/// Whether an op works in place as its single instruction does, without broadcasting or transposing.
pub(crate) fn is_plain_in_place(document: &Document, op: OpId) -> bool {
    let plain = hivm_name(document, op).is_some_and(|name| PLAIN.contains(&name));
    plain && !document.has_list(op, "broadcast") && !document.has_list(op, "transpose")
}

/// The dimensions of a memref; `None` for all other values and for memrefs of unknown rank.
fn shape_of(document: &Document, value: ValueId) -> Option<Vec<crate::ty::Dimension>> {
    document.ty(value).as_memref().and_then(|memref| memref.shape.clone())
}

impl Document {
    fn has_static_shape(&self, value: ValueId) -> bool {
        self.ty(value).as_memref().is_some_and(MemRef::has_static_shape)
    }
}

/// The layout of a memref, the same for layouts that are equal but written differently.
/// `memref<4x8xf32, strided<[8, 1]>>` lies in memory exactly as `memref<4x8xf32>` does, so both give the identity.
fn normal(memref: &MemRef) -> Layout {
    let Layout::Strided { strides, offset: Some(0) } = &memref.layout else { return memref.layout.clone() };
    let Some(shape) = memref.shape.as_deref() else { return memref.layout.clone() };
    // From the innermost dimension outwards: the stride of a layout without gaps is the product of the lengths
    // inside. The stride of a dimension of length 1 is never used, so any number will do.
    let mut expected = Some(1i64);
    for (stride, dimension) in strides.iter().zip(shape).rev() {
        if *dimension != Some(1) && (stride.is_none() || *stride != expected) {
            return memref.layout.clone();
        }
        let length = dimension.and_then(|length| i64::try_from(length).ok());
        expected = expected.zip(length).and_then(|(stride, length)| stride.checked_mul(length));
    }
    Layout::Identity
}

/// Whether the vector unit handles all elements of a memref in one step.
fn is_one_step(memref: &MemRef) -> bool {
    memref.bytes().is_some_and(|bytes| bytes.0 <= VECTOR_STEP)
}

/// Whether a memref has at most one dimension, without gaps between its elements.
fn is_flat(memref: &MemRef) -> bool {
    // A memref of unknown rank may have any number of dimensions. A single element has no gaps, whatever its stride.
    let rank = memref.shape.as_ref().map_or(usize::MAX, Vec::len);
    let short = memref.shape.as_ref().and_then(|shape| shape.last()).is_none_or(|last| *last == Some(1));
    let dense = match &memref.layout {
        Layout::Identity => true,
        Layout::Strided { strides, .. } => strides.last().is_none_or(|stride| *stride == Some(1)),
        Layout::Other(_) => false,
    };
    rank <= 1 && (short || dense)
}
