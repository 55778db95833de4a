//! `memplan compare`.

use memplan::planner::STRATEGIES;

use crate::plan::SMALL;
use crate::run::Folder;

#[test]
fn every_strategy_is_listed_smallest_extent_first() {
    let ran = Folder::new().run("compare");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("mobilenet_v2: 65 buffers, lower bound 5.742 MiB (6021120 bytes)\n\n"));
    for strategy in STRATEGIES {
        let name = strategy.name();
        let in_table = ran.stdout.lines().any(|line| line.split_whitespace().next() == Some(name));
        assert!(in_table || ran.stdout.contains(&format!("strategy `{name}`")), "{name} is missing:\n{}", ran.stdout);
    }
    let json = Folder::new().run("compare --json").json();
    let extents: Vec<u64> =
        json["strategies"].as_array().unwrap().iter().filter_map(|entry| entry["extent"].as_u64()).collect();
    assert!(extents.is_sorted() && extents[0] == 6_021_120, "{extents:?}");
}

#[test]
fn the_table_is_aligned() {
    let ran = Folder::new().run("compare --assign offsets");
    let table: Vec<&str> = ran.stdout.lines().skip(2).take_while(|line| !line.is_empty()).collect();
    let end_of_extent = table[0].find("extent").unwrap() + "extent".len();
    for line in &table[1..] {
        assert!(line[..end_of_extent].ends_with("iB"), "{line}");
        assert_eq!(&line[end_of_extent..end_of_extent + 2], "  ", "{line}");
    }
}

#[test]
fn refusals_are_given_with_their_reason() {
    let problem = r#"{"buffers": [{"id": "a", "size": 8, "lifetime": [[0, 2]], "tie": {"group": "g", "at": 0}}]}"#;
    let folder = Folder::with(&[("tied.json", problem)]);
    let ran = folder.run("compare tied.json");
    let (_, refused) = ran.stdout.split_once("not applicable:\n").unwrap();
    assert!(refused.contains("does not support tie groups (buffer `a`)"), "{refused}");
}

#[test]
fn one_kind_of_plan_only() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    let json = folder.run("compare small.csv --assign objects --json").json();
    for entry in json["strategies"].as_array().unwrap() {
        assert_eq!(entry["assign"], "objects");
        assert!(entry["objects"].as_u64().is_some());
    }
}

#[test]
fn when_nothing_fits_the_answer_is_no() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    let ran = folder.run("compare small.csv --capacity 80");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("infeasible"), "{}", ran.stdout);
}
