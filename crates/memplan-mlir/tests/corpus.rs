#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]
//! The reader against mlir-opt: what it prints, in either form, is read, and
//! both forms of a program have the same structure.

mod structure;

use std::path::{Path, PathBuf};
use std::process::Command;

use memplan_mlir::{Dialects, Document, Edits};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn programs() -> Vec<PathBuf> {
    programs_in(&corpus())
}

fn programs_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the corpus is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mlir"));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

fn read(name: &str, source: &str) -> Document {
    let document = Document::read(source, Dialects::builtin()).unwrap_or_else(|error| {
        let place = error.excerpt(source);
        panic!("{name}:{}:{}: {error}\n{}", place.line, place.column, place.text)
    });
    let unchanged = Edits::default().apply(document.source());
    assert_eq!(unchanged.as_deref(), Ok(source), "{name} prints back");
    document
}

/// What mlir-opt makes of a file; `None` if it is not installed.
fn mlir_opt(path: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("mlir-opt-22")
        .args(["--allow-unregistered-dialect", "-split-input-file"])
        .args(arguments)
        .arg(path)
        .output();
    match output {
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{}: {errors}", path.display());
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(_) => {
            memplan_testkit::peers::missing("mlir-opt-22");
            None
        }
    }
}

fn printed(path: &Path, form: &str) -> PathBuf {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    path.parent().unwrap().join("printed").join(format!("{stem}.{form}.mlir"))
}

#[test]
fn sources_are_read() {
    let mut parts = 0;
    for path in programs() {
        let source = std::fs::read_to_string(&path).unwrap();
        let document = read(&path.display().to_string(), &source);
        parts += document.top_blocks().len();
    }
    assert!(parts >= 200, "{parts} programs");
}

#[test]
fn both_printed_forms_have_the_same_structure() {
    for path in programs() {
        let [custom, generic] = ["custom", "generic"].map(|form| {
            let path = printed(&path, form);
            let source = std::fs::read_to_string(&path).unwrap();
            (path.display().to_string(), source)
        });
        let (custom, generic) = (read(&custom.0, &custom.1), read(&generic.0, &generic.1));
        structure::assert_same(&path.display().to_string(), &custom, &generic);
    }
}

#[test]
fn sources_have_the_structure_of_their_generic_form() {
    for path in programs() {
        let source = std::fs::read_to_string(&path).unwrap();
        let generic = std::fs::read_to_string(printed(&path, "generic")).unwrap();
        let name = path.display().to_string();
        let (source, generic) = (read(&name, &source), read(&name, &generic));
        structure::assert_same(&name, &source, &generic);
    }
}

/// Dialects of MLIR without a table: the custom form has the names, operands and regions of the generic form, and hides
/// no memory.
#[test]
fn forms_of_dialects_without_a_table_have_the_same_structure() {
    for path in programs_in(&corpus().join("untabled")) {
        let name = path.display().to_string();
        let [source, custom, generic] = [path.clone(), printed(&path, "custom"), printed(&path, "generic")]
            .map(|path| read(&path.display().to_string(), &std::fs::read_to_string(&path).unwrap()));
        structure::assert_same(&name, &source, &generic);
        structure::assert_same(&name, &custom, &generic);
    }
}

/// The committed prints are what mlir-opt prints; with locations too, both forms agree.
#[test]
fn prints_are_up_to_date() {
    for path in programs().into_iter().chain(programs_in(&corpus().join("untabled"))) {
        for (form, arguments) in [("custom", &[][..]), ("generic", &["--mlir-print-op-generic"])] {
            let Some(now) = mlir_opt(&path, arguments) else {
                return;
            };
            let kept = printed(&path, form);
            if std::env::var("MEMPLAN_BLESS").is_ok() {
                std::fs::write(&kept, &now).unwrap();
            }
            assert_eq!(std::fs::read_to_string(&kept).unwrap(), now, "{}", kept.display());
        }
        let name = format!("{} with locations", path.display());
        let custom = mlir_opt(&path, &["--mlir-print-debuginfo"]).unwrap();
        let generic = mlir_opt(&path, &["--mlir-print-debuginfo", "--mlir-print-op-generic"]).unwrap();
        structure::assert_same(&name, &read(&name, &custom), &read(&name, &generic));
        let local = mlir_opt(&path, &["--mlir-print-local-scope", "--mlir-print-debuginfo"]).unwrap();
        structure::assert_same(&name, &read(&name, &local), &read(&name, &generic));
    }
}

fn tolerant(name: &str) -> Document {
    let path = corpus().join("tolerant").join(name);
    let source = std::fs::read_to_string(&path).unwrap();
    read(&path.display().to_string(), &source)
}

fn outline(document: &Document) -> Vec<String> {
    let depth = |mut op| {
        let mut depth = 0;
        while let Some(parent) = document.parent_op(op) {
            depth += 1;
            op = parent;
        }
        depth
    };
    let line = |op| {
        let operands: Vec<&str> = document.operands(op).iter().map(|&value| document.value_name(value)).collect();
        let regions = document.regions(op).len();
        format!("{}{} ({}) {regions}", "  ".repeat(depth(op)), document.name(op), operands.join(" "))
    };
    document.op_ids().map(line).collect()
}

#[test]
fn unknown_forms_are_read_structurally() {
    let document = tolerant("loops.mlir");
    assert!(document.notes().is_empty(), "{:?}", document.notes());
    assert_eq!(
        outline(&document),
        [
            "func.func () 1",
            "  acme.for (%n %n %n) 1",
            "    acme.use (%i %m) 0",
            "    acme.yield () 0",
            "  acme.pair (%m %n) 0",
            "  acme.each (%m) 1",
            "    acme.take (%item) 0",
            "  acme.empty () 0",
            "  acme.match (%m) 0",
            "  acme.flags () 0",
            "  acme.try () 2",
            "    acme.step () 0",
            "    acme.log (%error) 0",
            "  acme.branch (%n) 0",
            "  acme.generic (%a %b) 1",
            "    acme.inner (%m) 0",
            "  acme.nested () 1",
            "    acme.step () 0",
            "  func.return () 0",
        ]
    );
}

#[test]
fn groups_stay_right_when_names_turn_out_to_be_arguments() {
    let source = "%m = \"a\"() : () -> i32\nacme.each %item, %other ins(%m : i32) outs(%m, %m : i32, i32) {\n  acme.use %item\n}\n";
    let document = read("groups", source);
    let op = document.op_ids().nth(1).unwrap();
    assert_eq!(document.operands(op).len(), 3);
    let groups = document.groups(op).iter().map(|group| (group.start, group.end));
    assert_eq!(groups.collect::<Vec<_>>(), [(0, 1), (1, 3)]);
}

#[test]
fn npu_kernels_are_read_structurally() {
    let document = tolerant("npu.mlir");
    assert!(document.notes().is_empty(), "{:?}", document.notes());
    let lines = outline(&document);
    let found = |name: &str| lines.iter().find(|line| line.trim().starts_with(name)).unwrap().trim();
    assert_eq!(found("hivm.hir.load"), "hivm.hir.load (%src %ub %pad %c0) 0");
    assert_eq!(found("hivm.hir.vadd"), "hivm.hir.vadd (%ub %ub %out %tmp) 0");
    assert_eq!(found("hivm.hir.set_mask_norm"), "hivm.hir.set_mask_norm () 0");
    assert_eq!(found("hivm.hir.pointer_cast"), "hivm.hir.pointer_cast (%blk %blk %n) 0");
    assert_eq!(found("scope.scope"), "scope.scope () 1");
    assert_eq!(found("func.call"), "func.call (%r) 0");
    assert_eq!(lines.len(), 31, "{lines:#?}");
    let op = |name: &str| document.op_ids().find(|&op| document.name(op) == name).unwrap();
    let load = op("hivm.hir.load");
    let groups: Vec<(&str, u32, u32)> =
        document.groups(load).iter().map(|group| (document.text(group.keyword), group.start, group.end)).collect();
    assert_eq!(groups, [("ins", 0, 1), ("outs", 1, 2)]);
    let cast = op("hivm.hir.vcast");
    assert_eq!(document.groups(cast).len(), 3, "temp_buffer stands apart from its bracket");
    let scope = op("scope.scope");
    assert_eq!(document.type_text(document.results(scope)[0]), "index");
    let ub = document.ty(document.results(op("memref.alloc"))[0]).as_memref().unwrap();
    assert_eq!(ub.space.as_deref(), Some("#hivm.address_space<ub>"));
    let workspace = op("memref_ext.alloc_workspace");
    assert_eq!(document.type_text(document.results(workspace)[0]), "memref<16xf16>");
}
