//! Models, against the runtimes that run them and the compilers that plan them.

#![allow(clippy::print_stderr, reason = "says what was skipped, and extents side by side")]

use std::path::{Path, PathBuf};
use std::process::Command;

use memplan_testkit::peers;
use serde_json::Value;

use crate::run::Folder;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const TFLITE: [&str; 8] = ["classifier", "unet", "branches", "puzzle", "elementwise", "lstm", "choice", "countdown"];

pub(crate) fn tflite(name: &str) -> String {
    format!("{ROOT}/tests/data/tflite/{name}.tflite")
}

/// Asks the peers something; `None` if the Python package is missing.
pub(crate) fn peer(package: &str, arguments: &[String]) -> Option<Value> {
    run_peer("models_peer.py", package, arguments)
}

/// Runs a script of the peers and reads the last line it prints; `None` if a Python package is missing.
pub(crate) fn run_peer(script: &str, package: &str, arguments: &[String]) -> Option<Value> {
    let python = peers::python(package)?;
    let script = format!("{ROOT}/tests/peers/{script}");
    let output = Command::new(python).arg(script).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_str(text.trim().lines().last().unwrap()).unwrap())
}

pub(crate) fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn extent(folder: &Folder, arguments: &str) -> u64 {
    folder.run(&format!("plan {arguments} --json")).json()["extent"].as_u64().unwrap()
}

#[test]
fn real_runtimes_compute_the_same_with_our_plan() {
    let folder = Folder::new();
    let mut arguments = strings(&["tflite"]);
    let mut ours = Vec::new();
    for name in TFLITE {
        for (flags, tag) in [("--reuse-inputs", "reuse"), ("", "kept"), ("--reuse-inputs --in-place", "in-place")] {
            let planned = format!("{name}.{tag}.tflite");
            let ran = folder.run(&format!("plan {} {flags} -o {planned}", tflite(name)));
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            ours.push((tag, extent(&folder, &format!("{} {flags}", tflite(name)))));
            arguments.extend([tflite(name), folder.path(&planned).display().to_string()]);
        }
    }
    // A reordered model with a plan of its own.
    assert_eq!(folder.run(&format!("reorder {} --reuse-inputs -o reordered.tflite", tflite("branches"))).code, 0);
    assert_eq!(folder.run("plan reordered.tflite --reuse-inputs -o reordered.planned.tflite").code, 0);
    ours.push(("reordered", extent(&folder, "reordered.tflite --reuse-inputs")));
    arguments.extend([tflite("branches"), folder.path("reordered.planned.tflite").display().to_string()]);
    let Some(results) = peer("tflite_micro, ai_edge_litert", &arguments) else { return };
    let results = results.as_array().unwrap();
    assert_eq!(results.len(), ours.len());
    for (result, (tag, extent)) in results.iter().zip(ours) {
        assert_eq!((&result["tflm_same"], &result["litert_same"]), (&true.into(), &true.into()), "{result}");
        let (head, planned) = (result["head"].as_u64().unwrap(), result["planned_head"].as_u64().unwrap());
        // The runtime rounds up to 16 bytes; nothing else comes on top, scratch memory included.
        // Where keeping inputs would need more than the runtime alone, which reuses them, they are not kept.
        assert!(planned == extent.next_multiple_of(16) || tag == "kept" && planned == head, "{result}");
        assert!(planned <= head, "{result}");
    }
    let head_of = |tag: &str| results.iter().find(|result| result["planned"].as_str().unwrap().contains(tag)).unwrap();
    let smaller = head_of("elementwise.reuse");
    assert_eq!((&smaller["head"], &smaller["planned_head"]), (&4096.into(), &3072.into()));
    let reordered = head_of("reordered");
    assert_eq!((&reordered["head"], &reordered["planned_head"]), (&20480.into(), &8448.into()));
}

/// What the runtime needs for a model by our tables: head and tail, and whether we are sure of each.
fn predicted(path: &str) -> ((u64, bool), (u64, bool)) {
    let source = memplan::source::Source::new(path, std::fs::read(path).unwrap());
    let network =
        memplan::front_end::FrontEnd::read(&memplan::front_end::Plain::default(), &source).unwrap().network.unwrap();
    let tail = network.tail();
    ((network.runtime_alone().0, network.unmeasured().is_empty()), (tail.bytes.0, tail.unknown.is_empty()))
}

/// For every kernel of the runtime our prediction is what the interpreter measures, or we do not claim to know.
#[test]
fn every_kernel_of_the_runtime_is_foreseen_or_said_to_be_unknown() {
    let folder = Folder::new();
    let models = folder.path("models").display().to_string();
    let Some(answer) = peer("tflite_micro, ai_edge_litert", &[strings(&["kernels"]), vec![models]].concat()) else {
        return;
    };
    let measured = answer["models"].as_array().unwrap();
    let mut unsure = std::collections::BTreeSet::new();
    let mut planned = strings(&["arena"]);
    let mut written = Vec::new();
    for row in measured {
        let (op, path) = (row["op"].as_str().unwrap(), row["path"].as_str().unwrap());
        let (head, tail) = predicted(path);
        for ((bytes, is_sure), measured) in [(head, &row["head"]), (tail, &row["tail"])] {
            let measured = measured.as_u64().unwrap();
            assert!(bytes <= measured, "{row}: {bytes} is too much");
            assert!(bytes == measured || !is_sure, "{row}: {bytes} was claimed");
            if !is_sure {
                unsure.insert(op.to_owned());
            }
        }
        if op == "several" {
            let output = format!("{path}.planned.tflite");
            let ran = folder.run(&format!("plan {path} --reuse-inputs -o {output}"));
            assert_eq!(ran.code, 0, "{}", ran.all());
            planned.push(output);
            written.push((row, ran.stdout));
        }
    }
    let arenas = peer("tflite_micro", &planned).unwrap();
    for ((row, said), arena) in written.iter().zip(arenas.as_array().unwrap()) {
        let (head, tail) = (arena["head"].as_u64().unwrap(), arena["tail"].as_u64().unwrap());
        assert!(head <= row["head"].as_u64().unwrap(), "{row} needs {arena} with a plan");
        let claim = format!("({} bytes): ", head + tail);
        let is_honest =
            ["at least", "leaves every tensor", "the rest to start"].iter().any(|words| said.contains(words));
        let is_honest = is_honest || said.contains(&claim);
        assert!(is_honest, "{arena}: {said}");
    }
    let ops: std::collections::BTreeSet<&str> = measured.iter().map(|row| row["op"].as_str().unwrap()).collect();
    let registered = answer["registered"].as_array().unwrap();
    let without: Vec<&Value> = registered.iter().filter(|op| !ops.contains(op.as_str().unwrap())).collect();
    assert!(without.is_empty() && registered.len() >= 100, "no model for {without:?}");
    eprintln!("{} models, {} operators; not sure about {unsure:?}", measured.len(), registered.len());
    // No builtin operator that the runtime registers is left unmeasured.
    assert!(unsure.iter().all(|op| op.starts_with("CUSTOM ") || op == "several"), "{unsure:?}");
}

/// `--capacity` is the arena that the interpreter is given: it starts in it, and not in less.
#[test]
fn a_capacity_is_the_whole_arena() {
    let folder = Folder::new();
    let fitting = folder.run(&format!("plan {} --reuse-inputs --capacity 30832 -o fits.tflite", tflite("unet")));
    assert_eq!(fitting.code, 0, "{}", fitting.all());
    assert!(fitting.stdout.contains("needs 30.109 KiB (30832 bytes): 26.000 KiB (26624 bytes)"), "{}", fitting.stdout);
    let head_alone = folder.run(&format!("plan {} --reuse-inputs --capacity 26KiB -o no.tflite", tflite("unet")));
    assert_eq!(head_alone.code, 1, "{}", head_alone.all());
    assert!(head_alone.stderr.contains("TensorFlow Lite Micro keeps 4.109 KiB (4208 bytes)"), "{}", head_alone.stderr);
    assert_eq!(folder.files(), ["fits.tflite"]);
    let start = |arena: u64| {
        let path = folder.path("fits.tflite").display().to_string();
        peer("tflite_micro, ai_edge_litert", &["starts".to_owned(), arena.to_string(), path])
    };
    let Some(starts) = start(30832) else { return };
    assert_eq!((starts, start(30800).unwrap()), (true.into(), false.into()));
    // In a small arena the lists that the interpreter makes while it starts need more than tensors.
    let small = folder.run(&format!("plan {} --reuse-inputs -o small.tflite", tflite("lstm")));
    assert!(small.stdout.contains("the rest to start"), "{}", small.stdout);
    let needed = small.stdout.split("needs ").nth(1).and_then(|rest| rest.split(['(', ' ']).nth(3)).unwrap();
    let path = folder.path("small.tflite").display().to_string();
    let arena = |bytes: u64| peer("tflite_micro", &["starts".to_owned(), bytes.to_string(), path.clone()]).unwrap();
    let needed: u64 = needed.parse().unwrap();
    assert_eq!((arena(needed), arena(needed - 24)), (true.into(), false.into()), "{needed}");
}

/// Nobody knows what a custom kernel asks for, until the user says it.
#[test]
fn an_unknown_kernel_gets_no_claim() {
    let folder = Folder::new();
    let table = "[[kernel]]\nop = \"CUSTOM mystery\"\nscratch = []\npersistent = []\n";
    std::fs::write(folder.path("table.toml"), table).unwrap();
    std::fs::copy(tflite("custom"), folder.path("custom.tflite")).unwrap();
    let unknown = folder.run("plan custom.tflite -o planned.tflite");
    assert_eq!(unknown.code, 0, "{}", unknown.all());
    assert!(unknown.stdout.contains("at least") && unknown.stdout.contains("`CUSTOM mystery`"), "{}", unknown.stdout);
    assert!(unknown.stdout.contains("leaves every tensor to the runtime"), "{}", unknown.stdout);
    let told = folder.run("plan custom.tflite --scratch table.toml -o planned.tflite");
    assert!(!told.stdout.contains("at least") && told.stdout.contains("the arena of TensorFlow Lite Micro needs"));
    let unused = folder.run(&format!("plan {} --scratch table.toml", tflite("unet")));
    assert!(unused.stderr.contains("`CUSTOM mystery`"), "{}", unused.stderr);
    std::fs::write(folder.path("typo.toml"), "[[scratch]]\nop = \"TRANSPOS_CONV\"\nbytes = 1\n").unwrap();
    let typo = folder.run("plan custom.tflite --scratch typo.toml");
    assert_eq!(typo.code, 2);
    assert!(typo.stderr.contains("did you mean `TRANSPOSE_CONV`"), "{}", typo.stderr);
}

/// `plan` and `compare` say the same about the runtime's own planner.
#[test]
fn the_runtime_needs_the_same_in_every_report() {
    let folder = Folder::new();
    let row = |arguments: &str| {
        let ran = folder.run(arguments).all();
        ran.lines()
            .filter(|line| line.contains("own planner") || line.contains("tflm"))
            .map(str::to_owned)
            .collect::<String>()
    };
    for name in TFLITE {
        let alone = row(&format!("plan {} --reuse-inputs", tflite(name)));
        let bytes = alone.split_whitespace().nth(3).unwrap().to_owned();
        for flags in ["--reuse-inputs", ""] {
            let compared = row(&format!("compare {} {flags}", tflite(name)));
            assert!(compared.contains(&bytes), "{name} {flags}: plan says {alone}, compare {compared}");
        }
        assert!(row(&format!("plan {}", tflite(name))).contains(&bytes), "{name}");
    }
}

#[test]
fn weights_behind_the_tables_are_found_after_the_move() {
    let folder = Folder::new();
    let written = folder.run(&format!("plan {} -o planned.tflite", tflite("external")));
    assert_eq!(written.code, 0, "{}", written.stderr);
    let planned = folder.path("planned.tflite").display().to_string();
    let arguments = ["litert".to_owned(), tflite("classifier"), planned.clone(), tflite("external"), planned];
    let Some(same) = peer("ai_edge_litert", &arguments) else { return };
    assert_eq!(same, serde_json::json!([true, true]));
}

#[test]
fn the_topologies_of_the_onnx_wheel() {
    let Some(light) = peer("onnx, onnxruntime", &strings(&["light"])) else { return };
    let folder = Folder::new();
    let mut models: Vec<PathBuf> = std::fs::read_dir(Path::new(light.as_str().unwrap()))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "onnx"))
        .collect();
    models.sort();
    assert_eq!(models.len(), 9);
    let mut shapes = strings(&["shapes"]);
    shapes.extend(models.iter().map(|path| path.display().to_string()));
    let shapes = peer("onnx", &shapes).unwrap();
    let mut changed = strings(&["onnx"]);
    for (path, known) in models.iter().zip(shapes.as_array().unwrap()) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let plan = folder.run(&format!("plan {} --json", path.display())).json();
        assert_eq!((&plan["status"], &plan["extent"]), (&"optimal".into(), &plan["lower_bound"]), "{name}");
        // Every shape is the one that onnx itself infers.
        let buffers = plan["buffers"].as_array().unwrap();
        let mut compared = 0;
        for buffer in buffers {
            let id = buffer["id"].as_str().unwrap();
            if let Some(known) = known.get(id) {
                assert_eq!(&buffer["size"], known, "{name}: {id}");
                compared += 1;
            }
        }
        assert!(compared * 10 >= buffers.len() * 7, "{name}: onnx knows {compared} of {}", buffers.len());
        let order = folder.run(&format!("reorder {} -o {name}.onnx --json", path.display())).json();
        let (before, after) = (order["peak_before"].as_u64().unwrap(), order["peak_after"].as_u64().unwrap());
        assert!(after <= before);
        eprintln!("{name}: peak {before}, plan {}, reordered {after}", plan["extent"]);
        if after < before {
            let peak = folder.run(&format!("plan {name}.onnx --json")).json();
            assert_eq!(peak["lower_bound"].as_u64(), Some(after), "{name}: the file has the order");
            changed.extend([path.display().to_string(), folder.path(&format!("{name}.onnx")).display().to_string()]);
        }
    }
    assert!(changed.len() > 1, "one of them has a better order");
    let same = peer("onnx", &changed).unwrap();
    assert!(same.as_array().unwrap().iter().all(|same| *same == true), "{same}");
}

/// Every model with a node of one kind that the onnx package makes: what onnx knows, we know; what nobody can
/// know is refused with the input that decides.
#[test]
fn the_node_models_of_the_onnx_package() {
    let folder = Folder::new();
    let models = folder.path("nodes").display().to_string();
    let Some(rows) = peer("onnx", &[strings(&["nodes"]), vec![models]].concat()) else { return };
    let rows = rows.as_array().unwrap();
    let mut causes = std::collections::BTreeMap::<String, Vec<&str>>::new();
    let mut compared = 0;
    for row in rows {
        let (name, path) = (row["name"].as_str().unwrap(), row["path"].as_str().unwrap());
        let source = memplan::source::Source::new(path, std::fs::read(path).unwrap());
        match memplan::front_end::FrontEnd::read(&memplan::front_end::Plain::default(), &source) {
            Ok(input) => {
                let may_be_less = input.notes.iter().any(|note| note.contains("planned for the most"));
                for buffer in input.problem.buffers() {
                    let known = row["known"].get(buffer.name.as_str()).and_then(Value::as_u64);
                    let Some((known, size)) = known.zip(buffer.bytes().map(|bytes| bytes.0)) else { continue };
                    // numpy gives elements of 4 and 2 bits a byte each.
                    assert!(
                        size == known
                            || size == known.div_ceil(2)
                            || size == known.div_ceil(4)
                            || may_be_less && size >= known,
                        "{name}: {} has {size}, not {known}",
                        buffer.name
                    );
                    compared += 1;
                }
            }
            Err(memplan::driver::Failure::Input(error)) => {
                let message = error.message.clone();
                assert_eq!(row["is_inferred"], false, "{name}: onnx infers every shape, and we say {message}");
                let cause = match message.split_once("the content of ") {
                    Some((_, decider)) => format!("the content of {decider}"),
                    None => error.code.to_owned(),
                };
                causes.entry(cause).or_default().push(name);
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
    let refused: usize = causes.values().map(Vec::len).sum();
    eprintln!(
        "{} of {} node models are read, {compared} sizes are those that onnx infers; refused:",
        rows.len() - refused,
        rows.len()
    );
    for (cause, names) in &causes {
        eprintln!("  {:3}  {cause}: {}", names.len(), names.join(", "));
    }
    assert!(rows.len() > 1800 && compared > 3000, "{} models, {compared} compared", rows.len());
    assert!(refused * 50 <= rows.len(), "{refused} of {} are refused", rows.len());
    let section = nodes_section(rows.len(), refused, compared, &causes);
    let path = crate::book::workspace().join("docs/models.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(NODES_BEGIN).expect("the section of the node models");
    let (found, after) = rest.split_once(NODES_END).expect("its end");
    if std::env::var_os("MEMPLAN_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{NODES_BEGIN}{section}{NODES_END}{after}")).unwrap();
    } else {
        assert_eq!(found, section, "docs/models.md is not current: run with MEMPLAN_BLESS=1");
    }
}

const NODES_BEGIN: &str = "<!-- made by a test: what is not read of ONNX -->\n";
const NODES_END: &str = "<!-- end of what is not read of ONNX -->\n";

/// What is read of the node models and what is not, as the page on models has it.
fn nodes_section(
    models: usize,
    refused: usize,
    compared: usize,
    causes: &std::collections::BTreeMap<String, Vec<&str>>,
) -> String {
    let mut text = format!(
        "\nOf the {models} node models of the onnx package {} are read, and {compared} sizes in them are those that\n\
         onnx infers. The other {refused} have tensors whose size the file does not say:\n\n\
         | what decides | models | for example |\n|---|---|---|\n",
        models - refused
    );
    for (cause, names) in causes {
        let cause = cause.strip_suffix(" decides").unwrap_or(cause);
        text += &format!("| {cause} | {} | `{}` |\n", names.len(), names[0]);
    }
    text + "\nThe message names the tensor and what decides; `--size NAME=N` gives a size or an upper bound.\n\n"
}

#[test]
fn never_more_than_vela_on_the_same_live_ranges() {
    let Some(light) = peer("onnx, ethosu.vela", &strings(&["light"])) else { return };
    let folder = Folder::new();
    let light = light.as_str().unwrap().to_owned();
    let onnx = ["resnet50", "inception_v2", "shufflenet"].map(|name| format!("{light}/light_{name}.onnx"));
    let models = onnx.into_iter().chain(TFLITE.map(tflite));
    let mut arguments = strings(&["vela"]);
    let mut ours = Vec::new();
    for (index, model) in models.enumerate() {
        let file = folder.path(&format!("problem{index}.json"));
        std::fs::write(&file, folder.run(&format!("dump {model} --stage problem")).stdout).unwrap();
        ours.push((model.clone(), extent(&folder, &model)));
        arguments.push(file.display().to_string());
    }
    let theirs = peer("ethosu.vela", &arguments).unwrap();
    for ((model, ours), theirs) in ours.into_iter().zip(theirs.as_array().unwrap()) {
        eprintln!("{model}: vela {theirs}, ours {ours}");
        assert!(ours <= theirs.as_u64().unwrap(), "{model}");
    }
}

#[test]
fn never_more_than_xla_on_its_own_dumps() {
    let folder = Folder::new();
    let dumps = folder.path("dumps").display().to_string();
    let Some(files) = peer("jax", &[strings(&["xla"]), vec![dumps]].concat()) else { return };
    let files = files.as_array().unwrap();
    assert_eq!(files.len(), 2, "{files:?}");
    for file in files.iter().map(|file| file.as_str().unwrap()) {
        let verdict = folder.run(&format!("verify {file} {file}"));
        assert_eq!(verdict.code, 0, "XLA's own plan holds: {}", verdict.stdout);
        let table = folder.run(&format!("compare {file} --assign offsets --json")).json();
        let extent = |name: &str| {
            let rows = table["strategies"].as_array().unwrap();
            rows.iter().find(|row| row["strategy"] == name).unwrap()["extent"].as_u64().unwrap()
        };
        eprintln!("{file}: XLA {}, ours {}, bound {}", extent("xla"), extent("auto"), table["lower_bound"]);
        assert!(extent("auto") <= extent("xla"));
    }
}

#[test]
fn a_model_is_reported_in_its_own_words() {
    let folder = Folder::new();
    std::fs::copy(tflite("unet"), folder.path("unet.tflite")).unwrap();
    let report = folder.run("plan unet.tflite --capacity 20KiB");
    assert_eq!(report.code, 1, "it does not fit");
    insta::assert_snapshot!("model_does_not_fit", report.all());
    insta::assert_snapshot!("model_explained", folder.run("explain unet.tflite --reuse-inputs").all());
    insta::assert_snapshot!("model_reordered", folder.run("reorder unet.tflite").all());
}

#[test]
fn damaged_models_are_placed_by_byte() {
    let folder = Folder::with(&[("text.tflite", "this is no model"), ("short.onnx", "\u{8}\u{8}:\u{7f}abc")]);
    let errors: Vec<String> = ["plan text.tflite", "plan short.onnx", "reorder text.tflite"]
        .iter()
        .map(|arguments| format!("$ memplan {arguments}\n{}", folder.run(arguments).all()))
        .collect();
    insta::assert_snapshot!("model_errors", errors.join("\n"));
}

#[test]
fn a_plan_needs_a_model_to_go_into() {
    let folder = Folder::with(&[("small.csv", crate::plan::SMALL)]);
    let ran = folder.run("plan small.csv -o planned.tflite");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("into a .tflite model only"), "{}", ran.stderr);
    assert_eq!(folder.files(), ["small.csv"]);
}

#[test]
fn hot_and_small_tensors_are_in_the_fast_memory() {
    let folder = Folder::new();
    let spaces = "--space sram=20KiB:16 --space psram=8MiB:16";
    let plan = folder.run(&format!("plan {} --reuse-inputs {spaces} --json", tflite("unet"))).json();
    let space = |name: &str| {
        let buffers = plan["buffers"].as_array().unwrap();
        buffers.iter().find(|buffer| buffer["id"] == name).unwrap()["space"].as_str().unwrap().to_owned()
    };
    // Kept over eleven steps and read twice: it would be in the way of everything else.
    assert_eq!(space("a"), "psram");
    for hot in ["TRANSPOSE_CONV#9/scratch0", "half", "merge_b", "mask"] {
        assert_eq!(space(hot), "sram", "{hot}");
    }
    assert!(plan["spaces"][0]["extent"].as_u64().unwrap() <= 20 << 10);
    let small = folder.run(&format!("plan {} --space sram=2KiB:16 --space psram=4KiB:16", tflite("unet")));
    assert_eq!(small.code, 1, "it fits nowhere: {}", small.stdout);
    let roomy = folder.run(&format!("plan {} --space sram=1MiB:16 --space psram=8MiB:16", tflite("unet")));
    assert!(roomy.stdout.contains("everything is in `sram`"), "{}", roomy.stdout);
    let written = folder.run(&format!("plan {} --reuse-inputs {spaces} -o planned.tflite", tflite("unet")));
    assert_eq!(written.code, 2);
    assert!(written.stderr.contains("is for one memory"), "{}", written.stderr);
}

#[test]
fn a_wrong_plan_for_a_model_is_found() {
    let folder = Folder::new();
    let problem = folder.run(&format!("dump {} --stage problem", tflite("unet"))).json();
    let rows =
        problem["buffers"].as_array().unwrap().iter().map(|buffer| format!("{},0\n", buffer["id"].as_str().unwrap()));
    std::fs::write(folder.path("zero.csv"), format!("id,offset\n{}", rows.collect::<String>())).unwrap();
    let ran = folder.run(&format!("verify {} zero.csv", tflite("unet")));
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("packing::overlap") && ran.stdout.contains("dataflow::"), "{}", ran.stdout);
    let plan = folder.run(&format!("plan {} --json", tflite("unet"))).stdout;
    std::fs::write(folder.path("plan.json"), plan).unwrap();
    assert_eq!(folder.run(&format!("verify {} plan.json", tflite("unet"))).code, 0);
}
