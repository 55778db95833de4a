module {
  func.func @loops(%arg0: index, %arg1: index, %arg2: index, %arg3: memref<?xf32>, %arg4: i32) -> f32 {
    scf.for %arg5 = %arg0 to %arg1 step %arg2 {
      %3 = memref.load %arg3[%arg5] : memref<?xf32>
      memref.store %3, %arg3[%arg5] : memref<?xf32>
    }
    scf.for %arg5 = %arg4 to %arg4 step %arg4  : i32 {
      "acme.use"(%arg5) : (i32) -> ()
    }
    %cst = arith.constant 0.000000e+00 : f32
    %0 = scf.for %arg5 = %arg0 to %arg1 step %arg2 iter_args(%arg6 = %cst) -> (f32) {
      %3 = memref.load %arg3[%arg5] : memref<?xf32>
      %4 = arith.addf %arg6, %3 : f32
      scf.yield %4 : f32
    }
    %1:2 = scf.for %arg5 = %arg0 to %arg1 step %arg2 iter_args(%arg6 = %arg3, %arg7 = %arg3) -> (memref<?xf32>, memref<?xf32>) {
      scf.yield %arg7, %arg6 : memref<?xf32>, memref<?xf32>
    }
    scf.for unsigned %arg5 = %arg0 to %arg1 step %arg2 {
    } {acme.unroll = 4 : i32}
    %2 = scf.for %arg5 = %arg4 to %arg4 step %arg4 iter_args(%arg6 = %arg4) -> (i32)  : i32 {
      scf.yield %arg5 : i32
    }
    return %0 : f32
  }
}

// -----
module {
  func.func @whiles(%arg0: index, %arg1: memref<4xf32>) {
    %0 = scf.while (%arg2 = %arg0) : (index) -> index {
      %2 = "acme.test"(%arg2) : (index) -> i1
      scf.condition(%2) %arg2 : index
    } do {
    ^bb0(%arg2: index):
      %2 = arith.addi %arg2, %arg2 : index
      scf.yield %2 : index
    }
    scf.while : () -> () {
      %2 = "acme.test"() : () -> i1
      scf.condition(%2)
    } do {
      scf.yield
    } attributes {acme.tag = 1 : i64}
    %1:2 = scf.while (%arg2 = %arg0, %arg3 = %arg1) : (index, memref<4xf32>) -> (memref<4xf32>, index) {
      %2 = "acme.test"(%arg2) : (index) -> i1
      scf.condition(%2) %arg3, %arg2 : memref<4xf32>, index
    } do {
    ^bb0(%arg2: memref<4xf32>, %arg3: index):
      scf.yield %arg3, %arg2 : index, memref<4xf32>
    }
    return
  }
}

// -----
module {
  func.func @ifs(%arg0: i1, %arg1: memref<4xf32>, %arg2: memref<4xf32>) -> memref<4xf32> {
    scf.if %arg0 {
      "acme.use"(%arg1) : (memref<4xf32>) -> ()
    }
    scf.if %arg0 {
    } else {
      "acme.use"(%arg1) : (memref<4xf32>) -> ()
    } {acme.likely}
    %0 = scf.if %arg0 -> (memref<4xf32>) {
      scf.yield %arg1 : memref<4xf32>
    } else {
      scf.yield %arg2 : memref<4xf32>
    }
    %1:2 = scf.if %arg0 -> (memref<4xf32>, i1) {
      scf.yield %arg1, %arg0 : memref<4xf32>, i1
    } else {
      scf.yield %arg2, %arg0 : memref<4xf32>, i1
    }
    return %0 : memref<4xf32>
  }
}

// -----
module {
  func.func @switches(%arg0: index) -> i32 {
    %0 = scf.index_switch %arg0 -> i32 
    case 2 {
      %c10_i32 = arith.constant 10 : i32
      scf.yield %c10_i32 : i32
    }
    case 5 {
      %c20_i32 = arith.constant 20 : i32
      scf.yield %c20_i32 : i32
    }
    default {
      %c30_i32 = arith.constant 30 : i32
      scf.yield %c30_i32 : i32
    }
    scf.index_switch %arg0 
    default {
    }
    return %0 : i32
  }
}

// -----
module {
  func.func @executes(%arg0: i1) -> i32 {
    %0 = scf.execute_region -> i32 {
      cf.cond_br %arg0, ^bb1, ^bb2
    ^bb1:  // pred: ^bb0
      %c1_i32 = arith.constant 1 : i32
      cf.br ^bb3(%c1_i32 : i32)
    ^bb2:  // pred: ^bb0
      %c2_i32 = arith.constant 2 : i32
      cf.br ^bb3(%c2_i32 : i32)
    ^bb3(%1: i32):  // 2 preds: ^bb1, ^bb2
      scf.yield %1 : i32
    }
    scf.execute_region {
      "acme.thing"() : () -> ()
      scf.yield
    }
    return %0 : i32
  }
}

// -----
module {
  func.func @parallels(%arg0: index, %arg1: index, %arg2: index, %arg3: memref<?x?xf32>, %arg4: f32) {
    scf.parallel (%arg5, %arg6) = (%arg0, %arg0) to (%arg1, %arg1) step (%arg2, %arg2) {
      %2 = memref.load %arg3[%arg5, %arg6] : memref<?x?xf32>
      memref.store %2, %arg3[%arg6, %arg5] : memref<?x?xf32>
      scf.reduce 
    }
    %0 = scf.parallel (%arg5) = (%arg0) to (%arg1) step (%arg2) init (%arg4) -> f32 {
      %2 = memref.load %arg3[%arg5, %arg5] : memref<?x?xf32>
      scf.reduce(%2 : f32) {
      ^bb0(%arg6: f32, %arg7: f32):
        %3 = arith.addf %arg6, %arg7 : f32
        scf.reduce.return %3 : f32
      }
    }
    %1:2 = scf.parallel (%arg5) = (%arg0) to (%arg1) step (%arg2) init (%arg4, %arg4) -> (f32, f32) {
      %2 = memref.load %arg3[%arg5, %arg5] : memref<?x?xf32>
      scf.reduce(%2, %2 : f32, f32) {
      ^bb0(%arg6: f32, %arg7: f32):
        %3 = arith.addf %arg6, %arg7 : f32
        scf.reduce.return %3 : f32
      }, {
      ^bb0(%arg6: f32, %arg7: f32):
        %3 = arith.mulf %arg6, %arg7 : f32
        scf.reduce.return %3 : f32
      }
    }
    return
  }
}

// -----
module {
  func.func @foralls(%arg0: index, %arg1: memref<64xf32>, %arg2: tensor<64xf32>) -> tensor<64xf32> {
    scf.forall (%arg3, %arg4) in (4, %arg0) {
      %1 = memref.load %arg1[%arg4] : memref<64xf32>
    }
    %cst = arith.constant 0.000000e+00 : f32
    scf.forall (%arg3) = (0) to (16) step (2) {
      %1 = memref.load %arg1[%arg3] : memref<64xf32>
    } {mapping = [#gpu.block<x>]}
    scf.forall (%arg3, %arg4) = (%arg0, 0) to (%arg0, 16) step (%arg0, 1) {
    }
    %0 = scf.forall (%arg3) in (%arg0) shared_outs(%arg4 = %arg2) -> (tensor<64xf32>) {
      %extracted_slice = tensor.extract_slice %arg4[%arg3] [1] [1] : tensor<64xf32> to tensor<1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %extracted_slice into %arg4[%arg3] [1] [1] : tensor<1xf32> into tensor<64xf32>
      }
    }
    return %0 : tensor<64xf32>
  }
}

