module {
  emitc.class @c {
    emitc.field @f : !emitc.array<1xf32>
    emitc.func @execute() {
      %0 = "emitc.constant"() <{value = 0 : index}> : () -> !emitc.size_t
      %1 = get_field @f : !emitc.array<1xf32>
      %2 = subscript %1[%0] : (!emitc.array<1xf32>, !emitc.size_t) -> !emitc.lvalue<f32>
      return
    }
  }
}

// -----
module {
  emitc.file "main" {
    include <"stdio.h">
    verbatim "int x;"
    global extern @x : i32
    func.func @h() {
      return
    }
  }
}

// -----
module {
  spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [Shader], []> {
    spirv.GlobalVariable @v bind(0, 1) : !spirv.ptr<!spirv.struct<(!spirv.array<16 x f32, stride=4> [0])>, StorageBuffer>
    spirv.SpecConstant @sc = 2 : i32
    spirv.SpecConstant @sd = 3 : i32
    spirv.SpecConstantComposite @scc (@sc, @sd) : !spirv.array<2 x i32>
    spirv.func @f(%arg0: i32, %arg1: i32, %arg2: !spirv.ptr<i32, Function>) -> i32 "None" {
      %0 = spirv.IAdd %arg0, %arg1 : i32
      %1 = spirv.Load "Function" %arg2 ["Volatile"] : i32
      spirv.Store "Function" %arg2, %1 ["Aligned", 4] : i32
      %2 = spirv.IEqual %arg0, %arg1 : i32
      spirv.mlir.selection {
        spirv.BranchConditional %2 [5, 3], ^bb1, ^bb2
      ^bb1:  // pred: ^bb0
        spirv.Store "Function" %arg2, %arg0 : i32
        spirv.Branch ^bb3
      ^bb2:  // pred: ^bb0
        spirv.Branch ^bb3
      ^bb3:  // 2 preds: ^bb1, ^bb2
        spirv.mlir.merge
      }
      %v_addr = spirv.mlir.addressof @v : !spirv.ptr<!spirv.struct<(!spirv.array<16 x f32, stride=4> [0])>, StorageBuffer>
      %cst0_i32 = spirv.Constant 0 : i32
      %3 = spirv.AccessChain %v_addr[%cst0_i32, %arg0] : !spirv.ptr<!spirv.struct<(!spirv.array<16 x f32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<f32, StorageBuffer>
      %4 = spirv.Select %2, %arg0, %arg1 : i1, i32
      %5 = spirv.CompositeConstruct %arg0, %arg1 : (i32, i32) -> vector<2xi32>
      %6 = spirv.CompositeExtract %5[1 : i32] : vector<2xi32>
      %7 = spirv.CompositeInsert %arg0, %5[1 : i32] : i32 into vector<2xi32>
      %8 = spirv.AtomicIAdd <Device> <None> %arg2, %arg0 : !spirv.ptr<i32, Function>
      %9 = spirv.AtomicCompareExchange <Workgroup> <Release> <Acquire> %arg2, %arg0, %arg1 : !spirv.ptr<i32, Function>
      %10 = spirv.BitFieldInsert %5, %5, %arg0, %arg1 : vector<2xi32>, i32, i32
      %11 = spirv.VectorShuffle [1 : i32, 3 : i32] %5, %5 : vector<2xi32>, vector<2xi32> -> vector<2xi32>
      %12 = spirv.FunctionCall @f(%arg0, %arg1, %arg2) : (i32, i32, !spirv.ptr<i32, Function>) -> i32
      %13 = spirv.Variable : !spirv.ptr<i32, Function>
      %14 = spirv.Bitcast %arg0 : i32 to f32
      %15 = spirv.ConvertSToF %arg0 : i32 to f32
      %16 = spirv.GL.Exp %15 : f32
      %17 = spirv.GL.Fma %15, %15, %15 : f32
      %18 = spirv.mlir.referenceof @sc : i32
      %19 = spirv.IAddCarry %arg0, %arg1 : !spirv.struct<(i32, i32)>
      %20 = spirv.ISub %arg0, %arg1 : i32
      %21 = spirv.VectorExtractDynamic %5[%arg0] : vector<2xi32>, i32
      %22 = spirv.VectorInsertDynamic %arg0, %5[%arg1] : vector<2xi32>, i32
      %23 = spirv.ShiftLeftLogical %arg0, %arg1 : i32, i32
      spirv.ControlBarrier <Workgroup>, <Device>, <Acquire|UniformMemory>
      spirv.MemoryBarrier <Device>, <Acquire|UniformMemory>
      %24 = spirv.Undef : i32
      %25 = spirv.GroupNonUniformElect <Workgroup> : i1
      %26 = spirv.GroupNonUniformIAdd <Workgroup> <Reduce> %arg0 : i32 -> i32
      %27 = spirv.LogicalNot %2 : i1
      spirv.CopyMemory  "Function" %arg2,  "Function" %13,  : i32
      spirv.ReturnValue %0 : i32
    }
    spirv.func @g() "None" {
      spirv.mlir.loop {
        spirv.Branch ^bb1
      ^bb1:  // 2 preds: ^bb0, ^bb3
        %true = spirv.Constant true
        spirv.BranchConditional %true, ^bb2, ^bb4
      ^bb2:  // pred: ^bb1
        spirv.Branch ^bb3
      ^bb3:  // pred: ^bb2
        spirv.Branch ^bb1
      ^bb4:  // pred: ^bb1
        spirv.mlir.merge
      }
      spirv.Return
    }
    spirv.EntryPoint "GLCompute" @g
    spirv.ExecutionMode @g "LocalSize", 1, 1, 1
  }
}

// -----
module {
  spirv.module Logical GLSL450 {
    spirv.SpecConstant @sc = 2 : i32
    spirv.func @f(%arg0: i32, %arg1: i32) -> i32 "None" {
      %0 = spirv.mlir.referenceof @sc : i32
      %1 = spirv.ShiftLeftLogical %arg0, %arg1 : i32, i32
      %2 = spirv.IEqual %arg0, %arg1 : i32
      %3 = spirv.mlir.selection -> i32 {
        spirv.BranchConditional %2, ^bb1, ^bb2
      ^bb1:  // pred: ^bb0
        spirv.Branch ^bb3(%arg0 : i32)
      ^bb2:  // pred: ^bb0
        spirv.Branch ^bb3(%arg1 : i32)
      ^bb3(%4: i32):  // 2 preds: ^bb1, ^bb2
        spirv.mlir.merge %4 : i32
      }
      spirv.ReturnValue %3 : i32
    }
  }
}

// -----
module {
  llvm.func @h(%arg0: !llvm.ptr, %arg1: i64, %arg2: vector<4xf32>, %arg3: vector<4xi1>) {
    %0 = llvm.intr.masked.load %arg0, %arg3, %arg2 {alignment = 1 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    llvm.intr.masked.store %0, %arg0, %arg3 {alignment = 1 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr
    %1 = llvm.intr.vector.extract %arg2[0] : vector<4xf32> from vector<4xf32>
    %2 = "llvm.intr.vector.reduce.add"(%arg3) : (vector<4xi1>) -> i1
    llvm.intr.assume %2 : i1
    llvm.intr.lifetime.start %arg0 : !llvm.ptr
    %3 = llvm.freeze %arg1 : i64
    %4 = llvm.mlir.zero : !llvm.ptr
    %5 = llvm.mlir.poison : i32
    %6 = llvm.zext nneg %5 : i32 to i64
    %7 = llvm.va_arg %arg0 : (!llvm.ptr) -> i32
    llvm.unreachable
  }
}

// -----
module {
  llvm.comdat @__llvm_comdat {
    llvm.comdat_selector @any any
  }
  llvm.mlir.alias external @al : i32 {
    %0 = llvm.mlir.addressof @gg : !llvm.ptr
    llvm.return %0 : !llvm.ptr
  }
  llvm.mlir.global external @gg() {addr_space = 0 : i32} : i32 {
    %0 = llvm.mlir.constant(3 : i32) : i32
    llvm.return %0 : i32
  }
  llvm.mlir.global_ctors ctors = [@k], priorities = [0 : i32], data = [#llvm.zero]
  llvm.func @k() {
    llvm.return
  }
}

// -----
module {
  func.func @mma(%arg0: vector<2xf16>, %arg1: vector<2xf16>, %arg2: vector<2xf16>, %arg3: vector<2xf16>, %arg4: vector<2xf16>) {
    %0 = nvvm.mma.sync A[%arg0, %arg1]  B[%arg2]  C[%arg3, %arg4]  {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>} : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
    return
  }
}

// -----
module {
  func.func @nvgpu(%arg0: memref<32x32xf16, 3>, %arg1: memref<32x32xf16>, %arg2: index, %arg3: vector<2x2xf16>, %arg4: vector<4x2xf16>, %arg5: vector<2x2xf16>) {
    %0 = nvgpu.ldmatrix %arg0[%arg2, %arg2] {numTiles = 4 : i32, transpose = false} : memref<32x32xf16, 3> -> vector<4x2xf16>
    %1 = nvgpu.mma.sync(%arg4, %arg3, %arg5) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
    %2 = nvgpu.device_async_copy %arg1[%arg2, %arg2], %arg0[%arg2, %arg2], 8 {bypassL1} : memref<32x32xf16> to memref<32x32xf16, 3>
    %3 = nvgpu.device_async_create_group %2
    nvgpu.device_async_wait %3 {numGroups = 1 : i32}
    %4 = nvgpu.mbarrier.create -> <memorySpace = #gpu.address_space<workgroup>>
    nvgpu.mbarrier.init %4[%arg2], %arg2 : <memorySpace = #gpu.address_space<workgroup>>
    %5 = nvgpu.mbarrier.arrive %4[%arg2] : <memorySpace = #gpu.address_space<workgroup>> -> !nvgpu.mbarrier.token
    nvgpu.mbarrier.arrive.expect_tx %4[%arg2], %arg2 : <memorySpace = #gpu.address_space<workgroup>>
    %6 = nvgpu.mbarrier.test.wait %4[%arg2], %5 : <memorySpace = #gpu.address_space<workgroup>>, !nvgpu.mbarrier.token
    return
  }
}

// -----
module {
  func.func @tma(%arg0: memref<*xf32>, %arg1: index, %arg2: memref<32x32xf32, 3>, %arg3: !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>) {
    %0 = nvgpu.tma.create.descriptor %arg0 box[%arg1, %arg1] : memref<*xf32> -> <tensor = memref<32x32xf32, 3>, swizzle = none, l2promo = none, oob = nan, interleave = none>
    nvgpu.tma.prefetch.descriptor %0 : <tensor = memref<32x32xf32, 3>, swizzle = none, l2promo = none, oob = nan, interleave = none>
    nvgpu.tma.async.load %0[%arg1, %arg1], %arg3[%arg1] to %arg2 : <tensor = memref<32x32xf32, 3>, swizzle = none, l2promo = none, oob = nan, interleave = none>, <memorySpace = #gpu.address_space<workgroup>> -> memref<32x32xf32, 3>
    nvgpu.tma.async.store %arg2 to %0[%arg1, %arg1] : memref<32x32xf32, 3> -> <tensor = memref<32x32xf32, 3>, swizzle = none, l2promo = none, oob = nan, interleave = none>
    return
  }
}

// -----
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%arg0: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %arg0 : (!transform.any_op) -> !transform.any_op
    %tiled_linalg_op, %loops:2 = transform.structured.tile_using_for %0 tile_sizes [4, [4], 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield 
  }
}

// -----
module {
  pdl.pattern @p : benefit(2) {
    %0 = type : i32
    %1 = attribute = 3 : i32
    %2 = operand : %0
    %3 = operation "foo.op"(%2 : !pdl.value)  {"attr" = %1} -> (%0 : !pdl.type)
    %4 = result 0 of %3
    %5 = operation "foo.bar"(%4, %2 : !pdl.value, !pdl.value) 
    apply_native_constraint "c"(%3, %1 : !pdl.operation, !pdl.attribute)
    rewrite %5 {
      %6 = operation "foo.new"  {"attr" = %1} -> (%0 : !pdl.type)
      %7 = results of %6 
      replace %5 with %6
      erase %3
    }
  }
}

// -----
module {
  pdl.pattern @q : benefit(1) {
    %0 = operand
    %1 = operation "foo.op"(%0 : !pdl.value) 
    rewrite %1 {
      replace %1 with(%0 : !pdl.value)
    }
  }
}

// -----
module {
  pdl_interp.func @matcher(%arg0: !pdl.operation) {
    %0 = pdl_interp.get_attribute "attr" of %arg0
    %1 = pdl_interp.get_operand 1 of %arg0
    pdl_interp.is_not_null %0 : !pdl.attribute -> ^bb1, ^bb5
  ^bb1:  // pred: ^bb0
    pdl_interp.check_operation_name of %arg0 is "foo.op" -> ^bb2, ^bb5
  ^bb2:  // pred: ^bb1
    pdl_interp.switch_operation_name of %arg0 to ["foo.op", "bar.op"](^bb3, ^bb4) -> ^bb5
  ^bb3:  // pred: ^bb2
    pdl_interp.record_match @rewriters::@r(%arg0, %0 : !pdl.operation, !pdl.attribute) : benefit(1), generatedOps(["foo"]), loc([%arg0]), root("foo.op") -> ^bb5
  ^bb4:  // pred: ^bb2
    %2 = pdl_interp.get_users of %1 : !pdl.value
    pdl_interp.foreach %arg1 : !pdl.operation in %2 {
      pdl_interp.continue
    } -> ^bb5
  ^bb5:  // 5 preds: ^bb0, ^bb1, ^bb2, ^bb3, ^bb4
    pdl_interp.finalize
  }
  module @rewriters {
    pdl_interp.func @r(%arg0: !pdl.operation, %arg1: !pdl.attribute) {
      %0 = pdl_interp.create_type i32
      %1 = pdl_interp.create_operation "foo.x" {"a" = %arg1}  -> (%0 : !pdl.type)
      pdl_interp.replace %arg0 with ()
      pdl_interp.finalize
    }
  }
}

// -----
module {
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
      irdl.attributes {"attr1" = %0}
      %2 = irdl.region(%0, %0) with size 1
      irdl.regions(body: %2)
    }
  }
}

// -----
module {
  func.func @shape(%arg0: !shape.shape, %arg1: !shape.shape, %arg2: tensor<?xindex>, %arg3: tensor<?xf32>, %arg4: index) -> !shape.witness {
    %0 = shape.shape_of %arg3 : tensor<?xf32> -> tensor<?xindex>
    %1 = shape.broadcast %arg0, %arg1 : !shape.shape, !shape.shape -> !shape.shape
    %2 = shape.const_shape [1, 2, 3] : !shape.shape
    %c10 = shape.const_size 10
    %3 = shape.const_witness true
    %4 = shape.cstr_broadcastable %arg0, %arg1 : !shape.shape, !shape.shape
    %5 = shape.assuming %4 -> (tensor<2xf32>) {
      %25 = "test.source"() : () -> tensor<2xf32>
      shape.assuming_yield %25 : tensor<2xf32>
    }
    %6 = shape.reduce(%arg0, %c10) : !shape.shape -> !shape.size {
    ^bb0(%arg5: index, %arg6: !shape.size, %arg7: !shape.size):
      %25 = shape.mul %arg7, %arg6 : !shape.size, !shape.size -> !shape.size
      shape.yield %25 : !shape.size
    }
    %7 = shape.get_extent %arg0, %c10 : !shape.shape, !shape.size -> !shape.size
    %8 = shape.from_extents %arg4, %arg4 : index, index
    %9 = shape.num_elements %arg0 : !shape.shape -> !shape.size
    %head, %tail = "shape.split_at"(%arg0, %c10) : (!shape.shape, !shape.size) -> (!shape.shape, !shape.shape)
    %10 = shape.concat %head, %tail : !shape.shape, !shape.shape -> !shape.shape
    %11 = shape.is_broadcastable %arg0, %arg1 : !shape.shape, !shape.shape
    %12 = shape.shape_eq %arg0, %arg1 : !shape.shape, !shape.shape
    %13 = shape.assuming_all %3, %4
    %14 = shape.to_extent_tensor %arg0 : !shape.shape -> tensor<?xindex>
    %15 = shape.rank %arg0 : !shape.shape -> !shape.size
    %16 = shape.size_to_index %15 : !shape.size
    %17 = shape.index_to_size %arg4
    %18 = shape.any %arg0, %arg1 : !shape.shape, !shape.shape -> !shape.shape
    %19 = shape.with_shape %arg3, %arg0 : tensor<?xf32>, !shape.shape
    %20 = shape.value_of %19 : tensor<?xf32>
    %21 = shape.dim %arg3, %arg4 : tensor<?xf32>, index -> index
    %22 = shape.meet %arg0, %arg1 : !shape.shape, !shape.shape -> !shape.shape
    %23 = shape.cstr_require %11, "msg"
    %24 = shape.cstr_eq %arg0, %arg1 : !shape.shape, !shape.shape
    return %13 : !shape.witness
  }
}

// -----
module {
  shape.function_library @lib {
    func @same(%arg0: !shape.value_shape) -> !shape.shape {
      %0 = shape_of %arg0 : !shape.value_shape -> !shape.shape
      return %0 : !shape.shape
    }
  } mapping {test.same = @same}
}

// -----
#map = affine_map<(d0, d1) -> (d1, d0)>
#map1 = affine_map<(d0) -> (d0)>
module {
  func.func @sort(%arg0: index, %arg1: memref<?xindex>, %arg2: memref<?xf32>) {
    sparse_tensor.sort  hybrid_quick_sort %arg0, %arg1 jointly %arg2 {ny = 1 : index, perm_map = #map} : memref<?xindex> jointly memref<?xf32>
    sparse_tensor.sort  insertion_sort_stable %arg0, %arg1 {perm_map = #map1} : memref<?xindex>
    return
  }
}

// -----
module {
  ml_program.global private mutable @g(dense<4> : tensor<4xi32>) : tensor<4xi32>
  ml_program.func @f(%arg0: i32) -> i32 {
    %g = ml_program.global_load @g : tensor<4xi32>
    ml_program.global_store @g = %g : tensor<4xi32>
    ml_program.return %arg0 : i32
  }
  ml_program.subgraph private @s(%arg0: i32) -> i32 {
    %0 = ml_program.token
    %1:2 = "test.x"(%0) : (!ml_program.token) -> (!ml_program.token, i32)
    %result, %produceToken = ml_program.global_load_graph @g ordering(%0 -> !ml_program.token) : tensor<4xi32>
    %2 = ml_program.global_store_graph @g = %result ordering(%0 -> !ml_program.token) : tensor<4xi32>
    ml_program.output %arg0 : i32
  }
}

// -----
module {
  func.func @q(%arg0: tensor<4xf32>) {
    %0 = quant.qcast %arg0 : tensor<4xf32> to tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %1 = quant.scast %0 : tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>> to tensor<4xi8>
    %2 = quant.dcast %0 : tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>> to tensor<4xf32>
    return
  }
}

// -----
module {
  func.func @cx(%arg0: complex<f32>, %arg1: f32) {
    %0 = complex.re %arg0 : complex<f32>
    %1 = complex.create %arg1, %arg1 : complex<f32>
    %cst = complex.constant [1.000000e+00 : f32, -1.000000e+00 : f32] : complex<f32>
    %2 = complex.abs %arg0 : complex<f32>
    %3 = complex.eq %arg0, %arg0 : complex<f32>
    %4 = complex.add %arg0, %arg0 fastmath<nnan> : complex<f32>
    %5 = complex.bitcast %arg0 : complex<f32> to i64
    %6 = complex.angle %arg0 : complex<f32>
    %7 = complex.im %arg0 : complex<f32>
    %8 = complex.neq %arg0, %arg0 : complex<f32>
    return
  }
}

// -----
module {
  func.func @idx(%arg0: index, %arg1: index, %arg2: vector<4xindex>) {
    %0 = index.add %arg0, %arg1
    %1 = index.cmp slt(%arg0, %arg1)
    %2 = index.casts %arg0 : index to i32
    %idx42 = index.constant 42
    %true = index.bool.constant true
    %3 = index.sizeof
    %4 = index.maxu %arg0, %arg1
    return
  }
}

// -----
module {
  func.func @ub() -> i32 {
    %0 = ub.poison : i32
    %1 = ub.poison : vector<4xf32>
    return %0 : i32
  }
}

// -----
module {
  func.func @ub2() {
    ub.unreachable
  }
}

// -----
module {
  func.func @amx(%arg0: memref<?x?xi8>, %arg1: index) {
    %0 = amx.tile_zero : !amx.tile<16x64xi8>
    %1 = amx.tile_load %arg0[%arg1, %arg1] : memref<?x?xi8> into !amx.tile<16x64xi8>
    %2 = amx.tile_zero : !amx.tile<16x16xi32>
    %3 = amx.tile_muli %1 zext, %1 zext, %2 : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
    amx.tile_store %arg0[%arg1, %arg1], %1 : memref<?x?xi8>, !amx.tile<16x64xi8>
    return
  }
}

// -----
module {
  func.func @neon(%arg0: vector<8xi8>, %arg1: vector<16xi8>, %arg2: vector<4xi32>) {
    %0 = arm_neon.intr.smull %arg0, %arg0 : vector<8xi8> to vector<8xi16>
    %1 = arm_neon.intr.sdot %arg2, %arg1, %arg1 : vector<16xi8>, vector<16xi8> to vector<4xi32>
    %2 = arm_neon.intr.smmla %arg2, %arg1, %arg1 : vector<16xi8> to vector<4xi32>
    return
  }
}

// -----
module {
  func.func @sve(%arg0: vector<[16]xi8>, %arg1: vector<[4]xi32>, %arg2: vector<[4]xi1>) {
    %0 = arm_sve.sdot %arg1, %arg0, %arg0 : vector<[16]xi8> to vector<[4]xi32>
    %1 = arm_sve.masked.addi %arg2, %arg1, %arg1 : vector<[4]xi1>, vector<[4]xi32>
    %2 = arm_sve.convert_to_svbool %arg2 : vector<[4]xi1>
    %resultV1, %resultV2 = arm_sve.zip.x2 %arg0, %arg0 : vector<[16]xi8>
    return
  }
}

// -----
module {
  func.func @sve3(%arg0: vector<[16]xi8>, %arg1: vector<[4]xi1>, %arg2: index) {
    %resultV1, %resultV2 = arm_sve.zip.x2 %arg0, %arg0 : vector<[16]xi8>
    %0 = arm_sve.psel %arg1, %arg1[%arg2] : vector<[4]xi1>, vector<[4]xi1>
    return
  }
}

// -----
module {
  func.func @sme(%arg0: vector<[4]xf32>, %arg1: memref<?x?xf32>, %arg2: index) {
    %0 = arm_sme.zero : vector<[4]x[4]xf32>
    %1 = arm_sme.tile_load %arg1[%arg2, %arg2] : memref<?x?xf32>, vector<[4]x[4]xf32>
    arm_sme.tile_store %1, %arg1[%arg2, %arg2] : memref<?x?xf32>, vector<[4]x[4]xf32>
    %2 = arm_sme.outerproduct %arg0, %arg0 acc(%0) : vector<[4]xf32>, vector<[4]xf32>
    %3 = arm_sme.insert_tile_slice %arg0, %1[%arg2] : vector<[4]xf32> into vector<[4]x[4]xf32>
    %4 = arm_sme.extract_tile_slice %1[%arg2] layout<vertical> : vector<[4]xf32> from vector<[4]x[4]xf32>
    %5 = arm_sme.streaming_vl <word>
    return
  }
}

// -----
module {
  func.func @x86b(%arg0: vector<16xf32>, %arg1: vector<8xf32>, %arg2: vector<16xi32>) {
    %k1, %k2 = x86vector.avx512.vp2intersect %arg2, %arg2 : vector<16xi32>
    %0 = x86vector.avx.rsqrt %arg1 : vector<8xf32>
    %1 = x86vector.avx.intr.dot %arg1, %arg1 : vector<8xf32>
    return
  }
}

// -----
module {
  func.func @xg(%arg0: memref<24x32xf32>, %arg1: index) {
    %0 = xegpu.create_nd_tdesc %arg0 : memref<24x32xf32> -> !xegpu.tensor_desc<8x16xf32>
    %1 = xegpu.load_nd %0[%arg1, %arg1] <{l1_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    xegpu.store_nd %1, %0[%arg1, 0]  : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    xegpu.prefetch_nd %0[0, 0]  : !xegpu.tensor_desc<8x16xf32>
    xegpu.fence memory_kind = global, fence_scope = workgroup
    return
  }
}

// -----
module {
  func.func @amd(%arg0: memref<64xf32>, %arg1: i32, %arg2: f32, %arg3: vector<4xf16>, %arg4: vector<4xf32>, %arg5: index, %arg6: memref<64xf32, 3>) {
    %0 = amdgpu.raw_buffer_load %arg0[%arg1] : memref<64xf32>, i32 -> f32
    amdgpu.raw_buffer_store %arg2 -> %arg0[%arg1] sgprOffset %arg1 : f32 -> memref<64xf32>, i32
    amdgpu.raw_buffer_atomic_fadd %arg2 -> %arg0[%arg1] : f32 -> memref<64xf32>, i32
    %1 = amdgpu.mfma 16x16x16 %arg3 * %arg3 + %arg4 blgp =  none : vector<4xf16>, vector<4xf16>, vector<4xf32>
    amdgpu.lds_barrier
    %2 = amdgpu.fat_raw_buffer_cast %arg0 : memref<64xf32> to memref<64xf32, #amdgpu.address_space<fat_raw_buffer>>
    amdgpu.gather_to_lds %arg0[%arg5], %arg6[%arg5] : f32, memref<64xf32>, memref<64xf32, 3>
    %3 = amdgpu.dpp %arg2 %arg2  quad_perm([0, 1, 2, 3]) : f32
    amdgpu.sched_barrier allow = <none>
    return
  }
}

// -----
module {
  shard.grid @g0(shape = 2x4)
  func.func @shard2(%arg0: tensor<4x8xf32>) {
    %sharding = shard.sharding @g0 split_axes = [[0]] : !shard.sharding
    %sharding_annotated = shard.shard %arg0 to %sharding annotate_for_users : tensor<4x8xf32>
    %all_reduce = shard.all_reduce %sharding_annotated on @g0 grid_axes = [1] reduction =  max : tensor<4x8xf32> -> tensor<4x8xf64>
    %grid_shape:2 = shard.grid_shape @g0 : index, index
    %proc_linear_idx:2 = shard.process_multi_index on @g0 : index, index
    %proc_linear_idx_0 = shard.process_linear_index on @g0 : index
    %all_gather = shard.all_gather %sharding_annotated on @g0 grid_axes = [0] gather_axis = 1 : tensor<4x8xf32> -> tensor<4x16xf32>
    return
  }
}

// -----
module {
  func.func @mpi(%arg0: memref<8xf32>, %arg1: i32) {
    %0 = mpi.init : !mpi.retval
    %1 = mpi.comm_world : !mpi.comm
    %retval, %rank = mpi.comm_rank(%1) : !mpi.retval, i32
    mpi.send(%arg0, %arg1, %arg1, %1) : memref<8xf32>, i32, i32
    %2 = mpi.recv(%arg0, %arg1, %arg1, %1) : memref<8xf32>, i32, i32 -> !mpi.retval
    %3 = mpi.retval_check %2 = <MPI_SUCCESS> : i1
    mpi.allreduce(%arg0, %arg0, MPI_SUM, %1) : memref<8xf32>, memref<8xf32>
    return
  }
}

// -----
module {
  func.func @mpi2(%arg0: memref<8xf32>, %arg1: i32) {
    %0 = mpi.init : !mpi.retval
    %1 = mpi.comm_world : !mpi.comm
    %retval, %rank = mpi.comm_rank(%1) : !mpi.retval, i32
    %rank_0 = mpi.comm_rank(%1) : i32
    mpi.barrier(%1)
    %2 = mpi.finalize : !mpi.retval
    return
  }
}

// -----
module {
  func.func @smt2(%arg0: i8) -> i32 {
    %0 = smt.solver(%arg0) : (i8) -> i32 {
    ^bb0(%arg1: i8):
      %a = smt.declare_fun "a" : !smt.bv<32>
      %1 = smt.eq %a, %a : !smt.bv<32>
      %2 = smt.distinct %a, %a, %a : !smt.bv<32>
      smt.assert %1
      %3 = smt.and %1, %2
      %4 = smt.implies %1, %3
      %5 = smt.ite %1, %a, %a : !smt.bv<32>
      %6 = smt.bv.concat %a, %a : !smt.bv<32>, !smt.bv<32>
      %7 = smt.bv.extract %a from 4 : (!smt.bv<32>) -> !smt.bv<8>
      %8 = smt.bv.cmp ult %a, %a : !smt.bv<32>
      %c5 = smt.int.constant 5
      %9 = smt.int.add %c5, %c5
      smt.push 1
      smt.set_logic "HORN"
      %c1_i32 = arith.constant 1 : i32
      smt.yield %c1_i32 : i32
    }
    return %0 : i32
  }
}

// -----
module {
  func.func @ptr(%arg0: !ptr.ptr<#ptr.generic_space>, %arg1: index, %arg2: f32) -> f32 {
    %0 = ptr.ptr_add inbounds %arg0, %arg1 : !ptr.ptr<#ptr.generic_space>, index
    %1 = ptr.load volatile %arg0 {alignment = 4 : i64} : !ptr.ptr<#ptr.generic_space> -> f32
    ptr.store %arg2, %arg0 : f32, !ptr.ptr<#ptr.generic_space>
    %2 = ptr.type_offset f32 : index
    return %1 : f32
  }
}

// -----
module {
  func.func @tosa(%arg0: tensor<13x21x3xf32>, %arg1: tensor<13x21x3xf32>, %arg2: tensor<1xi1>) -> tensor<13x21x3xf32> {
    %0 = tosa.add %arg0, %arg1 : (tensor<13x21x3xf32>, tensor<13x21x3xf32>) -> tensor<13x21x3xf32>
    %1 = tosa.reduce_sum %arg0 {axis = 1 : i32} : (tensor<13x21x3xf32>) -> tensor<13x1x3xf32>
    %2 = tosa.const_shape  {values = dense<[1, 819]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %3 = tosa.reshape %arg0, %2 : (tensor<13x21x3xf32>, !tosa.shape<2>) -> tensor<1x819xf32>
    %4 = tosa.clamp %arg0 {max_val = 1.000000e+00 : f32, min_val = 0.000000e+00 : f32} : (tensor<13x21x3xf32>) -> tensor<13x21x3xf32>
    %5 = tosa.concat %arg0, %arg1 {axis = 0 : i32} : (tensor<13x21x3xf32>, tensor<13x21x3xf32>) -> tensor<26x21x3xf32>
    %6 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %7 = tosa.transpose %arg0 {perms = array<i32: 2, 0, 1>} : (tensor<13x21x3xf32>) -> tensor<3x13x21xf32>
    return %0 : tensor<13x21x3xf32>
  }
}

// -----
module {
  func.func @tosa_cf(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<i32>) -> tensor<f32> {
    %0 = tosa.cond_if %arg2 (%arg4 = %arg0, %arg5 = %arg1) : tensor<i1> (tensor<f32>, tensor<f32>) -> tensor<f32> {
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %1 = tosa.add %arg4, %arg5 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      tosa.yield %1 : tensor<f32>
    } else {
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      tosa.yield %arg5 : tensor<f32>
    }
    return %0 : tensor<f32>
  }
}

// -----
module {
  func.func @tosa_cf2(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i1>) -> tensor<f32> {
    %0 = tosa.cond_if %arg2 : tensor<i1> -> tensor<f32> {
      %1 = tosa.add %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      tosa.yield %1 : tensor<f32>
    } else {
      tosa.yield %arg1 : tensor<f32>
    }
    return %0 : tensor<f32>
  }
}

// -----
module {
  func.func @tosa_w(%arg0: tensor<i32>, %arg1: tensor<i32>) {
    %0 = tosa.while_loop (%arg2 = %arg0) : (tensor<i32>) -> tensor<i32> {
      %1 = tosa.greater_equal %arg1, %arg2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      tosa.yield %1 : tensor<i1>
    } do {
    ^bb0(%arg2: tensor<i32>):
      %1 = tosa.add %arg2, %arg2 : (tensor<i32>, tensor<i32>) -> tensor<i32>
      tosa.yield %1 : tensor<i32>
    }
    return
  }
}

// -----
#map = affine_map<(d0, d1) -> (d1, d0)>
module {
  func.func @vec(%arg0: vector<4x8xf32>, %arg1: vector<8xf32>, %arg2: memref<?x?xf32>, %arg3: index, %arg4: f32, %arg5: vector<8xi1>, %arg6: vector<8xi32>, %arg7: tensor<?x?xf32>) {
    %0 = vector.broadcast %arg4 : f32 to vector<4x8xf32>
    %1 = vector.extract %arg0[1] : vector<8xf32> from vector<4x8xf32>
    %2 = vector.extract %arg0[%arg3, 3] : f32 from vector<4x8xf32>
    %3 = vector.insert %arg1, %arg0 [2] : vector<8xf32> into vector<4x8xf32>
    %4 = vector.insert %arg4, %arg0 [2, %arg3] : f32 into vector<4x8xf32>
    %5 = vector.extract_strided_slice %arg0 {offsets = [0, 2], sizes = [2, 4], strides = [1, 1]} : vector<4x8xf32> to vector<2x4xf32>
    %6 = vector.insert_strided_slice %arg1, %arg0 {offsets = [0, 0], strides = [1]} : vector<8xf32> into vector<4x8xf32>
    %7 = vector.transfer_read %arg2[%arg3, %arg3], %arg4 {in_bounds = [true, true], permutation_map = #map} : memref<?x?xf32>, vector<4x8xf32>
    vector.transfer_write %7, %arg2[%arg3, %arg3] : vector<4x8xf32>, memref<?x?xf32>
    %8 = vector.transfer_read %arg2[%arg3, %arg3], %arg4, %arg5 : memref<?x?xf32>, vector<8xf32>
    %9 = vector.transfer_write %arg1, %arg7[%arg3, %arg3] : vector<8xf32>, tensor<?x?xf32>
    %10 = vector.gather %arg2[%arg3, %arg3] [%arg6], %arg5, %arg1 : memref<?x?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.scatter %arg2[%arg3, %arg3] [%arg6], %arg5, %arg1 : memref<?x?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>
    %11 = vector.maskedload %arg2[%arg3, %arg3], %arg5, %arg1 : memref<?x?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.maskedstore %arg2[%arg3, %arg3], %arg5, %arg1 : memref<?x?xf32>, vector<8xi1>, vector<8xf32>
    vector.compressstore %arg2[%arg3, %arg3], %arg5, %arg1 : memref<?x?xf32>, vector<8xi1>, vector<8xf32>
    %12 = vector.expandload %arg2[%arg3, %arg3], %arg5, %arg1 : memref<?x?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %13 = vector.reduction <add>, %arg1, %arg4 : vector<8xf32> into f32
    %14 = vector.multi_reduction <mul>, %arg0, %arg1 [0] : vector<4x8xf32> to vector<8xf32>
    %15 = vector.create_mask %arg3, %arg3 : vector<4x8xi1>
    %16 = vector.constant_mask [2, 3] : vector<4x8xi1>
    %17 = vector.mask %15 { vector.transfer_read %arg2[%arg3, %arg3], %arg4 {in_bounds = [true, true]} : memref<?x?xf32>, vector<4x8xf32> } : vector<4x8xi1> -> vector<4x8xf32>
    return
  }
}

// -----
module {
  func.func @vec2(%arg0: vector<4x8xf32>, %arg1: vector<8xf32>, %arg2: memref<?x?xf32>, %arg3: index, %arg4: f32, %arg5: vector<8xi1>, %arg6: vector<8xi32>, %arg7: vector<8x8xf32>, %arg8: memref<?xvector<8xf32>>) {
    %0 = vector.create_mask %arg3, %arg3 : vector<4x8xi1>
    %1 = vector.mask %0 { vector.transfer_read %arg2[%arg3, %arg3], %arg4 {in_bounds = [true, true]} : memref<?x?xf32>, vector<4x8xf32> } : vector<4x8xi1> -> vector<4x8xf32>
    %2 = vector.mask %arg5 { vector.reduction <add>, %arg1 : vector<8xf32> into f32 } : vector<8xi1> -> f32
    vector.mask %0 { vector.transfer_write %arg0, %arg2[%arg3, %arg3] {in_bounds = [true, true]} : vector<4x8xf32>, memref<?x?xf32> } : vector<4x8xi1>
    %3 = vector.mask %arg5, %arg1 { vector.transfer_read %arg2[%arg3, %arg3], %arg4 : memref<?x?xf32>, vector<8xf32> } : vector<8xi1> -> vector<8xf32>
    %4 = vector.outerproduct %arg1, %arg1, %arg7 {kind = #vector.kind<add>} : vector<8xf32>, vector<8xf32>
    %5 = vector.outerproduct %arg1, %arg4 : vector<8xf32>, f32
    %6 = vector.shape_cast %arg0 : vector<4x8xf32> to vector<32xf32>
    %7 = vector.bitcast %arg1 : vector<8xf32> to vector<16xf16>
    %8 = vector.transpose %arg0, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
    %9 = vector.shuffle %arg1, %arg1 [0, 9, 3] : vector<8xf32>, vector<8xf32>
    vector.print %arg1 : vector<8xf32>
    vector.print str "x"
    vector.print
    %10 = vector.load %arg2[%arg3, %arg3] {nontemporal = true} : memref<?x?xf32>, vector<8xf32>
    vector.store %arg1, %arg2[%arg3, %arg3] : memref<?x?xf32>, vector<8xf32>
    %vscale = vector.vscale
    %dest, %accumulated_value = vector.scan <add>, %arg0, %arg1 {inclusive = true, reduction_dim = 0 : i64} : vector<4x8xf32>, vector<8xf32>
    return
  }
}

// -----
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> ()>
module {
  func.func @vec3(%arg0: vector<4x8xf32>, %arg1: vector<8xf32>, %arg2: memref<4x3xf32>, %arg3: index, %arg4: f32, %arg5: vector<8xi1>, %arg6: vector<8x8xf32>) {
    %0 = vector.create_mask %arg3, %arg3 : vector<4x8xi1>
    %1 = vector.outerproduct %arg1, %arg1, %arg6 {kind = #vector.kind<add>} : vector<8xf32>, vector<8xf32>
    %2 = vector.outerproduct %arg1, %arg4 : vector<8xf32>, f32
    %3 = vector.shuffle %arg1, %arg1 [0, 9, 3] : vector<8xf32>, vector<8xf32>
    %vscale = vector.vscale
    %dest, %accumulated_value = vector.scan <add>, %arg0, %arg1 {inclusive = true, reduction_dim = 0 : i64} : vector<4x8xf32>, vector<8xf32>
    %4 = vector.type_cast %arg2 : memref<4x3xf32> to memref<vector<4x3xf32>>
    %5 = vector.step : vector<4xindex>
    %res1, %res2 = vector.deinterleave %arg1 : vector<8xf32> -> vector<4xf32>
    %6 = vector.interleave %res1, %res2 : vector<4xf32> -> vector<8xf32>
    %7 = vector.from_elements %arg4, %arg4 : vector<2xf32>
    %8:8 = vector.to_elements %arg1 : vector<8xf32>
    %9 = vector.contract {indexing_maps = [#map, #map, #map1], iterator_types = ["reduction"], kind = #vector.kind<add>} %arg1, %arg1, %arg4 : vector<8xf32>, vector<8xf32> into f32
    %10 = vector.fma %arg1, %arg1, %arg1 : vector<8xf32>
    return
  }
}

// -----
module {
  func.func @vec4(%arg0: vector<4x8xf32>, %arg1: vector<8xf32>, %arg2: index, %arg3: f32) {
    return
  }
}

// -----
module {
  gpu.module @k {
    gpu.func @w(%arg0: index, %arg1: memref<64xf32>) {
      %0 = gpu.warp_execute_on_lane_0(%arg0)[32] -> (vector<1xf32>) {
        %cst = arith.constant dense<1.000000e+00> : vector<32xf32>
        gpu.yield %cst : vector<32xf32>
      }
      %1:2 = gpu.warp_execute_on_lane_0(%arg0)[32] args(%0, %0 : vector<1xf32>, vector<1xf32>) -> (vector<1xf32>, f32) {
      ^bb0(%arg2: vector<32xf32>, %arg3: vector<32xf32>):
        %cst = arith.constant 1.000000e+00 : f32
        gpu.yield %arg2, %cst : vector<32xf32>, f32
      }
      gpu.return
    }
  }
}

// -----
module {
  gpu.module @kernels attributes {x} {
    gpu.func @k(%arg0: f32, %arg1: memref<32xf32>, %arg2: i32, %arg3: i32) workgroup(%arg4 : memref<32xf32, 3>, %arg5 : memref<4xf32, 3>) private(%arg6 : memref<1xf32, 5>) kernel attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
      %thread_id_x = gpu.thread_id  x
      %block_dim_y = gpu.block_dim  y upper_bound 4
      %0 = gpu.lane_id
      %1 = gpu.subgroup_size : index
      %2 = gpu.all_reduce  add %arg0 uniform {
      } : (f32) -> f32
      %3 = gpu.all_reduce  %arg0 {
      ^bb0(%arg7: f32, %arg8: f32):
        %5 = arith.addf %arg7, %arg8 : f32
        gpu.yield %5 : f32
      } : (f32) -> f32
      %shuffleResult, %valid = gpu.shuffle  xor %arg0, %arg2, %arg3 : f32
      %4 = gpu.subgroup_reduce  add %arg0 cluster(size = 4) : (f32) -> f32
      gpu.barrier
      gpu.printf "x %f", %arg0 : f32
      gpu.return
    }
  }
}

// -----
module {
  gpu.module @kernels {
    gpu.func @k(%arg0: f32, %arg1: memref<32x32xf16>, %arg2: i32, %arg3: i32, %arg4: index) workgroup(%arg5 : memref<32xf32, 3>) kernel {
      %shuffleResult, %valid = gpu.shuffle  xor %arg0, %arg2, %arg3 : f32
      %rotateResult, %valid_0 = gpu.rotate %arg0, 1, 32 : f32
      %0 = gpu.subgroup_reduce  add %arg0 uniform : (f32) -> f32
      %1 = gpu.subgroup_mma_load_matrix %arg1[%arg4, %arg4] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
      gpu.return
    }
  }
}

// -----
module {
  gpu.module @kernels {
    gpu.func @k(%arg0: f32, %arg1: memref<32x32xf16>, %arg2: f16, %arg3: index, %arg4: i32) kernel {
      %0 = gpu.subgroup_mma_load_matrix %arg1[%arg3, %arg3] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
      %1 = gpu.subgroup_mma_load_matrix %arg1[%arg3, %arg3] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
      %2 = gpu.subgroup_mma_constant_matrix %arg2 : !gpu.mma_matrix<16x16xf16, "COp">
      %3 = gpu.subgroup_mma_compute %0, %1, %2 : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf16, "COp">
      %4 = gpu.subgroup_mma_elementwise  addf %2, %3 : (!gpu.mma_matrix<16x16xf16, "COp">, !gpu.mma_matrix<16x16xf16, "COp">) -> !gpu.mma_matrix<16x16xf16, "COp">
      gpu.subgroup_mma_store_matrix %4, %arg1[%arg3, %arg3] {leadDimension = 32 : index} : !gpu.mma_matrix<16x16xf16, "COp">, memref<32x32xf16>
      %5 = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %6 = gpu.subgroup_broadcast %arg2,  specific_lane %arg4 : f16
      gpu.return
    }
  }
}

// -----
#map = affine_map<(d0)[s0] -> (d0 + s0)>
module {
  func.func @g(%arg0: index, %arg1: memref<?xf32>, %arg2: !gpu.async.token, %arg3: i32, %arg4: memref<*xf32>) {
    %0 = gpu.wait async [%arg2]
    %memref, %asyncToken = gpu.alloc async [%0] host_shared (%arg0)[%arg0] : memref<?xf32, #map>
    %1 = gpu.memcpy async [%asyncToken, %arg2] %arg1, %arg1 : memref<?xf32>, memref<?xf32>
    %cst = arith.constant 1.000000e+00 : f32
    gpu.memset  %arg1, %cst : memref<?xf32>, f32
    %2 = gpu.dealloc async [%1] %memref : memref<?xf32, #map>
    %3 = gpu.launch async [%2] blocks(%arg5, %arg6, %arg7) in (%arg11 = %arg0, %arg12 = %arg0, %arg13 = %arg0) threads(%arg8, %arg9, %arg10) in (%arg14 = %arg0, %arg15 = %arg0, %arg16 = %arg0) dynamic_shared_memory_size %arg3 {
      gpu.terminator
    }
    gpu.host_register %arg4 : memref<*xf32>
    return
  }
}

// -----
module {
  func.func @g2(%arg0: index, %arg1: memref<?xf32>, %arg2: !gpu.async.token, %arg3: memref<*xf32>, %arg4: i32) {
    %0 = gpu.launch async [%arg2] blocks(%arg5, %arg6, %arg7) in (%arg11 = %arg0, %arg12 = %arg0, %arg13 = %arg0) threads(%arg8, %arg9, %arg10) in (%arg14 = %arg0, %arg15 = %arg0, %arg16 = %arg0) dynamic_shared_memory_size %arg4 {
      gpu.terminator
    }
    gpu.launch clusters(%arg17, %arg18, %arg19) in (%arg20 = %arg0, %arg21 = %arg0, %arg22 = %arg0) blocks(%arg5, %arg6, %arg7) in (%arg11 = %arg0, %arg12 = %arg0, %arg13 = %arg0) threads(%arg8, %arg9, %arg10) in (%arg14 = %arg0, %arg15 = %arg0, %arg16 = %arg0) workgroup(%arg23 : memref<4xf32, 3>) private(%arg24 : memref<4xf32, 5>) {
      gpu.terminator
    }
    gpu.host_register %arg3 : memref<*xf32>
    return
  }
}

// -----
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%arg0: f32) kernel {
      gpu.return
    }
  }
  func.func @l(%arg0: index, %arg1: f32, %arg2: !gpu.async.token, %arg3: i32, %arg4: f64) {
    gpu.launch_func  @m::@k clusters in (%arg0, %arg0, %arg0) blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0)  dynamic_shared_memory_size %arg3 args(%arg1 : f32)
    %0 = gpu.launch_func async [%arg2] @m::@k blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0)  args(%arg1 : f32)
    return
  }
  func.func @l2(%arg0: i64, %arg1: f32, %arg2: !llvm.ptr) {
    gpu.launch_func <%arg2 : !llvm.ptr> @m::@k blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0) : i64 args(%arg1 : f32)
    return
  }
}

// -----
module {
  func.func @gs(%arg0: index, %arg1: !gpu.async.token, %arg2: memref<?xindex>, %arg3: memref<?xf64>, %arg4: memref<?x?xf64>) {
    %spmat, %asyncToken = gpu.create_coo async [%arg1] %arg0, %arg0, %arg0, %arg2, %arg2, %arg3 : memref<?xindex>, memref<?xindex>, memref<?xf64>
    %dnTensor, %asyncToken_0 = gpu.create_dn_tensor async [%asyncToken] %arg4, %arg0, %arg0 : index, index into memref<?x?xf64>
    %bufferSzs, %asyncToken_1 = gpu.spmm_buffer_size async [%asyncToken_0] %spmat, %dnTensor, %dnTensor : index into f64
    %0 = gpu.spmm async [%asyncToken_1] %spmat, %dnTensor, %dnTensor, %arg3 : memref<?xf64> into f64
    %1 = gpu.destroy_sp_mat async [%0] %spmat
    gpu.wait [%1]
    return
  }
}

// -----
module {
  gpu.binary @b  [#gpu.object<#nvvm.target, "BLOB">]
  gpu.binary @c <#gpu.select_object<0 : i64>> [#gpu.object<#nvvm.target, bin = "BL{OB">, #gpu.object<#rocdl.target, "x">]
}

