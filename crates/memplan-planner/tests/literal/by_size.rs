//! Greedy by size, for shared objects with a full table of distances, and for
//! offsets with a walk over all placed buffers.

use memplan_core::{Problem, bound::positional_maxima};

use super::{overlap, records};

pub(crate) fn objects(problem: &Problem) -> Vec<usize> {
    let records = records(problem);
    let maxima = positional_maxima(problem, |_| true);
    let position = |bytes: u64| maxima.iter().rposition(|maximum| maximum.0 >= bytes).unwrap();
    let mut object_of: Vec<Option<usize>> = vec![None; records.len()];
    // For each record and object: `None` if blocked, else the distance.
    let mut distances: Vec<Vec<Option<u64>>> = vec![Vec::new(); records.len()];
    let mut best: Vec<Option<(u64, usize)>> = vec![None; records.len()];
    let mut count = 0;
    for _ in 0..records.len() {
        let waiting = (0..records.len()).filter(|&index| object_of[index].is_none());
        let key = |&index: &usize| {
            let distance = best[index].map_or(u64::MAX, |(distance, _)| distance);
            (position(records[index].0), distance, std::cmp::Reverse(records[index].0), index)
        };
        let next = waiting.min_by_key(key).unwrap();
        let object = best[next].map_or(count, |(_, object)| object);
        if object == count {
            count += 1;
            distances.iter_mut().for_each(|row| row.push(Some(u64::MAX)));
        }
        object_of[next] = Some(object);
        for index in 0..records.len() {
            if object_of[index].is_some() || distances[index][object].is_none() {
                continue;
            }
            if overlap(records[index], records[next]) {
                distances[index][object] = None;
                if best[index].is_some_and(|(_, best)| best == object) {
                    let row = distances[index].iter().enumerate();
                    let open = row.filter_map(|(object, distance)| distance.map(|distance| (distance, object)));
                    best[index] = open.min();
                }
                continue;
            }
            let (early, late) = if records[index].1 < records[next].1 { (index, next) } else { (next, index) };
            let distance = records[late].1 - records[early].2 + 1;
            let stored = distances[index][object].unwrap();
            distances[index][object] = Some(stored.min(distance));
            if best[index].is_none_or(|(best, _)| distance < best) {
                best[index] = Some((distance, object));
            }
        }
    }
    object_of.into_iter().map(Option::unwrap).collect()
}

pub(crate) fn offsets(problem: &Problem) -> Vec<u64> {
    let records = records(problem);
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(records[index].0));
    let mut offsets = vec![0; records.len()];
    let mut placed: Vec<usize> = Vec::new();
    for index in order {
        let mut end = 0;
        let mut best: Option<(u64, u64)> = None;
        for &other in placed.iter().filter(|&&other| overlap(records[index], records[other])) {
            if offsets[other] >= end {
                let gap = offsets[other] - end;
                if gap >= records[index].0 && best.is_none_or(|(smallest, _)| gap < smallest) {
                    best = Some((gap, end));
                }
            }
            end = end.max(offsets[other] + records[other].0);
        }
        offsets[index] = best.map_or(end, |(_, offset)| offset);
        let place = placed.partition_point(|&other| offsets[other] <= offsets[index]);
        placed.insert(place, index);
    }
    offsets
}
