//! Plans as files: ours to write, anybody's to read.
//!
//! A plan is read against the [`Problem`] it is for. What it lacks and what it
//! has too much is kept in the [`Plan`], for the checker to report.

pub mod csv;
pub mod header;
pub mod json;

use std::collections::HashMap;

use memplan_core::{Plan, Problem, SpaceId, Span};

use crate::records::dsa;
use crate::xla;
use crate::{ReadError, utf8};

/// Reads a plan in JSON (ours, or a solution of a `dsa` problem), CSV (a column with offsets, any tool's) or from a dump of XLA.
/// `offset_column` names that column if it is not `offset`.
pub fn read(bytes: &[u8], problem: &Problem, offset_column: Option<&str>) -> Result<Plan, ReadError> {
    let text = utf8(bytes)?;
    if text.trim().is_empty() {
        let error = ReadError::new("plan::empty", text, Span::new(0, 0), "the plan is empty");
        return Err(error.help("expected a plan.json, or a CSV with the columns id and offset"));
    }
    if xla::is_dump(text) {
        return xla::plan(text, problem);
    }
    match text.trim_start().starts_with('{') {
        true if dsa::solution::is_solution(text) => dsa::read_solution(text, problem),
        true => json::read(text, problem),
        false => csv::read(text, problem, offset_column),
    }
}

/// The spaces of a problem by name; of two that have the same name, the first. There may be a hundred thousand, one for
/// each function of a file, so nobody may look through all of them for each buffer.
fn spaces_by_name(problem: &Problem) -> HashMap<&str, SpaceId> {
    let spaces: Vec<(SpaceId, &str)> =
        problem.spaces().iter_enumerated().map(|(id, space)| (id, space.name.as_str())).collect();
    spaces.into_iter().rev().map(|(id, name)| (name, id)).collect()
}
