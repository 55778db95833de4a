//! Where the buffers are in a rewritten text, found in the text alone.
//!
//! A pass hands back a plan and a text that is said to carry it out. The plan is checked
//! elsewhere; here the new text is compared with the text it was made from, op by op, by code that shares nothing with
//! the emitters:
//!
//! ```text
//!   before                                   after
//!                                            %m = memref.alloc() : memref<128xi8>       new
//!                                            %o = arith.constant 64 : index             new
//!   %a = memref.alloc() : memref<16xf32>     %a = memref.view %m[%o][] : … to …         in its place
//!   "use"(%a) : (memref<16xf32>) -> ()       "use"(%a) : (memref<16xf32>) -> ()         the same op
//! ```
//!
//! Every op of the old text must be in the new one, in its block and order, with the same words. Only
//! allocations that got an address (and what frees or marks them) may be gone, and only ops that make
//! addresses may be new. Where an op used an allocation that is gone, it must now use
//! a value that is an address: that address is the place of the buffer. So a wrong constant, a
//! view of the wrong memory, two names that changed places and a line that went missing are all found.
//!
//! Everything named *old* belongs to the text before, everything named *new* to the text after. A *mark* is an op
//! `annotation.mark`, which says something about a buffer of an NPU kernel; a *workspace* is memory of a kernel in
//! global memory.
//!
//! An offset may depend on the number of an iteration. It is worked out as a sum over the loops
//! around it ([`Sum`]), which gives the distance between iterations.
//!
//! Where the new text differs in nothing but lines such as those above, [`find_addresses_by_lines`] finds the same
//! addresses without reading the whole text again.

mod lines;
mod sum;
mod unused;

use std::cell::OnceCell;
use std::collections::{HashMap, VecDeque};
use std::mem::take;

use std::sync::Arc;

use memplan_core::{Bytes, IndexVec, Span, patience};
use memplan_program::SiteId;
use smallvec::{SmallVec, smallvec};

use crate::document::NameId;
use crate::lex::{Lexer, TokenKind};
use crate::{BlockId, Definition, Document, Form, OpId, RegionId, ValueId};
use sum::Sum;

pub use lines::find_addresses_by_lines;

/// Where a buffer is in the new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The memory: the name of an allocation or of a memory space, made unique.
    pub memory: Arc<str>,
    /// The offsets, one a slot; hardly any buffer has more than one.
    pub offsets: SmallVec<[u64; 1]>,
    /// The distance between iterations of each parallel loop between memory and buffer, innermost first.
    pub strides: Vec<u64>,
}

/// What a pass may change in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// It replaces allocations by addresses, and nothing else; it may add host functions that report the size of a
    /// kernel's workspace.
    Addresses,
    /// It adds deallocations, and nothing else.
    Deallocations,
    /// It adds attributes, and nothing else.
    Attributes,
}

/// Something in the new text that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Difference {
    /// Where in the new text.
    pub span: Span,
    /// What is wrong there.
    pub message: String,
}

/// The address of every site in `after`, a rewritten `before`; `None` for sites that keep their allocation. `sites`
/// lists the old allocation behind each site. The error is the first thing in the new text that is not as it should
/// be.
pub fn find_addresses(
    before: &Document,
    sites: &IndexVec<SiteId, OpId>,
    after: &Document,
    changes: Changes,
) -> Result<IndexVec<SiteId, Option<Address>>, Difference> {
    let mut walk = Walk {
        before,
        after,
        changes,
        counterparts: IndexVec::filled(None, before.values.len()),
        places: IndexVec::filled(None, before.values.len()),
        addresses: Vec::new(),
        blocks: IndexVec::filled(None, before.blocks.len()),
        later: Vec::new(),
        old_marks: Vec::new(),
        new_marks: Vec::new(),
        uses_of_freed: OnceCell::new(),
        makes_addresses: (names_that_make_addresses(before), names_that_make_addresses(after)),
    };
    // Both texts are walked side by side. Values of the two are paired where they are defined, and every use must
    // then agree with the pair.
    for (before_block, after_block) in pairs(before.top_blocks(), after.top_blocks(), Span::default(), "parts")? {
        walk.block(before_block, after_block)?;
    }
    // An address is found where it is used. Buffers that no op uses are looked up by name.
    walk.unused(sites);
    walk.marks()?;
    // Some uses stand before their definition. They were put aside and are compared now that all pairs are known.
    for &(old, new, span) in &walk.later {
        if walk.counterparts[old] != Some(new) {
            return Err(Difference { span, message: format!("{} is something else", after.value_name(new)) });
        }
    }
    let Walk { places, mut addresses, .. } = walk;
    let allocated = sites.iter().map(|&op| before.results(op).first());
    // Each allocation is one site, so its address can be taken out. If it were two sites, the address would be needed
    // again.
    let is_taken_once = sites.as_slice().is_sorted_by(|one, other| one < other);
    let mut address_at = |place: u32| {
        let (_, address) = addresses.get_mut(place as usize)?;
        if !is_taken_once {
            return Some(address.clone());
        }
        let Address { memory, offsets, strides } = address;
        Some(Address { memory: take(memory), offsets: take(offsets), strides: take(strides) })
    };
    Ok(allocated.map(|value| address_at(places[*value?]?)).collect())
}

/// Pairs up two lists that must be equally long; the error says how many `what` there are in each.
fn pairs<'l, T: Copy>(
    one: &'l [T],
    other: &'l [T],
    span: Span,
    what: &str,
) -> Result<impl Iterator<Item = (T, T)> + use<'l, T>, Difference> {
    if one.len() != other.len() {
        return Err(Difference { span, message: format!("{} {what} instead of {}", other.len(), one.len()) });
    }
    Ok(one.iter().copied().zip(other.iter().copied()))
}

/// What is to be remembered about an operand.
enum Use {
    /// The operand was an allocation that is gone: the old value, the new value that stands in its place, and the
    /// address.
    Address(ValueId, ValueId, Address),
    /// The operand is made further down in both texts: the old and the new value, which must turn out to be a pair.
    Later(ValueId, ValueId),
}

/// Why two ops are not the same.
enum Why {
    /// The ops have different names. This is the usual case, because every op that a pass adds is first compared with
    /// the old op that follows it. So no message is made for this case.
    OtherOp,
    /// The reason, in words for the user.
    Said(String),
}

/// The comparison of two texts, and what it has found so far.
struct Walk<'a> {
    before: &'a Document,
    after: &'a Document,
    changes: Changes,
    /// The new value for each old one that is still there.
    counterparts: IndexVec<ValueId, Option<ValueId>>,
    /// For each old allocation that has been replaced by an address: where this address is in `addresses`.
    places: IndexVec<ValueId, Option<u32>>,
    /// Addresses, each with the new value that stands for it where it was found first.
    addresses: Vec<(ValueId, Address)>,
    /// The new block for each old one.
    blocks: IndexVec<BlockId, Option<BlockId>>,
    /// Operands that are made further down, and where they are used.
    later: Vec<(ValueId, ValueId, Span)>,
    /// `annotation.mark` ops of the two texts.
    old_marks: Vec<OpId>,
    new_marks: Vec<OpId>,
    /// The ops of the new text that use each value that the text frees; only made where something is freed.
    uses_of_freed: OnceCell<HashMap<ValueId, Vec<OpId>>>,
    /// For every name of an op in the two texts, whether such ops make addresses.
    makes_addresses: (IndexVec<NameId, bool>, IndexVec<NameId, bool>),
}

impl Walk<'_> {
    /// The address of an old value, if it is known, and the new value that it was found at.
    fn known(&self, value: ValueId) -> Option<&(ValueId, Address)> {
        self.places[value].and_then(|place| self.addresses.get(place as usize))
    }

    /// Notes for old values which new ones they have become.
    fn set_counterparts(&mut self, pairs: impl Iterator<Item = (ValueId, ValueId)>) {
        for (old, new) in pairs {
            self.counterparts[old] = Some(new);
        }
    }

    /// Compares two regions. All blocks and their arguments are paired first, because a block may use the arguments of a
    /// block further down and branch to it.
    fn region(&mut self, before: RegionId, after: RegionId) -> Result<(), Difference> {
        let (old, new) = (self.before, self.after);
        let span = new.region(after).span;
        for (one, other) in pairs(old.blocks(before), new.blocks(after), span, "blocks")? {
            self.blocks[one] = Some(other);
            self.label(one, other)?;
            self.set_counterparts(pairs(old.arguments(one), new.arguments(other), span, "block arguments")?);
        }
        for (one, other) in pairs(old.blocks(before), new.blocks(after), span, "blocks")? {
            self.block(one, other)?;
        }
        Ok(())
    }

    /// Compares the labels of two blocks: their names, to which branches refer, and (unless the pass adds attributes,
    /// which may stand in a type) the types of their arguments.
    fn label(&self, before: BlockId, after: BlockId) -> Result<(), Difference> {
        let (old, new) = (self.before, self.after);
        let names = [old.text(old.block(before).label), new.text(new.block(after).label)];
        let types_agree = |(&one, &other): (&ValueId, &ValueId)| old.type_text(one) == new.type_text(other);
        let arguments = || old.arguments(before).iter().zip(new.arguments(after));
        if names[0] == names[1] && (self.changes == Changes::Attributes || arguments().all(types_agree)) {
            return Ok(());
        }
        let message = format!("the block `{}` has another name, or arguments of other types", names[0]);
        Err(Difference { span: new.block(after).label, message })
    }

    /// Walks through two blocks side by side, and pairs the ops that are the same. Both lists of ops are read from the
    /// front. The first row of this table that fits decides what happens to the two ops at the front:
    ///
    /// ```text
    ///   old front                   new front            then
    ///   a mark                      anything             the old mark is kept for the end and passed over
    ///   an allocation, and no new   anything             the old op is passed over: an address has taken its place
    ///     op has its name
    ///   anything                    a mark               the new mark is kept for the end and passed over
    ///   the end                     the end              done
    ///   an op                       the same op          both are paired, with their regions
    ///   anything else               may have been added  the new op is checked and passed over
    ///   a `dealloc` that may be     anything else        the old op is passed over: a `dealloc` has no result, so
    ///     gone                                           no name tells whether it is gone
    ///   anything else               anything else        an error
    /// ```
    fn block(&mut self, before: BlockId, after: BlockId) -> Result<(), Difference> {
        self.blocks[before] = Some(after);
        let old_names = names_of(self.before, before, &self.makes_addresses.0);
        let new_names = names_of(self.after, after, &self.makes_addresses.1);
        let mut old = self.before.ops(before).iter().copied().peekable();
        let mut new = self.after.ops(after).iter().copied().peekable();
        loop {
            if patience::is_over() {
                return Err(Difference { span: Span::default(), message: "the comparison was stopped".to_owned() });
            }
            // Old ops that are gone for certain are passed over first. Marks of both texts are only collected here and
            // compared at the end, because a mark may move together with the address that it marks.
            if old.next_if(|&op| self.passes_over(op, &new_names)).is_some() {
                continue;
            }
            if let Some(mark) = new.next_if(|&op| self.is_mark(self.after, op)) {
                self.new_marks.push(mark);
                continue;
            }
            let why = match (old.peek(), new.peek()) {
                (None, None) => return Ok(()),
                (Some(&one), Some(&other)) => match self.same(one, other) {
                    Ok(uses) => {
                        self.pair(one, other, uses)?;
                        old.next();
                        new.next();
                        continue;
                    }
                    Err(why) => why,
                },
                // One of the blocks has ended, and the other one has an op left.
                _ => Why::OtherOp,
            };
            // The two ops differ. Either the new op was added, or the old op (a `dealloc`) was removed. If neither is
            // allowed here, the texts say different things.
            if let Some(other) = new.next_if(|&op| self.is_new(op, &old_names)) {
                self.check_new(other)?;
            } else if old.next_if(|&op| name_of(self.before, op).is_none() && self.may_be_gone(op)).is_none() {
                let at = new.peek().map(|&op| self.after.op(op).span);
                // The name of an op in a message, or that there is none left.
                let quoted =
                    |name: Option<&str>| name.map_or("the end of the block".to_owned(), |name| format!("`{name}`"));
                let expected = quoted(old.peek().map(|&op| self.before.name(op)));
                let found = quoted(new.peek().map(|&op| self.after.name(op)));
                let why = match why {
                    Why::OtherOp => format!("found {found}"),
                    Why::Said(why) => why,
                };
                return Err(Difference {
                    span: at.unwrap_or_default(),
                    message: format!("expected {expected}: {why}"),
                });
            }
        }
    }

    /// Whether an op of the old text has no op to be compared with at its place in the new block: it is a mark, which
    /// is added to `old_marks`; or a pass may take it away, and the new block has no op of the same name whose first
    /// result has the same name. A `dealloc` has no result and is never passed over here.
    fn passes_over(&mut self, op: OpId, new_names: &SortedNames) -> bool {
        if self.is_mark(self.before, op) {
            self.old_marks.push(op);
            return true;
        }
        self.may_be_gone(op) && name_of(self.before, op).is_some_and(|name| !new_names.contains(name))
    }

    /// Whether an op of the new text has been added: a pass may add it, and the old block has no op of the same name
    /// whose first result has the same name. An op without results has been added if a pass may add it.
    fn is_new(&self, op: OpId, old_names: &SortedNames) -> bool {
        self.may_be_new(op) && name_of(self.after, op).is_none_or(|name| !old_names.contains(name))
    }

    /// Whether an op is a mark that may move together with the address it marks; such marks are compared at the end.
    /// One with results is compared in its place like every op.
    fn is_mark(&self, document: &Document, op: OpId) -> bool {
        self.changes == Changes::Addresses && document.name(op) == "annotation.mark" && document.results(op).is_empty()
    }

    /// Every mark of the old text must be in the new one, on the same buffer and with the same words.
    fn marks(&self) -> Result<(), Difference> {
        // Marks mostly stand in the old order, so the one looked for is near the start of those left.
        let mut left: VecDeque<OpId> = self.new_marks.iter().copied().collect();
        for &mark in &self.old_marks {
            match left.iter().position(|&other| self.is_same_mark(mark, other)) {
                Some(at) => _ = left.remove(at),
                None => {
                    let marked = self.before.operands(mark).first();
                    let name = marked.map_or("", |&value| self.before.value_name(value));
                    let message = format!("the mark on {name} is missing");
                    return Err(Difference { span: Span::default(), message });
                }
            }
        }
        match left.front() {
            Some(&mark) => Err(Difference { span: self.after.op(mark).span, message: "this mark is new".to_owned() }),
            None => Ok(()),
        }
    }

    /// Notes that an op is in both texts: its results become counterparts, what its operands have told is remembered,
    /// and its regions are compared.
    fn pair(&mut self, one: OpId, other: OpId, uses: Vec<Use>) -> Result<(), Difference> {
        for operand in uses {
            match operand {
                Use::Address(value, new, address) => self.remember(value, new, address, self.after.op(other).span)?,
                Use::Later(old, new) => self.later.push((old, new, self.after.op(other).span)),
            }
        }
        let (before, after) = (self.before, self.after);
        let span = after.op(other).span;
        self.set_counterparts(pairs(before.results(one), after.results(other), span, "results")?);
        for (one, other) in pairs(before.successors(one), after.successors(other), span, "branches")? {
            if one.block.and_then(|block| self.blocks[block]) != other.block {
                return Err(Difference { span, message: "it branches to another block".to_owned() });
            }
        }
        for (one, other) in pairs(before.regions(one), after.regions(other), span, "regions")? {
            self.region(one, other)?;
        }
        Ok(())
    }

    /// Notes the address of an old value, found at the new value `new`; two different addresses are an error.
    fn remember(&mut self, value: ValueId, new: ValueId, address: Address, span: Span) -> Result<(), Difference> {
        match self.known(value) {
            Some((_, known)) if *known != address => {
                let name = self.before.value_name(value);
                let message = format!("{name} is at {:?} here and at {:?} elsewhere", address.offsets, known.offsets);
                Err(Difference { span, message })
            }
            Some(_) => Ok(()),
            None => {
                self.add_address(value, new, address);
                Ok(())
            }
        }
    }

    /// Notes an address that is new.
    fn add_address(&mut self, value: ValueId, new: ValueId, address: Address) {
        self.places[value] = u32::try_from(self.addresses.len()).ok();
        self.addresses.push((new, address));
    }

    /// Whether two ops are the same, without their regions: the same name, results of the same names, the same words
    /// (unless the pass adds attributes), and operands that are the same values. Gives what is to be remembered about
    /// their operands, or why they differ.
    fn same(&self, one: OpId, other: OpId) -> Result<Vec<Use>, Why> {
        let (before, after) = (self.before, self.after);
        if before.name(one) != after.name(other) {
            return Err(Why::OtherOp);
        }
        let (old, new) = (before.results(one), after.results(other));
        let same_name = |(&old, &new): (&ValueId, &ValueId)| before.value_name(old) == after.value_name(new);
        if old.len() != new.len() || !old.iter().zip(new).all(same_name) {
            return Err(Why::Said("its results have other names".to_owned()));
        }
        // A pass that adds attributes changes the words of an op.
        if self.changes != Changes::Attributes && !self.same_words(one, other) {
            return Err(Why::Said("it has other words".to_owned()));
        }
        let (old, new) = (before.operands(one), after.operands(other));
        if old.len() != new.len() {
            return Err(Why::Said("it has another number of operands".to_owned()));
        }
        let uses = old.iter().zip(new).filter_map(|(&old, &new)| self.same_value(old, new).transpose());
        uses.collect::<Result<_, String>>().map_err(Why::Said)
    }

    /// Whether a new operand is what the old one was: its counterpart, or an address in place of an old allocation.
    /// Gives what is to be remembered about it, if anything, or says what is wrong.
    fn same_value(&self, old: ValueId, new: ValueId) -> Result<Option<Use>, String> {
        let (before, after) = (self.before, self.after);
        match self.counterparts[old] {
            Some(counterpart) if counterpart == new => return Ok(None),
            Some(_) => return Err(format!("it uses {} instead of {}", after.value_name(new), before.value_name(old))),
            None => {}
        }
        // The same two values have been compared before, so the address is known.
        if self.known(old).is_some_and(|&(at, _)| at == new) {
            return Ok(None);
        }
        // A name that nothing defines, in a form that is not known, must be the same name.
        let definitions = [before.value(old).definition, after.value(new).definition];
        if definitions == [Definition::Unresolved; 2] && before.value_name(old) == after.value_name(new) {
            return Ok(None);
        }
        let Some(address) = self.address(old, new) else {
            // Blocks need not stand in the order in which they run, so a value may be made further down. Then the names
            // must agree now, and the values are compared at the end.
            return match before.value_name(old) == after.value_name(new) {
                true => Ok(Some(Use::Later(old, new))),
                false => Err(format!("{} is no address for {}", after.value_name(new), before.value_name(old))),
            };
        };
        if before.type_text(old) != after.type_text(new) {
            return Err(format!("{} has another type than {}", after.value_name(new), before.value_name(old)));
        }
        Ok(Some(Use::Address(old, new, address?)))
    }

    /// Whether a mark of the new text is one of the old text: on the same buffers and with the same words.
    fn is_same_mark(&self, mark: OpId, other: OpId) -> bool {
        let (old, new) = (self.before.operands(mark), self.after.operands(other));
        old.len() == new.len()
            && old.iter().zip(new).all(|(&old, &new)| self.is_same_buffer(old, new))
            && self.same_words(mark, other)
    }

    /// Whether a mark on `new` may be the mark that was on `old`: both are the same address, or `new` is the
    /// counterpart of `old`. The new value may be another one than the first that was found at the address of the old
    /// value, as long as it has the same address. An old value that nothing is known about is let pass.
    fn is_same_buffer(&self, old: ValueId, new: ValueId) -> bool {
        match self.known(old) {
            Some((at, _)) if *at == new => true,
            Some((_, address)) => self.address(old, new).is_some_and(|found| found.as_ref() == Ok(address)),
            None => self.counterparts[old].is_none_or(|counterpart| counterpart == new),
        }
    }

    /// Whether two ops are written with the same words, names of values aside. Most ops are equal letter by letter,
    /// and then the words need not be looked at one by one.
    fn same_words(&self, one: OpId, other: OpId) -> bool {
        let (old, new) = (self.before.text(self.before.op(one).span), self.after.text(self.after.op(other).span));
        let is_plain = self.before.regions(one).is_empty();
        (is_plain && old == new) || words(self.before, one).eq(words(self.after, other))
    }

    /// Whether a pass may add this op: one that makes addresses, a deallocation, or the host function that reports
    /// the size of a kernel's workspace.
    fn may_be_new(&self, op: OpId) -> bool {
        match self.after.name(op) {
            "memref.dealloc" => self.changes == Changes::Deallocations,
            "func.func" => self.changes == Changes::Addresses && self.reports_a_size(op),
            name => MAKES_ADDRESSES.contains(&name) && self.changes == Changes::Addresses,
        }
    }

    /// Whether an op is a host function that returns a constant, the size of a kernel's workspace.
    fn reports_a_size(&self, op: OpId) -> bool {
        let after = self.after;
        let name = after.symbol_name(op).unwrap_or_default();
        let blocks = after.regions(op).iter().flat_map(|&region| after.blocks(region));
        let mut ops = blocks.flat_map(|&block| after.ops(block));
        let is_plain = |&op: &OpId| matches!(after.name(op), "arith.constant" | "func.return");
        name.ends_with("_infer_workspace_shape_function") && ops.all(is_plain)
    }

    /// Gives an error if an added op frees something else than an allocation of its own block, frees what another op
    /// frees too, or frees it before its last use. Uses through views and aliases are not looked for. Other added ops
    /// are fine.
    fn check_new(&self, op: OpId) -> Result<(), Difference> {
        let after = self.after;
        if after.name(op) != "memref.dealloc" {
            return Ok(());
        }
        let error = |message: &str| Err(Difference { span: after.op(op).span, message: message.to_owned() });
        let block = after.op(op).parent;
        let is_own = |value: &ValueId| match after.value(*value).definition {
            Definition::Result { op: alloc, .. } => {
                after.name(alloc) == "memref.alloc" && after.op(alloc).parent == block
            }
            _ => false,
        };
        let Some(freed) = after.operands(op).first().copied().filter(is_own) else {
            return error("this frees memory that no `memref.alloc` of the same block has made");
        };
        let uses = self.uses_of_freed.get_or_init(|| uses_of_freed(after));
        for &other in uses.get(&freed).into_iter().flatten().filter(|&&other| other != op) {
            // The op of this block that is or contains the other one. A use in another block of the region has none:
            // control comes there after all of this block, wherever the other block stands in the text.
            let here = std::iter::successors(Some(other), |&inner| after.parent_op(inner))
                .find(|&around| after.op(around).parent == block);
            if after.name(other) == "memref.dealloc" {
                return error("this frees memory that is freed twice");
            }
            if here.is_none_or(|here| here > op) {
                return error("this frees memory that an op further down still uses");
            }
        }
        Ok(())
    }

    /// Whether a pass may take this op away: an allocation, or a `dealloc` of something that is no allocation any
    /// more.
    fn may_be_gone(&self, op: OpId) -> bool {
        self.changes == Changes::Addresses
            && match self.before.name(op) {
                "memref.alloc" | WORKSPACE => true,
                "memref.dealloc" => {
                    let keeps = self.before.operands(op).iter().any(|&value| self.keeps_allocation(value));
                    !keeps && self.before.results(op).is_empty()
                }
                _ => false,
            }
    }

    /// Whether an old value is an allocation that is also in the new text, and must still be freed there.
    fn keeps_allocation(&self, value: ValueId) -> bool {
        let is_allocation = match self.before.value(value).definition {
            Definition::Result { op, .. } => self.before.name(op) == "memref.alloc",
            _ => false,
        };
        is_allocation && self.counterparts[value].is_some()
    }

    /// The address that a new value stands for in place of an old allocation: `None` if it is no address, an error if
    /// something is wrong with it.
    fn address(&self, old: ValueId, new: ValueId) -> Option<Result<Address, String>> {
        let after = self.after;
        // Only an allocation becomes an address. Anything else is made further down in the text, and is compared
        // there.
        if !self.is_allocation(old) {
            return None;
        }
        let Definition::Result { op, .. } = after.value(new).definition else { return None };
        match after.name(op) {
            "memref.view" => Some(self.view_address(old, op)),
            // The result of a view has no layout. If the allocation's type was written with one, a cast follows.
            "memref.cast" if self.is_same_memory(old, new) => self.address(old, *after.operands(op).first()?),
            "hivm.hir.pointer_cast" => {
                // The addresses come first, then as many sizes as the allocation was given.
                let (operands, count) = (after.operands(op), self.given_sizes(old).len());
                let (addresses, sizes) = operands.split_at(operands.len().saturating_sub(count));
                if !self.has_sizes(old, sizes) {
                    return Some(Err("its sizes are not those of the allocation".to_owned()));
                }
                let offsets: Option<Vec<u64>> = addresses.iter().map(|&value| self.number(value)).collect();
                let space = after.ty(new).as_memref().and_then(|memref| memref.space.clone()).unwrap_or_default();
                Some(self.address_in(self.function_and(op, &space), offsets))
            }
            WORKSPACE => {
                let memory = after.operands(op).iter().find(|&&value| after.ty(value).as_memref().is_some());
                let memory = memory.map_or("", |&value| after.value_name(value));
                // A workspace without offsets has not been planned, and stands for no address.
                let offsets = after.workspace_offsets(op)?;
                Some(self.address_in(self.function_and(op, memory), Some(offsets)))
            }
            _ => None,
        }
    }

    /// Whether a value of the old text is memory that a pass may give an address.
    fn is_allocation(&self, old: ValueId) -> bool {
        match self.before.value(old).definition {
            Definition::Result { op, .. } => matches!(self.before.name(op), "memref.alloc" | WORKSPACE),
            _ => false,
        }
    }

    /// Whether two memrefs have the same type and lie without gaps, so that a cast between them changes nothing.
    fn is_same_memory(&self, old: ValueId, new: ValueId) -> bool {
        let (Some(old), Some(new)) = (self.before.ty(old).as_memref(), self.after.ty(new).as_memref()) else {
            return false;
        };
        old == new && old.is_dense()
    }

    /// The sizes that an old allocation was given as operands, one for each `?` of its type.
    fn given_sizes(&self, old: ValueId) -> &[ValueId] {
        match self.before.value(old).definition {
            Definition::Result { op, .. } => self.before.operands(op),
            _ => &[],
        }
    }

    /// Whether these new values are the counterparts of the sizes that an old allocation was given.
    fn has_sizes(&self, old: ValueId, sizes: &[ValueId]) -> bool {
        let given = self.given_sizes(old);
        let is_same = |(one, other): (&ValueId, &ValueId)| self.counterparts.get(*one) == Some(&Some(*other));
        given.len() == sizes.len() && given.iter().zip(sizes).all(is_same)
    }

    /// An address in a memory; without offsets, which must be constants, it is an error.
    fn address_in(&self, memory: String, offsets: Option<Vec<u64>>) -> Result<Address, String> {
        match offsets {
            Some(offsets) => Ok(Address { memory: memory.into(), offsets: offsets.into(), strides: Vec::new() }),
            None => Err("its address is no constant".to_owned()),
        }
    }

    /// The constant that a new value is.
    fn number(&self, value: ValueId) -> Option<u64> {
        u64::try_from(self.after.constant(value)?).ok()
    }

    /// A name for a memory in the function around an op. Memories of two functions are not the same, whatever they
    /// are called, so the function's place in the text is part of the name.
    fn function_and(&self, op: OpId, memory: &str) -> String {
        let function = self.after.function_around(op).map_or(0, |function| self.after.op(function).span.start);
        format!("{memory}@{function}")
    }

    /// The address that `memref.view %arena[%offset][]` stands for in place of an old allocation. The arena must be
    /// an allocation of bytes, the offset a sum over the parallel loops around, and the view must end inside of the
    /// arena in every iteration.
    fn view_address(&self, old: ValueId, view: OpId) -> Result<Address, String> {
        let after = self.after;
        let [base, offset] = after.operands(view) else { return Err("the view has other operands".to_owned()) };
        let Definition::Result { op: arena, .. } = after.value(*base).definition else {
            return Err("the view is of no allocation".to_owned());
        };
        // An offset counts bytes only if the memory consists of bytes. The view must also spell the type of its memory
        // as the allocation does, because MLIR would refuse a view that names another type.
        let is_bytes =
            after.ty(*base).as_memref().is_some_and(|memref| memref.element.stride_bytes() == Some(Bytes(1)));
        let is_spelled = after.type_spans(view).first().is_some_and(|&span| after.text(span) == after.type_text(*base));
        let size = after.ty(*base).as_memref().and_then(crate::MemRef::bytes);
        let (Some(size), "memref.alloc", true, true) = (size, after.name(arena), is_bytes, is_spelled) else {
            return Err("the view is of no allocation of bytes, or of one with another type".to_owned());
        };
        // The offset may depend on parallel loops between the allocation and the view: each iteration then has a
        // slice of its own.
        let sum = Sum::of(after, *offset).ok_or("the offset of the view is no sum over loops")?;
        let loops = parallel_loops_between(after, view, arena);
        let strides =
            sum.strides(after, &loops).ok_or("the offset of the view depends on other loops than those around it")?;
        let start = u64::try_from(sum.constant).map_err(|_| "the offset of the view is negative".to_owned())?;
        let bytes = self.before.ty(old).as_memref().and_then(crate::MemRef::dense_bytes).unwrap_or_default();
        // The largest offset over all iterations decides whether the view stays inside of its memory.
        let end = sum.largest(after).and_then(|largest| u64::try_from(largest).ok()?.checked_add(bytes.0));
        if end.is_none_or(|end| Bytes(end) > size) {
            return Err(format!("the view reaches beyond the {size} bytes of its memory"));
        }
        let memory = format!("{}@{}", after.value_name(*base), after.op(arena).span.start);
        Ok(Address { memory: memory.into(), offsets: smallvec![start], strides })
    }
}

/// The name of an op together with the name of its first result; `None` without results. It says which op of the
/// other text could be this one. A workspace with offsets counts as another op than one without, because a pass
/// replaces one by the other under the same name.
fn name_of(document: &Document, op: OpId) -> Option<(&str, &str)> {
    let &result = document.results(op).first()?;
    let is_placed = document.name(op) == WORKSPACE && document.workspace_offsets(op).is_some();
    let name = if is_placed { "a workspace with offsets" } else { document.name(op) };
    Some((name, document.value_name(result)))
}

/// What [`name_of`] says of those ops of a block that a pass may add or take away, sorted for a binary search.
struct SortedNames<'d> {
    names: Vec<(&'d str, &'d str)>,
}

impl SortedNames<'_> {
    /// Whether one of the ops has this name.
    fn contains(&self, name: (&str, &str)) -> bool {
        self.names.binary_search(&name).is_ok()
    }
}

/// The names of the ops of a block whose op name is in [`MAKES_ADDRESSES`]; `makes` says so for each op name of the
/// text.
fn names_of<'d>(document: &'d Document, block: BlockId, makes: &IndexVec<NameId, bool>) -> SortedNames<'d> {
    let ops = document.ops(block).iter().filter(|&&op| makes[document.op(op).name]);
    let mut names: Vec<(&str, &str)> = ops.filter_map(|&op| name_of(document, op)).collect();
    names.sort_unstable();
    SortedNames { names }
}

/// The op that makes a workspace, a part of global memory.
const WORKSPACE: &str = "memref_ext.alloc_workspace";

/// Ops that make addresses, or compute the numbers in them.
const MAKES_ADDRESSES: [&str; 10] = [
    "arith.constant",
    "arith.addi",
    "arith.subi",
    "arith.muli",
    "arith.divsi",
    "memref.alloc",
    "memref.view",
    "memref.cast",
    WORKSPACE,
    "hivm.hir.pointer_cast",
];

/// For every op name of a text, whether it is in [`MAKES_ADDRESSES`]. Asking by number is quicker than comparing
/// words for every op.
fn names_that_make_addresses(document: &Document) -> IndexVec<NameId, bool> {
    document.names.iter().map(|entry| MAKES_ADDRESSES.contains(&&*entry.name)).collect()
}

/// The ops that use each value which some op of the text frees, in the order of the text.
fn uses_of_freed(document: &Document) -> HashMap<ValueId, Vec<OpId>> {
    let frees = |op: &OpId| document.name(*op) == "memref.dealloc";
    let freed = document.op_ids().filter(frees).filter_map(|op| document.operands(op).first());
    let mut uses: HashMap<ValueId, Vec<OpId>> = freed.map(|&value| (value, Vec::new())).collect();
    for op in document.op_ids() {
        for value in document.operands(op) {
            if let Some(users) = uses.get_mut(value) {
                users.push(op);
            }
        }
    }
    uses
}

/// The parallel loops (`scf.forall`) around `inner` that are not around `outer`, innermost first.
fn parallel_loops_between(document: &Document, inner: OpId, outer: OpId) -> Vec<OpId> {
    let stop = document.parent_op(outer);
    let around = std::iter::successors(document.parent_op(inner), |&op| document.parent_op(op));
    around.take_while(|&op| Some(op) != stop).filter(|&op| document.name(op) == "scf.forall").collect()
}

/// The tokens of an op's text, without those of its regions and without the names of values. An op that is not
/// written has none.
fn words(document: &Document, op: OpId) -> impl Iterator<Item = &str> {
    let span = document.op(op).span;
    let regions: Vec<Span> = document.regions(op).iter().map(|&region| document.region(region).span).collect();
    let written = document.op(op).form != Form::Implicit;
    let mut lexer = Lexer::at(document.source(), span.start as usize);
    std::iter::from_fn(move || {
        loop {
            let token = lexer.next();
            if !written || token.kind == TokenKind::Eof || token.start() >= span.end as usize {
                return None;
            }
            // A region is stepped over as a whole: its ops are compared on their own.
            if let Some(region) = regions.iter().find(|region| region.range().contains(&token.start())) {
                lexer = Lexer::at(document.source(), region.end as usize);
                continue;
            }
            if token.kind != TokenKind::Percent {
                return document.source().get(token.start()..token.end());
            }
        }
    })
}
