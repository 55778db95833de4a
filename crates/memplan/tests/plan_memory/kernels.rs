//! Kernels, each with the addresses its buffers get (`// expect:` lines, which
//! `MEMPLAN_BLESS=1` rewrites). Every plan has passed both checks, or the pass
//! would have failed.

use std::collections::HashMap;
use std::path::PathBuf;

use memplan::driver::{Checked, Failure, How};
use memplan::front_end::Output;
use memplan::pass::{PassSpec, find};
use memplan::source::Source;

/// The parts of a file of kernels.
pub(crate) fn parts(file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path(file)).unwrap();
    text.split("// -----\n").map(|part| part.trim().to_owned() + "\n").collect()
}

fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/plan_memory").join(file)
}

/// What the comment lines of a kernel say behind a word.
pub(crate) fn comments<'t>(part: &'t str, word: &str) -> impl Iterator<Item = &'t str> {
    part.lines().filter_map(move |line| line.strip_prefix("// ")?.strip_prefix(word)?.strip_prefix(": "))
}

/// What the first of them says.
pub(crate) fn comment<'t>(part: &'t str, word: &str) -> Option<&'t str> {
    comments(part, word).next()
}

/// What a pass made, field by field.
#[derive(Clone, Debug)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    pub(crate) notes: Vec<String>,
    pub(crate) files: Vec<(String, String)>,
}

impl Rewritten {
    fn of(output: &Checked<Output>) -> Rewritten {
        assert_eq!(output.repairs(), [] as [String; 0]);
        Rewritten { text: output.text().to_owned(), notes: output.notes.clone(), files: output.files.clone() }
    }
}

pub(crate) fn run(text: &str, spec: &str) -> Result<Rewritten, Failure> {
    let spec: PassSpec = spec.parse().unwrap();
    let source = Source::new("kernel.mlir", text);
    let output = find(&spec.name).unwrap().run(&source, &spec.options, &How::default().strict())?;
    Ok(Rewritten::of(&output))
}

/// The addresses of each pointer cast and workspace, in the order of the text.
pub(crate) fn addresses(text: &str) -> Vec<(String, Vec<u64>)> {
    let mut constants: HashMap<&str, u64> = HashMap::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("func.func") {
            constants.clear();
        }
        let Some((name, rest)) = line.split_once(" = ") else { continue };
        if let Some(number) = rest.strip_prefix("arith.constant ").and_then(|rest| rest.split(' ').next()) {
            constants.extend(number.parse().ok().map(|number: u64| (name, number)));
        }
        let list = rest.strip_prefix("hivm.hir.pointer_cast(").and_then(|rest| rest.split(')').next());
        let workspace = rest.starts_with("memref_ext.alloc_workspace");
        let offsets = rest.split_once("offset = [").filter(|_| workspace).and_then(|(_, rest)| rest.split(']').next());
        if let Some(list) = list.or(offsets) {
            let addresses = list.split(", ").filter_map(|name| constants.get(name).copied());
            found.push((name.to_owned(), addresses.collect()));
        }
    }
    found
}

/// The outcome in one line.
fn summary(result: &Result<Rewritten, Failure>) -> String {
    match result {
        Ok(rewritten) => {
            let one = |(name, list): &(String, Vec<u64>)| format!("{name}={list:?}");
            let list: Vec<String> = addresses(&rewritten.text).iter().map(one).collect();
            if list.is_empty() { "nothing to plan".to_owned() } else { list.join(" ") }
        }
        Err(Failure::DoesNotFit(why)) => {
            let errors = why.lines().filter_map(|line| line.split_once(": error: "));
            errors.map(|(_, message)| message).collect::<Vec<_>>().join(" | ")
        }
        // Without the place, which the expectation itself would move.
        Err(error) => error.to_string().split_once(": ").map_or_else(String::new, |(_, message)| message.to_owned()),
    }
}

#[test]
fn kernels_get_the_addresses_they_are_expected_to_get() {
    let bless = std::env::var_os("MEMPLAN_BLESS").is_some();
    let mut blessed = Vec::new();
    let mut wrong = String::new();
    for part in parts("kernels.mlir") {
        let spec = comment(&part, "run").expect("a `// run:` line");
        let result = run(&part, spec);
        let found = summary(&result);
        assert!(!matches!(result, Err(Failure::Unsound(_))), "{found}\n{part}");
        check_notes(&part, &result);
        if comment(&part, "expect") != Some(&found) {
            wrong += &format!("{found}\n{part}\n");
        }
        let others = part.lines().filter(|line| !line.starts_with("// expect: "));
        let mut lines: Vec<String> = others.map(str::to_owned).collect();
        lines.insert(2, format!("// expect: {found}"));
        blessed.push(lines.join("\n") + "\n");
        if let Ok(rewritten) = &result {
            again(&rewritten.text, spec);
        }
    }
    if bless {
        std::fs::write(path("kernels.mlir"), blessed.join("\n// -----\n\n")).unwrap();
    } else {
        assert_eq!(wrong, "");
    }
}

/// What `// note:` lines ask for is said, what `// no note:` lines name is not.
fn check_notes(part: &str, result: &Result<Rewritten, Failure>) {
    let notes = result.as_ref().map_or_else(|_| String::new(), |rewritten| rewritten.notes.join("\n"));
    for note in comments(part, "note") {
        assert!(notes.contains(note), "`{note}` is not in\n{notes}\n{part}");
    }
    for note in comments(part, "no note") {
        assert!(!notes.contains(note), "`{note}` is in\n{notes}\n{part}");
    }
}

/// The kernel of conformance.mlir with this function.
fn kernel(function: &str) -> String {
    let has = |part: &String| part.contains(&format!("@{function}("));
    parts("conformance.mlir").into_iter().find(has).expect("a kernel of that name")
}

/// No allocation is left, and the rewritten text reads again.
pub(crate) fn again(text: &str, spec: &str) {
    if !spec.contains("global-work-space-plan") {
        assert!(!text.contains("memref.alloc()"), "{text}");
    }
    reads_again(text, spec);
}

/// The rewritten text reads again, and nothing is left to do.
pub(crate) fn reads_again(text: &str, spec: &str) {
    let spec = if spec.contains('{') { spec.replace('}', " insert-workspace-size=false}") } else { spec.to_owned() };
    assert_eq!(run(text, &spec).expect("reads again").text, text);
}

/// The document's own test: no allocation is left, the address 0 is a constant,
/// and a cast takes it.
#[test]
fn the_check_lines_of_the_document_hold() {
    let mut checked = 0;
    for part in parts("conformance.mlir") {
        let Ok(rewritten) = run(&part, "plan-memory{compat}") else { continue };
        assert!(!rewritten.text.contains("memref.alloc()"), "{}", rewritten.text);
        let zero = rewritten.text.lines().find_map(|line| line.trim().strip_suffix(" = arith.constant 0 : i64"));
        let zero = zero.unwrap_or_else(|| panic!("no address 0 in\n{}", rewritten.text));
        assert!(rewritten.text.contains(&format!("hivm.hir.pointer_cast({zero}")), "{}", rewritten.text);
        checked += 1;
    }
    assert!(checked > 90, "{checked}");
}

#[test]
fn the_original_sends_warnings_into_the_program_and_this_does_not() {
    let part = kernel("test_reuse_dma_buffer_warning");
    let rewritten = run(&part, "plan-memory").unwrap();
    assert!(!rewritten.text.contains("[hivm-plan-memory]"));
    let warning = "warning: [hivm-plan-memory] There reused some dma buffers in ub address space, which may stall pipe. \
                   Not reusing dma buffer needs 2097152 bits while 1572864 bits available!";
    assert!(rewritten.notes.iter().any(|note| note.ends_with(warning)), "{:?}", rewritten.notes);
    assert!(rewritten.notes.iter().any(|note| note.contains("1 sharings across pipes")), "{:?}", rewritten.notes);
}

#[test]
fn an_overflow_says_why_and_what_would_help() {
    let part = kernel("test_preload_buffer_expand_lifetime");
    let Err(Failure::DoesNotFit(why)) = run(&part, "plan-memory") else { panic!("fits") };
    let first = "kernel.mlir:4:3: error: ub overflow, requires 1835008 bits while 1572864 bits available! (possible \
                 reason: tiling basic block is too large or block number is more than what user expect due to \
                 multi-buffer feature is enabled and some ops need extra local buffer.)";
    assert_eq!(why.lines().next(), Some(first));
    for part in [
        "no plan can fit",
        "%p: 32768 bytes x 4 slots, line",
        "without multi-buffering of @test_preload_buffer_expand_lifetime/%p",
    ] {
        assert!(why.contains(part), "`{part}` is not in\n{why}");
    }
    let short = run(&part, "plan-memory{profile=regbase}").unwrap_err().to_string();
    assert!(short.lines().next().is_some_and(|line| line.ends_with("1572864 bits available!")), "{short}");
}

#[test]
fn the_plan_is_written_down_if_asked_for() {
    let part = kernel("test_plan_memory_temp_buffer");
    let rewritten = run(&part, "plan-memory{enable-memory-display enable-print-memory-allocated-size}").unwrap();
    let [(name, content)] = &rewritten.files[..] else { panic!("one file") };
    assert_eq!(name, "memory_info.json");
    let json: serde_json::Value = serde_json::from_str(content).unwrap();
    let record = &json["Record"][0];
    assert_eq!((record["scope"].as_str(), record["status"].as_str()), (Some("ub"), Some("success")));
    let buffers = record["memory_info_array"].as_array().unwrap();
    assert_eq!(
        buffers.iter().map(|buffer| buffer["is_tmpbuf"].as_bool().unwrap()).collect::<Vec<_>>(),
        [false, false, true]
    );
    assert_eq!(buffers[2]["offset"], serde_json::json!([192]));
    let size = "[AscendNPU IR] Allocated UB size = 2816 bits ";
    assert!(rewritten.notes.iter().any(|note| note.ends_with(size)), "{:?}", rewritten.notes);
}

#[test]
fn options_are_checked() {
    let error = |spec: &str| run("", spec).unwrap_err().to_string();
    assert!(error("plan-memory{plan-memory-strategy=smallest}").contains("default or largest-first"));
    assert!(error("plan-memory{mem-plan-mode=remote}").contains("global-work-space-plan"));
    assert!(error("plan-memory{simt-vf-dynamic-size=x}").contains("KiB"));
    assert!(error("plan-memory{speed=9}").contains("has no option `speed`"));
    let part = kernel("invalid_alloc_for_mix");
    let range = run(&part, "plan-memory{simt-vf-dynamic-size=100}").unwrap_err().to_string();
    assert!(range.contains("PlanMemory Fail : SimtVFDynamicSize have to in range [128, 216], but got 100!"), "{range}");
}

const LOOPS: &str = r#"
func.func @loops(%gm: memref<64xf16, #hivm.address_space<gm>>, %n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
  hivm.hir.load ins(%gm : memref<64xf16, #hivm.address_space<gm>>) outs(%init : memref<64xf16, #hivm.address_space<ub>>)
  scf.for %i = %c0 to %n step %c1 {
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%x = %init) -> (memref<64xf16, #hivm.address_space<ub>>) {
      %inner = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm : memref<64xf16, #hivm.address_space<gm>>) outs(%inner : memref<64xf16, #hivm.address_space<ub>>)
      %p = scf.if %c -> (memref<64xf16, #hivm.address_space<ub>>) {
        %branch = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
        hivm.hir.vexp ins(%inner : memref<64xf16, #hivm.address_space<ub>>) outs(%branch : memref<64xf16, #hivm.address_space<ub>>)
        scf.yield %branch : memref<64xf16, #hivm.address_space<ub>>
      } else {
        scf.yield %inner : memref<64xf16, #hivm.address_space<ub>>
      }
      scf.yield %p : memref<64xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<64xf16, #hivm.address_space<ub>>) outs(%gm : memref<64xf16, #hivm.address_space<gm>>)
    %outer = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm : memref<64xf16, #hivm.address_space<gm>>) outs(%outer : memref<64xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%outer : memref<64xf16, #hivm.address_space<ub>>) outs(%gm : memref<64xf16, #hivm.address_space<gm>>)
  }
  return
}
"#;

/// The loop that each of these buffers of a kernel belongs to.
fn homes<const N: usize>(kernel: &str, names: [&str; N]) -> [Option<String>; N] {
    use memplan_mlir::pass::plan_memory::{self, Options};
    use memplan_mlir::{Dialects, Document, lower};
    let document = Document::read(kernel, Dialects::builtin()).unwrap();
    let lowered = lower(&document).unwrap();
    let planned = plan_memory::run(
        &document,
        &lowered,
        &Options::default(),
        None,
        None,
        &Default::default(),
        &memplan_program::Apart::default(),
    )
    .unwrap();
    let buffers = planned.functions[0].problem.buffers();
    names.map(|name| {
        let buffer = buffers.iter().find(|buffer| buffer.name.ends_with(&format!("/%{name}"))).unwrap();
        buffer.enclosing_loop().map(str::to_owned)
    })
}

/// What a loop hands out belongs to the loop that uses it.
#[test]
fn buffers_belong_to_the_loop_that_uses_them() {
    let [init, outer, inner, branch] = homes(LOOPS, ["init", "outer", "inner", "branch"]);
    assert_eq!(init, None);
    assert!(outer.is_some());
    assert_eq!((inner, branch), (outer.clone(), outer));
}

/// A loop may hand out a buffer as two results. The use of the second one counts, too.
#[test]
fn a_buffer_that_is_handed_out_twice_is_followed_twice() {
    let ub = "memref<64xf16, #hivm.address_space<ub>>";
    let twice = LOOPS
        .replace(
            &format!("iter_args(%x = %init) -> ({ub})"),
            &format!("iter_args(%x = %init, %y = %init) -> ({ub}, {ub})"),
        )
        .replace("%r = scf.for", "%r:2 = scf.for")
        .replace(&format!("scf.yield %p : {ub}"), &format!("scf.yield %p, %p : {ub}, {ub}"))
        .replace("store ins(%r :", "store ins(%r#1 :");
    assert!(twice.contains("%p, %p") && twice.contains("%r#1"), "{twice}");
    let [outer, inner, branch] = homes(&twice, ["outer", "inner", "branch"]);
    assert!(outer.is_some());
    assert_eq!((inner, branch), (outer.clone(), outer));
}
