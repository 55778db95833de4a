module {
  func.func @values(%arg0: tensor<4x?xf32>, %arg1: index, %arg2: f32, %arg3: tensor<2xindex>) {
    %extracted = tensor.extract %arg0[%arg1, %arg1] : tensor<4x?xf32>
    %inserted = tensor.insert %arg2 into %arg0[%arg1, %arg1] : tensor<4x?xf32>
    %dim = tensor.dim %arg0, %arg1 : tensor<4x?xf32>
    %0 = tensor.empty(%arg1) : tensor<4x?xf32>
    %1 = tensor.empty() : tensor<4xf32>
    %from_elements = tensor.from_elements %arg2, %arg2 : tensor<2xf32>
    %splat = tensor.splat %arg2[%arg1] : tensor<4x?xf32>
    %cast = tensor.cast %arg0 : tensor<4x?xf32> to tensor<?x?xf32>
    %reshape = tensor.reshape %arg0(%arg3) : (tensor<4x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %rank = tensor.rank %arg0 : tensor<4x?xf32>
    %2 = tensor.bitcast %1 : tensor<4xf32> to tensor<4xi32>
    %cast_0 = tensor.cast %arg0 : tensor<4x?xf32> to tensor<*xf32>
    return
  }
}

// -----
module {
  func.func @slices(%arg0: tensor<16x16xf32>, %arg1: index, %arg2: tensor<4x4xf32>) {
    %extracted_slice = tensor.extract_slice %arg0[%arg1, 0] [4, 4] [1, 1] : tensor<16x16xf32> to tensor<4x4xf32>
    %inserted_slice = tensor.insert_slice %arg2 into %arg0[%arg1, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<16x16xf32>
    %expanded = tensor.expand_shape %arg0 [[0, 1], [2]] output_shape [4, 4, 16] : tensor<16x16xf32> into tensor<4x4x16xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1]] : tensor<16x16xf32> into tensor<256xf32>
    %concat = tensor.concat dim(0) %arg2, %arg2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %extracted_slice_0 = tensor.extract_slice %arg0[%arg1, %arg1] [%arg1, 4] [%arg1, 1] : tensor<16x16xf32> to tensor<?x4xf32>
    return
  }
}

// -----
module {
  func.func @bodies(%arg0: tensor<4x4xf32>, %arg1: index, %arg2: f32, %arg3: tensor<3x1xindex>) {
    %generated = tensor.generate %arg1 {
    ^bb0(%arg4: index, %arg5: index):
      %extracted = tensor.extract %arg0[%arg4, %arg5] : tensor<4x4xf32>
      tensor.yield %extracted : f32
    } : tensor<?x4xf32>
    %padded = tensor.pad %arg0 low[0, %arg1] high[1, %arg1] {
    ^bb0(%arg4: index, %arg5: index):
      tensor.yield %arg2 : f32
    } : tensor<4x4xf32> to tensor<5x?xf32>
    %padded_0 = tensor.pad %arg0 nofold low[0, 0] high[1, 1] {
    ^bb0(%arg4: index, %arg5: index):
      tensor.yield %arg2 : f32
    } : tensor<4x4xf32> to tensor<5x5xf32>
    %gather = tensor.gather %arg0[%arg3] gather_dims([0]) : (tensor<4x4xf32>, tensor<3x1xindex>) -> tensor<3x1x4xf32>
    return
  }
}

// -----
module {
  func.func @encodings(%arg0: tensor<4xf32, 4096 : i64>, %arg1: tensor<2xf32, {acme.place = [1, 2]}>, %arg2: tensor<2xf32, #acme.e<1, [2]>>) -> tensor<4xf32, 4096 : i64> {
    return %arg0 : tensor<4xf32, 4096 : i64>
  }
}

