//! Random steps, replayed with deviations of every kind.

use memplan_replay::recording::Event;
use memplan_testkit::Random;

use crate::model::Watched;
use crate::planner::plan;

/// What a step does: allocate with a name, or free what has the name.
#[derive(Debug, Clone, Copy)]
enum Action {
    Alloc { name: u32, bytes: u64, stream: u64 },
    Free { name: u32 },
}

/// A random step: sizes from zero to some pages, most freed inside, some left for the next step.
fn script(dice: &mut Random, length: u64) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut alive = Vec::new();
    for name in 0..length as u32 {
        let bytes = match dice.below(8) {
            0 => 0,
            1..=4 => dice.below(4000),
            5..=6 => dice.below(200_000),
            _ => dice.below(1 << 21),
        };
        let stream = if dice.one_in(10) { 5 } else { 0 };
        actions.push(Action::Alloc { name, bytes, stream });
        alive.push(name);
        while alive.len() > 3 && dice.below(100) < 48 {
            let name = alive.swap_remove(dice.below(alive.len() as u64) as usize);
            actions.push(Action::Free { name });
        }
    }
    for name in alive {
        // A few are left for the next step to drop, as gradients are.
        if !dice.one_in(6) {
            actions.push(Action::Free { name });
        }
    }
    actions
}

struct Run {
    watched: Watched,
    /// What is alive: name, address, stream, and the step that made it.
    alive: Vec<(u32, u64, u64, u64)>,
    step: u64,
    calls: u64,
}

impl Run {
    fn free(&mut self, position: usize) {
        let (_, address, stream, _) = self.alive.swap_remove(position);
        self.watched.free(address, stream);
        self.calls += 1;
    }

    fn allocate(&mut self, name: u32, bytes: u64, stream: u64) {
        let address = self.watched.allocate(bytes, stream).address;
        self.alive.push((name, address, stream, self.step));
        self.calls += 1;
    }

    /// Runs a step; one action in `rarity` deviates (0: none).
    fn play(&mut self, actions: &[Action], dice: &mut Random, rarity: u64, id: u32) -> Option<u64> {
        self.step += 1;
        self.watched.allocator.begin(id);
        // What the step before has left is dropped at the beginning, as gradients are.
        while let Some(old) = self.alive.iter().position(|&(_, _, _, made)| made + 1 == self.step) {
            if rarity > 0 && dice.one_in(3) {
                self.alive[old].3 = 0; // kept for longer than anybody expects
            } else {
                self.free(old);
            }
        }
        for action in actions {
            let deviates = rarity > 0 && dice.one_in(rarity);
            match *action {
                Action::Alloc { name, bytes, stream } if deviates => match dice.below(5) {
                    0 => self.allocate(name, bytes + 1 + dice.below(5000), stream),
                    1 => self.allocate(name, bytes / 2, stream),
                    2 => self.allocate(name, bytes, 5 - stream),
                    3 => {
                        // A request too many, kept for a while.
                        self.allocate(u32::MAX, dice.below(100_000), stream);
                        self.allocate(name, bytes, stream);
                    }
                    _ => {}
                },
                Action::Alloc { name, bytes, stream } => self.allocate(name, bytes, stream),
                // A free that does not come is late, or survives the step.
                Action::Free { .. } if deviates => {}
                Action::Free { name } => {
                    let own = self.alive.iter().position(|&(own, _, _, made)| own == name && made == self.step);
                    if let Some(own) = own {
                        self.free(own);
                    }
                }
            }
            if self.calls.is_multiple_of(16) {
                self.watched.check_pages();
            }
            if rarity > 0 && dice.one_in(rarity * 40) {
                break; // an exception in the middle of the step
            }
        }
        let deviations = self.watched.allocator.end().deviations;
        self.watched.check_pages();
        // Between steps, some of what should have gone long ago goes.
        while self.alive.len() > 60 {
            let some = dice.below(self.alive.len() as u64) as usize;
            self.free(some);
        }
        deviations
    }

    fn recorded(&self) -> Vec<(u32, Vec<Event>)> {
        let lanes = self.watched.allocator.lanes();
        lanes.iter().enumerate().map(|(at, &(_, lane, _))| (lane, self.watched.allocator.recording(at))).collect()
    }
}

/// Drives an allocator; the number of calls, and the bytes of pages that were moved on the first lane.
fn drive(seed: u64, length: u64, steps: u64, rarity: u64) -> (u64, u64) {
    let mut dice = Random::new(seed);
    let scripts = [script(&mut dice, length), script(&mut dice, length / 2)];
    let mut run = Run { watched: Watched::new(1 << 28), alive: Vec::new(), step: 0, calls: 0 };
    // Parameters, made before the first step.
    for name in 0..20 {
        run.allocate(name, dice.below(100_000), 0);
    }
    for (id, actions) in scripts.iter().enumerate() {
        for _ in 0..3 {
            run.play(actions, &mut dice, 0, id as u32);
        }
        let recorded = run.recorded();
        let plans = recorded.iter().map(|(lane, events)| plan((id as u32, 0, *lane), events)).collect();
        run.watched.allocator.adopt(plans).unwrap();
        for _ in 0..3 {
            // The first step on the plan finds what the recorded steps have left; the next ones are exact.
            run.play(actions, &mut dice, 0, id as u32);
        }
        assert_eq!(run.play(actions, &mut dice, 0, id as u32), Some(0), "seed {seed}: an exact step deviates");
    }
    for step in 0..steps {
        let id = (step / 4 % 2) as usize;
        run.play(&scripts[id], &mut dice, rarity, id as u32);
    }
    while !run.alive.is_empty() {
        run.free(0);
    }
    // Nothing leaks: no allocation is in use, no page of the pool stays, and the next step is exact again.
    assert_eq!(run.watched.fact("live"), 0);
    run.watched.allocator.trim();
    assert_eq!((run.watched.fact("large"), run.watched.fact("small")), (0, 0));
    run.play(&scripts[0], &mut dice, 0, 0);
    run.play(&scripts[0], &mut dice, 0, 0);
    assert_eq!(run.play(&scripts[0], &mut dice, 0, 0), Some(0), "seed {seed}: the plan is found again");
    (run.calls, run.watched.fact("moved"))
}

/// 10^5 calls, and a million in a full test run.
#[test]
fn random_steps_with_deviations_never_share_a_byte() {
    let wanted = if std::env::var_os("MEMPLAN_FULL").is_some() { 1_000_000 } else { 100_000 };
    let (mut calls, mut moved) = (0, 0);
    for seed in 0.. {
        let rarity = [3, 10, 50, 400][seed as usize % 4];
        let (more_calls, more_moved) = drive(seed, 40 + 60 * (seed % 5), 20, rarity);
        (calls, moved) = (calls + more_calls, moved + more_moved);
        if calls >= wanted {
            break;
        }
    }
    assert!(calls >= wanted && moved > 1 << 24, "{calls} calls, {moved} bytes moved");
}
