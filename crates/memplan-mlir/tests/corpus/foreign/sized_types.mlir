// Types with the sizes they leave open, and results in the memory of operands.
// The line above an op says what is to be found in it.
util.func private @sizes(%r: !stream.resource<*>, %t: tensor<?x4xf32>, %d: index, %n: index, %p: index) {
  // uses: %n ; types: !stream.resource<transient>
  %a = stream.resource.alloc uninitialized : !stream.resource<transient>{%n}
  // uses: %p %n ; types: !stream.resource<transient> !stream.timepoint
  %b, %bt = stream.resource.alloca uninitialized await(%p) => !stream.resource<transient>{%n} => !stream.timepoint
  // uses: %bt %b %n ; types: !stream.timepoint
  %ct = stream.resource.dealloca await(%bt) => %b : !stream.resource<transient>{%n} => !stream.timepoint
  // uses: %t %d ; types: tensor<?x4xf32>
  %e = flow.tensor.tie_shape %t : tensor<?x4xf32>{%d}
  // uses: %t %d %n ; types: tensor<4x?xf32>
  %f = flow.tensor.reshape %t : tensor<?x4xf32>{%d} -> tensor<4x?xf32>{%n}
  // uses: %d %n ; types: tensor<?x?xf32>
  %g = flow.tensor.empty : tensor<?x?xf32>{%d, %n}
  // uses: ; types: index index
  %h:2 = acme.two : index, index
  // uses: %h %h ; types: tensor<?x?xf32>
  %i = flow.tensor.empty : tensor<?x?xf32>{%h#1, %h#0}
  // uses: %r %n %p %n %p ; types: !stream.resource<*>
  %j = stream.async.slice %r[%n to %p] : !stream.resource<*>{%n} -> !stream.resource<*>{%p}
  // uses: %n %r %n %p %p %r %n ; types: !stream.resource<*>
  %k = stream.async.fill %n, %r[%n to %p for %p] : index -> %r as !stream.resource<*>{%n}
  // uses: %n %p %r %n %p %n %n %n %r %n ; types: ?
  %l = stream.async.dispatch @module::@entry[%n, %p](%r[%n to %p for %n], %n) : (!stream.resource<*>{%n}, index) -> %r{%n}
  // uses: %t %n %d %t %d ; types: tensor<?x4xf32> i32
  %m:2 = util.call @callee(%t, %n) : (tensor<?x4xf32>{%d}, index) -> (%t as tensor<?x4xf32>{%d}, i32)
  // uses: %r %d %n %d %n ; types: !stream.resource<*>
  %o = stream.tensor.clone %r : tensor<?x4xf32>{%d} in !stream.resource<*>{%n} -> tensor<?x4xf32>{%d} in !stream.resource<*>{%n}
  // uses: %t %r %n %d %n %r %n ; types: !stream.resource<*>
  %q = stream.tensor.update %t, %r[%n] : tensor<?x4xf32>{%d} in !stream.resource<*>{%n} -> tensor<4xf32> in %r as !stream.resource<*>{%n}
  // uses: %d ; types: index
  %s = stream.tensor.sizeof tensor<?x4xf32>{%d} : index
  // uses: %bt %r %a %n %n ; types: !stream.resource<external> !stream.resource<transient>
  %u:2 = stream.timepoint.await %bt => %r, %a : !stream.resource<external>{%n}, !stream.resource<transient>{%n}
  // uses: %r %d %n
  flow.tensor.trace "shown" = [
    %r : tensor<?xf32>{%d},
    %n : index
  ]
  // uses: %n %p
  stream.resource.constants :
    !stream.resource<constant>{%n} = dense<0> : tensor<4xi8>,
    !stream.resource<constant>{%p} = #util.byte_pattern<1> : tensor<2xi8>
    => !stream.timepoint
  // uses: %n %p %d ; types: index ? ?
  %w:3 = stream.resource.pack offset(%n) slices({
    [0, 4] = %p,
    [2, 9] = %d
  }) : index
  // uses: %n ; types: tensor <4xf32>
  %x = acme.splat %n : tensor <4xf32>
  // uses:
  util.return
}
