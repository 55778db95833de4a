//! `explain`, `plan --warm`, `plan --work`, `bench corpus`.

use serde_json::json;

use crate::run::Folder;

const THREE: &str = "id,lower,upper,size\na,0,4,30\nb,0,4,20\nc,2,6,10\nlate,7,9,40\n";

#[test]
fn explain_names_those_that_cannot_be_together() {
    let folder = Folder::with(&[("three.csv", THREE)]);
    let ran = folder.run("explain three.csv --capacity 45 --json");
    assert_eq!(ran.code, 1);
    let obstacle = &ran.json()["obstacle"];
    assert_eq!(obstacle["buffers"], json!(["a", "b"]));
    assert_eq!((&obstacle["needed"], &obstacle["step"]), (&json!(50), &json!(0)));
    assert_eq!(obstacle["single"], json!(["a", "b"]), "40 or 30 bytes remain at most");
    assert_eq!((&obstacle["space"], &obstacle["spaces"]), (&json!("default"), &json!(["default"])));
    assert_eq!(obstacle["capacity"], 45);
    // Without a capacity it is a byte less than the plan needs.
    let smaller = folder.run("explain three.csv --json").json();
    assert_eq!(smaller["obstacle"]["capacity"], smaller["extent"].as_u64().unwrap() - 1);
    let text = folder.run("explain three.csv");
    assert_eq!(text.code, 0);
    assert!(text.stdout.contains("keeps it from being smaller"), "{}", text.stdout);
    assert_eq!(folder.run("explain three.csv --capacity 1KiB").code, 0);
}

#[test]
fn a_repaired_plan_keeps_what_it_can() {
    let folder = Folder::with(&[("three.csv", THREE), ("grown.csv", &THREE.replace("a,0,4,30", "a,0,4,31"))]);
    assert_eq!(folder.run("plan three.csv -o old.json").code, 0);
    let same = folder.run("plan three.csv --warm old.json");
    assert!(same.stderr.contains("4 of 4 buffers stay"), "{}", same.stderr);
    let grown = folder.run("plan grown.csv --warm old.json");
    assert_eq!(grown.code, 0);
    assert!(grown.stderr.contains("3 of 4 buffers stay"), "{}", grown.stderr);
    assert_eq!(folder.run("plan three.csv --warm old.json --assign objects").code, 2);
}

#[test]
fn the_same_work_gives_the_same_plan() {
    let folder = Folder::with(&[("three.csv", THREE)]);
    let [one, two] = [(); 2].map(|()| folder.run("plan three.csv -s search --work 1000 --json").json());
    assert_eq!(one["buffers"], two["buffers"]);
    assert_eq!(one["status"], "optimal");
}

#[test]
fn the_scoreboard_fails_if_an_extent_got_worse() {
    let folder = Folder::with(&[("three.csv", THREE), ("best.csv", "name,extent,lower_bound\nthree,60,60\n")]);
    let fine = folder.run("bench corpus --corpus .");
    assert_eq!(fine.code, 0, "{}{}", fine.stdout, fine.stderr);
    assert!(fine.stdout.contains("none worse"), "{}", fine.stdout);
    std::fs::write(folder.path("best.csv"), "name,extent,lower_bound\nthree,59,59\n").unwrap();
    assert_eq!(folder.run("bench corpus --corpus .").code, 1);
    assert_eq!(folder.run("bench corpus --corpus nowhere").code, 2);
}

/// A rectangle cut into many buffers: the bound is its height, and hardly anybody can put it together again.
fn jigsaw(count: usize) -> String {
    let mut random = memplan_testkit::Random::new(1);
    let mut below = |limit: u64| random.below(limit);
    let mut parts = vec![(0, 300, 1_000_000)];
    while parts.len() < count {
        let index = below(parts.len() as u64) as usize;
        let (start, end, height) = parts[index];
        if below(2) == 0 && end - start > 1 {
            let middle = start + 1 + below(end - start - 1);
            parts[index] = (start, middle, height);
            parts.push((middle, end, height));
        } else if height > 1 {
            let low = 1 + below(height - 1);
            parts[index] = (start, end, low);
            parts.push((start, end, height - low));
        }
    }
    let line = |(id, (start, end, height)): (usize, &(u64, u64, u64))| format!("{id},{start},{end},{height}\n");
    let lines: String = parts.iter().enumerate().map(line).collect();
    format!("id,lower,upper,size\n{lines}")
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_prints_its_best_plan() {
    use std::process::Command;
    use std::time::{Duration, Instant};

    let folder = Folder::with(&[("hard.csv", &jigsaw(500))]);
    let args = ["plan", "hard.csv", "--effort", "thorough", "--json"];
    let child = crate::run::command(&folder.path("")).args(args).spawn().unwrap();
    let start = Instant::now();
    std::thread::sleep(Duration::from_millis(700));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(60), "it went on");
    assert_eq!(output.status.code(), Some(0));
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["status"], "feasible");
    assert_eq!(plan["buffers"].as_array().unwrap().len(), 500);
}
