//! Stretching the largest free block, with a copy of all blocks after every step.

use memplan_core::Problem;

use super::{overlap, records};

const ENDLESS: u64 = 1 << 60;

pub(crate) fn addresses(problem: &Problem) -> Vec<u64> {
    let records = records(problem);
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by_key(|&index| records[index].1);
    let mut blocks: Vec<(Option<usize>, u64)> = vec![(None, ENDLESS)];
    let mut snapshots = Vec::new();
    for index in order {
        for block in &mut blocks {
            if block.0.is_some_and(|owner| !overlap(records[owner], records[index])) {
                block.0 = None;
            }
        }
        let mut merged: Vec<(Option<usize>, u64)> = Vec::new();
        for block in blocks {
            match merged.last_mut() {
                Some(last) if last.0.is_none() && block.0.is_none() => last.1 += block.1,
                _ => merged.push(block),
            }
        }
        blocks = merged;
        let mut chosen = blocks.len() - 1;
        for place in (0..blocks.len() - 1).rev() {
            let is_first = chosen == blocks.len() - 1;
            if blocks[place].0.is_none() && (is_first || blocks[place].1 >= blocks[chosen].1) {
                chosen = place;
            }
        }
        let (bytes, have) = (records[index].0, blocks[chosen].1);
        blocks[chosen] = (Some(index), bytes);
        if have > bytes {
            blocks.insert(chosen + 1, (None, have - bytes));
        }
        snapshots.push(blocks.clone());
    }
    let mut addresses: Vec<Option<u64>> = vec![None; records.len()];
    for snapshot in snapshots.iter().rev() {
        let mut end = 0;
        for &(owner, bytes) in snapshot {
            let start = owner.map_or(end, |owner| *addresses[owner].get_or_insert(end).max(&mut end.clone()));
            end = start + bytes;
        }
    }
    addresses.into_iter().map(Option::unwrap).collect()
}
