//! More placements that look right to whoever takes every region to run where it
//! stands: teams of OpenMP, tasks, callees that start work, ops nobody knows.
//!
//! See `defects`: the check must refuse the placement, and running the program with
//! it must show that it is wrong, while ours is right.

use memplan_mlir::{Dialects, Document, lower};
use memplan_verify::dataflow::check;

use crate::defects::{Defect, INTS, fill, flag, function, signal, sum, wait};

/// One buffer for all threads of a team. Behind the barrier all of them have
/// written their number, and each reads it back.
fn team(name: &'static str, open: &str, close: &str) -> Defect {
    let body = format!(
        "  %out = memref.alloc() : {INTS}\n{}  %threads = arith.constant 2 : i32\n  {open}\n  %t = memref.alloc() : {INTS}\n  \
         %id = func.call @omp_get_thread_num() : () -> i32\n  memref.store %id, %t[%c0] : {INTS}\n  omp.barrier\n  \
         %v = memref.load %t[%c0] : {INTS}\n  %at = arith.index_cast %id : i32 to index\n  memref.store %v, %out[%at] : {INTS}\n  \
         {close}\n{}",
        fill("three", "%out"),
        sum("%out")
    );
    Defect::new(name, function(&body), &[4096, 0])
}

/// A task that runs when the code behind it has given its buffer away.
fn task() -> Defect {
    let body = format!(
        "{}  %threads = arith.constant 2 : i32\n  omp.parallel num_threads(%threads : i32) {{\n  omp.single {{\n  \
         %a = memref.alloc() : {INTS}\n  %b = memref.alloc() : {INTS}\n{}  omp.task {{\n{}{}  omp.terminator\n  }}\n{}{}  omp.taskwait\n{}  \
         omp.terminator\n  }}\n  omp.terminator\n  }}\n",
        flag("%written"),
        fill("three", "%a"),
        wait("%written"),
        sum("%a"),
        fill("five", "%b"),
        signal("%written"),
        sum("%b")
    );
    Defect::new("omp.task", function(&body), &[1024, 0, 0])
}

/// A callee that starts work on its argument, through another call, and returns.
fn callee() -> Defect {
    let callees = format!(
        "func.func @p_work(%acc: memref<1xi64>, %o: {INTS}, %flag: memref<1xi32>) {{\n{}{}  return\n}}\n\
         func.func @p_start(%acc: memref<1xi64>, %o: {INTS}, %flag: memref<1xi32>) -> !async.token {{\n  %t = async.execute {{\n  \
         func.call @p_work(%acc, %o, %flag) : (memref<1xi64>, {INTS}, memref<1xi32>) -> ()\n  async.yield\n  }}\n  return %t : !async.token\n}}\n",
        wait("%flag"),
        sum("%o"),
    );
    let body = format!(
        "  %o = memref.alloc() : {INTS}\n  %b = memref.alloc() : {INTS}\n{}{}  \
         %t = func.call @p_start(%acc, %o, %written) : (memref<1xi64>, {INTS}, memref<1xi32>) -> !async.token\n{}{}  \
         async.await %t : !async.token\n{}",
        flag("%written"),
        fill("three", "%o"),
        fill("five", "%b"),
        signal("%written"),
        sum("%b")
    );
    Defect::new("a callee that starts work", function(&body) + &callees, &[0, 0, 1024])
}

/// A region of an op nobody knows, which runs at the end of the function.
fn later() -> Defect {
    let body = format!(
        "  %a = memref.alloc() : {INTS}\n  %b = memref.alloc() : {INTS}\n{}{}  \"my.later_1\"() ({{\n{}{}  \"my.end\"() : () -> ()\n  \
         }}) : () -> ()\n{}{}  \"my.join_1\"() : () -> ()\n{}",
        flag("%written"),
        fill("three", "%a"),
        wait("%written"),
        sum("%a"),
        fill("five", "%b"),
        signal("%written"),
        sum("%b")
    );
    Defect::new("a region nobody knows", function(&body), &[0, 0, 1024])
}

/// A region for the accelerator that runs when the code behind it has given its buffer away.
fn kernels() -> Defect {
    let body = format!(
        "  %a = memref.alloc() : {INTS}\n  %b = memref.alloc() : {INTS}\n  %queue_1 = arith.constant 1 : i32\n{}{}  \
         acc.kernels async(%queue_1 : i32) {{\n{}{}  acc.terminator\n  }}\n{}{}  acc.wait(%queue_1 : i32)\n{}",
        flag("%written"),
        fill("three", "%a"),
        wait("%written"),
        sum("%a"),
        fill("five", "%b"),
        signal("%written"),
        sum("%b")
    );
    Defect::new("acc.kernels async", function(&body), &[0, 0, 1024])
}

pub(crate) fn defects() -> Vec<Defect> {
    vec![
        team("omp.parallel", "omp.parallel num_threads(%threads : i32) {", "omp.terminator\n  }"),
        team(
            "a team nobody knows",
            "\"my.team_1\"(%threads) ({",
            "\"my.end_of_team\"() : () -> ()\n  }) : (i32) -> ()",
        ),
        team("acc.parallel", "acc.parallel num_gangs({%threads : i32}) {", "acc.yield\n  }"),
        task(),
        kernels(),
        callee(),
        later(),
    ]
}

/// The offsets in a rewritten text, by the name of the buffer; the others keep their allocation.
fn offsets(source: &str) -> Vec<(String, Option<String>)> {
    let text = crate::rewrite(source, "merge-alloc", None).text;
    let constant = |name: &str| {
        let line = text.lines().map(str::trim).find(|line| line.starts_with(&format!("{name} = arith.constant ")))?;
        Some(line.split_whitespace().nth(3)?.to_owned())
    };
    let views = text.lines().map(str::trim).filter_map(|line| {
        let (name, rest) = line.split_once(" = memref.")?;
        match rest.split_once('(') {
            Some(("alloc", _)) if !name.starts_with("%merged") => Some((name.to_owned(), None)),
            _ => {
                let offset = rest.strip_prefix("view ")?.split_once('[')?.1.split_once(']')?.0;
                Some((name.to_owned(), constant(offset)))
            }
        }
    });
    views.collect()
}

fn offset(source: &str, name: &str) -> Option<String> {
    offsets(source).into_iter().find(|(known, _)| known == name).and_then(|(_, offset)| offset)
}

/// A buffer that `op` uses, and one that is written behind it.
fn around(op: &str, behind: &str) -> String {
    format!(
        "func.func private @use(memref<16xi32>)\nfunc.func @main(%n: i32, %v: i32) {{\n  %a = memref.alloc() : memref<16xi32>\n  \
         linalg.fill ins(%v : i32) outs(%a : memref<16xi32>)\n{op}\n{behind}\n  %b = memref.alloc() : memref<16xi32>\n  \
         linalg.fill ins(%v : i32) outs(%b : memref<16xi32>)\n  func.call @use(%b) : (memref<16xi32>) -> ()\n  return\n}}\n"
    )
}

const USE: &str = "    func.call @use(%a) : (memref<16xi32>) -> ()";

#[test]
fn work_that_goes_on_keeps_its_buffers() {
    let goes_on = [
        format!("  acc.parallel async {{\n{USE}\n    acc.yield\n  }}"),
        format!("  acc.kernels async(%n : i32) {{\n{USE}\n    acc.terminator\n  }}"),
        format!("  \"my.parallel\"() ({{\n{USE}\n    \"my.end\"() : () -> ()\n  }}) : () -> ()"),
        format!("  my.parallel {{\n{USE}\n  }}"),
        format!("  omp.task {{\n{USE}\n    omp.terminator\n  }}"),
        format!("  omp.target nowait {{\n{USE}\n    omp.terminator\n  }}"),
        format!("  %t = async.execute {{\n{USE}\n    async.yield\n  }}"),
        "  \"my.parallel\"(%a) ({\n  \"my.end\"() : () -> ()\n  }) : (memref<16xi32>) -> ()".to_owned(),
    ];
    for op in goes_on {
        let source = around(&op, "");
        assert_ne!(offset(&source, "%a"), offset(&source, "%b"), "{source}");
    }
}

#[test]
fn work_that_is_over_gives_its_buffers_back() {
    let over = [
        (format!("  acc.parallel {{\n{USE}\n    acc.yield\n  }}"), ""),
        (format!("  omp.parallel {{\n{USE}\n    omp.terminator\n  }}"), ""),
        (format!("  omp.target {{\n{USE}\n    omp.terminator\n  }}"), ""),
        (format!("  omp.task {{\n{USE}\n    omp.terminator\n  }}"), "  omp.taskwait"),
        (format!("  omp.task {{\n{USE}\n    omp.terminator\n  }}"), "  omp.barrier"),
        (format!("  omp.parallel {{\n  omp.task {{\n{USE}\n    omp.terminator\n  }}\n  omp.terminator\n  }}"), ""),
        (format!("  omp.taskgroup {{\n  omp.task {{\n{USE}\n    omp.terminator\n  }}\n  omp.terminator\n  }}"), ""),
        (format!("  %t = async.execute {{\n{USE}\n    async.yield\n  }}"), "  async.await %t : !async.token"),
        (
            format!(
                "  %one = arith.constant 1 : index\n  %four = arith.constant 4 : index\n  %g = async.create_group %four : !async.group\n  \
                 scf.for %i = %one to %four step %one {{\n  \
                 %t = async.execute {{\n{USE}\n    async.yield\n  }}\n  %r = async.add_to_group %t, %g : !async.token\n  }}"
            ),
            "  async.await_all %g",
        ),
    ];
    for (op, behind) in over {
        let source = around(&op, behind);
        let shared = offset(&source, "%a").is_some() && offset(&source, "%a") == offset(&source, "%b");
        assert!(shared, "{source}\n{:?}", offsets(&source));
    }
}

/// What callees start is over when what stands for it is awaited, in whichever function.
#[test]
fn callees_leave_work_behind() {
    let start = |body: &str, end: &str| {
        format!(
            "func.func private @start(%a: memref<16xi32>) -> !async.token {{\n  %t = async.execute {{\n{USE}\n    async.yield\n  }}\n{body}  \
             return {end} : !async.token\n}}\nfunc.func private @through(%a: memref<16xi32>) -> !async.token {{\n  \
             %t = func.call @start(%a) : (memref<16xi32>) -> !async.token\n  return %t : !async.token\n}}\n"
        )
    };
    let call = "  %t = func.call @through(%a) : (memref<16xi32>) -> !async.token";
    let shares = |functions: &str, behind: &str| {
        let source = around(call, behind) + functions;
        offset(&source, "%a").is_some() && offset(&source, "%a") == offset(&source, "%b")
    };
    let plain = start("", "%t");
    assert!(!shares(&plain, ""));
    assert!(shares(&plain, "  async.await %t : !async.token"));
    // What is returned does not stand for the work.
    let other = start("  %o = async.execute {\n    async.yield\n  }\n", "%o");
    assert!(!shares(&other, "  async.await %t : !async.token"));
    let awaited = start("  async.await %t : !async.token\n", "%t");
    assert!(shares(&awaited, ""));
}

/// What is allocated in a region nobody knows stays there; in a team, each thread has its own.
#[test]
fn buffers_of_threads() {
    let inside = |open: &str, close: &str| {
        format!(
            "func.func private @use(memref<16xi32>)\nfunc.func @main(%v: i32) {{\n  {open}\n    %t = memref.alloc() : memref<16xi32>\n    \
             linalg.fill ins(%v : i32) outs(%t : memref<16xi32>)\n    func.call @use(%t) : (memref<16xi32>) -> ()\n    {close}\n  return\n}}\n"
        )
    };
    let stranger = inside("\"my.parallel\"() ({", "\"my.end\"() : () -> ()\n  }) : () -> ()");
    assert_eq!(crate::rewrite(&stranger, "merge-alloc", None).text, stranger);
    let team = crate::rewrite(&inside("omp.parallel {", "omp.terminator\n  }"), "merge-alloc", None).text;
    let (before, inside) = team.split_once("omp.parallel").unwrap();
    assert!(!before.contains("memref.alloc") && inside.contains("%merged_0 = memref.alloc()"), "{team}");
}

/// A note says which op is not known, and what can be done about it.
#[test]
fn a_note_names_regions_nobody_knows() {
    let source = around(&format!("  \"my.parallel\"() ({{\n{USE}\n    \"my.end\"() : () -> ()\n  }}) : () -> ()"), "");
    let document = Document::read(&source, Dialects::builtin()).unwrap();
    let lowered = lower(&document).unwrap();
    let note = lowered.notes.iter().find(|note| note.message.contains("`my.parallel`")).expect("a note");
    assert!(note.message.contains("--dialect"), "{}", note.message);
    let described =
        Dialects::builtin().with_toml("[[op]]\nname = \"my.parallel\"\nregions = 1\ncontrol = \"once\"\n").unwrap();
    let document = Document::read(&source, &described).unwrap();
    assert!(lower(&document).unwrap().notes.iter().all(|note| !note.message.contains("my.parallel")));
}

/// Buffers chosen by a select or a branch, written in a parallel loop, allocated in a loop.
#[test]
fn chosen_buffers_in_parallel_loops_are_planned() {
    let chosen = |choice: &str| {
        format!(
            "func.func @g(%c: i1, %f: f32) {{\n  scf.forall (%i) in (2) {{\n    %x = memref.alloc() : memref<16xf32>\n    \
             %y = memref.alloc() : memref<16xf32>\n    {choice}\n    scf.forall (%j) in (16) {{\n      \
             memref.store %f, %v[%j] : memref<16xf32>\n    }}\n  }}\n  return\n}}\n"
        )
    };
    let branch = "%v = scf.if %c -> (memref<16xf32>) {\n      scf.yield %x : memref<16xf32>\n    } else {\n      scf.yield %y : memref<16xf32>\n    }";
    for choice in ["%v = arith.select %c, %x, %y : memref<16xf32>", branch] {
        // `rewrite` runs the check.
        let source = chosen(choice);
        assert!(
            offset(&source, "%x").is_some() || crate::rewrite(&source, "merge-alloc", None).text.contains("%merged_0")
        );
        crate::rewrite(&source.replace("scf.forall (%i) in (2)", "affine.for %i = 0 to 2"), "merge-alloc", None);
    }
    let document = Document::read(&chosen(branch), Dialects::builtin()).unwrap();
    let program = lower(&document).unwrap().program;
    assert_eq!(check(&program, &memplan_verify::dataflow::SitePlan::empty(&program)), []);
}
