//! Kernels like the recorded ones, made here: none of them was there when the search was written.
//!
//! Two kinds, in the format of the recorded kernels. A *matrix* kernel loads tiles of both factors into a large memory,
//! hands slices of them to the two small memories of the matrix unit, and adds up in accumulators. A *vector* kernel
//! loads a tile, computes on it in a few steps and stores the last result. Both are pipelines: while one tile is
//! computed, the next ones are loaded.
//!
//! ```text
//!   load tile 0   load tile 1   load tile 2 …      one unit
//!                 tile 0        tile 1      …      another one, which ends the life of the tile
//! ```
//!
//! Two tiles of one memory have a price if the unit that last touches the one is not the unit that first writes the
//! other, and if the two are close to each other in time.

use memplan_planner::Request;
use memplan_testkit::Random;
use serde_json::{Value, json};

use super::file::File;
use super::{TWO_SECONDS, plan};

/// A unit that works beside the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Load,
    Slice,
    Matrix,
    Vector,
    Store,
}

struct Tile {
    pool: usize,
    size: u64,
    life: (u64, u64),
    first: Unit,
    last: Unit,
}

/// A kernel in the making.
#[derive(Default)]
struct Kernel {
    pools: Vec<(&'static str, u64)>,
    tiles: Vec<Tile>,
}

impl Kernel {
    fn tile(&mut self, pool: usize, size: u64, life: (u64, u64), (first, last): (Unit, Unit)) {
        self.tiles.push(Tile { pool, size, life, first, last });
    }

    /// The product of two matrices, step by step along the inner dimension, for a few tiles of the result.
    fn matrix(random: &mut Random) -> Kernel {
        let pools = vec![("Mat", 524_288), ("Left", 65_536), ("Right", 65_536), ("Acc", 131_072)];
        let mut kernel = Kernel { pools, tiles: Vec::new() };
        let [results, steps, slices] = [random.between(1, 3), random.between(2, 4), random.between(1, 3)];
        let ahead = random.between(1, 2);
        let [left, right, sum] = [4_096, 8_192, 16_384].map(|unit| unit << random.between(1, 2));
        let period = 8 * slices;
        for step in 0..results * steps {
            // A tile is loaded while those before it are computed.
            let compute = (step + ahead) * period;
            let loaded = step * period;
            for size in [left * slices, right * slices] {
                kernel.tile(0, size, (loaded, compute + period - 4), (Unit::Load, Unit::Slice));
            }
            for slice in 0..slices {
                let start = compute + 8 * slice;
                kernel.tile(1, left, (start, start + 4 + random.below(4)), (Unit::Slice, Unit::Matrix));
                kernel.tile(2, right, (start + 2, start + 6 + random.below(4)), (Unit::Slice, Unit::Matrix));
            }
            if step % steps == 0 {
                let end = compute + steps * period + random.below(6);
                kernel.tile(3, sum, (compute + 4, end), (Unit::Matrix, Unit::Store));
            }
        }
        kernel
    }

    /// Rows that are loaded, normalised or scaled in a few steps, and stored.
    fn vector(random: &mut Random) -> Kernel {
        let mut kernel = Kernel { pools: vec![("Vec", 188_416)], tiles: Vec::new() };
        let [rows, steps, ahead] = [random.between(3, 7), random.between(1, 3), random.between(1, 2)];
        let size = 8_192 << random.between(1, 2);
        let period = 4 * steps;
        for row in 0..rows {
            let compute = (row + ahead) * period;
            kernel.tile(0, size, (row * period, compute + 2), (Unit::Load, Unit::Vector));
            for step in 0..steps {
                let start = compute + 4 * step;
                let (end, last) = match step + 1 == steps {
                    true => (start + 4 + random.below(6), Unit::Store),
                    false => (start + 6, Unit::Vector),
                };
                kernel.tile(0, size >> random.below(2), (start, end), (Unit::Vector, last));
                kernel.tile(0, 256, (start, start + 3), (Unit::Vector, Unit::Vector));
            }
        }
        kernel
    }

    /// The pairs with a price: the later one's first unit would have to wait for the earlier one's last one.
    fn penalties(&self) -> Vec<Value> {
        let mut penalties = Vec::new();
        for (one, earlier) in self.tiles.iter().enumerate() {
            for (other, later) in self.tiles.iter().enumerate().filter(|(_, later)| later.pool == earlier.pool) {
                let gap = later.life.0.checked_sub(earlier.life.1);
                if gap.is_some_and(|gap| gap <= 24) && earlier.last != later.first {
                    penalties.push(json!({"first": one, "second": other, "cost": 1, "reason": "cross_pipe"}));
                }
            }
        }
        penalties
    }

    /// A line of a file of kernels.
    fn line(&self, name: &str) -> String {
        let pools =
            self.pools.iter().enumerate().map(
                |(id, (name, capacity))| json!({"id": id, "name": name, "capacity": capacity, "reserved_ranges": []}),
            );
        let buffers = self.tiles.iter().enumerate().map(|(id, tile)| {
            json!({"id": id, "name": format!("tile_{id}"), "size": tile.size, "alignment": 32, "allowed_pools": [tile.pool],
                "live_intervals": [{"lower": tile.life.0, "upper": tile.life.1}]})
        });
        let problem = json!({
            "pools": pools.collect::<Vec<_>>(), "buffers": buffers.collect::<Vec<_>>(),
            "constraints": {"colocations": [], "separations": [], "temporal_exclusions": [], "pinned_allocations": []},
            "cost_model": {"reuse_penalties": self.penalties()},
            "objective": {"aggregation": "lexicographic", "terms": ["capacity_overflow", "reuse_cost", "total_peak"]},
        });
        json!({"schema_version": 1, "profile": "pypto_research_v1", "instance": name, "metadata": {}, "problem": problem})
            .to_string()
    }
}

#[test]
fn generated_kernels_are_proved() {
    let mut random = Random::new(23);
    let (mut planned, mut costly, mut most) = (0, 0, 0);
    for number in 0..50 {
        let kernel = if number % 2 == 0 { Kernel::matrix(&mut random) } else { Kernel::vector(&mut random) };
        let name = format!("generated_{number}");
        let line = kernel.line(&name);
        let result = plan(&line, &File::of(&line), &Request::default());
        println!("{name}: {} tiles, {:?}, {} units", kernel.tiles.len(), result.cost, result.work);
        assert!(result.work <= TWO_SECONDS, "{name}: {} units", result.work);
        most = most.max(result.work);
        // Tiles that are alive at once may be more than the unit's memory holds; then it is proved that they are.
        let Some((cost, bound)) = result.cost else {
            assert!(matches!(result.outcome, memplan_core::Outcome::Infeasible(_)), "{name}: {:?}", result.outcome);
            continue;
        };
        assert_eq!(cost, bound, "{name} is not proved");
        planned += 1;
        costly += u32::from(cost > 0);
    }
    println!("{planned} planned, {costly} cost something, at most {most} units");
    assert!(planned >= 45 && costly >= 20, "{planned} planned, {costly} costly");
}
