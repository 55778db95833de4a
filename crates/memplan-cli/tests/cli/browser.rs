//! Pages in a real browser: `tests/browser/pages.mjs` opens what this makes.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use memplan_testkit::peers;
use serde_json::{Value, json};

use crate::costs::WAITS;
use crate::run::Folder;

/// A name that would like to be a script, an image, an attribute, a comment, a template, the end of a line.
const HOSTILE: &str =
    "</script><script>hacked=1</script><img src=x onerror=hacked=1>]]><!--\\\"'&{{DATA}}\u{2028}\u{1}";
/// The same as far as the name of a file can go.
const HOSTILE_FILE: &str = "<img src=x onerror=hacked=1>&'\"";

/// Ten buffers that have everything a page can show.
pub(crate) const TEN: &str = r#"{
 "spaces": [{"name": "ub", "capacity": 196608, "alignment": 32}, {"name": "l1", "alignment": 32}],
 "buffers": [
  {"id": "load", "size": 32768, "space": "ub", "lifetime": [[0, 3]], "pipe": "mte2", "slots": 2, "loop": "rows"},
  {"id": "weights", "size": 65536, "space": "l1", "lifetime": [[0, 12]], "pipe": "mte2"},
  {"id": "gelu", "size": 65536, "space": "ub", "lifetime": [[1, 6]], "pipe": "vector"},
  {"id": "window", "size": 16384, "space": "ub", "lifetime": [[2, 4], [6, 9, 0, 8192]], "pipe": "vector"},
  {"id": "sum", "size": 65536, "space": "ub", "lifetime": [[5, 8]], "pipe": "vector"},
  {"id": "left", "size": 4096, "space": "ub", "lifetime": [[7, 11]], "tie": {"group": "concat", "at": 0}},
  {"id": "right", "size": 4096, "space": "ub", "lifetime": [[8, 11]], "tie": {"group": "concat", "at": 4096}},
  {"id": "matmul", "size": 49152, "space": "ub", "lifetime": [[3, 7]], "pipe": "cube"},
  {"id": "scratch", "size": 2048, "space": "l1", "lifetime": [[4, 5]], "exclusive": true},
  {"id": "store", "size": 32768, "space": "ub", "lifetime": [[9, 12]], "pipe": "mte3"}
 ],
 "may_overlay": [{"id": "sum", "over": "gelu", "kind": "same-base"}]
}"#;

/// Buffers in the pictures whose every name is measured.
const LEGIBLE: [u64; 4] = [10, 100, 500, 2000];

/// Two copies in a row.
pub(crate) const LAYERS: &str = "\
func.func @layers(%x: memref<64x64xf32>) {
  %a = memref.alloc() : memref<64x64xf32>
  %b = memref.alloc() : memref<64x64xf32>
  linalg.copy ins(%x : memref<64x64xf32>) outs(%a : memref<64x64xf32>)
  linalg.copy ins(%a : memref<64x64xf32>) outs(%b : memref<64x64xf32>)
  linalg.copy ins(%b : memref<64x64xf32>) outs(%x : memref<64x64xf32>)
  return
}
";

/// A kernel whose on-chip memory is short: bytes are handed from one engine to another.
const KERNEL: &str = r#"module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @kernel(%in: memref<65536xf16, #hivm.address_space<gm>>, %out: memref<65536xf16, #hivm.address_space<gm>>) {
    %x = memref.alloc() : memref<65536xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%in : memref<65536xf16, #hivm.address_space<gm>>) outs(%x : memref<65536xf16, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<65536xf16, #hivm.address_space<ub>>
    hivm.hir.vexp ins(%x : memref<65536xf16, #hivm.address_space<ub>>) outs(%y : memref<65536xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%y : memref<65536xf16, #hivm.address_space<ub>>) outs(%out : memref<65536xf16, #hivm.address_space<gm>>)
    %z = memref.alloc() : memref<65536xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%in : memref<65536xf16, #hivm.address_space<gm>>) outs(%z : memref<65536xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%z : memref<65536xf16, #hivm.address_space<ub>>) outs(%out : memref<65536xf16, #hivm.address_space<gm>>)
    return
  }
}
"#;

/// Records of many sizes and lives, the same each time.
fn records(count: u64) -> String {
    let mut random = memplan_testkit::Random::new(count + 7);
    let mut below = |limit: u64| random.below(limit);
    let mut text = String::from("id,lower,upper,size\n");
    for i in 0..count {
        let (start, life, size) = (below(count / 2), 1 + below(8) * below(8), (64 + below(64)) << below(12));
        writeln!(text, "layer{}/out{i},{start},{},{size}", i / 7, start + life).unwrap();
    }
    text
}

/// A problem whose every name tries to be markup.
fn hostile() -> Value {
    let buffer = |number: usize| json!({"id": format!("{HOSTILE}{number}"), "size": 4096, "space": HOSTILE, "lifetime": [[0, 4]]});
    let mut first = buffer(0);
    for (field, value) in [
        ("pipe", json!(HOSTILE)),
        ("loop", json!(HOSTILE)),
        ("tie", json!({"group": HOSTILE, "at": 0})),
        ("alignment", json!(16)),
    ] {
        first[field] = value;
    }
    let other = json!({"id": "o", "size": 8, "space": "other", "lifetime": [[0, 2]]});
    json!({"spaces": [{"name": HOSTILE}, {"name": "other"}], "buffers": [first, buffer(1), other]})
}

/// A plan with everything at the same place.
fn hostile_offsets() -> String {
    let name = HOSTILE.replace('"', "\"\"");
    format!("id,offset\n\"{name}0\",0\n\"{name}1\",0\no,0\n")
}

/// Sizes that are known only at run time, called something else.
fn hostile_sizes() -> Value {
    let size = json!({"symbol": HOSTILE, "at_most": 4096});
    let buffer =
        |number: u64| json!({"id": format!("{HOSTILE}{number}"), "size": size, "lifetime": [[number, number + 2]]});
    json!({"buffers": [buffer(0), buffer(1), buffer(2)]})
}

/// A source whose function, and whose lines, are markup.
fn hostile_source() -> String {
    let line = "  %a = memref.alloc() : memref<64xf32>";
    let name = HOSTILE.replace(['\\', '"', '\u{2028}', '\u{1}'], "");
    LAYERS
        .replace("@layers", &format!("@\"{name}\""))
        .replace("  %a = memref.alloc()", &format!("{line} // {name}\n  %a2 = memref.alloc()"))
}

/// The pages, and what draws them.
fn make_pages() -> Folder {
    let transformer = include_str!("../../../../corpus/real/xla_transformer_train_step.csv");
    let evil = |extension: &str| format!("{HOSTILE_FILE}.{extension}");
    let (thousand, huge) = (records(1_000), records(100_000));
    let folder = Folder::with(&[
        ("ten.json", TEN),
        ("thousand.csv", &thousand),
        ("huge.csv", &huge),
        (&evil("json"), &hostile().to_string()),
        ("symbols.json", &hostile_sizes().to_string()),
        (&evil("mlir"), &hostile_source()),
        ("kernel.mlir", KERNEL),
        ("waits.json", WAITS),
        ("layers.mlir", LAYERS),
        ("transformer.csv", transformer),
        ("bad.csv", "id,offset\n0,0\n"),
    ]);
    let bad: String = thousand.lines().skip(1).map(|line| format!("{},0\n", line.split(',').next().unwrap())).collect();
    std::fs::write(folder.path("bad.csv"), format!("id,offset\n{bad}")).unwrap();
    let draw = |args: &[&str]| {
        let ran = folder.run_args(args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    };
    draw(&["plan", "thousand.csv", "-s", "greedy-by-size", "-o", "greedy.json"]);
    draw(&["plan", "thousand.csv", "-s", "auto", "--work", "1000", "-o", "auto.json"]);
    draw(&["show", "ten.json", "-o", "ten.html"]);
    let model = workspace().join("tests/data/tflite/unet.tflite");
    draw(&["show", &model.to_string_lossy(), "-o", "model.html"]);
    draw(&["show", "thousand.csv", "greedy.json", "auto.json", "-o", "thousand.html"]);
    draw(&["show", "huge.csv", "-s", "first-fit", "-o", "huge.html"]);
    draw(&["plan", &evil("json"), "-o", &evil("a.json")]);
    std::fs::write(folder.path(&evil("b.csv")), hostile_offsets()).unwrap();
    draw(&["show", &evil("json"), "-o", "hostile.html"]);
    draw(&["show", &evil("json"), "-o", "hostile.svg"]);
    draw(&["show", &evil("json"), "-o", "trace.json"]);
    draw(&["show", &evil("json"), &evil("a.json"), &evil("b.csv"), "-o", "hostile-plans.html"]);
    draw(&["plan", "symbols.json", "--assign", "objects", "-s", "greedy-in-order", "--map", "hostile-objects.html"]);
    draw(&["show", &evil("mlir"), "-o", "hostile-source.html"]);
    draw(&["opt", "kernel.mlir", "--pass", "plan-memory", "-o", "planned.mlir", "--map", "kernel.html"]);
    draw(&["plan", "waits.json", "--trade-off", "--map", "waits.html"]);
    for count in LEGIBLE {
        std::fs::write(folder.path(&format!("legible-{count}.csv")), records(count)).unwrap();
        draw(&["show", &format!("legible-{count}.csv"), "-s", "first-fit", "-o", &format!("legible-{count}.svg")]);
        let once = folder.read(&format!("legible-{count}.svg"));
        draw(&["show", &format!("legible-{count}.csv"), "-s", "first-fit", "-o", "again.svg"]);
        assert!(once == folder.read("again.svg"), "the same plan, the same bytes");
    }
    draw(&["show", "ten.json", "-o", "legible-ten.svg"]);
    draw(&["show", "layers.mlir", "-o", "program.html"]);
    draw(&["show", "thousand.csv", "bad.csv", "-o", "wrong.html"]);
    draw(&["show", "transformer.csv", "-o", "readme.html"]);
    for (page, notebook) in [("ten.html", "notebook.html"), ("hostile.html", "hostile-notebook.html")] {
        let page = folder.read(page).replace('&', "&amp;").replace('"', "&quot;");
        let sandbox = "sandbox=\"allow-scripts\" width=1000 height=640";
        std::fs::write(folder.path(notebook), format!("<!doctype html><iframe srcdoc=\"{page}\" {sandbox}></iframe>"))
            .unwrap();
    }
    folder
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What is missing to run a browser; `None` if it is all there.
fn missing() -> Option<&'static str> {
    let chromium = std::env::var("MEMPLAN_CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    if !Path::new(&chromium).exists() {
        return Some("chromium");
    }
    if !workspace().join("tests/browser/node_modules/playwright-core").exists() {
        return Some("playwright-core (npm ci in tests/browser)");
    }
    Command::new("node").arg("--version").output().is_err().then_some("node")
}

#[test]
fn pages_in_a_real_browser() {
    if let Some(what) = missing() {
        return peers::missing(what);
    }
    let folder = make_pages();
    let script = workspace().join("tests/browser/pages.mjs");
    let output = Command::new("node").arg(&script).arg(folder.path("")).output().unwrap();
    let pictures = workspace().join("target/pages");
    std::fs::create_dir_all(&pictures).unwrap();
    for name in folder.files().iter().filter(|name| name.ends_with(".png") || *name == "report.txt") {
        std::fs::copy(folder.path(name), pictures.join(name)).unwrap();
    }
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    if std::env::var_os("MEMPLAN_BLESS").is_some() {
        for name in ["page-light.png", "page-dark.png"] {
            std::fs::copy(folder.path(name), workspace().join("docs/images").join(name)).unwrap();
        }
    }
    eprintln!("{said}");
}

/// A trace is JSON: names come back as they were.
#[test]
fn a_trace_keeps_hostile_names() {
    let folder = Folder::with(&[("hostile.json", &hostile().to_string())]);
    assert_eq!(folder.run("show hostile.json -o trace.json").code, 0);
    let trace: Value = serde_json::from_str(&folder.read("trace.json")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let named = |name: &str| events.iter().any(|event| event["args"]["name"] == name || event["name"] == name);
    assert!(named(&format!("space {HOSTILE}")) && named(&format!("{HOSTILE}0")) && named(&format!("{HOSTILE}1")));
}

#[test]
fn the_pictures_in_the_documents_are_there_and_small() {
    for name in ["page-light.png", "page-dark.png"] {
        let bytes = std::fs::read(workspace().join("docs/images").join(name)).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() < 200_000, "{name}: {} bytes", bytes.len());
    }
}

#[test]
fn the_lock_file_names_no_download_addresses() {
    let lock = std::fs::read_to_string(workspace().join("tests/browser/package-lock.json")).unwrap();
    assert!(lock.contains("\"integrity\"") && !lock.contains("resolved") && !lock.contains("http"), "{lock}");
}
