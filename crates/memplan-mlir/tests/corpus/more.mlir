func.func @one_line(%c: i1) { scf.if %c { "a.b"() : () -> () } else { "a.c"() : () -> () } return }
// -----
func.func @two_on_a_line() { %a = arith.constant 0 : index %b = arith.constant 1 : index %c = arith.addi %a, %b : index "a.b"(%c) : (index) -> () return }
// -----
func.func @comments(%a: i32) { // after a brace
  // a line
  %0 = arith.addi %a, // between operands
    %a : i32 // not split
  // return
  return // at the end
}
// -----
func.func @broken_lines(%a: memref<4x4xf32>,
                        %b: memref<4x4xf32>)
    -> memref<4x4xf32>
    attributes {acme.a,
                acme.b = 1 : i64}
{
  linalg.matmul
      ins(%a, %b
          : memref<4x4xf32>,
            memref<4x4xf32>)
      outs(%a : memref<4x4xf32>)
  %0 =
    memref.alloc()
      {alignment = 64 : i64}
      : memref<4x4xf32>
  %1, %2
    = "acme.pair"(%a,
                  %b)
      : (memref<4x4xf32>, memref<4x4xf32>)
      -> (i32,
          i32)
  return %0
      : memref<4x4xf32>
}
// -----
func.func @strange_names(%arg-0: i32, %_: i32, %$x: i32, %a.b: i32, %12: i32) -> i32 {
  %0 = arith.addi %arg-0, %_ : i32
  %1 = arith.addi %$x, %a.b : i32
  %2 = arith.addi %12, %1 : i32
  return %2 : i32
}
// -----
func.func @same_names_in_siblings(%c: i1) {
  scf.if %c {
    %x = arith.constant 1 : i32
    "acme.use"(%x) : (i32) -> ()
  } else {
    %x = arith.constant 2 : i32
    "acme.use"(%x) : (i32) -> ()
  }
  %x = arith.constant 3 : i32
  "acme.use"(%x) : (i32) -> ()
  return
}
// -----
func.func @isolated(%x: i32) {
  builtin.module {
    func.func @inner(%y: f32) {
      "acme.use"(%y) : (f32) -> ()
      return
    }
  }
  "acme.use"(%x) : (i32) -> ()
  return
}
// -----
!a = i32
!b = memref<4x!a>
#s = strided<[?], offset: ?>
#sp = #gpu.address_space<workgroup>
func.func @nested_aliases(%0: !b, %1: memref<?xf32, #s>, %2: memref<?xf32, #s, #sp>) -> !a {
  %c = arith.constant 0 : index
  %v = memref.load %0[%c] : !b
  return %v : !a
}
// -----
func.func @loops_in_loops(%n: index, %a: memref<8xf32>, %b: memref<8xf32>) -> memref<8xf32> {
  %r = scf.for %i = %n to %n step %n iter_args(%p = %a) -> (memref<8xf32>) {
    %q:2 = scf.for %j = %n to %n step %n iter_args(%s = %p, %t = %b) -> (memref<8xf32>, memref<8xf32>) {
      %u = scf.while (%w = %s) : (memref<8xf32>) -> memref<8xf32> {
        %c = "acme.test"(%w) : (memref<8xf32>) -> i1
        scf.condition(%c) %w : memref<8xf32>
      } do {
      ^bb0(%x: memref<8xf32>):
        scf.yield %t : memref<8xf32>
      }
      scf.yield %u, %s : memref<8xf32>, memref<8xf32>
    }
    scf.yield %q#1 : memref<8xf32>
  }
  return %r : memref<8xf32>
}
// -----
func.func @branches_and_regions(%c: i1, %m: memref<4xf32>) {
  %0 = memref.alloc() : memref<4xf32>
  cf.br ^head(%0, %c : memref<4xf32>, i1)
^head(%x: memref<4xf32>, %k: i1):
  scf.if %k {
    "acme.use"(%x) : (memref<4xf32>) -> ()
  }
  cf.cond_br %k, ^head(%m, %c : memref<4xf32>, i1), ^exit
^exit:
  memref.dealloc %0 : memref<4xf32>
  return
}
// -----
func.func @dense_strings() {
  %0 = arith.constant dense<["a", "b, }\"", "// c"]> : tensor<3x!acme.string>
  %1 = "acme.attr"() {s = "%x = \"acme\"() {", t = "\5C\22"} : () -> i32
  return
}
// -----
func.func @subscripts(%a: memref<8x8xf32>, %n: index) {
  affine.for %i = 0 to 8 {
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to min affine_map<(d0)[s0] -> (d0 + 4, s0)>(%i)[%n] step 2 {
      %0 = affine.load %a[%j, symbol(%n) floordiv 2 + %i] : memref<8x8xf32>
      affine.store %0, %a[-%i + %j * 2, 3] : memref<8x8xf32>
      %1 = affine.load %a[0, %i ceildiv 3] {acme.tag} : memref<8x8xf32>
    }
  }
  return
}
// -----
func.func @gpu_clusters(%n: index, %m: memref<8xf32>) {
  gpu.launch clusters(%cx, %cy, %cz) in (%sx = %n, %sy = %n, %sz = %n) blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%hx = %n, %hy = %n, %hz = %n) {
    %0 = memref.load %m[%cx] : memref<8xf32>
    %1 = memref.load %m[%gx] : memref<8xf32>
    gpu.terminator
  }
  return
}
// -----
func.func @more_memref(%m: memref<8xf32>, %v: f32, %i: index, %u: memref<*xf32>) {
  %0 = memref.atomic_rmw assign %v, %m[%i] : (f32, memref<8xf32>) -> f32
  %1 = memref.cast %u : memref<*xf32> to memref<?xf32>
  %2 = memref.dim %u, %i : memref<*xf32>
  %3 = memref.realloc %m(%i) {alignment = 8 : i64} : memref<8xf32> to memref<?xf32>
  %4 = memref.subview %m[%i] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
  %5 = memref.reinterpret_cast %m to offset: [0], sizes: [2, 4], strides: [4, 1] : memref<8xf32> to memref<2x4xf32>
  %6 = memref.expand_shape %1 [[0, 1]] output_shape [%i, 4] : memref<?xf32> into memref<?x4xf32>
  %7 = memref.subview %5[0, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<4xf32>
  memref.copy %m, %m : memref<8xf32> to memref<8xf32>
  return
}
// -----
func.func @more_vector(%v: vector<4xf32>, %m: memref<?x?xf32>, %i: index, %s: vector<[4]xi32>, %b: vector<4xi1>, %t: vector<1xf32>, %z: vector<f32>) {
  %pad = arith.constant 0.0 : f32
  %0 = vector.transfer_read %m[%i, %i], %pad {permutation_map = affine_map<(d0, d1) -> (0, d1)>} : memref<?x?xf32>, vector<4x4xf32>
  %1 = vector.extract %0[0, %i] : f32 from vector<4x4xf32>
  %2 = vector.extract %z[] : f32 from vector<f32>
  %4 = vector.scalable.extract %s[0] : vector<4xi32> from vector<[4]xi32>
  %5 = vector.broadcast %t : vector<1xf32> to vector<4xf32>
  %6 = vector.multi_reduction <mul>, %0, %pad [0, 1] : vector<4x4xf32> to f32
  return
}
// -----
func.func @async_nested(%m: memref<4xf32>) {
  %t = async.execute {
    %u = async.execute {
      "acme.use"(%m) : (memref<4xf32>) -> ()
      async.yield
    }
    async.await %u : !async.token
    async.yield
  }
  async.await %t : !async.token
  return
}
// -----
func.func @quantized(%a: tensor<4x!quant.uniform<i8:f32, 2.000000e+00:10>>, %b: tensor<4x!quant.uniform<u8<1:255>:f32:0, {1.000000e+00:1,2.000000e+00:2}>>) {
  return
}
// -----
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @f(%a: memref<8xf32>) kernel {
      gpu.return
    }
  }
  func.func @host(%a: memref<8xf32>, %n: index, %c: index, %i: i32) {
    gpu.launch_func @k::@f clusters in (%c, %c, %c) blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %i args(%a : memref<8xf32>)
    %t = gpu.wait async
    %u = gpu.launch_func async [%t] @k::@f clusters in (%c, %c, %c) blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : memref<8xf32>)
    return
  }
}
// -----
func.func @returns_in_loops(%n: index, %f: f32) {
  scf.for %i = %n to %n step %n {
    %0 = scf.execute_region -> f32 {
      scf.yield %f : f32
    }
    scf.execute_region no_inline {
      scf.yield
    }
  }
  return
}
// -----
func.func @tensor_more(%t: tensor<4x4xf32>, %i: index, %f: f32, %d: tensor<8x8xf32>, %idx: tensor<2x1xindex>) {
  %0 = tensor.insert_slice %t into %d[%i, 2] [4, 4] [1, %i] : tensor<4x4xf32> into tensor<8x8xf32>
  %1 = tensor.splat %f : tensor<4xf32>
  %2 = tensor.expand_shape %t [[0, 1], [2]] output_shape [2, 2, 4] : tensor<4x4xf32> into tensor<2x2x4xf32>
  %s = "acme.make"() : () -> tensor<2x1x8xf32>
  %3 = tensor.scatter %s into %d[%idx] scatter_dims([0]) unique : (tensor<2x1x8xf32>, tensor<8x8xf32>, tensor<2x1xindex>) -> tensor<8x8xf32>
  %4 = tensor.insert %f into %t[%i, %i] {acme.tag} : tensor<4x4xf32>
  return
}
// -----
func.func @switch_generic(%f: i32, %m: memref<4xf32>) {
  cf.switch %f : i32, [
    default: ^bb1(%m : memref<4xf32>)
  ]
^bb1(%x: memref<4xf32>):
  return
}
