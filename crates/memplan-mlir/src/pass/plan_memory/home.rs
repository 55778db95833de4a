//! The *home* of a buffer (not the home of the glossary): the loop whose iterations use the buffer. If two buffers of
//! different loops share bytes, pipes wait for each other less often than with two buffers of one loop, so the planner
//! wants to know the home.
//!
//! A buffer that a loop (or a branch in it) yields is followed outwards. Its home is the outermost loop in which an op
//! uses the buffer directly: with no further loop between the two. If no op does, its home is the innermost loop around
//! its allocation. A use in a loop further inside does not count, because the original, whose levels depend on the
//! home, does not count it.
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

use memplan_core::{Id, IndexVec};

use crate::dialect::{Control, Flow, Traits};
use crate::{Definition, Document, OpId, ValueId};

/// The largest number of values through which a buffer is followed outwards. Real kernels have a few; the bound ends
/// the walk in any case.
const MOST_VALUES: usize = 1_000;

/// The ops that use each value, by which the home of a buffer is found.
pub(super) struct Homes<'a> {
    document: &'a Document,
    /// The ops that have a value as an operand, value by value.
    users: Vec<OpId>,
    /// Where the users of each value end in `users`. Those of the next value begin there.
    ends: IndexVec<ValueId, u32>,
}

impl<'a> Homes<'a> {
    pub(super) fn new(document: &'a Document, ops: impl IntoIterator<Item = OpId> + Clone) -> Homes<'a> {
        let uses =
            || ops.clone().into_iter().flat_map(|op| document.operands(op).iter().map(move |&value| (op, value)));
        // First the users of each value are counted, which says where they begin in the list. Then they are put there.
        let mut ends: IndexVec<ValueId, u32> = IndexVec::filled(0, document.value_ids().len());
        uses().for_each(|(_, value)| ends[value] += 1);
        let mut sum = 0;
        for end in ends.iter_mut() {
            sum += std::mem::replace(end, sum);
        }
        let mut users = vec![OpId::from_index(0); sum as usize];
        for (op, value) in uses() {
            users[ends[value] as usize] = op;
            ends[value] += 1;
        }
        Homes { document, users, ends }
    }

    /// The ops that have a value as an operand, in the order of the program.
    fn users(&self, value: ValueId) -> &[OpId] {
        let begin = value.index().checked_sub(1).map_or(0, |before| self.ends[ValueId::from_index(before)]);
        &self.users[begin as usize..self.ends[value] as usize]
    }

    /// The loop that the buffer of this allocation belongs to. The buffer is followed from the region in which it is
    /// allocated outwards, as long as a terminator hands it on. The answer is the outermost loop in which an op uses it
    /// directly (see the module documentation); if no op does, it is the innermost loop around the allocation.
    /// `None` if there is no loop around the allocation.
    pub(super) fn of(&self, allocation: ValueId) -> Option<OpId> {
        let Definition::Result { op, .. } = self.document.value(allocation).definition else { return None };
        let innermost = self.loop_around(op)?;
        // The outermost loop so far in which an op uses the buffer directly.
        let mut consumer = None;
        // The values that are the buffer: the allocation and, further outwards, the results that it becomes where a
        // terminator hands it on. It may become several results of one op (`scf.yield %b, %b`).
        let mut values = vec![allocation];
        let mut seen = 0;
        while let Some(&value) = values.get(seen).filter(|_| seen < MOST_VALUES) {
            seen += 1;
            let Definition::Result { op, .. } = self.document.value(value).definition else { continue };
            let Some(around) = self.loop_around(op) else { continue };
            let users = self.users(value);
            // The innermost loop around the user must be the one around the value: a user in a nested loop is skipped.
            if users.iter().any(|&user| self.is_real(user) && self.loop_around(user) == Some(around)) {
                consumer = Some(consumer.map_or(around, |inner| self.outer(inner, around)));
            }
            for next in users.iter().flat_map(|&user| self.handed_on(user, value)) {
                if !values.contains(&next) {
                    values.push(next);
                }
            }
        }
        Some(consumer.unwrap_or(innermost))
    }

    /// Of two loops around one allocation, the outer one.
    fn outer(&self, one: OpId, other: OpId) -> OpId {
        let mut around_one = std::iter::successors(self.loop_around(one), |&op| self.loop_around(op));
        if around_one.any(|op| op == other) { other } else { one }
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

    /// The results of the op around that `value` becomes, if `terminator` ends a region and hands the value out of it;
    /// none for any other user. The n-th operand of a yield becomes the n-th result. `scf.condition` has its condition
    /// in front of the values that it hands out, so the position is one less.
    fn handed_on(&self, terminator: OpId, value: ValueId) -> impl Iterator<Item = ValueId> {
        let document = self.document;
        let parent = document.parent_op(terminator);
        // How many operands stand in front of those that are handed on; `None` if none is.
        let in_front = parent.and_then(|parent| match document.info(parent).flow {
            // A mark may stand in such a region, too. It hands nothing on.
            Flow::Carried | Flow::Yields if document.info(terminator).traits.has(Traits::RETURN_LIKE) => Some(0),
            Flow::While if document.name(terminator) == "scf.condition" => Some(1),
            _ => None,
        });
        let results = parent.map_or(&[][..], |parent| document.results(parent));
        let handed = document.operands(terminator).iter().skip(in_front.unwrap_or(usize::MAX));
        handed.zip(results).filter(move |&(&operand, _)| operand == value).map(|(_, &result)| result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialects;

    /// A mark in a loop with results is no yield, although it has the buffer as its first operand.
    #[test]
    fn a_mark_hands_nothing_on() {
        let text = "func.func @f(%n: index, %x: memref<8xf32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          scf.for %i = %c0 to %n step %c1 {
            %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<8xf32>) {
              %b = memref.alloc() : memref<8xf32>
              annotation.mark %b {flag} : memref<8xf32>
              scf.yield YIELDED : memref<8xf32>
            }
            memref.copy %r, %x : memref<8xf32> to memref<8xf32>
          }
          return
        }";
        // Whether the home of `%b` is the outer loop.
        let is_outer = |yielded: &str| {
            let document = Document::read(&text.replace("YIELDED", yielded), Dialects::builtin()).unwrap();
            let loops: Vec<OpId> = document.op_ids().filter(|&op| document.name(op) == "scf.for").collect();
            let alloc = document.op_ids().find(|&op| document.name(op) == "memref.alloc").unwrap();
            let homes = Homes::new(&document, document.op_ids().collect::<Vec<_>>());
            let home = homes.of(document.results(alloc)[0]).unwrap();
            assert!(loops.contains(&home));
            home == loops[0]
        };
        assert!(is_outer("%b"));
        assert!(!is_outer("%a"));
    }
}
