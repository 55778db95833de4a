//! Where the buffers of a function are in its rewritten version, read off the rewritten version alone.
//!
//! Both functions run the same statements; they differ in allocations, declarations and subscripts. We walk them side
//! by side and compare every access: how far apart, in bits, are the element that the original touches in its buffer
//! and the element that the rewritten function touches in its allocation?
//!
//! ```text
//! original                        rewritten
//! B = T.alloc_buffer((8,))        B = T.decl_buffer((16,), data=A.data)
//! B[i] = E[i]                     B[i + 8] = E[i]       element i of B is element i + 8 of A: B is at A + 256 bits
//! O[i] = B[7 - i]                 O[i] = B[15 - i]      the same; a second answer would be an error
//! ```
//!
//! Nothing here knows what the rewriter intended: neither its layout nor how it writes one down. A wrong constant, a
//! wrong view, a swapped name or a smaller extent is a [`Mismatch`], or shows as a place that the plan does not have
//! ([`disagreement`]).

mod address;

// `Layout` is the plan of the rewrite: which buffers lie in which of its allocations, and at which bit. `StmtId`
// numbers the statements of the original in the order of its text. A `Sum` is an address as a sum of products.
use crate::DType;
use crate::ir::{Block, BufId, Expr, Function, Memory, Param, Stmt, StmtKind, VarId};
use crate::rewrite::{AllocationId, Layout, StmtId};
use address::{Sum, address_of_element};
use memplan_core::{Id, IndexVec, Span};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Where a buffer of the original is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The allocation, a buffer of the rewritten function.
    pub allocation: BufId,
    /// Distance from the allocation's start.
    pub bit_offset: u64,
    /// The statement of the original in whose body the allocation stands; `None` is the top of the function.
    pub inside: Option<StmtId>,
}

/// The place of every allocated buffer of the original that is used.
pub type Places = IndexVec<BufId, Option<Found>>;

/// A difference between two functions that no layout explains.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Mismatch {
    /// What differs.
    pub message: String,
    /// The statement of the original.
    pub span: Span,
}

/// Finds every buffer of `original` in `rewritten`.
pub fn places(original: &Function, rewritten: &Function) -> Result<Places, Mismatch> {
    let mut reader = Reader {
        old: original,
        new: rewritten,
        vars: HashMap::new(),
        defined: HashSet::new(),
        found: IndexVec::filled(None, original.buffers.len()),
        allocated: HashMap::new(),
        next: 0,
        span: Span::default(),
    };
    reader.parameters()?;
    reader.block(&original.body, &rewritten.body, None)?;
    reader.sizes()?;
    Ok(reader.finish())
}

/// What is different from the plan about the place where a buffer was found, as the end of a sentence; `None` if
/// nothing is. `parent` is the statement in whose body the original allocates the buffer. `holders` says for each
/// allocation of the plan which allocation of the rewritten function it is. The first buffer that was found in an
/// allocation of the plan makes the entry, and all others must agree.
fn difference(
    found: &Found,
    layout: &Layout,
    buffer: BufId,
    parent: Option<StmtId>,
    holders: &mut BTreeMap<AllocationId, BufId>,
) -> Option<String> {
    let Some(place) = layout.places[buffer] else { return Some("not part of the plan".to_owned()) };
    let allocation = &layout.allocations[place.allocation];
    if *holders.entry(place.allocation).or_insert(found.allocation) != found.allocation {
        return Some("not in the memory that the plan gives it".to_owned());
    }
    if found.bit_offset != place.bit_offset {
        return Some(format!("{} bits into its memory, and the plan says {}", found.bit_offset, place.bit_offset));
    }
    // An allocation that stays is found where the original allocated the buffer; a moved one where the plan attaches
    // it.
    let inside = if allocation.stays { parent } else { allocation.attach };
    (found.inside != inside).then(|| "allocated in another statement than the plan says".to_owned())
}

/// Why `rewritten` is not what a layout of `original` says; `None` if it is. A buffer that nothing accesses has no
/// place and is not compared.
pub fn disagreement(original: &Function, layout: &Layout, rewritten: &Function) -> Option<Mismatch> {
    let found = match places(original, rewritten) {
        Ok(found) => found,
        Err(mismatch) => return Some(mismatch),
    };
    // Where the original allocates each buffer, for allocations that the plan leaves in place.
    let parents = parents(original);
    // The plan and the rewritten function number their allocations differently (see `difference`).
    let mut holders = BTreeMap::new();
    for (buffer, found) in found.iter_enumerated() {
        let Some(found) = found else { continue };
        let parent = parents.get(&buffer).copied().flatten();
        if let Some(what) = difference(found, layout, buffer, parent, &mut holders) {
            let declared = &original.buffers[buffer];
            return Some(Mismatch { message: format!("`{}` is {what}", declared.name), span: declared.span });
        }
    }
    // `holders` must be one to one. If two allocations of the plan have become one, their buffers overlap although the
    // plan kept them apart.
    let distinct: HashSet<BufId> = holders.values().copied().collect();
    (distinct.len() < holders.len())
        .then(|| Mismatch { message: "two allocations of the plan are one".to_owned(), span: Span::default() })
}

/// The statement in whose body each buffer is allocated; `None` is the top of the function.
fn parents(function: &Function) -> HashMap<BufId, Option<StmtId>> {
    /// Enters the allocations of a block, which is in the body of `inside`. Statements are numbered in the order of
    /// the text; `next` is the number of the next one.
    fn visit(block: &Block, inside: Option<StmtId>, next: &mut usize, found: &mut HashMap<BufId, Option<StmtId>>) {
        for stmt in block {
            let id = StmtId::from_index(*next);
            *next += 1;
            if let StmtKind::Alloc(buffer) = &stmt.kind {
                found.insert(*buffer, inside);
            }
            for inner in stmt.blocks() {
                visit(inner, Some(id), next, found);
            }
        }
    }
    let mut found = HashMap::new();
    visit(&function.body, None, &mut 0, &mut found);
    found
}

/// Where an original buffer was seen.
#[derive(Clone, Copy)]
struct Seen {
    /// The buffer of the rewritten function whose memory it is in.
    root: BufId,
    /// Its distance from the start of that memory.
    bits: i64,
}

/// The walk over both functions side by side. In this file *old* is the original and *new* the rewritten function.
struct Reader<'f> {
    old: &'f Function,
    new: &'f Function,
    /// Variables of the rewritten function, as variables of the original.
    vars: HashMap<VarId, VarId>,
    /// Variables of the original that a statement defines.
    defined: HashSet<VarId>,
    /// The place of each allocated buffer or parameter of the original, once an access has shown it.
    found: IndexVec<BufId, Option<Seen>>,
    /// Where allocations of the rewritten function stand.
    allocated: HashMap<BufId, Option<StmtId>>,
    /// Number of the next statement of the original.
    next: usize,
    /// The statement of the original that is looked at.
    span: Span,
}

/// Whether a statement takes part in the comparison. `T.evaluate(0)` does not: the printer writes it into a body that
/// is empty without its allocations.
fn acts(stmt: &&Stmt) -> bool {
    let does_nothing = matches!(
        stmt.kind,
        StmtKind::Alloc(_) | StmtKind::Declare(_) | StmtKind::Nothing | StmtKind::Evaluate(Expr::Int { .. })
    );
    !does_nothing
}

impl<'f> Reader<'f> {
    /// The error for the current statement.
    fn fail<T>(&self, message: impl Into<String>) -> Result<T, Mismatch> {
        Err(Mismatch { message: message.into(), span: self.span })
    }

    /// An error unless something holds; `what` ends the sentence "the rewritten text has …".
    fn expect(&self, holds: bool, what: &str) -> Result<(), Mismatch> {
        if holds { Ok(()) } else { self.fail(format!("the rewritten text has {what}")) }
    }

    /// Checks that both functions have the same parameters, and pairs them.
    fn parameters(&mut self) -> Result<(), Mismatch> {
        let (old, new) = (self.old, self.new);
        self.expect(old.params.len() == new.params.len(), "other parameters")?;
        for pair in old.params.iter().zip(&new.params) {
            match pair {
                (Param::Var(a), Param::Var(b)) => {
                    self.expect(old.vars[*a].dtype == new.vars[*b].dtype, "a parameter of another type")?;
                    self.define(*a, *b);
                }
                (Param::Buffer(a), Param::Buffer(b)) => self.see_root(*a, *b, 0)?,
                _ => return self.fail("the rewritten text has other parameters"),
            }
        }
        Ok(())
    }

    /// Notes that a variable of the rewritten function is one of the original.
    fn define(&mut self, old: VarId, new: VarId) {
        self.vars.insert(new, old);
        self.defined.insert(old);
    }

    /// Compares two blocks statement by statement. Allocations and declarations are passed over: they may differ.
    /// `inside` is the statement of the original whose body the block is.
    fn block(&mut self, old: &'f Block, new: &'f Block, inside: Option<StmtId>) -> Result<(), Mismatch> {
        // Where the allocations of the rewritten function stand is part of what is found.
        for stmt in new {
            if let StmtKind::Alloc(buffer) = &stmt.kind {
                self.allocated.insert(*buffer, inside);
            }
        }
        let mut rest = new.iter().filter(acts);
        for stmt in old {
            let id = StmtId::from_index(self.next);
            self.next += 1;
            self.span = stmt.span;
            if !acts(&stmt) {
                continue;
            }
            let Some(other) = rest.next() else { return self.fail("the rewritten text lacks this statement") };
            self.statement(stmt, other, id)?;
        }
        self.expect(rest.next().is_none(), "more statements")
    }

    /// Compares one statement with its rewritten version: the same kind, the same marks, and accesses at matching
    /// places.
    fn statement(&mut self, old: &'f Stmt, new: &'f Stmt, id: StmtId) -> Result<(), Mismatch> {
        match (&old.kind, &new.kind) {
            // Both must store to matching places, and matching values.
            (StmtKind::Store { buffer, index, value }, StmtKind::Store { buffer: to, index: at, value: stored }) => {
                self.access(*buffer, index, *to, at)?;
                return self.expr(value, stored);
            }
            // The bounds are compared before the loop variables are paired: bounds cannot use them.
            (StmtKind::For { var, kind, .. }, StmtKind::For { var: other, kind: how, .. }) => {
                self.expect(kind == how, "another kind of loop")?;
                self.expressions(old, new)?;
                self.define(*var, *other);
            }
            (StmtKind::Thread { var, tag, .. }, StmtKind::Thread { var: other, tag: axis, .. }) => {
                self.expect(tag == axis, "another thread axis")?;
                self.expressions(old, new)?;
                self.define(*var, *other);
            }
            (StmtKind::Let { var, .. }, StmtKind::Let { var: other, .. }) => {
                self.expressions(old, new)?;
                self.define(*var, *other);
            }
            (StmtKind::Attr { node, key, value, .. }, StmtKind::Attr { node: marked, key: mark, value: with, .. }) => {
                self.expect(key == mark, "another mark")?;
                match (node, marked) {
                    // The mark is about a whole buffer. Where that buffer starts is found out from its accesses.
                    (Some(Expr::Data(a)), Some(Expr::Data(b))) => self.see_memory(*a, *b)?,
                    (Some(a), Some(b)) => self.expr(a, b)?,
                    (None, None) => {}
                    _ => return self.fail("the rewritten text marks something else"),
                }
                self.expr(value, with)?;
            }
            (StmtKind::Assert { message, .. }, StmtKind::Assert { message: other, .. }) => {
                self.expect(message == other, "another assertion")?;
                self.expressions(old, new)?;
            }
            // These have nothing but expressions and blocks.
            (StmtKind::If { .. }, StmtKind::If { .. })
            | (StmtKind::While { .. }, StmtKind::While { .. })
            | (StmtKind::Evaluate(_), StmtKind::Evaluate(_)) => self.expressions(old, new)?,
            _ => return self.fail("the rewritten text has another statement here"),
        }
        for (a, b) in old.blocks().into_iter().zip(new.blocks()) {
            self.block(a, b, Some(id))?;
        }
        Ok(())
    }

    /// Compares the expressions of two statements themselves, without those in their blocks.
    fn expressions(&mut self, old: &'f Stmt, new: &'f Stmt) -> Result<(), Mismatch> {
        let (old, new) = (old.exprs(), new.exprs());
        self.expect(old.len() == new.len(), "an expression more or less")?;
        old.into_iter().zip(new).try_for_each(|(a, b)| self.expr(a, b))
    }

    /// Compares two expressions; they may differ in where buffers are, and in nothing else.
    fn expr(&mut self, old: &'f Expr, new: &'f Expr) -> Result<(), Mismatch> {
        // Pointers are compared as places in memory, because a rewrite may turn a bare pointer into the address of an
        // element.
        if let (Some(from), Some(to)) = (address::pointer(old, self.old), address::pointer(new, self.new)) {
            return self.pointer(&from, &to);
        }
        let same = match (old, new) {
            (Expr::Load { buffer, index }, Expr::Load { buffer: to, index: at }) => {
                return self.access(*buffer, index, *to, at);
            }
            (Expr::Var(a), Expr::Var(b)) => self.same_var(*a, *b),
            // Floats are compared bit by bit: a rewrite that turned 0.0 into -0.0 or changed a NaN would change
            // results.
            (Expr::Float { value, dtype }, Expr::Float { value: other, dtype: ty }) => {
                value.to_bits() == other.to_bits() && dtype == ty
            }
            (Expr::Binary { op, .. }, Expr::Binary { op: other, .. }) => op == other,
            (Expr::Cast { dtype, .. }, Expr::Cast { dtype: other, .. }) => dtype == other,
            (Expr::Ramp { lanes, .. }, Expr::Ramp { lanes: other, .. })
            | (Expr::Broadcast { lanes, .. }, Expr::Broadcast { lanes: other, .. }) => lanes == other,
            (Expr::Call { name, dtype, .. }, Expr::Call { name: other, dtype: ty, .. }) => name == other && dtype == ty,
            (Expr::Not(_), Expr::Not(_)) | (Expr::Select { .. }, Expr::Select { .. }) => true,
            (Expr::Int { .. } | Expr::Str(_) | Expr::Type(_) | Expr::Text(_), _) => old == new,
            _ => false,
        };
        // Only the node itself was compared so far. The parts follow, in order.
        let (parts, others) = (old.children(), new.children());
        if !same || parts.len() != others.len() {
            return self.fail("the rewritten text computes something else");
        }
        parts.into_iter().zip(others).try_for_each(|(a, b)| self.expr(a, b))
    }

    /// Whether two variables are the same. Those that statements define were paired when these were compared.
    fn same_var(&self, old: VarId, new: VarId) -> bool {
        match self.vars.get(&new) {
            Some(known) => *known == old,
            // A size that no statement defines (`n` in the shape of an argument) is the same if name and type are.
            None => !self.defined.contains(&old) && self.old.vars[old] == self.new.vars[new],
        }
    }

    /// Compares an access in the old function with the one in the new function. Both must touch the same element, so
    /// the difference of their addresses tells where the old buffer lies in the new one.
    fn access(&mut self, old: BufId, at: &'f [Expr], new: BufId, to: &'f [Expr]) -> Result<(), Mismatch> {
        let (Some(from), Some(to)) = (address_of_element(self.old, old, at), address_of_element(self.new, new, to))
        else {
            return self.fail("a subscript cannot be compared");
        };
        self.expect(from.lanes == to.lanes, "an access of another width")?;
        self.expect(from.element == to.element && from.stride == to.stride, "an access of another element type")?;
        let bits = self.distance(&from.first, &to.first)?;
        self.see(old, new, bits)
    }

    /// Compares two pointers: where they point, and the other arguments of the calls that make them.
    fn pointer(&mut self, from: &address::Pointer<'f>, to: &address::Pointer<'f>) -> Result<(), Mismatch> {
        let bits = self.distance(&from.first, &to.first)?;
        self.see(from.buffer, to.buffer, bits)?;
        self.expect(from.kept.len() == to.kept.len(), "another use of an address")?;
        from.kept.iter().zip(&to.kept).try_for_each(|(a, b)| self.expr(a, b))
    }

    /// `to - from` in bits, which must be a constant. The loads in the two addresses are compared pair by pair. If all
    /// pairs agree, the two loads of a pair count as the same unknown number.
    fn distance(&mut self, from: &Sum<'f>, to: &Sum<'f>) -> Result<i64, Mismatch> {
        self.expect(from.loads.len() == to.loads.len(), "another subscript")?;
        for (a, b) in from.loads.iter().zip(&to.loads) {
            self.expr(a, b)?;
        }
        // Most subscripts have not changed at all; then there is nothing to multiply out.
        if from.is_alike(to, &|old, new| self.same_var(old, new)) {
            return Ok(0);
        }
        // The same variable has the same name in both sums, so that its terms cancel out.
        let (to, from) = (to.value(&|var| self.new_name(var)), from.value(&|var| self.old_name(var)));
        let difference = to.zip(from).and_then(|(to, from)| to.minus(&from));
        match difference.and_then(|difference| difference.as_constant()) {
            Some(bits) => Ok(bits),
            None => self.fail("the rewritten text has another subscript"),
        }
    }

    /// The name of a variable of the original in a sum: `v` and its number if a statement defines it. A size that no
    /// statement defines has its own name.
    fn old_name(&self, var: VarId) -> String {
        match self.defined.contains(&var) {
            true => format!("v{}", var.index()),
            false => self.old.vars[var].name.clone(),
        }
    }

    /// The name of a variable of the rewritten function in a sum: that of the variable of the original that it is.
    fn new_name(&self, var: VarId) -> String {
        match self.vars.get(&var) {
            Some(old) => format!("v{}", old.index()),
            None => self.new.vars[var].name.clone(),
        }
    }

    /// Notes that an element of `old` lies `bits` further on in the memory of `new` than in its own.
    fn see(&mut self, old: BufId, new: BufId, bits: i64) -> Result<(), Mismatch> {
        let root = self.old.root(old);
        self.see_root(root, self.new.root(new), bits)
    }

    /// Notes where a buffer of the old function is in the new one: `bits` above the start of `root`. It is an error if
    /// the buffer was found at another place before, if the memories differ, or if a parameter is not the parameter of
    /// the same name at offset 0.
    fn see_root(&mut self, old: BufId, root: BufId, bits: i64) -> Result<(), Mismatch> {
        let (a, b) = (&self.old.buffers[old], &self.new.buffers[root]);
        self.expect((a.memory == Memory::Own) == (b.memory == Memory::Own), "a parameter in place of a buffer")?;
        self.expect(a.scope == b.scope, "a buffer in another memory")?;
        self.expect(a.memory == Memory::Own || a.name == b.name, "a parameter in place of another")?;
        self.expect(bits >= 0 && (a.memory == Memory::Own || bits == 0), "a buffer before the start of its memory")?;
        match self.found[old] {
            Some(seen) if seen.root != root || seen.bits != bits => {
                let name = a.name.clone();
                self.fail(format!("`{name}` is in two places"))
            }
            _ => {
                self.found[old] = Some(Seen { root, bits });
                Ok(())
            }
        }
    }

    /// Checks the memory of a buffer that a mark names, without its place in it. If no access has shown the buffer
    /// before, there is nothing to compare with.
    fn see_memory(&mut self, old: BufId, new: BufId) -> Result<(), Mismatch> {
        let (old, new) = (self.old.root(old), self.new.root(new));
        match self.found[old] {
            Some(seen) => self.expect(seen.root == new, "a mark on another buffer"),
            None => Ok(()),
        }
    }

    /// Checks that every buffer fits where it is. Symbolic sizes are compared with several choices of numbers for their
    /// variables (`SAMPLES`); a variable gets the same number in both functions. A parameter must have exactly the size
    /// it had.
    fn sizes(&mut self) -> Result<(), Mismatch> {
        // The extents of buffers whose size depends on data, before and after.
        let mut computed: Vec<(&'f Expr, &'f Expr)> = Vec::new();
        let (old_function, new_function) = (self.old, self.new);
        for (old, seen) in self.found.iter_enumerated() {
            let Some(seen) = seen else { continue };
            let (a, b) = (&old_function.buffers[old], &new_function.buffers[seen.root]);
            if address::bits_of(old_function, old, 0, &|var| old_function.vars[var].name.clone()).is_none() {
                computed.extend(a.shape.iter().zip(&b.shape));
            }
            // With each choice of numbers, the buffer must end before the end of the memory it is in.
            let fits = (0..address::SAMPLES).all(|sample| {
                let need = address::bits_of(self.old, old, sample, &|var| self.old.vars[var].name.clone());
                let have = address::bits_of(self.new, seen.root, sample, &|var| match self.vars.get(&var) {
                    Some(old) => self.old.vars[*old].name.clone(),
                    None => self.new.vars[var].name.clone(),
                });
                match (need, have) {
                    (Some(need), Some(have)) if a.memory == Memory::Own => need + i128::from(seen.bits) <= have,
                    (Some(need), Some(have)) => need == have && a.dtype == b.dtype,
                    // A size that depends on data cannot be computed. Such a buffer keeps its allocation, so it must
                    // lie at the start and have the same type and as many dimensions; `computed` has its extents.
                    _ => seen.bits == 0 && a.dtype == b.dtype && a.shape.len() == b.shape.len(),
                }
            });
            if !fits {
                let message = format!("`{}` does not fit where the rewritten text has it", a.name);
                return Err(Mismatch { message, span: a.span });
            }
        }
        // Comparing extents finds out more about the buffers that they load from, so it is done last.
        computed.into_iter().try_for_each(|(old, new)| self.expr(old, new))
    }

    /// The places of the buffers that the original allocates itself.
    fn finish(self) -> Places {
        self.found
            .iter_enumerated()
            .map(|(old, seen)| {
                let seen = seen.filter(|_| self.old.buffers[old].memory == Memory::Own)?;
                Some(Found {
                    allocation: seen.root,
                    bit_offset: seen.bits as u64,
                    inside: self.allocated.get(&seen.root).copied().flatten(),
                })
            })
            .collect()
    }
}

/// What one access touches: the address of its first lane, and its lanes.
struct Element<'f> {
    /// The address, in bits from the start of the memory.
    first: Sum<'f>,
    lanes: u64,
    /// The type of one lane.
    element: DType,
    /// Distance of two lanes in bits, where there are several.
    stride: i64,
}
