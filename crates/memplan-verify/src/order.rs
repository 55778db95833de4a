//! Does another order of execution compute the same?
//!
//! It does if every op finds the values that it found before. Each write of a value makes a new *version* of it, so an
//! op that reads version 1 of `x` in the old order must read version 1 of `x` in the new one:
//!
//! ```text
//!   old order              new order, right          new order, wrong
//!   0: write x             0: write x                0: write x
//!   1: read x, write y     2: write z                2: write z
//!   2: write z             1: read x, write y        3: read y, z    reads version 0 of y,
//!   3: read y, z           3: read y, z              1: read x, write y       it was version 1
//! ```
//!
//! Ops with an effect beside their values are treated as if all of them wrote one more value that nobody else has.
//!
//! ```
//! use memplan_verify::order::{Access, check};
//!
//! let writes_x = Access { writes: vec![0], ..Access::default() };
//! let reads_x = Access { reads: vec![0], ..Access::default() };
//! assert!(check(&[writes_x.clone(), reads_x.clone()], &[0, 1]).is_empty());
//! assert_eq!(check(&[writes_x, reads_x], &[1, 0])[0].to_string(), "op 1 reads version 0 of value 0, and read version 1");
//! ```

use std::collections::HashMap;

/// What an op does to values, which are numbers here.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Values that it reads.
    pub reads: Vec<usize>,
    /// Values that it writes.
    pub writes: Vec<usize>,
    /// It reads or changes something else, too.
    pub has_effect: bool,
}

/// Why an order does not compute the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The order does not name every op once.
    #[error("the order has {length} entries and names {named} of {ops} ops exactly once")]
    NotEveryOpOnce {
        /// Ops that are named exactly once.
        named: usize,
        /// Ops that there are.
        ops: usize,
        /// Entries of the order. It may name ops that there are not, too.
        length: usize,
    },
    /// An op finds another version of a value than before.
    #[error("op {op} reads version {now} of value {value}, and read version {before}")]
    OtherVersion {
        /// The op.
        op: usize,
        /// The value.
        value: usize,
        /// The version that it finds in the new order.
        now: usize,
        /// The version that it found in the old order.
        before: usize,
    },
    /// Two ops with effects, or two writes of one value, changed places.
    #[error("op {op} is number {now} of those that write the same, and was number {before}")]
    OtherTurn {
        /// The op.
        op: usize,
        /// Its turn in the new order.
        now: usize,
        /// Its turn in the old order.
        before: usize,
    },
}

impl Violation {
    /// The stable name of this kind of violation, for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Violation::NotEveryOpOnce { .. } => "order::not-every-op-once",
            Violation::OtherVersion { .. } => "order::other-version",
            Violation::OtherTurn { .. } => "order::other-turn",
        }
    }
}

/// Lists every way in which running the ops in another order computes something else; empty if it computes the same.
/// `ops` are in their old order, and `order` lists the numbers of the ops in the new order.
pub fn check(ops: &[Access], order: &[usize]) -> Vec<Violation> {
    // How often `order` names each op. A number that is no op is not counted here; the length of `order` shows it.
    let mut times_named = vec![0usize; ops.len()];
    for &op in order {
        if let Some(times) = times_named.get_mut(op) {
            *times += 1;
        }
    }
    let named = times_named.iter().filter(|times| **times == 1).count();
    if named != ops.len() || order.len() != ops.len() {
        return vec![Violation::NotEveryOpOnce { named, ops: ops.len(), length: order.len() }];
    }
    // What each op finds in the old order and in the new one must be the same, value by value and turn by turn.
    let unchanged: Vec<usize> = (0..ops.len()).collect();
    let (before, now) = (found_by(ops, &unchanged), found_by(ops, order));
    let mut violations = Vec::new();
    for (op, access) in ops.iter().enumerate() {
        let versions = access.reads.iter().zip(before[op].versions.iter().zip(&now[op].versions));
        let other = versions.filter(|(_, (before, now))| before != now);
        violations.extend(other.map(|(&value, (&before, &now))| Violation::OtherVersion { op, value, now, before }));
        let turns = before[op].turns.iter().zip(&now[op].turns).filter(|(before, now)| before != now);
        violations.extend(turns.map(|(&before, &now)| Violation::OtherTurn { op, now, before }));
    }
    violations
}

/// What an op finds when it runs.
#[derive(Clone, Default)]
struct Found {
    /// The version of each value that it reads.
    versions: Vec<usize>,
    /// For each value that it writes, how often the value had been written before. If the op has an effect, one more
    /// number at the end: how many ops with an effect had run before.
    turns: Vec<usize>,
}

/// What each op finds if the ops run in an order, by the number of the op.
fn found_by(ops: &[Access], order: &[usize]) -> Vec<Found> {
    // How often each value has been written so far: that is the number of its version. Before the first write it is 0.
    let mut written: HashMap<usize, usize> = HashMap::new();
    let mut effects = 0;
    let mut found = vec![Found::default(); ops.len()];
    for &op in order {
        let access = &ops[op];
        // An op reads before it writes, so that `x = x + 1` reads the version before its own.
        found[op].versions = access.reads.iter().map(|value| written.get(value).copied().unwrap_or(0)).collect();
        for &value in &access.writes {
            let times = written.entry(value).or_insert(0);
            found[op].turns.push(*times);
            *times += 1;
        }
        if access.has_effect {
            found[op].turns.push(effects);
            effects += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(reads: &[usize], writes: &[usize]) -> Access {
        Access { reads: reads.to_vec(), writes: writes.to_vec(), has_effect: false }
    }

    fn codes(ops: &[Access], order: &[usize]) -> Vec<&'static str> {
        check(ops, order).iter().map(Violation::code).collect()
    }

    #[test]
    fn branches_may_change_places_and_chains_may_not() {
        let ops = [op(&[], &[0]), op(&[0], &[1]), op(&[0], &[2]), op(&[1, 2], &[3])];
        assert!(check(&ops, &[0, 2, 1, 3]).is_empty());
        assert_eq!(codes(&ops, &[0, 1, 3, 2]), ["order::other-version"]);
        assert_eq!(codes(&ops, &[1, 0, 2, 3]), ["order::other-version"]);
    }

    #[test]
    fn a_read_stays_before_the_write_that_changes_its_value() {
        let ops = [op(&[], &[0]), op(&[0], &[1]), op(&[], &[0])];
        assert_eq!(codes(&ops, &[0, 2, 1]), ["order::other-version"]);
        assert!(codes(&ops, &[2, 1, 0]).contains(&"order::other-turn"), "the two writes changed places");
    }

    #[test]
    fn effects_keep_their_order() {
        let effect = Access { has_effect: true, ..Access::default() };
        let ops = [effect.clone(), op(&[], &[0]), effect];
        assert!(check(&ops, &[1, 0, 2]).is_empty());
        assert_eq!(codes(&ops, &[2, 1, 0]), ["order::other-turn", "order::other-turn"]);
    }

    #[test]
    fn every_op_runs_once() {
        let ops = [op(&[], &[0]), op(&[], &[1])];
        for order in [&[0][..], &[0, 0], &[0, 1, 1], &[0, 2]] {
            assert_eq!(codes(&ops, order), ["order::not-every-op-once"], "{order:?}");
        }
    }
}
