module {
  func.func @unary(%arg0: f32, %arg1: vector<4xf32>, %arg2: i32) {
    %0 = math.exp %arg0 : f32
    %1 = math.sqrt %arg1 : vector<4xf32>
    %2 = math.tanh %arg0 fastmath<fast> : f32
    %3 = math.absi %arg2 : i32
    %4 = math.erf %arg0 : f32
    %5 = math.rsqrt %arg0 : f32
    %6 = math.log1p %arg0 : f32
    return
  }
}

// -----
module {
  func.func @others(%arg0: f32, %arg1: i32) {
    %0 = math.powf %arg0, %arg0 : f32
    %1 = math.fma %arg0, %arg0, %arg0 : f32
    %2 = math.fpowi %arg0, %arg1 : f32, i32
    %3 = math.ipowi %arg1, %arg1 : i32
    %4 = math.isnan %arg0 : f32
    %5 = math.isfinite %arg0 : f32
    %sin, %cos = math.sincos %arg0 : f32
    %6 = math.ctpop %arg1 : i32
    %7 = math.copysign %arg0, %arg0 : f32
    return
  }
}

