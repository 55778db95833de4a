module {
  func.func @addi(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.addi %arg0, %arg1 : i32
    %1 = arith.addi %arg2, %arg2 : vector<4xi32>
    %2 = arith.addi %arg3, %arg3 : index
    %3 = arith.addi %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @subi(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.subi %arg0, %arg1 : i32
    %1 = arith.subi %arg2, %arg2 : vector<4xi32>
    %2 = arith.subi %arg3, %arg3 : index
    %3 = arith.subi %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @muli(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.muli %arg0, %arg1 : i32
    %1 = arith.muli %arg2, %arg2 : vector<4xi32>
    %2 = arith.muli %arg3, %arg3 : index
    %3 = arith.muli %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @divsi(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.divsi %arg0, %arg1 : i32
    %1 = arith.divsi %arg2, %arg2 : vector<4xi32>
    %2 = arith.divsi %arg3, %arg3 : index
    %3 = arith.divsi %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @divui(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.divui %arg0, %arg1 : i32
    %1 = arith.divui %arg2, %arg2 : vector<4xi32>
    %2 = arith.divui %arg3, %arg3 : index
    %3 = arith.divui %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @remsi(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.remsi %arg0, %arg1 : i32
    %1 = arith.remsi %arg2, %arg2 : vector<4xi32>
    %2 = arith.remsi %arg3, %arg3 : index
    %3 = arith.remsi %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @remui(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.remui %arg0, %arg1 : i32
    %1 = arith.remui %arg2, %arg2 : vector<4xi32>
    %2 = arith.remui %arg3, %arg3 : index
    %3 = arith.remui %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @ceildivsi(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.ceildivsi %arg0, %arg1 : i32
    %1 = arith.ceildivsi %arg2, %arg2 : vector<4xi32>
    %2 = arith.ceildivsi %arg3, %arg3 : index
    %3 = arith.ceildivsi %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @ceildivui(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.ceildivui %arg0, %arg1 : i32
    %1 = arith.ceildivui %arg2, %arg2 : vector<4xi32>
    %2 = arith.ceildivui %arg3, %arg3 : index
    %3 = arith.ceildivui %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @floordivsi(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.floordivsi %arg0, %arg1 : i32
    %1 = arith.floordivsi %arg2, %arg2 : vector<4xi32>
    %2 = arith.floordivsi %arg3, %arg3 : index
    %3 = arith.floordivsi %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @andi(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.andi %arg0, %arg1 : i32
    %1 = arith.andi %arg2, %arg2 : vector<4xi32>
    %2 = arith.andi %arg3, %arg3 : index
    %3 = arith.andi %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @ori(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.ori %arg0, %arg1 : i32
    %1 = arith.ori %arg2, %arg2 : vector<4xi32>
    %2 = arith.ori %arg3, %arg3 : index
    %3 = arith.ori %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @xori(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.xori %arg0, %arg1 : i32
    %1 = arith.xori %arg2, %arg2 : vector<4xi32>
    %2 = arith.xori %arg3, %arg3 : index
    %3 = arith.xori %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @shli(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.shli %arg0, %arg1 : i32
    %1 = arith.shli %arg2, %arg2 : vector<4xi32>
    %2 = arith.shli %arg3, %arg3 : index
    %3 = arith.shli %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @shrsi(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.shrsi %arg0, %arg1 : i32
    %1 = arith.shrsi %arg2, %arg2 : vector<4xi32>
    %2 = arith.shrsi %arg3, %arg3 : index
    %3 = arith.shrsi %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @shrui(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.shrui %arg0, %arg1 : i32
    %1 = arith.shrui %arg2, %arg2 : vector<4xi32>
    %2 = arith.shrui %arg3, %arg3 : index
    %3 = arith.shrui %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @maxsi(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.maxsi %arg0, %arg1 : i32
    %1 = arith.maxsi %arg2, %arg2 : vector<4xi32>
    %2 = arith.maxsi %arg3, %arg3 : index
    %3 = arith.maxsi %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @maxui(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.maxui %arg0, %arg1 : i32
    %1 = arith.maxui %arg2, %arg2 : vector<4xi32>
    %2 = arith.maxui %arg3, %arg3 : index
    %3 = arith.maxui %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @minsi(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.minsi %arg0, %arg1 : i32
    %1 = arith.minsi %arg2, %arg2 : vector<4xi32>
    %2 = arith.minsi %arg3, %arg3 : index
    %3 = arith.minsi %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @minui(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>, %arg3: index, %arg4: tensor<2x?xi8>) {
    %0 = arith.minui %arg0, %arg1 : i32
    %1 = arith.minui %arg2, %arg2 : vector<4xi32>
    %2 = arith.minui %arg3, %arg3 : index
    %3 = arith.minui %arg4, %arg4 : tensor<2x?xi8>
    return
  }
}

// -----
module {
  func.func @addf(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>) {
    %0 = arith.addf %arg0, %arg1 : f32
    %1 = arith.addf %arg2, %arg2 fastmath<contract> : vector<2x4xf16>
    return
  }
}

// -----
module {
  func.func @subf(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>) {
    %0 = arith.subf %arg0, %arg1 : f32
    %1 = arith.subf %arg2, %arg2 fastmath<contract> : vector<2x4xf16>
    return
  }
}

// -----
module {
  func.func @mulf(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>) {
    %0 = arith.mulf %arg0, %arg1 : f32
    %1 = arith.mulf %arg2, %arg2 fastmath<contract> : vector<2x4xf16>
    return
  }
}

// -----
module {
  func.func @divf(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>) {
    %0 = arith.divf %arg0, %arg1 : f32
    %1 = arith.divf %arg2, %arg2 fastmath<contract> : vector<2x4xf16>
    return
  }
}

// -----
module {
  func.func @remf(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>) {
    %0 = arith.remf %arg0, %arg1 : f32
    %1 = arith.remf %arg2, %arg2 fastmath<contract> : vector<2x4xf16>
    return
  }
}

// -----
module {
  func.func @maximumf(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>) {
    %0 = arith.maximumf %arg0, %arg1 : f32
    %1 = arith.maximumf %arg2, %arg2 fastmath<contract> : vector<2x4xf16>
    return
  }
}

// -----
module {
  func.func @maxnumf(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>) {
    %0 = arith.maxnumf %arg0, %arg1 : f32
    %1 = arith.maxnumf %arg2, %arg2 fastmath<contract> : vector<2x4xf16>
    return
  }
}

// -----
module {
  func.func @minimumf(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>) {
    %0 = arith.minimumf %arg0, %arg1 : f32
    %1 = arith.minimumf %arg2, %arg2 fastmath<contract> : vector<2x4xf16>
    return
  }
}

// -----
module {
  func.func @minnumf(%arg0: f32, %arg1: f32, %arg2: vector<2x4xf16>) {
    %0 = arith.minnumf %arg0, %arg1 : f32
    %1 = arith.minnumf %arg2, %arg2 fastmath<contract> : vector<2x4xf16>
    return
  }
}

// -----
module {
  func.func @cmpi_eq(%arg0: i64, %arg1: vector<4xi64>) {
    %0 = arith.cmpi eq, %arg0, %arg0 : i64
    %1 = arith.cmpi eq, %arg1, %arg1 : vector<4xi64>
    %2 = arith.select %0, %arg0, %arg0 : i64
    return
  }
}

// -----
module {
  func.func @cmpi_ne(%arg0: i64, %arg1: vector<4xi64>) {
    %0 = arith.cmpi ne, %arg0, %arg0 : i64
    %1 = arith.cmpi ne, %arg1, %arg1 : vector<4xi64>
    %2 = arith.select %0, %arg0, %arg0 : i64
    return
  }
}

// -----
module {
  func.func @cmpi_slt(%arg0: i64, %arg1: vector<4xi64>) {
    %0 = arith.cmpi slt, %arg0, %arg0 : i64
    %1 = arith.cmpi slt, %arg1, %arg1 : vector<4xi64>
    %2 = arith.select %0, %arg0, %arg0 : i64
    return
  }
}

// -----
module {
  func.func @cmpi_sle(%arg0: i64, %arg1: vector<4xi64>) {
    %0 = arith.cmpi sle, %arg0, %arg0 : i64
    %1 = arith.cmpi sle, %arg1, %arg1 : vector<4xi64>
    %2 = arith.select %0, %arg0, %arg0 : i64
    return
  }
}

// -----
module {
  func.func @cmpi_sgt(%arg0: i64, %arg1: vector<4xi64>) {
    %0 = arith.cmpi sgt, %arg0, %arg0 : i64
    %1 = arith.cmpi sgt, %arg1, %arg1 : vector<4xi64>
    %2 = arith.select %0, %arg0, %arg0 : i64
    return
  }
}

// -----
module {
  func.func @cmpi_sge(%arg0: i64, %arg1: vector<4xi64>) {
    %0 = arith.cmpi sge, %arg0, %arg0 : i64
    %1 = arith.cmpi sge, %arg1, %arg1 : vector<4xi64>
    %2 = arith.select %0, %arg0, %arg0 : i64
    return
  }
}

// -----
module {
  func.func @cmpi_ult(%arg0: i64, %arg1: vector<4xi64>) {
    %0 = arith.cmpi ult, %arg0, %arg0 : i64
    %1 = arith.cmpi ult, %arg1, %arg1 : vector<4xi64>
    %2 = arith.select %0, %arg0, %arg0 : i64
    return
  }
}

// -----
module {
  func.func @cmpi_ule(%arg0: i64, %arg1: vector<4xi64>) {
    %0 = arith.cmpi ule, %arg0, %arg0 : i64
    %1 = arith.cmpi ule, %arg1, %arg1 : vector<4xi64>
    %2 = arith.select %0, %arg0, %arg0 : i64
    return
  }
}

// -----
module {
  func.func @cmpi_ugt(%arg0: i64, %arg1: vector<4xi64>) {
    %0 = arith.cmpi ugt, %arg0, %arg0 : i64
    %1 = arith.cmpi ugt, %arg1, %arg1 : vector<4xi64>
    %2 = arith.select %0, %arg0, %arg0 : i64
    return
  }
}

// -----
module {
  func.func @cmpi_uge(%arg0: i64, %arg1: vector<4xi64>) {
    %0 = arith.cmpi uge, %arg0, %arg0 : i64
    %1 = arith.cmpi uge, %arg1, %arg1 : vector<4xi64>
    %2 = arith.select %0, %arg0, %arg0 : i64
    return
  }
}

// -----
module {
  func.func @cmpf_oeq(%arg0: f64) {
    %0 = arith.cmpf oeq, %arg0, %arg0 : f64
    %1 = arith.cmpf oeq, %arg0, %arg0 fastmath<fast> : f64
    return
  }
}

// -----
module {
  func.func @cmpf_olt(%arg0: f64) {
    %0 = arith.cmpf olt, %arg0, %arg0 : f64
    %1 = arith.cmpf olt, %arg0, %arg0 fastmath<fast> : f64
    return
  }
}

// -----
module {
  func.func @cmpf_ogt(%arg0: f64) {
    %0 = arith.cmpf ogt, %arg0, %arg0 : f64
    %1 = arith.cmpf ogt, %arg0, %arg0 fastmath<fast> : f64
    return
  }
}

// -----
module {
  func.func @cmpf_ole(%arg0: f64) {
    %0 = arith.cmpf ole, %arg0, %arg0 : f64
    %1 = arith.cmpf ole, %arg0, %arg0 fastmath<fast> : f64
    return
  }
}

// -----
module {
  func.func @cmpf_oge(%arg0: f64) {
    %0 = arith.cmpf oge, %arg0, %arg0 : f64
    %1 = arith.cmpf oge, %arg0, %arg0 fastmath<fast> : f64
    return
  }
}

// -----
module {
  func.func @cmpf_one(%arg0: f64) {
    %0 = arith.cmpf one, %arg0, %arg0 : f64
    %1 = arith.cmpf one, %arg0, %arg0 fastmath<fast> : f64
    return
  }
}

// -----
module {
  func.func @cmpf_ord(%arg0: f64) {
    %0 = arith.cmpf ord, %arg0, %arg0 : f64
    %1 = arith.cmpf ord, %arg0, %arg0 fastmath<fast> : f64
    return
  }
}

// -----
module {
  func.func @cmpf_ueq(%arg0: f64) {
    %0 = arith.cmpf ueq, %arg0, %arg0 : f64
    %1 = arith.cmpf ueq, %arg0, %arg0 fastmath<fast> : f64
    return
  }
}

// -----
module {
  func.func @cmpf_ult(%arg0: f64) {
    %0 = arith.cmpf ult, %arg0, %arg0 : f64
    %1 = arith.cmpf ult, %arg0, %arg0 fastmath<fast> : f64
    return
  }
}

// -----
module {
  func.func @cmpf_uno(%arg0: f64) {
    %0 = arith.cmpf uno, %arg0, %arg0 : f64
    %1 = arith.cmpf uno, %arg0, %arg0 fastmath<fast> : f64
    return
  }
}

// -----
module {
  func.func @cmpf_false(%arg0: f64) {
    %0 = arith.cmpf false, %arg0, %arg0 : f64
    %1 = arith.cmpf false, %arg0, %arg0 fastmath<fast> : f64
    return
  }
}

// -----
module {
  func.func @cmpf_true(%arg0: f64) {
    %0 = arith.cmpf true, %arg0, %arg0 : f64
    %1 = arith.cmpf true, %arg0, %arg0 fastmath<fast> : f64
    return
  }
}

// -----
module {
  func.func @casts(%arg0: i8, %arg1: i32, %arg2: f16, %arg3: f32, %arg4: index) {
    %0 = arith.extui %arg0 : i8 to i32
    %1 = arith.uitofp %arg1 : i32 to f32
    %2 = arith.fptoui %arg2 : f16 to i16
    %3 = arith.index_castui %arg4 : index to i64
    %4 = arith.trunci %arg1 overflow<nsw> : i32 to i16
    %5 = arith.bitcast %arg3 : f32 to i32
    return
  }
}

// -----
module {
  func.func @math_absf(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.absf %arg0 : f32
    %1 = math.absf %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_acos(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.acos %arg0 : f32
    %1 = math.acos %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_acosh(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.acosh %arg0 : f32
    %1 = math.acosh %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_asin(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.asin %arg0 : f32
    %1 = math.asin %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_asinh(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.asinh %arg0 : f32
    %1 = math.asinh %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_atan(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.atan %arg0 : f32
    %1 = math.atan %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_atanh(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.atanh %arg0 : f32
    %1 = math.atanh %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_cbrt(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.cbrt %arg0 : f32
    %1 = math.cbrt %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_ceil(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.ceil %arg0 : f32
    %1 = math.ceil %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_cos(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.cos %arg0 : f32
    %1 = math.cos %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_cosh(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.cosh %arg0 : f32
    %1 = math.cosh %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_erf(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.erf %arg0 : f32
    %1 = math.erf %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_erfc(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.erfc %arg0 : f32
    %1 = math.erfc %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_exp(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.exp %arg0 : f32
    %1 = math.exp %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_exp2(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.exp2 %arg0 : f32
    %1 = math.exp2 %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_expm1(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.expm1 %arg0 : f32
    %1 = math.expm1 %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_floor(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.floor %arg0 : f32
    %1 = math.floor %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_log(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.log %arg0 : f32
    %1 = math.log %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_log10(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.log10 %arg0 : f32
    %1 = math.log10 %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_log1p(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.log1p %arg0 : f32
    %1 = math.log1p %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_log2(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.log2 %arg0 : f32
    %1 = math.log2 %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_round(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.round %arg0 : f32
    %1 = math.round %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_roundeven(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.roundeven %arg0 : f32
    %1 = math.roundeven %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_rsqrt(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.rsqrt %arg0 : f32
    %1 = math.rsqrt %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_sin(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.sin %arg0 : f32
    %1 = math.sin %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_sinh(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.sinh %arg0 : f32
    %1 = math.sinh %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_sqrt(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.sqrt %arg0 : f32
    %1 = math.sqrt %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_tan(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.tan %arg0 : f32
    %1 = math.tan %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_tanh(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.tanh %arg0 : f32
    %1 = math.tanh %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_trunc(%arg0: f32, %arg1: vector<4xf32>) {
    %0 = math.trunc %arg0 : f32
    %1 = math.trunc %arg1 : vector<4xf32>
    return
  }
}

// -----
module {
  func.func @math_int(%arg0: i32) {
    %0 = math.absi %arg0 : i32
    %1 = math.ctlz %arg0 : i32
    %2 = math.cttz %arg0 : i32
    %3 = math.ctpop %arg0 : i32
    %4 = math.ipowi %arg0, %arg0 : i32
    return
  }
}

// -----
module {
  func.func @math_two(%arg0: f32, %arg1: i32) {
    %0 = math.atan2 %arg0, %arg0 : f32
    %1 = math.copysign %arg0, %arg0 : f32
    %2 = math.powf %arg0, %arg0 : f32
    %3 = math.fpowi %arg0, %arg1 : f32, i32
    %4 = math.fma %arg0, %arg0, %arg0 : f32
    %5 = math.isinf %arg0 : f32
    %6 = math.isnormal %arg0 : f32
    %sin, %cos = math.sincos %arg0 : f32
    %7 = math.clampf %arg0 to [%arg0, %arg0] : f32
    return
  }
}

