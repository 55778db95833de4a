//! Buffers whose address an op has handed out, so that it may be used at any later time.
//!
//! ```text
//!   scf.for … {
//!     %a = memref.alloc()
//!     hivm.hir.load ins(%g) outs(%a)      the next iteration fills %a anew …
//!     acme.keep %a                        … while somebody has its address, and may read the old content
//!   }
//! ```
//!
//! With an allocation, every iteration has another `%a`, and the old content stays as it is. A fixed address would be
//! the same for all of them. So `plan-memory` refuses these buffers.

use std::collections::{HashMap, HashSet};

use memplan_core::IndexVec;
use memplan_program::{AccessKind, BlockId, Control, OpId, RegionId, SiteId, Target};

use super::KernelView;
use crate::pass::PassError;

impl KernelView<'_> {
    /// Refuses planned buffers whose address an op hands out (it *escapes*), if the program may come to the buffer's
    /// allocation again afterwards and fill it anew. The address may be used at any time, so the old content would
    /// have to stay.
    pub(super) fn refuse_handed_out(
        &self,
        planned: impl Iterator<Item = SiteId>,
        names: &IndexVec<SiteId, String>,
    ) -> Result<(), PassError> {
        let program = &self.lowered.program;
        let mut is_planned = IndexVec::filled(false, program.sites().len());
        planned.for_each(|site| is_planned[site] = true);
        for (op, info) in program.ops().iter_enumerated() {
            for access in info.accesses.iter().filter(|access| access.kind == AccessKind::Escape) {
                let mut sites = self.aliases.sites(access.value).iter().filter(|&&site| is_planned[site]);
                if let Some(&site) = sites.find(|&&site| self.is_met_again(site, op)) {
                    let span = self.document.op(self.lowered.ops[op]).span;
                    let message = format!(
                        "the address of {} is handed out here, and the next time round it is filled anew: no fixed address will do",
                        names[site]
                    );
                    return Err(PassError::Op { span, message });
                }
            }
        }
        Ok(())
    }

    /// Whether the program may come again from an op to a buffer's allocation: through a loop around both, or through
    /// branches between blocks.
    fn is_met_again(&self, site: SiteId, from: OpId) -> bool {
        let program = &self.lowered.program;
        let Some(alloc) = program.alloc_op(site) else { return false };
        let region = |op: OpId| program.block(program.op(op).block).region;
        let outward = |op: OpId| std::iter::once(op).chain(program.ancestors(op));
        // For each region around the allocation, the op of the region that contains the allocation (or is it).
        let around: HashMap<RegionId, OpId> = outward(alloc).map(|op| (region(op), op)).collect();
        let repeats = |op: OpId| !matches!(program.op(op).control(), Control::Once | Control::Alternatives { .. });
        outward(from).any(|op| {
            // In a region around both, `op` contains the op and `other` contains the allocation. If they are one op
            // that may run its region again, that is a loop around both.
            let Some(&other) = around.get(&region(op)) else { return false };
            let loops = op == other && op != alloc && repeats(op);
            loops || self.leads_to(program.op(op).block, program.op(other).block)
        })
    }

    /// Whether branches lead from one block to another, over any number of blocks. A block leads to itself only if
    /// branches come back to it.
    fn leads_to(&self, from: BlockId, to: BlockId) -> bool {
        let program = &self.lowered.program;
        let mut seen = HashSet::new();
        let mut stack = vec![from];
        while let Some(block) = stack.pop() {
            for branch in &program.block(block).branches {
                if let Target::Block(next) = branch.target {
                    if next == to {
                        return true;
                    }
                    if seen.insert(next) {
                        stack.push(next);
                    }
                }
            }
        }
        false
    }
}
