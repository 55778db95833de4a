//! Which value a name means.
//!
//! Names are visible in the region that defines them and in the regions inside it, up to an op that is isolated from
//! above (a function, a module), inside which nothing outside is visible. A use may stand before its definition: in
//! another block, or in a region whose ops need not be in order (a module's, an unknown op's). Such a use waits with
//! its region, and moves outward when the region ends without a definition.
//!
//! ```text
//! a use is looked up        in the names of its isolated scope
//! a use that is not found   waits in the innermost open region
//! a definition              serves the uses waiting in its own region; that there are any in its
//!                           own block is an error, if ops run in order there (an unknown op may
//!                           mean something else by the name: it does not get the value)
//! a region ends             its names go out of sight; what still waits moves to the parent
//! an isolated region ends   what still waits is an error
//! ```
//!
//! Moving the smaller set of waiting uses into the larger keeps the whole
//! thing within n log n however deep regions nest.

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
    /// Where its operand stands in the operand pool.
    operand: u32,
    index: u32,
    span: Span,
    /// Whether not finding it is an error.
    known: bool,
}

#[derive(Default)]
struct Open<'s> {
    /// Names to forget at the end, with what they meant before.
    names: Vec<(&'s str, Option<Named>)>,
    /// Uses in the block that is being read.
    waiting: HashMap<&'s str, Vec<Waiting>>,
    /// Uses in the blocks before it.
    older: HashMap<&'s str, Vec<Waiting>>,
    isolated: bool,
    /// Whether its ops run one after the other.
    ordered: bool,
}

#[derive(Default)]
pub(super) struct Scopes<'s> {
    /// One map an isolated scope.
    maps: Vec<HashMap<&'s str, Named>>,
    open: Vec<Open<'s>>,
}

impl<'s> Scopes<'s> {
    pub(super) fn enter(&mut self, isolated: bool, ordered: bool) {
        if isolated {
            self.maps.push(HashMap::default());
        }
        self.open.push(Open { isolated, ordered, ..Open::default() });
    }

    pub(super) fn begin_block(&mut self) {
        if let Some(open) = self.open.last_mut() {
            merge_waiting(&mut open.older, std::mem::take(&mut open.waiting));
        }
    }

    fn lookup(&self, name: &str) -> Option<Named> {
        self.maps.last()?.get(name).copied()
    }

    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.lookup(name).is_some()
    }

    /// Makes a name known; false if its region has defined it already, or one around it. Hiding a
    /// name from further outside is let pass if there is an unknown op in between, which may be isolated
    /// from above without our knowing.
    fn define(&mut self, name: &'s str, first: ValueId, count: u32) -> (Named, bool) {
        let depth = self.open.len() as u32;
        let named = Named { first, count, depth };
        let (Some(map), Some(open)) = (self.maps.last_mut(), self.open.last_mut()) else {
            return (named, true);
        };
        let before = map.insert(name, named);
        open.names.push((name, before));
        let may_hide = |before: Named| self.open[before.depth as usize..].iter().any(|open| !open.ordered);
        (named, before.is_none_or(may_hide))
    }

    /// The uses that wait for a name, and those that stand too early to be uses of it.
    fn take_waiting(&mut self, name: &str) -> (Vec<Waiting>, Vec<Waiting>) {
        let Some(open) = self.open.last_mut() else { return (Vec::new(), Vec::new()) };
        // Hashing a name costs more than this question, and hardly anything ever waits.
        if open.waiting.is_empty() && open.older.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let in_block = open.waiting.remove(name).unwrap_or_default();
        let (mut waiting, too_early) = if open.ordered { (Vec::new(), in_block) } else { (in_block, Vec::new()) };
        waiting.append(&mut open.older.remove(name).unwrap_or_default());
        (waiting, too_early)
    }

    /// Ends a region; what still waits at the end of an isolated one.
    fn leave(&mut self) -> Vec<(&'s str, Waiting)> {
        let Some(mut closed) = self.open.pop() else {
            return Vec::new();
        };
        merge_waiting(&mut closed.waiting, closed.older);
        if closed.isolated {
            self.maps.pop();
            return in_text_order(closed.waiting);
        }
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
    /// Looks up an op's operands and puts them into the document.
    pub(super) fn resolve_operands(&mut self, frame: &OpFrame, known: bool) -> Result<()> {
        let start = self.document.operand_pool.len();
        for at in frame.uses..self.uses.len() {
            let one = self.uses[at];
            let value = self.resolve_use(one, known)?;
            self.document.operand_pool.push(value);
        }
        self.uses.truncate(frame.uses);
        self.document.ops[frame.op].operands = pool_range(start, self.document.operand_pool.len());
        Ok(())
    }

    /// The value of a name. A block may use values that are defined further down, so an unknown name waits for its
    /// definition.
    fn resolve_use(&mut self, one: Use, known: bool) -> Result<ValueId> {
        let name = self.text(one.name);
        if let Some(named) = self.scopes.lookup(name) {
            return pick(named, one.index).ok_or_else(|| undefined(name, one.name));
        }
        let operand = self.document.operand_pool.len() as u32;
        let waiting = Waiting { operand, index: one.index, span: one.name, known };
        if let Some(open) = self.scopes.open.last_mut() {
            open.waiting.entry(name).or_default().push(waiting);
        }
        // Stands in until the definition is read.
        Ok(ValueId::from_index(u32::MAX as usize))
    }

    /// Makes values of the names in front of an op's `=`.
    pub(super) fn define_results(&mut self, frame: &OpFrame) -> Result<()> {
        // Half of all ops have no result.
        if self.results.len() == frame.results && matches!(frame.state, State::Custom(_)) {
            return Ok(());
        }
        let types = self.result_types(frame)?;
        let start = self.document.value_pool.len();
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

    /// Makes a name mean a value from here on, and serves the uses that waited for it.
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
            let value = pick(named, waiting.index).ok_or_else(|| undefined(text, waiting.span))?;
            self.document.operand_pool[waiting.operand as usize] = value;
        }
        Ok(())
    }

    /// Forgets the names of a region that ends.
    pub(super) fn leave_scope(&mut self) -> Result<()> {
        for (name, waiting) in self.scopes.leave() {
            if waiting.known {
                return Err(undefined(name, waiting.span));
            }
            self.leave_unresolved(name, &waiting);
        }
        Ok(())
    }

    /// A name in a form that is not known, and nothing that it could mean.
    fn leave_unresolved(&mut self, name: &str, waiting: &Waiting) {
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

fn pick(named: Named, index: u32) -> Option<ValueId> {
    (index < named.count).then(|| ValueId::from_index(named.first.index() + index as usize))
}

fn undefined(name: &str, span: Span) -> TextError {
    TextError::UndefinedValue { name: name.to_owned(), span }
}
