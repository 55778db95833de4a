#map = affine_map<(d0)[s0] -> (d0 + s0)>
"builtin.module"() ({
  "func.func"() <{function_type = (index, index) -> (), sym_name = "allocations"}> ({
  ^bb0(%arg0: index, %arg1: index):
    %0 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4x8xf32>
    %1 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf32>
    %2 = "memref.alloc"(%arg0) <{operandSegmentSizes = array<i32: 1, 0>}> : (index) -> memref<?x4xf32>
    %3 = "memref.alloc"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>}> : (index, index) -> memref<?xf32, #map>
    %4 = "memref.alloca"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf32, 3>
    %5 = "memref.alloca"(%arg0, %arg1) <{alignment = 8 : i64, operandSegmentSizes = array<i32: 2, 0>}> : (index, index) -> memref<?x?xi8>
    %6 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf32, #gpu.address_space<workgroup>>
    %7 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<8x4xf32, strided<[4, 1], offset: 2>>
    %8 = "memref.realloc"(%1) : (memref<4xf32>) -> memref<8xf32>
    %9 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<f32>
    %10 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2xcomplex<f32>>
    %11 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2xvector<4xf32>>
    %12 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2xindex>
    %13 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<0x4xf32>
    "memref.dealloc"(%0) : (memref<4x8xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1) -> (d1, d0)>
#map1 = affine_map<(d0)[s0] -> (d0 * s0)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4x4xf32, #map>, index) -> memref<4x4xf32, #map>, sym_name = "aliases"}> ({
  ^bb0(%arg0: memref<4x4xf32, #map>, %arg1: index):
    %0 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4x4xf32, #map>
    "memref.copy"(%arg0, %0) : (memref<4x4xf32, #map>, memref<4x4xf32, #map>) -> ()
    %1 = "memref.alloc"(%arg1) <{operandSegmentSizes = array<i32: 0, 1>}> : (index) -> memref<4xf32, #map1, 2 : i32>
    "func.return"(%0) : (memref<4x4xf32, #map>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4x4xf32>, memref<f32>, index, index, f32) -> (), sym_name = "accesses"}> ({
  ^bb0(%arg0: memref<4x4xf32>, %arg1: memref<f32>, %arg2: index, %arg3: index, %arg4: f32):
    %0 = "memref.load"(%arg0, %arg2, %arg3) : (memref<4x4xf32>, index, index) -> f32
    %1 = "memref.load"(%arg1) : (memref<f32>) -> f32
    "memref.store"(%arg4, %arg0, %arg2, %arg3) : (f32, memref<4x4xf32>, index, index) -> ()
    "memref.store"(%arg4, %arg1) <{nontemporal = true}> : (f32, memref<f32>) -> ()
    %2 = "memref.load"(%arg0, %arg2, %arg3) <{nontemporal = true}> : (memref<4x4xf32>, index, index) -> f32
    "memref.prefetch"(%arg0, %arg2, %arg3) <{isDataCache = true, isWrite = false, localityHint = 3 : i32}> : (memref<4x4xf32>, index, index) -> ()
    %3 = "memref.atomic_rmw"(%arg4, %arg0, %arg2, %arg3) <{kind = 0 : i64}> : (f32, memref<4x4xf32>, index, index) -> f32
    %4 = "memref.generic_atomic_rmw"(%arg0, %arg2, %arg3) ({
    ^bb0(%arg5: f32):
      %5 = "arith.addf"(%arg5, %arg4) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "memref.atomic_yield"(%5) : (f32) -> ()
    }) : (memref<4x4xf32>, index, index) -> f32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1) -> (d1, d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<16x16xf32>, memref<1024xi8>, index, index) -> (), sym_name = "views"}> ({
  ^bb0(%arg0: memref<16x16xf32>, %arg1: memref<1024xi8>, %arg2: index, %arg3: index):
    %0 = "memref.subview"(%arg0, %arg2) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: 0, -9223372036854775808>, static_sizes = array<i64: 4, 4>, static_strides = array<i64: 1, 1>}> : (memref<16x16xf32>, index) -> memref<4x4xf32, strided<[16, 1], offset: ?>>
    %1 = "memref.subview"(%arg0, %arg2, %arg2, %arg3, %arg3) <{operandSegmentSizes = array<i32: 1, 2, 1, 1>, static_offsets = array<i64: -9223372036854775808, -9223372036854775808>, static_sizes = array<i64: -9223372036854775808, 4>, static_strides = array<i64: -9223372036854775808, 1>}> : (memref<16x16xf32>, index, index, index, index) -> memref<?x4xf32, strided<[?, 1], offset: ?>>
    %2 = "memref.view"(%arg1, %arg2) : (memref<1024xi8>, index) -> memref<16xf32>
    %3 = "memref.view"(%arg1, %arg2, %arg3) : (memref<1024xi8>, index, index) -> memref<?x4xf32>
    %4 = "memref.cast"(%arg0) : (memref<16x16xf32>) -> memref<?x?xf32>
    %5 = "memref.cast"(%arg0) : (memref<16x16xf32>) -> memref<*xf32>
    %6 = "memref.reinterpret_cast"(%arg0, %arg2, %arg3, %arg3) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 4, -9223372036854775808>, static_strides = array<i64: -9223372036854775808, 1>}> : (memref<16x16xf32>, index, index, index) -> memref<4x?xf32, strided<[?, 1], offset: ?>>
    %7 = "memref.expand_shape"(%arg0) <{reassociation = [[0, 1], [2]], static_output_shape = array<i64: 4, 4, 16>}> : (memref<16x16xf32>) -> memref<4x4x16xf32>
    %8 = "memref.collapse_shape"(%arg0) <{reassociation = [[0, 1]]}> : (memref<16x16xf32>) -> memref<256xf32>
    %9 = "memref.transpose"(%arg0) <{permutation = #map}> : (memref<16x16xf32>) -> memref<16x16xf32, strided<[1, 16]>>
    %10 = "memref.memory_space_cast"(%arg0) : (memref<16x16xf32>) -> memref<16x16xf32, 1>
    %11 = "memref.assume_alignment"(%arg0) <{alignment = 64 : i32}> : (memref<16x16xf32>) -> memref<16x16xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<?x4xf32>, memref<*xf32>, memref<2xindex>, index, memref<4xf32>, memref<4xf32>) -> (), sym_name = "shapes"}> ({
  ^bb0(%arg0: memref<?x4xf32>, %arg1: memref<*xf32>, %arg2: memref<2xindex>, %arg3: index, %arg4: memref<4xf32>, %arg5: memref<4xf32>):
    %0 = "memref.dim"(%arg0, %arg3) : (memref<?x4xf32>, index) -> index
    %1 = "memref.rank"(%arg1) : (memref<*xf32>) -> index
    %2 = "memref.reshape"(%arg0, %arg2) : (memref<?x4xf32>, memref<2xindex>) -> memref<?x?xf32>
    %3:6 = "memref.extract_strided_metadata"(%arg0) : (memref<?x4xf32>) -> (memref<f32>, index, index, index, index, index)
    %4 = "memref.extract_aligned_pointer_as_index"(%arg0) : (memref<?x4xf32>) -> index
    %5:2 = "memref.distinct_objects"(%arg4, %arg5) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>)
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "memref.global"() <{alignment = 64 : i64, constant, initial_value = dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>, sym_name = "weights", sym_visibility = "private", type = memref<2x2xf32>}> : () -> ()
  "memref.global"() <{initial_value, sym_name = "uninit", type = memref<4xi32>}> : () -> ()
  "memref.global"() <{sym_name = "decl", sym_visibility = "private", type = memref<4xf32>}> : () -> ()
  "func.func"() <{function_type = () -> memref<2x2xf32>, sym_name = "globals"}> ({
    %0 = "memref.get_global"() <{name = @weights}> : () -> memref<2x2xf32>
    "func.return"(%0) : (memref<2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i1) -> (), sym_name = "scopes"}> ({
  ^bb0(%arg0: i1):
    "memref.alloca_scope"() ({
      %2 = "memref.alloca"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf32>
      "acme.use"(%2) : (memref<4xf32>) -> ()
      "memref.alloca_scope.return"() : () -> ()
    }) : () -> ()
    %0 = "memref.alloca_scope"() ({
      %1 = "acme.make"() : () -> f32
      "memref.alloca_scope.return"(%1) : (f32) -> ()
    }) : () -> f32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<64xf32>, memref<64xf32, 1>, memref<1xi32>, index, index) -> (), sym_name = "dma"}> ({
  ^bb0(%arg0: memref<64xf32>, %arg1: memref<64xf32, 1>, %arg2: memref<1xi32>, %arg3: index, %arg4: index):
    "memref.dma_start"(%arg0, %arg3, %arg1, %arg3, %arg4, %arg2, %arg3) : (memref<64xf32>, index, memref<64xf32, 1>, index, index, memref<1xi32>, index) -> ()
    "memref.dma_wait"(%arg2, %arg3, %arg4) : (memref<1xi32>, index, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

