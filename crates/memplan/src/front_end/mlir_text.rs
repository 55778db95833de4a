//! What the passes over MLIR text have in common: reading, claiming, writing, reading again.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use memplan_core::patience::Patience;
use memplan_core::{IndexVec, ReadError, Stop, line_column, utf8};
use memplan_mlir::pass::{PassError, Remark, Rewrite, plan_memory};
use memplan_mlir::written::{Address, Changes, find_addresses, find_addresses_by_lines};
use memplan_mlir::{Dialects, Document, LowerError, Lowered, TextError};
use memplan_program::SiteId;
use memplan_verify::dataflow::SitePlanView;

use super::{Claim, Found, NamesOfMemories, Output};
use crate::driver::{Failure, Stopped};
use crate::format::mlir::{has_op, no_op};
use crate::source::Source;

/// An MLIR text, read and lowered.
pub struct Module {
    /// The name of the file, for messages.
    pub(super) name: String,
    /// What is known about ops, for reading the result.
    dialects: Option<Dialects>,
    /// The text as it was read, op by op.
    pub(super) document: Document,
    /// The program that was made of it, and the op of each site.
    pub(super) lowered: Lowered,
}

impl Module {
    /// Reads and lowers a module; `lower` says what in it is memory.
    pub(super) fn read(
        source: &Source,
        lower: fn(&Document) -> Result<Lowered, LowerError>,
    ) -> Result<Module, Failure> {
        let text = utf8(&source.bytes)?;
        let document = read_document(source, text)?;
        let lowered = lower(&document)
            .map_err(|error| ReadError::new("lower::malformed", text, error.span(), error.to_string()))?;
        Ok(Module { name: source.name.clone(), dialects: source.options.dialects.clone(), document, lowered })
    }

    /// The text that was read.
    pub(super) fn text(&self) -> &str {
        self.document.source()
    }

    /// What a rewrite claims: its placements keep the program's meaning.
    pub(super) fn claim<'a>(&'a self, rewrite: &'a Rewrite) -> Claim<'a> {
        let (placements, owners) = (Cow::Borrowed(&rewrite.placements), Cow::Borrowed(&rewrite.owners));
        Claim {
            programs: vec![(Cow::Borrowed(&self.lowered.program), SitePlanView { placements, owners })],
            placements: vec![super::listed(&rewrite.placements)],
            ..Claim::default()
        }
    }

    /// The text with a rewrite's changes.
    pub(super) fn emit(&self, rewrite: &Rewrite) -> Result<Output, Failure> {
        let text = rewrite.edits.apply(self.text()).map_err(|error| self.failure(error.into()))?;
        // The lines are only looked for where there is something to say about one.
        let lines = if rewrite.remarks.is_empty() { Vec::new() } else { line_starts(self.text()) };
        let notes = rewrite.remarks.iter().map(|remark| placed(self.text(), &lines, remark)).collect();
        Ok(Output { notes, savings: rewrite.stats.clone(), ..Output::of_text(text) })
    }

    /// Where each site is in a rewritten text; `None` for a site that kept its allocation. `changes` says what the pass
    /// may have changed: any other difference from the old text is a failure.
    pub(super) fn addresses(
        &self,
        output: &Output,
        changes: Changes,
    ) -> Result<IndexVec<SiteId, Option<Address>>, Failure> {
        let text = output.text();
        let (before, sites) = (&self.document, &self.lowered.sites);
        // A pass that writes addresses nearly always replaces whole lines, and then the addresses are found by
        // comparing the texts line by line. `None` means that this is not so: the new text is parsed as a whole.
        let by_lines = || find_addresses_by_lines(before, sites, text);
        if let Some(addresses) = (changes == Changes::Addresses).then(by_lines).flatten() {
            return Ok(addresses);
        }
        let dialects = self.dialects.as_ref().unwrap_or(Dialects::builtin());
        let after = Document::read(text, dialects).map_err(|error| unreadable(text, &error))?;
        find_addresses(before, sites, &after, changes)
            .map_err(|error| ReadError::new("output::difference", text, error.span, error.to_string()).into())
    }

    /// Why a pass did not work on this module.
    pub(super) fn failure(&self, error: PassError) -> Failure {
        let PassError::DoesNotFit(overflows) = error else { return failure(self.text(), error) };
        // The form `file:line:column: error: message` is that of compilers, so that editors and scripts find the place.
        let one = |overflow: &plan_memory::Overflow| {
            let (line, column) = line_column(self.text(), overflow.span.start as usize);
            format!("{}:{line}:{column}: error: {}\n{}", self.name, overflow.message, overflow.report)
        };
        Failure::DoesNotFit(overflows.iter().map(one).collect())
    }
}

/// Reads a text with the tables of ops that the source's options name, or the built-in ones. The text may be the
/// source's own or one that a pass made of it.
pub(super) fn read_document(source: &Source, text: &str) -> Result<Document, ReadError> {
    let dialects = source.options.dialects.as_ref().unwrap_or(Dialects::builtin());
    // The document keeps the text. If it is the source's own (the same place in memory), it is
    // shared and not copied.
    let is_own = |own: &&Arc<str>| std::ptr::eq(&***own, text);
    let document = match source.bytes.text().filter(is_own) {
        Some(own) => Document::read_shared(Arc::clone(own), dialects),
        None => Document::read(text, dialects),
    };
    let document = document.map_err(|error| unreadable(text, &error))?;
    // A part of a file (files of tests are divided by lines `// -----`) may hold nothing but
    // comments, which is fine. Any other text without an op is no MLIR.
    let says_something = text.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with("//"));
    if says_something && !has_op(&document) {
        return Err(no_op(text));
    }
    Ok(document)
}

/// The error about a text that is no MLIR, with its place.
fn unreadable(text: &str, error: &TextError) -> ReadError {
    ReadError::new(error.code(), text, error.span(), error.to_string())
}

/// Addresses as the driver compares them, in the order of the sites; `None` for a site that has no
/// address.
pub(super) fn found(addresses: IndexVec<SiteId, Option<Address>>) -> Vec<Option<Found>> {
    let mut names = NamesOfMemories::default();
    let mut found = |address: Address| Found {
        memory: names.of(&address.memory),
        offsets: address.offsets.as_slice().into(),
        strides: address.strides.as_slice().into(),
        ..Found::default()
    };
    addresses.into_vec().into_iter().map(|address| address.map(&mut found)).collect()
}

/// Why a pass did not work.
pub(super) fn failure(text: &str, error: PassError) -> Failure {
    match error {
        PassError::Options(error) => error.into(),
        PassError::Refused(error) => error.into(),
        PassError::Op { span, message } => ReadError::new("pass::op", text, span, message).into(),
        // The pass was ended before it had a plan. It may have ended itself a little before the
        // time limit, so that the patience (the time limit and Ctrl-C of this call) does not say
        // that it has ended. Then it was the limit.
        PassError::Stopped => {
            let patience = Patience::current();
            let after = patience.as_ref().map_or(Duration::ZERO, Patience::elapsed);
            let why = patience.and_then(|patience| patience.ended()).unwrap_or(Stop::TimeLimit);
            Stopped { stage: "planning", after, why }.into()
        }
        other => Failure::NoPlan(other.to_string()),
    }
}

/// The byte at which each line begins. With this list the line of a remark is found by a binary search; a large file
/// may have many remarks.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// A remark with its line and column in front, which count from 1; `lines` are the [`line_starts`].
fn placed(text: &str, lines: &[usize], remark: &Remark) -> String {
    let position = remark.span.start as usize;
    // The number of lines that begin at or before the remark is the number of its line, counted from 1.
    let line = lines.partition_point(|&start| start <= position);
    let start = line.checked_sub(1).and_then(|index| lines.get(index)).copied().unwrap_or(0);
    let column = text.get(start..position).map_or(0, |before| before.chars().count()) + 1;
    format!("line {line}, column {column}: {}", remark.message)
}
