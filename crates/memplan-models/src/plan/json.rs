//! Plans as JSON: what `memplan plan --json` prints and `memplan verify` takes. For one buffer of 64 bytes (line
//! breaks are ours):
//!
//! ```json
//! {"strategy": "search", "status": "optimal", "extent": 64, "lower_bound": 64,
//!  "spaces": [{"name": "default", "extent": 64, "lower_bound": 64, "peak_live": 64,
//!              "capacity": null, "alignment": 1}],
//!  "buffers": [{"id": "a", "space": "default", "size": 64, "lifetime": [[0, 2]],
//!               "offset": 0, "offsets": [0], "object": null}],
//!  "objects": [], "reused": []}
//! ```
//!
//! Types that end in `File` have the fields of the JSON. Two come from the format of problems: `SizeFile` writes a
//! size (a number of bytes, the components of a shape, or a symbol), `IntervalFile` one stretch of a lifetime. When a
//! plan is read, a `Json` is a value that has not been parsed yet and knows its place in the text.

use std::borrow::Cow;
use std::collections::HashMap;

use memplan_core::{
    Buffer, BufferId, Bytes, Id, ObjectId, Outcome, Placement, Plan, PlanCost, Problem, Reuse, SharedObject, Size,
    SpaceId, bound,
};
use serde::Serialize;
use smallvec::SmallVec;

use super::spaces_by_name;
use crate::ReadError;
use crate::json::Json;
use crate::records::json::{IntervalFile, SizeFile, lifetime_file};

/// Writes the outcome of planning as one line of JSON. `seconds` is the time that
/// planning took. Plans that are written to files go without it, so that equal
/// plans give equal files.
pub fn write(problem: &Problem, outcome: &Outcome, strategy: &str, seconds: Option<f64>) -> String {
    let file = PlanFile::of(problem, outcome, strategy, seconds);
    // Serialising fails only if a map has keys that are no strings, which our types do not have.
    let mut text = serde_json::to_string(&file).unwrap_or_default();
    text.push('\n');
    text
}

/// The file as it is written. All sizes, offsets and extents are in bytes. What depends on a plan is `None` or empty if
/// there is no plan.
#[derive(Serialize)]
struct PlanFile<'a> {
    strategy: &'a str,
    status: &'static str,
    extent: Option<u64>,
    lower_bound: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<Vec<&'a str>>,
    spaces: Vec<SpaceFile<'a>>,
    buffers: Vec<BufferFile<'a>>,
    objects: Vec<ObjectFile<'a>>,
    reused: Vec<ReuseFile<'a>>,
    #[serde(flatten)]
    cost: Option<CostFile<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

#[derive(Serialize)]
struct SpaceFile<'a> {
    name: &'a str,
    extent: Option<u64>,
    lower_bound: u64,
    peak_live: u64,
    capacity: Option<u64>,
    alignment: u64,
}

#[derive(Serialize)]
struct BufferFile<'a> {
    id: &'a str,
    space: &'a str,
    size: SizeFile<'a>,
    lifetime: Vec<IntervalFile>,
    /// The offset of the first slot, for readers who do not care about slots; `null` if the buffer has no place.
    offset: Option<u64>,
    /// The offset of each slot.
    offsets: Vec<u64>,
    /// For a buffer in parallel loops: how far its instances in two neighbouring iterations lie apart, for each loop.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    strides: Vec<u64>,
    /// The position of its shared object in `objects`; `null` if it does not use one.
    object: Option<usize>,
}

#[derive(Serialize)]
struct ObjectFile<'a> {
    size: SizeFile<'a>,
    /// Left out where there is only one space.
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<&'a str>,
}

impl<'a> ObjectFile<'a> {
    /// A shared object as it is written.
    fn of(problem: &'a Problem, object: &'a SharedObject) -> ObjectFile<'a> {
        // With one space its name says nothing, and small plans stay small.
        let several_spaces = problem.spaces().len() > 1;
        let space = several_spaces.then(|| problem.spaces()[object.space].name.as_str());
        ObjectFile { size: SizeFile::of(&object.size), space }
    }
}

#[derive(Serialize)]
struct ReuseFile<'a> {
    buffer: &'a str,
    over: Vec<&'a str>,
}

impl<'a> ReuseFile<'a> {
    /// An overlay that the plan uses, as it is written.
    fn of(problem: &'a Problem, reuse: &Reuse) -> ReuseFile<'a> {
        ReuseFile { buffer: &problem.buffers()[reuse.buffer].name, over: names(problem, &reuse.over) }
    }
}

/// The names of buffers.
fn names<'a>(problem: &'a Problem, buffers: &[BufferId]) -> Vec<&'a str> {
    buffers.iter().map(|&id| problem.buffers()[id].name.as_str()).collect()
}

/// What reuse costs, where the problem puts a price on it.
#[derive(Serialize)]
struct CostFile<'a> {
    cost: u64,
    cost_lower_bound: u64,
    /// The pairs that have bytes in common, each with its price.
    active: Vec<(&'a str, &'a str, u64)>,
}

impl<'a> CostFile<'a> {
    /// What a plan costs, as it is written; `None` if the problem puts no price on reuse.
    fn of(problem: &'a Problem, plan: &Plan) -> Option<CostFile<'a>> {
        let cost = plan.cost?;
        let name = |id: BufferId| problem.buffers()[id].name.as_str();
        let active = plan.active_pairs(problem);
        let active = active.into_iter().map(|pair| (name(pair.one), name(pair.other), pair.weight)).collect();
        Some(CostFile { cost: cost.total, cost_lower_bound: cost.lower_bound, active })
    }
}

impl<'a> PlanFile<'a> {
    /// The content of the file. Fields that say nothing are left out.
    fn of(problem: &'a Problem, outcome: &'a Outcome, strategy: &'a str, seconds: Option<f64>) -> PlanFile<'a> {
        let plan = outcome.plan();
        PlanFile {
            strategy,
            status: outcome.status(),
            extent: plan.map(|plan| plan.extent().0),
            lower_bound: lower_bound(problem, outcome).0,
            witness: match outcome {
                Outcome::Infeasible(witness) => Some(names(problem, &witness.buffers)),
                // Only a proof that nothing fits has a witness.
                _ => None,
            },
            spaces: spaces(problem, plan),
            buffers: buffers(problem, plan),
            objects: plan.map_or_else(Vec::new, |plan| {
                plan.objects.iter().map(|object| ObjectFile::of(problem, object)).collect()
            }),
            reused: plan
                .map_or_else(Vec::new, |plan| plan.reused.iter().map(|reuse| ReuseFile::of(problem, reuse)).collect()),
            cost: plan.and_then(|plan| CostFile::of(problem, plan)),
            seconds,
        }
    }
}

/// The largest lower bound on the extent of any plan that the outcome proves, in bytes. Where there is no plan, the
/// bound follows from the problem alone.
pub fn lower_bound(problem: &Problem, outcome: &Outcome) -> Bytes {
    match outcome {
        Outcome::Optimal(plan) => plan.extent(),
        Outcome::Feasible { lower_bound, .. } => *lower_bound,
        Outcome::Infeasible(_) | Outcome::Exhausted { .. } => bound::lower_bound(problem),
    }
}

/// The spaces with their extents, bounds and peaks. For the peak of live bytes, a buffer without a place counts in the
/// first space that it may be in.
fn spaces<'a>(problem: &'a Problem, plan: Option<&'a Plan>) -> Vec<SpaceFile<'a>> {
    let bounds = bound::space_lower_bounds(problem);
    let peaks = bound::peaks_live(problem, |buffer| match plan.and_then(|plan| plan.placements[buffer].as_ref()) {
        Some(placement) => placement.space,
        None => problem.buffers()[buffer].spaces[0],
    });
    let file = |(id, space): (SpaceId, &'a memplan_core::Space)| SpaceFile {
        name: &space.name,
        extent: plan.map(|plan| plan.extents[id].0),
        lower_bound: bounds[id].bytes.0,
        peak_live: peaks[id].bytes.0,
        capacity: space.capacity.map(|capacity| capacity.0),
        alignment: space.alignment.0,
    };
    problem.spaces().iter_enumerated().map(file).collect()
}

/// All buffers with their places, in the order of the problem; without a plan they have none.
fn buffers<'a>(problem: &'a Problem, plan: Option<&'a Plan>) -> Vec<BufferFile<'a>> {
    let buffers = problem.buffers().iter_enumerated();
    let placed = buffers.map(|(id, buffer)| (buffer, plan.and_then(|plan| plan.placements[id].as_ref())));
    placed.map(|(buffer, placement)| BufferFile::of(problem, buffer, placement)).collect()
}

impl<'a> BufferFile<'a> {
    /// A buffer and its place, as they are written.
    fn of(problem: &'a Problem, buffer: &'a Buffer, placement: Option<&Placement>) -> BufferFile<'a> {
        let space = placement.map_or(buffer.spaces[0], |placement| placement.space);
        let offsets: Vec<u64> =
            placement.map_or_else(Vec::new, |placement| placement.offsets.iter().map(|offset| offset.0).collect());
        BufferFile {
            id: &buffer.name,
            space: &problem.spaces()[space].name,
            size: SizeFile::of(&buffer.size),
            lifetime: lifetime_file(&buffer.lifetime),
            offset: offsets.first().copied(),
            offsets,
            strides: placement
                .map_or_else(Vec::new, |placement| placement.strides.iter().map(|stride| stride.0).collect()),
            object: placement.and_then(|placement| placement.object).map(Id::index),
        }
    }
}

/// Reads a plan in the form [`write()`] writes. Of a buffer only `id` and `offset`,
/// `offsets` or `object` are needed; `spaces` gives the claimed extents, `cost` the claimed cost.
pub fn read(text: &str, problem: &Problem) -> Result<Plan, ReadError> {
    let by_name: HashMap<&str, BufferId> =
        problem.buffers().iter_enumerated().map(|(id, buffer)| (buffer.name.as_str(), id)).collect();
    let mut reader = Reader { problem, by_name, spaces: spaces_by_name(problem), plan: Plan::empty(problem) };
    let top = Json::parse(text)?;
    let entries = top.entries("a plan, an object with `buffers`")?;
    let Some(buffers) = field(&entries, "buffers") else {
        return Err(top.error("plan::missing-field", "the field `buffers` is missing"));
    };
    // Buffers refer to objects by position, so the objects are read first, wherever they stand in the file.
    if let Some(objects) = field(&entries, "objects") {
        reader.objects(objects)?;
    }
    for buffer in buffers.list("a list of buffers")? {
        reader.buffer(buffer)?;
    }
    if let Some(reused) = field(&entries, "reused") {
        reader.reused(reused)?;
    }
    // The extents follow from the offsets. Where the file claims an extent, the claim replaces the computed one, so
    // that the checker compares the claim with the offsets and reports it if it is wrong.
    reader.plan.fit_extents(problem);
    if let Some(spaces) = field(&entries, "spaces") {
        reader.extents(spaces)?;
    }
    if let Some(cost) = field(&entries, "cost") {
        let lower_bound = field(&entries, "cost_lower_bound").map(cost_number).transpose()?.unwrap_or(0);
        reader.plan.cost = Some(PlanCost { total: cost_number(cost)?, lower_bound });
    }
    Ok(reader.plan)
}

/// A field of a JSON object; `None` if it is absent or `null`. If a field occurs twice, the last one counts.
fn field<'a>(entries: &[(Cow<'a, str>, Json<'a>)], key: &str) -> Option<Json<'a>> {
    entries.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value).filter(|value| !value.is_null())
}

/// A cost of reuse as a plan states it.
fn cost_number(value: Json) -> Result<u64, ReadError> {
    value.number("a cost of 0 or more")
}

/// A plan that is being read.
struct Reader<'p> {
    /// What the plan is for.
    problem: &'p Problem,
    /// Its buffers by name.
    by_name: HashMap<&'p str, BufferId>,
    /// Its spaces by name.
    spaces: HashMap<&'p str, SpaceId>,
    /// What has been read so far.
    plan: Plan,
}

impl Reader<'_> {
    /// The space of the problem that a field names.
    fn space(&self, value: Json) -> Result<SpaceId, ReadError> {
        let name = value.name("the name of a space")?;
        match self.spaces.get(name.as_ref()) {
            Some(&id) => Ok(id),
            None => Err(value.error("plan::unknown-space", format!("the problem has no space called `{name}`"))),
        }
    }

    /// Reads where one buffer lies. All fields are collected first, because they may stand in any order.
    fn buffer(&mut self, value: Json) -> Result<(), ReadError> {
        let mut id = None;
        let (mut space, mut object) = (None, None);
        let mut strides = SmallVec::<[Bytes; 1]>::new();
        let mut offsets = SmallVec::<[Bytes; 1]>::new();
        // The number in `offset`.
        let mut first = None;
        for (key, field) in value.entries("a buffer with its offset")? {
            match key.as_ref() {
                // A null is the same as a field that is missing.
                _ if field.is_null() => {}
                "id" => id = Some(field.name("the id of a buffer")?),
                "space" => space = Some(field),
                "offset" => first = Some(Bytes(field.number("an offset of 0 or more bytes")?)),
                "offsets" => {
                    let list = field.list("a list of offsets")?;
                    let list = list.into_iter().map(|offset| offset.number("an offset of 0 or more bytes").map(Bytes));
                    offsets = list.collect::<Result<_, _>>()?;
                }
                "strides" => {
                    let list = field.list("a list of strides")?;
                    let list = list.into_iter().map(|stride| stride.number("a stride in bytes").map(Bytes));
                    strides = list.collect::<Result<_, _>>()?;
                }
                "object" => object = Some(field.number("the position of an object")?),
                // Size and lifetime, which are those of the problem, and what other tools add.
                _ => {}
            }
        }
        let Some(id) = id else {
            return Err(value.error("plan::missing-field", "the field `id` is missing"));
        };
        // `offset` is the short form for one slot. A plan may have both forms, if they agree.
        match (first, offsets.first()) {
            (Some(first), Some(&other)) if first != other => {
                let message = format!("buffer `{id}`: `offset` is {first}, and `offsets` begins with {other}");
                return Err(value.error("plan::offsets-differ", message));
            }
            (Some(first), None) => offsets.push(first),
            // Both agree, or `offset` is absent.
            _ => {}
        }
        // A plan may name buffers that the problem does not have. They are kept for the check, which reports them.
        let Some(&buffer) = self.by_name.get(id.as_ref()) else {
            self.plan.unknown.push(id.into_owned());
            return Ok(());
        };
        if self.plan.placements[buffer].is_some() {
            return Err(value.error("plan::placed-twice", format!("buffer `{id}` is placed twice")));
        }
        let object = match object {
            Some(index) => match usize::try_from(index).ok().filter(|&index| index < self.plan.objects.len()) {
                Some(index) => Some(ObjectId::from_index(index)),
                None => return Err(value.error("plan::unknown-object", format!("there is no object {index}"))),
            },
            None => None,
        };
        // A buffer uses its shared object from the first byte on, and offsets count from the object's start.
        if object.is_some() && offsets.is_empty() {
            offsets.push(Bytes::ZERO);
        }
        // A buffer with neither an offset nor an object has no place. The checker reports it.
        if offsets.is_empty() {
            return Ok(());
        }
        // A space that is not named follows from the object, or is the buffer's first candidate.
        let space = match (space, object) {
            (Some(name), _) => self.space(name)?,
            (None, Some(object)) => self.plan.objects[object].space,
            (None, None) => self.problem.buffers()[buffer].spaces[0],
        };
        self.plan.placements[buffer] = Some(Placement { space, offsets, strides, object });
        Ok(())
    }

    /// Reads the shared objects. An object that names no space lies in the first one.
    fn objects(&mut self, objects: Json) -> Result<(), ReadError> {
        for value in objects.list("a list of objects")? {
            let mut size = None;
            let mut space = SpaceId::from_index(0);
            for (key, field) in value.entries("an object, such as {\"size\": 64}")? {
                match key.as_ref() {
                    "size" => size = Some(object_size(field)?),
                    "space" if !field.is_null() => space = self.space(field)?,
                    // Other tools may add fields; they do not change where buffers lie.
                    _ => {}
                }
            }
            let size = size.ok_or_else(|| value.error("plan::missing-field", "the field `size` is missing"))?;
            self.plan.objects.push(SharedObject { size, space });
        }
        Ok(())
    }

    /// Reads which overlays the plan uses: `{"buffer": "d", "over": ["a"]}` says that `d` starts on bytes that `a`
    /// still occupies.
    fn reused(&mut self, reused: Json) -> Result<(), ReadError> {
        for value in reused.list("a list of reuses")? {
            let mut reuse = (None, Vec::new());
            for (key, field) in value.entries("a reuse, such as {\"buffer\": \"d\", \"over\": [\"a\"]}")? {
                match key.as_ref() {
                    "buffer" => reuse.0 = Some(self.known(field)?),
                    "over" => {
                        let list = field.list("a list of ids")?;
                        reuse.1 = list.into_iter().map(|id| self.known(id)).collect::<Result<_, _>>()?;
                    }
                    // Other tools may add fields; they do not change which overlays are used.
                    _ => {}
                }
            }
            let (Some(buffer), over) = reuse else {
                return Err(value.error("plan::missing-field", "the field `buffer` is missing"));
            };
            self.plan.reused.push(Reuse { buffer, over });
        }
        Ok(())
    }

    /// A buffer of the problem by its name.
    fn known(&self, value: Json) -> Result<BufferId, ReadError> {
        let name = value.name("the id of a buffer")?;
        let unknown = || value.error("plan::unknown-buffer", format!("the problem has no buffer called `{name}`"));
        self.by_name.get(name.as_ref()).copied().ok_or_else(unknown)
    }

    /// Reads the extents that the file claims. A space without a claim keeps the extent that follows from the
    /// placements. An entry without a name or without an extent claims nothing; a name that the problem does not have
    /// is an error.
    fn extents(&mut self, spaces: Json) -> Result<(), ReadError> {
        for value in spaces.list("a list of spaces")? {
            let (mut space, mut extent) = (None, None);
            for (key, field) in value.entries("a space")? {
                match key.as_ref() {
                    "name" => space = Some(self.space(field)?),
                    "extent" if !field.is_null() => extent = Some(Bytes(field.number("an extent in bytes")?)),
                    // Bounds, peaks and capacities are facts about the problem, not claims of the plan.
                    _ => {}
                }
            }
            if let (Some(space), Some(extent)) = (space, extent) {
                self.plan.extents[space] = extent;
            }
        }
        Ok(())
    }
}

/// Reads the size of a shared object: a number of bytes, the components of a shape, or a symbol with a bound.
fn object_size(value: Json) -> Result<Size, ReadError> {
    if value.is_list() {
        let components = value.list("components")?.into_iter().map(|component| component.number("a component"));
        return Ok(Size::Shape(components.collect::<Result<_, _>>()?));
    }
    if value.is_object() {
        let entries = value.entries("a size")?;
        let field = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, value)| *value);
        let symbol = field("symbol").ok_or_else(|| value.expected("a symbol"))?.string("a symbol")?.into();
        let at_most = field("at_most").filter(|value| !value.is_null());
        let at_most = at_most.map(|value| value.number("a number of bytes").map(Bytes)).transpose()?;
        return Ok(Size::Symbolic { symbol, at_most });
    }
    value.number("a size of 0 or more bytes").map(|bytes| Size::Fixed(Bytes(bytes)))
}
