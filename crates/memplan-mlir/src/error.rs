//! What can be wrong with a text, and what is only worth a note.

use memplan_core::{Span, line_column};

/// Why a text could not be read. Every variant carries the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// Something else stands where the grammar asks for `expected`.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What the grammar asks for here.
        expected: &'static str,
        /// The text found instead, shortened.
        found: String,
        /// Where.
        span: Span,
    },
    /// A closing bracket does not fit the one that is open, or is missing.
    #[error("`{bracket}` is never closed")]
    Unbalanced {
        /// The opening bracket.
        bracket: String,
        /// Where it was opened.
        open: Span,
        /// Where the text stops fitting.
        span: Span,
    },
    /// A string without its closing quote.
    #[error("this string has no closing quote")]
    UnterminatedString {
        /// Where it starts.
        span: Span,
    },
    /// A `{-#` block without `#-}`.
    #[error("this resource block has no closing `#-}}`")]
    UnterminatedResources {
        /// Where it starts.
        span: Span,
    },
    /// A value name that nothing defines.
    #[error("`{name}` is not defined here")]
    UndefinedValue {
        /// The name as written.
        name: String,
        /// Where it is used.
        span: Span,
    },
    /// A value that is used above its definition, where ops run in order.
    #[error("`{name}` is used before it is defined")]
    UsedTooEarly {
        /// The name as written.
        name: String,
        /// Where it is used.
        span: Span,
    },
    /// A value name defined twice where both are visible.
    #[error("`{name}` is defined twice")]
    RedefinedValue {
        /// The name as written.
        name: String,
        /// The second definition.
        span: Span,
    },
    /// A block name that no block of the region has.
    #[error("there is no block `{name}` in this region")]
    UndefinedBlock {
        /// The name as written.
        name: String,
        /// Where it is used.
        span: Span,
    },
    /// Two blocks of one region with the same name.
    #[error("this region already has a block `{name}`")]
    RedefinedBlock {
        /// The name as written.
        name: String,
        /// The second definition.
        span: Span,
    },
    /// An op's operands or results do not match its type.
    #[error("this op has {found} {what}, its type lists {expected}")]
    Arity {
        /// `operands` or `results`.
        what: &'static str,
        /// Written in the op.
        found: usize,
        /// Listed in its type.
        expected: usize,
        /// The op.
        span: Span,
    },
    /// A region of structured control flow has more than one block, or has no terminator where one must be written.
    #[error("a region of `{op}` is one block that ends in a terminator; this one is not")]
    Unterminated {
        /// The op around the region.
        op: String,
        /// Its name.
        span: Span,
    },
    /// The text is longer than positions can count.
    #[error("the text is longer than 4 GiB")]
    TooLong,
    /// The caller's patience is over (time limit, Ctrl-C), so reading was given up.
    #[error("reading was stopped")]
    Stopped,
}

impl TextError {
    /// Where in the text the error is.
    pub fn span(&self) -> Span {
        match self {
            TextError::Unexpected { span, .. }
            | TextError::Unbalanced { span, .. }
            | TextError::UnterminatedString { span }
            | TextError::UnterminatedResources { span }
            | TextError::UndefinedValue { span, .. }
            | TextError::UsedTooEarly { span, .. }
            | TextError::RedefinedValue { span, .. }
            | TextError::UndefinedBlock { span, .. }
            | TextError::RedefinedBlock { span, .. }
            | TextError::Arity { span, .. }
            | TextError::Unterminated { span, .. } => *span,
            TextError::TooLong | TextError::Stopped => Span::default(),
        }
    }

    /// A stable name for the cause, for documents and for programs that handle errors.
    pub fn code(&self) -> &'static str {
        match self {
            TextError::Unexpected { .. } => "read::unexpected",
            TextError::Unbalanced { .. } => "read::unbalanced",
            TextError::UnterminatedString { .. } => "read::unterminated-string",
            TextError::UnterminatedResources { .. } => "read::unterminated-resources",
            TextError::UndefinedValue { .. } => "read::undefined-value",
            TextError::UsedTooEarly { .. } => "read::used-too-early",
            TextError::RedefinedValue { .. } => "read::redefined-value",
            TextError::UndefinedBlock { .. } => "read::undefined-block",
            TextError::RedefinedBlock { .. } => "read::redefined-block",
            TextError::Arity { .. } => "read::arity",
            TextError::Unterminated { .. } => "read::unterminated-region",
            TextError::TooLong => "read::too-long",
            TextError::Stopped => "read::stopped",
        }
    }

    /// Line and column (from one) of the error in its text, and the text of that line.
    pub fn excerpt<'s>(&self, source: &'s str) -> Excerpt<'s> {
        Excerpt::new(source, self.span())
    }
}

/// The line of a text that a message points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excerpt<'s> {
    /// Line number, from one.
    pub line: usize,
    /// Column in characters, from one.
    pub column: usize,
    /// The whole line, without its line break.
    pub text: &'s str,
}

impl<'s> Excerpt<'s> {
    /// The line that holds the start of `span`. A start behind the end of the text, or inside of a character, is
    /// moved back to the nearest boundary between characters.
    pub fn new(source: &'s str, span: Span) -> Self {
        let at = source.floor_char_boundary((span.start as usize).min(source.len()));
        let (line, column) = line_column(source, at);
        let start = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = source[at..].find('\n').map_or(source.len(), |n| at + n);
        Excerpt { line, column, text: &source[start..end] }
    }
}

/// Something that was not understood and was left alone, or taken conservatively.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What, in a sentence.
    pub message: String,
    /// Where.
    pub span: Span,
}
