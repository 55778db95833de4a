//! Which values are the same content.
//!
//! Views are the same content as what they view, and so is a value that control flow or a select
//! only ever takes from one other value:
//!
//! ```text
//! %x alloc            itself
//! %v view %x[4..8]    bytes 4..8 of %x
//! %w view %v[1..2]    bytes 5..6 of %x
//! %m merge %x | %x    %x
//! %n merge %x | %y    itself: it really is one or the other
//! ```
//!
//! A [`Window`] is a range of bytes, with whether the value is exactly these bytes or lies somewhere among them. The
//! *origin* of a value says what it is: an allocation, a view of another value, or one of several values.

use memplan_core::{Id, IndexVec};
use memplan_program::{ByteRange, Extent, Origin, Program, Value, ValueId};

use super::state::Window;

/// A value as part of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resolved {
    /// The allocated or merged value it is (part of).
    pub(super) root: ValueId,
    /// Bytes of the root it consists of.
    pub(super) part: Window,
}

/// All of the root.
const WHOLE: Window = Window { range: (0, u64::MAX), exact: true };

/// The values that each merged value may be. Values of other kinds have none.
#[derive(Debug)]
pub(super) struct Sources {
    /// Whether any value has some.
    pub(super) some: bool,
    /// The sources of each value; an empty list of lists if no value has any, as in most programs.
    of: IndexVec<ValueId, Vec<ValueId>>,
}

impl Sources {
    /// For every value, the values that it may be: those that control flow hands to it, and those that it is merged
    /// from.
    pub(super) fn new(program: &Program) -> Sources {
        let edges = program.incoming_edges();
        let is_merged = |value: &Value| matches!(value.origin, Origin::Merged(_) | Origin::Opaque(_));
        if edges.is_empty() && !program.values().iter().any(is_merged) {
            return Sources { some: false, of: IndexVec::new() };
        }
        let mut of: IndexVec<ValueId, Vec<ValueId>> = program.values().iter().map(|_| Vec::new()).collect();
        for (target, source) in edges {
            of[target].push(source);
        }
        for (id, value) in program.values().iter_enumerated() {
            if let Origin::Merged(sources) | Origin::Opaque(sources) = &value.origin {
                of[id] = sources.to_vec();
            }
        }
        Sources { some: true, of }
    }

    /// The values that a value may be.
    pub(super) fn of(&self, value: ValueId) -> &[ValueId] {
        self.of.get(value).map_or(&[], Vec::as_slice)
    }
}

/// For each value the root that it is (a part of): follows views, and values that only ever are one other value.
pub(super) fn resolve(program: &Program, sources: &Sources) -> IndexVec<ValueId, Resolved> {
    let mut aliases = Aliases { of: program.values().ids().map(|root| Resolved { root, part: WHOLE }).collect() };
    let may_be_another =
        |origin: &Origin| matches!(origin, Origin::Derived { .. } | Origin::Merged(_) | Origin::Incoming);
    if !program.values().iter().any(|value| may_be_another(&value.origin)) {
        return aliases.of;
    }
    for value in in_order_of_bases(program) {
        if let Origin::Derived { base, extent } = &program.value(value).origin {
            aliases.of[value] = part_of(aliases.of[*base], *extent);
        }
    }
    let values = program.values().iter_enumerated();
    let merged = values.filter(|(_, value)| matches!(value.origin, Origin::Merged(_) | Origin::Incoming));
    let mut open: Vec<ValueId> = merged.map(|(id, _)| id).collect();
    // `open` are the merged values that are not known to be an alias. Each pass may turn more of them into aliases,
    // since two sources may have become the same. In practice the third pass finds nothing. If eight passes are not
    // enough, some value keeps entries of its own in the state although it is an alias. That may reject a good plan and
    // never accepts a bad one.
    for _ in 0..8 {
        let before = open.len();
        open.retain(|&value| match aliases.only_source(value, sources.of(value)) {
            Some(source) => {
                aliases.of[value] = source;
                false
            }
            None => true,
        });
        if open.len() == before {
            break;
        }
    }
    program.values().ids().map(|value| aliases.find(value)).collect()
}

/// What each value is known to be a part of: a forest, flattened on the way as
/// in union-find. A value whose root is itself is the root of a tree.
struct Aliases {
    of: IndexVec<ValueId, Resolved>,
}

impl Aliases {
    /// The root of a value and the part of the root that it covers. What is found is remembered, so that long chains of
    /// views are followed once.
    fn find(&mut self, value: ValueId) -> Resolved {
        let mut found = self.of[value];
        // The root found so far has itself become an alias: go on from it, and count the part from the new root's
        // start.
        while self.of[found.root].root != found.root {
            let extent = match found.part {
                Window { range: (start, end), exact: true } => Extent::Exactly(ByteRange::new(start, end)),
                Window { range: (start, end), exact: false } => Extent::Within(ByteRange::new(start, end)),
            };
            found = part_of(self.of[found.root], extent);
        }
        self.of[value] = found;
        found
    }

    /// What a merged value always is, if all its sources other than itself are the same part of the same root; `None`
    /// if they differ or there are none.
    fn only_source(&mut self, value: ValueId, sources: &[ValueId]) -> Option<Resolved> {
        let mut only = None;
        for &source in sources {
            let found = self.find(source);
            // A loop that hands a value to itself adds nothing.
            if found == (Resolved { root: value, part: WHOLE }) {
                continue;
            }
            if only.is_some_and(|only| only != found) {
                return None;
            }
            only = Some(found);
        }
        // If the only source is a part of the value itself, the value is no alias of another one and stays a root.
        only.filter(|only| only.root != value)
    }
}

/// All values, each after the one it is a view of. From each value the chain of its bases is followed until a value
/// that is no view or is already listed, and then listed from its end.
fn in_order_of_bases(program: &Program) -> Vec<ValueId> {
    let mut done = vec![false; program.values().len()];
    let mut order = Vec::with_capacity(done.len());
    let mut chain = Vec::new();
    for start in program.values().ids() {
        let mut value = start;
        while !std::mem::replace(&mut done[value.index()], true) {
            chain.push(value);
            match &program.value(value).origin {
                Origin::Derived { base, .. } => value = *base,
                _ => break,
            }
        }
        // The chain leads from a view to its base; the base has to be listed first.
        order.extend(chain.drain(..).rev());
    }
    order
}

/// What a view is, given what its base is: the view's bytes, counted from the start of the root. If the place of the
/// base is not known exactly, neither is the place of the view, which then may be anywhere in the base's bytes.
fn part_of(base: Resolved, extent: Extent) -> Resolved {
    let Window { range: (start, end), exact } = base.part;
    let part = match extent {
        Extent::Exactly(range) | Extent::Within(range) if exact => {
            // No view reaches beyond its base.
            let at = |byte: u64| start.saturating_add(byte).min(end);
            let exact = matches!(extent, Extent::Exactly(_));
            Window { range: (at(range.start.0), at(range.end.0)), exact }
        }
        _ => Window { exact: false, ..base.part },
    };
    Resolved { root: base.root, part }
}
