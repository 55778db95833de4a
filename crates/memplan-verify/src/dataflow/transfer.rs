//! What one step does to the state.
//!
//! An op is taken apart in this order: its results come into being; its reads
//! are checked; outputs that lie on inputs or on each other need a permission;
//! its writes make its own bytes written and other contents on them lost; last
//! come frees and escapes. The order matters: an op reads all of its inputs
//! before it writes anything. Results come first, so that accesses may name
//! them, and so that a result that stands for an operand takes over the content
//! that the operand had before the op wrote.
//!
//! # An example
//!
//! `%x` has 8 bytes at offset 0 and `%y` 8 bytes at offset 4. Each column shows
//! the bytes 0..12 of memory as one content sees them: `.` unwritten, `w`
//! written, `!` lost.
//!
//! ```text
//!  address                0   4   8   12
//!  %x                     |-------|
//!  %y                         |-------|
//!
//!  step                   %x              %y
//!  fill writes %x         wwwwwwww            ........
//!  fill writes %y         wwww!!!!            wwwwwwww   %y took bytes 4..8 of %x
//!  use  reads %x[0..4]    wwww!!!!   fine                the lost half is not read
//!  use  reads %x          violation: bytes 4..8 were overwritten by `fill %y`
//!  fill writes %x         wwwwwwww            !!!!wwww   strong: %x is whole again
//! ```
//!
//! The check itself says so:
//!
//! ```
//! use memplan_verify::dataflow::{SitePlan, check};
//!
//! let source = "
//! func @f() {
//!   alloc_x  alloc %x 8
//!   alloc_y  alloc %y 8
//!   fill_x  write %x
//!   fill_y  write %y
//!   use  read %x
//! }
//! ";
//! let program = memplan_program::text::parse(source)?;
//! let sites: Vec<_> = program.sites().ids().collect();
//! let plan = SitePlan::empty(&program).place(&program, sites[0], 0).place(&program, sites[1], 4);
//! let found = check(&program, &plan);
//! assert_eq!(found.len(), 1);
//! assert!(found[0].describe(&program).contains("bytes 4..8"));
//! # Ok::<(), memplan_program::text::ParseError>(())
//! ```
//!
//! The last line of the picture is *strong*, because `%x` can only be that one
//! buffer. Had the program written through a value that may be `%x` or `%z`, the
//! lost bytes of `%x` would have stayed lost: perhaps it was `%z` that was written.
//!
//! # The words
//!
//! - A *place* is one slot of a site at its address, as an index into `Layout::places`.
//! - An *instance* of a site is what one execution of its alloc made. The tag `Current` stands for
//!   the latest instance, `Earlier` for any older one.
//! - A *root* is somebody who may read a content later: an allocated value, a value that control flow
//!   merges, the *holder* (code outside of the program, after an escape), or the implicit read of a
//!   *preloaded* buffer. A preloaded buffer is filled ahead, for iterations to come, so the end of its loop counts as a
//!   read of it.
//! - An *entry* is the number of a combination (root, place, tag). The state maps it to a `Content`: what the
//!   root finds in the bytes of that place. An entry that is absent from the state says that the root cannot be this
//!   buffer at this point of the program.
//! - An *element* is a range of bytes that code running at the same time may write; the elements of one such piece of
//!   code are an `Interference`, and all interferences that hold at a node are its *context*.
//! - A loop *rotates* the slots of a multi-buffered site: with two slots, iterations 0, 1, 2, 3 use the slots
//!   0, 1, 0, 1. The graph has one copy of the loop's body for each *turn* (here 0 and 1), so that a copy knows its
//!   slots.

use std::collections::HashMap;

use memplan_program::{AccessKind, Control, CopyRange, Op, OpId, Origin, OverlayKind, Program, SiteId, ValueId};
use smallvec::SmallVec;

use super::concurrent::{Concurrency, Element, Interference, spares};
use super::findings::Findings;
use super::graph::{FrameKind, Graph, NodeId, Step};
use super::layout::Layout;
use super::names::{Entry, Names, Root, Tag, bytes_of};
use super::ranges::{Range, Ranges, intersection};
use super::state::{Content, State, Window};

/// What the steps of one function need beside the state: what is known about the function, which does not change, and
/// the violations found so far.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) layout: &'a Layout,
    pub(super) names: &'a Names<'a>,
    pub(super) graph: &'a Graph,
    pub(super) concurrency: &'a Concurrency,
    /// The sites each loop rotates although they are allocated outside of it.
    pub(super) rotated: &'a HashMap<OpId, Vec<SiteId>>,
    /// The preloaded sites each loop reads at its end.
    pub(super) preloaded: &'a HashMap<OpId, Vec<SiteId>>,
    pub(super) findings: Findings,
}

/// A buffer that a value may be, with the bytes the value covers.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// The number of the entry: the value's root at one place with one tag.
    index: usize,
    entry: Entry,
    /// Bytes counted from the start of the buffer, cut at its end.
    bytes: Window,
}

type Targets = SmallVec<[Target; 2]>;

impl<'a> Machine<'a> {
    /// Applies one step of a node to the state. An await does nothing here: it joins two states, see `solve`.
    pub(super) fn step(&mut self, state: &mut State, node: NodeId, step: Step) {
        match step {
            Step::Op(op) => self.op(state, node, op),
            Step::Await(_) => {}
            Step::EnterParallel(op) => {
                let concurrency = self.concurrency;
                self.begin(state, node, concurrency.iterations.get(&op));
            }
            // Inside of asynchronous work, the code outside runs at the same time.
            Step::EnterAsync(op) => {
                let concurrency = self.concurrency;
                self.begin(state, node, concurrency.code.get(&op));
            }
            // After a launch, the launched work runs at the same time as this code.
            Step::Launched(op) => {
                // The results get their contents when the work is awaited. Until then they are nothing: what an earlier
                // launch of the same op handed out is not the result of this launch.
                for &result in &self.program.incoming(&self.program.op(op).results) {
                    self.forget(state, result);
                }
                let concurrency = self.concurrency;
                self.preload_beside(state, concurrency.region.get(&op));
                self.begin(state, node, concurrency.region.get(&op));
            }
            Step::Rotate(op, slot) => self.rotate(state, op, slot),
            Step::Begin(op) => self.forget_preloaded(state, op),
            Step::Preloaded(op) => self.read_preloaded(state, op),
        }
    }

    /// The instances of buffers that a value may be, with the bytes of each that it covers. Empty if the value is
    /// memory that is not followed, or is not defined yet.
    fn targets(&self, state: &State, value: ValueId) -> Targets {
        let resolved = self.names.resolve(value);
        let target = |&index: &usize| {
            let content = state.get(index)?;
            let entry = self.names.entries[index];
            let bytes = bytes_of(content.window, resolved.part, self.layout.places[entry.place].size);
            Some(Target { index, entry, bytes })
        };
        self.names.of_root(resolved.root).iter().filter_map(target).collect()
    }

    /// Applies one op to the state, in the order that the module documentation gives.
    fn op(&mut self, state: &mut State, node: NodeId, id: OpId) {
        let op = self.program.op(id);
        let context = self.context(node);
        for &result in &op.results {
            self.define(state, node, result, &context);
        }
        // Reads, updates and escapes: what escapes may be read by whoever gets the address.
        for access in op.accesses.iter().filter(|access| access.kind.reads()) {
            self.read(state, id, access.value);
        }
        // Before anything is written: do outputs lie on inputs or on each other?
        self.meetings(state, id, op);
        // Writes come after all reads.
        for access in op.accesses.iter().filter(|access| access.kind.writes()) {
            self.write(state, id, access.value, access.kind, &context);
        }
        for access in &op.accesses {
            match access.kind {
                AccessKind::Free => self.free(state, access.value, &context),
                AccessKind::Escape => self.escape(state, id, access.value, &context),
                _ => {}
            }
        }
    }

    /// What the code that may run at the same time as a node may write.
    fn context(&self, node: NodeId) -> SmallVec<[&'a Interference; 2]> {
        if self.concurrency.is_empty() {
            return SmallVec::new();
        }
        // Two kinds of code run beside a node: what the constructs around it bring along (other iterations of a
        // parallel loop; for the inside of asynchronous work, the code outside), and work that was launched before
        // and not awaited.
        let frames = self.graph.frames_around(self.graph.nodes[node].frame);
        let around = frames.filter_map(|frame| match frame {
            FrameKind::Parallel(op) => self.concurrency.iterations.get(&op),
            FrameKind::Async(op) => self.concurrency.code.get(&op),
            FrameKind::Function | FrameKind::Turn(..) => None,
        });
        let beside = self.concurrency.beside[node].iter();
        around.chain(beside.filter_map(|pending| self.concurrency.region.get(&pending.launch))).collect()
    }

    // Reads

    /// Reports every lost byte that an op reads through a value.
    fn read(&mut self, state: &State, op: OpId, value: ValueId) {
        for target in self.targets(state, value) {
            if let Some(content) = state.get(target.index) {
                for (range, by) in content.lost.within(target.bytes.range) {
                    self.findings.lost(op, value, target.entry.site, range, by);
                }
            }
        }
    }

    /// A loop begins anew. The buffers it allocates itself will be new instances, so what its preloaded buffers held
    /// when the loop was left the last time is forgotten. Otherwise the end of this run would count as a read of
    /// those old contents, and report them if other code has used their bytes in the meantime. Results that the loop
    /// handed out have entries of their own and are not forgotten.
    fn forget_preloaded(&mut self, state: &mut State, op: OpId) {
        for site in self.preloaded.get(&op).cloned().unwrap_or_default() {
            let is_inside = |alloc: OpId| self.program.ancestors(alloc).any(|outer| outer == op);
            if self.program.alloc_op(site).is_some_and(is_inside) {
                self.forget(state, self.program.site(site).value);
            }
        }
    }

    /// The end of a loop counts as a read of its preloaded buffers, because they have to stay intact until then. It
    /// reads the latest instance, under its own name, and the older slots, which wait in entries of the root `Preload`.
    /// With the loop their wait is over, so these entries are removed.
    fn read_preloaded(&mut self, state: &mut State, op: OpId) {
        for site in self.preloaded.get(&op).cloned().unwrap_or_default() {
            let value = self.program.site(site).value;
            self.read(state, op, value);
            for &index in self.names.of_preload(site) {
                if let Some(content) = state.get(index) {
                    for (range, by) in content.lost.iter() {
                        self.findings.lost(op, value, site, range, by);
                    }
                }
                state.put(self.names, index, None);
            }
            // A buffer that is allocated inside of a loop that may be skipped ends with the loop: a result of the loop
            // may also be what the loop was given at first, so it is a merged value with entries of its own, and the
            // buffer's own name is of no use any more. A loop that cannot be skipped may have a result that is always
            // this buffer. Such a result is an alias of the buffer's own name, whose content is then still needed.
            let may_skip = matches!(self.program.op(op).control(), Control::Loop(trips) if trips.at_least == 0);
            let is_inside = |alloc: OpId| self.program.ancestors(alloc).any(|outer| outer == op);
            if may_skip && self.program.alloc_op(site).is_some_and(is_inside) {
                self.forget(state, value);
            }
        }
    }

    // Meetings within one op

    /// Looks for outputs of an op that lie on its inputs or on each other. An op may write a part of an output before
    /// it has read all of an input, so such places are wrong unless the op permits them.
    fn meetings(&mut self, state: &State, id: OpId, op: &Op) {
        // An op that accesses one value only has nothing to compare it with. That holds for most ops.
        if op.accesses.windows(2).all(|pair| pair[0].value == pair[1].value) {
            return;
        }
        let of = |wanted: fn(AccessKind) -> bool| -> SmallVec<[(ValueId, Targets); 4]> {
            let accesses = op.accesses.iter().filter(|access| wanted(access.kind));
            accesses.map(|access| (access.value, self.targets(state, access.value))).collect()
        };
        let writes = of(AccessKind::writes);
        if writes.is_empty() {
            return;
        }
        let reads = of(AccessKind::reads);
        for (index, (output, written)) in writes.iter().enumerate() {
            for (input, read) in &reads {
                self.output_meets_input(state, id, op, (*output, written), (*input, read));
            }
            for (other, also_written) in &writes[index + 1..] {
                self.outputs_meet(id, (*output, written), (*other, also_written));
            }
        }
    }

    /// Reports bytes of an input that the op overwrites while it still reads, unless an overlay permits it. `written`
    /// are the buffers that the output may be, `read` those that the input may be.
    fn output_meets_input(
        &mut self,
        state: &State,
        id: OpId,
        op: &Op,
        (output, written): (ValueId, &Targets),
        (input, read): (ValueId, &Targets),
    ) {
        for w in written {
            for r in read {
                // Writing one's own buffer under another name is an update in place, which the program asked for.
                if w.entry.root == r.entry.root || same_instance(&w.entry, &r.entry) {
                    continue;
                }
                let Some(hit) = self.layout.hit(w.entry.place, w.bytes.range, r.entry.place) else { continue };
                let Some(hit) = intersection(hit, r.bytes.range) else { continue };
                // Only bytes that hold a content can be destroyed. Reading bytes that nobody wrote is the program's own
                // business.
                let Some(content) = state.get(r.index) else { continue };
                let mut clash: Ranges = Ranges::default();
                content.written.within(hit).for_each(|range| clash.add(range));
                if clash.is_empty() || self.overlay_allowed(op, (output, w), (input, r)) {
                    continue;
                }
                // A copy onto itself changes nothing: bytes that the op copies to the very address they are read from
                // stay intact.
                for copy in op.copies().iter().filter(|copy| copy.output == output && copy.input == input) {
                    if let Some(range) = self.coincidence(copy, w, r) {
                        clash.remove(range);
                    }
                }
                if let Some(range) = clash.iter().next() {
                    self.findings.own_input(id, output, input, r.entry.site, range);
                }
            }
        }
    }

    /// Whether the op permits its output `w` to lie on its input `r` as the plan has put them.
    fn overlay_allowed(&self, op: &Op, (output, w): (ValueId, &Target), (input, r): (ValueId, &Target)) -> bool {
        match op.permits_overlay(output, input) {
            None => false,
            Some(OverlayKind::AnyOffset) => true,
            Some(OverlayKind::SameBase) => self.distance(w, r) == Some(0),
        }
    }

    /// The address of the first byte of `w` minus that of `r`; `None` if it is not known or differs between iterations.
    fn distance(&self, w: &Target, r: &Target) -> Option<i128> {
        let places = self.layout.distance(w.entry.place, r.entry.place)?;
        let known = w.bytes.exact && r.bytes.exact;
        known.then(|| places + i128::from(w.bytes.range.0) - i128::from(r.bytes.range.0))
    }

    /// The bytes of `r`'s buffer that a copy from `r` to `w` leaves where they are; `None` if it moves them. The copied
    /// bytes begin `copy.output_start` bytes into `w` and `copy.input_start` bytes into `r`. They stay if both are the
    /// same address: `distance(w, r) + to == from`.
    fn coincidence(&self, copy: &CopyRange, w: &Target, r: &Target) -> Option<Range> {
        let (to, from) = (i128::from(copy.output_start.0), i128::from(copy.input_start.0));
        let start = r.bytes.range.0.saturating_add(copy.input_start.0);
        (self.distance(w, r)? + to == from).then(|| (start, start.saturating_add(copy.length.0)))
    }

    /// Whether a copy from one of the inputs to one of the targets leaves the bytes where they are. The output may be
    /// any of `targets` and the input any of `inputs`, so all pairs are looked at: if they disagree, it is
    /// `Sometimes`.
    fn stays(&self, copy: &CopyRange, targets: &Targets, inputs: &Targets) -> Stays {
        let (mut stays, mut moves) = (false, false);
        for (w, r) in targets.iter().flat_map(|w| inputs.iter().map(move |r| (w, r))) {
            match self.coincidence(copy, w, r) {
                Some(_) => stays = true,
                None => moves = true,
            }
            if stays && moves {
                return Stays::Sometimes;
            }
        }
        if stays { Stays::Always } else { Stays::Never }
    }

    /// Reports two outputs of one op that are different buffers and lie on the same bytes. `first` are the buffers that
    /// output `a` may be, `second` those that output `b` may be.
    fn outputs_meet(&mut self, id: OpId, (a, first): (ValueId, &Targets), (b, second): (ValueId, &Targets)) {
        for x in first {
            for y in second {
                if x.entry.root == y.entry.root || same_instance(&x.entry, &y.entry) {
                    continue;
                }
                let hit = self.layout.hit(x.entry.place, x.bytes.range, y.entry.place);
                if let Some(range) = hit.and_then(|hit| intersection(hit, y.bytes.range)) {
                    self.findings.outputs(id, a, b, y.entry.site, range);
                }
            }
        }
    }

    // Writes

    /// A write makes its own bytes written and destroys other contents on them. It is *strong* if it is certain which
    /// buffer is written and that all bytes of the value are: only then do lost bytes become good again, in all entries
    /// of that buffer. `context` is what runs at the same time.
    fn write(&mut self, state: &mut State, op: OpId, value: ValueId, kind: AccessKind, context: &[&Interference]) {
        let targets = self.targets(state, value);
        let root = self.names.resolve(value).root;
        // `Write` overwrites every byte of the value, `Update` perhaps only some. An exact window says which bytes
        // these are.
        let covers = kind == AccessKind::Write && targets.iter().all(|target| target.bytes.exact);
        // It is certain which buffer is written if there is one candidate only, which is the latest instance (`Earlier`
        // stands for several) and not perhaps memory that the check does not follow.
        let strong =
            covers && targets.len() == 1 && targets[0].entry.tag == Tag::Current && !self.names.may_be_unplaced(root);
        let copies: SmallVec<[(&CopyRange, Targets); 2]> = (self.program.op(op).copies().iter())
            .filter(|copy| copy.output == value)
            .map(|copy| (copy, self.targets(state, copy.input)))
            .collect();
        // All losses come before all gains: a value that may be one of several buffers must not lose, as a neighbour of
        // one target, what it gains as another target.
        for target in &targets {
            self.overwrite(state, op, root, target, &targets, &copies);
        }
        for target in &targets {
            self.fill(state, root, target, strong, covers);
        }
        for target in &targets {
            self.disturb(state, target, context);
        }
    }

    /// Every other content on the target's bytes is lost, except where the op merely copies bytes onto themselves.
    /// `targets` are all buffers that the written value may be, `target` one of them; `copies` are the ranges of the
    /// value that the op only copies, each with the buffers that its input may be.
    fn overwrite(
        &mut self,
        state: &mut State,
        op: OpId,
        root: ValueId,
        target: &Target,
        targets: &Targets,
        copies: &[(&CopyRange, Targets)],
    ) {
        let own = Root::Value(root);
        // The bytes that really change: what copies leave in place is taken out below.
        let mut rest = Ranges::of(target.bytes.range);
        for (copy, inputs) in copies {
            let input_root = self.names.resolve(copy.input).root;
            let stays = self.stays(copy, targets, inputs);
            // A copy that moves its bytes is like any other write.
            if stays == Stays::Never {
                continue;
            }
            // The copied range, counted from the start of the target's buffer.
            let start = target.bytes.range.0.saturating_add(copy.output_start.0);
            let range = (start, start.saturating_add(copy.length.0).min(target.bytes.range.1));
            rest.remove(range);
            if stays == Stays::Sometimes || self.names.may_be_unplaced(input_root) {
                // On some executions the bytes move (also if the input is memory that is not followed), on others they
                // stay where they are. The input's content is right in both cases: it has been copied, or nothing has
                // happened. All other contents may be lost.
                self.lose(state, target.entry.place, range, op, |entry| {
                    entry.root == Root::Value(input_root) || spared_by(entry, own, &target.entry)
                });
            }
        }
        for range in rest.iter() {
            self.lose(state, target.entry.place, range, op, |entry| spared_by(entry, own, &target.entry));
        }
    }

    /// Notes that the target's own bytes are written, in every entry that is about the same instance. Lost bytes become
    /// good again after a strong write. After a write that covers all targets they do so in the entry of the written
    /// value itself: whichever buffer it is, it holds what was just written.
    fn fill(&mut self, state: &mut State, root: ValueId, target: &Target, strong: bool, covers: bool) {
        let range = target.bytes.range;
        for &index in self.names.of_site(target.entry.site) {
            let entry = self.names.entries[index];
            if entry.place != target.entry.place || entry.tag != target.entry.tag {
                continue;
            }
            let own = entry.root == Root::Value(root);
            state.update(self.names, index, |content| {
                if strong || (covers && own) {
                    content.lost.remove(range);
                }
                content.written.add(range);
            });
        }
    }

    /// After a write to `target`: marks those bytes of its place as lost that code running at the same time may
    /// overwrite at once.
    fn disturb(&mut self, state: &mut State, target: &Target, context: &[&Interference]) {
        self.disturb_place(state, target.entry.site, target.entry.place, context);
    }

    /// Marks bytes as lost that code running at the same time may write, in all entries of a site at one place.
    fn disturb_place(&mut self, state: &mut State, site: SiteId, place: usize, context: &[&Interference]) {
        if context.is_empty() {
            return;
        }
        for &index in self.names.of_site(site) {
            if self.names.entries[index].place == place {
                self.disturb_entry(state, index, context);
            }
        }
    }

    /// Marks bytes of one entry as lost that code running at the same time may write.
    fn disturb_entry(&mut self, state: &mut State, index: usize, context: &[&Interference]) {
        let entry = self.names.entries[index];
        // The root of this entry cannot be this buffer here, so it has nothing to lose.
        if state.get(index).is_none() {
            return;
        }
        for element in context.iter().flat_map(|other| &other.elements) {
            if spares(self.layout, element, &entry) {
                continue;
            }
            for range in element.bytes.iter() {
                if let Some(hit) = self.layout.hit(element.place, range, entry.place) {
                    self.lose_entry(state, index, hit, element.by);
                }
            }
        }
    }

    /// The op `by` changes the bytes `range` of a place: all contents on them are lost, except those of entries that
    /// `keeps` names.
    fn lose(&mut self, state: &mut State, place: usize, range: Range, by: OpId, keeps: impl Fn(&Entry) -> bool) {
        if range.0 >= range.1 {
            return;
        }
        // A place inside of parallel loops lies elsewhere in each iteration. The addresses `low..high` cover the
        // range in all iterations. Candidates are the entries that start before `high` and whose live bytes reach
        // past `low`; `hit` then compares within one iteration.
        let at = &self.layout.places[place];
        let low = at.start + i128::from(range.0);
        let high = at.hull_end() - i128::from(at.size) + i128::from(range.1);
        for index in state.reaching_past(low, self.names.starting_before(high)) {
            let entry = self.names.entries[index];
            if keeps(&entry) {
                continue;
            }
            if let Some(hit) = self.layout.hit(place, range, entry.place) {
                self.lose_entry(state, index, hit, by);
            }
        }
    }

    /// Notes that `by` overwrites the bytes `hit` of an entry's buffer: those that are written and not lost yet become
    /// lost. If the entry belongs to a holder outside of the program, the loss is a violation by itself, because the
    /// holder may read at any time. Other losses are violations only if somebody reads them.
    fn lose_entry(&mut self, state: &mut State, index: usize, hit: Range, by: OpId) {
        let Some(content) = state.get(index) else { return };
        let entry = self.names.entries[index];
        let live = content.live();
        let Some(first) = live.within(hit).next() else { return };
        if entry.root == Root::Holder {
            self.findings.escaped(by, entry.site, first);
        }
        state.update(self.names, index, |content| {
            live.within(hit).for_each(|range| _ = content.lost.add(range, by));
        });
    }

    // Beginnings of concurrent stretches

    /// From here on other code runs at the same time: other iterations of a parallel loop, or an asynchronous region.
    /// Each of its writes (`other`) may happen at any moment, so the state has to hold for before and after it: buffers
    /// that it writes count as written, and other contents on the same bytes count as lost.
    fn begin(&mut self, state: &mut State, node: NodeId, other: Option<&Interference>) {
        let Some(other) = other else { return };
        let context = self.context(node);
        for element in &other.elements {
            self.count_as_written(state, element);
        }
        for element in &other.elements {
            for range in element.bytes.iter() {
                let layout = self.layout;
                self.lose(state, element.place, range, element.by, |entry| spares(layout, element, entry));
            }
        }
        // Still other code may be running already (`context`). It may have overwritten the buffers that have just come
        // to count as written.
        for element in &other.elements {
            self.disturb_place(state, element.site, element.place, &context);
        }
    }

    /// Work that has just been launched may fill preloaded buffers (`other` has what it writes). Their content must
    /// stay intact until the loop ends, also against the code that goes on beside the work. So the state of this code
    /// gets the content as well, under the root `Preload`, which the loop's end reads.
    fn preload_beside(&mut self, state: &mut State, other: Option<&Interference>) {
        for element in other.into_iter().flat_map(|other| &other.elements) {
            for &index in self.names.of_preload(element.site) {
                if self.names.entries[index].place == element.place {
                    let size = self.layout.places[element.place].size;
                    let mut waiting = Content::unwritten(Window { range: (0, size), exact: true });
                    waiting.written.add_all(&element.bytes);
                    self.take(state, index, waiting);
                }
            }
        }
    }

    /// The bytes of an element, which other code may write, count as written from now on. This concerns every entry
    /// that may be the written instance: if the other code certainly writes the latest one, only entries tagged
    /// `Current`.
    fn count_as_written(&mut self, state: &mut State, element: &Element) {
        for &index in self.names.of_site(element.site) {
            let entry = self.names.entries[index];
            let may_be_it = entry.place == element.place && (entry.tag == Tag::Current || !element.same_instance);
            if may_be_it {
                state.update(self.names, index, |content| content.written.add_all(&element.bytes));
            }
        }
    }

    /// A site has just been allocated or freed, which made its content unwritten. Code that runs at the same time
    /// (`context`) may write the site right after that: its bytes count as written. It may also write other buffers on
    /// the same bytes: those bytes count as lost.
    fn expose(&mut self, state: &mut State, site: SiteId, context: &[&Interference]) {
        let elements = || context.iter().flat_map(|other| &other.elements);
        for element in elements().filter(|element| element.site == site) {
            self.count_as_written(state, element);
        }
        if !context.is_empty() {
            for &index in self.names.of_site(site) {
                self.disturb_entry(state, index, context);
            }
        }
    }

    // Definitions

    /// What a value is when it is defined: a new instance of a buffer, or one of several values that are there.
    fn define(&mut self, state: &mut State, node: NodeId, value: ValueId, context: &[&Interference]) {
        match &self.program.value(value).origin {
            Origin::Alloc(site) if self.layout.is_placed(*site) => {
                self.alloc(state, node, value, *site);
                self.expose(state, *site, context);
            }
            Origin::Merged(sources) => self.merge(state, value, sources, true),
            // The result of an unknown op may be any part of a source, so its window is not exact.
            Origin::Opaque(sources) => self.merge(state, value, sources, false),
            // Views have no entries of their own, external memory and the other allocs are not followed, and what
            // control flow hands over is handed over on the edges of the graph.
            _ => {}
        }
    }

    /// A site is allocated: its new instance is unwritten, and all other names of the site now mean an earlier
    /// instance.
    fn alloc(&mut self, state: &mut State, node: NodeId, value: ValueId, site: SiteId) {
        let own = Root::Value(value);
        let slots = self.slots_at(node, site);
        if self.program.site(site).preload {
            self.keep_preloaded(state, value, site, &slots);
        }
        for &index in self.names.of_site(site) {
            let entry = self.names.entries[index];
            if entry.root != own && entry.tag == Tag::Current {
                self.becomes_earlier(state, index);
            }
        }
        for &index in self.names.of_root(value) {
            let entry = self.names.entries[index];
            let place = &self.layout.places[entry.place];
            let fresh = Content::unwritten(Window { range: (0, place.size), exact: true });
            // The value is the new instance only, so its entries for other slots are removed.
            state.put(self.names, index, slots.contains(&entry.place).then_some(fresh));
        }
    }

    /// The places a new instance may take: the slot that the turn of its rotating loop says, or any slot if the turn is
    /// not known.
    fn slots_at(&self, node: NodeId, site: SiteId) -> SmallVec<[usize; 1]> {
        let places = self.layout.places_of(site);
        if places.len() == 1 {
            return places.collect();
        }
        let rotation = self.program.rotation(site);
        let mut frames = self.graph.frames_around(self.graph.nodes[node].frame);
        let turn = frames.find_map(|frame| match frame {
            FrameKind::Turn(op, turn) if Some(op) == rotation => Some(turn),
            _ => None,
        });
        match turn {
            // The node is outside of the loop that rotates the site. Before that loop slot 0 is in use, and after it
            // the graph turns back to slot 0.
            None => places.take(1).collect(),
            // A loop may rotate sites of 2 and of 3 slots: it then has 6 turns, and a site uses slot `turn % slots`.
            // `max(1)` only guards the division: a site without places is not followed.
            Some(Some(turn)) => std::iter::once(places.start + turn as usize % places.len().max(1)).collect(),
            Some(None) => places.collect(),
        }
    }

    /// Moves the content of a `Current` entry to the `Earlier` entry of the same root and place. A root that can only
    /// be the latest instance has no such entry, and its content is dropped.
    fn becomes_earlier(&mut self, state: &mut State, index: usize) {
        let Some(content) = state.get(index).map(|content| Content::clone(content)) else { return };
        let entry = self.names.entries[index];
        state.put(self.names, index, None);
        if let Some(earlier) = self.names.find(entry.root, entry.place, Tag::Earlier, entry.site) {
            self.take(state, earlier, content);
        }
    }

    /// Adds a content to an entry. If the entry already has one, either may be true, so the two are joined.
    fn take(&self, state: &mut State, index: usize, content: Content) {
        let joined = match state.get(index) {
            Some(old) => {
                let mut joined = Content::clone(old);
                joined.join(&content);
                joined
            }
            None => content,
        };
        state.put(self.names, index, Some(joined));
    }

    /// A preloaded site is allocated again, in one of `slots`. The instances in the other slots must stay intact
    /// until the loop's end, but the value will soon name the new instance only. So their contents move to entries of
    /// the root `Preload`. What waited in the slot that the new instance certainly takes has been waiting long
    /// enough: the program itself uses the slot again.
    fn keep_preloaded(&mut self, state: &mut State, value: ValueId, site: SiteId, slots: &[usize]) {
        for &index in self.names.of_root(value) {
            let place = self.names.entries[index].place;
            let Some(kept) = self.names.find(Root::Preload, place, Tag::Earlier, site) else { continue };
            if let Some(content) = state.get(index).map(|content| Content::clone(content)) {
                self.take(state, kept, content);
            }
            if *slots == [place] {
                state.put(self.names, kept, None);
            }
        }
    }

    /// A value is defined as one of its sources. If it turned out to be an alias of a single source (its root is
    /// another value), it has no entries of its own and there is nothing to do. `exact` is false if it may be any
    /// part of them.
    fn merge(&mut self, state: &mut State, value: ValueId, sources: &[ValueId], exact: bool) {
        if self.names.resolve(value).root == value {
            let moves: SmallVec<[(ValueId, ValueId); 4]> = sources.iter().map(|&source| (value, source)).collect();
            self.hand_over(state, &moves, exact);
        }
    }

    /// Receivers take the contents of their sources, all at once, and forget what they held before. `moves` has pairs
    /// (receiver, source); a receiver with several sources may be any of them. `exact` is false if a receiver may be
    /// any part of its source.
    pub(super) fn hand_over(&mut self, state: &mut State, moves: &[(ValueId, ValueId)], exact: bool) {
        // First everything is read, then everything is written: a loop may hand `a` to `b` and `b` to `a`.
        let mut taken: Vec<(usize, Content)> = Vec::new();
        for &(receiver, source) in moves {
            for target in self.targets(state, source) {
                let Some(content) = state.get(target.index) else { continue };
                let Entry { place, tag, site, .. } = target.entry;
                let root = Root::Value(receiver);
                // A receiver without such an entry cannot be this instance (see `names`).
                let Some(index) = self.names.find(root, place, tag, site) else { continue };
                // The receiver lies in the buffer where the source does.
                let mut content = Content::clone(content);
                content.window = Window { exact: exact && target.bytes.exact, ..target.bytes };
                taken.push((index, content));
            }
        }
        for &(receiver, _) in moves {
            self.forget(state, receiver);
        }
        for (index, content) in taken {
            self.take(state, index, content);
        }
    }

    /// Removes all contents of a value that is a root: it is no buffer until it is defined again.
    fn forget(&mut self, state: &mut State, value: ValueId) {
        if self.names.resolve(value).root == value {
            for &index in self.names.of_root(value) {
                state.put(self.names, index, None);
            }
        }
    }

    /// A loop begins a turn and moves the buffers that it rotates although they are allocated outside of it. With two
    /// slots, a buffer that was written in slot 0 is now in slot 1, and what it held stays behind in slot 0: the
    /// written bytes move with the entry to slot 1 and count as lost there. If the buffer already was in the slot of
    /// this turn, nothing changes. `turn` is `None` if the slot is not known.
    fn rotate(&mut self, state: &mut State, op: OpId, turn: Option<u32>) {
        for site in self.rotated.get(&op).cloned().unwrap_or_default() {
            let places = self.layout.places_of(site);
            // Without a turn the slot is unknown, so the content may be in any of them.
            let only = turn.map(|turn| places.start + turn as usize % places.len().max(1));
            let entries = self.names.of_site(site).iter().copied();
            let current: Vec<usize> = entries.filter(|&index| self.names.entries[index].tag == Tag::Current).collect();
            // First everything is taken out, then everything is put back. Otherwise a content moved to slot 1 would be
            // met again as a content of slot 1 and moved on.
            let mut moved: Vec<(Entry, Content)> = Vec::new();
            for &index in &current {
                if let Some(content) = state.get(index) {
                    moved.push((self.names.entries[index], Content::clone(content)));
                    state.put(self.names, index, None);
                }
            }
            for (from, content) in moved {
                for &index in &current {
                    let to = self.names.entries[index];
                    // A content stays with its root, and goes to the slot of this turn only.
                    if to.root != from.root || only.is_some_and(|only| to.place != only) {
                        continue;
                    }
                    let mut content = content.clone();
                    // The new slot does not hold what the old slot held: all written bytes count as lost until the loop
                    // writes them again. A holder outside would go on using the old slot, so this is reported at once.
                    if to.place != from.place {
                        let written = content.written.clone();
                        if let (Root::Holder, Some(range)) = (from.root, written.iter().next()) {
                            self.findings.escaped(op, site, range);
                        }
                        written.iter().for_each(|range| _ = content.lost.add(range, op));
                    }
                    self.take(state, index, content);
                }
            }
        }
    }

    // The end of a buffer's life, as the program sees it

    /// A freed buffer has no content any more: its bytes become unwritten, and whoever overwrites them does no harm.
    fn free(&mut self, state: &mut State, value: ValueId, context: &[&Interference]) {
        let targets = self.targets(state, value);
        let root = self.names.resolve(value).root;
        // As for a strong write: one candidate, which is the latest instance and not perhaps memory that is not
        // followed.
        let certain = targets.len() == 1 && targets[0].entry.tag == Tag::Current && !self.names.may_be_unplaced(root);
        for target in &targets {
            for &index in self.names.of_site(target.entry.site) {
                let entry = self.names.entries[index];
                // Other names of the buffer lose their content only if it is certain which buffer is freed. A holder
                // outside keeps its entry: it may still use the address.
                let own = entry.root == Root::Value(root);
                let same = certain && same_instance(&entry, &target.entry) && entry.root != Root::Holder;
                if own || same {
                    state.update(self.names, index, |content| *content = Content::unwritten(content.window));
                }
            }
        }
        // Code that runs at the same time may still write the buffer, so what it may write counts as written again.
        for target in &targets {
            self.expose(state, target.entry.site, context);
        }
    }

    /// The address of a value becomes known to code outside of the program, the *holder*, which may read and write it
    /// at any time from now on. So from now on no other buffer may use these bytes.
    fn escape(&mut self, state: &mut State, op: OpId, value: ValueId, context: &[&Interference]) {
        let targets = self.targets(state, value);
        let own = Root::Value(self.names.resolve(value).root);
        // An escape counts as a write of all of the value's bytes, since its holder may write them at once.
        for target in &targets {
            self.lose(state, target.entry.place, target.bytes.range, op, |entry| spared_by(entry, own, &target.entry));
        }
        for target in &targets {
            for &index in self.names.of_site(target.entry.site) {
                let entry = self.names.entries[index];
                if entry.place == target.entry.place && entry.tag == target.entry.tag {
                    state.update(self.names, index, |content| content.written.add(target.bytes.range));
                }
            }
            // The holder gets an entry of its own. It keeps the bytes occupied even when the program frees or forgets
            // every name of the buffer.
            for &index in self.names.of_holder(target.entry.site) {
                let entry = self.names.entries[index];
                if entry.place == target.entry.place && entry.tag == target.entry.tag {
                    let mut held = Content::unwritten(target.bytes);
                    held.written.add(target.bytes.range);
                    self.take(state, index, held);
                }
            }
        }
        // Code that runs at the same time may write these bytes right after the escape.
        for target in &targets {
            self.disturb(state, target, context);
        }
    }

    /// Makes one state of two where the code has waited for asynchronous work: `state`, as the code sees memory, and
    /// `exit`, as the work saw it at its end. `definite` says that the work has certainly run, and only once.
    ///
    /// While both ran, each side took the bytes that the other may write for lost. So after definite work a byte is
    /// lost only if both sides say so: if one side wrote it last and still has it, it is there. If the work is not
    /// definite, `state` alone says what is lost: it has already taken everything for lost that the work may overwrite.
    pub(super) fn awaited(&mut self, state: &mut State, exit: &State, launch: OpId, definite: bool) {
        let reallocated = self.concurrency.reallocated.get(&launch);
        for index in exit.entries() {
            let Some(theirs) = exit.get(index) else { continue };
            // The code has no such entry. It is, for instance, one of the work's results, and is taken as it is.
            let Some(ours) = state.get(index) else {
                let theirs = Content::clone(theirs);
                state.put(self.names, index, Some(theirs));
                continue;
            };
            let site = self.names.entries[index].site;
            let mut content = Content::clone(ours);
            content.join(theirs);
            // Of a site that was allocated again meanwhile, the work only knows an older
            // instance: what it has lost says nothing about the one that the code holds.
            let same = !reallocated.is_some_and(|sites| sites.contains(&site));
            content.lost = match definite && same {
                true => ours.lost.and(&theirs.lost),
                false => ours.lost.clone(),
            };
            state.put(self.names, index, Some(content));
        }
    }
}

/// Whether a copy leaves bytes where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stays {
    /// On no execution.
    Never,
    /// On some executions, as far as is known.
    Sometimes,
    /// On all executions.
    Always,
}

/// Whether a write to `target` through `writer` leaves the content of `entry` alone. It does so if the content is the
/// writer's own, or certainly of the same instance. It also does so for a preloaded content that waits in an older
/// slot, if the target is a newer instance of the same site: the program itself uses the slot again.
fn spared_by(entry: &Entry, writer: Root, target: &Entry) -> bool {
    let comes_round = entry.root == Root::Preload && entry.site == target.site;
    entry.root == writer || same_instance(entry, target) || comes_round
}

/// Whether two entries are certainly about one instance.
fn same_instance(a: &Entry, b: &Entry) -> bool {
    a.site == b.site && a.tag == Tag::Current && b.tag == Tag::Current
}
