//! Which value a name means.
//!
//! Names are visible in the region that defines them and in the regions inside it, up to an op that is isolated from
//! above (a function, a module), inside which nothing outside is visible. A use may stand before its definition: in
//! another block, or in a region whose ops need not be in order (a module's, an unknown op's). Such a use *waits*: it
//! is kept in a list of its region until the definition is read. If the region ends without a definition, the use moves
//! to the list of the region around it.
//!
//! ```text
//! a use                     is looked up among the names of its isolated scope
//! a use that is not found   waits in the innermost open region
//! a definition              gives its value to the uses that wait in its own region. A use that waits in
//!                           the same block stands too early if ops run in order there: that is an error
//!                           in a known form; an unknown form may mean something else by the name, and
//!                           does not get the value
//! a region ends             its names are not visible any more; uses that still wait move to the parent
//! an isolated region ends   uses of known forms that still wait are errors
//! ```
//!
//! A name in an unknown form that becomes an argument of the op's region may also be a use of a value outside. Such a
//! use is *doubtful*: it waits like any other, and is dropped at the end of the text if no definition was found.
//!
//! Moving the smaller set of waiting uses into the larger keeps the time for n uses
//! within n log n, however deep regions nest.
//!
//! (A scope is here a part of the text in which a name has one meaning, not the scope of the glossary.) The *frame* of
//! an op is the reader's record of an op that is being read; `self.uses[frame.uses..]` are the values that it uses, and
//! `self.results[frame.results..]` the names in front of its `=`.

use memplan_core::Span;
use smallvec::SmallVec;

use super::*;

/// The values a name stands for: `count` results from `first` on.
#[derive(Clone, Copy)]
struct Named {
    first: ValueId,
    count: u32,
    /// How deep the region that defines it is nested.
    depth: u32,
}

/// A use that was read before its definition.
struct Waiting {
    /// Where the operand stands in the operand pool; its value is written there later.
    operand: u32,
    /// The 1 of `%x#1`.
    index: u32,
    span: Span,
    /// Whether it stands in a known form, so that it is an error if no definition is found.
    known: bool,
    /// Whether it is dropped without a word if no definition is found ([`Use::doubtful`]).
    doubtful: bool,
}

/// A region that is being read.
#[derive(Default)]
struct Open<'s> {
    /// Names that the region defines, each with what it meant before; undone at the end of the region.
    names: Vec<(&'s str, Option<Named>)>,
    /// Uses in the block that is being read.
    waiting: HashMap<&'s str, Vec<Waiting>>,
    /// Uses in the blocks before it.
    older: HashMap<&'s str, Vec<Waiting>>,
    isolated: bool,
    /// Whether its ops run one after the other.
    ordered: bool,
}

/// All names that are visible at the place being read, and the uses that wait for a definition.
#[derive(Default)]
pub(super) struct Scopes<'s> {
    /// What each name means, one map for each isolated region that is open. Only the last one is visible.
    maps: Vec<HashMap<&'s str, Named>>,
    /// The regions that are open, innermost last.
    open: Vec<Open<'s>>,
}

impl<'s> Scopes<'s> {
    /// Opens a region. In an `isolated` one no name from outside is visible; in an `ordered` one ops run one after
    /// the other, so that a block must define a name before it uses it.
    pub(super) fn enter(&mut self, isolated: bool, ordered: bool) {
        if isolated {
            self.maps.push(HashMap::default());
        }
        self.open.push(Open { isolated, ordered, ..Open::default() });
    }

    /// Begins a new block: what waits in the block before is no error any more if a definition follows.
    pub(super) fn begin_block(&mut self) {
        if let Some(open) = self.open.last_mut() {
            merge_waiting(&mut open.older, std::mem::take(&mut open.waiting));
        }
    }

    /// What a name means here.
    fn lookup(&self, name: &str) -> Option<Named> {
        self.maps.last()?.get(name).copied()
    }

    /// Whether a name has a meaning here.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.lookup(name).is_some()
    }

    /// Makes a name stand for `count` values from `first` on. The flag that is given is false if the name has been
    /// defined before, in this region or in one around it. The flag is true all the same if a region without order (a
    /// module's, an unknown op's) lies between the two definitions, because an unknown op may be isolated from above
    /// without our knowing.
    fn define(&mut self, name: &'s str, first: ValueId, count: u32) -> (Named, bool) {
        let depth = self.open.len() as u32;
        let named = Named { first, count, depth };
        let (Some(map), Some(open)) = (self.maps.last_mut(), self.open.last_mut()) else {
            return (named, true);
        };
        let before = map.insert(name, named);
        open.names.push((name, before));
        // Whether a region without order lies between the old definition and this one. `depth` counts the regions
        // that were open at the old definition.
        let may_hide = |before: Named| self.open[before.depth as usize..].iter().any(|open| !open.ordered);
        (named, before.is_none_or(may_hide))
    }

    /// Takes the uses that wait for a name out of the innermost region: first those that get the value, then those
    /// that stand too early for it (in the same block, where ops run in order).
    fn take_waiting(&mut self, name: &str) -> (Vec<Waiting>, Vec<Waiting>) {
        let Some(open) = self.open.last_mut() else { return (Vec::new(), Vec::new()) };
        // Most of the time nothing waits. Asking this first saves hashing the name, which costs more.
        if open.waiting.is_empty() && open.older.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let in_block = open.waiting.remove(name).unwrap_or_default();
        let (mut waiting, too_early) = if open.ordered { (Vec::new(), in_block) } else { (in_block, Vec::new()) };
        waiting.append(&mut open.older.remove(name).unwrap_or_default());
        (waiting, too_early)
    }

    /// Ends the innermost region. Gives the uses that still wait at the end of an isolated region, in the order of
    /// the text; of other regions they move to the region around, and the list is empty.
    fn leave(&mut self) -> Vec<(&'s str, Waiting)> {
        let Some(mut closed) = self.open.pop() else {
            return Vec::new();
        };
        merge_waiting(&mut closed.waiting, closed.older);
        if closed.isolated {
            self.maps.pop();
            return in_text_order(closed.waiting);
        }
        // Definitions are undone from the last to the first, so that a name that was defined twice gets its oldest
        // meaning back.
        if let Some(map) = self.maps.last_mut() {
            for (name, before) in closed.names.into_iter().rev() {
                match before {
                    Some(named) => map.insert(name, named),
                    None => map.remove(name),
                };
            }
        }
        if let Some(parent) = self.open.last_mut() {
            merge_waiting(&mut parent.waiting, closed.waiting);
        }
        Vec::new()
    }
}

/// Uses in the order of the text: a hash map has no order, and which error is reported must not depend on it.
fn in_text_order(waiting: HashMap<&str, Vec<Waiting>>) -> Vec<(&str, Waiting)> {
    let pairs = waiting.into_iter().flat_map(|(name, uses)| uses.into_iter().map(move |one| (name, one)));
    let mut all: Vec<(&str, Waiting)> = pairs.collect();
    all.sort_by_key(|(_, one)| one.span.start);
    all
}

/// Puts two sets of waiting uses together. The smaller one goes into the larger one, so that many nested regions do not
/// move the same uses again and again.
#[expect(clippy::iter_over_hash_type, reason = "the order of a union does not show")]
fn merge_waiting<'s>(into: &mut HashMap<&'s str, Vec<Waiting>>, mut from: HashMap<&'s str, Vec<Waiting>>) {
    if from.len() > into.len() {
        std::mem::swap(into, &mut from);
    }
    for (name, mut uses) in from {
        let there = into.entry(name).or_default();
        if uses.len() > there.len() {
            std::mem::swap(there, &mut uses);
        }
        there.append(&mut uses);
    }
}

impl Reader<'_> {
    /// Looks up the values that an op uses and makes them its operands. `known` says whether the op's form is known,
    /// so that a name without a definition is an error.
    pub(super) fn resolve_operands(&mut self, frame: &OpFrame, known: bool) -> Result<()> {
        let start = self.document.operand_pool.len();
        for at in frame.uses..self.uses.len() {
            let one = self.uses[at];
            let value = self.resolve_use(one, known)?;
            self.document.operand_pool.push(value);
            if value == placeholder() && one.doubtful && self.doubtful.last() != Some(&frame.op) {
                self.doubtful.push(frame.op);
            }
        }
        self.uses.truncate(frame.uses);
        self.document.ops[frame.op].operands = pool_range(start, self.document.operand_pool.len());
        Ok(())
    }

    /// The value of a name. If the name means nothing yet, the use waits for its definition, and a placeholder is
    /// given instead of the value. The caller has to put the result at the end of `operand_pool` before anything else is
    /// put there: that is the place where the value will replace the placeholder.
    fn resolve_use(&mut self, one: Use, known: bool) -> Result<ValueId> {
        let name = self.text(one.name);
        let known = known && !one.doubtful;
        if let Some(named) = self.scopes.lookup(name) {
            match pick(named, one.index) {
                Some(value) => return Ok(value),
                None if known => return Err(undefined(name, one.name)),
                // The name stands for fewer values (`%0#3` of two). In a form that is not known, this may be no use at
                // all. It waits like a name without a meaning.
                None => {}
            }
        }
        let operand = self.document.operand_pool.len() as u32;
        let waiting = Waiting { operand, index: one.index, span: one.name, known, doubtful: one.doubtful };
        if let Some(open) = self.scopes.open.last_mut() {
            open.waiting.entry(name).or_default().push(waiting);
        }
        // The placeholder is replaced when the definition is read, or at the latest when the isolated region around
        // ends; that of a doubtful use is dropped at the end of the text.
        Ok(placeholder())
    }

    /// Drops the doubtful uses that have found no definition. They stand behind all other operands of their op, so no
    /// position of another operand changes.
    pub(super) fn drop_doubtful(&mut self) {
        for &op in &self.doubtful {
            let range = self.document.ops[op].operands;
            let pool = &mut self.document.operand_pool[range.start as usize..range.end as usize];
            let mut kept = 0;
            for at in 0..pool.len() {
                if pool[at] != placeholder() {
                    pool.swap(kept, at);
                    kept += 1;
                }
            }
            self.document.ops[op].operands = pool_range(range.start as usize, range.start as usize + kept);
        }
    }

    /// Makes values of an op's results and defines the names in front of its `=`.
    pub(super) fn define_results(&mut self, frame: &OpFrame) -> Result<()> {
        // Half of all ops have no result. (In the generic form an op may have results without names.)
        if self.results.len() == frame.results && matches!(frame.state, State::Custom(_)) {
            return Ok(());
        }
        let types = self.result_types(frame)?;
        let start = self.document.value_pool.len();
        // Most ops have one result.
        if let (&[(ty, type_span)], &[(name, 1)]) = (&types[..], &self.results[frame.results..]) {
            let definition = Definition::Result { op: frame.op, index: 0 };
            let value = self.document.values.push(Value { name, definition, ty, type_span });
            self.document.value_pool.push(value);
            self.document.ops[frame.op].results = pool_range(start, start + 1);
            self.results.truncate(frame.results);
            return self.define(name, value, 1, false);
        }
        let mut names: SmallVec<[Span; 4]> = SmallVec::with_capacity(types.len());
        // `%r:3` stands for three results of one name. Each result gets the name.
        for &(name, count) in &self.results[frame.results..] {
            names.extend(std::iter::repeat_n(name, count as usize));
        }
        let mut values: SmallVec<[ValueId; 4]> = SmallVec::with_capacity(types.len());
        for (index, &(ty, type_span)) in types.iter().enumerate() {
            let value = self.document.values.push(Value {
                name: names.get(index).copied().unwrap_or_default(),
                definition: Definition::Result { op: frame.op, index: index as u32 },
                ty,
                type_span,
            });
            values.push(value);
        }
        self.document.value_pool.extend(&values);
        self.document.ops[frame.op].results = pool_range(start, self.document.value_pool.len());
        // Names are defined after all values exist, because a use that waits for `%r#2` needs the whole group.
        let mut first = 0;
        for at in frame.results..self.results.len() {
            let (name, count) = self.results[at];
            if let Some(&value) = values.get(first) {
                self.define(name, value, count, false)?;
            }
            first += count as usize;
        }
        self.results.truncate(frame.results);
        Ok(())
    }

    /// Makes a name mean `count` values from `first` on, and gives them to the uses that waited for it. A second
    /// definition is an error unless `lenient`; so is a use that stands too early in a known form.
    pub(super) fn define(&mut self, name: Span, first: ValueId, count: u32, lenient: bool) -> Result<()> {
        let text = self.text(name);
        let (named, fresh) = self.scopes.define(text, first, count);
        if !fresh && !lenient {
            return Err(TextError::RedefinedValue { name: text.to_owned(), span: name });
        }
        let (waiting, too_early) = self.scopes.take_waiting(text);
        let wrong = too_early.iter().filter(|one| one.known).map(|one| one.span).min_by_key(|span| span.start);
        if let Some(span) = wrong {
            return Err(TextError::UsedTooEarly { name: text.to_owned(), span });
        }
        for waiting in too_early {
            self.leave_unresolved(text, &waiting);
        }
        for waiting in waiting {
            match pick(named, waiting.index) {
                Some(value) => self.document.operand_pool[waiting.operand as usize] = value,
                None if waiting.known => return Err(undefined(text, waiting.span)),
                None => self.leave_unresolved(text, &waiting),
            }
        }
        Ok(())
    }

    /// Ends the scope of names of a region. A use in a known form that found no definition is an error.
    pub(super) fn leave_scope(&mut self) -> Result<()> {
        for (name, waiting) in self.scopes.leave() {
            if waiting.known {
                return Err(undefined(name, waiting.span));
            }
            self.leave_unresolved(name, &waiting);
        }
        Ok(())
    }

    /// Gives a use without a definition, in a form that is not known, a value of its own of unknown type, and tells
    /// the user. A doubtful use is left to be dropped at the end.
    fn leave_unresolved(&mut self, name: &str, waiting: &Waiting) {
        if waiting.doubtful {
            return;
        }
        self.note(format!("`{name}` is not defined here; this form is not known, so it is left alone"), waiting.span);
        let ty = self.known_type("?");
        let value = self.document.values.push(Value {
            name: waiting.span,
            definition: Definition::Unresolved,
            ty,
            type_span: Span::default(),
        });
        self.document.operand_pool[waiting.operand as usize] = value;
    }
}

/// Stands for the value of a use that waits. No real value has this id.
fn placeholder() -> ValueId {
    ValueId::from_index(u32::MAX as usize)
}

/// The value at an index among those that a name stands for; `None` if it stands for fewer.
fn pick(named: Named, index: u32) -> Option<ValueId> {
    (index < named.count).then(|| ValueId::from_index(named.first.index() + index as usize))
}

/// The error for a name that nothing defines.
fn undefined(name: &str, span: Span) -> TextError {
    TextError::UndefinedValue { name: name.to_owned(), span }
}
