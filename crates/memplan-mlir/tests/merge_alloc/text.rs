//! Options, and what the pass does to the text besides merging.

use crate::{USE, rewrite, summary};

#[test]
fn deallocations_of_merged_buffers_go() {
    let source = format!(
        "func.func @f() {{
           %a = memref.alloc() : memref<8xf32>
           %v = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
           {USE}(%v) : (memref<4xf32, strided<[1]>>) -> ()
           memref.dealloc %a : memref<8xf32>
           return
         }}"
    );
    let (_, text) = rewrite(&source, "merge-alloc", None).unwrap();
    assert!(!text.contains("memref.dealloc"), "{text}");
    assert_eq!(summary(&text).0, [64]);
}

#[test]
fn options_are_checked() {
    let source = "func.func @f() {\n  return\n}\n";
    for (pass, message) in [
        (
            "merge-alloc{alignment=0}",
            "option `alignment`: expected a number of bytes that is a power of two, up to 4294967296, found `0`",
        ),
        (
            "merge-alloc{alignment=3}",
            "option `alignment`: expected a number of bytes that is a power of two, up to 4294967296, found `3`",
        ),
        (
            "merge-alloc{alignment=-64}",
            "option `alignment`: expected a number of bytes that is a power of two, up to 4294967296, found `-64`",
        ),
        (
            "merge-alloc{planner-options=fast}",
            "option `planner-options`: expected cost-model or size-first, found `fast`",
        ),
        (
            "merge-alloc{check}",
            "pass `merge-alloc` has no option `check`; it has analysis-only, planner-options, alignment, compat",
        ),
    ] {
        assert_eq!(rewrite(source, pass, None).unwrap_err().to_string(), message);
    }
}

#[test]
fn what_is_not_edited_stays() {
    let source =
        "// a comment\nmodule {\n  func.func private @g()\n\n  func.func @f() { // nothing to do\n    return\n  }\n}\n";
    let (rewrite, text) = rewrite(source, "merge-alloc", None).unwrap();
    assert_eq!(text, source);
    assert!(rewrite.edits.is_empty());
}

#[test]
fn all_or_nothing_and_always_the_same() {
    // The second function is refused; nothing of the first is handed out.
    let good = |name: &str| {
        format!(
            "func.func @{name}() {{
               %a = memref.alloc() : memref<16xf32>
               %b = memref.alloc() : memref<16xf32, 1>
               %c = memref.alloc() : memref<16xf32, 2>
               {USE}(%a, %b, %c) : (memref<16xf32>, memref<16xf32, 1>, memref<16xf32, 2>) -> ()
               return
             }}"
        )
    };
    let bad = "func.func @g() { %e = memref.alloc() : memref<0xf32>\n return }";
    let error = rewrite(&format!("{}\n{bad}", good("f")), "merge-alloc{compat}", None).unwrap_err();
    assert_eq!(error.to_string(), "Expecting static shaped allocation");
    let texts: Vec<String> = (0..4).map(|_| rewrite(&good("f"), "merge-alloc", None).unwrap().1).collect();
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]));
    // Spaces whose first buffers are equally large come in the order of the text.
    let spaces: Vec<&str> = texts[0].lines().filter(|line| line.contains("%merged_")).take(3).collect();
    assert!(spaces[0].ends_with("memref<64xi8>") && spaces[1].ends_with("memref<64xi8, 1>"), "{}", texts[0]);
    assert!(spaces[2].ends_with("memref<64xi8, 2>"), "{}", texts[0]);
}
