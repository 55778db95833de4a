//! Allocation traces: one event on each line.
//!
//! ```text
//! # a ping-pong
//! alloc a 64          event 0
//! alloc b 32 16       event 1, aligned to 16
//! free a              event 2: a lives in [0, 2)
//! overlay c b zero    hint for the next alloc of c; not an event
//! alloc c 32          event 3
//! ```
//!
//! The number of an event is its step. A buffer that is never freed lives to the end of the trace.
//! `overlay ID VICTIM free|zero` permits ID to start on VICTIM's bytes, anywhere
//! or at its base.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use memplan_core::{
    Buffer, BufferId, Bytes, Id, IndexVec, Lifetime, MAX_BYTES, Overlay, OverlayKind, Problem, ProblemBuilder, Span,
    Step, patience,
};

use super::{RecordFormat, Records};
use crate::ReadError;

/// The `.trace` format.
pub struct Trace;

impl RecordFormat for Trace {
    fn name(&self) -> &'static str {
        "trace"
    }

    fn describe(&self) -> &'static str {
        "allocation events, one a line: alloc ID SIZE [ALIGN], free ID, overlay ID VICTIM free|zero"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["trace"]
    }

    fn sniff(&self, text: &str) -> bool {
        let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        first.is_some_and(|line| matches!(line.split_ascii_whitespace().next(), Some("alloc" | "free" | "overlay")))
    }

    fn read(&self, text: &str) -> Result<Records, ReadError> {
        let mut reader = TraceReader { text, ..TraceReader::default() };
        let mut position = 0;
        for line in text.split_inclusive('\n') {
            if patience::is_over() {
                return Err(ReadError::stopped());
            }
            reader.line(line, position)?;
            position += line.len();
        }
        reader.finish()
    }
}

/// Writes a problem as the events of its buffers in the order of time. At each step, buffers that end there are freed
/// before buffers that start there are allocated, and of several buffers that end together the one that started last is
/// freed first.
///
/// A trace has one memory, and a buffer is in it from its first step to its last. The alignment of the memory becomes
/// part of that of its buffers. The second result has a note for each feature of the problem that a trace cannot
/// express, such as several spaces, gaps in lives, slots, fixed offsets and ties.
///
/// ```
/// use memplan_models::records::{self, trace};
/// let text = "id,lower,upper,size\nA,1,5,16\nB,2,4,64\nC,5,7,16\n";
/// let problem = records::read(text.as_bytes(), None, "buffers.csv").unwrap().problem;
/// let (trace, notes) = trace::write(&problem);
/// assert_eq!(trace, "alloc A 16\nalloc B 64\nfree B\nfree A\nalloc C 16\nfree C\n");
/// assert!(notes.is_empty());
/// ```
pub fn write(problem: &Problem) -> (String, Vec<String>) {
    // An event is (step, 0 for a free and 1 for an allocation, the start of the freed buffer, the buffer), so that the
    // order of these tuples is the order of the trace.
    let mut events: Vec<(u64, u8, Reverse<u64>, BufferId)> = Vec::new();
    // Buffers with gaps in their lives, for the notes.
    let mut gaps = 0;
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let intervals = buffer.lifetime.intervals();
        // A buffer that is never alive has no events.
        let (Some(Step(start)), Some(Step(end))) = (buffer.lifetime.start(), buffer.lifetime.end()) else { continue };
        gaps += usize::from(intervals.len() > 1);
        events.push((start, 1, Reverse(0), id));
        events.push((end, 0, Reverse(start), id));
    }
    // The frees of a step come before its allocations, because a buffer that starts where another one ends may have its
    // memory.
    events.sort_unstable();
    let mut overlays: BTreeMap<BufferId, Vec<&Overlay>> = BTreeMap::new();
    for overlay in problem.overlays() {
        overlays.entry(overlay.buffer).or_default().push(overlay);
    }
    let names = names(problem);
    let mut text = String::new();
    for (_, is_alloc, _, id) in events {
        let buffer = &problem.buffers()[id];
        // 0 is a free, 1 an allocation. The overlays of a buffer must stand before its allocation.
        if is_alloc == 0 {
            text.push_str(&format!("free {}\n", names[id]));
            continue;
        }
        for overlay in overlays.get(&id).into_iter().flatten() {
            let kind = if overlay.kind == OverlayKind::SameBase { "zero" } else { "free" };
            text.push_str(&format!("overlay {} {} {kind}\n", names[id], names[overlay.over]));
        }
        let alignment = buffer.spaces.first().map_or(buffer.alignment, |&space| problem.alignment_in(id, space));
        let alignment = if alignment.0 > 1 { format!(" {alignment}") } else { String::new() };
        text.push_str(&format!("alloc {} {}{alignment}\n", names[id], buffer.bytes().unwrap_or_default()));
    }
    (text, left_out(problem, gaps))
}

/// The names of all buffers as the trace has them. A blank would end a name where the trace is read again, and a `#`
/// would start a comment, so both become underscores. If a name is taken, a number follows it: the first one from 2
/// upwards that makes a free name. Names that need no change are given first, so that they stay as they are.
fn names(problem: &Problem) -> IndexVec<BufferId, String> {
    let buffers = problem.buffers();
    let mut names = IndexVec::<BufferId, String>::filled(String::new(), buffers.len());
    let mut taken = HashSet::new();
    // How far the numbers of a name have been tried, so that many equal names do not try the same numbers again.
    let mut tried = HashMap::<String, u64>::new();
    for only_exact in [true, false] {
        for (id, buffer) in buffers.iter_enumerated() {
            let wanted = plain(&buffer.name);
            if (wanted == buffer.name) != only_exact {
                continue;
            }
            let mut name = wanted.clone();
            while !taken.insert(name.clone()) {
                let number = tried.entry(wanted.clone()).or_insert(1);
                *number += 1;
                name = format!("{wanted}_{number}");
            }
            names[id] = name;
        }
    }
    names
}

/// A name without the characters that have a meaning in a trace, and not empty.
fn plain(name: &str) -> String {
    match name {
        "" => "_".to_owned(),
        name => name.replace(|c: char| c.is_whitespace() || c == '#', "_"),
    }
}

/// Notes on the features of a problem that a trace cannot express; `gaps` is the number of buffers with gaps.
fn left_out(problem: &Problem, gaps: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if problem.spaces().len() > 1 {
        notes.push(format!("a trace has one memory; these buffers are in {}", problem.spaces().len()));
    }
    if gaps > 0 {
        notes.push(format!("a trace has no gaps in lives; {gaps} of these buffers have some"));
    }
    let unsized_buffers = problem.buffers().iter().filter(|buffer| buffer.bytes().is_none()).count();
    if unsized_buffers > 0 {
        notes.push(format!("a trace has sizes in bytes; {unsized_buffers} of these buffers have none and count 0"));
    }
    // What else a trace has no word for, each with the number of buffers or pairs that have it.
    let others = [
        ("several slots", count(problem, |buffer| buffer.slots > 1)),
        ("fixed offsets", count(problem, |buffer| buffer.fixed().is_some())),
        ("ties", count(problem, |buffer| buffer.tie().is_some())),
        ("buffers that share with no other", count(problem, |buffer| buffer.exclusive)),
        ("pairs that must share", problem.must_share().len()),
        ("pairs that must not share", problem.must_not_share().len()),
        ("costs of reuse", problem.reuse_costs().len()),
    ];
    for (what, count) in others.into_iter().filter(|(_, count)| *count > 0) {
        notes.push(format!("a trace has no {what}; {count} left out"));
    }
    if problem.dependencies().is_some() {
        notes.push("a trace has one order; that these buffers have several is left out".to_owned());
    }
    notes
}

/// How many buffers have something.
fn count(problem: &Problem, has: fn(&Buffer) -> bool) -> usize {
    problem.buffers().iter().filter(|buffer| has(buffer)).count()
}

/// A word of a line and where it stands in the file.
#[derive(Clone, Copy)]
struct Word<'a> {
    /// The word.
    text: &'a str,
    /// Where it stands in the file.
    span: Span,
}

/// A buffer of the trace.
struct Allocation<'a> {
    /// Its name.
    id: Word<'a>,
    /// In bytes.
    size: u64,
    /// In bytes, at least 1.
    alignment: u64,
    /// The number of the event that allocates it.
    start: u64,
    /// The number of the event that frees it; `None` if it has not been freed yet.
    end: Option<u64>,
}

/// A line `overlay ID VICTIM KIND`.
struct Hint<'a> {
    /// The buffer that may start on the victim's bytes.
    id: Word<'a>,
    /// The buffer that may still occupy them.
    victim: Word<'a>,
    /// How the one must lie on the other.
    kind: OverlayKind,
}

/// What has been read so far.
#[derive(Default)]
struct TraceReader<'a> {
    /// The whole file.
    text: &'a str,
    /// The buffers in the order of their allocations.
    allocations: Vec<Allocation<'a>>,
    /// The position of each id in `allocations`.
    by_id: HashMap<&'a str, usize>,
    /// The lines `overlay`.
    hints: Vec<Hint<'a>>,
    /// How many events have been read: the number of the next one.
    events: u64,
}

impl<'a> TraceReader<'a> {
    /// An error about a place in the file.
    fn error(&self, code: &'static str, span: Span, message: impl Into<String>) -> ReadError {
        ReadError::new(code, self.text, span, message)
    }

    /// Reads one line, which starts at byte `position` of the file. Everything from `#` to the end of the line is a
    /// comment.
    fn line(&mut self, line: &'a str, position: usize) -> Result<(), ReadError> {
        let content = line.split('#').next().unwrap_or_default();
        let mut words = words(content, position);
        let whole = Span::new(position, position + line.trim_end().len());
        // A line without words is empty or a comment.
        let Some(verb) = words.next() else { return Ok(()) };
        match verb.text {
            "alloc" => self.alloc(&mut words, whole)?,
            "free" => self.free(&mut words, whole)?,
            "overlay" => self.overlay(&mut words, whole)?,
            other => {
                let error = self.error("trace::unknown-event", verb.span, format!("`{other}` is not an event"));
                return Err(error.help("expected alloc ID SIZE [ALIGN], free ID or overlay ID VICTIM free|zero"));
            }
        }
        match words.next() {
            Some(word) => {
                let message = format!("`{}` is left over at the end of the line", word.text);
                Err(self.error("trace::extra-word", word.span, message))
            }
            None => Ok(()),
        }
    }

    /// The next word of a line; an error about the whole `line` if there is none.
    fn expect(
        &self,
        words: &mut impl Iterator<Item = Word<'a>>,
        line: Span,
        what: &str,
    ) -> Result<Word<'a>, ReadError> {
        words.next().ok_or_else(|| self.error("trace::missing-word", line, format!("expected {what}")))
    }

    /// A word as a number below 2^63; `what` says in the error what was expected.
    fn number(&self, word: Word, what: &str) -> Result<u64, ReadError> {
        let message = || format!("expected {what}, found `{}`", word.text);
        let value: u64 = word.text.parse().map_err(|_| self.error("trace::not-a-number", word.span, message()))?;
        if value > MAX_BYTES {
            return Err(self.error("trace::too-large", word.span, format!("{value} is not below 2^63")));
        }
        Ok(value)
    }

    /// Reads what follows `alloc`: `ID SIZE [ALIGN]`. The buffer starts at this event.
    fn alloc(&mut self, words: &mut impl Iterator<Item = Word<'a>>, line: Span) -> Result<(), ReadError> {
        let id = self.expect(words, line, "the id of a buffer after `alloc`")?;
        let size = self.expect(words, line, "a size in bytes after the id")?;
        let size = self.number(size, "a size of 0 or more bytes")?;
        let alignment = match words.next() {
            Some(word) => match self.number(word, "an alignment of at least 1")? {
                0 => return Err(self.error("trace::zero-alignment", word.span, "the alignment must be at least 1")),
                alignment => alignment,
            },
            None => 1,
        };
        // A second buffer of the same name would make later frees and hints ambiguous.
        match self.by_id.entry(id.text) {
            Entry::Occupied(earlier) => {
                let still_alive = self.allocations[*earlier.get()].end.is_none();
                let message = format!("`{}` is allocated a second time", id.text);
                let help = if still_alive {
                    "free it first, and give the new buffer another id"
                } else {
                    "give the new buffer another id"
                };
                return Err(self.error("trace::double-alloc", id.span, message).help(help));
            }
            Entry::Vacant(slot) => slot.insert(self.allocations.len()),
        };
        self.allocations.push(Allocation { id, size, alignment, start: self.events, end: None });
        self.events += 1;
        Ok(())
    }

    /// Reads what follows `free`: `ID`. The buffer ends at this event.
    fn free(&mut self, words: &mut impl Iterator<Item = Word<'a>>, line: Span) -> Result<(), ReadError> {
        let id = self.expect(words, line, "the id of a buffer after `free`")?;
        let Some(&index) = self.by_id.get(id.text) else {
            let message = format!("`{}` is freed but was never allocated", id.text);
            return Err(self.error("trace::free-without-alloc", id.span, message));
        };
        if self.allocations[index].end.is_some() {
            return Err(self.error("trace::double-free", id.span, format!("`{}` is freed a second time", id.text)));
        }
        self.allocations[index].end = Some(self.events);
        self.events += 1;
        Ok(())
    }

    /// Reads what follows `overlay`: `ID VICTIM KIND`. The line is no event, and it must stand before the allocation of
    /// ID. VICTIM may be allocated later; `finish` looks it up.
    fn overlay(&mut self, words: &mut impl Iterator<Item = Word<'a>>, line: Span) -> Result<(), ReadError> {
        let id = self.expect(words, line, "the id of a buffer after `overlay`")?;
        let victim = self.expect(words, line, "the id of the buffer it may overlay")?;
        let kind = self.expect(words, line, "free or zero")?;
        let kind = match kind.text {
            "free" => OverlayKind::AnyOffset,
            "zero" => OverlayKind::SameBase,
            other => {
                let message = format!("expected free (any offset) or zero (same base), found `{other}`");
                return Err(self.error("trace::overlay-kind", kind.span, message));
            }
        };
        if self.by_id.contains_key(id.text) {
            let message = format!("`{}` is allocated already", id.text);
            return Err(self.error("trace::late-overlay", id.span, message).help("put overlay lines before the alloc"));
        }
        self.hints.push(Hint { id, victim, kind });
        Ok(())
    }

    /// The buffer that a word names.
    fn resolve(&self, word: Word) -> Result<BufferId, ReadError> {
        self.by_id.get(word.text).map(|&index| BufferId::from_index(index)).ok_or_else(|| {
            let message = format!("`{}` is never allocated", word.text);
            self.error("trace::unknown-buffer", word.span, message)
        })
    }

    /// Makes the problem when all lines have been read.
    fn finish(self) -> Result<Records, ReadError> {
        let mut builder = ProblemBuilder::new();
        for allocation in &self.allocations {
            // A buffer that is never freed lives to the end of the trace.
            let end = allocation.end.unwrap_or(self.events);
            builder.buffer(Buffer {
                alignment: Bytes(allocation.alignment),
                ..Buffer::new(allocation.id.text, allocation.size, Lifetime::new(allocation.start, end))
            });
        }
        // Hints stand before the allocation that they are about, so they are resolved now that all buffers are known.
        for hint in &self.hints {
            let (buffer, over) = (self.resolve(hint.id)?, self.resolve(hint.victim)?);
            builder.overlay(Overlay { buffer, over, kind: hint.kind });
        }
        let spans: Vec<Span> = self.allocations.iter().map(|allocation| allocation.id.span).collect();
        let problem = builder.build().map_err(|error| {
            let span = error.buffer().and_then(|buffer| spans.get(buffer.index()).copied()).unwrap_or_default();
            self.error("trace::problem", span, error.to_string())
        })?;
        Ok(Records { problem, notes: Vec::new(), spans })
    }
}

/// The words of a line with their places; `position` is where the line starts.
fn words(line: &str, position: usize) -> impl Iterator<Item = Word<'_>> {
    line.split_ascii_whitespace().map(move |text| {
        let start = position + (text.as_ptr() as usize - line.as_ptr() as usize);
        Word { text, span: Span::new(start, start + text.len()) }
    })
}
