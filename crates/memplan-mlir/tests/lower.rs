//! Lowering: what becomes of the corpus and of small programs.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use memplan_mlir::{Dialects, Document, Lowered, lower};
use memplan_program::text;

fn lowered(name: &str, source: &str) -> Lowered {
    let document = Document::read(source, Dialects::builtin()).unwrap_or_else(|e| panic!("{name}: {e}"));
    lower(&document).unwrap_or_else(|error| panic!("{name}: {error} at {:?}", error.span()))
}

/// A program without names and places, for comparing forms.
fn anonymous(lowered: &Lowered) -> String {
    let program = &lowered.program;
    let mut out = String::new();
    for op in program.ops() {
        out += &format!(
            "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?}\n",
            op.name,
            op.scope(),
            op.accesses,
            op.results,
            op.inits(),
            op.control(),
            op.overlays(),
            op.copies()
        );
    }
    for value in program.values() {
        out += &format!("{:?} {:?}\n", value.origin, value.definition);
    }
    for block in program.blocks() {
        out += &format!("{block:?}\n");
    }
    for site in program.sites() {
        out += &format!("{:?} {:?} {:?}\n", site.size, site.alignment, program.spaces()[site.space]);
    }
    out
}

#[test]
fn both_forms_of_the_corpus_lower_to_the_same_program() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/printed");
    let mut compared = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        let Some(stem) = name.strip_suffix(".custom.mlir") else {
            continue;
        };
        let custom = std::fs::read_to_string(&path).unwrap();
        let generic = std::fs::read_to_string(format!("{stem}.generic.mlir")).unwrap();
        let (custom, generic) = (lowered(&name, &custom), lowered(stem, &generic));
        let (custom, generic) = (anonymous(&custom), anonymous(&generic));
        for (line, (c, g)) in custom.lines().zip(generic.lines()).enumerate() {
            assert_eq!(c, g, "{name}, line {line}");
        }
        assert_eq!(custom.lines().count(), generic.lines().count());
        compared += 1;
    }
    assert!(compared >= 14);
}

fn shows(source: &str) -> String {
    text::print(&lowered("test", source).program)
}

/// Lowers a function body (arguments `%a`, `%b`: memref<16xf32>, `%c`: i1, `%n`:
/// index) and asserts that the program has these lines, in this order.
#[track_caller]
fn body(body: &str, lines: &[&str]) {
    let source = format!(
        "func.func @f(%a: memref<16xf32>, %b: memref<16xf32>, %c: i1, %n: index) {{\n\
         %zero = arith.constant 0 : index\n%four = arith.constant 4 : index\n%f = arith.constant 0.0 : f32\n{body}\nreturn\n}}\n"
    );
    whole(&source, lines);
}

/// A line without its `at 12..34`, which is not the point here.
fn without_place(line: &str) -> String {
    let parts = line.trim().replace("  ", ", ");
    let place = |part: &&str| !part.starts_with("at ") || part.ends_with('{');
    let parts: Vec<&str> = parts.split(", ").filter(place).collect();
    let text = parts.join(", ");
    match text.find(" at ") {
        Some(at) if text.ends_with('{') => format!("{} {{", &text[..at]),
        _ => text,
    }
}

#[track_caller]
fn whole(source: &str, lines: &[&str]) {
    let text = shows(source);
    let mut printed = text.lines().map(without_place);
    for line in lines {
        assert!(printed.any(|found| found == line.replace("  ", ", ")), "`{line}` is not in\n{text}");
    }
}

#[test]
fn views_know_their_bytes() {
    body(
        "%s = memref.subview %a[4][8][1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 4>>
         %t = memref.subview %a[0][8][2] : memref<16xf32> to memref<8xf32, strided<[2]>>
         %u = memref.subview %a[%n][8][1] : memref<16xf32> to memref<8xf32, strided<[1], offset: ?>>
         %v = memref.subview %a[%four][8][1] : memref<16xf32> to memref<8xf32, strided<[1], offset: ?>>
         %w = memref.subview %s[2][2][1] : memref<8xf32, strided<[1], offset: 4>> to memref<2xf32, strided<[1], offset: 6>>
         %r = memref.reinterpret_cast %s to offset: [0], sizes: [16], strides: [1] : memref<8xf32, strided<[1], offset: 4>> to memref<16xf32>",
        &[
            "memref.subview  view %s = %a[16..48]",
            "memref.subview  view %t = %a[within 0..60]",
            "memref.subview  view %u = %a[?]",
            "memref.subview  view %v = %a[16..48]",
            "memref.subview  view %w = %s[8..16]",
            "memref.reinterpret_cast  view %r = %a[?]",
        ],
    );
}

#[test]
fn only_certain_writes_are_writes() {
    body(
        "%x = memref.alloc() : memref<16xf32>
         linalg.fill ins(%f : f32) outs(%x : memref<16xf32>)
         %s = memref.subview %x[0][8][2] : memref<16xf32> to memref<8xf32, strided<[2]>>
         linalg.fill ins(%f : f32) outs(%s : memref<8xf32, strided<[2]>>)
         memref.copy %a, %x : memref<16xf32> to memref<16xf32>
         memref.store %f, %x[%n] : memref<16xf32>
         linalg.add ins(%a, %b : memref<16xf32>, memref<16xf32>) outs(%x : memref<16xf32>)
         \"acme.op\"(%x) : (memref<16xf32>) -> ()"
            .replace("\\\"", "\"")
            .as_str(),
        &[
            "linalg.fill  write %x, once {",
            "linalg.fill  update %s, once {",
            "memref.copy  read %a, write %x, copy %x[0..64] from %a[0..64]",
            "memref.store  update %x",
            "linalg.add  read %a, read %b, write %x, overlay %x over %a, overlay %x over %b, once {",
            "acme.op  update %x",
        ],
    );
}

const GENERIC: &str = r#"
#id = affine_map<(d0) -> (d0)>
#swap = affine_map<(d0, d1) -> (d1, d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @f(%a: memref<16xf32>, %b: memref<16xf32>, %s: memref<4x4xf32>, %t: memref<4x4xf32>, %r: memref<4xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<16xf32>) outs(%b : memref<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<16xf32>) outs(%b : memref<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.addf %in, %out : f32
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#id2, #swap], iterator_types = ["parallel", "parallel"]} ins(%s : memref<4x4xf32>) outs(%t : memref<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]} ins(%s : memref<4x4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}
"#;

#[test]
fn generics_prove_writes_and_overlays() {
    whole(
        GENERIC,
        &[
            "linalg.generic  read %a, write %b, overlay %b over %a, loop 0.. {",
            "linalg.generic  read %a, update %b, loop 0.. {",
            "linalg.generic  read %s, write %t, loop 0.. {",
            "linalg.generic  read %s, update %r, loop 0.. {",
        ],
    );
}

#[test]
fn calls_do_what_the_function_does() {
    whole(
        r#"
func.func @reader(%m: memref<16xf32>, %i: index) -> f32 {
  %v = memref.load %m[%i] : memref<16xf32>
  return %v : f32
}
func.func @pick(%c: i1, %x: memref<16xf32>, %y: memref<16xf32>, %z: memref<16xf32>) -> memref<16xf32> {
  %p = arith.select %c, %x, %y : memref<16xf32>
  return %p : memref<16xf32>
}
func.func @maker() -> memref<16xf32> {
  %m = memref.alloc() : memref<16xf32>
  return %m : memref<16xf32>
}
func.func @twice(%m: memref<16xf32>) {
  call @again(%m) : (memref<16xf32>) -> ()
  return
}
func.func @again(%m: memref<16xf32>) {
  call @twice(%m) : (memref<16xf32>) -> ()
  return
}
func.func @keeps(%m: memref<16xf32>) {
  %p = memref.extract_aligned_pointer_as_index %m : memref<16xf32> -> index
  return
}
func.func @frees(%c: i1, %m: memref<16xf32>) {
  scf.if %c {
    memref.dealloc %m : memref<16xf32>
  }
  return
}
func.func private @unknown(memref<16xf32>) -> memref<16xf32>
func.func @f(%a: memref<16xf32>, %b: memref<16xf32>, %c: i1, %n: index) {
  %0 = call @reader(%a, %n) : (memref<16xf32>, index) -> f32
  %1 = call @pick(%c, %a, %b, %a) : (i1, memref<16xf32>, memref<16xf32>, memref<16xf32>) -> memref<16xf32>
  %2 = call @maker() : () -> memref<16xf32>
  call @again(%a) : (memref<16xf32>) -> ()
  call @keeps(%a) : (memref<16xf32>) -> ()
  call @frees(%c, %b) : (i1, memref<16xf32>) -> ()
  %3 = call @unknown(%a) : (memref<16xf32>) -> memref<16xf32>
  return
}
"#,
        &[
            "func @f(%a, %b) {",
            "func.call  read %a",
            "func.call  merge %1 = %a | %b",
            "func.call  opaque %2",
            "func.call  update %a",
            "func.call  escape %a",
            "func.call  escape %b",
            "func.call  update %a, opaque %3 = %a",
        ],
    );
}

/// A call hands out what its function hands out: memory that the function hides in a handle, a pointer, a tensor or a
/// result of a further call is still in use when the call has returned.
#[test]
fn calls_let_go_of_what_the_function_lets_go_of() {
    whole(
        r#"
func.func @wrap(%m: memref<16xf32>) -> !acme.handle {
  %h = "acme.wrap"(%m) : (memref<16xf32>) -> !acme.handle
  return %h : !acme.handle
}
func.func @stores(%m: memref<16xf32>, %g: !llvm.ptr) {
  %s = builtin.unrealized_conversion_cast %m : memref<16xf32> to !llvm.struct<(ptr, ptr, i64)>
  "llvm.store"(%s, %g) : (!llvm.struct<(ptr, ptr, i64)>, !llvm.ptr) -> ()
  return
}
func.func @tensor(%m: memref<16xf32>) -> tensor<16xf32> {
  %t = "acme.to_tensor"(%m) : (memref<16xf32>) -> tensor<16xf32>
  return %t : tensor<16xf32>
}
func.func @further(%m: memref<16xf32>, %n: memref<16xf32>) -> !acme.handle {
  %v = memref.cast %m : memref<16xf32> to memref<?xf32>
  %w = memref.cast %v : memref<?xf32> to memref<16xf32>
  %h = call @wrap(%w) : (memref<16xf32>) -> !acme.handle
  return %h : !acme.handle
}
func.func private @unknown(memref<16xf32>) -> !acme.handle
func.func @declared(%m: memref<16xf32>) -> !acme.handle {
  %h = call @unknown(%m) : (memref<16xf32>) -> !acme.handle
  return %h : !acme.handle
}
func.func @captured(%m: memref<16xf32>) -> !acme.handle {
  %h = "acme.closure"() ({
    "acme.use"(%m) : (memref<16xf32>) -> ()
    "acme.end"() : () -> ()
  }) : () -> !acme.handle
  return %h : !acme.handle
}
func.func @yielded(%m: memref<16xf32>) {
  "acme.region"() ({
    "acme.yield"(%m) : (memref<16xf32>) -> ()
  }) : () -> ()
  return
}
func.func @branches(%m: memref<16xf32>) {
  "acme.branch"(%m)[^end] : (memref<16xf32>) -> ()
^end:
  return
}
func.func @f(%a: memref<16xf32>, %b: memref<16xf32>, %g: !llvm.ptr) {
  %0 = call @wrap(%a) : (memref<16xf32>) -> !acme.handle
  call @stores(%b, %g) : (memref<16xf32>, !llvm.ptr) -> ()
  %1 = call @tensor(%a) : (memref<16xf32>) -> tensor<16xf32>
  %2 = call @further(%b, %a) : (memref<16xf32>, memref<16xf32>) -> !acme.handle
  %3 = call @declared(%a) : (memref<16xf32>) -> !acme.handle
  %4 = call @captured(%b) : (memref<16xf32>) -> !acme.handle
  call @yielded(%a) : (memref<16xf32>) -> ()
  call @branches(%b) : (memref<16xf32>) -> ()
  return
}
"#,
        &[
            "func @f(%a, %b) {",
            "func.call  update %a, escape %a",
            "func.call  update %b, escape %b",
            "func.call  update %a, escape %a",
            "func.call  update %b, escape %b",
            "func.call  update %a, escape %a",
            "func.call  update %b, escape %b",
            "func.call  update %a, escape %a",
            "func.call  update %b, escape %b",
        ],
    );
}

/// Where tensors are followed, a tensor that the function hides escapes, too, even through a tensor made of it.
#[test]
fn calls_let_go_of_the_tensors_that_the_function_lets_go_of() {
    let source = r#"
func.func @wrap(%t: tensor<16xf32>, %c: f32) -> !acme.handle {
  %u = linalg.fill ins(%c : f32) outs(%t : tensor<16xf32>) -> tensor<16xf32>
  %h = "acme.wrap"(%u) : (tensor<16xf32>) -> !acme.handle
  return %h : !acme.handle
}
func.func @f(%a: memref<16xf32>, %c: f32) {
  %t = bufferization.to_tensor %a : memref<16xf32> to tensor<16xf32>
  %h = call @wrap(%t, %c) : (tensor<16xf32>, f32) -> !acme.handle
  return
}
"#;
    let document = Document::read(source, Dialects::builtin()).unwrap();
    let text = text::print(&memplan_mlir::lower_kernels(&document).unwrap().program);
    assert!(text.lines().any(|line| line.contains("func.call  update %t, escape %t")), "{text}");
}

#[test]
fn unknown_regions_let_go_of_what_they_take() {
    body(
        r#"%x = memref.alloc() : memref<16xf32>
         %r = "acme.region"(%x) ({
         ^bb0(%inside: memref<16xf32>):
           "acme.yield"(%a) : (memref<16xf32>) -> ()
         }) : (memref<16xf32>) -> memref<16xf32>"#,
        &["acme.region  update %x, opaque %r = %x, unknown { (%inside = opaque %x)", "acme.yield  escape %a"],
    );
}

/// Nobody says whether a name in an unknown form is bound for the region or used. A value of this name outside is then
/// an operand as well, whether it stands in front of the op or in a block further down.
#[test]
fn names_in_unknown_forms_are_bound_and_used() {
    for form in ["args = (%x : memref<16xf32>)", "(%a as %x : memref<16xf32>)", "%x = %a"] {
        let op = format!("acme.with {form} {{\n\"use\"(%x) : (memref<16xf32>) -> ()\n}}");
        let source =
            format!("func.func @f(%a: memref<16xf32>) {{\n%x = memref.alloc() : memref<16xf32>\n{op}\nreturn\n}}\n");
        let text = shows(&source);
        assert!(text.lines().any(|line| line.contains("acme.with") && line.contains("update %x")), "{text}");
        let source = format!(
            "func.func @f(%a: memref<16xf32>) {{\ncf.br ^bb2\n^bb1:\n{op}\nreturn\n^bb2:\n\
             %x = memref.alloc() : memref<16xf32>\ncf.br ^bb1\n}}\n"
        );
        let text = shows(&source);
        assert!(text.lines().any(|line| line.contains("acme.with") && line.contains("update %x")), "{text}");
        // Without a value of this name outside, the name is an argument of the region and nothing else.
        let source = format!("func.func @f(%a: memref<16xf32>) {{\n{op}\nreturn\n}}\n");
        let lowered = lowered("test", &source);
        let text = text::print(&lowered.program);
        assert!(!text.contains("update %x, ") && !text.contains("external %x"), "{text}");
        assert!(!lowered.notes.iter().any(|note| note.message.contains("not defined")), "{:?}", lowered.notes);
    }
}

#[test]
fn bounds_become_trip_counts() {
    body(
        "scf.for %i = %zero to %four step %four { }
         scf.for %i = %zero to %n step %four { }
         affine.for %i = 0 to 10 { }
         scf.forall (%i, %j) in (3, %n) { }",
        &[
            "scf.for  loop 1 {",
            "scf.for  loop 0.. {",
            "affine.for  loop 10, scope {",
            "scf.forall  parallel 3 ?, scope {",
        ],
    );
}

#[test]
fn asynchronous_work_is_awaited_by_its_token() {
    body(
        r#"%t, %v = async.execute -> !async.value<memref<16xf32>> {
           async.yield %a : memref<16xf32>
         }
         %m = async.await %v : !async.value<memref<16xf32>>
         memref.store %f, %m[%n] : memref<16xf32>"#,
        &[
            "async.execute  result %v, async !t, scope {",
            "leave %a",
            "async.await  merge %m = %v, await !t",
            "memref.store  update %m",
        ],
    );
}

/// A workspace has offsets if its form lists them, whatever its result or its attributes are called.
#[test]
fn the_offsets_of_a_workspace_stand_behind_their_word() {
    let sites = |op: &str| {
        let source = format!(
            "func.func @k(%ws: memref<?xi8>) {{\n%c0 = arith.constant 0 : index\n{op} : from memref<?xi8> to memref<16xf32>\nreturn\n}}\n"
        );
        let document = Document::read(&source, Dialects::builtin()).unwrap_or_else(|e| panic!("{op}: {e}"));
        memplan_mlir::lower_workspaces(&document).unwrap().sites.len()
    };
    assert_eq!(sites("%offset = memref_ext.alloc_workspace() from %ws offset = [%c0, %c0]"), 0);
    assert_eq!(sites("%offset = memref_ext.alloc_workspace() from %ws"), 1);
    assert_eq!(sites("%w = memref_ext.alloc_workspace() from %ws {tag = \"offset = [%c0]\"}"), 1);
}

#[test]
fn buffers_are_named_by_function_and_value() {
    let source = "func.func @f() {\n%x = memref.alloc() : memref<4xf32>\nreturn\n}\n// -----\nfunc.func @f() {\n%x = memref.alloc() : memref<4xf32>\nreturn\n}\n";
    let lowered = lowered("test", source);
    let names = lowered.program.site_names();
    assert_eq!(names.as_slice(), ["@f/%x", "@f/%x#2"]);
    assert_eq!(lowered.sites.len(), 2);
    assert_eq!(lowered.ops.len(), 4);
}

#[test]
fn a_map_that_uses_its_output_updates_it() {
    body(
        "linalg.map { arith.addf } ins(%a, %a : memref<16xf32>, memref<16xf32>) outs(%b : memref<16xf32>)
         linalg.map ins(%a : memref<16xf32>) outs(%b : memref<16xf32>) (%in: f32, %out: f32) {
           linalg.yield %in : f32
         }
         linalg.map ins(%a : memref<16xf32>) outs(%b : memref<16xf32>) (%in: f32, %out: f32) {
           %s = arith.addf %in, %out : f32
           linalg.yield %s : f32
         }",
        &[
            "linalg.map  read %a, write %b, overlay %b over %a, loop 0.. {",
            "linalg.map  read %a, write %b, overlay %b over %a, loop 0.. {",
            "linalg.map  read %a, update %b, loop 0.. {",
        ],
    );
}

#[test]
fn memory_that_becomes_something_else_escapes() {
    body(
        r#"%p = builtin.unrealized_conversion_cast %a : memref<16xf32> to !llvm.ptr
         %h = "acme.handle"(%a) : (memref<16xf32>) -> !acme.handle
         %i = "acme.number"(%a) : (memref<16xf32>) -> i64
         %q = builtin.unrealized_conversion_cast %a : memref<16xf32> to i64
         %t = bufferization.to_tensor %a : memref<16xf32> to tensor<16xf32>
         %l = scf.for %k = %zero to %n step %four iter_args(%m = %a) -> (memref<16xf32>) {
           %r = memref.reinterpret_cast %m to offset: [0], sizes: [64], strides: [1] : memref<16xf32> to memref<64xf32>
           scf.yield %m : memref<16xf32>
         }"#,
        &[
            "builtin.unrealized_conversion_cast  escape %a",
            "acme.handle  escape %a",
            "acme.number  update %a",
            "builtin.unrealized_conversion_cast  escape %a",
            "bufferization.to_tensor  escape %a",
            "memref.reinterpret_cast  escape %m, opaque %r = %m",
        ],
    );
}

/// The libraries for sparse matrices work on behind the op, through handles whose types the form does not write.
#[test]
fn memory_of_a_sparse_library_escapes() {
    body(
        "%start = gpu.wait async
         %h, %t = gpu.create_dn_tensor async [%start] %a, %n : index into memref<16xf32>
         %k = gpu.create_dn_tensor %b, %n : index into memref<16xf32>
         %s = gpu.spmv async [%t] %h, %h, %k, %a : memref<16xf32> into f32",
        &["gpu.create_dn_tensor  escape %a", "gpu.create_dn_tensor  escape %b", "gpu.spmv  escape %a"],
    );
}

/// Where a form does not tell the type of a result, the result may be a handle: here a tensor, which is read later by
/// an op that touches no memory.
#[test]
fn memory_in_a_result_of_unknown_type_escapes() {
    body(
        "%s = acme.assemble %a : memref<16xf32> to tensor<16xf32>
         %t = acme.untold %b
         %x = tensor.extract %s[%zero] : tensor<16xf32>",
        &["acme.assemble  escape %a, opaque %s = %a", "acme.untold  escape %b, opaque %t = %b"],
    );
}

/// A row that speaks of `ins` and `outs` says nothing of an op that is written without them.
#[test]
fn operands_outside_of_the_groups_are_updated() {
    body(
        "%x = memref.alloc() : memref<2x2x8x8xf32>
         %y = memref.alloc() : memref<16x16xf32>
         linalg.pack %y inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %x : memref<16x16xf32> -> memref<2x2x8x8xf32>
         linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %y : memref<2x2x8x8xf32> -> memref<16x16xf32>",
        &["linalg.pack  update %y, update %x", "linalg.unpack  update %x, update %y"],
    );
}

/// A kernel that is launched on a stream runs on when the op is over, although the op gives no token.
#[test]
fn memory_of_a_kernel_on_a_stream_escapes() {
    let launch = "@k::@f blocks in (%n, %n, %n) threads in (%n, %n, %n)";
    let source = format!(
        "gpu.module @k {{ gpu.func @f(%a: memref<16xf32>) kernel {{ gpu.return }} }}
         func.func @start(%s: !llvm.ptr, %a: memref<16xf32>, %n: index) {{
           gpu.launch_func <%s : !llvm.ptr> {launch} args(%a : memref<16xf32>)
           return
         }}
         func.func @g(%s: !llvm.ptr, %a: memref<16xf32>, %b: memref<16xf32>, %n: index) {{
           gpu.launch_func {launch} args(%a : memref<16xf32>)
           func.call @start(%s, %b, %n) : (!llvm.ptr, memref<16xf32>, index) -> ()
           return
         }}"
    );
    let (updates, escapes) = ("gpu.launch_func  update %a", "gpu.launch_func  escape %a");
    whole(&source, &[escapes, updates, "func.call  update %b, escape %b"]);
}

/// Ticks count every op of the text, also those its custom form leaves out.
#[test]
fn lifetimes_count_in_ticks() {
    use memplan_analysis::{Aliases, Lifetimes, OpTree};
    let source = r#"
func.func @alias(%c: i1) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %s = arith.select %c, %a, %b : memref<4xf32>
  "acme.use"(%s) : (memref<4xf32>) -> ()
  "acme.use"(%b) : (memref<4xf32>) -> ()
  return
}
func.func @views(%f: f32) {
  %b = memref.alloc() : memref<8xf32>
  %v = memref.subview %b[0][4][1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  "acme.use"(%v) : (memref<4xf32, strided<[1]>>) -> ()
  %w = memref.subview %v[0][2][1] : memref<4xf32, strided<[1]>> to memref<2xf32, strided<[1]>>
  "acme.use"(%w) : (memref<2xf32, strided<[1]>>) -> ()
  %c = memref.alloc() : memref<8xf32>
  linalg.fill ins(%f : f32) outs(%c : memref<8xf32>)
  %d = memref.alloc() : memref<8xf32>
  linalg.matmul_like %d : memref<8xf32>
  return
}
func.func @loop(%n: index, %f: f32) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  %e = memref.alloc() : memref<4xf32>
  scf.for %i = %n to %n step %n {
    memref.store %f, %a[%i] : memref<4xf32>
    %x = memref.alloc() : memref<4xf32>
    memref.store %f, %x[%i] : memref<4xf32>
  }
  %d = memref.dim %a, %n : memref<4xf32>
  memref.store %f, %a[%n] : memref<4xf32>
  return %e : memref<4xf32>
}
"#;
    let program = lowered("test", &source.replace("linalg.matmul_like", "acme.use")).program;
    let (aliases, tree) = (Aliases::new(&program), OpTree::new(&program));
    let lifetimes = Lifetimes::new(&program, &aliases, &tree);
    let text = lifetimes.dump(&program, &tree);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "@alias/%a: [5, 5]",
            "@alias/%b: [5, 6]",
            "@views/%b: [4, 6]",
            "@views/%c: [8, 8]",
            "@views/%d: [11, 11]",
            "@loop/%a: [4, 10]",
            "@loop/%e: left alone: it escapes (func.return at tick 11)",
            "@loop/%x: [7, 7]",
        ],
        "{text}"
    );
}

/// The older form of `to_tensor` gives its result the memref's type. The op lets go of both tensors,
/// so nothing is said about which of them may lie on the other.
#[test]
fn a_tensor_may_be_input_and_output() {
    let source = "!u = memref<32xf16, #hivm.address_space<ub>>
func.func @k(%in: memref<32xf16, #hivm.address_space<gm>>) {
  %b = memref.alloc() : !u
  %d = memref.alloc() : !u
  hivm.hir.load ins(%in : memref<32xf16, #hivm.address_space<gm>>) outs(%b : !u)
  hivm.hir.load ins(%in : memref<32xf16, #hivm.address_space<gm>>) outs(%d : !u)
  %a = bufferization.to_tensor %b restrict writable : !u
  %e = bufferization.to_tensor %d restrict writable : !u
  %r = hivm.hir.vmul ins(%a, %e : tensor<32xf16>, tensor<32xf16>) outs(%a : tensor<32xf16>) -> tensor<32xf16>
  return
}
";
    let document = Document::read(source, Dialects::builtin()).unwrap();
    let lowered = lower(&document).unwrap_or_else(|error| panic!("{error}"));
    let multiply = lowered.program.ops().iter().find(|op| &*op.name == "hivm.hir.vmul").unwrap();
    assert!(multiply.overlays().is_empty());
}

/// Views of more than there is are errors at their place; those that just fit are not.
#[test]
fn views_lie_inside_of_their_base() {
    let judged = |view: &str| {
        let source = format!(
            "func.func @f(%g: memref<16xi8>, %n: index) {{
  %c4 = arith.constant 4 : index
  %a = memref.alloc() : memref<8xi8>
  %m = memref.alloc() : memref<4x8xf32>
  %p = memref.alloc() : memref<32xi8, #hivm.address_space<ub>>
  {view}
  return
}}
"
        );
        let document = Document::read(&source, Dialects::builtin()).unwrap();
        let error = lower(&document).err()?;
        let start = error.span().start as usize;
        assert!(source[start..].starts_with("%v = ") || source[start..].starts_with("memref."), "{}", &source[start..]);
        Some(error.to_string())
    };
    for (view, message) in [
        ("%v = memref.view %a[%c4][] : memref<8xi8> to memref<3xf32>", "bytes up to 16 of a buffer, which has 8"),
        ("%v = memref.view %a[%n][] : memref<8xi8> to memref<3xf32>", "bytes up to 12 of a buffer, which has 8"),
        ("%v = memref.view %g[%c4][] : memref<16xi8> to memref<4xf32>", "bytes up to 20 of a buffer, which has 16"),
        (
            "%v = memref.view %p[%c4][] : memref<32xi8, #hivm.address_space<ub>> to memref<256xi1, #hivm.address_space<ub>>",
            "bytes up to 36 of a buffer, which has 32",
        ),
        (
            "%v = memref.subview %m[0, 4] [4, 5] [1, 1] : memref<4x8xf32> to memref<4x5xf32, strided<[8, 1], offset: 4>>",
            "elements up to 9 of dimension 1, which has 8",
        ),
        (
            "%v = memref.subview %m[%n, 0] [3, 8] [2, 1] : memref<4x8xf32> to memref<3x8xf32, strided<[16, 1], offset: ?>>",
            "elements up to 5 of dimension 0, which has 4",
        ),
        (
            "%v = memref.reinterpret_cast %m to offset: [1], sizes: [4, 8], strides: [8, 1] : memref<4x8xf32> to memref<4x8xf32, strided<[8, 1], offset: 1>>",
            "elements up to 33 of a buffer, which has 32",
        ),
    ] {
        let found = judged(view).unwrap_or_else(|| panic!("{view}: no error"));
        assert!(found.ends_with(message), "{view}: {found}");
    }
    for view in [
        "%v = memref.view %a[%c4][] : memref<8xi8> to memref<1xf32>",
        "%v = memref.view %a[%n][%n] : memref<8xi8> to memref<?xf32>",
        "%c0 = arith.constant 0 : index %v = memref.view %p[%c0][] : memref<32xi8, #hivm.address_space<ub>> to memref<256xi1, #hivm.address_space<ub>>",
        "%v = memref.subview %m[0, 4] [2, 2] [2, 3] : memref<4x8xf32> to memref<2x2xf32, strided<[16, 3], offset: 4>>",
        "%v = memref.subview %m[4, 8] [0, 0] [1, 1] : memref<4x8xf32> to memref<0x0xf32, strided<[8, 1], offset: 40>>",
        // A cast of a part may take the whole buffer.
        "%s = memref.subview %m[3, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<1x8xf32, strided<[8, 1], offset: 24>>
  %v = memref.reinterpret_cast %s to offset: [0], sizes: [32], strides: [1] : memref<1x8xf32, strided<[8, 1], offset: 24>> to memref<32xf32>",
    ] {
        assert_eq!(judged(view), None, "{view}");
    }
}

/// An allocation is not given more or fewer sizes than its type leaves open, and nothing stands behind its type.
#[test]
fn allocations_have_the_sizes_that_their_type_leaves_open() {
    let judged = |allocation: &str| {
        let source = format!("func.func @f(%n: index, %g: memref<4xf32>) {{\n  {allocation}\n  return\n}}\n");
        lower(&Document::read(&source, Dialects::builtin()).unwrap()).err().map(|error| error.to_string())
    };
    for (allocation, found, expected) in
        [("%a = memref.alloc() : memref<?xf32>", 0, 1), ("%a = memref.alloc(%n, %n) : memref<?x4xf32>", 2, 1)]
    {
        let message = format!("this allocation is given {found} sizes where its type leaves {expected} open");
        assert_eq!(judged(allocation), Some(message), "{allocation}");
    }
    let more = "func.func @f(%g: memref<4xf32>) {\n  %a = memref.alloc() : memref<4xf32>\n  \
                16384xi64 ins(%g : memref<4xf32>)\n  return\n}\n";
    let refused = Document::read(more, Dialects::builtin()).unwrap_err().to_string();
    assert_eq!(refused, "expected the end of the op behind its type, found more");
    for allocation in [
        "%a = memref.alloc() {alignment = 64 : i64} : memref<4xf32>",
        "%a = memref.alloc(%n) : memref<?x4xf32>",
        "%a = memref.alloc(%n)[%n] : memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>",
        "%a = memref.alloca() : memref<f32>",
    ] {
        assert_eq!(judged(allocation), None, "{allocation}");
    }
}

/// On chip, elements of less than a byte are packed, also where a tensor stands for the buffer.
#[test]
fn a_tensor_of_packed_elements_is_its_buffer() {
    let source = "!u = memref<256xi1, #hivm.address_space<ub>>
func.func @k() {
  %b = memref.alloc() : !u
  %a = bufferization.to_tensor %b restrict writable : !u to tensor<256xi1>
  %e = hivm.hir.vnot ins(%a : tensor<256xi1>) outs(%a : tensor<256xi1>) -> tensor<256xi1>
  return
}
";
    let document = Document::read(source, Dialects::builtin()).unwrap();
    let lowered = memplan_mlir::lower_kernels(&document).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(lowered.program.sites().len(), 1);
}

/// What a move does to its output: one that replaces the content writes it, one that adds to the content updates it.
#[test]
fn an_atomic_move_uses_what_was_there() {
    let kind = |word: &str| {
        let source = format!(
            "!u = memref<32xf16, #hivm.address_space<ub>>
func.func @k(%to: memref<32xf16, #hivm.address_space<gm>>) {{
  %b = memref.alloc() : !u
  hivm.hir.store ins(%b : !u) outs(%to : memref<32xf16, #hivm.address_space<gm>>) {word}
  return
}}
"
        );
        let program = lowered(word, &source).program;
        let store = program.ops().iter().find(|op| &*op.name == "hivm.hir.store").unwrap();
        store.accesses.last().unwrap().kind
    };
    assert_eq!(kind(""), memplan_program::AccessKind::Write);
    assert_eq!(kind("atomic = <add>"), memplan_program::AccessKind::Update);
}

/// A copy out of longer rows does not take the bytes as they lie.
#[test]
fn a_slice_of_longer_rows_is_not_copied_byte_for_byte() {
    let copies = |layout: &str| {
        let source = format!(
            "!u = memref<4x8xf32, #hivm.address_space<ub>>
func.func @k(%from: memref<4x8xf32, {layout}#hivm.address_space<gm>>) {{
  %b = memref.alloc() : !u
  hivm.hir.load ins(%from : memref<4x8xf32, {layout}#hivm.address_space<gm>>) outs(%b : !u)
  %t = bufferization.to_tensor %b restrict writable : !u to tensor<4x8xf32>
  return
}}
"
        );
        let document = Document::read(&source, Dialects::builtin()).unwrap();
        let lowered = memplan_mlir::lower_kernels(&document).unwrap_or_else(|error| panic!("{error}"));
        let load = lowered.program.ops().iter().find(|op| &*op.name == "hivm.hir.load").unwrap().clone();
        load.copies().len()
    };
    assert_eq!(copies(""), 1);
    assert_eq!(copies("strided<[16, 1]>, "), 0);
}

/// To unsigned ops a negative constant is a very large number, so it bounds no size.
#[test]
fn a_negative_constant_is_no_unsigned_bound() {
    let bound = |number: &str, size: &str| {
        let source = format!(
            "func.func @k(%x: index) {{
  %c = arith.constant {number} : index
  %more = arith.constant 100 : index
  {size}
  %b = memref.alloc(%n) : memref<?xi8, #hivm.address_space<ub>>
  return
}}
"
        );
        let program = lowered(size, &source).program;
        program.sites().iter().next().unwrap().size.upper_bound().map(|bytes| bytes.0)
    };
    let minimum = "%m = arith.minui %x, %c : index\n  %n = arith.addi %m, %more : index";
    let selected = "%q = arith.cmpi ult, %x, %c : index\n  %m = arith.select %q, %x, %more : index\n  \
                    %n = arith.addi %m, %more : index";
    assert_eq!((bound("50", minimum), bound("-1", minimum)), (Some(150), None));
    assert_eq!((bound("50", selected), bound("-1", selected)), (Some(200), None));
}

/// Whether a call of the vector function with this body may write its output `%o` over its input `%a`. Both have the
/// given shapes and element types.
fn works_in_place(input: &str, output: &str, body: &str) -> bool {
    // A size for each dimension that the type leaves open.
    let sizes = |ty: &str| vec!["%n"; ty.matches('?').count()].join(", ");
    let (input_sizes, output_sizes) = (sizes(input), sizes(output));
    let source = format!(
        "!a = memref<{input}, #hivm.address_space<ub>>
!o = memref<{output}, #hivm.address_space<ub>>
func.func @vf(%a: !a, %o: !o, %p: i1) attributes {{hivm.vector_function}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %pad = arith.constant 0.0 : f32
  {body}
  return
}}
func.func @k(%p: i1, %n: index) {{
  %x = memref.alloc({input_sizes}) : !a
  %y = memref.alloc({output_sizes}) : !o
  func.call @vf(%x, %y, %p) {{hivm.vector_function}} : (!a, !o, i1) -> ()
  return
}}
"
    );
    calls_in_place(&source)
}

/// Whether the call in a text has an overlay.
fn calls_in_place(source: &str) -> bool {
    let program = lowered(source, source).program;
    let call = program.ops().iter().find(|op| &*op.name == "func.call").unwrap();
    !call.overlays().is_empty()
}

/// Reads and writes 64 elements at `%i`.
const DOUBLE: &str = "%v = vector.transfer_read %a[%i], %pad {in_bounds = [true]} : !a, vector<64xf32>
  %w = arith.addf %v, %v : vector<64xf32>
  vector.transfer_write %w, %o[%i] {in_bounds = [true]} : vector<64xf32>, !o";

/// A loop that comes to an element a second time would read what it has written there.
#[test]
fn vector_functions_work_in_place_if_they_come_to_each_element_once() {
    let in_place = |body: &str| works_in_place("128xf32", "128xf32", body);
    let double = |around: &str| in_place(&around.replace("BODY", DOUBLE));
    assert!(double("%i = arith.constant 64 : index\n  BODY"), "no loop");
    assert!(double("scf.for %i = %c0 to %c128 step %c64 {\n  BODY\n  }"));
    assert!(double("scf.for %k = %c0 to %c1 step %c1 {\n  scf.for %i = %c0 to %c128 step %c64 {\n  BODY\n  }\n  }"));
    assert!(double("scf.if %p {\n  scf.for %i = %c0 to %c128 step %c64 {\n  BODY\n  }\n  }"));
    assert!(!double("scf.for %k = %c0 to %c2 step %c1 {\n  scf.for %i = %c0 to %c128 step %c64 {\n  BODY\n  }\n  }"));
    assert!(!double("%i = arith.constant 0 : index\n  scf.for %k = %c0 to %c2 step %c1 {\n  BODY\n  }"), "one place");
    assert!(!double("scf.for %i = %c0 to %c64 step %c1 {\n  BODY\n  }"), "windows overlap");
    assert!(!double(
        "scf.while : () -> () {\n  scf.condition(%p)\n  } do {\n  %i = arith.constant 0 : index\n  BODY\n  scf.yield\n  }"
    ));
    assert!(!double("scf.for %k = %c0 to %c2 step %c1 {\n  %i = arith.muli %k, %c1 : index\n  BODY\n  }"));
    // Blocks that branch to each other are a loop, too.
    assert!(!double(
        "%i = arith.constant 0 : index\n  cf.br ^again\n  ^again:\n  BODY\n  cf.cond_br %p, ^again, ^end\n  ^end:"
    ));
}

/// Slices of which one dimension is the window of a loop, in one step or two.
#[test]
fn vector_functions_work_in_place_through_slices() {
    let sliced = |offsets: &str, sizes: &str, vector: &str, around: &str| {
        let part = "memref<?x?xf32, strided<[128, 1], offset: ?>, #hivm.address_space<ub>>";
        let body = format!(
            "%s = memref.subview %a[{offsets}] [{sizes}] [1, 1] : !a to {part}
  %d = memref.subview %o[{offsets}] [{sizes}] [1, 1] : !o to {part}
  %v = vector.transfer_read %s[%c0, %c0], %pad {{in_bounds = [true, true]}} : {part}, vector<{vector}xf32>
  vector.transfer_write %v, %d[%c0, %c0] {{in_bounds = [true, true]}} : vector<{vector}xf32>, {part}"
        );
        works_in_place("4x128xf32", "4x128xf32", &around.replace("BODY", &body))
    };
    let rows = "scf.for %i = %c0 to %c2 step %c1 {\n  BODY\n  }";
    let tiles = "scf.for %j = %c0 to %c128 step %c64 {\n  scf.for %i = %c0 to %c2 step %c1 {\n  BODY\n  }\n  }";
    assert!(sliced("%i, 0", "1, 128", "1x128", rows));
    assert!(sliced("%i, %j", "1, 64", "1x64", tiles));
    assert!(sliced("%i, %j", "%c1, %c64", "1x64", tiles));
    assert!(!sliced("%i, 0", "2, 128", "2x128", rows), "rows overlap");
    assert!(!sliced("%i, %j", "1, 128", "1x128", tiles), "columns overlap");
    assert!(!sliced("0, %j", "1, 64", "1x64", tiles), "the rows are left out");
}

/// Elements become narrower, so each lies further down than the one that it is computed from. Rows may then be
/// written over what is still to be read, unless all that lies further down has been read.
#[test]
fn vector_functions_that_narrow_work_in_place_from_the_start_to_the_end() {
    let narrowed = |sizes: &str, vector: &str, around: &str| {
        let part = |ty: &str| format!("memref<?x?x{ty}, strided<[128, 1], offset: ?>, #hivm.address_space<ub>>");
        let (wide, narrow) = (part("f32"), part("f16"));
        let body = format!(
            "%s = memref.subview %a[%i, %j] [{sizes}] [1, 1] : !a to {wide}
  %d = memref.subview %o[%i, %j] [{sizes}] [1, 1] : !o to {narrow}
  %v = vector.transfer_read %s[%c0, %c0], %pad {{in_bounds = [true, true]}} : {wide}, vector<{vector}xf32>
  %w = arith.truncf %v : vector<{vector}xf32> to vector<{vector}xf16>
  vector.transfer_write %w, %d[%c0, %c0] {{in_bounds = [true, true]}} : vector<{vector}xf16>, {narrow}"
        );
        works_in_place("128x128xf32", "128x128xf16", &around.replace("BODY", &body))
    };
    let rows = |step: &str| format!("scf.for %i = %c0 to %c128 step {step} {{");
    let columns = "scf.for %j = %c0 to %c128 step %c64 {";
    assert!(narrowed("1, 64", "1x64", &format!("{}\n  {columns}\n  BODY\n  }}\n  }}", rows("%c1"))));
    assert!(!narrowed("1, 64", "1x64", &format!("{columns}\n  {}\n  BODY\n  }}\n  }}", rows("%c1"))));
    assert!(!narrowed("2, 64", "2x64", &format!("{}\n  {columns}\n  BODY\n  }}\n  }}", rows("%c2"))));
}

/// Rows of lengths that are only known at run time may be longer in the output.
#[test]
fn vector_functions_do_not_work_in_place_on_rows_of_unknown_length() {
    let row = "scf.for %i = %c0 to %c2 step %c1 {
  %v = vector.transfer_read %a[%i, %c0], %pad {in_bounds = [true]} : !a, vector<64xf32>
  vector.transfer_write %v, %o[%i, %c0] {in_bounds = [true]} : vector<64xf32>, !o
  }";
    assert!(works_in_place("2x64xf32", "2x64xf32", row));
    assert!(!works_in_place("?x?xf32", "?x?xf32", row));
}

/// An argument that is handed on under another name may be accessed by that name, too.
#[test]
fn vector_functions_do_not_work_in_place_on_what_is_handed_on() {
    let in_place = |before: &str, after: &str| {
        let body = DOUBLE.replace("%i", "%c0");
        works_in_place("64xf32", "64xf32", &format!("{before}\n  {body}\n  {after}"))
    };
    let read = "%u = vector.transfer_read %r[%c0], %pad {in_bounds = [true]} : !a, vector<64xf32>";
    assert!(in_place("", ""));
    assert!(in_place("%n = memref.dim %a, %c0 : !a", ""));
    let chosen = "%r = scf.if %p -> (!a) {\n  scf.yield %a : !a\n  } else {\n  scf.yield %o : !o\n  }";
    assert!(!in_place(chosen, read));
    let carried = "%r = scf.for %k = %c0 to %c2 step %c1 iter_args(%t = %a) -> (!a) {\n  scf.yield %t : !a\n  }";
    assert!(!in_place(carried, read));
    let swapped = "%both:2 = scf.for %k = %c0 to %c2 step %c1 iter_args(%s = %a, %t = %o) -> (!a, !a) {\n  \
                   scf.yield %t, %s : !a, !a\n  }";
    assert!(!in_place(swapped, &read.replace("%r", "%both#1")));
    // More slices than are followed.
    let part = "memref<64xf32, strided<[1]>, #hivm.address_space<ub>>";
    let mut chain = format!("%s0 = memref.subview %a[0] [64] [1] : !a to {part}\n");
    for at in 0..1_200 {
        chain += &format!("%s{} = memref.subview %s{at}[0] [64] [1] : {part} to {part}\n", at + 1);
    }
    let read = read.replace("%r", "%s1200").replace("!a", part);
    assert!(!in_place(&chain, &read));
}

/// Operands that may be one buffer: what is read as one argument may be written as the other.
#[test]
fn vector_functions_do_not_work_in_place_on_operands_that_may_be_one_buffer() {
    let in_place = |operand: &str, first: &str, second: &str| {
        calls_in_place(&format!(
            "!a = memref<64xf32, #hivm.address_space<ub>>
func.func @vf(%a: !a, %b: !a, %o: !a) attributes {{hivm.vector_function}} {{
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%c0], %pad {{in_bounds = [true]}} : !a, vector<64xf32>
  vector.transfer_write %v, %o[%c0] {{in_bounds = [true]}} : vector<64xf32>, !a
  %w = vector.transfer_read %b[%c0], %pad {{in_bounds = [true]}} : !a, vector<64xf32>
  return
}}
func.func @k(%p: i1, %x: !a) {{
  %m = memref.alloc() : !a
  %n = memref.alloc() : !a
  %o = memref.alloc() : !a
  {operand}
  func.call @vf({first}, {second}, %o) {{hivm.vector_function}} : (!a, !a, !a) -> ()
  return
}}
"
        ))
    };
    let selected = "%s = arith.select %p, %m, %n : !a";
    let chosen = "%s = scf.if %p -> (!a) {\n  scf.yield %m : !a\n  } else {\n  scf.yield %n : !a\n  }";
    assert!(in_place("", "%m", "%n"));
    assert!(in_place("", "%m", "%x"), "an argument of the kernel is no allocation of it");
    assert!(!in_place("", "%m", "%m"));
    assert!(!in_place(selected, "%s", "%s"));
    assert!(!in_place(selected, "%m", "%s"));
    assert!(!in_place(chosen, "%n", "%s"));
}

/// What a parallel loop does to a tensor that its iterations share, it does to the buffer behind the tensor.
#[test]
fn shared_outputs_of_a_parallel_loop_are_the_buffers_behind_them() {
    let source = "!u = memref<64xf32, #hivm.address_space<ub>>
!g = memref<64xf32, #hivm.address_space<gm>>
func.func @k(%in: !g, %out: !g) {
  %shared = memref.alloc() : !u
  hivm.hir.load ins(%in : !g) outs(%shared : !u)
  %t = bufferization.to_tensor %shared restrict writable : !u to tensor<64xf32>
  %r = scf.forall (%i) in (2) shared_outs(%o = %t) -> (tensor<64xf32>) {
    %inside = memref.alloc() : !u
    hivm.hir.load ins(%in : !g) outs(%inside : !u)
    hivm.hir.store ins(%inside : !u) outs(%out : !g)
    hivm.hir.store ins(%o : tensor<64xf32>) outs(%out : !g)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %o into %o[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
    }
  }
  return
}
";
    let document = Document::read(source, Dialects::builtin()).unwrap();
    for lowered in [memplan_mlir::lower_kernels(&document), memplan_mlir::lower_workspaces(&document)] {
        let program = text::print(&lowered.unwrap_or_else(|error| panic!("{error}")).program);
        assert!(program.contains("(%o = opaque %t)"), "{program}");
        let insertion = program.lines().find(|line| line.contains("parallel_insert_slice")).unwrap();
        assert!(insertion.contains("update %o"), "{insertion}");
    }
}

/// The bound of the one allocation in the body of a function with these lines, which compute its size `%e`. The
/// function has arguments `%x: i8` and `%n: index`.
fn bound_of(lines: &str) -> Option<u64> {
    let source = format!(
        "func.func @f(%x: i8, %n: index, %m: memref<?xi8>) {{\n  %i1 = arith.constant 1 : index\n  \
         %i5 = arith.constant 5 : index\n  %i8 = arith.constant 8 : index\n  %i100 = arith.constant 100 : index\n  \
         %b0 = arith.constant 0 : i8\n  %b1 = arith.constant 1 : i8\n  %b5 = arith.constant 5 : i8\n  \
         %b100 = arith.constant 100 : i8\n  {lines}\n  %a = memref.alloc(%e) : memref<?xi8, #hivm.address_space<ub>>\n  \
         return\n}}\n"
    );
    let program = lowered(lines, &source).program;
    program.sites().iter().next().unwrap().size.upper_bound().map(|bytes| bytes.0)
}

/// What an unsigned op gives for a number that may be negative is no small number.
#[test]
fn an_unsigned_op_needs_a_number_that_is_never_negative() {
    let divided = |op: &str, less: &str| {
        bound_of(&format!(
            "%s = arith.minsi %n, %i8 : index\n  %k = arith.maxsi %s, %{less} : index\n  %l = arith.subi %k, %i1 : index
             %q = {op} %l, %i8 : index\n  %q1 = arith.addi %q, %i1 : index\n  %e = arith.minsi %q1, %i100 : index"
        ))
    };
    // `max(…, n)` may be anything, so only the last minimum bounds the size.
    for (op, most) in [("arith.divui", 1), ("arith.ceildivui", 2), ("arith.shrui", 1)] {
        assert_eq!((divided(op, "i1"), divided(op, "s")), (Some(most), Some(100)), "{op}");
    }
}

/// 100 + 100 is -56 as an `i8`, and -56 is 200 as an unsigned number.
#[test]
fn narrow_numbers_wrap_around() {
    let to_index = "%e = arith.index_castui %s : i8 to index";
    for lines in [
        "%s = arith.minsi %x, %b5 : i8",
        // What a cast to fewer bits leaves may be negative.
        "%t = index.castu %n : index to i8\n  %s = arith.minsi %t, %b100 : i8",
        "%z = arith.constant 0 : index\n  %d = memref.dim %m, %z : memref<?xi8>
         %t = arith.index_cast %d : index to i8\n  %s = arith.minsi %t, %b100 : i8",
        // Is -56.
        "%t = arith.constant 200 : i8\n  %s = arith.minsi %t, %b100 : i8",
        "%t = \"arith.constant\"() <{value = 200 : i8}> : () -> i8\n  %s = arith.minsi %t, %b100 : i8",
        "%t = arith.addi %b100, %b100 : i8\n  %s = arith.minsi %t, %b100 : i8",
        "%t = arith.muli %b100, %b5 : i8\n  %s = arith.minsi %t, %b100 : i8",
        "%t = arith.shli %b100, %b1 : i8\n  %s = arith.minsi %t, %b100 : i8",
    ] {
        assert_eq!(bound_of(&format!("{lines}\n  {to_index}")), None, "{lines}");
    }
    for lines in [
        // A number that is far below 0 turns into a large one.
        "%s = arith.minsi %n, %i5 : index\n  %t = arith.index_cast %s : index to i8
         %e = arith.index_cast %t : i8 to index",
        "%s = arith.minsi %x, %b5 : i8\n  %t = arith.addi %s, %s : i8\n  %e = arith.index_cast %t : i8 to index",
        "%s = arith.minsi %x, %b5 : i8\n  %t = arith.subi %s, %b1 : i8\n  %e = arith.index_cast %t : i8 to index",
        "%s = arith.minsi %x, %b5 : i8\n  %t = arith.shli %s, %b1 : i8\n  %e = arith.index_cast %t : i8 to index",
    ] {
        assert_eq!(bound_of(lines), None, "{lines}");
    }
    // Where nothing can wrap, there is a bound.
    for (lines, most) in [
        ("%s = arith.minsi %x, %b5 : i8\n  %t = arith.addi %s, %b1 : i8\n  %e = arith.index_cast %t : i8 to index", 6),
        (
            "%s = arith.minui %x, %b5 : i8\n  %t = arith.muli %s, %b5 : i8\n  %e = arith.index_castui %t : i8 to index",
            25,
        ),
        (
            "%s = arith.minsi %x, %b5 : i8\n  %t = arith.maxsi %s, %b0 : i8\n  %e = arith.index_castui %t : i8 to index",
            5,
        ),
        ("%s = arith.minsi %n, %i5 : index\n  %e = arith.addi %s, %s : index", 10),
        (
            "%s = arith.extui %x : i8 to i32\n  %c = arith.constant 64 : i32\n  %t = arith.minsi %s, %c : i32
          %e = arith.index_castui %t : i32 to index",
            64,
        ),
    ] {
        assert_eq!(bound_of(lines), Some(most), "{lines}");
    }
}

/// To `scf.for unsigned` the bound -56 is 200.
#[test]
fn the_numbers_of_an_unsigned_loop_are_not_read_as_signed() {
    let trips = |word: &str| {
        shows(&format!(
            "func.func @f(%a: memref<16xf32>, %f: f32) {{\n  %c0 = arith.constant -56 : i8\n  \
             %c1 = arith.constant 1 : i8\n  %c5 = arith.constant 5 : i8\n  scf.for {word} %i = %c0 to %c5 step %c1 : i8 {{
             linalg.fill ins(%f : f32) outs(%a : memref<16xf32>)\n  }}\n  return\n}}\n"
        ))
    };
    assert!(trips("").contains("loop 61 "), "{}", trips(""));
    assert!(!trips("unsigned").contains("loop 61 "), "{}", trips("unsigned"));
    let generic = "func.func @f(%a: memref<16xf32>, %f: f32) {
        %c0 = arith.constant -56 : i8\n  %c1 = arith.constant 1 : i8\n  %c5 = arith.constant 5 : i8
        \"scf.for\"(%c0, %c5, %c1) <{unsignedCmp}> ({
        ^bb0(%i: i8):
          linalg.fill ins(%f : f32) outs(%a : memref<16xf32>)
          \"scf.yield\"() : () -> ()
        }) : (i8, i8, i8) -> ()
        return\n}\n";
    assert!(shows(&generic.replace("<{unsignedCmp}>", "")).contains("loop 61 "));
    assert!(!shows(generic).contains("loop 61 "));
    // Its index is no size: neither bound is read as a signed number.
    let size = |word: &str| {
        bound_of(&format!(
            "%s = arith.minsi %x, %b5 : i8\n  %q = scf.for {word} %i = %b0 to %s step %b1 iter_args(%w = %i5) -> (index) : i8 {{
             %y = arith.index_castui %i : i8 to index\n  scf.yield %y : index\n  }}\n  %e = arith.minsi %q, %i100 : index"
        ))
    };
    assert_eq!((size(""), size("unsigned")), (Some(5), Some(100)));
}

/// Other attributes of the op may be maps, too.
#[test]
fn the_map_of_an_affine_op_is_its_own() {
    for op in [
        "affine.min #map(%n) {acme.m = affine_map<() -> (1)>}",
        "affine.min affine_map<(d0) -> (d0, 256)>(%n) {acme.m = affine_map<() -> (1)>}",
        "\"affine.min\"(%n) {acme.m = affine_map<() -> (1)>, map = affine_map<(d0) -> (d0, 256)>} : (index) -> index",
        "\"affine.min\"(%n) <{map = #map}> {acme.m = affine_map<() -> (1)>} : (index) -> index",
    ] {
        let source = format!(
            "#map = affine_map<(d0) -> (d0, 256)>\nfunc.func @f(%n: index) {{\n  %e = {op}\n  \
             %a = memref.alloc(%e) : memref<?xi8>\n  return\n}}\n"
        );
        let program = lowered(op, &source).program;
        let bound = program.sites().iter().next().unwrap().size.upper_bound();
        assert_eq!(bound.map(|bytes| bytes.0), Some(256), "{op}");
    }
}

/// A text of the generic form that does not say how many outputs an op has.
#[test]
fn without_segments_every_operand_of_a_generic_may_change() {
    let lines = |segments: &str, lines: &[&str]| {
        let op = format!(
            "\"linalg.generic\"(%a, %b, %b2) ({{\n  ^bb0(%i: f32, %q: f32, %r: f32):
             \"linalg.yield\"(%i, %f) : (f32, f32) -> ()\n  }}) {{indexing_maps = [#map, #map, #map],
             iterator_types = [#linalg.iterator_type<parallel>]{segments}}}
             : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()"
        );
        let source = format!(
            "#map = affine_map<(d0) -> (d0)>\nfunc.func @f(%a: memref<16xf32>, %b: memref<16xf32>, %f: f32) {{\n  \
             %b2 = memref.alloc() : memref<16xf32>\n  {op}\n  return\n}}\n"
        );
        whole(&source, lines);
    };
    lines("", &["linalg.generic  update %a, update %b, update %b2, loop 0.. {"]);
    for segments in [
        ", operandSegmentSizes = array<i32: 1, 2>",
        ", operand_segment_sizes = array<i32: 1, 2>",
        ", operand_segment_sizes = dense<[1, 2]> : vector<2xi32>",
    ] {
        let expected =
            "linalg.generic  read %a, write %b, write %b2, overlay %b over %a, overlay %b2 over %a, loop 0.. {";
        lines(segments, &[expected]);
    }
}

/// A stream is told by its place, whatever its type is; and an argument of the kernel is no stream.
#[test]
fn a_stream_may_have_any_type() {
    let launch = "@k::@f blocks in (%n, %n, %n) threads in (%n, %n, %n)";
    for ty in ["!llvm.ptr", "i64", "index"] {
        let source = format!(
            "gpu.module @k {{ gpu.func @f(%a: memref<16xf32>) kernel {{ gpu.return }} }}
             func.func @start(%s: {ty}, %a: memref<16xf32>, %n: index) {{
               gpu.launch_func <%s : {ty}> {launch} args(%a : memref<16xf32>)
               return
             }}
             func.func @g(%s: {ty}, %a: memref<16xf32>, %b: memref<16xf32>, %n: index) {{
               gpu.launch_func {launch} args(%a : memref<16xf32>, %s : {ty})
               func.call @start(%s, %b, %n) : ({ty}, memref<16xf32>, index) -> ()
               return
             }}"
        );
        let (updates, escapes) = ("gpu.launch_func  update %a", "gpu.launch_func  escape %a");
        whole(&source, &[escapes, updates, "func.call  update %b, escape %b"]);
    }
    // The generic form: the last segment says whether there is a stream.
    for (last, line) in [(1, "gpu.launch_func  escape %a"), (0, "gpu.launch_func  update %a")] {
        let source = format!(
            "func.func @g(%s: i64, %a: memref<16xf32>, %n: index) {{
               \"gpu.launch_func\"(%n, %n, %n, %n, %n, %n, %a, %s) <{{kernel = @k::@f,
                 operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, {kernel}, {last}>}}>
                 : (index, index, index, index, index, index, memref<16xf32>, i64) -> ()
               return
             }}",
            kernel = 2 - last,
        );
        whole(&source, &[line]);
    }
}

/// Two rounds of the outer loop come to one element: 0 + 8 + 1 and 1 + 8 + 0, for example.
#[test]
fn vector_functions_do_not_work_in_place_if_slices_of_slices_meet() {
    let part = "memref<64xf32, strided<[1], offset: ?>, #hivm.address_space<ub>>";
    let small = "memref<8xf32, strided<[1], offset: ?>, #hivm.address_space<ub>>";
    let body = format!(
        "%c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {{
  scf.for %j = %c0 to %c64 step %c8 {{
    %s1 = memref.subview %a[%i] [64] [1] : !a to {part}
    %d1 = memref.subview %o[%i] [64] [1] : !o to {part}
    %s2 = memref.subview %s1[%j] [8] [1] : {part} to {small}
    %d2 = memref.subview %d1[%j] [8] [1] : {part} to {small}
    %v = vector.transfer_read %s2[%i], %pad {{in_bounds = [true]}} : {small}, vector<1xf32>
    %w = arith.addf %v, %v : vector<1xf32>
    vector.transfer_write %w, %d2[%i] {{in_bounds = [true]}} : vector<1xf32>, {small}
  }}
  }}"
    );
    assert!(!works_in_place("128xf32", "128xf32", &body));
}

/// A slice of a negative size is a fault of the text, and no reason to panic.
#[test]
fn vector_functions_may_have_slices_of_negative_size() {
    let part = "memref<64xf32, strided<[1], offset: ?>, #hivm.address_space<ub>>";
    for size in ["-9223372036854775808", "-1"] {
        let body = format!(
            "scf.for %i = %c0 to %c64 step %c1 {{
    %s1 = memref.subview %a[%i] [{size}] [1] : !a to {part}
    %d1 = memref.subview %o[%i] [{size}] [1] : !o to {part}
    %v = vector.transfer_read %s1[%c0], %pad {{in_bounds = [true]}} : {part}, vector<64xf32>
    vector.transfer_write %v, %d1[%c0] {{in_bounds = [true]}} : vector<64xf32>, {part}
  }}"
        );
        assert!(!works_in_place("128xf32", "128xf32", &body), "{size}");
    }
}

/// A `>` too many does not belong to the alias, and to nothing else.
#[test]
fn an_alias_ends_where_its_brackets_are_closed() {
    for text in ["!a = memref<128xf32, #hivm.address_space<ub>>>\n", "#m = affine_map<(d0) -> (d0)>)\n", "!a = i32 ]\n"]
    {
        let source = format!("{text}func.func @f() {{\n  return\n}}\n");
        let error = Document::read(&source, Dialects::builtin()).unwrap_err().to_string();
        assert!(error.contains("the end of the alias"), "{text}: {error}");
    }
}

/// Tasks end behind the last op of the region around them. A terminator touches no memory, so they are over before it.
/// A faulty text leaves it out; then the last op touches memory while they run.
#[test]
fn tasks_end_before_a_terminator_only() {
    let program = |end: &str| {
        shows(&format!(
            "func.func @f(%a: memref<16xf32>, %b: memref<16xf32>) {{\n  omp.taskgroup {{\n  omp.task {{
             memref.copy %a, %b : memref<16xf32> to memref<16xf32>\n  omp.terminator\n  }}
             memref.copy %b, %a : memref<16xf32> to memref<16xf32>\n  {end}\n  }}\n  return\n}}\n"
        ))
    };
    assert!(program("omp.terminator").contains("await"), "{}", program("omp.terminator"));
    assert!(!program("").contains("await"), "{}", program(""));
}

/// `omp.cancel` jumps past the op that waits for a task, so the task may still read `%a` when `%b` is written.
#[test]
fn a_cancelled_construct_does_not_wait_for_its_tasks() {
    let program = |cancels: &str| {
        shows(&format!(
            "func.func @f(%a: memref<16xf32>, %b: memref<16xf32>) {{\n  omp.task {{
             memref.copy %a, %b : memref<16xf32> to memref<16xf32>\n  omp.terminator\n  }}
             {cancels}\n  omp.taskwait\n  return\n}}\n"
        ))
    };
    assert!(program("").contains("await"), "{}", program(""));
    for cancels in [
        "omp.cancel cancellation_construct_type(taskgroup)",
        "omp.cancellation_point cancellation_construct_type(taskgroup)",
    ] {
        let text = program(cancels);
        assert!(!text.contains("await") && text.contains("unknown"), "{text}");
    }
}
