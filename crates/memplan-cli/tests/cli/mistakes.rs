//! Inputs that new users hand over and that mean something else: each is said, none is planned as if it were right.

use crate::run::Folder;

#[test]
fn a_text_that_is_no_mlir_is_not_planned() {
    let folder = Folder::with(&[
        ("not.mlir", "hello world, I am not MLIR\n"),
        ("only.mlir", "// nothing but a comment\n"),
        ("ok.csv", "id,lower,upper,size\na,0,2,64\n"),
    ]);
    for command in ["plan not.mlir", "plan only.mlir", "dump not.mlir --stage program"] {
        let ran = folder.run(command);
        assert_eq!(ran.code, 2, "{command}: {}", ran.all());
        assert!(ran.stderr.contains("mlir::no-op"), "{command}: {}", ran.stderr);
    }
    for pass in ["merge-alloc", "plan-memory", "assign-gmem", "early-dealloc"] {
        let ran = folder.run(&format!("opt ok.csv --pass {pass}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{pass}: {}", ran.stderr);
    }
    for pass in ["storage-rewrite", "lower"] {
        assert_eq!(folder.run(&format!("opt ok.csv --pass {pass}")).code, 2, "{pass}");
    }
}

#[test]
fn fixed_offsets_that_clash_are_no_matter_of_capacity() {
    let folder = Folder::with(&[("f.csv", "id,lower,upper,size,offset\na,0,2,64,0\nb,1,3,32,32\n")]);
    for command in ["plan f.csv", "explain f.csv"] {
        let said = folder.run(command).all();
        assert!(said.contains("fixed offsets contradict each other"), "{command}: {said}");
        assert!(!said.contains("capacity"), "there is none. {command}: {said}");
    }
}

#[test]
fn the_bound_says_where_it_comes_from() {
    let folder = Folder::with(&[
        ("never.csv", "id,lower,upper,size\na,2,2,64\nb,0,3,32\n"),
        ("small.csv", "id,lower,upper,size\na,0,2,60\nb,1,3,40\n"),
    ]);
    let never = folder.run("plan never.csv").stdout;
    assert!(never.contains("no plan needs less; 32 B are alive at once, at step 0"), "{never}");
    let aligned = folder.run("plan small.csv --align 125").stdout;
    assert!(aligned.contains("at step 1, and what aligning them costs"), "{aligned}");
    assert!(aligned.contains("100.0 % of the naive sum"), "no plan is worse than none: {aligned}");
}

#[test]
fn nearly_a_field_is_a_mistake() {
    let buffer =
        |field: &str| format!("{{\"buffers\": [{{\"id\": \"a\", \"size\": 8, \"lifetime\": [[0, 1]], {field}}}]}}");
    let folder = Folder::with(&[
        ("typo.json", &buffer("\"aligment\": 4")),
        ("other.json", &buffer("\"color\": 4")),
        ("top.json", "{\"buffers\": [], \"mustShare\": []}"),
        ("c.json", &buffer("\"fixed_offset\": 4")),
        ("flat.json", "{\"buffers\": [{\"id\": \"a\", \"size\": 8, \"lifetime\": [0, 1]}]}"),
    ]);
    let of_c = folder.run("plan c.json");
    assert_eq!(of_c.code, 2, "{}", of_c.all());
    assert!(of_c.stderr.contains("is it a typo of `offset`?"), "{}", of_c.stderr);
    let flat = folder.run("plan flat.json");
    assert_eq!(flat.code, 2, "{}", flat.all());
    assert!(flat.stderr.contains("a life is a list of intervals"), "{}", flat.stderr);
    let typo = folder.run("plan typo.json");
    assert_eq!(typo.code, 2, "{}", typo.all());
    assert!(typo.stderr.contains("json::unknown-field") && typo.stderr.contains("`alignment`"), "{}", typo.stderr);
    assert_eq!(folder.run("plan top.json").code, 2);
    let other = folder.run("plan other.json");
    assert_eq!(other.code, 0, "what is nobody's field is noted: {}", other.all());
    assert!(other.stderr.contains("buffers[].color"));
}

#[test]
fn tables_of_other_customs_get_a_hint() {
    let folder = Folder::with(&[
        ("semicolons.csv", "id;lower;upper;size\na;0;2;64\n"),
        ("headless.csv", "a,0,2,64\nb,1,3,32\n"),
        ("units.csv", "id,lower,upper,size\na,0,2,64KiB\n"),
    ]);
    for (file, hint) in [
        ("semicolons.csv", "separated by `;`; expected commas"),
        ("headless.csv", "put a header above it"),
        ("units.csv", "write the number of bytes: 65536"),
    ] {
        let ran = folder.run(&format!("plan {file}"));
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(hint), "{file}: {}", ran.stderr);
    }
}

#[test]
fn long_labels_do_not_shift_the_axis() {
    let folder = Folder::with(&[("large.csv", "id,lower,upper,size\na,0,2,123456789\nb,1,3,1000000000\n")]);
    let drawn = folder.run("show large.csv --term").stdout;
    let axes: Vec<usize> = drawn.lines().filter_map(|line| line.chars().position(|c| c == '┤' || c == '│')).collect();
    assert!(axes.len() > 5 && axes.iter().all(|&at| at == axes[0]), "{drawn}");
}

#[test]
fn the_version_says_the_commit() {
    let said = Folder::new().run("--version").stdout;
    let version = env!("CARGO_PKG_VERSION");
    let Some(rest) = said.trim().strip_prefix(&format!("memplan {version}")) else { panic!("{said}") };
    let commit = rest.trim().trim_start_matches('(').trim_end_matches(')');
    let is_checkout = crate::book::workspace().join(".git").exists();
    assert!(!is_checkout || commit.len() >= 7, "{said}");
    assert!(commit.chars().all(|c| c.is_ascii_hexdigit()), "{said}");
}

/// What `git archive` packs knows its commit, without git.
#[test]
fn a_tarball_knows_its_commit() {
    let root = crate::book::workspace();
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git").arg("-C").arg(&root).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(archive) = git(&["archive", "HEAD", ".commit"]) else { return };
    let commit = git(&["log", "-1", "--format=%h"]).unwrap_or_default();
    assert!(archive.contains(commit.trim()), "{archive:?}");
}
