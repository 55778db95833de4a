"""One allocation instead of two: a pass over MLIR text."""

import memplan

PROGRAM = """
func.func @f(%in: memref<256xf32>) {
  %a = memref.alloc() : memref<256xf32>
  memref.copy %in, %a : memref<256xf32> to memref<256xf32>
  memref.copy %a, %in : memref<256xf32> to memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  memref.copy %in, %b : memref<256xf32> to memref<256xf32>
  memref.copy %b, %in : memref<256xf32> to memref<256xf32>
  return
}
"""

new = memplan.opt(PROGRAM, "merge-alloc", alignment=64)
print(new.text)
for saving in new.savings:
    print(f"{saving.function}: {saving.before} bytes before, {saving.after} after")
assert new.savings[0].after == 1024
