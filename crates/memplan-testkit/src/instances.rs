//! Seeded problems of any size, for benchmarks and large tests.
//!
//! Equal arguments give equal problems, on every machine.

use memplan_core::{
    Buffer, BufferId, Bytes, Interval, Lifetime, Overlay, OverlayKind, Problem, ProblemBuilder, Size, Space, Tie,
};

use crate::Random;

/// Bytes of the smallest buffer of a random problem.
const SMALLEST: u64 = 64;
/// Bytes of the largest buffer of a random problem.
const LARGEST: u64 = 1 << 20;

/// `count` buffers with log-uniform sizes; on average `mean_live` of them are
/// alive at a step, however large `count` is.
pub fn random(count: usize, mean_live: u64, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    // As many steps as buffers, and lives of 1 to 2 * mean_live - 1 steps: `mean_live` on average.
    let steps = count as u64;
    build((0..count).map(|index| {
        let start = random.below(steps);
        let length = random.between(1, (2 * mean_live).saturating_sub(1).max(1));
        Buffer::new(index.to_string(), random.log_uniform(SMALLEST, LARGEST), Lifetime::new(start, start + length))
    }))
}

/// As [`random`], with exponential lives: most are short, a few are very long.
pub fn exponential(count: usize, mean_live: u64, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let steps = count as u64;
    build((0..count).map(|index| {
        let start = random.below(steps);
        let length = random.exponential(mean_live);
        Buffer::new(index.to_string(), random.log_uniform(SMALLEST, LARGEST), Lifetime::new(start, start + length))
    }))
}

/// As [`random`], with buffers of one size.
pub fn equal(count: usize, mean_live: u64, seed: u64) -> Problem {
    let mut builder = random(count, mean_live, seed).to_builder();
    builder.buffers_mut().iter_mut().for_each(|buffer| buffer.size = Size::Fixed(Bytes(4096)));
    build_valid(builder)
}

/// The instance that large measurements use: about a hundred buffers alive at a time.
pub fn benchmark(count: usize) -> Problem {
    random(count, 100, 2024)
}

/// As [`random`], with every offset a multiple of 64.
pub fn aligned(count: usize, mean_live: u64, seed: u64) -> Problem {
    let mut builder = random(count, mean_live, seed).to_builder();
    builder.buffers_mut().iter_mut().for_each(|buffer| buffer.alignment = Bytes(64));
    build_valid(builder)
}

/// The activations of a feed-forward network: each layer's output lives until the next layer has
/// read it, and about every fourth one (drawn at random) is also read two to six layers on, by a
/// skip connection.
pub fn chain(layers: usize, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    build((0..layers).map(|layer| {
        // How many layers on the last reader stands.
        let reader = if random.one_in(4) { random.between(2, 6) } else { 1 };
        let start = layer as u64;
        Buffer::new(format!("layer{layer}"), network_size(&mut random), Lifetime::new(start, start + reader + 1))
    }))
}

/// As [`chain`], but every layer may work in place on its input.
pub fn in_place_chain(layers: usize, seed: u64) -> Problem {
    let mut builder = chain(layers, seed).to_builder();
    let ids: Vec<_> = builder.buffers_mut().ids().collect();
    for pair in ids.windows(2) {
        builder.overlay(Overlay { buffer: pair[1], over: pair[0], kind: OverlayKind::SameBase });
    }
    build_valid(builder)
}

/// A training step: activations of the forward pass are kept for the backward pass, which walks the
/// layers in reverse. Half of all buffers live at once. Each layer has an activation, from its step
/// of the forward pass to its step of the backward pass, and a gradient for two steps. With two
/// layers, the activations live in steps `0..4` and `1..3`, their gradients in `3..5` and `2..4`.
pub fn training(layers: usize, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let end = 2 * layers as u64;
    let layer = |index: usize, random: &mut Random| {
        let forward = index as u64;
        let backward = end - forward;
        let size = network_size(random);
        let activation = Buffer::new(format!("activation{index}"), size, Lifetime::new(forward, backward));
        let gradient = Buffer::new(format!("gradient{index}"), size, Lifetime::new(backward - 1, backward + 1));
        [activation, gradient]
    };
    build((0..layers).flat_map(|index| layer(index, &mut random)))
}

/// Buffers that are all alive at once: nothing can be shared.
pub fn all_alive(count: usize, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    build((0..count).map(|index| Buffer::new(index.to_string(), random.between(1, 1000), Lifetime::new(0, 1))))
}

/// A rectangle of time and bytes that is cut into `count` buffers at random. A plan of its height exists, and leaves no
/// byte unused at any step. `count` must be 1 to `steps * height`, since a part of one byte at one step cannot be
/// cut.
pub fn jigsaw(count: usize, steps: u64, height: u64, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    // (first step, one past the last, bytes). Each cut divides one part in time or in bytes.
    let mut parts = vec![(0, steps, height)];
    while parts.len() < count {
        // A part that is one step long and one byte high cannot be cut; then another part is drawn.
        let index = random.below(parts.len() as u64) as usize;
        let (start, end, height) = parts[index];
        if random.one_in(2) && end - start > 1 {
            let middle = random.between(start + 1, end - 1);
            parts[index] = (start, middle, height);
            parts.push((middle, end, height));
        } else if height > 1 {
            let low = random.between(1, height - 1);
            parts[index] = (start, end, low);
            parts.push((start, end, height - low));
        }
    }
    let buffer = |(index, (start, end, height)): (usize, (u64, u64, u64))| {
        Buffer::new(index.to_string(), height, Lifetime::new(start, end))
    };
    build(parts.into_iter().enumerate().map(buffer))
}

/// A kernel for an accelerator: tiles that are loaded into double buffers, in-place operations, results whose parts are
/// written next to each other, scratch memory of which only one half is needed later on, and a second memory in which
/// some may lie as well as in the first. Offsets are multiples of 32. Most buffers are plain, as in real kernels.
/// The memories have no capacity, so there is room for everything. There are at least `count` buffers, and one more if
/// the last one has a part beside it.
pub fn kernel(count: usize, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let mut builder = ProblemBuilder::new();
    let near = builder.space(Space { alignment: Bytes(32), ..Space::new("near") });
    let far = builder.space(Space { alignment: Bytes(32), ..Space::new("far") });
    let mut previous: Option<BufferId> = None;
    let mut step = 0;
    while builder.buffers_mut().len() < count {
        let name = builder.buffers_mut().len().to_string();
        let size = 32 * random.between(1, 64);
        let end = step + random.between(2, 6);
        let mut buffer = Buffer::new(name, size, Lifetime::new(step, end));
        buffer.spaces.push(near);
        // Each number below 5 gives the buffer one feature, and the seven others none.
        match random.below(12) {
            0 => buffer.slots = 2,
            1 => buffer.spaces.push(far),
            // Scratch memory: all of its bytes are needed in the first half of its life, and only the lower or only the
            // upper half of the bytes in the second.
            2 => {
                let (half, middle) = (size / 2, step + (end - step) / 2);
                let (low, high) = if random.one_in(2) { (0, half) } else { (half, size) };
                let rest = Interval::with_window(middle, end, low, high);
                buffer.lifetime = [Interval::new(step, middle), rest].into_iter().collect();
            }
            // Two parts that lie next to each other: `part` and, behind it, `buffer`. `part` names no space, which
            // means the first one, `near`: buffers of one group may not differ in their spaces.
            3 => {
                let group = builder.group(format!("group{step}"));
                let part = Buffer::new(format!("part{step}"), size, Lifetime::new(step, end));
                builder.buffer(part.with_tie(Tie { group, at: Bytes::ZERO }));
                buffer.set_tie(Some(Tie { group, at: Bytes(size) }));
            }
            // Buffers that share with nobody are rarer than the other features.
            4 => buffer.exclusive = random.one_in(3),
            _ => {}
        }
        let id = builder.buffer(buffer);
        // A buffer may take the place of the one before it, as in-place operations do.
        if let Some(over) = previous.filter(|_| random.one_in(3)) {
            builder.overlay(Overlay { buffer: id, over, kind: OverlayKind::SameBase });
        }
        previous = Some(id);
        // Starts advance by one or two steps and lives last two to six, so mostly two or three buffers are alive
        // together.
        step += random.below(2) + 1;
    }
    build_valid(builder)
}

/// Sizes of tensors: few different ones, as in networks.
fn network_size(random: &mut Random) -> u64 {
    let side = [7, 14, 28, 56, 112][random.below(5) as usize];
    let channels = [16, 24, 32, 64, 96, 128][random.below(6) as usize];
    side * side * channels * 4
}

/// A problem of these buffers, with one space and no relations.
fn build(buffers: impl Iterator<Item = Buffer>) -> Problem {
    let mut builder = ProblemBuilder::new();
    buffers.for_each(|buffer| {
        builder.buffer(buffer);
    });
    build_valid(builder)
}

/// The problem of a generator, which only makes valid ones.
pub(crate) fn build_valid(builder: ProblemBuilder) -> Problem {
    match builder.build() {
        Ok(problem) => problem,
        Err(error) => unreachable!("generators make valid problems: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::bound;

    #[test]
    fn the_mean_number_of_live_buffers_is_as_asked() {
        let problem = random(20_000, 100, 1);
        let alive: u64 = problem
            .buffers()
            .iter()
            .filter_map(|buffer| Some(buffer.lifetime.end()?.0 - buffer.lifetime.start()?.0))
            .sum();
        assert!((95..=105).contains(&(alive / 20_000)), "{}", alive / 20_000);
        assert_eq!(problem, random(20_000, 100, 1), "same seed, same problem");
        assert_ne!(problem, random(20_000, 100, 2));
    }

    #[test]
    fn networks_have_their_shape() {
        assert_eq!(training(10, 1).buffers().len(), 20);
        assert!(bound::peak_live(&training(10, 1), |_| true).bytes > bound::peak_live(&chain(10, 1), |_| true).bytes);
        assert_eq!(in_place_chain(10, 1).overlays().len(), 9);
        assert!(aligned(10, 3, 1).buffers().iter().all(|buffer| buffer.alignment == Bytes(64)));
        let all = all_alive(10, 1);
        let sum = all.buffers().iter().filter_map(Buffer::bytes).map(|size| size.0).sum();
        assert_eq!(bound::peak_live(&all, |_| true).bytes, Bytes(sum));
    }
}
