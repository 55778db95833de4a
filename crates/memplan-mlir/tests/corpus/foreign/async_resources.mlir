// Asynchronous work on resources, channels and files: transfers, loads, stores, splats, joins.
util.func private @async(%r: !stream.resource<*>, %n: index, %o: index, %v: i32, %tp: !stream.timepoint, %buf: !util.buffer, %view: !hal.buffer_view, %ch: !stream.channel, %fence: !hal.fence) {
  // uses: %v %n ; types: !stream.resource<*>
  %a = stream.async.splat %v : i32 -> !stream.resource<*>{%n}
  // uses: %n ; types: !stream.resource<*>
  %b = stream.async.alloca : !stream.resource<*>{%n}
  // uses: %n
  %c = stream.async.constant on(#hal.device.affinity<@dev>) : !stream.resource<constant>{%n} = dense<[1, 2, 3]> : tensor<3xi32>
  // uses: %r %n %n ; types: !stream.resource<transient>
  %d = stream.async.transfer %r : !stream.resource<*>{%n} from(#hal.device.affinity<@a>) -> to(#hal.device.affinity<@b>) !stream.resource<transient>{%n}
  // uses: %d %o %n ; types: f32
  %e = stream.async.load %d[%o] : !stream.resource<transient>{%n} -> f32
  // uses: %e %d %o %d %n ; types: !stream.resource<transient>
  %f = stream.async.store %e, %d[%o] : f32 -> %d as !stream.resource<transient>{%n}
  // uses: %a %r %o %n %n %r %n ; types: !stream.resource<*>
  %g = stream.async.update %a, %r[%o to %n] : !stream.resource<*>{%n} -> %r as !stream.resource<*>{%n}
  // uses: %a %o %n %r %o %n %n %n %r %n ; types: !stream.resource<*>
  %h = stream.async.copy %a[%o to %n], %r[%o to %n], %n : !stream.resource<*>{%n} -> %r as !stream.resource<*>{%n}
  // uses: %n %ch %r %o %n %n %a %o %n %n %n %a %n ; types: !stream.resource<*>
  %i = stream.async.collective<all_gather : f32>[%n] on(#hal.device.affinity<@dev>) channel(%ch) %r[%o to %n for %n], %a[%o to %n for %n] : !stream.resource<*>{%n} -> %a as !stream.resource<*>{%n}
  // uses: %tp %r %n %a %n %n ; regions: 1 ; arguments: %x %y ; types: !stream.resource<*> !stream.timepoint
  %j, %jt = stream.async.execute on(#hal.device.affinity<@dev>) await(%tp) => with(%r as %x: !stream.resource<*>{%n}, %a as %y: !stream.resource<*>{%n}) -> (!stream.resource<*>{%n}) {
    // uses: %x %n %n ; types: !stream.resource<*>
    %k = stream.async.clone %x : !stream.resource<*>{%n} -> !stream.resource<*>{%n}
    // uses: %k %n %y %n %n ; regions: 1 ; arguments: %p %q
    %l = stream.async.concurrent with(%k as %p: !stream.resource<*>{%n}, %y as %q: !stream.resource<*>{%n}) -> !stream.resource<*>{%n} {
      // uses: %p %n
      stream.yield %p : !stream.resource<*>{%n}
    }
    stream.yield %l : !stream.resource<*>{%n}
  } => !stream.timepoint
  // uses: %tp %jt ; types: !stream.timepoint
  %m = stream.timepoint.join max(%tp, %jt) => !stream.timepoint
  // uses: %r %a %n %n ; types: !stream.resource<*> !stream.resource<*> !stream.timepoint
  %s:2, %st = stream.timepoint.barrier %r, %a : !stream.resource<*>{%n}, !stream.resource<*>{%n} => !stream.timepoint
  // uses: %fence ; types: !stream.timepoint
  %t = stream.timepoint.import on(#hal.device.affinity<@dev>) %fence : (!hal.fence) => !stream.timepoint
  // uses: %m ; types: !hal.fence
  %u = stream.timepoint.export %m => (!hal.fence)
  // uses: %m %fence
  stream.timepoint.chain_external %m => (%fence : !hal.fence)
  // uses: ; types: !stream.timepoint
  %w = stream.timepoint.immediate => !stream.timepoint
  // uses: %r
  %x0 = stream.resource.size %r : !stream.resource<*>
  // uses: %buf %o %n %n
  %f0 = stream.file.constant on(#hal.device.affinity<@dev>) %buf[%o for %n] : !util.buffer{%n} -> !stream.file
  // uses: %tp %f0 %v %r %o %n %n
  %f1 = stream.file.read await(%tp) => %f0[%v], %r[%o], %n : !stream.file -> !stream.resource<*>{%n} => !stream.timepoint
  // uses: %ch ; types: index
  %c1 = stream.channel.rank %ch : index
  // uses: %ch %n %n ; types: !stream.channel
  %c2 = stream.channel.split %ch, %n, %n : !stream.channel -> !stream.channel
  // uses: %view %n %n ; types: !stream.resource<external>
  %i0 = stream.tensor.import on(#hal.device.affinity<@dev>) consume %view : !hal.buffer_view -> tensor<?xf32>{%n} in !stream.resource<external>{%n}
  // uses: %i0 %n %n ; types: !hal.buffer_view
  %e0 = stream.tensor.export %i0 : tensor<?xf32>{%n} in !stream.resource<external>{%n} -> !hal.buffer_view
  // uses: %v %n %n ; types: !stream.resource<*>
  %p0 = stream.tensor.splat %v : i32 -> tensor<?x1x10xi32>{%n} in !stream.resource<*>{%n}
  // uses: %n
  %p1 = stream.tensor.constant : tensor<?x5x64xf32>{%n} in !stream.resource<constant> = dense<0.0> : tensor<1x5x64xf32>
  // uses: %r %o %n %n %n ; types: f32
  %p2 = stream.tensor.load %r[%o, %n] : tensor<?x4xf32>{%n} in !stream.resource<*>{%n} -> f32
  // uses: %r %o %n %n
  %q0 = stream.resource.subview %r[%o] : !stream.resource<*>{%n} -> !stream.resource<*>{%n}
  util.return
}
