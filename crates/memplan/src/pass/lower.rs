//! The whole life cycle: tensor operations and a schedule in, a loop program with shared memory out.

use memplan_mlir::pass::PassOptions;
use memplan_models::utf8;
use memplan_tensor::rewrite::Mode;
use memplan_tensor::te::{LifeCycleError, LowerOptions, lower_text};

use super::storage_rewrite::{failure, rewrite_options};
use super::{Pass, PassFailure, PassHow, Rewritten};
use crate::format::te::unreadable;
use crate::pipeline::Source;

/// From graph to shared flat storage.
pub(super) struct Lower;

impl Pass for Lower {
    fn name(&self) -> &'static str {
        "lower"
    }

    fn describe(&self) -> &'static str {
        "tensor operations (.te.json) to TVMScript: scheduled, flattened, with shared memory"
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("compat", "make TVM's decisions, and refuse where they are wrong"),
            ("plan=STRATEGY", "one arena per memory, laid out by a strategy"),
            ("limit=SCOPE:SIZE", "the capacity of a tagged memory, such as local.L0A:64KiB"),
        ]
    }

    fn run(&self, source: &Source, options: &PassOptions, how: &PassHow) -> Result<Rewritten, PassFailure> {
        let rewrite = rewrite_options("lower", &["compat", "plan", "limit"], options, how)?;
        let text = utf8(&source.bytes)?;
        let options = LowerOptions { compat: rewrite.mode == Mode::Compat, rewrite, ..LowerOptions::default() };
        let lowered = lower_text(text, &options).map_err(|error| match &error {
            LifeCycleError::Rewrite(error) => failure(text, error),
            error => unreadable(text, error).into(),
        })?;
        Ok(Rewritten { text: lowered, ..Rewritten::default() })
    }
}
