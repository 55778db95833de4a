//! The three record formats as users write them, right and wrong.

#[path = "fuzz/records.rs"]
mod fuzz;

use memplan_core::{
    Buffer, Bytes, Lifetime, Outcome, OverlayKind, Placement, Plan, Problem, ProblemBuilder, Size, Space, Stop,
};
use memplan_models::records::dsa;
use memplan_models::{ReadError, Records, plan, records};
use proptest::prelude::*;

fn read(file_name: &str, text: &str) -> Result<Records, ReadError> {
    records::read(text.as_bytes(), None, file_name)
}

fn problem(file_name: &str, text: &str) -> Problem {
    read(file_name, text).unwrap_or_else(|error| panic!("{error}")).problem
}

fn lives(problem: &Problem) -> Vec<Vec<(u64, u64)>> {
    let life = |buffer: &memplan_core::Buffer| {
        buffer.lifetime.intervals().map(|interval| (interval.start.0, interval.end.0)).collect()
    };
    problem.buffers().iter().map(life).collect()
}

#[test]
fn csv_ends_follow_the_header() {
    assert_eq!(lives(&problem("p.csv", "id,lower,upper,size\na,0,3,8\n")), [[(0, 3)]]);
    assert_eq!(lives(&problem("p.csv", "buffer,start,end,size\na,0,3,8\n")), [[(0, 4)]]);
    assert_eq!(lives(&problem("p.csv", "buffer_id,begin,end,size\na,3,3,8\n")), [[(3, 4)]]);
    assert_eq!(lives(&problem("p.csv", "first_task,last_task,size\n0,3,8\n1,1,2\n")), [[(0, 4)], [(1, 2)]]);
    assert_eq!(lives(&problem("p.csv", "SIZE, Upper ,lower,ID\r\n8,3,0,a\r\n")), [[(0, 3)]]);
}

#[test]
fn csv_reads_all_columns() {
    let text = "id,lower,upper,size,alignment,hint,space,offset,gaps\n\
                a,0,30,4096,64,-1,sram,128,10-20\n\
                \"b, b\",0,30,1024,,,sram|dram,,5-6 10-20@0:512\n\
                c,1,2,0,1,,,-1,\n";
    let records = read("p.csv", text).unwrap();
    assert_eq!(records.notes, Vec::<String>::new());
    let problem = records.problem;
    let buffers = problem.buffers().as_slice();
    assert_eq!(buffers[0].fixed(), Some(Bytes(128)));
    assert_eq!(buffers[0].alignment, Bytes(64));
    assert_eq!(buffers[1].name, "b, b");
    assert_eq!(buffers[1].spaces.len(), 2);
    assert_eq!(buffers[2].fixed(), None);
    assert_eq!(lives(&problem), [vec![(0, 10), (20, 30)], vec![(0, 5), (6, 10), (10, 20), (20, 30)], vec![(1, 2)]]);
    let window = buffers[1].lifetime.intervals().nth(2).unwrap().window.unwrap();
    assert_eq!((window.low, window.high), (Bytes(0), Bytes(512)));
    assert_eq!(problem.spaces().iter().map(|space| space.name.as_str()).collect::<Vec<_>>(), ["sram", "dram"]);
}

#[test]
fn csv_gaps_follow_the_header_too() {
    let problem = problem("p.csv", "id,start,end,size,gaps\na,0,9,8,3-5\n");
    assert_eq!(lives(&problem), [[(0, 3), (6, 10)]]);
}

#[test]
fn csv_notes_what_it_ignores() {
    let records = read("p.csv", "id,lower,upper,size,xla_offset\na,0,1,8,99\n").unwrap();
    assert_eq!(records.notes, ["ignored column: xla_offset"]);
}

#[test]
fn csv_writes_what_it_reads() {
    let text = "id,lower,upper,size,alignment,space,gaps\n\
                a,0,30,4096,64,sram,10-20\n\
                \"b, \"\"b\",0,30,1024,1,sram|dram,5-6 10-20@0:512\n";
    let first = problem("p.csv", text);
    assert_eq!(records::csv::write(&first), text);
    assert_eq!(problem("again.csv", &records::csv::write(&first)), first);
}

/// Each mistake with the line, column and words of its error.
#[test]
fn csv_mistakes() {
    let cases = [
        ("id,lower,upper,size\na,0,1,-5\n", 2, 7, "size: expected a size of 0 or more bytes, found `-5`"),
        ("id,lower,upper,size\na,0,1,8\nb,7,3,8\n", 3, 5, "the life ends at 3, before its start at 7"),
        ("id,start,end,size\na,1,0,8\n", 2, 5, "the life ends at 0, before its start at 1"),
        ("id,lower,upper,size\na,0,1,8\na,1,2,8\n", 3, 1, "two buffers are called `a`"),
        ("id,lower,upper,size,alignment\na,0,1,8,0\n", 2, 9, "the alignment of buffer `a` is 0; it must be at least 1"),
        ("id,lower,upper,size\na,0,1,9223372036854775808\n", 2, 7, "size 9223372036854775808 is not below 2^63"),
        ("id,lower,upper,size\na,0,1,99999999999999999999\n", 2, 7, "size 99999999999999999999 is not below 2^63"),
        ("id,lower,upper,size\na,0,1,eight\n", 2, 7, "size: expected a size of 0 or more bytes, found `eight`"),
        ("id,lower,upper,size\na,,1,8\n", 2, 3, "lower: expected a step of 0 or more, found nothing"),
        ("id,lower,upper,size\n,0,1,8\n", 2, 1, "expected an id"),
        ("id,lower,upper,size\na,0,1\n", 2, 1, "the record has 3 fields, the header promises more"),
        ("id,lower,uper,size\na,0,1,8\n", 1, 1, "the header has no column upper or end or last_task"),
        ("id,lower,upper,bytes\na,0,1,8\n", 1, 1, "the header has no column size"),
        ("id,lower,upper,size,size\na,0,1,8,8\n", 1, 21, "the header has two columns called `size`"),
        ("id,lower,upper,size,gaps\na,0,9,8,3:5\n", 2, 9, "gap `3:5`: expected START-END or START-END@LOW:HIGH"),
        ("id,lower,upper,size,gaps\na,0,9,8,3-12\n", 2, 9, "gap `3-12`: it does not lie inside the buffer's life"),
        ("id,lower,upper,size,gaps\na,0,9,8,3-5 4-6\n", 2, 9, "two gaps overlap at step 4"),
        ("id,lower,upper,size,gaps\na,0,9,8,3-5@4:99\n", 2, 1, "the window 4..99 does not lie inside buffer `a` of 8"),
        ("id,lower,upper,size,offset,alignment\na,0,9,8,3,2\n", 2, 9, "fixed at 3, which is not a multiple of its"),
    ];
    for (text, line, column, message) in cases {
        let error = read("p.csv", text).unwrap_err();
        assert!(error.message.contains(message), "{text}\n{error}");
        assert_eq!((error.line, error.column), (line, column), "{text}\n{error}");
    }
}

#[test]
fn a_typo_in_the_header_is_recognised() {
    let error = read("p.csv", "id,lower,uppre,size\na,0,1,8\n").unwrap_err();
    assert_eq!(error.help.as_deref(), Some("is `uppre` a typo?"));
}

#[test]
fn an_error_on_the_last_of_a_million_lines() {
    let mut text = String::from("id,lower,upper,size\n");
    for index in 0..1_000_000 {
        text.push_str(&format!("b{index},{index},{},64\n", index + 3));
    }
    text.push_str("last,5,4,64\n");
    let error = read("p.csv", &text).unwrap_err();
    assert_eq!((error.line, error.column), (1_000_002, 8));
}

#[test]
fn empty_and_binary_files() {
    for name in ["p.csv", "p.json", "p.trace", "p"] {
        assert_eq!(read(name, " \n").unwrap_err().code, "read::empty");
        let error = records::read(b"id,size\n\xff\xfe", None, name).unwrap_err();
        assert_eq!((error.code, error.line, error.column), ("read::not-utf8", 2, 1));
    }
    assert_eq!(read("p.xyz", "what is this").unwrap_err().code, "read::unknown-format");
}

#[test]
fn the_format_is_sniffed() {
    assert_eq!(problem("-", "id,lower,upper,size\na,0,1,8\n").buffers().len(), 1);
    assert_eq!(problem("-", "{\"records\": [[8, 0, 1]]}").buffers().len(), 1);
    assert_eq!(problem("-", "# trace\n\nalloc a 8\n").buffers().len(), 1);
    assert_eq!(problem("p.txt", "\u{feff}id,lower,upper,size\na,0,1,8\n").buffers().len(), 1);
}

#[test]
fn json_reads_everything() {
    let text = r#"{"spaces": [{"name": "ub", "capacity": 196608, "alignment": 32, "base": 64}, {"name": "l1"}],
      "buffers": [
        {"id": "a", "size": 8192, "alignment": 32, "space": "ub", "lifetime": [[6, 9], [0, 4, 0, 64]], "slots": 1,
         "offset": null, "exclusive": false, "pipe": "vector", "loop": null, "tie": {"group": "g", "at": 0}},
        {"id": 7, "size": 64, "space": "ub", "lifetime": [[4, 5]], "tie": {"group": "g", "at": 8192}},
        {"id": "c", "size": [4, 4], "space": ["l1", "ub"], "lifetime": []},
        {"id": "d", "size": {"symbol": "n", "at_most": 64}, "lifetime": [[0, 1]], "slots": 2, "exclusive": true},
        {"id": "e", "size": 8, "lifetime": [[0, 1]], "offset": 32}],
      "may_overlay": [{"id": "7", "over": "a", "kind": "any-offset"}, {"id": "e", "over": "d"}],
      "must_share": [], "must_not_share": [["d", "e"]],
      "dependencies": [[1], [2], [], [], []], "read_by_outputs": [0]}"#;
    let records = read("p.json", text).unwrap();
    let problem = records.problem;
    let buffers = problem.buffers().as_slice();
    assert_eq!(lives(&problem)[0], [(0, 4), (6, 9)]);
    assert_eq!(buffers[1].name, "7");
    assert_eq!(buffers[2].size, Size::Shape([4, 4].into_iter().collect()));
    assert_eq!(buffers[3].bytes(), Some(Bytes(64)));
    assert_eq!(buffers[3].slots, 2);
    assert_eq!(problem.overlays()[0].kind, OverlayKind::AnyOffset);
    assert_eq!(problem.overlays()[1].kind, OverlayKind::SameBase);
    assert_eq!(problem.dependencies().unwrap().read_by_outputs.len(), 1);
    assert_eq!(records.notes, Vec::<String>::new());
    let written = records::json::write(&problem);
    assert_eq!(self::problem("again.json", &written), problem);
    assert_eq!(records::json::write(&self::problem("again.json", &written)), written);
}

#[test]
fn json_short_form_has_closed_ends() {
    let problem = problem("p.json", r#"{"records": [[16, 0, 1], [[2, 8], 1, 1]], "alignment": 64}"#);
    assert_eq!(lives(&problem), [[(0, 2)], [(1, 2)]]);
    assert_eq!(problem.buffers().as_slice()[1].name, "1");
    assert_eq!(problem.spaces().as_slice()[0].alignment, Bytes(64));
}

#[test]
fn json_mistakes() {
    let one = |fields: &str| format!("{{\"buffers\": [\n{{\"id\": \"a\", {fields}}}]}}");
    let cases = [
        (one(r#""size": -1, "lifetime": [[0, 1]]"#), 2, 21, "expected a size of 0 or more bytes, found -1"),
        (one(r#""size": 1.5, "lifetime": [[0, 1]]"#), 2, 21, "expected a size of 0 or more bytes, found 1.5"),
        (one(r#""size": 9223372036854775808, "lifetime": [[0, 1]]"#), 2, 21, "is not below 2^63"),
        (one(r#""size": 8, "lifetime": [[3, 1]]"#), 2, 37, "the interval ends at 1, before its start at 3"),
        (one(r#""size": 8, "lifetime": [[0, 3], [2, 5]]"#), 2, 8, "two stretches of the life of buffer `a` overlap"),
        (one(r#""size": 8, "lifetime": [[0, 1, 4, 9]]"#), 2, 37, "the window does not lie inside the buffer"),
        (one(r#""size": 8, "lifetime": 3"#), 2, 36, "expected a lifetime, such as [[0, 4], [6, 9]], found 3"),
        (one(r#""lifetime": [[0, 1]]"#), 2, 1, "the field `size` is missing"),
        (one(r#""size": 8, "lifetime": [[0, 1]], "alignment": 0"#), 2, 59, "the alignment must be at least 1"),
        (one(r#""size": 8, "lifetime": [[0, 1]], "slots": 0"#), 2, 55, "expected 1 or more slots, found 0"),
        (one(r#""size": 8, "lifetime": [[0, 1]]}, {"id": "a", "size": 1, "lifetime": []"#), 2, 54, "already a buffer"),
        ("{\"spaces\": [{\"name\": \"x\"}],\n\"buffers\": [{\"id\": 1, \"size\": 1, \"lifetime\": [], \"space\": \"y\"}]}".into(), 2, 59, "there is no space called `y`"),
        ("{\"buffers\": [}".into(), 1, 14, "expected value"),
        ("{\"buffers\": [".into(), 1, 13, "EOF while parsing"),
        ("{\"records\": [[1, 2]]}".into(), 1, 14, "expected a record [size, first_task, last_task], found [1, 2]"),
        ("{\"records\": [[1, 2, 1]]}".into(), 1, 21, "the last task 1 comes before the first task 2"),
        ("{\"records\": [[1, 2, 3]], \"dependencies\": [[5]]}".into(), 1, 44, "there is no buffer number 5"),
        ("{\"records\": [[1, 2, 3]], \"dependencies\": [[0]]}".into(), 1, 14, "cycle"),
        ("{\"records\": [[1, 2, 3]], \"may_overlay\": [{\"id\": \"0\", \"over\": \"1\"}]}".into(), 1, 62, "no buffer called `1`"),
        ("{\"alignment\": 0, \"records\": []}".into(), 1, 15, "the alignment must be at least 1"),
        ("{\"capacity\": 8, \"spaces\": [{\"name\": \"x\"}], \"records\": []}".into(), 1, 14, "would have no effect"),
        ("{\"spaces\": [{\"name\": \"x\"}], \"alignment\": 8, \"records\": []}".into(), 1, 42, "would have no effect"),
        (one(r#""size": "64", "lifetime": [[0, 1]]"#), 2, 21, "the size `64` stands in quotes"),
        ("{}".into(), 1, 1, "there are neither `buffers` nor `records`"),
        ("[1]".into(), 1, 1, "expected an object with `buffers` or `records`, found [1]"),
    ];
    for (text, line, column, message) in cases {
        let error = read("p.json", &text).unwrap_err();
        assert!(error.message.contains(message), "{text}\n{error}");
        assert_eq!((error.line, error.column), (line, column), "{text}\n{error}");
    }
}

#[test]
fn json_notes_unknown_fields() {
    let text = r#"{"records": [[1, 2, 3]], "colour": "red"}"#;
    assert_eq!(read("p.json", text).unwrap().notes, ["ignored unknown fields: colour"]);
}

#[test]
fn deep_json_is_an_error_not_an_overflow() {
    let deep = format!("{{\"buffers\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(read("p.json", &deep).is_err());
}

#[test]
fn traces() {
    let text =
        "# ping-pong\nalloc a 64\nalloc b 32 16 # aligned\nfree a\noverlay c b zero\noverlay c a free\nalloc c 8\n";
    let problem = problem("p.trace", text);
    assert_eq!(lives(&problem), [[(0, 2)], [(1, 4)], [(3, 4)]]);
    assert_eq!(problem.buffers().as_slice()[1].alignment, Bytes(16));
    let kinds: Vec<OverlayKind> = problem.overlays().iter().map(|overlay| overlay.kind).collect();
    assert_eq!(kinds, [OverlayKind::SameBase, OverlayKind::AnyOffset]);
}

#[test]
fn trace_mistakes() {
    let cases = [
        ("alloc a 8\nfree b\n", 2, 6, "`b` is freed but was never allocated"),
        ("alloc a 8\nalloc a 8\n", 2, 7, "`a` is allocated a second time"),
        ("alloc a 8\nfree a\nfree a\n", 3, 6, "`a` is freed a second time"),
        ("alloc a 8\nfree a\nalloc a 8\n", 3, 7, "`a` is allocated a second time"),
        ("alloc a -8\n", 1, 9, "expected a size of 0 or more bytes, found `-8`"),
        ("alloc a 8 0\n", 1, 11, "the alignment must be at least 1"),
        ("alloc a\n", 1, 1, "expected a size in bytes after the id"),
        ("alloc a 8 8 8\n", 1, 13, "`8` is left over at the end of the line"),
        ("alloc a 9223372036854775808\n", 1, 9, "is not below 2^63"),
        ("realloc a 8\n", 1, 1, "`realloc` is not an event"),
        ("overlay b a left\nalloc b 8\n", 1, 13, "expected free (any offset) or zero (same base), found `left`"),
        ("overlay b a free\nalloc b 8\n", 1, 11, "`a` is never allocated"),
        ("alloc b 8\noverlay b a free\n", 2, 9, "`b` is allocated already"),
    ];
    for (text, line, column, message) in cases {
        let error = read("p.trace", text).unwrap_err();
        assert!(error.message.contains(message), "{text}\n{error}");
        assert_eq!((error.line, error.column), (line, column), "{text}\n{error}");
    }
}

#[test]
fn sums_past_two_to_the_63_are_errors() {
    let half = 1u64 << 62;
    let error = read("p.csv", &format!("id,lower,upper,size\na,0,1,{half}\nb,0,1,{half}\n")).unwrap_err();
    assert!(error.message.contains("2^63"), "{error}");
    assert_eq!(error.line, 3);
}

fn two_buffers() -> Problem {
    problem("p.csv", "id,lower,upper,size\na,0,2,64\nb,1,3,32\n")
}

fn planned(problem: &Problem) -> Plan {
    let mut plan = Plan::empty(problem);
    for (buffer, offset) in problem.buffers().ids().zip([0, 64]) {
        plan.placements[buffer] = Some(Placement::at(problem.buffers()[buffer].spaces[0], Bytes(offset)));
    }
    plan.fit_extents(problem);
    plan
}

#[test]
fn plans_survive_json_and_csv() {
    let problem = two_buffers();
    let plan = planned(&problem);
    let text = plan::json::write(&problem, &Outcome::Optimal(plan.clone()), "naive", Some(0.5));
    assert_eq!(plan::read(text.as_bytes(), &problem, None).unwrap(), plan);
    assert_eq!(
        text,
        r#"{"strategy":"naive","status":"optimal","extent":96,"lower_bound":96,"spaces":[{"name":"default","extent":96,"lower_bound":96,"peak_live":96,"capacity":null,"alignment":1}],"buffers":[{"id":"a","space":"default","size":64,"lifetime":[[0,2]],"offset":0,"offsets":[0],"object":null},{"id":"b","space":"default","size":32,"lifetime":[[1,3]],"offset":64,"offsets":[64],"object":null}],"objects":[],"reused":[],"seconds":0.5}
"#
    );
    let text = plan::csv::write(&problem, &plan);
    assert_eq!(text, "id,lower,upper,size,offset\na,0,2,64,0\nb,1,3,32,64\n");
    assert_eq!(plan::read(text.as_bytes(), &problem, None).unwrap(), plan);
}

#[test]
fn plan_csv_says_where_slots_and_overlays_are() {
    let text = r#"{"spaces": [{"name": "fast"}, {"name": "slow"}], "buffers": [
        {"id": "a", "size": 8, "lifetime": [[0, 4]], "space": ["fast", "slow"], "slots": 2},
        {"id": "b", "size": 8, "lifetime": [[0, 4]], "space": "fast"},
        {"id": "c", "size": 8, "lifetime": [[2, 4]], "space": "fast"}],
        "may_overlay": [{"id": "c", "over": "b"}]}"#;
    let problem = problem("p.json", text);
    let ids: Vec<_> = problem.buffers().ids().collect();
    let spaces: Vec<_> = problem.spaces().ids().collect();
    let mut plan = Plan::empty(&problem);
    let slots = [Bytes(0), Bytes(16)].into_iter().collect();
    plan.placements[ids[0]] = Some(Placement { offsets: slots, ..Placement::at(spaces[1], Bytes(0)) });
    plan.placements[ids[1]] = Some(Placement::at(spaces[0], Bytes(0)));
    plan.placements[ids[2]] = Some(Placement::at(spaces[0], Bytes(0)));
    plan.reused.push(memplan_core::Reuse { buffer: ids[2], over: vec![ids[1]] });
    plan.fit_extents(&problem);
    let text = plan::csv::write(&problem, &plan);
    assert_eq!(
        text,
        "id,lower,upper,size,space,offset,over\na,0,4,8,slow,0,\na,0,4,8,slow,16,\nb,0,4,8,fast,0,\nc,2,4,8,fast,0,b\n"
    );
    assert_eq!(plan::read(text.as_bytes(), &problem, None).unwrap(), plan);
    let error = plan::read(b"id,offset,over\na,0,z\n", &problem, None).unwrap_err();
    assert!(error.message.contains("no buffer called `z`"), "{error}");
}

#[test]
fn plans_of_other_tools() {
    let problem = two_buffers();
    let plan = plan::read(b"buffer,xla_offset\nb,64\nz,3\n", &problem, Some("xla_offset")).unwrap();
    assert_eq!(plan.unknown, ["z"]);
    assert!(plan.placements.as_slice()[0].is_none());
    assert_eq!(plan.extent(), Bytes(96));
    let in_order = plan::read(b"offset\n0\n64\n7\n", &problem, None).unwrap();
    assert_eq!(in_order.unknown, ["2"]);
    assert_eq!(in_order.extent(), Bytes(96));
    let error = plan::read(b"id,off\na,1\n", &problem, None).unwrap_err();
    assert!(error.message.contains("no column `offset`"), "{error}");
    let error = plan::read(b"id,offset\na,x\n", &problem, None).unwrap_err();
    assert_eq!((error.line, error.column), (2, 3));
    let error = plan::read(br#"{"buffers": [{"id": "a", "object": 0}]}"#, &problem, None).unwrap_err();
    assert!(error.message.contains("there is no object 0"), "{error}");
}

#[test]
fn infeasible_and_exhausted_outcomes_have_json() {
    let problem = two_buffers();
    let space = problem.buffers().as_slice()[0].spaces[0];
    let witness = memplan_core::Witness {
        space,
        buffers: problem.buffers().ids().collect(),
        step: None,
        needed: Bytes(96),
        capacity: Bytes(80),
    };
    let text = plan::json::write(&problem, &Outcome::Infeasible(witness), "auto", None);
    assert!(text.contains(r#""status":"infeasible","extent":null,"lower_bound":96,"witness":["a","b"]"#), "{text}");
    let text = plan::json::write(&problem, &Outcome::Exhausted { stop: Stop::TimeLimit }, "auto", None);
    assert!(text.contains(r#""status":"exhausted""#) && !text.contains("witness"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        fuzz::check(&bytes);
    }

    #[test]
    fn any_words(words in proptest::collection::vec(proptest::sample::select(vec![
        "id", ",", "lower", "upper", "size", "end", "gaps", "offset", "space", "\n", "\"", "0", "1", "7", "-", "@", ":", "9223372036854775807",
        "alloc ", "free ", "overlay ", "a", " b ", "zero", "{\"buffers\": [", "{\"records\": [", "]", "}", "{\"id\": \"a\", \"size\": 1, \"lifetime\": [[0, 1]]}",
        "[1, 2, 3]", "\"may_overlay\": [", "\"spaces\": [", "\"dependencies\": ", "null", "id,lower,upper,size\n", "a,0,1,8\n", "b,1,2,9\n",
    ]), 0..30)) {
        fuzz::check(words.concat().as_bytes());
    }
}

/// What a file of kernels with reuse penalties says and we do not know is named, and no problem is chosen by chance.
#[test]
fn dsa_files_say_what_is_wrong_with_them() {
    let problem = |name: &str, more: &str| {
        format!(
            r#"{{"schema_version": 1, "instance": "{name}", "problem": {{"pools": [{{"id": 1}}], "buffers": [
            {{"id": 0, "size": 4, "allowed_pools": [1], "live_intervals": [{{"lower": 0, "upper": 4, "why": 1}}]}},
            {{"id": 1, "size": 4, "allowed_pools": [1], "live_intervals": [{{"lower": 6, "upper": 9}}]}}]{more}}}}}"#
        )
        .replace('\n', " ")
    };
    let error = |text: &str, instance: Option<&str>| dsa::read(text, instance).unwrap_err().to_string();
    assert!(error("", None).contains("there is no problem in the file"), "{}", error("", None));
    let two = format!("{}\n{}\n", problem("a", ""), problem("b", ""));
    assert!(error(&two, None).contains("the file holds 2 problems: `a`, `b`"), "{}", error(&two, None));
    assert!(!error(&two, None).contains('…'));
    let twins = format!("{}\n{}\n", problem("a", ""), problem("a", ""));
    assert!(error(&twins, Some("a")).contains("two problems of the file are called `a`"));
    let constraints = r#", "constraints": {"separations": [{"first": 0, "second": 1, "gap": 4}],
        "pinned_allocations": [{"buffer": 0, "offset": 0, "hard": false}]}"#;
    let records = dsa::read(&problem("a", constraints), None).unwrap();
    let fields = "live_intervals[].why, pinned_allocations[].hard, separations[].gap";
    assert_eq!(records.notes, [format!("ignored unknown fields: {fields}")]);
}

/// Bytes that a file reserves twice are reserved, and no reason for finding no plan.
#[test]
fn dsa_ranges_that_overlap_become_one() {
    let with_ranges = |ranges: &str| {
        let text = format!(
            r#"{{"schema_version": 1, "problem": {{"buffers": [], "pools": [{{"id": 1, "capacity": 9000,
            "reserved_ranges": [{ranges}]}}]}}}}"#
        );
        let records = dsa::read(&text, None).map_err(|error| error.to_string())?;
        let buffers = records.problem.buffers().iter();
        Ok::<_, String>(
            buffers.map(|buffer| (buffer.fixed().unwrap().0, buffer.bytes().unwrap().0)).collect::<Vec<_>>(),
        )
    };
    let range = |begin: u64, end: u64| format!(r#"{{"begin": {begin}, "end": {end}}}"#);
    let of =
        |ranges: &[(u64, u64)]| with_ranges(&ranges.iter().map(|&(b, e)| range(b, e)).collect::<Vec<_>>().join(", "));
    assert_eq!(of(&[(0, 4096), (2048, 8192)]), Ok(vec![(0, 8192)]));
    assert_eq!(of(&[(0, 16), (0, 16)]), Ok(vec![(0, 16)]));
    assert_eq!(of(&[(96, 128), (0, 16), (16, 32), (8, 100), (200, 200)]), Ok(vec![(0, 128)]));
    assert_eq!(of(&[(64, 96), (0, 16)]), Ok(vec![(64, 32), (0, 16)]), "others stay as they are");
    assert_eq!(of(&[(8192, 10_000)]), Ok(vec![(8192, 808)]), "what is beyond the capacity is not there");
    let error = of(&[(4096, 0)]).unwrap_err();
    assert!(error.contains("ends at 0, before its begin at 4096"), "{error}");
}

/// Ids are unique in these files, and names need not be: not those of pools, nor with the names that we make.
#[test]
fn dsa_names_become_unique() {
    let pool = |id: u64, name: &str| {
        format!(r#"{{"id": {id}, "name": "{name}", "capacity": 64, "reserved_ranges": [{{"lower": 0, "upper": 8}}]}}"#)
    };
    let buffer = |id: u64, name: &str| {
        format!(
            r#"{{"id": {id}, "name": "{name}", "size": 4, "allowed_pools": [0], "live_intervals": [{{"lower": 0, "upper": 4}}]}}"#
        )
    };
    let pools = [pool(0, "Vec"), pool(1, "Vec"), pool(2, "Vec#1")].join(", ");
    let buffers = [buffer(3, "a"), buffer(1, "a"), buffer(2, "a#1"), buffer(4, "reserved Vec#0 0")].join(", ");
    let text = format!(r#"{{"schema_version": 1, "problem": {{"pools": [{pools}], "buffers": [{buffers}]}}}}"#);
    let problem = dsa::read(&text, None).unwrap().problem;
    let spaces: Vec<&str> = problem.spaces().iter().map(|space| space.name.as_str()).collect();
    assert_eq!(spaces, ["Vec#0", "Vec#1#1", "Vec#1"]);
    let names: Vec<&str> = problem.buffers().iter().map(|buffer| buffer.name.as_str()).collect();
    let reserved = ["reserved Vec#0 0#", "reserved Vec#1#1 0", "reserved Vec#1 0"];
    assert_eq!(names, [&["a#3", "a#1#1", "a#1", "reserved Vec#0 0"][..], &reserved].concat());
}

#[test]
fn every_buffer_of_a_trace_has_a_name_of_its_own() {
    let mut builder = ProblemBuilder::new();
    let space = builder.space(Space { alignment: Bytes(16), ..Space::new("sram") });
    for (name, size) in [("a b", 1), ("a#b", 2), ("a_b", 3), ("#", 4), ("", 5)] {
        let buffer = Buffer { alignment: Bytes(24), ..Buffer::new(name, size, Lifetime::new(0, 2)) };
        builder.buffer(Buffer { spaces: [space].into_iter().collect(), ..buffer });
    }
    let slots = Buffer { slots: 2, ..Buffer::new("slots", 6, Lifetime::new(0, 2)) };
    builder.buffer(slots);
    builder.buffer(Buffer::new("fixed", 7, Lifetime::new(0, 2)).with_fixed(Bytes(0)));
    let (text, notes) = records::trace::write(&builder.build().unwrap());
    let again = problem("again.trace", &text);
    let read: Vec<(&str, u64, u64)> = again
        .buffers()
        .iter()
        .map(|buffer| (buffer.name.as_str(), buffer.bytes().unwrap().0, buffer.alignment.0))
        .collect();
    let expected = [("a_b_2", 1), ("a_b_3", 2), ("a_b", 3), ("_", 4), ("__2", 5)].map(|(name, size)| (name, size, 48));
    assert_eq!(read, [&expected[..], &[("slots", 6, 16), ("fixed", 7, 16)]].concat());
    assert_eq!(notes, ["several slots", "fixed offsets"].map(|what| format!("a trace has no {what}; 1 left out")));
}

#[test]
fn a_space_may_have_any_name_in_a_list() {
    let mut builder = ProblemBuilder::new();
    let spaces = ["a|b", "c\\", "d"].map(|name| builder.space(Space::new(name)));
    builder.buffer(Buffer { spaces: spaces.into_iter().collect(), ..Buffer::new("x", 8, Lifetime::new(0, 2)) });
    let problem_of = builder.build().unwrap();
    assert_eq!(problem("again.csv", &records::csv::write(&problem_of)), problem_of);
    // A backslash before another letter, in a file that was written by hand, is a part of the name.
    let by_hand = problem("hand.csv", "id,lower,upper,size,space\nx,0,2,8,c\\d|e\n");
    assert_eq!(by_hand.spaces().iter().map(|space| space.name.as_str()).collect::<Vec<_>>(), ["c\\d", "e"]);
}

#[test]
fn an_alignment_of_several_spaces_is_right_in_each() {
    let mut builder = ProblemBuilder::new();
    let spaces =
        [24, 16].map(|bytes| builder.space(Space { alignment: Bytes(bytes), ..Space::new(bytes.to_string()) }));
    builder.buffer(Buffer { spaces: spaces.into_iter().collect(), ..Buffer::new("x", 8, Lifetime::new(0, 2)) });
    let text = records::dsa::write(&builder.build().unwrap(), "two").unwrap();
    assert!(text.contains("\"alignment\":48"), "{text}");
}
