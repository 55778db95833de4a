//! `memplan fit`, with the interpreters that run what it writes.

#![allow(clippy::print_stderr, reason = "shows arenas and what they cost")]

use serde_json::Value;

use crate::models::{peer, run_peer, strings, tflite};
use crate::run::Folder;

/// A network and how many times smaller its arena shall be than that of the runtime on its own.
struct Case {
    network: &'static str,
    times: f64,
}

/// Small enough to be run in seconds. What larger networks gain is in docs/fit.md.
const CASES: [Case; 12] = [
    Case { network: "person", times: 1.15 },
    Case { network: "v2_96", times: 1.5 },
    Case { network: "resnet", times: 1.35 },
    Case { network: "keras", times: 2.4 },
    Case { network: "unet", times: 1.9 },
    Case { network: "unet_nearest", times: 1.5 },
    Case { network: "branching", times: 1.25 },
    Case { network: "float_v1", times: 1.4 },
    Case { network: "float_resnet", times: 1.3 },
    Case { network: "float_unet", times: 1.25 },
    Case { network: "several_outputs", times: 1.5 },
    Case { network: "int16", times: 2.2 },
];

/// Writes the networks; `false` if there is no Python for it.
fn make(folder: &Folder, networks: &[&str]) -> bool {
    let target = folder.path(".").display().to_string();
    peer("ai_edge_litert", &[strings(&["networks", &target]), strings(networks)].concat()).is_some()
}

#[test]
fn real_runtimes_compute_the_same_in_less_memory() {
    let folder = Folder::new();
    let names: Vec<&str> = CASES.iter().map(|case| case.network).collect();
    if !make(&folder, &names) {
        return;
    }
    let mut reports = Vec::new();
    let mut arguments = strings(&["fitted"]);
    for name in &names {
        let ran = folder.run(&format!("fit {name}.tflite --json -o {name}.fitted.tflite"));
        assert_eq!(ran.code, 0, "{name}: {}", ran.all());
        reports.push(ran.json());
        let path = |file: String| folder.path(&file).display().to_string();
        arguments.extend([path(format!("{name}.tflite")), path(format!("{name}.fitted.tflite"))]);
    }
    let Some(answers) = peer("tflite_micro, ai_edge_litert", &arguments) else { return };
    let number = |value: &Value, name: &str| value[name].as_u64().unwrap();
    for ((case, report), ran) in CASES.iter().zip(&reports).zip(answers.as_array().unwrap()) {
        let name = case.network;
        let versions = report["versions"].as_array().unwrap();
        let chosen = &versions[number(report, "chosen") as usize];
        assert_eq!(number(chosen, "arena"), number(ran, "fitted_arena"), "{name}: what was foreseen");
        assert!(ran["tflm_same"].as_bool().unwrap() && ran["litert_same"].as_bool().unwrap(), "{name}: {ran}");
        let times = number(ran, "arena") as f64 / number(chosen, "arena") as f64;
        let more = number(chosen, "multiply_adds") as f64 / number(&versions[0], "multiply_adds") as f64;
        eprintln!("{name}: {times:.2} times less, {more:.3} times the multiply-adds");
        assert!(times >= case.times, "{name}: {times:.2} times less");
        let arenas: Vec<u64> = versions.iter().map(|version| number(version, "arena")).collect();
        assert!(arenas.windows(2).all(|pair| pair[1] < pair[0]), "{name}: {arenas:?}");
    }
}

/// The tables of the chapter are what their script prints. Larger networks take minutes and are looked at under
/// `MEMPLAN_FULL`.
#[test]
fn the_tables_of_the_chapter_are_current() {
    let is_full = std::env::var_os("MEMPLAN_FULL").is_some();
    let networks =
        if is_full { &["keywords", "unet", "person", "keras", "resnet"][..] } else { &["micro_speech", "unet"] };
    let arguments = [strings(&[env!("CARGO_BIN_EXE_memplan")]), strings(networks)].concat();
    let Some(rows) = run_peer("fit_table.py", "tflite_micro, ai_edge_litert", &arguments) else { return };
    let chapter = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fit.md")).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 2 * networks.len());
    for row in rows {
        let row = row.as_str().unwrap();
        assert!(chapter.lines().any(|line| line == row), "docs/fit.md has another row than this one: {row}");
    }
}

#[test]
fn a_capacity_asks_for_the_cheapest_changes() {
    let folder = Folder::new();
    if !make(&folder, &["resnet"]) {
        return;
    }
    let fits = folder.run("fit resnet.tflite --capacity 64KiB -o as-it-is.tflite");
    assert!(fits.code == 0 && fits.all().contains("fits into 64.000 KiB (65536 bytes) as it is"), "{}", fits.all());
    let table = folder.run("fit resnet.tflite --json").json();
    let arenas = table["versions"].as_array().unwrap();
    let least = arenas.last().unwrap()["arena"].as_u64().unwrap();
    let fits = folder.run(&format!("fit resnet.tflite --capacity {least} -o least.tflite"));
    assert_eq!(fits.code, 0, "{}", fits.all());
    // A plan of the written model needs as much, and no more.
    let planned = folder.run("plan least.tflite --reuse-inputs");
    assert!(planned.all().contains(&format!("{least} B")), "{}", planned.all());
    let no = folder.run(&format!("fit resnet.tflite --capacity {} -o no.tflite", least / 2));
    assert_eq!(no.code, 1, "{}", no.all());
    assert!(no.all().contains("MEAN `mean` is not split"), "{}", no.all());
    assert_eq!(folder.files(), ["as-it-is.tflite", "least.tflite", "resnet.tflite"]);
}

/// Nothing can be said about tiles of an image whose size is not known, so that none are tried, and the arena is a lower
/// bound.
#[test]
fn images_of_unknown_size_are_not_split() {
    let folder = Folder::new();
    if !make(&folder, &["any_batch"]) {
        return;
    }
    let ran = folder.run("fit any_batch.tflite");
    assert!(ran.code == 0 && ran.all().contains("≥ ") && !ran.all().contains("passed over"), "{}", ran.all());
    let refused = folder.run("fit any_batch.tflite --capacity 20KiB");
    let reason = "CONV_2D `wide` is not split: the size of `image` is known only when it runs";
    assert!(refused.code == 1 && refused.all().contains(reason), "{}", refused.all());
}

/// Below the floor of a model a refusal says so; every version of the keyword spotter is at its floor.
#[test]
fn refusals_say_how_low_no_version_can_go() {
    let folder = Folder::new();
    if !make(&folder, &["keywords"]) {
        return;
    }
    let report = folder.run("fit keywords.tflite --json").json();
    assert_eq!(report["floor"], report["versions"][0]["arena"], "{report}");
    let refused = folder.run("fit keywords.tflite --capacity 20KiB");
    let words = "no change of these kinds makes it need less than 23.500 KiB (24064 bytes)";
    assert!(refused.code == 1 && refused.all().contains(words), "{}", refused.all());
    // Without records 16,000 bytes are left: an image of 8,000 that is read whole, and what it is computed from.
    assert_eq!(folder.run("fit keywords.tflite --count tensors --json").json()["floor"], 16_000);
}

/// Tiles of the first convolution need a border, which cannot be proved to stand for its padding. Tiles of the others
/// need none.
#[test]
fn what_cannot_be_proved_is_passed_over() {
    let folder = Folder::new();
    if !make(&folder, &["infinite"]) {
        return;
    }
    let ran = folder.run_with_repairs("fit infinite.tflite --json -o fitted.tflite");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.stderr.contains("`fit` passed over a version of the model (#0 CONV_2D `endless`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("not proved to compute the same"), "{}", ran.stderr);
    let report = ran.json();
    let versions = report["versions"].as_array().unwrap();
    assert!(versions.len() > 1, "{report}");
    assert!(versions.iter().all(|version| !version["changes"].to_string().contains("endless")), "{report}");
    let path = |name: &str| folder.path(name).display().to_string();
    // Its outputs are no numbers, so that bits are compared.
    let arguments = [path("infinite.tflite"), path("fitted.tflite"), "0".to_owned()];
    let Some(answer) = crate::generated::peer("changed_peer.py", &arguments) else { return };
    assert!(answer[0]["tflm"] == true && answer[0]["litert"] == true, "{answer}");
    // Whoever wants to hear of it at once gets a failure, and no file.
    let strict = folder.run("fit infinite.tflite --strict -o strict.tflite");
    assert_eq!(strict.code, 101, "{}", strict.all());
    assert_eq!(folder.files(), ["fitted.tflite", "infinite.tflite"]);
}

#[test]
fn every_change_can_be_forbidden() {
    let folder = Folder::new();
    if !make(&folder, &["branching"]) {
        return;
    }
    let least = |flags: &str| {
        let report = folder.run(&format!("fit branching.tflite --json {flags}")).json();
        report["versions"].as_array().unwrap().last().unwrap().clone()
    };
    let text = |version: &Value| version["changes"].to_string();
    assert!(text(&least("--allow reorder,input-reuse")).contains("another order"));
    assert!(!text(&least("--forbid reorder")).contains("another order"));
    assert_eq!(text(&least("--forbid reorder,recompute,patches")), "[]");
    let kept = least("--forbid input-reuse,reorder,recompute,patches")["arena"].as_u64();
    assert!(kept >= least("--forbid reorder,recompute,patches")["arena"].as_u64());
}

#[test]
fn no_version_needs_more_than_a_plan() {
    let folder = Folder::new();
    for name in ["mobile", "unet", "classifier", "branches", "puzzle", "elementwise", "lstm", "choice", "countdown"] {
        std::fs::copy(tflite(name), folder.path("model.tflite")).unwrap();
        let planned = folder.run("plan model.tflite --reuse-inputs --json").json()["extent"].as_u64().unwrap();
        // The runtime rounds the last tensor up, too.
        let planned = planned.next_multiple_of(16);
        let report = folder.run("fit model.tflite --json").json();
        for version in report["versions"].as_array().unwrap() {
            assert!(version["tensors"].as_u64().unwrap() <= planned, "{name}: {planned}, {version}");
        }
        let arena = report["versions"][0]["arena"].as_u64().unwrap();
        let fits = folder.run(&format!("fit model.tflite --capacity {arena} --json")).json();
        assert_eq!(fits["chosen"], 0, "{name}: what a plan fits into needs no change");
    }
}

/// A refusal names what is in the way: what is alive, and which ops cannot be split for which reason.
#[test]
fn refusals_name_ops_and_reasons() {
    let folder = Folder::new();
    for (name, capacity, reasons) in [
        ("mobile", "40KiB", ["MEAN `", "is not split: it is not known to compute every position from what is near"]),
        ("lstm", "1KiB", ["UNIDIRECTIONAL_SEQUENCE_LSTM `", "is not split: it has state"]),
        ("unet", "8KiB", ["most is alive at ", "the smallest needs "]),
    ] {
        std::fs::copy(tflite(name), folder.path("model.tflite")).unwrap();
        let refused = folder.run(&format!("fit model.tflite --capacity {capacity} -o no.tflite"));
        assert_eq!(refused.code, 1, "{name}: {}", refused.all());
        for reason in reasons {
            assert!(refused.all().contains(reason), "{name}: {reason} in {}", refused.all());
        }
    }
    assert_eq!(folder.files(), ["model.tflite"]);
}

#[test]
fn tensors_alone_can_count() {
    let folder = Folder::new();
    if !make(&folder, &["person"]) {
        return;
    }
    let report = folder.run("fit person.tflite --count tensors --json -o small.tflite").json();
    let versions = report["versions"].as_array().unwrap();
    // While it starts, the interpreter lists all tensors where they will be.
    let tensors = |version: &Value| version["tensors"].as_u64().max(version["start"].as_u64()).unwrap();
    let (first, last) = (&versions[0], &versions[versions.len() - 1]);
    assert!(2 * tensors(last) < tensors(first), "{report}");
    assert!(versions.windows(2).all(|pair| tensors(&pair[1]) < tensors(&pair[0])));
    let fits = folder.run(&format!("fit person.tflite --count tensors --capacity {}", tensors(first) / 2));
    assert_eq!(fits.code, 0, "{}", fits.all());
    let path = |name: &str| folder.path(name).display().to_string();
    let arguments = [strings(&["fitted"]), vec![path("person.tflite"), path("small.tflite")]].concat();
    let Some(answer) = peer("tflite_micro, ai_edge_litert", &arguments) else { return };
    assert_eq!(answer[0]["fitted_tensors"], last["tensors"]);
    assert!(answer[0]["tflm_same"].as_bool().unwrap() && answer[0]["litert_same"].as_bool().unwrap());
}

#[test]
fn explain_names_what_would_help_and_the_trade_off_is_drawn() {
    let folder = Folder::new();
    std::fs::copy(tflite("mobile"), folder.path("mobile.tflite")).unwrap();
    let explained = folder.run("explain mobile.tflite --capacity 128KiB");
    assert_eq!(explained.code, 1);
    let text = explained.all();
    assert!(text.contains("this would make it fit: #2 CONV_2D `expand1`"), "{text}");
    assert!(folder.run("explain mobile.tflite --capacity 40KiB").all().contains("the smallest needs"));
    assert_eq!(folder.run("fit mobile.tflite --chart chart.svg").code, 0);
    assert_eq!(folder.run("fit mobile.tflite --capacity 128KiB --chart chart.html").code, 0);
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
    assert!(read("chart.svg").matches("<circle").count() > 5);
    assert_eq!(read("chart.html").matches("<circle").count(), 2);
    let wrong = folder.run("fit mobile.tflite --chart chart.png");
    assert!(wrong.code == 2 && wrong.all().contains("chart.svg or chart.html"), "{}", wrong.all());
}

#[test]
fn what_nobody_has_measured_is_said_to_be_at_least() {
    let folder = Folder::new();
    std::fs::copy(tflite("custom"), folder.path("custom.tflite")).unwrap();
    let text = folder.run("fit custom.tflite").all();
    assert!(text.contains("≥ "), "{text}");
}

/// The runtime can have two arenas: one for tensors, one for what it keeps.
#[test]
fn two_memories_hold_tensors_and_records() {
    let folder = Folder::new();
    std::fs::copy(tflite("mobile"), folder.path("mobile.tflite")).unwrap();
    let fit = |spaces: &str| folder.run(&format!("fit mobile.tflite {spaces} --json"));
    let report = fit("--space sram=96KiB --space psram=32KiB").json();
    let chosen = &report["versions"][report["chosen"].as_u64().unwrap() as usize];
    let [arena, tensors, records] = ["arena", "tensors", "records"].map(|name| chosen[name].as_u64().unwrap());
    assert!(tensors <= 96 << 10 && records <= 32 << 10 && arena > 96 << 10, "{report}");
    // With less room for records there is no such version, and the refusal says so.
    let refused = fit("--space sram=96KiB --space psram=16KiB");
    assert_eq!(refused.code, 1, "{}", refused.all());
    assert!(refused.all().contains("for the runtime's records, which may have 16.000 KiB"), "{}", refused.all());
    for (spaces, why) in [
        ("--space a=1KiB --space b=1KiB --space c=1KiB", "`c` is one memory too many"),
        ("--space a=1KiB:16", "aligns its tensors itself"),
    ] {
        let refused = fit(spaces);
        assert!(refused.code == 2 && refused.all().contains(why), "{}", refused.all());
    }
    let onnx = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/onnx/batch.onnx");
    std::fs::copy(onnx, folder.path("batch.onnx")).unwrap();
    let refused = folder.run("fit batch.onnx --dim batch=1 --space a=1KiB --space b=1KiB");
    assert!(refused.code == 2 && refused.all().contains("so that there is one memory"), "{}", refused.all());
}

#[test]
fn what_is_no_model_is_refused() {
    let folder = Folder::with(&[("two.csv", "id,lower,upper,size\na,0,2,64\nb,2,4,32\n")]);
    let refused = folder.run("fit two.csv");
    assert!(refused.code == 2 && refused.all().contains("there is no network in two.csv"), "{}", refused.all());
}
