//! The types of an op's results.
//!
//! The generic form lists them. A custom form lists them behind `->`, or last,
//! or tells them some other way, or not at all; a table row says which
//! ([`ResultTypes`]).

use smallvec::{SmallVec, smallvec};

use super::*;
use crate::dialect::ResultTypes;

/// Types of results, each with where it is written; most ops have one.
pub(super) type ResultList = SmallVec<[(TypeId, Span); 4]>;

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
        let all = Spans::from_slice(&self.type_spans[frame.types..]);
        let listed = match arrow {
            // A list that is not understood says nothing about the results.
            Some(arrow) if !self.info(frame).known && all.len().saturating_sub(arrow) != count => &[],
            Some(arrow) => &all[arrow.min(all.len())..],
            None => &all[all.len() - count.min(all.len())..],
        };
        let rule = self.info(frame).result_types;
        let spans: Spans = match rule {
            ResultTypes::Listed | ResultTypes::ListedOrBool => Spans::from_slice(listed),
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
            ResultTypes::TokenFirst if arrow.is_some() => {
                std::iter::once(Span::default()).chain(listed.iter().copied()).collect()
            }
            ResultTypes::Function => smallvec![function],
            ResultTypes::Index | ResultTypes::Bool | ResultTypes::Number | ResultTypes::TokenFirst => Spans::new(),
            ResultTypes::Outs => return self.outs_types(frame, count),
        };
        let rest = match rule {
            ResultTypes::Index => "index",
            ResultTypes::Bool | ResultTypes::ValueAndBool | ResultTypes::ListedOrBool => "i1",
            ResultTypes::Number => "a number",
            ResultTypes::AsyncToken => "!gpu.async.token",
            ResultTypes::TokenFirst => "!async.token",
            _ => "?",
        };
        let mut types = ResultList::with_capacity(count);
        for index in 0..count {
            let span = spans.get(index).copied().unwrap_or_default();
            let ty = if span == Span::default() { self.known_type(rest) } else { self.written_type(span) };
            types.push((ty, span));
        }
        types
    }

    /// The types of the operands in `outs(…)`.
    fn outs_types(&mut self, frame: &OpFrame, count: usize) -> ResultList {
        let groups = self.groups[frame.groups..].iter();
        let outs = groups.rev().find(|group| matches!(self.text(group.keyword), "outs"));
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

fn repeat(span: Option<Span>, count: usize) -> Spans {
    span.map_or_else(Spans::new, |span| smallvec![span; count])
}
