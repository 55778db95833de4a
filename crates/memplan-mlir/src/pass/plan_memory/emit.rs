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

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use memplan_core::{Bytes, IndexVec, Placement, Span, bound};
use memplan_program::SiteId;

use super::function::AllPlanned;
use super::{KernelView, Planned, PlannedFunction, display};
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
    constants: Constants,
}

/// The cast that takes the place of an allocation.
struct Cast {
    /// The allocation.
    op: OpId,
    /// Its result.
    value: ValueId,
    /// The name of the result in the new text.
    name: String,
    /// Its addresses, and its sizes and type as written: casts that agree in these are one buffer.
    identity: (Vec<String>, String),
    /// Whether sizes are only known at run time.
    is_dynamic: bool,
    location: String,
}

impl Cast {
    fn text(&self) -> String {
        let (addresses, shape) = &self.identity;
        format!("{} = hivm.hir.pointer_cast({}) {shape}{}", self.name, addresses.join(", "), self.location)
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

impl Emitter<'_> {
    /// Writes a cast for every placed allocation, moves those of multi-buffers, and removes deallocations.
    fn casts(&mut self) {
        let mut casts = Vec::new();
        for (site, placement) in self.placements.iter_enumerated() {
            if let Some(placement) = placement
                && let Some(cast) = self.cast(site, placement)
            {
                casts.push(cast);
            }
        }
        // Casts of multi-buffers move to the front of their loop, together with their marks. Their old lines are
        // deleted and written anew elsewhere; all other casts are replaced where they stand. `moved` are all ops whose
        // lines are deleted: these, and the deallocations.
        let marked = self.marked(&casts);
        let moved: HashSet<OpId> = marked
            .iter()
            .filter(|marked| marked.home.is_some())
            .flat_map(|marked| [casts[marked.cast].op, marked.mark])
            .chain(self.deallocations())
            .collect();
        // A cast that moves may meet another value of the same name, so names are settled before any text is written.
        self.name_apart(&mut casts, &marked);
        for cast in casts.iter().filter(|cast| !moved.contains(&cast.op)) {
            self.edits.replace(self.view.document.op(cast.op).span, cast.text());
        }
        for &op in &sorted(&moved) {
            self.edits.delete_lines(self.view.document.source(), self.view.document.op(op).span);
        }
        self.move_to_front(&casts, &marked, &moved);
        let names = self.new_names(&casts, &marked);
        self.rename_uses(&names, &moved);
    }

    /// The cast that takes the place of an allocation, with its addresses as names of constants; `None` if the
    /// allocation is in no function.
    fn cast(&mut self, site: SiteId, placement: &Placement) -> Option<Cast> {
        let document = self.view.document;
        let op = self.view.lowered.sites[site];
        let value = *document.results(op).first()?;
        let function = document.function_around(op)?;
        let addresses: Vec<String> =
            placement.offsets.iter().map(|offset| self.constants.name(function, *offset)).collect();
        let location = document.location(op).map_or_else(String::new, |span| format!(" {}", document.text(span)));
        // The allocation's operands are the sizes that are only known at run time: `memref.alloc(%n)` becomes
        // `pointer_cast(%c0_i64) [%n]`.
        let sizes: Vec<String> = document.operands(op).iter().map(|&size| numbered_name(document, size)).collect();
        let is_dynamic = !sizes.is_empty();
        let sizes = if is_dynamic { format!("[{}] ", sizes.join(", ")) } else { String::new() };
        let identity = (addresses, format!("{sizes}: {}", document.type_text(value)));
        Some(Cast { op, value, name: document.value_name(value).to_owned(), identity, is_dynamic, location })
    }

    /// The `memref.dealloc` ops of buffers that have an address now: there is nothing to free any more.
    fn deallocations(&self) -> Vec<OpId> {
        let placed = |value: &ValueId| {
            let sites = self.view.sites_of(*value);
            !sites.is_empty() && sites.iter().all(|&site| self.placements[site].is_some())
        };
        let document = self.view.document;
        let frees = |op: &OpId| document.name(*op) == "memref.dealloc" && document.operands(*op).iter().all(placed);
        self.view.lowered.ops.iter().copied().filter(frees).collect()
    }

    /// Gives new names to casts that move to the front of a block in which another value already has their name. All
    /// other casts keep their names. That matters when the new text is read again for the check: a cast that no op
    /// uses can only be found by its name.
    fn name_apart(&mut self, casts: &mut [Cast], marked: &[Marked]) {
        let document = self.view.document;
        let homes: Vec<(usize, BlockId)> = marked.iter().filter_map(|one| Some((one.cast, one.home?.1))).collect();
        // Functions use the same names again and again, so values are looked up by function and name. Only the names
        // of casts that move are of interest (`wanted`).
        let wanted: HashSet<&str> = homes.iter().map(|&(cast, _)| document.value_name(casts[cast].value)).collect();
        let mut named: HashMap<(Option<OpId>, &str), Vec<ValueId>> = HashMap::new();
        for value in document.value_ids().filter(|&value| wanted.contains(document.value_name(value))) {
            let function = maker(document, value).and_then(|op| document.function_around(op));
            named.entry((function, document.value_name(value))).or_default().push(value);
        }
        for (cast, block) in homes {
            let cast = &mut casts[cast];
            let (value, function) = (cast.value, document.function_around(cast.op));
            let is_met = |&other: &ValueId| other != value && is_defined_inside(document, other, block);
            if named.get(&(function, document.value_name(value))).is_some_and(|values| values.iter().any(is_met)) {
                cast.name = self.constants.fresh(&cast.name);
            }
        }
    }

    /// The casts of multi-buffers, in the order of their first marks. If a buffer has several marks, the last one
    /// moves with the cast.
    fn marked(&self, casts: &[Cast]) -> Vec<Marked> {
        let document = self.view.document;
        let by_value: HashMap<ValueId, usize> = casts.iter().enumerate().map(|(at, cast)| (cast.value, at)).collect();
        let mut last_mark: HashMap<usize, OpId> = HashMap::new();
        let mut order = Vec::new();
        for &op in &self.view.lowered.ops {
            let multi = document.name(op) == "annotation.mark" && document.attribute(op, "hivm.multi_buffer").is_some();
            let direct = document.operands(op).first().and_then(|value| by_value.get(value)).filter(|_| multi);
            if let Some(&cast) = direct
                && last_mark.insert(cast, op).is_none()
            {
                order.push(cast);
            }
        }
        let marked = |cast: usize| {
            let mark = last_mark[&cast];
            // A cast with sizes that are only known at run time, or a mark with further operands, cannot move: these
            // values may be computed in the loop, behind its front.
            let plain = document.operands(mark).len() == 1 && !casts[cast].is_dynamic;
            Marked { cast, mark, home: self.loop_around(casts[cast].op).filter(|_| plain) }
        };
        order.into_iter().map(marked).collect()
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
    fn move_to_front(&mut self, casts: &[Cast], marked: &[Marked], moved: &HashSet<OpId>) {
        let document = self.view.document;
        let mut blocks: BTreeMap<BlockId, Vec<String>> = BTreeMap::new();
        for Marked { cast, mark, home } in marked.iter().rev() {
            let Some((_, block)) = home else { continue };
            let lines = blocks.entry(*block).or_default();
            let Cast { value, name, .. } = &casts[*cast];
            lines.push(casts[*cast].text());
            lines.push(renamed(document, *mark, *value, name));
        }
        for (block, lines) in blocks {
            // The lines go in front of the first op of the block that is not deleted. There is one: the terminator.
            let stays = |op: &&OpId| !moved.contains(op);
            let Some(&anchor) = document.ops(block).iter().find(stays) else { continue };
            insert_before(document, &mut self.edits, anchor, &lines);
        }
    }

    /// The names of casts in the new text. Two casts with the same addresses and the same type are the same buffer. If
    /// one of them is marked and is visible from the other, the other one is called by its name, so that the mark holds
    /// for all users.
    fn new_names<'c>(&self, casts: &'c [Cast], marked: &[Marked]) -> HashMap<ValueId, &'c str> {
        let document = self.view.document;
        let mut by_identity: HashMap<&(Vec<String>, String), Vec<&Marked>> = HashMap::new();
        for one in marked {
            by_identity.entry(&casts[one.cast].identity).or_default().push(one);
        }
        let is_marked: HashSet<usize> = marked.iter().map(|one| one.cast).collect();
        let mut names: HashMap<ValueId, &str> = HashMap::new();
        for (at, cast) in casts.iter().enumerate() {
            let same = by_identity.get(&cast.identity).filter(|_| !is_marked.contains(&at));
            let above = |one: &&&Marked| {
                // A marked cast is visible from the other one if it stands earlier, in a block around it. A cast that
                // moved is at the front of its block, so it is earlier than everything there.
                let block = one.home.map_or(document.op(casts[one.cast].op).parent, |(_, block)| block);
                let earlier = one.home.is_some() || one.cast < at;
                earlier && is_inside(document, cast.op, block)
            };
            let marked = same.and_then(|same| same.iter().find(above));
            let name = marked.map_or(&cast.name, |one| &casts[one.cast].name);
            if name != document.value_name(cast.value) || marked.is_some() {
                names.insert(cast.value, name);
            }
        }
        names
    }

    /// Gives uses of renamed casts their new names, in all ops that stay where they are. Marks that move are written
    /// with the new name.
    fn rename_uses(&mut self, names: &HashMap<ValueId, &str>, moved: &HashSet<OpId>) {
        if names.is_empty() {
            return;
        }
        let document = self.view.document;
        for op in self.view.lowered.ops.iter().copied().filter(|op| !moved.contains(op)) {
            // Besides its operands, a branch names the values that it passes to other blocks.
            let passed = (0..document.successors(op).len()).flat_map(|at| document.successor_operands(op, at));
            for value in document.operands(op).iter().chain(passed).collect::<BTreeSet<_>>() {
                if let Some(name) = names.get(value) {
                    for place in places(document, op, *value) {
                        self.edits.replace(place, *name);
                    }
                }
            }
        }
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

fn sorted(ops: &HashSet<OpId>) -> Vec<OpId> {
    let mut list: Vec<OpId> = ops.iter().copied().collect();
    list.sort_unstable();
    list
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
        if token.kind == TokenKind::Eof || token.start >= span.end as usize {
            return places;
        }
        // A region is stepped over as a whole, because a function may have many ops.
        if let Some(region) = regions.iter().find(|region| region.range().contains(&token.start)) {
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
pub(super) struct Constants {
    /// The type of the constants: `i64` or `index`.
    ty: &'static str,
    /// Names of values in the text as it is.
    taken: HashSet<String>,
    /// Names that new values have got in some function.
    given: HashSet<String>,
    /// For each function its new constants, number and name, in the order they were asked for.
    made: BTreeMap<OpId, Vec<(Bytes, String)>>,
    /// The name of each constant, by function and number.
    known: HashMap<(OpId, Bytes), String>,
}

impl Constants {
    /// No constants yet, for a text whose names must not be used again.
    pub(super) fn new(document: &Document, ty: &'static str) -> Constants {
        let taken = document.value_ids().map(|value| document.value_name(value).to_owned()).collect();
        Constants { ty, taken, given: HashSet::new(), made: BTreeMap::new(), known: HashMap::new() }
    }

    /// The name of the constant of this number in a function: `%c64_i64`, or `%c64` for type `index`, with a further
    /// number if the text has that name already. The same name in two functions is two values.
    pub(super) fn name(&mut self, function: OpId, number: Bytes) -> String {
        if let Some(name) = self.known.get(&(function, number)) {
            return name.clone();
        }
        let suffix = if self.ty == "index" { String::new() } else { format!("_{}", self.ty) };
        let plain = format!("%c{}{suffix}", number.0);
        let free = |name: &String| !self.taken.contains(name);
        let name = std::iter::once(plain.clone()).chain(numbered(&plain)).find(free).unwrap_or_default();
        self.given.insert(name.clone());
        self.made.entry(function).or_default().push((number, name.clone()));
        self.known.insert((function, number), name.clone());
        name
    }

    /// A name like this one, with a number behind it, that no value of the text and no new value has yet.
    fn fresh(&mut self, like: &str) -> String {
        let free = |name: &String| !self.taken.contains(name) && !self.given.contains(name);
        let name = numbered(like).find(free).unwrap_or_default();
        self.given.insert(name.clone());
        name
    }

    /// Adds the constants to the text, at the start of their functions. The constant that was asked for last stands
    /// first, as if each one had been inserted at the very start.
    pub(super) fn insert(self, document: &Document, edits: &mut Edits) {
        for (function, made) in self.made {
            let entry = document.regions(function).first().and_then(|&body| document.blocks(body).first());
            let Some(&first) = entry.and_then(|&entry| document.ops(entry).first()) else { continue };
            let line = |(number, name): &(Bytes, String)| format!("{name} = arith.constant {} : {}", number.0, self.ty);
            let lines: Vec<String> = made.iter().rev().map(line).collect();
            insert_before(document, edits, first, &lines);
        }
    }
}

/// `%a_0`, `%a_1`, … for `%a`.
fn numbered(name: &str) -> impl Iterator<Item = String> {
    (0u64..).map(move |count| format!("{name}_{count}"))
}
