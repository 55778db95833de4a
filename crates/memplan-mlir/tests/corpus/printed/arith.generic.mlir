"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "constants"}> ({
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = -1 : i64}> : () -> i64
    %2 = "arith.constant"() <{value = true}> : () -> i1
    %3 = "arith.constant"() <{value = false}> : () -> i1
    %4 = "arith.constant"() <{value = 1.500000e+01 : f32}> : () -> f32
    %5 = "arith.constant"() <{value = 0xFF800000 : f32}> : () -> f32
    %6 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<4x4xf32>}> : () -> tensor<4x4xf32>
    %7 = "arith.constant"() <{value = dense<[[1, 2], [3, 4]]> : vector<2x2xi8>}> : () -> vector<2x2xi8>
    %8 = "arith.constant"() <{value = dense<[1, 2, 3, 4]> : tensor<4xi8>}> : () -> tensor<4xi8>
    %9 = "arith.constant"() <{value = sparse<[[0, 1]], 2.000000e+00> : tensor<4x4xf32>}> : () -> tensor<4x4xf32>
    %10 = "arith.constant"() <{value = dense_resource<blob> : tensor<2xf32>}> : () -> tensor<2xf32>
    %11 = "arith.constant"() <{value = 5 : i32}> {acme.tag = "t"} : () -> i32
    %12 = "arith.constant"() <{value = 1.000000e+00 : bf16}> : () -> bf16
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F00000040"
    }
  }
#-}

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32) -> (), sym_name = "integers"}> ({
  ^bb0(%arg0: i32, %arg1: i32):
    %0 = "arith.addi"(%arg0, %arg1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %1 = "arith.addi"(%arg0, %arg1) <{overflowFlags = #arith.overflow<nsw, nuw>}> : (i32, i32) -> i32
    %2 = "arith.subi"(%arg0, %arg1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %3 = "arith.muli"(%arg0, %arg1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %4 = "arith.divsi"(%arg0, %arg1) : (i32, i32) -> i32
    %5 = "arith.divui"(%arg0, %arg1) : (i32, i32) -> i32
    %6 = "arith.remsi"(%arg0, %arg1) : (i32, i32) -> i32
    %7 = "arith.ceildivsi"(%arg0, %arg1) : (i32, i32) -> i32
    %8 = "arith.floordivsi"(%arg0, %arg1) : (i32, i32) -> i32
    %9 = "arith.andi"(%arg0, %arg1) : (i32, i32) -> i32
    %10 = "arith.shli"(%arg0, %arg1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %11 = "arith.maxsi"(%arg0, %arg1) : (i32, i32) -> i32
    %12:2 = "arith.addui_extended"(%arg0, %arg1) : (i32, i32) -> (i32, i1)
    %13:2 = "arith.mulsi_extended"(%arg0, %arg1) : (i32, i32) -> (i32, i32)
    %14:2 = "arith.mului_extended"(%arg0, %arg1) : (i32, i32) -> (i32, i32)
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, f32, vector<4xf32>) -> (), sym_name = "floats"}> ({
  ^bb0(%arg0: f32, %arg1: f32, %arg2: vector<4xf32>):
    %0 = "arith.addf"(%arg0, %arg1) <{fastmath = #arith.fastmath<fast>}> : (f32, f32) -> f32
    %1 = "arith.subf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %2 = "arith.mulf"(%arg2, %arg2) <{fastmath = #arith.fastmath<nnan,ninf>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    %3 = "arith.negf"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %4 = "arith.maximumf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %5 = "arith.remf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %6 = "arith.cmpf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>, predicate = 4 : i64}> : (f32, f32) -> i1
    %7 = "arith.cmpf"(%arg2, %arg2) <{fastmath = #arith.fastmath<none>, predicate = 2 : i64}> : (vector<4xf32>, vector<4xf32>) -> vector<4xi1>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, f32, index) -> (), sym_name = "conversions"}> ({
  ^bb0(%arg0: i32, %arg1: f32, %arg2: index):
    %0 = "arith.extsi"(%arg0) : (i32) -> i64
    %1 = "arith.trunci"(%arg0) <{overflowFlags = #arith.overflow<none>}> : (i32) -> i8
    %2 = "arith.sitofp"(%arg0) : (i32) -> f32
    %3 = "arith.fptosi"(%arg1) : (f32) -> i32
    %4 = "arith.truncf"(%arg1) : (f32) -> f16
    %5 = "arith.extf"(%arg1) : (f32) -> f64
    %6 = "arith.index_cast"(%arg2) : (index) -> i32
    %7 = "arith.bitcast"(%arg1) : (f32) -> i32
    %8 = "arith.cmpi"(%arg0, %arg0) <{predicate = 2 : i64}> : (i32, i32) -> i1
    %9 = "arith.truncf"(%arg1) <{roundingmode = 0 : i32}> : (f32) -> bf16
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i1, memref<4xf32>, memref<4xf32>, vector<4xi1>, vector<4xf32>) -> memref<4xf32>, sym_name = "selects"}> ({
  ^bb0(%arg0: i1, %arg1: memref<4xf32>, %arg2: memref<4xf32>, %arg3: vector<4xi1>, %arg4: vector<4xf32>):
    %0 = "arith.select"(%arg0, %arg1, %arg2) : (i1, memref<4xf32>, memref<4xf32>) -> memref<4xf32>
    %1 = "arith.select"(%arg3, %arg4, %arg4) : (vector<4xi1>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    "func.return"(%0) : (memref<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

