// Examples of dialects without a table: operands, regions and names are those of the generic form, and what is memory
// there may be memory in the custom form.
emitc.class @c {
  emitc.field @f : !emitc.array<1xf32>
  emitc.func @execute() {
    %0 = "emitc.constant"() <{value = 0 : index}> : () -> !emitc.size_t
    %1 = get_field @f : !emitc.array<1xf32>
    %2 = subscript %1[%0] : (!emitc.array<1xf32>, !emitc.size_t) -> !emitc.lvalue<f32>
    return
  }
}
// -----
emitc.file "main" {
  emitc.include <"stdio.h">
  emitc.verbatim "int x;"
  emitc.global extern @x : i32
  func.func @h() { return }
}
// -----
spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [Shader], []> {
  spirv.GlobalVariable @v bind(0, 1) : !spirv.ptr<!spirv.struct<(!spirv.array<16 x f32, stride=4> [0])>, StorageBuffer>
  spirv.SpecConstant @sc = 2 : i32
  spirv.SpecConstant @sd = 3 : i32
  spirv.SpecConstantComposite @scc (@sc, @sd) : !spirv.array<2 x i32>
  spirv.func @f(%a: i32, %b: i32, %p: !spirv.ptr<i32, Function>) -> i32 "None" {
    %0 = spirv.IAdd %a, %b : i32
    %1 = spirv.Load "Function" %p ["Volatile"] : i32
    spirv.Store "Function" %p, %1 ["Aligned", 4] : i32
    %2 = spirv.IEqual %a, %b : i32
    spirv.mlir.selection {
      spirv.BranchConditional %2 [5, 3], ^then, ^else
    ^then:
      spirv.Store "Function" %p, %a : i32
      spirv.Branch ^merge
    ^else:
      spirv.Branch ^merge
    ^merge:
      spirv.mlir.merge
    }
    %3 = spirv.mlir.addressof @v : !spirv.ptr<!spirv.struct<(!spirv.array<16 x f32, stride=4> [0])>, StorageBuffer>
    %c = spirv.Constant 0 : i32
    %4 = spirv.AccessChain %3[%c, %a] : !spirv.ptr<!spirv.struct<(!spirv.array<16 x f32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<f32, StorageBuffer>
    %5 = spirv.Select %2, %a, %b : i1, i32
    %6 = spirv.CompositeConstruct %a, %b : (i32, i32) -> vector<2xi32>
    %7 = spirv.CompositeExtract %6[1 : i32] : vector<2xi32>
    %8 = spirv.CompositeInsert %a, %6[1 : i32] : i32 into vector<2xi32>
    %9 = spirv.AtomicIAdd <Device> <None> %p, %a : !spirv.ptr<i32, Function>
    %10 = spirv.AtomicCompareExchange <Workgroup> <Release> <Acquire> %p, %a, %b : !spirv.ptr<i32, Function>
    %11 = spirv.BitFieldInsert %6, %6, %a, %b : vector<2xi32>, i32, i32
    %12 = spirv.VectorShuffle [1: i32, 3: i32] %6, %6 : vector<2xi32>, vector<2xi32> -> vector<2xi32>
    %13 = spirv.FunctionCall @f(%a, %b, %p) : (i32, i32, !spirv.ptr<i32, Function>) -> i32
    %14 = spirv.Variable : !spirv.ptr<i32, Function>
    %15 = spirv.Bitcast %a : i32 to f32
    %16 = spirv.ConvertSToF %a : i32 to f32
    %17 = spirv.GL.Exp %16 : f32
    %18 = spirv.GL.Fma %16, %16, %16 : f32
    %19 = spirv.mlir.referenceof @sc : i32
    %20 = spirv.IAddCarry %a, %b : !spirv.struct<(i32, i32)>
    %21 = spirv.ISub %a, %b : i32
    %22 = spirv.VectorExtractDynamic %6[%a] : vector<2xi32>, i32
    %23 = spirv.VectorInsertDynamic %a, %6[%b] : vector<2xi32>, i32
    %24 = spirv.ShiftLeftLogical %a, %b : i32, i32
    spirv.ControlBarrier <Workgroup>, <Device>, <Acquire|UniformMemory>
    spirv.MemoryBarrier <Device>, <Acquire|UniformMemory>
    %25 = spirv.Undef : i32
    %26 = spirv.GroupNonUniformElect <Workgroup> : i1
    %27 = spirv.GroupNonUniformIAdd <Workgroup> <Reduce> %a : i32 -> i32
    %28 = spirv.LogicalNot %2 : i1
    spirv.CopyMemory "Function" %p, "Function" %14 : i32
    spirv.ReturnValue %0 : i32
  }
  spirv.func @g() "None" {
    spirv.mlir.loop {
      spirv.Branch ^header
    ^header:
      %t = spirv.Constant true
      spirv.BranchConditional %t, ^body, ^merge
    ^body:
      spirv.Branch ^continue
    ^continue:
      spirv.Branch ^header
    ^merge:
      spirv.mlir.merge
    }
    spirv.Return
  }
  spirv.EntryPoint "GLCompute" @g
  spirv.ExecutionMode @g "LocalSize", 1, 1, 1
}
// -----
spirv.module Logical GLSL450 {
  spirv.SpecConstant @sc = 2 : i32
  spirv.func @f(%a: i32, %b: i32) -> i32 "None" {
    %19 = spirv.mlir.referenceof @sc : i32
    %24 = spirv.ShiftLeftLogical %a, %b : i32, i32
    %c = spirv.IEqual %a, %b : i32
    %r = spirv.mlir.selection -> i32 {
      spirv.BranchConditional %c, ^t, ^e
    ^t:
      spirv.Branch ^m(%a : i32)
    ^e:
      spirv.Branch ^m(%b : i32)
    ^m(%x : i32):
      spirv.mlir.merge %x : i32
    }
    spirv.ReturnValue %r : i32
  }
}
// -----
llvm.func @h(%p: !llvm.ptr, %n: i64, %v: vector<4xf32>, %m: vector<4xi1>) {
  %a = llvm.intr.masked.load %p, %m, %v {alignment = 1 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
  llvm.intr.masked.store %a, %p, %m {alignment = 1 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr
  %b = llvm.intr.vector.extract %v[0] : vector<4xf32> from vector<4xf32>
  %c = "llvm.intr.vector.reduce.add"(%m) : (vector<4xi1>) -> i1
  llvm.intr.assume %c : i1
  llvm.intr.lifetime.start %p : !llvm.ptr
  %d = llvm.freeze %n : i64
  %z = llvm.mlir.zero : !llvm.ptr
  %po = llvm.mlir.poison : i32
  %e = llvm.zext nneg %po : i32 to i64
  %f = llvm.va_arg %p : (!llvm.ptr) -> i32
  llvm.unreachable
}
// -----
llvm.comdat @__llvm_comdat {
  llvm.comdat_selector @any any
}
llvm.mlir.alias external @al : i32 {
  %0 = llvm.mlir.addressof @gg : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}
llvm.mlir.global external @gg() : i32 {
  %0 = llvm.mlir.constant(3 : i32) : i32
  llvm.return %0 : i32
}
llvm.mlir.global_ctors ctors = [@k], priorities = [0 : i32], data = [#llvm.zero]
llvm.func @k() { llvm.return }
// -----
func.func @mma(%a0: vector<2xf16>, %a1: vector<2xf16>, %b0: vector<2xf16>, %c0: vector<2xf16>, %c1: vector<2xf16>) {
  %0 = nvvm.mma.sync A[%a0, %a1] B[%b0] C[%c0, %c1] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>} : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
  return
}
// -----
func.func @nvgpu(%m: memref<32x32xf16, 3>, %g: memref<32x32xf16>, %i: index, %b: vector<2x2xf16>, %a: vector<4x2xf16>, %c: vector<2x2xf16>) {
  %0 = nvgpu.ldmatrix %m[%i, %i] {numTiles = 4 : i32, transpose = false} : memref<32x32xf16, 3> -> vector<4x2xf16>
  %1 = nvgpu.mma.sync (%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
  %cp = nvgpu.device_async_copy %g[%i, %i], %m[%i, %i], 8 {bypassL1} : memref<32x32xf16> to memref<32x32xf16, 3>
  %t = nvgpu.device_async_create_group %cp
  nvgpu.device_async_wait %t {numGroups = 1 : i32}
  %bar = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
  nvgpu.mbarrier.init %bar[%i], %i : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
  %tok = nvgpu.mbarrier.arrive %bar[%i] : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>> -> !nvgpu.mbarrier.token
  nvgpu.mbarrier.arrive.expect_tx %bar[%i], %i : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
  %w = nvgpu.mbarrier.test.wait %bar[%i], %tok : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>, !nvgpu.mbarrier.token
  return
}
// -----
func.func @tma(%u: memref<*xf32>, %i: index, %s: memref<32x32xf32, 3>, %bar: !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>) {
  %t = nvgpu.tma.create.descriptor %u box[%i, %i] : memref<*xf32> -> !nvgpu.tensormap.descriptor<tensor = memref<32x32xf32, 3>, swizzle=none, l2promo = none, oob = nan, interleave = none>
  nvgpu.tma.prefetch.descriptor %t : !nvgpu.tensormap.descriptor<tensor = memref<32x32xf32, 3>, swizzle=none, l2promo = none, oob = nan, interleave = none>
  nvgpu.tma.async.load %t[%i, %i], %bar[%i] to %s : !nvgpu.tensormap.descriptor<tensor = memref<32x32xf32, 3>, swizzle=none, l2promo = none, oob = nan, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>> -> memref<32x32xf32, 3>
  nvgpu.tma.async.store %s to %t[%i, %i] : memref<32x32xf32, 3> -> !nvgpu.tensormap.descriptor<tensor = memref<32x32xf32, 3>, swizzle=none, l2promo = none, oob = nan, interleave = none>
  return
}
// -----
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%arg0: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %arg0 : (!transform.any_op) -> !transform.any_op
    %1, %loops:2 = transform.structured.tile_using_for %0 tile_sizes [4, [4], 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
// -----
pdl.pattern @p : benefit(2) {
  %t = pdl.type : i32
  %a = pdl.attribute = 3 : i32
  %o = pdl.operand : %t
  %op = pdl.operation "foo.op"(%o : !pdl.value) {"attr" = %a} -> (%t : !pdl.type)
  %r = pdl.result 0 of %op
  %op2 = pdl.operation "foo.bar"(%r, %o : !pdl.value, !pdl.value)
  pdl.apply_native_constraint "c"(%op, %a : !pdl.operation, !pdl.attribute)
  pdl.rewrite %op2 {
    %n = pdl.operation "foo.new" {"attr" = %a} -> (%t : !pdl.type)
    %rs = pdl.results of %n
    pdl.replace %op2 with %n
    pdl.erase %op
  }
}
// -----
pdl.pattern @q : benefit(1) {
  %v = operand
  %0 = operation "foo.op"(%v : !pdl.value)
  rewrite %0 {
    replace %0 with(%v : !pdl.value)
  }
}
// -----
pdl_interp.func @matcher(%root: !pdl.operation) {
  %a = pdl_interp.get_attribute "attr" of %root
  %op = pdl_interp.get_operand 1 of %root
  pdl_interp.is_not_null %a : !pdl.attribute -> ^bb1, ^end
^bb1:
  pdl_interp.check_operation_name of %root is "foo.op" -> ^bb2, ^end
^bb2:
  pdl_interp.switch_operation_name of %root to ["foo.op", "bar.op"](^bb3, ^bb4) -> ^end
^bb3:
  pdl_interp.record_match @rewriters::@r(%root, %a : !pdl.operation, !pdl.attribute) : benefit(1), generatedOps(["foo"]), loc([%root]), root("foo.op") -> ^end
^bb4:
  %ops = pdl_interp.get_users of %op : !pdl.value
  pdl_interp.foreach %o : !pdl.operation in %ops {
    pdl_interp.continue
  } -> ^end
^end:
  pdl_interp.finalize
}
module @rewriters {
  pdl_interp.func @r(%root: !pdl.operation, %a: !pdl.attribute) {
    %t = pdl_interp.create_type i32
    %o = pdl_interp.create_operation "foo.x" {"a" = %a} -> (%t : !pdl.type)
    pdl_interp.replace %root with ()
    pdl_interp.finalize
  }
}
// -----
irdl.dialect @cmath {
  irdl.type @complex {
    %0 = irdl.is f32
    %1 = irdl.is f64
    %2 = irdl.any_of(%0, %1)
    irdl.parameters(elem: %2)
  }
  irdl.operation @norm {
    %0 = irdl.any
    %1 = irdl.parametric @cmath::@complex<%0>
    irdl.operands(in: %1)
    irdl.results(out: optional %0)
    irdl.attributes { "attr1" = %0 }
    %r = irdl.region(%0, %0) with size 1
    irdl.regions(body: %r)
  }
}
// -----
func.func @shape(%a: !shape.shape, %b: !shape.shape, %t: tensor<?xindex>, %x: tensor<?xf32>, %i: index) -> !shape.witness {
  %0 = shape.shape_of %x : tensor<?xf32> -> tensor<?xindex>
  %1 = shape.broadcast %a, %b : !shape.shape, !shape.shape -> !shape.shape
  %2 = shape.const_shape [1, 2, 3] : !shape.shape
  %3 = shape.const_size 10
  %4 = shape.const_witness true
  %5 = shape.cstr_broadcastable %a, %b : !shape.shape, !shape.shape
  %6 = shape.assuming %5 -> (tensor<2xf32>) {
    %c = "test.source"() : () -> tensor<2xf32>
    shape.assuming_yield %c : tensor<2xf32>
  }
  %7 = shape.reduce(%a, %3) : !shape.shape -> !shape.size {
  ^bb0(%index: index, %dim: !shape.size, %acc: !shape.size):
    %n = shape.mul %acc, %dim : !shape.size, !shape.size -> !shape.size
    shape.yield %n : !shape.size
  }
  %8 = shape.get_extent %a, %3 : !shape.shape, !shape.size -> !shape.size
  %9 = shape.from_extents %i, %i : index, index
  %10 = shape.num_elements %a : !shape.shape -> !shape.size
  %11, %12 = "shape.split_at"(%a, %3) : (!shape.shape, !shape.size) -> (!shape.shape, !shape.shape)
  %13 = shape.concat %11, %12 : !shape.shape, !shape.shape -> !shape.shape
  %14 = shape.is_broadcastable %a, %b : !shape.shape, !shape.shape
  %15 = shape.shape_eq %a, %b : !shape.shape, !shape.shape
  %16 = shape.assuming_all %4, %5
  %17 = shape.to_extent_tensor %a : !shape.shape -> tensor<?xindex>
  %18 = shape.rank %a : !shape.shape -> !shape.size
  %19 = shape.size_to_index %18 : !shape.size
  %20 = shape.index_to_size %i
  %21 = shape.any %a, %b : !shape.shape, !shape.shape -> !shape.shape
  %22 = shape.with_shape %x, %a : tensor<?xf32>, !shape.shape
  %23 = shape.value_of %22 : tensor<?xf32>
  %24 = shape.dim %x, %i : tensor<?xf32>, index -> index
  %25 = shape.meet %a, %b : !shape.shape, !shape.shape -> !shape.shape
  %26 = shape.cstr_require %14, "msg"
  %27 = shape.cstr_eq %a, %b : !shape.shape, !shape.shape
  return %16 : !shape.witness
}
// -----
shape.function_library @lib {
  shape.func @same(%a: !shape.value_shape) -> !shape.shape {
    %0 = shape.shape_of %a : !shape.value_shape -> !shape.shape
    shape.return %0 : !shape.shape
  }
} mapping {
  test.same = @same
}
// -----
func.func @sort(%n: index, %x: memref<?xindex>, %y: memref<?xf32>) {
  sparse_tensor.sort hybrid_quick_sort %n, %x jointly %y {perm_map = affine_map<(i,j) -> (j,i)>, ny = 1 : index} : memref<?xindex> jointly memref<?xf32>
  sparse_tensor.sort insertion_sort_stable %n, %x {perm_map = affine_map<(i) -> (i)>} : memref<?xindex>
  return
}
// -----
ml_program.global private mutable @g(dense<4> : tensor<4xi32>) : tensor<4xi32>
ml_program.func @f(%a : i32) -> i32 {
  %0 = ml_program.global_load @g : tensor<4xi32>
  ml_program.global_store @g = %0 : tensor<4xi32>
  ml_program.return %a : i32
}
ml_program.subgraph private @s(%a : i32) -> i32 {
  %t = ml_program.token
  %t2, %u = "test.x"(%t) : (!ml_program.token) -> (!ml_program.token, i32)
  %l, %t3 = ml_program.global_load_graph @g ordering (%t -> !ml_program.token) : tensor<4xi32>
  %t4 = ml_program.global_store_graph @g = %l ordering (%t -> !ml_program.token) : tensor<4xi32>
  ml_program.output %a : i32
}
// -----
func.func @q(%a: tensor<4xf32>) {
  %0 = quant.qcast %a : tensor<4xf32> to tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  %1 = quant.scast %0 : tensor<4x!quant.uniform<i8:f32, 0.5:3>> to tensor<4xi8>
  %2 = quant.dcast %0 : tensor<4x!quant.uniform<i8:f32, 0.5:3>> to tensor<4xf32>
  return
}
// -----
func.func @cx(%a: complex<f32>, %f: f32) {
  %0 = complex.re %a : complex<f32>
  %1 = complex.create %f, %f : complex<f32>
  %2 = complex.constant [1.0 : f32, -1.0 : f32] : complex<f32>
  %3 = complex.abs %a : complex<f32>
  %4 = complex.eq %a, %a : complex<f32>
  %5 = complex.add %a, %a fastmath<nnan> : complex<f32>
  %6 = complex.bitcast %a : complex<f32> to i64
  %7 = complex.angle %a : complex<f32>
  %8 = complex.im %a : complex<f32>
  %9 = complex.neq %a, %a : complex<f32>
  return
}
// -----
func.func @idx(%a: index, %b: index, %v: vector<4xindex>) {
  %0 = index.add %a, %b
  %1 = index.cmp slt(%a, %b)
  %2 = index.casts %a : index to i32
  %3 = index.constant 42
  %4 = index.bool.constant true
  %5 = index.sizeof
  %6 = index.maxu %a, %b
  return
}
// -----
func.func @ub() -> i32 {
  %0 = ub.poison : i32
  %1 = ub.poison : vector<4xf32>
  return %0 : i32
}
// -----
func.func @ub2() { ub.unreachable }
// -----
func.func @amx(%m: memref<?x?xi8>, %i: index) {
  %0 = amx.tile_zero : !amx.tile<16x64xi8>
  %1 = amx.tile_load %m[%i, %i] : memref<?x?xi8> into !amx.tile<16x64xi8>
  %z = amx.tile_zero : !amx.tile<16x16xi32>
  %2 = amx.tile_muli %1 zext, %1 zext, %z : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
  amx.tile_store %m[%i, %i], %1 : memref<?x?xi8>, !amx.tile<16x64xi8>
  return
}
// -----
func.func @neon(%a: vector<8xi8>, %b: vector<16xi8>, %c: vector<4xi32>) {
  %0 = arm_neon.intr.smull %a, %a : vector<8xi8> to vector<8xi16>
  %1 = arm_neon.intr.sdot %c, %b, %b : vector<16xi8>, vector<16xi8> to vector<4xi32>
  %2 = arm_neon.intr.smmla %c, %b, %b : vector<16xi8> to vector<4xi32>
  return
}
// -----
func.func @sve(%a: vector<[16]xi8>, %c: vector<[4]xi32>, %m: vector<[4]xi1>) {
  %0 = arm_sve.sdot %c, %a, %a : vector<[16]xi8> to vector<[4]xi32>
  %1 = arm_sve.masked.addi %m, %c, %c : vector<[4]xi1>, vector<[4]xi32>
  %2 = arm_sve.convert_to_svbool %m : vector<[4]xi1>
  %3, %9 = arm_sve.zip.x2 %a, %a : vector<[16]xi8>
  return
}
// -----
func.func @sve3(%a: vector<[16]xi8>, %m: vector<[4]xi1>, %i: index) {
  %3, %5 = arm_sve.zip.x2 %a, %a : vector<[16]xi8>
  %4 = arm_sve.psel %m, %m[%i] : vector<[4]xi1>, vector<[4]xi1>
  return
}
// -----
func.func @sme(%v: vector<[4]xf32>, %m: memref<?x?xf32>, %i: index) {
  %0 = arm_sme.zero : vector<[4]x[4]xf32>
  %1 = arm_sme.tile_load %m[%i, %i] : memref<?x?xf32>, vector<[4]x[4]xf32>
  arm_sme.tile_store %1, %m[%i, %i] : memref<?x?xf32>, vector<[4]x[4]xf32>
  %2 = arm_sme.outerproduct %v, %v acc(%0) : vector<[4]xf32>, vector<[4]xf32>
  %3 = arm_sme.insert_tile_slice %v, %1[%i] : vector<[4]xf32> into vector<[4]x[4]xf32>
  %4 = arm_sme.extract_tile_slice %1[%i] layout<vertical> : vector<[4]xf32> from vector<[4]x[4]xf32>
  %5 = arm_sme.streaming_vl <word>
  return
}
// -----
func.func @x86b(%a: vector<16xf32>, %b: vector<8xf32>, %c: vector<16xi32>) {
  %0, %1 = x86vector.avx512.vp2intersect %c, %c : vector<16xi32>
  %2 = x86vector.avx.rsqrt %b : vector<8xf32>
  %3 = x86vector.avx.intr.dot %b, %b : vector<8xf32>
  return
}
// -----
func.func @xg(%m: memref<24x32xf32>, %i: index) {
  %1 = xegpu.create_nd_tdesc %m : memref<24x32xf32> -> !xegpu.tensor_desc<8x16xf32>
  %2 = xegpu.load_nd %1[%i, %i] <{l1_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
  xegpu.store_nd %2, %1[%i, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
  xegpu.prefetch_nd %1[0, 0] : !xegpu.tensor_desc<8x16xf32>
  xegpu.fence memory_kind = global, fence_scope = workgroup
  return
}
// -----
func.func @amd(%m: memref<64xf32>, %i: i32, %f: f32, %a: vector<4xf16>, %c: vector<4xf32>, %ix: index, %l: memref<64xf32, 3>) {
  %0 = amdgpu.raw_buffer_load {boundsCheck = true} %m[%i] : memref<64xf32>, i32 -> f32
  amdgpu.raw_buffer_store %f -> %m[%i] sgprOffset %i : f32 -> memref<64xf32>, i32
  amdgpu.raw_buffer_atomic_fadd %f -> %m[%i] : f32 -> memref<64xf32>, i32
  %1 = amdgpu.mfma 16x16x16 %a * %a + %c blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
  amdgpu.lds_barrier
  %2 = amdgpu.fat_raw_buffer_cast %m : memref<64xf32> to memref<64xf32, #amdgpu.address_space<fat_raw_buffer>>
  amdgpu.gather_to_lds %m[%ix], %l[%ix] : f32, memref<64xf32>, memref<64xf32, 3>
  %3 = amdgpu.dpp %f %f quad_perm([0, 1, 2, 3]) : f32
  amdgpu.sched_barrier allow = <none>
  return
}
// -----
shard.grid @g0(shape = 2x4)
func.func @shard2(%a: tensor<4x8xf32>) {
  %s = shard.sharding @g0 split_axes = [[0]] : !shard.sharding
  %x = shard.shard %a to %s annotate_for_users : tensor<4x8xf32>
  %0 = shard.all_reduce %x on @g0 grid_axes = [1] reduction = max : tensor<4x8xf32> -> tensor<4x8xf64>
  %1:2 = shard.grid_shape @g0 : index, index
  %2:2 = shard.process_multi_index on @g0 : index, index
  %3 = shard.process_linear_index on @g0 : index
  %4 = shard.all_gather %x on @g0 grid_axes = [0] gather_axis = 1 : tensor<4x8xf32> -> tensor<4x16xf32>
  return
}
// -----
func.func @mpi(%m: memref<8xf32>, %i: i32) {
  %e = mpi.init : !mpi.retval
  %c = mpi.comm_world : !mpi.comm
  %r, %k = mpi.comm_rank(%c) : !mpi.retval, i32
  mpi.send(%m, %i, %i, %c) : memref<8xf32>, i32, i32
  %e2 = mpi.recv(%m, %i, %i, %c) : memref<8xf32>, i32, i32 -> !mpi.retval
  %b = mpi.retval_check %e2 = <MPI_SUCCESS> : i1
  mpi.allreduce(%m, %m, MPI_SUM, %c) : memref<8xf32>, memref<8xf32>
  return
}
// -----
func.func @mpi2(%m: memref<8xf32>, %i: i32) {
  %e = mpi.init : !mpi.retval
  %c = mpi.comm_world : !mpi.comm
  %r, %k = mpi.comm_rank(%c) : !mpi.retval, i32
  %q = mpi.comm_rank(%c) : i32
  mpi.barrier(%c)
  %f = mpi.finalize : !mpi.retval
  return
}
// -----
func.func @smt2(%i: i8) -> i32 {
  %0 = smt.solver(%i) : (i8) -> i32 {
  ^bb0(%x: i8):
    %a = smt.declare_fun "a" : !smt.bv<32>
    %d = smt.eq %a, %a : !smt.bv<32>
    %di = smt.distinct %a, %a, %a : !smt.bv<32>
    smt.assert %d
    %an = smt.and %d, %di
    %im = smt.implies %d, %an
    %it = smt.ite %d, %a, %a : !smt.bv<32>
    %cat = smt.bv.concat %a, %a : !smt.bv<32>, !smt.bv<32>
    %ex = smt.bv.extract %a from 4 : (!smt.bv<32>) -> !smt.bv<8>
    %cmp = smt.bv.cmp ult %a, %a : !smt.bv<32>
    %ci = smt.int.constant 5
    %ad = smt.int.add %ci, %ci
    smt.push 1
    smt.set_logic "HORN"
    %c = arith.constant 1 : i32
    smt.yield %c : i32
  }
  return %0 : i32
}
// -----
func.func @ptr(%p: !ptr.ptr<#ptr.generic_space>, %o: index, %v: f32) -> f32 {
  %0 = ptr.ptr_add inbounds %p, %o : !ptr.ptr<#ptr.generic_space>, index
  %1 = ptr.load volatile %p {alignment = 4 : i64} : !ptr.ptr<#ptr.generic_space> -> f32
  ptr.store %v, %p : f32, !ptr.ptr<#ptr.generic_space>
  %2 = ptr.type_offset f32 : index
  return %1 : f32
}
// -----
func.func @tosa(%a: tensor<13x21x3xf32>, %b: tensor<13x21x3xf32>, %c: tensor<1xi1>) -> tensor<13x21x3xf32> {
  %0 = tosa.add %a, %b : (tensor<13x21x3xf32>, tensor<13x21x3xf32>) -> tensor<13x21x3xf32>
  %1 = tosa.reduce_sum %a {axis = 1 : i32} : (tensor<13x21x3xf32>) -> tensor<13x1x3xf32>
  %s = tosa.const_shape {values = dense<[1, 819]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %2 = tosa.reshape %a, %s : (tensor<13x21x3xf32>, !tosa.shape<2>) -> tensor<1x819xf32>
  %3 = tosa.clamp %a {min_val = 0.0 : f32, max_val = 1.0 : f32} : (tensor<13x21x3xf32>) -> tensor<13x21x3xf32>
  %4 = tosa.concat %a, %b {axis = 0 : i32} : (tensor<13x21x3xf32>, tensor<13x21x3xf32>) -> tensor<26x21x3xf32>
  %k = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %5 = tosa.transpose %a {perms = array<i32: 2, 0, 1>} : (tensor<13x21x3xf32>) -> tensor<3x13x21xf32>
  return %0 : tensor<13x21x3xf32>
}
// -----
func.func @tosa_cf(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i1>, %i: tensor<i32>) -> tensor<f32> {
  %0 = tosa.cond_if %c (%x = %a, %y = %b) : tensor<i1> (tensor<f32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = tosa.add %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tosa.yield %1 : tensor<f32>
  } else {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    tosa.yield %y : tensor<f32>
  }
  return %0 : tensor<f32>
}
// -----
func.func @tosa_cf2(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i1>) -> tensor<f32> {
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<f32> {
    %1 = tosa.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tosa.yield %1 : tensor<f32>
  } else {
    tosa.yield %b : tensor<f32>
  }
  return %0 : tensor<f32>
}
// -----
func.func @tosa_w(%a: tensor<i32>, %n: tensor<i32>) {
  %0 = tosa.while_loop (%x = %a) : (tensor<i32>) -> tensor<i32> {
    %c = tosa.greater_equal %n, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %c : tensor<i1>
  } do {
  ^bb0(%y: tensor<i32>):
    %d = tosa.add %y, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %d : tensor<i32>
  }
  return
}
// -----
func.func @vec(%v: vector<4x8xf32>, %w: vector<8xf32>, %m: memref<?x?xf32>, %i: index, %f: f32, %k: vector<8xi1>, %ix: vector<8xi32>, %t: tensor<?x?xf32>) {
  %0 = vector.broadcast %f : f32 to vector<4x8xf32>
  %1 = vector.extract %v[1] : vector<8xf32> from vector<4x8xf32>
  %2 = vector.extract %v[%i, 3] : f32 from vector<4x8xf32>
  %3 = vector.insert %w, %v[2] : vector<8xf32> into vector<4x8xf32>
  %4 = vector.insert %f, %v[2, %i] : f32 into vector<4x8xf32>
  %5 = vector.extract_strided_slice %v {offsets = [0, 2], sizes = [2, 4], strides = [1, 1]} : vector<4x8xf32> to vector<2x4xf32>
  %6 = vector.insert_strided_slice %w, %v {offsets = [0, 0], strides = [1]} : vector<8xf32> into vector<4x8xf32>
  %7 = vector.transfer_read %m[%i, %i], %f {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<?x?xf32>, vector<4x8xf32>
  vector.transfer_write %7, %m[%i, %i] : vector<4x8xf32>, memref<?x?xf32>
  %8 = vector.transfer_read %m[%i, %i], %f, %k : memref<?x?xf32>, vector<8xf32>
  %9 = vector.transfer_write %w, %t[%i, %i] : vector<8xf32>, tensor<?x?xf32>
  %10 = vector.gather %m[%i, %i] [%ix], %k, %w : memref<?x?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.scatter %m[%i, %i] [%ix], %k, %w : memref<?x?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>
  %11 = vector.maskedload %m[%i, %i], %k, %w : memref<?x?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %m[%i, %i], %k, %w : memref<?x?xf32>, vector<8xi1>, vector<8xf32>
  vector.compressstore %m[%i, %i], %k, %w : memref<?x?xf32>, vector<8xi1>, vector<8xf32>
  %12 = vector.expandload %m[%i, %i], %k, %w : memref<?x?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  %13 = vector.reduction <add>, %w, %f : vector<8xf32> into f32
  %14 = vector.multi_reduction <mul>, %v, %w [0] : vector<4x8xf32> to vector<8xf32>
  %15 = vector.create_mask %i, %i : vector<4x8xi1>
  %16 = vector.constant_mask [2, 3] : vector<4x8xi1>
  %17 = vector.mask %15 { vector.transfer_read %m[%i, %i], %f {in_bounds = [true, true]} : memref<?x?xf32>, vector<4x8xf32> } : vector<4x8xi1> -> vector<4x8xf32>
  return
}
// -----
func.func @vec2(%v: vector<4x8xf32>, %w: vector<8xf32>, %m: memref<?x?xf32>, %i: index, %f: f32, %k: vector<8xi1>, %ix: vector<8xi32>, %vv: vector<8x8xf32>, %m1: memref<?xvector<8xf32>>) {
  %15 = vector.create_mask %i, %i : vector<4x8xi1>
  %17 = vector.mask %15 { vector.transfer_read %m[%i, %i], %f {in_bounds = [true, true]} : memref<?x?xf32>, vector<4x8xf32> } : vector<4x8xi1> -> vector<4x8xf32>
  %18 = vector.mask %k { vector.reduction <add>, %w : vector<8xf32> into f32 } : vector<8xi1> -> f32
  vector.mask %15 { vector.transfer_write %v, %m[%i, %i] {in_bounds = [true, true]} : vector<4x8xf32>, memref<?x?xf32> } : vector<4x8xi1>
  %p = vector.mask %k, %w { vector.transfer_read %m[%i, %i], %f : memref<?x?xf32>, vector<8xf32> } : vector<8xi1> -> vector<8xf32>
  %19 = vector.outerproduct %w, %w, %vv {kind = #vector.kind<add>} : vector<8xf32>, vector<8xf32>
  %20 = vector.outerproduct %w, %f : vector<8xf32>, f32
  %21 = vector.shape_cast %v : vector<4x8xf32> to vector<32xf32>
  %22 = vector.bitcast %w : vector<8xf32> to vector<16xf16>
  %23 = vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
  %24 = vector.shuffle %w, %w [0, 9, 3] : vector<8xf32>, vector<8xf32>
  vector.print %w : vector<8xf32>
  vector.print str "x"
  vector.print punctuation <newline>
  %25 = vector.load %m[%i, %i] {nontemporal = true} : memref<?x?xf32>, vector<8xf32>
  vector.store %w, %m[%i, %i] : memref<?x?xf32>, vector<8xf32>
  %26 = vector.vscale
  %28:2 = vector.scan <add>, %v, %w {inclusive = true, reduction_dim = 0} : vector<4x8xf32>, vector<8xf32>
  return
}
// -----
func.func @vec3(%v: vector<4x8xf32>, %w: vector<8xf32>, %m2: memref<4x3xf32>, %i: index, %f: f32, %k: vector<8xi1>, %vv: vector<8x8xf32>) {
  %15 = vector.create_mask %i, %i : vector<4x8xi1>
  %19 = vector.outerproduct %w, %w, %vv {kind = #vector.kind<add>} : vector<8xf32>, vector<8xf32>
  %20 = vector.outerproduct %w, %f : vector<8xf32>, f32
  %24 = vector.shuffle %w, %w [0, 9, 3] : vector<8xf32>, vector<8xf32>
  %26 = vector.vscale
  %28:2 = vector.scan <add>, %v, %w {inclusive = true, reduction_dim = 0} : vector<4x8xf32>, vector<8xf32>
  %29 = vector.type_cast %m2 : memref<4x3xf32> to memref<vector<4x3xf32>>
  %30 = vector.step : vector<4xindex>
  %31, %32 = vector.deinterleave %w : vector<8xf32> -> vector<4xf32>
  %33 = vector.interleave %31, %32 : vector<4xf32> -> vector<8xf32>
  %34 = vector.from_elements %f, %f : vector<2xf32>
  %35:8 = vector.to_elements %w : vector<8xf32>
  %36 = vector.contract {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<add>} %w, %w, %f : vector<8xf32>, vector<8xf32> into f32
  %37 = vector.fma %w, %w, %w : vector<8xf32>
  return
}
// -----
func.func @vec4(%v: vector<4x8xf32>, %w: vector<8xf32>, %i: index, %f: f32) {
  return
}
// -----
gpu.module @k {
  gpu.func @w(%laneid: index, %m: memref<64xf32>) {
    %0 = gpu.warp_execute_on_lane_0(%laneid)[32] -> (vector<1xf32>) {
      %c = arith.constant dense<1.0> : vector<32xf32>
      gpu.yield %c : vector<32xf32>
    }
    %1:2 = gpu.warp_execute_on_lane_0(%laneid)[32] args(%0, %0 : vector<1xf32>, vector<1xf32>) -> (vector<1xf32>, f32) {
    ^bb0(%a: vector<32xf32>, %b: vector<32xf32>):
      %f = arith.constant 1.0 : f32
      gpu.yield %a, %f : vector<32xf32>, f32
    }
    gpu.return
  }
}
// -----
gpu.module @kernels attributes {x} {
  gpu.func @k(%a: f32, %m: memref<32xf32>, %o: i32, %wd: i32) workgroup(%w: memref<32xf32, 3>, %w2: memref<4xf32, 3>) private(%p: memref<1xf32, 5>) kernel attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_dim y upper_bound 4
    %l = gpu.lane_id
    %s = gpu.subgroup_size : index
    %r = gpu.all_reduce add %a uniform {} : (f32) -> (f32)
    %r2 = gpu.all_reduce %a {
    ^bb(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      "gpu.yield"(%z) : (f32) -> ()
    } : (f32) -> (f32)
    %sh, %ok = gpu.shuffle xor %a, %o, %wd : f32
    %sr = gpu.subgroup_reduce add %a cluster(size = 4) : (f32) -> (f32)
    gpu.barrier
    gpu.printf "x %f", %a : f32
    gpu.return
  }
}
// -----
gpu.module @kernels {
  gpu.func @k(%a: f32, %m: memref<32x32xf16>, %o: i32, %wd: i32, %i: index) workgroup(%w: memref<32xf32, 3>) kernel {
    %sh, %ok = gpu.shuffle xor %a, %o, %wd : f32
    %rv, %rok = gpu.rotate %a, 1, 32 : f32
    %sr = gpu.subgroup_reduce add %a uniform : (f32) -> (f32)
    %mm = gpu.subgroup_mma_load_matrix %m[%i, %i] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
    gpu.return
  }
}
// -----
gpu.module @kernels {
  gpu.func @k(%a: f32, %m: memref<32x32xf16>, %h: f16, %i: index, %l: i32) kernel {
    %ma = gpu.subgroup_mma_load_matrix %m[%i, %i] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
    %mb = gpu.subgroup_mma_load_matrix %m[%i, %i] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
    %mc = gpu.subgroup_mma_constant_matrix %h : !gpu.mma_matrix<16x16xf16, "COp">
    %md = gpu.subgroup_mma_compute %ma, %mb, %mc : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf16, "COp">
    %me = gpu.subgroup_mma_elementwise addf %mc, %md : (!gpu.mma_matrix<16x16xf16, "COp">, !gpu.mma_matrix<16x16xf16, "COp">) -> !gpu.mma_matrix<16x16xf16, "COp">
    gpu.subgroup_mma_store_matrix %me, %m[%i, %i] {leadDimension = 32 : index} : !gpu.mma_matrix<16x16xf16, "COp">, memref<32x32xf16>
    %x = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %p = gpu.subgroup_broadcast %h, specific_lane %l : f16
    gpu.return
  }
}
// -----
func.func @g(%n: index, %m: memref<?xf32>, %t: !gpu.async.token, %i: i32, %u: memref<*xf32>) {
  %0 = gpu.wait async [%t]
  %1, %2 = gpu.alloc async [%0] host_shared (%n)[%n] : memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
  %3 = gpu.memcpy async [%2, %t] %m, %m : memref<?xf32>, memref<?xf32>
  %f = arith.constant 1.0 : f32
  gpu.memset %m, %f : memref<?xf32>, f32
  %4 = gpu.dealloc async [%3] %1 : memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
  %5 = gpu.launch async [%4] blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) dynamic_shared_memory_size %i {
    gpu.terminator
  }
  gpu.host_register %u : memref<*xf32>
  return
}
// -----
func.func @g2(%n: index, %m: memref<?xf32>, %t: !gpu.async.token, %u: memref<*xf32>, %i: i32) {
  %5 = gpu.launch async [%t] blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) dynamic_shared_memory_size %i {
    gpu.terminator
  }
  gpu.launch clusters(%cx, %cy, %cz) in (%p = %n, %q = %n, %r = %n) blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) workgroup(%w: memref<4xf32, 3>) private(%v: memref<4xf32, 5>) {
    gpu.terminator
  }
  gpu.host_register %u : memref<*xf32>
  return
}
// -----
module attributes {gpu.container_module} {
  gpu.module @m { gpu.func @k(%a: f32) kernel { gpu.return } }
  func.func @l(%n: index, %f: f32, %t: !gpu.async.token, %s: i32, %d: f64) {
    gpu.launch_func @m::@k clusters in (%n, %n, %n) blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %s args(%f : f32)
    %x = gpu.launch_func async [%t] @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%f : f32)
    return
  }
  func.func @l2(%n: i64, %f: f32, %st: !llvm.ptr) {
    gpu.launch_func <%st : !llvm.ptr> @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) : i64 args(%f : f32)
    return
  }
}
// -----
func.func @gs(%n: index, %t: !gpu.async.token, %m: memref<?xindex>, %v: memref<?xf64>, %d: memref<?x?xf64>) {
  %sp, %t1 = gpu.create_coo async [%t] %n, %n, %n, %m, %m, %v : memref<?xindex>, memref<?xindex>, memref<?xf64>
  %dn, %t2 = gpu.create_dn_tensor async [%t1] %d, %n, %n : index, index into memref<?x?xf64>
  %sz, %t3 = gpu.spmm_buffer_size async [%t2] %sp, %dn, %dn : index into f64
  %t4 = gpu.spmm async [%t3] %sp, %dn, %dn, %v : memref<?xf64> into f64
  %t5 = gpu.destroy_sp_mat async [%t4] %sp
  gpu.wait [%t5]
  return
}
// -----
gpu.binary @b [#gpu.object<#nvvm.target, "BLOB">]
gpu.binary @c <#gpu.select_object<0>> [#gpu.object<#nvvm.target, bin = "BL{OB">, #gpu.object<#rocdl.target, "x">]
