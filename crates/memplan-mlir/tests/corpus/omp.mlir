func.func private @use(memref<16xi32>)
func.func @teams(%lb: index, %ub: index, %st: index, %n: i32, %a: memref<16xi32>) {
  omp.parallel num_threads(%n : i32) {
    omp.wsloop nowait {
      omp.loop_nest (%i, %j) : index = (%lb, %lb) to (%ub, %ub) step (%st, %st) {
        %t = memref.alloc() : memref<16xi32>
        func.call @use(%t) : (memref<16xi32>) -> ()
        omp.yield
      }
    }
    omp.sections {
      omp.section {
        omp.terminator
      }
      omp.section {
        func.call @use(%a) : (memref<16xi32>) -> ()
        omp.terminator
      }
      omp.terminator
    }
    omp.single nowait {
      func.call @use(%a) : (memref<16xi32>) -> ()
      omp.terminator
    }
    omp.master {
      omp.terminator
    }
    omp.masked {
      omp.terminator
    }
    omp.critical {
      omp.terminator
    }
    omp.barrier
    omp.terminator
  }
  omp.teams {
    omp.terminator
  }
  return
}
// -----
func.func private @use(memref<16xi32>)
func.func @tasks(%lb: index, %ub: index, %st: index, %a: memref<16xi32>) {
  omp.task {
    func.call @use(%a) : (memref<16xi32>) -> ()
    omp.terminator
  }
  omp.taskwait
  omp.taskgroup {
    omp.taskloop {
      omp.loop_nest (%i) : index = (%lb) to (%ub) step (%st) {
        func.call @use(%a) : (memref<16xi32>) -> ()
        omp.yield
      }
    }
    omp.taskloop nogroup {
      omp.loop_nest (%i) : index = (%lb) to (%ub) step (%st) {
        func.call @use(%a) : (memref<16xi32>) -> ()
        omp.yield
      }
    }
    omp.terminator
  }
  return
}
// -----
func.func private @use(memref<16xi32>)
func.func @devices(%a: memref<16xi32>) {
  %m = omp.map.info var_ptr(%a : memref<16xi32>, tensor<16xi32>) map_clauses(tofrom) capture(ByRef) -> memref<16xi32>
  omp.target nowait {
    omp.terminator
  }
  omp.target {
    omp.terminator
  }
  return
}
