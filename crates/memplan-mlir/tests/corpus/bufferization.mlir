func.func @borders(%m: memref<4xf32>, %t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = bufferization.to_tensor %m restrict writable : memref<4xf32> to tensor<4xf32>
  %1 = bufferization.to_buffer %t : tensor<4xf32> to memref<4xf32>
  %2 = bufferization.to_buffer %t read_only : tensor<4xf32> to memref<4xf32, strided<[?], offset: ?>>
  %3 = bufferization.clone %m : memref<4xf32> to memref<4xf32>
  bufferization.materialize_in_destination %t in writable %m : (tensor<4xf32>, memref<4xf32>) -> ()
  %4 = bufferization.materialize_in_destination %t in %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @tensors(%n: index, %t: tensor<?xf32>) {
  %0 = bufferization.alloc_tensor(%n) : tensor<?xf32>
  %1 = bufferization.alloc_tensor() copy(%t) : tensor<?xf32>
  %2 = bufferization.alloc_tensor() {memory_space = 1 : i64} : tensor<4xf32>
  %3 = bufferization.alloc_tensor(%n) size_hint=%n : tensor<?xf32>
  bufferization.dealloc_tensor %0 : tensor<?xf32>
  return
}
// -----
func.func @deallocs(%a: memref<4xf32>, %b: memref<f32>, %c: i1) {
  bufferization.dealloc (%a, %b : memref<4xf32>, memref<f32>) if (%c, %c)
  %0:2 = bufferization.dealloc (%a : memref<4xf32>) if (%c) retain (%a, %b : memref<4xf32>, memref<f32>)
  return
}
