module {
  func.func @executes(%arg0: memref<4xf32>, %arg1: f32) -> f32 {
    %token = async.execute {
      "acme.use"(%arg0) : (memref<4xf32>) -> ()
      async.yield
    }
    %token_0, %bodyResults = async.execute -> !async.value<f32> {
      async.yield %arg1 : f32
    }
    %token_1, %bodyResults_2:2 = async.execute [%token, %token_0] (%bodyResults as %arg2: !async.value<f32>) -> (!async.value<f32>, !async.value<memref<4xf32>>) {
      %2 = arith.addf %arg2, %arg2 : f32
      async.yield %2, %arg0 : f32, memref<4xf32>
    }
    async.await %token : !async.token
    %0 = async.await %bodyResults_2#0 : !async.value<f32>
    %1 = async.await %bodyResults_2#1 : !async.value<memref<4xf32>>
    return %0 : f32
  }
}

// -----
module {
  func.func @groups(%arg0: index) {
    %0 = async.create_group %arg0 : !async.group
    %token = async.execute {
      async.yield
    }
    %1 = async.add_to_group %token, %0 : !async.token
    async.await_all %0
    return
  }
}

// -----
module {
  async.func @coroutine(%arg0: f32, %arg1: memref<4xf32>) -> !async.value<f32> {
    return %arg0 : f32
  }
  func.func @calls(%arg0: f32, %arg1: memref<4xf32>) -> f32 {
    %0 = async.call @coroutine(%arg0, %arg1) : (f32, memref<4xf32>) -> !async.value<f32>
    %1 = async.await %0 : !async.value<f32>
    return %1 : f32
  }
}

