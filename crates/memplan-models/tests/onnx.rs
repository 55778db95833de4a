//! `.onnx` files: what is read from them, what is inferred, and what is wrong with them.
#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "fuzz/models.rs"]
mod fuzz;

use memplan_core::Id;
use memplan_models::ReadError;
use memplan_models::graph::problem::{Assumptions, place};
use memplan_models::graph::rewrite::{Copied, NewOp, Padding, Rewrite};
use memplan_models::graph::{Control, Home, Model, OpId, TensorId, Timeline};
use memplan_models::onnx::{self, Options, ReadModel, reorder};
use memplan_models::source::Assembled;
use memplan_verify::equivalence::Contents;

// Just enough of the wire format to write models.

fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn int(field: u64, value: i64) -> Vec<u8> {
    [number(field << 3), number(value as u64)].concat()
}

fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    [number(field << 3 | 2), number(content.len() as u64), content.to_vec()].concat()
}

fn text(field: u64, content: &str) -> Vec<u8> {
    bytes(field, content.as_bytes())
}

const FLOAT: i64 = 1;
const INT64: i64 = 7;
const BOOL: i64 = 9;

/// A name with a type; dimensions are numbers or names.
fn info(field: u64, name: &str, element: i64, dimensions: &[&str]) -> Vec<u8> {
    let dimension = |text_or_number: &&str| match text_or_number.parse::<i64>() {
        Ok(value) => bytes(1, &int(1, value)),
        Err(_) if text_or_number.is_empty() => bytes(1, &[]),
        Err(_) => bytes(1, &text(2, text_or_number)),
    };
    let shape: Vec<u8> = dimensions.iter().flat_map(dimension).collect();
    let tensor = [int(1, element), bytes(2, &shape)].concat();
    bytes(field, &[text(1, name), bytes(2, &bytes(1, &tensor))].concat())
}

fn input(name: &str, dimensions: &[&str]) -> Vec<u8> {
    info(11, name, FLOAT, dimensions)
}

fn output(name: &str) -> Vec<u8> {
    bytes(12, &text(1, name))
}

/// An initialiser without content, or with a list of integers.
fn weights(name: &str, dimensions: &[i64], numbers: Option<&[i64]>) -> Vec<u8> {
    let mut content: Vec<u8> = dimensions.iter().flat_map(|&dimension| int(1, dimension)).collect();
    content.extend(int(2, if numbers.is_some() { INT64 } else { FLOAT }));
    content.extend(text(8, name));
    if let Some(numbers) = numbers {
        let raw: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        content.extend(bytes(9, &raw));
    }
    bytes(5, &content)
}

fn ints(name: &str, values: &[i64]) -> Vec<u8> {
    let values: Vec<u8> = values.iter().flat_map(|&value| int(8, value)).collect();
    bytes(5, &[text(1, name), values].concat())
}

fn body(name: &str, graph: &[u8]) -> Vec<u8> {
    bytes(5, &[text(1, name), bytes(6, graph)].concat())
}

fn node(kind: &str, inputs: &[&str], outputs: &[&str], attributes: &[Vec<u8>]) -> Vec<u8> {
    let inputs: Vec<u8> = inputs.iter().flat_map(|name| text(1, name)).collect();
    let outputs: Vec<u8> = outputs.iter().flat_map(|name| text(2, name)).collect();
    bytes(1, &[inputs, outputs, text(3, &format!("the_{kind}")), text(4, kind), attributes.concat()].concat())
}

fn model(graph: &[Vec<u8>]) -> Vec<u8> {
    model_of_version(17, graph)
}

/// A model whose nodes are meant in a version of the standard operators.
fn model_of_version(version: i64, graph: &[Vec<u8>]) -> Vec<u8> {
    [int(1, 8), bytes(7, &graph.concat()), bytes(8, &int(2, version))].concat()
}

fn read(bytes: &Vec<u8>) -> Result<ReadModel, ReadError> {
    onnx::read(bytes, &Options::default())
}

fn code(bytes: &Vec<u8>) -> &'static str {
    read(bytes).unwrap_err().code
}

/// Shape of a tensor of the first graph.
fn shape(model: &Model, name: &str) -> Vec<u64> {
    model.main().unwrap().tensors.iter().find(|tensor| tensor.name == name).unwrap().shape.clone()
}

fn small() -> Vec<u8> {
    model(&[
        input("x", &["1", "3", "8", "8"]),
        weights("w", &[4, 3, 3, 3], None),
        node("Conv", &["x", "w"], &["y"], &[ints("pads", &[1, 1, 1, 1]), ints("strides", &[2, 2])]),
        node("Relu", &["y"], &["z"], &[]),
        output("z"),
    ])
}

#[test]
fn initialisers_are_no_activations() {
    let read = read(&small()).unwrap();
    let graph = read.model.main().unwrap();
    assert_eq!(shape(&read.model, "z"), [1, 4, 4, 4]);
    let weights = graph.tensors.iter().find(|tensor| tensor.name == "w").unwrap();
    assert_eq!(weights.home, Home::File);
    let placed = place(&read.model, Timeline::new(&read.model).unwrap(), Assumptions::default()).unwrap();
    let names: Vec<&str> = placed.problem.buffers().iter().map(|buffer| buffer.name.as_str()).collect();
    assert_eq!(names, ["x", "z", "y"], "outputs are known before nodes");
}

#[test]
fn symbolic_dimensions_want_a_value() {
    let symbolic = model(&[input("x", &["batch", "", "8"]), node("Relu", &["x"], &["y"], &[]), output("y")]);
    let error = read(&symbolic).unwrap_err();
    assert_eq!(error.code, "onnx::symbolic-dimension");
    assert_eq!(error.help.unwrap(), "give each a value, as in --dim batch=1 --dim x.1=1");
    let dimensions = [("batch".to_owned(), 2), ("x.1".to_owned(), 3)].into_iter().collect();
    let read = onnx::read(&symbolic, &Options { dimensions, ..Options::default() }).unwrap();
    assert_eq!(shape(&read.model, "y"), [2, 3, 8]);
}

#[test]
fn shapes_computed_in_the_graph_are_followed() {
    let exported = model(&[
        input("x", &["2", "3", "4", "5"]),
        weights("zero", &[], Some(&[0])),
        weights("rest", &[1], Some(&[-1])),
        node("Shape", &["x"], &["dims"], &[]),
        node("Gather", &["dims", "zero"], &["batch"], &[]),
        node("Unsqueeze", &["batch"], &["batch1"], &[ints("axes", &[0])]),
        node("Concat", &["batch1", "rest"], &["wanted"], &[bytes(5, &[text(1, "axis"), int(3, 0)].concat())]),
        node("Reshape", &["x", "wanted"], &["flat"], &[]),
        output("flat"),
    ]);
    assert_eq!(shape(&read(&exported).unwrap().model, "flat"), [2, 60]);
}

fn attribute(name: &str, value: i64) -> Vec<u8> {
    bytes(5, &[text(1, name), int(3, value)].concat())
}

#[test]
fn a_shape_may_be_taken_in_part() {
    let parts = model(&[
        input("x", &["2", "3", "4", "5"]),
        node("Shape", &["x"], &["last"], &[attribute("start", -2)]),
        node("Shape", &["x"], &["first"], &[attribute("end", 1)]),
        node("Concat", &["first", "last"], &["wanted"], &[attribute("axis", 0)]),
        node("ConstantOfShape", &["wanted"], &["y"], &[]),
        node("Relu", &["y"], &["z"], &[]),
        output("last"),
        output("z"),
    ]);
    let read = read(&parts).unwrap();
    assert_eq!((shape(&read.model, "last"), shape(&read.model, "z")), (vec![2], vec![2, 4, 5]));
}

/// Shapes and types as `onnx.shape_inference` infers them.
#[test]
fn corners_of_operators_follow_onnx() {
    let one = |initialisers: &[Vec<u8>], node: Vec<u8>| {
        let parts = [&[node, input("x", &["2", "3"]), info(11, "hidden", INT64, &["1"]), output("y")], initialisers];
        let read = read(&model(&parts.concat()));
        read.map(|read| {
            let tensor = read.model.main().unwrap().tensors.iter().find(|tensor| tensor.name == "y").unwrap().clone();
            (tensor.shape, tensor.element)
        })
    };
    let none = weights("none", &[0], Some(&[]));
    let float = |shape: &[u64]| (shape.to_vec(), "FLOAT");
    for kind in ["Acosh", "Asinh", "Atanh", "Cosh"] {
        assert_eq!(one(&[], node(kind, &["x"], &["y"], &[])).unwrap(), float(&[2, 3]));
    }
    let eye = node("EyeLike", &["x"], &["y"], &[attribute("dtype", 11)]);
    assert_eq!(one(&[], eye).unwrap(), (vec![2, 3], "DOUBLE"));
    let quantize = node("QuantizeLinear", &["x", "x"], &["y"], &[attribute("output_dtype", 5)]);
    assert_eq!(one(&[], quantize).unwrap(), (vec![2, 3], "INT16"));
    // An empty list of axes is no list, unless the node says what that means.
    let reduce = |more: &[Vec<u8>]| node("ReduceMax", &["x", "none"], &["y"], more);
    assert_eq!(one(std::slice::from_ref(&none), reduce(&[])).unwrap(), float(&[1, 1]));
    let nothing = reduce(&[attribute("noop_with_empty_axes", 1)]);
    assert_eq!(one(std::slice::from_ref(&none), nothing).unwrap(), float(&[2, 3]));
    assert_eq!(one(&[], node("ReduceMax", &["x"], &["y"], &[ints("axes", &[])])).unwrap(), float(&[1, 1]));
    // Which dimensions are padded is known only when the model runs.
    let pad = node("Pad", &["x", "pads", "", "hidden"], &["y"], &[]);
    let unknown = one(&[weights("pads", &[4], Some(&[1, 1, 1, 1]))], pad).unwrap_err();
    assert_eq!(unknown.code, "onnx::unknown-shape");
}

/// In training the mean is taken over all elements, and what is dropped is chosen at random.
#[test]
fn training_is_neither_in_place_nor_repeatable() {
    let op = |node: Vec<u8>| {
        let flag = info(11, "flag", BOOL, &[]);
        let read = read(&model(&[norm_weights(), node, input("x", &["2", "3"]), flag, output("y")])).unwrap();
        let ops = read.model.main().unwrap().ops.iter().cloned().collect::<Vec<_>>();
        (ops[0].in_place.is_empty(), ops[0].is_stateful)
    };
    let inputs = ["x", "s", "b", "m", "v"];
    assert_eq!(op(node("BatchNormalization", &inputs, &["y"], &[])), (false, false));
    assert_eq!(op(node("BatchNormalization", &inputs, &["y"], &[attribute("training_mode", 1)])), (true, false));
    assert_eq!(op(node("Dropout", &["x"], &["y"], &[])), (false, false));
    assert_eq!(op(node("Dropout", &["x", "", "flag"], &["y"], &[])), (true, true));
    // Before version 7 they train unless they say that they do not.
    for (version, attributes, trains) in
        [(6, vec![], true), (6, vec![attribute("is_test", 1)], false), (7, vec![], false)]
    {
        for (kind, inputs) in [("Dropout", ["x"].as_slice()), ("BatchNormalization", &inputs)] {
            let nodes = node(kind, inputs, &["y"], &attributes);
            let read = read(&model_of_version(version, &[norm_weights(), nodes, input("x", &["2", "3"]), output("y")]));
            let op = read.unwrap().model.main().unwrap().ops.iter().next().unwrap().clone();
            assert_eq!(op.in_place.is_empty(), trains, "{kind} of version {version}");
            assert_eq!(op.is_stateful, trains && kind == "Dropout", "{kind} of version {version}");
        }
    }
}

/// The inputs of a normalisation beside its data.
fn norm_weights() -> Vec<u8> {
    ["s", "b", "m", "v"].map(|name| weights(name, &[3], None)).concat()
}

#[test]
fn fractions_are_no_whole_numbers() {
    // 3 / 2 as floats is 1.5, and twice that is 3.
    let halves = |element: i64| {
        model(&[
            input("x", &["3"]),
            weights("two", &[1], Some(&[2])),
            node("Shape", &["x"], &["dims"], &[]),
            node("Cast", &["dims"], &["wide"], &[attribute("to", element)]),
            node("Cast", &["two"], &["wide_two"], &[attribute("to", element)]),
            node("Div", &["wide", "wide_two"], &["half"], &[]),
            node("Mul", &["half", "wide_two"], &["whole"], &[]),
            node("Cast", &["whole"], &["count"], &[attribute("to", INT64)]),
            node("Expand", &["x", "count"], &["y"], &[]),
            output("y"),
        ])
    };
    assert_eq!(code(&halves(FLOAT)), "onnx::unknown-shape");
}

#[test]
fn what_content_decides_is_bounded_or_asked_for() {
    let found = model(&[
        input("x", &["2", "3"]),
        node("NonZero", &["x"], &["places"], &[]),
        node("Transpose", &["places"], &["rows"], &[]),
        output("rows"),
    ]);
    let bounded = read(&found).unwrap();
    assert_eq!(shape(&bounded.model, "rows"), [6, 2]);
    assert!(
        bounded.notes.iter().any(|note| note.contains("`places`") && note.contains("the most")),
        "{:?}",
        bounded.notes
    );
    let asked = model(&[
        input("x", &["2", "3"]),
        info(11, "wanted", INT64, &["2"]),
        node("Reshape", &["x", "wanted"], &["y"], &[]),
        node("Relu", &["y"], &["z"], &[]),
        output("z"),
    ]);
    let error = read(&asked).unwrap_err();
    assert_eq!(error.code, "onnx::unknown-shape");
    assert!(error.message.contains("the content of `wanted` decides"), "{}", error.message);
    assert!(error.help.unwrap().contains("--size y=N"));
    let sizes = |name: &str, shape: &[u64]| {
        let sizes = [(name.to_owned(), shape.to_vec())].into_iter().collect();
        onnx::read(&asked, &Options { sizes, ..Options::default() })
    };
    assert_eq!(shape(&sizes("y", &[6, 1]).unwrap().model, "z"), [6, 1]);
    assert_eq!(sizes("nobody", &[1]).unwrap_err().code, "onnx::no-such-tensor");
    assert_eq!(sizes("x", &[1]).unwrap_err().code, "onnx::size-is-known");
}

#[test]
fn the_slices_of_a_scan_have_a_shape() {
    let inner = [
        info(11, "state", FLOAT, &[]),
        info(11, "row", FLOAT, &[]),
        node("Add", &["state", "row"], &["next"], &[]),
        node("Relu", &["next"], &["each"], &[]),
        output("next"),
        output("each"),
    ];
    let untyped: Vec<Vec<u8>> = inner
        .iter()
        .enumerate()
        .map(|(index, part)| match index {
            0 => bytes(11, &text(1, "state")),
            1 => bytes(11, &text(1, "row")),
            _ => part.clone(),
        })
        .collect();
    let scan = model(&[
        input("start", &["4"]),
        input("rows", &["7", "4"]),
        node(
            "Scan",
            &["start", "rows"],
            &["end", "all"],
            &[attribute("num_scan_inputs", 1), body("body", &untyped.concat())],
        ),
        output("all"),
    ]);
    let read = read(&scan).unwrap();
    assert_eq!((shape(&read.model, "end"), shape(&read.model, "all")), (vec![4], vec![7, 4]));
}

/// In version 8 of the operators a `Scan` has other inputs: lengths first, and a batch as the first axis of the others.
#[test]
fn a_scan_of_version_8_says_nothing_about_shapes() {
    let inner = [
        bytes(11, &text(1, "state")),
        bytes(11, &text(1, "row")),
        node("Add", &["state", "row"], &["next"], &[]),
        node("Relu", &["next"], &["each"], &[]),
        output("next"),
        output("each"),
    ];
    let scan = |version: i64, states: &[Vec<u8>]| {
        let attributes = [attribute("num_scan_inputs", 1), body("body", &inner.concat())];
        let main = [
            input("start", &["2", "4"]),
            input("rows", &["2", "7", "4"]),
            node("Scan", &["", "start", "rows"], &["end", "all"], &attributes),
            output("all"),
        ];
        read(&model_of_version(version, &[&main[..], states].concat()))
    };
    let error = scan(8, &[]).unwrap_err();
    assert!(error.help.as_deref().unwrap_or_default().contains("--size"), "{error:?}");
    let stated = [info(13, "end", FLOAT, &["2", "4"]), info(13, "all", FLOAT, &["2", "7", "4"])];
    let error = scan(8, &stated).unwrap_err();
    assert!(["state", "row", "next", "each"].iter().any(|inner| error.message.contains(inner)), "{error:?}");
}

#[test]
fn constants_are_computed_once() {
    let folded = model(&[
        input("x", &["4"]),
        weights("dims", &[1], Some(&[4])),
        node("ConstantOfShape", &["dims"], &["ones"], &[]),
        node("Add", &["x", "ones"], &["y"], &[]),
        output("y"),
    ]);
    let read = read(&folded).unwrap();
    assert_eq!(read.nodes, [1], "the second node of the file is the only op");
    assert!(read.notes.iter().any(|note| note.contains("constants from constants")), "{:?}", read.notes);
    let graph = read.model.main().unwrap();
    let ones = graph.tensors.iter().find(|tensor| tensor.name == "ones").unwrap();
    assert_eq!(ones.home, Home::File);
}

#[test]
fn nodes_are_sorted_and_cycles_named() {
    let unsorted = model(&[
        input("x", &["4"]),
        node("Relu", &["b"], &["c"], &[]),
        node("Neg", &["a"], &["b"], &[]),
        node("Exp", &["x"], &["a"], &[]),
        output("c"),
    ]);
    let sorted = read(&unsorted).unwrap();
    let kinds: Vec<&str> = sorted.model.main().unwrap().ops.iter().map(|op| op.kind.as_str()).collect();
    assert_eq!((kinds, sorted.nodes), (vec!["Exp", "Neg", "Relu"], vec![2, 1, 0]));
    let cyclic = model(&[
        input("x", &["4"]),
        node("Add", &["x", "b"], &["a"], &[]),
        node("Neg", &["a"], &["b"], &[]),
        output("b"),
    ]);
    let error = read(&cyclic).unwrap_err();
    assert_eq!(error.code, "onnx::cycle");
    assert!(error.to_string().contains("Add the_Add waits for its own result"), "{error}");
}

#[test]
fn branches_read_what_is_around_them() {
    let then = [node("Relu", &["x"], &["t"], &[]), output("t")].concat();
    let other = [node("Neg", &["x"], &["e0"], &[]), node("Exp", &["e0"], &["e"], &[]), output("e")].concat();
    let choice = model(&[
        input("x", &["100"]),
        info(11, "c", BOOL, &[]),
        node("Exp", &["x"], &["before"], &[]),
        node("If", &["c"], &["r"], &[body("then_branch", &then), body("else_branch", &other)]),
        node("Add", &["r", "before"], &["y"], &[]),
        output("y"),
    ]);
    let read = read(&choice).unwrap();
    assert_eq!(read.model.graphs.len(), 3);
    assert_eq!(shape(&read.model, "r"), [100]);
    let placed =
        place(&read.model, Timeline::new(&read.model).unwrap(), Assumptions { reuse_inputs: true, in_place: false })
            .unwrap();
    let end = |name: &str| {
        let buffer = placed.problem.buffers().iter().find(|buffer| buffer.name == name).unwrap();
        buffer.lifetime.end().unwrap().0
    };
    // Step 1 Exp, 2 If, 3 and 5 the branches begin, 4 Relu, 6 Neg, 7 Exp, 8 Add.
    assert_eq!((end("x"), end("r"), end("graph2/e0")), (8, 9, 8), "x is read by a branch, until the If ends");
    fuzz::check_onnx(&choice);
}

#[test]
fn loops_carry_values_from_round_to_round() {
    let round = [
        info(11, "i", INT64, &[]),
        info(11, "go", BOOL, &[]),
        bytes(11, &text(1, "state")),
        node("Identity", &["go"], &["again"], &[]),
        node("Add", &["state", "w"], &["next"], &[]),
        output("again"),
        output("next"),
    ]
    .concat();
    let looped = model(&[
        input("x", &["50"]),
        input("w", &["50"]),
        weights("n", &[], Some(&[3])),
        node("Loop", &["n", "", "x"], &["y"], &[body("body", &round)]),
        output("y"),
    ]);
    let read = read(&looped).unwrap();
    assert_eq!(shape(&read.model, "y"), [50]);
    let op = read.model.main().unwrap().ops.iter().next().unwrap();
    assert_eq!(op.control, Control::Loop);
    let placed =
        place(&read.model, Timeline::new(&read.model).unwrap(), Assumptions { reuse_inputs: true, in_place: false })
            .unwrap();
    let life = |name: &str| {
        let buffer = placed.problem.buffers().iter().find(|buffer| buffer.name == name).unwrap();
        (buffer.lifetime.start().unwrap().0, buffer.lifetime.end().unwrap().0)
    };
    assert_eq!((life("graph1/state"), life("graph1/next")), ((1, 5), (1, 5)), "the whole loop");
    assert_eq!(life("w"), (0, 5), "read in every round");
    fuzz::check_onnx(&looped);
}

#[test]
fn what_is_missing_is_listed() {
    let unknown = model(&[
        input("x", &["4"]),
        node("Riddle", &["x"], &["where"], &[]),
        node("Mystery", &["x"], &["what"], &[]),
        output("what"),
    ]);
    let error = read(&unknown).unwrap_err();
    assert_eq!(error.code, "onnx::unknown-shape");
    let expected = "the shape of 2 tensors is not known: `where` (Riddle the_Riddle), `what` (Mystery the_Mystery)";
    assert_eq!(error.message, expected);
    // A shape in the file is enough.
    let known = model(&[
        input("x", &["4"]),
        node("Mystery", &["x"], &["what"], &[]),
        info(13, "what", FLOAT, &["7"]),
        output("what"),
    ]);
    assert_eq!(shape(&read(&known).unwrap().model, "what"), [7]);
}

#[test]
fn every_kind_of_damage_has_its_error() {
    let good = small();
    assert_eq!(code(&Vec::new()), "model::truncated");
    assert_eq!(code(&good[..good.len() / 2].to_vec()), "model::truncated");
    assert_eq!(code(&int(1, 8)), "onnx::no-graph");
    let one = model_of_version(13, &[]);
    assert_eq!(code(&[one.clone(), one].concat()), "onnx::two-graphs");
    assert_eq!(code(&b"PK\x03\x04 something else".to_vec()), "onnx::malformed");
    assert_eq!(code(&[int(1, 99), bytes(7, &[])].concat()), "onnx::version");
    assert_eq!(code(&bytes(7, &[])), "onnx::version");
    assert_eq!(code(&model(&[input("x", &["-3"]), node("Relu", &["x"], &["y"], &[])])), "onnx::negative-dimension");
    assert_eq!(code(&model(&[weights("w", &[-3], None)])), "onnx::negative-dimension");
    let twice = [input("x", &["1"]), node("Relu", &["x"], &["y"], &[]), node("Neg", &["x"], &["y"], &[])];
    assert_eq!(code(&model(&twice)), "onnx::written-twice");
    let large = [input("x", &["4294967296", "4294967296"]), node("Relu", &["x"], &["y"], &[])];
    assert_eq!(code(&model(&large)), "onnx::too-large");
    let odd = [info(11, "x", 99, &["1"]), node("Relu", &["x"], &["y"], &[])];
    assert_eq!(code(&model(&odd)), "onnx::element-type");
    let mut deep = node("Relu", &["x"], &["y"], &[]);
    for _ in 0..100 {
        deep = node("If", &["c"], &["y"], &[body("then_branch", &deep)]);
    }
    assert_eq!(code(&model(&[deep])), "onnx::too-deep");
}

#[test]
fn external_data_stays_outside() {
    let outside =
        [int(1, 1000), int(1, 1000), int(2, FLOAT), text(8, "w"), bytes(13, &text(1, "location")), int(14, 1)];
    let external = model(&[
        input("x", &["1", "1000"]),
        bytes(5, &outside.concat()),
        node("MatMul", &["x", "w"], &["y"], &[]),
        output("y"),
    ]);
    assert_eq!(shape(&read(&external).unwrap().model, "y"), [1, 1000]);
}

/// The file with its nodes in another order.
fn assembled(old: &Vec<u8>, order: &[usize]) -> Vec<u8> {
    let pieces = reorder::pieces(old, order).unwrap();
    let mut new = Vec::new();
    Assembled::new(&[], old, &pieces).unwrap().write(&mut new).unwrap();
    new
}

#[test]
fn another_order_moves_nodes_and_nothing_else() {
    let old = model(&[
        input("x", &["4"]),
        node("Neg", &["x"], &["a"], &[]),
        output("c"),
        node("Exponential", &["x"], &["b"], &[]),
        node("Add", &["a", "b"], &["c"], &[]),
    ]);
    let new = assembled(&old, &[1, 0, 2]);
    assert_eq!(new.len(), old.len());
    assert_ne!(new, old);
    let expected = model(&[
        input("x", &["4"]),
        node("Exponential", &["x"], &["b"], &[]),
        output("c"),
        node("Neg", &["x"], &["a"], &[]),
        node("Add", &["a", "b"], &["c"], &[]),
    ]);
    assert_eq!(new, expected);
    assert_eq!(assembled(&old, &[0, 1, 2]), old);
}

#[test]
fn a_shape_of_a_million_dimensions_is_no_shape() {
    let axes: Vec<i64> = (0..100_000).collect();
    let mut nodes = vec![input("x", &["4"]), node("Unsqueeze", &["x"], &["t0"], &[ints("axes", &axes)])];
    for index in 0..500 {
        nodes.push(node("Relu", &[&format!("t{index}")], &[&format!("t{}", index + 1)], &[]));
    }
    // The first tensor is refused, so that its long shape is not copied for each of the 500 ops that follow.
    let error = read(&model(&nodes)).unwrap_err();
    assert_eq!(error.code, "onnx::unknown-shape");
    assert!(error.message.contains("`t0`"), "{}", error.message);
}

#[test]
fn no_bytes_make_the_readers_panic() {
    let mut numbers = memplan_testkit::Random::new(1);
    let mut random = move |below: usize| numbers.index(below);
    let round = [bytes(11, &text(1, "i")), node("Relu", &["x"], &["y"], &[]), output("y")].concat();
    let mixed = model(&[
        input("x", &["batch", "3", "8", "8"]),
        weights("w", &[4, 3, 3, 3], None),
        weights("n", &[4], Some(&[1, -1, 0, 7])),
        node("Conv", &["x", "w"], &["y"], &[ints("pads", &[1, 1, 1, 1]), ints("strides", &[2, 2])]),
        node("Reshape", &["y", "n"], &["z"], &[]),
        node("Slice", &["y", "n", "n", "n", "n"], &["s"], &[]),
        node("Loop", &["n", "", "y"], &["l"], &[body("body", &round)]),
        node("Split", &["y"], &["p", "q"], &[]),
        output("z"),
    ]);
    for good in [small(), mixed] {
        for _ in 0..4000 {
            let mut bad = good.clone();
            for _ in 0..1 + random(5) {
                let at = random(bad.len());
                let values = [0, 1, 0x7f, 0x80, 0xff, random(256) as u8];
                bad[at] = values[random(values.len())];
            }
            bad.truncate(if random(4) == 0 { random(good.len()) } else { good.len() });
            fuzz::check_onnx(&bad);
        }
    }
    let dump = b"BufferAssignment:\nallocation 1: size 8192, preallocated-temp:\n value: <5 add.1 @0> (size=4096,offset=4096): f32\n\
                 HloLiveRange (max 12):\n  BufferLiveRange:\n    add.1{}:2-4\n";
    for _ in 0..2000 {
        let mut bad = dump.to_vec();
        let at = random(bad.len());
        bad[at] = random(128) as u8;
        fuzz::check_xla(&bad);
    }
    assert_eq!(Timeline::new(&Model::default()).unwrap().last, 0);
    assert_eq!(memplan_models::graph::OpId::from_index(3).index(), 3);
}

/// A model in which `y` has the shape that `wanted` holds, after `nodes` have computed `wanted`.
fn filled(nodes: &[Vec<u8>]) -> Result<Vec<u64>, ReadError> {
    let fill = node("ConstantOfShape", &["wanted"], &["y"], &[]);
    let parts = [nodes, &[input("x", &["8", "3"]), fill, node("Relu", &["y"], &["z"], &[]), output("z")]].concat();
    read(&model(&parts)).map(|read| shape(&read.model, "z"))
}

#[test]
fn parts_of_an_unknown_length_are_asked_for() {
    let split = model(&[
        input("x", &["8"]),
        info(11, "lengths", INT64, &["2"]),
        node("Split", &["x", "lengths"], &["a", "b"], &[]),
        node("Relu", &["a"], &["y"], &[]),
        output("y"),
    ]);
    assert_eq!(code(&split), "onnx::unknown-shape");
}

#[test]
fn a_resize_may_keep_the_aspect_ratio() {
    let resized = |sizes: &[i64], attributes: &[Vec<u8>]| {
        let read = read(&model(&[
            input("x", &["1", "1", "4", "2"]),
            weights("sizes", &[sizes.len() as i64], Some(sizes)),
            node("Resize", &["x", "", "", "sizes"], &["y"], attributes),
            output("y"),
        ]));
        read.map(|read| shape(&read.model, "y"))
    };
    let policy = |name: &str| bytes(5, &[text(1, "keep_aspect_ratio_policy"), text(4, name)].concat());
    let axes = ints("axes", &[3, 2]);
    assert_eq!(resized(&[1, 1, 8, 6], &[]).unwrap(), [1, 1, 8, 6]);
    assert_eq!(resized(&[6, 8], std::slice::from_ref(&axes)).unwrap(), [1, 1, 8, 6]);
    // The factors are 2 and 3.
    assert_eq!(resized(&[6, 8], &[axes.clone(), policy("not_larger")]).unwrap(), [1, 1, 8, 4]);
    assert_eq!(resized(&[6, 8], &[axes.clone(), policy("not_smaller")]).unwrap(), [1, 1, 12, 6]);
    // A width of 2 × 5/4 is 2.5, which a runtime may round up or down.
    assert_eq!(resized(&[9, 5], &[axes, policy("not_larger")]).unwrap_err().code, "onnx::unknown-shape");
}

#[test]
fn the_smallest_and_largest_of_all_inputs_count() {
    let numbers = [("a", 5), ("b", 7), ("c", 9), ("d", 2)].map(|(name, n)| weights(name, &[1], Some(&[n]))).concat();
    let of = |kind: &str| filled(&[numbers.clone(), node(kind, &["a", "b", "c", "d"], &["wanted"], &[])]).unwrap();
    assert_eq!((of("Max"), of("Min")), (vec![9], vec![2]));
}

#[test]
fn content_is_broadcast_by_its_shape() {
    let sum = [
        weights("column", &[2, 1], Some(&[1, 2])),
        weights("row", &[1, 2], Some(&[10, 20])),
        weights("flat", &[1], Some(&[-1])),
        node("Add", &["column", "row"], &["square"], &[]),
        node("Reshape", &["square", "flat"], &["wanted"], &[]),
    ];
    assert_eq!(filled(&sum).unwrap(), [11, 21, 12, 22]);
}

#[test]
fn a_cast_changes_what_its_type_cannot_hold() {
    let through = |number: i64, element: i64| {
        filled(&[
            weights("n", &[1], Some(&[number])),
            node("Cast", &["n"], &["narrow"], &[attribute("to", element)]),
            node("Cast", &["narrow"], &["wanted"], &[attribute("to", INT64)]),
        ])
        .map_err(|error| error.code)
    };
    assert_eq!(through(8, BOOL), Ok(vec![1]));
    assert_eq!(through(0, BOOL), Ok(vec![0]));
    assert_eq!(through(8, FLOAT), Ok(vec![8]));
    // 300 is no number of 8 bits, and 2^24 + 1 no float of 32 bits.
    assert_eq!(through(300, 3), Err("onnx::unknown-shape"));
    assert_eq!(through((1 << 24) + 1, FLOAT), Err("onnx::unknown-shape"));
}

#[test]
fn a_product_over_some_axes_is_not_that_of_all() {
    let product = |attributes: &[Vec<u8>]| {
        let numbers = weights("n", &[2, 2], Some(&[1, 2, 3, 4]));
        let flat = weights("flat", &[1], Some(&[-1]));
        let reduce = node("ReduceProd", &["n"], &["p"], attributes);
        let wanted = node("Reshape", &["p", "flat"], &["wanted"], &[]);
        filled(&[numbers, flat, reduce, wanted]).map_err(|error| error.code)
    };
    assert_eq!(product(&[]), Ok(vec![24]));
    assert_eq!(product(&[attribute("noop_with_empty_axes", 1)]), Ok(vec![1, 2, 3, 4]));
    assert_eq!(product(&[ints("axes", &[0])]), Err("onnx::unknown-shape"));
    assert_eq!(product(&[ints("axes", &[0, -1])]), Ok(vec![24]));
}

#[test]
fn foreign_nodes_without_inputs_are_no_constants() {
    let sensor = model(&[
        node("ReadSensor", &[], &["seen"], &[text(7, "com.acme")]),
        info(13, "seen", FLOAT, &["1000"]),
        node("Relu", &["seen"], &["y"], &[]),
        output("y"),
    ]);
    let read = read(&sensor).unwrap();
    let graph = read.model.main().unwrap();
    assert_eq!(graph.tensors.iter().find(|tensor| tensor.name == "seen").unwrap().home, Home::Arena);
    // A foreign node may call anything a shape.
    let shaped = [node("Shape", &["x"], &["wanted"], &[text(7, "com.acme")]), info(13, "wanted", INT64, &["1"])];
    assert_eq!(filled(&shaped).unwrap_err().code, "onnx::unknown-shape");
}

#[test]
fn what_grows_in_a_loop_is_asked_for() {
    let round = [
        info(11, "i", INT64, &[]),
        info(11, "go", BOOL, &[]),
        bytes(11, &text(1, "state")),
        node("Identity", &["go"], &["again"], &[]),
        node("Concat", &["state", "more"], &["next"], &[attribute("axis", 0)]),
        output("again"),
        output("next"),
    ]
    .concat();
    let looped = model(&[
        input("x", &["50"]),
        weights("more", &[1], None),
        weights("n", &[], Some(&[3])),
        node("Loop", &["n", "", "x"], &["y"], &[body("body", &round)]),
        output("y"),
    ]);
    let error = read(&looped).unwrap_err();
    assert_eq!(error.code, "onnx::unknown-shape");
    assert!(error.message.contains("`state` (input)"), "{}", error.message);
    let sizes = [("state".to_owned(), vec![52])].into_iter().collect();
    let bounded = onnx::read(&looped, &Options { sizes, ..Options::default() }).unwrap();
    assert_eq!(shape(&bounded.model, "y"), [53]);
}

#[test]
fn branches_of_different_shapes_give_a_bound() {
    let choice = |other: &[&str]| {
        let then = [node("Relu", &["tall"], &["t"], &[]), output("t")].concat();
        let otherwise = [node("Relu", &["wide"], &["e"], &[]), output("e")].concat();
        let read = read(&model(&[
            input("tall", &["100", "1"]),
            input("wide", other),
            info(11, "c", BOOL, &[]),
            node("If", &["c"], &["r"], &[body("then_branch", &then), body("else_branch", &otherwise)]),
            node("Add", &["r", "tall"], &["y"], &[]),
            output("y"),
        ]));
        read.map(|read| (shape(&read.model, "y"), read.notes.iter().any(|note| note.contains("the most"))))
    };
    assert_eq!(choice(&["100", "1"]).unwrap(), (vec![100, 1], false));
    // `tall` plus [1, 50] has 5000 elements, although neither branch gives more than 100.
    assert_eq!(choice(&["1", "50"]).unwrap(), (vec![100, 50], true));
    // How many dimensions the output has is known only when the model runs.
    assert_eq!(choice(&["50"]).unwrap_err().code, "onnx::unknown-shape");
}

#[test]
fn a_bound_of_the_user_stays_a_bound_before_its_node() {
    let asked = model(&[
        input("x", &["8"]),
        weights("ten", &[1], Some(&[10])),
        node("Riddle", &["x"], &["r"], &[]),
        node("Relu", &["r"], &["s"], &[]),
        node("Shape", &["r"], &["dims"], &[]),
        node("Sub", &["ten", "dims"], &["wanted"], &[]),
        node("ConstantOfShape", &["wanted"], &["rest"], &[]),
        node("Relu", &["rest"], &["y"], &[]),
        output("s"),
        output("y"),
    ]);
    // `r` has at most 8 elements, so `rest` has at least 2 and may have 10.
    let sizes = [("s".to_owned(), vec![8])].into_iter().collect();
    let error = onnx::read(&asked, &Options { sizes, ..Options::default() }).unwrap_err();
    assert!(error.message.contains("`rest`"), "{}", error.message);
}

/// Which of the inputs, all of shape `shape`, the output of a node may be written over.
fn overwritten(shape: &[&str], kind: &str, inputs: &[&str], attributes: &[Vec<u8>]) -> Vec<String> {
    let names: std::collections::BTreeSet<&str> = inputs.iter().copied().collect();
    let tensors = names.into_iter().flat_map(|name| input(name, shape)).collect();
    let read = read(&model(&[tensors, node(kind, inputs, &["y"], attributes), output("y")])).unwrap();
    let graph = read.model.main().unwrap();
    let pairs = graph.ops.iter().flat_map(|op| &op.in_place);
    pairs.map(|&(_, input)| graph.tensors[input].name.clone()).collect()
}

#[test]
fn only_data_is_overwritten() {
    // A bound is read for every element, and so is what a normalisation multiplies with.
    assert_eq!(overwritten(&[], "Clip", &["x", "min", "max"], &[]), ["x"]);
    assert_eq!(overwritten(&["1"], "BatchNormalization", &["x", "s", "b", "m", "v"], &[]), ["x"]);
    assert_eq!(overwritten(&[], "Dropout", &["x", "ratio"], &[]), ["x"]);
    assert_eq!(overwritten(&["8"], "PRelu", &["x", "slope"], &[]), ["x", "slope"]);
    // ONNX Runtime keeps the argument of `tanh` in the output, and then reads the input again.
    let approximate = |how: &str| bytes(5, &[text(1, "approximate"), text(4, how)].concat());
    assert_eq!(overwritten(&["8"], "Gelu", &["x"], &[]), ["x"]);
    assert_eq!(overwritten(&["8"], "Gelu", &["x"], &[approximate("none")]), ["x"]);
    assert_eq!(overwritten(&["8"], "Gelu", &["x"], &[approximate("tanh")]), [] as [&str; 0]);
}

/// A kernel may take the inputs two by two: `y = a + b`, then `y = y + c`. On the place of `b` or `c` it would read what
/// it has written.
#[test]
fn a_sum_of_many_overwrites_only_its_first_input() {
    let over = |kind: &str, inputs: &[&str]| overwritten(&["8"], kind, inputs, &[]);
    for kind in ["Max", "Min", "Sum"] {
        assert_eq!(over(kind, &["a", "b", "c"]), ["a"], "{kind}");
        assert_eq!(over(kind, &["a", "b"]), ["a", "b"], "{kind}");
        // The first input is read again after the first step.
        assert_eq!(over(kind, &["a", "b", "a"]), [] as [&str; 0], "{kind}");
    }
}

#[test]
fn a_reshape_does_not_overwrite_the_list_of_its_shape() {
    let reshaped = model(&[
        info(11, "x", INT64, &["2", "1"]),
        info(11, "wanted", INT64, &["2"]),
        node("Reshape", &["x", "wanted"], &["y"], &[]),
        info(12, "y", INT64, &["1", "2"]),
    ]);
    let read = read(&reshaped).unwrap();
    let graph = read.model.main().unwrap();
    let over: Vec<&str> =
        graph.ops.iter().flat_map(|op| &op.in_place).map(|&(_, input)| graph.tensors[input].name.as_str()).collect();
    assert_eq!(over, ["x"]);
}

#[test]
fn reads_in_a_body_count_for_the_tensor_around_it() {
    let then = [node("Relu", &["x"], &["t0"], &[]), node("Add", &["t0", "x"], &["t"], &[]), output("t")].concat();
    let other = [node("Neg", &["c0"], &["e"], &[]), output("e")].concat();
    let choice = model(&[
        input("x", &["100"]),
        info(11, "c", BOOL, &[]),
        input("c0", &["100"]),
        node("If", &["c"], &["r"], &[body("then_branch", &then), body("else_branch", &other)]),
        output("r"),
    ]);
    let model = read(&choice).unwrap().model;
    let placed = place(&model, Timeline::new(&model).unwrap(), Assumptions::default()).unwrap();
    let accesses = placed.accesses(&model);
    let of = |name: &str| {
        placed.problem.buffers().iter().zip(&accesses).find(|(buffer, _)| buffer.name == name).map(|(_, &count)| count)
    };
    // The `If` hands both to its branches. One branch reads `x` twice, the other one reads `c0` once.
    assert_eq!((of("x"), of("c0"), of("c")), (Some(3), Some(2), Some(1)));
}

#[test]
fn an_empty_list_is_sliced_backwards() {
    let sliced = model(&[
        input("x", &["2", "3"]),
        weights("nothing", &[0], Some(&[])),
        weights("six", &[1], Some(&[6])),
        weights("zero", &[1], Some(&[0])),
        weights("last", &[1], Some(&[-1])),
        node("Slice", &["nothing", "last", "zero", "zero", "last"], &["reversed"], &[]),
        node("Concat", &["reversed", "six"], &["wanted"], &[attribute("axis", 0)]),
        node("Reshape", &["x", "wanted"], &["y"], &[]),
        node("Relu", &["y"], &["z"], &[]),
        output("z"),
    ]);
    assert_eq!(shape(&read(&sliced).unwrap().model, "y"), [6]);
}

#[test]
fn a_loop_without_rounds_gives_what_it_was_given() {
    let round = [
        info(11, "i", INT64, &[]),
        info(11, "go", BOOL, &[]),
        bytes(11, &text(1, "state")),
        node("Identity", &["go"], &["again"], &[]),
        node("Relu", &["small"], &["next"], &[]),
        output("again"),
        output("next"),
    ]
    .concat();
    let looped = model(&[
        input("x", &["50"]),
        input("small", &["4"]),
        info(11, "n", INT64, &[]),
        node("Loop", &["n", "", "x"], &["y"], &[body("body", &round)]),
        node("Relu", &["y"], &["z"], &[]),
        output("z"),
    ]);
    // After a round `y` has 4 elements; without any it is `x`, which has 50.
    let sizes = [("state".to_owned(), vec![50])].into_iter().collect();
    let bounded = onnx::read(&looped, &Options { sizes, ..Options::default() }).unwrap();
    assert_eq!((shape(&bounded.model, "y"), shape(&bounded.model, "z")), (vec![50], vec![50]));
}

#[test]
fn a_loop_that_runs_gives_what_its_body_gives() {
    let round = [
        info(11, "i", INT64, &[]),
        info(11, "go", BOOL, &[]),
        info(11, "state", FLOAT, &["rows"]),
        node("Identity", &["go"], &["again"], &[]),
        node("Relu", &["small"], &["next"], &[]),
        output("again"),
        output("next"),
    ]
    .concat();
    // A truth value of the file: one byte.
    let truth = |name: &str, value: u8| bytes(5, &[int(2, BOOL), text(8, name), bytes(9, &[value])].concat());
    let looped = |count: &str, condition: &str| {
        let looped = model(&[
            input("x", &["50"]),
            input("small", &["4"]),
            info(11, "any", BOOL, &[]),
            info(11, "n", INT64, &[]),
            weights("three", &[], Some(&[3])),
            weights("zero", &[], Some(&[0])),
            truth("yes", 1),
            truth("no", 0),
            node("Loop", &[count, condition, "x"], &["y"], &[body("body", &round)]),
            output("y"),
        ]);
        let sizes = [("state".to_owned(), vec![50])].into_iter().collect();
        shape(&onnx::read(&looped, &Options { sizes, ..Options::default() }).unwrap().model, "y")
    };
    for (count, condition) in [("three", ""), ("three", "yes"), ("", "yes"), ("", "")] {
        assert_eq!(looped(count, condition), [4], "{count}, {condition}");
    }
    // Without a round `y` is `x`.
    for (count, condition) in [("zero", ""), ("n", "yes"), ("three", "no"), ("three", "any"), ("", "any")] {
        assert_eq!(looped(count, condition), [50], "{count}, {condition}");
    }
}

#[test]
fn the_width_of_a_recurrent_state_is_stated_or_that_of_its_weights() {
    let shape_of = |attributes: &[Vec<u8>], weights_of_state: Vec<u8>| {
        let weights_of_input = weights("w", &[1, 20, 3], None);
        let rnn = node("LSTM", &["x", "w", "r"], &["y"], attributes);
        let read = read(&model(&[input("x", &["7", "2", "3"]), weights_of_input, weights_of_state, rnn, output("y")]));
        read.map(|read| shape(&read.model, "y")).map_err(|error| error.code)
    };
    let known = || weights("r", &[1, 20, 5], None);
    let unknown = || bytes(11, &text(1, "r"));
    assert_eq!(shape_of(&[attribute("hidden_size", 5)], unknown()), Err("onnx::unknown-shape"), "`r` itself");
    assert_eq!(shape_of(&[attribute("hidden_size", 5)], known()), Ok(vec![7, 1, 2, 5]));
    assert_eq!(shape_of(&[], known()), Ok(vec![7, 1, 2, 5]));
    assert_eq!(shape_of(&[], weights("r", &[0], None)), Err("onnx::unknown-shape"));
    assert_eq!(shape_of(&[], weights("r", &[1, 20, 0], None)), Err("onnx::unknown-shape"));
}

#[test]
fn an_input_is_asked_for_although_a_body_has_a_constant_of_its_name() {
    let then = [input("x", &["batch"]), weights("x", &[4], None), node("Relu", &["x"], &["t"], &[]), output("t")];
    let otherwise = [node("Relu", &["x"], &["e"], &[]), output("e")];
    let choice = model(&[
        input("x", &["batch"]),
        info(11, "c", BOOL, &[]),
        node("If", &["c"], &["y"], &[body("then_branch", &then.concat()), body("else_branch", &otherwise.concat())]),
        output("y"),
    ]);
    assert_eq!(code(&choice), "onnx::symbolic-dimension");
}

#[test]
fn a_long_list_in_a_constant_has_its_length() {
    // Packed into one field, as some writers do.
    let floats = bytes(5, &[text(1, "value_floats"), bytes(7, &[0; 4 * 3000])].concat());
    let packed: Vec<u8> = (0..3000).flat_map(|_| number(u64::MAX)).collect();
    let ints = bytes(5, &[text(1, "value_ints"), bytes(8, &packed)].concat());
    for (list, element) in [(floats, FLOAT), (ints, INT64)] {
        let graph = [
            info(11, "x", element, &["1"]),
            node("Constant", &[], &["c"], &[list]),
            node("Add", &["x", "c"], &["y"], &[]),
            output("y"),
        ];
        assert_eq!(shape(&read(&model(&graph)).unwrap().model, "y"), [3000]);
    }
}

#[test]
fn numbers_of_a_window_may_be_huge() {
    let strided = model(&[
        input("x", &["1", "1", "4", "4"]),
        weights("w", &[1, 1, 1, 1], None),
        node("Conv", &["x", "w"], &["y"], &[ints("strides", &[i64::MAX, 1])]),
        output("y"),
    ]);
    assert_eq!(shape(&read(&strided).unwrap().model, "y"), [1, 1, 1, 4]);
    onnx::description::describe(&strided, &Options::default(), &mut Contents::default()).unwrap();
    // Images without elements may be of any height.
    let huge = 1_i64 << 62;
    let high = ["1".to_owned(), "0".to_owned(), huge.to_string(), "4".to_owned()];
    let high: Vec<&str> = high.iter().map(String::as_str).collect();
    let joined = model(&[
        input("x", &high),
        node("Concat", &["x", "x", "x"], &["y"], &[attribute("axis", 2)]),
        info(12, "y", FLOAT, &["1", "0", "7", "4"]),
    ]);
    onnx::description::describe(&joined, &Options::default(), &mut Contents::default()).unwrap();
}

#[test]
fn a_result_may_be_wider_than_the_input() {
    const INT8: i64 = 3;
    const FLOAT16: i64 = 10;
    // The bytes of `y`, which has 4 x 8 elements.
    let bytes_of_y = |graph: &[Vec<u8>]| {
        let read = read(&model(&[graph, &[node("Relu", &["y"], &["z"], &[]), output("z")]].concat())).unwrap();
        read.model.main().unwrap().tensors.iter().find(|tensor| tensor.name == "y").unwrap().bytes.0
    };
    for kind in ["RMSNormalization", "SimplifiedLayerNormalization"] {
        let wide = [info(11, "x", FLOAT16, &["4", "8"]), weights("scale", &[8], None)];
        let graph = [wide.as_slice(), &[node(kind, &["x", "scale"], &["y"], &[])]].concat();
        assert_eq!(bytes_of_y(&graph), 4 * 8 * 4, "{kind} has the type of the scale");
    }
    // So has ONNX Runtime's own `LayerNormalization`, which is older than the standard one.
    for (version, element, scale, width) in [(16, FLOAT16, FLOAT, 4), (16, FLOAT, FLOAT16, 2), (17, FLOAT, FLOAT, 4)] {
        let layer = node("LayerNormalization", &["x", "scale"], &["y"], &[]);
        let graph = [info(11, "x", element, &["4", "8"]), info(11, "scale", scale, &["8"]), layer, output("y")];
        let read = read(&model_of_version(version, &graph)).unwrap();
        let y = read.model.main().unwrap().tensors.iter().find(|tensor| tensor.name == "y").unwrap();
        assert_eq!(y.bytes.0, 4 * 8 * width, "version {version}");
    }
    for (attributes, bytes) in [(vec![], 2), (vec![attribute("output_dtype", FLOAT)], 4)] {
        let dequantized = node("DequantizeLinear", &["x", "scale"], &["y"], &attributes);
        let graph = [info(11, "x", INT8, &["4", "8"]), info(11, "scale", FLOAT16, &[]), dequantized];
        assert_eq!(bytes_of_y(&graph), 4 * 8 * bytes);
    }
}

#[test]
fn the_mask_of_an_old_dropout_is_as_wide_as_its_input() {
    let graph = [input("x", &["4", "8"]), node("Dropout", &["x"], &["y", "mask"], &[]), output("y"), output("mask")];
    for (version, bytes) in [(7, 4), (9, 4), (10, 1), (17, 1)] {
        let read = read(&model_of_version(version, &graph)).unwrap();
        let mask = read.model.main().unwrap().tensors.iter().find(|tensor| tensor.name == "mask").unwrap();
        assert_eq!(mask.bytes.0, 4 * 8 * bytes, "version {version}");
    }
}

#[test]
fn ops_of_another_domain_are_not_taken_for_those_of_onnx() {
    // The domain is field 7 of a node, here after its other fields.
    let foreign = |kind: &str, inputs: &[&str], attributes: &[Vec<u8>]| {
        node(kind, inputs, &["y"], &[attributes.concat(), text(7, "com.microsoft")])
    };
    let image = info(11, "x", 2, &["1", "9", "9", "4"]);
    let others = ["xs", "xz", "ws", "wz", "ys", "yz"].map(|name| info(11, name, 2, &[]));
    let inputs = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"];
    let convolution = foreign("QLinearConv", &inputs, &[attribute("channels_last", 1)]);
    let graph = [others.concat(), image, weights("w", &[6, 4, 3, 3], None), convolution, output("y")];
    assert_eq!(code(&model(&graph)), "onnx::unknown-shape");
    let sum = foreign("ReduceSumInteger", &["x"], &[ints("axes", &[1])]);
    assert_eq!(code(&model(&[info(11, "x", 3, &["4", "8"]), sum, output("y")])), "onnx::unknown-shape");
}

/// A copy of a node that leaves out its first output writes its second one in the second place.
#[test]
fn a_copy_leaves_out_the_outputs_that_the_node_leaves_out() {
    let old = model(&[
        input("x", &["8"]),
        weights("k", &[1], Some(&[3])),
        node("TopK", &["x", "k"], &["", "i"], &[]),
        output("i"),
    ]);
    let known = read(&old).unwrap();
    let graph = known.model.main().unwrap();
    let written = graph.tensors.iter().position(|tensor| tensor.name == "i").unwrap();
    let copied = Copied {
        op: OpId::from_index(0),
        reads: Vec::new(),
        outputs: vec![TensorId::from_index(written)],
        padding: Padding::Unchanged,
        size: None,
    };
    let rewrite = Rewrite { tensors: Vec::new(), ops: vec![NewOp::Copy(copied)] };
    let pieces = onnx::rewrite::pieces(&old, graph, &known.nodes, &rewrite).unwrap();
    let mut new = Vec::new();
    Assembled::new(&[], &old, &pieces).unwrap().write(&mut new).unwrap();
    let new = onnx::nodes::read(&new).unwrap();
    assert_eq!(new.nodes[0].outputs, ["", "i"]);
}
