"builtin.module"() ({
  "func.func"() <{function_type = (f32, vector<4xf32>, i32) -> (), sym_name = "unary"}> ({
  ^bb0(%arg0: f32, %arg1: vector<4xf32>, %arg2: i32):
    %0 = "math.exp"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %1 = "math.sqrt"(%arg1) <{fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> vector<4xf32>
    %2 = "math.tanh"(%arg0) <{fastmath = #arith.fastmath<fast>}> : (f32) -> f32
    %3 = "math.absi"(%arg2) : (i32) -> i32
    %4 = "math.erf"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %5 = "math.rsqrt"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    %6 = "math.log1p"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f32, i32) -> (), sym_name = "others"}> ({
  ^bb0(%arg0: f32, %arg1: i32):
    %0 = "math.powf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %1 = "math.fma"(%arg0, %arg0, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32, f32) -> f32
    %2 = "math.fpowi"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, i32) -> f32
    %3 = "math.ipowi"(%arg1, %arg1) : (i32, i32) -> i32
    %4 = "math.isnan"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> i1
    %5 = "math.isfinite"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> i1
    %6:2 = "math.sincos"(%arg0) <{fastmath = #arith.fastmath<none>}> : (f32) -> (f32, f32)
    %7 = "math.ctpop"(%arg1) : (i32) -> i32
    %8 = "math.copysign"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

