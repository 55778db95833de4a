//! `pool`: a free object of about the right size, large enough or made to grow.
//!
//! The storage entries of a loop-program compiler. Buffers are visited as they
//! start; objects whose buffer has ended wait in a pool. A buffer of n bytes takes
//!
//! 1. the smallest waiting object of n to 16 n bytes, of equal ones the one that has waited longest;
//! 2. else the largest one of n/16 to n bytes, which grows to n, of equal ones the one that has waited shortest;
//! 3. else a new object.
//!
//! The window keeps a large object from being tied up by something tiny:
//!
//! ```text
//!   a 256 [0,1)   b 4096 [1,2)     one object: 4096 is 16 times 256, it grows
//!   a 256 [0,1)   b 4100 [1,2)     two objects
//! ```
//!
//! Sizes only known at run time share with equal ones, the one that has waited longest
//! first. Every memory space has a pool of its own. O(n log n).
//!
//! What the original also looks at is not in a problem: element types (an object
//! grows only for its own), and where in the loop nest an allocation stands.
//!
//! A [`Record`] is a buffer as a size and one stretch of time; a [`Sharing`] says which record uses which object.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};

use memplan_core::{Bytes, Outcome, Problem, Size, patience};

use crate::records::{Record, by_start, supports_records};
use crate::sharing::{Sharing, plan_sharing};
use crate::{Assign, Feature, Request, Strategy};

/// How many times larger or smaller an object may be.
const WINDOW: u64 = 16;

/// See the module documentation.
pub struct Pool;

impl Strategy for Pool {
    fn name(&self) -> &'static str {
        "pool"
    }

    fn describe(&self) -> &'static str {
        "a free object within 16 times the size, growing if it is too small"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Objects, Assign::Offsets]
    }

    fn supports(&self, feature: Feature, assign: Assign) -> bool {
        match feature {
            Feature::UnboundedSymbols => assign == Assign::Objects,
            other => supports_records(other),
        }
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        plan_sharing(problem, request.assign, |records| Entries::default().share(records))
    }
}

/// The objects, and those of them that no live buffer uses.
#[derive(Default)]
struct Entries<'p> {
    /// By object.
    sizes: Vec<Size>,
    /// Waiting objects: bytes, when they began to wait, number.
    waiting: BTreeSet<(u64, usize, usize)>,
    /// Waiting objects whose size is a symbol.
    symbolic: HashMap<&'p str, VecDeque<usize>>,
    /// How many have begun to wait so far.
    count: usize,
}

impl<'p> Entries<'p> {
    /// Gives the records their objects, in the order of their starts; objects of ended records wait in the pool.
    /// `None` if the caller's patience ends.
    fn share(mut self, records: &[Record<'p>]) -> Option<Sharing> {
        let mut object_of = vec![0; records.len()];
        let mut in_use: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        for index in by_start(records) {
            // The caller has stopped waiting (time limit, Ctrl-C): an unfinished plan is of no use.
            if patience::is_over() {
                return None;
            }
            let record = &records[index];
            while let Some(&Reverse((_, ended))) = in_use.peek().filter(|Reverse((end, _))| *end <= record.start) {
                // Heaps of `Reverse` give the smallest first: the record that ends first.
                in_use.pop();
                self.release(object_of[ended], &records[ended]);
            }
            object_of[index] = self.take(record);
            in_use.push(Reverse((record.end, index)));
        }
        Some(Sharing { object_of, sizes: self.sizes })
    }

    /// An object for a record: one from the pool that is large enough, one that grows, or a new one.
    fn take(&mut self, record: &Record<'p>) -> usize {
        // Objects of a symbolic size serve only records of the same symbol, because sizes in bytes are not known.
        if let Some(symbol) = symbol(record) {
            let waiting = self.symbolic.get_mut(symbol).and_then(VecDeque::pop_front);
            return waiting.unwrap_or_else(|| self.add(record.size.clone()));
        }
        let size = Size::Fixed(Bytes(record.bytes));
        match self.large_enough(record.bytes).or_else(|| self.growing(record.bytes)) {
            Some(entry) => {
                self.waiting.remove(&entry);
                let (bytes, _, object) = entry;
                if bytes < record.bytes {
                    self.sizes[object] = size;
                }
                object
            }
            None => self.add(size),
        }
    }

    /// Makes a new object.
    fn add(&mut self, size: Size) -> usize {
        self.sizes.push(size);
        self.sizes.len() - 1
    }

    /// The smallest waiting object of n to 16 n bytes.
    fn large_enough(&self, bytes: u64) -> Option<(u64, usize, usize)> {
        let most = bytes.saturating_mul(WINDOW);
        self.waiting.range((bytes, 0, 0)..).next().copied().filter(|&(size, _, _)| size <= most)
    }

    /// The largest waiting object of n/16 bytes to less than n.
    fn growing(&self, bytes: u64) -> Option<(u64, usize, usize)> {
        // A sixteenth of the size, counted in bits and rounded down, as the original does.
        let least = u128::from(bytes) * 8 / u128::from(WINDOW);
        let is_near = |&(size, _, _): &(u64, usize, usize)| u128::from(size) * 8 >= least;
        self.waiting.range(..(bytes, 0, 0)).next_back().copied().filter(is_near)
    }

    /// Gives the object back that `record` has used. Objects of symbolic size wait by their symbol, all others by their
    /// bytes, which are known, and their age.
    fn release(&mut self, object: usize, record: &Record<'p>) {
        match symbol(record) {
            Some(symbol) => self.symbolic.entry(symbol).or_default().push_back(object),
            None => {
                let bytes = self.sizes[object].bytes().unwrap_or_default().0;
                self.waiting.insert((bytes, self.count, object));
                self.count += 1;
            }
        }
    }
}

/// The symbol of a size without an upper bound; `None` for all other sizes.
fn symbol<'p>(record: &Record<'p>) -> Option<&'p str> {
    match record.size {
        Size::Symbolic { symbol, at_most: None } => Some(symbol),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Buffer, Lifetime, ProblemBuilder};

    /// Buffers one after the other, as sizes; the object of each, and the objects' sizes.
    fn shared(lives: &[(u64, u64, u64)]) -> (Vec<usize>, Vec<u64>) {
        let mut builder = ProblemBuilder::new();
        for (number, &(size, start, end)) in lives.iter().enumerate() {
            builder.buffer(Buffer::new(number.to_string(), size, Lifetime::new(start, end)));
        }
        let problem = builder.build().unwrap();
        let request = Request { assign: Assign::Objects, ..Request::default() };
        let outcome = crate::plan(&Pool, &problem, &request).unwrap();
        let plan = outcome.plan().unwrap();
        let object =
            |place: &Option<memplan_core::Placement>| memplan_core::Id::index(place.as_ref().unwrap().object.unwrap());
        let sizes = plan.objects.iter().map(|object| object.size.bytes().unwrap().0).collect();
        (plan.placements.iter().map(object).collect(), sizes)
    }

    fn in_turn(sizes: &[u64]) -> (Vec<usize>, Vec<u64>) {
        let lives: Vec<_> = sizes.iter().zip(0..).map(|(&size, step)| (size, step, step + 1)).collect();
        shared(&lives)
    }

    #[test]
    fn the_window_is_sixteen_times() {
        assert_eq!(in_turn(&[256, 4096]), (vec![0, 0], vec![4096]));
        assert_eq!(in_turn(&[256, 4100]), (vec![0, 1], vec![256, 4100]));
        assert_eq!(in_turn(&[4096, 256]), (vec![0, 0], vec![4096]));
        assert_eq!(in_turn(&[4100, 256]), (vec![0, 1], vec![4100, 256]));
        assert_eq!(in_turn(&[200, 400, 400]), (vec![0, 0, 0], vec![400]));
    }

    #[test]
    fn large_enough_comes_before_growing() {
        let (objects, sizes) = shared(&[(8, 0, 1), (32, 0, 1), (16, 1, 2)]);
        assert_eq!((objects, sizes), (vec![0, 1, 1], vec![8, 32]));
    }

    #[test]
    fn equal_objects_first_in_or_last_in() {
        // Freed in the order 0, 1; a fit takes the first, growth the last.
        assert_eq!(shared(&[(32, 0, 1), (32, 0, 2), (16, 2, 3)]).0, [0, 1, 0]);
        assert_eq!(shared(&[(32, 0, 1), (32, 0, 2), (64, 2, 3)]).0, [0, 1, 1]);
    }

    #[test]
    fn symbols_share_with_equal_symbols() {
        let mut builder = ProblemBuilder::new();
        for (number, symbol) in ["n", "m", "n"].into_iter().enumerate() {
            let size = Size::Symbolic { symbol: symbol.into(), at_most: None };
            let step = number as u64;
            builder.buffer(Buffer { size, ..Buffer::new(number.to_string(), 0, Lifetime::new(step, step + 1)) });
        }
        let request = Request { assign: Assign::Objects, ..Request::default() };
        let problem = builder.build().unwrap();
        let outcome = crate::plan(&Pool, &problem, &request).unwrap();
        assert_eq!(outcome.plan().unwrap().objects.len(), 2);
    }
}
