//! The documented algorithm through IR, and its table.

use std::collections::BTreeMap;

use memplan::front_end::assign_gmem::reuse_table;
use memplan::source::Source;
use serde_json::Value;

use crate::text::{addresses, assign, assigned, attribute, complaints, data};

const START: u64 = 0x1_0000_0000;

/// A recorded case as one function of a module.
fn recorded(ops: &Value) -> String {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    let mut body = String::new();
    for op in ops.as_array().unwrap() {
        let operands: Vec<&str> = op[2].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        for result in op[3].as_array().unwrap() {
            sizes.insert(result[0].as_str().unwrap().to_owned(), result[1].as_u64().unwrap());
        }
        let ty = |name: &str| format!("tensor<{}xi8>", sizes[name]);
        let names: Vec<String> = operands.iter().map(|name| format!("%{name}")).collect();
        let types: Vec<String> = operands.iter().map(|name| ty(name)).collect();
        let (names, types) = (names.join(", "), types.join(", "));
        if op[1] == "noalloc" {
            body += &format!("      return {names} : {types} loc(#loc)\n");
            continue;
        }
        let result = op[3][0][0].as_str().unwrap();
        let name = match (op[1].as_str().unwrap(), operands.is_empty()) {
            ("reshape", _) => "tpu.Reshape",
            (_, true) => "top.Input",
            _ => "tpu.Active",
        };
        let (names, types) = if operands.is_empty() { ("%arg0".to_owned(), ty(result)) } else { (names, types) };
        body += &format!("      %{result} = \"{name}\"({names}) : ({types}) -> {} loc(#loc)\n", ty(result));
    }
    let last = body.rsplit(" : ").next().unwrap().trim_end_matches(" loc(#loc)\n").to_owned();
    let first = body.split(" : (").nth(1).unwrap().split(')').next().unwrap().to_owned();
    format!(
        "#loc = loc(unknown)\nmodule @net attributes {{module.chip = \"bm1684x\", module.state = \"TPU_DIVIDED\"}} {{\n  \
         module @net attributes {{module.device_id = 0 : i64}} {{\n    func.func @main(%arg0: {first} loc(unknown)) -> {last} {{\n\
         {body}    }} loc(#loc)\n  }} loc(#loc)\n}} loc(#loc)\n"
    )
}

fn cases() -> Vec<Value> {
    let file: Value = serde_json::from_str(&data("conformance/gmem.json")).unwrap();
    file["documented_algorithm_cases"].as_array().unwrap().clone()
}

#[test]
fn recorded_cases_through_ir() {
    for case in cases() {
        let text = assigned(&recorded(&case["ops"]), "assign-gmem{mode=documented}");
        assert_eq!(complaints(&text), Vec::<String>::new(), "{}", case["id"]);
        let found: BTreeMap<String, u64> =
            addresses(&text).into_iter().map(|(name, (at, _))| (name[1..].to_owned(), at - START)).collect();
        let expected: BTreeMap<String, u64> =
            case["addr"].as_object().unwrap().iter().map(|(name, at)| (name.clone(), at.as_u64().unwrap())).collect();
        if case["unsound"] == true {
            assert_eq!(found["R"], found["X"], "a reshape lies where its source lies");
            assert_ne!(found["D"], found["X"], "X is still to be read when D is written");
        } else {
            assert_eq!(found, expected, "{}", case["id"]);
            assert_eq!(attribute(&text, "neuron_size"), case["total"].as_u64(), "{}", case["id"]);
        }
    }
}

#[test]
fn the_table_after_each_step() {
    let figure = cases().into_iter().find(|case| case["id"] == "figure").unwrap();
    let source = Source::new("figure.mlir", recorded(&figure["ops"]));
    let table = reuse_table(&source).unwrap();
    let step = |number: usize| {
        let (_, rest) = table.split_once(&format!("\nstep {number}: ")).unwrap();
        rest.split("\n\n").next().unwrap().to_owned()
    };
    let row = |step: &str, tensor: &str| -> Vec<String> {
        let line = step.lines().find(|line| line.trim_start().starts_with(tensor)).unwrap();
        line.split_whitespace().skip(1).map(str::to_owned).collect()
    };
    // Address, size, reads to come, whether the tensor is held, whether its address is in use. `in` is read for
    // the last time by the op that makes V0, and released right after it.
    assert_eq!(row(&step(0), "%in"), ["4294967296", "4096", "1", "yes", "yes"]);
    assert_eq!(row(&step(1), "%in"), ["4294967296", "4096", "0", "no", "no"]);
    assert_eq!(row(&step(1), "%V0"), ["4294971392", "4096", "2", "yes", "yes"]);
    assert_eq!(row(&step(2), "%A"), ["4294967296", "4096", "1", "yes", "yes"]);
    assert_eq!(row(&step(3), "%B"), ["4294975488", "4096", "1", "yes", "yes"]);
    assert_eq!(row(&step(4), "%V0"), ["4294971392", "4096", "0", "no", "no"]);
    assert_eq!(row(&step(5), "%V1"), ["4294971392", "4096", "1", "yes", "yes"]);
    assert_eq!(row(&step(6), "%V1"), ["4294971392", "4096", "0", "yes", "yes"], "a return releases nothing");
    assert!(table.trim_end().ends_with("activations from 4294967296, 12288 bytes"), "{table}");
}

#[test]
fn what_a_call_takes_is_never_released() {
    let text = assigned(&data("gmem-ir/tiny_before_address_assign_bm1684x.mlir"), "assign-gmem{mode=documented}");
    assert_eq!(complaints(&text), Vec::<String>::new());
    // in, s1, t2, a3, c4 and s5: in is held, s1..a3 are read by the concat, and a
    // block is never joined with its neighbour.
    assert_eq!(attribute(&text, "neuron_size"), Some(10 * 65536));
    assert!(text.contains("only_merge = false"), "the document merges no concat");
}

/// The text says once which mode all devices are in. If the input of one of them is overwritten, it must not say `basic`,
/// in which inputs survive.
#[test]
fn an_input_that_one_device_overwrites_is_promised_by_none() {
    let ty = "tensor<4096xi8>";
    let op = |result: &str, of: &str| format!("      %{result} = \"tpu.Active\"(%{of}) : ({ty}) -> {ty}\n");
    let device = |name: &str, body: &str, functions: &str| {
        format!(
            "  module @{name} {{\n    func.func @main(%arg0: {ty}) -> {ty} {{\n      \
             %{name} = \"top.Input\"(%arg0) : ({ty}) -> {ty}\n{body}    }}\n{functions}  }}\n"
        )
    };
    // What a call takes is never released, and everything else is.
    let called =
        format!("    func.func @f(%arg0: {ty}) -> {ty} {{\n{}      return %g : {ty}\n    }}\n", op("g", "arg0"));
    let call = format!("      %r = call @f(%keeps) : ({ty}) -> {ty}\n      return %r : {ty}\n");
    let keeps = device("keeps", &call, &called);
    let chain = op("a", "frees") + &op("b", "a") + &op("c", "b") + &format!("      return %c : {ty}\n");
    let frees = device("frees", &chain, "");
    for (devices, mode) in [
        (keeps.clone() + &keeps.replace("keeps", "also"), "basic"),
        (keeps.clone() + &frees, "in_reuse"),
        (frees + &keeps, "in_reuse"),
    ] {
        let source = format!(
            "module @net attributes {{module.chip = \"bm1684x\", module.state = \"TPU_DIVIDED\"}} {{\n{devices}}}\n"
        );
        let rewritten = assign(&source, "assign-gmem{mode=documented,addr_mode=basic}").unwrap();
        let text = rewritten.text;
        assert!(text.contains(&format!("module.addr_mode = \"{mode}\"")), "{mode}\n{text}");
        assert_eq!(complaints(&text), Vec::<String>::new(), "{text}");
        // Each device is told that it is not in the mode that was asked for.
        let told = rewritten.notes.iter().filter(|note| note.contains("(basic becomes in_reuse)")).count();
        assert_eq!(told, if mode == "basic" { 0 } else { 2 }, "{:?}", rewritten.notes);
    }
}

#[test]
fn a_merged_concat_has_to_have_its_operands_inside() {
    let ty = |channels: u64| format!("tensor<1x{channels}x1024xf32>");
    let body = format!(
        "      %a = \"tpu.Active\"(%arg0) : ({one}) -> {one} loc(#loc)
      %b = \"tpu.Concat\"(%a, %arg0) {{axis = 1 : si32, only_merge = false}} : ({one}, {one}) -> {two} loc(#loc)
      return %b : {two} loc(#loc)\n",
        one = ty(1),
        two = ty(2)
    );
    let source = crate::text::module("bm1684x", "basic", &[ty(1)], &[ty(2)], &body);
    let apart = assigned(&source, "assign-gmem{mode=documented}");
    assert_eq!(complaints(&apart), Vec::<String>::new());
    let claimed = apart.replace("only_merge = false", "only_merge = true");
    let found = complaints(&claimed);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|message| message.contains("`tpu.Concat` moves no data")), "{found:?}");
}
