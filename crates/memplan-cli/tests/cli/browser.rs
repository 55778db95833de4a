//! Pages in a real browser: `tests/browser/pages.mjs` opens what this makes.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::Folder;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\\\"'&{{DATA}}\\u2028\\u0000";

/// Ten buffers that have everything a page can show.
const TEN: &str = r#"{
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

const LAYERS: &str = "\
func.func @layers(%x: memref<64x64xf32>) {
  %a = memref.alloc() : memref<64x64xf32>
  %b = memref.alloc() : memref<64x64xf32>
  linalg.copy ins(%x : memref<64x64xf32>) outs(%a : memref<64x64xf32>)
  linalg.copy ins(%a : memref<64x64xf32>) outs(%b : memref<64x64xf32>)
  linalg.copy ins(%b : memref<64x64xf32>) outs(%x : memref<64x64xf32>)
  return
}
";

/// Records of many sizes and lives, the same each time.
fn records(count: u64) -> String {
    let mut state = count;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut text = String::from("id,lower,upper,size\n");
    for i in 0..count {
        let (start, life, size) = (below(count / 2), 1 + below(8) * below(8), (64 + below(64)) << below(12));
        writeln!(text, "layer{}/out{i},{start},{},{size}", i / 7, start + life).unwrap();
    }
    text
}

fn hostile() -> String {
    let buffer = |number: usize, more: &str| {
        format!(r#"{{"id": "{HOSTILE}{number}", "size": 4096, "space": "{HOSTILE}", "lifetime": [[0, 4]]{more}}}"#)
    };
    let all = format!(
        r#", "pipe": "{HOSTILE}", "loop": "{HOSTILE}", "tie": {{"group": "{HOSTILE}", "at": 0}}, "alignment": 16"#
    );
    format!(
        r#"{{"spaces": [{{"name": "{HOSTILE}"}}, {{"name": "other"}}], "buffers": [{}, {}, {{"id": "o", "size": 8, "space": "other", "lifetime": [[0, 2]]}}]}}"#,
        buffer(0, &all),
        buffer(1, "")
    )
}

/// The pages, and what draws them.
fn make_pages() -> Folder {
    let transformer = include_str!("../../../../corpus/real/xla_transformer_train_step.csv");
    let evil = "<img src=x onerror=alert(1)>.json";
    let (thousand, huge, hostile) = (records(1_000), records(100_000), hostile());
    let folder = Folder::with(&[
        ("ten.json", TEN),
        ("thousand.csv", &thousand),
        ("huge.csv", &huge),
        (evil, &hostile),
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
    draw(&["show", "thousand.csv", "greedy.json", "auto.json", "-o", "thousand.html"]);
    draw(&["show", "huge.csv", "-s", "first-fit", "-o", "huge.html"]);
    draw(&["show", evil, "-o", "hostile.html"]);
    draw(&["show", "layers.mlir", "-o", "program.html"]);
    draw(&["show", "thousand.csv", "bad.csv", "-o", "wrong.html"]);
    draw(&["show", "transformer.csv", "-o", "readme.html"]);
    let page = folder.read("ten.html").replace('&', "&amp;").replace('"', "&quot;");
    let frame =
        format!("<!doctype html><iframe srcdoc=\"{page}\" sandbox=\"allow-scripts\" width=1000 height=640></iframe>");
    std::fs::write(folder.path("notebook.html"), frame).unwrap();
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
        assert!(std::env::var_os("MEMPLAN_REQUIRE_PEERS").is_none(), "needs {what}");
        eprintln!("skipped: needs {what}");
        return;
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
