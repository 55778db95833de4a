//! Waits that reuse adds: which pairs of buffers have a price, and the default plan beside the one by levels.

use memplan_mlir::pass::PassError;
use memplan_mlir::pass::plan_memory::{self, Options, Planned, PlannedFunction, Target, Waits};
use memplan_planner::{Request, strategy};

use crate::generate::{Case, WORK, count};
use crate::kernels::{comment, parts};

/// Plans a kernel with the strategy of this name, or as the pass does by default.
fn run(case: &Case, options: &Options, target: Option<&Target>, strategy: Option<&str>) -> Result<Planned, PassError> {
    let request = Request { work_limit: Some(WORK), ..Request::default() };
    let strategy = strategy.map(|name| strategy::find(name).expect("a strategy"));
    let apart = memplan_program::Apart::default();
    plan_memory::run(&case.document, &case.lowered, options, target, strategy, &request, &apart)
}

/// A device with `capacity` bytes of unified buffer.
fn device(capacity: u64) -> Target {
    format!("scope = [{{ name = \"ub\", capacity = {capacity}, alignment = 32 }}]").parse().unwrap()
}

/// The priced pairs of a kernel of one function, sorted, each as two names and the price: `x z 8`.
fn pairs(body: &str, options: &Options) -> Vec<String> {
    let case = Case::of(kernel(body));
    // The pass only computes prices if buffers have to share, so the device gets little memory.
    let device = device(case.capacity().expect("buffers"));
    let planned = run(&case, options, Some(&device), None).unwrap();
    let problem = &planned.functions[0].problem;
    let name = |buffer| problem.buffers()[buffer].name.rsplit_once('%').expect("a value").1.to_owned();
    let mut pairs: Vec<String> = problem
        .reuse_costs()
        .iter()
        .map(|pair| {
            let (one, other) = (name(pair.one), name(pair.other));
            format!("{} {} {}", one.clone().min(other.clone()), one.max(other), pair.weight)
        })
        .collect();
    pairs.sort();
    pairs
}

/// A kernel from short lines: `load x`, `vexp x y`, `store y`, `for`, `if`, `else`, `end`, `double x`; others as they are.
/// The buffers, single letters, are allocated where they are first filled.
fn kernel(body: &str) -> String {
    const TILE: &str = "memref<4096xf16, #hivm.address_space<ub>>";
    const FAR: &str = "memref<4096xf16, #hivm.address_space<gm>>";
    let mut text = format!(
        "module attributes {{hacc.target = #hacc.target<\"Ascend910B1\">}} {{\nfunc.func @k(%in: {FAR}, %out: {FAR}, %n: \
         index, %cond: i1) {{\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
    );
    let mut known: Vec<String> = Vec::new();
    let mut loops = 0;
    for line in body.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        let mut alloc = |name: &str| {
            if !known.iter().any(|other| other == name) {
                known.push(name.to_owned());
                text += &format!("%{name} = memref.alloc() : {TILE}\n");
            }
        };
        match words[..] {
            ["load", to] => {
                alloc(to);
                text += &format!("hivm.hir.load ins(%in : {FAR}) outs(%{to} : {TILE})\n");
            }
            ["store", from] => text += &format!("hivm.hir.store ins(%{from} : {TILE}) outs(%out : {FAR})\n"),
            ["alloc", name] => alloc(name),
            ["double", name] => {
                alloc(name);
                text += &format!("annotation.mark %{name} {{hivm.multi_buffer = 2 : i32}} : {TILE}\n");
            }
            ["vexp", from, to] => {
                alloc(to);
                text += &format!("hivm.hir.vexp ins(%{from} : {TILE}) outs(%{to} : {TILE})\n");
            }
            ["for"] => {
                loops += 1;
                text += &format!("scf.for %i{loops} = %c0 to %n step %c1 {{\n");
            }
            ["if"] => text += "scf.if %cond {\n",
            ["else"] => text += "} else {\n",
            ["end"] => text += "}\n",
            _ => text += &format!("{line}\n"),
        }
    }
    text + "return\n}\n}\n"
}

/// The example of the chapter: z on x costs the next load a wait for the store, y lies apart from both.
#[test]
fn a_loop_hands_bytes_back() {
    // If x were read for the last time where y is made, and y where z is made, all three would be one buffer, computed
    // in place. The second reader of x prevents that.
    let chain = "for\nload x\nvexp x y\nvexp x z\nstore y\nstore z\nend";
    assert_eq!(pairs(chain, &Options::default()), [] as [String; 0]);
    let two = "for\nload a\nstore a\nload b\nstore b\nend";
    // If b takes the bytes of a, the load of b waits for the store of a, and in the next iteration the load of a waits
    // for the store of b. Both waits are in one loop.
    assert_eq!(pairs(two, &Options::default()), ["a b 16"]);
    assert_eq!(pairs(two, &Options { wait_weight: 10, ..Options::default() }), ["a b 20"]);
}

#[test]
fn outside_of_loops_bytes_go_one_way() {
    assert_eq!(pairs("load a\nstore a\nload b\nstore b", &Options::default()), ["a b 1"]);
}

#[test]
fn a_wait_counts_where_both_ops_are() {
    // One loop after the other: the second one waits once, in front of it.
    let apart = "for\nload a\nstore a\nend\nfor\nload b\nstore b\nend";
    assert_eq!(pairs(apart, &Options::default()), ["a b 1"]);
    // Two loops inside of one: once an iteration of the outer one, there and back.
    let nested = format!("for\n{apart}\nend");
    assert_eq!(pairs(&nested, &Options::default()), ["a b 16"]);
    let inner = "for\nfor\nload a\nstore a\nload b\nstore b\nend\nend";
    assert_eq!(pairs(inner, &Options::default()), ["a b 128"]);
}

#[test]
fn what_is_ordered_anyway_costs_nothing() {
    // A barrier between the store of a and the load of b.
    let barrier = "load a\nstore a\nhivm.hir.pipe_barrier[<PIPE_ALL>]\nload b\nstore b";
    assert_eq!(pairs(barrier, &Options::default()), [] as [String; 0]);
    // A barrier of one pipe orders nothing else.
    let own = "load a\nstore a\nhivm.hir.pipe_barrier[<PIPE_V>]\nload b\nstore b";
    assert_eq!(pairs(own, &Options::default()), ["a b 1"]);
    // A flag does, if the right pipe sets it and the right one waits.
    let flag = |set: &str, wait: &str| {
        format!("load a\nstore a\nhivm.hir.set_flag[{set}]\nhivm.hir.wait_flag[{wait}]\nload b\nstore b")
    };
    let right = "<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>";
    assert_eq!(pairs(&flag(right, right), &Options::default()), [] as [String; 0]);
    let other = "<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID1>";
    assert_eq!(pairs(&flag(right, other), &Options::default()), ["a b 1"]);
    let wrong = "<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>";
    assert_eq!(pairs(&flag(wrong, wrong), &Options::default()), ["a b 1"]);
    // One pipe: both are filled and read by the vector unit alone.
    let vector = "load a\nvexp a p\nvexp a q\nstore p\nvexp q r\nvexp q s\nstore r\nstore s";
    assert!(!pairs(vector, &Options::default()).iter().any(|pair| pair.starts_with("a ")), "vector");
    // A data dependence: d is read by the vector unit before e, which the load of b cannot overtake … it can.
    let dependent = "load a\nvexp a d\nvexp a e\nstore d\nstore e\nload b\nstore b";
    let found = pairs(dependent, &Options::default());
    assert!(found.contains(&"a b 1".to_owned()), "{found:?}");
}

#[test]
fn branches_that_exclude_each_other_meet_in_loops_only() {
    let branches = "if\nload a\nstore a\nelse\nload b\nstore b\nend";
    assert_eq!(pairs(branches, &Options::default()), [] as [String; 0]);
    let found = pairs(&format!("for\n{branches}\nend"), &Options::default());
    assert_eq!(found, ["a b 16"]);
    // A barrier in a branch may not happen.
    let skipped = "load a\nstore a\nif\nhivm.hir.pipe_barrier[<PIPE_ALL>]\nend\nload b\nstore b";
    assert_eq!(pairs(skipped, &Options::default()), ["a b 1"]);
}

/// What the default plan says about the functions of a kernel: none if it does not fit.
fn waits(case: &Case) -> Option<Vec<(String, Waits)>> {
    match run(case, &Options::default(), None, None) {
        Ok(planned) => {
            let of = |function: &PlannedFunction| Some((function.name.clone(), function.waits?));
            Some(planned.functions.iter().filter_map(of).collect())
        }
        Err(PassError::DoesNotFit(_) | PassError::Op { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Kernels with hardly more memory than they need.
#[test]
fn generated_kernels_never_wait_more_than_by_levels() {
    let (mut fewer, mut equal) = (0, 0);
    for seed in 0..count().min(150) {
        let case = Case::new(seed);
        let Some(capacity) = case.capacity() else { continue };
        let by_levels = case.plan(capacity);
        let Ok(planned) = run(&case, &Options::default(), Some(&device(capacity)), None) else {
            assert!(by_levels.is_err(), "levels fit: {}", case.text);
            continue;
        };
        assert_eq!(case.check(&planned, capacity), [], "{}", case.text);
        for function in &planned.functions {
            let waits = function.waits.expect("what the reuse costs");
            assert_eq!(waits.here, function.plan.reuse_cost(&function.problem));
            assert!(waits.at_least <= waits.here, "{waits:?}");
            // The plan by levels, counted again here.
            let levels = by_levels.as_ref().ok().and_then(|planned| {
                let same = planned.functions.iter().find(|other| other.name == function.name)?;
                Some(same.plan.reuse_cost(&function.problem))
            });
            assert_eq!(waits.by_levels, levels, "{}", case.text);
            if let Some(levels) = levels {
                assert!(waits.here <= levels, "{waits:?}\n{}", case.text);
                fewer += usize::from(waits.here < levels);
                equal += usize::from(waits.here == levels);
                // Buffers move only where that saves waits.
                let same = planned.functions.iter().zip(&by_levels.as_ref().unwrap().functions);
                let is_moved = |(one, other): (&PlannedFunction, &PlannedFunction)| {
                    one.name == function.name && one.plan.placements != other.plan.placements
                };
                assert!(waits.here < levels || !same.clone().any(is_moved), "moved for nothing: {}", case.text);
            }
        }
    }
    println!("fewer waits {fewer}, as many {equal}");
    assert!(fewer > 10, "{fewer} {equal}");
}

const INTRODUCTION: &str = "\
# Waits that reuse adds: by levels and by default

Generated by a test from the kernels in `crates/memplan/tests/plan_memory` (`conformance.mlir`,
`kernels.mlir`). Each wait weighs 8 to the power of the number of loops around it ([the
model](reuse-costs.md#waits-of-a-kernel)). *By levels* is what the plan of `-s levels` costs, which
is the original's. *By default* is what the search makes of it; it is the least possible where the
last column says so.

| function | by levels | by default | |
|---|---|---|---|
";

/// The ways to ask for a plan: `-s search` is the default, `-s levels` is `compat`.
#[test]
fn strategies_by_name_are_the_default_and_the_option() {
    let text = kernel("for\nload a\nstore a\nload b\nstore b\nload c\nstore c\nend");
    let case = Case::of(text);
    let device = device(2 * 8192);
    let compat = Options { compat: true, ..Options::default() };
    let written = |options: &Options, strategy: Option<&str>| {
        let planned = run(&case, options, Some(&device), strategy).unwrap();
        let function = &planned.functions[0];
        (planned.rewrite.edits.apply(&case.text).unwrap(), function.waits.is_some(), function.report.is_some())
    };
    let default = written(&Options::default(), None);
    assert_eq!(written(&Options::default(), Some("search")), default);
    let levels = written(&compat, None);
    assert_eq!(written(&Options::default(), Some("levels")), levels);
    // Whoever names a strategy means it.
    assert_eq!(written(&compat, Some("search")), default);
    assert_eq!((levels.1, levels.2), (false, true));
    assert!(default.1);
}

/// `docs/npu-waits.md`, which `MEMPLAN_BLESS=1` writes.
#[test]
fn the_table_of_waits_is_current() {
    let mut table = INTRODUCTION.to_owned();
    let (mut without, mut sums) = (0, (0, 0));
    for part in parts("conformance.mlir").into_iter().chain(parts("kernels.mlir")) {
        // Workspaces are no on-chip memory.
        if comment(&part, "run").is_some_and(|spec| spec.contains("global-work-space-plan")) {
            continue;
        }
        for (name, waits) in waits(&Case::of(part)).unwrap_or_default() {
            let Some(by_levels) = waits.by_levels else { continue };
            assert!(waits.here <= by_levels, "{name}: {waits:?}");
            sums = (sums.0 + by_levels, sums.1 + waits.here);
            if by_levels == 0 {
                without += 1;
                continue;
            }
            let proof = if waits.here == waits.at_least { "the least possible" } else { "" };
            table += &format!("| `{name}` | {by_levels} | {} | {proof} |\n", waits.here);
        }
    }
    table += &format!("| {without} further functions | 0 | 0 | the least possible |\n");
    table += &format!("| all | {} | {} | |\n", sums.0, sums.1);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/npu-waits.md");
    if std::env::var_os("MEMPLAN_BLESS").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), table, "MEMPLAN_BLESS=1 writes it again");
}
