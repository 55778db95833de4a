//! Marks on buffers of NPU kernels: `annotation.mark %v {…}`.
//!
//! | attribute | meaning |
//! |---|---|
//! | `hivm.multi_buffer = N : i32` | N slots, used in turn by the iterations of the loop around |
//! | `hivm.preload_local_buffer = 1` | filled ahead: in use during all of the loop around the mark |
//! | `mem_unique` | shares memory with nobody |
//! | `buffer_size_in_byte = N : i64` | it never takes more than N bytes, whatever its shape is at run time |
//! | `hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<ID>` | the same memory as the buffer of that number
//! on the other core |
//!
//! A mark speaks of the allocation behind its value. The value may be a view or a cast of it, an argument or a result
//! of a loop that starts with it, or a result of a branch (the first region counts). Of workspaces a mark gives only
//! the number of slots and the largest size, and only if it names the workspace itself.
//!
//! An NPU has two kinds of cores, for matrices (*cube*) and for vectors. A *scope* is one of the memories of an NPU,
//! such as `ub`, the buffer of the vector core, or `cbuf`, the buffer of the cube core.

use memplan_core::{Bytes, MAX_SLOTS};
use memplan_program::{AccessKind, Size};

use super::*;
use crate::dialect::Relation;
use crate::document::{Definition, NameKind};

/// How many values a chain from a view back to its allocation may have.
const LONGEST_CHAIN: usize = 10_000;

/// Which core a kernel's function runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Core {
    /// The matrix core.
    Cube,
    /// The vector core.
    Vector,
    /// Either or both.
    Any,
}

impl Document {
    /// The name of an NPU memory scope: `ub` of `#hivm.address_space<ub>`.
    pub(crate) fn scope_name(space: &str) -> Option<&str> {
        space.strip_prefix("#hivm.address_space<")?.strip_suffix('>')
    }

    /// The allocation that a value is, or is a part of. The walk goes back from the value through views, casts, loops
    /// and branches to an op that allocates. `None` if it comes to another end: a function argument, a select, an op
    /// of which nothing is known.
    pub(crate) fn marked_allocation(&self, value: ValueId) -> Option<ValueId> {
        let mut value = value;
        // The chain from a value to its allocation is short in real kernels. The limit ends the walk if values of a
        // faulty text go round in a circle.
        for _ in 0..LONGEST_CHAIN {
            let (op, index) = match self.value(value).definition {
                Definition::Result { op, index } => (op, index as usize),
                Definition::Argument { block, index } => {
                    let parent = self.block_parent(block)?;
                    value = self.loop_init(parent, self.arguments(block).len(), index as usize)?;
                    continue;
                }
                Definition::Unresolved => return None,
            };
            let info = self.info(op);
            if info.traits.has(Traits::ALLOCATES) {
                return Some(value);
            }
            value = match info.flow {
                // A branch may hand out a different buffer on each side. The mark is taken to speak of the first
                // side's.
                Flow::Yields => {
                    let block = *self.blocks(*self.regions(op).first()?).first()?;
                    *self.operands(*self.ops(block).last()?).get(index)?
                }
                // A loop's result stands for the value that the loop starts with, one of the last operands.
                Flow::Carried => {
                    let inits = self.operands(op).len().checked_sub(self.results(op).len())?;
                    *self.operands(op).get(inits + index)?
                }
                _ if self.name(op) == "bufferization.to_tensor" => *self.operands(op).first()?,
                // An op that only renames memory has one alias rule. If the result may be one of several operands, the
                // mark has no single allocation to speak of.
                _ => {
                    let rule = info.aliases.first().filter(|rule| rule.relation != Relation::Either)?;
                    // The first operand that the rule names is the memory that the result is.
                    *self.operands(op)[self.select(op, &rule.from)].first()?
                }
            };
        }
        None
    }

    /// The operand that the argument at `index` of a loop's body is in the first iteration; `arguments` is how many
    /// the body has. `None` for the loop's index and for ops that are no loop.
    fn loop_init(&self, op: OpId, arguments: usize, index: usize) -> Option<ValueId> {
        let operands = self.operands(op);
        match self.info(op).flow {
            Flow::Carried => {
                // Carried values are the last arguments and the last operands, as many as there are results.
                let carried = self.results(op).len();
                let at = index.checked_sub(arguments.checked_sub(carried)?)?;
                operands.get(operands.len().checked_sub(carried)? + at).copied()
            }
            Flow::While => operands.get(index).copied(),
            _ => None,
        }
    }

    /// The function around an op.
    pub(crate) fn function_around(&self, op: OpId) -> Option<OpId> {
        let mut around = Some(op);
        while let Some(op) = around {
            if self.info(op).traits.has(Traits::FUNCTION) {
                return Some(op);
            }
            around = self.parent_op(op);
        }
        None
    }

    /// The core that a function says it runs on; `Any` if it says nothing.
    pub(crate) fn core(&self, function: OpId) -> Core {
        match self.attribute(function, "hivm.func_core_type") {
            Some(text) if text.contains("<AIC>") => Core::Cube,
            Some(text) if text.contains("<AIV>") => Core::Vector,
            _ => Core::Any,
        }
    }

    /// Whether a scope is the memory of the other core than the one that a function runs on.
    pub(crate) fn is_foreign(core: Core, scope: &str) -> bool {
        matches!((core, scope), (Core::Cube, "ub") | (Core::Vector, "cbuf"))
    }

    /// The number of a tightly coupled buffer that a mark gives: 3 of `#hivm.tightly_coupled_buffer<3>`; `None` if
    /// the mark gives none. A buffer with the same number on the other core is the same memory.
    pub(crate) fn coupling(&self, mark: OpId) -> Option<u64> {
        let text = self.attribute(mark, "hivm.tightly_coupled_buffer")?;
        let (_, rest) = text.split_once('<')?;
        let digits: String =
            rest.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    }
}

impl Lowering<'_> {
    /// Writes what a mark says about its buffer into the buffer's site. Does nothing for all other ops.
    pub(super) fn mark(&mut self, op: OpId) {
        let document = self.document;
        if !document.kind(op).is(NameKind::MARK) {
            return;
        }
        let Some(&value) = document.operands(op).first() else { return };
        let Some(allocation) = self.marked(value) else { return };
        // The plan does not place this buffer if it has no value in the program, or (below) no site.
        let Some(id) = self.values.get(allocation) else { return };
        let slots = document.integer_attribute(op, "hivm.multi_buffer");
        // One slot is what a buffer has without a mark.
        let slots = slots.and_then(|slots| u32::try_from(slots).ok()).filter(|&slots| slots > 1);
        let preload = document.integer_attribute(op, "hivm.preload_local_buffer").is_some_and(|flag| flag != 0);
        let around = self.preloading_loop(op, allocation);
        let unique = document.attribute(op, "mem_unique").is_some();
        let coupled = document.coupling(op);
        let at_most = document.integer_attribute(op, "buffer_size_in_byte");
        let at_most = at_most.and_then(|bytes| u64::try_from(bytes).ok()).map(Bytes);
        let Some(site) = self.builder.site_mut(id) else { return };
        // The mark bounds a size that is known at run time only. A constant size is exact already and needs no bound.
        if let (Size::Symbolic { bound, .. }, Some(at_most)) = (&mut site.size, at_most) {
            *bound = Some(bound.map_or(at_most, |bytes| bytes.min(at_most)));
        }
        // A later mark counts in place of an earlier one. Fewer slots than asked for are right, if slower: the loop
        // uses as many in turn as it finds addresses.
        if let Some(slots) = slots {
            site.slots = slots.min(MAX_SLOTS);
        }
        // All other marks are about on-chip memory and mean nothing for a workspace.
        if self.subject == Subject::Workspaces {
            return;
        }
        // The loop that takes the next slot in each iteration: here the one that preloads. For other buffers with slots
        // it follows from where they are allocated.
        if preload && around.is_some() {
            site.preload = true;
            site.rotation = around;
        }
        site.exclusive |= unique;
        site.coupled = coupled.or(site.coupled);
    }

    /// The allocation that a mark on this value speaks of. A workspace must be named itself.
    fn marked(&self, value: ValueId) -> Option<ValueId> {
        match self.subject {
            Subject::Buffers | Subject::Kernels => self.document.marked_allocation(value),
            Subject::Workspaces => self.defining_op(value).filter(|&op| self.is_workspace(op)).map(|_| value),
        }
    }

    fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.document.value(value).definition {
            Definition::Result { op, .. } => Some(op),
            _ => None,
        }
    }

    /// The loop that a preload mark speaks of: the innermost loop around the mark, or else around the allocation.
    /// `None` if the buffer is allocated outside of that loop: then it is in use during all of the loop without a
    /// mark.
    fn preloading_loop(&self, mark: OpId, allocation: ValueId) -> Option<program::OpId> {
        let allocating = self.defining_op(allocation)?;
        let marked = self.loops_around(mark).next();
        let around = self.loops_around(allocating).find(|&around| marked.is_none_or(|marked| marked == around))?;
        // Ops are lowered in the order of the text, so the list from the program's ops to the document's is sorted.
        self.ops.as_slice().binary_search(&around).ok().map(program::OpId::from_index)
    }

    /// The loops around an op, the innermost first.
    fn loops_around(&self, op: OpId) -> impl Iterator<Item = OpId> + use<'_> {
        let parents = std::iter::successors(self.document.parent_op(op), |&op| self.document.parent_op(op));
        parents.filter(|&op| matches!(self.document.name(op), "scf.for" | "scf.while"))
    }

    /// What a mark that couples a buffer does to it. The other core fills a coupled buffer, and no op of this core
    /// shows that. So in the function that owns the buffer the mark itself counts as an update of it.
    pub(super) fn mark_accesses(&self, op: OpId) -> Vec<(ValueId, AccessKind)> {
        let document = self.document;
        // The coupled buffer of the mark and its access; `None` if the mark couples nothing, if the buffer belongs to
        // the other core, or if the buffer is not in the program.
        let marked = || {
            document.coupling(op)?;
            let allocation = document.marked_allocation(*document.operands(op).first()?)?;
            let space = document.ty(allocation).as_memref()?.space.as_deref()?;
            let core = document.core(document.function_around(op)?);
            let foreign = Document::is_foreign(core, Document::scope_name(space)?);
            (!foreign && self.values.get(allocation).is_some()).then_some((allocation, AccessKind::Update))
        };
        if document.name(op) == "annotation.mark" { marked().into_iter().collect() } else { Vec::new() }
    }
}
