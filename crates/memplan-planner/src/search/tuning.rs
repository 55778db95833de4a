//! Every number the search was tuned with, in one place.

/// What `Effort::Quick` may spend on top of the first plan: a tenth of a second.
pub(crate) const QUICK_WORK: u64 = 25_000;
/// What `Effort::Normal` may spend: about a second on an ordinary core. MiniMalloc's D, the hardest instance of the
/// corpus that is solved at all, takes 337,284 (`memplan bench corpus --only minimalloc --dir . --effort normal`).
pub(crate) const NORMAL_WORK: u64 = 400_000;
/// What `Effort::Thorough` may spend: about a minute where one core does it all.
pub(crate) const THOROUGH_WORK: u64 = 16_000_000;

/// Obstacles that a placement looks at for one unit of work (about 4 µs), measured with 20 to 1000 pieces alive
/// (processor time of one thread).
pub(crate) const OBSTACLES_PER_UNIT: u64 = 128;
/// What a placement costs besides its obstacles, in obstacles: half a microsecond.
pub(crate) const PLACEMENT: u64 = 16;
/// Widths that a node of the canonical search looks at for one unit of work.
pub(crate) const WIDTHS_PER_UNIT: u64 = 16_384;
/// Pieces of a problem for each of which a node of the general search costs a unit more.
pub(crate) const PIECES_PER_UNIT: u64 = 20;

/// What the reduction of a witness may spend on top, so that a proof found at the last moment is still made readable.
pub(crate) const WITNESS_WORK: u64 = 200_000;

/// What the other strategies may spend under `Effort::Normal` where the search ended above the bound: each is charged a
/// pass. That is enough for all of them on some thousand buffers.
pub(crate) const OTHERS_WORK: u64 = 50_000;
