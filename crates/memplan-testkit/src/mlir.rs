//! MLIR texts of any size, each large in one way: many functions, many blocks, deep nests, many
//! values that loops carry, many loops of on-chip buffers, many tensors.
//!
//! A tool that looks at everything once for each part takes quadratic time on one of these and
//! linear time on the others:
//!
//! ```text
//!   functions   f0 { a → b }   f1 { a → b }   f2 …        what is found out about all, once a function
//!   blocks      ^0 → ^1 → ^2 → …, back to ^0              what is found out about a graph, once an access
//!   regions     for { for { for { … } } }                 what is found out about ancestors, once an op
//!   carried     for (x = …) { y ← x; yield x or y }, …    what is found out about names, once a loop
//!   kernels     for { load, compute, store }, …           on-chip buffers, every other loop double-buffered
//!   network     x + slice(concat(a, b)), …                tensors in global memory, some of them parts of others
//! ```

use std::fmt::Write as _;

/// A family of texts: its name, and the text of a given size.
pub type Family = (&'static str, fn(usize) -> String);

/// All families of programs for the host, for lists of tests.
pub const FAMILIES: [Family; 4] =
    [("functions", functions), ("blocks", blocks), ("regions", regions), ("carried", carried)];

/// Deeper nests than this are split into several: readers are free to refuse what is deeper.
const DEEPEST: usize = 100;

/// The type of every buffer of the programs for the host.
const TYPE: &str = "memref<64xf32>";

/// Adds a line; writing to a string does not fail.
fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    _ = text.write_fmt(arguments);
    text.push('\n');
}

/// Functions, each of which copies its input to its output by way of three buffers.
pub fn functions(count: usize) -> String {
    let mut text = String::new();
    for index in 0..count {
        line(&mut text, format_args!("func.func @f{index}(%in: {TYPE}, %out: {TYPE}) {{"));
        for name in ["a", "b", "c"] {
            line(&mut text, format_args!("  %{name} = memref.alloc() : {TYPE}"));
        }
        for (from, to) in [("in", "a"), ("a", "b"), ("b", "c"), ("c", "out")] {
            line(&mut text, format_args!("  memref.copy %{from}, %{to} : {TYPE} to {TYPE}"));
        }
        text += "  return\n}\n";
    }
    text
}

/// One function of `count` blocks, each of which branches on to the next and back to the first;
/// each has a buffer of its own and also uses one that comes from the entry.
pub fn blocks(count: usize) -> String {
    let mut text = String::new();
    line(&mut text, format_args!("func.func @graph(%in: {TYPE}, %flag: i1) {{"));
    line(&mut text, format_args!("  %shared = memref.alloc() : {TYPE}"));
    line(&mut text, format_args!("  memref.copy %in, %shared : {TYPE} to {TYPE}\n  cf.br ^b0"));
    for index in 0..count {
        line(&mut text, format_args!("^b{index}:\n  %x{index} = memref.alloc() : {TYPE}"));
        line(&mut text, format_args!("  memref.copy %shared, %x{index} : {TYPE} to {TYPE}"));
        line(&mut text, format_args!("  memref.copy %x{index}, %in : {TYPE} to {TYPE}"));
        line(&mut text, format_args!("  cf.cond_br %flag, ^b{}, ^b0", index + 1));
    }
    line(&mut text, format_args!("^b{count}:\n  return\n}}"));
    text
}

/// Nests of loops, a hundred deep, with a buffer at each level that is used further inside. `count` is
/// the number of loops in all nests together.
pub fn regions(count: usize) -> String {
    let mut text = String::new();
    line(&mut text, format_args!("func.func @nest(%in: {TYPE}, %n: index) {{"));
    text += "  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : index\n";
    for first in (0..count).step_by(DEEPEST) {
        let levels = first..count.min(first + DEEPEST);
        let mut outer = "in".to_owned();
        for level in levels.clone() {
            line(&mut text, format_args!("scf.for %i{level} = %zero to %n step %one {{"));
            line(&mut text, format_args!("%x{level} = memref.alloc() : {TYPE}"));
            line(&mut text, format_args!("memref.copy %{outer}, %x{level} : {TYPE} to {TYPE}"));
            outer = format!("x{level}");
        }
        line(&mut text, format_args!("memref.copy %{outer}, %in : {TYPE} to {TYPE}"));
        levels.for_each(|_| text += "}\n");
    }
    text + "  return\n}\n"
}

/// Loops one after the other, each of which carries a buffer from iteration to iteration: a select inside chooses
/// whether it is the carried one or one that the iteration has allocated.
pub fn carried(count: usize) -> String {
    let mut text = String::new();
    line(&mut text, format_args!("func.func @carried(%in: {TYPE}, %n: index, %flag: i1) {{"));
    text += "  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : index\n";
    for index in 0..count {
        line(&mut text, format_args!("  %x{index} = memref.alloc() : {TYPE}"));
        line(&mut text, format_args!("  memref.copy %in, %x{index} : {TYPE} to {TYPE}"));
        line(
            &mut text,
            format_args!(
                "  %r{index} = scf.for %i{index} = %zero to %n step %one iter_args(%c{index} = %x{index}) -> ({TYPE}) {{"
            ),
        );
        line(&mut text, format_args!("    %y{index} = memref.alloc() : {TYPE}"));
        line(&mut text, format_args!("    memref.copy %c{index}, %y{index} : {TYPE} to {TYPE}"));
        line(&mut text, format_args!("    %s{index} = arith.select %flag, %c{index}, %y{index} : {TYPE}"));
        line(&mut text, format_args!("    scf.yield %s{index} : {TYPE}\n  }}"));
        line(&mut text, format_args!("  memref.copy %r{index}, %in : {TYPE} to {TYPE}"));
    }
    text + "  return\n}\n"
}

/// The type of `size` half-precision numbers in a memory of the chip.
fn in_memory(size: usize, space: &str) -> String {
    format!("memref<{size}xf16, #hivm.address_space<{space}>>")
}

/// A kernel of loops with ten on-chip buffers each (`gm` is the memory outside of the chip, `ub` the one on it): two
/// loads, a chain of vector ops with a cumulative sum that is not in place, a store; every other loop is
/// double-buffered. The chain begins with what the second load brings. Nothing reads what the first one brings: its
/// buffer lives for that load alone.
pub fn kernel(buffers: usize) -> String {
    const SIZES: [usize; 5] = [256, 512, 1024, 2048, 4096];
    let arguments: Vec<String> = SIZES.iter().map(|&size| format!("%gm{size}: {}", in_memory(size, "gm"))).collect();
    let mut text = String::new();
    line(&mut text, format_args!("func.func @kernel({}, %n: index) {{", arguments.join(", ")));
    text += "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n";
    for at in 0..buffers.div_ceil(10) {
        // The sizes change from loop to loop in an order that is neither rising nor falling, so that no order of
        // placement has it easy.
        let size = SIZES[at * 7 % SIZES.len()];
        let (g, u) = (in_memory(size, "gm"), in_memory(size, "ub"));
        line(&mut text, format_args!("  scf.for %i{at} = %c0 to %n step %c1 {{"));
        for k in 0..10 {
            line(&mut text, format_args!("    %b{at}_{k} = memref.alloc() : {u}"));
            // Only what is loaded or stored is double-buffered, as a compiler would do it: the transfers then overlap
            // with the computation.
            if at % 2 == 0 && (k < 2 || k == 9) {
                line(&mut text, format_args!("    annotation.mark %b{at}_{k} {{hivm.multi_buffer = 2 : i32}} : {u}"));
            }
        }
        for k in 0..2 {
            line(&mut text, format_args!("    hivm.hir.load ins(%gm{size} : {g}) outs(%b{at}_{k} : {u})"));
        }
        for k in 2..10 {
            // A cumulative sum cannot work in place, so every third op needs two buffers at once.
            let op = if k % 3 == 0 { "vcumsum" } else { "vexp" };
            line(&mut text, format_args!("    hivm.hir.{op} ins(%b{at}_{} : {u}) outs(%b{at}_{k} : {u})", k - 1));
        }
        line(&mut text, format_args!("    hivm.hir.store ins(%b{at}_9 : {u}) outs(%gm{size} : {g})\n  }}"));
    }
    text + "  return\n}\n"
}

/// A network in global memory: residual blocks, each with a concat of two branches and a slice of it. A block makes
/// five tensors, so there are about as many tensors as asked for.
pub fn network(tensors: usize) -> String {
    let (narrow, wide) = ("tensor<1x16x16x16xf32>", "tensor<1x32x16x16xf32>");
    let mut text = format!(
        "module @net attributes {{module.addr_mode = \"basic\", module.chip = \"bm1684x\", module.state = \"TPU_DIVIDED\"}} {{\n\
         func.func @main(%arg0: {narrow}) -> {narrow} {{\n%r0 = \"top.Input\"(%arg0) : ({narrow}) -> {narrow}\n"
    );
    let blocks = tensors / 5;
    for block in 0..blocks {
        let next = block + 1;
        // Writing to a string cannot fail.
        _ = write!(
            text,
            "%a{block} = \"tpu.Active\"(%r{block}) : ({narrow}) -> {narrow}\n\
             %b{block} = \"tpu.Conv2D\"(%a{block}) : ({narrow}) -> {narrow}\n\
             %c{block} = \"tpu.Concat\"(%a{block}, %b{block}) {{axis = 1 : si32}} : ({narrow}, {narrow}) -> {wide}\n\
             %s{block} = \"tpu.Slice\"(%c{block}) {{ends = [1, 24, 16, 16], offset = [0, 8, 0, 0], steps = [1, 1, 1, 1]}} : \
             ({wide}) -> {narrow}\n\
             %r{next} = \"tpu.Add\"(%s{block}, %r{block}) : ({narrow}, {narrow}) -> {narrow}\n"
        );
    }
    _ = write!(text, "return %r{blocks} : {narrow}\n}}\n}}\n");
    text
}
