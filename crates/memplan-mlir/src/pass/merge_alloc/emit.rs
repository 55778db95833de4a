//! The last step of `merge-alloc`: writes the new text, with merged allocations, offsets and views.
//!
//! A *frame* is a scope (a function or a parallel loop) together with one memory space. All allocations that have their
//! home in it become views of one allocation at the start of the scope:
//!
//! ```text
//!   before   %a = memref.alloc() : memref<16xf32>
//!
//!   after    %merged_0 = memref.alloc() {alignment = 64 : i64} : memref<128xi8>
//!            %offset_1 = arith.constant 64 : index
//!            %a = memref.view %merged_0[%offset_1][] : memref<128xi8> to memref<16xf32>
//! ```
//!
//! An allocation inside of a parallel loop may have its home outside of that loop. It *crosses* the loop: every
//! iteration needs a copy of its own, and the offset is computed from the iteration's number
//! ([`BufferizedView::index`]).

use std::collections::BTreeMap;

use memplan_core::{Bytes, Id, IndexVec, Placement, SpaceId};
use memplan_program::SiteId;
use smallvec::smallvec;

use super::BufferizedView;
use super::candidates::{Candidate, Candidates};
use super::frames::{Address, Frame, Frames};
use super::home::{Home, Homes};
use crate::bounds::LoopBounds;
use crate::hash::HashMap;
use crate::pass::{Rewrite, Saving};
use crate::{Edits, OpId};

/// Makes the edits of the whole text. The result also says where each site lies, so that the checks can compare, and
/// what was saved in each frame.
pub(super) fn emit(view: &BufferizedView, candidates: Candidates, homes: &Homes, frames: &Frames) -> Rewrite {
    let mut emitter = Emitter {
        view,
        edits: Edits::default(),
        names: Names::new(view.document.source()),
        text: String::new(),
        arenas: HashMap::default(),
        placements: IndexVec::filled(None, view.lowered.program.sites().len()),
        owners: BTreeMap::new(),
    };
    // The merged allocations come first, because the views below refer to their names.
    emitter.allocations(frames);
    // For each merged allocation the number of its buffers, and the bytes that they would take without sharing.
    let mut savings: BTreeMap<SpaceId, (usize, u64)> = BTreeMap::new();
    for candidate in &candidates.list {
        let (Some(home), Some(address)) = (&homes[candidate.site], &frames.addresses[candidate.site]) else {
            continue;
        };
        let Some(space) = emitter.view_of(candidate, home, address) else { continue };
        // A buffer inside of parallel loops exists once for each iteration, so without merging it would take that
        // many times its size.
        let copies: u64 = home.crossed.iter().filter_map(|&op| super::home::copies(view, op)).product();
        let saving = savings.entry(space).or_default();
        saving.0 += 1;
        saving.1 = saving.1.saturating_add(candidate.bytes.saturating_mul(copies));
    }
    for &(_, op) in &candidates.deallocs {
        emitter.edits.delete_lines(view.document.source(), view.document.op(op).span);
    }
    let mut stats = Vec::with_capacity(frames.scopes.len());
    for (index, frame) in frames.scopes.iter().enumerate() {
        let (buffers, before) = savings.get(&SpaceId::from_index(index)).copied().unwrap_or_default();
        let (function, scope) = (function_of(view, frame.op), scope_name(view, frame));
        let (after, lower_bound) = (frame.extent, frame.lower_bound);
        stats.push(Saving { function, scope, buffers, before, after, lower_bound });
    }
    let Emitter { edits, placements, owners, .. } = emitter;
    Rewrite { edits, placements, owners, remarks: candidates.remarks, stats }
}

/// The name of the function around an op.
fn function_of(view: &BufferizedView, op: OpId) -> String {
    let mut op = Some(op);
    while let Some(around) = op {
        if view.document.info(around).traits.has(crate::dialect::Traits::FUNCTION) {
            return view.document.symbol_name(around).unwrap_or_default().to_owned();
        }
        op = view.document.parent_op(around);
    }
    String::new()
}

/// What a frame is called in statistics: its op's name, with the memory space if that is not the default one.
fn scope_name(view: &BufferizedView, frame: &Frame) -> String {
    let name = view.document.name(frame.op);
    match &frame.space {
        Some(space) => format!("{name}, {space}"),
        None => name.to_owned(),
    }
}

/// Collects the edits, and where each site lies.
struct Emitter<'a> {
    view: &'a BufferizedView<'a>,
    edits: Edits,
    names: Names,
    /// The ops that take the place of one allocation. There are as many of these texts as allocations, so their memory
    /// is used again.
    text: String,
    /// The merged allocations, by scope and memory space.
    arenas: HashMap<(OpId, Option<Box<str>>), Arena>,
    /// Where each site lies; `None` for one that keeps its allocation.
    placements: IndexVec<SiteId, Option<Placement>>,
    /// The scope op whose every instance has a merged allocation of its own.
    owners: BTreeMap<SpaceId, memplan_program::OpId>,
}

/// A merged allocation.
struct Arena {
    /// The name of its value, such as `%merged_0`.
    name: String,
    /// Its type, such as `memref<128xi8>`.
    ty: String,
    /// Its space in the plan.
    space: SpaceId,
}

impl Emitter<'_> {
    /// Writes the merged allocations, each at the start of its scope. Of several in one scope (one for each memory
    /// space) the one whose first buffer is largest comes first.
    fn allocations(&mut self, frames: &Frames) {
        let mut order: Vec<(SpaceId, &Frame)> =
            frames.scopes.iter().enumerate().map(|(index, frame)| (SpaceId::from_index(index), frame)).collect();
        order.sort_by_key(|(_, frame)| (frame.op, std::cmp::Reverse(frame.first_size)));
        for (space, frame) in order {
            let Some(first) = self.view.first_op(frame.op) else { continue };
            let name = self.names.next("merged");
            let ty = match &frame.space {
                Some(space) => format!("memref<{}xi8, {space}>", frame.extent),
                None => format!("memref<{}xi8>", frame.extent),
            };
            let alignment = self.view.options.alignment;
            let line = format!("{name} = memref.alloc() {{alignment = {alignment} : i64}} : {ty}");
            self.insert_before(first, &line);
            // Only an op of the program can own a memory. A function is none, and its memory exists once.
            if let Ok(op) = self.view.lowered.ops.as_slice().binary_search(&frame.op) {
                self.owners.insert(space, memplan_program::OpId::from_index(op));
            }
            self.arenas.insert((frame.op, frame.space.clone()), Arena { name, ty, space });
        }
    }

    /// Adds a line in front of an op, with the op's indentation.
    fn insert_before(&mut self, op: OpId, line: &str) {
        let start = self.view.document.op(op).span.start as usize;
        let indentation = indentation(self.view.document.source(), start);
        self.edits.insert(start, format!("{line}\n{indentation}"));
    }

    /// Replaces one allocation by a view of the merged allocation of its home, and records where the plan has it, so
    /// that the checks see the same address as the text. Returns the space; `None` leaves the allocation as it is.
    fn view_of(&mut self, candidate: &Candidate, home: &Home, address: &Address) -> Option<SpaceId> {
        let document = self.view.document;
        let Arena { name: arena, ty: arena_ty, space } = self.arenas.get(&(home.scope, candidate.space.clone()))?;
        let op = document.op(candidate.op);
        let result = *document.results(candidate.op).first()?;
        let location = document.location(candidate.op).map_or("", |span| document.text(span));
        let indentation = indentation(document.source(), op.span.start as usize);
        // The constant part of the offset, and for a buffer that crosses loops the part that depends on the
        // iterations.
        self.text.clear();
        let mut code = Code { names: &mut self.names, text: &mut self.text, location, indentation };
        let base = code.constant(address.offset);
        let offset = if home.crossed.is_empty() { base } else { self.view.index(&mut code, home, address, base)? };
        let (name, ty) = (document.value_name(result), document.type_text(result));
        match document.without_layout(result) {
            None => code.line(&[name, " = memref.view ", arena, "[", &offset, "][] : ", arena_ty, " to ", ty]),
            // The type spells out a layout, which `memref.view` cannot return although it is the plain row-major one.
            // So the view gets the plain type, and a cast, which does nothing at run time, gives it the spelled-out
            // type.
            Some(plain) => {
                let view = code.names.next("offset");
                code.line(&[&view, " = memref.view ", arena, "[", &offset, "][] : ", arena_ty, " to ", &plain]);
                code.line(&[name, " = memref.cast ", &view, " : ", &plain, " to ", ty]);
            }
        }
        self.edits.replace(op.span, self.text.as_str());
        let strides = address.strides.iter().map(|&stride| Bytes(stride)).collect();
        let placement = Placement { space: *space, offsets: smallvec![Bytes(address.offset)], strides, object: None };
        self.placements[candidate.site] = Some(placement);
        Some(*space)
    }
}

/// The indentation of the line that a position is in.
fn indentation(source: &str, position: usize) -> &str {
    let before = source.get(..position).unwrap_or("");
    let line = &before[before.bytes().rposition(|byte| byte == b'\n').map_or(0, |at| at + 1)..];
    &line[..line.len() - line.trim_ascii_start().len()]
}

/// Adds a number to a text, digit by digit. Formatting it takes several times as long.
pub(super) fn push_number(text: &mut String, number: u64) {
    let mut digits = [0; 20];
    let mut rest = number;
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.push_str(std::str::from_utf8(&digits[start..]).expect("digits are a text"));
}

/// New value names that the text does not use: `%merged_0`, `%offset_1`, ….
struct Names {
    /// Letters in front of the words, if the text has names like these already; usually empty.
    prefix: String,
    /// The number of the next name.
    count: usize,
}

impl Names {
    /// Lengthens the prefix (`m`, `mm`, …) until no name of the text begins with it and one of the words.
    fn new(source: &str) -> Names {
        let mut prefix = String::new();
        let taken =
            |prefix: &str| ["merged", "offset"].iter().any(|word| source.contains(&format!("%{prefix}{word}_")));
        while taken(&prefix) {
            prefix.push('m');
        }
        Names { prefix, count: 0 }
    }

    /// A name that has not been given yet.
    fn next(&mut self, word: &str) -> String {
        // Every buffer gets such a name, so it is put together without formatting.
        let mut name = String::with_capacity(self.prefix.len() + word.len() + 12);
        ["%", &self.prefix, word, "_"].iter().for_each(|piece| name.push_str(piece));
        push_number(&mut name, self.count as u64);
        self.count += 1;
        name
    }
}

/// The text that takes the place of one allocation: ops that compute an offset and make a view there, each on a line
/// of its own. The first line needs no indentation, since it begins where the allocation began.
struct Code<'a> {
    names: &'a mut Names,
    /// The text so far.
    text: &'a mut String,
    /// The location (`loc(…)`) that stands at the end of each op; empty for none.
    location: &'a str,
    /// What stands in front of all lines but the first.
    indentation: &'a str,
}

impl Code<'_> {
    /// Adds an op on a line of its own, with the location of the op that it replaces. The op is given in pieces:
    /// putting them one behind the other is several times quicker than formatting.
    fn line(&mut self, op: &[&str]) {
        self.begin_line();
        op.iter().for_each(|piece| self.text.push_str(piece));
        self.end_line();
    }

    fn begin_line(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
            self.text.push_str(self.indentation);
        }
    }

    fn end_line(&mut self) {
        if !self.location.is_empty() {
            self.text.push(' ');
            self.text.push_str(self.location);
        }
    }

    /// Adds a constant and gives its name.
    fn constant(&mut self, value: u64) -> String {
        let name = self.names.next("offset");
        self.begin_line();
        self.text.push_str(&name);
        self.text.push_str(" = arith.constant ");
        push_number(self.text, value);
        self.text.push_str(" : index");
        self.end_line();
        name
    }

    /// Adds an `arith` op on two values and gives the name of its result.
    fn binary(&mut self, op: &str, left: &str, right: &str) -> String {
        let name = self.names.next("offset");
        self.line(&[&name, " = arith.", op, " ", left, ", ", right, " : index"]);
        name
    }
}

impl BufferizedView<'_> {
    /// Writes the code that computes the offset of the copy that belongs to the current iteration of the crossed
    /// loops, and gives its name: `base` plus, for each loop, the number of the iteration times the loop's stride.
    /// `None` if a loop's bounds are not known.
    ///
    /// Two loops of 16 (outer) and 4 (inner) iterations with strides 256 and 16 give `base + j * 16 + i * 256`. If
    /// the outer stride were 64, the frames of the inner loop would fill that of the outer one without a gap (4 · 16
    /// = 64), and the two count as one loop of 64 iterations: `base + (j + i * 4) * 16`.
    fn index(&self, code: &mut Code, home: &Home, address: &Address, base: String) -> Option<String> {
        // For each crossed loop, innermost first: the name of the iteration's number, the stride in bytes, and the
        // number of iterations.
        let mut loops = Vec::new();
        for (&op, &stride) in home.crossed.iter().zip(&address.strides) {
            loops.push((self.number(code, op)?, stride, super::home::copies(self, op)?));
        }
        let mut offset = base;
        let mut position = 0;
        while position < loops.len() {
            // Outer loops whose frames are filled without a gap are added to this one, which saves a multiplication
            // each.
            let (mut number, stride, mut count) = loops[position].clone();
            position += 1;
            while let Some((outer, outer_stride, outer_count)) = loops.get(position) {
                if stride.checked_mul(count) != Some(*outer_stride) {
                    break;
                }
                let inner_count = code.constant(count);
                let scaled = code.binary("muli", outer, &inner_count);
                number = code.binary("addi", &number, &scaled);
                count = count.checked_mul(*outer_count)?;
                position += 1;
            }
            let stride = code.constant(stride);
            let scaled = code.binary("muli", &number, &stride);
            offset = code.binary("addi", &offset, &scaled);
        }
        Some(offset)
    }

    /// Writes the code that computes the number of the current iteration of a loop, counted from 0, and gives its
    /// name. A loop of several dimensions is counted row by row: iteration (i, j) of a 2x3 loop has the number 3i +
    /// j.
    fn number(&self, code: &mut Code, op: OpId) -> Option<String> {
        let document = self.document;
        let bounds = document.loop_bounds(op)?;
        let trips = document.trip_counts(op)?;
        let block = *document.blocks(*document.regions(op).first()?).first()?;
        let mut number: Option<String> = None;
        for ((&index, bound), trips) in document.arguments(block).iter().zip(&bounds).zip(trips) {
            let dimension = self.dimension(code, document.value_name(index), bound)?;
            number = Some(match number {
                None => dimension,
                Some(outer) => {
                    let trips = code.constant(trips?);
                    let scaled = code.binary("muli", &outer, &trips);
                    code.binary("addi", &scaled, &dimension)
                }
            });
        }
        number
    }

    /// Writes the code that computes the number of the iteration along one dimension, `(index - lower) / step`, and
    /// gives its name. With the bound 0 and the step 1 that is the index itself.
    fn dimension(&self, code: &mut Code, index: &str, bounds: &LoopBounds) -> Option<String> {
        let (lower, step) = (self.document.known(bounds.lower)?, self.document.known(bounds.step)?);
        let mut name = index.to_owned();
        if lower != 0 {
            let lower_name = code.names.next("offset");
            code.line(&[&lower_name, " = arith.constant ", &lower.to_string(), " : index"]);
            name = code.binary("subi", &name, &lower_name);
        }
        if step != 1 {
            let step = code.constant(u64::try_from(step).ok()?);
            name = code.binary("divsi", &name, &step);
        }
        Some(name)
    }
}
