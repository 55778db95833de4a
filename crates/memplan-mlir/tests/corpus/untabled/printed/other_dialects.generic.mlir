"builtin.module"() ({
  "emitc.class"() <{sym_name = "c"}> ({
    "emitc.field"() <{sym_name = "f", type = !emitc.array<1xf32>}> : () -> ()
    "emitc.func"() <{function_type = () -> (), sym_name = "execute"}> ({
      %0 = "emitc.constant"() <{value = 0 : index}> : () -> !emitc.size_t
      %1 = "emitc.get_field"() <{field_name = @f}> : () -> !emitc.array<1xf32>
      %2 = "emitc.subscript"(%1, %0) : (!emitc.array<1xf32>, !emitc.size_t) -> !emitc.lvalue<f32>
      "emitc.return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "emitc.file"() <{id = "main"}> ({
    "emitc.include"() <{include = "stdio.h", is_standard_include}> : () -> ()
    "emitc.verbatim"() <{value = "int x;"}> : () -> ()
    "emitc.global"() <{extern_specifier, sym_name = "x", type = i32}> : () -> ()
    "func.func"() <{function_type = () -> (), sym_name = "h"}> ({
      "func.return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "spirv.module"() <{addressing_model = #spirv.addressing_model<Logical>, memory_model = #spirv.memory_model<GLSL450>, vce_triple = #spirv.vce<v1.0, [Shader], []>}> ({
    "spirv.GlobalVariable"() <{binding = 1 : i32, descriptor_set = 0 : i32, sym_name = "v", type = !spirv.ptr<!spirv.struct<(!spirv.array<16 x f32, stride=4> [0])>, StorageBuffer>}> : () -> ()
    "spirv.SpecConstant"() <{default_value = 2 : i32, sym_name = "sc"}> : () -> ()
    "spirv.SpecConstant"() <{default_value = 3 : i32, sym_name = "sd"}> : () -> ()
    "spirv.SpecConstantComposite"() <{constituents = [@sc, @sd], sym_name = "scc", type = !spirv.array<2 x i32>}> : () -> ()
    "spirv.func"() <{function_control = #spirv.function_control<None>, function_type = (i32, i32, !spirv.ptr<i32, Function>) -> i32, sym_name = "f"}> ({
    ^bb0(%arg0: i32, %arg1: i32, %arg2: !spirv.ptr<i32, Function>):
      %1 = "spirv.IAdd"(%arg0, %arg1) : (i32, i32) -> i32
      %2 = "spirv.Load"(%arg2) <{memory_access = #spirv.memory_access<Volatile>}> : (!spirv.ptr<i32, Function>) -> i32
      "spirv.Store"(%arg2, %2) <{alignment = 4 : i32, memory_access = #spirv.memory_access<Aligned>}> : (!spirv.ptr<i32, Function>, i32) -> ()
      %3 = "spirv.IEqual"(%arg0, %arg1) : (i32, i32) -> i1
      "spirv.mlir.selection"() <{selection_control = #spirv.selection_control<None>}> ({
        "spirv.BranchConditional"(%3)[^bb1, ^bb2] <{branch_weights = [5 : i32, 3 : i32], operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
      ^bb1:  // pred: ^bb0
        "spirv.Store"(%arg2, %arg0) : (!spirv.ptr<i32, Function>, i32) -> ()
        "spirv.Branch"()[^bb3] : () -> ()
      ^bb2:  // pred: ^bb0
        "spirv.Branch"()[^bb3] : () -> ()
      ^bb3:  // 2 preds: ^bb1, ^bb2
        "spirv.mlir.merge"() : () -> ()
      }) : () -> ()
      %4 = "spirv.mlir.addressof"() <{variable = @v}> : () -> !spirv.ptr<!spirv.struct<(!spirv.array<16 x f32, stride=4> [0])>, StorageBuffer>
      %5 = "spirv.Constant"() <{value = 0 : i32}> : () -> i32
      %6 = "spirv.AccessChain"(%4, %5, %arg0) : (!spirv.ptr<!spirv.struct<(!spirv.array<16 x f32, stride=4> [0])>, StorageBuffer>, i32, i32) -> !spirv.ptr<f32, StorageBuffer>
      %7 = "spirv.Select"(%3, %arg0, %arg1) : (i1, i32, i32) -> i32
      %8 = "spirv.CompositeConstruct"(%arg0, %arg1) : (i32, i32) -> vector<2xi32>
      %9 = "spirv.CompositeExtract"(%8) <{indices = [1 : i32]}> : (vector<2xi32>) -> i32
      %10 = "spirv.CompositeInsert"(%arg0, %8) <{indices = [1 : i32]}> : (i32, vector<2xi32>) -> vector<2xi32>
      %11 = "spirv.AtomicIAdd"(%arg2, %arg0) <{memory_scope = #spirv.scope<Device>, semantics = #spirv.memory_semantics<None>}> : (!spirv.ptr<i32, Function>, i32) -> i32
      %12 = "spirv.AtomicCompareExchange"(%arg2, %arg0, %arg1) <{equal_semantics = #spirv.memory_semantics<Release>, memory_scope = #spirv.scope<Workgroup>, unequal_semantics = #spirv.memory_semantics<Acquire>}> : (!spirv.ptr<i32, Function>, i32, i32) -> i32
      %13 = "spirv.BitFieldInsert"(%8, %8, %arg0, %arg1) : (vector<2xi32>, vector<2xi32>, i32, i32) -> vector<2xi32>
      %14 = "spirv.VectorShuffle"(%8, %8) <{components = [1 : i32, 3 : i32]}> : (vector<2xi32>, vector<2xi32>) -> vector<2xi32>
      %15 = "spirv.FunctionCall"(%arg0, %arg1, %arg2) <{callee = @f}> : (i32, i32, !spirv.ptr<i32, Function>) -> i32
      %16 = "spirv.Variable"() <{storage_class = #spirv.storage_class<Function>}> : () -> !spirv.ptr<i32, Function>
      %17 = "spirv.Bitcast"(%arg0) : (i32) -> f32
      %18 = "spirv.ConvertSToF"(%arg0) : (i32) -> f32
      %19 = "spirv.GL.Exp"(%18) : (f32) -> f32
      %20 = "spirv.GL.Fma"(%18, %18, %18) : (f32, f32, f32) -> f32
      %21 = "spirv.mlir.referenceof"() <{spec_const = @sc}> : () -> i32
      %22 = "spirv.IAddCarry"(%arg0, %arg1) : (i32, i32) -> !spirv.struct<(i32, i32)>
      %23 = "spirv.ISub"(%arg0, %arg1) : (i32, i32) -> i32
      %24 = "spirv.VectorExtractDynamic"(%8, %arg0) : (vector<2xi32>, i32) -> i32
      %25 = "spirv.VectorInsertDynamic"(%8, %arg0, %arg1) : (vector<2xi32>, i32, i32) -> vector<2xi32>
      %26 = "spirv.ShiftLeftLogical"(%arg0, %arg1) : (i32, i32) -> i32
      "spirv.ControlBarrier"() <{execution_scope = #spirv.scope<Workgroup>, memory_scope = #spirv.scope<Device>, memory_semantics = #spirv.memory_semantics<Acquire|UniformMemory>}> : () -> ()
      "spirv.MemoryBarrier"() <{memory_scope = #spirv.scope<Device>, memory_semantics = #spirv.memory_semantics<Acquire|UniformMemory>}> : () -> ()
      %27 = "spirv.Undef"() : () -> i32
      %28 = "spirv.GroupNonUniformElect"() <{execution_scope = #spirv.scope<Workgroup>}> : () -> i1
      %29 = "spirv.GroupNonUniformIAdd"(%arg0) <{execution_scope = #spirv.scope<Workgroup>, group_operation = #spirv.group_operation<Reduce>}> : (i32) -> i32
      %30 = "spirv.LogicalNot"(%3) : (i1) -> i1
      "spirv.CopyMemory"(%arg2, %16) : (!spirv.ptr<i32, Function>, !spirv.ptr<i32, Function>) -> ()
      "spirv.ReturnValue"(%1) : (i32) -> ()
    }) : () -> ()
    "spirv.func"() <{function_control = #spirv.function_control<None>, function_type = () -> (), sym_name = "g"}> ({
      "spirv.mlir.loop"() <{loop_control = #spirv.loop_control<None>}> ({
        "spirv.Branch"()[^bb1] : () -> ()
      ^bb1:  // 2 preds: ^bb0, ^bb3
        %0 = "spirv.Constant"() <{value = true}> : () -> i1
        "spirv.BranchConditional"(%0)[^bb2, ^bb4] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
      ^bb2:  // pred: ^bb1
        "spirv.Branch"()[^bb3] : () -> ()
      ^bb3:  // pred: ^bb2
        "spirv.Branch"()[^bb1] : () -> ()
      ^bb4:  // pred: ^bb1
        "spirv.mlir.merge"() : () -> ()
      }) : () -> ()
      "spirv.Return"() : () -> ()
    }) : () -> ()
    "spirv.EntryPoint"() <{execution_model = #spirv.execution_model<GLCompute>, fn = @g, interface = []}> : () -> ()
    "spirv.ExecutionMode"() <{execution_mode = #spirv.execution_mode<LocalSize>, fn = @g, values = [1 : i32, 1 : i32, 1 : i32]}> : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "spirv.module"() <{addressing_model = #spirv.addressing_model<Logical>, memory_model = #spirv.memory_model<GLSL450>}> ({
    "spirv.SpecConstant"() <{default_value = 2 : i32, sym_name = "sc"}> : () -> ()
    "spirv.func"() <{function_control = #spirv.function_control<None>, function_type = (i32, i32) -> i32, sym_name = "f"}> ({
    ^bb0(%arg0: i32, %arg1: i32):
      %0 = "spirv.mlir.referenceof"() <{spec_const = @sc}> : () -> i32
      %1 = "spirv.ShiftLeftLogical"(%arg0, %arg1) : (i32, i32) -> i32
      %2 = "spirv.IEqual"(%arg0, %arg1) : (i32, i32) -> i1
      %3 = "spirv.mlir.selection"() <{selection_control = #spirv.selection_control<None>}> ({
        "spirv.BranchConditional"(%2)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
      ^bb1:  // pred: ^bb0
        "spirv.Branch"(%arg0)[^bb3] : (i32) -> ()
      ^bb2:  // pred: ^bb0
        "spirv.Branch"(%arg1)[^bb3] : (i32) -> ()
      ^bb3(%4: i32):  // 2 preds: ^bb1, ^bb2
        "spirv.mlir.merge"(%4) : (i32) -> ()
      }) : () -> i32
      "spirv.ReturnValue"(%3) : (i32) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "llvm.func"() <{CConv = #llvm.cconv<ccc>, function_type = !llvm.func<void (ptr, i64, vector<4xf32>, vector<4xi1>)>, linkage = #llvm.linkage<external>, sym_name = "h", unnamed_addr = 0 : i64, visibility_ = 0 : i64}> ({
  ^bb0(%arg0: !llvm.ptr, %arg1: i64, %arg2: vector<4xf32>, %arg3: vector<4xi1>):
    %0 = "llvm.intr.masked.load"(%arg0, %arg3, %arg2) <{alignment = 1 : i32}> : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    "llvm.intr.masked.store"(%0, %arg0, %arg3) <{alignment = 1 : i32}> : (vector<4xf32>, !llvm.ptr, vector<4xi1>) -> ()
    %1 = "llvm.intr.vector.extract"(%arg2) <{pos = 0 : i64}> : (vector<4xf32>) -> vector<4xf32>
    %2 = "llvm.intr.vector.reduce.add"(%arg3) : (vector<4xi1>) -> i1
    "llvm.intr.assume"(%2) <{op_bundle_sizes = array<i32>}> : (i1) -> ()
    "llvm.intr.lifetime.start"(%arg0) : (!llvm.ptr) -> ()
    %3 = "llvm.freeze"(%arg1) : (i64) -> i64
    %4 = "llvm.mlir.zero"() : () -> !llvm.ptr
    %5 = "llvm.mlir.poison"() : () -> i32
    %6 = "llvm.zext"(%5) <{nonNeg}> : (i32) -> i64
    %7 = "llvm.va_arg"(%arg0) : (!llvm.ptr) -> i32
    "llvm.unreachable"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "llvm.comdat"() <{sym_name = "__llvm_comdat"}> ({
    "llvm.comdat_selector"() <{comdat = 0 : i64, sym_name = "any"}> : () -> ()
  }) : () -> ()
  "llvm.mlir.alias"() <{alias_type = i32, linkage = #llvm.linkage<external>, sym_name = "al", unnamed_addr = 0 : i64, visibility_ = 0 : i64}> ({
    %1 = "llvm.mlir.addressof"() <{global_name = @gg}> : () -> !llvm.ptr
    "llvm.return"(%1) : (!llvm.ptr) -> ()
  }) : () -> ()
  "llvm.mlir.global"() <{addr_space = 0 : i32, global_type = i32, linkage = #llvm.linkage<external>, sym_name = "gg", unnamed_addr = 0 : i64, visibility_ = 0 : i64}> ({
    %0 = "llvm.mlir.constant"() <{value = 3 : i32}> : () -> i32
    "llvm.return"(%0) : (i32) -> ()
  }) : () -> ()
  "llvm.mlir.global_ctors"() <{ctors = [@k], data = [#llvm.zero], priorities = [0 : i32]}> : () -> ()
  "llvm.func"() <{CConv = #llvm.cconv<ccc>, function_type = !llvm.func<void ()>, linkage = #llvm.linkage<external>, sym_name = "k", unnamed_addr = 0 : i64, visibility_ = 0 : i64}> ({
    "llvm.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>) -> (), sym_name = "mma"}> ({
  ^bb0(%arg0: vector<2xf16>, %arg1: vector<2xf16>, %arg2: vector<2xf16>, %arg3: vector<2xf16>, %arg4: vector<2xf16>):
    %0 = "nvvm.mma.sync"(%arg0, %arg1, %arg2, %arg3, %arg4) <{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<f16>, multiplicandBPtxType = #nvvm.mma_type<f16>, operandSegmentSizes = array<i32: 2, 1, 2>, shape = #nvvm.shape<m = 16, n = 8, k = 8>}> : (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<32x32xf16, 3>, memref<32x32xf16>, index, vector<2x2xf16>, vector<4x2xf16>, vector<2x2xf16>) -> (), sym_name = "nvgpu"}> ({
  ^bb0(%arg0: memref<32x32xf16, 3>, %arg1: memref<32x32xf16>, %arg2: index, %arg3: vector<2x2xf16>, %arg4: vector<4x2xf16>, %arg5: vector<2x2xf16>):
    %0 = "nvgpu.ldmatrix"(%arg0, %arg2, %arg2) <{numTiles = 4 : i32, transpose = false}> : (memref<32x32xf16, 3>, index, index) -> vector<4x2xf16>
    %1 = "nvgpu.mma.sync"(%arg4, %arg3, %arg5) <{mmaShape = [16, 8, 16]}> : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
    %2 = "nvgpu.device_async_copy"(%arg0, %arg2, %arg2, %arg1, %arg2, %arg2) <{bypassL1, dstElements = 8 : index, operandSegmentSizes = array<i32: 1, 2, 1, 2, 0>}> : (memref<32x32xf16, 3>, index, index, memref<32x32xf16>, index, index) -> !nvgpu.device.async.token
    %3 = "nvgpu.device_async_create_group"(%2) : (!nvgpu.device.async.token) -> !nvgpu.device.async.token
    "nvgpu.device_async_wait"(%3) <{numGroups = 1 : i32}> : (!nvgpu.device.async.token) -> ()
    %4 = "nvgpu.mbarrier.create"() : () -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
    "nvgpu.mbarrier.init"(%4, %arg2, %arg2) : (!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>, index, index) -> ()
    %5 = "nvgpu.mbarrier.arrive"(%4, %arg2) : (!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>, index) -> !nvgpu.mbarrier.token
    "nvgpu.mbarrier.arrive.expect_tx"(%4, %arg2, %arg2) : (!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>, index, index) -> ()
    %6 = "nvgpu.mbarrier.test.wait"(%4, %5, %arg2) : (!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>, !nvgpu.mbarrier.token, index) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<*xf32>, index, memref<32x32xf32, 3>, !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>) -> (), sym_name = "tma"}> ({
  ^bb0(%arg0: memref<*xf32>, %arg1: index, %arg2: memref<32x32xf32, 3>, %arg3: !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>):
    %0 = "nvgpu.tma.create.descriptor"(%arg0, %arg1, %arg1) : (memref<*xf32>, index, index) -> !nvgpu.tensormap.descriptor<tensor = memref<32x32xf32, 3>, swizzle = none, l2promo = none, oob = nan, interleave = none>
    "nvgpu.tma.prefetch.descriptor"(%0) : (!nvgpu.tensormap.descriptor<tensor = memref<32x32xf32, 3>, swizzle = none, l2promo = none, oob = nan, interleave = none>) -> ()
    "nvgpu.tma.async.load"(%arg2, %arg3, %0, %arg1, %arg1, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 1, 2, 1, 0, 0>}> : (memref<32x32xf32, 3>, !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>, !nvgpu.tensormap.descriptor<tensor = memref<32x32xf32, 3>, swizzle = none, l2promo = none, oob = nan, interleave = none>, index, index, index) -> ()
    "nvgpu.tma.async.store"(%arg2, %0, %arg1, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>}> : (memref<32x32xf32, 3>, !nvgpu.tensormap.descriptor<tensor = memref<32x32xf32, 3>, swizzle = none, l2promo = none, oob = nan, interleave = none>, index, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "transform.named_sequence"() <{arg_attrs = [{transform.readonly}], function_type = (!transform.any_op) -> (), sym_name = "__transform_main"}> ({
  ^bb0(%arg0: !transform.any_op):
    %0 = "transform.structured.match"(%arg0) <{ops = ["linalg.matmul"]}> : (!transform.any_op) -> !transform.any_op
    %1:3 = "transform.structured.tile_using_for"(%0) <{scalable_sizes = array<i1: false, true, false>, static_sizes = array<i64: 4, 4, 0>}> : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    "transform.yield"() : () -> ()
  }) : () -> ()
}) {transform.with_named_sequence} : () -> ()

// -----
"builtin.module"() ({
  "pdl.pattern"() <{benefit = 2 : i16, sym_name = "p"}> ({
    %0 = "pdl.type"() <{constantType = i32}> : () -> !pdl.type
    %1 = "pdl.attribute"() <{value = 3 : i32}> : () -> !pdl.attribute
    %2 = "pdl.operand"(%0) : (!pdl.type) -> !pdl.value
    %3 = "pdl.operation"(%2, %1, %0) <{attributeValueNames = ["attr"], opName = "foo.op", operandSegmentSizes = array<i32: 1, 1, 1>}> : (!pdl.value, !pdl.attribute, !pdl.type) -> !pdl.operation
    %4 = "pdl.result"(%3) <{index = 0 : i32}> : (!pdl.operation) -> !pdl.value
    %5 = "pdl.operation"(%4, %2) <{attributeValueNames = [], opName = "foo.bar", operandSegmentSizes = array<i32: 2, 0, 0>}> : (!pdl.value, !pdl.value) -> !pdl.operation
    "pdl.apply_native_constraint"(%3, %1) <{isNegated = false, name = "c"}> : (!pdl.operation, !pdl.attribute) -> ()
    "pdl.rewrite"(%5) <{operandSegmentSizes = array<i32: 1, 0>}> ({
      %6 = "pdl.operation"(%1, %0) <{attributeValueNames = ["attr"], opName = "foo.new", operandSegmentSizes = array<i32: 0, 1, 1>}> : (!pdl.attribute, !pdl.type) -> !pdl.operation
      %7 = "pdl.results"(%6) : (!pdl.operation) -> !pdl.range<value>
      "pdl.replace"(%5, %6) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!pdl.operation, !pdl.operation) -> ()
      "pdl.erase"(%3) : (!pdl.operation) -> ()
    }) : (!pdl.operation) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "pdl.pattern"() <{benefit = 1 : i16, sym_name = "q"}> ({
    %0 = "pdl.operand"() : () -> !pdl.value
    %1 = "pdl.operation"(%0) <{attributeValueNames = [], opName = "foo.op", operandSegmentSizes = array<i32: 1, 0, 0>}> : (!pdl.value) -> !pdl.operation
    "pdl.rewrite"(%1) <{operandSegmentSizes = array<i32: 1, 0>}> ({
      "pdl.replace"(%1, %0) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!pdl.operation, !pdl.value) -> ()
    }) : (!pdl.operation) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "pdl_interp.func"() <{function_type = (!pdl.operation) -> (), sym_name = "matcher"}> ({
  ^bb0(%arg2: !pdl.operation):
    %2 = "pdl_interp.get_attribute"(%arg2) <{name = "attr"}> : (!pdl.operation) -> !pdl.attribute
    %3 = "pdl_interp.get_operand"(%arg2) <{index = 1 : i32}> : (!pdl.operation) -> !pdl.value
    "pdl_interp.is_not_null"(%2)[^bb1, ^bb5] : (!pdl.attribute) -> ()
  ^bb1:  // pred: ^bb0
    "pdl_interp.check_operation_name"(%arg2)[^bb2, ^bb5] <{name = "foo.op"}> : (!pdl.operation) -> ()
  ^bb2:  // pred: ^bb1
    "pdl_interp.switch_operation_name"(%arg2)[^bb5, ^bb3, ^bb4] <{caseValues = ["foo.op", "bar.op"]}> : (!pdl.operation) -> ()
  ^bb3:  // pred: ^bb2
    "pdl_interp.record_match"(%arg2, %2, %arg2)[^bb5] <{benefit = 1 : i16, generatedOps = ["foo"], operandSegmentSizes = array<i32: 2, 1>, rewriter = @rewriters::@r, rootKind = "foo.op"}> : (!pdl.operation, !pdl.attribute, !pdl.operation) -> ()
  ^bb4:  // pred: ^bb2
    %4 = "pdl_interp.get_users"(%3) : (!pdl.value) -> !pdl.range<operation>
    "pdl_interp.foreach"(%4)[^bb5] ({
    ^bb0(%arg3: !pdl.operation):
      "pdl_interp.continue"() : () -> ()
    }) : (!pdl.range<operation>) -> ()
  ^bb5:  // 5 preds: ^bb0, ^bb1, ^bb2, ^bb3, ^bb4
    "pdl_interp.finalize"() : () -> ()
  }) : () -> ()
  "builtin.module"() <{sym_name = "rewriters"}> ({
    "pdl_interp.func"() <{function_type = (!pdl.operation, !pdl.attribute) -> (), sym_name = "r"}> ({
    ^bb0(%arg0: !pdl.operation, %arg1: !pdl.attribute):
      %0 = "pdl_interp.create_type"() <{value = i32}> : () -> !pdl.type
      %1 = "pdl_interp.create_operation"(%arg1, %0) <{inputAttributeNames = ["a"], name = "foo.x", operandSegmentSizes = array<i32: 0, 1, 1>}> : (!pdl.attribute, !pdl.type) -> !pdl.operation
      "pdl_interp.replace"(%arg0) : (!pdl.operation) -> ()
      "pdl_interp.finalize"() : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "irdl.dialect"() <{sym_name = "cmath"}> ({
    "irdl.type"() <{sym_name = "complex"}> ({
      %3 = "irdl.is"() <{expected = f32}> : () -> !irdl.attribute
      %4 = "irdl.is"() <{expected = f64}> : () -> !irdl.attribute
      %5 = "irdl.any_of"(%3, %4) : (!irdl.attribute, !irdl.attribute) -> !irdl.attribute
      "irdl.parameters"(%5) <{names = ["elem"]}> : (!irdl.attribute) -> ()
    }) : () -> ()
    "irdl.operation"() <{sym_name = "norm"}> ({
      %0 = "irdl.any"() : () -> !irdl.attribute
      %1 = "irdl.parametric"(%0) <{base_type = @cmath::@complex}> : (!irdl.attribute) -> !irdl.attribute
      "irdl.operands"(%1) <{names = ["in"], variadicity = #irdl<variadicity_array[ single]>}> : (!irdl.attribute) -> ()
      "irdl.results"(%0) <{names = ["out"], variadicity = #irdl<variadicity_array[ optional]>}> : (!irdl.attribute) -> ()
      "irdl.attributes"(%0) <{attributeValueNames = ["attr1"]}> : (!irdl.attribute) -> ()
      %2 = "irdl.region"(%0, %0) <{constrainedArguments, numberOfBlocks = 1 : i32}> : (!irdl.attribute, !irdl.attribute) -> !irdl.region
      "irdl.regions"(%2) <{names = ["body"]}> : (!irdl.region) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (!shape.shape, !shape.shape, tensor<?xindex>, tensor<?xf32>, index) -> !shape.witness, sym_name = "shape"}> ({
  ^bb0(%arg0: !shape.shape, %arg1: !shape.shape, %arg2: tensor<?xindex>, %arg3: tensor<?xf32>, %arg4: index):
    %0 = "shape.shape_of"(%arg3) : (tensor<?xf32>) -> tensor<?xindex>
    %1 = "shape.broadcast"(%arg0, %arg1) : (!shape.shape, !shape.shape) -> !shape.shape
    %2 = "shape.const_shape"() <{shape = dense<[1, 2, 3]> : tensor<3xindex>}> : () -> !shape.shape
    %3 = "shape.const_size"() <{value = 10 : index}> : () -> !shape.size
    %4 = "shape.const_witness"() <{passing = true}> : () -> !shape.witness
    %5 = "shape.cstr_broadcastable"(%arg0, %arg1) : (!shape.shape, !shape.shape) -> !shape.witness
    %6 = "shape.assuming"(%5) ({
      %28 = "test.source"() : () -> tensor<2xf32>
      "shape.assuming_yield"(%28) : (tensor<2xf32>) -> ()
    }) : (!shape.witness) -> tensor<2xf32>
    %7 = "shape.reduce"(%arg0, %3) ({
    ^bb0(%arg5: index, %arg6: !shape.size, %arg7: !shape.size):
      %27 = "shape.mul"(%arg7, %arg6) : (!shape.size, !shape.size) -> !shape.size
      "shape.yield"(%27) : (!shape.size) -> ()
    }) : (!shape.shape, !shape.size) -> !shape.size
    %8 = "shape.get_extent"(%arg0, %3) : (!shape.shape, !shape.size) -> !shape.size
    %9 = "shape.from_extents"(%arg4, %arg4) : (index, index) -> !shape.shape
    %10 = "shape.num_elements"(%arg0) : (!shape.shape) -> !shape.size
    %11:2 = "shape.split_at"(%arg0, %3) : (!shape.shape, !shape.size) -> (!shape.shape, !shape.shape)
    %12 = "shape.concat"(%11#0, %11#1) : (!shape.shape, !shape.shape) -> !shape.shape
    %13 = "shape.is_broadcastable"(%arg0, %arg1) : (!shape.shape, !shape.shape) -> i1
    %14 = "shape.shape_eq"(%arg0, %arg1) : (!shape.shape, !shape.shape) -> i1
    %15 = "shape.assuming_all"(%4, %5) : (!shape.witness, !shape.witness) -> !shape.witness
    %16 = "shape.to_extent_tensor"(%arg0) : (!shape.shape) -> tensor<?xindex>
    %17 = "shape.rank"(%arg0) : (!shape.shape) -> !shape.size
    %18 = "shape.size_to_index"(%17) : (!shape.size) -> index
    %19 = "shape.index_to_size"(%arg4) : (index) -> !shape.size
    %20 = "shape.any"(%arg0, %arg1) : (!shape.shape, !shape.shape) -> !shape.shape
    %21 = "shape.with_shape"(%arg3, %arg0) : (tensor<?xf32>, !shape.shape) -> !shape.value_shape
    %22 = "shape.value_of"(%21) : (!shape.value_shape) -> tensor<?xf32>
    %23 = "shape.dim"(%arg3, %arg4) : (tensor<?xf32>, index) -> index
    %24 = "shape.meet"(%arg0, %arg1) : (!shape.shape, !shape.shape) -> !shape.shape
    %25 = "shape.cstr_require"(%13) <{msg = "msg"}> : (i1) -> !shape.witness
    %26 = "shape.cstr_eq"(%arg0, %arg1) : (!shape.shape, !shape.shape) -> !shape.witness
    "func.return"(%15) : (!shape.witness) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "shape.function_library"() <{mapping = {test.same = @same}, sym_name = "lib"}> ({
    "shape.func"() <{function_type = (!shape.value_shape) -> !shape.shape, sym_name = "same"}> ({
    ^bb0(%arg0: !shape.value_shape):
      %0 = "shape.shape_of"(%arg0) : (!shape.value_shape) -> !shape.shape
      "shape.return"(%0) : (!shape.shape) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1) -> (d1, d0)>
#map1 = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<?xindex>, memref<?xf32>) -> (), sym_name = "sort"}> ({
  ^bb0(%arg0: index, %arg1: memref<?xindex>, %arg2: memref<?xf32>):
    "sparse_tensor.sort"(%arg0, %arg1, %arg2) <{algorithm = #sparse_tensor<SparseTensorSortAlgorithm hybrid_quick_sort>, ny = 1 : index, perm_map = #map}> : (index, memref<?xindex>, memref<?xf32>) -> ()
    "sparse_tensor.sort"(%arg0, %arg1) <{algorithm = #sparse_tensor<SparseTensorSortAlgorithm insertion_sort_stable>, perm_map = #map1}> : (index, memref<?xindex>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "ml_program.global"() <{is_mutable, sym_name = "g", sym_visibility = "private", type = tensor<4xi32>, value = dense<4> : tensor<4xi32>}> : () -> ()
  "ml_program.func"() <{function_type = (i32) -> i32, sym_name = "f"}> ({
  ^bb0(%arg1: i32):
    %4 = "ml_program.global_load"() <{global = @g}> : () -> tensor<4xi32>
    "ml_program.global_store"(%4) <{global = @g}> : (tensor<4xi32>) -> ()
    "ml_program.return"(%arg1) : (i32) -> ()
  }) : () -> ()
  "ml_program.subgraph"() <{function_type = (i32) -> i32, sym_name = "s", sym_visibility = "private"}> ({
  ^bb0(%arg0: i32):
    %0 = "ml_program.token"() : () -> !ml_program.token
    %1:2 = "test.x"(%0) : (!ml_program.token) -> (!ml_program.token, i32)
    %2:2 = "ml_program.global_load_graph"(%0) <{global = @g}> : (!ml_program.token) -> (tensor<4xi32>, !ml_program.token)
    %3 = "ml_program.global_store_graph"(%2#0, %0) <{global = @g}> : (tensor<4xi32>, !ml_program.token) -> !ml_program.token
    "ml_program.output"(%arg0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "q"}> ({
  ^bb0(%arg0: tensor<4xf32>):
    %0 = "quant.qcast"(%arg0) : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %1 = "quant.scast"(%0) : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xi8>
    %2 = "quant.dcast"(%0) : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (complex<f32>, f32) -> (), sym_name = "cx"}> ({
  ^bb0(%arg0: complex<f32>, %arg1: f32):
    %0 = "complex.re"(%arg0) <{fastmath = #arith.fastmath<none>}> : (complex<f32>) -> f32
    %1 = "complex.create"(%arg1, %arg1) : (f32, f32) -> complex<f32>
    %2 = "complex.constant"() <{value = [1.000000e+00 : f32, -1.000000e+00 : f32]}> : () -> complex<f32>
    %3 = "complex.abs"(%arg0) <{fastmath = #arith.fastmath<none>}> : (complex<f32>) -> f32
    %4 = "complex.eq"(%arg0, %arg0) : (complex<f32>, complex<f32>) -> i1
    %5 = "complex.add"(%arg0, %arg0) <{fastmath = #arith.fastmath<nnan>}> : (complex<f32>, complex<f32>) -> complex<f32>
    %6 = "complex.bitcast"(%arg0) : (complex<f32>) -> i64
    %7 = "complex.angle"(%arg0) <{fastmath = #arith.fastmath<none>}> : (complex<f32>) -> f32
    %8 = "complex.im"(%arg0) <{fastmath = #arith.fastmath<none>}> : (complex<f32>) -> f32
    %9 = "complex.neq"(%arg0, %arg0) : (complex<f32>, complex<f32>) -> i1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, index, vector<4xindex>) -> (), sym_name = "idx"}> ({
  ^bb0(%arg0: index, %arg1: index, %arg2: vector<4xindex>):
    %0 = "index.add"(%arg0, %arg1) : (index, index) -> index
    %1 = "index.cmp"(%arg0, %arg1) <{pred = #index<cmp_predicate slt>}> : (index, index) -> i1
    %2 = "index.casts"(%arg0) : (index) -> i32
    %3 = "index.constant"() <{value = 42 : index}> : () -> index
    %4 = "index.bool.constant"() <{value = true}> : () -> i1
    %5 = "index.sizeof"() : () -> index
    %6 = "index.maxu"(%arg0, %arg1) : (index, index) -> index
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = () -> i32, sym_name = "ub"}> ({
    %0 = "ub.poison"() <{value = #ub.poison}> : () -> i32
    %1 = "ub.poison"() <{value = #ub.poison}> : () -> vector<4xf32>
    "func.return"(%0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "ub2"}> ({
    "ub.unreachable"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<?x?xi8>, index) -> (), sym_name = "amx"}> ({
  ^bb0(%arg0: memref<?x?xi8>, %arg1: index):
    %0 = "amx.tile_zero"() : () -> !amx.tile<16x64xi8>
    %1 = "amx.tile_load"(%arg0, %arg1, %arg1) <{operandSegmentSizes = array<i32: 1, 2, 0>}> : (memref<?x?xi8>, index, index) -> !amx.tile<16x64xi8>
    %2 = "amx.tile_zero"() : () -> !amx.tile<16x16xi32>
    %3 = "amx.tile_muli"(%1, %1, %2) <{isZextLhs, isZextRhs}> : (!amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>) -> !amx.tile<16x16xi32>
    "amx.tile_store"(%arg0, %arg1, %arg1, %1) <{operandSegmentSizes = array<i32: 1, 2, 1, 0>}> : (memref<?x?xi8>, index, index, !amx.tile<16x64xi8>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (vector<8xi8>, vector<16xi8>, vector<4xi32>) -> (), sym_name = "neon"}> ({
  ^bb0(%arg0: vector<8xi8>, %arg1: vector<16xi8>, %arg2: vector<4xi32>):
    %0 = "arm_neon.intr.smull"(%arg0, %arg0) : (vector<8xi8>, vector<8xi8>) -> vector<8xi16>
    %1 = "arm_neon.intr.sdot"(%arg2, %arg1, %arg1) : (vector<4xi32>, vector<16xi8>, vector<16xi8>) -> vector<4xi32>
    %2 = "arm_neon.intr.smmla"(%arg2, %arg1, %arg1) : (vector<4xi32>, vector<16xi8>, vector<16xi8>) -> vector<4xi32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (vector<[16]xi8>, vector<[4]xi32>, vector<[4]xi1>) -> (), sym_name = "sve"}> ({
  ^bb0(%arg0: vector<[16]xi8>, %arg1: vector<[4]xi32>, %arg2: vector<[4]xi1>):
    %0 = "arm_sve.sdot"(%arg1, %arg0, %arg0) : (vector<[4]xi32>, vector<[16]xi8>, vector<[16]xi8>) -> vector<[4]xi32>
    %1 = "arm_sve.masked.addi"(%arg2, %arg1, %arg1) : (vector<[4]xi1>, vector<[4]xi32>, vector<[4]xi32>) -> vector<[4]xi32>
    %2 = "arm_sve.convert_to_svbool"(%arg2) : (vector<[4]xi1>) -> vector<[16]xi1>
    %3:2 = "arm_sve.zip.x2"(%arg0, %arg0) : (vector<[16]xi8>, vector<[16]xi8>) -> (vector<[16]xi8>, vector<[16]xi8>)
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (vector<[16]xi8>, vector<[4]xi1>, index) -> (), sym_name = "sve3"}> ({
  ^bb0(%arg0: vector<[16]xi8>, %arg1: vector<[4]xi1>, %arg2: index):
    %0:2 = "arm_sve.zip.x2"(%arg0, %arg0) : (vector<[16]xi8>, vector<[16]xi8>) -> (vector<[16]xi8>, vector<[16]xi8>)
    %1 = "arm_sve.psel"(%arg1, %arg1, %arg2) : (vector<[4]xi1>, vector<[4]xi1>, index) -> vector<[4]xi1>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (vector<[4]xf32>, memref<?x?xf32>, index) -> (), sym_name = "sme"}> ({
  ^bb0(%arg0: vector<[4]xf32>, %arg1: memref<?x?xf32>, %arg2: index):
    %0 = "arm_sme.zero"() : () -> vector<[4]x[4]xf32>
    %1 = "arm_sme.tile_load"(%arg1, %arg2, %arg2) <{layout = #arm_sme.layout<horizontal>, operandSegmentSizes = array<i32: 1, 2, 0, 0>}> : (memref<?x?xf32>, index, index) -> vector<[4]x[4]xf32>
    "arm_sme.tile_store"(%1, %arg1, %arg2, %arg2) <{layout = #arm_sme.layout<horizontal>, operandSegmentSizes = array<i32: 1, 1, 2, 0>}> : (vector<[4]x[4]xf32>, memref<?x?xf32>, index, index) -> ()
    %2 = "arm_sme.outerproduct"(%arg0, %arg0, %0) <{kind = #arm_sme.kind<add>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>}> : (vector<[4]xf32>, vector<[4]xf32>, vector<[4]x[4]xf32>) -> vector<[4]x[4]xf32>
    %3 = "arm_sme.insert_tile_slice"(%arg0, %1, %arg2) <{layout = #arm_sme.layout<horizontal>}> : (vector<[4]xf32>, vector<[4]x[4]xf32>, index) -> vector<[4]x[4]xf32>
    %4 = "arm_sme.extract_tile_slice"(%1, %arg2) <{layout = #arm_sme.layout<vertical>}> : (vector<[4]x[4]xf32>, index) -> vector<[4]xf32>
    %5 = "arm_sme.streaming_vl"() <{type_size = #arm_sme.type_size<word>}> : () -> index
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (vector<16xf32>, vector<8xf32>, vector<16xi32>) -> (), sym_name = "x86b"}> ({
  ^bb0(%arg0: vector<16xf32>, %arg1: vector<8xf32>, %arg2: vector<16xi32>):
    %0:2 = "x86vector.avx512.vp2intersect"(%arg2, %arg2) : (vector<16xi32>, vector<16xi32>) -> (vector<16xi1>, vector<16xi1>)
    %1 = "x86vector.avx.rsqrt"(%arg1) : (vector<8xf32>) -> vector<8xf32>
    %2 = "x86vector.avx.intr.dot"(%arg1, %arg1) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<24x32xf32>, index) -> (), sym_name = "xg"}> ({
  ^bb0(%arg0: memref<24x32xf32>, %arg1: index):
    %0 = "xegpu.create_nd_tdesc"(%arg0) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (memref<24x32xf32>) -> !xegpu.tensor_desc<8x16xf32>
    %1 = "xegpu.load_nd"(%0, %arg1, %arg1) <{const_offsets = array<i64: -9223372036854775808, -9223372036854775808>, l1_hint = #xegpu.cache_hint<cached>}> : (!xegpu.tensor_desc<8x16xf32>, index, index) -> vector<8x16xf32>
    "xegpu.store_nd"(%1, %0, %arg1) <{const_offsets = array<i64: -9223372036854775808, 0>}> : (vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>, index) -> ()
    "xegpu.prefetch_nd"(%0) <{const_offsets = array<i64: 0, 0>}> : (!xegpu.tensor_desc<8x16xf32>) -> ()
    "xegpu.fence"() <{fence_scope = #xegpu<fence_scope workgroup>, memory_kind = #xegpu<memory_space global>}> : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<64xf32>, i32, f32, vector<4xf16>, vector<4xf32>, index, memref<64xf32, 3>) -> (), sym_name = "amd"}> ({
  ^bb0(%arg0: memref<64xf32>, %arg1: i32, %arg2: f32, %arg3: vector<4xf16>, %arg4: vector<4xf32>, %arg5: index, %arg6: memref<64xf32, 3>):
    %0 = "amdgpu.raw_buffer_load"(%arg0, %arg1) <{boundsCheck = true, operandSegmentSizes = array<i32: 1, 1, 0>}> : (memref<64xf32>, i32) -> f32
    "amdgpu.raw_buffer_store"(%arg2, %arg0, %arg1, %arg1) <{boundsCheck = true, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (f32, memref<64xf32>, i32, i32) -> ()
    "amdgpu.raw_buffer_atomic_fadd"(%arg2, %arg0, %arg1) <{boundsCheck = true, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (f32, memref<64xf32>, i32) -> ()
    %1 = "amdgpu.mfma"(%arg3, %arg3, %arg4) <{abid = 0 : i32, blgp = #amdgpu<mfma_perm_b none>, blocks = 1 : i32, cbsz = 0 : i32, k = 16 : i32, m = 16 : i32, n = 16 : i32}> : (vector<4xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
    "amdgpu.lds_barrier"() : () -> ()
    %2 = "amdgpu.fat_raw_buffer_cast"(%arg0) <{boundsCheck = true, operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<64xf32>) -> memref<64xf32, #amdgpu.address_space<fat_raw_buffer>>
    "amdgpu.gather_to_lds"(%arg0, %arg5, %arg6, %arg5) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>, transferType = f32}> : (memref<64xf32>, index, memref<64xf32, 3>, index) -> ()
    %3 = "amdgpu.dpp"(%arg2, %arg2) <{bank_mask = 15 : i32, bound_ctrl = false, kind = #amdgpu<dpp_perm quad_perm>, permArgument = [0, 1, 2, 3], row_mask = 15 : i32}> : (f32, f32) -> f32
    "amdgpu.sched_barrier"() <{opts = #amdgpu.sched_barrier_opt<none>}> : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "shard.grid"() <{shape = array<i64: 2, 4>, sym_name = "g0"}> : () -> ()
  "func.func"() <{function_type = (tensor<4x8xf32>) -> (), sym_name = "shard2"}> ({
  ^bb0(%arg0: tensor<4x8xf32>):
    %0 = "shard.sharding"() <{grid = @g0, operandSegmentSizes = array<i32: 0, 0>, split_axes = #shard<axisarray[[0]]>, static_halo_sizes = array<i64>, static_sharded_dims_offsets = array<i64>}> : () -> !shard.sharding
    %1 = "shard.shard"(%arg0, %0) <{annotate_for_users}> : (tensor<4x8xf32>, !shard.sharding) -> tensor<4x8xf32>
    %2 = "shard.all_reduce"(%1) <{grid = @g0, grid_axes = array<i16: 1>, reduction = #shard<partial max>}> : (tensor<4x8xf32>) -> tensor<4x8xf64>
    %3:2 = "shard.grid_shape"() <{axes = array<i16>, grid = @g0}> : () -> (index, index)
    %4:2 = "shard.process_multi_index"() <{axes = array<i16>, grid = @g0}> : () -> (index, index)
    %5 = "shard.process_linear_index"() <{grid = @g0}> : () -> index
    %6 = "shard.all_gather"(%1) <{gather_axis = 1 : index, grid = @g0, grid_axes = array<i16: 0>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<8xf32>, i32) -> (), sym_name = "mpi"}> ({
  ^bb0(%arg0: memref<8xf32>, %arg1: i32):
    %0 = "mpi.init"() : () -> !mpi.retval
    %1 = "mpi.comm_world"() : () -> !mpi.comm
    %2:2 = "mpi.comm_rank"(%1) : (!mpi.comm) -> (!mpi.retval, i32)
    "mpi.send"(%arg0, %arg1, %arg1, %1) : (memref<8xf32>, i32, i32, !mpi.comm) -> ()
    %3 = "mpi.recv"(%arg0, %arg1, %arg1, %1) : (memref<8xf32>, i32, i32, !mpi.comm) -> !mpi.retval
    %4 = "mpi.retval_check"(%3) <{errclass = #mpi.errclass<MPI_SUCCESS>}> : (!mpi.retval) -> i1
    "mpi.allreduce"(%arg0, %arg0, %1) <{op = 3 : i32}> : (memref<8xf32>, memref<8xf32>, !mpi.comm) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<8xf32>, i32) -> (), sym_name = "mpi2"}> ({
  ^bb0(%arg0: memref<8xf32>, %arg1: i32):
    %0 = "mpi.init"() : () -> !mpi.retval
    %1 = "mpi.comm_world"() : () -> !mpi.comm
    %2:2 = "mpi.comm_rank"(%1) : (!mpi.comm) -> (!mpi.retval, i32)
    %3 = "mpi.comm_rank"(%1) : (!mpi.comm) -> i32
    "mpi.barrier"(%1) : (!mpi.comm) -> ()
    %4 = "mpi.finalize"() : () -> !mpi.retval
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i8) -> i32, sym_name = "smt2"}> ({
  ^bb0(%arg0: i8):
    %0 = "smt.solver"(%arg0) ({
    ^bb0(%arg1: i8):
      %1 = "smt.declare_fun"() <{namePrefix = "a"}> : () -> !smt.bv<32>
      %2 = "smt.eq"(%1, %1) : (!smt.bv<32>, !smt.bv<32>) -> !smt.bool
      %3 = "smt.distinct"(%1, %1, %1) : (!smt.bv<32>, !smt.bv<32>, !smt.bv<32>) -> !smt.bool
      "smt.assert"(%2) : (!smt.bool) -> ()
      %4 = "smt.and"(%2, %3) : (!smt.bool, !smt.bool) -> !smt.bool
      %5 = "smt.implies"(%2, %4) : (!smt.bool, !smt.bool) -> !smt.bool
      %6 = "smt.ite"(%2, %1, %1) : (!smt.bool, !smt.bv<32>, !smt.bv<32>) -> !smt.bv<32>
      %7 = "smt.bv.concat"(%1, %1) : (!smt.bv<32>, !smt.bv<32>) -> !smt.bv<64>
      %8 = "smt.bv.extract"(%1) <{lowBit = 4 : i32}> : (!smt.bv<32>) -> !smt.bv<8>
      %9 = "smt.bv.cmp"(%1, %1) <{pred = 4 : i64}> : (!smt.bv<32>, !smt.bv<32>) -> !smt.bool
      %10 = "smt.int.constant"() <{value = 5 : ui4}> : () -> !smt.int
      %11 = "smt.int.add"(%10, %10) : (!smt.int, !smt.int) -> !smt.int
      "smt.push"() <{count = 1 : i32}> : () -> ()
      "smt.set_logic"() <{logic = "HORN"}> : () -> ()
      %12 = "arith.constant"() <{value = 1 : i32}> : () -> i32
      "smt.yield"(%12) : (i32) -> ()
    }) : (i8) -> i32
    "func.return"(%0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (!ptr.ptr<#ptr.generic_space>, index, f32) -> f32, sym_name = "ptr"}> ({
  ^bb0(%arg0: !ptr.ptr<#ptr.generic_space>, %arg1: index, %arg2: f32):
    %0 = "ptr.ptr_add"(%arg0, %arg1) <{flags = 3 : i32}> : (!ptr.ptr<#ptr.generic_space>, index) -> !ptr.ptr<#ptr.generic_space>
    %1 = "ptr.load"(%arg0) <{alignment = [], invariant = false, invariantGroup = false, nontemporal = false, ordering = 0 : i32, volatile_}> {alignment = 4 : i64} : (!ptr.ptr<#ptr.generic_space>) -> f32
    "ptr.store"(%arg2, %arg0) <{alignment = [], invariantGroup = false, nontemporal = false, ordering = 0 : i32, volatile_ = false}> : (f32, !ptr.ptr<#ptr.generic_space>) -> ()
    %2 = "ptr.type_offset"() <{elementType = f32}> : () -> index
    "func.return"(%1) : (f32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<13x21x3xf32>, tensor<13x21x3xf32>, tensor<1xi1>) -> tensor<13x21x3xf32>, sym_name = "tosa"}> ({
  ^bb0(%arg0: tensor<13x21x3xf32>, %arg1: tensor<13x21x3xf32>, %arg2: tensor<1xi1>):
    %0 = "tosa.add"(%arg0, %arg1) : (tensor<13x21x3xf32>, tensor<13x21x3xf32>) -> tensor<13x21x3xf32>
    %1 = "tosa.reduce_sum"(%arg0) <{axis = 1 : i32}> : (tensor<13x21x3xf32>) -> tensor<13x1x3xf32>
    %2 = "tosa.const_shape"() <{values = dense<[1, 819]> : tensor<2xindex>}> : () -> !tosa.shape<2>
    %3 = "tosa.reshape"(%arg0, %2) : (tensor<13x21x3xf32>, !tosa.shape<2>) -> tensor<1x819xf32>
    %4 = "tosa.clamp"(%arg0) <{max_val = 1.000000e+00 : f32, min_val = 0.000000e+00 : f32, nan_mode = #tosa.nan_mode<PROPAGATE>}> : (tensor<13x21x3xf32>) -> tensor<13x21x3xf32>
    %5 = "tosa.concat"(%arg0, %arg1) <{axis = 0 : i32}> : (tensor<13x21x3xf32>, tensor<13x21x3xf32>) -> tensor<26x21x3xf32>
    %6 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %7 = "tosa.transpose"(%arg0) <{perms = array<i32: 2, 0, 1>}> : (tensor<13x21x3xf32>) -> tensor<3x13x21xf32>
    "func.return"(%0) : (tensor<13x21x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<f32>, tensor<f32>, tensor<i1>, tensor<i32>) -> tensor<f32>, sym_name = "tosa_cf"}> ({
  ^bb0(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<i32>):
    %0 = "tosa.cond_if"(%arg2, %arg0, %arg1) ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %1 = "tosa.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tosa.yield"(%1) : (tensor<f32>) -> ()
    }, {
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      "tosa.yield"(%arg5) : (tensor<f32>) -> ()
    }) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%0) : (tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<f32>, tensor<f32>, tensor<i1>) -> tensor<f32>, sym_name = "tosa_cf2"}> ({
  ^bb0(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i1>):
    %0 = "tosa.cond_if"(%arg2) ({
      %1 = "tosa.add"(%arg0, %arg1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tosa.yield"(%1) : (tensor<f32>) -> ()
    }, {
      "tosa.yield"(%arg1) : (tensor<f32>) -> ()
    }) : (tensor<i1>) -> tensor<f32>
    "func.return"(%0) : (tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<i32>, tensor<i32>) -> (), sym_name = "tosa_w"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>):
    %0 = "tosa.while_loop"(%arg0) ({
    ^bb0(%arg3: tensor<i32>):
      %2 = "tosa.greater_equal"(%arg1, %arg3) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tosa.yield"(%2) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg2: tensor<i32>):
      %1 = "tosa.add"(%arg2, %arg2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "tosa.yield"(%1) : (tensor<i32>) -> ()
    }) : (tensor<i32>) -> tensor<i32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1) -> (d1, d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
"builtin.module"() ({
  "func.func"() <{function_type = (vector<4x8xf32>, vector<8xf32>, memref<?x?xf32>, index, f32, vector<8xi1>, vector<8xi32>, tensor<?x?xf32>) -> (), sym_name = "vec"}> ({
  ^bb0(%arg0: vector<4x8xf32>, %arg1: vector<8xf32>, %arg2: memref<?x?xf32>, %arg3: index, %arg4: f32, %arg5: vector<8xi1>, %arg6: vector<8xi32>, %arg7: tensor<?x?xf32>):
    %0 = "vector.broadcast"(%arg4) : (f32) -> vector<4x8xf32>
    %1 = "vector.extract"(%arg0) <{static_position = array<i64: 1>}> : (vector<4x8xf32>) -> vector<8xf32>
    %2 = "vector.extract"(%arg0, %arg3) <{static_position = array<i64: -9223372036854775808, 3>}> : (vector<4x8xf32>, index) -> f32
    %3 = "vector.insert"(%arg1, %arg0) <{static_position = array<i64: 2>}> : (vector<8xf32>, vector<4x8xf32>) -> vector<4x8xf32>
    %4 = "vector.insert"(%arg4, %arg0, %arg3) <{static_position = array<i64: 2, -9223372036854775808>}> : (f32, vector<4x8xf32>, index) -> vector<4x8xf32>
    %5 = "vector.extract_strided_slice"(%arg0) <{offsets = [0, 2], sizes = [2, 4], strides = [1, 1]}> : (vector<4x8xf32>) -> vector<2x4xf32>
    %6 = "vector.insert_strided_slice"(%arg1, %arg0) <{offsets = [0, 0], strides = [1]}> : (vector<8xf32>, vector<4x8xf32>) -> vector<4x8xf32>
    %7 = "vector.transfer_read"(%arg2, %arg3, %arg3, %arg4) <{in_bounds = [true, true], operandSegmentSizes = array<i32: 1, 2, 1, 0>, permutation_map = #map}> : (memref<?x?xf32>, index, index, f32) -> vector<4x8xf32>
    "vector.transfer_write"(%7, %arg2, %arg3, %arg3) <{in_bounds = [false, false], operandSegmentSizes = array<i32: 1, 1, 2, 0>, permutation_map = #map1}> : (vector<4x8xf32>, memref<?x?xf32>, index, index) -> ()
    %8 = "vector.transfer_read"(%arg2, %arg3, %arg3, %arg4, %arg5) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 2, 1, 1>, permutation_map = #map2}> : (memref<?x?xf32>, index, index, f32, vector<8xi1>) -> vector<8xf32>
    %9 = "vector.transfer_write"(%arg1, %arg7, %arg3, %arg3) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 2, 0>, permutation_map = #map2}> : (vector<8xf32>, tensor<?x?xf32>, index, index) -> tensor<?x?xf32>
    %10 = "vector.gather"(%arg2, %arg3, %arg3, %arg6, %arg5, %arg1) : (memref<?x?xf32>, index, index, vector<8xi32>, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
    "vector.scatter"(%arg2, %arg3, %arg3, %arg6, %arg5, %arg1) : (memref<?x?xf32>, index, index, vector<8xi32>, vector<8xi1>, vector<8xf32>) -> ()
    %11 = "vector.maskedload"(%arg2, %arg3, %arg3, %arg5, %arg1) : (memref<?x?xf32>, index, index, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
    "vector.maskedstore"(%arg2, %arg3, %arg3, %arg5, %arg1) : (memref<?x?xf32>, index, index, vector<8xi1>, vector<8xf32>) -> ()
    "vector.compressstore"(%arg2, %arg3, %arg3, %arg5, %arg1) : (memref<?x?xf32>, index, index, vector<8xi1>, vector<8xf32>) -> ()
    %12 = "vector.expandload"(%arg2, %arg3, %arg3, %arg5, %arg1) : (memref<?x?xf32>, index, index, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
    %13 = "vector.reduction"(%arg1, %arg4) <{fastmath = #arith.fastmath<none>, kind = #vector.kind<add>}> : (vector<8xf32>, f32) -> f32
    %14 = "vector.multi_reduction"(%arg0, %arg1) <{kind = #vector.kind<mul>, reduction_dims = array<i64: 0>}> : (vector<4x8xf32>, vector<8xf32>) -> vector<8xf32>
    %15 = "vector.create_mask"(%arg3, %arg3) : (index, index) -> vector<4x8xi1>
    %16 = "vector.constant_mask"() <{mask_dim_sizes = array<i64: 2, 3>}> : () -> vector<4x8xi1>
    %17 = "vector.mask"(%15) ({
      %18 = "vector.transfer_read"(%arg2, %arg3, %arg3, %arg4) <{in_bounds = [true, true], operandSegmentSizes = array<i32: 1, 2, 1, 0>, permutation_map = #map1}> : (memref<?x?xf32>, index, index, f32) -> vector<4x8xf32>
      "vector.yield"(%18) : (vector<4x8xf32>) -> ()
    }) : (vector<4x8xi1>) -> vector<4x8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
"builtin.module"() ({
  "func.func"() <{function_type = (vector<4x8xf32>, vector<8xf32>, memref<?x?xf32>, index, f32, vector<8xi1>, vector<8xi32>, vector<8x8xf32>, memref<?xvector<8xf32>>) -> (), sym_name = "vec2"}> ({
  ^bb0(%arg0: vector<4x8xf32>, %arg1: vector<8xf32>, %arg2: memref<?x?xf32>, %arg3: index, %arg4: f32, %arg5: vector<8xi1>, %arg6: vector<8xi32>, %arg7: vector<8x8xf32>, %arg8: memref<?xvector<8xf32>>):
    %0 = "vector.create_mask"(%arg3, %arg3) : (index, index) -> vector<4x8xi1>
    %1 = "vector.mask"(%0) ({
      %15 = "vector.transfer_read"(%arg2, %arg3, %arg3, %arg4) <{in_bounds = [true, true], operandSegmentSizes = array<i32: 1, 2, 1, 0>, permutation_map = #map}> : (memref<?x?xf32>, index, index, f32) -> vector<4x8xf32>
      "vector.yield"(%15) : (vector<4x8xf32>) -> ()
    }) : (vector<4x8xi1>) -> vector<4x8xf32>
    %2 = "vector.mask"(%arg5) ({
      %14 = "vector.reduction"(%arg1) <{fastmath = #arith.fastmath<none>, kind = #vector.kind<add>}> : (vector<8xf32>) -> f32
      "vector.yield"(%14) : (f32) -> ()
    }) : (vector<8xi1>) -> f32
    "vector.mask"(%0) ({
      "vector.transfer_write"(%arg0, %arg2, %arg3, %arg3) <{in_bounds = [true, true], operandSegmentSizes = array<i32: 1, 1, 2, 0>, permutation_map = #map}> : (vector<4x8xf32>, memref<?x?xf32>, index, index) -> ()
      "vector.yield"() : () -> ()
    }) : (vector<4x8xi1>) -> ()
    %3 = "vector.mask"(%arg5, %arg1) ({
      %13 = "vector.transfer_read"(%arg2, %arg3, %arg3, %arg4) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 2, 1, 0>, permutation_map = #map1}> : (memref<?x?xf32>, index, index, f32) -> vector<8xf32>
      "vector.yield"(%13) : (vector<8xf32>) -> ()
    }) : (vector<8xi1>, vector<8xf32>) -> vector<8xf32>
    %4 = "vector.outerproduct"(%arg1, %arg1, %arg7) <{kind = #vector.kind<add>}> : (vector<8xf32>, vector<8xf32>, vector<8x8xf32>) -> vector<8x8xf32>
    %5 = "vector.outerproduct"(%arg1, %arg4) <{kind = #vector.kind<add>}> : (vector<8xf32>, f32) -> vector<8xf32>
    %6 = "vector.shape_cast"(%arg0) : (vector<4x8xf32>) -> vector<32xf32>
    %7 = "vector.bitcast"(%arg1) : (vector<8xf32>) -> vector<16xf16>
    %8 = "vector.transpose"(%arg0) <{permutation = array<i64: 1, 0>}> : (vector<4x8xf32>) -> vector<8x4xf32>
    %9 = "vector.shuffle"(%arg1, %arg1) <{mask = array<i64: 0, 9, 3>}> : (vector<8xf32>, vector<8xf32>) -> vector<3xf32>
    "vector.print"(%arg1) <{punctuation = #vector.punctuation<newline>}> : (vector<8xf32>) -> ()
    "vector.print"() <{punctuation = #vector.punctuation<newline>, stringLiteral = "x"}> : () -> ()
    "vector.print"() <{punctuation = #vector.punctuation<newline>}> : () -> ()
    %10 = "vector.load"(%arg2, %arg3, %arg3) <{nontemporal = true}> : (memref<?x?xf32>, index, index) -> vector<8xf32>
    "vector.store"(%arg1, %arg2, %arg3, %arg3) : (vector<8xf32>, memref<?x?xf32>, index, index) -> ()
    %11 = "vector.vscale"() : () -> index
    %12:2 = "vector.scan"(%arg0, %arg1) <{inclusive = true, kind = #vector.kind<add>, reduction_dim = 0 : i64}> : (vector<4x8xf32>, vector<8xf32>) -> (vector<4x8xf32>, vector<8xf32>)
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> ()>
"builtin.module"() ({
  "func.func"() <{function_type = (vector<4x8xf32>, vector<8xf32>, memref<4x3xf32>, index, f32, vector<8xi1>, vector<8x8xf32>) -> (), sym_name = "vec3"}> ({
  ^bb0(%arg0: vector<4x8xf32>, %arg1: vector<8xf32>, %arg2: memref<4x3xf32>, %arg3: index, %arg4: f32, %arg5: vector<8xi1>, %arg6: vector<8x8xf32>):
    %0 = "vector.create_mask"(%arg3, %arg3) : (index, index) -> vector<4x8xi1>
    %1 = "vector.outerproduct"(%arg1, %arg1, %arg6) <{kind = #vector.kind<add>}> : (vector<8xf32>, vector<8xf32>, vector<8x8xf32>) -> vector<8x8xf32>
    %2 = "vector.outerproduct"(%arg1, %arg4) <{kind = #vector.kind<add>}> : (vector<8xf32>, f32) -> vector<8xf32>
    %3 = "vector.shuffle"(%arg1, %arg1) <{mask = array<i64: 0, 9, 3>}> : (vector<8xf32>, vector<8xf32>) -> vector<3xf32>
    %4 = "vector.vscale"() : () -> index
    %5:2 = "vector.scan"(%arg0, %arg1) <{inclusive = true, kind = #vector.kind<add>, reduction_dim = 0 : i64}> : (vector<4x8xf32>, vector<8xf32>) -> (vector<4x8xf32>, vector<8xf32>)
    %6 = "vector.type_cast"(%arg2) : (memref<4x3xf32>) -> memref<vector<4x3xf32>>
    %7 = "vector.step"() : () -> vector<4xindex>
    %8:2 = "vector.deinterleave"(%arg1) : (vector<8xf32>) -> (vector<4xf32>, vector<4xf32>)
    %9 = "vector.interleave"(%8#0, %8#1) : (vector<4xf32>, vector<4xf32>) -> vector<8xf32>
    %10 = "vector.from_elements"(%arg4, %arg4) : (f32, f32) -> vector<2xf32>
    %11:8 = "vector.to_elements"(%arg1) : (vector<8xf32>) -> (f32, f32, f32, f32, f32, f32, f32, f32)
    %12 = "vector.contract"(%arg1, %arg1, %arg4) <{indexing_maps = [#map, #map, #map1], iterator_types = [#vector.iterator_type<reduction>], kind = #vector.kind<add>}> : (vector<8xf32>, vector<8xf32>, f32) -> f32
    %13 = "vector.fma"(%arg1, %arg1, %arg1) : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (vector<4x8xf32>, vector<8xf32>, index, f32) -> (), sym_name = "vec4"}> ({
  ^bb0(%arg0: vector<4x8xf32>, %arg1: vector<8xf32>, %arg2: index, %arg3: f32):
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "gpu.module"() <{sym_name = "k"}> ({
    "gpu.func"() <{function_type = (index, memref<64xf32>) -> ()}> ({
    ^bb0(%arg0: index, %arg1: memref<64xf32>):
      %0 = "gpu.warp_execute_on_lane_0"(%arg0) <{warp_size = 32 : i64}> ({
        %3 = "arith.constant"() <{value = dense<1.000000e+00> : vector<32xf32>}> : () -> vector<32xf32>
        "gpu.yield"(%3) : (vector<32xf32>) -> ()
      }) : (index) -> vector<1xf32>
      %1:2 = "gpu.warp_execute_on_lane_0"(%arg0, %0, %0) <{warp_size = 32 : i64}> ({
      ^bb0(%arg2: vector<32xf32>, %arg3: vector<32xf32>):
        %2 = "arith.constant"() <{value = 1.000000e+00 : f32}> : () -> f32
        "gpu.yield"(%arg2, %2) : (vector<32xf32>, f32) -> ()
      }) : (index, vector<1xf32>, vector<1xf32>) -> (vector<1xf32>, f32)
      "gpu.return"() : () -> ()
    }) {sym_name = "w", workgroup_attributions = 0 : i64} : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "gpu.module"() <{sym_name = "kernels"}> ({
    "gpu.func"() <{function_type = (f32, memref<32xf32>, i32, i32) -> ()}> ({
    ^bb0(%arg0: f32, %arg1: memref<32xf32>, %arg2: i32, %arg3: i32, %arg4: memref<32xf32, 3>, %arg5: memref<4xf32, 3>, %arg6: memref<1xf32, 5>):
      %0 = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
      %1 = "gpu.block_dim"() <{dimension = #gpu<dim y>, upper_bound = 4 : index}> : () -> index
      %2 = "gpu.lane_id"() : () -> index
      %3 = "gpu.subgroup_size"() : () -> index
      %4 = "gpu.all_reduce"(%arg0) <{op = #gpu<all_reduce_op add>, uniform}> ({
      }) : (f32) -> f32
      %5 = "gpu.all_reduce"(%arg0) ({
      ^bb0(%arg7: f32, %arg8: f32):
        %8 = "arith.addf"(%arg7, %arg8) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "gpu.yield"(%8) : (f32) -> ()
      }) : (f32) -> f32
      %6:2 = "gpu.shuffle"(%arg0, %arg2, %arg3) <{mode = #gpu<shuffle_mode xor>}> : (f32, i32, i32) -> (f32, i1)
      %7 = "gpu.subgroup_reduce"(%arg0) <{cluster_size = 4 : i32, cluster_stride = 1 : i32, op = #gpu<all_reduce_op add>}> : (f32) -> f32
      "gpu.barrier"() : () -> ()
      "gpu.printf"(%arg0) <{format = "x %f"}> : (f32) -> ()
      "gpu.return"() : () -> ()
    }) {gpu.kernel, gpu.known_block_size = array<i32: 32, 1, 1>, sym_name = "k", workgroup_attributions = 2 : i64} : () -> ()
  }) {x} : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "gpu.module"() <{sym_name = "kernels"}> ({
    "gpu.func"() <{function_type = (f32, memref<32x32xf16>, i32, i32, index) -> ()}> ({
    ^bb0(%arg0: f32, %arg1: memref<32x32xf16>, %arg2: i32, %arg3: i32, %arg4: index, %arg5: memref<32xf32, 3>):
      %0:2 = "gpu.shuffle"(%arg0, %arg2, %arg3) <{mode = #gpu<shuffle_mode xor>}> : (f32, i32, i32) -> (f32, i1)
      %1:2 = "gpu.rotate"(%arg0) <{offset = 1 : i32, width = 32 : i32}> : (f32) -> (f32, i1)
      %2 = "gpu.subgroup_reduce"(%arg0) <{cluster_stride = 1 : i32, op = #gpu<all_reduce_op add>, uniform}> : (f32) -> f32
      %3 = "gpu.subgroup_mma_load_matrix"(%arg1, %arg4, %arg4) <{leadDimension = 32 : index}> : (memref<32x32xf16>, index, index) -> !gpu.mma_matrix<16x16xf16, "AOp">
      "gpu.return"() : () -> ()
    }) {gpu.kernel, sym_name = "k", workgroup_attributions = 1 : i64} : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "gpu.module"() <{sym_name = "kernels"}> ({
    "gpu.func"() <{function_type = (f32, memref<32x32xf16>, f16, index, i32) -> ()}> ({
    ^bb0(%arg0: f32, %arg1: memref<32x32xf16>, %arg2: f16, %arg3: index, %arg4: i32):
      %0 = "gpu.subgroup_mma_load_matrix"(%arg1, %arg3, %arg3) <{leadDimension = 32 : index}> : (memref<32x32xf16>, index, index) -> !gpu.mma_matrix<16x16xf16, "AOp">
      %1 = "gpu.subgroup_mma_load_matrix"(%arg1, %arg3, %arg3) <{leadDimension = 32 : index}> : (memref<32x32xf16>, index, index) -> !gpu.mma_matrix<16x16xf16, "BOp">
      %2 = "gpu.subgroup_mma_constant_matrix"(%arg2) : (f16) -> !gpu.mma_matrix<16x16xf16, "COp">
      %3 = "gpu.subgroup_mma_compute"(%0, %1, %2) : (!gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp">, !gpu.mma_matrix<16x16xf16, "COp">) -> !gpu.mma_matrix<16x16xf16, "COp">
      %4 = "gpu.subgroup_mma_elementwise"(%2, %3) <{opType = #gpu<mma_element_wise addf>}> : (!gpu.mma_matrix<16x16xf16, "COp">, !gpu.mma_matrix<16x16xf16, "COp">) -> !gpu.mma_matrix<16x16xf16, "COp">
      "gpu.subgroup_mma_store_matrix"(%4, %arg1, %arg3, %arg3) <{leadDimension = 32 : index}> : (!gpu.mma_matrix<16x16xf16, "COp">, memref<32x32xf16>, index, index) -> ()
      %5 = "gpu.dynamic_shared_memory"() : () -> memref<?xi8, #gpu.address_space<workgroup>>
      %6 = "gpu.subgroup_broadcast"(%arg2, %arg4) <{broadcast_type = #gpu<broadcast specific_lane>}> : (f16, i32) -> f16
      "gpu.return"() : () -> ()
    }) {gpu.kernel, sym_name = "k", workgroup_attributions = 0 : i64} : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0)[s0] -> (d0 + s0)>
"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<?xf32>, !gpu.async.token, i32, memref<*xf32>) -> (), sym_name = "g"}> ({
  ^bb0(%arg0: index, %arg1: memref<?xf32>, %arg2: !gpu.async.token, %arg3: i32, %arg4: memref<*xf32>):
    %0 = "gpu.wait"(%arg2) : (!gpu.async.token) -> !gpu.async.token
    %1:2 = "gpu.alloc"(%0, %arg0, %arg0) <{hostShared, operandSegmentSizes = array<i32: 1, 1, 1>}> : (!gpu.async.token, index, index) -> (memref<?xf32, #map>, !gpu.async.token)
    %2 = "gpu.memcpy"(%1#1, %arg2, %arg1, %arg1) : (!gpu.async.token, !gpu.async.token, memref<?xf32>, memref<?xf32>) -> !gpu.async.token
    %3 = "arith.constant"() <{value = 1.000000e+00 : f32}> : () -> f32
    "gpu.memset"(%arg1, %3) : (memref<?xf32>, f32) -> ()
    %4 = "gpu.dealloc"(%2, %1#0) : (!gpu.async.token, memref<?xf32, #map>) -> !gpu.async.token
    %5 = "gpu.launch"(%4, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg3) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1>}> ({
    ^bb0(%arg5: index, %arg6: index, %arg7: index, %arg8: index, %arg9: index, %arg10: index, %arg11: index, %arg12: index, %arg13: index, %arg14: index, %arg15: index, %arg16: index):
      "gpu.terminator"() : () -> ()
    }) {workgroup_attributions = 0 : i64} : (!gpu.async.token, index, index, index, index, index, index, i32) -> !gpu.async.token
    "gpu.host_register"(%arg4) : (memref<*xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<?xf32>, !gpu.async.token, memref<*xf32>, i32) -> (), sym_name = "g2"}> ({
  ^bb0(%arg0: index, %arg1: memref<?xf32>, %arg2: !gpu.async.token, %arg3: memref<*xf32>, %arg4: i32):
    %0 = "gpu.launch"(%arg2, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg4) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1>}> ({
    ^bb0(%arg25: index, %arg26: index, %arg27: index, %arg28: index, %arg29: index, %arg30: index, %arg31: index, %arg32: index, %arg33: index, %arg34: index, %arg35: index, %arg36: index):
      "gpu.terminator"() : () -> ()
    }) {workgroup_attributions = 0 : i64} : (!gpu.async.token, index, index, index, index, index, index, i32) -> !gpu.async.token
    "gpu.launch"(%arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0) <{operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0>}> ({
    ^bb0(%arg5: index, %arg6: index, %arg7: index, %arg8: index, %arg9: index, %arg10: index, %arg11: index, %arg12: index, %arg13: index, %arg14: index, %arg15: index, %arg16: index, %arg17: index, %arg18: index, %arg19: index, %arg20: index, %arg21: index, %arg22: index, %arg23: memref<4xf32, 3>, %arg24: memref<4xf32, 5>):
      "gpu.terminator"() : () -> ()
    }) {workgroup_attributions = 1 : i64} : (index, index, index, index, index, index, index, index, index) -> ()
    "gpu.host_register"(%arg3) : (memref<*xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "gpu.module"() <{sym_name = "m"}> ({
    "gpu.func"() <{function_type = (f32) -> ()}> ({
    ^bb0(%arg8: f32):
      "gpu.return"() : () -> ()
    }) {gpu.kernel, sym_name = "k", workgroup_attributions = 0 : i64} : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (index, f32, !gpu.async.token, i32, f64) -> (), sym_name = "l"}> ({
  ^bb0(%arg3: index, %arg4: f32, %arg5: !gpu.async.token, %arg6: i32, %arg7: f64):
    "gpu.launch_func"(%arg3, %arg3, %arg3, %arg3, %arg3, %arg3, %arg3, %arg3, %arg3, %arg6, %arg4) <{kernel = @m::@k, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0>}> : (index, index, index, index, index, index, index, index, index, i32, f32) -> ()
    %0 = "gpu.launch_func"(%arg5, %arg3, %arg3, %arg3, %arg3, %arg3, %arg3, %arg4) <{kernel = @m::@k, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0>}> : (!gpu.async.token, index, index, index, index, index, index, f32) -> !gpu.async.token
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (i64, f32, !llvm.ptr) -> (), sym_name = "l2"}> ({
  ^bb0(%arg0: i64, %arg1: f32, %arg2: !llvm.ptr):
    "gpu.launch_func"(%arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg1, %arg2) <{kernel = @m::@k, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1>}> : (i64, i64, i64, i64, i64, i64, f32, !llvm.ptr) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) {gpu.container_module} : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, !gpu.async.token, memref<?xindex>, memref<?xf64>, memref<?x?xf64>) -> (), sym_name = "gs"}> ({
  ^bb0(%arg0: index, %arg1: !gpu.async.token, %arg2: memref<?xindex>, %arg3: memref<?xf64>, %arg4: memref<?x?xf64>):
    %0:2 = "gpu.create_coo"(%arg1, %arg0, %arg0, %arg0, %arg2, %arg2, %arg3) : (!gpu.async.token, index, index, index, memref<?xindex>, memref<?xindex>, memref<?xf64>) -> (!gpu.sparse.spmat_handle, !gpu.async.token)
    %1:2 = "gpu.create_dn_tensor"(%0#1, %arg4, %arg0, %arg0) <{operandSegmentSizes = array<i32: 1, 1, 2>}> : (!gpu.async.token, memref<?x?xf64>, index, index) -> (!gpu.sparse.dntensor_handle, !gpu.async.token)
    %2:2 = "gpu.spmm_buffer_size"(%1#1, %0#0, %1#0, %1#0) <{computeType = f64, modeA = #gpu<mat_transpose_mode NON_TRANSPOSE>, modeB = #gpu<mat_transpose_mode NON_TRANSPOSE>, resultSegmentSizes = array<i32: 1, 1>}> : (!gpu.async.token, !gpu.sparse.spmat_handle, !gpu.sparse.dntensor_handle, !gpu.sparse.dntensor_handle) -> (index, !gpu.async.token)
    %3 = "gpu.spmm"(%2#1, %0#0, %1#0, %1#0, %arg3) <{computeType = f64, modeA = #gpu<mat_transpose_mode NON_TRANSPOSE>, modeB = #gpu<mat_transpose_mode NON_TRANSPOSE>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!gpu.async.token, !gpu.sparse.spmat_handle, !gpu.sparse.dntensor_handle, !gpu.sparse.dntensor_handle, memref<?xf64>) -> !gpu.async.token
    %4 = "gpu.destroy_sp_mat"(%3, %0#0) : (!gpu.async.token, !gpu.sparse.spmat_handle) -> !gpu.async.token
    "gpu.wait"(%4) : (!gpu.async.token) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "gpu.binary"() <{objects = [#gpu.object<#nvvm.target, "BLOB">], offloadingHandler = #gpu.select_object, sym_name = "b"}> : () -> ()
  "gpu.binary"() <{objects = [#gpu.object<#nvvm.target, bin = "BL{OB">, #gpu.object<#rocdl.target, "x">], offloadingHandler = #gpu.select_object<0 : i64>, sym_name = "c"}> : () -> ()
}) : () -> ()

