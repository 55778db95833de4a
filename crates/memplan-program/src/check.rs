//! Whether a [`Program`] is well formed.
//!
//! Everything that reads a Program may rely on what is checked here: ids are in
//! range, the tree is a tree, every value that is not external has exactly one
//! definition of the right kind, argument counts match along every edge,
//! views do not go round in circles and lie inside of what they are views of.
//!
//! An *edge* is a way for control to hand over values: from an op into its regions (the op's *inits* go to the
//! arguments of the entry block), from a branch to a block, from the end of a region to the op's results or round its
//! loop. Only arguments and results that are [`Origin::Incoming`] receive values, so only they are counted.
//!
//! Words from other files: the *origin* of a value says which memory it is ([`Origin`]), its *definition* what brings
//! it into being ([`Definition`]); `regions()`, `inits()`, `overlays()`, `copies()` and `control()` of an [`Op`] are
//! its regions, the values that it hands into them, and so on; `incoming(values)` are those that receive what control
//! flow hands over.

use memplan_core::{Bytes, Id, MAX_BYTES};

use crate::{
    Block, BlockId, Branch, Control, Definition, Extent, Op, OpId, Origin, Program, RegionId, SiteId, Size, Target,
    ValueId,
};

/// Why a program is not well formed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// Builder calls did not nest.
    #[error("an op, region or function is opened and not closed, or closed and not opened")]
    Unbalanced,
    /// A function inside a function.
    #[error("function @{name} begins inside another function")]
    NestedFunction {
        /// The inner function.
        name: Box<str>,
    },
    /// A value id of another program.
    #[error("a value is used that the program does not have")]
    UnknownValue,
    /// A value in two result or argument lists.
    #[error("%{} is defined twice", .value.index())]
    DefinedTwice {
        /// The value.
        value: ValueId,
    },
    /// An allocation site cannot change its nature.
    #[error("%{} is an allocation site and must stay one", .value.index())]
    SiteRedefined {
        /// The value.
        value: ValueId,
    },
    /// A value that needs a definition has none of the right kind.
    #[error("%{name} must be {expected}")]
    WrongDefinition {
        /// The value's name.
        name: Box<str>,
        /// What its origin asks for.
        expected: &'static str,
    },
    /// A chain of views, selects and opaque results that leads back to its start.
    #[error("%{name} is defined in terms of itself")]
    CircularValue {
        /// A value on the circle.
        name: Box<str>,
    },
    /// An edge hands over the wrong number of values.
    #[error("{place} expects {expected} values and gets {found}")]
    ValueCount {
        /// What receives the values.
        place: String,
        /// How many it has room for.
        expected: usize,
        /// How many are handed over.
        found: usize,
    },
    /// A block that was made and never filled.
    #[error("a block is branched to but never begun")]
    UnstartedBlock,
    /// A branch to a block of another region.
    #[error("a branch leads out of its region")]
    ForeignBranch,
    /// A `break` in something that is not a loop.
    #[error("`break` stands outside a loop's own region")]
    StrayBreak,
    /// An op has regions its control kind cannot have.
    #[error("op `{op}` must have {expected}")]
    RegionCount {
        /// The op's name.
        op: Box<str>,
        /// What its control asks for.
        expected: &'static str,
    },
    /// A loop whose numbers of iterations contradict each other.
    #[error("a loop cannot run at least {at_least} and at most {at_most} times")]
    BadTrips {
        /// Never fewer than this.
        at_least: u64,
        /// Never more than this.
        at_most: u64,
    },
    /// A region without blocks.
    #[error("a region of op `{op}` has no block")]
    EmptyRegion {
        /// The op's name.
        op: Box<str>,
    },
    /// A dependency between ops that are not both in the dag.
    #[error("a dependency of dag `{op}` names an op outside it")]
    ForeignDependency {
        /// The dag's name.
        op: Box<str>,
    },
    /// Dependencies that lead back to their start.
    #[error("the dependencies of dag `{op}` form a cycle")]
    CyclicDag {
        /// The dag's name.
        op: Box<str>,
    },
    /// A range that ends before it starts or past the limit of sizes.
    #[error("{what} of %{name} is not a byte range")]
    BadRange {
        /// Which range.
        what: &'static str,
        /// The value's name.
        name: Box<str>,
    },
    /// A view of bytes that its base does not have.
    #[error("%{name} reaches to byte {end} of %{base}, which has {size} bytes")]
    ViewPastBase {
        /// The view.
        value: ValueId,
        /// Its name.
        name: Box<str>,
        /// One past the last byte that it takes of its base.
        end: u64,
        /// The name of its base.
        base: Box<str>,
        /// How many bytes the base has.
        size: u64,
    },
    /// A site's numbers make no sense.
    #[error("buffer %{name}: {problem}")]
    BadSite {
        /// The site's name.
        name: Box<str>,
        /// What is wrong.
        problem: &'static str,
    },
    /// An overlay or copy of values the op does not write and read.
    #[error("op `{op}` names an {what} between values it does not write and read")]
    StrayRelation {
        /// The op's name.
        op: Box<str>,
        /// Overlay or copy.
        what: &'static str,
    },
}

impl Program {
    /// Everything that is wrong with the structure; empty if it is well formed.
    ///
    /// Linear in the size of the program.
    pub fn check(&self) -> Vec<ProgramError> {
        let mut checker = Checker { program: self, errors: Vec::new() };
        // All other checks use ids as indices, so they only run if every id is in range.
        if checker.ids_are_in_range() {
            checker.values();
            checker.circles();
            checker.sites();
            // An op without details has no regions and states nothing about its accesses.
            let detailed = self.ops.iter_enumerated().filter(|(_, op)| op.details.is_some());
            detailed.for_each(|(id, _)| checker.op(id));
            self.blocks.iter().for_each(|block| checker.block(block));
        } else {
            checker.errors.push(ProgramError::UnknownValue);
        }
        checker.errors
    }
}

/// A check in progress: the program, and what was found to be wrong.
struct Checker<'p> {
    /// The program.
    program: &'p Program,
    /// What was found to be wrong so far.
    errors: Vec<ProgramError>,
}

impl Checker<'_> {
    /// The name of a value, for messages.
    fn name(&self, value: ValueId) -> Box<str> {
        Box::from(&*self.program.values[value].name)
    }

    /// Whether every id that the program mentions is in range, so that all
    /// other checks may use ids as indices. Ids made by the builder are in range
    /// unless they come from another program.
    fn ids_are_in_range(&self) -> bool {
        // A value refers to the values that it is made of, or to its site.
        let origins = self.program.values.iter().all(|value| match &value.origin {
            Origin::Derived { base, .. } => self.value_ok(base),
            Origin::Merged(sources) | Origin::Opaque(sources) => sources.iter().all(|value| self.value_ok(value)),
            Origin::Alloc(site) => site.index() < self.program.sites.len(),
            Origin::External | Origin::Incoming => true,
        });
        // An op refers to values, pipes, tokens and, in a dag, to other ops.
        let in_ops = self.program.ops.iter().all(|op| {
            let plain = op.accesses.iter().all(|a| self.value_ok(&a.value))
                && op.results.iter().all(|value| self.value_ok(value))
                && op.pipe.is_none_or(|p| p.index() < self.program.pipes.len());
            // Most ops have no details, and nothing else to look at.
            if op.details.is_none() {
                return plain;
            }
            plain
                && op.inits().iter().all(|value| self.value_ok(value))
                && op.overlays().iter().all(|o| self.value_ok(&o.output) && self.value_ok(&o.input))
                && op.copies().iter().all(|c| self.value_ok(&c.output) && self.value_ok(&c.input))
                && op.awaits().iter().all(|awaited| self.token_ok(awaited.token))
                && match op.control() {
                    Control::Async { token } => self.token_ok(*token),
                    Control::Dag { dependencies } => dependencies.iter().all(|(a, b)| self.op_ok(a) && self.op_ok(b)),
                    _ => true,
                }
        });
        // A branch refers to a block and hands over values.
        let in_blocks = self.program.blocks.iter().all(|block| {
            block.branches.iter().all(|branch| {
                let target = match branch.target {
                    Target::Block(block) => block.index() < self.program.blocks.len(),
                    Target::Leave | Target::Break => true,
                };
                target && branch.values.iter().all(|value| self.value_ok(value))
            })
        });
        // A site refers to a space and perhaps to a loop.
        let in_sites = self.program.sites.iter().all(|site| {
            site.space.index() < self.program.spaces.len() && site.rotation.as_ref().is_none_or(|op| self.op_ok(op))
        });
        origins && in_ops && in_blocks && in_sites
    }

    /// Whether the program has this token.
    fn token_ok(&self, token: crate::TokenId) -> bool {
        token.index() < self.program.tokens.len()
    }

    /// Whether the program has this value.
    fn value_ok(&self, value: &ValueId) -> bool {
        value.index() < self.program.values.len()
    }

    /// Whether the program has this op.
    fn op_ok(&self, op: &OpId) -> bool {
        op.index() < self.program.ops.len()
    }

    /// Checks that each value is defined in the right way and that each view lies inside of its base.
    fn values(&mut self) {
        for (id, value) in self.program.values.iter_enumerated() {
            // What a value is (its origin) must fit the place that defines it. `expected` says what would fit; it is
            // `None` if all is well.
            let expected = match (&value.origin, value.definition) {
                (Origin::Incoming, Definition::Argument(_)) => None,
                (Origin::Incoming, Definition::Result(op)) => match self.program.ops[op].control() {
                    Control::Unknown => Some("opaque, since nobody knows what its op hands out"),
                    _ if self.program.ops[op].regions().is_empty() => Some("the result of an op with regions"),
                    _ => None,
                },
                (Origin::Incoming, _) => Some("a block argument or the result of an op"),
                (Origin::Alloc(_) | Origin::Derived { .. } | Origin::Merged(_), definition) => {
                    // Only an op makes fresh memory, a view or a choice.
                    let by_op = matches!(definition, Definition::Result(_));
                    (!by_op).then_some("the result of an op")
                }
                (Origin::Opaque(_), Definition::Global | Definition::Parameter(_)) => {
                    Some("a block argument or the result of an op")
                }
                (Origin::External | Origin::Opaque(_), _) => None,
            };
            if let Some(expected) = expected {
                let name = Box::from(&*value.name);
                self.errors.push(ProgramError::WrongDefinition { name, expected });
            }
            if let Origin::Derived { base, extent: Extent::Exactly(range) | Extent::Within(range) } = value.origin {
                if range.start > range.end || range.end.0 > MAX_BYTES {
                    self.bad_range("the extent", id);
                }
                if let Some(size) = self.length(base).filter(|&size| range.end > size) {
                    let (end, size) = (range.end.0, size.0);
                    let (name, base) = (self.name(id), self.name(base));
                    self.errors.push(ProgramError::ViewPastBase { value: id, name, end, base, size });
                }
            }
        }
    }

    /// How many bytes a value has, if its definition alone says so; else `None`.
    fn length(&self, value: ValueId) -> Option<Bytes> {
        match self.program.values[value].origin {
            Origin::Alloc(site) => match self.program.sites[site].size {
                Size::Known(bytes) => Some(bytes),
                Size::Symbolic { .. } => None,
            },
            // A strided view has no length of its own, and what control flow hands over may be several things.
            Origin::Derived { extent: Extent::Exactly(range), .. } => Some(range.len()),
            _ => None,
        }
    }

    /// Reports a range of bytes that makes no sense.
    fn bad_range(&mut self, what: &'static str, value: ValueId) {
        let name = self.name(value);
        self.errors.push(ProgramError::BadRange { what, name });
    }

    /// Checks that no view, select or opaque result comes from itself by way of
    /// others: depth-first search with an explicit stack. A value is white (0)
    /// before it is found, grey (1) while its sources are being followed, and
    /// black (2) afterwards. A stack entry is a value and the position of its next source. The first circle is
    /// reported, and the search ends there.
    fn circles(&mut self) {
        // A value without sources is on no circle. Most values have none, and in many programs no value has some.
        let is_first = |origin: &Origin| matches!(origin, Origin::Alloc(_) | Origin::External | Origin::Incoming);
        if self.program.values.iter().all(|value| is_first(&value.origin)) {
            return;
        }
        let mut colour = vec![0u8; self.program.values.len()];
        let mut stack = Vec::new();
        for (start, value) in self.program.values.iter_enumerated() {
            if is_first(&value.origin) {
                colour[start.index()] = 2;
            }
            // A value that was found from an earlier start is black (2), and nothing is left to do for it.
            if colour[start.index()] == 0 {
                stack.push((start, 0));
            }
            while let Some((value, next)) = stack.pop() {
                colour[value.index()] = 1;
                let sources: &[ValueId] = match &self.program.values[value].origin {
                    Origin::Derived { base, .. } => std::slice::from_ref(base),
                    Origin::Merged(sources) | Origin::Opaque(sources) => sources,
                    Origin::Alloc(_) | Origin::External | Origin::Incoming => &[],
                };
                // All sources of this value are done, so no circle goes through it.
                let Some(&source) = sources.get(next) else {
                    colour[value.index()] = 2;
                    continue;
                };
                // The value is looked at again, for its next source, when this source is done.
                stack.push((value, next + 1));
                match colour[source.index()] {
                    0 => stack.push((source, 0)),
                    // Grey: the source is still on the stack, so it was reached from itself.
                    1 => {
                        let name = self.name(source);
                        self.errors.push(ProgramError::CircularValue { name });
                        return;
                    }
                    _ => {}
                }
            }
        }
    }

    /// Checks that every allocation has a size, an alignment and slots that can be planned. Sizes
    /// and alignments stay below 2^63 (`MAX_BYTES` is one less), so that sums of two of them fit 64
    /// bits.
    fn sites(&mut self) {
        for (id, site) in self.program.sites.iter_enumerated() {
            let problem = if self.program.values[site.value].origin != Origin::Alloc(id) {
                Some("its value does not name it")
            } else if site.alignment.0 == 0 || site.alignment.0 > MAX_BYTES {
                Some("the alignment must be between 1 and 2^63-1")
            } else if site.slots == 0 {
                Some("it needs at least one slot")
            } else if site.size.upper_bound().is_some_and(|b| b.0 > MAX_BYTES) {
                Some("the size is above 2^63-1")
            } else {
                self.bad_rotation(id)
            };
            if let Some(problem) = problem {
                let name = self.name(site.value);
                self.errors.push(ProgramError::BadSite { name, problem });
            }
        }
    }

    /// What is wrong with the op that rotates a site's slots: it must be a loop. `None` if nothing is wrong.
    fn bad_rotation(&self, site: SiteId) -> Option<&'static str> {
        let rotation = self.program.sites[site].rotation?;
        match self.program.ops[rotation].control() {
            Control::Loop(_) | Control::While => None,
            _ => Some("its slots must rotate with a loop"),
        }
    }

    /// Checks one op: its regions, how often they run, its dependencies if it is a dag, and whether its overlays and
    /// copies are about values that it accesses.
    fn op(&mut self, id: OpId) {
        let op = &self.program.ops[id];
        self.region_count(op);
        if let Control::Loop(trips) = op.control() {
            self.errors.extend(trips.contradiction());
        }
        self.skipped_results(op);
        for &region in op.regions() {
            self.region(op, region);
        }
        // An overlay or a copy is about an output that the op writes and an input that it reads. If the op has no such
        // accesses, the front end that made it has mixed up its values.
        if op.overlays().iter().any(|o| !writes(op, o.output) || !reads(op, o.input)) {
            self.stray(op, "overlay");
        }
        if op.copies().iter().any(|c| !writes(op, c.output) || !reads(op, c.input)) {
            self.stray(op, "copy");
        }
        // Both copied ranges must end at a number that fits 64 bits.
        for copy in op.copies() {
            let starts = [copy.output_start, copy.input_start];
            if starts.iter().any(|start| start.checked_add(copy.length).is_none()) {
                self.bad_range("a copied range", copy.output);
            }
        }
        if let Control::Dag { dependencies } = op.control() {
            self.dag(op, dependencies);
        }
    }

    /// Reports a relation between values that the op does not access.
    fn stray(&mut self, op: &Op, what: &'static str) {
        self.errors.push(ProgramError::StrayRelation { op: Box::from(&*op.name), what });
    }

    /// Checks that an op has as many regions as its control says.
    fn region_count(&mut self, op: &Op) {
        let count = op.regions().len();
        let expected = match op.control() {
            // These may have any number of regions.
            Control::Once | Control::Unknown => None,
            Control::Alternatives { .. } => (count == 0).then_some("at least one region"),
            _ => (count != 1).then_some("exactly one region"),
        };
        if let Some(expected) = expected {
            let op = Box::from(&*op.name);
            self.errors.push(ProgramError::RegionCount { op, expected });
        }
    }

    /// Checks that a region of an op has a block, and that its entry gets a value for each of its arguments.
    fn region(&mut self, op: &Op, region: RegionId) {
        let Some(&entry) = self.program.regions[region].blocks.first() else {
            let op = Box::from(&*op.name);
            return self.errors.push(ProgramError::EmptyRegion { op });
        };
        // Only arguments that receive values count.
        let arguments = self.incoming_arguments(entry);
        let takes_all = matches!(op.control(), Control::Loop(_) | Control::While);
        // A loop needs an argument for each init, and any region with arguments needs inits for them. An op whose
        // regions take no arguments may still have inits: they are its results if no region runs.
        if arguments > 0 || takes_all {
            let place = || format!("the entry of `{}`", op.name);
            self.count(place, arguments, op.inits().len());
        }
    }

    /// Checks that an op that may run no region at all has an init for each of its results: then it hands these over.
    /// All loops count, also those that are known to run at least once, and parallel ops that have inits at all.
    fn skipped_results(&mut self, op: &Op) {
        let may_skip = match op.control() {
            Control::Loop(_) => true,
            // Without inits the results come from the iterations alone; a table of a user's dialect may say so.
            Control::Parallel { .. } => !op.inits().is_empty(),
            Control::Alternatives { may_skip } => *may_skip,
            _ => false,
        };
        if !may_skip || op.regions().is_empty() {
            return;
        }
        let results = self.program.incoming(&op.results).len();
        if results > 0 {
            let place = || format!("skipping `{}`", op.name);
            self.count(place, results, op.inits().len());
        }
    }

    /// How many values a block expects.
    fn incoming_arguments(&self, block: BlockId) -> usize {
        let arguments = &self.program.blocks[block].arguments;
        self.program.incoming(arguments).len()
    }

    /// Reports a wrong number of values; `place` says what receives them. It is only asked where the number is wrong.
    fn count(&mut self, place: impl FnOnce() -> String, expected: usize, found: usize) {
        if expected != found {
            self.errors.push(ProgramError::ValueCount { place: place(), expected, found });
        }
    }

    /// Checks a dag: its ops are in one block, its dependencies are between these ops, and no op depends on itself by
    /// way of others.
    fn dag(&mut self, op: &Op, dependencies: &[(OpId, OpId)]) {
        let blocks = |r: &RegionId| self.program.regions[*r].blocks.clone();
        let blocks: Vec<BlockId> = op.regions().iter().flat_map(blocks).collect();
        // The dependencies of a dag replace the order in which ops run, and only one block has no
        // other order.
        let &[block] = &blocks[..] else {
            let (op, expected) = (Box::from(&*op.name), "one region of one block");
            return self.errors.push(ProgramError::RegionCount { op, expected });
        };
        let inside = |op: OpId| self.program.ops[op].block == block;
        let op = Box::from(&*op.name);
        if dependencies.iter().any(|&(a, b)| !inside(a) || !inside(b)) {
            return self.errors.push(ProgramError::ForeignDependency { op });
        }
        if self.program.topological_order(block, dependencies).is_none() {
            self.errors.push(ProgramError::CyclicDag { op });
        }
    }

    /// Checks the branches of a block.
    fn block(&mut self, block: &Block) {
        for branch in &block.branches {
            self.branch(block.region, branch);
        }
    }

    /// Checks one branch of a region: its target is a block of the region or a place that control can leave to, and it
    /// hands over the right number of values.
    fn branch(&mut self, region: RegionId, branch: &Branch) {
        let holder = self.program.regions[region].op;
        match branch.target {
            Target::Block(target) if self.program.blocks[target].region != region => {
                self.errors.push(ProgramError::ForeignBranch);
            }
            Target::Block(target) => {
                let expected = self.incoming_arguments(target);
                self.count(|| "a block".into(), expected, branch.values.len());
            }
            // Leaving the body of a function (there is no op around it) is a return, whose values are not counted. A
            // break needs a loop.
            Target::Leave | Target::Break => {
                let Some(op) = holder.map(|op| &self.program.ops[op]) else {
                    if branch.target == Target::Break {
                        self.errors.push(ProgramError::StrayBreak);
                    }
                    return;
                };
                let is_loop = matches!(op.control(), Control::Loop(_) | Control::While);
                if branch.target == Target::Break && !is_loop {
                    self.errors.push(ProgramError::StrayBreak);
                }
                self.handed_to(op, region, branch);
            }
        }
    }

    /// Checks how many values a branch out of a region hands over. They go to the op's results, or to the arguments of
    /// the next iteration if the branch ends an iteration of a loop. Only the last region of a `once` op has results.
    fn handed_to(&mut self, op: &Op, region: RegionId, branch: &Branch) {
        let last = op.regions().last() == Some(&region);
        let found = branch.values.len();
        // Leaving the body of a loop begins the next iteration, or ends the loop with the same
        // values.
        let again = branch.target == Target::Leave && matches!(op.control(), Control::Loop(_) | Control::While);
        let expected = match op.control() {
            Control::Once if !last => 0,
            _ if again => self.program.entry_arguments(region).len(),
            _ => self.program.incoming(&op.results).len(),
        };
        self.count(|| format!("`{}`", op.name), expected, found);
    }
}

impl Program {
    /// The ops of a dag's block in an order that its dependencies, pairs (before, after), allow. Of several
    /// ops that could come next, the earliest in the block does. `None` if the dependencies form a cycle, or
    /// name an op outside of the block.
    pub fn topological_order(&self, block: BlockId, dependencies: &[(OpId, OpId)]) -> Option<Vec<OpId>> {
        use std::cmp::Reverse;
        use std::collections::{BinaryHeap, HashMap};
        let ops = &self.blocks[block].ops;
        // Kahn's algorithm: an op is ready when no op that it waits for is left (`waiting` counts them). The heap
        // keeps the order of the block among those that are ready, so the result does not depend on hashing.
        let mut waiting: HashMap<OpId, usize> = ops.iter().map(|&op| (op, 0)).collect();
        let mut followers: HashMap<OpId, Vec<OpId>> = HashMap::new();
        for &(before, after) in dependencies {
            // An op outside of the block is not in the table. (One that others wait for only makes them wait for ever.)
            *waiting.get_mut(&after)? += 1;
            followers.entry(before).or_default().push(after);
        }
        let ready = ops.iter().filter(|op| waiting[op] == 0);
        let mut ready: BinaryHeap<Reverse<OpId>> = ready.map(|&op| Reverse(op)).collect();
        let mut order = Vec::with_capacity(ops.len());
        while let Some(Reverse(op)) = ready.pop() {
            order.push(op);
            for &follower in followers.get(&op).into_iter().flatten() {
                let count = waiting.get_mut(&follower)?;
                *count -= 1;
                if *count == 0 {
                    ready.push(Reverse(follower));
                }
            }
        }
        // Ops on a cycle never become ready.
        (order.len() == ops.len()).then_some(order)
    }
}

/// Whether an op changes the content of a value.
fn writes(op: &Op, value: ValueId) -> bool {
    op.accesses.iter().any(|access| access.value == value && access.kind.writes())
}

/// Whether an op uses the content of a value.
fn reads(op: &Op, value: ValueId) -> bool {
    op.accesses.iter().any(|access| access.value == value && access.kind.reads())
}
