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
//! So what counts is not when a *buffer* is in use but when each *value* that may
//! be it still matters: from its definition (an allocation: its first access) to
//! its last use, a use inside a loop that does not define it counting until the
//! loop ends. Two buffers interfere if one is written through a value v while
//! another value that may be the other buffer still matters afterwards, or is
//! read by the same op without leave to overlay. Uses in the branch that is not
//! taken when the write is reached do not count.
//!
//! Costs a pass over the program, and for a question about two buffers the
//! number of writes of one times the number of names of the other.

use std::collections::HashMap;

use memplan_core::{Id, IndexVec};
use memplan_program::{
    AccessKind, BlockId, Control, Definition, Extent, OpId, Origin, Program, RegionId, SiteId, Target, ValueId,
};

use super::KernelView;

/// When a value matters, in half steps of ops.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    end: u64,
}

/// Until when a value matters because of what is done in one block.
#[derive(Clone, Copy, Debug)]
struct Use {
    /// The op, or the loop around it that does not define the value; `None`
    /// where the value matters whatever runs.
    at: Option<OpId>,
    end: u64,
}

/// If a value has uses in more blocks than this, the branches that they are in are not looked at: all uses
/// count.
const MOST_USES: usize = 64;

/// When the values of a program matter. See the module documentation.
pub(super) struct Interference<'a> {
    view: &'a KernelView<'a>,
    roots: IndexVec<ValueId, (ValueId, Option<u64>)>,
    spans: IndexVec<ValueId, Option<Span>>,
    /// The last use in each block, in the order of the program.
    uses: IndexVec<ValueId, Vec<Use>>,
    writes: IndexVec<ValueId, Vec<OpId>>,
    /// Regions whose blocks only branch to blocks behind them.
    forward: IndexVec<RegionId, bool>,
    /// Values that begin where the buffer they may be begins, whichever it is.
    whole: IndexVec<ValueId, bool>,
    /// The values, of those that are no views, that may be each site.
    names: IndexVec<SiteId, Vec<ValueId>>,
}

/// An op's own time; its regions end at an odd one.
fn time(op: OpId) -> u64 {
    2 * op.index() as u64 + 2
}

impl<'a> Interference<'a> {
    /// Looks at every value once: what it is a view of, which ops use and write it, and which sites it may be.
    pub(super) fn new(view: &'a KernelView<'a>) -> Interference<'a> {
        let program = &view.lowered.program;
        let count = program.values().len();
        let roots = roots(program);
        let mut found = Interference {
            view,
            forward: program.regions().iter().map(|region| is_forward(program, &region.blocks)).collect(),
            whole: whole(program, &roots),
            roots,
            spans: IndexVec::filled(None, count),
            uses: IndexVec::filled(Vec::new(), count),
            writes: IndexVec::filled(Vec::new(), count),
            names: IndexVec::filled(Vec::new(), program.sites().len()),
        };
        for value in program.values().ids().filter(|&value| found.roots[value].0 == value) {
            for &site in view.aliases.sites(value) {
                found.names[site].push(value);
            }
        }
        found.count_uses();
        found
    }

    /// What a view is a view of.
    pub(super) fn root(&self, value: ValueId) -> ValueId {
        self.roots[value].0
    }

    /// Counts all uses of all values.
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
            for &value in info.inits() {
                self.use_at(self.root(value), op);
            }
            // Merging values reads none of them, but the merged value is a new name for them from here on.
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

    /// Notes a use of a value. Uses in one block become one, and beyond a limit they are not told apart any more.
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

    /// Counts a use of a value by an op. If a loop inside of the value's home surrounds the op, the value matters
    /// during all of the outermost such loop, because the next iteration may use it again. If blocks of a cycle use the
    /// value, it matters always.
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
            if !matches!(program.op(parent).control(), Control::Once | Control::Alternatives { .. }) {
                used = Span { start: time(parent), end: time(tree.last_inside(parent)) + 1 };
                at = Some(parent);
            }
            block = program.op(parent).block;
            around = tree.parent(parent);
        }
        if self.goes_round(value, block) {
            (used, at) = (Span { start: 0, end: u64::MAX }, None);
        }
        let start = self.begins(value).unwrap_or(used.start);
        let span = self.spans[value].get_or_insert(Span { start, end: used.end });
        span.start = span.start.min(start);
        self.matters(value, Use { at, end: used.end });
    }

    /// The op whose region defines a value.
    fn home(&self, value: ValueId) -> Option<OpId> {
        let program = &self.view.lowered.program;
        match program.value(value).definition {
            Definition::Result(op) => program.parent(op),
            Definition::Argument(block) => program.region(program.block(block).region).op,
            Definition::Global | Definition::Parameter(_) => None,
        }
    }

    /// Whether a value is used in another block of a region whose blocks form cycles.
    fn goes_round(&self, value: ValueId, used_in: BlockId) -> bool {
        let program = &self.view.lowered.program;
        let defined_in = match program.value(value).definition {
            Definition::Result(op) => program.op(op).block,
            Definition::Argument(block) => block,
            Definition::Global | Definition::Parameter(_) => return false,
        };
        let region = program.block(used_in).region;
        let same = program.block(defined_in).region == region && defined_in != used_in;
        same && !self.forward[region]
    }

    /// When a value comes into being; `None` for an allocation, which is nothing before it is used.
    fn begins(&self, value: ValueId) -> Option<u64> {
        let program = &self.view.lowered.program;
        let info = program.value(value);
        match info.definition {
            _ if matches!(info.origin, Origin::Alloc(_)) => None,
            Definition::Result(op) if program.op(op).regions().is_empty() => Some(time(op)),
            Definition::Result(op) => Some(time(self.view.tree.last_inside(op)) + 1),
            Definition::Argument(block) => {
                let first = program.block(block).ops.first();
                Some(first.map_or(0, |&op| time(op) - 1))
            }
            Definition::Global | Definition::Parameter(_) => Some(0),
        }
    }

    /// Whether the two buffers cannot have one address.
    pub(super) fn between(&self, one: SiteId, other: SiteId) -> bool {
        self.overwrites(one, other) || self.overwrites(other, one)
    }

    /// Whether an instance of a buffer is written while an older one still matters.
    pub(super) fn with_itself(&self, site: SiteId) -> bool {
        self.overwrites(site, site)
    }

    /// The same for writes outside of an op.
    pub(super) fn with_itself_outside(&self, site: SiteId, around: OpId) -> bool {
        self.overwrites_at(site, site, |op| !self.view.tree.contains(around, op))
    }

    /// Whether writing to `writer` may destroy what is still wanted of `victim`.
    fn overwrites(&self, writer: SiteId, victim: SiteId) -> bool {
        self.overwrites_at(writer, victim, |_| true)
    }

    /// The same for some of the writes.
    fn overwrites_at(&self, writer: SiteId, victim: SiteId, counts: impl Fn(OpId) -> bool) -> bool {
        self.names[writer].iter().any(|&through| {
            self.writes[through].iter().filter(|&&op| counts(op)).any(|&op| {
                let mut others = self.names[victim].iter().filter(|&&other| other != through);
                others.any(|&other| self.destroys(op, through, other))
            })
        })
    }

    fn destroys(&self, op: OpId, through: ValueId, other: ValueId) -> bool {
        let Some(Span { start, end }) = self.spans[other] else { return false };
        let now = time(op);
        if start > now || end < now {
            return false;
        }
        let end = self.end_seen_from(op, other, end);
        end > now || (end == now && (start == now || !self.permits(op, through, other)))
    }

    /// Until when a value matters, once an op has been reached.
    fn end_seen_from(&self, op: OpId, value: ValueId, end: u64) -> u64 {
        let uses = &self.uses[value];
        if uses.len() > MOST_USES {
            return end;
        }
        let counts = |used: &&Use| used.at.is_none_or(|at| !self.is_alternative(op, at));
        uses.iter().filter(counts).map(|used| used.end).max().unwrap_or(0)
    }

    /// Whether two ops are in branches of which only one is taken.
    fn is_alternative(&self, one: OpId, other: OpId) -> bool {
        let (program, tree) = (&self.view.lowered.program, self.view.tree);
        if tree.contains(one, other) || tree.contains(other, one) {
            return false;
        }
        let around = tree.around_both(one, other);
        let branches = around.filter(|&op| matches!(program.op(op).control(), Control::Alternatives { .. }));
        let region = |op: OpId| program.block(program.op(tree.child_towards(branches, op)).block).region;
        branches.is_some() && region(one) != region(other)
    }

    /// Whether the op may write the one over the other, byte on byte: it works in
    /// place, or it copies what then is there already.
    fn permits(&self, op: OpId, output: ValueId, input: ValueId) -> bool {
        let op = self.view.lowered.program.op(op);
        let reads = op.accesses.iter().filter(|access| self.root(access.value) == input);
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

    /// Whether an op may write its output over a buffer that some of its inputs may be.
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

    /// Whether an op lets `output` lie on `input`, both at the same place in their buffers.
    pub(super) fn aligned(&self, output: ValueId, input: ValueId) -> bool {
        let (written, read) = (self.roots[output].1, self.roots[input].1);
        written.is_some() && written == read
    }
}

/// What each value is a view of, and where in it, if that is known.
fn roots(program: &Program) -> IndexVec<ValueId, (ValueId, Option<u64>)> {
    let mut roots: IndexVec<ValueId, (ValueId, Option<u64>)> =
        program.values().ids().map(|value| (value, Some(0))).collect();
    for value in program.values().ids() {
        let mut chain = Vec::new();
        let mut at = value;
        // Ids grow with definitions, but nothing here relies on it.
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

/// Whether each value is the beginning of whatever buffer it may be: an
/// allocation is, and what control flow hands over or a select chooses if all of
/// that is. Assumed until something speaks against it.
fn whole(program: &Program, roots: &IndexVec<ValueId, (ValueId, Option<u64>)>) -> IndexVec<ValueId, bool> {
    let origins = program.values().iter().map(|value| &value.origin);
    let mut whole: IndexVec<ValueId, bool> =
        origins.map(|origin| matches!(origin, Origin::Alloc(_) | Origin::Incoming | Origin::Merged(_))).collect();
    let mut receivers: IndexVec<ValueId, Vec<ValueId>> = IndexVec::filled(Vec::new(), program.values().len());
    let mut doubtful = Vec::new();
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

/// One step towards the root of a view.
fn step(program: &Program, value: ValueId) -> Option<(ValueId, Option<u64>)> {
    match &program.value(value).origin {
        Origin::Derived { base, extent: Extent::Exactly(range) } => Some((*base, Some(range.start.0))),
        Origin::Derived { base, .. } => Some((*base, None)),
        Origin::Merged(sources) if sources.len() == 1 => Some((sources[0], None)),
        _ => None,
    }
}

fn is_forward(program: &Program, blocks: &[BlockId]) -> bool {
    let place: HashMap<BlockId, usize> = blocks.iter().copied().zip(0..).collect();
    blocks.iter().all(|block| {
        program.block(*block).branches.iter().all(|branch| match branch.target {
            Target::Block(target) => place.get(block) < place.get(&target),
            Target::Leave | Target::Break => true,
        })
    })
}
