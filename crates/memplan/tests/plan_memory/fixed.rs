//! Kernels of which a part has addresses already: what is planned now must not
//! disturb it. A generated kernel is planned, some of its buffers keep these
//! addresses as casts, the others are planned anew, and the dataflow check judges
//! all addresses together on the original kernel.

use std::collections::HashMap;

use memplan_core::Placement;
use memplan_mlir::pass::PassError;
use memplan_program::SiteId;

use crate::generate::{Case, count};
use crate::kernel::Random;

/// The kernel with some of its allocations replaced by casts to where they were put.
fn partly_planned(case: &Case, placements: &HashMap<String, Placement>, random: &mut Random) -> String {
    let mut text = String::new();
    let mut constants = String::new();
    let mut number = 0;
    for line in case.text.lines() {
        let alloc = line.trim().split_once(" = memref.alloc() : ");
        let placed = alloc.and_then(|(name, ty)| Some((name, ty, placements.get(name)?)));
        let Some((name, ty, place)) = placed.filter(|_| random.chance(40)) else {
            text += line;
            text += "\n";
            continue;
        };
        let mut addresses = Vec::new();
        for offset in &place.offsets {
            number += 1;
            constants += &format!("  %fixed{number} = arith.constant {} : i64\n", offset.0);
            addresses.push(format!("%fixed{number}"));
        }
        text += &format!("{name} = hivm.hir.pointer_cast({}) : {ty}\n", addresses.join(", "));
    }
    let body = text.find("{\n").expect("a function with a body") + 2;
    text.insert_str(body, &constants);
    text
}

/// The names in the text of the sites that have a place.
fn by_name(case: &Case, places: impl Fn(SiteId) -> Option<Placement>) -> HashMap<String, Placement> {
    let program = &case.lowered.program;
    let named = |site: SiteId| Some((format!("%{}", program.value(program.site(site).value).name), places(site)?));
    program.sites().ids().filter_map(named).collect()
}

#[test]
fn what_has_an_address_is_left_in_peace() {
    let (mut checked, mut fixed) = (0, 0);
    for seed in 1..=count() / 2 {
        let case = Case::new(seed);
        let Some(planned) = case.capacity().and_then(|capacity| case.plan(capacity).ok()) else { continue };
        let before = by_name(&case, |site| planned.rewrite.placements[site].clone());
        let again = Case::of(partly_planned(&case, &before, &mut Random::new(seed + 77)));
        let after = match again.plan(1 << 30) {
            Ok(planned) => by_name(&again, |site| planned.rewrite.placements[site].clone()),
            Err(PassError::Op { message, .. }) if message.contains("no fixed address") => continue,
            Err(error) => panic!("{error}\n{}", again.text),
        };
        let program = &case.lowered.program;
        let place = |site: SiteId| {
            let name = format!("%{}", program.value(program.site(site).value).name);
            let place = after.get(&name).or_else(|| before.get(&name))?;
            Some(Placement { space: program.site(site).space, ..place.clone() })
        };
        let placements = program.sites().ids().map(place).collect();
        assert_eq!(case.check_placements(placements, 1 << 30), [], "seed {seed}\n{}", again.text);
        checked += 1;
        fixed += before.len() - after.len();
    }
    assert!(checked > 500 && fixed > checked, "{checked} kernels, {fixed} fixed buffers");
}
