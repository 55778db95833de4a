// Devices, command buffers, virtual machine code, tests: forms with keyed operands, ranges and attributes between them.
util.func public @devices(%dev: !hal.device, %cmd: !hal.command_buffer, %buf: !hal.buffer, %other: !hal.buffer, %view: !hal.buffer_view, %exe: !hal.executable, %n: index, %o: index, %i: i32, %l: i64, %ch: !hal.channel, %fence: !hal.fence, %alloc: !hal.allocator) {
  // uses: %dev ; types: !hal.allocator
  %a = hal.device.allocator<%dev : !hal.device> : !hal.allocator
  // uses: %a %l %n ; types: !hal.buffer
  %b = hal.allocator.allocate<%a : !hal.allocator> affinity(%l) type("HostVisible|DeviceVisible") usage("Transfer") : !hal.buffer{%n}
  // uses: %a %b %o %n %l ; types: !hal.buffer
  %c = hal.allocator.import<%a : !hal.allocator> source(%b : !util.buffer)[%o, %n] affinity(%l) type(DeviceLocal) usage(Transfer) : i1, !hal.buffer
  // uses: %buf %o %n ; types: !hal.buffer
  %d = hal.buffer.subspan<%buf : !hal.buffer>[%o, %n] : !hal.buffer
  // uses: %buf %o %i
  hal.buffer.store<%buf : !hal.buffer>[%o] value(%i : i32)
  // uses: %buf %o %n %n %n %i %i ; types: !hal.buffer_view
  %e = hal.buffer_view.create buffer(%buf : !hal.buffer)[%o, %n] shape([%n, %n]) type(%i) encoding(%i) : !hal.buffer_view
  // uses: %e ; types: index
  %f = hal.buffer_view.dim<%e : !hal.buffer_view>[0] : index
  // uses: %view %n %o %i %i
  hal.buffer_view.assert<%view : !hal.buffer_view> message("tensor") shape([%n, %o]) type(%i) encoding(%i)
  // uses: %dev %l %n ; types: !hal.command_buffer
  %g = hal.command_buffer.create device(%dev : !hal.device) mode("OneShot|Nested") categories("Transfer|Dispatch") affinity(%l) bindings(%n) : !hal.command_buffer
  // uses: %cmd %buf %o %n %i
  hal.command_buffer.fill_buffer<%cmd : !hal.command_buffer> target(%buf : !hal.buffer)[%o, %n] pattern(%i : i32) flags("None")
  // uses: %cmd %buf %o %other %o %n
  hal.command_buffer.copy_buffer<%cmd : !hal.command_buffer> source(%buf : !hal.buffer)[%o] target(%other : !hal.buffer)[%o] length(%n) flags("None")
  // uses: %cmd
  hal.command_buffer.execution_barrier<%cmd : !hal.command_buffer> source("Dispatch|CommandRetire") target("CommandIssue|Dispatch") flags("None")
  // uses: %cmd %ch %i %buf %o %n %other %o %n %n
  hal.command_buffer.collective<%cmd : !hal.command_buffer> channel(%ch : !hal.channel) op(<all_reduce with sum : f32>) param(%i : i32) send(%buf : !hal.buffer)[%o, %n] recv(%other : !hal.buffer)[%o, %n] count(%n)
  // uses: %cmd
  hal.command_buffer.begin_debug_group<%cmd : !hal.command_buffer> label("group")
  // uses: %dev %l %fence %fence %cmd
  hal.device.queue.execute<%dev : !hal.device> affinity(%l) wait(%fence) signal(%fence) commands([%cmd])
  // uses: %dev %l %fence %fence %i %n ; types: !hal.buffer
  %h = hal.device.queue.alloca<%dev : !hal.device> affinity(%l) wait(%fence) signal(%fence) pool(%i) type("DeviceLocal") usage("Dispatch") : !hal.buffer{%n}
  // uses: %dev %l %fence %fence %fence %l %buf %o %n
  %j = hal.device.queue.read<%dev : !hal.device> affinity(%l) wait(%fence) signal(%fence) source(%fence : !hal.file)[%l] target(%buf : !hal.buffer)[%o] length(%n) flags("None")
  // uses: %fence %fence %i ; types: i32
  %k = hal.fence.await until([%fence, %fence]) timeout_millis(%i) flags("None") : i32
  // uses: %fence %fence ; types: !hal.fence
  %m = hal.fence.join at([%fence, %fence]) flags("None") -> !hal.fence
  // uses: %fence %view %n ; types: tensor<?x4xf32>
  %p = hal.tensor.import wait(%fence) => %view "input" : !hal.buffer_view -> tensor<?x4xf32>{%n}
  // uses: %p %n ; types: !hal.buffer_view
  %q = hal.tensor.export on(#hal.device.promise<@dev>) %p "output" : tensor<?x4xf32>{%n} -> !hal.buffer_view
  // uses: %p %fence
  %r:1 = hal.tensor.barrier join(%p : tensor<?x4xf32>) => %fence : !hal.fence
  // uses: %dev ; types: !hal.executable
  %s = hal.executable.lookup device(%dev : !hal.device) executable(@exe) : !hal.executable
  // uses: %n ; types: !hal.device
  %t = hal.devices.get %n : !hal.device
  // uses: %p
  check.expect_almost_eq_const(%p, dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
  // uses: %p %p
  check.expect_eq(%p, %p) : tensor<?x4xf32>
  // uses: %i
  check.expect_true(%i) : i32
  // uses: %n ; types: !util.buffer
  %u = util.buffer.alloc uninitialized {alignment = 64 : index} : !util.buffer{%n}
  // uses: %u %o %n %n ; types: !util.buffer
  %v = util.buffer.subspan %u[%o] : !util.buffer{%n} -> !util.buffer{%n}
  // uses: %u %o %v %o %n %n %n
  util.buffer.copy %u[%o], %v[%o], %n : !util.buffer{%n} -> !util.buffer{%n}
  // uses: %u %o %n %n ; types: i32
  %w = util.buffer.load %u[%o for %n] : !util.buffer{%n} -> i32
  // uses: %w %u %o %n %n
  util.buffer.store %w, %u[%o for %n] : i32 -> !util.buffer{%n}
  // uses: %n ; types: !util.list<?>
  %x = util.list.create %n : !util.list<?>
  // uses: %x %o ; types: i32
  %y = util.list.get %x[%o] : !util.list<?> -> i32
  // uses: %x %o %w
  util.list.set %x[%o], %w : i32 -> !util.list<?>
  // uses:
  %z = util.sizeof i32
  // uses: %n %o ; types: index
  %aa = util.align %n, %o : index
  // uses: %n %o %z %aa
  %bb = util.switch index from [%n, %o] at %z else %aa : index
  // uses: ; types: !util.ptr<tensor<4xf32>>
  %cc = util.global.address @g : !util.ptr<tensor<4xf32>>
  // uses: %cc ; types: tensor<4xf32>
  %dd = util.global.load.indirect %cc : !util.ptr<tensor<4xf32>> -> tensor<4xf32>
  // uses: %dd
  util.global.store %dd, @g : tensor<4xf32>
  // uses: %n ; types: index
  %ee = util.optimization_barrier %n : index
  // uses:
  util.scf.unreachable "never"
  util.return
}
