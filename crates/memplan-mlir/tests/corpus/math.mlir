func.func @unary(%a: f32, %v: vector<4xf32>, %i: i32) {
  %0 = math.exp %a : f32
  %1 = math.sqrt %v : vector<4xf32>
  %2 = math.tanh %a fastmath<fast> : f32
  %3 = math.absi %i : i32
  %4 = math.erf %a : f32
  %5 = math.rsqrt %a : f32
  %6 = math.log1p %a : f32
  return
}
// -----
func.func @others(%a: f32, %i: i32) {
  %0 = math.powf %a, %a : f32
  %1 = math.fma %a, %a, %a : f32
  %2 = math.fpowi %a, %i : f32, i32
  %3 = math.ipowi %i, %i : i32
  %4 = math.isnan %a : f32
  %5 = math.isfinite %a : f32
  %6, %7 = math.sincos %a : f32
  %8 = math.ctpop %i : i32
  %9 = math.copysign %a, %a : f32
  return
}
