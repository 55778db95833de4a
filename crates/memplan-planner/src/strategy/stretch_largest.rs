//! `stretch-largest`: take the largest free block; if it is too small, stretch it.
//!
//! Memory is a list of blocks, the last one endless. Buffers come as they
//! start. Blocks whose buffer has ended are free, free neighbours are one block.
//! A buffer takes the largest free block (the first of equals), the endless one
//! only if there is no other:
//!
//! - a larger block is split, the buffer in the lower part;
//! - a smaller one is stretched to the buffer's size, and everything above moves up.
//!
//! ```text
//!   a 4 [0,2)  b 4 [0,9)  c 6 [2,9)
//!
//!   after b:   |a   |b   |...        c finds the block of a, 2 bytes short:
//!   after c:   |c     |b   |...      b has moved from 4 to 6
//! ```
//!
//! So addresses are only known at the end, when nothing can move any more. They are read off backwards. The last list
//! of blocks gives the addresses of all buffers in it. A buffer that had ended before gets its address from the last
//! list that has it: just above the block below it, whose address is known. (Blocks only move up, so the blocks of that
//! list were no higher than those of later lists.) No list is stored: a log of all changes is undone step by step.
//!
//! O(n log n), and for each buffer a walk over the blocks while any is free.
//!
//! A [`Record`] is a buffer as a size and one stretch of time, named by its position in a list; [`padded`] rounds sizes
//! up to the common alignment, so that blocks side by side are aligned; a [`Packing`] has an offset for each record.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use memplan_core::{Outcome, Problem, patience};

use crate::records::{Packing, Record, by_start, padded, plan_offsets, supports_records};
use crate::{Assign, Feature, Request, Strategy};

/// See the module documentation.
pub struct StretchLargest;

impl Strategy for StretchLargest {
    fn name(&self) -> &'static str {
        "stretch-largest"
    }

    fn describe(&self) -> &'static str {
        "takes the largest free block, stretching it if it is too small"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Offsets]
    }

    fn supports(&self, feature: Feature, _: Assign) -> bool {
        supports_records(feature)
    }

    fn plan(&self, problem: &Problem, _: &Request) -> Outcome {
        plan_offsets(problem, |records| {
            let padded = padded(records)?;
            Some(Packing::tight(records, Blocks::of(&padded)?.addresses(records.len())))
        })
    }
}

type BlockId = usize;

/// The number of the lowest block. A block that is split stays the lower part, and one that is joined with its upper
/// neighbour takes it over, so this block stays the lowest.
const BOTTOM: BlockId = 0;

/// The size of the topmost block, which stands for the memory that is not used yet.
const ENDLESS: u64 = u64::MAX;

/// A stretch of memory, in a list from low to high.
struct Block {
    bytes: u64,
    /// The record in it; `None` if it is free.
    owner: Option<usize>,
    below: Option<BlockId>,
    above: Option<BlockId>,
}

/// What was done, to be undone.
enum Change {
    /// The block lost its record.
    Freed { block: BlockId, owner: usize },
    /// The block, which had `bytes` bytes before, took over its upper neighbour.
    Joined { block: BlockId, bytes: u64, neighbour: BlockId },
    /// The block, which was free and had `bytes` bytes before, got a record and its size.
    Taken { block: BlockId, bytes: u64 },
    /// The block gave its upper part to a new one.
    Split { block: BlockId, rest: BlockId },
}

/// All blocks, and the log of changes.
struct Blocks {
    /// By number. Blocks that were joined to others stay here, out of the list.
    blocks: Vec<Block>,
    /// The endless block.
    top: BlockId,
    /// How many are free, the endless one aside.
    free: usize,
    log: Vec<Change>,
}

impl Blocks {
    /// Runs through all records in the order of their starts. `None` if the caller's patience ends.
    fn of(records: &[Record]) -> Option<Blocks> {
        let endless = Block { bytes: ENDLESS, owner: None, below: None, above: None };
        let mut blocks = Blocks { blocks: vec![endless], top: BOTTOM, free: 0, log: Vec::new() };
        let mut in_use: BinaryHeap<Reverse<(u64, BlockId)>> = BinaryHeap::new();
        for index in by_start(records) {
            // The caller has stopped waiting (time limit, Ctrl-C): an unfinished plan is of no use.
            if patience::is_over() {
                return None;
            }
            let record = &records[index];
            // Lives are half-open: a record that ends at this step has ended.
            while let Some(&Reverse((end, block))) = in_use.peek() {
                if end > record.start {
                    break;
                }
                in_use.pop();
                blocks.release(block);
            }
            let block = blocks.largest_free();
            blocks.take(block, index, record.bytes);
            in_use.push(Reverse((record.end, block)));
        }
        Some(blocks)
    }

    /// Frees a block and joins it with free neighbours. Every change is logged, so that it can be undone.
    fn release(&mut self, block: BlockId) {
        let Some(owner) = self.blocks[block].owner.take() else { return };
        self.log.push(Change::Freed { block, owner });
        self.free += 1;
        let is_free = |block: &BlockId| self.blocks[*block].owner.is_none();
        let above = self.blocks[block].above.filter(is_free);
        let below = self.blocks[block].below.filter(is_free);
        if let Some(above) = above {
            self.join(block, above);
        }
        if let Some(below) = below {
            self.join(below, block);
        }
    }

    /// Makes one block of two free neighbours; `neighbour` is the upper one. The count `free` falls by one: either both
    /// were counted and become one, or only the lower one was, and it becomes part of the endless block.
    fn join(&mut self, block: BlockId, neighbour: BlockId) {
        let (bytes, above) = (self.blocks[block].bytes, self.blocks[neighbour].above);
        self.log.push(Change::Joined { block, bytes, neighbour });
        self.blocks[block].bytes = bytes.saturating_add(self.blocks[neighbour].bytes);
        self.link(block, above);
        self.free -= 1;
        if neighbour == self.top {
            self.top = block;
        }
    }

    /// Makes `above` the upper neighbour of a block.
    fn link(&mut self, block: BlockId, above: Option<BlockId>) {
        self.blocks[block].above = above;
        if let Some(above) = above {
            self.blocks[above].below = Some(block);
        }
    }

    /// The largest free block, the lowest of equals; the endless one if no other is free.
    fn largest_free(&self) -> BlockId {
        if self.free == 0 {
            return self.top;
        }
        let all = std::iter::successors(Some(BOTTOM), |&block| self.blocks[block].above);
        let free = all.filter(|&block| block != self.top && self.blocks[block].owner.is_none());
        let larger = |best: BlockId, other: BlockId| {
            if self.blocks[other].bytes > self.blocks[best].bytes { other } else { best }
        };
        free.reduce(larger).unwrap_or(self.top)
    }

    /// Gives a block to a record and splits off what is left of it. A block that is too small gets the record's size,
    /// which moves everything above it; no address is stored that would have to change. The topmost block is endless,
    /// so its rest is, too.
    fn take(&mut self, block: BlockId, owner: usize, bytes: u64) {
        let Block { bytes: had, above, .. } = self.blocks[block];
        self.log.push(Change::Taken { block, bytes: had });
        self.blocks[block].owner = Some(owner);
        self.blocks[block].bytes = bytes;
        if had > bytes {
            let rest = self.blocks.len();
            let left_over = if block == self.top { ENDLESS } else { had - bytes };
            self.blocks.push(Block { bytes: left_over, owner: None, below: None, above: None });
            self.link(rest, above);
            self.link(block, Some(rest));
            self.log.push(Change::Split { block, rest });
            if block == self.top {
                self.top = rest;
            }
        } else {
            self.free -= 1;
        }
    }

    /// Reads the addresses off. Stretching a block moves everything above it, so an address is final only at the end.
    /// The last list of blocks gives the addresses of the buffers that are in it; then the log is undone change by
    /// change, and a buffer that comes back into a block gets its address there.
    fn addresses(mut self, count: usize) -> Vec<u64> {
        let mut addresses = vec![0; count];
        // The last list, from the bottom up to the endless block.
        let mut end = 0;
        let mut next = Some(BOTTOM);
        while let Some(block) = next.filter(|&block| block != self.top) {
            if let Some(owner) = self.blocks[block].owner {
                addresses[owner] = end;
            }
            end += self.blocks[block].bytes;
            next = self.blocks[block].above;
        }
        // The changes, backwards.
        while let Some(change) = self.log.pop() {
            if let Some((block, owner)) = self.undo(&change) {
                addresses[owner] = self.end_below(block, &addresses);
            }
        }
        addresses
    }

    /// Undoes the newest change that has not been undone yet. Undoing `Freed` puts a record back into its block; then
    /// the two are returned, because the record's address is to be read off now. `free` and `top` are not restored:
    /// nobody asks for them any more.
    fn undo(&mut self, change: &Change) -> Option<(BlockId, usize)> {
        match *change {
            // The rest leaves the list. The size that the block had before is restored by undoing `Taken`, which was
            // logged just before the split.
            Change::Split { block, rest } => self.link(block, self.blocks[rest].above),
            Change::Taken { block, bytes } => {
                self.blocks[block].owner = None;
                self.blocks[block].bytes = bytes;
            }
            Change::Joined { block, bytes, neighbour } => {
                self.blocks[block].bytes = bytes;
                // The neighbour comes back into the list, directly above the block. Its own `above` was not changed
                // when it was joined; the block there has to point down to the neighbour again.
                let above = self.blocks[neighbour].above;
                self.link(neighbour, above);
                self.link(block, Some(neighbour));
            }
            Change::Freed { block, owner } => {
                self.blocks[block].owner = Some(owner);
                return Some((block, owner));
            }
        }
        None
    }

    /// Where a block starts: at the end of the next owned block below it, whose address is known, plus the bytes of
    /// free blocks in between.
    fn end_below(&self, block: BlockId, addresses: &[u64]) -> u64 {
        let mut between = 0;
        let mut next = self.blocks[block].below;
        while let Some(below) = next {
            let bytes = self.blocks[below].bytes;
            if let Some(owner) = self.blocks[below].owner {
                return addresses[owner] + bytes + between;
            }
            between += bytes;
            next = self.blocks[below].below;
        }
        between
    }
}
