//! TVMScript: read, lowered to a program, analysed.

use memplan_models::ReadError;
use memplan_tensor::lower::lower_all;
use memplan_tensor::script::Script;

use super::program::analyze;
use super::{Format, Input, ReadOptions};

/// Flat loop programs as TVM prints them.
pub(super) struct TvmScript;

impl Format for TvmScript {
    fn name(&self) -> &'static str {
        "tvmscript"
    }

    fn describe(&self) -> &'static str {
        "TVMScript: the buffers that flat loop programs allocate"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["py"]
    }

    fn sniff(&self, text: &str) -> bool {
        text.lines().any(|line| line.trim_start().starts_with('@') && line.contains("prim_func"))
    }

    /// The buffers of all functions of a script as one problem.
    fn read(&self, text: &str, _: &ReadOptions) -> Result<Input, ReadError> {
        // All functions of the script become one program.
        let script =
            Script::read(text).map_err(|error| ReadError::new(error.code(), text, error.span(), error.to_string()))?;
        let program = lower_all(script.functions())
            .map_err(|error| ReadError::new("tvmscript::malformed", text, Default::default(), error.to_string()))?;
        analyze(program, text, Vec::new())
    }
}
