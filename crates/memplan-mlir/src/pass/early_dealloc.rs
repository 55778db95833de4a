//! early-dealloc: frees an allocation right after its last use, while the program runs. It is for
//! the buffers that planning leaves alone, such as those whose sizes are only known at run time.
//!
//! ```text
//!   %a = memref.alloc(%n) : memref<?xf32>        %a = memref.alloc(%n) : memref<?xf32>
//!   "use"(%a) : (memref<?xf32>) -> ()      ──►   "use"(%a) : (memref<?xf32>) -> ()
//!   "more"() : () -> ()                          memref.dealloc %a : memref<?xf32>
//!                                                "more"() : () -> ()
//! ```
//!
//! A `memref.dealloc` goes behind the op of the allocation's own block that
//! contains the last use, through whatever alias, and behind every op that names
//! the allocation, even one that only asks for its sizes or makes a view that nobody
//! reads. Both stand in one block, so every path that allocates the buffer also frees it. A
//! buffer that escapes, is carried by a loop, is freed already, or is used outside its own block
//! is left alone.

use std::collections::{BTreeMap, HashMap, HashSet};

use memplan_analysis::{Aliases, Life, Lifetimes, OpTree};
use memplan_core::{IndexVec, patience};
use memplan_program::{AccessKind, OpId as ProgramOpId, SiteId};

use super::{PassError, PassOptions, Remark, Rewrite, still_waiting};
use crate::{Document, Edits, Form, Lowered, OpId, ValueId};

/// Runs the pass, which has no options. It places nothing, so all placements are `None`. A remark names each
/// allocation that is left alone, with the reason.
pub fn run(document: &Document, lowered: &Lowered, options: &PassOptions) -> Result<Rewrite, PassError> {
    if let Some((key, _)) = options.iter().next() {
        return Err(PassOptions::unknown("early-dealloc", key, &["none"]).into());
    }
    let program = &lowered.program;
    let aliases = Aliases::new(program);
    let tree = OpTree::new(program);
    still_waiting()?;
    let lifetimes = Lifetimes::new(program, &aliases, &tree);
    still_waiting()?;
    // What the text frees already, and which op names each value last.
    let freed = freed_already(lowered, &aliases);
    let last_mentions = last_mentions(document);
    let mut edits = Edits::default();
    let mut remarks = Vec::new();
    for site in program.sites().ids() {
        if patience::is_over() {
            return Err(PassError::Stopped);
        }
        let Some(alloc) = program.alloc_op(site) else { continue };
        let op = lowered.ops[alloc];
        // Only memory that the program allocates and never frees needs a dealloc. A second one would be an error.
        if document.name(op) != "memref.alloc" || freed.contains(&site) {
            continue;
        }
        // The dealloc goes behind the last op that uses the buffer or names the allocation.
        let user = last_user(lowered, &tree, alloc, lifetimes.life(site));
        match user.and_then(|user| behind_mentions(document, op, user, &last_mentions)) {
            Ok(user) => insert_dealloc(document, &mut edits, op, user),
            Err(reason) => {
                remarks.push(Remark { span: document.op(op).span, message: format!("left alone: {reason}") });
            }
        }
    }
    let placements = IndexVec::filled(None, program.sites().len());
    Ok(Rewrite { edits, placements, owners: BTreeMap::new(), remarks, stats: Vec::new() })
}

/// Sites that some op frees, on some path.
fn freed_already(lowered: &Lowered, aliases: &Aliases) -> HashSet<SiteId> {
    let accesses = lowered.program.ops().iter().flat_map(|op| op.accesses.iter());
    let frees = accesses.filter(|access| access.kind == AccessKind::Free);
    frees.flat_map(|access| aliases.sites(access.value).iter().copied()).collect()
}

/// The last op of the allocation's own block that uses the buffer, itself or by an op inside of it; for a buffer that
/// nobody uses, the allocation. An error is the reason why there is no such op, in words for the user.
fn last_user(lowered: &Lowered, tree: &OpTree, alloc: ProgramOpId, life: Life) -> Result<OpId, &'static str> {
    let last = match life {
        // A life that cannot be traced may end anywhere, so nothing may be freed.
        Life::Untraceable { why, .. } => return Err(why.describe()),
        Life::Unused => alloc,
        // An op in front of the allocation uses the buffer. It is reached by going round a loop, so no op behind the
        // allocation is the last user.
        Life::Range { first, .. } if first < alloc => return Err("it is used outside its block"),
        Life::Range { last, .. } => last,
    };
    // The last use may be deep inside of other ops. The dealloc goes behind the op of the allocation's own block
    // that contains it.
    let around = tree.around_both(alloc, last);
    let (user, home) = (tree.child_towards(around, last), tree.child_towards(around, alloc));
    // If the allocation is nested deeper than the use (`home` is an op around it), or the two stand in different
    // blocks, the use is outside of the allocation's block.
    let same_block = lowered.program.op(user).block == lowered.program.op(alloc).block;
    if home != alloc || !same_block {
        return Err("it is used outside its block");
    }
    Ok(lowered.ops[user])
}

/// The last op of the text that names each value. Ops are numbered in the order of the text.
fn last_mentions(document: &Document) -> HashMap<ValueId, OpId> {
    // Of several entries with the same key the last one stays in the map, and ops come in the order of the text.
    document.op_ids().flat_map(|op| document.operands(op).iter().map(move |&value| (value, op))).collect()
}

/// The op behind which the buffer can be given back: the later one of its last user and of the last op that names it.
/// If that op is nested, the op around it in the allocation's own block counts.
fn behind_mentions(
    document: &Document,
    alloc: OpId,
    user: OpId,
    last_mentions: &HashMap<ValueId, OpId>,
) -> Result<OpId, &'static str> {
    let block = document.op(alloc).parent;
    let mention = document.results(alloc).first().and_then(|value| last_mentions.get(value));
    let mut mentioning = mention.copied().unwrap_or(user);
    while document.op(mentioning).parent != block {
        mentioning = document.parent_op(mentioning).ok_or("it is used outside its block")?;
    }
    let last = user.max(mentioning);
    // Nothing can stand behind a terminator.
    if document.ops(block).last() == Some(&last) {
        return Err("the end of its block uses it");
    }
    Ok(last)
}

/// Writes a `memref.dealloc` on a line of its own behind the last user.
fn insert_dealloc(document: &Document, edits: &mut Edits, alloc: OpId, user: OpId) {
    let Some(&result) = document.results(alloc).first() else { return };
    // An implicit op (a terminator that MLIR adds) does not stand in the text, so there is no place behind it.
    if document.op(user).form == Form::Implicit {
        return;
    }
    let source = document.source();
    let start = document.op(user).span.start as usize;
    let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
    let indentation: String = source[line_start..start].chars().take_while(|c| c.is_whitespace()).collect();
    let (name, ty) = (document.value_name(result), document.type_text(result));
    let end = document.op(user).span.end as usize;
    edits.insert(end, format!("\n{indentation}memref.dealloc {name} : {ty}"));
}
