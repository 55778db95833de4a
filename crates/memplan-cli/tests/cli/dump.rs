//! `memplan dump`.

use insta::assert_snapshot;

use crate::plan::SMALL;
use crate::run::Folder;

#[test]
fn every_stage_of_records() {
    let records = "id,lower,upper,size,gaps\na,0,9,64,2-4 5-7@0:16\nb,2,4,64,\n";
    let folder = Folder::with(&[("gaps.csv", records)]);
    for stage in ["lifetimes", "plan", "problem"] {
        assert_snapshot!(
            format!("dump_{stage}"),
            folder.run(&format!("dump gaps.csv --stage {stage} --capacity 1KiB")).all()
        );
    }
}

#[test]
fn a_dumped_problem_is_the_same_problem() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    let once = folder.run("dump small.csv --stage problem").stdout;
    let twice = folder.run_with_input("dump - --format json --stage problem", once.as_bytes()).stdout;
    assert_eq!(once, twice);
}

#[test]
fn without_a_plan_the_answer_is_no() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    let ran = folder.run("dump small.csv --stage plan --capacity 8");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "infeasible\n"));
}
