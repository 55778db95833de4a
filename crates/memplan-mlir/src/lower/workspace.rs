//! Workspaces, and tensors as the memory they stand for.
//!
//! Before bufferization a workspace in global memory becomes a tensor, ops that
//! write into it give back a tensor, and a loop carries that tensor round:
//!
//! ```text
//!   %w = memref_ext.alloc_workspace() …      a site
//!   %t = bufferization.to_tensor %w          the same memory
//!   %r = hivm.hir.store ins(%x) outs(%t)     the same memory, written
//! ```
//!
//! Here a tensor is a handle to memory. The result of an op with `outs` is the memory of its
//! output. Any other tensor is memory of its own; in a kernel ([`Subject::Kernels`]) it may also be the memory of an
//! operand. Every op reads the tensors it is given.
//!
//! The `Origin` of a value says which memory it is: `Derived` is a view of another value, with the bytes it covers;
//! `Merged` is one of several values; `Opaque` is any of some values, or memory from outside. A value is *settled* when
//! its definition has been lowered.
//!
//! Kernels in which a part still works on tensors are followed in the same way: if `to_tensor` makes a tensor of a
//! buffer, the buffer is in use as long as that tensor is.

use memplan_core::Bytes;
use memplan_program::{AccessKind, ByteRange, Extent};

use super::origin::stored_bytes;
use super::*;
use crate::dialect::Selector;
use crate::lex::{Lexer, TokenKind};

impl Lowering<'_> {
    /// Whether an op makes a workspace that has no offset yet, so that a plan has to place it.
    pub(super) fn is_workspace(&self, op: OpId) -> bool {
        let given = || self.document.workspace_offsets(op).is_some();
        self.document.name(op) == "memref_ext.alloc_workspace" && !given()
    }

    fn is_tensor(&self, value: ValueId) -> bool {
        matches!(self.document.ty(value), Type::Tensor { .. })
    }

    /// Whether an op turns a memref into a tensor or a tensor into a memref, without touching a byte: both stand for
    /// the same memory.
    fn is_conversion(&self, op: OpId) -> bool {
        let name = self.document.name(op);
        matches!(name, "bufferization.to_tensor" | "bufferization.to_buffer" | "bufferization.to_memref")
    }

    /// What an op does to its operands where tensors count as memory. `None` if tensors do not count
    /// ([`Subject::Buffers`]), or if the usual rules (those of the op's row) apply to the op.
    pub(super) fn tensor_accesses(&self, op: OpId) -> Option<Vec<(ValueId, AccessKind)>> {
        if self.subject == Subject::Buffers {
            return None;
        }
        let document = self.document;
        // A conversion between a tensor and its memory touches no byte.
        if self.is_conversion(op) {
            return Some(Vec::new());
        }
        if let Some(list) = self.destination_style(op) {
            return Some(list);
        }
        if let ("bufferization.materialize_in_destination", &[source, destination]) =
            (document.name(op), document.operands(op))
        {
            return Some(vec![(source, AccessKind::Read), (destination, AccessKind::Update)]);
        }
        let tensors: Vec<ValueId> =
            document.operands(op).iter().copied().filter(|&value| self.is_tensor(value)).collect();
        // Only ops that certainly do nothing but compute are described here: each of them reads its tensors. For all
        // other ops the usual rules apply. These assume more: an unknown op updates its operands, an op that lets go
        // of its operands (a `return`, an unclear branch) makes them escape.
        let plain = document.info(op).traits.has(Traits::EFFECT_FREE) || document.name(op).starts_with("tensor.");
        if tensors.is_empty() || !plain || !document.regions(op).is_empty() || self.lets_go(op) {
            return None;
        }
        // An insertion writes a part of its destination and keeps the rest. Which operand is the destination is not
        // asked: to count the source as updated, too, costs memory and nothing else.
        let kind = match document.name(op) {
            "tensor.insert_slice" | "tensor.insert" | "tensor.parallel_insert_slice" => AccessKind::Update,
            _ => AccessKind::Read,
        };
        Some(tensors.into_iter().map(|value| (value, kind)).collect())
    }

    /// Which memory the result at `index` of an op is, where tensors count as memory. `None` if the usual rules apply:
    /// tensors do not count ([`Subject::Buffers`]), the op is no conversion and its result is no tensor, or the op
    /// makes a tensor without an output for it and no kernel is being lowered ([`Self::tensor_of_kernel`]).
    pub(super) fn tensor_origin(&mut self, op: OpId, index: usize) -> Option<Origin> {
        if self.subject == Subject::Buffers {
            return None;
        }
        let document = self.document;
        let result = *document.results(op).get(index)?;
        // A conversion gives its operand another type. The result of an op with `outs(…)` is the output at the same
        // position, after it was written.
        let source = if self.is_conversion(op) {
            *document.operands(op).first()?
        } else if self.is_tensor(result) {
            let outs = document.select(op, &Selector::Group("outs".into()));
            match document.operands(op)[outs].get(index) {
                Some(&output) => output,
                None => return self.tensor_of_kernel(op, result),
            }
        } else {
            return None;
        };
        if let Some(later) = self.named_later(result, &[source]) {
            return Some(later);
        }
        // The tensor is all bytes of its source. If their number is not known, the source is named without a range.
        let bytes = self.tensor_bytes(source).or_else(|| self.tensor_bytes(result));
        let base = self.value(source);
        Some(match bytes {
            Some(bytes) => Origin::Derived { base, extent: Extent::Exactly(ByteRange::new(0, bytes.0)) },
            None => Origin::Merged(Box::new([base])),
        })
    }

    /// The memory of a tensor that an op of a kernel makes without an output for it. Bufferization may give it memory
    /// of its own or that of an operand (a slice is then a view), so the tensor may be any of the operands, or other
    /// memory. `None` if no kernel is being lowered: then the tensor is memory of its own.
    fn tensor_of_kernel(&mut self, op: OpId, result: ValueId) -> Option<Origin> {
        (self.subject == Subject::Kernels).then(|| self.any_operand(op, result))
    }

    /// Bytes of a tensor or memref; `None` if its shape is not static, or if it has gaps. On chip, elements of less than
    /// a byte are packed; elsewhere each takes a byte. A tensor does not say where it lies, so the bytes of a tensor are
    /// known only if its elements have the same size in both.
    fn tensor_bytes(&self, value: ValueId) -> Option<Bytes> {
        let (shape, element) = match self.document.ty(value) {
            Type::Tensor { shape, element, .. } => (shape.as_deref()?, element),
            Type::MemRef(memref) => return stored_bytes(memref),
            _ => return None,
        };
        // `?` in the shape gives `None`.
        let count = shape.iter().try_fold(1u64, |count, dimension| count.checked_mul((*dimension)?))?;
        let bits = element.bits()?;
        let stride = element.stride_bytes().filter(|bytes| bytes.0.checked_mul(8) == Some(bits))?;
        stride.checked_mul(count)
    }

    /// For an op that moves the content of one tensor or memref into another as it is: the output, the input and the
    /// number of bytes. `None` for all other ops, and if shapes or element types differ. A move with `atomic` in its
    /// text combines what it moves with what is in the output, so it is no copy.
    pub(super) fn tensor_copy(&self, op: OpId) -> Option<(ValueId, ValueId, Bytes)> {
        let document = self.document;
        if self.subject == Subject::Buffers {
            return None;
        }
        let moves = matches!(document.name(op), "hivm.hir.store" | "hivm.hir.load" | "hivm.hir.copy");
        if !moves || document.text(document.op(op).span).contains("atomic") {
            return None;
        }
        // The operand of a group that has exactly one.
        let one = |group: &'static str| {
            let range = document.select(op, &Selector::Group(group.into()));
            match &document.operands(op)[range] {
                [value] => Some(*value),
                _ => None,
            }
        };
        let (input, output) = (one("ins")?, one("outs")?);
        // An operand may be a tensor or a memref, so shape and element type are compared and not the types as a
        // whole. (The older form of `to_tensor` names only the memref's type.)
        let content = |value: ValueId| match document.ty(value) {
            Type::Tensor { shape, element, .. } => Some((shape.clone(), element.clone())),
            Type::MemRef(memref) => Some((memref.shape.clone(), memref.element.clone())),
            _ => None,
        };
        let same = content(input).is_some() && content(input) == content(output);
        // Both must be without gaps: `tensor_bytes` gives no number for a slice of rows that are longer than the slice.
        let bytes = self.tensor_bytes(output).filter(|&bytes| same && self.tensor_bytes(input) == Some(bytes))?;
        Some((output, input, bytes))
    }
}

impl Document {
    /// The offsets in bytes that a workspace already has, one for each slot; `None` if its text has no list of
    /// offsets. An offset that is no constant, or is negative, is given as 0.
    pub(crate) fn workspace_offsets(&self, op: OpId) -> Option<Vec<u64>> {
        // The offsets are the last operands of the op.
        let range = self.offset_list(op)?;
        let operands = self.operands(op).iter().rev().take(range);
        let mut offsets: Vec<u64> =
            operands.map(|&value| self.constant(value).and_then(|n| u64::try_from(n).ok()).unwrap_or(0)).collect();
        offsets.reverse();
        Some(offsets)
    }

    /// How many offsets `offset = [%a, %b]` in the text of an op lists; `None` if there is no such list. Only the word
    /// itself counts: the same letters may be in the name of a value, in a string or in an attribute.
    fn offset_list(&self, op: OpId) -> Option<usize> {
        let text = self.text(self.op(op).span);
        let mut lexer = Lexer::new(text);
        loop {
            let token = lexer.next();
            match token.kind {
                TokenKind::Eof => return None,
                TokenKind::LBrace | TokenKind::LParen | TokenKind::Less => lexer.skip_group(token.start()).ok()?,
                TokenKind::BareId if text.get(token.span().range()) == Some("offset") => {
                    let mut ahead = lexer;
                    if ahead.next().kind == TokenKind::Equal && ahead.next().kind == TokenKind::LBracket {
                        // The list holds names (`%a`, `%b#1`) and commas. It ends at the first other token.
                        let list = std::iter::from_fn(|| Some(ahead.next().kind));
                        let name_or_comma = [TokenKind::Percent, TokenKind::Hash, TokenKind::Comma];
                        let list = list.take_while(|kind| name_or_comma.contains(kind));
                        return Some(list.filter(|&kind| kind == TokenKind::Percent).count());
                    }
                }
                _ => {}
            }
        }
    }
}
