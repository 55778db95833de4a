// Branches, variadic types and functions of dialects that nobody here knows.
vm.module @m {
  // uses: %a %b %c
  vm.import private @other.run(%a : !vm.ref<!hal.device>, %b : i32 ..., %c : tuple<i32, i64> ...) -> i32 attributes {minimum_version = 1 : i32}
  // uses:
  vm.rodata private @bytes {alignment = 16 : i64} dense<[1, 2]> : tensor<2xi8>
  // uses: ; regions: 1 ; arguments: %i %d
  vm.func private @f(%i : i32, %d : !vm.ref<!hal.device>) -> i32 {
    // uses: %d %i %i %i %i ; types: i32
    %r = vm.call.variadic @other.run(%d, [%i, %i], [(%i, %i)]) {nosideeffects} : (!vm.ref<!hal.device>, i32 ..., tuple<i32, i64> ...) -> i32
    // uses: %i %r ; successors: 3
    vm.br_table %i {
      default: ^one(%r : i32),
      0: ^two,
      5: ^two
    }
  ^one(%x: i32):
    // uses: %x %x ; successors: 2
    vm.cond_br %x, ^one(%x : i32), ^two
  ^two:
    // uses: %i %r %i ; types: i32
    %s = vm.switch.i32 %i[%r] else %i : i32
    // uses: %s
    vm.return %s : i32
  }
  // uses:
  vm.export @f as("run")
  // uses: ; regions: 1
  vm.initializer {
    vm.return
  }
}
// -----
hal.executable private @ex {
  // uses: ; regions: 1
  hal.executable.variant public @cpu target(<"llvm-cpu", "elf", {a = "b"}>) objects([#hal.executable.object<{path = "x"}>]) {
    // uses: ; regions: 1 ; arguments: %device ; types:
    hal.executable.condition(%device: !hal.device) -> i1 {
      // uses: %device ; types: i1 i1
      %ok, %v = hal.device.query<%device : !hal.device> key("sys" :: "x") : i1, i1 = false
      hal.return %v : i1
    }
    // uses: ; regions: 1 ; arguments: %device %x %y
    hal.executable.export public @entry ordinal(0) layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.b<storage_buffer>]>) count(%device: !hal.device, %x: index, %y: index) -> (index, index, index) {
      hal.return %x, %y, %x : index, index, index
    } attributes {workgroup_size = [1 : index]}
    builtin.module {
      func.func @entry() {
        %c0 = arith.constant 0 : index
        // uses: %c0 %c0 ; types: !flow.dispatch.tensor<readonly:tensor<?xf32>>
        %b = hal.interface.binding.subspan layout(<bindings = [#hal.b<storage_buffer>]>) binding(0) alignment(64) offset(%c0) : !flow.dispatch.tensor<readonly:tensor<?xf32>>{%c0}
        return
      }
    }
    // uses: ; regions: 1 ; arguments: %device
    hal.executable.constant.block(%device: !hal.device) -> (i32, i32) as ("a", "b") {
      hal.return %device, %device : i32, i32
    }
  }
}
// -----
func.func @tagged(%a: tensor <4xf32>, %b: tensor<4xf32>) -> tensor <4xf32> {
  // uses: %a %b ; regions: 1 ; types: tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor <4xf32>) outs(%b : tensor<4xf32>) attrs = {"tag"} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
util.global private mutable @g = #util.uninitialized : tensor<4xf32>
flow.executable private @e {
  // uses: ; regions: 1 ; arguments: %a
  flow.executable.export public @d workgroups(%a: index) -> (index, index, index) {
    flow.return %a, %a, %a : index, index, index
  }
}
util.func private @callee(%x: tensor<?xf32>, %n: index) -> (%x as tensor<?xf32>, i32)
