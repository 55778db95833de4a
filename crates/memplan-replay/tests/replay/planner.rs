//! A plan for a recording: as simple as can be, since the plan's quality is not what is tested here.

use memplan_replay::lane::rounded;
use memplan_replay::plan::{Moment, Slot, StepPlan};
use memplan_replay::recording::{Event, Kind};

/// Puts each slot at the lowest offset that is free of all slots whose lives meet its own.
pub(crate) fn plan(key: (u32, u32, u32), events: &[Event]) -> StepPlan {
    let mut slots: Vec<Slot> = Vec::new();
    let mut lives: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut moments = Vec::new();
    let allocations = events.iter().filter(|event| event.kind == Kind::Alloc).count();
    let mut dropped = vec![None; allocations];
    for event in events.iter().filter(|event| (event.index as usize) < allocations) {
        match event.kind {
            Kind::Alloc => {
                let bytes = rounded(event.bytes).unwrap();
                slots.push(Slot { offset: None, most: bytes, least: bytes });
                lives.push(vec![(moments.len(), usize::MAX)]);
                moments.push(Moment::Alloc(event.index));
            }
            Kind::Free => {
                lives[event.index as usize][0].1 = moments.len();
                moments.push(Moment::Free(event.index));
            }
            Kind::FreeOld => {
                dropped[event.index as usize] = Some(moments.len());
                moments.push(Moment::Free(event.index));
            }
        }
    }
    // What the last step left and this one dropped is carried; a free of both kinds would be two lives.
    for (index, at) in dropped.iter().enumerate() {
        match at {
            Some(at) if lives[index][0].1 == usize::MAX && *at <= lives[index][0].0 => lives[index].push((0, *at)),
            Some(at) => moments[*at] = Moment::Free(u32::MAX),
            None if lives[index][0].1 == usize::MAX => lives[index].clear(),
            None => {}
        }
    }
    place(&mut slots, &lives);
    let moments = moments.into_iter().filter(|moment| *moment != Moment::Free(u32::MAX)).collect();
    StepPlan::verified(key, slots, moments).unwrap()
}

fn place(slots: &mut [Slot], lives: &[Vec<(usize, usize)>]) {
    let meet = |a: &[(usize, usize)], b: &[(usize, usize)]| {
        a.iter().any(|(start, end)| b.iter().any(|(other, other_end)| start < other_end && other < end))
    };
    for index in 0..slots.len() {
        if lives[index].is_empty() {
            continue;
        }
        let others =
            (0..slots.len()).filter(|&other| slots[other].offset.is_some() && meet(&lives[index], &lives[other]));
        let mut taken: Vec<(u64, u64)> = others
            .map(|other| (slots[other].offset.unwrap(), slots[other].offset.unwrap() + slots[other].most))
            .collect();
        taken.sort_unstable();
        let mut offset = 0;
        for (start, end) in taken {
            if start < offset + slots[index].most {
                offset = offset.max(end);
            }
        }
        slots[index].offset = Some(offset);
    }
}
