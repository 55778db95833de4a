//! The dialect linalg: structured ops on whole buffers. `ins` are read. `outs` are updated; where the op by its
//! definition assigns every element, they are written from end to end and their old content is not needed.
//!
//! The custom form of a named op (`linalg.add ins(…) outs(…)`) does not show its body, the generic form does. The
//! second half of this file gives the ops of such a body, so that both forms give the same list of ops.
//!
//! In the rows: `gives` is an op that only computes, with the rule by which its form tells the types of its results;
//! `effects` lists what an op does to which operands; `terminates` is a terminator that gives values to the op around
//! it; `with_segments` names the groups of operands of the generic form; `ending_in` names the terminator that the
//! form leaves out.
//! Rules for the types of results (`ResultTypes`): `Outs` is the types of the operands in `outs(…)`; `Index` is
//! `index`.
//! The glossary explains the values of `Control`, `Flow` and `Header`.

use super::{Access, Control, Flow, Header, OpInfo, ResultTypes, Row, Selector};
use std::borrow::Cow;

/// The operands of a group: `ins` or `outs`.
const fn group(name: &'static str) -> Selector {
    Selector::Group(Cow::Borrowed(name))
}

/// Reads its inputs; may read its outputs, and writes some or all of their elements.
const UPDATE: &[(Selector, Access)] = &[(group("ins"), Access::Read), (group("outs"), Access::Update)];
/// Reads its inputs, and assigns every element of its outputs without reading them.
const WRITE: &[(Selector, Access)] = &[(group("ins"), Access::Read), (group("outs"), Access::Write)];

/// The table of the dialect. `linalg.*` covers all structured ops without a row of their own: they may read what is in
/// their outputs.
pub(super) fn rows() -> Vec<Row> {
    let ins_outs = |effects| OpInfo::effects(effects).with_segments(&["ins", "outs"]);
    // An op with a body that it runs once for each element. The body's arguments are elements, not buffers.
    let body = |effects, header| OpInfo {
        regions: Some(1),
        header,
        control: Control::Loop,
        flow: Flow::Elements,
        ..ins_outs(effects)
    };
    let mut rows = vec![
        ("linalg.*", ins_outs(UPDATE)),
        ("linalg.generic", body(UPDATE, Header::Plain)),
        ("linalg.map", body(WRITE, Header::Typed).with_results(ResultTypes::Outs).ending_in("linalg.yield")),
        ("linalg.reduce", body(UPDATE, Header::Typed).with_results(ResultTypes::Outs).ending_in("linalg.yield")),
        ("linalg.index", OpInfo::gives(ResultTypes::Index)),
        ("linalg.yield", OpInfo::terminates()),
    ];
    rows.extend(FULL_WRITES.iter().map(|name| (*name, ins_outs(WRITE))));
    for name in ["linalg.transpose", "linalg.broadcast"] {
        rows.push((name, ins_outs(WRITE).with_results(ResultTypes::Outs)));
    }
    rows
}

/// Ops that assign every element of their output without reading it.
const FULL_WRITES: &[&str] = &[
    "linalg.abs",
    "linalg.add",
    "linalg.ceil",
    "linalg.copy",
    "linalg.div",
    "linalg.div_unsigned",
    "linalg.erf",
    "linalg.exp",
    "linalg.fill",
    "linalg.floor",
    "linalg.log",
    "linalg.max",
    "linalg.min",
    "linalg.mul",
    "linalg.negf",
    "linalg.powf",
    "linalg.reciprocal",
    "linalg.round",
    "linalg.rsqrt",
    "linalg.select",
    "linalg.sqrt",
    "linalg.square",
    "linalg.sub",
    "linalg.tanh",
];

/// The kinds of numbers for which a named op has different arithmetic in its body.
#[derive(Clone, Copy)]
enum Numbers {
    Float,
    Integer,
    Complex,
}

impl Numbers {
    /// The kind of an element type. Integer types begin with one of three letters (`i8`, `si8`, `ui8`); everything else
    /// counts as float.
    fn of(element: &str) -> Numbers {
        match element {
            _ if element.starts_with("complex") => Numbers::Complex,
            _ if element.starts_with(['i', 's', 'u']) => Numbers::Integer,
            _ => Numbers::Float,
        }
    }

    /// One of two ops by the kind of numbers. Complex numbers take the op for floats, because few ops have a form of
    /// their own for them.
    fn pick(self, of_float: &'static str, of_integer: &'static str) -> &'static str {
        match self {
            Numbers::Integer => of_integer,
            Numbers::Float | Numbers::Complex => of_float,
        }
    }

    fn add(self) -> &'static str {
        match self {
            Numbers::Complex => "complex.add",
            _ => self.pick("arith.addf", "arith.addi"),
        }
    }

    fn mul(self) -> &'static str {
        match self {
            Numbers::Complex => "complex.mul",
            _ => self.pick("arith.mulf", "arith.muli"),
        }
    }
}

/// The names of the ops in the body of a named op (`name` is without `linalg.` in front), which only its generic form
/// shows; `None` for ops without a body.
///
/// `inputs` and `output` are the element types as text. Inputs of another type are cast to the type of the output
/// before anything is computed, as unsigned numbers if `unsigned_casts`. `matmul` of `f16` and `f16` into `f32` gives
/// `arith.extf`, `arith.extf`, `arith.mulf`, `arith.addf`, `linalg.yield`.
pub(crate) fn named_linalg_body(
    name: &str,
    inputs: &[&str],
    output: &str,
    unsigned_casts: bool,
) -> Option<Vec<&'static str>> {
    if name.starts_with("quantized") || name.ends_with("_q") {
        return quantized_body(inputs, output);
    }
    let numbers = Numbers::of(output);
    let (add, mul) = (numbers.add(), numbers.mul());
    let unsigned = name.ends_with("_unsigned");
    let compute: &[&'static str] = match name {
        "fill" | "copy" | "transpose" | "broadcast" => &[],
        "exp" => &["math.exp"],
        "log" => &["math.log"],
        "abs" => &[numbers.pick("math.absf", "math.absi")],
        "ceil" => &["math.ceil"],
        "floor" => &["math.floor"],
        "negf" => &["arith.negf"],
        "reciprocal" => &["arith.constant", "arith.divf"],
        "round" => &["math.round"],
        "sqrt" => &["math.sqrt"],
        "rsqrt" => &["math.rsqrt"],
        "square" => &[mul],
        "tanh" => &["math.tanh"],
        "erf" => &["math.erf"],
        "powf" => &["math.powf"],
        "add" => &[add],
        "sub" => &[numbers.pick("arith.subf", "arith.subi")],
        "mul" => &[mul],
        "div" => &[numbers.pick("arith.divf", "arith.divsi")],
        "div_unsigned" => &["arith.divui"],
        "max" => &[numbers.pick("arith.maximumf", "arith.maxsi")],
        "min" => &[numbers.pick("arith.minimumf", "arith.minsi")],
        "select" => &["arith.select"],
        _ if name.starts_with("pooling_") && name.contains("_sum") => &[add],
        // The element type decides between float and integer, and the op's name says whether integers are unsigned.
        _ if name.starts_with("pooling_") && name.contains("_max") => {
            &[numbers.pick("arith.maximumf", if unsigned { "arith.maxui" } else { "arith.maxsi" })]
        }
        _ if name.starts_with("pooling_") && name.contains("_min") => {
            &[numbers.pick("arith.minimumf", if unsigned { "arith.minui" } else { "arith.minsi" })]
        }
        _ if is_contraction(name) => &[mul, add],
        _ => return None,
    };
    // Casts come first, because each operand is converted before anything is computed with it.
    let mut body = casts(name, inputs, output, unsigned_casts);
    body.extend(compute);
    body.push("linalg.yield");
    Some(body)
}

/// Whether a named op sums products, so that its body is a multiplication and an addition.
fn is_contraction(name: &str) -> bool {
    name.contains("matmul")
        || name.contains("matvec")
        || name.contains("vecmat")
        || name.contains("mmt4d")
        || name == "dot"
        || name == "contract"
        || name.starts_with("conv")
        || name.starts_with("depthwise_conv")
}

/// The body of a quantized op: `(a - zero) * (b - zero) + c`, with `a` and `b` cast first where their type is not the
/// output's. `None` if there are fewer than two inputs.
fn quantized_body(inputs: &[&str], output: &str) -> Option<Vec<&'static str>> {
    let mut body = Vec::new();
    for input in inputs.get(..2)? {
        if *input != output {
            body.push(cast(input, output, false));
        }
        body.push("arith.subi");
    }
    body.extend(["arith.muli", "arith.addi", "linalg.yield"]);
    Some(body)
}

/// A cast for every input that is computed with and is not of the output's element type. Inputs of unknown type (`?`)
/// are left out.
fn casts(name: &str, inputs: &[&str], output: &str, unsigned: bool) -> Vec<&'static str> {
    // Of the pooling window (input 1) only the shape is used, and a select's condition (input 0) is no number.
    let skip = |at: usize| (name.starts_with("pooling_") && at == 1) || (name == "select" && at == 0);
    let inputs = inputs.iter().enumerate().filter(|(at, _)| !skip(*at));
    inputs
        .filter(|(_, input)| **input != output && **input != "?")
        .map(|(_, input)| cast(input, output, unsigned))
        .collect()
}

/// The op that converts an element of one type to another. Types that are no integers count as floats.
fn cast(from: &str, to: &str, unsigned: bool) -> &'static str {
    let float = |text: &str| !text.starts_with(['i', 's', 'u']);
    let width = |text: &str| crate::Type::parse(text).bits().unwrap_or(0);
    match (float(from), float(to)) {
        (true, true) if width(from) < width(to) => "arith.extf",
        (true, true) => "arith.truncf",
        (false, true) if unsigned => "arith.uitofp",
        (false, true) => "arith.sitofp",
        (true, false) if unsigned => "arith.fptoui",
        (true, false) => "arith.fptosi",
        (false, false) if width(from) >= width(to) => "arith.trunci",
        (false, false) if unsigned => "arith.extui",
        (false, false) => "arith.extsi",
    }
}
