//! Shrinks an input while a property of it persists: a bug report in one step.
//!
//! The input is taken apart into *items* (records, buffers, ops), and items are
//! left out as long as the rest is still *interesting*, which the caller decides:
//! usually by running a command on it that must keep failing in the same way.
//!
//! Leaving out is delta debugging: try to drop large runs of items first, halve
//! the runs when nothing more can be dropped, stop when no single item can be.
//! The result is minimal in that sense: each item left is needed.
//!
//! ```
//! use memplan::reduce::minimize;
//!
//! let numbers: Vec<u32> = (0..100).collect();
//! let left = minimize(numbers, &mut |some| some.contains(&17) && some.contains(&71));
//! assert_eq!(left, [17, 71]);
//! ```

mod mlir;
mod records;

use crate::format;

/// Says whether a smaller input still shows what is being looked for.
pub type Interesting<'a> = &'a mut dyn FnMut(&str) -> bool;

/// The smallest text found that is still interesting. `file_name` and the text tell the format, which says what its
/// items are; a format that is not known here is reduced line by line.
pub fn reduce(text: &str, file_name: &str, interesting: Interesting) -> String {
    match format::detect(file_name, text).map(|format| format.name()) {
        Some("csv") => records::csv(text, interesting),
        Some("trace") => records::trace(text, interesting),
        Some("json") => records::json(text, interesting),
        Some("mlir") => mlir::mlir(text, interesting),
        _ => lines(text, interesting),
    }
}

/// Leaves out lines of a text of which nothing is known.
fn lines(text: &str, interesting: Interesting) -> String {
    let items: Vec<&str> = text.split_inclusive('\n').collect();
    minimize(items, &mut |some| interesting(&some.concat())).concat()
}

/// A subset of the items that is still interesting and from which no single
/// item can be left out. That all items together are interesting is taken for granted.
/// The order of items is kept. O(n²) tests at worst, O(n log n) where few items matter.
pub fn minimize<T: Clone>(items: Vec<T>, interesting: &mut dyn FnMut(&[T]) -> bool) -> Vec<T> {
    let mut items = items;
    // The number of neighbouring items that are dropped in one attempt: first all of them, then halves, and so on.
    let mut run = items.len();
    while run > 0 && !items.is_empty() {
        let mut start = 0;
        let mut dropped = false;
        while start < items.len() {
            // The input without the items from `start` to `end`.
            let end = (start + run).min(items.len());
            let rest: Vec<T> = items[..start].iter().chain(&items[end..]).cloned().collect();
            if interesting(&rest) {
                // `start` stays: the next run has moved there.
                items = rest;
                dropped = true;
            } else {
                start = end;
            }
        }
        // A pass over single items that drops one may have made others superfluous, so it is repeated.
        run = if run == 1 && dropped { 1 } else { run / 2 };
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_left_is_needed() {
        // Interesting: the items sum to at least 50.
        let left = minimize((1..=20).collect::<Vec<u32>>(), &mut |some| some.iter().sum::<u32>() >= 50);
        let sum: u32 = left.iter().sum();
        assert!(sum >= 50);
        assert!(left.iter().all(|item| sum - item < 50), "{left:?}");
    }

    #[test]
    fn records_keep_their_header() {
        let text = "id,lower,upper,size\na,0,1,8\nb,0,1,9\nc,0,1,10\n";
        let left = reduce(text, "p.csv", &mut |text| text.contains("b,0"));
        assert_eq!(left, "id,lower,upper,size\nb,0,1,9\n");
    }

    #[test]
    fn traces_lose_buffers_not_events() {
        let text = "# comment\nalloc a 8\nalloc b 9\nfree a\noverlay c b free\nalloc c 9\nfree b\n";
        let left = reduce(text, "p.trace", &mut |text| text.contains("alloc b") && text.contains("free b"));
        assert_eq!(left, "alloc b 9\nfree b\n");
    }

    #[test]
    fn problems_lose_buffers_with_their_relations() {
        let text = r#"{"buffers": [{"id": "a", "size": 8, "lifetime": [[0, 1]]}, {"id": "b", "size": 8, "lifetime": [[0, 1]]},
                       {"id": "c", "size": 8, "lifetime": [[0, 1]]}],
                       "must_share": [["a", "b"]], "dependencies": [[1], [2], []]}"#;
        let left = reduce(text, "p.json", &mut |text| text.contains("\"b\""));
        let problem = memplan_models::records::read(left.as_bytes(), None, "p.json").unwrap().problem;
        assert_eq!(problem.buffers().len(), 1);
        assert!(problem.must_share().is_empty());
    }

    #[test]
    fn programs_lose_functions_and_ops() {
        let text = "module {
  func.func @unrelated() {
    return
  }
  func.func @f(%n: index) {
    %a = memref.alloc() : memref<8xf32>
    %b = memref.alloc() : memref<8xf32>
    scf.if %c {
      \"test.bug\"(%b) : (memref<8xf32>) -> ()
      \"test.use\"(%a) : (memref<8xf32>) -> ()
    }
    return
  }
}
";
        let text = text.replace("%n: index", "%n: index, %c: i1");
        let is_valid = |text: &str| memplan_mlir::Document::read(text, memplan_mlir::Dialects::builtin()).is_ok();
        let left = reduce(&text, "p.mlir", &mut |text| text.contains("test.bug") && is_valid(text));
        for gone in ["@unrelated", "%a", "test.use", "return"] {
            assert!(!left.contains(gone), "{left}");
        }
        assert!(left.contains("%b = memref.alloc()"), "{left}");
    }

    #[test]
    fn programs_lose_parts_comments_and_empty_lines() {
        let text = "// about the first
func.func @one() { return }
// -----

// about the second
func.func @two(%a: memref<8xf32>) { // here
  // a comment of its own

  \"test.bug\"(%a) {note = \"a // b\"} : (memref<8xf32>) -> () // and there
  return
}
// -----
func.func @three() { return }
";
        let left = reduce(text, "p.mlir", &mut |text| text.contains("test.bug") && text.contains("a // b"));
        let lines: Vec<&str> = left.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "func.func @two(%a: memref<8xf32>) {",
                "\"test.bug\"(%a) {note = \"a // b\"} : (memref<8xf32>) -> () // and there",
                "}"
            ],
            "{left}"
        );
    }

    #[test]
    fn unreadable_files_are_reduced_too() {
        let text = "{\"buffers\": [\n1,\n2\n";
        let left = reduce(text, "p.json", &mut |text| text.contains('['));
        assert_eq!(left, "{\"buffers\": [\n");
    }
}
