//! The loop a buffer belongs to: the one whose iterations use it.
//!
//! That is the loop around its allocation, unless the loop only makes it for
//! another: what a loop (or a branch in it) yields is followed outward, and the
//! outermost loop that uses it directly is the one.
//!
//! ```text
//!   scf.for %i {                        the loop of %b
//!     %r = scf.for %j … {
//!       %b = memref.alloc() …
//!       scf.yield %b
//!     }
//!     hivm.hir.store ins(%r) …          used here
//!   }
//! ```

use std::collections::HashMap;

use crate::dialect::{Control, Flow, Traits};
use crate::{Definition, Document, OpId, ValueId};

/// How far a buffer is followed.
const LONGEST_CHAIN: usize = 1_000;

/// The ops that use each value, by which the home of a buffer is found.
pub(super) struct Homes<'a> {
    document: &'a Document,
    users: HashMap<ValueId, Vec<OpId>>,
}

impl<'a> Homes<'a> {
    pub(super) fn new(document: &'a Document, ops: impl IntoIterator<Item = OpId>) -> Homes<'a> {
        let mut users: HashMap<ValueId, Vec<OpId>> = HashMap::new();
        for op in ops {
            for &value in document.operands(op) {
                users.entry(value).or_default().push(op);
            }
        }
        Homes { document, users }
    }

    /// The loop that the buffer of this allocation belongs to. The buffer is followed from the region in which it is
    /// allocated outwards, as long as a terminator hands it on. The outermost loop with an op that really uses it is the
    /// answer; if no op does, it is the innermost loop around the allocation.
    pub(super) fn of(&self, allocation: ValueId) -> Option<OpId> {
        let mut value = allocation;
        let (mut innermost, mut consumer) = (None, None);
        for _ in 0..LONGEST_CHAIN {
            let Definition::Result { op, .. } = self.document.value(value).definition else { break };
            let Some(around) = self.loop_around(op) else { break };
            innermost = innermost.or(Some(around));
            let users = self.users.get(&value).map_or(&[][..], Vec::as_slice);
            if users.iter().any(|&user| self.is_real(user) && self.loop_around(user) == Some(around)) {
                consumer = Some(around);
            }
            let Some(next) = users.iter().find_map(|&user| self.handed_on(user, value)) else { break };
            value = next;
        }
        consumer.or(innermost)
    }

    /// The innermost loop around an op.
    fn loop_around(&self, op: OpId) -> Option<OpId> {
        let parents = std::iter::successors(self.document.parent_op(op), |&op| self.document.parent_op(op));
        parents.into_iter().find(|&op| self.document.info(op).control == Control::Loop)
    }

    /// Whether a user does something with the value, other than handing it on or marking it.
    fn is_real(&self, user: OpId) -> bool {
        let ends = self.document.info(user).traits.has(Traits::RETURN_LIKE);
        !ends && !matches!(self.document.name(user), "scf.condition" | "annotation.mark")
    }

    /// The result that a value becomes because this op ends the region it is in.
    fn handed_on(&self, terminator: OpId, value: ValueId) -> Option<ValueId> {
        let document = self.document;
        let parent = document.parent_op(terminator)?;
        let at = document.operands(terminator).iter().position(|&operand| operand == value)?;
        let at = match document.info(parent).flow {
            Flow::Carried | Flow::Yields if !self.is_real(terminator) => at,
            Flow::While if document.name(terminator) == "scf.condition" => at.checked_sub(1)?,
            _ => return None,
        };
        document.results(parent).get(at).copied()
    }
}
