//! Buffers that exclusive branches give back in each other's place, and buffers whose layout says in words what the
//! default one says without: both are planned, and the programs print the same.

use crate::defects::{INTS, fill, function, sum};
use crate::{machine, module, rewrite};

/// Runs a program before and after the pass; the bytes after.
fn planned(name: &str, source: &str) -> Option<u64> {
    if !machine::is_there() {
        return None;
    }
    let version = rewrite(source, "merge-alloc", None);
    // mlir-opt cannot lower allocations with a layout.
    let before = source.replace(", strided<[8, 1]>", "");
    let printed = machine::run(&module(&[before, version.text.clone()], &[0]));
    let printed = printed.unwrap_or_else(|error| panic!("{name}: {error}\n{}", version.text));
    let sums: Vec<&str> = printed.lines().collect();
    assert_eq!(sums[0], sums[1], "{name}\n{}", version.text);
    Some(version.stats.iter().map(|row| row.after).sum())
}

/// Both branches yield a fresh buffer; `in_branch` stands in the first one behind its allocation.
fn choice(size: &str, in_branch: &str) -> String {
    format!(
        "  scf.for %i = %c0 to %c6 step %c1 {{
    %odd = arith.remui %i, %c2 : index
    %c = arith.cmpi eq, %odd, %c0 : index
    %r = scf.if %c -> ({INTS}) {{
      %a = memref.alloc() : {INTS}
    {fill_a}{in_branch}      scf.yield %a : {INTS}
    }} else {{
      %b = memref.alloc() : {size}
      %v = memref.subview %b[0] [64] [1] : {size} to memref<64xi32, strided<[1]>>
      %p = memref.cast %v : memref<64xi32, strided<[1]>> to {INTS}
    {fill_b}      scf.yield %p : {INTS}
    }}
  {sum_r}  }}
",
        fill_a = fill("three", "%a"),
        fill_b = fill("five", "%p"),
        sum_r = sum("%r"),
    )
}

#[test]
fn exclusive_branches_share_the_bytes_of_what_they_give_back() {
    let Some(bytes) = planned("branches", &function(&choice(INTS, ""))) else { return };
    assert_eq!(bytes, 256, "one buffer of 64 numbers at a time");
}

/// The smaller of the two lies on the bytes of the larger, beside what only one branch needs.
#[test]
fn branches_give_back_buffers_of_different_sizes() {
    let local = format!(
        "      %t = memref.alloc() : memref<192xi32>
      linalg.fill ins(%five : i32) outs(%t : memref<192xi32>)
      %n = memref.load %t[%c8] : memref<192xi32>
      memref.store %n, %a[%c0] : {INTS}
"
    );
    let Some(bytes) = planned("unequal branches", &function(&choice("memref<192xi32>", &local))) else { return };
    assert_eq!(bytes, 1536, "192 numbers of the other branch, and the 192 of this one");
}

/// The buffer of the last iteration is still read when the other branch fills its own.
#[test]
fn what_a_loop_carries_round_is_not_overwritten_by_the_other_branch() {
    let body = format!(
        "  %first = memref.alloc() : {INTS}
{fill_first}  %last = scf.for %i = %c0 to %c6 step %c1 iter_args(%x = %first) -> ({INTS}) {{
    %odd = arith.remui %i, %c2 : index
    %c = arith.cmpi eq, %odd, %c0 : index
    %r = scf.if %c -> ({INTS}) {{
      %a = memref.alloc() : {INTS}
    {fill_a}      scf.yield %a : {INTS}
    }} else {{
      %b = memref.alloc() : {INTS}
    {fill_b}      scf.yield %b : {INTS}
    }}
  {sum_x}  scf.yield %r : {INTS}
  }}
{sum_last}",
        fill_first = fill("down", "%first"),
        fill_a = fill("three", "%a"),
        fill_b = fill("five", "%b"),
        sum_x = sum("%x"),
        sum_last = sum("%last"),
    );
    planned("carried", &function(&body));
}

#[test]
fn a_dense_layout_in_words_is_planned() {
    let ty = "memref<8x8xi32, strided<[8, 1]>>";
    let one = |name: &str, value: &str| {
        format!(
            "  %{name} = memref.alloc() : {ty}
  linalg.fill ins(%{value} : i32) outs(%{name} : {ty})
  scf.for %i = %c0 to %c8 step %c1 {{
    %n = memref.load %{name}[%i, %c3] : {ty}
    %w = arith.extsi %n : i32 to i64
    %old = memref.load %acc[%c0] : memref<1xi64>
    %new = arith.addi %old, %w : i64
    memref.store %new, %acc[%c0] : memref<1xi64>
  }}
"
        )
    };
    let Some(bytes) = planned("strided", &function(&(one("a", "three") + &one("b", "five")))) else { return };
    assert_eq!(bytes, 256, "one of the two buffers at a time");
}
