//! Plans as CSV: the records with an `offset` column.
//!
//! What other tools write is read too: an `id` column (or `buffer`,
//! `buffer_id`; without one, records are in the problem's order) and a column of
//! offsets, `offset` or the one the user names. A second row for the same id is
//! its next slot. A column `over` names the buffers, separated by `|`, whose
//! bytes a buffer takes over in place (`\\|` is a `|` in a name, also in that of
//! a space). A column `space` names the space of a buffer; without a name there
//! it is the first one that the buffer may be in. Other columns do not matter.
//!
//! A plan made of shared objects has the columns `object` and `object_size` instead of `offset`: see `objects`.

pub(crate) mod objects;

use std::cell::OnceCell;
use std::collections::HashMap;

use memplan_core::{BufferId, Bytes, Id, MAX_BYTES, Placement, Plan, Problem, Reuse, SpaceId};

use super::spaces_by_name;
use crate::ReadError;
use crate::records::csv::{Rows, header, list_of_names, write_planned};

/// How the column with the names of buffers may be called.
const ID_COLUMNS: &[&str] = &["id", "buffer", "buffer_id"];

/// Writes the records with their offsets or objects.
pub fn write(problem: &Problem, plan: &Plan) -> String {
    write_planned(problem, Some(plan))
}

/// Reads the plan for a problem from a column of offsets, or from the columns of shared objects. `offset_column` is the
/// name of the column of offsets if the user gave one.
pub fn read(text: &str, problem: &Problem, offset_column: Option<&str>) -> Result<Plan, ReadError> {
    let mut rows = Rows::new(text)?;
    let names = header(&rows)?;
    let wanted = offset_column.unwrap_or("offset").to_ascii_lowercase();
    let Some(offsets) = names.iter().position(|name| *name == wanted) else {
        // A user who names a column of offsets does not mean a plan of shared objects.
        if let Some(columns) = objects::Columns::of(&names).filter(|_| offset_column.is_none()) {
            return objects::read(rows, columns, problem);
        }
        let error = rows.error("plan::no-offsets", rows.span(), format!("the header has no column `{wanted}`"));
        return Err(error.help("name the column that holds the offsets with --offset-column NAME"));
    };
    let ids = names.iter().position(|name| ID_COLUMNS.contains(&name.as_str()));
    let spaces = names.iter().position(|name| name == "space");
    let overs = names.iter().position(|name| name == "over");
    let mut buffers = BuffersByName::new(problem);
    let known_spaces = spaces_by_name(problem);
    let mut plan = Plan::empty(problem);
    let mut index = 0;
    while rows.next()? {
        // Without a column of names, rows stand in the order of the buffers.
        let buffer = match ids {
            Some(column) => buffers.find(rows.name(column)),
            None => (index < problem.buffers().len()).then(|| BufferId::from_index(index)),
        };
        index += 1;
        // The checker reports rows for buffers that the problem does not have.
        let Some(buffer) = buffer else {
            plan.unknown.push(ids.map_or_else(|| (index - 1).to_string(), |column| rows.name(column).to_owned()));
            continue;
        };
        // A row without an offset leaves its buffer without a place, which the checker reports, too.
        let text = rows.field(offsets);
        if text.is_empty() {
            continue;
        }
        let offset = text.parse::<u64>().ok().filter(|&offset| offset <= MAX_BYTES).ok_or_else(|| {
            let span = rows.field_span(rows.span(), offsets);
            rows.error("plan::offset", span, format!("{wanted}: expected an offset of 0 or more bytes, found `{text}`"))
        })?;
        // If the row names no space, the buffer lies in the first space that it may be in.
        let named = named_space(&rows, spaces, &known_spaces, problem)?;
        let space = named.unwrap_or(problem.buffers()[buffer].spaces[0]);
        // A buffer with several slots has a row for each of them. Space and `over` are taken from its first row; the
        // later rows only add their offsets.
        match &mut plan.placements[buffer] {
            Some(placement) => {
                placement.offsets.push(Bytes(offset));
                continue;
            }
            empty => *empty = Some(Placement::at(space, Bytes(offset))),
        }
        // An empty field means that the buffer takes over nothing; in quotes it is the name of a buffer without a name.
        if let Some(column) = overs.filter(|&column| !rows.name(column).is_empty() || rows.is_quoted(column)) {
            let victims = list_of_names(rows.name(column)).into_iter();
            let over = victims.map(|name| buffers.look_up(&name).ok_or(name)).collect::<Result<Vec<_>, _>>();
            let over = over.map_err(|name| {
                let span = rows.field_span(rows.span(), column);
                rows.error("plan::unknown-buffer", span, format!("the problem has no buffer called `{name}`"))
            })?;
            if !over.is_empty() {
                plan.reused.push(Reuse { buffer, over });
            }
        }
    }
    plan.fit_extents(problem);
    Ok(plan)
}

/// Finds buffers by their names, which are unique. A plan mostly lists the buffers in the order of the problem, so the
/// buffer behind the one found last is tried first; only where that fails are all names put into a table. A table of a
/// million names takes a fifth of a second to fill and to use.
struct BuffersByName<'p> {
    /// Where the buffers are.
    problem: &'p Problem,
    /// The buffer found last.
    last: Option<BufferId>,
    /// All buffers by name; filled when it is first needed.
    table: OnceCell<HashMap<&'p str, BufferId>>,
}

impl<'p> BuffersByName<'p> {
    /// A search that begins with the first buffer.
    fn new(problem: &'p Problem) -> BuffersByName<'p> {
        BuffersByName { problem, last: None, table: OnceCell::new() }
    }

    /// The buffer of that name, if there is one.
    fn find(&mut self, name: &str) -> Option<BufferId> {
        let next = self.last.map_or(0, |last| last.index() + 1);
        let is_named = |id: &BufferId| self.problem.buffers().get(*id).is_some_and(|buffer| buffer.name == name);
        // A buffer with several slots has several rows, so the last buffer is tried, too.
        let near = Some(BufferId::from_index(next)).filter(is_named).or(self.last.filter(is_named));
        let found = near.or_else(|| self.look_up(name));
        self.last = found.or(self.last);
        found
    }

    /// The buffer of that name, found by the table of all names. Does not change which buffer was found last.
    fn look_up(&self, name: &str) -> Option<BufferId> {
        let names =
            || self.problem.buffers().iter_enumerated().map(|(id, buffer)| (buffer.name.as_str(), id)).collect();
        self.table.get_or_init(names).get(name).copied()
    }
}

/// At most so many spaces are listed in an error.
const LISTED_SPACES: usize = 8;

/// The space that the current row names in the column `space`; `None` if there is no such column or the row has nothing
/// but blanks there. An error if the problem has no such space.
fn named_space(
    rows: &Rows<'_>,
    column: Option<usize>,
    known: &HashMap<&str, SpaceId>,
    problem: &Problem,
) -> Result<Option<SpaceId>, ReadError> {
    let Some(column) = column else { return Ok(None) };
    let written = rows.name(column);
    if let Some(space) = find_space(known, written) {
        return Ok(Some(space));
    }
    if written.trim().is_empty() {
        return Ok(None);
    }
    let span = rows.field_span(rows.span(), column);
    let error = rows.error("plan::unknown-space", span, format!("the problem has no space called `{written}`"));
    let names: Vec<&str> = problem.spaces().iter().map(|space| space.name.as_str()).take(LISTED_SPACES).collect();
    let more = if problem.spaces().len() > names.len() { ", …" } else { "" };
    Err(error.help(format!("its spaces are {}{more}", names.join(", "))))
}

/// The space of this name. We write a `|` in a name with a backslash before it. Other tools do not, so that their name
/// is taken as it stands. Records have no blanks around the names of spaces, so they are taken away from a name that
/// is not found with them.
fn find_space(known: &HashMap<&str, SpaceId>, written: &str) -> Option<SpaceId> {
    // Nearly all names have neither character and stand as they are.
    let without_marks = match written.contains(['\\', '|']) {
        true => <[String; 1]>::try_from(list_of_names(written)).ok().map(|[name]| name),
        false => None,
    };
    let names = [without_marks.as_deref(), Some(written)];
    let trimmed = names.map(|name| name.map(str::trim));
    names.into_iter().chain(trimmed).flatten().find_map(|name| known.get(name).copied())
}

#[cfg(test)]
mod tests {
    use memplan_core::{Buffer, Lifetime, Overlay, OverlayKind, ProblemBuilder, Space};

    use super::*;

    #[test]
    fn every_name_is_read_as_it_was_written() {
        let names =
            ["", " ", " a", "a ", "a", "a\nb", "\n", "a\r\nb\r", "\ta", "a,b", "\"", "\"a\"", "a|b", "\\", "\\|", "|"];
        let mut builder = ProblemBuilder::new();
        builder.space(Space::new(" s|t "));
        builder.space(Space::new(" s\\|t "));
        let ids: Vec<BufferId> =
            names.iter().map(|name| builder.buffer(Buffer::new(*name, 4, Lifetime::new(0, 2)))).collect();
        let heir = builder.buffer(Buffer::new("heir", 4, Lifetime::new(1, 3)));
        for &over in &ids {
            builder.overlay(Overlay { buffer: heir, over, kind: OverlayKind::SameBase });
        }
        let problem = builder.build().unwrap();
        let mut plan = Plan::empty(&problem);
        for (id, at) in problem.buffers().ids().zip(0..) {
            let space = problem.buffers()[id].spaces[0];
            plan.placements[id] = Some(Placement::at(space, Bytes(4 * at)));
        }
        plan.reused = ids.iter().map(|&over| Reuse { buffer: heir, over: vec![over] }).collect();
        plan.fit_extents(&problem);
        let again = read(&write(&problem, &plan), &problem, None).unwrap();
        assert_eq!(again.placements, plan.placements, "{}", write(&problem, &plan));
        assert_eq!(again.unknown, Vec::<String>::new());
        assert_eq!(again.reused, [Reuse { buffer: heir, over: ids }]);
    }

    #[test]
    fn spaces_are_those_of_the_problem() {
        let mut builder = ProblemBuilder::new();
        let spaces = ["sram", "dram"].map(|name| builder.space(Space::new(name)));
        for name in ["a", "b"] {
            builder.buffer(Buffer { spaces: spaces.into(), ..Buffer::new(name, 4, Lifetime::new(0, 2)) });
        }
        let problem = builder.build().unwrap();
        for header in ["id,offset,space,size", "id,object,space,object_size"] {
            let read = |spaces: [&str; 2]| {
                let [a, b] = spaces;
                read(&format!("{header}\na,0,{a},4\nb,1,{b},4\n"), &problem, None)
            };
            let placed =
                |spaces| read(spaces).unwrap().placements.iter().flatten().map(|at| at.space).collect::<Vec<_>>();
            assert_eq!(placed(["dram", "sram"]), [spaces[1], spaces[0]], "{header}");
            // Without a name the buffer lies in the first space that it may be in.
            assert_eq!(placed(["", "\" dram \""]), spaces, "{header}");
            assert_eq!(placed(["\"  \"", "dram"]), spaces, "{header}");
            for unknown in ["flash", "sram|dram", "SRAM"] {
                let error = read(["dram", unknown]).unwrap_err();
                assert_eq!((error.code, error.line), ("plan::unknown-space", 3), "{header}: {error}");
                assert_eq!(error.message, format!("the problem has no space called `{unknown}`"));
                assert_eq!(error.help.as_deref(), Some("its spaces are sram, dram"));
            }
        }
    }

    #[test]
    fn blanks_around_an_escaped_space_do_not_count() {
        let mut builder = ProblemBuilder::new();
        let first = builder.space(Space::new("s|r"));
        let second = builder.space(Space::new("  "));
        builder.buffer(Buffer { spaces: [first, second].into(), ..Buffer::new("a", 4, Lifetime::new(0, 2)) });
        let problem = builder.build().unwrap();
        let place = |space: &str| {
            let plan = read(&format!("id,offset,space\na,0,{space}\n"), &problem, None).unwrap();
            plan.placements.iter().flatten().next().unwrap().space
        };
        for written in ["s\\|r", " s\\|r ", "\" s\\|r \"", "s|r", "\" s|r \"", ""] {
            assert_eq!(place(written), first, "{written}");
        }
        assert_eq!(place("\"  \""), second);
    }

    #[test]
    fn rows_may_stand_in_any_order() {
        let mut builder = ProblemBuilder::new();
        for (name, slots) in [("a", 1), ("b", 2), ("c", 1)] {
            builder.buffer(Buffer { slots, ..Buffer::new(name, 4, Lifetime::new(0, 2)) });
        }
        let problem = builder.build().unwrap();
        let offsets = |text: &str| -> Vec<Vec<u64>> {
            let plan = read(text, &problem, None).unwrap();
            assert_eq!(plan.unknown, ["d"]);
            plan.placements.iter().flatten().map(|place| place.offsets.iter().map(|at| at.0).collect()).collect()
        };
        let expected = [vec![0], vec![4, 8], vec![12]];
        assert_eq!(offsets("id,offset\na,0\nb,4\nb,8\nd,99\nc,12\n"), expected);
        assert_eq!(offsets("id,offset\nd,99\nc,12\nb,4\na,0\nb,8\n"), expected);
    }

    #[test]
    fn blanks_around_plain_names_do_not_count() {
        let mut builder = ProblemBuilder::new();
        builder.buffer(Buffer::new("a", 4, Lifetime::new(0, 2)));
        let problem = builder.build().unwrap();
        let plan = read("id , offset\n  a ,  8 \n", &problem, None).unwrap();
        assert_eq!(plan.placements.iter().flatten().map(|place| place.offsets[0]).collect::<Vec<_>>(), [Bytes(8)]);
    }
}
