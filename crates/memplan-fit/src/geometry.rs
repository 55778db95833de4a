//! What layers of both formats have in common: shapes and numbers of an op become the reach of its windows.
//!
//! A `Spatial` says how an op computes positions of an image from positions of other images. A position is a place
//! along the height or the width; along these axes a `Reach` says which input positions an output position depends
//! on.
//!
//! [`tflite`](crate::tflite) and [`onnx`](crate::onnx) know the names of operators, where their numbers are and where
//! height and width are among the dimensions. What follows from the numbers is the same for both:
//!
//! ```text
//!   filter 3, stride 2, dilation 1, 4 outputs:     covered 3 positions a window, 9 positions all windows
//!   8 inputs:                                      9 - 8 = 1 position of border
//! ```

use memplan_models::graph::{Graph, Home, Op, Tensor};

use crate::layer::{Border, Reach, SizeForm, Spatial};

/// How many elements a tensor has.
pub(crate) fn elements(tensor: &Tensor) -> u64 {
    tensor.shape.iter().fold(1, |product, &n| product.saturating_mul(n))
}

/// The image (a tensor with four dimensions) that an op computes, if it computes one image and nothing else and the
/// sizes of all that it reads are known; otherwise an error that says why the op cannot be split.
pub(crate) fn only_image<'g>(graph: &'g Graph, op: &Op) -> Result<&'g Tensor, String> {
    // Computing an op with state in parts would run it several times.
    if op.is_stateful {
        return Err("it has state, or does something besides writing its output".to_owned());
    }
    let mut tensors = op.inputs.iter().chain(&op.outputs).map(|&tensor| &graph.tensors[tensor]);
    if let Some(tensor) = tensors.find(|tensor| tensor.home == Home::Runtime) {
        return Err(format!("the size of `{}` is known only when it runs", tensor.name));
    }
    let &[output] = op.outputs.as_slice() else { return Err("it does not have one output".to_owned()) };
    let output = &graph.tensors[output];
    if output.shape.len() == 4 { Ok(output) } else { Err(format!("its output, {}, is no image", output.describe())) }
}

/// The image that is input number `index` of an op; an error if that input is missing or has not four dimensions.
pub(crate) fn image<'g>(graph: &'g Graph, op: &Op, index: usize) -> Result<&'g Tensor, String> {
    let tensor = op.inputs.get(index).map(|&tensor| &graph.tensors[tensor]);
    tensor.filter(|tensor| tensor.shape.len() == 4).ok_or_else(|| "its input is no image".to_owned())
}

/// The numbers of a sliding window along one axis.
#[derive(Clone, Copy)]
pub(crate) struct Sliding {
    /// Positions that a window reads.
    pub(crate) filter: u64,
    /// Positions from one window to the next.
    pub(crate) stride: u64,
    /// Positions from one that a window reads to the next.
    pub(crate) dilation: u64,
}

/// Positions that windows cover along one axis.
pub(crate) struct Covered {
    /// From the first to the last position that a window reads.
    pub(crate) window: u64,
    /// From the start of the first window to the end of the last one.
    pub(crate) all: u64,
}

impl Sliding {
    /// What the windows of so many outputs cover; an error if a number is 0 or too large.
    pub(crate) fn covered(self, outputs: u64) -> Result<Covered, String> {
        let Sliding { filter, stride, dilation } = self;
        if filter == 0 || stride == 0 || dilation == 0 || outputs == 0 {
            return Err("the numbers of its window make no sense".to_owned());
        }
        // Dilation spreads the filter: a window covers (filter - 1) * dilation + 1 positions.
        let window = (filter - 1).checked_mul(dilation).and_then(|size| size.checked_add(1));
        let all = window.and_then(|window| (outputs - 1).checked_mul(stride)?.checked_add(window));
        let (Some(window), Some(all)) = (window, all) else { return Err("its numbers are too large".to_owned()) };
        Ok(Covered { window, all })
    }
}

impl Spatial {
    /// An op that computes every output position from the same position of the inputs with these numbers.
    pub(crate) fn point(images: Vec<usize>) -> Spatial {
        Spatial { reach: [Reach::POINT; 2], images, border: Border::LeftOut, size_input: None }
    }

    /// An op that computes every output position from the same position of its images. Inputs with one position only
    /// (numbers for each channel) are no images: they are read whole for every tile. Anything between the two is an
    /// error.
    pub(crate) fn pointwise(graph: &Graph, op: &Op, output: &Tensor, axes: [usize; 2]) -> Result<Spatial, String> {
        let mut images = Vec::new();
        for (index, &input) in op.inputs.iter().enumerate() {
            let shape = &graph.tensors[input].shape;
            // An input with fewer than four dimensions has the last ones; the missing ones in front count as 1.
            let dimension = |axis: usize| (axis + shape.len()).checked_sub(4).map_or(1, |place| shape[place]);
            let is_image = axes.iter().all(|&axis| dimension(axis) == output.shape[axis]);
            match (is_image, shape.len()) {
                (true, 4) => images.push(index),
                _ if axes.iter().all(|&axis| dimension(axis) == 1) => {}
                _ => return Err("it repeats rows or columns of an input".to_owned()),
            }
        }
        if images.is_empty() { Err("it reads no image".to_owned()) } else { Ok(Spatial::point(images)) }
    }

    /// An op that makes the image that is input number `index` larger by a whole factor along each axis. `size_input`
    /// is the input that says how large the output is, if there is one.
    pub(crate) fn scaled(
        (index, image): (usize, &Tensor),
        output: &Tensor,
        axes: [usize; 2],
        size_input: Option<(usize, SizeForm)>,
    ) -> Result<Spatial, String> {
        let along = |axis: usize| {
            let (inputs, outputs) = (image.shape[axis], output.shape[axis]);
            match outputs.checked_div(inputs) {
                Some(factor) if factor > 0 && factor * inputs == outputs => Ok(Reach::Scale { factor }),
                _ => Err(format!("{inputs} positions become {outputs}, which is no multiple")),
            }
        };
        let reach = [along(axes[0])?, along(axes[1])?];
        Ok(Spatial { reach, images: vec![index], border: Border::LeftOut, size_input })
    }
}
