//! The format `dsa`: recorded kernels with reuse penalties, as a public solver exchanges them.
//!
//! ```json
//! {"schema_version": 1, "profile": "pypto_research_v1", "instance": "softmax",
//!  "problem": {
//!   "pools": [{"id": 1, "name": "Vec", "capacity": 188416, "reserved_ranges": [{"begin": 0, "end": 4096}]}],
//!   "buffers": [{"id": 0, "name": "x", "size": 256, "alignment": 32, "allowed_pools": [1],
//!                "live_intervals": [{"lower": 0, "upper": 4}]},
//!               {"id": 1, "name": "y", "size": 256, "alignment": 32, "allowed_pools": [1],
//!                "live_intervals": [{"lower": 6, "upper": 9}]}],
//!   "cost_model": {"reuse_penalties": [{"first": 0, "second": 1, "cost": 1}]}}}
//! ```
//!
//! A file holds one such object, or one on every line. If there are several, the user chooses one by its `instance`.
//!
//! | in the file | in the problem |
//! |---|---|
//! | a pool, its reserved ranges | a space; exclusive buffers at fixed offsets, called `reserved POOL LOW` |
//! | `colocations`, `separations`, `pinned_allocations` | must share, must not share, fixed offsets |
//! | `temporal_exclusions` | permission for the later buffer to lie anywhere on the earlier one |
//! | `reuse_penalties` | reuse costs |
//!
//! Intervals are half-open. Fields that are not known are named in a note; what would change the meaning (the
//! geometry of banks) is an error.
//!
//! A `Json` is a value that has not been parsed yet and knows its place in the text. `Fields` is a JSON object
//! whose fields are taken out one by one (`take` for an optional one, `need` for one that must be there), so that in
//! the end those that nobody asked for are left.

pub(crate) mod solution;
mod write;

pub use solution::{read_solution, write_solution};
pub use write::write;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use memplan_core::{
    Buffer, BufferId, Bytes, Interval, Lifetime, Overlay, OverlayKind, ProblemBuilder, ReuseCost, Space, SpaceId, Span,
};

use super::json::Fields;
use super::{RecordFormat, Records};
use crate::ReadError;
use crate::json::Json;

/// The beginning of the name of a buffer that stands for a reserved range; the pool's name and the offset follow.
pub(crate) const RESERVED: &str = "reserved ";

/// The `dsa` format.
pub struct Dsa;

impl RecordFormat for Dsa {
    fn name(&self) -> &'static str {
        "dsa"
    }

    fn describe(&self) -> &'static str {
        "kernels with reuse penalties: {\"schema_version\": 1, \"problem\": {\"pools\": ...}}, or one on each line"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["dsa.json", "jsonl"]
    }

    fn sniff(&self, text: &str) -> bool {
        // The two words stand near the beginning of every such file, and files may have hundreds of megabytes. So only
        // the first mebibyte is searched. The cut moves back to the start of a character, because a slice must not end
        // inside of one.
        let mut end = text.len().min(1 << 20);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let head = &text[..end];
        head.trim_start().starts_with('{') && head.contains("\"schema_version\"") && head.contains("\"pools\"")
    }

    fn read(&self, text: &str) -> Result<Records, ReadError> {
        read(text, None)
    }
}

/// The ids that a file gives its pools and buffers. They are numbers, but not always 0, 1, 2, …, and a solution of the
/// problem has to use them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// The name of the problem.
    pub instance: String,
    /// The pools' ids, in the order of the problem's spaces.
    pub pools: Vec<u64>,
    /// The buffers' ids, in the order of the problem's buffers; reserved ranges have none.
    pub buffers: Vec<u64>,
}

/// Reads a problem. If the file has several, `instance` is the name of the one to read.
pub fn read(text: &str, instance: Option<&str>) -> Result<Records, ReadError> {
    read_with_numbers(text, instance).map(|(records, _)| records)
}

/// As [`read`], and also returns the numbers by which the file names its pools and buffers: a solution has to use them.
pub fn read_with_numbers(text: &str, instance: Option<&str>) -> Result<(Records, Numbers), ReadError> {
    let problems = problems(text)?;
    let chosen = match (instance, problems.as_slice()) {
        (None, [only]) => only,
        (_, []) => {
            return Err(ReadError::new("dsa::no-problem", text, Span::new(0, 0), "there is no problem in the file"));
        }
        // A file may hold hundreds of problems, so only a few names are shown.
        (None, several) => {
            let named: Vec<String> = several.iter().take(3).map(|(name, _)| format!("`{name}`")).collect();
            let more = if several.len() > named.len() { ", …" } else { "" };
            let message = format!("the file holds {} problems: {}{more}", several.len(), named.join(", "));
            let error = ReadError::new("dsa::several-problems", text, Span::new(0, 1), message);
            return Err(error.help("say which one with --instance NAME"));
        }
        (Some(instance), several) => {
            match several.iter().filter(|(name, _)| name == instance).collect::<Vec<_>>()[..] {
                [found] => found,
                [_, (_, again), ..] => {
                    let message = format!("two problems of the file are called `{instance}`");
                    return Err(again.error("dsa::duplicate-instance", message));
                }
                [] => {
                    let message = format!("none of the {} problems of the file is called `{instance}`", several.len());
                    let error = ReadError::new("dsa::unknown-instance", text, Span::new(0, 1), message);
                    // A part of a name is often enough to recognise what was meant.
                    let close = several.iter().find(|(name, _)| name.contains(instance));
                    return Err(match close {
                        Some((name, _)) => error.help(format!("there is `{name}`")),
                        None => error,
                    });
                }
            }
        }
    };
    let mut reader = Reader::default();
    reader.numbers.instance = chosen.0.to_string();
    reader.problem(text, chosen.1)
}

/// The names of the problems of a file, in order.
pub fn instances(text: &str) -> Result<Vec<String>, ReadError> {
    Ok(problems(text)?.into_iter().map(|(name, _)| name.into_owned()).collect())
}

/// The problems of a file with their names: one that is the whole text, or one on each line. A problem without a name
/// is called by its number, counted from 0.
fn problems(text: &str) -> Result<Vec<(Cow<'_, str>, Json<'_>)>, ReadError> {
    let values = match Json::parse(text) {
        Ok(one) => vec![one],
        Err(error) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let values = lines.map(|line| Json::parse_part(text, line)).collect::<Result<Vec<_>, _>>();
            // Neither the whole text nor each line is JSON. A text of several lines is taken for one problem a line,
            // and the error is that of its first bad line; a text of one line is a single problem with a mistake in
            // it.
            values.map_err(|line_error| if text.trim_end().lines().count() > 1 { line_error } else { error })?
        }
    };
    values
        .into_iter()
        .enumerate()
        .map(|(number, value)| {
            let entries = value.entries("a problem, an object with `schema_version` and `problem`")?;
            let instance = entries.iter().find(|(key, _)| key == "instance");
            let name = instance.map(|(_, name)| name.name("the name of the instance")).transpose()?;
            Ok((name.unwrap_or_else(|| Cow::Owned(number.to_string())), value))
        })
        .collect()
}

/// What has been read so far of one problem.
#[derive(Default)]
struct Reader {
    /// The problem so far.
    builder: ProblemBuilder,
    /// Where each buffer stands in the text, in the order of the buffers.
    spans: Vec<Span>,
    /// Messages for the user about the file.
    notes: Vec<String>,
    /// Unknown fields with the path of the object they stand in, such as `pools[].colour`.
    ignored: BTreeSet<String>,
    /// The space that each pool became, by the pool's id in the file.
    pools: HashMap<u64, SpaceId>,
    /// The buffers by their ids in the file.
    buffers: HashMap<u64, BufferId>,
    /// The names of all buffers so far.
    names: HashSet<String>,
    /// The ids by which the file names its pools and buffers.
    numbers: Numbers,
}

/// Fields that say where something comes from and mean nothing to a plan.
const PROVENANCE: [&str; 3] = ["metadata", "profile", "pypto_structure"];

impl Reader {
    /// Reads one problem, the object `value` of the file `text`. Unknown fields are named in a note.
    fn problem(mut self, text: &str, value: Json) -> Result<(Records, Numbers), ReadError> {
        let mut top = Fields::of(value, "a problem")?;
        let version = top.need("schema_version")?;
        // A later version may change the meaning of fields, so it is refused and not guessed at.
        if version.number("a version")? != 1 {
            return Err(version.error("dsa::version", "only schema version 1 is known"));
        }
        let mut problem = Fields::of(top.need("problem")?, "a problem with `pools` and `buffers`")?;
        // The caller has read the instance already. It is taken here so that it is not reported as unknown.
        top.take("instance");
        let pools = problem.need("pools")?;
        self.pools(pools)?;
        self.buffers(problem.need("buffers")?)?;
        // Reserved ranges become buffers of our own. They come after those of the file, whose numbers must stay as
        // they are.
        self.reserve(pools)?;
        if let Some(constraints) = problem.take("constraints") {
            self.constraints(Fields::of(constraints, "an object of constraints")?)?;
        }
        if let Some(model) = problem.take("cost_model") {
            let mut model = Fields::of(model, "a cost model")?;
            self.penalties(model.take("reuse_penalties"))?;
            self.left_over(&model, "cost_model.")?;
        }
        // The objective says what the file's own solver minimises. Our search has a fixed objective, so the field is
        // taken, which makes it a known field, and not used.
        problem.take("objective");
        self.left_over(&problem, "problem.")?;
        self.left_over(&top, "")?;
        if !self.ignored.is_empty() {
            let names: Vec<&str> = self.ignored.iter().map(String::as_str).collect();
            self.notes.push(format!("ignored unknown fields: {}", names.join(", ")));
        }
        let Reader { builder, spans, notes, numbers, .. } = self;
        match builder.build() {
            Ok(problem) => Ok((Records { problem, notes, spans }, numbers)),
            Err(error) => {
                // The span of a whole buffer may be long. The message shows its beginning.
                let at_buffer = error.buffer().and_then(|buffer| spans.get(memplan_core::Id::index(buffer)).copied());
                let span = at_buffer.unwrap_or_else(|| value.span());
                let start = span.start as usize;
                let span = Span::new(start, (span.end as usize).min(start + 200));
                Err(ReadError::new("dsa::problem", text, span, error.to_string()))
            }
        }
    }

    /// Collects the fields that were not taken, for a note; `of` is the path of their object, such as `pools[].`.
    /// Fields about banks of memory are an error instead: they restrict where buffers may lie, and a plan that
    /// ignored them would be wrong.
    fn left_over(&mut self, fields: &Fields, of: &str) -> Result<(), ReadError> {
        for (name, value) in fields.left() {
            if name.contains("bank") && !value.is_null() {
                let message = format!("`{of}{name}`: the geometry of banks is not supported");
                return Err(value.error("dsa::banks", message));
            }
            if !PROVENANCE.contains(&name) {
                self.ignored.insert(format!("{of}{name}"));
            }
        }
        Ok(())
    }

    /// Reads the pools as spaces. Their reserved ranges are read later (`reserve`), when all buffers have their ids.
    fn pools(&mut self, pools: Json) -> Result<(), ReadError> {
        let values = pools.list("a list of pools")?;
        let of_pool = ["a pool", "the id of a pool", "the name of a pool"];
        let named = values.iter().map(|&value| number_and_name(value, of_pool)).collect::<Result<Vec<_>, _>>()?;
        for ((&value, &(number, _)), name) in values.iter().zip(&named).zip(unique_names(&named)) {
            let mut fields = Fields::of(value, "a pool")?;
            let space = self.builder.space(Space { capacity: fields.bytes("capacity")?, ..Space::new(name) });
            self.numbers.pools.push(number);
            // These are read elsewhere. They are taken here so that they are not reported as unknown.
            for known in ["id", "name", "reserved_ranges"] {
                fields.take(known);
            }
            self.left_over(&fields, "pools[].")?;
            if self.pools.insert(number, space).is_some() {
                return Err(value.error("dsa::duplicate-pool", format!("there is already a pool {number}")));
            }
        }
        Ok(())
    }

    /// Bytes that a pool reserves may not be used by any buffer. A problem has no word for that, so each reserved range
    /// becomes an exclusive buffer at a fixed offset. It shares its bytes with nobody whatever its lifetime is, so one
    /// step of life is enough. These buffers come after all others, so that the buffers of the file keep their ids.
    fn reserve(&mut self, pools: Json) -> Result<(), ReadError> {
        for value in pools.list("a list of pools")? {
            let mut fields = Fields::of(value, "a pool")?;
            let space = self.pool(fields.need("id")?)?;
            let Some(ranges) = fields.take("reserved_ranges") else { continue };
            for (low, high, span) in self.separate(ranges)? {
                // Nothing is changed: the builder shows its spaces in this way only.
                let info = &self.builder.spaces_mut()[space];
                // The part of a range beyond the pool's capacity means nothing, and the buffer would not fit.
                let high = info.capacity.map_or(high, |capacity| high.min(capacity.0));
                if low >= high {
                    continue;
                }
                let mut name = format!("{RESERVED}{} {low}", info.name);
                // A buffer of the file may have this name.
                while !self.names.insert(name.clone()) {
                    name.push('#');
                }
                let buffer = Buffer::new(name, high - low, Lifetime::new(0, 1));
                let spaces = std::iter::once(space).collect();
                self.builder.buffer(Buffer { exclusive: true, spaces, ..buffer.with_fixed(Bytes(low)) });
                self.spans.push(span);
            }
        }
        Ok(())
    }

    /// The reserved ranges of a pool as ranges that have no byte in common: begin, end, and where the first one of each
    /// stands in the text. A file may reserve a byte twice, but two exclusive buffers cannot lie on it.
    fn separate(&mut self, ranges: Json) -> Result<Vec<(u64, u64, Span)>, ReadError> {
        let mut separate: Vec<(u64, u64, Span)> = Vec::new();
        for range in ranges.list("a list of reserved ranges")? {
            let (mut low, mut high) = self.limits(range, "reserved_ranges[].")?;
            if low > high {
                let message = format!("the reserved range ends at {high}, before its begin at {low}");
                return Err(range.error("dsa::reserved-range", message));
            }
            let mut span = range.span();
            // The ranges that this one overlaps become one with it, in the place of the first of them.
            let overlaps = |&(begin, end, _): &(u64, u64, Span)| low < end && begin < high;
            let (met, place) = (separate.iter().filter(|range| overlaps(range)), separate.iter().position(overlaps));
            if let Some(place) = place {
                span = separate[place].2;
                (low, high) = met.fold((low, high), |(low, high), range| (low.min(range.0), high.max(range.1)));
                separate.retain(|&(begin, end, _)| !(low < end && begin < high));
            }
            separate.insert(place.unwrap_or(separate.len()), (low, high, span));
        }
        Ok(separate)
    }

    /// Reads the buffers and remembers the number that each has in the file.
    fn buffers(&mut self, buffers: Json) -> Result<(), ReadError> {
        let values = buffers.list("a list of buffers")?;
        let of_buffer = ["a buffer", "the id of a buffer", "the name of a buffer"];
        let named = values.iter().map(|&value| number_and_name(value, of_buffer)).collect::<Result<Vec<_>, _>>()?;
        for ((&value, &(number, _)), name) in values.iter().zip(&named).zip(unique_names(&named)) {
            let buffer = self.buffer(value, &name)?;
            self.names.insert(name);
            let id = self.builder.buffer(buffer);
            self.numbers.buffers.push(number);
            self.spans.push(value.span());
            if self.buffers.insert(number, id).is_some() {
                return Err(value.error("dsa::duplicate-buffer", format!("there is already a buffer {number}")));
            }
        }
        Ok(())
    }

    /// Reads one buffer: its size, its stretches of life in any order, and the pools that it may be in.
    fn buffer(&mut self, value: Json, name: &str) -> Result<Buffer, ReadError> {
        let mut fields = Fields::of(value, "a buffer")?;
        let size = fields.need("size")?.number("a size in bytes")?;
        let mut intervals = Vec::new();
        for interval in fields.need("live_intervals")?.list("a list of intervals")? {
            let (start, end) = self.limits(interval, "live_intervals[].")?;
            if end < start {
                let message = format!("the interval ends at {end}, before its start at {start}");
                return Err(interval.error("dsa::end-before-start", message));
            }
            intervals.push(Interval::new(start, end));
        }
        intervals.sort_by_key(|interval| interval.start);
        let mut buffer = Buffer::new(name, size, intervals.into_iter().collect());
        buffer.alignment = fields.bytes("alignment")?.unwrap_or(Bytes(1)).max(Bytes(1));
        for pool in fields.need("allowed_pools")?.list("a list of pools")? {
            buffer.spaces.push(self.pool(pool)?);
        }
        // `number_and_name` has read these two fields. They are taken here so that they are not reported as unknown.
        for known in ["id", "name"] {
            fields.take(known);
        }
        self.left_over(&fields, "buffers[].")?;
        Ok(buffer)
    }

    /// The two ends of an interval, `lower` and `upper` or `begin` and `end`; `of` is its path, for a note about unknown
    /// fields.
    fn limits(&mut self, value: Json, of: &str) -> Result<(u64, u64), ReadError> {
        let mut fields = Fields::of(value, "an interval with `lower` and `upper`")?;
        let low = fields.take("begin");
        let high = fields.take("end");
        let low = low.map_or_else(|| fields.need("lower"), Ok)?;
        let high = high.map_or_else(|| fields.need("upper"), Ok)?;
        self.left_over(&fields, of)?;
        Ok((low.number("the lower end of an interval")?, high.number("the upper end of an interval")?))
    }

    /// The space of a pool, by the pool's id.
    fn pool(&self, value: Json) -> Result<SpaceId, ReadError> {
        let number = value.number("the id of a pool")?;
        let unknown = || value.error("dsa::unknown-pool", format!("there is no pool {number}"));
        self.pools.get(&number).copied().ok_or_else(unknown)
    }

    /// A buffer by its id in the file.
    fn known(&self, value: Json) -> Result<BufferId, ReadError> {
        let number = value.number("the id of a buffer")?;
        let unknown = || value.error("dsa::unknown-buffer", format!("there is no buffer {number}"));
        self.buffers.get(&number).copied().ok_or_else(unknown)
    }

    /// Reads which buffers share their place, which must not share bytes, which are never alive together, and which
    /// have a fixed place.
    fn constraints(&mut self, mut fields: Fields) -> Result<(), ReadError> {
        for group in list(fields.take("colocations"), "a list of colocations")? {
            let members = self.members(group)?;
            // Members of a group all share one place. Neighbouring pairs are enough to say so.
            for pair in members.windows(2) {
                self.builder.must_share(pair[0], pair[1]);
            }
        }
        for pair in list(fields.take("separations"), "a list of separations")? {
            let mut pair = Fields::of(pair, "a separation")?;
            let (one, other) = self.pair(&mut pair)?;
            self.left_over(&pair, "separations[].")?;
            self.builder.must_not_share(one, other);
        }
        for pair in list(fields.take("temporal_exclusions"), "a list of temporal exclusions")? {
            let mut pair = Fields::of(pair, "a temporal exclusion")?;
            let (one, other) = self.pair(&mut pair)?;
            self.left_over(&pair, "temporal_exclusions[].")?;
            self.exclude(one, other);
        }
        for pinned in list(fields.take("pinned_allocations"), "a list of pinned allocations")? {
            let (buffer, space, offset) = self.allocation(pinned)?;
            let info = &mut self.builder.buffers_mut()[buffer];
            info.set_fixed(Some(Bytes(offset)));
            // A pinned buffer has one space, whatever spaces it was allowed before.
            if let Some(space) = space {
                info.spaces = std::iter::once(space).collect();
            }
        }
        self.left_over(&fields, "constraints.")
    }

    /// Adds the permission for two buffers to share bytes: they are never in use at the same time although their
    /// recorded lives overlap. A problem says this as an overlay: the buffer that starts later may lie on the other
    /// one. An overlay needs one that starts later, so for two buffers that start together the permission is dropped,
    /// with a note, and the plan keeps them apart.
    fn exclude(&mut self, one: BufferId, other: BufferId) {
        let buffers = self.builder.buffers_mut();
        let start = |id: BufferId| buffers[id].lifetime.start();
        let (earlier, later) = if start(one) <= start(other) { (one, other) } else { (other, one) };
        if start(earlier) == start(later) {
            let (one, other) = (&buffers[one].name, &buffers[other].name);
            self.notes
                .push(format!("the temporal exclusion of `{one}` and `{other}` is not used: they start together"));
            return;
        }
        self.builder.overlay(Overlay { buffer: later, over: earlier, kind: OverlayKind::AnyOffset });
    }

    /// Reads what it costs if two buffers share bytes.
    fn penalties(&mut self, value: Option<Json>) -> Result<(), ReadError> {
        for penalty in list(value, "a list of reuse penalties")? {
            let mut fields = Fields::of(penalty, "a reuse penalty")?;
            let (one, other) = self.pair(&mut fields)?;
            let weight = fields.need("cost")?.number("a cost of 0 or more")?;
            self.left_over(&fields, "reuse_penalties[].")?;
            self.builder.reuse_cost(ReuseCost { one, other, weight });
        }
        Ok(())
    }

    /// The two buffers of `{"first": 0, "second": 1}`.
    fn pair(&self, fields: &mut Fields) -> Result<(BufferId, BufferId), ReadError> {
        // A reason is for people.
        fields.take("reason");
        Ok((self.known(fields.need("first")?)?, self.known(fields.need("second")?)?))
    }

    /// A group of buffers: a list, `{"buffers": […]}`, or a pair.
    fn members(&mut self, value: Json) -> Result<Vec<BufferId>, ReadError> {
        if value.is_list() {
            return value.list("a list of buffers")?.into_iter().map(|id| self.known(id)).collect();
        }
        let mut fields = Fields::of(value, "a colocation")?;
        let members = match fields.take("buffers") {
            Some(buffers) => buffers.list("a list of buffers")?.into_iter().map(|id| self.known(id)).collect(),
            None => self.pair(&mut fields).map(|(one, other)| vec![one, other]),
        };
        fields.take("reason");
        self.left_over(&fields, "colocations[].")?;
        members
    }

    /// Reads the place of a pinned buffer: the buffer, its space if one is named, and its offset in bytes. The id of
    /// the buffer may be called `buffer`, `buffer_id` or `id`, that of the pool `pool` or `pool_id`.
    fn allocation(&mut self, value: Json) -> Result<(BufferId, Option<SpaceId>, u64), ReadError> {
        let mut fields = Fields::of(value, "an allocation with `buffer`, `pool` and `offset`")?;
        let buffer = match fields.take("buffer").or_else(|| fields.take("buffer_id")) {
            Some(buffer) => buffer,
            None => fields.need("id")?,
        };
        let pool = fields.take("pool").or_else(|| fields.take("pool_id"));
        let offset = fields.need("offset")?.number("an offset in bytes")?;
        fields.take("reason");
        self.left_over(&fields, "pinned_allocations[].")?;
        Ok((self.known(buffer)?, pool.map(|pool| self.pool(pool)).transpose()?, offset))
    }
}

/// The items of an optional list; an absent list is empty.
fn list<'a>(value: Option<Json<'a>>, what: &str) -> Result<Vec<Json<'a>>, ReadError> {
    value.map_or_else(|| Ok(Vec::new()), |value| value.list(what))
}

/// The id of a pool or buffer, and its name; one without a name is called by its id. For messages: what it is, and what
/// its id and its name are.
fn number_and_name(value: Json, [what, id, name]: [&'static str; 3]) -> Result<(u64, String), ReadError> {
    let mut fields = Fields::of(value, what)?;
    let number = fields.need("id")?.number(id)?;
    let name = fields.take("name").map(|text| text.name(name)).transpose()?;
    Ok((number, name.map_or_else(|| number.to_string(), Cow::into_owned)))
}

/// Names for pools or buffers that the file calls so. In these files ids are unique and names need not be; in our
/// problems names are unique. So the id is appended to a name that occurs more than once, and once more if the file
/// has that name, too. Two such names cannot be equal, because they end with different ids.
fn unique_names(named: &[(u64, String)]) -> Vec<String> {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    named.iter().for_each(|(_, name)| *uses.entry(name).or_default() += 1);
    let unique = |(number, name): &(u64, String)| {
        let mut unique = name.clone();
        if uses[name.as_str()] > 1 {
            while uses.contains_key(unique.as_str()) {
                unique = format!("{unique}#{number}");
            }
        }
        unique
    };
    named.iter().map(unique).collect()
}
