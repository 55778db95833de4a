//! Networks with random ops, without a file: images, windows, residual blocks, branches, upsampling, a head that reads everything.

use memplan_core::Bytes;
use memplan_fit::layer::{Border, Layer, Reach, Spatial};
use memplan_fit::{Dialect, Net};
use memplan_models::graph::rewrite::Fill;
use memplan_models::graph::{Graph, Home, Op, Tensor, TensorId};
use memplan_testkit::Random;

/// A network.
pub(crate) struct Generated {
    graph: Graph,
    layers: Vec<Layer>,
    random: Random,
}

impl Generated {
    pub(crate) fn new(seed: u64) -> Generated {
        let mut made = Generated { graph: Graph::default(), layers: Vec::new(), random: Random::new(seed) };
        let size = [12 + made.random.below(30), 8 + made.random.below(30), 1 + made.random.below(4)];
        let mut image = made.image(size);
        made.graph.inputs = vec![image];
        for _ in 0..3 + made.random.below(4) {
            image = made.block(image);
        }
        let head = made.tensor(vec![1, 10]);
        made.op(vec![image], head, 10, Err("it reads everything".to_owned()));
        made.graph.outputs = vec![head];
        made
    }

    pub(crate) fn net(&self, dialect: Dialect) -> Net<'_> {
        let (graph, layers) = (&self.graph, self.layers.clone());
        Net { graph, layers, dialect, alignment: Bytes(16), reuses_inputs: true }
    }

    fn tensor(&mut self, shape: Vec<u64>) -> TensorId {
        let name = format!("t{}", self.graph.tensors.len());
        let bytes = Bytes(shape.iter().product());
        self.graph.tensors.push(Tensor { name, element: "INT8", shape, bytes, home: Home::Arena })
    }

    fn image(&mut self, [height, width, depth]: [u64; 3]) -> TensorId {
        self.tensor(vec![1, height, width, depth])
    }

    fn size(&self, image: TensorId) -> [u64; 3] {
        let shape = &self.graph.tensors[image].shape;
        [shape[1], shape[2], shape[3]]
    }

    fn op(&mut self, inputs: Vec<TensorId>, output: TensorId, macs: u64, spatial: Result<Spatial, String>) -> TensorId {
        let scratch = if self.random.below(8) == 0 { vec![Bytes(64 + self.random.below(512))] } else { Vec::new() };
        let kept = Bytes(16 * self.random.below(20));
        let kind = format!("op{}", self.graph.ops.len());
        self.graph.ops.push(Op { kind, inputs, outputs: vec![output], scratch, kept, ..Op::default() });
        self.layers.push(Layer { macs, spatial });
        output
    }

    /// A window over an image, with as much border as keeps the size, or none.
    fn window(&mut self, image: TensorId, depth: u64, size: u64, stride: u64) -> TensorId {
        let lengths = self.size(image);
        let is_bordered = self.random.below(4) > 0 || lengths[0].min(lengths[1]) < size;
        let mut reach = [Reach::POINT; 2];
        let mut shape = [0, 0, depth];
        for axis in [0, 1] {
            let length = lengths[axis];
            shape[axis] = if is_bordered { length.div_ceil(stride) } else { (length - size) / stride + 1 };
            let end = (shape[axis] - 1) * stride + size;
            let before = if is_bordered { end.saturating_sub(length) / 2 } else { 0 };
            reach[axis] = Reach::Window { size, stride, before };
        }
        let output = self.image(shape);
        let macs = shape.iter().product::<u64>() * size * size * lengths[2];
        let spatial = Spatial { reach, images: vec![0], border: Border::Value(Fill::Zero), size_input: None };
        self.op(vec![image], output, macs, Ok(spatial))
    }

    fn join(&mut self, images: Vec<TensorId>, depth: u64) -> TensorId {
        let [height, width, _] = self.size(images[0]);
        let output = self.image([height, width, depth]);
        let reads = (0..images.len()).collect();
        let spatial = Spatial { reach: [Reach::POINT; 2], images: reads, border: Border::LeftOut, size_input: None };
        self.op(images, output, 0, Ok(spatial))
    }

    /// Some ops that compute an image from an image.
    fn block(&mut self, image: TensorId) -> TensorId {
        let [height, width, depth] = self.size(image);
        let (size, wide) = ([1, 3, 3, 5][self.random.below(4) as usize], 4 + self.random.below(20));
        match self.random.below(6) {
            // A block that is added to what it reads.
            0 if depth > 1 => {
                let inner = self.window(image, 2 * depth, 1, 1);
                let outer = self.window(inner, depth, 1, 1);
                self.join(vec![image, outer], depth)
            }
            // Two branches.
            1 => {
                let one = self.window(image, wide, 1, 1);
                let other = self.window(image, wide / 2, 1, 1);
                self.join(vec![one, other], wide + wide / 2)
            }
            2 if height * width < 900 => {
                let output = self.image([2 * height, 2 * width, depth]);
                let reach = [Reach::Scale { factor: 2 }; 2];
                let spatial = Spatial { reach, images: vec![0], border: Border::LeftOut, size_input: None };
                self.op(vec![image], output, 0, Ok(spatial))
            }
            // An expansion and what makes it small again.
            3 => {
                let inner = self.window(image, 4 * wide, 1, 1);
                self.window(inner, wide, size, 2)
            }
            _ => {
                let stride = 1 + self.random.below(2);
                self.window(image, wide, size, stride)
            }
        }
    }
}
