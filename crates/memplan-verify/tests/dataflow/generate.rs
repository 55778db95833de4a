//! Random well-formed programs and random plans for them.

use std::collections::HashMap;

use memplan_core::{Bytes, Id, Placement, SpaceId};
use memplan_program::{
    Access, ByteRange, Control, CopyRange, Extent, OpDraft, OpId, Origin, OverlayKind, Program, ProgramBuilder, Site,
    Size, Target, TokenId, Trips, ValueId,
};
use memplan_verify::dataflow::SitePlan;

use crate::random::Random;

/// Which constructs a generated program may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    pub(crate) concurrency: bool,
    pub(crate) escapes: bool,
    pub(crate) slots: bool,
    /// Ops that nobody knows, and callees that start work.
    pub(crate) strangers: bool,
}

struct Generator {
    builder: ProgramBuilder,
    random: Random,
    features: Features,
    visible: Vec<ValueId>,
    /// Bytes of the values whose definition says how many there are: views stay inside of them.
    lengths: HashMap<ValueId, u64>,
    budget: u64,
    names: u32,
    /// All work started so far, anywhere.
    tokens: Vec<TokenId>,
    /// Loops around.
    loops: u32,
}

pub(crate) fn program(seed: u64, features: Features) -> Program {
    let mut random = Random::new(seed);
    let budget = random.range(6, 22);
    let mut generator = Generator {
        builder: ProgramBuilder::new(),
        random,
        features,
        visible: Vec::new(),
        lengths: HashMap::new(),
        budget,
        names: 0,
        tokens: Vec::new(),
        loops: 0,
    };
    let external = generator.builder.external("in");
    generator.builder.open_function("f", &[external]);
    if generator.random.once_in(3) {
        generator.visible.push(external);
    }
    for _ in 0..2 {
        generator.alloc();
    }
    generator.ops(3);
    generator.final_reads();
    generator.builder.leave(&[]);
    generator.builder.close_function();
    generator.builder.finish().expect("generated programs are well formed")
}

impl Generator {
    fn name(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    fn any(&mut self) -> ValueId {
        // Recent values are more interesting.
        let count = self.visible.len() as u64;
        let from = if self.random.once_in(2) { count.saturating_sub(3) } else { 0 };
        self.visible[self.random.range(from, count) as usize]
    }

    fn push(&mut self, draft: OpDraft) -> OpId {
        self.budget = self.budget.saturating_sub(1);
        self.builder.push(draft)
    }

    fn draft(&mut self) -> OpDraft {
        let name = self.name("op");
        OpDraft::new(name)
    }

    fn ops(&mut self, depth: u32) {
        for _ in 0..self.random.range(2, 7) {
            if self.budget > 0 {
                self.op(depth);
            }
        }
    }

    fn op(&mut self, depth: u32) {
        let nested = match (depth > 0, self.features.strangers) {
            (false, _) => 0,
            (true, false) => 30,
            (true, true) => 43,
        };
        match self.random.range(0, 70 + nested) {
            0..12 => self.alloc(),
            12..52 => self.access(),
            52..58 => self.view(),
            58..63 => self.merge(),
            63..65 => self.free(),
            65..67 if self.features.escapes => self.escape(),
            67..70 => self.copy(),
            70..78 => self.repeat(depth - 1),
            78..85 => self.branch(depth - 1),
            85..88 => self.graph(depth - 1),
            88..90 if self.features.strangers => self.unknown(depth - 1),
            90..94 if self.features.concurrency => self.parallel(depth - 1),
            94..98 if self.features.concurrency => self.launch(depth - 1),
            98..100 if self.features.concurrency => self.dag(),
            100..103 if self.features.strangers => self.unknown(depth - 1),
            103..109 if self.features.strangers => self.call(),
            109..113 if self.features.strangers => self.gather(),
            _ => self.access(),
        }
    }

    fn alloc(&mut self) {
        let name = self.name("x");
        let space = self.builder.space("default");
        let size = self.random.range(1, 5) * 2;
        let value = self.builder.alloc(&name, Size::Known(Bytes(size)), space);
        self.lengths.insert(value, size);
        if self.features.slots && self.loops > 0 && self.random.once_in(3) {
            // Beyond the cap any slot may be the current one.
            let slots = if self.random.once_in(6) { 17 } else { self.random.range(2, 4) as u32 };
            let preload = self.random.once_in(4);
            self.mark(value, |site| {
                site.slots = slots;
                site.preload = preload;
            });
        }
        let mut draft = self.draft().result(value);
        if !self.random.once_in(3) {
            draft = draft.write(value);
        }
        self.push(draft);
        self.visible.push(value);
    }

    fn mark(&mut self, value: ValueId, set: impl FnOnce(&mut Site)) {
        if let Some(site) = self.builder.site_mut(value) {
            set(site);
        }
    }

    fn access(&mut self) {
        let mut draft = self.draft();
        let reads: Vec<ValueId> = (0..self.random.range(0, 3)).map(|_| self.any()).collect();
        let writes: Vec<ValueId> = (0..self.random.range(u64::from(reads.is_empty()), 2)).map(|_| self.any()).collect();
        for &value in &reads {
            draft = draft.read(value);
        }
        for &value in &writes {
            let update = self.random.once_in(4);
            draft = if update { draft.update(value) } else { draft.write(value) };
            for &input in &reads {
                if !self.random.once_in(3) {
                    continue;
                }
                let any = self.random.once_in(3);
                let kind = if any { OverlayKind::AnyOffset } else { OverlayKind::SameBase };
                draft = draft.overlay(value, input, kind);
            }
        }
        self.push(draft);
    }

    fn view(&mut self) {
        let base = self.any();
        let (start, length) = (self.random.range(0, 4), self.random.range(1, 5));
        let end = self.lengths.get(&base).map_or(start + length, |&size| size.min(start + length));
        let start = start.min(end - 1);
        let range = ByteRange::new(start, end);
        let extent = match self.random.range(0, 4) {
            0 => Extent::Within(range),
            1 => Extent::Anywhere,
            _ => Extent::Exactly(range),
        };
        let name = self.name("v");
        let view = self.builder.view(&name, base, extent);
        if let Extent::Exactly(range) = extent {
            self.lengths.insert(view, range.len().0);
        }
        let draft = self.draft().result(view);
        self.push(draft);
        self.visible.push(view);
    }

    fn merge(&mut self) {
        let sources: Box<[ValueId]> = [self.any(), self.any()].into();
        let name = self.name("m");
        let origin = if self.random.once_in(4) { Origin::Opaque(sources) } else { Origin::Merged(sources) };
        let value = self.builder.value(&name, origin);
        let draft = self.draft().result(value);
        self.push(draft);
        self.visible.push(value);
    }

    fn free(&mut self) {
        let value = self.any();
        let draft = self.draft().free(value);
        self.push(draft);
    }

    fn escape(&mut self) {
        let value = self.any();
        let draft = self.draft().escape(value);
        self.push(draft);
    }

    /// A concat: bytes of the output are copies of bytes of two inputs.
    fn copy(&mut self) {
        let (output, first, second) = (self.any(), self.any(), self.any());
        let half = self.random.range(1, 4);
        let range = |output_start, input, input_start| CopyRange {
            output,
            output_start: Bytes(output_start),
            input,
            input_start: Bytes(input_start),
            length: Bytes(half),
        };
        let shift = self.random.range(0, 2);
        let draft = self.draft().read(first).read(second).write(output);
        self.push(draft.copies(range(0, first, shift)).copies(range(half, second, 0)));
    }

    /// Runs `inside` with its own scope of values.
    fn scoped<T>(&mut self, inside: impl FnOnce(&mut Generator) -> T) -> T {
        let visible = self.visible.len();
        let result = inside(self);
        self.visible.truncate(visible);
        result
    }

    fn incoming(&mut self, count: usize) -> Vec<ValueId> {
        (0..count)
            .map(|_| {
                let name = self.name("i");
                self.builder.incoming(&name)
            })
            .collect()
    }

    fn chosen(&mut self, count: usize) -> Vec<ValueId> {
        (0..count).map(|_| self.any()).collect()
    }

    fn region(&mut self, arguments: &[ValueId], leaves: usize, depth: u32) {
        self.builder.open_region(arguments);
        self.scoped(|this| {
            this.visible.extend_from_slice(arguments);
            this.ops(depth);
            let values = this.chosen(leaves);
            this.builder.leave(&values);
        });
        self.builder.close_region();
    }

    fn with_results(&mut self, mut draft: OpDraft, results: &[ValueId]) -> OpDraft {
        for &result in results {
            draft = draft.result(result);
        }
        draft
    }

    fn repeat(&mut self, depth: u32) {
        let carried = self.random.range(0, 3) as usize;
        let (inits, arguments, results) = (self.chosen(carried), self.incoming(carried), self.incoming(carried));
        let least = self.random.range(0, 3);
        let trips = match self.random.range(0, 3) {
            0 => Trips::exactly(least + 1),
            1 => Trips { at_least: least, at_most: Some(least + 2) },
            _ => Trips { at_least: least, at_most: None },
        };
        let draft = self.draft().inits(&inits).control(Control::Loop(trips));
        let draft = self.with_results(draft, &results);
        let op = self.builder.open_op(draft);
        if self.features.slots && self.random.once_in(3) {
            self.rotate_something(op);
        }
        self.loops += 1;
        if self.random.once_in(4) && carried > 0 {
            // A way out in the middle.
            self.builder.open_region(&arguments);
            self.scoped(|this| {
                this.visible.extend_from_slice(&arguments);
                this.ops(depth);
                let (leave, out) = (this.chosen(carried), this.chosen(carried));
                this.builder.leave(&leave);
                this.builder.branch(Target::Break, &out);
            });
            self.builder.close_region();
        } else {
            self.region(&arguments, carried, depth);
        }
        self.loops -= 1;
        self.builder.close_op();
        self.visible.extend_from_slice(&results);
    }

    /// Some buffer allocated outside gets slots that this loop rotates.
    fn rotate_something(&mut self, op: OpId) {
        let value = self.any();
        self.mark(value, |site| {
            if site.slots == 1 && site.rotation.is_none() {
                site.slots = 2;
                site.rotation = Some(op);
            }
        });
    }

    fn branch(&mut self, depth: u32) {
        let count = self.random.range(0, 2) as usize;
        let (inits, results) = (self.chosen(count), self.incoming(count));
        let may_skip = self.random.once_in(3);
        let draft = self.draft().control(Control::Alternatives { may_skip });
        let draft = if may_skip { draft.inits(&inits) } else { draft };
        let draft = self.with_results(draft, &results);
        self.builder.open_op(draft);
        for _ in 0..self.random.range(1, 3) {
            self.region(&[], count, depth);
        }
        self.builder.close_op();
        self.visible.extend_from_slice(&results);
    }

    /// Three blocks: head, body with a way back, and a side block.
    fn graph(&mut self, depth: u32) {
        let (inits, arguments, results) = (self.chosen(1), self.incoming(1), self.incoming(1));
        let draft = self.draft().inits(&inits);
        let draft = self.with_results(draft, &results);
        self.builder.open_op(draft);
        let head = self.builder.open_region(&arguments);
        let (in_body, in_side) = (self.incoming(1), self.incoming(1));
        let body = self.builder.add_block(&in_body);
        let side = self.builder.add_block(&in_side);
        self.loops += 1;
        self.scoped(|this| {
            this.visible.extend_from_slice(&arguments);
            this.ops(depth);
            let targets = [Target::Block(body), Target::Block(side), Target::Leave];
            for &target in &targets[..this.random.range(1, 4) as usize] {
                let values = this.chosen(1);
                this.builder.branch(target, &values);
            }
            for (block, argument) in [(body, in_body[0]), (side, in_side[0])] {
                this.builder.start_block(block);
                this.scoped(|this| {
                    this.visible.push(argument);
                    this.ops(depth);
                    let values = this.chosen(1);
                    let target = if this.random.once_in(2) { Target::Block(head) } else { Target::Leave };
                    this.builder.branch(target, &values);
                    if this.random.once_in(2) {
                        let values = this.chosen(1);
                        this.builder.branch(Target::Leave, &values);
                    }
                });
            }
        });
        self.loops -= 1;
        self.builder.close_region();
        self.builder.close_op();
        self.visible.extend_from_slice(&results);
    }

    fn unknown(&mut self, depth: u32) {
        let count = self.random.range(0, 2) as usize;
        let given = self.chosen(count);
        let mut draft = self.draft().control(Control::Unknown);
        for &value in &given {
            draft = draft.update(value);
        }
        let handed_out = self.random.once_in(3).then(|| self.opaque("o", &given));
        let draft = self.with_results(draft, &Vec::from_iter(handed_out));
        self.builder.open_op(draft);
        for _ in 0..self.random.range(1, 3) {
            let argument = self.opaque("a", &given);
            self.region(&[argument], 0, depth);
        }
        self.builder.close_op();
        self.visible.extend(handed_out);
    }

    fn opaque(&mut self, letter: &str, sources: &[ValueId]) -> ValueId {
        let name = self.name(letter);
        self.builder.value(&name, Origin::Opaque(sources.into()))
    }

    /// A call of a function that starts work and returns: the work is in no region
    /// of this function, and its token may be awaited at any time, or never.
    fn call(&mut self) {
        let name = self.name("t");
        let token = self.builder.token(&name);
        let touched = self.chosen(2);
        let mut call = self.draft();
        let mut inside = self.draft();
        for value in touched {
            let reads = self.random.once_in(2);
            call = if reads { call.read(value) } else { call.update(value) };
            inside = if reads { inside.read(value) } else { inside.update(value) };
        }
        self.push(call);
        let draft = self.draft().control(Control::Async { token });
        self.builder.open_op(draft);
        self.builder.open_region(&[]);
        self.push(inside);
        self.builder.leave(&[]);
        self.builder.close_region();
        self.builder.close_op();
        self.tokens.push(token);
        if self.random.once_in(2) {
            self.access();
            let draft = self.draft().awaits(token);
            self.push(draft);
        }
    }

    /// Waits for all work of one kind.
    fn gather(&mut self) {
        let Some(&token) = self.random.pick(&self.tokens) else { return self.access() };
        let draft = self.draft().awaits_every(token);
        self.push(draft);
    }

    fn parallel(&mut self, depth: u32) {
        let trips: Box<[Option<u64>]> = match self.random.range(0, 5) {
            0 => [None].into(),
            1 => [Some(2), Some(2)].into(),
            2 => [Some(1)].into(),
            _ => [Some(self.random.range(2, 4))].into(),
        };
        let draft = self.draft().scope().control(Control::Parallel { trips });
        self.builder.open_op(draft);
        self.region(&[], 0, depth);
        self.builder.close_op();
    }

    fn launch(&mut self, depth: u32) {
        let name = self.name("t");
        let token = self.builder.token(&name);
        let count = self.random.range(0, 2) as usize;
        let results = self.incoming(count);
        let draft = self.draft().control(Control::Async { token });
        let draft = if self.random.once_in(2) { draft.scope() } else { draft };
        let draft = self.with_results(draft, &results);
        self.builder.open_op(draft);
        self.region(&[], count, depth);
        self.builder.close_op();
        self.tokens.push(token);
        for _ in 0..self.random.range(0, 3) {
            if self.budget > 0 {
                self.op(depth);
            }
        }
        if !self.random.once_in(5) {
            let draft = self.draft().awaits(token);
            self.push(draft);
            // Only now may the results be used.
            self.visible.extend_from_slice(&results);
        }
    }

    fn dag(&mut self) {
        let draft = self.draft().control(Control::Dag { dependencies: Box::default() });
        let dag = self.builder.open_op(draft);
        self.builder.open_region(&[]);
        let first = self.builder.program().ops().len();
        for _ in 0..self.random.range(2, 5) {
            self.access();
        }
        let last = self.builder.program().ops().len();
        let mut dependencies = Vec::new();
        for before in first..last {
            for after in before + 1..last {
                // A race on one buffer would be the program's own mistake.
                let race = self.conflict(before, after);
                if race || !self.random.once_in(3) {
                    dependencies.push((OpId::from_index(before), OpId::from_index(after)));
                }
            }
        }
        self.builder.leave(&[]);
        self.builder.close_region();
        self.builder.set_control(dag, Control::Dag { dependencies: dependencies.into() });
        self.builder.close_op();
    }

    /// Whether two ops access one value and at least one of them writes it.
    fn conflict(&self, a: usize, b: usize) -> bool {
        let accesses = |op| &self.builder.program().op(OpId::from_index(op)).accesses;
        let clash = |x: &Access, y: &Access| x.value == y.value && (x.kind.writes() || y.kind.writes());
        accesses(a).iter().any(|x| accesses(b).iter().any(|y| clash(x, y)))
    }

    /// Something must be read in the end, or plans cannot be wrong.
    fn final_reads(&mut self) {
        for _ in 0..2 {
            let value = self.any();
            let draft = self.draft().read(value);
            self.builder.push(draft);
        }
    }
}

/// A plan with every buffer apart from every other.
pub(crate) fn spread_out(program: &Program, random: &mut Random) -> SitePlan {
    let mut plan = SitePlan::empty(program);
    let mut end = 0;
    for (site, info) in program.sites().iter_enumerated() {
        let size = info.size.upper_bound().map_or(8, |bytes| bytes.0);
        let slots = info.slots as u64 + u64::from(random.once_in(8));
        let mut placement = Placement::at(info.space, Bytes(end));
        placement.offsets = (0..slots).map(|slot| Bytes(end + slot * size)).collect();
        end += slots * size;
        if is_parallel(program, site) {
            match (random.range(0, 3), scope_of(program, site)) {
                (0, Some(owner)) => {
                    placement.space = SpaceId::from_index(program.spaces().len() + owner.index());
                    plan.owners.insert(placement.space, owner);
                }
                _ => {
                    placement.strides = std::iter::once(Bytes(slots * size)).collect();
                    end += 32 * slots * size;
                }
            }
        }
        plan.placements[site] = Some(placement);
    }
    plan
}

fn is_parallel(program: &Program, site: memplan_program::SiteId) -> bool {
    let alloc = program.alloc_op(site).expect("an alloc");
    program.ancestors(alloc).any(|op| matches!(program.op(op).control(), Control::Parallel { .. }))
}

fn scope_of(program: &Program, site: memplan_program::SiteId) -> Option<OpId> {
    program.owner_scope(site)
}

/// The plan with one to three buffers moved onto others, or dropped.
pub(crate) fn disturbed(program: &Program, plan: &SitePlan, random: &mut Random) -> SitePlan {
    let mut plan = plan.clone();
    let sites: Vec<memplan_program::SiteId> = program.sites().ids().collect();
    for _ in 0..random.range(1, 4) {
        let (Some(&from), Some(&to)) = (random.pick(&sites), random.pick(&sites)) else { break };
        if random.once_in(10) {
            plan.placements[from] = None;
            continue;
        }
        let Some(target) = plan.placements[to].clone() else { continue };
        if let Some(placement) = &mut plan.placements[from] {
            let shift = random.range(0, 4) * 2;
            let base = placement.offsets[0].0;
            if !plan.owners.contains_key(&target.space) || random.once_in(8) {
                placement.space = target.space;
            }
            for offset in &mut placement.offsets {
                *offset = Bytes(target.offsets[0].0 + shift + (offset.0 - base));
            }
            if random.once_in(2) {
                placement.strides = target.strides.clone();
            }
        }
    }
    plan
}

/// Every buffer at a random offset in a small space.
pub(crate) fn crowded(program: &Program, random: &mut Random) -> SitePlan {
    let mut plan = spread_out(program, random);
    for placement in plan.placements.iter_mut() {
        let Some(placement_) = placement else { continue };
        let base = placement_.offsets[0].0;
        let at = random.range(0, 8) * 2;
        for offset in &mut placement_.offsets {
            *offset = Bytes(at + offset.0 - base);
        }
        if random.once_in(8) {
            *placement = None;
        }
    }
    plan
}
