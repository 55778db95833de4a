//! The path of somebody who has just cloned the repository: README, book, a model of their own.
//!
//! A clone holds what git tracks and nothing else, so a copy of the tracked files stands for it; a
//! file that was forgotten is then missing here, too.

use std::path::{Path, PathBuf};
use std::process::Command;

use memplan_testkit::peers;

use crate::book::{is_there, links, path, play, workspace};
use crate::run::{Folder, command};

/// A clone as it would be after a commit of what is there; `None` without git.
fn clone() -> Option<Folder> {
    let mut git = Command::new("git");
    let listed = git.args(["ls-files", "-z"]).current_dir(workspace()).output().ok();
    let listed = listed.filter(|listed| listed.status.success())?;
    let folder = Folder::new();
    let files = String::from_utf8(listed.stdout).unwrap();
    for file in files.split_terminator('\0').filter(|file| workspace().join(file).is_file()) {
        let target = folder.path(file);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(workspace().join(file), target).unwrap();
    }
    Some(folder)
}

/// The clone; that there is none is a failure where everything is required.
fn clone_or_skip() -> Option<Folder> {
    let folder = clone();
    peers::is_there(folder.is_some(), "a git checkout").then_some(folder)?
}

/// Pages that can be reached from the README by following links inside the clone.
fn reachable(clone: &Path) -> Vec<PathBuf> {
    let mut pages = vec![clone.join("README.md")];
    let mut next = 0;
    while let Some(page) = pages.get(next).cloned() {
        next += 1;
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            let file = link.split('#').next().unwrap_or_default();
            let target = page.parent().unwrap().join(file);
            assert!(file.is_empty() || target.exists(), "{}: {link} is not in the clone", page.display());
            let Ok(target) = target.canonicalize() else { continue };
            if target.extension().is_some_and(|extension| extension == "md") && !pages.contains(&target) {
                pages.push(target);
            }
        }
    }
    pages
}

#[test]
fn every_chapter_can_be_reached_from_the_readme() {
    let Some(clone) = clone_or_skip() else { return eprintln!("skipped: needs a git checkout") };
    let root = clone.path("").canonicalize().unwrap();
    let pages = reachable(&root);
    for file in std::fs::read_dir(root.join("docs")).unwrap() {
        let file = file.unwrap().path();
        let is_page = file.extension().is_some_and(|extension| extension == "md");
        assert!(!is_page || pages.contains(&file), "nothing leads to {}", file.display());
    }
}

/// README, first plan, pictures and recipes, typed where the reader is: at the root of the clone.
#[test]
fn the_first_pages_work_at_the_root_of_a_clone() {
    let Some(clone) = clone_or_skip() else { return eprintln!("skipped: needs a git checkout") };
    for page in ["README.md", "docs/first-plan.md", "docs/pictures.md", "docs/recipes.md"] {
        let written = std::fs::read_to_string(clone.path(page)).unwrap();
        assert!(play(page, &clone.path("")) == written, "{page} says something else at the root of a clone");
    }
    assert!(clone.read("memplan-map.html").contains("mobilenet_v2"));
}

/// Models of their own: every kind of file is planned, checked, drawn and compared as it is.
#[test]
fn a_model_of_ones_own() {
    let Some(clone) = clone_or_skip() else { return eprintln!("skipped: needs a git checkout") };
    let models = [
        ("tests/data/tflite/unet.tflite", "", "merge_a"),
        ("tests/data/onnx/batch.onnx", "--dim batch=4", "product"),
        ("tests/data/gmem/figure.mlir", "", "V0"),
        ("examples/blur.te.json", "", "Z"),
        ("corpus/real/iree_densenet121.csv", "", "densenet"),
    ];
    for (model, more, buffer) in models {
        let run = |words: String| {
            let words: Vec<&str> = words.split_whitespace().collect();
            let output = command(&clone.path("")).args(&words).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(0), "{words:?}: {said}");
            String::from_utf8(output.stdout).unwrap()
        };
        run(format!("plan {model} {more} -o plan.json"));
        assert!(run(format!("verify {model} plan.json {more}")).contains("fine"), "{model}");
        run(format!("show {model} plan.json {more} -o map.html"));
        assert!(clone.read("map.html").contains(buffer), "{model} has no {buffer}");
        assert!(run(format!("compare {model} {more}")).contains("first-fit"), "{model}");
    }
}

/// The two commands that build: minutes, so only in a full run.
#[test]
fn what_the_readme_says_about_building() {
    if std::env::var_os("MEMPLAN_FULL").is_none() || !is_there(Some("needs=cargo")) {
        return;
    }
    let Some(clone) = clone_or_skip() else { return eprintln!("skipped: needs a git checkout") };
    for build in ["cargo run --release -- plan", "cargo install --path crates/memplan-cli --root installed"] {
        let mut shell = Command::new("bash");
        shell.args(["-c", build]).current_dir(clone.path("")).env("PATH", path()).env_remove("CARGO_TARGET_DIR");
        assert!(shell.status().unwrap().success(), "{build}");
    }
    assert!(clone.path("memplan-map.html").exists() && clone.path("installed/bin/memplan").exists());
}
