//! An installed memplan, as pkg-config and CMake find it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cpp::{has, library, run};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The libraries that were built with this test, installed into a fresh folder.
fn installed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut install = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("install"));
    install.arg("--prefix").arg(folder.path()).arg("--from").arg(library().parent().expect("a folder"));
    run(&mut install);
    folder
}

#[test]
fn what_is_installed_is_small_and_has_its_name() {
    if !has("strip") {
        return;
    }
    let prefix = installed();
    let lib = prefix.path().join("lib");
    let dynamic = run(Command::new("readelf").arg("-d").arg(lib.join("libmemplan.so")));
    let dynamic = String::from_utf8_lossy(&dynamic.stdout).into_owned();
    assert!(dynamic.contains("Library soname: [libmemplan.so.0]"), "{dynamic}");
    let sections = run(Command::new("readelf").arg("-SW").arg(lib.join("libmemplan.so")));
    assert!(!String::from_utf8_lossy(&sections.stdout).contains(".debug_"), "debug information is stripped");
    let sections = run(Command::new("readelf").arg("-SW").arg(lib.join("libmemplan.a")));
    assert!(!String::from_utf8_lossy(&sections.stdout).contains(".debug_line"), "debug information is stripped");
    // Nothing names the folder, so that it can be moved.
    for file in ["pkgconfig/memplan.pc", "cmake/memplan/memplan-config.cmake"] {
        let text = std::fs::read_to_string(lib.join(file)).expect("an installed file");
        assert!(!text.contains(&*prefix.path().to_string_lossy()) && !text.contains('@'), "{text}");
    }
}

#[test]
fn pkg_config_finds_it() {
    if !has("pkg-config") || !has("cc") {
        return;
    }
    let prefix = installed();
    let source = prefix.path().join("hello.c");
    let text = "#include <memplan.h>\n#include <stdio.h>\nint main(void) { puts(memplan_version()); return 0; }\n";
    std::fs::write(&source, text).expect("written");
    let mut flags = Command::new("pkg-config");
    flags.env("PKG_CONFIG_PATH", prefix.path().join("lib/pkgconfig")).args(["--cflags", "--libs", "memplan"]);
    let flags = String::from_utf8_lossy(&run(&mut flags).stdout).into_owned();
    let program = prefix.path().join("hello");
    run(Command::new("cc")
        .args(["-std=c90", "-Wall", "-Werror"])
        .arg(&source)
        .args(flags.split_whitespace())
        .arg("-o")
        .arg(&program));
    let output = run(Command::new(&program).env("LD_LIBRARY_PATH", prefix.path().join("lib")));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn cmake_finds_it() {
    if !has("cmake") || !has("c++") {
        return;
    }
    let prefix = installed();
    let build = prefix.path().join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(root().join("examples/cmake")).arg("-B").arg(&build);
    configure
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.path().display()))
        .arg("-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror");
    run(&mut configure);
    run(Command::new("cmake").arg("--build").arg(&build));
    for program in ["two_memories", "two_memories_static"] {
        let output = run(&mut Command::new(build.join(program)));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("fast at") && said.contains("slow at"), "{said}");
        assert!(said.contains("bad argument: there is no strategy called `no-such-strategy`"), "{said}");
    }
}
