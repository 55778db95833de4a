//! The text form: what is printed is read back as the same program.

use memplan_program::text::{parse, print};
use memplan_program::{Control, Extent, Origin, Size, Target, Trips};

/// Every clause at least once.
const EVERYTHING: &str = r#"space default
space ub
external %weights
func @main(%in, %"odd name") at 3..99 {
  memref.alloc  alloc %x 64 align 32 space ub slots 2 rotate &1 exclusive preload coupled 7
  memref.alloc  alloc %y 4*n max 4096
  memref.alloc  alloc %z "12"
  memref.subview  view %v = %x[0..16]
  memref.subview  view %s = %x[within 16..64]
  memref.subview  view %u = %x[?]
  arith.select  merge %m = %x | %y
  some.op  opaque %o = %x | %y
  some.op  opaque %p
  memref.get_global  external %g
  "leave"  read %g
  scf.for  result %fr, label &1, at 10..20, loop 0.., scope, init %x { (%a)
    vabs  read %a, write %y, overlay %y over %a, pipe vector
    vadd  read %a, update %y, overlay %y over %a any
    leave %a
  }
  concat  read %x, read %z, write %y, copy %y[0..64] from %x[0..64]
  scf.if  result %r, alternatives {
    leave %x
  } {
    leave %y
  }
  scf.if  alternatives may-skip {
    use  read %r
  }
  scf.forall  parallel 4 ?, scope {
    use  free %r
  }
  async.execute  async !t {
    use  read %r
  }
  async.await  await !t
  omp.taskwait  await every !t
  graph  dag {
    a  read %x, label &2
    b  read %y, after &2
  }
  mystery  unknown, init %x { (%k, %l = opaque %x | %y, %e = external)
  }
  scf.execute_region  result %c, once, init %x { (%b0)
  ^0:
    goto ^1 %b0
    leave %b0
  ^1(%b1):
    goto ^0 %b1
  }
  scf.while  result %w, while, init %x { (%wa)
    leave %wa
    break %wa
  }
  forever  once {
    stop
  }
  func.return  escape %w
}
"#;

#[test]
fn every_clause_is_printed_as_it_was_read() {
    let program = parse(EVERYTHING).unwrap();
    assert_eq!(program.check(), []);
    assert_eq!(print(&program), EVERYTHING);
    assert_eq!(parse(&print(&program)).unwrap(), program);
}

#[test]
fn a_loop_means_what_it_says() {
    let program =
        parse("func @f() {\n a alloc %x 8\n for loop 1..9, init %x, result %r { (%i)\n leave %i\n }\n use read %r\n}")
            .unwrap();
    let op = program.ops().iter().nth(1).unwrap();
    let trips = Trips { at_least: 1, at_most: Some(9) };
    assert_eq!(*op.control(), Control::Loop(trips));
    let edges = program.incoming_edges();
    let names: Vec<_> =
        edges.iter().map(|&(to, from)| (&*program.value(to).name, &*program.value(from).name)).collect();
    // Never skipped, so the result is never the initial value itself.
    assert_eq!(names, [("r", "i"), ("i", "x"), ("i", "i")]);
}

#[test]
fn names_that_clash_are_numbered() {
    let mut b = memplan_program::ProgramBuilder::new();
    b.open_function("f", &[]);
    let space = b.space("default");
    for _ in 0..3 {
        let size = Size::Known(memplan_core::Bytes(8));
        let x = b.alloc("x", size, space);
        b.push(memplan_program::OpDraft::new("alloc").result(x));
    }
    b.leave(&[]);
    b.close_function();
    let program = b.finish().unwrap();
    let names = program.site_names();
    assert_eq!(names.as_slice(), ["@f/%x", "@f/%x#2", "@f/%x#3"]);
    let printed = print(&program);
    assert_eq!(print(&parse(&printed).unwrap()), printed);
}

#[test]
fn errors_name_the_place() {
    for (source, expected) in [
        ("func @f() {\n use read %x\n}", "`%x` is used but never defined"),
        ("func @f() {\n a alloc %x 8\n a alloc %x 8\n}", "`%x` is defined twice"),
        ("func @f() {\n a dag {\n x label &q\n y label &q\n }\n}", "`&q` is defined twice"),
        ("func @f() {\n a dag {\n x label &p, label &q\n }\n}", "expected one label for each op"),
        ("func @f() {\n use frobnicate %x\n}", "expected a clause such as `read %x`"),
        ("func @f() {\n goto ^a\n}", "`^a` is used but never defined"),
        ("func @f() {\n break\n}", "`break` stands outside a loop's own region"),
        ("func @f() {\n a dag {\n x after &q\n }\n}", "`&q` is used but never defined"),
        ("func @f() {\n a dag {\n x after &q, label &q\n }\n}", "the dependencies of dag `a` form a cycle"),
        ("func @f() {\n v view %x = %y[0..4], view %y = %x[0..4]\n}", "%x is defined in terms of itself"),
        ("func @f() {\n a alloc %x 8 slots 0\n}", "buffer %x: it needs at least one slot"),
        ("func @f() {\n a loop 0..\n}", "op `a` must have exactly one region"),
        (
            "func @f() {\n a alloc %x 8, alloc %y 8\n p parallel ?, init %x, init %y, result %r { (%v, %w)\n leave %v\n }\n}",
            "skipping `p` expects 1 values and gets 2",
        ),
        ("func @f() {\n a loop 5..3 {\n }\n}", "a loop cannot run at least 5 and at most 3 times"),
        (
            "func @f(%p) {\n v view %a = %p[4 8]\n}",
            "expected `..` between the first byte and the end, which is one past the last byte",
        ),
        (
            "func @f() {\n a write %x, alloc %x 8, overlay %x over %x\n}",
            "op `a` names an overlay between values it does not write and read",
        ),
        ("func @f() {\n a alloc %x 8, await !t\n}", "`!t` is used but never defined"),
        ("func @f() {", "expected an op, `leave`, `goto`, `break`, `stop` or `}`"),
        ("\"", "expected `func`, `external` or `space`"),
    ] {
        assert_eq!(parse(source).unwrap_err().to_string(), expected, "{source}");
    }
}

#[test]
fn deep_nesting_and_many_ops_need_no_stack() {
    let depth = 20_000;
    let mut source = String::from("func @f() {\n");
    for _ in 0..depth {
        source.push_str("for loop 0.. {\n");
    }
    source.push_str("a alloc %x 8\n");
    for _ in 0..depth {
        source.push_str("}\n");
    }
    source.push('}');
    let program = parse(&source).unwrap();
    assert_eq!(program.ops().len(), depth + 1);
    let op = program.alloc_op(program.sites().ids().next().unwrap()).unwrap();
    assert_eq!(program.ancestors(op).count(), depth);
    assert_eq!(parse(&print(&program)).unwrap(), program);
}

#[test]
fn blocks_keep_their_order_whatever_branches_first() {
    let source = "func @f() {\n^0:\n  goto ^2\n^1:\n  leave\n^2:\n  goto ^1\n}\n";
    let program = parse(source).unwrap();
    assert_eq!(print(&program), source);
    let branches = |index: usize| program.blocks().iter().nth(index).unwrap().branches.clone();
    assert!(matches!(branches(0)[0].target, Target::Block(_)));
}

#[test]
fn views_say_what_they_cover() {
    let program = parse("func @f(%p) {\n v view %a = %p[4..8], view %b = %a[?]\n}").unwrap();
    let extents: Vec<Extent> = (program.values().iter())
        .filter_map(|value| match value.origin {
            Origin::Derived { extent, .. } => Some(extent),
            _ => None,
        })
        .collect();
    let four_to_eight = memplan_program::ByteRange::new(4, 8);
    assert_eq!(extents, [Extent::Exactly(four_to_eight), Extent::Anywhere]);
}

/// A builder cannot say it, either, and the text names the place.
#[test]
fn a_loop_does_not_run_less_often_than_it_must() {
    use memplan_program::{OpDraft, ProgramBuilder, ProgramError};
    let built = |trips: Trips| {
        let mut b = ProgramBuilder::new();
        b.open_function("f", &[]);
        b.open_op(OpDraft::new("loop").control(Control::Loop(trips)));
        b.open_region(&[]);
        b.leave(&[]);
        b.close_region();
        b.close_op();
        b.leave(&[]);
        b.close_function();
        b.finish().map(|_| ())
    };
    let error = ProgramError::BadTrips { at_least: 5, at_most: 3 };
    assert_eq!(built(Trips { at_least: 5, at_most: Some(3) }), Err(error));
    assert_eq!(built(Trips::exactly(5)), Ok(()));
    let source = "func @f() {\n a loop 5..3 {\n }\n}";
    let span = parse(source).unwrap_err().span().unwrap();
    assert_eq!(&source[span.start as usize..span.end as usize], "3");
}

#[test]
fn a_builder_used_wrongly_fails_and_never_panics() {
    use memplan_program::{OpDraft, ProgramBuilder, ProgramError};
    let mut b = ProgramBuilder::new();
    b.close_region();
    b.open_op(OpDraft::new("nowhere"));
    let block = b.open_region(&[]);
    b.start_block(block);
    b.leave(&[]);
    b.close_op();
    b.close_function();
    assert_eq!(b.finish(), Err(ProgramError::Unbalanced));
    let mut b = ProgramBuilder::new();
    b.open_function("f", &[]);
    b.close_op();
    b.add_block(&[]);
    b.open_function("g", &[]);
    assert!(b.finish().is_err());
}

/// Texts that are nearly programs: an error or a program, never a panic, and
/// what is read is printed so that it reads the same.
#[test]
fn mangled_texts_are_refused_or_read_stably() {
    let words: Vec<&str> = EVERYTHING.split_inclusive([' ', '\n']).collect();
    let mut numbers = memplan_testkit::Random::new(1);
    let mut random = |below: usize| numbers.index(below);
    let mut read = 0;
    for _ in 0..4000 {
        let mut words = words.clone();
        for _ in 0..=random(3) {
            let (at, other) = (random(words.len()), random(words.len()));
            match random(3) {
                0 => _ = words.remove(at),
                1 => words.insert(at, words[other]),
                _ => words[at] = words[other],
            }
        }
        let text: String = words.concat();
        if let Ok(program) = parse(&text) {
            read += 1;
            let printed = print(&program);
            let again = parse(&printed).unwrap_or_else(|error| panic!("{error} in\n{printed}"));
            assert_eq!(print(&again), printed, "{text}");
        }
    }
    assert!(read > 100, "{read} of 4000 were still programs");
}

#[test]
fn every_prefix_of_a_text_is_refused_or_read() {
    for end in (0..EVERYTHING.len()).filter(|&end| EVERYTHING.is_char_boundary(end)) {
        let _: Result<_, _> = parse(&EVERYTHING[..end]);
    }
    assert!(parse(EVERYTHING).is_ok());
}

/// A view of bytes that its base does not have is an error at the place where it says so.
#[test]
fn views_lie_inside_of_their_base() {
    let program =
        |view: &str| format!("func @f() {{\n  alloc alloc %x 8, write %x\n  part {view}\n  use read %v\n}}\n");
    for (view, place, message) in [
        ("view %v = %x[4..16]", "%x[4..16]", "%v reaches to byte 16 of %x, which has 8 bytes"),
        ("view %v = %x[within 0..9]", "%x[within 0..9]", "%v reaches to byte 9 of %x, which has 8 bytes"),
        ("view %w = %x[4..8], view %v = %w[0..5]", "%w[0..5]", "%v reaches to byte 5 of %w, which has 4 bytes"),
    ] {
        let source = program(view);
        let error = parse(&source).unwrap_err();
        assert_eq!(error.to_string(), message);
        let span = error.span().unwrap();
        assert_eq!(&source[span.start as usize..span.end as usize], place);
    }
    for view in ["view %v = %x[4..8]", "view %v = %x[8..8]", "view %w = %x[4..8], view %v = %w[0..4]"] {
        assert!(parse(&program(view)).is_ok(), "{view}");
    }
}

/// A name means one thing in a function, and nothing that is written is dropped.
#[test]
fn names_and_dependencies_are_not_guessed_at() {
    let error = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(error("external %w\nexternal %w\n"), "`%w` is defined twice");
    let clash = "external %w\nfunc @f() {\n  work  read %w\n  alloc  alloc %w 64\n}\n";
    assert_eq!(error(clash), "`%w` is defined twice");
    // A value may hide a global that the function has not used.
    assert!(parse("external %w\nfunc @f() {\n  alloc  alloc %w 64\n  work  read %w\n}\n").is_ok());
    let outside = "func @f() {\n  one  label &x\n  two  after &x\n}\n";
    assert_eq!(error(outside), "expected `after` only in the region of a `dag`");
    assert!(error("func @f() {\n  two  after &nowhere\n}\n").contains("dag"));
}

/// A quote that is never closed is an error, also where the text ends in the middle of an escape.
#[test]
fn a_text_may_end_behind_a_backslash() {
    for text in ["func @\"\\", "func @f() {\n  \"\\", "func @\"name\\"] {
        let error = parse(text).unwrap_err();
        assert!(!error.to_string().is_empty(), "{text}: {error}");
    }
}
