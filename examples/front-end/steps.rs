//! A front end for a toy language: one step a line, `NAME BYTES = OPERAND …`.
//!
//! ```text
//! x 64 =              x 64 @0 =
//! y 64 = x      ──►   y 64 @64 = x
//! z 32 = y            z 32 @0 = y
//! ```

use std::borrow::Cow;

use memplan::core::{Buffer, Bytes, Lifetime, Outcome, Plan, Problem, ProblemBuilder, ReadError, Span, utf8};
use memplan::driver::{Failure, Solver};
use memplan::front_end::{Claim, Found, FrontEnd, Layout, Output, Places};
use memplan::program::{OpDraft, Program, ProgramBuilder, Size};
use memplan::source::Source;
use memplan::verify::dataflow::SitePlan;

pub struct Steps;

/// A text: its lines, and what they mean as a program.
pub struct Text {
    lines: Vec<Line>,
    program: Program,
}

/// A layout: the problem and a plan for it.
pub struct Laid {
    problem: Problem,
    plan: Plan,
}

/// A line: name, size, offset if it has one, and the lines of its operands.
type Line = (String, u64, Option<u64>, Vec<usize>);

/// The lines of a text; in an output the size is followed by `@OFFSET`.
fn parse(text: &str) -> Result<Vec<Line>, ReadError> {
    let mut steps: Vec<Line> = Vec::new();
    for line in text.lines() {
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        let wrong = |why: &str| ReadError::new("steps::line", text, Span::new(start, start + line.len()), why);
        let (left, right) = line.split_once('=').ok_or_else(|| wrong("expected NAME BYTES = OPERAND …"))?;
        let words: Vec<&str> = left.split_whitespace().collect();
        let [name, bytes, at @ ..] = words.as_slice() else { return Err(wrong("expected a name and a size")) };
        let bytes = bytes.parse().map_err(|_| wrong("the size is no number"))?;
        let at = at.first().and_then(|at| at.strip_prefix('@')?.parse().ok());
        let made = |word: &str| steps.iter().rposition(|step| step.0 == word);
        let operand = |word: &str| made(word).ok_or_else(|| wrong("an operand is not made above"));
        let operands = right.split_whitespace().map(operand).collect::<Result<_, _>>()?;
        steps.push((name.to_string(), bytes, at, operands));
    }
    Ok(steps)
}

impl FrontEnd for Steps {
    type Input = Text;
    type Laid = Laid;

    fn name(&self) -> &str {
        "steps"
    }

    fn read(&self, source: &Source) -> Result<Text, Failure> {
        let parsed = parse(utf8(&source.bytes)?)?;
        let mut builder = ProgramBuilder::new();
        let space = builder.space("memory");
        let made: Vec<_> =
            parsed.iter().map(|(name, bytes, ..)| builder.alloc(name, Size::Known(Bytes(*bytes)), space)).collect();
        builder.open_function("steps", &[]);
        for ((.., operands), &value) in parsed.iter().zip(&made) {
            builder.push(OpDraft::new("alloc").result(value));
            let reads = operands.iter().fold(OpDraft::new("step"), |op, &operand| op.read(made[operand]));
            builder.push(reads.write(value));
        }
        builder.leave(&[]);
        builder.close_function();
        let program = builder.finish().map_err(|error| Failure::NoPlan(error.to_string()))?;
        Ok(Text { lines: parsed, program })
    }

    fn lay_out(&self, input: &Text, solver: &mut Solver) -> Result<Laid, Failure> {
        let mut builder = ProblemBuilder::new();
        let mut buffers = Vec::new();
        for (line, (name, bytes, ..)) in input.lines.iter().enumerate() {
            let reads = |&at: &usize| input.lines[at].3.contains(&line);
            let last = (line..input.lines.len()).rev().find(reads).unwrap_or(line);
            buffers.push(builder.buffer(Buffer::new(name, *bytes, Lifetime::new(line as u64, last as u64 + 1))));
        }
        // What a check has named stays apart the next time.
        for (one, other) in solver.apart(0).pairs() {
            builder.must_not_share(buffers[memplan::core::Id::index(one)], buffers[memplan::core::Id::index(other)]);
        }
        let problem = builder.build().map_err(|error| Failure::NoPlan(error.to_string()))?;
        match solver.plan(&problem)?.into_inner() {
            Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } => Ok(Laid { problem, plan }),
            other => Err(Failure::NoPlan(other.status().to_owned())),
        }
    }

    fn claim<'a>(&self, input: &'a Text, laid: &'a Laid) -> Claim<'a> {
        let placements = laid.plan.placements.iter().cloned().collect();
        let plan = SitePlan { placements, ..SitePlan::empty(&input.program) };
        let placements = vec![Cow::Borrowed(laid.plan.placements.as_slice())];
        Claim { programs: vec![(Cow::Borrowed(&input.program), plan.into())], placements, ..Claim::default() }
    }

    fn emit(&self, input: &Text, laid: &Laid) -> Result<Output, Failure> {
        let mut text = String::new();
        for ((name, bytes, _, operands), id) in input.lines.iter().zip(laid.problem.buffers().ids()) {
            let names: String = operands.iter().map(|&operand| format!(" {}", input.lines[operand].0)).collect();
            text += &format!("{name} {bytes} @{} ={names}\n", laid.plan.offset(id).unwrap_or_default());
        }
        let layout = Layout { problem: laid.problem.clone(), plan: laid.plan.clone(), spans: Default::default() };
        Ok(Output { layout: Some(layout), ..Output::of_text(text) })
    }

    fn places(&self, input: &Text, output: &Output) -> Result<Places, Failure> {
        let found = parse(output.text())?;
        let same = |(old, new): (&Line, &Line)| (&old.0, old.1, &old.3) == (&new.0, new.1, &new.3);
        if found.len() != input.lines.len() || !input.lines.iter().zip(&found).all(same) {
            return Err(Failure::NoPlan("the steps are not the same".to_owned()));
        }
        let place = |at: u64| Found { memory: "memory".into(), offsets: vec![at].into(), ..Found::default() };
        Ok(Places { lists: vec![found.into_iter().map(|(_, _, at, _)| at.map(place)).collect()] })
    }
}
