//! Planning on-chip memory from the command line: every option of the pass.

use crate::run::{Folder, Ran};

/// Kernels that the library's tests compare with records.
const KERNELS: &str = include_str!("../../../memplan/tests/plan_memory/conformance.mlir");

/// A folder with the kernel that has this function.
fn folder(function: &str) -> Folder {
    let mut parts = KERNELS.split("// -----\n");
    let kernel = parts.find(|part| part.contains(&format!("@{function}("))).unwrap();
    Folder::with(&[("kernel.mlir", kernel)])
}

fn opt(folder: &Folder, options: &str) -> Ran {
    folder.run_args(&["opt", "kernel.mlir", "--pass", &format!("plan-memory{{{options}}}")])
}

/// The operands of the cast of a value, as numbers.
fn cast(ran: &Ran, value: &str) -> Vec<u64> {
    let constant = |name: &str| {
        let (_, rest) = ran.stdout.split_once(&format!("{name} = arith.constant ")).unwrap();
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    let (_, rest) = ran.stdout.split_once(&format!("{value} = hivm.hir.pointer_cast(")).expect(&ran.stderr);
    rest.split(')').next().unwrap().split(", ").map(constant).collect()
}

#[test]
fn in_place_as_single_instructions_do_it() {
    let folder = folder("test_infer_not_inplace_loadstore_under_loop");
    let both = |options: &str| (cast(&opt(&folder, options), "%a"), cast(&opt(&folder, options), "%t"));
    let (a, t) = both("restrict-inplace-as-isa=false");
    assert_eq!(a, t);
    let (a, t) = both("restrict-inplace-as-isa");
    assert_ne!(a, t, "vabs is not one of them");
}

#[test]
fn the_largest_first() {
    let folder = folder("test_change_mem_plan_order");
    let places = |options: &str| ["%a", "%b", "%c", "%d"].map(|value| cast(&opt(&folder, options), value)[0]);
    assert_eq!(places("plan-memory-strategy=default"), [0, 16384, 147_456, 147_456]);
    assert_eq!(places("plan-memory-strategy=largest-first"), [131_072, 0, 131_072, 131_072]);
}

#[test]
fn memory_of_vector_functions() {
    let folder = folder("invalid_alloc_for_mix");
    let ran = opt(&folder, "simt-vf-dynamic-size=128");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("ub overflow, requires 1966080 bits while 1048576 bits available!"), "{}", ran.stderr);
    let ran = opt(&folder, "simt-vf-dynamic-size=127");
    assert_eq!(ran.code, 2);
    let message = "PlanMemory Fail : SimtVFDynamicSize have to in range [128, 216], but got 127!";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
}

#[test]
fn coupled_buffers_by_themselves() {
    let folder = folder("test_unique_memory_for_CV_tightly_coupled_buffer");
    assert_eq!(cast(&opt(&folder, ""), "%alloc_1"), [0]);
    assert_eq!(cast(&opt(&folder, "disable-tightly-coupled-buffer-reuse=true"), "%alloc_1"), [512]);
}

#[test]
fn vector_functions_between_load_and_store() {
    let folder = folder("test_no_reachable_check");
    assert_eq!(cast(&opt(&folder, ""), "%store"), [122_880]);
    let ran = opt(&folder, "disable-vf-reachable-check=true");
    assert_eq!(cast(&ran, "%store"), [0]);
    assert!(!ran.stdout.contains("122880 : i64"), "{}", ran.stdout);
}

#[test]
fn what_is_where_as_a_file() {
    let folder = folder("kernel_one_kill");
    let ran = opt(&folder, "enable-memory-display enable-print-memory-allocated-size");
    assert_eq!(folder.files(), ["kernel.mlir", "memory_info_aiv.json"]);
    let json: serde_json::Value = serde_json::from_str(&folder.read("memory_info_aiv.json")).unwrap();
    assert_eq!(json["Header"]["kernel_name"][0], "kernel_one_kill");
    assert_eq!((&json["Record"][0]["scope"], &json["Record"][0]["status"]), (&"ub".into(), &"success".into()));
    let buffer = &json["Record"][0]["memory_info_array"][2];
    assert_eq!((&buffer["offset"][0], &buffer["extent"]), (&256.into(), &256.into()));
    assert!(ran.stderr.contains("[AscendNPU IR] Allocated UB size = 4096 bits"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("AscendNPU"), "the program goes to standard output, and nothing else");
}

const WORKSPACES: &str = "\
func.func @kernel(%ws: memref<?xi8>, %x: tensor<256xi8>) {
  %a = memref_ext.alloc_workspace() from %ws : from memref<?xi8> to memref<256xi8>
  %at = bufferization.to_tensor %a restrict writable : memref<256xi8>
  %as = hivm.hir.store ins(%x : tensor<256xi8>) outs(%at : tensor<256xi8>) -> tensor<256xi8>
  %e = tensor.empty() : tensor<256xi8>
  %y = hivm.hir.load ins(%as : tensor<256xi8>) outs(%e : tensor<256xi8>) -> tensor<256xi8>
  %b = memref_ext.alloc_workspace() from %ws : from memref<?xi8> to memref<256xi8>
  %bt = bufferization.to_tensor %b restrict writable : memref<256xi8>
  %bs = hivm.hir.store ins(%y : tensor<256xi8>) outs(%bt : tensor<256xi8>) -> tensor<256xi8>
  %z = hivm.hir.load ins(%bs : tensor<256xi8>) outs(%e : tensor<256xi8>) -> tensor<256xi8>
  return
}
";

#[test]
fn workspaces() {
    let folder = Folder::with(&[("kernel.mlir", WORKSPACES)]);
    assert_eq!(opt(&folder, "mem-plan-mode=local-mem-plan").stdout, WORKSPACES);
    let ran = opt(&folder, "mem-plan-mode=global-work-space-plan");
    assert!(
        ran.stdout.contains("from %ws offset = [%c0] :") && ran.stdout.contains("offset = [%c256] :"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("@kernel_infer_workspace_shape_function") && ran.stdout.contains("constant 512"));
    let ran =
        opt(&folder, "mem-plan-mode=global-work-space-plan enable-global-workspace-reuse insert-workspace-size=false");
    assert_eq!(ran.stdout.matches("offset = [%c0] :").count(), 2, "{}", ran.stdout);
    assert!(!ran.stdout.contains("infer_workspace"));
}

#[test]
fn devices() {
    let folder = folder("test_one_mem_not_enough");
    let on = |target: &str| folder.run_args(&["opt", "kernel.mlir", "--pass", "plan-memory", "--target", target]);
    let ran = on("Ascend310B1");
    assert!(ran.stderr.contains("requires 2560000 bits while 2097152 bits available!"), "{}", ran.stderr);
    std::fs::write(
        folder.path("mine.toml"),
        "name = \"Mine\"\nscope = [{ name = \"ub\", capacity = 1048576, alignment = 64 }]\n",
    )
    .unwrap();
    let ran = on("mine.toml");
    assert_eq!((ran.code, cast(&ran, "%a")), (0, vec![0]), "{}", ran.stderr);
    let ran = on("Ascend1");
    assert!(ran.code == 2 && ran.stderr.contains("Ascend910B1"), "{}", ran.stderr);
    let short = opt(&folder, "profile=regbase");
    assert!(short.stderr.lines().any(|line| line.ends_with("1572864 bits available!")), "{}", short.stderr);
}

/// Tests hold many kernels in one file, some of them wrong on purpose.
#[test]
fn a_file_in_parts() {
    let folder = Folder::with(&[("kernel.mlir", KERNELS)]);
    let ran = opt(&folder, "");
    assert_eq!(ran.code, 1, "some kernels do not fit");
    let parts = KERNELS.matches("// -----\n").count() + 1;
    assert_eq!(ran.stdout.matches("// -----\n").count() + 1, parts);
    assert!(ran.stderr.contains(&format!("7 of {parts} parts are left out")), "{}", ran.stderr);
    for bits in [2_560_000, 2_379_264, 1_835_008, 1_966_080, 2_097_152, 3_932_160] {
        assert!(ran.stderr.contains(&format!("ub overflow, requires {bits} bits while ")), "{bits}\n{}", ran.stderr);
    }
    let line = KERNELS.lines().position(|line| line.contains("@test_one_mem_not_enough(")).unwrap() + 1;
    assert!(
        ran.stderr.contains(&format!("kernel.mlir:{line}:3: error: ub overflow, requires 2560000")),
        "{}",
        ran.stderr
    );
    let unwritten = KERNELS.split("// -----\n").find(|part| part.contains("@test_ub_memory_without_load(")).unwrap();
    let ran_alone = opt(&Folder::with(&[("kernel.mlir", unwritten)]), "");
    assert_eq!(ran_alone.code, 0);
    assert!(ran_alone.stderr.contains("warning: read before first write"), "{}", ran_alone.stderr);
    // What is printed is whole: it reads again, and nothing is left to do.
    let again = folder.run_with_input("opt - --format mlir --pass plan-memory", ran.stdout.as_bytes());
    assert_eq!((again.code, again.stdout == ran.stdout), (0, true), "{}", again.stderr);
    let file = folder.run_args(&["opt", "kernel.mlir", "--pass", "plan-memory", "-o", "out.mlir"]);
    assert_eq!((file.code, file.stdout.as_str(), folder.files()), (1, "", vec!["kernel.mlir".to_owned()]));
}

/// A kernel with addresses is held against the kernel without them, tensors that stand for buffers included.
#[test]
fn addresses_of_a_kernel_are_verified() {
    let kernel = "!u = memref<32xf16, #hivm.address_space<ub>>
!g = memref<32xf16, #hivm.address_space<gm>>
func.func @k(%in: !g, %out: !g, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.alloc() : !u
  hivm.hir.load ins(%in : !g) outs(%b : !u)
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : !u
    hivm.hir.load ins(%in : !g) outs(%a : !u)
    %t = bufferization.to_tensor %a restrict writable : memref<32xf16, #hivm.address_space<ub>> to tensor<32xf16>
    hivm.hir.store ins(%t : tensor<32xf16>) outs(%out : !g)
    hivm.hir.store ins(%b : !u) outs(%out : !g)
  }
  return
}
";
    let folder = Folder::with(&[("kernel.mlir", kernel)]);
    let ran = folder.run("opt kernel.mlir --pass plan-memory -o planned.mlir");
    assert_eq!(ran.code, 0, "{}", ran.all());
    let ran = folder.run("verify kernel.mlir planned.mlir");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "planned.mlir: fine, 2 buffers\n"), "{}", ran.all());
    // One address for both: the loop overwrites what it reads in its next round.
    let planned = folder.read("planned.mlir");
    let wrong = planned.replace("arith.constant 64 : i64", "arith.constant 0 : i64");
    assert_ne!(wrong, planned);
    std::fs::write(folder.path("wrong.mlir"), wrong).unwrap();
    let ran = folder.run("verify kernel.mlir wrong.mlir");
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.stdout.contains("%b"), "{}", ran.all());
    // A kernel with another op is another kernel.
    std::fs::write(folder.path("other.mlir"), planned.replacen("hivm.hir.store ins(%b", "hivm.hir.store ins(%a", 1))
        .unwrap();
    assert_eq!(folder.run("verify kernel.mlir other.mlir").code, 2);
}
