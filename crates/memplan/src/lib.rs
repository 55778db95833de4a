//! Static memory planning for tensor programs: everything in one crate.
//!
//! memplan decides, before a program runs, where every one of its buffers lives: the smallest memory it
//! can find, proved right by checks that share no code with the planner.
//!
//! # Why it is a crate
//!
//! A plan that nobody has checked must not leave the library. The strategies, the readers and the checks
//! are crates of their own; this one puts them together in the one way that is right, and hands out
//! nothing but results that have passed the checks ([`driver`]). The command line, the Python package and
//! the C library are thin layers around it.
//!
//! # Example
//!
//! ```
//! use memplan::driver::{self, Failure, How};
//! use memplan::source::Source;
//!
//! let source = Source::new("two.csv", "id,lower,upper,size\na,0,2,64\nb,2,4,32\n");
//! let planned = driver::plan(&source, &How::default())?;
//! assert_eq!(planned.outcome.plan().map(|plan| plan.extent().0), Some(64));
//! # Ok::<(), Failure>(())
//! ```
//!
//! # Where next
//!
//! - [`prelude`] has what most programs need; the chapter "memplan from Rust" of the book leads through
//!   problems made in memory, strategies of your own and languages of your own.
//! - [`driver`] is the one way from a [`source`] to a checked result; what it drives are [front
//!   ends](front_end), one for each kind of input and output. [`mod@format`] lists what can be read,
//!   [`mod@pass`] rewrites programs, [`target`] is what the user says about the memory.
//! - [`compare`] runs every strategy, [`explain`] says why something does not fit, [`map`],
//!   [`timeline`] and [`snapshot`] draw, [`mod@reduce`] shrinks an input that shows a bug.
//! - The parts are crates of their own, re-exported here: [`core`] (the vocabulary), [`planner`] (the
//!   strategies), [`verify`] (the independent checks), [`models`] (readers and writers of records, models
//!   and plans), [`mlir`] and [`tensor`], and [`program`] with [`analysis`] for inputs that are programs.
//!   The chapter on Rust says how to depend on the first three only.

pub mod analyzed;
pub mod compare;
pub mod corpus;
pub mod driver;
pub mod example;
pub mod explain;
pub mod finding;
pub mod format;
pub mod front_end;
pub mod map;
pub mod network;
pub mod pass;
pub mod prelude;
pub mod reduce;
pub mod snapshot;
pub mod source;
mod spill;
pub mod target;
pub mod timeline;
pub mod trade_off;
pub mod warm;
pub mod wording;

// Inlined, so that the pages are there also where only this crate is documented.
#[doc(inline)]
pub use memplan_analysis as analysis;
#[doc(inline)]
pub use memplan_core as core;
#[doc(inline)]
pub use memplan_fit as fit;
#[doc(inline)]
pub use memplan_models as models;
#[doc(inline)]
pub use memplan_program as program;
#[doc(inline)]
pub use memplan_verify as verify;

/// The chapter for users of Rust: its code is run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
pub struct TheChapterOnRust;

/// Strategies, and what is asked of them. Plans come from the [`driver`].
pub mod planner {
    pub use memplan_planner::{
        Assign, Effort, Feature, Observer, OnProgress, Refusal, Request, STRATEGIES, Strategy, find,
    };

    /// The stages of the search: their names, what each achieved, and all that can be left out.
    pub mod search {
        pub use memplan_planner::search::{StageReport, stages, switches};
    }
}

/// MLIR text, and the options of the passes over it. Rewritten texts come from the [`driver`].
pub mod mlir {
    pub use memplan_mlir::{Dialects, Document, Lowered, TextError, Type, lower};

    /// What the passes take and say.
    pub mod pass {
        pub use memplan_mlir::pass::{Remark, Rewrite, Saving};

        /// assign-gmem.
        pub mod assign_gmem {
            pub use memplan_mlir::pass::assign_gmem::{AddressMode, Chips, Mode, Options, todays_sizes};
        }

        /// merge-alloc.
        pub mod merge_alloc {
            pub use memplan_mlir::pass::merge_alloc::{Options, Planner};
        }

        /// plan-memory.
        pub mod plan_memory {
            pub use memplan_mlir::pass::plan_memory::{MemoryMode, Options, Profile, Scope, Target, TargetError};
        }
    }
}

/// Tensor expressions and loop programs: their stages as text, and running them. Rewritten programs come
/// from the [`driver`].
pub mod tensor {
    pub use memplan_tensor::interpret;
    pub use memplan_tensor::rewrite::RewriteOptions;

    /// TVMScript.
    pub mod pass {
        pub use memplan_tensor::pass::{PassError, run_text};

        /// An intermediate value of the storage rewrite as text; what shares memory in it has passed the checks.
        pub fn dump(text: &str, stage: &str) -> Result<String, PassError> {
            memplan_tensor::pass::dump(text, stage, crate::finding::JUDGE)
        }
    }

    /// Tensor expressions.
    pub mod te {
        use std::collections::BTreeMap;

        pub use memplan_tensor::te::{LifeCycleError, LowerOptions};

        /// One stage of a description as text; what shares memory in it has passed the checks.
        pub fn dump_text(text: &str, stage: &str, options: &LowerOptions) -> Result<String, LifeCycleError> {
            memplan_tensor::te::dump_text(text, stage, options, crate::finding::JUDGE)
        }

        /// Runs a description at a stage and prints what the arguments hold at the end.
        pub fn run_text(
            text: &str,
            stage: &str,
            seed: u64,
            sizes: &BTreeMap<String, i64>,
        ) -> Result<String, LifeCycleError> {
            memplan_tensor::te::run_text(text, stage, seed, sizes, crate::finding::JUDGE)
        }
    }
}
