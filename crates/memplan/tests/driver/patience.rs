//! Limits hold in every stage: wherever the driver is when the caller's patience ends, it stops there.
//!
//! Only the last test waits for the clock. In the others a [`Patience`] ends at a given question, which is at the same
//! place every time, so that every stage can be cut, and what a stage asks can be counted.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use memplan::compare::Comparison;
use memplan::core::patience::{GRACE, INTERVAL, Patience};
use memplan::core::{PassSpec, Problem};
use memplan::driver::{self, Failure, How, Solver};
use memplan::format::Input;
use memplan::front_end::{Claim, FrontEnd, MergeAlloc, Output, Places, Plain, PlanMemory, StorageRewrite};
use memplan::mlir::pass::plan_memory::Options;
use memplan::models::records::{csv, json};
use memplan::planner::{Request, STRATEGIES};
use memplan::source::Source;
use memplan_mlir::pass::{PassError, plan_memory::run};
use memplan_mlir::{Dialects, Document, lower_kernels};
use memplan_program::Apart;
use memplan_testkit::{mlir, stress};

/// Something to do with a text of any size.
struct Job {
    name: &'static str,
    text: fn(usize) -> Source,
    run: fn(&Source) -> Result<(), Failure>,
    /// Looks at the clock while reading, while planning and checking, and while writing and reading again.
    looks_by_stage: fn(&Source) -> [u64; 3],
}

/// A job for a front end.
macro_rules! job {
    ($name:literal, $front_end:expr, $text:expr) => {
        Job {
            name: $name,
            text: $text,
            run: |source| driver::run(&$front_end, source, &How::default().strict()).map(|_| ()),
            looks_by_stage: |source| looks_by_stage(&$front_end, source),
        }
    };
}

const JOBS: &[Job] = &[
    job!("records", Plain::default(), |size| as_csv(&stress::chains(size))),
    job!("nests", Plain::default(), |size| as_csv(&stress::nests(size))),
    job!("ties", Plain::default(), |size| as_json(&stress::ties(size))),
    job!("spaces", Plain::default(), |size| as_json(&stress::spaces(size))),
    job!("functions that are only planned", Plain::default(), |size| as_mlir(mlir::functions(size))),
    job!("functions", MergeAlloc::default(), |size| as_mlir(mlir::functions(size))),
    job!("blocks", MergeAlloc::default(), |size| as_mlir(mlir::blocks(size))),
    job!("regions", MergeAlloc::default(), |size| as_mlir(mlir::regions(size))),
    job!("carried", MergeAlloc::default(), |size| as_mlir(mlir::carried(size))),
    job!("kernel", plan_memory(), |size| as_mlir(mlir::kernel(size))),
    job!("script", StorageRewrite::default(), as_script),
];

fn plan_memory() -> PlanMemory {
    let spec: PassSpec = "plan-memory{target=Ascend910B1}".parse().unwrap();
    PlanMemory { options: Options::parse(&spec.options).unwrap() }
}

fn expected<T>(front_end: &impl FrontEnd, result: Result<T, Failure>) -> T {
    result.unwrap_or_else(|failure| panic!("{}: {failure}", front_end.name()))
}

fn looks_by_stage<F: FrontEnd>(front_end: &F, source: &Source) -> [u64; 3] {
    let patience = Patience::new(None, None);
    let _current = patience.enter();
    let how = How::default().strict();
    let input = expected(front_end, driver::read(front_end, source, &how));
    let read = patience.looks();
    let laid = expected(front_end, driver::lay_out(front_end, &input, &how));
    let planned = patience.looks();
    expected(front_end, driver::emit(front_end, &input, &laid));
    [read, planned - read, patience.looks() - planned]
}

fn as_csv(problem: &Problem) -> Source {
    Source::new("buffers.csv", csv::write(problem))
}

fn as_json(problem: &Problem) -> Source {
    Source::new("problem.json", json::write(problem))
}

fn as_mlir(text: String) -> Source {
    Source::new("program.mlir", text)
}

/// A chain of element-wise loops, each into a buffer of its own.
fn as_script(size: usize) -> Source {
    let mut text = "# from tvm.script import tir as T\n@T.prim_func\ndef chain(A: T.Buffer((64,), \"float32\"), \
                    B: T.Buffer((64,), \"float32\")):\n"
        .to_owned();
    let mut from = "A".to_owned();
    for index in 0..size {
        _ = writeln!(text, "    x{index} = T.allocate([64], \"float32\", \"global\")");
        _ = writeln!(text, "    x{index}_1 = T.Buffer((64,), \"float32\", data=x{index})");
        _ = writeln!(
            text,
            "    for i{index} in range(64):\n        x{index}_1[i{index}] = {from}[i{index}] + T.float32(1)"
        );
        from = format!("x{index}_1");
    }
    _ = writeln!(text, "    for j in range(64):\n        B[j] = {from}[j]");
    Source::new("chain.py", text)
}

impl Job {
    /// The looks at the clock that the whole job takes.
    fn looks(&self, source: &Source) -> u64 {
        (self.looks_by_stage)(source).iter().sum()
    }

    /// The stage in which the given look happens; `None` if the job ends before it.
    fn stage_at(&self, source: &Source, look: u64) -> Option<&'static str> {
        let _current = Patience::of_questions(look).enter();
        match (self.run)(source) {
            Ok(()) => None,
            Err(Failure::Stopped(stopped)) => Some(stopped.stage),
            Err(failure) => panic!("{}: stopped at look {look}, and said: {failure}", self.name),
        }
    }
}

#[test]
fn wherever_patience_ends_the_driver_stops_and_says_where() {
    let mut stages = BTreeSet::new();
    for job in JOBS {
        let source = (job.text)(300);
        let looks = job.looks(&source);
        for part in 0..64 {
            let look = looks * part / 64;
            let stage = job.stage_at(&source, look);
            // Threads may share the questions out in another way, so the last quarter may be missed.
            assert!(stage.is_some() || part >= 48, "{}: look {look} of {looks} was not heeded", job.name);
            stages.extend(stage);
        }
        assert_eq!(job.stage_at(&source, 2 * looks + 2), None, "{}", job.name);
    }
    let expected = ["checking the plan", "planning", "reading", "reading what was written"];
    assert!(expected.iter().all(|stage| stages.contains(stage)), "{stages:?}");
}

/// A stage that asks in proportion to its input cannot run on for long, however large that is.
#[test]
fn every_stage_asks_at_least_once_for_every_few_parts() {
    for job in JOBS {
        let size = 2_000;
        let looks = (job.looks_by_stage)(&(job.text)(size));
        for (stage, looks) in ["reading", "planning and checking", "writing and reading again"].into_iter().zip(looks) {
            let questions = looks * u64::from(INTERVAL);
            assert!(questions >= size as u64 / 4, "{}: {questions} questions while {stage}", job.name);
        }
    }
}

/// Questions that may still be asked when the answer has been yes once. Every loop that is left asks once more, on each of
/// its threads; none of them goes on to the end of its input.
const MOST_AFTER_THE_END: u64 = 100;

/// Questions that were asked after the end of a patience that ends at a look.
fn questions_after(look: u64, work: impl FnOnce()) -> u64 {
    let patience = Patience::of_questions(look);
    let _current = patience.enter();
    work();
    // Once it is over, every question is a look.
    patience.looks().saturating_sub(look + 1)
}

/// However much is left to do: a stage that was told that the time is over returns, instead of asking for the rest of
/// its input again.
#[test]
fn nothing_goes_on_after_the_end() {
    for job in JOBS {
        let source = (job.text)(2_000);
        let looks = job.looks(&source);
        for look in (0..8).map(|part| looks * part / 10) {
            let after = questions_after(look, || assert!((job.run)(&source).is_err(), "{}", job.name));
            assert!(after <= MOST_AFTER_THE_END, "{}: {after} questions after look {look} of {looks}", job.name);
        }
    }
}

/// A kernel that has no plan because the time is over is not called too large. To explain that took minutes for 10^5
/// buffers, in searches that asked nobody.
#[test]
fn a_kernel_without_a_plan_in_time_is_not_explained() {
    let text = mlir::kernel(300);
    let document = Document::read(&text, Dialects::builtin()).unwrap();
    let (lowered, options) = (lower_kernels(&document).unwrap(), plan_memory().options);
    let plan_within = |looks: u64| {
        let patience = Patience::of_questions(looks);
        let _current = patience.enter();
        let planned = run(&document, &lowered, &options, None, None, &Request::default(), &Apart::default());
        (planned.err(), patience.looks())
    };
    let (error, looks) = plan_within(u64::MAX);
    assert!(error.is_none(), "{error:?}");
    for look in 0..looks {
        let (error, _) = plan_within(look);
        assert!(matches!(error, None | Some(PassError::Stopped)), "look {look} of {looks}: {error:?}");
    }
}

/// The same for every strategy: as many questions as there are buffers, and no more than a few after the end.
#[test]
fn every_strategy_asks_and_ends() {
    let size = 3_000;
    let input = Input::of_problem(stress::chains(size), Vec::new());
    for strategy in STRATEGIES {
        for &assign in strategy.assigns() {
            // Without a search, which ends when its work is done.
            let request = Request { assign, work_limit: Some(0), ..Request::default() };
            let how = How { strategy: Some(*strategy), request, ..How::default() };
            let plan = || driver::lay_out(&Plain::default(), &input, &how);
            let patience = Patience::new(None, None);
            let current = patience.enter();
            let is_refused = matches!(plan(), Err(Failure::Refused(_)));
            drop(current);
            if is_refused {
                continue;
            }
            let (name, looks) = (strategy.name(), patience.looks());
            assert!(looks * u64::from(INTERVAL) >= size as u64 / 4, "{name}: {looks} looks");
            let after = questions_after(looks / 4, || assert!(matches!(plan(), Err(Failure::Stopped(_))), "{name}"));
            assert!(after <= MOST_AFTER_THE_END, "{name}: {after} questions after look {} of {looks}", looks / 4);
        }
    }
}

/// A comparison has a result as soon as one strategy has. The others are named.
#[test]
fn a_comparison_names_the_strategies_that_it_had_no_time_for() {
    let input = Input::of_problem(stress::chains(500), Vec::new());
    let how = How { request: Request { work_limit: Some(0), ..Request::default() }, ..How::default() };
    let begun = RefCell::new(BTreeSet::new());
    let compare = || {
        begun.borrow_mut().clear();
        Comparison::run(&input, None, &how, |name| _ = begun.borrow_mut().insert(name))
    };
    let names = |comparison: &Comparison| -> BTreeSet<String> {
        let planned = comparison.entries.iter().map(|entry| entry.strategy.clone());
        let refused = comparison.refused.iter().map(|refused| refused.strategy.clone());
        planned.chain(refused).chain(comparison.not_tried.iter().map(|&name| name.to_owned())).collect()
    };
    let whole = compare().unwrap();
    assert_eq!((names(&whole).len(), whole.not_tried.len()), (STRATEGIES.len(), 0));
    // The number of looks that leaves time for some strategies and not for all is found by doubling.
    let cut = (4..40).find_map(|power| {
        let _current = Patience::of_questions(1 << power).enter();
        compare().ok().filter(|comparison| !comparison.entries.is_empty())
    });
    let cut = cut.expect("a comparison that was cut short");
    assert!(!cut.not_tried.is_empty() && cut.entries.len() < whole.entries.len());
    assert_eq!(names(&cut), names(&whole));
    // The limit cuts one strategy short. No other is begun after it.
    let cut_short = cut.not_tried.iter().filter(|&name| begun.borrow().contains(name)).count();
    assert!(cut_short <= 1, "{cut_short} strategies were begun and not finished");
}

#[test]
fn a_stopped_stage_says_after_how_long_and_why() {
    let source = as_mlir(mlir::functions(100));
    let _current = Patience::of_questions(0).enter();
    let said = (JOBS[5].run)(&source).unwrap_err().to_string();
    assert!(said.starts_with("stopped at the time limit after ") && said.contains("while reading"), "{said}");
}

/// Records whose check and whose writing begin when the time limit and the grace are over.
struct Late(Plain);

fn sleep_until_the_limit_is_over() {
    std::thread::sleep(GRACE + Duration::from_millis(20));
}

impl FrontEnd for Late {
    type Input = <Plain as FrontEnd>::Input;
    type Laid = <Plain as FrontEnd>::Laid;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn read(&self, source: &Source) -> Result<Self::Input, Failure> {
        self.0.read(source)
    }

    fn lay_out(&self, input: &Self::Input, solver: &mut Solver) -> Result<Self::Laid, Failure> {
        self.0.lay_out(input, solver)
    }

    fn claim<'a>(&self, input: &'a Self::Input, laid: &'a Self::Laid) -> Claim<'a> {
        sleep_until_the_limit_is_over();
        self.0.claim(input, laid)
    }

    fn emit(&self, input: &Self::Input, laid: &Self::Laid) -> Result<Output, Failure> {
        sleep_until_the_limit_is_over();
        self.0.emit(input, laid)
    }

    fn places(&self, input: &Self::Input, output: &Output) -> Result<Places, Failure> {
        sleep_until_the_limit_is_over();
        self.0.places(input, output)
    }
}

/// A time limit ends neither the check of a plan in hand nor its writing. (That Ctrl-C ends both is a test of
/// `memplan_core::patience`.)
#[test]
fn a_plan_in_hand_is_checked_and_written_although_the_time_is_over() {
    let source = as_csv(&stress::chains(2_000));
    let front_end = Late(Plain::default());
    let how = How::default().strict();
    let input = expected(&front_end, driver::read(&front_end, &source, &how));
    let patience = Patience::new(Some(Duration::ZERO), None);
    let _current = patience.enter();
    let laid = expected(&front_end, driver::lay_out(&front_end, &input, &how));
    expected(&front_end, driver::emit(&front_end, &input, &laid));
}
