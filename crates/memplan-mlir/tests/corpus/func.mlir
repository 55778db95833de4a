func.func private @declared(memref<4xf32>, i32) -> f32
// -----
func.func @empty() { return }
// -----
func.func public @attributes(%a: i32 {acme.tag = "x, y}", acme.unit}, %b: f32 loc("here")) -> (i32 {acme.out = 1 : i64}, f32) attributes {acme.outer = [1, 2, {k = "v"}], passthrough = ["a"]} {
  return %a, %b : i32, f32
}
// -----
func.func @callee(%a: memref<4xf32>) -> memref<4xf32> { return %a : memref<4xf32> }
func.func @caller(%a: memref<4xf32>) -> memref<4xf32> {
  %0 = call @callee(%a) : (memref<4xf32>) -> memref<4xf32>
  %1 = func.call @callee(%0) {acme.hint} : (memref<4xf32>) -> memref<4xf32>
  return %1 : memref<4xf32>
}
// -----
func.func @many() -> (i32, i32, i32) {
  %0:3 = "acme.three"() : () -> (i32, i32, i32)
  return %0#2, %0#0, %0#1 : i32, i32, i32
}
func.func @use() {
  %a:3 = call @many() : () -> (i32, i32, i32)
  "acme.use"(%a#1, %a#2) : (i32, i32) -> ()
  call @many() : () -> (i32, i32, i32)
  return
}
// -----
func.func @target(%x: i32) -> i32 { return %x : i32 }
func.func @indirect(%x: i32) -> i32 {
  %f = constant @target : (i32) -> i32
  %r = call_indirect %f(%x) : (i32) -> i32
  return %r : i32
}
// -----
module @outer attributes {acme.a = 1 : i32} {
  module @inner {
    func.func @f() { return }
  }
  func.func @"strange name"() { return }
  func.func @g() {
    call @"strange name"() : () -> ()
    return
  }
}
// -----
func.func @tuple_and_function_types(%a: tuple<i32, tuple<f32, index>>, %f: (i32) -> (f32, f32), %n: none, %o: !acme.opaque<"x", [1, 2], a -> b>) {
  return
}
// -----
func.func @casts(%a: i32, %b: memref<4xf32>) -> (memref<?xf32>, i64, i64) {
  %0 = builtin.unrealized_conversion_cast %b : memref<4xf32> to memref<?xf32>
  %1:2 = builtin.unrealized_conversion_cast %a : i32 to i64, i64
  return %0, %1#0, %1#1 : memref<?xf32>, i64, i64
}
