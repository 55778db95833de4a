//! Writing a layout into the function.
//!
//! A layout ([`Layout`]) has the allocations of the new function, each *attached* to a place (the top of the function
//! or of the body of a loop, launch or mark), and for each buffer the allocation and the offset where it lies. In this
//! file the *holder* of an allocation is the buffer that the new function allocates for it, and the *root* of a buffer
//! is the buffer itself, or for a view the buffer at the end of its chain of views.
//!
//! Allocations move to the top of the place they are attached to; every other buffer's allocation becomes, where it
//! stands, a declaration over the memory it now lives in, so that its uses keep their lines:
//!
//! ```text
//! A = T.alloc_buffer((8,))           A = T.alloc_buffer((8,))
//! B = T.alloc_buffer((8,))    ->     B = T.decl_buffer((8,), data=A.data)
//! ```
//!
//! If a buffer lies at an offset in its allocation, every use of the buffer gets the offset. The subscripts of a
//! buffer with one dimension grow by the offset. The declaration of a buffer with several dimensions gets an
//! `elem_offset` instead. In `tvm_access_ptr(type, B.data, offset, …)` the argument `offset` grows. Any other `B.data`
//! is called *bare*: it names the start of the whole allocation, so it becomes the address of the first element of `B`.

use super::layout::{Allocation, AllocationId, Layout};
use super::pool::Attach;
use super::sequence::StmtId;
use crate::DType;
use crate::ir::{BinaryOp, Block, BufId, Buffer, Expr, Function, Memory, Stmt, StmtKind, Trivia, VarId};
use crate::linear::{Linear, fold};
use memplan_core::{Id, IndexVec, Span};
use std::collections::{BTreeMap, HashSet};

/// The function with its allocations laid out. `has_addresses` is false if no statement of the function uses the bare
/// address of a buffer, and true if one does or if it is not known.
pub(super) fn apply(function: Function, layout: &Layout, has_addresses: bool) -> Function {
    let mut rewriter = Rewriter::new(function, layout);
    rewriter.declare_buffers(has_addresses);
    // The rewriter changes the body and its own tables at once, so the body is taken out of the tables meanwhile.
    let mut body = std::mem::take(&mut rewriter.result.body);
    // `Some(None)`: this block gets allocations at its head (`Some`), and they are those that are attached to the top
    // of the function (`None` as an `Attach`).
    rewriter.block(&mut body, Some(None));
    rewriter.result.body = body;
    rewriter.result
}

/// The walk over a function that writes a layout into it, and what it has decided about each buffer.
struct Rewriter<'a> {
    layout: &'a Layout,
    result: Function,
    /// The holder of each allocation.
    holders: IndexVec<AllocationId, BufId>,
    /// The root of each buffer of the input.
    roots: IndexVec<BufId, BufId>,
    /// The allocations that move, by the place that they are attached to.
    attached: BTreeMap<Attach, Vec<AllocationId>>,
    /// Whether one of these places is a statement.
    attached_to_statements: bool,
    /// For each buffer the number of its old elements that are one vector element now; 1 if vector retyping has not
    /// changed its allocation, or if its elements were vectors before.
    vectors: IndexVec<BufId, u16>,
    /// For each buffer the number of elements that is added to its subscript. 0 for a buffer with several dimensions:
    /// its declaration has the offset (see `move_by`).
    shifts: IndexVec<BufId, u64>,
    /// Buffers whose uses print differently from before.
    renamed: IndexVec<BufId, bool>,
    /// Buffers whose declaration prints differently from before.
    redeclared: IndexVec<BufId, bool>,
    /// Source lines and comments of allocations that move, by their holders.
    moved: BTreeMap<BufId, (Trivia, Span)>,
    /// The names that several buffers or variables have.
    ambiguous: HashSet<String>,
    /// All names; `None` until a new name is looked for, which is rare.
    names: Option<HashSet<String>>,
    /// The buffers that are holders.
    holding: IndexVec<BufId, bool>,
    /// Buffers whose accesses or addresses print differently from before.
    affected: IndexVec<BufId, bool>,
    /// Whether there are any of these.
    some_affected: bool,
    /// The number of the next statement. Statements are counted in the order of the text, as [`StmtId`]s are, and the
    /// allocations that we insert are not counted.
    next: usize,
}

/// The names of all buffers and variables of the input, with repetitions. A buffer that is never touched has no place
/// and disappears, so its name may be used for another one.
fn names_in_use<'f>(
    function: &'f Function,
    layout: &Layout,
    roots: &IndexVec<BufId, BufId>,
) -> impl Iterator<Item = &'f str> {
    // Arguments and everything that has a place are still there afterwards.
    let stays = |root: BufId| function.buffers[root].memory != Memory::Own || layout.places[root].is_some();
    let buffers = roots.iter_enumerated().filter(move |&(_, &root)| stays(root));
    let names = buffers.map(|(buffer, _)| function.buffers[buffer].name.as_str());
    names.chain(function.vars.iter().map(|var| var.name.as_str()))
}

/// The names of allocations that several buffers or variables have. Only these names are counted: there are few
/// allocations and many names.
fn ambiguous_names(function: &Function, layout: &Layout, roots: &IndexVec<BufId, BufId>) -> HashSet<String> {
    let allocated = layout.allocations.iter().filter_map(|allocation| allocation.root);
    let mut wanted: Vec<&str> = allocated.map(|root| function.buffers[root].name.as_str()).collect();
    wanted.sort_unstable();
    wanted.dedup();
    // Most names differ from all of these already in their length and last byte, and need not be looked for.
    let kind = |name: &str| (name.len() ^ name.bytes().last().map_or(0, usize::from) << 2) % KINDS_OF_NAMES;
    let mut kinds = [false; KINDS_OF_NAMES];
    wanted.iter().for_each(|name| kinds[kind(name)] = true);
    let mut counts = vec![0usize; wanted.len()];
    for name in names_in_use(function, layout, roots).filter(|name| kinds[kind(name)]) {
        if let Ok(position) = wanted.binary_search(&name) {
            counts[position] += 1;
        }
    }
    let counted = wanted.into_iter().zip(counts);
    counted.filter(|(_, count)| *count > 1).map(|(name, _)| name.to_owned()).collect()
}

/// Into how many kinds `ambiguous_names` divides names.
const KINDS_OF_NAMES: usize = 256;

/// Whether a statement does nothing and has neither a line nor comments in the source text, so that it can be removed
/// without a trace in the printed text.
fn is_nothing(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Nothing) && stmt.trivia == Trivia::default()
}

impl<'a> Rewriter<'a> {
    /// Prepares a rewrite: the allocations by the place that they are attached to, and how many buffers and variables
    /// have each name.
    fn new(function: Function, layout: &'a Layout) -> Rewriter<'a> {
        let buffers = function.buffers.len();
        let mut attached: BTreeMap<Attach, Vec<AllocationId>> = BTreeMap::new();
        // An allocation that stays keeps its statement, so it needs no place.
        for (id, allocation) in layout.allocations.iter_enumerated() {
            if !allocation.stays {
                attached.entry(allocation.attach).or_default().push(id);
            }
        }
        let roots: IndexVec<BufId, BufId> = function.buffers.ids().map(|buffer| function.root(buffer)).collect();
        Rewriter {
            layout,
            ambiguous: ambiguous_names(&function, layout, &roots),
            names: None,
            result: function,
            holders: IndexVec::new(),
            roots,
            attached_to_statements: attached.keys().any(Option::is_some),
            attached,
            vectors: IndexVec::filled(1, buffers),
            shifts: IndexVec::filled(0, buffers),
            renamed: IndexVec::filled(false, buffers),
            redeclared: IndexVec::filled(false, buffers),
            moved: BTreeMap::new(),
            holding: IndexVec::filled(false, buffers),
            affected: IndexVec::filled(false, buffers),
            some_affected: false,
            next: 0,
        }
    }

    /// A name that nothing has yet.
    fn fresh_name(&mut self, base: &str) -> String {
        let in_use = || names_in_use(&self.result, self.layout, &self.roots).map(str::to_owned).collect();
        // The first new name is chosen before anything is renamed, so the names are those of the input.
        let names: &mut HashSet<String> = self.names.get_or_insert_with(in_use);
        let mut name = base.to_owned();
        let mut suffix = 0;
        while names.contains(&name) {
            suffix += 1;
            name = format!("{base}_{suffix}");
        }
        names.insert(name.clone());
        name
    }

    /// Decides what every buffer is from now on: first the holder of each allocation, then the views of it.
    fn declare_buffers(&mut self, has_addresses: bool) {
        let bare = if has_addresses { bare_uses(&self.result) } else { HashSet::new() };
        // How many buffers lie in each allocation.
        let mut tenants: IndexVec<AllocationId, usize> = IndexVec::filled(0, self.layout.allocations.len());
        for place in self.layout.places.iter().flatten() {
            tenants[place.allocation] += 1;
        }
        for id in self.layout.allocations.ids() {
            let holder = self.holder(id, &bare, tenants[id] > 1);
            // Two buffers may have the same name in different blocks. An allocation that moves to another block could
            // hide the other buffer there, so it gets a name of its own.
            if self.ambiguous.contains(&self.result.buffers[holder].name) && !self.layout.allocations[id].stays {
                let name = self.result.buffers[holder].name.clone();
                self.result.buffers[holder].name = self.fresh_name(&name);
                self.renamed[holder] = true;
                self.redeclared[holder] = true;
            }
            self.holders.push(holder);
            self.holding[holder] = true;
        }
        for buffer in 0..self.layout.places.len() {
            self.declare(BufId::from_index(buffer));
        }
        for buffer in self.result.buffers.ids() {
            self.move_loads_of_declaration(buffer);
        }
        self.note_affected();
    }

    /// Rewrites the loads in a declaration, in its extents and its offset. Their buffers may have moved, too.
    fn move_loads_of_declaration(&mut self, buffer: BufId) {
        let declared = &self.result.buffers[buffer];
        let has_offset = matches!(declared.memory, Memory::View { elem_offset: Some(_), .. });
        // Most extents are constants, which have no loads.
        if !has_offset && declared.has_constant_shape() {
            return;
        }
        let mut changed = false;
        let mut shape = std::mem::take(&mut self.result.buffers[buffer].shape);
        shape.iter_mut().for_each(|extent| changed |= self.expr(extent));
        self.result.buffers[buffer].shape = shape;
        let mut memory = std::mem::replace(&mut self.result.buffers[buffer].memory, Memory::Own);
        if let Memory::View { elem_offset: Some(offset), .. } = &mut memory {
            changed |= self.expr(offset);
        }
        self.result.buffers[buffer].memory = memory;
        self.redeclared[buffer] |= changed;
    }

    /// Notes the buffers whose accesses or addresses will print differently from before: all statements that use no
    /// such buffer stay as they are.
    fn note_affected(&mut self) {
        for (buffer, &root) in self.roots.iter_enumerated() {
            let is_moved = self.layout.places[root].is_some_and(|place| place.bit_offset > 0);
            let is_affected = is_moved || self.renamed[buffer] || self.vectors[buffer] > 1 || self.shifts[buffer] > 0;
            self.affected[buffer] = is_affected;
            self.some_affected |= is_affected;
        }
    }

    /// The holder of an allocation: the buffer that names it (`allocation.root`) where its type and shape fit,
    /// otherwise a new buffer, of which that one becomes a view. `bare` has the buffers whose address is used,
    /// `shared` says whether several buffers lie in the allocation.
    fn holder(&mut self, id: AllocationId, bare: &HashSet<BufId>, shared: bool) -> BufId {
        let allocation = &self.layout.allocations[id];
        // An arena belongs to no single buffer, so it gets a buffer of its own.
        let Some(root) = allocation.root else {
            let name = self.fresh_name(&allocation.name);
            return self.push(holding(allocation, name, Span::default()));
        };
        // A mutable scalar (`x: T.int32 = 0`) has no memory that others could lie in.
        if shared && self.result.buffers[root].scalar {
            self.unscalar(root);
        }
        let own = &self.result.buffers[root];
        let same = own.dtype == allocation.dtype && own.shape == allocation.shape;
        if same {
            return root;
        }
        // A buffer of one dimension can simply become longer: all its subscripts stay right. A bare pointer forbids
        // that, because the code that takes it may rely on the declared extent.
        let grows = own.dtype == allocation.dtype
            && own.shape.len() == 1
            && allocation.shape.len() == 1
            && !bare.contains(&root);
        if grows {
            self.result.buffers[root].shape.clone_from(&allocation.shape);
            self.redeclared[root] = true;
            return root;
        }
        // Vector retyping has changed the type and the shape. All accesses will be rewritten to count in vectors. That
        // does not make one dimension of several: such a root becomes a view below.
        let widens = allocation.vector > 1 && own.dtype.lanes == 1 && own.shape.len() == allocation.shape.len();
        if widens && !bare.contains(&root) {
            self.vectors[root] = allocation.vector;
            self.result.buffers[root].dtype = allocation.dtype;
            self.result.buffers[root].shape.clone_from(&allocation.shape);
            self.redeclared[root] = true;
            return root;
        }
        // Nothing fits, so the memory gets a new buffer. That buffer takes over the old name, and the root becomes a
        // view with a new name: the allocation is what a reader looks for by name.
        let name = own.name.clone();
        let own_span = own.span;
        self.unscalar(root);
        self.result.buffers[root].name = self.fresh_name(&name);
        self.renamed[root] = true;
        self.push(holding(allocation, name, own_span))
    }

    /// Adds a new buffer to all tables.
    fn push(&mut self, buffer: Buffer) -> BufId {
        self.vectors.push(1);
        self.shifts.push(0);
        self.renamed.push(false);
        self.redeclared.push(true);
        self.holding.push(false);
        self.result.buffers.push(buffer)
    }

    /// Makes a mutable scalar (`x: T.int32 = 0`, used as `x`) an ordinary buffer (used as `x[0]`).
    fn unscalar(&mut self, buffer: BufId) {
        if std::mem::replace(&mut self.result.buffers[buffer].scalar, false) {
            self.renamed[buffer] = true;
            self.redeclared[buffer] = true;
        }
    }

    /// Makes a buffer a view of its allocation's holder, and moves it to its offset. A buffer that was a view before
    /// stays a view of what it views, and is moved by the offset of its root: the memory of a view starts where the
    /// holder starts, however many views are in between.
    fn declare(&mut self, buffer: BufId) {
        let root = self.roots[buffer];
        // Arguments, and buffers that nothing touches, have no place.
        let Some(place) = self.layout.places[root] else {
            return;
        };
        let holder = self.holders[place.allocation];
        // `holder()` has already declared it. It starts where its allocation starts.
        if buffer == holder {
            return;
        }
        // A buffer that is declared as vectors counts in vectors already: its extents and subscripts stay.
        let is_scalar = self.result.buffers[buffer].dtype.lanes == 1;
        let vector = if is_scalar { self.layout.allocations[place.allocation].vector } else { 1 };
        self.vectors[buffer] = vector;
        // The declaration of a view names the buffer that it views.
        self.redeclared[buffer] |= self.renamed[root] || self.renamed[holder];
        // Only roots have a place of their own in the table.
        if self.layout.places[buffer].is_some() {
            self.unscalar(buffer);
            self.result.buffers[buffer].memory = Memory::View { of: holder, elem_offset: None };
            // These arguments belong to an allocation, and the buffer is a view now.
            self.result.buffers[buffer].extra.clear();
            self.redeclared[buffer] = true;
        }
        // Vector retyping counts in vectors in the whole allocation, so the scalars of this buffer become vectors, too.
        if vector > 1 {
            let declared = &mut self.result.buffers[buffer];
            declared.dtype = declared.dtype.with_lanes(vector);
            if let Some(last) = declared.shape.last_mut() {
                *last = divide_up(last.clone(), vector);
            }
            self.redeclared[buffer] = true;
        }
        // The offset in elements of this buffer. The division leaves no rest: layouts of the sound mode align every
        // buffer to the elements of all its views, and the compatible mode refuses an offset that does not divide.
        let shift = place.bit_offset / self.result.buffers[buffer].dtype.total_bits();
        if shift > 0 {
            self.move_by(buffer, shift);
        }
    }

    /// Moves a buffer inside of its allocation by `shift` of its elements. The subscripts of a buffer with one
    /// dimension grow by `shift`, and so does its extent. A buffer with several dimensions gets the offset in its
    /// declaration; such a buffer is always a view by now, because only the holder is none and the holder never moves.
    fn move_by(&mut self, buffer: BufId, shift: u64) {
        self.redeclared[buffer] = true;
        let declared = &mut self.result.buffers[buffer];
        if let [extent] = declared.shape.as_mut_slice() {
            *extent = plus(extent.clone(), shift);
            self.shifts[buffer] = shift;
        } else if let Memory::View { elem_offset, .. } = &mut declared.memory {
            let before = elem_offset.take().unwrap_or(Expr::int(0));
            *elem_offset = Some(plus(before, shift));
        }
    }

    /// Rewrites all statements of a block. `top` is the place (statement or function) whose body this block is; the
    /// allocations that are attached to this place are put at the head of the block. If `top` is `None`, no
    /// allocation can be attached here (the block belongs to an `if` or a `while`).
    fn block(&mut self, block: &mut Block, top: Option<Attach>) {
        let attached = top.and_then(|attach| self.attached.get(&attach));
        let holders: Vec<BufId> = attached.into_iter().flatten().map(|&id| self.holders[id]).collect();
        let old = std::mem::take(block);
        // The new allocations nearly always are the first statements. Their places are kept free, because their lines
        // are known only when the statements after them have been visited. So each statement is moved once.
        let mut together: Vec<Stmt> = Vec::with_capacity(old.len() + holders.len());
        together.resize_with(holders.len(), || Stmt::new(StmtKind::Nothing));
        old.into_each(|mut stmt| {
            self.statement(&mut stmt);
            if !is_nothing(&stmt) {
                together.push(stmt);
            }
        });
        let (head, rest) = together.split_at(holders.len());
        debug_assert!(head.iter().all(is_nothing));
        let positions = self.positions(rest, &holders);
        if positions.iter().all(|position| *position == 0) {
            for (place, holder) in together.iter_mut().zip(holders) {
                *place = self.allocation(holder);
            }
        } else {
            together.drain(..holders.len());
            together = self.insert_allocations(together, &positions, &holders);
        }
        *block = together.into();
    }

    /// Where in a block allocations go: each before the statement of this position, which comes after all statements
    /// that give the variables in its extents their values.
    fn positions(&self, block: &[Stmt], holders: &[BufId]) -> Vec<usize> {
        // If all extents are constant, the allocations can be the first lines. If some extent is symbolic, all
        // allocations go after the lines that name the sizes.
        let all_constant = holders.iter().all(|&holder| self.result.buffers[holder].has_constant_shape());
        let start = if all_constant { 0 } else { self.first_statement(block) };
        holders.iter().map(|&holder| self.behind_sizes(block, holder).max(start)).collect()
    }

    /// A block with allocations before the statements of these positions.
    fn insert_allocations(&mut self, block: Vec<Stmt>, positions: &[usize], holders: &[BufId]) -> Vec<Stmt> {
        let mut places: Vec<(usize, BufId)> = positions.iter().copied().zip(holders.iter().copied()).collect();
        places.sort_by_key(|&(position, _)| position);
        // The block is put together anew, so that each statement is moved once only.
        let mut together = Vec::with_capacity(block.len() + places.len());
        let mut old = block.into_iter();
        // How many statements of the old block have been moved to the new one.
        let mut taken = 0;
        for (position, holder) in places {
            together.extend(old.by_ref().take(position - taken));
            taken = position;
            together.push(self.allocation(holder));
        }
        together.extend(old);
        together
    }

    /// The position after the argument declarations of the block that give the variables in a buffer's extents their
    /// values: `A = T.match_buffer(a, (n, 4))` gives `n` its value. 0 if the extents have no such variables.
    fn behind_sizes(&self, block: &[Stmt], holder: BufId) -> usize {
        // Whether the shape of a buffer uses a variable, and whether a statement declares an argument whose shape
        // does.
        let mentions = |buffer: BufId, wanted: VarId| {
            let is_wanted = |part: &Expr| matches!(part, Expr::Var(var) if *var == wanted);
            self.result.buffers[buffer].shape.iter().any(|extent| extent.any(&is_wanted))
        };
        let gives = |stmt: &Stmt, wanted: VarId| match stmt.kind {
            StmtKind::Declare(buffer) => {
                self.result.buffers[buffer].memory == Memory::Argument && mentions(buffer, wanted)
            }
            _ => false,
        };
        let mut position = 0;
        for extent in &self.result.buffers[holder].shape {
            extent.walk(&mut |part| {
                if let Expr::Var(var) = part {
                    let at = block.iter().position(|stmt| gives(stmt, *var));
                    position = position.max(at.map_or(0, |at| at + 1));
                }
            });
        }
        position
    }

    /// The position after the lines that name sizes (`n = T.int32()`) and match arguments, which a symbolic
    /// allocation needs.
    fn first_statement(&self, block: &[Stmt]) -> usize {
        let names_sizes = |stmt: &&Stmt| match stmt.kind {
            StmtKind::Nothing => true,
            StmtKind::Declare(buffer) => self.result.buffers[buffer].memory == Memory::Argument,
            _ => false,
        };
        block.iter().take_while(names_sizes).count()
    }

    /// The statement that allocates a holder, with the line and the comments of the allocation that moved, if one did.
    fn allocation(&mut self, holder: BufId) -> Stmt {
        let (mut trivia, span) = self.moved.remove(&holder).unwrap_or_default();
        // Without its source text the line is printed anew. That is needed if the declaration has changed, and for a
        // mutable scalar, whose source line (`x: T.int32 = 0`) is a store as well as a declaration.
        if self.redeclared[holder] || self.result.buffers[holder].scalar {
            trivia.text = None;
        }
        Stmt { kind: StmtKind::Alloc(holder), span, trivia }
    }

    /// Whether rewriting a statement changes nothing, neither in the statement nor inside of it: it allocates and
    /// declares nothing, no allocation is attached to it, and it uses no affected buffer. A statement that does nothing
    /// counts as changed, because the block around it may drop it. `next` is the number of the statement. If the answer
    /// is yes, it is moved behind the statement and everything inside; if it is no, it is of no further use.
    fn is_untouched(&self, stmt: &Stmt, next: &mut usize) -> bool {
        let id = StmtId::from_index(*next);
        *next += 1;
        let is_plain = !matches!(stmt.kind, StmtKind::Alloc(_) | StmtKind::Declare(_) | StmtKind::Nothing);
        // Whether the statement itself, without what is inside, uses such a buffer.
        let uses_affected = || match &stmt.kind {
            StmtKind::Store { buffer, .. } if self.affected[*buffer] => true,
            _ => stmt.exprs().into_iter().any(|expr| expr.any(&|part| self.is_affected(part))),
        };
        is_plain
            && !(self.some_affected && uses_affected())
            && !(self.attached_to_statements && self.attached.contains_key(&Some(id)))
            && stmt.all_blocks(|block| block.iter().all(|inner| self.is_untouched(inner, next)))
    }

    /// Whether an expression itself, without its parts, is an access or the address of an affected buffer.
    fn is_affected(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Load { buffer, .. } | Expr::Data(buffer) if self.affected[*buffer])
    }

    /// Rewrites one statement: allocations, declarations, and every access in it.
    fn statement(&mut self, stmt: &mut Stmt) {
        // Mutable access to a block copies it if another function shares it, so it is asked for only where something
        // changes.
        let mut behind = self.next;
        if self.is_untouched(stmt, &mut behind) {
            self.next = behind;
            return;
        }
        let id = StmtId::from_index(self.next);
        self.next += 1;
        match stmt.kind {
            StmtKind::Alloc(buffer) => return self.old_allocation(stmt, buffer),
            StmtKind::Declare(buffer) => {
                let root = self.result.root(buffer);
                // A root that still has memory of its own but holds no allocation is one that nothing touches. Its
                // allocation is removed, so a view of it would name something that does not exist.
                let dropped = self.result.buffers[root].memory == Memory::Own && !self.holding[root];
                if dropped {
                    stmt.kind = StmtKind::Nothing;
                    stmt.trivia.text = None;
                } else if self.redeclared[buffer] {
                    stmt.trivia.text = None;
                }
                return;
            }
            _ => {}
        }
        let mut changed = false;
        if let StmtKind::Store { buffer, index, .. } = &mut stmt.kind {
            changed |= self.access(*buffer, index);
        }
        // An attribute names the buffer that it is about. That name must not be turned into an address.
        let keep_node = matches!(stmt.kind, StmtKind::Attr { node: Some(Expr::Data(_)), .. });
        for expr in stmt.exprs_mut().into_iter().skip(usize::from(keep_node)) {
            changed |= self.expr(expr);
        }
        if let StmtKind::Attr { node: Some(Expr::Data(buffer)), .. } = &stmt.kind {
            changed |= self.renamed[*buffer];
        }
        // A statement that changed has no source text any more and is printed anew; all others keep their text as the
        // user wrote it.
        if changed {
            stmt.trivia.text = None;
        }
        // Allocations are attached to loops, launches and marks. A block of another statement is no such place, so
        // new allocations are not put there.
        let scope = matches!(stmt.kind, StmtKind::For { .. } | StmtKind::Thread { .. } | StmtKind::Attr { .. });
        for block in stmt.blocks_mut() {
            self.block(block, scope.then_some(Some(id)));
        }
    }

    /// What stands where a buffer was allocated: nothing, a declaration, or (if it stays) the allocation.
    fn old_allocation(&mut self, stmt: &mut Stmt, buffer: BufId) {
        let Some(place) = self.layout.places[buffer] else {
            // No statement touches the buffer. It disappears, unless some statement asks where it lies
            // (`A.elem_offset`).
            if self.result.buffers[buffer].pinned {
                return;
            }
            stmt.kind = StmtKind::Nothing;
            stmt.trivia.text = None;
            return;
        };
        let holder = self.holders[place.allocation];
        if self.layout.allocations[place.allocation].stays {
            if self.redeclared[buffer] {
                stmt.trivia.text = None;
            }
            return;
        }
        // The allocation moves: `allocation()` writes it at the head of the block that it is attached to. That block
        // is around this statement, and its allocations are written after its statements have been visited.
        if buffer == holder {
            self.moved.insert(holder, (stmt.trivia, stmt.span));
            *stmt = Stmt::new(StmtKind::Nothing);
            return;
        }
        stmt.kind = StmtKind::Declare(buffer);
        stmt.trivia.text = None;
    }

    /// Adapts the subscripts of one access to the place where its buffer now lies. Says whether the access prints
    /// differently from before, either because of a subscript or because the buffer has another name.
    fn access(&self, buffer: BufId, index: &mut [Expr]) -> bool {
        let mut changed = self.renamed[buffer];
        let vector = self.vectors[buffer];
        let Some(last) = index.last_mut() else {
            return changed;
        };
        // The buffer's elements were scalars and are vectors now. An access to the lanes `base..base + vector` becomes
        // an access to one vector element.
        if vector > 1
            && let Expr::Ramp { base, .. } = last
        {
            *last = divide(base, vector);
            changed = true;
        }
        let shift = self.shifts[buffer];
        if shift > 0 {
            *last = match std::mem::replace(last, Expr::int(0)) {
                Expr::Ramp { base, stride, lanes } => Expr::Ramp { base: Box::new(plus(*base, shift)), stride, lanes },
                other => plus(other, shift),
            };
            changed = true;
        }
        changed
    }

    /// Rewrites the accesses in an expression; says whether it prints differently from before.
    fn expr(&self, expr: &mut Expr) -> bool {
        // In this call the offset moves and the pointer stays. In all other expressions a pointer becomes an address.
        if let Some(changed) = self.access_ptr(expr) {
            return changed;
        }
        let mut changed = false;
        expr.each_child_mut(|child| changed |= self.expr(child));
        match expr {
            Expr::Load { buffer, index } => changed |= self.access(*buffer, index),
            Expr::Data(buffer) => {
                let buffer = *buffer;
                changed |= self.renamed[buffer];
                if let Some(address) = self.address(buffer) {
                    *expr = address;
                    changed = true;
                }
            }
            _ => {}
        }
        changed
    }

    /// What a bare `B.data` becomes: `T.address_of(B[…])`, the address of the first element. `None` if it can stay as
    /// it is, because the buffer starts where its allocation does or has no place.
    fn address(&self, buffer: BufId) -> Option<Expr> {
        // `.data` of a view is the start of what it views.
        let owner = *self.roots.get(buffer)?;
        let place = self.layout.places[owner]?;
        if place.bit_offset == 0 {
            return None;
        }
        // A buffer with one dimension starts at the subscript that it was moved by. One with several starts at zeros,
        // because its declaration contains the offset.
        let rank = self.result.buffers[owner].shape.len();
        let mut index = vec![Expr::int(0); rank];
        if let [only] = index.as_mut_slice() {
            *only = Expr::int(i64::try_from(self.shifts[owner]).unwrap_or(i64::MAX));
        }
        Some(Expr::Call {
            name: "address_of".to_owned(),
            args: vec![Expr::Load { buffer: owner, index }],
            dtype: DType::HANDLE,
        })
    }

    /// Rewrites `tvm_access_ptr(type, B.data, offset, …)`: the offset, in elements of `type`, moves with the buffer.
    /// Says whether the call prints differently from before. `None` for any other expression, and if the buffer's
    /// offset is no whole number of such elements; `B.data` then becomes an address (see `address`).
    fn access_ptr(&self, expr: &mut Expr) -> Option<bool> {
        let Expr::Call { name, args, .. } = expr else {
            return None;
        };
        let [Expr::Type(dtype), Expr::Data(buffer), offset, ..] = args.as_mut_slice() else {
            return None;
        };
        if name != "tvm_access_ptr" {
            return None;
        }
        // A buffer without a place (an argument) has not moved.
        let place = self.roots.get(*buffer).and_then(|root| self.layout.places[*root]);
        let bits = place.map_or(0, |place| place.bit_offset);
        if !bits.is_multiple_of(dtype.total_bits()) {
            return None;
        }
        let mut changed = self.renamed[*buffer] | self.expr(offset);
        if bits > 0 {
            *offset = plus(std::mem::replace(offset, Expr::int(0)), bits / dtype.total_bits());
            changed = true;
        }
        Some(changed)
    }
}

/// A new buffer for the memory of an allocation.
fn holding(allocation: &Allocation, name: String, span: Span) -> Buffer {
    Buffer {
        name,
        dtype: allocation.dtype,
        shape: allocation.shape.clone(),
        strides: None,
        scope: allocation.scope.clone(),
        memory: Memory::Own,
        scalar: false,
        pinned: false,
        extra: Vec::new(),
        span,
    }
}

/// Buffers whose address (`B.data`) is used anywhere, arguments of `tvm_access_ptr` and nodes of marks included.
fn bare_uses(function: &Function) -> HashSet<BufId> {
    let mut found = HashSet::new();
    for stmt in &function.body {
        stmt.walk(&mut |stmt| {
            stmt.each_expr(|expr| {
                expr.walk(&mut |part| {
                    if let Expr::Data(buffer) = part {
                        found.insert(function.root(*buffer));
                    }
                });
            });
        });
    }
    found
}

/// `expr + amount`, as one number if `expr` is a constant. An amount beyond 63 bits becomes `i64::MAX`; layouts have no
/// such offset, because sizes beyond 63 bits are refused before.
fn plus(expr: Expr, amount: u64) -> Expr {
    let dtype = match &expr {
        Expr::Int { dtype, .. } => *dtype,
        other => integer_type(other),
    };
    let amount = Expr::Int { value: i64::try_from(amount).unwrap_or(i64::MAX), dtype };
    fold(BinaryOp::Add, &expr, &amount).unwrap_or_else(|| Expr::binary(BinaryOp::Add, expr, amount))
}

/// The type of integer constants in an index expression; 64 bits if any part says so.
fn integer_type(expr: &Expr) -> DType {
    let wide = expr.any(&|part| matches!(part, Expr::Int { dtype, .. } | Expr::Cast { dtype, .. } if dtype.bits == 64));
    if wide { DType::INT64 } else { DType::INT32 }
}

/// `expr / by`: if every term is a multiple of `by`, the terms are divided: `(i * 8 + 4) / 4` becomes `i * 2 + 1`.
/// Otherwise `expr // by` is written.
fn divide(expr: &Expr, by: u16) -> Expr {
    let by = i64::from(by);
    let Some(sum) = Linear::of(expr).filter(|sum| sum.is_multiple_of(by)) else {
        return Expr::binary(BinaryOp::FloorDiv, expr.clone(), Expr::int(by));
    };
    // The terms divided one by one and added up again, the constant last.
    let dtype = integer_type(expr);
    // A constant of the type that the subscript has.
    let constant = |value: i64| Expr::Int { value, dtype };
    let mut terms =
        sum.terms.iter().map(|(atom, coefficient)| super::size::product(atom.clone(), constant(coefficient / by)));
    // An expression without variables has no terms, only the constant.
    let first = terms.next();
    let total = first.map(|first| terms.fold(first, |sum, term| Expr::binary(BinaryOp::Add, sum, term)));
    match (total, sum.constant / by) {
        (None, rest) => constant(rest),
        (Some(total), 0) => total,
        (Some(total), rest) => Expr::binary(BinaryOp::Add, total, constant(rest)),
    }
}

/// `expr / by`, rounded up: a constant is computed, a multiple of `by` is divided term by term, and for anything else
/// `(expr + by - 1) // by` is written.
fn divide_up(expr: Expr, by: u16) -> Expr {
    match expr {
        Expr::Int { value, dtype } => {
            Expr::Int { value: value.saturating_add(i64::from(by) - 1).div_euclid(i64::from(by)), dtype }
        }
        other if crate::linear::is_multiple_of(&other, i64::from(by)) => divide(&other, by),
        other => {
            let rounded = plus(other, u64::from(by) - 1);
            Expr::binary(BinaryOp::FloorDiv, rounded, Expr::int(i64::from(by)))
        }
    }
}
