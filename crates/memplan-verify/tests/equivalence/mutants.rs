//! Small mistakes, as a transformer could make them.

use memplan_testkit::Random;
use memplan_verify::equivalence::{Axis, Meaning, Network};

use crate::networks::content;

/// The names of the mistakes.
pub(crate) const MISTAKES: [&str; 14] = [
    "slice starts one off",
    "border is one wider in front and one narrower behind",
    "border holds another value",
    "tiles change places",
    "other weights",
    "window moves by another stride",
    "window starts elsewhere",
    "another kind of op",
    "two ops change places",
    "an operand of the same shape",
    "another quantisation",
    "an effect twice",
    "an effect left out",
    "another output",
];

/// Makes a mistake; `None` if there is no place for it.
pub(crate) fn mistaken(network: &Network, mistake: &str, random: &mut Random) -> Option<Network> {
    let mut network = network.clone();
    let ops = network.ops.len() as u64;
    // Try ops from a random one on, until one is of the right kind.
    let start = random.below(ops);
    let order: Vec<usize> = (0..ops).map(|step| ((start + step) % ops) as usize).collect();
    let axis = random.below(2) as usize;
    match mistake {
        "two ops change places" => {
            let at = random.below(ops.checked_sub(1).filter(|last| *last > 0)?) as usize;
            network.ops.swap(at, at + 1);
            return Some(network);
        }
        "another output" => {
            let tensor = random.below(network.tensors.len() as u64) as usize;
            let is_same = network.tensors[tensor].shape == network.tensors[network.outputs[0]].shape;
            network.outputs[0] = tensor;
            return is_same.then_some(network);
        }
        "another quantisation" => {
            let tensor = random.below(network.tensors.len() as u64) as usize;
            network.tensors[tensor].numbers = "INT8 scale 2".to_owned();
            return Some(network);
        }
        _ => {}
    }
    order.into_iter().any(|op| change(&mut network, op, mistake, axis, random)).then_some(network)
}

/// Makes the mistake in an op, if it is one in which it can be made.
fn change(network: &mut Network, index: usize, mistake: &str, axis: usize, random: &mut Random) -> bool {
    let tensors = network.tensors.clone();
    let op = &mut network.ops[index];
    match (mistake, &mut op.meaning) {
        ("slice starts one off", Meaning::Slice { starts, .. }) => {
            starts[0][axis] += if random.one_in(2) { 1 } else { -1 };
            true
        }
        ("border is one wider in front and one narrower behind", Meaning::Pad { before, .. }) => {
            before[axis] += if before[axis] == 0 || random.one_in(2) { 1 } else { -1 };
            true
        }
        ("border holds another value", Meaning::Pad { fill, .. }) => {
            fill[0] = fill[0].wrapping_add(1 + random.below(255) as u8);
            true
        }
        ("tiles change places", Meaning::Concat { .. }) => {
            let count = op.operands.len() as u64;
            op.operands.swap(0, random.below(count) as usize);
            true
        }
        ("window moves by another stride" | "window starts elsewhere", Meaning::Window(window)) => {
            let Axis::Slide(slide) = &mut window.axes[axis] else { return false };
            if mistake == "window starts elsewhere" {
                slide.before += if random.one_in(2) { 1 } else { -1 };
                op.geometry.insert("before".to_owned(), format!("changed {}", slide.before));
            } else {
                slide.stride += 1;
                op.attributes.insert("stride".to_owned(), format!("changed {}", slide.stride));
            }
            true
        }
        ("another kind of op", _) if op.kind == "RELU" => {
            op.kind = "RELU6".to_owned();
            true
        }
        ("other weights", _) if op.kind == "CONV" => {
            let weights = op.operands[1].expect("a convolution has weights");
            network.tensors[weights].content = Some(content(random.below(200) as u8));
            true
        }
        ("an operand of the same shape", _) => {
            let Some(old) = op.operands[0] else { return false };
            let fits = |other: &usize| *other != old && tensors[*other].shape == tensors[old].shape;
            let others: Vec<usize> = (0..tensors.len()).filter(fits).collect();
            if others.is_empty() {
                return false;
            }
            op.operands[0] = Some(others[random.below(others.len() as u64) as usize]);
            true
        }
        ("an effect left out", _) if op.has_effect => {
            op.has_effect = false;
            op.kind = "RELU".to_owned();
            op.meaning = Meaning::Pointwise;
            true
        }
        ("an effect twice", _) if op.has_effect => {
            let mut again = op.clone();
            let result = op.results[0].expect("an effect has a result");
            network.tensors.push(tensors[result].clone());
            again.results = vec![Some(tensors.len())];
            network.ops.insert(index, again);
            true
        }
        _ => false,
    }
}
