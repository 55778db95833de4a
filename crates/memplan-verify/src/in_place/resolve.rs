//! A nest as both proofs want it: only the two buffers in question, subscripts as polynomials over loop counters.
//!
//! A loop variable becomes its first value plus a counter from 0, a defined variable becomes its value:
//!
//! ```text
//! for i in 4..12:  x = 2 * i;  B[x + 1]     ->    B[9 + 2·t],  t in 0..8
//! ```
//!
//! Elements of different sizes are counted in one unit, the greatest size that divides them all: with elements of 16
//! and of 32 bits a unit has 16 bits, and an element of 32 bits is two units wide.
//!
//! An *atom* is what subscripts are made of: a counter, a value from outside, or an expression that is no sum and no
//! product (see `polynomial`).
//!
//! A [`Polynomial`] is a sum of products of atoms, and [`Atoms`] knows what each atom is.

use std::collections::HashMap;

use super::polynomial::{Atom, Atoms, Kind, Polynomial};
use super::{Elements, Index, Order, Question, Refusal, Step, Variable};

/// A nest, resolved.
pub(super) struct Nest {
    pub(super) nodes: Vec<Node>,
    pub(super) atoms: Atoms,
}

/// One of the two buffers in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Output,
    Input,
}

/// Units of memory that one access touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) side: Side,
    /// The first unit.
    pub(super) first: Polynomial,
    /// The part of `first` that only values from outside decide.
    pub(super) outside: Polynomial,
    /// The rest of `first`.
    pub(super) inside: Polynomial,
    /// Units of one lane.
    pub(super) width: i64,
    pub(super) lanes: i64,
    /// Distance of two neighbouring lanes, in units.
    pub(super) stride: i64,
}

impl Touch {
    /// Whether two accesses touch the same units in the same order.
    pub(super) fn covers_same(&self, other: &Touch) -> bool {
        self.first == other.first
            && self.width == other.width
            && self.lanes == other.lanes
            && (self.stride == other.stride || self.lanes == 1)
    }
}

/// A step, resolved.
pub(super) enum Node {
    Loop {
        counter: Atom,
        count: Polynomial,
        order: Order,
        body: Vec<Node>,
    },
    Branch {
        condition: Polynomial,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
    Repeat(Vec<Node>),
    Read(Touch),
    /// `keeps` says that the write is a copy of the other buffer onto itself: the memory does not change.
    Write {
        touch: Touch,
        keeps: bool,
    },
}

/// Resolves a nest for a pair of buffers.
pub(super) fn resolve(nest: &[Step], question: Question) -> Result<Nest, Refusal> {
    let mut unit = 0;
    find_unit(nest, question, &mut unit)?;
    // `max(1)` is for a nest that touches neither buffer: it has no element to take a unit from.
    let mut resolver = Resolver { question, unit: unit.max(1), atoms: Atoms::default(), values: HashMap::new() };
    let nodes = resolver.steps(nest)?;
    Ok(Nest { nodes, atoms: resolver.atoms })
}

/// Makes `unit` the greatest common divisor, in bits, of the sizes of all elements of the two buffers; refuses uses
/// of an address of one of them. It starts with 0, whose greatest common divisor with a size is that size.
fn find_unit(nest: &[Step], question: Question, unit: &mut u64) -> Result<(), Refusal> {
    let concerns = |buffer: u32| buffer == question.output || buffer == question.input;
    for step in nest {
        match step {
            Step::Loop { body, .. } | Step::Repeat(body) => find_unit(body, question, unit)?,
            Step::Branch { then, otherwise, .. } => {
                find_unit(then, question, unit)?;
                find_unit(otherwise, question, unit)?;
            }
            Step::Read(elements) | Step::Write { elements, .. } if concerns(elements.buffer) => {
                *unit = greatest_common_divisor(*unit, elements.bits);
            }
            Step::Opaque(buffer) if concerns(*buffer) => return Err(Refusal::Opaque),
            _ => {}
        }
    }
    Ok(())
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Translates steps into nodes.
struct Resolver {
    question: Question,
    /// Bits of the unit of memory.
    unit: u64,
    atoms: Atoms,
    /// What each variable that has been met is at the current step.
    values: HashMap<Variable, Polynomial>,
}

impl Resolver {
    /// Translates steps into nodes. Accesses to other buffers than the two in question disappear.
    fn steps(&mut self, steps: &[Step]) -> Result<Vec<Node>, Refusal> {
        let mut nodes = Vec::new();
        for step in steps {
            match step {
                Step::Loop { variable, first, count, order, body } => {
                    nodes.push(self.repeated(*variable, first, count, *order, body)?);
                }
                // No other step gives this variable a value, so what is noted inside of a branch harms nobody after it.
                Step::Define { variable, value } => {
                    let value = self.index(value)?;
                    self.values.insert(*variable, value);
                }
                // The condition stays an expression: whether its value is known is for the proofs to find out.
                Step::Branch { condition, then, otherwise } => {
                    let condition = self.index(condition)?;
                    let (then, otherwise) = (self.steps(then)?, self.steps(otherwise)?);
                    nodes.push(Node::Branch { condition, then, otherwise });
                }
                Step::Repeat(body) => nodes.push(Node::Repeat(self.steps(body)?)),
                Step::Read(elements) => nodes.extend(self.touch(elements)?.map(Node::Read)),
                Step::Write { elements, copy_of } => nodes.extend(self.write(elements, copy_of.as_ref())?),
                // `find_unit` has refused those of the two buffers.
                Step::Opaque(_) => {}
            }
        }
        Ok(nodes)
    }

    /// A loop; inside of it its variable is its first value plus a counter. After the loop the variable is again
    /// what it was before.
    fn repeated(
        &mut self,
        variable: Variable,
        first: &Index,
        count: &Index,
        order: Order,
        body: &[Step],
    ) -> Result<Node, Refusal> {
        // Bounds are read outside of the loop, where its variable does not exist yet.
        let (first, count) = (self.index(first)?, self.index(count)?);
        let counter = self.atoms.fresh(Kind::Counter);
        let value = first.plus(&Polynomial::atom(counter), 1).ok_or(Refusal::Undecided)?;
        let outer = self.values.insert(variable, value);
        let body = self.steps(body)?;
        match outer {
            Some(outer) => self.values.insert(variable, outer),
            None => self.values.remove(&variable),
        };
        Ok(Node::Loop { counter, count, order, body })
    }

    /// A write; `None` if it is to neither of the two buffers. It keeps the memory as it is if it copies elements of
    /// the other buffer to the very units they are in.
    fn write(&mut self, elements: &Elements, copy_of: Option<&Elements>) -> Result<Option<Node>, Refusal> {
        let Some(touch) = self.touch(elements)? else { return Ok(None) };
        let source = match copy_of {
            Some(source) => self.touch(source)?,
            None => None,
        };
        let keeps = source.is_some_and(|source| source.side != touch.side && source.covers_same(&touch));
        Ok(Some(Node::Write { touch, keeps }))
    }

    /// The units of an access; `None` if it is to neither of the two buffers.
    fn touch(&mut self, elements: &Elements) -> Result<Option<Touch>, Refusal> {
        let side = match elements.buffer {
            buffer if buffer == self.question.output => Side::Output,
            buffer if buffer == self.question.input => Side::Input,
            _ => return Ok(None),
        };
        let width = i64::try_from(elements.bits / self.unit).map_err(|_| Refusal::Undecided)?;
        let first = self.index(&elements.first)?.scaled(width).ok_or(Refusal::Undecided)?;
        let stride = elements.stride.checked_mul(width).ok_or(Refusal::Undecided)?;
        let (outside, inside) = first.split(&self.atoms);
        Ok(Some(Touch { side, first, outside, inside, width, lanes: i64::from(elements.lanes), stride }))
    }

    /// A subscript as a polynomial. A variable without a definition is a parameter: fixed, but not known; it gets an
    /// atom the first time it is met. Each unknown value is an atom of its own, so that no two are taken for equal.
    fn index(&mut self, index: &Index) -> Result<Polynomial, Refusal> {
        match index {
            Index::Number(value) => Ok(Polynomial::number(*value)),
            Index::Variable(variable) => {
                let atoms = &mut self.atoms;
                let value = self.values.entry(*variable);
                Ok(value.or_insert_with(|| Polynomial::atom(atoms.fresh(Kind::Parameter))).clone())
            }
            Index::Apply(operator, operands) => {
                let (left, right) = (self.index(&operands[0])?, self.index(&operands[1])?);
                self.atoms.apply(*operator, &left, &right).ok_or(Refusal::Undecided)
            }
            Index::Choose(parts) => {
                let parts = [self.index(&parts[0])?, self.index(&parts[1])?, self.index(&parts[2])?];
                Ok(self.atoms.choose(parts))
            }
            Index::Unknown => Ok(Polynomial::atom(self.atoms.fresh(Kind::Unknown))),
        }
    }
}
