//! The program as a whole: flat arenas of functions, regions, blocks, ops and
//! values that refer to each other by id.
//!
//! Nothing is boxed inside something else and nothing here recurses, so a
//! program may be nested ten thousand levels deep and hold millions of ops.
//!
//! ```text
//! function ─ body: region ─ blocks ─ ops, of which some have ─ regions ─ blocks ─ ops …
//! ```

use std::fmt;
use std::num::NonZeroU32;

use memplan_core::{Id, IndexVec, SpaceId, Span, index_type};
use smallvec::SmallVec;

use crate::{Definition, Op, Origin, Site, SiteId, Value};

index_type! {
    /// An op of a [`Program`].
    pub struct OpId;
    /// A value of a [`Program`].
    pub struct ValueId;
    /// A region of a [`Program`].
    pub struct RegionId;
    /// A block of a [`Program`].
    pub struct BlockId;
    /// A function of a [`Program`].
    pub struct FunctionId;
    /// What an asynchronous op hands out and later ops await.
    pub struct TokenId;
}

/// An execution unit named by a [`Program`]. It is kept as its position plus one, because a number that is never zero
/// leaves room to say that there is none: every op of a program has an optional pipe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PipeId(NonZeroU32);

impl Id for PipeId {
    fn from_index(index: usize) -> PipeId {
        let number = u32::try_from(index).ok().and_then(|index| index.checked_add(1)).and_then(NonZeroU32::new);
        PipeId(number.expect("fewer than 2^32 - 1 elements"))
    }

    #[inline]
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl fmt::Debug for PipeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PipeId").field(&self.index()).finish()
    }
}

/// A structured program: functions, each a tree of ops, regions and blocks.
///
/// Made by a [`ProgramBuilder`](crate::ProgramBuilder), read-only afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The functions in source order.
    pub(crate) functions: IndexVec<FunctionId, Function>,
    /// All regions: bodies of functions and regions of ops.
    pub(crate) regions: IndexVec<RegionId, Region>,
    /// All blocks.
    pub(crate) blocks: IndexVec<BlockId, Block>,
    /// All ops, an op before those inside of it.
    pub(crate) ops: IndexVec<OpId, Op>,
    /// All values.
    pub(crate) values: IndexVec<ValueId, Value>,
    /// All allocation sites.
    pub(crate) sites: IndexVec<SiteId, Site>,
    /// Names of the memory spaces.
    pub(crate) spaces: IndexVec<SpaceId, Box<str>>,
    /// Names of the execution units.
    pub(crate) pipes: IndexVec<PipeId, Box<str>>,
    /// Names of the tokens that stand for asynchronous work.
    pub(crate) tokens: IndexVec<TokenId, Box<str>>,
}

/// A function with a body. Functions are analysed one by one; calls between
/// them are summarised by the accesses of the calling op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name, without sigil.
    pub name: Box<str>,
    /// Memory parameters, in order; external memory unless a front end inlined the call.
    pub parameters: Vec<ValueId>,
    /// The body.
    pub body: RegionId,
    /// Where it stands in the source.
    pub span: Span,
}

/// Blocks that are entered at the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The op that holds the region; `None` for a function body.
    pub op: Option<OpId>,
    /// The function it is in.
    pub function: FunctionId,
    /// The blocks; the first is the entry. Hardly any region has more than one, which needs no memory of its own.
    pub blocks: SmallVec<[BlockId; 4]>,
}

/// Ops that run in order, then a choice of ways on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The region it is in.
    pub region: RegionId,
    /// Values that receive what the incoming edge hands over.
    pub arguments: Vec<ValueId>,
    /// The ops in order.
    pub ops: Vec<OpId>,
    /// The ways on, one of which is taken; none if the block never ends. Most blocks have one.
    pub branches: SmallVec<[Branch; 1]>,
}

/// One way on from the end of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Where it leads.
    pub target: Target,
    /// Values for the target's arguments (or the op's results), by position.
    pub values: Box<[ValueId]>,
}

/// Where a branch leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// To another block of the same region.
    Block(BlockId),
    /// Out of the region by its end; what comes next is up to the op's
    /// [`Control`](crate::Control).
    Leave,
    /// Out of the loop the region is the body of.
    Break,
}

impl Program {
    /// The functions in source order.
    #[inline]
    pub fn functions(&self) -> &IndexVec<FunctionId, Function> {
        &self.functions
    }

    /// All regions.
    #[inline]
    pub fn regions(&self) -> &IndexVec<RegionId, Region> {
        &self.regions
    }

    /// All blocks.
    #[inline]
    pub fn blocks(&self) -> &IndexVec<BlockId, Block> {
        &self.blocks
    }

    /// All ops; ids grow in program order, an op before those inside it.
    #[inline]
    pub fn ops(&self) -> &IndexVec<OpId, Op> {
        &self.ops
    }

    /// All values.
    #[inline]
    pub fn values(&self) -> &IndexVec<ValueId, Value> {
        &self.values
    }

    /// All allocation sites, in program order.
    #[inline]
    pub fn sites(&self) -> &IndexVec<SiteId, Site> {
        &self.sites
    }

    /// Names of the memory spaces.
    pub fn spaces(&self) -> &IndexVec<SpaceId, Box<str>> {
        &self.spaces
    }

    /// Names of the execution units.
    pub fn pipes(&self) -> &IndexVec<PipeId, Box<str>> {
        &self.pipes
    }

    /// Names of the tokens of asynchronous ops.
    pub fn tokens(&self) -> &IndexVec<TokenId, Box<str>> {
        &self.tokens
    }

    /// The op of this id.
    #[inline]
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id]
    }

    /// The value of this id.
    #[inline]
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id]
    }

    /// The site of this id.
    #[inline]
    pub fn site(&self, id: SiteId) -> &Site {
        &self.sites[id]
    }

    /// The block of this id.
    #[inline]
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id]
    }

    /// The region of this id.
    #[inline]
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id]
    }

    /// The op whose region `op` is in; `None` directly in a function body.
    #[inline]
    pub fn parent(&self, op: OpId) -> Option<OpId> {
        self.regions[self.blocks[self.ops[op].block].region].op
    }

    /// The ops around `op`, innermost first.
    pub fn ancestors(&self, op: OpId) -> impl Iterator<Item = OpId> + '_ {
        std::iter::successors(self.parent(op), |&op| self.parent(op))
    }

    /// The function an op is in.
    #[inline]
    pub fn function_of(&self, op: OpId) -> FunctionId {
        self.regions[self.blocks[self.ops[op].block].region].function
    }

    /// The op that allocates a site; `None` if its value is the result of no op (which [`Program::check`] reports).
    #[inline]
    pub fn alloc_op(&self, site: SiteId) -> Option<OpId> {
        match self.values[self.sites[site].value].definition {
            Definition::Result(op) => Some(op),
            _ => None,
        }
    }

    /// The allocation scope a site belongs to: the nearest op around its alloc
    /// whose instances own the buffers; `None` if that is the function.
    pub fn owner_scope(&self, site: SiteId) -> Option<OpId> {
        let alloc = self.alloc_op(site)?;
        self.ancestors(alloc).find(|&op| self.ops[op].scope())
    }

    /// The loop whose iterations rotate a site's slots: the one that the site
    /// names ([`Site::rotation`]), else the innermost loop around its alloc; `None` if there is none.
    pub fn rotation(&self, site: SiteId) -> Option<OpId> {
        use crate::Control::{Loop, While};
        let is_loop = |&op: &OpId| matches!(self.ops[op].control(), Loop(_) | While);
        // Ancestors come innermost first.
        let innermost = || self.ancestors(self.alloc_op(site)?).find(is_loop);
        self.sites[site].rotation.or_else(innermost)
    }

    /// The ids of the program's buffers, `@function/%name`, in site order.
    /// Where a function uses a name again, `#2`, `#3`, … is appended.
    pub fn site_names(&self) -> IndexVec<SiteId, String> {
        // Names that have a `#` or a `/` may look like numbered names, or like the name of a value in another function.
        let is_plain = |name: &str| !name.contains(['#', '/']);
        let values = self.sites.iter().map(|site| &*self.values[site.value].name);
        if values.chain(self.functions.iter().map(|function| &*function.name)).all(is_plain) {
            return self.plain_site_names();
        }
        let mut taken = std::collections::HashSet::new();
        let mut counts = std::collections::HashMap::<String, u32>::new();
        let mut name_of = |site: SiteId| {
            let name = &self.values[self.sites[site].value].name;
            // A site without an alloc op belongs to no function; its name begins with `@/` then.
            let function = self.alloc_op(site).map(|op| self.function_of(op));
            let function = function.map_or("", |f| &self.functions[f].name);
            let plain = format!("@{function}/%{name}");
            // A numbered name may be taken by a value that is called so, hence the loop.
            let count = counts.entry(plain.clone()).or_default();
            loop {
                *count += 1;
                let numbered = match *count {
                    1 => plain.clone(),
                    n => format!("{plain}#{n}"),
                };
                if taken.insert(numbered.clone()) {
                    return numbered;
                }
            }
        };
        self.sites.ids().map(&mut name_of).collect()
    }

    /// As `site_names`, where no name has a `#` or a `/`: then two of the ids
    /// differ if their parts do, so it is enough to count the names as they are in the program. A
    /// large program nearly always has such names, and this way they are copied once and not three
    /// times. For the same reason most names are put together without formatting.
    fn plain_site_names(&self) -> IndexVec<SiteId, String> {
        let mut counts = std::collections::HashMap::<(&str, &str), u32>::with_capacity(self.sites.len());
        let name_of = |site: SiteId| {
            let name = &*self.values[self.sites[site].value].name;
            let function = self.alloc_op(site).map(|op| self.function_of(op));
            let function = function.map_or("", |f| &self.functions[f].name);
            let count = counts.entry((function, name)).or_default();
            *count += 1;
            match *count {
                1 => ["@", function, "/%", name].concat(),
                n => format!("@{function}/%{name}#{n}"),
            }
        };
        self.sites.ids().map(name_of).collect()
    }

    /// Every `(target, source)` pair by which control flow hands the value `source` to the value
    /// `target`, which is [`Origin::Incoming`]: into regions, between blocks, round loops and out
    /// as results. Sorted, each pair once. So the memory of `target` may be that of `source`; alias
    /// analysis needs all these pairs.
    pub fn incoming_edges(&self) -> Vec<(ValueId, ValueId)> {
        let mut edges = Vec::new();
        // A plain op has no regions, so it hands nothing over.
        for op in self.ops.iter().filter(|op| !op.is_plain()) {
            self.edges_around(op, &mut edges);
        }
        for block in &self.blocks {
            for branch in &block.branches {
                if let Target::Block(target) = branch.target {
                    let arguments = self.incoming(&self.blocks[target].arguments);
                    pair_up(&arguments, &branch.values, &mut edges);
                }
            }
        }
        // Two branches may hand over the same pair.
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Adds the pairs (receiver, giver) of values that control hands over around one op: into its
    /// regions, from one iteration to the next, and out as results. For a loop with result `%r`,
    /// init `%i`, argument `%a` and a body that leaves with `%y`, these are `(%a, %i)`, `(%r, %y)`,
    /// `(%a, %y)`, and `(%r, %i)` if the loop may run no iteration.
    fn edges_around(&self, op: &Op, edges: &mut Vec<(ValueId, ValueId)>) {
        use crate::Control;
        // Positions are counted among the values that receive something; the others define themselves.
        let results = self.incoming(&op.results);
        let repeats = matches!(op.control(), Control::Loop(_) | Control::While);
        let skippable = match op.control() {
            Control::Loop(trips) => trips.at_least == 0,
            Control::Alternatives { may_skip } => *may_skip,
            // There are no iterations if a dimension has none, and a dimension of unknown length
            // may have none.
            Control::Parallel { trips } => trips.iter().any(|trips| trips.is_none_or(|count| count == 0)),
            _ => false,
        };
        // An op that may run no region at all hands its initial values to its results.
        if skippable {
            pair_up(&results, op.inits(), edges);
        }
        for &region in op.regions() {
            let arguments = self.entry_arguments(region);
            pair_up(&arguments, op.inits(), edges);
            for (target, values) in self.exits(region) {
                // Leaving the body of a `while` always begins another iteration, so only a break hands values to its
                // results.
                if target == Target::Break || *op.control() != Control::While {
                    pair_up(&results, values, edges);
                }
                // The next iteration of a loop starts with what this one hands over.
                if target == Target::Leave && repeats {
                    for &again in op.regions() {
                        pair_up(&self.entry_arguments(again), values, edges);
                    }
                }
            }
        }
    }

    /// Those of `values` that receive what control flow hands over. Only they
    /// count as positions of an edge: a block argument or result of another
    /// origin defines itself.
    pub fn incoming(&self, values: &[ValueId]) -> SmallVec<[ValueId; 4]> {
        let receives = |value: &ValueId| matches!(self.values[*value].origin, Origin::Incoming);
        values.iter().copied().filter(receives).collect()
    }

    /// The receiving arguments of a region's entry block.
    pub fn entry_arguments(&self, region: RegionId) -> SmallVec<[ValueId; 4]> {
        // A region without blocks is an error that `Program::check` reports; here it has no arguments.
        let entry = self.regions[region].blocks.first();
        entry.map_or_else(SmallVec::new, |&block| self.incoming(&self.blocks[block].arguments))
    }

    /// The ways out of a region ([`Target::Leave`] and [`Target::Break`]), with the values each hands over.
    pub fn exits(&self, region: RegionId) -> impl Iterator<Item = (Target, &[ValueId])> + '_ {
        let blocks = self.regions[region].blocks.iter();
        blocks
            .flat_map(|&block| &self.blocks[block].branches)
            .filter(|branch| !matches!(branch.target, Target::Block(_)))
            .map(|branch| (branch.target, &*branch.values))
    }
}

/// Adds the pairs of targets and sources at the same positions.
fn pair_up(targets: &[ValueId], sources: &[ValueId], edges: &mut Vec<(ValueId, ValueId)>) {
    edges.extend(targets.iter().copied().zip(sources.iter().copied()));
}
