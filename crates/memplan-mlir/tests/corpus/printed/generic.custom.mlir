module {
  "acme.top"() : () -> ()
  %0:2 = "acme.pair"() {a = 1 : i64, b = "text // not a comment", c = #acme.attr<[1, 2], "x>">, d} : () -> (i32, !acme.type<i32, "q">)
  "acme.use"(%0#1, %0#0) : (!acme.type<i32, "q">, i32) -> ()
}

// -----
module {
  func.func @graph() {
    "acme.graph"() ({
      %0 = "acme.one"(%1) : (i32) -> i32
      %1 = "acme.two"(%0) : (i32) -> i32
    }) : () -> ()
    return
  }
}

// -----
#map = affine_map<(d0, d1)[s0] -> (d0 + d1 * s0)>
module {
  func.func @regions(%arg0: i1) {
    "acme.three"() ({
      "acme.leaf"() : () -> ()
    }, {
    }, {
    ^bb0(%arg1: i32, %arg2: memref<4xf32>):
      "acme.branch"(%arg1)[^bb1, ^bb1] {weights = [1, 2]} : (i32) -> ()
    ^bb1:  // 2 preds: ^bb0, ^bb0
      "acme.end"(%arg2) : (memref<4xf32>) -> ()
    }) {trailing = #map} : () -> ()
    return
  }
}

// -----
module {
  func.func @locations(%arg0: i32) -> i32 {
    %0 = arith.addi %arg0, %arg0 : i32
    "acme.op"() : () -> ()
    return %0 : i32
  }
}

// -----
module {
  func.func @function_types() {
    %0 = "acme.fn"() : () -> ((i32) -> i32)
    %1:2 = "acme.fns"(%0) : ((i32) -> i32) -> ((i32) -> (), () -> (i32, i32))
    return
  }
}

// -----
#map = affine_map<(d0, d1) -> (d0 floordiv 4, d1 mod 4)>
#set = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>
module {
  "acme.attributes"() {array = array<i32: 1, -2>, bool = true, dense = dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>, dictionary = {inner = {deep}}, float = -1.500000e-03 : f64, fn = (i32, f32) -> (), hex = 0x7FC00000 : f32, map = #map, neg = -7 : i8, none = array<i64>, opaque = #acme<"anything at all">, set = #set, string = "q\22\\\0A", sym = @a::@b::@"c d", ty = memref<4x?xf32, strided<[?, 1]>, 3>} : () -> ()
}

// -----
#map = affine_map<(d0, d1)[s0] -> (d0 * 4 + d1 + s0)>
module {
  func.func @spaces(%arg0: memref<4xf32, #gpu.address_space<private>>, %arg1: memref<4xf32, "named">, %arg2: memref<4xf32, 1 : i32>, %arg3: memref<*xf32, 2>, %arg4: memref<?x4xf32, #map, #gpu.address_space<workgroup>>) {
    return
  }
}

// -----
module {
  func.func @numbers(%arg0: i1, %arg1: si8, %arg2: ui16, %arg3: i1024, %arg4: f8E4M3FN, %arg5: f8E5M2, %arg6: tf32, %arg7: f80, %arg8: f128, %arg9: complex<f64>, %arg10: vector<2x[4]xi8>, %arg11: vector<f32>, %arg12: f4E2M1FN, %arg13: f16) {
    return
  }
}

