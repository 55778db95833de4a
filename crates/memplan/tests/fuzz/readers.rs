//! Mutants of files of every format, planned as the command line would plan them.

use memplan::format::{self, FORMATS, Format};

use crate::{attack, checks, fields, folder, parts, texts};

const CSV: &str = "id,lower,upper,size,alignment,space,offset,gaps,hint\n\
    a,0,30,4096,64,sram,,10-20,\n\
    \"b, \"\"b\",0,30,1024,1,sram|dram,,5-6 10-20@0:512,8\n\
    c,3,9,64,16,dram,128,,\n";

const TABLE_OF_TASKS: &str = "buffer_id,first_task,last_task,size\n0,0,3,64\n1,1,2,32\n2,3,4,16\n";

const JSON: &str = r#"{"spaces": [{"name": "ub", "capacity": 196608, "alignment": 32, "base": 64}, {"name": "l1"}],
 "buffers": [{"id": "a", "size": 8192, "alignment": 32, "space": "ub", "lifetime": [[0, 4], [6, 9]], "pipe": "vector"},
  {"id": "b", "size": 64, "space": ["ub", "l1"], "lifetime": [[2, 5, 0, 32]], "slots": 2},
  {"id": "c", "size": 32, "space": "ub", "lifetime": [[4, 7]], "tie": {"group": "g", "at": 0}},
  {"id": "d", "size": 32, "space": "ub", "lifetime": [[4, 8]], "tie": {"group": "g", "at": 32}},
  {"id": "e", "size": 32, "space": "l1", "lifetime": [[5, 9]], "offset": 64, "exclusive": true}],
 "may_overlay": [{"id": "c", "over": "a", "kind": "same-base"}], "must_share": [], "must_not_share": [["a", "b"]],
 "reuse_costs": [["a", "c", 3]]}"#;

const SHORT_JSON: &str =
    r#"{"records": [[64, 0, 1], [32, 1, 2], [16, 2, 3]], "dependencies": [[1], [2], []], "read_by_outputs": [0]}"#;

const TRACE: &str =
    "# ping-pong\nalloc a 64\nalloc b 32 16 # aligned\nfree a\noverlay c b zero\noverlay c a free\nalloc c 8\nfree b\n";

const XLA: &str = "BufferAssignment:\nallocation 1: size 8192, preallocated-temp:\n \
    value: <5 add.1 @0> (size=4096,offset=4096): f32\n value: <6 mul.2 @0> (size=4096,offset=0): f32\n\
    HloLiveRange (max 12):\n  BufferLiveRange:\n    add.1{}:2-4\n    mul.2{}:3-9\n";

const DSA: &str = r#"{"schema_version": 1, "profile": "pypto_research_v1", "instance": "softmax", "problem": {
  "pools": [{"id": 1, "name": "Vec", "capacity": 188416, "reserved_ranges": [{"begin": 0, "end": 4096}]}],
  "buffers": [{"id": 0, "name": "x", "size": 256, "alignment": 32, "allowed_pools": [1],
               "live_intervals": [{"lower": 0, "upper": 4}]},
              {"id": 1, "name": "y", "size": 256, "alignment": 32, "allowed_pools": [1],
               "live_intervals": [{"lower": 6, "upper": 9}]}],
  "cost_model": {"reuse_penalties": [{"first": 0, "second": 1, "cost": 1}]}}}"#;

const PROGRAM: &str =
    "func @main() {\n  alloc alloc %a 64, write %a\n  use read %a, alloc %b 32, write %b\n  use read %b\n}\n";

fn literals(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// The node models of the onnx package, where the Python peers are installed.
fn onnx_nodes() -> Vec<Vec<u8>> {
    let environments = std::fs::read_dir(folder("../../.venv/lib")).into_iter().flatten().flatten();
    let nodes = environments.map(|python| python.path().join("site-packages/onnx/backend/test/data/node"));
    let tests = nodes.flat_map(|nodes| std::fs::read_dir(nodes).into_iter().flatten().flatten());
    let mut models: Vec<_> = tests.map(|test| test.path().join("model.onnx")).collect();
    models.sort();
    models.iter().filter_map(|model| std::fs::read(model).ok()).filter(|model| model.len() < 8_000).collect()
}

/// Files of a format: small ones, with as many of its features as there are.
fn seeds(format: &dyn Format) -> Vec<Vec<u8>> {
    match format.name() {
        "tflite" => texts("../../tests/data/tflite", "tflite"),
        "onnx" => [texts("../../tests/data/onnx", "onnx"), onnx_nodes()].concat(),
        "snapshot" => vec![std::fs::read(folder("../../tests/data/torch/inference.pickle")).unwrap()],
        "kineto" => vec![std::fs::read(folder("../../tests/data/torch/profile_cpu.json")).unwrap()],
        "xla" => literals(&[XLA]),
        "te" => fields("../../tests/data/tvm/te17.jsonl", "program"),
        "dsa" => literals(&[DSA]),
        "json" => literals(&[JSON, SHORT_JSON]),
        "trace" => literals(&[TRACE]),
        "tvmscript" => [
            fields("../../tests/data/tvm/script27.jsonl", "in_text"),
            fields("../../tests/data/tvm/pipeline27.jsonl", "text"),
        ]
        .concat(),
        "mlir" => [texts("../memplan-mlir/tests/corpus", "mlir"), parts("tests/plan_memory/kernels.mlir")].concat(),
        "program" => literals(&[PROGRAM]),
        "csv" => literals(&[CSV, TABLE_OF_TASKS]),
        other => panic!("no seeds for the format {other}"),
    }
}

#[test]
fn every_format() {
    for format in FORMATS {
        // A format without an extension of its own is found by its content, or asked for by its name.
        let name = format!("file.{}", format.extensions().first().unwrap_or(&format.name()));
        let seeds = seeds(*format);
        let read = |seed: &[u8]| format::read(seed, Some(*format), &name, &checks::read_options()).is_ok();
        let readable = seeds.iter().filter(|seed| read(seed)).count();
        assert!(2 * readable >= seeds.len(), "{}: {readable} of {} seeds can be read", format.name(), seeds.len());
        attack(format.name(), &seeds, |bytes| checks::file(*format, &name, bytes));
    }
}
