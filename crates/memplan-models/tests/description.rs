//! Descriptions of `.tflite` files, and what the check of changed models makes of them.
#![allow(clippy::unwrap_used, reason = "a test")]

use memplan_core::Id;
use memplan_models::graph::OpId;
use memplan_models::source::{Assembled, ReadAt};
use memplan_models::tflite::{description::describe, reorder};
use memplan_verify::equivalence::{Axis, Contents, Meaning, Proof, Violation, check};

const MODELS: [&str; 8] = ["classifier", "unet", "branches", "puzzle", "elementwise", "lstm", "choice", "countdown"];

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../tests/data/tflite/{name}.tflite", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn compare(original: &dyn ReadAt, changed: &dyn ReadAt) -> Result<Proof, Box<Violation>> {
    let mut contents = Contents::default();
    let original = describe(original, &mut contents).unwrap();
    check(&original, &describe(changed, &mut contents).unwrap())
}

#[test]
fn every_model_equals_itself() {
    for name in MODELS {
        let proof = compare(&bytes(name), &bytes(name)).unwrap_or_else(|violation| panic!("{name}: {violation}"));
        assert!(proof.equals.iter().flatten().all(|view| view.fill.is_none()), "{name}");
    }
}

#[test]
fn meanings_of_operators() {
    let network = describe(&bytes("unet"), &mut Contents::default()).unwrap();
    let known = |kind: &str| {
        let op = network.ops.iter().find(|op| op.kind == kind).unwrap();
        (op.meaning.clone(), op.geometry.keys().cloned().collect::<Vec<_>>())
    };
    assert!(
        matches!(known("CONV_2D"), (Meaning::Window(window), explained) if window.neutral == Some(vec![0]) && explained == ["padding"])
    );
    assert!(matches!(known("MAX_POOL_2D"), (Meaning::Window(window), _) if window.neutral == Some(vec![0x80])));
    assert_eq!(known("CONCATENATION").0, Meaning::Concat { axis: 3 });
    let block = known("TRANSPOSE_CONV").0;
    assert!(
        matches!(block, Meaning::Window(window) if window.axes[1] == Axis::Repeat { factor: 2 } && window.operand == 2)
    );
}

/// The order in which the branches are finished one by one is as good as the one in the file; the reverse of an order is not.
#[test]
fn another_order_is_the_same_if_everything_is_written_first() {
    let original = bytes("branches");
    let ops = describe(&original, &mut Contents::default()).unwrap().ops.len();
    let with_order = |order: Vec<usize>| {
        let order: Vec<OpId> = order.into_iter().map(OpId::from_index).collect();
        let pieces = reorder::pieces(&original, &order).unwrap();
        compare(&original, &Assembled::new(&[], &original, &pieces).unwrap())
    };
    // stem, wide0, wide1, wide2, narrow0, narrow1, narrow2, join, squash
    assert_eq!(ops, 9);
    assert!(with_order(vec![0, 1, 4, 2, 5, 3, 6, 7, 8]).is_ok());
    let violation = with_order(vec![0, 4, 1, 2, 5, 3, 6, 7, 8]).unwrap_err();
    assert_eq!(violation.code(), "equivalence::read-too-early");
}

/// Of every byte of a model that is changed, either nothing depends on it or the check sees it: it never accepts in silence
/// a file in which weights, options or quantisation are others. Bytes that make no difference are names and padding.
#[test]
fn changed_weights_are_seen() {
    let original = bytes("classifier");
    let mut contents = Contents::default();
    let network = describe(&original, &mut contents).unwrap();
    let (mut refused, mut accepted) = (0, 0);
    for at in (0..original.len()).step_by(37) {
        let mut changed = original.clone();
        changed[at] ^= 1;
        let same = describe(&changed, &mut contents).is_ok_and(|changed| check(&network, &changed).is_ok());
        *(if same { &mut accepted } else { &mut refused }) += 1;
    }
    assert!(refused > accepted, "{refused} refused, {accepted} accepted");
}
