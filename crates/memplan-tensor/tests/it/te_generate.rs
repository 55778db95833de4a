//! Random graphs with random schedules: every subscript in range, every schedule one that should work.

use crate::generate::Random;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A tensor that later operations may read.
#[derive(Clone)]
struct Tensor {
    name: String,
    shape: Vec<i64>,
    dtype: &'static str,
}

/// What is known about a stage while its schedule is made.
#[derive(Clone, Default)]
struct Stage {
    /// Loops by the names directives use, outermost first; whether they run over a reduction.
    loops: Vec<(String, bool)>,
    axes: Vec<String>,
    reads: Vec<String>,
    kind: &'static str,
    outputs: usize,
    reduces: bool,
}

/// Makes a description.
pub(crate) fn network(seed: u64) -> Value {
    let mut maker = Maker {
        random: Random::new(seed),
        tensors: Vec::new(),
        ops: Vec::new(),
        stages: BTreeMap::new(),
        order: Vec::new(),
        directives: Vec::new(),
        fresh: 0,
        sums: 0,
    };
    maker.graph();
    let outputs = maker.sinks();
    let placeholders: Vec<String> =
        maker.ops.iter().filter_map(|op| op["placeholder"].as_str().map(str::to_owned)).collect();
    maker.schedule(&outputs);
    let args: Vec<String> = placeholders.into_iter().chain(outputs.clone()).collect();
    json!({"syms": [], "ops": maker.ops, "outputs": outputs, "args": args, "schedule": maker.directives})
}

struct Maker {
    random: Random,
    tensors: Vec<Tensor>,
    ops: Vec<Value>,
    stages: BTreeMap<String, Stage>,
    order: Vec<String>,
    directives: Vec<Value>,
    fresh: usize,
    sums: usize,
}

impl Maker {
    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn shape(&mut self) -> Vec<i64> {
        let rank = 1 + self.random.below(3);
        let largest = [24, 7, 5][rank - 1];
        (0..rank).map(|_| 1 + self.random.below(largest) as i64).collect()
    }

    fn graph(&mut self) {
        for _ in 0..1 + self.random.below(2) {
            let (name, shape) = (self.name("A"), self.shape());
            let dtype = *self.random.pick(&["int32", "int32", "float32", "int16", "int8"]);
            self.ops.push(json!({"placeholder": name, "shape": shape, "dtype": dtype}));
            let stage = Stage { kind: "placeholder", outputs: 1, ..Stage::default() };
            self.stages.insert(name.clone(), stage);
            self.tensors.push(Tensor { name, shape, dtype });
        }
        for _ in 0..2 + self.random.below(6) {
            match self.random.below(10) {
                0 => self.extern_op(),
                1 => self.script_op(),
                2 | 3 => self.reduction(),
                _ => self.compute(),
            }
        }
    }

    /// The newest tensors are read most.
    fn source(&mut self) -> Tensor {
        let back = self.random.below(3).min(self.tensors.len() - 1);
        let at =
            if self.random.chance(70) { self.tensors.len() - 1 - back } else { self.random.below(self.tensors.len()) };
        self.tensors[at].clone()
    }

    /// A subscript within `0..extent` for any values of the axes.
    fn subscript(&mut self, axes: &[(String, i64)], preferred: usize, extent: i64) -> String {
        let (name, size) = match axes.get(preferred).filter(|_| !self.random.chance(15)) {
            Some((name, size)) => (name.clone(), *size),
            None if axes.is_empty() => return self.random.below(extent as usize).to_string(),
            None => self.random.pick(axes).clone(),
        };
        if size > extent {
            return match self.random.below(3) {
                0 => format!("{name} % {extent}"),
                1 => format!("min({name}, {})", extent - 1),
                _ => format!("{name} // {}", (size + extent - 1) / extent),
            };
        }
        let room = extent - size;
        match self.random.below(10) {
            0 => format!("{} - {name}", size - 1 + self.random.below(room as usize + 1) as i64),
            1 => format!("max({name} - 1, 0)"),
            2 => format!("min({name} + 1, {})", extent - 1),
            3 => format!("{name} // 2"),
            4 => self.random.below(extent as usize).to_string(),
            5 | 6 if room > 0 => format!("{name} + {}", self.random.below(room as usize + 1)),
            7 if 2 * size - 1 <= extent => format!("{name} * 2"),
            _ => name,
        }
    }

    fn load(&mut self, tensor: &Tensor, axes: &[(String, i64)]) -> String {
        let subscripts: Vec<String> = tensor
            .shape
            .iter()
            .enumerate()
            .map(|(dimension, extent)| self.subscript(axes, dimension, *extent))
            .collect();
        format!("{}[{}]", tensor.name, subscripts.join(", "))
    }

    /// An expression of the given type over one to three loads.
    fn value(&mut self, axes: &[(String, i64)], dtype: &str, reads: &mut Vec<String>) -> String {
        let mut value = String::new();
        let first = self.source();
        for position in 0..1 + self.random.below(3) {
            let tensor = if position == 0 || self.random.chance(50) { first.clone() } else { self.source() };
            reads.push(tensor.name.clone());
            let load = self.load(&tensor, axes);
            let load = if tensor.dtype == dtype { load } else { format!("cast('{dtype}', {load})") };
            value = match (position, self.random.below(6)) {
                (0, _) => load,
                (_, 0) => format!("max({value}, {load})"),
                (_, 1) => format!("({value}) - {load}"),
                (_, 2) => format!("select({load} < {value}, {load}, {value})"),
                (_, 3) => match axes.first() {
                    Some((axis, size)) => format!("select({axis} < {}, {value}, {load})", size / 2),
                    None => format!("min({value}, {load})"),
                },
                _ => format!("({value}) + {load}"),
            };
        }
        if self.random.chance(40) { format!("({value}) + {}", 1 + self.random.below(3)) } else { value }
    }

    fn dtype(&mut self) -> &'static str {
        const TYPES: [&str; 5] = ["int32", "int32", "float32", "int16", "int64"];
        TYPES[self.random.below(TYPES.len())]
    }

    fn compute(&mut self) {
        let name = self.name("B");
        let shape = if self.random.chance(60) { self.source().shape } else { self.shape() };
        let axes = named_axes(&shape);
        let axis_names: Vec<String> = axes.iter().map(|(name, _)| name.clone()).collect();
        let outputs = if self.random.chance(12) { 2 } else { 1 };
        let truth = outputs == 1 && self.random.chance(8);
        let (mut reads, mut values, mut made) = (Vec::new(), Vec::new(), Vec::new());
        for output in 0..outputs {
            let dtype = if truth { "bool" } else { self.dtype() };
            let value = match truth {
                true => format!("{} < 4", self.value(&axes, "int32", &mut reads)),
                false => self.value(&axes, dtype, &mut reads),
            };
            values.push(value);
            let tensor = if outputs > 1 { format!("{name}.v{output}") } else { name.clone() };
            made.push(Tensor { name: tensor, shape: shape.clone(), dtype });
        }
        self.ops.push(match values.as_slice() {
            [only] => json!({"compute": name, "shape": shape, "axes": axis_names, "expr": only}),
            _ => json!({"compute": name, "shape": shape, "axes": axis_names, "exprs": values}),
        });
        let loops = axis_names.iter().map(|axis| (axis.clone(), false)).collect();
        let stage = Stage { loops, axes: axis_names, reads, kind: "compute", outputs, reduces: false };
        self.add_stage(name, stage, made);
    }

    fn reduction(&mut self) {
        let name = self.name("S");
        let mut shape = self.shape();
        shape.truncate(2);
        let extents: Vec<i64> = (0..1 + self.random.below(2)).map(|_| 1 + self.random.below(6) as i64).collect();
        let mut axes = named_axes(&shape);
        let data: Vec<String> = axes.iter().map(|(name, _)| name.clone()).collect();
        let reduced: Vec<(String, i64)> =
            extents.iter().enumerate().map(|(at, extent)| (format!("k{at}"), *extent)).collect();
        axes.extend(reduced.clone());
        let combiner = if self.sums < 2 && self.random.chance(50) { "sum" } else { *self.random.pick(&["max", "min"]) };
        self.sums += usize::from(combiner == "sum");
        let dtype = if combiner == "sum" { "int32" } else { self.dtype() };
        let mut reads = Vec::new();
        // Reduce axes in the last places of the subscripts, where reductions usually have them.
        axes.rotate_left(self.random.below(2));
        let value = self.value(&axes, dtype, &mut reads);
        let pairs: Vec<Value> = reduced.iter().map(|(name, extent)| json!([name, extent])).collect();
        let mut op = json!({"compute": name, "shape": shape, "axes": data, "expr": value, "reduce": pairs, "combiner": combiner});
        if self.random.chance(15) {
            op["where"] = json!(format!("{} < {}", reduced[0].0, (reduced[0].1 + 1) / 2));
        }
        self.ops.push(op);
        let mut loops: Vec<(String, bool)> = data.iter().map(|axis| (axis.clone(), false)).collect();
        loops.extend(reduced.iter().map(|(name, _)| (name.clone(), true)));
        let stage = Stage { loops, axes: data, reads, kind: "compute", outputs: 1, reduces: true };
        self.add_stage(name.clone(), stage, vec![Tensor { name, shape, dtype }]);
    }

    fn extern_op(&mut self) {
        let name = self.name("E");
        let inputs: Vec<Tensor> = (0..1 + self.random.below(2)).map(|_| self.source()).collect();
        let names: Vec<String> = inputs.iter().map(|tensor| tensor.name.clone()).collect();
        let count = 1 + usize::from(self.random.chance(25));
        let (mut outputs, mut made) = (Vec::new(), Vec::new());
        for output in 0..count {
            let (shape, dtype) = (self.shape(), self.dtype());
            outputs.push(json!({"shape": shape, "dtype": dtype}));
            let tensor = if count > 1 { format!("{name}.v{output}") } else { name.clone() };
            made.push(Tensor { name: tensor, shape, dtype });
        }
        let callee = format!("f{count}");
        self.ops.push(json!({"extern": name, "inputs": names, "outputs": outputs, "call": callee}));
        let stage = Stage { reads: names, kind: "extern", outputs: count, ..Stage::default() };
        self.add_stage(name, stage, made);
    }

    /// An extern operation with loops of its own: a running total through a local buffer.
    fn script_op(&mut self) {
        let name = self.name("H");
        let input = self.source();
        if input.dtype == "bool" || input.shape.len() > 2 {
            return self.extern_op();
        }
        let shape: Vec<String> = input.shape.iter().map(i64::to_string).collect();
        let index = ["i", "i, j"][input.shape.len() - 1];
        let typed = format!("T.Buffer(({},), \"{}\")", shape.join(", "), input.dtype);
        let loops = match shape.as_slice() {
            [only] => format!("for i in range({only}):"),
            all => format!("for i, j in T.grid({}):", all.join(", ")),
        };
        let script = format!(
            "@T.prim_func\ndef body(x: {typed}, y: {typed}):\n    total = T.alloc_buffer((1,), \"{0}\")\n    total[0] = T.{0}(0)\n    {loops}\n        total[0] = T.max(total[0], x[{index}])\n        y[{index}] = x[{index}] + total[0]\n",
            input.dtype
        );
        let outputs = json!([{"shape": input.shape, "dtype": input.dtype}]);
        self.ops.push(json!({"hybrid": name, "inputs": [input.name], "outputs": outputs, "script": script}));
        let stage = Stage { reads: vec![input.name.clone()], kind: "extern", outputs: 1, ..Stage::default() };
        self.add_stage(name.clone(), stage, vec![Tensor { name, ..input }]);
    }

    fn add_stage(&mut self, name: String, stage: Stage, made: Vec<Tensor>) {
        let reads = stage.reads.iter().map(|tensor| op_of(tensor)).collect();
        self.stages.insert(name.clone(), Stage { reads, ..stage });
        self.order.push(name);
        self.tensors.extend(made);
    }

    /// Operations with one output that nothing reads; what only such tensors of several outputs lead to is not needed.
    fn sinks(&mut self) -> Vec<String> {
        let read = |name: &String| self.stages.values().any(|stage| stage.reads.contains(name));
        let sinks: Vec<String> =
            self.order.iter().filter(|name| !read(name) && self.stages[*name].outputs == 1).cloned().collect();
        if !sinks.is_empty() {
            return sinks;
        }
        self.compute_last();
        vec![self.order.last().expect("an operation").clone()]
    }

    fn compute_last(&mut self) {
        let name = self.name("Z");
        let tensor = self.tensors.last().expect("a tensor").clone();
        let axes = named_axes(&tensor.shape);
        let names: Vec<String> = axes.iter().map(|(name, _)| name.clone()).collect();
        let load = format!("{}[{}]", tensor.name, names.join(", "));
        self.ops.push(json!({"compute": name, "shape": tensor.shape, "axes": names, "expr": load}));
        let loops = names.iter().map(|axis| (axis.clone(), false)).collect();
        let stage =
            Stage { loops, axes: names, reads: vec![tensor.name.clone()], kind: "compute", outputs: 1, reduces: false };
        self.add_stage(name.clone(), stage, vec![Tensor { name, ..tensor }]);
    }

    fn push(&mut self, directive: Value) {
        self.directives.push(directive);
    }

    fn schedule(&mut self, outputs: &[String]) {
        // Only what the outputs need has a stage.
        let mut needed: Vec<String> = outputs.to_vec();
        let mut at = 0;
        while let Some(name) = needed.get(at).cloned() {
            at += 1;
            for read in self.stages[&name].reads.clone() {
                if !needed.contains(&read) {
                    needed.push(read);
                }
            }
        }
        self.stages.retain(|name, _| needed.contains(name));
        let mut names: Vec<String> = self.order.iter().filter(|name| needed.contains(name)).cloned().collect();
        names.reverse();
        let threads = self.random.chance(15);
        self.caches(&names, outputs, threads);
        let early = self.random.chance(30);
        if early {
            self.attach(outputs, threads);
        }
        for name in self.stages.keys().cloned().collect::<Vec<_>>() {
            self.loops(&name);
        }
        if threads {
            self.bind(&outputs[0]);
        }
        if !early {
            self.attach(outputs, threads);
        }
        for name in self.stages.keys().cloned().collect::<Vec<_>>() {
            self.kinds(&name, threads);
        }
    }

    fn consumers(&self, name: &str) -> Vec<String> {
        let reads = |stage: &Stage| stage.reads.iter().any(|read| read == name);
        self.stages.iter().filter(|(_, stage)| reads(stage)).map(|(name, _)| name.clone()).collect()
    }

    fn caches(&mut self, names: &[String], outputs: &[String], threads: bool) {
        // A thread's own memory is of no use to a stage outside of the threads.
        let scopes: &[&str] = if threads { &["global"] } else { &["global", "local", "local.X", "global:tag"] };
        for name in names {
            let stage = self.stages[name].clone();
            if stage.kind == "compute" && self.random.chance(12) {
                let (scope, cache) = (*self.random.pick(scopes), self.name("W"));
                self.push(
                    json!({"do": "cache_write", "tensor": first_output(name, &stage), "scope": scope, "as": cache}),
                );
                let renamed = stage.axes.iter().map(|axis| format!("{axis}.c"));
                let mut loops: Vec<(String, bool)> = renamed.clone().map(|axis| (axis, false)).collect();
                loops.extend(stage.loops.iter().filter(|(_, reduced)| *reduced).cloned());
                let moved = Stage { loops, axes: renamed.collect(), ..stage.clone() };
                let copy = self.stages.get_mut(name).expect("a stage");
                copy.loops.retain(|(_, reduced)| !reduced);
                (copy.reads, copy.reduces) = (vec![cache.clone()], false);
                self.stages.insert(cache, moved);
            }
        }
        let sources: Vec<String> = self.stages.keys().cloned().collect();
        for name in sources {
            let (stage, readers) = (self.stages[&name].clone(), self.consumers(&name));
            let plain = stage.outputs == 1 && !name.starts_with('W') && !outputs.contains(&name);
            if plain && !readers.is_empty() && self.random.chance(15) {
                let (scope, cache) = (*self.random.pick(scopes), self.name("C"));
                let some: Vec<String> = readers.iter().take(1 + self.random.below(readers.len())).cloned().collect();
                self.push(json!({"do": "cache_read", "tensor": name, "scope": scope, "readers": some, "as": cache}));
                let rank =
                    self.tensors.iter().find(|tensor| tensor.name == name).map_or(0, |tensor| tensor.shape.len());
                let axes: Vec<String> = (0..rank).map(|axis| format!("ax{axis}")).collect();
                let loops = axes.iter().map(|axis| (axis.clone(), false)).collect();
                for reader in &some {
                    let reads = &mut self.stages.get_mut(reader).expect("a stage").reads;
                    reads.iter_mut().filter(|read| **read == name).for_each(|read| *read = cache.clone());
                }
                let copy = Stage { loops, axes, reads: vec![name], kind: "compute", outputs: 1, reduces: false };
                self.stages.insert(cache, copy);
            }
        }
    }

    /// Splits, fuses and reorders.
    fn loops(&mut self, name: &str) {
        for _ in 0..self.random.below(4) {
            let mut loops = self.stages[name].loops.clone();
            if loops.is_empty() {
                return;
            }
            let at = self.random.below(loops.len());
            match self.random.below(5) {
                0..=2 => {
                    let (axis, reduced) = loops[at].clone();
                    let (outer, inner) = (self.name("o"), self.name("i"));
                    let size = 1 + self.random.below(6);
                    let by = if self.random.chance(75) { "factor" } else { "nparts" };
                    self.push(
                        json!({"do": "split", "stage": name, "axis": axis, by: size, "outer": outer, "inner": inner}),
                    );
                    loops.splice(at..=at, [(outer, reduced), (inner, reduced)]);
                }
                3 if at + 1 < loops.len() && loops[at].1 == loops[at + 1].1 => {
                    let to = self.name("f");
                    self.push(json!({"do": "fuse", "stage": name, "a": loops[at].0, "b": loops[at + 1].0, "to": to}));
                    let reduced = loops[at].1;
                    loops.splice(at..=at + 1, [(to, reduced)]);
                }
                _ => {
                    for last in (1..loops.len()).rev() {
                        let other = self.random.below(last + 1);
                        loops.swap(last, other);
                    }
                    let order: Vec<&String> = loops.iter().map(|(axis, _)| axis).collect();
                    self.push(json!({"do": "reorder", "stage": name, "order": order}));
                }
            }
            self.stages.get_mut(name).expect("a stage").loops = loops;
        }
    }

    /// Inlines stages, or computes them inside their only consumer.
    fn attach(&mut self, outputs: &[String], threads: bool) {
        let names: Vec<String> = self.stages.keys().cloned().collect();
        for name in names {
            let (stage, consumers) = (self.stages[&name].clone(), self.consumers(&name));
            if stage.kind == "placeholder" || outputs.contains(&name) || consumers.is_empty() {
                continue;
            }
            let into_compute = consumers.iter().all(|consumer| self.stages[consumer].kind == "compute");
            let can_inline = stage.kind == "compute" && !stage.reduces && stage.outputs == 1 && into_compute;
            if can_inline && self.random.chance(10) && !self.is_target(&name) {
                self.push(json!({"do": "compute_inline", "stage": name}));
                continue;
            }
            if let [consumer] = consumers.as_slice() {
                let loops = self.stages[consumer].loops.clone();
                let inlined = self.directives.iter().any(|d| d["do"] == "compute_inline" && d["stage"] == *consumer);
                if into_compute && !inlined && !loops.is_empty() && self.random.chance(45) {
                    let axis = self.random.pick(&loops).0.clone();
                    self.push(json!({"do": "compute_at", "stage": name, "target": consumer, "axis": axis}));
                    if self.random.chance(20) && !threads {
                        self.push(json!({"do": "double_buffer", "stage": name}));
                    }
                }
            }
        }
    }

    fn is_target(&self, name: &str) -> bool {
        self.directives.iter().any(|directive| directive["do"] == "compute_at" && directive["target"] == *name)
    }

    /// The outermost loops of an output as blocks and threads.
    fn bind(&mut self, name: &str) {
        let loops = self.stages[name].loops.clone();
        let free: Vec<&(String, bool)> = loops.iter().take_while(|(_, reduced)| !reduced).collect();
        for ((axis, _), thread) in free.into_iter().zip(["blockIdx.x", "threadIdx.x"]) {
            self.push(json!({"do": "bind", "stage": name, "axis": axis, "thread": thread}));
        }
    }

    /// How loops run, where tensors live, how they are padded.
    fn kinds(&mut self, name: &str, threads: bool) {
        let stage = self.stages[name].clone();
        if stage.kind == "placeholder" {
            return;
        }
        for (axis, reduced) in &stage.loops {
            let bound = self.directives.iter().any(|d| d["do"] == "bind" && d["stage"] == name && d["axis"] == *axis);
            match self.random.below(12) {
                0 if !reduced && !bound && !threads => {
                    self.push(json!({"do": "parallel", "stage": name, "axis": axis}));
                }
                1 if !reduced && !bound => self.push(json!({"do": "vectorize", "stage": name, "axis": axis})),
                2 if !bound => self.push(json!({"do": "unroll", "stage": name, "axis": axis})),
                _ => {}
            }
        }
        let explicit = name.starts_with(['W', 'C']);
        if !explicit && !threads && self.random.chance(20) {
            let scope = *self.random.pick(&["global", "shared", "local", "local.X", "global:tag"]);
            self.push(json!({"do": "set_scope", "stage": name, "scope": scope}));
        }
        let feeds_extern = self.consumers(name).iter().any(|consumer| self.stages[consumer].kind == "extern");
        if stage.kind == "compute" && !feeds_extern && self.random.chance(20) && !stage.axes.is_empty() {
            let axis = self.random.pick(&stage.axes).clone();
            let (factor, offset) = (1 + self.random.below(9), self.random.below(4));
            self.push(json!({"do": "storage_align", "stage": name, "axis": axis, "factor": factor, "offset": offset}));
        }
    }
}

fn op_of(tensor: &str) -> String {
    tensor.split_once(".v").map_or(tensor, |(op, _)| op).to_owned()
}

fn first_output(name: &str, stage: &Stage) -> String {
    if stage.outputs > 1 { format!("{name}.v0") } else { name.to_owned() }
}

fn named_axes(shape: &[i64]) -> Vec<(String, i64)> {
    shape.iter().zip(["i", "j", "l"]).map(|(extent, name)| (name.to_owned(), *extent)).collect()
}
