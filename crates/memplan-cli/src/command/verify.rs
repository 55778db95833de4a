//! `memplan verify`: check any plan, ours or another tool's.
//!
//! For lifetime records the packing check says whether the plan is right. For a
//! program the dataflow check does, following the program's own reads and
//! writes; what remains of the packing check is alignment, capacity and the like.

use memplan::core::{Plan, line_column};
use memplan::finding::{self, Finding};
use memplan::front_end::{assign_gmem, rewritten};
use memplan::source::Source;
use memplan::target::Target;
use memplan::wording::{count, sized};
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::args::VerifyArgs;
use crate::input;
use crate::paint::{Style, painted, visible};

/// Checks a plan of any tool against the file that it was made for.
pub(super) fn run(args: &VerifyArgs) -> Result<Answer, Failure> {
    if args.file == "-" && args.plan == "-" {
        return Err(Failure::usage("FILE and PLAN cannot both be standard input"));
    }
    let source = input::source(&args.file, &args.format)?;
    // A plan given as MLIR is a text with addresses in it. It is checked against the program of the other file.
    if args.plan.ends_with(".mlir") {
        if args.target.target() != Target::default() {
            return Err(Failure::usage_with_help(
                "--capacity, --align and --space have no effect on the check of a text with addresses",
                "leave them out, or give a plan as JSON or CSV",
            ));
        }
        return addresses(args, &source);
    }
    let input = input::read(&source)?;
    let target = args.target.target();
    let offset_column = args.offsets.offset_column.as_deref();
    // For a program the dataflow check decides whether buffers may share, because it does not trust lifetimes.
    // The packing check then only looks at each placement by itself.
    let (plan, findings) = match &input.program {
        Some(program) => {
            // Another tool may place allocations that we would leave alone, so all of them are buffers here.
            let problem = program.problem_of_any_plan().map_err(|error| Failure::usage(error.to_string()))?;
            let problem = input::on_target(&problem, &target)?;
            let plan = input::plan(&args.plan, &problem, offset_column)?;
            let mut findings = finding::in_placement(&problem, &plan);
            findings.extend(program.check_any(&plan));
            (plan, findings)
        }
        // Lifetime records, or a model. The packing check trusts the lifetimes. For a model
        // `network.check` also follows what its ops read and write.
        None => {
            // A runtime keeps a part of its memory for itself. The plan under test must only fit what is left.
            let target = input.network.as_ref().map_or(target.clone(), |network| network.without_tail(&target).0);
            let problem = input::on_target(&input.problem, &target)?;
            let plan = input::plan(&args.plan, &problem, offset_column)?;
            let mut findings = finding::in_packing(&problem, &plan);
            findings.extend(input.network.iter().flat_map(|network| network.check(&plan)));
            (plan, findings)
        }
    };
    let text = if args.json { as_json(&source, &findings) } else { report(args, &source, &plan, &findings) };
    Ok(Answer { text, notes: input.notes, is_no: !findings.is_empty(), ..Answer::default() })
}

/// Checks a text into which another tool has written its addresses. In a network they stand in the types of the tensors
/// (`tensor<1x8xf32, 4096 : i64>`), in a kernel in the casts from numbers to pointers.
fn addresses(args: &VerifyArgs, source: &Source) -> Result<Answer, Failure> {
    let written = input::source(&args.plan, &args.format)?;
    let (checked, what) = match assign_gmem::is_network(source) {
        true => (assign_gmem::check_addresses(source, &written), "tensor"),
        false => (rewritten::check_kernels(source, &written), "buffer"),
    };
    let (findings, number) = checked.map_err(|error| super::failure(source, error))?;
    let text = match (args.json, findings.is_empty()) {
        (true, _) => as_json(source, &findings),
        (false, true) => {
            let fine = painted("fine", Style::Good);
            format!("{}: {fine}, {}\n", visible(&args.plan), count(number, what))
        }
        (false, false) => violations(&args.plan, source, &findings),
    };
    Ok(Answer { text, is_no: !findings.is_empty(), ..Answer::default() })
}

/// The verdict: that the plan is fine, with its extent, or a line for each violation.
fn report(args: &VerifyArgs, source: &Source, plan: &Plan, findings: &[Finding]) -> String {
    let name = visible(&args.plan);
    if findings.is_empty() {
        let placed = plan.placements.iter().flatten().count();
        let fine = painted("fine", Style::Good);
        return format!("{name}: {fine}, {}, extent {}\n", count(placed, "buffer"), sized(plan.extent()));
    }
    violations(&args.plan, source, findings)
}

/// A line for each finding, with its place in the text where there is one.
fn violations(plan: &str, source: &Source, findings: &[Finding]) -> String {
    let verdict = painted(&count(findings.len(), "violation"), Style::Bad);
    let mut text = format!("{}: {verdict}\n", visible(plan));
    for finding in findings {
        let place = match place_in(source, finding) {
            Some((line, column)) => format!("{}:{line}:{column}: ", visible(&source.name)),
            None => String::new(),
        };
        let code = painted(finding.code, Style::Faint);
        text.push_str(&format!("  {place}{} [{code}]\n", visible(&finding.message)));
    }
    text
}

/// Line and column of a finding in the program's text; `None` if the finding has no place there.
fn place_in(source: &Source, finding: &Finding) -> Option<(usize, usize)> {
    let text = std::str::from_utf8(&source.bytes).ok()?;
    Some(line_column(text, finding.span?.range().start))
}

/// The findings as JSON.
fn as_json(source: &Source, findings: &[Finding]) -> String {
    let each = |finding: &Finding| {
        let place = place_in(source, finding);
        json!({
            "kind": finding.code,
            "message": finding.message,
            "buffers": finding.buffers,
            "step": finding.step,
            "space": finding.place.as_ref().map(|(space, _)| space),
            "bytes": finding.place.as_ref().map(|(_, bytes)| bytes),
            "line": place.map(|(line, _)| line),
            "column": place.map(|(_, column)| column),
        })
    };
    let list: Vec<_> = findings.iter().map(each).collect();
    format!("{}\n", json!({"ok": findings.is_empty(), "violations": list}))
}
