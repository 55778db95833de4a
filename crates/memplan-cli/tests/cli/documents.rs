//! The command reference, generated from the command itself.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::book::workspace;
use crate::help::COMMANDS;
use crate::run::{Folder, assert_current};

#[test]
fn the_command_reference_is_current() {
    let help = |args: &str| Folder::new().run(args).stdout;
    let mut page = String::from(
        "# Command reference\n\nGenerated from the command's own help; `MEMPLAN_BLESS=1 cargo test -p memplan-cli` rewrites it.\n",
    );
    page.push_str(&format!("\n## memplan\n\n```text\n{}```\n", help("--help")));
    for command in COMMANDS {
        page.push_str(&format!("\n## memplan {command}\n\n```text\n{}```\n", help(&format!("{command} --help"))));
    }
    assert_current("docs/cli.md", &page);
}

fn is_documented(page: &str, field: &str) -> bool {
    page.contains(&format!("`{field}`")) || page.contains(&format!("\"{field}\""))
}

/// What the reader of problems takes, as its source spells it.
#[test]
fn every_field_of_a_problem_is_documented() {
    let reader = include_str!("../../../memplan-models/src/records/json.rs");
    let page = std::fs::read_to_string(workspace().join("docs/file-formats.md")).unwrap();
    let mut fields = BTreeSet::new();
    for call in ["need(\"", "take(\"", "bytes(\""] {
        fields.extend(reader.split(call).skip(1).filter_map(|rest| rest.split('"').next()));
    }
    assert!(fields.contains("lifetime") && fields.len() > 15, "{fields:?}");
    let missing: Vec<&&str> = fields.iter().filter(|field| !is_documented(&page, field)).collect();
    assert!(missing.is_empty(), "docs/file-formats.md does not say what {missing:?} are");
}

/// The names of all fields of a JSON value.
fn fields_of(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            found.insert(name.clone());
            fields_of(value, found);
        }),
        Value::Array(values) => values.iter().for_each(|value| fields_of(value, found)),
        _ => {}
    }
}

/// What plans are written with: by offsets, by objects, in place, and where there is none.
#[test]
fn every_field_of_a_plan_is_documented() {
    let folder = Folder::with(&[("ten.json", crate::browser::TEN), ("small.csv", crate::plan::SMALL)]);
    let mut fields = BTreeSet::new();
    for words in [
        "plan ten.json --json",
        "plan small.csv --assign objects --json",
        "plan small.csv --capacity 10 --json",
        "plan small.csv -s first-fit-start --json",
    ] {
        fields_of(&folder.run(words).json(), &mut fields);
    }
    let page = std::fs::read_to_string(workspace().join("docs/file-formats.md")).unwrap();
    let missing: Vec<&String> = fields.iter().filter(|field| !is_documented(&page, field)).collect();
    assert!(missing.is_empty(), "docs/file-formats.md does not say what {missing:?} are");
}
