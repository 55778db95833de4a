//! The recorded TVM programs.

use serde_json::Value;
use std::path::PathBuf;

/// One recorded program.
pub(crate) struct Record(pub(crate) Value);

impl Record {
    pub(crate) fn text<'a>(&'a self, key: &str) -> Option<&'a str> {
        self.0.get(key).and_then(Value::as_str)
    }

    pub(crate) fn id(&self) -> &str {
        self.text("id").unwrap_or("?")
    }
}

/// All records; `MEMPLAN_TVM_RECORDS` may name another file of the same format.
pub(crate) fn records() -> Vec<Record> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/tvm/script27.jsonl");
    let path = std::env::var_os("MEMPLAN_TVM_RECORDS").map_or(default, PathBuf::from);
    let text = std::fs::read_to_string(&path).expect("the recorded programs");
    let records: Vec<Record> =
        text.lines().map(|line| Record(serde_json::from_str(line).expect("one JSON object a line"))).collect();
    assert!(!records.is_empty(), "no records in {}", path.display());
    records
}
