// Front ends of programming languages.
// uses:
fir.global internal @blk(dense<1> : tensor<4xi32>) : !fir.array<4xi32>
func.func @fir(%a: !fir.ref<!fir.array<10xf32>> {fir.bindc_name = "a"}, %i: index, %b: !fir.box<!fir.array<?xf32>>) {
  // uses: %i
  %0 = fir.alloca !fir.array<?xi32>, %i {bindc_name = "x", uniq_name = "_QFEx"}
  // uses: %len
  %1 = fir.alloca !fir.char<1,?>(%len : index) {pinned}
  // uses: %a %sh
  %2 = fir.declare %a(%sh) {uniq_name = "a"} : (!fir.ref<!fir.array<10xf32>>, !fir.shape<1>) -> !fir.ref<!fir.array<10xf32>>
  // uses: %a %sh %ds %l
  %3:2 = hlfir.declare %a(%sh) dummy_scope %ds typeparams %l {uniq_name = "a"} : (!fir.ref<!fir.array<10xf32>>, !fir.shape<1>, !fir.dscope, index) -> (!fir.ref<!fir.array<10xf32>>, !fir.ref<!fir.array<10xf32>>)
  // uses: %3 %i %i %i %sh
  %4 = hlfir.designate %3#0 (%i:%i:%i)  shape %sh : (!fir.ref<!fir.array<10xf32>>, index, index, index, !fir.shape<1>) -> !fir.ref<!fir.array<10xf32>>
  // uses: %3 %sh %i %i %i %i %i %i %sh %l
  %5 = hlfir.designate %3#0{"comp"} <%sh> (%i, %i:%i:%i) substr %i, %i imag shape %sh typeparams %l : (!fir.ref<!fir.array<10xf32>>, index) -> !fir.ref<f32>
  %6 = hlfir.elemental %sh typeparams %l unordered : (!fir.shape<1>, index) -> !hlfir.expr<10xf32> {
  ^bb0(%idx: index):
    // uses: %x
    hlfir.yield_element %x : f32
  }
  // uses: %6 %3
  hlfir.assign %6 to %3#0 realloc keep_lhs_len temporary_lhs : !hlfir.expr<10xf32>, !fir.ref<!fir.array<10xf32>>
  %7 = fir.do_loop %k = %i to %i step %i unordered iter_args(%acc = %x) -> (f32) {
    // uses: %acc
    fir.result %acc : f32
  }
  %8:2 = fir.iterate_while (%iv = %i to %i step %i) and (%ok = %true) iter_args(%y = %x) -> (i1, f32) {
    // uses: %ok %y
    fir.result %ok, %y : i1, f32
  }
  fir.if %cond {
    // uses: %x %4
    fir.store %x to %4 : !fir.ref<f32>
  } else {
  }
  // uses: %a %sh %sl %l
  %9 = fir.embox %a(%sh) [%sl] typeparams %l : (!fir.ref<!fir.array<10xf32>>, !fir.shape<1>, !fir.slice<1>, index) -> !fir.box<!fir.array<?xf32>>
  // uses: %b %sl %i
  %10 = fir.array_coor %b[%sl] %i : (!fir.box<!fir.array<?xf32>>, !fir.slice<1>, index) -> !fir.ref<f32>
  // uses: %a %i
  %11 = fir.call @foo(%a, %i) fastmath<contract> : (!fir.ref<!fir.array<10xf32>>, index) -> f32
  // uses: %cls %cls %i
  %12 = fir.dispatch "proc1"(%cls : !fir.class<!fir.type<_QT{a:i32}>>) (%cls, %i : !fir.class<!fir.type<_QT{a:i32}>>, index) -> i32 {pass_arg_pos = 0 : i32}
  // uses: %n %c1 %c2 %c3 %n
  fir.select_case %n : i32 [#fir.point, %c1, ^bb1, #fir.interval, %c2, %c3, ^bb2(%n : i32), unit, ^bb3]
^bb1:
  // uses: %b
  fir.select_type %b : !fir.box<!fir.array<?xf32>> [#fir.type_is<i32>, ^bb3, unit, ^bb3]
^bb2(%z: i32):
  // uses:
  fir.unreachable
^bb3:
  return
}
// -----
cir.func dso_local @foo(%arg0: !s32i loc("x"), %p: !cir.ptr<!s32i>) -> !s32i extra(#fn_attr) {
  // uses:
  %0 = cir.alloca !s32i, !cir.ptr<!s32i>, ["x", init] {alignment = 4 : i64}
  // uses: %arg0 %0
  cir.store align(4) %arg0, %0 : !s32i, !cir.ptr<!s32i>
  // uses: %0
  %1 = cir.load deref align(8) %0 : !cir.ptr<!s32i>, !s32i
  // uses:
  %2 = cir.const #cir.int<1> : !s32i
  // uses: %1 %2
  %3 = cir.binop(add, %1, %2) nsw : !s32i
  cir.scope {
    cir.for : cond {
      // uses: %1 %2
      %4 = cir.cmp(lt, %1, %2) : !s32i, !cir.bool
      // uses: %4
      cir.condition(%4)
    } body {
      // uses:
      cir.yield
    } step {
      // uses:
      cir.yield
    }
  }
  cir.switch (%1 : !s32i) {
    cir.case(equal, [#cir.int<1> : !s32i]) {
      // uses:
      cir.break
    }
    cir.case(default, []) {
      // uses:
      cir.yield
    }
    // uses:
    cir.yield
  }
  // uses: %1
  %5 = cir.call @bar(%1) : (!s32i) -> !s32i
  // uses: %1
  %6 = cir.cast(int_to_bool, %1 : !s32i), !cir.bool
  %7 = cir.ternary(%6, true {
    // uses: %1
    cir.yield %1 : !s32i
  }, false {
    // uses: %2
    cir.yield %2 : !s32i
  }) : (!cir.bool) -> !s32i
  // uses: %1
  cir.return %1 : !s32i
}
