//! `.tflite` files: what is read from them, what is wrong with them, and what
//! they look like with a plan inside.
#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "fuzz/models.rs"]
mod fuzz;

use std::sync::atomic::{AtomicU64, Ordering};

use memplan_core::{Bytes, Id, Placement, Plan, SpaceId};
use memplan_models::ReadError;
use memplan_models::graph::problem::{Assumptions, Placed, place};
use memplan_models::graph::{Control, Home, Model, OpId, Timeline};
use memplan_models::source::{Assembled, DiskFile, ReadAt};
use memplan_models::tflite::offline::{OfflineError, OfflinePlan};
use memplan_models::tflite::{self, Options, arena, reorder, scratch::ScratchTable};

const MODELS: [&str; 8] = ["classifier", "unet", "branches", "puzzle", "elementwise", "lstm", "choice", "countdown"];

fn path(name: &str) -> String {
    format!("{}/../../tests/data/tflite/{name}.tflite", env!("CARGO_MANIFEST_DIR"))
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

fn options() -> Options {
    Options { scratch: Some(ScratchTable::starter()) }
}

fn model(name: &str) -> Model {
    tflite::read(&bytes(name), &options()).unwrap().model
}

fn placed(model: &Model, assumptions: Assumptions) -> Placed {
    place(model, Timeline::new(model).unwrap(), assumptions).unwrap()
}

fn error(bytes: &[u8]) -> ReadError {
    tflite::read(&bytes, &options()).unwrap_err()
}

const REUSE: Assumptions = Assumptions { reuse_inputs: true, in_place: false };

#[test]
fn tensors_operators_and_scratch_memory() {
    let model = model("unet");
    let graph = model.main().unwrap();
    assert_eq!(model.alignment, Bytes(16));
    assert_eq!((graph.ops.len(), graph.inputs.len(), graph.outputs.len()), (13, 1, 1));
    let input = &graph.tensors[graph.inputs[0]];
    assert_eq!((input.name.as_str(), input.describe().as_str(), input.bytes), ("image", "1x32x32x2 INT8", Bytes(2048)));
    let up = graph.ops.iter().find(|op| op.kind == "TRANSPOSE_CONV").unwrap();
    // An int32 for each of 16x16x8 outputs.
    assert_eq!(up.scratch, [Bytes(4 * 16 * 16 * 8)]);
    assert!(graph.tensors.iter().filter(|tensor| tensor.name.ends_with("/w")).all(|tensor| tensor.home == Home::File));
}

#[test]
fn variables_have_memory_of_their_own() {
    let model = model("lstm");
    let graph = model.main().unwrap();
    let variables = graph.tensors.iter().filter(|tensor| tensor.home == Home::Persistent);
    assert_eq!(variables.map(|tensor| tensor.name.as_str()).collect::<Vec<_>>(), ["lstm/hidden", "lstm/cell"]);
    let recurrent = graph.ops.iter().next().unwrap();
    assert!(recurrent.is_stateful);
    assert_eq!(recurrent.scratch, [Bytes(64); 4], "one for each gate");
    let names: Vec<String> =
        placed(&model, REUSE).problem.buffers().iter().map(|buffer| buffer.name.to_string()).collect();
    assert_eq!(names.iter().filter(|name| name.contains("scratch")).count(), 4);
    assert!(names.iter().all(|name| !name.contains("hidden")));
}

#[test]
fn bodies_are_inside_their_operator() {
    let model = model("choice");
    assert_eq!(model.graphs.len(), 3);
    let choice = model.main().unwrap().ops.iter().find(|op| op.kind == "IF").unwrap();
    assert_eq!((choice.bodies.len(), choice.control), (2, Control::Once));
    let placed = placed(&model, REUSE);
    let life = |name: &str| {
        let buffer = placed.problem.buffers().iter().find(|buffer| buffer.name == name).unwrap();
        (buffer.lifetime.start().unwrap().0, buffer.lifetime.end().unwrap().0)
    };
    // Step 1 conv, 2 IF, 3 then, 4 and 5 its operators, 6 else, 7 its operator, 8 add.
    assert_eq!((life("chosen"), life("conv")), ((2, 9), (1, 9)));
    assert_eq!((life("then/then_in"), life("then/then_out"), life("else/else_in")), ((3, 5), (5, 6), (6, 8)));
}

#[test]
fn inputs_are_kept_unless_they_may_be_reused() {
    let model = model("classifier");
    let end = |assumptions| {
        let placed = placed(&model, assumptions);
        let image = placed.problem.buffers().iter().find(|buffer| buffer.name == "image").unwrap();
        image.lifetime.end().unwrap().0
    };
    assert_eq!((end(Assumptions::default()), end(REUSE)), (12, 2));
}

#[test]
fn in_place_candidates_become_overlays() {
    let model = model("elementwise");
    let placed = placed(&model, Assumptions { reuse_inputs: true, in_place: true });
    let name = |buffer| placed.problem.buffers()[buffer].name.to_string();
    let pairs: Vec<(String, String)> =
        placed.problem.overlays().iter().map(|overlay| (name(overlay.buffer), name(overlay.over))).collect();
    let expected = [("relu", "conv"), ("sum", "relu"), ("sum", "other"), ("flat", "sum"), ("squash", "flat")];
    assert_eq!(pairs, expected.map(|(one, other)| (one.to_owned(), other.to_owned())));
}

/// A file that counts what is read of it.
struct Counted {
    disk: DiskFile,
    bytes: AtomicU64,
}

impl ReadAt for Counted {
    fn size(&self) -> u64 {
        self.disk.size()
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        self.bytes.fetch_add(into.len() as u64, Ordering::Relaxed);
        self.disk.read_at(offset, into)
    }
}

#[test]
fn large_files_stay_on_disk() {
    // Two gigabytes of zeros follow the model. The reader must not look at them.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.tflite");
    std::fs::write(&path, bytes("unet")).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(2 << 30).unwrap();
    let counted = Counted { disk: DiskFile::open(&path).unwrap(), bytes: AtomicU64::new(0) };
    let read = tflite::read(&counted, &options()).unwrap();
    assert_eq!(read.model.main().unwrap().ops.len(), 13);
    let bytes = counted.bytes.into_inner();
    assert!((1..1 << 20).contains(&bytes), "{bytes} bytes were read");
}

/// Where a field of a table of a flatbuffer is.
fn field(bytes: &[u8], table: usize, number: usize) -> usize {
    // The distance is signed: tables may share a vtable that follows them.
    let vtable = table.wrapping_sub(i32::from_le_bytes(bytes[table..table + 4].try_into().unwrap()) as usize);
    let entry = vtable + 4 + 2 * number;
    table + usize::from(u16::from_le_bytes([bytes[entry], bytes[entry + 1]]))
}

fn follow(bytes: &[u8], at: usize) -> usize {
    at + u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// The first tensor of the first subgraph.
fn first_tensor(bytes: &[u8]) -> usize {
    let subgraphs = follow(bytes, field(bytes, follow(bytes, 0), 2));
    let tensors = follow(bytes, field(bytes, follow(bytes, subgraphs + 4), 0));
    follow(bytes, tensors + 4)
}

#[test]
fn every_kind_of_damage_has_its_error() {
    let good = bytes("classifier");
    assert_eq!(error(&[]).code, "model::truncated");
    assert_eq!(error(&good[..100]).code, "model::truncated");
    let with = |at: usize, new: &[u8]| {
        let mut bad = good.clone();
        bad[at..at + new.len()].copy_from_slice(new);
        error(&bad)
    };
    let wrong = with(4, b"GGUF");
    assert_eq!((wrong.code, wrong.span.start), ("tflite::wrong-identifier", 4));
    assert!(wrong.to_string().contains("`GGUF`"), "{wrong}");
    assert_eq!(with(0, &u32::MAX.to_le_bytes()).code, "model::truncated");
    let root = follow(&good, 0);
    let version = with(field(&good, root, 0), &7u32.to_le_bytes());
    assert_eq!(version.code, "tflite::version");
    assert!(version.to_string().contains("version 7"), "{version}");
    assert_eq!(with(field(&good, root, 2), &0x7fff_fff0u32.to_le_bytes()).code, "model::truncated");
    assert_eq!(with(root, &i32::MAX.to_le_bytes()).code, "model::bad-offset");
    let shape = follow(&good, field(&good, first_tensor(&good), 0)) + 4;
    let negative = with(shape, &(-7i32).to_le_bytes());
    assert_eq!(negative.code, "tflite::negative-dimension");
    assert!(negative.to_string().contains("`image` has a dimension of -7"), "{negative}");
    let large: Vec<u8> = [i32::MAX; 4].iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(with(shape, &large).code, "tflite::too-large");
    let subgraph = follow(&good, follow(&good, field(&good, root, 2)) + 4);
    let outputs = follow(&good, field(&good, subgraph, 2)) + 4;
    assert_eq!(with(outputs, &99i32.to_le_bytes()).code, "tflite::bad-index");
}

#[test]
fn unknown_shapes_and_strings_are_left_to_the_runtime() {
    let mut changed = bytes("classifier");
    let tensor = first_tensor(&changed);
    let shape = follow(&changed, field(&changed, tensor, 0)) + 4;
    changed[shape..shape + 4].copy_from_slice(&(-1i32).to_le_bytes());
    let read = tflite::read(&changed, &options()).unwrap();
    let graph = read.model.main().unwrap();
    assert_eq!(graph.tensors[graph.inputs[0]].home, Home::Runtime);
    assert!(read.notes.iter().any(|note| note.contains("left to the runtime") && note.contains("`image`")));
    let mut changed = bytes("classifier");
    let kind = field(&changed, tensor, 1);
    changed[kind] = 5;
    let read = tflite::read(&changed, &options()).unwrap();
    assert_eq!(read.model.main().unwrap().tensors.iter().next().unwrap().home, Home::Runtime);
}

#[test]
fn operators_out_of_order_are_refused() {
    let good = bytes("classifier");
    let count = model("classifier").main().unwrap().ops.len();
    let backwards: Vec<OpId> = (0..count).rev().map(OpId::from_index).collect();
    let mut changed = Vec::new();
    let pieces = reorder::pieces(&good, &backwards).unwrap();
    Assembled::new(&[], &good, &pieces).unwrap().write(&mut changed).unwrap();
    assert_eq!(changed.len(), good.len());
    let error = error(&changed);
    assert_eq!(error.code, "tflite::cycle");
    assert!(error.to_string().contains("cyclic or out of order"), "{error}");
}

/// A plan that gives everything memory of its own.
fn apart(placed: &Placed) -> Plan {
    let mut plan = Plan::empty(&placed.problem);
    let mut next = 0;
    for (id, buffer) in placed.problem.buffers().iter_enumerated() {
        plan.placements[id] = Some(Placement::at(SpaceId::from_index(0), Bytes(next)));
        next = (next + buffer.bytes().unwrap().0).next_multiple_of(16);
    }
    plan.fit_extents(&placed.problem);
    plan
}

#[test]
fn a_plan_that_the_format_cannot_hold_is_refused() {
    let model = model("classifier");
    let placed = placed(&model, REUSE);
    let right = apart(&placed);
    let offline = |plan: &Plan| OfflinePlan::new(&model, &placed.problem, &placed.roles, plan);
    assert!(offline(&right).is_ok());
    let mut far = right;
    let last = far.placements.ids().next_back().unwrap();
    far.placements[last] = Some(Placement::at(SpaceId::from_index(0), Bytes(1 << 40)));
    far.fit_extents(&placed.problem);
    // The last buffer is scratch memory, whose offset is not written into the model. The offset of a tensor is, so one
    // that is too large is an error.
    assert!(offline(&far).is_ok());
    let first = far.placements.ids().next().unwrap();
    far.placements[first] = far.placements[last].clone();
    far.fit_extents(&placed.problem);
    assert!(matches!(offline(&far), Err(OfflineError::Offset(..))));
}

#[test]
fn a_planned_model_is_the_old_one_with_a_plan() {
    for name in MODELS {
        let old = bytes(name);
        let model = model(name);
        let placed = placed(&model, REUSE);
        let offline = OfflinePlan::new(&model, &placed.problem, &placed.roles, &apart(&placed)).unwrap();
        let planned = written(&offline, &old);
        assert!(planned.ends_with(&old), "the old file, byte for byte");
        assert_eq!((planned.len() - old.len()) % 16, 0);
        let again = tflite::read(&planned, &options()).unwrap().model;
        assert_eq!(format!("{again:?}"), format!("{model:?}"));
        let count: usize = model.graphs.iter().map(|graph| graph.tensors.len()).sum();
        let header = [1, model.graphs.len() as i32, count as i32];
        let payload: Vec<u8> = header.iter().chain(offline.offsets()).flat_map(|number| number.to_le_bytes()).collect();
        let at = planned.windows(payload.len()).position(|window| window == payload).expect("the plan is in it");
        assert_eq!(at % 16, 0);
        // A second plan takes the place of the first.
        let twice = written(&offline, &planned);
        let front = &twice[..twice.len() - planned.len()];
        let names = front.windows(23).filter(|window| window == b"OfflineMemoryAllocation").count();
        assert_eq!(names, 1);
        let metadata = follow(front, field(front, follow(front, 0), 6));
        assert_eq!(front[metadata], 1, "one entry only");
    }
}

fn written(offline: &OfflinePlan, old: &Vec<u8>) -> Vec<u8> {
    let mut new = Vec::new();
    offline.write(&offline.prefix(old).unwrap(), old, &mut new).unwrap();
    new
}

#[test]
fn the_arena_of_the_runtime_is_foreseen() {
    // Heads that the interpreter of TensorFlow Lite Micro reports; the peer test asks it again.
    let expected = [8192, 26624, 20480, 13824, 4096, 832, 1296, 1584];
    for (name, head) in MODELS.iter().zip(expected) {
        let placed = placed(&model(name), REUSE);
        assert_eq!(arena::lay_out(&arena::requests(&placed.problem, None, |_| false)).extent, Bytes(head), "{name}");
    }
}

#[test]
fn no_bytes_make_the_reader_panic() {
    let mut numbers = memplan_testkit::Random::new(1);
    let mut random = move |below: usize| numbers.index(below);
    for name in MODELS {
        let good = bytes(name);
        fuzz::check_tflite(&good);
        for _ in 0..700 {
            let mut bad = good.clone();
            for _ in 0..1 + random(4) {
                let at = random(bad.len());
                let values = [0, 1, 0x7f, 0x80, 0xff, random(256) as u8];
                bad[at] = values[random(values.len())];
            }
            bad.truncate(if random(4) == 0 { random(good.len()) } else { good.len() });
            fuzz::check_tflite(&bad);
        }
    }
    for length in 0..200 {
        fuzz::check_tflite(&bytes("elementwise")[..length]);
    }
}

#[test]
fn a_small_file_cannot_describe_an_endless_model() {
    // A vector of subgraphs that are all the same table, with a vector of tensors that are all the same table.
    const MANY: u32 = 10_000;
    let mut bytes = Vec::new();
    let mut put = |numbers: &[u32]| bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    let pair = |low: u32, high: u32| low | high << 16;
    put(&[20, u32::from_le_bytes(*b"TFL3")]);
    // The model's vtable: 10 bytes for a table of 12, version at 4, no operator codes, subgraphs at 8.
    put(&[pair(10, 12), pair(4, 0), pair(8, 0), 12, 3, 4]);
    put(&[MANY]);
    let subgraph = 36 + 4 * MANY + 8;
    put(&(0..MANY).map(|place| subgraph - (36 + 4 * place)).collect::<Vec<_>>());
    // The subgraph's vtable: tensors at 4.
    put(&[pair(6, 8), pair(4, 0), 8, 4, MANY]);
    let tensors = subgraph + 12;
    let tensor = tensors + 4 * MANY + 4;
    put(&(0..MANY).map(|place| tensor - (tensors + 4 * place)).collect::<Vec<_>>());
    // A tensor without fields.
    put(&[pair(4, 4), 4]);
    assert_eq!(error(&bytes).code, "model::overlapping");
}

#[test]
fn operators_on_hash_tables_stay_in_their_place() {
    // The file has the number of the operator twice: as a byte, and as 32 bits for numbers beyond 127. Each number is
    // that of LOGISTIC (14) and becomes another one.
    let with = |number: i32| {
        let mut changed = bytes("elementwise");
        let codes = follow(&changed, field(&changed, follow(&changed, 0), 1));
        let code = follow(&changed, codes + 4 + 4 * 4);
        let (short, long) = (field(&changed, code, 0), field(&changed, code, 3));
        assert_eq!(changed[short], 14);
        changed[short] = number.min(127) as u8;
        changed[long..long + 4].copy_from_slice(&number.to_le_bytes());
        let read = tflite::read(&changed, &options()).unwrap();
        let op = read.model.main().unwrap().ops.iter().last().unwrap().clone();
        // An operator of StableHLO that runs subgraphs is named: nothing is known about them.
        let named = read.notes.iter().any(|note| note.contains("subgraphs") && note.contains(&op.kind));
        assert_eq!(named, op.kind.starts_with("STABLEHLO"), "{:?}", read.notes);
        (op.kind, op.is_stateful)
    };
    assert_eq!(with(14), ("LOGISTIC".to_owned(), false));
    for (number, kind) in [(51, "DELEGATE"), (136, "HASHTABLE"), (137, "HASHTABLE_FIND"), (139, "HASHTABLE_SIZE")] {
        assert_eq!(with(number), (kind.to_owned(), true));
    }
    for (number, kind) in [(200, "STABLEHLO_WHILE"), (206, "STABLEHLO_COMPOSITE"), (209, "STABLEHLO_CASE")] {
        assert_eq!(with(number), (kind.to_owned(), true));
    }
}
