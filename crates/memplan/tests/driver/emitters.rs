//! Emitters that make mistakes: a wrong number, a wrong view, names that changed places, a lost line.
//! Whatever they get wrong, nothing leaves the driver.

use std::path::Path;

use memplan::driver::{self, Failure, How};
use memplan::front_end::{
    AssignGmem, EarlyDealloc, FrontEnd, MergeAlloc, Output, Plain, PlanForm, PlanMemory, StorageRewrite,
};
use memplan::mlir::pass::{assign_gmem, merge_alloc};
use memplan::source::Source;

use crate::mutated::Mutated;

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs a front end whose output is changed in every way of a list; all changes must be found. How many there were.
fn all_found<F: FrontEnd + Clone>(front_end: &F, source: &Source, changes: impl Fn(&str) -> Vec<String>) -> usize {
    let how = How::default().strict();
    let right = driver::run(front_end, source, &how).unwrap_or_else(|error| panic!("{error}"));
    let changed = changes(right.text());
    for text in &changed {
        let wrong = Mutated { inner: front_end.clone(), mutate: |_: &str| text.clone() };
        match driver::run(&wrong, source, &how) {
            Err(Failure::Unsound(unsound)) => assert_eq!(unsound.what, "text"),
            Err(error) => panic!("{error}\n{text}"),
            Ok(_) => panic!("this got out:\n{text}\ninstead of:\n{}", right.text()),
        }
    }
    changed.len()
}

/// The text with each of its new lines (those the source does not have) changed in turn.
fn changed_lines<'t>(source: &str, text: &'t str, change: impl Fn(&str) -> Vec<String>) -> Vec<String> {
    let old: std::collections::HashSet<&str> = source.lines().collect();
    let lines: Vec<&'t str> = text.lines().collect();
    let mut changed = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !old.contains(*line)) {
        for new in change(line).into_iter().filter(|new| new != line) {
            let mut lines: Vec<&str> = lines.clone();
            lines[at] = &new;
            changed.push(lines.join("\n") + "\n");
        }
    }
    changed
}

/// A line with each of its numbers made one larger, those inside of names left alone.
fn other_numbers(line: &str) -> Vec<String> {
    let bytes = line.as_bytes();
    let mut changed = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let starts = bytes[at].is_ascii_digit()
            && (at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || matches!(bytes[at - 1], b'_' | b'%' | b'#')));
        let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if starts && let Ok(number) = line[at..end].parse::<u64>() {
            changed.push(format!("{}{}{}", &line[..at], number + 1, &line[end..]));
        }
        at = end.max(at + 1);
    }
    changed
}

/// A line with each `%name` replaced by another name of the text.
fn other_names(line: &str, names: &[&str]) -> Vec<String> {
    let mut changed = Vec::new();
    for name in names.iter().filter(|name| line.split([' ', ',', '[', ']', '(', ')']).any(|word| word == **name)) {
        changed.extend(names.iter().filter(|other| other != &name).map(|other| line.replace(name, other)));
    }
    changed
}

const MODULE: &str = "func.func @f(%in: memref<64xf32>, %out: memref<64xf32>) {
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  linalg.add ins(%in, %in : memref<64xf32>, memref<64xf32>) outs(%a : memref<64xf32>)
  linalg.add ins(%a, %in : memref<64xf32>, memref<64xf32>) outs(%b : memref<64xf32>)
  %c = memref.alloc() : memref<64xf32>
  linalg.add ins(%b, %in : memref<64xf32>, memref<64xf32>) outs(%c : memref<64xf32>)
  memref.dealloc %a : memref<64xf32>
  linalg.add ins(%c, %b : memref<64xf32>, memref<64xf32>) outs(%out : memref<64xf32>)
  %dead = memref.alloc() : memref<16xi8>
  return
}
";

const HOISTED: &str = "func.func @f(%out: memref<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (4) {
    %a = memref.alloc() : memref<8xf32>
    scf.forall (%j) = (2) to (10) step (2) {
      %b = memref.alloc() : memref<8xf32>
      memref.store %zero, %a[%j] : memref<8xf32>
      memref.store %zero, %b[%j] : memref<8xf32>
      %x = memref.load %b[%j] : memref<8xf32>
      memref.store %x, %a[%j] : memref<8xf32>
    }
    %y = memref.load %a[%i] : memref<8xf32>
    memref.store %y, %out[%i, %i] : memref<4x8xf32>
  }
  return
}
";

#[test]
fn merge_alloc_writes_what_was_planned() {
    let names = ["%a", "%b", "%c", "%dead", "%merged_0", "%offset_2", "%offset_3"];
    let mut count = 0;
    for text in [MODULE, HOISTED] {
        let source = Source::new("f.mlir", text);
        let pass = MergeAlloc { options: merge_alloc::Options::default() };
        count += all_found(&pass, &source, |new| {
            let mut changed = changed_lines(text, new, |line| {
                let is_number = line.contains("arith.constant");
                // A larger memory or a larger alignment of it is no mistake.
                if is_number { other_numbers(line) } else { other_names(line, &names) }
            });
            changed.extend(changed_lines(text, new, |_| vec![String::new()]));
            changed.push(new.replace("memref.view", "memref.cast"));
            changed.push(new.replacen("xi8>", "xi16>", 2));
            changed
        });
    }
    assert!(count > 80, "{count} mutations");
}

#[test]
fn what_a_pass_does_not_touch_stays() {
    let source = Source::new("f.mlir", MODULE);
    let pass = MergeAlloc::default();
    let count = all_found(&pass, &source, |new| {
        let lines: Vec<&str> = new.lines().collect();
        let kept = lines.iter().enumerate().filter(|(_, line)| line.contains("linalg"));
        let mut changed: Vec<String> = kept
            .flat_map(|(at, line)| {
                let swapped = line.replace("linalg.add", "linalg.mul");
                let operands = line.replacen("%in", "%out", 1);
                [swapped, operands, String::new()].into_iter().filter(move |new| new != line).map(move |new| (at, new))
            })
            .map(|(at, new)| {
                let mut lines: Vec<&str> = lines.clone();
                lines[at] = &new;
                lines.join("\n")
            })
            .collect();
        changed.push(new.replace("return", "memref.dealloc %in : memref<64xf32>\n  return"));
        changed
    });
    assert!(count > 10, "{count} mutations");
}

#[test]
fn early_dealloc_frees_what_is_not_needed_any_more() {
    let text = "func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  memref.store %one, %a[%c0] : memref<?xf32>
  memref.store %one, %b[%c0] : memref<?xf32>
  %x = memref.load %b[%c0] : memref<?xf32>
  memref.store %x, %b[%c0] : memref<?xf32>
  return
}
";
    let source = Source::new("f.mlir", text);
    let count = all_found(&EarlyDealloc::default(), &source, |new| {
        let early = |name: &str, line: &str| {
            let dealloc = format!("  memref.dealloc {name} : memref<?xf32>\n");
            new.replace(&dealloc, "").replace(line, &format!("{dealloc}{line}"))
        };
        vec![
            new.replace("memref.dealloc %a", "memref.dealloc %b"),
            early("%b", "  %x = memref.load"),
            early("%a", "  memref.store %one, %a"),
        ]
    });
    assert_eq!(count, 3);
}

#[test]
fn plan_memory_writes_what_was_planned() {
    let text = "module attributes {hacc.target = #hacc.target<\"Ascend910B1\">} {
func.func @kernel(%in: memref<256xf32, #hivm.address_space<gm>>, %out: memref<256xf32, #hivm.address_space<gm>>) {
  %a = memref.alloc() : memref<256xf32, #hivm.address_space<ub>>
  hivm.hir.load ins(%in : memref<256xf32, #hivm.address_space<gm>>) outs(%a : memref<256xf32, #hivm.address_space<ub>>)
  %b = memref.alloc() : memref<256xf32, #hivm.address_space<ub>>
  hivm.hir.vadd ins(%a, %a : memref<256xf32, #hivm.address_space<ub>>, memref<256xf32, #hivm.address_space<ub>>) outs(%b : memref<256xf32, #hivm.address_space<ub>>)
  %c = memref.alloc() : memref<256xf32, #hivm.address_space<ub>>
  hivm.hir.vadd ins(%a, %b : memref<256xf32, #hivm.address_space<ub>>, memref<256xf32, #hivm.address_space<ub>>) outs(%c : memref<256xf32, #hivm.address_space<ub>>)
  hivm.hir.store ins(%c : memref<256xf32, #hivm.address_space<ub>>) outs(%out : memref<256xf32, #hivm.address_space<gm>>)
  return
}
}
";
    let source = Source::new("kernel.mlir", text);
    let count = all_found(&PlanMemory::default(), &source, |new| {
        let names: Vec<&str> =
            new.lines().filter_map(|line| line.trim().split_once(" = ")).map(|(name, _)| name).collect();
        let mut changed = changed_lines(text, new, |line| {
            if line.contains("arith.constant") { other_numbers(line) } else { other_names(line, &names) }
        });
        changed.extend(changed_lines(text, new, |_| vec![String::new()]));
        changed.push(new.replacen("address_space<ub>> \n", "", 1).replacen("pointer_cast(", "pointer_cast(%in, ", 1));
        changed
    });
    assert!(count > 15, "{count} mutations");
}

#[test]
fn assign_gmem_writes_what_was_planned() {
    let text = data("gmem-ir/tiny_before_address_assign_bm1684x.mlir");
    let source = Source::new("network.mlir", text.as_str());
    let pass = AssignGmem::new(assign_gmem::Options::default()).unwrap();
    let count = all_found(&pass, &source, |new| {
        // A type with an address stands at every use of a value; a consistent emitter changes them all.
        let starts = new.match_indices(" : i64>").map(|(at, _)| new[..at].rfind(|c: char| !c.is_ascii_digit()));
        let ends = new.match_indices(" : i64>").map(|(at, _)| at);
        let addresses: std::collections::BTreeSet<&str> =
            starts.zip(ends).map(|(before, at)| &new[before.map_or(0, |before| before + 1)..at]).collect();
        let moved = |address: &&str| {
            let number: u64 = address.parse().unwrap();
            new.replace(&format!("{address} : i64>"), &format!("{} : i64>", number + 4096))
        };
        addresses.iter().map(moved).collect()
    });
    assert!(count > 3, "{count} mutations");
}

const RECORDS: &str = "id,lower,upper,size\nconv1,0,3,401408\nconv2,1,4,401408\nadd,3,6,401408\nlogits,5,7,4000\n";

#[test]
fn plan_files_say_what_was_planned() {
    let source = Source::new("buffers.csv", RECORDS);
    for form in [PlanForm::Json, PlanForm::Csv, PlanForm::Header("plan".to_owned())] {
        let plain = Plain { form, ..Plain::default() };
        let count = all_found(&plain, &source, |new| {
            let offsets = [", 401408]", "\"offset\":401408", ",401408\n", " 401408u /* \"conv2"];
            let moved = offsets.iter().filter(|offset| new.contains(**offset));
            let mut changed: Vec<String> =
                moved.map(|offset| new.replacen(offset, &offset.replace("401408", "401409"), 1)).collect();
            changed.push(new.replace("conv1", "other").replace("conv2", "conv1").replace("other", "conv2"));
            changed.push(new.chars().take(new.len() / 2).collect());
            changed.retain(|text| text != new);
            changed
        });
        assert!(count >= 2, "{count} mutations of {:?}", plain.form);
    }
}

#[test]
fn a_model_says_what_was_planned() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/tflite/unet.tflite");
    let source = Source::open(&path, None).unwrap();
    let plain = Plain { form: PlanForm::Model, ..Plain::default() };
    let input = plain.read(&source).unwrap();
    let laid = driver::lay_out(&plain, &input, &How::default().strict()).unwrap();
    let right = driver::emit(&plain, &input, &laid).unwrap();
    let mut found = 0;
    for at in (0..right.bytes.len()).step_by(4) {
        let mut bytes = right.bytes.clone();
        bytes[at] ^= 0x10;
        let wrong = Moved { plain: plain.clone(), bytes };
        // Bytes between the tables mean nothing; all others must be missed.
        found += usize::from(driver::emit(&wrong, &input, &laid).is_err());
    }
    let offsets = input.network.as_ref().unwrap().model().graphs.iter().map(|graph| graph.tensors.len()).sum::<usize>();
    assert!(found >= offsets / 2, "{found} of {} changes found", right.bytes.len() / 4);
}

/// A writer of models that writes something else.
#[derive(Clone)]
struct Moved {
    plain: Plain,
    bytes: Vec<u8>,
}

impl FrontEnd for Moved {
    type Input = <Plain as FrontEnd>::Input;
    type Laid = <Plain as FrontEnd>::Laid;

    fn name(&self) -> &str {
        "moved"
    }
    fn read(&self, source: &Source) -> Result<Self::Input, Failure> {
        self.plain.read(source)
    }
    fn lay_out(&self, input: &Self::Input, solver: &mut driver::Solver) -> Result<Self::Laid, Failure> {
        self.plain.lay_out(input, solver)
    }
    fn claim<'a>(&self, input: &'a Self::Input, laid: &'a Self::Laid) -> memplan::front_end::Claim<'a> {
        self.plain.claim(input, laid)
    }
    fn emit(&self, input: &Self::Input, laid: &Self::Laid) -> Result<Output, Failure> {
        Ok(Output { bytes: self.bytes.clone(), ..self.plain.emit(input, laid)? })
    }
    fn places(&self, input: &Self::Input, output: &Output) -> Result<memplan::front_end::Places, Failure> {
        self.plain.places(input, output)
    }
}

const SCRIPT: &str = "\
@T.prim_func(s_tir=True)
def main(E: T.Buffer((64,), \"float32\"), O: T.Buffer((64,), \"float32\")):
    A = T.alloc_buffer((64,))
    B = T.alloc_buffer((32,))
    C = T.alloc_buffer((64,))
    for i in range(64):
        A[i] = E[i]
    for i in range(32):
        B[i] = A[63 - i]
    for i in range(64):
        C[i] = B[i // 2]
    for i in range(64):
        O[i] = C[63 - i]
";

#[test]
fn storage_rewrite_writes_what_was_planned() {
    let options = memplan::tensor::RewriteOptions { strategy: Some("auto".to_owned()), ..Default::default() };
    let mut count = 0;
    for pass in [StorageRewrite::default(), StorageRewrite { options }] {
        count += all_found(&pass, &Source::new("f.py", SCRIPT), |new| {
            let lines: Vec<&str> = new.lines().collect();
            let mut changed = Vec::new();
            for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.contains('[') && line.contains(" = ")) {
                // The subscripts: other numbers, other buffers, and the line gone.
                let mut others = other_numbers(line);
                others.extend(["A", "B", "C", "E", "O"].iter().filter_map(|name| {
                    let other = if *name == "O" { "E" } else { "O" };
                    line.contains(&format!("{name}[")).then(|| line.replace(&format!("{name}["), &format!("{other}[")))
                }));
                others.push(String::new());
                changed.extend(others.into_iter().filter(|other| other != line).map(|other| {
                    let mut lines: Vec<&str> = lines.clone();
                    lines[at] = &other;
                    lines.join("\n") + "\n"
                }));
            }
            changed
        });
    }
    assert!(count > 20, "{count} mutations");
}
