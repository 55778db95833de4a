//! The types of an op's results.
//!
//! The generic form lists them. A custom form lists them behind `->`, or last,
//! or tells them some other way, or not at all; a table row says which
//! ([`ResultTypes`]).
//!
//! The *frame* of an op (`OpFrame`; not the frame of the glossary) is the reader's record of an op that is being read.
//! The parts of the op lie on the reader's *side stacks*: `self.uses` holds the values it uses, `self.type_spans` its
//! types, and so on, and `frame.uses` says where those of this op begin.

use smallvec::{SmallVec, smallvec};

use super::*;
use crate::dialect::ResultTypes;

/// Types of results, each with where it is written; most ops have one.
pub(super) type ResultList = SmallVec<[(TypeId, Span); 4]>;

/// Places of types in the text; an empty span stands for a type that is not written.
type Spans = SmallVec<[Span; 4]>;

impl Reader<'_> {
    /// The type of each of an op's results and where it is written.
    pub(super) fn result_types(&mut self, frame: &OpFrame) -> Result<ResultList> {
        match &frame.state {
            State::Generic(_) => self.generic_result_types(frame).map(SmallVec::from_vec),
            State::Custom(progress) => {
                let arrow = progress.arrow;
                let function = progress.function_type;
                let asynchronous = progress.asynchronous;
                Ok(self.custom_result_types(frame, arrow, function, asynchronous))
            }
        }
    }

    /// The types of a custom form's results, by the rule of its row. `arrow` is where the types behind `->` begin
    /// among all types of the op, `function` the whole type behind `:`, and `asynchronous` says whether the form says
    /// `async`.
    fn custom_result_types(
        &mut self,
        frame: &OpFrame,
        arrow: Option<usize>,
        function: Span,
        asynchronous: bool,
    ) -> ResultList {
        let count = self.named_results(frame);
        if count == 0 {
            return ResultList::new();
        }
        let all = &self.type_spans[frame.types..];
        // The types that are listed for the results: those behind `->`, or without an arrow the last ones, as many as
        // there are results.
        let listed = match arrow {
            // If the list behind the arrow of an unknown form has another length than the op has results, the form
            // means something else by the arrow, and the types of the results are unknown.
            Some(arrow) if !self.info(frame).known && all.len().saturating_sub(arrow) != count => &[],
            Some(arrow) => &all[arrow.min(all.len())..],
            None => &all[all.len() - count.min(all.len())..],
        };
        let rule = self.info(frame).result_types;
        // Without an arrow and without a row, the types may be those of the operands. `doubt` looks at these ops
        // again.
        let is_guess = arrow.is_none() && (!self.info(frame).known || self.info(frame).is_unlisted());
        // Most ops have one result and write its type, and then no lists are made.
        if let (1, ResultTypes::Listed, false, &[span]) = (count, rule, is_guess, listed)
            && span != Span::default()
        {
            return smallvec![(self.written_type(span), span)];
        }
        let (all, listed) = (Spans::from_slice(all), Spans::from_slice(listed));
        if is_guess {
            self.guessed.push(frame.op);
        }
        // First the types that the text writes, by the rule; an empty span stands for a type that is not written.
        let spans: Spans = match rule {
            ResultTypes::Listed | ResultTypes::ListedOrBool => listed,
            ResultTypes::First => all.iter().take(1).copied().collect(),
            ResultTypes::Repeated => repeat(all.last().copied(), count),
            ResultTypes::Element | ResultTypes::Awaited => {
                let inside = all.last().and_then(|&span| self.inner_type(span));
                repeat(inside, count)
            }
            ResultTypes::ValueAndBool => all.last().copied().into_iter().collect(),
            ResultTypes::AsyncToken => {
                let values = count - usize::from(asynchronous).min(count);
                all.iter().take(values).copied().collect()
            }
            ResultTypes::Handles => Spans::new(),
            ResultTypes::TokenFirst if arrow.is_some() => {
                std::iter::once(Span::default()).chain(listed.iter().copied()).collect()
            }
            ResultTypes::Function => smallvec![function],
            ResultTypes::Index | ResultTypes::Bool | ResultTypes::Number | ResultTypes::TokenFirst => Spans::new(),
            ResultTypes::Outs => return self.outs_types(frame, count),
        };
        // Then the type of all results whose types are not written, which the rule implies.
        let rest = match rule {
            ResultTypes::Index => "index",
            ResultTypes::Bool | ResultTypes::ValueAndBool | ResultTypes::ListedOrBool => "i1",
            ResultTypes::Number => "a number",
            ResultTypes::AsyncToken => "!gpu.async.token",
            ResultTypes::TokenFirst => "!async.token",
            ResultTypes::Handles => "!gpu.handle",
            _ => "?",
        };
        let mut types = ResultList::with_capacity(count);
        for index in 0..count {
            let span = spans.get(index).copied().unwrap_or_default();
            let rest = match rule {
                ResultTypes::Handles if asynchronous && index + 1 == count => "!gpu.async.token",
                _ => rest,
            };
            let ty = if span == Span::default() { self.known_type(rest) } else { self.written_type(span) };
            types.push((ty, span));
        }
        types
    }

    /// The types of `count` results that are those of the operands in `outs(…)`, in order; unknown where there is no
    /// such operand.
    fn outs_types(&mut self, frame: &OpFrame, count: usize) -> ResultList {
        let groups = self.groups[frame.groups..].iter();
        let outs = groups.rev().find(|group| matches!(self.text(group.keyword), "outs"));
        // Without `outs` no operand is found below.
        let start = outs.map_or(usize::MAX, |group| group.start as usize);
        let operands = self.document.operands(frame.op).to_vec();
        let mut types = ResultList::with_capacity(count);
        for index in 0..count {
            let operand = start.checked_add(index).and_then(|at| operands.get(at));
            let known = operand.and_then(|&value| self.document.values.get(value));
            let ty = known.map(|value| value.ty);
            let ty = ty.unwrap_or_else(|| self.known_type("?"));
            types.push((ty, Span::default()));
        }
        types
    }
}

/// Takes back what was guessed, perhaps wrongly, about the results of ops that no table knows.
///
/// Without a `->` the last types of a form are taken for those of the results. In
/// `%v = acme.shift %a, %n : memref<8xf32>, index` they may be the types of the operands, and `%v` may be a part of
/// `%a`. So where an op takes memory, a result whose guessed type is not that of memory may be memory all the same, and
/// gets an unknown type. `guessed` lists the ops whose result types are guesses.
pub(super) fn doubt(document: &mut Document, mut guessed: Vec<OpId>) {
    guessed.sort_unstable();
    let mut unknown = None;
    // A result of unknown type counts as memory, so the ops that use it have to be looked at, too. Most of them come
    // later in the text and are reached in the same round.
    for round in 0..MOST_ROUNDS {
        let mut found = false;
        for &op in &guessed {
            let mut operands = document.operands(op).iter();
            // The last round doubts everything that is left, so that the rounds end.
            let takes_memory =
                round + 1 == MOST_ROUNDS || operands.any(|&operand| document.ty(operand).may_be_memory());
            if takes_memory {
                found |= doubt_results(document, op, &mut unknown);
            }
        }
        if !found {
            return;
        }
    }
}

/// Gives those results of an op whose type is not that of memory an unknown type, which may be memory. Says whether
/// there were any. `unknown` is the id of that type, made on first use.
fn doubt_results(document: &mut Document, op: OpId, unknown: &mut Option<TypeId>) -> bool {
    let mut found = false;
    for at in 0..document.results(op).len() {
        let result = document.results(op)[at];
        if !document.ty(result).may_be_memory() {
            let entry = TypeEntry { text: TypeText::Known("?"), chunk: 0, ty: Type::Unknown };
            document.values[result].ty = *unknown.get_or_insert_with(|| document.types.push(entry));
            found = true;
        }
    }
    found
}

/// In the last of so many rounds every guess that is left is doubted: in a text that names values long before it
/// defines them, each round would find one more, and there may be many.
const MOST_ROUNDS: usize = 8;

/// The same place `count` times; nothing if there is none.
fn repeat(span: Option<Span>, count: usize) -> Spans {
    span.map_or_else(Spans::new, |span| smallvec![span; count])
}
