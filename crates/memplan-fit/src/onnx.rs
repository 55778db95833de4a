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
        Layer { macs: macs(graph, op, node), spatial }
    };
    graph.ops.iter_enumerated().map(layer).collect()
}

/// Multiply-adds of a node. They say how expensive it is to compute a part of the node twice (a halo), or all of it (a
/// clone). Only convolutions and products of matrices are counted; all other nodes count as 0, as if they cost nothing.
/// A node without the input or output that the count needs counts as 0, too. A count that does not fit 64 bits becomes
/// the largest number: such a node is just very expensive.
fn macs(graph: &Graph, op: &Op, node: Option<&Node>) -> u64 {
    let input = |index: usize| op.inputs.get(index).map(|&tensor| &graph.tensors[tensor]);
    let output = op.outputs.first().map_or(0, |&tensor| elements(&graph.tensors[tensor]));
    // The weights of one channel: all weights divided by the first dimension of the filter. In a convolution the first
    // dimension is the output channels, and each output is a sum over the weights of its channel. (`max(1)`: a
    // dimension of 0 must not divide.)
    let per_channel = |filter: &Tensor| elements(filter) / filter.shape.first().copied().unwrap_or(1).max(1);
    // Each output is a sum over the last dimension of the first matrix, or over its first one if a `Gemm` transposes it.
    let is_transposed = op.kind == "Gemm" && node.is_some_and(|node| node.int("transA", 0) != 0);
    let summed = |matrix: &Tensor| {
        let dimension = if is_transposed { matrix.shape.first() } else { matrix.shape.last() };
        output.saturating_mul(dimension.copied().unwrap_or(0))
    };
    match op.kind.as_str() {
        "Conv" | "ConvInteger" => input(1).map_or(0, |filter| output.saturating_mul(per_channel(filter))),
        // The image, its scale and its zero point come before the filter.
        "QLinearConv" => input(3).map_or(0, |filter| output.saturating_mul(per_channel(filter))),
        // In a transposed convolution the first dimension of the filter is the input channels, and each input is
        // multiplied with all weights of its channel.
        "ConvTranspose" => match (input(0), input(1)) {
            (Some(image), Some(filter)) => elements(image).saturating_mul(per_channel(filter)),
            _ => 0,
        },
        "Gemm" | "MatMul" | "MatMulInteger" | "QLinearMatMul" => input(0).map_or(0, summed),
        _ => 0,
    }
}

/// An op and its node in the file.
struct Reading<'a> {
    /// The graph of the op.
    graph: &'a Graph,
    /// The file, for its constants.
    file: &'a File,
    /// What the op reads and writes.
    op: &'a Op,
    /// Its attributes.
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

    /// The image that is input number `index`; an error if that input is missing or has not four dimensions.
    fn image(&self, index: usize) -> Result<&Tensor, String> {
        image(self.graph, self.op, index)
    }

    /// Height and width of the filter that is input number `index`.
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
            // `window` is how many positions one window spans, `all` how many all windows of the output span.
            let Covered { window, all } = sliding.covered(outputs)?;
            // What the windows span beyond the image is padding; how it is divided is in the node's attributes.
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
        // With these modes position i of the output repeats position i / factor of the input, rounded down. Others
        // round up or shift the positions, so that a part of the output needs other positions than `Reach::Scale`
        // says. An `Upsample` has no modes and always repeats.
        let mode = (
            self.node.text("coordinate_transformation_mode", "half_pixel"),
            self.node.text("nearest_mode", "round_prefer_floor"),
        );
        let repeats =
            matches!(mode, ("asymmetric", "floor") | ("half_pixel", "round_prefer_floor" | "round_prefer_ceil"));
        if self.node.kind == "Resize" && !repeats {
            return Err("it does not simply repeat positions".to_owned());
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

#[cfg(test)]
mod tests {
    use memplan_core::Bytes;
    use memplan_models::graph::{Home, TensorId};
    use memplan_models::onnx::nodes::Attribute;

    use super::*;

    #[test]
    fn a_transposed_product_sums_over_the_first_dimension() {
        let tensor = |shape: [u64; 2]| Tensor {
            name: String::new(),
            element: "FLOAT",
            shape: shape.to_vec(),
            bytes: Bytes(4 * shape[0] * shape[1]),
            home: Home::Arena,
        };
        // M = 2, N = 3, K = 5.
        let count = |left: [u64; 2], transposed: i64| {
            let tensors = [left, [5, 3], [2, 3]].map(tensor).into_iter().collect();
            let [a, b, y] = [0, 1, 2].map(TensorId::from_index);
            let op = Op { kind: "Gemm".to_owned(), inputs: vec![a, b], outputs: vec![y], ..Op::default() };
            let graph = Graph { tensors, ops: [op].into_iter().collect(), ..Graph::default() };
            let (mut file, mut node, mut attribute) = (File::default(), Node::default(), Attribute::default());
            attribute.name.push_str("transA");
            attribute.int = transposed;
            node.attributes.push(attribute);
            file.nodes.push(node);
            layers(&graph, &file, &[0])[0].macs
        };
        assert_eq!(count([2, 5], 0), 2 * 3 * 5);
        assert_eq!(count([5, 2], 1), 2 * 3 * 5);
    }

    /// With scale 2 and `ceil`, output 3 reads input 2: such a resize repeats nothing.
    #[test]
    fn a_resize_that_rounds_up_is_not_computed_part_by_part() {
        let tensor = |side: u64| Tensor {
            name: String::new(),
            element: "FLOAT",
            shape: vec![1, 1, side, side],
            bytes: Bytes(4 * side * side),
            home: Home::Arena,
        };
        let is_split = |coordinates: &str, rounding: &str| {
            let tensors = [4, 8].map(tensor).into_iter().collect();
            let [x, y] = [0, 1].map(TensorId::from_index);
            let op = Op { kind: "Resize".to_owned(), inputs: vec![x], outputs: vec![y], ..Op::default() };
            let graph = Graph { tensors, ops: [op].into_iter().collect(), ..Graph::default() };
            let mut node = Node::default();
            node.kind.push_str("Resize");
            for (name, text) in [("coordinate_transformation_mode", coordinates), ("nearest_mode", rounding)] {
                let mut attribute = Attribute::default();
                attribute.name.push_str(name);
                attribute.text.push_str(text);
                node.attributes.push(attribute);
            }
            let mut file = File::default();
            file.nodes.push(node);
            layers(&graph, &file, &[0])[0].spatial.is_ok()
        };
        assert!(is_split("asymmetric", "floor"));
        assert!(is_split("half_pixel", "round_prefer_ceil"));
        assert!(!is_split("asymmetric", "ceil"));
        assert!(!is_split("half_pixel", "floor"));
    }
}
