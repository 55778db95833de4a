//! What a function does to its arguments, for the ops that call it.
//!
//! ```text
//!   func @f(%a, %b, %n) -> memref {       summary of @f
//!     %v = memref.subview %a[…]             argument 0: changed
//!     copy %b, %v                           argument 1: read
//!     return %v                             result 0: may be argument 0, nothing else
//!   }
//! ```
//!
//! Values that may be the same memory are put into one class, whichever way
//! control goes (union-find over views, merges, yields, branches). What is done
//! to any value of a class counts for every argument in it. So a summary may say that a function does more than it
//! does, but never less, and it costs one walk over the text. Functions are summarised after those they call. A
//! function that calls itself, directly or through others, has no summary yet when that call is looked at, and the
//! call is taken for an unknown op.
//!
//! An argument *escapes* if the function loses sight of it: an op hides it in a value that is not followed (a handle, a
//! pointer, a tensor), stores it, branches with it in an unknown way, or hands it out of a region that runs in an
//! unknown way; or a called function does one of these. The same is asked of ops outside of calls
//! ([`access`](super::access)). Only the results of the function itself are followed into its callers.
//!
//! What asynchronous work does counts as done by the call. If the work may go on when the function returns, it is
//! listed as [pending](super::work) as well. (Work is here what runs beside the code, such as the region of an
//! `async.execute`, and not the work of the glossary.)
//!
//! The row of an op says how values pass through its regions (`Flow`): `Carried` round a loop, out of the regions as
//! results (`Yields`), in an unknown way, or not at all.

use memplan_core::{Classes, Id, IndexVec};
use memplan_program::AccessKind;
use std::collections::{HashMap, HashSet};

// `Classes` is a union-find: `join` makes one class of two, `find` gives the value that represents a class. `Ends` says
// of the ops of one function which of them may still run when the function has returned.
use super::access::{is_unclear_branch, launches_on_stream, makes_handle, row_accesses};
use super::work::{Ends, Pending, by_token};
use super::{Subject, is_last, is_memory};
use crate::Type;
use crate::dialect::{Access, Control, Flow, Traits};
use crate::document::{BlockId, Document, OpId, ValueId};

/// What is done to an argument: any of these, in any order and number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    reads: bool,
    changes: bool,
    frees: bool,
    escapes: bool,
}

impl Effect {
    /// Code that is not seen may use the argument at any later time.
    const ESCAPES: Effect = Effect { reads: false, changes: false, frees: false, escapes: true };

    /// What a call does to an argument, in the words of the program. A change is an update: the callee may leave
    /// bytes as they were, and may do nothing on some of its paths.
    pub(super) fn accesses(self) -> Vec<AccessKind> {
        let mut kinds = Vec::new();
        if self.changes {
            kinds.push(AccessKind::Update);
        } else if self.reads {
            kinds.push(AccessKind::Read);
        }
        // A callee that frees may do so on some paths only, and a plan must not share memory that the callee gives
        // back to the allocator. As an escape the buffer is left alone.
        if self.escapes || self.frees {
            kinds.push(AccessKind::Escape);
        }
        kinds
    }

    pub(super) fn add(&mut self, other: Effect) {
        self.reads |= other.reads;
        self.changes |= other.changes;
        self.frees |= other.frees;
        self.escapes |= other.escapes;
    }

    /// The effect of one access of an op of the callee.
    fn of(access: Access) -> Effect {
        Effect {
            reads: matches!(access, Access::Read | Access::Update),
            changes: matches!(access, Access::Write | Access::Update),
            frees: access == Access::Free,
            escapes: access == Access::Escape,
        }
    }
}

/// What one function does.
#[derive(Clone, Debug, Default)]
struct Summary {
    /// What is done to each argument.
    parameters: Vec<Effect>,
    /// For each result the arguments it may be, and whether it may be something else.
    results: Vec<(Vec<usize>, bool)>,
    /// Work that goes on when the function has returned.
    pending: Vec<Pending>,
}

/// The summaries of a document's functions, and which call calls which function.
#[derive(Debug, Default)]
pub(super) struct Summaries {
    /// By the function's op.
    functions: HashMap<OpId, Summary>,
    /// For each call in the text, the function with a body that it calls; other calls are not in the map.
    callees: HashMap<OpId, OpId>,
}

impl Summaries {
    /// Summarises all functions, callees before their callers. Nothing is done if the document has no call whose
    /// function is known, because then nobody asks.
    pub(super) fn new(
        document: &Document,
        last_inside: &IndexVec<OpId, OpId>,
        unclear_blocks: &HashSet<BlockId>,
    ) -> Summaries {
        let mut summaries = Summaries { functions: HashMap::new(), callees: resolve_calls(document) };
        if summaries.callees.is_empty() {
            return summaries;
        }
        let order = callees_first(document, &summaries.callees, last_inside);
        let mut classes = Touched::new(document, last_inside, unclear_blocks);
        for function in order {
            let summary = classes.summarise(function, &summaries);
            summaries.functions.insert(function, summary);
        }
        summaries
    }

    /// What a call does to each of its operands; `None` if the function it calls is not known or has no summary yet.
    pub(super) fn call(&self, op: OpId) -> Option<&[Effect]> {
        let summary = self.functions.get(self.callees.get(&op)?)?;
        Some(&summary.parameters)
    }

    /// The work that a call leaves behind.
    pub(super) fn pending(&self, op: OpId) -> &[Pending] {
        let summary = self.callees.get(&op).and_then(|callee| self.functions.get(callee));
        summary.map_or(&[], |summary| &summary.pending)
    }

    /// The function with a body that an op calls.
    pub(super) fn callee(&self, op: OpId) -> Option<OpId> {
        self.callees.get(&op).copied()
    }

    /// Which operands of a call (by position) its result at `index` may be, and whether it may be other memory than
    /// these; `None` if the function it calls is not known or has no summary yet.
    pub(super) fn result(&self, op: OpId, index: usize) -> Option<(&[usize], bool)> {
        let summary = self.functions.get(self.callees.get(&op)?)?;
        let (from, other) = summary.results.get(index)?;
        Some((from, *other))
    }
}

/// The function with a body that each call names, looked up outward from the call.
fn resolve_calls(document: &Document) -> HashMap<OpId, OpId> {
    let functions = functions_with_bodies(document);
    if functions.is_empty() {
        return HashMap::new();
    }
    let calls = document.op_ids().filter(|&op| document.info(op).traits.has(Traits::CALL));
    calls.filter_map(|call| Some((call, callee(document, &functions, call)?))).collect()
}

/// The functions that have a body, by the block they stand in and by name. A declaration has no body to look into, so a
/// call of it remains a call of an unknown function.
fn functions_with_bodies(document: &Document) -> HashMap<(BlockId, &str), OpId> {
    let mut functions = HashMap::new();
    for op in document.op_ids().filter(|&op| document.info(op).traits.has(Traits::FUNCTION)) {
        let body = document.regions(op).first();
        if body.is_some_and(|&body| !document.blocks(body).is_empty())
            && let Some(name) = document.symbol_name(op)
        {
            functions.insert((document.op(op).parent, name), op);
        }
    }
    functions
}

/// The function that a call names. Names are looked up from the inside outwards, one symbol table after the other, as
/// MLIR does.
fn callee(document: &Document, functions: &HashMap<(BlockId, &str), OpId>, call: OpId) -> Option<OpId> {
    let name = document.symbol_name(call)?;
    let mut around = std::iter::successors(Some(call), |&inner| document.parent_op(inner));
    around.find_map(|op| functions.get(&(document.op(op).parent, name)).copied())
}

/// What the last op of a block hands out of it: the operands of `scf.yield` and of terminators like it.
fn handed_out(document: &Document, block: BlockId) -> &[ValueId] {
    document.ops(block).last().map_or(&[], |&last| document.operands(last))
}

/// All functions, each behind those it calls itself; `callees` says for each call which function it calls. Functions
/// of a recursion come in some order.
fn callees_first(document: &Document, callees: &HashMap<OpId, OpId>, last_inside: &IndexVec<OpId, OpId>) -> Vec<OpId> {
    let mut calls: HashMap<OpId, Vec<OpId>> = HashMap::new();
    let mut functions = Vec::new();
    for op in document.op_ids() {
        if document.info(op).traits.has(Traits::FUNCTION) {
            // The ids from an op to the last op inside of it are exactly the ops inside.
            let range = op.index()..last_inside[op].index() + 1;
            let called = range.filter_map(|at| callees.get(&OpId::from_index(at)).copied());
            calls.insert(op, called.collect());
            functions.push(op);
        }
    }
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    for &start in &functions {
        // A depth-first walk with a stack of its own, because calls in the source may be nested as deep as the file is
        // long. Each entry is a function and how many of its callees have been looked at. A function is done when all
        // its callees are.
        let mut stack = vec![(start, 0)];
        if !seen.insert(start) {
            continue;
        }
        while let Some((function, next)) = stack.pop() {
            let Some(&callee) = calls.get(&function).and_then(|list| list.get(next)) else {
                order.push(function);
                continue;
            };
            stack.push((function, next + 1));
            // A callee that was seen before is either done or part of a recursion. In a recursion it has no summary yet
            // when its caller is summarised, and the call counts as unknown.
            if seen.insert(callee) {
                stack.push((callee, 0));
            }
        }
    }
    order
}

/// Classes of values that may be the same memory, and what is done to them.
struct Touched<'d> {
    document: &'d Document,
    /// The last op inside each op, itself if there is none.
    last_inside: &'d IndexVec<OpId, OpId>,
    /// Blocks that an unknown op may branch to.
    unclear_blocks: &'d HashSet<BlockId>,
    classes: Classes<ValueId>,
    effects: IndexVec<ValueId, Effect>,
    /// Whether the class may be memory that no argument brought. This and `effects` are valid for the value that
    /// represents its class.
    other: IndexVec<ValueId, bool>,
    /// What is done by work that goes on when the function being summarised has returned: the value it touches, what
    /// it does to it, and the position of the function's result that stands for the work (none if no result does).
    pending: Vec<(ValueId, Effect, Option<usize>)>,
}

impl<'d> Touched<'d> {
    /// Every value is a class of its own at first, and nothing has touched it.
    fn new(
        document: &'d Document,
        last_inside: &'d IndexVec<OpId, OpId>,
        unclear_blocks: &'d HashSet<BlockId>,
    ) -> Self {
        let count = document.value_ids().len();
        Touched {
            document,
            last_inside,
            unclear_blocks,
            classes: Classes::new(count),
            effects: IndexVec::filled(Effect::default(), count),
            other: IndexVec::filled(false, count),
            pending: Vec::new(),
        }
    }

    /// Puts two values into one class, which has the effects of both.
    fn join(&mut self, left: ValueId, right: ValueId) {
        // `former` represented one of the two classes until now; there is none if both values were in one class
        // already.
        if let (class, Some(former)) = self.classes.join(left, right) {
            let effect = self.effects[former];
            self.effects[class].add(effect);
            self.other[class] |= self.other[former];
        }
    }

    fn join_all(&mut self, values: &[ValueId]) {
        for pair in values.windows(2) {
            self.join(pair[0], pair[1]);
        }
    }

    fn touch(&mut self, value: ValueId, effect: Effect) {
        let class = self.classes.find(value);
        self.effects[class].add(effect);
    }

    /// The summary of one function. `done` has the summaries of the functions that it calls (without those of a
    /// recursion).
    fn summarise(&mut self, function: OpId, done: &Summaries) -> Summary {
        let document = self.document;
        let last = self.last_inside[function];
        let mut returned: Vec<Vec<ValueId>> = Vec::new();
        let ends = Ends::new(document, function, last);
        self.pending.clear();
        // Ops are taken in the order of the text. Any order would do, because classes only grow and effects are only
        // added.
        for at in function.index() + 1..last.index() + 1 {
            let op = OpId::from_index(at);
            self.aliases(op, done);
            self.accesses(op, done, &ends);
            // Several returns may hand out different values at one position, so each position has a list.
            let returns = document.info(op).traits.has(Traits::RETURN_LIKE) && document.parent_op(op) == Some(function);
            if returns {
                let operands = document.operands(op);
                returned.resize_with(returned.len().max(operands.len()), Vec::new);
                for (list, &operand) in returned.iter_mut().zip(operands) {
                    list.push(operand);
                }
            }
        }
        // The parameters of a function are the arguments of its first block.
        let body = document.regions(function).first();
        let entry = body.and_then(|&body| document.blocks(body).first());
        let parameters = entry.map_or(&[][..], |&entry| document.arguments(entry));
        // Now that all classes are final, effects and results can be told in terms of parameters.
        let classes: Vec<ValueId> = parameters.iter().map(|&value| self.classes.find(value)).collect();
        let results = returned.iter().map(|values| self.result(values, &classes)).collect();
        let mut pending = std::mem::take(&mut self.pending);
        // `by_token` compares classes, so each value is replaced by the one that represents its class.
        pending.iter_mut().for_each(|(value, ..)| *value = self.classes.find(*value));
        let parameters = classes.iter().map(|&class| self.effects[class]).collect();
        Summary { parameters, results, pending: by_token(&pending, &classes) }
    }

    /// What a result is. `values` are the values that the `return` ops hand out at its position, and `parameters` are
    /// the classes of the function's parameters. Gives the positions of the parameters that are in one class with any
    /// of the values, and whether the result may be other memory.
    fn result(&mut self, values: &[ValueId], parameters: &[ValueId]) -> (Vec<usize>, bool) {
        let classes: Vec<ValueId> = values.iter().map(|&value| self.classes.find(value)).collect();
        let from = (0..parameters.len()).filter(|&at| classes.contains(&parameters[at]));
        let other = classes.iter().any(|&class| self.other[class]);
        (from.collect(), other)
    }

    /// Joins the values that an op makes the same memory, whichever of its regions run.
    fn aliases(&mut self, op: OpId, done: &Summaries) {
        let document = self.document;
        let info = document.info(op);
        let results = document.results(op);
        if info.traits.has(Traits::CALL) {
            return self.call_aliases(op, done);
        }
        // A class has `other` if some value of it may be memory that is no parameter. That is so for the results of an
        // op without alias rules (`fresh`, an allocation for example), and for the results of an op that is not known
        // to be free of effects (`opaque`). Results of an op with regions come out of its regions, where the ops that
        // make them are looked at.
        for &result in results {
            let fresh = document.regions(op).is_empty() && info.aliases.is_empty();
            let opaque = !info.traits.has(Traits::EFFECT_FREE);
            let class = self.classes.find(result);
            self.other[class] |= fresh || (opaque && document.regions(op).is_empty());
        }
        // A result is put into one class with each operand that a rule of the op's row names. A rule that names no
        // result speaks of all results.
        for rule in info.aliases.iter() {
            let sources = document.operands(op)[document.select(op, &rule.from)].to_vec();
            for (at, &result) in results.iter().enumerate() {
                if rule.result.is_none_or(|r| r as usize == at) {
                    for &source in &sources {
                        self.join(source, result);
                    }
                }
            }
        }
        self.tensor_aliases(op);
        // Branches hand their operands to the arguments of the target block.
        for index in 0..document.successors(op).len() {
            let Some(block) = document.successors(op)[index].block else {
                continue;
            };
            let passed = document.successor_operands(op, index).iter();
            for (&operand, &argument) in passed.zip(document.arguments(block)) {
                self.join(operand, argument);
            }
        }
        if !document.regions(op).is_empty() {
            self.region_aliases(op);
        }
    }

    /// Joins the tensors that an op without regions makes with those that it is given. Bufferization may give them the
    /// same memory, so a tensor that escapes takes along the tensors that it was made of.
    fn tensor_aliases(&mut self, op: OpId) {
        let document = self.document;
        let tensor = |value: &ValueId| matches!(document.ty(*value), Type::Tensor { .. });
        let results = document.results(op).iter().copied().filter(tensor);
        let operands = document.operands(op).iter().copied().filter(tensor);
        let mut tensors: Vec<ValueId> = results.collect();
        if !tensors.is_empty() {
            tensors.extend(operands);
            self.join_all(&tensors);
        }
    }

    /// Joins the values that control hands over around an op with regions. Where the op's row says how values pass,
    /// they are joined position by position; otherwise all memory that goes in or out may be the same.
    fn region_aliases(&mut self, op: OpId) {
        let document = self.document;
        let (results, operands) = (document.results(op), document.operands(op));
        let blocks = document.regions(op).iter().flat_map(|&region| document.blocks(region));
        match document.info(op).flow {
            // No memory passes: the arguments are numbers or elements, or come from the callers of an inner function.
            Flow::None | Flow::Function | Flow::Elements => {}
            Flow::Yields => {
                for &block in blocks {
                    self.join_positions(results, handed_out(document, block));
                }
            }
            // A carried position has four values that may be the same memory: the initial value, the argument inside,
            // what is yielded and the result.
            Flow::Carried => {
                let first = operands.len().saturating_sub(results.len());
                // Initial values are the last operands, and carried arguments the last arguments: a loop has bounds
                // and an index in front of them.
                self.join_positions(results, &operands[first..]);
                for &block in blocks {
                    let arguments = document.arguments(block);
                    let first = arguments.len().saturating_sub(results.len());
                    self.join_positions(results, &arguments[first..]);
                    self.join_positions(results, handed_out(document, block));
                }
            }
            // For all other ops it is not known how values pass through the regions. So all memory that goes in or out
            // is put into one class.
            _ => {
                let mut all = [results, operands].concat();
                for &block in blocks {
                    all.extend(document.arguments(block));
                    all.extend(handed_out(document, block));
                }
                // Values of an opaque type may hold a memref, so they are kept. Numbers are not.
                all.retain(|&value| {
                    let ty = document.ty(value);
                    ty.may_be_memory() || matches!(ty, crate::Type::Opaque(_))
                });
                self.join_all(&all);
            }
        }
    }

    /// Joins values of two lists that have the same position.
    fn join_positions(&mut self, left: &[ValueId], right: &[ValueId]) {
        for (&l, &r) in left.iter().zip(right) {
            self.join(l, r);
        }
    }

    /// Joins every result of a call with the operands that it may be, as the summary of the called function says. A
    /// result of a function that has no summary may be any operand, and memory from elsewhere as well.
    fn call_aliases(&mut self, op: OpId, done: &Summaries) {
        let document = self.document;
        let operands = document.operands(op).to_vec();
        for (index, &result) in document.results(op).iter().enumerate() {
            // Without a summary: all operands, and memory from elsewhere.
            let known = done.result(op, index).map(|(from, other)| (from.to_vec(), other));
            let (from, other) = known.unwrap_or(((0..operands.len()).collect(), true));
            for at in from {
                if let Some(&operand) = operands.get(at) {
                    self.join(operand, result);
                }
            }
            let class = self.classes.find(result);
            self.other[class] |= other;
        }
    }

    /// Adds what one op does to its operands: by the summary of the function that it calls, or else by its row. What
    /// is done by work that may outlast the function is also noted as pending.
    fn accesses(&mut self, op: OpId, done: &Summaries, ends: &Ends) {
        let document = self.document;
        let operands = document.operands(op);
        let mut touched: Vec<(ValueId, Effect)> = Vec::new();
        match done.call(op) {
            Some(effects) => touched.extend(operands.iter().copied().zip(effects.iter().copied())),
            None => {
                row_accesses(document, op, |value, access| touched.push((value, Effect::of(access))));
                touched.extend(self.escaping(op).into_iter().map(|value| (value, Effect::ESCAPES)));
            }
        }
        for &(value, effect) in &touched {
            self.touch(value, effect);
        }
        // The op itself may be part of work that outlasts the function.
        if let Some(token) = ends.of_accesses(op) {
            self.pending.extend(touched.iter().map(|&(value, effect)| (value, effect, token)));
        }
        // Work that the callee has started and not awaited may also outlast this function.
        for work in done.pending(op) {
            let Some(token) = ends.of_call(op, work.token) else { continue };
            let values = work.touches.iter().filter_map(|&(at, effect)| Some((*operands.get(at)?, effect, token)));
            self.pending.extend(values);
        }
    }

    /// The values that the function loses sight of at an op that calls no function with a summary: the op's operands
    /// that may be memory, and what its regions use. Work that runs on after the op is not asked for here (only
    /// kernels on streams are), because it is listed as pending.
    fn escaping(&self, op: OpId) -> Vec<ValueId> {
        let document = self.document;
        // Tensors are not followed here, so memory that becomes a tensor is hidden in it.
        let hidden = makes_handle(document, op, |value| is_memory(document, Subject::Buffers, value));
        let hidden = hidden || launches_on_stream(document, op);
        let lost = hidden || is_unclear_branch(document, op, self.unclear_blocks) || self.leaves_unknown_region(op);
        if !lost {
            return Vec::new();
        }
        // Ids are in pre-order, so the ops inside of an op are those from the next id to `last_inside`.
        let ops = (op.index()..self.last_inside[op].index() + 1).map(OpId::from_index);
        let used = ops.flat_map(|op| document.operands(op).iter().copied());
        // A summary serves kernels as well, whose other ops follow tensors as the memory they stand for. So a tensor
        // that is lost sight of is reported, too.
        used.filter(|&value| is_memory(document, Subject::Kernels, value)).collect()
    }

    /// Whether an op is the last of a region and may hand its operands to code that is not seen: the region belongs to
    /// an op of which it is not known how values pass, or the op itself is not known and stands where a function
    /// returns.
    fn leaves_unknown_region(&self, op: OpId) -> bool {
        let document = self.document;
        let Some(parent) = document.parent_op(op).filter(|_| is_last(document, op)) else {
            return false;
        };
        let (info, flow) = (document.info(op), document.info(parent).flow);
        let unknown = flow == Flow::Unknown || document.control(parent) == Control::Unknown;
        match info.traits.has(Traits::RETURN_LIKE) {
            true => unknown,
            false => !info.known && (unknown || flow == Flow::Function),
        }
    }
}
