//! The storage rewrite over TVMScript.

use memplan_mlir::pass::{PassOptions, SpecError};
use memplan_models::{ReadError, utf8};
use memplan_planner::find;
use memplan_tensor::pass::memory_limit;
use memplan_tensor::rewrite::{MemoryLimit, Mode, RewriteError, RewriteOptions, storage_rewrite};
use memplan_tensor::script::Script;

use super::{Pass, PassFailure, PassHow, Rewritten};
use crate::finding::Finding;
use crate::pipeline::{Source, Unsound};

/// Allocations that share memory.
pub(super) struct StorageRewrite;

impl Pass for StorageRewrite {
    fn name(&self) -> &'static str {
        "storage-rewrite"
    }

    fn describe(&self) -> &'static str {
        "TVMScript: allocations that share memory, in place where that is right"
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("compat", "make TVM's decisions, and refuse where they are wrong"),
            ("flatten", "make buffers with several dimensions flat first"),
            ("plan=STRATEGY", "one arena per memory, laid out by a strategy"),
            ("limit=SCOPE:SIZE", "the capacity of a tagged memory, such as local.L0A:64KiB"),
        ]
    }

    fn run(&self, source: &Source, options: &PassOptions, how: &PassHow) -> Result<Rewritten, PassFailure> {
        let options = rewrite_options("storage-rewrite", &["compat", "flatten", "plan", "limit"], options, how)?;
        let text = utf8(&source.bytes)?;
        let mut script = Script::read(text)
            .map_err(|error| ReadError::new("tvmscript::malformed", text, error.span(), error.to_string()))?;
        for function in script.functions_mut() {
            let rewritten = storage_rewrite(function, &options).map_err(|error| failure(text, &error))?;
            *function = rewritten.function;
        }
        Ok(Rewritten { text: script.print(), ..Rewritten::default() })
    }
}

/// Why there is no rewritten text: a no, a bug of ours, or something wrong with the input.
pub(super) fn failure(text: &str, error: &RewriteError) -> PassFailure {
    let at_its_place = |code| ReadError::new(code, text, error.span(), error.to_string());
    match error {
        RewriteError::Refused { .. } | RewriteError::ExceedsMemory { .. } => {
            PassFailure::No(at_its_place("storage-rewrite::refused"))
        }
        RewriteError::Unsound { message } => PassFailure::Unsound(Unsound {
            strategy: "storage-rewrite",
            findings: vec![Finding {
                code: "dataflow::rewritten",
                message: message.clone(),
                buffers: Vec::new(),
                step: None,
                place: None,
                span: None,
            }],
        }),
        _ => PassFailure::Input(at_its_place("storage-rewrite::impossible")),
    }
}

/// The options of a pass that ends in the storage rewrite; `known` are the names it takes.
pub(super) fn rewrite_options(
    pass: &'static str,
    known: &'static [&'static str],
    options: &PassOptions,
    how: &PassHow,
) -> Result<RewriteOptions, SpecError> {
    let mut parsed = RewriteOptions {
        strategy: how.strategy.map(|strategy| strategy.name().to_owned()),
        time_limit: how.request.time_limit,
        seed: how.request.seed,
        ..RewriteOptions::default()
    };
    for (key, value) in options.iter() {
        match key {
            _ if !known.contains(&key) => return Err(PassOptions::unknown(pass, key, known)),
            "compat" if PassOptions::flag("compat", value)? => parsed.mode = Mode::Compat,
            "compat" => parsed.mode = Mode::Sound,
            "flatten" => parsed.flatten = PassOptions::flag("flatten", value)?,
            "plan" => parsed.strategy = Some(strategy_named(value.unwrap_or_default())?),
            "limit" => parsed.limits.push(limit(value.unwrap_or_default())?),
            _ => return Err(PassOptions::unknown(pass, key, known)),
        }
    }
    Ok(parsed)
}

fn strategy_named(name: &str) -> Result<String, SpecError> {
    match find(name) {
        Some(strategy) => Ok(strategy.name().to_owned()),
        None => Err(SpecError::Value {
            option: "plan",
            expected: "the name of a strategy (`memplan strategies` lists them)",
            found: name.to_owned(),
        }),
    }
}

fn limit(text: &str) -> Result<MemoryLimit, SpecError> {
    memory_limit(text).map_err(|_| SpecError::Value {
        option: "limit",
        expected: "a scope and a size, such as local.L0A:64KiB",
        found: text.to_owned(),
    })
}
