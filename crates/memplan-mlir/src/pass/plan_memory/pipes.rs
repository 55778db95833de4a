//! Which pipe a buffer belongs to, and which pipe an op runs on. A pipe is an execution unit of
//! the device; pipes run side by side.
//!
//! There are three kinds of buffers: those that a DMA engine fills or empties (pipe `mte2` for
//! loads from global memory, `mte3` for stores to it, `fix` for what leaves the cube unit's
//! accumulator), those that are used a number at a time (`scalar`), and the rest (`vector`). A
//! buffer that is several of these counts as scalar; if it is not, as the DMA engine's; if it
//! is neither, as vector.
//!
//! Ops have two lists of memory operands: `ins`, which they read, and `outs`, which they write.

use memplan_core::IndexVec;
use memplan_program::SiteId;

// Here `OpId` and `ValueId` are ops and values of the text (`Document`). `hivm_name` is the name of an op behind
// `hivm.hir.`, and `None` for ops of other dialects. `Document::runs_as_scalar_loop` says that an op has no instruction
// for its element type. `Touches` and `matches` (does a pattern of op names match?) belong to the user's target file.
use super::KernelView;
use super::home::Homes;
use super::target::{Pipe, Touches, matches};
use crate::lower::hivm::hivm_name;
use crate::{Document, OpId, ValueId};

/// What is known about a buffer's users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Users<'v> {
    /// Whether an op uses it a number at a time.
    pub(super) scalar: bool,
    /// The DMA engine that fills or empties it, the first one in program order.
    pub(super) dma: Option<&'static str>,
    /// Whether a load from global memory (`mte2`) fills it.
    pub(super) filled: bool,
    /// Whether a store to global memory (`mte3`) sends it off.
    pub(super) sent: bool,
    /// A pipe of the user's target file whose ops touch it; the last one in program order.
    pub(super) named: Option<&'v str>,
    /// The loop whose iterations use it (see `home`).
    pub(super) home: Option<OpId>,
}

impl Users<'_> {
    /// The pipe that the buffer counts as, when the strategy `levels` decides which buffers may share bytes.
    pub(super) fn class(&self) -> &str {
        match (self.scalar, self.dma, self.named) {
            (true, _, _) => "scalar",
            (_, Some(pipe), _) => pipe,
            (_, _, Some(pipe)) => pipe,
            _ => "vector",
        }
    }
}

/// The users of every buffer.
pub(super) fn find<'v>(view: &KernelView<'v>) -> IndexVec<SiteId, Users<'v>> {
    let mut known = KnownUsers { view, of: IndexVec::filled(Users::default(), view.lowered.sites.len()) };
    let homes = Homes::new(view.document, view.lowered.ops.iter().copied());
    for (site, &op) in view.lowered.sites.iter_enumerated() {
        let allocation = view.document.results(op).first();
        known.of[site].home = allocation.and_then(|&value| homes.of(value));
    }
    for &op in &view.lowered.ops {
        known.add_op(op);
    }
    known.of
}

/// The users of buffers, as far as ops have been looked at.
struct KnownUsers<'k, 'v> {
    view: &'k KernelView<'v>,
    of: IndexVec<SiteId, Users<'v>>,
}

impl<'v> KnownUsers<'_, 'v> {
    /// Changes what is known about all buffers that one of these values may be.
    fn note(&mut self, values: impl IntoIterator<Item = ValueId>, change: impl Fn(&mut Users<'v>)) {
        for value in values {
            for &site in self.view.sites_of(value) {
                change(&mut self.of[site]);
            }
        }
    }

    /// Notes the unit with which an op uses its buffers, for each buffer that the op touches. Operands that are no
    /// memory (the subscripts of a `memref.load`) belong to no buffer, and `note` passes over them.
    fn add_op(&mut self, op: OpId) {
        let document = self.view.document;
        // If the user's target file names the pipe of this op, the built-in rules below do not count.
        let pipes: &'v [Pipe] = self.view.pipes;
        if let Some(pipe) = pipes.iter().find(|pipe| matches(&pipe.ops, document.name(op))) {
            self.note(touched(document, op, pipe.touches), |users| users.named = Some(&pipe.name));
            return;
        }
        if matches!(document.name(op), "memref.load" | "memref.store") {
            self.note(document.operands(op).iter().copied(), |users| users.scalar = true);
        }
        let Some(name) = hivm_name(document, op) else { return };
        let (ins, outs) = (document.group_memrefs(op, "ins"), document.group_memrefs(op, "outs"));
        // An op that runs as a loop over single numbers uses the scalar unit, whatever engine its name suggests.
        if document.runs_as_scalar_loop(op) {
            self.note(ins.into_iter().chain(outs), |users| users.scalar = true);
            return;
        }
        // A transfer uses an engine only on the on-chip side: a load fills its outputs, a store empties its inputs.
        let (moved, pipe) = match moves(document, name, &ins, &outs) {
            Some((true, pipe)) => (outs, pipe),
            Some((false, pipe)) => (ins, pipe),
            None => return,
        };
        self.note(moved, |users| {
            users.dma = users.dma.or(Some(pipe));
            users.filled |= pipe == "mte2";
            users.sent |= pipe == "mte3";
        });
    }
}

/// The pipe an op runs on, by the same rules as [`KnownUsers::add_op`]; in doubt `vector`.
pub(super) fn of_op<'v>(view: &'v KernelView, op: OpId) -> &'v str {
    let document = view.document;
    if let Some(pipe) = view.pipes.iter().find(|pipe| matches(&pipe.ops, document.name(op))) {
        return &pipe.name;
    }
    if matches!(document.name(op), "memref.load" | "memref.store") || document.runs_as_scalar_loop(op) {
        return "scalar";
    }
    let Some(name) = hivm_name(document, op) else { return "vector" };
    let (ins, outs) = (document.group_memrefs(op, "ins"), document.group_memrefs(op, "outs"));
    match moves(document, name, &ins, &outs) {
        Some((_, pipe)) => pipe,
        None if name.starts_with("mmad") => "cube",
        None => "vector",
    }
}

/// An op that orders pipes.
pub(super) enum Sync {
    /// A barrier for all pipes: each waits for all others.
    Barrier,
    /// `set_flag`: the pipe `from` sets a flag when it has come so far.
    Set { from: &'static str, flag: String },
    /// `wait_flag`: the pipe `to` waits for that flag.
    Wait { to: &'static str, flag: String },
}

/// What an op does to the order of pipes; `None` if nothing, or if it names a pipe that is not known. In
/// `hivm.hir.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]` the pipe `mte2` sets a flag for the pipe `vector`. The
/// `wait_flag` with the same three words waits for it, so these words together are the flag.
pub(super) fn sync(document: &Document, op: OpId) -> Option<Sync> {
    let name = hivm_name(document, op).filter(|name| matches!(*name, "pipe_barrier" | "set_flag" | "wait_flag"))?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = document.text(document.op(op).span).split(|c: char| !is_word(c));
    let words: Vec<&str> = words.filter(|word| word.starts_with("PIPE_") || word.starts_with("EVENT_")).collect();
    // A barrier for a single pipe changes nothing: each pipe does its ops in order anyway.
    if name == "pipe_barrier" {
        return (words == ["PIPE_ALL"]).then_some(Sync::Barrier);
    }
    let [from, to, ..] = words[..] else { return None };
    let flag = words.join(" ");
    match name {
        "set_flag" => Some(Sync::Set { from: pipe_called(from)?, flag }),
        _ => Some(Sync::Wait { to: pipe_called(to)?, flag }),
    }
}

/// The pipe with this name in ops; `None` if it is not known.
fn pipe_called(name: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str); 7] = [
        ("PIPE_S", "scalar"),
        ("PIPE_V", "vector"),
        ("PIPE_M", "cube"),
        ("PIPE_MTE1", "mte1"),
        ("PIPE_MTE2", "mte2"),
        ("PIPE_MTE3", "mte3"),
        ("PIPE_FIX", "fix"),
    ];
    NAMES.iter().find(|(known, _)| *known == name).map(|&(_, pipe)| pipe)
}

/// The memory operands of an op that count for a pipe of a target file.
fn touched(document: &Document, op: OpId, touches: Touches) -> Vec<ValueId> {
    match touches {
        Touches::Ins => document.group_memrefs(op, "ins"),
        Touches::Outs => document.group_memrefs(op, "outs"),
        Touches::All => document.operands(op).to_vec(),
    }
}

/// The DMA engine that an op uses, and on which side: `true` if it fills the op's on-chip outputs, `false` if it
/// empties the on-chip inputs. `None` for an op that is no transfer. Memories: `gm` is global memory, `ub` the vector
/// core's unified buffer, `cbuf` the cube core's buffer, `cc` its accumulator.
fn moves(document: &Document, name: &str, ins: &[ValueId], outs: &[ValueId]) -> Option<(bool, &'static str)> {
    // The memory of the first of these values, by its short name (`ub`); `None` if the type does not say.
    let scope = |values: &[ValueId]| {
        let memref = document.ty(*values.first()?).as_memref()?;
        Document::scope_name(memref.space.as_deref()?)
    };
    match name {
        "load" | "nd2nz" | "load_scale" => Some((true, "mte2")),
        "store" | "nz2nd" => Some((false, "mte3")),
        "fixpipe" => Some((false, "fix")),
        // A broadcast into the buffer of the cube core is done by the engine that loads, not by the vector unit.
        "vbrc" if scope(outs) == Some("cbuf") => Some((true, "mte2")),
        "copy" => match (scope(ins), scope(outs)) {
            (Some("gm"), _) => Some((true, "mte2")),
            (Some("cc"), _) => Some((false, "fix")),
            // A copy inside of the unified buffer is done by the vector unit.
            (Some("ub"), Some("ub")) => None,
            (Some("ub"), _) => Some((false, "mte3")),
            // Any other copy, such as one whose memories are not written in its types, counts as vector.
            _ => None,
        },
        _ => None,
    }
}
