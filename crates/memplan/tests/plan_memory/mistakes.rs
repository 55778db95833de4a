//! Mistakes of the original, put back one by one, each as a change to the
//! problem, or to the plan, that the pass makes of a kernel. The dataflow check
//! notices each of them in generated kernels.

use memplan_analysis::{Aliases, OpTree};
use memplan_core::{Buffer, BufferId, Bytes, Id, IndexVec, Lifetime, Outcome, Placement, ProblemBuilder, Size};
use memplan_mlir::pass::plan_memory::{Planned, PlannedFunction};
use memplan_planner::Request;
use memplan_planner::strategy::levels::{self, Level, Order};
use memplan_program::{AccessKind, OpId, Origin, SiteId, ValueId};

use crate::generate::{Case, WORK, count};

/// How often a mistake changed a plan, and how often that was noticed.
#[derive(Debug, Default)]
struct Score {
    made: u64,
    caught: u64,
}

/// Makes a mistake in kernel after kernel, until it is noticed often enough.
fn is_caught(section: &str, make: impl Fn(&Case, u64) -> Vec<(Planned, u64)>) {
    let mut score = Score::default();
    for seed in 1..=count() / 4 {
        let case = Case::new(seed);
        let Some(capacity) = case.capacity() else { continue };
        let plans = make(&case, capacity);
        score.made += u64::from(!plans.is_empty());
        score.caught += u64::from(plans.iter().any(|(plan, limit)| !case.check(plan, *limit).is_empty()));
        if score.caught >= 5 {
            break;
        }
    }
    println!("{section}: {score:?}");
    assert!(score.caught >= 5, "{section}: {score:?}");
}

/// Plans with much memory and with little, in which one buffer of a pair lies where the other does.
fn moved(case: &Case, capacity: u64, pairs: &[(SiteId, SiteId)]) -> Vec<(Planned, u64)> {
    let mut plans = Vec::new();
    for &(site, onto) in pairs.iter().take(8) {
        for size in [1 << 30, capacity] {
            let Ok(mut planned) = case.plan(size) else { continue };
            let placements = &mut planned.rewrite.placements;
            if placements[site].is_some() && placements[onto].is_some() && placements[site] != placements[onto] {
                placements[site] = placements[onto].clone();
                plans.push((planned, size));
            }
        }
    }
    plans
}

/// The mistake: buffers that control flow merges into one value get one address, although both are alive at once.
#[test]
fn joining_without_a_look_at_interference_is_caught() {
    is_caught("1", |case, capacity| {
        let program = &case.lowered.program;
        let aliases = Aliases::new(program);
        let merged = program.values().iter_enumerated().filter(|(_, value)| matches!(value.origin, Origin::Merged(_)));
        let mut pairs = Vec::new();
        for (value, _) in merged {
            let sites = aliases.sites(value);
            pairs.extend(sites.iter().skip(1).map(|&site| (site, sites[0])));
        }
        moved(case, capacity, &pairs)
    });
}

/// The mistake: a buffer that a loop fills anew while it is still read has one slot only.
#[test]
fn one_slot_for_two_instances_is_caught() {
    is_caught("1 (b)", |case, capacity| {
        let program = &case.lowered.program;
        let one_slot = |size: u64| {
            let mut planned = case.plan(size).ok()?;
            let mut changed = false;
            for site in program.sites().ids().filter(|&site| program.site(site).slots == 1) {
                let Some(placement) = planned.rewrite.placements[site].as_mut() else { continue };
                changed |= placement.offsets.len() > 1;
                placement.offsets.truncate(1);
            }
            changed.then_some((planned, size))
        };
        [1 << 30, capacity].into_iter().filter_map(one_slot).collect()
    });
}

/// The mistake: a buffer that the kernel returns ends with its first access.
#[test]
fn forgetting_what_is_returned_is_caught() {
    is_caught("2", |case, capacity| {
        let program = &case.lowered.program;
        let aliases = Aliases::new(program);
        let escapes = |site: SiteId| {
            let mut accesses = program.ops().iter().flat_map(|op| &op.accesses);
            accesses.any(|access| access.kind == AccessKind::Escape && aliases.sites(access.value).contains(&site))
        };
        replanned(case, capacity, |function, builder| {
            let mut changed = false;
            for (&site, buffer) in function.sites.iter().zip(builder.buffers_mut().iter_mut()) {
                let start = buffer.lifetime.start().map_or(0, |start| start.0);
                if escapes(site) && ends_at(buffer) > start + 1 {
                    buffer.lifetime = Lifetime::new(start, start + 1);
                    changed = true;
                }
            }
            changed
        })
    });
}

/// The mistake: a result takes the bytes of a donor that is still read later.
#[test]
fn overwriting_a_donor_that_is_still_read_is_caught() {
    is_caught("1, in place", |case, capacity| {
        let program = &case.lowered.program;
        let aliases = Aliases::new(program);
        let overlays = program.ops().iter().flat_map(|op| op.overlays());
        let pairs: Vec<(SiteId, SiteId)> = overlays
            .filter_map(|overlay| match (aliases.sites(overlay.output), aliases.sites(overlay.input)) {
                ([result], [donor]) if result != donor => Some((*result, *donor)),
                _ => None,
            })
            .collect();
        moved(case, capacity, &pairs)
    });
}

/// The plan of a problem that was changed; `None` if nothing changed, or nothing fits.
fn replanned(
    case: &Case,
    capacity: u64,
    change: impl Fn(&PlannedFunction, &mut ProblemBuilder) -> bool,
) -> Vec<(Planned, u64)> {
    let plan = |capacity: u64| {
        let mut planned = case.plan(capacity).ok()?;
        let function = planned.functions.first()?;
        let mut builder = function.problem.to_builder();
        if !change(function, &mut builder) {
            return None;
        }
        let problem = builder.build().ok()?;
        let request = Request { work_limit: Some(WORK), ..Request::default() };
        let (Outcome::Optimal(plan) | Outcome::Feasible { plan, .. }) =
            levels::plan(&problem, Order::Start, &request).0
        else {
            return None;
        };
        let sites = function.sites.clone();
        planned.rewrite.placements = given(case, &sites, &plan.placements);
        Some((planned, capacity))
    };
    [1 << 30, capacity].into_iter().filter_map(plan).collect()
}

fn given(
    case: &Case,
    sites: &[SiteId],
    placements: &IndexVec<BufferId, Option<Placement>>,
) -> IndexVec<SiteId, Option<Placement>> {
    let program = &case.lowered.program;
    let mut given = IndexVec::filled(None, program.sites().len());
    for (&site, placement) in sites.iter().zip(placements) {
        let space = program.site(site).space;
        given[site] = placement.clone().map(|placement| Placement { space, ..placement });
    }
    given
}

/// The step of an op in its function's problem.
fn step(case: &Case, op: OpId) -> u64 {
    let tree = OpTree::new(&case.lowered.program);
    let first = tree.function_range(case.lowered.program.function_of(op)).map_or(0, |(first, _)| first.index());
    (op.index() - first) as u64
}

fn ends_at(buffer: &Buffer) -> u64 {
    buffer.lifetime.end().map_or(0, |end| end.0)
}

/// Back edges of blocks: what is never killed ends at once.
#[test]
fn forgetting_a_back_edge_is_caught() {
    is_caught("2, back edge", |case, capacity| {
        let program = &case.lowered.program;
        let aliases = Aliases::new(program);
        replanned(case, capacity, |function, builder| {
            let mut changed = false;
            for (&site, buffer) in function.sites.iter().zip(builder.buffers_mut().iter_mut()) {
                let Some(alloc) = program.alloc_op(site) else { continue };
                let region = program.region(program.block(program.op(alloc).block).region);
                let uses = program
                    .ops()
                    .iter_enumerated()
                    .filter(|(_, op)| op.accesses.iter().any(|access| aliases.sites(access.value).contains(&site)));
                let last = uses.map(|(op, _)| step(case, op)).max().unwrap_or(0);
                if region.blocks.len() > 1 && ends_at(buffer) > last + 1 {
                    let start = buffer.lifetime.start().map_or(0, |start| start.0);
                    buffer.lifetime = Lifetime::new(start, start + 1);
                    changed = true;
                }
            }
            changed
        })
    });
}

/// A slot that a buffer is upgraded to keeps the address it had in unlimited memory.
#[test]
fn a_slot_beyond_the_end_is_caught() {
    is_caught("3", |case, capacity| {
        let (Some(roomy), Ok(mut tight)) = (case.roomy(), case.plan(capacity)) else { return Vec::new() };
        let function = &tight.functions[0];
        let Some(report) = &function.report else { return Vec::new() };
        let mut changed = false;
        for (id, &site) in function.sites.iter().enumerate() {
            let upgraded = report.levels[BufferId::from_index(id)] == Some(Level::Slots);
            let Some(placement) = tight.rewrite.placements[site].as_mut().filter(|_| upgraded) else { continue };
            let known = roomy.rewrite.placements.iter().flatten().flat_map(|place| place.offsets.iter().skip(1));
            if let (Some(slot), Some(&left_over)) = (placement.offsets.last_mut(), known.max()) {
                *slot = left_over;
                changed = true;
            }
        }
        if changed { vec![(tight, capacity)] } else { Vec::new() }
    });
}

/// What a select chooses between ends with the last use of its own name.
#[test]
fn forgetting_what_a_select_chose_is_caught() {
    is_caught("6", |case, capacity| {
        let program = &case.lowered.program;
        replanned(case, capacity, |function, builder| {
            let mut changed = false;
            for (&site, buffer) in function.sites.iter().zip(builder.buffers_mut().iter_mut()) {
                let value = program.site(site).value;
                let chosen = |value: ValueId| {
                    let merges = |other: &memplan_program::Value| matches!(&other.origin, Origin::Merged(from) if from.len() > 1 && from.contains(&value));
                    program.values().iter().any(merges)
                };
                let uses = program
                    .ops()
                    .iter_enumerated()
                    .filter(|(_, op)| op.accesses.iter().any(|access| base(case, access.value) == value));
                let last = uses.map(|(op, _)| step(case, last_in_loops(case, site, op))).max().unwrap_or(0);
                let start = buffer.lifetime.start().map_or(0, |start| start.0);
                if chosen(value) && last + 1 < ends_at(buffer) && start <= last {
                    buffer.lifetime = Lifetime::new(start, last + 1);
                    changed = true;
                }
            }
            changed
        })
    });
}

/// What a view is a view of.
fn base(case: &Case, value: ValueId) -> ValueId {
    let mut at = value;
    while let Origin::Derived { base, .. } = case.lowered.program.value(at).origin {
        at = base;
    }
    at
}

/// The end of the outermost loop around an op that the buffer is not allocated in.
fn last_in_loops(case: &Case, site: SiteId, op: OpId) -> OpId {
    let program = &case.lowered.program;
    let Some(alloc) = program.alloc_op(site) else { return op };
    let tree = OpTree::new(program);
    let shared: Vec<OpId> = program.ancestors(alloc).collect();
    let outermost = program.ancestors(op).filter(|parent| !shared.contains(parent)).last();
    outermost.map_or(op, |outer| tree.last_inside(outer))
}

/// Results of an op that works in place, with donors that end there.
fn in_place(case: &Case, function: &PlannedFunction) -> Vec<(BufferId, BufferId)> {
    let program = &case.lowered.program;
    let aliases = Aliases::new(program);
    let buffer = |value: ValueId| match aliases.sites(value) {
        [site] => function.sites.iter().position(|other| other == site).map(BufferId::from_index),
        _ => None,
    };
    let mut pairs = Vec::new();
    for (op, info) in program.ops().iter_enumerated() {
        for overlay in info.overlays() {
            let (Some(result), Some(donor)) = (buffer(overlay.output), buffer(overlay.input)) else { continue };
            if touch(case, function, op, result, donor) {
                pairs.push((result, donor));
            }
        }
    }
    pairs
}

/// Whether a result begins where its donor ends, and is no larger.
fn touch(case: &Case, function: &PlannedFunction, op: OpId, result: BufferId, donor: BufferId) -> bool {
    let buffer = |id: BufferId| &function.problem.buffers()[id];
    let now = step(case, op);
    let begins = buffer(result).lifetime.start().is_some_and(|start| start.0 == now);
    begins && ends_at(buffer(donor)) == now + 1 && buffer(result).bytes() <= buffer(donor).bytes()
}

/// `mem_unique`, and yet a donor.
#[test]
fn sharing_with_a_buffer_of_its_own_is_caught() {
    is_caught("9", |case, capacity| {
        replanned(case, capacity, |function, builder| {
            let unique = |buffer: BufferId| function.problem.buffers()[buffer].exclusive;
            let pairs = in_place(case, function);
            let pair = pairs.into_iter().find(|&(result, donor)| unique(donor) && result != donor);
            if let Some((result, donor)) = pair {
                builder.buffers_mut()[donor].exclusive = false;
                builder.must_share(donor, result);
            }
            pair.is_some()
        })
    });
}

/// Buffers of different sizes at one address are as large as the last of them.
#[test]
fn reserving_the_size_of_the_donor_only_is_caught() {
    is_caught("10", |case, capacity| {
        replanned(case, capacity, |function, builder| {
            let mut changed = false;
            for &(one, other) in function.problem.must_share() {
                let bytes = |id: BufferId| function.problem.buffers()[id].bytes();
                let (early, late) = (one.min(other), one.max(other));
                if bytes(late) < bytes(early) && !in_place(case, function).contains(&(late, early)) {
                    builder.buffers_mut()[early].size = Size::Fixed(bytes(late).unwrap());
                    changed = true;
                }
            }
            changed
        })
    });
}

/// Elements are counted, gaps between them are not.
#[test]
fn sizes_without_strides_are_caught() {
    is_caught("11", |case, capacity| {
        replanned(case, capacity, |function, builder| {
            let mut changed = false;
            for (&site, buffer) in function.sites.iter().zip(builder.buffers_mut().iter_mut()) {
                let op = case.lowered.sites[site];
                let memref = case.document.results(op).first().and_then(|&value| case.document.ty(value).as_memref());
                let Some(shape) = memref.and_then(|memref| memref.shape.as_ref()) else { continue };
                let bits = memref.and_then(|memref| memref.element.bits()).unwrap_or(0);
                let elements: u64 = shape.iter().map(|length| length.unwrap_or(0)).product();
                let dense = Bytes((elements * bits).div_ceil(8));
                changed |= buffer.bytes() > Some(dense);
                buffer.size = Size::Fixed(dense.min(buffer.bytes().unwrap()));
            }
            changed
        })
    });
}

/// Puts the result of the first op of a kind that its form leads us to onto an operand.
fn on_operand(case: &Case, capacity: u64, word: &str, must: &str, operand: usize) -> Vec<(Planned, u64)> {
    let program = &case.lowered.program;
    let aliases = Aliases::new(program);
    replanned(case, capacity, |function, builder| {
        let buffer = |value: ValueId| match aliases.sites(value) {
            [site] => function.sites.iter().position(|other| other == site).map(BufferId::from_index),
            _ => None,
        };
        for (op, &written) in case.lowered.ops.iter_enumerated() {
            let text = case.document.text(case.document.op(written).span);
            if case.document.name(written) != word || !text.contains(must) {
                continue;
            }
            let operands = case.document.operands(written);
            let value = |at: usize| operands.get(at).and_then(|value| case.lowered.value(*value));
            let (Some(result), Some(donor)) = (value(operands.len() - 1), value(operand)) else { continue };
            let (Some(result), Some(donor)) = (buffer(result), buffer(donor)) else { continue };
            if result != donor && touch(case, function, op, result, donor) {
                builder.must_share(donor, result);
                return true;
            }
        }
        false
    })
}

#[test]
fn taking_unknown_offsets_to_be_equal_is_caught() {
    is_caught("5", |case, capacity| on_operand(case, capacity, "hivm.hir.vabs", "offset: ?", 0));
}

#[test]
fn writing_over_a_condition_because_another_input_fits_is_caught() {
    is_caught("14", |case, capacity| on_operand(case, capacity, "hivm.hir.vsel", "xi1", 0));
}
