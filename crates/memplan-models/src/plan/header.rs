//! Plans as C headers, for firmware that has an arena and no file system.
//!
//! ```c
//! #define PLAN_ARENA_SIZE 96u
//! #define PLAN_ARENA_ALIGNMENT 16u
//! #define PLAN_OFFSET_conv1 64u /* "conv1": 32 bytes, steps 1..3 */
//! ```
//!
//! Only preprocessor constants: valid in C and C++ of any age, no storage, no
//! headers needed. A decimal number with `u` has the smallest type that holds it.

use std::collections::HashSet;
use std::fmt::Write;

use memplan_core::{Buffer, Bytes, Plan, Problem, SpaceId, Span};

use crate::ReadError;

/// Writes the constants of a plan made of offsets; `name` is what the file is called, without its extension.
pub fn write(problem: &Problem, plan: &Plan, name: &str) -> String {
    let prefix = identifier(name).to_ascii_uppercase();
    let prefix = if prefix.starts_with(|first: char| first.is_ascii_digit()) { format!("P{prefix}") } else { prefix };
    let mut taken = HashSet::new();
    let mut text = format!(
        "/* Where every buffer lives, as planned by memplan. Do not edit: plan again. */\n\
         #ifndef {prefix}_MEMPLAN_H\n#define {prefix}_MEMPLAN_H\n"
    );
    let mut define = |name: String, value: Bytes, remark: &str| {
        let name = unique(name, &mut taken);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#define {name} {value}u{remark}");
    };
    for (id, space) in problem.spaces().iter_enumerated() {
        let arena =
            if problem.spaces().len() == 1 { "ARENA".to_owned() } else { identifier(&space.name).to_ascii_uppercase() };
        let capacity = space.capacity.map(|capacity| format!(" /* of {capacity} */")).unwrap_or_default();
        define(format!("{prefix}_{arena}_SIZE"), plan.extents[id], &capacity);
        define(format!("{prefix}_{arena}_ALIGNMENT"), alignment(problem, plan, id), "");
    }
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let Some(placement) = &plan.placements[id] else { continue };
        let name = format!("{prefix}_OFFSET_{}", identifier(&buffer.name));
        let space = (problem.spaces().len() > 1).then(|| problem.spaces()[placement.space].name.as_str());
        match placement.offsets.as_slice() {
            [offset] => define(name, *offset, &remark(buffer, space)),
            slots => {
                for (slot, offset) in slots.iter().enumerate() {
                    define(format!("{name}_SLOT{slot}"), *offset, &remark(buffer, space));
                }
            }
        }
    }
    text.push_str("#endif\n");
    text
}

/// An offset in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderOffset {
    /// What follows `_OFFSET_` in the macro's name: the buffer's name, as far as C can spell it.
    pub name: String,
    /// The offset.
    pub offset: u64,
    /// The memory that the remark names; empty if there is one memory only.
    pub memory: String,
}

/// The offsets in a header that [`write()`] wrote, in order. It looks at the macros alone: two with one name are an error.
pub fn offsets(text: &str) -> Result<Vec<HeaderOffset>, ReadError> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = Span::new(start, start + line.len());
        start += line.len();
        let Some(definition) = line.strip_prefix("#define ") else { continue };
        let mut words = definition.split_whitespace();
        let (Some(name), value) = (words.next(), words.next().unwrap_or_default()) else { continue };
        if !seen.insert(name) {
            return Err(ReadError::new("header::defined-twice", text, span, format!("{name} is defined twice")));
        }
        let Some((_, buffer)) = name.split_once("_OFFSET_") else { continue };
        let number = value.strip_suffix('u').and_then(|digits| digits.parse().ok());
        let wrong = || ReadError::new("header::value", text, span, format!("{name} is no number but `{value}`"));
        let memory = line.split_once("\" in ").and_then(|(_, rest)| rest.split_once(": ")).map(|(memory, _)| memory);
        let offset = number.ok_or_else(wrong)?;
        found.push(HeaderOffset { name: buffer.to_owned(), offset, memory: memory.unwrap_or_default().to_owned() });
    }
    Ok(found)
}

/// What the arena's address must be a multiple of.
fn alignment(problem: &Problem, plan: &Plan, space: SpaceId) -> Bytes {
    let lives_here = |id| plan.placements[id].as_ref().is_some_and(|placement| placement.space == space);
    let alignments = problem.buffers().ids().filter(|&id| lives_here(id)).map(|id| problem.alignment_in(id, space));
    alignments
        .fold(problem.spaces()[space].alignment, |all, one| all.least_common_multiple(one).unwrap_or(all.max(one)))
}

/// A buffer in words, with nothing in it that would end or open a comment.
fn remark(buffer: &Buffer, space: Option<&str>) -> String {
    let size = buffer.bytes().unwrap_or_default();
    let life = match (buffer.lifetime.start(), buffer.lifetime.end()) {
        (Some(start), Some(end)) => format!("steps {start}..{end}"),
        _ => "never alive".to_owned(),
    };
    let place = space.map(|name| format!(" in {name}")).unwrap_or_default();
    let words = format!("\"{}\"{place}: {size} bytes, {life}", buffer.name);
    let printable: String = words.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    format!(" /* {} */", printable.replace('*', "+").replace("??", "? ?"))
}

/// Letters, digits and underscores of ASCII; everything else becomes an underscore.
fn identifier(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let text: String = name.trim_start_matches(['%', '@']).chars().map(letter).collect();
    if text.is_empty() { "_".to_owned() } else { text }
}

/// The name, with a number behind it if another one looks the same.
fn unique(name: String, taken: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|number: u64| format!("{name}_{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|candidate| !taken.contains(candidate));
    let free = free.unwrap_or(name);
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Id, Lifetime, Placement, ProblemBuilder};

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
            "#define MY_PLAN_OFFSET_main__conv 8u /* \"@main/%conv\": 8 bytes, steps 0..2 */",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn names_that_look_the_same_are_numbered() {
        let text = header(&["a.b", "a-b", "a_b_2", "a+b", ""]);
        let names: Vec<&str> =
            text.lines().filter(|line| line.contains("OFFSET")).filter_map(|line| line.split(' ').nth(1)).collect();
        let distinct: HashSet<&str> = names.iter().copied().collect();
        assert_eq!((names.len(), distinct.len()), (5, 5), "{names:?}");
    }

    #[test]
    fn a_name_cannot_leave_its_comment() {
        let text = header(&["x */ #error /* \n#error\\", "??/", "µ"]);
        assert_eq!(text.lines().count(), 9, "{text}");
        for line in text.lines().filter(|line| line.contains("OFFSET")) {
            assert_eq!((line.matches("/*").count(), line.matches("*/").count()), (1, 1), "{line}");
            assert!(line.ends_with(" */"), "{line}");
        }
    }
}
