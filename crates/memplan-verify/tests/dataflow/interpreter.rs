//! Executes a Program on concrete memory, one random path and interleaving a run.
//!
//! Two memories run side by side. In the *true* one every instance of a buffer
//! has bytes of its own; in the *planned* one bytes lie where the plan puts
//! them. Every write puts a fresh tag into both. A read whose true byte has a
//! tag must find the same tag in planned memory: if it does not, the plan is
//! wrong, beyond doubt. Nothing is shared with the check but the Program.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use memplan_core::Id;
use memplan_program::{
    AccessKind, Await, BlockId, Control, Extent, Op, OpId, Origin, OverlayKind, Program, RegionId, SiteId, Target,
    ValueId,
};
use memplan_verify::dataflow::SitePlan;

use crate::random::Random;

type Tag = u64;

/// A memory of the planned machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Memory {
    /// A space of the plan, in one instance of its owner.
    Space(usize, u64),
    /// An instance's own memory.
    Own(usize),
}

/// Where an instance lies.
#[derive(Clone, Debug)]
enum Home {
    Fixed(Memory, u64),
    /// Rotated by a loop that does not contain the alloc; the displacement
    /// is that of the parallel iteration.
    Rotating(SiteId, Memory, u64),
}

#[derive(Clone, Debug)]
struct Instance {
    home: Home,
    bytes: Vec<Option<Tag>>,
}

/// What a value is at run time.
#[derive(Clone, Debug)]
struct Binding {
    instance: usize,
    range: Range<usize>,
}

#[derive(Clone, Debug)]
enum Frame {
    /// Ops of a block; a dag runs its ops in an order of its own.
    Block { ops: Vec<OpId>, next: usize, block: BlockId },
    /// An op whose region is running.
    Region { op: OpId, region: usize, rounds: u64, outer: Option<u64> },
    /// The accesses of an op that is not known, after the op itself.
    Late(OpId),
}

#[derive(Clone, Debug)]
struct Thread {
    frames: Vec<Frame>,
    values: HashMap<ValueId, Binding>,
    /// Current iteration of the loops and parallel ops around.
    iterations: HashMap<OpId, u64>,
    /// Current instance of the scope ops around.
    scopes: HashMap<OpId, u64>,
    waits_for: Vec<usize>,
    /// The latest thread of each async op that this one knows of.
    launched: HashMap<OpId, usize>,
    /// All threads of async ops that this one has started, or whoever started this one before.
    known: Vec<usize>,
    /// The async op it runs, whose results it leaves to whoever awaits.
    runs: Option<OpId>,
    /// Who started it.
    parent: Option<usize>,
}

pub(crate) struct Interpreter<'a> {
    program: &'a Program,
    plan: &'a SitePlan,
    random: Random,
    instances: Vec<Instance>,
    planned: HashMap<(Memory, u64), Tag>,
    threads: Vec<Thread>,
    escaped: Vec<Binding>,
    /// Latest instance in each slot of a preloaded site.
    preloaded: BTreeMap<(SiteId, u64), usize>,
    next: u64,
    wrong: bool,
}

/// Runs the first function once. `Some(true)` if a read went wrong, `None` if the run was cut off.
pub(crate) fn run(program: &Program, plan: &SitePlan, seed: u64) -> Option<bool> {
    let mut interpreter = Interpreter {
        program,
        plan,
        random: Random::new(seed),
        instances: Vec::new(),
        planned: HashMap::new(),
        threads: Vec::new(),
        escaped: Vec::new(),
        preloaded: BTreeMap::new(),
        next: 1,
        wrong: false,
    };
    let function = program.functions().iter().next()?;
    let mut main = Thread {
        frames: Vec::new(),
        values: HashMap::new(),
        iterations: HashMap::new(),
        scopes: HashMap::new(),
        waits_for: Vec::new(),
        launched: HashMap::new(),
        known: Vec::new(),
        runs: None,
        parent: None,
    };
    for (id, value) in program.values().iter_enumerated() {
        if value.origin == Origin::External {
            let instance = interpreter.own_instance(8);
            main.values.insert(id, Binding { instance, range: 0..8 });
        }
    }
    let external: Vec<Binding> = main.values.values().cloned().collect();
    interpreter.threads.push(main);
    for binding in external {
        interpreter.write(0, &binding, |_| true);
    }
    interpreter.enter_region(0, function.body, &[]);
    for _ in 0..400 {
        if interpreter.wrong {
            return Some(true);
        }
        if !interpreter.schedule() {
            return Some(false);
        }
    }
    None
}

impl<'a> Interpreter<'a> {
    fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn own_instance(&mut self, size: usize) -> usize {
        let home = Home::Fixed(Memory::Own(self.instances.len()), 0);
        self.instances.push(Instance { home, bytes: vec![None; size] });
        self.instances.len() - 1
    }

    /// Runs one step of some thread; `false` if all are done.
    fn schedule(&mut self) -> bool {
        let done = |thread: &Thread| thread.frames.is_empty();
        let ready = |(_, thread): &(usize, &Thread)| {
            !done(thread) && thread.waits_for.iter().all(|&other| done(&self.threads[other]))
        };
        let runnable: Vec<usize> = self.threads.iter().enumerate().filter(ready).map(|(index, _)| index).collect();
        let Some(&thread) = self.random.pick(&runnable) else { return false };
        // Stay with a thread for a while, or interleavings would all look alike.
        for _ in 0..self.random.range(1, 6) {
            self.step(thread);
            self.holders();
            let thread = &self.threads[thread];
            if thread.frames.is_empty() || !thread.waits_for.is_empty() {
                break;
            }
        }
        true
    }

    fn step(&mut self, thread: usize) {
        if self.wrong {
            return;
        }
        self.threads[thread].waits_for.clear();
        if let Some(&Frame::Late(op)) = self.threads[thread].frames.last() {
            self.threads[thread].frames.clear();
            return self.accesses(thread, self.program.op(op));
        }
        let Some(Frame::Block { ops, next, block }) = self.threads[thread].frames.last_mut() else {
            return self.continue_region(thread);
        };
        let block = *block;
        match ops.get(*next).copied() {
            Some(op) => {
                let awaits = self.program.op(op).awaits();
                let waits: Vec<usize> = awaits.iter().flat_map(|awaited| self.awaited(thread, *awaited)).collect();
                if waits.iter().any(|&other| !self.threads[other].frames.is_empty()) {
                    self.threads[thread].waits_for = waits;
                    return;
                }
                if let Some(Frame::Block { next, .. }) = self.threads[thread].frames.last_mut() {
                    *next += 1;
                }
                for other in waits {
                    self.collect_results(thread, other);
                }
                self.op(thread, op);
            }
            None => self.end_of_block(thread, block),
        }
    }

    fn awaited(&self, thread: usize, Await { token, every }: Await) -> Vec<usize> {
        let launch = self.program.ops().iter_enumerated().find(|(_, op)| *op.control() == Control::Async { token });
        let Some((launch, _)) = launch else { return Vec::new() };
        if !every {
            return self.threads[thread].launched.get(&launch).copied().into_iter().collect();
        }
        let runs = |other: &usize| self.threads[*other].runs == Some(launch);
        let ours = |other: &usize| self.threads[thread].known.contains(other) || self.descends(*other, thread);
        (0..self.threads.len()).filter(runs).filter(ours).collect()
    }

    fn descends(&self, thread: usize, from: usize) -> bool {
        std::iter::successors(self.threads[thread].parent, |&parent| self.threads[parent].parent)
            .any(|parent| parent == from)
    }

    fn collect_results(&mut self, thread: usize, other: usize) {
        if let Some(op) = self.threads[other].runs {
            for &result in &self.program.op(op).results {
                if let Some(binding) = self.threads[other].values.get(&result).cloned() {
                    self.threads[thread].values.insert(result, binding);
                }
            }
        }
    }

    // Control

    fn enter_region(&mut self, thread: usize, region: RegionId, values: &[Option<Binding>]) {
        if let Some(&entry) = self.program.region(region).blocks.first() {
            self.enter_block(thread, entry, values);
        }
    }

    fn enter_block(&mut self, thread: usize, block: BlockId, values: &[Option<Binding>]) {
        let arguments = self.program.incoming(&self.program.block(block).arguments);
        self.bind_all(thread, &arguments, values);
        for &argument in &self.program.block(block).arguments {
            if let Origin::Opaque(sources) = &self.program.value(argument).origin {
                self.bind_opaque(thread, argument, sources);
            }
        }
        let ops = self.order_of(block);
        self.threads[thread].frames.push(Frame::Block { ops, next: 0, block });
    }

    fn bind_all(&mut self, thread: usize, receivers: &[ValueId], values: &[Option<Binding>]) {
        for (receiver, binding) in receivers.iter().zip(values) {
            match binding {
                Some(binding) => self.threads[thread].values.insert(*receiver, binding.clone()),
                None => self.threads[thread].values.remove(receiver),
            };
        }
    }

    /// The ops of a block; those of a dag in a random order its dependencies allow.
    fn order_of(&mut self, block: BlockId) -> Vec<OpId> {
        let ops = self.program.block(block).ops.clone();
        let holder = self.program.region(self.program.block(block).region).op;
        let Some(Control::Dag { dependencies }) = holder.map(|op| self.program.op(op).control()) else { return ops };
        let mut left = ops;
        let mut order = Vec::new();
        while !left.is_empty() {
            let free = |op: &OpId| !dependencies.iter().any(|(before, after)| after == op && left.contains(before));
            let ready: Vec<OpId> = left.iter().copied().filter(free).collect();
            let Some(&op) = self.random.pick(&ready) else { break };
            left.retain(|&other| other != op);
            order.push(op);
        }
        order
    }

    fn snapshot(&self, thread: usize, values: &[ValueId]) -> Vec<Option<Binding>> {
        values.iter().map(|value| self.threads[thread].values.get(value).cloned()).collect()
    }

    fn end_of_block(&mut self, thread: usize, block: BlockId) {
        let branches = &self.program.block(block).branches;
        let Some(branch) = self.random.pick(branches).cloned() else {
            // The program stops here for good: cut the thread off.
            return self.threads[thread].frames.clear();
        };
        let values = self.snapshot(thread, &branch.values);
        self.threads[thread].frames.pop();
        match branch.target {
            Target::Block(target) => self.enter_block(thread, target, &values),
            Target::Leave => self.leave(thread, &values, false),
            Target::Break => self.leave(thread, &values, true),
        }
    }

    /// A region ends and hands over values.
    fn leave(&mut self, thread: usize, values: &[Option<Binding>], breaks: bool) {
        let Some(Frame::Region { op, region, rounds, outer }) = self.threads[thread].frames.pop() else {
            return;
        };
        let info = self.program.op(op);
        let results = self.program.incoming(&info.results);
        let regions = info.regions();
        let again = match info.control() {
            Control::Loop(_) => rounds > 1 && !breaks,
            Control::While => !breaks,
            Control::Once => region + 1 < regions.len(),
            _ => false,
        };
        if !again {
            self.end_of_loop(thread, op, outer);
            return self.bind_all(thread, &results, values);
        }
        let next = match info.control() {
            Control::Once => region + 1,
            _ => 0,
        };
        *self.threads[thread].iterations.entry(op).or_default() += 1;
        let handed = match info.control() {
            Control::Once => self.snapshot(thread, info.inits()),
            _ => values.to_vec(),
        };
        let rounds = rounds.saturating_sub(1);
        self.threads[thread].frames.push(Frame::Region { op, region: next, rounds, outer });
        self.enter_region(thread, regions[next], &handed);
    }

    fn end_of_loop(&mut self, thread: usize, op: OpId, outer: Option<u64>) {
        match outer {
            Some(iteration) => self.threads[thread].iterations.insert(op, iteration),
            None => self.threads[thread].iterations.remove(&op),
        };
        if matches!(self.program.op(op).control(), Control::Loop(_) | Control::While) {
            let kept: Vec<(SiteId, u64)> = self.preloaded.keys().copied().collect();
            for key in kept.into_iter().filter(|key| self.program.rotation(key.0) == Some(op)) {
                if let Some(instance) = self.preloaded.remove(&key) {
                    let range = 0..self.instances[instance].bytes.len();
                    self.read(thread, &Binding { instance, range });
                }
            }
        }
    }

    /// A region op whose frame is on top: its parallel iterations have ended.
    fn continue_region(&mut self, thread: usize) {
        if let Some(Frame::Region { op, outer, .. }) = self.threads[thread].frames.pop() {
            self.end_of_loop(thread, op, outer);
        }
    }

    fn op(&mut self, thread: usize, id: OpId) {
        let op = self.program.op(id);
        for &result in &op.results {
            self.define(thread, result);
        }
        self.accesses(thread, op);
        if self.wrong || op.regions().is_empty() {
            return;
        }
        let inits = self.snapshot(thread, op.inits());
        let results = self.program.incoming(&op.results);
        if op.scope() {
            let scope = self.fresh();
            self.threads[thread].scopes.insert(id, scope);
        }
        let rounds = match op.control() {
            Control::Once | Control::Dag { .. } | Control::While => 1,
            Control::Loop(trips) => {
                let most = trips.at_most.unwrap_or(trips.at_least + 5).min(trips.at_least + 5);
                self.random.range(trips.at_least, most + 1)
            }
            Control::Alternatives { may_skip } => u64::from(!*may_skip || !self.random.once_in(3)),
            Control::Unknown => return self.anything(thread, id, &inits),
            Control::Parallel { .. } => return self.parallel(thread, id),
            Control::Async { .. } => return self.launch(thread, id, &inits),
        };
        if rounds == 0 {
            return self.bind_all(thread, &results, &inits);
        }
        let region = match op.control() {
            Control::Alternatives { .. } => self.random.range(0, op.regions().len() as u64) as usize,
            _ => 0,
        };
        let outer = self.threads[thread].iterations.insert(id, 0);
        self.threads[thread].frames.push(Frame::Region { op: id, region, rounds, outer });
        self.enter_region(thread, op.regions()[region], &inits);
    }

    fn spawn(&mut self, thread: usize, id: OpId, iteration: u64) -> usize {
        let mut child = self.threads[thread].clone();
        child.frames = vec![Frame::Region { op: id, region: 0, rounds: 1, outer: None }];
        child.waits_for.clear();
        child.runs = None;
        child.parent = Some(thread);
        child.iterations.insert(id, iteration);
        let scope = self.fresh();
        child.scopes.insert(id, scope);
        self.threads.push(child);
        self.threads.len() - 1
    }

    fn parallel(&mut self, thread: usize, id: OpId) {
        let op = self.program.op(id);
        let Control::Parallel { trips } = op.control() else { return };
        let count = trips.iter().map(|trip| trip.unwrap_or_else(|| self.random.range(0, 4))).product::<u64>();
        let mut children = Vec::new();
        for iteration in 0..count {
            let child = self.spawn(thread, id, iteration);
            let inits = self.snapshot(thread, op.inits());
            self.enter_region(child, op.regions()[0], &inits);
            children.push(child);
        }
        let outer = self.threads[thread].iterations.get(&id).copied();
        self.threads[thread].frames.push(Frame::Region { op: id, region: 0, rounds: 1, outer });
        self.threads[thread].waits_for = children;
    }

    fn launch(&mut self, thread: usize, id: OpId, inits: &[Option<Binding>]) {
        for &result in &self.program.op(id).results {
            self.threads[thread].values.remove(&result);
        }
        let child = self.spawn(thread, id, 0);
        self.threads[child].runs = Some(id);
        self.threads[thread].launched.insert(id, child);
        self.threads[thread].known.push(child);
        self.enter_region(child, self.program.op(id).regions()[0], inits);
    }

    /// The regions of an op that is not known run in threads of their own, whenever
    /// they like; so do the op's own accesses.
    fn anything(&mut self, thread: usize, id: OpId, inits: &[Option<Binding>]) {
        if self.random.once_in(2) {
            let child = self.spawn(thread, id, 0);
            self.threads[child].frames = vec![Frame::Late(id)];
        }
        for run in 0..self.random.range(0, 4) {
            let child = self.spawn(thread, id, run);
            let regions = self.program.op(id).regions();
            let region = self.random.range(0, regions.len() as u64) as usize;
            self.enter_region(child, regions[region], inits);
        }
    }

    // Definitions

    fn define(&mut self, thread: usize, value: ValueId) {
        match &self.program.value(value).origin {
            Origin::Alloc(site) => {
                let instance = self.alloc(thread, *site);
                let range = 0..self.instances[instance].bytes.len();
                self.threads[thread].values.insert(value, Binding { instance, range });
            }
            Origin::Derived { base, extent } => {
                let Some(base) = self.threads[thread].values.get(base).cloned() else { return };
                let range = self.part(&base.range, *extent);
                self.threads[thread].values.insert(value, Binding { range, ..base });
            }
            Origin::Merged(sources) => {
                let source = self.random.pick(sources).copied();
                let binding = source.and_then(|source| self.threads[thread].values.get(&source).cloned());
                self.bind_all(thread, &[value], &[binding]);
            }
            Origin::Opaque(sources) => self.bind_opaque(thread, value, sources),
            Origin::External | Origin::Incoming => {}
        }
    }

    fn bind_opaque(&mut self, thread: usize, value: ValueId, sources: &[ValueId]) {
        let source = self.random.pick(sources).copied().filter(|_| !self.random.once_in(4));
        let binding = match source.and_then(|source| self.threads[thread].values.get(&source).cloned()) {
            Some(base) => {
                let range = self.part(&base.range, Extent::Anywhere);
                Binding { range, ..base }
            }
            None => Binding { instance: self.own_instance(4), range: 0..4 },
        };
        self.threads[thread].values.insert(value, binding);
    }

    fn part(&mut self, base: &Range<usize>, extent: Extent) -> Range<usize> {
        let clip = |byte: u64| (base.start + byte as usize).min(base.end);
        let within = match extent {
            Extent::Exactly(range) => return clip(range.start.0)..clip(range.end.0),
            Extent::Within(range) => clip(range.start.0)..clip(range.end.0),
            Extent::Anywhere => base.clone(),
        };
        let start = self.random.range(within.start as u64, within.end as u64) as usize;
        start..self.random.range(start as u64, within.end as u64 + 1) as usize
    }

    fn alloc(&mut self, thread: usize, site: SiteId) -> usize {
        let size = self.program.site(site).size.upper_bound().map_or(4, |bytes| bytes.0) as usize;
        let instance = self.own_instance(size);
        let Some(placement) = self.plan.placements[site].as_ref() else { return instance };
        let owner = self.plan.owners.get(&placement.space).copied();
        let scope = owner.and_then(|op| self.threads[thread].scopes.get(&op).copied()).unwrap_or(0);
        let memory = Memory::Space(placement.space.index(), scope);
        let alloc = self.program.alloc_op(site).expect("an alloc");
        let rotation = self.program.rotation(site);
        let inside = rotation.is_some_and(|op| self.program.ancestors(alloc).any(|a| a == op));
        let turn = rotation.and_then(|op| self.threads[thread].iterations.get(&op).copied()).unwrap_or(0);
        let slot = turn % placement.offsets.len() as u64;
        let mut displacement = 0;
        let mut strides = placement.strides.iter();
        let mut step = 0;
        for op in self.program.ancestors(alloc).take_while(|&op| Some(op) != owner) {
            if let Control::Parallel { trips } = self.program.op(op).control() {
                // A stride of its own, or all iterations of the loop inside.
                step = strides.next().map_or(step, |stride| stride.0);
                displacement += step * self.threads[thread].iterations.get(&op).copied().unwrap_or(0);
                step *= trips.iter().map(|trip| trip.unwrap_or(1)).product::<u64>();
            }
        }
        if placement.offsets.len() > 1 && rotation.is_some() && !inside {
            self.instances[instance].home = Home::Rotating(site, memory, displacement);
            return instance;
        }
        let address = placement.offsets[slot as usize].0 + displacement;
        self.instances[instance].home = Home::Fixed(memory, address);
        if self.program.site(site).preload {
            self.preloaded.insert((site, slot), instance);
        }
        instance
    }

    // Accesses

    fn address(&self, thread: usize, instance: usize, byte: usize) -> (Memory, u64) {
        match &self.instances[instance].home {
            Home::Fixed(memory, base) => (*memory, base + byte as u64),
            Home::Rotating(site, memory, displacement) => {
                let offsets = &self.plan.placements[*site].as_ref().expect("placed").offsets;
                let rotation = self.program.rotation(*site);
                let turn = rotation.and_then(|op| self.threads[thread].iterations.get(&op).copied()).unwrap_or(0);
                (*memory, offsets[(turn % offsets.len() as u64) as usize].0 + displacement + byte as u64)
            }
        }
    }

    fn read(&mut self, thread: usize, binding: &Binding) {
        for byte in binding.range.clone() {
            if let Some(tag) = self.instances[binding.instance].bytes[byte] {
                let address = self.address(thread, binding.instance, byte);
                self.wrong |= self.planned.get(&address) != Some(&tag);
            }
        }
    }

    fn write(&mut self, thread: usize, binding: &Binding, chance: impl Fn(&mut Random) -> bool) {
        for byte in binding.range.clone() {
            if chance(&mut self.random) {
                let tag = self.fresh();
                self.instances[binding.instance].bytes[byte] = Some(tag);
                let address = self.address(thread, binding.instance, byte);
                self.planned.insert(address, tag);
            }
        }
    }

    fn accesses(&mut self, thread: usize, op: &Op) {
        let bound = |kind: fn(AccessKind) -> bool| -> Vec<(ValueId, AccessKind, Binding)> {
            let accesses = op.accesses.iter().filter(|access| kind(access.kind));
            let values = &self.threads[thread].values;
            accesses.filter_map(|a| Some((a.value, a.kind, values.get(&a.value)?.clone()))).collect()
        };
        let reads = bound(AccessKind::reads);
        let writes = bound(AccessKind::writes);
        for (_, _, binding) in &reads {
            self.read(thread, binding);
        }
        for (output, _, w) in &writes {
            for (input, _, r) in &reads {
                self.wrong |= self.clobbers(thread, op, (*output, w), (*input, r));
            }
        }
        for (output, kind, binding) in &writes {
            self.write_output(thread, op, *output, *kind, binding, &reads);
        }
        for access in &op.accesses {
            let Some(binding) = self.threads[thread].values.get(&access.value).cloned() else { continue };
            match access.kind {
                AccessKind::Free => self.instances[binding.instance].bytes.fill(None),
                AccessKind::Escape => self.escaped.push(binding),
                _ => {}
            }
        }
    }

    /// Whether writing `w` destroys bytes of `r` that the op still needs.
    fn clobbers(
        &self,
        thread: usize,
        op: &Op,
        (output, w): (ValueId, &Binding),
        (input, r): (ValueId, &Binding),
    ) -> bool {
        if w.instance == r.instance || w.range.is_empty() || r.range.is_empty() {
            return false;
        }
        let at = |binding: &Binding, byte: usize| self.address(thread, binding.instance, byte);
        match op.permits_overlay(output, input) {
            Some(OverlayKind::AnyOffset) => return false,
            Some(OverlayKind::SameBase) if at(w, w.range.start) == at(r, r.range.start) => return false,
            _ => {}
        }
        let copied = |out_byte: usize, in_byte: usize| {
            op.copies().iter().any(|copy| {
                let to = (out_byte - w.range.start) as u64;
                let from = (in_byte - r.range.start) as u64;
                copy.output == output
                    && copy.input == input
                    && (copy.output_start.0..copy.output_start.0 + copy.length.0).contains(&to)
                    && from + copy.output_start.0 == to + copy.input_start.0
            })
        };
        r.range.clone().any(|in_byte| {
            self.instances[r.instance].bytes[in_byte].is_some()
                && w.range.clone().any(|out_byte| at(w, out_byte) == at(r, in_byte) && !copied(out_byte, in_byte))
        })
    }

    fn write_output(
        &mut self,
        thread: usize,
        op: &Op,
        output: ValueId,
        kind: AccessKind,
        binding: &Binding,
        reads: &[(ValueId, AccessKind, Binding)],
    ) {
        if kind == AccessKind::Update {
            let density = self.random.range(0, 3);
            return self.write(thread, binding, |random| random.range(0, 2) < density);
        }
        // Copied bytes keep their tags: they are the same data. All moves at once.
        let mut moves: Vec<(usize, Option<Tag>, Option<Tag>)> = Vec::new();
        for copy in op.copies().iter().filter(|copy| copy.output == output) {
            let Some((_, _, input)) = reads.iter().find(|(value, ..)| *value == copy.input) else { continue };
            for byte in 0..copy.length.0 as usize {
                let to = binding.range.start + copy.output_start.0 as usize + byte;
                let from = input.range.start + copy.input_start.0 as usize + byte;
                if to < binding.range.end && from < input.range.end {
                    let planned = self.planned.get(&self.address(thread, input.instance, from)).copied();
                    moves.push((to, self.instances[input.instance].bytes[from], planned));
                }
            }
        }
        let coinciding: Vec<(Memory, u64)> = (op.copies().iter())
            .filter(|copy| copy.output == output)
            .filter_map(|copy| {
                let (_, _, input) = reads.iter().find(|(value, ..)| *value == copy.input)?;
                let to = binding.range.start + copy.output_start.0 as usize;
                let from = input.range.start + copy.input_start.0 as usize;
                let same = self.address(thread, binding.instance, to) == self.address(thread, input.instance, from);
                same.then(|| {
                    (0..copy.length.0)
                        .map(|b| self.address(thread, binding.instance, to + b as usize))
                        .collect::<Vec<_>>()
                })
            })
            .flatten()
            .collect();
        for byte in binding.range.clone() {
            let address = self.address(thread, binding.instance, byte);
            match moves.iter().find(|(to, ..)| *to == byte) {
                Some(&(_, truth, planned)) => {
                    self.instances[binding.instance].bytes[byte] = truth;
                    if coinciding.contains(&address) {
                        continue;
                    }
                    match planned {
                        Some(tag) => self.planned.insert(address, tag),
                        None => self.planned.remove(&address),
                    };
                }
                None => {
                    let tag = self.fresh();
                    self.instances[binding.instance].bytes[byte] = Some(tag);
                    self.planned.insert(address, tag);
                }
            }
        }
    }

    /// Whoever holds an escaped buffer uses it whenever it likes.
    fn holders(&mut self) {
        if self.escaped.is_empty() || !self.random.once_in(3) {
            return;
        }
        let Some(binding) = self.random.pick(&self.escaped).cloned() else { return };
        match self.random.once_in(2) {
            true => self.read(0, &binding),
            false => self.write(0, &binding, |random| random.once_in(2)),
        }
    }
}
