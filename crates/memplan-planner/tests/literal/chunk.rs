//! The chunk planner with chunks that shift and grow one by one, recursively,
//! and a look at every free chunk.

use memplan_core::{BufferId, Id, OverlayKind, Problem, Reuse};

use super::records;

pub(crate) struct Planned {
    pub(crate) offsets: Vec<u64>,
    pub(crate) total: u64,
    pub(crate) reused: Vec<Reuse>,
}

enum Made {
    Origin(u64),
    Left(usize),
    Right(usize),
    Merged(Vec<usize>),
}

struct Chunk {
    bytes: u64,
    made: Made,
    is_free: bool,
    last_freed: u64,
    is_remainder: bool,
}

#[derive(Default)]
struct Planner {
    chunks: Vec<Chunk>,
    row: Vec<usize>,
    /// Free chunks in the order of insertion.
    free: Vec<usize>,
    total: u64,
    tick: u64,
}

impl Planner {
    fn make(&mut self, bytes: u64, made: Made, last_freed: u64) -> usize {
        self.chunks.push(Chunk { bytes, made, is_free: false, last_freed, is_remainder: false });
        self.chunks.len() - 1
    }

    fn grow(&mut self, chunk: usize, by: u64) {
        self.chunks[chunk].bytes += by;
        match &self.chunks[chunk].made {
            Made::Origin(_) => {}
            Made::Left(whole) | Made::Right(whole) => self.grow(*whole, by),
            Made::Merged(parts) => self.grow(parts[parts.len() - 1], by),
        }
    }

    fn shift(&mut self, chunk: usize, by: u64) {
        match &mut self.chunks[chunk].made {
            Made::Origin(start) => *start += by,
            Made::Left(whole) => {
                let whole = *whole;
                self.shift(whole, by);
            }
            Made::Right(_) => {}
            Made::Merged(parts) => {
                for part in parts.clone() {
                    self.shift(part, by);
                }
            }
        }
    }

    fn start(&self, chunk: usize) -> u64 {
        match &self.chunks[chunk].made {
            Made::Origin(start) => *start,
            Made::Left(whole) => self.start(*whole),
            Made::Right(whole) => self.start(*whole) + self.chunks[*whole].bytes - self.chunks[chunk].bytes,
            Made::Merged(parts) => self.start(parts[0]),
        }
    }

    fn place(&self, chunk: usize) -> usize {
        self.row.iter().position(|&other| other == chunk).unwrap()
    }

    fn extend(&mut self, chunk: usize, by: u64) {
        self.total += by;
        self.grow(chunk, by);
        let to_the_right = self.row[self.place(chunk) + 1..].to_vec();
        for right in to_the_right {
            self.shift(right, by);
        }
    }

    fn set_free(&mut self, chunk: usize) {
        self.chunks[chunk].is_free = true;
        self.free.push(chunk);
    }

    fn take_out(&mut self, chunk: usize) {
        self.chunks[chunk].is_free = false;
        self.free.retain(|&other| other != chunk);
    }

    fn split(&mut self, whole: usize, bytes: u64) -> (usize, usize) {
        let (all, last_freed, place) = (self.chunks[whole].bytes, self.chunks[whole].last_freed, self.place(whole));
        let left = self.make(bytes, Made::Left(whole), last_freed);
        let right = self.make(all - bytes, Made::Right(whole), last_freed);
        self.row.splice(place..=place, [left, right]);
        (left, right)
    }

    fn merge(&mut self, parts: Vec<usize>) -> usize {
        let bytes = parts.iter().map(|&part| self.chunks[part].bytes).sum();
        let (place, count) = (self.place(parts[0]), parts.len());
        let merged = self.make(bytes, Made::Merged(parts), self.tick);
        self.row.splice(place..place + count, [merged]);
        merged
    }

    fn choose(&self, bytes: u64, hot_first: bool) -> usize {
        let size = |chunk: &&usize| self.chunks[**chunk].bytes;
        if hot_first {
            let score = |chunk: usize| {
                let ticks = self.tick - self.chunks[chunk].last_freed;
                fit(self.chunks[chunk].bytes, bytes) + (1.0 - (ticks as f32 / 10.0).min(1.0))
            };
            let mut by_age = self.free.clone();
            by_age.sort_by_key(|&chunk| self.chunks[chunk].last_freed);
            let mut best = by_age[by_age.len() - 1];
            for chunk in by_age {
                if score(chunk) > score(best) {
                    best = chunk;
                }
            }
            return best;
        }
        let fits = self.free.iter().filter(|chunk| size(chunk) >= bytes).min_by_key(size);
        *fits.unwrap_or_else(|| self.free.iter().max_by_key(size).unwrap())
    }

    fn take(&mut self, bytes: u64, hot_first: bool) -> usize {
        if self.free.is_empty() {
            let chunk = self.make(bytes, Made::Origin(self.total), 0);
            self.row.push(chunk);
            self.total += bytes;
            return chunk;
        }
        let chunk = self.choose(bytes, hot_first);
        self.take_out(chunk);
        let have = self.chunks[chunk].bytes;
        if have < bytes {
            self.extend(chunk, bytes - have);
        }
        if have <= bytes {
            return chunk;
        }
        let (left, right) = self.split(chunk, bytes);
        self.set_free(right);
        left
    }

    fn release(&mut self, chunk: usize) {
        self.tick += 1;
        self.chunks[chunk].is_remainder = false;
        let is_free = |chunk: &usize| self.chunks[*chunk].is_free;
        let place = self.place(chunk);
        let before = self.row[..place].iter().rev().take_while(|chunk| is_free(chunk)).count();
        let after = self.row[place + 1..].iter().take_while(|chunk| is_free(chunk)).count();
        let run = self.row[place - before..=place + after].to_vec();
        for &part in &run {
            self.take_out(part);
        }
        let all = if run.len() == 1 { chunk } else { self.merge(run) };
        self.chunks[all].last_freed = self.tick;
        self.set_free(all);
    }
}

fn fit(have: u64, need: u64) -> f32 {
    let distance = -(have.abs_diff(need) as f32) / have.max(need) as f32;
    if have >= need { distance + 1.0 } else { distance }
}

/// Takes over victims' chunks; returns the chunk and the victims.
fn in_place(
    planner: &mut Planner,
    held: &mut [Option<usize>],
    hints: &[(usize, OverlayKind)],
    bytes: u64,
) -> Option<(usize, Vec<usize>)> {
    let alive: Vec<(usize, OverlayKind, usize)> =
        hints.iter().filter_map(|&(victim, kind)| held[victim].map(|chunk| (victim, kind, chunk))).collect();
    let mut best: Option<(f32, Vec<usize>, u64)> = None;
    for &(_, kind, chunk) in &alive {
        if planner.chunks[chunk].is_remainder && kind == OverlayKind::SameBase {
            continue;
        }
        let mut run = vec![chunk];
        let mut collected = planner.chunks[chunk].bytes;
        for &next in &planner.row[planner.place(chunk) + 1..] {
            let victim = alive.iter().any(|&(_, kind, held)| held == next && kind == OverlayKind::AnyOffset);
            if collected >= bytes || !(planner.chunks[next].is_free || victim) {
                break;
            }
            run.push(next);
            collected += planner.chunks[next].bytes;
        }
        let score = fit(collected, bytes);
        if best.as_ref().is_none_or(|(best, ..)| score > *best) {
            best = Some((score, run, collected));
        }
    }
    let (_, run, collected) = best.filter(|(_, _, collected)| collected * 10 >= bytes)?;
    let victim_of = |chunk: usize| alive.iter().find(|&&(_, _, held)| held == chunk).map(|&(victim, ..)| victim);
    let victims: Vec<usize> = run.iter().filter_map(|&chunk| victim_of(chunk)).collect();
    let (first, last) = (run[0], run[run.len() - 1]);
    let last_victim = victim_of(last);
    planner.chunks[first].last_freed = planner.tick;
    if collected < bytes {
        planner.extend(last, bytes - collected);
    }
    for &chunk in &run {
        planner.take_out(chunk);
    }
    for &victim in &victims {
        held[victim] = None;
    }
    let all = if run.len() == 1 { first } else { planner.merge(run) };
    if planner.chunks[all].bytes == bytes {
        return Some((all, victims));
    }
    let (left, right) = planner.split(all, bytes);
    match last_victim {
        Some(victim) => {
            planner.chunks[right].is_remainder = true;
            held[victim] = Some(right);
        }
        None => planner.set_free(right),
    }
    Some((left, victims))
}

pub(crate) fn plan(problem: &Problem, hot_first: bool) -> Planned {
    let records = records(problem);
    let mut events: Vec<(u64, bool, usize)> = Vec::new();
    for (index, &(bytes, start, end)) in records.iter().enumerate() {
        if bytes > 0 {
            events.extend([(start, true, index), (end, false, index)]);
        }
    }
    events.sort_unstable();
    let mut planner = Planner::default();
    let mut held: Vec<Option<usize>> = vec![None; records.len()];
    let mut got: Vec<Option<usize>> = vec![None; records.len()];
    let mut reused: Vec<Reuse> = Vec::new();
    for (_, is_alloc, index) in events {
        if !is_alloc {
            if let Some(chunk) = held[index].take() {
                planner.release(chunk);
            }
            continue;
        }
        planner.tick += 1;
        let of_this = problem.overlays().iter().filter(|overlay| overlay.buffer.index() == index);
        let earlier = of_this.filter(|overlay| records[overlay.over.index()].1 < records[index].1);
        let hints: Vec<(usize, OverlayKind)> = earlier.map(|overlay| (overlay.over.index(), overlay.kind)).collect();
        let chunk = match in_place(&mut planner, &mut held, &hints, records[index].0) {
            Some((chunk, victims)) => {
                let over = victims.into_iter().map(BufferId::from_index).collect();
                reused.push(Reuse { buffer: BufferId::from_index(index), over });
                chunk
            }
            None => planner.take(records[index].0, hot_first),
        };
        held[index] = Some(chunk);
        got[index] = Some(chunk);
    }
    reused.sort_by_key(|reuse| reuse.buffer);
    let offsets = got.iter().map(|chunk| chunk.map_or(0, |chunk| planner.start(chunk))).collect();
    Planned { offsets, total: planner.total, reused }
}
