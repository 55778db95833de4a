//! Does an output say what was planned?
//!
//! An output may name its memories as it likes, so memories are matched up on the way: if the first buffer
//! found in `%merged_0` was planned for space 2, then every other buffer of space 2 must be found in
//! `%merged_0`, and every other buffer in `%merged_0` must have been planned for space 2.
//!
//! A `Placement` is where the plan puts a buffer, a `Found` where the output has it: the name of a memory, an
//! offset for each slot, and, for a buffer of parallel loops, the strides between iterations.

use std::borrow::Cow;
use std::collections::HashMap;

use memplan_core::{Id, Placement, SpaceId, patience};

use crate::finding::Finding;
use crate::front_end::{Found, Places};

/// Everything in which the places found differ from those planned; empty if the output says what
/// was planned. Both sides are lists of things (mostly one list, of buffers; a pass may have one
/// for each function), and the n-th thing of one side is the n-th of the other. Each list is
/// compared by itself, with memories of its own.
pub(super) fn differences(planned: &[Cow<[Option<Placement>]>], places: &Places) -> Vec<Finding> {
    if planned.len() != places.lists.len() {
        let counts = format!("{} lists of places instead of {}", places.lists.len(), planned.len());
        return vec![difference(counts)];
    }
    let mut findings = Vec::new();
    for (planned, found) in planned.iter().zip(&places.lists) {
        if planned.len() != found.len() {
            findings.push(difference(format!("{} places instead of {}", found.len(), planned.len())));
            continue;
        }
        let mut memories = Memories::default();
        for (index, (planned, found)) in planned.iter().zip(found).enumerate() {
            // The caller has stopped waiting. The driver then throws away what this function returns.
            if patience::is_over() {
                return findings;
            }
            if let Some(message) = memories.compare(planned.as_ref(), found.as_ref()) {
                findings.push(difference(format!("buffer {index}: {message}")));
            }
        }
    }
    findings
}

/// Something about an output that is not as planned.
pub(super) fn difference(message: String) -> Finding {
    let message = format!("what was written is not what was planned: {message}");
    Finding { code: "output::not-as-planned", message, buffers: Vec::new(), step: None, place: None, span: None }
}

/// Which memory of the output is which space of the plan.
#[derive(Default)]
struct Memories<'f> {
    /// The memory that each space is.
    of_space: HashMap<SpaceId, &'f str>,
    /// The space that each memory is.
    of_name: HashMap<&'f str, SpaceId>,
    /// The memory and the space of the buffer before, which agree. The next buffer mostly lies in the same memory.
    last: Option<(&'f str, SpaceId)>,
}

impl<'f> Memories<'f> {
    /// What is different about one buffer; `None` if it is where it was planned.
    fn compare(&mut self, planned: Option<&Placement>, found: Option<&'f Found>) -> Option<String> {
        let (planned, found) = match (planned, found) {
            (None, None) => return None,
            (Some(planned), None) => return Some(format!("planned at {}, not found", offsets_of(planned))),
            (None, Some(found)) => {
                return Some(format!("not planned, found at {:?} of {}", found.offsets, found.memory));
            }
            (Some(planned), Some(found)) => (planned, found),
        };
        // Most buffers lie in the same memory as the buffer before, which need not be looked up again.
        if self.last != Some((&found.memory, planned.space)) {
            // The first buffer found in a memory decides which space that memory is. Both directions are kept, so that
            // neither two spaces share a memory nor two memories share a space.
            let memory = *self.of_space.entry(planned.space).or_insert(&found.memory);
            let space = *self.of_name.entry(&found.memory).or_insert(planned.space);
            if memory != &*found.memory || space != planned.space {
                return Some(format!("found in {}, planned for the memory called {memory}", found.memory));
            }
            self.last = Some((&found.memory, planned.space));
        }
        // The number of the shared object (memory that several buffers use in turn) that holds the
        // buffer, if any.
        let object = planned.object.map(Id::index);
        // Inside a shared object every buffer starts at the object's first byte, so the object is compared and the
        // offset is not.
        let same_offsets = planned.offsets.iter().map(|offset| offset.0).eq(found.offsets.iter().copied());
        let same_strides = planned.strides.iter().map(|stride| stride.0).eq(found.strides.iter().copied());
        if object != found.object || (object.is_none() && !same_offsets) || !same_strides {
            let strides: Vec<u64> = planned.strides.iter().map(|stride| stride.0).collect();
            return Some(format!(
                "planned at {} with strides {strides:?}, found at {:?} with strides {:?}",
                offsets_of(planned),
                found.offsets,
                found.strides
            ));
        }
        None
    }
}

/// The offsets of all slots of a placement, as text for a message.
fn offsets_of(placement: &Placement) -> String {
    let offsets: Vec<u64> = placement.offsets.iter().map(|offset| offset.0).collect();
    format!("{offsets:?}")
}
