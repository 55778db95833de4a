//! Storage rewrite against the decisions recorded from TVM.

use crate::JUDGE;
use crate::interpreter::options;
use crate::records::{Record, records};
use memplan_tensor::interpret::{Order, run_traced};
use memplan_tensor::rewrite::{Mode, RewriteOptions, Rewritten, allocation_sites, storage_rewrite};
use memplan_tensor::script::Script;

/// The text that the pass gets: after flattening, where that came first.
fn input(record: &Record) -> Script {
    let text = record.text("flat_text").or(record.text("in_text")).expect("an input");
    Script::read(text).expect("a readable text")
}

fn rewrite(script: &Script, mode: Mode) -> Result<Rewritten, memplan_tensor::rewrite::RewriteError> {
    let options = RewriteOptions { mode, ..RewriteOptions::default() };
    storage_rewrite(&script.functions()[0], &options, JUDGE)
}

/// Whether TVM's result is recorded as right.
fn tvm_is_right(record: &Record) -> bool {
    let wrong = record.0["tvm_wrong"].as_bool() == Some(true);
    record.0["error"].is_null() && !wrong && record.text("model") != Some("value_differs")
}

/// The first difference between our allocations and places and the recorded ones.
fn difference(record: &Record, script: &Script, rewritten: &Rewritten) -> Option<String> {
    let sites = allocation_sites(&rewritten.function);
    let expected = record.0["allocs"].as_array().expect("allocations");
    if sites.len() != expected.len() {
        return Some(format!("{} allocations instead of {}", sites.len(), expected.len()));
    }
    for (site, expected) in sites.iter().zip(expected) {
        let ours = (
            site.name.as_str(),
            site.dtype.to_string(),
            site.extents.clone(),
            site.scope.to_string(),
            site.path.as_str(),
        );
        let text = |key: &str| expected[key].as_str().unwrap_or("").to_owned();
        let extents: Vec<String> = expected["extents"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|extent| extent.as_str().unwrap_or("").to_owned())
            .collect();
        if ours.0 != text("name")
            || ours.1 != text("dtype")
            || ours.2 != extents
            || ours.3 != text("scope")
            || ours.4 != text("path")
        {
            return Some(format!("{ours:?} instead of {expected}"));
        }
    }
    let places = rewritten.places(&script.functions()[0]);
    for (name, expected) in record.0["map"].as_object().expect("a map") {
        let Some(place) = places.iter().find(|place| place.name == *name) else {
            return Some(format!("{name} is nowhere"));
        };
        let offset = expected["offset"].as_u64();
        if Some(place.root.as_str()) != expected["root"].as_str() || offset.is_some_and(|offset| offset != place.offset)
        {
            return Some(format!("{place:?} instead of {expected}"));
        }
    }
    None
}

#[test]
fn compat_makes_the_recorded_decisions_where_they_are_right() {
    let (mut same, mut refused, mut problems) = (0, 0, Vec::new());
    for record in records() {
        let script = input(&record);
        match (rewrite(&script, Mode::Compat), tvm_is_right(&record)) {
            (Ok(rewritten), true) => match difference(&record, &script, &rewritten) {
                None => same += 1,
                Some(difference) => problems.push(format!("{}: {difference}", record.id())),
            },
            (Err(_), false) => refused += 1,
            (Err(error), true) => {
                problems.push(format!("{} {}: {error}", record.id(), record.text("family").unwrap_or("")));
            }
            (Ok(_), false) => problems.push(format!("{}: not refused", record.id())),
        }
    }
    assert!(
        problems.is_empty(),
        "{same} same, {refused} refused, {} problems:\n{}",
        problems.len(),
        problems.join("\n")
    );
    assert!(same + refused == records().len() && same > refused);
}

/// The bits that all allocations of a recorded list need, with the recorded symbol values.
fn recorded_bits(record: &Record) -> Option<u64> {
    record.0["allocs"].as_array()?.iter().try_fold(0u64, |total, alloc| {
        let dtype: memplan_tensor::DType = alloc["dtype"].as_str()?.parse().ok()?;
        let elements = alloc["extents"]
            .as_array()?
            .iter()
            .try_fold(1u64, |product, extent| product.checked_mul(evaluate(record, extent.as_str()?)?))?;
        total.checked_add(elements.checked_mul(dtype.total_bits())?)
    })
}

fn our_bits(record: &Record, rewritten: &Rewritten) -> Option<u64> {
    allocation_sites(&rewritten.function).iter().try_fold(0u64, |total, site| {
        let elements =
            site.extents.iter().try_fold(1u64, |product, extent| product.checked_mul(evaluate(record, extent)?))?;
        total.checked_add(elements.checked_mul(site.dtype.total_bits())?)
    })
}

/// The value of a printed extent, by running a program that stores it.
fn evaluate(record: &Record, extent: &str) -> Option<u64> {
    let symbols: Vec<String> = record.0["program"]["symvals"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| format!("{name}: T.int32, "))
        .collect();
    let text =
        format!("@T.prim_func\ndef main({}O: T.Buffer((1,), \"int64\")):\n    O[0] = {extent}\n", symbols.concat());
    let script = Script::read(&text).ok()?;
    let outputs = run_traced(&script.functions()[0], &options(record, 0, Order::Forward)).ok()?;
    outputs.0[0].to_string().rsplit(' ').next()?.parse().ok()
}

#[test]
fn default_is_right_for_all_and_never_larger() {
    let (mut checked, mut compared, mut problems) = (0, 0, Vec::new());
    for record in records() {
        let script = input(&record);
        let before = &script.functions()[0];
        let rewritten = match rewrite(&script, Mode::Sound) {
            Ok(rewritten) => rewritten,
            Err(error) => {
                problems.push(format!("{}: {error}", record.id()));
                continue;
            }
        };
        for order in [Order::Forward, Order::Backward, Order::Lockstep] {
            let options = options(&record, 3, order);
            let Ok(expected) = run_traced(before, &options) else { continue };
            checked += 1;
            let after = run_traced(&rewritten.function, &options);
            if after != Ok(expected) {
                problems.push(format!("{} {order:?}: {:?}", record.id(), after.err()));
            }
        }
        if tvm_is_right(&record) {
            match (our_bits(&record, &rewritten), recorded_bits(&record)) {
                (Some(ours), Some(theirs)) if ours > theirs => {
                    problems.push(format!("{}: {ours} bits, TVM {theirs}", record.id()));
                }
                (Some(_), Some(_)) => compared += 1,
                _ => problems.push(format!("{}: sizes cannot be compared", record.id())),
            }
        }
    }
    assert!(
        problems.is_empty(),
        "{checked} runs, {compared} sizes, {} problems:\n{}",
        problems.len(),
        problems.join("\n")
    );
    assert!(checked > 400 && compared > 200, "{checked} runs, {compared} sizes");
}

/// The rewritten text reads back as a function that still computes the same.
#[test]
fn rewritten_texts_read_back() {
    for record in records() {
        let script = input(&record);
        for mode in [Mode::Sound, Mode::Compat] {
            let Ok(rewritten) = rewrite(&script, mode) else { continue };
            let options = options(&record, 5, Order::Forward);
            let before = run_traced(&script.functions()[0], &options);
            let mut changed = script.clone();
            changed.functions_mut()[0] = rewritten.function;
            let text = changed.print();
            let again = Script::read(&text).unwrap_or_else(|error| {
                let (line, column) = error.line_column(&text);
                panic!("{} {line}:{column}: {error}\n{text}", record.id())
            });
            if let Ok(before) = before {
                assert_eq!(run_traced(&again.functions()[0], &options), Ok(before), "{}\n{text}", record.id());
            }
        }
    }
}

/// One arena per memory is right for all records; so is what compatible mode does not refuse.
#[test]
fn arenas_and_compat_are_right_for_all() {
    let (mut arenas, mut compatible) = (0, 0);
    for record in records() {
        let script = input(&record);
        let before = &script.functions()[0];
        let options = RewriteOptions { strategy: Some("auto".to_owned()), ..RewriteOptions::default() };
        let arena = storage_rewrite(before, &options, JUDGE).unwrap_or_else(|error| panic!("{}: {error}", record.id()));
        let compat = rewrite(&script, Mode::Compat).ok();
        for order in [Order::Forward, Order::Backward, Order::Lockstep] {
            let options = crate::interpreter::options(&record, 11, order);
            let Ok(expected) = run_traced(before, &options) else { continue };
            if let Some(compat) = &compat {
                let found = run_traced(&compat.function, &options);
                assert_eq!(found.as_ref(), Ok(&expected), "{} compat", record.id());
                compatible += 1;
            }
            assert_eq!(run_traced(&arena.function, &options), Ok(expected), "{}", record.id());
            arenas += 1;
        }
    }
    assert!(arenas > 400 && compatible > 300, "{arenas} arenas, {compatible} compatible");
}

/// The dataflow check, which knows nothing of how layouts are found, accepts every one of ours.
#[test]
fn dataflow_check_accepts_every_layout() {
    let mut checked = 0;
    for record in records() {
        let script = input(&record);
        let before = &script.functions()[0];
        let arena = RewriteOptions { strategy: Some("auto".to_owned()), ..RewriteOptions::default() };
        let compat = RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() };
        for options in [RewriteOptions::default(), compat, arena] {
            let Ok(rewritten) = storage_rewrite(before, &options, JUDGE) else { continue };
            let violations =
                memplan_tensor::lower::check_layout(before, &rewritten.layout, JUDGE).expect("a well-formed program");
            assert!(violations.is_empty(), "{} {options:?}: {violations:#?}", record.id());
            assert!(rewritten.repairs.is_empty(), "{} {options:?}: {:#?}", record.id(), rewritten.repairs);
            checked += 1;
        }
    }
    assert!(checked > 600, "{checked} layouts");
}

/// Flattening first gives what the recorded two-pass programs give.
#[test]
fn flattening_agrees_with_the_recorded_pass() {
    let mut compared = 0;
    for record in records() {
        if record.text("flat_text").is_none() {
            continue;
        }
        let script = Script::read(record.text("in_text").expect("an input")).expect("a readable text");
        let before = &script.functions()[0];
        let compat = RewriteOptions { mode: Mode::Compat, flatten: true, ..RewriteOptions::default() };
        let rewritten = storage_rewrite(before, &compat, JUDGE).expect("flat");
        assert_eq!(difference(&record, &script, &rewritten), None, "{}", record.id());
        // Without flattening the default shares buffers of any rank.
        let several = storage_rewrite(before, &RewriteOptions::default(), JUDGE).expect("rewritten");
        for after in [&rewritten, &several] {
            assert_eq!(allocation_sites(&after.function).len(), record.0["allocs"].as_array().expect("a list").len());
            let options = crate::interpreter::options(&record, 2, Order::Forward);
            assert_eq!(run_traced(&after.function, &options), run_traced(before, &options), "{}", record.id());
        }
        compared += 1;
    }
    assert!(compared >= 3);
}
