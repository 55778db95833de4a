//! The address of each rectangle, and two questions about a new one: which gap has room for it ([`Board::room`]), and
//! at which address does ejecting others cost least ([`Board::make_room`])? A rectangle is named by its *rank*, its
//! position in [`Rectangles`]; addresses and sizes are counted in the units of that file.
//!
//! Both questions look at the *neighbours* of a rectangle, those that are placed and alive at the same time, in the
//! order of their addresses:
//!
//! ```text
//!    address   0    2    4    6    8   10         x is 3 high.
//!    neighbours [aaaa]  [bbb][c]    [dddd]        Room: none (gaps of 1 and 2).
//!    cost          9      6   1        8          Cheapest: on b's end, which costs c = 1:
//!                            [xxxxxx]             c is ejected, x goes to 7.
//! ```
//!
//! *Cheapest* needs no look at every address. Suppose that x slides down until it touches the end of a neighbour (or
//! the bottom). On the way x meets no new neighbour, because x meets a neighbour below only after passing that
//! neighbour's end. So the cost has not grown, and only 0 and the ends of neighbours (rounded up to the alignment) are
//! candidates. One walk over sorted starts and sorted ends finds the cost of each candidate.
//!
//! The cost of ejecting a neighbour is its weight (how hard it is to place) times its penalty (how often it found no
//! room before). A question takes work in proportion to the number of neighbours, which are gathered and sorted.
//!
//! A [`Conflicts`] is an index of stretches of time by rank: it lists the ranks of those that are placed and meet a
//! given stretch.

use super::super::random::Random;
use super::rectangles::{NOWHERE, Rectangles};
use crate::conflicts::Conflicts;
use crate::tuning::{EJECTION_NOISE, PLACEMENT};

/// Which rectangle lies where. See the module documentation.
#[derive(Clone)]
pub(super) struct Board<'a> {
    pub(super) rectangles: &'a Rectangles,
    /// By rank; [`NOWHERE`] for rectangles that are not placed.
    pub(super) addresses: Vec<u32>,
    /// Lists the ranks of the placed rectangles that are alive between two times.
    placed: Conflicts,
    /// By rank: one more than how often a rectangle found no room. The more often, the dearer it is to eject.
    penalties: Vec<u16>,
    /// Neighbours looked at so far, and a little for each placement.
    pub(super) work: u64,
    /// The neighbours that the last question has gathered.
    neighbours: Neighbours,
}

/// A penalty never grows above this, so that sums of costs stay below 2^64.
const HIGHEST_PENALTY: u16 = 1 << 12;

impl<'a> Board<'a> {
    /// All rectangles at their addresses.
    pub(super) fn filled(rectangles: &'a Rectangles, addresses: Vec<u32>) -> Board<'a> {
        Board {
            rectangles,
            addresses,
            placed: Conflicts::full(rectangles.starts.clone(), &rectangles.ends),
            penalties: vec![1; rectangles.len()],
            // Putting all rectangles down counts as a look at each of them.
            work: rectangles.len() as u64,
            neighbours: Neighbours::default(),
        }
    }

    /// Places a rectangle that has no place.
    pub(super) fn put(&mut self, rank: usize, address: u32) {
        debug_assert!(self.addresses[rank] == NOWHERE, "a rectangle is placed once");
        self.addresses[rank] = address;
        self.placed.insert(rank, self.rectangles.ends[rank]);
    }

    /// Takes a rectangle out.
    pub(super) fn take(&mut self, rank: usize) {
        debug_assert!(self.addresses[rank] != NOWHERE, "only what is placed can be taken");
        self.addresses[rank] = NOWHERE;
        self.placed.remove(rank);
    }

    /// Where a placed rectangle ends.
    pub(super) fn end(&self, rank: usize) -> u32 {
        self.addresses[rank].saturating_add(self.rectangles.sizes[rank])
    }

    /// The lowest address in the tightest gap between the neighbours in which a rectangle fits and ends at `ceiling` at
    /// most; `None` if there is no such gap.
    pub(super) fn room(&mut self, rank: usize, ceiling: u32) -> Option<u32> {
        self.gather(rank);
        let rectangles = self.rectangles;
        let size = u64::from(rectangles.sizes[rank]);
        let highest = u64::from(ceiling).checked_sub(size)?;
        let alignment = u64::from(rectangles.alignments[rank]);
        // The size of the tightest gap so far, and its address. `address` is where the present gap begins: above all
        // neighbours so far, aligned. The gap ends where the next neighbour starts; the last one ends at the ceiling.
        let mut best: Option<(u64, u64)> = None;
        let mut address = 0;
        let past_all = (u64::from(ceiling), None);
        let Neighbours { all, by_start, .. } = &self.neighbours;
        let starts = by_start.iter().map(|&key| (u64::from(high_half(key)), Some(&all[low_half(key)])));
        for (start, neighbour) in starts.chain([past_all]) {
            // From here on the rectangle would end above the ceiling.
            if address > highest {
                break;
            }
            if start >= address + size && best.is_none_or(|(least, _)| start - address < least) {
                best = Some((start - address, address));
            }
            if let Some(neighbour) = neighbour {
                address = address.max(u64::from(neighbour.end).next_multiple_of(alignment));
            }
        }
        best.map(|(_, address)| address as u32)
    }

    /// Puts a rectangle where ejecting the neighbours in its way costs least, takes these out and lists them in
    /// `ejected`. [`Board::room`] must just have been asked for the same rectangle: the neighbours that it gathered are
    /// used. If the rectangle is larger than the ceiling, or if neighbours at fixed addresses (*pinned* ones) leave no
    /// place, nothing changes and the result is `false`.
    pub(super) fn make_room(&mut self, rank: usize, ceiling: u32, random: &mut Random, ejected: &mut Vec<u32>) -> bool {
        let Some(address) = self.cheapest(rank, ceiling, random) else { return false };
        self.penalties[rank] = (self.penalties[rank] + 1).min(HIGHEST_PENALTY);
        // The neighbours that have bytes in `low..high`. `cheapest` has made sure that the end is at most the ceiling,
        // so the sum does not wrap.
        let (low, high) = (address, address + self.rectangles.sizes[rank]);
        ejected.clear();
        for &key in self.neighbours.by_start.iter().take_while(|&&key| high_half(key) < high) {
            let neighbour = &self.neighbours.all[low_half(key)];
            if neighbour.end > low {
                ejected.push(neighbour.rank);
            }
        }
        ejected.iter().for_each(|&other| self.take(other as usize));
        self.put(rank, address);
        true
    }

    /// Collects the neighbours of a rectangle and sorts them by address.
    fn gather(&mut self, rank: usize) {
        let Board { rectangles, addresses, placed, neighbours, .. } = self;
        let Neighbours { all, by_start, .. } = neighbours;
        all.clear();
        by_start.clear();
        placed.for_each(rectangles.starts[rank], rectangles.ends[rank], |other| {
            by_start.push(key(addresses[other], all.len()));
            let end = addresses[other].saturating_add(rectangles.sizes[other]);
            all.push(Neighbour { rank: other as u32, end, cost: 0, is_pinned: false });
        });
        by_start.sort_unstable();
        self.work += PLACEMENT + by_start.len() as u64;
    }

    /// The address at which the neighbours in the way cost least and the rectangle ends at the ceiling at most;
    /// `None` if pinned neighbours leave no address. A random part is added to costs, so that two rectangles do not
    /// eject each other again and again.
    fn cheapest(&mut self, rank: usize, ceiling: u32, random: &mut Random) -> Option<u32> {
        let size = self.rectangles.sizes[rank];
        let highest = ceiling.checked_sub(size)?;
        let alignment = u64::from(self.rectangles.alignments[rank]);
        let Board { rectangles, penalties, neighbours, .. } = self;
        let Neighbours { all, by_start, by_end } = neighbours;
        // The candidates are 0 and the ends of neighbours. An end above `highest` is no candidate; and no candidate
        // lies above it, so such a neighbour never leaves (see below).
        by_end.clear();
        for (number, neighbour) in all.iter_mut().enumerate() {
            let other = neighbour.rank as usize;
            neighbour.cost = cost(other, rectangles, penalties);
            neighbour.is_pinned = rectangles.is_pinned[other];
            if neighbour.end <= highest {
                by_end.push(key(neighbour.end, number));
            }
        }
        by_end.sort_unstable();
        self.work += by_start.len() as u64;

        // While candidates go up, the rectangle's upper end meets more neighbours, which enter, and its lower end
        // passes others, which leave. `best` is the least cost so far and its address.
        let mut in_the_way = InTheWay::default();
        let (mut entered, mut left) = (0, 0);
        let mut best: Option<(u64, u32)> = None;
        for candidate in std::iter::once(0).chain(by_end.iter().map(|&key| high_half(key))) {
            let address = u64::from(candidate).next_multiple_of(alignment);
            if address > u64::from(highest) {
                break;
            }
            let address = address as u32;
            while let Some(&key) = by_start.get(entered).filter(|&&key| high_half(key) < address + size) {
                in_the_way.enter(&all[low_half(key)]);
                entered += 1;
            }
            while let Some(&key) = by_end.get(left).filter(|&&key| high_half(key) <= address) {
                in_the_way.leave(&all[low_half(key)]);
                left += 1;
            }
            // The noise is drawn only for candidates that would be better without it: noise only adds to a cost.
            if in_the_way.pinned == 0 && best.is_none_or(|(least, _)| in_the_way.cost < least) {
                let cost = in_the_way.cost + random.below(in_the_way.cost / EJECTION_NOISE + 1);
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, address));
                }
            }
        }
        best.map(|(_, address)| address)
    }
}

/// What a rectangle at some address would have to eject.
#[derive(Default)]
struct InTheWay {
    cost: u64,
    pinned: u32,
}

impl InTheWay {
    fn enter(&mut self, neighbour: &Neighbour) {
        self.cost += neighbour.cost;
        self.pinned += u32::from(neighbour.is_pinned);
    }

    fn leave(&mut self, neighbour: &Neighbour) {
        self.cost -= neighbour.cost;
        self.pinned -= u32::from(neighbour.is_pinned);
    }
}

/// What it costs to eject a rectangle. Below 2^31 · 2^12 each, so a sum over 2^20 neighbours fits.
fn cost(rank: usize, rectangles: &Rectangles, penalties: &[u16]) -> u64 {
    u64::from(rectangles.weights[rank]) * u64::from(penalties[rank])
}

/// What a question has to know about a neighbour. It is copied here, so that some hundred neighbours lie side by side
/// and stay in the processor's cache while they are looked up in the order of addresses.
#[derive(Clone, Copy)]
struct Neighbour {
    rank: u32,
    end: u32,
    /// These two are only filled in by the second question, [`Board::cheapest`].
    cost: u64,
    is_pinned: bool,
}

/// Scratch memory for one question.
#[derive(Clone, Default)]
struct Neighbours {
    all: Vec<Neighbour>,
    /// Keys of the neighbours, sorted: by the address where each starts, and by the one where it ends.
    by_start: Vec<u64>,
    by_end: Vec<u64>,
}

/// An address and a position in [`Neighbours::all`] in one number, so that sorting numbers sorts by address.
fn key(address: u32, position: usize) -> u64 {
    u64::from(address) << 32 | position as u64
}

/// The address of a key.
fn high_half(key: u64) -> u32 {
    (key >> 32) as u32
}

/// The position of a key.
fn low_half(key: u64) -> usize {
    key as u32 as usize
}
