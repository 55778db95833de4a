//! TVMScript programs: run, looked at, planned.

use crate::run::Folder;

const CHAIN: &str = "\
@T.prim_func(s_tir=True)
def main(n: T.int32, E: T.Buffer((8,), \"float32\"), O: T.Buffer((8,), \"float32\")):
    A = T.alloc_buffer((8,))
    B = T.alloc_buffer((8,))
    for i in range(8):
        A[i] = E[i]
    for i in range(8):
        B[i] = A[i] + T.float32(1.0)
    for i in range(8):
        O[i] = B[7 - i] + T.Cast(\"float32\", n)
";

#[test]
fn a_program_is_run() {
    let folder = Folder::with(&[("chain.py", CHAIN)]);
    let ran = folder.run("run chain.py --seed 7 --set n=100");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stdout);
    assert!(ran.stdout.contains("O: float32[8] = 10"), "{}", ran.stdout);
    assert_eq!(ran.stdout, folder.run("run chain.py --seed 7 --set n=100").stdout);
}

#[test]
fn every_stage_is_shown() {
    let folder = Folder::with(&[("chain.py", CHAIN)]);
    for (stage, expected) in [
        ("sequence", "end for i  touches A B"),
        ("events", "gen B  kill A"),
        ("storage", "A B (in place of A)"),
        ("program", "overlay %B over %A"),
        ("problem", "\"id\":\"@main/%A\",\"size\":32"),
    ] {
        let ran = folder.run(&format!("dump chain.py --stage {stage}"));
        assert_eq!(ran.code, 0, "{stage}: {}", ran.stderr);
        assert!(ran.stdout.contains(expected), "{stage}: {}", ran.stdout);
    }
}

#[test]
fn what_is_wrong_has_a_place() {
    let wrong = CHAIN.replace("A[i] = E[i]", "A[i + 1] = E[i]");
    let folder = Folder::with(&[("wrong.py", &wrong), ("unknown.py", &CHAIN.replace("E[i]", "X[i]"))]);
    let ran = folder.run("run wrong.py");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("outside `A`") && ran.stderr.contains("wrong.py:6:9"), "{}", ran.stderr);
    let ran = folder.run("dump unknown.py --stage events");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("`X` is not defined here") && ran.stderr.contains("unknown.py:6:16"), "{}", ran.stderr);
}

#[test]
fn a_tagged_memory_has_a_capacity() {
    let tagged = CHAIN.replace("T.alloc_buffer((8,))", "T.alloc_buffer((8,), scope=\"local.L0A\")");
    let folder = Folder::with(&[("tagged.py", &tagged)]);
    let fits = folder.run("opt tagged.py --pass storage-rewrite{limit=local.L0A:32B}");
    assert_eq!(fits.code, 0, "{}", fits.stderr);
    let full = folder.run("opt tagged.py --pass storage-rewrite{limit=local.L0A:31B}");
    assert_eq!(full.code, 1);
    assert!(full.stderr.contains("exceed bound of memory tag local.L0A"), "{}", full.stderr);
    assert_eq!(folder.run("opt tagged.py --pass storage-rewrite{limit=31}").code, 2);
}

#[test]
fn every_function_counts() {
    let second = CHAIN.replace("def main(", "def other(").replace("(8,)", "(16,)");
    let folder = Folder::with(&[("two.py", &format!("{CHAIN}\n{second}"))]);
    let planned = folder.run("plan two.py --json");
    assert_eq!(planned.code, 0, "{}", planned.stderr);
    for buffer in ["@main/%A", "@main/%B", "@other/%A", "@other/%B"] {
        assert!(planned.stdout.contains(buffer), "{buffer}: {}", planned.stdout);
    }
    let rewritten = folder.run("opt two.py --pass storage-rewrite");
    assert_eq!((rewritten.code, rewritten.stdout.matches("T.alloc_buffer").count()), (0, 2), "{}", rewritten.stdout);
    let dumped = folder.run("dump two.py --stage program");
    assert!(dumped.stdout.contains("func @main") && dumped.stdout.contains("func @other"), "{}", dumped.stdout);
}

#[test]
fn a_refusal_is_an_answer() {
    let twice = CHAIN.replace("for i in range(8):\n        B[i]", "for r, i in T.grid(2, 8):\n        B[i]");
    let folder = Folder::with(&[("twice.py", &twice)]);
    let refused = folder.run("opt twice.py --pass storage-rewrite{compat}");
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("in-place overwrite") && refused.stderr.contains("twice.py:7:5"),
        "{}",
        refused.stderr
    );
    assert_eq!(folder.run("opt twice.py --pass storage-rewrite").code, 0);
}
