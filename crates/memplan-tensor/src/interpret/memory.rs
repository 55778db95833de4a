//! Byte memory that knows which bytes were written.

use std::collections::HashMap;

/// Bytes of a page.
const PAGE: usize = 1024;

/// A piece of memory that appears as a whole when one of its bytes is written.
struct Page {
    data: [u8; PAGE],
    written: [bool; PAGE],
}

/// One allocation: pages appear when they are written, so a declared gigabyte costs nothing.
pub(super) struct Memory {
    /// Size in bytes.
    size: u64,
    /// The first [`NEAR_PAGES`] pages, by number, as far as one was written.
    near: Vec<Option<Box<Page>>>,
    /// All other pages that were written, by number.
    far: HashMap<u64, Box<Page>>,
}

/// How many pages, from the start of a memory, are kept in a plain vector (4 MiB); pages at higher addresses go to the
/// map.
const NEAR_PAGES: u64 = 4096;

impl Memory {
    pub(super) fn new(size: u64) -> Memory {
        Memory { size, near: Vec::new(), far: HashMap::new() }
    }

    /// Size in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The page of this number, if one of its bytes was written.
    fn page(&self, number: u64) -> Option<&Page> {
        if number < NEAR_PAGES {
            self.near.get(number as usize)?.as_deref()
        } else {
            self.far.get(&number).map(|page| &**page)
        }
    }

    /// A page to write to, made if it does not exist. Low pages lie in a list, which is fast; far ones lie in a map,
    /// so that one write at a high address costs one page and not a list up to there.
    fn page_mut(&mut self, number: u64) -> &mut Page {
        let fresh = || Box::new(Page { data: [0; PAGE], written: [false; PAGE] });
        if number >= NEAR_PAGES {
            return self.far.entry(number).or_insert_with(fresh);
        }
        let number = number as usize;
        if self.near.len() <= number {
            self.near.resize_with(number + 1, || None);
        }
        self.near[number].get_or_insert_with(fresh)
    }

    /// Writes a byte; the caller has checked the bounds.
    pub(super) fn write(&mut self, at: u64, byte: u8) {
        let page = self.page_mut(at / PAGE as u64);
        page.data[at as usize % PAGE] = byte;
        page.written[at as usize % PAGE] = true;
    }

    /// The byte, if it was ever written.
    pub(super) fn read(&self, at: u64) -> Option<u8> {
        let page = self.page(at / PAGE as u64)?;
        let offset = at as usize % PAGE;
        page.written[offset].then_some(page.data[offset])
    }
}
