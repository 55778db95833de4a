//! Plans as C headers, for firmware that has an arena and no file system.
//!
//! ```c
//! #define PLAN_ARENA_SIZE 96u
//! #define PLAN_ARENA_ALIGNMENT 16u
//! #define PLAN_OFFSET_conv1 64u /* "conv1": 32 bytes, steps 1..3 */
//! #define PLAN_SIZE_conv1 32u
//! ```
//!
//! If there are several memories, each has its own `PLAN_NAME_SIZE` and `PLAN_NAME_ALIGNMENT`, where `NAME` is that
//! of the memory. `PLAN_SPACE_conv1` is then the number of the memory in which the buffer lives, counted from 0 in
//! the order of the `_SIZE` macros.
//!
//! A plan made of shared objects has the number of each buffer's object instead of an offset, and the objects' sizes
//! (of a texture, a macro for each component):
//!
//! ```c
//! #define PLAN_OBJECTS 1u
//! #define PLAN_OBJECT0_SIZE 32u
//! #define PLAN_OBJECT_conv1 0u /* "conv1": 32 bytes, steps 1..3 */
//! ```
//!
//! Only preprocessor constants: valid in C and C++ of any age, no storage, no
//! headers needed. A decimal number with `u` has the smallest type that holds it.
//!
//! # Names
//!
//! Names of buffers may have characters that a name in C cannot have ([`spelled`] replaces them). A buffer whose name
//! needs no change has macros with exactly that name, unless these are the macros of a memory or of the slots of another
//! buffer: slot 1 of `a` has the macro `PLAN_OFFSET_a_SLOT1`, which a buffer `a_SLOT1` would have, too. If a name is
//! taken, a number follows it: the first one from 2 upwards that makes a free name. For example, the buffers `a b`,
//! `a/b` and `a_b_2` get the names `a_b`, `a_b_3` and `a_b_2`.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use memplan_core::{Buffer, Bytes, Id, IndexVec, Plan, Problem, SharedObject, Size, SpaceId, Span};

use crate::ReadError;
use crate::plan::csv::objects::size_text;

/// Writes the constants of a plan; `name` is what the file is called, without its extension.
pub fn write(problem: &Problem, plan: &Plan, name: &str) -> String {
    let prefix = spelled(name).to_ascii_uppercase();
    // A name in C may not begin with a digit.
    let prefix = if prefix.starts_with(|first: char| first.is_ascii_digit()) { format!("P{prefix}") } else { prefix };
    let text = format!(
        "/* Where every buffer lives, as planned by memplan. Do not edit: plan again. */\n\
         #ifndef {prefix}{GUARD}\n#define {prefix}{GUARD}\n"
    );
    let mut header = Header { prefix, text };
    // With only one space, macros for the number of a buffer's space would say nothing and are left out.
    let several = problem.spaces().len() > 1;
    let names = Names::of(problem, plan);
    let alignments = alignments(problem, plan);
    for ((id, space), arena) in problem.spaces().iter_enumerated().zip(&names.spaces) {
        let capacity = space.capacity.map(|capacity| format!(" /* of {capacity} */")).unwrap_or_default();
        header.define(format!("{arena}_SIZE"), plan.extents[id].0, &capacity);
        header.define(format!("{arena}_ALIGNMENT"), alignments[id].0, "");
    }
    if !plan.objects.is_empty() {
        header.define("OBJECTS".to_owned(), plan.objects.len() as u64, "");
    }
    for (id, object) in plan.objects.iter_enumerated() {
        for (name, value) in object_macros(id.index(), object, several) {
            header.define(name, value, "");
        }
    }
    for ((id, buffer), name) in problem.buffers().iter_enumerated().zip(&names.buffers) {
        let Some(placement) = &plan.placements[id] else { continue };
        // The name of the memory is only told where there are several.
        let space = several.then(|| problem.spaces()[placement.space].name.as_str());
        if let Some(object) = placement.object {
            header.define(format!("OBJECT_{name}"), object.index() as u64, &remark(buffer, space));
        }
        // A buffer in a shared object has no offset of its own: its address is that of the object.
        let offsets = placement.offsets.iter().enumerate().filter(|_| placement.object.is_none());
        for (slot, offset) in offsets {
            let slot = if placement.offsets.len() > 1 { format!("_SLOT{slot}") } else { String::new() };
            header.define(format!("OFFSET_{name}{slot}"), offset.0, &remark(buffer, space));
        }
        if let Some(bytes) = buffer.bytes() {
            header.define(format!("SIZE_{name}"), bytes.0, "");
        }
        if several {
            header.define(format!("SPACE_{name}"), placement.space.index() as u64, "");
        }
    }
    header.text.push_str("#endif\n");
    header.text
}

/// A header that is being written.
struct Header {
    /// What all macros begin with.
    prefix: String,
    /// The text so far.
    text: String,
}

impl Header {
    /// Adds a macro with a number, and a comment at the end of its line.
    fn define(&mut self, name: String, value: u64, remark: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "#define {}_{name} {value}u{remark}", self.prefix);
    }
}

/// The macros of one shared object: its size, if that is known, and the number of its space if there are `several`.
fn object_macros(index: usize, object: &SharedObject, several: bool) -> Vec<(String, u64)> {
    let mut macros: Vec<(String, u64)> = match &object.size {
        Size::Shape(components) => {
            components.iter().enumerate().map(|(at, &length)| (format!("OBJECT{index}_SIZE{at}"), length)).collect()
        }
        size => size.bytes().map(|bytes| (format!("OBJECT{index}_SIZE"), bytes.0)).into_iter().collect(),
    };
    if several {
        macros.push((format!("OBJECT{index}_SPACE"), object.space.index() as u64));
    }
    macros
}

/// The names of all macros that a buffer called `name` may have, without the prefix. `most_slots` is the largest number
/// of slots of any buffer.
fn buffer_macros(name: &str, most_slots: u32) -> Vec<String> {
    let mut all = ["OFFSET", "OBJECT", "SIZE", "SPACE"].map(|what| format!("{what}_{name}")).to_vec();
    // `OFFSET_a_SLOT0` may be a slot of `a`, or the offset of a buffer that is called `a_SLOT0`. So if any buffer has
    // slots, every buffer reserves these names, too.
    if most_slots > 1 {
        all.extend((0..most_slots).map(|slot| format!("OFFSET_{name}_SLOT{slot}")));
    }
    all
}

/// The end of the include guard's name; it follows the prefix that all macros begin with.
const GUARD: &str = "_MEMPLAN_H";

/// The names of spaces and buffers in macros, in the order of the problem's spaces and buffers.
struct Names {
    /// A name for each space.
    spaces: Vec<String>,
    /// A name for each buffer.
    buffers: Vec<String>,
}

impl Names {
    /// Chooses the names so that no macro is defined twice, even where two names are spelled alike in C. Macros of
    /// objects have fixed names, so these are taken first; then come the spaces, then the buffers.
    fn of(problem: &Problem, plan: &Plan) -> Names {
        let objects = plan.objects.iter_enumerated();
        let mut taken: HashSet<String> = objects
            .flat_map(|(id, object)| object_macros(id.index(), object, true).into_iter().map(|(name, _)| name))
            .collect();
        let spaces: Vec<&str> = problem.spaces().iter().map(|space| space.name.as_str()).collect();
        let spaces = match spaces.as_slice() {
            // No macro of a buffer or an object begins with this word, so it need not be taken.
            [_] => vec!["ARENA".to_owned()],
            several => unique(
                several,
                |name| spelled(name).to_ascii_uppercase(),
                &mut taken,
                |name| vec![format!("{name}_SIZE"), format!("{name}_ALIGNMENT")],
            ),
        };
        let buffers: Vec<&str> = problem.buffers().iter().map(|buffer| buffer.name.as_str()).collect();
        let most_slots = problem.buffers().iter().map(|buffer| buffer.slots).max().unwrap_or(1);
        let buffers = unique(&buffers, spelled, &mut taken, |name| buffer_macros(name, most_slots));
        Names { spaces, buffers }
    }
}

/// A name in C for each of `names`, so that no two make the same macro. `spell` makes a name of C from a name; `macros`
/// lists the macros that a thing of some name has; `taken` holds all macros so far, and gets those of the new names.
fn unique(
    names: &[&str],
    spell: impl Fn(&str) -> String,
    taken: &mut HashSet<String>,
    macros: impl Fn(&str) -> Vec<String>,
) -> Vec<String> {
    let mut found: Vec<Option<String>> = vec![None; names.len()];
    // For each spelling the number that is tried next; 1 is the spelling without a number. What is taken stays taken, so
    // no number need be tried twice.
    let mut next: HashMap<String, u64> = HashMap::new();
    // The first round is for names that C can spell without a change, so that they are not taken by others.
    for only_exact in [true, false] {
        for (name, found) in names.iter().zip(&mut found) {
            let spelled = spell(name);
            if found.is_some() || only_exact && spelled != *name {
                continue;
            }
            let number = next.entry(spelled.clone()).or_insert(1);
            *found = loop {
                let candidate = if *number == 1 { spelled.clone() } else { format!("{spelled}_{number}") };
                *number += 1;
                let macros = macros(&candidate);
                if macros.iter().all(|name| !taken.contains(name)) {
                    taken.extend(macros);
                    break Some(candidate);
                }
            };
        }
    }
    found.into_iter().map(Option::unwrap_or_default).collect()
}

/// Where a buffer lives, as a header says it: an offset, or an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderOffset {
    /// What follows `_OFFSET_` or `_OBJECT_` in the macro's name: the buffer's name, as far as C can spell it.
    pub name: String,
    /// The offset, or the number of the object.
    pub offset: u64,
    /// Whether it is an object.
    pub is_object: bool,
    /// The number of its memory, counted from 0; `None` if there is one memory only.
    pub space: Option<u64>,
}

/// Reads the offsets and objects of a header that [`write()`] wrote, in the order of the file, so that a plan can be
/// checked as the firmware will see it. A macro that is defined twice is an error.
pub fn offsets(text: &str) -> Result<Vec<HeaderOffset>, ReadError> {
    // The include guard is `PLAN_MEMPLAN_H`, where `PLAN` is the prefix of all macros.
    let guard = text.lines().find_map(|line| line.strip_prefix("#ifndef ")?.trim().strip_suffix(GUARD));
    let [offset_of, object_of, space_of] =
        ["OFFSET", "OBJECT", "SPACE"].map(|what| format!("{}_{what}_", guard.unwrap_or_default()));
    let mut seen = HashSet::new();
    let mut found: Vec<HeaderOffset> = Vec::new();
    let mut start = 0;
    // Each line is read as the preprocessor reads it: only lines `#define NAME VALUE` count. A line of interest is
    // `#define PLAN_OFFSET_conv1 64u /* "conv1" in sram: 32 bytes, steps 1..3 */`. If there are several memories,
    // `#define PLAN_SPACE_conv1 1u` follows the offsets of the buffer. The memory is taken from there and not from the
    // comment, in which names of buffers and memories may hold any words.
    for line in text.split_inclusive('\n') {
        let span = Span::new(start, start + line.len());
        start += line.len();
        let Some(definition) = line.strip_prefix("#define ") else { continue };
        let mut words = definition.split_whitespace();
        let (Some(name), value) = (words.next(), words.next().unwrap_or_default()) else { continue };
        if !seen.insert(name) {
            return Err(ReadError::new("header::defined-twice", text, span, format!("{name} is defined twice")));
        }
        // A memory called `offset a` has a macro `PLAN_OFFSET_A_SIZE`. Only the lines of buffers have a comment with a
        // name in quotes.
        let object = name.strip_prefix(&object_of);
        let buffer = name.strip_prefix(&offset_of).or(object).filter(|_| line.contains("/* \""));
        if buffer.is_none() && !name.starts_with(&space_of) {
            continue;
        }
        let number = value
            .strip_suffix('u')
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| ReadError::new("header::value", text, span, format!("{name} is no number but `{value}`")))?;
        match buffer {
            Some(name) => {
                let (name, is_object) = (name.to_owned(), object.is_some());
                found.push(HeaderOffset { name, offset: number, is_object, space: None });
            }
            // The number belongs to all offsets since the last such macro: those of one buffer.
            None => {
                let of_buffer = found.iter_mut().rev().take_while(|offset| offset.space.is_none());
                of_buffer.for_each(|offset| offset.space = Some(number));
            }
        }
    }
    Ok(found)
}

/// What the address of each space's arena must be a multiple of, in bytes, so that every buffer is aligned: the least
/// common multiple of the alignments of the space and of the buffers in it.
fn alignments(problem: &Problem, plan: &Plan) -> IndexVec<SpaceId, Bytes> {
    let mut all: IndexVec<SpaceId, Bytes> = problem.spaces().iter().map(|space| space.alignment).collect();
    for (id, placement) in plan.placements.iter_enumerated() {
        let Some(placement) = placement else { continue };
        let (so_far, one) = (&mut all[placement.space], problem.alignment_in(id, placement.space));
        // If the common multiple does not fit into 64 bits, the larger of the two alignments is taken.
        *so_far = so_far.least_common_multiple(one).unwrap_or((*so_far).max(one));
    }
    all
}

/// The comment at the end of a macro's line: the buffer's name, its memory, size and life. `space` is the name of its
/// memory; `None` if there is one memory only.
fn remark(buffer: &Buffer, space: Option<&str>) -> String {
    let size = match &buffer.size {
        Size::Shape(_) => format!("{} elements", size_text(&buffer.size)),
        size => format!("{} bytes", size_text(size)),
    };
    let life = match (buffer.lifetime.start(), buffer.lifetime.end()) {
        (Some(start), Some(end)) => format!("steps {start}..{end}"),
        _ => "never alive".to_owned(),
    };
    let place = space.map(|name| format!(" in {name}")).unwrap_or_default();
    let words = format!("\"{}\"{place}: {size}, {life}", buffer.name);
    // The name comes from a file and may hold anything. Without control characters it stays on one line; without `*` it
    // cannot end the comment or open another one; and `??/` would be a backslash to old compilers (a trigraph).
    let printable: String = words.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    format!(" /* {} */", printable.replace('*', "+").replace("??", "? ?"))
}

/// A name as C can spell it: letters and digits of ASCII as they are, letters of other alphabets by their numbers (`é`
/// is `u00E9`), everything else as an underscore. The marks in front of an MLIR name are left out.
pub fn spelled(name: &str) -> String {
    let text: String = name.trim_start_matches(['%', '@']).chars().map(letter).collect();
    if text.is_empty() { "_".to_owned() } else { text }
}

/// A character as [`spelled`] writes it.
fn letter(c: char) -> String {
    match c {
        c if c.is_ascii_alphanumeric() => c.to_string(),
        c if c.is_ascii() => "_".to_owned(),
        c => format!("u{:04X}", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Lifetime, Placement, ProblemBuilder, Space};

    fn header(names: &[&str]) -> String {
        let mut builder = ProblemBuilder::new();
        for name in names {
            let mut buffer = Buffer::new(*name, 8, Lifetime::new(0, 2));
            buffer.alignment = Bytes(8);
            builder.buffer(buffer);
        }
        let problem = builder.build().expect("a problem");
        let mut plan = Plan::empty(&problem);
        for (index, placement) in plan.placements.iter_mut().enumerate() {
            *placement = Some(Placement::at(SpaceId::from_index(0), Bytes(8 * index as u64)));
        }
        plan.fit_extents(&problem);
        write(&problem, &plan, "my-plan")
    }

    #[test]
    fn sizes_alignment_and_offsets_are_constants() {
        let text = header(&["a", "@main/%conv"]);
        for line in [
            "#ifndef MY_PLAN_MEMPLAN_H",
            "#define MY_PLAN_ARENA_SIZE 16u",
            "#define MY_PLAN_ARENA_ALIGNMENT 8u",
            "#define MY_PLAN_OFFSET_a 0u /* \"a\": 8 bytes, steps 0..2 */",
            "#define MY_PLAN_SIZE_a 8u",
            "#define MY_PLAN_OFFSET_main__conv 8u /* \"@main/%conv\": 8 bytes, steps 0..2 */",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    /// The names in the macros of offsets, in order.
    fn offset_names(text: &str) -> Vec<String> {
        offsets(text).expect("a header").into_iter().map(|offset| offset.name).collect()
    }

    #[test]
    fn exact_names_win_and_others_are_numbered() {
        assert_eq!(offset_names(&header(&["a b", "a/b", "a_b_2"])), ["a_b", "a_b_3", "a_b_2"]);
        assert_eq!(offset_names(&header(&["a.b", "a-b", "a_b_2", "a+b", ""])), ["a_b", "a_b_3", "a_b_2", "a_b_4", "_"]);
    }

    #[test]
    fn many_names_of_one_spelling_take_no_quadratic_time() {
        let names: Vec<String> = (0..1000).map(|number| "/".repeat(number % 2) + &"+".repeat(number)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let tried = std::cell::Cell::new(0);
        let count = |name: &str| {
            tried.set(tried.get() + 1);
            vec![name.to_owned()]
        };
        let found = unique(&names, |_| "_".to_owned(), &mut HashSet::new(), count);
        assert_eq!((found[0].as_str(), found[1].as_str(), found[999].as_str()), ("_", "__2", "__1000"));
        assert!(tried.get() <= 2 * names.len(), "{} tries", tried.get());
    }

    #[test]
    fn letters_of_other_alphabets_stay_apart() {
        assert_eq!(offset_names(&header(&["é", "ü", "层1"])), ["u00E9", "u00FC", "u5C421"]);
    }

    #[test]
    fn slots_and_spaces_are_unique_too() {
        let mut builder = ProblemBuilder::new();
        let spaces = ["on chip", "on-chip"].map(|name| builder.space(Space::new(name)));
        for (name, slots) in [("a", 2), ("a_SLOT1", 1)] {
            let buffer = Buffer { slots, ..Buffer::new(name, 8, Lifetime::new(0, 2)) };
            builder.buffer(Buffer { spaces: spaces.iter().copied().collect(), ..buffer });
        }
        let problem = builder.build().expect("a problem");
        let mut plan = Plan::empty(&problem);
        for ((placement, offsets), space) in plan.placements.iter_mut().zip([vec![0, 8], vec![16]]).zip(spaces) {
            let offsets = offsets.into_iter().map(Bytes).collect();
            *placement = Some(Placement { offsets, ..Placement::at(space, Bytes(0)) });
        }
        plan.fit_extents(&problem);
        let text = write(&problem, &plan, "my_offset_plan");
        assert_eq!(offset_names(&text), ["a_SLOT0", "a_SLOT1", "a_SLOT1_2"]);
        for line in ["ON_CHIP_SIZE 16u", "ON_CHIP_2_SIZE 24u", "SPACE_a 0u", "SPACE_a_SLOT1_2 1u"] {
            assert!(text.contains(&format!("#define MY_OFFSET_PLAN_{line}")), "{line}\n{text}");
        }
    }

    #[test]
    fn the_memory_is_not_taken_from_a_comment() {
        let mut builder = ProblemBuilder::new();
        let names = ["l1: a", "l1: b", "a*", "a+", "offset x"];
        let spaces = names.map(|name| builder.space(Space::new(name)));
        for (space, number) in spaces.iter().zip(0..) {
            let buffer = Buffer::new(format!("{number}\" in c: d"), 8, Lifetime::new(0, 2));
            builder.buffer(Buffer { spaces: [*space].into_iter().collect(), ..buffer });
        }
        let problem = builder.build().expect("a problem");
        let mut plan = Plan::empty(&problem);
        for (placement, space) in plan.placements.iter_mut().zip(spaces) {
            *placement = Some(Placement::at(space, Bytes(0)));
        }
        plan.fit_extents(&problem);
        let read = offsets(&write(&problem, &plan, "plan")).expect("a header");
        assert_eq!(read.iter().map(|offset| offset.space).collect::<Vec<_>>(), [0, 1, 2, 3, 4].map(Some));
        assert!(offsets(&header(&["a"])).expect("a header").iter().all(|offset| offset.space.is_none()));
    }

    #[test]
    fn a_name_cannot_leave_its_comment() {
        let text = header(&["x */ #error /* \n#error\\", "??/", "µ"]);
        assert_eq!(text.lines().count(), 12, "{text}");
        for line in text.lines().filter(|line| line.contains("OFFSET")) {
            assert_eq!((line.matches("/*").count(), line.matches("*/").count()), (1, 1), "{line}");
            assert!(line.ends_with(" */"), "{line}");
        }
    }
}
