func.func @constants() {
  %0 = arith.constant 0 : index
  %1 = arith.constant -1 : i64
  %2 = arith.constant true
  %3 = arith.constant false
  %4 = arith.constant 1.5e+01 : f32
  %5 = arith.constant 0xFF800000 : f32
  %6 = arith.constant dense<0.0> : tensor<4x4xf32>
  %7 = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi8>
  %8 = arith.constant dense<"0x01020304"> : tensor<4xi8>
  %9 = arith.constant sparse<[[0, 1]], 2.0> : tensor<4x4xf32>
  %10 = arith.constant dense_resource<blob> : tensor<2xf32>
  %11 = arith.constant {acme.tag = "t"} 5 : i32
  %12 = arith.constant 1.0 : bf16
  return
}
{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F00000040"
    }
  }
#-}
// -----
func.func @integers(%a: i32, %b: i32) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b overflow<nsw, nuw> : i32
  %2 = arith.subi %a, %b : i32
  %3 = arith.muli %a, %b : i32
  %4 = arith.divsi %a, %b : i32
  %5 = arith.divui %a, %b : i32
  %6 = arith.remsi %a, %b : i32
  %7 = arith.ceildivsi %a, %b : i32
  %8 = arith.floordivsi %a, %b : i32
  %9 = arith.andi %a, %b : i32
  %10 = arith.shli %a, %b : i32
  %11 = arith.maxsi %a, %b : i32
  %12, %13 = arith.addui_extended %a, %b : i32, i1
  %14:2 = arith.mulsi_extended %a, %b : i32
  %15, %16 = arith.mului_extended %a, %b : i32
  return
}
// -----
func.func @floats(%a: f32, %b: f32, %v: vector<4xf32>) {
  %0 = arith.addf %a, %b fastmath<fast> : f32
  %1 = arith.subf %a, %b : f32
  %2 = arith.mulf %v, %v fastmath<nnan, ninf> : vector<4xf32>
  %3 = arith.negf %a : f32
  %4 = arith.maximumf %a, %b : f32
  %5 = arith.remf %a, %b : f32
  %6 = arith.cmpf olt, %a, %b : f32
  %7 = arith.cmpf ogt, %v, %v : vector<4xf32>
  return
}
// -----
func.func @conversions(%a: i32, %b: f32, %i: index) {
  %0 = arith.extsi %a : i32 to i64
  %1 = arith.trunci %a : i32 to i8
  %2 = arith.sitofp %a : i32 to f32
  %3 = arith.fptosi %b : f32 to i32
  %4 = arith.truncf %b : f32 to f16
  %5 = arith.extf %b : f32 to f64
  %6 = arith.index_cast %i : index to i32
  %7 = arith.bitcast %b : f32 to i32
  %8 = arith.cmpi slt, %a, %a : i32
  %9 = arith.truncf %b to_nearest_even : f32 to bf16
  return
}
// -----
func.func @selects(%c: i1, %a: memref<4xf32>, %b: memref<4xf32>, %m: vector<4xi1>, %v: vector<4xf32>) -> memref<4xf32> {
  %0 = arith.select %c, %a, %b : memref<4xf32>
  %1 = arith.select %m, %v, %v : vector<4xi1>, vector<4xf32>
  return %0 : memref<4xf32>
}
