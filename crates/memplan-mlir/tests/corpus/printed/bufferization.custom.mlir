module {
  func.func @borders(%arg0: memref<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = bufferization.to_tensor %arg0 restrict writable : memref<4xf32> to tensor<4xf32>
    %1 = bufferization.to_buffer %arg1 : tensor<4xf32> to memref<4xf32>
    %2 = bufferization.to_buffer %arg1 read_only : tensor<4xf32> to memref<4xf32, strided<[?], offset: ?>>
    %3 = bufferization.clone %arg0 : memref<4xf32> to memref<4xf32>
    bufferization.materialize_in_destination %arg1 in writable %arg0 : (tensor<4xf32>, memref<4xf32>) -> ()
    %4 = bufferization.materialize_in_destination %arg1 in %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----
module {
  func.func @tensors(%arg0: index, %arg1: tensor<?xf32>) {
    %0 = bufferization.alloc_tensor(%arg0) : tensor<?xf32>
    %1 = bufferization.alloc_tensor() copy(%arg1) : tensor<?xf32>
    %2 = bufferization.alloc_tensor() {memory_space = 1 : i64} : tensor<4xf32>
    %3 = bufferization.alloc_tensor(%arg0) size_hint=%arg0 : tensor<?xf32>
    bufferization.dealloc_tensor %0 : tensor<?xf32>
    return
  }
}

// -----
module {
  func.func @deallocs(%arg0: memref<4xf32>, %arg1: memref<f32>, %arg2: i1) {
    bufferization.dealloc (%arg0, %arg1 : memref<4xf32>, memref<f32>) if (%arg2, %arg2)
    %0:2 = bufferization.dealloc (%arg0 : memref<4xf32>) if (%arg2) retain (%arg0, %arg1 : memref<4xf32>, memref<f32>)
    return
  }
}

