//! Every stage of the life cycle computes the same.

use crate::JUDGE;
use crate::te_conformance::te_records;
use memplan_tensor::interpret::{Order, Output, RunOptions, Scalar, run};
use memplan_tensor::te::{LowerOptions, Network, json, lower};
use std::collections::BTreeMap;

const STAGES: [&str; 5] = ["schedule-ops", "primfunc", "flat", "prepared", "rewritten"];

/// Results by name; truth values as such, because flat storage keeps them as bytes.
fn results(outputs: Vec<Output>, network: &Network) -> BTreeMap<String, Vec<Scalar>> {
    let truths: Vec<&str> = network
        .graph
        .tables
        .buffers
        .iter()
        .filter(|buffer| buffer.dtype == memplan_tensor::DType::BOOL)
        .map(|buffer| buffer.name.as_str())
        .collect();
    let truth = |value: Scalar| Scalar::Int(i64::from(!matches!(value, Scalar::Int(0))));
    outputs
        .into_iter()
        .map(|output| {
            let is_truth = truths.contains(&output.name.as_str());
            let values = output.values.into_iter().map(|value| if is_truth { truth(value) } else { value }).collect();
            (output.name, values)
        })
        .collect()
}

/// Runs all stages in all orders; the first difference as an error. `None` if the schedule cannot be lowered.
pub(crate) fn check_stages(
    network: &Network,
    options: &LowerOptions,
    sizes: &BTreeMap<String, i64>,
) -> Result<usize, String> {
    let lowered =
        lower(network, options, JUDGE).map_err(|error| format!("not lowered at {}: {error}", error.stage()))?;
    let reference = network.reference();
    let mut runs = 0;
    for order in [Order::Forward, Order::Backward, Order::Lockstep] {
        let how = RunOptions { order, ..lowered.run_options(network, 1 + runs as u64, sizes) };
        let expected = run(&reference, &how).map_err(|error| format!("graph: {error}"))?;
        let expected = results(expected, network);
        for stage in STAGES {
            let function = lowered.function_at(stage).expect("a function");
            let found = run(function, &how).map_err(|error| format!("{stage} {order:?}: {error}"))?;
            if results(found, network) != expected {
                return Err(format!("{stage} {order:?}: other results"));
            }
            runs += 1;
        }
    }
    Ok(runs)
}

#[test]
fn recorded_programs_compute_the_same_at_every_stage() {
    let (mut checked, mut problems) = (0, Vec::new());
    for record in te_records() {
        let network = json::read_value(&record["program"]).expect("a description");
        for compat in [false, true] {
            let options = LowerOptions { compat, ..LowerOptions::default() };
            let sizes = BTreeMap::from([("m".to_owned(), 70), ("n".to_owned(), 33), ("l".to_owned(), 6)]);
            match check_stages(&network, &options, &sizes) {
                Ok(runs) => checked += runs,
                Err(_) if !record["error"].is_null() => {}
                Err(problem) => problems.push(format!("{} compat={compat}: {problem}", record["id"])),
            }
        }
    }
    assert!(problems.is_empty(), "{checked} runs, problems:\n{}", problems.join("\n"));
    assert!(checked >= 30 * 2 * 15, "{checked} runs");
}

/// Schedules that are refused for a reason that generation cannot foresee.
fn is_expected_refusal(problem: &str) -> bool {
    ["no loop is around it", "threads and, inside, with", "does not start at zero", "that is no loop of it"]
        .iter()
        .any(|text| problem.contains(text))
}

/// `MEMPLAN_TE_SEEDS=from-to` checks other graphs, or a single one.
fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("MEMPLAN_TE_SEEDS").ok();
    let parsed = given.as_deref().and_then(|text| {
        let (from, to) = text.split_once('-')?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    parsed.unwrap_or(0..1200)
}

#[test]
fn generated_graphs_compute_the_same_at_every_stage() {
    let (mut same, mut refused, mut problems) = (0, 0, Vec::new());
    for seed in seeds() {
        let description = crate::te_generate::network(seed);
        let network = match json::read_value(&description) {
            Ok(network) => network,
            Err(error) => {
                problems.push(format!("{seed}: {error}\n  {description}"));
                continue;
            }
        };
        match check_stages(&network, &LowerOptions::default(), &BTreeMap::new()) {
            Ok(_) => same += 1,
            Err(problem) if is_expected_refusal(&problem) => refused += 1,
            Err(problem) => {
                let stages = ["schedule-ops", "prepared", "rewritten"].map(|stage| {
                    memplan_tensor::te::dump(&network, stage, &LowerOptions::default(), JUDGE)
                        .unwrap_or_else(|e| e.to_string())
                });
                problems.push(format!("{seed}: {problem}\n  {description}\n{}", stages.join("\n")));
            }
        }
    }
    let shown: Vec<&str> = problems.iter().take(3).map(String::as_str).collect();
    let first_lines: Vec<&str> = problems.iter().filter_map(|problem| problem.lines().next()).collect();
    assert!(
        problems.is_empty(),
        "{same} same, {refused} refused, {} problems:\n{}\n{}",
        problems.len(),
        first_lines.join("\n"),
        shown.concat()
    );
    if std::env::var_os("MEMPLAN_TE_SEEDS").is_none() {
        assert!(same >= 1000, "{same} same, {refused} refused");
    }
}

/// Descriptions with a random byte changed, dropped or doubled: an answer or an error, never a crash.
#[test]
fn damaged_descriptions_are_answered() {
    let mut random = crate::generate::Random::new(17);
    let (mut read, mut lowered) = (0, 0);
    for seed in 0..60 {
        let text = crate::te_generate::network(seed).to_string();
        for _ in 0..25 {
            let mut damaged = text.clone().into_bytes();
            for _ in 0..1 + random.below(2) {
                let at = random.below(damaged.len());
                match random.below(4) {
                    0 => drop(damaged.remove(at)),
                    1 => damaged.insert(at, damaged[at]),
                    2 => damaged[at] = b"0123456789"[random.below(10)],
                    _ => damaged[at] = b"ij[]{}\",:-+*/%"[random.below(14)],
                }
            }
            let Ok(damaged) = String::from_utf8(damaged) else { continue };
            match json::read(&damaged) {
                Ok(network) => {
                    read += 1;
                    lowered += usize::from(lower(&network, &LowerOptions::default(), JUDGE).is_ok());
                }
                Err(error) => assert!(error.span(&damaged).range().end <= damaged.len()),
            }
        }
    }
    assert!(read > 100 && lowered > 50, "{read} read, {lowered} lowered");
}

/// Sizes that are only known at run time, and a loop that does not begin at 0.
const SYMBOLIC: &str = r#"{"syms": ["n"], "ops": [
   {"placeholder": "X", "shape": ["n"], "dtype": "float32"},
   {"compute": "Y", "shape": ["n"], "axes": ["i"], "expr": "X[i]*2.0"},
   {"compute": "O", "shape": ["n"], "axes": ["i"], "expr": "Y[i]+1.0"}],
 "outputs": ["O"], "args": ["X", "O"],
 "schedule": [{"do": "split", "stage": "Y", "axis": "i", "factor": 8, "outer": "io", "inner": "ii"}]}"#;

#[test]
fn lowered_text_reads_again_and_computes_the_same() {
    use memplan_tensor::script::Script;
    let network = json::read(SYMBOLIC).expect("a description");
    let text = memplan_tensor::te::lower_text(SYMBOLIC, &LowerOptions::default(), JUDGE).expect("lowered");
    assert!(text.contains("var_X: T.handle") && text.contains("X = T.match_buffer(var_X, "), "{text}");
    let script = Script::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(script.print(), text);
    let lowered = lower(&network, &LowerOptions::default(), JUDGE).expect("lowered");
    let sizes = BTreeMap::from([("n".to_owned(), 13)]);
    let how = lowered.run_options(&network, 7, &sizes);
    let expected = run(lowered.function_at("rewritten").expect("a function"), &how).expect("it runs");
    let function = script.functions().first().expect("a function");
    let found = run(function, &how).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(results(found, &network), results(expected, &network), "{text}");
}

/// `range(a, b)` ends before `b`: a loop from 2 with 6 iterations is `range(2, 8)`.
#[test]
fn loops_end_where_their_text_says() {
    for record in te_records() {
        let Ok(network) = json::read_value(&record["program"]) else { continue };
        for stage in ["schedule-ops", "primfunc"] {
            let options = LowerOptions::default();
            let (Ok(text), Ok(lowered)) =
                (memplan_tensor::te::dump(&network, stage, &options, JUDGE), lower(&network, &options, JUDGE))
            else {
                continue;
            };
            let mut ends = Vec::new();
            for stmt in &lowered.function_at(stage).expect("a function").body {
                stmt.walk(&mut |part| {
                    if let memplan_tensor::ir::StmtKind::For { min, extent, .. } = &part.kind
                        && let (Some(min), Some(extent)) = (min.as_int(), extent.as_int())
                        && min != 0
                    {
                        ends.push(format!("({min}, {})", min + extent));
                    }
                });
            }
            assert!(ends.iter().all(|bounds| text.contains(bounds)), "{ends:?}\n{text}");
        }
    }
}

/// Checks that all stages of a description compute the same.
fn assert_same(description: serde_json::Value, sizes: &[(&str, i64)]) {
    let network = json::read_value(&description).unwrap_or_else(|error| panic!("{error}: {description}"));
    let sizes = sizes.iter().map(|&(name, size)| (name.to_owned(), size)).collect();
    let checked = check_stages(&network, &LowerOptions::default(), &sizes);
    assert!(checked.is_ok(), "{checked:?}: {description}");
}

/// A graph of one operation `C = f(A)`, on 8 elements, whose body is a script.
fn with_script(body: &str) -> serde_json::Value {
    let script = format!("@T.prim_func\ndef f(x: T.Buffer((8,), \"int32\"), y: T.Buffer((8,), \"int32\")):\n{body}");
    serde_json::json!({"syms": ["n"], "ops": [{"placeholder": "A", "shape": [8], "dtype": "int32"},
        {"extern": "C", "inputs": ["A"], "outputs": [{"shape": [8], "dtype": "int32"}], "script": script},
        {"compute": "D", "shape": ["n"], "axes": ["i"], "expr": "C[i % 8] + n"}],
        "outputs": ["D"], "args": ["A", "D"]})
}

#[test]
fn vectorized_loops_keep_their_first_value() {
    let body = "    for i in range(8):\n        y[i] = 0\n    for v in T.vectorized(4, 8):\n        y[v] = x[v] + v\n";
    let description = with_script(body);
    assert_same(description.clone(), &[("n", 8)]);
    let network = json::read_value(&description).expect("a description");
    let text = memplan_tensor::te::dump(&network, "prepared", &LowerOptions::default(), JUDGE).expect("a text");
    assert!(text.contains("[4:8]"), "the loop is a vector of the lanes 4 to 7\n{text}");
    // The first value may depend on an outer loop. One that reads memory cannot be moved into the vector.
    let outer =
        "    for o in range(2):\n        for v in T.vectorized(o * 4, o * 4 + 4):\n            y[v] = x[v] + v\n";
    assert_same(with_script(outer), &[("n", 8)]);
    let loaded = "    for i in range(8):\n        y[i] = i % 2\n    for v in T.vectorized(y[1], y[1] + 4):\n        y[v] = x[v] + 9\n";
    assert_same(with_script(loaded), &[("n", 8)]);
}

#[test]
fn narrow_casts_in_subscripts_wrap_around() {
    for (subscript, extent) in [("i32(i8(i*100)) + 128", 256), ("i32(u8(i*100))", 256), ("i32(i8(i*10))", 100)] {
        assert_same(
            serde_json::json!({"ops": [{"placeholder": "A", "shape": [extent], "dtype": "int32"},
                {"compute": "P", "shape": [extent], "axes": ["i"], "expr": "A[i] + i"},
                {"compute": "C", "shape": [10], "axes": ["i"], "expr": format!("P[{subscript}]")}],
                "outputs": ["C"], "args": ["A", "C"]}),
            &[],
        );
    }
}

#[test]
fn a_double_buffer_of_no_iterations_computes_nothing() {
    assert_same(
        serde_json::json!({"ops": [{"placeholder": "A", "shape": [0, 8], "dtype": "int32"},
            {"compute": "P", "shape": [0, 8], "axes": ["i", "j"], "expr": "A[i, j] + 1"},
            {"compute": "C", "shape": [0, 8], "axes": ["i", "j"], "expr": "P[i, j] * 2"}],
            "outputs": ["C"], "args": ["A", "C"],
            "schedule": [{"do": "compute_at", "stage": "P", "target": "C", "axis": "i"},
                         {"do": "double_buffer", "stage": "P"}]}),
        &[],
    );
}

#[test]
fn loop_variables_of_scripts_are_no_sizes() {
    assert_same(with_script("    for n in range(8):\n        y[n] = x[n] + n\n"), &[("n", 5)]);
}

/// A stage is computed as far as it is needed: `flat` and `prepared` come before the storage rewrite, so they can be
/// looked at where the storage rewrite fails.
#[test]
fn stages_before_the_storage_rewrite_do_not_need_it() {
    let network =
        json::read_value(&with_script("    for i in range(8):\n        y[i] = x[i]\n")).expect("a description");
    let mut options = LowerOptions::default();
    options.rewrite.strategy = Some("no such strategy".to_owned());
    for (stage, works) in [("flat", true), ("prepared", true), ("storage", false), ("rewritten", false)] {
        let text = memplan_tensor::te::dump(&network, stage, &options, JUDGE);
        assert_eq!(text.is_ok(), works, "{stage}: {text:?}");
    }
}

/// An operation that could not be added leaves nothing behind that a second attempt would meet.
#[test]
fn a_packed_call_that_fails_is_forgotten() {
    let mut graph = memplan_tensor::te::Graph::default();
    let spec = || memplan_tensor::te::OutputSpec {
        shape: vec![memplan_tensor::ir::Expr::int(8)],
        dtype: memplan_tensor::DType::INT32,
    };
    let input = graph
        .placeholder("A", vec![memplan_tensor::ir::Expr::int(8)], memplan_tensor::DType::INT32)
        .expect("a placeholder");
    assert!(graph.extern_call("C", Vec::new(), Vec::new(), "f").is_err(), "it has no output");
    assert!(graph.extern_call("C", vec![input], Vec::new(), "f").is_err(), "it has no output");
    assert!(graph.extern_call("C", Vec::new(), vec![spec()], "f").is_ok());
}

#[test]
fn a_script_without_a_function_is_called_that() {
    let mut description = with_script("");
    description["ops"][1]["script"] = "# nothing\n".into();
    let error = json::read_value(&description).unwrap_err().to_string();
    assert!(!error.contains("more than one function"), "{error}");
}
