//! Ops that compute each element of their output from the elements at the same
//! place of their inputs: the output may lie on an input, byte for byte.
//!
//! A `linalg.generic` is a loop nest whose *indexing maps* say which element of each operand an iteration uses:
//!
//! ```text
//!   indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>]    ins(%a) outs(%b)
//!   iteration (i, j) reads %a[i, j] and writes %b[j, i]
//! ```
//!
//! Two facts about it can be read off the text. It *writes* an output whole if the output's map is a permutation of all
//! loop dimensions (then each element gets its turn) and the body does not use what was there. And the output may lie
//! on an input that has the very same map, if the body accesses no other memory: each iteration then reads only the
//! element that it writes.
//!
//! The body of the op is a region with one argument for each operand, the element that the iteration uses.

use super::*;
use crate::dialect::Selector;
use crate::document::NameKind;
use crate::ty::split_commas;

/// Named linalg ops that compute each element from the elements at the same place of their inputs.
const ELEMENTWISE: &[&str] = &[
    "abs",
    "add",
    "ceil",
    "copy",
    "div",
    "div_unsigned",
    "erf",
    "exp",
    "floor",
    "log",
    "map",
    "max",
    "min",
    "mul",
    "negf",
    "powf",
    "reciprocal",
    "round",
    "rsqrt",
    "select",
    "sqrt",
    "square",
    "sub",
    "tanh",
];

impl Lowering<'_> {
    /// Whether the op still computes the right thing with `output` on `input`'s bytes. Only ops of linalg are looked
    /// at.
    ///
    /// The caller asks only about outputs that the op writes whole. The map of such an output is a permutation of the
    /// loops, so each element is written by one iteration, and no later iteration needs the input's element under it.
    pub(super) fn permits_overlay(&self, op: OpId, output: ValueId, input: ValueId) -> bool {
        let document = self.document;
        let is_linalg = document.kind(op).is(NameKind::LINALG);
        let Some(name) = is_linalg.then(|| document.name(op).strip_prefix("linalg.")).flatten() else {
            return false;
        };
        let same_place = match name {
            "generic" => self.same_maps(op, output, input),
            _ => ELEMENTWISE.contains(&name),
        };
        same_place && self.same_shape(output, input) && !self.touches_memory_inside(op)
    }

    /// Whether every use of `input` by a `linalg.generic` has the map of `output`. A value that is several outputs at
    /// once has no single map, and the answer is no.
    fn same_maps(&self, op: OpId, output: ValueId, input: ValueId) -> bool {
        let Some(of_output) = self.output_position(op, output).and_then(|at| self.map_at(op, at)) else {
            return false;
        };
        let operands = self.document.operands(op);
        let mut uses = (0..operands.len()).filter(|&at| operands[at] == input);
        uses.all(|at| self.map_at(op, at).as_ref() == Some(&of_output))
    }

    /// Whether element i of `left` lies as many bytes from the start of `left` as element i of `right` lies from the
    /// start of `right`, for every i. Then one value can be overwritten by the other, element by element.
    fn same_shape(&self, left: ValueId, right: ValueId) -> bool {
        let (Some(l), Some(r)) = (self.document.ty(left).as_memref(), self.document.ty(right).as_memref()) else {
            return false;
        };
        // The distance from one element to the next, in bytes.
        let bytes = |memref: &crate::MemRef| memref.element.stride_bytes();
        // Two `?` in shapes may be different numbers, and two unknown element sizes may differ, so such types are
        // refused. A value with gaps between its elements (a slice) is refused, too: `covers_all`.
        l.shape == r.shape
            && l.has_static_shape()
            && self.covers_all(left)
            && self.covers_all(right)
            && bytes(l).is_some()
            && bytes(l) == bytes(r)
    }

    /// Whether a `linalg.generic` assigns every element of this output without reading it, and the output is its whole
    /// buffer. Then the op replaces the buffer's content, and nothing that was there before is needed.
    pub(super) fn generic_writes(&self, op: OpId, output: ValueId) -> bool {
        let document = self.document;
        if !document.kind(op).is(NameKind::LINALG) || document.name(op) != "linalg.generic" || !self.covers_all(output)
        {
            return false;
        }
        let Some(position) = self.output_position(op, output) else {
            return false;
        };
        // With a permutation of all loop dimensions, each element of the output is assigned by exactly one iteration.
        let permutation = self.map_at(op, position).is_some_and(|map| is_permutation(&map));
        permutation && !self.body_uses(op, position)
    }

    /// Whether a `linalg.map` uses what was in its output. The shorthand `{ arith.addf }`, whose block arguments are
    /// not written, takes only the inputs. If it is not clear which output `output` is, the answer is yes.
    pub(super) fn map_reads(&self, op: OpId, output: ValueId) -> bool {
        let document = self.document;
        if !document.kind(op).is(NameKind::LINALG) || document.name(op) != "linalg.map" {
            return false;
        }
        let entry = document.regions(op).first().and_then(|&region| document.blocks(region).first());
        let shorthand = entry.is_some_and(|&block| document.arguments(block).is_empty());
        let position = self.output_position(op, output);
        !shorthand && position.is_none_or(|position| self.body_uses(op, position))
    }

    /// Where a value stands among the outputs, if it is there exactly once.
    fn output_position(&self, op: OpId, value: ValueId) -> Option<usize> {
        let operands = self.document.operands(op);
        let outs = self.document.select(op, &Selector::Group("outs".into()));
        let mut positions = outs.filter(|&at| operands.get(at) == Some(&value));
        let first = positions.next()?;
        positions.next().is_none().then_some(first)
    }

    /// Whether the body uses its argument for the operand at this position. Yes if there is no such argument, because
    /// then nothing is known.
    fn body_uses(&self, op: OpId, position: usize) -> bool {
        let document = self.document;
        let entry = document.regions(op).first().and_then(|region| document.blocks(*region).first());
        let Some(&argument) = entry.and_then(|&block| document.arguments(block).get(position)) else {
            return true;
        };
        self.inside(op).any(|op| document.operands(op).contains(&argument))
    }

    /// Whether any op in the body accesses memory by itself, beside the elements that it is given.
    fn touches_memory_inside(&self, op: OpId) -> bool {
        self.inside(op).any(|op| !self.memory_operands(op).is_empty())
    }

    /// All ops in the regions of an op.
    fn inside(&self, op: OpId) -> impl Iterator<Item = OpId> + use<> {
        (index_of(op) + 1..index_of(self.last_inside[op]) + 1).map(OpId::from_index)
    }

    /// The indexing map of the operand at a position of a `linalg.generic`, without blanks:
    /// `affine_map<(d0,d1)->(d1,d0)>`. An alias such as `#map` is replaced by what it stands for. The maps of an op are
    /// asked for by each pair of its operands, so those of the last op are kept.
    fn map_at(&self, op: OpId, position: usize) -> Option<Rc<str>> {
        let mut last = self.maps.borrow_mut();
        if last.as_ref().is_none_or(|(of, _)| *of != op) {
            *last = Some((op, self.maps_of(op).unwrap_or_default()));
        }
        last.as_ref()?.1.get(position)?.clone()
    }

    /// The indexing maps of a `linalg.generic`.
    fn maps_of(&self, op: OpId) -> Option<Maps> {
        let document = self.document;
        let maps = document.attribute(op, "indexing_maps")?;
        let maps = maps.strip_prefix('[')?.strip_suffix(']')?;
        let map = |text: &str| {
            let text = match text.starts_with('#') {
                true => document.alias(text, document.op(op).span)?,
                false => text,
            };
            Some(text.chars().filter(|c| !c.is_whitespace()).collect::<String>().into())
        };
        Some(split_commas(maps).into_iter().map(map).collect())
    }
}

/// Whether `affine_map<(d0,d1)->(d1,d0)>` names each dimension exactly once.
fn is_permutation(map: &str) -> bool {
    let inside = map.strip_prefix("affine_map<(").and_then(|map| map.strip_suffix(")>"));
    let Some((dimensions, results)) = inside.and_then(|map| map.split_once(")->(")) else {
        return false;
    };
    // With equal sorted names each dimension occurs among the results. Equal names among the dimensions themselves
    // would be a faulty map.
    let sorted = |text: &str| {
        let mut names: Vec<String> = text.split(',').map(str::to_owned).collect();
        names.sort_unstable();
        names
    };
    let (dimensions, results) = (sorted(dimensions), sorted(results));
    let distinct = dimensions.windows(2).all(|pair| pair[0] != pair[1]);
    distinct && dimensions == results
}

#[cfg(test)]
mod tests {
    use super::is_permutation;

    #[test]
    fn permutations() {
        assert!(is_permutation("affine_map<(d0,d1)->(d1,d0)>"));
        assert!(is_permutation("affine_map<(d0)->(d0)>"));
        assert!(is_permutation("affine_map<()->()>"));
        for map in [
            "affine_map<(d0,d1)->(d0)>",
            "affine_map<(d0,d1)->(d0,d0)>",
            "affine_map<(d0)->(d0+1)>",
            "affine_map<(d0)[s0]->(d0)>",
            "affine_map<(d0)->(0)>",
        ] {
            assert!(!is_permutation(map), "{map}");
        }
    }
}
