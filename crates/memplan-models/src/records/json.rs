//! Problems as JSON: everything a [`Problem`] can say.
//!
//! ```json
//! {"spaces": [{"name": "ub", "capacity": 196608, "alignment": 32}],
//!  "buffers": [{"id": "a", "size": 8192, "space": "ub", "lifetime": [[0, 4], [6, 9]]},
//!              {"id": "b", "size": {"symbol": "n", "at_most": 512}, "lifetime": [[2, 3]]}],
//!  "may_overlay": [{"id": "b", "over": "a", "kind": "same-base"}]}
//! ```
//!
//! Only `id`, `size` and `lifetime` are required. An interval may have a window:
//! `[start, end, low, high]`. The short form
//! `{"records": [[size, first_task, last_task], …]}` has closed intervals and
//! names its buffers 0, 1, …; a size may be a list of components there. Without
//! `spaces`, top-level `alignment` and `capacity` describe the only one.
//!
//! When a file is read, a `Value` is a JSON value that has not been parsed yet and knows its place in the text;
//! `Fields` is an object whose fields are taken out one by one. When one is written, types that end in `File` have
//! the fields of the JSON.

use std::borrow::Cow;
use std::collections::HashMap;

use memplan_core::{
    Buffer, BufferId, Bytes, Dependencies, GroupId, Id, IndexVec, Interval, Lifetime, Overlay, OverlayKind, Problem,
    ProblemBuilder, ReuseCost, Size, Space, SpaceId, Span, Step, Tie,
};
use serde::Serialize;

use super::csv::resembles;
use super::{RecordFormat, Records};
use crate::ReadError;
use crate::item_lines;
use crate::json::Json as Value;

/// The `.json` format.
pub struct Json;

impl RecordFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn describe(&self) -> &'static str {
        "a problem with all its features, or {\"records\": [[size, first_task, last_task], ...]}"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn sniff(&self, text: &str) -> bool {
        text.trim_start().starts_with('{')
    }

    fn read(&self, text: &str) -> Result<Records, ReadError> {
        let top = Fields::of(Value::parse(text)?, "an object with `buffers` or `records`")?;
        let mut reader = Reader::default();
        reader.top(top)?;
        let Reader { builder, spans, notes, relations, .. } = reader;
        match builder.build() {
            Ok(problem) => Ok(Records { problem, notes, spans }),
            Err(error) => {
                // The builder says which buffer is wrong, but not where in the file it stands. For an error that
                // names no buffer, the relation that was read last is our best guess.
                let at_buffer = error.buffer().and_then(|buffer| spans.get(buffer.index()).copied());
                let span = at_buffer.or(relations).unwrap_or_default();
                Err(ReadError::new("json::problem", text, span, error.to_string()))
            }
        }
    }
}

/// The fields of one JSON object. A reader takes the fields that it knows, one by one; the fields that are left at the
/// end are unknown, and the reader reports their names to the user.
pub(super) struct Fields<'a> {
    /// The whole object, to which an error about a missing field points.
    object: Value<'a>,
    /// The fields that have not been taken yet.
    entries: Vec<(Cow<'a, str>, Value<'a>)>,
    /// The names that the reader asked for. An unknown field is compared with them, to find typos.
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of an object; `what` says in a message what was expected.
    pub(super) fn of(object: Value<'a>, what: &str) -> Result<Fields<'a>, ReadError> {
        Ok(Fields { object, entries: object.entries(what)?, known: Vec::new() })
    }

    /// Removes a field and returns its value. `None` if the object does not have it or it is `null`. If a file has the
    /// same field twice, the last one counts.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Value<'a>> {
        self.known.push(key);
        let mut found = None;
        self.entries.retain(|(name, value)| {
            if name == key {
                found = Some(*value);
            }
            name != key
        });
        found.filter(|value| !value.is_null())
    }

    /// Like [`take`](Fields::take) for a required field: an error if it is absent.
    pub(super) fn need(&mut self, key: &'static str) -> Result<Value<'a>, ReadError> {
        self.take(key).ok_or_else(|| self.object.error("json::missing-field", format!("the field `{key}` is missing")))
    }

    /// The fields that have not been taken.
    pub(super) fn left(&self) -> impl Iterator<Item = (&str, Value<'a>)> {
        self.entries.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// A field that holds a number of bytes; `None` if it is absent.
    pub(super) fn bytes(&mut self, key: &'static str) -> Result<Option<Bytes>, ReadError> {
        self.take(key).map(|value| value.number("a number of bytes").map(Bytes)).transpose()
    }

    /// A field that holds a name.
    fn name(&mut self, key: &'static str) -> Result<Option<Cow<'a, str>>, ReadError> {
        self.take(key).map(|value| value.name("a name")).transpose()
    }
}

/// Whether the name of an unknown field is probably meant to be that of a known one: it differs only in one letter
/// (or two that are swapped), in its case, or in its hyphens.
fn is_nearly(name: &str, known: &str) -> bool {
    let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    let (name, known) = (plain(name), plain(known));
    // The C interface calls the field `fixed_offset`, and users copy that name into files. If it were ignored, the
    // buffer would not stay where the user fixed it.
    let is_of_c = name == "fixedoffset" && known == "offset";
    // A plan that we wrote can be read as a problem, and its buffers have the field `offsets` beside `offset`: no typo.
    // Names of three letters or fewer (`id`, `at`) are one edit away from too many other words.
    is_of_c || name != "offsets" && (name == known || known.len() >= 4 && resembles(&name, &known))
}

/// What has been read so far.
#[derive(Default)]
struct Reader<'a> {
    /// The problem so far.
    builder: ProblemBuilder,
    /// Where each buffer stands in the text, in the order of the buffers: as many as there are buffers.
    spans: Vec<Span>,
    /// Messages for the user about the file.
    notes: Vec<String>,
    /// Unknown fields with the path of the object they stand in, such as `buffers[].colour`.
    ignored: std::collections::BTreeSet<String>,
    /// The spaces by name.
    space_ids: HashMap<Cow<'a, str>, SpaceId>,
    /// Whether the file has the list `spaces`. Without it, each new name in a buffer's field `space` makes a space.
    spaces_listed: bool,
    /// The groups of ties by name.
    group_ids: HashMap<Cow<'a, str>, GroupId>,
    /// The buffers by name.
    buffer_ids: HashMap<Cow<'a, str>, BufferId>,
    /// Where the relation between buffers (an overlay, a pair, the dependencies) that was read last stands.
    relations: Option<Span>,
}

impl<'a> Reader<'a> {
    /// Reads the whole file. Fields that nobody knows are named in a note.
    fn top(&mut self, mut top: Fields<'a>) -> Result<(), ReadError> {
        // Capacity and alignment at the top are the short form for a problem with one memory.
        let short = [top.take("alignment"), top.take("capacity")];
        match (top.take("spaces"), short) {
            (Some(spaces), [None, None]) => self.spaces(spaces)?,
            // It is not clear which of the listed spaces the short form is about.
            (Some(_), [Some(value), _] | [_, Some(value)]) => {
                let message = "`alignment` and `capacity` stand beside `spaces`, and would have no effect";
                return Err(value
                    .error("json::both-forms", message)
                    .help("write them into the spaces that they are for"));
            }
            (None, [None, None]) => {}
            (None, [alignment, capacity]) => {
                let alignment = alignment.map_or(Ok(Bytes(1)), alignment_of)?;
                let capacity = capacity.map(|value| value.number("a number of bytes").map(Bytes)).transpose()?;
                let space = self.builder.space(Space { alignment, capacity, ..Space::new("default") });
                // A buffer may name this space as `default`.
                self.space_ids.insert(Cow::Borrowed("default"), space);
            }
        }
        // The two forms have different conventions for the end of a life, so a file that mixes them is refused.
        match (top.take("buffers"), top.take("records")) {
            (Some(buffers), None) => self.buffers(buffers)?,
            (None, Some(records)) => self.records(records)?,
            (None, None) => {
                let error = top.object.error("json::missing-field", "there are neither `buffers` nor `records`");
                return Err(error.help("expected {\"buffers\": [{\"id\": …, \"size\": …, \"lifetime\": [[0, 1]]}]}"));
            }
            (Some(_), Some(records)) => {
                return Err(records.error("json::both-forms", "a problem has either `buffers` or `records`, not both"));
            }
        }
        // Relations name buffers, so all buffers must exist first.
        self.overlays(top.take("may_overlay"))?;
        for pair in self.pairs(top.take("must_share"))? {
            self.builder.must_share(pair.0, pair.1);
        }
        for pair in self.pairs(top.take("must_not_share"))? {
            self.builder.must_not_share(pair.0, pair.1);
        }
        self.reuse_costs(top.take("reuse_costs"))?;
        self.dependencies(top.take("dependencies"), top.take("read_by_outputs"))?;
        self.left_over(&top, "")?;
        if !self.ignored.is_empty() {
            let names: Vec<&str> = self.ignored.iter().map(String::as_str).collect();
            self.notes.push(format!("ignored unknown fields: {}", names.join(", ")));
        }
        Ok(())
    }

    /// Collects the fields that the reader did not take, for a note. `of` is the path of their object, such as
    /// `buffers[].`. A field whose name is nearly that of a known one is an error instead: it is a typo, and a problem
    /// without the field would silently be another problem.
    fn left_over(&mut self, fields: &Fields, of: &str) -> Result<(), ReadError> {
        for (name, value) in &fields.entries {
            if let Some(meant) = fields.known.iter().find(|known| is_nearly(name, known)) {
                let error = value.error("json::unknown-field", format!("there is no field called `{name}`"));
                return Err(error.help(format!("is it a typo of `{meant}`?")));
            }
            self.ignored.insert(format!("{of}{name}"));
        }
        Ok(())
    }

    /// Reads the list of spaces. A file that has such a list may name no other spaces.
    fn spaces(&mut self, spaces: Value<'a>) -> Result<(), ReadError> {
        self.spaces_listed = true;
        for space in spaces.list("a list of spaces")? {
            let mut fields = Fields::of(space, "a space, such as {\"name\": \"sram\"}")?;
            let name = fields.need("name")?.name("the name of a space")?;
            let read = Space {
                name: name.clone().into_owned(),
                capacity: fields.bytes("capacity")?,
                alignment: fields.take("alignment").map_or(Ok(Bytes(1)), alignment_of)?,
                base: fields.bytes("base")?.unwrap_or_default(),
            };
            let id = self.builder.space(read);
            if self.space_ids.insert(name, id).is_some() {
                return Err(space.error("json::duplicate-space", "there is already a space of that name"));
            }
            self.left_over(&fields, "spaces[].")?;
        }
        Ok(())
    }

    /// The space that a buffer names. If the file has no list of spaces, an unknown name makes a new space; if it has
    /// one, an unknown name is an error.
    fn space(&mut self, value: Value<'a>) -> Result<SpaceId, ReadError> {
        let name = value.name("the name of a space")?;
        if let Some(&id) = self.space_ids.get(&name) {
            return Ok(id);
        }
        if self.spaces_listed {
            let mut known: Vec<&str> = self.space_ids.keys().map(Cow::as_ref).collect();
            known.sort_unstable();
            let error = value.error("json::unknown-space", format!("there is no space called `{name}`"));
            return Err(error.help(format!("`spaces` lists {}", known.join(", "))));
        }
        let id = self.builder.space(Space::new(name.as_ref()));
        self.space_ids.insert(name, id);
        Ok(id)
    }

    /// Reads the buffers, whose names must differ.
    fn buffers(&mut self, buffers: Value<'a>) -> Result<(), ReadError> {
        for value in buffers.list("a list of buffers")? {
            let mut fields =
                Fields::of(value, "a buffer, such as {\"id\": \"a\", \"size\": 64, \"lifetime\": [[0, 2]]}")?;
            let id_value = fields.need("id")?;
            let name = id_value.name("the id of a buffer, a string or a number")?;
            let buffer = self.buffer(&name, &mut fields)?;
            self.left_over(&fields, "buffers[].")?;
            let id = self.builder.buffer(buffer);
            self.spans.push(id_value.span());
            if self.buffer_ids.insert(name.clone(), id).is_some() {
                let message = format!("there is already a buffer called `{name}`");
                return Err(id_value.error("json::duplicate-id", message));
            }
        }
        Ok(())
    }

    /// Reads one buffer of the long form, such as `{"id": "a", "size": 64, "lifetime": [[0, 4]], "slots": 2}`.
    /// `fields` are those of the buffer; its `id` has been taken already.
    fn buffer(&mut self, name: &str, fields: &mut Fields<'a>) -> Result<Buffer, ReadError> {
        let size_value = fields.need("size")?;
        let size = self.size(size_value)?;
        let lifetime = fields.need("lifetime")?.list("a lifetime, such as [[0, 4], [6, 9]]")?;
        // A window lies inside of its buffer, so the size has to be known before the intervals are read.
        let lifetime = lifetime.into_iter().map(|value| interval(value, &size)).collect::<Result<Lifetime, _>>()?;
        let mut buffer = Buffer { size, ..Buffer::new(name, 0, lifetime) };
        if let Some(value) = fields.take("alignment") {
            buffer.alignment = alignment_of(value)?;
        }
        // A space is one name or a list of names to choose from.
        match fields.take("space") {
            Some(several) if several.is_list() => {
                for value in several.list("a list of spaces")? {
                    let space = self.space(value)?;
                    buffer.spaces.push(space);
                }
            }
            Some(one) => buffer.spaces.push(self.space(one)?),
            None => {}
        }
        if let Some(value) = fields.take("slots") {
            let slots = value.number("a number of slots")?;
            let slots = u32::try_from(slots).ok().filter(|&slots| slots > 0);
            buffer.slots = slots.ok_or_else(|| value.expected("1 or more slots"))?;
        }
        buffer.set_fixed(fields.bytes("offset")?);
        buffer.exclusive = fields.take("exclusive").map(Value::boolean).transpose()?.unwrap_or(false);
        // The pipe that produces the buffer, and the innermost loop around it; some strategies use them.
        buffer.set_pipe(fields.name("pipe")?.as_deref());
        buffer.set_enclosing_loop(fields.name("loop")?.as_deref());
        if let Some(value) = fields.take("tie") {
            buffer.set_tie(Some(self.tie(value)?));
        }
        Ok(buffer)
    }

    /// Reads a size: bytes (`64`), the components of a texture (`[8, 4]`: width, height, …), or a symbol for a size
    /// that is not known yet, with or without an upper bound in bytes (`{"symbol": "n", "at_most": 512}` or `"n"`).
    fn size(&mut self, value: Value<'a>) -> Result<Size, ReadError> {
        if value.is_list() {
            let components = value.list("a list of 2, 3 or 4 components")?;
            if !(2..=4).contains(&components.len()) {
                return Err(value.expected("a list of 2, 3 or 4 components"));
            }
            let components = components.into_iter().map(|component| component.number("a component of 0 or more"));
            return Ok(Size::Shape(components.collect::<Result<_, _>>()?));
        }
        if value.is_object() {
            let mut fields = Fields::of(value, "a size")?;
            let symbol = fields.need("symbol")?.string("the name of a symbol")?.into();
            let at_most = fields.bytes("at_most")?;
            self.left_over(&fields, "size.")?;
            return Ok(Size::Symbolic { symbol, at_most });
        }
        if value.is_string() {
            let symbol: Box<str> = value.string("the name of a symbol")?.into();
            // A symbol of digits is a number that somebody has put into quotes. As a symbol it would be a size that is
            // not known.
            if symbol.bytes().all(|byte| byte.is_ascii_digit()) {
                let error = value.error("json::quoted-size", format!("the size `{symbol}` stands in quotes"));
                return Err(error.help("a size is a number; in quotes stands the name of a size that is not known yet"));
            }
            return Ok(Size::Symbolic { symbol, at_most: None });
        }
        value.number("a size of 0 or more bytes").map(|bytes| Size::Fixed(Bytes(bytes)))
    }

    /// Reads the group that a buffer is tied to and the buffer's distance in bytes from the start of that group. A
    /// group that no buffer has named before is made here.
    fn tie(&mut self, value: Value<'a>) -> Result<Tie, ReadError> {
        let mut fields = Fields::of(value, "a tie, such as {\"group\": \"g\", \"at\": 0}")?;
        let name = fields.need("group")?.name("the name of a group")?;
        let at = fields.bytes("at")?.unwrap_or_default();
        self.left_over(&fields, "tie.")?;
        let group = match self.group_ids.get(&name) {
            Some(&group) => group,
            None => {
                let group = self.builder.group(name.as_ref());
                self.group_ids.insert(name, group);
                group
            }
        };
        Ok(Tie { group, at })
    }

    /// Reads the short form, a list of `[size, first_task, last_task]`. The buffer is still alive in its last task,
    /// so its half-open life ends one step later: `[64, 0, 2]` lives in `0..3`.
    fn records(&mut self, records: Value<'a>) -> Result<(), ReadError> {
        for (index, record) in records.list("a list of records")?.into_iter().enumerate() {
            let parts = record.list("a record [size, first_task, last_task]")?;
            let [size, first, last] = parts.as_slice() else {
                return Err(record.expected("a record [size, first_task, last_task]"));
            };
            let size = self.size(*size)?;
            let (first_task, last_task) = (first.number("a task of 0 or more")?, last.number("a task of 0 or more")?);
            if last_task < first_task {
                let message = format!("the last task {last_task} comes before the first task {first_task}");
                return Err(last.error("json::end-before-start", message));
            }
            let lifetime = Lifetime::new(first_task, last_task + 1);
            let name = index.to_string();
            let id = self.builder.buffer(Buffer { size, ..Buffer::new(name.as_str(), 0, lifetime) });
            self.buffer_ids.insert(Cow::Owned(name), id);
            self.spans.push(record.span());
        }
        Ok(())
    }

    /// The buffer that a field names by its `id`.
    fn named(&self, value: Value<'a>) -> Result<BufferId, ReadError> {
        let name = value.name("the id of a buffer")?;
        let unknown = || value.error("json::unknown-buffer", format!("there is no buffer called `{name}`"));
        self.buffer_ids.get(&name).copied().ok_or_else(unknown)
    }

    /// The buffer at a position of the list of buffers.
    fn numbered(&self, value: Value<'a>) -> Result<BufferId, ReadError> {
        let index = value.number("the position of a buffer")?;
        match usize::try_from(index).ok().filter(|&index| index < self.spans.len()) {
            Some(index) => Ok(BufferId::from_index(index)),
            None => {
                let message = format!("there is no buffer number {index}; the last is {}", self.spans.len() as i64 - 1);
                Err(value.error("json::unknown-buffer", message))
            }
        }
    }

    /// The buffers that a field lists by position.
    fn positions(&self, list: Value<'a>) -> Result<Vec<BufferId>, ReadError> {
        let items = list.list("a list of positions of buffers")?;
        items.into_iter().map(|item| self.numbered(item)).collect()
    }

    /// Reads the list of overlays, such as `[{"id": "b", "over": "a", "kind": "same-base"}]`: `b` may start on bytes
    /// that `a` still occupies. Without a kind it must start at the same base.
    fn overlays(&mut self, value: Option<Value<'a>>) -> Result<(), ReadError> {
        let Some(value) = value else { return Ok(()) };
        for entry in value.list("a list of overlays")? {
            let mut fields = Fields::of(entry, "an overlay, such as {\"id\": \"b\", \"over\": \"a\"}")?;
            let (buffer, over) = (self.named(fields.need("id")?)?, self.named(fields.need("over")?)?);
            let kind = match fields.take("kind") {
                None => OverlayKind::SameBase,
                Some(value) => match value.string("a kind")?.as_ref() {
                    "same-base" => OverlayKind::SameBase,
                    "any-offset" => OverlayKind::AnyOffset,
                    _ => return Err(value.expected("same-base or any-offset")),
                },
            };
            self.left_over(&fields, "may_overlay[].")?;
            self.relations = Some(entry.span());
            if buffer == over {
                return Err(entry.error("json::self-relation", "a buffer cannot overlay itself"));
            }
            self.builder.overlay(Overlay { buffer, over, kind });
        }
        Ok(())
    }

    /// Reads pairs of buffers, such as `[["a", "b"], ["a", "c"]]`.
    fn pairs(&mut self, value: Option<Value<'a>>) -> Result<Vec<(BufferId, BufferId)>, ReadError> {
        let Some(value) = value else { return Ok(Vec::new()) };
        let mut pairs = Vec::new();
        for entry in value.list("a list of pairs of ids")? {
            let names = entry.list("a pair of ids, such as [\"a\", \"b\"]")?;
            let [one, other] = names.as_slice() else {
                return Err(entry.expected("a pair of ids, such as [\"a\", \"b\"]"));
            };
            let (one, other) = (self.named(*one)?, self.named(*other)?);
            if one == other {
                return Err(entry.error("json::self-relation", "a buffer is related to itself"));
            }
            self.relations = Some(entry.span());
            pairs.push((one, other));
        }
        Ok(pairs)
    }

    /// Reads the prices of pairs that have bytes in common: `[["a", "b", 3], ["a", "c"]]`. A pair without a price
    /// costs 1.
    fn reuse_costs(&mut self, value: Option<Value<'a>>) -> Result<(), ReadError> {
        const EXPECTED: &str = "a pair of ids with its cost, such as [\"a\", \"b\", 1]";
        let Some(value) = value else { return Ok(()) };
        for entry in value.list("a list of pairs of ids with their costs")? {
            let (one, other, weight) = match *entry.list(EXPECTED)?.as_slice() {
                [one, other] => (one, other, 1),
                [one, other, weight] => (one, other, weight.number("a cost of 0 or more")?),
                _ => return Err(entry.expected(EXPECTED)),
            };
            let (one, other) = (self.named(one)?, self.named(other)?);
            if one == other {
                return Err(entry.error("json::self-relation", "a buffer is related to itself"));
            }
            self.relations = Some(entry.span());
            self.builder.reuse_cost(ReuseCost { one, other, weight });
        }
        Ok(())
    }

    /// Reads which buffer is computed from which. `children` has a list for each buffer, in the order of the buffers:
    /// the positions of the buffers that are computed from it. `outputs` lists the buffers that an output of the
    /// graph reads. For `b = f(a)` with `a` at position 0 and `b` at 1 as a result: `"dependencies": [[1], []]`,
    /// `"read_by_outputs": [1]`.
    fn dependencies(&mut self, children: Option<Value<'a>>, outputs: Option<Value<'a>>) -> Result<(), ReadError> {
        let Some(children_value) = children else {
            return match outputs {
                Some(value) => {
                    Err(value.error("json::no-dependencies", "`read_by_outputs` makes sense only with `dependencies`"))
                }
                None => Ok(()),
            };
        };
        let lists = children_value.list("a list of lists of positions")?;
        if lists.len() != self.spans.len() {
            let message = format!("there are {} buffers, but dependencies of {}", self.spans.len(), lists.len());
            return Err(children_value.error("json::dependency-count", message));
        }
        let children = lists.into_iter().map(|list| self.positions(list)).collect::<Result<IndexVec<_, _>, _>>()?;
        let read_by_outputs = outputs.map(|list| self.positions(list)).transpose()?.unwrap_or_default();
        self.relations = Some(children_value.span());
        self.builder.dependencies(Dependencies { children, read_by_outputs });
        Ok(())
    }
}

/// Reads an alignment in bytes, which is at least 1.
fn alignment_of(value: Value) -> Result<Bytes, ReadError> {
    match value.number("an alignment of at least 1")? {
        0 => Err(value.error("json::zero-alignment", "the alignment must be at least 1")),
        alignment => Ok(Bytes(alignment)),
    }
}

/// Reads one stretch of a life: `[start, end]`, or `[start, end, low, high]` if only the bytes `low..high` of the
/// buffer are in use. `size` is that of the buffer, in which the window must lie; a symbolic size without a bound is
/// not compared.
fn interval(value: Value, size: &Size) -> Result<Interval, ReadError> {
    // The usual mistake is `"lifetime": [0, 2]`, where the items are numbers and no lists.
    let flat = |error: ReadError| error.help("a life is a list of intervals, also if it has one only: [[0, 2]]");
    let parts = value.list("an interval [start, end] or [start, end, low, high]").map_err(flat)?;
    let numbers = parts.iter().map(|part| part.number("a number of 0 or more")).collect::<Result<Vec<_>, _>>()?;
    let interval = match *numbers.as_slice() {
        [start, end] => Interval::new(start, end),
        [start, end, low, high] => Interval::with_window(start, end, low, high),
        _ => return Err(value.expected("an interval [start, end] or [start, end, low, high]")),
    };
    if interval.end < interval.start {
        let message = format!("the interval ends at {}, before its start at {}", interval.end, interval.start);
        return Err(value.error("json::end-before-start", message));
    }
    let outside = interval
        .window
        .is_some_and(|window| window.low > window.high || size.bytes().is_some_and(|size| window.high > size));
    if outside {
        return Err(value.error("json::window", "the window does not lie inside the buffer"));
    }
    Ok(interval)
}

/// Writes a problem, one buffer on each line. Reading the text again gives an equal problem.
pub fn write(problem: &Problem) -> String {
    item_lines::to_string(&ProblemFile::of(problem))
}

/// The file as it is written: the fields of this type and of the types below are those of the JSON.
#[derive(Serialize)]
struct ProblemFile<'a> {
    spaces: Vec<SpaceFile<'a>>,
    buffers: Vec<BufferFile<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    may_overlay: Vec<OverlayFile<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    must_share: Vec<[&'a str; 2]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    must_not_share: Vec<[&'a str; 2]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reuse_costs: Vec<(&'a str, &'a str, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dependencies: Option<Vec<Vec<usize>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_by_outputs: Option<Vec<usize>>,
}

#[derive(Serialize)]
struct SpaceFile<'a> {
    name: &'a str,
    capacity: Option<u64>,
    alignment: u64,
    base: u64,
}

#[derive(Serialize)]
struct BufferFile<'a> {
    id: &'a str,
    size: SizeFile<'a>,
    #[serde(skip_serializing_if = "is_one")]
    alignment: u64,
    space: Vec<&'a str>,
    lifetime: Vec<IntervalFile>,
    #[serde(skip_serializing_if = "is_one")]
    slots: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    #[serde(skip_serializing_if = "is_false")]
    exclusive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pipe: Option<&'a str>,
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    enclosing_loop: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tie: Option<TieFile<'a>>,
}

#[derive(Serialize)]
struct TieFile<'a> {
    group: &'a str,
    at: u64,
}

#[derive(Serialize)]
struct OverlayFile<'a> {
    id: &'a str,
    over: &'a str,
    kind: &'static str,
}

impl<'a> OverlayFile<'a> {
    /// An overlay as it is written.
    fn of(problem: &'a Problem, overlay: &Overlay) -> OverlayFile<'a> {
        let kind = match overlay.kind {
            OverlayKind::SameBase => "same-base",
            OverlayKind::AnyOffset => "any-offset",
        };
        OverlayFile { id: name_of(problem, overlay.buffer), over: name_of(problem, overlay.over), kind }
    }
}

/// A size as files have it.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum SizeFile<'a> {
    /// A number of bytes.
    Bytes(u64),
    /// The components of a texture: width, height, and so on.
    Shape(&'a [u64]),
    /// A size that is not known yet, with an upper bound in bytes if there is one.
    Symbol { symbol: &'a str, at_most: Option<u64> },
}

impl<'a> SizeFile<'a> {
    /// A size as it is written.
    pub(crate) fn of(size: &'a Size) -> SizeFile<'a> {
        match size {
            Size::Fixed(bytes) => SizeFile::Bytes(bytes.0),
            Size::Shape(components) => SizeFile::Shape(components),
            Size::Symbolic { symbol, at_most } => SizeFile::Symbol { symbol, at_most: at_most.map(|bytes| bytes.0) },
        }
    }
}

/// An interval as files have it.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum IntervalFile {
    /// Start and end.
    Whole([u64; 2]),
    /// Start, end, and the first byte in use and the byte after the last.
    Window([u64; 4]),
}

/// The stretches of a lifetime as they are written.
pub(crate) fn lifetime_file(lifetime: &Lifetime) -> Vec<IntervalFile> {
    lifetime.intervals().map(IntervalFile::of).collect()
}

impl IntervalFile {
    /// One stretch as it is written.
    fn of(interval: Interval) -> IntervalFile {
        let (Step(start), Step(end)) = (interval.start, interval.end);
        match interval.window {
            Some(window) => IntervalFile::Window([start, end, window.low.0, window.high.0]),
            None => IntervalFile::Whole([start, end]),
        }
    }
}

/// Whether a number is 1, which is the default of the fields that use this test, so that they are left out.
fn is_one(value: &u64) -> bool {
    *value == 1
}

/// Whether a field has its default, so that it is left out.
fn is_false(value: &bool) -> bool {
    !*value
}

/// The name of a buffer.
fn name_of(problem: &Problem, id: BufferId) -> &str {
    &problem.buffers()[id].name
}

/// Pairs of buffers by name.
fn named_pairs<'a>(problem: &'a Problem, pairs: &[(BufferId, BufferId)]) -> Vec<[&'a str; 2]> {
    pairs.iter().map(|&(one, other)| [name_of(problem, one), name_of(problem, other)]).collect()
}

/// The positions of buffers in the list of buffers.
fn indices(ids: &[BufferId]) -> Vec<usize> {
    ids.iter().map(|id| id.index()).collect()
}

impl<'a> ProblemFile<'a> {
    /// A problem as it is written.
    fn of(problem: &'a Problem) -> ProblemFile<'a> {
        // Relations are written by name, so that a reader can edit the file; dependencies by position, because there
        // are many of them.
        ProblemFile {
            spaces: problem.spaces().iter().map(SpaceFile::of).collect(),
            buffers: problem.buffers().iter().map(|buffer| BufferFile::of(problem, buffer)).collect(),
            may_overlay: problem.overlays().iter().map(|overlay| OverlayFile::of(problem, overlay)).collect(),
            must_share: named_pairs(problem, problem.must_share()),
            must_not_share: named_pairs(problem, problem.must_not_share()),
            reuse_costs: problem
                .reuse_costs()
                .iter()
                .map(|cost| (name_of(problem, cost.one), name_of(problem, cost.other), cost.weight))
                .collect(),
            dependencies: problem
                .dependencies()
                .map(|dependencies| dependencies.children.iter().map(|children| indices(children)).collect()),
            read_by_outputs: problem.dependencies().map(|dependencies| indices(&dependencies.read_by_outputs)),
        }
    }
}

impl<'a> SpaceFile<'a> {
    /// A space as it is written.
    fn of(space: &'a Space) -> SpaceFile<'a> {
        let capacity = space.capacity.map(|bytes| bytes.0);
        SpaceFile { name: &space.name, capacity, alignment: space.alignment.0, base: space.base.0 }
    }
}

impl<'a> BufferFile<'a> {
    /// A buffer as it is written.
    fn of(problem: &'a Problem, buffer: &'a Buffer) -> BufferFile<'a> {
        BufferFile {
            id: &buffer.name,
            size: SizeFile::of(&buffer.size),
            alignment: buffer.alignment.0,
            space: buffer.spaces.iter().map(|&space| problem.spaces()[space].name.as_str()).collect(),
            lifetime: lifetime_file(&buffer.lifetime),
            slots: u64::from(buffer.slots),
            offset: buffer.fixed().map(|offset| offset.0),
            exclusive: buffer.exclusive,
            pipe: buffer.pipe(),
            enclosing_loop: buffer.enclosing_loop(),
            tie: buffer.tie().map(|tie| TieFile { group: &problem.groups()[tie.group], at: tie.at.0 }),
        }
    }
}
