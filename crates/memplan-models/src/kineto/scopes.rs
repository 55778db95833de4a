//! Names for allocations: the operators and Python functions that were running at the time.
//!
//! A span is an event with a duration, such as the call of an operator. The spans of a thread nest, as calls do. So
//! the spans around a moment form a stack, and one pass over spans and allocations in the order of time keeps it up
//! to date:
//!
//! ```text
//! train.py(17): forward  ├──────────────────────────┤
//! aten::linear              ├──────────────┤
//! aten::addmm                  ├───────┤
//! [memory]                         ↑        stack: forward, linear, addmm
//! ```

use std::collections::BTreeMap;

use super::{Change, Event, by_thread};

/// How many spans of a stack are looked at for a name: the innermost ones.
const FRAMES: usize = 64;

/// What the autograd engine writes before the name of a backward function.
const ENGINE: &str = "autograd::engine::evaluate_function: ";

/// The spans of every thread, by the time at which they begin.
pub(super) struct Scopes<'a> {
    /// The spans of each thread, the earliest first.
    threads: BTreeMap<&'a str, Vec<&'a Event<'a>>>,
}

impl<'a> Scopes<'a> {
    /// Collects the spans among the events of a trace: operators, and Python functions if stacks were recorded.
    pub(super) fn new(events: &'a [Event<'a>]) -> Scopes<'a> {
        let is_scope = |event: &&Event| matches!(&*event.cat, "cpu_op" | "python_function");
        let mut threads = by_thread(events.iter().filter(is_scope).map(|event| (event.thread(), event)));
        for spans in threads.values_mut() {
            // Of two spans that begin together, the longer one is the outer one and must come first.
            spans.sort_by(|one, other| one.ts.total_cmp(&other.ts).then(other.dur.total_cmp(&one.dur)));
        }
        Scopes { threads }
    }

    /// A name for each memory event; `changes` are these events in the order of their times.
    pub(super) fn names(&self, changes: &[Change<'a>]) -> Vec<String> {
        let mut names = vec![String::new(); changes.len()];
        let changes = changes.iter().enumerate().map(|(index, change)| (change.thread, (index, change.time)));
        for (thread, moments) in by_thread(changes) {
            let mut spans = self.threads.get(thread).map_or(&[][..], Vec::as_slice).iter().peekable();
            let mut stack: Vec<&Event> = Vec::new();
            for (index, time) in moments {
                // Push the spans that have begun since the last event, then pop those that are over.
                while let Some(&span) = spans.next_if(|span| span.ts <= time) {
                    leave_what_ended(&mut stack, span.ts);
                    stack.push(span);
                }
                leave_what_ended(&mut stack, time);
                names[index] = name(&stack);
            }
        }
        names
    }
}

/// Removes the spans that ended before a time. Since spans nest, the ended ones are on top of the stack.
fn leave_what_ended(stack: &mut Vec<&Event>, time: f64) {
    while stack.last().is_some_and(|around| around.ts + around.dur < time) {
        stack.pop();
    }
}

/// A name made of the innermost function of the user's program, if stacks were recorded, and of the outermost operator.
///
/// The profiler knows the line where a function begins, but not the line that runs. With the function alone, everything
/// that it allocates would have the same name.
fn name(stack: &[&Event]) -> String {
    // In a deep recursion the outermost operator lies beyond `FRAMES` and is not found; then the name is that of an
    // operator further in.
    let near = &stack[stack.len().saturating_sub(FRAMES)..];
    let mut frames = near.iter().rev().filter(|event| event.cat == "python_function");
    let function = frames.find_map(|event| function_of_program(&event.name));
    let operator = near.iter().find(|event| event.cat == "cpu_op").map(|event| &*event.name);
    let operator = operator.map(|name| name.strip_prefix(ENGINE).unwrap_or(name).chars().take(120).collect::<String>());
    match (function, operator) {
        (Some(function), Some(operator)) => format!("{function} {operator}"),
        (Some(name), None) | (None, Some(name)) => name,
        (None, None) => "no operator".to_owned(),
    }
}

/// The name of a Python frame: `net/train.py(17): forward` becomes `forward train.py:17`. `None` for functions of
/// PyTorch itself and for frames in another form.
fn function_of_program(frame: &str) -> Option<String> {
    let (place, function) = frame.split_once("): ")?;
    let (file, line) = place.rsplit_once('(')?;
    let is_own = file.ends_with(".py") && !file.starts_with("torch/") && !file.contains("/torch/");
    let short = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let function: String = function.chars().take(120).collect();
    (is_own && line.bytes().all(|byte| byte.is_ascii_digit())).then(|| format!("{function} {short}:{line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_programs_are_told_from_those_of_libraries() {
        assert_eq!(function_of_program("/home/me/train.py(17): forward").as_deref(), Some("forward train.py:17"));
        assert_eq!(function_of_program("torch/nn/functional.py(9): linear"), None);
        assert_eq!(function_of_program("/lib/site-packages/torch/nn/functional.py(9): linear"), None);
        assert_eq!(function_of_program("<built-in method relu of type object at 0x7f>"), None);
        assert_eq!(function_of_program("nn.Module: Linear_0"), None);
    }
}
