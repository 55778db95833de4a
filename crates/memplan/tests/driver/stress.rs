//! Every family of the test kit goes through the whole driver at a size that takes about a second in a test build. The
//! work must grow about as the input does.
//!
//! Work is counted in looks at the clock ([`Patience::looks`]): every loop whose length depends on the input asks
//! whether the caller still waits, in reading, planning, checking and reading again. So the number of looks measures
//! the work, and it is the same on a busy machine as on an idle one.

use memplan::core::PassSpec;
use memplan::core::patience::Patience;
use memplan::driver::{self, How};
use memplan::format::Input;
use memplan::front_end::Plain;
use memplan::pass;
use memplan::planner::Request;
use memplan::source::Source;
use memplan_testkit::{mlir, stress};

/// The larger of the two sizes of a problem that are compared, in buffers.
const BUFFERS: usize = 20_000;
/// The larger of the two sizes of a program.
const PROGRAM: usize = 2_000;
/// How many times larger the larger size is.
const TIMES: usize = 4;
/// How many times more looks the larger size may take. Linear work takes 4 times as many; the rest is room for a
/// logarithm, and for a search that does something else on another problem.
const GROWTH: u64 = 6;

/// Fewer looks than this count as this many: a small number may grow by more than `GROWTH` without a quadratic step.
const FEW: u64 = 50;

fn looks(work: impl FnOnce()) -> u64 {
    let patience = Patience::new(None, None);
    let _current = patience.enter();
    work();
    assert!(patience.ended().is_none());
    patience.looks()
}

fn assert_growth(name: &str, few: u64, many: u64) {
    assert!(many <= GROWTH * few.max(FEW), "{name}: {TIMES} times the input takes {many} looks instead of {few}");
}

/// A request without a search. A search spends all of its work on a small problem as on a large one, which would hide
/// how the rest grows.
fn how() -> How<'static> {
    How { request: Request { work_limit: Some(0), ..Request::default() }, ..How::default() }.strict()
}

#[test]
fn problems_of_every_family_are_planned_and_checked() {
    for (name, make) in stress::FAMILIES {
        let planned = [BUFFERS / TIMES, BUFFERS].map(|size| {
            let input = Input::of_problem(make(size), Vec::new());
            looks(|| {
                let planned = driver::lay_out(&Plain::default(), &input, &how());
                let planned = planned.unwrap_or_else(|failure| panic!("{name}: {failure}"));
                assert!(planned.outcome.plan().is_some(), "{name}");
            })
        });
        assert_growth(name, planned[0], planned[1]);
    }
}

#[test]
fn programs_of_every_family_are_rewritten_and_read_again() {
    for (name, make) in mlir::FAMILIES {
        let rewritten = [PROGRAM / TIMES, PROGRAM].map(|size| rewrite("merge-alloc", &make(size)));
        assert_growth(name, rewritten[0], rewritten[1]);
    }
}

/// Kernels of up to five hundred buffers do without a search, which spends all its work on some larger ones.
#[test]
fn kernels_are_rewritten_and_read_again() {
    let rewritten = [500 / TIMES, 500].map(|size| rewrite(KERNEL, &mlir::kernel(size)));
    assert_growth("kernel", rewritten[0], rewritten[1]);
}

const KERNEL: &str = "plan-memory{target=Ascend910B1}";

/// The looks that a pass takes.
fn rewrite(spec: &str, text: &str) -> u64 {
    let spec: PassSpec = spec.parse().unwrap();
    let pass = pass::named(&spec.name).unwrap_or_else(|failure| panic!("{failure}"));
    let source = Source::new("program.mlir", text);
    looks(|| {
        let output = pass.run(&source, &spec.options, &how());
        assert!(output.is_ok_and(|output| !output.bytes.is_empty()), "{}", spec.name);
    })
}
