//! Reads the text of XLA's dump line by line: allocations, the values in them, and live ranges.

use std::collections::HashMap;

use memplan_core::{MAX_BYTES, MAX_STEP, Span, patience};

use super::ALIGNMENT;
use crate::ReadError;

/// Everything of a dump that is used.
pub(super) struct Dump {
    /// The pieces of memory, in the order of the file.
    pub(super) allocations: Vec<Allocation>,
    /// The values in them.
    pub(super) values: Vec<Value>,
    /// First and last step of each value, by name.
    pub(super) ranges: HashMap<String, (u64, u64)>,
}

/// A piece of memory that XLA allocates.
pub(super) struct Allocation {
    /// In bytes.
    size: u64,
    /// What it is for, in XLA's words.
    purpose: String,
    /// Where it stands in the dump.
    span: Span,
}

/// A value and its place.
pub(super) struct Value {
    /// Its name. The name of a part of a tuple ends with its index in braces (`add.1{0}`); empty braces are left out.
    pub(super) name: String,
    /// In bytes.
    pub(super) size: u64,
    /// From the start of its allocation.
    pub(super) offset: u64,
    /// Index of its allocation.
    pub(super) allocation: usize,
}

/// Whether a text looks like a dump.
pub fn is_dump(text: &str) -> bool {
    text.trim_start().starts_with("BufferAssignment:")
}

impl Allocation {
    /// Whether its content is planned. Results and temporaries are; parameters,
    /// which the caller provides, constants and memory of single threads are not.
    pub(super) fn is_ours(&self) -> bool {
        let given = ["parameter", "constant", "thread-local"];
        !given.iter().any(|word| self.purpose.contains(word))
    }
}

/// A line and where it stands.
#[derive(Clone, Copy)]
struct Line<'t> {
    /// The whole dump.
    source: &'t str,
    /// The line without its line break.
    text: &'t str,
    /// The byte of the dump at which it starts.
    start: usize,
}

impl Line<'_> {
    /// Where it stands.
    fn span(&self) -> Span {
        Span::new(self.start, self.start + self.text.len())
    }

    /// An error about this line.
    fn error(&self, message: impl Into<String>) -> ReadError {
        ReadError::new("xla::malformed", self.source, self.span(), message)
    }
}

impl Dump {
    /// Reads a dump. Both files may stand in one text, one after the other; a text without live ranges is no error
    /// here.
    pub(super) fn parse(source: &str) -> Result<Dump, ReadError> {
        let mut dump = Dump { allocations: Vec::new(), values: Vec::new(), ranges: HashMap::new() };
        // Whether the current line belongs to a list of live ranges.
        let mut in_ranges = false;
        let mut start = 0;
        for text in source.split_inclusive('\n') {
            if patience::is_over() {
                return Err(ReadError::stopped());
            }
            let line = Line { source, text: text.trim_end(), start };
            start += text.len();
            let trimmed = line.text.trim_start();
            // The dump is a text for people with several sections. Each line is recognised by its first word; all other
            // lines are passed over.
            if trimmed.starts_with("allocation ") {
                in_ranges = false;
                dump.allocations.push(allocation(line)?);
            } else if let Some(rest) = trimmed.strip_prefix("value: ") {
                dump.value(line, rest)?;
            } else if trimmed.starts_with("BufferLiveRange:") {
                in_ranges = true;
            } else if trimmed.starts_with("Live ranges at") || trimmed.is_empty() {
                in_ranges = false;
            } else if in_ranges {
                let (name, range) = live_range(line)?;
                dump.ranges.insert(name, range);
            }
        }
        // The two files have similar names, so the wrong one is given easily. The message names the right one.
        if dump.allocations.is_empty() {
            let error =
                ReadError::new("xla::no-allocation", source, Span::new(0, 0), "there are no allocations in the dump");
            return Err(error.help("give a file called ...-buffer-assignment.txt"));
        }
        Ok(dump)
    }

    /// Reads a value, which belongs to the allocation that was read last. `rest` is the part of the line that follows
    /// `value: `.
    fn value(&mut self, line: Line, rest: &str) -> Result<(), ReadError> {
        let Some(allocation) = self.allocations.len().checked_sub(1) else {
            return Err(line.error("a value stands before the first allocation"));
        };
        let (name, size, offset) =
            value_parts(rest).ok_or_else(|| line.error("expected `<ID NAME @COLOR> (size=N,offset=N): ...`"))?;
        let holder = &self.allocations[allocation];
        if offset.checked_add(size).is_none_or(|end| end > holder.size) {
            return Err(line.error(format!("`{name}` ends outside its allocation of {} bytes", holder.size)));
        }
        self.values.push(Value { name, size, offset, allocation });
        Ok(())
    }

    /// The offset at which each allocation starts if the planned ones lie one after the other. (Allocations that are
    /// not planned have an entry, too, which nobody uses.)
    pub(super) fn bases(&self, source: &str) -> Result<Vec<u64>, ReadError> {
        let mut next = 0u64;
        let mut bases = Vec::with_capacity(self.allocations.len());
        for allocation in &self.allocations {
            bases.push(next);
            if !allocation.is_ours() {
                continue;
            }
            let end = next.checked_add(allocation.size).and_then(|end| end.checked_next_multiple_of(ALIGNMENT.0));
            next = end.filter(|&end| end <= MAX_BYTES).ok_or_else(|| {
                ReadError::new("xla::too-large", source, allocation.span, "the sizes of all allocations pass 2^63")
            })?;
        }
        Ok(bases)
    }
}

/// Reads a line such as `allocation 8: size 16384, maybe-live-out:`.
fn allocation(line: Line) -> Result<Allocation, ReadError> {
    let parts = allocation_parts(line.text);
    let (size, purpose) = parts.ok_or_else(|| line.error("expected `allocation N: size BYTES, PURPOSE:`"))?;
    Ok(Allocation { size, purpose, span: line.span() })
}

/// The size and the purpose in a line such as `allocation 3: size 8192, maybe-live-out:`.
fn allocation_parts(text: &str) -> Option<(u64, String)> {
    let (_, rest) = text.split_once(": size ")?;
    let (size, purpose) = rest.split_once(',').unwrap_or((rest.trim_end_matches(':'), ""));
    Some((number(size)?, purpose.trim().trim_end_matches(':').to_owned()))
}

/// The name, size and offset in `<408 add.1 @0> (size=8192,offset=393216): f32[2,32,32]{2,1,0}`.
fn value_parts(text: &str) -> Option<(String, u64, u64)> {
    let (name, rest) = text.strip_prefix('<')?.split_once('>')?;
    let (_, name) = name.split_once(' ')?;
    let name = name.rsplit_once(" @").map_or(name, |(name, _)| name);
    let (numbers, _) = rest.trim_start().strip_prefix("(size=")?.split_once(')')?;
    let (size, offset) = numbers.split_once(",offset=")?;
    Some((plain(name), number(size)?, number(offset)?))
}

/// Reads a line such as `add.1{}:2-4`: the name, the first and the last step.
fn live_range(line: Line) -> Result<(String, (u64, u64)), ReadError> {
    live_range_parts(line.text).ok_or_else(|| line.error("expected `NAME{INDEX}:FIRST-LAST`"))
}

/// The name, first and last step of a line such as `add.1{}:3-7`.
fn live_range_parts(text: &str) -> Option<(String, (u64, u64))> {
    let (name, range) = text.trim().rsplit_once(':')?;
    let (first, last) = range.split_once('-')?;
    let (first, last) = (number(first)?, number(last)?);
    (first <= last && last < MAX_STEP).then(|| (plain(name), (first, last)))
}

/// A name without empty braces, which mean that the value is no part of a tuple.
fn plain(name: &str) -> String {
    name.trim().trim_end_matches("{}").to_owned()
}

/// A number below 2^63.
fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|&number| number <= MAX_BYTES)
}

#[cfg(test)]
mod tests {
    use super::super::{plan, read};

    const DUMP: &str = "BufferAssignment:
allocation 0: size 4096, maybe-live-out:
 value: <7 dot.3 @0> (size=4096,offset=0): f32[32,32]{1,0}
allocation 1: size 8192, preallocated-temp:
 value: <5 add.1 @0> (size=4096,offset=4096): f32[32,32]{1,0}
 value: <6 mul.2 @0> (size=4096,offset=4096): f32[32,32]{1,0}
 value: <9 w{0} @0> (size=64,offset=0): f32[16]{0}
 value: <10 w{1} @0> (size=64,offset=0): f32[16]{0}
allocation 2: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:
 value: <1 x @0> (size=64,offset=0): f32[16]{0}

Total bytes used: 12352 (12.1KiB)
HloLiveRange (max 12):
  BufferLiveRange:
    dot.3{}:4-12
    add.1{}:2-4
    mul.2{}:4-6
    w{0}:1-5
    w{1}:3-7
    x{}:0-12
  Live ranges at 4 (peak):
    dot.3{}: 4096 bytes (cumulative: 4096 bytes)
";

    #[test]
    fn values_become_buffers_with_lives_and_relations() {
        let dump = read(DUMP).unwrap();
        let names: Vec<&str> = dump.problem.buffers().iter().map(|buffer| buffer.name.as_str()).collect();
        assert_eq!(names, ["dot.3", "add.1", "mul.2", "w{0}", "w{1}"], "parameters are not planned");
        let lives: Vec<u64> = dump.problem.buffers().iter().map(|buffer| buffer.lifetime.end().unwrap().0).collect();
        assert_eq!(lives, [13, 5, 7, 6, 8], "ends are included");
        assert_eq!(dump.problem.overlays().len(), 1, "mul.2 is computed in place of add.1");
        assert_eq!(dump.problem.must_share().len(), 1, "w is the same memory twice");
        assert_eq!(dump.plan.extent().0, 4096 + 8192);
        assert!(memplan_verify::packing::check(&dump.problem, &dump.plan).is_empty());
        assert_eq!(plan(DUMP, &dump.problem).unwrap(), dump.plan);
    }

    #[test]
    fn mistakes_are_placed() {
        let without_ranges = DUMP.split("HloLiveRange").next().unwrap();
        assert_eq!(read(without_ranges).unwrap_err().code, "xla::no-live-range");
        for (old, new, line) in [
            ("size 4096, maybe", "size many, maybe", 2),
            ("(size=4096,offset=0)", "(size=4096,offset=1)", 3),
            ("<5 add.1 @0>", "<5>", 5),
            ("add.1{}:2-4", "add.1{}:4-2", 16),
            ("add.1{}:2-4", "add.1 lives", 16),
        ] {
            let error = read(&DUMP.replacen(old, new, 1)).err().unwrap();
            assert_eq!((error.code, error.line), ("xla::malformed", line), "{error}");
        }
        assert_eq!(read("BufferAssignment:\n").unwrap_err().code, "xla::no-allocation");
    }
}
