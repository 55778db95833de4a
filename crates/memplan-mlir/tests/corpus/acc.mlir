func.func private @use(memref<16xi32>)
func.func @regions(%a: memref<16xi32>, %n: i32) {
  acc.parallel async {
    func.call @use(%a) : (memref<16xi32>) -> ()
    acc.yield
  }
  acc.kernels async(%n : i32) {
    acc.terminator
  }
  acc.serial {
    acc.yield
  }
  acc.wait
  return
}
// -----
func.func @data(%a: memref<16xi32>) {
  %d = acc.copyin varPtr(%a : memref<16xi32>) -> memref<16xi32>
  acc.data dataOperands(%d : memref<16xi32>) {
    acc.terminator
  }
  acc.copyout accPtr(%d : memref<16xi32>) to varPtr(%a : memref<16xi32>)
  return
}
