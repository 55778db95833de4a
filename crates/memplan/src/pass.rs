//! Passes: rewrites of a program with the addresses of its buffers in it.
//!
//! A pass is a [front end](crate::front_end) whose output is the program it read, and this is the list of
//! them. [`opt`] runs a line of passes over a file as users name them:
//!
//! ```
//! use memplan::driver::How;
//! use memplan::pass::opt;
//! use memplan::source::Source;
//!
//! let text = "func.func @f() {\n  %a = memref.alloc() : memref<4xf32>\n  return\n}\n";
//! let specs = ["merge-alloc{alignment=64}".parse()?];
//! let done = opt(&Source::new("f.mlir", text), &specs, &How::default());
//! assert!(done.text().is_some_and(|text| text.contains("memref.view")));
//! # Ok::<(), memplan::core::SpecError>(())
//! ```
//!
//! Adding a pass is one file in `front_end` and one line in [`PASSES`].

mod parts;

use memplan_core::{PassOptions, SpecError};
use memplan_mlir::pass::{merge_alloc, plan_memory};

use crate::driver::{self, Checked, Failure, How};
use crate::front_end::storage_rewrite::storage_options;
use crate::front_end::{AssignGmem, EarlyDealloc, FrontEnd, Lower, MergeAlloc, Output, PlanMemory, StorageRewrite};
use crate::source::Source;

pub use memplan_core::PassSpec;
pub use parts::{Chain, Done, DonePart, Stopped, opt};

/// A front end with its options, run from a source to an output.
pub trait Rewriter {
    /// Rewrites a source.
    fn run(&self, source: &Source, how: &How) -> Result<Checked<Output>, Failure>;
}

impl<F: FrontEnd> Rewriter for F {
    fn run(&self, source: &Source, how: &How) -> Result<Checked<Output>, Failure> {
        driver::run(self, source, how)
    }
}

/// A pass in the list.
pub struct Pass {
    /// The name on the command line.
    pub name: &'static str,
    /// One line for listings.
    pub describe: &'static str,
    /// The options it has, each with what it does.
    pub options: &'static [(&'static str, &'static str)],
    /// Makes the pass with the options that the user gave.
    with: fn(&PassOptions) -> Result<Box<dyn Rewriter>, SpecError>,
}

impl Pass {
    /// Rewrites a source.
    pub fn run(&self, source: &Source, options: &PassOptions, how: &How) -> Result<Checked<Output>, Failure> {
        (self.with)(options)?.run(source, how)
    }
}

/// All passes, in the order of listings.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "merge-alloc",
        describe: "MLIR: one allocation per scope and memory space, a view for every buffer",
        options: &[
            ("analysis-only", "attach lifetimes as attributes, change nothing else"),
            ("planner-options=cost-model|size-first", "which of the pass's own planners"),
            ("alignment=64", "of the merged allocation and every buffer in it"),
            ("compat", "fail where the original pass fails"),
        ],
        with: |options| Ok(Box::new(MergeAlloc { options: merge_alloc::Options::parse(options)? })),
    },
    Pass {
        name: "early-dealloc",
        describe: "MLIR: free what merge-alloc leaves alone right after its last use",
        options: &[],
        with: |options| Ok(Box::new(EarlyDealloc { options: options.clone() })),
    },
    Pass {
        name: "plan-memory",
        describe: "MLIR: an address for every on-chip buffer of an NPU kernel, pipes kept apart",
        options: plan_memory::OPTIONS,
        with: |options| Ok(Box::new(PlanMemory { options: plan_memory::Options::parse(options)? })),
    },
    Pass {
        name: "assign-gmem",
        describe: "MLIR, top and tpu ops: addresses in global memory for weights and activations",
        options: &[
            ("mode=best|documented", "every way to plan, or the documented algorithm"),
            ("chip=NAME", "a chip instead of the module's"),
            ("chips=FILE", "descriptions of more chips, in TOML"),
            ("addr_mode=MODE", "basic, in_reuse, io_alone, io_tag, io_tag_fuse, io_reloc or auto"),
            ("weights=FILE.npz", "the weight file: equal weights share memory"),
            ("reuse_addr=false", "no two tensors share memory"),
            ("same_addr=\"0:0,1:2\"", "io_alone: input 0 lies where output 0 lies, 1 where 2"),
            ("iomem_set=\"a,b\"", "cv18xx: the inputs and outputs to be tagged"),
        ],
        with: |options| {
            let options = memplan_mlir::pass::assign_gmem::Options::parse(options)?;
            Ok(Box::new(AssignGmem::new(options)?))
        },
    },
    Pass {
        name: "storage-rewrite",
        describe: "TVMScript: allocations that share memory, in place where that is right",
        options: &[
            ("compat", "make TVM's decisions, and refuse where they are wrong"),
            ("flatten", "make buffers with several dimensions flat first"),
            ("plan=STRATEGY", "one arena per memory, laid out by a strategy"),
            ("limit=SCOPE:SIZE", "the capacity of a tagged memory, such as local.L0A:64KiB"),
        ],
        with: |options| {
            let known = &["compat", "flatten", "plan", "limit"];
            Ok(Box::new(StorageRewrite { options: storage_options("storage-rewrite", known, options)? }))
        },
    },
    Pass {
        name: "lower",
        describe: "tensor operations (.te.json) to TVMScript: scheduled, flattened, with shared memory",
        options: &[
            ("compat", "make TVM's decisions, and refuse where they are wrong"),
            ("plan=STRATEGY", "one arena per memory, laid out by a strategy"),
            ("limit=SCOPE:SIZE", "the capacity of a tagged memory, such as local.L0A:64KiB"),
        ],
        with: |options| {
            let options = storage_options("lower", &["compat", "plan", "limit"], options)?;
            Ok(Box::new(Lower { options }))
        },
    },
];

/// The pass of that name; `None` if there is none.
pub fn find(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.name == name)
}

/// The pass of that name, or the error that lists the passes there are.
pub fn named(name: &str) -> Result<&'static Pass, Failure> {
    find(name).ok_or_else(|| {
        let names: Vec<&str> = PASSES.iter().map(|pass| pass.name).collect();
        Failure::Form(format!("there is no pass called `{name}`; the passes are {}", names.join(", ")))
    })
}
