//! Another NPU, described in a file.

use memplan::driver::{Failure, How};
use memplan::pass::{PassSpec, find};
use memplan::source::Source;

use crate::kernels::addresses;

const DEVICE: &str = r##"
name = "Acme-1"
scope = [
  { name = "sram", spellings = ["#acme.space<sram>", "7"], capacity = 4096, alignment = 128 },
]
pipe = [
  { ops = "acme.fetch*", name = "dma-in", touches = "outs" },
  { ops = "acme.send", name = "dma-out", touches = "ins" },
]
"##;

const KERNEL: &str = r##"
func.func @kernel(%in: memref<256xf32>, %out: memref<256xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<256xf32, #acme.space<sram>>
    annotation.mark %a {hivm.multi_buffer = 2 : i32} : memref<256xf32, #acme.space<sram>>
    acme.fetch_row ins(%in : memref<256xf32>) outs(%a : memref<256xf32, #acme.space<sram>>)
    %b = memref.alloc() : memref<256xf32, 7>
    linalg.exp ins(%a : memref<256xf32, #acme.space<sram>>) outs(%b : memref<256xf32, 7>)
    %c = memref.alloc() : memref<256xf32, #acme.space<sram>>
    linalg.abs ins(%b : memref<256xf32, 7>) outs(%c : memref<256xf32, #acme.space<sram>>)
    acme.send ins(%c : memref<256xf32, #acme.space<sram>>) outs(%out : memref<256xf32>)
  }
  return
}
"##;

#[test]
fn a_device_of_ones_own() {
    let spec: PassSpec = "plan-memory".parse().unwrap();
    let pass = find(&spec.name).unwrap();
    let how = How { device: Some(DEVICE.parse().unwrap()), ..How::default().strict() };
    let rewritten = pass.run(&Source::new("kernel.mlir", KERNEL), &spec.options, &how).unwrap();
    let found = addresses(rewritten.text());
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().flat_map(|(_, list)| list).all(|address| address % 128 == 0 && address + 1024 <= 4096));
    let small = DEVICE.replace("4096", "2048");
    let how = How { device: Some(small.parse().unwrap()), ..How::default().strict() };
    let error = pass.run(&Source::new("kernel.mlir", KERNEL), &spec.options, &how).unwrap_err();
    assert!(matches!(&error, Failure::DoesNotFit(why) if why.contains("sram overflow")), "{error}");
}

const NESTED: &str = r##"
func.func @inner(%x: memref<64xf16, #hivm.address_space<ub>>, %out: memref<64xf16, #hivm.address_space<gm>>) {
  %t = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
  hivm.hir.vexp ins(%x : memref<64xf16, #hivm.address_space<ub>>) outs(%t : memref<64xf16, #hivm.address_space<ub>>)
  hivm.hir.store ins(%t : memref<64xf16, #hivm.address_space<ub>>) outs(%out : memref<64xf16, #hivm.address_space<gm>>)
  return
}
func.func @outer(%in: memref<64xf16, #hivm.address_space<gm>>) {
  %a = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
  hivm.hir.load ins(%in : memref<64xf16, #hivm.address_space<gm>>) outs(%a : memref<64xf16, #hivm.address_space<ub>>)
  func.call @inner(%a, %in) : (memref<64xf16, #hivm.address_space<ub>>, memref<64xf16, #hivm.address_space<gm>>) -> ()
  return
}
"##;

#[test]
fn a_kernel_that_calls_a_kernel_is_refused() {
    let error = crate::kernels::run(NESTED, "plan-memory").unwrap_err().to_string();
    assert!(error.contains("inline it first"), "{error}");
}
