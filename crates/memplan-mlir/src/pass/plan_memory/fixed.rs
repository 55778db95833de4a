//! Bytes that a kernel uses at addresses of its own.
//!
//! A `pointer_cast` with constant addresses (here a *cast*) is a buffer that has been
//! placed already: by hand, or by an earlier run of this pass. It keeps its addresses, and
//! what is planned now stays off its bytes while the kernel needs them:
//!
//! ```text
//!   %a = hivm.hir.pointer_cast(%c64_i64) : memref<32xf16, #hivm.address_space<ub>>
//!   hivm.hir.load ins(%in) outs(%a)                 bytes 64..128 of ub are taken
//!   hivm.hir.vadd ins(%a, %b) outs(%b)              from here up to here
//! ```
//!
//! Several casts may name the same bytes: the slots of a multi-buffer, or one
//! address under two types. So the bytes of a memory are cut wherever a cast
//! begins or ends, and each *piece* between two cuts (not the piece of the glossary) is taken whenever one of its
//! casts is in use.
//!
//! A cast is in use from its first access to its last one, through any value that
//! may be its memory. Four things make that longer, to be on the safe side:
//!
//! - an access inside a loop or a branch counts for the whole of the outermost op
//!   around it;
//! - unless the first access overwrites all of the cast and comes before every
//!   other one, the content comes from elsewhere: the bytes are taken from the
//!   start of the function;
//! - what escapes, what asynchronous work uses, and what a called function has at
//!   fixed addresses is taken to the end of the function;
//! - what is marked `mem_unique` or as preloaded is taken all the time.
//!
//! An address that is not a constant may be anywhere; a remark says that nothing
//! keeps other buffers away from it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use memplan_core::IndexVec;
use memplan_program::{AccessKind, Control, FunctionId, OpId, Origin, ValueId};

// `Scope` is a memory of the device, with its capacity and alignment. `OpId` is an op of the program, `crate::OpId`
// an op of the text. `view.tree` knows which op is inside of which (`OpTree`): `child_towards(None, op)` is the op of
// the function's body that contains an op, or is that op.
use super::KernelView;
use super::target::Scope;
use crate::dialect::Traits;
use crate::lower::origin::allocated_bytes;
use crate::pass::Remark;

/// The name of the op that gives an address a type.
const CAST: &str = "hivm.hir.pointer_cast";

/// A cast to constant addresses, as a function meets it.
#[derive(Clone, Debug)]
pub(super) struct Cast {
    /// The cast. It stands in the function itself, or in a function that is called, directly or not.
    pub(super) op: crate::OpId,
    /// The name of the memory space in the text.
    pub(super) space: String,
    /// One address for each slot.
    addresses: Vec<u64>,
    /// Bytes at each address; `None` for a shape that is only known at run time.
    size: Option<u64>,
    /// The first and the last op at which it is in use.
    pub(super) first: OpId,
    pub(super) last: OpId,
}

/// Bytes of one memory that are taken for some of the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) bytes: Range<u64>,
    /// The stretches of time in which they are taken: the first and the last op of each. Sorted, without overlap.
    pub(super) taken: Vec<(OpId, OpId)>,
    /// One of the casts that take the bytes: the piece is named after it in messages.
    pub(super) op: crate::OpId,
}

/// The casts of a program, by the function that *meets* them: its own, and those of all functions that it calls.
pub(super) struct FixedBuffers {
    by_function: IndexVec<FunctionId, Vec<Cast>>,
    /// Remarks about addresses that are not constant, each with its function.
    pub(super) remarks: Vec<(FunctionId, Remark)>,
}

impl FixedBuffers {
    pub(super) fn of(&self, function: FunctionId) -> &[Cast] {
        &self.by_function[function]
    }
}

/// Finds the casts of all functions.
pub(super) fn find(view: &KernelView) -> FixedBuffers {
    let program = &view.lowered.program;
    let mut found =
        FixedBuffers { by_function: IndexVec::filled(Vec::new(), program.functions().len()), remarks: Vec::new() };
    let casts: Vec<OpId> = program.ops().ids().filter(|&op| view.document.name(view.lowered.ops[op]) == CAST).collect();
    // Most kernels have no casts, and the tables of `Uses` take a pass over the program.
    if casts.is_empty() {
        return found;
    }
    let uses = Uses::new(view);
    for op in casts {
        let function = program.function_of(op);
        let cast = view.lowered.ops[op];
        match constant_addresses(view, cast) {
            Some(addresses) => found.by_function[function].extend(uses.cast(op, addresses)),
            None => {
                let message = "this address is not known here: nothing keeps planned buffers away from it".to_owned();
                found.remarks.push((function, Remark { span: view.document.op(cast).span, message }));
            }
        }
    }
    add_casts_of_callees(view, &mut found);
    found
}

/// The addresses of a cast; `None` if one of them is no constant. Operands of type `index` are not addresses but
/// sizes of dimensions.
fn constant_addresses(view: &KernelView, cast: crate::OpId) -> Option<Vec<u64>> {
    let document = view.document;
    let is_address = |value: &&crate::ValueId| !matches!(document.ty(**value), crate::Type::Index);
    let addresses = document.operands(cast).iter().filter(is_address);
    addresses.map(|&value| u64::try_from(document.constant(value)?).ok()).collect()
}

/// Adds to each function the casts of all functions that it calls, directly or not. They are taken during the whole
/// caller: a called function may expect to find at a fixed address what it left there the last time.
fn add_casts_of_callees(view: &KernelView, found: &mut FixedBuffers) {
    let callees = callees(view);
    let own = found.by_function.clone();
    for function in own.ids() {
        // A function without ops calls nobody.
        let Some((first, last)) = view.tree.function_range(function) else { continue };
        let casts = &mut found.by_function[function];
        // Functions may call each other in a circle, so those that have been reached are remembered.
        let mut reached = HashSet::from([function]);
        let mut stack: Vec<FunctionId> = callees[function].iter().copied().collect();
        while let Some(callee) = stack.pop() {
            if reached.insert(callee) {
                casts.extend(own[callee].iter().cloned().map(|cast| Cast { first, last, ..cast }));
                stack.extend(&callees[callee]);
            }
        }
    }
}

/// The functions of the same module that each function calls. A call that names no such function (a call through a
/// value, a function of another module) is left out: nothing is known about the casts of what it calls.
fn callees(view: &KernelView) -> IndexVec<FunctionId, BTreeSet<FunctionId>> {
    let (document, program) = (view.document, &view.lowered.program);
    // The name that a function defines, or that a call calls.
    let symbol = |op: crate::OpId| document.symbol_name(op).unwrap_or_default();
    // Two modules of a text may each have a function of one name, so the module is part of the key: the op around the
    // function, `None` at the top level of the text. (`lowered.functions` gives the op of the text for a function of
    // the program, `lowered.ops` the one for an op.)
    let named: HashMap<(Option<crate::OpId>, &str), FunctionId> = view
        .lowered
        .functions
        .iter_enumerated()
        .map(|(function, &op)| ((document.parent_op(op), symbol(op)), function))
        .collect();
    let mut callees = IndexVec::filled(BTreeSet::new(), program.functions().len());
    for (op, &call) in view.lowered.ops.iter_enumerated() {
        if document.info(call).traits.has(Traits::CALL) {
            let caller = program.function_of(op);
            let module = document.parent_op(view.lowered.functions[caller]);
            callees[caller].extend(named.get(&(module, symbol(call))));
        }
    }
    callees
}

/// Which values may be the same memory, and which ops access each value.
struct Uses<'a> {
    view: &'a KernelView<'a>,
    /// For each value the values that are directly made of it: views of it, and values that control flow or a select
    /// may make of it.
    receivers: IndexVec<ValueId, Vec<ValueId>>,
    /// For each value the ops that access it.
    accesses: IndexVec<ValueId, Vec<(OpId, AccessKind)>>,
    /// Values with a mark of `MARKS`.
    marked: HashSet<ValueId>,
}

/// The attributes of an `annotation.mark` on memory that shares with nobody, or whose content is used although no op
/// says so (it is filled ahead of a loop).
const MARKS: [&str; 2] = ["mem_unique", "hivm.preload_local_buffer"];

impl<'a> Uses<'a> {
    /// Collects for every value where it goes on and which ops access it.
    fn new(view: &'a KernelView<'a>) -> Uses<'a> {
        let program = &view.lowered.program;
        let count = program.values().len();
        let mut uses = Uses {
            view,
            receivers: IndexVec::filled(Vec::new(), count),
            accesses: IndexVec::filled(Vec::new(), count),
            marked: marked(view),
        };
        // `receivers` says where a value goes on: through control flow, views and merges. A cast's bytes are taken as
        // long as any value that may be the cast is in use.
        for (target, source) in program.incoming_edges() {
            uses.receivers[source].push(target);
        }
        for (target, value) in program.values().iter_enumerated() {
            match &value.origin {
                Origin::Derived { base, .. } => uses.receivers[*base].push(target),
                Origin::Merged(sources) | Origin::Opaque(sources) => {
                    sources.iter().for_each(|&source| uses.receivers[source].push(target));
                }
                Origin::Alloc(_) | Origin::External | Origin::Incoming => {}
            }
        }
        for (op, info) in program.ops().iter_enumerated() {
            for access in &info.accesses {
                uses.accesses[access.value].push((op, access.kind));
            }
        }
        uses
    }

    /// A cast and when it is in use; `None` if nobody uses it.
    fn cast(&self, op: OpId, addresses: Vec<u64>) -> Option<Cast> {
        let document = self.view.document;
        let cast = self.view.lowered.ops[op];
        let result = *document.results(cast).first()?;
        let memref = document.ty(result).as_memref()?;
        let value = self.view.lowered.value(result)?;
        let (first, last) = self.life(value)?;
        let space = memref.space.clone().unwrap_or_default();
        Some(Cast { op: cast, space, addresses, size: allocated_bytes(memref).map(|bytes| bytes.0), first, last })
    }

    /// The first and the last op at which a cast's memory is in use, by the rules of the module documentation; `None`
    /// if no op accesses it.
    fn life(&self, value: ValueId) -> Option<(OpId, OpId)> {
        let (program, tree) = (&self.view.lowered.program, self.view.tree);
        let names = self.reached(value);
        let uses = self.all_uses(&names);
        let &(first, _) = uses.first()?;
        let function = program.function_of(first);
        let whole = tree.function_range(function)?;
        // In a function of several blocks the order of the text is not the order of execution.
        let is_graph = program.region(program.functions()[function].body).blocks.len() > 1;
        if is_graph || names.iter().any(|name| self.marked.contains(name)) {
            return Some(whole);
        }
        // The op of the function's body that contains an op, or is that op. A use inside of a loop or a branch counts
        // for the whole of the op of the body.
        let outermost = |op: OpId| tree.child_towards(None, op);
        let begin = if self.begins_with_a_write(value, &uses) { outermost(first) } else { whole.0 };
        let outlives = |&(op, kind): &(OpId, AccessKind)| kind == AccessKind::Escape || self.may_run_later(op);
        let end = if uses.iter().any(outlives) {
            whole.1
        } else {
            uses.iter().map(|&(op, _)| tree.last_inside(outermost(op))).max().unwrap_or(whole.1)
        };
        Some((begin, end))
    }

    /// A value and all values that may be (a part of) its memory, over any number of steps.
    fn reached(&self, value: ValueId) -> Vec<ValueId> {
        let mut seen = HashSet::from([value]);
        let mut found = vec![value];
        let mut next = 0;
        while let Some(&value) = found.get(next) {
            found.extend(self.receivers[value].iter().filter(|&&receiver| seen.insert(receiver)));
            next += 1;
        }
        found
    }

    /// All accesses through these values, in the order of the program.
    fn all_uses(&self, names: &[ValueId]) -> Vec<(OpId, AccessKind)> {
        let mut uses: Vec<(OpId, AccessKind)> = names.iter().flat_map(|&name| &self.accesses[name]).copied().collect();
        uses.sort_unstable();
        uses
    }

    /// Whether the content that a cast had before the kernel is not needed: the first access overwrites all of the
    /// value, and all other accesses stand in the same block behind it, or inside of ops of that block, so that none
    /// can come first.
    fn begins_with_a_write(&self, value: ValueId, uses: &[(OpId, AccessKind)]) -> bool {
        let (program, tree) = (&self.view.lowered.program, self.view.tree);
        let Some(&(first, _)) = uses.first() else { return false };
        let at_first = uses.iter().take_while(|&&(op, _)| op == first);
        // `uses` is sorted by op, so the accesses of the first op stand in front.
        let only_writes = at_first.clone().all(|&(_, kind)| kind == AccessKind::Write);
        // A write through a view may leave other bytes as they were, so it must be the cast's own value that is
        // written.
        let of_the_whole = self.accesses[value].iter().any(|&(op, kind)| op == first && kind == AccessKind::Write);
        // The op in whose region the first access stands; `None` for the function's body.
        let parent = tree.parent(first);
        let in_its_block = |&(op, _): &(OpId, AccessKind)| {
            parent.is_none_or(|parent| tree.contains(parent, op) && parent != op)
                && program.op(tree.child_towards(parent, op)).block == program.op(first).block
        };
        only_writes && of_the_whole && uses.iter().all(in_its_block)
    }

    /// Whether an op may still run after control has come past it: the op, or an op around it, is asynchronous, or
    /// nothing is known about how its regions run. In a dag the ops have no fixed order, so a dag counts, too.
    fn may_run_later(&self, op: OpId) -> bool {
        let program = &self.view.lowered.program;
        // Whether an op of this kind is over, with all its regions, when control has come past it.
        let waits = |control: &Control| {
            matches!(control, Control::Once | Control::Loop(_) | Control::While | Control::Alternatives { .. })
                || matches!(control, Control::Parallel { .. })
        };
        !std::iter::once(op).chain(program.ancestors(op)).all(|op| waits(program.op(op).control()))
    }
}

/// The values that have a mark of `MARKS`.
fn marked(view: &KernelView) -> HashSet<ValueId> {
    let document = view.document;
    let is_mark = |op: crate::OpId| {
        document.name(op) == "annotation.mark" && MARKS.iter().any(|mark| document.attribute(op, mark).is_some())
    };
    let marks = view.lowered.ops.iter().filter(|&&op| is_mark(op));
    let values = marks.flat_map(|&op| document.operands(op)).filter_map(|&value| view.lowered.value(value));
    values.collect()
}

/// The taken bytes of one memory (`scope`): its casts, cut wherever one begins or ends. `is_here` says whether the
/// name of a memory space in the text means this memory.
///
/// ```text
///   bytes   0      64      128     192
///   cast a  |───────────────|                   pieces: 0..64 (a), 64..128 (a or b), 128..192 (b)
///   cast b         |────────────────|
/// ```
pub(super) fn pieces(casts: &[Cast], is_here: impl Fn(&str) -> bool, scope: &Scope) -> Vec<Piece> {
    let here: Vec<(Range<u64>, &Cast)> = casts
        .iter()
        .filter(|cast| is_here(&cast.space))
        .flat_map(|cast| cast.addresses.iter().map(move |&address| (taken_bytes(address, cast.size, scope), cast)))
        .filter(|(bytes, _)| !bytes.is_empty())
        .collect();
    // For each cut the casts that begin and those that end there. Between two neighbouring cuts the set of casts that
    // cover a byte does not change, so a piece has one lifetime.
    let mut cuts: BTreeMap<u64, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (index, (bytes, _)) in here.iter().enumerate() {
        cuts.entry(bytes.start).or_default().0.push(index);
        cuts.entry(bytes.end).or_default().1.push(index);
    }
    let mut pieces: Vec<Piece> = Vec::new();
    // The casts that cover the bytes from `start` to the next cut. Without any, the bytes are free.
    let mut covering: BTreeSet<usize> = BTreeSet::new();
    let mut start = 0;
    for (&cut, (begin, end)) in &cuts {
        let bytes = start..cut;
        if let Some(&first) = covering.first() {
            let taken = united(covering.iter().map(|&index| (here[index].1.first, here[index].1.last)));
            let op = here[first].1.op;
            // Neighbouring pieces with the same lifetime are one piece. That keeps the problem small.
            match pieces.last_mut() {
                Some(last) if last.bytes.end == start && last.taken == taken => last.bytes.end = cut,
                _ => pieces.push(Piece { bytes, taken, op }),
            }
        }
        covering.extend(begin);
        end.iter().for_each(|index| {
            covering.remove(index);
        });
        start = cut;
    }
    pieces
}

/// The bytes that a cast takes at one of its addresses, in whole units of the memory's alignment: planned buffers
/// begin at such units only. Bytes beyond the capacity are left out. A cast of unknown size takes everything up to
/// the capacity.
fn taken_bytes(address: u64, size: Option<u64>, scope: &Scope) -> Range<u64> {
    let unit = scope.alignment.max(1);
    // A memory without a capacity gets one so large that the sums of the planner cannot overflow.
    let capacity = scope.capacity.unwrap_or(memplan_core::MAX_BYTES / 4) / unit * unit;
    // An address plus a size may be more than any number; such bytes are beyond the capacity in any case.
    let end = size.map_or(capacity, |size| address.saturating_add(size));
    let end = end.min(capacity).div_ceil(unit).saturating_mul(unit);
    (address / unit * unit).min(end)..end
}

/// Stretches of ops (first and last, both included), sorted; those that have an op in common are made one.
fn united(stretches: impl Iterator<Item = (OpId, OpId)>) -> Vec<(OpId, OpId)> {
    let mut sorted: Vec<(OpId, OpId)> = stretches.collect();
    sorted.sort_unstable();
    let mut united: Vec<(OpId, OpId)> = Vec::with_capacity(sorted.len());
    for (first, last) in sorted {
        match united.last_mut() {
            Some(before) if first <= before.1 => before.1 = before.1.max(last),
            _ => united.push((first, last)),
        }
    }
    united
}
