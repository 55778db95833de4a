func.func @branches(%c: i1, %a: memref<4xf32>, %b: memref<4xf32>) -> memref<4xf32> {
  cf.cond_br %c, ^yes(%a, %b : memref<4xf32>, memref<4xf32>), ^no
^yes(%x: memref<4xf32>, %y: memref<4xf32>):
  cf.br ^join(%x : memref<4xf32>)
^no:
  cf.br ^join(%b : memref<4xf32>)
^join(%r: memref<4xf32>):
  return %r : memref<4xf32>
}
// -----
func.func @weights(%c: i1) {
  cf.cond_br %c weights([10, 90]), ^bb1, ^bb1
^bb1:
  cf.assert %c, "must hold ^bb2: \"quoted\""
  return
}
// -----
func.func @switch(%f: i32, %a: i32, %b: i32) {
  cf.switch %f : i32, [
    default: ^bb1(%a : i32),
    42: ^bb1(%b : i32),
    43: ^bb3
  ]
^bb1(%x: i32):
  cf.br ^bb3
^bb3:
  return
}
// -----
func.func @loop(%n: index) {
  %zero = arith.constant 0 : index
  cf.br ^head(%zero : index)
^head(%i: index):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^body, ^exit
^exit:
  "acme.use"(%i) : (index) -> ()
  return
^body:
  %late = arith.addi %i, %n : index
  cf.br ^head(%late : index)
}
// -----
func.func @forward(%c: i1) {
  cf.br ^b
^a:
  "acme.use"(%x) : (i32) -> ()
  return
^b:
  %x = "acme.make"() : () -> i32
  cf.br ^a
}
