//! Random programs that are valid by construction: every access in bounds, every element written before it is read, no
//! race between parallel iterations. Values stay small, so that no conversion overflows.

use std::fmt::Write;

/// The numbers that every test draws, with the questions of these generators.
pub(crate) struct Random(memplan_testkit::Random);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(memplan_testkit::Random::new(seed))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.index(bound)
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// What a program may contain.
#[derive(Clone, Copy, Default)]
pub(crate) struct Features {
    /// Several element types.
    pub(crate) types: bool,
    /// Shared, tagged and local memory.
    pub(crate) scopes: bool,
    /// In-place patterns that are wrong to fold.
    pub(crate) hazards: bool,
    /// Parallel loops with private buffers, also nested ones.
    pub(crate) parallel: bool,
    /// Sizes that depend on a parameter.
    pub(crate) symbolic: bool,
    /// Vector accesses.
    pub(crate) vectors: bool,
    /// Views, bare addresses, `memset`, `tvm_access_ptr`.
    pub(crate) opaque: bool,
    /// Extents that depend on loop variables.
    pub(crate) loop_extents: bool,
    /// Lets, mutable scalars, asserts, marked regions.
    pub(crate) marks: bool,
    /// Thread launches.
    pub(crate) threads: bool,
}

impl Features {
    pub(crate) fn random(random: &mut Random) -> Features {
        Features {
            types: random.chance(60),
            scopes: random.chance(40),
            hazards: random.chance(40),
            parallel: random.chance(40),
            symbolic: random.chance(20),
            vectors: random.chance(20),
            opaque: random.chance(25),
            loop_extents: random.chance(15),
            marks: random.chance(35),
            threads: random.chance(20),
        }
    }
}

#[derive(Clone)]
struct Buf {
    name: String,
    dtype: &'static str,
    /// Elements, or `None` for a parameter-sized buffer.
    size: Option<usize>,
    scope: &'static str,
}

pub(crate) struct Generator<'r> {
    random: &'r mut Random,
    features: Features,
    text: String,
    next: usize,
    /// Text that makes output indices of parallel iterations distinct.
    outer: String,
    limit: usize,
}

const SIZES: [usize; 12] = [1, 2, 4, 5, 8, 8, 9, 12, 16, 16, 32, 64];
const TYPES: [&str; 7] = ["float32", "float32", "int8", "int16", "int32", "float64", "float16"];

/// A program of about `statements` statements.
pub(crate) fn program(random: &mut Random, features: Features, statements: usize) -> String {
    let mut generator = Generator { random, features, text: String::new(), next: 0, outer: String::new(), limit: 64 };
    let parameter = if features.symbolic { "n: T.int32, " } else { "" };
    let _ = writeln!(
        generator.text,
        "@T.prim_func(s_tir=True)\ndef main({parameter}E: T.Buffer((64,), \"float32\"), O: T.Buffer((64,), \"float32\")):"
    );
    generator.block(1, statements, &[]);
    generator.text
}

impl Generator<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        for _ in 0..depth {
            self.text.push_str("    ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// A block: buffers of its own, computed one from the other, then consumed.
    fn block(&mut self, depth: usize, statements: usize, outside: &[Buf]) {
        let mut live: Vec<Buf> = outside.to_vec();
        let mut own = 0;
        for _ in 0..statements {
            match self.random.below(12) {
                0 if depth < 4 && statements > 2 => self.nested(depth, &live),
                3 if self.features.threads && depth == 1 => self.launch(depth, &live),
                4 if self.features.marks && own > 0 => {
                    let made = self.marked(depth, &live);
                    live.push(made);
                    own += 1;
                }
                1 if own > 0 => self.consume(depth, &live),
                2 if own > 1 => {
                    // Forget one: its life ends.
                    let position = outside.len() + self.random.below(own);
                    live.remove(position);
                    own -= 1;
                }
                _ => {
                    let made = self.make(depth, &live);
                    live.push(made);
                    own += 1;
                }
            }
        }
        self.consume(depth, &live);
    }

    fn nested(&mut self, depth: usize, live: &[Buf]) {
        let var = self.fresh("k");
        if self.features.parallel && self.random.chance(40) && self.outer.matches('*').count() < 2 {
            let (count, part) = (4, self.limit / 4);
            if part >= 1 {
                self.line(depth, &format!("for {var} in T.parallel({count}):"));
                let (outer, limit) = (self.outer.clone(), self.limit);
                let _ = write!(self.outer, "{var} * {part} + ");
                self.limit = part;
                let statements = 2 + self.random.below(4);
                self.block(depth + 1, statements, live);
                (self.outer, self.limit) = (outer, limit);
                return;
            }
        }
        let statements = 2 + self.random.below(4);
        match self.random.below(5) {
            0 => {
                self.line(depth, "if E[0] > T.float32(3.0):");
                self.block(depth + 1, statements, live);
                self.line(depth, "else:");
                self.block(depth + 1, statements, live);
            }
            1 => {
                let counter = self.fresh("j");
                self.line(depth, &format!("{counter} = T.alloc_buffer((1,), \"int32\")"));
                self.line(depth, &format!("{counter}[0] = 0"));
                self.line(depth, &format!("while {counter}[0] < 3:"));
                self.block(depth + 1, statements, live);
                self.line(depth + 1, &format!("{counter}[0] = {counter}[0] + 1"));
            }
            2 if self.features.loop_extents => self.loop_extent(depth, &var),
            3 => {
                self.line(depth, &format!("for {var} in T.unroll(2):"));
                self.block(depth + 1, statements, live);
            }
            _ => {
                self.line(depth, &format!("for {var} in range(3):"));
                self.block(depth + 1, statements, live);
            }
        }
    }

    /// A kernel: blocks of threads with shared and private buffers, every element touched by its own thread.
    fn launch(&mut self, depth: usize, live: &[Buf]) {
        let (block, thread) = (self.fresh("b"), self.fresh("t"));
        let global: Vec<&Buf> = live
            .iter()
            .filter(|buffer| buffer.scope == "global" && buffer.size.is_some_and(|size| size >= 8))
            .collect();
        let source = if global.is_empty() {
            format!("E[{thread}]")
        } else {
            let source = global[self.random.below(global.len())];
            cast(&format!("{}[{thread}]", source.name), source.dtype, "float32")
        };
        let bound = self.random.chance(30);
        if bound {
            self.line(depth, &format!("for {block} in T.thread_binding(2, thread=\"blockIdx.x\"):"));
        } else {
            self.line(depth, &format!("with T.launch_thread(\"blockIdx.x\", 2) as {block}:"));
        }
        let (a, b, c, l) = (self.fresh("S"), self.fresh("S"), self.fresh("S"), self.fresh("L"));
        let scope = *self.random.pick(&["shared", "shared.dyn", "warp", "local"]);
        self.line(depth + 1, &format!("{a} = T.alloc_buffer((8,), scope=\"{scope}\")"));
        if bound {
            self.line(depth + 1, &format!("for {thread} in T.thread_binding(8, thread=\"threadIdx.x\"):"));
        } else {
            self.line(depth + 1, &format!("with T.launch_thread(\"threadIdx.x\", 8) as {thread}:"));
        }
        self.line(depth + 2, &format!("{l} = T.alloc_buffer((4,), scope=\"local\")"));
        self.line(depth + 2, &format!("{b} = T.alloc_buffer((8,), scope=\"{scope}\")"));
        self.line(depth + 2, &format!("{c} = T.alloc_buffer((8,), scope=\"{scope}\")"));
        self.line(depth + 2, &format!("{a}[{thread}] = {source}"));
        let var = self.fresh("i");
        self.line(depth + 2, &format!("for {var} in range(4):"));
        self.line(depth + 3, &format!("{l}[{var}] = {a}[{thread}] + T.float32(1.0)"));
        self.line(depth + 2, &format!("{b}[{thread}] = {l}[3]"));
        self.line(depth + 2, &format!("{c}[{thread}] = {b}[{thread}] + T.float32(1.0)"));
        let target = format!("O[{block} * 8 + {thread}]");
        self.line(depth + 2, &format!("{target} = T.min({target} + {c}[{thread}], T.float32(1000.0))"));
    }

    /// A buffer computed through a let or a scalar, behind an assertion, or in a marked region.
    fn marked(&mut self, depth: usize, live: &[Buf]) -> Buf {
        let source = live[self.random.below(live.len())].clone();
        let target = self.declare(depth, Some(&source));
        let (var, name) = (self.fresh("i"), self.fresh("x"));
        let extent = target.size.map_or("n".to_owned(), |size| size.to_string());
        let first = cast(&format!("{}[0]", source.name), source.dtype, "float32");
        let value = cast(&name, "float32", target.dtype);
        let mut inner = depth;
        let mut stored = value.clone();
        match self.random.below(4) {
            0 => self.line(depth, &format!("{name}: T.let[T.float32] = {first}")),
            1 => {
                self.line(depth, &format!("{name}: T.float32 = {first}"));
                self.line(depth, &format!("{name} = {name} + T.float32(1.0)"));
            }
            2 => {
                self.line(depth, &format!("assert {first} >= T.float32(0.0), (\"RuntimeError\", [\"negative\"])"));
                stored = cast(&format!("{}[0]", source.name), source.dtype, target.dtype);
            }
            _ => {
                let key = *self.random.pick(&["pragma_note", "extern_scope"]);
                self.line(depth, &format!("with T.attr({{\"{key}\": 0}}):"));
                inner += 1;
                let same = source.size == target.size;
                let index = if same { var.clone() } else { "0".to_owned() };
                stored = cast(&format!("{}[{index}]", source.name), source.dtype, target.dtype);
            }
        }
        self.line(inner, &format!("for {var} in range({extent}):"));
        self.line(inner + 1, &format!("{}[{var}] = {stored}", target.name));
        target
    }

    fn loop_extent(&mut self, depth: usize, var: &str) {
        let (a, b, i) = (self.fresh("T"), self.fresh("T"), self.fresh("i"));
        self.line(depth, &format!("for {var} in range(4):"));
        self.line(depth + 1, &format!("{a} = T.alloc_buffer(({var} + 1,))"));
        self.line(depth + 1, &format!("{b} = T.alloc_buffer(({var} + 1,))"));
        self.line(depth + 1, &format!("for {i} in range({var} + 1):"));
        self.line(depth + 2, &format!("{a}[{i}] = E[{i}]"));
        self.line(depth + 1, &format!("for {i} in range({var} + 1):"));
        self.line(depth + 2, &format!("{b}[{i}] = {a}[{i}] + T.float32(1.0)"));
        let target = self.output("0");
        self.line(depth + 1, &format!("{target} = {target} + {b}[{var}]"));
    }

    fn output(&self, index: &str) -> String {
        format!("O[{}{index}]", self.outer)
    }

    fn consume(&mut self, depth: usize, live: &[Buf]) {
        if live.is_empty() {
            return;
        }
        let source = live[self.random.below(live.len())].clone();
        let var = self.fresh("i");
        let count = source.size.unwrap_or(2).min(self.limit).min(4);
        self.line(depth, &format!("for {var} in range({count}):"));
        let index = if self.random.chance(50) || source.size.is_none() {
            var.clone()
        } else {
            format!("{} - {var}", count - 1)
        };
        let value = cast(&format!("{}[{index}]", source.name), source.dtype, "float32");
        let target = self.output(&var);
        self.line(depth + 1, &format!("{target} = T.min({target} + {value}, T.float32(1000.0))"));
    }

    fn declare(&mut self, depth: usize, like: Option<&Buf>) -> Buf {
        let size = match like {
            Some(like) if self.random.chance(65) => like.size,
            _ if self.features.symbolic && self.random.chance(40) => None,
            _ => Some(*self.random.pick(&SIZES)),
        };
        let dtype = match like {
            Some(like) if self.random.chance(70) => like.dtype,
            _ if self.features.types => self.random.pick(&TYPES),
            _ => "float32",
        };
        let scope = match like {
            Some(like) if self.random.chance(80) => like.scope,
            _ if self.features.scopes => {
                self.random.pick(&["global", "shared", "local.L0A", "global.Y", "local", "shared.dyn"])
            }
            _ => "global",
        };
        // Tagged memory takes constant sizes only.
        let size = if scope.contains('.') && scope != "shared.dyn" { size.or(Some(8)) } else { size };
        let buffer = Buf { name: self.fresh("T"), dtype, size, scope };
        let extent = buffer.size.map_or("n".to_owned(), |size| size.to_string());
        let mut declaration = format!("{} = T.alloc_buffer(({extent},)", buffer.name);
        if dtype != "float32" {
            let _ = write!(declaration, ", \"{dtype}\"");
        }
        if scope != "global" {
            let _ = write!(declaration, ", scope=\"{scope}\"");
        }
        declaration.push(')');
        self.line(depth, &declaration);
        buffer
    }

    /// Declares a buffer and computes all of it.
    fn make(&mut self, depth: usize, live: &[Buf]) -> Buf {
        let source = if live.is_empty() || self.random.chance(15) {
            None
        } else {
            Some(live[self.random.below(live.len())].clone())
        };
        let target = self.declare(depth, source.as_ref());
        let var = self.fresh("i");
        let extent = target.size.map_or("n".to_owned(), |size| size.to_string());
        let Some(source) = source else {
            self.line(depth, &format!("for {var} in range({extent}):"));
            let value = cast(&format!("E[{var}]"), "float32", target.dtype);
            self.line(depth + 1, &format!("{}[{var}] = {value}", target.name));
            return target;
        };
        if source.size != target.size {
            // Different sizes: wrap around (a parameter-sized buffer has at least two elements).
            let modulus = source.size.unwrap_or(2);
            self.line(depth, &format!("for {var} in range({extent}):"));
            let value = cast(&format!("{}[{var} % {modulus}]", source.name), source.dtype, target.dtype);
            self.line(depth + 1, &format!("{}[{var}] = {value}", target.name));
            return target;
        }
        self.map(depth, &var, &extent, &source, &target, live);
        target
    }

    /// `target[i] = f(source[…])` over equal sizes, in many forms.
    fn map(&mut self, depth: usize, var: &str, extent: &str, source: &Buf, target: &Buf, live: &[Buf]) {
        let (s, t) = (&source.name, &target.name);
        let at = |index: &str| cast(&format!("{s}[{index}]"), source.dtype, target.dtype);
        let one = constant(1, target.dtype);
        let zero = constant(0, target.dtype);
        let size = target.size.unwrap_or(0);
        let form = self.random.below(if self.features.hazards { 16 } else { 11 });
        match form {
            0 if target.size.is_some() => {
                self.line(depth, &format!("for {var} in range({extent}):"));
                self.line(depth + 1, &format!("{t}[{var}] = {}", at(&format!("{} - {var}", size - 1))));
            }
            1 if self.outer.is_empty() => {
                self.line(depth, &format!("for {var} in T.parallel({extent}):"));
                self.line(depth + 1, &format!("{t}[{var}] = {} + {one}", at(var)));
            }
            2 if size >= 4 && size.is_multiple_of(4) => {
                let outer = self.fresh("r");
                self.line(depth, &format!("for {outer}, {var} in T.grid({}, 4):", size / 4));
                let index = format!("{outer} * 4 + {var}");
                self.line(depth + 1, &format!("{t}[{index}] = {}", at(&index)));
            }
            3 => {
                // A reduction reads its destination.
                self.line(depth, &format!("for {var} in range({extent}):"));
                self.line(depth + 1, &format!("{t}[{var}] = {zero}"));
                let inner = self.fresh("q");
                self.line(depth + 1, &format!("for {inner} in range(2):"));
                self.line(depth + 2, &format!("{t}[{var}] = T.max({t}[{var}], {})", at(var)));
            }
            4 => {
                self.line(depth, &format!("for {var} in range({extent}):"));
                self.line(depth + 1, &format!("if {var} < {}:", size / 2));
                self.line(depth + 2, &format!("{t}[{var}] = {}", at(var)));
                self.line(depth + 1, "else:");
                self.line(depth + 2, &format!("{t}[{var}] = {} + {one}", at(var)));
            }
            5 => {
                let other = live[self.random.below(live.len())].clone();
                self.line(depth, &format!("for {var} in range({extent}):"));
                let second = if other.size == target.size {
                    cast(&format!("{}[{var}]", other.name), other.dtype, target.dtype)
                } else {
                    cast(&format!("{}[0]", other.name), other.dtype, target.dtype)
                };
                self.line(depth + 1, &format!("{t}[{var}] = T.min({}, {second})", at(var)));
            }
            6 if self.features.vectors && size.is_multiple_of(4) && size > 0 && source.dtype == target.dtype => {
                self.line(depth, &format!("for {var} in range({}):", size / 4));
                self.line(depth + 1, &format!("{t}[{var} * 4:{var} * 4 + 4] = {s}[T.Ramp({var} * 4, 1, 4)]"));
            }
            7 if self.features.opaque => self.opaque(depth, var, extent, source, target),
            8 => {
                self.line(depth, &format!("for {var} in range({extent}):"));
                self.line(depth + 1, &format!("{t}[{var}] = T.if_then_else({var} < 2, {}, {one})", at(var)));
            }
            11 => {
                self.line(depth, &format!("for {var} in range({extent}):"));
                self.line(depth + 1, &format!("{t}[{var}] = {zero}"));
                self.line(depth + 1, &format!("{t}[{var}] = {}", at(var)));
            }
            12 => {
                let outer = self.fresh("r");
                self.line(depth, &format!("for {outer}, {var} in T.grid(2, {extent}):"));
                self.line(depth + 1, &format!("{t}[{var}] = {} + {one}", at(var)));
            }
            13 if target.size.is_some() => {
                self.line(depth, &format!("for {var} in range({}):", 2 * size));
                self.line(depth + 1, &format!("{t}[{var} % {size}] = {} + {one}", at(&format!("{var} % {size}"))));
            }
            // Only a buffer of the same block may be overwritten: others are read elsewhere in unknown order.
            14 if self.outer.is_empty() => {
                let reset = constant(0, source.dtype);
                self.line(depth, &format!("for {var} in range({extent}):"));
                self.line(depth + 1, &format!("{t}[{var}] = {}", at(var)));
                self.line(depth + 1, &format!("{s}[{var}] = {reset}"));
            }
            15 => {
                let once = self.fresh("r");
                self.line(depth, &format!("for {once} in range(1):"));
                self.line(depth + 1, &format!("for {var} in range({extent}):"));
                self.line(depth + 2, &format!("{t}[{var}] = {} + {one}", at(var)));
                self.line(depth + 1, &format!("for {var} in range({extent}):"));
                self.line(depth + 2, &format!("{t}[{var}] = {} + {one}", at(var)));
            }
            _ => {
                self.line(depth, &format!("for {var} in range({extent}):"));
                self.line(depth + 1, &format!("{t}[{var}] = {} + {one}", at(var)));
            }
        }
    }

    fn opaque(&mut self, depth: usize, var: &str, extent: &str, source: &Buf, target: &Buf) {
        let (s, t) = (&source.name, &target.name);
        let bytes = bytes_of(target.dtype) * target.size.unwrap_or(0);
        let value = cast(&format!("{s}[{var}]"), source.dtype, target.dtype);
        match self.random.below(3) {
            0 if target.size.is_some() => {
                self.line(depth, &format!("T.call_extern(\"int32\", \"memset\", {t}.data, 0, T.int64({bytes}))"));
            }
            1 => {
                let view = self.fresh("V");
                let dtype = if target.dtype == "float32" { String::new() } else { format!(", \"{}\"", target.dtype) };
                let scope =
                    if target.scope == "global" { String::new() } else { format!(", scope=\"{}\"", target.scope) };
                self.line(depth, &format!("{view} = T.decl_buffer(({extent},){dtype}, data={t}.data{scope})"));
                self.line(depth, &format!("for {var} in range({extent}):"));
                self.line(depth + 1, &format!("{view}[{var}] = {value}"));
            }
            _ => {
                self.line(depth, &format!("for {var} in range({extent}):"));
                self.line(depth + 1, &format!("{t}[{var}] = {value}"));
                if let Some(size) = target.size {
                    let pointer =
                        format!("T.tvm_access_ptr(T.type_annotation(\"{}\"), {t}.data, 0, {size}, 3)", target.dtype);
                    self.line(depth, &format!("T.call_extern(\"int32\", \"f\", {pointer})"));
                }
            }
        }
    }
}

fn bytes_of(dtype: &str) -> usize {
    match dtype {
        "int8" => 1,
        "int16" | "float16" => 2,
        "float64" => 8,
        _ => 4,
    }
}

fn cast(value: &str, from: &str, to: &str) -> String {
    if from == to { value.to_owned() } else { format!("T.Cast(\"{to}\", {value})") }
}

fn constant(value: i64, dtype: &str) -> String {
    match dtype {
        "int32" => value.to_string(),
        _ if dtype.starts_with("int") => format!("T.{dtype}({value})"),
        _ => format!("T.{dtype}({value}.0)"),
    }
}
