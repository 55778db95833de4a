//! Small blocks that were freed and wait for a request of the same size.
//!
//! A step asks for the same few small sizes over and over. Merging such a block with its free neighbours
//! and cutting it out again takes longer than everything else about the request, so a freed block is
//! parked by its size, and the next request of that size takes it as it is:
//!
//! ```text
//!  free 1 KiB ──▶ [512]  [1024: ▪▪ ]  [1536]  …  ──▶ allocate 1 KiB
//! ```
//! Parked blocks count as taken for the region they lie in. Before the region takes a new page, or gives
//! pages back, all of them return to it ([`Parked::drain`]); so parking never costs a page.

use crate::plan::ALIGNMENT;

/// Blocks by size; all sizes are multiples of the alignment.
#[derive(Debug, Default)]
pub(crate) struct Parked {
    /// The addresses of the blocks of each size: entry `n` has those of `n` times the alignment.
    by_size: Vec<Vec<u64>>,
}

impl Parked {
    /// The entry of a size.
    fn class(bytes: u64) -> usize {
        (bytes / ALIGNMENT) as usize
    }

    /// Parks a block.
    pub(crate) fn park(&mut self, address: u64, bytes: u64) {
        let class = Self::class(bytes);
        if self.by_size.len() <= class {
            self.by_size.resize(class + 1, Vec::new());
        }
        self.by_size[class].push(address);
    }

    /// The address of the block of this size that was parked last; `None` if none is parked.
    pub(crate) fn take(&mut self, bytes: u64) -> Option<u64> {
        self.by_size.get_mut(Self::class(bytes))?.pop()
    }

    /// All blocks with their sizes; none is parked any more.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let sized = self.by_size.iter_mut().enumerate();
        sized.flat_map(|(class, blocks)| blocks.drain(..).map(move |address| (address, class as u64 * ALIGNMENT)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_found_by_its_size_only() {
        let mut parked = Parked::default();
        parked.park(0, 1024);
        parked.park(4096, 512);
        parked.park(8192, 1024);
        assert_eq!((parked.take(1024), parked.take(1536)), (Some(8192), None));
        assert_eq!(parked.drain().collect::<Vec<_>>(), [(4096, 512), (0, 1024)]);
        assert_eq!((parked.take(512), parked.drain().count()), (None, 0));
    }
}
