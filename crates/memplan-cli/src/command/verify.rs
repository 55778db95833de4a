//! `memplan verify`: check any plan, ours or another tool's.

use memplan::core::{Plan, Problem};
use memplan::verify::packing::{self, Place, Violation};
use memplan::wording::{count, sized};
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::args::VerifyArgs;
use crate::input;
use crate::paint::{Style, painted, visible};

pub(super) fn run(args: &VerifyArgs) -> Result<Answer, Failure> {
    if args.file == "-" && args.plan == "-" {
        return Err(Failure::usage("FILE and PLAN cannot both be standard input"));
    }
    let source = input::source(&args.file, &args.format)?;
    let records = input::read_on_target(&source, &args.target.target())?;
    let plan = input::plan(&args.plan, &records.problem, args.offsets.offset_column.as_deref())?;
    let violations = packing::check(&records.problem, &plan);
    let text = if args.json { as_json(&violations) } else { report(&args.plan, &records.problem, &plan, &violations) };
    Ok(Answer { text, notes: records.notes, is_no: !violations.is_empty() })
}

fn report(name: &str, problem: &Problem, plan: &Plan, violations: &[Violation]) -> String {
    let name = visible(name);
    if violations.is_empty() {
        let buffers = count(problem.buffers().len(), "buffer");
        return format!("{name}: {}, {buffers}, extent {}\n", painted("fine", Style::Good), sized(plan.extent()));
    }
    let verdict = painted(&count(violations.len(), "violation"), Style::Bad);
    let mut text = format!("{name}: {verdict}\n");
    for violation in violations {
        let code = painted(violation.code(), Style::Faint);
        text.push_str(&format!("  {} [{code}]\n", visible(&violation.to_string())));
    }
    text
}

fn as_json(violations: &[Violation]) -> String {
    let each = |violation: &Violation| {
        let buffers: Vec<&str> =
            violation.buffer().into_iter().chain(violation.other()).map(|who| who.name.as_str()).collect();
        let (space, bytes) = match violation.place() {
            Some(Place::Bytes { name, bytes, .. }) => (Some(name), Some([bytes.start.0, bytes.end.0])),
            Some(Place::Object(_)) | None => (None, None),
        };
        json!({
            "kind": violation.code(),
            "message": violation.to_string(),
            "buffers": buffers,
            "step": violation.step().map(|step| step.0),
            "space": space,
            "bytes": bytes,
        })
    };
    let list: Vec<_> = violations.iter().map(each).collect();
    format!("{}\n", json!({"ok": violations.is_empty(), "violations": list}))
}
