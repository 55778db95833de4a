//! Where the original goes wrong: its placement is caught, ours is accepted. And
//! where it refuses, aborts or wavers, what happens here. `docs/plan-memory.md` has the list.

use std::collections::{BTreeMap, BTreeSet};

use memplan::driver::Failure;
use memplan_core::{Bytes, IndexVec, Placement, SpaceId};
use memplan_mlir::pass::plan_memory::{self, Options, Planned};
use memplan_mlir::{Dialects, Document, Lowered, lower, lower_workspaces};
use memplan_planner::Request;
use memplan_program::SiteId;
use memplan_verify::{dataflow, packing};

use crate::kernels::{addresses, comment, parts, run};

/// The placement a comment gives: `%a=[0] %b=[0, 64]`.
fn given(lowered: &Lowered, text: &str) -> dataflow::SitePlan {
    let program = &lowered.program;
    let place = |site: SiteId| {
        let name = format!("%{}=[", program.value(program.site(site).value).name);
        let (_, rest) = text.split_once(&name)?;
        let offsets = rest.split(']').next()?.split(", ").map(|number| Bytes(number.parse().unwrap()));
        let space = program.site(site).space;
        Some(Placement { offsets: offsets.collect(), ..Placement::at(space, Bytes::ZERO) })
    };
    let placements: IndexVec<SiteId, Option<Placement>> = program.sites().ids().map(place).collect();
    assert!(placements.iter().all(Option::is_some), "{text} leaves something out");
    dataflow::SitePlan { placements, owners: BTreeMap::new() }
}

/// The capacities of the memories that are planned, by their spaces in the program.
fn capacities(lowered: &Lowered, planned: &Planned) -> BTreeMap<SpaceId, Bytes> {
    let mut found = BTreeMap::new();
    for function in &planned.functions {
        for (&site, buffer) in function.sites.iter().zip(function.problem.buffers()) {
            let capacity = buffer.spaces.first().and_then(|&space| function.problem.spaces()[space].capacity);
            found.extend(capacity.map(|capacity| (lowered.program.site(site).space, capacity)));
        }
    }
    found
}

#[test]
fn placements_of_the_original_are_caught_and_ours_are_not() {
    let mut sections = BTreeSet::new();
    for part in parts("defects.mlir") {
        let document = Document::read(&part, Dialects::builtin()).unwrap();
        let lowered = lower(&document).unwrap();
        let options = match comment(&part, "run").unwrap() {
            "plan-memory" => Options::default(),
            "plan-memory{profile=regbase}" => {
                Options { profile: plan_memory::Profile::RegisterBased, ..Options::default() }
            }
            other => panic!("{other}"),
        };
        let planned = plan_memory::run(
            &document,
            &lowered,
            &options,
            None,
            None,
            &Request::default(),
            &memplan_program::Apart::default(),
        );
        let planned = planned.unwrap_or_else(|error| panic!("{error}\n{part}"));
        let function = &planned.functions[0];
        assert_eq!(packing::check(&function.problem, &function.plan), [], "{part}");
        let capacities = capacities(&lowered, &planned);
        let placements = planned.rewrite.placements.clone();
        let ours = dataflow::SitePlan { placements, owners: BTreeMap::new() };
        assert_eq!(dataflow::check_within(&lowered.program, &ours, &capacities), [], "{part}");
        let theirs = given(&lowered, comment(&part, "original").unwrap());
        let found = dataflow::check_within(&lowered.program, &theirs, &capacities);
        let code = comment(&part, "caught by").unwrap();
        assert!(found.iter().any(|violation| violation.code() == code), "{found:?}\n{part}");
        sections.insert(comment(&part, "section").unwrap().to_owned());
    }
    let expected = ["1", "10", "11", "14", "2", "3", "5", "6", "9"];
    assert_eq!(sections.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

/// Every mistake in the list of the documentation has its row, and files that exist.
#[test]
fn the_documentation_lists_every_mistake() {
    let page = include_str!("../../../../docs/plan-memory.md");
    for section in 1..=17 {
        assert!(page.contains(&format!("\n| {section} |")), "{section} is not listed");
    }
}

const WORKSPACE: &str = r##"
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @kernel(%ws: memref<?xi8, #hivm.address_space<gm>>, %x: tensor<16x16xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %w = memref_ext.alloc_workspace() from %ws : from memref<?xi8, #hivm.address_space<gm>> to memref<1000xi8>
      annotation.mark %w {hivm.multi_buffer = 2 : i32} : memref<1000xi8>
      %t = bufferization.to_tensor %w restrict writable : memref<1000xi8>
      %s = hivm.hir.store ins(%x : tensor<16x16xf32>) outs(%t : tensor<1000xi8>) -> tensor<1000xi8>
      %l = hivm.hir.load ins(%s : tensor<1000xi8>) outs(%x : tensor<16x16xf32>) -> tensor<16x16xf32>
    }
    return
  }
}
"##;

/// The number that the host function of a kernel returns.
fn reported(text: &str) -> u64 {
    let (_, rest) = text.split_once("infer_workspace_shape_function").unwrap();
    let (_, rest) = rest.split_once("arith.constant ").unwrap();
    rest.split(' ').next().unwrap().parse().unwrap()
}

/// Section 15: a workspace's size is the end of its last slot, wherever the others are.
#[test]
fn the_furthest_slot_of_a_workspace_counts() {
    let document = Document::read(WORKSPACE, Dialects::builtin()).unwrap();
    let lowered = lower_workspaces(&document).unwrap();
    let descending = given(&lowered, "%w=[1024, 0]");
    let space = descending.placements.iter().flatten().next().unwrap().space;
    let within = |plan: &dataflow::SitePlan, size: u64| {
        let found = dataflow::check_within(&lowered.program, plan, &[(space, Bytes(size))].into());
        found.iter().map(dataflow::Violation::code).collect::<Vec<_>>()
    };
    // The original would report the end of the last slot.
    assert_eq!(within(&descending, 1000), ["dataflow::out-of-memory"]);
    let given = WORKSPACE.replace("from %ws :", "from %ws offset = [%c1024, %c0] :");
    let given = given.replace("    scf.for", "    %c1024 = arith.constant 1024 : index\n    scf.for");
    for profile in ["membase", "regbase"] {
        let spec = format!("plan-memory{{mem-plan-mode=global-work-space-plan profile={profile}}}");
        let size = reported(&run(&given, &spec).unwrap().text);
        assert_eq!((size, within(&descending, size)), (2024, Vec::new()));
        // And offsets are aligned, whichever profile.
        let text = run(WORKSPACE, &spec).unwrap().text;
        assert_eq!(addresses(&text), [("%w".to_owned(), vec![0, 1024])]);
        assert_eq!(reported(&text), 2024);
    }
}

/// Section 7: what is irrelevant changes nothing.
#[test]
fn constants_that_nobody_needs_change_nothing() {
    for part in parts("kernels.mlir").into_iter().filter(|part| part.contains("%arg0") || part.contains("%c0 =")) {
        let spec = comment(&part, "run").unwrap();
        let Ok(plain) = run(&part, spec) else { continue };
        let Some((head, rest)) = part.split_once("%c0 =") else { continue };
        let noise: String =
            (0..20).map(|at| format!("%noise{at} = arith.constant {} : i32\n    ", 7_000 + at)).collect();
        let noisy = run(&format!("{head}{noise}%c0 ={rest}"), spec).unwrap();
        assert_eq!(addresses(&plain.text), addresses(&noisy.text), "{part}");
    }
}

const TWO_MEMORIES: &str = r##"
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @one(%gm0: memref<131072xf16, #hivm.address_space<gm>>, %gm1: memref<1024x512xf16, #hivm.address_space<gm>>) {
    %a = memref.alloc() : memref<131072xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<131072xf16, #hivm.address_space<gm>>) outs(%a : memref<131072xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%a : memref<131072xf16, #hivm.address_space<ub>>) outs(%gm0 : memref<131072xf16, #hivm.address_space<gm>>)
    %b = memref.alloc() : memref<1024x512xf16, #hivm.address_space<cbuf>>
    hivm.hir.nd2nz ins(%gm1 : memref<1024x512xf16, #hivm.address_space<gm>>) outs(%b : memref<1024x512xf16, #hivm.address_space<cbuf>>)
    return
  }
  func.func @two(%gm0: memref<65536xf32, #hivm.address_space<gm>>) {
    %c = memref.alloc() : memref<65536xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<65536xf32, #hivm.address_space<gm>>) outs(%c : memref<65536xf32, #hivm.address_space<ub>>)
    return
  }
}
"##;

/// Section 12: every memory of every function that is too small is named, with who is alive there.
#[test]
fn every_memory_that_is_too_small_is_reported() {
    let Err(Failure::DoesNotFit(why)) = run(TWO_MEMORIES, "plan-memory") else { panic!("fits") };
    let errors: Vec<&str> = why.lines().filter(|line| line.contains(": error: ")).collect();
    let places = [
        "kernel.mlir:3:3: error: ub overflow",
        "kernel.mlir:3:3: error: cbuf overflow",
        "kernel.mlir:11:3: error: ub overflow",
    ];
    assert_eq!(errors.len(), places.len(), "{why}");
    assert!(errors.iter().zip(places).all(|(error, place)| error.starts_with(place)), "{why}");
    for part in ["%a: 262144 bytes, line 4", "%b: 1048576 bytes, line 7", "%c: 262144 bytes, line 12", "proved"] {
        assert!(why.contains(part), "`{part}` is not in\n{why}");
    }
}

/// Half of the unified buffer each, and a temporary buffer that a loop over numbers does not use.
const IDLE_TEMPORARY: &str = r##"
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @kernel(%gm0: memref<12288xi64, #hivm.address_space<gm>>, %gm1: memref<12288xi64, #hivm.address_space<gm>>) {
    %a = memref.alloc() : memref<12288xi64, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<12288xi64, #hivm.address_space<gm>>) outs(%a : memref<12288xi64, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<12288xi64, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<12288xi64, #hivm.address_space<gm>>) outs(%b : memref<12288xi64, #hivm.address_space<ub>>)
    %t = memref.alloc() : memref<4096xi64, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%a, %b : memref<12288xi64, #hivm.address_space<ub>>, memref<12288xi64, #hivm.address_space<ub>>) outs(%b : memref<12288xi64, #hivm.address_space<ub>>) temp_buffer(%t : memref<4096xi64, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<12288xi64, #hivm.address_space<ub>>) outs(%gm1 : memref<12288xi64, #hivm.address_space<gm>>)
    return
  }
}
"##;

/// Section 17: what an op does not use does not make a kernel too large.
#[test]
fn a_temporary_buffer_that_is_not_used_needs_no_memory() {
    let text = run(IDLE_TEMPORARY, "plan-memory").unwrap().text;
    assert_eq!(addresses(&text)[..2], [("%a".to_owned(), vec![0]), ("%b".to_owned(), vec![98_304])]);
    // Sixteen bits are added by vector instructions, which do use it.
    let vector = IDLE_TEMPORARY.replace("12288xi64", "49152xi16").replace("4096xi64", "16384xi16");
    let Err(Failure::DoesNotFit(why)) = run(&vector, "plan-memory") else { panic!("fits") };
    assert!(why.contains("%t: 32768 bytes") && why.contains("it is proved that no plan can fit"), "{why}");
    // With memory to spare it has its own bytes, as the original would have it.
    let small = IDLE_TEMPORARY.replace("12288xi64", "1024xi64").replace("4096xi64", "512xi64");
    assert_eq!(addresses(&run(&small, "plan-memory").unwrap().text)[2], ("%t".to_owned(), vec![16_384]));
}

/// A double buffer that is loaded, and one that is computed from it and stored through one of two views.
const TWO_VIEWS: &str = r##"
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @kernel(%gm0: memref<1024xf16, #hivm.address_space<gm>>, %gm1: memref<512xf16, #hivm.address_space<gm>>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
      annotation.mark %a {hivm.multi_buffer = 2 : i32} : memref<1024xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<1024xf16, #hivm.address_space<gm>>) outs(%a : memref<1024xf16, #hivm.address_space<ub>>)
      %b = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
      annotation.mark %b {hivm.multi_buffer = 2 : i32} : memref<1024xf16, #hivm.address_space<ub>>
      hivm.hir.vabs ins(%a : memref<1024xf16, #hivm.address_space<ub>>) outs(%b : memref<1024xf16, #hivm.address_space<ub>>)
      %one = memref.subview %b[0] [512] [1] : memref<1024xf16, #hivm.address_space<ub>> to memref<512xf16, #hivm.address_space<ub>>
      %two = memref.subview %b[0] [512] [1] : memref<1024xf16, #hivm.address_space<ub>> to memref<512xf16, #hivm.address_space<ub>>
      %t = memref.alloc() : memref<512xf16, #hivm.address_space<ub>>
      hivm.hir.vexp ins(%COMPUTED : memref<512xf16, #hivm.address_space<ub>>) outs(%t : memref<512xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%STORED : memref<512xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<512xf16, #hivm.address_space<gm>>)
    }
    return
  }
}
"##;

/// Section 14, the other half: a store counts behind whichever view, so the pipes stay apart.
#[test]
fn every_view_of_a_buffer_counts() {
    for (stored, computed) in [("one", "two"), ("two", "one")] {
        let text = TWO_VIEWS.replace("STORED", stored).replace("COMPUTED", computed);
        let found = addresses(&run(&text, "plan-memory").unwrap().text);
        let of = |name: &str| found.iter().find(|(other, _)| other == name).unwrap().1.clone();
        assert!(of("%a").iter().all(|address| !of("%b").contains(address)), "{found:?}");
    }
}
