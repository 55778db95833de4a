//! The header in real compilers, and the example program under valgrind.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) use memplan_testkit::peers::program as has;

pub(crate) fn run(command: &mut Command) -> Output {
    let output = command.env("MEMPLAN_STRICT", "1").output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
    output
}

pub(crate) fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// The static library, beside this test or one folder up.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its path");
    let folders = test.ancestors().skip(1).take(2);
    let candidates = folders.map(|folder| folder.join("libmemplan_capi.a"));
    candidates.into_iter().find(|path| path.exists()).expect("the static library is built with the test")
}

#[test]
fn the_header_compiles_as_c_and_as_cpp() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = [
        ("cc", "a.c", "-std=c90", "memplan.h"),
        ("c++", "a.cpp", "-std=c++11", "memplan.h"),
        ("c++", "b.cpp", "-std=c++17", "memplan.hpp"),
        ("c++", "c.cpp", "-std=c++20", "memplan.hpp"),
    ];
    for (compiler, file, standard, header) in all {
        if has(compiler) {
            let source = folder.path().join(file);
            let text = format!("#include \"{header}\"\nint main(void) {{ return 0; }}\n");
            std::fs::write(&source, text).expect("written");
            let flags = [standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"];
            run(Command::new(compiler).args(flags).arg("-I").arg(include()).arg(&source));
        }
    }
}

#[test]
fn the_example_runs_and_leaks_nothing() {
    if !has("c++") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("arena");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cpp/arena.cpp");
    let mut compile = Command::new("c++");
    compile.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-g", "-I"]).arg(include()).arg(source);
    run(compile.arg(library()).args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program));
    let output = run(&mut Command::new(&program));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("optimal: 96 bytes instead of 176"), "{said}");
    assert!(said.contains("tampered plan: wrong"), "{said}");
    if has("valgrind") {
        let flags = ["--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect", "--quiet"];
        run(Command::new("valgrind").args(flags).arg(&program));
    }
}
