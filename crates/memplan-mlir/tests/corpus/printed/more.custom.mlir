module {
  func.func @one_line(%arg0: i1) {
    scf.if %arg0 {
      "a.b"() : () -> ()
    } else {
      "a.c"() : () -> ()
    }
    return
  }
}

// -----
module {
  func.func @two_on_a_line() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = arith.addi %c0, %c1 : index
    "a.b"(%0) : (index) -> ()
    return
  }
}

// -----
module {
  func.func @comments(%arg0: i32) {
    %0 = arith.addi %arg0, %arg0 : i32
    return
  }
}

// -----
module {
  func.func @broken_lines(%arg0: memref<4x4xf32>, %arg1: memref<4x4xf32>) -> memref<4x4xf32> attributes {acme.a, acme.b = 1 : i64} {
    linalg.matmul ins(%arg0, %arg1 : memref<4x4xf32>, memref<4x4xf32>) outs(%arg0 : memref<4x4xf32>)
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x4xf32>
    %0:2 = "acme.pair"(%arg0, %arg1) : (memref<4x4xf32>, memref<4x4xf32>) -> (i32, i32)
    return %alloc : memref<4x4xf32>
  }
}

// -----
module {
  func.func @strange_names(%arg0: i32, %arg1: i32, %arg2: i32, %arg3: i32, %arg4: i32) -> i32 {
    %0 = arith.addi %arg0, %arg1 : i32
    %1 = arith.addi %arg2, %arg3 : i32
    %2 = arith.addi %arg4, %1 : i32
    return %2 : i32
  }
}

// -----
module {
  func.func @same_names_in_siblings(%arg0: i1) {
    scf.if %arg0 {
      %c1_i32 = arith.constant 1 : i32
      "acme.use"(%c1_i32) : (i32) -> ()
    } else {
      %c2_i32 = arith.constant 2 : i32
      "acme.use"(%c2_i32) : (i32) -> ()
    }
    %c3_i32 = arith.constant 3 : i32
    "acme.use"(%c3_i32) : (i32) -> ()
    return
  }
}

// -----
module {
  func.func @isolated(%arg0: i32) {
    builtin.module {
      func.func @inner(%arg1: f32) {
        "acme.use"(%arg1) : (f32) -> ()
        return
      }
    }
    "acme.use"(%arg0) : (i32) -> ()
    return
  }
}

// -----
module {
  func.func @nested_aliases(%arg0: memref<4xi32>, %arg1: memref<?xf32, strided<[?], offset: ?>>, %arg2: memref<?xf32, strided<[?], offset: ?>, #gpu.address_space<workgroup>>) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = memref.load %arg0[%c0] : memref<4xi32>
    return %0 : i32
  }
}

// -----
module {
  func.func @loops_in_loops(%arg0: index, %arg1: memref<8xf32>, %arg2: memref<8xf32>) -> memref<8xf32> {
    %0 = scf.for %arg3 = %arg0 to %arg0 step %arg0 iter_args(%arg4 = %arg1) -> (memref<8xf32>) {
      %1:2 = scf.for %arg5 = %arg0 to %arg0 step %arg0 iter_args(%arg6 = %arg4, %arg7 = %arg2) -> (memref<8xf32>, memref<8xf32>) {
        %2 = scf.while (%arg8 = %arg6) : (memref<8xf32>) -> memref<8xf32> {
          %3 = "acme.test"(%arg8) : (memref<8xf32>) -> i1
          scf.condition(%3) %arg8 : memref<8xf32>
        } do {
        ^bb0(%arg8: memref<8xf32>):
          scf.yield %arg7 : memref<8xf32>
        }
        scf.yield %2, %arg6 : memref<8xf32>, memref<8xf32>
      }
      scf.yield %1#1 : memref<8xf32>
    }
    return %0 : memref<8xf32>
  }
}

// -----
module {
  func.func @branches_and_regions(%arg0: i1, %arg1: memref<4xf32>) {
    %alloc = memref.alloc() : memref<4xf32>
    cf.br ^bb1(%alloc, %arg0 : memref<4xf32>, i1)
  ^bb1(%0: memref<4xf32>, %1: i1):  // 2 preds: ^bb0, ^bb1
    scf.if %1 {
      "acme.use"(%0) : (memref<4xf32>) -> ()
    }
    cf.cond_br %1, ^bb1(%arg1, %arg0 : memref<4xf32>, i1), ^bb2
  ^bb2:  // pred: ^bb1
    memref.dealloc %alloc : memref<4xf32>
    return
  }
}

// -----
module {
  func.func @dense_strings() {
    %cst = arith.constant dense<["a", "b, }\22", "// c"]> : tensor<3x!acme.string>
    %0 = "acme.attr"() {s = "%x = \22acme\22() {", t = "\\\22"} : () -> i32
    return
  }
}

// -----
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0)[s0] -> (d0 + 4, s0)>
module {
  func.func @subscripts(%arg0: memref<8x8xf32>, %arg1: index) {
    affine.for %arg2 = 0 to 8 {
      affine.for %arg3 = #map(%arg2) to min #map1(%arg2)[%arg1] step 2 {
        %0 = affine.load %arg0[%arg3, %arg2 + symbol(%arg1) floordiv 2] : memref<8x8xf32>
        affine.store %0, %arg0[-%arg2 + %arg3 * 2, 3] : memref<8x8xf32>
        %1 = affine.load %arg0[0, %arg2 ceildiv 3] {acme.tag} : memref<8x8xf32>
      }
    }
    return
  }
}

// -----
module {
  func.func @gpu_clusters(%arg0: index, %arg1: memref<8xf32>) {
    gpu.launch clusters(%arg14, %arg15, %arg16) in (%arg17 = %arg0, %arg18 = %arg0, %arg19 = %arg0) blocks(%arg2, %arg3, %arg4) in (%arg8 = %arg0, %arg9 = %arg0, %arg10 = %arg0) threads(%arg5, %arg6, %arg7) in (%arg11 = %arg0, %arg12 = %arg0, %arg13 = %arg0) {
      %0 = memref.load %arg1[%arg14] : memref<8xf32>
      %1 = memref.load %arg1[%arg8] : memref<8xf32>
      gpu.terminator
    }
    return
  }
}

// -----
module {
  func.func @more_memref(%arg0: memref<8xf32>, %arg1: f32, %arg2: index, %arg3: memref<*xf32>) {
    %0 = memref.atomic_rmw assign %arg1, %arg0[%arg2] : (f32, memref<8xf32>) -> f32
    %cast = memref.cast %arg3 : memref<*xf32> to memref<?xf32>
    %dim = memref.dim %arg3, %arg2 : memref<*xf32>
    %1 = memref.realloc %arg0(%arg2) {alignment = 8 : i64} : memref<8xf32> to memref<?xf32>
    %subview = memref.subview %arg0[%arg2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
    %reinterpret_cast = memref.reinterpret_cast %arg0 to offset: [0], sizes: [2, 4], strides: [4, 1] : memref<8xf32> to memref<2x4xf32>
    %expand_shape = memref.expand_shape %cast [[0, 1]] output_shape [%arg2, 4] : memref<?xf32> into memref<?x4xf32>
    %subview_0 = memref.subview %reinterpret_cast[0, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<4xf32>
    memref.copy %arg0, %arg0 : memref<8xf32> to memref<8xf32>
    return
  }
}

// -----
#map = affine_map<(d0, d1) -> (0, d1)>
module {
  func.func @more_vector(%arg0: vector<4xf32>, %arg1: memref<?x?xf32>, %arg2: index, %arg3: vector<[4]xi32>, %arg4: vector<4xi1>, %arg5: vector<1xf32>, %arg6: vector<f32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = vector.transfer_read %arg1[%arg2, %arg2], %cst {permutation_map = #map} : memref<?x?xf32>, vector<4x4xf32>
    %1 = vector.extract %0[0, %arg2] : f32 from vector<4x4xf32>
    %2 = vector.extract %arg6[] : f32 from vector<f32>
    %3 = vector.scalable.extract %arg3[0] : vector<4xi32> from vector<[4]xi32>
    %4 = vector.broadcast %arg5 : vector<1xf32> to vector<4xf32>
    %5 = vector.multi_reduction <mul>, %0, %cst [0, 1] : vector<4x4xf32> to f32
    return
  }
}

// -----
module {
  func.func @async_nested(%arg0: memref<4xf32>) {
    %token = async.execute {
      %token_0 = async.execute {
        "acme.use"(%arg0) : (memref<4xf32>) -> ()
        async.yield
      }
      async.await %token_0 : !async.token
      async.yield
    }
    async.await %token : !async.token
    return
  }
}

// -----
module {
  func.func @quantized(%arg0: tensor<4x!quant.uniform<i8:f32, 2.000000e+00:10>>, %arg1: tensor<4x!quant.uniform<u8<1:255>:f32:0, {1.000000e+00:1,2.000000e+00:2}>>) {
    return
  }
}

// -----
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @f(%arg0: memref<8xf32>) kernel {
      gpu.return
    }
  }
  func.func @host(%arg0: memref<8xf32>, %arg1: index, %arg2: index, %arg3: i32) {
    gpu.launch_func  @k::@f clusters in (%arg2, %arg2, %arg2) blocks in (%arg1, %arg1, %arg1) threads in (%arg1, %arg1, %arg1)  dynamic_shared_memory_size %arg3 args(%arg0 : memref<8xf32>)
    %0 = gpu.wait async
    %1 = gpu.launch_func async [%0] @k::@f clusters in (%arg2, %arg2, %arg2) blocks in (%arg1, %arg1, %arg1) threads in (%arg1, %arg1, %arg1)  args(%arg0 : memref<8xf32>)
    return
  }
}

// -----
module {
  func.func @returns_in_loops(%arg0: index, %arg1: f32) {
    scf.for %arg2 = %arg0 to %arg0 step %arg0 {
      %0 = scf.execute_region -> f32 {
        scf.yield %arg1 : f32
      }
      scf.execute_region no_inline {
        scf.yield
      }
    }
    return
  }
}

// -----
module {
  func.func @tensor_more(%arg0: tensor<4x4xf32>, %arg1: index, %arg2: f32, %arg3: tensor<8x8xf32>, %arg4: tensor<2x1xindex>) {
    %inserted_slice = tensor.insert_slice %arg0 into %arg3[%arg1, 2] [4, 4] [1, %arg1] : tensor<4x4xf32> into tensor<8x8xf32>
    %splat = tensor.splat %arg2 : tensor<4xf32>
    %expanded = tensor.expand_shape %arg0 [[0, 1], [2]] output_shape [2, 2, 4] : tensor<4x4xf32> into tensor<2x2x4xf32>
    %0 = "acme.make"() : () -> tensor<2x1x8xf32>
    %scatter = tensor.scatter %0 into %arg3[%arg4] scatter_dims([0]) unique : (tensor<2x1x8xf32>, tensor<8x8xf32>, tensor<2x1xindex>) -> tensor<8x8xf32>
    %inserted = tensor.insert %arg2 into %arg0[%arg1, %arg1] {acme.tag} : tensor<4x4xf32>
    return
  }
}

// -----
module {
  func.func @switch_generic(%arg0: i32, %arg1: memref<4xf32>) {
    cf.switch %arg0 : i32, [
      default: ^bb1(%arg1 : memref<4xf32>)]
  ^bb1(%0: memref<4xf32>):  // pred: ^bb0
    return
  }
}

