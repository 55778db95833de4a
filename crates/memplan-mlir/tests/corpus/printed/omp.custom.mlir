module {
  func.func private @use(memref<16xi32>)
  func.func @teams(%arg0: index, %arg1: index, %arg2: index, %arg3: i32, %arg4: memref<16xi32>) {
    omp.parallel num_threads(%arg3 : i32) {
      omp.wsloop nowait {
        omp.loop_nest (%arg5, %arg6) : index = (%arg0, %arg0) to (%arg1, %arg1) step (%arg2, %arg2) {
          %alloc = memref.alloc() : memref<16xi32>
          func.call @use(%alloc) : (memref<16xi32>) -> ()
          omp.yield
        }
      }
      omp.sections {
        omp.section {
          omp.terminator
        }
        omp.section {
          func.call @use(%arg4) : (memref<16xi32>) -> ()
          omp.terminator
        }
        omp.terminator
      }
      omp.single nowait {
        func.call @use(%arg4) : (memref<16xi32>) -> ()
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
}

// -----
module {
  func.func private @use(memref<16xi32>)
  func.func @tasks(%arg0: index, %arg1: index, %arg2: index, %arg3: memref<16xi32>) {
    omp.task {
      func.call @use(%arg3) : (memref<16xi32>) -> ()
      omp.terminator
    }
    omp.taskwait
    omp.taskgroup {
      omp.taskloop {
        omp.loop_nest (%arg4) : index = (%arg0) to (%arg1) step (%arg2) {
          func.call @use(%arg3) : (memref<16xi32>) -> ()
          omp.yield
        }
      }
      omp.taskloop nogroup {
        omp.loop_nest (%arg4) : index = (%arg0) to (%arg1) step (%arg2) {
          func.call @use(%arg3) : (memref<16xi32>) -> ()
          omp.yield
        }
      }
      omp.terminator
    }
    return
  }
}

// -----
module {
  func.func private @use(memref<16xi32>)
  func.func @devices(%arg0: memref<16xi32>) {
    %0 = omp.map.info var_ptr(%arg0 : memref<16xi32>, tensor<16xi32>) map_clauses(tofrom) capture(ByRef) -> memref<16xi32>
    omp.target nowait {
      omp.terminator
    }
    omp.target {
      omp.terminator
    }
    return
  }
}

