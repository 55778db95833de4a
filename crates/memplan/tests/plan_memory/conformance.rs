//! Kernels of our own for every recorded kernel of the original
//! (`conformance.mlir`), compared with what the record says the original does.
//!
//! A kernel says which records it stands for (`// record: FILE CHUNK`, the
//! functions by name) and has the same buffers, in the order of the new text.
//! Unless the kernel says otherwise, the same buffers share bytes, each has as
//! many addresses, and each memory is planned the same way: side by side, within
//! pipes, or by levels, with the same warning. Two words say otherwise:
//!
//! - `// differs: why`: the placements differ, and ours takes no more memory;
//! - `// unsound: why`: the original's placement is wrong, and caught as such.
//!
//! Both are checked to be true.

use std::collections::{BTreeMap, BTreeSet};

use memplan_core::{Bytes, Placement};
use memplan_mlir::pass::PassError;
use memplan_mlir::pass::plan_memory::{self, Options, Planned, Profile};
use memplan_mlir::{Dialects, Document, Lowered, lower};
use memplan_planner::Request;
use memplan_planner::strategy::levels::{Mode, SpaceReport};
use memplan_verify::{dataflow, packing};
use serde_json::Value;

use crate::kernels::{comment, comments, parts};

/// A pointer cast of the new text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cast {
    name: String,
    space: String,
    bytes: u64,
    offsets: Vec<u64>,
}

/// How a function's placement compares with the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// The same addresses.
    Equal,
    /// The same buffers share, side by side or by levels as recorded.
    SameSharing,
    /// Something else, and no larger.
    Different,
}

#[test]
fn kernels_share_the_buffers_that_the_original_lets_share() {
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    let mut wrong = String::new();
    let parts = parts("conformance.mlir");
    let mut refused = 0;
    for record in records() {
        let name = format!("{} {} {}", text(&record["file"]), record["chunk"], text(&record["func"]));
        let key = format!("{} {}", text(&record["file"]), record["chunk"]);
        let part = parts.iter().find(|part| comments(part, "record").any(|one| one == key));
        let part = part.unwrap_or_else(|| panic!("no kernel for {name}"));
        match check(part, &record) {
            Ok(Some(verdict)) => *counts.entry(verdict).or_default() += 1,
            Ok(None) => refused += 1,
            Err(why) => wrong += &format!("{name}: {why}\n"),
        }
    }
    assert_eq!(wrong, "");
    println!("{counts:?}, {refused} refused as recorded");
    // Which donor is random in seven of them (one recorded twice), and one is wrong.
    assert_eq!((counts[&Verdict::Equal], counts[&Verdict::SameSharing], counts[&Verdict::Different]), (102, 8, 8));
    assert_eq!(refused, 9);
}

/// The records of the original.
fn records() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/conformance/plan-memory.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Compares a function of a kernel with its record; `None` if both refuse it.
fn check(part: &str, record: &Value) -> Result<Option<Verdict>, String> {
    let document = Document::read(part, Dialects::builtin()).map_err(|error| error.to_string())?;
    let lowered = lower(&document).map_err(|error| error.to_string())?;
    let regbase = text(&record["pass_"]).ends_with("regbase");
    let profile = if regbase { Profile::RegisterBased } else { Profile::MemoryBased };
    let options = Options { profile, ..Options::default() };
    let planned = plan_memory::run(&document, &lowered, &options, None, None, &Request::default());
    let planned = match planned {
        Err(error) => return refusal(&error, record).map(|()| None),
        Ok(planned) => planned,
    };
    if record["error"].is_object() {
        return Err("fits".to_owned());
    }
    sound(&lowered, &planned)?;
    let new = planned.rewrite.edits.apply(part).map_err(|error| error.to_string())?;
    crate::kernels::again(&new, if regbase { "plan-memory{profile=regbase}" } else { "plan-memory" });
    let ours = casts(&new, text(&record["func"]));
    let theirs: Vec<Cast> = record["casts_in_print_order"].as_array().unwrap().iter().map(recorded_cast).collect();
    let sizes = |casts: &[Cast]| casts.iter().map(|cast| (cast.space.clone(), cast.bytes)).collect::<Vec<_>>();
    if sizes(&ours) != sizes(&theirs) {
        return Err(format!("not the recorded buffers:\n  {ours:?}\n  {theirs:?}"));
    }
    let verdict = compare(&ours, &theirs, &ways(&planned, record));
    let report = || format!("{verdict:?}\n  ours   {}\n  theirs {}", shown(&ours), shown(&theirs));
    if comment(part, "unsound").is_some() {
        return match original_is_caught(&lowered, &theirs) {
            true => Ok(Some(Verdict::Different)),
            false => Err(format!("the original's placement is fine: {}", report())),
        };
    }
    match (verdict, comment(part, "differs").is_some()) {
        (Verdict::Different, true) if extents(&ours).iter().any(|(space, bytes)| *bytes > extents(&theirs)[space]) => {
            Err(format!("takes more memory: {}", report()))
        }
        (Verdict::Different, true) | (Verdict::Equal | Verdict::SameSharing, false) => Ok(Some(verdict)),
        (Verdict::Different, false) => Err(format!("{} {:?}", report(), ways(&planned, record))),
        (_, true) => Err(format!("does not differ: {}", report())),
    }
}

/// Whether a failure is the recorded one, byte for byte.
fn refusal(error: &PassError, record: &Value) -> Result<(), String> {
    let Some(memories) = record["error"].as_object() else {
        let unwritten = record["casts_in_print_order"].as_array().unwrap().iter().any(|cast| cast["offsets"].is_null());
        let says = error.to_string() == "'memref.alloc' op error: read before first write";
        return if unwritten && says { Ok(()) } else { Err(error.to_string()) };
    };
    let PassError::DoesNotFit(overflows) = error else { return Err(error.to_string()) };
    let reason = match text(&record["pass_"]).ends_with("regbase") {
        true => "",
        false => {
            " (possible reason: tiling basic block is too large or block number is more than what user expect \
             due to multi-buffer feature is enabled and some ops need extra local buffer.)"
        }
    };
    let expected: Vec<String> = memories
        .iter()
        .map(|(memory, numbers)| {
            let (required, capacity) = (&numbers["required_bits"], &numbers["capacity_bits"]);
            format!("{memory} overflow, requires {required} bits while {capacity} bits available!{reason}")
        })
        .collect();
    let found: Vec<&str> = overflows.iter().map(|overflow| overflow.message.as_str()).collect();
    if found == expected { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
}

/// Both checks, as the pass itself makes them.
fn sound(lowered: &Lowered, planned: &Planned) -> Result<(), String> {
    for function in &planned.functions {
        let violations = packing::check(&function.problem, &function.plan);
        if !violations.is_empty() {
            return Err(format!("{violations:?}"));
        }
    }
    let plan = dataflow::SitePlan { placements: planned.rewrite.placements.clone(), owners: BTreeMap::default() };
    match dataflow::check(&lowered.program, &plan).first() {
        None => Ok(()),
        Some(violation) => Err(format!("{violation:?}")),
    }
}

/// Whether the recorded addresses, given to our kernel, fail the dataflow check.
fn original_is_caught(lowered: &Lowered, theirs: &[Cast]) -> bool {
    let program = &lowered.program;
    let place = |site| {
        let info = program.site(site);
        let name = format!("%{}", program.value(info.value).name);
        let cast = theirs.iter().find(|cast| cast.name == name)?;
        let offsets = cast.offsets.iter().copied().map(Bytes).collect();
        Some(Placement { offsets, ..Placement::at(info.space, Bytes::ZERO) })
    };
    let placements = program.sites().ids().map(place).collect();
    !dataflow::check(&lowered.program, &dataflow::SitePlan { placements, owners: BTreeMap::default() }).is_empty()
}

fn recorded_cast(cast: &Value) -> Cast {
    let numbers = |value: &Value| -> Vec<u64> {
        value.as_array().map_or_else(Vec::new, |list| list.iter().map(|number| number.as_u64().unwrap()).collect())
    };
    Cast {
        name: text(&cast["value"]).to_owned(),
        space: text(&cast["space"]).to_owned(),
        bytes: cast["bytes"].as_u64().unwrap(),
        offsets: numbers(&cast["offsets"]),
    }
}

/// The casts of a function in a text.
fn casts(new: &str, function: &str) -> Vec<Cast> {
    let start = new.find(&format!("func.func @{function}(")).expect("the function");
    let rest = &new[start + 1..];
    let body = &rest[..rest.find("func.func @").unwrap_or(rest.len())];
    let addresses = crate::kernels::addresses(body);
    let types = body.lines().filter_map(|line| line.split_once("hivm.hir.pointer_cast(")?.1.split_once(") : memref<"));
    let cast = |((name, offsets), (_, ty)): ((String, Vec<u64>), (&str, &str))| {
        let (_, space) = ty.rsplit_once("#hivm.address_space<").expect("a memory");
        let shape = ty.split(',').next().expect("a shape");
        Cast { name, space: space.trim_end_matches('>').to_owned(), bytes: bytes(shape), offsets }
    };
    addresses.into_iter().zip(types).map(cast).collect()
}

/// The bytes of `4x8xf16`, gaps between elements not counted, as recorded.
fn bytes(shape: &str) -> u64 {
    let (dimensions, element) = shape.rsplit_once('x').expect("a dimension");
    let width: u64 = element.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().expect("a width");
    let count: u64 = dimensions.split('x').map(|length| length.parse::<u64>().expect("a length")).product();
    (count * width).div_ceil(8)
}

fn compare(ours: &[Cast], theirs: &[Cast], ways: &[(String, Way, Way)]) -> Verdict {
    let same_way = ways.iter().all(|(_, ours, theirs)| ours == theirs);
    let slots = |casts: &[Cast]| casts.iter().map(|cast| cast.offsets.len()).collect::<Vec<_>>();
    let offsets = |casts: &[Cast]| casts.iter().map(|cast| cast.offsets.clone()).collect::<Vec<_>>();
    match (same_way, slots(ours) == slots(theirs) && sharing(ours) == sharing(theirs)) {
        (true, true) if offsets(ours) == offsets(theirs) => Verdict::Equal,
        (true, true) => Verdict::SameSharing,
        _ => Verdict::Different,
    }
}

/// The pairs that have bytes in common.
fn sharing(casts: &[Cast]) -> BTreeSet<(usize, usize)> {
    let overlap = |one: &Cast, other: &Cast| {
        let apart = |a: u64, b: u64| a + one.bytes <= b || b + other.bytes <= a;
        one.offsets.iter().any(|&a| other.offsets.iter().any(|&b| !apart(a, b)))
    };
    let mut pairs = BTreeSet::new();
    for (at, later) in casts.iter().enumerate() {
        let share = |(_, earlier): &(usize, &Cast)| earlier.space == later.space && overlap(earlier, later);
        pairs.extend(casts[..at].iter().enumerate().filter(share).map(|(earlier, _)| (earlier, at)));
    }
    pairs
}

/// What each memory needs.
fn extents(casts: &[Cast]) -> BTreeMap<&str, u64> {
    let mut extents = BTreeMap::new();
    for cast in casts {
        let end = cast.offsets.iter().map(|offset| offset + cast.bytes).max().unwrap_or(0);
        let extent = extents.entry(cast.space.as_str()).or_insert(0);
        *extent = end.max(*extent);
    }
    extents
}

fn shown(casts: &[Cast]) -> String {
    casts.iter().map(|cast| format!("{}={:?}", cast.name, cast.offsets)).collect::<Vec<_>>().join(" ")
}

/// How a memory was planned: in which way, and what sharing within pipes would take, in bits.
type Way = (&'static str, Option<u64>);

/// Each memory's way, ours and the recorded one.
fn ways(planned: &Planned, record: &Value) -> Vec<(String, Way, Way)> {
    let name = text(&record["func"]);
    let function = planned.functions.iter().find(|function| function.name == name);
    let mut ways = Vec::new();
    for plan in record["plan"].as_array().unwrap() {
        let memory = text(&plan[0]);
        // In the memory of the other core: its owner decides.
        if matches!((record["core"].as_str(), memory), (Some("AIC"), "ub") | (Some("AIV"), "cbuf")) {
            continue;
        }
        let theirs = match text(&plan[1]) {
            "sequential" => ("side by side", None),
            "level3-only" => ("within pipes", None),
            _ => ("by levels", text(&plan[2]).parse().ok()),
        };
        let row = function.and_then(|function| {
            let of_memory = |row: &&SpaceReport| function.problem.spaces()[row.space].name == memory;
            function.report.as_ref()?.spaces.iter().find(of_memory)
        });
        let ours = match row.map(|row| (row.mode, row.without_crossing)) {
            Some((Mode::Sequential, _)) => ("side by side", None),
            Some((Mode::Pipe, _)) => ("within pipes", None),
            Some((Mode::Levels, needed)) => ("by levels", needed.map(|bytes| bytes.0 * 8)),
            Some((Mode::Search, needed)) => ("by search", needed.map(|bytes| bytes.0 * 8)),
            _ => ("not at all", None),
        };
        ways.push((memory.to_owned(), ours, theirs));
    }
    ways
}
