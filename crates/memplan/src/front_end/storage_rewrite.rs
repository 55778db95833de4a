//! storage-rewrite: allocations of TVMScript functions that share memory.

use memplan_core::{PassOptions, ReadError, SpecError, utf8};
use memplan_planner::find;
use memplan_tensor::pass::memory_limit;
use memplan_tensor::rewrite::{MemoryLimit, Mode, RewriteError, RewriteOptions, Rewritten, storage_rewrite};
use memplan_tensor::script::Script;

use super::{Claim, FrontEnd, Output, Places};
use crate::driver::{Failure, How, Solver, Unsound};
use crate::finding::Finding;
use crate::source::Source;

/// The front end of the pass.
#[derive(Clone, Debug, Default)]
pub struct StorageRewrite {
    /// Its options.
    pub options: RewriteOptions,
}

/// A script as it was read.
pub struct ScriptText {
    text: String,
    script: Script,
}

impl FrontEnd for StorageRewrite {
    type Input = ScriptText;
    type Laid = Vec<Rewritten>;

    fn name(&self) -> &str {
        "storage-rewrite"
    }

    fn read(&self, source: &Source) -> Result<ScriptText, Failure> {
        let text = utf8(&source.bytes)?;
        let script = Script::read(text)
            .map_err(|error| ReadError::new("tvmscript::malformed", text, error.span(), error.to_string()))?;
        Ok(ScriptText { text: text.to_owned(), script })
    }

    fn lay_out(&self, input: &ScriptText, solver: &mut Solver) -> Result<Vec<Rewritten>, Failure> {
        let options = planned_by(&self.options, solver.how());
        let functions = input.script.functions().iter();
        let rewritten = functions.map(|function| storage_rewrite(function, &options));
        rewritten.collect::<Result<_, _>>().map_err(|error| failure(&input.text, &error))
    }

    fn claim<'a>(&self, _: &'a ScriptText, _: &'a Vec<Rewritten>) -> Claim<'a> {
        Claim::default()
    }

    fn emit(&self, input: &ScriptText, laid: &Vec<Rewritten>) -> Result<Output, Failure> {
        let mut script = input.script.clone();
        for (function, rewritten) in script.functions_mut().iter_mut().zip(laid) {
            *function = rewritten.function.clone();
        }
        Ok(Output::of_text(script.print()))
    }

    fn places(&self, _: &ScriptText, _: &Output) -> Result<Places, Failure> {
        Ok(Places::default())
    }
}

/// The options with what the user says about planning.
pub(super) fn planned_by(options: &RewriteOptions, how: &How) -> RewriteOptions {
    let asked = how.strategy.map(|strategy| strategy.name().to_owned());
    RewriteOptions {
        strategy: options.strategy.clone().or(asked),
        time_limit: how.request.time_limit,
        seed: how.request.seed,
        ..options.clone()
    }
}

/// Why there is no rewritten text: a no, a bug of ours, or something wrong with the input.
pub(super) fn failure(text: &str, error: &RewriteError) -> Failure {
    let at_its_place = |code| ReadError::new(code, text, error.span(), error.to_string());
    match error {
        RewriteError::Refused { .. } | RewriteError::ExceedsMemory { .. } => {
            Failure::No(at_its_place("storage-rewrite::refused"))
        }
        RewriteError::Unsound { message } => Failure::Unsound(Unsound {
            maker: "storage-rewrite".to_owned(),
            what: "plan",
            findings: vec![Finding {
                code: "dataflow::rewritten",
                message: message.clone(),
                buffers: Vec::new(),
                step: None,
                place: None,
                span: None,
            }],
        }),
        _ => Failure::Input(at_its_place("storage-rewrite::impossible")),
    }
}

/// The options of a pass that ends in the storage rewrite; `known` are the names it takes.
pub(crate) fn rewrite_options(
    pass: &'static str,
    known: &'static [&'static str],
    options: &PassOptions,
) -> Result<RewriteOptions, SpecError> {
    let mut parsed = RewriteOptions::default();
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
