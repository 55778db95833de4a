//! Two readings of one program are the same: ops, nesting, operands, types.

use std::collections::HashMap;

use memplan_mlir::{BlockId, Document, Form, OpId, Type, ValueId};

struct Comparison<'a> {
    name: &'a str,
    left: &'a Document,
    right: &'a Document,
    values: HashMap<ValueId, ValueId>,
    /// Operands are compared when every value has been met.
    operands: Vec<(OpId, OpId)>,
}

/// Asserts that `left`, in any form, and `right`, all generic, are the same program.
pub(crate) fn assert_same(name: &str, left: &Document, right: &Document) {
    let mut comparison = Comparison { name, left, right, values: HashMap::new(), operands: Vec::new() };
    let tops = |document: &Document| -> Vec<Vec<OpId>> {
        let tops = document.top_blocks().iter();
        tops.map(|&block| top_ops(document, block)).collect()
    };
    let (left_tops, right_tops) = (tops(left), tops(right));
    assert_eq!(left_tops.len(), right_tops.len(), "{name}: number of parts");
    for (l, r) in left_tops.iter().zip(&right_tops) {
        comparison.op_lists(l, r);
    }
    comparison.check_operands();
}

/// The ops of a part; mlir-opt wraps them into a module if there is more than one, or none.
fn top_ops(document: &Document, block: BlockId) -> Vec<OpId> {
    let ops = document.ops(block);
    let [only] = ops else {
        return ops.to_vec();
    };
    let anonymous = document.name(*only) == "builtin.module"
        && document.symbol_name(*only).is_none()
        && document.attributes(*only).is_empty();
    if anonymous {
        let body = document.regions(*only)[0];
        document.blocks(body).first().map_or(Vec::new(), |&b| document.ops(b).to_vec())
    } else {
        ops.to_vec()
    }
}

impl Comparison<'_> {
    fn place(&self, op: OpId) -> String {
        let span = self.left.op(op).span;
        let (line, column) = memplan_core::line_column(self.left.source(), span.start as usize);
        let text: String = self.left.text(span).chars().take(120).collect();
        format!("{}:{line}:{column}: {text}", self.name)
    }

    fn op_lists(&mut self, left: &[OpId], right: &[OpId]) {
        let names = |document: &Document, ops: &[OpId]| -> Vec<String> {
            ops.iter().map(|&op| document.name(op).to_owned()).collect()
        };
        let context = left.first().map_or(String::new(), |&op| self.place(op));
        assert_eq!(names(self.left, left), names(self.right, right), "{context}");
        for (&l, &r) in left.iter().zip(right) {
            self.op(l, r);
        }
    }

    // The corpus is shallow, so recursion is fine here.
    fn op(&mut self, left: OpId, right: OpId) {
        let place = self.place(left);
        if self.left.op(left).form == Form::Implicit {
            self.names_below(left, right);
            return;
        }
        let (l, r) = (self.left.results(left), self.right.results(right));
        // A generic op may leave unused results without names.
        if !l.is_empty() {
            assert_eq!(l.len(), r.len(), "results: {place}");
        }
        let (l, r) = (l.to_vec(), r.to_vec());
        self.pair_values(&l, &r, left);
        self.operands.push((left, right));
        let (l, r) = (self.left.successors(left), self.right.successors(right));
        assert_eq!(l.len(), r.len(), "successors: {place}");
        let (l, r) = (self.left.regions(left).to_vec(), self.right.regions(right).to_vec());
        assert_eq!(l.len(), r.len(), "regions: {place}");
        for (l, r) in l.into_iter().zip(r) {
            let (l, r) = (self.left.blocks(l).to_vec(), self.right.blocks(r).to_vec());
            assert_eq!(l.len(), r.len(), "blocks: {place}");
            for (l, r) in l.into_iter().zip(r) {
                self.block(l, r, left);
            }
        }
    }

    fn block(&mut self, left: BlockId, right: BlockId, op: OpId) {
        let ops = self.left.ops(left).to_vec();
        let (l, r) = (self.left.arguments(left), self.right.arguments(right));
        // Bodies that only the generic form spells out have no arguments in the custom form.
        let hidden = ops.iter().any(|&op| self.left.op(op).form == Form::Implicit) && l.is_empty()
            || ops.iter().any(|&op| self.is_shorthand(op));
        if !hidden {
            assert_eq!(l.len(), r.len(), "arguments: {}", self.place(op));
            let (l, r) = (l.to_vec(), r.to_vec());
            self.pair_values(&l, &r, op);
        }
        let right = self.right.ops(right).to_vec();
        self.op_lists(&ops, &right);
    }

    /// The op in `linalg.map { arith.addf }`: its operands are not written.
    fn is_shorthand(&self, op: OpId) -> bool {
        let parent = self.left.parent_op(op).map(|parent| self.left.name(parent));
        matches!(parent, Some("linalg.map" | "linalg.reduce"))
            && self.left.op(op).span.end <= self.left.op(op).name_span.end
            && self.left.op(op).form == Form::Custom
    }

    fn names_below(&mut self, left: OpId, right: OpId) {
        let list = |document: &Document, op: OpId| -> Vec<usize> {
            let regions = document.regions(op).iter();
            regions.map(|&region| document.blocks(region).len()).collect()
        };
        assert_eq!(list(self.left, left), list(self.right, right), "{}", self.place(left));
    }

    /// Notes which values are the same. Where a table knows the op that makes them, their types agree. Of other ops, the
    /// custom form need not tell the types; but what is memory must not look like anything else.
    fn pair_values(&mut self, left: &[ValueId], right: &[ValueId], op: OpId) {
        let known = self.left.info(op).known;
        for (&l, &r) in left.iter().zip(right) {
            self.values.insert(l, r);
            let (a, b) = (self.left.ty(l), self.right.ty(r));
            let unsaid = matches!(a, Type::Opaque(text) if text == "a number" || text == "!gpu.handle");
            // A comparison of vectors gives a vector of i1; nobody needs it.
            let truth = *a == Type::Integer { width: 1 } && matches!(b, Type::Vector { .. });
            let lost = b.may_be_memory() && !a.may_be_memory();
            let agree = if known { a == b || unsaid || truth } else { !lost };
            assert!(agree, "types {a:?} and {b:?}: {}", self.place(op));
        }
    }

    fn check_operands(&self) {
        for &(left, right) in &self.operands {
            if self.is_shorthand(left) {
                continue;
            }
            let place = self.place(left);
            let operands = self.left.operands(left).iter();
            let mapped: Vec<Option<ValueId>> = operands.map(|value| self.values.get(value).copied()).collect();
            let expected: Vec<Option<ValueId>> = self.right.operands(right).iter().copied().map(Some).collect();
            let text = |value: &Option<ValueId>| value.map_or("?", |value| self.right.value_name(value)).to_owned();
            let describe = |values: &[Option<ValueId>]| values.iter().map(text).collect::<Vec<_>>();
            assert_eq!(describe(&mapped), describe(&expected), "operands: {place}");
            assert_eq!(mapped, expected, "operands: {place}");
            // Which operands a branch passes to which block is only known of ops with a table.
            let branches = if self.left.info(left).known { self.left.successors(left).len() } else { 0 };
            for index in 0..branches {
                let passed: Vec<Option<ValueId>> = self
                    .left
                    .successor_operands(left, index)
                    .iter()
                    .map(|value| self.values.get(value).copied())
                    .collect();
                let there: Vec<Option<ValueId>> =
                    self.right.successor_operands(right, index).iter().copied().map(Some).collect();
                assert_eq!(passed, there, "successor operands: {place}");
            }
        }
    }
}
