//! How long the memory of a tensor is needed.
//!
//! A tensor lives from the step that writes it to the last step that reads it or
//! anything that lies in it: half-open, `[written, last read + 1)`. An op's operands
//! and its results are alive in the same step, so they never share bytes.
//!
//! ```text
//!   step   0 in = input   1 a = f(in)   2 v = reshape(a)   3 b = g(v)   4 return b
//!   in     [0, 2)                                          (or for ever, see below)
//!   a             [1, 4)                v lies in a, and is read in step 3
//!   b                                                      [3, 5)
//! ```
//!
//! A workspace lives from the first to the last op that uses it. A *pinned* tensor keeps
//! its content for the whole run: an input that the user may look at again, or gives only
//! once for many runs.

use memplan_core::IndexVec;

use super::network::{Network, Role, TensorId};

/// Steps `[start, end)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    /// First step alive.
    pub start: usize,
    /// First step no longer alive.
    pub end: usize,
}

impl Life {
    /// The shortest life that covers both.
    pub(super) fn with(self, other: Life) -> Life {
        Life { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// How long memory is needed, for each tensor. The entry of a tensor with memory of its own covers everything that
/// lies in that memory. The entry of a tensor that lies in another covers that tensor alone. `pinned` tensors live
/// for ever.
pub(super) fn lives(network: &Network, pinned: &[TensorId]) -> IndexVec<TensorId, Life> {
    let mut lives = own_lives(network);
    let forever = Life { start: 0, end: network.steps.len() };
    for &tensor in pinned {
        lives[tensor] = forever;
    }
    // The memory of a tensor is needed as long as any view of it is.
    for id in network.tensors.ids() {
        let (root, _) = network.root(id);
        if root != id {
            lives[root] = lives[root].with(lives[id]);
        }
    }
    lives
}

/// The life of each tensor by itself, without those that are views of it: from the step that defines it to the last
/// one that reads it. A workspace is memory that no op writes before its first user does, so it begins there.
fn own_lives(network: &Network) -> IndexVec<TensorId, Life> {
    let mut lives: IndexVec<TensorId, Life> =
        network.tensors.iter().map(|tensor| Life { start: tensor.defined, end: tensor.defined + 1 }).collect();
    // Workspaces that no op has used so far.
    let mut is_fresh: IndexVec<TensorId, bool> =
        network.tensors.iter().map(|tensor| tensor.role == Role::Workspace).collect();
    for (number, step) in network.steps.iter().enumerate() {
        for &tensor in &step.reads {
            if std::mem::take(&mut is_fresh[tensor]) {
                lives[tensor].start = number;
            }
            lives[tensor].end = lives[tensor].end.max(number + 1);
        }
    }
    lives
}

/// The tensors that must keep their content for the whole run: all inputs, unless their memory is used again after
/// their last read (`inputs_are_reused`), and the outputs of a network with several entry functions.
pub(super) fn pinned(network: &Network, inputs_are_reused: bool) -> Vec<TensorId> {
    let inputs = network.inputs.iter().filter(|_| !inputs_are_reused);
    // Entry functions may run in any order, so one that comes later in the text must not overwrite another's outputs.
    let outputs = network.outputs.iter().filter(|_| network.roots.len() > 1);
    inputs.chain(outputs).copied().collect()
}
