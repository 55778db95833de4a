module {
  func.func private @use(memref<16xi32>)
  func.func @regions(%arg0: memref<16xi32>, %arg1: i32) {
    acc.parallel async {
      func.call @use(%arg0) : (memref<16xi32>) -> ()
      acc.yield
    }
    acc.kernels async(%arg1 : i32) {
      acc.terminator
    }
    acc.serial {
      acc.yield
    }
    acc.wait
    return
  }
}

// -----
module {
  func.func @data(%arg0: memref<16xi32>) {
    %0 = acc.copyin varPtr(%arg0 : memref<16xi32>) -> memref<16xi32>
    acc.data dataOperands(%0 : memref<16xi32>) {
      acc.terminator
    }
    acc.copyout accPtr(%0 : memref<16xi32>) to varPtr(%arg0 : memref<16xi32>)
    return
  }
}

