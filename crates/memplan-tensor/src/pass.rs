//! From text to text: what the command line and other tools call.

use crate::interpret::{RunError, RunOptions, run};
// `linearize`, `events` and `plan_pool` are the first three steps of the storage rewrite: statements as a list of
// events, the first and last touch of every buffer, and the entries of memory that buffers share. `Judge` holds the
// checks that a result has to pass.
use crate::rewrite::{
    Apart, Judge, MemoryLimit, Mode, RewriteError, RewriteOptions, events, linearize, plan_pool, storage_rewrite,
};
use crate::script::{Script, ScriptError};
use memplan_core::{Bytes, Span, line_column};

/// Stages that [`dump`] can show.
pub const STAGES: [(&str, &str); 4] = [
    ("sequence", "the linear sequence with its nested scopes"),
    ("events", "the statements that generate and kill buffers"),
    ("storage", "storage entries and allocations"),
    ("program", "the program that the dataflow check follows"),
];

/// Why a text could not be processed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ScriptError),
    /// It cannot be rewritten.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// It cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A pass option or stage that does not exist.
    #[error("{0}")]
    Usage(String),
    /// Our own mistake: the lowered program is not well formed.
    #[error("the lowered program is malformed, which is a bug: {0}")]
    Malformed(String),
}

impl PassError {
    /// Where in the text, if anywhere.
    pub fn span(&self) -> Option<Span> {
        match self {
            PassError::Read(error) => Some(error.span()),
            PassError::Rewrite(error) => Some(error.span()).filter(|span| *span != Span::default()),
            PassError::Run(error) => Some(error.span()),
            PassError::Usage(_) | PassError::Malformed(_) => None,
        }
    }

    /// A stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            PassError::Read(error) => error.code(),
            PassError::Rewrite(_) => "storage-rewrite::refused",
            PassError::Run(_) => "run::failed",
            PassError::Usage(_) => "usage",
            PassError::Malformed(_) => "bug",
        }
    }

    /// One-based line and column in the text.
    pub fn line_column(&self, text: &str) -> Option<(usize, usize)> {
        self.span().map(|span| line_column(text, span.range().start))
    }

    /// Whether the input is fine and the answer is no: a refusal or a memory that is too small.
    pub fn is_answer(&self) -> bool {
        matches!(self, PassError::Rewrite(_))
    }
}

/// Reads the options of `storage-rewrite{…}`: `compat`, `flatten`, `plan=STRATEGY`, `limit=SCOPE:SIZE`, separated by
/// blanks or commas.
///
/// ```
/// use memplan_tensor::pass::rewrite_options;
/// use memplan_tensor::rewrite::Mode;
/// assert_eq!(rewrite_options("compat limit=local.L0A:64KiB").unwrap().mode, Mode::Compat);
/// assert_eq!(rewrite_options("plan=auto").unwrap().strategy.as_deref(), Some("auto"));
/// assert!(rewrite_options("fast").is_err());
/// ```
pub fn rewrite_options(text: &str) -> Result<RewriteOptions, PassError> {
    let mut options = RewriteOptions::default();
    for option in text.split([' ', ',']).filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            None if option == "flatten" => options.flatten = true,
            None if option == "compat" => options.mode = Mode::Compat,
            Some(("compat", "true")) => options.mode = Mode::Compat,
            Some(("compat", "false")) => options.mode = Mode::Sound,
            Some(("plan", strategy)) => options.strategy = Some(strategy.to_owned()),
            Some(("limit", limit)) => options.limits.push(memory_limit(limit)?),
            _ => {
                let known = "storage-rewrite has the options compat, flatten, plan=STRATEGY and limit=SCOPE:SIZE";
                return Err(PassError::Usage(format!("there is no option `{option}`: {known}")));
            }
        }
    }
    Ok(options)
}

/// Reads `local.L0A:64KiB`: a tagged memory and its capacity.
pub fn memory_limit(text: &str) -> Result<MemoryLimit, PassError> {
    let wrong = || PassError::Usage(format!("`limit={text}` is not a scope and a size, such as limit=local.L0A:64KiB"));
    // The scope may contain colons (`global:tag`), the size cannot.
    let (scope, size) = text.rsplit_once(':').ok_or_else(wrong)?;
    let size: Bytes = size.parse().map_err(|_| wrong())?;
    let max_bits = size.checked_mul(8).ok_or_else(wrong)?.0;
    Ok(MemoryLimit { scope: scope.to_owned(), max_bits })
}

/// Rewrites every function of a TVMScript text; the judge has accepted the result.
pub fn rewrite_text(text: &str, options: &RewriteOptions, judge: Judge) -> Result<String, PassError> {
    let mut script = Script::read(text)?;
    for function in script.functions_mut() {
        let rewritten = storage_rewrite(function, options, judge)?;
        *function = rewritten.function;
    }
    Ok(script.print())
}

/// Runs every function of a TVMScript text and prints what its argument buffers hold at the end.
pub fn run_text(text: &str, options: &RunOptions) -> Result<String, PassError> {
    let script = Script::read(text)?;
    let mut report = String::new();
    for function in script.functions() {
        // With several functions, a line with the name stands in front of each one's results.
        if script.functions().len() > 1 {
            report.push_str(&format!("@{}\n", function.name));
        }
        for output in run(function, options)? {
            report.push_str(&format!("{output}\n"));
        }
    }
    Ok(report)
}

/// An intermediate value of the storage rewrite as text; see [`STAGES`].
pub fn dump(text: &str, stage: &str, judge: Judge) -> Result<String, PassError> {
    let script = Script::read(text)?;
    let mut report = String::new();
    for function in script.functions() {
        let sequence = linearize(function);
        let events = events(&sequence);
        report.push_str(&match stage {
            "sequence" => sequence.dump(),
            "events" => events.dump(&sequence),
            // The storage stage shows both the pool of entries and what the checked rewrite made of it; they differ
            // where the judge kept buffers apart.
            "storage" => {
                let pool = plan_pool(&sequence, &events, Mode::Sound, &Apart::default())?;
                let rewritten = storage_rewrite(function, &RewriteOptions::default(), judge)?;
                format!("{}{}", pool.dump(&sequence), rewritten.dump(function))
            }
            // The program has every in-place permission that can be proved, as the dataflow check would see it.
            "program" => {
                let lowered = crate::lower::lower(function).map_err(|error| PassError::Malformed(error.to_string()))?;
                memplan_program::text::print(&lowered.program)
            }
            _ => {
                let known: Vec<&str> = STAGES.iter().map(|(name, _)| *name).collect();
                return Err(PassError::Usage(format!("there is no stage `{stage}`; there are {}", known.join(", "))));
            }
        });
    }
    Ok(report)
}

/// Checks what must hold for any text whatsoever, for fuzzing: nothing panics; what is read prints to something that
/// reads and prints the same; a rewrite keeps results. `Ok(false)` says that the text cannot be read, `Err` what is
/// wrong.
pub fn fuzz_check(text: &str, judge: Judge) -> Result<bool, String> {
    let Ok(script) = Script::read(text) else {
        return Ok(false);
    };
    let printed = script.print();
    let again =
        Script::read(&printed).map_err(|error| format!("the printed text cannot be read: {error}\n{printed}"))?;
    if again.print() != printed {
        return Err(format!("printing is not stable:\n{printed}"));
    }
    // A fuzzer finds loops of 10^18 iterations. The step limit ends them; such a run proves nothing and is no
    // failure.
    let run_options = RunOptions { max_steps: 20_000, ..RunOptions::default() };
    for function in script.functions() {
        for stage in ["sequence", "events"] {
            dump(&printed, stage, judge).map_err(|error| error.to_string())?;
        }
        let options = [
            RewriteOptions::default(),
            RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() },
            RewriteOptions { strategy: Some("greedy-by-size".to_owned()), ..RewriteOptions::default() },
        ];
        // Each way to plan makes other decisions, so each is checked against the results of the original function.
        for options in options {
            let rewritten = match storage_rewrite(function, &options, judge) {
                Ok(rewritten) => rewritten,
                Err(RewriteError::Unsound { message }) => return Err(message),
                // A refusal is a fine answer for any text. Only an unsound rewrite, or one that changes results, is a
                // bug.
                Err(_) => continue,
            };
            let before = run(function, &run_options);
            if let Ok(before) = before
                && run(&rewritten.function, &run_options).as_ref() != Ok(&before)
            {
                return Err(format!("{options:?} changes the results"));
            }
        }
    }
    Ok(true)
}
