//! What must hold for any bytes at all, whoever reads them: no panic, an answer within
//! a bound on work, and never "this is a bug in memplan". The tests run each check for a
//! moment, the fuzz targets for hours.

use memplan::core::{Buffer, Bytes, Lifetime, Overlay, OverlayKind, Plan, Problem, ProblemBuilder, Space};
use memplan::driver::{self, Failure, How};
use memplan::front_end::{Plain, assign_gmem};
use memplan::mlir::Dialects;
use memplan::mlir::pass::assign_gmem::Chips;
use memplan::mlir::pass::plan_memory::Target;
use memplan::models::tflite::scratch::ScratchTable;
use memplan::models::{npz, plan};
use memplan::pass::{PassSpec, find};
use memplan::planner::Request;
use memplan::source::Source;
use memplan::{format, tensor};

/// Search nodes for each input.
const WORK: u64 = 500;

/// A pass with its options, as on the command line.
pub(crate) const PASSES: [(&str, &str); 15] = [
    ("merge-alloc", "buffers.mlir"),
    ("merge-alloc{planner-options=size-first}", "buffers.mlir"),
    ("merge-alloc{analysis-only}", "buffers.mlir"),
    ("early-dealloc", "buffers.mlir"),
    ("plan-memory", "kernel.mlir"),
    ("plan-memory{profile=regbase plan-memory-strategy=largest-first enable-memory-display}", "kernel.mlir"),
    ("plan-memory{mem-plan-mode=global-work-space-plan enable-global-workspace-reuse}", "kernel.mlir"),
    ("assign-gmem", "network.mlir"),
    ("assign-gmem{mode=documented}", "network.mlir"),
    ("storage-rewrite", "function.py"),
    ("storage-rewrite{compat}", "function.py"),
    ("storage-rewrite{flatten compat}", "function.py"),
    ("storage-rewrite{plan=first-fit}", "function.py"),
    ("lower", "graph.te.json"),
    ("lower{compat}", "graph.te.json"),
];

/// A pass reads it or says why not, and what it plans passes every check.
pub(crate) fn pass(spec: &str, name: &str, bytes: &[u8]) {
    let spec: PassSpec = spec.parse().expect("the pass exists");
    let request = Request { work_limit: Some(WORK), threads: Some(1), ..Request::default() };
    let how = How { request, ..How::default().strict() };
    let source = Source::new(name, bytes);
    match find(&spec.name).expect("the pass exists").run(&source, &spec.options, &how) {
        Ok(rewritten) => assert!(rewritten.notes.iter().all(|note| !note.is_empty())),
        Err(Failure::Unsound(bug)) => panic!("{bug}"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if spec.name == "assign-gmem" {
        let _ = assign_gmem::reuse_table(&source);
        let _ = assign_gmem::check_addresses(&source, &source);
    }
}

/// Tables of dialects, devices, chips and scratch memory.
pub(crate) fn toml(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let errors = [
        Dialects::builtin().with_toml(&text).err().map(|error| error.to_string()),
        text.parse::<Target>().err().map(|error| error.to_string()),
        Chips::builtin().with_toml(&text).err().map(|error| error.to_string()),
        ScratchTable::from_toml(&text).err(),
    ];
    assert!(errors.into_iter().flatten().all(|error| !error.is_empty()));
}

/// Weight files.
pub(crate) fn weights(bytes: &[u8]) {
    match npz::arrays(bytes) {
        Ok(arrays) => {
            for array in arrays {
                let (Some((shape, width)), count) = (&array.shape, array.bytes) else { continue };
                assert_eq!(
                    shape.iter().map(|&size| u128::from(size)).product::<u128>() * u128::from(*width),
                    count.into()
                );
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A problem with most features that a plan file speaks of.
pub(crate) fn problem() -> Problem {
    let mut builder = ProblemBuilder::new();
    let [near, far] = ["near", "far"].map(|name| builder.space(Space::new(name)));
    let a = builder.buffer(Buffer::new("a", 64, Lifetime::new(0, 4)));
    let b = builder.buffer(Buffer { slots: 2, ..Buffer::new("b,\"1\"", 32, Lifetime::new(2, 6)) });
    let c = Buffer { spaces: [near, far].into_iter().collect(), ..Buffer::new(" c ", 16, Lifetime::new(3, 9)) };
    builder.buffer(c);
    builder.buffer(Buffer { alignment: Bytes(16), ..Buffer::new("", 8, Lifetime::new(5, 7)) });
    builder.overlay(Overlay { buffer: b, over: a, kind: OverlayKind::AnyOffset });
    builder.build().expect("a sound problem")
}

/// A plan as one of our files would have it.
pub(crate) fn a_plan(problem: &Problem) -> Plan {
    let request = Request { work_limit: Some(WORK), ..Request::default() };
    let input = format::Input::of_problem(problem.clone(), Vec::new());
    let planned = driver::lay_out(&Plain::default(), &input, &How { request, ..How::default().strict() });
    planned.expect("it takes the problem").outcome.plan().expect("there is room").clone()
}

/// Plans of any tool: what is read can be judged, and written and read again.
pub(crate) fn plans(bytes: &[u8]) {
    let problem = problem();
    for column in [None, Some("place")] {
        match plan::read(bytes, &problem, column) {
            Ok(found) => {
                let _ = memplan::verify::packing::check(&problem, &found);
                if found.objects.is_empty()
                    && found.placements.iter().flatten().all(|place| place.strides.is_empty() && place.object.is_none())
                {
                    let again = plan::csv::read(&plan::csv::write(&problem, &found), &problem, None);
                    assert_eq!(again.expect("what we write we read").placements, found.placements);
                }
            }
            Err(error) => assert!(error.line >= 1 && error.span.start as usize <= bytes.len()),
        }
    }
}

/// What readers are told: a symbolic dimension of the seeds has a value.
pub(crate) fn read_options() -> format::ReadOptions {
    let mut options = format::ReadOptions::default();
    options.models.dimensions.insert("batch".to_owned(), 2);
    options
}

/// A file of a format: read, planned, checked.
pub(crate) fn file(format: &'static dyn format::Format, name: &str, bytes: &[u8]) {
    planned(&Source { format: Some(format), options: read_options(), ..Source::new(name, bytes) });
}

/// Programs in the text form: read, analysed, planned, checked.
pub(crate) fn program(bytes: &[u8]) {
    let source = Source { format: format::find("program"), ..Source::new("input.program", bytes) };
    planned(&source);
}

/// Tensor expressions: every stage as text, and planned.
pub(crate) fn tensor_expressions(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        for stage in ["schedule-ops", "primfunc", "flat", "prepared", "rewritten"] {
            let _ = tensor::te::dump_text(text, stage, &tensor::te::LowerOptions::default());
        }
    }
    let source = Source { format: format::find("te"), ..Source::new("input.te.json", bytes) };
    planned(&source);
}

/// Whatever can be read can be planned, or the answer is no.
fn planned(source: &Source) {
    let request = Request { work_limit: Some(WORK), threads: Some(1), ..Request::default() };
    match driver::plan(source, &How { request, ..How::default().strict() }) {
        Err(Failure::Unsound(bug)) => panic!("{bug}"),
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(_) => {}
    }
}
