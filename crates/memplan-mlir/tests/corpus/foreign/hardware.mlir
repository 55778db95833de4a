// Circuits: ports, registers, processes, state machines, schedules.
hw.module @Foo(in %clk : i1, in %a : i32, out o : i32, inout %x : i4) attributes {x = 1} {
  // uses: %a %a
  %0 = comb.add bin %a, %a : i32
  // uses: %a %a
  %1 = comb.icmp bin ult %a, %a : i32
  // uses: %a
  %2 = comb.extract %a from 3 : (i32) -> i4
  // uses: %a %a
  %3 = comb.concat %a, %a : i32, i32
  // uses: %1 %a %a
  %4 = comb.mux bin %1, %a, %a : i32
  // uses: %1
  %5 = comb.replicate %1 : (i1) -> i4
  // uses: %a %clk %1 %a
  %r = seq.compreg sym @s %a, %clk reset %1, %a preset 0 : i32
  // uses: %a %clk %1 %a
  %r2 = seq.firreg %a clock %clk reset sync %1, %a {firrtl.random_init_start = 0 : ui64} : i32
  // uses: %a %1
  %i.out, %i.b = hw.instance "inst" sym @i @Bar<P: i32 = 4>(in: %a: i32, "b-c": %1: i1) -> (out: i32, b: i1) {x}
  // uses: %a
  %w = hw.wire %a sym @w : i32
  // uses: %a %1
  %st = hw.struct_create (%a, %1) : !hw.struct<foo: i32, bar: i1>
  // uses: %st
  %f = hw.struct_extract %st["foo"] : !hw.struct<foo: i32, bar: i1>
  // uses: %a %a
  %arr = hw.array_create %a, %a : i32
  // uses: %arr %1
  %e = hw.array_get %arr[%1] : !hw.array<2xi32>, i1
  // uses:
  %ag = hw.aggregate_constant [0 : i32, 1 : i32] : !hw.array<2xi32>
  sv.always posedge %clk, negedge %1 {
    sv.if %1 {
      // uses: %w %a
      sv.bpassign %w, %a : i32
    } else {
      // uses: %fd %a
      sv.fwrite %fd, "x: %d\n"(%a) : i32
    }
  }
  sv.case casez %a : i4
  case b1x0z: {
    // uses:
    sv.exit
  }
  default: {
    // uses:
    sv.fatal 1
  }
  sv.ifdef @SYNTH {
  } else {
  }
  // uses: %a
  %v = sv.verbatim.expr "{{0}}"(%a) : (i32) -> i32
  llhd.process {
    // uses: %d %a
    llhd.wait %d, (%a : i32), ^bb1
  ^bb1:
    // uses:
    llhd.halt
  }
  // uses: %a %clk %1 %1
  arc.state @F(%a) clock %clk enable %1 reset %1 latency 1 : (i32) -> i32
  // uses: %0
  hw.output %0 : i32
}
// -----
firrtl.circuit "Foo" {
  firrtl.module @Foo(in %clk: !firrtl.clock, in %a: !firrtl.uint<1>, out %b: !firrtl.bundle<a: uint<1>, b flip: sint<2>>) attributes {convention = #firrtl<convention internal>} {
    // uses:
    %w = firrtl.wire sym @x interesting_name : !firrtl.uint<1>
    // uses:
    %m_r, %m_w = firrtl.mem Undefined {depth = 16 : i64, name = "m", portNames = ["r", "w"], readLatency = 0 : i32} : !firrtl.bundle<addr: uint<4>>, !firrtl.bundle<addr: uint<4>>
    // uses:
    %i_a, %i_b = firrtl.instance i interesting_name @Ext(in a: !firrtl.uint<1>, out b: !firrtl.uint<1>)
    firrtl.when %a : !firrtl.uint<1> {
      // uses: %w %a
      firrtl.matchingconnect %w, %a : !firrtl.uint<1>
    } else {
      // uses:
      firrtl.skip
    }
    // uses: %b
    %0 = firrtl.subfield %b[a] : !firrtl.bundle<a: uint<1>, b flip: sint<2>>
    // uses: %v %a
    %1 = firrtl.subaccess %v[%a] : !firrtl.vector<uint<1>, 2>, !firrtl.uint<1>
    // uses:
    %2 = firrtl.constant 1 : !firrtl.const.uint<1>
    // uses: %clk %a %a
    firrtl.printf %clk, %a, "x %x"(%a) : !firrtl.clock, !firrtl.uint<1>, !firrtl.uint<1>
    firrtl.match %e : !firrtl.enum<Some: uint<1>, None: uint<0>> {
      case Some(%arg0) {
        // uses:
        firrtl.skip
      }
      case None(%arg0) {
      }
    }
  }
}
// -----
handshake.func @simple(%arg0: index, %ctrl: none, ...) -> (index, none) attributes {argNames = ["a", "c"], resNames = ["o", "d"]} {
  %0:2 = fork [2] %arg0 : index
  %1, %2 = cond_br %0#0, %0#1 : index
  %3 = buffer [2] seq %1 : index
  %4 = merge %1, %2 : index
  // uses: %a
  %5:2 = handshake.memory[ld = 1, st = 0] (%a) {id = 0 : i32, lsq = false} : memref<10xf32>, (index) -> (f32, none)
  // uses: %4 %ctrl
  handshake.return %4, %ctrl : index, none
}
// -----
fsm.machine @foo(%arg0: i1) -> i1 attributes {initialState = "IDLE"} {
  // uses:
  %cnt = fsm.variable "cnt" {initValue = 0 : i16} : i16
  fsm.state @IDLE output {
    // uses: %arg0
    fsm.output %arg0 : i1
  } transitions {
    fsm.transition @BUSY guard {
      // uses: %arg0
      fsm.return %arg0
    } action {
      // uses: %cnt %c
      fsm.update %cnt, %c : i16
    }
  }
}
// -----
calyx.component @main(%go: i1 {go}, %clk: i1 {clk}) -> (%out: i32, %done: i1 {done}) {
  // uses:
  %r.in, %r.write_en, %r.clk, %r.reset, %r.out, %r.done = calyx.register @r : i32, i1, i1, i1, i32, i1
  calyx.wires {
    // uses: %go %c %r.in
    calyx.assign %r.in = %go ? %c : i1
    calyx.group @G {
      // uses: %r.done
      calyx.group_done %r.done : i1
    }
  }
  calyx.control {
    calyx.seq {
      // uses:
      calyx.enable @G
      calyx.while %r.out with @C {
        // uses:
        calyx.enable @G
      }
    }
  }
}
