//! What the user says about the memory: capacities and alignments that the
//! input file does not know.
//!
//! - `--align 64` makes every offset in every space a multiple of 64;
//! - `--capacity 256KiB` bounds the only space;
//! - `--space sram=256KiB:16` bounds and aligns one space. If the input names
//!   no spaces of its own, the spaces given are the memory there is, and every
//!   buffer may live in any of them, the first given preferred.

use std::str::FromStr;

use memplan_core::{Bytes, Problem, ProblemBuilder, ProblemError, Space, SpaceId};

/// Facts about the target that complete or replace those of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Every offset is also a multiple of this.
    pub align: Option<Bytes>,
    /// Capacity of the only space.
    pub capacity: Option<Bytes>,
    /// Spaces by name.
    pub spaces: Vec<SpaceFacts>,
}

/// One space as `NAME=CAP:ALIGN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceFacts {
    /// Its name.
    pub name: String,
    /// How many bytes it has; `None` leaves what the input says.
    pub capacity: Option<Bytes>,
    /// Its alignment; `None` leaves what the input says.
    pub alignment: Option<Bytes>,
}

/// Why a target does not go with an input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum TargetError {
    #[error("the input has no space called `{name}`; it has {}", list(.known))]
    UnknownSpace { name: String, known: Vec<String> },
    #[error("space `{name}` is given twice")]
    GivenTwice { name: String },
    #[error("--capacity is for one space, and the input has {}; use --space NAME=CAPACITY", list(.known))]
    WhichSpace { known: Vec<String> },
    #[error("with these alignments and capacities there is no such problem: {0}")]
    Problem(#[from] ProblemError),
    #[error("an alignment of {one} together with {other} passes 2^63")]
    AlignmentTooLarge { one: Bytes, other: Bytes },
}

/// Names in quotes, with commas between them.
fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Target {
    /// The same as [`apply`](Target::apply) for a problem that the caller does not need any more. If the target says
    /// nothing, the problem is returned as it is, without a copy in memory.
    pub fn applied_to(&self, problem: Problem) -> Result<Problem, TargetError> {
        if *self == Target::default() { Ok(problem) } else { self.apply(&problem) }
    }

    /// The problem on this target. Spaces come first, because `--capacity` is for the only space there is then;
    /// `--align` holds on top of the alignment that a space has.
    pub fn apply(&self, problem: &Problem) -> Result<Problem, TargetError> {
        let mut builder = problem.to_builder();
        self.set_spaces(problem, &mut builder)?;
        // With several spaces it is not clear which one `--capacity` means.
        if let Some(capacity) = self.capacity {
            let mut spaces = builder.spaces_mut().iter_mut();
            match (spaces.next(), spaces.next()) {
                (Some(only), None) => only.capacity = Some(capacity),
                _ => {
                    let known = builder.spaces_mut().iter().map(|space| space.name.clone()).collect();
                    return Err(TargetError::WhichSpace { known });
                }
            }
        }
        // Both alignments must hold, so a space gets their least common multiple.
        if let Some(align) = self.align {
            for space in builder.spaces_mut().iter_mut() {
                let (one, other) = (space.alignment, align);
                let both = one.least_common_multiple(other);
                space.alignment = both.ok_or(TargetError::AlignmentTooLarge { one, other })?;
            }
        }
        Ok(builder.build()?)
    }

    /// Applies `--space`. If the input names no spaces, the given ones are all there are; otherwise each must be one of
    /// the input's.
    fn set_spaces(&self, problem: &Problem, builder: &mut ProblemBuilder) -> Result<(), TargetError> {
        for (position, facts) in self.spaces.iter().enumerate() {
            if self.spaces[..position].iter().any(|earlier| earlier.name == facts.name) {
                return Err(TargetError::GivenTwice { name: facts.name.clone() });
            }
        }
        // Readers call the only space of an input without spaces `default`.
        let names_no_space =
            problem.spaces().len() == 1 && problem.spaces().iter().all(|space| space.name == "default");
        if names_no_space && !self.spaces.is_empty() {
            self.replace_spaces(builder);
            return Ok(());
        }
        for facts in &self.spaces {
            match builder.spaces_mut().iter_mut().find(|space| space.name == facts.name) {
                Some(space) => facts.set(space),
                None => {
                    let known = problem.spaces().iter().map(|space| space.name.clone()).collect();
                    return Err(TargetError::UnknownSpace { name: facts.name.clone(), known });
                }
            }
        }
        Ok(())
    }

    /// Puts the spaces of this target in the place of the problem's only one, for an input that names no spaces. Every
    /// buffer may live in each of them. All of them keep the alignment that the input asks for; a capacity and a base
    /// address of the input hold only if there is one space again.
    fn replace_spaces(&self, builder: &mut ProblemBuilder) {
        let only = builder.spaces_mut().iter().next().cloned();
        let space = |facts: &SpaceFacts| {
            let mut space = Space::new(&facts.name);
            if let Some(only) = &only {
                space.alignment = only.alignment;
                if self.spaces.len() == 1 {
                    (space.capacity, space.base) = (only.capacity, only.base);
                }
            }
            facts.set(&mut space);
            space
        };
        *builder.spaces_mut() = self.spaces.iter().map(space).collect();
        let all: Vec<SpaceId> = builder.spaces_mut().ids().collect();
        for buffer in builder.buffers_mut().iter_mut() {
            buffer.spaces = all.iter().copied().collect();
        }
    }
}

impl SpaceFacts {
    /// Puts these facts on a space; what is not given stays as it is.
    fn set(&self, space: &mut Space) {
        space.capacity = self.capacity.or(space.capacity);
        space.alignment = self.alignment.unwrap_or(space.alignment);
    }
}

/// Reads `sram=256KiB:16`, `sram=256KiB` or `sram=:16`.
impl FromStr for SpaceFacts {
    type Err = String;

    fn from_str(text: &str) -> Result<SpaceFacts, String> {
        let shape = || format!("`{text}` is not NAME=CAPACITY:ALIGNMENT, as in sram=256KiB:16");
        let (name, facts) = text.split_once('=').ok_or_else(shape)?;
        // Either of the two may be missing, but not both.
        let (capacity, alignment) = facts.split_once(':').unwrap_or((facts, ""));
        if name.is_empty() || (capacity.is_empty() && alignment.is_empty()) {
            return Err(shape());
        }
        let capacity = (!capacity.is_empty()).then(|| capacity.parse::<Bytes>()).transpose();
        Ok(SpaceFacts {
            name: name.to_owned(),
            capacity: capacity.map_err(|error| error.to_string())?,
            alignment: (!alignment.is_empty()).then(|| parse_alignment(alignment)).transpose()?,
        })
    }
}

/// An alignment: a size of at least one byte.
pub fn parse_alignment(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>() {
        Ok(Bytes(0)) => Err("an alignment is at least 1".to_owned()),
        Ok(alignment) => Ok(alignment),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Buffer, Lifetime};

    fn problem(spaces: &[&str]) -> Problem {
        let mut builder = ProblemBuilder::new();
        let ids: Vec<SpaceId> = spaces.iter().map(|name| builder.space(Space::new(*name))).collect();
        let mut buffer = Buffer::new("a", 64, Lifetime::new(0, 2));
        buffer.spaces.extend(ids.last().copied());
        builder.buffer(buffer);
        builder.build().unwrap()
    }

    fn target(spaces: &[&str]) -> Target {
        Target { spaces: spaces.iter().map(|text| text.parse().unwrap()).collect(), ..Target::default() }
    }

    #[test]
    fn spaces_are_completed_by_name() {
        let changed = target(&["l1=1KiB:32"]).apply(&problem(&["ub", "l1"])).unwrap();
        let l1 = changed.spaces().iter().nth(1).unwrap();
        assert_eq!((l1.capacity, l1.alignment), (Some(Bytes(1024)), Bytes(32)));
        let error = target(&["l2=1KiB"]).apply(&problem(&["ub", "l1"])).unwrap_err();
        assert_eq!(error.to_string(), "the input has no space called `l2`; it has `ub`, `l1`");
        assert_eq!(Target::default().applied_to(problem(&["ub"])).unwrap().spaces(), problem(&["ub"]).spaces());
        assert!(target(&["l2=1KiB"]).applied_to(problem(&["ub", "l1"])).is_err());
        assert!(target(&["l1=1", "l1=2"]).apply(&problem(&["l1", "ub"])).is_err());
    }

    #[test]
    fn spaces_given_for_an_input_without_any_keep_what_it_says() {
        let mut builder = problem(&["default"]).to_builder();
        for space in builder.spaces_mut().iter_mut() {
            (space.alignment, space.capacity) = (Bytes(64), Some(Bytes(4096)));
        }
        let input = builder.build().unwrap();
        let facts = |spaces: &[&str]| -> Vec<(Option<Bytes>, Bytes)> {
            let changed = target(spaces).apply(&input).unwrap();
            changed.spaces().iter().map(|space| (space.capacity, space.alignment)).collect()
        };
        assert_eq!(facts(&["sram=1KiB"]), [(Some(Bytes(1024)), Bytes(64))]);
        assert_eq!(facts(&["sram=:16"]), [(Some(Bytes(4096)), Bytes(16))]);
        assert_eq!(facts(&["a=1KiB", "b=:16"]), [(Some(Bytes(1024)), Bytes(64)), (None, Bytes(16))]);
    }

    #[test]
    fn spaces_given_for_an_input_without_any_are_candidates() {
        let changed = target(&["sram=256KiB:16", "psram=8MiB"]).apply(&problem(&[])).unwrap();
        assert_eq!(changed.spaces().len(), 2);
        assert_eq!(changed.buffers().iter().next().unwrap().spaces.len(), 2);
    }

    #[test]
    fn capacity_and_alignment_of_the_only_space() {
        let target = Target { align: Some(Bytes(48)), capacity: Some(Bytes(99)), ..target(&["m=:32"]) };
        let space = target.apply(&problem(&[])).unwrap().spaces().iter().next().unwrap().clone();
        assert_eq!((space.alignment, space.capacity), (Bytes(96), Some(Bytes(99))));
        assert!(target.apply(&problem(&["m", "n"])).is_err(), "--capacity of which?");
    }

    #[test]
    fn space_facts_read_as_written() {
        for wrong in ["sram", "=1", "sram=", "sram=:", "sram=x", "sram=1:0", "sram=1:y"] {
            assert!(wrong.parse::<SpaceFacts>().is_err(), "{wrong}");
        }
        assert_eq!("a=b=1".parse::<SpaceFacts>().ok(), None);
        assert_eq!("s=:16".parse::<SpaceFacts>().unwrap().capacity, None);
    }
}
