//! Rows that users bring in TOML files.

/// Why a dialect file could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DialectFileError {
    /// Not TOML, or not of the expected shape.
    #[error("{message}")]
    Syntax {
        /// What is wrong and where.
        message: String,
    },
}
