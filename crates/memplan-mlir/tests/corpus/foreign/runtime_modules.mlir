// Globals, buffers, dispatches, executables, command buffers and virtual machine code of a compiler for whole models.
// uses:
util.global private mutable @g : tensor<4xi32>
util.func public @f(%a: index) -> tensor<4xi32> {
  // uses:
  %v = util.global.load @g : tensor<4xi32>
  // uses: %v
  util.global.store %v, @g : tensor<4xi32>
  // uses: %v
  util.return %v : tensor<4xi32>
}
// -----
// uses:
util.global private @var = dense<[1, 2]> : tensor<2xi32>
// uses:
util.global private @var2 = #util.byte_pattern<1> : !util.buffer
// uses:
util.global public mutable @v3 {noinline} = 5 : i32
util.initializer {
  // uses:
  %c = arith.constant 5 : i32
  // uses: %c
  util.global.store %c, @v3 : i32
  // uses:
  util.return
}
// -----
util.func private @callee(%arg0: i32, %arg1: !hal.buffer) -> (i32, %arg1 as !hal.buffer)
util.func public @caller(%x: i32, %b: !hal.buffer, %s: index) -> i32 {
  // uses: %x %b %b
  %r:2 = util.call @callee(%x, %b) : (i32, !hal.buffer) -> (i32, %b)
  // uses: %r
  util.return %r#0 : i32
}
// -----
util.func public @tied(%arg0: tensor<?xf32>, %d: index) -> %arg0 {
  // uses: %arg0 %d %arg0 %d
  %0 = util.call @inplace(%arg0) : (tensor<?xf32>{%d}) -> %arg0{%d}
  // uses: %0
  util.return %0 : tensor<?xf32>
}
// -----
util.func public @bufs(%size: index, %b: !util.buffer, %v: i32, %o: index) {
  // uses:
  %0 = util.buffer.constant : !util.buffer = dense<[1, 2]> : tensor<2xi32>
  // uses: %size
  %1 = util.buffer.alloc uninitialized {alignment = 16} : !util.buffer{%size}
  // uses: %1 %size
  util.buffer.dealloc %1 : !util.buffer{%size}
  // uses: %b %o %size %size
  %2 = util.buffer.slice %b[%o] : !util.buffer{%size} -> !util.buffer{%size}
  // uses: %b %o %size %size
  %3 = util.buffer.subspan %b[%o] : !util.buffer{%size} -> !util.buffer{%size}
  // uses: %b
  %4 = util.buffer.size %b : !util.buffer
  // uses: %b %size
  %5, %6 = util.buffer.storage %b : !util.buffer{%size} -> (memref<?xi8>, index)
  // uses: %b %o %1 %o %size %size %size
  util.buffer.copy %b[%o], %1[%o], %size : !util.buffer{%size} -> !util.buffer{%size}
  // uses: %b %o %1 %o %size %size %size
  %7 = util.buffer.compare %b[%o], %1[%o], %size : !util.buffer{%size}, !util.buffer{%size}
  // uses: %v %b %o %size %size
  util.buffer.fill %v, %b[%o for %size] : i32 -> !util.buffer{%size}
  // uses: %b %o %size %size
  %8 = util.buffer.load %b[%o for %size] : !util.buffer{%size} -> i32
  // uses: %v %b %o %size %size
  util.buffer.store %v, %b[%o for %size] : i32 -> !util.buffer{%size}
  // uses: %b %size
  %9 = util.buffer.hash %b : !util.buffer{%size} -> i64
  // uses:
  util.return
}
// -----
util.func public @misc(%a: i32, %b: i32, %c: i1, %i: index, %u: !util.list<?>) {
  // uses: %a %b
  %0 = util.cmp.eq %a, %b : i32
  // uses: %i %i
  %1 = util.align %i, %i : index
  // uses:
  %2 = util.sizeof i32
  // uses: %i %i
  %3 = util.range.min %i, %i : index
  // uses: %i %i %i %i
  %4, %5 = util.range.extents [%i for %i], [%i for %i] : index
  // uses:
  %6 = util.null : !util.buffer
  // uses: %a
  %7 = util.optimization_barrier %a : i32
  // uses:
  %8 = util.unfoldable_constant 42 : i32
  // uses: %i
  util.assume.int %i<umin = 0, umax = 4> : index
  // uses: %i %a
  %9:2 = util.assume.int %i[<umin = 0, umax = 16, udiv = 16>, <umin=3>], %a<umin = 4> : index, i32
  // uses: %i
  %10 = util.list.create %i : !util.list<?>
  // uses: %u %i
  %11 = util.list.get %u[%i] : !util.list<?> -> i32
  // uses: %u %i %a
  util.list.set %u[%i], %a : i32 -> !util.list<?>
  // uses: %u %i
  util.list.resize %u, %i : !util.list<?>
  // uses: %a %i
  %12 = util.string.format "foo_{}_{}"(%a, %i) : (i32, index) -> !util.buffer
  // uses: %a
  %13 = util.numeric.optional_narrow %a : i32 as ui7
  // uses:
  util.scf.unreachable "msg"
  // uses:
  util.unreachable "unsupported"
}
// -----
stream.executable private @ex {
  stream.executable.export public @dispatch workgroups(%arg0: index, %arg1: index) -> (index, index, index) {
    // uses: %arg0 %arg1
    %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice(%arg0, %arg1)
    // uses: %x %y %z
    stream.return %x, %y, %z : index, index, index
  }
  builtin.module {
    func.func @dispatch(%arg0: !stream.binding, %arg1: index) {
      // uses:
      %c0 = arith.constant 0 : index
      // uses: %arg0 %c0 %arg1
      %0 = stream.binding.subspan %arg0[%c0] : !stream.binding -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<?x5x64xf32>>{%arg1}
      // uses: %0 %arg1 %arg1
      %1 = iree_tensor_ext.dispatch.tensor.load %0, offsets = [0, 0, 0], sizes = [%arg1, 5, 64], strides = [1, 1, 1] : !iree_tensor_ext.dispatch.tensor<readwrite:tensor<?x5x64xf32>>{%arg1} -> tensor<?x5x64xf32>
      // uses: %1 %0 %arg1 %arg1
      iree_tensor_ext.dispatch.tensor.store %1, %0, offsets = [0, 0, 0], sizes = [%arg1, 5, 64], strides = [1, 1, 1] : tensor<?x5x64xf32> -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<?x5x64xf32>>{%arg1}
      return
    }
  }
}
// -----
util.func public @cmd(%arg0: !stream.resource<transient>, %size: index, %off: index, %tp: !stream.timepoint) -> !stream.timepoint {
  // uses:
  %c0 = arith.constant 0 : index
  // uses: %tp %size
  %r, %rt = stream.resource.alloca uninitialized on(#hal.device.affinity<@device>) await(%tp) => !stream.resource<transient>{%size} => !stream.timepoint
  %0 = stream.cmd.execute on(#hal.device.affinity<@device_a>) await(%rt) => with(%arg0 as %arg4: !stream.resource<transient>{%size}, %r as %arg5: !stream.resource<transient>{%size}) {
    // uses: %c0 %arg4 %off %size %size
    stream.cmd.fill %c0, %arg4[%off for %size] : index -> !stream.resource<transient>{%size}
    stream.cmd.concurrent {
      // uses: %arg4 %c0 %arg5 %off %size %size %size
      stream.cmd.copy %arg4[%c0], %arg5[%off], %size : !stream.resource<transient>{%size} -> !stream.resource<transient>{%size}
      stream.cmd.dispatch @ex::@dispatch[%c0, %size](%off, %c0 : index, index) {
        ro %arg4[%c0 for %size] : !stream.resource<transient>{%size},
        wo %arg5[%c0 for %size] : !stream.resource<transient>{%size}
      } attributes {hal.interface.bindings = [#hal.interface.binding<0, 0>]}
    }
    stream.cmd.serial {
      // uses: %arg4 %off %size %size
      stream.cmd.flush to(#hal.device.affinity<@d>) %arg4[%off for %size] : !stream.resource<transient>{%size}
      // uses: %arg4 %off %size %size
      stream.cmd.invalidate from(#hal.device.affinity<@d>) %arg4[%off for %size] : !stream.resource<transient>{%size}
      // uses: %arg4 %off %size %size
      stream.cmd.discard %arg4[%off for %size] : !stream.resource<transient>{%size}
    }
    stream.cmd.collective<all_reduce with sum : f32>[%size] channel(%off) {
      send %arg4[%c0 for %size] : !stream.resource<transient>{%size},
      recv %arg5[%c0 for %size] : !stream.resource<transient>{%size}
    }
    // uses: %arg4 %c0 %size %arg5 %c0 %size %off %size %size
    stream.cmd.call @external(%arg4[%c0 for %size], ro %arg5[%c0 for %size], %off) : (!stream.resource<transient>{%size}, !stream.resource<transient>{%size}, index) -> ()
  } => !stream.timepoint
  // uses: %0 %r %size
  %d = stream.resource.dealloca origin await(%0) => %r : !stream.resource<transient>{%size} => !stream.timepoint
  // uses: %0 %d
  %j = stream.timepoint.join max(%0, %d) => !stream.timepoint
  // uses: %arg0 %size
  %s = stream.timepoint.barrier %arg0 : !stream.resource<transient>{%size} => !stream.timepoint
  // uses: %j %arg0 %size
  %w = stream.timepoint.await %j => %arg0 : !stream.resource<transient>{%size}
  // uses:
  %imm = stream.timepoint.immediate => !stream.timepoint
  // uses: %j
  %ex = stream.timepoint.export %j => (!hal.fence)
  // uses: %j %off
  stream.timepoint.chain_external %j => (%off : index)
  // uses: %j
  util.return %j : !stream.timepoint
}
// -----
util.func public @asyncs(%a: !stream.resource<*>, %size: index, %i: index) -> !stream.resource<*> {
  // uses: %size
  %0 = stream.async.alloca on(#hal.device.promise<@dev>) : !stream.resource<transient>{%size}
  // uses: %size
  %1 = stream.async.constant : !stream.resource<transient>{%size} = dense<3> : tensor<8xi32>
  // uses: %i %size
  %2 = stream.async.splat %i : index -> !stream.resource<*>{%size}
  // uses: %a %size %size
  %3 = stream.async.clone %a : !stream.resource<*>{%size} -> !stream.resource<*>{%size}
  // uses: %a %i %size %size %size
  %4 = stream.async.slice %a[%i to %size] : !stream.resource<*>{%size} -> !stream.resource<*>{%size}
  // uses: %i %a %i %size %size %a %size
  %5 = stream.async.fill %i, %a[%i to %size for %size] : index -> %a as !stream.resource<*>{%size}
  // uses: %3 %a %i %size %size %a %size
  %6 = stream.async.update %3, %a[%i to %size] : !stream.resource<*>{%size} -> %a as !stream.resource<*>{%size}
  // uses: %3 %i %size %a %i %size %size %size %a %size
  %7 = stream.async.copy %3[%i to %size], %a[%i to %size], %size : !stream.resource<*>{%size} -> %a as !stream.resource<*>{%size}
  // uses: %a %size %size
  %8 = stream.async.transfer %a : !stream.resource<*>{%size} from(#hal.device.affinity<@a>) -> to(#hal.device.affinity<@b>) !stream.resource<external>{%size}
  // uses: %8 %i %size
  %9 = stream.async.load %8[%i] : !stream.resource<external>{%size} -> i32
  // uses: %9 %8 %i %8 %size
  %10 = stream.async.store %9, %8[%i] : i32 -> %8 as !stream.resource<external>{%size}
  // uses: %i %3 %i %size %size %i %size %3 %size
  %11 = stream.async.dispatch @ex::@e[%i](%3[%i to %size for %size], %i) : (!stream.resource<*>{%size}, index) -> %3{%size}
  // uses: %i %3 %i %size %size %i %size %3 %size %size
  %12:2 = stream.async.dispatch @ex::@e[%i](%3[%i to %size for %size], %i) : (!stream.resource<*>{%size}, index) -> (%3{%size}, !stream.resource<*>{%size})
  // uses: %3 %i %size %size %i %size %3 %size
  %13 = stream.async.call @ext(%3[%i to %size for %size], %i) : (!stream.resource<*>{%size}, index) -> %3{%size}
  %14, %tp = stream.async.execute await(%t) => with(%a as %arg1: !stream.resource<*>{%size}) -> (%a as !stream.resource<*>{%size}) {
    // uses: %arg1 %size
    stream.yield %arg1 : !stream.resource<*>{%size}
  } => !stream.timepoint
  %15 = stream.async.concurrent with(%a as %arg1: !stream.resource<*>{%size}) -> !stream.resource<*>{%size} {
    // uses: %arg1 %size
    stream.yield %arg1 : !stream.resource<*>{%size}
  }
  // uses: %size %i %3 %i %size %size %a %i %size %size %size %a %size
  %16 = stream.async.collective<all_gather : f32>[%size] channel(%i) %3[%i to %size for %size], %a[%i to %size for %size] : !stream.resource<*>{%size} -> %a as !stream.resource<*>{%size}
  // uses: %14
  util.return %14 : !stream.resource<*>
}
// -----
stream.async.func private @asyncExtern(%arg0: !stream.resource<*>, %arg1: index) -> %arg0
stream.cmd.func private @cmdExtern(%arg0[%arg1 for %arg2]: !stream.resource<*>, %arg3: i32) -> i32
util.func public @t(%a: tensor<?x5xf32>, %r: !stream.resource<*>, %d: index, %size: index) {
  // uses: %a %d %size
  %0 = stream.tensor.import %a : tensor<?x5xf32>{%d} -> !stream.resource<external>{%size}
  // uses: %r %d %size
  %1 = stream.tensor.export %r : tensor<?x1x10xf32>{%d} in !stream.resource<external>{%size} -> tensor<?x1x10xf32>
  // uses: %d
  %2 = stream.tensor.sizeof tensor<?x5x64xf32>{%d} : index
  // uses: %d %size
  %3 = stream.tensor.empty : tensor<?x0xf32>{%d} in !stream.resource<*>{%size}
  // uses: %d
  %4 = stream.tensor.constant : tensor<?x5x64xf32>{%d} in !stream.resource<constant> = dense<0.000000e+00> : tensor<1x5x64xf32>
  // uses: %d %d %size
  %5 = stream.tensor.splat %d : index -> tensor<?x1x10xf32>{%d} in !stream.resource<*>{%size}
  // uses: %r %d %size %d %size
  %6 = stream.tensor.clone %r : tensor<?x4xf32>{%d} in !stream.resource<*>{%size} -> tensor<?x4xf32>{%d} in !stream.resource<*>{%size}
  // uses: %r %d %d %d %d %d %size %d %size
  %7 = stream.tensor.slice %r[%d, %d for %d, %d] : tensor<?x4xf32>{%d} in !stream.resource<*>{%size} -> tensor<?x1xf32>{%d} in !stream.resource<*>{%size}
  // uses: %d %r %d %d %d %d %d %r %size
  %8 = stream.tensor.fill %d, %r[%d, %d for %d, %d] : index -> tensor<?x4xf32>{%d} in %r as !stream.resource<*>{%size}
  // uses: %r %r %d %d %size %d %r %size
  %9 = stream.tensor.update %r, %r[%d, %d] : tensor<2x2xf32> in !stream.resource<*>{%size} -> tensor<?x4xf32>{%d} in %r as !stream.resource<*>{%size}
  // uses: %r %d %d %d %size
  %10 = stream.tensor.load %r[%d, %d] : tensor<?x4xf32>{%d} in !stream.resource<staging>{%size} -> f32
  // uses: %10 %r %d %d %d %r %size
  %11 = stream.tensor.store %10, %r[%d, %d] : f32 -> tensor<?x4xf32>{%d} in %r as !stream.resource<staging>{%size}
  // uses: %r %d %size %0 %size
  stream.tensor.trace "FOOBAR" = [ %r : tensor<?x5xf32>{%d} in !stream.resource<staging>{%size}, %0 : tensor<f32> in !stream.resource<staging>{%size} ]
  // uses: %d %d %r %d %d %size %d %d %size
  %12 = stream.tensor.dispatch @ex::@e[%d, %d](%r, %d) : (tensor<4x?xf32>{%d} in !stream.resource<*>{%size}, index) -> tensor<?x?xf32>{%d, %d} in !stream.resource<*>{%size}
  // uses:
  util.return
}
// -----
util.func public @res(%size: index, %r: !stream.resource<transient>, %i: index, %tp: !stream.timepoint) {
  // uses: %size %size
  %0:2 = stream.resource.alloc uninitialized : !stream.resource<transient>{%size}, !stream.resource<transient>{%size}
  // uses: %r
  %1 = stream.resource.size %r : !stream.resource<transient>
  // uses: %b %i %size
  %did, %m = stream.resource.try_map %b[%i] : !util.buffer -> i1, !stream.resource<constant>{%size}
  // uses: %r %i %size
  %2 = stream.resource.load %r[%i] : !stream.resource<transient>{%size} -> i32
  // uses: %2 %r %i %size
  stream.resource.store %2, %r[%i] : i32 -> !stream.resource<transient>{%size}
  %3:3 = stream.resource.pack offset(%i) slices({
    [0, 4] = %size,
    [1, 8] = %i,
  }) : index
  %4:2 = stream.resource.constants : !stream.resource<constant>{%size} = dense<100> : tensor<1xi32>, !stream.resource<constant>{%size} = dense<[101, 102]> : tensor<2xi32>
     => !stream.timepoint
  // uses: %r %i %size %size
  %5 = stream.resource.subview %r[%i] : !stream.resource<transient>{%size} -> !stream.resource<transient>{%size}
  // uses: %b %i %size %size
  %6, %7 = stream.file.constant %b[%i for %size] : !util.buffer{%size} -> !stream.file
  // uses: %tp %6 %i %r %i %size %size
  %8 = stream.file.read await(%tp) => %6[%i], %r[%i], %size : !stream.file -> !stream.resource<transient>{%size} => !stream.timepoint
  // uses: %i %size
  %9 = stream.channel.create on(#hal.device.affinity<@d>) rank(%i) count(%size) : !stream.channel
  // uses: %i %size
  %10 = stream.parameter.load "scope"::"key"[%i] : !stream.resource<constant>{%size} => !stream.timepoint
  %11, %12 = stream.cmd.parameter.load await(%tp) => {
    "scope"::"key0"[%i] : !stream.resource<constant>{%size},
    "scope"::"key1"[%i] : !stream.resource<constant>{%size}
  } => !stream.timepoint
  // uses: %tp %i %r %i %size %size
  %13 = stream.cmd.parameter.read await(%tp) => "scope"::"key"[%i] -> %r[%i for %size] : !stream.resource<transient>{%size} => !stream.timepoint
  %14 = stream.cmd.parameter.gather await(%tp) => {
    "scope"::"key0"[%i] -> %r[%i for %size] : !stream.resource<transient>{%size}
  } => !stream.timepoint
  // uses:
  %15 = stream.context.resolve on(#hal.device.affinity<@d>) : !hal.allocator, i64
  // uses:
  util.return
}
// -----
flow.executable private @ex {
  flow.executable.export public @dispatch workgroups(%arg0: index) -> (index, index, index) {
    // uses: %arg0
    %x, %y, %z = flow.dispatch.workgroup_count_from_dag_root %arg0
    // uses: %x %y %z
    flow.return %x, %y, %z : index, index, index
  } attributes {translation_info = 0}
  builtin.module {
    func.func private @fn()
  }
}
// -----
util.func public @w(%workload: index, %arg0: tensor<?x4xf32>, %d: index, %s: tensor<4xf32>) {
  %0 = flow.dispatch.workgroups[%workload, %workload](%arg0, %s) : (tensor<?x4xf32>{%d}, tensor<4xf32>) -> (%arg0{%d}, tensor<4xf32>) =
    (%in: !flow.dispatch.tensor<readwrite:tensor<?x4xf32>>, %in2: !flow.dispatch.tensor<readonly:tensor<4xf32>>, %out: !flow.dispatch.tensor<writeonly:tensor<4xf32>>) {
    // uses:
    %c0 = arith.constant 0 : index
    // uses:
    %v = flow.dispatch.workgroup.id[0] : index
    // uses:
    %n = flow.dispatch.workgroup.count[1] : index
    // uses:
    flow.return
  } count(%w: index, %w2: index) -> (index, index, index) {
    // uses:
    %x = arith.constant 1 : index
    // uses: %x %x %x
    flow.return %x, %x, %x : index, index, index
  }
  %1 = flow.dispatch.region[%workload] -> (tensor<?x4xf32>{%d}) {
    %t = "test.op"(%arg0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    // uses: %t
    flow.return %t : tensor<?x4xf32>
  } count(%arg3: index) -> (index, index, index) {
    // uses:
    %c1 = arith.constant 1 : index
    // uses: %c1 %c1 %c1
    flow.return %c1, %c1, %c1 : index, index, index
  }
  %2:2 = flow.dispatch.region -> (tensor<?x4xf32>{%d}, tensor<4xf32>) {
    // uses: %arg0 %s
    flow.return %arg0, %s : tensor<?x4xf32>, tensor<4xf32>
  }
  // uses: %workload %arg0 %d
  %3 = flow.dispatch @ex0::@entry[%workload](%arg0) : (tensor<?x4xf32>{%d}) -> tensor<4xf32>
  // uses: %workload %arg0 %d %arg0 %d
  %4 = flow.dispatch {@ex0::@a, @ex1::@b}[%workload](%arg0) : (tensor<?x4xf32>{%d}) -> %arg0{%d}
  // uses: %arg0 %d %d
  %5 = flow.tensor.reshape %arg0 : tensor<?x4xf32>{%d} -> tensor<4x?xf32>{%d}
  // uses: %arg0 %d %d
  %6 = flow.tensor.bitcast %arg0 : tensor<?x4xf32>{%d} -> tensor<?x4xi32>{%d}
  // uses: %arg0 %d %d %d
  %7 = flow.tensor.load %arg0[%d, %d] : tensor<?x4xf32>{%d}
  // uses: %7 %arg0 %d %d %d
  %8 = flow.tensor.store %7, %arg0[%d, %d] : tensor<?x4xf32>{%d}
  // uses: %d
  %9 = flow.tensor.alloca : tensor<?x0x1xf32>{%d}
  // uses: %d %d
  %10 = flow.tensor.empty : tensor<?x?xf32>{%d, %d}
  // uses: %7 %d %d
  %11 = flow.tensor.splat %7 : tensor<?x?xf32>{%d, %d}
  // uses: %arg0 %d
  %12 = flow.tensor.clone %arg0 : tensor<?x4xf32>{%d}
  // uses: %arg0 %d %d
  %13 = flow.tensor.encode %arg0 : tensor<?x4xf32>{%d} -> tensor<?x4xf32, #iree_encoding.testing<>>{%d}
  // uses: %arg0 %d %d %d %d %d %d
  %14 = flow.tensor.slice %arg0[%d, %d for %d, %d] : tensor<?x4xf32>{%d} -> tensor<?x4xf32>{%d}
  // uses: %s %arg0 %d %d %arg0 %d
  %15 = flow.tensor.update %s, %arg0[%d, %d] : tensor<4xf32> -> %arg0 as tensor<?x4xf32>{%d}
  // uses: %arg0 %d
  %16 = flow.tensor.transfer %arg0 : tensor<?x4xf32>{%d} to "target"
  // uses: %s %arg0 %d
  flow.tensor.trace "FOOBAR" = [%s : tensor<4xf32>, %arg0 : tensor<?x4xf32>{%d}]
  // uses: %arg0 %d
  %17 = flow.tensor.tie_shape %arg0 : tensor<?x4xf32>{%d}
  // uses:
  %18 = flow.tensor.constant dense<4> : tensor<4xi32> -> tensor<?xi32>
  // uses:
  %19 = flow.tensor.dynamic_constant dense<4> : tensor<4xi32> -> tensor<?xi32>
  // uses:
  %20 = flow.channel.default : !flow.channel
  // uses: %20 %d %d
  %21 = flow.channel.split %20, %d, %d : !flow.channel -> !flow.channel
  // uses: %s %s %20 %s
  %22 = flow.collective.all_reduce sum, f32, %s, %s, %20  : (tensor<4xf32>, tensor<4xf32>, !flow.channel) -> %s as tensor<4xf32>
  // uses: %arg0 %d %d %arg0 %d
  %23 = flow.call @extern(%arg0, %d) : (tensor<?x4xf32>{%d}, index) -> %arg0 as tensor<?x4xf32>{%d}
  // uses:
  util.return
}
// -----
flow.func private @dispatch(%arg0: tensor<?xf32>, %arg1: index) -> %arg0 as tensor<?xf32>
flow.func private @d2(tensor<?xf32>, index) -> tensor<?xf32> attributes {x}
// -----
hal.executable private @ex {
  hal.executable.variant public @embedded target(<"llvm-cpu", "embedded-elf-x86_64", {native_vector_size = 16 : index}>) objects([#hal.executable.object<{path = "foo.o"}>]) {
    hal.executable.condition(%device: !hal.device) -> i1 {
      // uses: %device
      %ok, %selected = hal.device.query<%device : !hal.device> key("some" :: "value") : i1, i32 = 0 : i32
      // uses: %ok
      hal.return %ok : i1
    }
    hal.executable.constant.block(%device: !hal.device) -> (i32, i32) as ("foo", "bar") {
      // uses:
      %c = arith.constant 1 : i32
      // uses: %c %c
      hal.return %c, %c : i32, i32
    }
    hal.executable.export public @entry0 ordinal(0) layout(#hal.pipeline.layout<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer>], flags = Indirect>) condition(%device: !hal.device, %w: index) -> i1 {
      // uses:
      %true = arith.constant true
      // uses: %true
      hal.return %true : i1
    } fallback(@entry1) count(%device: !hal.device, %arg1: index, %arg2: index) -> (index, index, index) {
      // uses: %arg1 %arg2 %arg1
      hal.return %arg1, %arg2, %arg1 : index, index, index
    } attributes {subgroup_size = 64 : index, workgroup_size = [4 : index, 1 : index, 1 : index]}
    builtin.module {
      func.func @entry0() attributes {hal.x = #iree_codegen.translation_info<pipeline = CPUDefault>} {
        // uses:
        %c0 = arith.constant 0 : index
        // uses:
        %0 = hal.interface.constant.load layout(#hal.pipeline.layout<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer>]>) ordinal(0) : i32
        // uses: %c0 %c0
        %1 = hal.interface.binding.subspan layout(#hal.pipeline.layout<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>]>) binding(0) alignment(64) offset(%c0) flags(ReadOnly) : memref<?x4xf32, strided<[4, 1], offset: ?>, #hal.descriptor_type<storage_buffer>>{%c0}
        // uses:
        %wg = hal.interface.workgroup.id[0] upper_bound 4 : index
        // uses:
        %wc = hal.interface.workgroup.count[0] : index
        return
      }
    }
  }
  // uses:
  hal.executable.binary public @bin attributes {data = dense<1> : vector<128xi8>, format = "some_format"}
}
// -----
hal.executable.source public @exe attributes {objects = #hal.executable.objects<{}>} {
  hal.executable.export public @e ordinal(0) layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>) count(%d: !hal.device) -> (index, index, index) {
    // uses:
    %x = arith.constant 1 : index
    // uses: %x %x %x
    hal.return %x, %x, %x : index, index, index
  }
}
// -----
util.func public @cb(%device: !hal.device, %cmd: !hal.command_buffer, %buf: !hal.buffer, %i: index, %a: i32, %exe: !hal.executable, %al: !hal.allocator, %q: i64, %f: !hal.fence, %f2: !hal.fence) {
  // uses: %device %q
  %0 = hal.command_buffer.create device(%device : !hal.device) mode(OneShot) categories("Transfer|Dispatch") affinity(%q) : !hal.command_buffer
  // uses: %device %i
  %cb = hal.command_buffer.create device(%device : !hal.device) mode("None") categories("Transfer|Dispatch") bindings(%i) : !hal.command_buffer as !hal.x
  // uses: %cmd
  hal.command_buffer.finalize<%cmd : !hal.command_buffer>
  // uses: %cmd
  hal.command_buffer.begin_debug_group<%cmd : !hal.command_buffer> label("hello")
  // uses: %cmd
  hal.command_buffer.execution_barrier<%cmd : !hal.command_buffer> source("CommandIssue") target("CommandProcess") flags("None")
  // uses: %cmd %buf %i %i %a
  hal.command_buffer.fill_buffer<%cmd : !hal.command_buffer> target(%buf : !hal.buffer)[%i, %i] pattern(%a : i32) flags("None")
  // uses: %cmd %buf %i %buf %i %i
  hal.command_buffer.copy_buffer<%cmd : !hal.command_buffer> source(%buf : !hal.buffer)[%i] target(%buf : !hal.buffer)[%i] length(%i) flags("None")
  // uses: %cmd %ub %i %i %buf %i %i
  hal.command_buffer.update_buffer<%cmd : !hal.command_buffer> source(%ub : !util.buffer{%i})[%i] target(%buf : !hal.buffer)[%i] length(%i) flags("None")
  // uses: %cmd %ch %a %buf %i %i %buf %i %i %i
  hal.command_buffer.collective<%cmd : !hal.command_buffer> channel(%ch : !hal.channel) op(<all_reduce with sum : f32>) param(%a : i32) send(%buf : !hal.buffer)[%i, %i] recv(%buf : !hal.buffer)[%i, %i] count(%i)
  hal.command_buffer.dispatch<%cmd : !hal.command_buffer> target(%exe : !hal.executable)[%i] workgroups([%i, %i, %i]) constants([%a, %a]) bindings([
    (%buf : !hal.buffer)[%i, %i],
    (%i : index)[%i, %i]
  ]) flags("None")
  hal.command_buffer.dispatch.indirect<%cmd : !hal.command_buffer> target(%exe : !hal.executable)[%i] workgroups(%buf : !hal.buffer)[%i] bindings([
    (%buf : !hal.buffer)[%i, %i]
  ]) flags("None")
  // uses: %al %q %i
  %1 = hal.allocator.allocate<%al : !hal.allocator> affinity(%q) type("HostLocal") usage("DispatchStorage|Transfer") : !hal.buffer{%i}
  // uses: %al %ub %i %i %q
  %ok, %2 = hal.allocator.import<%al : !hal.allocator> source(%ub : !util.buffer)[%i, %i] affinity(%q) type(DeviceLocal) usage("Transfer") : i1, !hal.buffer
  // uses: %device %q %f %f2 %q %i
  %3 = hal.device.queue.alloca<%device : !hal.device> affinity(%q) wait(%f) signal(%f2) pool(%q) type("DeviceLocal") usage("Dispatch") flags("None") : !hal.buffer{%i}
  // uses: %device %q %f %f2 %buf
  hal.device.queue.dealloca<%device : !hal.device> affinity(%q) wait(%f) signal(%f2) buffer(%buf : !hal.buffer) flags("None")
  // uses: %device %q %f %f2 %cmd
  hal.device.queue.execute<%device : !hal.device> affinity(%q) wait(%f) signal(%f2) commands(%cmd) flags("None")
  hal.device.queue.execute.indirect<%device : !hal.device> affinity(%q) wait(%f) signal(%f2) commands(%cmd) bindings([
    (%buf : !hal.buffer)[%i, %i]
  ]) flags("None")
  // uses: %device %q %f %f2 %buf %i %buf %i %i
  hal.device.queue.copy<%device : !hal.device> affinity(%q) wait(%f) signal(%f2) source(%buf : !hal.buffer)[%i] target(%buf : !hal.buffer)[%i] length(%i) flags("None")
  // uses: %device %q %f %f2 %file %q %buf %i %i
  hal.device.queue.read<%device : !hal.device> affinity(%q) wait(%f) signal(%f2) source(%file : !hal.file)[%q] target(%buf : !hal.buffer)[%i] length(%i) flags(0)
  // uses: %device %q %f %f2
  hal.device.queue.barrier<%device : !hal.device> affinity(%q) wait(%f) signal(%f2) flags("None")
  // uses: %device %q
  hal.device.queue.flush<%device : !hal.device> affinity(%q)
  // uses: %device
  %4 = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
  // uses: %f %f2
  %5 = hal.fence.join at([%f, %f2]) flags("None") -> !hal.fence
  // uses: %f
  hal.fence.signal<%f : !hal.fence>
  // uses: %f %f2 %a
  %st = hal.fence.await until([%f, %f2]) timeout_millis(%a) flags("None") : i32
  // uses: %buf %i %i %i %i %a %a
  %6 = hal.buffer_view.create buffer(%buf : !hal.buffer)[%i, %i] shape([%i, %i]) type(%a) encoding(%a) : !hal.buffer_view
  // uses: %6
  %7 = hal.buffer_view.dim<%6 : !hal.buffer_view>[0] : index
  // uses: %6 %i %a %a
  hal.buffer_view.assert<%6 : !hal.buffer_view> message("arg0") shape([%i]) type(%a) encoding(%a)
  // uses: %6 %6
  hal.buffer_view.trace "x" = %6, %6 : !hal.buffer_view, !hal.buffer_view
  // uses: %buf %al %i
  hal.buffer.assert<%buf : !hal.buffer> message("buffer") allocator(%al : !hal.allocator) minimum_length(%i) type("DeviceVisible") usage("Transfer")
  // uses: %buf %i %i
  %8 = hal.buffer.subspan<%buf : !hal.buffer>[%i, %i] : !hal.buffer
  // uses: %buf %i
  %9 = hal.buffer.load<%buf : !hal.buffer>[%i] : i32
  // uses: %buf %i %9
  hal.buffer.store<%buf : !hal.buffer>[%i] value(%9 : i32)
  // uses: %f %6 %i
  %10 = hal.tensor.import on(#hal.device.promise<@dev>) wait(%f) => %6 "input0" : !hal.buffer_view -> tensor<?x3xi32>{%i}
  // uses: %10 %buf %i
  %11 = hal.tensor.export %10 "out" into(%buf : !hal.buffer) : tensor<?x3xf32> as tensor<?x3xi32>{%i} -> !hal.buffer_view
  // uses: %f %10 %i %buf
  %12 = hal.tensor.alias wait(%f) => %10 : tensor<?x3xf32>{%i} to %buf : !hal.buffer
  // uses: %10 %10 %f
  %13:2 = hal.tensor.barrier join(%10, %10 : tensor<?x3xf32>, tensor<?x3xf32>) => %f : !hal.fence
  // uses: %i
  %14 = hal.devices.get %i : !hal.device
  // uses:
  %15 = hal.device.resolve on(#hal.device.affinity<@d, [0, 2]>) : !hal.device
  // uses: %device %a %a
  %16 = hal.executable.create device(%device : !hal.device) target(@exe1::@variant) constants([%a, %a]) : !hal.executable
  // uses: %device
  %17 = hal.executable.lookup device(%device : !hal.device) executable(@exe) : !hal.executable
  // uses: %device %i %i
  %18:3 = hal.executable.calculate_workgroups device(%device : !hal.device) target(@exe0::@variant::@entry) workload([%i, %i]) : index, index, index
  %19, %20 = hal.device.memoize<%device : !hal.device> affinity(%q) -> (!hal.command_buffer, i32) {
    // uses: %cmd %a
    hal.return %cmd, %a : !hal.command_buffer, i32
  }
  // uses:
  %21 = hal.element_type<f32> : i32
  // uses:
  %22 = hal.encoding_type<dense_row_major> : i32
  // uses:
  %23 = hal.memory_type<HostLocal> : i32
  // uses:
  %24 = hal.buffer_usage<"TransferSource|TransferTarget"> : i32
  // uses: %device %q %ub %i %i
  hal.ex.file.from_memory device(%device : !hal.device) affinity(%q) access(Read) buffer(%ub : !util.buffer)[%i for %i] flags(0) : !hal.file
  // uses:
  util.return
}
// -----
vm.module @m {
  // uses:
  vm.global.i32 private @g0 = 5 : i32
  // uses:
  vm.global.ref private mutable @r : !vm.ref<?>
  // uses:
  vm.rodata private @rd dense<[0, 1]> : tensor<2xi8> 
  // uses:
  vm.rodata private @str {mime_type = "text/plain"} "abc"
  // uses:
  vm.rodata.inline
  // uses:
  vm.export @fn as("fn_export") attributes {x}
  // uses: %foo %bar
  vm.import private @my.fn_varargs(%foo : vector<3xi32> ..., %bar : tuple<i64, i64> ...) -> i32
  // uses: %foo
  vm.import private optional @my.opt(%foo : i32)
  vm.func private @fn(%arg0: i32, %b: !vm.buffer, %r: !vm.ref<!hal.buffer>, %l: !vm.list<i32>) -> i32 {
    // uses:
    %c1 = vm.const.i32 1
    // uses:
    %zero = vm.const.i32.zero
    // uses:
    %n = vm.const.ref.zero : !vm.ref<!hal.buffer>
    // uses: %arg0
    %0 = vm.call @my.fn(%arg0) : (i32) -> i32
    // uses: %0 %0 %c1 %c1 %0 %c1 %c1 %0
    %1 = vm.call.variadic @my.fn_varargs(%0, [%0, %c1], %c1, [(%0, %c1), (%c1, %0)], []) : (i32, i32 ..., i32, tuple<i32, i32> ..., i32 ...) -> i32
    // uses: %0 %c1
    %2 = vm.add.i32 %0, %c1 : i32
    // uses: %c1 %r %r
    %3 = vm.select.ref %c1, %r, %r : !vm.ref<!hal.buffer>
    // uses: %c1 %0 %1 %2 %c1
    %4 = vm.switch.i32 %c1[%0, %1, %2] else %c1 : i32
    // uses: %l %c1
    %5 = vm.list.get.i32 %l, %c1 : (!vm.list<i32>, i32) -> i32
    // uses: %l %c1 %5
    vm.list.set.i32 %l, %c1, %5 : (!vm.list<i32>, i32, i32)
    // uses: %b %c64
    %6 = vm.buffer.load.i32 %b[%c64] : !vm.buffer -> i32
    // uses: %6 %b %c64
    vm.buffer.store.i8 %6, %b[%c64] : i32 -> !vm.buffer
    // uses: %b %c64 %c64 %6
    vm.buffer.fill.i16 %b, %c64, %c64, %6 : i32 -> !vm.buffer
    // uses: %b %c64 %b %c64 %c64
    vm.buffer.copy %b, %c64, %b, %c64, %c64 : !vm.buffer -> !vm.buffer
    // uses: %r
    %7 = vm.cast.any.ref %r : !vm.ref<?> -> !vm.ref<!hal.buffer>
    // uses: %0 %1
    vm.trace "event"(%0, %1) : i32, i32
    // uses: %0
    vm.print "hello"(%0) : i32
    // uses: %c1 %0
    vm.cond_break %c1, ^bb1(%0 : i32)
  ^bb1(%x : i32):
    // uses: %0 %1
    vm.check.eq %0, %1, "expected" : i32
    // uses: %0
    vm.check.nz %0 : i32
    vm.br_table %x {
      default: ^bb2(%0 : i32),
      0: ^bb2(%1 : i32),
      1: ^bb3
    }
  ^bb2(%y: i32):
    // uses: %c1 %y
    vm.cond_br %c1, ^bb3, ^bb4(%y : i32)
  ^bb3:
    // uses: %c1
    vm.fail %c1, "message"
  ^bb4(%z: i32):
    // uses:
    %call:2 = vm.import.resolved @my.opt : i32
    // uses:
    vm.yield ^bb5
  ^bb5:
    // uses: %z
    vm.return %z : i32
  }
  vm.initializer {
    // uses:
    vm.return
  }
}
// -----
util.func public @vmvx(%b: memref<?xf32>, %i: index, %s: memref<f32>) {
  // uses: %b
  %base, %off, %sizes:2, %strides:2 = vmvx.get_buffer_descriptor %b : memref<?xf32> -> !util.buffer, index, index, index, index, index
  // uses:
  %0 = vmvx.get_raw_interface_binding_buffer layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>) set(0) binding(3) : !util.buffer
  // uses: %0 %i %i %i %0 %i %i %i %0 %i %i %i %i %i
  vmvx.binary op("add" : f32) lhs(%0 offset %i strides[%i, %i] : !util.buffer) rhs(%0 offset %i strides[%i, %i] : !util.buffer) out(%0 offset %i strides[%i, %i] : !util.buffer) sizes(%i, %i)
  // uses: %0 %i %i %i %0 %i %i %i %i %i
  vmvx.copy in(%0 offset %i strides[%i, %i] : !util.buffer) out(%0 offset %i strides[%i, %i] : !util.buffer) sizes(%i, %i) : i32
  // uses: %s %0 %i %i %i %i
  vmvx.fill2d scalar(%s : f32) out(%0 offset %i row_stride %i : !util.buffer) sizes(%i, %i)
  // uses: %i
  check.expect_true(%i) : i32
  // uses: %t
  check.expect_all_true(%t) : tensor<2x2xi32>
  // uses: %t %t
  check.expect_eq(%t, %t) : tensor<2x2xi32>
  // uses: %t
  check.expect_eq_const(%t, dense<[1, 2]> : tensor<2xi32>) : tensor<2xi32>
  // uses: %t %t
  check.expect_almost_eq(%t, %t, atol 1.0e-2, rtol 1.0e-4) : tensor<5xf32>
  // uses:
  util.return
}
