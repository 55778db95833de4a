// Unusual shapes of the forms of a runtime compiler: sizes in nested places, regions between operands, arrows and
// braces inside of attributes, words that look like ops, comments in the middle.
util.func public @transfer(%r: !stream.resource<*>, %n: index) {
  // uses: %r %n %n ; types: !stream.resource<transient>
  %a = stream.async.transfer %r : !stream.resource<*>{%n} from(#hal.device.affinity<@a, [0, 1]>) -> to(#hal.device.promise<@b>) !stream.resource<transient>{%n}
  util.return
}
// -----
util.func private @alloca(%tp: !stream.timepoint, %n: index) -> !stream.timepoint {
  // uses: %tp %n ; types: !stream.resource<transient> !stream.timepoint
  %a, %b = stream.resource.alloca uninitialized on(#hal.device.affinity<@a>) await(%tp) => !stream.resource<transient>{%n} => !stream.timepoint
  // uses: %b %a %n ; types: !stream.timepoint
  %c = stream.resource.dealloca origin on(#hal.device.affinity<@a>) await(%b) => %a : !stream.resource<transient>{%n} => !stream.timepoint
  // uses: %c %b ; types: !stream.timepoint
  %d = stream.timepoint.join max(%c, %b) => !stream.timepoint
  // uses: %d %a %a %n %n ; types: !stream.resource<transient> !stream.resource<transient>
  %e:2 = stream.timepoint.await %d => %a, %a : !stream.resource<transient>{%n}, !stream.resource<transient>{%n}
  // uses: %d
  util.return %d : !stream.timepoint
}
// -----
util.func private @pack(%n: index, %m: index) {
  // uses: %n %m %n
  %p:3 = stream.resource.pack offset(%n) slices({
    [0, 9] = %m,   // "a { comment }
    [3, 8] = %n
  }) : index
  // uses: %n %n %m
  %q:3 = stream.resource.pack slices({
    [0, 1] = %n, [1, 2] = %n,
    [2, 3] = %m
  }) : index
  util.return
}
// -----
util.func private @execute(%r: !stream.resource<*>, %n: index, %tp: !stream.timepoint) {
  // uses: %tp %r %n %r %n ; regions: 1 ; arguments: %x %y ; types: !stream.timepoint
  %t = stream.cmd.execute once on(#hal.device.affinity<@d0>) await(%tp) => with(
      %r as %x: !stream.resource<transient>{%n},
      %r as %y: !stream.resource<external>{%n}
  ) {
    // uses: %n %x %n %n %n
    stream.cmd.fill %n, %x[%n for %n] : i32 -> !stream.resource<transient>{%n}
    // uses: ; regions: 1
    stream.cmd.serial {
      // uses: %y %n %n %n
      stream.cmd.flush to(#hal.device.affinity<@d1>) %y[%n for %n] : !stream.resource<external>{%n}
      // uses: %n %x %n %n %n %y %n %n %n %n
      stream.cmd.call @extern(%n, ro %x[%n for %n], %n, wo %y[%n for %n]) : (index, !stream.resource<transient>{%n}, index, !stream.resource<external>{%n}) -> ()
    }
  } => !stream.timepoint
  util.return
}
// -----
util.func private @async(%r: !stream.resource<*>, %n: index, %tp: !stream.timepoint) {
  // uses: %tp %r %n %n ; regions: 1 ; arguments: %x ; types: !stream.resource<external> !stream.timepoint
  %t:2 = stream.async.execute on(#hal.device.affinity<@d0>) await(%tp) => with(%r as %x: !stream.resource<*>{%n}) -> !stream.resource<external>{%n} {
    // uses: %x %n %x %n ; regions: 1 ; arguments: %y ; types: !stream.resource<*>
    %c = stream.async.concurrent with(%x as %y: !stream.resource<*>{%n}) -> %x as !stream.resource<*>{%n} {
      // uses: %n %n %y %n %n %n %n %n ; types: !stream.resource<*>
      %d = stream.async.dispatch @ex::@entry[%n, %n](%y[%n to %n for %n]) : (!stream.resource<*>{%n}) -> !stream.resource<*>{%n}
      stream.yield %d : !stream.resource<*>{%n}
    }
    stream.yield %c : !stream.resource<*>{%n}
  } => !stream.timepoint
  util.return
}
// -----
util.func private @slices(%r: !stream.resource<*>, %n: index, %i: i32, %p: i1) {
  // uses: %r %n %n %n %n ; types: !stream.resource<*>
  %a = stream.async.slice %r[%n to %n] : !stream.resource<*>{%n} -> !stream.resource<*>{%n}
  // uses: %i %r %n %n %n %r %n ; types: !stream.resource<*>
  %b = stream.async.fill %i, %r[%n to %n for %n] : i32 -> %r as !stream.resource<*>{%n}
  // uses: %r %n %n %r %n %n %n %n %r %n ; types: !stream.resource<*>
  %c = stream.async.copy %r[%n to %n], %r[%n to %n], %n : !stream.resource<*>{%n} -> %r as !stream.resource<*>{%n}
  // uses: %r %n %n ; types: f32
  %d = stream.async.load %r[%n] : !stream.resource<staging>{%n} -> f32
  // uses: %d %r %n %r %n ; types: !stream.resource<staging>
  %e = stream.async.store %d, %r[%n] : f32 -> %r as !stream.resource<staging>{%n}
  // uses: %p %r %r ; types: !stream.resource<*>
  %f = arith.select %p, %r, %r : !stream.resource<*>
  // uses: %n
  %g = stream.async.constant : !stream.resource<constant>{%n} = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  // uses: %i %n ; types: !stream.resource<*>
  %h = stream.async.splat on(#hal.device.affinity<@x>) %i : i32 -> !stream.resource<*>{%n}
  // uses: %r
  %k = stream.resource.size %r : !stream.resource<*>
  util.return
}
// -----
util.func private @tensors(%t: tensor<?x4xf32>, %r: !stream.resource<*>, %n: index, %m: index, %v: !hal.buffer_view) {
  // uses: %v %n %m ; types: !stream.resource<external>
  %a = stream.tensor.import on(#hal.device.affinity<@d>) consume %v : !hal.buffer_view -> tensor<?x4xf32>{%n} in !stream.resource<external>{%m}
  // uses: %a %n %m ; types: !hal.buffer_view
  %b = stream.tensor.export %a : tensor<?x4xf32>{%n} in !stream.resource<external>{%m} -> !hal.buffer_view
  // uses: %n %m ; types: index
  %c = stream.tensor.sizeof on(#hal.device.affinity<@d>) tensor<?x?xf32, #iree_encoding.layout<[#iree_cpu.vmvx_encoding_resolver<configuration = {a = "-> {"}>]>>{%n, %m} : index
  // uses: %n %m ; types: !stream.resource<*>
  %d = stream.tensor.empty : tensor<?x4xf32>{%n} in !stream.resource<*>{%m}
  // uses: %r %n %m %n %m ; types: !stream.resource<*>
  %e = stream.tensor.clone %r : tensor<?x4xf32>{%n} in !stream.resource<*>{%m} -> tensor<?x4xf32>{%n} in !stream.resource<*>{%m}
  // uses: %r %n %n %n %m %n %m ; types: !stream.resource<*>
  %f = stream.tensor.slice %r[%n, %n] : tensor<?x4xf32>{%n} in !stream.resource<*>{%m} -> tensor<?x1xf32>{%n} in !stream.resource<*>{%m}
  // uses: %r %r %n %n %n %m %r %n ; types: !stream.resource<*>
  %g = stream.tensor.update %r, %r[%n, %n] : tensor<2x2xf32> in !stream.resource<*>{%n} -> tensor<?x4xf32>{%m} in %r as !stream.resource<*>{%n}
  // uses: %r %n ; types: f32
  %h = stream.tensor.load %r[] : tensor<f32> in !stream.resource<staging>{%n} -> f32
  // uses: %t %m %n ; types: tensor<?x4xf32>
  %k = flow.tensor.reshape %t : tensor<?x4xf32>{%m} -> tensor<?x4xf32>{%n}
  util.return
}
// -----
util.func private @flow(%t: tensor<?x4xf32>, %n: index, %m: index, %f: f32) {
  // uses: %t %n
  %a = flow.tensor.transfer %t : tensor<?x4xf32>{%n} to #hal.device.promise<@dev>
  // uses: %f %n ; types: tensor<?x4xf32>
  %b = flow.tensor.splat %f : tensor<?x4xf32>{%n}
  // uses: %t %n %n %m %m %n %m ; types: tensor<?x4xf32>
  %c = flow.tensor.slice %t[%n, %n for %m, %m] : tensor<?x4xf32>{%n} -> tensor<?x4xf32>{%m}
  // uses: %t %t %n %n %m %t %n ; types: tensor<?x4xf32>
  %d = flow.tensor.update %t, %t[%n, %n] : tensor<?x4xf32>{%m} -> %t as tensor<?x4xf32>{%n}
  // uses: %t %n %m %n
  %e = flow.tensor.load %t[%n, %m] : tensor<?x4xf32>{%n}
  // uses: %n %m %t %n %m %t %n ; types: tensor<?x4xf32> index
  %g:2 = flow.dispatch @ex::@entry[%n, %m](%t, %n) : (tensor<?x4xf32>{%m}, index) -> (%t as tensor<?x4xf32>{%n}, index)
  // uses: %t %n ; types: tensor<4x4xf32>
  %h = flow.dispatch {@ex::@a, @ex::@b}(%t) : (tensor<?x4xf32>{%n}) -> tensor<4x4xf32>
  // uses: %t %f %n %n ; types: tensor<?x4xf32>
  %k = flow.call @extern(%t, %f) : (tensor<?x4xf32>{%n}, f32) -> tensor<?x4xf32>{%n}
  // uses: ; types: tensor<4xi8>
  %l = flow.tensor.constant #flow.parameter.named<"scope"::"key{0}"> : tensor<4xi8>
  // uses: %t %n %t
  flow.tensor.trace "text } with { braces" = [
    %t : tensor<?x4xf32>{%n},
    %t : tensor<4x4xf32>
  ]
  // uses: %t %t %n %t ; types: tensor<4x4xf32>
  %o = flow.collective.all_reduce sum, f32, %t, %t, %n : (tensor<4x4xf32>, tensor<4x4xf32>, !flow.channel) -> %t as tensor<4x4xf32>
  util.return
}
// -----
// uses: ; regions: 1
flow.executable private @ex {
  // uses:
  flow.executable.export public @entry workgroups(%w: !hal.device, %x: index) -> (index, index, index) {
    // uses: %x
    %a, %b, %c = iree_tensor_ext.dispatch.workgroup_count_from_slice(%x)
    flow.return %a, %b, %c : index, index, index
  }
  builtin.module {
    func.func @entry(%s: !iree_tensor_ext.dispatch.tensor<readonly:tensor<?x4xf32>>, %d: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<?x4xf32>>, %n: index) {
      // uses: %s %n %n ; types: tensor<?x4xf32>
      %0 = iree_tensor_ext.dispatch.tensor.load %s, offsets = [0, 0], sizes = [%n, 4], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<?x4xf32>>{%n} -> tensor<?x4xf32>
      // uses: %0 %d %n %n
      iree_tensor_ext.dispatch.tensor.store %0, %d, offsets = [0, 0], sizes = [%n, 4], strides = [1, 1] : tensor<?x4xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<?x4xf32>>{%n}
      return
    }
  }
}
// -----
// uses: ; regions: 1
hal.executable private @ex attributes {util.target = #hal.executable.target<"llvm-cpu", "x", {cpu = "{", native_vector_size = 16 : i64}>} {
  // uses: ; regions: 1
  hal.executable.variant public @v target(<"cuda", "cuda-nvptx-fb", {iree.gpu.target = #iree_gpu.target<arch = "sm_80", wgp = <compute = fp64|fp32, mma = [<WMMA_F32_16x16x16_F16>]>>}>) objects([#hal.executable.object<{path = "a -> b"}>]) {
    // uses: ; regions: 1
    hal.executable.condition(%device: !hal.device) -> i1 {
      // uses: %device ; types: i1 i1
      %ok, %value = hal.device.query<%device : !hal.device> key("a" :: "b") : i1, i1 = false
      hal.return %value : i1
    }
    // uses: ; regions: 1
    hal.executable.export public @entry ordinal(0) layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">], flags = Indirect>) count(%device: !hal.device, %w: index) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %w, %c1, %c1 : index, index, index
    } attributes {workgroup_size = [1 : index, 2 : index, 3 : index], subgroup_size = 32 : index}
    // uses:
    hal.executable.constant.block(%device: !hal.device) -> (i32, i32) as ("foo", "bar") {
      %c = arith.constant 1 : i32
      hal.return %c, %c : i32, i32
    }
    builtin.module {
      func.func @entry() {
        %c0 = arith.constant 0 : index
        // uses: %c0 ; types: memref<4xf32>
        %0 = hal.interface.binding.subspan layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>) binding(0) alignment(64) offset(%c0) flags("ReadOnly|Indirect") : memref<4xf32>
        // uses: ; types: i32
        %1 = hal.interface.constant.load layout(#hal.pipeline.layout<constants = 2, bindings = []>) ordinal(1) alignment(4) values([dense<[1, 2]> : tensor<2xi32>]) : i32
        // uses: ; types: index
        %2 = hal.interface.workgroup.id[0] upper_bound 64 : index
        return
      }
    }
  }
  // uses:
  hal.executable.binary public @bin attributes {data = dense<1> : vector<8xi8>, format = "fb{", mime_type = "application/x"}
}
// -----
util.func private @device(%dev: !hal.device, %n: index, %cmd: !hal.command_buffer, %b: !hal.buffer, %f: !hal.fence, %q: i64, %e: !hal.executable, %i: i32) {
  // uses: %dev %q ; types: !hal.command_buffer
  %a = hal.command_buffer.create device(%dev : !hal.device) mode("OneShot|AllowInlineExecution") categories("Transfer|Dispatch") affinity(%q) : !hal.command_buffer
  // uses: %cmd %e %n %n %n %n %i %i %b %n %n %b %n %n
  hal.command_buffer.dispatch<%cmd : !hal.command_buffer> target(%e : !hal.executable)[%n] workgroups([%n, %n, %n]) constants([%i, %i]) bindings([
    (%b : !hal.buffer)[%n, %n],
    (%b : !hal.buffer)[%n, %n]
  ]) flags("None")
  // uses: %cmd %b %n %b %n %n
  hal.command_buffer.copy_buffer<%cmd : !hal.command_buffer> source(%b : !hal.buffer)[%n] target(%b : !hal.buffer)[%n] length(%n) flags("None")
  // uses: %dev %q %f %f %b %n %n %i
  hal.device.queue.fill<%dev : !hal.device> affinity(%q) wait(%f) signal(%f) target(%b : !hal.buffer)[%n] length(%n) pattern(%i : i32) flags("None")
  // uses: %dev %q %f %f %q %n ; types: !hal.buffer
  %c = hal.device.queue.alloca<%dev : !hal.device> affinity(%q) wait(%f) signal(%f) pool(%q) type("DeviceVisible|DeviceLocal") usage("TransferSource") : !hal.buffer{%n}
  // uses: %f %i ; types: i32
  %d = hal.fence.await until([%f]) timeout_millis(%i) flags("None") : i32
  // uses: %dev %q %i %n %n ; types: i1 !hal.buffer
  %g:2 = hal.allocator.import<%dev : !hal.device> affinity(%q) source(%i : i32)[%n, %n] type("A") usage("B") : i1, !hal.buffer
  // uses: %b %n %n %n %n %i %i ; types: !hal.buffer_view
  %h = hal.buffer_view.create buffer(%b : !hal.buffer)[%n, %n] shape([%n, %n]) type(%i) encoding(%i) : !hal.buffer_view
  util.return
}
// -----
util.func private @memoize(%dev: !hal.device, %q: i64) {
  // uses: %dev %q ; regions: 1 ; types: !hal.command_buffer
  %a = hal.device.memoize<%dev : !hal.device> affinity(%q) -> !hal.command_buffer {
    // uses: %dev %q ; types: !hal.command_buffer
    %c = hal.command_buffer.create device(%dev : !hal.device) mode(None) categories("Dispatch") affinity(%q) : !hal.command_buffer
    hal.return %c : !hal.command_buffer
  }
  // uses: ; types: !hal.device
  %b = hal.device.resolve on(#hal.device.affinity<@a, [0]>) : !hal.device
  util.return
}
// -----
// uses:
util.global private mutable @g = #util.byte_pattern<1> : !stream.resource<variable>
// uses:
util.global private @params {stream.affinity.default = #hal.device.affinity<@d>, inlining_policy = #util.inline.never} = #stream.parameter.named<"model"::"w -> {"> : tensor<4x?xf32, #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32], user_indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>]>>
// uses: ; regions: 1
util.initializer attributes {iree.compiler.consteval} {
  // uses: ; types: !stream.resource<variable>
  %0 = util.global.load immutable @g : !stream.resource<variable>
  // uses: %0
  util.global.store %0, @g : !stream.resource<variable>
  // uses: ; types: !util.ptr<i32>
  %1 = util.global.address @g : !util.ptr<i32>
  // uses: %1 ; types: i32
  %2 = util.global.load.indirect %1 : !util.ptr<i32> -> i32
  // uses: %2 %1
  util.global.store.indirect %2, %1 : i32 -> !util.ptr<i32>
  util.return
}
// -----
// uses: ; regions: 1 ; arguments: %a %b
util.func public @attributes(%a: tensor<?x4xf32> {iree.abi.output = 1 : index}, %b: index {util.assume = "%x"}) -> (tensor<?x4xf32> {iree.abi.encoding = "-> {"}, %a as tensor<?x4xf32>) attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @f(%in: tensor<?x4xf32>) -> (%out)"}} {
  // uses: %a %b %a ; types: tensor<?x4xf32> tensor<4xf32>
  %0:2 = util.call @callee(%a, %b) : (tensor<?x4xf32>, index) -> (%a as tensor<?x4xf32>, tensor<4xf32>)
  // uses: %0 %0 ; types: tensor<?x4xf32> tensor<4xf32>
  %1:2 = util.optimization_barrier %0#0, %0#1 : tensor<?x4xf32>, tensor<4xf32>
  // uses: %b %b %b %b ; types: index
  %2 = util.switch index from [%b, %b] at %b else %b : index
  // uses: %b %b ; types: index
  %3 = util.align %b, %b : index
  // uses: ; regions: 0 ; types: tensor<?x4xf32>
  %4 = util.scf.unreachable "never {" : tensor<?x4xf32>
  // uses: %0 %1
  util.return %0#0, %1#0 : tensor<?x4xf32>, tensor<?x4xf32>
}
// -----
util.func private @buffers(%b: !util.buffer, %n: index, %v: f32, %l: !util.list<?>) {
  // uses: %n ; types: !util.buffer
  %0 = util.buffer.alloc uninitialized {alignment = 64 : index} : !util.buffer{%n}
  // uses: %0 %n %n %n ; types: !util.buffer
  %1 = util.buffer.subspan %0[%n] : !util.buffer{%n} -> !util.buffer{%n}
  // uses: %1 %n %0 %n %n %n %n
  util.buffer.copy %1[%n], %0[%n], %n : !util.buffer{%n} -> !util.buffer{%n}
  // uses: %0 %n %1 %n %n %n %n
  %2 = util.buffer.compare %0[%n], %1[%n], %n : !util.buffer{%n}, !util.buffer{%n}
  // uses: %v %0 %n %n %n
  util.buffer.fill %v, %0[%n for %n] : f32 -> !util.buffer{%n}
  // uses: %0 %n %n %n ; types: f32
  %3 = util.buffer.load %0[%n for %n] : !util.buffer{%n} -> f32
  // uses: %v %0 %n %n %n
  util.buffer.store %v, %0[%n for %n] : f32 -> !util.buffer{%n}
  // uses: %0 %n ; types: memref<?xi8> index
  %4:2 = util.buffer.storage %0 : !util.buffer{%n} -> (memref<?xi8>, index)
  // uses: ; types: !util.buffer
  %5 = util.buffer.constant "name" {alignment = 64 : i64, mime_type = "text/plain"} : !util.buffer = "a } string"
  // uses: %l %n ; types: !util.buffer
  %6 = util.list.get %l[%n] : !util.list<?> -> !util.buffer
  // uses: %l %n %0
  util.list.set %l[%n], %0 : !util.buffer -> !util.list<?>
  // uses: %l %0 ; types: !util.list<?>
  %7 = util.list.construct [%l : !util.list<?>, %0 : !util.buffer] : !util.list<?>
  util.return
}
// -----
// uses: ; regions: 1
vm.module public @m attributes {ordinal_counts = #vm.ordinal_counts<import_funcs = 1, export_funcs = 0>, version = 3 : i32} {
  // uses: %device %key %rest
  vm.import private optional @hal.device.query(%device : !vm.ref<!hal.device>, %key : !vm.buffer, %rest : tuple<i32, i64> ...) -> (i32, i64) attributes {minimum_version = 1 : i32, nosideeffects}
  // uses:
  vm.export @f as("main") attributes {iree.reflection = {}}
  // uses:
  vm.rodata private @data {alignment = 16 : i64} dense<[1, 2, 3]> : tensor<3xi8>
  // uses:
  vm.global.ref private mutable @state : !vm.ref<!hal.executable>
  // uses: ; regions: 1 ; arguments: %a %b
  vm.func private @f(%a: i32, %b: !vm.ref<!hal.device>) -> i32 attributes {inlining_policy = #util.inline.never} {
    // uses: %b %a %a %a %a ; types: i32
    %0 = vm.call.variadic @hal.device.query(%b, %a, [(%a, %a), (%a)]) : (!vm.ref<!hal.device>, i32, tuple<i32, i64> ...) -> i32
    // uses: ; types: !vm.buffer
    %1 = vm.rodata.inline "text" {alignment = 1 : i64} : !vm.buffer = "a { b"
    // uses: %a %0 %a %0 ; successors: 2
    vm.cond_br %a, ^bb1(%0 : i32), ^bb2(%a, %0 : i32, i32)
  ^bb1(%c: i32):
    // uses: %c %c %a %a ; successors: 3
    vm.br_table %c {
      default: ^bb2(%c, %a : i32, i32),
      0: ^bb1(%a : i32),
      1: ^bb3
    }
  ^bb2(%d: i32, %e: i32):
    // uses: %d
    vm.cond_fail %d, "message }"
    vm.return %d : i32
  ^bb3:
    vm.fail %a, "other"
  }
}
// -----
func.func @linalg_ext(%t: tensor<?x?xf32>, %o: tensor<?x?xf32>, %ix: tensor<?x1xi32>, %n: index, %f: f32) {
  // uses: %t %ix %o ; regions: 1 ; types: tensor<?x?xf32>
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%t, %ix : tensor<?x?xf32>, tensor<?x1xi32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    iree_linalg_ext.yield %s : f32
  } -> tensor<?x?xf32>
  // uses: %o %o ; regions: 1 ; types: tensor<?x?xf32> tensor<?x?xf32>
  %1:2 = iree_linalg_ext.sort dimension(1) outs(%o, %o : tensor<?x?xf32>, tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %s = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %s : i1
  } -> tensor<?x?xf32>, tensor<?x?xf32>
  // uses: %t %t %t %f %o ; regions: 1 ; types: tensor<?x?xf32>
  %2 = iree_linalg_ext.attention {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]} ins(%t, %t, %t, %f : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, f32) outs(%o : tensor<?x?xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<?x?xf32>
  // uses: %t %f %o ; types: tensor<?x?x8x4xf32>
  %3 = iree_linalg_ext.pack %t padding_value(%f : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %o : (tensor<?x?xf32> tensor<?x?x8x4xf32>) -> tensor<?x?x8x4xf32>
  // uses: %n %t %o ; types: tensor<?x?xf32>
  %4 = iree_linalg_ext.im2col strides = [1, 1] dilations = [1, 1] kernel_size = [3, 3] m_offset = [%n] * [1] k_offset = [0] * [1] batch_pos = [0] m_pos = [1, 2] k_pos = [3] ins(%t : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  // uses: %t %o ; regions: 1 ; arguments: %a %b ; types: tensor<?x?xf32>
  %5 = iree_linalg_ext.custom_op {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = [#iree_linalg_ext.iterator_type<parallel>]} ins(%t : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>):
    iree_linalg_ext.yield %a : tensor<?x?xf32>
  } -> tensor<?x?xf32>
  // uses: %t %n %n ; types: tensor<?x?xf32, #iree_encoding.testing<>>
  %6 = iree_encoding.set_encoding %t encoding_dims {%n, %n} : tensor<?x?xf32> -> tensor<?x?xf32, #iree_encoding.testing<>>
  return
}
// -----
func.func @gpu(%t: tensor<4x4xf32>, %v: vector<4x4xf32>, %n: index) {
  // uses: %t ; regions: 1 ; types: tensor<4x4xf32>
  %0 = iree_gpu.barrier_region ins(%t : tensor<4x4xf32>) {
  ^bb0(%a: tensor<4x4xf32>):
    iree_gpu.yield %a : tensor<4x4xf32>
  } : tensor<4x4xf32>
  // uses: %t %t %t ; types: tensor<4x4xf32>
  %1 = iree_codegen.inner_tiled ins(%t, %t) outs(%t) {indexing_maps = [affine_map<(i, j, k) -> (i, k)>], iterator_types = [#linalg.iterator_type<parallel>], kind = #iree_gpu.mma_layout<MFMA_F32_16x16x16_F16>} : tensor<4x4xf32>, tensor<4x4xf32> into tensor<4x4xf32>
  // uses: %t ; types: tensor<4x4xf32>
  %2 = iree_gpu.value_barrier %t : tensor<4x4xf32>
  // uses: %v ; types: vector<4x4xf32>
  %3 = iree_vector_ext.to_layout %v to layout(#iree_vector_ext.nested_layout<subgroup_tile = [1, 1], batch_tile = [1, 1], outer_tile = [1, 1], thread_tile = [4, 4], element_tile = [1, 1], subgroup_strides = [0, 0], thread_strides = [1, 4]>) {shared_memory_conversion} : vector<4x4xf32>
  // uses: ; types: index index
  %4:2 = iree_codegen.query_tile_sizes tensor<4x4xf32, #iree_encoding.testing<>> -> index, index
  return
}
// -----
util.func private @parameters(%b: !hal.buffer, %f: !hal.fence, %dev: !hal.device, %q: i64, %n: index, %o: i64, %scope: !util.buffer, %key: !util.buffer) {
  // uses: %dev %q %f %f %scope %key %o %n ; types: !hal.buffer
  %0 = io_parameters.load<%dev : !hal.device> affinity(%q) wait(%f) signal(%f) source(%scope) type("DeviceLocal") usage("Transfer") : !hal.buffer {
    %key[%o] : !hal.buffer{%n}
  }
  // uses: %dev %q %f %f %scope %b %key %o %n %n %o %n %n
  io_parameters.gather<%dev : !hal.device> affinity(%q) wait(%f) signal(%f) source(%scope) target(%b : !hal.buffer) {
    %key[%o] -> [%n for %n],
    "b -> c"[%o] -> [%n for %n]
  }
  // uses: %n %n
  check.expect_almost_eq(%n, %n, atol 1.0e-04, rtol 0.0) : index
  // uses: %n
  check.expect_eq_const(%n, dense<[1, 2]> : tensor<2xi32>) : tensor<2xi32>
  // uses: %b %n %n %n %b %n %n %n %b %n %n %n %n %n
  vmvx.binary op("add" : f32) lhs(%b offset %n strides[%n, %n] : !util.buffer) rhs(%b offset %n strides[%n, %n] : !util.buffer) out(%b offset %n strides[%n, %n] : !util.buffer) sizes(%n, %n)
  util.return
}
