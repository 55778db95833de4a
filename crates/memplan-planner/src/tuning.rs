//! Every number that was chosen by trying: its value, why there is such a number, and what was measured.
//!
//! A test sees to it that no other file of the search has a constant of its own; limits of arithmetic
//! (sums that must not wrap) are no tuning and stay where they matter.
//!
//! "Measured" names the command or test that shows what a value does. "Swept" is what `tests/tuning/sweep.py` prints:
//! one constant is halved, then doubled, and the instances on which the planner uses it are planned again. The line
//! says for how many of them the extent became larger and smaller, the mean of the extents over the peaks before and
//! after, and all work together compared with before. Where nothing is said about one of these, it stayed the same.
//! There are three sweeps, all of them on the half of the instances that `memplan bench ablation` calls *tuning*; the
//! other half is kept for judging the result (docs/search.md):
//!
//! - plain: 33 instances of the corpus and generated ones, `--work 5000`;
//! - long: 45 instances, with `--dir` the folder that has MiniMalloc's, training and GPU instances, `--work 25000`;
//! - deep: MiniMalloc's D, G and J, 200,000 units each.
//!
//! Numbers that make no difference to any of these have been removed, except those that keep unusual problems from
//! taking for ever; their comments say what happens without them.
//!
//! Words: a *jigsaw* is a generated problem that can be packed without any gap, a *kernel* a generated one with many
//! features; A to K are the instances of the MiniMalloc benchmark, and a *lift* is one of them with prices for reuse.
//! The *width* of an item is its number of sections. "50,000/500" is a random problem of 50,000 buffers with 500 alive.

// How much work.

/// What `Effort::Quick` may spend on top of the first plan: a tenth of a second.
/// Measured: a unit is 1 to 7 µs of processor time (`cargo run --release -p memplan-planner --example unit_cost`).
/// MiniMalloc's I takes 24,698 units, and 30,000 to be sure of its share.
pub(crate) const QUICK_WORK: u64 = 30_000;
/// What `Effort::Normal` may spend: two to three seconds of one ordinary core.
/// Measured: MiniMalloc's D, the hardest instance of the corpus that is solved at all, takes 377,232, and J reaches
/// 1030144 between 550,000 and 600,000 (`memplan bench corpus --only minimalloc --dir .`).
pub(crate) const NORMAL_WORK: u64 = 600_000;
/// What `Effort::Thorough` may spend: about a minute and a half where one core does it all.
/// Measured: MiniMalloc's J improves until about a third of it.
pub(crate) const THOROUGH_WORK: u64 = 24_000_000;
/// What the reduction of a witness may spend on top, so that a proof found at the last moment is still made readable.
/// Measured: every witness of `exact_search.rs` and `search.rs` among the tests becomes irreducible within it.
pub(crate) const WITNESS_WORK: u64 = 200_000;

// What costs how much: what one unit of work (about 4 µs) pays for.

/// Obstacles that a placement looks at for one unit of work. Measured: processor time of first fit with 20 to 1,000
/// alive, 0.4 µs for 20 obstacles, 3.5 µs for 100; `unit_cost`: 1.8 to 2.8 µs for each unit in the stages `orders` and
/// `peak-first`. Swept (with 128) long on 45 instances: half of it 2 larger, 0 smaller, work
/// 109.9 %; twice as much 0 larger, 1 smaller, work 96.2 %.
pub(crate) const OBSTACLES_PER_UNIT: u64 = 160;
/// What a placement costs besides its obstacles, in obstacles: half a microsecond. Measured: as above. Swept long on
/// 45 instances: half of it 2 larger, 2 smaller (1.00852 → 1.00863), work 98.1 %; twice as much 1 larger, 3 smaller
/// (1.00852 → 1.00858), work 103.4 %.
pub(crate) const PLACEMENT: u64 = 16;
/// Widths that nodes of the canonical search look at for one unit of work; what else they do counts as widths, too
/// (the next five numbers). Measured with `unit_cost`: 3.2 to 5.5 µs for each unit on jigsaws of 150 to 3,000, random
/// buffers, and buffers with slots, pauses and alignments. Where only the widths of a node counted, it was 0.9 to 112
/// µs.
pub(crate) const WIDTHS_PER_UNIT: u64 = 16_384;
/// What a node of the canonical search does besides looking at items and sections, in widths. Measured: as above; half
/// a microsecond.
pub(crate) const NODE_WIDTHS: u64 = 2_000;
/// What a node does for each item of its part, in widths. Measured: as above; 15 ns.
pub(crate) const ITEM_WIDTHS: u64 = 60;
/// What a node does for each section of its part, in widths. Measured: as above; 2 ns.
pub(crate) const SECTION_WIDTHS: u64 = 8;
/// Comparing an item with a forced one, in widths. Measured: as above; 2 ns.
pub(crate) const SCAN_WIDTHS: u64 = 8;
/// Comparing an item with a forced or a placed one where items have several spans, in widths. Measured: as above; with
/// 8 a unit takes 6.7 µs on 3,000 buffers with slots and pauses.
pub(crate) const SPANS_WIDTHS: u64 = 32;
/// Comparing two items takes the exact search as long as looking at so many widths.
/// Measured: in a training step with 2,000 alive a node that compares 2,000 fixed items with 3,000 others takes 6 ms, a
/// width 0.25 ns.
pub(crate) const WIDTHS_PER_COMPARISON: u64 = 4;
/// What nodes of the general search look at (inequalities, choices, jobs of cliques) for one unit of work. Measured
/// with `unit_cost` and 700 looks: 4.8 to 5.0 µs for each unit on kernels of 80, 120 and 250, and 2.0 to 6.6 µs where
/// buffers have a choice of spaces; with 400 that is 2.8 µs, and 1.1 to 3.8 µs. Where a node cost a unit for every 20
/// pieces it was 0.14 to 2.4 µs. With 700, kernels that stay open took 3.5 times as long under normal effort.
pub(crate) const LOOKS_PER_UNIT: u64 = 400;
/// Jobs of cliques of which a lower bound of an assignment sums up the lengths in the time of one look. Measured: as
/// above; without it a unit takes 0.7 µs on 200 buffers in 20 spaces.
pub(crate) const SUMMED_PER_LOOK: u64 = 4;
/// Making the model of a space takes as long as looking at each of its choices so many times. Measured: as above; with
/// 60 a unit takes 9 µs on 200 buffers in 3 spaces, with 16 it takes 20 µs.
pub(crate) const MODEL_LOOKS: u64 = 120;
/// Pieces among which a repair finds the highest one for one unit of work. It keeps repairs of nothing from being free.
pub(crate) const PIECES_PER_UNIT: u64 = 20;
/// In repairs: making a slab of a piece, and an instance of the slab, takes as long as looking at so many pieces.
/// Measured: without it repairing 100,000 buffers with 300 alive took three times its budget. Swept on 3 instances:
/// half of it work 98.8 %; twice as much work 102.5 %.
pub(crate) const SLAB_LOOKS: u64 = 10;
/// Placements after which the clock is looked at: a few milliseconds at most. No plan depends on it.
pub(crate) const PLACEMENTS_PER_GLANCE: usize = 1024;

// Placing, and the portfolio.

/// If more rectangles than this are alive, on average, where another one starts, a placement keeps the taken bytes
/// merged into ranges; with fewer it lists the rectangles in its way, which is faster then.
/// Measured: with 100 random buffers alive listing is 2.5 times faster; on training steps with 350 alive merging is 3
/// times faster, with 5,000 about 16 times (`cargo bench -p memplan-planner --bench scale`).
pub(crate) const MERGED_ALIVE: u64 = 300;
/// With so many rectangles or more, those of each period of time are kept sorted by their bytes. No plan depends on it.
/// Measured: first fit of 100, 300 and 1,000 random buffers with 10, 20 and 30 alive takes 11, 25 and 33 % fewer
/// instructions than with a list of obstacles, best fit 5, 11 and 11 % (`valgrind --tool=callgrind`).
pub(crate) const MANY_RECTANGLES: usize = 64;
/// So many rectangles start in a period of time, on average, or more: the list of a period has memory of its own, which
/// does not pay for two or three. No plan depends on it. Measured: first fit of a chain of 160,000 buffers takes 0.08 s
/// of processor time, where it took 0.14 s with lists of obstacles.
pub(crate) const PERIOD_RECTANGLES: u64 = 32;
/// So many pieces are read from memory together before they are placed one by one. No plan depends on it. Measured: of
/// 10^6 random buffers the reads of a placement that is not prepared take 0.5 s (`perf record`).
pub(crate) const PIECES_FETCHED: usize = 32;
/// First fit walks over the unsorted obstacles of a piece so many times before it sorts the rest. No plan depends on
/// it. Measured: a hundred random obstacles take ten walks on average; on 10^6 buffers all walks take 1.2 s of
/// processor time, sorting took 1.65 to 1.85 s (`perf record memplan plan`; docs/benchmarks.md).
pub(crate) const WALKS_BEFORE_SORTING: usize = 24;
/// Up to this many obstacles of a piece are sorted at once, without walks before: the sort of so few is an insertion
/// sort, which is quick. No plan depends on it.
pub(crate) const FEW_OBSTACLES: usize = 20;
/// Below this many pieces one thread is as fast: it has placed them before the second one is busy.
/// Measured: 50,000 buffers with 100 alive take 0.13 s on two cores (`cargo bench -p memplan-planner --bench scale`).
pub(crate) const PARALLEL_PIECES: usize = 50_000;
/// Two threads place what lives before and after a cut in time. At most one piece in so many may live across the cut,
/// because all that has to be placed before them is placed by one thread; with more, pieces are placed in the order in
/// which they come. No plan depends on it.
pub(crate) const PIECES_PER_CROSSING: usize = 500;
/// With more unrelated pieces only the first order is placed at once, then the plan is repaired; the other orders
/// follow if that was not enough. Measured: `what_any_strategy_solves_costs_auto_no_more_than_twice_its_work`. Swept
/// on 33 instances: half of it 1 larger, 0 smaller (1.01427 → 1.01439), work 109.2 %; twice as much 6 larger, 0
/// smaller (1.01427 → 1.02080), work 99.6 %.
pub(crate) const ONE_ORDER_PIECES: usize = 1500;
/// A first plan that is above the bound by more than one part in so many of it is not repaired before other orders
/// were tried. Measured: on a recorded GPU generation step (cuda/generate, 56,426 buffers) the first order ends at
/// 1.80 times the bound and the next one at 1.0003; repairing the first takes 347,000 units and ends at 1.21
/// (`memplan plan -v generate.csv`). Swept on 29 instances: half of it no difference; twice as much 1 larger, 1
/// smaller (1.00909 → 1.00904), work 105.6 %.
pub(crate) const REPAIRABLE: u64 = 8;

// When a stage applies.

/// With more pieces no flat instance is small enough for the canonical search. Measured: follows from
/// [`MOST_DIVE_WIDTHS`].
pub(crate) const MOST_EXACT_PIECES: usize = 32_000;
/// With more pieces the peak is placed first before the canonical search, even if that could take them all: a few
/// passes are much less than what it would spend. Measured: resnet50 (1,042 buffers) is settled by such passes. Without
/// the limit MiniMalloc's A takes 2,068 units instead of 418, E 3,142 instead of 1,842, and I and J end larger
/// (`--effort quick`).
pub(crate) const MANY_PIECES: usize = 500;
/// Up to this many pieces the general search gets a part of the work even if all is flat, and the canonical search
/// stays with whole searches, doubling their nodes every round until one ends with a plan or a proof. With more
/// pieces no proof may take more than eight times 3 n + 50 nodes, so that most of the work is left for finding plans.
/// Measured: without the general search's part, `pairs_of_features_are_exact` and `all_features_together_are_exact`
/// among the tests end without a proof.
pub(crate) const FEW_PIECES: usize = 40;
/// What the general search may spend once a plan fits its capacities, which is an answer: 8 ms to find out whether it
/// is the smallest. Measured: kernels of 20 or 30 buffers take 50 nodes on average, of 45 buffers 500.
pub(crate) const QUICK_PROOF: u64 = 2000;
/// Larger problems are not given to the general search: it has a choice for every pair that meets. Measured: of sixty
/// kernels with 120 buffers, eight stay open after 20,000 nodes.
pub(crate) const MOST_GENERAL_PIECES: usize = 300;
/// Most stretches of lives and whole buffers that the general search compares with each other; a group of ties is one
/// piece with many of them. Measured: making the model of a group of 500 ties (1,000 stretches and buffers) takes 0.1
/// s, of 2,000 ties 6 s.
pub(crate) const MOST_GENERAL_JOBS: usize = 1200;
/// Most widths that all nodes of one dive of the canonical search (from the root to a plan) may look at, or the
/// instance is too large for it: a few hundred milliseconds. Measured: 0.3 ns each.
pub(crate) const MOST_DIVE_WIDTHS: u64 = 1_000_000_000;
/// Extra sections that keep exclusive pieces apart from others are quadratic in number; with more entries than this
/// there is no flat instance. Measured: 3,000 exclusive
/// buffers beside 3,000 that are never alive take 0.04 s, and 1.24 s without the limit.
pub(crate) const MOST_EXTRA_SECTIONS: usize = 200_000;

// The canonical search: rounds, orders, climbing.

/// Least number of nodes for an attempt of the first rounds. Measured: A, B, C, F, H, K of MiniMalloc's take fewer
/// than 2,400 in all. Swept deep on 3 instances: half of it work 99.3 %; twice as much 1 larger, 0 smaller (1.01865
/// → 1.02661), work 102.2 %.
pub(crate) const FIRST_ROUND_NODES: u64 = 1200;
/// Rounds that go through the plain orders, two orders each: there are eight. Swept on 7 instances: half of it work
/// 100.1 %; twice as much no difference.
pub(crate) const PLAIN_ROUNDS: u64 = 4;
/// Rounds without success after which the step down from the best plan is halved. Swept deep on 3 instances: half of
/// it no difference; twice as much 1 larger, 1 smaller (1.01865 → 1.02038).
pub(crate) const ROUNDS_PER_STEP: u64 = 3;
/// Attempts per round, whatever the number of threads; also the number of extents that are asked for side by side.
pub(crate) const ATTEMPTS: u64 = 4;
/// Orders (parents) that are improved side by side for one extent. Swept deep on 3 instances: half of it 0 larger, 1
/// smaller (1.01865 → 1.01830); twice as much no difference.
pub(crate) const POPULATION: usize = 4;
/// New random orders before any is improved. Swept deep on 2 instances: half of it 1 larger, 0 smaller (1.02797 →
/// 1.02952); twice as much 1 larger, 0 smaller (1.02797 → 1.02849).
pub(crate) const FIRST_NEWBORNS: u64 = 16;
/// One changed order in this many comes from the best one, whichever one's turn it is. Swept deep on 3 instances:
/// half of it 0 larger, 1 smaller (1.01865 → 1.01796); twice as much no difference.
pub(crate) const BEST_PARENT_TURN: u64 = 4;
/// One order in this many is new. Measured: MiniMalloc's D takes 337,284 units with one in 5 or in 20, and 1,008,155 if
/// none is (`--work 1500000`).
pub(crate) const NEWBORN_TURN: u64 = 20;
/// Shares of an order's numbers that are changed at once, in thousandths. Swept deep on 2 instances: half of it 0
/// larger, 1 smaller (1.02797 → 1.01969); twice as much 1 larger, 0 smaller (1.02797 → 1.02849).
pub(crate) const CHANGED_THOUSANDTHS: [u64; 5] = [5, 10, 30, 100, 200];

// The general search.

/// Nodes for the spaces of one assignment of pieces to spaces, in the first walk over all assignments, the second,
/// and so on: every assignment is tried a little before any is tried long. Swept on 7
/// instances: half of it 0 larger, 1 smaller (1.03954 → 1.03127); twice as much no difference.
pub(crate) const LEAF_NODES: [u64; 4] = [100, 1_000, 10_000, u64::MAX];
/// Nodes of the first dive; each next one has half as many again. Swept on 8 instances: half of it 0 larger, 1
/// smaller (1.03295 → 1.02433); twice as much 0 larger, 1 smaller (1.03295 → 1.01859).
pub(crate) const FIRST_DIVE_NODES: u64 = 200;
/// Tenths of the room that pieces which exclude each other must fill before edge finding looks at them. Measured on 18
/// kernels of 45, 80 and 120 buffers, 25,000 units each: where it always looks, 0.9 % more work and 1.1 s instead of
/// 0.6 s; where it never does, 2.5 % more work and 0.4 s. All extents are the same.
pub(crate) const FULL_TENTHS: i64 = 8;
/// Most buffers that may have taken over bytes (by overlays) before two other buffers meet on them: the number of
/// options is exponential in it, and with more the general search gives up. Swept on 8
/// instances: half of it work 68.0 %; twice as much no difference.
pub(crate) const MOST_TAKERS: usize = 3;

// Witnesses.

/// Nodes to refute what is left of a witness without one of its parts, for either exact search. Measured: the witness
/// of a kernel of 45 buffers with a byte too little (seed 30) has 9 buffers; 14 without a limit, because the first
/// questions take all the work, and all 45 with 5 nodes. Witnesses are reduced up to as many buffers as the general
/// search takes: one of 250 that are all needed takes 0.7 s, one of 800 would take 3 s and one of 1,900 more than 25 s.
pub(crate) const WITNESS_NODES: u64 = 5_000;

// Stages for many pieces.

/// How often a repair widens the stretch around a peak to twice as many pieces before it starts again small: the widest
/// one takes a look at up to 6,400 pieces. With one widening instead of five no extent and no work differs with
/// 25,000 or 100,000 units, because the work is spent before.
pub(crate) const MOST_WIDENINGS: u32 = 5;
/// How often a repair starts again with a small stretch and twice the nodes for a core, before it leaves the plan
/// alone. A limit of arithmetic: nodes that are doubled 64 times do not fit into 64 bits. The budget does not always
/// end the repair before: if no core can be cut out (because too many pieces would have to make way, or only endless
/// ones), hardly any work is spent.
pub(crate) const MOST_RESTARTS: u32 = 10;
/// Pieces among whose lives a repair looks for the local peak; twice as many each time the excerpt is widened. Swept
/// on 3 instances: half of it no difference; twice as much work 100.3 %.
pub(crate) const PEAK_SEARCH_PIECES: usize = 200;
/// Nodes for each piece of a core. Measured: a core of 250 is packed in ten milliseconds or not at all. Swept on 3
/// instances: half of it 2 larger, 0 smaller (1.00058 → 1.00517), work 132.6 %; twice as much no difference.
pub(crate) const CORE_NODES: u64 = 10;
/// The first two searches that start anew begin their cores with pieces of at least one part in so many of the goal.
/// Measured with `anew` alone on 10,000/100 (Python's seeds 124 and 125) and 3,000/100 (104), four seeds of the
/// search each: mean 1.0051 with 64 parts, 1.0056 with 256, 1.0062 with 1024 and 1.0060 with all pieces. The
/// differences are within those of one seed: other plans come of it, not better ones. 122 meets its goal with 1024
/// (1.0002) and not with 256, 125 with 256 (1.0008) and not with 1024.
pub(crate) const LARGE_PARTS: [u64; 2] = [1024, 256];
/// Most pieces around a core that a repair places anew: with more it would be no local repair any more.
/// Measured: a recorded GPU generation step (cuda/generate, 56,426 buffers), in which one buffer lives from the first
/// step to the last, meets its bound once all the others may be moved around its peak; with a third of this it stays
/// at 1.0003.
pub(crate) const MOST_AROUND_PIECES: usize = 60_000;
/// Passes without improvement after which the stage `peak-first` ends. Measured: training steps are at their peaks
/// after two or three passes; without it chains of 2,000 operations in place take 13,147 units instead of 2,621, and
/// a kernel of 120 buffers 23,521 instead of 11,407, for the same extents.
pub(crate) const PEAK_FIRST_FAILURES: u32 = 8;

// The dense stage. Measured on random problems (log-uniform sizes from 64 B to 1 MiB, exponential lives; "50,000/500"
// has 50,000 buffers of which 500 are alive on average), four seeds each; results are mean extents over the peak.

/// With more pieces alive on average the dense stage comes before all others: cores of that size are too
/// much for the exact search, while with 100 alive it settles most problems in less than a second.
pub(crate) const CROWDED_ALIVE: u64 = 200;
/// A crowded problem has the effort's work once, and once more for every so many pieces that are alive: an ejection
/// chain asks about as many questions however many are alive, and a question takes a look at all that are.
/// Measured, when a unit was 128 neighbours: 20,000/2,000 (seeds 1, 2, 4) ends at 1.0319 with 1.2 million units, at
/// 1.0229 with 2.4 million. With 192 neighbours for a unit, 600 gives every crowded problem at least as many looks.
pub(crate) const ALIVE_PER_EFFORT: u64 = 600;
/// A problem does not count as crowded if more than one in so many of all its pieces are alive on average: in a
/// training step, where half of them are, the peak decides alone. Measured: without it the first plan of a training
/// step of 20,000 layers takes 1.22 s instead of 0.24 s, with the same extent.
pub(crate) const CROWDED_SHARE: u64 = 4;
/// A plan of many pieces within one part in so many of its bound is good enough: only above that the search starts
/// anew. Measured: docs/search.md, of 55 random problems with 100 alive 4 start anew.
pub(crate) const CLOSE_ENOUGH: u64 = 400;
/// Neighbours that the dense stage looks at for one unit of work. Measured: `unit_cost`, 2.0 to 3.0 µs for each unit;
/// with 128 it is 1.3 to 1.6 µs, less than half of what a unit takes in the exact searches.
pub(crate) const NEIGHBOURS_PER_UNIT: u64 = 192;
/// An attempt may spend one part in so many of the work that is left, so that a round of two leaves a third for the
/// next ones. Swept on 7 instances: half of it 1 larger, 4 smaller (1.02468 → 1.01489), work 185.7 %; twice as much
/// 3 larger, 2 smaller (1.02468 → 1.02764), work 99.5 %.
pub(crate) const DENSE_PARTS: u64 = 3;
/// An attempt that ends without reaching a goal is kept if it lowers the plan by one part in so many of its slack.
/// Measured: 20,000/2,000 ends at 1.046 with it; without, no attempt on it ends at all within a second. Swept on 5
/// instances: half of it 0 larger, 1 smaller (1.03455 → 1.03361), work 98.7 %; twice as much 0 larger, 1 smaller
/// (1.03455 → 1.03441), work 108.7 %.
pub(crate) const LEAST_GAIN: u32 = 8;
/// The first two attempts start with one part in so many of the slack of the first plan: one hardly possible, one a
/// little more likely. Measured: 50,000/500 ends at 1.0094 from 1/1024 and 1/256 of the bound, but 20,000/2,000 does
/// not end in time. Swept on 7 instances: half of it 4 larger, 1 smaller (1.02468 → 1.02520), work 103.3 %; twice as
/// much 1 larger, 4 smaller (1.02468 → 1.02165), work 125.4 %.
pub(crate) const FIRST_SLACKS: [u32; 2] = [16, 5];
/// The two attempts of later rounds start at one part in so many of the slack that is left. Swept on 7 instances:
/// half of it 1 larger, 0 smaller, work 100.5 %; twice as much 1 larger, 0 smaller, work 102.2 %.
pub(crate) const LATER_SLACKS: [u32; 2] = [8, 2];
/// An attempt of the dense stage is divided into so many periods of equal work. After a period without progress the
/// goal is raised, so up to about thirty times. Twenty raises multiply the slack by 38. Swept on 7 instances: half of
/// it 0 larger, 5 smaller (1.02468 → 1.02215), work 117.6 %; twice as much 3 larger, 2 smaller (1.02468 → 1.02760),
/// work 100.1 %.
pub(crate) const DENSE_PERIODS: u64 = 32;
/// A goal out of reach is raised by one part in so many of its slack. Measured: raising by 2/5 instead of 1/5 ends
/// at 1.0119 instead of 1.0077 on 50,000/500, and at 1.0308 instead of 1.0236 on 20,000/2,000. Swept on 7 instances:
/// half of it 4 larger, 1 smaller (1.02468 → 1.02849), work 100.4 %; twice as much 2 larger, 2 smaller (1.02468 →
/// 1.02409), work 106.4 %.
pub(crate) const GOAL_RAISE: u32 = 5;
/// A queue whose weight has fallen by less than one part in so many during a period makes no progress. Measured:
/// 50,000/500 (seeds 1 to 6) ends at 1.0061; 1.0071 where the length of the queue counted instead of its weight.
/// 20,000/2,000 (seeds 1, 2, 4) at half of its work ends at 1.0319 instead of 1.0508. Swept on 7 instances: half of it
/// 2 larger, 1 smaller (1.02468 → 1.02435), work 97.6 %; twice as much 2 larger, 2 smaller (1.02468 → 1.02441), work
/// 101.5 %.
pub(crate) const QUEUE_PROGRESS: u64 = 20;
/// Costs are raised at random by up to one part in so many, which leads out of circles. Measured: without any, and
/// with four times as much, more of 3,000/100 are left above 1.001 times the peak. Swept on 7 instances: half of it
/// 3 larger, 1 smaller (1.02468 → 1.02497), work 105.4 %; twice as much 2 larger, 2 smaller (1.02468 → 1.02504),
/// work 103.4 %.
pub(crate) const EJECTION_NOISE: u64 = 8;
/// One part in so many of the slack is kept for small rectangles. Measured: with 20,000/2,000 at 1.04 times the
/// peak, that halves the work of an attempt. Swept on 7 instances: half of it 1 larger, 3 smaller (1.02468 →
/// 1.02340), work 101.9 %; twice as much 3 larger, 1 smaller (1.02468 → 1.02557), work 98.9 %.
pub(crate) const SMALL_STRIP: u32 = 4;
/// First fit of many small rectangles needs at most 3/2 of their peak, as far as we have seen; if it
/// needs more, the attempt fails and the plan stays as it is.
pub(crate) const STRIP_WASTE: (u64, u64) = (3, 2);
/// Ejections after which the clock is looked at: a few milliseconds at most. No plan depends on it.
pub(crate) const EJECTIONS_PER_GLANCE: u32 = 64;
/// Room beside a piece that is alive at the peak, as one part in so many of the peak: see `order::hardness`.
/// Measured: mean of 50,000/500, seeds 2, 4, 5, 6, at equal work: 1.0108 with it, 1.0139 with 25 parts instead of 50;
/// 1.0138 where room counts once and not squared, 1.0130 to the third power (then of 33 parts), and 1.0257 where it
/// does not count.
pub(crate) const ROOM_AT_PEAK: f64 = 50.0;

// Reuse that costs.

/// Most relations between pieces that are listed, each at both of its pieces: half a gigabyte.
/// Measured: 10,000 buffers with 100 alive and 100,000 priced pairs have 1.1 million.
pub(crate) const MOST_COST_RELATIONS: usize = 6_000_000;
/// Most offsets of a component that the exact search for costs looks at. Measured: the kernels of
/// `tests/reuse_costs.rs` have at most 1,500.
pub(crate) const MOST_COST_OFFSETS: usize = 20_000;
/// Offsets that nodes of the exact search for costs update for one unit of work. Measured: a node that updates 100
/// takes half a microsecond.
pub(crate) const OFFSETS_PER_UNIT: u64 = 1_024;
/// Relations that a move of the annealer looks at for one unit of work.
/// Measured: 600,000 moves among 60 relations each take 1.6 s; `unit_cost`: 7 µs for each unit on 1,000 priced buffers,
/// and 10 µs with 80.
pub(crate) const RELATIONS_PER_UNIT: u32 = 56;
/// Moves per piece of the first round of annealing. Measured: kernels of 20 pieces reach their optimum in it.
pub(crate) const FIRST_ROUND: u64 = 200;
/// Moves after which the clock is looked at. Measured: some milliseconds of moves among 60 relations each.
pub(crate) const MOVES_PER_GLANCE: u64 = 1024;
/// How much longer than a round the next one is.
/// Measured: the lifts gain from few and long rounds: 1,788 in all on A, C, F, H, I and K with one round, 1,885 with
/// several.
pub(crate) const ROUND_GROWTH: u64 = 16;
/// A round takes all that is left of the work if that is less than so many times its length. Measured: together with
/// the growth.
pub(crate) const LONGEST_ROUND: u64 = 64;
/// The annealer's free rounds may break rules, and a strict round that may not follows each. This is the part of the
/// moves of both that the free one gets. Measured: a strict round with three tenths of
/// the moves lowers the cost of the lifts by 1 to 4 percent.
pub(crate) const FREE_SHARE: f64 = 0.85;
/// The temperature at which a round of annealing begins, in mean weights: most moves are accepted.
/// Measured: A, C, F, H, I, K, D and J cost 1,936 with it and 1,983 with 0.6.
pub(crate) const HOTTEST: f32 = 1.0;
/// The temperature at which a strict round begins that improves what a free one has found.
/// Measured: 0.2 and 0.4 end within 2 percent of it on the lifts A, C, F, I, K and J.
pub(crate) const LUKEWARM: f32 = 0.3;
/// The temperature at which a round ends. Measured: 0.2 and 0.1 cost 1 percent more on the lifts.
pub(crate) const COLDEST: f32 = 0.15;
/// What a forbidden relation counts at first, in mean weights.
/// Measured: the lifts A, C, F, H, I and K cost 1,715 with it and 1,788 with 8; with 2, three of them end with broken
/// relations.
pub(crate) const FIRST_PENALTY: f32 = 4.0;
/// What a forbidden relation counts in a strict round: nothing that costs so much more is ever drawn.
/// Measured: lifts A, D, F, G and J in 1.1 times their peaks cost 1,693 with 1,000, and 2,493 with 8, which breaks
/// relations.
pub(crate) const STRICT_PENALTY: f32 = 1e5;
/// What a penalty is multiplied with as long as its relation is broken.
/// Measured: 250,000 moves on lifts A and K end valid with it, with 1.15 they do not.
pub(crate) const PENALTY_GROWTH: f32 = 1.4;
/// Moves per piece after which penalties of broken relations grow. Measured: together with their growth.
pub(crate) const MOVES_PER_PENALTY: u64 = 10;
/// How much more often penalties grow in the last fifth of a round. Measured: without it, lift C ends with broken
/// relations for some seeds.
pub(crate) const HURRIED_PENALTIES: u64 = 10;
/// Most pieces for which every order is tried at first; of more, one order is. Measured: a pass over 10,000 takes 50
/// ms.
pub(crate) const FEW_PRICED_PIECES: usize = 5_000;
/// Most priced pairs for hitting sets, so that cores stay few. It only keeps large problems from asking in vain.
pub(crate) const MOST_HITTING_PAIRS: usize = 200;
/// What a question of the hitting sets costs besides its search: first plans, and the reduction of the witness.
/// Measured: 20 ms on a component of 40 pieces.
pub(crate) const HITTING_CALL: u64 = 5_000;
/// Most cores that are collected: a limit for problems on which the method has failed.
pub(crate) const MOST_CORES: usize = 300;
/// Most nodes of the search for the cheapest hitting set: a few milliseconds, a limit for the same problems.
pub(crate) const MOST_HITTING_NODES: u64 = 20_000;
/// Most priced pairs of a component that is searched for crowds: a limit on memory, since every pair is an edge.
pub(crate) const MOST_CROWD_EDGES: usize = 2_000;
/// Most nodes of a search for the heaviest clique; after that a heavy one has to do. It bounds the time of one
/// question.
pub(crate) const MOST_CLIQUE_NODES: u64 = 5_000;
/// Nodes of such a search for one unit of work; a node is taken for half a microsecond.
pub(crate) const CLIQUE_NODES_PER_UNIT: u64 = 8;
/// Most pieces that are lowered one by one in the end: with more, every pass takes longer than the first plan.
pub(crate) const MOST_SUNK_PIECES: usize = 20_000;
/// Most passes over all pieces when lowering. Measured: lifts need at most 6.
pub(crate) const MOST_SINKING_PASSES: usize = 10;

// Stretches packed exactly, and the rest around them.

/// With less work than this the stage `stretch` has no turn, and the canonical search gets all of it. Measured: an
/// attempt on MiniMalloc's J takes 1.6 million units; with `--effort thorough` the stage lowers J from 1008640 to
/// 993280.
pub(crate) const STRETCH_WORK: u64 = 12_000_000;
/// What the canonical search may spend on a stretch. Measured: J from section 30, 50, 80 or 101 on takes 0.1 to 0.5 s
/// on two threads, from 40 or 70 on 1.4 to 1.8 s; from 60 or 90 on it finds nothing in 15 s.
pub(crate) const STRETCH_PROOF: u64 = 150_000;
/// Most cuts that are tried until a stretch is packed. Measured: see above; 14 of 22 searches for a stretch of J
/// found one.
pub(crate) const STRETCH_CUTS: u32 = 8;
/// Turns of an attempt for each rectangle. Measured: on J with a stretch kept, five of six successes came within 1.4
/// million turns, 3,400 for each of its 409 rectangles.
pub(crate) const TURNS_PER_RECTANGLE: u64 = 3000;
/// One turn in so many moves a rectangle that has its place to another free one. Measured on J, two seeds each, goal
/// 980 KiB, 40 s, 32 ways of setting all of these: the best had one in ten, area as weight, no rest of those just
/// placed, a raise of 0.3 that grows by 3 in a million. The values here are those with which J was packed around a
/// stretch; there only the weight was varied: 2 of 4 runs succeed with the area, 3 of 8 with its 0.9th power, none of
/// 4 with its 0.8th.
pub(crate) const SHIFT_ONE_IN: u64 = 5;
/// What the first ejection adds to a weight, as a part of the area. Measured: as above.
pub(crate) const FIRST_RAISE: f64 = 0.1;
/// The factor by which the raise grows with every ejection. Measured: as above.
pub(crate) const RAISE_GROWTH: f64 = 1.000_01;
/// A rectangle that was just placed stays for up to so many turns. Measured: as above; a rest that grows with the
/// number of those that wait is much worse.
pub(crate) const TURNS_TO_STAY: u64 = 5;
/// The highest goal in granules: an attempt has an array with an entry for each. No measurement: a limit of memory.
pub(crate) const MOST_GOAL: u32 = 1 << 20;
/// Turns after which the clock is looked at: a few milliseconds. No plan depends on it.
pub(crate) const STRETCH_GLANCE: u64 = 2048;

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    /// Limits of arithmetic and marks for "none" are no tuning.
    const NO_TUNING: [&str; 7] =
        ["HIGHEST", "HIGHEST_PENALTY", "NOTHING", "BLOCKED", "HIGHEST_WEIGHT", "MEAN_WEIGHT", "MOST_RECTANGLES"];

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
    }

    /// A constant that is a number, outside of tests: its name.
    fn number(line: &str) -> Option<&str> {
        let declaration = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
        let (name, rest) = declaration.trim_start_matches("pub ").strip_prefix("const ")?.split_once(": ")?;
        let (kind, value) = rest.split_once(" = ")?;
        let is_number = value.starts_with(|first: char| first.is_ascii_digit()) || kind.starts_with("[u");
        (is_number && line.starts_with(|first: char| !first.is_whitespace())).then_some(name)
    }

    #[test]
    fn no_other_file_of_the_search_has_a_number_of_its_own() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = sources(&root.join("search"));
        files.extend(sources(&root.join("placement")));
        files.extend(["portfolio.rs", "parallel_first_fit.rs"].map(|file| root.join(file)));
        let mut found = Vec::new();
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let names = code.lines().filter_map(number).filter(|name| !NO_TUNING.contains(name));
            found.extend(names.map(|name| format!("{}: {name}", file.display())));
        }
        // The fan-out of the index is one cache line, and the public patience of the portfolio belongs to its callers.
        found.retain(|line| !line.ends_with("FAN_OUT") && !line.ends_with("portfolio.rs: PATIENCE"));
        assert!(found.is_empty(), "move to tuning.rs: {found:#?}");
    }

    /// Where a missing value would be a bug, a default hides it. The ones left are maxima of nothing and options that
    /// mean zero; whoever needs one more looks at the others first, and whoever removes one lowers the number.
    #[test]
    fn defaults_in_place_of_missing_values_do_not_spread() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let code = |file: PathBuf| {
            let text = std::fs::read_to_string(file).unwrap();
            text.split("#[cfg(test)]").next().unwrap().to_owned()
        };
        let outside = |file: &PathBuf| !file.starts_with(root.join("costs")) && !file.ends_with("costs.rs");
        let texts: Vec<String> = sources(&root).into_iter().filter(outside).map(code).collect();
        let count = |what: &str| texts.iter().map(|text| text.matches(what).count()).sum::<usize>();
        assert_eq!((count(concat!("unwrap_or", "(0)")), count(concat!("unwrap_or_", "default()"))), (34, 10));
    }

    /// The same for all crates: how many defaults in place of missing values each may have. Whoever removes one lowers
    /// its number.
    const MOST_DEFAULTS: [(&str, usize); 15] = [
        ("memplan", 33),
        ("memplan-analysis", 0),
        ("memplan-capi", 2),
        ("memplan-cli", 18),
        ("memplan-core", 20),
        ("memplan-fit", 10),
        ("memplan-mlir", 69),
        ("memplan-models", 81),
        ("memplan-planner", 58),
        ("memplan-program", 1),
        ("memplan-py", 7),
        ("memplan-replay", 7),
        ("memplan-tensor", 28),
        ("memplan-testkit", 10),
        ("memplan-verify", 23),
    ];

    #[test]
    fn no_crate_gets_more_defaults_in_place_of_missing_values() {
        for (name, most) in MOST_DEFAULTS {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
            // Another crate is not there if this one was taken out of its repository.
            if !folder.is_dir() {
                continue;
            }
            let count = |file: PathBuf| {
                let text = std::fs::read_to_string(file).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap();
                code.matches(concat!("unwrap_or", "(0)")).count()
                    + code.matches(concat!("unwrap_or_", "default()")).count()
            };
            let found: usize = sources(&folder).into_iter().map(count).sum();
            assert!(found <= most, "{name} has {found} defaults, {most} are allowed: is a missing value a bug there?");
        }
    }

    #[test]
    fn every_number_says_what_it_is_for() {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tuning.rs")).unwrap();
        let lines: Vec<&str> = text.split("#[cfg(test)]").next().unwrap().lines().collect();
        let undocumented = lines.windows(2).filter(|pair| number(pair[1]).is_some() && !pair[0].starts_with("/// "));
        assert_eq!(undocumented.count(), 0);
        assert!(lines.iter().filter_map(|line| number(line)).count() > 50);
    }
}
