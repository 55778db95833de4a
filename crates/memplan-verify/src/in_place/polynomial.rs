//! Integer expressions as sums of products.
//!
//! `4 * (i + n) + 2` is `2 + 4·i + 4·n`. What is no sum and no product (`i % 8`) is one *atom*; two atoms are the same
//! if operator and operands are. So two subscripts that are written differently but mean the same compare equal, and
//! the part of a subscript that changes from iteration to iteration can be told from the part that does not.

use std::collections::{BTreeMap, HashMap};

use super::Operator;

/// A factor of a product: an index into [`Atoms`].
pub(super) type Atom = u32;

/// What an atom is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A variable from outside: one fixed value.
    Parameter,
    /// Counts the iterations of a loop, from 0.
    Counter,
    /// Depends on data: a different value each time.
    Unknown,
    /// An operation that no sum of products expresses.
    Compound(Operator, [Polynomial; 2]),
    /// The second if the first is not 0, otherwise the third.
    Choice([Polynomial; 3]),
}

/// All atoms of a nest.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    /// What each atom is, by its number.
    kinds: Vec<Kind>,
    /// The atoms of kind `Compound` and `Choice`, so that equal ones get one number.
    compounds: HashMap<Kind, Atom>,
}

impl Atoms {
    /// A new atom, different from all others.
    pub(super) fn fresh(&mut self, kind: Kind) -> Atom {
        self.kinds.push(kind);
        (self.kinds.len() - 1) as Atom
    }

    /// The atom of an operation, the same one for the same operands.
    fn compound(&mut self, kind: Kind) -> Atom {
        if let Some(&known) = self.compounds.get(&kind) {
            return known;
        }
        let atom = self.fresh(kind.clone());
        self.compounds.insert(kind, atom);
        atom
    }

    /// What an atom is.
    pub(super) fn kind(&self, atom: Atom) -> &Kind {
        &self.kinds[atom as usize]
    }

    /// Whether an atom has the same value in all iterations.
    pub(super) fn is_fixed(&self, atom: Atom) -> bool {
        match self.kind(atom) {
            Kind::Parameter => true,
            Kind::Counter | Kind::Unknown => false,
            Kind::Compound(_, parts) => parts.iter().all(|part| part.is_fixed(self)),
            Kind::Choice(parts) => parts.iter().all(|part| part.is_fixed(self)),
        }
    }

    /// `operator(a, b)`; `None` if a number does not fit 64 bits or is divided by 0. Sums and products are multiplied
    /// out, operations on two numbers are computed, and all others become an atom.
    pub(super) fn apply(&mut self, operator: Operator, a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
        match operator {
            Operator::Add => return a.plus(b, 1),
            Operator::Subtract => return a.plus(b, -1),
            Operator::Multiply => return a.times(b),
            _ => {}
        }
        if let (Some(a), Some(b)) = (a.as_number(), b.as_number()) {
            return compute(operator, a, b).map(Polynomial::number);
        }
        Some(Polynomial::atom(self.compound(Kind::Compound(operator, [a.clone(), b.clone()]))))
    }

    /// `parts[1]` if `parts[0]` is not 0, otherwise `parts[2]`; an atom if the condition is no number.
    pub(super) fn choose(&mut self, parts: [Polynomial; 3]) -> Polynomial {
        match parts[0].as_number() {
            Some(0) => parts[2].clone(),
            Some(_) => parts[1].clone(),
            None => Polynomial::atom(self.compound(Kind::Choice(parts))),
        }
    }
}

/// The value of an operation on numbers; `None` if it has none or does not fit.
pub(super) fn compute(operator: Operator, a: i64, b: i64) -> Option<i64> {
    match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        // Rust rounds towards zero. If the signs differ and there is a remainder, rounding down gives one less.
        Operator::DivideDown => {
            let quotient = a.checked_div(b)?;
            if a % b != 0 && (a < 0) != (b < 0) { quotient.checked_sub(1) } else { Some(quotient) }
        }
        // Rust's remainder has the sign of `a`; the one of a division that rounds down has the sign of `b`.
        Operator::RemainderDown => {
            let rest = a.checked_rem(b)?;
            if rest != 0 && (rest < 0) != (b < 0) { rest.checked_add(b) } else { Some(rest) }
        }
        Operator::DivideToZero => a.checked_div(b),
        Operator::RemainderToZero => a.checked_rem(b),
        Operator::Minimum => Some(a.min(b)),
        Operator::Maximum => Some(a.max(b)),
        // Truth values are 0 and 1.
        Operator::Equal => Some(i64::from(a == b)),
        Operator::Less => Some(i64::from(a < b)),
        Operator::And => Some(i64::from(a != 0 && b != 0)),
        Operator::Or => Some(i64::from(a != 0 || b != 0)),
    }
}

/// A sum of products of atoms, each with an integer factor that is not 0. The empty product stands for the constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Polynomial {
    /// The factor of each product; a product is its atoms in ascending order. `2 + 4·i·n` is `{[]: 2, [i, n]: 4}`.
    terms: BTreeMap<Vec<Atom>, i64>,
}

impl Polynomial {
    /// A constant. 0 has no terms, so that equal sums are equal maps.
    pub(super) fn number(value: i64) -> Polynomial {
        let mut sum = Polynomial::default();
        if value != 0 {
            sum.terms.insert(Vec::new(), value);
        }
        sum
    }

    /// One atom, once.
    pub(super) fn atom(atom: Atom) -> Polynomial {
        Polynomial { terms: BTreeMap::from([(vec![atom], 1)]) }
    }

    /// The value, if it is a constant.
    pub(super) fn as_number(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The products, as their atoms, each with its factor.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&[Atom], i64)> {
        self.terms.iter().map(|(product, factor)| (product.as_slice(), *factor))
    }

    /// Adds `factor * product`. A factor that becomes 0 is removed, so that equal sums are equal maps. `None` if it
    /// does not fit into 64 bits.
    fn add_term(&mut self, product: Vec<Atom>, factor: i64) -> Option<()> {
        let sum = self.terms.get(&product).copied().unwrap_or(0).checked_add(factor)?;
        if sum == 0 {
            self.terms.remove(&product);
        } else {
            self.terms.insert(product, sum);
        }
        Some(())
    }

    /// `self + factor * other`; `None` if a factor does not fit into 64 bits.
    pub(super) fn plus(&self, other: &Polynomial, factor: i64) -> Option<Polynomial> {
        let mut sum = self.clone();
        for (product, value) in &other.terms {
            sum.add_term(product.clone(), value.checked_mul(factor)?)?;
        }
        Some(sum)
    }

    /// The product; `None` if a coefficient does not fit into 64 bits.
    pub(super) fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut sum = Polynomial::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut product: Vec<Atom> = left.iter().chain(right).copied().collect();
                product.sort_unstable();
                sum.add_term(product, a.checked_mul(*b)?)?;
            }
        }
        Some(sum)
    }

    /// `factor * self`; `None` if a factor does not fit into 64 bits.
    pub(super) fn scaled(&self, factor: i64) -> Option<Polynomial> {
        Polynomial::default().plus(self, factor)
    }

    /// Whether it has the same value in all iterations.
    pub(super) fn is_fixed(&self, atoms: &Atoms) -> bool {
        self.terms.keys().flatten().all(|atom| atoms.is_fixed(*atom))
    }

    /// The terms that only values from outside decide, and all other terms with the constant: `2 + 4·i + 64·k` with a
    /// `k` from outside is `64·k` and `2 + 4·i`.
    pub(super) fn split(&self, atoms: &Atoms) -> (Polynomial, Polynomial) {
        let from_outside = |product: &[Atom]| !product.is_empty() && product.iter().all(|atom| atoms.is_fixed(*atom));
        let terms = self.terms.iter().map(|(product, factor)| (product.clone(), *factor));
        let (outside, inside) = terms.partition(|(product, _)| from_outside(product));
        (Polynomial { terms: outside }, Polynomial { terms: inside })
    }

    /// The same polynomial with the counters of `names` replaced. `None` if counters are to be replaced and a compound
    /// atom varies: such an atom may contain one of them, and compound atoms are not looked into. `None` also if a
    /// factor does not fit into 64 bits.
    pub(super) fn renamed(&self, names: &HashMap<Atom, Atom>, atoms: &Atoms) -> Option<Polynomial> {
        let mut sum = Polynomial::default();
        for (product, factor) in &self.terms {
            let mut renamed = Vec::with_capacity(product.len());
            for atom in product {
                match names.get(atom) {
                    Some(new) => renamed.push(*new),
                    None if matches!(atoms.kind(*atom), Kind::Compound(..) | Kind::Choice(_))
                        && !atoms.is_fixed(*atom)
                        && !names.is_empty() =>
                    {
                        return None;
                    }
                    None => renamed.push(*atom),
                }
            }
            renamed.sort_unstable();
            sum.add_term(renamed, *factor)?;
        }
        Some(sum)
    }

    /// `k`, if this is `k * other` with a constant `k`. One term says what `k` would have to be; then all are compared.
    pub(super) fn multiple_of(&self, other: &Polynomial) -> Option<i64> {
        let (product, divisor) = other.terms.iter().next()?;
        let factor = self.terms.get(product)?;
        (factor % divisor == 0 && other.scaled(factor / divisor)? == *self).then(|| factor / divisor)
    }
}
