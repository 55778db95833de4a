//! The proof by running the nest over its subscripts.
//!
//! Every unit of the shared memory has a [`Unit`]: whether it holds what the input would hold in memory of its own, and
//! likewise the output. A read is right if it finds its own buffer's content. Where the condition of a branch is not
//! known, both sides run and a unit is right afterwards only if it is right after either.
//!
//! Subscripts may contain values from outside (`k * 64 + i` with a fixed, unknown `k`) as long as all subscripts
//! contain the same ones: then they move all accesses alike.

use std::collections::{BTreeMap, HashMap};

use super::polynomial::{Atom, Atoms, Kind, Polynomial, compute};
use super::resolve::{Nest, Node, Side, Touch};
use super::{Order, Question, Refusal};

/// Runs the nest; `left` is the work that may still be done.
pub(super) fn follow(nest: &Nest, question: Question, left: &mut u64) -> Result<(), Refusal> {
    let mut base = None;
    check_base(&nest.nodes, &mut base)?;
    let mut run = Run {
        atoms: &nest.atoms,
        counters: HashMap::new(),
        units: HashMap::new(),
        journals: Vec::new(),
        private: Vec::new(),
        paths: Vec::new(),
        path: None,
        instances: 0,
        left,
    };
    run.nodes(&nest.nodes)?;
    let lost = run.units.values().any(|unit| unit.output == Content::Wrong);
    if lost && question.needed_after { Err(Refusal::OutputLost) } else { Ok(()) }
}

/// Refuses a nest in which the fixed parts of the subscripts differ.
fn check_base(nodes: &[Node], base: &mut Option<Polynomial>) -> Result<(), Refusal> {
    for node in nodes {
        match node {
            Node::Loop { body, .. } | Node::Repeat(body) => check_base(body, base)?,
            Node::Branch { then, otherwise, .. } => {
                check_base(then, base)?;
                check_base(otherwise, base)?;
            }
            Node::Read(touch) | Node::Write { touch, .. } => {
                if *base.get_or_insert_with(|| touch.outside.clone()) != touch.outside {
                    return Err(Refusal::Undecided);
                }
            }
        }
    }
    Ok(())
}

/// What a unit of memory is to one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// The buffer has no content there yet.
    Absent,
    /// It holds what the buffer would hold in memory of its own.
    Right,
    /// It may hold something else.
    Wrong,
}

impl Content {
    fn join(self, other: Content) -> Content {
        match (self, other) {
            (Content::Wrong, _) | (_, Content::Wrong) => Content::Wrong,
            (Content::Right, _) | (_, Content::Right) => Content::Right,
            _ => Content::Absent,
        }
    }
}

/// An access to a unit from inside a concurrent loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Visit {
    side: Side,
    writes: bool,
    path: usize,
}

/// A unit of the shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    input: Content,
    output: Content,
    visits: Vec<Visit>,
}

impl Unit {
    const START: Unit = Unit { input: Content::Right, output: Content::Absent, visits: Vec::new() };
}

/// The largest number of visits of one unit that are kept; a unit with more cannot be decided.
const MOST_VISITS: usize = 32;

/// A unit: the iterations of private loops whose memory it is in, and its number.
type Key = (Vec<i64>, i64);

/// An iteration of a concurrent loop inside another one.
struct Path {
    outer: Option<usize>,
    depth: usize,
    /// Which execution of which loop.
    instance: u64,
}

struct Run<'a> {
    atoms: &'a Atoms,
    counters: HashMap<Atom, i64>,
    units: HashMap<Key, Unit>,
    /// For each open branch, the units that it changed, as they were before.
    journals: Vec<BTreeMap<Key, Unit>>,
    private: Vec<i64>,
    paths: Vec<Path>,
    path: Option<usize>,
    instances: u64,
    left: &'a mut u64,
}

impl Run<'_> {
    fn work(&mut self, amount: u64) -> Result<(), Refusal> {
        *self.left = self.left.checked_sub(amount).ok_or(Refusal::TooMuchWork)?;
        Ok(())
    }

    fn nodes(&mut self, nodes: &[Node]) -> Result<(), Refusal> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    /// Runs one node of the nest. A write in a concurrent loop cannot keep the other buffer's content right, because
    /// another iteration may read in between.
    fn node(&mut self, node: &Node) -> Result<(), Refusal> {
        self.work(1)?;
        match node {
            Node::Loop { counter, count, order, body } => self.repeat(*counter, count, *order, body),
            Node::Branch { condition, then, otherwise } => match self.value(condition) {
                Some(0) => self.nodes(otherwise),
                Some(_) => self.nodes(then),
                None => self.either(then, otherwise).map(|_| ()),
            },
            Node::Repeat(body) => {
                // Contents only ever get worse, so this ends.
                while self.either(body, &[])? {}
                Ok(())
            }
            Node::Read(touch) => self.each_unit(touch, |run, key| run.read(touch.side, key)),
            Node::Write { touch, keeps } => {
                let concurrent = self.path.is_some();
                self.each_unit(touch, |run, key| run.write(touch.side, *keeps && !concurrent, key))
            }
        }
    }

    /// Runs a loop over all of its iterations.
    fn repeat(&mut self, counter: Atom, count: &Polynomial, order: Order, body: &[Node]) -> Result<(), Refusal> {
        let count = self.value(count).ok_or(Refusal::Undecided)?;
        self.instances += 1;
        // Each run of a loop has a number of its own, so that two visits can be told to belong to the same run of a
        // concurrent loop or to different ones.
        let (instance, outer) = (self.instances, self.path);
        for iteration in 0..count {
            // Every iteration costs a unit of work. A nest that is too large ends with a refusal instead of running for
            // hours.
            self.work(1)?;
            self.counters.insert(counter, iteration);
            match order {
                Order::Serial => self.nodes(body)?,
                // A private counter selects a copy of the memory: units of different iterations are different units.
                Order::Private => {
                    self.private.push(iteration);
                    self.nodes(body)?;
                    self.private.pop();
                }
                Order::Concurrent => {
                    // Iterations of a concurrent loop may run in any order. The path tells later which visits had a
                    // fixed order and which had none.
                    let depth = outer.map_or(0, |outer| self.paths[outer].depth + 1);
                    self.paths.push(Path { outer, depth, instance });
                    self.path = Some(self.paths.len() - 1);
                    self.nodes(body)?;
                    self.path = outer;
                }
            }
        }
        self.counters.remove(&counter);
        Ok(())
    }

    /// Runs both lists from the same state and joins the results; says whether anything changed.
    fn either(&mut self, then: &[Node], otherwise: &[Node]) -> Result<bool, Refusal> {
        // The journal holds, for each unit that one side changed, what the unit was before. With it the first side is
        // undone, so that the second side starts from the same state.
        let before_then = self.journalled(then)?;
        let mut after_then = BTreeMap::new();
        for (key, before) in &before_then {
            self.work(1)?;
            let after = self.units.insert(key.clone(), before.clone()).unwrap_or(Unit::START);
            after_then.insert(key.clone(), after);
        }
        let before_otherwise = self.journalled(otherwise)?;
        let mut changed = false;
        // Units that neither side changed are equal before and after, so only those in one of the two journals are
        // joined.
        for key in before_then.keys().chain(before_otherwise.keys().filter(|key| !before_then.contains_key(*key))) {
            let before = before_then.get(key).or(before_otherwise.get(key)).cloned().unwrap_or(Unit::START);
            let one = after_then.get(key).unwrap_or(&before);
            let other = self.units.get(key).unwrap_or(&before);
            let mut joined = Unit {
                input: one.input.join(other.input),
                output: one.output.join(other.output),
                visits: one.visits.clone(),
            };
            joined.visits.extend(other.visits.iter().filter(|visit| !one.visits.contains(visit)));
            changed |= joined.input != before.input || joined.output != before.output;
            self.set(key, before, joined);
        }
        Ok(changed)
    }

    /// Runs a list; returns the units that it changed, as they were.
    fn journalled(&mut self, nodes: &[Node]) -> Result<BTreeMap<Key, Unit>, Refusal> {
        self.journals.push(BTreeMap::new());
        self.nodes(nodes)?;
        Ok(self.journals.pop().unwrap_or_default())
    }

    fn set(&mut self, key: &Key, before: Unit, unit: Unit) {
        if let Some(journal) = self.journals.last_mut() {
            journal.entry(key.clone()).or_insert(before);
        }
        self.units.insert(key.clone(), unit);
    }

    /// Calls `visit` for every unit of memory that an access touches, lane by lane.
    fn each_unit(
        &mut self,
        touch: &Touch,
        mut visit: impl FnMut(&mut Self, &Key) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let start = self.value(&touch.inside).ok_or(Refusal::Undecided)?;
        for lane in 0..touch.lanes {
            let first = touch.stride.checked_mul(lane).and_then(|distance| start.checked_add(distance));
            let first = first.ok_or(Refusal::Undecided)?;
            for unit in 0..touch.width {
                self.work(1)?;
                let number = first.checked_add(unit).ok_or(Refusal::Undecided)?;
                visit(self, &(self.private.clone(), number))?;
            }
        }
        Ok(())
    }

    fn read(&mut self, side: Side, key: &Key) -> Result<(), Refusal> {
        let contents = self.units.get(key).map_or((Content::Right, Content::Absent), |unit| (unit.input, unit.output));
        match if side == Side::Input { contents.0 } else { contents.1 } {
            Content::Right => {}
            Content::Absent => return Err(Refusal::ReadBeforeWrite),
            Content::Wrong => return Err(Refusal::Overwritten),
        }
        self.visit(key, side, false)
    }

    /// After a write a unit is right for the side that wrote it and wrong for the other one, unless the write copied
    /// the other side's content.
    fn write(&mut self, side: Side, keeps: bool, key: &Key) -> Result<(), Refusal> {
        let before = self.units.get(key).cloned().unwrap_or(Unit::START);
        let mut unit = before.clone();
        let (own, other) = match side {
            Side::Output => (&mut unit.output, &mut unit.input),
            Side::Input => (&mut unit.input, &mut unit.output),
        };
        if keeps {
            // The memory does not change: it is right for the copy exactly if it is right for what is copied.
            *own = *other;
        } else {
            *own = Content::Right;
            if *other == Content::Right {
                *other = Content::Wrong;
            }
        }
        self.set(key, before, unit);
        self.visit(key, side, true)
    }

    /// Notes an access from inside a concurrent loop, and refuses one that meets another iteration's.
    fn visit(&mut self, key: &Key, side: Side, writes: bool) -> Result<(), Refusal> {
        let Some(path) = self.path else { return Ok(()) };
        let before = self.units.get(key).cloned().unwrap_or(Unit::START);
        let visit = Visit { side, writes, path };
        if before.visits.contains(&visit) {
            return Ok(());
        }
        self.work(before.visits.len() as u64)?;
        let meets =
            |other: &Visit| other.side != side && (other.writes || writes) && self.are_concurrent(other.path, path);
        if before.visits.iter().any(meets) {
            return Err(Refusal::Concurrent);
        }
        if before.visits.len() >= MOST_VISITS {
            return Err(Refusal::TooMuchWork);
        }
        let mut unit = before.clone();
        unit.visits.push(visit);
        self.set(key, before, unit);
        Ok(())
    }

    /// Whether two iterations may run at the same time: where their paths part, they are iterations of one loop.
    fn are_concurrent(&self, mut one: usize, mut other: usize) -> bool {
        let mut parted = None;
        loop {
            let (a, b) = (&self.paths[one], &self.paths[other]);
            if a.depth != b.depth {
                let deeper = if a.depth > b.depth { &mut one } else { &mut other };
                match self.paths[*deeper].outer {
                    Some(outer) => *deeper = outer,
                    None => return false,
                }
                continue;
            }
            if one == other {
                break;
            }
            parted = Some(a.instance == b.instance);
            match (a.outer, b.outer) {
                (Some(a), Some(b)) => (one, other) = (a, b),
                _ => break,
            }
        }
        parted.unwrap_or(false)
    }

    /// The value of an expression; `None` if it depends on data or on values from outside.
    fn value(&self, sum: &Polynomial) -> Option<i64> {
        sum.terms().try_fold(0i64, |total, (product, factor)| {
            let product = product.iter().try_fold(factor, |product, atom| product.checked_mul(self.atom(*atom)?))?;
            total.checked_add(product)
        })
    }

    /// The value of an atom at this point of the enumeration; `None` if it is not known.
    fn atom(&self, atom: Atom) -> Option<i64> {
        match self.atoms.kind(atom) {
            Kind::Parameter | Kind::Unknown => None,
            Kind::Counter => self.counters.get(&atom).copied(),
            Kind::Compound(operator, [left, right]) => compute(*operator, self.value(left)?, self.value(right)?),
            Kind::Choice([condition, then, otherwise]) => {
                self.value(if self.value(condition)? != 0 { then } else { otherwise })
            }
        }
    }
}
