//! Layers of a `.tflite` model: which operators are spatial, and how.
//!
//! An operator is *spatial* if each position of its output image depends on nearby positions of its input images only
//! (see [`layer`](crate::layer)). Such an operator can be computed tile by tile, and the tiles together are exactly
//! its output. An operator that is wrongly called spatial would change the model's results, so an operator that is not
//! listed here is not spatial.

use memplan_core::Id;
use memplan_models::graph::rewrite::Fill;
use memplan_models::graph::{Graph, Op, Tensor};
use memplan_models::tflite::attributes::{Attributes, Edges, WindowOptions};

use crate::geometry::{Covered, Sliding, elements, image, only_image};
use crate::layer::{Border, Layer, Reach, SizeForm, Spatial};

/// Height and width among the dimensions of an image.
pub const AXES: [usize; 2] = [1, 2];

/// Operators that compute each output element from the input elements at the same place. The last one, `SOFTMAX`,
/// computes it from all channels of the same row and column, which lie in one tile.
const POINTWISE: [&str; 32] = [
    "ABS",
    "ADD",
    "CAST",
    "CEIL",
    "COS",
    "DEQUANTIZE",
    "DIV",
    "ELU",
    "EXP",
    "FLOOR",
    "GELU",
    "HARD_SWISH",
    "LEAKY_RELU",
    "LOG",
    "LOGISTIC",
    "MAXIMUM",
    "MINIMUM",
    "MUL",
    "NEG",
    "PRELU",
    "QUANTIZE",
    "RELU",
    "RELU6",
    "RELU_0_TO_1",
    "RELU_N1_TO_1",
    "ROUND",
    "RSQRT",
    "SQRT",
    "SQUARE",
    "SUB",
    "TANH",
    "SOFTMAX",
];

/// A layer for each operator.
pub fn layers(graph: &Graph, attributes: &[Attributes]) -> Vec<Layer> {
    // Without attributes an operator with a window is not spatial; `spatial` says so.
    let layer = |(id, op): (memplan_models::graph::OpId, &Op)| {
        let attributes = attributes.get(id.index()).copied().unwrap_or_default();
        Layer { macs: macs(graph, op), spatial: spatial(graph, op, &attributes) }
    };
    graph.ops.iter_enumerated().map(layer).collect()
}

/// Multiply-adds of an operator; operators that do not multiply matrices have none.
fn macs(graph: &Graph, op: &Op) -> u64 {
    let input = |index: usize| op.inputs.get(index).map(|&tensor| &graph.tensors[tensor]);
    let output = op.outputs.first().map_or(0, |&tensor| elements(&graph.tensors[tensor]));
    // The weights of one output channel are all weights divided by the number of output channels. Each output is a sum
    // over these.
    // `channels` is the dimension of the filter that has the output channels.
    let per_output = |filter: &Tensor, channels: usize| {
        let outputs = filter.shape.get(channels).copied().unwrap_or(1).max(1);
        elements(filter) / outputs
    };
    match (op.kind.as_str(), input(1)) {
        ("CONV_2D" | "FULLY_CONNECTED", Some(filter)) => output.saturating_mul(per_output(filter, 0)),
        ("DEPTHWISE_CONV_2D", Some(filter)) => output.saturating_mul(per_output(filter, 3)),
        // In a transposed convolution each input is multiplied with all weights of its input channel.
        ("TRANSPOSE_CONV", Some(filter)) => {
            input(2).map_or(0, |image| elements(image).saturating_mul(per_output(filter, 3)))
        }
        _ => 0,
    }
}

/// How an operator can be computed part by part, or why it cannot.
fn spatial(graph: &Graph, op: &Op, attributes: &Attributes) -> Result<Spatial, String> {
    let output = only_image(graph, op)?;
    match op.kind.as_str() {
        "CONV_2D" | "DEPTHWISE_CONV_2D" => {
            let filter = image(graph, op, 1)?;
            let input = image(graph, op, 0)?;
            // Such a convolution first finds one scale for the whole input; a tile would have a scale of its own.
            if input.element == "FLOAT32" && filter.element != "FLOAT32" {
                return Err("it quantises its whole input while it runs".to_owned());
            }
            let size = [filter.shape[1], filter.shape[2]];
            windowed(input, output, attributes.window, size, Border::Value(Fill::Zero))
        }
        "MAX_POOL_2D" => pooled(image(graph, op, 0)?, output, attributes.window, Border::Value(Fill::Lowest)),
        "AVERAGE_POOL_2D" | "L2_POOL_2D" => pooled(image(graph, op, 0)?, output, attributes.window, Border::LeftOut),
        // With a filter as large as its stride each output position comes from one input position. Larger filters
        // overlap, and sums over tiles would be incomplete.
        "TRANSPOSE_CONV" => {
            let filter = image(graph, op, 1)?;
            let options = attributes.window.ok_or("its options are missing")?;
            if [filter.shape[1], filter.shape[2]] != options.stride {
                return Err("its windows overlap in the output".to_owned());
            }
            Spatial::scaled((2, image(graph, op, 2)?), output, AXES, Some((0, SizeForm::Shape)))
        }
        "RESIZE_NEAREST_NEIGHBOR" if attributes.aligns_corners => Err("it aligns corners".to_owned()),
        "RESIZE_NEAREST_NEIGHBOR" => {
            let size = Some((1, SizeForm::HeightWidth));
            Spatial::scaled((0, image(graph, op, 0)?), output, AXES, size)
        }
        "PAD" => bordered(image(graph, op, 0)?, attributes.border),
        // Only channels can be joined tile by tile: joined along rows or columns, a tile would mix several inputs.
        "CONCATENATION" if attributes.axis != 3 && attributes.axis != -1 => {
            Err("it joins images along something else than their channels".to_owned())
        }
        "CONCATENATION" => Spatial::pointwise(graph, op, output, AXES),
        kind if POINTWISE.contains(&kind) => Spatial::pointwise(graph, op, output, AXES),
        _ => Err("it is not known to compute every position from what is near".to_owned()),
    }
}

/// How a pooling reaches; the size of its windows is among its options.
fn pooled(image: &Tensor, output: &Tensor, options: Option<WindowOptions>, border: Border) -> Result<Spatial, String> {
    windowed(image, output, options, options.map_or([0, 0], |options| options.filter), border)
}

/// How a convolution or a pooling reaches from an output position to input positions, along rows and along columns.
fn windowed(
    image: &Tensor,
    output: &Tensor,
    options: Option<WindowOptions>,
    filter: [u64; 2],
    border: Border,
) -> Result<Spatial, String> {
    let options = options.ok_or("its options are missing")?;
    let axis = |axis: usize| {
        let (stride, dilation) = (options.stride[axis], options.dilation[axis]);
        let (inputs, outputs) = (image.shape[AXES[axis]], output.shape[AXES[axis]]);
        let Covered { window, all } = Sliding { filter: filter[axis], stride, dilation }.covered(outputs)?;
        // `Same` adds as much border as the last window lacks, half of it in front, rounded down, as TensorFlow Lite
        // does.
        let before = match options.edges {
            Edges::Same => all.saturating_sub(inputs) / 2,
            Edges::Valid if all > inputs => return Err("its shapes do not go together".to_owned()),
            Edges::Valid => 0,
        };
        Ok(Reach::Window { size: window, stride, before })
    };
    Ok(Spatial { reach: [axis(0)?, axis(1)?], images: vec![0], border, size_input: None })
}

/// An operator that adds a border of zeros and does nothing else.
fn bordered(image: &Tensor, border: Option<[[u64; 2]; 4]>) -> Result<Spatial, String> {
    let Some([[0, 0], rows, columns, [0, 0]]) = border else {
        return Err("its border is not known, or not one around height and width".to_owned());
    };
    // Zeros of other types than these are not known to be what a kernel puts there.
    if !matches!(image.element, "INT8" | "INT16" | "FLOAT32") {
        return Err(format!("a border of {} is not known", image.element));
    }
    // Output `o` is input `o - before`: a window of one position that starts in the border.
    let reach = [rows, columns].map(|[before, _]| Reach::Window { size: 1, stride: 1, before });
    Ok(Spatial { reach, images: vec![0], border: Border::Added(Fill::Zero), size_input: None })
}
