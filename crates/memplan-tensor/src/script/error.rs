//! What can be wrong with a TVMScript text.

use crate::ir::MAX_NESTING;
use memplan_core::{Span, line_column};

/// Why a text could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The text is not Python of the kind TVMScript uses.
    #[error("{message}")]
    Syntax {
        /// Where.
        span: Span,
        /// What was expected.
        message: String,
    },
    /// Lines are indented inconsistently.
    #[error("this line's indentation matches no block around it")]
    Indentation {
        /// Where.
        span: Span,
    },
    /// Statements or expressions are nested too deeply.
    #[error("nested deeper than {MAX_NESTING} levels; split the function or the expression")]
    TooDeep {
        /// Where.
        span: Span,
    },
    /// A name that nothing defines here.
    #[error(
        "`{name}` is not defined here; buffers and variables must be declared above their use, in an enclosing block"
    )]
    UnknownName {
        /// Where.
        span: Span,
        /// The name.
        name: String,
    },
    /// A construct that is not read.
    #[error("{what} is not supported")]
    Unsupported {
        /// Where.
        span: Span,
        /// What.
        what: String,
    },
    /// A construct with the wrong kind of argument.
    #[error("{message}")]
    Invalid {
        /// Where.
        span: Span,
        /// What is wrong.
        message: String,
    },
    /// No function in the text.
    #[error("there is no `@T.prim_func` function in this text")]
    NoFunction,
}

impl ScriptError {
    /// Where in the text.
    pub fn span(&self) -> Span {
        match self {
            ScriptError::Syntax { span, .. }
            | ScriptError::Indentation { span }
            | ScriptError::TooDeep { span }
            | ScriptError::UnknownName { span, .. }
            | ScriptError::Unsupported { span, .. }
            | ScriptError::Invalid { span, .. } => *span,
            ScriptError::NoFunction => Span::default(),
        }
    }

    /// A stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            ScriptError::Syntax { .. } => "tvmscript::syntax",
            ScriptError::Indentation { .. } => "tvmscript::indentation",
            ScriptError::TooDeep { .. } => "tvmscript::too-deep",
            ScriptError::UnknownName { .. } => "tvmscript::unknown-name",
            ScriptError::Unsupported { .. } => "tvmscript::unsupported",
            ScriptError::Invalid { .. } => "tvmscript::invalid",
            ScriptError::NoFunction => "tvmscript::no-function",
        }
    }

    /// One-based line and column in `source`.
    pub fn line_column(&self, source: &str) -> (usize, usize) {
        line_column(source, self.span().range().start)
    }

    /// The error with which reading ends when the caller waits no longer (time limit, Ctrl-C). Nobody sees it: the
    /// driver reports the stop in its own words.
    pub(super) fn stopped() -> ScriptError {
        ScriptError::invalid(Span::default(), "reading was stopped")
    }

    pub(super) fn syntax(span: Span, message: impl Into<String>) -> ScriptError {
        ScriptError::Syntax { span, message: message.into() }
    }

    pub(super) fn invalid(span: Span, message: impl Into<String>) -> ScriptError {
        ScriptError::Invalid { span, message: message.into() }
    }

    pub(super) fn unsupported(span: Span, what: impl Into<String>) -> ScriptError {
        ScriptError::Unsupported { span, what: what.into() }
    }
}
