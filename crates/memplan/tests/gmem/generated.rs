//! Random networks through every mode and chip: whatever comes out has passed the
//! packing and the dataflow check, and is never larger than what today's compilers
//! reserve.

use memplan::core::{Buffer, Bytes, Id, Lifetime, ProblemBuilder, Space, SpaceId, bound};
use memplan::mlir::pass::assign_gmem::{Options, todays_sizes};
use memplan::mlir::{Dialects, Document};
use memplan_planner::{Request, find, plan};
use serde_json::Value;

use crate::generate::network;
use crate::text::{assigned, attribute, complaints, data, without_addresses};

const SETTINGS: [(&str, &str); 10] = [
    ("bm1684x", "basic"),
    ("bm1684x", "in_reuse"),
    ("bm1684x", "io_alone"),
    ("bm1684x", "io_reloc"),
    ("bm1688", "io_tag"),
    ("bm1688", "io_tag_fuse"),
    ("bm1688", "io_alone"),
    ("bm1684", "basic"),
    ("bm1690", "basic"),
    ("cv183x", "basic"),
];

#[test]
fn two_hundred_networks() {
    let (mut smaller, mut merged, mut kept_apart) = (0, 0, 0);
    for seed in 0..200 {
        let (chip, mode) = SETTINGS[seed % SETTINGS.len()];
        let source = network(seed as u64, 10 + seed % 40, chip, mode);
        let text = assigned(&source, "assign-gmem");
        assert_eq!(complaints(&text), Vec::<String>::new(), "seed {seed}");
        let document = Document::read(&source, Dialects::builtin()).unwrap();
        let today = todays_sizes(&document, &Options::default()).unwrap()[0];
        let ours = attribute(&text, "neuron_size").unwrap();
        assert!(today.is_none_or(|today| ours <= today), "seed {seed}: {ours}, today {today:?}");
        smaller += usize::from(today.is_some_and(|today| ours < today));
        merged += text.matches("only_merge = true").count();
        kept_apart += text.matches("only_merge = false").count();
        // Only addresses and the marks of concats have changed.
        let unmarked = |text: &str| text.replace("only_merge = true", "only_merge = false");
        assert_eq!(unmarked(&without_addresses(&text)), unmarked(&source), "seed {seed}");
    }
    // The networks are what they are meant to be.
    assert!(smaller > 20 && merged > 50 && kept_apart > 50, "{smaller} smaller, {merged} merged, {kept_apart} not");
}

#[test]
fn the_documented_algorithm_is_sound_on_random_networks() {
    for seed in 0..60 {
        let source = network(1000 + seed, 30, "bm1684x", "basic");
        let text = assigned(&source, "assign-gmem{mode=documented}");
        assert_eq!(complaints(&text), Vec::<String>::new(), "seed {seed}");
    }
}

#[test]
fn every_strategy_that_can_may_be_asked_for() {
    use memplan::core::PassSpec;
    use memplan::driver::{Failure, How};
    use memplan::pass::find as find_pass;
    use memplan::planner::STRATEGIES;
    use memplan::source::Source;

    let source = Source::new("network.mlir", network(7, 25, "bm1684x", "basic"));
    let spec: PassSpec = "assign-gmem".parse().unwrap();
    let mut planned = 0;
    for &strategy in STRATEGIES {
        let how = How { strategy: Some(strategy), ..How::default().strict() };
        match find_pass("assign-gmem").unwrap().run(&source, &spec.options, &how) {
            Ok(_) => planned += 1,
            Err(Failure::Refused(_) | Failure::NoPlan(_)) => {}
            Err(error) => panic!("{}: {error}", strategy.name()),
        }
    }
    assert!(planned >= 15, "{planned} strategies");
}

#[test]
fn recorded_allocator_inputs_reach_their_bound() {
    let file: Value = serde_json::from_str(&data("conformance/gmem.json")).unwrap();
    let cases = file["allocator_cases"].as_array().unwrap();
    let mut at_bound = 0;
    for case in cases {
        let mut builder = ProblemBuilder::new();
        builder.space(Space { alignment: Bytes(4096), ..Space::new("neuron") });
        for tensor in case["tensors"].as_array().unwrap() {
            let number = |key: &str| tensor[key].as_u64().unwrap();
            let life = Lifetime::new(number("start"), number("end"));
            builder.buffer(Buffer::new(tensor["name"].as_str().unwrap(), number("size"), life));
        }
        let problem = builder.build().unwrap();
        let outcome =
            plan(find("auto").unwrap(), &problem, &Request { work_limit: Some(100_000), ..Request::default() });
        let extent = outcome.unwrap().plan().unwrap().extents[SpaceId::from_index(0)];
        assert!(extent.0 <= case["neuron_size"].as_u64().unwrap(), "{}", case["name"]);
        assert_eq!(bound::lower_bound(&problem).0, case["lower_bound"].as_u64().unwrap(), "{}", case["name"]);
        at_bound += usize::from(extent.0 == case["lower_bound"].as_u64().unwrap());
    }
    assert!(cases.len() == 30 && at_bound >= 29, "{at_bound} of {}", cases.len());
}
