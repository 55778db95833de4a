//! Graphs and schedules: orders, paths, primitives, and what is wrong with wrong ones.

use crate::JUDGE;
use memplan_tensor::DType;
use memplan_tensor::ir::{BinaryOp, Expr};
use memplan_tensor::rewrite::allocation_sites;
use memplan_tensor::te::{
    AttachPath, Combiner, FeedGraph, Graph, GraphError, LowerOptions, Network, OutputSpec, ReadGraph, ScheduleError,
    json, lower, post_dfs_order, run_text, schedule,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// `P; a = f(P); b = g(a, P); c = h(a); d = k(c, b)`, with a schedule.
fn diamond(schedule: Value) -> Value {
    json!({"ops": [
        {"placeholder": "P", "shape": [16], "dtype": "int32"},
        {"compute": "a", "shape": [16], "axes": ["i"], "expr": "P[i] + 1"},
        {"compute": "b", "shape": [16], "axes": ["i"], "expr": "a[i] + P[i]"},
        {"compute": "c", "shape": [16], "axes": ["i"], "expr": "a[i] * 2"},
        {"compute": "d", "shape": [16], "axes": ["i"], "expr": "c[i] + b[i]"}],
        "outputs": ["d"], "args": ["P", "d"], "schedule": schedule})
}

fn network(description: &Value) -> Network {
    json::read_value(description).unwrap_or_else(|error| panic!("{error}: {description}"))
}

#[test]
fn three_views_of_a_graph() {
    let network = network(&diamond(json!([
        {"do": "split", "stage": "d", "axis": "i", "factor": 4, "outer": "io", "inner": "ii"},
        {"do": "compute_at", "stage": "c", "target": "d", "axis": "io"},
    ])));
    let graph = &network.graph;
    let reads = ReadGraph::new(graph, &network.outputs);
    assert_eq!(reads.dump(graph), "P reads nothing\na reads P\nb reads a, P\nc reads a\nd reads c, b\n");
    let feeds = FeedGraph::new(&reads).dump(graph);
    assert_eq!(feeds, "P feeds a, b\na feeds b, c\nb feeds d\nc feeds d\n");
    let order = post_dfs_order(graph, &network.outputs, &reads);
    let names: Vec<&str> = order.iter().map(|op| graph.ops[*op].name.as_str()).collect();
    assert_eq!(names, ["P", "a", "c", "b", "d"]);
    let scheduled = schedule(&network).expect("a schedule");
    assert_eq!(scheduled.paths.dump(&scheduled.normalised), "c inside i.outer of d\n");
    let c = scheduled.normalised.stage_named("c").expect("c");
    let path = AttachPath::new(&scheduled.normalised).expect("a path");
    assert_eq!(path.around(c).len(), 1);
}

/// The error of a schedule, and where the life cycle reports it.
fn refusal(directives: Value) -> (String, String) {
    let error = lower(&network(&diamond(directives)), &LowerOptions::default(), JUDGE).err();
    error.map_or_else(Default::default, |error| (error.stage().to_owned(), error.to_string()))
}

#[test]
fn wrong_schedules_say_what_is_wrong() {
    let split = json!({"do": "split", "stage": "d", "axis": "i", "factor": 4, "outer": "io", "inner": "ii"});
    let cases = [
        (
            json!([split, {"do": "compute_at", "stage": "c", "target": "d", "axis": "i"}]),
            "schedule",
            "schedule[1]: `i` is not a loop of `d`: it was split or fused; its loops are i.outer, i.inner",
        ),
        (
            json!([{"do": "double_buffer", "stage": "d"}]),
            "schedule",
            "schedule[0]: Cannot apply double buffer on output `d`",
        ),
        (
            json!([{"do": "compute_at", "stage": "b", "target": "c", "axis": "i"},
                   {"do": "compute_at", "stage": "c", "target": "b", "axis": "i"}]),
            "normalize",
            "the attach chain of `c` is a loop: c, b, c",
        ),
        (
            json!([{"do": "compute_at", "stage": "c", "target": "a", "axis": "i"}]),
            "normalize",
            "`c` cannot be computed at `i` of `a`: that stage is computed before it",
        ),
        (
            json!([{"do": "compute_inline", "stage": "b"}, {"do": "compute_at", "stage": "a", "target": "b", "axis": "i"}]),
            "normalize",
            "`a` cannot be computed at `i` of `b`: that stage is inlined",
        ),
        (
            json!([{"do": "cache_read", "tensor": "nothing", "scope": "local", "readers": ["d"], "as": "x"}]),
            "schedule",
            "schedule[0]: there is no tensor called `nothing` in the schedule",
        ),
        (
            json!([{"do": "cache_read", "tensor": "P", "scope": "local", "readers": ["d"], "as": "x"}]),
            "schedule",
            "schedule[0]: `d` does not read `P`",
        ),
        (
            json!([{"do": "cache_read", "tensor": "P", "scope": "local", "readers": ["a"]},
                   {"do": "compute_at", "stage": "", "target": "a", "axis": "i"}]),
            "schedule",
            "schedule[1]: there is no stage called ``",
        ),
        (
            json!([{"do": "set_scope", "stage": "e", "scope": "local"}]),
            "schedule",
            "schedule[0]: there is no stage called `e`",
        ),
        (
            json!([{"do": "set_scope", "stage": "a", "scope": "moon"}]),
            "schedule",
            "schedule[0]: set_scope of `a`: `moon` is no scope: it starts with global, shared, warp, local or wmma",
        ),
        (json!([{"do": "unroll", "stage": "a", "axis": "k"}]), "schedule", "schedule[0]: `a` has no axis called `k`"),
        (
            json!([split, {"do": "fuse", "stage": "d", "a": "ii", "b": "ii"}]),
            "schedule",
            "schedule[1]: `i.inner` and `i.inner` of `d` cannot be fused: they are not next to each other",
        ),
        (
            json!([{"do": "split", "stage": "a", "axis": "i", "factor": 0}]),
            "schedule",
            "schedule[0]: split of `a`: 0 is no number of iterations",
        ),
        (
            json!([{"do": "compute_inline", "stage": "d"}]),
            "schedule",
            "schedule[0]: `d` is an output; it cannot be inlined",
        ),
        (
            json!([{"do": "compute_at", "stage": "a", "target": "b", "axis": "i"}]),
            "postproc",
            "cannot find the realization point of tensor `a`",
        ),
        (json!([{"do": "double_buffer", "stage": "a"}]), "prepare", "`a` is double buffered, but no loop is around it"),
        (
            json!([{"do": "bind", "stage": "d", "axis": "i", "thread": "lane"}]),
            "schedule",
            "schedule[0]: bind of `d`: `lane` is no thread axis, such as blockIdx.x, threadIdx.x or vthread",
        ),
    ];
    for (directives, stage, message) in cases {
        assert_eq!(refusal(directives.clone()), (stage.to_owned(), message.to_owned()), "{directives}");
    }
}

#[test]
fn reductions_cannot_run_at_once() {
    let description = json!({"ops": [
        {"placeholder": "A", "shape": [4, 8], "dtype": "int32"},
        {"compute": "S", "shape": [4], "axes": ["i"], "expr": "A[i,k]", "reduce": [["k", 8]], "combiner": "sum"}],
        "outputs": ["S"], "args": ["A", "S"],
        "schedule": [{"do": "parallel", "stage": "S", "axis": "k"}]});
    let error = network(&description).schedule().expect_err("a refusal");
    assert!(matches!(error, (0, ScheduleError::LoopKind { .. })), "{error:?}");
}

/// A loop that runs over a dimension and over what is reduced initialises all elements, and nothing behind the last.
#[test]
fn a_fusion_with_a_reduction_initialises_every_element() {
    let split = json!({"do": "split", "stage": "S", "axis": "f", "factor": 5, "outer": "fo", "inner": "fi"});
    for more in [None, Some(split)] {
        let mut directives = vec![json!({"do": "fuse", "stage": "S", "a": "i", "b": "k", "to": "f"})];
        directives.extend(more);
        let description = json!({"ops": [
            {"placeholder": "A", "shape": [4, 3], "dtype": "int32"},
            {"compute": "S", "shape": [4], "axes": ["i"], "expr": "A[i,k]", "reduce": [["k", 3]], "combiner": "sum"}],
            "outputs": ["S"], "args": ["A", "S"], "schedule": directives})
        .to_string();
        let run = |stage: &str| run_text(&description, stage, 1, &BTreeMap::new(), JUDGE).expect("a result");
        for stage in ["schedule-ops", "flat", "rewritten"] {
            assert_eq!(run(stage), run("graph"), "{stage} of {description}");
        }
    }
}

#[test]
fn only_functions_run() {
    let description = json!({"ops": [
        {"placeholder": "A", "shape": [4], "dtype": "int32"},
        {"compute": "B", "shape": [4], "axes": ["i"], "expr": "A[i] + 1"}],
        "outputs": ["B"], "args": ["A", "B"]})
    .to_string();
    let error = |stage: &str| run_text(&description, stage, 1, &BTreeMap::new(), JUDGE).expect_err(stage).to_string();
    for (stage, _) in memplan_tensor::te::STAGES {
        match run_text(&description, stage, 1, &BTreeMap::new(), JUDGE) {
            Ok(_) => assert!(error("bounds").contains(stage), "{stage} runs"),
            Err(error) => assert!(error.to_string().starts_with(&format!("the stage `{stage}` is no function"))),
        }
    }
    assert!(error("none").starts_with("there is no stage `none`"));
}

/// A producer that reads what a call in the same iteration writes cannot run one iteration ahead of the call.
#[test]
fn a_double_buffer_waits_for_calls_that_write_its_input() {
    let description = json!({"ops": [
        {"placeholder": "A", "shape": [8], "dtype": "int32"},
        {"extern": "X", "inputs": ["A"], "outputs": [{"shape": [8], "dtype": "int32"}], "call": "f"},
        {"compute": "Y", "shape": [8], "axes": ["i"], "expr": "X[i] + 1"},
        {"compute": "Z", "shape": [8], "axes": ["i"], "expr": "Y[i] * 2"}],
        "outputs": ["Z"], "args": ["A", "X", "Z"], "schedule": [
            {"do": "split", "stage": "Z", "axis": "i", "factor": 2, "outer": "io", "inner": "ii"},
            {"do": "compute_at", "stage": "X", "target": "Z", "axis": "io"},
            {"do": "compute_at", "stage": "Y", "target": "Z", "axis": "io"},
            {"do": "double_buffer", "stage": "Y"}]})
    .to_string();
    let run = |stage: &str| run_text(&description, stage, 1, &BTreeMap::new(), JUDGE).expect("a result");
    for stage in ["flat", "prepared", "rewritten"] {
        assert_eq!(run(stage), run("graph"), "{stage}");
    }
}

/// A name that stands for two axes, and a condition that nothing would look at, are mistakes: the description would be
/// taken to mean something else than it says.
#[test]
fn descriptions_that_would_mean_something_else_are_refused() {
    let read = |op: &str| {
        let a = r#"{"placeholder": "A", "shape": [4, 4], "dtype": "float32"}"#;
        json::read(&format!(r#"{{"ops": [{a}, {op}], "outputs": ["B"]}}"#))
    };
    for (op, message) in [
        (
            r#"{"compute": "B", "shape": [4, 4], "axes": ["i", "i"], "expr": "A[i, i]"}"#,
            "ops[1].axes: `i` is the name of two axes",
        ),
        (
            r#"{"compute": "B", "shape": [4], "axes": ["i"], "reduce": [["i", 4]], "expr": "A[i, i]"}"#,
            "ops[1].reduce: `i` is the name of two axes",
        ),
        (
            r#"{"compute": "B", "shape": [4], "axes": ["i"], "where": "i < 2", "expr": "A[i, i]"}"#,
            "ops[1].where: is for reductions: this operation reduces nothing",
        ),
    ] {
        assert_eq!(read(op).unwrap_err().to_string(), message);
    }
}

#[test]
fn wrong_descriptions_say_where() {
    let place = |text: &str| {
        let error = json::read(text).expect_err("an error");
        let span = error.span(text);
        (text[span.range()].to_owned(), error.to_string())
    };
    let (at, message) = place(
        "{\"ops\": [{\"placeholder\": \"A\", \"shape\": [4]}, {\"compute\": \"B\", \"shape\": [4], \"axes\": [\"i\"], \"expr\": \"A[i, i]\"}], \"outputs\": [\"B\"]}",
    );
    assert_eq!(at, "\"A[i, i]\"");
    assert_eq!(message, "ops[1].expr: `A` has 1 dimensions, not 2 (at character 1 of `A[i, i]`)");
    let (at, message) = place("{\"ops\": [{\"placeholder\": \"A\", \"shape\": [-1]}], \"outputs\": [\"A\"]}");
    assert_eq!(
        (at.as_str(), message.as_str()),
        ("[-1]", "ops[0].shape: -1 is no extent: it must be from 0 to 2^31 - 1")
    );
    assert!(place("{\"ops\": [{]}").1.starts_with("not JSON"));
    assert!(place("{\"ops\": [], \"outputs\": [\"Q\"]}").1.contains("there is no operation called `Q`"));
    for (text, reason) in [
        ("B[i]", "there is no tensor called `B`"),
        ("q + 1", "`q` is no axis, size or tensor"),
        ("A[i] +", "expected a number, a name or `(`"),
        ("A[1.5]", "a subscript of `A` is no integer"),
        ("sin(1.0, 2.0)", "`sin` takes one argument"),
        ("A + 1", "`A` is a tensor; an element of it is `A[…]`"),
        ("1 // 2.0 % A[i]", "`//` and `%` are for integers"),
    ] {
        let description = json!({"ops": [{"placeholder": "A", "shape": [4]},
            {"compute": "C", "shape": [4], "axes": ["i"], "expr": text}], "outputs": ["C"]});
        let error = json::read_value(&description).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    let deep = format!("{}i{}", "(".repeat(5000), ")".repeat(5000));
    let description = json!({"ops": [{"compute": "C", "shape": [4], "axes": ["i"], "expr": deep}], "outputs": ["C"]});
    assert!(json::read_value(&description).expect_err("too deep").to_string().contains("nests too deeply"));
}

/// The position of the largest element: the combination looks at both values to decide about both.
#[test]
fn tuples_are_reduced_together() {
    let mut graph = Graph::new();
    let a = graph.placeholder("A", vec![Expr::int(3), Expr::int(9)], DType::INT32).expect("a tensor");
    let mut combiner = Combiner::fold(&mut graph, memplan_tensor::te::Fold::Max, &[DType::INT32, DType::INT32]);
    let (x, y) = (combiner.lhs.clone(), combiner.rhs.clone());
    let first = || Expr::binary(BinaryOp::Ge, Expr::Var(x[1]), Expr::Var(y[1]));
    let choose = |k: usize| Expr::Select {
        condition: Box::new(first()),
        then: Box::new(Expr::Var(x[k])),
        otherwise: Box::new(Expr::Var(y[k])),
    };
    // The position comes second, so that the value stored first must not disturb it.
    combiner.result = vec![choose(0), choose(1)];
    combiner.result.swap(0, 1);
    combiner.lhs.swap(0, 1);
    combiner.rhs.swap(0, 1);
    let load = |i: &[Expr], k: &[Expr]| Expr::Load { buffer: a, index: vec![i[0].clone(), k[0].clone()] };
    let op = graph
        .reduce("M", &[("i", Expr::int(3))], &[("k", Expr::int(9))], combiner, |i, k| vec![load(i, k), k[0].clone()])
        .expect("a reduction");
    let args: Vec<_> = [a].into_iter().chain(graph.ops[op].outputs.clone()).collect();
    let network = Network { graph, outputs: vec![op], args, directives: Vec::new() };
    crate::te_stages::check_stages(&network, &LowerOptions::default(), &BTreeMap::new()).expect("the same results");
}

#[test]
fn graphs_are_checked_as_they_are_built() {
    let mut graph = Graph::new();
    let a = graph.placeholder("A", vec![Expr::int(4)], DType::INT32).expect("a tensor");
    assert_eq!(
        graph.placeholder("A", vec![Expr::int(4)], DType::INT32),
        Err(GraphError::DuplicateName { name: "A".to_owned() })
    );
    let wrong = graph.compute("B", &[("i", Expr::int(4))], |_| vec![Expr::Load { buffer: a, index: Vec::new() }]);
    assert!(matches!(wrong, Err(GraphError::Rank { given: 0, rank: 1, .. })), "{wrong:?}");
    let output = || vec![OutputSpec { shape: vec![Expr::int(4)], dtype: DType::INT32 }];
    let script = "@T.prim_func\ndef f(x: T.Buffer((4,), \"int32\")):\n    x[0] = 1\n";
    let wrong = graph.extern_script("H", vec![a], output(), script);
    assert!(wrong.is_err_and(|error| error.to_string().contains("has 1 buffers where 2 are given")));
    assert!(graph.extern_call("E", vec![a], Vec::new(), "f").is_err(), "an operation without outputs");
}

/// A fraction beside an integer is not rounded, and a quotient of bare numbers is what Python makes of it.
#[test]
fn fractions_keep_their_value() {
    for (body, printed) in [
        ("A[i] * 0.5", "T.Cast(\"float32\", A[i]) * T.float32(0.5)"),
        ("0.5 + i", "T.float32(0.5) + T.Cast(\"float32\", i)"),
        ("f32(A[i]) * (1 / 2)", "T.Cast(\"float32\", A[i]) * T.float32(0.5)"),
        ("f32(A[i] + 2)", "T.Cast(\"float32\", A[i] + 2)"),
        ("-f32(A[i])", "T.Cast(\"float32\", A[i]) * T.float32(-1.0)"),
    ] {
        let description = json!({"ops": [{"placeholder": "A", "shape": [4], "dtype": "int32"},
            {"compute": "B", "shape": [4], "axes": ["i"], "expr": body}], "outputs": ["B"], "args": ["A", "B"]});
        let network = json::read_value(&description).unwrap_or_else(|error| panic!("{body}: {error}"));
        let lowered = lower(&network, &LowerOptions::default(), JUDGE).expect("lowered");
        let text = memplan_tensor::script::print_function(&lowered.rewritten.function);
        assert!(text.contains(printed), "{body}: {printed}\n{text}");
    }
}

/// A loop of a script may load its bounds from a tensor of two dimensions. The loads are flattened like all others, and
/// the tensor is needed for them.
#[test]
fn bounds_of_loops_in_scripts_may_be_loaded() {
    let script = "@T.prim_func\ndef f(x: T.Buffer((2, 4), \"int32\"), y: T.Buffer((2, 4), \"int32\")):\n    for i, j in T.grid(2, 4):\n        y[i, j] = 0\n    for j in range(T.min(T.max(x[1, 2], 0), 1), T.min(T.max(x[1, 1], 2), 4)):\n        y[1, j] = x[1, j]\n";
    let description = json!({"ops": [{"placeholder": "A", "shape": [2, 4], "dtype": "int32"},
        {"compute": "B", "shape": [2, 4], "axes": ["i", "j"], "expr": "A[i, j] + 1"},
        {"extern": "C", "inputs": ["B"], "outputs": [{"shape": [2, 4], "dtype": "int32"}], "script": script}],
        "outputs": ["C"], "args": ["A", "C"]});
    let network = json::read_value(&description).expect("a description");
    crate::te_stages::check_stages(&network, &LowerOptions::default(), &BTreeMap::new()).expect("the same results");
    let lowered = lower(&network, &LowerOptions::default(), JUDGE).expect("lowered");
    let text = memplan_tensor::script::print_function(&lowered.rewritten.function);
    assert!(text.contains("for j in range(T.min(T.max(B[6], 0), 1), "), "{text}");
    assert!(text.contains("T.min(T.max(B[5], 2), 4)"), "{text}");
    assert!(memplan_tensor::script::Script::read(&text).is_ok(), "{text}");
}

#[test]
fn scripts_have_the_extents_of_their_tensors() {
    let reads = |tensor: Value, script: &str| {
        let text = format!(
            "@T.prim_func\ndef f(x: T.Buffer({script}, \"int32\"), y: T.Buffer({script}, \"int32\")):\n    T.evaluate(0)\n"
        );
        let description = json!({"syms": ["n", "m"], "ops": [{"placeholder": "A", "shape": tensor, "dtype": "int32"},
            {"extern": "C", "inputs": ["A"], "outputs": [{"shape": tensor, "dtype": "int32"}], "script": text}],
            "outputs": ["C"], "args": ["A", "C"]});
        json::read_value(&description).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(reads(json!([2, 8]), "(2, 8)"), Ok(()));
    assert_eq!(reads(json!(["n", "m"]), "(\"n\", \"m\")"), Ok(()));
    for (tensor, script, extents) in [
        (json!([2, 8]), "(8, 2)", "an extent of 8 where the tensor has 2"),
        (json!(["n", "m"]), "(\"m\", \"n\")", "an extent of m where the tensor has n"),
        (json!(["n", "m"]), "(\"n\", 8)", "an extent of 8 where the tensor has m"),
    ] {
        let error = reads(tensor, script).expect_err(script);
        assert!(error.contains("its script takes `x` with") && error.contains(extents), "{error}");
    }
}

/// What the documented tests of the original lowering say about storage.
#[test]
fn padding_as_documented() {
    for (factor, offset, elements) in [(2, 1, 136), (32, 8, 320), (16, 0, 128)] {
        let description = json!({"ops": [{"placeholder": "A", "shape": [8, 16], "dtype": "float32"},
            {"compute": "B", "shape": [8, 16], "axes": ["i", "j"], "expr": "A[i,j]"},
            {"compute": "Q", "shape": [8, 16], "axes": ["i", "j"], "expr": "B[i,j]+3.0"}],
            "outputs": ["Q"], "args": ["A", "Q"],
            "schedule": [{"do": "storage_align", "stage": "B", "axis": "i", "factor": factor, "offset": offset}]});
        let lowered = lower(&network(&description), &LowerOptions::default(), JUDGE).expect("a function");
        let sites = allocation_sites(&lowered.flat.function);
        assert_eq!(sites[0].extents, [elements.to_string()], "{factor} {offset}");
    }
}

/// A thousand stages in a chain, inlined or computed inside each other, end in an answer and not in a crash.
#[test]
fn long_chains_are_answered() {
    let chain = |count: usize, directive: &dyn Fn(usize) -> Option<Value>| {
        let mut ops = vec![json!({"placeholder": "B0", "shape": [4], "dtype": "int32"})];
        ops.extend((1..=count).map(
            |k| json!({"compute": format!("B{k}"), "shape": [4], "axes": ["i"], "expr": format!("B{}[i] + 1", k - 1)}),
        ));
        let last = format!("B{count}");
        let directives: Vec<Value> = (1..count).filter_map(directive).collect();
        network(&json!({"ops": ops, "outputs": [last], "args": ["B0", last], "schedule": directives}))
    };
    let flat = lower(&chain(1000, &|_| None), &LowerOptions::default(), JUDGE).expect("a function");
    assert_eq!(allocation_sites(&flat.rewritten.function).len(), 1, "all in place");
    let inlined = chain(1000, &|k| Some(json!({"do": "compute_inline", "stage": format!("B{k}")})));
    let error = lower(&inlined, &LowerOptions::default(), JUDGE).expect_err("too large").to_string();
    assert!(error.contains("would become too large"), "{error}");
    let nested = chain(400, &|k| {
        Some(json!({"do": "compute_at", "stage": format!("B{k}"), "target": format!("B{}", k + 1), "axis": "i"}))
    });
    let error = lower(&nested, &LowerOptions::default(), JUDGE).expect_err("too deep").to_string();
    assert!(error.contains("would nest more than"), "{error}");
    let squares = |k: usize| {
        let mut ops = vec![json!({"placeholder": "B0", "shape": [4], "dtype": "int32"})];
        ops.extend((1..=k).map(|k| {
            json!({"compute": format!("B{k}"), "shape": [4], "axes": ["i"], "expr": format!("B{0}[i] * B{0}[i]", k - 1)})
        }));
        let directives: Vec<Value> =
            (1..k).map(|k| json!({"do": "compute_inline", "stage": format!("B{k}")})).collect();
        network(&json!({"ops": ops, "outputs": [format!("B{k}")], "schedule": directives}))
    };
    assert!(lower(&squares(40), &LowerOptions::default(), JUDGE).is_err(), "two to the fortieth");
}

#[test]
fn symbolic_arguments_may_have_any_strides() {
    let description = json!({"syms": ["n", "m"], "ops": [
        {"placeholder": "A", "shape": ["n", "m"], "dtype": "int32"},
        {"compute": "B", "shape": ["n", "m"], "axes": ["i", "j"], "expr": "A[i, j] + i"},
        {"compute": "C", "shape": ["m", "n"], "axes": ["i", "j"], "expr": "B[j, i] * 2"}],
        "outputs": ["C"], "args": ["A", "C"],
        "schedule": [{"do": "fuse", "stage": "B", "a": "i", "b": "j", "to": "f"},
                     {"do": "split", "stage": "B", "axis": "f", "factor": 7, "outer": "fo", "inner": "fi"},
                     {"do": "split", "stage": "C", "axis": "i", "nparts": 3, "outer": "io", "inner": "ii"}]});
    let sizes = BTreeMap::from([("n".to_owned(), 5), ("m".to_owned(), 4)]);
    crate::te_stages::check_stages(&network(&description), &LowerOptions::default(), &sizes).expect("the same results");
}
