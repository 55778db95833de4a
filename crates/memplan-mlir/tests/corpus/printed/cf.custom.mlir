module {
  func.func @branches(%arg0: i1, %arg1: memref<4xf32>, %arg2: memref<4xf32>) -> memref<4xf32> {
    cf.cond_br %arg0, ^bb1(%arg1, %arg2 : memref<4xf32>, memref<4xf32>), ^bb2
  ^bb1(%0: memref<4xf32>, %1: memref<4xf32>):  // pred: ^bb0
    cf.br ^bb3(%0 : memref<4xf32>)
  ^bb2:  // pred: ^bb0
    cf.br ^bb3(%arg2 : memref<4xf32>)
  ^bb3(%2: memref<4xf32>):  // 2 preds: ^bb1, ^bb2
    return %2 : memref<4xf32>
  }
}

// -----
module {
  func.func @weights(%arg0: i1) {
    cf.cond_br %arg0 weights([10, 90]), ^bb1, ^bb1
  ^bb1:  // 2 preds: ^bb0, ^bb0
    cf.assert %arg0, "must hold ^bb2: \22quoted\22"
    return
  }
}

// -----
module {
  func.func @switch(%arg0: i32, %arg1: i32, %arg2: i32) {
    cf.switch %arg0 : i32, [
      default: ^bb1(%arg1 : i32),
      42: ^bb1(%arg2 : i32),
      43: ^bb2
    ]
  ^bb1(%0: i32):  // 2 preds: ^bb0, ^bb0
    cf.br ^bb2
  ^bb2:  // 2 preds: ^bb0, ^bb1
    return
  }
}

// -----
module {
  func.func @loop(%arg0: index) {
    %c0 = arith.constant 0 : index
    cf.br ^bb1(%c0 : index)
  ^bb1(%0: index):  // 2 preds: ^bb0, ^bb3
    %1 = arith.cmpi slt, %0, %arg0 : index
    cf.cond_br %1, ^bb3, ^bb2
  ^bb2:  // pred: ^bb1
    "acme.use"(%0) : (index) -> ()
    return
  ^bb3:  // pred: ^bb1
    %2 = arith.addi %0, %arg0 : index
    cf.br ^bb1(%2 : index)
  }
}

// -----
module {
  func.func @forward(%arg0: i1) {
    cf.br ^bb2
  ^bb1:  // pred: ^bb2
    "acme.use"(%0) : (i32) -> ()
    return
  ^bb2:  // pred: ^bb0
    %0 = "acme.make"() : () -> i32
    cf.br ^bb1
  }
}

