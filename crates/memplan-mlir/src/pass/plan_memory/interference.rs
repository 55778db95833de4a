//! Whether two buffers can have one address although their lives, as ranges of
//! ops, overlap.
//!
//! A loop that carries a buffer, and branches that hand out one buffer or the
//! other, give one name to several buffers:
//!
//! ```text
//!   %r = scf.for … iter_args(%a = %A) {      %A and %C could be one buffer:
//!     op1 ins(%a, %B) outs(%C)               when op1 writes %C, nobody needs
//!     scf.yield %C                           %a any more, and op1 works in place
//!   }
//! ```
//!
//! So it does not help to ask when a *buffer* is in use. This file asks for each *value*
//! that may be the buffer (a *name* of it) when the value still *matters*: from its
//! definition (an allocation: its first access) to its last use. A use inside a loop that
//! does not define the value counts until the loop ends, because the next iteration may
//! use it again. Two buffers *interfere* if an op writes one of them through some name
//! while a name of the other matters afterwards, or is read by the same op, which has no
//! permission to write its result over that input. Uses in a branch that cannot be taken
//! when the write is reached do not count.
//!
//! Names that are views of other names are not looked at: their uses count for the value
//! that they are views of, their *root*.
//!
//! Costs a pass over the program, and for a question about two buffers the
//! number of writes of one times the number of names of the other.

use std::collections::HashMap;

use memplan_core::{Id, IndexVec};
use memplan_program::{
    AccessKind, BlockId, Control, Definition, Extent, OpId, Origin, Program, RegionId, SiteId, Target, ValueId,
};
use smallvec::SmallVec;

// A `KernelView` holds the text of the kernels (`document`), their program (`lowered`) and what is known about it.
// `view.aliases.sites(value)` are the sites (buffers) that a value may be; `view.tree` (an `OpTree`) knows which op is
// inside of which: `last_inside(op)` is the last op in the regions of an op, or the op itself if it has none.
use super::KernelView;

/// When a value matters: from time `start` to time `end`, both included. Ops have even times in the order of the
/// program ([`time`]). The odd times between them are for what happens between two ops: a region ends, or a block
/// begins.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    end: u64,
}

/// Until when a value matters because of its uses in one block.
#[derive(Clone, Copy, Debug)]
struct Use {
    /// The op that uses the value, or the outermost loop that is around this op and not around the value's definition;
    /// `None` if the value matters whichever branches are taken.
    at: Option<OpId>,
    /// The time up to which the value matters because of this use.
    end: u64,
}

/// If a value has uses in more blocks than this, the branches that they are in are not looked at: all uses
/// count.
const MOST_USES: usize = 64;

/// When the values of a program matter. See the module documentation.
pub(super) struct Interference<'a> {
    view: &'a KernelView<'a>,
    /// The root of each value, and the byte of the root at which the value begins; `None` if that is not known.
    roots: IndexVec<ValueId, (ValueId, Option<u64>)>,
    /// When each root matters; `None` for one that is never used.
    spans: IndexVec<ValueId, Option<Span>>,
    /// For each root one entry for each run of uses in the same block, in the order of the program. The list stops
    /// growing at `MOST_USES + 1` entries, which says that there are too many.
    uses: IndexVec<ValueId, SmallVec<[Use; 1]>>,
    /// For each root the ops that write it, in the order of the program.
    writes: IndexVec<ValueId, SmallVec<[OpId; 4]>>,
    /// Regions whose blocks only branch to blocks behind them, so that no block runs twice.
    forward: IndexVec<RegionId, bool>,
    /// Values that begin where the buffer they may be begins, whichever it is.
    whole: IndexVec<ValueId, bool>,
    /// For each site the roots that may be it.
    names: IndexVec<SiteId, SmallVec<[ValueId; 4]>>,
}

/// The time of an op: an even number, at least 2. The end of its regions has an odd one.
fn time(op: OpId) -> u64 {
    2 * op.index() as u64 + 2
}

impl<'a> Interference<'a> {
    /// Looks at every value once: what it is a view of, which ops use and write it, and which sites it may be.
    pub(super) fn new(view: &'a KernelView<'a>) -> Interference<'a> {
        let program = &view.lowered.program;
        let count = program.values().len();
        // `roots` and `whole` are functions of this file, further down.
        let roots = roots(program);
        let mut found = Interference {
            view,
            forward: program.regions().iter().map(|region| is_forward(program, &region.blocks)).collect(),
            whole: whole(program, &roots),
            roots,
            spans: IndexVec::filled(None, count),
            uses: IndexVec::filled(SmallVec::new(), count),
            writes: IndexVec::filled(SmallVec::new(), count),
            names: IndexVec::filled(SmallVec::new(), program.sites().len()),
        };
        // A view is left out: its uses are counted for its root, so only the root is a name.
        for value in program.values().ids().filter(|&value| found.roots[value].0 == value) {
            for &site in view.aliases.sites(value) {
                found.names[site].push(value);
            }
        }
        found.count_uses();
        found
    }

    /// The value that a view is a view of, at the end of a chain of views; any other value itself.
    pub(super) fn root(&self, value: ValueId) -> ValueId {
        self.roots[value].0
    }

    /// Fills in when each root matters and which ops write it, from all uses in the program.
    fn count_uses(&mut self) {
        let program = &self.view.lowered.program;
        for (op, info) in program.ops().iter_enumerated() {
            for access in &info.accesses {
                let root = self.root(access.value);
                self.use_at(root, op);
                // An op may access one root several times. It is listed once.
                if access.kind.writes() && self.writes[root].last() != Some(&op) {
                    self.writes[root].push(op);
                }
                // Code outside may use an escaped buffer at any later time, so the use never ends.
                if access.kind == AccessKind::Escape {
                    self.matters(root, Use { at: None, end: u64::MAX });
                }
            }
            // What a loop or branch is given at its start is used there.
            for &value in info.inits() {
                self.use_at(self.root(value), op);
            }
            // An op that merges values (a select) touches no byte. It counts as a use of its sources, because its
            // result is a further name for them.
            for &value in &info.results {
                if let Origin::Merged(sources) | Origin::Opaque(sources) = &program.value(value).origin {
                    for &source in sources {
                        self.use_at(self.root(source), op);
                    }
                }
            }
        }
        for block in program.blocks() {
            // A branch hands its values over at the end of its block. An empty block ends where its region's op stands.
            let end = block.ops.last().copied().or(program.region(block.region).op);
            for &value in block.branches.iter().flat_map(|branch| &branch.values) {
                if let Some(end) = end {
                    self.use_at(self.root(value), end);
                }
            }
        }
    }

    /// Notes a use of a root. Uses in one block become one. A list of more than `MOST_USES` uses is not continued;
    /// its length tells [`Interference::end_seen_from`] that it is not complete.
    fn matters(&mut self, value: ValueId, used: Use) {
        let program = &self.view.lowered.program;
        if let Some(span) = &mut self.spans[value] {
            span.end = span.end.max(used.end);
        }
        // Ops come in program order, so uses in one block stand together in the list, and the last one tells of all.
        let block = |used: &Use| used.at.map(|op| program.op(op).block);
        let uses = &mut self.uses[value];
        if let Some(last) = uses.last_mut().filter(|last| block(last) == block(&used)) {
            last.end = last.end.max(used.end);
        } else if uses.len() <= MOST_USES {
            uses.push(used);
        }
    }

    /// Counts a use of a root by an op. The *home* of a value is here the op in whose region the value is defined. If
    /// there is a loop between the home and the op, the value matters during all of the outermost of these loops,
    /// because the next iteration may use the value again. If blocks that form a cycle use the value, it matters
    /// always.
    fn use_at(&mut self, value: ValueId, op: OpId) {
        let (program, tree) = (&self.view.lowered.program, self.view.tree);
        let home = self.home(value);
        let mut used = Span { start: time(op), end: time(op) };
        let mut at = Some(op);
        let mut around = tree.parent(op);
        let mut block = program.op(op).block;
        // From the op outwards to the value's home. Whatever on the way may run its region again extends the use to all
        // of itself.
        while let Some(parent) = around.filter(|&parent| Some(parent) != home) {
            // `Once` and `Alternatives` (branches) run a region at most once. Every other kind of op may run it again.
            // In a region whose blocks may form cycles, control may come to the use again in the same run.
            let repeats = !matches!(program.op(parent).control(), Control::Once | Control::Alternatives { .. });
            if repeats || !self.forward[program.block(block).region] {
                used = Span { start: time(parent), end: time(tree.last_inside(parent)) + 1 };
                at = Some(parent);
            }
            block = program.op(parent).block;
            around = tree.parent(parent);
        }
        // `block` is now the block of the value's home that contains the use.
        if self.goes_round(value, block) {
            (used, at) = (Span { start: 0, end: u64::MAX }, None);
        }
        // An allocation matters from its first use on.
        let start = self.begins(value).unwrap_or(used.start);
        let span = self.spans[value].get_or_insert(Span { start, end: used.end });
        span.start = span.start.min(start);
        self.matters(value, Use { at, end: used.end });
    }

    /// The op in whose region a value is defined; `None` for the body of a function.
    fn home(&self, value: ValueId) -> Option<OpId> {
        let program = &self.view.lowered.program;
        match program.value(value).definition {
            Definition::Result(op) => program.parent(op),
            Definition::Argument(block) => program.region(program.block(block).region).op,
            Definition::Global | Definition::Parameter(_) => None,
        }
    }

    /// Whether a value is used in another block of its region, and blocks of that region may form cycles: then the
    /// use may come again after any op of the region.
    fn goes_round(&self, value: ValueId, used_in: BlockId) -> bool {
        let program = &self.view.lowered.program;
        let defined_in = match program.value(value).definition {
            Definition::Result(op) => program.op(op).block,
            Definition::Argument(block) => block,
            Definition::Global | Definition::Parameter(_) => return false,
        };
        let region = program.block(used_in).region;
        let same = program.block(defined_in).region == region && defined_in != used_in;
        // In its own block a value is defined anew each time before it is used, so no old content is needed there.
        same && !self.forward[region]
    }

    /// The time from which a value matters; `None` for an allocation, whose content does not matter before its first
    /// use.
    fn begins(&self, value: ValueId) -> Option<u64> {
        let program = &self.view.lowered.program;
        let info = program.value(value);
        match info.definition {
            _ if matches!(info.origin, Origin::Alloc(_)) => None,
            Definition::Result(op) if program.op(op).regions().is_empty() => Some(time(op)),
            // Results of an op with regions exist when the regions have ended.
            Definition::Result(op) => Some(time(self.view.tree.last_inside(op)) + 1),
            // Arguments exist right before the first op of their block.
            Definition::Argument(block) => {
                let first = program.block(block).ops.first();
                // An empty block has no first op. Its arguments count from the start of the program, to be on the
                // safe side.
                Some(first.map_or(0, |&op| time(op) - 1))
            }
            Definition::Global | Definition::Parameter(_) => Some(0),
        }
    }

    /// Whether two buffers interfere, so that they cannot have one address.
    pub(super) fn between(&self, one: SiteId, other: SiteId) -> bool {
        self.overwrites(one, other) || self.overwrites(other, one)
    }

    /// Whether an instance of a buffer is written while another instance (of an earlier iteration) still matters.
    pub(super) fn with_itself(&self, site: SiteId) -> bool {
        self.overwrites(site, site)
    }

    /// The same, for writes outside of the op `around` only.
    pub(super) fn with_itself_outside(&self, site: SiteId, around: OpId) -> bool {
        self.overwrites_at(site, site, |op| !self.view.tree.contains(around, op))
    }

    /// Whether a write to the buffer `writer` may destroy content of the buffer `victim` that still matters, if both
    /// have one address.
    fn overwrites(&self, writer: SiteId, victim: SiteId) -> bool {
        self.overwrites_at(writer, victim, |_| true)
    }

    /// The same, for the writes by ops that `counts` accepts.
    fn overwrites_at(&self, writer: SiteId, victim: SiteId, counts: impl Fn(OpId) -> bool) -> bool {
        // A write through one name may destroy what any other name holds. What the name itself held is meant to be
        // overwritten.
        self.names[writer].iter().any(|&through| {
            self.writes[through].iter().filter(|&&op| counts(op)).any(|&op| {
                let mut others = self.names[victim].iter().filter(|&&other| other != through);
                others.any(|&other| self.destroys(op, through, other))
            })
        })
    }

    /// Whether an op that writes through the value `through` destroys the content of the value `other`, if both are
    /// the same memory.
    fn destroys(&self, op: OpId, through: ValueId, other: ValueId) -> bool {
        // A value that is never used does not matter.
        let Some(Span { start, end }) = self.spans[other] else { return false };
        let now = time(op);
        if start > now || end < now {
            return false;
        }
        let end = self.end_seen_from(op, other, end);
        // If the other value matters after the op, its content is destroyed. If the op itself is the last use of the
        // other value (`end == now`), nothing is destroyed if the op only reads it and may write over what it reads. If
        // the other value also begins at the op (`start == now`), the op writes it: then two results of one op would
        // lie on the same bytes.
        end > now || (end == now && (start == now || !self.permits(op, through, other)))
    }

    /// The time until which a value matters if the program has come to `op`: uses in branches that exclude `op` do not
    /// count. `end` is the answer if all uses count.
    fn end_seen_from(&self, op: OpId, value: ValueId, end: u64) -> u64 {
        let uses = &self.uses[value];
        if uses.len() > MOST_USES {
            return end;
        }
        // A use without an op (`at` is `None`) counts always.
        let counts = |used: &&Use| used.at.is_none_or(|at| !self.is_alternative(op, at));
        uses.iter().filter(counts).map(|used| used.end).max().unwrap_or(0)
    }

    /// Whether two ops are in different branches of one op, of which only one is taken.
    fn is_alternative(&self, one: OpId, other: OpId) -> bool {
        let (program, tree) = (&self.view.lowered.program, self.view.tree);
        // An op and one inside of it run together.
        if tree.contains(one, other) || tree.contains(other, one) {
            return false;
        }
        let around = tree.around_both(one, other);
        let branches = around.filter(|&op| matches!(program.op(op).control(), Control::Alternatives { .. }));
        // The branch (region of the op `branches`) that an op is in.
        let region = |op: OpId| program.block(program.op(tree.child_towards(branches, op)).block).region;
        branches.is_some() && region(one) != region(other)
    }

    /// Whether an op may write its output over one of its inputs, byte on byte: because it works in place, or because
    /// it only copies the input, which then is in its place already.
    fn permits(&self, op: OpId, output: ValueId, input: ValueId) -> bool {
        let op = self.view.lowered.program.op(op);
        let reads = op.accesses.iter().filter(|access| self.root(access.value) == input);
        // The pairs of an output and an input that the op may put onto each other: those that it declares to work in
        // place, and those that it copies from one place to the same place.
        let overlays = op.overlays().iter().map(|overlay| (overlay.output, overlay.input));
        let copies = op.copies().iter().filter(|copy| copy.output_start == copy.input_start);
        let pairs: Vec<(ValueId, ValueId)> = overlays.chain(copies.map(|copy| (copy.output, copy.input))).collect();
        let allowed = |value: ValueId| {
            let fits = |&(written, read): &(ValueId, ValueId)| {
                self.root(written) == output && read == value && self.aligned(written, read)
            };
            pairs.iter().any(fits)
        };
        // Byte on byte means that both begin where their buffers begin. Every read of the input must be one of the
        // permitted pairs: an op that also reads the input in another way may still need the old bytes.
        self.whole[output]
            && self.whole[input]
            && reads.into_iter().all(|access| access.kind == AccessKind::Read && allowed(access.value))
    }

    /// Whether an op may write its output over a buffer (`donor`) that some of its inputs may be: every access of the
    /// op to that buffer must be a read that the output may overlay.
    pub(super) fn may_write_over(&self, op: OpId, output: ValueId, donor: SiteId) -> bool {
        let op = self.view.lowered.program.op(op);
        let is_donor = |value: ValueId| self.view.aliases.sites(value).contains(&donor);
        let permitted = |input: ValueId| {
            let pair = |overlay: &memplan_program::Overlay| overlay.output == output && overlay.input == input;
            self.whole[self.root(input)] && op.overlays().iter().any(pair) && self.aligned(output, input)
        };
        let mut accesses = op.accesses.iter().filter(|access| is_donor(access.value));
        self.whole[self.root(output)]
            && accesses.all(|access| access.kind == AccessKind::Read && permitted(access.value))
    }

    /// Whether two values begin at the same byte of their roots, and that byte is known.
    pub(super) fn aligned(&self, output: ValueId, input: ValueId) -> bool {
        let (written, read) = (self.roots[output].1, self.roots[input].1);
        written.is_some() && written == read
    }
}

/// The root of each value (the value that it is a view of, at the end of a chain of views), and the byte of the root
/// at which the value begins, if that is known. A value that is no view is its own root, at byte 0.
fn roots(program: &Program) -> IndexVec<ValueId, (ValueId, Option<u64>)> {
    let mut roots: IndexVec<ValueId, (ValueId, Option<u64>)> =
        program.values().ids().map(|value| (value, Some(0))).collect();
    for value in program.values().ids() {
        let mut chain = Vec::new();
        let mut at = value;
        // Follows the chain up to a value with a smaller number, whose root is computed already, or to the end of the
        // chain. Usually the base of a view has a smaller number than the view, and the chain has one step. The bound
        // on the length of the chain ends the loop if the views of a faulty program form a circle.
        while let Some((base, start)) = step(program, at)
            && chain.len() < program.values().len()
        {
            chain.push(start);
            at = base;
            if at < value {
                break;
            }
        }
        let (root, begin) = if at < value { roots[at] } else { (at, Some(0)) };
        let sum = chain.into_iter().fold(begin, |sum, start| sum?.checked_add(start?));
        roots[value] = (root, sum);
    }
    roots
}

/// For each value whether it begins where its buffer begins, whichever buffer that is. An allocation does. A value
/// that control flow hands over or a select chooses does if all values that it may be do; it is assumed to until a
/// source is found that does not. No other value does (views, memory from outside, results of unknown ops).
fn whole(program: &Program, roots: &IndexVec<ValueId, (ValueId, Option<u64>)>) -> IndexVec<ValueId, bool> {
    let origins = program.values().iter().map(|value| &value.origin);
    let mut whole: IndexVec<ValueId, bool> =
        origins.map(|origin| matches!(origin, Origin::Alloc(_) | Origin::Incoming | Origin::Merged(_))).collect();
    // For each root the values that it, or a view of it, may become.
    let mut receivers: IndexVec<ValueId, Vec<ValueId>> = IndexVec::filled(Vec::new(), program.values().len());
    // Values of which a source has turned out not to be the beginning of its buffer.
    let mut doubtful = Vec::new();
    // The edges of the value flow are pairs (target, source). `chosen` has those of selects, and `incoming_edges` has
    // what control flow hands over.
    let chosen = program.values().iter_enumerated().flat_map(|(target, value)| {
        let sources: &[ValueId] = if let Origin::Merged(sources) = &value.origin { sources } else { &[] };
        sources.iter().map(move |&source| (target, source))
    });
    for (target, source) in program.incoming_edges().into_iter().chain(chosen) {
        let (root, start) = roots[source];
        receivers[root].push(target);
        if start != Some(0) || !whole[root] {
            doubtful.push(target);
        }
    }
    // A value that is not the beginning of its buffer makes all values doubtful that receive it. Each value loses the
    // property once, so this ends.
    while let Some(value) = doubtful.pop() {
        if std::mem::replace(&mut whole[value], false) {
            doubtful.extend(receivers[value].iter().copied());
        }
    }
    whole
}

/// The value that a view is directly made of, and the byte of it at which the view begins, if that is known. `None`
/// for a value that is no view.
fn step(program: &Program, value: ValueId) -> Option<(ValueId, Option<u64>)> {
    match &program.value(value).origin {
        Origin::Derived { base, extent: Extent::Exactly(range) } => Some((*base, Some(range.start.0))),
        Origin::Derived { base, .. } => Some((*base, None)),
        Origin::Merged(sources) if sources.len() == 1 => Some((sources[0], None)),
        _ => None,
    }
}

/// Whether the blocks of a region only branch to blocks behind them.
fn is_forward(program: &Program, blocks: &[BlockId]) -> bool {
    // Nearly every region is one block that branches to no block.
    let leaves = |block: &BlockId| {
        program.block(*block).branches.iter().all(|branch| !matches!(branch.target, Target::Block(_)))
    };
    if blocks.iter().all(leaves) {
        return true;
    }
    let place: HashMap<BlockId, usize> = blocks.iter().copied().zip(0..).collect();
    blocks.iter().all(|block| {
        program.block(*block).branches.iter().all(|branch| match branch.target {
            Target::Block(target) => place.get(block) < place.get(&target),
            Target::Leave | Target::Break => true,
        })
    })
}
