//! Comma-separated records with a header: a drop-in for MiniMalloc's files.
//!
//! ```text
//! id,lower,upper,size,alignment,gaps
//! a,0,10,4096,64,3-5
//! b,4,12,1024,,6-8@0:512
//! ```
//!
//! The header's words say what the ends mean: `upper` is the first step no
//! longer alive; `end` and `last_task` are the last step alive. Gaps follow the
//! same convention. `3-5` is a time in which the buffer is not in use, and
//! `6-8@0:512` one in which only its bytes 0..512 are.
//!
//! Columns (any order, any case): `id` (or `buffer`, `buffer_id`; without it
//! records are named 0, 1, …), `lower`/`start`/`begin`/`first_task`,
//! `upper`/`end`/`last_task`, `size`, and optionally `alignment`, `space` (several
//! candidates as `sram|dram`), `offset` (fixes the buffer; empty or -1 does not),
//! `gaps`, `hint` (read and not used). Other columns are ignored with a note.
//!
//! `Rows` goes through a file record by record and knows where each field stands. `Columns` says which column means
//! what. `Row` makes a buffer of the current record.

use std::borrow::Cow;
use std::collections::HashMap;

use memplan_core::{
    Buffer, BufferId, Bytes, Id, Interval, Lifetime, MAX_BYTES, Placement, Plan, Problem, ProblemBuilder, ProblemError,
    Space, SpaceId, Span, patience,
};

use super::{RecordFormat, Records};
use crate::ReadError;
use crate::plan::csv::objects::size_text;

/// The `.csv` format.
pub struct Csv;

impl RecordFormat for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn describe(&self) -> &'static str {
        "one record a line under a header such as id,lower,upper,size (MiniMalloc's files and TFLite's records)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv"]
    }

    fn sniff(&self, text: &str) -> bool {
        let header = text.lines().next().unwrap_or_default().to_ascii_lowercase();
        header.contains(',') && header.split(',').any(|name| name.trim().trim_matches('"') == "size")
    }

    fn read(&self, text: &str) -> Result<Records, ReadError> {
        let mut rows = Rows::new(text)?;
        let columns = Columns::of_header(&rows)?;
        let mut notes = Vec::new();
        if !columns.ignored.is_empty() {
            notes.push(format!("ignored column{}: {}", plural(&columns.ignored), columns.ignored.join(", ")));
        }
        let mut builder = ProblemBuilder::new();
        let mut spaces = SpaceNames::default();
        let mut spans = Vec::new();
        while rows.next()? {
            let buffer = Row { rows: &rows, columns: &columns }.buffer(spans.len(), &mut spaces)?;
            builder.buffer(buffer);
            spans.push(rows.span());
        }
        // The buffers refer to spaces by number, in the order of the first use of each name, and spaces get their
        // numbers in the order in which they are added.
        for name in spaces.in_order {
            builder.space(Space::new(name));
        }
        match builder.build() {
            Ok(problem) => Ok(Records { problem, notes, spans }),
            Err(error) => Err(problem_error(text, &rows, &columns, &spans, error)),
        }
    }
}

/// The `s` at the end of a word that stands for several things.
fn plural(items: &[String]) -> &'static str {
    if items.len() == 1 { "" } else { "s" }
}

/// Turns an error of the builder into one with a place: it points at the record of the buffer that the error names, and
/// inside the record at the field that is wrong where the kind of error tells. `spans` are the places of all records.
/// An error that names no buffer points at the start of the file.
fn problem_error(text: &str, rows: &Rows, columns: &Columns, spans: &[Span], error: ProblemError) -> ReadError {
    let record = error.buffer().and_then(|buffer| spans.get(buffer.index())).copied().unwrap_or_default();
    let column = match &error {
        ProblemError::DuplicateBuffer { .. } => columns.id,
        ProblemError::ZeroAlignment { .. } => columns.alignment,
        ProblemError::TooLarge { .. } => Some(columns.size),
        ProblemError::EndBeforeStart { .. } => Some(columns.end),
        ProblemError::FixedMisaligned { .. } => columns.offset,
        // Other errors are about no single field.
        _ => None,
    };
    let span = column.map_or(record, |column| rows.field_span(record, column));
    ReadError::new("csv::problem", text, span, error.to_string())
}

/// The records of a file, one at a time; the first is the header.
pub(crate) struct Rows<'a> {
    /// The whole file.
    text: &'a str,
    /// Splits the file into records and fields.
    reader: csv::Reader<&'a [u8]>,
    /// The current record.
    record: csv::StringRecord,
    /// Where the current record starts, in bytes of the text.
    start: usize,
}

impl<'a> Rows<'a> {
    /// A reader whose current record is the header. An error if the file has no line with something in it.
    pub(crate) fn new(text: &'a str) -> Result<Rows<'a>, ReadError> {
        // `has_headers(false)` gives us the header as a record like the others, and `flexible(true)` accepts records of
        // different lengths; `Row::buffer` reports those that are too short.
        let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
        let mut rows = Rows { text, reader, record: csv::StringRecord::new(), start: 0 };
        if rows.next()? {
            Ok(rows)
        } else {
            let error = rows.error("csv::empty", Span::new(0, 0), "there is no header line");
            Err(error.help("expected a header such as id,lower,upper,size"))
        }
    }

    /// Moves to the next record; false at the end.
    pub(crate) fn next(&mut self) -> Result<bool, ReadError> {
        if patience::is_over() {
            return Err(ReadError::stopped());
        }
        let more = self.reader.read_record(&mut self.record).map_err(|error| {
            let position = error.position().map_or(self.start, |position| position.byte() as usize);
            ReadError::new("csv::malformed", self.text, Span::new(position, position), error.to_string())
        })?;
        if more {
            let position = self.record.position().map_or(0, |position| position.byte() as usize);
            // The `csv` crate reports where the previous record ended. Blank lines between the two records, which it
            // skips, are not part of the record.
            self.start = skip_blank_lines(self.text, position);
        }
        Ok(more)
    }

    /// How many fields the current record has.
    pub(crate) fn fields(&self) -> usize {
        self.record.len()
    }

    /// A field of the current record without the blanks around it; empty if the record is too short to have it.
    pub(crate) fn field(&self, column: usize) -> &str {
        self.record.get(column).unwrap_or_default().trim()
    }

    /// A field that is a name: inside quotes, blanks and line breaks at its ends are part of it.
    pub(crate) fn name(&self, column: usize) -> &str {
        let (whole, trimmed) = (self.record.get(column).unwrap_or_default(), self.field(column));
        if whole == trimmed || !self.is_quoted(column) { trimmed } else { whole }
    }

    /// Whether a field of the current record stands in quotes. The `csv` crate takes the quotes away, so this looks
    /// at the text.
    pub(crate) fn is_quoted(&self, column: usize) -> bool {
        self.text.get(self.field_span(self.span(), column).range()).is_some_and(|field| field.starts_with('"'))
    }

    /// The current record, to the end of its last line.
    pub(crate) fn span(&self) -> Span {
        let end = (self.reader.position().byte() as usize).clamp(self.start, self.text.len());
        let record = self.text.get(self.start..end).unwrap_or_default();
        Span::new(self.start, self.start + record.trim_end().len())
    }

    /// Where a field of a record stands, without the blanks around it. `record` is the place of the record, and
    /// `column` counts from 0. The `csv` crate does not say where fields stand, so the text of the record is scanned
    /// for commas.
    pub(crate) fn field_span(&self, record: Span, column: usize) -> Span {
        let text = self.text.get(record.range()).unwrap_or_default();
        let mut quoted = false;
        let mut commas = 0;
        let mut start = 0;
        let mut end = text.len();
        // Commas inside of quotes separate nothing. A doubled quote inside of quotes stands for one quote; it toggles
        // `quoted` twice and so leaves it as it is.
        for (position, character) in text.char_indices() {
            match character {
                '"' => quoted = !quoted,
                ',' if !quoted => {
                    if commas == column {
                        end = position;
                        break;
                    }
                    commas += 1;
                    start = position + 1;
                }
                _ => {}
            }
        }
        // The record is shorter than the header. The error points to its end, where the field is missing.
        if commas < column {
            return Span::new(record.end as usize, record.end as usize);
        }
        let field = &text[start..end];
        let start = record.start as usize + start + (field.len() - field.trim_start().len());
        Span::new(start, start + field.trim().len())
    }

    /// An error about a place in the file.
    pub(crate) fn error(&self, code: &'static str, span: Span, message: impl Into<String>) -> ReadError {
        ReadError::new(code, self.text, span, message)
    }
}

/// The position of the next line with something in it.
fn skip_blank_lines(text: &str, mut position: usize) -> usize {
    while let Some(rest) = text.get(position..).filter(|rest| !rest.is_empty()) {
        let line = rest.split_inclusive('\n').next().unwrap_or(rest);
        if !line.trim().is_empty() {
            break;
        }
        position += line.len();
    }
    position
}

/// The position of each column that is understood, counted from 0; `None` if the file does not have an optional one.
pub(crate) struct Columns {
    pub(crate) id: Option<usize>,
    start: usize,
    end: usize,
    /// Whether `end` is the last step alive.
    inclusive: bool,
    size: usize,
    alignment: Option<usize>,
    space: Option<usize>,
    pub(crate) offset: Option<usize>,
    gaps: Option<usize>,
    hint: Option<usize>,
    /// The names of all other columns.
    ignored: Vec<String>,
    /// The header's words, for messages.
    names: Vec<String>,
}

/// The error for a header without a required column, which may be called by any of the `wanted` words. The advice
/// depends on the likely cause: another separator than the comma, a typo, or a first line that is a record and no
/// header.
fn missing_column(rows: &Rows, names: &[String], wanted: &[&str]) -> ReadError {
    let message = format!("the header has no column {}", wanted.join(" or "));
    let error = rows.error("csv::missing-column", rows.span(), message);
    let close = names.iter().find(|name| wanted.iter().any(|word| resembles(name, word)));
    error.help(match (close, other_separator(names)) {
        (_, Some(separator)) => format!("the fields are separated by `{separator}`; expected commas"),
        (Some(name), None) => format!("is `{name}` a typo?"),
        (None, None) if is_record(names) => {
            "this looks like a record; put a header above it, such as id,lower,upper,size".to_owned()
        }
        (None, None) => "expected a header such as id,lower,upper,size".to_owned(),
    })
}

impl Columns {
    /// Finds the columns by the words of the header.
    fn of_header(rows: &Rows) -> Result<Columns, ReadError> {
        let header = Header { rows, names: header(rows)? };
        let end = header.need(&["upper", "end", "last_task"])?;
        let columns = Columns {
            id: header.find(&["id", "buffer", "buffer_id"]),
            start: header.need(&["lower", "start", "begin", "first_task"])?,
            end,
            // The word in the header says whether the end is the first step after the life or the last one in it.
            inclusive: header.names[end] != "upper",
            size: header.need(&["size"])?,
            alignment: header.find(&["alignment"]),
            space: header.find(&["space"]),
            offset: header.find(&["offset"]),
            gaps: header.find(&["gaps"]),
            hint: header.find(&["hint"]),
            ignored: Vec::new(),
            names: Vec::new(),
        };
        let used = [
            columns.id,
            Some(columns.start),
            Some(columns.end),
            Some(columns.size),
            columns.alignment,
            columns.space,
            columns.offset,
            columns.gaps,
            columns.hint,
        ];
        // Unknown columns are ignored with a note, because files of other tools often have more columns than we need.
        let columns_of_file = header.names.iter().enumerate();
        let unknown = columns_of_file.filter(|(index, _)| !used.contains(&Some(*index)));
        let ignored = unknown.map(|(_, name)| name.clone()).collect();
        Ok(Columns { ignored, names: header.names, ..columns })
    }
}

/// The header's names in lower case; none may come twice.
pub(crate) fn header(rows: &Rows) -> Result<Vec<String>, ReadError> {
    let names: Vec<String> = (0..rows.fields()).map(|column| rows.field(column).to_ascii_lowercase()).collect();
    for (column, name) in names.iter().enumerate() {
        if names[..column].contains(name) {
            let message = format!("the header has two columns called `{name}`");
            return Err(rows.error("csv::duplicate-column", rows.field_span(rows.span(), column), message));
        }
    }
    Ok(names)
}

/// The first line of a file, in which columns are found by name.
struct Header<'a, 'b> {
    /// The file; its current record is the header.
    rows: &'a Rows<'b>,
    names: Vec<String>,
}

impl Header<'_, '_> {
    /// The column that has one of these names.
    fn find(&self, wanted: &[&str]) -> Option<usize> {
        self.names.iter().position(|name| wanted.contains(&name.as_str()))
    }

    /// Like `find` for a column that every file must have.
    fn need(&self, wanted: &[&str]) -> Result<usize, ReadError> {
        self.find(wanted).ok_or_else(|| missing_column(self.rows, &self.names, wanted))
    }
}

/// The separator of a header that has no comma, such as `;` in `id;lower;upper;size`: the character that separates the
/// word `size` from the rest. `None` if there are commas or no such character.
fn other_separator(names: &[String]) -> Option<char> {
    let [only] = names else { return None };
    [';', '\t', '|', ' '].into_iter().find(|&separator| only.split(separator).any(|name| name.trim() == "size"))
}

/// Whether the first line looks like a record and not like a header: all of its fields are numbers, with at most one
/// exception (the id).
fn is_record(names: &[String]) -> bool {
    let is_number = |name: &&String| name.parse::<f64>().is_ok();
    names.len() >= 3 && names.iter().filter(is_number).count() + 1 >= names.len()
}

/// Whether two words differ by at most one typo: a letter added, left out or replaced, or two neighbouring letters
/// swapped (`uppr` and `upper`, `szie` and `size`).
pub(super) fn resembles(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    // Without what both words have in common at their beginning and at their end, only the difference is left.
    let prefix = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let suffix = one[prefix..].iter().rev().zip(other[prefix..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (left, right) = (&one[prefix..one.len() - suffix], &other[prefix..other.len() - suffix]);
    let swapped = left.len() == 2 && right.len() == 2 && left[0] == right[1] && left[1] == right[0];
    swapped || left.len().max(right.len()) <= 1
}

/// The current record of `rows`, to be made into a buffer.
struct Row<'a, 'b> {
    /// The file; its current record is the one that is meant.
    rows: &'a Rows<'b>,
    /// Which column means what.
    columns: &'a Columns,
}

impl Row<'_, '_> {
    /// The record as a buffer. `index` is the number of the record, which is the buffer's name if there is no column
    /// for names. `spaces` collects the names of spaces in the order of their first use.
    fn buffer(&self, index: usize, spaces: &mut SpaceNames) -> Result<Buffer, ReadError> {
        let columns = self.columns;
        // Only the required columns must be there; optional fields at the end of a record may be left out. `last` is
        // the position of the last required one.
        let last = columns.start.max(columns.end).max(columns.size).max(columns.id.unwrap_or(0));
        if self.rows.fields() <= last {
            let message = format!("the record has {} fields, the header promises more", self.rows.fields());
            return Err(self.rows.error("csv::short-record", self.rows.span(), message));
        }
        let name = match columns.id {
            // An empty name is possible, but only in quotes: an empty field is more likely a mistake.
            Some(column) if self.rows.name(column).is_empty() && !self.rows.is_quoted(column) => {
                return Err(self.error("csv::empty-id", column, "expected an id"));
            }
            Some(column) => self.rows.name(column).to_owned(),
            None => index.to_string(),
        };
        let size = self.number(columns.size, "a size of 0 or more bytes")?;
        let mut buffer = Buffer { lifetime: self.lifetime()?, ..Buffer::new(name, size, Lifetime::default()) };
        if let Some(alignment) = self.optional(columns.alignment, "an alignment of at least 1")? {
            buffer.alignment = Bytes(alignment);
        }
        // Some tools write -1 for "no offset".
        if let Some(column) = columns.offset.filter(|&column| self.rows.field(column) != "-1") {
            buffer.set_fixed(self.optional(Some(column), "an offset of 0 or more bytes")?.map(Bytes));
        }
        if let Some(column) = columns.space {
            let names = list_of_names(self.rows.field(column));
            for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
                buffer.spaces.push(spaces.called(name));
            }
        }
        Ok(buffer)
    }

    /// An error about a field of the record.
    fn error(&self, code: &'static str, column: usize, message: impl Into<String>) -> ReadError {
        self.rows.error(code, self.rows.field_span(self.rows.span(), column), message)
    }

    /// A field as a number below 2^63; `expected` says in the error what belongs there.
    fn number(&self, column: usize, expected: &str) -> Result<u64, ReadError> {
        let text = self.rows.field(column);
        let field = &self.columns.names[column];
        let found = || if text.is_empty() { "nothing".to_owned() } else { format!("`{text}`") };
        match text.parse::<u64>() {
            Ok(value) if value <= MAX_BYTES => Ok(value),
            Ok(_) => Err(self.error("csv::too-large", column, format!("{field} {text} is not below 2^63"))),
            Err(_) if is_number_past(text) => {
                Err(self.error("csv::too-large", column, format!("{field} {text} is not below 2^63")))
            }
            Err(_) => {
                let message = format!("{field}: expected {expected}, found {}", found());
                let error = self.error("csv::not-a-number", column, message);
                // Tables have plain numbers, because tools do not agree on whether `64k` is 64000 or 65536. The advice
                // gives the number that memplan's command line would take it for.
                match text.parse::<Bytes>() {
                    Ok(bytes) if !text.is_empty() => Err(error.help(format!("write the number of bytes: {bytes}"))),
                    _ => Err(error),
                }
            }
        }
    }

    /// The number in an optional column; `None` if the column is absent or the field is empty.
    fn optional(&self, column: Option<usize>, expected: &str) -> Result<Option<u64>, ReadError> {
        match column {
            Some(column) if !self.rows.field(column).is_empty() => self.number(column, expected).map(Some),
            _ => Ok(None),
        }
    }

    /// The life of a record: from its start to its end without the gaps. A "gap" with a window is no gap but a
    /// stretch in which only the bytes of the window are in use. With start 0, end 10 and the gaps `3-5 6-8@0:512`,
    /// and an end that is excluded:
    ///
    /// ```text
    ///   0..3   5..6   6..8 with its bytes 0..512   8..10
    /// ```
    fn lifetime(&self) -> Result<Lifetime, ReadError> {
        let columns = self.columns;
        let start = self.number(columns.start, "a step of 0 or more")?;
        let end = self.number(columns.end, "a step of 0 or more")?;
        let Some(half_open_end) = exclusive_end(start, end, columns.inclusive) else {
            let message = format!("the life ends at {end}, before its start at {start}");
            return Err(self.error("csv::end-before-start", columns.end, message));
        };
        let gaps = match columns.gaps {
            Some(column) => self.gaps(column, start, half_open_end)?,
            None => return Ok(Lifetime::new(start, half_open_end)),
        };
        // Stretches of length 0, such as between two gaps that touch, are dropped when the `Lifetime` is collected.
        let mut intervals = Vec::with_capacity(2 * gaps.len() + 1);
        let mut alive_from = start;
        for gap in gaps {
            intervals.push(Interval::new(alive_from, gap.start.0));
            alive_from = gap.end.0;
            intervals.extend(gap.window.map(|_| gap));
        }
        intervals.push(Interval::new(alive_from, half_open_end));
        Ok(intervals.into_iter().collect())
    }

    /// Reads the gaps of a record, such as `3-5 6-8@0:512`, and sorts them by time. `start` and `end` limit the
    /// buffer's life, in which all gaps must lie. In a gap without a window the buffer is not in use.
    fn gaps(&self, column: usize, start: u64, end: u64) -> Result<Vec<Interval>, ReadError> {
        let mut gaps = Vec::new();
        for text in self.rows.field(column).split_ascii_whitespace() {
            let fail = |why: &str| self.error("csv::gap", column, format!("gap `{text}`: {why}"));
            let gap = parse_gap(text, self.columns.inclusive)
                .ok_or_else(|| fail("expected START-END or START-END@LOW:HIGH with START before END"))?;
            if gap.start.0 < start || gap.end.0 > end {
                return Err(fail("it does not lie inside the buffer's life"));
            }
            gaps.push(gap);
        }
        gaps.sort_by_key(|gap| gap.start);
        match gaps.windows(2).find(|pair| pair[1].start < pair[0].end) {
            Some(pair) => Err(self.error("csv::gap", column, format!("two gaps overlap at step {}", pair[1].start))),
            None => Ok(gaps),
        }
    }
}

/// The end of the half-open interval that begins at `start`, where `end` is the end as the file writes it: the last
/// step alive if `inclusive`, the first step no longer alive if not. `None` if the end lies before the start.
fn exclusive_end(start: u64, end: u64, inclusive: bool) -> Option<u64> {
    let end = if inclusive { end.checked_add(1)? } else { end };
    let in_order = if inclusive { end > start } else { end >= start };
    in_order.then_some(end)
}

/// Reads `4-8`, steps at which the buffer is dead, or `4-8@0:64`, steps at which only some of its bytes are alive.
fn parse_gap(text: &str, inclusive: bool) -> Option<Interval> {
    let (time, window) = match text.split_once('@') {
        Some((time, window)) => (time, Some(window.split_once(':')?)),
        None => (text, None),
    };
    let (start, end) = time.split_once('-')?;
    let start: u64 = start.parse().ok()?;
    let end = exclusive_end(start, end.parse().ok()?, inclusive)?;
    match window {
        Some((low, high)) => Some(Interval::with_window(start, end, low.parse().ok()?, high.parse().ok()?)),
        None => Some(Interval::new(start, end)),
    }
}

/// Whether a text that is no `u64` consists of digits only: then the number is too large for one.
fn is_number_past(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The names of spaces in the order of their first use, and the number of each.
#[derive(Default)]
struct SpaceNames {
    /// The names; the position of each is the number of its space.
    in_order: Vec<String>,
    /// The space of each name.
    ids: HashMap<String, SpaceId>,
}

impl SpaceNames {
    /// The space of that name; a new one if nobody has used the name before.
    fn called(&mut self, name: &str) -> SpaceId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = SpaceId::from_index(self.in_order.len());
        self.in_order.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }
}

/// Writes the records of a problem, with the columns it needs. What CSV cannot
/// say (ties, overlays, slots, …) is left out; [`json`](super::json) has it all.
pub fn write(problem: &Problem) -> String {
    write_planned(problem, None)
}

/// Like [`write()`], with the columns of a plan: `space` is where a buffer lives,
/// `offset` its offset (a line for each slot), and `over`, if the plan reuses
/// memory in place, the buffers whose bytes it takes over. A plan made of shared
/// objects has `object` and `object_size` instead of the last two.
pub(crate) fn write_planned(problem: &Problem, plan: Option<&Plan>) -> String {
    let buffers = problem.buffers();
    // Columns that would say the same for each buffer are left out, so that a plain problem gives a plain file.
    let has_alignment = buffers.iter().any(|buffer| buffer.alignment.0 > 1);
    let has_space = problem.spaces().len() > 1 || problem.spaces().iter().any(|space| space.name != "default");
    // A life that is neither empty nor simple has several stretches or a window.
    let has_gaps = buffers.iter().any(|buffer| !buffer.lifetime.is_simple() && !buffer.lifetime.is_empty());
    let shares_objects = plan.is_some_and(|plan| !plan.objects.is_empty());
    let over = plan.filter(|_| !shares_objects).map(|plan| over_column(problem, plan)).unwrap_or_default();
    let mut header = vec!["id", "lower", "upper", "size"];
    let optional = [
        (has_alignment, "alignment"),
        (has_space, "space"),
        (has_gaps, "gaps"),
        (plan.is_some() && !shares_objects, "offset"),
        (shares_objects, "object,object_size"),
        (!over.is_empty(), "over"),
    ];
    header.extend(optional.into_iter().filter(|(has, _)| *has).map(|(_, name)| name));
    let mut text = header.join(",");
    text.push('\n');
    for (id, buffer) in buffers.iter_enumerated() {
        let placement = plan.and_then(|plan| plan.placements.get(id)?.as_ref());
        // A buffer that is never alive is written with the life 0..0, which is read as no life.
        let (start, end) = (buffer.lifetime.start().unwrap_or_default(), buffer.lifetime.end().unwrap_or_default());
        // Shared objects may be textures (`8x4`) or have symbols as sizes. Everything else is placed by bytes.
        let size = match shares_objects {
            true => quoted(&size_text(&buffer.size)),
            false => buffer.bytes().unwrap_or_default().to_string(),
        };
        let mut fields = vec![quoted(&buffer.name), start.to_string(), end.to_string(), size];
        if has_alignment {
            fields.push(buffer.alignment.to_string());
        }
        if has_space {
            fields.push(space_field(problem, buffer, placement));
        }
        if has_gaps {
            fields.push(gaps_of(&buffer.lifetime));
        }
        let record = fields.join(",");
        // A buffer with several slots has a line for each of them. Without a placement the field stays empty.
        let offsets = match plan.filter(|_| shares_objects) {
            Some(plan) => vec![object_fields(plan, placement)],
            None => offset_fields(placement, plan.is_some()),
        };
        for offset in offsets {
            text.push_str(&record);
            text.push_str(&offset);
            if !over.is_empty() {
                text.push(',');
                text.push_str(over.get(&id).map_or("", String::as_str));
            }
            text.push('\n');
        }
    }
    text
}

/// The space in which a buffer is placed, or those among which a plan may choose.
fn space_field(problem: &Problem, buffer: &Buffer, placement: Option<&Placement>) -> String {
    let spaces = placement.map_or(buffer.spaces.as_slice(), |placement| std::slice::from_ref(&placement.space));
    let names: Vec<Cow<str>> = spaces.iter().map(|&space| in_list(&problem.spaces()[space].name)).collect();
    quoted(&names.join("|"))
}

/// The field `offset`, with a comma before it, of each row of a buffer: one row for each slot. `planned` says whether
/// there is a column of offsets at all; a buffer without a placement has one row, with nothing in that column.
fn offset_fields(placement: Option<&Placement>, planned: bool) -> Vec<String> {
    match placement {
        Some(placement) => placement.offsets.iter().map(|offset| format!(",{offset}")).collect(),
        None => vec![if planned { ",".to_owned() } else { String::new() }],
    }
}

/// The last fields of the row of a buffer in a plan made of objects: its object and that object's size.
fn object_fields(plan: &Plan, placement: Option<&Placement>) -> String {
    let object = placement.and_then(|placement| placement.object);
    let described = object.and_then(|object| Some((object, plan.objects.get(object)?)));
    match described {
        Some((object, shared)) => format!(",{},{}", object.index(), quoted(&size_text(&shared.size))),
        None => ",,".to_owned(),
    }
}

/// The column `over`: for each buffer that starts on the bytes of others, the names of these, separated by `|`.
fn over_column(problem: &Problem, plan: &Plan) -> HashMap<BufferId, String> {
    let mut column = HashMap::<BufferId, Vec<Cow<str>>>::new();
    for reuse in &plan.reused {
        let names = reuse.over.iter().map(|&over| in_list(&problem.buffers()[over].name));
        column.entry(reuse.buffer).or_default().extend(names);
    }
    column.into_iter().map(|(buffer, names)| (buffer, quoted(&names.join("|")))).collect()
}

/// A name as an item of a list. `|` ends an item, so a `|` or a backslash in the name gets a backslash before it.
fn in_list(name: &str) -> Cow<'_, str> {
    if name.contains(['\\', '|']) {
        Cow::Owned(name.replace('\\', "\\\\").replace('|', "\\|"))
    } else {
        Cow::Borrowed(name)
    }
}

/// The names in a list such as `a|b\|c`: `a` and `b|c`. The opposite of `in_list`. A backslash that neither a `|` nor a
/// backslash follows stands for itself, as in files that were written by hand.
pub(crate) fn list_of_names(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut characters = list.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '|' => names.push(std::mem::take(&mut name)),
            '\\' => name.push(characters.next_if(|next| matches!(next, '|' | '\\')).unwrap_or('\\')),
            other => name.push(other),
        }
    }
    names.push(name);
    names
}

/// Writes a life as the column `gaps` has it and `parse_gap` reads it: the times between stretches, and the stretches
/// with a window, such as `3-5 6-8@0:512`.
fn gaps_of(lifetime: &Lifetime) -> String {
    let mut gaps = Vec::new();
    let mut previous_end = lifetime.start().unwrap_or_default();
    for interval in lifetime.intervals() {
        if interval.start > previous_end {
            gaps.push(format!("{previous_end}-{}", interval.start));
        }
        if let Some(window) = interval.window {
            gaps.push(format!("{}-{}@{}:{}", interval.start, interval.end, window.low, window.high));
        }
        previous_end = interval.end;
    }
    gaps.join(" ")
}

/// A field as it is written: in quotes where a reader would take it for something else otherwise. An empty field is
/// quoted because without quotes it means that there is no value, and blanks at the ends because readers trim them.
fn quoted(field: &str) -> String {
    let special = |c: char| matches!(c, ',' | '"' | '\n' | '\r');
    if field.is_empty() || field.trim() != field || field.contains(special) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
