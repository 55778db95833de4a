//! The quick way to the addresses, for texts that differ in nothing but whole lines.
//!
//! Most of a rewritten text is the old text, letter by letter. Reading all of it again and comparing it op by op cost a
//! third of a pass. Here the two texts are compared as bytes instead. Where they differ, both stand at the start of a
//! line, and one of these must be the reason:
//!
//! ```text
//!   old                                    new
//!                                          %m = memref.alloc() : memref<128xi8>      new memory, in front of an old op
//!                                          %o = arith.constant 64 : index            an offset, in front of an old op
//!   %a = memref.alloc() : memref<16xf32>   %a = memref.view %m[%o][] : … to …        in place of an allocation
//!   memref.dealloc %a : memref<16xf32>                                               gone with its allocation
//! ```
//!
//! # Why nothing can be missed
//!
//! All other bytes are the same, so every other op stands in the same block, in the same order and with the same words.
//! Every name means what it meant: `%m` and `%o` occur nowhere in the old text, and `%a` is made where it was made
//! before. So the reader would find the same ops, and wherever an old op used the allocation, the new one uses the
//! view. The offset of the view is a number, and the memory that it names is visible there.
//!
//! # What it does not do
//!
//! [`find_addresses_by_lines`] never says that a text is wrong. If the texts differ in anything else than the four
//! lines above, in exactly this spelling, its answer is `None`, and then [`find_addresses`](super::find_addresses)
//! decides.

use std::sync::Arc;

use memplan_core::{Bytes, Id, IndexVec, patience};
use memplan_program::SiteId;
use smallvec::{SmallVec, smallvec};

use super::Address;
use crate::dialect::Traits;
use crate::hash::{HashMap, Quick};
use crate::lex::Lexer;
use crate::{BlockId, Document, Form, MemRef, OpId, Type, ValueId};

/// The address of every site in `after`, a rewritten `before`, if the two differ in nothing but the lines that the
/// module documentation lists. `None` says nothing about the text.
pub fn find_addresses_by_lines(
    before: &Document,
    sites: &IndexVec<SiteId, OpId>,
    after: &str,
) -> Option<IndexVec<SiteId, Option<Address>>> {
    let mut walk = Walk {
        before,
        after,
        old: 0,
        new: 0,
        next_op: 0,
        memories: Vec::new(),
        made: HashMap::with_capacity_and_hasher(sites.len(), Quick::default()),
        beginnings: SmallVec::new(),
        places: IndexVec::filled(None, before.values.len()),
        seen: None,
    };
    while !walk.skip_what_is_the_same()? {
        walk.line()?;
    }
    // Only now are all new names known. None of them may have meant something in the old text.
    walk.new_names_are_new()?;
    Some(sites.iter().map(|&allocation| walk.address(allocation)).collect())
}

/// A value that only the new text has: memory, or an offset with the block that makes it.
#[derive(Clone, Copy)]
enum Made {
    /// The place in [`Walk::memories`].
    Memory(u32),
    Offset {
        value: u64,
        block: BlockId,
    },
}

/// An allocation that only the new text has.
struct Memory<'t> {
    /// Its name and where it is made, as in [`Address::memory`].
    name: Arc<str>,
    ty: &'t str,
    size: Bytes,
    block: BlockId,
}

/// The comparison of two texts, and what it has found so far.
struct Walk<'t> {
    before: &'t Document,
    after: &'t str,
    /// How far the two texts have been compared.
    old: usize,
    new: usize,
    /// The first op of the old text that may start at `old` or behind it.
    next_op: usize,
    memories: Vec<Memory<'t>>,
    /// The values that only the new text has, by name.
    made: HashMap<&'t str, Made>,
    /// The beginnings of these names. New names are numbered, so that there are few; a full list may lack some.
    beginnings: SmallVec<[&'t str; BEGINNINGS]>,
    /// For each old allocation that has been replaced by a view: its memory (the place in `memories`) and its offset.
    places: IndexVec<ValueId, Option<(u32, u64)>>,
    /// The memory and block of the last successful question whether one is visible in the other. The next view mostly
    /// asks the same question.
    seen: Option<(u32, BlockId)>,
}

impl<'t> Walk<'t> {
    /// The old text.
    fn source(&self) -> &'t str {
        &self.before.source
    }

    /// Where an allocation of the old text lies in the new one, if it became a view.
    fn address(&self, allocation: OpId) -> Option<Address> {
        let (memory, offset) = self.places[*self.before.results(allocation).first()?]?;
        let memory = Arc::clone(&self.memories[memory as usize].name);
        Some(Address { memory, offsets: smallvec![offset], strides: Vec::new() })
    }

    /// Steps over what both texts have in common, back to the start of the line in which they differ next. Says true
    /// if both texts have ended instead. `None` if the difference is not at the start of a line in both texts, or if
    /// nobody waits any more.
    fn skip_what_is_the_same(&mut self) -> Option<bool> {
        let (old, new) = (self.source().as_bytes(), self.after.as_bytes());
        let same = common_prefix(old.get(self.old..)?, new.get(self.new..)?);
        if self.old + same == old.len() && self.new + same == new.len() {
            return Some(true);
        }
        // How many bytes the start of the line lies before the first difference. It must not lie before `self.old`,
        // where this step began: everything before that place has been judged already.
        let before = self.old.saturating_sub(1);
        let line_break = old.get(before..self.old + same)?.iter().rposition(|&byte| byte == b'\n');
        let first_line = (self.old == 0).then_some(0);
        let start = line_break.map(|at| before + at + 1).or(first_line)?;
        self.new += start - self.old;
        self.old = start;
        // After a view in place of an allocation, the comparison goes on in the middle of a line. Then the same place
        // of the new text need not be the start of a line.
        let new_starts_line = self.new == 0 || new.get(self.new - 1) == Some(&b'\n');
        (new_starts_line && !patience::is_over()).then_some(false)
    }

    /// Takes the line in which the texts differ: a line of the old text that is gone, a line that only the new text
    /// has, or a view in place of an allocation. `None` if it is none of these.
    fn line(&mut self) -> Option<()> {
        let op = self.op_at_line_start()?;
        if self.is_freed_with_its_allocation(op) {
            return self.drop_line(op);
        }
        let mut line = Line { rest: self.after.get(self.new..)? };
        line.skip_blanks();
        let start = self.after.len() - line.rest.len();
        let name = line.name()?;
        line.word(" = ")?;
        match line.any_of(["arith.constant ", "memref.alloc() ", "memref.view "])? {
            0 => self.offset(name, line, op),
            1 => self.memory(name, start, line, op),
            _ => self.view(name, line, op),
        }
    }

    /// The op of the old text that begins with its current line; `None` if none does.
    fn op_at_line_start(&mut self) -> Option<OpId> {
        let mut line = Line { rest: self.source().get(self.old..)? };
        line.skip_blanks();
        let start = self.source().len() - line.rest.len();
        let ops = self.before.ops.as_slice();
        // Ops are sorted by where they start, so the search goes on where it ended before. Ops that are not written
        // are passed over.
        let is_before = |op: &crate::Op| op.form == Form::Implicit || (op.span.start as usize) < start;
        while ops.get(self.next_op).is_some_and(is_before) {
            self.next_op += 1;
        }
        let is_here = ops.get(self.next_op)?.span.start as usize == start;
        is_here.then(|| OpId::from_index(self.next_op))
    }

    /// Whether an op frees an allocation that has become a view.
    fn is_freed_with_its_allocation(&self, op: OpId) -> bool {
        // Whether a value is an allocation that has become a view.
        let is_gone = |value: &ValueId| self.places[*value].is_some();
        self.before.name(op) == "memref.dealloc" && matches!(self.before.operands(op), [value] if is_gone(value))
    }

    /// Steps over a line of the old text that holds this `dealloc` and nothing else.
    fn drop_line(&mut self, op: OpId) -> Option<()> {
        let before = self.before;
        // If the last op of the block is a `dealloc`, dropping deallocations could leave the block empty. How the
        // reader sees an empty block depends on what is around it, so the slower comparison has to decide.
        let last = *before.ops(before.op(op).parent).last()?;
        if before.name(last) == "memref.dealloc" || !before.results(op).is_empty() {
            return None;
        }
        let mut rest = Line { rest: self.source().get(before.op(op).span.end as usize..)? };
        rest.skip_blanks();
        rest.word("\n")?;
        self.old = self.source().len() - rest.rest.len();
        Some(())
    }

    /// Takes `%o = arith.constant 64 : index` in front of the old op `op`; `line` stands behind `arith.constant `.
    fn offset(&mut self, name: &'t str, mut line: Line<'t>, op: OpId) -> Option<()> {
        let value = line.number()?;
        line.word(" : index\n")?;
        let block = self.block_for_new_op(op)?;
        self.make(name, Made::Offset { value, block }, line)
    }

    /// Takes `%m = memref.alloc() {alignment = 64 : i64} : memref<128xi8>` in front of the old op `op`. `line` stands
    /// behind `memref.alloc() `, and the op begins at `start` in the new text.
    fn memory(&mut self, name: &'t str, start: usize, mut line: Line<'t>, op: OpId) -> Option<()> {
        if line.word("{alignment = ").is_some() {
            line.number()?;
            line.word(" : i64} ")?;
        }
        line.word(": ")?;
        let ty = line.rest.get(..line.rest.find('\n')?)?;
        let size = size_of_bytes(ty)?;
        line.rest = line.rest.get(ty.len() + 1..)?;
        let block = self.block_for_new_op(op)?;
        let place = u32::try_from(self.memories.len()).ok()?;
        self.memories.push(Memory { name: format!("{name}@{start}").into(), ty, size, block });
        self.make(name, Made::Memory(place), line)
    }

    /// The block of a new op that stands in front of an old one; `None` if the new op could change how the reader
    /// sees the block.
    fn block_for_new_op(&self, op: OpId) -> Option<BlockId> {
        let block = self.before.op(op).parent;
        // What follows the `{` of an unknown op decides whether the reader takes the braces for a region. So nothing
        // may be added in front of the first op there.
        let around = self.before.block_parent(block);
        let is_known =
            around.is_none_or(|around| self.before.info(around).known || self.before.op(around).form == Form::Generic);
        (is_known || self.before.ops(block).first() != Some(&op)).then_some(block)
    }

    /// Notes a value that only the new text has, and goes on behind its line. `None` if the name was made before.
    fn make(&mut self, name: &'t str, made: Made, line: Line<'t>) -> Option<()> {
        self.new = self.after.len() - line.rest.len();
        let beginning = name.get(..BEGINNING).unwrap_or("%");
        if self.beginnings.len() < BEGINNINGS && !self.beginnings.contains(&beginning) {
            self.beginnings.push(beginning);
        }
        self.made.insert(name, made).is_none().then_some(())
    }

    /// Takes `%a = memref.view %m[%o][] : memref<128xi8> to memref<16xf32>` in place of the old allocation `%a`,
    /// which is the op `op`. `line` stands behind `memref.view `.
    fn view(&mut self, name: &'t str, mut line: Line<'t>, op: OpId) -> Option<()> {
        let before = self.before;
        let &[value] = before.results(op) else { return None };
        if before.name(op) != "memref.alloc" || before.value_name(value) != name {
            return None;
        }
        let Made::Memory(place) = *self.made.get(line.name()?)? else { return None };
        line.word("[")?;
        let Made::Offset { value: offset, block } = *self.made.get(line.name()?)? else { return None };
        line.word("][] : ")?;
        let memory = self.memories.get(place as usize)?;
        line.word(memory.ty)?;
        line.word(" to ")?;
        line.word(before.type_text(value))?;
        // The view must end inside of its memory. The offset is made in the same block, the memory anywhere around.
        let bytes = before.ty(value).as_memref().and_then(MemRef::dense_bytes)?;
        let is_inside = offset.checked_add(bytes.0).is_some_and(|end| Bytes(end) <= memory.size);
        let is_visible = block == before.op(op).parent && self.is_visible(place, block);
        // The view must be the whole op. What stands behind the two ops is compared like the rest of the texts.
        let ends = line.ends();
        self.places[value] = Some((place, offset));
        self.old = before.op(op).span.end as usize;
        self.new = self.after.len() - line.rest.len();
        (is_inside && is_visible && ends).then_some(())
    }

    /// Whether a new memory can be named in a block: it is made in the block itself, in a block around it, or in the
    /// first block of a region around it. If a parallel loop lies between the two, the answer is no: every iteration
    /// may have a copy of its own, which only the slower comparison can tell.
    fn is_visible(&mut self, place: u32, block: BlockId) -> bool {
        if self.seen == Some((place, block)) {
            return true;
        }
        let before = self.before;
        let Some(memory) = self.memories.get(place as usize) else { return false };
        let region = before.block(memory.block).parent;
        let is_entry = before.blocks(region).first() == Some(&memory.block);
        let mut inner = block;
        loop {
            // The first block of a region runs before all its others.
            if inner == memory.block || (is_entry && before.block(inner).parent == region) {
                self.seen = Some((place, block));
                return true;
            }
            let Some(around) = before.block_parent(inner) else { return false };
            if before.info(around).traits.has(Traits::ISOLATED) || before.name(around) == "scf.forall" {
                return false;
            }
            inner = before.op(around).parent;
        }
    }

    /// Says `None` if a name that was added is one of the old text.
    fn new_names_are_new(&self) -> Option<()> {
        // Most names of the old text have none of the beginnings, and need not be looked up in a table that is as large
        // as the text.
        let (beginnings, is_full) = (&self.beginnings, self.beginnings.len() == BEGINNINGS);
        let may_be_made = |name: &str| is_full || beginnings.iter().any(|beginning| name.starts_with(beginning));
        let is_made = |name: &str| may_be_made(name) && self.made.contains_key(name);
        let is_free = |value| !patience::is_over() && !is_made(self.before.value_name(value));
        self.before.value_ids().all(is_free).then_some(())
    }
}

/// How many bytes of a name count as its beginning, and how many different beginnings are listed at most.
const BEGINNING: usize = 4;
const BEGINNINGS: usize = 4;

/// The size of a memory of bytes, by its type; `None` for any other type and for whatever is no type.
fn size_of_bytes(ty: &str) -> Option<Bytes> {
    // A `#` may be an alias, which would have to be looked up in the file.
    let open = ty.strip_prefix("memref<").filter(|rest| !rest.contains('#')).map(|rest| ty.len() - rest.len() - 1)?;
    let mut lexer = Lexer::at(ty, open);
    // The bracket of `memref<…>` must end where the text ends; otherwise something stands behind the type.
    lexer.skip_group(open).ok().filter(|()| lexer.position == ty.len())?;
    let parsed = Type::parse(ty);
    let memref = parsed.as_memref().filter(|memref| memref.element.stride_bytes() == Some(Bytes(1)))?;
    memref.bytes()
}

/// How many bytes two texts have in common at their start.
fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    // Most texts are the same for many lines, so long pieces are compared first; then eight bytes at a time, then one.
    let long = equal_chunks::<32>(one, other);
    let short = long + equal_chunks::<8>(&one[long..], &other[long..]);
    let rest = one[short..].iter().zip(&other[short..]);
    short + rest.take_while(|(one, other)| one == other).count()
}

/// How many bytes two texts have in common at their start, in whole pieces of `N` bytes.
fn equal_chunks<const N: usize>(one: &[u8], other: &[u8]) -> usize {
    let pieces = one.as_chunks::<N>().0.iter().zip(other.as_chunks::<N>().0);
    pieces.take_while(|(one, other)| one == other).count() * N
}

/// A place in a text: the rest of its line, and all lines behind it. Each method steps over something, and gives
/// `None` if something else stands there.
struct Line<'t> {
    rest: &'t str,
}

impl<'t> Line<'t> {
    /// Steps over blanks.
    fn skip_blanks(&mut self) {
        let blanks = self.rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.rest = &self.rest[blanks..];
    }

    /// Passes over exactly these characters.
    fn word(&mut self, word: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    /// Steps over one of several words and says which one it was.
    fn any_of<const N: usize>(&mut self, words: [&str; N]) -> Option<usize> {
        words.iter().position(|word| self.word(word).is_some())
    }

    /// Steps over a value's name: `%` and a word that does not begin with a digit.
    fn name(&mut self) -> Option<&'t str> {
        let word = self.rest.strip_prefix('%')?;
        let length = word.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let starts_with_digit = word.bytes().next()?.is_ascii_digit();
        let (name, rest) = self.rest.split_at_checked(length + 1)?;
        self.rest = rest;
        (length > 0 && !starts_with_digit).then_some(name)
    }

    /// Steps over a whole number between 0 and the largest `i64`.
    fn number(&mut self) -> Option<u64> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        digits.parse().ok().filter(|&number: &u64| i64::try_from(number).is_ok())
    }

    /// Whether nothing but a comment follows on this line.
    fn ends(&self) -> bool {
        let rest = self.rest.trim_start_matches([' ', '\t', '\r']);
        rest.is_empty() || rest.starts_with('\n') || rest.starts_with("//")
    }
}
