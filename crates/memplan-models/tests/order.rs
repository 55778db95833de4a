//! The search for an order of execution, against trying every order there is.
#![allow(clippy::unwrap_used, reason = "a test")]

use memplan_core::{Bytes, Id};
use memplan_models::graph::order::{WIDTH, peak, reorder, with_order};
use memplan_models::graph::problem::Assumptions;
use memplan_models::graph::{Graph, Home, Model, Op, OpId, Tensor, TensorId};
use memplan_testkit::Random;

/// A branching network with this many ops. Each op reads one to three of the tensors that earlier ops have written.
fn network(ops: usize, random: &mut Random) -> Model {
    let tensor = |index: usize, bytes: u64| Tensor {
        name: format!("t{index}"),
        element: "INT8",
        shape: vec![bytes],
        bytes: Bytes(bytes),
        home: Home::Arena,
    };
    let mut graph = Graph { inputs: vec![TensorId::from_index(0)], ..Graph::default() };
    graph.tensors.push(tensor(0, 1 + random.below(20)));
    let mut is_read = vec![false; ops + 1];
    for index in 1..=ops {
        graph.tensors.push(tensor(index, 1 + random.below(100)));
        let mut inputs: Vec<TensorId> = Vec::new();
        for _ in 0..1 + random.below(3) {
            // Mostly something recent, sometimes from far back.
            let back =
                if random.below(3) == 0 { random.below(index as u64) } else { random.below(3.min(index as u64)) };
            let source = index - 1 - back as usize;
            is_read[source] = true;
            inputs.push(TensorId::from_index(source));
        }
        let scratch = if random.below(4) == 0 { vec![Bytes(random.below(60))] } else { Vec::new() };
        graph.ops.push(Op {
            kind: format!("op{index}"),
            inputs,
            outputs: vec![TensorId::from_index(index)],
            scratch,
            ..Op::default()
        });
    }
    graph.outputs = (1..=ops).filter(|&index| !is_read[index]).map(TensorId::from_index).collect();
    Model { graphs: [graph].into_iter().collect(), alignment: Bytes(1) }
}

/// The lowest peak of all orders, by trying them all with what is alive after each prefix.
fn brute_force(model: &Model, assumptions: Assumptions) -> u64 {
    let graph = model.main().unwrap();
    let count = graph.ops.len();
    let mut best = u64::MAX;
    // Prefixes as (ops so far); depth first.
    let mut stack: Vec<Vec<usize>> = vec![Vec::new()];
    while let Some(prefix) = stack.pop() {
        if prefix.len() == count {
            let order: Vec<OpId> = prefix.iter().map(|&op| OpId::from_index(op)).collect();
            best = best.min(peak(&with_order(model, &order), assumptions).unwrap().0);
            continue;
        }
        for op in 0..count {
            let is_new = !prefix.contains(&op);
            let is_ready = graph.ops[OpId::from_index(op)]
                .inputs
                .iter()
                .all(|input| input.index() == 0 || prefix.contains(&(input.index() - 1)));
            if is_new && is_ready {
                stack.push(prefix.iter().copied().chain([op]).collect());
            }
        }
    }
    best
}

/// The lowest peak by a recursion over sets, which shares nothing with the search:
/// for networks with too many orders to try them all.
fn over_all_sets(model: &Model, assumptions: Assumptions) -> u64 {
    let graph = model.main().unwrap();
    let count = graph.ops.len();
    let bytes = |tensor: usize| graph.tensors[TensorId::from_index(tensor)].bytes.0;
    let ends = |tensor: usize, done: usize| {
        let is_output = graph.outputs.contains(&TensorId::from_index(tensor));
        let is_kept = tensor == 0 && !assumptions.reuse_inputs;
        let mut readers =
            graph.ops.iter_enumerated().filter(|(_, op)| op.inputs.contains(&TensorId::from_index(tensor)));
        !is_output && !is_kept && readers.all(|(op, _)| done >> op.index() & 1 == 1)
    };
    let is_there = |tensor: usize, done: usize| tensor == 0 || done >> (tensor - 1) & 1 == 1;
    let live = |done: usize| {
        let alive = (0..=count).filter(|&tensor| is_there(tensor, done) && !ends(tensor, done));
        alive.map(bytes).sum::<u64>()
    };
    let mut best = vec![u64::MAX; 1 << count];
    best[0] = bytes(0);
    for done in 0..1usize << count {
        for op in (0..count).filter(|op| done >> op & 1 == 0) {
            let draft = &graph.ops[OpId::from_index(op)];
            let is_ready = draft.inputs.iter().all(|input| is_there(input.index(), done));
            if best[done] == u64::MAX || !is_ready {
                continue;
            }
            let scratch: u64 = draft.scratch.iter().map(|bytes| bytes.0).sum();
            let during = live(done) + bytes(op + 1) + scratch;
            let after = done | 1 << op;
            best[after] = best[after].min(best[done].max(during));
        }
    }
    best[(1 << count) - 1]
}

#[test]
fn small_networks_get_the_best_order() {
    let mut random = Random::new(1);
    let mut improved = 0;
    for _ in 0..150 {
        let ops = 2 + random.below(6) as usize;
        let model = network(ops, &mut random);
        let assumptions = Assumptions { reuse_inputs: random.below(2) == 0, in_place: false };
        let found = reorder(&model, assumptions, WIDTH).unwrap();
        assert!(found.is_exact);
        assert_eq!(found.after.0, brute_force(&model, assumptions));
        assert_eq!(found.after, peak(&with_order(&model, &found.order), assumptions).unwrap());
        improved += u32::from(found.after < found.before);
    }
    assert!(improved > 20, "{improved}");
}

#[test]
fn networks_of_up_to_twelve_ops_get_the_best_order() {
    let mut random = Random::new(2);
    for _ in 0..150 {
        let ops = 8 + random.below(5) as usize;
        let model = network(ops, &mut random);
        let assumptions = Assumptions { reuse_inputs: random.below(2) == 0, in_place: false };
        let found = reorder(&model, assumptions, WIDTH).unwrap();
        assert!(found.is_exact);
        assert_eq!(found.after.0, over_all_sets(&model, assumptions));
    }
}

#[test]
fn a_narrow_search_is_never_worse_than_the_order_there_is() {
    let mut random = Random::new(3);
    for _ in 0..30 {
        let model = network(60, &mut random);
        let narrow = reorder(&model, Assumptions::default(), 4).unwrap();
        let wide = reorder(&model, Assumptions::default(), 512).unwrap();
        assert!(narrow.after <= narrow.before && wide.after <= wide.before);
        let mut sorted = narrow.order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, model.main().unwrap().ops.ids().collect::<Vec<_>>(), "every op once");
    }
}

#[test]
fn effects_stay_in_their_order() {
    let mut random = Random::new(4);
    for _ in 0..30 {
        let mut model = network(12, &mut random);
        for op in model.graphs.iter_mut().next().unwrap().ops.iter_mut() {
            op.is_stateful = random.below(2) == 0;
        }
        let found = reorder(&model, Assumptions::default(), WIDTH).unwrap();
        let graph = model.main().unwrap();
        let stateful: Vec<OpId> = found.order.iter().copied().filter(|&op| graph.ops[op].is_stateful).collect();
        assert!(stateful.is_sorted());
    }
}
