module {
  func.func @constants() {
    %c0 = arith.constant 0 : index
    %c-1_i64 = arith.constant -1 : i64
    %true = arith.constant true
    %false = arith.constant false
    %cst = arith.constant 1.500000e+01 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<4x4xf32>
    %cst_2 = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi8>
    %cst_3 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
    %cst_4 = arith.constant sparse<[[0, 1]], 2.000000e+00> : tensor<4x4xf32>
    %cst_5 = arith.constant dense_resource<blob> : tensor<2xf32>
    %c5_i32 = arith.constant {acme.tag = "t"} 5 : i32
    %cst_6 = arith.constant 1.000000e+00 : bf16
    return
  }
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F00000040"
    }
  }
#-}

// -----
module {
  func.func @integers(%arg0: i32, %arg1: i32) {
    %0 = arith.addi %arg0, %arg1 : i32
    %1 = arith.addi %arg0, %arg1 overflow<nsw, nuw> : i32
    %2 = arith.subi %arg0, %arg1 : i32
    %3 = arith.muli %arg0, %arg1 : i32
    %4 = arith.divsi %arg0, %arg1 : i32
    %5 = arith.divui %arg0, %arg1 : i32
    %6 = arith.remsi %arg0, %arg1 : i32
    %7 = arith.ceildivsi %arg0, %arg1 : i32
    %8 = arith.floordivsi %arg0, %arg1 : i32
    %9 = arith.andi %arg0, %arg1 : i32
    %10 = arith.shli %arg0, %arg1 : i32
    %11 = arith.maxsi %arg0, %arg1 : i32
    %sum, %overflow = arith.addui_extended %arg0, %arg1 : i32, i1
    %low, %high = arith.mulsi_extended %arg0, %arg1 : i32
    %low_0, %high_1 = arith.mului_extended %arg0, %arg1 : i32
    return
  }
}

// -----
module {
  func.func @floats(%arg0: f32, %arg1: f32, %arg2: vector<4xf32>) {
    %0 = arith.addf %arg0, %arg1 fastmath<fast> : f32
    %1 = arith.subf %arg0, %arg1 : f32
    %2 = arith.mulf %arg2, %arg2 fastmath<nnan,ninf> : vector<4xf32>
    %3 = arith.negf %arg0 : f32
    %4 = arith.maximumf %arg0, %arg1 : f32
    %5 = arith.remf %arg0, %arg1 : f32
    %6 = arith.cmpf olt, %arg0, %arg1 : f32
    %7 = arith.cmpf ogt, %arg2, %arg2 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @conversions(%arg0: i32, %arg1: f32, %arg2: index) {
    %0 = arith.extsi %arg0 : i32 to i64
    %1 = arith.trunci %arg0 : i32 to i8
    %2 = arith.sitofp %arg0 : i32 to f32
    %3 = arith.fptosi %arg1 : f32 to i32
    %4 = arith.truncf %arg1 : f32 to f16
    %5 = arith.extf %arg1 : f32 to f64
    %6 = arith.index_cast %arg2 : index to i32
    %7 = arith.bitcast %arg1 : f32 to i32
    %8 = arith.cmpi slt, %arg0, %arg0 : i32
    %9 = arith.truncf %arg1 to_nearest_even : f32 to bf16
    return
  }
}

// -----
module {
  func.func @selects(%arg0: i1, %arg1: memref<4xf32>, %arg2: memref<4xf32>, %arg3: vector<4xi1>, %arg4: vector<4xf32>) -> memref<4xf32> {
    %0 = arith.select %arg0, %arg1, %arg2 : memref<4xf32>
    %1 = arith.select %arg3, %arg4, %arg4 : vector<4xi1>, vector<4xf32>
    return %0 : memref<4xf32>
  }
}

