//! Plans made of shared objects as CSV: the records with the object of each buffer.
//!
//! ```text
//! id,lower,upper,size,object,object_size
//! a,0,2,64,0,64
//! b,1,3,32,1,32
//! c,2,4,48,0,64
//! ```
//!
//! `object` is the number of the object that the buffer uses, counted from 0. `object_size` is the size of that
//! object, the same in every row with that object: bytes, the components of a texture (`8x4`: width and height), or,
//! where the size is not known yet, a symbol that is also the size of a buffer of the problem.
//!
//! Only what cannot be read is an error here. Whether a buffer fits into its object and lies in the same space is for
//! the checker of plans to say.

use std::cell::LazyCell;
use std::collections::HashMap;

use memplan_core::{BufferId, Bytes, Id, ObjectId, Placement, Plan, Problem, SharedObject, Size};

use super::named_space;
use crate::ReadError;
use crate::plan::spaces_by_name;
use crate::records::csv::Rows;

/// The positions of the columns of such a plan, counted from 0; `None` for an optional column that is absent.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    /// The names of buffers.
    id: Option<usize>,
    /// The space of each buffer.
    space: Option<usize>,
    /// The number of each buffer's object.
    object: usize,
    /// The size of that object.
    object_size: usize,
}

impl Columns {
    /// Finds the columns by the names in the header. `None` if it has no columns `object` and `object_size`: then the
    /// plan is not made of shared objects.
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

/// Reads the rows below the header as a plan for a problem.
pub(super) fn read(mut rows: Rows<'_>, columns: Columns, problem: &Problem) -> Result<Plan, ReadError> {
    let by_name: HashMap<&str, BufferId> =
        problem.buffers().iter_enumerated().map(|(id, buffer)| (buffer.name.as_str(), id)).collect();
    let known_spaces = spaces_by_name(problem);
    // The first size with each symbol. Few plans have symbols, so they are looked for when the first one is needed.
    let symbols = LazyCell::new(|| {
        let sizes = problem.buffers().iter().rev().map(|buffer| &buffer.size);
        let symbolic = sizes.filter_map(|size| match size {
            Size::Symbolic { symbol, .. } => Some((symbol.to_string(), size.clone())),
            _ => None,
        });
        symbolic.collect::<HashMap<String, Size>>()
    });
    let mut plan = Plan::empty(problem);
    // The objects by number; `None` for those of which no row has been read yet.
    let mut objects: Vec<Option<SharedObject>> = Vec::new();
    let mut index = 0;
    while rows.next()? {
        let position = index.to_string();
        index += 1;
        let name = columns.id.map_or(position.as_str(), |column| rows.name(column));
        // Without a column of names, rows stand in the order of the buffers. (`index` has been counted up already.)
        let buffer = match columns.id {
            Some(_) => by_name.get(name).copied(),
            None => (index <= problem.buffers().len()).then(|| BufferId::from_index(index - 1)),
        };
        // The checker reports rows for buffers that the problem does not have, and buffers without an object.
        let Some(buffer) = buffer else {
            plan.unknown.push(name.to_owned());
            continue;
        };
        if rows.field(columns.object).is_empty() {
            continue;
        }
        // An object holds all slots of a buffer, so a buffer has no second row, as it may have where it has offsets.
        if plan.placements[buffer].is_some() {
            let span = columns.id.map_or(rows.span(), |column| rows.field_span(rows.span(), column));
            let message = format!("`{}` has an object in a row before", problem.buffers()[buffer].name);
            return Err(rows.error("plan::second-object", span, message));
        }
        let object = object_of(&rows, columns, problem)?;
        // If the row names no space, the buffer lies in the first space that it may be in. Every buffer of a problem
        // has one.
        let named = named_space(&rows, columns.space, &known_spaces, problem)?;
        let space = named.unwrap_or(problem.buffers()[buffer].spaces[0]);
        let size = size_of(&rows, columns, &problem.buffers()[buffer].size, &symbols)?;
        if objects.len() <= object {
            objects.resize(object + 1, None);
        }
        // The first row with an object says its size and space. Later rows must agree on the size.
        let described = objects[object].get_or_insert(SharedObject { size: size.clone(), space });
        if !is_same(&described.size, &size) {
            let span = rows.field_span(rows.span(), columns.object_size);
            let message = format!("object {object} has another size in a row before");
            return Err(rows.error("plan::object-size", span, message));
        }
        plan.placements[buffer] = Some(Placement::in_object(space, ObjectId::from_index(object)));
    }
    // If rows name the objects 0 and 2 only, object 1 still needs an entry, so that numbers stay positions. It has no
    // bytes, and since it holds no buffer it may be in any space.
    let space = problem.spaces().ids().next();
    let empty = space.map(|space| SharedObject { size: Size::Fixed(Bytes::ZERO), space });
    plan.objects = objects.into_iter().filter_map(|object| object.or_else(|| empty.clone())).collect();
    plan.fit_extents(problem);
    Ok(plan)
}

/// The number of the current row's object. It must be below the number of buffers: a plan needs no more objects, and a
/// huge number would make the list of objects fill the memory.
fn object_of(rows: &Rows<'_>, columns: Columns, problem: &Problem) -> Result<usize, ReadError> {
    let text = rows.field(columns.object);
    text.parse::<usize>().ok().filter(|&object| object < problem.buffers().len()).ok_or_else(|| {
        let span = rows.field_span(rows.span(), columns.object);
        let message = format!("object: expected a number below {}, found `{text}`", problem.buffers().len());
        rows.error("plan::object", span, message)
    })
}

/// Whether two rows state the same size of an object. Of a symbolic size they state only the symbol, and the upper bound
/// is that of some buffer.
fn is_same(one: &Size, other: &Size) -> bool {
    match (one, other) {
        (Size::Symbolic { symbol, .. }, Size::Symbolic { symbol: same, .. }) => symbol == same,
        _ => one == other,
    }
}

/// The size of the current row's object. `own` is the size of the row's buffer: if that is a symbol and the field has
/// the same symbol, the object has the buffer's size, whose upper bound the file does not repeat. The symbol may also be
/// that of another buffer; `symbols` has them all.
fn size_of(
    rows: &Rows<'_>,
    columns: Columns,
    own: &Size,
    symbols: &LazyCell<HashMap<String, Size>, impl FnOnce() -> HashMap<String, Size>>,
) -> Result<Size, ReadError> {
    // A symbol is a name: unlike a number, it may have blanks at its ends, in quotes.
    let text = rows.name(columns.object_size);
    if matches!(own, Size::Symbolic { symbol, .. } if **symbol == *text) {
        return Ok(own.clone());
    }
    let numbers = text.split('x').map(|part| part.trim().parse::<u64>().ok()).collect::<Option<Vec<u64>>>();
    match numbers.as_deref() {
        Some([bytes]) => Ok(Size::Fixed(Bytes(*bytes))),
        Some(components) if components.len() <= 4 => Ok(Size::Shape(components.iter().copied().collect())),
        _ if symbols.contains_key(text) => Ok(symbols[text].clone()),
        _ => {
            let span = rows.field_span(rows.span(), columns.object_size);
            let message = format!("object_size: expected bytes or components such as 8x4, found `{text}`");
            Err(rows.error("plan::object-size", span, message))
        }
    }
}

/// A size as the columns `object_size` and `size` of such a plan have it, and comments in headers.
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
        // A buffer without bytes fits into an object of any symbol, and one symbol may have several bounds.
        let unbounded = || Size::Symbolic { symbol: "4*n".into(), at_most: None };
        for sizes in
            [[symbol(), bytes(32), bytes(0)], [bytes(0), bytes(32), symbol()], [symbol(), bytes(32), unbounded()]]
        {
            let (problem, plan) = planned(sizes, symbol());
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
            ("a,0,8\nb,1,8\na,1,8\n", 4, 1, "`a` has an object in a row before"),
        ] {
            let error = read(&format!("id,object,object_size\n{row}"), &problem, None).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{error}");
            assert!(error.message.contains(message), "{error}");
        }
        let plan = read("id,object,object_size\nb,1,8\nz,0,8\n", &problem, None).unwrap();
        assert_eq!((plan.objects.len(), plan.unknown), (2, vec!["z".to_owned()]));
    }
}
