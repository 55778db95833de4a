"builtin.module"() ({
  "func.func"() <{function_type = (i1) -> (), sym_name = "one_line"}> ({
  ^bb0(%arg0: i1):
    "scf.if"(%arg0) ({
      "a.b"() : () -> ()
      "scf.yield"() : () -> ()
    }, {
      "a.c"() : () -> ()
      "scf.yield"() : () -> ()
    }) : (i1) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "two_on_a_line"}> ({
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 1 : index}> : () -> index
    %2 = "arith.addi"(%0, %1) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
    "a.b"(%2) : (index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32) -> (), sym_name = "comments"}> ({
  ^bb0(%arg0: i32):
    %0 = "arith.addi"(%arg0, %arg0) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4x4xf32>, memref<4x4xf32>) -> memref<4x4xf32>, sym_name = "broken_lines"}> ({
  ^bb0(%arg0: memref<4x4xf32>, %arg1: memref<4x4xf32>):
    "linalg.matmul"(%arg0, %arg1, %arg0) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg2: f32, %arg3: f32, %arg4: f32):
      %2 = "arith.mulf"(%arg2, %arg3) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %3 = "arith.addf"(%arg4, %2) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%3) : (f32) -> ()
    }) : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
    %0 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4x4xf32>
    %1:2 = "acme.pair"(%arg0, %arg1) : (memref<4x4xf32>, memref<4x4xf32>) -> (i32, i32)
    "func.return"(%0) : (memref<4x4xf32>) -> ()
  }) {acme.a, acme.b = 1 : i64} : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, i32, i32, i32) -> i32, sym_name = "strange_names"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: i32, %arg3: i32, %arg4: i32):
    %0 = "arith.addi"(%arg0, %arg1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %1 = "arith.addi"(%arg2, %arg3) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %2 = "arith.addi"(%arg4, %1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    "func.return"(%2) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i1) -> (), sym_name = "same_names_in_siblings"}> ({
  ^bb0(%arg0: i1):
    "scf.if"(%arg0) ({
      %2 = "arith.constant"() <{value = 1 : i32}> : () -> i32
      "acme.use"(%2) : (i32) -> ()
      "scf.yield"() : () -> ()
    }, {
      %1 = "arith.constant"() <{value = 2 : i32}> : () -> i32
      "acme.use"(%1) : (i32) -> ()
      "scf.yield"() : () -> ()
    }) : (i1) -> ()
    %0 = "arith.constant"() <{value = 3 : i32}> : () -> i32
    "acme.use"(%0) : (i32) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32) -> (), sym_name = "isolated"}> ({
  ^bb0(%arg0: i32):
    "builtin.module"() ({
      "func.func"() <{function_type = (f32) -> (), sym_name = "inner"}> ({
      ^bb0(%arg1: f32):
        "acme.use"(%arg1) : (f32) -> ()
        "func.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
    "acme.use"(%arg0) : (i32) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4xi32>, memref<?xf32, strided<[?], offset: ?>>, memref<?xf32, strided<[?], offset: ?>, #gpu.address_space<workgroup>>) -> i32, sym_name = "nested_aliases"}> ({
  ^bb0(%arg0: memref<4xi32>, %arg1: memref<?xf32, strided<[?], offset: ?>>, %arg2: memref<?xf32, strided<[?], offset: ?>, #gpu.address_space<workgroup>>):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "memref.load"(%arg0, %0) : (memref<4xi32>, index) -> i32
    "func.return"(%1) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<8xf32>, memref<8xf32>) -> memref<8xf32>, sym_name = "loops_in_loops"}> ({
  ^bb0(%arg0: index, %arg1: memref<8xf32>, %arg2: memref<8xf32>):
    %0 = "scf.for"(%arg0, %arg0, %arg0, %arg1) ({
    ^bb0(%arg3: index, %arg4: memref<8xf32>):
      %1:2 = "scf.for"(%arg0, %arg0, %arg0, %arg4, %arg2) ({
      ^bb0(%arg5: index, %arg6: memref<8xf32>, %arg7: memref<8xf32>):
        %2 = "scf.while"(%arg6) ({
        ^bb0(%arg9: memref<8xf32>):
          %3 = "acme.test"(%arg9) : (memref<8xf32>) -> i1
          "scf.condition"(%3, %arg9) : (i1, memref<8xf32>) -> ()
        }, {
        ^bb0(%arg8: memref<8xf32>):
          "scf.yield"(%arg7) : (memref<8xf32>) -> ()
        }) : (memref<8xf32>) -> memref<8xf32>
        "scf.yield"(%2, %arg6) : (memref<8xf32>, memref<8xf32>) -> ()
      }) : (index, index, index, memref<8xf32>, memref<8xf32>) -> (memref<8xf32>, memref<8xf32>)
      "scf.yield"(%1#1) : (memref<8xf32>) -> ()
    }) : (index, index, index, memref<8xf32>) -> memref<8xf32>
    "func.return"(%0) : (memref<8xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i1, memref<4xf32>) -> (), sym_name = "branches_and_regions"}> ({
  ^bb0(%arg0: i1, %arg1: memref<4xf32>):
    %0 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf32>
    "cf.br"(%0, %arg0)[^bb1] : (memref<4xf32>, i1) -> ()
  ^bb1(%1: memref<4xf32>, %2: i1):  // 2 preds: ^bb0, ^bb1
    "scf.if"(%2) ({
      "acme.use"(%1) : (memref<4xf32>) -> ()
      "scf.yield"() : () -> ()
    }, {
    }) : (i1) -> ()
    "cf.cond_br"(%2, %arg1, %arg0)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 2, 0>}> : (i1, memref<4xf32>, i1) -> ()
  ^bb2:  // pred: ^bb1
    "memref.dealloc"(%0) : (memref<4xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "dense_strings"}> ({
    %0 = "arith.constant"() <{value = dense<["a", "b, }\22", "// c"]> : tensor<3x!acme.string>}> : () -> tensor<3x!acme.string>
    %1 = "acme.attr"() {s = "%x = \22acme\22() {", t = "\\\22"} : () -> i32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1)[s0] -> (d0, d1 + s0 floordiv 2)>
#map1 = affine_map<(d0, d1) -> (-d0 + d1 * 2, 3)>
#map2 = affine_map<(d0) -> (0, d0 ceildiv 3)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0)[s0] -> (d0 + 4, s0)>
#map5 = affine_map<() -> (0)>
#map6 = affine_map<() -> (8)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<8x8xf32>, index) -> (), sym_name = "subscripts"}> ({
  ^bb0(%arg0: memref<8x8xf32>, %arg1: index):
    "affine.for"() <{lowerBoundMap = #map5, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = #map6}> ({
    ^bb0(%arg2: index):
      "affine.for"(%arg2, %arg2, %arg1) <{lowerBoundMap = #map3, operandSegmentSizes = array<i32: 1, 2, 0>, step = 2 : index, upperBoundMap = #map4}> ({
      ^bb0(%arg3: index):
        %0 = "affine.load"(%arg0, %arg3, %arg2, %arg1) <{map = #map}> : (memref<8x8xf32>, index, index, index) -> f32
        "affine.store"(%0, %arg0, %arg2, %arg3) <{map = #map1}> : (f32, memref<8x8xf32>, index, index) -> ()
        %1 = "affine.load"(%arg0, %arg2) <{map = #map2}> {acme.tag} : (memref<8x8xf32>, index) -> f32
        "affine.yield"() : () -> ()
      }) : (index, index, index) -> ()
      "affine.yield"() : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<8xf32>) -> (), sym_name = "gpu_clusters"}> ({
  ^bb0(%arg0: index, %arg1: memref<8xf32>):
    "gpu.launch"(%arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0) <{operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0>}> ({
    ^bb0(%arg2: index, %arg3: index, %arg4: index, %arg5: index, %arg6: index, %arg7: index, %arg8: index, %arg9: index, %arg10: index, %arg11: index, %arg12: index, %arg13: index, %arg14: index, %arg15: index, %arg16: index, %arg17: index, %arg18: index, %arg19: index):
      %0 = "memref.load"(%arg1, %arg14) : (memref<8xf32>, index) -> f32
      %1 = "memref.load"(%arg1, %arg8) : (memref<8xf32>, index) -> f32
      "gpu.terminator"() : () -> ()
    }) {workgroup_attributions = 0 : i64} : (index, index, index, index, index, index, index, index, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<8xf32>, f32, index, memref<*xf32>) -> (), sym_name = "more_memref"}> ({
  ^bb0(%arg0: memref<8xf32>, %arg1: f32, %arg2: index, %arg3: memref<*xf32>):
    %0 = "memref.atomic_rmw"(%arg1, %arg0, %arg2) <{kind = 3 : i64}> : (f32, memref<8xf32>, index) -> f32
    %1 = "memref.cast"(%arg3) : (memref<*xf32>) -> memref<?xf32>
    %2 = "memref.dim"(%arg3, %arg2) : (memref<*xf32>, index) -> index
    %3 = "memref.realloc"(%arg0, %arg2) <{alignment = 8 : i64}> : (memref<8xf32>, index) -> memref<?xf32>
    %4 = "memref.subview"(%arg0, %arg2) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 4>, static_strides = array<i64: 1>}> : (memref<8xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
    %5 = "memref.reinterpret_cast"(%arg0) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 2, 4>, static_strides = array<i64: 4, 1>}> : (memref<8xf32>) -> memref<2x4xf32>
    %6 = "memref.expand_shape"(%1, %arg2) <{reassociation = [[0, 1]], static_output_shape = array<i64: -9223372036854775808, 4>}> : (memref<?xf32>, index) -> memref<?x4xf32>
    %7 = "memref.subview"(%5) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 4>, static_strides = array<i64: 1, 1>}> : (memref<2x4xf32>) -> memref<4xf32>
    "memref.copy"(%arg0, %arg0) : (memref<8xf32>, memref<8xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1) -> (0, d1)>
"builtin.module"() ({
  "func.func"() <{function_type = (vector<4xf32>, memref<?x?xf32>, index, vector<[4]xi32>, vector<4xi1>, vector<1xf32>, vector<f32>) -> (), sym_name = "more_vector"}> ({
  ^bb0(%arg0: vector<4xf32>, %arg1: memref<?x?xf32>, %arg2: index, %arg3: vector<[4]xi32>, %arg4: vector<4xi1>, %arg5: vector<1xf32>, %arg6: vector<f32>):
    %0 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    %1 = "vector.transfer_read"(%arg1, %arg2, %arg2, %0) <{in_bounds = [false, false], operandSegmentSizes = array<i32: 1, 2, 1, 0>, permutation_map = #map}> : (memref<?x?xf32>, index, index, f32) -> vector<4x4xf32>
    %2 = "vector.extract"(%1, %arg2) <{static_position = array<i64: 0, -9223372036854775808>}> : (vector<4x4xf32>, index) -> f32
    %3 = "vector.extract"(%arg6) <{static_position = array<i64>}> : (vector<f32>) -> f32
    %4 = "vector.scalable.extract"(%arg3) <{pos = 0 : i64}> : (vector<[4]xi32>) -> vector<4xi32>
    %5 = "vector.broadcast"(%arg5) : (vector<1xf32>) -> vector<4xf32>
    %6 = "vector.multi_reduction"(%1, %0) <{kind = #vector.kind<mul>, reduction_dims = array<i64: 0, 1>}> : (vector<4x4xf32>, f32) -> f32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4xf32>) -> (), sym_name = "async_nested"}> ({
  ^bb0(%arg0: memref<4xf32>):
    %0 = "async.execute"() <{operandSegmentSizes = array<i32: 0, 0>}> ({
      %1 = "async.execute"() <{operandSegmentSizes = array<i32: 0, 0>}> ({
        "acme.use"(%arg0) : (memref<4xf32>) -> ()
        "async.yield"() : () -> ()
      }) : () -> !async.token
      "async.await"(%1) : (!async.token) -> ()
      "async.yield"() : () -> ()
    }) : () -> !async.token
    "async.await"(%0) : (!async.token) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4x!quant.uniform<i8:f32, 2.000000e+00:10>>, tensor<4x!quant.uniform<u8<1:255>:f32:0, {1.000000e+00:1,2.000000e+00:2}>>) -> (), sym_name = "quantized"}> ({
  ^bb0(%arg0: tensor<4x!quant.uniform<i8:f32, 2.000000e+00:10>>, %arg1: tensor<4x!quant.uniform<u8<1:255>:f32:0, {1.000000e+00:1,2.000000e+00:2}>>):
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "gpu.module"() <{sym_name = "k"}> ({
    "gpu.func"() <{function_type = (memref<8xf32>) -> ()}> ({
    ^bb0(%arg4: memref<8xf32>):
      "gpu.return"() : () -> ()
    }) {gpu.kernel, sym_name = "f", workgroup_attributions = 0 : i64} : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (memref<8xf32>, index, index, i32) -> (), sym_name = "host"}> ({
  ^bb0(%arg0: memref<8xf32>, %arg1: index, %arg2: index, %arg3: i32):
    "gpu.launch_func"(%arg1, %arg1, %arg1, %arg1, %arg1, %arg1, %arg2, %arg2, %arg2, %arg3, %arg0) <{kernel = @k::@f, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0>}> : (index, index, index, index, index, index, index, index, index, i32, memref<8xf32>) -> ()
    %0 = "gpu.wait"() : () -> !gpu.async.token
    %1 = "gpu.launch_func"(%0, %arg1, %arg1, %arg1, %arg1, %arg1, %arg1, %arg2, %arg2, %arg2, %arg0) <{kernel = @k::@f, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0>}> : (!gpu.async.token, index, index, index, index, index, index, index, index, index, memref<8xf32>) -> !gpu.async.token
    "func.return"() : () -> ()
  }) : () -> ()
}) {gpu.container_module} : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, f32) -> (), sym_name = "returns_in_loops"}> ({
  ^bb0(%arg0: index, %arg1: f32):
    "scf.for"(%arg0, %arg0, %arg0) ({
    ^bb0(%arg2: index):
      %0 = "scf.execute_region"() ({
        "scf.yield"(%arg1) : (f32) -> ()
      }) : () -> f32
      "scf.execute_region"() <{no_inline}> ({
        "scf.yield"() : () -> ()
      }) : () -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4x4xf32>, index, f32, tensor<8x8xf32>, tensor<2x1xindex>) -> (), sym_name = "tensor_more"}> ({
  ^bb0(%arg0: tensor<4x4xf32>, %arg1: index, %arg2: f32, %arg3: tensor<8x8xf32>, %arg4: tensor<2x1xindex>):
    %0 = "tensor.insert_slice"(%arg0, %arg3, %arg1, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>, static_offsets = array<i64: -9223372036854775808, 2>, static_sizes = array<i64: 4, 4>, static_strides = array<i64: 1, -9223372036854775808>}> : (tensor<4x4xf32>, tensor<8x8xf32>, index, index) -> tensor<8x8xf32>
    %1 = "tensor.splat"(%arg2) : (f32) -> tensor<4xf32>
    %2 = "tensor.expand_shape"(%arg0) <{reassociation = [[0, 1], [2]], static_output_shape = array<i64: 2, 2, 4>}> : (tensor<4x4xf32>) -> tensor<2x2x4xf32>
    %3 = "acme.make"() : () -> tensor<2x1x8xf32>
    %4 = "tensor.scatter"(%3, %arg3, %arg4) <{scatter_dims = array<i64: 0>, unique}> : (tensor<2x1x8xf32>, tensor<8x8xf32>, tensor<2x1xindex>) -> tensor<8x8xf32>
    %5 = "tensor.insert"(%arg2, %arg0, %arg1, %arg1) {acme.tag} : (f32, tensor<4x4xf32>, index, index) -> tensor<4x4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, memref<4xf32>) -> (), sym_name = "switch_generic"}> ({
  ^bb0(%arg0: i32, %arg1: memref<4xf32>):
    "cf.switch"(%arg0, %arg1)[^bb1] <{case_operand_segments = array<i32>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, memref<4xf32>) -> ()
  ^bb1(%0: memref<4xf32>):  // pred: ^bb0
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

