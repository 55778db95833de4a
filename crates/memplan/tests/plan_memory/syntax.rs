//! Kernels in every form that their dialects can be written in (`syntax.mlir`):
//! they are read, planned and printed, and nothing but the allocations changes.

use memplan::driver::Failure;

use crate::kernels::{comment, parts, reads_again, run};

/// Lines that a pass may change or move.
fn may_change(line: &str) -> bool {
    ["memref.alloc", "memref.dealloc", "memref_ext.alloc_workspace", "annotation.mark"]
        .iter()
        .any(|op| line.contains(op))
}

#[test]
fn nothing_but_allocations_changes() {
    for part in parts("syntax.mlir") {
        let spec = comment(&part, "run").expect("a `// run:` line");
        let rewritten = run(&part, spec).unwrap_or_else(|error| panic!("{error}\n{part}"));
        let mut new = rewritten.text.lines();
        for line in part.lines().filter(|line| !may_change(line)) {
            assert!(new.any(|other| other == line), "`{line}` is gone from\n{}", rewritten.text);
        }
        assert!(!rewritten.text.contains("memref.dealloc"), "{}", rewritten.text);
        reads_again(&rewritten.text, spec);
    }
}

#[test]
fn parts_of_a_file_are_read_as_one_file() {
    let local: Vec<String> = parts("syntax.mlir").into_iter().filter(|part| !part.contains("global-work")).collect();
    let whole = run(&local.join("// -----\n"), "plan-memory").unwrap().text;
    // Names of new constants keep clear of all names in the file, so only their number is compared.
    let casts = |text: &str| text.matches("hivm.hir.pointer_cast(").count();
    let alone: usize = local.iter().map(|part| casts(&run(part, "plan-memory").unwrap().text)).sum();
    assert_eq!((casts(&whole), whole.matches("// -----").count()), (alone, local.len() - 1));
}

const SIZES: &[(&str, &str, u64)] = &[
    ("[%c0] 100xi8, [%c100] 800xi8, [%c200] 800xi32", "kernel", 3400),
    ("[%c0, %c100] 50xi8", "kernel", 150),
    ("[%c0, %c100, %c200, %c300] 80xi8", "kernel", 380),
    ("[%c0, %c100] 50xi8, [%c200, %c400] 100xi8", "kernel", 500),
    ("[%c0] 16x16xf16", "kernel", 512),
    ("[%c1024] 16x16xf32", "kernel", 2048),
    ("[%c0] 64xi8", "kernel_mix_aic", 64),
];

/// Workspaces that have their offsets already.
#[test]
fn the_size_of_a_workspace_is_reported() {
    for (workspaces, kernel, size) in SIZES {
        let mut body = String::new();
        for number in [0, 100, 200, 300, 400, 1024] {
            body += &format!("    %c{number} = arith.constant {number} : index\n");
        }
        for (at, workspace) in workspaces.split(", [").enumerate() {
            let (offsets, ty) = workspace.trim_start_matches('[').split_once("] ").unwrap();
            body += &format!(
                "    %w{at} = memref_ext.alloc_workspace() from %arg0 offset = [{offsets}] : from memref<?xi8> to memref<{ty}>\n"
            );
        }
        let text = format!("module {{\n  func.func @{kernel}(%arg0: memref<?xi8>) {{\n{body}    return\n  }}\n}}\n");
        let spec = "plan-memory{mem-plan-mode=global-work-space-plan profile=regbase}";
        let new = run(&text, spec).unwrap().text;
        assert!(new.contains("func.func @kernel_infer_workspace_shape_function() -> index"), "{new}");
        assert!(new.contains(&format!("arith.constant {size} : index\n    return")), "{new}");
    }
    let none = "func.func @kernel() {\n  return\n}\n";
    assert_eq!(run(none, "plan-memory{mem-plan-mode=global-work-space-plan}").unwrap().text, none);
}

/// Kernels that miss a line, have one twice or in another order: whatever that
/// makes of them, no wrong plan leaves the pass.
#[test]
fn kernels_with_lines_missing_doubled_or_swapped() {
    let mut planned = 0;
    for part in ["conformance.mlir", "kernels.mlir", "syntax.mlir"].into_iter().flat_map(parts) {
        let spec = comment(&part, "run").unwrap_or("plan-memory");
        let lines: Vec<&str> = part.lines().collect();
        for at in (0..lines.len()).filter(|&at| !lines[at].starts_with("//")) {
            let without = [&lines[..at], &lines[at + 1..]].concat().join("\n");
            let twice = [&lines[..=at], &lines[at..]].concat().join("\n");
            let behind = lines.get(at + 1).copied();
            let swapped = [&lines[..at], behind.as_slice(), &lines[at..=at], lines.get(at + 2..).unwrap_or(&[])];
            for text in [without, twice, swapped.concat().join("\n")] {
                match run(&text, spec) {
                    Ok(_) => planned += 1,
                    Err(Failure::Unsound(error)) => panic!("{error}\n{text}"),
                    Err(_) => {}
                }
            }
        }
    }
    assert!(planned > 1000, "{planned}");
}
