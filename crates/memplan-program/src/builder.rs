//! How front ends make a [`Program`]: an [`OpDraft`] describes one op, a [`ProgramBuilder`] puts ops, regions and
//! blocks together. (A *token* here is what asynchronous work hands out and other ops await.)
//!
//! The kinds of things are those of the other files of this crate: a [`Value`] is a handle to memory, and its
//! [`Origin`] says which memory; a [`Site`] is one allocation; [`Control`] says how an op runs its regions.

use memplan_core::{Bytes, Id, IndexVec, SpaceId, Span};
use smallvec::SmallVec;

use crate::op::{Details, FlowDetails};
use crate::{
    Access, AccessKind, Accesses, Await, Block, BlockId, Branch, Control, CopyRange, Definition, Extent, Function,
    FunctionId, Op, OpId, OpName, Origin, Overlay, OverlayKind, PipeId, Program, ProgramError, Region, RegionId,
    Results, Site, Size, Target, TokenId, Value, ValueId,
};

/// An op before it has a place in a program: plain data with chaining setters. The setters are inlined, because a draft
/// has some 80 bytes, and each call would copy it twice.
#[derive(Clone, Debug)]
pub struct OpDraft {
    /// The op. Its block is set when it is added to a program.
    op: Op,
}

impl OpDraft {
    /// An op that does nothing. A name that several ops share need not be copied for each of them.
    #[inline]
    pub fn new(name: impl Into<OpName>) -> OpDraft {
        OpDraft { op: Op::plain(name.into(), Span::default(), Accesses::new(), Results::new()) }
    }

    /// Where it stands in the source.
    #[inline]
    pub fn span(mut self, span: Span) -> OpDraft {
        self.op.span = span;
        self
    }

    /// The execution unit it runs on.
    #[inline]
    pub fn pipe(mut self, pipe: PipeId) -> OpDraft {
        self.op.pipe = Some(pipe);
        self
    }

    /// Buffers allocated inside belong to an instance of this op.
    #[inline]
    pub fn scope(mut self) -> OpDraft {
        self.op.flow_mut().scope = true;
        self
    }

    /// Any access.
    #[inline]
    pub fn access(mut self, value: ValueId, kind: AccessKind) -> OpDraft {
        self.add_access(value, kind);
        self
    }

    /// Any access, for callers that keep the draft where it is. The chaining setters move it with every call.
    #[inline]
    pub fn add_access(&mut self, value: ValueId, kind: AccessKind) {
        self.op.accesses.push(Access { value, kind });
    }

    /// Uses the content of `value`.
    #[inline]
    pub fn read(self, value: ValueId) -> OpDraft {
        self.access(value, AccessKind::Read)
    }

    /// Overwrites every byte of `value`.
    #[inline]
    pub fn write(self, value: ValueId) -> OpDraft {
        self.access(value, AccessKind::Write)
    }

    /// May use and change any part of `value`.
    #[inline]
    pub fn update(self, value: ValueId) -> OpDraft {
        self.access(value, AccessKind::Update)
    }

    /// Ends the buffer's life: a deallocation that the program itself contains.
    #[inline]
    pub fn free(self, value: ValueId) -> OpDraft {
        self.access(value, AccessKind::Free)
    }

    /// Code outside of the program may use `value` at any later time.
    #[inline]
    pub fn escape(self, value: ValueId) -> OpDraft {
        self.access(value, AccessKind::Escape)
    }

    /// Defines `value`.
    #[inline]
    pub fn result(mut self, value: ValueId) -> OpDraft {
        self.add_result(value);
        self
    }

    /// Defines `value`, for callers that keep the draft where it is.
    #[inline]
    pub fn add_result(&mut self, value: ValueId) {
        self.op.results.push(value);
    }

    /// Permits `output` to lie over `input`.
    #[inline]
    pub fn overlay(mut self, output: ValueId, input: ValueId, kind: OverlayKind) -> OpDraft {
        self.add_overlay(output, input, kind);
        self
    }

    /// Permits `output` to lie over `input`, for callers that keep the draft where it is.
    pub fn add_overlay(&mut self, output: ValueId, input: ValueId, kind: OverlayKind) {
        self.op.details_mut().overlays.get_or_insert_default().push(Overlay { output, input, kind });
    }

    /// Declares bytes of an output to be a mere copy of bytes of an input.
    #[inline]
    pub fn copies(mut self, range: CopyRange) -> OpDraft {
        self.add_copy(range);
        self
    }

    /// Declares bytes of an output to be a mere copy of bytes of an input, for callers that keep the draft where it is.
    pub fn add_copy(&mut self, range: CopyRange) {
        self.op.details_mut().copies.push(range);
    }

    /// Waits for the asynchronous work that was started last with this token.
    #[inline]
    pub fn awaits(mut self, token: TokenId) -> OpDraft {
        self.add_await(token, false);
        self
    }

    /// Waits for all asynchronous work that was started with this token.
    #[inline]
    pub fn awaits_every(mut self, token: TokenId) -> OpDraft {
        self.add_await(token, true);
        self
    }

    /// Waits for asynchronous work, for callers that keep the draft where it is.
    pub fn add_await(&mut self, token: TokenId, every: bool) {
        self.op.flow_mut().awaits.push(Await { token, every });
    }

    /// Hands values to the entry arguments of the regions.
    #[inline]
    pub fn inits(mut self, values: &[ValueId]) -> OpDraft {
        if !values.is_empty() {
            self.op.flow_mut().inits.extend_from_slice(values);
        }
        self
    }

    /// How control moves through the regions to come.
    #[inline]
    pub fn control(mut self, control: Control) -> OpDraft {
        // An op without a record of its control is one that control passes through once.
        if !self.op.is_plain() || control != Control::Once {
            self.op.flow_mut().control = control;
        }
        self
    }

    /// The op, as a member of `block`. What it has is put into one normal form first, so that equal ops compare equal.
    fn into_op(self, block: BlockId) -> Op {
        let mut op = Op { block, ..self.op };
        if let Some(details) = op.details.as_deref_mut() {
            // These lists grow no more, and a program may have many of them.
            if let Some(overlays) = details.overlays.as_deref_mut() {
                overlays.shrink_to_fit();
            }
            if let Some(flow) = details.flow.as_deref_mut() {
                flow.awaits.shrink_to_fit();
                flow.inits.shrink_to_fit();
                flow.control.normalize();
            }
            // Setters may have been called with what an op has by itself. The regions of an op come later, by
            // `open_region`, which makes these records again.
            details.flow.take_if(|flow| **flow == FlowDetails::default());
        }
        op.details.take_if(|details| **details == Details::default());
        op
    }
}

impl Default for OpDraft {
    /// An op without a name that does nothing.
    fn default() -> OpDraft {
        OpDraft::new(OpName::default())
    }
}

/// Something that was begun and has not ended yet, around the place where the next op goes.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// A function: ops go into the region that is its body.
    Function,
    /// An op with regions: regions may follow, but no ops.
    Op(OpId),
    /// A region of an op: ops go into its blocks.
    Region,
}

/// Makes a [`Program`] in one pass over a source, outside in, top to bottom.
///
/// ```
/// use memplan_core::Bytes;
/// use memplan_program::{Control, OpDraft, Origin, ProgramBuilder, Size, Trips};
///
/// // for i { x = alloc 64; fill(x); use(x) }
/// let mut b = ProgramBuilder::new();
/// b.open_function("main", &[]);
/// b.open_op(OpDraft::new("scf.for").control(Control::Loop(Trips::any())));
/// b.open_region(&[]);
/// let space = b.space("default");
/// let x = b.alloc("x", Size::Known(Bytes(64)), space);
/// b.push(OpDraft::new("memref.alloc").result(x));
/// b.push(OpDraft::new("fill").write(x));
/// b.push(OpDraft::new("use").read(x));
/// b.leave(&[]);
/// b.close_region();
/// b.close_op();
/// b.leave(&[]);
/// b.close_function();
/// let program = b.finish()?;
/// assert_eq!(program.sites().len(), 1);
/// # Ok::<(), memplan_program::ProgramError>(())
/// ```
///
/// Values are made first ([`alloc`](Self::alloc), [`value`](Self::value))
/// and then listed as results of the op that defines them. Calls that do not
/// fit (closing what is not open) do nothing but make [`finish`](Self::finish)
/// fail: a builder never panics.
#[derive(Debug, Default)]
pub struct ProgramBuilder {
    /// The program so far.
    program: Program,
    /// What is open, innermost last.
    open: Vec<Open>,
    /// The block ops go to; one per open region, innermost last.
    insertion: Vec<BlockId>,
    /// Which blocks have their place in a region. A block may be made before, as the target of a branch.
    started: IndexVec<BlockId, bool>,
    /// The first thing that went wrong; [`finish`](Self::finish) returns it.
    error: Option<ProgramError>,
}

impl ProgramBuilder {
    /// A builder of an empty program.
    pub fn new() -> ProgramBuilder {
        ProgramBuilder::default()
    }

    /// Makes room for so many more allocated values and ops.
    pub fn reserve(&mut self, values: usize, ops: usize) {
        self.program.values.reserve(values);
        self.program.sites.reserve(values);
        self.program.ops.reserve(ops);
    }

    /// Makes room for this many more ops, values and allocated values, and no more.
    pub fn reserve_exact(&mut self, ops: usize, values: usize, sites: usize) {
        self.program.ops.reserve_exact(ops);
        self.program.values.reserve_exact(values);
        self.program.sites.reserve_exact(sites);
    }

    /// Makes room for this many more ops in the current block, so that its list need not grow with each of them.
    pub fn reserve_in_block(&mut self, ops: usize) {
        if let Some(&block) = self.insertion.last() {
            self.program.blocks[block].ops.reserve_exact(ops);
        }
    }

    /// The program so far.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The space of this name, made on first use.
    pub fn space(&mut self, name: &str) -> SpaceId {
        named(&mut self.program.spaces, name)
    }

    /// The execution unit of this name, made on first use.
    pub fn pipe(&mut self, name: &str) -> PipeId {
        named(&mut self.program.pipes, name)
    }

    /// A new token for an asynchronous op.
    pub fn token(&mut self, name: &str) -> TokenId {
        self.program.tokens.push(name.into())
    }

    /// A value that is not defined yet: pass it on as a parameter, a block
    /// argument or a result, or leave it as a global.
    pub fn value(&mut self, name: &str, origin: Origin) -> ValueId {
        self.program.values.push(Value {
            name: name.into(),
            origin,
            definition: Definition::Global,
            span: Span::default(),
        })
    }

    /// External memory.
    pub fn external(&mut self, name: &str) -> ValueId {
        self.value(name, Origin::External)
    }

    /// A value control flow hands over: a block argument or region result.
    pub fn incoming(&mut self, name: &str) -> ValueId {
        self.value(name, Origin::Incoming)
    }

    /// A view of `base`.
    pub fn view(&mut self, name: &str, base: ValueId, extent: Extent) -> ValueId {
        self.value(name, Origin::Derived { base, extent })
    }

    /// A new allocation site and the value that names its buffer. Marks are
    /// set with [`ProgramBuilder::site_mut`].
    pub fn alloc(&mut self, name: &str, size: Size, space: SpaceId) -> ValueId {
        self.alloc_aligned(name, size, Bytes(1), space)
    }

    /// As [`alloc`](Self::alloc), for a buffer whose address must be a multiple of `alignment`.
    pub fn alloc_aligned(&mut self, name: &str, size: Size, alignment: Bytes, space: SpaceId) -> ValueId {
        let value = ValueId::from_index(self.program.values.len());
        let site = self.program.sites.push(Site { alignment, ..plain_site(value, size, space) });
        self.value(name, Origin::Alloc(site))
    }

    /// Makes a value an allocation site with one slot, alignment 1 and no marks. For sources that use names before
    /// they define them; others call [`alloc`](Self::alloc).
    pub fn make_site(&mut self, value: ValueId, size: Size, space: SpaceId) {
        // A value that the program does not have, and one that is a site already, are errors of the
        // caller's.
        match self.program.values.get(value).map(|v| &v.origin) {
            None => return self.fail(ProgramError::UnknownValue),
            Some(Origin::Alloc(_)) => return self.fail(ProgramError::SiteRedefined { value }),
            Some(_) => {}
        }
        let site = self.program.sites.push(plain_site(value, size, space));
        self.program.values[value].origin = Origin::Alloc(site);
    }

    /// What a value is so far; `None` if there is no such value.
    pub fn origin(&self, value: ValueId) -> Option<&Origin> {
        self.program.values.get(value).map(|value| &value.origin)
    }

    /// How many values there are so far.
    pub fn value_count(&self) -> usize {
        self.program.values.len()
    }

    /// The site behind an allocated value, to set its marks.
    pub fn site_mut(&mut self, value: ValueId) -> Option<&mut Site> {
        match self.program.values.get(value)?.origin {
            Origin::Alloc(site) => Some(&mut self.program.sites[site]),
            _ => None,
        }
    }

    /// Sets where the source defines a value.
    pub fn set_span(&mut self, value: ValueId, span: Span) {
        if self.program.values.get(value).is_some() {
            self.program.values[value].span = span;
        }
    }

    /// Replaces a value's origin, for sources that use names before they
    /// define them. Allocation sites stay what they are.
    pub fn set_origin(&mut self, value: ValueId, origin: Origin) {
        // An id of another program.
        let Some(old) = self.program.values.get(value).map(|v| &v.origin) else {
            return self.fail(ProgramError::UnknownValue);
        };
        if matches!(old, Origin::Alloc(_)) || matches!(origin, Origin::Alloc(_)) {
            return self.fail(ProgramError::SiteRedefined { value });
        }
        self.program.values[value].origin = origin;
    }

    /// Begins a function; ops go to its entry block until another is begun.
    pub fn open_function(&mut self, name: &str, parameters: &[ValueId]) -> FunctionId {
        // The function is made all the same, so that later calls find what they expect; `finish` reports the error.
        if !self.open.is_empty() {
            self.fail(ProgramError::NestedFunction { name: name.into() });
        }
        let body = self.program.regions.push(Region {
            op: None,
            function: FunctionId::from_index(self.program.functions.len()),
            blocks: SmallVec::new(),
        });
        let function = self.program.functions.push(Function {
            name: name.into(),
            parameters: parameters.to_vec(),
            body,
            span: Span::default(),
        });
        for &parameter in parameters {
            self.define(parameter, Definition::Parameter(function));
        }
        // Parameters are no arguments of the entry block: no edge leads to it.
        self.open.push(Open::Function);
        self.start_region(body, &[]);
        function
    }

    /// Ends the function.
    pub fn close_function(&mut self) {
        self.insertion.pop();
        match self.open.pop() {
            Some(Open::Function) => {}
            _ => self.fail(ProgramError::Unbalanced),
        }
    }

    /// Adds an op without regions to the end of the current block, and defines its results. Outside of all blocks
    /// nothing is added; the id that is returned then has no meaning, and [`finish`](Self::finish) fails.
    pub fn push(&mut self, draft: OpDraft) -> OpId {
        self.push_with(|block| draft.into_op(block))
    }

    /// As [`push`](Self::push), for an op that has a name, accesses and results and nothing else. It needs no draft,
    /// which is large.
    #[inline]
    pub fn push_plain(&mut self, name: OpName, span: Span, accesses: Accesses, results: Results) -> OpId {
        self.push_with(|block| Op { block, ..Op::plain(name, span, accesses, results) })
    }

    /// Adds the op that `make` makes for the current block.
    #[inline]
    fn push_with(&mut self, make: impl FnOnce(BlockId) -> Op) -> OpId {
        let Some(&block) = self.insertion.last() else {
            self.fail(ProgramError::Unbalanced);
            return OpId::from_index(0);
        };
        // Directly inside an op only regions may follow, not ops. The op is added all the same, so that its id is one
        // that further calls can use; `finish` reports the failure.
        if !matches!(self.open.last(), Some(Open::Function | Open::Region)) {
            self.fail(ProgramError::Unbalanced);
        }
        let op = self.program.ops.push(make(block));
        self.program.blocks[block].ops.push(op);
        // By index, because `define` changes the program.
        for index in 0..self.program.ops[op].results.len() {
            let value = self.program.ops[op].results[index];
            self.define(value, Definition::Result(op));
        }
        op
    }

    /// Adds an op and begins its inside: regions follow.
    pub fn open_op(&mut self, draft: OpDraft) -> OpId {
        let op = self.push(draft);
        self.open.push(Open::Op(op));
        op
    }

    /// Ends the op opened last.
    pub fn close_op(&mut self) {
        match self.open.pop() {
            Some(Open::Op(_)) => {}
            _ => self.fail(ProgramError::Unbalanced),
        }
    }

    /// Begins the next region of the open op, and its entry block with these arguments. Returns that block.
    pub fn open_region(&mut self, arguments: &[ValueId]) -> BlockId {
        // The op must exist: `open_op` returns an id without meaning if it stands outside of all blocks.
        let open = match self.open.last() {
            Some(&Open::Op(op)) if self.program.ops.get(op).is_some() => Some(op),
            _ => None,
        };
        let Some(op) = open else {
            self.fail(ProgramError::Unbalanced);
            return BlockId::from_index(0);
        };
        let function = self.program.function_of(op);
        let region = self.program.regions.push(Region { op: Some(op), function, blocks: SmallVec::new() });
        // The region belongs to its op from now on; blocks are added to it as they are started.
        self.program.ops[op].flow_mut().regions.push(region);
        self.open.push(Open::Region);
        self.start_region(region, arguments)
    }

    /// Ends the region opened last.
    pub fn close_region(&mut self) {
        self.insertion.pop();
        match self.open.pop() {
            Some(Open::Region) => {}
            _ => self.fail(ProgramError::Unbalanced),
        }
    }

    /// The block ops are being added to.
    pub fn current_block(&self) -> Option<BlockId> {
        self.insertion.last().copied()
    }

    /// Makes a block of the innermost open region, so that branches can lead
    /// to it. It takes its place in the region when it is
    /// [started](Self::start_block).
    pub fn add_block(&mut self, arguments: &[ValueId]) -> BlockId {
        let Some(&current) = self.insertion.last() else {
            self.fail(ProgramError::Unbalanced);
            return BlockId::from_index(0);
        };
        self.new_block(self.program.blocks[current].region, arguments)
    }

    /// Ops from now on go to `block` of the innermost open region. The first time, the block takes its place there
    /// behind the blocks that were started before.
    pub fn start_block(&mut self, block: BlockId) {
        let here = self.insertion.last().map(|&b| self.program.blocks[b].region);
        let there = self.program.blocks.get(block).map(|b| b.region);
        let (Some(region), Some(current)) = (here, self.insertion.last_mut()) else {
            return self.fail(ProgramError::Unbalanced);
        };
        // The block was made for another region.
        if here != there {
            return self.fail(ProgramError::ForeignBranch);
        }
        *current = block;
        // A block may be started again to add ops at its end; it has its place then.
        if !std::mem::replace(&mut self.started[block], true) {
            self.program.regions[region].blocks.push(block);
        }
    }

    /// Adds arguments to a block, for sources that learn of them late.
    pub fn add_arguments(&mut self, block: BlockId, arguments: &[ValueId]) {
        if self.program.blocks.get(block).is_none() {
            return self.fail(ProgramError::Unbalanced);
        }
        let list = &mut self.program.blocks[block].arguments;
        list.extend_from_slice(arguments);
        for &argument in arguments {
            self.define(argument, Definition::Argument(block));
        }
    }

    /// Adds a way on from the end of the current block, which hands over `values`. A block may have several ways on.
    pub fn branch(&mut self, target: Target, values: &[ValueId]) {
        match self.insertion.last() {
            Some(&block) => {
                self.program.blocks[block].branches.push(Branch { target, values: values.into() });
            }
            None => self.fail(ProgramError::Unbalanced),
        }
    }

    /// The current block ends its region and hands over these values.
    pub fn leave(&mut self, values: &[ValueId]) {
        self.branch(Target::Leave, values);
    }

    /// Sets the source range of the open function.
    pub fn set_function_span(&mut self, function: FunctionId, span: Span) {
        if self.program.functions.get(function).is_some() {
            self.program.functions[function].span = span;
        }
    }

    /// Replaces the control of an op, for facts known only after its regions.
    pub fn set_control(&mut self, op: OpId, control: Control) {
        if self.program.ops.get(op).is_none() {
            return self.fail(ProgramError::Unbalanced);
        }
        let flow = self.program.ops[op].flow_mut();
        flow.control = control;
        flow.control.normalize();
    }

    /// The finished program. An error if calls did not fit, a block was made and never started, or the program is not
    /// well formed ([`Program::check`]); of several, the first one.
    pub fn finish(mut self) -> Result<Program, ProgramError> {
        if !self.open.is_empty() {
            self.fail(ProgramError::Unbalanced);
        }
        // A branch may lead to a block that was made; without a place in its region it has no content.
        if self.started.iter().any(|&started| !started) {
            self.fail(ProgramError::UnstartedBlock);
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        match self.program.check().into_iter().next() {
            Some(error) => Err(error),
            None => Ok(self.program),
        }
    }

    /// Begins a region: makes its entry block, to which ops go from now on.
    fn start_region(&mut self, region: RegionId, arguments: &[ValueId]) -> BlockId {
        let entry = self.new_block(region, arguments);
        self.insertion.push(entry);
        self.started[entry] = true;
        self.program.regions[region].blocks.push(entry);
        entry
    }

    /// Makes an empty block and defines its arguments. It has no place among the region's blocks yet.
    fn new_block(&mut self, region: RegionId, arguments: &[ValueId]) -> BlockId {
        let block = self.program.blocks.push(Block {
            region,
            arguments: arguments.to_vec(),
            ops: Vec::new(),
            branches: SmallVec::new(),
        });
        self.started.push(false);
        for &argument in arguments {
            self.define(argument, Definition::Argument(block));
        }
        block
    }

    /// Notes what brings a value into being. A new value is a global until then; being defined twice is an error.
    fn define(&mut self, value: ValueId, definition: Definition) {
        match self.program.values.get(value).map(|v| v.definition) {
            Some(Definition::Global) => self.program.values[value].definition = definition,
            Some(_) => self.fail(ProgramError::DefinedTwice { value }),
            None => self.fail(ProgramError::UnknownValue),
        }
    }

    /// Remembers the first thing that went wrong.
    fn fail(&mut self, error: ProgramError) {
        // Later errors often follow from the first one.
        self.error.get_or_insert(error);
    }
}

/// A site with one slot, alignment 1 and no marks.
#[inline]
fn plain_site(value: ValueId, size: Size, space: SpaceId) -> Site {
    Site {
        value,
        size,
        alignment: Bytes(1),
        space,
        slots: 1,
        rotation: None,
        exclusive: false,
        preload: false,
        coupled: None,
    }
}

/// The id of a name in a list of names; the name is added if it is not there.
fn named<I: Id>(names: &mut IndexVec<I, Box<str>>, name: &str) -> I {
    // There are few spaces and pipes, so a search from the start is quick enough.
    let known = names.iter_enumerated().find(|(_, known)| &***known == name);
    match known.map(|(id, _)| id) {
        Some(id) => id,
        None => names.push(name.into()),
    }
}
