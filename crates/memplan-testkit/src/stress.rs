//! Families of problems on which something that looks quick is quadratic.
//!
//! Each is a simple shape of any size. A test plans it at two sizes and compares what was counted, so that a quadratic
//! step shows wherever it is, on a busy machine as on an idle one:
//!
//! ```text
//!   chains     ##          nests   ##########     identical  ##     slots  ##  (many copies)
//!               ##                  ########                 ##
//!                ##                  ######                  ##
//! ```

use memplan_core::{Buffer, Bytes, Lifetime, Problem, ProblemBuilder, Space, Tie};

use crate::instances::build_valid;

/// A family: its name, and a function that makes a problem of about the given number of pieces. A piece is a buffer, or
/// one of its slots.
pub type Family = (&'static str, fn(usize) -> Problem);

/// All families.
pub const FAMILIES: [Family; 8] = [
    ("chains", chains),
    ("nests", nests),
    ("all alive", all_alive),
    ("identical", identical),
    ("ties", ties),
    ("slots", slots),
    ("spaces", spaces),
    ("exclusive", exclusive),
];

/// Each buffer meets the one before it and the one after it.
pub fn chains(count: usize) -> Problem {
    buffers(count, |index, size| Buffer::new(index.to_string(), size, Lifetime::new(index, index + 2)))
}

/// Each buffer lives within the life of the one before it, as the activations of a training step do.
pub fn nests(count: usize) -> Problem {
    let end = 2 * count as u64 + 1;
    buffers(count, |index, size| Buffer::new(index.to_string(), size, Lifetime::new(index, end - index)))
}

/// All are alive in the middle; each starts and ends at its own time, in no order.
pub fn all_alive(count: usize) -> Problem {
    // The factors 7 and 11 scatter the starts over the steps before the middle, and the ends over the steps after it.
    let middle = count as u64;
    let life = |index: u64| Lifetime::new(index * 7 % middle, middle + 1 + index * 11 % middle);
    buffers(count, |index, size| Buffer::new(index.to_string(), size, life(index)))
}

/// Buffers that do not differ.
pub fn identical(count: usize) -> Problem {
    buffers(count, |index, _| Buffer::new(index.to_string(), 64, Lifetime::new(0, 1)))
}

/// One group, in which every buffer lies at a place of its own.
pub fn ties(count: usize) -> Problem {
    let mut builder = ProblemBuilder::new();
    let group = builder.group("group");
    for index in 0..count as u64 {
        let tie = Some(Tie { group, at: Bytes(64 * index) });
        builder.buffer(Buffer::new(index.to_string(), 64, Lifetime::new(index, index + 2)).with_tie(tie));
    }
    build_valid(builder)
}

/// Twenty buffers with many slots each: a small file, a large problem.
pub fn slots(count: usize) -> Problem {
    let slots = count.div_ceil(20) as u32;
    buffers(20, |index, _| Buffer {
        slots,
        ..Buffer::new(index.to_string(), 64 + index, Lifetime::new(index, index + 2))
    })
}

/// Three buffers in each of many spaces, as a file of many functions has.
pub fn spaces(count: usize) -> Problem {
    let mut builder = ProblemBuilder::new();
    // A space for every three buffers.
    for index in 0..count.div_ceil(3) as u64 {
        let space = builder.space(Space::new(format!("space{index}")));
        for part in 0..3 {
            let life = Lifetime::new(index + part, index + part + 2);
            let buffer = Buffer::new(format!("{index}.{part}"), 64 + (7 * index + part) % 100, life);
            builder.buffer(Buffer { spaces: [space].into_iter().collect(), ..buffer });
        }
    }
    build_valid(builder)
}

/// Every other buffer shares with nobody.
pub fn exclusive(count: usize) -> Problem {
    buffers(count, |index, size| {
        let exclusive = index % 2 == 0;
        Buffer { exclusive, ..Buffer::new(index.to_string(), size, Lifetime::new(index, index + 2)) }
    })
}

/// A problem of `count` buffers. `make` gets the number of a buffer and a size from 64 to 1063, which goes up and down
/// from one buffer to the next.
fn buffers(count: usize, make: impl Fn(u64, u64) -> Buffer) -> Problem {
    let mut builder = ProblemBuilder::new();
    for index in 0..count as u64 {
        builder.buffer(make(index, 64 + index * 7919 % 1000));
    }
    build_valid(builder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_as_many_pieces_as_asked() {
        for (name, make) in FAMILIES {
            let problem = make(300);
            let pieces: u32 = problem.buffers().iter().map(|buffer| buffer.slots).sum();
            assert_eq!(pieces, 300, "{name}");
        }
    }
}
