//! A small network with random weights: convolutions with residual connections,
//! two attention layers over the image's positions, a classifier. Written on
//! tensors, bufferized by mlir-opt, run before and after the pass.

use std::fmt::Write as _;

use crate::machine;
use crate::random::Random;

const BUFFERIZE: [&str; 3] = [
    "-one-shot-bufferize=bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map",
    "-canonicalize",
    "-cse",
];

/// A tensor of the network.
#[derive(Clone)]
struct Tensor {
    name: String,
    shape: Vec<usize>,
}

impl Tensor {
    fn ty(&self) -> String {
        type_of(&self.shape)
    }
}

fn type_of(shape: &[usize]) -> String {
    let dims: String = shape.iter().map(|dim| format!("{dim}x")).collect();
    format!("tensor<{dims}f32>")
}

struct Network {
    random: Random,
    text: String,
    names: usize,
}

impl Network {
    /// Adds an op; `op` is its text without result and result type.
    fn op(&mut self, shape: &[usize], op: &str) -> Tensor {
        self.names += 1;
        let tensor = Tensor { name: format!("%t{}", self.names), shape: shape.to_vec() };
        writeln!(self.text, "  {} = {op}", tensor.name).unwrap();
        tensor
    }

    fn weights(&mut self, shape: &[usize]) -> Tensor {
        let values = self.nested(shape);
        self.op(shape, &format!("arith.constant dense<{values}> : {}", type_of(shape)))
    }

    /// Random numbers of a shape as MLIR writes them.
    fn nested(&mut self, shape: &[usize]) -> String {
        let Some((&dim, inner)) = shape.split_first() else {
            return format!("{:.3}", self.random.below(1000) as f64 / 2000.0 - 0.25);
        };
        let parts: Vec<String> = (0..dim).map(|_| self.nested(inner)).collect();
        format!("[{}]", parts.join(", "))
    }

    fn zeros(&mut self, shape: &[usize]) -> Tensor {
        let ty = type_of(shape);
        let empty = self.op(shape, &format!("tensor.empty() : {ty}"));
        self.op(shape, &format!("linalg.fill ins(%zero : f32) outs({} : {ty}) -> {ty}", empty.name))
    }

    fn convolution(&mut self, x: &Tensor, channels: usize, stride: usize) -> Tensor {
        let [n, height, width, depth] = x.shape[..] else { panic!("an image is needed") };
        let padded = [n, height + 2, width + 2, depth];
        let pad = format!(
            "tensor.pad {} low[0, 1, 1, 0] high[0, 1, 1, 0] {{\n  ^bb0(%a: index, %b: index, %c: index, %d: index):\n    \
             tensor.yield %zero : f32\n  }} : {} to {}",
            x.name,
            x.ty(),
            type_of(&padded)
        );
        let padded = self.op(&padded, &pad);
        let kernel = self.weights(&[3, 3, depth, channels]);
        let out = self.zeros(&[n, height.div_ceil(stride), width.div_ceil(stride), channels]);
        let convolution = format!(
            "linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}} \
             ins({}, {} : {}, {}) outs({} : {}) -> {}",
            padded.name,
            kernel.name,
            padded.ty(),
            kernel.ty(),
            out.name,
            out.ty(),
            out.ty()
        );
        self.op(&out.shape, &convolution)
    }

    /// A named op on two tensors of one shape.
    fn binary(&mut self, op: &str, x: &Tensor, y: &Tensor) -> Tensor {
        let ty = x.ty();
        let out = self.op(&x.shape, &format!("tensor.empty() : {ty}"));
        let (x, y, out) = (x, y, &out.name);
        self.op(&x.shape, &format!("linalg.{op} ins({}, {} : {ty}, {ty}) outs({out} : {ty}) -> {ty}", x.name, y.name))
    }

    fn relu(&mut self, x: &Tensor) -> Tensor {
        let zeros = self.zeros(&x.shape);
        self.binary("max", x, &zeros)
    }

    fn residual_block(&mut self, x: &Tensor, channels: usize, stride: usize) -> Tensor {
        let first = self.convolution(x, channels, stride);
        let first = self.relu(&first);
        let second = self.convolution(&first, channels, 1);
        let short = if x.shape == second.shape { x.clone() } else { self.convolution(x, channels, stride) };
        let sum = self.binary("add", &second, &short);
        self.relu(&sum)
    }

    fn matmul(&mut self, x: &Tensor, y: &Tensor) -> Tensor {
        let out = self.zeros(&[x.shape[0], y.shape[1]]);
        let (a, b, c) = (x.ty(), y.ty(), out.ty());
        self.op(
            &out.shape,
            &format!("linalg.matmul ins({}, {} : {a}, {b}) outs({} : {c}) -> {c}", x.name, y.name, out.name),
        )
    }

    fn dense(&mut self, x: &Tensor, width: usize) -> Tensor {
        let weights = self.weights(&[x.shape[1], width]);
        self.matmul(x, &weights)
    }

    fn transpose(&mut self, x: &Tensor) -> Tensor {
        let shape = [x.shape[1], x.shape[0]];
        let (from, to) = (x.ty(), type_of(&shape));
        let out = self.op(&shape, &format!("tensor.empty() : {to}"));
        self.op(
            &shape,
            &format!("linalg.transpose ins({} : {from}) outs({} : {to}) permutation = [1, 0]", x.name, out.name),
        )
    }

    /// Each row scaled so that it adds up to one.
    fn softmax(&mut self, x: &Tensor) -> Tensor {
        let ty = x.ty();
        let out = self.op(&x.shape, &format!("tensor.empty() : {ty}"));
        let exp = self.op(&x.shape, &format!("linalg.exp ins({} : {ty}) outs({} : {ty}) -> {ty}", x.name, out.name));
        let sums = self.zeros(&x.shape[..1]);
        let row = sums.ty();
        let reduce = "linalg.reduce { arith.addf }";
        let sums = self.op(
            &x.shape[..1],
            &format!("{reduce} ins({} : {ty}) outs({} : {row}) dimensions = [1]", exp.name, sums.name),
        );
        let wide = self.op(&x.shape, &format!("tensor.empty() : {ty}"));
        let wide = self.op(
            &x.shape,
            &format!("linalg.broadcast ins({} : {row}) outs({} : {ty}) dimensions = [1]", sums.name, wide.name),
        );
        self.binary("div", &exp, &wide)
    }

    fn attention(&mut self, x: &Tensor) -> Tensor {
        let width = x.shape[1];
        let [queries, keys, values] = [(); 3].map(|()| self.dense(x, width));
        let keys = self.transpose(&keys);
        let scores = self.matmul(&queries, &keys);
        let weights = self.softmax(&scores);
        let mixed = self.matmul(&weights, &values);
        let sum = self.binary("add", &mixed, x);
        let hidden = self.dense(&sum, 2 * width);
        let hidden = self.relu(&hidden);
        let out = self.dense(&hidden, width);
        self.binary("add", &out, &sum)
    }
}

/// The module on tensors; its `@main` prints the bits of all outputs.
fn module() -> String {
    let mut network = Network { random: Random::new(11), text: String::new(), names: 0 };
    let mut image = Tensor { name: "%image".to_owned(), shape: vec![1, 16, 16, 3] };
    for (channels, stride) in [(4, 1), (4, 1), (8, 2), (8, 1), (12, 2)] {
        image = network.residual_block(&image, channels, stride);
    }
    let flat = [image.shape[1] * image.shape[2], image.shape[3]];
    let collapse =
        format!("tensor.collapse_shape {} [[0, 1, 2], [3]] : {} into {}", image.name, image.ty(), type_of(&flat));
    let mut positions = network.op(&flat, &collapse);
    for _ in 0..2 {
        positions = network.attention(&positions);
    }
    let out = network.dense(&positions, 10);
    let out = network.softmax(&out);
    let (result, rows, body) = (out.ty(), out.shape[0], network.text.clone());
    let input = network.nested(&[1, 16, 16, 3]);
    let image = type_of(&[1, 16, 16, 3]);
    format!(
        "func.func private @printI64(i64)\nfunc.func private @printNewline()\n\
         func.func @network(%image: {image}) -> {result} {{\n  %zero = arith.constant 0.0 : f32\n{body}  return {} : {result}\n}}\n\
         func.func @main() {{\n  %image = arith.constant dense<{input}> : {image}\n  \
         %out = func.call @network(%image) : ({image}) -> {result}\n  %c0 = arith.constant 0 : index\n  \
         %c1 = arith.constant 1 : index\n  %rows = arith.constant {rows} : index\n  %columns = arith.constant 10 : index\n  \
         scf.for %i = %c0 to %rows step %c1 {{\n    scf.for %j = %c0 to %columns step %c1 {{\n      \
         %x = tensor.extract %out[%i, %j] : {result}\n      %bits = arith.bitcast %x : f32 to i32\n      \
         %wide = arith.extsi %bits : i32 to i64\n      func.call @printI64(%wide) : (i64) -> ()\n      \
         func.call @printNewline() : () -> ()\n    }}\n  }}\n  return\n}}\n",
        out.name
    )
}

#[test]
fn a_network_prints_the_same_and_needs_little_more_than_the_bound() {
    if !machine::is_there() {
        return;
    }
    let source = machine::mlir_opt(&module(), &BUFFERIZE).unwrap_or_else(|error| panic!("{error}"));
    let before = machine::run(&source).unwrap();
    let distinct: std::collections::BTreeSet<&str> = before.lines().collect();
    assert!(distinct.len() > 100, "the outputs differ from each other: {before}");
    for (pass, strategy) in crate::VERSIONS {
        let version = crate::rewrite(&source, pass, strategy);
        assert_eq!(machine::run(&version.text).unwrap(), before, "{pass} with {strategy:?}");
        let Some(saving) = version.stats.iter().max_by_key(|saving| saving.before) else {
            assert_eq!(pass, "early-dealloc");
            continue;
        };
        println!("{pass} with {strategy:?}: {saving:?}");
        assert!(saving.buffers >= 40 && saving.after < saving.before, "{saving:?}");
        if strategy == Some("auto") {
            assert!(saving.after * 100 <= saving.lower_bound * 102, "{saving:?}");
        }
    }
}
