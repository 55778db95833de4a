//! Work that runs beside the code: what starts it, and what waits for it. (Not the work of the glossary, which is a
//! unit of effort.)
//!
//! ```text
//!   %t = async.execute { … }        starts work; the token %t stands for it
//!   async.add_to_group %t, %g       the group %g stands for this work and all other work that is added to it
//!   async.await_all %g              waits for all work of the group
//!   omp.task { … }                  starts a task: work that no value stands for
//!   omp.taskwait                    waits for all tasks that the task around it has started
//! ```
//!
//! An op that waits for tasks, or an op at whose end tasks are waited for, *gathers* them ([`Gathers`]). A *team* is a
//! group of threads that run the same region (`omp.parallel`). Ids of ops are in the order of the text, an op before
//! the ops inside of it. So `later > op` says that `later` stands after `op` in the text, or inside of `op`.
//!
//! A function may start work and return before it is over; such work is [`Pending`]. Then an asynchronous op is added
//! behind every call of the function, which does to the call's operands what the work does to the function's arguments.
//! If the function returns the token of the work, the call's result is the token of that op.
//!
//! Work that nobody is known to wait for goes on to the end of the function. That assumption is always correct, but it
//! keeps buffers alive longer. It is made wherever the text does not show plainly who waits.

use std::collections::{BTreeMap, HashMap};

use memplan_core::Id;
use memplan_program::{Await, Control, OpDraft, TokenId};

use super::summary::Effect;
use super::{Lowering, index_of, is_last};
use crate::Type;
use crate::dialect::{self, Gathers, Traits};
use crate::document::{BlockId, Definition, Document, OpId, ValueId};

/// Work that was started in the function being lowered: the op that starts it, and the token that stands for it in
/// the program.
#[derive(Clone, Copy, Debug)]
struct Started {
    by: OpId,
    token: TokenId,
}

/// What stands for which work, in the function being lowered.
#[derive(Debug, Default)]
pub(super) struct Works {
    /// Values that stand for one piece of work.
    tokens: HashMap<ValueId, Started>,
    /// Groups, with all work that was added to each.
    groups: HashMap<ValueId, Vec<Started>>,
    /// Tasks, which no value stands for.
    tasks: Vec<Started>,
}

impl Document {
    /// How an op's regions run. Some ops run on in the background if a word such as `nowait` stands in their text, and
    /// some may be cancelled; then it is not known how the regions run.
    pub(crate) fn control(&self, op: OpId) -> dialect::Control {
        let info = self.info(op);
        match &info.detached_by {
            Some(word) if self.says(op, word) => dialect::Control::Unknown,
            _ if self.may_be_cancelled(op) => dialect::Control::Unknown,
            _ => info.control,
        }
    }

    /// Whether the regions of an op may end before their last op, because the text has an op of the same dialect that
    /// cancels constructs. Such an op can stand in another function: it cancels a task group of its caller, too, so
    /// every construct of the dialect is meant.
    fn may_be_cancelled(&self, op: OpId) -> bool {
        let dialect = |name: &str| name.split_once('.').map(|(dialect, _)| dialect.to_owned());
        // Most texts have no such op, and most ops no region.
        let mut cancelling = self.cancelling.iter().filter(|_| !self.regions(op).is_empty());
        cancelling.any(|&name| dialect(&self.names[name].name) == dialect(self.name(op)))
    }

    /// Whether a word stands in the text of an op outside its regions: before the first one or behind the last one.
    fn says(&self, op: OpId, word: &str) -> bool {
        let span = self.op(op).span;
        let regions = || self.regions(op).iter().map(|&region| self.region(region).span);
        let head = memplan_core::Span { end: regions().next().map_or(span.end, |region| region.start), ..span };
        let tail = memplan_core::Span { start: regions().next_back().map_or(span.end, |region| region.end), ..span };
        // `head` ends where the first region begins, `tail` begins where the last one ends. Without regions the tail is
        // empty.
        self.text(head).contains(word) || self.text(tail).contains(word)
    }

    /// The nearest op around this one that has one of these traits.
    fn around_with(&self, op: OpId, traits: &[Traits]) -> Option<OpId> {
        let mut around = std::iter::successors(self.parent_op(op), |&op| self.parent_op(op));
        around.find(|&op| traits.iter().any(|&one| self.info(op).traits.has(one)))
    }

    /// The task that an op is part of: an explicit task, or what a thread of a team or the function itself runs.
    fn task_around(&self, op: OpId) -> Option<OpId> {
        self.around_with(op, &[Traits::TASK, Traits::TEAM, Traits::FUNCTION])
    }

    /// The team of threads that runs an op; the function if no team is started inside of it.
    fn team_around(&self, op: OpId) -> Option<OpId> {
        self.around_with(op, &[Traits::TEAM, Traits::FUNCTION])
    }

    /// Whether a task has certainly ended before an op touches any memory.
    fn gathers(&self, op: OpId, task: OpId) -> bool {
        // Behind the last op of a region, the op around it may wait for the tasks that were started in the region. That
        // is as good as waiting before the last op if that is a terminator, which touches no memory. (A faulty text may
        // leave the terminator out.)
        let is_end = is_last(self, op) && self.info(op).traits.has(Traits::RETURN_LIKE);
        // The op around, if `op` is such a terminator.
        let at_the_end = self.parent_op(op).filter(|_| is_end);
        let inside = at_the_end
            .is_some_and(|around| self.info(around).gathers == Gathers::Inside && self.is_inside(task, around));
        inside
            || match self.info(op).gathers {
                Gathers::Children => self.task_around(op) == self.task_around(task),
                Gathers::Team => self.team_around(op) == self.team_around(task),
                Gathers::Nothing | Gathers::Inside => false,
            }
    }

    /// Whether `op` lies in a region of `outer`, at any depth.
    fn is_inside(&self, op: OpId, outer: OpId) -> bool {
        std::iter::successors(self.parent_op(op), |&op| self.parent_op(op)).any(|around| around == outer)
    }
}

impl Lowering<'_> {
    /// Makes the program's token for the work that an asynchronous op starts, and remembers that the op's results
    /// stand for it.
    pub(super) fn start_work(&mut self, op: OpId) -> TokenId {
        let document = self.document;
        let name = document.results(op).first().map(|&token| self.value_name(token));
        let token = self.builder.token(name.as_deref().unwrap_or(""));
        let started = Started { by: op, token };
        self.works.tokens.extend(document.results(op).iter().map(|&result| (result, started)));
        if document.info(op).traits.has(Traits::TASK) {
            self.works.tasks.push(started);
        }
        token
    }

    /// Remembers that an op such as `async.add_to_group` adds work to a group. Does nothing for other ops.
    pub(super) fn join_group(&mut self, op: OpId) {
        let document = self.document;
        if let &[work, group] = document.operands(op)
            && document.info(op).traits.has(Traits::JOINS_GROUP)
            && let Some(&started) = self.works.tokens.get(&work)
            // The work must be started and added to the group in the same block. Otherwise it may be started more often
            // than it is added, and the group does not stand for all of it.
            && document.op(started.by).parent == document.op(op).parent
        {
            self.works.groups.entry(group).or_default().push(started);
        }
    }

    /// The work that has ended before an op runs: what its operands stand for if it waits for them, and the tasks
    /// that it gathers.
    pub(super) fn awaited(&self, op: OpId) -> Vec<Await> {
        let document = self.document;
        let mut awaited = Vec::new();
        if document.info(op).traits.has(Traits::AWAITS) {
            for value in document.operands(op) {
                // A token stands for the work that was started last with it. A group stands for all its work, however
                // often a loop has started it, and so does an op that gathers tasks: `every`.
                let one = self.works.tokens.get(value);
                awaited.extend(one.map(|started| Await { token: started.token, every: false }));
                let members = self.works.groups.get(value).into_iter().flatten();
                let members = members.filter(|member| self.is_whole_group(op, *value, member));
                awaited.extend(members.map(|member| Await { token: member.token, every: true }));
            }
        }
        let ended = self.works.tasks.iter().filter(|task| document.gathers(op, task.by));
        awaited.extend(ended.map(|task| Await { token: task.token, every: true }));
        awaited
    }

    /// Whether an op that waits for a group waits for all work that one member of the group has started. That is so if
    /// the group is made in the same block as `op`, and the work is started between the two. Otherwise (the group is
    /// made outside of a loop around `op`, for example) the work may be started again after `op`, or may have been
    /// added to another instance of the group.
    fn is_whole_group(&self, op: OpId, group: ValueId, member: &Started) -> bool {
        let document = self.document;
        let Definition::Result { op: made, .. } = document.value(group).definition else { return false };
        document.op(made).parent == document.op(op).parent && made < member.by && member.by < op
    }

    /// Adds, behind a call, an asynchronous op for each piece of work that the callee has started and not awaited. Does
    /// nothing for an op that calls no function of the text, and for a function that leaves no work behind.
    pub(super) fn pending_work(&mut self, call: OpId) {
        let document = self.document;
        for work in self.summaries.pending(call).to_vec() {
            let operands = document.operands(call);
            // The argument at a position is the operand of the call at the same position. A faulty call may have too
            // few operands. Operands that are no memory, such as numbers, have no bytes that the work could touch.
            let touched = work.touches.iter().filter_map(|&(at, effect)| Some((*operands.get(at)?, effect)));
            let touched: Vec<(ValueId, Effect)> = touched.filter(|(value, _)| self.is_memory(*value)).collect();
            // The callee's work is not visible here, so it is written down as an asynchronous op with one op inside
            // that does everything at once.
            let outside = OpDraft::new(document.shared_name(call)).span(document.op(call).span);
            let mut inside = outside.clone();
            let token = self.builder.token("");
            // If the function returns the token of the work, an op that awaits the call's result awaits the work.
            if let Some(&result) = work.token.and_then(|at| document.results(call).get(at)) {
                self.works.tokens.insert(result, Started { by: call, token });
            }
            for (value, effect) in touched {
                for kind in effect.accesses() {
                    inside = inside.access(self.value(value), kind);
                }
            }
            self.builder.open_op(outside.control(Control::Async { token }));
            self.builder.open_region(&[]);
            self.builder.push(inside);
            self.builder.leave(&[]);
            self.builder.close_region();
            self.builder.close_op();
            // Two ops of the program (`outside` and `inside`) stand for one op of the text here, and `ops` has an entry
            // for each. (`leave` ends the region and hands no values on; it is no op.)
            self.ops.push(call);
            self.ops.push(call);
        }
    }
}

/// When work that is started in a function is over, as its callers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Before the function returns.
    Inside,
    /// When whatever the result at this position stands for is awaited.
    Result(usize),
    /// It is not known when the work ends.
    Never,
}

impl End {
    /// The end of work that is part of other work: it is over only when both are. If two different results stand for
    /// them, no single result stands for both.
    fn and(self, other: End) -> End {
        match (self, other) {
            (End::Inside, end) | (end, End::Inside) => end,
            (one, other) if one == other => one,
            _ => End::Never,
        }
    }
}

/// Work that a function starts and does not await, or several pieces of such work that end together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    /// The position of the function's result that stands for the work, if one does.
    pub(super) token: Option<usize>,
    /// What the work does to which argument, by the argument's position.
    pub(super) touches: Vec<(usize, Effect)>,
}

/// For the ops of one function: when the work they are part of is over.
pub(super) struct Ends<'d> {
    document: &'d Document,
    function: OpId,
    /// What the function returns; empty if it has several blocks, because then it may return different values.
    returned: &'d [ValueId],
    /// For each op from the function on, in the order of the text: when the work that it is part of is over.
    around: Vec<End>,
    /// Tokens and groups, with the ops that await them and the block of each of these ops.
    awaited: HashMap<ValueId, Vec<(BlockId, OpId)>>,
    /// Ops that wait for tasks, and ops at the end of a region whose op waits for the tasks in it.
    gathering: Vec<OpId>,
}

impl<'d> Ends<'d> {
    /// Finds the ops of a function that wait for work, and for every op when the work that it is part of is over.
    /// `last` is the last op inside of the function.
    pub(super) fn new(document: &'d Document, function: OpId, last: OpId) -> Ends<'d> {
        let mut ends = Ends {
            document,
            function,
            returned: returned(document, function),
            around: Vec::new(),
            awaited: HashMap::new(),
            gathering: Vec::new(),
        };
        let ops = (index_of(function)..index_of(last) + 1).map(OpId::from_index);
        // First all ops that wait are collected, because work may be awaited by an op that comes later in the text.
        for op in ops.clone() {
            ends.note_waiting(op);
        }
        // An op comes before the ops inside it, so the answer for its parent is known when it is needed. The function
        // itself is part of no work, whatever is around it.
        for op in ops {
            let parent = document.parent_op(op).filter(|&parent| parent >= function);
            let around = parent.map_or(End::Inside, |parent| ends.around(parent).and(ends.of_regions(parent)));
            ends.around.push(around);
        }
        ends
    }

    /// Notes an op that awaits values, that waits for tasks, or at which a region ends that waits for its tasks.
    fn note_waiting(&mut self, op: OpId) {
        let document = self.document;
        let info = document.info(op);
        if info.traits.has(Traits::AWAITS) {
            for &value in document.operands(op) {
                self.awaited.entry(value).or_default().push((document.op(op).parent, op));
            }
        }
        if info.gathers != Gathers::Nothing || (is_last(document, op) && self.is_inside_gathering(op)) {
            self.gathering.push(op);
        }
    }

    /// Whether the op around this one waits at its end for the tasks that were started in it.
    fn is_inside_gathering(&self, op: OpId) -> bool {
        let around = self.document.parent_op(op);
        around.is_some_and(|around| self.document.info(around).gathers == Gathers::Inside)
    }

    /// When the work that an op is part of is over.
    fn around(&self, op: OpId) -> End {
        self.around[index_of(op) - index_of(self.function)]
    }

    /// Whether an op's own accesses may happen after the function has returned. `None` if they cannot; `Some(Some(at))`
    /// if the function's result at position `at` stands for them, so that awaiting it awaits them; `Some(None)` if no
    /// result of the function does.
    pub(super) fn of_accesses(&self, op: OpId) -> Option<Option<usize>> {
        // The accesses of an op whose regions run in an unknown way may be as late as its regions. An op that gives a
        // GPU token only starts work.
        let late = self.document.control(op) == dialect::Control::Unknown && !self.document.regions(op).is_empty();
        let own = match late || self.hands_out_gpu_token(op) {
            true => self.of_regions(op),
            false => End::Inside,
        };
        outliving(self.around(op).and(own))
    }

    /// As [`Self::of_accesses`], for work that the function called by `call` has started. `token` is the position of
    /// the call's result that stands for the work, if one does; without one nobody can wait for it.
    pub(super) fn of_call(&self, call: OpId, token: Option<usize>) -> Option<Option<usize>> {
        let token = token.and_then(|at| self.document.results(call).get(at));
        let own = token.map_or(End::Never, |&token| self.of_token(call, &[token]));
        outliving(self.around(call).and(own))
    }

    /// When the regions of an op have ended. They may run as work of their own.
    fn of_regions(&self, op: OpId) -> End {
        let document = self.document;
        // A task that may be cancelled counts as work of which nothing is known: control may leave the code around it
        // before the op that waits for it.
        let is_known = document.control(op) != dialect::Control::Unknown;
        if document.info(op).traits.has(Traits::TASK) && is_known {
            // A task is over if some op behind it gathers it.
            // Whether the op `at` comes behind the task and waits for it.
            let ends = |&at: &OpId| at > op && self.is_behind(at, op) && document.gathers(at, op);
            return if self.gathering.iter().any(ends) { End::Inside } else { End::Never };
        }
        match document.control(op) {
            dialect::Control::Async => self.of_token(op, document.results(op)),
            dialect::Control::Unknown if !document.regions(op).is_empty() => End::Never,
            _ if self.hands_out_gpu_token(op) => self.of_token(op, document.results(op)),
            _ => End::Inside,
        }
    }

    /// When the work that these values stand for is over: inside of the function if the block that starts the work
    /// also awaits it; with a result of the function if it returns one of the values. The block of the function
    /// itself runs once; work started in an inner block may be started several times, and a returned token would
    /// stand for the last start only.
    fn of_token(&self, start: OpId, tokens: &[ValueId]) -> End {
        let block = self.document.op(start).parent;
        // The ops that wait for a token, with their blocks.
        let awaits = |token| self.awaited.get(token).into_iter().flatten();
        if tokens.iter().flat_map(awaits).any(|&(at, op)| at == block && op > start) {
            return End::Inside;
        }
        let outermost = self.document.block_parent(block) == Some(self.function);
        let position = self.returned.iter().position(|value| tokens.contains(value));
        position.filter(|_| outermost).map_or(End::Never, End::Result)
    }

    /// Whether control comes past `later` after it has come past `op`: `later` stands behind `op` in the same block,
    /// or behind an op that contains `op`.
    fn is_behind(&self, later: OpId, op: OpId) -> bool {
        let block = self.document.op(later).parent;
        let mut around = std::iter::successors(Some(op), |&op| self.document.parent_op(op));
        around.any(|around| self.document.op(around).parent == block && around < later)
    }

    /// Whether an op gives back a `!gpu.async.token`, so that its work goes on until somebody waits for the token. A
    /// wait gives back such a token too, but starts no work.
    fn hands_out_gpu_token(&self, op: OpId) -> bool {
        let document = self.document;
        let token = |value: &ValueId| matches!(document.ty(*value), Type::Opaque(text) if text == "!gpu.async.token");
        document.results(op).iter().any(token) && !document.info(op).traits.has(Traits::AWAITS)
    }
}

/// Whether work goes on when the function has returned. `None` if it does not; `Some(Some(at))` if the function's
/// result at position `at` stands for the work; `Some(None)` if no result does.
fn outliving(end: End) -> Option<Option<usize>> {
    match end {
        End::Inside => None,
        End::Result(at) => Some(Some(at)),
        End::Never => Some(None),
    }
}

/// What a function of one block returns; nothing for a function with several blocks.
fn returned(document: &Document, function: OpId) -> &[ValueId] {
    let blocks = document.regions(function).first().map_or(&[][..], |&body| document.blocks(body));
    let last = match blocks {
        [block] => document.ops(*block).last(),
        _ => None,
    };
    let returns = |op: &&OpId| document.info(**op).traits.has(Traits::RETURN_LIKE);
    last.filter(returns).map_or(&[], |&op| document.operands(op))
}

/// Puts together what pending work does to the arguments, in one [`Pending`] for each result that stands for work and
/// one for all work that no result stands for. `touched` and `parameters` name each value by the representative of
/// its class; what is done to a class that holds no parameter is left out, since no caller can see it.
pub(super) fn by_token(touched: &[(ValueId, Effect, Option<usize>)], parameters: &[ValueId]) -> Vec<Pending> {
    let mut works: BTreeMap<Option<usize>, Vec<Effect>> = BTreeMap::new();
    for &(class, effect, token) in touched {
        let effects = works.entry(token).or_insert_with(|| vec![Effect::default(); parameters.len()]);
        // Several parameters may be in one class; then the effect may concern each of them.
        let same = effects.iter_mut().zip(parameters).filter(|(_, parameter)| **parameter == class);
        same.for_each(|(known, _)| known.add(effect));
    }
    // The arguments to which something is done, by position.
    let touches = |effects: Vec<Effect>| {
        let touched = effects.into_iter().enumerate().filter(|(_, effect)| *effect != Effect::default());
        touched.collect()
    };
    let works = works.into_iter().map(|(token, effects)| Pending { token, touches: touches(effects) });
    works.filter(|work| !work.touches.is_empty()).collect()
}
