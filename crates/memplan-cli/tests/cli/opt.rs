//! Rewriting programs, and shrinking inputs.

use insta::assert_snapshot;

use crate::run::Folder;

const NET: &str = "\
func.func @net(%x: memref<64xf32>, %n: index) {
  %a = memref.alloc() : memref<64xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  memref.copy %a, %b : memref<64xf32> to memref<64xf32>
  %c = memref.alloc() : memref<64xf32>
  memref.copy %b, %c : memref<64xf32> to memref<64xf32>
  memref.copy %c, %x : memref<64xf32> to memref<64xf32>
  %d = memref.alloc(%n) : memref<?xf32>
  \"test.use\"(%d) : (memref<?xf32>) -> ()
  return
}
";

fn folder() -> Folder {
    Folder::with(&[("net.mlir", NET)])
}

#[test]
fn merge_alloc_with_statistics() {
    assert_snapshot!("opt_merge_alloc", folder().run("opt net.mlir --pass merge-alloc --stats").all());
}

#[test]
fn statistics_of_many_scopes_are_short() {
    let function = |index: usize| {
        let size = 16 * (index + 1);
        format!(
            "func.func @f{index}() {{\n  %a = memref.alloc() : memref<{size}xf32>\n  \
             \"test.use\"(%a) : (memref<{size}xf32>) -> ()\n  return\n}}\n"
        )
    };
    let source: String = (0..25).map(function).collect();
    let folder = Folder::with(&[("many.mlir", &source)]);
    let few = folder.run("opt many.mlir --pass merge-alloc --stats -o out.mlir").stderr;
    // The five smallest are summed up only.
    assert!(few.contains("… and 5 more scopes") && few.contains("total"), "{few}");
    assert!(!few.contains(" f4 ") && few.contains(" f5 ") && few.contains(" f24 "), "{few}");
    let all = folder.run("opt many.mlir --pass merge-alloc --stats=all -o out.mlir").stderr;
    assert!(all.contains(" f0 ") && all.contains("total") && !all.contains("more scopes"), "{all}");
}

#[test]
fn passes_follow_each_other() {
    let ran = folder().run_with_input("opt - --pass merge-alloc --pass early-dealloc -s auto", NET.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("memref.view"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\"test.use\"(%d) : (memref<?xf32>) -> ()\n  memref.dealloc %d"), "{}", ran.stdout);
}

#[test]
fn the_output_file_is_written_whole() {
    let folder = folder();
    let ran = folder.run("opt net.mlir --pass merge-alloc -o out.mlir");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(folder.read("out.mlir").contains("memref<512xi8>"));
    assert_eq!(folder.files(), ["net.mlir", "out.mlir"]);
}

#[test]
fn what_can_be_wrong() {
    let folder = folder();
    for (name, args) in [
        ("opt_unknown_pass", "opt net.mlir --pass merge"),
        ("opt_unknown_option", "opt net.mlir --pass merge-alloc{check}"),
        ("opt_bad_alignment", "opt net.mlir --pass merge-alloc{alignment=0}"),
        ("opt_malformed", "opt net.mlir --pass merge-alloc{"),
        ("opt_missing_file", "opt none.mlir --pass merge-alloc"),
    ] {
        let ran = folder.run(args);
        assert_eq!(ran.code, 2, "{args}");
        assert_snapshot!(name, ran.all());
    }
    let broken = Folder::with(&[("broken.mlir", "func.func @f() {\n  %a = memref.alloc( : memref<8xf32>\n}\n")]);
    let ran = broken.run("opt broken.mlir --pass merge-alloc");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("broken.mlir:"), "{}", ran.stderr);
}

#[test]
fn every_pass_is_listed() {
    let ran = Folder::new().run("passes");
    for pass in memplan::pass::PASSES {
        assert!(ran.stdout.contains(pass.name) && ran.stdout.contains(pass.describe), "{}", ran.stdout);
    }
}

#[test]
fn inputs_are_reduced_while_a_command_fails() {
    let records = "id,lower,upper,size\na,0,1,8\nb,0,1,16\nc,0,1,32\n";
    let folder = Folder::with(&[("bad.csv", records)]);
    let ran = folder.run("reduce bad.csv -- grep -v -q c,0,1");
    assert_eq!(ran.code, 2, "grep -v succeeds on the header: {}", ran.stderr);
    let memplan = env!("CARGO_BIN_EXE_memplan");
    let ran = folder.run(&format!("reduce bad.csv -- {memplan} plan {{}} --capacity 20"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(folder.read("bad.reduced.csv"), "id,lower,upper,size\nc,0,1,32\n");
    assert!(ran.stdout.starts_with("bad.reduced.csv: 2 lines of 4 lines left"), "{}", ran.stdout);
}

const SCRIPT: &str = "\
@T.prim_func
def main(E: T.Buffer((16,), \"float32\"), O: T.Buffer((16,), \"float32\")):
    A = T.alloc_buffer((16,))
    B = T.alloc_buffer((16,))
    C = T.alloc_buffer((16,))
    for i in range(16):
        A[i] = E[i]
    for i in range(16):
        B[i] = A[15 - i]
    for i in range(16):
        C[i] = B[15 - i]
    for i in range(16):
        O[i] = C[15 - i]
";

#[test]
fn tvm_script_is_rewritten() {
    let folder = Folder::with(&[("kernel.py", SCRIPT)]);
    for pass in ["storage-rewrite", "storage-rewrite{compat}"] {
        let ran = folder.run(&format!("opt kernel.py --pass {pass}"));
        assert_eq!((ran.code, ran.stdout.matches("T.alloc_buffer").count()), (0, 2), "{}{}", ran.stdout, ran.stderr);
    }
    for args in ["--pass storage-rewrite{plan=auto}", "--pass storage-rewrite -s auto"] {
        let ran = folder.run(&format!("opt kernel.py {args}"));
        assert_eq!((ran.code, ran.stdout.matches("T.alloc_buffer").count()), (0, 1), "{}{}", ran.stdout, ran.stderr);
    }
    let ran = folder.run("opt kernel.py --pass storage-rewrite{plan=atuo}");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("found `atuo`"), "{}", ran.stderr);
}

#[test]
fn what_a_pass_has_planned_can_be_drawn() {
    let one = "memref<4096xf16, #hivm.address_space<ub>>";
    let kernel = |name: &str| {
        format!(
            "func.func @{name}(%in: memref<4096xf16, #hivm.address_space<gm>>) {{\n  %x = memref.alloc() : {one}\n  hivm.hir.load ins(%in : memref<4096xf16, #hivm.address_space<gm>>) outs(%x : {one})\n  hivm.hir.store ins(%x : {one}) outs(%in : memref<4096xf16, #hivm.address_space<gm>>)\n  return\n}}\n"
        )
    };
    let folder = Folder::with(&[("one.mlir", &kernel("f")), ("two.mlir", &(kernel("f") + &kernel("g")))]);
    for (file, spaces) in [("one.mlir", vec!["\"ub\""]), ("two.mlir", vec!["\"ub@f\"", "\"ub@g\""])] {
        let ran = folder.run_args(&["opt", file, "--pass", "plan-memory", "--map", "map.html", "-o", "out.mlir"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let page = folder.read("map.html");
        assert!(spaces.iter().all(|space| page.contains(&format!("\"name\":{space}"))), "{file}");
        assert!(page.contains(&format!("{file}:2  %x = memref.alloc()")), "{file}");
        let ran = folder.run_args(&["opt", file, "--pass", "plan-memory", "--map", "map.svg", "-o", "out.mlir"]);
        assert!(ran.code == 0 && folder.read("map.svg").contains("pass plan-memory"), "{}", ran.stderr);
    }
    let ran = folder.run_args(&["opt", "one.mlir", "--pass", "merge-alloc", "--map", "none.html", "-o", "none.mlir"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("nothing to draw"), "{}", ran.stderr);
    assert!(!folder.files().iter().any(|file| file.starts_with("none")), "all or nothing");
    let ran = folder.run_args(&["opt", "one.mlir", "--pass", "plan-memory", "--map", "map.txt", "-o", "none.mlir"]);
    assert!(ran.code == 2 && ran.stderr.contains("map.html or map.svg"), "{}", ran.stderr);
}
