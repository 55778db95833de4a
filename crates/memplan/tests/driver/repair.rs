//! A plan that a check rejects is made again; if that does not help, or is not wanted, there is no result.

use memplan::core::{Bytes, Id, Lifetime, Outcome, Placement, Plan, Problem, SpaceId, Stop};
use memplan::driver::{self, Failure, How, Solver};
use memplan::front_end::{Claim, FrontEnd, MergeAlloc, Output, Places};
use memplan::mlir::pass::Rewrite;
use memplan::planner::{Assign, Feature, Request, Strategy, find};
use memplan::source::Source;

/// A strategy made of a function. It goes by the name of one of memplan's, whose mistakes are repaired.
struct Wrong(fn(&Problem, &Request) -> Outcome);

impl Strategy for Wrong {
    fn name(&self) -> &'static str {
        "search"
    }
    fn describe(&self) -> &'static str {
        "makes mistakes"
    }
    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Offsets]
    }
    fn supports(&self, _: Feature, _: Assign) -> bool {
        true
    }
    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        (self.0)(problem, request)
    }
}

/// Puts everything at offset 0, whatever it is told.
fn careless(problem: &Problem, _: &Request) -> Outcome {
    let mut plan = Plan::empty(problem);
    for placement in plan.placements.iter_mut() {
        *placement = Some(Placement::at(SpaceId::from_index(0), Bytes::ZERO));
    }
    plan.fit_extents(problem);
    Outcome::Feasible { plan, lower_bound: Bytes::ZERO, stop: Stop::Finished }
}

/// Believes that every buffer dies at once, but keeps apart what it is told to keep apart.
fn forgetful(problem: &Problem, request: &Request) -> Outcome {
    let mut builder = problem.to_builder();
    for buffer in builder.buffers_mut().iter_mut() {
        let start = buffer.lifetime.start().map_or(0, |step| step.0);
        buffer.lifetime = Lifetime::new(start, start + 1);
    }
    find("auto").unwrap().plan(&builder.build().unwrap(), request)
}

const RECORDS: &str = "id,lower,upper,size\na,0,9,64\nb,1,9,32\nc,2,9,32\nd,3,4,8\n";
const PROGRAM: &str = "func @f(%in) {\n  a  alloc %x 8\n  a  alloc %y 8\n  w  write %x\n  w  write %y\n  r  read %x, read %y\n  leave\n}\n";

#[test]
fn a_plan_that_overlaps_does_not_get_out() {
    for strict in [true, false] {
        let how = How { strict, ..How::with(&Wrong(careless)) };
        let error = driver::plan(&Source::new("two.csv", RECORDS), &how).unwrap_err();
        let Failure::Unsound(unsound) = &error else { panic!("{error}") };
        assert!(unsound.findings.iter().any(|finding| finding.code == "packing::overlap"));
        assert!(error.to_string().contains("a bug in memplan"), "{error}");
        let alone = driver::plan(&Source::new("one.csv", "id,lower,upper,size\na,0,2,64\n"), &how);
        assert!(alone.is_ok());
    }
}

/// The same as a caller's own strategy, which memplan does not know.
struct Theirs(Wrong);

impl Strategy for Theirs {
    fn name(&self) -> &'static str {
        "theirs"
    }
    fn describe(&self) -> &'static str {
        self.0.describe()
    }
    fn assigns(&self) -> &'static [Assign] {
        self.0.assigns()
    }
    fn supports(&self, feature: Feature, assign: Assign) -> bool {
        self.0.supports(feature, assign)
    }
    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        self.0.plan(problem, request)
    }
}

#[test]
fn mistakes_of_a_callers_strategy_are_its_own() {
    for (name, text) in [("four.csv", RECORDS), ("f.program", PROGRAM)] {
        for function in [careless, forgetful] {
            let error = driver::plan(&Source::new(name, text), &How::with(&Theirs(Wrong(function)))).unwrap_err();
            let Failure::WrongStrategy { strategy, findings } = &error else { panic!("{error}") };
            assert_eq!(strategy, "theirs");
            assert!(findings.iter().any(|finding| finding.code == "packing::overlap"), "{error}");
            assert!(!error.to_string().contains("memplan"), "{error}");
        }
    }
}

#[test]
fn a_plan_that_changes_a_program_is_found_by_both_checks() {
    let how = How::with(&Wrong(careless)).strict();
    let Err(Failure::Unsound(unsound)) = driver::plan(&Source::new("f.program", PROGRAM), &how) else {
        panic!("two live buffers on the same bytes");
    };
    let codes: Vec<&str> = unsound.findings.iter().map(|finding| finding.code).collect();
    assert!(codes.contains(&"packing::overlap") && codes.contains(&"dataflow::overwritten"), "{codes:?}");
}

#[test]
fn what_is_named_is_kept_apart_and_planned_again() {
    for (name, text) in [("four.csv", RECORDS), ("f.program", PROGRAM)] {
        let source = Source::new(name, text);
        let repaired = driver::plan(&source, &How::with(&Wrong(forgetful))).unwrap();
        assert!(!repaired.repairs().is_empty());
        assert!(repaired.repairs()[0].contains("kept apart") && repaired.repairs()[0].contains("please report"));
        assert_eq!(
            repaired.outcome.plan().unwrap().placements.iter().flatten().count(),
            repaired.problem.buffers().len()
        );
        let refused = driver::plan(&source, &How::with(&Wrong(forgetful)).strict()).unwrap_err();
        assert!(matches!(refused, Failure::Unsound(_)));
        let right = driver::plan(&source, &How::default().strict()).unwrap();
        assert_eq!(right.repairs(), [] as [String; 0]);
    }
}

/// merge-alloc, except that its plan puts two live buffers on the same bytes as long as nobody objects.
struct Overlapping;

impl FrontEnd for Overlapping {
    type Input = <MergeAlloc as FrontEnd>::Input;
    type Laid = Rewrite;

    fn name(&self) -> &str {
        "overlapping"
    }
    fn read(&self, source: &Source) -> Result<Self::Input, Failure> {
        MergeAlloc::default().read(source)
    }
    fn lay_out(&self, input: &Self::Input, solver: &mut Solver) -> Result<Rewrite, Failure> {
        let mut rewrite = MergeAlloc::default().lay_out(input, solver)?;
        if solver.apart(0).is_empty() {
            for placement in rewrite.placements.iter_mut().flatten() {
                placement.offsets = [Bytes::ZERO].into_iter().collect();
            }
        }
        Ok(rewrite)
    }
    fn claim<'a>(&self, input: &'a Self::Input, laid: &'a Rewrite) -> Claim<'a> {
        MergeAlloc::default().claim(input, laid)
    }
    fn emit(&self, input: &Self::Input, laid: &Rewrite) -> Result<Output, Failure> {
        MergeAlloc::default().emit(input, laid)
    }
    fn places(&self, input: &Self::Input, output: &Output) -> Result<Places, Failure> {
        MergeAlloc::default().places(input, output)
    }
}

const MODULE: &str = "func.func @f(%out: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%a : memref<4xf32>)
  linalg.fill ins(%one : f32) outs(%b : memref<4xf32>)
  linalg.add ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%out : memref<4xf32>)
  return
}
";

#[test]
fn a_rewritten_program_is_repaired_too() {
    let source = Source::new("f.mlir", MODULE);
    let refused = driver::run(&Overlapping, &source, &How::default().strict()).unwrap_err();
    assert!(matches!(&refused, Failure::Unsound(unsound) if unsound.maker == "overlapping"), "{refused}");
    let repaired = driver::run(&Overlapping, &source, &How::default()).unwrap();
    assert!(!repaired.repairs().is_empty());
    assert!(repaired.repairs()[0].contains("%a"), "{:?}", repaired.repairs());
    assert_eq!(repaired.text().matches("memref.view").count(), 2);
}
