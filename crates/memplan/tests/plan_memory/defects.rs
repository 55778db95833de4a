//! Where the original goes wrong: its placement is caught, ours is accepted.

use memplan_core::{Bytes, IndexVec, Placement, Plan};
use memplan_mlir::pass::plan_memory::{self, Options};
use memplan_mlir::{Dialects, Document, Lowered, lower};
use memplan_planner::Request;
use memplan_program::SiteId;
use memplan_verify::{dataflow, packing};

use crate::kernels::{comment, parts};

/// The placement a comment gives: `%a=[0] %b=[0, 64]`.
fn given(lowered: &Lowered, text: &str) -> IndexVec<SiteId, Option<Placement>> {
    let program = &lowered.program;
    let place = |site: SiteId| {
        let name = format!("%{}=[", program.value(program.site(site).value).name);
        let (_, rest) = text.split_once(&name)?;
        let offsets = rest.split(']').next()?.split(", ").map(|number| Bytes(number.parse().unwrap()));
        let space = program.site(site).space;
        Some(Placement { offsets: offsets.collect(), ..Placement::at(space, Bytes::ZERO) })
    };
    program.sites().ids().map(place).collect()
}

#[test]
fn placements_of_the_original_are_caught_and_ours_are_not() {
    for part in parts("defects.mlir") {
        let document = Document::read(&part, Dialects::builtin()).unwrap();
        let lowered = lower(&document).unwrap();
        let original = given(&lowered, comment(&part, "original").unwrap());
        let planned = plan_memory::run(&document, &lowered, &Options::default(), None, None, &Request::default());
        let planned = planned.unwrap_or_else(|error| panic!("{error}\n{part}"));
        let function = &planned.functions[0];
        assert_eq!(packing::check(&function.problem, &function.plan), [], "{part}");
        let ours = dataflow::SitePlan { placements: planned.rewrite.placements.clone(), owners: Default::default() };
        assert!(dataflow::check(&lowered.program, &ours).is_empty(), "{part}");
        if comment(&part, "caught by") == Some("packing") {
            let mut plan = Plan { placements: IndexVec::new(), reused: Vec::new(), ..function.plan.clone() };
            for (&site, ours) in function.sites.iter().zip(&function.plan.placements) {
                let space = ours.as_ref().unwrap().space;
                plan.placements.push(original[site].clone().map(|placement| Placement { space, ..placement }));
            }
            plan.fit_extents(&function.problem);
            let problem = without_sharing(&function.problem);
            assert_ne!(packing::check(&problem, &plan), [], "{part}");
        } else {
            let theirs = dataflow::SitePlan { placements: original, owners: Default::default() };
            assert!(!dataflow::check(&lowered.program, &theirs).is_empty(), "{part}");
        }
    }
}

/// The problem without what we decided to put together.
fn without_sharing(problem: &memplan_core::Problem) -> memplan_core::Problem {
    let mut builder = memplan_core::ProblemBuilder::new();
    for space in problem.spaces() {
        builder.space(space.clone());
    }
    for buffer in problem.buffers() {
        builder.buffer(buffer.clone());
    }
    builder.build().unwrap()
}
