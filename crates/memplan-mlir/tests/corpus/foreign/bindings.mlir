// Values in braces, angle brackets and renamed lists; regions behind them.
util.func public @bindings(%arg0: !stream.resource<*>, %arg1: index, %arg2: !hal.device, %scope: !util.buffer, %key: !util.buffer) -> %arg0 as !stream.resource<*> {
  // uses: %arg1 %arg0 %arg1 ; regions: 1 ; arguments: %inner ; types: !stream.timepoint
  %a = stream.cmd.execute once on(#hal.affinity<@d>) await(%arg1) => with(%arg0 as %inner: !stream.resource<external>{%arg1}) {
    // uses: %arg1 %arg1 %arg1 %inner %arg1 %arg1 %arg1 %arg0 %arg1 %arg1 %arg1
    stream.cmd.dispatch @module::@entry[%arg1, %arg1](%arg1 : index) {
      ro %inner[%arg1 for %arg1] : !stream.resource<external>{%arg1},
      wo %arg0[%arg1 for %arg1] : !stream.resource<external>{%arg1}
    }
    // uses: ; regions: 1
    stream.cmd.concurrent {
      // uses: %inner %arg1 %inner %arg1 %arg1 %arg1 %arg1
      stream.cmd.copy %inner[%arg1], %inner[%arg1], %arg1 : !stream.resource<external>{%arg1} -> !stream.resource<external>{%arg1}
    }
    // uses: %arg1 %arg2 %inner %arg1 %arg1 %arg1
    stream.cmd.collective<all_reduce with sum : f32>[%arg1] channel(%arg2) {
      rw %inner[%arg1 for %arg1] : !stream.resource<external>{%arg1}
    }
  } => !stream.timepoint
  // uses: %a %scope %key %arg1 %arg0 %arg1 %arg1 %arg1 %arg1 %arg0 %arg1 %arg1 %arg1 ; types: !stream.timepoint
  %b = stream.parameter.gather await(%a) => {
    %scope::%key[%arg1] -> %arg0[%arg1 for %arg1] : !stream.resource<*>{%arg1},
    "scope"::"key"[%arg1] -> %arg0[%arg1 for %arg1] : !stream.resource<*>{%arg1}
  } => !stream.timepoint
  // uses: %scope %key %arg1 %arg1 ; types: !stream.resource<constant> !stream.timepoint
  %c, %ct = stream.parameter.load %scope::%key[%arg1] : !stream.resource<constant>{%arg1} => !stream.timepoint
  // uses: %arg2 %scope %arg1 ; types: i32
  %d = hal.buffer.load<%arg2 : !hal.buffer>[%scope] offset(%arg1) : i32
  // uses: %arg2 %arg0 %arg1 %arg1 %arg1 %arg0 %arg1 %arg1
  hal.command_buffer.dispatch<%arg2 : !hal.command_buffer> target(%arg0 : !hal.executable)[%arg1] workgroups([%arg1, %arg1]) bindings([
    (%arg0 : !hal.buffer)[%arg1, %arg1]
  ]) flags("None")
  // uses: %arg2 ; regions: 2 ; types: i32
  %e = hal.device.switch<%arg2 : !hal.device> -> i32
    #hal.device.match.id<"a"> {
      hal.return %d : i32
    },
    #hal.match.any {
      hal.return %d : i32
    }
  // uses: %arg1 %arg1 ; types: index index
  %f:2 = util.assume.int %arg1<umin = 0, umax = 16>, %arg1[<umin = 1>, <udiv = 4>] : index, index
  // uses: %arg1 %arg0 %arg1 %arg1 ; regions: 2 ; arguments: %arg0 %arg1 ; types: tensor<?xf32>
  %g = flow.dispatch.workgroups[%arg1](%arg0, %arg1) : (tensor<?xf32>{%arg1}, index) -> tensor<?xf32> =
      (%arg0: !flow.dispatch.tensor<readonly:tensor<?xf32>>, %arg1: index) {
    // uses: %arg0 %arg1 %arg1
    %x = flow.dispatch.tensor.load %arg0, offsets = [0], sizes = [%arg1], strides = [1] : !flow.dispatch.tensor<readonly:tensor<?xf32>>{%arg1} -> tensor<?xf32>
    flow.return
  } count(%w: index) -> (index, index, index) {
    // uses: %w %w %w
    flow.return %w, %w, %w : index, index, index
  }
  // uses: %arg1 %arg1 ; regions: 1 ; types: tensor<?x?xf32>
  %h = flow.dispatch.region -> (tensor<?x?xf32>{%arg1, %arg1}) {
    flow.return %g : tensor<?xf32>
  }
  // uses: %arg1 ; regions: 2 ; arguments: %i ; types: tensor<i32>
  %i1 = stablehlo.while(%i = %arg1) : tensor<i32>
    cond {
      stablehlo.return %i : tensor<i32>
    } do {
      // uses: %i
      stablehlo.return %i : tensor<i32>
    }
  // uses: %g %arg1 ; regions: 1 ; arguments: %p %q ; types: tensor<f32>
  %j = stablehlo.reduce(%g init: %arg1) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    reducer(%p: tensor<f32>, %q: tensor<f32>) {
    stablehlo.return %p : tensor<f32>
  }
  // uses: %arg1
  pdl.operation "a.b" {"size" = %arg1}
  // uses: %arg1 %arg1 %arg1 ; types: index index
  %k:2 = util.range.extents [%arg1 for %arg1], [%arg1 for 4] : index, index
  util.return %arg0 : !stream.resource<*>
}
// uses: ; regions: 1
util.initializer { util.return }
