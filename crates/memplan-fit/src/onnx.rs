//! Layers of an `.onnx` model: which nodes are spatial, and how.
//!
//! Images have their channels in front of height and width. Convolutions and pools state their padding, so that a tile
//! has the padding of the edges that it touches, and an average pool that leaves padding out can be split, too.

use memplan_core::Id;
use memplan_models::graph::rewrite::Fill;
use memplan_models::graph::{Graph, Op, OpId, Tensor};
use memplan_models::onnx::nodes::{File, Node};

use crate::geometry::{Covered, Sliding, elements, image, only_image};
use crate::layer::{Border, Layer, Reach, SizeForm, Spatial};

/// Height and width among the dimensions of an image.
pub const AXES: [usize; 2] = [2, 3];

/// Nodes that compute each output element from the input elements at the same position.
#[rustfmt::skip]
const POINTWISE: [&str; 40] = [
    "Abs", "Add", "Cast", "Ceil", "Celu", "Clip", "Cos", "Div", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid",
    "HardSwish", "Identity", "LeakyRelu", "Log", "Max", "Min", "Mish", "Mul", "Neg", "PRelu", "Pow", "Reciprocal",
    "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Swish", "Tanh",
    "ThresholdedRelu",
];

/// A layer for each op; `places` has, for each op, the position of its node in the file.
pub fn layers(graph: &Graph, file: &File, places: &[usize]) -> Vec<Layer> {
    let layer = |(id, op): (OpId, &Op)| {
        let node = places.get(id.index()).and_then(|&place| file.nodes.get(place));
        let spatial = match node {
            Some(node) => Reading { graph, file, op, node }.spatial(),
            None => Err("its node is not in the file".to_owned()),
        };
        Layer { macs: macs(graph, op), spatial }
    };
    graph.ops.iter_enumerated().map(layer).collect()
}

/// Multiply-adds of a node; nodes that do not multiply matrices have none.
fn macs(graph: &Graph, op: &Op) -> u64 {
    let input = |index: usize| op.inputs.get(index).map(|&tensor| &graph.tensors[tensor]);
    let output = op.outputs.first().map_or(0, |&tensor| elements(&graph.tensors[tensor]));
    // The weights of one output channel are all weights divided by the number of output channels. Each output is a sum
    // over these.
    let per_output = |filter: &Tensor| elements(filter) / filter.shape.first().copied().unwrap_or(1).max(1);
    // Each output is a sum over the last dimension of the first matrix.
    let summed = |matrix: &Tensor| output.saturating_mul(matrix.shape.last().copied().unwrap_or(0));
    match op.kind.as_str() {
        "Conv" | "ConvInteger" => input(1).map_or(0, |filter| output.saturating_mul(per_output(filter))),
        "QLinearConv" => input(3).map_or(0, |filter| output.saturating_mul(per_output(filter))),
        // In a transposed convolution each input is multiplied with all weights of its input channel.
        "ConvTranspose" => match (input(0), input(1)) {
            (Some(image), Some(filter)) => elements(image).saturating_mul(per_output(filter)),
            _ => 0,
        },
        "Gemm" | "MatMul" | "MatMulInteger" | "QLinearMatMul" => input(0).map_or(0, summed),
        _ => 0,
    }
}

/// An op and its node in the file.
struct Reading<'a> {
    graph: &'a Graph,
    file: &'a File,
    op: &'a Op,
    node: &'a Node,
}

impl Reading<'_> {
    /// How a node can be computed part by part, or why it cannot.
    fn spatial(&self) -> Result<Spatial, String> {
        let output = only_image(self.graph, self.op)?;
        if !self.node.is_standard() {
            return Err("it is not one of the standard operators".to_owned());
        }
        match self.op.kind.as_str() {
            "Conv" | "ConvInteger" => self.windowed(output, self.filter(1)?),
            "QLinearConv" => self.windowed(output, self.filter(3)?),
            "MaxPool" | "AveragePool" => self.windowed(output, self.pair("kernel_shape", 0)?),
            // If the filter is as large as the stride, each output position comes from one input position.
            "ConvTranspose" if self.filter(1)? != self.pair("strides", 1)? => {
                Err("its windows overlap in the output".to_owned())
            }
            "ConvTranspose" | "DepthToSpace" => Spatial::scaled((0, self.image(0)?), output, AXES, None),
            "Resize" | "Upsample" => self.resized(output),
            // Their other inputs are numbers for each channel.
            "BatchNormalization" | "QuantizeLinear" | "DequantizeLinear" => {
                self.image(0).map(|_| Spatial::point(vec![0]))
            }
            // Along the channels, a softmax reads one position at a time.
            "Softmax" | "LogSoftmax" if matches!(self.node.int("axis", -1), 1 | -3) => {
                self.image(0).map(|_| Spatial::point(vec![0]))
            }
            "Concat" if !matches!(self.node.int("axis", 0), 1 | -3) => {
                Err("it joins images along something else than their channels".to_owned())
            }
            "Concat" => Spatial::pointwise(self.graph, self.op, output, AXES),
            kind if POINTWISE.contains(&kind) => Spatial::pointwise(self.graph, self.op, output, AXES),
            _ => Err("it is not known to compute every position from what is near".to_owned()),
        }
    }

    fn image(&self, index: usize) -> Result<&Tensor, String> {
        image(self.graph, self.op, index)
    }

    /// Height and width of a filter.
    fn filter(&self, index: usize) -> Result<[u64; 2], String> {
        self.image(index).map(|filter| AXES.map(|axis| filter.shape[axis]))
    }

    /// Two numbers of the node for height and width, such as `strides`; twice `default` if the node does not have
    /// them.
    fn pair(&self, name: &str, default: u64) -> Result<[u64; 2], String> {
        let Some(attribute) = self.node.attribute(name) else { return Ok([default; 2]) };
        let numbers: Option<Vec<u64>> = attribute.ints.iter().map(|&number| u64::try_from(number).ok()).collect();
        let numbers = numbers.and_then(|numbers| <[u64; 2]>::try_from(numbers).ok());
        numbers.ok_or_else(|| format!("its {name} make no sense"))
    }

    /// How a convolution or a pooling reaches from an output position to input positions, along rows and along
    /// columns.
    fn windowed(&self, output: &Tensor, filter: [u64; 2]) -> Result<Spatial, String> {
        let image = self.image(0)?;
        let (stride, dilation) = (self.pair("strides", 1)?, self.pair("dilations", 1)?);
        let axis = |axis: usize| {
            let sliding = Sliding { filter: filter[axis], stride: stride[axis], dilation: dilation[axis] };
            let (inputs, outputs) = (image.shape[AXES[axis]], output.shape[AXES[axis]]);
            let Covered { window, all } = sliding.covered(outputs)?;
            let [before, after] = self.padding(axis, all.saturating_sub(inputs))?;
            if all > inputs.saturating_add(before).saturating_add(after) {
                return Err("its last window lies only partly on the image".to_owned());
            }
            // Tiles of windows of one position are cut as if there were no padding (`patch`), so such an op cannot
            // have any.
            if window == 1 && before + after > 0 {
                return Err("it pads windows of one position".to_owned());
            }
            Ok(Reach::Window { size: window, stride: sliding.stride, before })
        };
        // Which value stands for the border does not matter: ops of this format state their padding, also in a tile.
        let reach = [axis(0)?, axis(1)?];
        Ok(Spatial { reach, images: vec![0], border: Border::Value(Fill::Zero), size_input: None })
    }

    /// The padding before an image and after it along one axis (0: height, 1: width), as the node states it or
    /// as its `auto_pad` makes it of `missing`, the positions by which all windows together reach over the image.
    fn padding(&self, axis: usize, missing: u64) -> Result<[u64; 2], String> {
        // `pads` has four numbers: before height and width, then after height and width.
        let stated = |place: usize| {
            let pads = self.node.attribute("pads").map_or(&[0; 4][..], |attribute| &attribute.ints);
            let pad = pads.get(place).and_then(|&pad| u64::try_from(pad).ok());
            pad.ok_or_else(|| "its padding makes no sense".to_owned())
        };
        Ok(match self.node.text("auto_pad", "NOTSET") {
            "VALID" => [0, 0],
            "SAME_UPPER" => [missing / 2, missing - missing / 2],
            "SAME_LOWER" => [missing - missing / 2, missing / 2],
            _ => [stated(axis)?, stated(axis + 2)?],
        })
    }

    /// How a `Resize` that repeats positions is computed part by part.
    fn resized(&self, output: &Tensor) -> Result<Spatial, String> {
        if self.node.text("mode", "nearest") != "nearest" {
            return Err("it mixes positions that are not nearest".to_owned());
        }
        // The fourth input says how large the output is. Where it is left out, factors say so, which are the same for
        // a tile.
        let is_sized = self.node.inputs.get(3).is_some_and(|name| !name.is_empty());
        let is_known =
            |place: usize| self.node.inputs.get(place).is_some_and(|name| self.file.constant(name).is_some());
        if is_sized && !is_known(3) {
            return Err("how large its output is depends on what it reads".to_owned());
        }
        Spatial::scaled((0, self.image(0)?), output, AXES, is_sized.then_some((3, SizeForm::Shape)))
    }
}
