//! Values that come from what stands further down in the text.
//!
//! Blocks may be printed before the blocks that dominate them:
//!
//! ```text
//!   cf.br ^bb2
//! ^bb1:
//!   %view = memref.subview %a …     %a is not lowered yet when this is
//!   …
//! ^bb2:
//!   %a = memref.alloc()
//!   cf.br ^bb1
//! ```
//!
//! `%view` is lowered as unknown memory at first and noted. When everything is lowered, it becomes any of its sources,
//! or external memory. The bytes that it covers are not computed: such texts are rare.
//!
//! In code that control never reaches, values may come from each other in a circle, which a program must not have. The
//! sources of a late value that leads to such a circle stay unnamed; nothing ever reads the value.

use super::*;

impl Lowering<'_> {
    /// If a source is not lowered yet: what `value` is until [`Self::name_late_sources`] says more. `None` if all
    /// sources can be named at once.
    pub(super) fn named_later(&mut self, value: ValueId, sources: &[ValueId]) -> Option<Origin> {
        if sources.iter().all(|&source| self.is_settled(source)) {
            return None;
        }
        self.late.push((value, sources.to_vec()));
        Some(Origin::Opaque(Box::new([])))
    }

    /// Names the sources of all late values. Everything that is ever lowered has been.
    pub(super) fn name_late_sources(&mut self) {
        let late = std::mem::take(&mut self.late);
        if late.is_empty() {
            return;
        }
        let mut values = Vec::new();
        for (value, sources) in late {
            let sources = sources.into_iter().map(|source| self.value(source)).collect();
            let value = self.value(value);
            self.builder.set_origin(value, Origin::Opaque(sources));
            values.push(value);
        }
        let is_circular = circular(&self.builder);
        for value in values.into_iter().filter(|value| is_circular[value.index()]) {
            self.builder.set_origin(value, Origin::Opaque(Box::new([])));
        }
    }
}

/// Which values lead to a circle of values that come from each other: a depth-first search with an explicit stack of
/// values and the position of their next source.
fn circular(builder: &ProgramBuilder) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    // `New` has not been reached, `Open` is on the way from `start` to the value that is looked at, `Done` has been
    // looked at with everything that it comes from. A source that is `Open` closes a circle.
    let count = builder.value_count();
    let (mut states, mut is_circular) = (vec![State::New; count], vec![false; count]);
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for start in 0..count {
        if states[start] == State::New {
            stack.push((start, 0));
        }
        while let Some((value, next)) = stack.pop() {
            states[value] = State::Open;
            let sources = match builder.origin(program::ValueId::from_index(value)) {
                Some(Origin::Derived { base, .. }) => std::slice::from_ref(base),
                Some(Origin::Merged(sources) | Origin::Opaque(sources)) => sources,
                _ => &[],
            };
            // A source that was looked at leads to a circle: so does this value.
            if let Some(last) = next.checked_sub(1) {
                is_circular[value] |= is_circular[sources[last].index()];
            }
            let Some(source) = sources.get(next).map(|source| source.index()) else {
                states[value] = State::Done;
                continue;
            };
            // The value comes back on top of the stack when its source is done, and then looks at the next source.
            stack.push((value, next + 1));
            match states[source] {
                State::New => stack.push((source, 0)),
                State::Open => is_circular[value] = true,
                State::Done => {}
            }
        }
    }
    is_circular
}
