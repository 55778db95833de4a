// Custom forms nobody knows, with regions, arguments and branches.
func.func @f(%n: index, %m: memref<4xf32>) {
  acme.for %i = %n to %n step %n {
    acme.use %i, %m : index, memref<4xf32>
    acme.yield
  }
  %a, %b = acme.pair(%m) [%n] {k = "v"} : (memref<4xf32>) -> (memref<4xf32>, i32)
  acme.each %item in %m {
    acme.take %item : f32
  } {done}
  acme.empty {}
  acme.match ops{["a.b", 1]} in %m : memref<4xf32>
  acme.flags {fast, "quoted name" = 1 : i64}
  acme.try {
    acme.step
  } catch %error {
    acme.log %error : i64
  }
  acme.branch %n : index
  "acme.generic"(%a, %b) ({
    acme.inner %m : memref<4xf32>
  }) : (memref<4xf32>, i32) -> ()
  acme.nested ({
    acme.step
  }) : () -> ()
  return
}
