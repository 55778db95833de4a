//! The proof by running the nest over its subscripts.
//!
//! The shared memory is counted in units, the greatest size that divides the sizes of all elements. For every unit we
//! keep a [`Unit`]: whether it holds what the input would hold in memory of its own, and whether it holds what the
//! output would hold in memory of its own. A read is right if it finds its own buffer's content. Where the condition of
//! a branch is not known, both sides run, and a unit is right afterwards only if it is not wrong after either of them.
//!
//! Subscripts may contain values from outside (`k * 64 + i` with a fixed, unknown `k`) as long as all subscripts
//! contain the same ones: then they move all accesses alike.
//!
//! Iterations of a concurrent loop run one after the other here, although they may run in any order. So every unit also
//! remembers who has touched it from inside of concurrent loops ([`Visit`]), and a pair of visits whose order could
//! matter is refused.
//!
//! Words from other files: a [`Nest`] is the list of steps with resolved subscripts. A [`Polynomial`] is a sum of
//! products of *atoms*, which are loop counters, values from outside, or other expressions. A [`Touch`] is what an
//! access touches: `outside` is the part of its subscript that only values from outside decide, `inside` is the rest,
//! and it touches `lanes` times `width` units, `stride` apart. A [`Side`] is one of the two buffers.

use std::collections::{BTreeMap, HashMap};

use super::polynomial::{Atom, Atoms, Kind, Polynomial, compute};
use super::resolve::{Nest, Node, Side, Touch};
use super::{Order, Question, Refusal};

/// Runs the nest; `left` is the work that may still be done.
pub(super) fn follow(nest: &Nest, question: Question, left: &mut u64) -> Result<(), Refusal> {
    let mut base = None;
    // All subscripts must contain the same values from outside.
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
    // Content of the output that is wrong at the end does no harm if nobody reads the output any more.
    let lost = run.units.values().any(|unit| unit.output == Content::Wrong);
    if lost && question.needed_after { Err(Refusal::OutputLost) } else { Ok(()) }
}

/// Refuses a nest in which the parts of the subscripts that come from outside differ. `base` is that part of the first
/// access, which all others are compared with.
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
    /// What is known if either of two contents may be there. Absent on one way and right on the other counts as
    /// right: a program that reads what it has not written on every way reads garbage in memory of its own, too.
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
    /// For which of the two buffers.
    side: Side,
    writes: bool,
    /// In which iteration of the concurrent loops around it: an index into [`Run::paths`].
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
    /// Before the first step the memory holds the input's content.
    const START: Unit = Unit { input: Content::Right, output: Content::Absent, visits: Vec::new() };
}

/// The largest number of visits of one unit that are kept. Each new visit is compared with all of them, so without a
/// limit the time would be quadratic. A nest with more visits of one unit is refused.
const MOST_VISITS: usize = 32;

/// A unit: the iterations of private loops whose memory it is in, and its number.
type Key = (Vec<i64>, i64);

/// One iteration of a concurrent loop.
struct Path {
    /// The iteration of the next concurrent loop around it, as an index into [`Run::paths`].
    outer: Option<usize>,
    /// How many concurrent loops there are around it.
    depth: usize,
    /// Which execution of which loop. Iterations with the same number have no order among themselves.
    instance: u64,
}

/// The state of the enumeration.
struct Run<'a> {
    atoms: &'a Atoms,
    /// The current iteration of each loop around the current node.
    counters: HashMap<Atom, i64>,
    /// The units that have been touched; all others are as in [`Unit::START`].
    units: HashMap<Key, Unit>,
    /// For each open branch, the units that it changed, as they were before.
    journals: Vec<BTreeMap<Key, Unit>>,
    /// The current iterations of the private loops around the current node, outermost first.
    private: Vec<i64>,
    /// All iterations of concurrent loops that have begun.
    paths: Vec<Path>,
    /// The innermost iteration of a concurrent loop that is running; `None` outside of all of them.
    path: Option<usize>,
    /// How many executions of loops have begun so far, all loops together.
    instances: u64,
    /// The work that may still be done.
    left: &'a mut u64,
}

impl Run<'_> {
    /// Counts work; refuses if there is not enough left.
    fn work(&mut self, amount: u64) -> Result<(), Refusal> {
        *self.left = self.left.checked_sub(amount).ok_or(Refusal::TooMuchWork)?;
        Ok(())
    }

    /// Runs a list of nodes.
    fn nodes(&mut self, nodes: &[Node]) -> Result<(), Refusal> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    /// Runs one node of the nest. A write that copies the other buffer onto itself leaves the memory as it is. In a
    /// concurrent loop this is not relied on, and the write counts as one that overwrites the other buffer's content.
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
                // The body runs once more until that changes no content. Joined with what was there before, a content
                // can only go from absent to right to wrong, so this ends.
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

    /// Runs a loop over all of its iterations; refuses a loop whose number of iterations is not known.
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

    /// Runs both lists from the same state and joins the results; says whether any content differs from what it was
    /// before.
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
            // A side that is not in its journal left the unit as it was. After `otherwise`, `units` has its results.
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

    /// Runs a list; returns the units that it changed, as they were before the list.
    fn journalled(&mut self, nodes: &[Node]) -> Result<BTreeMap<Key, Unit>, Refusal> {
        self.journals.push(BTreeMap::new());
        self.nodes(nodes)?;
        Ok(self.journals.pop().unwrap_or_default())
    }

    /// Changes a unit. The innermost open branch notes what the unit was before, if this is its first change there. (A
    /// branch inside of another hands its changes on by setting the joined units, see [`Run::either`].)
    fn set(&mut self, key: &Key, before: Unit, unit: Unit) {
        if let Some(journal) = self.journals.last_mut() {
            journal.entry(key.clone()).or_insert(before);
        }
        self.units.insert(key.clone(), unit);
    }

    /// Calls `visit` for every unit of memory that an access touches, lane by lane. The part of the subscript from
    /// outside is left out, since it is the same for all accesses (see [`check_base`]). Refuses a subscript that is
    /// not known.
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

    /// Reads a unit for one of the two buffers: it must hold what that buffer would hold in memory of its own.
    fn read(&mut self, side: Side, key: &Key) -> Result<(), Refusal> {
        let contents = self.units.get(key).map_or((Content::Right, Content::Absent), |unit| (unit.input, unit.output));
        match if side == Side::Input { contents.0 } else { contents.1 } {
            Content::Right => {}
            Content::Absent => return Err(Refusal::ReadBeforeWrite),
            Content::Wrong => return Err(Refusal::Overwritten),
        }
        self.visit(key, side, false)
    }

    /// After a write a unit is right for the side that wrote it and wrong for the other one, unless the write `keeps`
    /// the memory as it is: it copied the other side's content onto itself. A side that has no content there yet
    /// loses none.
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

    /// Notes an access from inside a concurrent loop, and refuses it if another iteration that may run at the same
    /// time has touched the unit for the other buffer and one of the two accesses writes. Accesses to the same buffer
    /// meet in memory of its own as well, so they are the program's business.
    fn visit(&mut self, key: &Key, side: Side, writes: bool) -> Result<(), Refusal> {
        // Outside of concurrent loops everything has its order.
        let Some(path) = self.path else { return Ok(()) };
        let before = self.units.get(key).cloned().unwrap_or(Unit::START);
        let visit = Visit { side, writes, path };
        // The same iteration has done the same before, and that was compared with all visits then.
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

    /// Whether two iterations may run at the same time. Both paths are followed outwards until they meet. The outermost
    /// level at which they differ decides. If the two are iterations of the same execution of a concurrent loop there,
    /// they may run at the same time. If they belong to two executions of loops, these executions come one after the
    /// other.
    fn are_concurrent(&self, mut one: usize, mut other: usize) -> bool {
        let mut parted = None;
        loop {
            let (a, b) = (&self.paths[one], &self.paths[other]);
            // First the deeper one goes outwards, until both are equally deep. An iteration inside of the other one is
            // part of it and does not run beside it.
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
