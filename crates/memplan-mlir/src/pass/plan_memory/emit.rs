//! The new text: a `pointer_cast` (here a *cast*) in place of every allocation.
//!
//! ```text
//!   func.func @kernel() {                          func.func @kernel() {
//!                                                    %c64_i64 = arith.constant 64 : i64
//!                                                    %c0_i64 = arith.constant 0 : i64
//!     scf.for … {                                    scf.for … {
//!       …                                     ──►      %a = hivm.hir.pointer_cast(%c0_i64, %c64_i64) : …
//!       %a = memref.alloc() : …                        annotation.mark %a {hivm.multi_buffer = 2 : i32} : …
//!       annotation.mark %a {hivm.multi_…}              …
//! ```
//!
//! Addresses are constants at the start of the function. The cast of a multi-buffer has
//! an address for each slot and an `annotation.mark` beside it (it is *marked*). It moves to
//! the front of the innermost loop around it, together with its mark, since the loop's
//! iterations take the slots in turn. If an unmarked cast further down has the same addresses
//! and the same type, it is the same buffer: ops that use it are made to use the marked one,
//! so that both rotate together. A cast that moves out of a branch gets a new name if another
//! branch has its name.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use memplan_core::{Bytes, IndexVec, Placement, Span, bound};
use memplan_program::SiteId;
use smallvec::SmallVec;

// Here `OpId`, `BlockId` and `ValueId` belong to the text (`Document`). `Edits` collects changes of the text; no two of
// them may overlap. A `Placement` has the addresses of a buffer, one for each slot.
use super::function::AllPlanned;
use super::{KernelView, Planned, PlannedFunction, display};
use crate::hash::{HashMap, HashSet};
use crate::lex::{Lexer, TokenKind};
use crate::pass::{Remark, Rewrite, Saving};
use crate::{BlockId, Definition, Document, Edits, OpId, ValueId};

/// Makes the edits that put the planned addresses into the text, with the remarks, statistics and files that the user
/// has asked for.
pub(super) fn emit(view: &KernelView, all: AllPlanned) -> Planned {
    let AllPlanned { functions, placements, mut remarks } = all;
    let mut emitter = Emitter {
        view,
        placements: &placements,
        edits: Edits::default(),
        constants: Constants::new(view.document, "i64"),
    };
    emitter.casts();
    let Emitter { mut edits, constants, .. } = emitter;
    constants.insert(view.document, &mut edits);
    let stats = functions.iter().flat_map(savings).collect();
    if view.options.print_size {
        remarks.extend(allocated(view, &functions));
    }
    let files = if view.options.display { display::files(view, &functions) } else { Vec::new() };
    let rewrite = Rewrite { edits, placements, owners: BTreeMap::new(), remarks, stats };
    Planned { rewrite, functions, files }
}

/// Before and after, for each memory of a function.
fn savings(function: &PlannedFunction) -> Vec<Saving> {
    let PlannedFunction { name, problem, plan, .. } = function;
    let bounds = bound::space_lower_bounds(problem);
    // The numbers of one memory. `before` is the naive sum: all slots of all buffers side by side.
    let row = |space| {
        let here = problem.buffers().iter().filter(move |buffer| buffer.spaces.contains(&space));
        let bytes = |buffer: &memplan_core::Buffer| buffer.bytes().unwrap_or_default().0 * u64::from(buffer.slots);
        Saving {
            function: name.clone(),
            scope: problem.spaces()[space].name.clone(),
            buffers: here.clone().count(),
            before: here.map(bytes).fold(0, u64::saturating_add),
            after: plan.extents[space].0,
            lower_bound: bounds[space].bytes.0,
        }
    };
    problem.spaces().ids().map(row).collect()
}

/// A remark on the size of each memory, in the words of the original.
fn allocated(view: &KernelView, functions: &[PlannedFunction]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for function in functions {
        for (space, info) in function.problem.spaces().iter_enumerated() {
            let bits = u128::from(function.plan.extents[space].0) * 8;
            let message = format!("[AscendNPU IR] Allocated {} size = {bits} bits ", info.name.to_uppercase());
            // The remark points at the function's first buffer.
            let site = function.sites.first().map(|&site| view.lowered.sites[site]);
            let span = site.map_or(Span::default(), |op| view.document.op(op).span);
            remarks.push(Remark { span, message });
        }
    }
    remarks
}

/// Collects the edits.
struct Emitter<'a> {
    view: &'a KernelView<'a>,
    placements: &'a IndexVec<SiteId, Option<Placement>>,
    edits: Edits,
    /// The addresses as constants.
    constants: Constants<'a>,
}

/// The cast that takes the place of an allocation. There are as many as buffers, so what the text says already is
/// not copied.
struct Cast<'a> {
    /// The allocation.
    op: OpId,
    /// Its result.
    value: ValueId,
    /// The name of the result in the new text, if it is another one than in the old text.
    new_name: Option<Box<str>>,
    identity: Identity<'a>,
}

/// Casts of one function that agree in these are one buffer.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'a> {
    /// The numbers that the addresses have among the constants.
    addresses: SmallVec<[u32; 2]>,
    /// The sizes that are only known at run time, as written in a cast (`[%n] `); empty if there are none.
    sizes: Box<str>,
    /// The type as written.
    ty: &'a str,
}

impl Cast<'_> {
    /// The name of the result in the new text.
    fn name<'n>(&'n self, document: &'n Document) -> &'n str {
        self.new_name.as_deref().unwrap_or_else(|| document.value_name(self.value))
    }

    /// Whether sizes are only known at run time.
    fn is_dynamic(&self) -> bool {
        !self.identity.sizes.is_empty()
    }

    /// The cast as it stands in the new text.
    fn text(&self, document: &Document, constants: &Constants) -> String {
        let Identity { addresses, sizes, ty } = &self.identity;
        let location = document.location(self.op).map_or("", |span| document.text(span));
        let mut text = String::with_capacity(128 + sizes.len() + ty.len() + location.len());
        text.extend([self.name(document), " = hivm.hir.pointer_cast("]);
        for (at, &address) in addresses.iter().enumerate() {
            text.extend([if at == 0 { "" } else { ", " }, constants.name(address)]);
        }
        text.extend([") ", &**sizes, ": ", *ty, if location.is_empty() { "" } else { " " }, location]);
        text
    }
}

/// The cast of a multi-buffer, and where it goes.
struct Marked {
    /// The position of the cast in the list of all casts.
    cast: usize,
    /// The `annotation.mark` of the multi-buffer.
    mark: OpId,
    /// The loop, and the block of it, to whose front the cast moves; `None` if it stays where it is.
    home: Option<(OpId, BlockId)>,
}

/// Ops whose lines are deleted: casts that move, their marks, and deallocations.
struct Moved {
    /// For each op of the text whether it is one of them.
    is_moved: IndexVec<OpId, bool>,
}

impl Moved {
    fn contains(&self, op: OpId) -> bool {
        self.is_moved[op]
    }

    /// The ops, in the order of the text.
    fn ops(&self) -> impl Iterator<Item = OpId> {
        self.is_moved.iter_enumerated().filter(|(_, is_moved)| **is_moved).map(|(op, _)| op)
    }
}

impl<'a> Emitter<'a> {
    /// Writes a cast for every placed allocation, moves those of multi-buffers, and removes deallocations.
    fn casts(&mut self) {
        let document = self.view.document;
        let mut casts = Vec::new();
        for (site, placement) in self.placements.iter_enumerated() {
            if let Some(placement) = placement
                && let Some(cast) = self.cast(site, placement)
            {
                casts.push(cast);
            }
        }
        // Casts of multi-buffers move to the front of their loop, together with their marks. Their old lines are
        // deleted and written anew elsewhere; all other casts are replaced where they stand.
        let marked = self.marked(&casts);
        let mut moved = Moved { is_moved: IndexVec::filled(false, document.op_ids().len()) };
        for one in marked.iter().filter(|one| one.home.is_some()) {
            moved.is_moved[casts[one.cast].op] = true;
            moved.is_moved[one.mark] = true;
        }
        self.deallocations().for_each(|op| moved.is_moved[op] = true);
        // A cast that moves may meet another value of the same name, so names are settled before any text is written.
        self.name_apart(&mut casts, &marked);
        for cast in casts.iter().filter(|cast| !moved.contains(cast.op)) {
            self.edits.replace(document.op(cast.op).span, cast.text(document, &self.constants));
        }
        for op in moved.ops() {
            self.edits.delete_lines(document.source(), document.op(op).span);
        }
        self.move_to_front(&casts, &marked, &moved);
        let names = self.new_names(&casts, &marked);
        self.rename_uses(&names, &moved);
    }

    /// The cast that takes the place of an allocation, with its addresses as constants; `None` if the allocation is in
    /// no function.
    fn cast(&mut self, site: SiteId, placement: &Placement) -> Option<Cast<'a>> {
        let document = self.view.document;
        let op = self.view.lowered.sites[site];
        let value = *document.results(op).first()?;
        let function = document.function_around(op)?;
        let addresses = placement.offsets.iter().map(|offset| self.constants.number(function, *offset)).collect();
        // The allocation's operands are the sizes that are only known at run time: `memref.alloc(%n)` becomes
        // `pointer_cast(%c0_i64) [%n]`.
        let sizes: Vec<String> = document.operands(op).iter().map(|&size| numbered_name(document, size)).collect();
        let sizes = if sizes.is_empty() { Box::default() } else { format!("[{}] ", sizes.join(", ")).into() };
        Some(Cast { op, value, new_name: None, identity: Identity { addresses, sizes, ty: document.type_text(value) } })
    }

    /// The `memref.dealloc` ops of buffers that have an address now: there is nothing to free any more.
    fn deallocations(&self) -> impl Iterator<Item = OpId> {
        // A value that may be several buffers is freed only if each of them is planned; else the free is still needed.
        let placed = |value: &ValueId| {
            let sites = self.view.sites_of(*value);
            !sites.is_empty() && sites.iter().all(|&site| self.placements[site].is_some())
        };
        let document = self.view.document;
        let frees =
            move |op: &OpId| document.name(*op) == "memref.dealloc" && document.operands(*op).iter().all(placed);
        self.view.lowered.ops.iter().copied().filter(frees)
    }

    /// Gives new names to casts that move to the front of a block in which another value already has their name. All
    /// other casts keep their names. That matters when the new text is read again for the check: a cast that no op
    /// uses can only be found by its name.
    fn name_apart(&mut self, casts: &mut [Cast], marked: &[Marked]) {
        let document = self.view.document;
        let homes: Vec<(usize, BlockId)> = marked.iter().filter_map(|one| Some((one.cast, one.home?.1))).collect();
        // Only the names of casts that move are of interest, and only if several values have such a name.
        let mut count: HashMap<&str, u32> =
            homes.iter().map(|&(at, _)| (document.value_name(casts[at].value), 0)).collect();
        if !count.is_empty() {
            for value in document.value_ids() {
                if let Some(count) = count.get_mut(document.value_name(value)) {
                    *count += 1;
                }
            }
        }
        count.retain(|_, count| *count > 1);
        if count.is_empty() {
            return;
        }
        // Functions use the same names again and again, so values are looked up by function and name.
        let mut named: HashMap<(Option<OpId>, &str), Vec<ValueId>> = HashMap::default();
        for value in document.value_ids().filter(|&value| count.contains_key(document.value_name(value))) {
            let function = maker(document, value).and_then(|op| document.function_around(op));
            named.entry((function, document.value_name(value))).or_default().push(value);
        }
        for (cast, block) in homes {
            let cast = &mut casts[cast];
            let (value, function) = (cast.value, document.function_around(cast.op));
            // Whether another value of the cast's name is made in the block that the cast moves to.
            let is_met = |&other: &ValueId| other != value && is_defined_inside(document, other, block);
            if named.get(&(function, document.value_name(value))).is_some_and(|values| values.iter().any(is_met)) {
                cast.new_name = Some(self.constants.fresh(document.value_name(value)).into());
            }
        }
    }

    /// The casts of multi-buffers, in the order of their first marks. If a buffer has several marks, the last one
    /// moves with the cast.
    fn marked(&self, casts: &[Cast]) -> Vec<Marked> {
        let document = self.view.document;
        let mut by_value: IndexVec<ValueId, Option<u32>> = IndexVec::filled(None, document.value_ids().len());
        for (at, cast) in casts.iter().enumerate() {
            by_value[cast.value] = u32::try_from(at).ok();
        }
        let mut last_mark: Vec<Option<OpId>> = vec![None; casts.len()];
        let mut order = Vec::new();
        for &op in &self.view.lowered.ops {
            if document.name(op) != "annotation.mark" || document.attribute(op, "hivm.multi_buffer").is_none() {
                continue;
            }
            // Only a mark on the allocation itself counts, not one on a view of it.
            if let Some(cast) = document.operands(op).first().and_then(|&value| by_value[value])
                && last_mark[cast as usize].replace(op).is_none()
            {
                order.push(cast as usize);
            }
        }
        let marked = |cast: usize| {
            let mark = last_mark[cast]?;
            // A cast with sizes that are only known at run time, or a mark with further operands, cannot move: these
            // values may be computed in the loop, behind its front.
            let plain = document.operands(mark).len() == 1 && !casts[cast].is_dynamic();
            Some(Marked { cast, mark, home: self.loop_around(casts[cast].op).filter(|_| plain) })
        };
        order.into_iter().filter_map(marked).collect()
    }

    /// The innermost loop around an op, and the block of it that holds the op.
    fn loop_around(&self, op: OpId) -> Option<(OpId, BlockId)> {
        let document = self.view.document;
        let mut inner = op;
        while let Some(parent) = document.parent_op(inner) {
            if matches!(document.name(parent), "scf.for" | "scf.while") {
                return Some((parent, document.op(inner).parent));
            }
            inner = parent;
        }
        None
    }

    /// Writes the casts that move, with their marks, at the front of their blocks. The order is the one that comes
    /// about if each cast in turn is moved to the very front of its block: the last one of `marked` stands first.
    fn move_to_front(&mut self, casts: &[Cast], marked: &[Marked], moved: &Moved) {
        let document = self.view.document;
        let home = |one: &&Marked| one.home.map(|(_, block)| block);
        let mut to_front: Vec<&Marked> = marked.iter().rev().filter(|one| one.home.is_some()).collect();
        to_front.sort_by_key(home);
        for of_block in to_front.chunk_by(|one, other| home(one) == home(other)) {
            let lines: Vec<String> = of_block
                .iter()
                .flat_map(|one| {
                    let cast = &casts[one.cast];
                    let mark = renamed(document, one.mark, cast.value, cast.name(document));
                    [cast.text(document, &self.constants), mark]
                })
                .collect();
            // The lines go in front of the first op of the block that is not deleted. There is one: the terminator.
            let stays = |op: &&OpId| !moved.contains(**op);
            let ops = home(&of_block[0]).map_or(&[][..], |block| document.ops(block));
            let Some(&anchor) = ops.iter().find(stays) else { continue };
            insert_before(document, &mut self.edits, anchor, &lines);
        }
    }

    /// The names of casts in the new text, where they are other ones than in the old text. Two casts with the same
    /// addresses and the same type are the same buffer. If one of them is marked and is visible from the other, the
    /// other one is called by its name, so that the mark holds for all users.
    fn new_names<'c>(&self, casts: &'c [Cast<'c>], marked: &[Marked]) -> HashMap<ValueId, &'c str>
    where
        'a: 'c,
    {
        let document = self.view.document;
        let visible = VisibleCasts::new(document, casts, marked);
        let mut is_marked = vec![false; casts.len()];
        marked.iter().for_each(|one| is_marked[one.cast] = true);
        let mut names: HashMap<ValueId, &str> = HashMap::default();
        for (at, cast) in casts.iter().enumerate() {
            // A marked cast with this one's addresses and type. A cast that is marked itself keeps its own name.
            let same = if is_marked[at] { None } else { visible.first_from(at) };
            if let Some(one) = same {
                names.insert(cast.value, casts[marked[one].cast].name(document));
            } else if let Some(name) = &cast.new_name {
                names.insert(cast.value, name);
            }
        }
        names
    }

    /// Gives uses of renamed casts their new names, in all ops that stay where they are. Marks that move are written
    /// with the new name.
    fn rename_uses(&mut self, names: &HashMap<ValueId, &str>, moved: &Moved) {
        if names.is_empty() {
            return;
        }
        let document = self.view.document;
        let mut values: Vec<ValueId> = Vec::new();
        for op in self.view.lowered.ops.iter().copied().filter(|&op| !moved.contains(op)) {
            // Besides its operands, a branch names the values that it passes to other blocks.
            let passed = (0..document.successors(op).len()).flat_map(|at| document.successor_operands(op, at));
            values.clear();
            values.extend(document.operands(op).iter().chain(passed).filter(|value| names.contains_key(*value)));
            values.sort_unstable();
            values.dedup();
            for &value in &values {
                for place in places(document, op, value) {
                    self.edits.replace(place, names[&value]);
                }
            }
        }
    }
}

/// Marked casts of one identity in one block; nearly always there is one ([`VisibleCasts::in_block`]).
type MarkedInBlock = SmallVec<[(usize, usize); 1]>;

/// Finds for a cast a marked one with the same addresses and type that is visible from it.
struct VisibleCasts<'c> {
    document: &'c Document,
    casts: &'c [Cast<'c>],
    /// A number for each identity that a marked cast has.
    identities: HashMap<&'c Identity<'c>, u32>,
    /// The marked casts of each identity in each block: positions in the list of marked casts, in its order, each with
    /// the position of the cast from which on it is visible in the block. A cast that comes later in the list and is
    /// visible from a later position on is never the first that is visible, so it is left out: these positions go
    /// down.
    in_block: HashMap<(u32, BlockId), MarkedInBlock>,
}

impl<'c> VisibleCasts<'c> {
    fn new(document: &'c Document, casts: &'c [Cast<'c>], marked: &[Marked]) -> VisibleCasts<'c> {
        let (identities, in_block) = (HashMap::default(), HashMap::default());
        let mut visible = VisibleCasts { document, casts, identities, in_block };
        for (position, one) in marked.iter().enumerate() {
            let next = visible.identities.len() as u32;
            let identity = *visible.identities.entry(&casts[one.cast].identity).or_insert(next);
            // A cast that moved is at the front of its block, so everything there can see it. Any other cast is seen
            // by casts behind it.
            let (block, from) = match one.home {
                Some((_, block)) => (block, 0),
                None => (document.op(casts[one.cast].op).parent, one.cast + 1),
            };
            let list = visible.in_block.entry((identity, block)).or_default();
            if list.last().is_none_or(|&(_, last)| from < last) {
                list.push((position, from));
            }
        }
        visible
    }

    /// The first marked cast (its position in the list of marked casts) that has the identity of cast number `at` and
    /// stands earlier, in a block around it.
    fn first_from(&self, at: usize) -> Option<usize> {
        let (document, cast) = (self.document, &self.casts[at]);
        let identity = *self.identities.get(&cast.identity)?;
        let around = std::iter::successors(Some(cast.op), |&op| document.parent_op(op));
        let seen = around.filter_map(|op| {
            let list = self.in_block.get(&(identity, document.op(op).parent))?;
            list.get(list.partition_point(|&(_, from)| from > at)).map(|&(position, _)| position)
        });
        seen.min()
    }
}

/// `%x`, or `%x#1` for one of several results.
fn numbered_name(document: &Document, value: ValueId) -> String {
    let name = document.value_name(value);
    match document.result_number(value) {
        (_, 1) => name.to_owned(),
        (index, _) => format!("{name}#{index}"),
    }
}

/// Whether an op stands in a block, or in an op of the block.
fn is_inside(document: &Document, op: OpId, block: BlockId) -> bool {
    std::iter::successors(Some(op), |&op| document.parent_op(op)).any(|op| document.op(op).parent == block)
}

/// The op that makes a value, or in whose region it is an argument.
fn maker(document: &Document, value: ValueId) -> Option<OpId> {
    match document.value(value).definition {
        Definition::Result { op, .. } => Some(op),
        Definition::Argument { block, .. } => document.block_parent(block),
        Definition::Unresolved => None,
    }
}

/// Whether a value is made in a block, or in an op of the block.
fn is_defined_inside(document: &Document, value: ValueId, block: BlockId) -> bool {
    let is_argument =
        matches!(document.value(value).definition, Definition::Argument { block: own, .. } if own == block);
    is_argument || maker(document, value).is_some_and(|op| is_inside(document, op, block))
}

/// The places at which a value's name stands in an op's own text. Its regions are left out: the same name may be
/// another value there. Names in strings and comments are no uses of the value.
fn places(document: &Document, op: OpId, value: ValueId) -> Vec<Span> {
    let span = document.op(op).span;
    let old = document.value_name(value);
    let regions: Vec<Span> = document.regions(op).iter().map(|&region| document.region(region).span).collect();
    debug_assert!(!matches!(document.value(value).definition, Definition::Unresolved));
    let mut places = Vec::new();
    let mut lexer = Lexer::at(document.source(), span.start as usize);
    loop {
        let token = lexer.next();
        if token.kind == TokenKind::Eof || token.start() >= span.end as usize {
            return places;
        }
        // A region is stepped over as a whole, because a function may have many ops.
        if let Some(region) = regions.iter().find(|region| region.range().contains(&token.start())) {
            lexer.position = lexer.position.max(region.end as usize);
        } else if token.kind == TokenKind::Percent && document.text(token.span()) == old {
            places.push(token.span());
        }
    }
}

/// The text of an op with another name for a value.
fn renamed(document: &Document, op: OpId, value: ValueId, name: &str) -> String {
    let span = document.op(op).span;
    let mut text = String::new();
    let mut last = span.start;
    for place in places(document, op, value) {
        text.push_str(document.text(Span { start: last, end: place.start }));
        text.push_str(name);
        last = place.end;
    }
    text + document.text(Span { start: last, end: span.end })
}

/// Puts lines in front of an op, indented like it.
pub(super) fn insert_before(document: &Document, edits: &mut Edits, op: OpId, lines: &[String]) {
    let start = document.op(op).span.start as usize;
    let source = document.source();
    let line = source.get(..start).map_or("", |before| &before[before.rfind('\n').map_or(0, |at| at + 1)..]);
    let indentation: String = line.chars().take_while(|c| c.is_whitespace()).collect();
    let text: String = lines.iter().map(|line| format!("{line}\n{indentation}")).collect();
    edits.insert(start, text);
}

/// Constants at the start of functions, one for each number.
pub(super) struct Constants<'a> {
    document: &'a Document,
    /// The type of the constants: `i64` or `index`.
    ty: &'static str,
    /// Names of values in the text as it is that look like those of constants: `%c` and a digit.
    like_constants: HashSet<&'a str>,
    /// Names of all values in the text as it is; made when the first cast needs a new name, which few texts have.
    taken: OnceCell<HashSet<&'a str>>,
    /// Names that new values have got in some function.
    given: HashSet<String>,
    /// The new constants, each with its function and its name, in the order they were asked for.
    made: Vec<(OpId, Bytes, String)>,
    /// The position of each constant in `made`, by function and number.
    known: HashMap<(OpId, Bytes), u32>,
}

impl<'a> Constants<'a> {
    /// No constants yet, for a text whose names must not be used again.
    pub(super) fn new(document: &'a Document, ty: &'static str) -> Constants<'a> {
        let names = document.value_ids().map(|value| document.value_name(value));
        let is_like_constant =
            |name: &&str| name.strip_prefix("%c").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        Constants {
            document,
            ty,
            like_constants: names.filter(is_like_constant).collect(),
            taken: OnceCell::new(),
            given: HashSet::default(),
            made: Vec::new(),
            known: HashMap::default(),
        }
    }

    /// The constant of this number in a function, by its position among all constants. Its name is `%c64_i64`, or
    /// `%c64` for type `index`, with a further number if the text has that name already. The same name in two
    /// functions is two values.
    pub(super) fn number(&mut self, function: OpId, number: Bytes) -> u32 {
        if let Some(&known) = self.known.get(&(function, number)) {
            return known;
        }
        let suffix = if self.ty == "index" { String::new() } else { format!("_{}", self.ty) };
        let plain = format!("%c{}{suffix}", number.0);
        let free = |name: &String| !self.like_constants.contains(name.as_str());
        let name = std::iter::once(plain.clone()).chain(numbered(&plain)).find(free).unwrap_or_default();
        let position = self.made.len() as u32;
        self.given.insert(name.clone());
        self.made.push((function, number, name));
        self.known.insert((function, number), position);
        position
    }

    /// The name of a constant that [`number`](Self::number) has found.
    pub(super) fn name(&self, constant: u32) -> &str {
        &self.made[constant as usize].2
    }

    /// A name like this one, with a number behind it, that no value of the text and no new value has yet.
    fn fresh(&mut self, like: &str) -> String {
        let document = self.document;
        let taken = self.taken.get_or_init(|| document.value_ids().map(|value| document.value_name(value)).collect());
        let free = |name: &String| !taken.contains(name.as_str()) && !self.given.contains(name);
        let name = numbered(like).find(free).unwrap_or_default();
        self.given.insert(name.clone());
        name
    }

    /// Adds the constants to the text, at the start of their functions. The constant that was asked for last stands
    /// first, as if each one had been inserted at the very start.
    pub(super) fn insert(mut self, document: &Document, edits: &mut Edits) {
        self.made.reverse();
        self.made.sort_by_key(|&(function, ..)| function);
        for made in self.made.chunk_by(|one, other| one.0 == other.0) {
            let entry = document.regions(made[0].0).first().and_then(|&body| document.blocks(body).first());
            // A function without a body has no place for constants, and needs none.
            let Some(&first) = entry.and_then(|&entry| document.ops(entry).first()) else { continue };
            let line = |(_, number, name): &(OpId, Bytes, String)| {
                format!("{name} = arith.constant {} : {}", number.0, self.ty)
            };
            let lines: Vec<String> = made.iter().map(line).collect();
            insert_before(document, edits, first, &lines);
        }
    }
}

/// `%a_0`, `%a_1`, … for `%a`.
fn numbered(name: &str) -> impl Iterator<Item = String> {
    (0u64..).map(move |count| format!("{name}_{count}"))
}
