//! Everything that can be wrong with a request, in the words users see.

use insta::assert_snapshot;

use crate::plan::SMALL;
use crate::run::Folder;

/// What the command says to each of the requests, all of which are wrong.
fn errors(files: &[(&str, &str)], requests: &[&str]) -> String {
    let folder = Folder::with(files);
    let mut transcript = String::new();
    for request in requests {
        let ran = folder.run(request);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{request}: {}", ran.stderr);
        transcript.push_str(&format!("$ memplan {request}\n{}\n", ran.stderr));
    }
    transcript
}

#[test]
fn typos_in_files_are_shown_where_they_are() {
    let files = [
        ("small.csv", SMALL),
        ("typo.csv", "id,lower,upper,size\na,0,2,64\nb,1,3x,32\n"),
        ("plan.json", "{\"buffers\": [\n  {\"id\": \"a\", \"offset\": -4}\n]}"),
        ("short.csv", "id,lower,upper\na,0,2\n"),
        ("twice.trace", "alloc a 64\n# again\nalloc a 32\n"),
    ];
    let requests = ["plan typo.csv", "verify small.csv plan.json", "compare short.csv", "show twice.trace -o map.svg"];
    assert_snapshot!("typos", errors(&files, &requests));
}

#[test]
fn an_error_far_out_on_a_long_line_is_cut_out_of_it() {
    let records = vec!["[16, 0, 1]"; 100_000].join(", ");
    let file = format!("{{\"records\": [{records}, [16, 5, 1]]}}");
    let message = errors(&[("long.json", &file)], &["plan long.json"]);
    assert!(message.contains("long.json:1:1200022"), "{message}");
    assert!(message.len() < 2_000, "{}", message.len());
}

#[test]
fn files_that_do_not_exist_or_say_nothing() {
    let files = [("empty.csv", ""), ("what.xyz", "hello\n")];
    assert_snapshot!("files", errors(&files, &["plan nothere.csv", "plan empty.csv", "plan what.xyz", "verify - -"]));
}

#[test]
fn bytes_that_are_no_text() {
    let folder = Folder::new();
    std::fs::write(folder.path("binary.csv"), b"id,lower,upper,size\na,0,2,\xff\xfe\n").unwrap();
    let ran = folder.run("plan binary.csv");
    assert_eq!(ran.code, 2);
    assert_snapshot!("bytes_that_are_no_text", ran.stderr);
}

#[test]
fn outputs_of_unknown_kind() {
    let requests = [
        "plan small.csv -o plan.txt",
        "plan small.csv --map map.png",
        "show small.csv -o map",
        "plan small.csv -o nowhere/plan.json",
    ];
    assert_snapshot!("outputs", errors(&[("small.csv", SMALL)], &requests));
}

#[test]
fn targets_that_do_not_go_with_the_input() {
    let spaces = r#"{"spaces": [{"name": "ub"}, {"name": "l1"}], "buffers": [{"id": "a", "size": 8, "lifetime": [[0, 2]], "space": "ub"}]}"#;
    let files = [("spaces.json", spaces), ("fixed.csv", "id,lower,upper,size,offset\na,0,2,64,8\n")];
    let requests = [
        "plan spaces.json --capacity 64",
        "plan spaces.json --space l2=64",
        "plan spaces.json --space ub=64 --space ub=32",
        "plan fixed.csv --align 16",
    ];
    assert_snapshot!("targets", errors(&files, &requests));
}

#[test]
fn strategies_that_cannot_say_why() {
    let tied = r#"{"buffers": [{"id": "a", "size": 8, "lifetime": [[0, 2]], "tie": {"group": "g", "at": 0}}]}"#;
    let files = [("tied.json", tied), ("small.csv", SMALL)];
    let requests = ["plan tied.json -s naive", "plan small.csv -s first-fit --assign objects"];
    assert_snapshot!("refusals", errors(&files, &requests));
}

#[test]
fn wrong_usage() {
    let typo = errors(&[], &["plan -s gredy-by-size"]);
    assert!(typo.contains("tip:") && typo.contains("'greedy-by-size'"), "{typo}");
    assert!(errors(&[], &["plan - --format jsn"]).contains("tip: a similar value exists: 'json'"));
    let requests = [
        "plna",
        "plan --capacity 12parsecs",
        "plan --align 0",
        "plan --space sram",
        "plan --time-limit soon",
        "plan --json -o plan.json",
        "show x.csv",
    ];
    assert_snapshot!("usage", errors(&[], &requests));
}
