//! Small networks on tensors of rows, columns and channels, made by hand or at random.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use memplan_testkit::Random;
use memplan_verify::equivalence::{Axis, ContentId, Contents, Meaning, Network, Op, Slide, Tensor, Window};

/// The element that counts as padding in a convolution.
pub(crate) const ZERO: i8 = 7;

/// Builds a network op by op.
#[derive(Clone, Default)]
pub(crate) struct Maker {
    pub(crate) network: Network,
}

/// The content of constants: one for each seed of weights, the same in all networks.
pub(crate) fn content(seed: u8) -> ContentId {
    static SEEDS: OnceLock<Vec<ContentId>> = OnceLock::new();
    let mut contents = Contents::default();
    SEEDS.get_or_init(|| (0..=255).map(|seed| contents.id(vec![seed])).collect())[usize::from(seed)]
}

impl Maker {
    pub(crate) fn tensor(&mut self, name: &str, shape: &[i64]) -> usize {
        let tensor = Tensor {
            name: name.to_owned(),
            shape: Some(shape.to_vec()),
            numbers: "INT8".to_owned(),
            ..Tensor::default()
        };
        self.network.tensors.push(tensor);
        self.network.tensors.len() - 1
    }

    pub(crate) fn input(&mut self, shape: &[i64]) -> usize {
        let tensor = self.tensor("x", shape);
        self.network.inputs.push(tensor);
        tensor
    }

    pub(crate) fn weights(&mut self, seed: u8) -> usize {
        let tensor = self.tensor(&format!("weights {seed}"), &[1]);
        self.network.tensors[tensor].content = Some(content(seed));
        tensor
    }

    pub(crate) fn shape(&self, tensor: usize) -> Vec<i64> {
        self.network.tensors[tensor].shape.clone().expect("all shapes are known")
    }

    pub(crate) fn op(&mut self, op: Op, shape: &[i64]) -> usize {
        let result = self.tensor(&format!("{} {}", op.kind, self.network.ops.len()), shape);
        self.network.ops.push(Op { results: vec![Some(result)], ..op });
        result
    }

    /// A convolution or a pool. `slides` are those of rows and columns; `after` is the padding behind.
    pub(crate) fn window(
        &mut self,
        kind: &str,
        operands: &[usize],
        slides: [Slide; 2],
        after: [i64; 2],
        channels: i64,
    ) -> usize {
        let shape = self.shape(operands[0]);
        let count = |axis: usize| {
            let Slide { size, stride, dilation, before } = slides[axis];
            (shape[axis] + before + after[axis] - (size - 1) * dilation - 1) / stride + 1
        };
        let result = [count(0), count(1), channels];
        let op = window_op(kind, operands, slides);
        self.op(op, &result)
    }

    pub(crate) fn pointwise(&mut self, kind: &str, operands: &[usize]) -> usize {
        let shape = self.shape(operands[0]);
        self.op(plain(kind, Meaning::Pointwise, operands), &shape)
    }

    pub(crate) fn slice(&mut self, of: usize, start: &[i64], shape: &[i64]) -> usize {
        self.op(plain("SLICE", Meaning::Slice { operand: 0, starts: vec![start.to_vec()] }, &[of]), shape)
    }

    pub(crate) fn pad(&mut self, of: usize, before: [i64; 2], after: [i64; 2], fill: i8) -> usize {
        let shape = self.shape(of);
        let result = [shape[0] + before[0] + after[0], shape[1] + before[1] + after[1], shape[2]];
        let meaning = Meaning::Pad { before: vec![before[0], before[1], 0], fill: fill.to_le_bytes().to_vec() };
        self.op(plain("PAD", meaning, &[of]), &result)
    }

    pub(crate) fn concat(&mut self, operands: &[usize], axis: usize) -> usize {
        let mut shape = self.shape(operands[0]);
        shape[axis] = operands.iter().map(|&operand| self.shape(operand)[axis]).sum();
        self.op(plain("CONCAT", Meaning::Concat { axis }, operands), &shape)
    }

    /// Looks at all channels of a place.
    pub(crate) fn softmax(&mut self, of: usize) -> usize {
        let shape = self.shape(of);
        let window =
            Window { operand: 0, axes: vec![Axis::Along, Axis::Along, Axis::Across], neutral: None, sized_by: None };
        self.op(plain("SOFTMAX", Meaning::Window(window), &[of]), &shape)
    }

    /// Every row twice, every column three times.
    pub(crate) fn repeat(&mut self, of: usize) -> usize {
        let shape = self.shape(of);
        let axes = vec![Axis::Repeat { factor: 2 }, Axis::Repeat { factor: 3 }, Axis::Along];
        let window = Window { operand: 0, axes, neutral: None, sized_by: None };
        self.op(plain("REPEAT", Meaning::Window(window), &[of]), &[2 * shape[0], 3 * shape[1], shape[2]])
    }

    /// Adds something else each time it runs.
    pub(crate) fn noise(&mut self, of: usize) -> usize {
        let shape = self.shape(of);
        self.op(Op { has_effect: true, ..plain("NOISE", Meaning::Opaque, &[of]) }, &shape)
    }
}

fn plain(kind: &str, meaning: Meaning, operands: &[usize]) -> Op {
    let operands = operands.iter().map(|&operand| Some(operand)).collect();
    Op { kind: kind.to_owned(), meaning, operands, ..Op::default() }
}

/// An op with a window. How far in front it starts is explained by its meaning; the rest must always be the same.
pub(crate) fn window_op(kind: &str, operands: &[usize], slides: [Slide; 2]) -> Op {
    let (channels, neutral) = match kind {
        "CONV" => (Axis::Across, Some(ZERO)),
        "MAX" => (Axis::Along, Some(i8::MIN)),
        _ => (Axis::Along, None),
    };
    let axes = vec![Axis::Slide(slides[0]), Axis::Slide(slides[1]), channels];
    let neutral = neutral.map(|neutral| neutral.to_le_bytes().to_vec());
    let text = |of: fn(Slide) -> i64| format!("{} {}", of(slides[0]), of(slides[1]));
    let attributes = [
        ("size", text(|slide| slide.size)),
        ("stride", text(|slide| slide.stride)),
        ("dilation", text(|slide| slide.dilation)),
    ];
    let attributes: BTreeMap<String, String> =
        attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let geometry = BTreeMap::from([("before".to_owned(), text(|slide| slide.before))]);
    Op {
        attributes,
        geometry,
        ..plain(kind, Meaning::Window(Window { operand: 0, axes, neutral, sized_by: None }), operands)
    }
}

/// A network of so many ops: convolutions, pools, branches that meet again, and sometimes an op with an effect.
pub(crate) fn random_network(ops: usize, random: &mut Random) -> Network {
    let mut maker = Maker::default();
    let shape = [random.between(4, 11) as i64, random.between(4, 11) as i64, random.between(1, 3) as i64];
    let mut tensors = vec![maker.input(&shape)];
    while maker.network.ops.len() < ops {
        let last = tensors[tensors.len() - 1 - random.below((tensors.len() as u64).min(2)) as usize];
        let partner =
            tensors.iter().rev().copied().find(|&other| other != last && maker.shape(other) == maker.shape(last));
        let shape = maker.shape(last);
        let made = match random.below(12) {
            0..=3 => convolution(&mut maker, last, random),
            4 | 5 => pool(&mut maker, last, random),
            6 | 7 => partner.map(|other| maker.pointwise("ADD", &[last, other])),
            8 => Some(maker.pointwise("RELU", &[last])),
            9 => partner.filter(|_| shape[2] < 4).map(|other| maker.concat(&[last, other], 2)),
            10 if shape[0] * shape[1] <= 36 => Some(maker.repeat(last)),
            10 => Some(maker.pad(last, [1, 0], [0, 2], random.below(20) as i8)),
            11 if random.one_in(3) => Some(maker.noise(last)),
            11 if shape[0] > 3 => Some(maker.slice(last, &[1, 0, 0], &[shape[0] - 2, shape[1], shape[2]])),
            _ => Some(maker.softmax(last)),
        };
        tensors.extend(made);
    }
    maker.network.outputs = vec![*tensors.last().expect("there is an input")];
    if random.one_in(3) {
        maker.network.outputs.push(tensors[tensors.len() / 2]);
    }
    maker.network
}

fn slide(places: i64, random: &mut Random) -> Option<(Slide, i64)> {
    let (size, stride, dilation) =
        (random.between(1, 4) as i64, random.between(1, 3) as i64, random.between(1, 2) as i64);
    let reach = (size - 1) * dilation + 1;
    // Padding as much as the window reaches over, or none; sometimes more behind, as for an even size.
    let total = if random.one_in(2) { reach - 1 } else { 0 };
    (places + total >= reach).then_some((Slide { size, stride, dilation, before: total / 2 }, total - total / 2))
}

fn convolution(maker: &mut Maker, of: usize, random: &mut Random) -> Option<usize> {
    let shape = maker.shape(of);
    let (rows, columns) = (slide(shape[0], random)?, slide(shape[1], random)?);
    let weights = maker.weights(random.below(200) as u8);
    let channels = random.between(1, 3) as i64;
    Some(maker.window("CONV", &[of, weights], [rows.0, columns.0], [rows.1, columns.1], channels))
}

fn pool(maker: &mut Maker, of: usize, random: &mut Random) -> Option<usize> {
    let shape = maker.shape(of);
    let (rows, columns) = (slide(shape[0], random)?, slide(shape[1], random)?);
    let kind = if random.one_in(2) { "MAX" } else { "AVERAGE" };
    Some(maker.window(kind, &[of], [rows.0, columns.0], [rows.1, columns.1], shape[2]))
}
