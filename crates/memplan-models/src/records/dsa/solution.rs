//! Plans as solutions of `dsa` problems: pools and buffers by the numbers of the problem's file.
//!
//! ```json
//! {"schema_version": 1, "instance": "softmax", "reuse_cost": 1,
//!  "pools": [{"id": 1, "name": "Vec", "peak": 512}],
//!  "allocations": [{"buffer": 0, "name": "x", "pool": 1, "offset": 0},
//!                  {"buffer": 1, "name": "y", "pool": 1, "offset": 256}]}
//! ```
//!
//! To read a solution, only `allocations` with `buffer` and `offset` are needed. An allocation without a `name` is
//! that of the buffer at the position `buffer` of the problem. An allocation whose pool is not listed in `pools` lies
//! in the only pool that its buffer may be in; if there are several, that is an error. Reserved ranges are not
//! listed, because the problem itself fixes their offsets.

use std::borrow::Cow;
use std::collections::HashMap;

use memplan_core::{Buffer, BufferId, Bytes, Id, Placement, Plan, PlanCost, Problem, SpaceId};
use serde_json::{Value, json};

use super::write::own;
use super::{Numbers, RESERVED};
use crate::ReadError;
use crate::json::Json;

/// Whether a JSON text is a solution of a `dsa` problem, and not a plan as memplan writes it, which has `buffers`.
pub(crate) fn is_solution(text: &str) -> bool {
    text.contains("\"allocations\"") && !text.contains("\"buffers\"")
}

/// Writes a plan as JSON: every buffer that the plan places with its pool and offset, and the cost of the plan. Buffers
/// that stand for reserved ranges are left out, and so is a buffer without a place. `numbers` are the ids that the
/// problem's file gives its pools and buffers, in the order of the problem. The buffers of reserved ranges have no ids
/// there; they come last in the problem, so all other buffers have the same position in both lists. If the problem
/// comes from another format, there are no ids at all.
pub fn write_solution(problem: &Problem, plan: &Plan, numbers: &Numbers) -> String {
    // A space or buffer that has no number from a file is written with its position in the problem.
    let pool_number = |space: SpaceId| numbers.pools.get(space.index()).copied().unwrap_or(space.index() as u64);
    // Where a buffer lies; `None` if the plan does not place it.
    let place = |(id, buffer): (BufferId, &Buffer)| {
        let placement = plan.placements[id].as_ref()?;
        // Buffers of `dsa` problems have one slot, so the first offset is the only one. For problems of other formats
        // the caller has refused plans with several slots, and plans of shared objects, which have no offsets.
        let offset = placement.offsets.first()?;
        let number = numbers.buffers.get(id.index()).copied().unwrap_or(id.index() as u64);
        let pool = pool_number(placement.space);
        Some(json!({"buffer": number, "name": buffer.name.as_str(), "pool": pool, "offset": offset.0}))
    };
    let pool = |(id, space): (SpaceId, &memplan_core::Space)| json!({"id": pool_number(id), "name": space.name, "peak": plan.extents[id].0});
    let file = json!({
        "schema_version": 1,
        "instance": numbers.instance,
        "reuse_cost": plan.reuse_cost(problem),
        "pools": problem.spaces().iter_enumerated().map(pool).collect::<Vec<Value>>(),
        // `own` leaves out the buffers that stand for reserved ranges.
        "allocations": own(problem).filter_map(place).collect::<Vec<Value>>(),
    });
    format!("{file}\n")
}

/// Reads a solution of a problem.
pub fn read_solution(text: &str, problem: &Problem) -> Result<Plan, ReadError> {
    let top = Json::parse(text)?;
    let entries = top.entries("a solution, an object with `allocations`")?;
    let Some(allocations) = field(&entries, "allocations") else {
        return Err(top.error("plan::missing-field", "the field `allocations` is missing"));
    };
    let mut reader = Reader { problem, pools: HashMap::new(), plan: Plan::empty(problem) };
    let peaks = field(&entries, "pools").map(|pools| reader.pools(pools)).transpose()?.unwrap_or_default();
    // Solutions do not list reserved ranges. Their buffers are placed where the problem fixes them.
    for (id, buffer) in problem.buffers().iter_enumerated() {
        if let Some(offset) = buffer.fixed().filter(|_| buffer.exclusive && buffer.name.starts_with(RESERVED)) {
            reader.plan.placements[id] = Some(Placement::at(buffer.spaces[0], offset));
        }
    }
    for value in allocations.list("a list of allocations")? {
        reader.allocation(value)?;
    }
    // The extents follow from the offsets. Where the solution claims a peak, the claim replaces the computed extent, so
    // that the checker compares the claim with the offsets and reports it if it is wrong.
    reader.plan.fit_extents(problem);
    for (space, peak) in peaks {
        reader.plan.extents[space] = peak;
    }
    if let Some(cost) = field(&entries, "reuse_cost") {
        reader.plan.cost = Some(PlanCost { total: cost.number("a cost of 0 or more")?, lower_bound: 0 });
    }
    Ok(reader.plan)
}

/// A field of an object; `null` counts as absent.
fn field<'a>(entries: &[(Cow<'a, str>, Json<'a>)], key: &str) -> Option<Json<'a>> {
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| *value).filter(|value| !value.is_null())
}

/// A solution that is being read.
struct Reader<'p> {
    /// What the solution is for.
    problem: &'p Problem,
    /// The space of each pool that the solution lists, by the pool's id in the solution.
    pools: HashMap<u64, SpaceId>,
    /// The placements so far.
    plan: Plan,
}

impl Reader<'_> {
    /// Reads the list of pools: remembers which id stands for which space, and returns the peaks that the solution
    /// claims.
    fn pools(&mut self, pools: Json) -> Result<Vec<(SpaceId, Bytes)>, ReadError> {
        let mut peaks = Vec::new();
        for value in pools.list("a list of pools")? {
            let (mut number, mut space, mut peak) = (None, None, None);
            for (key, field) in value.entries("a pool")? {
                match key.as_ref() {
                    "id" => number = Some(field.number("the id of a pool")?),
                    "name" => space = Some(self.space(field)?),
                    "peak" if !field.is_null() => peak = Some(Bytes(field.number("a peak in bytes")?)),
                    // Other solvers may add fields, such as the capacity, which the problem has, too.
                    _ => {}
                }
            }
            let (Some(number), Some(space)) = (number, space) else {
                return Err(value.error("plan::missing-field", "a pool needs its `id` and its `name`"));
            };
            self.pools.insert(number, space);
            peaks.extend(peak.map(|peak| (space, peak)));
        }
        Ok(peaks)
    }

    /// The space of the problem that has the name of a pool.
    fn space(&self, value: Json) -> Result<SpaceId, ReadError> {
        let name = value.name("the name of a pool")?;
        let mut spaces = self.problem.spaces().iter_enumerated();
        let found = spaces.find(|(_, space)| space.name == name).map(|(id, _)| id);
        found.ok_or_else(|| value.error("plan::unknown-space", format!("the problem has no pool called `{name}`")))
    }

    /// Reads where one buffer lies. The names of buffers that the problem does not have are kept in the plan, and the
    /// checker reports them.
    fn allocation(&mut self, value: Json) -> Result<(), ReadError> {
        let (mut number, mut name, mut pool, mut offset) = (None, None, None, None);
        for (key, field) in value.entries("an allocation with `buffer` and `offset`")? {
            match key.as_ref() {
                "buffer" => number = Some(field.number("the id of a buffer")?),
                "name" => name = Some(field.name("the name of a buffer")?),
                "pool" => pool = Some(field.number("the id of a pool")?),
                "offset" => offset = Some(Bytes(field.number("an offset of 0 or more bytes")?)),
                // Other solvers may add fields; they do not change where the buffer lies.
                _ => {}
            }
        }
        let (Some(number), Some(offset)) = (number, offset) else {
            return Err(value.error("plan::missing-field", "an allocation needs `buffer` and `offset`"));
        };
        // If the allocation has a name, the name decides. Without a name the number is taken for the position in the
        // list of buffers; the writer of the file may have listed them in another order, so a name is better.
        let buffers = self.problem.buffers();
        let known = match &name {
            Some(name) => buffers.iter_enumerated().find(|(_, buffer)| buffer.name == name.as_ref()).map(|(id, _)| id),
            None => usize::try_from(number).ok().filter(|&at| at < buffers.len()).map(BufferId::from_index),
        };
        let Some(buffer) = known else {
            self.plan.unknown.push(name.map_or_else(|| number.to_string(), std::borrow::Cow::into_owned));
            return Ok(());
        };
        if self.plan.placements[buffer].is_some() {
            let name = &buffers[buffer].name;
            return Err(value.error("plan::placed-twice", format!("buffer `{name}` is placed twice")));
        }
        let named = pool.and_then(|pool| self.pools.get(&pool).copied());
        let space = match (named, buffers[buffer].spaces.as_slice()) {
            (Some(space), _) => space,
            (None, &[only]) => only,
            (None, _) => {
                let message = "the buffer may be in several pools, and `pools` does not say what this one is called";
                return Err(value.error("plan::unknown-space", message));
            }
        };
        self.plan.placements[buffer] = Some(Placement::at(space, offset));
        Ok(())
    }
}
