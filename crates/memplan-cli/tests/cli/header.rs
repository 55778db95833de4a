//! `memplan plan -o plan.h`: constants that real compilers take.

use std::process::Command;

use memplan_testkit::peers::program as has;

use crate::plan::SMALL;
use crate::run::Folder;

const USE_IT: &str = r#"
#include "net.h"
static unsigned char arena[NET_ARENA_SIZE];
int main(void) {
  unsigned char *c = arena + NET_OFFSET_c;
  return NET_ARENA_SIZE == 96u && NET_ARENA_ALIGNMENT == 16u && NET_OFFSET_b % 16u == 0 && c < arena + NET_ARENA_SIZE ? 0 : 1;
}
"#;

#[test]
fn constants_compile_and_run_as_c_and_as_cpp() {
    let folder = Folder::with(&[("small.csv", SMALL), ("use.c", USE_IT), ("use.cpp", USE_IT)]);
    let ran = folder.run("plan small.csv --align 16 -o net.h");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(folder.read("net.h").contains("#define NET_OFFSET_a "));
    for (compiler, file, standard) in [("cc", "use.c", "-std=c90"), ("c++", "use.cpp", "-std=c++98")] {
        if has(compiler) {
            let mut compile = Command::new(compiler);
            compile.args([standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", "use", file]);
            let compiled = compile.current_dir(folder.path("")).output().unwrap();
            assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
            assert!(Command::new(folder.path("use")).status().unwrap().success());
        }
    }
}

const USE_OBJECTS: &str = r#"
#include "net.h"
static unsigned char first[NET_OBJECT0_SIZE];
int main(void) {
  return sizeof first >= NET_SIZE_a && NET_OBJECTS >= 2u && NET_OBJECT_a < NET_OBJECTS && NET_OBJECT_a != NET_OBJECT_b ? 0 : 1;
}
"#;

#[test]
fn shared_objects_are_constants_too() {
    let folder = Folder::with(&[("small.csv", SMALL), ("use.c", USE_OBJECTS)]);
    let ran = folder.run("plan small.csv -s greedy-by-size --assign objects -o net.h");
    assert_eq!(ran.code, 0, "{}", ran.all());
    let header = folder.read("net.h");
    assert!(!header.contains("OFFSET"), "{header}");
    if has("cc") {
        let mut compile = Command::new("cc");
        compile.args(["-std=c90", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", "use", "use.c"]);
        let compiled = compile.current_dir(folder.path("")).output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        assert!(Command::new(folder.path("use")).status().unwrap().success(), "{header}");
    }
}
