//! Plans as files: written in our formats, and read in our formats and those of other tools.
//!
//! A plan is read together with the [`Problem`] it is for. Buffers that the plan
//! does not place, and names that the problem does not have, are no errors here:
//! the [`Plan`] keeps them, and the checker reports them.

pub mod csv;
pub mod header;
pub mod json;

use std::collections::HashMap;

use memplan_core::{Plan, Problem, SpaceId, Span};

use crate::records::dsa;
use crate::xla;
use crate::{ReadError, utf8};

/// Reads a plan from JSON (ours, or a solution of a `dsa` problem), from CSV (of any tool, if it has a column with
/// offsets) or from a dump of XLA. `offset_column` is the name of the column of a CSV file that holds the offsets;
/// without it, the column is called `offset`.
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

/// The spaces of a problem by name; of two that have the same name, the first. There may be a hundred thousand
/// spaces, one for each function of a file, so a search through all of them for each buffer would take too long.
fn spaces_by_name(problem: &Problem) -> HashMap<&str, SpaceId> {
    let spaces: Vec<(SpaceId, &str)> =
        problem.spaces().iter_enumerated().map(|(id, space)| (id, space.name.as_str())).collect();
    // The last entry of a name stays in the map, so the first space comes last.
    spaces.into_iter().rev().map(|(id, name)| (name, id)).collect()
}
