//! The nesting of a program's ops, ready for questions about ancestors.
//!
//! Ids of ops grow in program order, an op before those inside it. So an op and
//! everything inside it is a contiguous range of ids, and "is inside" is a
//! comparison. Ancestors at a given depth are found by jump pointers: besides
//! its parent every op knows one far ancestor, chosen so that any climb takes
//! O(log depth) jumps.

use memplan_core::{Id, IndexVec};
use memplan_program::{FunctionId, OpId, Program};

/// Depths, ranges and ancestors of the ops of a program.
#[derive(Clone, Debug, Default)]
pub struct OpTree {
    nodes: IndexVec<OpId, Node>,
    /// First and last op of each function; `None` without ops.
    functions: IndexVec<FunctionId, Option<(OpId, OpId)>>,
}

/// What is known about one op.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The op whose region the op is in; `None` directly in a function body.
    parent: Option<OpId>,
    /// The jump pointer: an ancestor, near or far. An op directly in a function body points to itself.
    jump: OpId,
    /// How many ops are around the op.
    depth: u32,
    /// The last op inside the op, or the op itself.
    last: OpId,
}

impl OpTree {
    /// Looks at a whole program once: from the first op to the last for parents, depths and jumps, then backwards for
    /// the last op inside each.
    pub fn new(program: &Program) -> OpTree {
        let mut nodes = IndexVec::<OpId, Node>::new();
        let mut functions = IndexVec::filled(None, program.functions().len());
        for op in program.ops().ids() {
            let parent = program.parent(op);
            let (depth, jump) = match parent {
                None => (0, op),
                Some(parent) => (nodes[parent].depth + 1, jump_from(&nodes, parent)),
            };
            nodes.push(Node { parent, jump, depth, last: op });
            // Ops come in program order, so the last one that is met is the last of its function.
            let range = functions[program.function_of(op)].get_or_insert((op, op));
            range.1 = op;
        }
        // Backwards, so that the last op inside an op is known before it is passed on to the parent.
        for op in program.ops().ids().rev() {
            let Node { parent, last, .. } = nodes[op];
            if let Some(parent) = parent {
                nodes[parent].last = nodes[parent].last.max(last);
            }
        }
        OpTree { nodes, functions }
    }

    /// The last op inside `op`, or itself.
    pub fn last_inside(&self, op: OpId) -> OpId {
        self.nodes[op].last
    }

    /// Whether `inner` is `outer` or inside it.
    pub fn contains(&self, outer: OpId, inner: OpId) -> bool {
        outer <= inner && inner <= self.nodes[outer].last
    }

    /// First and last op of a function; `None` if it has no ops.
    pub fn function_range(&self, function: FunctionId) -> Option<(OpId, OpId)> {
        self.functions[function]
    }

    /// The op whose region this op is in.
    pub fn parent(&self, op: OpId) -> Option<OpId> {
        self.nodes[op].parent
    }

    /// The ancestor of `op` (or itself) directly inside `outer`'s regions; with
    /// no outer op, directly in the function body. `op` must be inside `outer`.
    pub fn child_towards(&self, outer: Option<OpId>, op: OpId) -> OpId {
        let depth = outer.map_or(0, |outer| self.nodes[outer].depth + 1);
        self.ancestor_at(op, depth)
    }

    /// The innermost op that has both inside it; `None` if that is the function.
    pub fn around_both(&self, one: OpId, other: OpId) -> Option<OpId> {
        let mut around = self.nodes[one].parent;
        // Climb from the parent of the one. A jump is safe if its target does not contain the other, because then
        // nothing between the two does; otherwise go one level up.
        while let Some(op) = around.filter(|&op| !self.contains(op, other)) {
            let jump = self.nodes[op].jump;
            around = if jump != op && !self.contains(jump, other) { Some(jump) } else { self.nodes[op].parent };
        }
        around
    }

    /// The op of this depth around `op`, or `op` itself if it is no deeper. Jumps over several levels make the number
    /// of steps logarithmic in the depth.
    fn ancestor_at(&self, mut op: OpId, depth: u32) -> OpId {
        while self.nodes[op].depth > depth {
            let Node { parent, jump, .. } = self.nodes[op];
            // The jump is taken unless it would lead past the depth that is asked for; then one level up.
            op = match parent {
                Some(_) if jump != op && self.nodes[jump].depth >= depth => jump,
                Some(parent) => parent,
                None => return op,
            };
        }
        op
    }
}

/// The jump pointer of a child of `parent`. The parent jumps to `near`, and `near` jumps to `far`. If both jumps pass
/// over the same number of levels, the child jumps to `far`, else only to its parent. (`near != far` leaves out the ops
/// directly in a function body, which jump to themselves.) This is the rule of a skew-binary number system. Ops of the
/// depths 1, 2, 3, 4, … jump to the depths 0, 1, 0, 3, …, and every climb takes O(log depth) jumps.
fn jump_from(nodes: &IndexVec<OpId, Node>, parent: OpId) -> OpId {
    let near = nodes[parent].jump;
    let far = nodes[near].jump;
    let depth = |op: OpId| nodes[op].depth;
    if depth(parent) - depth(near) == depth(near) - depth(far) && near != far { far } else { parent }
}

/// Position of an op among all ops, as a number.
pub(crate) fn position(op: OpId) -> u64 {
    op.index() as u64
}
