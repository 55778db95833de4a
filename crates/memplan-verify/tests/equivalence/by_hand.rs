//! Each way in which a changed model can be wrong, on models that can be followed by hand.

use memplan_verify::equivalence::{Network, Slide, check};

use crate::networks::{Maker, ZERO, content, window_op};

const SLIDE: Slide = Slide { size: 3, stride: 1, dilation: 1, before: 1 };
const POINT: Slide = Slide { size: 1, stride: 1, dilation: 1, before: 0 };

/// Six rows, a convolution of three rows with one row of padding on each side.
fn original(kind: &str) -> Network {
    let mut maker = Maker::default();
    let x = maker.input(&[6, 1, 1]);
    let operands = if kind == "CONV" { vec![x, maker.weights(3)] } else { vec![x] };
    let y = maker.window(kind, &operands, [SLIDE, POINT], [1, 0], 1);
    maker.network.outputs = vec![y];
    maker.network
}

/// Two tiles as in the documentation of the check, with what can be wrong about them.
#[derive(Clone, Copy)]
struct Tiles {
    kind: &'static str,
    /// First row of the second tile's slice, and how many rows it has.
    second: (i64, i64),
    fill: i8,
    weights: u8,
    /// The second tile comes first.
    is_swapped: bool,
}

const RIGHT: Tiles = Tiles { kind: "CONV", second: (2, 4), fill: ZERO, weights: 3, is_swapped: false };

fn changed(tiles: Tiles) -> Network {
    let mut maker = Maker::default();
    let x = maker.input(&[6, 1, 1]);
    let weights = (tiles.kind == "CONV").then(|| maker.weights(tiles.weights));
    let mut tile = |start: i64, rows: i64, before: i64, after: i64| {
        let a = maker.slice(x, &[start, 0, 0], &[rows, 1, 1]);
        let b = maker.pad(a, [before, 0], [after, 0], tiles.fill);
        let mut operands = vec![b];
        operands.extend(weights);
        let shape = [rows + before + after - 2, 1, 1];
        maker.op(window_op(tiles.kind, &operands, [Slide { before: 0, ..SLIDE }, POINT]), &shape)
    };
    let mut made = [tile(0, 4, 1, 0), tile(tiles.second.0, tiles.second.1, 0, 1)];
    if tiles.is_swapped {
        made.swap(0, 1);
    }
    let y = maker.concat(&made, 0);
    maker.network.outputs = vec![y];
    maker.network
}

fn refusal(tiles: Tiles) -> String {
    check(&original(tiles.kind), &changed(tiles)).unwrap_err().to_string()
}

#[test]
fn the_drawing_in_the_documentation() {
    let proof = check(&original("CONV"), &changed(RIGHT)).unwrap();
    let network = changed(RIGHT);
    let equal: Vec<String> = network
        .tensors
        .iter()
        .zip(&proof.equals)
        .map(|(tensor, view)| {
            format!(
                "{} = {}",
                tensor.name,
                view.as_ref().map_or_else(String::new, |view| format!("{}{}", view.tensor, view.region))
            )
        })
        .collect();
    // Tensor 0 of the original is x, 1 are its weights, 2 is y.
    let expected = [
        "x = 0[0..6, 0, 0]",
        "weights 3 = 1[0]",
        "SLICE 0 = 0[0..4, 0, 0]",
        "PAD 1 = 0[-1..4, 0, 0]",
        "CONV 2 = 2[0..3, 0, 0]",
        "SLICE 3 = 0[2..6, 0, 0]",
        "PAD 4 = 0[2..7, 0, 0]",
        "CONV 5 = 2[3..6, 0, 0]",
        "CONCAT 6 = 2[0..6, 0, 0]",
    ];
    assert_eq!(equal, expected);
}

#[test]
fn mistakes_are_named() {
    for (tiles, expected) in [
        (
            Tiles { second: (1, 4), ..RIGHT },
            "op 4 (PAD) writes `PAD 4`, which is not known to be part of the original: it puts a border of 0x07 where `x`[1..5, 0, 0] has elements, or another border",
        ),
        (
            Tiles { second: (3, 3), ..RIGHT },
            "op 6 (CONCAT) writes `CONCAT 6`, which is not known to be part of the original: `CONV 2`[0..3, 0, 0] and `CONV 2`[4..6, 0, 0] do not follow each other along dimension 0",
        ),
        (
            Tiles { fill: 0, ..RIGHT },
            "op 2 (CONV) writes `CONV 2`, which is not known to be part of the original: it reads a border of 0x00 around `x`, where op 0 has padding that counts as 0x07",
        ),
        (
            Tiles { weights: 4, ..RIGHT },
            "op 2 (CONV) writes `CONV 2`, which is not known to be part of the original: operand 1 is `weights 4`, which the original does not have, where op 0 reads the whole `weights 3`",
        ),
        (
            Tiles { is_swapped: true, ..RIGHT },
            "op 6 (CONCAT) writes `CONCAT 6`, which is not known to be part of the original: `CONV 2`[3..6, 0, 0] and `CONV 2`[0..3, 0, 0] do not follow each other along dimension 0",
        ),
        (
            Tiles { kind: "AVERAGE", ..RIGHT },
            "op 2 (AVERAGE) writes `AVERAGE 2`, which is not known to be part of the original: it reads a border of 0x07 around `x`, where op 0 has padding that no element stands for",
        ),
    ] {
        assert_eq!(refusal(tiles).replace("CONV 0", "CONV 2"), expected);
    }
    assert!(check(&original("MAX"), &changed(Tiles { kind: "MAX", fill: i8::MIN, ..RIGHT })).is_ok());
}

/// Of a convolution that moves by two rows, a tile must start at an even place.
#[test]
fn windows_between_those_of_the_original() {
    let make = |start: i64| {
        let mut maker = Maker::default();
        let x = maker.input(&[8, 1, 1]);
        let part = maker.slice(x, &[start, 0, 0], &[3, 1, 1]);
        let weights = maker.weights(3);
        let y = maker.window("CONV", &[part, weights], [Slide { stride: 2, before: 0, ..SLIDE }, POINT], [0, 0], 1);
        maker.network.outputs = vec![y];
        maker.network
    };
    let mut maker = Maker::default();
    let x = maker.input(&[8, 1, 1]);
    let weights = maker.weights(3);
    let y = maker.window("CONV", &[x, weights], [Slide { stride: 2, before: 0, ..SLIDE }, POINT], [0, 0], 1);
    maker.network.outputs = vec![y];
    let code = |start: i64| check(&maker.network, &make(start)).unwrap_err();
    assert_eq!(code(2).code(), "equivalence::other-output", "one row of the result is not the whole result");
    assert!(
        code(3)
            .to_string()
            .ends_with("along dimension 0, its windows start 1 places off those of op 0, which are 2 apart")
    );
}

/// Where a window does not slide, the result has as many places as the operand (a pool), or as the original's result (a
/// convolution). A tile that says otherwise is refused.
#[test]
fn tiles_with_more_or_fewer_channels_than_they_compute() {
    let make = |kind: &str, channels: i64, result: i64, rows: [i64; 2]| {
        let mut maker = Maker::default();
        let x = maker.input(&[6, 1, channels]);
        let weights = (kind == "CONV").then(|| maker.weights(3));
        let mut tile = |start: i64, count: i64| {
            let part = if count == 6 { x } else { maker.slice(x, &[start, 0, 0], &[count, 1, channels]) };
            let operands: Vec<usize> = [part].into_iter().chain(weights).collect();
            maker.op(window_op(kind, &operands, [POINT, POINT]), &[count, 1, result])
        };
        let made: Vec<usize> =
            if rows[1] == 0 { vec![tile(0, 6)] } else { vec![tile(0, rows[0]), tile(rows[0], rows[1])] };
        let y = if let [one] = made[..] { one } else { maker.concat(&made, 0) };
        // The rest of the model uses two channels of the result.
        let part = maker.slice(y, &[0, 0, 0], &[6, 1, 2]);
        maker.network.outputs = vec![part];
        maker.network
    };
    for (kind, channels) in [("MAX", 4), ("CONV", 4)] {
        let original = make(kind, channels, 4, [6, 0]);
        assert!(check(&original, &make(kind, channels, 4, [2, 4])).is_ok(), "{kind}");
        for wrong in [2, 3] {
            let refused = check(&original, &make(kind, channels, wrong, [2, 4])).unwrap_err();
            assert_eq!(refused.code(), "equivalence::not-derived", "{kind}: {refused}");
        }
    }
}

/// State: two ops that share a variable stay in their order, and neither may run twice.
#[test]
fn variables_are_used_in_their_order() {
    let make = |order: [&str; 2], variables: [usize; 2]| {
        let mut maker = Maker::default();
        let x = maker.input(&[4, 1, 1]);
        let states = [maker.tensor("hidden", &[2]), maker.tensor("cell", &[2])];
        states.iter().for_each(|&state| maker.network.tensors[state].is_variable = true);
        let mut last = x;
        for (kind, variable) in order.into_iter().zip(variables) {
            last = maker.pointwise(kind, &[last]);
            maker.network.ops.last_mut().unwrap().operands.push(Some(states[variable]));
        }
        maker.network.outputs = vec![last];
        maker.network
    };
    let original = make(["LSTM", "SVDF"], [0, 1]);
    assert!(check(&original, &make(["LSTM", "SVDF"], [1, 0])).is_ok(), "another number for the same state");
    assert_eq!(check(&original, &make(["SVDF", "LSTM"], [0, 1])).unwrap_err().code(), "equivalence::other-effects");
    let shared = check(&original, &make(["LSTM", "SVDF"], [0, 0])).unwrap_err();
    assert_eq!(shared.code(), "equivalence::not-derived", "one state for two ops: {shared}");
}

#[test]
fn what_callers_see_stays() {
    let original = original("CONV");
    let mut other = original.clone();
    other.interface.push("input 0 called \"image\"".to_owned());
    let mut fewer = original.clone();
    fewer.inputs.clear();
    let mut typed = original.clone();
    typed.tensors[0].numbers = "INT16".to_owned();
    for changed in [other, fewer, typed] {
        assert!(matches!(
            check(&original, &changed).unwrap_err().code(),
            "equivalence::other-interface" | "equivalence::read-too-early"
        ));
    }
}

#[test]
fn descriptions_that_make_no_sense() {
    let right = original("CONV");
    let mut beyond = right.clone();
    beyond.outputs = vec![99];
    let mut huge = right.clone();
    huge.tensors[0].shape = Some(vec![i64::MAX, 1, 1]);
    let mut twice = right.clone();
    twice.ops.push(twice.ops[0].clone());
    let mut constant = right.clone();
    constant.tensors[2].content = Some(content(1));
    for (changed, code) in [
        (beyond, "equivalence::malformed"),
        (huge, "equivalence::malformed"),
        (twice, "equivalence::written-twice"),
        (constant, "equivalence::written-twice"),
    ] {
        assert_eq!(check(&right, &changed).unwrap_err().code(), code);
    }
}

#[test]
fn the_documentation_lists_every_code() {
    let page = include_str!("../../../../docs/violations.md");
    let source = include_str!("../../src/equivalence/violation.rs");
    let codes: Vec<&str> = source.split('"').filter(|text| text.starts_with("equivalence::")).collect();
    assert_eq!(codes.len(), 7);
    for code in &codes {
        assert!(page.contains(&format!("| `{code}` |")), "{code} is not documented");
    }
    assert_eq!(page.matches("| `equivalence::").count(), codes.len());
}

/// A tensor that is both inputs of a model equals two tensors of the original, so `x + x` could pass for `x + y`.
#[test]
fn inputs_are_different_tensors() {
    let mut maker = Maker::default();
    let (x, y) = (maker.input(&[4]), maker.input(&[4]));
    let sum = maker.pointwise("ADD", &[x, y]);
    maker.network.outputs = vec![sum];
    let original = maker.network;
    assert!(check(&original, &original).is_ok());
    let mut changed = original.clone();
    changed.inputs = vec![x, x];
    changed.ops[0].operands = vec![Some(x), Some(x)];
    assert!(check(&original, &changed).unwrap_err().to_string().contains("is an input twice"));
    let mut changed = original.clone();
    changed.tensors[x].content = Some(content(3));
    assert!(check(&original, &changed).unwrap_err().to_string().contains("has a content"));
}
