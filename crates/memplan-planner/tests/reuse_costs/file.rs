//! A problem as its file says it, and what a placement means for it.

use std::path::PathBuf;

use memplan_models::records::dsa;

/// The text of a file of the other project, if it is there.
pub(crate) fn instances(file: &str) -> Option<String> {
    let folder = std::env::var_os("MEMPLAN_INSTANCES").map(PathBuf::from);
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/instances"));
    std::fs::read_to_string(folder.unwrap_or(beside).join("dsa").join(file)).ok()
}

pub(crate) struct File {
    pub(crate) instance: String,
    value: serde_json::Value,
}

impl File {
    pub(crate) fn of(line: &str) -> File {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(dsa::instances(line).unwrap().len(), 1);
        File { instance: value["instance"].as_str().unwrap().to_owned(), value }
    }

    /// Panics where a placement breaks a rule; returns what it costs. A place is the position of a pool and an offset.
    pub(crate) fn check(&self, place: impl Fn(usize) -> (usize, u64)) -> u64 {
        let problem = &self.value["problem"];
        let number = |value: &serde_json::Value| value.as_u64().unwrap();
        let pools = problem["pools"].as_array().unwrap();
        let buffers = problem["buffers"].as_array().unwrap();
        let bytes = |index: usize| {
            let (pool, offset) = place(index);
            (pool, offset, offset + number(&buffers[index]["size"]))
        };
        let meet = |one: usize, other: usize| {
            let ((pool, low, high), (other_pool, other_low, other_high)) = (bytes(one), bytes(other));
            pool == other_pool && low.max(other_low) < high.min(other_high)
        };
        let life = |index: usize| {
            let interval = &buffers[index]["live_intervals"][0];
            (number(&interval["lower"]), number(&interval["upper"]))
        };
        for (index, buffer) in buffers.iter().enumerate() {
            assert_eq!(number(&buffer["id"]), index as u64);
            assert_eq!(buffer["live_intervals"].as_array().unwrap().len(), 1);
            let (pool, low, high) = bytes(index);
            assert_eq!(buffer["allowed_pools"], serde_json::json!([pools[pool]["id"]]));
            assert_eq!(low % number(&buffer["alignment"]), 0);
            assert!(pools[pool]["capacity"].as_u64().is_none_or(|capacity| high <= capacity));
            for range in pools[pool]["reserved_ranges"].as_array().unwrap() {
                assert!(high <= number(&range["begin"]) || number(&range["end"]) <= low);
            }
            for other in 0..index {
                let ((start, end), (other_start, other_end)) = (life(index), life(other));
                assert!(
                    !(start < other_end && other_start < end && meet(index, other)),
                    "{index} and {other} are both alive"
                );
            }
        }
        let pair = |value: &serde_json::Value| (number(&value["first"]) as usize, number(&value["second"]) as usize);
        for separation in problem["constraints"]["separations"].as_array().unwrap() {
            let (one, other) = pair(separation);
            assert!(!meet(one, other), "{one} and {other} are to be separate");
        }
        let penalties = problem["cost_model"]["reuse_penalties"].as_array();
        let active = penalties.into_iter().flatten().filter(|penalty| {
            let (one, other) = pair(penalty);
            meet(one, other)
        });
        active.map(|penalty| number(&penalty["cost"])).sum()
    }
}
