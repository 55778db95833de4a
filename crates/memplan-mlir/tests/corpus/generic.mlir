"acme.top"() : () -> ()
%0:2 = "acme.pair"() {a = 1 : i64, b = "text // not a comment", c = #acme.attr<[1, 2], "x>">, d} : () -> (i32, !acme.type<i32, "q">)
"acme.use"(%0#1, %0#0) : (!acme.type<i32, "q">, i32) -> ()
// -----
func.func @graph() {
  "acme.graph"() ({
    %a = "acme.one"(%b) : (i32) -> i32
    %b = "acme.two"(%a) : (i32) -> i32
  }) : () -> ()
  return
}
// -----
func.func @regions(%c: i1) {
  "acme.three"() ({
    "acme.leaf"() : () -> ()
  }, {
  }, {
  ^bb0(%x: i32, %y: memref<4xf32>):
    "acme.branch"(%x)[^bb1, ^bb1] {weights = [1, 2]} : (i32) -> ()
  ^bb1:
    "acme.end"(%y) : (memref<4xf32>) -> ()
  }) {trailing = affine_map<(d0, d1)[s0] -> (d0 + d1 * s0)>} : () -> ()
  return
}
// -----
#loc = loc("file.mlir":1:2)
#loc1 = loc(callsite("f" at #loc))
#loc2 = loc(fused<"tag">["a", #loc1])
func.func @locations(%a: i32 loc("arg")) -> i32 {
  %0 = arith.addi %a, %a : i32 loc(#loc2)
  "acme.op"() : () -> () loc(fused[#loc, unknown])
  return %0 : i32 loc(unknown)
} loc(#loc1)
// -----
func.func @function_types() {
  %0 = "acme.fn"() : () -> ((i32) -> i32)
  %1:2 = "acme.fns"(%0) : ((i32) -> i32) -> ((i32) -> (), () -> (i32, i32))
  return
}
// -----
"acme.attributes"() {
  array = array<i32: 1, -2>, none = array<i64>, dense = dense<[1.0, -2.0]> : tensor<2xf32>,
  dictionary = {inner = {deep = unit}}, map = affine_map<(d0, d1) -> (d0 floordiv 4, d1 mod 4)>,
  set = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, opaque = #acme<"anything at all">, ty = memref<4x?xf32, strided<[?, 1]>, 3>,
  sym = @a::@b::@"c d", float = -1.5e-3 : f64, hex = 0x7FC00000 : f32, bool = true, string = "q\"\\\n" , fn = (i32, f32) -> (), neg = -7 : i8
} : () -> ()
// -----
func.func @spaces(%a: memref<4xf32, #gpu.address_space<private>>, %b: memref<4xf32, "named">, %c: memref<4xf32, 1 : i32>, %d: memref<*xf32, 2>, %e: memref<?x4xf32, affine_map<(d0, d1)[s0] -> (d0 * 4 + d1 + s0)>, #gpu.address_space<workgroup>>) {
  return
}
// -----
func.func @numbers(%a: i1, %b: si8, %c: ui16, %d: i1024, %e: f8E4M3FN, %f: f8E5M2, %g: tf32, %h: f80, %i: f128, %j: complex<f64>, %k: vector<2x[4]xi8>, %l: vector<f32>, %m: f4E2M1FN, %n: f16) {
  return
}
