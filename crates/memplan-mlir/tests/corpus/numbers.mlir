func.func @addi(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %v, %v : vector<4xi32>
  %2 = arith.addi %i, %i : index
  %3 = arith.addi %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @subi(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.subi %a, %b : i32
  %1 = arith.subi %v, %v : vector<4xi32>
  %2 = arith.subi %i, %i : index
  %3 = arith.subi %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @muli(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.muli %a, %b : i32
  %1 = arith.muli %v, %v : vector<4xi32>
  %2 = arith.muli %i, %i : index
  %3 = arith.muli %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @divsi(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.divsi %a, %b : i32
  %1 = arith.divsi %v, %v : vector<4xi32>
  %2 = arith.divsi %i, %i : index
  %3 = arith.divsi %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @divui(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.divui %a, %b : i32
  %1 = arith.divui %v, %v : vector<4xi32>
  %2 = arith.divui %i, %i : index
  %3 = arith.divui %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @remsi(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.remsi %a, %b : i32
  %1 = arith.remsi %v, %v : vector<4xi32>
  %2 = arith.remsi %i, %i : index
  %3 = arith.remsi %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @remui(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.remui %a, %b : i32
  %1 = arith.remui %v, %v : vector<4xi32>
  %2 = arith.remui %i, %i : index
  %3 = arith.remui %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @ceildivsi(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.ceildivsi %a, %b : i32
  %1 = arith.ceildivsi %v, %v : vector<4xi32>
  %2 = arith.ceildivsi %i, %i : index
  %3 = arith.ceildivsi %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @ceildivui(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.ceildivui %a, %b : i32
  %1 = arith.ceildivui %v, %v : vector<4xi32>
  %2 = arith.ceildivui %i, %i : index
  %3 = arith.ceildivui %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @floordivsi(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.floordivsi %a, %b : i32
  %1 = arith.floordivsi %v, %v : vector<4xi32>
  %2 = arith.floordivsi %i, %i : index
  %3 = arith.floordivsi %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @andi(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.andi %a, %b : i32
  %1 = arith.andi %v, %v : vector<4xi32>
  %2 = arith.andi %i, %i : index
  %3 = arith.andi %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @ori(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.ori %a, %b : i32
  %1 = arith.ori %v, %v : vector<4xi32>
  %2 = arith.ori %i, %i : index
  %3 = arith.ori %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @xori(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.xori %a, %b : i32
  %1 = arith.xori %v, %v : vector<4xi32>
  %2 = arith.xori %i, %i : index
  %3 = arith.xori %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @shli(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.shli %a, %b : i32
  %1 = arith.shli %v, %v : vector<4xi32>
  %2 = arith.shli %i, %i : index
  %3 = arith.shli %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @shrsi(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.shrsi %a, %b : i32
  %1 = arith.shrsi %v, %v : vector<4xi32>
  %2 = arith.shrsi %i, %i : index
  %3 = arith.shrsi %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @shrui(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.shrui %a, %b : i32
  %1 = arith.shrui %v, %v : vector<4xi32>
  %2 = arith.shrui %i, %i : index
  %3 = arith.shrui %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @maxsi(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.maxsi %a, %b : i32
  %1 = arith.maxsi %v, %v : vector<4xi32>
  %2 = arith.maxsi %i, %i : index
  %3 = arith.maxsi %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @maxui(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.maxui %a, %b : i32
  %1 = arith.maxui %v, %v : vector<4xi32>
  %2 = arith.maxui %i, %i : index
  %3 = arith.maxui %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @minsi(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.minsi %a, %b : i32
  %1 = arith.minsi %v, %v : vector<4xi32>
  %2 = arith.minsi %i, %i : index
  %3 = arith.minsi %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @minui(%a: i32, %b: i32, %v: vector<4xi32>, %i: index, %t: tensor<2x?xi8>) {
  %0 = arith.minui %a, %b : i32
  %1 = arith.minui %v, %v : vector<4xi32>
  %2 = arith.minui %i, %i : index
  %3 = arith.minui %t, %t : tensor<2x?xi8>
  return
}
// -----
func.func @addf(%a: f32, %b: f32, %v: vector<2x4xf16>) {
  %0 = arith.addf %a, %b : f32
  %1 = arith.addf %v, %v fastmath<contract> : vector<2x4xf16>
  return
}
// -----
func.func @subf(%a: f32, %b: f32, %v: vector<2x4xf16>) {
  %0 = arith.subf %a, %b : f32
  %1 = arith.subf %v, %v fastmath<contract> : vector<2x4xf16>
  return
}
// -----
func.func @mulf(%a: f32, %b: f32, %v: vector<2x4xf16>) {
  %0 = arith.mulf %a, %b : f32
  %1 = arith.mulf %v, %v fastmath<contract> : vector<2x4xf16>
  return
}
// -----
func.func @divf(%a: f32, %b: f32, %v: vector<2x4xf16>) {
  %0 = arith.divf %a, %b : f32
  %1 = arith.divf %v, %v fastmath<contract> : vector<2x4xf16>
  return
}
// -----
func.func @remf(%a: f32, %b: f32, %v: vector<2x4xf16>) {
  %0 = arith.remf %a, %b : f32
  %1 = arith.remf %v, %v fastmath<contract> : vector<2x4xf16>
  return
}
// -----
func.func @maximumf(%a: f32, %b: f32, %v: vector<2x4xf16>) {
  %0 = arith.maximumf %a, %b : f32
  %1 = arith.maximumf %v, %v fastmath<contract> : vector<2x4xf16>
  return
}
// -----
func.func @maxnumf(%a: f32, %b: f32, %v: vector<2x4xf16>) {
  %0 = arith.maxnumf %a, %b : f32
  %1 = arith.maxnumf %v, %v fastmath<contract> : vector<2x4xf16>
  return
}
// -----
func.func @minimumf(%a: f32, %b: f32, %v: vector<2x4xf16>) {
  %0 = arith.minimumf %a, %b : f32
  %1 = arith.minimumf %v, %v fastmath<contract> : vector<2x4xf16>
  return
}
// -----
func.func @minnumf(%a: f32, %b: f32, %v: vector<2x4xf16>) {
  %0 = arith.minnumf %a, %b : f32
  %1 = arith.minnumf %v, %v fastmath<contract> : vector<2x4xf16>
  return
}
// -----
func.func @cmpi_eq(%a: i64, %v: vector<4xi64>) {
  %0 = arith.cmpi eq, %a, %a : i64
  %1 = arith.cmpi eq, %v, %v : vector<4xi64>
  %2 = arith.select %0, %a, %a : i64
  return
}
// -----
func.func @cmpi_ne(%a: i64, %v: vector<4xi64>) {
  %0 = arith.cmpi ne, %a, %a : i64
  %1 = arith.cmpi ne, %v, %v : vector<4xi64>
  %2 = arith.select %0, %a, %a : i64
  return
}
// -----
func.func @cmpi_slt(%a: i64, %v: vector<4xi64>) {
  %0 = arith.cmpi slt, %a, %a : i64
  %1 = arith.cmpi slt, %v, %v : vector<4xi64>
  %2 = arith.select %0, %a, %a : i64
  return
}
// -----
func.func @cmpi_sle(%a: i64, %v: vector<4xi64>) {
  %0 = arith.cmpi sle, %a, %a : i64
  %1 = arith.cmpi sle, %v, %v : vector<4xi64>
  %2 = arith.select %0, %a, %a : i64
  return
}
// -----
func.func @cmpi_sgt(%a: i64, %v: vector<4xi64>) {
  %0 = arith.cmpi sgt, %a, %a : i64
  %1 = arith.cmpi sgt, %v, %v : vector<4xi64>
  %2 = arith.select %0, %a, %a : i64
  return
}
// -----
func.func @cmpi_sge(%a: i64, %v: vector<4xi64>) {
  %0 = arith.cmpi sge, %a, %a : i64
  %1 = arith.cmpi sge, %v, %v : vector<4xi64>
  %2 = arith.select %0, %a, %a : i64
  return
}
// -----
func.func @cmpi_ult(%a: i64, %v: vector<4xi64>) {
  %0 = arith.cmpi ult, %a, %a : i64
  %1 = arith.cmpi ult, %v, %v : vector<4xi64>
  %2 = arith.select %0, %a, %a : i64
  return
}
// -----
func.func @cmpi_ule(%a: i64, %v: vector<4xi64>) {
  %0 = arith.cmpi ule, %a, %a : i64
  %1 = arith.cmpi ule, %v, %v : vector<4xi64>
  %2 = arith.select %0, %a, %a : i64
  return
}
// -----
func.func @cmpi_ugt(%a: i64, %v: vector<4xi64>) {
  %0 = arith.cmpi ugt, %a, %a : i64
  %1 = arith.cmpi ugt, %v, %v : vector<4xi64>
  %2 = arith.select %0, %a, %a : i64
  return
}
// -----
func.func @cmpi_uge(%a: i64, %v: vector<4xi64>) {
  %0 = arith.cmpi uge, %a, %a : i64
  %1 = arith.cmpi uge, %v, %v : vector<4xi64>
  %2 = arith.select %0, %a, %a : i64
  return
}
// -----
func.func @cmpf_oeq(%a: f64) {
  %0 = arith.cmpf oeq, %a, %a : f64
  %1 = arith.cmpf oeq, %a, %a fastmath<fast> : f64
  return
}
// -----
func.func @cmpf_olt(%a: f64) {
  %0 = arith.cmpf olt, %a, %a : f64
  %1 = arith.cmpf olt, %a, %a fastmath<fast> : f64
  return
}
// -----
func.func @cmpf_ogt(%a: f64) {
  %0 = arith.cmpf ogt, %a, %a : f64
  %1 = arith.cmpf ogt, %a, %a fastmath<fast> : f64
  return
}
// -----
func.func @cmpf_ole(%a: f64) {
  %0 = arith.cmpf ole, %a, %a : f64
  %1 = arith.cmpf ole, %a, %a fastmath<fast> : f64
  return
}
// -----
func.func @cmpf_oge(%a: f64) {
  %0 = arith.cmpf oge, %a, %a : f64
  %1 = arith.cmpf oge, %a, %a fastmath<fast> : f64
  return
}
// -----
func.func @cmpf_one(%a: f64) {
  %0 = arith.cmpf one, %a, %a : f64
  %1 = arith.cmpf one, %a, %a fastmath<fast> : f64
  return
}
// -----
func.func @cmpf_ord(%a: f64) {
  %0 = arith.cmpf ord, %a, %a : f64
  %1 = arith.cmpf ord, %a, %a fastmath<fast> : f64
  return
}
// -----
func.func @cmpf_ueq(%a: f64) {
  %0 = arith.cmpf ueq, %a, %a : f64
  %1 = arith.cmpf ueq, %a, %a fastmath<fast> : f64
  return
}
// -----
func.func @cmpf_ult(%a: f64) {
  %0 = arith.cmpf ult, %a, %a : f64
  %1 = arith.cmpf ult, %a, %a fastmath<fast> : f64
  return
}
// -----
func.func @cmpf_uno(%a: f64) {
  %0 = arith.cmpf uno, %a, %a : f64
  %1 = arith.cmpf uno, %a, %a fastmath<fast> : f64
  return
}
// -----
func.func @cmpf_false(%a: f64) {
  %0 = arith.cmpf false, %a, %a : f64
  %1 = arith.cmpf false, %a, %a fastmath<fast> : f64
  return
}
// -----
func.func @cmpf_true(%a: f64) {
  %0 = arith.cmpf true, %a, %a : f64
  %1 = arith.cmpf true, %a, %a fastmath<fast> : f64
  return
}
// -----
func.func @casts(%i: i8, %u: i32, %f: f16, %g: f32, %x: index) {
  %0 = arith.extui %i : i8 to i32
  %1 = arith.uitofp %u : i32 to f32
  %2 = arith.fptoui %f : f16 to i16
  %3 = arith.index_castui %x : index to i64
  %4 = arith.trunci %u overflow<nsw> : i32 to i16
  %6 = arith.bitcast %g : f32 to i32
  return
}
// -----
func.func @math_absf(%a: f32, %v: vector<4xf32>) {
  %0 = math.absf %a : f32
  %1 = math.absf %v : vector<4xf32>
  return
}
// -----
func.func @math_acos(%a: f32, %v: vector<4xf32>) {
  %0 = math.acos %a : f32
  %1 = math.acos %v : vector<4xf32>
  return
}
// -----
func.func @math_acosh(%a: f32, %v: vector<4xf32>) {
  %0 = math.acosh %a : f32
  %1 = math.acosh %v : vector<4xf32>
  return
}
// -----
func.func @math_asin(%a: f32, %v: vector<4xf32>) {
  %0 = math.asin %a : f32
  %1 = math.asin %v : vector<4xf32>
  return
}
// -----
func.func @math_asinh(%a: f32, %v: vector<4xf32>) {
  %0 = math.asinh %a : f32
  %1 = math.asinh %v : vector<4xf32>
  return
}
// -----
func.func @math_atan(%a: f32, %v: vector<4xf32>) {
  %0 = math.atan %a : f32
  %1 = math.atan %v : vector<4xf32>
  return
}
// -----
func.func @math_atanh(%a: f32, %v: vector<4xf32>) {
  %0 = math.atanh %a : f32
  %1 = math.atanh %v : vector<4xf32>
  return
}
// -----
func.func @math_cbrt(%a: f32, %v: vector<4xf32>) {
  %0 = math.cbrt %a : f32
  %1 = math.cbrt %v : vector<4xf32>
  return
}
// -----
func.func @math_ceil(%a: f32, %v: vector<4xf32>) {
  %0 = math.ceil %a : f32
  %1 = math.ceil %v : vector<4xf32>
  return
}
// -----
func.func @math_cos(%a: f32, %v: vector<4xf32>) {
  %0 = math.cos %a : f32
  %1 = math.cos %v : vector<4xf32>
  return
}
// -----
func.func @math_cosh(%a: f32, %v: vector<4xf32>) {
  %0 = math.cosh %a : f32
  %1 = math.cosh %v : vector<4xf32>
  return
}
// -----
func.func @math_erf(%a: f32, %v: vector<4xf32>) {
  %0 = math.erf %a : f32
  %1 = math.erf %v : vector<4xf32>
  return
}
// -----
func.func @math_erfc(%a: f32, %v: vector<4xf32>) {
  %0 = math.erfc %a : f32
  %1 = math.erfc %v : vector<4xf32>
  return
}
// -----
func.func @math_exp(%a: f32, %v: vector<4xf32>) {
  %0 = math.exp %a : f32
  %1 = math.exp %v : vector<4xf32>
  return
}
// -----
func.func @math_exp2(%a: f32, %v: vector<4xf32>) {
  %0 = math.exp2 %a : f32
  %1 = math.exp2 %v : vector<4xf32>
  return
}
// -----
func.func @math_expm1(%a: f32, %v: vector<4xf32>) {
  %0 = math.expm1 %a : f32
  %1 = math.expm1 %v : vector<4xf32>
  return
}
// -----
func.func @math_floor(%a: f32, %v: vector<4xf32>) {
  %0 = math.floor %a : f32
  %1 = math.floor %v : vector<4xf32>
  return
}
// -----
func.func @math_log(%a: f32, %v: vector<4xf32>) {
  %0 = math.log %a : f32
  %1 = math.log %v : vector<4xf32>
  return
}
// -----
func.func @math_log10(%a: f32, %v: vector<4xf32>) {
  %0 = math.log10 %a : f32
  %1 = math.log10 %v : vector<4xf32>
  return
}
// -----
func.func @math_log1p(%a: f32, %v: vector<4xf32>) {
  %0 = math.log1p %a : f32
  %1 = math.log1p %v : vector<4xf32>
  return
}
// -----
func.func @math_log2(%a: f32, %v: vector<4xf32>) {
  %0 = math.log2 %a : f32
  %1 = math.log2 %v : vector<4xf32>
  return
}
// -----
func.func @math_round(%a: f32, %v: vector<4xf32>) {
  %0 = math.round %a : f32
  %1 = math.round %v : vector<4xf32>
  return
}
// -----
func.func @math_roundeven(%a: f32, %v: vector<4xf32>) {
  %0 = math.roundeven %a : f32
  %1 = math.roundeven %v : vector<4xf32>
  return
}
// -----
func.func @math_rsqrt(%a: f32, %v: vector<4xf32>) {
  %0 = math.rsqrt %a : f32
  %1 = math.rsqrt %v : vector<4xf32>
  return
}
// -----
func.func @math_sin(%a: f32, %v: vector<4xf32>) {
  %0 = math.sin %a : f32
  %1 = math.sin %v : vector<4xf32>
  return
}
// -----
func.func @math_sinh(%a: f32, %v: vector<4xf32>) {
  %0 = math.sinh %a : f32
  %1 = math.sinh %v : vector<4xf32>
  return
}
// -----
func.func @math_sqrt(%a: f32, %v: vector<4xf32>) {
  %0 = math.sqrt %a : f32
  %1 = math.sqrt %v : vector<4xf32>
  return
}
// -----
func.func @math_tan(%a: f32, %v: vector<4xf32>) {
  %0 = math.tan %a : f32
  %1 = math.tan %v : vector<4xf32>
  return
}
// -----
func.func @math_tanh(%a: f32, %v: vector<4xf32>) {
  %0 = math.tanh %a : f32
  %1 = math.tanh %v : vector<4xf32>
  return
}
// -----
func.func @math_trunc(%a: f32, %v: vector<4xf32>) {
  %0 = math.trunc %a : f32
  %1 = math.trunc %v : vector<4xf32>
  return
}
// -----
func.func @math_int(%a: i32) {
  %0 = math.absi %a : i32
  %1 = math.ctlz %a : i32
  %2 = math.cttz %a : i32
  %3 = math.ctpop %a : i32
  %4 = math.ipowi %a, %a : i32
  return
}
// -----
func.func @math_two(%a: f32, %i: i32) {
  %0 = math.atan2 %a, %a : f32
  %1 = math.copysign %a, %a : f32
  %2 = math.powf %a, %a : f32
  %3 = math.fpowi %a, %i : f32, i32
  %4 = math.fma %a, %a, %a : f32
  %5 = math.isinf %a : f32
  %6 = math.isnormal %a : f32
  %7, %8 = math.sincos %a : f32
  %9 = math.clampf %a to [%a, %a] : f32
  return
}
