module {
  func.func private @declared(memref<4xf32>, i32) -> f32
}

// -----
module {
  func.func @empty() {
    return
  }
}

// -----
module {
  func.func public @attributes(%arg0: i32 {acme.tag = "x, y}", acme.unit}, %arg1: f32) -> (i32 {acme.out = 1 : i64}, f32) attributes {acme.outer = [1, 2, {k = "v"}], passthrough = ["a"]} {
    return %arg0, %arg1 : i32, f32
  }
}

// -----
module {
  func.func @callee(%arg0: memref<4xf32>) -> memref<4xf32> {
    return %arg0 : memref<4xf32>
  }
  func.func @caller(%arg0: memref<4xf32>) -> memref<4xf32> {
    %0 = call @callee(%arg0) : (memref<4xf32>) -> memref<4xf32>
    %1 = call @callee(%0) {acme.hint} : (memref<4xf32>) -> memref<4xf32>
    return %1 : memref<4xf32>
  }
}

// -----
module {
  func.func @many() -> (i32, i32, i32) {
    %0:3 = "acme.three"() : () -> (i32, i32, i32)
    return %0#2, %0#0, %0#1 : i32, i32, i32
  }
  func.func @use() {
    %0:3 = call @many() : () -> (i32, i32, i32)
    "acme.use"(%0#1, %0#2) : (i32, i32) -> ()
    %1:3 = call @many() : () -> (i32, i32, i32)
    return
  }
}

// -----
module {
  func.func @target(%arg0: i32) -> i32 {
    return %arg0 : i32
  }
  func.func @indirect(%arg0: i32) -> i32 {
    %f = constant @target : (i32) -> i32
    %0 = call_indirect %f(%arg0) : (i32) -> i32
    return %0 : i32
  }
}

// -----
module @outer attributes {acme.a = 1 : i32} {
  module @inner {
    func.func @f() {
      return
    }
  }
  func.func @"strange name"() {
    return
  }
  func.func @g() {
    call @"strange name"() : () -> ()
    return
  }
}

// -----
module {
  func.func @tuple_and_function_types(%arg0: tuple<i32, tuple<f32, index>>, %arg1: (i32) -> (f32, f32), %arg2: none, %arg3: !acme.opaque<"x", [1, 2], a -> b>) {
    return
  }
}

// -----
module {
  func.func @casts(%arg0: i32, %arg1: memref<4xf32>) -> (memref<?xf32>, i64, i64) {
    %0 = builtin.unrealized_conversion_cast %arg1 : memref<4xf32> to memref<?xf32>
    %1:2 = builtin.unrealized_conversion_cast %arg0 : i32 to i64, i64
    return %0, %1#0, %1#1 : memref<?xf32>, i64, i64
  }
}

