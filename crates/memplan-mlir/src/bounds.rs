//! Numbers that ops carry in their syntax: constants, loop bounds, slices.
//!
//! The generic form has them in attributes, the custom form between its words;
//! these functions give the same answer for both:
//!
//! ```text
//! memref.subview %a[2, %n] [4, 16] [1, 1] : …                           the custom form
//! "memref.subview"(%a, %n) <{static_offsets = array<i64: 2, MIN>, …}>    the generic form
//! ```
//!
//! A number that is only known at run time is an operand. In a list of the generic form the smallest `i64` (here `MIN`)
//! stands in its place, and the operands fill these places in order.

// `integer` and `integers` read the text of an attribute (`5 : i64`, `array<i64: 2, 4>`). `split_commas` splits a
// text at the commas that stand in no brackets.
use crate::attribute::{integer, integers};
use crate::document::{Definition, Document, Form, OpId, ValueId};
use crate::lex::trim_trivia;
use crate::ty::{Commas, Type};

/// A number that is known now, or the value that holds it at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Known.
    Static(i64),
    /// A value of the program.
    Dynamic(ValueId),
}

/// One dimension of a loop nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopBounds {
    /// First index.
    pub lower: Bound,
    /// One past the last.
    pub upper: Bound,
    /// Distance between indices.
    pub step: Bound,
}

/// Offsets, sizes and strides of a slice, a dimension each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// First element.
    pub offsets: Vec<Bound>,
    /// Number of elements.
    pub sizes: Vec<Bound>,
    /// Distance between elements.
    pub strides: Vec<Bound>,
}

/// The number that stands in a list of the generic form for an entry that is an operand.
const DYNAMIC: i64 = i64::MIN;

impl Document {
    /// The number a value always has, if an `arith.constant` or `index.constant` defines it; `None` otherwise. It is the
    /// signed number of its type: `200 : i8` is -56. (`true` is 1.)
    pub fn constant(&self, value: ValueId) -> Option<i64> {
        let Definition::Result { op, .. } = self.value(value).definition else {
            return None;
        };
        if !matches!(self.name(op), "arith.constant" | "index.constant") {
            return None;
        }
        let signed = |number: i64| match self.ty(value) {
            &Type::Integer { width: width @ 2..64 } => (number << (64 - width)) >> (64 - width),
            _ => number,
        };
        if let Some(text) = self.attribute(op, "value") {
            return integer(text).map(signed);
        }
        // `arith.constant {attributes} 5 : index`: the number follows the dictionary, or the op's name.
        let last = self.dictionaries(op).last().map(|span| span.end);
        let start = last.unwrap_or(self.op(op).name_span.end) as usize;
        let text = self.source().get(start..self.op(op).span.end as usize)?;
        integer(text).map(signed)
    }

    /// A bound as a number, looking through constants.
    pub fn known(&self, bound: Bound) -> Option<i64> {
        match bound {
            Bound::Static(number) => Some(number),
            Bound::Dynamic(value) => self.constant(value),
        }
    }

    /// Whether an `scf.for` takes its bounds as unsigned numbers: `scf.for unsigned %i = …`. To such a loop the `i8` -56
    /// is 200.
    pub(crate) fn is_unsigned_loop(&self, op: OpId) -> bool {
        let word = || self.header_text(op).is_some_and(|text| trim_trivia(text).starts_with("unsigned"));
        self.attribute(op, "unsignedCmp").is_some() || (self.op(op).form != Form::Generic && word())
    }

    /// The bounds of a loop, outermost dimension first; `None` if the op is no loop, or if its bounds are neither signed
    /// numbers nor values (bounds of affine loops may be expressions).
    pub fn loop_bounds(&self, op: OpId) -> Option<Vec<LoopBounds>> {
        match self.name(op) {
            "scf.for" if self.is_unsigned_loop(op) => None,
            "scf.for" => {
                let [lower, upper, step, ..] = self.operands(op) else {
                    return None;
                };
                Some(vec![LoopBounds {
                    lower: Bound::Dynamic(*lower),
                    upper: Bound::Dynamic(*upper),
                    step: Bound::Dynamic(*step),
                }])
            }
            "scf.parallel" => self.parallel_bounds(op),
            "scf.forall" => self.forall_bounds(op),
            "affine.for" => self.affine_bounds(op).map(|bounds| vec![bounds]),
            _ => None,
        }
    }

    /// How many iterations each dimension of a loop has, outermost first, with `None` for a dimension where that is
    /// not known; no list at all if the bounds cannot be read.
    pub fn trip_counts(&self, op: OpId) -> Option<Vec<Option<u64>>> {
        let bounds = self.loop_bounds(op)?;
        Some(bounds.iter().map(|one| self.trip_count(one)).collect())
    }

    /// How many iterations a dimension has: from 2 up to 64 in steps of 5 it is 13. `None` if a bound is no constant,
    /// or if the step is not positive.
    fn trip_count(&self, bounds: &LoopBounds) -> Option<u64> {
        let [lower, upper, step] = [bounds.lower, bounds.upper, bounds.step].map(|bound| self.known(bound));
        let (lower, upper, step) = (i128::from(lower?), i128::from(upper?), i128::from(step?));
        if step <= 0 {
            return None;
        }
        // A loop whose upper bound is below the lower one does not run. The quotient is rounded up, because a last step
        // that is cut short is an iteration, too.
        let distance = (upper - lower).max(0);
        u64::try_from((distance + step - 1) / step).ok()
    }

    /// The bounds of an `scf.parallel`: all lower bounds, then all upper ones, then all steps, as operands.
    fn parallel_bounds(&self, op: OpId) -> Option<Vec<LoopBounds>> {
        let operands = self.operands(op);
        let block = *self.blocks(*self.regions(op).first()?).first()?;
        // The body has one argument for each dimension.
        let count = self.arguments(block).len();
        // The operand at a position; `None` if the text has too few operands.
        let at = |index: usize| operands.get(index).copied().map(Bound::Dynamic);
        (0..count)
            .map(|dimension| {
                Some(LoopBounds {
                    lower: at(dimension)?,
                    upper: at(count + dimension)?,
                    step: at(2 * count + dimension)?,
                })
            })
            .collect()
    }

    /// The bounds of all dimensions of an `scf.forall`. Numbers stand in the text or in attributes; bounds that are
    /// only known at run time are operands, in the order lower bounds, upper bounds, steps. Without lower bounds and
    /// steps these are 0 and 1.
    fn forall_bounds(&self, op: OpId) -> Option<Vec<LoopBounds>> {
        let mut operands = self.operands(op).iter().copied();
        let [lower, upper, step] = match self.op(op).form {
            Form::Generic => ["staticLowerBound", "staticUpperBound", "staticStep"]
                .map(|name| self.static_list(op, name, &mut operands)),
            _ => {
                let lists = self.forall_lists(op)?;
                lists.map(|list| list.and_then(|text| self.bound_list(text, &mut operands)))
            }
        };
        let upper = upper?;
        let count = upper.len();
        let lower = lower.unwrap_or_else(|| vec![Bound::Static(0); count]);
        let step = step.unwrap_or_else(|| vec![Bound::Static(1); count]);
        // The text is faulty: every dimension has one bound of each kind.
        if lower.len() != count || step.len() != count {
            return None;
        }
        // One `LoopBounds` for each dimension.
        let zip = lower.into_iter().zip(upper).zip(step);
        let bounds = zip.map(|((lower, upper), step)| LoopBounds { lower, upper, step });
        Some(bounds.collect())
    }

    /// The texts of the lists of lower bounds, upper bounds and steps in the header of an `scf.forall`:
    /// `(%i) = (…) to (…) step (…)`, or `(%i) in (…)` with upper bounds only.
    fn forall_lists(&self, op: OpId) -> Option<[Option<&str>; 3]> {
        let text = self.header_text(op)?;
        // The list in parentheses behind a word. The `)` in front of the word ends the list before it, so a name that
        // contains the word is not mistaken for it.
        let after = |word: &str| {
            let start = text.find(word)? + word.len();
            let rest = text.get(start..)?.trim_start().strip_prefix('(')?;
            rest.split(')').next()
        };
        match after(") in") {
            Some(upper) => Some([None, Some(upper), None]),
            None => Some([after(") ="), after(") to"), after(") step")]),
        }
    }

    /// The text of an op from its name to its first region, or to its end.
    fn header_text(&self, op: OpId) -> Option<&str> {
        let start = self.op(op).name_span.end as usize;
        let region = self.regions(op).first();
        let end = region.map_or(self.op(op).span.end, |&region| self.region(region).span.start);
        self.source().get(start..end as usize)
    }

    /// The bounds of a list such as `4, %n, 8` of a custom form: numbers as written, values from the operands in
    /// order. `None` if an entry is neither.
    fn bound_list(&self, text: &str, operands: &mut impl Iterator<Item = ValueId>) -> Option<Vec<Bound>> {
        let parts = Commas::of(text).filter(|part| !part.is_empty());
        parts
            .map(|part| match part.starts_with('%') {
                true => operands.next().map(Bound::Dynamic),
                false => part.parse().ok().map(Bound::Static),
            })
            .collect()
    }

    /// The bounds of a list attribute of a generic form; operands fill the places of [`DYNAMIC`] entries in order.
    /// `None` if there is no such attribute, or too few operands.
    fn static_list(&self, op: OpId, name: &str, operands: &mut impl Iterator<Item = ValueId>) -> Option<Vec<Bound>> {
        let numbers = integers(self.attribute(op, name)?)?;
        // The n-th entry that is not written as a number is the n-th operand that is left.
        let bound = |number| match number {
            DYNAMIC => operands.next().map(Bound::Dynamic),
            number => Some(Bound::Static(number)),
        };
        numbers.into_iter().map(bound).collect()
    }

    /// Bounds of an `affine.for` if they are constants; the step is 1 where none is written.
    fn affine_bounds(&self, op: OpId) -> Option<LoopBounds> {
        let (lower, upper, step) = match self.op(op).form {
            Form::Generic => {
                // The constant result of a map attribute; `None` if the map depends on operands.
                let map = |name| self.constant_map(self.attribute(op, name)?, op);
                let step = self.integer_attribute(op, "step").unwrap_or(1);
                (map("lowerBoundMap")?, map("upperBoundMap")?, step)
            }
            _ => {
                let text = self.header_text(op)?;
                // `%i = 2 to 64 step 5`
                // Anything that does not look like this (a map, a name, `max`) fails to parse and gives `None`.
                let mut words = text.split_once('=')?.1.split_whitespace();
                let lower = words.next()?.parse().ok()?;
                let upper = (words.next()? == "to").then(|| words.next())??.parse().ok()?;
                let step = match words.next() {
                    Some("step") => words.next()?.parse().ok()?,
                    _ => 1,
                };
                (lower, upper, step)
            }
        };
        Some(LoopBounds { lower: Bound::Static(lower), upper: Bound::Static(upper), step: Bound::Static(step) })
    }

    /// The number of `affine_map<() -> (5)>`, also behind an alias; `None` for any other map.
    fn constant_map(&self, text: &str, op: OpId) -> Option<i64> {
        let text = match text.starts_with('#') {
            true => self.alias(text, self.op(op).span)?,
            false => text,
        };
        let map = text.strip_prefix("affine_map<")?.strip_suffix('>')?;
        let (dimensions, result) = map.split_once("->")?;
        let constant = dimensions.trim() == "()";
        let number = result.trim().strip_prefix('(')?.strip_suffix(')')?;
        constant.then(|| number.trim().parse().ok()).flatten()
    }

    /// Offsets, sizes and strides of a `memref.subview` or `tensor.extract_slice`; `None` for other ops, and if the
    /// lists cannot be read.
    pub fn slice(&self, op: OpId) -> Option<Slice> {
        let (mut operands, lists) = match self.name(op) {
            // The first operand is what is sliced; the others fill the three lists.
            "memref.subview" | "tensor.extract_slice" => (self.operands(op).iter().copied().skip(1), 3),
            _ => return None,
        };
        let mut parts = match self.op(op).form {
            Form::Generic => ["static_offsets", "static_sizes", "static_strides"]
                .map(|name| self.static_list(op, name, &mut operands)),
            _ => {
                // The three lists in brackets, in the order offsets, sizes, strides. They take the operands in the
                // same order.
                let mut texts = self.bracket_lists(op).into_iter();
                [(); 3].map(|()| self.bound_list(texts.next()?, &mut operands))
            }
        };
        debug_assert_eq!(parts.len(), lists);
        Some(Slice { offsets: parts[0].take()?, sizes: parts[1].take()?, strides: parts[2].take()? })
    }

    /// The texts between the brackets of `%a[2, %n] [4, 16] [1, 1] : …`.
    fn bracket_lists(&self, op: OpId) -> Vec<&str> {
        let Some(text) = self.header_text(op) else {
            return Vec::new();
        };
        let mut lists = Vec::new();
        let mut rest = text;
        // `[` opens the next list. A `:` that comes first ends the operands.
        while let Some(open) = rest.find(['[', ':']) {
            // Types follow, with brackets of their own.
            if rest.as_bytes().get(open) == Some(&b':') {
                break;
            }
            let Some(close) = rest[open..].find(']') else {
                break;
            };
            lists.push(&rest[open + 1..open + close]);
            rest = &rest[open + close + 1..];
        }
        lists
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialects;

    const SOURCE: &str = r#"
func.func @f(%n: index, %a: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant {acme.tag = 3 : i64} 8 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c8 step %c3 { }
  scf.forall (%i, %j) in (4, %n) { }
  scf.forall (%i, %j) = (2, %n) to (16, %c8) step (4, 1) { }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %n) step (%c3, %c3) { scf.reduce }
  affine.for %i = 2 to 64 step 5 { }
  affine.for %i = 0 to %n { }
  %s = memref.subview %a[2, %n] [4, 16] [1, 1] : memref<16x16xf32> to memref<4x16xf32, strided<[16, 1], offset: ?>>
  return
}
"#;

    fn generic(source: &str) -> Option<String> {
        use std::io::Write;
        let mut child = std::process::Command::new("mlir-opt-22")
            .args(["--allow-unregistered-dialect", "--mlir-print-op-generic"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .ok()?;
        child.stdin.take()?.write_all(source.as_bytes()).ok()?;
        String::from_utf8(child.wait_with_output().ok()?.stdout).ok()
    }

    fn check(source: &str) {
        let document = Document::read(source, Dialects::builtin()).unwrap();
        let trips: Vec<_> = document
            .op_ids()
            .filter(|&op| document.info(op).traits.has(crate::dialect::Traits::LOOP_LIKE))
            .map(|op| document.trip_counts(op))
            .collect();
        assert_eq!(
            trips,
            [
                Some(vec![Some(3)]),
                Some(vec![Some(4), None]),
                Some(vec![Some(4), None]),
                Some(vec![Some(3), None]),
                Some(vec![Some(13)]),
                None,
            ]
        );
        let subview = document.op_ids().find(|&op| document.name(op) == "memref.subview");
        let slice = document.slice(subview.unwrap()).unwrap();
        assert_eq!(slice.offsets[0], Bound::Static(2));
        assert!(matches!(slice.offsets[1], Bound::Dynamic(_)));
        assert_eq!(slice.sizes, [Bound::Static(4), Bound::Static(16)]);
        assert_eq!(slice.strides, [Bound::Static(1), Bound::Static(1)]);
    }

    #[test]
    fn bounds_and_slices_of_both_forms() {
        check(SOURCE);
        match generic(SOURCE) {
            Some(text) => check(&text),
            None => memplan_testkit::peers::missing("mlir-opt-22"),
        }
    }
}
