//! Which buffers may follow each other on the same bytes when the order of
//! execution is not fixed.
//!
//! With dependencies, any order of tasks that respects them may happen, so the
//! recorded lives are only one of many. Buffer y can take over the bytes of x
//! for certain only if everything that reads x has finished before y is
//! written: every reader's result is a strict ancestor of y.
//!
//! ```text
//!        ┌──► b ──┐          d may lie on a: both readers of a are done.
//!   a ───┤        ├──► d     d may not lie on b: d is being computed from it.
//!        └──► c ──┘          b and c must be disjoint: either may run first.
//! ```
//!
//! A buffer without readers, or one that a graph output also reads, is never known to be done. Two bit matrices are
//! computed: the strict descendants of every buffer, and for every buffer the intersection of its readers' descendants.
//! The matrices grow with the square of the number of buffers, hence [`Ordering::MAX_BUFFERS`].
//!
//! [`Dependencies`] have, for each buffer, the buffers that are computed from it (its children), and the buffers that
//! an output of the program reads.

use memplan_core::{BufferId, Dependencies, Id};

/// There are dependencies between more than [`Ordering::MAX_BUFFERS`] buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are dependencies between {count} buffers; at most {} are possible", Ordering::MAX_BUFFERS)]
pub struct TooManyBuffers {
    /// How many there are.
    pub count: usize,
}

/// For every buffer, the buffers that certainly start after its last use.
#[derive(Clone, Debug)]
pub struct Ordering {
    /// Row x, column y: y certainly starts after the last use of x.
    followers: Matrix,
}

impl Ordering {
    /// The most buffers a problem with dependencies may have here (two matrices of 128 MiB).
    pub const MAX_BUFFERS: usize = 1 << 15;

    /// Works out the order that dependencies enforce. The readers of a buffer are its children, so another buffer can
    /// follow it only if it is a strict descendant of every child: the sets of descendants are intersected. A buffer
    /// that an output of the program reads has a reader without a result here, so no buffer can follow it.
    pub fn of(dependencies: &Dependencies) -> Result<Ordering, TooManyBuffers> {
        let count = dependencies.children.len();
        if count > Ordering::MAX_BUFFERS {
            return Err(TooManyBuffers { count });
        }
        let descendants = descendants(dependencies);
        let mut followers = Matrix::new(count);
        for (buffer, children) in dependencies.children.iter_enumerated() {
            // A buffer without children keeps its empty row: it has no reader of which it is known that it is done.
            if let Some((&first, others)) = children.split_first() {
                followers.copy_row(buffer.index(), &descendants, first.index());
                for other in others {
                    followers.intersect_row(buffer.index(), &descendants, other.index());
                }
            }
        }
        for buffer in &dependencies.read_by_outputs {
            followers.clear_row(buffer.index());
        }
        Ok(Ordering { followers })
    }

    /// Whether, in every order of execution, the last use of one of the two buffers is before the start of the other.
    pub fn is_ordered(&self, one: BufferId, other: BufferId) -> bool {
        self.followers.has(one.index(), other.index()) || self.followers.has(other.index(), one.index())
    }
}

/// The strict descendants of every buffer: row x, column y says that y is computed from x, directly or not. Children
/// are done before their parents.
fn descendants(dependencies: &Dependencies) -> Matrix {
    let children = &dependencies.children;
    let mut parents: Vec<Vec<BufferId>> = vec![Vec::new(); children.len()];
    // By buffer: how many children are not done yet.
    let mut open_children = vec![0usize; children.len()];
    for (buffer, its_children) in children.iter_enumerated() {
        open_children[buffer.index()] = its_children.len();
        for child in its_children {
            parents[child.index()].push(buffer);
        }
    }
    let mut matrix = Matrix::new(children.len());
    let mut ready: Vec<BufferId> = children.ids().filter(|&buffer| children[buffer].is_empty()).collect();
    // A buffer is ready when the descendants of all its children are known. Its own are then its children and
    // everything below them.
    while let Some(buffer) = ready.pop() {
        for child in &children[buffer] {
            matrix.unite_row(buffer.index(), child.index());
            matrix.set(buffer.index(), child.index());
        }
        for parent in &parents[buffer.index()] {
            open_children[parent.index()] -= 1;
            if open_children[parent.index()] == 0 {
                ready.push(*parent);
            }
        }
    }
    matrix
}

/// A square bit matrix.
#[derive(Clone, Debug)]
struct Matrix {
    /// Words of 64 bits in a row.
    words: usize,
    /// Row after row.
    bits: Vec<u64>,
}

impl Matrix {
    /// All bits 0.
    fn new(count: usize) -> Matrix {
        let words = count.div_ceil(64);
        Matrix { words, bits: vec![0; words * count] }
    }

    fn row(&self, row: usize) -> &[u64] {
        &self.bits[row * self.words..(row + 1) * self.words]
    }

    fn row_mut(&mut self, row: usize) -> &mut [u64] {
        &mut self.bits[row * self.words..(row + 1) * self.words]
    }

    /// Whether a bit is set.
    fn has(&self, row: usize, column: usize) -> bool {
        self.row(row)[column / 64] >> (column % 64) & 1 == 1
    }

    fn set(&mut self, row: usize, column: usize) {
        self.row_mut(row)[column / 64] |= 1 << (column % 64);
    }

    fn clear_row(&mut self, row: usize) {
        self.row_mut(row).fill(0);
    }

    /// Adds the bits of another row to a row.
    fn unite_row(&mut self, row: usize, other: usize) {
        for word in 0..self.words {
            self.bits[row * self.words + word] |= self.bits[other * self.words + word];
        }
    }

    fn copy_row(&mut self, row: usize, from: &Matrix, other: usize) {
        self.row_mut(row).copy_from_slice(from.row(other));
    }

    /// Keeps only the bits of a row that a row of another matrix has as well.
    fn intersect_row(&mut self, row: usize, from: &Matrix, other: usize) {
        for (word, with) in self.row_mut(row).iter_mut().zip(from.row(other)) {
            *word &= with;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::IndexVec;

    fn ids(indices: &[usize]) -> Vec<BufferId> {
        indices.iter().map(|&index| BufferId::from_index(index)).collect()
    }

    fn ordering(children: &[&[usize]], outputs: &[usize]) -> Ordering {
        let children: IndexVec<BufferId, _> = children.iter().map(|list| ids(list)).collect();
        Ordering::of(&Dependencies { children, read_by_outputs: ids(outputs) }).unwrap()
    }

    fn pairs(ordering: &Ordering, count: usize) -> Vec<(usize, usize)> {
        let all = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        all.filter(|&(a, b)| ordering.is_ordered(BufferId::from_index(a), BufferId::from_index(b))).collect()
    }

    #[test]
    fn a_diamond_frees_its_top_only() {
        assert_eq!(pairs(&ordering(&[&[1, 2], &[3], &[3], &[]], &[]), 4), [(0, 3)]);
    }

    #[test]
    fn what_an_output_reads_is_never_done() {
        let chain: &[&[usize]] = &[&[1], &[2], &[3], &[]];
        assert_eq!(pairs(&ordering(chain, &[]), 4), [(0, 2), (0, 3), (1, 3)]);
        assert_eq!(pairs(&ordering(chain, &[0]), 4), [(1, 3)]);
    }

    #[test]
    fn too_many_buffers_are_refused() {
        let children = IndexVec::filled(Vec::new(), Ordering::MAX_BUFFERS + 1);
        let error = Ordering::of(&Dependencies { children, read_by_outputs: Vec::new() }).unwrap_err();
        assert!(error.to_string().contains("at most 32768"), "{error}");
    }
}
