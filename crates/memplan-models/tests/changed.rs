//! Real models that are computed tile by tile: right ones pass, and a model with a mistake that passes all the same
//! computes the same bits in TensorFlow Lite Micro and in LiteRT.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that says what was skipped")]

use std::collections::BTreeMap;
use std::process::Command;

use memplan_models::tflite::description::describe;
use memplan_testkit::peers;
use memplan_verify::equivalence::{Contents, check};
use serde_json::Value;

/// Runs a script of the peers; `None` if a Python package is missing.
fn peer(script: &str, arguments: &[String]) -> Option<Value> {
    let python = peers::python("tflite_micro, ai_edge_litert, flatbuffers, numpy")?;
    let script = format!("{}/../../tests/peers/{script}", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(python).arg(script).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_str(text.trim().lines().last().unwrap()).unwrap())
}

/// Why the check refuses a changed model; `None` if it does not.
fn refusal(original: &str, changed: &str) -> Option<String> {
    let mut contents = Contents::default();
    let original = describe(&std::fs::read(original).unwrap(), &mut contents).unwrap();
    match describe(&std::fs::read(changed).unwrap(), &mut contents) {
        Ok(changed) => check(&original, &changed).err().map(|violation| violation.to_string()),
        Err(error) => Some(error.to_string()),
    }
}

#[test]
fn what_passes_computes_the_same_in_real_runtimes() {
    let folder = tempfile::tempdir().unwrap();
    let count = if std::env::var_os("MEMPLAN_FULL").is_some() { "300" } else { "5" };
    let place = folder.path().display().to_string();
    let Some(models) = peer("changed_networks.py", &[place, count.to_owned()]) else { return };
    let mut passed: Vec<String> = Vec::new();
    let mut mistakes = BTreeMap::<String, [usize; 2]>::new();
    for triple in models.as_array().unwrap() {
        let [original, changed] = [0, 1].map(|index| triple[index].as_str().unwrap().to_owned());
        let refused = refusal(&original, &changed);
        match triple[2].as_str() {
            None => assert_eq!(refused, None, "{changed} is right"),
            Some(mistake) => mistakes.entry(mistake.to_owned()).or_default()[usize::from(refused.is_none())] += 1,
        }
        if refused.is_none() {
            passed.extend([original, changed, "0".to_owned()]);
        }
    }
    for (three, ran) in passed.chunks(3).zip(peer("changed_peer.py", &passed).unwrap().as_array().unwrap()) {
        assert_eq!((&ran["tflm"], &ran["litert"]), (&true.into(), &true.into()), "{three:?}: {ran}");
    }
    // Swapped ops may be independent, and a window that fits has no padding of either kind. All other mistakes are ones.
    for (mistake, [refused, accepted]) in &mistakes {
        let may_be_none = ["order", "padding", "operand", "border_value"].contains(&mistake.as_str());
        assert!(*accepted == 0 || may_be_none, "{mistake}: {accepted} accepted");
        assert!(*refused > 0, "{mistake}: none refused");
    }
    assert!(mistakes.len() >= 10, "{mistakes:?}");
}
