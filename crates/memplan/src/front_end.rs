//! What a front end is: one type that reads an input, lays its buffers out, writes
//! the result, and finds the buffers again in what it wrote.
//!
//! ```text
//!            read            lay_out           emit           places
//!   Source ───────► Input ───────────► Laid ─────────► Output ────────► Places
//!                              │ claim                                    │
//!                              ▼                                          ▼
//!                    the driver checks the claim            … and compares with the claim
//! ```
//!
//! A front end never checks itself. It *claims* something about what it laid out (these plans
//! solve these problems; these placements keep the meaning of this program), the driver
//! ([`crate::driver`]) has the independent checks look at the claim, and only then asks for
//! the output. The output is read again by [`FrontEnd::places`], which must look at the output alone
//! and not at the notes the emitter took, and the driver compares.
//!
//! Lifetime records, models and programs that are only planned are one front end, [`Plain`]; each
//! pass is one more. The chapter "Bring your own front end" of the book writes another in a hundred lines.

pub mod assign_gmem;
mod early_dealloc;
pub mod fit;
mod layout;
mod lower;
mod merge_alloc;
mod mlir_text;
mod plain;
mod plan_memory;
mod reorder;
pub mod rewritten;
pub(crate) mod storage_rewrite;

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use memplan_core::{Bytes, IndexVec, Placement, Plan, Problem};
use memplan_mlir::pass::Saving;
use memplan_models::source::{Assembled, Piece};
use memplan_program::{Program, SiteId};
use memplan_verify::dataflow::SitePlanView;
use memplan_verify::equivalence;
use memplan_verify::order::Access;
use smallvec::SmallVec;

use crate::driver::{Failure, Solver};
use crate::source::Source;

pub use assign_gmem::AssignGmem;
pub use early_dealloc::EarlyDealloc;
pub use fit::Fit;
pub use layout::Layout;
pub use lower::Lower;
pub use merge_alloc::MergeAlloc;
pub use plain::{Plain, PlanForm, Planned};
pub use plan_memory::{Kernels, LaidKernels, PlanMemory};
pub use reorder::Reorder;
pub use storage_rewrite::StorageRewrite;

/// A kind of input that memplan plans, as the module's documentation says. The driver calls the functions in their
/// order.
pub trait FrontEnd {
    /// What was read, with everything that later stages need of it.
    type Input;
    /// Where everything goes, before it is written.
    type Laid;
    /// Whether [`let_go_of_packings`](Self::let_go_of_packings) does something.
    const LETS_GO_OF_PACKINGS: bool = false;

    /// Its name, for messages.
    fn name(&self) -> &str;

    /// Reads a source.
    fn read(&self, source: &Source) -> Result<Self::Input, Failure>;

    /// Decides where everything goes. Buffers that [`Solver::apart`] names must not share bytes: a check has rejected
    /// an earlier layout because of them.
    fn lay_out(&self, input: &Self::Input, solver: &mut Solver) -> Result<Self::Laid, Failure>;

    /// What must be true of the layout.
    fn claim<'a>(&self, input: &'a Self::Input, laid: &'a Self::Laid) -> Claim<'a>;

    /// What the output must say: [`Claim::placements`] alone. The driver asks for it when the output is written; a
    /// front end for which the other parts of the claim cost memory, or have been let go of, gives it by itself.
    fn placements<'a>(&self, input: &'a Self::Input, laid: &'a Self::Laid) -> Vec<Cow<'a, [Option<Placement>]>> {
        self.claim(input, laid).placements
    }

    /// Frees what only [`Claim::packings`] needs. The driver calls this when the packings have
    /// passed their check, because the check of the programs, which comes next, takes the most
    /// memory of all stages. The driver must give up the claim, which borrows from the layout, and
    /// ask for it again afterwards. It does so only where
    /// [`LETS_GO_OF_PACKINGS`](Self::LETS_GO_OF_PACKINGS) says that something is freed.
    fn let_go_of_packings(&self, _: &mut Self::Laid) {}

    /// Frees what neither [`emit`](Self::emit), [`places`](Self::places) nor
    /// [`placements`](Self::placements) needs. The driver calls this when the layout has passed its
    /// checks; what it was checked against may be the larger part of the memory.
    fn let_go(&self, _: &mut Self::Input, _: &mut Self::Laid) {}

    /// Writes the result.
    fn emit(&self, input: &Self::Input, laid: &Self::Laid) -> Result<Output, Failure>;

    /// Where the buffers are, found in the output alone, list by list as in [`Claim::placements`].
    fn places(&self, input: &Self::Input, output: &Output) -> Result<Places, Failure>;

    /// What the model in the input computes, and what the model in the output computes, each found in its file
    /// alone; `None` if the output is no changed model. The driver has it proved that they compute the same.
    fn meanings(&self, _: &Self::Input, _: &Output) -> Result<Option<Meanings>, Failure> {
        Ok(None)
    }
}

/// Two models that must compute the same.
pub struct Meanings {
    /// The model as it was.
    pub original: equivalence::Network,
    /// The model that was written.
    pub changed: equivalence::Network,
}

/// What must be true of a layout: the driver has it checked.
#[derive(Default)]
pub struct Claim<'a> {
    /// Plans that solve problems.
    pub packings: Vec<Packing<'a>>,
    /// Placements under which programs compute what they did.
    pub programs: Vec<(Cow<'a, Program>, SitePlanView<'a>)>,
    /// Orders of execution in which every op still finds the values that it found in the old order.
    pub orders: Vec<Order>,
    /// What the output must say: lists of things (most often one list, of buffers), and where each of them is. `None`
    /// for a thing that the output does not place.
    pub placements: Vec<Cow<'a, [Option<Placement>]>>,
}

/// A plan that solves a problem.
pub struct Packing<'a> {
    /// What was to be planned.
    pub problem: Cow<'a, Problem>,
    /// The plan that is claimed to keep the rules of the problem.
    pub plan: Cow<'a, Plan>,
    /// The sites that the buffers come from: the number of their program in [`Claim::programs`], and the site of each
    /// buffer. `None` if buffers are no single sites of a program.
    pub sites: Option<(usize, Cow<'a, [SiteId]>)>,
}

/// Ops in another order.
pub struct Order {
    /// The ops in their old order.
    pub ops: Vec<Access>,
    /// The new order: the numbers that the ops have in `ops`, in the order in which they run now.
    pub order: Vec<usize>,
}

/// What a front end wrote.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The content, or its first part if there is a second part ([`behind`](Self::behind)).
    pub bytes: Vec<u8>,
    /// The second part, which follows the first: pieces of a file, and new bytes between them. Models are large and
    /// mostly weights, so the pieces are copied from the old file only when the output is written.
    pub behind: Option<Behind>,
    /// What was left alone and why, with the place.
    pub notes: Vec<String>,
    /// How many bytes each function needed before and needs now.
    pub savings: Vec<Saving>,
    /// More files that were asked for: a name and the content.
    pub files: Vec<(String, String)>,
    /// What was planned, for a picture.
    pub layout: Option<Layout>,
}

impl Output {
    /// An output that is a text.
    pub fn of_text(text: impl Into<String>) -> Output {
        Output { bytes: text.into().into_bytes(), ..Output::default() }
    }

    /// The output as text; empty if it is none.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap_or_default()
    }

    /// The whole output, put together but not copied, to be read again.
    pub fn content(&self) -> io::Result<Assembled<'_>> {
        match &self.behind {
            Some(behind) => Assembled::new(&self.bytes, behind.file.content(), &behind.pieces),
            None => Assembled::new(&self.bytes, &NO_BYTES, &[]),
        }
    }

    /// Writes everything.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.content()?.write(out)
    }
}

/// The old file of an output that has no second part.
const NO_BYTES: &[u8] = &[];

/// The second part of an output: an old file, and how the new one is made of it.
#[derive(Clone, Debug)]
pub struct Behind {
    /// The old file.
    pub file: Source,
    /// Its pieces, and new bytes between them.
    pub pieces: Vec<Piece>,
}

/// Where things are in an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// One list for each list of the claim, of the same length.
    pub lists: Vec<Vec<Option<Found>>>,
}

/// One thing in an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The memory it is in, by whatever name the output gives it. Buffers of one memory share one
    /// text, because there may be a million of them.
    pub memory: Arc<str>,
    /// Its offsets there, one for each slot. Not compared for a buffer in a shared object.
    pub offsets: SmallVec<[u64; 2]>,
    /// How far its memory in one iteration of each parallel loop around it is from that in the next, innermost loop
    /// first; empty if all iterations use the same bytes.
    pub strides: SmallVec<[u64; 1]>,
    /// The number of the shared object it is in; `None` if it is in none.
    pub object: Option<usize>,
    /// How many bytes the memory has, if the output says so.
    pub size: Option<Bytes>,
}

/// Makes the names of memories for a list of `Found`. Buffers that follow each other in one
/// memory share one name, so a name is allocated only where the memory changes.
#[derive(Default)]
struct NamesOfMemories {
    /// The name asked for last.
    last: Arc<str>,
    /// The number that `last` was made of; `None` if it was made of a name.
    number: Option<usize>,
}

impl NamesOfMemories {
    /// The name of a memory.
    fn of(&mut self, name: &str) -> Arc<str> {
        if *self.last != *name {
            (self.last, self.number) = (name.into(), None);
        }
        Arc::clone(&self.last)
    }

    /// The name of a memory that only has a number.
    fn of_number(&mut self, number: usize) -> Arc<str> {
        if self.number != Some(number) {
            self.number = Some(number);
            self.last = number.to_string().into();
        }
        Arc::clone(&self.last)
    }
}

/// A list of placements for a [`Claim`].
pub(crate) fn listed<I: memplan_core::Id>(placements: &IndexVec<I, Option<Placement>>) -> Cow<'_, [Option<Placement>]> {
    Cow::Borrowed(placements.as_slice())
}
