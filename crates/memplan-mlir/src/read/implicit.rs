//! What custom forms leave out: terminators without operands, the empty `else`
//! of an `scf.if`, the bodies of named linalg ops.
//!
//! The generic form writes all of them. They are added here, so that a document has the same ops whichever
//! form it was read from: passes that number ops give the same numbers for both.
//!
//! ```text
//! scf.for … {                   "scf.for"(…) ({ ^bb(…):
//!   …                             …
//! }                               "scf.yield"() : () -> ()
//!                               }) …
//! ```
//!
//! A *frame* (not the frame of the glossary) is the reader's record of a region or an op that is being read. The parts
//! of what is being read lie on side stacks (`self.blocks`, `self.ops`, `self.regions`), and the frame says where its
//! own begin. The document keeps all lists in *pools*, one list behind the other.

use std::borrow::Cow;

use super::*;
use crate::dialect::{self, Traits};

impl Reader<'_> {
    /// Adds the terminator that the region of a custom form leaves out, if the op's row names one and the region does
    /// not end in one.
    pub(super) fn add_terminator(&mut self, frame: &mut RegionFrame) {
        let Some(op) = self.document.regions[frame.region].parent else {
            return;
        };
        let Some(terminator) = self.document.info(op).terminator.clone() else {
            return;
        };
        // A region with several blocks has a terminator in each of them, written out.
        if self.blocks.len() - frame.blocks > 1 {
            return;
        }
        let block = match frame.block {
            Some(block) => block,
            None => self.open_block(frame, Span::default()),
        };
        let last = self.ops[frame.ops..].last();
        let written = last.is_some_and(|&last| {
            let info = self.document.info(last);
            self.document.name(last) == terminator || info.traits.has(Traits::RETURN_LIKE)
        });
        if written {
            return;
        }
        // This terminator has a region of its own, which the custom form leaves out together with it.
        let in_parallel = terminator == "scf.forall.in_parallel";
        let op = self.implicit_op(terminator, block);
        self.ops.push(op);
        if in_parallel {
            let region = self.implicit_region(op, Vec::new(), true);
            let start = self.document.region_pool.len();
            self.document.region_pool.push(region);
            self.document.rare_mut(op).regions = pool_range(start, start + 1);
        }
    }

    /// Adds regions that an op has but does not write: the empty `else` of an `if`, the empty body of a function's
    /// declaration, the body of a named linalg op.
    pub(super) fn add_hidden_parts(&mut self, frame: &OpFrame) {
        if self.document.ops[frame.op].form != Form::Custom {
            return;
        }
        let written = self.regions.len() - frame.regions;
        let kind = self.document.kind(frame.op);
        let alternatives = kind.is(NameKind::ALTERNATIVES);
        let function = self.document.info(frame.op).traits.has(Traits::FUNCTION);
        // The added region has no block.
        if (alternatives && written == 1) || (function && written == 0) {
            let region = self.implicit_region(frame.op, Vec::new(), false);
            self.regions.push(region);
        }
        if written == 0
            && kind.is(NameKind::LINALG)
            && let Some(body) = self.hidden_body(frame.op)
        {
            let region = self.implicit_region(frame.op, body, true);
            self.regions.push(region);
        }
    }

    /// The names of the ops in the body that a named linalg op does not write down: a multiplication, an addition and
    /// a yield for `linalg.matmul`. They depend on the element types. `None` for ops without a hidden body.
    fn hidden_body(&self, op: OpId) -> Option<Vec<&'static str>> {
        let name = self.document.name(op).strip_prefix("linalg.")?;
        let elements: Vec<&str> = self.document.operands(op).iter().map(|&value| self.element_text(value)).collect();
        // The output is the last operand.
        let (&output, inputs) = elements.split_last()?;
        let start = self.document.ops[op].span.start as usize;
        let text = self.source.get(start..self.previous.end())?;
        // `linalg.elementwise kind=#linalg.elementwise_kind<exp>`
        let kind = text.split_once("elementwise_kind<").and_then(|(_, rest)| rest.split('>').next());
        let unsigned = text.contains("<cast_unsigned>");
        dialect::named_linalg_body(kind.unwrap_or(name), inputs, output, unsigned)
    }

    /// The spelling of a value's element type, or of its type if it has no elements.
    fn element_text(&self, value: ValueId) -> &str {
        let Some(value) = self.document.values.get(value) else {
            return "?";
        };
        match self.document.types[value.ty].text {
            TypeText::Source(span) => {
                let inner = self.inner_type(span).unwrap_or(span);
                self.text(inner)
            }
            TypeText::Known(text) => text,
        }
    }

    /// Adds a region that the text leaves out. With `block` it has one block with the ops named in `body`, otherwise
    /// no block. The region has no text, so its span is empty.
    fn implicit_region(&mut self, op: OpId, body: Vec<&'static str>, block: bool) -> RegionId {
        let here = Span::new(self.previous.end(), self.previous.end());
        let region = self.document.regions.push(Region { parent: Some(op), span: here, blocks: PoolRange::default() });
        if !block {
            return region;
        }
        let block = self.document.blocks.push(Block {
            parent: region,
            label: Span::default(),
            arguments: PoolRange::default(),
            ops: PoolRange::default(),
        });
        let start = self.document.block_pool.len();
        self.document.block_pool.push(block);
        self.document.regions[region].blocks = pool_range(start, start + 1);
        // The ops of a block lie one behind the other in their pool.
        let ops: Vec<OpId> = body.into_iter().map(|name| self.implicit_op(Cow::Borrowed(name), block)).collect();
        let start = self.document.op_pool.len();
        self.document.op_pool.extend(ops);
        self.document.blocks[block].ops = pool_range(start, self.document.op_pool.len());
        region
    }

    /// Adds an op that the text leaves out, with an empty span where the text is being read.
    fn implicit_op(&mut self, name: Cow<'static, str>, parent: BlockId) -> OpId {
        let name = self.intern_name(name);
        let here = Span::new(self.previous.start(), self.previous.start());
        self.document.ops.push(Op::new(name, Form::Implicit, here, here, parent))
    }
}
