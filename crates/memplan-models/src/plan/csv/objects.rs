//! Plans made of shared objects as CSV: the records with the object of each buffer.
//!
//! ```text
//! id,lower,upper,size,object,object_size
//! a,0,2,64,0,64
//! b,1,3,32,1,32
//! c,2,4,48,0,64
//! ```
//!
//! `object` counts from 0. `object_size` is that of the object, the same in every row of it: bytes, the components of a
//! texture (`8x4`), or the symbol of one of the object's buffers.

use std::collections::HashMap;

use memplan_core::{BufferId, Bytes, Id, ObjectId, Placement, Plan, Problem, SharedObject, Size};

use crate::ReadError;
use crate::plan::spaces_by_name;
use crate::records::csv::Rows;

/// Where the columns of such a plan are.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    id: Option<usize>,
    space: Option<usize>,
    object: usize,
    object_size: usize,
}

impl Columns {
    /// The columns of a header, if it is that of a plan made of objects.
    pub(super) fn of(names: &[String]) -> Option<Columns> {
        let find = |wanted: &[&str]| names.iter().position(|name| wanted.contains(&name.as_str()));
        Some(Columns {
            id: find(super::ID_COLUMNS),
            space: find(&["space"]),
            object: find(&["object"])?,
            object_size: find(&["object_size"])?,
        })
    }
}

/// Reads the rows behind the header.
pub(super) fn read(mut rows: Rows<'_>, columns: Columns, problem: &Problem) -> Result<Plan, ReadError> {
    let by_name: HashMap<&str, BufferId> =
        problem.buffers().iter_enumerated().map(|(id, buffer)| (buffer.name.as_str(), id)).collect();
    let known_spaces = spaces_by_name(problem);
    let mut plan = Plan::empty(problem);
    let mut objects: Vec<Option<SharedObject>> = Vec::new();
    let mut index = 0;
    while rows.next()? {
        let position = index.to_string();
        index += 1;
        let name = columns.id.map_or(position.as_str(), |column| rows.name(column));
        let buffer = match columns.id {
            Some(_) => by_name.get(name).copied(),
            None => (index <= problem.buffers().len()).then(|| BufferId::from_index(index - 1)),
        };
        let Some(buffer) = buffer else {
            plan.unknown.push(name.to_owned());
            continue;
        };
        if rows.field(columns.object).is_empty() {
            continue;
        }
        let object = object_of(&rows, columns, problem)?;
        let named = columns.space.and_then(|column| known_spaces.get(rows.name(column)).copied());
        let space = named.unwrap_or(problem.buffers()[buffer].spaces[0]);
        let size = size_of(&rows, columns, &problem.buffers()[buffer].size)?;
        if objects.len() <= object {
            objects.resize(object + 1, None);
        }
        let described = objects[object].get_or_insert(SharedObject { size: size.clone(), space });
        if described.size != size {
            let span = rows.field_span(rows.span(), columns.object_size);
            let message = format!("object {object} has another size in a row before");
            return Err(rows.error("plan::object-size", span, message));
        }
        plan.placements[buffer] = Some(Placement::in_object(space, ObjectId::from_index(object)));
    }
    // An object that no row names holds nothing.
    let space = problem.spaces().ids().next();
    let empty = space.map(|space| SharedObject { size: Size::Fixed(Bytes::ZERO), space });
    plan.objects = objects.into_iter().filter_map(|object| object.or_else(|| empty.clone())).collect();
    plan.fit_extents(problem);
    Ok(plan)
}

/// The number of an object. A plan has no more objects than buffers.
fn object_of(rows: &Rows<'_>, columns: Columns, problem: &Problem) -> Result<usize, ReadError> {
    let text = rows.field(columns.object);
    text.parse::<usize>().ok().filter(|&object| object < problem.buffers().len()).ok_or_else(|| {
        let span = rows.field_span(rows.span(), columns.object);
        let message = format!("object: expected a number below {}, found `{text}`", problem.buffers().len());
        rows.error("plan::object", span, message)
    })
}

/// The size of an object, as the row of one of its buffers says it.
fn size_of(rows: &Rows<'_>, columns: Columns, own: &Size) -> Result<Size, ReadError> {
    let text = rows.name(columns.object_size);
    if matches!(own, Size::Symbolic { symbol, .. } if **symbol == *text) {
        return Ok(own.clone());
    }
    let numbers = text.split('x').map(|part| part.trim().parse::<u64>().ok()).collect::<Option<Vec<u64>>>();
    match numbers.as_deref() {
        Some([bytes]) => Ok(Size::Fixed(Bytes(*bytes))),
        Some(components) if components.len() <= 4 => Ok(Size::Shape(components.iter().copied().collect())),
        _ => {
            let span = rows.field_span(rows.span(), columns.object_size);
            let message = format!("object_size: expected bytes or components such as 8x4, found `{text}`");
            Err(rows.error("plan::object-size", span, message))
        }
    }
}

/// A size in the column `object_size`, or of a buffer in such a plan.
pub(crate) fn size_text(size: &Size) -> String {
    match size {
        Size::Fixed(bytes) => bytes.to_string(),
        Size::Shape(components) => components.iter().map(u64::to_string).collect::<Vec<_>>().join("x"),
        Size::Symbolic { symbol, .. } => symbol.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use memplan_core::{Buffer, Lifetime, ProblemBuilder};

    use crate::plan::csv::{read, write};

    use super::*;

    /// Three buffers of these sizes, the first and the last in one object of the largest of the two.
    fn planned(sizes: [Size; 3], first_object: Size) -> (Problem, Plan) {
        let mut builder = ProblemBuilder::new();
        for ((name, size), start) in ["a", "b", "c"].into_iter().zip(sizes).zip(0..) {
            builder.buffer(Buffer { size, ..Buffer::new(name, 0, Lifetime::new(start, start + 2)) });
        }
        let problem = builder.build().unwrap();
        let space = problem.spaces().ids().next().unwrap();
        let mut plan = Plan::empty(&problem);
        plan.objects = [first_object, problem.buffers().as_slice()[1].size.clone()]
            .map(|size| SharedObject { size, space })
            .into_iter()
            .collect();
        for (buffer, object) in problem.buffers().ids().zip([0, 1, 0]) {
            plan.placements[buffer] = Some(Placement::in_object(space, ObjectId::from_index(object)));
        }
        plan.fit_extents(&problem);
        (problem, plan)
    }

    #[test]
    fn objects_of_every_kind_of_size_are_read_as_written() {
        let bytes = |bytes: u64| Size::Fixed(Bytes(bytes));
        let shape = |width, height| Size::Shape([width, height].into_iter().collect());
        let symbol = || Size::Symbolic { symbol: "4*n".into(), at_most: Some(Bytes(64)) };
        for (sizes, first) in [
            ([bytes(64), bytes(32), bytes(48)], bytes(64)),
            ([shape(8, 2), shape(4, 4), shape(2, 8)], shape(8, 8)),
            ([symbol(), bytes(32), symbol()], symbol()),
        ] {
            let (problem, plan) = planned(sizes, first);
            let text = write(&problem, &plan);
            assert_eq!(read(&text, &problem, None).unwrap(), plan, "{text}");
        }
        let (problem, plan) = planned([bytes(64), bytes(32), bytes(48)], bytes(64));
        assert_eq!(
            write(&problem, &plan),
            "id,lower,upper,size,object,object_size\na,0,2,64,0,64\nb,1,3,32,1,32\nc,2,4,48,0,64\n"
        );
    }

    #[test]
    fn mistakes_have_a_place() {
        let (problem, _) = planned([8, 8, 8].map(|bytes| Size::Fixed(Bytes(bytes))), Size::Fixed(Bytes(8)));
        for (row, line, column, message) in [
            ("a,3,8\n", 2, 3, "expected a number below 3, found `3`"),
            ("a,0,many\n", 2, 5, "expected bytes or components such as 8x4, found `many`"),
            ("a,0,8\nb,0,9\n", 3, 5, "object 0 has another size in a row before"),
        ] {
            let error = read(&format!("id,object,object_size\n{row}"), &problem, None).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{error}");
            assert!(error.message.contains(message), "{error}");
        }
        let plan = read("id,object,object_size\nb,1,8\nz,0,8\n", &problem, None).unwrap();
        assert_eq!((plan.objects.len(), plan.unknown), (2, vec!["z".to_owned()]));
    }
}
