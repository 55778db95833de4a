//! Random networks: chains, branches, concats, reshapes, slices, layer groups,
//! workspaces, several inputs, tensors with many readers.

use memplan_testkit::Random;

use crate::text::module;

#[derive(Clone)]
struct Value {
    name: String,
    dims: Vec<u64>,
    reads: usize,
}

impl Value {
    fn ty(&self) -> String {
        ty(&self.dims)
    }
}

fn ty(dims: &[u64]) -> String {
    let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
    format!("tensor<{}xf32>", dims.join("x"))
}

struct Generator {
    random: Random,
    values: Vec<Value>,
    body: String,
    count: usize,
}

/// A network of about so many ops.
pub(crate) fn network(seed: u64, ops: usize, chip: &str, mode: &str) -> String {
    let mut generator = Generator { random: Random::new(seed), values: Vec::new(), body: String::new(), count: 0 };
    let inputs = generator.random.between(1, 3);
    let mut arguments = Vec::new();
    for number in 0..inputs {
        let dims = vec![1, 8 << generator.random.below(3), 16, 16];
        arguments.push(ty(&dims));
        generator.values.push(Value { name: format!("%arg{number}"), dims, reads: 0 });
    }
    for _ in 0..ops {
        generator.op();
    }
    let results = generator.finish();
    module(chip, mode, &arguments, &results, &generator.body)
}

impl Generator {
    /// An earlier value, a recent one more likely.
    fn pick(&mut self) -> usize {
        let count = self.values.len() as u64;
        let back = self.random.below(count).min(self.random.below(count)).min(self.random.below(count));
        (count - 1 - back) as usize
    }

    fn read(&mut self, index: usize) -> Value {
        self.values[index].reads += 1;
        self.values[index].clone()
    }

    fn define(&mut self, dims: Vec<u64>) -> Value {
        let value = Value { name: format!("%v{}", self.count), dims, reads: 0 };
        self.count += 1;
        self.values.push(value.clone());
        value
    }

    fn line(&mut self, name: &str, operands: &[Value], attributes: &str, result: &Value) {
        let names: Vec<&str> = operands.iter().map(|value| value.name.as_str()).collect();
        let types: Vec<String> = operands.iter().map(Value::ty).collect();
        self.body += &format!(
            "      {} = \"{name}\"({}) {{{attributes}}} : ({}) -> {} loc(#loc)\n",
            result.name,
            names.join(", "),
            types.join(", "),
            result.ty()
        );
    }

    fn op(&mut self) {
        match self.random.below(16) {
            0..=3 => self.unary(),
            4 | 5 => self.add(),
            6..=8 => self.concat(),
            9 | 10 => self.reshape(),
            11 | 12 => self.slice(),
            13 => self.group(),
            14 => self.with_workspace(),
            _ => self.pool(),
        }
    }

    fn unary(&mut self) {
        let index = self.pick();
        let source = self.read(index);
        let result = self.define(source.dims.clone());
        self.line("tpu.Active", &[source], "mode = #tpu<active_mode TANH>", &result);
    }

    fn add(&mut self) {
        let first = self.pick();
        let dims = self.values[first].dims.clone();
        let alike: Vec<usize> = (0..self.values.len()).filter(|&index| self.values[index].dims == dims).collect();
        let second = alike[self.random.below(alike.len() as u64) as usize];
        let operands = [self.read(first), self.read(second)];
        let result = self.define(dims);
        self.line("tpu.Add", &operands, "do_relu = false", &result);
    }

    fn concat(&mut self) {
        let first = self.pick();
        let dims = self.values[first].dims.clone();
        let fits = |value: &Value| value.dims.len() == dims.len() && value.dims[2..] == dims[2..];
        let alike: Vec<usize> = (0..self.values.len()).filter(|&index| fits(&self.values[index])).collect();
        let mut chosen = vec![first];
        for _ in 0..self.random.between(1, 3) {
            chosen.push(alike[self.random.below(alike.len() as u64) as usize]);
        }
        let operands: Vec<Value> = chosen.into_iter().map(|index| self.read(index)).collect();
        let mut dims = dims;
        dims[1] = operands.iter().map(|operand| operand.dims[1]).sum();
        if dims[1] > 512 {
            return self.unary();
        }
        let result = self.define(dims);
        let relu = self.random.one_in(8);
        let marked = self.random.one_in(2);
        let attributes = format!("axis = 1 : si32, do_relu = {relu}, only_merge = {marked}");
        self.line("tpu.Concat", &operands, &attributes, &result);
    }

    fn reshape(&mut self) {
        let index = self.pick();
        let source = self.read(index);
        let dims = match source.dims.as_slice() {
            [1, c, h, w] => vec![1, *c, h * w],
            [1, c, hw] => vec![1, *c, 1, *hw],
            dims => dims.to_vec(),
        };
        let result = self.define(dims);
        self.line("tpu.Reshape", &[source], "flatten_start_dim = -1 : i64", &result);
    }

    fn slice(&mut self) {
        let index = self.pick();
        let source = self.read(index);
        let channels = source.dims[1];
        let length = self.random.between(1, channels);
        let start = self.random.below(channels - length + 1);
        let rank = source.dims.len();
        let mut dims = source.dims.clone();
        dims[1] = length;
        let list = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let mut offset = vec![0; rank];
        offset[1] = start;
        let mut ends = source.dims.clone();
        ends[1] = start + length;
        let steps = vec![1; rank];
        let result = self.define(dims);
        let attributes = format!("ends = [{}], offset = [{}], steps = [{}]", list(&ends), list(&offset), list(&steps));
        self.line("tpu.Slice", &[source], &attributes, &result);
    }

    fn pool(&mut self) {
        let index = self.pick();
        let source = self.read(index);
        let mut dims = source.dims.clone();
        let last = dims.len() - 1;
        dims[last] = (dims[last] / 2).max(1);
        let result = self.define(dims);
        self.line("tpu.Pool2D", &[source], "", &result);
    }

    fn with_workspace(&mut self) {
        let index = self.pick();
        let source = self.read(index);
        let mut dims = source.dims.clone();
        dims[1] = self.random.between(1, 64);
        let buffer = Value { name: format!("%b{}", self.count), dims, reads: 1 };
        self.line("tpu.Buffer", &[], "", &buffer);
        let result = self.define(source.dims.clone());
        self.line("tpu.Softmax", &[source, buffer], "", &result);
    }

    /// A layer group of two ops, with one or two results.
    fn group(&mut self) {
        let index = self.pick();
        let source = self.read(index);
        let (number, ty) = (self.count, source.ty());
        let two = self.random.one_in(2);
        let (bound, results, yields) = if two {
            (format!("%g{number}:2"), format!("({ty}, {ty})"), format!("%s{number}, %t{number}) : ({ty}, {ty}"))
        } else {
            (format!("%g{number}"), ty.clone(), format!("%s{number}) : ({ty}"))
        };
        self.body += &format!(
            "      {bound} = \"tpu.Group\"({name}) ({{
        %l{number} = \"tpu.Load\"({name}) {{do_bcast = false}} : ({ty}) -> {ty} loc(#loc)
        %i{number} = \"tpu.Active\"(%l{number}) : ({ty}) -> {ty} loc(#loc)
        %s{number} = \"tpu.Store\"(%i{number}) : ({ty}) -> {ty} loc(#loc)
        %t{number} = \"tpu.Store\"(%l{number}) : ({ty}) -> {ty} loc(#loc)
        \"tpu.Yield\"({yields}) -> () loc(#loc)
      }}) {{nsecs = 1 : i64}} : ({ty}) -> {results} loc(#loc)\n",
            name = source.name
        );
        let names =
            if two { vec![format!("%g{number}#0"), format!("%g{number}#1")] } else { vec![format!("%g{number}")] };
        for name in names {
            self.values.push(Value { name, dims: source.dims.clone(), reads: 0 });
        }
        self.count += 1;
    }

    /// Returns what nobody reads, and now and then something else.
    fn finish(&mut self) -> Vec<String> {
        let mut returned = Vec::new();
        for index in 0..self.values.len() {
            let value = self.values[index].clone();
            let is_argument = value.name.starts_with("%arg");
            if (value.reads == 0 || self.random.one_in(16)) && !is_argument {
                returned.push(value);
            }
        }
        if returned.is_empty() {
            returned.extend(self.values.last().cloned());
        }
        let names: Vec<&str> = returned.iter().map(|value| value.name.as_str()).collect();
        let types: Vec<String> = returned.iter().map(Value::ty).collect();
        self.body += &format!("      return {} : {} loc(#loc)\n", names.join(", "), types.join(", "));
        types
    }
}
