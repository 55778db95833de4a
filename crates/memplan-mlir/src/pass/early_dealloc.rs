//! early-dealloc: gives back at run time, right after its last use, what
//! planning leaves alone.
//!
//! ```text
//!   %a = memref.alloc(%n) : memref<?xf32>        %a = memref.alloc(%n) : memref<?xf32>
//!   "use"(%a) : (memref<?xf32>) -> ()      ──►   "use"(%a) : (memref<?xf32>) -> ()
//!   "more"() : () -> ()                          memref.dealloc %a : memref<?xf32>
//!                                                "more"() : () -> ()
//! ```
//!
//! A `memref.dealloc` goes behind the op of the allocation's own block that
//! contains the last use, through whatever alias. Every path that allocates
//! comes by there. What escapes, is carried by a loop, is freed already, or is
//! used outside its own block is left alone.

use std::collections::{BTreeMap, HashSet};

use memplan_analysis::{Aliases, Life, Lifetimes, OpTree};
use memplan_core::{IndexVec, patience};
use memplan_program::{AccessKind, OpId as ProgramOpId, SiteId};

use super::{PassError, PassOptions, Remark, Rewrite, still_waiting};
use crate::{Document, Edits, Form, Lowered, OpId};

/// Runs the pass.
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
    let freed = freed_already(lowered, &aliases);
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
        match last_user(document, lowered, &tree, alloc, lifetimes.life(site)) {
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

/// The op of the allocation's block behind which nobody uses it.
fn last_user(
    document: &Document,
    lowered: &Lowered,
    tree: &OpTree,
    alloc: ProgramOpId,
    life: Life,
) -> Result<OpId, &'static str> {
    let last = match life {
        // A life that cannot be traced may end anywhere, so nothing may be freed.
        Life::Untraceable { why, .. } => return Err(why.describe()),
        Life::Unused => alloc,
        Life::Range { first, .. } if first < alloc => return Err("it is used outside its block"),
        Life::Range { last, .. } => last,
    };
    // The last use may be deep inside of other ops. The dealloc goes behind the op of the allocation's own block
    // that contains it.
    let around = tree.around_both(alloc, last);
    let (user, home) = (tree.child_towards(around, last), tree.child_towards(around, alloc));
    let same_block = lowered.program.op(user).block == lowered.program.op(alloc).block;
    if home != alloc || !same_block {
        return Err("it is used outside its block");
    }
    let user = lowered.ops[user];
    let block = document.op(user).parent;
    // Nothing can stand behind a terminator.
    if document.ops(block).last() == Some(&user) {
        return Err("the end of its block uses it");
    }
    Ok(user)
}

fn insert_dealloc(document: &Document, edits: &mut Edits, alloc: OpId, user: OpId) {
    let Some(&result) = document.results(alloc).first() else { return };
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
