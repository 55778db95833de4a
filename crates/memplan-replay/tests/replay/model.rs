//! The truth about memory: which allocation owns which byte.

use std::collections::BTreeMap;
use std::sync::Arc;

use memplan_replay::allocator::Allocator;
use memplan_replay::backing::Host;
use memplan_replay::lane::{Granted, rounded};

/// Owners by first byte; two of them never share one.
#[derive(Default)]
pub(crate) struct Owners {
    ends: BTreeMap<u64, u64>,
}

impl Owners {
    /// Notes a new owner of bytes and fails if one of them has an owner already.
    pub(crate) fn acquire(&mut self, address: u64, bytes: u64) {
        let end = address + rounded(bytes).unwrap();
        if let Some((&start, &other)) = self.ends.range(..end).next_back() {
            assert!(other <= address, "{address:#x}..{end:#x} was given away, but {start:#x}..{other:#x} is in use");
        }
        self.ends.insert(address, end);
    }

    pub(crate) fn release(&mut self, address: u64) {
        assert!(self.ends.remove(&address).is_some(), "{address:#x} has no owner");
    }
}

/// An allocator over host memory whose every answer is held against the truth.
pub(crate) struct Watched {
    pub(crate) host: Arc<Host>,
    pub(crate) allocator: Allocator,
    pub(crate) owners: Owners,
}

impl Watched {
    pub(crate) fn new(capacity: u64) -> Self {
        let host = Arc::new(Host::new(capacity));
        Self { host: host.clone(), allocator: Allocator::new(host), owners: Owners::default() }
    }

    pub(crate) fn allocate(&mut self, bytes: u64, stream: u64) -> Granted {
        let granted = self.allocator.allocate(bytes, 0, stream).unwrap();
        assert_eq!(granted.address % 512, 0);
        self.owners.acquire(granted.address, bytes);
        let frames = self.host.frames(granted.address, bytes);
        assert!(frames.iter().all(|(_, frame)| frame.is_some()), "{:#x} lies on no page", granted.address);
        granted
    }

    pub(crate) fn free(&mut self, address: u64, stream: u64) {
        self.owners.release(address);
        assert!(self.allocator.free(address, 0, stream));
    }

    /// Every byte in use lies on a physical page, and bytes on different pages lie on different ones.
    pub(crate) fn check_pages(&self) {
        let mut pages = BTreeMap::new();
        for (&address, &end) in &self.owners.ends {
            for (page, frame) in self.host.frames(address, end - address) {
                let frame = frame.unwrap_or_else(|| panic!("{address:#x}..{end:#x} has lost the page {page:#x}"));
                let other = *pages.entry(frame).or_insert(page);
                assert_eq!(other, page, "two pages in use are the same memory");
            }
        }
    }

    /// A number from the report of a lane or the device.
    pub(crate) fn fact(&self, name: &str) -> u64 {
        let report = self.allocator.report();
        let (_, rest) = report.split_once(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{name} in {report}"));
        rest.split([',', '}']).next().and_then(|digits| digits.parse().ok()).unwrap()
    }
}
