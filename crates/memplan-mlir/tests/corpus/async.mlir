func.func @executes(%m: memref<4xf32>, %f: f32) -> f32 {
  %t = async.execute {
    "acme.use"(%m) : (memref<4xf32>) -> ()
    async.yield
  }
  %t2, %v = async.execute -> !async.value<f32> {
    async.yield %f : f32
  }
  %t3, %v3:2 = async.execute [%t, %t2] (%v as %inner: !async.value<f32>) -> (!async.value<f32>, !async.value<memref<4xf32>>) {
    %s = arith.addf %inner, %inner : f32
    async.yield %s, %m : f32, memref<4xf32>
  }
  async.await %t : !async.token
  %r = async.await %v3#0 : !async.value<f32>
  %b = async.await %v3#1 : !async.value<memref<4xf32>>
  return %r : f32
}
// -----
func.func @groups(%n: index) {
  %g = async.create_group %n : !async.group
  %t = async.execute {
    async.yield
  }
  %i = async.add_to_group %t, %g : !async.token
  async.await_all %g
  return
}
// -----
async.func @coroutine(%a: f32, %m: memref<4xf32>) -> !async.value<f32> {
  return %a : f32
}
func.func @calls(%a: f32, %m: memref<4xf32>) -> f32 {
  %v = async.call @coroutine(%a, %m) : (f32, memref<4xf32>) -> !async.value<f32>
  %r = async.await %v : !async.value<f32>
  return %r : f32
}
